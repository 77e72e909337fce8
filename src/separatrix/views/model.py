"""What a picture needs to know about a classifier: its scores, and the plane that shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, eigsh
from scipy.spatial import ConvexHull, QhullError
from sklearn.linear_model import Ridge
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError, InputTypeError, LabelError
from ..inputs import codes_of, one_label_per_row, read_labels, read_table
from ..result import Floats, Ints, Trace
from ..sparse import dense


@dataclass(frozen=True, eq=False)
class Points:
    """The rows and labels of a picture.

    Attributes
    ----------
    X : array, frame or sparse matrix of shape (rows, columns)
        The rows as they were given.
    table : ndarray or sparse matrix
        The rows as numbers.
    codes : ndarray of shape (rows,)
        The position of each label among the classes.
    classes : ndarray
    names : tuple of str
        The names of the columns.
    """

    X: Any
    table: Any
    codes: Ints
    classes: NDArray[Any]
    names: tuple[str, ...]


def read_points(X: Any, y: Any, classes: NDArray[Any] | None = None) -> Points:
    """Check rows and labels, and return them as points."""
    table, names = read_table(X)
    if 0 in table.shape:
        raise InputError(f"X must not be empty: it needs rows and columns. Got shape {table.shape} instead.")
    labels = one_label_per_row(y, table.shape[0])
    if classes is None:
        classes, codes = read_labels(labels)
    else:
        codes = codes_of(labels, classes)
    names = names or tuple(f"x{j}" for j in range(table.shape[1]))
    return Points(X, table.astype(np.float64, copy=False), np.asarray(codes, dtype=np.int64), classes, names)


@dataclass(frozen=True, eq=False)
class Model:
    """A fitted classifier as one score per class; the largest score wins.

    Attributes
    ----------
    estimator : object
    classes : ndarray
    weights, intercepts : ndarray of shape (classes, columns) and (classes,), or None
        None if the scores are not linear. With two classes, the first has the score zero.
    """

    estimator: Any
    classes: NDArray[Any]
    weights: Floats | None
    intercepts: Floats | None

    @property
    def linear(self) -> bool:
        """Whether the scores are linear in the row."""
        return self.weights is not None

    def scores(self, X: Any) -> Floats:
        """Return one score per row and class."""
        if self.weights is None or self.intercepts is None:
            return self.evaluate(X)
        return np.asarray(X @ self.weights.T) + self.intercepts

    def evaluate(self, X: Any) -> Floats:
        """Return the scores that the classifier computes itself, or ones for the classes that it predicts."""
        # scikit-learn's "ovo" scores pairs, not classes; with three classes, there are also three pairs.
        pairs = getattr(self.estimator, "decision_function_shape", None) == "ovo" and self.classes.size > 2
        for name in () if pairs else ("decision_function", "predict_proba"):
            method = getattr(self.estimator, name, None)
            scores = None if method is None else np.asarray(method(X), dtype=np.float64)
            if scores is not None and scores.ndim == 1:
                return np.column_stack([np.zeros_like(scores), scores])
            if scores is not None and scores.shape[1] == self.classes.size:
                return scores
        return np.asarray(np.asarray(self.estimator.predict(X))[:, None] == self.classes, dtype=np.float64)


def read_model(estimator: Any, points: Points | None = None) -> Model:
    """Check that a classifier is fitted, and return it as a `Model`."""
    if not hasattr(estimator, "predict"):
        raise InputTypeError(
            f"A fitted classifier is needed here. Got {type(estimator).__name__}, which has no predict."
        )
    check_is_fitted(estimator)
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        raise InputTypeError(
            f"A classifier is needed here. {type(estimator).__name__} has no classes_ after fit; only "
            "classifiers have regions."
        )
    classes = np.asarray(classes)
    model = Model(estimator, classes, *_linear_part(estimator, classes.size))
    if points is None or not model.linear:
        return model
    # Voted and pairwise models also have coef_, but other scores: their own scores count.
    told, asked = model.scores(points.table), model.evaluate(points.X)
    if told.shape == asked.shape and np.allclose(told, asked, rtol=1e-6, atol=1e-9 * np.abs(told).max()):
        return model
    return Model(estimator, classes, None, None)


def _linear_part(estimator: Any, n_classes: int) -> tuple[Floats | None, Floats | None]:
    coef = getattr(estimator, "coef_", None)
    if coef is None or not hasattr(estimator, "intercept_"):
        return None, None
    coef = np.atleast_2d(np.asarray(dense(coef), dtype=np.float64))
    intercept = np.broadcast_to(np.asarray(estimator.intercept_, dtype=np.float64).ravel(), coef.shape[0])
    if n_classes == 2 and coef.shape[0] == 1:
        return np.vstack([np.zeros_like(coef), coef]), np.array([0.0, intercept[0]])
    if n_classes > 2 and coef.shape[0] == n_classes:
        return coef, np.array(intercept)
    return None, None


@dataclass(frozen=True, eq=False)
class Plane:
    """The plane that a picture shows: its directions and its position.

    Attributes
    ----------
    directions : ndarray of shape (2, columns)
        Orthonormal. With two columns, they are the unit vectors.
    rest : ndarray of shape (columns,)
        The point of the plane whose two coordinates are zero.
    labels : (str, str)
        The names of the two coordinates.
    exact : bool
        Whether the two coordinates of a row determine its scores. If not, the regions are those of the
        slice through the mean of the rows, and a row off the slice may have another class than its region.
    """

    directions: Floats
    rest: Floats
    labels: tuple[str, str]
    exact: bool

    def place(self, X: Any) -> Floats:
        """Return the two coordinates of each row."""
        return np.asarray(X @ self.directions.T)

    def lift(self, coordinates: Floats) -> Floats:
        """Return the rows at these points of the plane."""
        return np.asarray(coordinates @ self.directions + self.rest)


def plane_for(model: Model, points: Points, scores: Floats) -> Plane:
    """Return the plane in which to draw a model.

    With two columns, it is the plane of the columns. With more, its first direction is that of the weights,
    so distances to the separating hyperplane are not distorted, and its second direction is the direction of
    largest variance perpendicular to the first. With more than two classes, it is spanned by the two
    directions in which the weights vary most. If the scores are not linear, the weights are those of the
    linear function that fits the scores best.
    """
    n_columns = points.table.shape[1]
    if n_columns <= 2:
        return flat_plane(points)
    if model.linear and model.classes.size > 2:
        spread = np.asarray(model.weights) - np.mean(np.asarray(model.weights), axis=0)
        _, sizes, basis = np.linalg.svd(spread, full_matrices=False)
        if sizes[1] > 1e-12 * sizes[0]:
            exact = bool(np.all(sizes[2:] <= 1e-9 * sizes[0]))
            return _plane(_oriented(basis[:2]), points, ("first weight direction", "second"), exact)
    if model.linear:
        first, label = np.asarray(model.weights)[-1] - np.asarray(model.weights)[0], "along w"
    else:
        fit = Ridge(solver="lsqr").fit(points.table, scores[:, -1] - scores[:, 0])
        first, label = np.asarray(fit.coef_), "along the scores"
    return cross_plane(first, points, label, exact=model.linear and model.classes.size == 2)


def flat_plane(points: Points) -> Plane:
    """Return the plane of data with two columns, or the line of data with one."""
    if points.table.shape[1] == 2:
        return Plane(np.eye(2), np.zeros(2), (points.names[0], points.names[1]), True)
    return Plane(np.array([[1.0], [0.0]]), np.zeros(1), (points.names[0], ""), True)


def cross_plane(first: Floats, points: Points, label: str, *, exact: bool) -> Plane:
    """Return the plane of a direction and of the largest variance perpendicular to it."""
    length = float(np.linalg.norm(first))
    if not length > 0.0:
        first, length = np.eye(points.table.shape[1])[0], 1.0
    first = first / length
    second = _widest(points.table, first)
    return _plane(np.vstack([first, second]), points, (label, "widest direction across"), exact)


def _plane(directions: Floats, points: Points, labels: tuple[str, str], exact: bool) -> Plane:
    mean = np.asarray(points.table.mean(axis=0)).ravel()
    return Plane(directions, mean - directions.T @ (directions @ mean), labels, exact)


def _widest(table: Any, first: Floats) -> Floats:
    """Return the direction of largest variance perpendicular to a unit vector."""
    width = table.shape[1]
    mean = np.asarray(table.mean(axis=0)).ravel()

    def spread(direction: Floats) -> Floats:
        across = direction - first * (first @ direction)
        seen = np.asarray(table @ across) - mean @ across
        back = np.asarray(table.T @ seen) - mean * seen.sum()
        return np.asarray(back - first * (first @ back))

    start = np.linspace(1.0, 2.0, width)
    start -= first * (first @ start)
    operator = LinearOperator((width, width), matvec=spread, dtype=np.float64)
    flat = not np.any(spread(start))  # all rows lie on one line along w
    found = start if flat else eigsh(operator, k=1, v0=start, tol=1e-4)[1][:, 0]
    found = found - first * (first @ found)
    oriented: Floats = _oriented(np.asarray(found / np.linalg.norm(found))[None, :])[0]
    return oriented


def _oriented(directions: Floats) -> Floats:
    """Make the largest coordinate positive: an eigenvector and its opposite have the same eigenvalue."""
    largest = np.take_along_axis(directions, np.abs(directions).argmax(axis=1)[:, None], axis=1)
    return np.asarray(directions * np.where(largest < 0.0, -1.0, 1.0))


def plane_scores(
    model: Model, plane: Plane, points: Points, coordinates: Floats, *, at_once: int = 4096
) -> Floats:
    """Return the scores at points of the plane, ``at_once`` points at a time."""
    if model.weights is not None:
        weights, offsets = plane_weights(model, plane)
        return np.asarray(coordinates @ weights.T + offsets)
    parts = [
        model.scores(_like(points.X, plane.lift(coordinates[first : first + at_once])))
        for first in range(0, len(coordinates), at_once)
    ]
    return np.concatenate(parts)


def plane_weights(model: Model, plane: Plane) -> tuple[Floats, Floats]:
    """Return the linear scores as functions of the two coordinates."""
    weights, intercepts = np.asarray(model.weights), np.asarray(model.intercepts)
    return weights @ plane.directions.T, intercepts + weights @ plane.rest


def traced_weights(trace: Trace, n_columns: int) -> tuple[Floats, Floats]:
    """Return the weights and intercepts of each class, at the start and after each update.

    With two classes, the first has the score zero.
    """
    full = np.concatenate([trace.start[None], trace.weights])
    if full.ndim == 2:
        full = np.stack([np.zeros_like(full), full], axis=1)
    return full[..., :n_columns], full[..., n_columns:].sum(axis=-1)


def _like(X: Any, rows: Floats) -> Any:
    """Return rows as a frame with the columns of X if X is a frame: models find their columns by name."""
    columns = getattr(X, "columns", None)
    if columns is None:
        return rows
    if hasattr(X, "iloc"):
        return type(X)(rows, columns=columns)
    return type(X)(rows, schema=list(columns))


def hull_rows(places: Floats) -> Ints:
    """Return the rows at the corners of the convex hull of points in the plane, in order around it."""
    try:
        return np.asarray(ConvexHull(places).vertices, dtype=np.int64)
    except (QhullError, ValueError):  # fewer than three points, or all on one line, which has two ends
        across = places - places.mean(axis=0)
        along = across @ np.linalg.svd(across, full_matrices=False)[2][0]
        return np.unique([along.argmin(), along.argmax()])


def need_two(classes: NDArray[Any], what: str) -> None:
    """Refuse more than two classes if a picture is about two."""
    if classes.size != 2:
        raise LabelError(
            f"{what} needs two classes. Got {classes.size}: {', '.join(map(repr, classes[:5].tolist()))}"
            f"{', ...' if classes.size > 5 else ''}. Keep the rows of two of them, or compare one with the "
            "rest: y == label."
        )
