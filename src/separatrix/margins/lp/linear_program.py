"""A separator by linear programming: HiGHS on a working set that scans complete.

The *primal* form finds weights. Objective "margin": maximize t subject to ``<w, z_i> >= t`` and ``-1 <= w_j
<= 1``. The largest t is positive if and only if the rows can be separated. If it is zero, the combination of
the signed rows by its multipliers (non-negative, not all zero) is zero.

The *dual* form finds the multipliers of the perceptron, ``w = sum_i a_i z_i``: minimize ``sum_i a_i`` subject
to ``<w, z_i> >= 1`` and ``a >= 0``. The weights are variables too, so that no matrix of rows by rows is
formed. It is feasible if and only if the rows can be separated, because the weights of the largest margin
have this form.

Objective "feasible" asks for no best solution: the constraints are ``<w, z_i> >= 1``, and the objective is
zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import highspy
import numpy as np

from ...deadline import NEVER, Deadline, OutOfTime
from ...errors import InputError, SeparatrixError
from ...progress import Progress
from ...result import Floats, Ints, Solution, Status
from ...rows.protocol import Rows
from ...sparse import sparse
from ..pairs import Pairs, mean_direction
from .highs import TOLERANCE, quiet_solver, run_until

FORMS = ("primal", "dual")
OBJECTIVES = ("margin", "feasible")
FIRST = 4096  # the largest number of rows that a scan adds to the program
# HiGHS does not look at the clock while it reads a program. This is its work per number, in operations of a
# factorization: twice the half microsecond measured on 2.4 million numbers.
FLOPS_A_NUMBER = 1000.0


@dataclass(frozen=True, eq=False)
class ProgramOptimum(Solution):
    """The solution of a separating linear program.

    Attributes
    ----------
    status : Status
        REACHED if no row is missing from the last program, TIME_LIMIT if the deadline came first. The result
        is then that of the last program that was scanned.
    separated : bool
        Whether a scan found every row on the correct side.
    weights : ndarray of shape (width,) or (classes, width)
    value : float
        The objective. Primal form: t, zero if no program was solved in time. Dual form: the sum of the
        multipliers. Objective "feasible": zero. The last two are infinite if no program was solved in time or
        HiGHS finds no solution.
    multipliers : ndarray of shape (support,)
        Primal form: the dual values of the rows, which sum to one if t is positive; all are zero, and none is
        listed, if the objective is zero. Dual form: a.
    rows, rivals : ndarray of int64, shape (support,)
        The rows that carry the multipliers, and the rival class of each.
    programs : int
        The number of calls of HiGHS.
    """

    separated: bool
    weights: Floats
    value: float
    multipliers: Floats
    rows: Ints
    rivals: Ints
    programs: int


def solve_linear_program(
    rows: Rows, *, form: str = "primal", objective: str = "margin", deadline: Deadline = NEVER
) -> ProgramOptimum:
    """Find a separator by linear programming; if HiGHS finds none, the result is not separated.

    Parameters
    ----------
    rows : Rows
        The solver uses scans and copies of the rows of the working set.
    form : {"primal", "dual"}
    objective : {"margin", "feasible"}
    deadline : Deadline
        When to stop and return what is known by then, within a fraction of a second and one scan.

    Returns
    -------
    ProgramOptimum
    """
    if form not in FORMS:
        raise InputError(f"The form must be one of {', '.join(FORMS)}. Got {form!r} instead.")
    if objective not in OBJECTIVES:
        raise InputError(f"The objective must be one of {', '.join(OBJECTIVES)}. Got {objective!r} instead.")
    _ = rows.squared_norms  # raises if a value is not finite
    search = ProgramSearch(rows, PROGRAMS[form, objective], deadline)
    try:
        with Progress() as progress:
            search.run(progress)
    except OutOfTime:
        return search.optimum(Status.TIME_LIMIT)
    return search.optimum(Status.REACHED)


@dataclass(frozen=True, eq=False)
class _Solution:
    """The solution of one program: weights, objective, and the multipliers of its pairs.

    ``missing`` (dual form only) are the dual values of ``w = sum of a_i z_i``. A row that scores above one
    under them would lower the sum of the multipliers.
    """

    weights: Floats
    value: float
    multipliers: Floats
    missing: Floats | None = None


class ProgramSearch:
    """Solutions of the program of a working set and scans of all rows, in turn."""

    def __init__(self, rows: Rows, solve: Callable[[Pairs, Deadline], _Solution], deadline: Deadline) -> None:
        self.rows, self.deadline, self.solve = rows, deadline, solve
        self.pairs = Pairs(rows)
        self.programs = 0
        # The last program that was scanned.
        self.best = _Solution(np.zeros(rows.weights_shape), 0.0 if solve is _primal else np.inf, np.zeros(0))
        self.members, self.rivals, self.separated = self.pairs.members, self.pairs.rivals, False

    def run(self, progress: Progress) -> None:
        """Solve programs until a scan adds no row to them."""
        self.deadline.need()
        weights = mean_direction(self.rows)
        self.deadline.need()
        self.pairs.add(self.rows.scan(weights, FIRST).rows, weights)
        while True:
            self.deadline.need()
            found = self.solve(self.pairs, self.deadline)
            self.programs += 1
            mistakes, added = self.scan(found)
            if added == 0:
                return
            if progress.due():
                done = f"linear program: {self.programs} solved, {self.pairs.size} rows"
                progress.show(f"{done}, {mistakes} mistakes left")

    def scan(self, found: _Solution) -> tuple[int, int]:
        """Score all rows; return the number on the wrong side and the number added to the working set."""
        pairs, weights = self.pairs, found.weights
        lowest = self.rows.scan(weights, FIRST)
        self.best, self.members, self.rivals = found, pairs.members, pairs.rivals
        self.separated = lowest.mistakes == 0
        wanted = found.value if self.solve is _primal else 1.0
        slack = TOLERANCE * max(1.0, self.rows.radius) * max(1.0, float(np.abs(weights).max(initial=0.0)))
        low = lowest.rows[lowest.scores < wanted - slack]
        added = pairs.add(low, weights) if low.size else 0
        if found.missing is not None:
            self.deadline.need()
            costly = self.rows.scan(-found.missing, FIRST)
            over = costly.rows[costly.scores < -1.0 - slack]
            added += pairs.add(over, -found.missing) if over.size else 0
        return lowest.mistakes, added

    def optimum(self, status: Status) -> ProgramOptimum:
        """Return the solution of the last program that was scanned."""
        used = self.best.multipliers > 0.0
        return ProgramOptimum(
            status,
            self.separated,
            self.best.weights,
            self.best.value,
            self.best.multipliers[used],
            self.members[used],
            self.rivals[used],
            self.programs,
        )


def _primal(pairs: Pairs, deadline: Deadline) -> _Solution:
    matrix = _matrix(pairs, 1, deadline)
    size, width = matrix.shape
    columns = sparse.hstack([matrix, -np.ones((size, 1))], format="csc")
    cost = np.append(np.zeros(width), -1.0)
    # t is bounded, because |<w, z>| is at most the sum of |z_j|, and t = 0 is feasible (w = 0).
    bounds = np.append(-np.ones(width), 0.0), np.append(np.ones(width), np.inf)
    solution, prices = _highs(cost, columns, np.zeros(size), np.full(size, np.inf), *bounds, deadline)
    if solution is None:
        raise SeparatrixError(
            "HiGHS did not solve a program that always has a solution.",
            remedy="Scale the columns.",
            parameter="X",
        )
    weights = solution[:-1].reshape(pairs.rows.weights_shape)
    return _Solution(weights, float(solution[-1]), np.maximum(prices, 0.0))


def _feasible(pairs: Pairs, deadline: Deadline) -> _Solution:
    matrix = _matrix(pairs, 1, deadline)
    size, width = matrix.shape
    sides, free = (np.ones(size), np.full(size, np.inf)), np.full(width, np.inf)
    solution, _ = _highs(np.zeros(width), sparse.csc_array(matrix), *sides, -free, free, deadline)
    value, weights = (np.inf, np.zeros(width)) if solution is None else (0.0, solution)
    return _Solution(weights.reshape(pairs.rows.weights_shape), value, np.zeros(size))


def _dual(pairs: Pairs, deadline: Deadline, price: float = 1.0) -> _Solution:
    matrix = _matrix(pairs, 2, deadline)
    size, width = matrix.shape
    # The variables are (a, w); the rows are w - Z^T a = 0 and Z w >= 1.
    blocks = sparse.block_array([[-matrix.T, sparse.eye_array(width)], [None, matrix]], format="csc")
    cost = np.append(np.full(size, price), np.zeros(width))
    lower = np.append(np.zeros(width), np.ones(size))
    upper = np.append(np.zeros(width), np.full(size, np.inf))
    bounds = np.append(np.zeros(size), np.full(width, -np.inf)), np.full(size + width, np.inf)
    solution, prices = _highs(cost, blocks, lower, upper, *bounds, deadline)
    shape = pairs.rows.weights_shape
    if solution is None:
        return _Solution(np.zeros(shape), np.inf, np.zeros(size))
    multipliers = np.maximum(solution[:size], 0.0)
    weights = np.asarray(matrix.T @ multipliers).reshape(shape)
    missing = -prices[:width].reshape(shape) if price else None
    return _Solution(weights, price * float(multipliers.sum()), multipliers, missing)


PROGRAMS: dict[tuple[str, str], Callable[[Pairs, Deadline], _Solution]] = {
    ("primal", "margin"): _primal,
    ("primal", "feasible"): _feasible,
    ("dual", "margin"): _dual,
    ("dual", "feasible"): partial(_dual, price=0.0),
}


def _matrix(pairs: Pairs, copies: int, deadline: Deadline) -> Any:
    """Return the signed rows as CSR; raise OutOfTime if HiGHS could not read this many copies in time."""
    blocks = 1 if pairs.blocks == 1 else 2
    numbers = copies * blocks * pairs.size * pairs.rows.numbers / pairs.rows.n_rows
    deadline.need(operations=FLOPS_A_NUMBER * numbers)
    return sparse.csr_array(pairs.matrix())


def _highs(
    cost: Floats,
    matrix: Any,
    row_lower: Floats,
    row_upper: Floats,
    lower: Floats,
    upper: Floats,
    deadline: Deadline,
) -> tuple[Floats | None, Floats]:
    """Minimize with HiGHS; return the solution, or None if it does not exist, and the dual values."""
    program = highspy.HighsLp()
    program.num_row_, program.num_col_ = matrix.shape
    program.col_cost_, program.col_lower_, program.col_upper_ = cost, lower, upper
    program.row_lower_, program.row_upper_ = row_lower, row_upper
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_, program.a_matrix_.index_ = matrix.indptr, matrix.indices
    program.a_matrix_.value_ = matrix.data
    solver = quiet_solver()
    solver.passModel(program)
    status = run_until(solver, deadline)
    if status is Status.TIME_LIMIT:
        raise OutOfTime
    if status is not Status.REACHED:
        return None, np.zeros(matrix.shape[0])
    solution = solver.getSolution()
    return np.asarray(solution.col_value), np.asarray(solution.row_dual)
