"""Convex and affine hulls of rows: whether a point lies in one, and how far two are apart.

The answers of `in_hull`, whether a `hull_distance` is zero, and the dimension of an `affine_hull` are exact.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..certificates.claims import Certificate
from ..deadline import Deadline, OutOfTime
from ..errors import InputError
from ..inputs import read_floats
from ..margins.hard.max_margin import solve_max_margin
from ..proofs.verdict import separability
from ..result import Floats, margin_text
from ..rows.memory import as_rows
from .shortest import chosen, nearest_points, rationals

__all__ = ["AffineHull", "HullDistance", "Membership", "affine_hull", "hull_distance", "in_hull"]


@dataclass(frozen=True, eq=False)
class Membership:
    """Whether a point lies in the convex hull of some rows, with a proof.

    Attributes
    ----------
    inside : bool
    combination : dict of row to Fraction
        If the point is inside: positive numbers that sum to one, with which the weighted sum of the rows is
        exactly the point. If the certificate has approximate multipliers (many columns of floats), the sum is
        only close to the point, and exact numbers are close to these.
    certificate : Certificate
        For `sx.verify`, with the rows, then the point, as float64, and the label 0 for rows and 1 for the
        point. If the point is outside, it contains a hyperplane between the point and all rows.
    """

    inside: bool
    combination: dict[int, Fraction]
    certificate: Certificate

    def __bool__(self) -> bool:
        return self.inside


@dataclass(frozen=True, eq=False)
class HullDistance:
    """The distance between the convex hulls of two sets of rows, bracketed.

    Attributes
    ----------
    lower, upper : float
        The distance is between these, including all rounding errors. Both are zero if the hulls meet.
    points : tuple of two ndarrays
        One point of each hull, rounded, about ``upper`` apart. If the hulls meet, both are the same point.
    certificate : Certificate
        It proves that the hulls meet, or that a hyperplane separates them.
    """

    lower: float
    upper: float
    points: tuple[Floats, Floats]
    certificate: Certificate

    def __str__(self) -> str:
        if self.upper == 0.0:
            return "the hulls meet"
        return f"the hulls are {margin_text(self.lower, self.upper, 9)} apart"


@dataclass(frozen=True, eq=False)
class AffineHull:
    """The smallest affine subspace that contains some rows: a point, a line, a plane, and so on.

    Attributes
    ----------
    rows : tuple of int
        A smallest set of rows with the same affine hull; the first is the base point.
    points : ndarray of shape (dimension + 1, columns)
        The points of these rows.
    dimension : int
        The exact dimension: 0 for a point, 1 for a line.
    """

    rows: tuple[int, ...]
    points: Floats
    dimension: int

    def contains(self, point: Any) -> bool:
        """Return whether a point lies in it, in exact arithmetic."""
        points = np.vstack([self.points, _one_point(point, self.points.shape[1])])
        return bool(_differences(points).rank() == self.dimension)

    def project(self, point: Any) -> Floats:
        """Return the nearest point of it, computed by least squares in floats."""
        base = self.points[0]
        directions = (self.points[1:] - base).T
        away = _one_point(point, base.size)[0] - base
        if not directions.shape[1]:
            return np.asarray(base.copy())
        share = np.linalg.lstsq(directions, away, rcond=None)[0]
        return np.asarray(base + directions @ share)


def in_hull(point: Any, X: Any, *, time_limit: float = 60.0) -> Membership:
    """Decide whether a point lies in the convex hull of the rows, with a proof.

    The hull of finitely many rows is closed, so the point is outside if and only if a hyperplane separates it
    strictly from all rows. `separability` decides that.

    Parameters
    ----------
    point : array of shape (columns,)
    X : array or sparse matrix of shape (rows, columns)
    time_limit : float
        Seconds for the search. If they are not enough, there is an error.

    Examples
    --------
    >>> square = [[0, 0], [2, 0], [0, 2], [2, 2]]
    >>> found = in_hull([1, 1], square)
    >>> found.inside, sum(found.combination.values()) == 1
    (True, True)
    >>> in_hull([3, 1], square).inside
    False
    """
    matrix = _points(X)
    table = np.vstack([matrix, _one_point(point, matrix.shape[1])])
    labels = np.repeat([0, 1], [len(matrix), 1])
    meets, proof, weights = _meet(table, labels, "the point lies in the hull", time_limit)
    total = sum(weights.values(), Fraction())
    return Membership(meets, {row: weight / total for row, weight in weights.items()}, proof)


def hull_distance(X: Any, Y: Any, *, gap: float = 1e-9, time_limit: float = 60.0) -> HullDistance:
    """Compute the distance between the convex hulls of two sets of rows.

    It is twice the largest affine margin between them. Whether it is zero is decided exactly.

    Parameters
    ----------
    X, Y : array or sparse matrix of shapes (rows, columns)
    gap : float
        The relative width that the bracket should have.
    time_limit : float
        Seconds for each of the two questions: whether the hulls meet, and how far they are apart.

    Examples
    --------
    >>> print(hull_distance([[0, 0], [0, 2]], [[3, 1], [5, 0]]))
    the hulls are 3 apart
    >>> print(hull_distance([[0, 0], [2, 2]], [[0, 2], [2, 0]]))
    the hulls meet
    """
    first, second = _points(X), _points(Y)
    if first.shape[1] != second.shape[1]:
        raise InputError(
            f"X has {first.shape[1]} columns and Y has {second.shape[1]}. Both need the same columns."
        )
    table, labels = np.vstack([first, second]), np.repeat([0, 1], [len(first), len(second)])
    meets, proof, weights = _meet(table, labels, "the hulls meet", time_limit)
    if meets:
        shared = _mean(table, {row: float(weight) for row, weight in weights.items()})
        return HullDistance(0.0, 0.0, (shared, shared), proof)
    rows = as_rows(table, labels.astype(np.int32), lift=True)
    found = solve_max_margin(rows, gap=gap, free_intercept=True, deadline=Deadline.after(time_limit))
    shares = dict(zip(found.rows.tolist(), found.multipliers.tolist(), strict=True))
    points = tuple(
        _mean(table, {row: share for row, share in shares.items() if labels[row] == label})
        for label in (0, 1)
    )
    lower, upper = 2.0 * max(0.0, found.margin_lower), 2.0 * found.margin_upper
    if upper > 2.0 * lower:  # columns whose numbers are too far apart for sums in floats
        with suppress(OutOfTime, OverflowError):
            lower, upper, points = _exact_distance(first, second, Deadline.after(time_limit))
    return HullDistance(lower, upper, (points[0], points[1]), proof)


def _exact_distance(first: Floats, second: Floats, deadline: Deadline) -> tuple[float, float, Any]:
    """Return the floats next to the distance between hulls that do not meet, and rounded points."""
    ends = nearest_points(rationals(first.tolist()), rationals(second.tolist()), deadline)
    away = (ends[0] - ends[1]).entries()
    square = sum(value * value for value in away)
    points = tuple(np.array([int(v.p) / int(v.q) for v in end.entries()]) for end in ends)
    return (*_square_root(Fraction(int(square.p), int(square.q))), points)


def _square_root(value: Fraction) -> tuple[float, float]:
    """Return the floats next to a square root."""
    power = max(0, 128 - value.numerator.bit_length() + value.denominator.bit_length())
    root = Fraction(math.isqrt((value.numerator << 2 * power) // value.denominator), 1 << power)
    return math.nextafter(float(root), 0.0), math.nextafter(float(root), math.inf)


def affine_hull(X: Any) -> AffineHull:
    """Compute the affine hull of the rows, with its exact dimension.

    Parameters
    ----------
    X : array or sparse matrix of shape (rows, columns)

    Examples
    --------
    >>> line = affine_hull([[0, 0, 1], [1, 1, 1], [3, 3, 1]])
    >>> line.dimension, line.contains([2, 2, 1]), line.contains([2, 2, 2])
    (1, True, False)
    >>> line.project([2, 0, 5])
    array([1., 1., 1.])
    """
    points = _points(X)
    echelon, rank = _differences(points).transpose().rref()
    columns = range(echelon.ncols())
    rows = (0, *(1 + next(j for j in columns if echelon[row, j] != 0) for row in range(rank)))
    return AffineHull(rows, points[list(rows)], rank)


def _meet(
    table: Floats, labels: Any, what: str, time_limit: float
) -> tuple[bool, Certificate, dict[int, Fraction]]:
    """Decide whether the hulls of two classes meet; return the proof and the multipliers of the class 0."""
    verdict = separability(table, labels, quasi=False, time_limit=time_limit)
    if verdict.separable is None or verdict.certificate is None:
        raise InputError(f"Whether {what} is undecided after {time_limit:g} seconds. Raise time_limit.")
    own = {row: weight for row, weight in verdict.witness_rows.items() if labels[row] == 0}
    return not verdict.separable, verdict.certificate, own


def _differences(points: Floats) -> Any:
    """Return the other rows minus the first one, as a matrix of rationals."""
    exact, rest = rationals(points.tolist()), range(1, len(points))
    return chosen(exact, rest) - chosen(exact, [0] * len(rest))


def _points(X: Any) -> Floats:
    matrix = read_floats(X)
    if not len(matrix):
        raise InputError("A hull needs at least one row.")
    return matrix


def _one_point(point: Any, width: int) -> Floats:
    if np.shape(point) != (width,) or not np.isfinite(np.asarray(point, dtype=np.float64)).all():
        raise InputError(
            f"The point must have {width} finite coordinates. Got shape {np.shape(point)} instead."
        )
    return read_floats([point])


def _mean(table: Floats, shares: dict[int, float]) -> Floats:
    rows = list(shares)
    weights = np.array([shares[row] for row in rows])
    return np.asarray(weights @ table[rows] / weights.sum())
