"""The theorems on passive-aggressive learners and Winnow, evaluated for a run.

They are about every sequence of visits and every u, so each u gives a bound. A score is lowered by its
largest rounding error before it is used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..estimators.passive_aggressive import PassiveAggressive
from ..estimators.winnow import Winnow
from ..margins.lp.l1_margin import largest_l1_margin
from ..margins.pairs import row_scores
from ..margins.soft.soft_margin import solve_soft_margin
from ..result import Floats, Ints
from ..rows.memory import MemoryRows
from .bound_report import SAFE, Bound


@dataclass(frozen=True, eq=False)
class OnlineRun:
    """A run in the terms of the theorems.

    Attributes
    ----------
    model : PassiveAggressive or Winnow
    rows : MemoryRows
        All rows that were visited.
    rounds : int
        How often each row was visited.
    counts : ndarray of shape (rows, rivals)
        The mistakes on each row; those of a stream are not kept by row, and the array is then empty.
    """

    model: Any
    rows: MemoryRows
    rounds: int
    counts: Ints

    @property
    def many(self) -> bool:
        """Whether there are more than two classes: a signed row is then a row in two places."""
        return self.rows.n_classes > 2

    def scores(self, u: Floats) -> Floats:
        """Return the score of each row under u, rounded down."""
        rounding = 2.0 * (u.shape[-1] + 8) * 2.0**-52
        norms = np.sqrt(self.rows.squared_norms * (2.0 if self.many else 1.0))
        lowered: Floats = row_scores(self.rows, u) - rounding * norms * float(np.linalg.norm(u))
        return lowered[self.rows.order]

    def bounds(self, separator: Floats | None, given: Floats | None) -> list[Bound]:
        """Return the bounds of the learner's theorem: at the best u that is known, and at a given one."""
        theorem = _winnow if isinstance(self.model, Winnow) else _passive_aggressive
        candidates = [np.zeros(self.rows.weights_shape), *self._candidates()]
        lowest = 0.0 if separator is None else float(self.scores(separator).min())
        if separator is not None and lowest > 0.0:
            candidates.append(separator / lowest)  # its lowest score is one
        bounds = [min((theorem(self, u) for u in candidates), key=lambda bound: bound.value)]
        if given is not None:
            bounds.append(theorem(self, given, " at u"))
        return bounds

    def _candidates(self) -> list[Floats]:
        if isinstance(self.model, Winnow):
            return [largest_l1_margin(self.rows)]
        # The bound of PA-I is smallest at the soft margin whose C is that of the run, once per visit.
        caps = np.full(self.rows.n_rows, float(self.model.C) * self.rounds)
        return [] if self.model.variant == "PA" else [solve_soft_margin(self.rows, caps, gap=1e-4).weights]


def _passive_aggressive(run: OnlineRun, u: Floats, suffix: str = "") -> Bound:
    """Return the bound of Crammer et al. (2006) for the variant: their theorems 2, 4 and 5."""
    model: PassiveAggressive = run.model
    C, square = float(model.C), float(run.rows.radius) ** 2 * (2.0 if run.many else 1.0)
    scores = run.scores(u)
    losses, length = np.maximum(0.0, 1.0 - scores), float(np.linalg.norm(u)) ** 2
    measured, what = model._loss, "the sum of the squared losses, and with it the mistakes"
    if model.variant == "PA":
        lowest = float(scores.min())
        value = square * length / lowest**2 if lowest > 0.0 else np.inf
        formula, what = "R^2 |u|^2, if u has scores of at least 1", what
    elif model.variant == "PA-I":
        value = max(square, 1.0 / C) * (length + 2.0 * C * run.rounds * float(losses.sum()))
        formula, measured, what = "max(R^2, 1/C) (|u|^2 + 2 C L(u))", float(model.mistakes_), "the mistakes"
    else:
        total = run.rounds * float((losses**2).sum())
        value = (square + 0.5 / C) * (length + 2.0 * C * total)
        formula = "(R^2 + 1/(2C)) (|u|^2 + 2 C S(u)), S the squared losses of u"
    note = f"bounds {what} ({measured:.6g})" if np.isfinite(value) else "no separator was found"
    return _bound(model.variant + suffix, value, formula, measured, note)


def _winnow(run: OnlineRun, u: Floats, suffix: str = "") -> Bound:
    """Return the smallest bound of Winnow's theorem over the margins g that u could be given credit for.

    With the losses ``max(0, g - <u, z>)`` of the mistakes, which sum to L, the proof gives
    ``M (eta g - eta^2 R^2 / 2) <= ln(2 d) + eta L`` for every g.
    """
    rate, total = float(run.model.eta0), float(np.abs(u).sum()) * SAFE
    largest = max(_largest(run.rows), float(run.rows.lifted))
    wide = math.log(2.0 * u.size)
    scores = run.scores(u) / total if total > 0.0 else run.scores(u)
    counts = run.counts[run.rows.order].sum(axis=1) if run.counts.size else None
    value = np.inf
    some = np.quantile(scores, np.linspace(0.0, 1.0, 101 if counts is not None else 1), method="lower")
    for g in np.unique(some):
        gain = rate * g - 0.5 * (rate * largest) ** 2
        if gain > 0.0:
            loss = 0.0 if counts is None else float(counts @ np.maximum(0.0, g - scores))
            value = min(value, (wide + rate * loss) / gain)
    note = "at the largest margin for |u|_1 = 1" if np.isfinite(value) else "eta0 is not below 2 margin / R^2"
    formula = "(ln(2d) + eta L(u)) / (eta g - eta^2 R^2 / 2)"
    return _bound("Winnow" + suffix, value, formula, float(run.model.mistakes_), note)


def _largest(rows: MemoryRows) -> float:
    values = rows.storage.data if rows.sparse else rows.matrix[rows.order]
    return float(np.abs(values).max(initial=0.0))


def _bound(name: str, value: float, formula: str, measured: float, note: str) -> Bound:
    value, sure = float(value) * SAFE, bool(np.isfinite(value))
    return Bound(name, value, formula, sure, measured / value if sure and value > 0.0 else 0.0, note)
