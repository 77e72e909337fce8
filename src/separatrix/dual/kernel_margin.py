"""The largest margin in a kernel's feature space: the linear solver on a working set's own coordinates.

A Gram matrix of the working set, factorised as ``K = L L'``, is a change of coordinates: the rows of L
have the same inner products as the images of the rows, and span the only part of the feature space that
matters to them. So the largest margin of the working set is found by the same method as without a
kernel. A scan of all rows then evaluates the kernel against the support, block by block, and closes the
bracket or names the rows that are missing. No matrix of all pairs of rows is ever made.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ..deadline import NEVER, Deadline, OutOfTime
from ..errors import IllegalKernelError
from ..kernels import EPS, Kernel
from ..margins.brackets import Effort
from ..margins.hard.max_margin import solve_max_margin
from ..margins.optimum import HardOptimum
from ..margins.pairs import signed_coefficients
from ..margins.rounding.proved_margin import imbalance
from ..margins.soft.soft_margin import solve_soft_margin
from ..result import Floats, Ints, Solution, Status, relative_gap
from ..rows.class_leads import leads
from ..rows.memory import as_rows
from .similarity import Similarity, extent

FIRST = 300  # rows of the first working set
LARGEST_SPAN = 1000  # dimensions in which a soft margin is looked for
SCAN = 1 << 21  # kernel values held at a time
FIRST_GOAL = 0.1  # the gap to which the first working sets are solved
NEAR = 1.5  # rows that score more than this, where the support scores one, leave the working set
ROUNDING = 1e-7  # of the radius: the square root of what is lost when a Gram matrix is rounded


@dataclass(frozen=True, eq=False)
class KernelOptimum(Solution):
    """The largest margin in feature space, bracketed.

    Attributes
    ----------
    status : Status
    coefficients : ndarray of shape (1, support) or (classes, support)
        The score of x is ``coefficients @ K(rows, x) + intercept``; scaled so that the smallest is one, where
        it is positive.
    intercept : ndarray of shape (1,) or (classes,)
    rows : ndarray of int64
        The support, as indices of training rows.
    margin_lower, margin_upper : float
        The margin of the coefficients, and the bound that the multipliers prove, to rounding.
    norm : float
        The length of the weights in feature space.
    multipliers : ndarray of shape (pairs,)
        What proves the upper bound; they belong to the pairs (members, rivals).
    members, rivals : ndarray of int64
    steps, scans : int
        Newton steps on working sets, and looks at all rows.
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


@dataclass(frozen=True, eq=False)
class KernelRows:
    """Labelled rows, seen through a kernel.

    Attributes
    ----------
    kernel : Kernel
    X : ndarray or CSR matrix
    labels : ndarray of int32
        Class codes.
    n_classes : int
    order : ndarray of int64
        The rows that count.
    lift : bool
        Whether there is an intercept.
    free : bool
        Whether the intercept is left out of the norm.
    """

    kernel: Kernel
    X: Any
    labels: NDArray[np.int32]
    n_classes: int
    order: Ints
    lift: bool
    free: bool

    def gram(self, among: Ints) -> Floats:
        """The Gram matrix of some rows, symmetric to the last bit."""
        values = self.kernel.block(self.X[among], self.kernel.anchors(self.X, among))
        return np.asarray((values + values.T) / 2.0)

    def outputs(
        self, among: Ints, support: Ints, coefficients: Floats, intercept: Floats, deadline: Deadline = NEVER
    ) -> Floats:
        """The score of each class (of the positive one, with two classes) for some rows: one row each."""
        anchors = self.kernel.anchors(self.X, support)
        return expansion(self.kernel, self.X, among, anchors, coefficients, intercept, deadline)

    def scores(self, outputs: Floats, among: Ints) -> Floats:
        """The score of each row: its lead over the best rival."""
        return leads(outputs, self.labels[among])


