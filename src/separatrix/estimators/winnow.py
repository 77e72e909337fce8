"""Balanced Winnow: a mistake multiplies the weights of the row's columns, instead of adding the row."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from .. import inputs, loops
from ..loops.layouts import Visits
from ..result import Floats, Ints
from ..rows.memory import MemoryRows
from .habits import estimator
from .row_by_row import ORDERS, RowByRow


@estimator
class Winnow(RowByRow, ClassifierMixin, BaseEstimator):
    """Balanced Winnow with normalized weights, for two or more classes, online or in passes.

    Every column has two weights, one for its values and one for their negatives; all weights are positive and
    sum to one. A row whose score is zero or less multiplies the weight of each column by ``exp(eta0 * z_j)``,
    where z is the signed row, and then all weights are normalized. ``coef_`` is the difference of the two
    weights of each column. With more than two classes, there are such weights for every class, and a mistake
    changes those of the row's own class and of the wrong class with the highest score.

    The number of mistakes depends on the logarithm of the number of columns, so Winnow makes few mistakes if
    few of many columns matter. The perceptron makes fewer if the rows are sparse and all columns matter
    (Kivinen, Warmuth and Auer 1997).

    Parameters
    ----------
    eta0 : float, default=0.1
        The learning rate. The bound is smallest at ``margin / R**2``, see the notes.
    fit_intercept : bool or "lifted", default=True
        Whether to append a constant column, whose weight is the intercept.
    order : {"shuffled", "cyclic"}, default="shuffled"
        The order of the rows in each pass of ``fit``.
    max_iter : int, default=100
        The maximum number of passes; a pass without a mistake ends the run.
    random_state : int, RandomState or None, default=None
        The seed for the order "shuffled".

    Attributes
    ----------
    coef_ : ndarray of shape (1, columns) or (classes, columns)
        The absolute values of these and of ``intercept_`` sum to less than one.
    intercept_ : ndarray of shape (1,) or (classes,)
    classes_ : ndarray
    mistakes_ : int
        The number of updates.
    mistake_counts_ : ndarray of shape (rows,)
        The same for each row, in the last call of ``fit`` or ``partial_fit``.
    n_iter_ : int
        The number of passes.
    converged_ : bool
        Whether the final weights separate the training rows; False after ``partial_fit``.
    result_ : OnlineResult
        The status, the multipliers and an upper bound of the best margin.
    n_features_in_ : int
    feature_names_in_ : ndarray
        The names of the columns of X, if all of them are strings.

    Notes
    -----
    *The bound.* Let u have absolute values that sum to one and ``<u, z> >= margin > 0`` for all signed rows
    z, and let R be the largest absolute value in the rows (with the constant column). If
    ``eta0 < 2 * margin / R**2``, there are at most ``ln(2 * d) / (eta0 * margin - eta0**2 * R**2 / 2)``
    mistakes in exact arithmetic, however often the rows are visited. Here d is the number of weights in
    ``coef_`` and, if there is an intercept, ``intercept_``. At ``eta0 = margin / R**2`` the bound is
    ``2 * ln(2 * d) * (R / margin)**2``.

    *Proof.* Let p be the weights of the 2d columns of z and -z, and write u in the same way. A mistake,
    ``<p, z> <= 0``, changes the relative entropy of u and p by
    ``-eta0 * <u, z> + ln(sum_j p_j * exp(eta0 * z_j))``, and by Hoeffding's lemma the logarithm is at most
    ``eta0 * <p, z> + eta0**2 * R**2 / 2``. So each mistake lowers it by at least
    ``eta0 * margin - eta0**2 * R**2 / 2``. It is at most ``ln(2 * d)`` at the start and never negative.

    *The state.* The weights are ``exp(e_j)`` and ``exp(-e_j)``, up to a common factor, where the exponents e
    are ``eta0`` times the sum of the signed rows of all mistakes: the weights of a perceptron.

    References
    ----------
    Littlestone, N. (1988). Learning quickly when irrelevant attributes abound: a new linear-threshold
    algorithm. Machine Learning 2, 285-318.
    Kivinen, J., Warmuth, M. K. and Auer, P. (1997). The perceptron algorithm versus Winnow: linear versus
    logarithmic mistake bounds when few input variables are relevant. Artificial Intelligence 97, 325-343.

    Examples
    --------
    >>> import numpy as np
    >>> import separatrix as sx
    >>> X = np.random.default_rng(0).choice([-1.0, 1.0], (200, 500))
    >>> y = X[:, 3] > 0
    >>> model = sx.Winnow(order="cyclic").fit(X, y)
    >>> model.converged_, int(np.abs(model.coef_[0]).argmax())
    (True, 3)
    """

    eta0: float = 0.1
    _: KW_ONLY
    fit_intercept: bool | str = True
    order: str = "shuffled"
    max_iter: int = 100
    random_state: Any = None

    def _check_parameters(self) -> None:
        inputs.check_parameters(self, order=ORDERS)

    def _begin(self, rows: MemoryRows) -> None:
        self._exponents, self._shift = np.zeros(rows.weights_shape), 0.0
        self._weights = np.zeros(rows.weights_shape)

    def _visit(self, rows: MemoryRows, order: Ints, visits: Visits) -> None:
        # With one vector of exponents per class, a step changes two of them by half of it each.
        rate = np.array([self.eta0 * (1.0 if rows.n_classes == 2 else 2.0), self._shift])
        self._exponents = self._exponents.copy()
        loops.online_steps.winnow(rows.storage, order, self._exponents, self._weights, rate, visits)
        self._shift = float(rate[1])
        np.multiply(visits.counts, rate[0], out=visits.multipliers)

    def _shown(self) -> Floats:
        """Return ``sinh(e) / sum(cosh(e))``: the differences of the two normalized weights of each column."""
        sizes = np.abs(self._exponents)
        largest = float(sizes.max())
        grown, shrunk = np.exp(sizes - largest), np.exp(-sizes - largest)
        shown: Floats = np.sign(self._exponents) * -np.expm1(-2.0 * sizes) * grown / (grown + shrunk).sum()
        return shown
