"""A run: passes and scans and their records, when to stop, and the `Result` at the end."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from ..deadline import NEVER, Deadline
from ..errors import InputError
from ..loops.layouts import VISITS
from ..progress import Progress
from ..result import Cycle, Floats, Ints, PassRecord, Result, Status, Trace, margin_text
from ..rows import numpy_loops, threads
from ..rows.protocol import Scan
from .learner import Bracket, Learner, State, normalise
from .passes import make_pass
from .voting import votes_of

TRACE_ROOM = 1 << 31  # bytes of the weights after each update
FEW_PASSES = 20  # passes beside which one more scan of large data would be felt
EXACT = 2.0**52  # sums of whole numbers below this do not round


@dataclass(frozen=True)
class Standing:
    """How weights stood when every row was scored under them.

    Attributes
    ----------
    mistakes : int
        The updates made by then.
    errors : int or None
        Rows on the wrong side; None where nobody scanned.
    cost : float
        What these errors cost.
    lower : float
        The margin of the weights.
    """

    mistakes: int
    errors: int | None
    cost: float
    lower: float


@dataclass
class Pocket:
    """The best weights that a scan saw (Gallant 1990), with their counts, and how they stood."""

    best: Standing | None = None
    state: State | None = None

    def offer(self, standing: Standing, learner: Learner) -> None:
        """Keep a copy of the learner's state if it is better."""
        if self.best is None or standing.cost < self.best.cost:
            self.best, self.state = standing, learner.state()

    def restore(self, last: Standing, learner: Learner) -> Standing:
        """Bring the learner back to the best weights if the last ones are worse; say how it stands then."""
        if self.best is None or self.state is None or not self.best.cost < last.cost:
            return last
        learner.restore(self.state)
        return self.best


class Run:
    """Lets a learner read all rows, pass by pass or scan by scan, and keeps the record.

    Attributes
    ----------
    learner : Learner
    bracket : Bracket
    detector : CycleDetector
    pocket : Pocket or None
        The best weights that a scan saw, where they are to be kept.
    history : list of PassRecord
        One for each pass and each scan.
    latest : Standing or None
        How the weights stood when every row was last scored under the same weights.
    recorded : int
        The mistakes in the history.
    max_iter : int
    deadline : Deadline
    progress : Progress or None
    """

    def __init__(
        self,
        learner: Learner,
        *,
        max_iter: int,
        deadline: Deadline = NEVER,
        progress: Progress | None = None,
    ) -> None:
        self.learner = learner
        self.bracket = Bracket(learner)
        self.detector = CycleDetector(learner)
        self.pocket: Pocket | None = None
        self.history: list[PassRecord] = []
        self.latest: Standing | None = None
        self.max_iter = max_iter
        self.deadline = deadline
        self.progress = progress
        self.recorded = 0

    def stopped(self, *, before: int = 0) -> bool:
        """Whether a limit is met (the pass limit ``before`` passes early) or a proof was found."""
        return (
            len(self.history) + before >= self.max_iter
            or self.learner.out_of_updates
            or self.detector.cycle is not None
            or time.monotonic() >= self.deadline.moment
        )

    def status(self) -> Status:
        """Why a run that did not separate has stopped."""
        if self.detector.cycle is not None:
            return Status.INSEPARABLE
        if self.learner.out_of_updates:
            return Status.UPDATE_LIMIT
        return Status.PASS_LIMIT if len(self.history) >= self.max_iter else Status.TIME_LIMIT

    def plain_passes(self, order: Ints, most: int = 1) -> bool:
        """Make up to ``most`` passes in one order; return whether the last one was clean."""
        learner, rows = self.learner, self.learner.rows.local
        if rows is None:
            raise InputError(
                "A pass learns from every row in turn, which needs rows in memory. Choose "
                "order='working_set' or 'worst' without averaging, or load the rows first."
            )
        for _ in range(most):
            if self.stopped():
                return False
            clean = make_pass(learner, rows, order, measure=not self.history)
            lowest = float(learner.tally.floor[0])
            standing = Standing(learner.mistakes, 0, 0.0, self.bracket.lower(lowest)) if clean else None
            self.end_pass(standing)
            if clean:
                return True
        return False

    def scan(self, limit: int = 1) -> Scan:
        """Score every row, and keep the lowest scores; counts as a pass."""
        learner = self.learner
        found = learner.rows.scan(learner.weights, limit, learner.steps)
        lower = self.bracket.lower(float(found.scores[0]))
        self.end_pass(Standing(learner.mistakes, found.mistakes, found.cost, lower))
        return found

    def end_pass(self, standing: Standing | None) -> None:
        """Record a reading of every row; keep the weights if they are the best; see whether they came back.

        ``standing`` says how the weights stood, where they did not move meanwhile.
        """
        mistakes = self.learner.mistakes
        errors, lower = (None, -math.inf) if standing is None else (standing.errors, standing.lower)
        length = self.bracket.length()
        self.history.append(PassRecord(mistakes - self.recorded, errors, lower, self.bracket.upper()))
        self.recorded = mistakes
        if standing is not None:
            self.latest = standing
            if standing.errors == 0:
                return
            if self.pocket is not None:
                self.pocket.offer(standing, self.learner)
        self.detector.check(len(self.history), length, more=not self.stopped())
        if self.progress is not None and self.progress.due():
            self._show(self.progress)

    def _show(self, progress: Progress) -> None:
        passes, last = len(self.history), self.history[-1]
        speed = passes * self.learner.rows.order.size / progress.elapsed
        progress.show(
            f"perceptron: pass {passes:,} of {self.max_iter:,}, {self.learner.mistakes:,} mistakes, "
            f"best margin {margin_text(last.margin_lower, last.margin_upper, 3)}, "
            f"{speed:,.0f} rows/s"
        )


