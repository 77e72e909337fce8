"""The numbers of rows as integers times powers of two, and exact sums of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..deadline import NEVER, Pause
from ..inputs.matrix import refuse_not_finite
from ..rows.blocks import BlockMatrix
from ..sparse import sparse
from .monomials import Floats, Ints, MonomialMatrix

Powers = NDArray[np.int32]

NUMBERS_AT_A_TIME = 1 << 20  # enough for all cores, and few enough to look at the clock in time
BYTES_AT_A_TIME = 1 << 24  # of sums in long integers
BYTES_PER_INTEGER = 400  # of a number that Python holds as an integer with its row, column and exponent
COARSE = 1 << 12  # integer multipliers below this are summed in floats


def rows_in_integers(
    matrix: Any, rows: Sequence[int], columns: range | None = None
) -> Iterator[Iterator[tuple[int, int, int]]]:
    """Yield `row_integers` of each row. Rows in blocks elsewhere are fetched, some at a time."""
    base = matrix.base if isinstance(matrix, MonomialMatrix) else matrix
    if not isinstance(base, BlockMatrix):
        yield from (row_integers(matrix, row, columns) for row in rows)
        return
    step = max(1, NUMBERS_AT_A_TIME // max(1, base.n_columns))
    for start in range(0, len(rows), step):
        part = base[np.array(rows[start : start + step], dtype=np.int64)]
        here = MonomialMatrix(part, matrix.degrees) if isinstance(matrix, MonomialMatrix) else part
        yield from (row_integers(here, place, columns) for place in range(part.shape[0]))


def row_integers(matrix: Any, row: int, among: range | None = None) -> Iterator[tuple[int, int, int]]:
    """Yield the nonzero numbers of a row as (column, integer, exponent of two).

    ``among`` restricts them to some consecutive columns.
    """
    if isinstance(matrix, MonomialMatrix):
        yield from matrix.integers(row_integers(matrix.base, row), among)
        return
    among = range(int(matrix.shape[1])) if among is None else among
    if isinstance(matrix, np.ndarray):
        part = matrix[row, among.start : among.stop]
        places = np.flatnonzero(part)
        columns, values = places + among.start, part[places]
    else:
        start, stop = matrix.indptr[row], matrix.indptr[row + 1]
        low, high = start + np.searchsorted(matrix.indices[start:stop], [among.start, among.stop])
        columns, values = matrix.indices[low:high], matrix.data[low:high]
    if values.dtype.kind == "f":
        if not np.isfinite(values).all():
            refuse_not_finite(matrix)
        fraction, exponent = np.frexp(values.astype(np.float64))
        mantissa = np.ldexp(fraction, 53).astype(np.int64)
        yield from zip(columns.tolist(), mantissa.tolist(), (exponent - 53).tolist(), strict=True)
    else:
        for column, value in zip(columns.tolist(), values.tolist(), strict=True):
            yield column, value, 0


@dataclass(frozen=True, eq=False)
class Terms:
    """Rows that are added up, each times an integer, in one or several sums.

    Attributes
    ----------
    rows, sums, factors : int64 array of one length
        ``factors[i]`` times row ``rows[i]`` is added to the sum ``sums[i]``. Factors are below `COARSE` in
        magnitude; no row is added to one sum more often than there are sums.
    n_sums : int
    """

    rows: Ints
    sums: Ints
    factors: Ints
    n_sums: int

    def counts(self) -> list[int]:
        """Return the sum of the factors of each sum."""
        return [int(v) for v in np.bincount(self.sums, self.factors, self.n_sums)]


Sums = list[dict[int, dict[int, int]]]  # for each sum and column, integers by exponent of two


def small_sums(terms: Terms, matrix: Any, pause: Pause = NEVER.need) -> Sums:
    """Return the exact sums of rows times small integers."""
    used = np.flatnonzero(terms.factors)
    if used.size < terms.rows.size:
        terms = Terms(terms.rows[used], terms.sums[used], terms.factors[used], terms.n_sums)
    if isinstance(matrix, MonomialMatrix):
        return _sums_of_monomials(terms, matrix, pause)
    if not isinstance(matrix, BlockMatrix):
        return _sums(matrix, terms.rows, terms.sums, terms.factors, terms.n_sums, pause)
    found = matrix.find(terms.rows)
    sums, factors = terms.sums.astype(np.int32), terms.factors.astype(np.int16)
    parts = matrix.map(
        "sum",
        _sums_of_block,
        terms.n_sums,
        among=[k for k, _, _ in found],
        each=[(places.astype(np.int32), sums[which], factors[which]) for _, which, places in found],
        pause=pause,
    )
    total: Sums = [{} for _ in range(terms.n_sums)]
    for part in parts:
        for own, added in zip(total, part, strict=True):
            for column, by_exponent in added.items():
                at = own.setdefault(column, {})
                for exponent, value in by_exponent.items():
                    at[exponent] = at.get(exponent, 0) + value
    return total


def _sums_of_monomials(terms: Terms, matrix: MonomialMatrix, pause: Pause) -> Sums:
    total: Sums = [{} for _ in range(terms.n_sums)]
    each = zip(terms.sums.tolist(), terms.factors.tolist(), strict=True)
    rows = rows_in_integers(matrix, terms.rows.tolist())
    for (which, factor), numbers in zip(each, rows, strict=True):
        pause()
        add_row(total[which], factor, numbers)
    return total


def add_row(sums: dict[int, dict[int, int]], factor: int, numbers: Iterable[tuple[int, int, int]]) -> None:
    """Add a row in integers, times an integer."""
    for column, mantissa, exponent in numbers:
        at = sums.setdefault(column, {})
        at[exponent] = at.get(exponent, 0) + factor * mantissa


def _sums_of_block(block: Any, n_sums: int, rows: Ints, sums: Ints, factors: Ints) -> Sums:
    return _sums(block, rows.astype(np.int64), sums.astype(np.int64), factors, n_sums, NEVER.need)


def _sums(matrix: Any, rows: Ints, sums: Ints, factors: NDArray[Any], n_sums: int, pause: Pause) -> Sums:
    total: Sums = [{} for _ in range(n_sums)]
    used, places = np.unique(rows, return_inverse=True)
    order = np.argsort(places.ravel(), kind="stable")
    starts = np.searchsorted(places.ravel()[order], np.arange(used.size + 1))
    # pieces that stay in the cache take half as long as those of NUMBERS_AT_A_TIME
    step = max(1, NUMBERS_AT_A_TIME // 4 // max(n_sums, _numbers_per_row(matrix)))
    for start in range(0, used.size, step):
        stop = min(used.size, start + step)
        here = order[starts[start] : starts[stop]]
        table = np.zeros((stop - start, n_sums))
        np.add.at(table, (places.ravel()[here] - start, sums[here]), factors[here])
        for part, shift in _in_floats(matrix[used[start:stop]]):
            _add_products(total, part, table, shift, pause)
    return total


def count_numbers(matrix: Any, rows: Sequence[int]) -> int:
    """Return how many numbers some rows have at most, or about how many if they are elsewhere."""
    if sparse.issparse(matrix):
        places = np.asarray(rows, dtype=np.int64)
        return int((matrix.indptr[places + 1] - matrix.indptr[places]).sum(dtype=np.int64))
    if isinstance(matrix, BlockMatrix) and matrix.csr:
        return len(rows) * -(-int(matrix.stored.sum()) // matrix.shape[0])
    return len(rows) * int(matrix.shape[1])


def _numbers_per_row(matrix: Any) -> int:
    return int(matrix.nnz // max(1, matrix.shape[0])) if sparse.issparse(matrix) else int(matrix.shape[1])


def _in_floats(block: Any) -> Iterator[tuple[Any, int]]:
    """Yield some rows as exact floats, with the power of two that they count: two parts beyond 53 bits."""
    values = block.data if sparse.issparse(block) else block
    kind = values.dtype
    if kind.kind == "f" or max(int(values.max(initial=0)), -int(values.min(initial=0))) < 1 << 53:
        parts = [(values.astype(np.float64), 0)]
    else:
        low = kind.type((1 << 32) - 1)
        parts = [((values & low).astype(np.float64), 0), ((values >> kind.type(32)).astype(np.float64), 32)]
    for part, shift in parts:
        if sparse.issparse(block):
            yield sparse.csr_array((part, block.indices, block.indptr), block.shape), shift
        else:
            yield part, shift


def _add_products(total: Sums, block: Any, table: Floats, shift: int, pause: Pause) -> None:
    """Add ``block' @ table`` exactly: a matrix of floats times one of integers.

    The leading bits of each column are cut off as integers: as many as keep all sums of products below 2**53,
    so that no sum is rounded, in any order. This is repeated with the rest until nothing is left.
    """
    bits = 53 - len(table).bit_length() - int(np.abs(table).max(initial=0.0)).bit_length()
    assert bits > 0
    while True:
        pause()
        largest = _column_sizes(block)
        if not largest.any():
            return
        powers = np.frexp(largest)[1]
        with np.errstate(under="ignore"):
            high, block = _cut(block, bits - powers)
        products = np.asarray(high.T @ table)
        for which, sums in enumerate(total):
            column = products[:, which]
            for at in np.flatnonzero(column).tolist():
                own, exponent = sums.setdefault(at, {}), int(powers[at]) - bits + shift
                own[exponent] = own.get(exponent, 0) + int(column[at])


def _column_sizes(block: Any) -> Floats:
    """Return the largest magnitude in each column, and refuse numbers that are not finite."""
    if sparse.issparse(block):
        largest = np.zeros(block.shape[1])
        np.maximum.at(largest, block.indices, np.abs(block.data))
    else:
        largest = np.abs(block).max(axis=0, initial=0.0)
    if not np.isfinite(largest).all():
        refuse_not_finite(block)
    return largest


def _cut(block: Any, shifts: Powers) -> tuple[Any, Any]:
    """Return the integer part of a matrix whose columns are multiplied by powers of two, and the rest.

    Nothing is rounded: numbers that underflow have the integer part zero, and leading bits are subtracted.
    """
    if not sparse.issparse(block):
        high = np.trunc(np.ldexp(block, shifts))
        return high, block - np.ldexp(high, -shifts)
    own = shifts[block.indices]
    high = np.trunc(np.ldexp(block.data, own))
    rest = block.data - np.ldexp(high, -own)
    form = block.indices, block.indptr
    return sparse.csr_array((high, *form), block.shape), sparse.csr_array((rest, *form), block.shape)
