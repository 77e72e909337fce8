"""CSV files: Arrow splits any of them into cells; Python reads small ones, compiled code plain numbers.

What a column means all of its rows decide. The first rows only tell who may read it: a quick reader that
meets a cell that is not plain gives up, and the general one reads the file.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from ...errors import InputError, needs
from ..columns import CellColumns, Columns
from ..features import NamedReader, open_columns
from ..meaning import Meaning, OddCellError, decide
from ..number_formats import CODE, is_fraction
from ..reader import Lines
from ..source.compression import open_binary
from ..source.detect import MISSING, Format, Request, Source
from ..sql.database import explaining
from ..text_columns import NEWLINE, pieces
from .header import Dialect, find_dialect, first_rows
from .lines import find_lines
from .plain_numbers import NotPlain, PlainReader
from .small_files import SmallReader, cells_of, small_reader, split

LONGEST = 2_000_000  # bytes of a line


def open_csv(source: Source, request: Request) -> Columns | SmallReader | PlainReader:
    """One CSV file, or several as one table."""
    dialect = find_dialect(source.paths[0], source.compression)
    for path in source.paths[1:]:
        if find_dialect(path, source.compression) != dialect:
            raise InputError(f"{path!r} does not have the columns of {source.paths[0]!r}.")
    if not (dialect.header or dialect.commented or request.sql is not None):
        _need_header(source, dialect, request)
    file = CsvFile(source, dialect, request)
    as_it_stands = (request.where, request.sql, request.table, request.row_names) == (None,) * 4
    found = file.quick() if as_it_stands and request.missing == "error" and not request.na else None
    return file.columns if found is None else found


@dataclass(frozen=True, eq=False)
class CsvFile:
    """A CSV file, how it is written, and what is wanted of it."""

    source: Source
    dialect: Dialect
    request: Request

    @property
    def lines(self) -> Lines:
        """Finds the lines of rows."""
        return partial(find_lines, self.source, self.dialect)

    @cached_property
    def columns(self) -> Columns:
        """The columns as Arrow reads them, every cell as text."""
        return csv_columns(self.source, self.dialect)

    def general(self) -> NamedReader:
        """The general reader."""
        return open_columns(self.columns, self.request)

    def quick(self) -> SmallReader | PlainReader | None:
        """A reader of a small file, or one of plain numbers, if the first rows are that."""
        rows, content = first_rows(self.source, self.dialect)
        every = None if content is None else split(content, self.dialect)
        cells = cells_of(self.source.name, self.dialect, rows if every is None else every)
        if cells is None:
            return None
        try:
            meaning = decide(cells, self.request)
        except OddCellError:
            return None  # the general reader says where
        except InputError:
            if every is not None:
                raise
            return None
        if every is not None:
            return small_reader(cells, meaning, self.request.target, self.lines, self.general)
        return self._plain(cells, meaning)

    def _plain(self, cells: CellColumns, meaning: Meaning) -> PlainReader | None:
        """The compiled reader, if the first rows are plain numbers whose points are surely decimal."""
        names = [column.name for column in meaning.encoding.columns]
        used = names if self.request.target is None else [*names, self.request.target]
        pointed = frozenset(name for name in used if any(map(is_fraction, cells.cells[name])))
        doubtful = [n for n in names if n not in pointed and any("." in cell for cell in cells.cells[n])]
        coded = [name for name in used if any(map(CODE.fullmatch, cells.cells[name]))]
        if not meaning.plain or meaning.label == "text" or doubtful or coded or self.dialect.lines > 1:
            return None
        reader = PlainReader(
            meaning, self.request.target, self.lines, self.general, self.source, self.dialect, pointed
        )
        left = [n for n in self.dialect.names if n not in used and n not in self.dialect.row_names]
        left = [n for n in left if self.request.features is None and n not in self.request.exclude]
        try:
            counting = self.request.encoding is not None or self.source.growing is not None
            return reader if counting or all(map(reader.counts_up, left)) else None
        except NotPlain:
            return None


def csv_columns(source: Source, dialect: Dialect) -> Columns:
    """The columns of CSV files, every cell as text."""
    with needs("Reading tables", extra="cli"):
        import pyarrow as pa

    return Columns(
        source.name,
        dict.fromkeys(dialect.names, pa.string()),
        CsvRead(source, dialect),
        untyped=frozenset(dialect.names),
        unnamed=dialect.row_names,
        notes=dialect.notes,
        lines=partial(find_lines, source, dialect),
        keep=source,
    )


@dataclass(frozen=True)
class CsvRead:
    """Yields batches of some columns of CSV files, from a row on."""

    source: Source
    dialect: Dialect

    def of(self, path: str) -> CsvRead:
        """The same of one file, as it can be sent to another process."""
        return CsvRead(Source(self.source.name, FORMAT, (path,), self.source.compression), self.dialect)

    def __call__(self, names: Sequence[str], rows: int, start: int) -> Iterator[Any]:
        """Yield as many rows as a block has."""
        for path in self.source.paths:
            for batch in self._batches(path, list(names) or list(self.dialect.names[:1])):
                if start < batch.num_rows:
                    yield batch.slice(start)
                start = max(0, start - batch.num_rows)

    def _batches(self, path: str, names: list[str]) -> Iterator[Any]:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        stream, width = Checked(self.source, self.dialect, path), len(self.dialect.names)
        if stream.is_empty:
            return
        try:
            yield from arrow_csv.open_csv(
                pa.PythonFile(stream, "r"),
                arrow_csv.ReadOptions(column_names=self.dialect.names, block_size=2 * LONGEST),
                arrow_csv.ParseOptions(
                    delimiter=self.dialect.delimiter, newlines_in_values=True, ignore_empty_lines=width > 1
                ),
                arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(self.dialect.names, pa.string()),
                    null_values=MISSING,
                    strings_can_be_null=True,
                    include_columns=names,
                ),
            )
        except pa.ArrowInvalid as error:
            with explaining(self.source.name):
                _explain(self.source, self.dialect, path)
                raise error


class Checked(io.RawIOBase):
    """The rows of a CSV file as bytes, refused where it is not clear how they end."""

    def __init__(self, source: Source, dialect: Dialect, path: str) -> None:
        several = dialect.lines > 1  # the names have line ends of their own
        self._name = source.name
        self._pieces = pieces(source, path, skip=0 if several else dialect.above)
        self._lines, self._quotes, self._at = (0 if several else dialect.above), 0, 0
        self._piece = next(self._pieces, np.empty(0, dtype=np.uint8))
        self._check()
        if several:
            self._at = _after_lines(self._piece, dialect.above)
        self.is_empty = self._at >= self._piece.size

    def readable(self) -> bool:
        """It is there to be read."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Fill a buffer as far as a piece goes, and return how far that is."""
        if self._at >= self._piece.size:
            self._lines += int(np.count_nonzero(self._piece == NEWLINE))
            self._quotes += int(np.count_nonzero(self._piece == 34))
            self._piece, self._at = next(self._pieces, np.empty(0, dtype=np.uint8)), 0
            self._check()
        part = self._piece[self._at : self._at + len(buffer)]
        buffer[: part.size] = part.data
        self._at += part.size
        return int(part.size)

    def _check(self) -> None:
        piece = self._piece
        if not piece.size and self._quotes % 2:
            raise InputError(
                f"{self._name!r}: a quotation mark stays open to the end of the file, or stands inside a "
                "cell. Double it, or put it right."
            )
        zeros = np.flatnonzero(piece == 0)
        if zeros.size:
            line = self._lines + int(np.count_nonzero(piece[: zeros[0]] == NEWLINE)) + 1
            raise InputError(f"{self._name!r}, line {line:,}: a zero byte. It is not text, or it is damaged.")
        if piece.size > LONGEST:
            lengths = np.diff(np.flatnonzero(piece == NEWLINE), prepend=-1)
            if lengths.max() > LONGEST:
                line = self._lines + int(np.argmax(lengths > LONGEST)) + 1
                raise InputError(
                    f"{self._name!r}, line {line:,}: a line of more than two million characters. This is no "
                    "table."
                )
        for at in np.flatnonzero((piece[:-1] == 13) & (piece[1:] != NEWLINE)).tolist():
            if (self._quotes + int(np.count_nonzero(piece[:at] == 34))) % 2 == 0:
                raise InputError(
                    f"{self._name!r} cannot be read: its lines end in different ways (carriage return, "
                    "newline, or both). End all lines alike, for example with dos2unix."
                )


