"""Read numbers from text: decimal commas, thousands separators, currencies and units.

All cells of a column are read in one way, which the *shapes* of its cells decide. A shape has a 9 for each
digit, at most four 9s in a row, and a first character that says whether the first digit is a zero. A column
of numbers has few shapes, however long it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from .arrow import arrow_text, pa, pc

BLANKS = " \t\u00a0\u2009\u202f"
PADDING = " \t"  # around numbers; Python's float strips more characters, other readers do not
NUMBER = re.compile(
    r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity|nan)", re.IGNORECASE | re.ASCII
)
# Cells of text that say that a value is missing.
MISSING = ("", "NA", "NaN", "nan", "N/A", "NULL", "null", "?")
# Numbers as programs write them; codes such as 007; numbers with a point or a comma.
PLAIN_CELL = re.compile(
    rf"[{PADDING}]*[+-]?(([0-9]+|[0-9]+\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|(?i:inf(inity)?))[{PADDING}]*"
)
CODE = re.compile("0[0-9]+")
_NUMERIC = re.compile(rf"[{PADDING}]*({NUMBER.pattern}|[+-]?[0-9]+,[0-9]+)[{PADDING}]*", NUMBER.flags)
# Characters between groups of three digits.
SEPARATORS = (",", ".", *BLANKS.replace("\t", ""), "'", "\u2019")
CANDIDATES = tuple((d, t) for d in ".," for t in ("", *SEPARATORS) if t != d)
# The shapes of numbers with these signs. Commas may also group as in India: 12,34,567.
_GROUPS = {t: rf"|9{{1,3}}({re.escape(t)}999)+" for t in SEPARATORS}
_GROUPS |= {"": "", ",": _GROUPS[","] + "|99?(,99)+,999"}
_NUMBERS = {(d, t): re.compile(rf"(9*{_GROUPS[t]})({re.escape(d)}9*)?") for d, t in CANDIDATES}
# Cells that mean a missing value in a column of numbers, in upper or lower case.
MARKS = frozenset(
    {"", ".", "-", "--", "?", "na", "n/a", "#n/a", "#na", "<na>", "nan", "null", "none", "nil", "missing"}
)
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_CURRENCIES = "$ € £ ¥ ₹ ₽ ₩ ₺ zł kr Kč Fr. R$ USD EUR GBP JPY CHF CAD AUD SEK NOK DKK PLN INR CNY RUB BRL"
_MEASURES = (
    "% ‰ ° °C °F K mm cm dm m km in ft mi m² km² m³ ng µg μg ug mcg mg g kg t lb lbs oz µl μl ul ml mL dl "
    "dL cl l L ms s sec min h hr hrs d day days week weeks month months y yr yrs year years Hz kHz MHz "
    "GHz W kW MW kWh V mV A mA N kN J kJ kcal cal Pa hPa kPa bar mbar mmHg bpm mol mmol mmol/l mmol/L "
    "µmol/l mg/l mg/L mg/dl mg/dL g/l g/L g/dl g/dL ng/ml ng/mL IU IU/l U/l U/L m/s km/h mph B KB MB GB "
    "TB kB px pt dB lm lx rpm ppm ppb mg/kg kg/m² "
)
CURRENCIES = frozenset(_CURRENCIES.split())
UNITS = CURRENCIES | frozenset(_MEASURES.split())
_BEFORE = "|".join(sorted(map(re.escape, CURRENCIES), key=len, reverse=True))
_SPACE, _GROUPED = f"[{BLANKS}]*", "".join(map(re.escape, SEPARATORS))
_SIGN = r"[+\-\u2212]"
_CELL = re.compile(
    rf"(?![^9]*{_SIGN}[^9]*{_SIGN}){_SIGN}?{_SPACE}(?P<before>{_BEFORE})?{_SPACE}{_SIGN}?"
    rf"(?P<number>[.,]?9(?:[9{_GROUPED}]*9)?[.,]?)(?P<power>[eE][+-]?9+)?"
    rf"{_SPACE}(?P<after>[^\d\s+\-.,;:<>=()/][^\d+\-,;:<>=()]{{0,11}})?"
)
_DATE = re.compile(
    r"9{1,2}([./-])9{1,2}\1(9999|99)([T ].*)?|9999([./-])9{1,2}\4(9{1,2})([T ].*)?"
    r"|9{1,2}:99(:99)?([.,]9+)?( ?[AaPp][Mm])?"
)
# Numbers with underscores, in digits of other scripts, of Fortran, with powers of ten or measurement errors.
_FOREIGN = re.compile(
    r"[+-]?9+(?:_9+)+(?:[.,]9+)?|(?=.*[^\x00-\x7f])[+-]?[\d.,]*\d"
    r"|[+-]?(?:9+\.9*|\.9+)[dD][+-]?9+"
    r"|[+-]?9+(?:[.,]9+)? ?[\u00d7\u00b7*xX] ?99(?:\^|\*\*) ?[+\-\u2212]?9+"
    r"|[+-]?9+(?:[.,]9+)? ?(?:\u00b1|\+/-|\+-) ?9+(?:[.,]9+)?"
)
_UNSEEN = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u200b-\u200f\u2028\u2029\u2060\ufeff]")
_CODED = re.compile("0999*")  # the shape of codes such as 007
SIGNS = {",": "comma", ".": "point", "'": "apostrophe", "\u2019": "apostrophe"}


def names_columns(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row of a table names its columns; a name may be a year.

    None of its cells is a number then, or one of them is text above nothing but numbers.
    """
    words = [k for k, cell in enumerate(first) if not _NUMERIC.fullmatch(cell)]
    below = [{row[k] for row in rows if k < len(row)} - {*MISSING} for k in words if first[k] not in MISSING]
    return len(words) == len(first) or any(each and all(map(_NUMERIC.fullmatch, each)) for each in below)


