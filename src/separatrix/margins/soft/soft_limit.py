"""The soft margin of rows so large, or losses so dear, that no loss is worth having: the largest margin.

There the least objective is ``1 / (2 margin^2)``, and the solver of the largest margin reaches it if Newton
steps on the losses stall. Data whose columns were never scaled often end here: without this step, the breast
cancer data times 10,000 end with 357 of 569 rows wrong.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...result import Floats, Status
from ...rows.protocol import Rows
from ..brackets import SoftBracket
from ..hard.max_margin import solve_max_margin
from ..optimum import SoftOptimum
from ..rounding.proved_margin import PRECISION
from ..rounding.proved_soft import proved_bound, proved_objective

LONGER = 0.125  # part of the gap by which weights are made longer; the objective grows by twice as much


def limit_by_largest_margin(
    rows: Rows, caps: Floats, gap: float, free: bool, found: SoftOptimum
) -> SoftOptimum:
    """The better of what was found and what the largest margin's weights and multipliers prove."""
    with np.errstate(all="ignore"):
        hard = solve_max_margin(rows, free_intercept=free)
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
    return found if found.gap > gap else replace(found, status=Status.REACHED)
