"""The linear program behind separability: as much margin as bounded weights can give on a working set.

Maximise t subject to ``Zw >= t``, ``Ew = 0`` and ``|w| <= 1`` in every coordinate. The optimum is
positive if and only if some w on the planes E separates the rows Z; where it is zero, the dual values
are Gordan's multipliers. Numbers are floats: they guide, and prove nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]

TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Optimum:
    """What one solve found.

    Attributes
    ----------
    margin : float
        The smallest score on the working set, in units of the scaled rows.
    weights : ndarray of shape (width,)
    duals : ndarray
        The dual value of each row, in the order in which rows were added.
    solved : bool
        Whether the solver itself calls this optimal.
    """

    margin: float
    weights: Floats
    duals: Floats
    solved: bool


class ConeProgram:
    """A linear program that grows by rows and starts each solve from its last basis."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._highs: Any = highspy.Highs()  # type: ignore[no-untyped-call,unused-ignore]
        for option, value in (
            ("output_flag", False),
            ("presolve", "off"),
            ("threads", 1),
            ("small_matrix_value", 1e-12),
            ("primal_feasibility_tolerance", TOLERANCE),
            ("dual_feasibility_tolerance", TOLERANCE),
        ):
            self._highs.setOptionValue(option, value)
        ones = np.ones(width)
        self._highs.addVars(width, -ones, ones)
        self._highs.addVars(1, np.array([-highspy.kHighsInf]), np.ones(1))
        self._highs.changeColCost(width, 1.0)
        self._highs.changeObjectiveSense(highspy.ObjSense.kMaximize)

    def add(self, rows: Any, *, tight: bool = False) -> None:
        """Add rows (CSR, already scaled): on the plane if tight, else at least the margin above it."""
        n_rows = rows.shape[0]
        if not n_rows:
            return
        last = sparse.csr_array(np.full((n_rows, 1), 0.0 if tight else -1.0))
        matrix = sparse.csr_array(sparse.hstack([rows, last], format="csr"))
        zeros = np.zeros(n_rows)
        self._highs.addRows(
            n_rows,
            zeros,
            zeros if tight else np.full(n_rows, highspy.kHighsInf),
            matrix.nnz,
            matrix.indptr[:-1].astype(np.int32),
            matrix.indices.astype(np.int32),
            matrix.data,
        )

    def solve(self, seconds: float = math.inf) -> Optimum:
        """Optimise from the last basis; after so many seconds, give up."""
        self._highs.setOptionValue("time_limit", self._highs.getRunTime() + seconds)
        self._highs.run()
        solved = self._highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
        solution = self._highs.getSolution()
        values = np.asarray(solution.col_value)
        if values.size != self.width + 1:
            return Optimum(np.nan, np.zeros(self.width), np.zeros(0), False)
        return Optimum(float(values[-1]), values[:-1], -np.asarray(solution.row_dual), solved)
