"""Find weights with few errors: the upper end.

Trimmed logistic regression is first: fit, leave out the rows that are furthest on the wrong side, and fit
again. Then comes Chinneck's heuristic for a *minimum cover of infeasible subsystems*: while the rows cannot
be separated, the elastic linear program ``min sum c_i e_i, <w, z_i> >= 1 - e_i, e >= 0`` says which row to
drop. A large-neighborhood search takes some of the dropped rows back, and drops again. Exact line searches
for the 0-1 loss polish what is found. All this is in floating point; `fewest_errors` counts the errors
exactly.

J. W. Chinneck (2001). Fast heuristics for the maximum feasible subsystem problem. INFORMS Journal on
Computing 13.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...deadline import Deadline
from ...margins.lp.highs import column_solver, run_until
from ...result import Status
from ...rows.protocol import Floats, Mask
from .cost_rows import CostRows

FAR = 25.0  # scores beyond which a row has no weight in a logistic regression
ROUNDS = 20  # of trimming
# Numbers up to which rows are dropped one by one, with a linear program each. On larger data trimming is
# better.
ELASTIC = 400_000
REOPENED = (0.05, 0.1, 0.2, 0.4, 0.7)  # shares of the dropped rows that are taken back
LINES = 10  # line searches after each round


class ErrorSearch:
    """The best weights so far, and the steps that may improve them.

    Attributes
    ----------
    cost : int
        Of the rows that the best weights get wrong, by their floating-point scores.
    wrong : mask of the rows
    """

    def __init__(self, rows: CostRows, deadline: Deadline, seed: int = 0) -> None:
        self.rows, self.deadline = rows, deadline
        self.draw = np.random.default_rng(seed)
        deadline.need(operations=3.0 * rows.values.size * rows.signed.width)
        self.white, self._back = whitened(rows.values)
        self._best = np.zeros(self.white.shape[1])
        self.wrong: Mask = np.ones(rows.rows.size, dtype=bool)
        self.cost = rows.cost(self.wrong)

    @property
    def weights(self) -> Floats:
        """The best weights, for the rows of ``rows.values``."""
        found: Floats = self._back @ self._best
        return found

    def offer(self, weights: Floats) -> None:
        """Keep weights for the rows of ``rows.values`` if they are better than the best."""
        wrong = self.rows.scores(weights) <= 0.0
        if self.rows.cost(wrong) < self.cost:
            self._keep(np.asarray(np.linalg.lstsq(self._back, weights)[0]))

    def scores(self) -> Floats:
        """Return the scores of the rows for the best weights, in units of the whitened rows."""
        return self._scores(self._best / (np.linalg.norm(self._best) or 1.0))

    def _scores(self, weights: Floats) -> Floats:
        return self.rows.scores(weights, self.white)

    def _keep(self, weights: Floats) -> Mask:
        """Return which rows these weights get wrong, and keep them if they are the best."""
        wrong: Mask = self._scores(weights) <= 0.0
        cost = self.rows.cost(wrong)
        if cost < self.cost:
            self.cost, self.wrong, self._best = cost, wrong, weights
        return wrong

    def begin(self) -> Iterator[None]:
        """Find weights to begin with."""
        yield from self._trim()
        for _ in range(LINES):
            yield from self._polish(LINES)

    def steps(self) -> Iterator[None]:
        """Look for better weights, step by step, without end."""
        if self.white.size <= ELASTIC:
            yield from self._drop_and_reopen()
        while True:
            yield from self._polish(LINES)
            yield from self._trim()

    def _trim(self) -> Iterator[None]:
        """Fit without the rows that are furthest on the wrong side; later also with some of them again."""
        rivals, again = self.rows.rivals, self._best.any()
        weights = self._best
        for k in range(ROUNDS):
            kept = np.ones_like(self.wrong)
            if k or again:
                scores = self._scores(weights)
                kept = scores > -np.median(np.abs(scores)) * max(0.0, 0.6 - 0.06 * k)
                if k % 2:  # the wrong rows nearest to the hyperplane may be right with other weights
                    wrong = np.flatnonzero(~kept)
                    kept[wrong[np.argsort(-scores[wrong])[: -(-wrong.size // 10)]]] = True
            if again:
                kept |= self.draw.random(kept.size) < 0.15
            costs = np.repeat(np.where(kept, self.rows.costs / self.rows.costs.mean(), 0.0), rivals)
            ridge = 10.0 ** (-2.0 - 0.4 * min(k, 10))
            for _ in range(5):
                self.deadline.need()
                step = _newton_step(self.white, costs, weights, ridge)
                size = float(np.linalg.norm(step))
                weights = weights + step * min(1.0, 20.0 / max(size, 1e-300))
                self._keep(weights)
                yield
                if size <= 1e-3 * np.linalg.norm(weights):
                    break
            if not self.cost:
                return

    def _drop_and_reopen(self) -> Iterator[None]:
        """Drop rows until the others are separable; then take some of them back, and drop again."""
        elastic = _Elastic(self)
        dropped = np.zeros_like(self.wrong)
        yield from elastic.drop(dropped, np.ones(dropped.size))
        yield from self._polish(LINES)
        current, cost = dropped, self.rows.cost(dropped)
        while True:
            base = self.wrong if self.draw.random() < 0.5 else current
            share = max(float(self.draw.choice(REOPENED)), 1.5 / max(1, int(base.sum())))
            dropped = base & (self.draw.random(base.size) >= share)
            noise = np.exp(self.draw.normal(size=base.size) * self.draw.choice([0.1, 0.3, 0.7]))
            yield from elastic.drop(dropped, noise)
            found = self.rows.cost(dropped)
            if found <= cost or self.draw.random() < 0.05:
                current, cost = dropped, found
            yield from self._polish(LINES)

    def _polish(self, count: int) -> Iterator[None]:
        """Search exactly along some lines through the best weights."""
        weights = self._best / (np.linalg.norm(self._best) or 1.0)
        outputs, cost = self.white @ weights, float(self.rows.costs[self.wrong].sum())
        for _ in range(count):
            direction = self._direction(outputs)
            slopes = self.white @ direction
            found, step = best_on_line(outputs, slopes, self.rows.costs)
            if found <= cost:
                weights, outputs, cost = weights + step * direction, outputs + step * slopes, found
        self._keep(weights)
        yield

    def _direction(self, outputs: Floats) -> Floats:
        """Draw a direction: a wrong row, the sum of rows near the hyperplane, or any direction."""
        wrong, kind = np.flatnonzero(outputs <= 0.0), self.draw.random()
        if kind < 0.4 and wrong.size:
            found = self.white[self.draw.choice(wrong)]
        elif kind < 0.7:
            sizes = np.abs(outputs)
            reach = max(np.median(sizes) * self.draw.choice([0.03, 0.1, 0.3, 1.0]), 1e-9 * sizes.max())
            found = (np.exp(-sizes / (reach or 1.0)) * self.draw.exponential(size=sizes.size)) @ self.white
        else:
            found = self.draw.normal(size=self.white.shape[1])
        direction: Floats = found / (np.linalg.norm(found) or 1.0)
        return direction


class _Elastic:
    """The elastic linear program in its dual form: ``max sum a, sum a_i z_i = 0, 0 <= a <= c``.

    It has a row per weight only. To drop a row is to bound its ``a`` by zero, and the basis is kept.
    """

    def __init__(self, search: ErrorSearch) -> None:
        self.search = search
        values, rivals = search.white, search.rows.rivals
        self.caps = np.repeat(search.rows.costs, rivals)
        zeros = np.zeros(values.shape[1])
        self.solver = column_solver(values, -np.ones(len(values)), self.caps, zeros)
        self.places = np.arange(len(values), dtype=np.int32)

    def drop(self, dropped: Mask, noise: Floats) -> Iterator[None]:
        """Mark rows as dropped until the others are separable; begin with those that are marked already."""
        search, rivals = self.search, self.search.rows.rivals
        upper = np.where(np.repeat(dropped, rivals), 0.0, self.caps)
        self.solver.changeColsBounds(len(upper), self.places, np.zeros(len(upper)), upper)
        while True:
            if run_until(self.solver, search.deadline) is not Status.REACHED:
                search.deadline.need()
                return
            solution = self.solver.getSolution()
            weights = -np.asarray(solution.row_dual)
            search._keep(weights)
            yield
            short = np.maximum(0.0, 1.0 - search.white @ weights) * np.asarray(solution.col_value)
            worst = np.where(dropped, 0.0, short.reshape(-1, rivals).sum(axis=1)) * noise
            row = int(np.argmax(worst))
            if worst[row] <= 1e-7 * search.rows.costs[row]:
                return
            dropped[row] = True
            for place in range(row * rivals, (row + 1) * rivals):
                self.solver.changeColBounds(place, 0.0, 0.0)


def whitened(values: Floats) -> tuple[Floats, Floats]:
    """Return the rows in coordinates in which their columns are orthogonal, and the matrix that does this.

    Directions in which the rows do not differ from zero by more than rounding errors are left out.
    """
    _, sizes, turns = np.linalg.svd(np.linalg.qr(values, mode="r"), full_matrices=False)
    kept = sizes > 1e-10 * sizes.max(initial=0.0)
    back = turns[kept].T / sizes[kept] * np.sqrt(len(values))
    return values @ back, back


def _newton_step(values: Floats, costs: Floats, weights: Floats, ridge: float) -> Floats:
    """Return a Newton step of logistic regression with costs and a ridge penalty."""
    scores = values @ weights
    live = np.flatnonzero((scores < FAR) & (costs > 0.0))
    part = values[live]
    chances = 1.0 / (1.0 + np.exp(np.maximum(scores[live], -FAR)))
    gradient = (costs[live] * chances) @ part - ridge * weights
    curvature = part.T @ (part * (costs[live] * chances * (1.0 - chances))[:, None])
    return np.asarray(np.linalg.solve(curvature + ridge * np.eye(len(weights)), gradient))


def best_on_line(outputs: Floats, slopes: Floats, costs: Floats) -> tuple[float, float]:
    """Return the lowest cost of ``outputs + t * slopes`` over all t, and a t that has it.

    A row is right if all its signed rows are positive: for t in an open interval. The cost changes only at
    the ends of these intervals, so that one t between each two of them is enough.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        roots = -outputs / slopes
    flat = np.where(outputs > 0.0, -np.inf, np.inf)
    low = np.where(slopes > 0.0, roots, np.where(slopes < 0.0, -np.inf, flat))
    high = np.where(slopes < 0.0, roots, np.inf)
    low, high = low.reshape(costs.size, -1).max(axis=1), high.reshape(costs.size, -1).min(axis=1)
    right = low < high
    low, high, own = low[right], high[right], costs[right]
    points = np.concatenate([low, high])
    order = np.argsort(points, kind="stable")
    gained = np.cumsum(np.concatenate([own, -own])[order])
    points = points[order]
    inner = np.isfinite(points)
    if not inner.any():
        return float(costs.sum() - own.sum()), 0.0
    before = gained[np.flatnonzero(inner)[0] - 1] if not inner[0] else 0.0
    points, gained = points[inner], np.append(before, gained[inner])
    ends = np.concatenate([[points[0] - 1.0], points, [points[-1] + 1.0]])
    wide = np.diff(ends) > 1e-9 * (1.0 + np.abs(ends[:-1]))
    best = int(np.argmax(np.where(wide, gained, -np.inf)))
    return float(costs.sum() - gained[best]), float(ends[best] + ends[best + 1]) / 2.0
