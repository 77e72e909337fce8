"""A positive combination of rows that is exactly zero, where there are several that vanish.

Rows of rank r have ``rows - r`` independent combinations that vanish. Which sums of those are positive on
every row is a question with as many unknowns: small, and asked in floats. With the answer as whole numbers,
the sum is exact. Where some rows keep multipliers that are merely near a positive combination, those of the
others are left to chance: on images that were just not separable, half of them became negative.
"""

from __future__ import annotations

from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from ...deadline import Deadline
from ...margins.lp.interior_point import solve_interior
from ...margins.optimum import Outcome
from ...rank import pivots
from ..exact.linear_systems import EACH, IntegerRows, reduced, seconds_to_solve, transpose

Floats = NDArray[np.float64]

MOST = 300  # combinations
BITS = 60  # of the whole numbers that each combination is multiplied by


def positive_combination(rows: IntegerRows, near: Floats, prime: int, deadline: Deadline) -> list[int] | None:
    """Integers that are positive, or zero on rows where all combinations are, with ``sum_i m_i row_i == 0``.

    ``near`` are positive floats near such a combination. None where there are too many combinations, or too
    few, or no positive one is found, or would be in time. Raises OutOfTime when the deadline has come.
    """
    matrix = rows.entries
    solved = pivots(transpose(matrix), prime, deadline)
    free = sorted(set(range(len(matrix))) - set(solved))
    if not 1 < len(free) <= MOST:
        return None
    chosen = pivots([matrix[i] for i in solved], prime, deadline)
    bits = max(abs(value).bit_length() for row in matrix for value in row)
    if seconds_to_solve(len(solved), bits) * (1.0 + EACH * len(free)) > deadline.left:
        return None
    square: Any = flint.fmpq_mat(flint.fmpz_mat([[matrix[i][j] for i in solved] for j in chosen]))
    right = flint.fmpq_mat(flint.fmpz_mat([[-matrix[i][j] for i in free] for j in chosen]))
    try:
        found = square.solve(right, algorithm="dixon")
    except ZeroDivisionError:
        return None
    numerators, denominator = found.numer_denom()
    each = [[int(v) for v in row] for row in numerators.tolist()]
    whole = int(denominator)
    parts = _positive_parts(each, near[free], deadline)
    if parts is None:
        return None
    values = [0] * len(matrix)
    for i, row in zip(solved, each, strict=True):
        values[i] = sum(part * value for part, value in zip(parts, row, strict=True))
    for i, part in zip(free, parts, strict=True):
        values[i] = part * whole
    return reduced(values) if min(values) >= 0 else None


def _positive_parts(each: list[list[int]], free: Floats, deadline: Deadline) -> list[int] | None:
    """Whole numbers with which the combinations sum to a positive one; None where floats tell of none."""
    fractions, powers = np.frexp(free)
    used = [_relative(row, fractions, powers) for row in each if any(row)]
    table = np.vstack([np.array(used).reshape(len(used), free.size), np.eye(free.size)])
    centre = solve_interior(table, deadline)
    if centre.outcome is not Outcome.REACHED or not (centre.weights > 0.0).all():
        return None
    parts = np.ldexp(centre.weights * fractions, BITS)
    lowest = int(powers.min())
    return [
        max(1, round(part)) << (power - lowest)
        for part, power in zip(parts.tolist(), powers.tolist(), strict=True)
    ]


def _relative(row: list[int], fractions: Floats, powers: NDArray[np.int32]) -> Floats:
    """Integers times ``fractions * 2**powers``, over the power of two with which the largest is about 1."""
    cut = [max(0, value.bit_length() - 64) for value in row]
    numbers = fractions * [float(value >> shift) for value, shift in zip(row, cut, strict=True)]
    exponents = np.array(cut, dtype=np.int64) + powers
    tops = (np.frexp(numbers)[1] + exponents)[numbers != 0.0]
    return np.asarray(np.ldexp(numbers, np.maximum(exponents - tops.max(), -3000).astype(np.int32)))
