"""Separators with a proof of how good they are: largest margin and soft margin."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from .. import inputs
from ..dual.kernel_margin import (
    KernelOptimum,
    KernelRows,
    no_optimum,
    soft_in_span,
    solve_kernel_margin,
    with_proof,
)
from ..dual.kernel_soft import KernelSoftOptimum, solve_kernel_soft
from ..errors import ConvergenceWarning, IllegalKernelError
from ..kernels import Precomputed, check_gram
from ..margins.hard.centering import far_columns
from ..margins.hard.max_margin import solve_max_margin
from ..margins.optimum import HardOptimum, SoftOptimum
from ..margins.rounding.proved_margin import proved_lower
from ..margins.soft.soft_margin import solve_soft_margin
from ..progress import spoken
from ..proofs.exact.weights import relative_floats
from ..proofs.verdict import Verdict
from ..result import Floats, Status, margin_text
from ..rows.memory import MemoryRows
from ..rows.protocol import Rows
from .decision import not_converged
from .hyperplane import (
    Hyperplane,
    check_parameters,
    exact_verdict,
    kernel_of,
    no_margin,
    refuse,
    soft_support,
)


class MaxMargin(Hyperplane, ClassifierMixin, BaseEstimator):
    """The separator that stays farthest from every row, with a bracket that proves it; with kernels.

    The margin of the weights found is a lower bound of the best margin; the multipliers of the
    support rows prove an upper bound. The run ends when the two agree to ``gap``, or when rounding or
    ``max_iter`` stops it. With more than two classes the margin is the smallest lead of a row's own
    class over any other, for weights of norm one in all. ``fit_intercept`` says which margin it is,
    affine or lifted.

    Parameters
    ----------
    kernel : str, Kernel or callable, optional
        Separate in the feature space of a kernel, see `separatrix.kernels`: "rbf", "poly", "linear",
        "geometric", "precomputed", a kernel such as ``sx.kernels.Gaussian(c=0.5)``, or a function of two
        matrices. None: a plane in the space of the rows.
    gamma : float, "scale", "auto" or None, default=None
        Of a kernel that is a name, as in `sklearn.svm.SVC`: "rbf" is ``exp(-gamma |x - x'|^2)``, "poly" is
        (gamma <x, x'> + coef0)^degree. None is 1; the default of `SVC` is "scale".
    degree : int or None, default=None
        Of "poly" and "geometric"; None is 3.
    coef0 : float or None, default=None
        Of "poly"; None is 1, where the default of `SVC` is 0.
    fit_intercept : {True, False, "lifted"}, default=True
        True: the intercept is not part of the norm, and the margin is the affine one: with two classes,
        half the distance between their hulls (the usual hard-margin support vector machine). "lifted": the
        intercept is the weight of a constant column and part of the norm; the margin is that of the lifted
        rows, at most the affine one. False: hyperplanes through the origin, with a margin that is at most the
        lifted one. These are different numbers for the same data.
    gap : float, default=1e-9
        The largest relative difference between the two ends of the bracket.
    max_iter : int, default=10_000
        The most Newton steps and passes of coordinate descent.
    inseparable : {"raise", "warn"}, default="raise"
        What to do where the classes cannot be separated. "warn" fits the soft margin with C = 1
        instead; for a matrix that is no inner product's (negative eigenvalues), that of its positive part.
    verbose : int, default=0
        1 writes the progress of ``fit`` to standard error, five lines a second at most; 2 every line there
        is. With 0, one line is shown on a terminal where it takes more than two seconds.

    Attributes
    ----------
    coef_ : ndarray of shape (1, columns) or (classes, columns)
        Scaled so that the smallest score is one, where the classes are separated. Not with a kernel.
    intercept_ : ndarray of shape (1,) or (classes,)
    classes_ : ndarray
    support_ : ndarray of shape (support,)
        The training rows that carry multipliers.
    dual_coef_ : ndarray of shape (1, support) or (classes, support)
        Signed multipliers: ``dual_coef_ @ X[support_]`` is near ``coef_``, the nearer the narrower the
        gap. With a kernel, the scores are ``dual_coef_ @ K(X[support_], x) + intercept_``.
    kernel_ : Kernel or None
    support_vectors_ : ndarray or CSR matrix of shape (support, columns)
        With a kernel only: the rows of the support (their indices, where the kernel is precomputed).
    margin_lower_, margin_upper_ : float
        The bracket of the best margin (affine with ``fit_intercept=True``, else that of the rows as they
        are, lifted or not), with all rounding counted: it holds for the exact numbers of the data. With a
        kernel the rounding of its values may make it wider than ``gap``; those of a kernel that states no
        bound of it (a function of your own) are taken as exact. With two classes and a free intercept the
        lower end is that of the best intercept for ``coef_``, which no float need hold. Where float64 does
        not resolve the margin of a small problem (20 weights or fewer; 150 where dense columns lie far from
        zero and the intercept is not free), it is found in rational numbers; the margin of ``coef_``, which
        is rounded, may then be smaller. Where the classes cannot be separated the lower end is zero or less.
    converged_ : bool
        Whether the bracket is as narrow as ``gap`` asks; with a kernel, before the rounding of its values is
        added.
    n_iter_ : int
        Newton steps and passes of coordinate descent; at least one.
    optimum_ : HardOptimum or KernelOptimum
        All of this as the solver gave it.
    n_features_in_ : int
    feature_names_in_ : ndarray
        Where X had column names that are all text.

    Notes
    -----
    A row's sample weight matters only in being zero or not: zero leaves the row out.

    With a kernel, the same solver works in coordinates of the working set's own span; the bracket is
    computed from kernel values, whose rounding limits it to about ``eps (R / margin)^2``. Memory grows with
    the square of the working set; no kernel matrix of all rows is made unless all are in it.

    Two methods narrow the bracket. The solver works on the few rows that scans of the data name, by proximal
    steps on the multipliers whose inner problems Newton's method solves. Two classes with more than 500
    columns, in memory, begin with passes of coordinate descent over all rows, which are often enough. Where
    no separator is found, the exact question is asked for up to a minute, and `NotSeparable` carries the
    certificate; without one the message says that nothing is proved.

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

    def __init__(
        self,
        *,
        kernel: Any = None,
        gamma: Any = None,
        degree: int | None = None,
        coef0: float | None = None,
        fit_intercept: bool | str = True,
        gap: float = 1e-9,
        max_iter: int = 10_000,
        inseparable: str = "raise",
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.gap = gap
        self.max_iter = max_iter
        self.inseparable = inseparable
        self.verbose = verbose

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
            Where the classes cannot be separated and ``inseparable="raise"``.
        """
        with inputs.unchanged_on_error(self), spoken(inputs.need_count(self, "verbose")):
            check_parameters(self)
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
                reached += " Some columns lie far from zero: subtract their means first."
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
        _ = rows.squared_norms  # every value is finite
        kernel, matrix = self.kernel_, rows.matrix
        if isinstance(kernel, Precomputed):
            matrix = check_gram(matrix)
        labels, free = rows.labels, self.free_intercept
        mapped = KernelRows(kernel, matrix, labels, rows.n_classes, rows.order, rows.lifted, free)
        try:
            reached = solve_kernel_margin(mapped, gap=self.gap, max_iter=self.max_iter)
            found = with_proof(mapped, reached)
            support, coefficients, intercept = found.rows, found.coefficients, found.intercept
            if not reached.margin_lower > 0.0 and found.status is not Status.INTERRUPTED:
                refuse(self, exact_verdict(self, *given, kernel=kernel), no_margin(found.margin_upper))
                support, coefficients, intercept = soft_in_span(mapped)
        except IllegalKernelError as problem:
            if self.inseparable == "raise":
                raise
            message = f"{problem} The soft margin with C=1 of the matrix's positive part is used here."
            warnings.warn(message, ConvergenceWarning, stacklevel=3)
            found = no_optimum(mapped)
            support, coefficients, intercept = soft_in_span(mapped)
        self.classes_ = classes
        if free and len(intercept) > 1:
            intercept = intercept - intercept.mean()  # a common shift of all classes changes no score
        self.support_, self.dual_coef_, self.intercept_ = support, coefficients, intercept
        self.support_vectors_ = kernel.anchors(matrix, support)
        return found


class SoftMargin(Hyperplane, ClassifierMixin, BaseEstimator):
    """Hinge loss against the norm of the weights, solved to a duality gap that is proved.

    Minimises ``|w|^2 / 2 + C * sum of max(0, 1 - score)``. The multipliers prove that no weights
    have an objective lower than ``dual_objective_``; the run ends when the two objectives agree to
    ``gap``. More than two classes are fitted jointly (Crammer and Singer 2001): the score of a row is
    that of its class less that of the best other.

    Parameters
    ----------
    C : float, default=1.0
        How much a unit of loss costs.
    kernel : str, Kernel or callable, optional
        Minimise in the feature space of a kernel, as in `MaxMargin`, with up to 5,000 rows. None: planes in
        the space of the rows.
    gamma, degree, coef0 : optional
        Of a kernel that is a name, as in `MaxMargin`.
    fit_intercept : {True, False, "lifted"}, default="lifted"
        "lifted": the intercept is the weight of a constant column and part of the norm (as in
        LinearSVC). True: it is not part of the norm (as in SVC). False: there is no intercept.
    gap : float, default=1e-6
        The largest difference between the two objectives, relative to the first.
    max_iter : int, default=10_000
        The most Newton steps or passes.
    class_weight : dict, "balanced" or None, default=None
        Multiplies C for each class.
    random_state : int or None, default=0
        For the order of the coordinate descent and the sample of large data, where they are used. The
        least objective does not depend on it; the weights found do, within the gap.
    verbose : int, default=0
        1 writes the progress of ``fit`` to standard error, five lines a second at most; 2 every line there
        is. With 0, one line is shown on a terminal where it takes more than two seconds.

    Attributes
    ----------
    coef_ : ndarray of shape (1, columns) or (classes, columns)
    intercept_ : ndarray of shape (1,) or (classes,)
    classes_ : ndarray
    support_ : ndarray of shape (support,)
        The training rows that carry multipliers.
    dual_coef_ : ndarray of shape (1, support) or (classes, support)
        Signed multipliers: ``dual_coef_ @ X[support_]`` is near ``coef_``. With a kernel, the scores are
        ``dual_coef_ @ K(X[support_], x) + intercept_``.
    kernel_ : Kernel or None
    support_vectors_ : ndarray or CSR matrix of shape (support, columns)
        With a kernel only: the rows of the support (their indices, where the kernel is precomputed).
    objective_, dual_objective_ : float
        The objective of the weights, rounded up, and the bound below every objective, rounded down. All
        rounding is counted: the least objective of the exact numbers of the data lies between them. With a
        kernel that states no bound of its rounding (a function of your own), its values are taken as exact.
    gap_ : float
        Their relative difference.
    converged_ : bool
        Whether ``gap_`` is at most ``gap``.
    n_iter_ : int
        Newton steps or passes; at least one.
    optimum_ : SoftOptimum or KernelSoftOptimum
    n_features_in_ : int
    feature_names_in_ : ndarray
        Where X had column names that are all text.

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

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: Any = None,
        gamma: Any = None,
        degree: int | None = None,
        coef0: float | None = None,
        fit_intercept: bool | str = "lifted",
        gap: float = 1e-6,
        max_iter: int = 10_000,
        class_weight: Any = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.gap = gap
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SoftMargin:
        """Minimise the objective.

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
            check_parameters(self)
            rows, classes, weights = inputs.read_training_anywhere(self, X, y, sample_weight)
            self.kernel_ = kernel_of(self, rows)
            caps = self.C * (np.ones(rows.n_rows) if weights is None else weights)
            if self.class_weight is not None:
                caps = caps * inputs.class_weights(self.class_weight, classes, rows)
            found: Any = (
                self._fit_linear(rows, classes, caps)
                if self.kernel_ is None
                else self._fit_kernel(inputs.need_memory(self, rows), classes, caps)
            )
            if weights is not None or self.class_weight is not None:
                found = found.with_rounded_caps()
            self.objective_, self.dual_objective_, self.gap_ = found.primal, found.dual, found.gap
            self.converged_ = found.status is Status.REACHED
            self.n_iter_ = max(1, found.steps)
            self.optimum_ = found
        if not self.converged_:
            reached = f"The relative gap is {found.gap:.2e}, {self.gap:.0e} was asked for."
            warnings.warn(not_converged(found.status, reached), stacklevel=2)
        return self

    def _fit_linear(self, rows: Rows, classes: NDArray[Any], caps: Floats) -> SoftOptimum:
        found = solve_soft_margin(
            rows,
            caps,
            gap=self.gap,
            free_intercept=self.free_intercept,
            max_iter=self.max_iter,
            seed=inputs.generator(self.random_state),
        )
        self._store_weights(found.weights, rows, classes)
        self._store_support(rows, *soft_support(found.multipliers, rows))
        return found

    def _fit_kernel(self, rows: MemoryRows, classes: NDArray[Any], caps: Floats) -> KernelSoftOptimum:
        matrix = check_gram(rows.matrix) if isinstance(self.kernel_, Precomputed) else rows.matrix
        free = self.free_intercept
        mapped = KernelRows(self.kernel_, matrix, rows.labels, rows.n_classes, rows.order, rows.lifted, free)
        seed = inputs.generator(self.random_state)
        found = solve_kernel_soft(mapped, caps, gap=self.gap, max_iter=self.max_iter, seed=seed)
        self.classes_, self.support_, self.dual_coef_ = classes, found.rows, found.coefficients
        centre = found.intercept.mean() if free and len(found.intercept) > 1 else 0.0
        self.intercept_ = found.intercept - centre  # a common shift of all classes changes no score
        self.support_vectors_ = self.kernel_.anchors(matrix, found.rows)
        return found


def _with_weights_of(verdict: Verdict, found: HardOptimum, rows: Rows, free_intercept: bool) -> HardOptimum:
    """What was found, with the weights of a verdict if floats near them are proved to separate the rows."""
    if not verdict.separable or verdict.certificate is None or verdict.certificate.weights is None:
        return found
    exact = [value for vector in verdict.certificate.weights for value in vector]
    weights = relative_floats(exact).reshape(rows.weights_shape)
    lower = proved_lower(rows, weights, free_intercept)
    if not lower > 0.0:
        return found
    return replace(found, status=Status.STALLED, weights=weights, margin_lower=lower)
