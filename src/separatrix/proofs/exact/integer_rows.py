"""Exact linear algebra on data: a float is an integer times a power of two, so nothing is rounded.

Which rows or columns to solve for is decided modulo a prime. Rows that are independent modulo a prime are
independent, but the converse does not hold: a prime that divides a minor makes rows look dependent. So a
function that relies on a dependence solves for it exactly with FLINT's p-adic solver, and raises `Misled` if
there is no solution; then another prime is tried.

FLINT cannot be interrupted. If a call may take long, its time is estimated first, and OutOfTime is raised if
less time is left.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import Any, TypeVar

import flint
import numpy as np
from numpy.typing import NDArray

from ...certificates.fields import Number
from ...certificates.models.combinations import Combinations
from ...certificates.monomials import MonomialMatrix
from ...certificates.numbers import row_integers
from ...deadline import NEVER, Deadline
from ...rows.protocol import Floats, Ints
from ...sparse import dense, sparse

T = TypeVar("T")

# Measured on random matrices of 50 to 800 rows with numbers of 8 and 53 bits: 1.6e9 to 3.9e9. With half of
# this number, proofs may be given up although there was time; with twice this number, a deadline may be
# missed by as much.
SOLVED_PER_SECOND = 2e9  # unknowns^3 times bits of a system
# Converting a matrix to integers took 2e-7 to 1e-6, finding its pivots 5e-7 to 7e-7.
SECONDS_PER_NUMBER = 1e-6


class Misled(Exception):
    """Rows depend on each other modulo a prime, but not in the integers."""


def primes() -> Iterator[int]:
    """Yield primes of 31 bits, so that products fit 64: always the same ones, drawn at random, without end.

    A nonzero minor has finitely many divisors, so only a few primes in turn can mislead.
    """
    draw = random.Random(0)
    while True:
        number = draw.getrandbits(31) | 1 << 30 | 1
        if flint.fmpz(number).is_prime():
            yield number


FIRST_PRIME = next(primes())


def modulo_primes(attempt: Callable[[int], T]) -> T:
    """Return the result of an attempt modulo the first prime that does not mislead it."""
    for prime in primes():
        with suppress(Misled):
            return attempt(prime)
    raise AssertionError("primes do not end")


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
        """Return the scores of the rows, times one power of two, for integer weights by column."""
        low = int(self.powers.min(initial=0))
        pairs = zip(self.columns.tolist(), self.powers.tolist(), strict=True)
        return times(self.matrix, [weights.get(column, 0) << (power - low) for column, power in pairs])

    def vanishing_weights(
        self,
        near: Floats,
        exponents: Ints,
        prime: int,
        deadline: Deadline = NEVER,
        order: Ints | None = None,
    ) -> dict[int, int]:
        """Return nonzero integer weights, by column, that all rows are orthogonal to.

        They are close to ``near / 2**exponents``, up to scale: the pivot columns of the rows are solved for,
        and all other columns are rounded to 50 bits. Pivots are looked for in the given order of all columns.
        """
        powers = np.zeros(near.size, dtype=np.int64)
        powers[self.columns] = self.powers
        used = np.union1d(np.flatnonzero(near), self.columns)
        shifts = powers - exponents
        shifts -= shifts[used].min(initial=0)
        whole = {j: round(float(near[j]) * 2.0**50) << int(shifts[j]) for j in used.tolist()}
        own = self.columns.tolist()
        places = {column: place for place, column in enumerate(own)}
        first = None if order is None else [places[j] for j in order.tolist() if j in places]
        found = vanishing(self.matrix, [whole[j] for j in own], prime, deadline, first)
        values, factor = ([0] * len(own), 1) if found is None else found
        total = {j: value * factor for j, value in whole.items()} | dict(zip(own, values, strict=True))
        top = int(powers.max(initial=0))
        kept = {j: value << (top - int(powers[j])) for j, value in total.items() if value}
        return dict(zip(kept, reduced(list(kept.values())), strict=True))


def exact_numbers(matrix: Any, rows: Ints, deadline: Deadline = NEVER) -> tuple[NDArray[Any], Ints, Ints]:
    """Return some rows of the data as ``mantissa * 2**exponent``, and the columns of these arrays.

    The mantissas are Python integers, so that nothing overflows. Columns that sparse rows do not use are left
    out.
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
    if isinstance(matrix, Combinations):
        return _combined_numbers(matrix, rows, deadline)
    few = matrix[rows]
    if sparse.issparse(few):
        columns = np.unique(few.indices).astype(np.int64)
    deadline.need(SECONDS_PER_NUMBER * rows.size * columns.size)
    if sparse.issparse(few):
        few = few[:, columns].toarray()
    if few.dtype.kind != "f":
        return few.astype(object), np.zeros(few.shape, dtype=np.int64), columns
    fractions, powers = np.frexp(few.astype(np.float64))
    return np.ldexp(fractions, 53).astype(np.int64).astype(object), powers.astype(np.int64) - 53, columns


