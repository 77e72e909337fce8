"""Passes over rows in memory: every row is visited in turn, with a helper where mistakes are rare."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .. import loops
from ..loops.layouts import VISITS
from ..result import Ints, PassRecord, Result, Status
from ..rows import mapped_pages, numpy_loops, threads
from ..rows.memory import MemoryRows
from .learner import Bracket, Learner, normalise
from .voting import votes_of

BLOCK = 1 << 22  # numbers visited before Python runs again, and with it Ctrl-C
AHEAD = 1 << 18  # numbers visited before it is seen whether mistakes have become rare; then twice as many
# Numbers that a thread scores at a time: a mistake makes worthless what comes after it, but memory is
# read fastest in long stretches.
SHARE_DENSE, SHARE_SPARSE = 1 << 14, 1 << 11
RARE = 0.25  # mistakes in such a block from which on the other thread is more in the way than of help


def learn_once(learner: Learner, rows: MemoryRows) -> Result:
    """Let a learner visit its rows once, and read none again: online learning."""
    clean = Visitor(learner, rows).make_pass(rows.order, measure=True)
    bracket, visits = Bracket(learner), int(learner.tally.clock[VISITS])
    lower = bracket.lower(float(learner.tally.floor[0])) if clean else -math.inf
    bracket.length()  # refuses weights beyond float64
    upper, averaging = bracket.upper(), learner.tally.average.size > 0
    return Result(
        status=Status.ONLINE,
        weights=learner.weights,
        counts=learner.tally.counts,
        mistakes=learner.mistakes,
        errors=None,
        passes=1,
        radius=rows.radius,
        margin_lower=-math.inf,
        margin_upper=upper,
        history=(PassRecord(learner.mistakes, 0 if clean else None, lower, upper),),
        order="cyclic",
        visits=visits,
        average=learner.weights - learner.tally.average / max(1, visits) if averaging else None,
        average_sum=learner.tally.average if averaging else None,
        votes=votes_of(learner, visits) if learner.tally.log.shape[0] > 0 else None,
    )


@dataclass
class Visitor:
    """Leads a learner past the rows, one after the other.

    Attributes
    ----------
    learner : Learner
    rows : MemoryRows
        The learner's rows.
    rate : float
        Mistakes a row in the part visited last.
    """

    learner: Learner
    rows: MemoryRows
    rate: float = 1.0

    def make_pass(self, order: Ints, *, measure: bool) -> bool:
        """Visit the rows of ``order`` once; return whether all were visited, and none was a mistake.

        With ``measure``, the norms of the rows are measured while they are at hand. The lowest score is the
        ``floor`` of the tally then.
        """
        learner, before = self.learner, self.learner.mistakes
        norms = np.full(self.rows.n_rows if measure else 0, -1.0)
        learner.tally = learner.tally._replace(norms=norms)
        learner.tally.floor[0] = np.inf
        clean = self.visit(order) and learner.mistakes == before
        if measure:
            self.rows.offer_norms(norms)
        return clean

    def visit(self, order: Ints) -> bool:
        """Visit the rows of ``order`` once; return whether all of them were visited.

        Where mistakes have become rare, another thread scores rows ahead under the present weights;
        what it found holds as long as no mistake comes before it, so the outcome is that of one
        thread, bit by bit.
        """
        learner = self.learner
        if learner.renormalise:
            return self._visit_renormalised(order)
        per_row = max(1, self.rows.numbers // max(1, self.rows.n_rows))
        large = order.size * per_row > threads.WORTH_A_THREAD and threads.n_threads() > 1
        share = max(1, (SHARE_SPARSE if self.rows.sparse else SHARE_DENSE) // per_row)
        position, trial = 0, AHEAD
        while position < order.size:
            before = learner.mistakes
            helped = large and self.rate * share < RARE and not learner.light_updates
            size = (trial if large and not helped else BLOCK) // per_row + 1
            trial = min(2 * trial, BLOCK)
            part = order[position : position + size]
            position += (seen := self._learn(part, share if helped else 0))
            if seen < part.size and learner.out_of_updates:
                return False
            self.rate = (learner.mistakes - before) / part.size
            if mapped_pages.watched:
                mapped_pages.relax()
        return True

    def _visit_renormalised(self, order: Ints) -> bool:
        """Visit the rows one by one, with weights of length one after each update."""
        learner = self.learner
        for position in range(order.size):
            before = learner.mistakes
            if not self._learn(order[position : position + 1]):
                return False
            if learner.mistakes > before:
                normalise(learner.weights)
        return True

    def _learn(self, order: Ints, share: int = 0) -> int:
        """Learn from some rows, helped where rows are to be shared; return how many came before a limit."""
        learner, seen = self.learner, 0
        while True:
            left = order[seen:]
            if share:
                seen += self._learn_together(left, share)
            else:
                learn = numpy_loops.learn if learner.few and learner.light_updates else loops.rows.learn
                seen += int(learn(self.rows.storage, left, learner.weights, learner.steps, learner.tally))
            if seen == order.size or learner.out_of_updates:
                return seen
            learner.flush_log()

    def _learn_together(self, order: Ints, share: int) -> int:
        """Learn while another thread scores rows ahead, so many at a time.

        It is waited for, which is short: the next helper, woken while this one is still on its way out,
        would be given the learner's core.
        """
        rows, weights, tally = self.rows.storage, self.learner.weights, self.learner.tally
        ahead = loops.ahead.ahead(share)
        helper = threads.submit(loops.ahead.help_to_learn, rows, order, weights, tally.norms, ahead)
        seen = int(loops.ahead.learn_together(rows, order, weights, self.learner.steps, tally, ahead))
        if not helper.cancel():
            helper.result()
        return seen
