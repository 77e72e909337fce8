"""The perceptron in its primal form, as a scikit-learn classifier."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from .. import inputs
from ..errors import InputError
from ..perceptron.learner import Learner, steps_of
from ..perceptron.mixing import MIXINGS
from ..perceptron.orders import AVERAGES, ORDERS, solve_perceptron
from ..perceptron.passes import learn_once
from ..perceptron.voting import Voters, gather_voters, join_voters
from ..progress import spoken
from ..result import Floats, Ints, Result, Status
from ..rows.memory import MemoryRows, lifted_by, lightly
from ..rows.protocol import Rows
from .decision import Decision, linear_scores, need_weights_by_class, not_separated, read_rows, shares_of
from .habits import estimator


@estimator
class Perceptron(Decision, ClassifierMixin, BaseEstimator):
    """Rosenblatt's perceptron for two or more classes, which stops when it separates the training rows.

    Every mistake adds the misclassified row, times ``eta0``, to the weights (a row of the negative class is
    subtracted). A row whose score is zero counts as a mistake.
    If the classes are separable and no limit is reached first, the final weights separate them. With more
    than two classes, there is one weight vector per class, and a mistake is corrected for the row's own
    class and for the wrong class with the highest score (Kesler's construction).

    Novikoff's theorem (1962) bounds the number of mistakes by ``(R / margin)**2`` for two classes, and by
    twice that for more. It holds in exact arithmetic, for a start at zero, without renormalizing, without
    sample or class weights, with ``margin=0``, and for every order except "mixed" (see the notes). R is the
    norm of the longest row. R and the margin are those of the rows with a constant column, if there is an
    intercept.

    Parameters
    ----------
    order : {"working_set", "cyclic", "shuffled", "worst", "mixed", "interleaved"}, default="working_set"
        Which mistake is corrected next. "working_set" learns on a few rows, and scans all rows only to find
        those with the lowest scores. "cyclic", "shuffled" and "interleaved" pass over all rows; the last
        reads a few rows from each of many places in turn, which is faster than a shuffle. "worst" corrects
        the row with the lowest score, and then scans all rows again. "mixed" splits the rows into shards
        that are processed in parallel, and averages their weights after each pass. On a Dask cluster,
        "working_set" begins with passes of the order "mixed", and repeats them as long as many rows are
        wrong. With ``average`` or ``renormalise``, every row must be visited in turn, so "working_set" is
        replaced by "shuffled" for up to 2,000 rows, and by "interleaved" for more.
    average : bool, "averaged" or "voted", default=False
        How to predict: with the last weights (False), with the mean of the weights over all visits
        ("averaged" or True), or by a vote of all weight vectors of the run, each weighted by the number of
        visits that it survived ("voted"; Freund and Schapire 1999). The last two often predict better if
        classes overlap.
    fit_intercept : bool or "lifted", default=True
        Whether to append a constant column, whose weight is the intercept. True and "lifted" mean the same
        here.
    intercept_scaling : float, default=1.0
        The constant s of this column, as in scikit-learn's `LinearSVC`. A mistake then changes the intercept
        by ``eta0 * s**2``. For a separator at distance b from the origin with margin g, the bound on the
        mistakes is ``(R**2 + s**2) * (1 + b**2 / s**2) / g**2``, where R is the norm of the longest row
        without the column; if b is not zero, it is smallest at ``s = sqrt(R * |b|)``.
    eta0 : float, default=1.0
        The learning rate, which scales every update. From zero weights and in exact arithmetic, it changes
        neither the mistakes nor the predictions. In floating point, this holds if it is a power of two.
    init : {"zeros", "random"} or ndarray, default="zeros"
        The initial weights. With an intercept, which is last, an array has the shape ``(columns + 1,)`` for
        two classes, or ``(classes, columns + 1)`` for more. Without an intercept, it has one column less. The
        last number is the weight of the constant column: the intercept divided by ``intercept_scaling``.
    renormalise : bool, default=False
        Scale the weights to length one after each update. Novikoff's bound does not hold then; another bound
        holds for a start at zero and a small learning rate (see ``mistake_bounds``).
    margin : float, default=0.0
        Correct every row whose score is at most this number b, not only mistakes (a mistake has a score of
        zero or less). The updates are then at most ``(R**2 + 2 * b / eta0) / gamma**2``, where gamma is the
        best margin, and the final weights have at least the margin ``gamma * b / (eta0 * R**2 + 2 * b)``,
        which tends to half of the best as b grows. This holds under the conditions of Novikoff's theorem, for
        two classes, if the run converges; ``mistake_bounds`` has the bounds for more classes. Every row must
        be visited in turn, so "working_set" is replaced as with ``average``; "mixed" cannot be used.
    max_iter : int, default=100
        The maximum number of times that all rows are read: in passes, which correct mistakes, and in scans,
        which only compute scores.
    max_updates : int or None, default=None
        The maximum number of mistakes. With ``order="mixed"`` it is checked after each epoch.
    n_iter_no_change : int or None, default=3
        When to stop on classes that overlap; None switches the rule off. The run ends if the last k
        passes or scans found at least 90 % as many wrong rows as the k before them, and it is proved that no
        margin is larger than 0.0005 times R; k is this number, or a third of all passes if that is more. If
        the margin is larger, the run is never stopped, rounding errors aside; it may be stopped on classes
        that are separable with a smaller margin. With ``average``, no separator is needed: the run ends if
        the last k passes, as many as this number, found at most 5 % fewer wrong rows than the k before them,
        or at most a thousandth of the rows fewer per pass, and those k before them found at least 50.
    shards : int or None, default=None
        The number of shards for ``order="mixed"``; each is a block of consecutive rows. None means eight.
        The result depends on this number, but not on the number of threads. On a cluster, the shards are the
        partitions.
    mixing : {"mistakes", "even"}, default="mistakes"
        How ``order="mixed"`` weights the shards when it averages: in proportion to their mistakes in the
        epoch, or equally.
    class_weight : dict, "balanced" or None, default=None
        Factors for the updates of each class, in every order.
    trace : bool, default=False
        Keep every update in ``result_.trace``.
    random_state : int, RandomState or None, default=None
        The seed for the orders "shuffled" and "interleaved", and for ``init="random"``.
    warm_start : bool, default=False
        Start ``fit`` with the weights of the previous call instead of ``init``. The classes and the columns
        must be the same. The mistakes, their counts and the averaged weights are those of the last call.
    verbose : int, default=0
        1 writes the progress of ``fit`` to standard error, at most five lines per second. 2 writes one line
        per pass or scan. 0 shows a single line on a terminal if ``fit`` takes more than two seconds.

    Attributes
    ----------
    coef_ : ndarray of shape (1, columns) or (classes, columns)
        The last weights, or their mean with ``average="averaged"``.
    intercept_ : ndarray of shape (1,) or (classes,)
    classes_ : ndarray
    mistakes_ : int
        The number of updates in the whole run: the M of Novikoff's theorem.
    kept_mistakes_ : int
        The number of updates that led to the weights. It is smaller than ``mistakes_`` only if order
        "working_set" ended without a separator and returned earlier weights with fewer errors.
    mistake_counts_ : ndarray of shape (rows,)
        The number of updates on each training row that led to the weights; the sum is ``kept_mistakes_``.
        From zero weights, with two classes, without sample or class weights and without renormalizing, the
        last weights are ``eta0`` times the sum of the signed rows, each times its count, up to rounding. A
        signed row is the row times 1 or -1, depending on its class. If ``result_.mixed_counts`` is not None,
        this holds for those counts instead.
    n_iter_ : int
        The number of passes over, and scans of, all rows.
    converged_ : bool
        Whether the last scan of all rows found no mistake, so that the last weights separate the classes;
        with a ``margin``, whether every score is above it.
        After ``partial_fit`` it is always False, because the rows were not read again.
    result_ : Result
        The status, the margin bracket, the radius, the history, and the trace or cycle if there is one.
    n_features_in_ : int
    feature_names_in_ : ndarray
        The names of the columns of X, if all of them are strings.

    Notes
    -----
    *Sample weights.* A row with weight zero is left out. In the orders that visit every row, and in
    ``partial_fit``, the weight scales the row's update. The orders "working_set" and "worst" return to a row
    as often as necessary, so repeated rows and positive weights do not change their result. To give one
    class more influence, use ``class_weight``.

    *More than two classes.* An update adds half of the row to the weights of its own class, and subtracts
    half of it from those of the wrong class. With two classes, ``w[1] - w[0]`` would then be the binary
    weights.

    *Mixing.* With ``order="mixed"``, and on a cluster with "working_set", Novikoff's theorem bounds the sum
    of ``result_.mixed_counts`` instead of the number of mistakes. In this sum, each mistake is multiplied by
    the share of its shard in the average (McDonald, Hall and Mann 2010). With even mixing, the sum is the
    number of mistakes divided by the number of shards. With mixing by mistakes, at most ``(R / margin)**2``
    epochs have mistakes (twice that for more than two classes).

    References
    ----------
    Novikoff, A. B. J. (1962). On convergence proofs on perceptrons. Symposium on the Mathematical
    Theory of Automata 12, 615-622.
    Freund, Y. and Schapire, R. E. (1999). Large margin classification using the perceptron
    algorithm. Machine Learning 37, 277-296.
    Krauth, W. and Mezard, M. (1987). Learning algorithms with optimal stability in neural networks. Journal
    of Physics A 20, L745-L752.
    McDonald, R., Hall, K. and Mann, G. (2010). Distributed training strategies for the structured
    perceptron. Proceedings of NAACL-HLT, 456-464.

    Examples
    --------
    >>> import separatrix as sx
    >>> X = [[2.0, 1.0], [1.0, 3.0], [-1.0, -2.0], [-2.0, 0.5]]
    >>> y = ["yes", "yes", "no", "no"]
    >>> model = sx.Perceptron().fit(X, y)
    >>> model.converged_, model.mistakes_
    (True, 2)
    >>> model.predict([[3.0, 3.0]])
    array(['yes'], dtype='<U3')
    """

    _: KW_ONLY
    order: str = "working_set"
    average: str | bool = False
    fit_intercept: bool | str = True
    intercept_scaling: float = 1.0
    eta0: float = 1.0
    init: Any = "zeros"
    renormalise: bool = False
    margin: float = 0.0
    max_iter: int = 100
    max_updates: int | None = None
    n_iter_no_change: int | None = 3
    shards: int | None = None
    mixing: str = "mistakes"
    class_weight: Any = None
    trace: bool = False
    random_state: Any = None
    warm_start: bool = False
    verbose: int = 0

    _constant = 1.0  # of the last fit, and of models in older files

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Perceptron:
        """Learn from all rows until they are separated or a limit is met.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (rows, columns)
            Any real type; it is read in place.
        y : array of shape (rows,)
            Class labels.
        sample_weight : array of shape (rows,), optional
            See the notes of the class; rows of weight zero are left out.

        Returns
        -------
        self
        """
        with inputs.unchanged_on_error(self), spoken(inputs.need_count(self, "verbose")):
            self._check_parameters()
            warm = (self._weights, self.classes_) if self.warm_start and hasattr(self, "_weights") else None
            rows, classes, sample_weight = inputs.read_training_anywhere(self, X, y, sample_weight)
            if self._lift() != 1.0:
                rows = lifted_by(inputs.need_memory(self, rows), self._lift())
            rows = lightly(rows)
            visits = self.order not in ("working_set", "worst") or bool(
                self.average or self.renormalise or self.margin
            )
            seed = self._generator(
                shuffles=visits and self.order in ("shuffled", "interleaved", "working_set")
            )
            start = self._start(rows, seed) if warm is None else self._go_on(warm, rows, classes)
            self._first_weights: Floats | None = None if warm is None else start
            weights = self._row_weights(rows, classes, sample_weight if visits else None)
            result = solve_perceptron(
                rows,
                order=self.order,
                max_iter=self.max_iter,
                max_updates=self.max_updates,
                n_iter_no_change=self.n_iter_no_change,
                eta0=self.eta0,
                margin=self.margin,
                row_weights=weights,
                start=start,
                renormalise=self.renormalise,
                average=self._mean,
                trace=self.trace,
                shards=self.shards,
                mixing=self.mixing,
                seed=seed,
            )
            self.classes_ = classes
            self._voters: Voters | None = None
            if result.votes is not None:
                steps = steps_of(rows, self.eta0, weights)
                self._voters = gather_voters(rows, result.votes, steps, start)
            self._store(result, mistakes=result.mistakes, kept=result.kept_mistakes)
            self._counts, self._rows_seen = result.mistake_counts, rows.n_rows
            self._mistakes_online: list[Ints] = []
            self._longest = result.radius
        if not self.converged_:
            question = f"sx.separability(X, y{'' if self._lifted else ', fit_intercept=False'})"
            warnings.warn(not_separated(result, question, average=bool(self.average)), stacklevel=2)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Perceptron:
        """Visit each row once, in order, and continue from what was learned so far.

        However the rows are divided into calls, the weights, mistakes and counts are those of one
        cyclic pass over all of them, bit for bit.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``.
        classes : array, optional
            Every class that will ever be seen; needed in the first call.

        Returns
        -------
        self
        """
        if type(X) is not np.ndarray and inputs.is_collection(X):
            inputs.known_classes(self, classes)
            inputs.distributed().learn(self, X, y, classes, sample_weight)
            return self
        with inputs.unchanged_on_error(self):
            self._check_parameters()
            first = not hasattr(self, "classes_")
            known = inputs.known_classes(self, classes)
            rows, known, weights = inputs.read_training(self, X, y, sample_weight, classes=known, reset=first)
            now = rows.lifted, self._mean, self._lift()
            if not first and (self._lifted, self._averaged, self._constant) != now:
                raise InputError(
                    "fit_intercept, average and intercept_scaling must stay as they were in the first call. "
                    f"Got {self.fit_intercept}, {self.average!r} and {self.intercept_scaling} instead of "
                    f"{self._lifted}, {self._averaged!r} and {self._constant}; other ones need a new model."
                )
            rows = lifted_by(rows, self._lift())
            if first:
                self.classes_, self._voters, self._visits = known, None, 0
                self.mistakes_ = self.kept_mistakes_ = 0
                self._weights = self._start(rows, self._generator(shuffles=False))
                self._counts, self._rows_seen, self._mistakes_online = np.empty(0, dtype=np.int64), 0, []
                self._longest = 0.0
            row_weights = self._row_weights(rows, known, weights, balanced=False)
            learner = Learner(
                rows,
                start=self._weights,
                steps=steps_of(rows, self.eta0, row_weights),
                margin=self.margin,
                visits=self._visits,
                averaging=self._mean == "averaged",
                logging=self._mean == "voted",
            )
            if self._mean == "averaged" and not first:
                learner.tally.average[...] = self._average_sum
            self._store_online(learn_once(learner, rows), learner, rows)
        return self

    def _scores(self, X: Any) -> Floats:
        rows = read_rows(self, X, lift=self._lifted)
        if self._voters is not None:
            rows = lifted_by(rows, self._constant)
            votes = self._voters.tally(rows.matrix, rows)
            _ = rows.squared_norms  # names a value that is not finite
            return shares_of(votes, int(self._voters.survivals.sum()))
        weights = self.coef_ if not self._lifted else np.column_stack([self.coef_, self.intercept_])
        return linear_scores(rows, weights)

    @property
    def mistake_counts_(self) -> NDArray[np.int64]:
        """The number of updates on each training row that led to the weights."""
        if not hasattr(self, "_counts"):
            raise AttributeError("mistake_counts_ exists after fit or partial_fit.")
        counts: Ints = self._ledger().sum(axis=1)
        counts[: self._counts.size] += self._counts
        return counts

    def _ledger(self) -> Ints:
        """Count the updates on each row of all calls of ``partial_fit``: shape (rows, rivals)."""
        rivals = 1 if len(self.classes_) <= 2 else len(self.classes_)
        counts = np.zeros((self._rows_seen, rivals), dtype=np.int64)
        made = np.concatenate([np.empty(0, dtype=np.int64), *self._mistakes_online])
        np.add.at(counts.reshape(-1), made, 1)
        return counts

    def _check_parameters(self) -> None:
        inputs.check_parameters(self, order=ORDERS, average=AVERAGES, mixing=MIXINGS)
        if self.renormalise and (self.average or self.margin):
            other = "average" if self.average else "margin"
            raise InputError(
                f"renormalise=True and {other} cannot be combined: the mean is a sum of updates, "
                "the margin is a bound on scores, and renormalising rescales both. Choose one of the two.",
                parameter=other,
            )

    @property
    def _mean(self) -> str | bool:
        """How to predict; ``average=True`` means the mean, as in scikit-learn."""
        return "averaged" if self.average is True else self.average

    def _go_on(self, warm: tuple[Floats, NDArray[Any]], rows: Rows, classes: NDArray[Any]) -> Floats:
        """Return the weights of the last fit, if they fit these rows."""
        weights, known = warm
        if weights.shape != rows.weights_shape or not np.array_equal(known, classes):
            raise InputError(
                f"warm_start=True continues from weights of shape {weights.shape} for the classes "
                f"{known.tolist()}; these rows need shape {rows.weights_shape} for {classes.tolist()}.",
                remedy="Pass rows with the same columns and classes, or set warm_start=False.",
                parameter="warm_start",
            )
        started = weights.copy()
        if self._lift() != self._constant:
            started[..., -1] *= self._constant / self._lift()
        return started

    def _lift(self) -> float:
        """Return the constant that is appended to the rows; one if there is no intercept."""
        return float(self.intercept_scaling) if self.fit_intercept else 1.0

    def _generator(self, *, shuffles: bool) -> np.random.Generator | None:
        """Return a generator if one is needed: fresh entropy takes a millisecond."""
        starts = isinstance(self.init, str) and self.init == "random"
        asked = starts or shuffles or self.random_state is not None
        return inputs.generator(self.random_state) if asked else None

    def _start(self, rows: Rows, seed: np.random.Generator | None) -> Floats:
        if isinstance(self.init, str):
            inputs.need_choice(self, "init", ("zeros", "random"))
            if seed is None or self.init == "zeros":
                return np.broadcast_to(0.0, rows.weights_shape)  # takes no memory
            return seed.standard_normal(rows.weights_shape)
        start = np.array(self.init, dtype=np.float64)
        if start.shape != rows.weights_shape or not np.all(np.isfinite(start)):
            raise InputError(
                f"The 'init' parameter of Perceptron must be 'zeros', 'random' or finite weights of shape "
                f"{rows.weights_shape} (the intercept last). Got shape {start.shape} instead.",
                parameter="init",
            )
        return start

    def _row_weights(
        self, rows: Rows, classes: NDArray[Any], scales: Floats | None, *, balanced: bool = True
    ) -> Floats | None:
        if not balanced:
            need_weights_by_class(self)
        if self.class_weight is None:
            return scales
        weights = inputs.class_weights(self.class_weight, classes, rows)
        return weights if scales is None else weights * scales

    def _store_online(self, result: Result, learner: Learner, rows: MemoryRows) -> None:
        if result.votes is not None:
            voters = gather_voters(rows, result.votes, learner.steps, learner.start)
            self._voters = voters if self._voters is None else join_voters(self._voters, voters)
        # In one pass a row is corrected once at most: each count that is not zero is another row's.
        made = np.flatnonzero(result.counts != 0)  # row times rivals, plus rival
        mistakes, kept = self.mistakes_ + made.size, self.kept_mistakes_ + made.size
        self._store(result, mistakes=mistakes, kept=kept)
        self._mistakes_online = [*self._mistakes_online, made + self._rows_seen * result.counts.shape[1]]
        self._longest = max(self._longest, result.radius)
        self._rows_seen += rows.n_rows

    def _online_state(self) -> dict[str, NDArray[Any]]:
        """Return what `partial_fit` needs to continue, as plain arrays."""
        made = np.concatenate([np.empty(0, dtype=np.int64), *self._mistakes_online])
        self._mistakes_online = [made]
        return {
            "weights": self._weights,
            "average_sum": np.empty(0) if self._average_sum is None else self._average_sum,
            "clock": np.array([self._visits, self.mistakes_, self._rows_seen], dtype=np.int64),
            "mistakes": made,
            "longest": np.array([self._longest]),
        }

    def _resume_online(self, state: dict[str, NDArray[Any]], classes: NDArray[Any]) -> None:
        """Continue from a state of `_online_state` as if this process had seen the rows."""
        weights, sums = state["weights"], state["average_sum"] if self.average else None
        visits, mistakes, seen = state["clock"].tolist()
        self.classes_, self._voters, self._counts = classes, None, np.empty(0, dtype=np.int64)
        self._mistakes_online, self._rows_seen = [state["mistakes"]], seen
        self._longest = float(state["longest"][0])
        self.n_features_in_ = weights.shape[-1] - int(bool(self.fit_intercept))
        self._store(
            Result(
                status=Status.ONLINE,
                weights=weights,
                counts=np.zeros((0, 1), dtype=np.int64),
                mistakes=0,
                passes=1,
                order="cyclic",
                visits=visits,
                average=None if sums is None else weights - sums / max(1, visits),
                average_sum=sums,
            ),
            mistakes=mistakes,
            kept=mistakes,
        )

    def _reshape_online(self, first: int, n_columns: int) -> None:
        """Drop columns before ``first`` and grow to ``n_columns``: a column not seen yet has weight zero."""
        state = self._online_state()
        for name in ("weights", "average_sum"):
            old = state[name]
            if old.size:
                lift = int(self._lifted)
                new = np.zeros((*old.shape[:-1], n_columns + lift))
                kept = min(old.shape[-1] - lift - first, n_columns)
                new[..., :kept] = old[..., first : first + kept]
                if lift:
                    new[..., -1] = old[..., -1]
                state[name] = new
        self._resume_online(state, self.classes_)

    def _store(self, result: Result, *, mistakes: int, kept: int) -> None:
        self._weights = result.weights
        self._constant = self._lift()
        lifted = bool(self.fit_intercept)
        self._lifted: bool = lifted
        self._averaged: str | bool = self._mean
        self._average_sum: Floats | None = result.average_sum
        self._visits = result.visits
        shown = np.atleast_2d(result.weights if result.average is None else result.average)
        self.coef_ = shown[:, :-1] if lifted else shown
        self.intercept_ = self._constant * shown[:, -1] if lifted else np.zeros(shown.shape[0])
        if result.trace is not None and self._constant != 1.0:
            in_columns = np.append(np.ones(shown.shape[1] - 1), self._constant)
            trace = result.trace
            shown_trace = replace(trace, weights=trace.weights * in_columns, start=trace.start * in_columns)
            result = replace(result, trace=shown_trace)
        self.result_ = result
        self.mistakes_, self.kept_mistakes_ = mistakes, kept
        self.n_iter_ = result.passes
        self.converged_: bool = result.status is Status.SEPARATED
