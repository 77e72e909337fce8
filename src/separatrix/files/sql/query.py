"""Tables with named columns: which columns and rows are read, how they become features, and by whom."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ..batches import (
    MOST_ROWS,
    Batch,
    Matrices,
    ahead,
    arrow_labels,
    batch_rows,
    known_labels,
    lacks_some,
    trimmed,
    whole,
)
from ..cleaning import clean, plain_sql, readings_told
from ..encoding import Column, Encoding, choose_columns, shown, unknown
from ..identifiers import (
    Suspects,
    counting,
    in_words,
    learn_columns,
    left_out,
    without_row_names,
    without_values,
)
from ..number_formats import PLAIN_READING, Reading
from ..row_places import Lines, find_places
from ..source.detect import Request
from .database import LARGEST_WHOLE, Database, identifier, is_number, largest_exact, literal, refuse_chance
from .selection import NAME, NUMBER, Selection


def ask(
    database: Database, request: Request, *, suspects: Suspects | None = None, notes: Sequence[str] = ()
) -> Query:
    """Choose the columns of a table, and learn from it, or from what a model knows, how they are encoded.

    Columns that number or name the rows are left out, unless they are asked for. ``suspects`` finds those of
    the given columns that count up by one; DuckDB does, if it is not given. ``notes`` are about what was done
    with the table before.
    """
    if request.table is not None:
        raise InputError(
            "'table' is for SQLite and DuckDB files; other files are one table.", parameter="table"
        )
    if request.where is not None:
        refuse_chance(request.where, "where")
    known = request.encoding
    if known is not None and known.width is not None:
        raise InputError(f"{database.name!r} has named columns; the model was fitted on numbered ones.")
    names = choose_columns(
        tuple(database.columns),
        target=request.target,
        features=request.features if known is None else tuple(column.name for column in known.columns),
        exclude=request.exclude if known is None else (),
        row_names=request.row_names,
    )
    for name in request.text:
        if name not in database.columns:
            raise unknown(name, tuple(database.columns))
    told = list(notes)
    if known is None and request.features is None:
        names, found = left_out(
            names, database.unnamed, suspects or partial(counting, database), request.text
        )
        told += found
    if request.row_names is not None:  # as they stand, whatever the column is read as
        named = f"(SELECT *, {identifier(request.row_names)}::VARCHAR AS {NAME} FROM {database.relation})"
        database = replace(database, relation=named, opened=database.connection)
    cleaned = clean(database, request, names)
    if known is None and request.features is None:
        others = [] if database.cells is not None else [n for n in names if database.columns[n] != "VARCHAR"]
        empty = {*cleaned.empty, *without_values(database, others)}
        told += [f"{name} is left out: it has no values." for name in names if name in empty]
        names = tuple(name for name in names if name not in empty) or names
    database = cleaned.database
    told += readings_told({name: each for name, each in cleaned.readings.items() if name in names})
    told += cleaned.notes
    rows = Selection(
        database, names, request.target, request.where, request.missing, request.row_names is not None
    )
    if request.target is not None:
        _ = rows.label  # refuses what is neither a number nor text, whoever will read the column
    if known is not None:
        for column in known.columns:
            _need_same_column(database, rows, column)
        return Query(database, rows, known, notes=tuple(told), readings=cleaned.readings)
    # Rows that lack a value in a column that is left out are not dropped for that.
    names, naming = without_row_names(database, replace(rows, missing="error").rows, names, request)
    rows = replace(rows, names=names)
    columns, found = learn_columns(database, rows.rows, names, cleaned.readings, request)
    encoding = Encoding(columns, request.intercept, na=request.na)
    return Query(database, rows, encoding, notes=(*told, *naming, *found), readings=cleaned.readings)


@dataclass(frozen=True, eq=False)
class Query:
    """Rows with named columns, by DuckDB; Arrow reads columns in its stead where it can.

    Attributes
    ----------
    database : Database
    selection : Selection
    encoding : Encoding
    columns : callable, optional
        Takes rows a batch and the first row, and yields Arrow batches of the used columns, in DuckDB's stead.
    labels : callable, optional
        Gives the different labels, or None where DuckDB has to find them.
    notes : tuple of str
        What a person should know about the reading: a sentence each.
    readings : dict of str to Reading
        How text was read that holds numbers.
    """

    database: Database
    selection: Selection
    encoding: Encoding
    columns: Callable[..., Iterator[Any]] | None = None
    labels: Callable[[], NDArray[Any] | None] | None = None
    notes: tuple[str, ...] = ()
    readings: dict[str, Reading] = field(default_factory=dict)

    def within(self, memory: int) -> Query:
        """The same rows, read in about so many bytes where the reader can be told."""
        return self if self.columns is None else replace(self, columns=partial(self.columns, memory=memory))

    @property
    def target_name(self) -> str | None:
        """The target, as the file calls it."""
        return self.selection.target

    def n_rows(self) -> int:
        """Count the rows."""
        return int(self.database.rows(f"SELECT count(*) FROM {self.selection.rows}")[0][0])

    def told(self) -> list[str]:
        """What a person should know about the reading, how many rows were left out among it."""
        return [*self.notes, *self._dropped()]

    def _dropped(self) -> list[str]:
        rows = self.selection
        if not rows.chosen:
            return []
        kept = rows.condition
        lacking = [rows.lacking(name) for name in rows.used] if rows.missing == "drop" else []
        asked = [
            f"count(*) FILTER ({kept} AND ({each}))" for each in (" OR ".join(lacking) or "false", *lacking)
        ]
        query = f"SELECT count(*), count(*) FILTER ({kept}), {', '.join(asked)} FROM {self.database.relation}"
        total, left, dropped, *each = self.database.rows(query)[0]
        words = []
        if rows.where is not None:
            words.append(f"{total - left:,} of {total:,} rows were left out by the condition.")
        if lacking:
            counts = zip(rows.used, each, strict=True)
            named = ", ".join(f"{name} ({count:,})" for name, count in counts if count)
            words.append(
                f"{dropped:,} of {left:,} rows were left out because they lack a value"
                + (f": {named}." if named else ".")
            )
        return words

    @property
    def in_turn(self) -> bool:
        """Whether the rows have no names, and no other numbers than 1, 2, 3, ..."""
        return not (self.selection.chosen or self.selection.named)

    def identities(self) -> Iterator[tuple[NDArray[np.int64], list[str] | None]]:
        """Yield the numbers of the rows in the file, counted from 1, and their names, some at a time."""
        named = self.selection.named
        wanted = f"{NUMBER}, {NAME}" if named else NUMBER
        for batch in self.database.batches(f"SELECT {wanted} FROM {self.selection.numbered}", MOST_ROWS):
            numbers = arrow_labels(batch.column(0))
            names = [each or "" for each in batch.column(1).to_pylist()] if named else None
            yield numbers.astype(np.int64), names

    @property
    def line_finder(self) -> Lines | None:
        """Finds the lines of rows of the file; None where it has none."""
        return self.database.lines

    def classes(self) -> NDArray[Any]:
        """The different labels."""
        found = None if self.labels is None else self.labels()
        if found is not None:
            return found
        label, rows = self.selection.label, self.selection.rows
        query = f"SELECT DISTINCT {label} FROM {rows} ORDER BY 1 LIMIT 100000"
        values = [row[0] for row in self.database.rows(query)]
        labels = self._untyped(known_labels(np.array([value for value in values if value is not None])))
        self._refuse_rounded_labels(labels)
        return labels

    def batches(self, rows: int, start: int) -> Iterator[Batch]:
        """Yield the encoded rows as they stand in the file."""
        self._refuse_missing_beside()
        matrices, at = Matrices(self._limits()), start
        for batch in ahead(self._arrow(max(rows, batch_rows(matrices.width)), at)):
            target = None if self.target_name is None else trimmed(batch.column(matrices.width))
            for begin, X, good in matrices.of_arrow(batch, rows):
                part = None if target is None else target.slice(begin, len(X))
                nulls = part is not None and lacks_some(part)
                if not good or nulls:
                    self._refuse_missing(X, at + begin, nulls=nulls)
                    self._refuse_rounded(X, at + begin)
                labels = None if part is None else self._untyped(arrow_labels(part))
                self._refuse_rounded_labels(labels)
                yield X, labels
            at += batch.num_rows

    def frame(self) -> Any:
        """The wanted columns as a data frame of pandas', as they stand in the file."""
        wanted = ", ".join(map(identifier, self.selection.used))
        return self.database.frame(f"SELECT {wanted} FROM {self.selection.rows}")

    def _arrow(self, rows: int, start: int) -> Iterator[Any]:
        """Arrow batches of the wanted columns: the features, then the target."""
        if self.columns is not None:
            return self.columns(rows, start)
        labels = [] if self.target_name is None else [self.selection.label]
        wanted = ", ".join([*self.selection.features(self.encoding), *labels])
        query = f"SELECT {wanted} FROM {self.selection.rows}" + (f" OFFSET {start}" if start else "")
        return self.database.batches(query, rows)

    def _untyped(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Labels as they are; numbers of a file without types are whole if they all are."""
        return labels if self.database.typed or labels.dtype.kind != "f" else whole(labels)

    def _limits(self) -> NDArray[np.float64]:
        """For each feature, the largest number that is certain to be what the file holds."""
        limits = []
        for column in self.encoding.columns:
            if column.levels is None:
                kind = self.database.columns[column.name]
                limits.append(LARGEST_WHOLE if self._in_digits else largest_exact(kind))
            else:
                limits += [np.inf] * len(self.encoding.kept_levels(column.levels))
        return np.array(limits, dtype=np.float64)

    @property
    def _in_digits(self) -> bool:
        """Whether numbers come from text, of which some are exact beyond 2**53."""
        return bool(self.database.texts)

    def _refuse_rounded(self, X: NDArray[np.float64], at: int) -> None:
        """Name a whole number that is too large for a float64; an answer would speak of another number."""
        rows, features = np.nonzero(np.abs(X) > self._limits())
        if not rows.size:
            return
        if not self._in_digits:
            name, place = self.encoding.feature_names[features[0]], self._place(at + int(rows[0]))
            raise _rounded(name, self.database.name, f" in {place}")
        for name in dict.fromkeys(self.encoding.feature_names[feature] for feature in features):
            self._refuse_rounded_text(name)

    def _refuse_rounded_labels(self, labels: NDArray[Any] | None) -> None:
        """The same of labels, where numbers come from text."""
        if labels is not None and self._in_digits and labels.dtype.kind in "if" and labels.size:
            assert self.target_name is not None
            large = (
                self.database.columns[self.target_name] == "DOUBLE" and np.abs(labels).max() > LARGEST_WHOLE
            )
            if large:
                self._refuse_rounded_text(self.target_name)

    def _refuse_rounded_text(self, name: str) -> None:
        """Raise where a cell of a column is a whole number, in digits alone, that is no float64."""
        if name in self._exact:
            return
        self._exact.add(name)
        readings = {column.name: column.reading for column in self.encoding.columns}
        cell = plain_sql(f"{identifier(name)}::VARCHAR", readings.get(name, PLAIN_READING))
        whole = f"TRY_CAST({cell} AS HUGEINT)"
        query = (
            f"SELECT {cell} FROM {self.database.texts} WHERE regexp_full_match({cell}, '[+-]?[0-9]{{16,}}') "
            f"AND {whole} IS DISTINCT FROM TRY_CAST(TRY_CAST({cell} AS DOUBLE) AS HUGEINT) LIMIT 1"
        )
        for row in self.database.rows(query):
            raise _rounded(name, self.database.name, f", {row[0]}")

    @cached_property
    def _exact(self) -> set[str]:
        """Columns of large numbers whose text was looked at: nothing in them is rounded."""
        return set()

    def _place(self, row: int) -> str:
        return find_places(self, [row])[0].words

    def _refuse_missing_beside(self) -> None:
        """Name columns that lack values though nothing of them is in the matrix: text of a single level."""
        kept = self.encoding.kept_levels
        unseen = [c.name for c in self.encoding.columns if c.levels is not None and not kept(c.levels)]
        if unseen and self.selection.missing == "error":
            lacking = " OR ".join(self.selection.lacking(name) for name in unseen)
            if self.database.rows(f"SELECT 1 FROM {self.selection.rows} WHERE {lacking} LIMIT 1"):
                self._refuse_missing(np.empty((0, 0)), 0, nulls=False)

    def _refuse_missing(self, X: NDArray[np.float64], at: int, *, nulls: bool) -> None:
        """Name the columns that lack values, and how many; ``nulls`` says whether labels are missing."""
        used, lacking = self.selection.used, self.selection.lacking
        counts = ", ".join(f"count(*) FILTER ({lacking(name)})" for name in used)
        found = self.database.rows(f"SELECT {counts} FROM {self.selection.rows}")[0]
        without = [f"{name!r} ({count:,})" for name, count in zip(used, found, strict=True) if count]
        rows = np.flatnonzero(np.isnan(X).any(axis=1))
        if not without and (rows.size or nulls):
            raise InputError(
                f"{self.database.name!r} cannot be read: it is damaged. One reader misses values among "
                f"the rows {at + 1:,} to {at + len(X):,}, another finds none. Write the file anew."
            )
        if without:
            first = f", the first in {self._place(at + int(rows[0]))}" if rows.size else ""
            raise InputError(
                f"{self.database.name!r} lacks values in {shown(without)}{first}.",
                remedy="Fill them in, leave such rows out with missing='drop', or exclude the columns.",
                parameter="missing",
            )


def _rounded(name: str, table: str, where: str) -> InputError:
    return InputError(
        f"Column {name!r} of {table!r} has a whole number beyond 2**53{where}, which would be rounded.",
        remedy="Leave the column out with 'exclude', or make its numbers smaller.",
        parameter="exclude",
    )


def _need_same_column(database: Database, rows: Selection, column: Column) -> None:
    """Raise where a column cannot be read as that of the table that the encoding was learnt on."""
    kind = database.columns[column.name]
    if column.levels is None:
        if not is_number(kind):
            raise InputError(
                f"Column {column.name!r} held numbers in the table that was read first; in "
                f"{database.name!r} it is {in_words(kind)}."
            )
        return
    known = ", ".join(map(literal, column.levels))
    level = f"{identifier(column.name)}::VARCHAR"
    query = f"SELECT DISTINCT {level} FROM {rows.rows} WHERE {level} NOT IN ({known}) LIMIT 13"
    if database.cells is not None and rows.rows == database.relation:
        unknown = sorted({*database.cells[column.name]} - {*column.levels})[:13] if known else []
    else:
        unknown = [row[0] for row in database.rows(query)] if known else []
    if unknown:
        raise InputError(
            f"Column {column.name!r} of {database.name!r} has values that the model was not fitted with: "
            f"{shown(unknown)}. Known are: {shown(column.levels)}."
        )
