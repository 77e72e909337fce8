"""ARFF files, as Weka and OpenML write them: dense and sparse rows, nominal values, quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Any

from ...errors import InputError, needs
from .. import text_columns
from ..encoding import shown
from ..source.detect import NUMBER, Format, Request, Source
from ..sql.database import LARGEST_WHOLE
from ..sql.query import Query
from .parquet_copies import open_copy

_NAME = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^\s{},%'\"]+"
_ATTRIBUTE = re.compile(rf"@attribute\s+({_NAME})\s*(.*)", re.IGNORECASE | re.DOTALL)
_CELL = re.compile(r"\s*(?:'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"|([^,'\"{}]*?))\s*(?:,|$)")
_ESCAPE = re.compile(r"\\(.)")
_MARKS = re.compile(rb"['\"{}\\\r]|[^\x00-\x7f]")  # of rows that are not plain
_DATES = {"yyyy": "%Y", "yy": "%y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}
_ISO = "yyyy-MM-dd'T'HH:mm:ss"
_NUMBERS = ("number", "integer", "long")
MOST_DIGITS = 38  # of the longest whole numbers that a column can hold
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass(frozen=True)
class Attribute:
    """A column: "number", "text", "nominal" with its levels, or "date" with its pattern.

    Numbers that are whole and too large for a float64 are "integer", or "long" where they take more bits.
    """

    name: str
    kind: str
    levels: tuple[str, ...] = ()
    pattern: str = ""


@dataclass(frozen=True)
class Header:
    """The columns, and how many lines come before the rows."""

    attributes: tuple[Attribute, ...]
    lines: int


class _TooLarge(Exception):
    """An attribute has a whole number that its type would round; one of this ``kind`` may hold it."""

    def __init__(self, attribute: Attribute, kind: str) -> None:
        self.attribute, self.kind = attribute, kind


def open_arff(source: Source, request: Request) -> Query:
    """Copy the rows; nominal values are text, and numbers are read as Python reads them."""
    with needs("Reading ARFF files", extra="cli"):
        import pyarrow as pa

    header = read_header(source)
    if request.sql is None:  # also where nominal values look like numbers
        nominal = [each.name for each in header.attributes if each.kind == "nominal"]
        request = replace(request, text=(*request.text, *nominal))
    kinds = {
        "number": pa.float64(), "integer": pa.int64(), "long": pa.decimal128(38), "date": pa.timestamp("s"),
    }  # fmt: skip
    while True:
        schema = pa.schema([(each.name, kinds.get(each.kind, pa.string())) for each in header.attributes])
        rows = _batches(source, header, schema)
        try:
            return open_copy(source, request, schema, rows, lines=partial(find_lines, source, header))
        except _TooLarge as found:
            wider = replace(found.attribute, kind=found.kind)
            attributes = (wider if each is found.attribute else each for each in header.attributes)
            header = replace(header, attributes=tuple(attributes))


def read_header(source: Source) -> Header:
    """Read the lines up to ``@data``."""
    attributes: list[Attribute] = []
    number = 0
    for piece in text_columns.pieces(source, source.paths[0]):
        for raw in piece.tobytes().split(b"\n")[:-1]:
            number += 1
            line = _decoded(source, raw, number).strip()
            word = line.partition(" ")[0].partition("\t")[0].lower()
            if word == "@data":
                if not attributes:
                    raise InputError(f"{source.name!r} names no attributes before its data.")
                return Header(tuple(attributes), number)
            if word == "@attribute":
                attributes.append(_attribute(source.name, line, number))
            elif line and not line.startswith("%") and word != "@relation":
                raise InputError(
                    f"{source.name!r}, line {number:,}: {line[:40]!r} is not @relation, @attribute or @data."
                )
    raise InputError(f"{source.name!r} has no line @data. A part of the file may be missing.")


def _attribute(name: str, line: str, number: int) -> Attribute:
    found = _ATTRIBUTE.fullmatch(line)
    place = f"{name!r}, line {number:,}"
    if found is None:
        raise InputError(f"{place}: {line[:40]!r} does not name an attribute and its type.")
    label, rest = _unquoted(found[1]), found[2].strip()
    if rest.startswith("{"):
        levels = rest[1 : rest.rindex("}")] if "}" in rest else None
        if levels is None or not levels.strip():
            raise InputError(f"{place}: the values of {label!r} are not enclosed in braces.")
        return Attribute(label, "nominal", tuple(filter(None, split_line(levels, place))))
    kind, _, pattern = rest.partition(" ")
    if kind.lower() in ("numeric", "real", "integer"):
        return Attribute(label, "number")
    if kind.lower() == "string":
        return Attribute(label, "text")
    if kind.lower() == "date":
        return Attribute(label, "date", pattern=_date_pattern(place, _unquoted(pattern.strip()) or _ISO))
    raise InputError(f"{place}: attribute {label!r} is of type {kind!r}, which cannot be read as a column.")


def _date_pattern(place: str, pattern: str) -> str:
    """A pattern of Java's as one of Python's."""
    found = re.sub(
        r"'([^']*)'", r"\1", re.sub(r"y+|M+|d+|H+|m+|s+", lambda part: _DATES.get(part[0], "\0"), pattern)
    )
    if "\0" in found:
        raise InputError(f"{place}: the date pattern {pattern!r} cannot be read.")
    return found


def _unquoted(word: str) -> str:
    quoted = len(word) > 1 and word[0] == word[-1] and word[0] in "'\""
    return _unescaped(word[1:-1]) if quoted else word


def _unescaped(word: str) -> str:
    return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), word)


def split_line(line: str, place: str) -> list[str | None]:
    """The cells of a line; None for one that is missing, which is ``?`` without quotes.

    Examples
    --------
    >>> split_line("5.1, 'a, b', ?, '?'", "line 1")
    ['5.1', 'a, b', None, '?']
    """
    cells: list[str | None] = []
    at = 0
    while True:
        found = _CELL.match(line, at)
        if found is None:
            raise InputError(
                f"{place}: {line[at : at + 40].strip()!r} is no list of cells; the quotes do not match."
            )
        single, double, bare = found.groups()
        quoted = single if single is not None else double
        cells.append(_unescaped(quoted) if quoted is not None else None if bare == "?" else bare)
        at = found.end()
        if at >= len(line) and not found[0].rstrip().endswith(","):
            return cells


def _batches(source: Source, header: Header, schema: Any) -> Iterator[Any]:
    """Rows as Arrow has them."""
    import pyarrow as pa

    for lines, first in _pieces(source, header):
        yield pa.record_batch(_columns(source, header, lines, first), schema=schema)


def _pieces(source: Source, header: Header) -> Iterator[tuple[list[bytes], int]]:
    """The lines after the header, some at a time, and the number of the first of them."""
    number = 0
    for piece in text_columns.pieces(source, source.paths[0]):
        lines = piece.tobytes().split(b"\n")[:-1]
        begin = max(0, header.lines - number)
        if begin < len(lines):
            yield lines[begin:], number + begin + 1
        number += len(lines)


def _filled(lines: list[bytes]) -> list[int]:
    """Which lines are rows, and not blank or comments."""
    return [k for k, line in enumerate(lines) if line.strip() and not line.lstrip().startswith(b"%")]


def find_lines(source: Source, header: Header, rows: Sequence[int]) -> list[tuple[int, str]]:
    """The lines of data rows, counted from 1; of a row that is not found again, its number."""
    last, before = max(rows, default=0), 0
    found: dict[int, int] = {}
    for lines, first in _pieces(source, header):
        filled = _filled(lines)
        found |= {row: first + filled[row - before - 1] for row in rows if 0 < row - before <= len(filled)}
        before += len(filled)
        if before >= last:
            break
    return [(found.get(row, row), "") for row in rows]


def _columns(source: Source, header: Header, lines: list[bytes], first: int) -> list[Any]:
    rows = _filled(lines)
    numbers = [first + k for k in rows]
    kept = [lines[k].removesuffix(b"\r") for k in rows]
    cells = plain_cells(kept, len(header.attributes))
    if cells is None:
        cells = _split(source, header, kept, numbers)
    return [
        _typed(source, attribute, column, numbers)
        for attribute, column in zip(header.attributes, cells, strict=True)
    ]


def plain_cells(lines: list[bytes], width: int) -> list[Any] | None:
    """The cells of dense rows without quotes, as Arrow's CSV reader splits them; None for other rows."""
    import pyarrow as pa
    from pyarrow import csv

    together = b"\n".join(lines)
    if not lines or _MARKS.search(together):
        return None
    names = [str(k) for k in range(width)]
    try:
        found = csv.read_csv(
            pa.BufferReader(together + b"\n"),
            csv.ReadOptions(column_names=names, use_threads=False, block_size=len(together) + 2),
            csv.ParseOptions(quote_char=False, ignore_empty_lines=False),
            csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), null_values=[]),
        )
    except pa.ArrowInvalid:
        return None
    return [_without_missing(column.combine_chunks()) for column in found.columns]