def expansion(
    kernel: Kernel,
    X: Any,
    among: Any,
    anchors: Any,
    coefficients: Floats,
    intercept: Floats,
    deadline: Deadline = NEVER,
) -> Floats:
    """``K(X[among], anchors) @ coefficients.T + intercept``, block by block; OutOfTime between two blocks."""
    n_anchors = coefficients.shape[1]
    outputs = np.empty((len(among), coefficients.shape[0]))
    step = max(1, SCAN // max(1, n_anchors))
    for start in range(0, len(among), step):
        deadline.need()
        part = among[start : start + step]
        outputs[start : start + step] = kernel.block(X[part], anchors) @ coefficients.T
    outputs += intercept
    return outputs


def solve_kernel_margin(
    rows: KernelRows, *, gap: float = 1e-9, max_iter: int = 10_000, deadline: Deadline = NEVER
) -> KernelOptimum:
    """Maximise the smallest score of a unit vector of the feature space, to a certified relative gap.

    Parameters
    ----------
    rows : KernelRows
    gap : float
        Stop when (upper - lower) / upper is at most this.
    max_iter : int
        The most Newton steps. A working set that is not separated after a twentieth of them (or 100) ends the
        run.
    deadline : Deadline
        When to end with the bracket known by then: early enough to leave `certified_bracket` the time of two
        scans, and at most one block of kernel values too late.
    """
    search = KernelMarginSearch(rows, gap, max_iter, deadline)
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
        self.rows, self.gap = rows, gap
        self.effort = Effort("kernel max margin", max_iter, deadline)
        self.share = max(100, max_iter // 20)  # of the steps, for one working set
        self.reserve = 0.0  # seconds that are left for the certified bracket
        diagonal = rows.kernel.diagonal(rows.X)[rows.order]
        if diagonal.min() < 0.0:
            row = int(rows.order[diagonal.argmin()])
            raise IllegalKernelError(
                f"The kernel {rows.kernel} is not legal: K(x, x) is {diagonal.min():.6g} for row {row}, and "
                "the square of a length cannot be negative. See sx.kernels.check_legal."
            )
        self.radius = float(np.sqrt(diagonal.max() + (rows.lift and not rows.free)))
        self.members: Ints = np.zeros(0, dtype=np.int64)
        self.gram: Floats = np.zeros((0, 0))
        self.status = Status.INTERRUPTED
        self.lower, self.upper = -np.inf, np.inf
        blocks = 1 if rows.n_classes == 2 else rows.n_classes
        self.best = (np.zeros((blocks, 0)), np.zeros(blocks), np.zeros(0, dtype=np.int64), 0.0)
        nothing = np.zeros(0, dtype=np.int64)
        self.proof: tuple[Floats, Ints, Ints] = (np.zeros(0), nothing, nothing)

    @property
    def open_gap(self) -> float:
        """What is left of the bracket, relative to its upper end."""
        return relative_gap(self.upper, max(self.lower, 0.0))

    @property
    def deadline(self) -> Deadline:
        """When the search has to end."""
        return Deadline(self.effort.deadline.moment - self.reserve)

    def keep_back(self, scan: float) -> None:
        """Leave the time of two scans for the certified bracket."""
        self.reserve = max(self.reserve, 2.0 * scan)

    def run(self) -> Status:
        """Alternate between solving the working set and scanning all rows."""
        self.add(self.first_rows())
        goal = FIRST_GOAL
        while True:
            before = (self.lower, self.upper)
            found = self.solve(max(0.1 * self.gap, goal))
            if self.upper <= ROUNDING * self.radius:
                return Status.NOT_SEPARABLE
            fresh = self.scan(*self.primal(found))
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
        """What was found, and how it ended."""
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
            history=tuple(self.effort.history),
            seconds=self.effort.seconds,
        )

    def first_rows(self) -> Ints:
        """All rows if they are few; else some of each class, spread at random."""
        order = self.rows.order
        if order.size <= 2 * FIRST:
            return order
        labels = self.rows.labels[order]
        mixed = np.random.default_rng(0).permutation(order.size)
        classes = np.unique(labels)
        share = max(1, FIRST // classes.size)
        chosen = [mixed[labels[mixed] == each][:share] for each in classes]
        return np.asarray(order[np.sort(np.concatenate(chosen))])

    def add(self, fresh: Ints) -> None:
        """Put rows into the working set; only their kernel values are computed."""
        if not fresh.size:
            return
        start = time.monotonic()
        X, kernel, size = self.rows.X, self.rows.kernel, self.members.size
        gram = np.empty((size + fresh.size, size + fresh.size))
        gram[:size, :size] = self.gram
        if size:
            gram[size:, :size] = kernel.block(X[fresh], kernel.anchors(X, self.members))
            gram[:size, size:] = gram[size:, :size].T
        gram[size:, size:] = self.rows.gram(fresh)
        self.gram, self.members = gram, np.concatenate([self.members, fresh])
        self.keep_back((time.monotonic() - start) * self.rows.order.size / fresh.size)

    def drop(self, found: HardOptimum) -> None:
        """Take rows that are far from the margin out of the working set.

        The support stays, so the largest margin of the set stays; rows that come then can only lower it.
        """
        labels = self.rows.labels[self.members]
        outputs = self.coordinates @ np.atleast_2d(found.weights)[:, : self.coordinates.shape[1]].T
        if self.rows.lift:
            outputs += np.atleast_2d(found.weights)[:, -1]
        kept = self.rows.scores(outputs, self.members) < NEAR
        kept[found.rows] = True
        kept[np.unique(labels, return_index=True)[1]] = True  # no class may vanish
        self.gram, self.members = self.gram[np.ix_(kept, kept)], self.members[kept]

    def solve(self, goal: float) -> HardOptimum:
        """The largest margin of the working set, in coordinates of its own; keeps the best upper bound."""
        rows = self.rows
        self.deadline.need(operations=self.members.size**3)
        self.coordinates = coordinates(self.gram, rows.kernel)
        labels = rows.labels[self.members]
        inner = as_rows(self.coordinates, labels, n_classes=rows.n_classes, lift=rows.lift)
        found = solve_max_margin(
            inner,
            gap=goal,
            free_intercept=rows.free,
            max_iter=max(1, min(self.share, self.effort.max_steps - self.effort.steps)),
            deadline=self.deadline,
        )
        self.effort.steps += found.steps
        mass = float(found.multipliers.sum())
        if mass > 0.0:
            used, coefficients = signed_coefficients(
                labels, found.rows, found.rivals, found.multipliers / mass, rows.n_classes
            )
            upper = self.norm(used, coefficients, coefficients.sum(axis=1))
            if upper < self.upper:
                self.upper = upper
                self.proof = (found.multipliers, self.members[found.rows], found.rivals)
        return found

    def interpolate(self) -> None:
        """Keep the shortest weights with scores of exactly one, if the working set's images allow any.

        They separate the set, with a margin that is the largest only by accident: what can still be said
        where margins are so small that the solver's steps run out.
        """
        rows, classes = self.rows, np.arange(self.rows.n_classes)
        labels = rows.labels[self.members]
        self.deadline.need(operations=self.members.size**3)
        goal = 2.0 * labels[:, None] - 1.0 if rows.n_classes == 2 else (labels[:, None] == classes) * 1.0
        try:
            factor = linalg.cho_factor(self.gram + float(rows.lift and not rows.free), lower=True)
        except linalg.LinAlgError:
            return
        coefficients = linalg.cho_solve(factor, goal).T
        self.scan(np.arange(self.members.size), coefficients, np.zeros(coefficients.shape[0]))

    def primal(self, found: HardOptimum) -> tuple[Ints, Floats, Floats]:
        """The weights of the working set's solution as a combination of its support rows.

        Multipliers are the square root of the gap away from the weights; least squares on the support are
        as near as rounding allows.
        """
        rows = self.rows
        weights = np.atleast_2d(found.weights)
        inside = weights[:, :-1] if rows.lift else weights
        intercept = weights[:, -1] if rows.lift else np.zeros(weights.shape[0])
        used = np.unique(found.rows)
        if not used.size:
            return used, np.zeros((weights.shape[0], 0)), intercept
        self.deadline.need(operations=4.0 * used.size**3)
        basis = self.coordinates[used]
        if rows.lift and not rows.free:
            basis, inside = np.column_stack([basis, np.ones(used.size)]), weights
        coefficients = linalg.lstsq(basis.T, inside.T, lapack_driver="gelsy", check_finite=False)[0].T
        return used, np.ascontiguousarray(coefficients), intercept

    def norm(self, used: Ints, coefficients: Floats, lifted: Floats) -> float:
        """The length in feature space of a combination of rows of the working set."""
        square = float(np.vdot(coefficients @ self.gram[np.ix_(used, used)], coefficients))
        if self.rows.lift and not self.rows.free:
            square += float(lifted @ lifted)
        return float(np.sqrt(max(square, 0.0)))

    def scan(self, used: Ints, coefficients: Floats, intercept: Floats) -> Ints:
        """Look at every row; keep the weights if they are the best yet; return rows that should be added."""
        rows, support = self.rows, self.members[used]
        if rows.lift and not rows.free:
            intercept = coefficients.sum(axis=1)
        start = time.monotonic()
        outputs = rows.outputs(rows.order, support, coefficients, np.zeros_like(intercept), self.deadline)
        self.keep_back(time.monotonic() - start)
        self.effort.scans += 1
        if rows.free and rows.n_classes == 2:
            positive = rows.labels[rows.order] == 1
            intercept = -(outputs[positive].min(axis=0) + outputs[~positive].max(axis=0)) / 2.0
        scores = rows.scores(outputs + intercept, rows.order)
        norm, lowest = self.norm(used, coefficients, intercept), float(scores.min())
        lower = lowest / norm if norm > 0.0 else 0.0
        if lower > self.lower:
            self.lower = lower
            scale = 1.0 / lowest if lowest > 0.0 else 1.0
            self.best = (coefficients * scale, intercept * scale, support, norm * scale)
        limit = max(100, used.size // 2)
        outside = ~np.isin(rows.order, self.members, assume_unique=True)
        # in the solution of the working set its support scores one
        short = np.flatnonzero(outside & (scores < 1.0))
        kept = short[np.argsort(scores[short], kind="stable")[:limit]]
        return np.asarray(np.sort(rows.order[kept]))


def certified_bracket(
    rows: KernelRows, found: KernelOptimum, *, deadline: Deadline = NEVER
) -> tuple[float, float]:
    """Bounds of the largest margin with the rounding of every step counted in.

    The values of a kernel that states no bound of its rounding are taken as they come. After the deadline one
    block of kernel values is computed for a sum; a bound that needs more is minus or plus the radius.
    """
    size, error = accuracy(rows)
    if size == np.inf:
        return -np.inf, np.inf
    lifted = rows.lift and not rows.free
    radius = float(np.sqrt(size + lifted)) * (1.0 + 8.0 * EPS) * (1.0 if rows.n_classes == 2 else 2.0**0.5)
    lower, upper = -radius, radius
    with suppress(OutOfTime):
        if found.margin_lower > 0.0:
            short = _surely(rows, found, error, deadline)
            square = square_above(rows, found.rows, found.coefficients, error, deadline)
            if lifted:
                square += float(found.intercept @ found.intercept)
            lower = max(lower, short / float(np.sqrt(square * (1.0 + 64.0 * EPS))) * (1.0 - 8.0 * EPS))
        upper = min(upper, _upper(rows, found, radius, deadline))
    return lower, upper


def _upper(rows: KernelRows, found: KernelOptimum, radius: float, deadline: Deadline) -> float:
    """The length of the combination that proves the upper end, over the sum of its factors, rounded up."""
    mass = float(found.multipliers.sum())
    if not 0.0 < mass < np.inf:
        return np.inf
    values = found.multipliers / mass
    support, coefficients = signed_coefficients(
        rows.labels, found.members, found.rivals, values, rows.n_classes
    )
    square = square_above(rows, support, coefficients, accuracy(rows)[1], deadline)
    slack = 4.0 * (support.size + values.size + 8) * EPS
    if rows.lift and not rows.free:
        sums = np.abs(coefficients.sum(axis=1)) + slack * np.abs(coefficients).sum(axis=1)
        square += float(sums @ sums)
    longest, total = float(np.sqrt(square)), 1.0
    if rows.free:
        own = rows.labels[found.members].astype(np.int64)
        moved = imbalance(own, found.rivals, values, rows.n_classes)
        if moved is None:
            return np.inf
        change, edges = moved
        longest += 2.0 * change * len(edges) * radius
        total -= change * len(edges)
    return longest / total * (1.0 + slack) if total > 0.0 else np.inf


def with_proof(rows: KernelRows, found: KernelOptimum) -> KernelOptimum:
    """The optimum with a bracket in which all rounding is counted; it may be wider than the gap asked for."""
    lower, upper = certified_bracket(rows, found)
    return replace(found, margin_lower=lower, margin_upper=upper)


def accuracy(rows: KernelRows) -> tuple[float, float]:
    """Bounds of ``K(x, x)`` and of the rounding error of any ``K(x, x')`` in float64."""
    X = rows.X[rows.order] if rows.order.size < rows.labels.size else rows.X
    found = Similarity(rows.kernel, lift=False).rounding(
        *(extent(X) if rows.kernel.by_products else (0, 0.0)), np.float64
    )
    share = 0.0 if found is None else found.total
    diagonal = rows.kernel.diagonal(rows.X)[rows.order]
    size = float(np.abs(diagonal).max(initial=0.0)) / (1.0 - share) if share < 1.0 else np.inf
    return size, share * size if size else 0.0


def _surely(rows: KernelRows, found: KernelOptimum, error: float, deadline: Deadline) -> float:
    """The smallest score less all that rounding may have added to it."""
    anchors, magnitudes = rows.kernel.anchors(rows.X, found.rows), np.abs(found.coefficients)
    step, lowest = max(1, SCAN // max(1, found.rows.size)), np.inf
    for start in range(0, rows.order.size, step):
        if start:
            deadline.need()
        among = rows.order[start : start + step]
        block = rows.kernel.block(rows.X[among], anchors)
        scores = rows.scores(block @ found.coefficients.T + found.intercept, among)
        np.abs(block, out=block)
        sizes = block @ magnitudes.T + np.abs(found.intercept)
        # twice, as a score may be a difference of two outputs
        unsure = 2.0 * ((found.rows.size + 8) * EPS * sizes + error * magnitudes.sum(axis=1)).max(axis=1)
        lowest = min(lowest, float((scores - unsure).min()))
    return lowest


def square_above(
    rows: KernelRows, support: Ints, coefficients: Floats, error: float, deadline: Deadline
) -> float:
    """An upper bound of the squared length of a combination of images, without its constant coordinate."""
    total, magnitudes = 0.0, np.abs(coefficients)
    anchors, step = rows.kernel.anchors(rows.X, support), max(1, SCAN // max(1, support.size))
    for start in range(0, support.size, step):
        if start:
            deadline.need()
        part = slice(start, start + step)
        block = rows.kernel.block(rows.X[support[part]], anchors)
        total += float(np.vdot(block @ coefficients.T, coefficients[:, part].T))
        total += (
            4.0
            * (support.size + 8)
            * EPS
            * float(np.vdot(np.abs(block) @ magnitudes.T, magnitudes[:, part].T))
        )
    return max(total, 0.0) + error * float((magnitudes.sum(axis=1) ** 2).sum())


def coordinates(gram: Floats, kernel: Kernel) -> Floats:
    """Rows L with ``L @ L.T`` equal to a Gram matrix up to rounding."""
    size = gram.shape[0]
    if size == 0:
        return np.zeros((0, 0))
    factor, pivots, rank, _ = linalg.lapack.dpstrf(np.array(gram, order="F"), lower=1)
    rows = np.zeros((size, max(1, rank)))
    rows[pivots - 1, :rank] = np.tril(factor)[:, :rank]
    scale = float(np.abs(gram.diagonal()).max(initial=0.0))
    lost = gram.diagonal() - np.einsum("ij,ij->i", rows, rows)
    rest = gram[np.ix_(pivots[rank:] - 1, pivots[rank:] - 1)]
    missing = np.abs(rest - rows[pivots[rank:] - 1] @ rows[pivots[rank:] - 1].T).max(initial=0.0)
    if max(missing, -float(lost.min(initial=0.0))) > 1e-8 * max(scale, np.finfo(float).tiny) * size:
        raise IllegalKernelError(
            f"The kernel {kernel} is not legal: its Gram matrix on {size} of these rows is not positive "
            "semidefinite. See sx.kernels.check_legal(kernel, X) for a vector that proves it."
        )
    return rows


def soft_in_span(rows: KernelRows) -> tuple[Ints, Floats, Floats]:
    """The soft margin with C = 1 among the weights that some rows span: support, coefficients, intercept.

    With up to ``LARGEST_SPAN`` rows the span is that of all of them, and nothing is lost. If the kernel is
    not legal, the nearest matrix that is an inner product's takes the place of theirs (Higham 1988): negative
    eigenvalues count as zero.
    """
    support = rows.order
    if support.size > LARGEST_SPAN:
        support = np.sort(np.random.default_rng(0).permutation(support)[:LARGEST_SPAN])
    values, vectors = linalg.eigh(rows.gram(support))
    kept = values > support.size * EPS * np.abs(values).max(initial=0.0)
    # K(x, support) @ transform has the inner products of the kernel
    transform = vectors[:, kept] / np.sqrt(values[kept]) if kept.any() else np.zeros((support.size, 1))
    embedded = rows.outputs(rows.order, support, transform.T, np.zeros(1))
    inner = as_rows(embedded, rows.labels[rows.order], n_classes=rows.n_classes, lift=rows.lift)
    found = solve_soft_margin(inner, np.ones(inner.n_rows), free_intercept=rows.free)
    weights = np.atleast_2d(found.weights)
    inside, intercept = (weights[:, :-1], weights[:, -1]) if rows.lift else (weights, np.zeros(len(weights)))
    return support, inside @ transform.T, intercept


def no_optimum(rows: KernelRows) -> KernelOptimum:
    """What is known of the margin where the kernel is not legal: nothing."""
    nothing, blocks = np.zeros(0, dtype=np.int64), 1 if rows.n_classes == 2 else rows.n_classes
    empty = np.zeros((blocks, 0))
    return KernelOptimum(
        Status.ILLEGAL,
        empty,
        np.zeros(blocks),
        nothing,
        -np.inf,
        np.inf,
        0.0,
        np.zeros(0),
        nothing,
        nothing,
        0,
        0,
    )
