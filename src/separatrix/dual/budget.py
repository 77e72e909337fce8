"""The kernel perceptron on a budget: at most B rows of support, whatever comes.

A mistake on a full budget is corrected in one of three ways: shrink all coefficients and forget the oldest
row, forget a row by chance, or add the new row's projection to the span of the support. Mistakes change the
state, so the kernel row of a mistake is always computed alone, in a product of a fixed shape: the state
depends on the rows and their order only, never on how they were cut into blocks or calls.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from ..errors import NumericOverflowError
from ..progress import Progress
from ..result import Floats, Ints, KernelResult, PassRecord, Status
from ..rows.class_leads import leads
from ..sparse import sparse
from .budget_bound import BudgetBound, bound_of
from .similarity import Side, Similarity, TrainingRows

REMOVALS = ("forgetron", "random", "projection")
BLOCK = 128  # rows scored at a time
SHARE = 15.0 / 32.0  # of the mistakes, that a Forgetron's removals may cost
NARROW = 1024  # sparse rows with no more columns are made dense, a block at a time: mistakes cost a tenth
DEPENDENT = 1e-10  # a residual below this share of a row's own square is rounding error
HEADROOM = 1.0 + 1e-9  # R is taken so much larger: rows made equally long differ in the last digits

_solve = partial(solve_triangular, lower=True, check_finite=False)  # checking costs more than solving


class Slots:
    """A fixed number of rows, any of which may be replaced; unused ones hold a copy of the first."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._rows: Any = None

    def put(self, slot: int, anchor: Any) -> None:
        """Replace one row (given as a matrix of one row, or one index)."""
        if self._rows is None:
            repeated = np.zeros(self.size, dtype=np.int64)
            self._rows = sparse.csr_array(anchor[repeated]) if sparse.issparse(anchor) else anchor[repeated]
            self._rows = self._rows.astype(np.float64) if anchor.ndim == 2 else self._rows
        elif sparse.issparse(self._rows) or sparse.issparse(anchor):
            rows = sparse.csr_array(self._rows)
            parts = [rows[:slot], sparse.csr_array(anchor, dtype=np.float64), rows[slot + 1 :]]
            self._rows = sparse.vstack([each for each in parts if each.shape[0]], format="csr")
        else:
            self._rows[slot] = anchor[0]

    def part(self, start: int, stop: int) -> Any:
        """Some consecutive rows."""
        return self._rows[start:stop]

    @property
    def all(self) -> Any:
        """Every row, used or not."""
        return self._rows


