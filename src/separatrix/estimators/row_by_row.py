"""What learners that visit one row at a time share: passes over all rows, and streams in pieces."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from typing import Any, Self

import numpy as np

from .. import inputs
from ..errors import InputError, NumericOverflowError
from ..loops.layouts import MISTAKEN, SQUARED, Visits
from ..perceptron.learner import norm
from ..result import Floats, Ints, OnlineResult, PassRecord, Status
from ..rows.memory import MemoryRows
from .decision import Decision, linear_scores, not_separated, read_rows

ORDERS = ("cyclic", "shuffled")


class RowByRow(Decision):
    """A classifier that learns from each row when it is visited, with weights as its whole state."""

    order: str
    max_iter: int
    random_state: Any
    _weights: Floats
    _lifted: bool

    @abstractmethod
    def _check_parameters(self) -> None:
        """Check the parameters."""

    @abstractmethod
    def _begin(self, rows: MemoryRows) -> None:
        """Set the weights, and what else the learner holds, to their first values."""

    @abstractmethod
    def _visit(self, rows: MemoryRows, order: Ints, visits: Visits) -> None:
        """Learn from the rows in this order, and record it."""

    def _shown(self) -> Floats:
        """Return the weights that predict."""
        return self._weights

    def _ended(self, passes: list[Floats], n_rows: int) -> bool:
        """Return whether to stop after these passes; each is given by its totals, see `Visits`."""
        return not passes[-1][MISTAKEN]

    def fit(self, X: Any, y: Any) -> Self:
        """Visit all rows, pass after pass, until the rule for the end or ``max_iter`` is met.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (rows, columns)
        y : array of shape (rows,)
            Class labels.

        Returns
        -------
        self
        """
        with inputs.unchanged_on_error(self):
            self._check_parameters()
            rows, self.classes_, _ = inputs.read_training(self, X, y, None)
            self._lifted, shuffle = rows.lifted, None
            if self.order == "shuffled":
                shuffle = inputs.generator(self.random_state)
            self._begin(rows)
            _ = rows.squared_norms  # names a value that is not finite
            visits = visits_of(rows)
            passes: list[Floats] = []
            history: list[PassRecord] = []
            while len(passes) < self.max_iter and not (passes and self._ended(passes, rows.n_rows)):
                before = visits.totals.copy()
                order = rows.order if shuffle is None else shuffle.permutation(rows.order)
                self._visit(rows, order, visits)
                need_finite(self._weights)
                passes.append(visits.totals - before)
                history.append(PassRecord(int(passes[-1][MISTAKEN]), None, -math.inf, math.inf))
            status = Status.SETTLED if self._ended(passes, rows.n_rows) else Status.PASS_LIMIT
            found = rows.scan(self._shown())
            lower = float(found.scores[0]) / norm(self._shown()) if self._shown().any() else 0.0
            self._store(
                rows,
                visits,
                status=Status.SEPARATED if found.mistakes == 0 else status,
                errors=found.mistakes,
                passes=len(passes),
                margin_lower=lower,
                history=tuple(history),
            )
            self.mistakes_, self._loss = self.result_.mistakes, self.result_.squared_loss
            self._rows_seen, self._rounds = rows.n_rows, len(passes)
        if status is Status.PASS_LIMIT and not self.converged_:
            question = f"sx.separability(X, y{'' if rows.lifted else ', fit_intercept=False'})"
            warnings.warn(not_separated(self.result_, question, average=False, budget=True), stacklevel=2)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Visit each row once, in order, and continue from what was learned so far.

        However the rows are divided into calls, the weights are those of one cyclic pass over all of them.

        Parameters
        ----------
        X, y
            As in ``fit``.
        classes : array, optional
            Every class that will ever be seen; needed in the first call.

        Returns
        -------
        self
        """
        with inputs.unchanged_on_error(self):
            self._check_parameters()
            first = not hasattr(self, "classes_")
            known = inputs.known_classes(self, classes)
            rows, known, _ = inputs.read_training(self, X, y, None, classes=known, reset=first)
            if not first and self._lifted != rows.lifted:
                raise InputError(
                    "fit_intercept must stay as it was in the first call. Got "
                    f"fit_intercept={self.fit_intercept} instead of {self._lifted}.",
                    remedy="Use a new model for another fit_intercept.",
                    parameter="fit_intercept",
                )
            if first:
                self.classes_, self._lifted = known, rows.lifted
                self._begin(rows)
                self.mistakes_, self._rows_seen, self._rounds, self._loss = 0, 0, 1, 0.0
            elif self.result_.status is not Status.ONLINE:
                self._rounds = 0  # the rows of fit had other numbers of visits
            _ = rows.squared_norms  # names a value that is not finite
            visits = visits_of(rows)
            self._weights = self._weights.copy()
            self._visit(rows, rows.order, visits)
            need_finite(self._weights)
            self._store(rows, visits, status=Status.ONLINE, passes=1)
            self.mistakes_ += self.result_.mistakes
            self._loss += self.result_.squared_loss
            self._rows_seen += rows.n_rows
        return self

    def _scores(self, X: Any) -> Floats:
        rows = read_rows(self, X, lift=self._lifted)
        weights = np.column_stack([self.coef_, self.intercept_]) if self._lifted else self.coef_
        return linear_scores(rows, weights)

    def _store(self, rows: MemoryRows, visits: Visits, **known: Any) -> None:
        shown = np.atleast_2d(self._shown())
        self.coef_ = shown[:, :-1] if rows.lifted else shown
        self.intercept_ = shown[:, -1] if rows.lifted else np.zeros(shown.shape[0])
        self.result_ = OnlineResult(
            weights=self._shown(),
            counts=visits.counts,
            multipliers=visits.multipliers,
            mistakes=int(visits.totals[MISTAKEN]),
            squared_loss=float(visits.totals[SQUARED]),
            radius=rows.radius,
            margin_upper=margin_upper(rows, visits) if known["status"] is not Status.ONLINE else math.inf,
            order=self.order if known["status"] is not Status.ONLINE else "cyclic",
            visits=known["passes"] * rows.order.size,
            **known,
        )
        self.n_iter_ = self.result_.passes
        self.mistake_counts_ = self.result_.mistake_counts
        self.converged_: bool = self.result_.separated


def visits_of(rows: MemoryRows) -> Visits:
    """Return an empty record."""
    shape = (rows.n_rows, 1 if rows.n_classes == 2 else rows.n_classes)
    return Visits(np.zeros(shape, dtype=np.int64), np.zeros(shape), np.zeros(3))


def need_finite(weights: Floats) -> None:
    """Raise an error if weights have left the range of float64."""
    if not np.all(np.isfinite(weights)):
        raise NumericOverflowError(
            "The weights left the range of float64.",
            remedy="Scale the columns, for example with StandardScaler.",
            parameter="X",
        )


def margin_upper(rows: MemoryRows, visits: Visits) -> float:
    """Return |sum of a_i z_i| / sum of a_i for the multipliers a: no margin is larger, up to rounding."""
    mass = float(visits.multipliers.sum()) * (1.0 if rows.n_classes == 2 else 0.5)
    total = np.zeros(rows.weights_shape)
    rows.combine(visits.multipliers, np.ones(1), total)
    return norm(total) / mass if mass > 0.0 else math.inf
