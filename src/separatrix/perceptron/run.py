"""The state of a perceptron run: what every order of visiting the rows shares."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..errors import InputError, NumericOverflowError
from ..loops import ahead as ahead_loops
from ..loops import rows as row_loops
from ..loops.replay import replay
from ..progress import Progress
from ..result import Cycle, Floats, Ints, PassRecord, Result, Status, Trace, Votes
from ..rows import threads
from ..rows.memory import MemoryRows
from ..rows.pages import relax
from ..rows.protocol import Scan

LOG_ROOM = 1 << 14
TRACE_ROOM = 1 << 31
BLOCK = 1 << 22  # numbers visited between two looks at the keyboard
AHEAD = 1 << 18  # numbers visited before it is seen whether mistakes have become rare; then twice as many
# Numbers that a thread scores at a time: a mistake makes worthless what comes after it, but memory is
# read fastest in long stretches.
SHARE_DENSE, SHARE_SPARSE = 1 << 14, 1 << 11
RARE = 0.25  # mistakes in such a block from which on the other thread is more in the way than of help
LARGE = 1 << 20  # numbers from which a look is not made for the asking
FEW_PASSES = 20  # passes beside which one more look at large data would be felt
EXACT = 2.0**52
MOST_UPDATES = 2**63 - 1


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The state at an earlier pass boundary, to be recognised when it comes back."""

    passes: int
    mistakes: int
    length: float
    weights: Floats
    counts: Ints


@dataclass(frozen=True, eq=False)
class View:
    """What a look at every row found: the updates made by then, the errors, their cost, the margin."""

    mistakes: int
    errors: int | None
    cost: float
    lower: float
    state: tuple[Floats, Ints] = field(default=(np.empty(0), np.empty(0, dtype=np.int64)))


