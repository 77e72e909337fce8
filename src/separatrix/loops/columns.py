"""Compiled transpose: columns of numbers, as Arrow keeps them in memory, become rows of float64.

A column is a row of whole numbers, ``columns[k]``: the type of its values, and the address of the next one.
The caller keeps the buffers behind the addresses alive, and says how many rows they have.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from .compiling import by_hand, loop
from .layouts import DOUBLE, FLOAT, INT, LONG

KIND, AT = range(2)  # fields of a column
SIDE = 4  # rows and columns that are transposed together, in registers
# A float64 of 2**52 has a last place of 1, one of 2**84 a last place of 2**32: a whole number of 32 bits
# written into the lower half of such a float is added to it exactly. These are the bits of 2**52 and of
# 2**84 + 2**63 (which makes the sign bit of the upper half count as it should), and the sum of both.
TWO_52, TWO_84, LOWER_HALF, BOTH = (
    0x4330000000000000,
    0x4530000080000000,
    0xFFFFFFFF,
    2.0**84 + 2.0**63 + 2.0**52,
)


@loop(reorder=False)
def fill(columns: Any, limits: Any, matrix: Any, room: Any) -> bool:
    """Fill the rows of a matrix with the next values of every column, and move the addresses on.

    The matrix is C-contiguous, and every buffer has as many values left as it has rows. ``room`` is (an
    address for each column, float64 for a block of each column). Returns whether every number is good: not
    NaN, and in magnitude not larger than the limit of its column.
    """
    places, spare = room
    good = True
    for start in range(0, matrix.shape[0], spare.shape[1]):
        rows = min(matrix.shape[0] - start, spare.shape[1])
        for k in range(columns.shape[0]):
            places[k] = as_doubles(columns[k], rows, spare[k])
        good &= transpose(places, limits, matrix[start : start + rows])
    return good


@loop(reorder=False)
def as_doubles(column: Any, rows: int, spare: Any) -> int:
    """Move on by so many values; return the address of them as float64.

    That is the column itself, or ``spare``, which outlives the block that is transposed from it.
    """
    kind, at = column[KIND], column[AT]
    column[AT] = at + rows * (8 if kind == DOUBLE or kind == LONG else 4)
    if kind == DOUBLE:
        return at
    convert(kind, at, spare[:rows])
    return spare.ctypes.data


@loop(reorder=False)
def convert(kind: int, at: int, out: Any) -> None:
    """Fill an array with the numbers of a type at an address."""
    if kind == DOUBLE:
        for i in range(out.shape[0]):
            out[i] = value_at(at, i, np.float64(0))
    elif kind == FLOAT:
        for i in range(out.shape[0]):
            out[i] = np.float64(value_at(at, i, np.float32(0)))
    elif kind == INT:
        for i in range(out.shape[0]):
            out[i] = np.float64(value_at(at, i, np.int32(0)))
    else:
        # Both halves become floats by their bits, and are exact: only the sum is rounded. Many processors
        # can convert whole numbers of 64 bits one at a time only; this way several are done at once.
        for i in range(out.shape[0]):
            bits = value_at(at, i, np.int64(0))
            high = float_of(((bits >> 32) & LOWER_HALF) ^ TWO_84) - BOTH
            out[i] = high + float_of((bits & LOWER_HALF) | TWO_52)


@loop(reorder=False)
def transpose(places: Any, limits: Any, matrix: Any) -> bool:
    """Fill the rows of a matrix from columns of float64 at some addresses; return whether all are good."""
    height, width = matrix.shape
    tall, wide = height - height % SIDE, width - width % SIDE
    good = True
    for k in range(0, wide, SIDE):
        a, b, c, d = places[k], places[k + 1], places[k + 2], places[k + 3]
        bounds = (limits[k], limits[k + 1], limits[k + 2], limits[k + 3])
        out = matrix.ctypes.data + 8 * k
        for i in range(0, tall, SIDE):
            here = (a + 8 * i, b + 8 * i, c + 8 * i, d + 8 * i)
            good &= transpose_square(here, bounds, out + 8 * i * width, width)
    for k in range(width):
        for i in range(tall if k < wide else 0, height):
            matrix[i, k] = value_at(places[k], i, np.float64(0))
            good &= abs(matrix[i, k]) <= limits[k]
    return good


def _transpose_square(columns: Any, limits: Any, out: int, width: int) -> bool:
    rows = np.array([[value_at(at, i, np.float64(0)) for at in columns] for i in range(SIDE)])
    for i, row in enumerate(rows):
        (ctypes.c_double * SIDE).from_address(out + 8 * i * width)[:] = row.tolist()
    return bool((abs(rows) <= limits).all())


@by_hand(_transpose_square)
def transpose_square(context: Any, columns: Any, limits: Any, out: Any, width: Any) -> Any:
    """Transpose SIDE numbers of each of SIDE columns of float64; return whether all are good.

    ``columns`` are the addresses to read from, ``out`` is the one to write to, in rows of ``width`` numbers.
    The columns have SIDE numbers left there, and the matrix SIDE rows; the caller sees to both.
    """

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word, float64 = ir.IntType(64), ir.DoubleType()
        words, floats = ir.VectorType(word, SIDE), ir.VectorType(float64, SIDE)
        unsigned = ir.Constant(words, [(1 << 63) - 1] * SIDE)
        read, good = [], []
        for k in range(SIDE):
            place = builder.inttoptr(builder.extract_value(arguments[0], k), floats.as_pointer())
            read.append(builder.load(place, align=1))
            limit = builder.extract_value(arguments[1], k)
            limit = builder.insert_element(ir.Constant(floats, ir.Undefined), limit, word(0))
            size = builder.bitcast(builder.and_(builder.bitcast(read[k], words), unsigned), floats)
            good.append(builder.fcmp_ordered("<=", size, shuffled(builder, limit, limit, [0] * SIDE)))
        a, b, c, d = read
        low, high = [0, 4, 2, 6], [1, 5, 3, 7]
        left, right = [0, 1, 4, 5], [2, 3, 6, 7]
        ab, cd = ([shuffled(builder, *two, half) for half in (low, high)] for two in ((a, b), (c, d)))
        rows = [shuffled(builder, ab[half], cd[half], side) for side in (left, right) for half in (0, 1)]
        start = builder.inttoptr(arguments[2], float64.as_pointer())
        for i, row in enumerate(rows):
            place = builder.gep(start, [builder.mul(arguments[3], word(i))])
            builder.store(row, builder.bitcast(place, floats.as_pointer()), align=8)
        every = builder.bitcast(functools.reduce(builder.and_, good), ir.IntType(SIDE))
        return builder.icmp_unsigned("==", every, every.type((1 << SIDE) - 1))

    addresses, bounds = types.UniTuple(types.int64, SIDE), types.UniTuple(types.float64, SIDE)
    return types.boolean(addresses, bounds, types.int64, types.int64), generate


def shuffled(builder: Any, one: Any, other: Any, places: list[int]) -> Any:
    """A vector of entries of two others."""
    return builder.shuffle_vector(one, other, ir.Constant(ir.VectorType(ir.IntType(32), len(places)), places))


def _value_at(address: int, place: int, like: Any) -> Any:
    start = int(address) + place * like.nbytes
    return np.frombuffer((ctypes.c_char * like.nbytes).from_address(start), dtype=like.dtype)[0]


@by_hand(_value_at)
def value_at(context: Any, address: Any, place: Any, like: Any) -> Any:
    """Return the number at a place of an array of the type of ``like`` that begins at any address."""

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        start = builder.inttoptr(arguments[0], target.get_data_type(like).as_pointer())
        return builder.load(builder.gep(start, [arguments[1]]), align=1)

    return like(types.int64, types.int64, like), generate


@by_hand(lambda bits: bits.view(np.float64))
def float_of(context: Any, bits: Any) -> Any:
    """Return the float64 that has these bits."""

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate
