"""CSV files of plain numbers, read by compiled code in several threads; anything else is left to DuckDB."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..loops import text as text_loops
from . import text
from .columns import Matrices
from .sources import Dialect, Source


@dataclass(frozen=True, eq=False)
class Cells:
    """Some rows: numbers and labels; ``whole`` says whether the piece was read to its end."""

    matrix: NDArray[np.float64]
    labels: NDArray[np.float64]
    whole: bool


def number_batches(
    source: Source,
    dialect: Dialect,
    names: Sequence[str],
    target: str | None,
    matrices: Matrices,
    rows: int,
    start: int,
) -> Generator[tuple[NDArray[np.float64], NDArray[np.float64]], None, bool]:
    """Yield rows from row ``start`` on, up to a line that is not plain numbers; return whether there is none.

    Of a piece of the file that holds such a line nothing is used; it and the rest are for somebody else.
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
                yield cells.matrix[begin : begin + rows], cells.labels[begin : begin + rows]
            start = max(0, start - height)
            if not cells.whole:
                return False
    return True


def _place(name: str, names: Sequence[str], target: str | None) -> int:
    return names.index(name) if name in names else -1 if name == target else -2


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
    for begin, end, entry in hard[1 : hard[0, 0]].tolist():
        value = float(piece[begin:end].tobytes())
        if entry < 0:
            labels[-1 - entry] = value
        else:
            matrix.flat[entry] = value
    return Cells(matrix[:rows], labels[:rows], whole=True)
