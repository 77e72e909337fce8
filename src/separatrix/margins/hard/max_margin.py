"""The largest margin: the shortest combination of signed rows.

Every direction proves a lower bound of the margin, and every combination of signed rows an upper bound. A
working set holds the rows that had the lowest scores under earlier weights. The solver finds the largest
margin of the working set; a scan of all rows then closes the bracket or returns the rows that are missing.

A small working set is solved from its inner products by block pivoting. If that fails, for example because
rows depend on each other, proximal Newton steps solve it. Two classes with many columns and many rows in
memory start with coordinate descent over all rows. On text that usually solves the problem; otherwise its
support is the first working set.

With a free intercept, columns far from zero are shifted toward zero first. The margin stays the same, and
floats resolve it better. A lifted margin depends on the position of the rows, so its bracket can stay wide.

With more than two classes, a signed row stands for a pair of a row and a rival class (Kesler's construction).
Pairs are built only for the working set.

References
----------
L. F. Portugal, J. J. Judice and L. N. Vicente, "A comparison of block pivoting and interior-point algorithms
for linear least squares problems with nonnegative variables", Mathematics of Computation 63 (1994);
P. H. Sterbenz, "Floating-point computation", 1974.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ... import notebook
from ...deadline import NEVER, Deadline, OutOfTime
from ...errors import InputError
from ...result import Floats, Ints, Solution, Status, margin_text
from ...rows.protocol import Rows
from ...rows.threads import calm_threads
from ...sparse import dense
from ..brackets import Effort, HardBracket, balanced
from ..pairs import Pairs, mean_direction, rows_of
from ..rounding.proved_margin import PRECISION, exact_product, proved_bracket
from ..soft.coordinate_descent import descend
from ..soft.proximal_newton import DIRECT, ProximalNewton

WIDE = 500  # with more columns, a pass of coordinate descent is much cheaper than a Newton step
ROUNDING = 1e-13  # relative to the longest row, a smaller margin cannot be distinguished from zero
NARROWEST = 1e-14  # the relative width that a proved bracket may have, whatever gap is requested


@dataclass(frozen=True, eq=False)
class HardOptimum(Solution):
    """The largest margin, bracketed.

    Attributes
    ----------
    status : Status
    weights : ndarray of shape (width,) or (classes, width)
        If their smallest score is positive, they are scaled such that it is one.
    multipliers : ndarray of shape (support,)
        Positive. If ``margin_lower`` is positive, the combination of the signed rows by these multipliers is
        close to ``weights`` (except for a free intercept), the closer the smaller the gap.
    rows, rivals : ndarray of shape (support,)
        The rows that carry the multipliers, and the rival class of each.
    margin_lower, margin_upper : float
        The margin of the weights, and the bound that the multipliers prove. With a free intercept it is the
        affine margin, otherwise the margin of the rows as they are, lifted or not. Infinite if nothing is
        proved.
    steps, scans : int
        Newton steps, systems and passes of coordinate descent; scans of all rows.
    """

    weights: Floats
    multipliers: Floats
    rows: Ints
    rivals: Ints
    margin_lower: float
    margin_upper: float
    steps: int
    scans: int

    @property
    def bracket(self) -> tuple[float, float]:
        """The margin of the weights, and the bound that the multipliers prove."""
        return self.margin_lower, self.margin_upper

    def _repr_html_(self) -> str:
        facts = [
            ("best margin", margin_text(self.margin_lower, self.margin_upper)),
            ("relative gap", f"{self.gap:.2e}"),
            ("support", f"{np.unique(self.rows).size:,} rows"),
            ("steps", f"{self.steps:,}, with {self.scans:,} scans of all rows"),
        ]
        return notebook.card(self.status.value, facts)


def solve_max_margin(
    rows: Rows,
    *,
    gap: float = 1e-9,
    free_intercept: bool = False,
    max_iter: int = 10_000,
    deadline: Deadline = NEVER,
) -> HardOptimum:
    """Maximize the smallest score of a unit vector, to a certified relative gap.

    Parameters
    ----------
    rows : Rows
        The solver uses scans, sums and copies of single rows. It visits rows in memory one by one if they
        have many columns.
    gap : float
        Stop when (upper - lower) / upper is at most this.
    free_intercept : bool
        Leave the intercept (the last weight of lifted rows) out of the norm. The margin is then the affine
        one, half the distance between the hulls of the classes. Otherwise it is the margin of the rows as
        they are, lifted or not.
    max_iter : int
        The largest number of steps: Newton steps, systems and passes. Steps are counted after each solution
        of a proximal problem, and may exceed the limit by those of one problem.
    deadline : Deadline
        When to stop and return the bracket that is known by then. The solver stops within a fraction of a
        second and one scan of the rows; it does not start a system that may take longer.

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
    return replace(found, weights=shifted_back(found.weights, center))


