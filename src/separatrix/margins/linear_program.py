"""A separator by linear programming: HiGHS on a working set that scans complete.

The *primal* form looks for the weights: maximise t subject to ``<w, z_i> >= t`` and
``-1 <= w_j <= 1``. The largest t is positive exactly when the rows can be separated; if it is
zero, its multipliers (non-negative, not all zero) weigh the signed rows to zero.

The *dual* form looks for the multipliers of the perceptron, ``w = sum_i a_i z_i``: minimise
``sum_i a_i`` subject to ``<w, z_i> >= 1`` and ``a >= 0``. The weights stand in it as variables of
their own, so that no matrix of rows by rows is formed. It is feasible exactly when the rows can
be separated, because the largest-margin weights are such a combination.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..errors import InputError, SeparatrixError
from ..progress import Progress
from ..result import Floats, Ints
from ..rows.memory import MemoryRows
from .pairs import Pairs, mean_direction

FORMS = ("primal", "dual")
TOLERANCE = 1e-9
FIRST = 4096  # rows of the first program; smaller data goes in whole


@dataclass(frozen=True, eq=False)
class ProgramOptimum:
    """The solution of a separating linear program.

    Attributes
    ----------
    separated : bool
        Whether a look at every row found each of them on its own side.
    weights : ndarray of shape (width,) or (classes, width)
    value : float
        The objective: t in the primal form, the sum of the multipliers in the dual form.
    multipliers : ndarray of shape (support,)
        Primal form: weights of the rows that hold t down (they sum to one). Dual form: the a.
    rows, rivals : ndarray of int64, shape (support,)
        The rows that carry them, and the class each is held against.
    programs : int
        How often HiGHS was called.
    """

    separated: bool
    weights: Floats
    value: float
    multipliers: Floats
    rows: Ints
    rivals: Ints
    programs: int


def solve_linear_program(rows: MemoryRows, *, form: str = "primal") -> ProgramOptimum:
    """Find a separator by linear programming, or show that the program has none.

    Parameters
    ----------
    rows : MemoryRows
    form : {"primal", "dual"}

    Returns
    -------
    ProgramOptimum
    """
    if form not in FORMS:
        raise InputError(f"The form must be one of {', '.join(FORMS)}. Got {form!r} instead.")
    _ = rows.squared_norms  # every value is finite
    pairs = Pairs(rows)
    weights = mean_direction(rows)
    pairs.add(rows.scan(weights, FIRST).rows, weights)
    solve = _primal if form == "primal" else _dual
    programs = 0
    with Progress() as progress:
        while True:
            weights, value, multipliers, missing = solve(pairs)
            programs += 1
            found = rows.scan(weights, FIRST)
            wanted = value if form == "primal" else 1.0
            slack = TOLERANCE * max(1.0, rows.radius) * max(1.0, float(np.abs(weights).max(initial=0.0)))
            low = found.rows[found.scores < wanted - slack]
            added = pairs.add(low, weights) if low.size else 0
            if missing is not None:
                costly = rows.scan(-missing, FIRST)
                over = costly.rows[costly.scores < -1.0 - slack]
                added += pairs.add(over, -missing) if over.size else 0
            if added == 0:
                break
            if progress.due():
                progress.show(
                    f"linear program: {programs} solved, {pairs.size} rows, {found.mistakes} mistakes left"
                )
    used = multipliers > 0.0
    return ProgramOptimum(
        found.mistakes == 0,
        weights,
        value,
        multipliers[used],
        pairs.members[used],
        pairs.rivals[used],
        programs,
    )


def _primal(pairs: Pairs) -> tuple[Floats, float, Floats, None]:
    matrix = _matrix(pairs)
    size, width = matrix.shape
    columns = sparse.hstack([matrix, -np.ones((size, 1))], format="csc")
    cost = np.append(np.zeros(width), -1.0)
    # |<w, z>| never exceeds the sum of |z|, and t >= 0 is always possible (w = 0).
    bounds = np.append(-np.ones(width), 0.0), np.append(np.ones(width), np.inf)
    solution, prices = _highs(cost, columns, np.zeros(size), np.full(size, np.inf), *bounds)
    if solution is None:
        raise SeparatrixError("HiGHS did not solve a program that always has a solution. Scale the columns.")
    return solution[:-1].reshape(pairs.rows.weights_shape), float(solution[-1]), np.maximum(prices, 0.0), None


def _dual(pairs: Pairs) -> tuple[Floats, float, Floats, Floats | None]:
    matrix = _matrix(pairs)
    size, width = matrix.shape
    # variables (a, w); rows: w - Z^T a = 0 and Z w >= 1
    blocks = sparse.block_array([[-matrix.T, sparse.eye_array(width)], [None, matrix]], format="csc")
    cost = np.append(np.ones(size), np.zeros(width))
    lower = np.append(np.zeros(width), np.ones(size))
    upper = np.append(np.zeros(width), np.full(size, np.inf))
    bounds = np.append(np.zeros(size), np.full(width, -np.inf)), np.full(size + width, np.inf)
    solution, prices = _highs(cost, blocks, lower, upper, *bounds)
    shape = pairs.rows.weights_shape
    if solution is None:
        return np.zeros(shape), np.inf, np.zeros(size), None
    multipliers = np.maximum(solution[:size], 0.0)
    weights = np.asarray(matrix.T @ multipliers).reshape(shape)
    return weights, float(multipliers.sum()), multipliers, -prices[:width].reshape(shape)


def _matrix(pairs: Pairs) -> Any:
    return sparse.csr_array(pairs.matrix())


def _highs(
    cost: Floats, matrix: Any, row_lower: Floats, row_upper: Floats, lower: Floats, upper: Floats
) -> tuple[Floats | None, Floats]:
    """Minimise by HiGHS; return the solution (None if there is none) and the rows' prices."""
    import highspy

    program = highspy.HighsLp()
    program.num_row_, program.num_col_ = matrix.shape
    program.col_cost_, program.col_lower_, program.col_upper_ = cost, lower, upper
    program.row_lower_, program.row_upper_ = row_lower, row_upper
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_, program.a_matrix_.index_ = matrix.indptr, matrix.indices
    program.a_matrix_.value_ = matrix.data
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("primal_feasibility_tolerance", TOLERANCE)
    solver.setOptionValue("dual_feasibility_tolerance", TOLERANCE)
    solver.passModel(program)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None, np.zeros(matrix.shape[0])
    solution = solver.getSolution()
    return np.asarray(solution.col_value), np.asarray(solution.row_dual)
