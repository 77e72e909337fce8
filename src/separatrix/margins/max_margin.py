"""The largest margin: the shortest combination of signed rows.

Every direction proves a lower bound of the margin, every combination of signed rows an upper one.
Two methods narrow the bracket; the number of columns and their storage decide.

With few columns, not sparse, a working set holds the rows that were lowest under some earlier weights; on it
the hard-margin problem is solved by proximal Newton steps in the weights, and a scan of all rows
then closes the bracket or names the rows that are missing. With many, or sparse rows, coordinate ascent
and Newton steps in the multipliers of the support (``dual_ascent``) work on all rows at once. That method is
at its best where the support is independent, as with text or more columns than rows; where the
support has more rows than columns, its Newton steps fail or the margin nearly vanishes, the proximal
steps go on from where it stood. A few hundred rows of many more numbers get their multipliers from their
inner products (``pivoting``), and what follows usually has nothing left to do.

With many classes a signed row stands for a row and a rival class (Kesler's construction), built
for a working set only, on which either method works.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import InputError
from ..progress import Progress
from ..result import Floats, Ints
from ..rows.memory import MemoryRows
from .dual_ascent import DualAscent
from .newton_system import calm_threads
from .optimum import HardOptimum, Outcome
from .pairs import Pairs, mean_direction, rows_of
from .pivoting import pivoted_multipliers
from .proximal_newton import ProximalNewton
from .soft_margin import balanced

ROUNDING = 1e-13  # a margin below this part of the radius is not told from zero
VANISHING = 1e-6  # the part below which the ascent, where it knows no separator, is given up
MOST_STAGES = 60
SLOW = 50  # solutions of one working set in which the bracket has to halve; else rounding is to blame
WIDE = 500  # columns from which on the multipliers of the support are solved for
BATCH = 5000  # rows that a scan adds then
LONGEST, SHORTEST = 1e50, 1e-50  # norms of rows that need no scaling


def solve_max_margin(
    rows: MemoryRows, *, gap: float = 1e-9, free_intercept: bool = False, max_iter: int = 10_000
) -> HardOptimum:
    """Maximise the smallest score of a unit vector, to a certified relative gap.

    Parameters
    ----------
    rows : MemoryRows
    gap : float
        Stop when (upper - lower) / upper is at most this.
    free_intercept : bool
        Leave the intercept (the last weight of lifted rows) out of the norm: the margin is then
        half the distance between the hulls of the classes.
    max_iter : int
        The most Newton steps.

    Returns
    -------
    HardOptimum
    """
    if free_intercept and not rows.lifted:
        raise InputError("A free intercept needs lifted rows. Pass rows with lift=True.")
    search = _Search(rows, gap, free_intercept, max_iter)
    try:
        # numbers near the ends of float64's range may leave it on the way: what is found is summed anew
        with calm_threads(search.pairs.width), np.errstate(all="ignore"), Progress() as search.progress:
            search.run()
    except KeyboardInterrupt:
        search.outcome = Outcome.INTERRUPTED
    return search.finish()


def work_ahead(looks: list[tuple[float, float]], goal: float) -> float:
    """How much work it takes to reach the goal if the gap shrinks as in the later half of the looks' work.

    A look is the work done by then, and the gap.
    """
    now, narrow = looks[-1]
    before, wide = next(look for look in reversed(looks) if look[0] <= 0.5 * (looks[0][0] + now))
    if len(looks) < 3 or not narrow < wide:
        return np.inf
    return float((now - before) * np.log(narrow / goal) / np.log(wide / narrow))


class _Search:
    """The working set, and the best bracket so far."""

    def __init__(self, rows: MemoryRows, gap: float, free_intercept: bool, max_iter: int) -> None:
        self.rows, self.gap, self.free_intercept, self.max_iter = rows, gap, free_intercept, max_iter
        self.progress = Progress()
        # the longest row without a free intercept's one; also: every value is finite
        self.reach = float(np.sqrt(max(0.0, rows.squared_norms[rows.order].max() - free_intercept)))
        self.scale = 0.0  # the largest number of the first working set: what a margin is compared with
        self.outcome = Outcome.STEP_LIMIT
        self.pairs = Pairs(rows)
        wide, two = self.pairs.width > WIDE, self.pairs.blocks == 1
        # with several free intercepts, passes creep
        self.ascending = (wide and (two or not free_intercept)) or (two and rows.sparse)
        self.batch = BATCH if self.ascending and wide else max(100, 2 * self.pairs.width)
        self.multipliers: Floats = np.zeros(0)
        self.weights: Floats = np.zeros(rows.weights_shape)
        self.lower, self.upper = -np.inf, np.inf
        self.proof: tuple[Ints, Ints, Floats] = (self.pairs.members, self.pairs.rivals, self.multipliers)
        self.steps = self.scans = 0

    @property
    def reached(self) -> bool:
        return self.upper < np.inf and self.upper - self.lower <= self.gap * self.upper

    @property
    def vanished(self) -> bool:
        if self.ascending and self.lower <= 0.0:
            return self.upper <= VANISHING * (self.scale or self.reach)
        return self.upper <= ROUNDING * self.scale

    def finish(self) -> HardOptimum:
        members, rivals, multipliers = self.proof
        used = multipliers > 0.0
        return HardOptimum(
            self.outcome,
            self.weights,
            multipliers[used],
            members[used],
            rivals[used],
            self.lower,
            self.upper,
            self.steps,
            self.scans,
        )

    def run(self) -> None:
        """Alternate between solving the working set and scanning all rows."""
        current, sigma = self.first_weights(), 0.0
        goal = width = mark = np.inf
        repeats = 0
        while True:
            if self.vanished:
                self.outcome = Outcome.NOT_SEPARABLE
                return
            grown = not self.reached and self.scan(current)
            if self.reached:
                self.outcome = Outcome.REACHED
                return
            if not grown and goal == 0.0:
                repeats += 1
                narrowed = self.upper - self.lower < (0.5 * mark if repeats % SLOW == 0 else width)
                if not narrowed:
                    self.outcome = Outcome.STALLED
                    return
                mark = self.upper - self.lower if repeats % SLOW == 0 else mark
            if self.steps >= self.max_iter:
                return
            width = self.upper - self.lower
            goal = max(1e-4 * self.gap, min(1e-2, 0.05 * (1.0 - max(0.0, self.lower) / self.upper)))
            if not grown:
                goal = 0.0
            current, sigma = self.solve(current, sigma, goal)
            self.report()

    def report(self) -> None:
        if self.progress.due():
            self.progress.show(
                f"max margin: step {self.steps}, {self.pairs.size or self.rows.order.size} rows in the "
                f"working set, margin between {self.lower:.6g} and {self.upper:.6g}"
            )

    def first_weights(self) -> Floats:
        """Where to begin; with two classes and many columns, the end."""
        sane = SHORTEST < self.reach < LONGEST
        if not (self.ascending and self.pairs.blocks == 1 and sane):
            return mean_direction(self.rows)
        loose = self.pairs.intercepts if self.free_intercept else []
        found = pivoted_multipliers(self.rows, self.free_intercept, 0.1 * self.gap)
        if found is None:
            ascent = DualAscent(self.rows, loose, np.zeros(self.rows.n_rows))
        else:
            ascent = DualAscent(self.rows, loose, found[0], np.full(len(loose), found[1]))
        if found is None or not self.look(ascent):
            self.ascend(ascent, lambda: self.look(ascent))
        if not self.reached:
            multipliers = ascent.multipliers
            members = np.flatnonzero(multipliers)
            self.pairs.members, self.pairs.rivals = members, np.zeros_like(members)
            self.scaled_rows(loose)  # sets the scale
            self.multipliers = multipliers[members] * self.scale**2
        return ascent.weights

    def ascend(self, ascent: DualAscent, done: Callable[[], bool]) -> None:
        """Passes and Newton steps until the bracket is narrow enough, or they are given up for good.

        A margin that seems to vanish is left to the proximal steps, which tell smaller ones from zero.
        """
        looks: list[tuple[float, float]] = []
        while self.ascending and self.steps < self.max_iter:
            ascent.sweep()
            if done() or self.vanished:
                break
            looks.append((ascent.read, 1.0 - max(0.0, self.lower) / self.upper))
            if ascent.due(work_ahead(looks, self.gap)):
                looks = []
                before = ascent.systems
                self.ascending = ascent.newton(0.1 * self.gap)
                self.steps += ascent.systems - before
                if done() or self.vanished:
                    break
            self.report()
        self.ascending = self.ascending and not self.vanished

    def narrow(self, rows: MemoryRows, ascent: DualAscent, goal: float) -> bool:
        """Whether the working set is solved to the goal."""
        lower, upper = self.bracket(rows, ascent)
        return self.vanished or upper - lower <= goal * upper

    def look(self, ascent: DualAscent) -> bool:
        """Bracket the margin by the weights and the multipliers of all rows (two classes)."""
        weights, scores = ascent.weights, ascent.scores[self.rows.order]
        lowest = float(scores.min())
        if self.free_intercept:
            positive = self.rows.labels[self.rows.order] == 1
            above, below = float(scores[positive].min()), float(scores[~positive].min())
            weights = weights.copy()
            weights[-1] += 0.5 * (below - above)
            lowest = 0.5 * (above + below)
        self.offer_weights(weights, lowest)
        multipliers, total = ascent.multipliers, ascent.total
        if self.free_intercept:
            multipliers = balanced(multipliers, self.rows.labels)
            total = self.rows.combination(multipliers)
        mass = float(multipliers.sum())
        upper = self.norm(total) / mass if mass > 0.0 else np.inf
        if upper < self.upper:
            self.upper = upper
            members = np.flatnonzero(multipliers)
            self.proof = (members, np.zeros_like(members), multipliers[members])
        return self.reached

    def norm(self, weights: Floats) -> float:
        part = weights[..., :-1] if self.free_intercept else weights
        top = float(np.abs(part).max(initial=0.0))
        return top * float(np.linalg.norm(part / top)) if top > 0.0 else 0.0

    def offer_weights(self, weights: Floats, lowest: float) -> None:
        """Keep the weights if their lowest score is the best yet for their norm."""
        norm = self.norm(weights)
        if norm > 0.0 and lowest / norm > self.lower:
            self.lower = lowest / norm
            self.weights = weights / lowest if lowest > 0.0 else weights.copy()
        if norm == 0.0 and self.lower == -np.inf:
            self.lower = 0.0

    def scan(self, weights: Floats) -> bool:
        """Look at every row; keep the weights if they are the best yet; return whether rows were added."""
        found = self.rows.scan(weights, self.batch)
        self.scans += 1
        self.offer_weights(weights, float(found.scores[0]))
        added = self.pairs.add(found.rows, weights)
        self.multipliers = np.concatenate([self.multipliers, np.zeros(added)])
        return added > 0

    def solve(self, weights: Floats, sigma: float, goal: float) -> tuple[Floats, float]:
        """Solve the working set to the goal; return its weights and the step length reached."""
        loose = self.pairs.intercepts if self.free_intercept else []
        rows, factors = self.scaled_rows(loose)
        start = weights.ravel() / factors if self.multipliers.any() else None
        if self.ascending:
            ascent = DualAscent(rows, loose, self.multipliers)
            self.ascend(ascent, lambda: self.narrow(rows, ascent, goal))
            start = ascent.weights
            if self.ascending:
                return (start * factors).reshape(self.weights.shape), 0.0
        engine = ProximalNewton(
            rows,
            np.full(rows.n_rows, np.inf),
            sigma=1.0,
            loose=loose,
            weights=start,
            multipliers=self.multipliers,
        )
        if sigma:
            engine.sigma = sigma
        best = lowest = np.inf
        idle = 0
        for _ in range(MOST_STAGES):
            before, used = engine.newton_steps, engine.sigma
            moved = engine.advance()
            self.steps += engine.newton_steps - before
            lower, upper = self.bracket(rows, engine)
            if self.vanished or upper - lower <= goal * upper or self.steps >= self.max_iter:
                break
            still = upper - lower >= 0.9 * best and upper >= 0.5 * lowest and moved < 1e-3
            idle = idle + 1 if still else 0
            best, lowest = min(best, upper - lower), min(lowest, upper)
            if idle >= 4:
                break
        self.multipliers = engine.multipliers
        return (engine.weights * factors).reshape(self.weights.shape), used / 10.0

    def bracket(self, rows: MemoryRows, engine: ProximalNewton | DualAscent) -> tuple[float, float]:
        """The margin of the working set, bracketed; the upper end holds for all rows."""
        norm = self.norm(engine.weights.reshape(self.weights.shape))
        lower = self.scale * float(engine.scores.min()) / norm if norm > 0.0 else 0.0
        return lower, self.bound(rows, engine.multipliers)

    def scaled_rows(self, loose: list[int]) -> tuple[MemoryRows, Floats]:
        """The working set with numbers of size one (intercepts left alone), and how weights scale."""
        matrix = self.pairs.matrix()
        inside = np.ones(matrix.shape[1])
        inside[loose] = 0.0
        dense = isinstance(matrix, np.ndarray)
        if self.scale == 0.0:
            top = matrix * inside if dense else matrix.data * inside[matrix.indices]
            self.scale = float(np.abs(top).max(initial=0.0)) or 1.0
        factors = np.where(inside > 0.0, 1.0 / self.scale, 1.0)
        if dense:
            matrix *= factors
        else:
            matrix.data *= factors[matrix.indices]
        return rows_of(matrix), factors

    def bound(self, rows: MemoryRows, multipliers: Floats) -> float:
        """The upper bound that multipliers prove, summed from the rows; the best is kept with its proof."""
        if self.free_intercept:
            multipliers = self.balanced(multipliers)
        mass = float(multipliers.sum())
        if mass <= 0.0:
            return np.inf
        total = rows.combination(multipliers / mass).reshape(self.weights.shape)
        upper = self.scale * self.norm(total)
        if upper < self.upper:
            self.upper = upper
            self.proof = (self.pairs.members, self.pairs.rivals, multipliers / self.scale**2)
        return upper

    def balanced(self, multipliers: Floats) -> Floats:
        labels = self.rows.labels[self.pairs.members]
        if self.pairs.blocks == 1:
            return balanced(multipliers, labels)
        places = np.arange(multipliers.size), self.pairs.rivals
        table = np.zeros((multipliers.size, self.pairs.blocks))
        table[places] = -multipliers
        return np.asarray(-balanced(table, labels)[places])
