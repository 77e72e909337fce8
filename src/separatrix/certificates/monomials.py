"""The monomials of the numbers of a matrix, exactly: products that floats may be unable to hold.

A certificate about monomials names their degrees. The columns are then, degree by degree, the
products ``x_a x_b ...`` with ``a <= b <= ...`` in lexicographic order. No
proof depends on a rounded number: a float is an integer times a power of two, and so is a product of floats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sparse import sparse

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

PLAIN = (1,)  # the rows as they are


def count_columns(n_columns: int, degrees: tuple[int, ...]) -> int:
    """Return the number of monomials of the given degrees."""
    return sum(comb(n_columns + degree - 1, degree) for degree in degrees)


class MonomialMatrix:
    """A matrix of monomials, never stored: rows come as rounded floats or as exact integers.

    Attributes
    ----------
    base : ndarray or csr_array
        The data.
    degrees : tuple of int
        All at least 1, in order.
    shape : (int, int)
    dtype : dtype
        Of the rounded rows.
    """

    def __init__(self, base: Any, degrees: tuple[int, ...]) -> None:
        self.base, self.degrees = base, degrees
        self.shape = (int(base.shape[0]), count_columns(int(base.shape[1]), degrees))
        self.dtype = np.dtype(np.float64)

    @property
    def columns(self) -> tuple[tuple[int, ...], ...]:
        """The columns of the data that each monomial multiplies: for names, as they may be many."""
        inner = range(int(self.base.shape[1]))
        return tuple(each for degree in self.degrees for each in combinations_with_replacement(inner, degree))

    def __getitem__(self, rows: Any) -> Floats:
        """Return some rows in floats, each entry with a relative error of at most its degree times 2**-52."""
        return self.multiplied(self._base_floats(rows))

    def _base_floats(self, rows: Any) -> Floats:
        block = self.base[rows]
        return np.asarray(block.toarray() if sparse.issparse(block) else block, dtype=np.float64)

    def multiplied(self, block: NDArray[Any], prime: int | None = None) -> NDArray[Any]:
        """Return the monomials of a block of rows; modulo a prime, if one is given."""

        def times(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
            a *= b
            if prime is not None:
                a %= prime
            return a

        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            return self._combined(block, times)

    def scaled(self, exponents: Ints) -> Floats:
        """Return all rows in floats: the monomials of the columns divided by these powers of two."""
        return self.multiplied(np.ldexp(self._base_floats(slice(None)), -exponents.astype(np.int32)))

    def exponents(self, base: Ints) -> Ints:
        """Return the sum of the columns' exponents of two for each monomial."""
        found: Ints = self._combined(base[None, :], np.add)[0]
        return found

    def _combined(
        self, single: NDArray[Any], combine: Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]
    ) -> NDArray[Any]:
        """Combine the columns of each monomial, from the first to the last.

        Monomials of a degree follow from those of the degree before: each is continued by its last column
        and every later one, which is lexicographic order.
        """
        width = single.shape[1]
        out = np.empty((single.shape[0], self.shape[1]), dtype=single.dtype)
        part, last, stop = single, np.arange(width), 0
        for degree in range(1, self.degrees[-1] + 1):
            if degree > 1:
                counts = width - last
                before = np.repeat(np.cumsum(counts) - counts - last, counts)
                part, last = np.repeat(part, counts, axis=1), np.arange(before.size) - before
                part = combine(part, single[:, last])
            if degree in self.degrees:
                start, stop = stop, stop + last.size
                out[:, start:stop] = part
        return out

    def smallest_error(self) -> float:
        """Bound the absolute error that underflow can add to an entry of a rounded row."""
        values = self.base.data if sparse.issparse(self.base) else self.base
        largest = max(1.0, float(values.max(initial=0)), -float(values.min(initial=0)))
        degree = self.degrees[-1]
        with np.errstate(over="ignore"):
            return float(degree * np.float64(2.0**-1070) * np.float64(largest) ** (degree - 1))

    def integers(
        self, numbers: Iterator[tuple[int, int, int]], columns: range | None = None
    ) -> Iterator[tuple[int, int, int]]:
        """Yield the monomials of a row whose numbers are given as (column, integer, exponent of two).

        They have the same form. ``columns`` restricts them to some consecutive columns.
        """
        single = {column: (mantissa, exponent) for column, mantissa, exponent in numbers}
        wanted = range(self.shape[1]) if columns is None else columns
        width, first = int(self.base.shape[1]), 0
        for degree in self.degrees:
            count = comb(width + degree - 1, degree)
            start, stop = max(wanted.start - first, 0), min(wanted.stop - first, count)
            if start < stop:
                products = _products(single, width, _monomial(width, degree, start))
                for at, (mantissa, exponent) in zip(
                    range(first + start, first + stop), products, strict=False
                ):
                    if mantissa:
                        yield at, mantissa, exponent
            first += count


def _products(
    single: dict[int, tuple[int, int]], width: int, columns: list[int]
) -> Iterator[tuple[int, int]]:
    """Yield the values of a monomial and of all that follow it, as (integer, exponent of two)."""
    known = [(1, 0)]  # of the first columns, none, one, ...
    changed = 0
    while True:
        del known[changed + 1 :]
        for column in columns[changed:]:
            (a, e), (b, f) = known[-1], single.get(column, (0, 0))
            known.append((a * b, e + f))
        yield known[-1]
        changed = len(columns) - 1
        while changed >= 0 and columns[changed] == width - 1:
            changed -= 1
        if changed < 0:
            return
        columns[changed:] = [columns[changed] + 1] * (len(columns) - changed)


def _monomial(width: int, degree: int, place: int) -> list[int]:
    """Return the columns of the monomial of a degree at a place in lexicographic order."""
    columns: list[int] = []
    column = 0
    for left in range(degree - 1, -1, -1):
        while place >= (count := comb(width - column + left - 1, left)):
            place -= count
            column += 1
        columns.append(column)
    return columns
