"""Which of many rows are exactly on a hyperplane: sums of products of long integers, cut into limbs.

Numbers and weights are cut into limbs of 18 bits. Products of limbs are below 2**36, so that sums of up to
2**17 of them are exact in float64, and one matrix product adds up those of many rows. Carrying from limb to
limb tells whether the whole sum is zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..deadline import NEVER, Pause
from .monomials import Floats, Ints, Mask
from .numbers import NUMBERS_AT_A_TIME

BITS = 18
LIMB = (1 << BITS) - 1
MOST_COLUMNS = 1 << (53 - 2 * BITS)
MOST_LIMBS = 1 << 12  # of numbers times those of weights; above, it is faster to score rows one by one


def exactly_zero(
    values: NDArray[Any],
    weights: list[tuple[int, int]],
    constant: tuple[int, int],
    pause: Pause = NEVER.need,
) -> Mask:
    """Say which rows have ``sum_j w_j x_j + constant == 0``; False also if that would take too many limbs.

    Parameters
    ----------
    values : ndarray of shape (rows, columns)
        Finite numbers.
    weights : list of (int, int)
        For each column an integer and an exponent of two.
    constant : (int, int)
    pause : callable
        Called between pieces of work.
    """
    n_rows, n_columns = values.shape
    nothing = np.zeros(n_rows, dtype=bool)
    if n_columns == 0:
        return np.full(n_rows, constant[0] == 0)
    if n_columns >= MOST_COLUMNS or not values.size:
        return nothing
    if values.dtype.kind != "f" and max(int(values.max()), -int(values.min())) > np.iinfo(np.int64).max:
        return nothing
    mantissas, shifts, grid = _on_grid(values)
    parts = [(w, e + g) for (w, e), g in zip(weights, grid, strict=True)] + [constant]
    low = min((e for w, e in parts if w), default=0)
    longest = max((abs(w).bit_length() + e - low for w, e in parts if w), default=0)
    if longest > BITS * min(MOST_LIMBS, 4 * NUMBERS_AT_A_TIME // len(parts)):
        return nothing
    limbs = _weight_limbs([w << (e - low) if w else 0 for w, e in parts], longest)
    lengths = np.frexp(np.abs(mantissas).astype(np.float64))[1] + shifts
    n_value = max(1, -(-int(lengths.max(initial=0)) // BITS))
    if n_value * limbs.shape[1] > MOST_LIMBS:
        return nothing
    found = []
    step = max(1, NUMBERS_AT_A_TIME // (n_value + limbs.shape[1]))
    for start in range(0, n_rows, step):
        here = slice(start, start + step)
        found.append(_vanishing(mantissas[here], shifts[here], limbs, n_value, pause))
    return np.concatenate(found)


def _vanishing(mantissas: Ints, shifts: Ints, limbs: Floats, n_value: int, pause: Pause) -> Mask:
    """Say which rows of integers ``mantissas << shifts`` sum to zero with the weights of these limbs."""
    sums = np.zeros((len(mantissas), n_value + limbs.shape[1]), dtype=np.int64)
    sums[:, : limbs.shape[1]] += limbs[-1].astype(np.int64)  # the constant, times one
    size, sign = np.abs(mantissas), np.sign(mantissas)
    for k in range(n_value):
        pause()
        by = BITS * k - shifts
        part = np.where(by >= 0, size >> np.clip(by, 0, 63), size << np.clip(-by, 0, BITS)) & LIMB
        part[by <= -BITS] = 0
        products = (part * sign).astype(np.float64) @ limbs[:-1]
        sums[:, k : k + limbs.shape[1]] += products.astype(np.int64)
    wrong = np.zeros(len(sums), dtype=bool)
    carry = np.zeros(len(sums), dtype=np.int64)
    for column in sums.T:
        total = column + carry
        wrong |= (total & LIMB) != 0
        carry = total >> BITS
    found: Mask = ~wrong & (carry == 0)
    return found


def _weight_limbs(whole: list[int], bits: int) -> Floats:
    """Return integers of at most this many bits as rows of signed limbs, the lowest limb first."""
    table = np.zeros((len(whole), max(1, -(-bits // BITS))))
    for i, w in enumerate(whole):
        size, k = abs(w), 0
        while size:
            table[i, k] = (size & LIMB) if w > 0 else -(size & LIMB)
            size >>= BITS
            k += 1
    return table


def _on_grid(values: NDArray[Any]) -> tuple[Ints, Ints, list[int]]:
    """Write each number exactly as ``(mantissa << shift) * 2**grid``, with one grid for each column."""
    if values.dtype.kind == "f":
        fraction, exponent = np.frexp(values.astype(np.float64))
        mantissas = np.ldexp(fraction, 53).astype(np.int64)
        exponents = exponent.astype(np.int64) - 53
    else:
        mantissas, exponents = values.astype(np.int64), np.zeros(values.shape, dtype=np.int64)
    trailing = np.zeros(values.shape, dtype=np.int64)
    lowest = mantissas & -mantissas
    used = lowest > 0
    trailing[used] = np.frexp(lowest[used].astype(np.float64))[1] - 1
    mantissas, exponents = mantissas >> trailing, exponents + trailing
    far = np.iinfo(np.int64).max
    grid = np.where(used, exponents, far).min(axis=0, initial=far)
    grid[grid == far] = 0
    return mantissas, np.where(used, exponents - grid, 0), grid.tolist()
