"""The largest margin: the shortest combination of signed rows.

Every direction proves a lower bound of the margin, every combination of signed rows an upper one.
Two methods narrow the bracket; the number of columns and their storage decide.

With few columns, not sparse, a working set holds the rows that were lowest under some earlier weights; on it
the hard-margin problem is solved by proximal Newton steps in the weights, and a scan of all rows
then closes the bracket or names the rows that are missing. With many, or sparse rows, coordinate ascent
and Newton steps in the multipliers of the support (``hard_ascent``) do the same: in memory, with two classes,
on all rows at once; else on the working set. That method is at its best where the support is independent, as
with text or more columns than rows; where it is given up, the proximal steps go on from where it stood. A few
hundred rows of many more numbers get their multipliers from their inner products (``pivoting``), and what
follows usually has nothing left to do.

With a free intercept, columns far from zero are moved near it first: the margin is the same, and floats
resolve it. A lifted margin depends on where the rows lie, and its bracket stays wide if floats do not.

With many classes a signed row stands for a row and a rival class (Kesler's construction), built
for a working set only, on which either method works.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...deadline import NEVER, Deadline, OutOfTime
from ...errors import InputError
from ...result import Floats
from ...rows.memory import MemoryRows
from ...rows.protocol import Rows
from ...rows.threads import calm_threads
from ..brackets import HardBracket
from ..effort import Effort, need_time
from ..optimum import HardOptimum, Outcome
from ..pairs import mean_direction
from ..rounding.proved_margin import proved_bracket
from ..soft.proximal_newton import ProximalNewton
from ..working_problem import WorkingProblem
from .centering import far_columns, moved_rows, moved_weights
from .hard_ascent import ROUNDING, ascend_all, ascend_some

MOST_STAGES = 60  # proximal steps on one working set
PATIENCE = 4  # of them in turn that may gain nothing
SLOW = 50  # solutions of one working set in which the bracket has to halve; else rounding is to blame
WIDE = 500  # columns from which on the multipliers of the support are solved for
BATCH = 5000  # rows that a scan adds then
PRECISION = 5e-4  # part of the gap asked for that the rounding of plain sums may add to it
NARROWEST = 1e-14  # relative width that a proved bracket may have, whatever was asked for
NEARLY = 0.99  # of the gap asked for is what plain sums have to reach; the rest is for their rounding
LONGEST, SHORTEST = 1e50, 1e-50  # norms of rows that need no scaling


def solve_max_margin(
    rows: Rows,
    *,
    gap: float = 1e-9,
    free_intercept: bool = False,
    max_iter: int = 10_000,
    deadline: Deadline = NEVER,
) -> HardOptimum:
    """Maximise the smallest score of a unit vector, to a certified relative gap.

    Parameters
    ----------
    rows : Rows
        Anywhere: all of them are asked for scans, sums and single rows only. Rows in memory are also visited
        one by one, where that is quicker.
    gap : float
        Stop when (upper - lower) / upper is at most this.
    free_intercept : bool
        Leave the intercept (the last weight of lifted rows) out of the norm: the margin is then the affine
        one, half the distance between the hulls of the classes. Else it is the margin of the rows as they
        are: the lifted one, if they are lifted.
    max_iter : int
        The most Newton steps. They are counted after each proximal step, and may exceed it by those of one.
    deadline : Deadline
        When to end with the bracket known by then. The solver ends within a fraction of a second and one
        scan of the rows: systems that may take longer are not begun.

    Returns
    -------
    HardOptimum
    """
    if free_intercept and not rows.lifted:
        raise InputError("A free intercept needs lifted rows. Pass rows with lift=True.")
    center = far_columns(rows) if free_intercept else None
    if center is None:
        return _solve(rows, gap, free_intercept, max_iter, deadline)
    found = _solve(moved_rows(rows, center), gap, True, max_iter, deadline)
    return replace(found, weights=moved_weights(found.weights, center))


def _solve(rows: Rows, gap: float, free_intercept: bool, max_iter: int, deadline: Deadline) -> HardOptimum:
    longest = float(rows.squared_norms[rows.order].max())  # also: every value is finite
    bracket = HardBracket(rows, NEARLY * gap, free_intercept)
    effort = Effort(max_iter, deadline)
    search = MaxMarginSearch(rows, bracket, effort)
    try:
        # numbers near the ends of float64's range may leave it on the way: what is found is summed anew
        with calm_threads(search.problem.pairs.width), np.errstate(all="ignore"), effort.progress:
            outcome = search.run(float(np.sqrt(max(0.0, longest - free_intercept))))
    except KeyboardInterrupt:
        outcome = Outcome.INTERRUPTED
    except OutOfTime:
        outcome = Outcome.REACHED if bracket.reached else Outcome.TIME_LIMIT
    members, rivals, multipliers = bracket.proof
    used = multipliers > 0.0
    proof = members[used], rivals[used], _as_long(multipliers[used], bracket)
    ends = bracket.lower, bracket.upper
    lower, upper = proved_bracket(rows, bracket.weights, proof, ends, free_intercept, PRECISION * gap)
    if outcome is Outcome.REACHED and upper - lower > max(gap, NARROWEST) * upper:
        outcome = Outcome.STALLED
    return HardOptimum(
        outcome,
        bracket.weights,
        proof[2],
        proof[0],
        proof[1],
        lower,
        upper,
        effort.steps,
        effort.scans,
    )


def _as_long(multipliers: Floats, bracket: HardBracket) -> Floats:
    """The multiple of the multipliers whose combination is as long as the weights: all prove the same."""
    length = bracket.upper * float(multipliers.sum())
    if not (bracket.lower > 0.0 and 0.0 < length < np.inf):
        return multipliers
    with np.errstate(all="ignore"):
        scaled = multipliers * (bracket.norm(bracket.weights) / length)
    return scaled if np.isfinite(scaled).all() and (scaled > 0.0).all() else multipliers


class MaxMarginSearch:
    """Solutions of a working set and scans of all rows, in turn.

    Attributes
    ----------
    rows : Rows
    bracket : HardBracket
        What is proved so far.
    effort : Effort
    problem : WorkingProblem
    ascends : bool
        Whether dual ascent is used; once given up, it stays so.
    batch : int
        How many rows a scan adds to the working set at most.
    """

    def __init__(self, rows: Rows, bracket: HardBracket, effort: Effort) -> None:
        self.rows, self.bracket, self.effort = rows, bracket, effort
        self.problem = WorkingProblem(rows, bracket.free_intercept)
        pairs = self.problem.pairs
        wide, two = pairs.width > WIDE, pairs.blocks == 1
        # with several free intercepts, passes creep
        self.ascends = (wide and (two or not bracket.free_intercept)) or (two and rows.sparse)
        self.batch = BATCH if self.ascends and wide else max(100, 2 * pairs.width)

    def run(self, reach: float) -> Outcome:
        """Narrow the bracket; ``reach`` is the norm of the longest row, a free intercept's one left out."""
        bracket, progress = self.bracket, _Halving()
        current, sigma = self.first_weights(reach), 0.0
        goal = width = np.inf
        while True:
            if bracket.upper <= ROUNDING * self.problem.scale:
                return Outcome.NOT_SEPARABLE
            grown = not bracket.reached and self.scan(current)
            if bracket.reached:
                return Outcome.REACHED
            if not grown and goal == 0.0 and progress.ended(width, bracket.width):
                return Outcome.STALLED
            if self.effort.spent:
                return Outcome.STEP_LIMIT
            width = bracket.width
            goal = max(1e-4 * bracket.gap, min(1e-2, 0.05 * bracket.open_part)) if grown else 0.0
            current, sigma = self.solve(current, sigma, goal)
            self.effort.report(self.text)

    def text(self) -> str:
        """How far it is, in a line."""
        size = self.problem.pairs.size or self.rows.order.size
        return f"max margin: step {self.effort.steps}, {size} rows in the working set, {self.bracket.text()}"

    def first_weights(self, reach: float) -> Floats:
        """Where to begin; by dual ascent on all rows in memory, usually the end."""
        need_time(self.effort.deadline)
        two, sane = self.problem.pairs.blocks == 1, SHORTEST < reach < LONGEST
        if self.ascends and two and sane and isinstance(self.rows, MemoryRows):
            weights, self.ascends = ascend_all(self.rows, reach, self.problem, self.bracket, self.effort)
            return weights
        return mean_direction(self.rows)

    def scan(self, weights: Floats) -> bool:
        """Score every row; offer the weights; return whether the working set has grown."""
        need_time(self.effort.deadline)
        found = self.rows.scan(weights, self.batch)
        self.effort.scans += 1
        self.bracket.offer_weights(weights, float(found.scores[0]))
        return self.problem.add(found.rows, weights)

    def solve(self, weights: Floats, sigma: float, goal: float) -> tuple[Floats, float]:
        """Solve the working set to a relative gap; return its weights and the step length to go on with."""
        need_time(self.effort.deadline)
        problem, shape = self.problem, self.rows.weights_shape
        rows, factors = problem.scaled_rows()
        start = weights.ravel() / factors if problem.multipliers.any() else None
        if self.ascends:
            start, self.ascends = ascend_some(rows, problem, self.bracket, self.effort, goal)
            if self.ascends:
                return (start * factors).reshape(shape), 0.0
        engine = ProximalNewton(
            rows,
            np.full(rows.n_rows, np.inf),
            sigma=1.0,
            unpenalised=problem.unpenalised,
            weights=start,
            multipliers=problem.multipliers,
            deadline=self.effort.deadline,
        )
        engine.sigma = sigma or engine.sigma
        used = self._advance(engine, rows, goal)
        problem.multipliers = engine.multipliers
        return (engine.weights * factors).reshape(shape), used / 10.0

    def _advance(self, engine: ProximalNewton, rows: MemoryRows, goal: float) -> float:
        """Proximal steps until the goal is reached or they gain nothing; return the last step length."""
        best = lowest = np.inf
        idle = 0
        for _ in range(MOST_STAGES):
            before, used = engine.newton_steps, engine.sigma
            moved = engine.advance()
            self.effort.steps += engine.newton_steps - before
            lower, upper = self.problem.offer(rows, engine, self.bracket)
            vanished = self.bracket.upper <= ROUNDING * self.problem.scale
            if vanished or upper - lower <= goal * upper or self.effort.spent:
                break
            still = upper - lower >= 0.9 * best and upper >= 0.5 * lowest and moved < 1e-3
            idle = idle + 1 if still else 0
            best, lowest = min(best, upper - lower), min(lowest, upper)
            if idle >= PATIENCE:
                break
            need_time(self.effort.deadline)
        return used


class _Halving:
    """Whether solving the same working set again and again still narrows the bracket."""

    def __init__(self) -> None:
        self.repeats = 0
        self.mark = np.inf  # how wide the bracket was, `SLOW` repeats ago

    def ended(self, before: float, now: float) -> bool:
        """Count one more solution, which took the bracket from one width to another."""
        self.repeats += 1
        if self.repeats % SLOW:
            return not now < before
        halved, self.mark = now < 0.5 * self.mark, now
        return not halved
