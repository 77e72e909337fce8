"""Find weights with few errors: the upper end.

Trimmed logistic regression is first: fit, leave out the rows that are furthest on the wrong side, and fit
again. Then comes Chinneck's heuristic for a *minimum cover of infeasible subsystems*: while the rows cannot
be separated, the elastic linear program ``min sum c_i e_i, <w, z_i> >= 1 - e_i, e >= 0`` says which row to
drop. A large-neighborhood search takes some of the dropped rows back, and drops again. All this is in
floating point; `fewest_errors` counts the errors exactly.

J. W. Chinneck (2001). Fast heuristics for the maximum feasible subsystem problem. INFORMS Journal on
Computing 13.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...deadline import Deadline
from ...margins.lp.highs import column_solver, run_until
from ...result import Status
from ...rows.protocol import Floats, Ints, Mask
from .cost_rows import CostRows

FAR = 25.0  # scores beyond which a row has no weight in a logistic regression
ROUNDS = 20  # of trimming
REOPENED = (0.05, 0.1, 0.2, 0.4, 0.7)  # shares of the dropped rows that are taken back


class ErrorSearch:
    """The best weights so far, and the steps that may improve them.

    Attributes
    ----------
    weights : ndarray
        The best weights, for the rows of ``rows.values``.
    cost : int
        Of the rows that they get wrong, by their floating-point scores.
    wrong : mask of the rows
    """

    def __init__(self, rows: CostRows, deadline: Deadline, seed: int = 0) -> None:
        self.rows, self.deadline = rows, deadline
        self.draw = np.random.default_rng(seed)
        self.weights = np.zeros(rows.values.shape[1])
        self.wrong: Mask = np.ones(rows.rows.size, dtype=bool)
        self.cost = rows.cost(self.wrong)

    def offer(self, weights: Floats) -> None:
        """Keep weights for the rows of ``rows.values`` if they are better than the best."""
        wrong: Mask = self.rows.scores(weights) <= 0.0
        cost = self.rows.cost(wrong)
        if cost < self.cost:
            self.cost, self.wrong, self.weights = cost, wrong, weights

    def trim(self) -> Iterator[None]:
        """Fit without the rows that are furthest on the wrong side; later with some of them again."""
        values, rivals = self.rows.values, self.rows.rivals
        self.deadline.need(operations=3.0 * values.size * values.shape[1])
        white, back = whitened(values)
        weights, scores, again = np.zeros(white.shape[1]), self.rows.scores(self.weights), self.weights.any()
        for k in range(ROUNDS):
            kept = scores >= -np.median(np.abs(scores)) * max(0.0, 0.6 - 0.06 * k)
            if k % 2:  # the wrong rows nearest to the hyperplane may be right with other weights
                wrong = np.flatnonzero(~kept)
                kept[wrong[np.argsort(-scores[wrong])[: -(-wrong.size // 10)]]] = True
            if again:
                kept |= self.draw.random(kept.size) < 0.15
            costs = np.repeat(np.where(kept, self.rows.costs / self.rows.costs.mean(), 0.0), rivals)
            ridge = 10.0 ** (-2.0 - 0.4 * min(k, 10))
            for _ in range(5):
                self.deadline.need()
                step = _newton_step(white, costs, weights, ridge)
                size = float(np.linalg.norm(step))
                weights = weights + step * min(1.0, 20.0 / max(size, 1e-300))
                self.offer(back @ weights)
                yield
                if size <= 1e-3 * np.linalg.norm(weights):
                    break
            scores = self.rows.scores(weights, white)

    def steps(self, places: Ints) -> Iterator[None]:
        """Look for better weights, step by step, without end: with linear programs of some rows, if any."""
        if places.size:
            yield from self._drop_and_reopen(places)
        while True:
            yield from self.trim()

    def _drop_and_reopen(self, places: Ints) -> Iterator[None]:
        """Drop some of the rows until the others are separable; take some back, and drop again, without end.

        Rows in other places are left out of the linear programs, but their errors count.
        """
        rows = self.rows.part(places)
        elastic = _Elastic(rows, self)
        current = np.zeros(places.size, dtype=bool)
        yield from elastic.drop(current, np.ones(places.size))
        cost = rows.cost(current)
        while True:
            base = self.wrong[places] if self.draw.random() < 0.5 else current
            share = max(float(self.draw.choice(REOPENED)), 1.5 / max(1, int(base.sum())))
            dropped = base & (self.draw.random(base.size) >= share)
            noise = np.exp(self.draw.normal(size=base.size) * self.draw.choice([0.1, 0.3, 0.7]))
            yield from elastic.drop(dropped, noise)
            found = rows.cost(dropped)
            if found <= cost or self.draw.random() < 0.05:
                current, cost = dropped, found


class _Elastic:
    """The elastic linear program in its dual form: ``max sum a, sum a_i z_i = 0, 0 <= a <= c``.

    It has a row per weight only. To drop a row is to bound its ``a`` by zero, and the basis is kept.
    """

    def __init__(self, rows: CostRows, search: ErrorSearch) -> None:
        self.rows, self.search = rows, search
        self.caps = np.repeat(rows.costs, rows.rivals)
        zeros = np.zeros(rows.values.shape[1])
        self.solver = column_solver(rows.values, -np.ones(self.caps.size), self.caps, zeros)
        self.places = np.arange(self.caps.size, dtype=np.int32)

    def drop(self, dropped: Mask, noise: Floats) -> Iterator[None]:
        """Mark rows as dropped until the others are separable; begin with those that are marked already."""
        rows, rivals = self.rows, self.rows.rivals
        upper = np.where(np.repeat(dropped, rivals), 0.0, self.caps)
        self.solver.changeColsBounds(upper.size, self.places, np.zeros(upper.size), upper)
        while True:
            if run_until(self.solver, self.search.deadline) is not Status.REACHED:
                self.search.deadline.need()
                return
            solution = self.solver.getSolution()
            weights = -np.asarray(solution.row_dual)
            self.search.offer(weights)
            yield
            short = np.maximum(0.0, 1.0 - rows.values @ weights) * np.asarray(solution.col_value)
            worst = np.where(dropped, 0.0, short.reshape(-1, rivals).sum(axis=1)) * noise
            row = int(np.argmax(worst))
            if worst[row] <= 1e-7 * rows.costs[row]:
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
