"""The largest margin wherever the rows lie.

Columns are moved near zero. What float64 does not resolve of a small problem is found in rational numbers.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace

import numpy as np

from ..deadline import NEVER, Deadline, OutOfTime
from ..errors import NumericOverflowError
from ..result import Floats
from ..rows.protocol import Rows
from .algebra import row_scores
from .centring import far_columns, moved_rows, moved_weights
from .max_margin import solve_max_margin
from .optimum import HardOptimum, Outcome
from .proved import proved_lower
from .rational import exact_margin, is_small
from .rational_support import exact_far_margin, is_moderate

EXACT_SECONDS = 10.0  # for rational numbers; with up to ten columns a second or two were enough in all trials
FAR_SECONDS = 30.0  # for systems in whole numbers; 150 columns took 3 to 12 on a loaded machine
FEW = 300  # Newton steps of a small problem in floats; those that end take a tenth of it


def solve_anywhere(
    rows: Rows,
    *,
    gap: float = 1e-9,
    free_intercept: bool = False,
    max_iter: int = 10_000,
    deadline: Deadline = NEVER,
) -> HardOptimum:
    """As `solve_max_margin`, of rows at any place and of any size.

    Where the bracket stays wider than asked for, or numbers are too large to be squared, small problems are
    solved in rational numbers, and so are larger ones of rows far from zero whose intercept is not free, if
    there is time; the bracket is then that of the exact margin.
    """
    few = min(max_iter, FEW) if is_small(rows) else max_iter
    try:
        found = _in_floats(rows, gap, free_intercept, few, deadline)
    except NumericOverflowError:
        if not is_small(rows):
            raise
        exact = in_rationals(rows, None, free_intercept, deadline)
        return exact or _nothing(rows)
    ended = found.outcome in (Outcome.STALLED, Outcome.NOT_SEPARABLE)
    ended |= found.outcome is Outcome.STEP_LIMIT and few < max_iter
    far = is_moderate(rows) and not is_small(rows)  # asked at once: to separate such rows takes as long
    if not ended or not (found.margin_lower > 0.0 or far):
        return found
    exact = in_rationals(rows, found, free_intercept, deadline)
    if exact is None and few < max_iter:
        found = _in_floats(rows, gap, free_intercept, max_iter, deadline)
    return exact or found


def _in_floats(rows: Rows, gap: float, free: bool, max_iter: int, deadline: Deadline) -> HardOptimum:
    centre = far_columns(rows) if free else None
    if centre is None:
        return solve_max_margin(rows, gap=gap, free_intercept=free, max_iter=max_iter, deadline=deadline)
    moved = moved_rows(rows, centre)
    found = solve_max_margin(moved, gap=gap, free_intercept=True, max_iter=max_iter, deadline=deadline)
    return replace(found, weights=moved_weights(found.weights, centre))


def _nothing(rows: Rows) -> HardOptimum:
    """No margin was found, and none is excluded."""
    empty = np.zeros(0, dtype=np.int64)
    weights = np.zeros(rows.weights_shape)
    return HardOptimum(Outcome.STALLED, weights, np.zeros(0), empty, empty, -math.inf, math.inf, 0, 0)


def in_rationals(
    rows: Rows, found: HardOptimum | None, free_intercept: bool, deadline: Deadline = NEVER
) -> HardOptimum | None:
    """The exact margin of a small problem, with the best weights that floats hold; None if it is not found.

    It takes `EXACT_SECONDS` or `FAR_SECONDS` at most.

    Parameters
    ----------
    rows : Rows
    found : HardOptimum, optional
        What floating point made of it.
    free_intercept : bool
    deadline : Deadline
        When to give up, if that is sooner.
    """
    exact = None
    soon = Deadline.after(min(deadline.left, EXACT_SECONDS if is_small(rows) else FAR_SECONDS))
    with suppress(OutOfTime):
        if is_small(rows):
            exact = exact_margin(rows, free_intercept=free_intercept, deadline=soon)
        elif is_moderate(rows) and not free_intercept:
            exact = exact_far_margin(rows, soon)
    if exact is None:
        return None
    weights = exact.weights
    if found is not None and _own_margin(rows, found.weights, free_intercept) > _own_margin(
        rows, weights, free_intercept
    ):
        weights = found.weights
    lower, upper = exact.bracket
    steps, scans = (0, 0) if found is None else (found.steps, found.scans)
    return HardOptimum(
        Outcome.REACHED,
        weights,
        exact.multipliers,
        exact.members,
        exact.rivals,
        lower,
        upper,
        steps,
        scans + exact.rounds,
    )


def _own_margin(rows: Rows, weights: Floats, free_intercept: bool) -> float:
    """What these floats reach as they are, the intercept included."""
    try:
        with np.errstate(all="ignore"):
            part = weights[..., :-1] if free_intercept else weights
            top = float(np.abs(part).max(initial=0.0)) or 1.0
            lowest = proved_lower(rows, weights / top, free_intercept)
    except (ArithmeticError, NumericOverflowError):
        return -math.inf
    return lowest


def errors_of(rows: Rows, weights: Floats) -> int:
    """Rows that weights in floats give no positive score; not counted where the margin is never exact."""
    if not (is_small(rows) or is_moderate(rows)):
        return 0
    with np.errstate(all="ignore"):
        return int(np.count_nonzero(~(row_scores(rows, weights)[rows.order] > 0.0)))
