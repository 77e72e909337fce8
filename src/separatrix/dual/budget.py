"""The kernel perceptron on a budget: the support never has more than B rows.

When the budget is full, or a row lies in the span of the support, a mistake adds the projection of its row
onto that span (Orabona, Keshet and Caputo 2009). The kernel row of a mistake is computed alone, against
the whole support. So the state depends only on the rows and their order, not on how they were divided into
blocks or calls.

With u any vector of the feature space, L its hinge loss over the M mistakes, R the longest row, and D the sum
of the lengths that the projections lose, ``M - L - |u| D <= |u| R sqrt(M)``. The reason is that the squared
length of w grows by at most R^2 per mistake, because w lies in the span, and ``<w, u>`` grows by ``<z, u>``
less at most ``|u|`` times what is lost.
"""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from ..errors import InputError
from ..progress import Progress
from ..result import Floats, Ints, KernelResult, KernelTrace, PassRecord, Status
from ..rows.numpy_loops import best_rivals, signed_scores
from ..sparse import sparse
from .expansion import Support
from .similarity import Similarity, TrainingRows

BLOCK = 128  # rows that are scored together
NARROW = 1024  # blocks of sparse rows with at most this many columns are made dense: ten times as fast
DEPENDENT = 1e-10  # a residual below this share of a row's own square is rounding error

_solve = partial(solve_triangular, lower=True, check_finite=False)  # checking costs more than solving


class BudgetedSupport(Support):
    """The weights of a kernel perceptron that keeps at most ``capacity`` rows of support."""

    # The row, rival, score, support and coefficients of every update, if a trace is wanted.
    log: list[tuple[int, int, float, Ints, Floats]] | None = None

    def __init__(self, similarity: Similarity, n_classes: int, capacity: int) -> None:
        super().__init__(similarity, n_classes)
        self.capacity = capacity
        self.coef = np.zeros((capacity, self.columns))
        self.rows = np.zeros(capacity, dtype=np.int64)
        self.roots = np.zeros(capacity)
        self.factor = np.zeros((capacity, capacity))  # Cholesky factor of the Gram matrix

    def fork(self) -> BudgetedSupport:
        """Return an independent copy."""
        return copy.deepcopy(self)

    def unsure(self) -> float:
        """Return a bound on the error of an output, in a block or alone, per unit of a row's length."""
        rounding = self.similarity.rounding(self.width, self.radius, np.float64)
        assert rounding is not None, "a kernel without a bound is computed one row at a time"
        error = 2.0 * rounding + 4.0 * (self.capacity + 8) * float(np.finfo(np.float64).eps)
        return 2.0 * error * float((np.abs(self.coef) * self.roots[:, None]).sum(axis=0).max())

    def learn(self, anchor: Any, row: int, kernel_row: Floats, root: float, correction: Floats) -> bool:
        """Correct a mistake; return whether its row was added to the support."""
        self.made += 1
        size, square = self.size, root**2
        inside = self.factor[:size, :size]
        lower = _solve(inside, kernel_row) if size else np.zeros(0)
        residual = max(0.0, square - float(lower @ lower))
        if size < self.capacity and residual > DEPENDENT * square:
            self.factor[size, :size], self.factor[size, size] = lower, np.sqrt(residual)
            self.anchors.append(anchor)
            self.rows[size], self.roots[size], self.coef[size] = row, root, correction
            self.size += 1
            return True
        if size:
            self.coef[:size] += np.outer(_solve(inside, lower, trans="T"), correction)
        return False

    def margin_upper(self) -> float:
        """Return an upper bound of the margin: the length of the longest signed row."""
        return self.longest * (1.0 if self.columns == 1 else float(np.sqrt(2.0)))

    def trace(self, rows: TrainingRows) -> KernelTrace:
        """Return every update, in order, with the support and its coefficients after it."""
        log = self.log or []
        shape = (len(log), self.capacity)
        return KernelTrace(
            rows=np.array([each[0] for each in log], dtype=np.int64),
            rivals=np.array([each[1] for each in log], dtype=np.int64),
            scores=np.array([each[2] for each in log]),
            support=np.array([each[3] for each in log], dtype=np.int64).reshape(shape),
            coef=np.array([each[4] for each in log]).reshape(*shape, self.columns),
        )

    def check_room(self, updates: int | None, rows: int, passes: int, most_bytes: int = 1 << 31) -> None:
        """Refuse, before the run, a trace that may not fit into memory."""
        most = rows * passes if updates is None else min(updates, rows * passes)
        size = 8 * most * self.capacity * (self.columns + 1)
        if size > most_bytes:
            raise InputError(
                f"A trace of up to {most:,} updates on a budget of {self.capacity} may take "
                f"{size / 1e9:.1f} GB.",
                remedy="Set max_updates to a smaller number, or fit without a trace.",
                parameter="max_updates",
            )


