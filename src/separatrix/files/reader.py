"""Tables: their rows as a matrix, whole or in batches, and the place of each row in the file."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, LabelError
from ..rows.spill import Spill
from ..sparse import sparse
from .arrow import release_arrow
from .encoding import Encoding, shown
from .label_spelling import doubts
from .request import Request
from .source.detect import ChangedFileError, OtherMeaningError, Source, free_memory, need_unchanged

T = TypeVar("T")
Batch = tuple[Any, NDArray[Any] | None]  # X, dense or CSR, and y; None without a target
# The size of a batch: smaller ones take longer to pass on, and several have to fit into the cache.
NUMBERS, MOST_ROWS = 7 << 16, 1 << 14


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


# For data rows of the file, counted from 1, their places.
Lines = Callable[[Sequence[int]], list[Place]]


def rows_only(rows: Sequence[int]) -> list[Place]:
    """Return the places of rows of a file without lines."""
    return [Place(row) for row in rows]


class Table:
    """Rows in a file that is open, with the columns that are used; each kind of reader is a class of these.

    Attributes
    ----------
    name : str
        What the user called the data.
    request : Request
        Which rows and columns the user asked for.
    encoding : Encoding
        How columns become features; give it to `open_table` to read another file in the same way. For a CSV
        file it is decided from the first rows until all rows have been read.
    target_name : str or None
        The name of the target; None if the table has no labels.
    told : tuple of str
        What the reader says about the reading, one sentence each.
    line_finder : callable or None
        Finds the lines of rows; None if the file has no lines.
    rows : array or None
        The rows of the file that are used, counted from zero; None for all.
    kind : str
        The kind of file; "query" for the answer to a query.
    source : Source or None
        The files; None if the query names them.
    """

    name: str
    request: Request
    encoding: Encoding
    target_name: str | None
    told: tuple[str, ...] = ()
    line_finder: Lines | None = None
    rows: NDArray[np.int64] | None = None
    kind: str = "query"
    source: Source | None = None

    # What a reader does in its own way

    def read_rows(self, rows: int, start: int) -> Iterator[Batch]:
        """Yield up to ``rows`` rows at a time, in the file's order, from row ``start``."""
        raise NotImplementedError

    def count_rows(self) -> int:
        """Count the rows."""
        return sum(X.shape[0] for X, _ in self.read_rows(MOST_ROWS, 0))

    def labels(self) -> Iterator[NDArray[Any]]:
        """Yield the labels of some rows at a time, perhaps each only once, and none that is missing."""
        return (y for _, y in self.read_rows(MOST_ROWS, 0) if y is not None)

    def row_names(self) -> Iterator[str] | None:
        """Yield the name of each row; None if the rows have no names."""
        return None

    # What all of them share

    @property
    def paths(self) -> tuple[str, ...]:
        """The files; empty for a query that names them itself, and for streams."""
        return () if self.source is None or not self.source.stamps else self.source.names

    @property
    def feature_names(self) -> tuple[str, ...]:
        """One name per column of the matrix."""
        return self.encoding.feature_names

    @cached_property
    def n_rows(self) -> int:
        """The number of rows, without those that ``where`` or missing values leave out."""
        return self.count_rows()

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The distinct values of the target, sorted. Fewer than two values are an error."""
        if self.target_name is None:
            names = [column.name for column in self.encoding.columns]
            named = f" The columns are {shown(names)}." if names else ""
            raise InputError(
                f"Which column is the target?{named}", remedy="Name it with 'target'.", parameter="target"
            )
        parts = [np.unique(each) for each in self.labels() if each.size]
        found: NDArray[Any] = np.unique(np.concatenate(parts or [np.empty(0, np.int64)]))
        if len(found) < 2:
            values = f"only one value ({found.tolist()[0]!r})" if len(found) else "no values"
            raise LabelError(
                f"The target {self.target_name!r} has {values} in {self.name!r}; two are needed to separate "
                "anything.",
                remedy="Look at 'where', or choose another target.",
                parameter="y",
            )
        return found

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """A warning about labels that seem to mean the same."""
        return () if self.target_name is None else tuple(doubts(self.target_name, self.classes.tolist()))

    def batches(self, rows: int | None = None, start: int = 0) -> Iterator[Batch]:
        """Yield ``(X, y)`` of up to ``rows`` rows at a time, in the order of the file, in bounded memory.

        Parameters
        ----------
        rows : int, optional
            By default, as many as take about 4 MB.
        start : int
            The first row, counted from zero.

        Raises
        ------
        InputError
            If something is wrong with the rows, or, after the last row, if a file has changed meanwhile.
        """
        if not self.encoding.n_features and self.target_name is None:
            raise InputError(
                "No column is left to read: each has one value only, or was left out. Name the columns that "
                "matter.",
                parameter="features",
            )
        most = batch_rows(self.encoding.n_features) if rows is None else rows
        return ahead(self._checked(most, start))

    def need_unchanged(self) -> None:
        """Raise an error if a file has changed since it was opened."""
        need_unchanged(self.paths, () if self.source is None else self.source.stamps)

    def _checked(self, rows: int, start: int) -> Iterator[Batch]:
        try:
            yield from self.read_rows(rows, start)
        except ChangedFileError:
            raise
        except InputError:
            self.need_unchanged()  # the error may be about a line that is being written
            raise
        self.need_unchanged()

    def read(self) -> Batch:
        """Read all rows: X of float64, dense or CSR, and y (None without a target).

        A matrix of more than half of the memory is written to a temporary file (in TMPDIR) and mapped. It can
        be used like any other, and about a sixteenth of the memory holds parts of it at a time; the rest is
        for the few numbers per row that every method needs.
        """
        try:
            X, y = self._read()
        except OtherMeaningError:  # now all rows have decided, and it cannot happen again
            X, y = self._read()
        self.n_rows = X.shape[0]
        return X, y

    def _read(self) -> Batch:
        room = (free_memory() if self.request.memory is None else self.request.memory) // 2
        parts: list[Any] = []
        labels: list[NDArray[Any]] = []
        taken, spill = 0, None
        # Batches are larger than those for online learning: nothing has to stay in the cache.
        for X, y in self.batches(3 * batch_rows(self.encoding.n_features) // 2):
            labels.append(np.empty(0) if y is None else y.copy())  # a view would keep Arrow's batch alive
            taken += X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes
            parts.append(X)
            # The parts need as much memory again when they are joined.
            if 2 * taken > room or spill is not None:
                spill = spill or Spill()
                for part in parts:
                    spill.append(part)
                parts.clear()
        if not labels:
            raise self.empty()
        y = None if self.target_name is None else np.concatenate(labels)
        if spill is not None:
            release_arrow()
            return spill.matrix(room // 8), y
        dense = isinstance(parts[0], np.ndarray)
        return np.concatenate(parts) if dense else sparse.vstack(parts, format="csr"), y

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a person should know about how the file was read, one sentence each."""
        found = () if self.source is None else self.source.notes
        queried = ("Rows are those of the query's answer, counted from 1, not those of the file.",) * (
            self.request.sql is not None
        )
        return (*found, *queried, *self.told)

    def identities(self) -> Iterator[tuple[int, str | None]]:
        """Yield the number of each row in the file, counted from 1, and its name if it has one."""
        numbers = itertools.count(1) if self.rows is None else iter((self.rows + 1).tolist())
        names: Iterator[str | None] = self.row_names() or itertools.repeat(None)
        return zip(numbers, names, strict=False)

    def places(self, rows: Sequence[int]) -> list[Place]:
        """Find rows of the matrix, counted from zero, in the file."""
        numbers = [row + 1 if self.rows is None else int(self.rows[row]) + 1 for row in rows]
        found = (self.line_finder or rows_only)(numbers)
        names = self.row_names()
        if names is None or not rows:
            return found
        named = dict(enumerate(itertools.islice(names, max(rows) + 1)))
        return [replace(place, name=named[row]) for row, place in zip(rows, found, strict=True)]

    def empty(self) -> InputError:
        """Return the error for a table without rows."""
        return InputError(
            f"{self.name!r} has no rows left. Look at the file, at 'where' and at missing values."
        )

    def describe(self) -> dict[str, Any]:
        """Return plain facts for people and JSON."""
        columns = {c.name: "number" if c.levels is None else list(c.levels) for c in self.encoding.columns}
        return {
            "source": self.name,
            "kind": self.kind,
            "rows": self.n_rows,
            "target": self.target_name,
            "features": self.encoding.n_features,
            "columns": columns or None,
            "notes": [*self.doubts, *self.notes],
        }


def batch_rows(width: int) -> int:
    """Return how many rows of ``width`` numbers to read at once."""
    return max(1, min(MOST_ROWS, NUMBERS // max(1, width)))


def ahead(source: Iterator[T]) -> Iterator[T]:
    """Yield the same items; another thread makes the next one while the caller works on the last one."""
    end: Any = object()
    pool = ThreadPoolExecutor(1, thread_name_prefix="separatrix-reader")
    try:
        coming = pool.submit(next, source, end)
        while (item := coming.result()) is not end:
            coming = pool.submit(next, source, end)
            yield item
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def whole(labels: NDArray[np.float64]) -> NDArray[Any]:
    """Return labels as integers if all of them are."""
    with np.errstate(invalid="ignore"):  # of labels beyond int64
        rounded = labels.astype(np.int64)
    return rounded if np.array_equal(rounded, labels) else labels
