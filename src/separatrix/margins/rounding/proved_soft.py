"""The two objectives of the soft margin with all rounding errors included: they hold for the exact data.

The objective of weights is rounded up and the bound of multipliers is rounded down, each by the largest error
of plain sums. If that is too much for the requested gap, the sums are exact, as for the largest margin.
"""

from __future__ import annotations

import math

import numpy as np

from ...float_environment import HALF_UNIT
from ...result import Floats
from ...rows.protocol import Rows
from ..brackets import against_rivals
from ..pairs import Pairs, row_scores
from .proved_margin import (
    MOST_PRODUCTS,
    UP,
    combination_error,
    combination_length,
    imbalance,
    length_bounds,
    plain_errors,
    row_norms,
    scores_below,
)


def proved_objective(rows: Rows, caps: Floats, weights: Floats, free: bool, precision: float) -> float:
    """Return an upper bound of ``|w|^2 / 2 + sum_i caps[i] max(0, 1 - score_i)``."""
    members = np.flatnonzero(caps > 0.0)
    costs = caps[members]
    if not np.isfinite(weights).all():
        return math.inf
    unsure = plain_errors(rows, weights, row_norms(rows, members))
    losses = 1.0 - (row_scores(rows, weights)[members] - unsure)
    short = losses > 0.0
    _, length = length_bounds(weights[..., :-1] if free else weights)
    half = 0.5 * (length * length) * UP  # a power of a float raises if it overflows, a product does not
    total = half + math.fsum((costs[short] * losses[short]).tolist())
    added = float(costs[short] @ unsure[short])
    if added > precision * total and int(short.sum()) * weights.size <= MOST_PRODUCTS:
        found = 1.0 - scores_below(rows, members[short], weights)
        total = half + math.fsum((costs[short] * np.maximum(found * UP, 0.0)).tolist())
    return total * UP


def proved_bound(
    rows: Rows,
    caps: Floats,
    multipliers: Floats,
    total: Floats,
    free: bool,
    precision: float,
    blur: float = 0.0,
) -> float:
    """Return a lower bound of every objective, proved by multipliers and their combination; or zero.

    The bound is ``sum a - |sum a z|^2 / 2`` for feasible multipliers. They are made a little smaller if
    rounding may have exceeded caps. With a free intercept they are balanced, which moves a few of them by as
    much as the classes differ. If each row z stands for a vector at a distance of at most ``blur |z|``, the
    combination of these vectors is longer by at most ``blur sum a |z|``.
    """
    pairs, values = _pairs(rows, multipliers)
    if not values.size or not (np.isfinite(values).all() and np.isfinite(total).all()):
        return 0.0
    mass = math.fsum(values.tolist())
    doubt = combination_error(pairs, values)
    longest = length_bounds(total[..., :-1] if free else total)[1] + doubt
    if doubt * longest > precision * mass and 0 < pairs.size * pairs.width <= MOST_PRODUCTS:
        longest = min(longest, combination_length(pairs, values, free))
    # With many classes, the row of a pair is added to one class and subtracted from another.
    longest += 2.0 * blur * float(values @ row_norms(rows, pairs.members))
    shrink = _shrinkage(pairs, values, caps)
    if free:
        moved = imbalance(pairs.own, pairs.rivals, values, rows.n_classes)
        if moved is None:
            return 0.0
        change, edges = moved
        mass -= change * len(edges)
        longest += 2.0 * change * float(row_norms(rows, pairs.members[edges]).sum()) * (1.0 + blur)
        shrink /= 1.0 + change * len(edges) / float(caps[pairs.members[edges]].min()) if edges else 1.0
    first, second = shrink * mass, 0.5 * (shrink * longest) * (shrink * longest)
    bound = first - second - 16.0 * HALF_UNIT * (abs(first) + second)
    return max(0.0, bound) if math.isfinite(bound) else 0.0


def _pairs(rows: Rows, multipliers: Floats) -> tuple[Pairs, Floats]:
    """Return the positive multipliers with the row and the rival class of each."""
    if multipliers.ndim == 1:
        members = np.flatnonzero(multipliers > 0.0)
        return Pairs.of(rows, members, np.zeros_like(members)), multipliers[members]
    against = against_rivals(multipliers, rows.labels)
    members, rivals = np.nonzero(against)
    return Pairs.of(rows, members, rivals), against[members, rivals]


def _shrinkage(pairs: Pairs, values: Floats, caps: Floats) -> float:
    """Return a factor close to one that brings the multipliers of every row below its cap."""
    carried = np.bincount(pairs.members, weights=values, minlength=caps.size)
    used = carried > 0.0
    with np.errstate(all="ignore"):
        over = float((carried[used] / caps[used]).max(initial=1.0))
    exact = over <= 1.0 and pairs.blocks == 1  # otherwise the multipliers of a row are summed or divided
    return 1.0 if exact else (1.0 - 2.0 * (pairs.blocks + 4.0) * HALF_UNIT) / over
