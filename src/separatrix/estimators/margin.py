"""Classifiers with proved bounds: the largest margin and the soft margin."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from .. import inputs
from ..dual.kernel_margin import KernelOptimum, solve_kernel_margin, with_proof
from ..dual.kernel_soft import KernelSoftOptimum, solve_kernel_soft
from ..errors import NumericOverflowError
from ..margins.hard.max_margin import HardOptimum, far_columns, solve_max_margin
from ..margins.rounding.proved_margin import proved_lower
from ..margins.soft.soft_margin import SoftOptimum, solve_soft_margin
from ..progress import spoken
from ..proofs.exact.integer_rows import relative_floats
from ..proofs.verdict import Verdict
from ..result import Floats, Status, margin_text
from ..rows.memory import MemoryRows
from ..rows.protocol import Rows
from .decision import not_converged
from .habits import estimator
from .hyperplane import (
    ON_INSEPARABLE,
    Hyperplane,
    exact_verdict,
    kernel_of,
    no_margin,
    refuse,
    soft_support,
)


@estimator
class MaxMargin(Hyperplane, ClassifierMixin, BaseEstimator):
    """The separator with the largest margin, with a proved bracket of that margin; with or without a kernel.

    The margin of the weights found is a lower bound of the best margin, and the multipliers of the support
    rows prove an upper bound. The run ends when the two agree up to ``gap``, or when rounding or
    ``max_iter`` stops it. With more than two classes, the margin is the smallest difference between the score
    of a row's own class and that of any other class, for weights of norm one. ``fit_intercept`` chooses which
    margin is maximized. Below, the *bracket* is the interval between the two bounds.

    Parameters
    ----------
    kernel : str, Kernel or callable, optional
        Separate in the feature space of a kernel, see `separatrix.kernels`: "rbf", "poly", "linear",
        "geometric", "monomial", "precomputed", a kernel such as ``sx.kernels.Gaussian(c=0.5)``, or a function
        of two matrices. None means a hyperplane in the space of the rows.
    gamma : float, "scale", "auto" or None, default=None
        A parameter of a kernel given by name, as in `sklearn.svm.SVC`: "rbf" is ``exp(-gamma |x - x'|^2)``,
        "poly" is (gamma <x, x'> + coef0)^degree. "scale" means 1 / (number of columns * variance of all
        values of X), and "auto" 1 / number of columns. None means "scale" for "rbf", as in `SVC`, and 1 for
        "poly", where the kernel of integers is then an integer.
    degree : int or None, default=None
        The degree of "poly", "geometric" and "monomial"; None means 3.
    coef0 : float or None, default=None
        The constant of "poly"; None means 1, but the default of `SVC` is 0.
    fit_intercept : {True, False, "lifted"}, default=True
        True: the intercept is not part of the norm, and the margin is the affine one: with two classes,
        half the distance between their convex hulls (the usual hard-margin support vector machine). "lifted":
        the intercept is the weight of a constant column and part of the norm; the margin is that of the
        lifted rows, at most the affine one. False: hyperplanes through the origin, with a margin that is at
        most the lifted one. These can be three different numbers for the same data.
    gap : float, default=1e-9
        The largest relative difference between the two ends of the bracket.
    max_iter : int, default=10_000
        The maximum number of Newton steps and passes of coordinate descent.
    inseparable : {"raise", "warn"}, default="raise"
        What to do if the classes cannot be separated. "warn" fits the soft margin with C = 1 instead. A Gram
        matrix with negative eigenvalues is refused in both cases.
    verbose : int, default=0
        1 writes the progress of ``fit`` to standard error, at most five lines per second. 2 writes all lines.
        0 shows a single line on a terminal if ``fit`` takes more than two seconds.

    Attributes
    ----------
    coef_ : ndarray of shape (1, columns) or (classes, columns)
        Scaled so that the smallest score is one, if the classes are separated. Absent with a kernel.
    intercept_ : ndarray of shape (1,) or (classes,)
    classes_ : ndarray
    support_ : ndarray of shape (support,)
        The training rows with non-zero multipliers.
    dual_coef_ : ndarray of shape (1, support) or (classes, support)
        Signed multipliers: ``dual_coef_ @ X[support_]`` approximates ``coef_``, better with a smaller gap.
        With a kernel, the scores are ``dual_coef_ @ K(X[support_], x) + intercept_``.
    kernel_ : Kernel or None
    support_vectors_ : ndarray or CSR matrix of shape (support, columns)
        With a kernel only: the rows of the support (their indices if the kernel is precomputed).
    margin_lower_, margin_upper_ : float
        The bracket of the best margin; ``fit_intercept`` says which margin it is. All rounding errors are
        counted, so it holds for the exact numbers of the data. With a kernel, rounding errors of its values
        may make it wider than ``gap``; if the kernel gives no bound on them (a function of your own), its
        values are taken as exact. If the classes cannot be separated, the lower end is zero or less. The
        margin of ``coef_`` and ``intercept_``, which are rounded, may be smaller than the lower end: see the
        notes.
    converged_ : bool
        Whether the bracket is as narrow as ``gap`` requires. With a kernel, the rounding errors of its values
        are not counted here.
    n_iter_ : int
        Newton steps and passes of coordinate descent; at least one.
    optimum_ : HardOptimum or KernelOptimum
        The result of the solver.
    n_features_in_ : int
    feature_names_in_ : ndarray
        The names of the columns of X, if all of them are strings.

    Notes
    -----
    A sample weight of zero leaves the row out; other weights change nothing.

    With a kernel, the same solver works in coordinates of the span of the working set. The bracket is
    computed from kernel values, whose rounding errors limit its width to about ``eps (R / margin)^2``. Memory
    grows with the square of the working set. The kernel matrix of all rows is not computed, unless the
    working set contains all rows.

    The solver works on the few rows that had the lowest scores in the last scan of the data. It takes
    proximal steps on their multipliers, and computes each step with Newton's method. With two classes and
    more than 500 columns, in memory, it begins with passes of coordinate descent over all rows, which often
    suffice.

    With two classes and ``fit_intercept=True``, the lower end of the bracket is the margin of ``coef_`` with
    its best intercept, and ``intercept_`` is that intercept, rounded. If the margin of a small problem is too
    small for float64, the bracket is computed in rational numbers. A problem is small if it has at most 20
    weights, or at most 150 if dense columns are far from zero and ``fit_intercept`` is not True.

    If no separator is found, ``fit`` asks for an exact verdict for up to a minute.
    `NotSeparable` contains the certificate; without one, the message says that nothing is proved.

    Examples
    --------
    >>> import separatrix as sx
    >>> model = sx.MaxMargin().fit([[0.0, 1.0], [0.0, 3.0], [2.0, 0.0]], ["a", "a", "b"])
    >>> print(f"{model.margin_lower_:.6f} {model.margin_upper_:.6f}")
    1.118034 1.118034
    >>> model.support_
    array([0, 2])
    >>> X, y = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 0, 1, 1]
    >>> sx.MaxMargin(kernel="rbf").fit(X, y).predict(X)
    array([0, 0, 1, 1])
    """

    _: KW_ONLY
    kernel: Any = None
    gamma: Any = None
    degree: int | None = None
    coef0: float | None = None
    fit_intercept: bool | str = True
    gap: float = 1e-9
    max_iter: int = 10_000
    inseparable: str = "raise"
    verbose: int = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MaxMargin:
        """Find the largest margin.

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
            If the classes cannot be separated and ``inseparable="raise"``.
        """
        with inputs.unchanged_on_error(self), spoken(inputs.need_count(self, "verbose")):
            inputs.check_parameters(self, inseparable=ON_INSEPARABLE)
            rows, classes, _ = inputs.read_training_anywhere(self, X, y, sample_weight)
            self.kernel_ = kernel_of(self, rows)
            if self.kernel_ is not None:
                found: Any = self._fit_kernel(inputs.need_memory(self, rows), classes, (X, y, sample_weight))
            else:
                found = self._fit_linear(rows, classes, (X, y, sample_weight))
            self.margin_lower_, self.margin_upper_ = found.margin_lower, found.margin_upper
            self.converged_ = found.status is Status.REACHED
            self.n_iter_ = max(1, found.steps)
            self.optimum_ = found
        if not self.converged_ and (found.margin_lower > 0.0 or found.status is Status.INTERRUPTED):
            reached = f"The best margin is {margin_text(found.margin_lower, found.margin_upper, 9)}."
            if self.kernel_ is None and far_columns(rows) is not None:
                reached += " Some columns are far from zero: subtract their means first."
            warnings.warn(not_converged(found.status, reached), stacklevel=2)
        return self

    def _fit_linear(self, rows: Rows, classes: NDArray[Any], given: tuple[Any, Any, Any]) -> HardOptimum:
        free = self.free_intercept
        found = solve_max_margin(rows, gap=self.gap, free_intercept=free, max_iter=self.max_iter)
        verdict = None
        if not found.margin_lower > 0.0 and found.status is not Status.INTERRUPTED:
            verdict = exact_verdict(self, *given)
            found = _with_weights_of(verdict, found, rows, free)
        weights, members, rivals, multipliers = found.weights, found.rows, found.rivals, found.multipliers
        if verdict is not None and not found.margin_lower > 0.0:
            refuse(self, verdict, no_margin(found.margin_upper))
            soft = solve_soft_margin(rows, np.ones(rows.n_rows), free_intercept=free)
            weights = soft.weights
            members, rivals, multipliers = soft_support(soft.multipliers, rows)
        self._store_weights(weights, rows, classes)
        self._store_support(rows, members, rivals, multipliers)
        return found

    def _fit_kernel(
        self, rows: MemoryRows, classes: NDArray[Any], given: tuple[Any, Any, Any]
    ) -> KernelOptimum:
        mapped = self._kernel_rows(rows)
        reached = solve_kernel_margin(mapped, gap=self.gap, max_iter=self.max_iter)
        found = with_proof(mapped, reached)
        used: KernelOptimum | KernelSoftOptimum = found
        if not reached.margin_lower > 0.0 and found.status is not Status.INTERRUPTED:
            refuse(self, exact_verdict(self, *given, kernel=self.kernel_), no_margin(found.margin_upper))
            used = solve_kernel_soft(mapped, np.ones(rows.n_rows), gap=1e-6)
        self._store_expansion(used, mapped, classes)
        return found


@estimator
class SoftMargin(Hyperplane, ClassifierMixin, BaseEstimator):
    """The soft-margin support vector machine, solved to a proved duality gap.

    It minimizes ``|w|^2 / 2 + C * sum of max(0, 1 - score)``; with two classes, the score of a row is its
    output times the sign of its class. The multipliers prove that no weights have an objective below
    ``dual_objective_``. The run ends when ``objective_`` and ``dual_objective_`` agree up to ``gap``, or when
    rounding or ``max_iter`` stops it. More than two classes are fitted jointly (Crammer and Singer 2001): the
    score of a row is then that of its own class minus that of the best other class.

    Parameters
    ----------
    C : float, default=1.0
        The cost of a unit of loss.
    kernel : str, Kernel or callable, optional
        Minimize in the feature space of a kernel, as in `MaxMargin`. None means hyperplanes in the space of
        the rows. A function of your own or a precomputed matrix must be positive semidefinite; the first
        5,000 rows are checked.
    gamma, degree, coef0 : optional
        Parameters of a kernel given by name, as in `MaxMargin`.
    fit_intercept : {True, False, "lifted"}, default="lifted"
        "lifted": the intercept is the weight of a constant column and part of the norm (as in
        LinearSVC). True: it is not part of the norm (as in SVC). False: there is no intercept.
    gap : float or None, default=None
        The run ends when ``(objective_ - dual_objective_) / objective_`` is at most this number. None means
        1e-6 without a kernel, and 1e-3 with one; `sklearn.svm.SVC` with its default tolerance ends with a
        similar gap.
    max_iter : int, default=10_000
        The maximum number of Newton steps or passes. With a kernel, a pass is as many steps as the working
        set has rows.
    class_weight : dict, "balanced" or None, default=None
        Multiplies C for each class.
    random_state : int or None, default=0
        The seed for the order of coordinate descent and for the sample of large data, if they are used. The
        smallest objective does not depend on it; the weights found do, within the gap.
    verbose : int, default=0
        1 writes the progress of ``fit`` to standard error, at most five lines per second. 2 writes all lines.
        0 shows a single line on a terminal if ``fit`` takes more than two seconds.

    Attributes
    ----------
    coef_ : ndarray of shape (1, columns) or (classes, columns)
    intercept_ : ndarray of shape (1,) or (classes,)
    classes_ : ndarray
    support_ : ndarray of shape (support,)
        The training rows with non-zero multipliers.
    dual_coef_ : ndarray of shape (1, support) or (classes, support)
        Signed multipliers: ``dual_coef_ @ X[support_]`` approximates ``coef_``. With a kernel, the scores are
        ``dual_coef_ @ K(X[support_], x) + intercept_``.
    kernel_ : Kernel or None
    support_vectors_ : ndarray or CSR matrix of shape (support, columns)
        With a kernel only: the rows of the support (their indices if the kernel is precomputed).
    objective_, dual_objective_ : float
        The objective of the weights, rounded up, and a lower bound of all objectives, rounded down. All
        rounding errors are counted: the smallest objective for the exact numbers of the data is between them.
        The values of a kernel that states no bound of its rounding errors (a function of your own) are taken
        as exact.
    gap_ : float
        Their relative difference.
    converged_ : bool
        Whether ``gap_`` is at most the requested gap.
    n_iter_ : int
        Newton steps or passes; at least one.
    optimum_ : SoftOptimum or KernelSoftOptimum
    n_features_in_ : int
    feature_names_in_ : ndarray
        The names of the columns of X, if all of them are strings.

    References
    ----------
    Crammer, K. and Singer, Y. (2001). On the algorithmic implementation of multiclass kernel-based
    vector machines. Journal of Machine Learning Research 2, 265-292.

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> model = sx.SoftMargin(C=1.0, fit_intercept=True).fit(X, y)
    >>> print(f"{model.objective_:.4f} {model.dual_objective_:.4f}")
    2.8889 2.8889
    """

    C: float = 1.0
    _: KW_ONLY
    kernel: Any = None
    gamma: Any = None
    degree: int | None = None
    coef0: float | None = None
    fit_intercept: bool | str = "lifted"
    gap: float | None = None
    max_iter: int = 10_000
    class_weight: Any = None
    random_state: Any = 0
    verbose: int = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SoftMargin:
        """Minimize the objective.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (rows, columns)
        y : array of shape (rows,)
            Class labels.
        sample_weight : array of shape (rows,), optional
            Multiplies C for each row.

        Returns
        -------
        self
        """
        with inputs.unchanged_on_error(self), spoken(inputs.need_count(self, "verbose")):
            inputs.check_parameters(self)
            rows, classes, weights = inputs.read_training_anywhere(self, X, y, sample_weight)
            self.kernel_ = kernel_of(self, rows)
            gap = self.gap if self.gap is not None else 1e-6 if self.kernel_ is None else 1e-3
            with np.errstate(over="ignore"):
                caps = self.C * (np.ones(rows.n_rows) if weights is None else weights)
                if self.class_weight is not None:
                    caps = caps * inputs.class_weights(self.class_weight, classes, rows)
                total = float(caps.sum())  # the objective of zero weights
            if not total <= 1e300:
                raise NumericOverflowError(
                    f"C times the weights of the rows adds up to {total:g}, which is more than 1e300.",
                    remedy="Lower C or the weights.",
                    parameter="C",
                )
            found: Any = (
                self._fit_linear(rows, classes, caps, gap)
                if self.kernel_ is None
                else self._fit_kernel(inputs.need_memory(self, rows), classes, caps, gap)
            )
            if weights is not None or self.class_weight is not None:
                found = found.with_rounded_caps()
            self.objective_, self.dual_objective_, self.gap_ = found.primal, found.dual, found.gap
            self.converged_ = found.status is Status.REACHED
            self.n_iter_ = max(1, found.steps)
            self.optimum_ = found
        if not self.converged_:
            reached = f"The relative gap is {found.gap:.2e}; the requested gap is {gap:.0e}."
            warnings.warn(not_converged(found.status, reached), stacklevel=2)
        return self

    def _fit_linear(self, rows: Rows, classes: NDArray[Any], caps: Floats, gap: float) -> SoftOptimum:
        found = solve_soft_margin(
            rows,
            caps,
            gap=gap,
            free_intercept=self.free_intercept,
            max_iter=self.max_iter,
            seed=inputs.generator(self.random_state),
        )
        self._store_weights(found.weights, rows, classes)
        self._store_support(rows, *soft_support(found.multipliers, rows))
        return found

    def _fit_kernel(
        self, rows: MemoryRows, classes: NDArray[Any], caps: Floats, gap: float
    ) -> KernelSoftOptimum:
        mapped, seed = self._kernel_rows(rows), inputs.generator(self.random_state)
        found = solve_kernel_soft(mapped, caps, gap=gap, max_iter=self.max_iter, seed=seed)
        self._store_expansion(found, mapped, classes)
        return found


def _with_weights_of(verdict: Verdict, found: HardOptimum, rows: Rows, free_intercept: bool) -> HardOptimum:
    """Replace the weights by those of a verdict, if floats near them are proved to separate the rows."""
    if not verdict.separable or verdict.certificate is None or verdict.certificate.weights is None:
        return found
    exact = [value for vector in verdict.certificate.weights for value in vector]
    weights = relative_floats(exact).reshape(rows.weights_shape)
    lower = proved_lower(rows, weights, free_intercept)
    if not lower > 0.0:
        return found
    return replace(found, status=Status.STALLED, weights=weights, margin_lower=lower)
