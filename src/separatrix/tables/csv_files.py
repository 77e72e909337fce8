"""CSV files: the dialect and the columns of one; plain numbers by compiled code in several threads.

Whatever is not plain numbers (quotes, text, missing values, errors) is left to DuckDB, from that row on.
"""

from __future__ import annotations

import contextlib
import csv
import itertools
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..loops import text as text_loops
from . import text
from .batches import MOST_ROWS, Batch, Matrices, whole
from .database import Database, describe, literal, literals
from .query import NotPlain, Query, ask
from .sources import HEAD, NUMBER, Format, Request, Source, read_head

SAMPLE, SAMPLED = 1 << 18, 1000  # bytes and rows that tell what a column holds
# Cells that say that a value is missing.
MISSING = ("", "NA", "NaN", "nan", "N/A", "NULL", "null", "?")
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([T ]\d{1,2}:\d{2}.*)?$")
_WHOLE = re.compile(r"[+-]?\d{1,38}")
_TARGET, _UNUSED = -1, -2  # where cells go that are none of the matrix


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written."""

    delimiter: str
    header: bool
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Cells:
    """Some rows: numbers and labels; ``whole`` says whether the piece was read to its end."""

    matrix: NDArray[np.float64]
    labels: NDArray[np.float64]
    whole: bool


def open_csv(source: Source, request: Request) -> Query:
    """One CSV file, or several as one table."""
    dialect = find_dialect(source.paths[0], source.compression)
    for path in source.paths[1:]:
        if find_dialect(path, source.compression) != dialect:
            raise InputError(f"{path!r} does not have the columns of {source.paths[0]!r}.")
    kinds = _columns(source, dialect)
    relation = _relation(source, dialect, kinds)
    if request.sql is not None:
        found = describe(source.name, relation, sql=request.sql, keep=source, stream=source.growing)
        return ask(found, request)
    texts = _relation(source, dialect, dict.fromkeys(kinds, "VARCHAR"))
    table = Database(
        source.name, relation, kinds, typed=False, texts=texts, keep=source, stream=source.growing
    )
    query = ask(table, request)
    rows = query.selection
    if request.where is not None or (rows.target is not None and kinds[rows.target] != "DOUBLE"):
        return query
    if all(kinds[name] == "DOUBLE" for name in rows.names):
        query = replace(query, plain=partial(read_numbers, source, dialect, rows.names, rows.target))
    if source.growing is None and rows.target is not None:
        query = replace(query, labels=partial(_classes, source, dialect, rows.target))
    return query


def find_dialect(path: str, compression: str) -> Dialect:
    """The delimiter, the header and the column names of a CSV file."""
    lines = _lines(path, read_head(path, compression))
    if not lines:
        raise InputError(f"{path!r} is empty. A table needs a line of names and a line for each row.")
    delimiter = max(",\t;| ", key=lambda each: _agreement(lines, each))
    if _agreement(lines, delimiter)[1] < 2:
        delimiter = ","
    first = next(_rows(lines[:1], delimiter))
    header = not any(is_number_text(cell) for cell in first)
    numbered = [f"column{k}" for k in range(1, len(first) + 1)]
    names = [cell.strip() or numbered[k] for k, cell in enumerate(first)] if header else numbered
    twice = [each for each, times in Counter(names).items() if times > 1]
    if twice:
        raise InputError(
            f"{path!r} has more than one column named {twice[0]!r}. Every column needs a name of its own; "
            "rename them in the first line."
        )
    return Dialect(delimiter, header, tuple(names))


def read_numbers(
    source: Source,
    dialect: Dialect,
    names: Sequence[str],
    target: str | None,
    matrices: Matrices,
    rows: int,
    start: int,
) -> Iterator[Batch]:
    """Yield rows from row ``start`` on, up to a line that is not plain numbers.

    Of a piece of the file that holds such a line nothing is used.

    Raises
    ------
    NotPlain
        At such a line.
    """
    places = np.array([_place(name, names, target) for name in dialect.names], dtype=np.int64)
    for path in source.paths:
        pieces = text.pieces(source, path)
        found = text.in_order(
            lambda piece: _read_piece(piece, ord(dialect.delimiter), places, matrices),
            _without_header(pieces) if dialect.header else pieces,
            live=source.growing is not None,
        )
        for cells in found:
            height = cells.labels.size
            for begin in range(start, height, rows):
                part = slice(begin, begin + rows)
                yield cells.matrix[part], None if target is None else whole(cells.labels[part])
            start = max(0, start - height)
            if not cells.whole:
                raise NotPlain


def is_number_text(cell: str) -> bool:
    """Whether a cell reads as a number."""
    return NUMBER.fullmatch(cell.strip()) is not None


def is_rounded(cell: str) -> bool:
    """Whether a cell is a whole number that is no float64."""
    return is_number_text(cell) and text.is_rounded(cell.strip().encode(), float(cell))


def _classes(source: Source, dialect: Dialect, target: str) -> NDArray[Any] | None:
    """The different labels, which are numbers; None if not all of them are plain."""
    labels = read_numbers(source, dialect, (), target, Matrices(np.empty(0)), MOST_ROWS, 0)
    try:
        parts = [np.unique(y) for _, y in labels if y is not None]
    except NotPlain:
        return None
    return np.unique(np.concatenate([np.empty(0, dtype=np.int64), *parts]))


def _place(name: str, names: Sequence[str], target: str | None) -> int:
    return names.index(name) if name in names else _TARGET if name == target else _UNUSED


def _without_header(pieces: Iterator[text.Text]) -> Iterator[text.Text]:
    first = next(pieces, None)
    if first is not None:
        yield first[int(np.argmax(first == 10)) + 1 :]
    yield from pieces


def _read_piece(piece: text.Text, delimiter: int, places: NDArray[np.int64], matrices: Matrices) -> Cells:
    n_lines = int(np.count_nonzero(piece == 10))
    matrix, labels, room = matrices.new(n_lines), np.empty(n_lines), 1024
    while True:
        hard = np.empty((room, 3), dtype=np.int64)
        out = (matrix, labels, hard)
        status, _, rows = text_loops.csv_lines(piece, delimiter, text_loops.POWERS, places, out)
        if status != text_loops.FULL:
            break
        room *= 16
    if status != text_loops.DONE:
        return Cells(matrix[:0], labels[:0], whole=False)
    if text.read_hard(piece, hard, labels, matrix.reshape(-1)) is not None:
        return Cells(matrix[:0], labels[:0], whole=False)
    return Cells(matrix[:rows], labels[:rows], whole=True)


def _columns(source: Source, dialect: Dialect) -> dict[str, str]:
    """The columns of a CSV file, which are of numbers, dates or text: the first rows tell."""
    path = source.paths[0]
    lines = _lines(path, read_head(path, source.compression, SAMPLE), SAMPLED)
    rows = _rows(lines[int(dialect.header) :], dialect.delimiter)
    # A line of another length ends them.
    alike = list(itertools.takewhile(lambda row: len(row) == len(dialect.names), rows))
    return {name: _kind(Counter(row[k] for row in alike)) for k, name in enumerate(dialect.names)}


def _kind(cells: Counter[str]) -> str:
    """The type of a column; where most cells are numbers, one that is not is an error of the file."""
    given = {cell: times for cell, times in cells.items() if cell not in MISSING}
    if any(is_rounded(cell) for cell in given) and all(_WHOLE.fullmatch(cell) for cell in given):
        # Typed, so that labels are what they are, and features are refused.
        return "BIGINT" if all(abs(int(cell)) < 1 << 63 for cell in given) else "HUGEINT"
    if 2 * sum(times for cell, times in given.items() if is_number_text(cell)) >= sum(given.values()):
        return "DOUBLE"
    return "TIMESTAMP" if all(_DATE.match(cell) for cell in given) else "VARCHAR"


def _relation(source: Source, dialect: Dialect, kinds: dict[str, str]) -> str:
    columns = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in kinds.items())
    return (
        f"read_csv({literals(source.paths)}, auto_detect = false, columns = {{{columns}}}, "
        f"delim = {literal(dialect.delimiter)}, header = {str(dialect.header).lower()}, quote = '\"', "
        f"escape = '\"', nullstr = {literals(MISSING)}, compression = {literal(source.compression)})"
    )


def _agreement(lines: list[str], delimiter: str) -> tuple[float, int]:
    """How many lines have as many cells as the first, and how many cells those are."""
    cells = [len(row) for row in _rows(lines, delimiter)]
    if not cells or cells[0] < 2:
        return 0.0, 1
    return round(cells.count(cells[0]) / len(cells), 1), cells[0]


def _rows(lines: list[str], delimiter: str) -> Iterator[list[str]]:
    """The cells of each line, up to one that Python's reader refuses, such as one of 200,000 characters."""
    with contextlib.suppress(csv.Error):
        yield from csv.reader(lines, delimiter=delimiter)


def _lines(path: str, head: bytes, most: int = 100) -> list[str]:
    """The first whole lines that are not empty."""
    text = _decoded(path, head).replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if len(head) >= HEAD and len(lines) > 1:
        lines.pop()
    return [line for line in itertools.islice(lines, most) if line.strip()]


def _decoded(path: str, head: bytes) -> str:
    head = head.removeprefix(b"\xef\xbb\xbf")
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise _encoding_error(path)
    for cut in range(4):
        try:
            return head[: len(head) - cut].decode()
        except UnicodeDecodeError as error:
            if error.start < len(head) - 4:
                raise _encoding_error(path) from error
    raise _encoding_error(path)


def _encoding_error(path: str) -> InputError:
    return InputError(
        f"{path!r} is not UTF-8 text. Convert it first, for example with "
        f"`iconv -f latin1 -t utf-8 {os.path.basename(path)}`."
    )


FORMAT = Format(
    "csv",
    "CSV",
    open_csv,
    endings=(".csv", ".tsv", ".tab"),
    several=True,
    live=True,
    unpacks=("gzip", "zstd"),
)
