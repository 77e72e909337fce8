"""The largest margin by dual ascent, of all rows (two classes, in memory) or of a working set.

Passes of coordinate ascent alternate with Newton steps on the support until the bracket is narrow enough.
They are given up for good where the support has more rows than columns, where Newton steps lead nowhere twice
in turn, and where the margin seems to vanish: proximal steps tell smaller margins from zero.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...result import Floats
from ...rows.memory import MemoryRows
from ..brackets import HardBracket
from ..effort import Effort, need_time
from ..multipliers import balanced
from ..soft.dual_ascent import DualAscent
from ..working_problem import WorkingProblem
from .pivoting import pivoted_multipliers

ROUNDING = 1e-13  # a margin below this part of the rows' size is not told from zero
VANISHING = 1e-6  # the part below which the ascent, where it knows no separator, is given up


def ascend_all(
    rows: MemoryRows, reach: float, problem: WorkingProblem, bracket: HardBracket, effort: Effort
) -> tuple[Floats, bool]:
    """Narrow the bracket by the multipliers of all rows (two classes).

    Returns the weights, and whether the method is worth going on with. Where the gap is not reached, the
    support and its multipliers are the first working set. ``reach`` is the norm of the longest row.
    """
    found = pivoted_multipliers(rows, bracket.free_intercept, 0.1 * bracket.gap, effort.deadline)
    multipliers, centre = (np.zeros(rows.n_rows), 0.0) if found is None else found
    ascent = DualAscent(
        rows,
        problem.unpenalised,
        multipliers,
        np.full(len(problem.unpenalised), centre),
        deadline=effort.deadline,
    )
    worth = True
    if found is None or not _offer(rows, ascent, bracket):
        worth = _ascend(ascent, bracket, effort, reach, lambda: _offer(rows, ascent, bracket))
    if not bracket.reached:
        need_time(effort.deadline)
        problem.start_from(ascent.multipliers)
    return ascent.weights, worth


def ascend_some(
    rows: MemoryRows, problem: WorkingProblem, bracket: HardBracket, effort: Effort, goal: float
) -> tuple[Floats, bool]:
    """Solve the scaled rows of a working set to a relative gap; its multipliers are changed.

    Returns their weights, and whether the method is worth going on with.
    """
    ascent = DualAscent(rows, problem.unpenalised, problem.multipliers, deadline=effort.deadline)

    def solved() -> bool:
        lower, upper = problem.offer(rows, ascent, bracket)
        return upper - lower <= goal * upper

    worth = _ascend(ascent, bracket, effort, problem.scale, solved)
    return ascent.weights, worth


def _ascend(
    ascent: DualAscent, bracket: HardBracket, effort: Effort, size: float, solved: Callable[[], bool]
) -> bool:
    """Passes and Newton steps until solved; return whether more of them are worth their time.

    ``size`` is what the margin is compared with to see whether it vanishes.
    """
    history: list[tuple[float, float]] = []
    worth = True
    while worth and not effort.spent:
        ascent.sweep()
        if solved() or _vanishes(bracket, size):
            break
        history.append((ascent.read, bracket.open_part))
        if ascent.due(work_ahead(history, bracket.gap)):
            history = []
            before = ascent.systems
            worth = ascent.newton(0.1 * bracket.gap)
            effort.steps += ascent.systems - before
            if solved() or _vanishes(bracket, size):
                break
        effort.report(lambda: f"max margin: step {effort.steps}, {bracket.text()}")
    return worth and not _vanishes(bracket, size)


def _vanishes(bracket: HardBracket, size: float) -> bool:
    return bracket.upper <= (VANISHING if bracket.lower <= 0.0 else ROUNDING) * size


def work_ahead(history: list[tuple[float, float]], goal: float) -> float:
    """How much work it takes to reach the goal if the gap shrinks as in the later half of the work so far.

    An entry of the history is the work done by then, and the relative gap.
    """
    now, narrow = history[-1]
    before, wide = next(entry for entry in reversed(history) if entry[0] <= 0.5 * (history[0][0] + now))
    if len(history) < 3 or not narrow < wide:
        return np.inf
    return float((now - before) * np.log(narrow / goal) / np.log(wide / narrow))


def _offer(rows: MemoryRows, ascent: DualAscent, bracket: HardBracket) -> bool:
    """Offer the weights and the multipliers of all rows; return whether the gap is reached."""
    weights, scores = ascent.weights, ascent.scores[rows.order]
    lowest = float(scores.min())
    if bracket.free_intercept:
        positive = rows.labels[rows.order] == 1
        above, below = float(scores[positive].min()), float(scores[~positive].min())
        weights = weights.copy()
        weights[-1] += 0.5 * (below - above)
        lowest = 0.5 * (above + below)
    bracket.offer_weights(weights, lowest)
    multipliers, total = ascent.multipliers, ascent.total
    if bracket.free_intercept:
        multipliers = balanced(multipliers, rows.labels)
        total = rows.combination(multipliers)
    mass = float(multipliers.sum())
    members = np.flatnonzero(multipliers)
    upper = bracket.norm(total) / mass if mass > 0.0 else np.inf
    bracket.offer_bound(upper, members, np.zeros_like(members), multipliers[members])
    return bracket.reached