def learn_on_budget(
    rows: TrainingRows,
    budget: BudgetedSupport,
    *,
    max_iter: int,
    max_updates: int | None = None,
    order: str = "cyclic",
    seed: np.random.Generator | None = None,
    first_row: int | None = None,
) -> KernelResult:
    """Make passes until one has no mistake or a limit is met; one pass only if ``first_row`` is given."""
    budget.measure(rows)
    every, online = rows.members, first_row is not None
    counts = np.zeros((0 if online else rows.size, budget.columns), dtype=np.int64)
    visit = _Visit(rows, budget, counts, np.inf if max_updates is None else max_updates, first_row or 0)
    history: list[PassRecord] = []
    status, upper = Status.PASS_LIMIT, budget.margin_upper()
    with Progress() as progress:
        try:
            while len(history) < max_iter and not visit.stopped:
                before = visit.made
                here = every if seed is None or order != "shuffled" else seed.permutation(every)
                for start in range(0, here.size, BLOCK):
                    visit.block(here[start : start + BLOCK])
                    if visit.stopped:
                        status = Status.UPDATE_LIMIT
                        break
                    if progress.due():
                        progress.show(f"budget perceptron: {budget.visits} rows, {budget.made} mistakes")
                clean = visit.made == before and not visit.stopped
                history.append(PassRecord(visit.made - before, 0 if clean else None, -np.inf, upper))
                if clean:
                    status = Status.SEPARATED
                    break
        except KeyboardInterrupt:
            if online:
                raise
            status = Status.INTERRUPTED
        if progress.heard and not online:
            ended = f"{len(history):,} passes, {visit.made:,} mistakes"
            progress.end(f"budget perceptron: {ended}. {status.value}")
    return KernelResult(
        status=Status.ONLINE if online else status,
        counts=counts,
        mistakes=int(counts.sum()),
        errors=0 if status is Status.SEPARATED and not online else None,
        passes=len(history),
        radius=budget.longest,
        margin_lower=-np.inf,
        margin_upper=upper,
        history=tuple(history),
        order=order,
        visits=budget.visits,
        settled=visit.settled,
    )


class _Visit:
    """Blocks of rows that a budget learns from."""

    def __init__(
        self, rows: TrainingRows, budget: BudgetedSupport, counts: Ints, limit: float, first_row: int
    ) -> None:
        self.rows, self.budget, self.counts, self.limit = rows, budget, counts, limit
        self.first_row = first_row
        self.made = self.settled = 0
        self.stopped = False
        self._find_support()

    def _find_support(self) -> None:
        budget = self.budget
        self.support = budget.similarity.side(budget.anchors.part(0, budget.size)) if budget.size else None

    def block(self, indices: Ints) -> None:
        """Visit rows; those that are surely right are counted together."""
        rows, budget, similarity = self.rows, self.budget, self.budget.similarity
        matrix = rows.X[indices]
        anchors = similarity.kernel.anchors(rows.X, indices)
        if sparse.issparse(matrix) and matrix.shape[1] <= NARROW:
            matrix = anchors = matrix.toarray()
        labels, roots = rows.labels[indices], rows.roots[indices]
        left = similarity.side(matrix)
        alone = similarity.fixed  # then every row is scored in the way that decides
        values = np.zeros((indices.size, 0))
        if self.support is not None and not alone:
            values = similarity.block(left, self.support)
        position = 0
        while position < indices.size:
            if not alone:
                outputs = budget.need_finite(values[position:] @ budget.coef[: budget.size])
                sure = signed_scores(outputs, labels[position:]) > budget.unsure() * roots[position:]
                passed = int(np.argmin(sure)) if not sure.all() else sure.size
                budget.visits += passed
                position += passed
                if position == indices.size:
                    return
            one = slice(position, position + 1)
            added = self._settle(int(indices[position]), matrix[one], anchors[one])
            if self.stopped:
                return
            if added and not alone:
                values = np.hstack([values, similarity.block(left, similarity.side(anchors[one]))])
            budget.visits += 1
            position += 1

    def _settle(self, row: int, matrix: Any, anchor: Any) -> bool:
        """Score one row alone and correct it if it is wrong; return whether the support has grown."""
        rows, budget, similarity = self.rows, self.budget, self.budget.similarity
        kernel_row = np.zeros(0)
        if self.support is not None:
            kernel_row = similarity.block(similarity.side(matrix), self.support)[0]
        outputs = budget.need_finite(kernel_row[None, :] @ budget.coef[: budget.size])
        label = rows.labels[row : row + 1]
        self.settled += 1
        score = float(signed_scores(outputs, label)[0])
        if score > 0.0:
            return False
        if self.made >= self.limit:
            self.stopped = True
            return False
        self.made += 1
        rival, correction = 0, np.zeros(budget.columns)
        if budget.columns == 1:
            correction[0] = (2.0 * label[0] - 1.0) * rows.steps[row]
        else:
            rival = int(best_rivals(outputs, label)[0])
            correction[label[0]], correction[rival] = rows.steps[row], -rows.steps[row]
        if self.counts.size:
            self.counts[row, rival] += 1
        added = budget.learn(anchor, row + self.first_row, kernel_row, float(rows.roots[row]), correction)
        if added:
            self._find_support()
        if budget.log is not None:
            members = np.where(np.arange(budget.capacity) < budget.size, budget.rows, -1)
            budget.log.append((row, rival, score, members, budget.coef.copy()))
        return added
