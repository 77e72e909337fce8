"""Compiled readers of numbers in text: LIBSVM lines, and CSV lines of plain numbers.

Decimal text becomes the nearest float64, as with Python's ``float``. The result is exact if there are few
digits and the power of ten is small (Clinger 1990). Otherwise it is computed in two floats with a bound of
the error. A number that the bound does not decide is *hard*, and the caller reads it. Sums must not be
reordered here.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from .compiling import loop

# How reading ends: all lines are read, the output is full, the text is not what the reader reads, or, as the
# caller finds out, a whole number is not equal to any float.
DONE, FULL, BAD, ROUNDED = range(4)
# Where a CSV reader puts cells that do not go into the matrix: below every column.
UNUSED, TARGET = range(-2, 0)

SPACE, TAB, RETURN, NEWLINE, COLON, HASH, QUOTE = b' \t\r\n:#"'
PLUS, MINUS, POINT, ZERO, LOWER_E, UPPER_E = b"+-.0eE"

REACH = 290  # powers of ten whose product with 19 digits neither overflows nor leaves the normal floats
EXACT_WHOLE = 2**53  # every whole number up to this one is a float
MOST_COLUMNS = np.iinfo(np.int32).max - 1


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
    """Read the number that begins at a position.

    Returns its value, its end, and whether it is hard. The end is the beginning if there is no number. A
    whole number beyond 2**53 without a point or an exponent is hard too, because no float may be equal to it.
    """
    first = after_sign(text, at)
    mantissa, end = digits(text, first, np.uint64(0))
    value, end, is_hard = after_digits(text, first, end, mantissa, powers)
    return (-value if text[at] == MINUS else value), (end if end > first else at), is_hard


@loop(reorder=False, forceinline=True)
def after_digits(text: Any, first: int, at: int, mantissa: Any, powers: Any) -> tuple[float, int, bool]:
    """Read the rest of a number without its sign, whose digits before the point are read from ``first`` on.

    Returns its value, its end (``first`` if it is not a number), and whether it is hard.
    """
    count, exponent, whole = at - first, 0, True
    if text[at] == POINT:
        whole, point = False, at + 1
        mantissa, at = digits(text, point, mantissa)
        exponent = point - at
        count -= exponent
    if count == 0:
        return 0.0, first, False
    if text[at] == LOWER_E or text[at] == UPPER_E:
        power, end = power_of_ten(text, at + 1)
        if end == at + 1:
            return 0.0, first, False
        exponent += power
        at, whole = end, False
    if count > 19 or (whole and mantissa > np.uint64(EXACT_WHOLE)):
        return 0.0, at, True
    value, certain = scaled(mantissa, exponent, powers)
    return value, at, not certain


@loop(reorder=False, forceinline=True)
def after_sign(text: Any, at: int) -> int:
    """Return the position after a sign, if there is a sign."""
    return at + 1 if text[at] == MINUS or text[at] == PLUS else at


@loop(reorder=False, forceinline=True)
def digits(text: Any, at: int, value: Any) -> tuple[Any, int]:
    """Append the digits at a position to a whole number; return it and their end. More than 19 wrap."""
    while True:
        digit = np.uint8(text[at] - np.uint8(ZERO))
        if digit > 9:
            return value, at
        value = value * np.uint64(10) + np.uint64(digit)
        at += 1


@loop(reorder=False, forceinline=True)
def power_of_ten(text: Any, start: int) -> tuple[int, int]:
    """Read the exponent after an ``e``; return it and its end, which is the start if there is no exponent."""
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
    """Read LIBSVM lines, the last of which ends with a newline: ``label index:value ... # comment``.

    ``rows`` is (labels, indptr) and ``entries`` is (indices, data). Column numbers are kept as written.
    ``hard`` collects (begin, end, entry or -1 - row) of the numbers that the caller has to read, from its
    row 1 on; ``hard[0, 0]`` is its next free row. Returns how reading ended, where, and the number of rows.
    """
    labels, indptr = rows
    at, row, entry = 0, 0, 0
    indptr[0], hard[0, 0] = 0, 1
    while at < text.shape[0]:
        at = after_blanks(text, at)
        if ends_row(text[at]):
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
    """Read ``index:value ...`` to the end of a line, into the entries from ``entry`` on.

    Returns how reading ended, where, and the next free entry.
    """
    indices, data = entries
    last = -1
    while text[at] == SPACE or text[at] == TAB:
        begin = after_blanks(text, at + 1)
        index, at = column_number(text, begin)
        if at == begin and ends_row(text[at]):
            break
        if at == begin or text[at] != COLON or index > MOST_COLUMNS or index <= last:
            return BAD, begin, entry
        last, begin = index, at + 1
        value, at, status = number_or_hard(text, begin, powers, hard, entry)
        if status != DONE:
            return status, begin, entry
        indices[entry], data[entry] = index, value
        entry += 1
    if not ends_row(text[at]):
        return BAD, at, entry
    status, at = after_line(text, at)
    return status, at, entry


@loop(reorder=False, forceinline=True)
def number_or_hard(text: Any, at: int, powers: Any, hard: Any, place: int) -> tuple[float, int, int]:
    """Read a number, or note in ``hard`` that the caller has to read the number for this place.

    Returns the value, its end, and DONE, BAD (there is no number) or FULL (``hard`` is full).
    """
    value, end, is_hard = number(text, at, powers)
    if end == at:
        return value, end, BAD
    return value, end, noted(hard, at, end, place) if is_hard else DONE


@loop(reorder=False, forceinline=True)
def noted(hard: Any, begin: int, end: int, place: int) -> int:
    """Note that the caller has to read the number for a place; return DONE, or FULL if there is no room."""
    left = hard[0, 0]
    if left == hard.shape[0]:
        return FULL
    hard[left, 0], hard[left, 1], hard[left, 2] = begin, end, place
    hard[0, 0] = left + 1
    return DONE


@loop(reorder=False, forceinline=True)
def column_number(text: Any, at: int) -> tuple[int, int]:
    """Read a column number; return it and its end. Beyond MOST_COLUMNS only its size is right."""
    index = 0
    while True:
        digit = np.uint8(text[at] - np.uint8(ZERO))
        if digit > 9:
            return index, at
        if index <= MOST_COLUMNS:
            index = index * 10 + int(digit)
        at += 1


@loop(reorder=False, forceinline=True)
def ends_row(byte: int) -> bool:
    """Return whether this byte ends a row: a line end or the beginning of a comment."""
    return byte == NEWLINE or byte == RETURN or byte == HASH


@loop(reorder=False, forceinline=True)
def after_blanks(text: Any, at: int) -> int:
    """Return the next position that is neither a space nor a tab."""
    while text[at] == SPACE or text[at] == TAB:
        at += 1
    return at


@loop(reorder=False, forceinline=True)
def after_line(text: Any, at: int) -> tuple[int, int]:
    """Return DONE and the beginning of the next line, or BAD and the position of a lone carriage return."""
    while text[at] != NEWLINE:
        if text[at] == RETURN and text[at + 1] != NEWLINE:
            return BAD, at
        at += 1
    return DONE, at + 1


@loop(reorder=False)
def csv_lines(text: Any, delimiter: int, powers: Any, places: Any, out: Any) -> tuple[int, int, int]:
    """Read CSV lines of plain numbers, the last of which ends with a newline.

    ``places[k]`` says where cell k goes: to a column of the matrix, to TARGET or to UNUSED; and whether
    reading ends at a number with a point before its last three digits, which may separate thousands. ``out``
    is (matrix, labels, hard), with ``hard`` as in `libsvm_lines`; an entry is the flat index of a cell.
    Reading ends at anything else: quotes, blank lines, missing values, codes such as 007.
    """
    at, row, last = 0, 0, places.shape[0] - 1
    out[2][0, 0] = 1
    while at < text.shape[0]:
        for k in range(last + 1):
            if places[k, 0] == UNUSED:
                status, at = DONE, after_cell(text, at, delimiter)
                if text[at] == QUOTE:
                    return BAD, at, row
            else:
                status, at = csv_cell(text, at, delimiter, powers, (row, (places[k, 0], places[k, 1])), out)
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
    """Return the end of a cell, or the position of a quotation mark in it."""
    while text[at] != delimiter and text[at] != NEWLINE and text[at] != QUOTE and text[at] != RETURN:
        at += 1
    return at


@loop(reorder=False, forceinline=True)
def csv_cell(text: Any, at: int, delimiter: int, powers: Any, cell: Any, out: Any) -> tuple[int, int]:
    """Read a cell, (row, its ``places``), into the matrix or the labels; return how that ended, and where."""
    matrix, labels, hard = out
    row, (place, unpointed) = cell
    digit = np.uint8(text[at] - np.uint8(ZERO))
    if digit <= 9 and text[at + 1] == delimiter:  # most cells of indicator columns
        value, end = float(digit), at + 1
    else:
        first = after_sign(text, at)
        mantissa, end = digits(text, first, np.uint64(0))
        if text[end] == delimiter and 0 < digit <= 9 and end - at < 16:
            value = np.float64(mantissa)
        else:
            if end > first + 1 and text[first] == ZERO:
                return BAD, at
            value, end, is_hard = after_digits(text, first, end, mantissa, powers)
            if end == first:
                return BAD, at
            if unpointed and end - first > 4 and text[end - 4] == POINT and text[first] != ZERO:
                return BAD, at
            value = -value if text[at] == MINUS else value
            entry = -1 - row if place == TARGET else row * matrix.shape[1] + place
            if is_hard and noted(hard, at, end, entry) != DONE:
                return FULL, at
    if place == TARGET:
        labels[row] = value
    else:
        matrix[row, place] = value
    return DONE, end
