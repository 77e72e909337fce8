"""Helpers of the generators: checks of counts, and rows that meet a condition exactly."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from ..errors import InputError, InputTypeError
from .problems import Floats, Ints

Seed: TypeAlias = int | np.random.Generator | None

# Ordinary rows keep this share of the radius away from the margin and from the sphere: far above rounding,
# so that only the rows made to attain a bound come near it.
SLACK = 2.0**-40
# A margin closer than this to the largest possible one leaves no room for rows with slack.
ROOM = 1e-9
# Rows made at once: small enough for the cache, large enough for BLAS.
BLOCK = 2048


def check_count(name: str, value: int, least: int, reason: str) -> None:
    """Refuse a number of things that is too small, or not whole."""
    try:
        value = operator.index(value)
    except TypeError:
        raise InputTypeError(f"{name} is {value!r}; a whole number is needed.") from None
    if value < least:
        raise InputError(f"{name} is {value}; it must be at least {least}: {reason}. Raise {name}.")


def check_length(name: str, value: float, advice: str) -> None:
    """Refuse a length that is not positive, or whose square leaves the range of floats."""
    if not 1e-100 <= value <= 1e100:
        raise InputError(f"{name} is {value:g}; a positive number from 1e-100 to 1e100 is needed. {advice}")


def row_width(n_columns: int, least: int, informative: int, sparse: bool, density: float) -> tuple[int, int]:
    """Count the entries that a row stores, and those among them where the weights are not zero."""
    if not sparse:
        return n_columns, n_columns
    if not 0 < density <= 1:
        raise InputError(
            f"density is {density:g}; it is the share of entries that a sparse row stores. "
            "Give a number above 0, up to 1."
        )
    width = min(n_columns, max(least, round(density * n_columns)))
    return width, min(width, max(informative, (width + 1) // 2))


def balanced_signs(n_rows: int, rng: np.random.Generator) -> Ints:
    """Shuffle labels +1 and -1, as many of each as there can be."""
    return rng.permutation(1 - 2 * (np.arange(n_rows, dtype=np.int64) % 2))


def unit_vector(width: int, n_informative: int, rng: np.random.Generator) -> Floats:
    """Draw a direction uniformly among those of the first ``n_informative`` coordinates."""
    vector = np.zeros(width)
    if n_informative == 1:
        vector[0] = rng.choice([-1.0, 1.0])
        return vector
    vector[:n_informative] = rng.standard_normal(n_informative)
    return of_length(vector, 1.0)


def uniform_in_ball(block: Floats, u: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Write normal rows into ``block``; return <u, row>, and the factors that make them uniform in a ball."""
    rng.standard_normal(out=block)
    lengths = np.sqrt(np.einsum("ij,ij->i", block, block))
    return block @ u, rng.random(len(block)) ** (1 / block.shape[1]) / lengths


def of_length(vector: Floats, length: float) -> Floats:
    """Scale a vector to a length, to within 8 eps of it and, exactly, not above it.

    The squares and their correctly rounded sum err by less than 2**-52 in all, so the test below is a proof.
    """
    vector = vector * (length / math.sqrt(math.fsum(np.square(vector).ravel())))
    while math.fsum(np.square(vector).ravel()) > length * length * (1 - 2.0**-51):
        vector = vector * (1 - 2.0**-52)
    return vector


def scoring(row: Floats, direction: Sequence[Fraction], needed: Fraction) -> Floats:
    """Change one coordinate so that ``<direction, row>``, exactly, is at least ``needed`` and hardly more.

    The smallest coordinate is the one with the finest steps; a direction too small there would move it far.
    """
    strength = np.abs([float(v) for v in direction])
    j = int(np.where(strength >= strength.max() / 8, np.abs(row), np.inf).argmin())
    rest = sum(
        (d * Fraction(x) for i, (d, x) in enumerate(zip(direction, row, strict=True)) if i != j and d),
        Fraction(),
    )
    row = row.copy()
    row[j] = float((needed - rest) / direction[j])
    if direction[j] * Fraction(row[j]) + rest < needed:
        row[j] = math.nextafter(row[j], math.copysign(math.inf, direction[j]))
    return row


def place(
    rows: Floats,
    weights: Floats,
    n_informative: int,
    n_columns: int,
    together: Ints,
    sparse: bool,
    rng: np.random.Generator,
) -> tuple[Any, Floats]:
    """Give each stored number its column: all numbers in place if dense, else scattered row by row.

    The first ``n_informative`` numbers of every row go to the same columns, as their weights do; the
    others, whose weights are zero, go to columns of the row's own. The rows ``together`` share theirs. No
    inner product with the weights, and none between rows that are together, changes.
    """
    if not sparse:
        return rows, weights
    n_rows, width = rows.shape
    shuffled = rng.permutation(n_columns)
    common, others = np.sort(shuffled[:n_informative]), np.sort(shuffled[n_informative:])
    columns = np.empty(rows.shape, dtype=np.int64)
    columns[:, :n_informative] = common
    n_own = width - n_informative
    if n_own:
        # Sorted draws plus 0, 1, 2, ... are distinct; the turn gives every column the same chance.
        drawn = np.sort(rng.integers(others.size - n_own + 1, size=(n_rows, n_own)), axis=1)
        turns = rng.integers(others.size, size=(n_rows, 1))
        columns[:, n_informative:] = others[(drawn + np.arange(n_own) + turns) % others.size]
    columns[together] = columns[together[0]]
    X = csr_array((rows.ravel(), columns.ravel(), np.arange(n_rows + 1) * width), shape=(n_rows, n_columns))
    X.sort_indices()
    X.eliminate_zeros()
    spread = np.zeros((len(weights), n_columns))
    spread[:, common] = weights[:, :n_informative]
    return X, spread
