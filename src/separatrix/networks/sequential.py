"""Sequential learning: half-spaces that hold rows of one class only, until one class is left.

**Theorem** (Marchand, Golea and Rujan 1990). If no two equal rows have different labels, a list of at most
n half-spaces gives each of n rows its class: that of the first half-space that holds it.

*Proof.* Let p be a longest of the rows that are left. Every other row x has ``<p, x> < <p, p>``, because
``<p, x> <= |p| |x| <= |p|^2`` with equality only for ``x = p``. So the half-space ``<p, x> > t``, with t the
largest inner product of p with a row that is not equal to p, holds p and rows equal to p, and no other row.
Give it their label, take these rows away, and repeat.

A unit should take as many rows as it can; `directions` searches for such half-spaces. What a unit does is
decided exactly, so the list is right on every row, whatever the search returned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..certificates.half_spaces import Unit, exact_signs
from ..certificates.numbers import row_integers
from ..result import Ints
from .directions import longest_runs


@dataclass(frozen=True, eq=False)
class Grown:
    """A list of half-spaces, and what each did.

    Attributes
    ----------
    units : list of Unit
    taken : list of ndarray
        The rows that each unit was the first to hold.
    left : ndarray
        The rows that no unit holds.
    """

    units: list[Unit]
    taken: list[Ints]
    left: Ints

    def cut(self, size: int) -> Grown:
        """Return the list of the first units."""
        return Grown(self.units[:size], self.taken[:size], np.concatenate([*self.taken[size:], self.left]))

    def default(self, codes: NDArray[Any]) -> int:
        """Return the most frequent class of the rows that are left."""
        return int(np.bincount(codes[self.left]).argmax())


def grow(matrix: Any, codes: NDArray[Any], max_units: int | None, seed: np.random.Generator) -> Grown:
    """Add units until the rows that are left have one class, or there are ``max_units``."""
    units: list[Unit] = []
    taken: list[Ints] = []
    left = np.arange(matrix.shape[0])
    while np.unique(codes[left]).size > 1 and (max_units is None or len(units) < max_units):
        unit, fires = _next_unit(matrix[left], codes[left], seed)
        units.append(unit)
        taken.append(left[fires])
        left = left[~fires]
    return Grown(units, taken, left)


def _next_unit(matrix: Any, codes: NDArray[Any], seed: np.random.Generator) -> tuple[Unit, NDArray[np.bool_]]:
    """Return a half-space that holds rows of one class only, exactly, and which rows it holds."""
    with np.errstate(all="ignore"):
        runs = longest_runs(matrix.astype(np.float64), codes, seed)
    for label, run in runs:
        weights = (*run.direction.tolist(), -run.threshold)
        if np.all(np.isfinite(weights)):
            fires = exact_signs(matrix, weights) > 0
            if fires.any() and np.all(codes[fires] == label):
                return Unit(weights, label), fires
    return _cut_vertex(matrix, codes)


def _cut_vertex(matrix: Any, codes: NDArray[Any]) -> tuple[Unit, NDArray[np.bool_]]:
    """Cut off a longest row, in integers: the half-space of the theorem's proof."""
    numbers = [list(row_integers(matrix, i)) for i in range(matrix.shape[0])]
    low = min((exponent for row in numbers for _, _, exponent in row), default=0)
    rows = [{column: value << (power - low) for column, value, power in row} for row in numbers]
    longest = max(range(len(rows)), key=lambda i: sum(value * value for value in rows[i].values()))
    vertex = rows[longest]
    products = [sum(vertex.get(column, 0) * value for column, value in row.items()) for row in rows]
    fires = np.array([row == vertex for row in rows])
    highest = max(product for product, equal in zip(products, fires, strict=True) if not equal)
    # The rows are these integers times 2^low: <v, x> > t is <v, 2^low x'> > t, with v and t as integers.
    up, down = (0, -low) if low < 0 else (low, 0)
    weights = [0] * (matrix.shape[1] + 1)
    for column, value in vertex.items():
        weights[column] = value << down
    weights[-1] = -(highest << up) if up else -highest
    return Unit(tuple(weights), int(codes[longest])), fires
