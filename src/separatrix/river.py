"""Online learners for river, which learn from dictionaries; features and classes may appear at any time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import loops
from .errors import InputError, InputTypeError, LabelError, needs
from .estimators.decision import winners
from .estimators.passive_aggressive import VARIANTS, step_limits
from .estimators.row_by_row import need_finite, visits_of
from .inputs import check_parameters, need_intercept
from .loops.layouts import MISTAKEN
from .perceptron.learner import Learner, steps_of
from .perceptron.run import Run
from .result import Floats
from .rows.memory import MemoryRows, as_rows

with needs("sx.river", extra="river"):
    from river import base

__all__ = ["PassiveAggressive", "Perceptron"]


class Stream(base.MiniBatchClassifier):
    """What the learners share: weights that grow with the features and classes, and predictions by them."""

    fit_intercept: bool | str
    _weights: Floats
    _sum: Floats  # what the mean of the weights needs

    def _start(self, fit_intercept: bool | str, classes: Any) -> None:
        """Begin with weights of zero."""
        self.mistakes = 0
        self.visits = 0
        self.labels: list[Any] = [] if classes is None else _ordered(dict.fromkeys(classes))
        self._columns: dict[Any, int] = {}
        blocks = (len(self.labels),) if len(self.labels) > 2 else ()
        self._weights = np.zeros((*blocks, int(need_intercept(fit_intercept, type(self).__name__))))
        self._sum = np.zeros_like(self._weights)

    @property
    def _multiclass(self) -> bool:
        return True

    def learn_one(self, x: dict[Any, Any], y: Any) -> None:
        """Visit one row."""
        self._learn(self._matrix(x, 1, grow=True), [y])

    def learn_many(self, X: Any, y: Any) -> None:
        """Visit the rows of a frame in order, as `learn_one` would one by one."""
        labels = y.tolist() if hasattr(y, "tolist") else list(y)
        if len(labels) != X.shape[0]:
            raise InputError(
                f"X has {X.shape[0]} rows and y has {len(labels)} labels; one label per row is needed."
            )
        if labels:
            self._learn(self._matrix(X, X.shape[0], grow=True), labels)

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        """Return the class of a row; None as long as no class is known."""
        codes = self._codes(self._matrix(x, 1, grow=False))
        return None if codes is None else self.labels[int(codes[0])]

    def predict_many(self, X: Any) -> Any:
        """Return the class of each row of a frame, as a pandas Series."""
        with needs("predict_many", extra="river"):
            import pandas as pd
        codes = self._codes(self._matrix(X, X.shape[0], grow=False))
        names = np.empty(max(1, len(self.labels)), dtype=object)
        names[: len(self.labels)] = self.labels
        found = names[np.zeros(X.shape[0], dtype=np.intp) if codes is None else codes]
        return pd.Series(found, index=getattr(X, "index", None)).infer_objects()

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """Raise an error: scores are not probabilities."""
        raise NotImplementedError("The scores of a perceptron are not probabilities; use predict_one.")

    def predict_proba_many(self, X: Any) -> Any:
        """Raise an error: scores are not probabilities."""
        raise NotImplementedError("The scores of a perceptron are not probabilities; use predict_many.")

    @property
    def weights(self) -> dict[Any, Any]:
        """The weight of each feature: a number for two classes, one number per class for more."""
        shown = self._shown()
        return {name: shown[..., column].tolist() for name, column in self._columns.items()}

    @property
    def intercept(self) -> Any:
        """The intercept: a number for two classes, one number per class for more."""
        return self._shown()[..., -1].tolist() if self.fit_intercept else 0.0

    def _shown(self) -> Floats:
        return self._weights

    def _learn(self, matrix: Floats, labels: list[Any]) -> None:
        """Visit rows in order; before a row of a new class, learn from the rows before it."""
        first = 0
        while first < len(labels):
            self._meet(labels[first])
            codes = {label: code for code, label in enumerate(self.labels)}
            last = next(
                (place for place in range(first + 1, len(labels)) if labels[place] not in codes), len(labels)
            )
            here = np.array([codes[label] for label in labels[first:last]], dtype=np.int32)
            self._visit(self._rows(matrix[first:last], here))
            first = last

    def _visit(self, rows: MemoryRows) -> None:
        """Learn from the rows in order; a feature that no row has named yet is not among their columns."""
        raise NotImplementedError

    def _codes(self, matrix: Floats) -> NDArray[np.intp] | None:
        if len(self.labels) < 2:
            return np.zeros(matrix.shape[0], dtype=np.intp) if self.labels else None
        rows = self._rows(matrix, np.zeros(matrix.shape[0], dtype=np.int32))
        outputs = rows.outputs(_widened(self._shown(), rows.n_columns - len(self._columns)))
        if not np.all(np.isfinite(outputs)):
            _ = rows.squared_norms  # names the value that is not finite
        return winners(outputs[:, 0] if outputs.shape[1] == 1 else outputs)

    def _rows(self, matrix: Floats, codes: NDArray[np.int32]) -> MemoryRows:
        if not self._columns:  # rows need a column
            matrix = np.zeros((matrix.shape[0], 1))
        names = tuple(map(str, self._columns)) or None
        return as_rows(
            matrix, codes, n_classes=max(2, len(self.labels)), lift=bool(self.fit_intercept), names=names
        )

    def _meet(self, label: Any) -> None:
        """Add weights for a class that was not seen before, at its place in the order."""
        if label in self.labels:
            return
        if label is None or label != label:
            raise LabelError(f"y must be a class label. Got {label!r} instead.")
        known, self.labels = self.labels, _ordered([*self.labels, label])
        place = self.labels.index(label)
        if len(known) == 1 and place == 0:  # the class that was seen first is the positive one
            self._weights, self._sum = -self._weights, -self._sum
        if len(known) >= 2:
            self._weights, self._sum = (
                np.insert(np.stack([-each / 2.0, each / 2.0]) if each.ndim == 1 else each, place, 0.0, axis=0)
                for each in (self._weights, self._sum)
            )

    def _matrix(self, X: Any, n_rows: int, *, grow: bool) -> Floats:
        """Return a dictionary, which is one row, or a frame as a matrix; add its new features if ``grow``."""
        columns = {
            name: _numbers(name, X[name])
            for name in getattr(X, "columns", X)
            if grow or name in self._columns
        }
        if grow:
            self._make_room(columns)
        matrix = np.zeros((n_rows, len(self._columns)))
        for name, values in columns.items():
            matrix[:, self._columns[name]] = values
        return matrix

    def _make_room(self, names: Any) -> None:
        """Add a column of weight zero for each new feature, before the intercept."""
        before = len(self._columns)
        for name in names:
            self._columns.setdefault(name, len(self._columns))
        added = len(self._columns) - before
        if added:
            room = [(0, 0)] * (self._weights.ndim - 1) + [(0, added)]
            self._weights, self._sum = (
                np.concatenate([np.pad(each[..., :before], room), each[..., before:]], axis=-1)
                for each in (self._weights, self._sum)
            )


class Perceptron(Stream):
    """Rosenblatt's perceptron for streams of dictionaries, with the interface of river.

    Every row is visited once. A feature that a row does not name is zero in this row. New features and
    classes begin with weight zero. If all classes are named in advance and every row has the same columns,
    weights and mistakes are those of `separatrix.Perceptron.partial_fit`, bit for bit.

    Parameters
    ----------
    eta0
        Scales every update.
    fit_intercept
        Whether there is an intercept: the weight of a feature that is one in every row. "lifted" means True.
    average
        Whether to predict with the mean of the weights over every visit.
    classes
        The classes that are known in advance; others may follow.

    Attributes
    ----------
    mistakes : int
        The number of updates.
    visits : int
        The number of rows.
    labels : list
        The classes seen or named, sorted if they can be sorted.

    Notes
    -----
    Two classes have one weight vector w. When a third class appears, they continue with ``-w / 2`` and ``w /
    2``, which predict the same. With more than two classes, a mistake is corrected for the row's own class
    and for the best other class.

    Examples
    --------
    >>> from separatrix import river as sxr
    >>> model = sxr.Perceptron()
    >>> for x, y in [({"width": 2.0}, "big"), ({"width": 0.5}, "small"), ({"width": 2.5, "red": 1.0}, "big")]:
    ...     model.learn_one(x, y)
    >>> model.predict_one({"width": 3.0, "blue": 1.0}), model.mistakes
    ('big', 2)
    """

    def __init__(
        self, eta0: Any = 1.0, fit_intercept: bool | str = True, average: bool = False, classes: Any = None
    ) -> None:
        self.eta0 = eta0
        self.fit_intercept = fit_intercept
        self.average = average
        self.classes = classes
        check_parameters(self)
        self._start(fit_intercept, classes)

    def _shown(self) -> Floats:
        return self._weights - self._sum / max(1, self.visits) if self.average else self._weights

    def _visit(self, rows: MemoryRows) -> None:
        hidden = rows.n_columns - len(self._columns)
        learner = Learner(
            rows,
            start=_widened(self._weights, hidden),
            steps=steps_of(rows, self.eta0, None),
            visits=self.visits,
            averaging=bool(self.average),
        )
        if self.average:
            learner.tally.average[...] = _widened(self._sum, hidden)
        run = Run(learner, max_iter=1)
        run.one_pass(rows.order)
        run.bracket.length()  # refuses weights beyond float64
        self._weights = learner.weights[..., hidden:]
        if self.average:
            self._sum = learner.tally.average[..., hidden:]
        self.visits += rows.n_rows
        self.mistakes += learner.mistakes


class PassiveAggressive(Stream):
    """Passive-aggressive learning for streams of dictionaries, with the interface of river.

    The steps are those of `separatrix.PassiveAggressive`. A feature that a row does not name is zero in
    this row. New features and classes begin with weight zero. If all classes are named in advance and every
    row has the same columns, the weights are those of `separatrix.PassiveAggressive.partial_fit`, bit for
    bit.

    Parameters
    ----------
    C
        How aggressive a step may be; "PA" ignores it.
    variant
        The rule for the step: "PA-I", "PA-II" or "PA".
    fit_intercept
        Whether there is an intercept: the weight of a feature that is one in every row. "lifted" means True.
    classes
        The classes that are known in advance; others may follow.

    Attributes
    ----------
    mistakes : int
        The number of rows whose score was zero or less.
    visits : int
        The number of rows.
    labels : list
        The classes seen or named, sorted if they can be sorted.

    Examples
    --------
    >>> from separatrix import river as sxr
    >>> model = sxr.PassiveAggressive()
    >>> for x, y in [({"width": 2.0}, "big"), ({"width": 0.5}, "small"), ({"width": 2.5}, "big")]:
    ...     model.learn_one(x, y)
    >>> model.predict_one({"width": 3.0})
    'big'
    """

    def __init__(
        self, C: Any = 1.0, variant: str = "PA-I", fit_intercept: bool | str = True, classes: Any = None
    ) -> None:
        self.C = C
        self.variant = variant
        self.fit_intercept = fit_intercept
        self.classes = classes
        check_parameters(self, variant=VARIANTS)
        self._start(fit_intercept, classes)

    def _visit(self, rows: MemoryRows) -> None:
        _ = rows.squared_norms  # names a value that is not finite
        hidden, visits = rows.n_columns - len(self._columns), visits_of(rows)
        weights = _widened(self._weights, hidden).copy()
        limits = step_limits(self.variant, float(self.C), rows.n_classes)
        loops.online_steps.passive_aggressive(rows.storage, rows.order, weights, *limits, visits)
        need_finite(weights)
        self._weights = weights[..., hidden:]
        self.visits += rows.n_rows
        self.mistakes += int(visits.totals[MISTAKEN])


def _widened(weights: Floats, hidden: int) -> Floats:
    """Return the weights with ``hidden`` zeros before them."""
    return np.concatenate([np.zeros((*weights.shape[:-1], hidden)), weights], axis=-1) if hidden else weights


def _ordered(labels: Any) -> list[Any]:
    """Return the labels sorted, as in scikit-learn; as given if they cannot be sorted."""
    listed = list(labels)
    try:
        return sorted(listed)
    except TypeError:
        return listed


def _numbers(name: Any, column: Any) -> NDArray[Any]:
    values = np.asarray(column)
    if values.dtype.kind in "biuf":
        return values
    for value in values.ravel().tolist():
        try:
            number = not isinstance(value, str) and float(value)
        except (TypeError, ValueError, OverflowError):
            number = False
        if number is False:
            raise InputTypeError(
                f"The feature {name!r} is {value!r}, which is not a number within floats.",
                remedy="Encode it first, for example with river.preprocessing.OneHotEncoder().",
                parameter="X",
            )
    return values.astype(np.float64)
