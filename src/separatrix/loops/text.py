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

# How a reader ends: all lines read, no room in the output, or something that is not a number; and, of LIBSVM
# lines, columns out of order, a column beyond all, a carriage return inside a line.
DONE, FULL, BAD, RAGGED, HUGE, STRAY = 0, 1, 2, 3, 4, 5

SPACE, TAB, RETURN, NEWLINE, COLON, HASH, QUOTE = 32, 9, 13, 10, 58, 35, 34
PLUS, MINUS, POINT, ZERO, NINE, LOWER_E, UPPER_E = 43, 45, 46, 48, 57, 101, 69

REACH = 290  # powers of ten whose product with 19 digits neither overflows nor leaves the normal floats
MOST_COLUMNS = 2**31 - 2
EXACT_WHOLE = 2**53  # all whole numbers up to this one are floats


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
    if mantissa <= np.uint64(EXACT_WHOLE) and -22 <= exponent <= 22:
        value = np.float64(mantissa)
        return (
            value * powers[REACH + exponent, 0] if exponent >= 0 else value / powers[REACH - exponent, 0]
        ), True
    if not -REACH <= exponent <= REACH - 20:
        return 0.0, False
    # Both parts are exact. Where the low one is not zero, it is below 2**-42 of the high one.
    tail = np.uint64(2047) if mantissa > np.uint64(EXACT_WHOLE) else np.uint64(0)
    high, low = np.float64(mantissa & ~tail), np.float64(mantissa & tail)
    product, error = split_product(high, powers[REACH + exponent, 0])
    rest = error + (high * powers[REACH + exponent, 1] + low * powers[REACH + exponent, 0])
    # The rest is below 2**-41 of the product; the roundings in it and in the power are below 2**-92 of that.
    slack = product * 2.0**-92
    value = product + (rest - slack)
    return value, value == product + (rest + slack)


@loop(reorder=False)
def number(text: Any, at: int, powers: Any) -> tuple[float, int, bool]:
    """Read a number at a place: its value, its end (its beginning, if there is none), and if it is hard.

    A whole number beyond 2**53, written without point and power, is hard, too: it may be no float at all.
    """
    start, negative = at, text[at] == MINUS
    if negative or text[at] == PLUS:
        at += 1
    first = at
    mantissa, at = digits(text, at, np.uint64(0))
    count, exponent, whole = at - first, 0, True
    if text[at] == POINT:
        whole, first = False, at + 1
        mantissa, at = digits(text, first, mantissa)
        exponent = first - at
        count -= exponent
    if count == 0:
        return 0.0, start, False
    if text[at] == LOWER_E or text[at] == UPPER_E:
        power, end = power_of_ten(text, at + 1)
        if end == at + 1:
            return 0.0, start, False
        exponent += power
        at, whole = end, False
    if count > 19 or (whole and mantissa > np.uint64(EXACT_WHOLE)):
        return 0.0, at, True
    value, certain = scaled(mantissa, exponent, powers)
    return (-value if negative else value), at, not certain


@loop(reorder=False, forceinline=True)
def digits(text: Any, at: int, value: Any) -> tuple[Any, int]:
    """Append the digits at a place to a whole number; return it, and where they end. More than 19 wrap."""
    while True:
        digit = np.uint8(text[at] - np.uint8(ZERO))
        if digit > 9:
            return value, at
        value = value * np.uint64(10) + np.uint64(digit)
        at += 1


@loop(reorder=False, forceinline=True)
def power_of_ten(text: Any, start: int) -> tuple[int, int]:
    """Read what stands behind an ``e``: a power, and its end (its beginning, if there is none)."""
    at, below = start, text[start] == MINUS
    if below or text[at] == PLUS:
        at += 1
    power, first = 0, at
    while True:
        digit = np.uint8(text[at] - np.uint8(ZERO))
        if digit > 9:
            break
        if power < 100000:
            power = power * 10 + int(digit)
        at += 1
    return (-power if below else power), (at if at > first else start)


