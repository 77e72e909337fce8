"""The soft margin: hinge losses against the norm, with a duality gap that is recomputed from the data.

Two methods share the work. With few columns, proximal Newton steps reach any gap above rounding in a few
dozen scans of the rows. With many columns, or many classes, dual coordinate descent (``coordinate_descent``)
goes first, and where it creeps, Newton steps finish from where it stood. Coordinate descent visits rows one
by one and so needs them in memory; two classes of rows elsewhere are left to Newton steps alone.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...deadline import NEVER, Deadline, OutOfTime
from ...errors import InputError
from ...result import Floats, Status
from ...rows.memory import MemoryRows
from ...rows.protocol import Rows
from ...rows.threads import calm_threads
from ..brackets import Effort, SoftBracket
from ..hard.centering import far_columns, moved_weights
from ..optimum import SoftOptimum
from ..rounding.proved_margin import PRECISION
from ..rounding.proved_soft import proved_bound, proved_objective
from .coordinate_descent import descend
from .proximal_newton import ProximalNewton
from .soft_limit import limit_by_largest_margin

IDLE = 12  # proximal steps without progress that end a run; the first half of them are made shorter
FEW = 2000  # weights that Newton steps find alone, or with many classes after coordinate descent
POLISH = 1 << 23  # numbers that may be read beyond the gap, so that small problems end exactly
EXACT = 1e-15  # the relative gap below which there is nothing left to polish
SMALL = 1 << 16  # numbers of rows whose largest margin is looked for if the run stalls
SAMPLE = 1 << 15  # rows of the first, rough solution on large data


def solve_soft_margin(
    rows: Rows,
    caps: Floats,
    *,
    gap: float = 1e-6,
    free_intercept: bool = False,
    max_iter: int = 10_000,
    seed: int | np.random.Generator | None = 0,
    deadline: Deadline = NEVER,
) -> SoftOptimum:
    """Minimise ``|w|^2 / 2 + sum_i caps[i] * max(0, 1 - score_i)`` to a certified relative gap.

    With many classes the score of a row is that of its class less that of the best other
    (Crammer and Singer), and ``|w|`` is the norm of the whole matrix.

    Parameters
    ----------
    rows : Rows
        In memory, if there are more than two classes.
    caps : ndarray of shape (rows,)
        C times the weight of each row.
    gap : float
        Stop when (primal - dual) / primal is at most this.
    free_intercept : bool
        Leave the intercept (the last weight of lifted rows) out of the norm.
    max_iter : int
        The most Newton steps or passes. Newton steps are counted after each proximal step, and may exceed it
        by those of one.
    seed : int or Generator, optional
        For the order of the coordinate descent and the sample of large data; the least objective does not
        depend on it, the weights do within the gap.
    deadline : Deadline
        When to end with the bracket known by then. The solver ends within a fraction of a second and one
        scan of the rows: systems that may take longer are not begun.

    Returns
    -------
    SoftOptimum
    """
    if free_intercept and not rows.lifted:
        raise InputError("A free intercept needs lifted rows. Pass rows with lift=True.")
    if rows.n_classes > 2 and not isinstance(rows, MemoryRows):
        raise InputError(
            f"The soft margin of {rows.n_classes} classes needs rows in memory. Pass two classes, or take "
            "the rows into memory first."
        )
    center = far_columns(rows) if free_intercept else None
    if center is None:
        return _solve(rows, caps, gap, free_intercept, max_iter, seed, deadline)
    found = _solve(rows.less(center), caps, gap, True, max_iter, seed, deadline)
    # the objective is that of the weights that floats hold for the rows as they are
    weights = moved_weights(found.weights, center)
    with np.errstate(all="ignore"):
        primal = proved_objective(rows, caps, weights, True, PRECISION * gap)
    return _judged(replace(found, weights=weights, primal=primal), gap)


def _solve(
    rows: Rows,
    caps: Floats,
    gap: float,
    free_intercept: bool,
    max_iter: int,
    seed: int | np.random.Generator | None,
    deadline: Deadline,
) -> SoftOptimum:
    ignored = np.ones(rows.n_rows, dtype=np.bool_)
    ignored[rows.order] = False
    _ = rows.squared_norms  # every value is finite
    caps = np.where(ignored, 0.0, caps)
    bracket = SoftBracket(rows, caps, gap, free_intercept)
    effort = Effort("soft margin", max_iter, deadline)
    try:
        # caps near the ends of float64's range may leave it on the way: what is found is summed anew
        with calm_threads(rows.n_columns), np.errstate(all="ignore"), effort.progress:
            deadline.need()
            status = _minimise(rows, bracket, effort, np.random.default_rng(seed))
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    except OutOfTime:
        status = Status.REACHED if bracket.reached else Status.TIME_LIMIT
    found = _proved(bracket, gap, status, effort)
    small = rows.n_classes == 2 and rows.order.size * rows.weights_shape[-1] <= SMALL
    if found.status is Status.STALLED and small:
        return limit_by_largest_margin(rows, caps, gap, free_intercept, found)
    return found


def _proved(bracket: SoftBracket, gap: float, status: Status, effort: Effort) -> SoftOptimum:
    """What was found, with all rounding counted.

    A solver that keeps scores up to date step by step may lose their digits far from the origin. Where
    weights turn out to be worse than it thought, those of the multipliers, and none at all, are tried.
    """
    rows, caps, free, precision = bracket.rows, bracket.caps, bracket.free_intercept, PRECISION * gap
    weights, multipliers = bracket.weights, bracket.multipliers
    with np.errstate(all="ignore"):
        primal = proved_objective(rows, caps, weights, free, precision)
        dual = proved_bound(rows, caps, multipliers, bracket.combination, free, precision)
        if not primal <= bracket.upper * (1.0 + gap):
            for other in (bracket.combination, np.zeros_like(weights)):
                again = SoftBracket(rows, caps, gap, free)
                again.upper = np.inf
                again.offer_weights(other)
                objective = proved_objective(rows, caps, again.weights, free, precision)
                if objective < primal:
                    primal, weights = objective, again.weights
    found = SoftOptimum(
        status,
        primal,
        dual,
        effort.steps,
        weights,
        multipliers,
        history=tuple(effort.history),
        seconds=effort.seconds,
    )
    return _judged(found, gap)


def _judged(found: SoftOptimum, gap: float) -> SoftOptimum:
    """What was found, called stalled if rounding leaves a wider gap than was asked for."""
    stalled = found.status is Status.REACHED and found.gap > gap
    return replace(found, status=Status.STALLED) if stalled else found


def _minimise(rows: Rows, bracket: SoftBracket, effort: Effort, generator: np.random.Generator) -> Status:
    """Choose the method."""
    few = bracket.weights.size <= FEW
    if (few and rows.n_classes == 2) or not isinstance(rows, MemoryRows):
        return _newton(bracket, effort, _first_guess(bracket, effort, generator))
    found = descend(rows, bracket, effort, generator)
    return Status.REACHED if bracket.reached and not few else _newton(bracket, effort, *found)


def _first_guess(bracket: SoftBracket, effort: Effort, generator: np.random.Generator) -> Floats | None:
    """Weights from a sample of the rows, where there are many: most of the way, cheaply."""
    rows, caps = bracket.rows, bracket.caps
    members = np.flatnonzero(caps > 0.0)
    if members.size < 4 * SAMPLE:
        return None
    chosen = np.sort(generator.choice(members, SAMPLE, replace=False))
    labels = rows.labels[chosen]
    if labels.min() == labels.max():
        return None
    scale = float(caps.sum() / caps[chosen].sum())
    part = ProximalNewton(
        rows.take(chosen),
        caps[chosen] * scale,
        sigma=_first_sigma(caps) * scale,
        unpenalised=_unpenalised(bracket),
        deadline=effort.deadline,
    )
    for _ in range(3):
        part.advance()
    return part.weights


def _newton(
    bracket: SoftBracket, effort: Effort, weights: Floats | None, multipliers: Floats | None = None
) -> Status:
    """Proximal Newton steps until the gap is reached or rounding stops them."""
    rows, caps = bracket.rows, bracket.caps
    sigma, scores = _first_sigma(caps), None
    if multipliers is not None and multipliers.ndim == 2:
        sigma = _first_sigma(multipliers.max(axis=1))
    elif weights is not None and multipliers is None:
        sigma *= 10.0
        scores = rows.scores(weights)
        multipliers = np.clip(sigma * (1.0 - scores), 0.0, caps)
    engine = ProximalNewton(
        rows,
        caps,
        sigma=sigma,
        unpenalised=_unpenalised(bracket),
        weights=weights,
        multipliers=multipliers,
        scores=scores,
        deadline=effort.deadline,
    )
    two = rows.n_classes == 2
    idle, best, spare = 0, np.inf, POLISH
    while not effort.spent:
        before = engine.newton_steps
        engine.advance()
        effort.steps += engine.newton_steps - before
        bracket.offer_weights(engine.weights, engine.scores)
        total = bracket.offer_multipliers(engine.multipliers)
        if two or not bracket.free_intercept:
            # with many classes a combination of rows lacks the intercepts that only the engine's weights have
            bracket.offer_weights(total)
        if bracket.reached:
            spare -= (engine.newton_steps - before + 4) * rows.numbers
            if spare < 0 or bracket.open_part <= EXACT:
                return Status.REACHED
        idle = 0 if bracket.width < 0.9 * best else idle + 1
        best = min(best, bracket.width)
        if 0 < idle < IDLE // 2 and not bracket.reached and two:
            # Long steps let multipliers that repeat each other jump between their caps. Where short ones do
            # not help either, rows may be small: then the steps grow again.
            engine.sigma = max(engine.first_sigma, 1e-2 * engine.sigma)
        if idle >= (3 if bracket.reached else IDLE):
            return Status.REACHED if bracket.reached else Status.STALLED
        effort.report(bracket.lower, bracket.upper)
    return Status.REACHED if bracket.reached else Status.STEP_LIMIT


def _unpenalised(bracket: SoftBracket) -> tuple[int, ...]:
    return (-1,) if bracket.free_intercept else ()


def _first_sigma(sizes: Floats) -> float:
    """One multiplier's worth for a score one off: the losses are smoothed over one unit."""
    positive = sizes[sizes > 0.0]
    return float(np.median(positive)) if positive.size else 1.0
