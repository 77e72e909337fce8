"""What the generators share: checks of parameters, and rows that meet a condition exactly."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from ..errors import InputError, InputTypeError
from .problems import Floats, Ints

Seed: TypeAlias = int | np.random.Generator | None

# A margin has to be smaller than the largest possible one by this share of it.
ROOM = 1e-9
# Ordinary rows stay at least this share of the radius away from the margin and from the sphere. It is far
# larger than rounding errors, so only the rows that are meant to attain a bound come close to it.
SLACK = ROOM / 1000


def check(name: str, value: float, holds: bool, needed: str) -> None:
    """Refuse a parameter unless a condition on it holds."""
    if not holds:
        raise InputError(f"{name} is {value:.12g}; it must be {needed}.", parameter=name)


def check_count(name: str, value: int, least: int, reason: str) -> None:
    """Refuse a count that is too small or is not an integer."""
    try:
        value = operator.index(value)
    except TypeError:
        raise InputTypeError(f"{name} is {value!r}; a whole number is needed.", parameter=name) from None
    check(name, value, value >= least, f"at least {least}: {reason}")


def check_length(name: str, value: float) -> None:
    """Refuse a length that is not positive, or whose square leaves the range of floats."""
    check(name, value, 1e-100 <= value <= 1e100, "positive, from 1e-100 to 1e100")


def balanced_signs(n_rows: int, rng: np.random.Generator) -> Ints:
    """Shuffle labels +1 and -1 whose numbers differ by at most one."""
    return rng.permutation(1 - 2 * (np.arange(n_rows, dtype=np.int64) % 2))


def unit_vector(width: int, rng: np.random.Generator) -> Floats:
    """Draw a direction uniformly."""
    if width == 1:
        return np.array([rng.choice([-1.0, 1.0])])
    return of_length(rng.standard_normal(width), 1.0)


def blocks(n_rows: int, size: int = 2048) -> Iterator[slice]:
    """Cut the rows into blocks that fit into the cache."""
    return (slice(start, start + size) for start in range(0, n_rows, size))


def uniform_in_ball(block: Floats, u: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Write normal rows into ``block``; return <u, row>, and the factors that make them uniform in a ball."""
    rng.standard_normal(out=block)
    lengths = np.sqrt(np.einsum("ij,ij->i", block, block))
    return block @ u, rng.random(len(block)) ** (1 / block.shape[1]) / lengths


def of_length(vector: Floats, length: float) -> Floats:
    """Scale a vector to a length: at most that length in exact arithmetic, and within 8 eps of it.

    The total error of the squares and of their correctly rounded sum is below 2**-52, so the test is a proof.
    """
    vector = vector * (length / math.sqrt(math.fsum(np.square(vector).ravel())))
    while math.fsum(np.square(vector).ravel()) > length * length * (1 - 2.0**-51):
        vector = vector * (1 - 2.0**-52)
    return vector


def scoring(row: Floats, direction: Sequence[Fraction], needed: Fraction) -> Floats:
    """Change one coordinate so that ``<direction, row>``, exactly, is at least ``needed`` and hardly more.

    The smallest coordinate has the finest steps. Coordinates in which the direction is small are left out,
    because they would have to change much.
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
