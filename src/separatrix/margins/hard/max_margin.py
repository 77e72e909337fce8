"""The largest margin: the shortest combination of signed rows.

Every direction proves a lower bound of the margin, every combination of signed rows an upper one. A working
set holds the rows that were lowest under some earlier weights; on it the hard-margin problem is solved by
proximal Newton steps in the weights, and a scan of all rows then closes the bracket or names the rows that
are missing. Two classes of many columns begin with coordinate descent over all rows, if these are in memory:
where the support is nearly independent, as with text, that is all there is to do; else its weights pick the
first working set.

With a free intercept, columns far from zero are moved near it first: the margin is the same, and floats
resolve it. A lifted margin depends on where the rows lie, and its bracket stays wide if floats do not.

With many classes a signed row stands for a row and a rival class (Kesler's construction), built
for a working set only.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...deadline import NEVER, Deadline, OutOfTime
from ...errors import InputError
from ...result import Floats, Ints, Status
from ...rows.memory import MemoryRows
from ...rows.protocol import Rows
from ...rows.threads import calm_threads
from ..brackets import Effort, HardBracket, balanced
from ..optimum import HardOptimum
from ..pairs import Pairs, mean_direction, rows_of
from ..rounding.proved_margin import PRECISION, proved_bracket
from ..soft.coordinate_descent import descend
from ..soft.proximal_newton import ProximalNewton
from .centering import far_columns, moved_weights

MOST_STAGES = 60  # proximal steps on one working set
PATIENCE = 4  # of them in turn that may gain nothing
WIDE = 500  # columns from which on coordinate descent begins
ROUNDING = 1e-13  # a margin below this part of the rows' size is not told from zero
NARROWEST = 1e-14  # relative width that a proved bracket may have, whatever was asked for


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
        The most Newton steps and passes. Newton steps are counted after each proximal step, and may exceed it
        by those of one.
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
    found = _solve(rows.less(center), gap, True, max_iter, deadline)
    return replace(found, weights=moved_weights(found.weights, center))


def _solve(rows: Rows, gap: float, free_intercept: bool, max_iter: int, deadline: Deadline) -> HardOptimum:
    longest = float(rows.squared_norms[rows.order].max())  # also: every value is finite
    bracket = HardBracket(rows, gap, free_intercept)
    effort = Effort("max margin", max_iter, deadline)
    search = MaxMarginSearch(rows, bracket, effort)
    try:
        # numbers near the ends of float64's range may leave it on the way: what is found is summed anew
        with calm_threads(search.problem.pairs.width), np.errstate(all="ignore"), effort.progress:
            status = search.run(float(np.sqrt(max(0.0, longest - free_intercept))))
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    except OutOfTime:
        status = Status.REACHED if bracket.reached else Status.TIME_LIMIT
    members, rivals, multipliers = bracket.proof
    used = multipliers > 0.0
    proof = members[used], rivals[used], _as_long(multipliers[used], bracket)
    ends = bracket.lower, bracket.upper
    lower, upper = proved_bracket(rows, bracket.weights, proof, ends, free_intercept, PRECISION * gap)
    if status is Status.REACHED and upper - lower > max(gap, NARROWEST) * upper:
        status = Status.STALLED
    return HardOptimum(
        status,
        bracket.weights,
        proof[2],
        proof[0],
        proof[1],
        lower,
        upper,
        effort.steps,
        effort.scans,
        history=tuple(effort.history),
        seconds=effort.seconds,
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
    """

    def __init__(self, rows: Rows, bracket: HardBracket, effort: Effort) -> None:
        self.rows, self.bracket, self.effort = rows, bracket, effort
        self.problem = WorkingProblem(rows, bracket.free_intercept)

    def run(self, reach: float) -> Status:
        """Narrow the bracket; ``reach`` is the norm of the longest row, a free intercept's one left out."""
        bracket = self.bracket
        current, sigma = self.first_weights(reach), 0.0
        goal = width = np.inf
        while True:
            if bracket.upper <= ROUNDING * self.problem.scale:
                return Status.NOT_SEPARABLE
            grown = not bracket.reached and self.scan(current)
            if bracket.reached:
                return Status.REACHED
            if not grown and goal == 0.0 and not bracket.width < 0.9 * width:
                return Status.STALLED
            if self.effort.spent:
                return Status.STEP_LIMIT
            width = bracket.width
            goal = max(1e-4 * bracket.gap, min(1e-2, 0.05 * bracket.open_part)) if grown else 0.0
            current, sigma = self.solve(current, sigma, goal)
            self.effort.report(bracket.lower, bracket.upper)

    def first_weights(self, reach: float) -> Floats:
        """Where to begin; with many columns of two classes in memory, often the end."""
        self.effort.deadline.need()
        rows = self.rows
        wide = self.problem.pairs.width > WIDE and rows.n_classes == 2
        # products of multipliers and squares stay within the range of floats
        if not (wide and isinstance(rows, MemoryRows) and 0.0 < reach**6 < np.inf):
            return mean_direction(rows)
        return descend(rows, self.bracket, self.effort, np.random.default_rng(0))[0]

    def scan(self, weights: Floats) -> bool:
        """Score every row; offer the weights; return whether the working set has grown."""
        self.effort.deadline.need()
        found = self.rows.scan(weights, min(2000, max(100, 2 * self.problem.pairs.width)))
        self.effort.scans += 1
        self.bracket.offer_weights(weights, float(found.scores[0]))
        return self.problem.add(found.rows, weights)

    def solve(self, weights: Floats, sigma: float, goal: float) -> tuple[Floats, float]:
        """Solve the working set to a relative gap; return its weights and the step length to go on with."""
        self.effort.deadline.need()
        problem, shape = self.problem, self.rows.weights_shape
        rows, factors = problem.scaled_rows()
        start = weights.ravel() / factors if problem.multipliers.any() else None
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
            self.effort.deadline.need()
        return used


