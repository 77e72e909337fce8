"""LIBSVM (svmlight) files: ``label index:value ...``, one row a line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import loops
from ...errors import InputError
from ...sparse import sparse
from .. import text_columns
from ..batches import whole
from ..encoding import Encoding
from ..reader import Lines as LineFinder
from ..reader import Reader
from ..source import detect
from ..source.detect import NUMBER, Format, Request, Source

LABEL = "label"
ROUNDED = -1  # how a piece ends in which a whole number is no float
# What every column costs, used or not: the weights, and copies that methods make of them. Measured, with ten
# million columns: 48 bytes for `fit`, 58 for a margin, 98 for averaged weights.
BYTES_A_COLUMN = 100
_LINE = re.compile(rf"({NUMBER.pattern})(\s+qid:\d+)?(\s+\d+:({NUMBER.pattern}))*\s*(#.*)?", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Lines:
    """Some rows as they stand in the file: the column numbers are not moved."""

    labels: NDArray[np.float64]
    data: NDArray[np.float64]
    indices: NDArray[np.int32]
    indptr: NDArray[np.int64]

    @property
    def most(self) -> int:
        """The largest column number, or -1."""
        return int(self.indices.max(initial=-1))


@dataclass(frozen=True, eq=False)
class Extent:
    """How large a file is: its rows, and its smallest and largest column number."""

    n_rows: int
    first: int
    last: int


def open_libsvm(source: Source, request: Request) -> LibsvmFile:
    """A LIBSVM file, with the columns that a model knows, or with those that it has."""
    source.need_numbered(request)
    if request.target not in (None, LABEL):
        raise InputError(f"The target of a LIBSVM file is the first number of each line, called {LABEL!r}.")
    known = request.encoding
    if known is None:
        return LibsvmFile(source, None, None, request.intercept, request.count_columns)
    return LibsvmFile(source, known.width, known.first, known.intercept)


@dataclass(frozen=True, eq=False)
class LibsvmFile(Reader):
    """A LIBSVM file whose columns count from ``first``; those beyond ``width`` are left out.

    Where these are None they are found by reading the file: a column 0 anywhere means counting from zero.
    Unless ``counted``, that reading is put off, and the encoding does not say how many columns there are.
    """

    source: Source
    width: int | None = None
    first: int | None = None
    intercept: bool = True
    counted: bool = True

    @property
    def target_name(self) -> str:
        """LIBSVM rows always begin with their label."""
        return LABEL

    @property
    def encoding(self) -> Encoding:
        """How many columns there are, and from which number they count."""
        if self.width is None and not self.counted:
            return Encoding(intercept=self.intercept)
        return Encoding(intercept=self.intercept, width=self.n_columns, first=self.first_column)

    @property
    def first_column(self) -> int:
        """The number of the first column: 0 or 1."""
        return self.extent.first if self.first is None else self.first

    @property
    def n_columns(self) -> int:
        """How many columns there are."""
        return max(1, self.extent.last + 1 - self.first_column) if self.width is None else self.width

    def classes(self) -> NDArray[Any]:
        """The different labels."""
        found: NDArray[Any] = np.unique(
            np.concatenate(
                [np.empty(0, np.int64), *(np.unique(whole(lines.labels)) for lines in self.lines())]
            )
        )
        return found

    def n_rows(self) -> int:
        """Count the rows."""
        return self.extent.n_rows

    @property
    def line_finder(self) -> LineFinder:
        """Finds the lines of rows."""
        return self._find_lines

    def _find_lines(self, rows: Sequence[int]) -> list[tuple[int, str]]:
        """The lines of rows, counted from 1: lines of blanks and comments are none."""
        wanted, height, before = np.unique(np.asarray(rows, dtype=np.int64)), 0, 0
        found: dict[int, int] = {}
        for piece in text_columns.pieces(self.source, self.source.paths[0]):
            begins = np.concatenate([[0], np.flatnonzero(piece == 10)[:-1] + 1])
            visible = np.flatnonzero((piece != loops.text.SPACE) & (piece != loops.text.TAB))
            first = piece[visible[np.searchsorted(visible, begins)]]
            data = np.flatnonzero(~np.isin(first, (loops.text.NEWLINE, loops.text.RETURN, loops.text.HASH)))
            here = wanted[(wanted > height) & (wanted <= height + data.size)]
            lines = before + data[here - height - 1] + 1
            found |= dict(zip(here.tolist(), lines.tolist(), strict=True))
            height, before = height + data.size, before + begins.size
            if height >= wanted.max(initial=0):
                break
        return [(found[row], "") for row in rows]

    @cached_property
    def extent(self) -> Extent:
        """Read the whole file once."""
        rows, first, last = 0, 1, -1
        for lines in self.lines():
            rows += lines.labels.size
            first = min(first, int(lines.indices.min(initial=1)))
            last = max(last, lines.most)
        return Extent(rows, first, last)

    def lines(self) -> Iterator[Lines]:
        """Yield the rows as they stand, in pieces of the file."""
        path, before, rows = self.source.paths[0], 0, 0
        most = detect.free_memory() // BYTES_A_COLUMN
        for piece, found in text_columns.read_pieces(_read_piece, self.source, path):
            if not isinstance(found, Lines):
                raise self._bad(before, piece, *found)
            if found.most > most:
                row = int(np.searchsorted(found.indptr, np.argmax(found.indices), side="right"))
                raise InputError(
                    f"{self.source.name!r}, row {rows + row:,} has a column {found.most:,}; weights for "
                    f"so many do not fit into memory, which has room for about {most:,}. Number the columns "
                    "from 1 on without gaps."
                )
            yield found
            rows += found.labels.size
            before += int(np.count_nonzero(piece == 10))

    def batches(self, rows: int, start: int) -> Iterator[tuple[Any, NDArray[Any]]]:
        """Yield CSR matrices and labels."""
        first, width = self.first_column, self.n_columns
        at = 0
        for lines in self.lines():
            matrix = shifted(lines, first, width)
            labels = whole(lines.labels)
            for begin in range(max(0, start - at), labels.size, rows):
                yield matrix[begin : begin + rows], labels[begin : begin + rows]
            at += labels.size

    def _bad(self, before: int, piece: text_columns.Text, status: int, at: int) -> InputError:
        line, shown = text_columns.line_of(piece, at)
        place = f"{self.source.name!r}, line {before + line + 1:,}: {shown!r}"
        if status == loops.text.HUGE:
            return InputError(
                f"{place} is a column beyond {loops.text.MOST_COLUMNS:,}, the most that can be used."
            )
        if status == ROUNDED:
            return InputError(
                f"{place} begins with a whole number beyond 2**53 that is no float64; it would be rounded. "
                "Make such numbers smaller, or number them anew."
            )
        if status == loops.text.STRAY:
            return InputError(
                f"{self.source.name!r}, line {before + line + 1:,} has a carriage return inside it; where "
                "the row ends is not clear. End every line with a newline."
            )
        if status == loops.text.RAGGED:
            return InputError(f"{place} is out of order: the columns of a row must ascend, each once.")
        return InputError(f"{place} is not 'column:value' with numbers. A line reads '1 3:0.5 7:2'.")


def shifted(lines: Lines, first: int, width: int) -> Any:
    """Rows as a CSR matrix whose columns count from zero, without those that are too large."""
    indices = lines.indices - np.int32(first) if first else lines.indices
    shape = (lines.labels.size, max(width, lines.most + 1 - first))
    matrix = sparse.csr_array((lines.data, indices, lines.indptr), shape=shape)
    return matrix if shape[1] == width else sparse.csr_array(matrix[:, :width])


def _read_piece(piece: text_columns.Text) -> tuple[text_columns.Text, Lines | tuple[int, int]]:
    n_lines, n_entries = int(np.count_nonzero(piece == 10)), int(np.count_nonzero(piece == 58))
    labels, indptr = np.empty(n_lines), np.empty(n_lines + 1, dtype=np.int64)
    indices, data = np.empty(n_entries, dtype=np.int32), np.empty(n_entries)
    room = 1024
    while True:
        hard = np.empty((room, 3), dtype=np.int64)
        status, at, rows = loops.text.libsvm_lines(
            piece, loops.text.POWERS, (labels, indptr), (indices, data), hard
        )
        if status != loops.text.FULL:
            break
        room *= 16
    if status != loops.text.DONE:
        return piece, (status, at)
    rounded = text_columns.read_hard(piece, hard, labels, data)
    if rounded is not None:
        return piece, (ROUNDED, rounded)
    entries = int(indptr[rows])
    return piece, Lines(labels[:rows], data[:entries], indices[:entries], indptr[: rows + 1])


def _looks(lines: list[str]) -> bool:
    return all(_LINE.fullmatch(line.strip()) for line in lines) and any(":" in line for line in lines)


FORMAT = Format(
    "libsvm",
    "LIBSVM",
    open_libsvm,
    endings=(".svm", ".libsvm", ".svmlight"),
    looks=_looks,
    live=True,
    unpacks=("gzip", "bz2", "zstd", "xz"),
)
