"""Distances, projections and margins of hyperplanes, and a point that two convex hulls share.

Distances, margins, projections and sides are computed in floats, so a row on the hyperplane, or within
rounding of it, may be put on either side; `separability` decides without rounding. `common_point` is exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..inputs import one_label_per_row, read_table
from ..result import Floats
from ..sparse import dense

__all__ = ["common_point", "distance", "functional_margin", "geometric_margin", "in_half_space", "project"]


def distance(X: Any, weights: Any, intercept: float = 0.0) -> Floats:
    """Return the signed distance of each row from ``<w, x> + b = 0``; it is positive where w points to.

    Parameters
    ----------
    X : array or sparse matrix of shape (rows, columns)
    weights : array of shape (columns,)
    intercept : float

    Returns
    -------
    ndarray of shape (rows,)

    Examples
    --------
    >>> distance([[3.0, 4.0], [0.0, 0.0]], [3.0, 4.0], -5.0)
    array([ 4., -1.])
    """
    unit, largest, length = _unit(weights)
    return _outputs(X, unit, intercept / largest / length)


def project(X: Any, weights: Any, intercept: float = 0.0) -> Floats:
    """Return the point of the hyperplane ``<w, x> + b = 0`` that is nearest to each row.

    Parameters
    ----------
    X : array or sparse matrix of shape (rows, columns)
    weights : array of shape (columns,)
    intercept : float

    Returns
    -------
    ndarray of shape (rows, columns)

    Examples
    --------
    >>> project([[3.0, 4.0], [0.0, 0.0]], [3.0, 4.0], -5.0)
    array([[0.6, 0.8],
           [0.6, 0.8]])
    """
    away = distance(X, weights, intercept)
    return np.asarray(dense(read_table(X)[0]) - away[:, None] * _unit(weights)[0])


def functional_margin(X: Any, y: Any, weights: Any, intercept: float = 0.0) -> float:
    """Return the smallest ``y_i (<w, x_i> + b)`` for labels -1 and 1.

    If w and b are multiplied by c > 0, this margin is multiplied by c.

    Parameters
    ----------
    X : array or sparse matrix of shape (rows, columns)
    y : array of shape (rows,)
        Labels -1 and 1.
    weights : array of shape (columns,)
    intercept : float

    Returns
    -------
    float

    Examples
    --------
    >>> functional_margin([[2.0], [-4.0]], [1, -1], [3.0])
    6.0
    """
    return _smallest(y, _outputs(X, _normal(weights), intercept))


def geometric_margin(X: Any, y: Any, weights: Any, intercept: float = 0.0) -> float:
    """Return the smallest distance of a row from the hyperplane; it is negative on the wrong side.

    It is positive if and only if every row is strictly on its own side, up to rounding.

    Parameters
    ----------
    X, y, weights, intercept
        As in `functional_margin`.

    Returns
    -------
    float

    Examples
    --------
    >>> geometric_margin([[2.0], [-4.0]], [1, -1], [3.0])
    2.0
    """
    return _smallest(y, distance(X, weights, intercept))


def in_half_space(X: Any, weights: Any, intercept: float = 0.0, *, closed: bool = False) -> NDArray[np.bool_]:
    """Return whether each row has ``<w, x> + b > 0``, or ``>= 0`` if closed.

    Parameters
    ----------
    X : array or sparse matrix of shape (rows, columns)
    weights : array of shape (columns,)
    intercept : float
    closed : bool
        Whether the hyperplane itself belongs to the half-space.

    Returns
    -------
    ndarray of bool, shape (rows,)

    Examples
    --------
    >>> in_half_space([[1.0], [0.0], [-1.0]], [2.0])
    array([ True, False, False])
    >>> in_half_space([[1.0], [0.0], [-1.0]], [2.0], closed=True)
    array([ True,  True, False])
    """
    scores = _outputs(X, _normal(weights), intercept)
    return np.asarray(scores >= 0 if closed else scores > 0)


def common_point(X: Any, y: Any, multipliers: Mapping[int, Fraction]) -> tuple[Fraction, ...]:
    """Return the exact point of both convex hulls that the multipliers of a verdict give.

    Parameters
    ----------
    X : array of shape (rows, columns)
    y : array of shape (rows,)
        Labels of two classes.
    multipliers : mapping of row to Fraction
        The ``witness_rows`` of a verdict with an intercept: the multipliers of each class sum to one.

    Returns
    -------
    tuple of Fraction
        The weighted mean of the rows of each class.

    Raises
    ------
    InputError
        If the two means are different points; then the multipliers prove nothing.

    Examples
    --------
    >>> half = Fraction(1, 2)
    >>> point = common_point([[0, 0], [2, 2], [0, 2], [2, 0]], [0, 0, 1, 1], dict.fromkeys(range(4), half))
    >>> [str(coordinate) for coordinate in point]
    ['1', '1']
    """
    labels = one_label_per_row(y)
    beyond = [row for row in multipliers if not 0 <= row < len(labels)]
    if beyond:
        raise InputError(f"There is a multiplier for row {beyond[0]}, but y has {len(labels)} labels.")
    matrix = read_table(X)[0]
    rows = {row: list(map(Fraction, dense(matrix[[row]])[0].tolist())) for row in multipliers}
    means = []
    for label in np.unique(labels[list(multipliers)]).tolist():
        own = [row for row in multipliers if labels[row] == label]
        total = sum((multipliers[row] for row in own), Fraction())
        if total <= 0 or any(multipliers[row] < 0 for row in own):
            raise InputError("The multipliers must be positive on rows of both classes.")
        width = len(rows[own[0]])
        means.append(
            tuple(
                sum((multipliers[row] * rows[row][j] for row in own), Fraction()) / total
                for j in range(width)
            )
        )
    if len(means) != 2 or means[0] != means[1]:
        raise InputError(
            "These multipliers give no common point of the hulls of two classes. Use the witness_rows of a "
            "verdict on the same rows, with an intercept."
        )
    return means[0]


def _outputs(X: Any, weights: Floats, intercept: float) -> Floats:
    """Return <w, x> + b of each row."""
    shape = np.shape(X)
    if len(shape) != 2 or shape[1] != weights.size:
        raise InputError(f"X must have {weights.size} columns, one per weight. Got shape {shape} instead.")
    return np.asarray(read_table(X)[0].astype(np.float64, copy=False) @ weights) + intercept


def _unit(weights: Any) -> tuple[Floats, float, float]:
    """Return the unit normal, the largest coordinate, and the length after dividing by it.

    The largest coordinate becomes one first, so that no square overflows or underflows.
    """
    w = _normal(weights)
    largest = float(np.abs(w).max())
    length = float(np.linalg.norm(w / largest))
    return w / largest / length, largest, length


def _normal(weights: Any) -> Floats:
    w = np.asarray(weights, dtype=np.float64).ravel()
    if not np.isfinite(w).all() or not w.any():
        raise InputError("The weights of a hyperplane must be finite and not all zero.")
    return w


def _smallest(y: Any, outputs: Floats) -> float:
    signs = one_label_per_row(y)
    if not np.isin(signs, (-1.0, 1.0)).all():
        raise InputError(
            "The labels of a margin must be -1 and 1. Convert yours, for example with 2 * (y == label) - 1."
        )
    if signs.shape != outputs.shape or not signs.size:
        raise InputError(
            f"X has {outputs.size} rows and y has shape {signs.shape}. Pass rows with one label per row."
        )
    return float((signs * outputs).min())
