"""Compiled readers of columns: numbers that lie in memory column by column become rows of float64.

A column is a row of whole numbers, ``state[k]``, with the fields below: where its next value is, of what type
it is, how many there are. Those of a Parquet page may also be *codes*, which stand for entries of a
dictionary: runs of equal codes, and runs of packed ones (the "RLE/bit-packing hybrid" of that format).
Nothing outside of the bytes that a column is said to have is read, whatever they hold.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .compiling import loop

# Fields of a column: the type of its values, the address of the next one, the end of the bytes, the values
# left; of codes: their bits, the codes left in this run, whether it repeats one code and which (else how many
# bits of it were read, and how many bytes it has), the dictionary's address and size.
KIND, AT, END, LEFT, BITS, RUN, REPEATS, CODE, READ, BYTES, WORDS, SIZE = range(12)
FIELDS = 12
DOUBLE, FLOAT, LONG, INT, CODES = range(5)
SIZES = {DOUBLE: 8, FLOAT: 4, LONG: 8, INT: 4}  # bytes of a value

LONGEST = 1 << 33  # header of a run: a page has fewer values
BLOCK = 1 << 15  # numbers of a block: it stays in the cache until its rows are complete
LEAST, MOST = 32, 512  # rows of one
SIDE = 4  # rows and columns that are turned together, in registers
# The bits of 2**52 and of 2**84 + 2**63, as floats; what halves of numbers put there are too large by.
TWO_52, TWO_84, HALF, OFFSET = 0x4330000000000000, 0x4530000080000000, 0xFFFFFFFF, 2.0**84 + 2.0**63 + 2.0**52


@intrinsic
def value_at(context: Any, address: Any, place: Any, like: Any) -> Any:
    """Return the number at a place of an array of the type of ``like`` that begins at any address."""

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        start = builder.inttoptr(arguments[0], target.get_data_type(like).as_pointer())
        return builder.load(builder.gep(start, [arguments[1]]), align=1)

    return like(types.int64, types.int64, like), generate


@intrinsic
def float_of(context: Any, bits: Any) -> Any:
    """Return the float64 that has these bits."""

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


@intrinsic
def turn_square(context: Any, columns: Any, limits: Any, out: Any, width: Any) -> Any:
    """Turn SIDE numbers of each of SIDE columns of float64; return whether none is NaN or beyond its limit.

    ``columns`` are the addresses to read from, ``out`` is the one to write to, in rows of ``width`` numbers.
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
        turned = [shuffled(builder, ab[half], cd[half], side) for side in (left, right) for half in (0, 1)]
        start = builder.inttoptr(arguments[2], float64.as_pointer())
        for i, row in enumerate(turned):
            place = builder.gep(start, [builder.mul(arguments[3], word(i))])
            builder.store(row, builder.bitcast(place, floats.as_pointer()), align=8)
        every = builder.bitcast(functools.reduce(builder.and_, good), ir.IntType(SIDE))
        return builder.icmp_unsigned("==", every, every.type((1 << SIDE) - 1))

    addresses, bounds = types.UniTuple(types.int64, SIDE), types.UniTuple(types.float64, SIDE)
    return types.boolean(addresses, bounds, types.int64, types.int64), generate


def shuffled(builder: Any, one: Any, other: Any, places: list[int]) -> Any:
    """A vector of entries of two others."""
    return builder.shuffle_vector(one, other, ir.Constant(ir.VectorType(ir.IntType(32), len(places)), places))


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
        # have an instruction for one number only.
        for i in range(out.shape[0]):
            bits = value_at(at, i, np.int64(0))
            high = float_of(((bits >> 32) & HALF) ^ TWO_84) - OFFSET
            out[i] = high + float_of((bits & HALF) | TWO_52)


@loop(reorder=False)
def byte_at(at: int) -> Any:
    """Return the byte at an address."""
    return np.int64(value_at(at, 0, np.uint8(0)))


@loop(reorder=False)
def varint(at: int, end: int) -> tuple[int, int]:
    """Read a number in groups of seven bits, the lowest first: the value, or -1, and its end."""
    value, shift = np.int64(0), 0
    while at < end and shift < 63:
        byte = byte_at(at)
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
    return -1, at


