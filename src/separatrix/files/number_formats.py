"""Text that holds numbers: decimal commas, thousands separators, currencies, units; one reading a column.

What a column holds is decided by the *shapes* of its cells: a 9 for each digit, runs of more than three
alike, after a mark that says if the first digit is a zero. A column of numbers has few, however long it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

BLANKS = " \t\u00a0\u2009\u202f"
PADDING = " \t"  # around numbers; Python strips more, which others do not take for blanks
# Numbers as programs write them; codes, which begin with a zero; points that are not between thousands.
PLAIN_CELL = re.compile(
    rf"[{PADDING}]*[+-]?(([0-9]+|[0-9]+\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|(?i:inf(inity)?))[{PADDING}]*"
)
CODE = re.compile("0[0-9]+")
_SURE = re.compile(
    rf"[{PADDING}]*[+-]?([0-9]+\.([0-9]{{0,2}}|[0-9]{{4,}})|0\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[{PADDING}]*"
)
# What may stand between groups of three digits.
SEPARATORS = (",", ".", *BLANKS.replace("\t", ""), "'", "\u2019")
CANDIDATES = tuple((d, t) for d in ".," for t in ("", *SEPARATORS) if t != d)
PLAIN, COMMA = (".", ""), (",", "")
# Cells that say, in a column of numbers and in any case of letters, that there is none.
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
# Numbers grouped by underscores, in digits other than 0 to 9, by Fortran, with powers of ten or errors.
_FOREIGN = re.compile(
    r"[+-]?9+(?:_9+)+(?:[.,]9+)?|(?=.*[^\x00-\x7f])[+-]?[\d.,]*\d"
    r"|[+-]?(?:9+\.9*|\.9+)[dD][+-]?9+"
    r"|[+-]?9+(?:[.,]9+)? ?[\u00d7\u00b7*xX] ?99(?:\^|\*\*) ?[+\-\u2212]?9+"
    r"|[+-]?9+(?:[.,]9+)? ?(?:\u00b1|\+/-|\+-) ?9+(?:[.,]9+)?"
)
_UNSEEN = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u200b-\u200f\u2028\u2029\u2060\ufeff]")
_CODED = re.compile("0999*")  # the shape of a code
SIGNS = {",": "comma", ".": "point", "'": "apostrophe", "\u2019": "apostrophe"}


@dataclass(frozen=True)
class Reading:
    """How the cells of a column are read as numbers.

    Attributes
    ----------
    decimal : {".", ","}
        The decimal sign.
    thousands : str
        The sign between groups of digits; empty if there is no sign.
    unit : str
        The unit before or after each number, such as ``%``; the numbers stay as they are.
    """

    decimal: str = "."
    thousands: str = ""
    unit: str = ""

    @property
    def words(self) -> str:
        """The reading in words; empty for plain numbers.

        Examples
        --------
        >>> Reading(",", ".", "€").words, Reading().words
        ('decimal comma, thousands point, in €', '')
        """
        parts = ["decimal comma"] if self.decimal == "," else []
        if self.thousands:
            parts.append(f"thousands {SIGNS.get(self.thousands, 'blank')}")
        return ", ".join([*parts, *([f"in {self.unit}"] if self.unit else [])])

    def as_dict(self) -> dict[str, str]:
        """Plain values for JSON."""
        return {"decimal": self.decimal, "thousands": self.thousands, "unit": self.unit}

    @staticmethod
    def from_dict(values: Any) -> Reading:
        """Read back what `as_dict` gave; KeyError, TypeError or ValueError for anything else."""
        found = Reading(str(values["decimal"]), str(values["thousands"]), str(values["unit"]))
        if (found.decimal, found.thousands) not in CANDIDATES:
            raise ValueError("no way to write numbers")
        return found

    def number(self, cell: str) -> float:
        """The number of a cell that fits; `numbers_of` computes the same of a column.

        Examples
        --------
        >>> Reading(",", ".", "€").number("-1.234,5 €"), Reading(unit="$").number("$7")
        (-1234.5, 7.0)
        """
        text = cell.strip(BLANKS).replace(self.unit, "") if self.unit else cell
        for blank in (*BLANKS, *([self.thousands] if self.thousands else [])):
            text = text.replace(blank, "")
        return float(text.replace("\u2212", "-").replace(self.decimal, "."))


PLAIN_READING = Reading()


@dataclass(frozen=True)
class Wanted:
    """What the caller knows about the writing of numbers: None where nothing."""

    decimal: str | None = None
    thousands: str | None = None


ANYTHING = Wanted()


@dataclass(frozen=True)
class Look:
    """What a column holds, as far as its shapes tell.

    Attributes
    ----------
    kind : {"number", "text", "date", "odd", "ambiguous", "empty"}
        "odd": most cells are numbers of one reading, but some do not fit it. "ambiguous": either ``1,234`` is
        a thousand and more, or it is 1 and a fraction; or ``1.234``, beside whole numbers below a thousand.
    reading : Reading
        Of a number; of an odd column that of most cells.
    fitting : tuple of str
        The shapes of cells that fit the reading.
    decimal : str or None
        What separates fractions here, if that is beyond doubt: evidence for the other columns of the file.
    marked : bool
        Whether some cell is blank, or a mark that says that there is no number.
    """

    kind: str
    reading: Reading = PLAIN_READING
    fitting: tuple[str, ...] = ()
    decimal: str | None = None
    marked: bool = False

    @property
    def coded(self) -> bool:
        """Whether some cell is digits alone, and begins with a zero, as codes do."""
        return any(_CODED.fullmatch(each) for each in self.fitting)


def shape(cell: str) -> str:
    """The shape of a cell; `shapes_of` gives those of a column.

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
    """The cells of a column of Arrow's with other digits that have the same shapes: few different ones.

    Each digit becomes a 9, but a zero that is the first of its cell.
    """
    import pyarrow as pa

    offsets = np.frombuffer(column.buffers()[1], np.int32)[column.offset : column.offset + len(column) + 1]
    data = np.frombuffer(column.buffers()[2] or b"", np.uint8)[: offsets[-1]].copy()
    digits = np.flatnonzero(data - np.uint8(48) < 10)
    at = np.searchsorted(digits, offsets[:-1])
    first = digits[at[at < digits.size]]
    first = first[(first < offsets[1:][at < digits.size]) & (data[first] == 48)]
    data[digits] = 57
    data[first] = 48
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.string(), len(column), buffers)


