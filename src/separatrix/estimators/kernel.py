"""The perceptron in its dual form, as a scikit-learn classifier: any kernel, with or without a budget."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .. import inputs, kernels
from ..dual.budget import REMOVALS, Budget, learn_on_budget
from ..dual.budget_bound import BudgetBound
from ..dual.expansion import Expansion
from ..dual.kernel_perceptron import ORDERS, KernelRun, solve_kernel_perceptron
from ..dual.similarity import Similarity, TrainingRows, training_rows
from ..dual.trace import check_room, trace_of
from ..errors import InputError
from ..perceptron.orders import AVERAGES
from ..progress import spoken
from ..result import Floats, Ints, KernelResult, Status
from ..rows.memory import MemoryRows, as_rows
from .decision import Decision, need_weights_by_class, not_separated, scores_of, shares_of

DTYPES = ("float64", "float32")
PREDICTED = 1 << 22  # numbers of the block of kernel values that a prediction holds at a time


def _knows_rows_to_come(model: KernelPerceptron) -> bool:
    if model._precomputed():
        raise AttributeError(
            "partial_fit cannot go on with a precomputed kernel: the Gram matrix of rows to come is not "
            "known. Pass the kernel itself, or fit all rows at once."
        )
    return True


class KernelPerceptron(Decision, ClassifierMixin, BaseEstimator):
    """The perceptron in the feature space of a kernel, which it never enters.

    Every mistake adds the misclassified row to the *support*; the output of a row is the sum of its kernel
    values with the support, weighed by how often each was mistaken. A tie is a mistake. More than two
    classes are learnt natively, from one matrix of outputs, by Kesler's construction: a mistake is corrected
    against the class with the largest other output, the first of equal ones. Neither the mistakes
    nor the support depend on how the rows are cut into blocks, or, in ``partial_fit``, into
    calls.

    If the classes can be separated in the feature space, with some margin, and neither a budget nor
    ``max_iter`` nor ``max_updates`` comes first, ``fit`` ends with weights that separate them. Starting
    from zero, as it does, and with no class weights, it makes at most ``(R / margin)**2`` mistakes with two
    classes (Novikoff 1962) and ``2 (R / margin)**2`` with more, in exact arithmetic. R is the largest length
    of an image, with the constant of ``fit_intercept``; the margin is that of weights of length one, all
    classes together.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        A name ("linear", "poly", "rbf", "geometric", "precomputed"), a kernel of `separatrix.kernels`, or a
        function of two matrices that returns their Gram matrix. A function, and a `Kernel` of one's own that
        states no bound of its rounding, is evaluated one row at a time in ``fit`` and ``partial_fit``: that
        is slower, and gives the same mistakes whatever the blocks. A warped kernel's f has to give a row the
        same number whatever rows stand beside it.
    gamma : float, "scale", "auto" or None, default=None
        Of a kernel that is a name, as in `sklearn.svm.SVC`: "rbf" is ``exp(-gamma |x - x'|^2)``, "poly" is
        (gamma <x, x'> + coef0)^degree. None is 1; the default of `SVC` is "scale", which needs all rows at
        once and so cannot be used in ``partial_fit``.
    degree : int or None, default=None
        Of "poly" and "geometric"; None is 3.
    coef0 : float or None, default=None
        Of "poly"; None is 1, where the default of `SVC` is 0.
    fit_intercept : bool or "lifted", default=True
        Use K + 1, the kernel of ``(phi(x), 1)``: with the linear kernel, the perceptron with an intercept.
        True and "lifted" mean the same here.
    order : {"cyclic", "shuffled", "worst"}, default="cyclic"
        Which mistake is corrected next: pass over all rows in turn, or shuffled, or correct the most
        violated row and look at all rows again.
    average : bool, "averaged" or "voted", default=False
        Predict with the last weights, with their mean over every visit (True is the same), or by a vote of
        all weights of the run, each with the visits it survived (Freund and Schapire 1999).
    budget : int or None, default=None
        The largest support, at least 2. None lets it grow with the mistakes.
    removal : {"forgetron", "random", "projection"}, default="forgetron"
        What makes room when the budget is used up: shrink all coefficients and remove the oldest row
        (Dekel, Shalev-Shwartz and Singer 2008), remove a row by chance (Cavallanti, Cesa-Bianchi and Gentile
        2007), or add the projection of the new row to the span of the support (Orabona, Keshet and Caputo
        2009). Shrunk and projected coefficients are rounded: of outputs that are equal in exact arithmetic,
        rounding decides which is the largest. See ``budget_bound_``.
    max_iter : int, default=100
        How often all rows may be read.
    max_updates : int or None, default=None
        How many mistakes may be corrected.
    class_weight : dict, "balanced" or None, default=None
        Scales the updates of each class.
    dtype : {"float64", "float32"}, default="float64"
        The arithmetic of predictions of many rows, which float32 makes faster. ``fit`` always computes in
        float64.
    memory_limit : float, default=1e9
        Bytes for blocks of kernel values. The support, and one number for each row and class, come on top.
    random_state : int, RandomState or None, default=None
        For ``order="shuffled"`` and ``removal="random"``.
    trace : bool, default=False
        Keep every update of ``fit`` in ``result_.trace``.
    verbose : int, default=0
        1 writes the progress of ``fit`` to standard error, five lines a second at most; 2 every line there
        is. With 0, one line is shown on a terminal where it takes more than two seconds.

    Attributes
    ----------
    support_ : ndarray of shape (support,)
        The rows that were ever mistaken (with a budget: those kept), by their number among all rows seen.
    support_vectors_ : ndarray or CSR array of shape (support, columns)
        Those rows; for a precomputed kernel, their numbers.
    dual_coef_ : ndarray of shape (support, 1) or (support, classes)
        What each row of the support adds to the output of each class: of the last weights, or of their mean
        with ``average="averaged"``.
    kernel_ : Kernel
        The kernel with its parameters.
    classes_ : ndarray
    mistakes_ : int
        Updates made: the M of the mistake bounds.
    mistake_counts_ : ndarray of shape (rows,)
        Updates on each training row; they sum to ``mistakes_``. Not kept by ``partial_fit`` with a budget,
        whose memory is not to grow with the rows.
    n_iter_ : int
        How often all rows were read.
    converged_ : bool
        Whether the last pass found no mistake: the weights separate the classes.
    result_ : KernelResult
        Status, counts, margin bracket, radius and history.
    budget_bound_ : BudgetBound or None
        Mistake bounds of the way of removal: one that this run's own sums give, and the published one where
        it applies; ``budget_bound_.summary()`` says both.
    n_features_in_ : int
    feature_names_in_ : ndarray
        Where X had column names that are all text.

    Notes
    -----
    Sample weights are zero or one, and given by keyword: a row of weight zero is as if absent. Other weights
    are refused. scikit-learn asks of them that a row of weight two be the same as the row given twice,
    wherever it stands, but which rows are mistaken depends on the order of the visits. Class weights scale
    the updates.

    References
    ----------
    Freund, Y. and Schapire, R. E. (1999). Large margin classification using the perceptron algorithm. Machine
    Learning 37, 277-296.

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], ["same", "same", "other", "other"]
    >>> model = sx.KernelPerceptron(kernel=sx.kernels.Polynomial(degree=2)).fit(X, y)
    >>> model.converged_, model.predict([[1, 0]])
    (True, array(['other'], dtype='<U5'))
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: Any = None,
        degree: int | None = None,
        coef0: float | None = None,
        fit_intercept: bool | str = True,
        order: str = "cyclic",
        average: str | bool = False,
        budget: int | None = None,
        removal: str = "forgetron",
        max_iter: int = 100,
        max_updates: int | None = None,
        class_weight: Any = None,
        dtype: str = "float64",
        memory_limit: float = 1e9,
        random_state: Any = None,
        trace: bool = False,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.order = order
        self.average = average
        self.budget = budget
        self.removal = removal
        self.max_iter = max_iter
        self.max_updates = max_updates
        self.class_weight = class_weight
        self.dtype = dtype
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.trace = trace
        self.verbose = verbose

    _machine: Expansion | Budget
    _counts: Ints | None

    def __sklearn_tags__(self) -> Any:
        """Say when X is a Gram matrix, and what may score poorly.

        A budget may be too small, and where classes overlap the worst row is an outlier.
        """
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self.budget is not None or self.order == "worst"
        tags.input_tags.pairwise = self._precomputed()
        return tags

    def fit(self, X: Any, y: Any, **weights: Any) -> KernelPerceptron:
        """Learn from all rows until they are separated or a limit is met.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (rows, columns)
            Any real type. For a precomputed kernel, the square Gram matrix of the training rows.
        y : array of shape (rows,)
            Class labels.
        **weights
            ``sample_weight``, an array of zeros and ones: rows of weight zero are left out. It is not in the
            signature, where scikit-learn would take it for the promise of any weights.

        Returns
        -------
        self
        """
        with inputs.unchanged_on_error(self), spoken(inputs.need_count(self, "verbose")):
            self._check_parameters()
            rows, classes, counted = inputs.read_training(self, X, y, _only_weights(weights))
            _need_zeros_and_ones(counted)
            training, similarity = self._training(rows, classes)
            seed = self._generator()
            machine: Expansion | Budget
            if self.budget is None:
                machine = expansion = Expansion(similarity, rows.n_classes)
                result = solve_kernel_perceptron(
                    training,
                    expansion,
                    order=self.order,
                    max_iter=self.max_iter,
                    max_updates=self.max_updates,
                    memory_limit=self.memory_limit,
                    seed=seed,
                )
            else:
                machine = self._new_budget(similarity, rows.n_classes, seed)
                if self.trace:
                    check_room(self.budget, machine.columns, self.max_updates, rows.n_rows, self.max_iter)
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
                result = replace(result, trace=trace_of(machine, training))
                if isinstance(machine, Budget):
                    machine.log = None
            self.classes_ = classes
            self._fitted_as = self._fixed_parameters()
            self._rows_seen, self._counts = rows.n_rows, result.mistake_counts
            self._store(machine, result)
        self._warn_unless_converged(result)
        return self

    @available_if(_knows_rows_to_come)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> KernelPerceptron:
        """Visit each row once, in order, going on from what was learnt so far.

        However the rows are cut into calls, the mistakes and the support are those of one cyclic pass over
        all of them.

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
                    "The kernel and its parameters, fit_intercept, average, budget and removal must stay as "
                    "they were in the first call; other ones need a new model."
                )
            training, similarity = self._training(rows, known, balanced=False)
            if first:
                self.classes_, self._rows_seen = known, 0
                self._fitted_as = self._fixed_parameters()
                self._counts = None if self.budget else np.zeros(0, dtype=np.int64)
                n_classes = rows.n_classes
                machine = (
                    Expansion(similarity, n_classes)
                    if self.budget is None
                    else self._new_budget(similarity, n_classes, self._generator())
                )
            else:
                machine = self._machine.fork()
            if isinstance(machine, Expansion):
                result = self._online(training, machine)
            else:
                result = learn_on_budget(training, machine, max_iter=1, first_row=self._rows_seen)
            self._rows_seen += training.size
            self._store(machine, result)
            if self.budget is not None:
                self._counts = None
        return self

    def _online(self, training: TrainingRows, machine: Expansion) -> KernelResult:
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
        return run.result(Status.ONLINE, "cyclic")

    def decision_function(self, X: Any) -> Floats:
        """Outputs: of the last class for two classes, of each class for more.

        With ``average="voted"`` they are the shares of the vote (for two classes, the difference of the two
        shares).
        """
        check_is_fitted(self)
        if inputs.is_collection(X):
            mapped: Floats = inputs.distributed().mapped(self, "decision_function", X)
            return mapped
        matrix = inputs.read_matrix(self, X, reset=False)
        self._check_finite(matrix)
        machine = self._machine
        dtype = np.dtype(self.dtype)
        step = max(1, PREDICTED // max(1, machine.size))
        parts = [matrix[start : start + step] for start in range(0, matrix.shape[0], step)]
        left = (machine.similarity.side(part, dtype) for part in parts)
        if self._fitted_as["average"] == "voted" and isinstance(machine, Expansion):
            return shares_of(np.concatenate([machine.votes(each, dtype) for each in left]), machine.visits)
        return scores_of(np.concatenate([machine.outputs(each, self.dual_coef_, dtype) for each in left]))

    @property
    def mistake_counts_(self) -> Ints:
        """Updates on each training row."""
        if not hasattr(self, "_counts"):
            raise AttributeError("mistake_counts_ is there after fit or partial_fit.")
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

    def _store(self, machine: Expansion | Budget, result: KernelResult) -> None:
        self._machine, self.result_ = machine, result
        self.support_ = machine.rows[: machine.size].copy()
        self.support_vectors_ = machine.anchors.part(0, machine.size) if machine.size else np.zeros((0, 0))
        self.dual_coef_ = machine.coef[: machine.size].copy()
        if self._fitted_as["average"] == "averaged" and isinstance(machine, Expansion):
            self.dual_coef_ = machine.averaged()
        self.mistakes_ = machine.made
        self.n_iter_ = result.passes
        self.converged_ = result.separated
        self.budget_bound_: BudgetBound | None = machine.bound() if isinstance(machine, Budget) else None

    def _precomputed(self) -> bool:
        return isinstance(self.kernel, kernels.Precomputed) or (
            isinstance(self.kernel, str) and self.kernel == "precomputed"
        )

    def _fixed_parameters(self) -> dict[str, Any]:
        names = ("kernel", "gamma", "degree", "coef0", "fit_intercept", "average", "budget", "removal")
        fixed = {name: getattr(self, name) for name in names}
        average = "averaged" if self.average is True else self.average
        return fixed | {"average": average, "fit_intercept": bool(self.fit_intercept)}

    def _training(
        self, rows: MemoryRows, classes: NDArray[Any], *, balanced: bool = True
    ) -> tuple[TrainingRows, Similarity]:
        if not balanced:
            need_weights_by_class(self)
        _ = rows.squared_norms  # names a value that is not finite
        matrix, all_count = rows.matrix, rows.order.size == rows.n_rows
        if not balanced and isinstance(self.gamma, str):
            raise InputError(
                f"gamma={self.gamma!r} is computed from all rows at once, which partial_fit never sees.",
                remedy="Pass a number.",
                parameter="gamma",
            )
        counted = matrix if all_count or not isinstance(self.gamma, str) else matrix[rows.order]
        self.kernel_ = kernels.tuned(self.kernel, counted, self.gamma, self.degree, self.coef0)
        similarity = Similarity(self.kernel_, bool(self.fit_intercept))
        if self._precomputed():
            matrix = kernels.check_gram(matrix)
        given = self.class_weight
        weights = None if given is None else inputs.class_weights(given, classes, rows)
        members = rows.order.astype(np.int64)
        return training_rows(similarity, matrix, rows.labels, rows.n_classes, weights, members), similarity

    def _new_budget(self, similarity: Similarity, n_classes: int, seed: Any) -> Budget:
        return Budget(similarity, n_classes, size=int(self.budget or 0), removal=self.removal, seed=seed)

    def _check_finite(self, matrix: Any) -> None:
        labels = np.zeros(matrix.shape[0], dtype=np.int32)
        _ = as_rows(matrix, labels, names=inputs.column_names(self)).squared_norms

    def _check_parameters(self) -> None:
        inputs.need_choice(self, "order", ORDERS)
        inputs.need_choice(self, "average", AVERAGES)
        inputs.need_choice(self, "removal", REMOVALS)
        inputs.need_choice(self, "dtype", DTYPES)
        inputs.need_positive(self, "max_iter", whole=True)
        inputs.need_positive(self, "max_updates", whole=True, optional=True)
        inputs.need_positive(self, "budget", whole=True, optional=True)
        inputs.need_positive(self, "memory_limit")
        inputs.need_bool(self, "trace")
        if self.budget is not None and self.budget < 2:
            raise InputError(
                "The 'budget' parameter of KernelPerceptron must be at least 2: with one row no two classes "
                f"can be told apart. Got {self.budget!r} instead."
            )
        if self.order == "worst" and (self.average or self.budget is not None):
            raise InputError(
                "Averaging and a budget need an order that visits every row: 'cyclic' or 'shuffled'. Got "
                "'worst' instead.",
                parameter="order",
            )
        if self.budget is not None and self.average:
            raise InputError(
                "budget and average cannot be combined: the mean of all weights needs every row that was "
                "ever in the support. Choose one of the two."
            )

    def _generator(self) -> np.random.Generator | None:
        chance = self.order == "shuffled" or (self.budget is not None and self.removal == "random")
        return inputs.generator(self.random_state) if chance or self.random_state is not None else None

    def _warn_unless_converged(self, result: KernelResult) -> None:
        if result.separated:
            return
        question = f"sx.separability(X, y, kernel=...{'' if self.fit_intercept else ', fit_intercept=False'})"
        told = not_separated(result, question, average=bool(self.average), budget=self.budget is not None)
        warnings.warn(told, stacklevel=3)


def _only_weights(given: dict[str, Any]) -> Any:
    unknown = sorted(set(given) - {"sample_weight"})
    if unknown:
        raise TypeError(f"KernelPerceptron.fit() got an unexpected keyword argument {unknown[0]!r}")
    return given.get("sample_weight")


def _need_zeros_and_ones(weights: Floats | None) -> None:
    if weights is not None and np.any((weights != 0.0) & (weights != 1.0)):
        row = int(np.flatnonzero((weights != 0.0) & (weights != 1.0))[0])
        raise InputError(
            "The sample weights of KernelPerceptron must be 0 or 1. Got another one",
            needed="Which rows are mistaken depends on the order of the visits, so no weight can stand for a "
            "row that is given more often.",
            remedy="Repeat such rows, or use class_weight=..., or SoftMargin(kernel=...).",
            parameter="sample_weight",
            row=row,
            value=f"{weights[row]:g}",
        )
