"""The multipliers of the largest margin of a few hundred rows, from their inner products alone.

With K the inner products of the signed rows, the multipliers ``a >= 0`` make ``K a = 1`` on the rows that
carry them, and no row scores less. Guess the rows that carry them (all, at first), solve, and exchange at
once every row that is wrong: those whose multiplier is negative leave, those that score below one join. That
takes a handful of systems where K is definite, as it is with more columns than rows. A full exchange may
cycle; then nothing is returned, and other methods begin from nothing.

References
----------
L. F. Portugal, J. J. Judice and L. N. Vicente, "A comparison of block pivoting and interior-point algorithms
for linear least squares problems with nonnegative variables", Mathematics of Computation 63 (1994).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ...deadline import NEVER, Deadline
from ...result import Floats
from ...rows.memory import MemoryRows
from ...rows.threads import calm_threads
from ...sparse import dense
from ..effort import need_time

MOST_ROWS = 500  # a system of that size takes some 5 ms
CHANCES = 10  # exchanges in turn that may fail to leave fewer rows wrong
RIDGE = 1e-13  # added to the diagonal, relative to its largest entry: equal rows share what they carry
ROUNDING, BALANCE = 1e-13, 1e-9  # shares of all multipliers: of scores off one, and by which classes differ
SMALL = 200  # rows whose inner products are left to one thread


def pivoted_multipliers(
    rows: MemoryRows, free_intercept: bool, tolerance: float, deadline: Deadline = NEVER
) -> tuple[Floats, float] | None:
    """The multipliers of all rows (two classes) and a free intercept; they prove nothing yet.

    None where there are too many rows for their numbers, or no support was found. Rows that score
    less than one by at most the tolerance are left as they are.
    """
    members = rows.order
    if members.size > min(MOST_ROWS, rows.n_columns // 4):
        return None
    part = rows if members.size == rows.n_rows else rows.take(members)
    with calm_threads(members.size, SMALL):
        products = inner_products(part) + (rows.lifted and not free_intercept)
        found = _pivot(products, 2.0 * part.labels - 1.0, free_intercept, tolerance, deadline)
    if found is None:
        return None
    multipliers = np.zeros(rows.n_rows)
    multipliers[members] = found[0]
    return multipliers, found[1]


def inner_products(rows: MemoryRows) -> Floats:
    """The inner products of all pairs of rows, without lift and signs."""
    matrix = rows.matrix.astype(np.float64, copy=False)
    return dense(matrix @ matrix.T)


def _pivot(
    products: Floats, signs: Floats, free_intercept: bool, tolerance: float, deadline: Deadline
) -> tuple[Floats, float] | None:
    scale = float(products.diagonal().max()) or 1.0
    square = products * (signs[:, None] * signs / scale)
    inside: NDArray[np.bool_] = np.ones(signs.size, dtype=np.bool_)
    fewest, chances = signs.size + 1, CHANCES
    while chances:
        need_time(deadline)
        members = np.flatnonzero(inside)
        right = np.column_stack([np.ones(members.size), signs[members]])
        solved = _solve(square[np.ix_(members, members)], right)
        if solved is None:
            return None
        multipliers, intercept = np.zeros(signs.size), 0.0
        multipliers[members] = solved[:, 0]
        if free_intercept:
            # the intercept for which the classes carry the same
            intercept = float(signs @ multipliers) / float(signs[members] @ solved[:, 1])
            multipliers[members] -= intercept * solved[:, 1]
        scores = square @ multipliers + intercept * signs
        wrong = np.where(inside, multipliers < 0.0, scores < 1.0 - tolerance)
        count = int(np.count_nonzero(wrong))
        if count == 0:
            # Where the rows are dependent, what was solved may be no solution.
            off = float(np.abs(scores[inside] - 1.0).max(initial=0.0))
            between = abs(float(signs @ multipliers)) if free_intercept else 0.0
            holds = off <= tolerance + ROUNDING * multipliers.sum() and between <= BALANCE * multipliers.sum()
            return (multipliers / scale, intercept) if holds else None
        chances = CHANCES if count < fewest else chances - 1
        fewest = min(fewest, count)
        inside ^= wrong
    return None


def _solve(square: Floats, right: Floats) -> Floats | None:
    """Solve a system that is definite but for rounding; None where it is not, or empty."""
    ridged = square + RIDGE * np.eye(square.shape[0])
    factor, problem = linalg.lapack.dpotrf(ridged, overwrite_a=1)
    if problem or not square.size:
        return None
    solved = linalg.lapack.dpotrs(factor, right)[0]
    solved += linalg.lapack.dpotrs(factor, right - square @ solved)[0]  # takes the ridge back
    return np.asarray(solved)
