"""Tucker's partition of integer rows, exactly: condition the columns, then solve one linear program.

For every matrix Z there are w and ``l >= 0`` with ``Zw >= 0``, ``Z'l = 0`` and, row by row, exactly one of
``<w, z_i> > 0`` (the row is *strict*) and ``l_i > 0`` (it is *tight*): Tucker 1956. The linear program

    maximize sum_i s_i   subject to   Zw >= s,  0 <= s_i <= 1,  |w_j| <= BOX

asks for the whole partition: its solution is strict on the rows that floats see as strict, and its dual has a
multiplier of at least 1 on every row with ``s_i < 1``. So if no row is strict, all multipliers are well above
zero, and one square system over the rows of the basis corrects them to exact ones that are still positive.
(The program "largest smallest score" has a dual whose support has rank k - 1 in floats and rank k in truth on
such data: no exact solution has that support.)

Rounding hides what happens on a smaller scale: rows with scores of 1e-12 beside others of 1. Let K be the
rows whose scores are not above the tolerance. If K has full rank, only w = 0 vanishes on it; so the columns
are changed so that K is well conditioned, which magnifies its scores. Otherwise weights near those of the
program vanish on K exactly, and if they are negative nowhere, the rows on which they are positive are strict.
These are set aside, and the question is asked about the others. If w' is their answer, ``f w + w'`` is the
answer for all, with a factor f that is large enough.

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
import highspy
import numpy as np
import scipy  # loads linalg when it is used: small questions do without it

from ...deadline import NEVER, Deadline
from ...margins.lp.highs import TOLERANCE, quiet_solver, run_until
from ...result import Status
from ...rows.protocol import Floats, Ints, Mask
from ...sparse import sparse
from .conditioning import Balanced, Columns, well_conditioned
from .integer_rows import Misled, part, pivot_columns, primes, reduced, solved, times, vanishing

ROUNDS = 40  # of condition and solve
BOX = 1e3  # largest magnitude of a weight; the scores asked for are 1
ZERO = 1e-6  # scores of the linear program that are not trusted to be positive
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
        program = _solve(balanced.values, deadline)
        if program is None:
            return None
        scores = balanced.values @ program.weights
        near_zero, sizes = scores <= ZERO, balanced.rows
        if near_zero.all():
            basis = _completed(columns.numbers, program.basic, prime, deadline)
            found = _all_tight(width, columns.numbers, balanced, program.multipliers, basis, deadline)
            if found is not None:
                return found
            among = np.isin(everything, basis)
            continue
        weights = _vanishing(columns.numbers, balanced, near_zero, program.weights, prime, deadline)
        if weights is not None:
            exact = times(columns.numbers, weights)
            if min(exact) >= 0 < max(exact):
                return _with_rest(rows, times(columns.change, weights), exact, prime, deadline)
        order = np.argsort(np.where(near_zero, -np.inf, scores), kind="stable")
        among = near_zero | np.isin(everything, _completed(columns.numbers, order, prime, deadline))
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
    """Return the partition without strict rows: multipliers of the program, corrected on a basis.

    Those outside of the basis keep six bits after the point. None if a corrected one is not positive.
    """
    others = np.setdiff1d(np.arange(numbers.nrows()), basis)
    sizes = balanced.rows[others]
    parts = np.rint(np.ldexp(np.maximum(near[others], 1.0), 6)).tolist()
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
    numbers: Any, balanced: Balanced, near_zero: Mask, weights: Floats, prime: int, deadline: Deadline
) -> list[int] | None:
    """Return exact weights near those of the program that vanish on some rows; None if only zero does.

    Pivots are looked for in the order of a QR decomposition with pivoting, so that the solution stays near.
    """
    parts = np.rint(np.ldexp(weights / np.abs(weights).max(), 60)).tolist()
    shifts = (int(balanced.columns.max()) - balanced.columns).tolist()
    whole = [int(value) << shift for value, shift in zip(parts, shifts, strict=True)]
    if not near_zero.any():
        return whole
    order = scipy.linalg.qr(balanced.values[near_zero], mode="r", pivoting=True)[-1].tolist()
    found = vanishing(part(numbers, np.flatnonzero(near_zero)), whole, prime, deadline, order)
    return None if found is None else found[0]


def _completed(numbers: Any, first: Ints, prime: int, deadline: Deadline) -> Ints:
    """Return independent rows of full rank: from the first ones, and as many others as needed."""
    order = np.concatenate([first, np.setdiff1d(np.arange(numbers.nrows()), first)])
    for size in (2 * numbers.ncols(), order.size):
        found = order[pivot_columns(part(numbers, order[:size]).transpose(), prime, deadline)]
        if found.size == numbers.ncols():
            break
    return found


@dataclass(frozen=True, eq=False)
class _Solution:
    """Weights, multipliers, and the rows of the optimal basis, as far as floats tell."""

    weights: Floats
    multipliers: Floats
    basic: Ints


def _solve(values: Floats, deadline: Deadline) -> _Solution | None:
    """Solve the linear program in its dual form; None if HiGHS finds no optimum.

    ``maximize sum a - BOX sum |Z'(a + b)|  subject to  0 <= a <= 1, b >= 0``: a multiplier is a + b, and the
    weights are the prices of the equations, which are as few as there are columns.
    """
    n_rows, width = values.shape
    transposed, identity = sparse.csc_array(values.T), sparse.eye_array(width, format="csc")
    matrix = sparse.csc_array(sparse.hstack([transposed, transposed, identity, -identity]))
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = 2 * (n_rows + width), width
    program.col_lower_ = np.zeros(2 * (n_rows + width))
    program.col_upper_ = np.repeat([1.0, highspy.kHighsInf], [n_rows, n_rows + 2 * width])
    program.row_lower_ = program.row_upper_ = np.zeros(width)
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_, program.a_matrix_.index_ = matrix.indptr, matrix.indices
    program.a_matrix_.value_ = matrix.data
    # HiGHS may stop at a basis that is singular in floats. Rows that are nearly equal need large weights to
    # have different scores, so a smaller box leads past such bases.
    for attempt, box in enumerate((BOX, 1e1, 1.0, 1e-1)):
        program.col_cost_ = np.repeat([-1.0, 0.0, box], [n_rows, n_rows, 2 * width])
        solver = quiet_solver(**_dual_simplex(attempt))
        solver.passModel(program)
        outcome = run_until(solver, deadline)
        deadline.need()
        if outcome is Status.REACHED:
            return _solution(solver, n_rows)
    return None


def _dual_simplex(attempt: int) -> dict[str, Any]:
    """Return options of HiGHS. It may stop at a basis that is singular in floats: then try coarser ones."""
    tolerance = TOLERANCE * 10.0**attempt
    return {
        "solver": "simplex",
        "simplex_strategy": 1,
        "presolve": "off",
        "threads": 1,
        "random_seed": attempt,
        "small_matrix_value": tolerance / 1000.0,
        "primal_feasibility_tolerance": tolerance,
        "dual_feasibility_tolerance": tolerance,
    }


def _solution(solver: Any, n_rows: int) -> _Solution:
    solution, statuses = solver.getSolution(), solver.getBasis().col_status[: 2 * n_rows]
    found = np.asarray(solution.col_value)
    is_basic = np.array([each == highspy.HighsBasisStatus.kBasic for each in statuses])
    return _Solution(
        -np.asarray(solution.row_dual),
        found[:n_rows] + found[n_rows : 2 * n_rows],
        np.flatnonzero(is_basic[:n_rows] | is_basic[n_rows:]),
    )


def gordan(rows: Any, n_tight: int = 0, deadline: Deadline = NEVER) -> tuple[list[int], list[int]] | None:
    """Return weights that separate the rows, or multipliers with which they sum to zero; the other is empty.

    This is the simplex method in integers: it minimizes the sum of artificial variables of ``Z'l = 0`` with
    ``l >= 0`` of sum one. The tableau is kept in integers over one common denominator (Edmonds' fraction-free
    pivots), so every sign is certain, and Bland's rule makes it end. If the numbers of a row are hundreds of
    powers of two apart, `exact_partition` may alternate between two scales: on 9 of 1,600 random questions.

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
