"""Interior-point method: follow the central path of the linear program on a working set of dense rows.

Maximize t subject to ``Zw >= t``, ``|w| <= 1``. The path ends where Tucker's theorem points: each row has
either a positive score or a positive multiplier, and the multipliers are even enough for a proof by
approximate ones. The perceptron's hardest rows come first; if those are separated, rows join that the
weights get wrong. If there are tight rows, the coordinates are those of an orthonormal basis of the
directions that vanish on them. Without this strategy, MNIST 4-9 is undecided with a time limit of 10 seconds;
with it it takes 0.8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...deadline import OutOfTime
from ...margins.lp.interior_point import operations, solve_interior
from ...result import Status
from ...rows.protocol import Floats, Ints, Mask
from ...sparse import dense, sparse
from ..search import MOST_COLUMNS, NO_ROWS, Attempt, Inseparable, Knowledge, Learned, Problem, Separated
from ..signed_rows import SignedRows, largest_sizes, row_scales
from .exact_partition import NUMBERS

# Columns. Each step solves a system of that size.
FEWEST = 200
# Rows for each column of a first working set. Random labels need a bit more than two; with twice as many rows
# a system takes twice as long, with half as many another round is needed.
ROWS_PER_COLUMN = 3
FAR = 8.0  # a column whose mean is more than this many times its range is moved to zero
SPARSE_PRODUCT = 60.0  # time of a term of an inner product of sparse columns, relative to one of arrays


class InteriorPoint:
    """Mehrotra's predictor and corrector on a working set that grows."""

    name = "interior point"
    share = 1.0

    def applies(self, problem: Problem) -> bool:
        """Whether there are many coordinates, and more signed rows than coordinates.

        The systems that are solved have the size of the coordinates that tight rows leave. If those are few,
        the path shows all further tight rows at once, and the simplex method some of them.
        """
        signed = problem.rows
        if signed.small or signed.n_used > MOST_COLUMNS or signed.n_used <= FEWEST:
            return False
        left = signed.n_used - problem.tight.size
        return left < problem.ids.size and (left > FEWEST or problem.tight.size > 0)

    def attempt(self, problem: Problem, known: Knowledge) -> Attempt:
        """Solve, and add rows that the weights get wrong, until they get no row wrong."""
        signed, width = problem.rows, problem.rows.n_used - problem.tight.size
        hard, directions, pruned = problem.hard_rows(known), _directions(problem), False
        wanted = max(ROWS_PER_COLUMN * width, NUMBERS // width if problem.tight.size else 0)
        few = np.union1d(hard, problem.sample(max(0, wanted - hard.size)))
        while True:
            # before the rows are read, which may take as long; sparse rows may take less
            if not signed.rows.sparse:
                problem.deadline.need(operations=operations(few.size, width))
            given = _scaled(signed, few, directions)
            found = solve_interior(given.rows, problem.deadline)
            if found.status is Status.NOT_SEPARABLE:
                tight, values = few[found.tight], found.multipliers * given.scales
                even = _evenly_used(signed, tight)
                if even.all() or not even.any():
                    return _proved(problem, tight, values[found.tight]) or Learned(known.rows)
                few, pruned = tight[even], True
                continue
            if found.status is Status.TIME_LIMIT:
                raise OutOfTime  # the simplex method would take longer to read these rows than the time left
            if found.status is not Status.REACHED or pruned:
                return Learned()
            weights = np.zeros(signed.width if directions is None else directions.shape[1])
            weights[given.live] = found.weights * given.factors
            weights = weights if directions is None else directions @ weights
            moved = bool(given.moves.any())
            if moved:
                weights[-1] -= float(weights[:-1] @ given.moves)
            ids, scores = signed.lowest(weights, width, problem.among)
            fresh = np.setdiff1d(ids, few)
            if scores[0] > 0.0:
                exact = problem.exact_weights(weights)
                if problem.accept(exact):
                    known_upper = problem.whole and not moved
                    upper = signed.margin_upper(few, found.multipliers) if known_upper else None
                    return Separated(exact, upper=upper)
            if not fresh.size:
                return Learned()
            few = np.union1d(few, fresh)


@dataclass(frozen=True, eq=False)
class _ScaledRows:
    """Signed rows with scaled columns, and what was done to them.

    Attributes
    ----------
    rows : ndarray or CSR matrix of shape (rows, live)
    live : ndarray of int64
        The coordinates that are used.
    factors : ndarray of shape (live,)
        The factors of those coordinates.
    scales : ndarray of shape (rows,)
        The factors of the rows.
    moves : ndarray of shape (columns,)
        What was subtracted from each column.
    """

    rows: Any
    live: Ints
    factors: Floats
    scales: Floats
    moves: Floats


def _directions(problem: Problem) -> Floats | None:
    """Return orthonormal directions that vanish on the tight rows, in floats; None without tight rows."""
    n_tight, width = problem.tight.size, problem.rows.width
    if not n_tight:
        return None
    problem.deadline.need(operations=4.0 * width**2 * n_tight)
    return np.linalg.qr(dense(problem.rows.floats(problem.tight)).T, mode="complete")[0][:, n_tight:]


def _scaled(signed: SignedRows, ids: Ints, directions: Floats | None) -> _ScaledRows:
    """Scale some rows, and every column that they use, to about 1.

    If there is an intercept, columns far from zero are moved to zero. Sparse rows stay sparse if their inner
    products are faster to compute. If directions are given, they are the columns.
    """
    inner = signed.block - signed.lift
    as_given = signed.joint or signed.rows.sparse or directions is not None
    values: Any = signed.column_scaled(ids) if as_given else None
    moves = np.zeros(inner)
    if directions is not None:
        values = values @ directions
    elif signed.joint:
        values = values if _worth_being_sparse(values) else dense(values)
    elif not sparse.issparse(values) or not _worth_being_sparse(values):
        values = signed.lifted(ids)
        if signed.lift:
            means, ranges = values[:, :inner].mean(axis=0), np.ptp(values[:, :inner], axis=0)
            moves = np.where((np.abs(means) > FAR * ranges) & (ranges > 0.0), means, 0.0)
        values[:, :inner] -= moves
        values *= (2.0 * signed.labels[ids] - 1.0)[:, None]
    scales = row_scales(values)
    by_row = sparse.diags_array(scales) @ values if sparse.issparse(values) else scales[:, None] * values
    sizes = largest_sizes(by_row, 0)
    live = np.flatnonzero(sizes)
    factors = np.ldexp(1.0, -np.frexp(sizes[live])[1])
    values = by_row[:, live]
    values = values @ sparse.diags_array(factors) if sparse.issparse(values) else values * factors
    return _ScaledRows(values, live, factors, scales, moves)


def _evenly_used(signed: SignedRows, ids: Ints) -> Mask:
    """Say which rows use no column that some of their classes use and others do not.

    A proof by approximate multipliers leaves out whole columns. With many classes, a column that is zero in
    all rows of one class, and not in those of the others, has a coordinate that is zero in all signed rows,
    or two that depend on each other.
    """
    kept = np.ones(ids.size, dtype=bool)
    if not signed.joint:
        return kept
    rows, rivals = signed.split(ids)
    used, about = signed.lifted(rows) != 0.0, (signed.labels[rows], rivals)
    while kept.any():
        own = [kept & ((about[0] == each) | (about[1] == each)) for each in range(signed.n_classes)]
        live = np.array([used[each].any(axis=0) for each in own if each.any()])
        uneven = used[:, live.any(axis=0) & ~live.all(axis=0)].any(axis=1)
        if not (kept & uneven).any():
            break
        kept &= ~uneven
    return kept


def _worth_being_sparse(values: Any) -> bool:
    """Whether the inner products of the columns are faster to compute from a CSR matrix."""
    used, each = np.count_nonzero(np.bincount(values.indices, minlength=1)), np.diff(values.indptr)
    return bool(SPARSE_PRODUCT * (each.astype(np.float64) ** 2).sum() < len(each) * float(used) ** 2)


def _proved(problem: Problem, ids: Ints, values: Floats) -> Inseparable | None:
    """Prove that no weights separate, by multipliers whose combination is zero in floats.

    The checker gets approximate multipliers first. If it refuses them, or they prove less than was asked,
    exact ones follow, unless these would take longer than the time left.
    """
    used = np.isfinite(values) & (values > 0.0)
    if not used.any():
        return None
    order = np.argsort(-values[used], kind="stable")
    ids, values = ids[used][order], values[used][order]
    rows, rivals = problem.rows.split(ids)
    rivals = rivals if problem.rows.joint else NO_ROWS
    complete = None if problem.approximate is None else problem.approximate(rows, rivals, values)
    if complete:
        return Inseparable(None)
    if problem.rows.seconds_to_solve() < problem.deadline.left:
        exact = problem.combination(ids, values)
        return None if exact is None else Inseparable(exact)
    return None if complete is None else Inseparable(None)
