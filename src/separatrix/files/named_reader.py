"""Choose the rows of named columns, and turn them into features and labels, as `meaning` decided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, needs
from ..inputs.matrix import LARGEST_EXACT
from .arrow import arrow_labels, arrow_text, as_numpy, pa, pc, to_rows, without
from .encoding import Encoding, clip, shown
from .formats.duckdb_files import answer, choose
from .formats.parquet import copied
from .meaning import Meaning, decide, find_looks, readings_told, with_levels
from .named_columns import ROWS, Columns
from .number_formats import (
    BLANKS,
    PLAIN_READING,
    Reading,
    is_rounded,
    marks_of,
    numbers_of,
    plain_text,
)
from .reader import MOST_ROWS, Batch, Table, ahead, batch_rows, whole
from .request import Request


def open_columns(columns: Columns, request: Request) -> NamedTable:
    """Return a reader of the rows that are wanted, or of the answer to a query on the columns."""
    if request.encoding is not None and request.encoding.width is not None:
        raise InputError(f"{columns.name!r} has named columns; the model was fitted on numbered ones.")
    if request.sql is not None and not columns.queried:
        columns = _answer(columns, request)
    columns = replace(columns, na=request.na)
    said: list[str] = []
    wanted = None if request.where is None else _where(columns, request, said)
    meaning = decide(columns, request, wanted)
    columns = wanted or columns
    if request.missing == "drop":
        columns = NamedTable(columns, request, meaning).without_gaps(said)
    return NamedTable(columns, request, with_levels(meaning, columns, request), tuple(said))


def _seen(columns: Columns, request: Request) -> NamedTable:
    """Return a table as queries see it: text is read as numbers or dates if that is clear."""
    return NamedTable(
        columns, replace(request, target=None), Meaning(Encoding(), find_looks(columns, request))
    )


def _where(columns: Columns, request: Request, said: list[str]) -> Columns:
    """Return the columns with the rows for which the condition is true, and say how many are not."""
    batches = _seen(columns, request).cleaned(columns.schema.names, ROWS, 0)
    rows, total = choose(batches, str(request.where))
    said.append(f"{total - rows.size:,} of {total:,} rows were left out by the condition.")
    return replace(columns, rows=rows)


def _answer(columns: Columns, request: Request) -> Columns:
    """Return the answer to a query in which the table, with its numbers read, is called ``data``."""
    notes: list[str] = []
    given = columns
    if not columns.paths:
        seen = _seen(columns, request)
        notes = readings_told(seen.meaning.looks)
        columns = copied(columns.name, seen.cleaned(columns.schema.names, ROWS, 0))
    found = answer(columns, str(request.sql))
    untyped = frozenset(found.schema.names) if given.untyped else frozenset[str]()
    return replace(found, untyped=untyped, notes=(*notes, *found.notes))


@dataclass(eq=False)
class NamedTable(Table):
    """Reads the rows of named columns.

    Attributes
    ----------
    columns : Columns
    request : Request
    meaning : Meaning
    left_out : tuple of str
        How many rows the condition and missing values leave out, one sentence each.
    """

    columns: Columns
    request: Request
    meaning: Meaning
    left_out: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.name, self.rows, self.line_finder = self.columns.name, self.columns.rows, self.columns.lines
        self.encoding, self.target_name = self.meaning.encoding, self.request.target
        self.told = (*self.meaning.notes, *self.left_out)

    @property
    def used(self) -> list[str]:
        """The columns that are read: the features, then the target."""
        target = [] if self.target_name is None else [self.target_name]
        return [*(column.name for column in self.encoding.columns), *target]

    # From cells to numbers and labels

    def cleaned(self, names: Sequence[str], rows: int, start: int) -> Iterator[Any]:
        """Yield batches of columns in which numbers in text are read, and marks of missing are null."""
        for batch in self.columns.batches(names, rows, start):
            columns = [self._clean(name, each) for name, each in zip(names, batch.columns, strict=True)]
            yield pa.RecordBatch.from_arrays(columns, names=list(names))

    def _clean(self, name: str, column: Any) -> Any:
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

    def _exact(self, name: str, column: Any, reading: Reading = PLAIN_READING) -> Any:
        """Return the nearest floats of numbers or text, and refuse integers that floats cannot hold."""
        text = pa.types.is_string(column.type)
        numbers = numbers_of(column, reading) if text else column.cast("float64", safe=False)
        large = np.flatnonzero(np.abs(as_numpy(numbers)) >= LARGEST_EXACT)
        for cell in plain_text(column.take(large).cast("string"), reading).to_pylist() if large.size else ():
            if is_rounded(cell, float(cell)):
                raise InputError(
                    f"Column {name!r} of {self.name!r} has a whole number beyond 2**53, {clip(cell)}, which "
                    "would be rounded.",
                    remedy="Leave the column out with 'exclude', or make its numbers smaller.",
                    parameter="exclude",
                )
        return numbers

    def _label(self, column: Any) -> Any:
        """Return labels as text without blanks around it, or as numbers, as the target is read."""
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
        return words

    # The rows that are wanted

    def without_gaps(self, said: list[str]) -> Columns:
        """Return the columns with the rows that lack no value that is used, and say how many do."""
        lacking, counts = self._gaps()
        named = ", ".join(f"{name} ({count:,})" for name, count in counts.items() if count)
        note = (
            f"{np.count_nonzero(lacking):,} of {lacking.size:,} rows were left out because they lack a value"
        )
        said.append(note + (f": {named}." if named else "."))
        rows = np.flatnonzero(~lacking)
        return replace(self.columns, rows=rows if self.columns.rows is None else self.columns.rows[rows])

    def _gaps(self) -> tuple[NDArray[np.bool_], dict[str, int]]:
        """Find the rows that lack a value that is used, and count the gaps of each column."""
        rows, counts = [np.empty(0, dtype=bool)], dict.fromkeys(self.used, 0)
        for batch in self.cleaned(self.used, MOST_ROWS, 0):
            found = [as_numpy(pc.is_null(column, nan_is_null=True)) for column in batch.columns]
            rows.append(np.any(found, axis=0))
            for name, gaps in zip(self.used, found, strict=True):
                counts[name] += int(gaps.sum())
        return np.concatenate(rows), counts

    def read_rows(self, rows: int, start: int) -> Iterator[Batch]:
        """Yield the encoded rows in the order of the file."""
        at_once = max(rows, batch_rows(self.encoding.n_features))
        for batch in ahead(self.cleaned(self.used, at_once, start)):
            target = None if self.target_name is None else batch.column(len(self.encoding.columns))
            columns = self._features(batch)
            for begin in range(0, batch.num_rows, rows):
                if any(map(_lacks_some, batch.slice(begin, rows).columns)):
                    raise self._missing()
                X = to_rows(columns, begin, min(begin + rows, batch.num_rows))
                yield X, None if target is None else self._typed(arrow_labels(target.slice(begin, len(X))))

    def _features(self, batch: Any) -> list[Any]:
        """Return one column of numbers per feature."""
        columns = []
        for column, cells in zip(self.encoding.columns, batch.columns, strict=False):
            if column.levels is None:
                large = str(cells.type) in ("int64", "uint64")
                columns.append(self._exact(column.name, cells) if large else cells)
                continue
            kept = self.encoding.kept_levels(column.levels)
            codes = as_numpy(pc.index_in(cells.cast("string"), value_set=arrow_text(kept)))
            columns += [(codes == code).astype(np.float64) for code in range(len(kept))]
        return columns

    def _typed(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Return the labels; numbers of a file without types become integers if all of them are."""
        typed = self.target_name not in self.columns.untyped
        return labels if typed or labels.dtype.kind != "f" else whole(labels)

    # Facts about the rows

    def count_rows(self) -> int:
        """Count the rows."""
        return self.columns.n_rows()

    def labels(self) -> Iterator[NDArray[Any]]:
        """Yield the different labels of each batch."""
        for batch in self.cleaned([str(self.target_name)], MOST_ROWS, 0):
            labels = arrow_labels(batch.column(0).drop_null().unique())
            yield self._typed(labels[~np.isnan(labels)] if labels.dtype.kind == "f" else labels)

    def frame(self) -> Any:
        """Return the wanted columns as a pandas data frame, before categories are encoded."""
        with needs("A data frame", extra="formula"):
            import pandas  # noqa: F401, ICN001

        found = list(self.cleaned(self.used, MOST_ROWS, 0))
        return pa.Table.from_batches(found).to_pandas()

    def row_names(self) -> Iterator[str] | None:
        """Yield the name of each row; None if the rows have no names."""
        name = self.request.row_names
        if name is None:
            return None
        batches = self.cleaned([name], MOST_ROWS, 0)
        return (called or "" for batch in batches for called in batch.column(0).cast("string").to_pylist())

    # Errors

    def _missing(self) -> InputError:
        """Return an error that names the columns that lack values, how many, and the first such row."""
        lacking, counts = self._gaps()
        without = [f"{name!r} ({count:,})" for name, count in counts.items() if count]
        first = self.places([int(lacking.argmax())])[0].words
        why = "".join(f" {note}" for note in self.columns.notes if "without saved results" in note)
        return InputError(
            f"{self.name!r} lacks values in {shown(without)}, the first in {first}.{why}",
            remedy="Fill them in, leave such rows out with missing='drop', or exclude the columns.",
            parameter="missing",
        )


def _lacks_some(column: Any) -> bool:
    """Return whether a cell has no value: null, or NaN."""
    return bool(column.null_count) or (
        str(column.type) in ("double", "float") and bool(np.isnan(as_numpy(column)).any())
    )
