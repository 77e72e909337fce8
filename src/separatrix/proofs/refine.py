"""Iterative refinement: a floating-point linear program, solved to as many digits as the answer needs.

Each round measures in exact integers by how much the last solution misses the constraints, the bounds and
optimality, magnifies these misses, and asks the solver for the correction only (Gleixner, Steffy and
Wolter 2016). Every round adds several digits. The result still proves nothing: it guides the repair.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray

from ..deadline import Deadline
from ..margins.highs import WARM, quiet_solver, run_until
from ..margins.optimum import Outcome
from ..sparse import sparse

Floats = NDArray[np.float64]
Objects = NDArray[Any]

BITS = 64  # precision of the first solution, in bits after the point
GAIN = 24  # bits by which a round may magnify the misses
UNBOUNDED = 1e15
TRUSTED = 1e5  # corrections are of the size of the misses, about 1; larger ones are not asked for


def refined(
    rows: Objects, shift: int, n_tight: int, rounds: int, deadline: Deadline
) -> Iterator[tuple[list[int], Floats]]:
    """Better and better weights (integers, on one scale) and dual values for the cone program of exact rows.

    Parameters
    ----------
    rows : ndarray of int objects, shape (rows, width)
        The scaled rows times ``2**shift``; the first ``n_tight`` are to be on the plane.
    shift : int
    n_tight : int
    rounds : int
    deadline : Deadline
        When to give up: the iteration ends, or OutOfTime is raised.
    """
    n_rows, width = rows.shape
    program = _Program(rows, shift, n_tight, deadline)
    scale = 0  # solution is integers / 2**scale
    x: Objects = np.zeros(width + 1, dtype=object)
    slack: Objects = np.zeros(n_rows, dtype=object)
    y: Objects = np.zeros(n_rows, dtype=object)
    bits = 0  # the misses are magnified by 2**bits
    ones = np.zeros(n_rows, dtype=object)
    ones[n_tight:] = 1
    for _ in range(rounds):
        deadline.need()
        one = 1 << scale
        # Everything below is exact: integers over 2**(scale + shift).
        missed = -(rows.dot(x[:width]) - ((ones * x[width] + slack) << shift))
        gain = rows.T.dot(y)
        left = (one - int((ones * y).sum())) << shift
        found = program.solve(
            _floats(missed, scale + shift - bits),
            (_floats(-one - x[:width], scale - bits), _floats(one - x[:width], scale - bits)),
            float(_floats(np.array([one - x[width]], dtype=object), scale - bits)[0]),
            _floats(-slack, scale - bits),
            np.append(
                _floats(gain, scale + shift - bits),
                _floats(np.array([left], dtype=object), scale + shift - bits),
            ),
            _floats(-y, scale - bits),
        )
        if found is None:
            return
        moved, slid, priced = found
        grown = max(0, BITS + bits - scale)
        scale += grown
        x, slack, y = x << grown, slack << grown, y << grown
        x = x + _integers(moved, scale - bits)
        slack = slack + _integers(slid, scale - bits)
        slack[:n_tight] = 0
        slack[slack < 0] = 0
        y = y + _integers(priced, scale - bits)
        yield x[:width].tolist(), _floats(y, scale)
        bits += GAIN


def _floats(values: Objects, scale: int) -> Floats:
    """``values / 2**scale`` in floats, however large the integers."""
    out = np.zeros(values.shape)
    for i, value in enumerate(values.tolist()):
        excess = max(0, value.bit_length() - 64)
        out[i] = np.ldexp(float(value >> excess), excess - scale)
    return out


def _integers(values: Floats, scale: int) -> Objects:
    """``values * 2**scale`` in integers, nearest below."""
    out: Objects = np.zeros(values.shape, dtype=object)
    for i, value in enumerate(values.tolist()):
        top, bottom = value.as_integer_ratio()
        out[i] = (top << scale) // bottom if scale >= 0 else top // (bottom << -scale)
    return out


class _Program:
    """Maximise ``c x - y s`` with ``Zw - t - s = b`` and bounds; only c, y, b and the bounds change."""

    def __init__(self, rows: Objects, shift: int, n_tight: int, deadline: Deadline) -> None:
        n_rows, width = rows.shape
        self.n_rows, self.width, self.n_tight, self.deadline = n_rows, width, n_tight, deadline
        values = np.empty((n_rows, width))
        for i, row in enumerate(rows):
            deadline.need()
            values[i] = _floats(row, shift)
        margin = np.zeros((n_rows, 1))
        margin[n_tight:] = -1.0
        matrix = sparse.csr_array(sparse.hstack([values, margin, -sparse.eye_array(n_rows)], format="csr"))
        highs = quiet_solver(**WARM)
        total = width + 1 + n_rows
        highs.addVars(total, np.zeros(total), np.zeros(total))
        highs.changeObjectiveSense(highspy.ObjSense.kMaximize)
        zeros = np.zeros(n_rows)
        indptr, indices = matrix.indptr[:-1].astype(np.int32), matrix.indices.astype(np.int32)
        highs.addRows(n_rows, zeros, zeros, matrix.nnz, indptr, indices, matrix.data)
        self.highs = highs

    def solve(
        self,
        right: Floats,
        bounds: tuple[Floats, Floats],
        top: float,
        least: Floats,
        costs: Floats,
        slack_costs: Floats,
    ) -> tuple[Floats, Floats, Floats] | None:
        """The correction of the weights and margin, of the slacks, and of the multipliers."""
        highs, total = self.highs, self.width + 1 + self.n_rows
        infinity = highspy.kHighsInf
        lower = np.concatenate([bounds[0], [-infinity], least])
        upper = np.concatenate([bounds[1], [top], np.full(self.n_rows, infinity)])
        lower[self.width + 1 : self.width + 1 + self.n_tight] = 0.0
        upper[self.width + 1 : self.width + 1 + self.n_tight] = 0.0
        lower[: self.width + 1] = np.maximum(lower[: self.width + 1], -TRUSTED)
        upper[: self.width + 1] = np.minimum(upper[: self.width + 1], TRUSTED)
        lower[lower < -UNBOUNDED] = -infinity
        everything = np.arange(total, dtype=np.int32)
        prices = np.concatenate([costs, slack_costs])
        prices[self.width + 1 : self.width + 1 + self.n_tight] = 0.0
        highs.changeColsBounds(total, everything, lower, upper)
        highs.changeColsCost(total, everything, prices)
        highs.changeRowsBounds(self.n_rows, np.arange(self.n_rows, dtype=np.int32), right, right)
        if run_until(highs, self.deadline) is not Outcome.REACHED:
            return None
        solution = highs.getSolution()
        values, duals = np.asarray(solution.col_value), np.asarray(solution.row_dual)
        return values[: self.width + 1], values[self.width + 1 :], -duals
