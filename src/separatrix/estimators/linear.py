"""The perceptron in its primal form, as a scikit-learn classifier."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from .. import inputs
from ..errors import InputError
from ..perceptron.learner import Learner, steps_of
from ..perceptron.mixing import MIXINGS
from ..perceptron.orders import AVERAGES, ORDERS, solve_perceptron
from ..perceptron.passes import learn_once
from ..perceptron.voting import Voters, gather_voters, join_voters
from ..progress import spoken
from ..result import Floats, Ints, Result, Status
from ..rows.memory import MemoryRows, lightly
from ..rows.protocol import Rows
from .decision import Decision, linear_scores, need_weights_by_class, not_separated, read_rows, shares_of


class Perceptron(Decision, ClassifierMixin, BaseEstimator):
    """Rosenblatt's perceptron, which stops when it is done and says what it did.

    Every mistake adds the misclassified row to the weights; a tie is a mistake. If the classes can
    be separated and no limit comes first, the run ends with weights that separate them. From zero weights,
    without renormalising and with one weight for all rows, that takes at most ``(R / margin)**2`` mistakes
    with two classes, and twice as many with more (Novikoff 1962), in exact arithmetic and in every order but
    "mixed", of which the notes speak ("working_set" mixes on a cluster). R is the largest norm of a row,
    coordinate of ones included; margins are those of planes through the origin of such rows. More than two
    classes are separated natively: one weight vector a class, corrected against the best wrong class
    (Kesler's construction).

    Parameters
    ----------
    order : {"working_set", "cyclic", "shuffled", "worst", "mixed"}, default="working_set"
        Which mistake is corrected next. "working_set" learns on few rows and reads all the data
        only to find the rows that are most wrong (of rows on a cluster it mixes shards first, and again
        as long as many rows are wrong); "cyclic" and "shuffled" pass over all rows;
        "worst" corrects the most violated row and scans all rows again; "mixed" lets shards of the
        rows pass side by side and mixes their weights after each pass. Averaging and
        renormalising need every row visited in turn: with them "working_set" means "shuffled".
    average : bool, "averaged" or "voted", default=False
        Predict with the last weights, with their mean over every visit (True is the same), or by a vote of
        all weight vectors of the run, each with the visits it survived (Freund and Schapire 1999).
        Both usually serve noisy data better than the last weights do.
    fit_intercept : bool or "lifted", default=True
        Append a coordinate of ones to each row; its weight is the intercept. True and "lifted" mean the same
        here.
    eta0 : float, default=1.0
        Scales every update. From zero weights, in exact arithmetic, it changes neither the mistakes nor the
        predictions; in floats that holds for powers of two, while another rate may round differently.
    init : {"zeros", "random"} or ndarray, default="zeros"
        The first weights; an array has the shape of the weights, intercept last:
        ``(columns + 1,)`` for two classes, ``(classes, columns + 1)`` for more.
    renormalise : bool, default=False
        Scale the weights to length one after each update. Novikoff's bound does not hold then; from zero
        weights and with a small learning rate another one does (see ``mistake_bounds``).
    max_iter : int, default=100
        How often all rows may be read.
    max_updates : int or None, default=None
        How many mistakes may be corrected. With ``order="mixed"`` they are counted after each epoch.
    shards : int or None, default=None
        With ``order="mixed"``: into how many pieces of consecutive rows the rows are cut; None means eight.
        The outcome depends on it, but not on how many threads there are. Rows on a cluster are
        in shards already: their partitions.
    mixing : {"mistakes", "even"}, default="mistakes"
        With ``order="mixed"``: whether the weights of a shard count as much as it made mistakes in the
        epoch, or as much as those of any other.
    class_weight : dict, "balanced" or None, default=None
        Scales the updates of each class, in every order.
    trace : bool, default=False
        Keep every update in ``result_.trace``.
    random_state : int, RandomState or None, default=None
        For ``order="shuffled"`` and ``init="random"``.
    warm_start : bool, default=False
        Let ``fit`` go on from the last weights of the call before instead of ``init``; classes and columns
        have to be the same. Mistakes, counts and means are those of the last call.
    verbose : int, default=0
        1 writes the progress of ``fit`` to standard error, five lines a second at most; 2 a line for each
        reading of all rows. With 0, one line is shown on a terminal where it takes more than two seconds.

    Attributes
    ----------
    coef_ : ndarray of shape (1, columns) or (classes, columns)
        Weights: the last ones, or their mean with ``average="averaged"``.
    intercept_ : ndarray of shape (1,) or (classes,)
    classes_ : ndarray
    mistakes_ : int
        Updates made in the whole run: the M of Novikoff's theorem.
    kept_mistakes_ : int
        Updates that led to the weights. They are fewer than ``mistakes_`` where order "working_set" did not
        separate the rows, and earlier weights had fewer errors than the last and were kept.
    mistake_counts_ : ndarray of shape (rows,)
        Updates on each training row that led to the weights; they sum to ``kept_mistakes_``. From zero
        weights, without sample or class weights and without renormalising, ``eta0`` times the sum of
        the signed rows so counted is the last weights, up to rounding (with two classes); with
        ``order="mixed"``, and wherever ``result_.mixed_counts`` is not None, that holds of those.
    n_iter_ : int
        How often all rows were read: passes that learn and scans that do not.
    converged_ : bool
        Whether the last scan of every row found no mistake: the last weights separate the classes.
    result_ : Result
        Status, margin bracket, radius, history, and the trace or cycle if there is one.
    n_features_in_ : int
    feature_names_in_ : ndarray
        Where X had column names that are all text.

    Notes
    -----
    *Sample weights.* A row of weight zero is as if absent. In the orders that visit every row, and
    in ``partial_fit``, a weight scales the row's update. The orders that pick the worst row return
    to each row as often as it needs, so a row given twice changes nothing there, and neither does
    its weight; to make one class count more, use ``class_weight``.

    *More than two classes.* Half of an update goes to the row's own class and half away from the
    rival, so that two classes would give ``w[1] - w[0]`` equal to the binary weights.

    *Mixing.* With ``order="mixed"``, and on a cluster with "working_set", Novikoff's theorem bounds not the
    mistakes but the sum of ``result_.mixed_counts``, in which a mistake counts as much as the weights of its
    shard did (McDonald, Hall and Mann 2010): with even mixing, the mistakes divided by the number of shards.
    With mixing by mistakes, at most ``(R / margin)**2`` epochs make mistakes (twice that with more than two
    classes).

    References
    ----------
    Novikoff, A. B. J. (1962). On convergence proofs on perceptrons. Symposium on the Mathematical
    Theory of Automata 12, 615-622.
    Freund, Y. and Schapire, R. E. (1999). Large margin classification using the perceptron
    algorithm. Machine Learning 37, 277-296.
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

    def __init__(
        self,
        *,
        order: str = "working_set",
        average: str | bool = False,
        fit_intercept: bool | str = True,
        eta0: float = 1.0,
        init: Any = "zeros",
        renormalise: bool = False,
        max_iter: int = 100,
        max_updates: int | None = None,
        shards: int | None = None,
        mixing: str = "mistakes",
        class_weight: Any = None,
        trace: bool = False,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        self.order = order
        self.average = average
        self.fit_intercept = fit_intercept
        self.eta0 = eta0
        self.init = init
        self.renormalise = renormalise
        self.max_iter = max_iter
        self.max_updates = max_updates
        self.shards = shards
        self.mixing = mixing
        self.class_weight = class_weight
        self.trace = trace
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose

    _first_weights: Floats | None = None  # of a warm start
    _lifted: bool
    _averaged: str | bool
    _average_sum: Floats | None

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
            rows = lightly(rows)
            visits = self.order in ("cyclic", "shuffled", "mixed") or bool(self.average) or self.renormalise
            seed = self._generator(shuffles=visits and self.order in ("shuffled", "working_set"))
            start = self._start(rows, seed) if warm is None else self._go_on(warm, rows, classes)
            self._first_weights = None if warm is None else start
            weights = self._row_weights(rows, classes, sample_weight if visits else None)
            result = solve_perceptron(
                rows,
                order=self.order,
                max_iter=self.max_iter,
                max_updates=self.max_updates,
                eta0=self.eta0,
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
            self._store(result, lifted=rows.lifted, mistakes=result.mistakes, kept=result.kept_mistakes)
            self._counts, self._rows_seen = result.mistake_counts, rows.n_rows
            self._mistakes_online: list[Ints] = []
            self._longest = result.radius
        if not self.converged_:
            question = f"sx.separability(X, y{'' if rows.lifted else ', fit_intercept=False'})"
            warnings.warn(not_separated(result, question, average=bool(self.average)), stacklevel=2)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Perceptron:
        """Visit each row once, in order, going on from what was learnt so far.

        However the rows are cut into calls, the weights, mistakes and counts are those of one
        cyclic pass over all of them, bit by bit.

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
            if not first and (self._lifted, self._averaged) != (rows.lifted, self._mean):
                raise InputError(
                    "fit_intercept and average must stay as they were in the first call. Got "
                    f"fit_intercept={self.fit_intercept} and average={self.average!r} instead of "
                    f"{self._lifted} and {self._averaged!r}; other ones need a new model."
                )
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
                visits=self._visits,
                averaging=self._mean == "averaged",
                logging=self._mean == "voted",
            )
            if self._mean == "averaged" and not first:
                learner.tally.average[...] = self._average_sum
            self._store_online(learn_once(learner, rows), learner, rows)
        return self

    def decision_function(self, X: Any) -> Floats:
        """Signed scores: of the last class for two classes, of each class for more.

        With ``average="voted"`` the scores are the shares of the vote (for two classes, the
        difference of the two shares).
        """
        check_is_fitted(self)
        if inputs.is_collection(X):
            mapped: Floats = inputs.distributed().mapped(self, "decision_function", X)
            return mapped
        rows = read_rows(self, X, lift=self._lifted)
        if self._voters is not None:
            votes = self._voters.tally(rows.matrix, rows)
            _ = rows.squared_norms  # names a value that is not finite
            return shares_of(votes, int(self._voters.survivals.sum()))
        weights = self.coef_ if not self._lifted else np.column_stack([self.coef_, self.intercept_])
        return linear_scores(rows, weights)

    @property
    def mistake_counts_(self) -> NDArray[np.int64]:
        """Updates on each training row that led to the weights."""
        if not hasattr(self, "_counts"):
            raise AttributeError("mistake_counts_ is there after fit or partial_fit.")
        if self._rows_seen == self._counts.size:
            return self._counts
        counts = np.zeros(self._rows_seen, dtype=np.int64)
        counts[: self._counts.size] = self._counts
        np.add.at(counts, np.concatenate(self._mistakes_online) // self._rivals, 1)
        return counts

    def _ledger(self) -> Ints:
        """Updates on each row of all calls of ``partial_fit``, against each rival: shape (rows, rivals)."""
        counts = np.zeros((self._rows_seen, self._rivals), dtype=np.int64)
        made = np.concatenate([np.empty(0, dtype=np.int64), *self._mistakes_online])
        np.add.at(counts.reshape(-1), made, 1)
        return counts

    @property
    def _rivals(self) -> int:
        return 1 if len(self.classes_) <= 2 else len(self.classes_)

    def _check_parameters(self) -> None:
        inputs.need_choice(self, "order", ORDERS)
        inputs.need_choice(self, "average", AVERAGES)
        inputs.need_positive(self, "eta0")
        inputs.need_positive(self, "max_iter", whole=True)
        inputs.need_positive(self, "max_updates", whole=True, optional=True)
        inputs.need_positive(self, "shards", whole=True, optional=True)
        inputs.need_choice(self, "mixing", MIXINGS)
        for name in ("renormalise", "trace", "warm_start"):
            inputs.need_bool(self, name)
        if self.renormalise and self.average:
            raise InputError(
                "renormalise=True and average cannot be combined: the mean is kept as a sum of updates, "
                "which renormalising rescales. Choose one of the two."
            )

    @property
    def _mean(self) -> str | bool:
        """What is predicted with: scikit-learn's ``average=True`` is the mean."""
        return "averaged" if self.average is True else self.average

    def _go_on(self, warm: tuple[Floats, NDArray[Any]], rows: Rows, classes: NDArray[Any]) -> Floats:
        """The weights of the last fit, if these rows fit them."""
        weights, known = warm
        if weights.shape != rows.weights_shape or not np.array_equal(known, classes):
            raise InputError(
                f"warm_start=True goes on from weights of shape {weights.shape} for the classes "
                f"{known.tolist()}; these rows need shape {rows.weights_shape} for {classes.tolist()}.",
                remedy="Pass rows with the same columns and classes, or set warm_start=False.",
                parameter="warm_start",
            )
        return weights.copy()

    def _generator(self, *, shuffles: bool) -> np.random.Generator | None:
        """Chance, where it is asked for: fresh entropy costs a millisecond."""
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
        self._store(result, lifted=rows.lifted, mistakes=mistakes, kept=kept)
        self._mistakes_online = [*self._mistakes_online, made + self._rows_seen * result.counts.shape[1]]
        self._longest = max(self._longest, result.radius)
        self._rows_seen += rows.n_rows

    def _online_state(self) -> dict[str, NDArray[Any]]:
        """What `partial_fit` needs to go on, as plain arrays."""
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
        """Go on from such a state as if the rows had been seen in this process."""
        weights, sums = state["weights"], state["average_sum"] if self.average else None
        visits, mistakes, seen = state["clock"].tolist()
        self.classes_, self._voters = classes, None
        self._counts, self._mistakes_online, self._rows_seen = (
            np.empty(0, dtype=np.int64),
            [state["mistakes"]],
            seen,
        )
        self._longest = float(state["longest"][0])
        self.n_features_in_ = weights.shape[-1] - int(bool(self.fit_intercept))
        self._store(
            Result(
                status=Status.ONLINE,
                weights=weights,
                counts=np.zeros((0, 1), dtype=np.int64),
                mistakes=0,
                errors=None,
                passes=1,
                radius=0.0,
                margin_lower=-np.inf,
                margin_upper=np.inf,
                history=(),
                order="cyclic",
                visits=visits,
                average=None if sums is None else weights - sums / max(1, visits),
                average_sum=sums,
            ),
            lifted=bool(self.fit_intercept),
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

    def _store(self, result: Result, *, lifted: bool, mistakes: int, kept: int) -> None:
        self._weights, self._lifted, self._averaged = result.weights, lifted, self._mean
        self._average_sum, self._visits = result.average_sum, result.visits
        shown = np.atleast_2d(result.weights if result.average is None else result.average)
        self.coef_ = shown[:, :-1] if lifted else shown
        self.intercept_ = shown[:, -1] if lifted else np.zeros(shown.shape[0])
        self.result_ = result
        self.mistakes_, self.kept_mistakes_ = mistakes, kept
        self.n_iter_ = result.passes
        self.converged_ = result.status is Status.SEPARATED
