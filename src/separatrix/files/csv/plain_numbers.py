"""CSV files of plain numbers, by compiled code in several threads.

Whatever is not plain numbers (quotes, text, missing values, errors) is left to DuckDB, from that row on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ... import loops
from .. import text_columns
from ..batches import MOST_ROWS, Batch, Matrices, whole
from ..source.detect import Source
from .header import Dialect, Sampled

_TARGET, _UNUSED = -1, -2  # where cells go that are none of the matrix


class NotPlain(Exception):
    """The next row is none of plain numbers."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Some rows: numbers and labels; ``whole`` says whether the piece was read to its end."""

    matrix: NDArray[np.float64]
    labels: NDArray[np.float64]
    whole: bool


def read_numbers(
    source: Source,
    dialect: Dialect,
    sampled: Sampled,
    names: Sequence[str],
    target: str | None,
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
    columns = {name: k for k, name in enumerate(names)}
    if target is not None:
        columns.setdefault(target, _TARGET)
    places = np.array(
        [(columns.get(name, _UNUSED), *_refused(sampled, name, target)) for name in dialect.names],
        dtype=np.int64,
    )
    matrices, delimiter = Matrices(np.full(len(names), np.inf)), ord(dialect.delimiter)
    for path in source.paths:
        for cells in text_columns.read_pieces(
            lambda piece: read_piece(piece, delimiter, places, matrices),
            source,
            path,
            skip=dialect.skip + dialect.header,
        ):
            height = cells.labels.size
            for begin in range(start, height, rows):
                part = slice(begin, begin + rows)
                yield cells.matrix[part], None if target is None else whole(cells.labels[part])
            start = max(0, start - height)
            if not cells.whole:
                raise NotPlain


def _refused(sampled: Sampled, name: str, target: str | None) -> tuple[bool, bool]:
    """What the first cells of a column did not have, and is to be looked at more closely where it comes.

    Numbers that begin with a zero, as codes do; and numbers that may have a point between thousands.
    """
    return name not in sampled.codes, name not in sampled.pointed and name != target


def read_piece(
    piece: text_columns.Text, delimiter: int, places: NDArray[np.int64], matrices: Matrices
) -> Cells:
    """The cells of some lines, as far as all of them are plain numbers."""
    n_lines = int(np.count_nonzero(piece == text_columns.NEWLINE))
    matrix, labels, room = matrices.new(n_lines), np.empty(n_lines), 1024
    while True:
        hard = np.empty((room, 3), dtype=np.int64)
        out = (matrix, labels, hard)
        status, _, rows = loops.text.csv_lines(piece, delimiter, loops.text.POWERS, places, out)
        if status != loops.text.FULL:
            break
        room *= 16
    if status != loops.text.DONE:
        return Cells(matrix[:0], labels[:0], whole=False)
    if text_columns.read_hard(piece, hard, labels, matrix.reshape(-1)) is not None:
        return Cells(matrix[:0], labels[:0], whole=False)
    return Cells(matrix[:rows], labels[:rows], whole=True)


def find_labels(
    source: Source, dialect: Dialect, sampled: Sampled, target: str
) -> NDArray[np.int64 | np.float64] | None:
    """The different labels, which are numbers; None if not all of them are plain."""
    try:
        parts = [
            np.unique(y)
            for _, y in read_numbers(source, dialect, sampled, (), target, MOST_ROWS, 0)
            if y is not None
        ]
    except NotPlain:
        return None
    return np.unique(np.concatenate([np.empty(0, dtype=np.int64), *parts]))


def counts_up(source: Source, dialect: Dialect, sampled: Sampled, name: str) -> bool:
    """Whether the numbers of a column count up by one to the end of the file.

    Raises
    ------
    NotPlain
        Where they are not all plain.
    """
    last = np.empty(0)
    for X, _ in read_numbers(source, dialect, sampled, (name,), None, MOST_ROWS, 0):
        cells = np.concatenate([last, X[:, 0]])
        if np.any(np.diff(cells) != 1.0):
            return False
        last = cells[-1:]
    return True
