"""Cycles: weights that come back prove that nothing separates the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..result import Cycle, Floats, Ints
from .learner import Learner

EXACT = 2.0**52


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
    """Brent's method: each state is compared with the one kept after 1, 2, 4, 8, ... passes.

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
