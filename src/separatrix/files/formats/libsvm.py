"""LIBSVM (svmlight) files: one row per line, written as ``label index:value ...``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import loops
from ...errors import InputError
from ...inputs.matrix import place_of
from ...sparse import sparse
from .. import text_columns
from ..encoding import Encoding
from ..number_formats import NUMBER
from ..reader import Batch, Table, whole
from ..request import Request
from ..source import detect
from ..source.detect import Format, Source

LABEL = "label"
# Memory for each column, used or not: the weights, and the copies that methods make of them. With ten million
# columns, `fit` took 48 bytes per column, a margin 58, and averaged weights 98.
BYTES_PER_COLUMN = 100
_LINE = re.compile(rf"({NUMBER.pattern})(\s+\d+:({NUMBER.pattern}))*\s*(#.*)?", re.IGNORECASE)


def open_libsvm(source: Source, request: Request) -> LibsvmTable:
    """Open a LIBSVM file with the columns that a model knows, or with those that it has."""
    if request.target not in (None, LABEL):
        raise InputError(f"The target of a LIBSVM file is the first number of each line, called {LABEL!r}.")
    return LibsvmTable(request, source)


@dataclass(eq=False)
class LibsvmTable(Table):
    """The rows of a LIBSVM file as CSR matrices.

    Columns that a model does not know are left out. Without a model the columns are those of the file, and
    count from zero if there is a column 0 anywhere. They are counted when ``encoding`` is first used.
    """

    request: Request
    source: Source

    def __post_init__(self) -> None:
        self.name, self.target_name = self.source.name, LABEL
        begins = partial(text_columns.begins_row, b"#")
        self.line_finder = partial(text_columns.find_lines, self.source, begins=begins)

    @cached_property
    def encoding(self) -> Encoding:  # type: ignore[override]
        """The columns that a model knows; or from the smallest number, at most 1, to the largest one."""
        first, last = 1, -1
        if self.request.encoding is not None:
            return self.request.encoding
        for X, _ in self.pieces():
            first, last = min(first, int(X.indices.min(initial=1))), max(last, X.shape[1] - 1)
        return Encoding(intercept=self.request.intercept, width=max(1, last + 1 - first), first=first)

    def labels(self) -> Iterator[NDArray[Any]]:
        """Yield the labels; the columns are not counted for them."""
        return (y for _, y in self.pieces())

    def read_rows(self, rows: int, start: int) -> Iterator[Batch]:
        """Yield CSR matrices and labels."""
        first, width = self.encoding.first, self.encoding.n_features
        for X, y in self.pieces():
            matrix = _renumbered(X, first, width)
            for begin in range(start, y.size, rows):
                yield matrix[begin : begin + rows], y[begin : begin + rows]
            start = max(0, start - y.size)

    def pieces(self) -> Iterator[tuple[Any, NDArray[Any]]]:
        """Yield the rows of one piece of the file after another, with columns numbered as in the file."""
        lines = n_rows = 0
        most = detect.free_memory() // BYTES_PER_COLUMN
        found = text_columns.pieces(self.source, self.source.paths[0])
        for piece, X, y, (status, at) in text_columns.in_threads(_read_piece, found):
            if status != loops.text.DONE:
                line, shown = text_columns.line_of(piece, at)
                what = (
                    "begins with a whole number beyond 2**53 that would be rounded. Make it smaller."
                    if status == loops.text.ROUNDED
                    else "is not 'column:value' with columns in ascending order, at most "
                    f"{loops.text.MOST_COLUMNS:,}. A line is written like '1 3:0.5 7:2'."
                )
                raise InputError(f"{self.source.name!r}, line {lines + line + 1:,}: {shown!r} {what}")
            if X.shape[1] - 1 > most:
                row = place_of(X, int(np.argmax(X.indices)))[0]
                raise InputError(
                    f"{self.source.name!r}, row {n_rows + row + 1:,} has a column {X.shape[1] - 1:,}. Memory "
                    f"has room for the weights of about {most:,} columns. Number the columns from 1 on "
                    "without gaps."
                )
            yield X, y
            n_rows += y.size
            lines += int(np.count_nonzero(piece == loops.text.NEWLINE))


def _renumbered(X: Any, first: int, width: int) -> Any:
    """Return a CSR matrix whose columns count from zero, without the columns beyond ``width``."""
    indices = X.indices - np.int32(first) if first else X.indices
    shape = (X.shape[0], max(width, X.shape[1] - first))
    matrix = sparse.csr_array((X.data, indices, X.indptr), shape=shape)
    return matrix if shape[1] == width else sparse.csr_array(matrix[:, :width])


def _read_piece(piece: text_columns.Text) -> tuple[text_columns.Text, Any, NDArray[Any], tuple[int, int]]:
    """Return a piece with its rows and labels, how reading it ended, and where."""
    n_lines = int(np.count_nonzero(piece == loops.text.NEWLINE))
    n_entries = int(np.count_nonzero(piece == loops.text.COLON))
    labels, indptr = np.empty(n_lines), np.empty(n_lines + 1, dtype=np.int64)
    indices, data = np.empty(n_entries, dtype=np.int32), np.empty(n_entries)
    read = partial(loops.text.libsvm_lines, piece, loops.text.POWERS, (labels, indptr), (indices, data))
    status, at, rows = text_columns.read_numbers(piece, read, labels, data)
    found = data[: indptr[rows]], indices[: indptr[rows]], indptr[: rows + 1]
    X = sparse.csr_array(found, shape=(rows, int(found[1].max(initial=-1)) + 1))
    return piece, X, whole(labels[:rows]), (status, at)


def _looks(lines: list[str]) -> bool:
    return all(_LINE.fullmatch(line.strip()) for line in lines) and any(":" in line for line in lines)


FORMAT = Format(
    "libsvm",
    "LIBSVM",
    open_libsvm,
    endings=(".svm", ".libsvm", ".svmlight"),
    looks=_looks,
    options=(),
)