@dataclass(frozen=True)
class Reading:
    """How the cells of a column are read as numbers.

    Attributes
    ----------
    decimal : {".", ","}
        The decimal sign.
    thousands : str
        The character between groups of digits, or "".
    unit : str
        The unit before or after each number, such as ``%``; the numbers stay as they are.
    """

    decimal: str = "."
    thousands: str = ""
    unit: str = ""

    @property
    def words(self) -> str:
        """Describe the reading; "" for plain numbers.

        Examples
        --------
        >>> Reading(",", ".", "€").words, Reading().words
        ('decimal comma, thousands point, in €', '')
        """
        parts = ["decimal comma"] if self.decimal == "," else []
        if self.thousands:
            parts.append(f"thousands {SIGNS.get(self.thousands, 'blank')}")
        return ", ".join([*parts, *([f"in {self.unit}"] if self.unit else [])])

    @staticmethod
    def from_dict(values: Any) -> Reading:
        """Return the reading whose fields these are; KeyError, TypeError or ValueError for anything else."""
        found = Reading(str(values["decimal"]), str(values["thousands"]), str(values["unit"]))
        if (found.decimal, found.thousands) not in CANDIDATES:
            raise ValueError("not a way to write numbers")
        return found


PLAIN_READING = Reading()


@dataclass(frozen=True)
class Look:
    """What a column holds, according to the shapes of its cells.

    Attributes
    ----------
    kind : {"number", "text", "date", "odd", "ambiguous", "empty"}
        "odd": most cells are numbers of one reading, but some do not fit it. "ambiguous": ``1,234`` could be
        1234 or 1.234; so could ``1.234`` beside integers below a thousand.
    reading : Reading
        How to read the numbers; in an odd column, those of most cells.
    fitting : tuple of str
        The shapes of the cells that fit the reading.
    decimal : str or None
        The decimal sign, if this column proves it: evidence for the other columns of the file.
    marked : bool
        Whether some cell is blank, or a mark such as ``NA``.
    """

    kind: str
    reading: Reading = PLAIN_READING
    fitting: tuple[str, ...] = ()
    decimal: str | None = None
    marked: bool = False

    @property
    def coded(self) -> bool:
        """Whether some cell has digits only and begins with a zero, as codes do."""
        return any(_CODED.fullmatch(each) for each in self.fitting)


def shape(cell: str) -> str:
    """Return the shape of a cell; `shapes_of` does the same for a column.

    Examples
    --------
    >>> shape(" 0,125 "), shape("12.345 mg")
    ('09,999', '999.999 mg')
    """
    text = cell.strip(BLANKS)
    first = re.search("[0-9]", text)
    mark = "0" if first is not None and first[0] == "0" else "9"
    return mark + re.sub("9{4,}", "9999", re.sub("[0-9]", "9", text))


