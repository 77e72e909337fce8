"""The lines of rows in CSV files, where they are not the numbers of the rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import numpy as np

from .. import text_columns
from ..source.compression import open_binary
from ..source.detect import Source
from .header import Dialect


def find_lines(source: Source, dialect: Dialect, rows: Sequence[int]) -> list[tuple[int, str]]:
    """The lines of data rows, counted from 1, and the files they are in, where there are several.

    Of a damaged file, in which others count the rows otherwise, a line may not be found: it is then said to
    have the row's number, which names none.
    """
    wanted, before = sorted(set(rows)), 0
    found: dict[int, tuple[int, str]] = {}
    for path in source.paths:
        name = path if len(source.paths) > 1 else ""
        lines, height = _lines_of(source, dialect, path, [row - before for row in wanted if row > before])
        found |= {before + row: (line, name) for row, line in lines.items()}
        before += height
        if len(found) == len(wanted):
            break
    return [found.get(row, (row, "")) for row in rows]


def _lines_of(source: Source, dialect: Dialect, path: str, rows: list[int]) -> tuple[dict[int, int], int]:
    """The lines of some rows of one file, as far as it has them; and the rows that were counted."""
    before = dialect.skip + int(dialect.header)
    height = -before
    for piece in text_columns.pieces(source, path):
        ends = np.flatnonzero(piece == 10)
        blank = piece[np.maximum(ends - 1, 0)] == 13
        if np.any(piece == 34) or np.any(np.diff(ends, prepend=-1) == 1 + blank):
            return _lines_by_csv(source, dialect, path, rows)
        height += ends.size
        if rows and height >= rows[-1]:
            break
    return {row: row + before for row in rows if row <= height}, height


def _lines_by_csv(source: Source, dialect: Dialect, path: str, rows: list[int]) -> tuple[dict[int, int], int]:
    """The same where cells may have several lines, or lines no cells."""
    wanted, found, row, last = set(rows), {}, -int(dialect.header), dialect.skip
    with (
        open_binary(path, source.compression) as raw,
        io.TextIOWrapper(raw, "utf-8-sig", newline="") as lines,
    ):
        for _ in range(dialect.skip):
            lines.readline()
        reader = csv.reader(lines, delimiter=dialect.delimiter)
        for cells in reader:
            if cells or len(dialect.names) == 1:
                row += 1
                if row in wanted:
                    found[row] = last + 1
                    if len(found) == len(wanted):
                        break
            last = dialect.skip + reader.line_num
    return found, row
