"""LIBSVM (svmlight) files: one row per line, written as ``label index:value ...``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import loops
from ...errors import InputError
from ...sparse import sparse
from .. import text_columns
from ..encoding import Encoding
from ..number_formats import NUMBER
from ..reader import Table, whole
from ..request import Request
from ..source import detect
from ..source.detect import Format, Source

LABEL = "label"
# Memory for each column, used or not: the weights, and the copies that methods make of them. With ten million
# columns, `fit` took 48 bytes per column, a margin 58, and averaged weights 98.
BYTES_PER_COLUMN = 100
_LINE = re.compile(rf"({NUMBER.pattern})(\s+\d+:({NUMBER.pattern}))*\s*(#.*)?", re.IGNORECASE)


class SparseRows(NamedTuple):
    """Some rows of the file, with column numbers as written."""

    labels: NDArray[np.float64]
    data: NDArray[np.float64]
    indices: NDArray[np.int32]
    indptr: NDArray[np.int64]

    @property
    def most(self) -> int:
        """The largest column number, or -1."""
        return int(self.indices.max(initial=-1))


def open_libsvm(source: Source, request: Request) -> LibsvmTable:
    """Open a LIBSVM file with the columns that a model knows, or with those that it has."""
    if request.target not in (None, LABEL):
        raise InputError(f"The target of a LIBSVM file is the first number of each line, called {LABEL!r}.")
    table = LibsvmTable(request, request.encoding or Encoding(intercept=request.intercept), source)
    return table.counted() if request.encoding is None and not request.live else table


@dataclass(eq=False)
class LibsvmTable(Table):
    """The rows of a LIBSVM file as CSR matrices.

    Columns that a model does not know are left out. Without a model the columns are those of the file, and
    count from zero if there is a column 0 anywhere. As long as they are not counted, ``encoding`` does not
    say how many there are.
    """

    request: Request
    encoding: Encoding
    source: Source

    def __post_init__(self) -> None:
        self.name, self.target_name = self.source.name, LABEL
        begins = partial(text_columns.begins_row, b"#")
        self.line_finder = partial(text_columns.find_lines, self.source, begins=begins)

    def counted(self) -> LibsvmTable:
        """Count the columns, if that was not done."""
        if self.encoding.width is None:
            _, first, last = self._extent
            self.encoding = replace(self.encoding, width=max(1, last + 1 - first), first=first)
        return self

    @cached_property
    def _extent(self) -> tuple[int, int, int]:
        """The number of rows, and the smallest (at most 1) and the largest column number of the file."""
        n_rows, first, last = 0, 1, -1
        for rows in self.pieces():
            n_rows += rows.labels.size
            first = min(first, int(rows.indices.min(initial=1)))
            last = max(last, rows.most)
        return n_rows, first, last

    def count_rows(self) -> int:
        """Count the rows."""
        return self._extent[0]

    def labels(self) -> Iterator[NDArray[Any]]:
        """Yield the labels; the columns are not counted for them."""
        return (whole(rows.labels) for rows in self.pieces())

    def read_rows(self, rows: int, start: int) -> Iterator[tuple[Any, NDArray[Any]]]:
        """Yield CSR matrices and labels."""
        encoding = self.counted().encoding
        for part in self.pieces():
            matrix, labels = _matrix(part, encoding.first, encoding.n_features), whole(part.labels)
            for begin in range(start, labels.size, rows):
                yield matrix[begin : begin + rows], labels[begin : begin + rows]
            start = max(0, start - labels.size)

    def pieces(self) -> Iterator[SparseRows]:
        """Yield the rows of one piece of the file after another."""
        lines = n_rows = 0
        most = detect.free_memory() // BYTES_PER_COLUMN
        found = text_columns.pieces(self.source, self.source.paths[0])
        for piece, rows, status, at in text_columns.in_threads(_read_piece, found, self.source):
            if status != loops.text.DONE:
                line, shown = text_columns.line_of(piece, at)
                what = (
                    "begins with a whole number beyond 2**53 that would be rounded. Make it smaller."
                    if status == loops.text.ROUNDED
                    else "is not 'column:value' with columns in ascending order, at most "
                    f"{loops.text.MOST_COLUMNS:,}. A line is written like '1 3:0.5 7:2'."
                )
                raise InputError(f"{self.source.name!r}, line {lines + line + 1:,}: {shown!r} {what}")
            if rows.most > most:
                row = int(np.searchsorted(rows.indptr, np.argmax(rows.indices), side="right"))
                raise InputError(
                    f"{self.source.name!r}, row {n_rows + row:,} has a column {rows.most:,}. Memory has room "
                    f"for the weights of about {most:,} columns. Number the columns from 1 on without gaps."
                )
            yield rows
            n_rows += rows.labels.size
            lines += int(np.count_nonzero(piece == loops.text.NEWLINE))


def _matrix(rows: SparseRows, first: int, width: int) -> Any:
    """Return a CSR matrix whose columns count from zero, without the columns beyond ``width``."""
    indices = rows.indices - np.int32(first) if first else rows.indices
    shape = (rows.labels.size, max(width, rows.most + 1 - first))
    matrix = sparse.csr_array((rows.data, indices, rows.indptr), shape=shape)
    return matrix if shape[1] == width else sparse.csr_array(matrix[:, :width])


def _read_piece(piece: text_columns.Text) -> tuple[text_columns.Text, SparseRows, int, int]:
    """Return a piece with its rows, how reading it ended, and where."""
    n_lines = int(np.count_nonzero(piece == loops.text.NEWLINE))
    n_entries = int(np.count_nonzero(piece == loops.text.COLON))
    labels, indptr = np.empty(n_lines), np.empty(n_lines + 1, dtype=np.int64)
    indices, data = np.empty(n_entries, dtype=np.int32), np.empty(n_entries)

    def read(hard: NDArray[np.int64]) -> tuple[int, int, int]:
        found: tuple[int, int, int] = loops.text.libsvm_lines(
            piece, loops.text.POWERS, (labels, indptr), (indices, data), hard
        )
        return found

    status, at, n_rows = text_columns.read_numbers(piece, read, labels, data)
    n_entries = int(indptr[n_rows])
    rows = SparseRows(labels[:n_rows], data[:n_entries], indices[:n_entries], indptr[: n_rows + 1])
    return piece, rows, status, at


def _looks(lines: list[str]) -> bool:
    return all(_LINE.fullmatch(line.strip()) for line in lines) and any(":" in line for line in lines)


FORMAT = Format(
    "libsvm",
    "LIBSVM",
    open_libsvm,
    endings=(".svm", ".libsvm", ".svmlight"),
    looks=_looks,
    live=True,
    options=(),
)
