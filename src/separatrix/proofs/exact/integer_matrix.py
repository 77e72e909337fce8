"""Integer matrices of FLINT: from floats, exactly; their rows, products, ranks and solutions.

FLINT cannot be interrupted: where a call may take long, its time is estimated first, and OutOfTime is raised
where the deadline comes sooner.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from ...deadline import NEVER, Deadline
from ...rank import ELIMINATED
from .linear_systems import seconds_to_solve

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NO_POWER = 1 << 20  # in the place of the power of two that divides a zero


def integer_matrix(values: NDArray[Any]) -> tuple[Any, Ints]:
    """An array of floats or whole numbers as integers, and the power of two that each column counts.

    ``values[i, j] == matrix[i, j] * 2**powers[j]``, exactly. The powers are the largest ones.
    """
    n_rows, width = values.shape
    if values.dtype.kind != "f":
        whole = flint.fmpz_mat(n_rows, width, values.ravel().tolist())
        return whole, np.zeros(width, dtype=np.int64)
    fractions, exponents = np.frexp(values.astype(np.float64))
    mantissas = np.ldexp(fractions, 53).astype(np.int64)
    lowest_bits = np.frexp((mantissas & -mantissas).astype(np.float64))[1] - 1
    powers = np.where(mantissas != 0, exponents - 53 + lowest_bits, NO_POWER).min(axis=0, initial=NO_POWER)
    powers = np.where(powers == NO_POWER, 0, powers).astype(np.int64)
    shifts = np.where(mantissas != 0, exponents - 53 - powers, 0)
    mantissas >>= np.maximum(-shifts, 0)
    left = np.maximum(shifts, 0)
    if int(left.max(initial=0)) < 10:
        entries = (mantissas << left).ravel().tolist()
    else:
        pairs = zip(mantissas.ravel().tolist(), left.ravel().tolist(), strict=True)
        entries = [mantissa << shift for mantissa, shift in pairs]
    return flint.fmpz_mat(n_rows, width, entries), powers


def unit_columns(size: int, columns: Sequence[int]) -> Any:
    """Some columns of an identity matrix: what is multiplied by it keeps those columns, in that order."""
    entries = np.zeros((size, len(columns)), dtype=np.int64)
    entries[list(columns), np.arange(len(columns))] = 1
    return flint.fmpz_mat(size, len(columns), entries.ravel().tolist())


def taken(matrix: Any, rows: Sequence[int] | Ints) -> Any:
    """Some rows of a matrix."""
    width = matrix.ncols()
    return flint.fmpz_mat(len(rows), width, [matrix[int(i), j] for i in rows for j in range(width)])


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


def pivot_columns(matrix: Any, prime: int, deadline: Deadline = NEVER) -> list[int]:
    """The columns that are independent of those before them, modulo a prime.

    Modulo a prime rank cannot grow: independent columns are independent, dependent ones most likely depend.
    """
    deadline.need(ELIMINATED * matrix.nrows() * matrix.ncols())
    echelon, rank = flint.nmod_mat(matrix, prime).rref()
    found, at = [], 0
    for row in range(rank):
        while not int(echelon[row, at]):
            at += 1
        found.append(at)
    return found


def spanned(rows: Any, basis: Any, prime: int, deadline: Deadline = NEVER) -> NDArray[np.bool_]:
    """Which rows are combinations of the basis rows, modulo a prime: a mask, right but for luck.

    A row is one if it is orthogonal to two random vectors that all basis rows are orthogonal to. The odds
    that another row is so are about one in the square of the prime.
    """
    deadline.need(ELIMINATED * (rows.nrows() + basis.nrows()) * rows.ncols())
    null, nullity = flint.nmod_mat(basis, prime).nullspace()
    if not nullity:
        return np.ones(rows.nrows(), dtype=bool)
    mix = np.random.default_rng(0).integers(1, prime, 2 * null.ncols()).tolist()
    found = flint.nmod_mat(rows, prime) * (null * flint.nmod_mat(null.ncols(), 2, mix, prime))
    zero: NDArray[np.bool_] = np.array([not int(v) for v in found.entries()], dtype=bool)
    return np.asarray(zero.reshape(-1, 2).all(axis=1))


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