class Budget:
    """A kernel perceptron that keeps at most ``capacity`` rows of support."""

    log: list[Logged] | None = None  # every update, where it is asked for

    def __init__(
        self, similarity: Similarity, n_classes: int, *, size: int, removal: str, seed: Any = None
    ) -> None:
        self.similarity, self.n_classes, self.removal, self.seed = similarity, n_classes, removal, seed
        self.columns = 1 if n_classes == 2 else n_classes
        self.capacity = size
        self.size = self.made = self.visits = 0
        self.anchors = Slots(size)
        self.coef = np.zeros((size, self.columns))
        self.rows = np.zeros(size, dtype=np.int64)
        self.gram = np.zeros((size, size))
        self.labels = np.zeros((size, 2), dtype=np.int64)  # own class and rival of each slot's update
        self.amounts = np.zeros(size)
        self.scales = np.zeros(size)  # what shrinking left of each slot's update
        self.ages = np.zeros(size, dtype=np.int64)
        self.factor = np.zeros((size, size))  # Cholesky factor of the Gram matrix, for projections
        self.terms: Floats | None = None
        self.width, self.radius, self.longest = 0, 0.0, 0.0
        self.largest, self.first_largest = 0.0, np.nan  # |z|, and what it was at the first removal
        self.possible = 0.0  # the largest |z| that any row would add, mistaken or not
        self.cost = self.shrinking = self.residuals = 0.0
        self.shrunk = 1.0  # what the last shrinking left

    def fork(self) -> Budget:
        """A copy that goes on by itself."""
        return copy.deepcopy(self)

    def measure(self, rows: TrainingRows) -> None:
        """Take note of the largest row that is to come."""
        self.width = max(self.width, rows.width)
        self.radius = max(self.radius, rows.radius)
        self.longest = max(self.longest, float(rows.roots.max(initial=0.0)))
        lengths = rows.steps * rows.roots * np.sqrt(self._doubled)
        self.possible = max(self.possible, float(lengths.max(initial=0.0)))

    def right(self) -> Side:
        """All slots, ready for products."""
        return Side(self.anchors.all, self.terms)

    def outputs(self, left: Side, coef: Floats, dtype: Any = np.float64) -> Floats:
        """The outputs of some rows under coefficients of the support."""
        if not self.size:
            return np.zeros((left.size, self.columns))
        right = self.similarity.side(self.anchors.part(0, self.size), dtype)
        values: Floats = self.similarity.block(left, right, dtype=dtype) @ coef.astype(dtype)
        return values.astype(np.float64)

    def error(self) -> float:
        """What an output may be off by, per unit of reach and root: in a block, and alone."""
        rounding = self.similarity.rounding(self.width, self.radius, np.float64)
        assert rounding is not None, "a kernel without a bound is computed one row at a time"
        return 2.0 * rounding.total + 4.0 * (self.capacity + 8) * float(np.finfo(np.float64).eps)

    def reach(self) -> float:
        """The largest sum, over the support, of coefficients times lengths, of any class."""
        roots = np.sqrt(np.abs(np.diagonal(self.gram)))
        return float((np.abs(self.coef) * roots[:, None]).sum(axis=0).max())

    def learn(
        self, anchor: Any, row: int, kernel_row: Floats, square: float, update: Correction
    ) -> int | None:
        """Correct a mistake; return the slot that was filled, if one was."""
        self.made += 1
        length = update.amount * float(np.sqrt(square * self._doubled))
        self.largest = HEADROOM * length if length > self.largest else self.largest
        if self.removal == "projection":
            slot = self._project(kernel_row, square, update)
        elif self.size < self.capacity:
            slot = self.size
        elif self.removal == "random":
            slot = int(self.seed.integers(self.capacity))
        else:
            slot = self._shrink(kernel_row, update)
        if slot is None:
            return None
        self.size = max(self.size, slot + 1)
        self.anchors.put(slot, anchor)
        self._note_terms(slot, anchor)
        self.rows[slot], self.ages[slot] = row, self.made
        self.gram[slot], self.gram[:, slot] = kernel_row, kernel_row
        self.gram[slot, slot] = square
        self.labels[slot] = update.own, update.rival
        self.amounts[slot] = update.amount
        self.scales[slot] = self.shrunk
        self.coef[slot] = self.scales[slot] * update.vector(self.columns)
        return slot

    @property
    def _doubled(self) -> float:
        """An update of one class against another is twice as long, squared, as one of two classes."""
        return 1.0 if self.columns == 1 else 2.0

    def _note_terms(self, slot: int, anchor: Any) -> None:
        if not self.similarity.kernel.by_products:
            return
        terms = self.similarity.kernel.row_terms(anchor)
        if self.terms is None:
            self.terms = np.repeat(terms, self.capacity, axis=1)
        self.terms[:, slot] = terms[:, 0]

    def _shrink(self, kernel_row: Floats, update: Correction) -> int:
        """Make room as the self-tuned Forgetron: shrink as little as the proof allows, drop the oldest."""
        oldest = int(np.argmin(self.ages))
        if np.isnan(self.first_largest):
            self.first_largest = self.largest
        outputs = self.gram[oldest] @ self.coef + kernel_row[oldest] * update.vector(self.columns)
        own, rival = self.labels[oldest]
        score = (2.0 * own - 1.0) * outputs[0] if self.columns == 1 else outputs[own] - outputs[rival]
        squared = max(self.largest**2, np.finfo(np.float64).tiny)
        aligned = self.amounts[oldest] * score / squared  # mu of the paper
        scale = self.scales[oldest]
        # psi(phi) = (phi s)^2 + 2 phi s (1 - phi mu): the largest phi with cost + psi <= SHARE * M.
        square, slope, rest = scale * (scale - 2.0 * aligned), 2.0 * scale, self.cost - SHARE * self.made
        phi = 1.0
        if square + slope + rest > 0.0:
            inside = max(0.0, slope**2 - 4.0 * square * rest)
            phi = min(1.0, -2.0 * rest / (slope + np.sqrt(inside)))
        self.cost += square * phi**2 + slope * phi
        self.shrinking += (1.0 - phi) / (1.0 + phi)
        self.coef *= phi
        self.scales *= phi
        self.shrunk = phi
        return oldest

    def _project(self, kernel_row: Floats, square: float, update: Correction) -> int | None:
        """Add the update's projection to the span of the support, or give it a slot while there is one."""
        size = self.size
        lower = np.zeros(0)
        if size:
            lower = _solve(self.factor[:size, :size], kernel_row[:size])
        residual = max(0.0, square - float(lower @ lower))
        if size < self.capacity and residual > DEPENDENT * square:
            self.factor[size, :size], self.factor[size, size] = lower, np.sqrt(residual)
            return size
        if size:
            share = _solve(self.factor[:size, :size], lower, trans="T")
            self.coef[:size] += share[:, None] * update.vector(self.columns)
        self.residuals += update.amount * float(np.sqrt(residual * self._doubled))
        return None

    def margin_upper(self) -> float:
        """|w| / sum of its coefficients where it is a sum of updates, else R: no margin is larger."""
        mass = float((self.scales * self.amounts).sum())
        if self.removal == "projection" or mass == 0.0:
            return self.longest * float(np.sqrt(self._doubled))
        squared = float(np.einsum("ic,ij,jc->", self.coef, self.gram, self.coef, optimize=True))
        return float(np.sqrt(max(0.0, squared))) / mass

    def bound(self) -> BudgetBound:
        """The bounds of this way of removal, at this run's sums."""
        if self.removal == "random":  # which rows are mistaken is chance, so R must not depend on it
            return bound_of(self.removal, self.capacity, self.made, self.possible)
        terms = (self.cost, self.shrinking) if self.removal == "forgetron" else (self.residuals,)
        grown = self.largest > self.first_largest
        return bound_of(self.removal, self.capacity, self.made, self.largest, terms, grown)


