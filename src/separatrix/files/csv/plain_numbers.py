"""CSV files of plain numbers, by compiled code in several threads: all of a file, or none of it.

At the first cell that is not a plain number (a quote, text, a missing value, a code that begins with a zero,
a point that may separate thousands) the general reader takes the file. A stream cannot be read again: such a
cell is refused with its row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import loops
from ...errors import InputError
from .. import text_columns
from ..batches import MOST_ROWS, Batch, Matrices, whole
from ..number_formats import PLAIN_CELL
from ..reader import placed
from ..source.detect import OtherMeaningError, Source
from .header import Dialect
from .small_files import QuickReader

_TARGET, _UNUSED = -1, -2  # where cells go that are none of the matrix


class NotPlain(Exception):
    """A row, counted from 1, is none of plain numbers; this is its text."""

    def __init__(self, row: int, line: str) -> None:
        super().__init__(row, line)
        self.row, self.line = row, line


@dataclass(eq=False)
class PlainReader(QuickReader):
    """Rows of plain numbers, as far as can be seen; or of the general reader, once a cell is something else.

    Attributes
    ----------
    source, dialect
        The files, and how they are written.
    pointed : frozenset of str
        Columns with points that are surely decimal.
    other : NamedReader or None
        The general reader, once it was needed.
    """

    source: Source
    dialect: Dialect
    pointed: frozenset[str]
    other: Any = None

    def settled(self) -> Any:
        """The general reader, with the column meanings that all rows decided."""
        if self.other is None:
            self.other = self.general()
            self.meaning = self.other.meaning
        return self.other

    def n_rows(self) -> int:
        """Count the rows."""
        return int(self._whole(lambda: sum(len(X) for X, _ in self._numbers((), MOST_ROWS)), "n_rows"))

    def classes(self) -> NDArray[Any]:
        """The different labels."""

        def found() -> NDArray[Any]:
            parts = [np.unique(y) for _, y in self._numbers((), MOST_ROWS) if y is not None]
            return np.unique(np.concatenate([np.empty(0, dtype=np.int64), *parts]))

        if self.source.growing is not None:
            self.source.growing.wait()
        return np.asarray(self._whole(found, "classes"))

    def _whole(self, count: Callable[[], Any], name: str) -> Any:
        """What compiled code finds in all rows, or the general reader in its stead."""
        if self.other is None:
            try:
                return count()
            except NotPlain as odd:
                self._refuse_stream(odd)
        return getattr(self.settled(), name)()

    def told(self) -> list[str]:
        """List what a person should know about the reading, one sentence each."""
        return list(self.meaning.notes) if self.other is None else self.other.told()

    def frame(self) -> Any:
        """Return the wanted columns as a pandas data frame, before categories are encoded."""
        return self.settled().frame()

    def counts_up(self, name: str) -> bool:
        """Whether the numbers of a column count up by one to the end of the file.

        Raises
        ------
        NotPlain
            Where they are not all plain.
        """
        last = np.empty(0)
        for X, _ in self._numbers((name,), MOST_ROWS):
            cells = np.concatenate([last, X[:, 0]])
            if np.any(np.diff(cells) != 1.0):
                return False
            last = cells[-1:]
        return True

    def batches(self, rows: int, start: int) -> Iterator[Batch]:
        """Yield up to ``rows`` rows at a time, in the file's order, from row ``start``.

        Raises
        ------
        OtherMeaningError
            Where a row tells that rows before it, which were given already, mean something else.
        """
        at = start
        if self.other is None:
            try:
                names = [column.name for column in self.encoding.columns]
                for X, y in self._numbers(names, rows, start):
                    yield X, y
                    at += len(X)
                return
            except NotPlain as odd:
                self._refuse_stream(odd)
                before = self.meaning
                found = self.settled().meaning
                if at and (found.encoding != before.encoding or not found.plain):
                    raise OtherMeaningError(self._said(odd), remedy=_REMEDY, parameter="na") from None
        yield from self.settled().batches(rows, at)

    def _numbers(self, names: Sequence[str], rows: int, start: int = 0) -> Iterator[Batch]:
        """Yield rows of some columns from row ``start`` on, and labels, up to a line that is not plain."""
        columns = {name: k for k, name in enumerate(names)}
        if self.target_name is not None:
            columns.setdefault(self.target_name, _TARGET)
        places = np.array(
            [
                (columns.get(name, _UNUSED), name not in self.pointed and name != self.target_name)
                for name in self.dialect.names
            ],
            dtype=np.int64,
        )
        matrices, delimiter, before = Matrices(np.full(len(names), np.inf)), ord(self.dialect.delimiter), 0
        for path in self.source.paths:
            pieces = text_columns.read_pieces(
                lambda piece: read_piece(piece, delimiter, places, matrices),
                self.source,
                path,
                skip=self.dialect.above,
            )
            for matrix, labels, line in pieces:
                height = labels.size
                for begin in range(start, height, rows):
                    part = slice(begin, begin + rows)
                    yield matrix[part], None if self.target_name is None else whole(labels[part])
                start, before = max(0, start - height), before + height
                if line is not None:
                    raise NotPlain(before + 1, line)

    def _said(self, odd: NotPlain) -> str:
        cells = odd.line.rstrip("\r\n").split(self.dialect.delimiter)
        named = zip(self.dialect.names, cells, strict=False)
        used = {self.target_name, *(column.name for column in self.encoding.columns)}
        some = ((name, cell) for name, cell in named if name in used and not PLAIN_CELL.fullmatch(cell))
        name, cell = next(some, (self.dialect.names[0], odd.line[:40]))
        (place,) = placed([odd.row], self.line_finder)
        what = f"Column {name!r} of {self.source.name!r} holds numbers in the rows before {place.words}"
        return f"{what}, which has {cell[:40]!r}."

    def _refuse_stream(self, odd: NotPlain) -> None:
        if self.source.growing is not None:
            raise InputError(self._said(odd), remedy=_REMEDY, parameter="na") from None


_REMEDY = "Correct the cell, name it as missing with 'na', or read the column as text with 'text'."


def read_piece(
    piece: text_columns.Text, delimiter: int, places: NDArray[np.int64], matrices: Matrices
) -> tuple[NDArray[np.float64], NDArray[np.float64], str | None]:
    """The numbers and labels of some lines, and the first line that is not plain numbers, if there is one."""
    n_lines = int(np.count_nonzero(piece == text_columns.NEWLINE))
    matrix, labels, room = matrices.new(n_lines), np.empty(n_lines), 1024
    while True:
        hard = np.empty((room, 3), dtype=np.int64)
        out = (matrix, labels, hard)
        status, at, rows = loops.text.csv_lines(piece, delimiter, loops.text.POWERS, places, out)
        if status != loops.text.FULL:
            break
        room *= 16
    rounded = text_columns.read_hard(piece, hard, labels, matrix.reshape(-1))
    if rounded is not None:
        rows, at = int(np.count_nonzero(piece[:rounded] == text_columns.NEWLINE)), rounded
    if status == loops.text.DONE and rounded is None:
        return matrix[:rows], labels[:rows], None
    begin = int(np.flatnonzero(piece[:at] == text_columns.NEWLINE)[-1]) + 1 if rows else 0
    return (
        matrix[:rows],
        labels[:rows],
        piece[begin : begin + 4096].tobytes().split(b"\n")[0].decode(errors="replace"),
    )
