"""Find witnesses: rows of which no hyperplane gets all right.

A witness is a positive combination of signed rows that is exactly zero (Gordan 1873); with as few rows as
possible it is an *irreducible infeasible subsystem*. Every hyperplane gets at least one of its rows wrong. A
linear program names the cheapest one for given prices of the rows, and its multipliers are then solved for in
integers, because a support that floats name need not be a witness.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ...certificates.claims import Multipliers
from ...deadline import Deadline
from ...margins.lp.highs import column_solver, run_until
from ...result import Status
from ...rows.protocol import Floats, Ints
from ..search import Combination
from ..signed_rows import SignedRows
from .cost_rows import CostRows

SUPPORT = 1e-9  # of the largest multiplier: smaller ones count as zero


@dataclass(frozen=True, eq=False)
class Witness:
    """A positive combination of signed rows that is exactly zero.

    Attributes
    ----------
    rows : ndarray of int64
        Row numbers in the data, each once.
    ids : ndarray of int64
        The numbers of the signed rows.
    values : tuple of int
        The multipliers: positive, one for each signed row.
    """

    rows: Ints
    ids: Ints
    values: tuple[int, ...]

    @classmethod
    def of(cls, signed: SignedRows, found: Combination) -> Witness:
        """Return the witness of a combination: with integers in the same proportions."""
        ratios = [Fraction(value) for value in found.values]
        common = math.lcm(*(each.denominator for each in ratios))
        values = tuple(int(each * common) for each in ratios)
        return cls(np.unique(signed.split(found.ids)[0]), found.ids, values)

    def multipliers(self, signed: SignedRows) -> Multipliers:
        """Return the witness as certificates have it."""
        rows, rivals = signed.split(self.ids)
        return Multipliers(tuple(rows.tolist()), tuple(rivals.tolist()) if signed.joint else (), self.values)


class Support(NamedTuple):
    """The signed rows of a witness as floats name it: places of rows, numbers of signed rows, multipliers."""

    places: Ints
    ids: Ints
    near: Floats


class Pricing:
    """The linear program ``min sum p_i l_i, sum l_i z_i = 0, l >= 0`` with ``sum l = 1``, or ``l_i = 1``.

    Its dual values are weights: for the optimum t, row i has at least the score ``t - p_i``.
    """

    def __init__(self, rows: CostRows, deadline: Deadline) -> None:
        self.rows, self.deadline = rows, deadline
        self.problem = rows.problem()
        self.ids = rows.numbers()
        size, self.width = rows.values.shape
        norms = np.linalg.norm(rows.values, axis=1, keepdims=True)
        values = np.hstack([rows.values / np.where(norms > 0.0, norms, 1.0), np.ones((size, 1))])
        sums = np.append(np.zeros(self.width), 1.0)
        self.places = np.arange(size, dtype=np.int32)
        self.free = np.full(size, np.inf)
        # the primal simplex method: after a change of prices, the last solution stays feasible
        self.solver = column_solver(
            values, np.zeros(size), self.free, sums, presolve="off", simplex_strategy=4
        )
        self.weights = np.zeros(self.width)

    def cheapest(self, prices: Floats, root: int | None = None) -> Support | None:
        """Return a cheap witness for given prices of the rows; with a root, one that has that signed row.

        The linear program multiplies each price by a multiplier, while the price of a witness is the plain
        sum. So without a root it is solved again with prices divided by the multipliers, as long as that
        makes the witness cheaper. None if there is no witness. Raises OutOfTime.
        """
        found, least, scale = None, math.inf, np.ones(prices.size)
        while (other := self._solve((prices + 1e-3) / scale, root)) is not None:
            own = other.reshape(-1, self.rows.rivals).sum(axis=1)
            used = own > SUPPORT * own.max()
            price = float((prices + 1e-3)[used].sum())
            if price >= least - 1e-9:
                break
            found, least, scale = other, price, own / own.max() + 0.3 / np.count_nonzero(used)
            if root is not None:
                break
        if found is None:
            return None
        signed = np.flatnonzero(found > SUPPORT * found.max())
        signed = signed[np.argsort(-found[signed], kind="stable")]
        return Support(np.unique(signed // self.rows.rivals), self.ids[signed], found[signed])

    def exact(self, found: Support) -> Witness | None:
        """Return the exact witness on a support, or None if no exact one has all of these rows."""
        exact = self.problem.combination(found.ids, found.near)
        if exact is None or exact.ids.size < found.ids.size:
            return None
        return Witness.of(self.rows.signed, exact)

    def _solve(self, prices: Floats, root: int | None) -> Floats | None:
        """Return the multipliers of the linear program, or None; without a root, keep its dual values."""
        solver = self.solver
        solver.changeColsCost(self.free.size, self.places, np.repeat(prices, self.rows.rivals))
        if root is not None:
            solver.changeRowBounds(self.width, -np.inf, np.inf)
            solver.changeColBounds(int(root), 1.0, 1.0)
        status = run_until(solver, self.deadline)
        solution = solver.getSolution()
        if root is not None:
            solver.changeRowBounds(self.width, 1.0, 1.0)
            solver.changeColBounds(int(root), 0.0, np.inf)
        if status is not Status.REACHED:
            self.deadline.need()
            return None
        if root is None:
            self.weights = -np.asarray(solution.row_dual)[: self.width]
        return np.asarray(solution.col_value)
