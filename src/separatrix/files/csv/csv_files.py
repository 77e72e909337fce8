"""CSV files: compiled code reads plain numbers, and Arrow reads all others.

All rows decide what a column means. The first rows only decide which reader begins: if compiled code finds a
cell that is not a plain number (a quote, text, a missing value, a code that begins with a zero, a point that
may separate thousands), the general reader reads the file. A stream cannot be read again, so the error names
such a cell and its row.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import loops
from ...errors import InputError
from .. import text_columns
from ..arrow import arrow_csv, arrow_text, pa
from ..meaning import decide
from ..named_columns import Columns
from ..named_reader import NamedTable, open_columns
from ..number_formats import CODE, MISSING, is_fraction
from ..reader import MOST_ROWS, Batch, Place, whole
from ..request import NAMED, Request
from ..source.detect import Format, OtherMeaningError, Source
from ..text_columns import NEWLINE, Text
from .header import SAMPLE, Dialect, find_dialect

LARGEST = SAMPLE  # bytes of a small file, which Arrow reads sooner than compiled code can be loaded
_LONGEST_ROW = 1 << 26  # bytes
_RETURN, _QUOTE = b'\r"'


def open_csv(source: Source, request: Request) -> Columns | PlainTable:
    """Open one CSV file, or several as one table."""
    dialect, rows, size = find_dialect(source.paths[0], source.names[0], request.skip)
    for path, name in zip(source.paths[1:], source.names[1:], strict=True):
        if find_dialect(path, name, request.skip)[0] != dialect:
            raise InputError(f"{name!r} does not have the columns of {source.names[0]!r}.")
    file = CsvRead(source, dialect)
    every_row = (request.where, request.sql, request.table, request.row_names) == (None,) * 4
    quick = every_row and request.missing == "error" and not request.na
    small = size < LARGEST and len(source.paths) == 1
    return (_plain(file, rows, request) if quick and not small else None) or csv_columns(file)


def _plain(file: CsvRead, rows: list[list[str]], request: Request) -> PlainTable | None:
    """Return the compiled reader if the first rows are plain numbers whose points are surely decimal."""
    if not rows or any(cell in MISSING or cell != cell.strip() for row in rows for cell in row):
        return None
    columns, cells = csv_columns(file), dict(zip(file.dialect.names, zip(*rows, strict=True), strict=True))
    first = pa.record_batch(list(map(arrow_text, cells.values())), names=list(cells))
    columns_of_first = replace(columns, read=lambda names, _, start: iter([first.select(names).slice(start)]))
    try:
        meaning = decide(columns_of_first, request)
    except InputError:
        return None  # the general reader says where the cell is
    names = [column.name for column in meaning.encoding.columns]
    used = names if request.target is None else [*names, request.target]
    pointed = frozenset(name for name in used if any(map(is_fraction, cells[name])))
    shown = ((cell, name in pointed or name == request.target) for name in used for cell in cells[name])
    if not meaning.plain or any(CODE.fullmatch(cell) or ("." in cell and not sure) for cell, sure in shown):
        return None
    reader = PlainTable(columns, request, meaning, file=file, pointed=pointed)
    # A column that counts the first rows is left out only if it counts all rows.
    free = request.encoding is None and request.features is None
    apart = {*used, *columns.unnamed, *request.exclude}
    counters = [name for name in cells if free and name not in apart]
    return reader if all(map(reader.counts_up, counters)) else None


# Any cells, read by Arrow as text


def csv_columns(file: CsvRead) -> Columns:
    """Return the columns of CSV files that are one table; all cells are text."""
    names = file.dialect.names
    return Columns(
        file.source.name,
        pa.schema([(name, pa.string()) for name in names]),
        file,
        untyped=frozenset(names),
        unnamed=file.dialect.row_names,
        notes=file.dialect.notes,
        lines=file.find_lines,
    )


@dataclass(frozen=True)
class CsvRead:
    """Yields batches of some columns of CSV files, from a row on."""

    source: Source
    dialect: Dialect

    def find_lines(self, rows: Sequence[int]) -> list[Place]:
        """Find the lines of rows, both counted from 1."""
        blank = (b"", b"\r") if len(self.dialect.names) > 1 else ()  # of one column, blank lines are rows
        return text_columns.find_lines(
            self.source, rows, begins=lambda line: line not in blank, above=self.dialect.above, quotes=True
        )

    def __call__(self, names: Sequence[str], rows: int, start: int) -> Iterator[Any]:
        """Yield the rows of one block of the file after another."""
        wanted, before = list(names) or list(self.dialect.names[:1]), 0
        for path in self.source.paths:
            blocks = _blocks(self.source, self.dialect, path)
            parse = partial(self._table, wanted)
            for table, ragged in text_columns.in_threads(parse, blocks):
                if ragged is not None:
                    (place,) = self.find_lines([before + ragged.number])
                    where = f"{place.file or self.source.name!r}, line {place.line or place.row:,}"
                    cells = f"{ragged.actual_columns} cell{'s' * (ragged.actual_columns != 1)}"
                    width = len(self.dialect.names)
                    raise InputError(f"{where}: {cells}, but the first line has {width}. Correct the line.")
                before += table.num_rows
                if start < table.num_rows:
                    yield from table.slice(start).to_batches()
                start = max(0, start - table.num_rows)

    def _table(self, names: list[str], block: Text) -> tuple[Any, Any]:
        """Return the rows of a block; or no rows, and the first row with too few or too many cells."""
        ragged: list[Any] = []

        def refuse(row: Any) -> str:
            ragged.append(row)
            return "error"

        width = len(self.dialect.names)
        try:
            return arrow_csv.read_csv(
                pa.BufferReader(pa.py_buffer(block)),
                arrow_csv.ReadOptions(
                    column_names=self.dialect.names, use_threads=False, block_size=block.size + 1
                ),
                arrow_csv.ParseOptions(
                    delimiter=self.dialect.delimiter,
                    newlines_in_values=True,
                    ignore_empty_lines=width > 1,
                    invalid_row_handler=refuse,
                ),
                arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(self.dialect.names, pa.string()),
                    null_values=MISSING,
                    strings_can_be_null=True,
                    include_columns=names,
                ),
            ), None
        except pa.ArrowInvalid:
            if not ragged:
                raise
            return None, ragged[0]


def _blocks(source: Source, dialect: Dialect, path: str) -> Iterator[Text]:
    """Yield the rows of a file as text, some at a time. A row may have several lines, in quotes."""
    parts: list[Text] = []
    lines, size = dialect.above, 0
    for piece in text_columns.pieces(source, path, skip=dialect.above):
        zeros = np.flatnonzero(piece == 0)
        if zeros.size:
            line = lines + int(np.count_nonzero(piece[: zeros[0]] == NEWLINE)) + 1
            raise InputError(
                f"{source.name!r}, line {line:,}: a zero byte. It is not text, or it is damaged."
            )
        lines += int(np.count_nonzero(piece == NEWLINE))
        parts.append(piece)
        size += piece.size
        if size > _LONGEST_ROW:
            break
        if sum(np.count_nonzero(part == _QUOTE) for part in parts) % 2 == 0:
            block = np.concatenate(parts) if len(parts) > 1 else piece
            _refuse_other_line_ends(source.name, block)
            yield block
            parts, size = [], 0
    if parts:
        raise InputError(
            f"{source.name!r}: a quotation mark is not closed, or is inside a cell. Close it, or double it."
        )


def _refuse_other_line_ends(name: str, block: Text) -> None:
    """Raise an error if lines end with a carriage return alone, and others do not."""
    returns = np.flatnonzero((block[:-1] == _RETURN) & (block[1:] != NEWLINE))
    if returns.size and np.any(np.searchsorted(np.flatnonzero(block == _QUOTE), returns) % 2 == 0):
        raise InputError(
            f"{name!r} cannot be read: its lines end in different ways (carriage return, newline, or both). "
            "Use one kind of line end, for example with dos2unix."
        )


# Plain numbers, read by compiled code


@dataclass
class NotPlain(Exception):
    """A row, counted from 1, has a cell that is not a plain number; ``line`` is its text."""

    row: int
    line: str


@dataclass(eq=False, kw_only=True)
class PlainTable(NamedTable):
    """Reads rows of plain numbers; once a cell is something else, it reads all rows as a `NamedTable`.

    ``file`` says how the files are written, and ``pointed`` has the columns with points that are surely
    decimal. While the rows are ``quick`` to read, ``meaning`` is what the first rows tell.
    """

    file: CsvRead
    pointed: frozenset[str]
    quick: bool = True

    def settled(self) -> PlainTable:
        """Let all rows decide what the columns mean, and read them without compiled code from now on."""
        if self.quick:
            self.meaning, self.quick = open_columns(self.columns, self.request).meaning, False
            self.__post_init__()
        return self

    def labels(self) -> Iterator[NDArray[Any]]:
        """Yield the different labels of some rows at a time."""
        if self.quick:
            with contextlib.suppress(NotPlain):
                return iter([np.unique(y) for _, y in self._numbers((), MOST_ROWS) if y is not None])
        return super(PlainTable, self.settled()).labels()

    def frame(self) -> Any:
        """Return the wanted columns as a pandas data frame, before categories are encoded."""
        return super(PlainTable, self.settled()).frame()

    def counts_up(self, name: str) -> bool:
        """Return whether all cells of a column are plain numbers that count up by one."""
        last = np.empty(0)
        with contextlib.suppress(NotPlain):
            for X, _ in self._numbers((name,), MOST_ROWS):
                cells = np.concatenate([last, X[:, 0]])
                if np.any(np.diff(cells) != 1.0):
                    return False
                last = cells[-1:]
            return True
        return False

    def read_rows(self, rows: int, start: int) -> Iterator[Batch]:
        """Yield up to ``rows`` rows at a time, in the file's order, from row ``start``.

        Raises
        ------
        OtherMeaningError
            If a row shows that earlier rows, which were yielded already, mean something else.
        """
        at = start
        if self.quick:
            try:
                names = [column.name for column in self.encoding.columns]
                for X, y in self._numbers(names, rows, start):
                    yield X, y
                    at += len(X)
                return
            except NotPlain as odd:
                before, found = self.encoding, self.settled().meaning
                if at and (found.encoding != before or not found.plain):
                    (place,) = self.file.find_lines([odd.row])
                    raise OtherMeaningError(
                        f"{self.name!r} holds plain numbers in the rows before {place.words}: {odd.line!r}.",
                        remedy="Correct the row, name cells as missing with 'na', or read a column as text "
                        "with 'text'.",
                        parameter="na",
                    ) from None
        yield from super().read_rows(rows, at)

    def _numbers(self, names: Sequence[str], rows: int, start: int = 0) -> Iterator[Batch]:
        """Yield rows of some columns from row ``start`` on, and labels, up to a line that is not plain."""
        source, dialect, target = self.file.source, self.file.dialect, self.target_name
        columns = {name: k for k, name in enumerate(names)}
        if target is not None:
            columns.setdefault(target, loops.text.TARGET)
        places = np.array(
            [
                (columns.get(name, loops.text.UNUSED), name not in self.pointed and name != target)
                for name in dialect.names
            ],
            dtype=np.int64,
        )
        delimiter, before = ord(dialect.delimiter), 0
        for path in source.paths:
            found = text_columns.in_threads(
                lambda piece: read_piece(piece, delimiter, places, len(names)),
                text_columns.pieces(source, path, skip=dialect.above),
            )
            for matrix, labels, line in found:
                for begin in range(start, labels.size, rows):
                    part = slice(begin, begin + rows)
                    yield matrix[part], None if target is None else whole(labels[part])
                start, before = max(0, start - labels.size), before + labels.size
                if line is not None:
                    raise NotPlain(before + 1, line)


def read_piece(
    piece: Text, delimiter: int, places: NDArray[np.int64], width: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], str | None]:
    """Return the numbers and labels of some lines, and the first line that is not plain numbers, if any."""
    n_lines = int(np.count_nonzero(piece == NEWLINE))
    matrix, labels = np.empty((n_lines, width)), np.empty(n_lines)

    def read(hard: NDArray[np.int64]) -> Any:
        return loops.text.csv_lines(piece, delimiter, loops.text.POWERS, places, (matrix, labels, hard))

    status, at, rows = text_columns.read_numbers(piece, read, labels, matrix.reshape(-1))
    line = None
    if status != loops.text.DONE:
        begin = int(np.flatnonzero(piece[:at] == NEWLINE)[-1]) + 1 if rows else 0
        line = text_columns.line_of(piece, begin)[1]
    return matrix[:rows], labels[:rows], line


FORMAT = Format(
    "csv",
    "CSV",
    open_csv,
    endings=(".csv", ".tsv", ".tab"),
    several=True,
    options=(*NAMED, "skip"),
)
