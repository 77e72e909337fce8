"""Which of many rows lie exactly on a plane: sums of products of whole numbers of any length, cut into limbs.

Numbers and weights are cut into limbs of 18 bits. Products of limbs are below 2**36, so that sums of up to
2**17 of them are exact in float64, and one matrix product adds up those of many rows. Carrying from limb to
limb tells whether the whole sum is zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..deadline import NEVER
from .work_limit import Pause

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

BITS = 18
LIMB = (1 << BITS) - 1
MOST_COLUMNS = 1 << 17
LONGEST = 1 << 62  # the largest whole number that is cut
MOST_LIMBS = 1 << 12  # of numbers times those of weights; beyond, rows are better scored one by one
AT_A_TIME = 1 << 20  # limbs of sums
MOST_WEIGHTS = 1 << 22  # limbs of all weights


def exactly_zero(
    values: NDArray[Any],
    weights: list[tuple[int, int]],
    constant: tuple[int, int],
    pause: Pause = NEVER.need,
) -> Mask:
    """Which rows have ``sum_j w_j x_j + constant == 0``; False also where it takes too many limbs to tell.

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
    if n_columns >= MOST_COLUMNS or not values.size:
        return nothing
    if values.dtype.kind != "f" and max(int(values.max()), -int(values.min())) > LONGEST:
        return nothing
    mantissas, shifts, grid = _on_grid(values)
    parts = [(w, e + g) for (w, e), g in zip(weights, grid, strict=True)] + [constant]
    low = min((e for w, e in parts if w), default=0)
    longest = max((abs(w).bit_length() + e - low for w, e in parts if w), default=0)
    if longest > BITS * min(MOST_LIMBS, MOST_WEIGHTS // len(parts)):
        return nothing
    limbs = _weight_limbs([w << (e - low) if w else 0 for w, e in parts], longest)
    lengths = np.frexp(np.abs(mantissas).astype(np.float64))[1] + shifts
    n_value = max(1, -(-int(lengths.max(initial=0)) // BITS))
    if n_value * limbs.shape[1] > MOST_LIMBS:
        return nothing
    found = []
    step = max(1, AT_A_TIME // (n_value + limbs.shape[1]))
    for start in range(0, n_rows, step):
        here = slice(start, start + step)
        found.append(_vanishing(mantissas[here], shifts[here], limbs, n_value, pause))
    return np.concatenate(found)


def _vanishing(mantissas: Ints, shifts: Ints, limbs: Floats, n_value: int, pause: Pause) -> Mask:
    """Which rows of integers ``mantissas << shifts`` have a sum of zero with the weights of these limbs."""
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
    """Integers of so many bits as rows of limbs with their sign, the lowest first."""
    table = np.zeros((len(whole), max(1, -(-bits // BITS))))
    for i, w in enumerate(whole):
        size, k = abs(w), 0
        while size:
            table[i, k] = (size & LIMB) if w > 0 else -(size & LIMB)
            size >>= BITS
            k += 1
    return table


def _on_grid(values: NDArray[Any]) -> tuple[Ints, Ints, list[int]]:
    """Each number as ``(mantissa << shift) * 2**grid`` with the grid of its column: exactly."""
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
