"""Passes over rows in memory: every row is visited in turn, with a helper where mistakes are rare."""

from __future__ import annotations

from dataclasses import dataclass

from ..loops import ahead as ahead_loops
from ..loops.rows import learn
from ..result import Ints
from ..rows import threads
from ..rows.memory import MemoryRows
from ..rows.pages import relax
from .learner import Learner, normalise

BLOCK = 1 << 22  # numbers visited before Python runs again, and with it Ctrl-C
AHEAD = 1 << 18  # numbers visited before it is seen whether mistakes have become rare; then twice as many
# Numbers that a thread scores at a time: a mistake makes worthless what comes after it, but memory is
# read fastest in long stretches.
SHARE_DENSE, SHARE_SPARSE = 1 << 14, 1 << 11
RARE = 0.25  # mistakes in such a block from which on the other thread is more in the way than of help


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
            before, helped = learner.mistakes, large and self.rate * share < RARE
            size = (trial if large and not helped else BLOCK) // per_row + 1
            trial = min(2 * trial, BLOCK)
            part = order[position : position + size]
            position += (seen := self._learn(part, share if helped else 0))
            if seen < part.size and learner.out_of_updates:
                return False
            self.rate = (learner.mistakes - before) / part.size
            relax()
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
        ahead = ahead_loops.ahead(share)
        helper = threads.submit(ahead_loops.help_to_learn, rows, order, weights, tally.norms, ahead)
        seen = int(ahead_loops.learn_together(rows, order, weights, self.learner.steps, tally, ahead))
        if not helper.cancel():
            helper.result()
        return seen
