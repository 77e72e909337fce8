"""The largest margin of two classes in exact arithmetic: the shortest vector between their hulls.

The shortest vector w of ``{p - q}``, over points p and q of the two hulls, is normal to the hyperplane of
largest margin, and the margin is half its length. Wolfe's algorithm keeps w as a combination of few
differences of rows; with fractions it ends, after finitely many steps, at w itself (Wolfe 1976, Finding the
nearest point in a polytope, Mathematical Programming 11).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

import flint
import numpy as np

from ..deadline import NEVER, Deadline
from ..errors import InputError
from ..inputs import one_label_per_row, read_labels, read_table
from ..sparse import dense

__all__ = ["ExactMargin", "exact_margin"]


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

    weights: tuple[Fraction, ...]
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
    matrix = np.array(X, dtype=object) if isinstance(X, list | tuple) else dense(read_table(X)[0])
    if matrix.ndim != 2:
        raise InputError("X must have two dimensions: rows, each with the same number of columns.")
    table = matrix.tolist()
    labels, codes = read_labels(one_label_per_row(y, len(table)))
    if labels.size != 2:
        raise InputError(f"An exact margin is between two classes. Got {labels.size} classes instead.")
    good, bad = (
        rationals([row for row, code in zip(table, codes.tolist(), strict=True) if code == k]) for k in (1, 0)
    )
    nearest = nearest_points(good, bad)
    w, total = nearest[0] - nearest[1], nearest[0] + nearest[1]
    intercept, square = -(w * total.transpose())[0, 0] / 2, (w * w.transpose())[0, 0]
    return ExactMargin(tuple(map(_fraction, w.entries())), _fraction(intercept), _fraction(square) / 4)


def nearest_points(first: Any, second: Any, deadline: Deadline = NEVER) -> tuple[Any, Any]:
    """Return the nearest points of the hulls of the rows of two matrices, in rationals; see above.

    Each step adds the difference of two rows that is shortest in the direction of the point, then goes toward
    the shortest point of the affine hull, and drops differences whose share vanishes on the way. Raises
    OutOfTime.
    """
    deadline.need(2e-6 * (len(first.entries()) + len(second.entries())))
    pairs, shares = [(0, 0)], [flint.fmpq(1)]
    while True:
        own, rival = _ends(first, second, pairs)
        ends = [flint.fmpq_mat(1, len(shares), shares) * each for each in (own, rival)]
        point = (ends[0] - ends[1]).transpose()
        near, far = ((hull * point).entries() for hull in (first, second))
        if min(near) - max(far) >= (point.transpose() * point)[0, 0]:
            return ends[0], ends[1]
        pairs, shares = [*pairs, (near.index(min(near)), far.index(max(far)))], [*shares, flint.fmpq(0)]
        while True:
            deadline.need()
            own, rival = _ends(first, second, pairs)
            goal = _shortest(own - rival)
            both = list(zip(shares, goal, strict=True))
            step = min([flint.fmpq(1), *(a / (a - b) for a, b in both if b < 0)])
            shares = [a + step * (b - a) for a, b in both]
            pairs = [pair for pair, share in zip(pairs, shares, strict=True) if share > 0]
            shares = [share for share in shares if share > 0]
            if step == 1:
                break


def _ends(first: Any, second: Any, pairs: list[tuple[int, int]]) -> tuple[Any, Any]:
    return chosen(first, [i for i, _ in pairs]), chosen(second, [j for _, j in pairs])


def _shortest(points: Any) -> list[Any]:
    """Return the shares, of sum one, of affinely independent points in the shortest point that they span."""
    size = points.nrows()
    system = flint.fmpq_mat(size + 1, size + 1)
    inner = points * points.transpose()
    for i in range(size):
        system[i, size] = system[size, i] = 1
        for j in range(size):
            system[i, j] = inner[i, j]
    found: list[Any] = system.solve(flint.fmpq_mat(size + 1, 1, [0] * size + [1])).entries()[:size]
    return found


def rationals(rows: Sequence[Sequence[Any]]) -> Any:
    """Return rows of floats, fractions or text as a matrix of rationals."""
    return flint.fmpq_mat(len(rows), len(rows[0]), [_rational(value) for row in rows for value in row])


def _rational(value: Any) -> Any:
    try:
        exact = Fraction(value.item() if isinstance(value, np.generic) else value)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        raise InputError(f"X has a cell that is not a finite number: {value!r}.", parameter="X") from None
    return flint.fmpq(exact.numerator, exact.denominator)


def chosen(matrix: Any, rows: Sequence[int]) -> Any:
    """Return some rows of a matrix of rationals."""
    width, entries = matrix.ncols(), matrix.entries()
    values = [value for row in rows for value in entries[row * width : (row + 1) * width]]
    return flint.fmpq_mat(len(rows), width, values)


def _fraction(value: Any) -> Fraction:
    return Fraction(int(value.p), int(value.q))
