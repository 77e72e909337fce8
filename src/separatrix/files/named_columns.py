"""Named columns: what every format yields, in batches of Arrow, and summaries of all rows of a column.

Numbers are passed on as they are, and text as text. `meaning` decides from the summaries what a column means.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrow import arrow_text, as_numpy, explaining, kind_of, pa, pc, plain, without
from .encoding import MAX_LEVELS, need_distinct
from .number_formats import BLANKS, PLAIN_CELL, masked, shape
from .reader import Lines

ROWS = 1 << 16  # rows per batch, if the reader does not ask for another number


@dataclass
class Summary:
    """What all rows of a column tell about it.

    Attributes
    ----------
    kind : {"number", "text", "boolean", "date"} or str
        What its type holds; other types are called by their own name.
    rows, values : int
        How many cells there are, and how many of them are not missing.
    counts_up : bool
        Whether each cell is a number, and the number before it plus one.
    levels : dict of str to int
        How often each text occurs, in order of the first; stops growing soon after `MAX_LEVELS`.
    shapes : dict of str to int
        How many cells have each shape; empty if there are too many shapes for a column of numbers.
    longest : int
        Characters of the longest text.
    """

    kind: str
    rows: int = 0
    values: int = 0
    counts_up: bool = True
    levels: dict[str, int] = field(default_factory=dict)
    shapes: dict[str, int] = field(default_factory=dict)
    longest: int = 0
    last: float | None = None
    overflown: bool = False

    @property
    def settled(self) -> bool:
        """Whether further rows cannot change what matters."""
        return self.kind not in ("text", "boolean") and self.values > 0 and not self.counts_up

    def add(self, column: Any) -> None:
        """Add the cells of an Arrow column."""
        column = column.cast("string") if self.kind in ("text", "boolean") else column
        self.rows += len(column)
        self.values += len(column) - column.null_count
        if pa.types.is_floating(column.type):
            self.values -= pc.sum(pc.is_nan(column)).as_py() or 0
        if self.counts_up and len(column):
            self._count_up(column)
        if self.kind in ("text", "boolean"):
            self._add_text(column.drop_null() if column.null_count else column)

    def _count_up(self, column: Any) -> None:
        """Check whether the cells continue to count from the last one."""
        try:
            numbers = as_numpy(column.cast("float64", safe=False))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            numbers = np.array([np.nan])
        last = np.floor(numbers[0]) - 1.0 if self.last is None else self.last
        with np.errstate(invalid="ignore"):
            self.counts_up = self.kind != "boolean" and bool(np.all(np.diff(numbers, prepend=last) == 1.0))
        self.last = float(numbers[-1])

    def _add_text(self, cells: Any, most_shapes: int = 100_000) -> None:
        """Count the levels and the shapes of cells that are not missing."""
        if not len(cells):
            return
        self.longest = max(self.longest, pc.max(pc.utf8_length(cells)).as_py())
        if len(self.levels) <= MAX_LEVELS:
            for level, number in itertools.islice(_value_counts(cells), 2 * MAX_LEVELS):
                self.levels[level] = self.levels.get(level, 0) + number
        if self.overflown:
            return
        for each, number in _value_counts(masked(cells)):
            form = shape(each)
            self.shapes[form] = self.shapes.get(form, 0) + number
        if len(self.shapes) > most_shapes:  # a column of numbers has fewer
            self.overflown, self.shapes = True, {}


def _value_counts(cells: Any) -> Iterator[tuple[str, int]]:
    counted = pc.value_counts(cells)
    return zip(counted.field(0).to_pylist(), counted.field(1).to_pylist(), strict=True)


Read = Callable[[Sequence[str], int, int], Iterator[Any]]


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of a file.

    Attributes
    ----------
    name : str
        What the user called the table.
    schema : pyarrow.Schema
        The names and Arrow types of the columns.
    read : callable
        Takes names, the number of rows per batch and the first row; yields batches of these columns.
    untyped : frozenset of str
        Columns whose type the file does not state, such as all columns of a CSV file.
    numbers : frozenset of str
        Text columns of plain numbers, because the file says so.
    text : tuple of str
        Columns that are text whatever their cells look like, because the file says so.
    unnamed : tuple of str
        Columns without a name of their own that are not features, such as row names.
    notes : tuple of str
        What a person should know about the file, one sentence each.
    lines : callable or None
        Finds the lines of rows.
    paths : tuple of str
        Parquet files with the same table, for queries; empty if a copy has to be made for them.
    queried : bool
        Whether the format has answered 'sql' and 'table' itself.
    na : tuple of str
        Cells that mean a missing value, in addition to those that the format knows.
    rows : array or None
        The rows that are wanted, counted from zero and sorted; None for all.
    """

    name: str
    schema: Any
    read: Read
    untyped: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    text: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    lines: Lines | None = None
    paths: tuple[str, ...] = ()
    queried: bool = False
    na: tuple[str, ...] = ()
    rows: NDArray[np.int64] | None = None
    _summaries: dict[tuple[str, str], Summary] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        need_distinct(self.name, self.schema.names)

    @property
    def kinds(self) -> dict[str, str]:
        """What the type of each column holds; see `Summary.kind`."""
        kinds = {each.name: kind_of(each.type) for each in self.schema}
        return kinds | dict.fromkeys(self.numbers, "number")

    def batches(self, names: Sequence[str], rows: int = ROWS, start: int = 0) -> Iterator[Any]:
        """Yield batches of some columns, from the wanted row ``start`` on.

        They have types that Arrow computes with; codes in ``na`` become null.
        """
        wanted = self.rows
        if wanted is not None and start >= wanted.size:
            return
        at = start if wanted is None else int(wanted[start])
        with explaining(self.name):
            for batch in self.read(names, rows, at):
                if wanted is not None:
                    begin, end = np.searchsorted(wanted, (at, at + batch.num_rows))
                    at, batch = at + batch.num_rows, batch.take(pa.array(wanted[begin:end] - at))
                columns = [_without_codes(plain(column), self.na) for column in batch.columns]
                yield pa.RecordBatch.from_arrays(columns, names=list(names))
                if wanted is not None and end == wanted.size:
                    return

    def n_rows(self) -> int:
        """Count the rows that are wanted."""
        if self.rows is not None:
            return self.rows.size
        return sum(each.num_rows for each in self.batches(self.schema.names[:1]))

    def summaries(self, names: Iterable[str], text: Iterable[str] = ()) -> dict[str, Summary]:
        """Summarize some columns; number columns in ``text`` are read as text. No column is read twice.

        All rows are read, except of columns of numbers that the first rows settle.
        """
        kinds = self.kinds | {name: "text" for name in text if self.kinds.get(name) == "number"}
        wanted = {name: (name, kinds[name]) for name in names}
        found = {name: Summary(kinds[name]) for name, key in wanted.items() if key not in self._summaries}
        # The first batch is small, because a few rows are enough to settle most columns of numbers.
        first, few = 0, [1 << 10] if "number" in kinds.values() else []
        for rows in (*few, ROWS):
            left = [name for name, summary in found.items() if not summary.settled]
            for batch in self.batches(left, rows, first) if left else ():
                first += batch.num_rows
                for name, column in zip(left, batch.columns, strict=True):
                    found[name].add(column)
                if rows < ROWS:
                    break
        self._summaries.update({wanted[name]: summary for name, summary in found.items()})
        return {name: self._summaries[key] for name, key in wanted.items()}


def _without_codes(column: Any, na: Sequence[str]) -> Any:
    """Replace the cells that are codes of missing values by null."""
    if not na:
        return column
    if pa.types.is_string(column.type):
        codes = pc.is_in(pc.utf8_trim(column, characters=BLANKS), value_set=arrow_text(na))
    elif kind_of(column.type) == "number":
        known = [float(code) for code in na if PLAIN_CELL.fullmatch(code)]
        codes = pc.is_in(column.cast("float64", safe=False), value_set=pa.array(known, "float64"))
    else:
        return column
    return without(column, codes)
