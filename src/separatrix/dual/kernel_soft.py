"""The soft margin in a kernel's feature space, with a duality gap that counts all rounding.

A decomposition method solves the dual problem. Compiled steps improve the multipliers of a working set, whose
kernel rows are in memory; then the rows that violate their optimality conditions most enter the set. A small
problem is one working set. The bracket is computed once, at the end.

If there are many more rows than the feature space has dimensions, and C is large, such steps converge slowly.
Then the Gram matrix ``K = L L'`` is factorized: the rows of L have the inner products of the feature vectors,
and the linear solver finds the optimum on them.

References
----------
T. Joachims, "Making large-scale SVM learning practical", 1999; R.-E. Fan, P.-H. Chen and C.-J. Lin, "Working
set selection using second order information for training support vector machines", JMLR 6, 2005.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg

from ..deadline import NEVER, Deadline, OutOfTime
from ..kernels import Polynomial, Precomputed
from ..kernels.base import EPS, MOST_GRAM_ROWS, STRIP
from ..loops import decomposition
from ..margins.brackets import Effort, against_rivals, balanced, best_shift, feasible
from ..margins.rounding.proved_margin import imbalance
from ..margins.rounding.proved_soft import proved_bound
from ..margins.soft.soft_margin import BracketedMinimum, solve_soft_margin
from ..result import Floats, Ints, Status
from ..rows.memory import as_rows
from ..rows.threads import MOST_AT_ONCE, calm_threads
from ..sparse import dense
from .kernel_rows import KernelRows, as_combination, coordinates
from .similarity import Similarity

SMALL = 1000  # rows up to which the first working set has all of them
ENTERING = (
    64  # rows that enter a working set at a time; with 128, ijcnn1 (10,000 rows) took 1.4 times as long
)
CUTOFFS = (EPS, 1e-12, 1e-10, 1e-8)  # of least squares, on coordinates of very different sizes


@dataclass(frozen=True, eq=False)
class KernelSoftOptimum(BracketedMinimum):
    """The minimum of the soft margin in a kernel's feature space.

    Attributes
    ----------
    status, primal, dual, steps, history, seconds
        As in `BracketedMinimum`. The bracket counts the rounding of sums, and of kernel values if the kernel
        states a bound on it.
    rows : ndarray of int64
        The support, as indices of training rows.
    coefficients : ndarray of shape (1, support) or (classes, support)
        The score of x is ``coefficients @ K(rows, x) + intercept``.
    intercept : ndarray of shape (1,) or (classes,)
    """

    rows: Ints
    coefficients: Floats
    intercept: Floats

    def _facts(self) -> list[tuple[str, str]]:
        return [*super()._facts(), ("support", f"{self.rows.size:,} rows")]


def solve_kernel_soft(
    rows: KernelRows,
    caps: Floats,
    *,
    gap: float = 1e-3,
    max_iter: int = 10_000,
    seed: int | np.random.Generator | None = 0,
    deadline: Deadline = NEVER,
) -> KernelSoftOptimum:
    """Minimize the soft margin's objective over the span of the feature vectors, which contains the minimum.

    Parameters
    ----------
    rows : KernelRows
    caps : ndarray of shape (rows,)
        C times the weight of each row.
    gap : float
        Stop when (primal - dual) / primal is at most this.
    max_iter : int
        The largest number of passes and Newton steps. A pass is as many steps as the working set has rows.
    seed : int or Generator, optional
        For the choice between rows that violate their conditions equally.
    deadline : Deadline
        When to stop and return the bracket that is known by then.
    """
    effort = Effort("soft margin", max_iter, deadline)
    members = rows.order[caps[rows.order] > 0.0]
    # More threads for these products doubled the processor time on 2,000 to 3,500 rows.
    with calm_threads(members.size, MOST_GRAM_ROWS), np.errstate(all="ignore"), effort.progress:
        search = Decomposition(rows.only(members), caps[members], effort, np.random.default_rng(seed))
        found = search.solve(gap)
        effort.end(found.status)
    support = np.flatnonzero(np.abs(found.coefficients).max(axis=0) > 0.0)
    return replace(
        found,
        steps=effort.steps,
        rows=members[support],
        coefficients=np.ascontiguousarray(found.coefficients[:, support]),
        history=(*effort.history, (found.dual, found.primal)),
        seconds=effort.seconds,
    )


class TwoClasses:
    """The dual problem of two classes, with signed multipliers.

    A free intercept requires that they sum to zero, and the steps do not change the sum.
    """

    def __init__(self, rows: KernelRows, caps: Floats, norms: Floats) -> None:
        signs = 2.0 * rows.labels - 1.0
        self.low, self.high, self.norms = np.minimum(0.0, signs * caps), np.maximum(0.0, signs * caps), norms
        self.values, self.goals, self.errors = np.zeros(caps.size), signs, -signs
        self.totals = np.array([0.0, np.inf if rows.free else float(rows.lifted), 0.0, 0.0])

    def step(self, gram: Floats, at: Any, share: float, most: int) -> tuple[Floats, int]:
        """Improve the multipliers of some rows; return their changes, and the number of steps."""
        arrays = self.values, self.low, self.high, self.errors, self.norms
        state = decomposition.Signed(*(each[at] for each in arrays))
        made = decomposition.pair_steps(gram, state, self.totals, share, most)
        change = state.values - self.values[at]
        self.values[at] = state.values
        return change, made

    def shares(self) -> tuple[Floats, Floats]:
        """Return the part of each row in the duality gap, and how much it violates its condition."""
        grows, shrinks = self.values < self.high, self.values > self.low
        balance, constant = self.totals[: decomposition.DUAL]
        intercept = constant * balance
        if constant == np.inf:
            least = self.errors.min(where=grows, initial=np.inf)
            intercept = -0.5 * (least + self.errors.max(where=shrinks, initial=-np.inf))
        excess = -self.errors - intercept
        parts = np.maximum(self.high * excess, self.low * excess) - self.values * excess
        return parts, np.maximum(np.where(grows, excess, 0.0), np.where(shrinks, -excess, 0.0))

    def update(self, change: Floats, block: Floats) -> None:
        """Bring the errors up to date with changed multipliers, whose kernel rows are the block."""
        self.errors += change @ block

    def recenter(self) -> float:
        """Return how much the multipliers violate the condition of a free intercept."""
        return 0.0

    def feasible(self, rows: KernelRows, caps: Floats) -> tuple[Floats, Floats]:
        """Return coefficients that satisfy all conditions to rounding, and an intercept if it is known."""
        return self.values[None, :], np.zeros(1)

    def refresh(self, outputs: Floats) -> None:
        """Remove the rounding errors that many steps have added up."""
        self.errors = outputs[:, 0] - self.goals


class ManyClasses:
    """The dual problem of many classes: one multiplier per row and class, and those of a row sum to zero.

    Free intercepts require that those of a class sum to zero, too. The method of multipliers achieves this:
    steps keep the intercepts near a center, and then the center moves to where the steps left them.
    """

    def __init__(self, rows: KernelRows, caps: Floats, norms: Floats) -> None:
        own = rows.labels[:, None] == np.arange(rows.n_classes)
        self.high, self.goals, self.errors = np.where(own, caps[:, None], 0.0), own - 1.0, 1.0 - own
        self.values, self.center, self.free = np.zeros(own.shape), np.zeros(rows.n_classes), rows.free
        constant = max(float(norms.mean()), EPS) if rows.free else float(rows.lifted)
        self.norms = norms + constant
        zero = np.flatnonzero(self.norms == 0.0)  # no weights change the outputs of these rows
        self.values[zero] = self.high[zero]
        self.values[zero, (rows.labels[zero] == 0).astype(np.int64)] -= caps[zero]
        self.totals = np.array([0.0, constant, float(caps[zero].sum()), 0.0])

    def step(self, gram: Floats, at: Any, share: float, most: int) -> tuple[Floats, int]:
        """Improve the multipliers of some rows; return their changes, and the number of steps."""
        values, high, errors, norms = (each[at] for each in (self.values, self.high, self.errors, self.norms))
        state = decomposition.Shares(values, high, errors, norms, np.empty(self.center.size))
        made = decomposition.row_steps(gram, state, self.totals, share, most)
        change = state.values - self.values[at]
        self.values[at] = state.values
        return change, made

    def shares(self) -> tuple[Floats, Floats]:
        """Return the part of each row in the duality gap, and how much it violates its condition."""
        top = self.errors.max(axis=1, keepdims=True)
        parts = (self.high * (top - self.errors) + self.values * self.errors).sum(axis=1)
        bottom = self.errors.min(axis=1, where=self.values < self.high, initial=np.inf)
        return parts, np.maximum(0.0, top[:, 0] - bottom)

    def update(self, change: Floats, block: Floats) -> None:
        """Bring the errors up to date with changed multipliers, whose kernel rows are the block."""
        self.errors += block.T @ change + self.totals[decomposition.CONSTANT] * change.sum(axis=0)

    def recenter(self) -> float:
        """Move the center of free intercepts; return how much the multipliers violate their condition."""
        if not self.free:
            return 0.0
        balance = self.values.sum(axis=0)
        pull = self.totals[decomposition.CONSTANT] * balance
        self.center += pull
        self.errors += pull
        self.totals[decomposition.DUAL] -= float(pull @ balance)
        return float(np.abs(balance).sum()) * (1.0 + float(np.abs(self.center).max()))

    def feasible(self, rows: KernelRows, caps: Floats) -> tuple[Floats, Floats]:
        """Return coefficients that satisfy all conditions to rounding, and an intercept if it is known."""
        intercept = self.center + self.totals[decomposition.CONSTANT] * self.values.sum(axis=0)
        self.values = feasible(self.values, caps, rows.labels)
        if self.free:
            self.values = balanced(self.values, rows.labels)
        return np.ascontiguousarray(self.values.T), intercept

    def refresh(self, outputs: Floats) -> None:
        """Remove the rounding errors that many steps have added up."""
        intercept = self.center + self.totals[decomposition.CONSTANT] * self.values.sum(axis=0)
        self.errors = outputs + intercept - self.goals


class Decomposition:
    """A dual problem with the kernel rows of its working set.

    Attributes
    ----------
    set : ndarray of int64
        The working set. It grows until its kernel rows fill the memory that they may use.
    block : ndarray of shape (size, rows)
        The kernel rows of the working set.
    inner : ndarray of shape (size, size)
        Their columns in the working set: the Gram matrix in which steps are made.
    """

    def __init__(
        self, rows: KernelRows, caps: Floats, effort: Effort, generator: np.random.Generator
    ) -> None:
        self.rows, self.caps, self.effort, self.generator = rows, caps, effort, generator
        n, self.made = caps.size, 0
        self.size = min(n, max(2, MOST_GRAM_ROWS**2 // n))
        self.set: Ints = np.zeros(0, dtype=np.int64)
        self.anchors = rows.X if rows.kernel.by_products else rows.kernel.anchors(rows.X, rows.order)
        if n <= SMALL:
            self.take_all()
        else:
            self.block, self.inner = np.empty((self.size, n)), np.empty((self.size, self.size))
        _require_legal(rows, self.block if self.whole else None)
        norms = self.block.diagonal().copy() if self.whole else rows.kernel.diagonal(rows.X)
        self.problem = (TwoClasses if rows.n_classes == 2 else ManyClasses)(rows, caps, norms)

    @property
    def whole(self) -> bool:
        """Whether the working set has all rows, in their order."""
        return self.block is self.inner

    def take_all(self) -> None:
        """Put all rows into the working set, in their order."""
        self.set = np.arange(self.caps.size)
        self.block = self.inner = self.rows.kernel.block(self.rows.X, self.anchors)

    def solve(self, gap: float) -> KernelSoftOptimum:
        """Return an optimum with a bracket that counts all rounding."""
        goal = 0.9 * gap  # the rest is for rounding
        try:
            for _ in range(3):
                status = self.run(goal)
                found = self.certified(status)
                if found.gap > gap:
                    found = self.lengthened(found, 1.0 + 0.125 * gap)
                if found.gap <= gap or status is Status.STEP_LIMIT or self.slow:
                    break
                goal *= 0.25
            more = status is not Status.STEP_LIMIT and self.caps.size <= MOST_GRAM_ROWS
            for attempt in (self.on_monomials, self.by_factor, self.at_zero) if more else (self.at_zero,):
                if found.gap <= gap:
                    break
                other = attempt(gap)
                if other is not None:
                    status = found.status if other.status is Status.REACHED else other.status
                    best = min(found, other, key=lambda each: each.primal)
                    found = replace(best, status=status, dual=max(found.dual, other.dual))
        except KeyboardInterrupt:
            found = self.certified(Status.INTERRUPTED)
        except OutOfTime:
            found = self.certified(Status.TIME_LIMIT)
        if found.gap <= gap:
            return replace(found, status=Status.REACHED)
        return replace(found, status=Status.STALLED) if found.status is Status.REACHED else found

    @property
    def slow(self) -> bool:
        """Whether factorizing the Gram matrix is likely to cost less than more steps: after 100 passes."""
        return self.made > 100 * self.caps.size and self.caps.size <= MOST_GRAM_ROWS

    def run(self, goal: float) -> Status:
        """Make steps until the gap is a share of the objective, or until no step improves it."""
        made = 1
        while True:
            parts, violations = self.problem.shares()
            bound, gap = float(self.problem.totals[decomposition.DUAL]), float(parts.sum())
            allowed = goal * (bound + gap)
            if gap <= allowed and self.problem.recenter() <= allowed:
                return Status.REACHED
            if made == 0 or self.slow:
                return Status.STALLED
            if self.effort.spent:
                return Status.STEP_LIMIT
            self.effort.report(max(0.0, bound), bound + gap)
            self.choose(violations)
            inside = float(parts[self.set].sum())
            made = self.improve(goal if self.whole else max(0.1 * goal, 0.1 * inside / (bound + inside)))

    def choose(self, violations: Floats) -> None:
        """Add the rows that violate their conditions most to the working set.

        If the set is full, rows at a limit that satisfy their conditions leave it first.
        """
        n, size = violations.size, self.set.size
        outside = violations.copy()
        outside[self.set] = 0.0
        count = min(ENTERING, (self.size - size) or self.size // 2, int(np.count_nonzero(outside)))
        if not count:
            return
        mixed = self.generator.permutation(n)  # for rows that violate their conditions equally
        entering = mixed[np.argpartition(-outside[mixed], count - 1)[:count]]
        if size < self.size:
            slots: Any = slice(size, size + count)
            self.set = np.concatenate([self.set, entering])
        else:
            slots = np.argpartition(violations[self.set], count - 1)[:count]
            self.set[slots] = entering
        self.block[slots] = self.rows.kernel.block(self.rows.X[entering], self.anchors)
        fresh = self.block[slots][:, self.set]
        self.inner[slots, : self.set.size] = fresh
        self.inner[: self.set.size, slots] = fresh.T

    def improve(self, share: float) -> int:
        """Make steps on the working set; return how many."""
        most = max(1, 8 * MOST_AT_ONCE // (self.set.size * self.rows.n_classes))
        most = min(most, self.size * self.effort.max_steps - self.made)
        at = slice(None) if self.whole else self.set
        change, made = self.problem.step(self.inner, at, share, most)
        if not self.whole:  # otherwise the step has updated all rows
            moved = np.flatnonzero(np.abs(change).max(axis=1) if change.ndim == 2 else change)
            self.problem.update(change[moved], self.block[moved])
        self.made += made
        self.effort.steps = -(-self.made // self.size)
        return made

    def blocks(self, support: Ints) -> Iterable[tuple[slice, Floats]]:
        """Return the kernel of all rows with the support, in blocks; of rows in the set it is known."""
        places = np.full(self.caps.size, -1)
        places[self.set] = np.arange(self.set.size)
        slots, step = places[support], max(1, 4 * STRIP // max(1, support.size))
        if (slots < 0).any():
            return self.rows.blocks(self.rows.order, support)
        parts = (slice(start, start + step) for start in range(0, places.size, step))
        return ((part, self.block[slots, part].T) for part in parts)

    def certified(self, status: Status) -> KernelSoftOptimum:
        """Return the bracket that the multipliers prove, with the weights that they define."""
        coefficients, intercept = self.problem.feasible(self.rows, self.caps)
        found, outputs = self.bracket(coefficients, intercept)
        self.problem.refresh(outputs)
        self.problem.totals[decomposition.DUAL] = found.dual
        return replace(found, status=status)

    def bracket(self, coefficients: Floats, intercept: Floats) -> tuple[KernelSoftOptimum, Floats]:
        """Return what coefficients prove as weights and as multipliers, and the outputs of all rows.

        For two classes, a free intercept is chosen again.
        """
        rows, caps = self.rows, self.caps
        support = np.flatnonzero(np.abs(coefficients).max(axis=0) > 0.0)
        used = np.ascontiguousarray(coefficients[:, support])
        outputs, doubts = rows.sums(self.blocks(support), rows.order, support, used)
        square = rows.square_of(outputs[support], doubts[support], used)
        if rows.lifted:
            intercept = used.sum(axis=1)
        elif not rows.free:
            intercept = np.zeros(len(used))
        elif rows.n_classes == 2:
            scores = (2.0 * rows.labels - 1.0) * outputs[:, 0]
            intercept = np.array([best_shift(scores, caps, rows.labels)])
        losses = np.maximum(0.0, 1.0 - rows.scores_below(outputs, doubts, rows.order, intercept))
        primal = (0.5 * square + float(caps @ losses)) * (1.0 + (caps.size + 8) * EPS)
        dual = _bound(rows, caps, coefficients, square)
        found = KernelSoftOptimum(Status.REACHED, primal, dual, 0, rows.order, coefficients, intercept)
        return found, outputs

    def lengthened(self, found: KernelSoftOptimum, factor: float) -> KernelSoftOptimum:
        """Return the same with longer weights, if these have a smaller objective that is proved.

        With a large C, a score that may be below one by rounding alone costs more than everything else.
        """
        longer, _ = self.bracket(found.coefficients * factor, found.intercept * factor)
        better = longer.primal < found.primal
        return replace(longer, status=found.status, dual=found.dual) if better else found

    def on_monomials(self, gap: float) -> KernelSoftOptimum | None:
        """Return the optimum on the monomials of a polynomial kernel, or None if there are many.

        Each monomial is accurate by itself. With the unit u of rounding and the degree k, products of k
        numbers err by at most (k - 1) u, relative to their size; the coefficients of the kernel by 8 (k + 1)
        u, and their products with multinomial coefficients by u more; the roots of these by half of that and
        u; the last product by u. That is less than 8 (k + 4) u. What underflows is negligible unless whole
        vectors are tiny.
        """
        kernel, X = self.rows.kernel, self.rows.X
        if kernel.series is None or not isinstance(getattr(kernel, "inner", kernel), Polynomial):
            return None
        series, tiny = kernel.series, math.sqrt(np.finfo(float).tiny)
        if math.comb(X.shape[1] + len(series) - 1, X.shape[1]) > self.caps.size:
            return None
        if not min(float(self.rows.accuracy[0].min()), *(each for each in series if each)) > tiny:
            return None
        return self.on_points(dense(kernel.feature_map(X)), gap, 4.0 * (len(series) + 3) * EPS)

    def by_factor(self, gap: float) -> KernelSoftOptimum:
        """Return the optimum on a factor of the Gram matrix.

        It is only accurate relative to the largest numbers of the matrix.
        """
        if not self.whole:
            self.take_all()
        return self.on_points(coordinates((self.block + self.block.T) / 2.0, self.rows.kernel), gap)

    def at_zero(self, _: float) -> KernelSoftOptimum:
        """Return zero weights, whose objective has no rounding errors."""
        classes = 1 if self.rows.n_classes == 2 else self.rows.n_classes
        return self.bracket(np.zeros((classes, self.caps.size)), np.zeros(classes))[0]

    def on_points(self, points: Floats, gap: float, blur: float | None = None) -> KernelSoftOptimum:
        """Return the optimum that the linear solver finds on coordinates of the feature vectors.

        If the distance of each point from exact coordinates is at most blur times its length, multipliers
        prove a bound on the points, too.
        """
        rows, caps, effort = self.rows, self.caps, self.effort
        inside = as_rows(points, rows.labels, n_classes=rows.n_classes, lift=rows.lift)
        found = solve_soft_margin(
            inside,
            caps,
            gap=0.75 * gap,
            free_intercept=rows.free,
            max_iter=max(1, effort.max_steps - effort.steps),
            seed=self.generator,
            deadline=effort.deadline,
        )
        effort.steps += found.steps
        if found.multipliers.ndim == 1:
            coefficients = (found.multipliers * (2.0 * rows.labels - 1.0))[None, :]
        else:
            coefficients = np.ascontiguousarray(found.multipliers.T)
        proof, _ = self.bracket(coefficients, np.atleast_2d(found.weights)[:, -1])
        dual = proof.dual
        if blur is not None:
            total = coefficients @ points
            if rows.lift:
                total = np.column_stack([total, coefficients.sum(axis=1)])
            total = total.reshape(found.weights.shape)
            bound = proved_bound(inside, caps, found.multipliers, total, rows.free, 0.1 * gap, blur)
            dual = max(dual, bound)
        best = proof
        for cutoff in CUTOFFS if points.shape[1] <= SMALL else CUTOFFS[:1]:
            other, _ = self.bracket(*as_combination(found.weights, points, rows, cutoff))
            best = min(best, other, key=lambda each: each.primal)
            if best.primal - dual <= gap * best.primal:
                break
        return replace(best, status=found.status, dual=dual)


def _require_legal(rows: KernelRows, gram: Floats | None) -> None:
    """Raise an error if the Gram matrix of (the first) rows is not positive semidefinite."""
    kernel = rows.kernel
    if not (isinstance(kernel, Precomputed) or Similarity(kernel, lift=False).fixed):
        return  # legal by construction
    gram = rows.gram(rows.order[:MOST_GRAM_ROWS]) if gram is None else (gram + gram.T) / 2.0
    shift = 1e-8 * float(np.abs(gram.diagonal()).max(initial=0.0))
    try:
        linalg.cholesky(gram + shift * np.eye(len(gram)), overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        coordinates(gram, kernel)


def _bound(rows: KernelRows, caps: Floats, coefficients: Floats, square: float) -> float:
    """Return the lower bound of every objective that feasible multipliers prove."""
    if rows.n_classes == 2:
        multipliers = np.abs(coefficients[0])
        mass = math.fsum(multipliers.tolist())
    else:
        multipliers = coefficients.T
        # The multipliers of a row may exceed its cap by rounding.
        mass = math.fsum(multipliers.max(axis=1).tolist()) * (1.0 - 4.0 * (rows.n_classes + 4) * EPS)
    longest, mass = math.sqrt(square) * (1.0 + 2.0 * EPS), mass * (1.0 - 8.0 * EPS)
    if rows.free:
        change = _imbalance(rows, caps, multipliers)
        longest += 2.0 * change * math.sqrt(rows.largest) * (1.0 + 8.0 * EPS)
        mass -= change
    # If rounding makes the combination long, a part of the multipliers proves more than all of them.
    square = longest * longest * (1.0 + 8.0 * EPS)
    part = min(1.0, max(0.0, mass) / square) if square > 0.0 else 1.0
    value = part * (mass - 0.5 * part * square) * (1.0 - 8.0 * EPS)
    return value if value > 0.0 else 0.0


def _imbalance(rows: KernelRows, caps: Floats, multipliers: Floats) -> float:
    """Return by how much multipliers have to change so that every class gives as much as it gets."""
    labels = rows.labels.astype(np.int64)
    if multipliers.ndim == 1:
        members = np.flatnonzero(multipliers)
        rivals, values = np.zeros_like(members), multipliers[members]
    else:
        against = against_rivals(multipliers, labels)
        members, rivals = np.nonzero(against)
        values = against[members, rivals]
    found = imbalance(labels[members], rivals, values, rows.n_classes)
    if found is None:
        return np.inf
    change, edges = found
    if not edges:
        return 0.0
    # A row may then exceed its cap; all multipliers are scaled down to make up for that.
    least = float(caps[members[edges]].min())
    return change * len(edges) * (1.0 + float(values.sum()) / least)
