"""ARFF files, as Weka and OpenML write them: dense rows, nominal values, quotes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from ...errors import InputError
from .. import text_columns
from ..arrow import pa
from ..encoding import shown
from ..named_columns import Columns
from ..number_formats import NUMBER
from ..request import Request
from ..source.detect import Format, Source
from .parquet import copied

_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{}},%'\"]+)\s*(.*)", re.IGNORECASE)
_CELL = re.compile(rf"\s*({_QUOTED}|[^,'\"{{}}]*?)\s*(?:,|$)")
_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ].*)?")
# What the cells of an attribute hold, and how they are written.
_TYPES = dict.fromkeys(("numeric", "real", "integer"), ("numbers", NUMBER))
_TYPES |= {"string": ("text", re.compile(".*", re.DOTALL)), "date": ("dates", _DATE)}
_BEGINS_ROW = partial(text_columns.begins_row, b"%")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}

Attribute = tuple[str, str, re.Pattern[str]]  # a name, and a type


def open_arff(source: Source, request: Request) -> Columns:
    """Copy the rows; nominal values and dates are text, and numbers are kept as they are written."""
    lines = _lines(source)
    attributes, above = _header(source.name, lines)
    names = [name for name, _, _ in attributes]
    return copied(
        source.name,
        _batches(source.name, attributes, lines),
        paths=(),
        numbers=frozenset(name for name, kind, _ in attributes if kind == "numbers"),
        untyped=frozenset(names),
        text=tuple(name for name, kind, _ in attributes if kind.startswith("nominal")),
        lines=partial(text_columns.find_lines, source, begins=_BEGINS_ROW, above=above),
    )


def _lines(source: Source) -> Iterator[tuple[int, str]]:
    """Yield the numbers, counted from 1, and the texts of all lines that are not blank or comments."""
    pieces = text_columns.pieces(source, source.paths[0])
    every = (line for piece in pieces for line in text_columns.lines_of(piece))
    for number, line in enumerate(every, start=1):
        if _BEGINS_ROW(line):  # comments may be in other characters
            yield number, line.decode().strip()


def _header(name: str, lines: Iterator[tuple[int, str]]) -> tuple[list[Attribute], int]:
    """Read the lines up to ``@data``; return the columns, and the number of this line."""
    attributes: list[Attribute] = []
    for number, line in lines:
        word = line.split()[0].lower()
        if word == "@data":
            if not attributes:
                raise InputError(f"{name!r} names no attributes before its data.")
            return attributes, number
        if word == "@attribute":
            attributes.append(_attribute(f"{name!r}, line {number:,}", line))
        elif word != "@relation":
            raise InputError(
                f"{name!r}, line {number:,}: {line[:40]!r} is not @relation, @attribute or @data."
            )
    raise InputError(f"{name!r} has no line @data. A part of the file may be missing.")


def _attribute(place: str, line: str) -> Attribute:
    found = _ATTRIBUTE.fullmatch(line)
    if found is None:
        raise InputError(f"{place}: {line[:40]!r} does not name an attribute and its type.")
    label, kind = str(_value(found[1])), found[2].partition(" ")[0].lower()
    if kind.startswith("{"):
        levels = [each for each in split_line(found[2][1 : found[2].rfind("}")], place) if each]
        if not levels or "}" not in found[2]:
            raise InputError(f"{place}: the values of {label!r} are not enclosed in braces.")
        return label, f"nominal values: {shown(levels)}", re.compile("|".join(map(re.escape, levels)))
    pattern = found[2][len(kind) :].strip(" \"'")
    if kind == "date" and pattern and not pattern.startswith("yyyy-MM-dd"):
        raise InputError(f"{place}: the date pattern {pattern!r} cannot be read; only yyyy-MM-dd can.")
    if kind in _TYPES:
        return label, *_TYPES[kind]
    raise InputError(f"{place}: attribute {label!r} is of type {kind!r}, which cannot be read as a column.")


def _value(cell: str) -> str | None:
    """Return the text of a cell; None if it is missing, which is ``?`` without quotes."""
    if cell[:1] not in ("'", '"'):
        return None if cell == "?" else cell
    return re.sub(r"\\(.)", lambda found: _ESCAPED.get(found[1], found[1]), cell[1:-1])


def split_line(line: str, place: str) -> list[str | None]:
    """Return the cells of a line; None for a cell that is missing.

    Examples
    --------
    >>> split_line("5.1, 'a, b', ?, '?'", "line 1")
    ['5.1', 'a, b', None, '?']
    """
    if not re.search(r"['\"{}]", line):
        return [_value(cell.strip()) for cell in line.split(",")]
    cells: list[str | None] = []
    at = 0
    while True:
        found = _CELL.match(line, at)
        if found is None:
            raise InputError(
                f"{place}: {line[at : at + 40].strip()!r} is not a list of cells; the quotes do not match."
            )
        cells.append(_value(found[1]))
        at = found.end()
        if at >= len(line) and not found[0].rstrip().endswith(","):
            return cells


def _batches(name: str, attributes: list[Attribute], lines: Iterator[tuple[int, str]]) -> Iterator[Any]:
    """Yield the rows as Arrow batches of text."""
    names = [each[0] for each in attributes]
    while some := list(itertools.islice(lines, 1 << 14)):
        numbers = [number for number, _ in some]
        rows = [_row(attributes, line, f"{name!r}, line {number:,}") for number, line in some]
        columns = list(zip(*rows, strict=True))
        for (attribute, kind, pattern), column in zip(attributes, columns, strict=True):
            odd = {cell for cell in {*column} - {None} if not pattern.fullmatch(str(cell))}
            if odd:
                at = next(k for k, cell in enumerate(column) if cell in odd)
                what = f"attribute {attribute!r} holds {kind}, but this line has {column[at]!r}"
                raise InputError(f"{name!r}, line {numbers[at]:,}: {what}. Correct the cell.")
        yield pa.record_batch([pa.array(column, pa.string()) for column in columns], names=names)


def _row(attributes: list[Attribute], line: str, place: str) -> list[str | None]:
    if line.startswith("{"):
        raise InputError(f"{place}: sparse rows cannot be read. Write the file with dense rows.")
    row = split_line(line, place)
    if len(row) != len(attributes):
        raise InputError(f"{place}: {len(row)} cells for {len(attributes)} attributes. Correct the line.")
    return row


def _looks(lines: list[str]) -> bool:
    words = [line.split()[0].lower() for line in lines if not line.lstrip().startswith("%")]
    return bool(words) and words[0] == "@relation"


FORMAT = Format("arff", "ARFF", open_arff, endings=(".arff",), looks=_looks)