def _combined_numbers(
    matrix: Combinations, rows: Ints, deadline: Deadline
) -> tuple[NDArray[Any], Ints, Ints]:
    """Do the same for combinations of rows: every column on one grid."""
    pattern, units = matrix.data[rows], matrix.unit[rows].tocoo()
    used, places = np.unique(pattern.indices % matrix.n_base, return_inverse=True)
    mantissas, exponents, own = exact_numbers(matrix.base, used.astype(np.int64), deadline)
    lowest = np.where(mantissas.astype(bool), exponents, 0).min(axis=0, initial=0)
    base = mantissas << np.maximum(exponents - lowest, 0).astype(object)
    ratios = [value.as_integer_ratio() for value in pattern.data.tolist()]
    common = max((bottom for _, bottom in ratios), default=1)
    values = np.zeros((rows.size, matrix.shape[1]), dtype=object)
    for row in range(rows.size):
        deadline.need()
        for at in range(pattern.indptr[row], pattern.indptr[row + 1]):
            first = int(pattern.indices[at]) // matrix.n_base * matrix.block
            factor = ratios[at][0] * (common // ratios[at][1])
            values[row, first + own] += factor * base[places.ravel()[at]]
            if matrix.lift:
                values[row, first + matrix.n_columns] += factor
    grid = np.zeros(matrix.n_columns, dtype=np.int64)
    grid[own] = lowest
    powers = matrix.exponents(grid)
    for row, column, value in zip(*units.coords, units.data.tolist(), strict=True):
        values[row, column] += int(value) * common << -int(powers[column])
    powers = powers + 1 - common.bit_length()
    return values, np.broadcast_to(powers, values.shape), np.arange(matrix.shape[1])


def integer_rows(mantissas: NDArray[Any], exponents: Ints, columns: Ints) -> IntegerRows:
    """Return rows of ``mantissa * 2**exponent`` as integers, on the coarsest grid of each column."""
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
    """Return some rows and columns of a matrix, in the given order; all of them by default."""
    width, entries = matrix.ncols(), matrix.entries()
    chosen = list(range(matrix.nrows()) if rows is None else map(int, rows))
    kept = list(range(width) if columns is None else map(int, columns))
    return flint.fmpz_mat(len(chosen), len(kept), [entries[i * width + j] for i in chosen for j in kept])


def with_negatives(matrix: Any, size: int) -> Any:
    """Return a matrix with the negatives of its first rows below it."""
    if not size:
        return matrix
    entries = matrix.entries()
    more = [-v for v in entries[: size * matrix.ncols()]]
    return flint.fmpz_mat(matrix.nrows() + size, matrix.ncols(), entries + more)


def times(matrix: Any, vector: Sequence[int]) -> list[int]:
    """Return the product of a matrix and a vector."""
    return [int(v) for v in (matrix * flint.fmpz_mat(len(vector), 1, list(vector))).entries()]


def bits(matrix: Any) -> int:
    """Return the number of bits of the largest entry."""
    return max((int(v).bit_length() for v in matrix.entries()), default=0)


def seconds_to_solve(size: int, n_bits: int) -> float:
    """Estimate how long it takes to solve a system of ``size`` unknowns with numbers of ``n_bits``."""
    return size**3 * (n_bits + size.bit_length()) / SOLVED_PER_SECOND


def solved(square: Any, right: Sequence[int], deadline: Deadline = NEVER) -> tuple[list[int], int] | None:
    """Return integers x and a positive q with ``square @ (x / q) == right``; None if it is singular."""
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
    """Return integers x and a positive q with ``matrix @ (x / q) == target``.

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
    """Find integers x and a positive q with ``matrix @ x == 0`` and ``x == q * near`` outside the pivots.

    The pivots are the columns that are independent of those before them, in the given order: put columns
    first that may change. None if all columns are pivots, so that x = 0 is the only solution. Raises Misled.
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
    """Return the columns j whose unit vector is a combination of the rows.

    Solved for its pivot columns, the rows become ``[I F]``; zero rows of F belong to such columns.
    Raises Misled if the rows depend on each other modulo the prime.
    """
    chosen, columns = pivot_columns(rows.matrix, prime, deadline), rows.columns.tolist()
    if len(chosen) < rows.matrix.nrows():
        raise Misled
    rest = sorted(set(range(len(columns))) - set(chosen))
    if not rest or not chosen:
        return [columns[j] for j in chosen]
    # 57 right sides together took 7 times as long as one
    deadline.need(seconds_to_solve(len(chosen), bits(rows.matrix)) * (1.0 + len(rest) / 8))
    square: Any = flint.fmpq_mat(part(rows.matrix, columns=chosen))
    right = flint.fmpq_mat(part(rows.matrix, columns=rest))
    numerators = square.solve(right, algorithm="dixon").numer_denom()[0].tolist()
    return [columns[j] for j, row in zip(chosen, numerators, strict=True) if not any(row)]


def reduced(values: Sequence[int]) -> list[int]:
    """Divide by the greatest common divisor."""
    common = gcd(*values)
    return [value // common for value in values] if common > 1 else list(values)


def pivot_columns(matrix: Any, prime: int, deadline: Deadline = NEVER) -> list[int]:
    """Return the columns of an integer matrix that are independent of those before them, modulo a prime.

    Columns beyond twice the number of rows are used only if the first ones do not have full rank. Raises
    OutOfTime if there is too little time.
    """
    height, width = matrix.nrows(), matrix.ncols()
    deadline.need(SECONDS_PER_NUMBER * height * width)
    residue = flint.nmod_mat(matrix, prime)
    if width > 2 * height:
        entries = residue.entries()
        first = [v for i in range(height) for v in entries[i * width : i * width + 2 * height]]
        found = _first_entries(*flint.nmod_mat(height, 2 * height, first, prime).rref())
        if len(found) == height:
            return found
    return _first_entries(*residue.rref())


def reduced_echelon(table: Ints, prime: int) -> tuple[Ints, Ints]:
    """Return the reduced echelon form of residues, and its pivot columns.

    Modulo the prime, column j of the table is the sum over i of ``form[i, j]`` times its i-th pivot column.
    """
    echelon, rank = flint.nmod_mat(table.tolist(), prime).rref()
    entries = np.array([int(v) for v in echelon.entries()], dtype=np.int64).reshape(table.shape)
    return entries, np.array(_first_entries(echelon, rank), dtype=np.int64)


def _first_entries(echelon: Any, rank: int) -> list[int]:
    """Return the column of the first entry of each row of an echelon form."""
    found, at = [], 0
    for row in range(rank):
        while not int(echelon[row, at]):
            at += 1
        found.append(at)
    return found


def residues(values: NDArray[Any], prime: int) -> Ints:
    """Return numbers modulo a prime, in which powers of two have inverses."""
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
    """Return ``left @ right`` modulo a prime below 2**31, for residues.

    Residues are cut into halves of 16 bits. Sums of 2**20 products of two halves, and of twice as many for
    mixed halves, are integers below 2**53, which floats hold exactly.
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
    """Return ``matrix @ vectors.T`` modulo a prime, for the rows of the data.

    They are read in blocks that fit the cache, which is 5 to 13 times as fast as blocks of 2**21 numbers.
    """
    n_rows, n_columns = matrix.shape
    if isinstance(matrix, Combinations):
        return _combined_products(matrix, vectors, prime, deadline)
    out = np.zeros((n_rows, vectors.shape[0]), dtype=np.int64)
    width = -(-matrix.nnz // max(1, n_rows)) if sparse.issparse(matrix) else n_columns
    step = max(1, block // max(1, width))
    for start in range(0, n_rows, step):
        deadline.need()
        if sparse.issparse(matrix):
            some = matrix[start : start + step]
            values, filled = residues(some.data, prime), np.flatnonzero(np.diff(some.indptr))
            for k, vector in enumerate(vectors if filled.size else ()):
                terms = values * vector[some.indices] % prime
                out[start + filled, k] = np.add.reduceat(terms, some.indptr[filled]) % prime
            continue
        if isinstance(matrix, MonomialMatrix):
            values = matrix.multiplied(residues(dense(matrix.base[start : start + step]), prime), prime)
        else:
            values = residues(matrix[start : start + step], prime)
        out[start : start + step] = modular_product(values, vectors.T, prime)
    return out


def _combined_products(matrix: Combinations, vectors: Ints, prime: int, deadline: Deadline) -> Ints:
    """Do the same for combinations of rows: those of the base first, then their combinations."""
    parts = []
    for block in range(matrix.blocks):
        first = block * matrix.block
        inner = vectors[:, first : first + matrix.n_columns]
        outputs = products(matrix.base, inner, prime, deadline=deadline)
        if matrix.lift:
            outputs += vectors[:, first + matrix.n_columns]
        parts.append(outputs)
    own = products(matrix.data, np.concatenate(parts).T % prime, prime, deadline=deadline)
    own += products(matrix.unit, vectors, prime, deadline=deadline)
    own %= prime
    return own


def relative_floats(values: Sequence[Number]) -> Floats:
    """Return exact numbers as floats, divided by the largest magnitude."""
    largest = max((abs(Fraction(v)) for v in values if v), default=Fraction(1))
    return np.array([float(Fraction(v) / largest) if v else 0.0 for v in values])