@loop(reorder=False)
def libsvm_lines(text: Any, powers: Any, rows: Any, entries: Any, hard: Any) -> tuple[int, int, int]:
    """Read LIBSVM lines that end the text with a newline: ``label index:value ... # comment``.

    ``rows`` is (labels, indptr), ``entries`` is (indices, data); column numbers are as they stand.
    ``hard`` collects (begin, end, entry or -1 - row) of the numbers that are left to the caller, from row 1
    on; ``hard[0, 0]`` is the first free one.
    Returns how it ended, where, and how many rows there are.
    """
    labels, indptr = rows
    at, row, entry = 0, 0, 0
    indptr[0], hard[0, 0] = 0, 1
    while at < text.shape[0]:
        at = after_blanks(text, at)
        if ends_line(text[at]):
            status, at = after_line(text, at)
            if status != DONE:
                return status, at, row
            continue
        if row == labels.shape[0]:
            return FULL, at, row
        value, end, status = number_or_hard(text, at, powers, hard, -1 - row)
        if status != DONE:
            return status, at, row
        labels[row] = value
        end = after_group(text, end)
        status, at, entry = libsvm_entries(text, end, powers, entries, entry, hard)
        if status != DONE:
            return status, at, row
        row += 1
        indptr[row] = entry
    return DONE, at, row


@loop(reorder=False, forceinline=True)
def libsvm_entries(
    text: Any, at: int, powers: Any, entries: Any, entry: int, hard: Any
) -> tuple[int, int, int]:
    """Read ``index:value ...`` to the end of a line, into the places from ``entry`` on.

    Returns how it ended, where, and the next free place.
    """
    indices, data = entries
    last = -1
    while text[at] == SPACE or text[at] == TAB:
        begin = after_blanks(text, at + 1)
        index, at = column_number(text, begin)
        if at == begin:
            if ends_line(text[at]):
                break
            return BAD, begin, entry
        if text[at] != COLON:
            return BAD, begin, entry
        if index > MOST_COLUMNS:
            return HUGE, begin, entry
        if index <= last:
            return RAGGED, begin, entry
        last, begin = index, at + 1
        value, at, status = number_or_hard(text, begin, powers, hard, entry)
        if status != DONE:
            return status, begin, entry
        indices[entry], data[entry] = index, value
        entry += 1
    if not ends_line(text[at]):
        return BAD, at, entry
    status, at = after_line(text, at)
    return status, at, entry


@loop(reorder=False, forceinline=True)
def number_or_hard(text: Any, at: int, powers: Any, hard: Any, place: int) -> tuple[float, int, int]:
    """Read a number, or note in ``hard`` that the caller has to read the one for this place.

    Returns the value, its end, and DONE, BAD (there is no number) or FULL (no room for a hard one).
    """
    value, end, is_hard = number(text, at, powers)
    if end == at:
        return value, end, BAD
    if is_hard:
        left = hard[0, 0]
        if left == hard.shape[0]:
            return value, end, FULL
        hard[left, 0], hard[left, 1], hard[left, 2] = at, end, place
        hard[0, 0] = left + 1
    return value, end, DONE


@loop(reorder=False, forceinline=True)
def column_number(text: Any, at: int) -> tuple[int, int]:
    """Read a column number: the value, which is none beyond MOST_COLUMNS, and its end."""
    index = 0
    while True:
        digit = np.uint8(text[at] - np.uint8(ZERO))
        if digit > 9:
            return index, at
        if index <= MOST_COLUMNS:
            index = index * 10 + int(digit)
        at += 1


@loop(reorder=False, forceinline=True)
def after_group(text: Any, at: int) -> int:
    """Return the end of ``qid:7``, which groups rows and is no column; ``at``, if there is none."""
    begin = after_blanks(text, at)
    if begin == at or text[begin] != 113 or text[begin + 1] != 105 or text[begin + 2] != 100:
        return at
    if text[begin + 3] != COLON:
        return at
    _, end = column_number(text, begin + 4)
    separate = text[end] == SPACE or text[end] == TAB or ends_line(text[end])
    return end if end > begin + 4 and separate else at