@dataclass(frozen=True, eq=False)
class Logged:
    """An update, and the support and its coefficients after it."""

    row: int
    rival: int
    score: float
    support: Ints
    coef: Floats


@dataclass(frozen=True)
class Correction:
    """A correction towards one class, away from another."""

    own: int
    rival: int
    amount: float

    def vector(self, columns: int) -> Floats:
        """What it adds to the outputs of each class, per unit of kernel."""
        found = np.zeros(columns)
        if columns == 1:
            found[0] = (2.0 * self.own - 1.0) * self.amount
        else:
            found[self.own], found[self.rival] = self.amount, -self.amount
        return found


def learn_on_budget(
    rows: TrainingRows,
    budget: Budget,
    *,
    max_iter: int,
    max_updates: int | None = None,
    order: str = "cyclic",
    seed: np.random.Generator | None = None,
    first_row: int | None = None,
) -> KernelResult:
    """Pass over the rows until none is mistaken or a limit is met; once only if ``first_row`` is given."""
    budget.measure(rows)
    every = rows.members
    counts = np.zeros((rows.size if first_row is None else 0, budget.columns), dtype=np.int64)
    visit = _Visit(rows, budget, counts, np.inf if max_updates is None else max_updates, first_row or 0)
    history: list[PassRecord] = []
    status = Status.PASS_LIMIT
    with Progress() as progress:
        try:
            while len(history) < max_iter and not visit.stopped:
                before = visit.made
                here = every if seed is None or order != "shuffled" else seed.permutation(every)
                for start in range(0, here.size, BLOCK):
                    visit.block(here[start : start + BLOCK])
                    if visit.stopped:
                        break
                    if progress.due():
                        progress.show(f"budget perceptron: {budget.visits} rows, {budget.made} mistakes")
                clean = visit.made == before and not visit.stopped
                history.append(
                    PassRecord(visit.made - before, 0 if clean else None, -np.inf, budget.margin_upper())
                )
                if clean:
                    status = Status.SEPARATED
                    break
        except KeyboardInterrupt:
            if first_row is not None:
                raise
            status = Status.INTERRUPTED
    if visit.stopped and status is Status.PASS_LIMIT:
        status = Status.UPDATE_LIMIT
    online = first_row is not None
    return KernelResult(
        status=Status.ONLINE if online else status,
        counts=counts,
        mistakes=int(counts.sum()),
        errors=0 if status is Status.SEPARATED and not online else None,
        passes=len(history),
        radius=budget.longest,
        margin_lower=-np.inf,
        margin_upper=budget.margin_upper(),
        history=tuple(history),
        order=order,
        visits=budget.visits,
        settled=visit.settled,
    )


