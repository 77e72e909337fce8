"""The largest margin of two classes in exact arithmetic: the shortest vector between their hulls.

The shortest vector w of ``{p - q}``, over points p and q of the two hulls, is normal to the hyperplane of
largest margin, and the margin is half its length. Wolfe's algorithm keeps w as a combination of few
differences of rows; with fractions it ends, after finitely many steps, at w itself (Wolfe 1976, Finding the
nearest point in a polytope, Mathematical Programming 11).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

import flint
import numpy as np

from ..errors import InputError
from ..inputs import as_matrix
from ..sparse import dense

__all__ = ["ExactMargin", "exact_margin"]

Vector = tuple[Fraction, ...]


@dataclass(frozen=True)
class ExactMargin:
    """The hyperplane of largest margin, in fractions; all are zero if the hulls meet.

    Attributes
    ----------
    weights : tuple of Fraction
        A normal of the hyperplane, which points to the last class.
    intercept : Fraction
    squared : Fraction
        The square of the margin, which is half the distance between the hulls.
    """

    weights: Vector
    intercept: Fraction
    squared: Fraction

    @property
    def margin(self) -> Fraction | None:
        """The margin itself, if it is a fraction."""
        top, bottom = isqrt(self.squared.numerator), isqrt(self.squared.denominator)
        found = Fraction(top, bottom)
        return found if found * found == self.squared else None


def exact_margin(X: Any, y: Any) -> ExactMargin:
    """Return the largest margin of a hyperplane with an intercept between two classes, exactly.

    It is for small data: each of its steps computes a score in fractions for every row.

    Parameters
    ----------
    X : array of shape (rows, columns)
        Floats are read as the fractions that they are. Text and fractions, too: ``[["0.1"]]`` is 1/10.
    y : array of shape (rows,)
        Labels of two classes.

    Examples
    --------
    >>> found = exact_margin([[0, 0], [3, 4], [6, 8]], [0, 1, 1])
    >>> print(found.squared, found.margin, *found.weights, found.intercept)
    25/4 5/2 3 4 -25/2
    """
    table = X if isinstance(X, list | tuple) else dense(as_matrix(X)).tolist()
    rows = [tuple(Fraction(value) for value in row) for row in table]
    labels, codes = np.unique(np.asarray(y), return_inverse=True)
    if labels.size != 2 or codes.size != len(rows):
        raise InputError(
            f"An exact margin is between two classes. Got {labels.size} classes in {codes.size} labels, and "
            f"{len(rows)} rows."
        )
    sides = [[row for row, code in zip(rows, codes.tolist(), strict=True) if code == k] for k in (0, 1)]
    corral, shares = [_difference(sides[1][0], sides[0][0])], [Fraction(1)]
    while True:
        w = _combination(corral, shares)
        high = max(sides[0], key=lambda row: _product(w, row))
        low = min(sides[1], key=lambda row: _product(w, row))
        if _product(w, _difference(low, high)) >= _product(w, w):
            middle = (_product(w, low) + _product(w, high)) / 2
            return ExactMargin(w, -middle, _product(w, w) / 4)
        corral, shares = [*corral, _difference(low, high)], [*shares, Fraction(0)]
        corral, shares = _shortest(corral, shares)


def _shortest(corral: list[Vector], shares: list[Fraction]) -> tuple[list[Vector], list[Fraction]]:
    """Move to the shortest point of the affine hull, or drop what keeps it from being in the convex hull."""
    while True:
        # G a = t, sum of a = 1: the point of the affine hull that is orthogonal to it.
        gram = [[_product(p, q) for q in corral] + [Fraction(1)] for p in corral]
        system = [*gram, [Fraction(1)] * len(corral) + [Fraction(0)]]
        matrix = flint.fmpq_mat([[flint.fmpq(v.numerator, v.denominator) for v in row] for row in system])
        solved = matrix.solve(flint.fmpq_mat(len(system), 1, [0] * len(corral) + [1]))
        target = [Fraction(int(solved[i, 0].p), int(solved[i, 0].q)) for i in range(len(corral))]
        if all(share > 0 for share in target):
            return corral, target
        step = min(s / (s - t) for s, t in zip(shares, target, strict=True) if t <= 0)
        moved = [s + step * (t - s) for s, t in zip(shares, target, strict=True)]
        kept = [i for i, share in enumerate(moved) if share > 0]
        corral, shares = [corral[i] for i in kept], [moved[i] for i in kept]


def _combination(points: list[Vector], shares: list[Fraction]) -> Vector:
    return tuple(_product(shares, column) for column in zip(*points, strict=True))


def _difference(p: Vector, q: Vector) -> Vector:
    return tuple(a - b for a, b in zip(p, q, strict=True))


def _product(p: Any, q: Any) -> Fraction:
    return sum((a * b for a, b in zip(p, q, strict=True)), Fraction(0))
