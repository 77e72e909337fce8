"""A simplex method in integers, for small problems whose answer rounding hides.

Looks for multipliers ``l >= 0`` of sum one with ``Z'l + E'v = 0`` by minimising the sum of artificial
variables. The tableau is kept in integers over one common denominator (Edmonds' fraction-free pivots),
so every sign is certain, and Bland's rule makes it end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ...deadline import NEVER, Deadline
from .linear_systems import IntegerRows, reduced

LARGEST = 1 << 18  # numbers in the tableau; above, the time would not be worth the answer
PATIENCE = 30  # pivots without progress before Bland's rule takes over


@dataclass(frozen=True)
class Answer:
    """Either multipliers (one for each row, of any sign on the tight ones) or weights by column."""

    multipliers: Sequence[int | Fraction] | None = None
    weights: dict[int, int] | None = None


def decide(rows: IntegerRows, n_tight: int, deadline: Deadline = NEVER) -> Answer | None:
    """Separate the rows after the first ``n_tight``, on the planes through these, or prove that nothing does.

    Returns None where the problem is too large to be solved this way. Raises OutOfTime when the deadline has
    come.
    """
    n_rows, width = len(rows.entries), len(rows.columns)
    if (width + 2) * (n_rows + width + 2) > LARGEST:
        return None
    tableau = _Tableau(rows, n_tight)
    for free in range(n_tight):
        deadline.need()
        tableau.enter_free(free)
    while tableau.step():
        deadline.need()
    if tableau.optimum == 0:
        return Answer(multipliers=reduced(tableau.values(n_rows)))
    top = max(rows.grid, default=0)
    duals = tableau.weights()
    found = [value << (top - g) for value, g in zip(duals, rows.grid, strict=True)]
    return Answer(weights=dict(zip(rows.columns.tolist(), reduced(found), strict=True)))


class _Tableau:
    """Columns: the problem's rows, the artificial variables, the right side. Last line: the objective."""

    def __init__(self, rows: IntegerRows, n_tight: int) -> None:
        n_rows, width = len(rows.entries), len(rows.columns)
        self.n_rows, self.n_tight, self.height = n_rows, n_tight, width + 1
        table: Any = np.zeros((width + 2, n_rows + width + 2), dtype=object)
        for i, row in enumerate(rows.entries):
            table[:width, i] = row
        table[width, n_tight:n_rows] = 1
        for r in range(width + 1):
            table[r, n_rows + r] = 1
        table[width, -1] = 1
        table[width + 1, :n_rows] = -table[: width + 1, :n_rows].sum(axis=0)
        table[width + 1, -1] = -1
        self.table, self.scale = table, 1
        self.basic = [n_rows + r for r in range(width + 1)]
        self.stalled = 0

    @property
    def optimum(self) -> int:
        """The sum of the artificial variables, times the common denominator."""
        return int(-self.table[-1, -1])

    def enter_free(self, column: int) -> None:
        """Bring a variable of free sign into the basis, where its equation has nothing on the right."""
        for r in range(self.height):
            if self.basic[r] >= self.n_rows and self.table[r, column] != 0 and self.table[r, -1] == 0:
                self._pivot(r, column)
                return

    def step(self) -> bool:
        """One pivot towards the optimum; whether there was one to make."""
        costs = self.table[-1, self.n_tight : self.n_rows]
        falling = [j for j, cost in enumerate(costs) if cost < 0]
        if not falling or self.optimum == 0:
            return False
        bland = self.stalled > PATIENCE
        column = self.n_tight + (falling[0] if bland else min(falling, key=lambda j: (costs[j], j)))
        best = -1
        for r in range(self.height):
            entry = self.table[r, column]
            if entry <= 0 or self.basic[r] < self.n_tight:
                continue
            if best < 0:
                best = r
                continue
            here, there = self.table[r, -1] * self.table[best, column], self.table[best, -1] * entry
            if here < there or (here == there and self.basic[r] < self.basic[best]):
                best = r
        before, scale = self.optimum, self.scale
        self._pivot(best, column)
        self.stalled = self.stalled + 1 if before * self.scale == self.optimum * scale else 0
        return True

    def _pivot(self, row: int, column: int) -> None:
        table, pivot = self.table, self.table[row, column]
        line = table[row].copy()
        table[:] = (table * pivot - np.outer(table[:, column], line)) // self.scale
        table[row] = line
        self.scale = pivot
        if pivot < 0:
            table *= -1
            self.scale = -pivot
        self.basic[row] = column

    def values(self, n_rows: int) -> list[int]:
        """The variables of the problem, times the common denominator."""
        found = [0] * n_rows
        for r, column in enumerate(self.basic):
            if column < n_rows:
                found[column] = int(self.table[r, -1])
        return found

    def weights(self) -> list[int]:
        """The dual solution: weights that separate, times the common denominator."""
        start = self.n_rows
        return [int(self.table[-1, start + r] - self.scale) for r in range(self.height - 1)]
