"""The numbers of rows as integers times powers of two, and exact sums of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..inputs.matrix import refuse_not_finite
from ..rows.blocks import BlockMatrix
from ..sparse import sparse
from .claims import Multipliers
from .monomials import MonomialMatrix

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SUM_ROWS = 1 << 14  # rows summed at a time: limbs of 27 bits, times coarse ones of 12, stay below 2**53
COARSE = 1 << 12


FETCHED = 1 << 20  # numbers of rows elsewhere that are held at a time


def rows_in_integers(matrix: Any, rows: Sequence[int]) -> Iterator[Iterator[tuple[int, int, int]]]:
    """The same for some rows, one after the other; those that are elsewhere are fetched, some at a time."""
    base = matrix.base if isinstance(matrix, MonomialMatrix) else matrix
    if not isinstance(base, BlockMatrix):
        yield from (row_integers(matrix, row) for row in rows)
        return
    step = max(1, FETCHED // max(1, base.n_columns))
    for start in range(0, len(rows), step):
        part = base[np.array(rows[start : start + step], dtype=np.int64)]
        here = MonomialMatrix(part, matrix.degrees) if isinstance(matrix, MonomialMatrix) else part
        yield from (row_integers(here, place) for place in range(part.shape[0]))


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
    if not m.coarse:
        return {}
    coarse = np.array([c if abs(c) < COARSE else 0 for c in m.coarse], dtype=np.int64) * sign
    used = np.flatnonzero(coarse)
    rows, factors = np.asarray(m.rows, dtype=np.int64)[used], coarse[used]
    if isinstance(matrix, MonomialMatrix):
        return _sums_of_monomials(matrix, rows, factors)
    if not isinstance(matrix, BlockMatrix):
        return _sums(matrix, rows, factors)
    found = matrix.find(rows)
    parts = matrix.map(
        "sum",
        _sums,
        among=[k for k, _, _ in found],
        each=[(places.astype(np.int32), factors[which].astype(np.int16)) for _, which, places in found],
    )
    total: dict[int, dict[int, int]] = {}
    for part in parts:
        for column, by_exponent in part.items():
            at = total.setdefault(column, {})
            for exponent, value in by_exponent.items():
                at[exponent] = at.get(exponent, 0) + value
    return total


def _sums_of_monomials(matrix: MonomialMatrix, rows: Ints, factors: Ints) -> dict[int, dict[int, int]]:
    sums: dict[int, dict[int, int]] = {}
    for factor, numbers in zip(factors.tolist(), rows_in_integers(matrix, rows.tolist()), strict=True):
        for column, mantissa, exponent in numbers:
            at = sums.setdefault(column, {})
            at[exponent] = at.get(exponent, 0) + factor * mantissa
    return sums


def _sums(matrix: Any, rows: Ints, factors: Ints) -> dict[int, dict[int, int]]:
    """The sum of some rows, each times a whole number below ``COARSE`` in magnitude."""
    sums: dict[int, dict[int, int]] = {}
    for start in range(0, rows.size, SUM_ROWS):
        part = slice(start, start + SUM_ROWS)
        for columns, values, weighed in _entries(matrix, rows[part], factors[part].astype(np.float64)):
            for limbs, exponents in _limbs(values):
                low = int(exponents.min(initial=0))
                span = int(exponents.max(initial=0)) - low + 1
                keys, found = _summed(columns * span + (exponents - low), limbs * weighed)
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
