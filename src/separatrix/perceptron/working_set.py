"""The perceptron on a working set: learn from few rows, look at all of them, add the worst, repeat.

The theorem lets mistakes be corrected in any order, so the updates can stay on a few rows in the
cache until those are right, and the whole data are only read to find the rows that are most wrong
now. The same is done once more inside: a *core* of a few hundred rows, with their inner products,
is taken from the working set. The run ends as plain passes end: with a look at every row that
finds no mistake. Rows may leave a set and come back; that costs time, never the guarantee, since
every update corrects a mistake.
"""

from __future__ import annotations

import numpy as np

from ..loops import rows as row_loops
from ..loops.core import Gram, worst_first
from ..result import Ints
from ..rows.memory import MemoryRows
from .run import Run

CORE = 256  # rows that a look at the working set adds to the core
SMALL = 2 * CORE  # so few rows are a core as they are
ADDED = 2000  # rows that a look at all the data adds to the working set, at most ...
SET_NUMBERS = 1 << 18  # ... and so many numbers, where rows are wide
STREAMS = 32  # places that an interleaved pass reads from in turn
CACHED = 1 << 21  # numbers that stay in the cache as they are: plain passes come first
ROOM = 1 << 21  # numbers of the working set beyond which rows not corrected lately leave it
SET_PASSES = 40  # plain passes over the working set at most ...
TRIAL = 10  # ... with a look after so many whether a core would serve better
MANY = 0.05  # share of wrong rows above which a pass over all of them teaches more than a few
OFTEN = 2  # corrections a corrected row has had on average when inner products begin to pay
FALLING = 2 / 3  # share of a pass's mistakes below which the next one's must be, for one more to follow
WORK = 4  # readings of all the data that the work between two looks may cost
LEAST_UPDATES = 1000  # updates on a core that are always worth doing
CLOSING = 10  # plain passes at the end of a run that did not separate