class _Visit:
    """Learning from blocks of rows on a budget."""

    def __init__(
        self, rows: TrainingRows, budget: Budget, counts: Ints, limit: float, first_row: int
    ) -> None:
        self.rows, self.budget, self.counts, self.limit = rows, budget, counts, limit
        self.first_row = first_row
        self.made = self.settled = 0
        self.stopped = False

    def block(self, indices: Ints) -> None:
        """Visit some rows; those that are surely right are passed over together."""
        rows, budget, similarity = self.rows, self.budget, self.budget.similarity
        matrix = rows.X[indices]
        anchors = similarity.kernel.anchors(rows.X, indices)
        if sparse.issparse(matrix) and matrix.shape[1] <= NARROW:
            matrix = matrix.toarray()
            anchors = matrix
        if similarity.fixed:
            self._alone(indices, matrix, anchors)
            return
        left = similarity.side(matrix)
        inside = similarity.block(left, similarity.side(anchors))
        values = (
            similarity.block(left, budget.right())
            if budget.size
            else np.zeros((indices.size, budget.capacity))
        )
        labels, roots = rows.labels[indices], rows.roots[indices]
        position = 0
        while position < indices.size:
            outputs = values[position:] @ budget.coef
            if not np.all(np.isfinite(outputs)):
                raise NumericOverflowError(
                    "An output left the range of float64.", remedy="Scale the columns first.", parameter="X"
                )
            unsure = 2.0 * budget.error() * budget.reach() * roots[position:]
            doubtful = np.flatnonzero(~(leads(outputs, labels[position:]) > unsure))
            passed = int(doubtful[0]) if doubtful.size else indices.size - position
            budget.visits += passed
            position += passed
            if position == indices.size:
                return
            one = slice(position, position + 1)
            filled = self._settle(indices[position], matrix[one], anchors[one])
            if self.stopped:
                return
            if filled is not None:
                values[:, filled] = inside[:, position]
            budget.visits += 1
            position += 1

    def _alone(self, indices: Ints, matrix: Any, anchors: Any) -> None:
        """Visit the rows one by one, each scored in the way that decides."""
        for position, row in enumerate(indices):
            one = slice(position, position + 1)
            self._settle(row, matrix[one], anchors[one])
            if self.stopped:
                return
            self.budget.visits += 1

    def _settle(self, row: int, matrix: Any, anchor: Any) -> int | None:
        """Score one row alone, in a product of a fixed shape, and correct it if it is wrong."""
        rows, budget, similarity = self.rows, self.budget, self.budget.similarity
        kernel_row = np.zeros(budget.capacity)
        if budget.size:
            kernel_row = similarity.block(similarity.side(matrix), budget.right())[0]
            kernel_row[budget.size :] = 0.0
        outputs = kernel_row[None, :] @ budget.coef
        if not np.all(np.isfinite(outputs)):
            raise NumericOverflowError("An output left the range of float64. Scale the columns first.")
        own = int(rows.labels[row])
        self.settled += 1
        score = float(leads(outputs, rows.labels[row : row + 1])[0])
        if score > 0.0:
            return None
        if self.made >= self.limit:
            self.stopped = True
            return None
        rival = (
            0
            if budget.columns == 1
            else int(np.argmax(np.where(np.arange(budget.columns) == own, -np.inf, outputs[0])))
        )
        self.made += 1
        if self.counts.size:
            self.counts[row, rival] += 1
        update = Correction(own, rival, float(rows.steps[row]))
        square = float(rows.roots[row] ** 2)
        slot = budget.learn(anchor, row + self.first_row, kernel_row, square, update)
        if budget.log is not None:
            members = np.where(np.arange(budget.capacity) < budget.size, budget.rows, -1)
            budget.log.append(Logged(int(row), rival, score, members, budget.coef.copy()))
        return slot