@loop(reorder=False, forceinline=True)
def ends_line(byte: int) -> bool:
    """Whether nothing of a row comes after this."""
    return byte == NEWLINE or byte == RETURN or byte == HASH


@loop(reorder=False, forceinline=True)
def after_blanks(text: Any, at: int) -> int:
    """Return the next place that is neither space nor tab."""
    while text[at] == SPACE or text[at] == TAB:
        at += 1
    return at


@loop(reorder=False, forceinline=True)
def after_line(text: Any, at: int) -> tuple[int, int]:
    """Return DONE and where the next line begins, or STRAY and the place of a bare carriage return."""
    while text[at] != NEWLINE:
        if text[at] == RETURN and text[at + 1] != NEWLINE:
            return STRAY, at
        at += 1
    return DONE, at + 1


@loop(reorder=False)
def csv_lines(text: Any, delimiter: int, powers: Any, places: Any, out: Any) -> tuple[int, int, int]:
    """Read CSV lines of plain numbers that end the text with a newline.

    ``places[k]`` says where cell k goes: to a column of the matrix, to the labels (-1) or nowhere (-2); and
    if reading ends at a number with a point before its last three digits, as it does at a zero before others;
    ``out`` is (matrix, labels, hard), as in `libsvm_lines`; an entry is a cell of the matrix, by number.
    Anything else than so many numbers a line (quotes, blank lines, missing values) ends the reading.
    """
    at, row, last = 0, 0, places.shape[0] - 1
    out[2][0, 0] = 1
    while at < text.shape[0]:
        for k in range(last + 1):
            if places[k, 0] == -2:
                status, at = DONE, after_cell(text, at, delimiter)
                if text[at] == QUOTE:
                    return BAD, at, row
            else:
                status, at = csv_cell(text, at, delimiter, powers, (row, places[k]), out)
            if status != DONE:
                return status, at, row
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
    return DONE, at, row


@loop(reorder=False, forceinline=True)
def after_cell(text: Any, at: int, delimiter: int) -> int:
    """Return where a cell ends, or where there is a quotation mark in it."""
    while text[at] != delimiter and text[at] != NEWLINE and text[at] != QUOTE and text[at] != RETURN:
        at += 1
    return at


@loop(reorder=False, forceinline=True)
def csv_cell(text: Any, at: int, delimiter: int, powers: Any, cell: Any, out: Any) -> tuple[int, int]:
    """Read a cell, (row, place), into the matrix or the labels; return how it ended, and where."""
    matrix, labels, hard = out
    row, place = cell[0], cell[1][0]
    digit = np.uint8(text[at] - np.uint8(ZERO))
    if digit <= 9 and text[at + 1] == delimiter:  # most cells of indicator columns
        value, end, status = float(digit), at + 1, DONE
    else:
        entry = -1 - row if place == -1 else row * matrix.shape[1] + place
        value, end, status = number_or_hard(text, at, powers, hard, entry)
        if status != DONE:
            return status, at
        if in_doubt(text, at, end, cell[1]):
            return BAD, at
    if place == -1:
        labels[row] = value
    else:
        matrix[row, place] = value
    return DONE, end


@loop(reorder=False, forceinline=True)
def in_doubt(text: Any, at: int, end: int, place: Any) -> bool:
    """Whether a number may be a code, or have a point between thousands, and that ends the reading here."""
    if text[at] == PLUS or text[at] == MINUS:
        at += 1
    if text[at] == ZERO:
        return end - at > 1 and text[at + 1] >= ZERO and text[at + 1] <= NINE
    return place[1] != 0 and end - at > 4 and text[end - 4] == POINT
