"""Readers of tables: they yield the rows in batches, and find the place of each row in the file."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .batches import MOST_ROWS, Batch
from .encoding import Encoding

# For data rows of the file, counted from 1, their lines and, if there are several files, the file of each.
Lines = Callable[[Sequence[int]], list[tuple[int, str]]]


@dataclass(frozen=True)
class Place:
    """A row of the data.

    Attributes
    ----------
    row : int
        Its number among the rows of the file, counted from 1.
    line : int or None
        The line of the file or of the sheet, if it is another number.
    file : str
        The file, if there are several.
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


def placed(
    rows: Sequence[int], lines: Lines | None, names: Sequence[str | None] | None = None
) -> list[Place]:
    """Return the places of data rows of the file; a line is named if it is not the row's number."""
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


class Reader:
    """Reads the rows of a file that is open; every format gives one of these."""

    @property
    def encoding(self) -> Encoding:
        """How columns become features."""
        raise NotImplementedError

    @property
    def target_name(self) -> str | None:
        """The name of the target; None if the table has no labels."""
        raise NotImplementedError

    @property
    def in_turn(self) -> bool:
        """Whether the rows have no names, and no other numbers than 1, 2, 3, ..."""
        return True

    @property
    def line_finder(self) -> Lines | None:
        """Finds the lines of rows; None if the file has no lines."""
        return None

    def n_rows(self) -> int:
        """Count the rows."""
        return sum(X.shape[0] for X, _ in self.batches(MOST_ROWS, 0))

    def classes(self) -> NDArray[Any]:
        """The different labels, sorted; only asked for where there is a target."""
        found = [np.unique(y) for _, y in self.batches(MOST_ROWS, 0) if y is not None]
        different: NDArray[Any] = np.unique(np.concatenate(found)) if found else np.empty(0, np.int64)
        return different

    def batches(self, rows: int, start: int) -> Iterator[Batch]:
        """Yield up to ``rows`` rows at a time, in the file's order, from row ``start``."""
        raise NotImplementedError

    def told(self) -> list[str]:
        """List what a person should know about the reading, one sentence each."""
        return []

    def identities(self) -> Iterator[tuple[int, str | None]]:
        """Yield the number of each row in the file, counted from 1, and its name if it has one."""
        return ((row, None) for row in itertools.count(1))

    def places(self, rows: Sequence[int]) -> list[Place]:
        """Find rows of the matrix, counted from zero, in the file."""
        if self.in_turn:
            return placed([row + 1 for row in rows], self.line_finder)
        wanted, first = {*rows}, itertools.islice(self.identities(), max(rows, default=-1) + 1)
        found = {row: identity for row, identity in enumerate(first) if row in wanted}
        numbers, names = [found[row][0] for row in rows], [found[row][1] for row in rows]
        return placed(numbers, self.line_finder, names)
