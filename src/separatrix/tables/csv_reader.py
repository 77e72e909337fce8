"""A CSV file by up to three readers: each stops at a cell that it does not know, and the next goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .batches import Batch
from .cleaning import ReadingError
from .csv_numbers import NotPlain
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


@dataclass(eq=False)
class CsvReader:
    """Rows of a CSV file.

    Attributes
    ----------
    encoding : Encoding
    target_name : str or None
    notes : tuple of str
        What is known of the reading since the first rows were seen.
    line_finder : callable
        Finds the lines of rows.
    ask : callable
        Makes the query in which the first rows of a column tell how its numbers are written.
    ask_again : callable
        Makes the query in which all cells of a column do. That takes a reading of the file more.
    in_turn : bool
        Whether the rows have no names, and no other numbers than 1, 2, 3, ...
    plain : callable, optional
        Takes rows a batch and the first row, and yields plain rows; raises `NotPlain` at any other.
    labels : callable, optional
        Gives the different labels, or None where not all are plain.
    count : int, optional
        The number of rows, where it is known.
    query, careful : Query or None
        The two queries, when they were made.
    """

    encoding: Encoding
    target_name: str | None
    notes: tuple[str, ...]
    line_finder: Lines
    ask: Callable[[], Query]
    ask_again: Callable[[], Query]
    in_turn: bool = True
    plain: Callable[[int, int], Iterator[Batch]] | None = None
    labels: Callable[[], NDArray[Any] | None] | None = None
    count: int | None = None
    query: Query | None = None
    careful: Query | None = None

    def n_rows(self) -> int:
        """Count the rows."""
        return self._answer(Query.n_rows) if self.count is None else self.count

    def classes(self) -> NDArray[Any]:
        """The different labels."""
        found = None if self.labels is None or self.careful is not None else self.labels()
        return self._answer(Query.classes) if found is None else found

    def told(self) -> list[str]:
        """What a person should know about the reading, a sentence each."""
        found = [] if self.query is None else self._answer(Query.told)
        return list(dict.fromkeys([*self.notes, *found]))

    def frame(self) -> Any:
        """The wanted columns as a data frame of pandas', as they stand in the file."""
        return self._answer(Query.frame)

    def batches(self, rows: int, start: int) -> Iterator[Batch]:
        """Yield up to ``rows`` rows at a time, in the file's order, from row ``start``."""
        at = start
        if self.plain is not None and self.careful is None:
            try:
                for X, y in self.plain(rows, at):
                    yield X, y
                    at += len(X)
                return
            except NotPlain:
                pass
        if self.careful is None:
            try:
                for X, y in self._asked().batches(rows, at):
                    yield X, y
                    at += len(X)
                return
            except CellError as error:
                self._read_again(error, at)
        assert self.careful is not None
        yield from self.careful.batches(rows, at)

    def identities(self) -> Iterator[tuple[NDArray[np.int64], list[str] | None]]:
        """Yield the numbers of the rows in the file, counted from 1, and their names, some at a time."""
        done = 0
        if self.careful is None:
            try:
                for numbers, names in self._asked().identities():
                    yield numbers, names
                    done += numbers.size
                return
            except CellError as error:
                self._read_again(error)
        assert self.careful is not None
        for numbers, names in self.careful.identities():
            skipped, done = min(done, numbers.size), max(0, done - numbers.size)
            yield numbers[skipped:], None if names is None else names[skipped:]

    def _answer(self, question: Callable[[Query], T]) -> T:
        if self.careful is None:
            try:
                return question(self._asked())
            except CellError as error:
                self._read_again(error)
        assert self.careful is not None
        return question(self.careful)

    def _asked(self) -> Query:
        self.query = self.query or self.ask()
        return self.query

    def _read_again(self, error: CellError, at: int = 0) -> None:
        """Make the other query, to go on with from row ``at``; raise where rows before it differ."""
        found = self.careful or read_carefully(error, self.ask_again)
        # What was a fraction before would be thousands now.
        if at and any(reading.thousands == "." for reading in found.readings.values()):
            raise error
        self.careful = found