def finish(run: Run, order: str, *, interrupted: bool, voted: bool, trace: bool) -> Result:
    """Close a run: the errors of its weights, the bracket, and what was asked to be kept."""
    learner, passes = run.learner, len(run.history)
    mistakes, status = learner.mistakes, Status.INTERRUPTED if interrupted else run.status()
    run.bracket.length()  # refuses weights beyond float64
    standing = run.latest
    if standing is None or standing.mistakes < mistakes:
        standing = _closing_scan(run)
    if mistakes > run.recorded:
        rest = PassRecord(mistakes - run.recorded, standing.errors, standing.lower, run.bracket.upper())
        run.history.append(rest)
    if standing.errors == 0:
        status = Status.SEPARATED
    elif run.pocket is not None:
        standing = run.pocket.restore(standing, learner)
    visits = int(learner.tally.clock[VISITS])
    averaging = learner.tally.average.size > 0
    return Result(
        status=status,
        weights=learner.weights,
        counts=learner.tally.counts,
        mixed_counts=learner.mixed,
        mistakes=mistakes,
        errors=standing.errors,
        passes=passes,
        radius=learner.rows.radius,
        margin_lower=standing.lower,
        margin_upper=run.bracket.upper(),
        history=tuple(run.history),
        order=order,
        visits=visits,
        average=learner.weights - learner.tally.average / max(1, visits) if averaging else None,
        average_sum=learner.tally.average if averaging else None,
        votes=votes_of(learner, visits) if voted else None,
        trace=trace_of(learner) if trace else None,
        cycle=run.detector.cycle,
    )


def _closing_scan(run: Run) -> Standing:
    """Count the errors of the last weights, unless that would take long beside the few passes made."""
    learner = run.learner
    if learner.rows.numbers > threads.MOST_AT_ONCE and len(run.history) < FEW_PASSES:
        return Standing(learner.mistakes, None, math.inf, -math.inf)
    found = learner.rows.scan(learner.weights, 1, learner.steps)
    return Standing(learner.mistakes, found.mistakes, found.cost, run.bracket.lower(float(found.scores[0])))


def trace_of(learner: Learner) -> Trace:
    """Make the logged updates again, and keep the weights after each."""
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


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The state after an earlier pass, to be recognised when it comes back."""

    passes: int
    mistakes: int
    length: float
    weights: Floats
    counts: Ints


@dataclass
class CycleDetector:
    """Weights that come back prove that nothing separates the rows.

    Brent's method: each state is compared with the one kept after 1, 2, 4, 8, ... passes.

    Attributes
    ----------
    learner : Learner
    cycle : Cycle or None
        The proof, once it is found.
    kept : Snapshot or None
    hopeful : bool or None
        Whether a cycle could be a proof, as far as the first row tells; None until that is asked.
    """

    learner: Learner
    cycle: Cycle | None = None
    kept: Snapshot | None = None
    hopeful: bool | None = None

    def check(self, passes: int, length: float, *, more: bool) -> None:
        """Compare the state after so many passes, whose weights have this length, with the kept one.

        ``more`` says whether passes may follow, for which a state is worth keeping.
        """
        kept, learner = self.kept, self.learner
        if (
            kept is not None
            and learner.mistakes > kept.mistakes
            and length == kept.length
            and np.array_equal(learner.weights, kept.weights)
        ):
            multipliers = learner.tally.counts - kept.counts
            if _proves(learner, multipliers):
                self.cycle = Cycle(kept.passes, passes, multipliers)
                return
        if not more or passes & (passes - 1):
            return
        if self.hopeful is None:
            rows = learner.rows
            self.hopeful = learner.steps.size == 1 and rows.take(rows.order[:1]).integral
        if self.hopeful:
            state = learner.weights.copy(), learner.tally.counts.copy()
            self.kept = Snapshot(passes, learner.mistakes, length, *state)


def _proves(learner: Learner, multipliers: Ints) -> bool:
    """Whether the signed rows, so weighed, sum to exactly zero in arithmetic that cannot round."""
    rows, mass = learner.rows, float(multipliers.sum())
    if learner.steps.size > 1 or mass * rows.radius >= EXACT or not rows.integral:
        return False
    total = np.zeros_like(learner.weights)
    rows.combine(multipliers, np.ones(1), total)
    return not total.any()
