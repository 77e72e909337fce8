"""Sums of products of floats, rounded once: products as two floats, or slices that multiply exactly."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from ...result import Floats
from ...sparse import sparse

PIECE = 1 << 18  # products split at a time
SPLITTER = 134217729.0  # 2**27 + 1
UNIT = 2.0**-53
UNDERFLOW = 2.0**-960  # above all that underflow may take from a sum of products of numbers below one
UP = 1.0 + 2.0**-50  # above the rounding of the few operations that follow a sum


def length_bounds(values: Floats) -> tuple[float, float]:
    """Bounds of the length of a vector below and above."""
    scale = power_of(values)
    flat = np.ldexp(values.ravel(), -scale)
    square = math.fsum((flat * flat).tolist())
    low, high = math.sqrt(square / UP), math.sqrt((square + flat.size * 2.0**-1000) * UP)
    return math.ldexp(low / UP, scale), math.ldexp(high * UP, scale)


def power_of(values: Floats) -> int:
    """The exponent of two that brings the largest of some numbers below one."""
    return int(np.frexp(np.abs(values).max(initial=0.0))[1])


def scaled_columns(matrix: Any) -> tuple[Any, Any]:
    """Columns divided by powers of two that bring their largest numbers below one, and these powers."""
    if sparse.issparse(matrix):
        matrix = sparse.csr_array(matrix, copy=True)
        top = np.zeros(matrix.shape[1])
        np.maximum.at(top, matrix.indices, np.abs(matrix.data))
        powers = np.frexp(top)[1]
        matrix.data = np.ldexp(matrix.data, -powers[matrix.indices])
        return matrix, powers
    powers = np.frexp(np.abs(matrix).max(axis=0, initial=0.0))[1]
    return np.ldexp(matrix, -powers), powers


def sums(matrix: Any, vector: Floats, scale: int) -> Iterator[float]:
    """``matrix @ vector / 2**scale``, each entry rounded once."""
    return map(math.fsum, terms(matrix, vector, scale))


def terms(matrix: Any, vector: Floats, scale: int) -> Iterator[list[float]]:
    """For each row floats whose exact sum is that of its products with the vector, over ``2**scale``.

    Sparse numbers are multiplied one by one, each product as two floats. Dense ones are cut into slices,
    whose matrix products are exact: a few floats a row, whatever its length. `lost` bounds what is missing.
    """
    if sparse.issparse(matrix):
        matrix = sparse.csr_array(matrix)
        starts = matrix.indptr.tolist()
        high, low = split_products(np.ldexp(matrix.data, -scale), vector[matrix.indices])
        for start, stop in pairwise(starts):
            yield high[start:stop].tolist() + low[start:stop].tolist()
        return
    power, bits = power_of(vector), _slice_bits(vector.size)
    v = np.ldexp(vector, -power)
    v1, v2, v3, v4 = _cut(v, bits)
    step = max(1, PIECE // max(1, matrix.shape[1]))
    for start in range(0, matrix.shape[0], step):
        a1, a2, a3, a4 = _cut(np.ldexp(matrix[start : start + step], -scale), bits)
        first = a1 @ np.column_stack([v1, v2, v3, v4])
        second = a2 @ np.column_stack([v1, v2, v3 + v4])
        third = a3 @ np.column_stack([v1, v2 + (v3 + v4)])
        rest = first[:, 3] + second[:, 2] + third[:, 1] + a4 @ v  # all but this is exact
        parts = np.column_stack([first[:, :3], second[:, :2], third[:, :1], rest])
        yield from np.ldexp(parts, power).tolist()


def _slice_bits(count: int) -> int:
    """How long slices are so that sums of so many products of two of them are exact in 53 bits."""
    return (51 - math.ceil(math.log2(count + 1))) // 2


def _cut(values: Floats, bits: int) -> Iterator[Floats]:
    """Numbers below one as three slices, multiples of ``2**-bits`` and its powers, and what is left."""
    for each in range(1, 4):
        part = np.ldexp(np.rint(np.ldexp(values, each * bits)), -each * bits)
        yield part
        values = values - part
    yield values


def lost(vector: Floats) -> float:
    """A bound of what the terms of `terms` miss of a sum: rounding of the last one, and underflow."""
    count, size = vector.size, 2.0 ** max(0, power_of(vector))
    rounding = 8.0 * (count + 16) * 2.0**-52 * count * 2.0 ** (-3 * _slice_bits(count))
    return size * (rounding + UNDERFLOW * count)


def split_products(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Products of floats below one, each as the sum of two floats; exact but for underflow."""
    high = a * b
    a_high, b_high = _upper_half(a), _upper_half(b)
    a_low, b_low = a - a_high, b - b_high
    return high, ((a_high * b_high - high) + a_high * b_low + a_low * b_high) + a_low * b_low


def exact_sum(a: Floats, b: Floats) -> float:
    """The sum of products of two vectors, rounded once, but for products that underflow beside the others."""
    first, second = power_of(a), power_of(b)
    high, low = split_products(np.ldexp(a, -first), np.ldexp(b, -second))
    return float(np.ldexp(math.fsum([*high.tolist(), *low.tolist()]), first + second))


def _upper_half(values: Floats) -> Floats:
    shifted = SPLITTER * values
    return np.asarray(shifted - (shifted - values))
