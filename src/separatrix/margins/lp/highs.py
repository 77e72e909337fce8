"""HiGHS with the same settings for every linear program of the package."""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np

from ...deadline import Deadline
from ...result import Status
from ...rows.protocol import Floats

TOLERANCE = 1e-9


def quiet_solver(**options: Any) -> Any:
    """Return a silent solver that accepts errors of ``TOLERANCE``; other options have the names of HiGHS."""
    make: Any = highspy.Highs  # untyped in some releases
    solver = make()
    tolerances = {"primal_feasibility_tolerance": TOLERANCE, "dual_feasibility_tolerance": TOLERANCE}
    for option, value in {"output_flag": False, **tolerances, **options}.items():
        solver.setOptionValue(option, value)
    return solver


def column_solver(values: Floats, cost: Floats, upper: Floats, sums: Floats, **options: Any) -> Any:
    """Return a solver of ``min cost'x, values'x = sums, 0 <= x <= upper``."""
    size, width = values.shape
    program = highspy.HighsLp()
    program.num_row_, program.num_col_ = width, size
    program.col_cost_, program.col_lower_, program.col_upper_ = cost, np.zeros(size), upper
    program.row_lower_ = program.row_upper_ = sums
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    places, columns = np.nonzero(values)
    program.a_matrix_.start_ = np.searchsorted(places, np.arange(size + 1))
    program.a_matrix_.index_, program.a_matrix_.value_ = columns, values[places, columns]
    solver = quiet_solver(**options)
    solver.passModel(program)
    return solver


def run_until(solver: Any, deadline: Deadline) -> Status:
    """Optimize until the deadline; return REACHED if HiGHS reports an optimum.

    Any other end is STALLED: no solution exists, or HiGHS did not find one.
    """
    solver.setOptionValue("time_limit", solver.getRunTime() + deadline.left)
    solver.run()
    ends = {
        highspy.HighsModelStatus.kOptimal: Status.REACHED,
        highspy.HighsModelStatus.kTimeLimit: Status.TIME_LIMIT,
    }
    return ends.get(solver.getModelStatus(), Status.STALLED)