def shapes_of(column: Any) -> Any:
    """The shapes of the cells of a column of Arrow's, none of which is missing."""
    import pyarrow as pa

    found = masked(column).dictionary_encode()
    return pa.array([shape(each) for each in found.dictionary.to_pylist()], "string").take(found.indices)


def plain_text(column: Any, reading: Reading) -> Any:
    """The cells of a column of Arrow's, which fit a reading, as programs write numbers."""
    import pyarrow.compute as pc

    text = pc.replace_substring(column, reading.unit, "") if reading.unit else column
    for sign in (*BLANKS, reading.thousands):
        text = pc.replace_substring(text, sign, "") if sign else text
    text = pc.replace_substring(text, "\u2212", "-")
    return pc.replace_substring(text, ",", ".") if reading.decimal == "," else text


def numbers_of(text: Any) -> Any:
    """The nearest floats of numbers as programs write them, in a column of Arrow's."""
    import pyarrow as pa

    try:
        return text.cast("float64")
    except pa.ArrowInvalid:  # a plus sign, or numbers beyond all floats, which Arrow does not round
        return pa.array([None if cell is None else float(cell) for cell in text.to_pylist()], "float64")


def marks_of(column: Any) -> Any:
    """Which cells of a column of Arrow's say that there is no number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = pc.utf8_lower(pc.utf8_trim(column, characters=BLANKS))
    return pc.is_in(cells, value_set=pa.array(sorted(MARKS)))


def is_rounded(cell: str, number: float) -> bool:
    """Whether a cell is a whole number, written in digits alone, that this float is not.

    Such numbers name things, as identifiers do, and two that differ must not become one. Of numbers with a
    point or a power of ten everybody expects the nearest float.

    Examples
    --------
    >>> [is_rounded(cell, float(cell)) for cell in ("9007199254740993", "9007199254740994", "1e23")]
    [True, False, False]
    """
    digits = cell.lstrip("+-")
    if not (digits.isascii() and digits.isdigit()):
        return False
    # Python refuses to read integers of many thousand digits; of more than 309 none is a float.
    digits = digits.lstrip("0") or "0"
    return len(digits) > 309 or int(digits) != abs(number)


def look(shapes: Mapping[str, int], wanted: Wanted = ANYTHING, evidence: str | None = None) -> Look:
    """Say what a column holds.

    Parameters
    ----------
    shapes : dict of str to int
        How many cells have which shape.
    wanted : Wanted
        What the caller said; no other reading is thought of.
    evidence : str, optional
        What separates fractions elsewhere in the file.
    """
    given = {each: times for each, times in shapes.items() if not is_mark(each)}
    marked = len(given) < len(shapes)
    if not given:  # without any number, "none" is a word like others
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
    allowed = [pair for pair in CANDIDATES if _allows(wanted, pair)]
    feasible = [pair for pair in allowed if all(pair in fits for fits in alike.values())]
    if not feasible or len(alike) < len(given):
        best = max(allowed, key=lambda pair: sum(given[each] for each, fits in alike.items() if pair in fits))
        fitting = tuple(each for each, fits in alike.items() if best in fits)
        known = most in UNITS or not most
        return Look("odd" if known else "text", Reading(*best, most), fitting)
    return _choose(feasible, tuple(alike), most, evidence, marked=marked)


def is_fraction(cell: str) -> bool:
    """Whether a cell is a plain number with a point that is surely decimal."""
    return _SURE.fullmatch(cell) is not None


def is_mark(shape_: str) -> bool:
    """Whether cells of this shape say that there is no number."""
    return shape_[1:].casefold() in MARKS


def evidence_of(looks: Iterable[Look]) -> str | None:
    """What separates fractions in a file, where its columns do not contradict each other."""
    found = {each.decimal for each in looks} - {None}
    return found.pop() if len(found) == 1 else None


def _unit(units: dict[str, int], total: int) -> str | None:
    """The unit of most numbers, if most cells are numbers; or any one word that is beside each."""
    known = {unit: times for unit, times in units.items() if not unit or unit in UNITS}
    if 2 * sum(known.values()) >= total:
        return max(known, key=lambda unit: known[unit])
    return next(iter(units)) if len(units) == 1 and sum(units.values()) == total else None


def _allows(wanted: Wanted, pair: tuple[str, str]) -> bool:
    decimal, thousands = pair
    if wanted.thousands is not None and (
        thousands not in ("", wanted.thousands) or decimal == wanted.thousands
    ):
        return False
    return wanted.decimal in (None, decimal)


def _choose(
    feasible: list[tuple[str, str]], shapes: tuple[str, ...], unit: str, evidence: str | None, *, marked: bool
) -> Look:
    """One of the pairs that fit all cells: they differ in what points and commas mean, if there are any."""
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
            signs = (",", ".") if used == ["."] else COMMA
            return Look("ambiguous", Reading(*signs, unit), shapes, marked=marked)
        pairs = agreeing
    return Look("number", Reading(*pairs[0], unit), shapes, decimal, marked)


def _may_be_thousands(shapes: Iterable[str]) -> bool:
    """Whether points may separate thousands, for all that these numbers tell.

    Each stands before three digits, and numbers below a thousand have none: who writes fractions to three
    places writes ``12.000``, and who leaves zeros away has fractions of one and two places, too.
    """
    numbers = {each[0] + _number(each) for each in shapes}
    pointed = {each for each in numbers if "." in each}
    whole = numbers - pointed - {"9", "09"}
    return (
        bool(pointed and whole)
        and all(each[0] == "9" and _fits(each[1:], ",", ".", ungrouped=False) for each in pointed)
        and all(len(each) < 5 for each in whole)
    )


@lru_cache(maxsize=1 << 14)
def _parse(shape_: str) -> tuple[str, frozenset[tuple[str, str]]]:
    """The unit of a cell, and the pairs of decimal and thousands separator that it can be read with."""
    if _INFINITE.fullmatch(shape_[1:]):
        return "", frozenset(CANDIDATES)
    found = _CELL.fullmatch(shape_[1:])
    if found is None or (found["before"] and found["after"]):
        return "", frozenset()
    unit = found["before"] or (found["after"] or "").strip(BLANKS)
    ungrouped = shape_[0] == "0" or found["power"] is not None
    return unit, frozenset(pair for pair in CANDIDATES if _fits(found["number"], *pair, ungrouped=ungrouped))


def _is_foreign(text: str) -> bool:
    """Whether a text is surely a number, but written as nobody here reads it.

    Such are an accountant's ``(5)`` and ``5-``, which are below zero, ``'5'``, ``1_000``, ``1.5D+03`` of
    Fortran, ``2*10^3``, ``10 ± 2``, digits of other scripts, and numbers among characters that nobody sees.
    """
    bare = text[1:-1] if text[:1] + text[-1:] in ("()", "''") else text.rstrip("-\u2212")
    bare = _UNSEEN.sub("", bare)
    if bare != text:
        return _CELL.fullmatch(bare.strip(BLANKS)) is not None
    return _FOREIGN.fullmatch(text) is not None


def _number(shape_: str) -> str:
    found = _CELL.fullmatch(shape_[1:])
    return "" if found is None else found["number"]


def _fits(number: str, decimal: str, thousands: str, *, ungrouped: bool) -> bool:
    """Whether digits and separators are a number, written so."""
    whole, *rest = number.split(decimal)
    if len(rest) > 1 or (any(rest) and set(rest[0]) != {"9"}) or not (whole or any(rest)):
        return False
    groups = whole.split(thousands) if thousands else [whole]
    if len(groups) == 1:
        return set(whole) <= {"9"}
    first, *others = groups
    grouped = all(each == "999" for each in others) and len(first) <= 3
    # As in India: 12,34,567.
    grouped |= thousands == "," and others[-1] == "999" and {*others[:-1]} == {"99"} and len(first) <= 2
    return not ungrouped and grouped and set(first) == {"9"}
