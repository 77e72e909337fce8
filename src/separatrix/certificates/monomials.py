"""The monomials of the numbers of a matrix, exactly: products that no float may be able to hold.

A certificate that speaks of monomials names their degrees. The columns are then, degree by degree, the
products ``x_a x_b ...`` with ``a <= b <= ...`` in lexicographic order. Nothing here is rounded where it
counts: a float is an integer times a power of two, and so is a product of floats.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sparse import sparse

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PLAIN = (1,)  # the rows as they are


def count_columns(n_columns: int, degrees: tuple[int, ...]) -> int:
    """How many monomials of the given degrees there are."""
    return sum(comb(n_columns + degree - 1, degree) for degree in degrees)


class MonomialMatrix:
    """A matrix of monomials, never stored: rows come as rounded floats or as exact integers.

    Attributes
    ----------
    base : ndarray or csr_array
        The data.
    degrees : tuple of int
        All at least 1, in order.
    columns : tuple of tuples of int
        The columns of the data that each monomial multiplies.
    shape : (int, int)
    dtype : dtype
        Of the rounded rows.
    """

    def __init__(self, base: Any, degrees: tuple[int, ...]) -> None:
        self.base, self.degrees = base, degrees
        n_columns = range(base.shape[1])
        self.columns = tuple(
            each for degree in degrees for each in combinations_with_replacement(n_columns, degree)
        )
        self.shape = (int(base.shape[0]), len(self.columns))
        self.dtype = np.dtype(np.float64)

    def __getitem__(self, rows: Any) -> Floats:
        """Some rows in floats, each entry with a relative error of at most its degree times 2**-52."""
        return self.multiplied(self._base_floats(rows))

    def _base_floats(self, rows: Any) -> Floats:
        block = self.base[rows]
        return np.asarray(block.toarray() if sparse.issparse(block) else block, dtype=np.float64)

    def multiplied(self, block: NDArray[Any], prime: int | None = None) -> NDArray[Any]:
        """The monomials of a block of rows of numbers; of residues, where a prime is given."""
        out = np.empty((block.shape[0], len(self.columns)), dtype=block.dtype)
        start = 0
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            for degree in self.degrees:
                stop = start + comb(block.shape[1] + degree - 1, degree)
                table = np.array(self.columns[start:stop], dtype=np.int64).reshape(-1, degree)
                part = block[:, table[:, 0]]
                for place in range(1, degree):
                    part *= block[:, table[:, place]]
                    if prime is not None:
                        part %= prime
                out[:, start:stop] = part
                start = stop
        return out

    def scaled(self, exponents: Ints) -> Floats:
        """All rows in floats, the monomials of the data's columns divided by these powers of two."""
        return self.multiplied(np.ldexp(self._base_floats(slice(None)), -exponents.astype(np.int32)))

    def exponents(self, base: Ints) -> Ints:
        """What exponents of two of the data's columns add up to in each monomial."""
        return np.array([sum(int(base[c]) for c in each) for each in self.columns], dtype=np.int64)

    def smallest_error(self) -> float:
        """A bound of the absolute error that underflow can add to an entry of a rounded row."""
        values = self.base.data if sparse.issparse(self.base) else self.base
        largest = max(1.0, float(np.abs(values.astype(np.float64)).max(initial=0.0)))
        degree = self.degrees[-1]
        with np.errstate(over="ignore"):
            return float(degree * np.float64(2.0**-1070) * np.float64(largest) ** (degree - 1))

    def integers(self, numbers: Iterator[tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
        """One row, from (column, integer, exponent of two) of the data to the same of the monomials."""
        known: dict[tuple[int, ...], tuple[int, int]] = {(): (1, 0)}
        single = {column: (mantissa, exponent) for column, mantissa, exponent in numbers}
        for at, column in enumerate(self.columns):
            mantissa, exponent = self._product(column, single, known)
            if mantissa:
                yield at, mantissa, exponent

    def _product(
        self,
        columns: tuple[int, ...],
        single: dict[int, tuple[int, int]],
        known: dict[tuple[int, ...], tuple[int, int]],
    ) -> tuple[int, int]:
        if columns not in known:
            mantissa, exponent = self._product(columns[:-1], single, known)
            factor, power = single.get(columns[-1], (0, 0))
            known[columns] = (mantissa * factor, exponent + power)
        return known[columns]
