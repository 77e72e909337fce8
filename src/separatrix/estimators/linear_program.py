"""A separator by linear programming, as a scikit-learn classifier."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from .. import inputs
from ..margins.lp.linear_program import FORMS, OBJECTIVES, solve_linear_program
from ..margins.soft.soft_margin import solve_soft_margin
from ..progress import spoken
from .habits import estimator
from .hyperplane import ON_INSEPARABLE, Hyperplane, exact_verdict, refuse


@estimator
class LinearProgram(Hyperplane, ClassifierMixin, BaseEstimator):
    """A separator by linear programming (HiGHS), in the primal or the dual form.

    Parameters
    ----------
    objective : {"margin", "feasible"}, default="margin"
        "margin": the best solution, as ``form`` describes it. "feasible": any weights that give every row a
        score of at least one; the objective is zero, so the margin may be far below the largest.
    form : {"primal", "dual"}, default="primal"
        The variables: the weights ("primal"), or multipliers ``a_i >= 0`` with ``w = sum of a_i z_i``
        ("dual"); with two classes, ``z_i`` is row i times 1 or -1, depending on its class. With
        objective="margin", the primal form maximizes the smallest score with every weight between -1 and 1,
        and the dual form minimizes the sum of the multipliers, such that every row has a score of at least
        one.
    fit_intercept : {True, False, "lifted"}, default=True
        True and "lifted" mean the same here: the intercept is the weight of a constant column. False: there
        is no intercept.
    inseparable : {"raise", "warn"}, default="raise"
        What to do if the program finds no separator. "warn" fits the soft margin with C = 1
        instead.
    verbose : int, default=0
        1 writes the progress of ``fit`` to standard error, at most five lines per second. 2 writes all lines.
        0 shows a single line on a terminal if ``fit`` takes more than two seconds.

    Attributes
    ----------
    coef_ : ndarray of shape (1, columns) or (classes, columns)
    intercept_ : ndarray of shape (1,) or (classes,)
    classes_ : ndarray
    objective_ : float
        The smallest score (primal form), the sum of the multipliers (dual form), or zero
        (objective="feasible").
    support_ : ndarray of shape (support,)
        The training rows with non-zero multipliers.
    dual_coef_ : ndarray of shape (1, support) or (classes, support)
        Dual form: signed multipliers; if the classes are separated, ``dual_coef_ @ X[support_]`` is ``coef_``
        up to rounding. Primal form: the dual values of the rows with the smallest score; with two classes
        that are separated, their absolute values sum to one. If the classes cannot be separated, the sum of
        the signed rows times these values is zero, within the tolerance of the solver. They are all zero with
        objective="feasible" in the primal form, so that no row is listed.
    converged_ : bool
        Whether every row is strictly on its own side.
    n_iter_ : int
        The number of linear programs solved.
    n_features_in_ : int
    feature_names_in_ : ndarray
        The names of the columns of X, if all of them are strings.

    Notes
    -----
    A sample weight of zero leaves the row out; other weights change nothing. "At least one" holds within the
    tolerance of HiGHS.

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[2.0, 0.0], [1.0, 1.0], [-1.0, 0.0]], [1, 1, 0]
    >>> model = sx.LinearProgram(form="dual", fit_intercept=False).fit(X, y)
    >>> model.support_, model.dual_coef_
    (array([0]), array([[0.5]]))
    >>> any_solution = sx.LinearProgram(objective="feasible").fit(X, y)
    >>> bool((any_solution.decision_function(X) * [1, 1, -1] > 1 - 1e-6).all())
    True
    """

    _renamed: ClassVar = {"intercept": ("fit_intercept", {"lifted": True, None: False})}
    free_intercept = False

    _: KW_ONLY
    objective: str = "margin"
    form: str = "primal"
    fit_intercept: bool | str = True
    inseparable: str = "raise"
    verbose: int = 0

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
            If the program finds no separator and ``inseparable="raise"``.
        """
        with inputs.unchanged_on_error(self), spoken(inputs.need_count(self, "verbose")):
            inputs.check_parameters(self, objective=OBJECTIVES, form=FORMS, inseparable=ON_INSEPARABLE)
            rows, classes, _ = inputs.read_training_anywhere(self, X, y, sample_weight)
            found = solve_linear_program(rows, form=self.form, objective=self.objective)
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
