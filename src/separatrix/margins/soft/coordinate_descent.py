"""Dual coordinate descent on rows in memory, for the hard or the soft margin of many columns or few rows.

Each visit of a row sets its multipliers to the best values for the other multipliers. Rows that stay at a
limit are set aside (shrinking). Passes are cheap and soon find the support. With two classes, the method of
conjugate gradients then improves the multipliers between their limits, with four steps per pass.
If rows are similar to each other, both converge slowly, and another method continues from their result.

References
----------
C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi and S. Sundararajan, "A dual coordinate descent method for
large-scale linear SVM", ICML 2008; S. S. Keerthi and others, "A sequential dual method for large scale
multi-class linear SVMs", KDD 2008; J. J. Moré and G. Toraldo, "On the solution of
large quadratic programming problems with bound constraints", SIAM Journal on Optimization 1 (1991).
"""

from __future__ import annotations

import numpy as np

from ...float_environment import HALF_UNIT
from ...loops import margins as margin_loops
from ...result import Floats
from ...rows.memory import MemoryRows
from ...rows.threads import MOST_AT_ONCE, WORTH_A_THREAD
from ..brackets import Effort, HardBracket, SoftBracket


def descend(
    rows: MemoryRows,
    bracket: HardBracket | SoftBracket,
    effort: Effort,
    generator: np.random.Generator,
    first_passes: int,
) -> tuple[Floats, Floats]:
    """Make passes until the gap is reached or they converge slowly; return the weights and the multipliers.

    After ``first_passes``, doubling the number of passes has to divide the gap by three. A free intercept is
    found by the method of multipliers: descent keeps the intercept near a center, and the center moves to
    where descent left the intercept. Tiny problems continue beyond the gap, so that they end at the exact
    solution.
    """
    order = generator.permutation(np.flatnonzero(bracket.caps > 0.0))
    state = margin_loops.Descent(
        np.zeros((rows.n_rows, *rows.weights_shape[:-1])),
        bracket.caps,
        rows.squared_norms,
        np.zeros(rows.n_classes),
        np.full(2, np.inf),
        generator.integers(1, 1 << 63, 1, dtype=np.uint64),
    )
    # The weights that an entry of a sparse row meets are adjacent in this order: twice as fast on text.
    weights = np.zeros(rows.weights_shape, order="F" if rows.sparse else "C")
    center = weights[..., -1].copy()
    residual, direction = np.empty((2, rows.n_rows))
    scratch = margin_loops.Face(residual, direction, np.empty(weights.shape[-1]))
    active, check, passes, ascended = order.size, 4, 0, 0
    most = (effort.max_steps - effort.steps + 1) // 2  # the other half is left to Newton's method
    at_once = max(1, MOST_AT_ONCE // rows.numbers)
    mark, before = first_passes, np.inf  # a number of passes, and the gap after half of them
    while passes < most:
        state.limits[1] = bracket.allowed
        active, made, worst, estimate = margin_loops.descend(
            rows.storage, order[:active], weights, state, min(check - passes, at_once, most - passes)
        )
        passes, effort.steps = passes + made, effort.steps + made
        effort.report(bracket.lower, bracket.upper)
        if passes < check and worst > 0.0 and not estimate <= bracket.allowed:
            continue
        if rows.n_classes == 2 and passes >= 8:  # earlier, most multipliers soon reach a limit
            _ascend(rows, weights, state, scratch, 4 * (passes - ascended))
            ascended = passes
        total = bracket.offer_multipliers(state.multipliers)
        bracket.offer_weights(np.ascontiguousarray(weights) if bracket.free_intercept else total)
        exact = passes * rows.numbers > WORTH_A_THREAD or bracket.open_part <= 8.0 * HALF_UNIT
        if (bracket.reached and exact) or (worst == 0.0 and not bracket.free_intercept):
            break
        if passes >= mark:
            if bracket.open_part > 0.3 * before:
                break
            mark, before = 2 * passes, bracket.open_part
        check = passes + max(2, passes // 4 if bracket.free_intercept else passes)
        if bracket.free_intercept:
            pull = weights[..., -1] - center  # the sum of the signed multipliers
            center = weights[..., -1].copy()
            weights[..., -1] += pull
        active, state.limits[0] = order.size, np.inf
    return np.ascontiguousarray(weights), state.multipliers


def _ascend(
    rows: MemoryRows,
    weights: Floats,
    state: margin_loops.Descent,
    scratch: margin_loops.Face,
    most: int,
) -> None:
    """Make steps of conjugate gradients on the multipliers between their limits."""
    made, limited = 0, True
    while limited and made < most:
        face = np.flatnonzero((state.multipliers > 0.0) & (state.multipliers < state.caps))
        steps, limited = margin_loops.ascend_face(rows.storage, face, weights, state, scratch, most - made)
        made += steps
