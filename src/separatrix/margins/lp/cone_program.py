"""The linear program behind separability: as much margin as bounded weights can give on a working set.

Maximise t subject to ``Zw >= t``, ``Ew = 0`` and ``|w| <= 1`` in every coordinate. The optimum is
positive if and only if some w on the planes E separates the rows Z; where it is zero, the dual values
are Gordan's multipliers. Numbers are floats: they guide, and prove nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray

from ...deadline import NEVER, Deadline
from ...result import Floats, Solution, Status
from ...sparse import sparse
from .highs import WARM, quiet_solver, run_until


@dataclass(frozen=True, eq=False)
class ConeOptimum(Solution):
    """What one solve found.

    Attributes
    ----------
    status : Status
        REACHED where the solver itself calls this optimal, TIME_LIMIT where the deadline came first.
    margin : float
        The smallest score on the working set, in units of the scaled rows; NaN where none is known.
    weights : ndarray of shape (width,)
    duals : ndarray
        The dual value of each row, in the order in which rows were added.
    """

    margin: float
    weights: Floats
    duals: Floats


class ConeProgram:
    """A linear program that grows by rows and starts each solve from its last basis."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._highs = quiet_solver(**WARM)
        ones = np.ones(width)
        self._highs.addVars(width, -ones, ones)
        self._highs.addVars(1, np.array([-highspy.kHighsInf]), np.ones(1))
        self._highs.changeColCost(width, 1.0)
        self._highs.changeObjectiveSense(highspy.ObjSense.kMaximize)

    def add(self, rows: Any, *, tight: bool = False) -> None:
        """Add rows (CSR or an array, already scaled): on the plane if tight, else the margin above it."""
        n_rows = rows.shape[0]
        if not n_rows:
            return
        starts, columns, values = _entries(rows, 0.0 if tight else -1.0)
        zeros = np.zeros(n_rows)
        self._highs.addRows(
            n_rows,
            zeros,
            zeros if tight else np.full(n_rows, highspy.kHighsInf),
            values.size,
            starts,
            columns,
            values,
        )

    def change(self, place: int, row: Floats) -> None:
        """Put other numbers into a row that is not tight, the first after so many."""
        for column, value in enumerate(row.tolist()):
            self._highs.changeCoeff(place, column, value)

    def solve(self, deadline: Deadline = NEVER) -> ConeOptimum:
        """Optimise from the last basis; at the deadline, give up."""
        status = run_until(self._highs, deadline)
        solution = self._highs.getSolution()
        values = np.asarray(solution.col_value)
        if values.size != self.width + 1:
            status = Status.STALLED if status is Status.REACHED else status
            return ConeOptimum(status, np.nan, np.zeros(self.width), np.zeros(0))
        return ConeOptimum(status, float(values[-1]), values[:-1], -np.asarray(solution.row_dual))


def _entries(rows: Any, last: float) -> tuple[NDArray[np.int32], NDArray[np.int32], Floats]:
    """Where each row starts; the columns and values that are not zero, with one last column more."""
    more = np.full((rows.shape[0], 1), last)
    if sparse.issparse(rows):
        matrix = sparse.csr_array(sparse.hstack([rows, sparse.csr_array(more)], format="csr"))
        return matrix.indptr[:-1].astype(np.int32), matrix.indices.astype(np.int32), matrix.data
    values = np.hstack([rows, more])
    used = values != 0.0
    starts = np.cumsum(used.sum(axis=1)) - used.sum(axis=1)
    return starts.astype(np.int32), np.nonzero(used)[1].astype(np.int32), values[used]
