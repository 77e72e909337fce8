"""The kernel perceptron as a scikit-learn classifier, with or without a budget."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if

from .. import inputs, kernels
from ..dual.budget import BudgetedSupport, learn_on_budget
from ..dual.expansion import Expansion
from ..dual.kernel_perceptron import ORDERS, KernelRun, solve_kernel_perceptron
from ..dual.similarity import Similarity, TrainingRows, training_rows
from ..errors import InputError
from ..kernels.base import BLOCK_VALUES
from ..perceptron.orders import AVERAGES
from ..progress import spoken
from ..result import Floats, Ints, KernelResult, Status
from ..rows.memory import MemoryRows
from .decision import Decision, need_weights_by_class, not_separated, read_rows, scores_of, shares_of
from .habits import estimator

DTYPES = ("float64", "float32")


def _knows_rows_to_come(model: KernelPerceptron) -> bool:
    if kernels.is_precomputed(model.kernel):
        raise AttributeError(
            "partial_fit cannot use a precomputed kernel: the Gram matrix of later rows is not known. "
            "Pass the kernel itself, or fit all rows at once."
        )
    return True


@estimator
class KernelPerceptron(Decision, ClassifierMixin, BaseEstimator):
    """The perceptron in the feature space of a kernel.

    Every mistake adds the misclassified row to the *support*. With two classes, the output of a row is the
    sum of its kernel values with the rows of the support, each times its number of mistakes and the sign of
    its class. A tie is a mistake. More than two classes are learned jointly, by Kesler's construction: a
    mistake is corrected against the wrong class with the largest output (the first of several equal outputs).
    To save memory, rows are processed in blocks. Neither the size of the blocks nor the division of the rows
    into calls of ``partial_fit`` changes the mistakes or the support.

    If the classes can be separated in the feature space with a positive margin, there is no budget, and
    neither ``max_iter`` nor ``max_updates`` stops the run, ``fit`` ends with weights that separate them.
    Without class weights and in exact arithmetic, it makes at most ``(R / margin)**2`` mistakes with two
    classes (Novikoff 1962), and ``2 (R / margin)**2`` with more. R is the largest norm of ``phi(x)``, with
    the constant 1 appended if there is an intercept. The margin is that of weights of norm one; with more
    than two classes, the weights of all classes together have norm one.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        A name ("linear", "poly" or "polynomial", "rbf" or "gaussian", "geometric", "monomial",
        "precomputed"), a kernel of `separatrix.kernels`, or a function of two matrices that returns their
        Gram matrix. A function, or a `Kernel` of your own that gives no bound on its rounding errors, is
        evaluated one row at a time in ``fit`` and ``partial_fit``. That is slower, but the mistakes do not
        depend on the blocks. If a kernel uses a function f of the rows, such as ``k.warped(f)``, the value of
        f for a row must not depend on the other rows in the same call.
    gamma : float, "scale", "auto" or None, default=None
        A parameter of a kernel given by name, as in `sklearn.svm.SVC`: "rbf" is ``exp(-gamma |x - x'|^2)``,
        "poly" is (gamma <x, x'> + coef0)^degree. None means 1, so that ``fit`` and ``partial_fit`` have the
        same kernel. The default of `SVC` and of `SoftMargin` is "scale", which needs all rows at once, so it
        cannot be used in ``partial_fit``.
    degree : int or None, default=None
        The degree of "poly", "geometric" and "monomial"; None means 3.
    coef0 : float or None, default=None
        The constant of "poly"; None means 1, but the default of `SVC` is 0.
    fit_intercept : bool or "lifted", default=True
        Use K + 1, the kernel of ``(phi(x), 1)``: with the linear kernel, the perceptron with an intercept.
        True and "lifted" mean the same here.
    order : {"cyclic", "shuffled"}, default="cyclic"
        The order of the rows in each pass.
    average : bool, "averaged" or "voted", default=False
        How to predict: with the last weights (False), with the mean of the weights over all visits
        ("averaged" or True), or by a vote of all weight vectors of the run, each weighted by the number of
        visits that it survived ("voted"; Freund and Schapire 1999).
    budget : int or None, default=None
        The largest support, at least 2. None lets it grow with the mistakes. When the budget is used up, the
        row of a mistake is replaced by its projection onto the span of the support (Orabona, Keshet and
        Caputo 2009).
        Projected coefficients are rounded: if outputs are equal in exact arithmetic, rounding decides which
        is the largest.
    max_iter : int, default=100
        The maximum number of passes over all rows.
    max_updates : int or None, default=None
        The maximum number of mistakes.
    class_weight : dict, "balanced" or None, default=None
        Factors for the updates of each class.
    dtype : {"float64", "float32"}, default="float64"
        The arithmetic of predictions; float32 is faster for many rows. ``fit`` always computes in float64.
    memory_limit : float, default=1e9
        Bytes for blocks of kernel values. The support, and one number per row and class, are not included.
    random_state : int, RandomState or None, default=None
        The seed for ``order="shuffled"``.
    trace : bool, default=False
        Keep every update of ``fit`` in ``result_.trace``.
    verbose : int, default=0
        1 writes the progress of ``fit`` to standard error, at most five lines per second. 2 writes all lines.
        0 shows a single line on a terminal if ``fit`` takes more than two seconds.

    Attributes
    ----------
    support_ : ndarray of shape (support,)
        The rows on which at least one mistake was made (with a budget: those that were kept), as indices
        among all rows seen.
    support_vectors_ : ndarray or CSR array of shape (support, columns)
        Those rows; for a precomputed kernel, their indices.
    dual_coef_ : ndarray of shape (support, 1) or (support, classes)
        The coefficient of each row of the support in the output of each class: that of the last weights, or
        of their mean with ``average="averaged"``.
    kernel_ : Kernel
        The kernel with its parameters.
    classes_ : ndarray
    mistakes_ : int
        The number of updates: the M of the mistake bounds.
    mistake_counts_ : ndarray of shape (rows,)
        The number of updates on each training row; the sum is ``mistakes_``. ``partial_fit`` with a budget
        does not keep them, because its memory must not grow with the rows.
    n_iter_ : int
        The number of passes over all rows.
    converged_ : bool
        Whether the last pass found no mistake, so that the weights separate the classes.
    result_ : KernelResult
        The status, the counts, the margin bracket, the radius and the history.
    n_features_in_ : int
    feature_names_in_ : ndarray
        The names of the columns of X, if all of them are strings.

    Notes
    -----
    There are no sample weights: scikit-learn requires that a weight of two is equivalent to a repeated row,
    but the mistakes depend on the place of the repeated row. Class weights scale the updates.

    References
    ----------
    Freund, Y. and Schapire, R. E. (1999). Large margin classification using the perceptron algorithm. Machine
    Learning 37, 277-296.

    Orabona, F., Keshet, J. and Caputo, B. (2009). Bounded kernel-based online learning. Journal of Machine
    Learning Research 10, 2643-2666.

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], ["same", "same", "other", "other"]
    >>> model = sx.KernelPerceptron(kernel=sx.kernels.Polynomial(degree=2)).fit(X, y)
    >>> model.converged_, model.predict([[1, 0]])
    (True, array(['other'], dtype='<U5'))
    """

    kernel: Any = "rbf"
    _: KW_ONLY
    gamma: Any = None
    degree: int | None = None
    coef0: float | None = None
    fit_intercept: bool | str = True
    order: str = "cyclic"
    average: str | bool = False
    budget: int | None = None
    max_iter: int = 100
    max_updates: int | None = None
    class_weight: Any = None
    dtype: str = "float64"
    memory_limit: float = 1e9
    random_state: Any = None
    trace: bool = False
    verbose: int = 0

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that a budget may be too small for a good score."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self.budget is not None
        return tags

    def fit(self, X: Any, y: Any) -> KernelPerceptron:
        """Learn from all rows until they are separated or a limit is met.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (rows, columns)
            Any real type. For a precomputed kernel, the square Gram matrix of the training rows.
        y : array of shape (rows,)
            Class labels.

        Returns
        -------
        self
        """
        with inputs.unchanged_on_error(self), spoken(inputs.need_count(self, "verbose")):
            self._check_parameters()
            rows, classes, _ = inputs.read_training(self, X, y, None)
            training, similarity = self._training(rows, classes)
            chance = self.order == "shuffled" or self.random_state is not None
            seed = inputs.generator(self.random_state) if chance else None
            machine = self._new_machine(similarity, rows.n_classes)
            if isinstance(machine, Expansion):
                result = solve_kernel_perceptron(
                    training,
                    machine,
                    order=self.order,
                    max_iter=self.max_iter,
                    max_updates=self.max_updates,
                    memory_limit=self.memory_limit,
                    seed=seed,
                )
            else:
                if self.trace:
                    machine.check_room(self.max_updates, rows.n_rows, self.max_iter)
                    machine.log = []
                result = learn_on_budget(
                    training,
                    machine,
                    max_iter=self.max_iter,
                    max_updates=self.max_updates,
                    order=self.order,
                    seed=seed,
                )
            if self.trace:
                result = replace(result, trace=machine.trace(training))
                if isinstance(machine, BudgetedSupport):
                    machine.log = None
            self.classes_ = classes
            self._fitted_as = self._fixed_parameters()
            self._rows_seen = rows.n_rows
            self._counts: Ints | None = result.mistake_counts
            self._store(machine, result)
        if not result.separated:
            free = "" if self.fit_intercept else ", fit_intercept=False"
            question = f"sx.separability(X, y, kernel=...{free})"
            budget, average = self.budget is not None, bool(self.average)
            warnings.warn(not_separated(result, question, average=average, budget=budget), stacklevel=2)
        return self

    @available_if(_knows_rows_to_come)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> KernelPerceptron:
        """Visit each row once, in order, and continue from what was learned so far.

        However the rows are divided into calls, the mistakes and the support are those of one cyclic pass
        over all of them.

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
        if inputs.is_collection(X):
            inputs.known_classes(self, classes)
            inputs.distributed().learn(self, X, y, classes, None)
            return self
        with inputs.unchanged_on_error(self):
            self._check_parameters()
            first = not hasattr(self, "classes_")
            known = inputs.known_classes(self, classes)
            rows, known, _ = inputs.read_training(self, X, y, None, classes=known, reset=first)
            if not first and self._fixed_parameters() != self._fitted_as:
                raise InputError(
                    "The kernel and its parameters, fit_intercept, average and budget must stay as they were "
                    "in the first call; other ones need a new model."
                )
            training, similarity = self._training(rows, known, balanced=False)
            if first:
                self.classes_, self._rows_seen = known, 0
                self._fitted_as = self._fixed_parameters()
                self._counts = None if self.budget else np.zeros(0, dtype=np.int64)
                machine = self._new_machine(similarity, rows.n_classes)
            else:
                machine = self._machine.fork()
            if isinstance(machine, Expansion):
                run = KernelRun(
                    training,
                    machine,
                    max_iter=1,
                    max_updates=None,
                    memory_limit=self.memory_limit,
                    first_row=self._rows_seen,
                    remember=False,
                )
                run.one_pass(np.arange(training.size))
                result = run.result(Status.ONLINE, "cyclic")
            else:
                result = learn_on_budget(training, machine, max_iter=1, first_row=self._rows_seen)
            self._rows_seen += training.size
            self._store(machine, result)
            if self.budget is not None:
                self._counts = None
        return self

    def _scores(self, X: Any) -> Floats:
        rows = read_rows(self, X, lift=False)
        _ = rows.squared_norms  # names a value that is not finite
        matrix, machine = rows.matrix, self._machine
        dtype = np.dtype(self.dtype)
        step = max(1, BLOCK_VALUES // max(1, machine.size))
        parts = [matrix[start : start + step] for start in range(0, matrix.shape[0], step)]
        left = (machine.similarity.side(part, dtype) for part in parts)
        if self._fitted_as["average"] == "voted" and isinstance(machine, Expansion):
            return shares_of(np.concatenate([machine.votes(each, dtype) for each in left]), machine.visits)
        return scores_of(np.concatenate([machine.outputs(each, self.dual_coef_, dtype) for each in left]))

    @property
    def mistake_counts_(self) -> Ints:
        """The number of updates on each training row."""
        if not hasattr(self, "_counts"):
            raise AttributeError("mistake_counts_ exists after fit or partial_fit.")
        if self._counts is None:
            raise AttributeError(
                "mistake_counts_ is not kept by partial_fit with a budget: it would grow with the rows. "
                "mistakes_ is their sum."
            )
        if self._rows_seen == self._counts.size or not isinstance(self._machine, Expansion):
            return self._counts
        machine = self._machine
        slots = machine.updates[: machine.made, 0]
        return np.bincount(machine.rows[slots], minlength=self._rows_seen).astype(np.int64)

    def _store(self, machine: Expansion | BudgetedSupport, result: KernelResult) -> None:
        self._machine, self.result_ = machine, result
        self.support_ = machine.rows[: machine.size].copy()
        self.support_vectors_ = machine.anchors.part(0, machine.size) if machine.size else np.zeros((0, 0))
        self.dual_coef_ = machine.coef[: machine.size].copy()
        if self._fitted_as["average"] == "averaged" and isinstance(machine, Expansion):
            self.dual_coef_ = machine.averaged()
        self.mistakes_ = machine.made
        self.n_iter_ = result.passes
        self.converged_ = result.separated

    def _fixed_parameters(self) -> dict[str, Any]:
        names = ("kernel", "gamma", "degree", "coef0", "fit_intercept", "average", "budget")
        fixed = {name: getattr(self, name) for name in names}
        average = "averaged" if self.average is True else self.average
        return fixed | {"average": average, "fit_intercept": bool(self.fit_intercept)}

    def _training(
        self, rows: MemoryRows, classes: NDArray[Any], *, balanced: bool = True
    ) -> tuple[TrainingRows, Similarity]:
        if not balanced:
            need_weights_by_class(self)
        _ = rows.squared_norms  # names a value that is not finite
        matrix = rows.matrix
        if not balanced and isinstance(self.gamma, str):
            raise InputError(
                f"gamma={self.gamma!r} is computed from all rows at once, which partial_fit never sees.",
                remedy="Pass a number.",
                parameter="gamma",
            )
        self.kernel_ = kernels.tuned(self.kernel, matrix, self.gamma, self.degree, self.coef0)
        similarity = Similarity(self.kernel_, bool(self.fit_intercept))
        if kernels.is_precomputed(self.kernel):
            matrix = kernels.check_gram(matrix)
        given = self.class_weight
        weights = None if given is None else inputs.class_weights(given, classes, rows)
        members = rows.order.astype(np.int64)
        return training_rows(similarity, matrix, rows.labels, rows.n_classes, weights, members), similarity

    def _new_machine(self, similarity: Similarity, n_classes: int) -> Expansion | BudgetedSupport:
        if self.budget is None:
            return Expansion(similarity, n_classes)
        return BudgetedSupport(similarity, n_classes, int(self.budget))

    def _check_parameters(self) -> None:
        inputs.check_parameters(self, order=ORDERS, average=AVERAGES, dtype=DTYPES)
        if self.budget is not None and self.budget < 2:
            raise InputError(
                "The 'budget' parameter of KernelPerceptron must be at least 2: with one row no two classes "
                f"can be told apart. Got {self.budget!r} instead."
            )
        if self.budget is not None and self.average:
            raise InputError(
                "budget and average cannot be combined: the mean of all weights needs every row that was "
                "ever in the support. Choose one of the two."
            )
