"""The soft margin: hinge losses against the norm, with a duality gap that is recomputed from the data.

With few columns, proximal Newton steps reach any gap above rounding in a few dozen scans of the rows. With
many columns or classes, or few numbers in all, dual coordinate descent (``coordinate_descent``) goes first,
and Newton steps continue if it converges slowly. Coordinate descent visits rows one by one and so needs them
in memory; two classes of rows elsewhere are solved by Newton steps alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from ... import notebook
from ...deadline import NEVER, Deadline, OutOfTime
from ...errors import InputError
from ...float_environment import HALF_UNIT
from ...result import Floats, Solution, Status, margin_text
from ...rows.protocol import Rows
from ...rows.threads import MOST_AT_ONCE, WORTH_A_THREAD, calm_threads
from ..brackets import Effort, SoftBracket
from ..hard.max_margin import far_columns, shifted_back, solve_max_margin
from ..rounding.proved_margin import PRECISION
from ..rounding.proved_soft import proved_bound, proved_objective
from .coordinate_descent import descend
from .proximal_newton import ProximalNewton

FEW = 2000  # weights up to which Newton steps run alone, or with many classes after coordinate descent
SAMPLE = 1 << 15  # rows of the first, rough solution if there are at least four times as many


@dataclass(frozen=True, eq=False)
class BracketedMinimum(Solution):
    """The minimum of ``|w|^2 / 2 + sum_i caps[i] * max(0, 1 - score_i)``, bracketed.

    Attributes
    ----------
    status : Status
    primal, dual : float
        The objective that was found, rounded up, and a lower bound of every objective, rounded down. The
        exact minimum lies between them.
    steps : int
        Newton steps or passes of coordinate descent.
    """

    primal: float
    dual: float
    steps: int

    @property
    def bracket(self) -> tuple[float, float]:
        """The lower bound of every objective, and the objective that was found."""
        return self.dual, self.primal

    def with_rounded_caps(self) -> Self:
        """Widen the bracket such that it also holds for caps that are exact products of C and weights."""
        rounding = 4.0 * HALF_UNIT  # of a product of C with the weights of a row and of its class
        return replace(self, primal=self.primal * (1.0 + rounding), dual=self.dual * (1.0 - rounding))

    def _facts(self) -> list[tuple[str, str]]:
        """Return what a notebook shows."""
        return [
            ("objective", margin_text(self.dual, self.primal, 9)),
            ("relative gap", f"{self.gap:.2e}"),
            ("steps", f"{self.steps:,}"),
        ]

    def _repr_html_(self) -> str:
        return notebook.card(self.status.value, self._facts())


@dataclass(frozen=True, eq=False)
class SoftOptimum(BracketedMinimum):
    """The soft margin's minimum in the space of the rows.

    Attributes
    ----------
    status, primal, dual, steps
        As in `BracketedMinimum`; the multipliers prove the bound.
    weights : ndarray of shape (width,) or (classes, width)
    multipliers : ndarray of shape (rows,) or (rows, classes)
        Feasible dual variables; with more than two classes each row sums to zero.
    """

    weights: Floats
    multipliers: Floats


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
    """Minimize ``|w|^2 / 2 + sum_i caps[i] * max(0, 1 - score_i)`` to a certified relative gap.

    With more than two classes the score of a row is the output of its class minus that of the best other
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
        The largest number of Newton steps or passes. Newton steps are counted after each proximal step, and
        may exceed the limit by those of one proximal step.
    seed : int or Generator, optional
        For the order of the coordinate descent and the sample of large data. The least objective does not
        depend on it; the weights do, within the gap.
    deadline : Deadline
        When to stop and return the bracket that is known by then. The solver stops within a fraction of a
        second and one scan of the rows; it does not start a system that may take longer.

    Returns
    -------
    SoftOptimum
    """
    if free_intercept and not rows.lifted:
        raise InputError("A free intercept needs lifted rows. Pass rows with lift=True.")
    if rows.n_classes > 2 and rows.local is None:
        raise InputError(
            f"The soft margin of {rows.n_classes} classes needs rows in memory. Pass two classes, or take "
            "the rows into memory first."
        )
    generator = np.random.default_rng(seed)
    center = far_columns(rows) if free_intercept else None
    if center is None:
        return _solve(rows, caps, gap, free_intercept, max_iter, generator, deadline)
    found = _solve(rows.less(center), caps, gap, True, max_iter, generator, deadline)
    # Shifting the intercept back rounds it, so the objective is computed for the original rows.
    weights = shifted_back(found.weights, center)
    with np.errstate(all="ignore"):
        primal = proved_objective(rows, caps, weights, True, PRECISION * gap)
    return _judged(replace(found, weights=weights, primal=primal), gap)


def _solve(
    rows: Rows,
    caps: Floats,
    gap: float,
    free_intercept: bool,
    max_iter: int,
    generator: np.random.Generator,
    deadline: Deadline,
) -> SoftOptimum:
    ignored = np.ones(rows.n_rows, dtype=np.bool_)
    ignored[rows.order] = False
    _ = rows.squared_norms  # raises if a value is not finite
    caps = np.where(ignored, 0.0, caps)
    bracket = SoftBracket(rows, caps, gap, free_intercept)
    effort = Effort("soft margin", max_iter, deadline)
    try:
        # Caps near the limits of float64 may overflow here; the final bracket is computed independently.
        with calm_threads(rows.n_columns), np.errstate(all="ignore"), effort.progress:
            deadline.need()
            status = _minimize(bracket, effort, generator)
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    except OutOfTime:
        status = Status.TIME_LIMIT
    found = _proved(bracket, gap, status, effort)
    effort.end(found.status)
    small = rows.n_classes == 2 and rows.order.size * rows.weights_shape[-1] <= WORTH_A_THREAD
    if found.status is Status.STALLED and small:
        return limit_by_largest_margin(bracket, gap, found, deadline)
    return found


def _proved(bracket: SoftBracket, gap: float, status: Status, effort: Effort) -> SoftOptimum:
    """Return what was found, with all rounding errors included.

    A solver that updates scores step by step may lose their digits if rows are far from the origin. If the
    weights are worse than the solver assumed, the combination of the multipliers and zero weights are tried.
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
    history, seconds = tuple(effort.history), effort.seconds
    found = SoftOptimum(
        status, primal, dual, effort.steps, weights, multipliers, history=history, seconds=seconds
    )
    return _judged(found, gap)


