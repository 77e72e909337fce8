"""Tables with named columns: which columns and rows are read, how they become features, and by whom."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .batches import Batch, Matrices, ahead, arrow_labels, batch_rows, whole
from .database import Database, identifier, literal
from .encoding import MAX_LEVELS, Column, Encoding, choose_columns, shown
from .sources import Request

# Whole numbers of these types may be too large for float64, where all up to this one are exact.
WIDE_KINDS, LARGEST_WHOLE = ("BIGINT", "UBIGINT", "HUGEINT", "UHUGEINT"), 2.0**53 - 1.0
FLOATS = ("DOUBLE", "FLOAT")


class NotPlain(Exception):
    """The next row is none of plain numbers."""


def ask(database: Database, request: Request) -> Query:
    """Choose the columns of a table, and learn from it, or from what a model knows, how they are encoded."""
    if request.table is not None:
        raise InputError(
            "'table' is for SQLite and DuckDB files; other files are one table.", parameter="table"
        )
    target, known = request.target, request.encoding
    names = choose_columns(
        tuple(database.columns), target=target, features=request.features, exclude=request.exclude
    )
    if known is None:
        rows = Selection(database.relation, database.columns, names, target, request.where, request.missing)
        columns = tuple(_learn_column(database, rows, name) for name in names)
        return Query(database, rows, Encoding(columns, request.intercept))
    if known.width is not None:
        raise InputError(f"{database.name!r} has named columns; the model was fitted on numbered ones.")
    names = tuple(column.name for column in known.columns)
    choose_columns(tuple(database.columns), target=target, features=names, exclude=())
    rows = Selection(database.relation, database.columns, names, target, request.where, request.missing)
    for column in known.columns:
        _need_same_column(database, rows, column)
    return Query(database, rows, known)


@dataclass(frozen=True, eq=False)
class Selection:
    """The rows and columns that are wanted, as SQL."""

    relation: str
    kinds: dict[str, str]
    names: tuple[str, ...]
    target: str | None
    where: str | None
    missing: str

    @cached_property
    def used(self) -> list[str]:
        """The columns that are read: the features, then the target."""
        return [*self.names, *([] if self.target is None else [self.target])]

    @cached_property
    def rows(self) -> str:
        """What stands after FROM."""
        wanted = [] if self.where is None else [f"({self.where})"]
        if self.missing == "drop":
            wanted += [f"NOT ({self.lacking(name)})" for name in self.used]
        return f"(FROM {self.relation} WHERE {' AND '.join(wanted)})" if wanted else self.relation

    def lacking(self, name: str) -> str:
        """The condition that a column has no value."""
        column = identifier(name)
        return f"{column} IS NULL" + (f" OR isnan({column})" if self.kinds[name] in FLOATS else "")

    @property
    def label(self) -> str:
        """The target: a whole number, a number or a text."""
        assert self.target is not None
        kind, name = self.kinds[self.target], identifier(self.target)
        if kind == "BOOLEAN" or kind.startswith("ENUM"):
            return f"{name}::VARCHAR"
        if kind in ("VARCHAR", "DOUBLE", "BIGINT"):
            return name
        if not is_number(kind):
            raise _foreign(self.target, kind)
        return f"{name}::BIGINT" if "INT" in kind else f"{name}::DOUBLE"

    def features(self, encoding: Encoding) -> list[str]:
        """One expression for each column of the matrix."""
        found = []
        for column in encoding.columns:
            name, kept = identifier(column.name), encoding.kept_levels(column)
            if kept is None:
                found.append(name if self.kinds[column.name] == "DOUBLE" else f"{name}::DOUBLE")
            else:
                found += [f"({name}::VARCHAR = {literal(level)})::DOUBLE" for level in kept]
        return found


@dataclass(frozen=True, eq=False)
class Query:
    """Rows with named columns: by DuckDB, or by a quicker reader that was chosen when the file was opened.

    Attributes
    ----------
    database : Database
    selection : Selection
    encoding : Encoding
    plain : callable, optional
        Takes matrices, rows a batch and the first row, and yields rows; raises `NotPlain` where DuckDB has
        to go on.
    columns : callable, optional
        Takes rows a batch and the first row, and yields Arrow batches of the used columns, in DuckDB's stead.
    labels : callable, optional
        Gives the different labels, or None where DuckDB has to find them.
    notes : tuple of str
        What the user should know about how the rows are read.
    """

    database: Database
    selection: Selection
    encoding: Encoding
    plain: Callable[[Matrices, int, int], Iterator[Batch]] | None = None
    columns: Callable[[int, int], Iterator[Any]] | None = None
    labels: Callable[[], NDArray[Any] | None] | None = None
    notes: tuple[str, ...] = ()

    @property
    def target_name(self) -> str | None:
        """The target, as the file calls it."""
        return self.selection.target

    def n_rows(self) -> int:
        """Count the rows."""
        return int(self.database.rows(f"SELECT count(*) FROM {self.selection.rows}")[0][0])

    def classes(self) -> NDArray[Any]:
        """The different labels."""
        found = None if self.labels is None else self.labels()
        if found is not None:
            return found
        label, rows = self.selection.label, self.selection.rows
        query = f"SELECT DISTINCT {label} AS label FROM {rows} ORDER BY label LIMIT 100000"
        values = [row[0] for row in self.database.rows(query)]
        return self._untyped(np.array([value for value in values if value is not None]))

    def batches(self, rows: int, start: int) -> Iterator[Batch]:
        """Yield the encoded rows as they stand in the file."""
        matrices, at = Matrices(self._limits()), start
        if self.plain is not None:
            try:
                for X, y in self.plain(matrices, rows, start):
                    yield X, y
                    at += len(X)
                return
            except NotPlain:
                pass
        for batch in ahead(self._arrow(max(rows, batch_rows(matrices.width)), at)):
            target = None if self.target_name is None else batch.column(matrices.width)
            for begin, X, good in matrices.of_arrow(batch, rows):
                part = None if target is None else target.slice(begin, len(X))
                if not good or (part is not None and part.null_count):
                    self._refuse_missing(X, at + begin)
                    self._refuse_rounded(X, at + begin)
                yield X, None if part is None else self._untyped(arrow_labels(part))
            at += batch.num_rows

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
            kept = self.encoding.kept_levels(column)
            wide = kept is None and self.database.columns[column.name] in WIDE_KINDS
            limits += [LARGEST_WHOLE if wide else np.inf] * (1 if kept is None else len(kept))
        return np.array(limits, dtype=np.float64)

    def _refuse_rounded(self, X: NDArray[np.float64], at: int) -> None:
        """Name a whole number that is too large for a float64; an answer would speak of another number."""
        rows, features = np.nonzero(np.abs(X) > self._limits())
        if rows.size:
            name, row = self.encoding.feature_names[features[0]], at + int(rows[0]) + 1
            raise InputError(
                f"Column {name!r} of {self.database.name!r} has a whole number beyond 2**53 in row {row:,}, "
                "which would be rounded.",
                remedy="Leave the column out with 'exclude', or make its numbers smaller.",
                parameter="exclude",
            )

    def _refuse_missing(self, X: NDArray[np.float64], at: int) -> None:
        """Name the columns that lack values, and how many."""
        used, lacking = self.selection.used, self.selection.lacking
        counts = ", ".join(f"count(*) FILTER ({lacking(name)})" for name in used)
        found = self.database.rows(f"SELECT {counts} FROM {self.selection.rows}")[0]
        without = [f"{name!r} ({count:,})" for name, count in zip(used, found, strict=True) if count]
        if without:
            rows = np.flatnonzero(np.isnan(X).any(axis=1))
            first = f", the first in row {at + int(rows[0]) + 1:,}" if rows.size else ""
            raise InputError(
                f"{self.database.name!r} lacks values in {shown(without)}{first}.",
                remedy="Fill them in, leave such rows out with missing='drop', or exclude the columns.",
                parameter="missing",
            )


def is_number(kind: str) -> bool:
    """Whether a DuckDB type is a number."""
    return kind in FLOATS or kind.startswith("DECIMAL") or kind.endswith(("INT", "INTEGER"))


def _learn_column(database: Database, rows: Selection, name: str) -> Column:
    """See what a column holds: numbers, or text with so many levels."""
    kind = database.columns[name]
    if is_number(kind):
        return Column(name)
    if kind not in ("VARCHAR", "BOOLEAN") and not kind.startswith("ENUM"):
        raise _foreign(name, kind)
    query = (
        f"SELECT DISTINCT {identifier(name)}::VARCHAR AS level FROM {rows.rows} WHERE level IS NOT NULL "
        f"ORDER BY level LIMIT {MAX_LEVELS + 1}"
    )
    levels = tuple(row[0] for row in database.rows(query))
    if len(levels) > MAX_LEVELS:
        raise InputError(
            f"Column {name!r} is text with more than {MAX_LEVELS:,} different values; it looks like an "
            f"identifier or free text.",
            remedy="Leave it out with 'exclude', or make it numbers first.",
            parameter="exclude",
        )
    return Column(name, levels)


def _need_same_column(database: Database, rows: Selection, column: Column) -> None:
    """Raise where a column cannot be read as that of the table that the encoding was learnt on."""
    kind = database.columns[column.name]
    if column.levels is None:
        if not is_number(kind):
            raise InputError(
                f"Column {column.name!r} held numbers when the model was fitted; in {database.name!r} it is "
                f"{_in_words(kind)}."
            )
        return
    known = ", ".join(map(literal, column.levels))
    level = f"{identifier(column.name)}::VARCHAR"
    query = f"SELECT DISTINCT {level} AS level FROM {rows.rows} WHERE level NOT IN ({known}) LIMIT 13"
    unknown = [row[0] for row in database.rows(query)] if known else []
    if unknown:
        raise InputError(
            f"Column {column.name!r} of {database.name!r} has values that the model was not fitted with: "
            f"{shown(unknown)}. Known are: {shown(column.levels)}."
        )


def _foreign(name: str, kind: str) -> InputError:
    if kind.startswith(("DATE", "TIME", "INTERVAL")):
        return InputError(
            f"Column {name!r} is a date or time, which has no one meaning as a number. A query can compute "
            f"one, such as SELECT *, epoch({name}) AS seconds FROM data.",
            remedy="Pass it as 'sql', or leave the column out with 'exclude'.",
            parameter="sql",
        )
    return InputError(
        f"Column {name!r} is {_in_words(kind)}, which is no number.",
        remedy="Leave it out with 'exclude', or take it apart in a query with 'sql'.",
        parameter="sql",
    )


def _in_words(kind: str) -> str:
    return {"VARCHAR": "text", "BOOLEAN": "true or false"}.get(kind, f"of type {kind}")
