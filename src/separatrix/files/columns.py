"""Named columns: what every format yields, in batches of Arrow, and what all rows of a column tell.

Numbers come as they are, text as text. Nothing here knows what a column means; `meaning` decides that from
the summaries of all rows.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .encoding import MAX_LEVELS, need_distinct
from .number_formats import BLANKS, CODE, masked, shape
from .reader import Lines

ROWS = 1 << 16  # that are looked at together
MOST_SHAPES = 100_000  # a column with more different shapes of cells holds no numbers


@dataclass
class Summary:
    """What all rows of a column tell.

    Attributes
    ----------
    kind : {"number", "text", "boolean", "date"} or str
        What its type holds; the name of the type, where that is neither.
    rows, values : int
        How many cells there are, and how many of them are not missing.
    counts_up : bool
        Whether each cell is a number, and the one before it plus one.
    levels : dict of str to int
        How often each text occurs, in order of the first; `MAX_LEVELS` and one more at most of a long column.
    distinct : int or None
        How many different texts there are; None where that was not counted.
    shapes : dict of str to int
        How many cells have which shape; empty where there are too many for numbers.
    longest : int
        Characters of the longest text.
    code : str
        The first cell that is digits alone, and begins with a zero.
    """

    kind: str
    rows: int = 0
    values: int = 0
    counts_up: bool = True
    levels: dict[str, int] = field(default_factory=dict)
    distinct: int | None = None
    shapes: dict[str, int] = field(default_factory=dict)
    longest: int = 0
    code: str = ""
    last: float | None = None
    overflown: bool = False

    @property
    def settled(self) -> bool:
        """Whether no further row can tell anything new."""
        return self.kind not in ("text", "boolean") and self.values > 0 and not self.counts_up

    def add(self, column: Any) -> None:
        """Look at some cells more, as Arrow has them."""
        import pyarrow.compute as pc

        column = column.cast("string") if self.kind in ("text", "boolean") else column
        self.rows += len(column)
        self.values += len(column) - column.null_count
        if self.kind == "number":
            missing = pc.sum(pc.is_nan(column)).as_py() if str(column.type) in _FLOATS else 0
            self.values -= missing or 0
        if self.counts_up:
            self._count(column)
        if self.kind in ("text", "boolean"):
            self._tell(column.drop_null() if column.null_count else column)

    def _count(self, column: Any) -> None:
        """Whether the cells count up, from the last one on."""
        found = None
        if self.kind in ("number", "text") and not column.null_count:
            found = _as_floats(column)
        if found is None:
            self.counts_up = not len(column) and self.counts_up
            return
        if self.last is None and found.size:
            self.last = float(found[0]) - 1.0
            self.counts_up = found[0] == np.floor(found[0])
        if found.size and self.last is not None:
            with np.errstate(invalid="ignore"):
                self.counts_up &= bool(np.all(np.diff(found, prepend=self.last) == 1.0))
            self.last = float(found[-1])

    def _tell(self, cells: Any) -> None:
        """Count the levels and the shapes of cells, none of which is missing."""
        import pyarrow.compute as pc

        if not len(cells):
            return
        self.longest = max(self.longest, pc.max(pc.utf8_length(cells)).as_py())
        if len(self.levels) <= MAX_LEVELS:
            counted = pc.value_counts(cells)
            some = zip(counted.field(0).to_pylist(), counted.field(1).to_pylist(), strict=True)
            for level, number in itertools.islice(some, 2 * MAX_LEVELS):
                self.levels[level] = self.levels.get(level, 0) + number
        if self.overflown:
            return
        found = pc.value_counts(masked(cells))
        for each, number in zip(found.field(0).to_pylist(), found.field(1).to_pylist(), strict=True):
            form = shape(each)
            self.shapes[form] = self.shapes.get(form, 0) + number
            if not self.code and CODE.fullmatch(each):
                codes = cells.filter(pc.match_substring_regex(cells, f"^{CODE.pattern}$"))
                self.code = codes[0].as_py()
        if len(self.shapes) > MOST_SHAPES:
            self.overflown, self.shapes = True, {}


_FLOATS = ("double", "float", "halffloat")


def _as_floats(column: Any) -> Any:
    """Cells as floats; None where one of them is no number as programs write it."""
    import pyarrow as pa

    try:
        return column.cast("float64", safe=False).to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def summarize_cells(cells: Sequence[str]) -> Summary:
    """The summary of all cells of a column of text, none of which is missing."""
    times = Counter(cells)
    shapes: dict[str, int] = {}
    for cell, number in times.items():
        form = shape(cell)
        shapes[form] = shapes.get(form, 0) + number
    found = Summary("text", len(cells), len(cells), levels=dict(times), distinct=len(times), shapes=shapes)
    found.longest = max(map(len, times), default=0)
    found.code = next(filter(CODE.fullmatch, cells), "")
    try:
        found.counts_up = len(cells) < 2 or float(cells[1]) - float(cells[0]) == 1.0
        numbers = np.array(list(map(float, cells)) if found.counts_up else [0.5])
        found.counts_up = bool(np.all(np.diff(numbers) == 1.0) and np.all(numbers == np.floor(numbers)))
    except ValueError:
        found.counts_up = False
    return found


Read = Callable[[Sequence[str], int, int], Iterator[Any]]


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of a file.

    Attributes
    ----------
    name : str
        What the user called the table.
    types : dict of str to DataType
        The type of each column, as Arrow has it.
    read : callable
        Takes names, how many rows to read together and the first row wanted; yields batches of these columns.
    untyped : frozenset of str
        Columns of whose type the file says nothing, as a CSV file does of none.
    numbers : frozenset of str
        Columns of text whose cells are numbers as programs write them, because the file says so.
    text : tuple of str
        Columns that are text whatever their cells look like, because the file says so.
    unnamed : tuple of str
        Columns without a name of their own that hold no evidence, such as row names.
    notes : tuple of str
        What a person should know about the file: a sentence each.
    lines : callable or None
        Finds the lines of rows.
    relation : str
        What DuckDB reads the same table by, after FROM; empty where a copy has to be made for it.
    called : str
        What a query calls the table; empty where no query can be offered.
    queried : bool
        Whether the format has answered 'sql' and 'table' itself.
    na : tuple of str
        Cells that mean a missing value, beside those that the format knows.
    keep : object
        What has to live as long as this.
    count : callable or None
        Counts the rows without reading them.
    """

    name: str
    types: dict[str, Any]
    read: Read
    untyped: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    text: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    lines: Lines | None = None
    relation: str = ""
    called: str = "data"
    queried: bool = False
    na: tuple[str, ...] = ()
    keep: Any = None
    count: Callable[[], int] | None = None

    def __post_init__(self) -> None:
        need_distinct(self.name, self.types)

    @property
    def kinds(self) -> dict[str, str]:
        """What each column holds, as its type tells; see `Summary.kind`."""
        kinds = {name: kind_of(each) for name, each in self.types.items()}
        return kinds | dict.fromkeys(self.numbers, "number")

    def batches(self, names: Sequence[str], rows: int = ROWS, start: int = 0) -> Iterator[Any]:
        """Yield batches of some columns in types that Arrow computes with; codes of missing are null."""
        import pyarrow as pa

        for batch in self.read(names, rows, start):
            columns = [_without(plain(column), self.na) for column in batch.columns]
            yield pa.RecordBatch.from_arrays(columns, names=list(names))

    def summaries(self, names: Iterable[str], text: Iterable[str] = ()) -> dict[str, Summary]:
        """What all rows tell of some columns; of columns of numbers, as many rows as it takes.

        Columns of numbers that shall be read as ``text`` are.
        """
        kinds = self.kinds | {name: "text" for name in text if self.kinds.get(name) == "number"}
        wanted = list(dict.fromkeys(names))
        return summarize(kinds, wanted, lambda some, start: self.batches(some, start=start))

    def distinct(self, name: str) -> int:
        """How many different values a column has."""
        return count_distinct(batch.column(0) for batch in self.batches([name]))