class Run:
    """Weights, counts and history of a run; it learns when told which rows to visit."""

    def __init__(
        self,
        rows: MemoryRows,
        *,
        start: Floats,
        steps: Floats,
        max_passes: int,
        max_updates: int | None,
        visits: int = 0,
        averaging: bool = False,
        logging: bool = False,
        renormalise: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self.rows = rows
        self.start = start
        self.first_visit = visits
        self.weights = start.copy()
        self.steps = steps
        self.renormalise = renormalise
        self.max_passes = max_passes
        self.passes = 0
        self.history: list[PassRecord] = []
        self.log: list[Ints] = []
        self.progress = progress
        self.cycle: Cycle | None = None
        rivals = 1 if rows.n_classes == 2 else rows.n_classes
        limit = MOST_UPDATES if max_updates is None else min(max_updates, MOST_UPDATES)
        self.tally = row_loops.Tally(
            counts=np.zeros((rows.n_rows, rivals), dtype=np.int64),
            average=np.zeros(start.shape if averaging else (0,) * start.ndim),
            log=np.zeros((LOG_ROOM if logging else 0, 3), dtype=np.int64),
            norms=np.empty(0),
            floor=np.full(1, np.inf),
            clock=np.array([visits, 0, limit, 0], dtype=np.int64),
        )
        self.keep_best = False
        self._best: View | None = None
        self._latest: View | None = None
        self._snapshot: Snapshot | None = None
        self._recorded = 0
        self._rare = 1.0  # mistakes a row in the part visited last
        self._from_zero = not (start.flat[0] if not any(start.strides) else start.any())
        self._measured = -1, 0.0  # the mistakes made when the length of the weights was last computed

    @property
    def mistakes(self) -> int:
        """Updates made so far."""
        return int(self.tally.clock[row_loops.MISTAKES])

    @property
    def out_of_updates(self) -> bool:
        """Whether max_updates has been reached."""
        return bool(self.tally.clock[row_loops.MISTAKES] >= self.tally.clock[row_loops.LIMIT])

    def stopped(self, *, before: int = 0) -> bool:
        """Whether a limit is met (the pass limit ``before`` passes early) or a proof was found."""
        return self.passes + before >= self.max_passes or self.out_of_updates or self.cycle is not None

    def plain_passes(self, order: Ints, most: int) -> bool:
        """Make up to ``most`` passes in one order; return whether the last one was clean."""
        for _ in range(most):
            if self.stopped():
                return False
            before = self.mistakes
            self.tally.floor[0] = np.inf
            self._measure_on_the_way()
            clean = self.visit(order) and self.mistakes == before
            if self.tally.norms.size:
                self.rows.offer_norms(self.tally.norms)
            self.end_pass(self._clean_view() if clean else None)
            if clean:
                return True
        return False

    def _measure_on_the_way(self) -> None:
        """Let the first pass measure the rows while it has them at hand."""
        rows = 0 if self.passes else self.rows.n_rows
        self.tally = self.tally._replace(norms=np.full(rows, -1.0))

    def visit(self, order: Ints) -> bool:
        """Visit the rows of ``order`` once; return whether all of them were visited.

        Where mistakes have become rare, another thread scores rows ahead under the present weights;
        what it found holds as long as no mistake comes before it, so the outcome is that of one
        thread, bit by bit.
        """
        if self.renormalise:
            return self._visit_renormalised(order)
        per_row = max(1, self.rows.numbers // max(1, self.rows.n_rows))
        large = order.size * per_row > threads.WORTH_A_THREAD and threads.n_threads() > 1
        share = max(1, (SHARE_SPARSE if self.rows.sparse else SHARE_DENSE) // per_row)
        position, trial = 0, AHEAD
        while position < order.size:
            before, helped = self.mistakes, large and self._rare * share < RARE
            size = (trial if large and not helped else BLOCK) // per_row + 1
            trial = min(2 * trial, BLOCK)
            part = order[position : position + size]
            position += (seen := self._learn(part, share if helped else 0))
            if seen < part.size and self.out_of_updates:
                return False
            self._rare = (self.mistakes - before) / part.size
            relax()
        return True

    def _visit_renormalised(self, order: Ints) -> bool:
        """Visit the rows one by one, with weights of length one after each update."""
        for position in range(order.size):
            before = self.mistakes
            if not self._learn(order[position : position + 1]):
                return False
            if self.mistakes > before:
                normalise(self.weights)
        return True

    def _learn(self, order: Ints, share: int = 0) -> int:
        """Learn from some rows, helped where rows are to be shared; return how many came before a limit."""
        seen = 0
        while True:
            left = order[seen:]
            if share:
                seen += self._learn_together(left, share)
            else:
                seen += int(row_loops.learn(self.rows.storage, left, self.weights, self.steps, self.tally))
            if seen == order.size or self.out_of_updates:
                return seen
            self.flush_log()

    def _learn_together(self, order: Ints, share: int) -> int:
        """Learn while another thread scores rows ahead, so many at a time.

        It is waited for, which is short: the next helper, woken while this one is still on its way out,
        would be given the learner's core.
        """
        rows, weights, tally, ahead = self.rows.storage, self.weights, self.tally, ahead_loops.ahead(share)
        helper = threads.submit(ahead_loops.help_to_learn, rows, order, weights, tally.norms, ahead)
        seen = int(ahead_loops.learn_together(rows, order, weights, self.steps, tally, ahead))
        if not helper.cancel():
            helper.result()
        return seen

    def rebuild(self) -> None:
        """Make the weights anew from the counts: an interrupt may have come between the two."""
        self.weights[...] = self.start
        row_loops.combine(self.rows.storage, self.tally.counts, self.steps, self.weights)
        self.tally.clock[row_loops.MISTAKES] = self.tally.counts.sum()

    def flush_log(self, members: Ints | None = None) -> None:
        """Move the logged mistakes out of the loop's buffer."""
        length = self.tally.clock[row_loops.LOGGED]
        if length:
            entries = self.tally.log[:length].copy()
            if members is not None:
                entries[:, 0] = members[entries[:, 0]]
            self.log.append(entries)
            self.tally.clock[row_loops.LOGGED] = 0

    def scan(self, limit: int = 1) -> Scan:
        """Look at every row; counts as a pass."""
        found = self.rows.scan(self.weights, limit, self.steps)
        self.end_pass(self._view(found))
        return found

    def _view(self, found: Scan) -> View:
        return View(self.mistakes, found.mistakes, found.cost, self._per_norm(float(found.scores[0])))

    def _clean_view(self) -> View:
        """What was seen in a pass in which the weights did not move."""
        return View(self.mistakes, 0, 0.0, self._per_norm(float(self.tally.floor[0])))

    def end_pass(self, view: View | None = None) -> None:
        """Record a reading of every row, and look whether the state has come back."""
        self.passes += 1
        mistakes = self.mistakes - self._recorded
        self._recorded = self.mistakes
        self._check_range()
        upper = self.margin_upper()
        errors, lower = (None, -np.inf) if view is None else (view.errors, view.lower)
        self.history.append(PassRecord(mistakes, errors, lower, upper))
        self._latest = view or self._latest
        if view is not None and self.keep_best and (self._best is None or view.cost < self._best.cost):
            self._best = replace(view, state=(self.weights.copy(), self.tally.counts.copy()))
        self._look_for_cycle()
        if self.progress is not None and self.progress.due():
            speed = self.passes * self.rows.order.size / self.progress.elapsed
            known = lower if lower > 0.0 else 0.0
            self.progress.show(
                f"perceptron: pass {self.passes:,} of {self.max_passes:,}, {self.mistakes:,} mistakes, "
                f"best margin between {known:.3g} and {upper:.3g}, {speed:,.0f} rows/s"
            )

    def _check_range(self) -> None:
        if not math.isfinite(self._length() * self.rows.radius):
            raise NumericOverflowError(
                f"The weights left the range of float64 after {self.mistakes} updates. Lower learning_rate "
                "or the weights, or scale the columns, for example with StandardScaler."
            )

    def margin_upper(self) -> float:
        """|sum of a_i z_i| / sum of a_i for a = counts * steps: no margin is larger."""
        mass = self._mass()
        if mass == 0.0:
            return self.rows.radius * (1.0 if self.weights.ndim == 1 else np.sqrt(2.0))
        return (self._length() if self._from_zero else norm(self.weights - self.start)) / mass

    def _mass(self) -> float:
        half = 1.0 if self.weights.ndim == 1 else 0.5
        if self.steps.size == 1:
            return half * float(self.steps[0]) * self.mistakes
        return half * float(self.tally.counts.sum(axis=1) @ self.steps)

    def _length(self) -> float:
        """The length of the weights, computed once for each state."""
        if self._measured[0] != self.mistakes:
            self._measured = self.mistakes, norm(self.weights)
        return self._measured[1]

    def _per_norm(self, score: float) -> float:
        length = self._length()
        return score / length if length > 0.0 else 0.0

    def _look_for_cycle(self) -> None:
        """Compare with the kept snapshot; keep a new one after 1, 2, 4, 8, ... passes (Brent)."""
        kept = self._snapshot
        if (
            kept is not None
            and self.mistakes > kept.mistakes
            and self._length() == kept.length
            and np.array_equal(self.weights, kept.weights)
        ):
            multipliers = self.tally.counts - kept.counts
            if self._proves(multipliers):
                self.cycle = Cycle(kept.passes, self.passes, multipliers)
                return
        if self.passes & (self.passes - 1) == 0 and not self.stopped() and self._may_prove():
            state = self.weights.copy(), self.tally.counts.copy()
            self._snapshot = Snapshot(self.passes, self.mistakes, self._length(), *state)

    def _may_prove(self) -> bool:
        """Whether a cycle could be a proof, as far as the first row tells."""
        whole = row_loops.integral(self.rows.storage, 0, min(1, self.rows.n_rows))
        return self.steps.size == 1 and bool(whole)

    def _proves(self, multipliers: Ints) -> bool:
        """Whether the signed rows, so weighed, sum to exactly zero in arithmetic that cannot round."""
        rows = self.rows
        mass = float(multipliers.sum())
        if self.steps.size > 1 or mass * rows.radius >= EXACT or not rows.integral:
            return False
        total = np.zeros_like(self.weights)
        row_loops.combine(rows.storage, multipliers, np.ones(1), total)
        return not total.any()

    def finish(self, status: Status, order: str, *, voted: bool, trace: bool) -> Result:
        """Close the run: the bracket, and what was asked to be kept."""
        self.flush_log()
        self._check_range()
        latest = self._latest
        if latest is None or latest.mistakes < self.mistakes:
            latest = self._closing_look()
        if self.mistakes > self._recorded:
            made = self.mistakes - self._recorded
            self.history.append(PassRecord(made, latest.errors, latest.lower, self.margin_upper()))
        if latest.errors == 0:
            status = Status.SEPARATED
        elif self._best is not None and self._best.cost < latest.cost:
            latest = self._best
            self.weights[...], self.tally.counts[...] = latest.state
            self.tally.clock[row_loops.MISTAKES] = latest.mistakes
            self._measured = -1, 0.0
        upper = self._combined_upper() if self.renormalise else self.margin_upper()
        return self._result(
            status,
            order,
            errors=latest.errors,
            lower=latest.lower,
            upper=upper,
            voted=voted,
            trace=trace,
        )

    def _closing_look(self) -> View:
        """Count the errors of the last weights, unless that would take long beside the few passes made."""
        if self.rows.numbers > LARGE and self.passes < FEW_PASSES:
            return View(self.mistakes, None, np.inf, -np.inf)
        return self._view(self.rows.scan(self.weights, 1, self.steps))

    def finish_online(self) -> Result:
        """Close a run that visited each row once and is not to look at any row again."""
        self.flush_log()
        voted = self.tally.log.shape[0] > 0
        return self._result(
            Status.ONLINE, "cyclic", errors=None, lower=-np.inf, upper=self.margin_upper(), voted=voted
        )

    def _result(
        self,
        status: Status,
        order: str,
        *,
        errors: int | None,
        lower: float,
        upper: float,
        voted: bool = False,
        trace: bool = False,
    ) -> Result:
        log = np.concatenate(self.log)[: self.mistakes] if self.log else np.zeros((0, 3), dtype=np.int64)
        visits = int(self.tally.clock[row_loops.VISITS])
        averaging = self.tally.average.size > 0
        return Result(
            status=status,
            weights=self.weights,
            counts=self.tally.counts,
            errors=errors,
            passes=self.passes,
            radius=self.rows.radius,
            margin_lower=lower,
            margin_upper=upper,
            history=tuple(self.history),
            order=order,
            visits=visits,
            average=self.weights - self.tally.average / max(1, visits) if averaging else None,
            average_sum=self.tally.average if averaging else None,
            votes=_votes(log, self.first_visit, visits) if voted else None,
            trace=self._trace(log) if trace else None,
            cycle=self.cycle,
        )

    def _combined_upper(self) -> float:
        """The upper bound where the weights are not the combination: it is summed afresh."""
        total = np.zeros_like(self.weights)
        row_loops.combine(self.rows.storage, self.tally.counts, self.steps, total)
        mass = self._mass()
        return norm(total) / mass if mass else self.margin_upper()

    def _trace(self, log: Ints) -> Trace:
        size = 8 * len(log) * self.weights.size
        if size > TRACE_ROOM:
            raise InputError(
                f"A trace of {len(log)} updates would take {size / 1e9:.1f} GB. "
                "Set max_updates to keep the first updates only, or fit without a trace."
            )
        weights = np.empty((len(log), *self.weights.shape))
        scores = np.empty(len(log))
        current = self.start.copy()
        step = 1 if self.renormalise else len(log)
        for first in range(0, len(log), max(1, step)):
            part = slice(first, first + step)
            replay(self.rows.storage, log[part], current, self.steps, weights[part], scores[part])
            if self.renormalise:
                normalise(current)
                weights[part] = current
        return Trace(log[:, 0].copy(), log[:, 1].copy(), scores, weights, self.start.copy())


def steps_of(rows: MemoryRows, learning_rate: float, row_weights: Floats | None) -> Floats:
    """The step of each row's update; a single number where all rows that count share it."""
    rate = float(learning_rate)
    if row_weights is None:
        return np.full(1, rate)
    used = row_weights[rows.order]
    if used.size and np.all(used == used[0]):
        return np.full(1, rate * used[0])
    return rate * row_weights


def norm(weights: Floats) -> float:
    """The Euclidean length, safe from under- and overflow.

    Without BLAS, whose threads cost more here than the sum.
    """
    flat = weights.reshape(-1)
    square = float(row_loops.squared_length(flat))
    if 1e-200 < square < 1e200:
        return float(np.sqrt(square))
    largest = float(np.abs(flat).max(initial=0.0))
    if largest == 0.0 or not np.isfinite(largest):
        return largest
    return largest * float(np.sqrt(np.square(flat / largest).sum()))


def normalise(weights: Floats) -> None:
    """Scale the weights to length one, in place; zero stays zero."""
    length = norm(weights)
    if length > 0.0:
        weights /= length


def _votes(log: Ints, first: int, last: int) -> Votes:
    """Survival counts: the m-th weights were in force from one mistake's visit to the next."""
    times: Any = np.concatenate([[first], log[:, 2], [last]])
    return Votes(log[:, 0].copy(), log[:, 1].copy(), np.diff(times))
