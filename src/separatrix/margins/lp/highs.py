"""HiGHS, set up in one way for every linear program of the package."""

from __future__ import annotations

from typing import Any

import highspy

from ...deadline import Deadline
from ...result import Status

TOLERANCE = 1e-9
# For programs that change a little at a time: each run starts from the last basis.
WARM: dict[str, Any] = {"presolve": "off", "threads": 1, "small_matrix_value": 1e-12}


def quiet_solver(**options: Any) -> Any:
    """A solver that prints nothing and accepts errors of ``TOLERANCE``; other options as HiGHS names them."""
    make: Any = highspy.Highs  # untyped in some releases
    solver = make()
    tolerances = {"primal_feasibility_tolerance": TOLERANCE, "dual_feasibility_tolerance": TOLERANCE}
    for option, value in {"output_flag": False, **tolerances, **options}.items():
        solver.setOptionValue(option, value)
    return solver


def run_until(solver: Any, deadline: Deadline) -> Status:
    """Optimise until the deadline; REACHED where HiGHS itself calls the end optimal.

    STALLED is any other end: no solution exists, or HiGHS found none.
    """
    solver.setOptionValue("time_limit", solver.getRunTime() + deadline.left)
    solver.run()
    ends = {
        highspy.HighsModelStatus.kOptimal: Status.REACHED,
        highspy.HighsModelStatus.kTimeLimit: Status.TIME_LIMIT,
    }
    return ends.get(solver.getModelStatus(), Status.STALLED)
