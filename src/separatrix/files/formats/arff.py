"""ARFF files, as Weka and OpenML write them: dense and sparse rows, nominal values, quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ...errors import InputError, needs
from .. import text_columns
from ..columns import Columns
from ..encoding import shown
from ..source.detect import NUMBER, Format, Request, Source
from ..sql.database import explaining
from .parquet import copied

_QUOTED = r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\""
_ATTRIBUTE = re.compile(
    r"@attribute\s+('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^\s{},%'\"]+)\s*(.*)", re.IGNORECASE | re.DOTALL
)
_CELL = re.compile(rf"\s*(?:{_QUOTED}|([^,'\"{{}}]*?))\s*(?:,|$)")
_ENTRY = re.compile(rf"\s*(\d+)\s+(?:{_QUOTED}|([^\s,'\"{{}}]+))\s*(?:,|$)")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
_DATES = {"yyyy": "%Y", "yy": "%y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}
_ISO = "yyyy-MM-dd'T'HH:mm:ss"


@dataclass(frozen=True)
class Attribute:
    """A column: "number", "text", "nominal" with its levels, or "date" with its pattern."""

    name: str
    kind: str
    levels: tuple[str, ...] = ()
    pattern: str = ""


@dataclass(frozen=True)
class Header:
    """The columns, and how many lines come before the rows."""

    attributes: tuple[Attribute, ...]
    lines: int


def open_arff(source: Source, request: Request) -> Columns:
    """Copy the rows; nominal values are text, and numbers come as they are written."""
    with needs("Reading ARFF files", extra="cli"):
        import pyarrow as pa

    header = read_header(source)
    types = [
        (each.name, pa.timestamp("s") if each.kind == "date" else pa.string()) for each in header.attributes
    ]
    numbers = frozenset(each.name for each in header.attributes if each.kind == "number")
    if request.sql is not None:  # a query computes with floats
        types = [(name, pa.float64() if name in numbers else kind) for name, kind in types]
        numbers = frozenset()
    with explaining(source.name):
        return copied(
            source.name,
            types,
            _batches(source, header, pa.schema(types)),
            keep=source,
            numbers=numbers,
            untyped=frozenset(name for name, _ in types),
            text=tuple(each.name for each in header.attributes if each.kind == "nominal"),
            lines=partial(find_lines, source, header),
        )


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
                attributes.append(_attribute(f"{source.name!r}, line {number:,}", line))
            elif line and not line.startswith("%") and word != "@relation":
                raise InputError(
                    f"{source.name!r}, line {number:,}: {line[:40]!r} is not @relation, @attribute or @data."
                )
    raise InputError(f"{source.name!r} has no line @data. A part of the file may be missing.")


def _attribute(place: str, line: str) -> Attribute:
    found = _ATTRIBUTE.fullmatch(line)
    if found is None:
        raise InputError(f"{place}: {line[:40]!r} does not name an attribute and its type.")
    label, rest = _unquoted(found[1]), found[2].strip()
    if rest.startswith("{"):
        levels = rest[1 : rest.rindex("}")] if "}" in rest else ""
        if not levels.strip():
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
    found = re.sub(r"y+|M+|d+|H+|m+|s+", lambda part: _DATES.get(part[0], "\0"), pattern)
    if "\0" in found:
        raise InputError(f"{place}: the date pattern {pattern!r} cannot be read.")
    return re.sub(r"'([^']*)'", r"\1", found)


def _unquoted(word: str) -> str:
    quoted = len(word) > 1 and word[0] == word[-1] and word[0] in "'\""
    return _unescaped(word[1:-1]) if quoted else word


def _unescaped(word: str) -> str:
    return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), word)


def _cell(single: str | None, double: str | None, bare: str | None) -> str | None:
    """The text of a cell; None for one that is missing, which is ``?`` without quotes."""
    quoted = single if single is not None else double
    return _unescaped(quoted) if quoted is not None else None if bare == "?" else bare


def split_line(line: str, place: str) -> list[str | None]:
    """The cells of a line; None for one that is missing.

    Examples
    --------
    >>> split_line("5.1, 'a, b', ?, '?'", "line 1")
    ['5.1', 'a, b', None, '?']
    """
    if not re.search(r"['\"{}]", line):
        return [None if cell.strip() == "?" else cell.strip() for cell in line.split(",")]
    cells: list[str | None] = []
    at = 0
    while True:
        found = _CELL.match(line, at)
        if found is None:
            raise InputError(
                f"{place}: {line[at : at + 40].strip()!r} is no list of cells; the quotes do not match."
            )
        cells.append(_cell(*found.groups()))
        at = found.end()
        if at >= len(line) and not found[0].rstrip().endswith(","):
            return cells


def _pieces(source: Source, header: Header) -> Iterator[tuple[list[bytes], list[int]]]:
    """The rows after the header, without blank lines and comments, some at a time, and their lines."""
    number = 0
    for piece in text_columns.pieces(source, source.paths[0]):
        lines = piece.tobytes().split(b"\n")[:-1]
        rows = [
            k
            for k, line in enumerate(lines)
            if number + k >= header.lines and line.strip() and not line.lstrip().startswith(b"%")
        ]
        yield [lines[k] for k in rows], [number + k + 1 for k in rows]
        number += len(lines)


def find_lines(source: Source, header: Header, rows: Sequence[int]) -> list[tuple[int, str]]:
    """The lines of data rows, counted from 1; of a row that is not found again, its number."""
    last, before = max(rows, default=0), 0
    found: dict[int, int] = {}
    for _, numbers in _pieces(source, header):
        found |= {row: numbers[row - before - 1] for row in rows if 0 < row - before <= len(numbers)}
        before += len(numbers)
        if before >= last:
            break
    return [(found.get(row, row), "") for row in rows]


def _batches(source: Source, header: Header, schema: Any) -> Iterator[Any]:
    """Rows as Arrow has them."""
    import pyarrow as pa

    for lines, numbers in _pieces(source, header):
        rows = [
            _row(header, _decoded(source, line, number).strip(), f"{source.name!r}, line {number:,}")
            for number, line in zip(numbers, lines, strict=True)
        ]
        if rows:
            cells = zip(header.attributes, zip(*rows, strict=True), schema.types, strict=True)
            arrays = [_typed(source, each, column, numbers, kind) for each, column, kind in cells]
            yield pa.record_batch(arrays, schema=schema)


def _row(header: Header, line: str, place: str) -> list[str | None]:
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
    last, at, body = -1, 0, line[1:-1].strip()
    while at < len(body):
        found = _ENTRY.match(body, at)
        if found is None:
            raise InputError(f"{place}: {body[at : at + 40].strip()!r} is not 'column value'.")
        column = int(found[1])
        if not last < column < len(row):
            raise InputError(
                f"{place}: column {column} is out of order, or beyond the {len(row)} attributes (from 0 on)."
            )
        row[column], last, at = _cell(*found.groups()[1:]), column, found.end()
    return row


def _zero(attribute: Attribute, place: str) -> str:
    if attribute.kind == "nominal":
        return attribute.levels[0]
    if attribute.kind == "number":
        return "0"
    raise InputError(
        f"{place}: attribute {attribute.name!r} is {attribute.kind}, which has no zero in sparse rows."
    )


def _typed(
    source: Source, attribute: Attribute, cells: Sequence[str | None], lines: list[int], kind: Any
) -> Any:
    """A column as Arrow has it; a value that its type does not allow is named with its line."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if attribute.kind == "nominal" and {*cells} - {*attribute.levels, None}:
        at = next(k for k, cell in enumerate(cells) if cell not in (*attribute.levels, None))
        raise InputError(
            f"{source.name!r}, line {lines[at]:,}: {cells[at]!r} is none of the values of "
            f"{attribute.name!r}: {shown(attribute.levels)}."
        )
    odd = None
    if attribute.kind == "number":
        odd = next((k for k, c in enumerate(cells) if c is not None and not NUMBER.fullmatch(c)), None)
    elif attribute.kind == "date":
        found = pc.strptime(pa.array(cells, pa.string()), attribute.pattern, "s", error_is_null=True)
        odd = next((k for k, c in enumerate(found.to_pylist()) if c is None and cells[k] is not None), None)
        if odd is None:
            return found
    if odd is not None:
        raise InputError(
            f"{source.name!r}, line {lines[odd]:,}: attribute {attribute.name!r} holds {attribute.kind}s, "
            f"but here is {cells[odd]!r}. Correct the cell."
        )
    if pa.types.is_floating(kind):
        return pa.array([None if cell is None else float(cell) for cell in cells], kind)
    return pa.array(cells, kind)


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