class WorkingProblem:
    """Rows that scans picked, with numbers of size one, and their multipliers.

    Attributes
    ----------
    pairs : Pairs
        Which rows, and against which class each is held.
    unpenalised : list of int
        Where free intercepts stand in the flattened weights.
    multipliers : ndarray of shape (pairs,)
        Of the scaled rows.
    scale : float
        The largest number of the first working set, free intercepts left out: what rows are divided by and
        margins compared with. Zero before there is one.
    """

    def __init__(self, rows: Rows, free_intercept: bool) -> None:
        self.rows = rows
        self.pairs = Pairs(rows)
        self.unpenalised = self.pairs.intercepts if free_intercept else []
        self.multipliers: Floats = np.zeros(0)
        self.scale = 0.0

    def add(self, candidates: Ints, weights: Floats) -> bool:
        """Put rows with their worst rivals under the weights into the set; return whether any was new."""
        added = self.pairs.add(candidates, weights)
        self.multipliers = np.concatenate([self.multipliers, np.zeros(added)])
        return added > 0

    def scaled_rows(self) -> tuple[MemoryRows, Floats]:
        """The signed rows divided by the scale (free intercepts left alone), and how weights scale back."""
        matrix = self.pairs.matrix()
        penalised = np.ones(matrix.shape[1])
        penalised[self.unpenalised] = 0.0
        dense = isinstance(matrix, np.ndarray)
        if self.scale == 0.0:
            numbers = matrix * penalised if dense else matrix.data * penalised[matrix.indices]
            self.scale = float(np.abs(numbers).max(initial=0.0)) or 1.0
        factors = np.where(penalised > 0.0, 1.0 / self.scale, 1.0)
        if dense:
            matrix *= factors
        else:
            matrix.data *= factors[matrix.indices]
        return rows_of(matrix), factors

    def offer(self, rows: MemoryRows, engine: ProximalNewton, bracket: HardBracket) -> tuple[float, float]:
        """The margin of the scaled rows, bracketed; the upper end holds for all rows and is offered."""
        shape = self.rows.weights_shape
        norm = bracket.norm(engine.weights.reshape(shape))
        lower = self.scale * float(engine.scores.min()) / norm if norm > 0.0 else 0.0
        multipliers = self._balanced(engine.multipliers) if self.unpenalised else engine.multipliers
        mass = float(multipliers.sum())
        if mass <= 0.0:
            return lower, np.inf
        upper = self.scale * bracket.norm(rows.combination(multipliers / mass).reshape(shape))
        with np.errstate(all="ignore"):
            scaled = multipliers / self.scale**2
        # any multiple proves the same: one within the range of floats
        usable = np.isfinite(scaled).all() and np.array_equal(scaled > 0.0, multipliers > 0.0)
        bracket.offer_bound(upper, self.pairs.members, self.pairs.rivals, scaled if usable else multipliers)
        return lower, upper

    def _balanced(self, multipliers: Floats) -> Floats:
        labels = self.rows.labels[self.pairs.members]
        if self.pairs.blocks == 1:
            return balanced(multipliers, labels)
        places = np.arange(multipliers.size), self.pairs.rivals
        table = np.zeros((multipliers.size, self.pairs.blocks))
        table[places] = -multipliers
        return np.asarray(-balanced(table, labels)[places])
