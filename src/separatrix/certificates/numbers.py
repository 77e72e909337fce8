"""The numbers of rows as integers times powers of two, and exact sums of rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..inputs.data import refuse_not_finite
from .claims import Multipliers
from .monomials import MonomialMatrix

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SUM_ROWS = 1 << 14  # rows summed at a time: limbs of 27 bits, times coarse ones of 12, stay below 2**53
COARSE = 1 << 12


def row_integers(matrix: Any, row: int) -> Iterator[tuple[int, int, int]]:
    """The non-zero numbers of a row as (column, integer, exponent of two)."""
    if isinstance(matrix, MonomialMatrix):
        yield from matrix.integers(row_integers(matrix.base, row))
        return
    if sparse.issparse(matrix):
        part = slice(matrix.indptr[row], matrix.indptr[row + 1])
        columns, values = matrix.indices[part], matrix.data[part]
    else:
        columns = np.flatnonzero(matrix[row])
        values = matrix[row, columns]
    if values.dtype.kind == "f":
        if not np.isfinite(values).all():
            refuse_not_finite(matrix)
        fraction, exponent = np.frexp(values.astype(np.float64))
        mantissa = np.ldexp(fraction, 53).astype(np.int64)
        yield from zip(columns.tolist(), mantissa.tolist(), (exponent - 53).tolist(), strict=True)
    else:
        for column, value in zip(columns.tolist(), values.tolist(), strict=True):
            yield column, value, 0


def small_sums(m: Multipliers, sign: Ints, matrix: Any) -> dict[int, dict[int, int]]:
    """The sum of the rows with small coarse multipliers: for each column, integers by exponent of two.

    Every number is cut into limbs of at most 27 bits with an exponent; limbs of one column and one
    exponent are added in float64, which is exact as the sum stays below 2**53.
    """
    sums: dict[int, dict[int, int]] = {}
    if not m.coarse:
        return sums
    coarse = np.array([c if abs(c) < COARSE else 0 for c in m.coarse], dtype=np.int64) * sign
    used = np.flatnonzero(coarse)
    rows = np.asarray(m.rows, dtype=np.int64)
    if isinstance(matrix, MonomialMatrix):
        for i in used.tolist():
            for column, mantissa, exponent in row_integers(matrix, m.rows[i]):
                at = sums.setdefault(column, {})
                at[exponent] = at.get(exponent, 0) + int(coarse[i]) * mantissa
        return sums
    for start in range(0, used.size, SUM_ROWS):
        part = used[start : start + SUM_ROWS]
        for columns, values, factors in _entries(matrix, rows[part], coarse[part].astype(np.float64)):
            for limbs, exponents in _limbs(values):
                low = int(exponents.min(initial=0))
                span = int(exponents.max(initial=0)) - low + 1
                keys, found = _summed(columns * span + (exponents - low), limbs * factors)
                for key, total in zip(keys.tolist(), found.tolist(), strict=True):
                    at = sums.setdefault(key // span, {})
                    exponent = key % span + low
                    at[exponent] = at.get(exponent, 0) + int(total)
    return sums


def _summed(keys: Ints, values: Floats) -> tuple[Any, Any]:
    """The sum of the values of each key, where it is not zero."""
    largest = int(keys.max(initial=0))
    if largest < 4 * keys.size + 1000:
        found = np.bincount(keys, values, largest + 1)
        kept = np.flatnonzero(found)
        return kept, found[kept]
    unique, places = np.unique(keys, return_inverse=True)
    found = np.bincount(places.ravel(), values, unique.size)
    return unique[found != 0], found[found != 0]


def _entries(matrix: Any, rows: Ints, factors: Floats) -> Iterator[tuple[Ints, NDArray[Any], Floats]]:
    """The stored numbers of some rows: their columns, values and the factor of their row."""
    step = max(1, (1 << 18) // max(1, matrix.shape[1])) if not sparse.issparse(matrix) else len(rows)
    for start in range(0, len(rows), max(1, step)):
        block, factor = matrix[rows[start : start + step]], factors[start : start + step]
        if sparse.issparse(block):
            yield block.indices.astype(np.int64), block.data, np.repeat(factor, np.diff(block.indptr))
        else:
            columns = np.tile(np.arange(block.shape[1]), block.shape[0])
            yield columns, block.ravel(), np.repeat(factor, block.shape[1])


def _limbs(values: NDArray[Any]) -> Iterator[tuple[Floats, Ints]]:
    """Cut numbers into integer limbs of at most 27 bits, each with its exponent of two."""
    if values.dtype.kind == "f":
        fraction, exponent = np.frexp(values.astype(np.float64))
        mantissa = np.ldexp(fraction, 53)
        high = np.floor(np.ldexp(mantissa, -27))
        yield high, exponent.astype(np.int64) - 26
        yield mantissa - np.ldexp(high, 27), exponent.astype(np.int64) - 53
        return
    zero = np.zeros(values.shape, dtype=np.int64)
    for shift in range(0, 8 * values.dtype.itemsize, 27):
        top = shift + 27 >= 8 * values.dtype.itemsize
        limb = values >> values.dtype.type(shift)
        yield (limb if top else limb & values.dtype.type((1 << 27) - 1)).astype(np.float64), zero + shift
