"""The largest margin in a kernel's feature space: the linear solver, in coordinates of a working set.

The Gram matrix of the working set, factorized as ``K = L L'``, is a change of coordinates: the rows of L have
the same inner products as the feature vectors. So the linear solver finds the largest margin of the working
set. A scan of all rows then evaluates the kernel against the support, block by block, and either closes the
bracket or names the rows that are missing. No matrix of all pairs of rows is made.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from ..deadline import NEVER, Deadline, OutOfTime
from ..errors import IllegalKernelError
from ..kernels.base import EPS
from ..margins.brackets import Effort
from ..margins.hard.max_margin import HardOptimum, solve_max_margin
from ..margins.pairs import signed_coefficients
from ..margins.rounding.proved_margin import imbalance
from ..result import Floats, Ints, Solution, Status, relative_gap
from ..rows.memory import as_rows
from .kernel_rows import KernelRows, as_combination, coordinates

ROUNDING = 1e-7  # a margin below this share of the radius is lost when a Gram matrix is rounded


@dataclass(frozen=True, eq=False)
class KernelOptimum(Solution):
    """The largest margin in feature space, bracketed.

    Attributes
    ----------
    status : Status
    coefficients : ndarray of shape (1, support) or (classes, support)
        The score of x is ``coefficients @ K(rows, x) + intercept``. If the smallest score is positive, they
        are scaled so that it is one.
    intercept : ndarray of shape (1,) or (classes,)
    rows : ndarray of int64
        The support, as indices of training rows.
    margin_lower, margin_upper : float
        The margin of the coefficients, and the bound that the multipliers prove, up to rounding.
    norm : float
        The length of the weights in feature space.
    multipliers : ndarray of shape (pairs,)
        They prove the upper bound, and belong to the pairs (members, rivals).
    members, rivals : ndarray of int64
    steps, scans : int
        Newton steps on working sets, and scans of all rows.
    """

    coefficients: Floats
    intercept: Floats
    rows: Ints
    margin_lower: float
    margin_upper: float
    norm: float
    multipliers: Floats
    members: Ints
    rivals: Ints
    steps: int
    scans: int

    @property
    def bracket(self) -> tuple[float, float]:
        """The margin of the coefficients, and the bound that the multipliers prove."""
        return self.margin_lower, self.margin_upper


def solve_kernel_margin(
    rows: KernelRows, *, gap: float = 1e-9, max_iter: int = 10_000, deadline: Deadline = NEVER
) -> KernelOptimum:
    """Maximize the smallest score of a unit vector of the feature space, to a certified relative gap.

    Parameters
    ----------
    rows : KernelRows
    gap : float
        The run stops if (upper - lower) / upper is at most this.
    max_iter : int
        The largest number of Newton steps. The run also stops if a working set is not separated after a
        twentieth of them (or 100).
    deadline : Deadline
        The run ends with the bracket known by then. A third of the time is left to `certified_bracket`.
    """
    left = deadline.left
    share = Deadline.after(2.0 * left / 3.0) if np.isfinite(left) else deadline
    search = KernelMarginSearch(rows, gap, max_iter, share)
    try:
        with search.effort.progress:
            search.status = search.run()
    except OutOfTime:
        search.status = Status.TIME_LIMIT
    except KeyboardInterrupt:
        search.status = Status.INTERRUPTED
    return search.finish()


class KernelMarginSearch:
    """The working set with its Gram matrix, and the best bracket so far."""

    def __init__(self, rows: KernelRows, gap: float, max_iter: int, deadline: Deadline) -> None:
        self.rows, self.gap, self.deadline = rows, gap, deadline
        self.effort = Effort("kernel max margin", max_iter, deadline)
        self.steps_per_set = max(100, max_iter // 20)
        diagonal = rows.kernel.diagonal(rows.X)[rows.order]
        if diagonal.min() < 0.0:
            row = int(rows.order[diagonal.argmin()])
            raise IllegalKernelError(
                f"The kernel {rows.kernel} is not legal: K(x, x) is {diagonal.min():.6g} for row {row}, and "
                "the square of a length cannot be negative. See sx.kernels.check_legal."
            )
        self.radius = float(np.sqrt(diagonal.max() + rows.lifted))
        self.members: Ints = np.zeros(0, dtype=np.int64)
        self.gram: Floats = np.zeros((0, 0))
        self.status = Status.INTERRUPTED
        self.lower, self.upper = -np.inf, np.inf
        blocks, nothing = 1 if rows.n_classes == 2 else rows.n_classes, np.zeros(0, dtype=np.int64)
        self.best = (np.zeros((blocks, 0)), np.zeros(blocks), nothing, 0.0)
        self.proof: tuple[Floats, Ints, Ints] = (np.zeros(0), nothing, nothing)

    @property
    def open_gap(self) -> float:
        """The width of the bracket, relative to its upper end."""
        return relative_gap(self.upper, max(self.lower, 0.0))

    def run(self, first_goal: float = 0.1) -> Status:
        """Alternate between solving the working set and scanning all rows."""
        self.add(self.first_rows())
        goal = first_goal
        while True:
            before = (self.lower, self.upper)
            found = self.solve(max(0.1 * self.gap, goal))
            if self.upper <= ROUNDING * self.radius:
                return Status.NOT_SEPARABLE
            used = np.unique(found.rows)
            self.deadline.need(operations=4.0 * used.size**3)
            fresh = self.scan(used, *as_combination(found.weights, self.coordinates[used], self.rows))
            if not found.margin_lower > 0.0:
                self.interpolate()
            if self.open_gap <= self.gap:
                return Status.REACHED
            if found.status in (Status.INTERRUPTED, Status.TIME_LIMIT):
                return found.status
            hopeless = found.status is Status.STEP_LIMIT and not found.margin_lower > 0.0
            if self.effort.spent or hopeless:
                return Status.STEP_LIMIT
            if not fresh.size and (self.lower, self.upper) == before and goal <= 0.1 * self.gap:
                return Status.STALLED
            goal = min(0.1 * goal if not fresh.size else goal, 0.1 * self.open_gap)
            if fresh.size:
                self.drop(found)
            self.add(fresh)
            self.effort.report(self.lower, self.upper)

    def finish(self) -> KernelOptimum:
        """Return the best weights and the best proof."""
        coefficients, intercept, support, norm = self.best
        return KernelOptimum(
            self.status,
            coefficients,
            intercept,
            support,
            max(self.lower, -(2.0**0.5) * self.radius),  # no margin is below that
            self.upper,
            norm,
            *self.proof,
            self.effort.steps,
            self.effort.scans,
            history=tuple(self.effort.history) or ((self.lower, self.upper),),
            seconds=self.effort.seconds,
        )

    def first_rows(self, size: int = 300) -> Ints:
        """Return all rows if there are few, otherwise a random sample of each class."""
        order = self.rows.order
        if order.size <= 2 * size:
            return order
        labels = self.rows.labels[order]
        mixed = np.random.default_rng(0).permutation(order.size)
        classes = np.unique(labels)
        share = max(1, size // classes.size)
        chosen = [mixed[labels[mixed] == each][:share] for each in classes]
        return np.asarray(order[np.sort(np.concatenate(chosen))])

    def add(self, fresh: Ints) -> None:
        """Put rows into the working set, and compute their kernel values."""
        if not fresh.size:
            return
        size = self.members.size
        gram = np.empty((size + fresh.size, size + fresh.size))
        gram[:size, :size] = self.gram
        if size:
            gram[size:, :size] = self.rows.block(fresh, self.members)
            gram[:size, size:] = gram[size:, :size].T
        gram[size:, size:] = self.rows.gram(fresh)
        self.gram, self.members = gram, np.concatenate([self.members, fresh])

    def drop(self, found: HardOptimum, near: float = 1.5) -> None:
        """Remove rows that are far from the margin from the working set, where the support scores one.

        The support stays, so the largest margin of the set does not change.
        """
        weights = np.atleast_2d(found.weights)
        outputs = self.coordinates @ weights[:, : self.coordinates.shape[1]].T
        if self.rows.lift:
            outputs += weights[:, -1]
        kept = self.rows.scores(outputs, self.members) < near
        kept[found.rows] = True
        kept[np.unique(self.rows.labels[self.members], return_index=True)[1]] = True  # keep every class
        self.gram, self.members = self.gram[np.ix_(kept, kept)], self.members[kept]

    def solve(self, goal: float) -> HardOptimum:
        """Find the largest margin of the working set in its own coordinates; keep the best upper bound."""
        rows = self.rows
        self.deadline.need(operations=self.members.size**3)
        self.coordinates = coordinates(self.gram, rows.kernel)
        labels = rows.labels[self.members]
        found = solve_max_margin(
            as_rows(self.coordinates, labels, n_classes=rows.n_classes, lift=rows.lift),
            gap=goal,
            free_intercept=rows.free,
            max_iter=max(1, min(self.steps_per_set, self.effort.max_steps - self.effort.steps)),
            deadline=self.deadline,
        )
        self.effort.steps += found.steps
        mass = float(found.multipliers.sum())
        if mass > 0.0:
            shares = found.multipliers / mass
            used, coefficients = signed_coefficients(labels, found.rows, found.rivals, shares, rows.n_classes)
            upper = self.norm(used, coefficients)
            if upper < self.upper:
                self.upper = upper
                self.proof = (found.multipliers, self.members[found.rows], found.rivals)
        return found

    def interpolate(self) -> None:
        """Offer the shortest weights with scores of exactly one, if the Gram matrix is definite.

        They separate the working set even if its margin is so small that the solver runs out of steps.
        """
        rows, labels = self.rows, self.rows.labels[self.members, None]
        self.deadline.need(operations=self.members.size**3)
        goal = 2.0 * labels - 1.0 if rows.n_classes == 2 else (labels == np.arange(rows.n_classes)) * 1.0
        with suppress(linalg.LinAlgError):
            factor = linalg.cho_factor(self.gram + float(rows.lifted), lower=True)
            coefficients = linalg.cho_solve(factor, goal).T
            self.scan(np.arange(self.members.size), coefficients, np.zeros(coefficients.shape[0]))

    def norm(self, used: Ints, coefficients: Floats) -> float:
        """Return the length in feature space of a combination of rows of the working set."""
        square = float(np.vdot(coefficients @ self.gram[np.ix_(used, used)], coefficients))
        if self.rows.lifted:
            constants = coefficients.sum(axis=1)
            square += float(constants @ constants)
        return float(np.sqrt(max(square, 0.0)))

    def scan(self, used: Ints, coefficients: Floats, intercept: Floats) -> Ints:
        """Score every row, keep the weights if they are the best so far, and return rows to be added."""
        rows, support = self.rows, self.members[used]
        outputs = np.empty((rows.order.size, coefficients.shape[0]))
        for part, block in rows.blocks(rows.order, support, self.deadline):
            outputs[part] = block @ coefficients.T
        self.effort.scans += 1
        if rows.lifted:
            intercept = coefficients.sum(axis=1)
        elif rows.free and rows.n_classes == 2:
            positive = rows.labels[rows.order] == 1
            intercept = -(outputs[positive].min(axis=0) + outputs[~positive].max(axis=0)) / 2.0
        scores = rows.scores(outputs + intercept, rows.order)
        norm, lowest = self.norm(used, coefficients), float(scores.min())
        lower = lowest / norm if norm > 0.0 else 0.0
        if lower > self.lower:
            self.lower = lower
            scale = 1.0 / lowest if lowest > 0.0 else 1.0
            self.best = (coefficients * scale, intercept * scale, support, norm * scale)
        outside = ~np.isin(rows.order, self.members, assume_unique=True)
        short = np.flatnonzero(outside & (scores < 1.0))  # the support of the working set scores one
        kept = short[np.argsort(scores[short], kind="stable")[: max(100, used.size // 2)]]
        return np.asarray(np.sort(rows.order[kept]))


def certified_bracket(
    rows: KernelRows, found: KernelOptimum, *, deadline: Deadline = NEVER
) -> tuple[float, float]:
    """Return bounds on the largest margin, with the rounding errors of every step counted.

    After the deadline, each sum still gets one block of kernel values. If a bound needs more, it is the
    radius (or minus the radius).
    """
    size = rows.largest
    if size == np.inf:
        return -np.inf, np.inf
    radius = (
        float(np.sqrt(size + rows.lifted)) * (1.0 + 8.0 * EPS) * (1.0 if rows.n_classes == 2 else 2.0**0.5)
    )
    lower, upper = -radius, radius
    with suppress(OutOfTime):
        if found.margin_lower > 0.0:
            combination = found.rows, found.coefficients
            lowest = float(rows.safe_scores(rows.order, *combination, found.intercept, deadline).min())
            length = float(np.sqrt(rows.square_above(*combination, deadline)))
            lower = max(lower, lowest / length * (1.0 - 8.0 * EPS))
        upper = min(upper, _upper(rows, found, radius, deadline))
    return lower, upper


def _upper(rows: KernelRows, found: KernelOptimum, radius: float, deadline: Deadline) -> float:
    """Return the length of the convex combination that proves the upper end, rounded up."""
    mass = float(found.multipliers.sum())
    if not 0.0 < mass < np.inf:
        return np.inf
    values = found.multipliers / mass
    combination = signed_coefficients(rows.labels, found.members, found.rivals, values, rows.n_classes)
    longest, total = float(np.sqrt(rows.square_above(*combination, deadline))), 1.0
    if rows.free:
        own = rows.labels[found.members].astype(np.int64)
        moved = imbalance(own, found.rivals, values, rows.n_classes)
        if moved is None:
            return np.inf
        change, edges = moved
        longest += 2.0 * change * len(edges) * radius
        total -= change * len(edges)
    slack = 4.0 * (combination[0].size + values.size + 8) * EPS
    return longest / total * (1.0 + slack) if total > 0.0 else np.inf


def with_proof(rows: KernelRows, found: KernelOptimum) -> KernelOptimum:
    """Return the optimum with a bracket that counts all rounding; it may be wider than the requested gap."""
    lower, upper = certified_bracket(rows, found)
    return replace(found, margin_lower=lower, margin_upper=upper)
