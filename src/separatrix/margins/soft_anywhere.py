"""The soft margin wherever the rows lie: columns far from zero are moved, and large rows get the hard margin.

With a free intercept, moved rows have the same least objective. Where rows are so large, or losses so dear,
that none is worth having, the least objective is that of the largest margin, whose solver reaches it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..result import Floats
from ..rows.protocol import Rows
from .anywhere import solve_anywhere
from .brackets import SoftBracket
from .centring import far_columns, moved_rows, moved_weights
from .optimum import Outcome, SoftOptimum
from .proved_soft import PRECISION, proved_bound, proved_objective
from .soft_margin import solve_soft_margin

LONGER = 0.125  # part of the gap by which weights are made longer; the objective grows by twice as much
SMALL = 1 << 16  # numbers of rows whose largest margin is looked for where the soft one stalls


def solve_soft_anywhere(
    rows: Rows,
    caps: Floats,
    *,
    gap: float,
    free_intercept: bool,
    max_iter: int,
    seed: int | np.random.Generator | None,
) -> SoftOptimum:
    """As `solve_soft_margin`, of rows at any place and of any size."""
    centre = far_columns(rows) if free_intercept else None
    seen = rows if centre is None else moved_rows(rows, centre)
    found = solve_soft_margin(
        seen, caps, gap=gap, free_intercept=free_intercept, max_iter=max_iter, seed=seed
    )
    small = rows.n_classes == 2 and rows.order.size * rows.weights_shape[-1] <= SMALL
    if found.outcome is Outcome.STALLED and small:
        found = _by_largest_margin(seen, caps, gap, free_intercept, found)
    if centre is None:
        return found
    # the objective is that of the weights that floats hold for the rows as they are
    weights = moved_weights(found.weights, centre)
    with np.errstate(all="ignore"):
        primal = proved_objective(rows, caps, weights, True, PRECISION * gap)
    return _judged(replace(found, weights=weights, primal=primal), gap)


def _by_largest_margin(rows: Rows, caps: Floats, gap: float, free: bool, found: SoftOptimum) -> SoftOptimum:
    """The better of what was found and what the largest margin's weights and multipliers prove."""
    with np.errstate(all="ignore"):
        hard = solve_anywhere(rows, free_intercept=free)
        top = float(hard.multipliers.max(initial=0.0))
        if not hard.margin_lower > 0.0 or not top > 0.0:
            return found
        shares = np.zeros(rows.n_rows)
        shares[hard.rows] = hard.multipliers / top
        total = rows.combination(shares)
        part = total[:-1] if free else total
        # the factor with the highest bound, unless it takes a row beyond its cap
        factor = float(shares.sum() / np.vdot(part, part))
        factor = min(factor, float((caps[hard.rows] / shares[hard.rows]).min()))
        bracket = SoftBracket(rows, caps, gap, free)
        bracket.offer_multipliers(shares * factor)
        dual = proved_bound(rows, caps, bracket.multipliers, bracket.combination, free, PRECISION * gap)
        if dual > found.dual:
            found = replace(found, multipliers=bracket.multipliers, dual=dual)
        for direction in (total, hard.weights):
            lowest = float(rows.scores(direction)[rows.order].min())
            if not lowest > 0.0:
                continue
            # longer by a little: a score below one by rounding alone may cost more than all the rest
            weights = direction * ((1.0 + LONGER * gap) / lowest)
            primal = proved_objective(rows, caps, weights, free, PRECISION * gap)
            if primal < found.primal:
                found = replace(found, weights=weights, primal=primal)
    return _judged(found, gap)


def _judged(found: SoftOptimum, gap: float) -> SoftOptimum:
    """Whether the gap asked for is reached now."""
    if found.outcome not in (Outcome.REACHED, Outcome.STALLED):
        return found
    return replace(found, outcome=Outcome.REACHED if found.gap <= gap else Outcome.STALLED)