def far_columns(rows: Rows, sample: int = 16) -> Floats | None:
    """Return what to subtract from each column, or None if no column is far from zero.

    Subtracting a number from one that is at most twice or half as large is exact (Sterbenz 1974), so the
    shifted rows have the same differences, and the same margin, exactly. A sample decides whether to look at
    all rows.
    """
    if rows.sparse or rows.order.size == 0:
        return None
    few = rows.take(rows.order[:sample])
    if not _far(*few.column_reach()).any():
        return None
    far = _far(*rows.column_reach())
    if not far.any():
        return None
    return np.where(far, np.asarray(few.matrix[0], dtype=np.float64), 0.0)


def _far(low: Floats, high: Floats, spreads: float = 256.0) -> NDArray[np.bool_]:
    """Whether columns are farther from zero than a multiple of their spread."""
    with np.errstate(all="ignore"):
        found: NDArray[np.bool_] = np.minimum(np.abs(low), np.abs(high)) > spreads * (high - low)
    return found


def shifted_back(weights: Floats, center: Floats) -> Floats:
    """Return weights of shifted rows for the original rows: only intercepts change, each rounded once."""
    full = weights.copy()
    for vector in np.atleast_2d(full):
        vector[-1] = exact_product(np.append(-center, 1.0), vector)
    return full


