"""Choose the rows of named columns, and turn them into features and labels, as `meaning` decided."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, needs
from .batches import (
    LARGEST_WHOLE,
    MOST_ROWS,
    Batch,
    ahead,
    arrow_labels,
    as_numpy,
    batch_rows,
    is_inexact,
    to_rows,
    whole,
)
from .encoding import Encoding, shown
from .formats.parquet import copied
from .meaning import Meaning, OddCellError, decide, find_looks, readings_told
from .named_columns import ROWS, Columns, Summary, plain_type, summarize, without
from .number_formats import (
    BLANKS,
    PLAIN_READING,
    SIGNS,
    Look,
    Reading,
    arrow_text,
    is_rounded,
    marks_of,
    numbers_of,
    plain_text,
    shapes_of,
)
from .reader import Lines, Reader, placed
from .source.detect import Request
from .sql.database import answer, choose, explaining, refuse_chance

ROW_NUMBER = "separatrix row"  # the name of a column that is added to batches


def open_columns(columns: Columns, request: Request) -> NamedReader:
    """Return a reader of the rows that are wanted, or of the answer to a query on the columns."""
    if request.table is not None and not columns.queried:
        raise InputError(
            "'table' is for SQLite and DuckDB files; other files are one table.", parameter="table"
        )
    if request.where is not None:
        refuse_chance(request.where, "where")
    if request.encoding is not None and request.encoding.width is not None:
        raise InputError(f"{columns.name!r} has named columns; the model was fitted on numbered ones.")
    if request.sql is not None and not columns.queried:
        columns, request = _answer(columns, request), replace(request, sql=None)
    columns = replace(columns, na=request.na)
    reader = NamedReader(columns, request, Meaning(Encoding()))
    recount = reader.recount if reader.leaves_rows_out else None
    try:
        with explaining(columns.name):
            return replace(reader, meaning=decide(columns, request, recount))
    except OddCellError as odd:
        raise _first_odd_cell(columns, odd.name, odd.look) from None


def _answer(columns: Columns, request: Request) -> Columns:
    """Return the answer to a query in which the table, with its numbers read, is called ``data``."""
    import pyarrow as pa

    notes: list[str] = []
    if not columns.relation:
        looks = find_looks(columns, request)
        kinds = {"number": pa.float64(), "empty": pa.float64(), "date": pa.timestamp("us")}
        types = {
            name: kinds[looks[name].kind] if name in looks else plain_type(kind)
            for name, kind in columns.types.items()
        } | dict.fromkeys(columns.numbers, pa.float64())
        reader = NamedReader(columns, replace(request, target=None), Meaning(Encoding(), looks))
        notes = readings_told(looks)
        copy = copied(columns.name, types.items(), reader.cleaned(list(types), ROWS, 0), keep=columns)
        columns = replace(copy, untyped=columns.untyped)
    found = answer(columns, str(request.sql))
    untyped = frozenset(found.types) if columns.untyped else frozenset[str]()
    return replace(found, untyped=untyped, notes=(*notes, *found.notes))


def _first_odd_cell(columns: Columns, name: str, found: Look) -> InputError:
    """Return an error with the first cell that is not a number, or that could be read in two ways."""
    import pyarrow.compute as pc

    sign = "." if found.reading.thousands == "." else ","
    row, value = 0, ""
    for batch in columns.batches([name]):
        cells = batch.column(0)
        if found.kind == "ambiguous":
            odd = pc.match_substring(cells, sign)
        else:
            fits = pc.is_in(shapes_of(cells.fill_null("")), value_set=arrow_text(found.fitting))
            odd = pc.invert(pc.or_(fits, marks_of(cells)))
        at = pc.index(pc.and_(odd, cells.is_valid()), True).as_py()
        if at >= 0:
            row, value = row + at, cells[at].as_py()
            break
        row += batch.num_rows
    (place,) = placed([row + 1], columns.lines)
    if found.kind == "ambiguous":
        return InputError(
            f"Column {name!r} of {columns.name!r} has {value!r} in {place.words}: the {SIGNS[sign]} may be a "
            "decimal sign or separate thousands, and no other cell decides.",
            remedy="Specify 'decimal' or 'thousands'.",
            parameter="decimal",
        )
    words = f" ({found.reading.words})" if found.reading.words else ""
    return InputError(
        f"Column {name!r} of {columns.name!r} holds numbers{words}, but {place.words} has {_clip(value)!r}.",
        remedy="Correct the cell, name it as missing with 'na', or read the column as text with 'text'.",
        parameter="na",
    )


@dataclass(eq=False)
class NamedReader(Reader):
    """Reads the rows of named columns.

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
        """The name of the target in the file."""
        return self.request.target

    @property
    def used(self) -> list[str]:
        """The columns that are read: the features, then the target."""
        target = [] if self.target_name is None else [self.target_name]
        return [*(column.name for column in self.encoding.columns), *target]

    @property
    def leaves_rows_out(self) -> bool:
        """Whether a condition or missing values may leave out rows."""
        return self.request.where is not None or self.request.missing == "drop"

    @property
    def in_turn(self) -> bool:
        """Whether the rows have no names, and all rows of the file are used."""
        return not self.leaves_rows_out and self.request.row_names is None

    @property
    def line_finder(self) -> Lines | None:
        """Finds the lines of rows; None if the file has no lines."""
        return self.columns.lines

    def within(self, memory: int) -> NamedReader:
        """Return a reader of the same rows that uses about ``memory`` bytes, if the format can."""
        limited = getattr(self.columns.read, "within", None)
        return self if limited is None else replace(self, columns=replace(self.columns, read=limited(memory)))

    # From cells to numbers and labels

    def cleaned(self, names: Sequence[str], rows: int, start: int) -> Iterator[Any]:
        """Yield batches of columns in which numbers in text are read, and marks of missing are null."""
        import pyarrow as pa

        for batch in self.columns.batches(names, rows, start):
            columns = [self._clean(name, each) for name, each in zip(names, batch.columns, strict=True)]
            yield pa.RecordBatch.from_arrays(columns, names=list(names))

    def _clean(self, name: str, column: Any) -> Any:
        import pyarrow as pa

        if name == self.target_name:
            return self._label(column)
        if pa.types.is_decimal(column.type) or name in self.columns.numbers:
            return self._exact(name, column.cast("string"))
        found = self.meaning.looks.get(name)
        if found is None or found.kind in ("odd", "ambiguous", "written date"):
            return column
        if found.kind == "date":
            return column.cast(pa.timestamp("us"))
        if found.kind == "empty":
            return pa.nulls(len(column), "float64")
        return self._exact(name, without(column, marks_of(column)) if found.marked else column, found.reading)

    def _exact(self, name: str, text: Any, reading: Reading = PLAIN_READING) -> Any:
        """Return the numbers in text, and refuse integers that floats cannot hold."""
        numbers = numbers_of(text, reading)
        large = np.flatnonzero(np.abs(as_numpy(numbers)) > LARGEST_WHOLE)
        if large.size:
            for cell in plain_text(text.take(large), reading).to_pylist():
                if is_rounded(cell, float(cell)):
                    raise self._rounded(name, f", {_clip(cell)}")
        return numbers

    def _label(self, column: Any) -> Any:
        """Return labels as text without blanks around it, or as numbers, as the target is read."""
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
        words = without(
            words, marks_of(words) if self.meaning.marked else pc.is_in(words, value_set=arrow_text([""]))
        )
        if self.meaning.label == "number":
            return self._exact(str(self.target_name), words)
        if self.meaning.label == "whole":
            return pc.replace_substring_regex(words, "^[+]", "").cast("int64")
        if self.meaning.label == "digits":
            return pc.replace_substring_regex(words, "^[+]?(-?)0*([0-9])", r"\1\2")
        return words

    # The rows that are wanted

    def chosen(
        self, names: Sequence[str], rows: int, start: int = 0, missing: str | None = None
    ) -> Iterator[Any]:
        """Yield batches of the wanted rows, from the wanted row ``start`` on.

        Unless `in_turn`, the last column has the numbers of the rows in the file, counted from 1.
        """
        import pyarrow as pa

        if self.in_turn:
            yield from self.cleaned(names, rows, start)
            return
        drop = (self.request.missing if missing is None else missing) == "drop"
        row_names = [] if self.request.row_names is None else [self.request.row_names]
        wanted = list(dict.fromkeys([*names, *row_names, *(self.used if drop else [])]))
        if self.request.where is None:
            batches = self._numbered(wanted, rows)
        else:
            every = self._numbered(list(dict.fromkeys([*wanted, *self.columns.types])), rows)
            batches = choose(self.columns.name, every, self.request.where, [*wanted, ROW_NUMBER], rows)
        for batch in batches:
            if drop and self.used:
                lacking = np.any([_lacking(batch.column(name)) for name in self.used], axis=0)
                batch = batch.filter(pa.array(~lacking)) if lacking.any() else batch
            if start < batch.num_rows:
                yield batch.select([*names, ROW_NUMBER]).slice(start)
            start = max(0, start - batch.num_rows)

    def _numbered(self, names: Sequence[str], rows: int) -> Iterator[Any]:
        """Yield cleaned batches with the numbers of their rows, counted from 1."""
        import pyarrow as pa

        at = 1
        for batch in self.cleaned(names, rows, 0):
            numbers = pa.array(np.arange(at, at + batch.num_rows))
            yield pa.RecordBatch.from_arrays([*batch.columns, numbers], names=[*names, ROW_NUMBER])
            at += batch.num_rows

    def recount(self, meaning: Meaning, names: Sequence[str], missing: str) -> dict[str, Summary]:
        """Summarize categories over the rows that are chosen, with what is known about the columns so far."""
        reader = replace(self, meaning=meaning)

        def read(some: list[str], rows: int, start: int) -> Iterator[Any]:
            for batch in reader.chosen(some, rows, start, missing):
                yield batch.select(some)

        return summarize(dict.fromkeys(names, "text"), list(names), read)

    def batches(self, rows: int, start: int) -> Iterator[Batch]:
        """Yield the encoded rows in the order of the file."""
        at, width = start, self.encoding.n_features
        for batch in ahead(self.chosen(self.used, max(rows, batch_rows(width)), start)):
            target = None if self.target_name is None else batch.column(len(self.encoding.columns))
            self._refuse_rounded(batch, at)
            columns, lacking = self._features(batch)
            for begin in range(0, batch.num_rows, rows):
                X = to_rows(columns, begin, min(begin + rows, batch.num_rows))
                part = None if target is None else target.slice(begin, len(X))
                gaps = np.isnan(X)
                if lacking or gaps.any() or (part is not None and _lacks_some(part)):
                    raise self._missing(np.flatnonzero(gaps.any(axis=1)), at + begin)
                yield X, None if part is None else self._typed(arrow_labels(part))
            at += batch.num_rows

    def _features(self, batch: Any) -> tuple[list[Any], bool]:
        """Return one column of numbers per feature, and whether a category without features lacks a value."""
        import pyarrow.compute as pc

        columns, lacking = [], False
        for k, column in enumerate(self.encoding.columns):
            cells = batch.column(k)
            if column.levels is None:
                columns.append(cells)
                continue
            kept = self.encoding.kept_levels(column.levels)
            lacking |= bool(cells.null_count) and not kept
            codes = as_numpy(pc.index_in(cells.cast("string"), value_set=arrow_text(kept)))
            for code in range(len(kept)):
                indicator = (codes == code).astype(np.float64)
                if cells.null_count:
                    indicator[_lacking(cells)] = np.nan
                columns.append(indicator)
        return columns, lacking

    def _typed(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Return the labels; numbers of a file without types become integers if all of them are."""
        typed = self.target_name not in self.columns.untyped
        return labels if typed or labels.dtype.kind != "f" else whole(labels)

    # Facts about the rows

    def n_rows(self) -> int:
        """Count the rows."""
        if not self.leaves_rows_out and self.columns.count is not None:
            return self.columns.count()
        return sum(batch.num_rows for batch in self.chosen(self.used[-1:], MOST_ROWS))

    def classes(self) -> NDArray[Any]:
        """Return the different labels."""
        parts = []
        for batch in self.chosen([str(self.target_name)], MOST_ROWS):
            labels = arrow_labels(batch.column(0).drop_null().unique())
            parts.append(self._typed(labels[~np.isnan(labels)] if labels.dtype.kind == "f" else labels))
        kept = [part for part in parts if part.size] or parts[:1]
        return np.unique(np.concatenate(kept)) if kept else np.empty(0, dtype=np.int64)

    def frame(self) -> Any:
        """Return the wanted columns as a pandas data frame, before categories are encoded."""
        import pyarrow as pa

        with needs("A data frame", extra="formula"):
            import pandas  # noqa: F401, ICN001

        found = [batch.select(self.used) for batch in self.chosen(self.used, MOST_ROWS)]
        return pa.Table.from_batches(found).to_pandas()

    def identities(self) -> Iterator[tuple[int, str | None]]:
        """Yield the number of each row in the file, counted from 1, and its name if it has one."""
        name = self.request.row_names
        if self.in_turn:
            yield from super().identities()
        for batch in self.chosen([] if name is None else [name], MOST_ROWS):
            names: Iterable[str | None] = itertools.repeat(None)
            if name is not None:
                names = (called or "" for called in batch.column(0).cast("string").to_pylist())
            yield from zip(batch.column(ROW_NUMBER).to_pylist(), names, strict=False)

    def told(self) -> list[str]:
        """List what a person should know about the reading, one sentence each."""
        return [*self.meaning.notes, *self._dropped]

    @cached_property
    def _dropped(self) -> list[str]:
        """Say how many rows the condition and missing values leave out."""
        if not self.leaves_rows_out:
            return []
        count = self.columns.count
        total = count() if count else sum(each.num_rows for each in self.columns.batches(self.used[:1]))
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
        """Count the rows that the condition leaves, those that lack a value, and the gaps of each column."""
        rows, lacking, counts = 0, 0, dict.fromkeys(self.used, 0)
        for batch in self.chosen(self.used, MOST_ROWS, 0, "error"):
            gaps = [_lacking(batch.column(k)) for k in range(len(self.used))]
            for name, each in zip(self.used, gaps, strict=True):
                counts[name] += int(each.sum())
            rows, lacking = rows + batch.num_rows, lacking + int(np.any(gaps, axis=0).sum())
        return rows, lacking, counts

    # Errors

    def _missing(self, rows: NDArray[np.int64], at: int) -> InputError:
        """Return an error that names the columns that lack values, how many, and the first such row."""
        without = [f"{name!r} ({count:,})" for name, count in self._counts()[2].items() if count]
        first = f", the first in {self.places([at + int(rows[0])])[0].words}" if rows.size else ""
        return InputError(
            f"{self.columns.name!r} lacks values in {shown(without)}{first}.",
            remedy="Fill them in, leave such rows out with missing='drop', or exclude the columns.",
            parameter="missing",
        )

    def _refuse_rounded(self, batch: Any, at: int) -> None:
        """Raise an error that names an integer that float64 cannot hold, if there is one."""
        for k, column in enumerate(self.encoding.columns):
            cells = batch.column(k)
            if column.levels is None and str(cells.type) in ("int64", "uint64"):
                numbers = as_numpy(cells.fill_null(0) if cells.null_count else cells)
                wrong = np.flatnonzero(is_inexact(numbers))
                if wrong.size:
                    raise self._rounded(column.name, f" in {self.places([at + int(wrong[0])])[0].words}")

    def _rounded(self, name: str, where: str) -> InputError:
        return InputError(
            f"Column {name!r} of {self.columns.name!r} has a whole number beyond 2**53{where}, which "
            "would be rounded.",
            remedy="Leave the column out with 'exclude', or make its numbers smaller.",
            parameter="exclude",
        )


def _lacking(column: Any) -> NDArray[np.bool_]:
    """Find the cells without a value: null, or NaN."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.is_null(column, nan_is_null=True) if pa.types.is_floating(column.type) else column.is_null()
    return as_numpy(found)


def _lacks_some(column: Any) -> bool:
    """Return whether a cell has no value."""
    number = str(column.type) in ("double", "float")
    return bool(column.null_count) or (number and bool(_lacking(column).any()))


def _clip(cell: str, most: int = 40) -> str:
    return cell if len(cell) <= most else f"{cell[: most - 4]} ..."
