"""HiGHS with the same settings for every linear program of the package."""

from __future__ import annotations

from typing import Any

import highspy

from ...deadline import Deadline
from ...result import Status

TOLERANCE = 1e-9


def quiet_solver(**options: Any) -> Any:
    """Return a silent solver that accepts errors of ``TOLERANCE``; other options have the names of HiGHS."""
    make: Any = highspy.Highs  # untyped in some releases
    solver = make()
    tolerances = {"primal_feasibility_tolerance": TOLERANCE, "dual_feasibility_tolerance": TOLERANCE}
    for option, value in {"output_flag": False, **tolerances, **options}.items():
        solver.setOptionValue(option, value)
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
