"""A run: passes and scans and their records, when to stop, and the `Result` at the end."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..deadline import NEVER, Deadline
from ..errors import InputError
from ..progress import Progress
from ..result import Cycle, Floats, Ints, PassRecord, Result, Status, Trace, margin_text
from ..rows import numpy_loops, threads
from ..rows.protocol import Scan
from .learner import Bracket, Learner, State, normalise
from .passes import make_pass, result_of

TRACE_ROOM = 1 << 31  # bytes that the weights after each update may take
FEW_PASSES = 20  # with fewer passes over large data, one more scan would be a noticeable part of the time
MARKED = frozenset(4**power for power in range(16))  # readings after which the weights are kept
EXACT = 2.0**52  # sums of integers below this are not rounded


@dataclass(frozen=True)
class Standing:
    """The result of scoring every row with the same weights.

    Attributes
    ----------
    mistakes : int
        The updates made before.
    errors : int or None
        Rows on the wrong side; None if they were not counted.
    cost : float
        The sum of the steps of these rows.
    lower : float
        The margin of the weights.
    clear : bool
        Whether no row has to be corrected: every score is above the margin that the run is to reach.
    """

    mistakes: int
    errors: int | None
    cost: float
    lower: float
    clear: bool


@dataclass
class Run:
    """Makes passes and scans until a limit is reached, and records them.

    Attributes
    ----------
    learner : Learner
    max_iter : int
        The maximum number of passes and scans.
    deadline : Deadline
    progress : Progress or None
    n_iter_no_change : int or None
        See `no_progress` and `mean_settles`; None switches these rules off.
    averaging : bool
        Whether the mean of the weights is asked for, which needs no separator: see `mean_settles`.
    closing : int
        Readings that are reserved for the end of a run that finds no separator.
    pocket : bool
        Whether to keep the best weights that a scan has seen (Gallant 1990).
    history : list of PassRecord
        One record per pass and per scan.
    limit : int
        The number of readings after which the run ends: ``max_iter``, or less if there is no progress.
    latest : Standing or None
        The last time that every row was scored with the same weights.
    best : tuple of Standing and State, or None
        The weights in the pocket.
    recorded : int
        The mistakes in the history.
    """

    learner: Learner
    max_iter: int
    deadline: Deadline = NEVER
    progress: Progress | None = None
    n_iter_no_change: int | None = None
    averaging: bool = False
    closing: int = 0
    pocket: bool = False
    history: list[PassRecord] = field(default_factory=list)
    latest: Standing | None = None
    best: tuple[Standing, State] | None = None
    recorded: int = 0
    limit: int = field(init=False)

    def __post_init__(self) -> None:
        self.limit = self.max_iter
        self.bracket = Bracket(self.learner)
        self.detector = CycleDetector(self.learner)

    def stopped(self, *, before: int = 0) -> bool:
        """Return whether a limit is reached (``before`` readings early) or a proof was found."""
        return (
            len(self.history) + before >= self.limit
            or self.learner.out_of_updates
            or self.detector.cycle is not None
            or time.monotonic() >= self.deadline.moment
        )

    def status(self) -> Status:
        """Return why a run that found no separator has stopped."""
        if self.detector.cycle is not None:
            return Status.INSEPARABLE
        if self.learner.out_of_updates:
            return Status.UPDATE_LIMIT
        if len(self.history) < self.limit:
            return Status.TIME_LIMIT
        return Status.PASS_LIMIT if self.limit == self.max_iter else Status.NO_PROGRESS

    def one_pass(self, order: Ints) -> bool:
        """Visit the rows in this order, and correct every mistake; return whether there was none."""
        learner, rows = self.learner, self.learner.rows.local
        if rows is None:
            raise InputError(
                "A pass learns from every row in turn, which needs rows in memory. Choose "
                "order='working_set' or 'worst' without averaging, or load the rows first."
            )
        clean = make_pass(learner, rows, order, measure=not self.history)
        lowest = float(learner.tally.floor[0])
        lower = self.bracket.lower(lowest)
        self.end_pass(Standing(learner.mistakes, 0, 0.0, lower, clear=True) if clean else None)
        return clean

    def scan(self, limit: int = 1) -> Scan:
        """Score every row, and keep the lowest scores; counts as a pass."""
        found, standing = self._look(limit)
        self.end_pass(standing)
        return found

    def _look(self, limit: int = 1) -> tuple[Scan, Standing]:
        learner = self.learner
        found = learner.rows.scan(learner.weights, limit, learner.steps)
        lowest = float(found.scores[0])
        lower, clear = self.bracket.lower(lowest), lowest > learner.margin
        return found, Standing(learner.mistakes, found.mistakes, found.cost, lower, clear)

    def end_pass(self, standing: Standing | None) -> None:
        """Record a reading of every row, and decide whether the run goes on.

        ``standing`` is None if the weights changed during the reading.
        """
        length = self.bracket.length()
        self._record(standing)
        if standing is not None:
            self.latest = standing
            if standing.clear:
                return
            if self.pocket and (self.best is None or standing.cost < self.best[0].cost):
                self.best = standing, self.learner.state()
        least = self.n_iter_no_change if self.limit == self.max_iter else None
        if least is not None:
            if self._gains_nothing(least):
                self.limit = min(self.max_iter, len(self.history) + self.closing)
            elif len(self.history) in MARKED:
                self.bracket.mark()
        self.detector.check(len(self.history), length, more=not self.stopped())
        if self.progress is not None and self.progress.due():
            self.progress.show(self._sentence(self.progress))

    def _gains_nothing(self, least: int) -> bool:
        if self.averaging:
            return mean_settles(self.history, least, self.learner.rows.order.size)
        return no_progress(self.history, least) and self._margin_is_small()

    def _margin_is_small(self, share: float = 5e-4) -> bool:
        """Return whether the counts prove that no margin is larger than this share of the radius.

        So a run on classes with a larger margin never ends early, if nothing is rounded.
        """
        upper = min(self.history[-1].margin_upper, self.bracket.later_upper())
        return upper <= share * self.learner.rows.radius

    def _record(self, standing: Standing | None) -> None:
        made = self.learner.mistakes - self.recorded
        errors, lower = (None, -math.inf) if standing is None else (standing.errors, standing.lower)
        self.history.append(PassRecord(made, errors, lower, self.bracket.upper()))
        self.recorded += made

    def _sentence(self, progress: Progress) -> str:
        passes, last = len(self.history), self.history[-1]
        speed = passes * self.learner.rows.order.size / max(progress.elapsed, 1e-9)
        return (
            f"perceptron: pass {passes:,} of {self.max_iter:,}, {self.learner.mistakes:,} mistakes, "
            f"{last.wrong:,} rows wrong, "
            f"best margin {margin_text(last.margin_lower, last.margin_upper, 3)}, {speed:,.0f} rows/s"
        )

    def finish(self, order: str, *, interrupted: bool, voted: bool, trace: bool) -> Result:
        """Return the result: the weights, their errors, the bracket, and what the caller asked to keep."""
        learner, passes = self.learner, len(self.history)
        mistakes, status = learner.mistakes, Status.INTERRUPTED if interrupted else self.status()
        self.bracket.length()  # raises an error if the weights have left the range of float64
        standing = self.latest
        if standing is None or standing.mistakes < mistakes:
            standing = self._closing_scan()
        if mistakes > self.recorded:
            self._record(standing)
        if standing.errors == 0:
            status = Status.SEPARATED if standing.clear else Status.MARGIN_MISSED
        elif self.best is not None and self.best[0].cost < standing.cost:
            standing = self.best[0]
            learner.restore(self.best[1])
        if self.progress is not None and self.progress.heard:
            ended = f"{passes:,} passes, {mistakes:,} mistakes, {standing.errors} errors"
            self.progress.end(f"perceptron: {ended}. {status.value}")
        return result_of(
            learner,
            status=status,
            mistakes=mistakes,
            errors=standing.errors,
            passes=passes,
            margin_lower=standing.lower,
            margin_upper=self.bracket.upper(),
            history=tuple(self.history),
            order=order,
            voted=voted,
            trace=trace_of(learner) if trace else None,
            cycle=self.detector.cycle,
        )

    def _closing_scan(self) -> Standing:
        """Count the errors of the last weights, unless that takes long compared with the few passes."""
        if self.learner.rows.numbers > threads.MOST_AT_ONCE // 4 and len(self.history) < FEW_PASSES:
            return Standing(self.learner.mistakes, None, math.inf, -math.inf, clear=False)
        return self._look()[1]


def no_progress(history: Sequence[PassRecord], n_iter_no_change: int, *, fall: float = 0.1) -> bool:
    """Return whether mistakes no longer fall.

    The last passes (or scans) found almost as many wrong rows as an equal number before them: they gained
    less than ``fall``. These are at least ``n_iter_no_change``, and at least a third of all passes (or
    scans), because on separable rows mistakes fall like a power of the number of passes.
    """
    if len(history) < 2 * n_iter_no_change:
        return False
    scanned = history[-1].errors is not None
    wrong = [record.wrong for record in history if (record.errors is not None) == scanned]
    last, before = _last_two(wrong, max(n_iter_no_change, len(wrong) // 3))
    return before is not None and last >= (1.0 - fall) * before


def mean_settles(history: Sequence[PassRecord], n_iter_no_change: int, n_rows: int) -> bool:
    """Return whether further passes hardly improve a mean of the weights.

    The last ``n_iter_no_change`` passes found almost as many wrong rows as an equal number before them: 5 %
    less at most, or less by one row in a thousand, which is the default tolerance of scikit-learn. Fewer than
    50 wrong rows vary too much to be compared.
    """
    last, before = _last_two([record.wrong for record in history], n_iter_no_change)
    if before is None or before < 50:
        return False
    return last >= min(0.95 * before, before - 0.001 * n_rows * n_iter_no_change)


def _last_two(wrong: Sequence[int], size: int) -> tuple[int, int | None]:
    """Return the sum of the last numbers, and that of as many before them; None if there are too few."""
    return sum(wrong[-size:]), sum(wrong[-2 * size : -size]) if len(wrong) >= 2 * size else None


def trace_of(learner: Learner) -> Trace:
    """Repeat the logged updates, and keep the weights after each of them."""
    log = learner.logged()
    size = 8 * len(log) * learner.weights.size
    if size > TRACE_ROOM:
        raise InputError(
            f"A trace of {len(log)} updates would take {size / 1e9:.1f} GB. "
            "Set max_updates to keep the first updates only, or fit without a trace."
        )
    weights = np.empty((len(log), *learner.weights.shape))
    scores = np.empty(len(log))
    members, places = np.unique(log[:, 0], return_inverse=True)
    rows, script = learner.rows.take(members).storage, np.column_stack([places, log[:, 1]])
    steps = learner.steps if learner.steps.size == 1 else learner.steps[members]
    current: Floats = learner.start.copy()
    size = 1 if learner.renormalise else max(1, len(log))
    for first in range(0, len(log), size):
        part = slice(first, first + size)
        numpy_loops.replay(rows, script[part], current, steps, weights[part], scores[part])
        if learner.renormalise:
            normalise(current)
            weights[part] = current
    return Trace(log[:, 0].copy(), log[:, 1].copy(), scores, weights, learner.start.copy())


@dataclass
class CycleDetector:
    """Looks for weights that return, which proves that no separator exists.

    Brent's method: each state is compared with the one kept after 1, 2, 4, 8, ... readings.

    Attributes
    ----------
    learner : Learner
    cycle : Cycle or None
        The proof, once it is found.
    kept : tuple or None
        An earlier state: the number of readings and mistakes, the length of the weights, and `State`.
    hopeful : bool or None
        Whether a cycle could be a proof, judged by the first row; None until it is needed.
    """

    learner: Learner
    cycle: Cycle | None = None
    kept: tuple[int, int, float, State] | None = None
    hopeful: bool | None = None

    def check(self, passes: int, length: float, *, more: bool) -> None:
        """Compare the state after this number of readings, with weights of this length, with the kept one.

        ``more`` says whether readings may follow; otherwise no state is kept.
        """
        learner = self.learner
        if self.kept is not None:
            first, mistakes, kept_length, (weights, counts, _) = self.kept
            if (
                learner.mistakes > mistakes
                and length == kept_length
                and np.array_equal(learner.weights, weights)
            ):
                multipliers = learner.tally.counts - counts
                if _proves(learner, multipliers):
                    self.cycle = Cycle(first, passes, multipliers)
                    return
        if not more or passes & (passes - 1):
            return
        if self.hopeful is None:
            rows, first = learner.rows, int(learner.rows.order[0])
            one = rows.take(rows.order[:1]) if rows.local is None else rows.local.between(first, first + 1)
            self.hopeful = learner.steps.size == 1 and one.integral
        if self.hopeful:
            self.kept = passes, learner.mistakes, length, learner.state()


def _proves(learner: Learner, multipliers: Ints) -> bool:
    """Return whether the sum of the signed rows with these multipliers is exactly zero, without rounding."""
    rows, mass = learner.rows, float(multipliers.sum())
    if learner.steps.size > 1 or mass * rows.radius >= EXACT or not rows.integral:
        return False
    total = np.zeros_like(learner.weights)
    rows.combine(multipliers, np.ones(1), total)
    return not total.any()