@dataclass(frozen=True, eq=False)
class CellColumns:
    """The columns of some rows of text in memory, none of whose cells is missing; see `Columns`."""

    name: str
    cells: Mapping[str, Sequence[str]]
    unnamed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    called: str = "data"

    @property
    def kinds(self) -> dict[str, str]:
        """All cells are text."""
        return dict.fromkeys(self.cells, "text")

    @property
    def untyped(self) -> frozenset[str]:
        """All columns, as of any CSV file."""
        return frozenset(self.cells)

    def summaries(self, names: Iterable[str], text: Iterable[str] = ()) -> dict[str, Summary]:
        """What the rows tell of some columns."""
        return {name: summarize_cells(self.cells[name]) for name in names}

    def distinct(self, name: str) -> int:
        """How many different values a column has."""
        return len({*self.cells[name]})


def summarize(
    kinds: Mapping[str, str], wanted: list[str], read: Callable[[list[str], int], Iterable[Any]]
) -> dict[str, Summary]:
    """Summaries of columns; ``read`` yields batches of some of them, from some row on."""
    found = {name: Summary(kinds[name]) for name in wanted}
    rows, left = 0, wanted
    while left:
        for batch in read(left, rows):
            rows += batch.num_rows
            for name, column in zip(left, batch.columns, strict=True):
                found[name].add(column)
            if any(found[name].settled for name in left):
                break
        else:
            return found
        left = [name for name in left if not found[name].settled]
    return found