@loop(reorder=False)
def unpack(at: int, end: int, read: int, bits: int, words: int, last: int, out: Any) -> Any:
    """Fill an array with what packed codes stand for; return whether all stand for something.

    The codes begin ``read`` bits behind ``at``; ``last`` is the largest one.
    """
    mask, worst = (np.int64(1) << bits) - 1, np.int64(0)
    # Eight bytes are read for each code, as long as there are so many.
    whole = max(0, min(out.shape[0], ((end - at - 8) * 8 + 7 - read) // max(1, bits) + 1))
    for i in range(whole):
        bit = read + i * bits
        code = (value_at(at + (bit >> 3), 0, np.int64(0)) >> (bit & 7)) & mask
        worst = max(worst, code)
        out[i] = value_at(words, min(code, last), np.float64(0))
    for i in range(whole, out.shape[0]):
        bit, code = read + i * bits, np.int64(0)
        for k in range(bits):
            code |= ((byte_at(at + ((bit + k) >> 3)) >> ((bit + k) & 7)) & 1) << k
        worst = max(worst, code)
        out[i] = value_at(words, min(code, last), np.float64(0))
    return worst <= last


@loop(reorder=False)
def unpack_bits(at: int, words: int, out: Any) -> None:
    """Fill an array with what codes of one bit stand for, eight at a time, from the beginning of a byte."""
    no, yes = value_at(words, 0, np.float64(0)), value_at(words, 1, np.float64(0))
    for start in range(0, out.shape[0] - 7, 8):
        byte = byte_at(at + (start >> 3))
        for k in range(8):
            out[start + k] = yes if byte & (1 << k) else no
    rest = out.shape[0] & 7
    if rest:
        byte = byte_at(at + (out.shape[0] >> 3))
        for k in range(rest):
            out[out.shape[0] - rest + k] = yes if byte & (1 << k) else no


@loop(reorder=False)
def look_up(column: Any, out: Any) -> bool:
    """Fill an array with what the next codes stand for; return whether the codes make sense."""
    at, end, bits, words, last = column[AT], column[END], column[BITS], column[WORDS], column[SIZE] - 1
    run, repeats, code, read, size = column[RUN], column[REPEATS], column[CODE], column[READ], column[BYTES]
    done = 0
    while done < out.shape[0]:
        if run == 0:
            header, at = varint(at, end)
            if header < 0 or header > LONGEST:
                return False
            run, repeats = header >> 1, 1 - (header & 1)
            if repeats:
                size, code = (bits + 7) >> 3, np.int64(0)
                if at + size > end:
                    return False
                for k in range(size):
                    code |= byte_at(at + k) << (8 * k)
                if code > last:
                    return False
                at += size
            else:
                # Some writers leave out the end of the last run, which no value needs.
                size, read = min(run * bits, end - at), np.int64(0)
                run = run * 8 if bits == 0 else min(run * 8, size * 8 // bits)
            continue
        count = min(run, out.shape[0] - done)
        if repeats:
            part, value = out[done : done + count], value_at(words, code, np.float64(0))
            for i in range(part.shape[0]):
                part[i] = value
        else:
            if bits == 1 and last == 1 and read & 7 == 0:
                unpack_bits(at + (read >> 3), words, out[done : done + count])
            elif not unpack(at, end, read, bits, words, last, out[done : done + count]):
                return False
            read += count * bits
            if count == run:
                at += size
        run -= count
        done += count
    column[AT], column[RUN], column[REPEATS], column[CODE] = at, run, repeats, code
    column[READ], column[BYTES] = read, size
    return True


@loop(reorder=False)
def all_there(at: int, end: int, count: int) -> bool:
    """Whether none of so many values is missing: their definition levels, one bit each, are all one."""
    while count > 0:
        header, at = varint(at, end)
        size = header >> 1
        if header <= 0 or header > LONGEST:
            return False
        if header & 1:
            needed = min(size, (count + 7) >> 3)
            if needed > end - at:
                return False
            for k in range(needed):
                ones = (1 << min(8, count - 8 * k)) - 1
                if byte_at(at + k) & ones != ones:
                    return False
            at, count = at + size, count - 8 * size
        else:
            if at >= end or byte_at(at) != 1:
                return False
            at, count = at + 1, count - size
    return True


@loop(reorder=False)
def page_header(at: int, end: int, facts: Any) -> int:
    """Read the header of a Parquet page, in Thrift's compact protocol; return where it ends, 0 if nowhere.

    ``facts[0, n]`` becomes field n of it, ``facts[m, n]`` field n of the structure in field m, as far as they
    are whole numbers, true (1) or false (0); what is not there stays as it was. The last row is for the loop.
    """
    room, depth, outer, number = facts.shape[0] - 1, 0, 0, np.int64(0)
    while at < end:
        byte = byte_at(at)
        at += 1
        if byte == 0:
            if depth == 0:
                return at
            depth -= 1
            number = facts[room, depth]
            continue
        kind = byte & 15
        if byte >> 4:
            number += byte >> 4
        else:
            value, at = varint(at, end)
            number = (value >> 1) ^ -(value & 1)
        if kind == 12:
            if depth == 3:
                return 0
            facts[room, depth] = number
            outer = number if depth == 0 else outer
            depth, number = depth + 1, np.int64(0)
            continue
        value = np.int64(kind == 1)
        if kind == 3 or kind == 7:
            at += 1 if kind == 3 else 8
        elif kind > 8:
            return 0
        elif kind > 3:
            value, at = varint(at, end)
            if value < 0:
                return 0
            if kind == 8:
                if value > end - at:
                    return 0
                at += value
            else:
                value = (value >> 1) ^ -(value & 1)
        place = 0 if depth == 0 else outer
        if depth <= 1 and kind < 7 and kind != 3 and 0 <= place < room and 0 < number < facts.shape[1]:
            facts[place, number] = value
    return 0


@loop(reorder=False)
def step(column: Any, rows: int, spare: Any) -> int:
    """Read so many values; return the address of them as float64 (0 if there is no sense in the codes)."""
    kind, at = column[KIND], column[AT]
    column[LEFT] -= rows
    if kind == CODES:
        return spare.ctypes.data if look_up(column, spare[:rows]) else 0
    column[AT] = at + rows * (8 if kind == DOUBLE or kind == LONG else 4)
    if kind == DOUBLE:
        return at
    convert(kind, at, spare[:rows])
    return spare.ctypes.data


@loop(reorder=False)
def turn(places: Any, limits: Any, matrix: Any) -> bool:
    """Fill the rows of a matrix from columns of float64 at some addresses; return whether all are good.

    A good number is no NaN and not larger than the limit of its column.
    """
    height, width = matrix.shape
    tall, wide = height - height % SIDE, width - width % SIDE
    good = True
    for k in range(0, wide, SIDE):
        a, b, c, d = places[k], places[k + 1], places[k + 2], places[k + 3]
        bounds = (limits[k], limits[k + 1], limits[k + 2], limits[k + 3])
        out = matrix.ctypes.data + 8 * k
        for i in range(0, tall, SIDE):
            here = (a + 8 * i, b + 8 * i, c + 8 * i, d + 8 * i)
            good &= turn_square(here, bounds, out + 8 * i * width, width)
    for k in range(width):
        for i in range(tall if k < wide else 0, height):
            matrix[i, k] = value_at(places[k], i, np.float64(0))
            good &= abs(matrix[i, k]) <= limits[k]
    return good


@loop(reorder=False)
def fill(state: Any, limits: Any, matrix: Any, labels: Any, start: int, room: Any) -> tuple[int, bool, bool]:
    """Fill the rows of a matrix from ``start`` on, as long as every column has values left.

    If there is one column more than the matrix has, it goes to the labels. ``room`` is (an address for each
    column, float64 for a block of each column). Returns the rows that are full, whether all numbers are good,
    and whether all codes make sense.
    """
    places, spare = room
    good = True
    while start < matrix.shape[0]:
        rows = min(matrix.shape[0] - start, spare.shape[1])
        for k in range(state.shape[0]):
            rows = min(rows, state[k, LEFT])
        if rows == 0:
            break
        for k in range(state.shape[0]):
            places[k] = step(state[k], rows, spare[k])
            if places[k] == 0:
                return start, good, False
        good &= turn(places, limits, matrix[start : start + rows])
        if state.shape[0] > matrix.shape[1]:
            convert(DOUBLE, places[matrix.shape[1]], labels[start : start + rows])
        start += rows
    return start, good, True
