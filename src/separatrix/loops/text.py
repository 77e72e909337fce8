"""Compiled readers of numbers in text: LIBSVM lines and plain CSV lines.

Decimal text becomes the nearest float64, as Python's ``float`` has it: exactly where digits and power of
ten are small (Clinger 1990), else in two floats, with the error bounded; what the bound does not decide is
left to the caller as *hard*. Sums must not be reordered here.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from .compiling import loop

# How a reader ends: all lines read, no room in the output, or something that is not a number.
DONE, FULL, BAD, RAGGED, HUGE = 0, 1, 2, 3, 4

SPACE, TAB, RETURN, NEWLINE, COLON, HASH, QUOTE = 32, 9, 13, 10, 58, 35, 34
PLUS, MINUS, POINT, ZERO, LOWER_E, UPPER_E = 43, 45, 46, 48, 101, 69

REACH = 290  # powers of ten whose product with 19 digits neither overflows nor leaves the normal floats
MOST_COLUMNS = 2**31 - 2


def _powers() -> Any:
    """10**e for e from -REACH to REACH as sums of two floats."""
    table = np.empty((2 * REACH + 1, 2))
    for e in range(-REACH, REACH + 1):
        exact = Fraction(10) ** e
        high = float(exact)
        table[e + REACH] = high, float(exact - Fraction(high))
    return table


POWERS = _powers()


@loop(reorder=False)
def split_product(a: float, b: float) -> tuple[float, float]:
    """Return a * b as a rounded product and its error (Dekker 1971)."""
    product = a * b
    c = 134217729.0 * a
    a_high = c - (c - a)
    a_low = a - a_high
    c = 134217729.0 * b
    b_high = c - (c - b)
    b_low = b - b_high
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


@loop(reorder=False)
def scaled(mantissa: Any, exponent: int, powers: Any) -> tuple[float, bool]:
    """Return mantissa * 10**exponent, rounded once, and whether that is certain."""
    if mantissa == np.uint64(0):
        return 0.0, True
    if mantissa <= np.uint64(9007199254740992) and -22 <= exponent <= 22:
        value = np.float64(mantissa)
        return (
            value * powers[REACH + exponent, 0] if exponent >= 0 else value / powers[REACH - exponent, 0]
        ), True
    if not -REACH <= exponent <= REACH - 20:
        return 0.0, False
    high = np.float64(mantissa >> np.uint64(11)) * 2048.0
    low = np.float64(mantissa & np.uint64(2047))
    product, error = split_product(high, powers[REACH + exponent, 0])
    rest = error + (high * powers[REACH + exponent, 1] + low * powers[REACH + exponent, 0])
    slack = product * 2.0**-95
    value = product + (rest - slack)
    return value, value == product + (rest + slack)


@loop(reorder=False)
def number(text: Any, at: int, powers: Any) -> tuple[float, int, bool]:
    """Read a number at a place: its value, its end (its beginning, if there is none), and if it is hard."""
    start = at
    negative = False
    byte = text[at]
    if byte == MINUS or byte == PLUS:
        negative = byte == MINUS
        at += 1
    mantissa, digits, exponent = np.uint64(0), 0, 0
    first = at
    while True:
        digit = np.uint8(text[at] - np.uint8(ZERO))
        if digit > 9:
            break
        mantissa = mantissa * np.uint64(10) + np.uint64(digit)
        at += 1
    digits = at - first
    if text[at] == POINT:
        at += 1
        first = at
        while True:
            digit = np.uint8(text[at] - np.uint8(ZERO))
            if digit > 9:
                break
            mantissa = mantissa * np.uint64(10) + np.uint64(digit)
            at += 1
        exponent = first - at
        digits += at - first
    if digits == 0:
        return 0.0, start, False
    if text[at] == LOWER_E or text[at] == UPPER_E:
        after = at + 1
        below = text[after] == MINUS
        if below or text[after] == PLUS:
            after += 1
        power, first = 0, after
        while True:
            digit = np.uint8(text[after] - np.uint8(ZERO))
            if digit > 9:
                break
            if power < 100000:
                power = power * 10 + int(digit)
            after += 1
        if after == first:
            return 0.0, start, False
        exponent += -power if below else power
        at = after
    if digits > 19:
        return 0.0, at, True
    value, certain = scaled(mantissa, exponent, powers)
    return (-value if negative else value), at, not certain


@loop(reorder=False)
def libsvm_lines(text: Any, powers: Any, rows: Any, entries: Any, hard: Any) -> tuple[int, int, int]:
    """Read LIBSVM lines that end the text with a newline: ``label index:value ... # comment``.

    ``rows`` is (labels, indptr), ``entries`` is (indices, data); column numbers are as they stand.
    ``hard`` collects (begin, end, entry or -1 - row) of the numbers that are left to the caller.
    Returns how it ended, where, and how many rows there are.
    """
    labels, indptr = rows
    indices, data = entries
    at, size, row, entry, left = 0, text.shape[0], 0, 0, 1
    indptr[0] = 0
    while at < size:
        while text[at] == SPACE or text[at] == TAB:
            at += 1
        if text[at] == RETURN or text[at] == NEWLINE or text[at] == HASH:
            while text[at] != NEWLINE:
                at += 1
            at += 1
            continue
        if row == labels.shape[0]:
            return FULL, at, row
        value, end, is_hard = number(text, at, powers)
        if end == at:
            return BAD, at, row
        if is_hard:
            if left == hard.shape[0]:
                return FULL, at, row
            hard[left, 0], hard[left, 1], hard[left, 2] = at, end, -1 - row
            left += 1
        labels[row] = value
        at = end
        last = -1
        while True:
            byte = text[at]
            if byte == NEWLINE:
                at += 1
                break
            if byte == RETURN or byte == HASH:
                while text[at] != NEWLINE:
                    at += 1
                at += 1
                break
            if byte != SPACE and byte != TAB:
                return BAD, at, row
            while text[at] == SPACE or text[at] == TAB:
                at += 1
            byte = text[at]
            if byte == NEWLINE or byte == RETURN or byte == HASH:
                continue
            begin, index = at, 0
            while True:
                digit = np.uint8(text[at] - np.uint8(ZERO))
                if digit > 9:
                    break
                if index <= MOST_COLUMNS:
                    index = index * 10 + int(digit)
                at += 1
            if at == begin:
                # "qid:7" groups rows for ranking; it is no column.
                if text[at] == 113 and text[at + 1] == 105 and text[at + 2] == 100 and text[at + 3] == COLON:
                    while text[at] != SPACE and text[at] != NEWLINE:
                        at += 1
                    continue
                return BAD, begin, row
            if text[at] != COLON:
                return BAD, begin, row
            if index > MOST_COLUMNS:
                return HUGE, begin, row
            if index <= last:
                return RAGGED, begin, row
            last = index
            at += 1
            value, end, is_hard = number(text, at, powers)
            if end == at:
                return BAD, at, row
            if is_hard:
                if left == hard.shape[0]:
                    return FULL, at, row
                hard[left, 0], hard[left, 1], hard[left, 2] = at, end, entry
                left += 1
            indices[entry] = index
            data[entry] = value
            entry += 1
            at = end
        row += 1
        indptr[row] = entry
    hard[0, 0] = left
    return DONE, at, row


@loop(reorder=False)
def csv_lines(text: Any, delimiter: int, powers: Any, places: Any, out: Any) -> tuple[int, int, int]:
    """Read CSV lines of plain numbers that end the text with a newline.

    ``places[k]`` says where cell k goes: to a column of the matrix, to the labels (-1) or nowhere (-2);
    ``out`` is (matrix, labels, hard), as in `libsvm_lines`; an entry is a cell of the matrix, by number.
    Anything else than so many numbers a line (quotes, blank lines, missing values) ends the reading.
    """
    matrix, labels, hard = out
    at, size, row, left, last = 0, text.shape[0], 0, 1, places.shape[0] - 1
    while at < size:
        for k in range(last + 1):
            place = places[k]
            if place == -2:
                while text[at] != delimiter and text[at] != NEWLINE:
                    if text[at] == QUOTE:
                        return BAD, at, row
                    at += 1
            else:
                digit = np.uint8(text[at] - np.uint8(ZERO))
                if digit <= 9 and text[at + 1] == delimiter:  # most cells of indicator columns
                    value, end, is_hard = float(digit), at + 1, False
                else:
                    value, end, is_hard = number(text, at, powers)
                if end == at:
                    return BAD, at, row
                if is_hard:
                    if left == hard.shape[0]:
                        return FULL, at, row
                    hard[left, 0], hard[left, 1] = at, end
                    hard[left, 2] = -1 - row if place == -1 else row * matrix.shape[1] + place
                    left += 1
                if place == -1:
                    labels[row] = value
                else:
                    matrix[row, place] = value
                at = end
            if k < last:
                if text[at] != delimiter:
                    return BAD, at, row
                at += 1
        if text[at] == RETURN:
            at += 1
        if text[at] != NEWLINE:
            return BAD, at, row
        at += 1
        row += 1
    hard[0, 0] = left
    return DONE, at, row
