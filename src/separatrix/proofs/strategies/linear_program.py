"""Linear program: as much margin as bounded weights can give on a working set, by the simplex method.

Maximize t subject to ``Zw >= t``, ``Tw = 0`` on the tight rows T, and ``|w| <= 1``. The optimum is positive
if and only if some w separates the working set. If it is zero, its dual values are Gordan's multipliers: a
vertex, so that at most one row more than there are columns has one. They are made exact by one rational
solve. While the working set is separated, rows join it that the weights get wrong.
"""

from __future__ import annotations

import numpy as np

from ...deadline import OutOfTime
from ...margins.lp.cone_program import ConeProgram
from ...result import Status
from ..problem import (
    NOTHING,
    Attempt,
    Combination,
    Floats,
    Inseparable,
    Ints,
    Knowledge,
    Learned,
    Problem,
    Separated,
)
from ..signed_rows import EXTRA

POSITIVE = 1e-8  # a margin of the linear program above this is worth a scan
NEARLY = 1e-6  # of the margin: scores below are not trusted to be positive
# Measured on 1,000 x 300 to 3,000 x 1,500 numbers: 1.5e-8 to 7e-8.
READ = 1e-7  # seconds that HiGHS takes to read a number, which cannot be interrupted
FIRST = 1000  # rows that a working set starts with, or grows by, at most


class LinearProgram:
    """Dantzig's simplex method on a working set that grows."""

    name = "linear program"
    small = True

    def applies(self, problem: Problem) -> bool:
        """Always."""
        return True

    def attempt(self, problem: Problem, known: Knowledge) -> Attempt:
        """Start from the hard rows that are known; from all rows, if they are few."""
        program = WorkingProgram(problem)
        try:
            if problem.rows.small:
                program.add(problem.rows.ids[problem.among])
            else:
                hard = problem.hard_rows(known)
                program.add(hard if hard.size else problem.sample(min(problem.rows.width + 100, FIRST)))
            return program.decide()
        except OutOfTime:
            return Learned(program.members, program.upper)


class WorkingProgram:
    """The linear program of a problem on a working set; each solve starts from the last basis."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.members, self.duals = problem, NOTHING, np.zeros(0)
        self.program = ConeProgram(problem.rows.width)
        if problem.tight.size:
            self.program.add(problem.rows.floats(problem.tight), tight=True)

    def add(self, ids: Ints) -> None:
        """Let rows join the working set."""
        if ids.size:
            rows = self.problem.rows.floats(ids)
            self.problem.deadline.need(READ * rows.size)
            self.program.add(rows)
            self.members = np.concatenate([self.members, ids])

    def with_extra(self, problem: Problem) -> Attempt:
        """Decide the problem with one row more (`SignedRows.with_row`), then with another in its place."""
        self.problem, extra = problem, np.array([EXTRA])
        signed = problem.rows
        if self.members.size:
            row = signed.floats(extra)
            self.program.change(problem.tight.size, (row if signed.small else row.toarray())[0])
        else:
            few = signed.ids[problem.among] if signed.small else problem.sample(signed.width + 100)
            self.add(np.append(extra, few))
        return self.decide()

    @property
    def upper(self) -> float | None:
        """A bound of the margin from above, by the last dual values."""
        used = self.members[: self.duals.size]
        return self.problem.rows.margin_upper(used, self.duals) if self.duals.size else None

    def decide(self) -> Attempt:
        """Solve, and let violated rows join, until the checker accepts weights or multipliers are exact.

        Raises OutOfTime when the deadline comes first.
        """
        problem = self.problem
        signed, step = problem.rows, min(max(200, problem.rows.width // 2), FIRST)
        while True:
            problem.deadline.need()
            best = self.program.solve(problem.deadline)
            if best.status is not Status.REACHED:
                return Learned(self.members, self.upper)
            duals = np.abs(best.duals[problem.tight.size :])
            if best.margin <= POSITIVE:
                found = self._combination(duals)
                return Learned(self.members) if found is None else Inseparable(found)
            self.duals = duals
            ids, scores = signed.lowest(best.weights, step, problem.among)
            if scores[0] > 0:
                weights = problem.exact_weights(best.weights)
                if problem.accept(weights):
                    return Separated(weights, upper=self.upper)
            # A score so small may be a zero that was rounded: such rows belong into the working set.
            low = ids[scores <= NEARLY * best.margin]
            if not np.setdiff1d(low, self.members).size:
                return Learned(self.members, self.upper)
            self.add(np.setdiff1d(ids, self.members))

    def _combination(self, duals: Floats) -> Combination | None:
        """Gordan's multipliers, exactly, on the support of the dual values."""
        order = np.argsort(-duals, kind="stable")
        support = order[duals[order] > 1e-9 * duals.max(initial=0.0)]
        return self.problem.combination(self.members[support], duals[support]) if support.size else None
