"""The hard margin on rows with many columns: coordinate ascent, and Newton steps on the support.

The multipliers ``a >= 0`` maximise ``sum a - |sum_i a_i z_i|^2 / 2``. Passes of coordinate ascent
find within a few dozen scans which rows carry multipliers (the support S), but then creep where
rows resemble each other. On the support the optimum is one linear system, ``S S^T x = 1``: a Newton
step moves towards ``x`` as far as no multiplier turns negative, those that would are set to zero,
and passes follow until they have cost what the next system will. A step that lowers the dual
objective by more than rounding is not made, so the passes' own convergence is kept; once the support is
right, one system ends the run. Systems are solved by conjugate gradients where these are quick, else
factorised.
The same plan for bound constraints: J. J. More and G. Toraldo, "On the solution of large quadratic
programming problems with bound constraints", SIAM Journal on Optimization 1 (1991).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg

from ...deadline import NEVER, Deadline
from ...loops import margins as margin_loops
from ...result import Floats, Ints
from ...rows import threads
from ...rows.memory import MemoryRows
from ...sparse import dense
from ..effort import need_time
from ..linear_algebra import conjugate_gradients, signed_matrix

MOST_REPEATS = 8  # of a solution by one factor; each takes back a part of what its ridge changed
RIDGE = 1e-7  # added to the diagonal of S S^T, relative to its mean; the next step takes its effect back
FACTORISED = 10_000  # the most support rows whose products are factorised; beyond, the method is given up
# What things cost, in numbers that a pass reads. At twice and at half of each, 4,000 sparse rows of 10,000
# columns and 1,000 dense rows of 1,500 took as long as with these, to the 13 % by which repeats differ.
NEWTON_READS = 1e6  # a Newton step beside its factorisation
SWEEP_READS = 2e5  # a sweep beside its visits
FLOPS_A_READ = 300.0  # operations of a factorisation that cost as much as reading one number in a pass
FLOPS_AT_WORST = 60.0  # the same, with the solutions that follow it
FLOPS_A_PRODUCT = 30.0  # the same for a number read in a product
FIRST_PASSES, MOST_PASSES = 2, 100  # from one scan of all rows to the next; as little depends on the second
NEWTON_GAIN = 1e-2  # how much nearer to one the scores come at a time, where systems are not factorised
SMALLEST = 1e-100  # squared norms below it precondition as if they were this large
WORTH_PACKING = 50  # passes that repay a copy of their rows
READS_AT_ONCE = 2e7  # numbers that passes read before the clock is asked: less than a tenth of a second
ONE_THREAD = 2000  # support rows up to which BLAS is kept to one thread
ROUNDING = 1e-13  # the part of the dual objective by which a step may lower it


class DualAscent:
    """The state of the method: multipliers, weights, scores.

    Parameters
    ----------
    rows : MemoryRows
        Two classes.
    unpenalised : list of int
        The weights that are left out of the norm (free intercepts): the multipliers' combination must
        vanish there. Passes penalise its square, around a ``centre`` that moves.
    multipliers : ndarray of shape (rows,)
        Where to start; changed in place.
    centre : ndarray, optional
        Where the free intercepts start.
    deadline : Deadline
        When to raise OutOfTime; what the state holds then proves nothing.
    """

    def __init__(
        self,
        rows: MemoryRows,
        unpenalised: list[int],
        multipliers: Floats,
        centre: Floats | None = None,
        *,
        deadline: Deadline = NEVER,
    ) -> None:
        self.rows, self.unpenalised, self.multipliers = rows, unpenalised, multipliers
        self.deadline = deadline
        self.order = rows.order.copy()
        self.centre = np.zeros(len(unpenalised)) if centre is None else centre
        self.seed = np.full(1, 0x9E3779B97F4A7C15, dtype=np.uint64)
        self.factor: Factor | None = None
        self.passes, self.spent, self.read = FIRST_PASSES, 0.0, 0.0
        self.systems = self.refused = 0
        self.finest = 0.0  # how near to one the members' scores have to come
        self.still = False  # whether the last pass found nothing to change
        self.refresh()

    def refresh(self) -> None:
        """Sum the weights from the multipliers, and the scores from the weights."""
        self.total = self.rows.combination(self.multipliers)
        self.weights = self.total.copy()
        self.weights[self.unpenalised] += self.centre
        self.scores = self.rows.scores(self.weights)

    def sweep(self) -> None:
        """Make passes over the rows that carry multipliers or score below one; then score all rows."""
        rows = self.rows
        self.weights[self.unpenalised] += self.total[self.unpenalised]
        self.centre += self.total[self.unpenalised]
        norms = rows.squared_norms
        if self.passes >= WORTH_PACKING and rows.scattered:
            members = np.sort(self.order)
            few, columns = rows.pack(members)
            carried = self.multipliers[members]
            visited, worst = self._descend(few, few.order, carried, norms[members], self.weights[columns])
            self.multipliers[members] = carried
        else:
            visited, worst = self._descend(rows, self.order, self.multipliers, norms, self.weights)
        work = visited * rows.numbers / rows.n_rows
        self.spent, self.read = self.spent + SWEEP_READS + work, self.read + work
        self.refresh()
        near = (self.multipliers > 0.0) | (self.scores < 1.0)
        self.order = rows.order[near[rows.order]]
        self.passes, self.still = min(MOST_PASSES, self.passes * 3 // 2 + 1), worst == 0.0

    def _descend(
        self, rows: MemoryRows, order: Ints, multipliers: Floats, norms: Floats, weights: Floats
    ) -> tuple[int, float]:
        """Passes over the rows in order; multipliers and weights are changed."""
        caps = np.full(rows.n_rows, np.inf)
        state = margin_loops.Descent(multipliers, caps, norms, np.zeros(2), np.full(1, np.inf))
        left, active, visited, worst = self.passes, order.size, 0, np.inf
        at_once = max(1, int(READS_AT_ONCE * rows.n_rows / rows.numbers) // max(1, active))
        while left > 0 and worst != 0.0:
            need_time(self.deadline)
            passes = min(left, at_once)
            seen, worst, active = margin_loops.descend_often(
                rows.storage, order[:active], weights, state, passes, self.seed
            )
            left, visited = left - passes, visited + seen
        return visited, worst

    def due(self, ahead: float = np.inf) -> bool:
        """Whether passes have cost what a Newton step will, in numbers read, or have nothing left to do.

        Not where what passes have ``ahead`` of them costs less than a factorisation.
        """
        if self.still:
            return True
        support = np.flatnonzero(self.multipliers)
        if ahead < support.size**3 / 3.0 / FLOPS_AT_WORST:
            return False
        fresh = None if self.factor is None else self.factor.changes(support)
        operations = support.size**2 * (support.size / 3.0 if fresh is None else fresh + 4.0)
        return self.spent >= NEWTON_READS + operations / FLOPS_A_READ

    def newton(self, tolerance: float) -> bool:
        """Solve the support's system and move there; let rows join and repeat while fewer are missing.

        Rows whose score is below one by more than the tolerance join. Returns whether such steps are
        worth repeating: not where the support is too large or, having more rows than columns, dependent,
        nor where twice in turn they led nowhere.
        """
        self.passes, self.spent = FIRST_PASSES, 0.0
        order = self.rows.order
        members, missing = np.flatnonzero(self.multipliers), order.size
        if members.size > min(FACTORISED, self.weights.size):
            return False
        off = max(np.abs(self.scores[members] - 1.0).max(initial=0.0), 1.0 - self.scores[order].min())
        self.finest = finest = 0.1 * tolerance
        accuracy = max(finest, NEWTON_GAIN * off)
        with threads.calm_threads(members.size, ONE_THREAD):
            while True:
                need_time(self.deadline)
                before = self.value(self.multipliers)
                first = target = self._solve(members, self.multipliers[members], accuracy)
                inside = members
                while target.min(initial=1.0) <= 0.0:
                    # nearly always the rows that would turn negative are those that have to leave
                    inside, target = inside[target > 0.0], target[target > 0.0]
                    target = self._solve(inside, target, accuracy)
                if not inside.size or not self._offer(inside, target, before):
                    self._offer_towards(members, first)
                    self.refresh()
                    self.refused += 1
                    return self.refused < 2
                self.refused = 0
                self.refresh()
                if self.factor is not None:
                    accuracy = finest
                low = order[self.scores[order] < 1.0 - max(tolerance, accuracy)]
                joining = np.setdiff1d(low, inside, assume_unique=True)
                if accuracy > finest and not joining.size:
                    accuracy = max(finest, NEWTON_GAIN * accuracy)
                    members, missing = inside, order.size
                elif 0 < joining.size < missing:
                    members, missing = np.union1d(inside, joining), joining.size
                else:
                    return True

    def _solve(self, members: Ints, start: Floats, accuracy: float) -> Floats:
        """The multipliers for which all members score one, intercepts included.

        By conjugate gradients, unless a factor is at hand or they take too long.
        """
        self.systems += 1
        support = Support(self.rows, members, self.unpenalised)
        if self.factor is None or self.factor.changes(members) is None:
            target = self._iterate(support, start, accuracy)
            if target is not None:
                return target
            numbers = 2.0 * self.rows.numbers / self.rows.n_rows
            need_time(self.deadline, members.size**2 * (numbers + members.size / 3.0))
            self.factor = Factor(self.rows, members, self.unpenalised)
        return self._factorise(self.factor.near(members), support, start)

    def _iterate(self, support: Support, start: Floats, accuracy: float) -> Floats | None:
        """Conjugate gradients among multipliers that pull no intercept, preconditioned by the rows' norms.

        A residual's part along the intercepts is theirs to take (Gould, Hribar and Nocedal, "On the
        solution of equality constrained quadratic programming problems arising in optimization", SIAM
        Journal on Scientific Computing 23, 2001). None where they cost a quarter of a factorisation.
        """
        border, size = support.border, support.members.size
        dense = self.rows.n_columns if not self.rows.sparse else 0
        products = 2.0 * max(1, size) * self.rows.numbers / self.rows.n_rows
        left = int(size**2 * (dense + size / 3.0) / FLOPS_A_PRODUCT / products / 4.0)
        if left <= 0:
            return None
        inverse = 1.0 / np.maximum(self.rows.squared_norms[support.members], SMALLEST)
        responses = border * inverse[:, None]
        pivots = np.linalg.pinv(border.T @ responses)

        def image(step: Floats) -> Floats:
            plain = support.image(step)
            return np.asarray(plain - border @ (pivots @ (responses.T @ plain)))

        target, least = start - responses @ (pivots @ (border.T @ start)), np.inf
        while left > 0:
            rest = 1.0 - support.image(target) - border @ self.centre
            shift = pivots @ (responses.T @ rest)
            self.centre = self.centre + shift
            rest -= border @ shift
            error = float(np.abs(rest).max(initial=0.0))
            if error <= accuracy:
                return target
            if error > 0.5 * least:
                return None
            least = error
            step, taken = conjugate_gradients(
                image,
                lambda residual: inverse * residual,
                -rest,
                goal=accuracy,
                most=left,
                deadline=self.deadline,
            )
            target, left = target + step, left - max(1, taken)
        return None

    def _factorise(self, solve: Callable[[Floats], Floats], support: Support, start: Floats) -> Floats:
        """Solve by a factor; its ridge is taken back by repeats with what is left of the right-hand side."""
        border, target = support.border, start
        responses, pivots = border, border.T @ border
        least = np.inf
        for repeat in range(MOST_REPEATS):
            rest = 1.0 - support.image(target) - border @ self.centre
            error = max(np.abs(rest).max(initial=0.0), np.abs(border.T @ target).max(initial=0.0))
            if error <= self.finest or error > 0.5 * least:
                break
            least = error
            if repeat == 0:
                together = solve(np.column_stack([rest, border]))
                change, responses = together[:, 0], together[:, 1:]
                pivots = border.T @ responses
            else:
                change = solve(rest[:, None])[:, 0]
            if self.unpenalised:
                # shifts of the intercepts after which the multipliers' combination vanishes there
                pull = border.T @ (target + change)
                shift = linalg.lstsq(pivots, pull, check_finite=False)[0]
                self.centre = self.centre + shift
                change = change - responses @ shift
            target = target + change
        return target

    def _offer(self, members: Ints, target: Floats, before: float) -> bool:
        """Move there unless the dual objective falls."""
        moved = np.zeros_like(self.multipliers)
        moved[members] = target
        if self.value(moved) < before - ROUNDING * abs(before):
            return False
        self.multipliers[:] = moved
        return True

    def _offer_towards(self, members: Ints, target: Floats) -> None:
        """Go towards the target as far as the dual objective rises, negative multipliers cut off."""
        old, before = self.multipliers[members], self.value(self.multipliers)
        for length in 0.5 ** np.arange(8):
            if self._offer(members, np.maximum(0.0, old + length * (target - old)), before):
                return

    def value(self, multipliers: Floats) -> float:
        """The dual objective, for the present centre."""
        total = self.rows.combination(multipliers)
        return float(multipliers.sum() - 0.5 * total @ total - self.centre @ total[self.unpenalised])


class Support:
    """Products with the signed rows S of some members; ``border`` holds their unpenalised columns."""

    def __init__(self, rows: MemoryRows, members: Ints, unpenalised: list[int]) -> None:
        self.rows, self.members, self.unpenalised = rows, members, unpenalised
        self.ranges = threads.chunks(members.size, members.size * rows.numbers // rows.n_rows)
        self.border = np.empty((members.size, len(unpenalised)))
        for place, column in enumerate(unpenalised):
            unit = np.zeros(rows.n_columns + rows.lifted)
            unit[column] = 1.0
            self.border[:, place] = self.scores(unit)

    def image(self, factors: Floats) -> Floats:
        """``S S^T`` times the factors, without the unpenalised columns."""
        totals = np.zeros((len(self.ranges), self.rows.n_columns + self.rows.lifted))
        threads.run_all(
            margin_loops.add_those,
            [
                (self.rows.storage, self.members[start:stop], factors[start:stop], total)
                for (start, stop), total in zip(self.ranges, totals, strict=True)
            ],
        )
        weights: Floats = totals.sum(axis=0)
        weights[self.unpenalised] = 0.0
        return self.scores(weights)

    def scores(self, weights: Floats) -> Floats:
        """The scores of the members."""
        scores = np.empty(self.members.size)
        threads.run_all(
            margin_loops.fill_those,
            [
                (self.rows.storage, self.members[start:stop], weights, scores[start:stop])
                for start, stop in self.ranges
            ],
        )
        return scores


class Factor:
    """The Cholesky factor of ``S S^T + ridge`` for some rows S, and solutions for sets near S.

    Rows that joined since (P) and rows that left (R, whose unknowns must vanish) border the system.
    Block elimination leaves a small dense system in P and R, the Schur complement (Gill, Murray,
    Saunders and Wright, "A Schur-complement method for sparse quadratic programming", 1990).
    """

    def __init__(self, rows: MemoryRows, members: Ints, unpenalised: list[int]) -> None:
        self.rows, self.base, self.unpenalised = rows, members, unpenalised
        self.matrix, _ = _split(signed_matrix(rows, members), unpenalised)
        square = products(self.matrix)
        diagonal = square.diagonal().copy()
        self.ridge = RIDGE * float(diagonal.mean())
        while True:
            np.fill_diagonal(square, diagonal + self.ridge)
            self.upper, problem = linalg.lapack.dpotrf(square.T, lower=0, clean=0, overwrite_a=0)
            if not problem:
                break
            self.ridge *= 100.0  # rounding made a tiny pivot negative
        self.places: dict[int, int] = {}
        self.columns: Floats = np.empty((members.size, 0), order="F")

    def changes(self, members: Ints) -> int | None:
        """How many columns a solution for ``members`` adds; None where a new factor is cheaper."""
        apart = np.setxor1d(members, self.base, assume_unique=True)
        if apart.size > max(20, self.base.size // 5):
            return None
        return sum(1 for row in apart.tolist() if row not in self.places)

    def near(self, members: Ints) -> Callable[[Floats], Floats]:
        """Make ready to solve systems of ``members`` (ascending); returns what solves them."""
        base = self.base
        kept = np.isin(members, base, assume_unique=True)
        inside = np.searchsorted(base, members[kept])
        joined, left = members[~kept], np.setdiff1d(base, members, assume_unique=True)
        changed = joined.size + left.size > 0
        if changed:
            border = self._bordered(joined, left)
            small = -(border.T @ border)
            extra, _ = _split(signed_matrix(self.rows, joined), self.unpenalised)
            between = dense(extra @ extra.T)
            small[: joined.size, : joined.size] += between + np.eye(joined.size) * self.ridge
            eliminated = linalg.lapack.dsytrf(small)[:2]

        def solve(right: Floats) -> Floats:
            padded = np.zeros((base.size, right.shape[1]), order="F")
            padded[inside] = right[kept]
            half = self._triangular(padded, 1)
            solution = np.empty_like(right)
            if changed:
                outer = -(border.T @ half)
                outer[: joined.size] += right[~kept]
                changes = linalg.lapack.dsytrs(*eliminated, outer)[0]
                half -= border @ changes
                solution[~kept] = changes[: joined.size]
            solution[kept] = self._triangular(half, 0)[inside]
            return solution

        return solve

    def _bordered(self, joined: Ints, left: Ints) -> Floats:
        """L^-1 times the columns of the rows that joined, and the unit columns of those that left."""
        wanted = [*joined.tolist(), *left.tolist()]
        fresh = [row for row in wanted if row not in self.places]
        if fresh:
            new = np.array(fresh)
            inside = np.isin(new, self.base)
            columns = np.zeros((self.base.size, new.size), order="F")
            columns[np.searchsorted(self.base, new[inside]), np.flatnonzero(inside)] = 1.0
            if not inside.all():
                extra, _ = _split(signed_matrix(self.rows, new[~inside]), self.unpenalised)
                columns[:, ~inside] = dense(self.matrix @ extra.T)
            start = self.columns.shape[1]
            self.columns = np.hstack([self.columns, self._triangular(columns, 1)])
            self.places.update(zip(fresh, range(start, start + new.size), strict=True))
        return self.columns[:, [self.places[row] for row in wanted]]

    def _triangular(self, right: Floats, transposed: int) -> Floats:
        return np.asarray(linalg.lapack.dtrtrs(self.upper, right, lower=0, trans=transposed)[0])


def _split(matrix: Any, unpenalised: list[int]) -> tuple[Any, Floats]:
    """The matrix with zeros in the unpenalised columns, and these columns; the matrix is changed."""
    border = dense(matrix[:, unpenalised])
    if isinstance(matrix, np.ndarray):
        matrix[:, unpenalised] = 0.0
    elif unpenalised:
        matrix.data[np.isin(matrix.indices, unpenalised)] = 0.0
    return matrix, border


def products(matrix: Any) -> Floats:
    """The inner products of all rows: the lower triangle."""
    if isinstance(matrix, np.ndarray):
        return np.asarray(linalg.blas.dsyrk(1.0, matrix.T, trans=1)).T
    size = matrix.shape[0]
    square = np.zeros((size, size))
    columns = matrix.tocsc()
    by_row = margin_loops.Entries(matrix.data, matrix.indices, matrix.indptr)
    by_column = margin_loops.Entries(columns.data, columns.indices, columns.indptr)
    # rows of a triangle grow: edges at the square roots cut it into equal areas
    edges = [int(np.sqrt(size * stop)) for _, stop in threads.chunks(size, size * size)]
    threads.run_all(
        margin_loops.gram, [(by_row, by_column, *each, square) for each in itertools.pairwise([0, *edges])]
    )
    return square