def masked(column: Any) -> Any:
    """Replace each digit of an Arrow column by 9, except a zero that is the first digit of its cell.

    The shapes stay the same, and few different cells are left.
    """
    offsets = np.frombuffer(column.buffers()[1], np.int32)[column.offset : column.offset + len(column) + 1]
    data = np.frombuffer(column.buffers()[2] or b"", np.uint8)[: offsets[-1]].copy()
    digits = np.flatnonzero(data - np.uint8(ord("0")) < 10)
    at = np.searchsorted(digits, offsets[:-1])
    first = digits[at[at < digits.size]]
    first = first[(first < offsets[1:][at < digits.size]) & (data[first] == ord("0"))]
    data[digits] = ord("9")
    data[first] = ord("0")
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.string(), len(column), buffers)


def shapes_of(column: Any) -> Any:
    """Return the shapes of the cells of an Arrow column without missing cells."""
    found = masked(column).dictionary_encode()
    return arrow_text(map(shape, found.dictionary.to_pylist())).take(found.indices)


def plain_text(column: Any, reading: Reading) -> Any:
    """Rewrite the cells of an Arrow column, which fit the reading, as programs write numbers."""
    text = pc.replace_substring(column, reading.unit, "") if reading.unit else column
    for sign in (*BLANKS, reading.thousands):
        text = pc.replace_substring(text, sign, "") if sign else text
    text = pc.replace_substring(text, "\u2212", "-")
    return pc.replace_substring(text, ",", ".") if reading.decimal == "," else text


def numbers_of(column: Any, reading: Reading) -> Any:
    """Return the nearest floats of the cells of an Arrow column, which fit the reading."""
    text = column if reading == PLAIN_READING else plain_text(column, reading)
    try:
        return text.cast("float64")
    except pa.ArrowInvalid:  # a blank, a plus sign, another minus, or a number beyond all floats
        cells = plain_text(column, reading).to_pylist()
        return pa.array([None if cell is None else float(cell) for cell in cells], "float64")


def marks_of(column: Any) -> Any:
    """Find the cells of an Arrow column that mark a missing value."""
    return pc.is_in(pc.utf8_lower(pc.utf8_trim(column, characters=BLANKS)), value_set=arrow_text(MARKS))


def is_rounded(cell: str, number: float) -> bool:
    """Whether a cell is an integer, written in digits only, that is not equal to this float.

    Such integers may be identifiers, and two that differ must not become equal. A number with a point or an
    exponent is expected to be read as the nearest float.

    Examples
    --------
    >>> [is_rounded(cell, float(cell)) for cell in ("9007199254740993", "9007199254740994", "1e23")]
    [True, False, False]
    """
    digits = cell.lstrip("+-")
    if not (digits.isascii() and digits.isdigit()):
        return False
    # Python refuses to read integers of many thousand digits; no float has more than 309.
    digits = digits.lstrip("0") or "0"
    return len(digits) > 309 or int(digits) != abs(number)


def look(
    shapes: Mapping[str, int],
    evidence: str | None = None,
    *,
    decimal: str | None = None,
    thousands: str | None = None,
) -> Look:
    """Decide what a column holds.

    Parameters
    ----------
    shapes : dict of str to int
        How many cells have each shape.
    evidence : str, optional
        The decimal sign of other columns of the file.
    decimal, thousands : str, optional
        What the caller said about the numbers; other readings are not considered.
    """
    given = {each: times for each, times in shapes.items() if each[1:].casefold() not in MARKS}
    marked = len(given) < len(shapes)
    if not given:  # in a column without numbers, "none" is a word like any other
        return Look("text" if any(each[1:].isalpha() for each in shapes) else "number", marked=marked)
    if all(_DATE.fullmatch(each[1:]) for each in given):
        return Look("date", fitting=tuple(given))
    units: dict[str, int] = {}
    for each, times in given.items():
        unit, fits = _parse(each)
        if fits or _is_foreign(each[1:]):
            units[unit] = units.get(unit, 0) + times
    most = _unit(units, sum(given.values()))
    if most is None:
        return Look("text")
    alike = {each: _parse(each)[1] for each in given if _parse(each)[0] == most}
    allowed = [
        (point, group)
        for point, group in CANDIDATES
        if decimal in (None, point)
        and (thousands is None or (group in ("", thousands) and point != thousands))
    ]
    feasible = [pair for pair in allowed if all(pair in fits for fits in alike.values())]
    if not feasible or len(alike) < len(given):
        best = max(allowed, key=lambda pair: sum(given[each] for each, fits in alike.items() if pair in fits))
        fitting = tuple(each for each, fits in alike.items() if best in fits)
        known = most in UNITS or not most
        return Look("odd" if known else "text", Reading(*best, most), fitting)
    return _choose(feasible, tuple(alike), most, evidence, marked=marked)