def _solve(rows: Rows, gap: float, free_intercept: bool, max_iter: int, deadline: Deadline) -> HardOptimum:
    longest = float(rows.squared_norms[rows.order].max())  # raises if a value is not finite
    bracket = HardBracket(rows, gap, free_intercept)
    effort = Effort("max margin", max_iter, deadline)
    search = MaxMarginSearch(rows, bracket, effort)
    try:
        # Numbers near the limits of float64 may overflow here; the final bracket is computed independently.
        size = min(rows.order.size, search.pairs.width)
        with calm_threads(size, 2000), np.errstate(all="ignore"), effort.progress:
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
    if status in (Status.REACHED, Status.STALLED):
        narrow = upper - lower <= max(gap, NARROWEST) * upper
        status = Status.REACHED if narrow else Status.STALLED
    effort.end(status)
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
    """Scale the multipliers such that their combination is as long as the weights; they prove the same."""
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
    scale : float
        The largest number of the first working set, without free intercepts. Rows of the working set are
        divided by it, and margins are compared with it. Zero before the first solution.
    pairs : Pairs
        The working set.
    limit : int
        The largest number of rows that a scan adds to it.
    unpenalized : list of int
        The positions of free intercepts in the flattened weights.
    multipliers : ndarray of shape (pairs,)
        The multipliers of the working set, of its scaled rows once there is a scale.
    products : ndarray
        The inner products of the first pairs, as far as they were needed.
    """

    def __init__(self, rows: Rows, bracket: HardBracket, effort: Effort) -> None:
        self.rows, self.bracket, self.effort = rows, bracket, effort
        self.scale = 0.0
        self.pairs = Pairs(rows)
        self.limit = min(2000, max(120, 2 * self.pairs.width))
        self.unpenalized = self.pairs.intercepts if bracket.free_intercept else []
        self.multipliers: Floats = np.zeros(0)
        self.products: Floats = np.zeros((0, 0))

    def run(self, reach: float) -> Status:
        """Narrow the bracket until a goal or limit is met; ``reach`` is the norm of the longest row."""
        bracket = self.bracket
        current, sigma = self.first_weights(reach), 0.0
        goal = width = np.inf
        while True:
            if bracket.upper <= ROUNDING * self.scale:
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
        """Return the weights for the first scan; coordinate descent also returns the first working set."""
        self.effort.deadline.need()
        rows = self.rows.local
        wide = self.pairs.width > WIDE
        many = self.rows.n_classes == 2 and self.rows.order.size > 2 * WIDE
        # Products of multipliers and squares have to stay within the range of floats.
        if rows is None or not (many and (wide or rows.sparse)) or not 0.0 < reach**6 < np.inf:
            return mean_direction(self.rows)
        passes = 50 if wide else 4
        weights, multipliers = descend(rows, self.bracket, self.effort, np.random.default_rng(0), passes)
        self.pairs.members = np.flatnonzero(multipliers)
        self.pairs.rivals = np.zeros_like(self.pairs.members)
        self.multipliers = multipliers[self.pairs.members]
        return weights

    def scan(self, weights: Floats) -> bool:
        """Score every row; offer the weights; return whether the working set has grown."""
        self.effort.deadline.need()
        found = self.rows.scan(weights, self.limit)
        self.effort.scans += 1
        self.bracket.offer_weights(weights, float(found.scores[0]))
        added = self.pairs.add(found.rows, weights)
        self.multipliers = np.concatenate([self.multipliers, np.zeros(added)])
        return added > 0

    def solve(self, weights: Floats, sigma: float, goal: float) -> tuple[Floats, float]:
        """Solve the working set to a relative gap; return its weights and the next step length."""
        self.effort.deadline.need()
        matrix, factors = self._scaled_matrix()
        start = weights.ravel() / factors if self.multipliers.any() else None
        if goal > 0.0 and self.pairs.size <= DIRECT:
            found = self._pivot(matrix, start, goal)
            if found is not None:
                return (found * factors).reshape(self.rows.weights_shape), sigma
        rows = rows_of(matrix)
        engine = ProximalNewton(
            rows,
            np.full(rows.n_rows, np.inf),
            sigma=1.0,
            unpenalized=self.unpenalized,
            weights=start,
            multipliers=self.multipliers,
            deadline=self.effort.deadline,
        )
        engine.sigma = sigma or engine.sigma
        used = self._advance(engine, matrix, goal)
        self.multipliers = engine.multipliers
        return (engine.weights * factors).reshape(self.rows.weights_shape), used / 10.0

    def _scaled_matrix(self) -> tuple[Any, Floats]:
        """Return the scaled rows of the working set, and the factors that scale their weights back."""
        matrix = self.pairs.matrix()
        factors = np.ones(matrix.shape[1])
        if self.scale == 0.0:
            largest = np.maximum(dense(matrix.max(axis=0)), -dense(matrix.min(axis=0)))
            largest[self.unpenalized] = 0.0
            self.scale = float(largest.max(initial=0.0)) or 1.0
            self.multipliers = self.multipliers * self.scale**2
        factors /= self.scale
        factors[self.unpenalized] = 1.0
        if isinstance(matrix, np.ndarray):
            matrix *= factors
        else:
            matrix.data *= factors[matrix.indices]
        return matrix, factors

    def _pivot(self, matrix: Any, start: Floats | None, goal: float) -> Floats | None:
        """Solve the scaled rows by block pivoting; return their weights, or None if the goal is missed."""
        size, deadline = self.pairs.size, self.effort.deadline
        deadline.need(operations=size**2 * (self.pairs.width + size / 3.0))
        border = dense(matrix[:, self.unpenalized])
        products = self._inner_products(matrix, border)
        guess = np.ones(size, dtype=np.bool_)
        if start is not None:
            guess = (self.multipliers > 0.0) | (matrix @ start < 1.0)
        found = pivoted(products, border, guess, 0.1 * self.bracket.gap, deadline)
        self.effort.steps += 1
        if found is None:
            return None
        multipliers, shift = found
        weights = np.asarray(matrix.T @ multipliers)
        weights[self.unpenalized] = shift
        lower, upper = self.offer(matrix, weights, matrix @ weights, multipliers)
        if not upper - lower <= max(goal, self.bracket.gap) * upper:
            return None
        self.multipliers = multipliers
        return weights

    def _inner_products(self, matrix: Any, border: Floats) -> Floats:
        """Return the inner products of the scaled rows without free intercepts.

        Rows only ever join the working set, so the products of earlier solutions are kept.
        """
        known, size = len(self.products), matrix.shape[0]
        strip = dense(matrix @ matrix[known:].T) - border @ border[known:].T
        products = np.empty((size, size))
        products[:known, :known] = self.products
        products[:, known:] = strip
        products[known:, :known] = strip[:known].T
        self.products = products
        return products

    def _advance(
        self, engine: ProximalNewton, matrix: Any, goal: float, most: int = 60, most_idle: int = 4
    ) -> float:
        """Make proximal steps until the goal is reached or they gain nothing; return the last step length."""
        best = lowest = np.inf
        idle = 0
        for _ in range(most):
            before, used = engine.newton_steps, engine.sigma
            moved = engine.advance()
            self.effort.steps += engine.newton_steps - before
            lower, upper = self.offer(matrix, engine.weights, engine.scores, engine.multipliers)
            vanished = self.bracket.upper <= ROUNDING * self.scale
            if vanished or upper - lower <= goal * upper or self.effort.spent:
                break
            still = upper - lower >= 0.9 * best and upper >= 0.5 * lowest and moved < 1e-3
            idle = idle + 1 if still else 0
            best, lowest = min(best, upper - lower), min(lowest, upper)
            if idle >= most_idle:
                break
            self.effort.deadline.need()
        return used

    def offer(self, matrix: Any, weights: Floats, scores: Floats, multipliers: Floats) -> tuple[float, float]:
        """Bracket the margin of the scaled rows, and offer the upper end, which holds for all rows."""
        shape, bracket = self.rows.weights_shape, self.bracket
        norm = bracket.norm(weights.reshape(shape))
        lower = self.scale * float(scores.min()) / norm if norm > 0.0 else 0.0
        if self.unpenalized:
            multipliers = self._balanced(multipliers)
        mass = float(multipliers.sum())
        if mass <= 0.0:
            return lower, np.inf
        upper = self.scale * bracket.norm(np.asarray(matrix.T @ (multipliers / mass)).reshape(shape))
        # Every multiple of the multipliers proves the same bound.
        bracket.offer_bound(upper, self.pairs.members, self.pairs.rivals, multipliers)
        return lower, upper

    def _balanced(self, multipliers: Floats) -> Floats:
        labels = self.rows.labels[self.pairs.members]
        if self.pairs.blocks == 1:
            return balanced(multipliers, labels)
        places = np.arange(multipliers.size), self.pairs.rivals
        table = np.zeros((multipliers.size, self.pairs.blocks))
        table[places] = -multipliers
        return np.asarray(-balanced(table, labels)[places])


def pivoted(
    products: Floats, border: Floats, inside: NDArray[np.bool_], tolerance: float, deadline: Deadline
) -> tuple[Floats, Floats] | None:
    """Find multipliers a >= 0 with scores of one on the rows that carry them, and of at least one elsewhere.

    The scores are ``products @ a + border @ shift``, and ``border.T @ a`` is zero: the columns of the border
    belong to free intercepts. Block pivoting guesses the rows that carry multipliers, solves their system,
    and exchanges all wrong rows at once: rows with a negative multiplier leave, and rows that score below one
    by more than the tolerance enter. A full exchange may cycle; then, and if a system is singular, the result
    is None.
    """
    scale, fewest, chances = float(products.diagonal().max()) or 1.0, inside.size + 1, 10
    while chances and inside.any():
        deadline.need()
        members = np.flatnonzero(inside)
        ridged = products[np.ix_(members, members)].T  # in LAPACK's memory order
        ridged[np.diag_indices_from(ridged)] += 1e-13 * scale  # identical rows share their multiplier
        factor, failed = linalg.lapack.dpotrf(ridged, clean=0, overwrite_a=1)
        if failed:
            return None
        right = np.column_stack([np.ones(members.size), border[members]])
        solved = linalg.lapack.dpotrs(factor, right)[0]
        carried = np.zeros((inside.size, right.shape[1]))
        carried[members] = solved
        rest = right - (products @ carried)[members]
        solved += linalg.lapack.dpotrs(factor, rest)[0]  # corrects for the ridge
        if not np.isfinite(solved).all():
            return None
        # Shifts that make the multipliers vanish on the border; equal shifts of all classes change nothing.
        pull = border[members].T @ solved
        shift = np.linalg.lstsq(pull[:, 1:], pull[:, 0], rcond=None)[0]
        multipliers = np.zeros(inside.size)
        multipliers[members] = solved[:, 0] - solved[:, 1:] @ shift
        scores = products @ multipliers + border @ shift
        wrong = np.where(inside, multipliers < 0.0, scores < 1.0 - tolerance)
        count = int(np.count_nonzero(wrong))
        if count == 0:
            return multipliers, shift
        chances = 10 if count < fewest else chances - 1
        fewest = min(fewest, count)
        inside = inside ^ wrong
    return None
