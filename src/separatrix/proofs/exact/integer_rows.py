"""Exact linear algebra on data: a float is an integer times a power of two, so nothing is ever rounded.

Which rows or columns are solved for is decided modulo a prime (see `residues`); solutions are rational, come
from FLINT's p-adic solver and satisfy every equation. Where a prime misleads, `Misled` is raised. FLINT
cannot be interrupted: where a call may take long, its time is estimated first, and OutOfTime is raised if the
deadline comes sooner.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from ...certificates.monomials import MonomialMatrix
from ...certificates.numbers import row_integers
from ...deadline import NEVER, Deadline
from ...sparse import sparse
from .residues import Misled, pivot_columns

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Measured on random matrices of 50 to 800 rows with numbers of 8 and 53 bits: 1.6e9 to 3.9e9 a second.
# Estimates of half as much may miss a deadline by as much; twice as much may give up proofs that there was
# time for.
SOLVED_A_SECOND = 2e9  # unknowns^3 times bits of a system
EACH = 0.125  # of the time of one right side, which each adds: 57 together took 7 times as long as one
# Measured on 1,000 x 100 to 4,000 x 300 numbers, whole ones and floats of any size: 2e-7 to 1e-6.
CONVERTED = 1e-6  # seconds for each number of a matrix that is made of integers


@dataclass(frozen=True, eq=False)
class IntegerRows:
    """Rows of integers, without columns of zeros.

    Attributes
    ----------
    matrix : fmpz_mat of shape (rows, columns)
        ``matrix[i, k] * 2**powers[k]`` is the number of row i in column ``columns[k]``.
    columns, powers : ndarray of int64
        The powers are the largest ones.
    """

    matrix: Any
    columns: Ints
    powers: Ints

    def scores(self, weights: dict[int, int]) -> list[int]:
        """The scores of the rows by integer weights, by column, times one power of two."""
        low = int(self.powers.min(initial=0))
        pairs = zip(self.columns.tolist(), self.powers.tolist(), strict=True)
        return times(self.matrix, [weights.get(column, 0) << (power - low) for column, power in pairs])

    def vanishing_weights(
        self, near: Floats, exponents: Ints, prime: int, deadline: Deadline = NEVER
    ) -> dict[int, int]:
        """Integer weights, by column, that all rows are orthogonal to; zeros are left out.

        They are close to ``near / 2**exponents``, up to scale: of the columns of the rows, those that are not
        pivots are rounded to 50 bits, and the pivots are solved for.
        """
        powers = np.zeros(near.size, dtype=np.int64)
        powers[self.columns] = self.powers
        used = np.union1d(np.flatnonzero(near), self.columns)
        shifts = powers - exponents
        shifts -= shifts[used].min(initial=0)
        whole = {j: round(float(near[j]) * 2.0**50) << int(shifts[j]) for j in used.tolist()}
        own = self.columns.tolist()
        found = vanishing(self.matrix, [whole[j] for j in own], prime, deadline)
        values, factor = ([0] * len(own), 1) if found is None else found
        total = {j: value * factor for j, value in whole.items()} | dict(zip(own, values, strict=True))
        top = int(powers.max(initial=0))
        kept = {j: value << (top - int(powers[j])) for j, value in total.items() if value}
        return dict(zip(kept, reduced(list(kept.values())), strict=True))


def exact_numbers(matrix: Any, rows: Ints, deadline: Deadline = NEVER) -> tuple[NDArray[Any], Ints, Ints]:
    """Some rows of the data as ``mantissa * 2**exponent``, and the columns that these arrays are about.

    The mantissas are Python integers, so that nothing overflows. Columns that sparse rows do not use are
    left out.
    """
    columns = np.arange(matrix.shape[1])
    if isinstance(matrix, MonomialMatrix):
        mantissas = np.zeros((rows.size, columns.size), dtype=object)
        exponents = np.zeros(mantissas.shape, dtype=np.int64)
        for i, row in enumerate(rows.tolist()):
            deadline.need()
            for column, mantissa, exponent in row_integers(matrix, row):
                mantissas[i, column], exponents[i, column] = mantissa, exponent
        return mantissas, exponents, columns
    few = matrix[rows]
    if sparse.issparse(few):
        columns = np.unique(few.indices).astype(np.int64)
        few = few[:, columns].toarray()
    deadline.need(CONVERTED * few.size)
    if few.dtype.kind != "f":
        return few.astype(object), np.zeros(few.shape, dtype=np.int64), columns
    fractions, powers = np.frexp(few.astype(np.float64))
    return np.ldexp(fractions, 53).astype(np.int64).astype(object), powers.astype(np.int64) - 53, columns


def integer_rows(mantissas: NDArray[Any], exponents: Ints, columns: Ints) -> IntegerRows:
    """Rows of ``mantissa * 2**exponent`` as integers, on the coarsest grid of each column."""
    used = mantissas.astype(bool)
    live = used.any(axis=0)
    mantissas, exponents, used = mantissas[:, live], exponents[:, live], used[:, live]
    trailing = np.frompyfunc(lambda value: (value & -value).bit_length() - 1, 1, 1)(mantissas)
    lowest = (exponents + trailing).astype(np.int64)
    powers = np.where(used, lowest, lowest.max(initial=0)).min(axis=0) if live.any() else columns[:0]
    shifts = np.where(used, exponents - powers, 0).astype(object)
    entries = (mantissas << np.maximum(shifts, 0)) >> np.maximum(-shifts, 0)
    matrix = flint.fmpz_mat(len(entries), powers.size, entries.ravel().tolist())
    return IntegerRows(matrix, columns[live], powers)


def part(matrix: Any, rows: Iterable[int] | None = None, columns: Iterable[int] | None = None) -> Any:
    """Some rows and columns of a matrix, in the order given; all of them by default."""
    width, entries = matrix.ncols(), matrix.entries()
    chosen = list(range(matrix.nrows()) if rows is None else map(int, rows))
    kept = list(range(width) if columns is None else map(int, columns))
    return flint.fmpz_mat(len(chosen), len(kept), [entries[i * width + j] for i in chosen for j in kept])


def with_negatives(matrix: Any, size: int) -> Any:
    """A matrix with the negatives of its first rows below it."""
    if not size:
        return matrix
    entries = matrix.entries()
    more = [-v for v in entries[: size * matrix.ncols()]]
    return flint.fmpz_mat(matrix.nrows() + size, matrix.ncols(), entries + more)


def times(matrix: Any, vector: Sequence[int]) -> list[int]:
    """The product of a matrix and a vector."""
    return [int(v) for v in (matrix * flint.fmpz_mat(len(vector), 1, list(vector))).entries()]


def bits(matrix: Any) -> int:
    """The number of bits of the largest entry."""
    return max((int(v).bit_length() for v in matrix.entries()), default=0)


def seconds_to_solve(size: int, n_bits: int) -> float:
    """About how long a system of so many unknowns, with numbers of so many bits, takes."""
    return size**3 * (n_bits + size.bit_length()) / SOLVED_A_SECOND


def solved(square: Any, right: Sequence[int], deadline: Deadline = NEVER) -> tuple[list[int], int] | None:
    """Integers x and a positive q with ``square @ (x / q) == right``; None if the matrix is singular."""
    size = square.nrows()
    deadline.need(seconds_to_solve(size, bits(square)))
    system: Any = flint.fmpq_mat(square)
    try:
        found = system.solve(flint.fmpq_mat(flint.fmpz_mat(size, 1, list(right))), algorithm="dixon")
    except ZeroDivisionError:
        return None
    numerators, denominator = found.numer_denom()
    return [int(v) for v in numerators.entries()], int(denominator)


def combined(
    matrix: Any, target: Sequence[int], prime: int, deadline: Deadline = NEVER
) -> tuple[list[int], int]:
    """Integers x and a positive q with ``matrix @ (x / q) == target``.

    The columns are independent modulo the prime. Raises Misled if there is no solution: modulo the prime
    there is one.
    """
    chosen = pivot_columns(matrix.transpose(), prime, deadline)
    if len(chosen) < matrix.ncols():
        raise Misled
    found = solved(part(matrix, chosen), [target[i] for i in chosen], deadline) if chosen else ([], 1)
    if found is None or times(matrix, found[0]) != [found[1] * value for value in target]:
        raise Misled
    return found


def vanishing(
    matrix: Any,
    near: Sequence[int],
    prime: int,
    deadline: Deadline = NEVER,
    order: Sequence[int] | None = None,
) -> tuple[list[int], int] | None:
    """Integers x and a positive q with ``matrix @ x == 0`` and ``x == q * near`` outside the pivot columns.

    Those are the columns that are independent of the ones before them, in the given order: prefer columns
    that may change. None if all columns are pivots, so that only zero vanishes. Raises Misled.
    """
    width = matrix.ncols()
    places = list(range(width)) if order is None else list(order)
    sorted_columns = matrix if order is None else part(matrix, columns=places)
    pivots = [places[k] for k in pivot_columns(sorted_columns, prime, deadline)]
    if len(pivots) == width:
        return None
    fixed = list(near)
    for j in pivots:
        fixed[j] = 0
    target = [-value for value in times(matrix, fixed)]
    values, factor = combined(part(matrix, columns=pivots), target, prime, deadline)
    total = [value * factor for value in fixed]
    for j, value in zip(pivots, values, strict=True):
        total[j] = value
    return total, factor


def unit_vectors(rows: IntegerRows, prime: int, deadline: Deadline = NEVER) -> list[int]:
    """The columns j whose unit vector is a combination of the rows, which are independent modulo a prime.

    Solved for its pivot columns, the rows become ``[I F]``; those of F that vanish belong to such columns.
    Raises Misled if the rows depend on each other modulo the prime.
    """
    chosen, columns = pivot_columns(rows.matrix, prime, deadline), rows.columns.tolist()
    if len(chosen) < rows.matrix.nrows():
        raise Misled
    rest = sorted(set(range(len(columns))) - set(chosen))
    if not rest or not chosen:
        return [columns[j] for j in chosen]
    deadline.need(seconds_to_solve(len(chosen), bits(rows.matrix)) * (1.0 + EACH * len(rest)))
    square: Any = flint.fmpq_mat(part(rows.matrix, columns=chosen))
    right = flint.fmpq_mat(part(rows.matrix, columns=rest))
    numerators = square.solve(right, algorithm="dixon").numer_denom()[0].tolist()
    return [columns[j] for j, row in zip(chosen, numerators, strict=True) if not any(row)]


def reduced(values: Sequence[int]) -> list[int]:
    """Divide by the greatest common divisor."""
    common = gcd(*values)
    return [value // common for value in values] if common > 1 else list(values)