def count_distinct(columns: Iterable[Any]) -> int:
    """How many different values that are not missing there are."""
    import pyarrow as pa

    seen: list[Any] = []
    waiting, size = list[Any](), 0
    for column in columns:
        waiting.append(column.unique())
        size += len(waiting[-1])
        if size > sum(len(each) for each in seen):
            seen, waiting, size = [pa.concat_arrays([*seen, *waiting]).unique()], [], 0
    return len(pa.concat_arrays([*seen, *waiting]).unique().drop_null()) if seen or waiting else 0


def kind_of(kind: Any) -> str:
    """What a type of Arrow holds."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(kind):
        return kind_of(kind.value_type)
    if types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view":
        return "text"
    if types.is_boolean(kind):
        return "boolean"
    if types.is_temporal(kind) and not types.is_duration(kind):
        return "date"
    numeric = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    return "number" if numeric or types.is_duration(kind) or types.is_null(kind) else str(kind)


def plain(column: Any) -> Any:
    """A column in a type that Arrow can compute with: no dictionaries, no views, no half floats."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        return plain(column.dictionary_decode())
    if pa.types.is_large_string(kind) or str(kind) == "string_view":
        return column.cast("string")
    if pa.types.is_float16(kind):
        return pa.array(column.to_numpy(zero_copy_only=False).astype(np.float32), from_pandas=True)
    if pa.types.is_duration(kind):
        return column.cast("int64")
    return column.cast("float64") if pa.types.is_null(kind) else column


def plain_type(kind: Any) -> Any:
    """The type that `plain` gives a column."""
    import pyarrow as pa

    return plain(pa.nulls(0, kind)).type


def _without(column: Any, na: Sequence[str]) -> Any:
    """A column with missing values where its cells are codes that mean one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string(column.type) and na:
        codes = pc.is_in(pc.utf8_trim(column, characters=BLANKS), value_set=pa.array(na))
    elif na and (known := _numeric(na)) and kind_of(column.type) == "number":
        codes = pc.is_in(column.cast("float64", safe=False), value_set=pa.array(known, "float64"))
    else:
        return column
    return pc.if_else(codes, pa.scalar(None, column.type), column)


def _numeric(na: Sequence[str]) -> list[float]:
    """Those of the codes that are numbers."""
    found = []
    for code in na:
        with contextlib.suppress(ValueError):
            found.append(float(code))
    return [code for code in found if math.isfinite(code)]


_UNITS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}


def duration_notes(types: Mapping[str, Any]) -> tuple[str, ...]:
    """What is said of columns whose numbers have a unit."""
    import pyarrow as pa

    lasting = {name: each for name, each in types.items() if pa.types.is_duration(each)}
    return tuple(f"{name}: a duration, in {_UNITS[each.unit]}." for name, each in lasting.items())
