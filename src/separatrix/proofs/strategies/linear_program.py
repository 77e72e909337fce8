"""Linear program: as much margin as bounded weights can give on a working set, by the simplex method.

Maximize t subject to ``Zw >= t``, ``Tw = 0`` on the tight rows T, and ``|w| <= 1``. The optimum is positive
if and only if some w separates the working set. If it is zero, its dual values are Gordan's multipliers: a
vertex, so that at most one row more than there are columns has one. They are made exact by one rational
solve. While the working set is separated, rows join it that the weights get wrong.
"""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np

from ...deadline import OutOfTime
from ...margins.lp.highs import quiet_solver, run_until
from ...result import Status
from ...rows.protocol import Floats, Ints
from ...sparse import dense, sparse
from ..search import (
    NO_ROWS,
    WORKING_SET,
    Attempt,
    Combination,
    Inseparable,
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
# Steps for each row and column of the program. Programs that end took at most one. On columns that are nearly
# dependent, HiGHS may go round in circles: 88,000 steps with 290 rows and 96 columns.
STEPS = 20


class LinearProgram:
    """Dantzig's simplex method on a working set that grows."""

    name = "linear program"
    share = 0.5  # the exact partition decides what rounding hides from it

    def applies(self, problem: Problem) -> bool:
        """Return True: it can answer every problem."""
        return True

    def attempt(self, problem: Problem, known: Knowledge) -> Attempt:
        """Start from the hard rows that are known; from all rows, if they are few."""
        program = WorkingProgram(problem)
        try:
            if problem.rows.small:
                program.add(problem.rows.ids[problem.among])
            else:
                hard = problem.hard_rows(known)
                program.add(hard if hard.size else problem.sample(min(problem.rows.width + 100, WORKING_SET)))
            return program.decide()
        except OutOfTime:
            return Learned(program.members, program.upper)


class WorkingProgram:
    """The linear program of a problem on a working set; each solve starts from the last basis."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.members, self.duals = problem, NO_ROWS, np.zeros(0)
        width = problem.rows.width
        self.solver = quiet_solver(presolve="off", threads=1, small_matrix_value=1e-12)
        self.solver.addVars(width, -np.ones(width), np.ones(width))
        self.solver.addVars(1, np.array([-highspy.kHighsInf]), np.ones(1))  # t
        self.solver.changeColCost(width, 1.0)
        self.solver.changeObjectiveSense(highspy.ObjSense.kMaximize)
        if problem.tight.size:
            self._add(problem.rows.floats(problem.tight), tight=True)

    def add(self, ids: Ints) -> None:
        """Let rows join the working set."""
        if ids.size:
            self._add(self.problem.rows.floats(ids), tight=False)
            self.members = np.concatenate([self.members, ids])

    def _add(self, rows: Any, tight: bool) -> None:
        self.problem.deadline.need(READ * rows.size)
        starts, columns, values = entries(rows, 0.0 if tight else -1.0)
        lower = np.zeros(starts.size)
        upper = lower if tight else np.full(starts.size, highspy.kHighsInf)
        self.solver.addRows(starts.size, lower, upper, values.size, starts, columns, values)

    def with_extra(self, problem: Problem) -> Attempt:
        """Decide the problem with an extra row (`SignedRows.with_row`); the next call replaces that row."""
        self.problem, extra = problem, np.array([EXTRA])
        signed = problem.rows
        if self.members.size:
            for column, value in enumerate(dense(signed.floats(extra))[0].tolist()):
                self.solver.changeCoeff(problem.tight.size, column, value)
        else:
            few = signed.ids[problem.among] if signed.small else problem.sample(signed.width + 100)
            self.add(np.append(extra, few))
        return self.decide()

    @property
    def upper(self) -> float | None:
        """A bound of the margin from above, by the last dual values."""
        used = self.members[: self.duals.size]
        return self.problem.rows.margin_upper(used, self.duals) if self.duals.size else None

    def solve(self) -> tuple[Status, Floats, Floats]:
        """Return how the solver ended, the weights followed by t, and the dual value of each row."""
        steps = STEPS * (self.solver.getNumRow() + self.solver.getNumCol())
        self.solver.setOptionValue("simplex_iteration_limit", steps)
        status = run_until(self.solver, self.problem.deadline)
        solution = self.solver.getSolution()
        found = np.asarray(solution.col_value)
        if status is Status.REACHED and found.size != self.problem.rows.width + 1:
            status = Status.STALLED
        return status, found, -np.asarray(solution.row_dual)

    def decide(self) -> Attempt:
        """Solve, and add violated rows, until the checker accepts weights or multipliers are exact.

        Raises OutOfTime if the deadline comes first.
        """
        problem = self.problem
        signed, step = problem.rows, min(max(200, problem.rows.width // 2), WORKING_SET)
        while True:
            problem.deadline.need()
            status, found, duals = self.solve()
            if status is not Status.REACHED:
                return Learned(self.members, self.upper)
            weights, margin, duals = found[:-1], float(found[-1]), np.abs(duals[problem.tight.size :])
            if margin <= POSITIVE:
                combination = self._combination(duals)
                return Learned(self.members) if combination is None else Inseparable(combination)
            self.duals = duals
            fresh = NO_ROWS
            if not signed.small:  # otherwise all rows are in the program
                ids, scores = signed.lowest(weights, step, problem.among)
                # A score this small may be a zero that was rounded: its row belongs into the working set.
                if np.setdiff1d(ids[scores <= NEARLY * margin], self.members).size:
                    fresh = np.setdiff1d(ids, self.members)
            if signed.small or scores[0] > 0:
                exact = problem.exact_weights(weights)
                if problem.accept(exact):
                    return Separated(exact, upper=self.upper)
            if not fresh.size:
                return Learned(self.members, self.upper)
            self.add(fresh)

    def _combination(self, duals: Floats) -> Combination | None:
        """Return Gordan's multipliers, exactly, on the support of the dual values."""
        order = np.argsort(-duals, kind="stable")
        support = order[duals[order] > 1e-9 * duals.max(initial=0.0)]
        return self.problem.combination(self.members[support], duals[support]) if support.size else None


def entries(rows: Any, last: float) -> tuple[Ints, Ints, Floats]:
    """Return the start of each row, and the columns and values that are not zero, with a last column."""
    more = np.full((rows.shape[0], 1), last)
    if sparse.issparse(rows):
        matrix = sparse.csr_array(sparse.hstack([rows, sparse.csr_array(more)], format="csr"))
        return matrix.indptr[:-1].astype(np.int32), matrix.indices.astype(np.int32), matrix.data
    values = np.hstack([rows, more])
    used = values != 0.0
    starts = np.cumsum(used.sum(axis=1)) - used.sum(axis=1)
    return starts.astype(np.int32), np.nonzero(used)[1].astype(np.int32), values[used]
