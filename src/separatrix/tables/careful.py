"""CSV files whose first rows do not tell all: a later cell is no plain number."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .batches import Batch
from .cleaning import ReadingError
from .database import CellError
from .encoding import Encoding
from .places import Lines
from .query import Query

T = TypeVar("T")


def read_carefully(error: CellError, make: Callable[[], Query]) -> Query:
    """Make the query in which all cells tell; where it cannot be, say what was wrong in the first place."""
    try:
        return make()
    except ReadingError:
        raise  # names the row, too
    except InputError:
        raise error from None


class CarefulReader:
    """A query, and the same one in which all cells of a column tell how its numbers are written.

    That one takes a reading of the file more, and is made when a cell turns out to be no plain number.
    """

    def __init__(self, first: Query, again: Callable[[], Query]) -> None:
        self.first, self.later, self._make = first, None, again

    later: Query | None

    @property
    def encoding(self) -> Encoding:
        """How columns become features."""
        return self.first.encoding

    @property
    def target_name(self) -> str | None:
        """What the labels are called; None if there are none."""
        return self.first.target_name

    @property
    def in_turn(self) -> bool:
        """Whether the rows have no names, and no other numbers than 1, 2, 3, ..."""
        return self.first.in_turn

    @property
    def line_finder(self) -> Lines | None:
        """Finds the lines of rows of the file."""
        return self.first.line_finder

    def n_rows(self) -> int:
        """Count the rows."""
        return self._ask(Query.n_rows)

    def classes(self) -> NDArray[Any]:
        """The different labels."""
        return self._ask(Query.classes)

    def told(self) -> list[str]:
        """What a person should know about the reading, a sentence each."""
        found = self._ask(Query.told)
        return found if self.later is None else list(dict.fromkeys([*self.first.notes, *found]))

    def frame(self) -> Any:
        """The wanted columns as a data frame of pandas', as they stand in the file."""
        return self._ask(Query.frame)

    def batches(self, rows: int, start: int) -> Iterator[Batch]:
        """Yield up to ``rows`` rows at a time, in the file's order, from row ``start``."""
        at = start
        if self.later is None:
            try:
                for X, y in self.first.batches(rows, start):
                    yield X, y
                    at += len(X)
                return
            except CellError as error:
                self._again(error, at)
        assert self.later is not None
        yield from self.later.batches(rows, at)

    def identities(self) -> Iterator[tuple[NDArray[np.int64], list[str] | None]]:
        """Yield the numbers of the rows in the file, counted from 1, and their names, some at a time."""
        done = 0
        if self.later is None:
            try:
                for numbers, names in self.first.identities():
                    yield numbers, names
                    done += numbers.size
                return
            except CellError as error:
                self._again(error)
        assert self.later is not None
        for numbers, names in self.later.identities():
            skipped, done = min(done, numbers.size), max(0, done - numbers.size)
            yield numbers[skipped:], None if names is None else names[skipped:]

    def _ask(self, question: Callable[[Query], T]) -> T:
        if self.later is None:
            try:
                return question(self.first)
            except CellError as error:
                self._again(error)
        assert self.later is not None
        return question(self.later)

    def _again(self, error: CellError, at: int = 0) -> None:
        """Make the other query, to go on with from row ``at``; raise where rows before it differ."""
        found = self.later or read_carefully(error, self._make)
        # What was a fraction before would be thousands now.
        if at and any(reading.thousands == "." for reading in found.readings.values()):
            raise error
        self.later = found
