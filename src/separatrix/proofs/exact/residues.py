"""Arithmetic modulo primes: the rank is never more than the true rank, and less where the prime misleads.

Rows that are independent modulo a prime are independent. The converse is no proof: a prime that divides a
minor makes rows look dependent that are not. So whoever relies on a dependence solves for it exactly, raises
`Misled` where there is no solution, and starts again modulo another prime.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, TypeVar

import flint
import numpy as np
from numpy.typing import NDArray

from ...certificates.monomials import MonomialMatrix
from ...deadline import NEVER, Deadline
from ...sparse import dense, sparse

Ints = NDArray[np.int64]
T = TypeVar("T")

# FLINT cannot be interrupted: its time is estimated before it is called. Measured on random matrices of 50 to
# 800 rows with numbers of 8 and 53 bits: 0.5 to 0.7 microseconds for each number.
ELIMINATED = 1e-6  # seconds for each number of a matrix whose pivots are found


class Misled(Exception):
    """What depends modulo a prime does not depend in fact; another prime will tell."""


def primes() -> Iterator[int]:
    """Primes of 31 bits, so that products fit 64: always the same ones, drawn at random and without end.

    A minor that is not zero has finitely many divisors, so that at most a few primes in turn mislead.
    """
    draw = random.Random(0)
    while True:
        number = draw.getrandbits(31) | 1 << 30 | 1
        if flint.fmpz(number).is_prime():
            yield number


FIRST_PRIME = next(primes())


def undeceived(attempt: Callable[[int], T]) -> T:
    """What an attempt comes to modulo the first prime that does not mislead it."""
    for prime in primes():
        with suppress(Misled):
            return attempt(prime)
    raise AssertionError("primes do not end")


def pivot_columns(matrix: Any, prime: int, deadline: Deadline = NEVER) -> list[int]:
    """The columns of an integer matrix that are independent of those before them, modulo a prime.

    Columns beyond twice the number of rows are looked at only if the first ones do not have full rank. Raises
    OutOfTime if the deadline leaves no time for it.
    """
    height, width = matrix.nrows(), matrix.ncols()
    deadline.need(ELIMINATED * height * width)
    residue = flint.nmod_mat(matrix, prime)
    if width > 2 * height:
        entries = residue.entries()
        first = [v for i in range(height) for v in entries[i * width : i * width + 2 * height]]
        found = _first_entries(*flint.nmod_mat(height, 2 * height, first, prime).rref())
        if len(found) == height:
            return found
    return _first_entries(*residue.rref())


def reduced_echelon(table: Ints, prime: int) -> tuple[Ints, Ints]:
    """The reduced echelon form of residues, and its pivot columns.

    Modulo the prime, column j of the table is the sum over i of ``form[i, j]`` times its i-th pivot column.
    """
    echelon, rank = flint.nmod_mat(table.tolist(), prime).rref()
    entries = np.array([int(v) for v in echelon.entries()], dtype=np.int64).reshape(table.shape)
    return entries, np.array(_first_entries(echelon, rank), dtype=np.int64)


def _first_entries(echelon: Any, rank: int) -> list[int]:
    """The column of the first entry of each row of an echelon form."""
    found, at = [], 0
    for row in range(rank):
        while not int(echelon[row, at]):
            at += 1
        found.append(at)
    return found


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
