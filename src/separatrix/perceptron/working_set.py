"""The perceptron on a working set: learn from few rows, scan all of them, add the worst, repeat.

The theorem allows mistakes to be corrected in any order. So the updates stay on a few rows in the cache until
those are right, and all rows are read only to find the ones with the lowest scores. The working set does the
same with a *core* of a few hundred of its rows, whose inner products are kept. The run ends like plain
passes: with a scan of every row that finds no mistake. Rows may leave a set and return; that costs time but
not the guarantee, because every update corrects a mistake.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from .. import loops
from ..loops.layouts import LIMIT, LOGGED, MISTAKES, VISITS, Gram, Tally
from ..result import Ints
from ..rows import numpy_loops, threads
from ..rows.memory import MemoryRows
from ..rows.protocol import Shards
from .learner import LOG_ROOM, Learner
from .mixing import epoch
from .run import Run

# Tuned by hand. What half and twice of each does ("half / twice", as ratios) was measured on, one seed each:
# S  make_separable(100_000, 50, margin=0.003): 2 readings of all rows, 31,778 updates
# C  make_separable(20_000, 50, margin=0.003), which fits into the cache: 42 readings, 10,028 updates
# W  make_separable(6_000, 2_000, margin=0.0005): 34 readings, 1,696,290 updates; others change it by half
# P  60,000 sparse rows of about 40 normal numbers in 2,000 columns, labels by a plane: 146 errors left
# N  20,000 x 20 standard normal numbers, labels by a plane: 100 readings, 9 errors left
# T  the same with 400 rows: 2 readings, 1,557 updates
# F  the same, 30,000 x 100, with 0.2 % of the labels flipped: 100 readings, 1,053 errors left
# If a set is not mentioned, its readings, updates, errors and time change by less than half.

# Rows that a scan of the working set adds to the core. S: time 1.0 / 1.6. N: updates 1.9 / 0.6.
CORE = 256
# Up to this number, all rows are one core. T: 41 readings / 1 reading.
SMALL = 2 * CORE
# Rows that a scan of all the data adds to the working set, at most. No set is sensitive to it.
ADDED = 2000
# Places that an interleaved pass reads from in turn: between half and twice of this number. C: updates
# 0.5 / 0.6.
STREAMS = 32
# Numbers that stay in the cache. Rows of this size get up to `SET_PASSES` plain passes first, larger ones a
# sample of a quarter of it. A larger working set loses rows that were not corrected lately. A scan adds at
# most a quarter of it, which matters if rows are wide. W: time 0.3 / 1.0. S: time 1.1 / 1.6.
CACHED = 1 << 21
# Plain passes over the working set, or over rows in the cache, at most. C: readings 0.5 / 2.0. N: errors
# left 8 / 18.
SET_PASSES = 40
# Plain passes over a set before a core may take over. S: time 1.8 / 1.2. P: time 1.5 / 0.8.
TRIAL = 10
# Share of wrong rows above which a pass over all of them teaches more than a few. F: errors left 756 / 1,077,
# time 0.2 / 1.0. P: errors left 256 / 112. With less than half, some sets of 10 classes are not separated.
MANY = 0.05
# Corrections a corrected row has had on average when inner products begin to pay. S: time 1.1 / 1.5.
OFTEN = 2
# Readings of all the data that the work between two scans may cost. W: time 0.5 / 0.9. N: updates 0.6 / 1.9.
WORK = 4
# Updates on a core that are always worth doing. T: readings 3 / 1.
LEAST_UPDATES = 1000
# Passes and scans, by turns, at the end of a run that did not separate. With 4, the test accuracy on spambase
# is 0.841 instead of 0.895.
CLOSING = 6


def solve_working_set(run: Run, shards: Shards | None = None) -> None:
    """Run until a scan of every row is clean or a limit is met.

    A sample of the rows comes first if they do not stay in the cache. Passes over all rows need rows in
    memory; if there are many rows in shards elsewhere, an epoch of mixing replaces a pass.
    """
    rows, in_memory = run.learner.rows, run.learner.rows.local is not None
    run.pocket = True
    shuffle = np.random.default_rng(0)
    teach: Callable[[], bool] | None = None
    if in_memory:
        teach = partial(_mixed_pass, run, shuffle)
    elif shards is not None and rows.order.size > ADDED:
        teach = partial(epoch, run, shards, "mistakes")
    run.closing = 0 if teach is None else min(CLOSING, (run.max_iter + 1) // 2)
    separated = _first_passes(run, shuffle)
    if not separated:
        separated = _few_rows(run) if rows.order.size <= ADDED else _many_rows(run, teach)
    if teach is not None and not separated:
        _closing_passes(run, teach)


def _first_passes(run: Run, shuffle: np.random.Generator) -> bool:
    """Pass over all rows if they stay in the cache, else over a sample; return whether all rows are clean."""
    rows = run.learner.rows
    if rows.order.size <= SMALL:
        return False
    if rows.numbers > CACHED:
        _learn_from_set(run, Part(run.learner, rows.order[:: 4 * rows.numbers // CACHED]), TRIAL)
        return False
    for _ in range(SET_PASSES if rows.local is not None else 0):
        if run.stopped(before=run.closing):
            return False
        if _mixed_pass(run, shuffle):
            return True
    return False


def _few_rows(run: Run) -> bool:
    """Learn from all rows, which are one working set; return whether a scan found them separated."""
    learner, rows = run.learner, run.learner.rows
    small = rows.order.size <= SMALL
    if small:  # the longest row first, so that the order of the rows does not matter
        part = Part(learner, rows.order[np.argsort(-rows.squared_norms[rows.order], kind="stable")])
    elif rows.local is not None:
        part = Part(learner, np.arange(rows.n_rows), rows.local)
    else:
        part = Part(learner, rows.order)
    while not run.stopped(before=run.closing):
        if small:
            # After many scans the rows are hard to separate; before, overlapping rows end the run. Twice as
            # many updates between the first scans leave fewer weights for the pocket to choose from.
            least = min(LOG_ROOM, LEAST_UPDATES * (1 + len(run.history) // 20) ** 2)
            part.worst_first(WORK * rows.numbers, least)
        else:
            _through_cores(run, part)
        if run.scan().mistakes == 0:
            return True
    return False


def _many_rows(run: Run, teach: Callable[[], bool] | None) -> bool:
    """Learn from the worst rows of each scan; return whether one found no mistake.

    ``teach`` makes a pass over all rows, if that is possible.
    """
    learner, rows = run.learner, run.learner.rows
    added = max(CORE, min(ADDED, CACHED // 4 * rows.n_rows // rows.numbers))
    members = np.flatnonzero(learner.tally.counts.any(axis=1))
    lately = members[:0]
    while not run.stopped(before=run.closing):
        found = run.scan(added)
        if found.mistakes == 0:
            return True
        if run.stopped(before=run.closing):
            return False
        if teach is not None and found.mistakes > MANY * rows.order.size:
            teach()
            continue
        if 2 * members.size > rows.order.size or members.size * rows.numbers > CACHED * rows.n_rows:
            members = lately
        members = np.concatenate([found.rows, np.setdiff1d(members, found.rows)])
        part = Part(learner, members)
        _learn_from_set(run, part)
        lately = members[part.counts.any(axis=1)]
        members = members[learner.tally.counts[members].any(axis=1)]
    return False


def _learn_from_set(run: Run, part: Part, most: int = SET_PASSES) -> None:
    """Pass over a set until it is right, or use cores if rows are corrected again and again."""
    counts = run.learner.tally.counts
    for done in range(1, most + 1):
        if part.plain_pass() or run.stopped():
            return
        if done % TRIAL == 0 and run.learner.mistakes > OFTEN * np.count_nonzero(counts.any(axis=1)):
            _through_cores(run, part)
            return


def _through_cores(run: Run, part: Part) -> None:
    """Correct one core after the other until the part is clean, or the allowed work is done."""
    learner, work, allowed = run.learner, 0, WORK * run.learner.rows.numbers
    kept: Ints = np.empty(0, dtype=np.int64)
    while work <= allowed and not run.stopped():
        found = part.rows.scan(learner.weights, CORE)
        work += part.rows.numbers
        if found.mistakes == 0:
            return
        indices = np.concatenate([found.rows, np.setdiff1d(kept, found.rows)])
        core, before = part.take(indices), learner.mistakes
        core.worst_first(allowed)
        part.counts[indices] += core.counts
        kept = indices[core.counts.any(axis=1)]
        work += (learner.mistakes - before) * core.counts.size


def _mixed_pass(run: Run, shuffle: np.random.Generator) -> bool:
    """Pass over all rows in a new order; return whether there was no mistake."""
    return run.one_pass(interleaved(run.learner.rows.order, shuffle))


def _closing_passes(run: Run, teach: Callable[[], bool]) -> None:
    """Pass and scan by turns: if nothing separates the rows, this often finds the best weights."""
    while not run.stopped():
        if teach() or run.stopped() or run.scan().mistakes == 0:
            return


def interleaved(order: Ints, shuffle: np.random.Generator, group: int = 8) -> Ints:
    """Return the rows in another order: a few from each of many places in turn.

    The number of places is random. Rows are mixed almost as well as by a shuffle, but memory is read in
    sequences, which makes a pass twice as fast on 30,000 sparse rows.
    """
    places = int(shuffle.integers(STREAMS // 2, 2 * STREAMS))
    whole = order.size - order.size % (places * group)
    turns = order[:whole].reshape(places, -1, group).transpose(1, 0, 2)
    return np.concatenate([turns.ravel(), order[whole:]])


class Part:
    """Some rows of a run, in memory, that correct the learner's weights.

    Attributes
    ----------
    learner : Learner
    members : ndarray of int64
        The indices of these rows among the learner's rows.
    rows : MemoryRows
    steps : ndarray
        The steps of these rows.
    counts : ndarray of int64, shape (rows, rivals)
        The corrections of each row since the part was made.
    """

    def __init__(self, learner: Learner, members: Ints, rows: MemoryRows | None = None) -> None:
        self.learner = learner
        self.members = members
        self.rows = learner.rows.take(members) if rows is None else rows
        self.steps = learner.steps if learner.steps.size == 1 else learner.steps[members]
        self.counts = np.zeros((self.rows.n_rows, learner.tally.counts.shape[1]), dtype=np.int64)
        self._gram: Gram | None = None

    def take(self, indices: Ints) -> Part:
        """Copy some of these rows."""
        return Part(self.learner, self.members[indices], self.rows.take(indices))

    def plain_pass(self) -> bool:
        """Visit each row once; return whether there was no mistake."""
        tally, before = self._tally(), self.learner.mistakes
        learn = numpy_loops.learn if self.learner.light else loops.rows.learn
        learn(self.rows.storage, self.rows.order, self.learner.weights, self.steps, tally)
        self._merge(tally)
        return self.learner.mistakes == before

    def worst_first(self, work: int, least: int = LEAST_UPDATES) -> None:
        """Correct the worst row until all are right, or the updates have read ``work`` numbers.

        An update reads one number per count. ``least`` updates are always allowed.
        """
        learner, weights = self.learner, self.learner.weights
        left = max(least, work // self.counts.size)
        if self._gram is None:
            self._gram = gram_of(self.rows)
        while left:
            light, before = learner.light, learner.mistakes
            most = min(light, left) if light else left
            outputs = np.ascontiguousarray(self.rows.outputs(weights).T)
            outputs = outputs[0] if weights.ndim == 1 else outputs
            tally = self._tally(most)
            correct = numpy_loops.worst_first if light else loops.core.worst_first
            correct(self.rows.storage, outputs, self.steps, self._gram, tally)
            self.rows.combine(tally.counts, self.steps, weights)
            self._merge(tally)
            made = learner.mistakes - before
            if made < most:
                return  # all are right, or the run has met its limit
            left -= made

    def _tally(self, allowed: int | None = None) -> Tally:
        """Return the learner's tally, with separate counts for this part."""
        whole = self.learner.tally
        if whole.log.size:
            self.learner.flush_log()  # earlier entries have other row indices
        clock = whole.clock.copy()
        if allowed is not None:
            clock[LIMIT] = min(clock[LIMIT], clock[MISTAKES] + allowed)
        return whole._replace(counts=np.zeros_like(self.counts), clock=clock)

    def _merge(self, tally: Tally) -> None:
        whole = self.learner.tally
        self.counts += tally.counts
        whole.counts[self.members] += tally.counts
        if self.learner.mixed is not None:
            self.learner.mixed[self.members] += tally.counts
        for entry in (VISITS, MISTAKES, LOGGED):
            whole.clock[entry] = tally.clock[entry]
        if whole.log.size:
            self.learner.flush_log(self.members)


def gram_of(rows: MemoryRows) -> Gram:
    """Return room for the inner products of rows; those of a few wide rows are computed at once."""
    size = rows.n_rows
    gram = Gram(
        products=np.empty((size, size)),
        slots=np.full(size, -1, dtype=np.int64),
        used=np.zeros(1, dtype=np.int64),
        row=np.zeros(rows.weights_shape[-1]),
        keys=np.zeros(size),
        spare=np.zeros(size),
        lanes=np.zeros(16),
    )
    if not rows.sparse and size * 8 <= rows.n_columns:
        values = rows.matrix.astype(np.float64, copy=False)
        with threads.one_thread():
            np.matmul(values, values.T, out=gram.products)
        np.add(gram.products, rows.storage.lift, out=gram.products)
        gram.slots[:] = np.arange(size)
        gram.used[0] = size
    return gram
