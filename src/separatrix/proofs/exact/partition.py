"""Tucker's partition of integer rows, exactly: condition the columns, then follow a central path.

For every matrix Z there are w and ``l >= 0`` with ``Zw >= 0``, ``Z'l = 0`` and, row by row, exactly one of
``<w, z_i> > 0`` (the row is *strict*) and ``l_i > 0`` (it is *tight*): Tucker 1956. The central path of the
linear program "largest smallest score" ends at such a pair (Goldman and Tucker 1956), so the interior-point
method shows the whole partition at once, as far as floats can see it. The simplex method ends at a vertex,
where most tight rows have no multiplier.

If all rows are tight, their multipliers are well above zero, and one square system over a basis of the rows
corrects them to exact ones that are still positive. The basis is chosen by a QR decomposition with pivoting
of the rows times their multipliers, so that the corrections are small.

Rounding hides what happens on a smaller scale: rows with scores of 1e-12 beside others of 1. Let K be the
rows that seem to be tight. If K has full rank, only w = 0 vanishes on it; so the columns are changed so that
K is well conditioned, which magnifies its scores. Otherwise weights near those of the path vanish on K
exactly. If they are negative nowhere, the rows on which they are positive are strict: these are set aside,
and the question is asked about the others. If w' is their answer, ``f w + w'`` is the answer for all, with a
factor f that is large enough. If they are negative somewhere, rows with large scores get a smaller weight in
the next change of columns.

Floats guide the search and prove nothing: the partition that is returned was checked in integers.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from math import lcm
from typing import Any

import flint
import numpy as np
import scipy  # loads linalg when it is used: small questions do without it

from ...deadline import NEVER, Deadline, OutOfTime
from ...margins.lp.interior_point import Centre, solve_interior
from ...result import Status
from ...rows.protocol import Floats, Ints, Mask
from .conditioning import Balanced, Columns, well_conditioned
from .integer_rows import Misled, part, pivot_columns, primes, reduced, solved, times, vanishing

ROUNDS = 40  # of condition and solve
SMALL_SCORE = 1e-7  # rows with larger scores get a smaller weight if the weights are negative on others
FINE = 40  # bits after the point of multipliers outside of the basis; the smallest is 1
LARGEST = 1 << 14  # numbers in the tableau of the simplex method; above, it would take too long


@dataclass(frozen=True, eq=False)
class Partition:
    """Weights and multipliers that prove of each row whether it is strict or tight.

    Attributes
    ----------
    weights : list of int
        They give each strict row a positive score, and each tight row the score zero.
    tight : ndarray of int64
        The tight rows.
    multipliers : list of int or Fraction
        One for each tight row, all positive; the sum of these rows times their multipliers is zero. Those of
        a basis of their span are fractions, the others are whole.
    """

    weights: list[int]
    tight: Ints
    multipliers: list[int | Fraction]


def exact_partition(rows: Any, deadline: Deadline = NEVER) -> Partition | None:
    """Say of every row whether it is strict or tight, and prove it.

    Parameters
    ----------
    rows : fmpz_mat of shape (rows, columns)
        The signed rows, with each column times any positive number; see `integer_rows`.
    deadline : Deadline
        When to give up: OutOfTime is raised.

    Returns
    -------
    Partition, or None if rounding hid the answer.
    """
    for prime in islice(primes(), 3):
        # A prime that divides a minor hides rank: then the answer does not hold, or is missing.
        with suppress(Misled):
            found = _partition(rows, prime, deadline)
            if found is not None and holds(rows, found):
                return found
    return None


def holds(rows: Any, found: Partition) -> bool:
    """Whether a partition is correct, in integers: every row is either strict or tight."""
    is_tight = np.zeros(rows.nrows(), dtype=bool)
    is_tight[found.tight] = True
    scores = zip(times(rows, found.weights), is_tight.tolist(), strict=True)
    return (
        np.unique(found.tight).size == found.tight.size == len(found.multipliers)
        and all(score == 0 if tight else score > 0 for score, tight in scores)
        and all(value > 0 for value in found.multipliers)
        and not any(_weighted_sum(rows, found.tight, found.multipliers))
    )


def _weighted_sum(rows: Any, which: Ints, factors: list[int | Fraction]) -> list[Fraction]:
    """Sum some rows, each times a number; integers and fractions separately, because fractions are few."""
    common = lcm(*(factor.denominator for factor in factors))
    whole, others = [0] * rows.nrows(), [0] * rows.nrows()
    for i, factor in zip(which.tolist(), factors, strict=True):
        if factor.denominator == 1:
            whole[i] = int(factor)
        else:
            others[i] = int(factor * common)
    transposed = rows.transpose()
    sums = zip(times(transposed, whole), times(transposed, others), strict=True)
    return [first + Fraction(second, common) for first, second in sums]


def _partition(rows: Any, prime: int, deadline: Deadline) -> Partition | None:
    """Return the partition, which is correct unless the prime hides rank; None if rounding hid it."""
    n_rows, width = rows.nrows(), rows.ncols()
    everything = np.arange(n_rows)
    kept = pivot_columns(rows, prime, deadline)
    if not kept:
        return Partition([0] * width, everything, [1] * n_rows)
    identity = flint.fmpz_mat(width, width, np.eye(width, dtype=np.int64).ravel().tolist())
    columns = Columns(part(rows, columns=kept), part(identity, columns=kept))
    among, sizes = np.ones(n_rows, dtype=bool), None
    for _ in range(ROUNDS):
        columns, balanced = well_conditioned(columns, among, sizes, deadline)
        sizes = balanced.rows
        path = solve_interior(balanced.values, deadline)
        if path.status is Status.TIME_LIMIT:
            raise OutOfTime
        if not (np.isfinite(path.weights).all() and np.isfinite(path.multipliers).all()):
            return None
        near_zero = path.tight & (path.status is not Status.REACHED)
        if path.even or near_zero.all():
            basis = _basis(columns.numbers, balanced, path.multipliers, prime, deadline)
            found = _all_tight(width, columns.numbers, balanced, path.multipliers, basis, deadline)
            if found is not None:
                return found
            if near_zero.all() or not path.weights.any():
                among = np.isin(everything, basis)
                continue
        weights = _vanishing(columns.numbers, balanced, near_zero, path, prime, deadline)
        if weights is None:
            among = near_zero
            continue
        exact = times(columns.numbers, weights)
        if min(exact) >= 0 < max(exact):
            return _with_rest(rows, times(columns.change, weights), exact, prime, deadline)
        scores = np.maximum(balanced.values @ path.weights / SMALL_SCORE, 1.0)
        among, sizes = np.ones(n_rows, dtype=bool), sizes + np.frexp(scores)[1]
    return None


def _with_rest(
    rows: Any, weights: list[int], scores: list[int], prime: int, deadline: Deadline
) -> Partition | None:
    """Set the rows with positive scores aside, and ask the same about the others."""
    left = np.array([i for i, score in enumerate(scores) if not score], dtype=np.int64)
    if not left.size:
        return Partition(weights, left, [])
    rest = _partition(part(rows, left), prime, deadline)
    if rest is None:
        return None
    pairs = zip(scores, times(rows, rest.weights), strict=True)
    factor = max([1, *(-other // own + 1 for own, other in pairs if own)])
    total = [factor * own + other for own, other in zip(weights, rest.weights, strict=True)]
    return replace(rest, weights=total, tight=left[rest.tight])


def _all_tight(
    width: int, numbers: Any, balanced: Balanced, near: Floats, basis: Ints, deadline: Deadline
) -> Partition | None:
    """Return the partition without strict rows: multipliers of the path, corrected on a basis.

    None if a corrected one is not positive.
    """
    if not near.min() > 0.0:
        return None
    others = np.setdiff1d(np.arange(numbers.nrows()), basis)
    sizes = balanced.rows[others]
    parts = np.rint(np.ldexp(near[others] / near.min(), FINE)).tolist()
    top = int(sizes.max(initial=0))
    coarse: list[int | Fraction] = [
        int(value) << (top - size) for value, size in zip(parts, sizes.tolist(), strict=True)
    ]
    total = [-int(value) for value in _weighted_sum(numbers, others, coarse)]
    found = solved(part(numbers, basis).transpose(), total, deadline)
    if found is None or min(found[0]) <= 0:
        return None
    fine = [Fraction(value, found[1]) for value in found[0]]
    return Partition([0] * width, np.concatenate([basis, others]), [*fine, *coarse])


def _vanishing(
    numbers: Any, balanced: Balanced, near_zero: Mask, path: Centre, prime: int, deadline: Deadline
) -> list[int] | None:
    """Return exact weights near those of the path that vanish on some rows; None if only zero does.

    Pivots are looked for in the order of a QR decomposition with pivoting, so that the solution stays near.
    """
    parts = np.rint(np.ldexp(path.weights / np.abs(path.weights).max(), 60)).tolist()
    shifts = (int(balanced.columns.max()) - balanced.columns).tolist()
    whole = [int(value) << shift for value, shift in zip(parts, shifts, strict=True)]
    if not near_zero.any():
        return whole
    order = scipy.linalg.qr(balanced.values[near_zero], mode="r", pivoting=True)[-1].tolist()
    found = vanishing(part(numbers, np.flatnonzero(near_zero)), whole, prime, deadline, order)
    return None if found is None else found[0]


def _basis(numbers: Any, balanced: Balanced, near: Floats, prime: int, deadline: Deadline) -> Ints:
    """Return independent rows of full rank, preferably with large multipliers and far from each other."""
    deadline.need(operations=2.0 * balanced.values.size * min(balanced.values.shape))
    weighted = balanced.values * near[:, None]
    order: Ints = scipy.linalg.qr(weighted.T, mode="r", pivoting=True)[-1].astype(np.int64)
    return order[pivot_columns(part(numbers, order).transpose(), prime, deadline)]


def gordan(rows: Any, n_tight: int = 0, deadline: Deadline = NEVER) -> tuple[list[int], list[int]] | None:
    """Return weights that separate the rows, or multipliers with which they sum to zero; the other is empty.

    This is the simplex method in integers: it minimizes the sum of artificial variables of ``Z'l = 0`` with
    ``l >= 0`` of sum one. The tableau is kept in integers over one common denominator (Edmonds' fraction-free
    pivots), so every sign is certain, and Bland's rule makes it end. If the numbers of a row are hundreds of
    powers of two apart, `exact_partition` may alternate between two scales: on 3 of 1,600 random questions.

    Parameters
    ----------
    rows : fmpz_mat of shape (rows, columns)
        The first ``n_tight`` rows are to have the score zero: their negatives are the last rows.
    deadline : Deadline
        When to give up: OutOfTime is raised.

    Returns
    -------
    tuple, or None if there are too many rows or columns.
    """
    n_rows, width = rows.nrows(), rows.ncols()
    if (width + 2) * (n_rows + width + 2) > LARGEST:
        return None
    table: Any = np.zeros((width + 2, n_rows + width + 2), dtype=object)
    for i, row in enumerate(rows.tolist()):
        table[:width, i] = [int(v) for v in row]
    table[width, n_tight : n_rows - n_tight] = table[width, -1] = 1
    for r in range(width + 1):
        table[r, n_rows + r] = 1
    table[-1] = -table[:-1].sum(axis=0)
    table[-1, n_rows:-1] = 0
    basic, scale = list(range(n_rows, n_rows + width + 1)), 1
    while table[-1, -1] and (falling := [j for j in range(n_rows) if table[-1, j] < 0]):
        deadline.need()
        column = falling[0]
        able = [r for r in range(width + 1) if table[r, column] > 0]
        row = min(able, key=lambda r: (Fraction(table[r, -1], table[r, column]), basic[r]))
        line = table[row].copy()
        table = (table * line[column] - np.outer(table[:, column], line)) // scale
        table[row], basic[row], scale = line, column, line[column]
    if table[-1, -1]:
        return reduced([int(v - scale) for v in table[-1, n_rows : n_rows + width]]), []
    values = [0] * n_rows
    for r, column in enumerate(basic):
        if column < n_rows:
            values[column] = int(table[r, -1])
    return [], reduced(values)
