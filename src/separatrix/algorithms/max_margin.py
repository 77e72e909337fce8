"""The largest margin: the shortest combination of signed rows, on a working set fed by scans.

Every direction proves a lower bound of the margin, every combination of signed rows an upper one.
The working set holds the rows that were lowest under some earlier weights; on it the hard-margin
problem is solved by proximal Newton steps, and a scan of all rows then closes the bracket or names
the rows that are missing. With many classes a signed row stands for a row and a rival class
(Kesler's construction), built for the working set only.
"""

from __future__ import annotations

import numpy as np

from .. import loops_margin
from ..errors import InputError
from ..progress import Progress
from ..result import Floats, Ints
from ..rows.memory import Rows
from .newton_system import DIRECT, calm_threads
from .optimum import HardOptimum, Outcome
from .pairs import Pairs, mean_direction, rows_of
from .proximal_newton import ProximalNewton, combination
from .soft_margin import balanced

ROUNDING = 1e-13  # a margin below this part of the radius is not told from zero
MOST_STAGES = 60
DESCENT_PASSES = 400  # of coordinate descent before the Newton steps, with many columns
DESCENT_GOAL = 1e-5  # the accuracy from which on Newton steps are made


def solve_max_margin(
    rows: Rows, *, gap: float = 1e-9, free_intercept: bool = False, max_iter: int = 10_000
) -> HardOptimum:
    """Maximise the smallest score of a unit vector, to a certified relative gap.

    Parameters
    ----------
    rows : Rows
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
        with calm_threads(search.pairs.width), Progress() as search.progress:
            search.run()
    except KeyboardInterrupt:
        search.outcome = Outcome.INTERRUPTED
    return search.finish()


class _Search:
    """The working set, and the best bracket so far."""

    def __init__(self, rows: Rows, gap: float, free_intercept: bool, max_iter: int) -> None:
        self.rows, self.gap, self.free_intercept, self.max_iter = rows, gap, free_intercept, max_iter
        self.progress = Progress()
        _ = rows.squared_norms  # every value is finite
        self.scale = 0.0  # the largest number of the first working set: what a margin is compared with
        self.outcome = Outcome.STEP_LIMIT
        self.pairs = Pairs(rows)
        width = self.pairs.width
        self.batch = max(100, 2 * width) if width <= DIRECT else 5000
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
        return self.upper <= ROUNDING * self.scale

    def finish(self) -> HardOptimum:
        members, rivals, multipliers = self.proof
        used = multipliers > 0.0
        return HardOptimum(
            self.outcome,
            self.weights,
            multipliers[used] / self.scale**2,
            members[used],
            rivals[used],
            self.lower,
            self.upper,
            self.steps,
            self.scans,
        )

    def run(self) -> None:
        """Alternate between solving the working set and scanning all rows."""
        current, sigma = mean_direction(self.rows), 0.0
        while True:
            previous = self.lower
            grown = self.scan(current)
            if self.reached:
                self.outcome = Outcome.REACHED
                return
            if not grown and self.lower <= previous:
                self.outcome = Outcome.STALLED
                return
            if self.steps >= self.max_iter:
                return
            goal = max(1e-4 * self.gap, min(1e-2, 0.05 * (1.0 - max(0.0, self.lower) / self.upper)))
            if not grown:
                goal = 0.0
            current, sigma = self.solve(current, sigma, goal)
            if self.vanished:
                self.outcome = Outcome.NOT_SEPARABLE
                return
            if self.progress.due():
                self.progress.show(
                    f"max margin: scan {self.scans}, {self.pairs.size} rows in the working set, "
                    f"margin between {self.lower:.6g} and {self.upper:.6g}"
                )

    def norm(self, weights: Floats) -> float:
        part = weights[..., :-1] if self.free_intercept else weights
        top = float(np.abs(part).max(initial=0.0))
        return top * float(np.linalg.norm(part / top)) if top > 0.0 else 0.0

    def scan(self, weights: Floats) -> bool:
        """Look at every row; keep the weights if they are the best yet; return whether rows were added."""
        norm = self.norm(weights)
        found = self.rows.scan(weights, self.batch)
        self.scans += 1
        lowest = float(found.scores[0])
        if norm > 0.0 and lowest / norm > self.lower:
            self.lower = lowest / norm
            self.weights = weights / lowest if lowest > 0.0 else weights.copy()
        if norm == 0.0 and self.lower == -np.inf:
            self.lower = 0.0
        added = self.pairs.add(found.rows, weights)
        self.multipliers = np.concatenate([self.multipliers, np.zeros(added)])
        return added > 0

    def solve(self, weights: Floats, sigma: float, goal: float) -> tuple[Floats, float]:
        """Solve the working set to the goal; return its weights and the step length reached."""
        loose = self.pairs.intercepts if self.free_intercept else []
        rows, factors = self.scaled_rows(loose)
        start = weights.ravel() / factors if self.multipliers.any() else None
        if rows.n_columns > DIRECT:
            if goal > DESCENT_GOAL:
                start = self.descend(rows, goal)
                self.bound(rows, self.multipliers)
                return (start * factors).reshape(self.weights.shape), 0.0
            sigma = sigma or 1000.0 * float(np.median(self.multipliers[self.multipliers > 0.0]))
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
            upper = self.bound(rows, engine.multipliers)
            norm = self.norm(engine.weights.reshape(self.weights.shape))
            lower = self.scale * float(engine.scores.min()) / norm if norm > 0.0 else 0.0
            if self.vanished or upper - lower <= goal * upper or self.steps >= self.max_iter:
                break
            still = upper - lower >= 0.9 * best and upper >= 0.5 * lowest and moved < 1e-3
            idle = idle + 1 if still else 0
            best, lowest = min(best, upper - lower), min(lowest, upper)
            if idle >= 4:
                break
        self.multipliers = engine.multipliers
        return (engine.weights * factors).reshape(self.weights.shape), used / 10.0

    def descend(self, rows: Rows, goal: float) -> Floats:
        """Coordinate descent on the working set, where Newton systems are large: most of the way.

        A free intercept is treated as part of the norm here; the Newton steps set it free.
        """
        caps = np.full(rows.n_rows, np.inf)
        state = loops_margin.Descent(
            self.multipliers, caps, rows.squared_norms, np.zeros(2), np.full(1, np.inf)
        )
        weights = combination(rows, self.multipliers)
        order = np.arange(rows.n_rows)
        generator = np.random.default_rng(0)
        active = order.size
        for passes in range(DESCENT_PASSES):
            part = order[:active]
            generator.shuffle(part)
            active, worst, _ = loops_margin.descend(rows.storage, part, weights, state, passes % 20 != 0)
            state.limits[0] = worst if worst > 0.0 else np.inf
            if passes % 20 == 19:
                if active == order.size and worst <= goal:
                    break
                active, state.limits[0] = order.size, np.inf
        return combination(rows, self.multipliers)

    def scaled_rows(self, loose: list[int]) -> tuple[Rows, Floats]:
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

    def bound(self, rows: Rows, multipliers: Floats) -> float:
        """The upper bound that multipliers prove, summed from the rows; the best is kept with its proof."""
        if self.free_intercept:
            multipliers = self.balanced(multipliers)
        mass = float(multipliers.sum())
        if mass <= 0.0:
            return np.inf
        total = combination(rows, multipliers / mass).reshape(self.weights.shape)
        upper = self.scale * self.norm(total)
        if upper < self.upper:
            self.upper = upper
            self.proof = (self.pairs.members, self.pairs.rivals, multipliers.copy())
        return upper

    def balanced(self, multipliers: Floats) -> Floats:
        labels = self.rows.storage.labels[self.pairs.members]
        if self.pairs.blocks == 1:
            return balanced(multipliers, labels)
        places = np.arange(multipliers.size), self.pairs.rivals
        table = np.zeros((multipliers.size, self.pairs.blocks))
        table[places] = -multipliers
        return np.asarray(-balanced(table, labels)[places])