def _judged(found: SoftOptimum, gap: float) -> SoftOptimum:
    """Let the proved gap decide whether the goal was reached, whatever stopped the solver."""
    if found.gap <= gap and found.status is not Status.INTERRUPTED:
        return replace(found, status=Status.REACHED)
    return replace(found, status=Status.STALLED) if found.status is Status.REACHED else found


def _minimize(bracket: SoftBracket, effort: Effort, generator: np.random.Generator) -> Status:
    """Choose the method."""
    rows, few = bracket.rows.local, bracket.weights.size <= FEW
    two = bracket.rows.n_classes == 2
    # Passes over few numbers are cheaper than the Python between two Newton steps.
    if rows is None or (two and few and rows.numbers > WORTH_A_THREAD // 8):
        return _newton(bracket, effort, _first_guess(bracket, effort, generator))
    found = descend(rows, bracket, effort, generator, max(50, MOST_AT_ONCE // rows.numbers))
    return Status.REACHED if bracket.reached and (two or not few) else _newton(bracket, effort, *found)


def _first_guess(bracket: SoftBracket, effort: Effort, generator: np.random.Generator) -> Floats | None:
    """Return weights from a sample of the rows, which are close to the solution, if there are many rows."""
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
        unpenalized=_unpenalized(bracket),
        deadline=effort.deadline,
    )
    for _ in range(3):
        part.advance()
    return part.weights


def _newton(
    bracket: SoftBracket,
    effort: Effort,
    weights: Floats | None,
    multipliers: Floats | None = None,
    most_idle: int = 12,
) -> Status:
    """Make proximal Newton steps until the gap is reached or rounding stops them.

    Tiny problems continue beyond the gap, up to a number of reads, so that they end at the exact solution.
    """
    rows, caps = bracket.rows, bracket.caps
    # Longer first steps take all multipliers to their caps if rows are long, and later steps stall.
    longest = 1e4 / max(float(np.median(rows.squared_norms[rows.order])), np.finfo(float).tiny)
    natural = min(_first_sigma(caps), 1e14 * longest)
    sigma, scores = min(natural, longest), None
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
        unpenalized=_unpenalized(bracket),
        weights=weights,
        multipliers=multipliers,
        scores=scores,
        deadline=effort.deadline,
    )
    two = rows.n_classes == 2
    idle, best, reads, short = 0, np.inf, WORTH_A_THREAD, True
    while not effort.spent:
        before = engine.newton_steps
        engine.advance()
        effort.steps += engine.newton_steps - before
        bracket.offer_weights(engine.weights, engine.scores)
        total = bracket.offer_multipliers(engine.multipliers)
        if two or not bracket.free_intercept:
            # With many classes a combination of rows has no intercepts; only the engine's weights have them.
            bracket.offer_weights(total)
        if bracket.reached:
            reads -= (engine.newton_steps - before + 4) * rows.numbers
            if reads < 0 or bracket.open_part <= 8.0 * HALF_UNIT:
                return Status.REACHED
        short = short and engine.sigma < natural  # short steps may gain little, but they grow
        idle = 0 if bracket.width < 0.9 * best or short else idle + 1
        best = min(best, bracket.width)
        if 0 < idle < most_idle // 2 and not bracket.reached and two:
            # After long steps the multipliers of equal rows may jump between their caps. If short steps
            # do not help either, rows may be small, and the steps grow again.
            engine.sigma = max(engine.first_sigma, 1e-2 * engine.sigma)
        if idle >= (3 if bracket.reached else most_idle):
            return Status.REACHED if bracket.reached else Status.STALLED
        if idle:
            engine.changes = None  # the next step looks at all rows
        effort.report(bracket.lower, bracket.upper)
    return Status.REACHED if bracket.reached else Status.STEP_LIMIT


def _unpenalized(bracket: SoftBracket) -> tuple[int, ...]:
    return (-1,) if bracket.free_intercept else ()


def _first_sigma(sizes: Floats) -> float:
    """Return a step that changes a multiplier by its size if a score is off by one."""
    positive = sizes[sizes > 0.0]
    return float(np.median(positive)) if positive.size else 1.0


def limit_by_largest_margin(
    bracket: SoftBracket, gap: float, found: SoftOptimum, deadline: Deadline
) -> SoftOptimum:
    """Return the better of what was found and what the solution of the largest margin proves.

    If rows or losses are so large that the optimum has no losses, the least objective is
    ``1 / (2 margin^2)``, and the solver of the largest margin reaches it when Newton steps on the losses
    stall. Data whose columns were never scaled are often of this kind.
    """
    rows, caps, free, precision = bracket.rows, bracket.caps, bracket.free_intercept, PRECISION * gap
    with np.errstate(all="ignore"):
        hard = solve_max_margin(rows, free_intercept=free, deadline=deadline)
        top = float(hard.multipliers.max(initial=0.0))
        if not hard.margin_lower > 0.0 or not top > 0.0:
            return found
        shares = np.zeros(rows.n_rows)
        shares[hard.rows] = hard.multipliers / top
        total = rows.combination(shares)
        part = bracket.penalized(total)
        # The factor with the highest bound, unless it exceeds the cap of a row.
        factor = float(shares.sum() / np.vdot(part, part))
        factor = min(factor, float((caps[hard.rows] / shares[hard.rows]).min()))
        fresh = SoftBracket(rows, caps, gap, free)
        fresh.offer_multipliers(shares * factor)
        dual = proved_bound(rows, caps, fresh.multipliers, fresh.combination, free, precision)
        if dual > found.dual:
            found = replace(found, multipliers=fresh.multipliers, dual=dual)
        for direction in (total, hard.weights):
            lowest = float(rows.scores(direction)[rows.order].min())
            if not lowest > 0.0:
                continue
            # A little longer, because a score below one by rounding alone may cost more than everything else.
            weights = direction * ((1.0 + 0.125 * gap) / lowest)
            primal = proved_objective(rows, caps, weights, free, precision)
            if primal < found.primal:
                found = replace(found, weights=weights, primal=primal)
    return _judged(found, gap)
