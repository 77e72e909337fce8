"""The geometry behind the perceptron: planes, sides, margins, projections and hulls.

Distances, margins, projections and sides are computed in floats, so a row on the plane, or within rounding of
it, may end up on either side; `separability` decides without rounding. `common_point` is exact, and so are
the answers of `in_hull`, whether a `hull_distance` is zero, and the dimension of an `affine_hull`.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..inputs import as_matrix
from ..sparse import dense

Floats = NDArray[np.float64]


def distance(X: Any, weights: Any, intercept: float = 0.0) -> Floats:
    """Signed distance of each row to the plane ``<w, x> + b = 0``; positive on the side that w points to.

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
    w = _normal(weights)
    largest = float(np.abs(w).max())
    # The longest coordinate is scaled to one first, so that no square over- or underflows.
    unit = w / largest
    length = float(np.linalg.norm(unit))
    return _outputs(X, unit / length, intercept / largest / length)


def project(X: Any, weights: Any, intercept: float = 0.0) -> Floats:
    """The nearest point of the plane ``<w, x> + b = 0`` to each row.

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
    w = _normal(weights)
    unit = w / np.abs(w).max()
    away = distance(X, weights, intercept)
    return np.asarray(dense(as_matrix(X)) - away[:, None] * (unit / np.linalg.norm(unit)))


def functional_margin(X: Any, y: Any, weights: Any, intercept: float = 0.0) -> float:
    """The smallest ``y_i (<w, x_i> + b)`` for labels -1 and 1; c times w and b, c > 0, have c times as much.

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
    """The smallest distance of a row from the plane, counted negative where the row is on its wrong side.

    Positive if and only if every row is strictly on its own side, up to rounding.

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
    """Whether each row has ``<w, x> + b > 0``, or ``>= 0`` if closed.

    Parameters
    ----------
    X : array or sparse matrix of shape (rows, columns)
    weights : array of shape (columns,)
    intercept : float
    closed : bool
        Whether the plane itself belongs to the half-space.

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
    """The point that the multipliers of a verdict place in both convex hulls, exactly.

    Parameters
    ----------
    X : array of shape (rows, columns)
    y : array of shape (rows,)
        Labels of two classes.
    multipliers : mapping of row to Fraction
        As in ``Verdict.witness_rows``, of a question with intercept: the weights of either class sum to
        one.

    Returns
    -------
    tuple of Fraction
        The weighed mean of the rows of either class.

    Raises
    ------
    InputError
        If the two means are not the same point, so that nothing is proved.

    Examples
    --------
    >>> half = Fraction(1, 2)
    >>> point = common_point([[0, 0], [2, 2], [0, 2], [2, 0]], [0, 0, 1, 1], dict.fromkeys(range(4), half))
    >>> [str(coordinate) for coordinate in point]
    ['1', '1']
    """
    labels = np.asarray(y)
    beyond = [row for row in multipliers if not 0 <= row < len(labels)]
    if beyond:
        raise InputError(f"There is a multiplier of row {beyond[0]}; y has {len(labels)} labels.")
    rows = {row: _fractions(X, row) for row in multipliers}
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
            "These multipliers place no common point in the hulls of two classes. Use the witness_rows of a "
            "verdict for the same rows, with intercept."
        )
    return means[0]


def _fractions(X: Any, row: int) -> list[Fraction]:
    """The numbers of a row, exactly; they may be fractions already."""
    values = X[[row]].toarray()[0] if hasattr(X, "toarray") else np.asarray(X)[row]
    return [Fraction(value) for value in values.tolist()]


def _outputs(X: Any, weights: Floats, intercept: float) -> Floats:
    """<w, x> + b of each row."""
    shape = np.shape(X)
    if len(shape) != 2 or shape[1] != weights.size:
        raise InputError(
            f"X must be a table of {weights.size} columns, one for each weight. Got shape {shape}."
        )
    return np.asarray(as_matrix(X).astype(np.float64, copy=False) @ weights) + intercept


def _normal(weights: Any) -> Floats:
    w = np.asarray(weights, dtype=np.float64).ravel()
    if not np.isfinite(w).all() or not w.any():
        raise InputError("The weights of a plane must be finite and not all zero.")
    return w


def _smallest(y: Any, outputs: Floats) -> float:
    signs = _signs(y)
    if signs.shape != outputs.shape or not signs.size:
        raise InputError(
            f"X has {outputs.size} rows and y has shape {signs.shape}; rows with one label each are needed."
        )
    return float((signs * outputs).min())


def _signs(y: Any) -> Floats:
    signs = np.asarray(y)
    if not np.isin(signs, (-1.0, 1.0)).all():
        raise InputError(
            "The labels of a margin are -1 and 1. Map yours first, for example 2 * (y == positive) - 1."
        )
    return signs.astype(np.float64)
