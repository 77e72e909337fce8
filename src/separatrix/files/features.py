"""Turn named columns into rows of features and labels, as `meaning` decided, and choose the rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .batches import (
    LARGEST_WHOLE,
    MOST_ROWS,
    Batch,
    Matrices,
    ahead,
    arrow_labels,
    batch_rows,
    is_inexact,
    whole,
)
from .columns import ROWS, Columns, Summary, count_distinct, plain_type, summarize
from .encoding import MAX_LEVELS, Encoding, shown
from .formats.parquet import copied
from .meaning import Meaning, OddCellError, decide, find_looks, readings_told
from .number_formats import (
    BLANKS,
    PLAIN_READING,
    SIGNS,
    Look,
    Reading,
    is_rounded,
    marks_of,
    numbers_of,
    plain_text,
    shapes_of,
)
from .reader import Lines, Reader, placed
from .source.detect import Request
from .sql.database import answer, choose, explaining, refuse_chance

NUMBER = "separatrix row"  # a column that no file has
REMEDY = "Correct the cell, name it as missing with 'na', or read the column as text with 'text'."


class ReadingError(InputError):
    """A column of numbers has a cell that fits no one reading, or more than one."""


def open_columns(columns: Columns, request: Request) -> NamedReader:
    """Read named columns: the answer of a query on them, or those of their rows that are wanted."""
    if request.table is not None and not columns.queried:
        raise InputError(
            "'table' is for SQLite and DuckDB files; other files are one table.", parameter="table"
        )
    if request.where is not None:
        refuse_chance(request.where, "where")
    if request.encoding is not None and request.encoding.width is not None:
        raise InputError(f"{columns.name!r} has named columns; the model was fitted on numbered ones.")
    if request.sql is not None and not columns.queried:
        columns, request = _answered(columns, request), replace(request, sql=None)
    columns = replace(columns, na=request.na)
    reader = NamedReader(columns, request, Meaning(Encoding()))
    recount = None if request.where is None and request.missing == "error" else reader.recount
    try:
        with explaining(columns.name):
            return replace(reader, meaning=decide(columns, request, recount))
    except OddCellError as odd:
        raise _refusal(columns, odd.name, odd.look) from None


def _answered(columns: Columns, request: Request) -> Columns:
    """The answer of a query in which the table is called ``data``, with its numbers read."""
    notes: list[str] = []
    if not columns.relation:
        looks = find_looks(columns, request)
        reader = NamedReader(columns, replace(request, target=None), Meaning(Encoding(), looks))
        notes = readings_told(looks)
        batches = reader.cleaned(list(columns.types), ROWS, 0)
        copy = copied(columns.name, reader.types.items(), batches, keep=columns)
        columns = replace(copy, untyped=columns.untyped)
    found = answer(columns, str(request.sql))
    untyped = frozenset(found.types) if columns.untyped else frozenset[str]()
    return replace(found, untyped=untyped, notes=(*notes, *found.notes))


def _refusal(columns: Columns, name: str, found: Look) -> InputError:
    """The error that names the first cell of a column that is not a number, or could be read in two ways."""
    import pyarrow as pa
    import pyarrow.compute as pc

    sign = "." if found.reading.thousands == "." else ","
    row = 0
    for batch in columns.batches([name]):
        cells = batch.column(0)
        if found.kind == "ambiguous":
            odd = pc.match_substring(cells, sign)
        else:
            shapes = shapes_of(cells.fill_null(""))
            fits = pc.is_in(shapes, value_set=pa.array(found.fitting, "string"))
            odd = pc.invert(pc.or_(fits, marks_of(cells)))
        at = pc.index(pc.and_(odd, cells.is_valid()), True).as_py()
        if at >= 0:
            (place,) = placed([row + at + 1], columns.lines)
            value = cells[at].as_py()
            break
        row += batch.num_rows
    if found.kind == "ambiguous":
        return ReadingError(
            f"Column {name!r} of {columns.name!r} has {value!r} in {place.words}: that is a number with a "
            f"decimal {SIGNS[sign]}, or one with a {SIGNS[sign]} between thousands, and nothing tells which.",
            remedy="Say it with 'decimal' or 'thousands'.",
            parameter="decimal",
        )
    words = f" ({found.reading.words})" if found.reading.words else ""
    value = value if len(value) <= 40 else f"{value[:36]} ..."
    return ReadingError(
        f"Column {name!r} of {columns.name!r} holds numbers{words}, but {place.words} has {value!r}.",
        remedy=REMEDY,
        parameter="na",
    )


@dataclass(frozen=True, eq=False)
class NamedReader(Reader):
    """Rows of named columns.

    Attributes
    ----------
    columns : Columns
    request : Request
    meaning : Meaning
    """

    columns: Columns
    request: Request
    meaning: Meaning

    @property
    def encoding(self) -> Encoding:
        """How columns become features."""
        return self.meaning.encoding

    @property
    def target_name(self) -> str | None:
        """The target, as the file calls it."""
        return self.request.target

    @property
    def used(self) -> list[str]:
        """The columns that are read: the features, then the target."""
        target = [] if self.target_name is None else [self.target_name]
        return [*(column.name for column in self.encoding.columns), *target]

    def within(self, memory: int) -> NamedReader:
        """The same rows, read in about so many bytes where the format can be told."""
        limited = getattr(self.columns.read, "within", None)
        return self if limited is None else replace(self, columns=replace(self.columns, read=limited(memory)))

    # Rows

    @property
    def types(self) -> dict[str, Any]:
        """The types of cleaned columns."""
        import pyarrow as pa

        kinds = {"number": pa.float64(), "empty": pa.float64(), "date": pa.timestamp("us")}
        looks = self.meaning.looks
        return {
            name: kinds.get(looks[name].kind, each) if name in looks else plain_type(each)
            for name, each in self.columns.types.items()
        }

    def cleaned(self, names: Sequence[str], rows: int, start: int) -> Iterator[Any]:
        """Yield batches of columns whose numbers are numbers, with nothing where a code says missing."""
        import pyarrow as pa

        for batch in self.columns.batches(names, rows, start):
            columns = [self._clean(name, each) for name, each in zip(names, batch.columns, strict=True)]
            yield pa.RecordBatch.from_arrays(columns, names=list(names))

    def _clean(self, name: str, column: Any) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        if name == self.target_name:
            return self._label(column)
        if pa.types.is_decimal(column.type) or name in self.columns.numbers:
            return self._exact(name, column.cast("string"))
        found = self.meaning.looks.get(name)
        if found is None or found.kind in ("odd", "ambiguous", "written date"):
            return column
        if found.kind == "date":
            return column.cast(pa.timestamp("us"))
        if found.marked:
            column = pc.if_else(marks_of(column), pa.scalar(None, column.type), column)
        if found.kind == "empty":
            return pa.nulls(len(column), "float64")
        return self._exact(name, column, found.reading)

    def _exact(self, name: str, text: Any, reading: Reading = PLAIN_READING) -> Any:
        """The numbers of text; a whole number that no float is equal to is refused."""
        import pyarrow as pa
        import pyarrow.compute as pc

        try:
            numbers = (text if reading == PLAIN_READING else plain_text(text, reading)).cast("float64")
        except pa.ArrowInvalid:  # blanks, another minus, a plus sign, a number beyond all floats
            numbers = numbers_of(plain_text(text, reading))
        large = pc.greater(pc.abs(numbers), LARGEST_WHOLE)
        if pc.any(large).as_py():
            for cell in plain_text(text.filter(large), reading).to_pylist():
                if is_rounded(cell, float(cell)):
                    raise self._rounded(name, f", {cell if len(cell) < 60 else cell[:56] + ' ...'}")
        return numbers

    def _label(self, column: Any) -> Any:
        """The labels: text without blanks around it, or numbers, as the target is read."""
        import pyarrow as pa
        import pyarrow.compute as pc

        kind = column.type
        if pa.types.is_boolean(kind):
            return column.cast("string")
        if pa.types.is_decimal(kind):
            exact = kind.precision > 15 and kind.scale == 0
            return column.cast("string") if exact else column.cast("float64")
        if not pa.types.is_string(kind):
            return column
        words = pc.utf8_trim(column, characters=BLANKS)
        words = pc.if_else(pc.equal(words, ""), pa.scalar(None, "string"), words)
        if self.meaning.marked:
            words = pc.if_else(marks_of(words), pa.scalar(None, "string"), words)
        if self.meaning.label == "number":
            return self._exact(str(self.target_name), words)
        if self.meaning.label == "whole":
            return pc.replace_substring_regex(words, "^[+]", "").cast("int64")
        if self.meaning.label == "digits":
            return pc.replace_substring_regex(words, "^[+]?(-?)0*([0-9])", r"\1\2")
        return words

    def chosen(
        self, names: Sequence[str], rows: int, start: int = 0, missing: str | None = None
    ) -> Iterator[Any]:
        """Yield batches of the wanted rows, from row ``start`` of them on; the last column numbers them."""
        import pyarrow as pa

        missing = self.request.missing if missing is None else missing
        if self.in_turn:
            yield from self.cleaned(names, rows, start)
            return
        row_names = [] if self.request.row_names is None else [self.request.row_names]
        wanted = [*dict.fromkeys([*names, *row_names, *(self.used if missing == "drop" else [])])]
        if self.request.where is not None:
            everything = list(dict.fromkeys([*wanted, *self.columns.types]))
            batches = choose(
                self.columns.name,
                self._numbered(everything, rows),
                self.request.where,
                [*wanted, NUMBER],
                rows,
            )
        else:
            batches = self._numbered(wanted, rows)
        for batch in batches:
            if missing == "drop":
                lacking = [_lacking(batch.column(batch.schema.get_field_index(name))) for name in self.used]
                keep = np.ones(batch.num_rows, dtype=bool)
                for each in lacking:
                    keep &= ~each
                batch = batch if keep.all() else batch.filter(pa.array(keep))
            if start < batch.num_rows:
                columns = [batch.column(batch.schema.get_field_index(name)) for name in [*names, NUMBER]]
                yield pa.RecordBatch.from_arrays(columns, names=[*names, NUMBER]).slice(start)
            start = max(0, start - batch.num_rows)

    def _numbered(self, names: Sequence[str], rows: int) -> Iterator[Any]:
        """Cleaned batches with the numbers of their rows, counted from 1."""
        import pyarrow as pa

        at = 1
        for batch in self.cleaned(names, rows, 0):
            numbers = pa.array(np.arange(at, at + batch.num_rows))
            yield pa.RecordBatch.from_arrays([*batch.columns, numbers], names=[*batch.schema.names, NUMBER])
            at += batch.num_rows

    def recount(self, meaning: Meaning, names: Sequence[str], missing: str) -> dict[str, Summary]:
        """The summaries of categories over the rows that are chosen, once it is known how others are read."""
        reader, wanted = replace(self, meaning=meaning), list(names)

        def read(some: list[str], start: int) -> Iterator[Any]:
            for batch in reader.chosen(some, MOST_ROWS, start, missing):
                yield batch.select(some)

        found = summarize(dict.fromkeys(wanted, "text"), wanted, read)  # truth values, too
        for name in wanted:
            if len(found[name].levels) > MAX_LEVELS:
                found[name].distinct = count_distinct(batch.column(0) for batch in read([name], 0))
        return found

    def batches(self, rows: int, start: int) -> Iterator[Batch]:
        """Yield the encoded rows in the order of the file."""
        at, width = start, self.encoding.n_features
        matrices = Matrices(self._limits())
        for batch in ahead(self.chosen(self.used, max(rows, batch_rows(width)), start)):
            target = None if self.target_name is None else batch.column(len(self.encoding.columns))
            columns, lacking = self._features(batch)
            for begin, X, good in matrices.of_columns(columns, batch.num_rows, rows):
                part = None if target is None else target.slice(begin, len(X))
                if not good or lacking or (part is not None and _lacking(part).any()):
                    self._refuse_missing(X, lacking, part, at + begin)
                    self._refuse_rounded(batch, at)
                yield X, None if part is None else self._typed(arrow_labels(part))
            at += batch.num_rows

    def _features(self, batch: Any) -> tuple[list[Any], bool]:
        """One column of numbers for each feature; and whether a category without features lacks a value."""
        import pyarrow as pa
        import pyarrow.compute as pc

        columns, lacking = [], False
        for k, column in enumerate(self.encoding.columns):
            cells = batch.column(k)
            if column.levels is None:
                columns.append(cells)
                continue
            kept = self.encoding.kept_levels(column.levels)
            lacking |= bool(cells.null_count) and not kept
            cells = cells if pa.types.is_string(cells.type) else cells.cast("string")
            codes = pc.index_in(cells, value_set=pa.array(kept, "string")).fill_null(-1).to_numpy()
            gaps = _lacking(cells) if cells.null_count else None
            for code in range(len(kept)):
                shown_ = (codes == code).astype(np.float64)
                if gaps is not None:
                    shown_[gaps] = np.nan
                columns.append(shown_)
        return columns, lacking

    def _limits(self) -> NDArray[np.float64]:
        """For each feature, the largest number that is certain to be what the file holds."""
        limits = []
        for column in self.encoding.columns:
            if column.levels is None:
                wide = str(self.columns.types[column.name]) in ("int64", "uint64") or "duration" in str(
                    self.columns.types[column.name]
                )
                limits.append(LARGEST_WHOLE if wide and column.name not in self.meaning.looks else np.inf)
            else:
                limits += [np.inf] * len(self.encoding.kept_levels(column.levels))
        return np.array(limits, dtype=np.float64)

    def _typed(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Labels as they are; numbers of a file without types are whole if they all are."""
        typed = self.target_name not in self.columns.untyped
        return labels if typed or labels.dtype.kind != "f" else whole(labels)

    # What is asked about them

    def n_rows(self) -> int:
        """Count the rows."""
        if not self._choosing and self.columns.count is not None:
            return self.columns.count()
        return sum(batch.num_rows for batch in self.chosen(self.used[-1:], MOST_ROWS))

    def classes(self) -> NDArray[Any]:
        """The different labels."""
        import pyarrow as pa

        parts = []
        for batch in self.chosen([str(self.target_name)], MOST_ROWS):
            column = batch.column(0)
            labels = arrow_labels(column.filter(pa.array(~_lacking(column))).unique())
            parts.append(self._typed(labels))
        kept = [part for part in parts if part.size] or parts[:1]
        return np.unique(np.concatenate(kept)) if kept else np.empty(0, dtype=np.int64)

    def frame(self) -> Any:
        """Return the wanted columns as a pandas data frame, before categories are encoded."""
        import pyarrow as pa

        from ..errors import needs

        with needs("A data frame", extra="formula"):
            import pandas  # noqa: F401, ICN001

        found = [batch.select(self.used) for batch in self.chosen(self.used, MOST_ROWS)]
        return pa.Table.from_batches(found).to_pandas()

    @property
    def _choosing(self) -> bool:
        return self.request.where is not None or self.request.missing == "drop"

    @property
    def in_turn(self) -> bool:
        """Whether the rows have no names, and no other numbers than 1, 2, 3, ..."""
        return not self._choosing and self.request.row_names is None

    def identities(self) -> Iterator[tuple[NDArray[np.int64], list[str] | None]]:
        """Yield the numbers of the rows in the file, counted from 1, and their names, some at a time."""
        name = self.request.row_names
        for batch in self.chosen([] if name is None else [name], MOST_ROWS):
            names = (
                None if name is None else [each or "" for each in batch.column(0).cast("string").to_pylist()]
            )
            yield batch.column(batch.num_columns - 1).to_numpy(), names

    @property
    def line_finder(self) -> Lines | None:
        """Finds the lines of rows of the file; None where it has none."""
        return self.columns.lines

    def told(self) -> list[str]:
        """What a person should know about the reading, how many rows were left out among it."""
        return [*self.meaning.notes, *self._dropped]

    @cached_property
    def _dropped(self) -> list[str]:
        if not self._choosing:
            return []
        total = (
            self.columns.count()
            if self.columns.count
            else sum(batch.num_rows for batch in self.columns.batches(self.used[:1]))
        )
        left, dropped, counts = self._counts()
        words = []
        if self.request.where is not None:
            words.append(f"{total - left:,} of {total:,} rows were left out by the condition.")
        if self.request.missing == "drop":
            named = ", ".join(f"{name} ({count:,})" for name, count in counts.items() if count)
            words.append(
                f"{dropped:,} of {left:,} rows were left out because they lack a value"
                + (f": {named}." if named else ".")
            )
        return words

    def _counts(self) -> tuple[int, int, dict[str, int]]:
        """The rows that the condition leaves, how many of them lack a value, and how many in each column."""
        rows, lacking, counts = 0, 0, dict.fromkeys(self.used, 0)
        for batch in self.chosen(self.used, MOST_ROWS, 0, "error"):
            some = np.zeros(batch.num_rows, dtype=bool)
            for k, name in enumerate(self.used):
                gaps = _lacking(batch.column(k))
                counts[name] += int(gaps.sum())
                some |= gaps
            rows, lacking = rows + batch.num_rows, lacking + int(some.sum())
        return rows, lacking, counts

    # What is refused

    def _refuse_missing(self, X: NDArray[np.float64], lacking: bool, labels: Any, at: int) -> None:
        """Name the columns that lack values, and how many."""
        rows = np.flatnonzero(np.isnan(X).any(axis=1))
        if not rows.size and not lacking and (labels is None or not _lacking(labels).any()):
            return
        without = [f"{name!r} ({count:,})" for name, count in self._counts()[2].items() if count]
        first = f", the first in {self._place(at + int(rows[0]))}" if rows.size else ""
        raise InputError(
            f"{self.columns.name!r} lacks values in {shown(without)}{first}.",
            remedy="Fill them in, leave such rows out with missing='drop', or exclude the columns.",
            parameter="missing",
        )

    def _refuse_rounded(self, batch: Any, at: int) -> None:
        """Name a whole number that no float64 is equal to; an answer would speak of another number."""
        for k, column in enumerate(self.encoding.columns):
            cells = batch.column(k)
            if column.levels is None and str(cells.type) in ("int64", "uint64"):
                wrong = np.flatnonzero(is_inexact(cells.fill_null(0).to_numpy()))
                if wrong.size:
                    raise self._rounded(column.name, f" in {self._place(at + int(wrong[0]))}")

    def _rounded(self, name: str, where: str) -> InputError:
        return InputError(
            f"Column {name!r} of {self.columns.name!r} has a whole number beyond 2**53{where}, which "
            "would be rounded.",
            remedy="Leave the column out with 'exclude', or make its numbers smaller.",
            parameter="exclude",
        )

    def _place(self, row: int) -> str:
        return self.places([row])[0].words


def _lacking(column: Any) -> NDArray[np.bool_]:
    """Which cells have no value: null, or NaN."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.is_null(column, nan_is_null=True) if pa.types.is_floating(column.type) else column.is_null()
    gaps: NDArray[np.bool_] = found.to_numpy(zero_copy_only=False)
    return gaps
