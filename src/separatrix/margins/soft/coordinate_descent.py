"""Dual coordinate descent, of rows in memory: the hard or the soft margin of many columns.

Each visit of a row makes its multipliers the best for the values of the others, and rows that stay at a limit
are set aside (shrinking). Passes are cheap and soon find the support; where rows resemble each other they
creep, and Newton steps finish from where they stood.

References
----------
C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi and S. Sundararajan, "A dual coordinate descent method for
large-scale linear SVM", ICML 2008; S. S. Keerthi and others, "A sequential dual method for large scale
multi-class linear SVMs", KDD 2008.
"""

from __future__ import annotations

import numpy as np

from ...loops import margins as margin_loops
from ...result import Floats
from ...rows.memory import MemoryRows
from ..brackets import Effort, HardBracket, SoftBracket

PASSES = 50  # made in any case; from then on, doubling their number has to divide the gap by ten


def descend(
    rows: MemoryRows, bracket: HardBracket | SoftBracket, effort: Effort, generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """Make passes until the gap is reached or they creep; return the weights and the multipliers.

    A free intercept is a multiplier method on top: the descent keeps the intercept near a centre, and the
    centre moves to where the descent left it.
    """
    state = margin_loops.Descent(
        np.zeros((rows.n_rows, *rows.weights_shape[:-1])),
        bracket.caps,
        rows.squared_norms,
        np.zeros(rows.n_classes),
        np.full(1, np.inf),
    )
    # the weights that one entry of a sparse row meets stand together: half of the time on text
    weights = np.zeros(rows.weights_shape, order="F" if rows.sparse else "C")
    centre = weights[..., -1].copy()
    order = generator.permutation(np.flatnonzero(bracket.caps > 0.0))
    active, check, passes = order.size, 4, 0
    most = (effort.max_steps - effort.steps + 1) // 2  # the other half is left to Newton's method
    mark, before = PASSES, np.inf  # a number of passes, and what half of them had left open
    while passes < most:
        part = order[:active]
        generator.shuffle(part)
        active, worst, estimate = margin_loops.descend(rows.storage, part, weights, state, passes > 0)
        state.limits[0] = worst if worst > 0.0 else np.inf
        passes, effort.steps = passes + 1, effort.steps + 1
        effort.report(bracket.lower, bracket.upper)
        if passes < check and worst > 0.0 and not estimate <= bracket.allowed:
            continue
        total = bracket.offer_multipliers(state.multipliers)
        bracket.offer_weights(np.ascontiguousarray(weights))
        if not bracket.free_intercept:
            bracket.offer_weights(total)
        if bracket.reached or (worst == 0.0 and not bracket.free_intercept):
            break
        if passes >= mark:
            if bracket.open_part > 0.1 * before:
                break
            mark, before = 2 * passes, bracket.open_part
        check = passes + max(2, passes // 4 if bracket.free_intercept else passes)
        if bracket.free_intercept:
            pull = weights[..., -1] - centre  # what the multipliers weigh
            centre = weights[..., -1].copy()
            weights[..., -1] += pull
        active, state.limits[0] = order.size, np.inf
    return np.ascontiguousarray(weights), state.multipliers
