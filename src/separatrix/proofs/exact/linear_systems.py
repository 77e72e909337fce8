"""Exact linear algebra on data: a float is an integer times a power of two, so nothing is ever rounded.

Which rows or columns are solved for is decided modulo a prime (see `rank`); solutions are rational, come from
FLINT's p-adic solver and satisfy every equation. Where a prime misleads, `Misled` is raised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from ...certificates.monomials import MonomialMatrix
from ...deadline import NEVER, Deadline
from ...rank import Matrix, Misled, pivots
from ...sparse import dense, sparse

Ints = NDArray[np.int64]

SPARE = 100  # rows beyond the number of columns among which all pivots are expected
DIXON = 12  # from this size on, p-adic lifting is faster than elimination

# FLINT cannot be interrupted: its time is estimated before it is called. Measured on random matrices of 50 to
# 800 rows with numbers of 8 and 53 bits: 1.6e9 to 3.9e9 a second. Estimates of half as much may miss a
# deadline by as much; twice as much may give up proofs that there was time for.
SOLVED_A_SECOND = 2e9  # unknowns^3 times bits of a system
EACH = 0.125  # of the time of one right side, which each adds: 57 together took 7 times as long as one


@dataclass(frozen=True, eq=False)
class IntegerRows:
    """Signed rows as integers: entry (i, j) is ``z_ij / 2**grid[j]``, for the columns that occur."""

    entries: Matrix
    columns: Ints
    grid: list[int]


def integer_rows(parts: Sequence[dict[int, tuple[int, int]]], deadline: Deadline = NEVER) -> IntegerRows:
    """Put rows (dicts of column to integer and exponent of two) on the coarsest grid of each column.

    Raises OutOfTime when the deadline has come.
    """
    grid: dict[int, int] = {}
    for part in parts:
        deadline.need()
        for column, (mantissa, exponent) in part.items():
            lowest = exponent + ((mantissa & -mantissa).bit_length() - 1)
            grid[column] = min(grid.get(column, lowest), lowest)
    columns = sorted(grid)
    entries = []
    for part in parts:
        deadline.need()
        row = []
        for column in columns:
            mantissa, exponent = part.get(column, (0, 0))
            shift = exponent - grid[column]
            row.append(mantissa << shift if shift >= 0 else mantissa >> -shift)
        entries.append(row)
    return IntegerRows(entries, np.array(columns, dtype=np.int64), [grid[c] for c in columns])


def transpose(matrix: Matrix) -> Matrix:
    """Swap rows and columns."""
    return [list(column) for column in zip(*matrix, strict=True)]


def solve(matrix: Matrix, right: Sequence[int], deadline: Deadline = NEVER) -> tuple[list[int], int] | None:
    """Integers x and a positive q with ``matrix @ (x / q) == right``; None where the matrix is singular."""
    size = len(matrix)
    if size == 0:
        return [], 1
    deadline.need(seconds_to_solve(size, max(value.bit_length() for row in matrix for value in row)))
    a: Any = flint.fmpz_mat(matrix)
    b = flint.fmpz_mat([[int(v)] for v in right])
    rational: Any = flint.fmpq_mat(a)
    try:
        x = rational.solve(flint.fmpq_mat(b), algorithm="dixon") if size >= DIXON else a.solve(b)
    except ZeroDivisionError:
        return None
    numerators, denominator = x.numer_denom()
    return [int(v) for v in numerators.entries()], int(denominator)


def seconds_to_solve(size: int, bits: int) -> float:
    """About how long a system of so many unknowns, with numbers of so many bits, takes."""
    return size**3 * (bits + size.bit_length()) / SOLVED_A_SECOND


def combination(
    rows: IntegerRows, fixed: dict[int, int], prime: int, deadline: Deadline = NEVER
) -> list[int] | None:
    """Integers m with ``sum_i m_i row_i == 0``, proportional to ``fixed`` on the rows that are not pivots.

    Rows come in order of preference: those independent of the ones before them are solved for, the
    others take their value from ``fixed`` (1 if absent). None where the rows are independent. Raises Misled
    where they are not as dependent as modulo the prime.
    """
    matrix = rows.entries
    first = len(rows.columns) + SPARE
    solved = pivots(transpose(matrix[:first]), prime, deadline)
    if first < len(matrix) and len(solved) < len(rows.columns):
        solved = pivots(transpose(matrix), prime, deadline)
    free = sorted(set(range(len(matrix))) - set(solved))
    if not free:
        return None
    target = [0] * len(rows.columns)
    for i in free:
        value = fixed.get(i, 1)
        for j, entry in enumerate(matrix[i]):
            if entry:
                target[j] -= value * entry
    values, denominator = on_basis(rows, solved, target, prime, deadline)
    result = [0] * len(matrix)
    for i, value in zip(solved, values, strict=True):
        result[i] = value
    for i in free:
        result[i] = fixed.get(i, 1) * denominator
    return reduced(result)


def on_basis(
    rows: IntegerRows, basis: Sequence[int], target: Sequence[int], prime: int, deadline: Deadline = NEVER
) -> tuple[list[int], int]:
    """Integers x and a positive q with ``sum_i (x_i / q) row_i == target``.

    The rows of the basis are independent modulo the prime. Raises Misled where there is no solution: modulo
    the prime there is one.
    """
    matrix = [rows.entries[i] for i in basis]
    chosen = list(range(len(target))) if len(matrix) == len(target) else pivots(matrix, prime, deadline)
    if len(chosen) != len(matrix):
        raise Misled
    square = [[row[j] for row in matrix] for j in chosen]
    found = solve(square, [target[j] for j in chosen], deadline)
    if found is None:
        raise Misled
    values, denominator = found
    rest = sorted(set(range(len(target))) - set(chosen))
    for j in rest:
        if sum(v * row[j] for v, row in zip(values, matrix, strict=True)) != denominator * target[j]:
            raise Misled
    return found


def unit_vectors(rows: IntegerRows, prime: int, deadline: Deadline = NEVER) -> list[int]:
    """The columns j whose unit vector is a combination of the rows, which are independent modulo a prime.

    Solved for its pivot columns, the rows become ``[I F]``; those of F that vanish belong to such columns.
    Raises Misled where the rows depend on each other modulo the prime.
    """
    chosen = pivots(rows.entries, prime, deadline)
    if len(chosen) < len(rows.entries):
        raise Misled
    rest, columns = sorted(set(range(rows.columns.size)) - set(chosen)), rows.columns.tolist()
    if not rest or not chosen:
        return [columns[j] for j in chosen]
    bits = max(value.bit_length() for row in rows.entries for value in row)
    deadline.need(seconds_to_solve(len(chosen), bits) * (1.0 + EACH * len(rest)))
    square: Any = flint.fmpq_mat(flint.fmpz_mat([[row[j] for j in chosen] for row in rows.entries]))
    right = flint.fmpq_mat(flint.fmpz_mat([[row[j] for j in rest] for row in rows.entries]))
    numerators = square.solve(right, algorithm="dixon").numer_denom()[0].tolist()
    return [columns[j] for j, row in zip(chosen, numerators, strict=True) if not any(row)]


def exact_scores(rows: IntegerRows, weights: dict[int, int]) -> list[int]:
    """The scores of some rows by integer weights, by coordinate, times one power of two."""
    low = min(rows.grid, default=0)
    factors = [weights.get(c, 0) << (g - low) for c, g in zip(rows.columns.tolist(), rows.grid, strict=True)]
    return [sum(f * v for f, v in zip(factors, row, strict=True)) for row in rows.entries]


def reduced(values: Sequence[int]) -> list[int]:
    """Divide by the greatest common divisor."""
    common = 0
    for value in values:
        common = gcd(common, value)
        if common == 1:
            return list(values)
    return [value // common for value in values] if common else list(values)


def residues(values: NDArray[Any], prime: int) -> Ints:
    """Numbers modulo a prime; halves and other powers of two have inverses there."""
    if values.dtype.kind != "f":
        if values.dtype.itemsize < 8:
            small: Ints = values.astype(np.int64) % prime
            return small
        large: Ints = (values % values.dtype.type(prime)).astype(np.int64)
        return large
    if max(values.max(initial=0), -values.min(initial=0)) < 2.0**53:
        whole = values.astype(np.int64)
        if (whole == values).all():
            return whole % prime
    fraction, exponent = np.frexp(values.astype(np.float64))
    mantissa = np.ldexp(fraction, 53).astype(np.int64) % prime
    lowest = int(exponent.min(initial=0))
    span = int(exponent.max(initial=0)) - lowest + 1
    powers = np.array([pow(2, e + lowest - 53, prime) for e in range(span)], dtype=np.int64)
    found: Ints = mantissa * powers[exponent - lowest] % prime
    return found


def modular_product(left: Ints, right: Ints, prime: int) -> Ints:
    """``left @ right`` modulo a prime below 2**31, for residues.

    Residues are cut into halves of 16 bits: sums of 2**20 products of two halves, and of twice as many
    where the halves cross, are whole numbers below 2**53, which floats hold exactly.
    """
    total = np.zeros((left.shape[0], right.shape[1]), dtype=np.int64)
    for start in range(0, left.shape[1], 1 << 20):
        a, b = left[:, start : start + (1 << 20)], right[start : start + (1 << 20)]
        low, high = (a & 0xFFFF).astype(np.float64), (a >> 16).astype(np.float64)
        lower, upper = (b & 0xFFFF).astype(np.float64), (b >> 16).astype(np.float64)
        found = (high @ upper).astype(np.int64) % prime
        found = (found * 65536 + (low @ upper + high @ lower).astype(np.int64)) % prime
        total += (found * 65536 + (low @ lower).astype(np.int64)) % prime
    return total % prime


def products(
    matrix: Any, vectors: Ints, prime: int, block: int = 1 << 16, deadline: Deadline = NEVER
) -> Ints:
    """``matrix @ vectors.T`` modulo a prime, for the rows of the data, so many numbers at a time.

    Blocks that stay in the cache are 5 to 13 times as fast as those of 2**21 numbers, and 2**14 as fast.
    """
    n_rows, n_columns = matrix.shape
    out = np.zeros((n_rows, vectors.shape[0]), dtype=np.int64)
    if sparse.issparse(matrix):
        values = residues(matrix.data, prime)
        filled = np.flatnonzero(np.diff(matrix.indptr))
        for k, vector in enumerate(vectors):
            deadline.need()
            terms = values * vector[matrix.indices] % prime
            if filled.size:
                out[filled, k] = np.add.reduceat(terms, matrix.indptr[filled]) % prime
        return out
    step = max(1, block // max(1, n_columns))
    for start in range(0, n_rows, step):
        deadline.need()
        if isinstance(matrix, MonomialMatrix):
            values = matrix.multiplied(residues(dense(matrix.base[start : start + step]), prime), prime)
        else:
            values = residues(matrix[start : start + step], prime)
        out[start : start + step] = modular_product(values, vectors.T, prime)
    return out