def _without_missing(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.equal(cells, "?"), pa.scalar(None, pa.string()), cells)


def _split(source: Source, header: Header, lines: list[bytes], numbers: list[int]) -> list[Any]:
    """The cells of any rows, line by line."""
    import pyarrow as pa

    rows = [
        _row(source, header, _decoded(source, line, number), number)
        for number, line in zip(numbers, lines, strict=True)
    ]
    cells = zip(*rows, strict=True) if rows else [()] * len(header.attributes)
    return [pa.array(column, pa.string()) for column in cells]


def _row(source: Source, header: Header, line: str, number: int) -> list[str | None]:
    place = f"{source.name!r}, line {number:,}"
    line = line.strip()
    if line.startswith("{"):
        return _sparse_row(header, line, place)
    found = split_line(line, place)
    if len(found) != len(header.attributes):
        raise InputError(
            f"{place}: {len(found)} cells for {len(header.attributes)} attributes. Correct the line."
        )
    return found


def _sparse_row(header: Header, line: str, place: str) -> list[str | None]:
    """A row of ``{column value, ...}``: what is not named is zero, or the first of the nominal values."""
    if not line.endswith("}"):
        raise InputError(f"{place}: the row does not end with a brace. Weights of rows cannot be read.")
    row: list[str | None] = [_zero(each, place) for each in header.attributes]
    last = -1
    body = line[1:-1].strip()
    for entry in split_entries(body, place) if body else []:
        column, value = entry
        if not last < column < len(row):
            raise InputError(
                f"{place}: column {column} is out of order, or beyond the {len(row)} attributes (from 0 on)."
            )
        row[column], last = value, column
    return row


