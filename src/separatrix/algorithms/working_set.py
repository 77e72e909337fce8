"""The perceptron on a working set: learn from few rows, look at all of them, add the worst, repeat.

The theorem lets mistakes be corrected in any order, so the updates can stay on a few rows in the
cache until those are all right, and the whole data are only read to find the rows that are most
wrong now. The run ends as plain passes end: with a look at every row that finds no mistake.
"""

from __future__ import annotations


import numpy as np

from .. import loops
from ..result import Ints
from .run import Run

SMALL = 1024  # so few rows are a working set as they are
ADDED = 1000  # rows that a scan adds
INNER_PASSES = 20  # plain passes over the set before the worst row is picked each time
INNER_WORK = 4  # readings of all the data that the work between two scans may cost
GRAM_ROOM = 1 << 23  # numbers kept of the inner products


def solve_working_set(run: Run) -> None:
    """Run until a scan is clean or a limit is met."""
    rows = run.rows
    if rows.order.size <= SMALL:
        members = rows.order[np.argsort(-rows.squared_norms[rows.order], kind="stable")]
        _solve_whole(run, members)
        return
    run.visit(np.random.default_rng(0).permutation(rows.order))
    run.end_pass()
    members = np.flatnonzero(run.tally.counts.any(axis=1))
    while not (run.out_of_passes or run.out_of_updates or run.cycle is not None):
        found = run.scan(ADDED)
        if found.mistakes == 0:
            return
        corrected = members[run.tally.counts[members].any(axis=1)]
        members = np.concatenate([found.rows, np.setdiff1d(corrected, found.rows)])
        _learn_from(run, members, INNER_PASSES)


def _solve_whole(run: Run, members: Ints) -> None:
    """All rows fit into the working set: look at them again only when they seem separated."""
    part = _Part(run, members)
    while not (run.out_of_passes or run.out_of_updates or run.cycle is not None):
        if part.worst_first():
            if run.scan().mistakes == 0:
                return
            part = _Part(run, members)
        else:
            run.end_pass()


def _learn_from(run: Run, members: Ints, passes: int) -> None:
    """Plain passes over the members; if those do not end clean, the worst row first."""
    part = _Part(run, members)
    for _ in range(passes):
        if part.plain_pass() or run.out_of_updates:
            return
    part.worst_first()


class _Part:
    """A working set in memory of its own, learning for the run."""

    def __init__(self, run: Run, members: Ints) -> None:
        self.run = run
        self.members = members
        self.rows = run.rows.take(members)
        self.steps = run.steps if run.steps.size == 1 else run.steps[members]
        self.gram: loops.Gram | None = None

    def plain_pass(self) -> bool:
        """One pass over the set; whether it was clean."""
        tally = self._tally()
        loops.learn(self.rows.storage, self.rows.order, self.run.weights, self.steps, tally)
        return self._merge(tally) == 0

    def worst_first(self) -> bool:
        """Correct the worst row until the set is clean or the work was enough."""
        run, size = self.run, self.members.size
        outputs = np.ascontiguousarray(self.rows.outputs(run.weights).T)
        if run.weights.ndim == 1:
            outputs = outputs[0]
        if self.gram is None:
            room = max(1, min(size, GRAM_ROOM // size))
            self.gram = loops.Gram(
                products=np.empty((room, size)),
                slots=np.full(size, -1, dtype=np.int64),
                used=np.zeros(1, dtype=np.int64),
                scratch=np.zeros(run.weights.shape[-1]),
            )
        allowed = max(100, INNER_WORK * run.rows.numbers // size)
        tally = self._tally(allowed)
        clean = bool(loops.worst_first(self.rows.storage, outputs, self.steps, self.gram, tally))
        loops.combine(self.rows.storage, tally.counts, self.steps, run.weights)
        self._merge(tally)
        return clean

    def _tally(self, allowed: int | None = None) -> loops.Tally:
        whole = self.run.tally
        clock = whole.clock.copy()
        if allowed is not None:
            clock[loops.LIMIT] = min(clock[loops.LIMIT], clock[loops.MISTAKES] + allowed)
        return whole._replace(
            counts=np.zeros((self.members.size, whole.counts.shape[1]), dtype=np.int64), clock=clock
        )

    def _merge(self, tally: loops.Tally) -> int:
        run = self.run
        made = int(tally.clock[loops.MISTAKES]) - run.mistakes
        run.tally.counts[self.members] += tally.counts
        run.tally.clock[loops.MISTAKES] = tally.clock[loops.MISTAKES]
        run.tally.clock[loops.LOGGED] = tally.clock[loops.LOGGED]
        run.flush_log(self.members)
        return made
