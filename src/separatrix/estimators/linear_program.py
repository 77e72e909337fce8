"""A separator by linear programming, as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from .. import inputs
from ..margins.lp.linear_program import FORMS, solve_linear_program
from ..margins.soft.soft_margin import solve_soft_margin
from ..progress import spoken
from .hyperplane import Hyperplane, check_parameters, exact_verdict, refuse


class LinearProgram(Hyperplane, ClassifierMixin, BaseEstimator):
    """A separator by linear programming (HiGHS), in the primal or the dual form.

    Parameters
    ----------
    form : {"primal", "dual"}, default="primal"
        "primal": maximise the smallest score with every weight between -1 and 1. "dual": the
        perceptron's multipliers by a linear program, the smallest sum of non-negative ``a`` for
        which ``w = sum of a_i z_i`` gives every row a score of at least one.
    fit_intercept : {True, False, "lifted"}, default=True
        True and "lifted" mean the same here: the intercept is the weight of a constant column. False: there
        is no intercept.
    inseparable : {"raise", "warn"}, default="raise"
        What to do where the program finds no separator. "warn" fits the soft margin with C = 1
        instead.
    verbose : int, default=0
        1 writes the progress of ``fit`` to standard error, five lines a second at most; 2 every line there
        is. With 0, one line is shown on a terminal where it takes more than two seconds.

    Attributes
    ----------
    coef_ : ndarray of shape (1, columns) or (classes, columns)
    intercept_ : ndarray of shape (1,) or (classes,)
    classes_ : ndarray
    objective_ : float
        The smallest score (primal form) or the sum of the multipliers (dual form).
    support_ : ndarray of shape (support,)
        The training rows that carry multipliers.
    dual_coef_ : ndarray of shape (1, support) or (classes, support)
        Dual form: signed multipliers; where the classes are separated, ``dual_coef_ @ X[support_]`` is
        ``coef_`` to rounding. Primal form: the prices of the rows that hold the smallest score down; their
        absolute values sum to one with two classes that are separated. If the classes cannot be separated
        they weigh the signed rows to zero, as far as the solver's tolerance tells.
    converged_ : bool
        Whether every row is on its own side.
    n_iter_ : int
        Linear programs solved.
    n_features_in_ : int
    feature_names_in_ : ndarray
        Where X had column names that are all text.

    Notes
    -----
    A row's sample weight matters only in being zero or not: zero leaves the row out.

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[2.0, 0.0], [1.0, 1.0], [-1.0, 0.0]], [1, 1, 0]
    >>> model = sx.LinearProgram(form="dual", fit_intercept=False).fit(X, y)
    >>> model.support_, model.dual_coef_
    (array([0]), array([[0.5]]))
    """

    _renamed: ClassVar = {"intercept": ("fit_intercept", {"lifted": True, None: False})}
    free_intercept = False

    def __init__(
        self,
        *,
        form: str = "primal",
        fit_intercept: bool | str = True,
        inseparable: str = "raise",
        verbose: int = 0,
    ) -> None:
        self.form = form
        self.fit_intercept = fit_intercept
        self.inseparable = inseparable
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearProgram:
        """Solve the program.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (rows, columns)
        y : array of shape (rows,)
            Class labels.
        sample_weight : array of shape (rows,), optional
            Rows of weight zero are left out; other weights do not matter.

        Returns
        -------
        self

        Raises
        ------
        NotSeparable
            Where the program finds no separator and ``inseparable="raise"``.
        """
        with inputs.unchanged_on_error(self), spoken(inputs.need_count(self, "verbose")):
            check_parameters(self, form=FORMS)
            rows, classes, _ = inputs.read_training_anywhere(self, X, y, sample_weight)
            found = solve_linear_program(rows, form=self.form)
            weights = found.weights
            if not found.separated:
                verdict = exact_verdict(self, X, y, sample_weight)
                refuse(self, verdict, "the linear program found no separator")
                weights = solve_soft_margin(rows, np.ones(rows.n_rows)).weights
            self._store_weights(weights, rows, classes)
            self._store_support(rows, found.rows, found.rivals, found.multipliers)
            self.objective_ = found.value
            self.converged_ = found.separated
            self.n_iter_ = found.programs
        return self