def _zero(attribute: Attribute, place: str) -> str:
    if attribute.kind == "nominal":
        return attribute.levels[0]
    if attribute.kind in _NUMBERS:
        return "0"
    raise InputError(
        f"{place}: attribute {attribute.name!r} is {attribute.kind}, which has no zero in sparse rows."
    )


_ENTRY = re.compile(r"\s*(\d+)\s+(?:'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"|([^\s,'\"{}]+))\s*(?:,|$)")


def split_entries(body: str, place: str) -> Iterator[tuple[int, str | None]]:
    """The entries of a sparse row."""
    at = 0
    while at < len(body):
        found = _ENTRY.match(body, at)
        if found is None:
            raise InputError(f"{place}: {body[at : at + 40].strip()!r} is not 'column value'.")
        quoted = found[2] if found[2] is not None else found[3]
        yield (
            int(found[1]),
            _unescaped(quoted) if quoted is not None else None if found[4] == "?" else found[4],
        )
        at = found.end()


def _typed(source: Source, attribute: Attribute, column: Any, lines: list[int]) -> Any:
    """A column as Arrow has it; a value that its type does not allow is named with its line."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if attribute.kind == "text":
        return column
    if attribute.kind == "nominal":
        known = pc.is_in(column, value_set=pa.array([*attribute.levels, None], pa.string()))
        if pc.all(known, min_count=0).as_py() is False:
            at = known.index(False).as_py()
            raise InputError(
                f"{source.name!r}, line {lines[at]:,}: {column[at].as_py()!r} is none of the values of "
                f"{attribute.name!r}: {shown(attribute.levels)}."
            )
        return column
    if attribute.kind in ("integer", "long"):
        return _whole(source, attribute, column, lines)
    try:
        if attribute.kind == "date":
            return pc.strptime(column, attribute.pattern, "s")
        numbers = column.cast(pa.float64())  # to the nearest float, as the tests hold against Python's
    except pa.ArrowInvalid:  # Arrow knows no leading plus
        cells = column.to_pylist()
        good = [
            cell is None or (attribute.kind == "number" and bool(NUMBER.fullmatch(cell))) for cell in cells
        ]
        if not all(good):
            raise _bad_cell(source, attribute, column, lines, good.index(False)) from None
        numbers = pa.array([None if cell is None else float(cell) for cell in cells], pa.float64())
    large = pc.greater(pc.abs(numbers), LARGEST_WHOLE)
    if pc.any(large).as_py() and any(
        text_columns.is_rounded(cell.encode(), float(cell)) for cell in column.filter(large).to_pylist()
    ):
        raise _TooLarge(attribute, "integer")
    return numbers


def _whole(source: Source, attribute: Attribute, column: Any, lines: list[int]) -> Any:
    """Whole numbers, of which some are too large for a float64: exact, or refused."""
    cells = [None if cell is None else cell.lstrip("+") for cell in column.to_pylist()]
    good = [cell is None or re.fullmatch("-?[0-9]+", cell) is not None for cell in cells]
    if not all(good):
        at = good.index(False)
        raise InputError(
            f"Column {attribute.name!r} of {source.name!r} holds whole numbers beyond 2**53, but line "
            f"{lines[at]:,} has {cells[at]!r}. Correct the cell, or make the numbers smaller."
        )

    import pyarrow as pa

    most = max((len(cell.lstrip("-0")) for cell in cells if cell is not None), default=0)
    numbers = [None if cell is None or most > MOST_DIGITS else int(cell) for cell in cells]
    if attribute.kind == "integer":
        if most > MOST_DIGITS or not all(each is None or -(2**63) <= each < 2**63 for each in numbers):
            raise _TooLarge(attribute, "long")
        return pa.array(numbers, pa.int64())
    if most > MOST_DIGITS:
        raise InputError(
            f"Column {attribute.name!r} of {source.name!r} has a whole number of {most} digits, which would "
            "be rounded. Make its numbers smaller."
        )
    return pa.array([None if each is None else Decimal(each) for each in numbers], pa.decimal128(38))


def _bad_cell(source: Source, attribute: Attribute, column: Any, lines: list[int], at: int) -> InputError:
    return InputError(
        f"{source.name!r}, line {lines[at]:,}: attribute {attribute.name!r} holds {attribute.kind}s, but "
        f"here is {column[at].as_py()!r}. Correct the cell."
    )


def _decoded(source: Source, line: bytes, number: int) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise InputError(
            f"{source.name!r}, line {number:,}: not UTF-8 text.",
            remedy="Name its encoding, such as text_encoding='latin-1'.",
            parameter="text_encoding",
        ) from error


def _looks(lines: list[str]) -> bool:
    words = [line.split()[0].lower() for line in lines if not line.lstrip().startswith("%")]
    return bool(words) and words[0] == "@relation"


FORMAT = Format(
    "arff", "ARFF", open_arff, endings=(".arff",), looks=_looks, unpacks=("gzip", "bz2", "zstd", "xz")
)
