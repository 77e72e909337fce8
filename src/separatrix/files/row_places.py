"""Where a row of a matrix stands in the file: its number, its line, what a column calls it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

# For data rows of the file, counted from 1, their lines and, where there are several files, the file of each.
Lines = Callable[[Sequence[int]], list[tuple[int, str]]]


@dataclass(frozen=True)
class Place:
    """A row of the data.

    Attributes
    ----------
    row : int
        Its number among the rows of the file, counted from 1.
    line : int or None
        The line of the file or of the sheet, where it is another number.
    file : str
        The file, where there are several.
    name : str or None
        What the column of row names calls it.
    """

    row: int
    line: int | None = None
    file: str = ""
    name: str | None = None

    @property
    def words(self) -> str:
        """The place in words.

        Examples
        --------
        >>> Place(1200, 1201).words, Place(3, name="P7").words
        ('row 1,200 (line 1,201)', 'row 3 (P7)')
        """
        line = "" if self.line is None else f"line {self.line:,}" + (f" of {self.file}" if self.file else "")
        more = ", ".join(filter(None, (self.name, line)))
        return f"row {self.row:,}" + (f" ({more})" if more else "")


def placed(rows: Sequence[int], lines: Lines | None, names: Sequence[str] | None = None) -> list[Place]:
    """The places of data rows of the file; a line is named where it is not the row's number."""
    found = None if lines is None or not rows else lines(rows)
    return [
        Place(
            row,
            None if found is None or found[k] == (row, "") else found[k][0],
            "" if found is None else found[k][1],
            None if names is None else names[k],
        )
        for k, row in enumerate(rows)
    ]


def find_places(reader: Any, rows: Sequence[int]) -> list[Place]:
    """Where rows of the matrix, counted from zero, stand in the file; of any reader."""
    if reader.in_turn:
        numbers, names = [row + 1 for row in rows], None
    else:
        numbers, names = _identified(reader, rows)
    return placed(numbers, reader.line_finder, names)


def _identified(reader: Any, rows: Sequence[int]) -> tuple[list[int], list[str] | None]:
    wanted, begin = np.asarray(rows, dtype=np.int64), 0
    numbers, names = np.zeros(wanted.size, dtype=np.int64), [""] * wanted.size
    named = False
    for part, called in reader.identities():
        here = np.flatnonzero((wanted >= begin) & (wanted < begin + part.size))
        numbers[here] = part[wanted[here] - begin]
        if called is not None:
            named = True
            for k in here.tolist():
                names[k] = called[int(wanted[k]) - begin]
        begin += part.size
        if begin > wanted.max(initial=-1):
            break
    return numbers.tolist(), names if named else None