def is_fraction(cell: str) -> bool:
    """Whether a cell is a plain number whose point must be a decimal point."""
    return "." in cell and PLAIN_CELL.fullmatch(cell) is not None and (",", ".") not in _parse(shape(cell))[1]


def _unit(units: dict[str, int], total: int) -> str | None:
    """Return the unit of most numbers if most cells are numbers, or the one word beside every number."""
    known = {unit: times for unit, times in units.items() if not unit or unit in UNITS}
    if 2 * sum(known.values()) >= total:
        return max(known, key=lambda unit: known[unit])
    return next(iter(units)) if len(units) == 1 and sum(units.values()) == total else None


def _choose(
    feasible: list[tuple[str, str]], shapes: tuple[str, ...], unit: str, evidence: str | None, *, marked: bool
) -> Look:
    """Choose among the readings that fit all cells; they differ in what points and commas mean."""
    used = [each for each in ".," if any(each in _number(shape_) for shape_ in shapes)]
    meanings: dict[tuple[bool, ...], tuple[str, str]] = {}
    for pair in feasible:
        meanings.setdefault(tuple(each == pair[0] for each in used), pair)
    pairs = list(meanings.values())
    decimal = pairs[0][0] if used and len(pairs) == 1 else None
    if len(pairs) > 1:
        fractions = used == ["."] and not _may_be_thousands(shapes)
        agreeing = [pair for pair in pairs if pair[0] == (evidence or ("." if fractions else None))]
        if not agreeing:
            reading = Reading(",", "." if used == ["."] else "", unit)
            return Look("ambiguous", reading, shapes, marked=marked)
        pairs = agreeing
    return Look("number", Reading(*pairs[0], unit), shapes, decimal, marked)


def _may_be_thousands(shapes: Iterable[str]) -> bool:
    """Whether the points in these numbers may separate thousands.

    That needs three digits after each point, and numbers below a thousand without a point. If the points were
    decimal, numbers would be written with three places throughout (``12.000``), or some with one or two.
    """
    numbers = {each[0] + _number(each) for each in shapes}
    pointed = {each for each in numbers if "." in each}
    whole = numbers - pointed - {"9", "09"}
    return (
        bool(pointed and whole)
        and all(each[0] == "9" and _NUMBERS[",", "."].fullmatch(each[1:]) for each in pointed)
        and all(len(each) < 5 for each in whole)
    )


@lru_cache(maxsize=1 << 14)
def _parse(shape_: str) -> tuple[str, frozenset[tuple[str, str]]]:
    """Return the unit of a cell, and the pairs of decimal and thousands separators that it fits."""
    if _INFINITE.fullmatch(shape_[1:]):
        return "", frozenset(CANDIDATES)
    found = _CELL.fullmatch(shape_[1:])
    if found is None or (found["before"] and found["after"]):
        return "", frozenset()
    unit = found["before"] or (found["after"] or "").strip(BLANKS)
    ungrouped = shape_[0] == "0" or found["power"] is not None
    return unit, frozenset(
        (d, t) for d, t in CANDIDATES if _NUMBERS[d, "" if ungrouped else t].fullmatch(found["number"])
    )


def _is_foreign(text: str) -> bool:
    """Whether a text is certainly a number, but in a notation that is not read here.

    Examples are ``(5)`` and ``5-``, which accountants write for -5, ``'5'``, ``1_000``, ``1.5D+03`` of
    Fortran, ``2*10^3``, ``10 ± 2``, digits of other scripts, and numbers with invisible characters.
    """
    bare = text[1:-1] if text[:1] + text[-1:] in ("()", "''") else text.rstrip("-\u2212")
    bare = _UNSEEN.sub("", bare)
    if bare != text:
        return _CELL.fullmatch(bare.strip(BLANKS)) is not None
    return _FOREIGN.fullmatch(text) is not None


def _number(shape_: str) -> str:
    found = _CELL.fullmatch(shape_[1:])
    return "" if found is None else found["number"]
