"""The soft margin's two objectives with all rounding counted: true of the exact numbers of the data.

The objective of weights is rounded up, the bound of multipliers down, each by what plain sums may be off at
most. Where that is too much for the gap asked for, they are summed exactly, as the hard margin's bracket is.
"""

from __future__ import annotations

import math

import numpy as np

from ...result import Floats
from ...rows.protocol import Rows
from ..brackets import against_rivals
from ..pairs import Pairs, row_scores
from .proved_margin import (
    MOST_PRODUCTS,
    combination_error,
    combination_length,
    imbalance,
    plain_errors,
    row_norms,
    scores_below,
)
from .summing import UNIT, UP, length_bounds


def proved_objective(rows: Rows, caps: Floats, weights: Floats, free: bool, precision: float) -> float:
    """A bound above ``|w|^2 / 2 + sum_i caps[i] max(0, 1 - score_i)``."""
    members = np.flatnonzero(caps > 0.0)
    costs = caps[members]
    if not np.isfinite(weights).all():
        return math.inf
    unsure = plain_errors(rows, weights, row_norms(rows, members))
    losses = 1.0 - (row_scores(rows, weights)[members] - unsure)
    short = losses > 0.0
    _, length = length_bounds(weights[..., :-1] if free else weights)
    half = 0.5 * (length * length) * UP  # a power of a float too large would raise
    total = half + math.fsum((costs[short] * losses[short]).tolist())
    added = float(costs[short] @ unsure[short])
    blocks = 1 if weights.ndim == 1 else weights.shape[0]
    products = int(short.sum()) * weights.shape[-1] * blocks
    if added > precision * total and products <= MOST_PRODUCTS:
        found = 1.0 - scores_below(rows, members[short], weights)
        total = half + math.fsum((costs[short] * np.maximum(found * UP, 0.0)).tolist())
    return total * UP


def proved_bound(
    rows: Rows, caps: Floats, multipliers: Floats, total: Floats, free: bool, precision: float
) -> float:
    """A bound below every objective, by multipliers and their combination; zero where they prove none.

    It is ``sum a - |sum a z|^2 / 2`` of multipliers that are allowed: they are made a little smaller where
    rounding may have exceeded caps, and balanced with a free intercept, which moves a few of them by as much
    as the classes differ.
    """
    pairs, values = _pairs(rows, multipliers)
    if not values.size or not (np.isfinite(values).all() and np.isfinite(total).all()):
        return 0.0
    mass = math.fsum(values.tolist())
    doubt = combination_error(pairs, values)
    longest = length_bounds(total[..., :-1] if free else total)[1] + doubt
    if doubt * longest > precision * mass and 0 < pairs.size * pairs.width <= MOST_PRODUCTS:
        longest = min(longest, combination_length(pairs, values, free))
    shrink = _shrinkage(pairs, values, caps)
    if free:
        moved = imbalance(pairs.own, pairs.rivals, values, rows.n_classes)
        if moved is None:
            return 0.0
        change, edges = moved
        mass -= change * len(edges)
        longest += 2.0 * change * float(row_norms(rows, pairs.members[edges]).sum())
        shrink /= 1.0 + change * len(edges) / float(caps[pairs.members[edges]].min()) if edges else 1.0
    first, second = shrink * mass, 0.5 * (shrink * longest) * (shrink * longest)
    bound = first - second - 16.0 * UNIT * (abs(first) + second)
    return max(0.0, bound) if math.isfinite(bound) else 0.0


def _pairs(rows: Rows, multipliers: Floats) -> tuple[Pairs, Floats]:
    """The positive multipliers, each with its row and the class it is held against."""
    pairs = Pairs(rows)
    if multipliers.ndim == 1:
        pairs.members = np.flatnonzero(multipliers > 0.0)
        pairs.rivals = np.zeros_like(pairs.members)
        return pairs, multipliers[pairs.members]
    against = against_rivals(multipliers, rows.labels)
    pairs.members, pairs.rivals = np.nonzero(against)
    return pairs, against[pairs.members, pairs.rivals]


def _shrinkage(pairs: Pairs, values: Floats, caps: Floats) -> float:
    """A factor, near one, that brings what every row carries below its cap."""
    carried = np.bincount(pairs.members, weights=values, minlength=caps.size)
    used = carried > 0.0
    with np.errstate(all="ignore"):
        over = float((carried[used] / caps[used]).max(initial=1.0))
    exact = over <= 1.0 and pairs.blocks == 1  # else what a row carries is a sum, or was divided
    return 1.0 if exact else (1.0 - 2.0 * (pairs.blocks + 4.0) * UNIT) / over
