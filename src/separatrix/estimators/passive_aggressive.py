"""Passive-aggressive learning: the smallest change of the weights that gives a row a score of one."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from .. import inputs, loops
from ..loops.layouts import LOSS, Visits
from ..result import Floats, Ints
from ..rows.memory import MemoryRows
from .habits import estimator
from .row_by_row import ORDERS, RowByRow

VARIANTS = ("PA", "PA-I", "PA-II")


@estimator
class PassiveAggressive(RowByRow, ClassifierMixin, BaseEstimator):
    """Passive-aggressive classifier for two or more classes, online or in passes (Crammer et al. 2006).

    A row whose score is one or more changes nothing. Any other row has the hinge loss ``l = 1 - score`` and
    is added to the weights with a step: ``l / |z|**2`` for "PA", after which its score is one; at most C
    for "PA-I"; and ``l / (|z|**2 + 1 / (2 * C))`` for "PA-II". Here z is the signed row, with a constant
    coordinate if there is an intercept. With more than two classes there is one weight vector per class, a
    score is the output of the row's own class minus the largest other output, and ``|z|**2`` is twice the
    squared norm of the row.

    Parameters
    ----------
    C : float, default=1.0
        How aggressive a step may be; "PA" ignores it.
    variant : {"PA-I", "PA-II", "PA"}, default="PA-I"
        The rule for the step.
    fit_intercept : bool or "lifted", default=True
        Whether to append a constant column, whose weight is the intercept.
    order : {"shuffled", "cyclic"}, default="shuffled"
        The order of the rows in each pass of ``fit``.
    max_iter : int, default=1000
        The maximum number of passes.
    tol : float, default=1e-3
        ``fit`` ends if the mean hinge losses of the last five passes are not lower by this number than the
        best one before them, or if a pass had no loss.
    random_state : int, RandomState or None, default=None
        The seed for the order "shuffled".

    Attributes
    ----------
    coef_ : ndarray of shape (1, columns) or (classes, columns)
    intercept_ : ndarray of shape (1,) or (classes,)
    classes_ : ndarray
    mistakes_ : int
        The number of visits at which the score was zero or less.
    mistake_counts_ : ndarray of shape (rows,)
        The same for each row, in the last call of ``fit`` or ``partial_fit``.
    n_iter_ : int
        The number of passes.
    converged_ : bool
        Whether the final weights separate the training rows; False after ``partial_fit``.
    result_ : OnlineResult
        The status, the multipliers, the squared loss and a bracket of the best margin.
    n_features_in_ : int
    feature_names_in_ : ndarray
        The names of the columns of X, if all of them are strings.

    Notes
    -----
    The theorems of the paper are about every sequence of visits, so they hold for several passes as well.
    `mistake_bounds` evaluates them for a run; they hold in exact arithmetic.

    - "PA": if u has a score of at least one on every row, the squared losses sum to at most
      ``R**2 * |u|**2``.
    - "PA-I": for every u, there are at most ``max(R**2, 1 / C) * (|u|**2 + 2 * C * L)`` mistakes, where L is
      the sum of the hinge losses of u over the visits.
    - "PA-II": the squared losses sum to at most ``(R**2 + 1 / (2 * C)) * (|u|**2 + 2 * C * S)``, where S is
      the sum of the squared losses of u.

    R is the largest ``|z|``.

    References
    ----------
    Crammer, K., Dekel, O., Keshet, J., Shalev-Shwartz, S. and Singer, Y. (2006). Online passive-aggressive
    algorithms. Journal of Machine Learning Research 7, 551-585.

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    >>> model = sx.PassiveAggressive(variant="PA", order="cyclic").fit(X, y)
    >>> model.converged_, model.predict([[2.5]])
    (True, array([1]))
    """

    C: float = 1.0
    _: KW_ONLY
    variant: str = "PA-I"
    fit_intercept: bool | str = True
    order: str = "shuffled"
    max_iter: int = 1000
    tol: float = 1e-3
    random_state: Any = None

    def _check_parameters(self) -> None:
        inputs.check_parameters(self, variant=VARIANTS, order=ORDERS)

    def _begin(self, rows: MemoryRows) -> None:
        self._weights = np.zeros(rows.weights_shape)

    def _visit(self, rows: MemoryRows, order: Ints, visits: Visits) -> None:
        limits = step_limits(self.variant, float(self.C), rows.n_classes)
        loops.online_steps.passive_aggressive(rows.storage, order, self._weights, *limits, visits)

    def _ended(self, passes: list[Floats], n_rows: int, patience: int = 5) -> bool:
        losses = [float(each[LOSS]) / n_rows for each in passes]
        before = min(losses[:-patience], default=np.inf)
        return losses[-1] == 0.0 or min(losses[-patience:]) > before - self.tol


def step_limits(variant: str, C: float, n_classes: int) -> tuple[float, float]:
    """Return the largest step, and what is added to the squared norm of a row that the loss is divided by.

    With one weight vector per class, a step changes two of them by half of it each.
    """
    vectors = 1.0 if n_classes == 2 else 2.0
    return vectors * C if variant == "PA-I" else np.inf, 0.5 / (C * vectors) if variant == "PA-II" else 0.0