def solve_working_set(run: Run) -> None:
    """Run until a look at every row is clean or a limit is met."""
    rows = run.rows
    everything = _Part(run, rows, np.arange(rows.n_rows), run.steps)
    if rows.order.size <= SMALL:  # the longest row first, so that the order of the rows does not matter
        everything = everything.take(rows.order[np.argsort(-rows.squared_norms[rows.order], kind="stable")])
    shuffle = np.random.default_rng(0)
    closing = min(CLOSING, run.max_passes // 2)
    run.keep_best = True
    added = max(CORE, min(ADDED, SET_NUMBERS * rows.n_rows // rows.numbers))
    if rows.order.size > SMALL and rows.numbers <= CACHED:
        if run.plain_passes(_interleaved(rows.order), min(SET_PASSES, run.max_passes - closing)):
            return
    elif rows.order.size > ADDED:
        order = _interleaved(rows.order) if _sorted(rows) else rows.order
        if _falling_passes(run, order, run.max_passes - closing):
            return
    members = np.flatnonzero(run.tally.counts.any(axis=1))
    lately = members[:0]
    while not run.stopped(before=closing):
        if rows.order.size <= SMALL:
            everything.core()
        elif rows.order.size <= ADDED:
            everything.through_cores()
        found = run.scan(added)
        if found.mistakes == 0:
            return
        if rows.order.size <= ADDED or run.stopped():
            continue
        if found.mistakes > MANY * rows.order.size:
            run.plain_passes(shuffle.permutation(rows.order), 1)
        else:
            if members.size * rows.numbers > ROOM * rows.n_rows:
                members = lately
            members = np.concatenate([found.rows, np.setdiff1d(members, found.rows)])
            part = everything.take(members)
            for done in range(1, SET_PASSES + 1):
                if part.plain_pass() or run.stopped():
                    break
                if done % TRIAL == 0 and run.mistakes > OFTEN * np.count_nonzero(
                    run.tally.counts.any(axis=1)
                ):
                    part.through_cores()
                    break
            lately, members = part.corrected(), members[run.tally.counts[members].any(axis=1)]
    while not run.stopped():
        clean = run.plain_passes(shuffle.permutation(rows.order), 1)
        if clean or run.stopped() or run.scan().mistakes == 0:
            return


def _falling_passes(run: Run, order: Ints, most: int) -> bool:
    """Pass over all rows as long as mistakes get fewer fast; return whether the last pass was clean."""
    before = order.size
    while not run.stopped():
        had = run.mistakes
        if run.plain_passes(order, 1):
            return True
        made = run.mistakes - had
        if made > FALLING * before or run.passes >= most:
            break
        before = made
    return False


def _sorted(rows: MemoryRows) -> bool:
    """Whether the classes come in long runs: a pass would see one class only for a long time."""
    labels = rows.labels[rows.order]
    shares = np.bincount(labels) / labels.size
    changes = np.count_nonzero(labels[1:] != labels[:-1]) / labels.size
    return bool(2.0 * changes < 1.0 - np.square(shares).sum())


def _interleaved(order: Ints) -> Ints:
    """The same rows from many places in turn: mixed, yet nearer to a sequence than a shuffle."""
    length = order.size // STREAMS
    whole, rest = order[: STREAMS * length], order[STREAMS * length :]
    return np.concatenate([whole.reshape(STREAMS, length).T.ravel(), rest])


class _Part:
    """Some rows of a run, learning for it."""

    def __init__(self, run: Run, rows: MemoryRows, members: Ints, steps: np.ndarray) -> None:
        self.run = run
        self.rows = rows
        self.members = members
        self.steps = steps
        self.counts = np.zeros((rows.n_rows, run.tally.counts.shape[1]), dtype=np.int64)
        self.gram: Gram | None = None

    def take(self, indices: Ints) -> _Part:
        """Some of these rows as a part of their own."""
        steps = self.steps if self.steps.size == 1 else self.steps[indices]
        return _Part(self.run, self.rows.take(indices), self.members[indices], steps)

    def corrected(self) -> Ints:
        """The rows, by their index in the run, that were corrected since they came here."""
        return self.members[self.counts.any(axis=1)]

    def plain_pass(self) -> bool:
        """One pass over the part; whether it was clean."""
        tally, before = self._tally(), self.run.mistakes
        row_loops.learn(self.rows.storage, self.rows.order, self.run.weights, self.steps, tally)
        self._merge(tally)
        return self.run.mistakes == before

    def through_cores(self) -> None:
        """Correct the worst rows of one core after the other until the part is clean or the work enough."""
        work, allowed = 0, WORK * self.run.rows.numbers
        kept: Ints = np.empty(0, dtype=np.int64)
        while work <= allowed and not self.run.stopped():
            found = self.rows.scan(self.run.weights, CORE)
            work += self.rows.numbers
            if found.mistakes == 0:
                return
            indices = np.concatenate([found.rows, np.setdiff1d(kept, found.rows)])
            core, before = self.take(indices), self.run.mistakes
            core.core()
            self.counts[indices] += core.counts
            kept = indices[core.counts.any(axis=1)]
            work += (self.run.mistakes - before) * core.counts.size

    def core(self) -> None:
        """Correct the worst row until all are right or the work is enough."""
        run = self.run
        outputs = np.ascontiguousarray(self.rows.outputs(run.weights).T)
        outputs = outputs[0] if run.weights.ndim == 1 else outputs
        if self.gram is None:
            self.gram = self._gram()
        tally = self._tally(max(LEAST_UPDATES, WORK * run.rows.numbers // self.counts.size))
        worst_first(self.rows.storage, outputs, self.steps, self.gram, tally)
        row_loops.combine(self.rows.storage, tally.counts, self.steps, run.weights)
        self._merge(tally)

    def _gram(self) -> Gram:
        """Room for the inner products; few wide rows are multiplied at once."""
        size, storage = self.members.size, self.rows.storage
        gram = Gram(
            products=np.empty((size, size)),
            slots=np.full(size, -1, dtype=np.int64),
            used=np.zeros(1, dtype=np.int64),
            row=np.zeros(self.run.weights.shape[-1]),
            keys=np.zeros(size),
            spare=np.zeros(size),
            lanes=np.zeros(16),
        )
        if isinstance(storage, row_loops.DenseRows) and size * 8 <= self.rows.n_columns:
            values = storage.values.astype(np.float64, copy=False)
            np.matmul(values, values.T, out=gram.products)
            np.add(gram.products, storage.lift, out=gram.products)
            gram.slots[:] = np.arange(size)
            gram.used[0] = size
        return gram

    def _tally(self, allowed: int | None = None) -> row_loops.Tally:
        whole = self.run.tally
        clock = whole.clock.copy()
        if allowed is not None:
            clock[row_loops.LIMIT] = min(clock[row_loops.LIMIT], clock[row_loops.MISTAKES] + allowed)
        return whole._replace(counts=np.zeros_like(self.counts), clock=clock)

    def _merge(self, tally: row_loops.Tally) -> None:
        run = self.run
        self.counts += tally.counts
        run.tally.counts[self.members] += tally.counts
        run.tally.clock[row_loops.MISTAKES] = tally.clock[row_loops.MISTAKES]
        run.tally.clock[row_loops.LOGGED] = tally.clock[row_loops.LOGGED]
        run.flush_log(self.members)