def _after_lines(piece: Any, lines: int) -> int:
    """Where the next line begins after so many, whatever they end with."""
    content, at = piece.tobytes(), 0
    for _ in range(lines):
        ends = [place for sign in (b"\r", b"\n") if (place := content.find(sign, at)) >= 0]
        at = min(ends, default=len(content))
        at += 2 if content[at : at + 2] == b"\r\n" else 1
    return at


def _explain(source: Source, dialect: Dialect, path: str) -> None:
    """Raise an error with the first line that has too many cells, too few, or is no text."""
    width, last = len(dialect.names), dialect.skip
    with (
        open_binary(path, source.compression) as raw,
        io.TextIOWrapper(raw, "utf-8-sig", errors="strict", newline="") as text,
    ):
        for _ in range(dialect.skip):
            text.readline()
        reader = csv.reader(text, delimiter=dialect.delimiter)
        try:
            for cells in reader:
                if cells and len(cells) != width and last >= dialect.above:
                    found = "more" if len(cells) > width else f"only {len(cells)}"
                    raise InputError(
                        f"{source.name!r}, line {last + 1:,}: {found} cells where the first line has "
                        f"{width}. Correct the line."
                    )
                last = dialect.skip + reader.line_num
        except UnicodeDecodeError:
            raise InputError(
                f"{source.name!r}, line {last + 1:,} or soon after it: not UTF-8 text.",
                remedy="Name its encoding, such as text_encoding='latin-1' or 'cp1252'.",
                parameter="text_encoding",
            ) from None
        except csv.Error:  # a cell of more characters than Python reads
            return


def _need_header(source: Source, dialect: Dialect, request: Request) -> None:
    """Say why there is no column of a name, where the first line is read as a row."""
    asked = (request.target, *(request.features or ()), *request.exclude)
    unknown = next((name for name in asked if name is not None and name not in dialect.names), None)
    if unknown is not None:
        raise InputError(
            f"There is no column {unknown!r}: the first line of {source.name!r} has a number in it, or fewer "
            f"cells than the others, so it is no line of names, and the columns are called "
            f"{dialect.names[0]} to {dialect.names[-1]}. Put a line of names first, none of them a number."
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
