"""Tables in files, databases and streams, read as matrices of float64: whole, or a few rows at a time."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..errors import InputError, LabelError
from . import arrow, parquet
from .arrays import ArrayFile
from .columns import Matrices, batch_rows
from .database import Database, identifier, literal, open_database
from .encoding import MAX_LEVELS, Column, Encoding, choose_columns, shown
from .growing import Growing
from .libsvm import LibsvmFile, whole
from .plain_csv import number_batches
from .sources import Source, find_source, free_memory
from .spill import Spill
from .text import ahead

Batch = tuple[Any, NDArray[Any] | None]
# Whole numbers of these types may be too large for float64, where all up to this one are exact.
WIDE_KINDS, LARGEST_WHOLE = ("BIGINT", "UBIGINT", "HUGEINT", "UHUGEINT"), 2.0**53 - 1.0


class Reader(Protocol):
    """What every kind of file can do."""

    def n_rows(self) -> int:
        """Count the rows."""
        ...

    def batches(self, rows: int, start: int) -> Iterator[Batch]:
        """Yield up to ``rows`` rows at a time, in the file's order, from row ``start``."""
        ...


@dataclass(frozen=True, eq=False)
class Table:
    """Rows in a file, with the columns that are used.

    Attributes
    ----------
    name : str
        What the user called the data.
    kind : str
        The kind of file; "query" for the answer of a query.
    target_name : str or None
    encoding : Encoding
        How columns become features; give it to `open_table` to read another file alike.
    reader : Reader
    paths : tuple of str
        The files; empty for a query's answer and for standard input.
    asked : dict
        Which rows were asked for, as it was said.
    stream : Growing or None
        Standard input that is still coming.
    """

    name: str
    kind: str
    target_name: str | None
    encoding: Encoding
    reader: Reader
    paths: tuple[str, ...] = ()
    asked: dict[str, str | None] = field(default_factory=dict)
    stream: Growing | None = None

    @property
    def feature_names(self) -> tuple[str, ...]:
        """One name for each column of the matrix."""
        return self.encoding.feature_names

    @cached_property
    def n_rows(self) -> int:
        """How many rows there are, after ``where`` and after rows with missing values were dropped."""
        return self.reader.n_rows()

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The different values of the target, sorted; at least two."""
        found = _classes(self)
        if len(found) < 2:
            values = f"one value ({found.tolist()[0]!r})" if len(found) else "no values"
            raise LabelError(
                f"The target {self.target_name!r} has {values} in {self.name!r}; two are needed to separate "
                "anything. Look at 'where', or choose another target."
            )
        return found

    def batches(self, rows: int | None = None, start: int = 0) -> Iterator[Batch]:
        """Yield ``(X, y)`` of up to ``rows`` rows at a time, in the file's order, in bounded memory.

        Parameters
        ----------
        rows : int, optional
            About 4 MB, if not given.
        start : int
            The first row wanted, counted from zero.
        """
        most = batch_rows(self.encoding.n_features) if rows is None else rows
        return ahead(self.reader.batches(most, start))

    def read(self, memory: int | None = None) -> Batch:
        """All rows: X of float64, dense or CSR, and y (None without a target).

        A matrix that takes more than half of ``memory`` bytes is kept in a temporary file (in TMPDIR)
        and mapped: it can be used as any other, and about a sixteenth of ``memory`` is in memory at a time;
        the rest is for the few numbers a row that every method needs.

        Parameters
        ----------
        memory : int, optional
            What the machine has free, if not given.
        """
        room = (free_memory() if memory is None else memory) // 2
        parts: list[Any] = []
        labels: list[NDArray[Any] | None] = []
        taken, spill = 0, None
        # Larger batches than those that are learnt from: nothing has to stay in the cache.
        for X, y in self.batches(3 * batch_rows(self.encoding.n_features) // 2):
            labels.append(None if y is None else y.copy())  # a view would keep a batch of Arrow's alive
            taken += X.data.nbytes + X.indices.nbytes if sparse.issparse(X) else X.nbytes
            parts.append(X)
            # Half again, because the parts are joined when all of them are there.
            if 2 * taken > room or spill is not None:
                spill = spill or Spill()
                for part in parts:
                    spill.append(part)
                parts.clear()
        if not labels:
            raise self.empty()
        y = (
            None
            if self.target_name is None
            else np.concatenate([each for each in labels if each is not None])
        )
        if spill is not None:
            arrow.release()
            return spill.matrix(room // 8), y
        return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.concatenate(parts), y

    def close(self) -> None:
        """Wait for no more rows of standard input."""
        if self.stream is not None:
            self.stream.stop()

    def empty(self) -> InputError:
        """The error for a table without rows."""
        return InputError(
            f"{self.name!r} has no rows left. Look at the file, at 'where' and at missing values."
        )

    def describe(self) -> dict[str, Any]:
        """Plain facts for people and JSON."""
        columns = {c.name: "number" if c.levels is None else list(c.levels) for c in self.encoding.columns}
        return {
            "source": self.name,
            "kind": self.kind,
            "rows": self.n_rows,
            "target": self.target_name,
            "features": self.encoding.n_features,
            "columns": columns or None,
        }


def open_table(
    source: str | os.PathLike[str] | None,
    *,
    target: str | None = None,
    features: Iterable[str] | None = None,
    exclude: Iterable[str] = (),
    where: str | None = None,
    sql: str | None = None,
    table: str | None = None,
    missing: str = "error",
    intercept: bool = True,
    encoding: Encoding | None = None,
    count_columns: bool = True,
    live: bool = False,
) -> Table:
    """See a file, a pattern of files, a database, a query's answer or standard input as a table of numbers.

    Numbers are used as they are. Text and booleans become one column of zeros and ones for each level,
    named like ``light=sunny``.

    Parameters
    ----------
    source : path, pattern, "-" or None
        CSV or TSV (also gzip, zstd, bz2, zip), Parquet, JSON lines, a pattern of these, SQLite, DuckDB,
        LIBSVM (also gzip, bz2), npy, npz, or standard input; None where ``sql`` names its files itself.
    target : str, optional
        The column to be learnt. LIBSVM files and npz files with ``y`` have one of their own.
    features : names, optional
        The columns to learn from; all others than the target, if not given.
    exclude : names
        Columns to leave out.
    where : str, optional
        A condition in SQL; other rows are left out.
    sql : str, optional
        A query, in which the source is called ``data``; its answer is the table.
    table : str, optional
        The table of an SQLite or DuckDB file.
    missing : {"error", "drop"}
        What to do with rows that lack a value.
    intercept : bool
        Whether the model will have an intercept: the first level of a text column needs no column then.
    encoding : Encoding, optional
        That of the table a model was fitted on; the columns are those then, in that order.
    count_columns : bool
        Whether to count the columns of a LIBSVM file now, which takes a reading of it.
    live : bool
        Whether rows of standard input may be read before all of it has come. That is so for LIBSVM and for
        CSV of plain numbers; whatever needs all rows first (text columns, a condition, the classes where
        they are not given) waits for them.

    Raises
    ------
    InputError
        Whatever is wrong with the data, with the place and what to do.
    """
    if missing not in ("error", "drop"):
        raise InputError(f"The 'missing' parameter must be 'error' or 'drop'. Got {missing!r} instead.")
    if source is None and sql is None:
        raise InputError("Name a file, or give a query with 'sql'.")
    found = None if source is None else find_source(source, live=live)
    if found is not None and found.kind in ("libsvm", "npy", "npz"):
        asked = {
            "where": where,
            "sql": sql,
            "table": table,
            "features": features,
            "exclude": tuple(exclude) or None,
        }
        for option, value in asked.items():
            if value is not None:
                raise InputError(f"{option!r} is for tables with named columns; {found.name!r} has none.")
        return _numbered_table(found, target, missing, intercept, encoding, count_columns)
    database = open_database(found, sql=sql, table=table)
    names = choose_columns(tuple(database.columns), target=target, features=features, exclude=exclude)
    rows = Query(database, names, target, where, missing, Encoding())
    if encoding is None:
        learnt = Encoding(tuple(rows.learn_column(name) for name in names), intercept)
    else:
        learnt = encoding
        rows.need_same_columns(encoding)
    reader = Query(database, tuple(c.name for c in learnt.columns), target, where, missing, learnt)
    kind = "query" if found is None or sql is not None else found.kind
    wanted = {"where": where, "sql": sql, "table": table, "missing": missing}
    stream = None if found is None else found.growing
    return Table(database.name, kind, target, learnt, reader, _lasting(found), wanted, stream)


@dataclass(frozen=True, eq=False)
class Query:
    """A table of DuckDB, with the columns and rows that are wanted."""

    database: Database
    names: tuple[str, ...]
    target: str | None
    where: str | None
    missing: str
    encoding: Encoding

    def n_rows(self) -> int:
        """Count the rows."""
        return int(self.database.rows(f"SELECT count(*) FROM {self._from}")[0][0])

    def batches(self, rows: int, start: int) -> Iterator[Batch]:
        """Yield the encoded rows as they stand in the file."""
        width, at, matrices = self.encoding.n_features, start, Matrices(self._limits)
        plain = self._plain(matrices, rows, start)
        given = 0 if plain is None else (yield from plain)
        if given is None:
            return
        at += given
        for batch in ahead(self._arrow(max(rows, batch_rows(width)), at)):
            target = None if self.target is None else batch.column(width)
            for start, X, good in arrow.matrices_of(batch, matrices, rows):
                part = None if target is None else target.slice(start, len(X))
                if not good or (part is not None and part.null_count):
                    self._refuse_missing(X, at + start)
                    self._refuse_rounded(X, at + start)
                yield X, None if part is None else self._labels(part)
            at += batch.num_rows

    def _plain(self, matrices: Matrices, rows: int, start: int) -> Generator[Batch, None, int | None] | None:
        """The rows by a reader of plain files, if there is one; it returns how many, or None if all."""
        if self._is_plain_csv():
            return self._plain_csv(matrices, rows, start)
        return self._pages(matrices, rows, start) if self._is_plain_parquet() else None

    def _is_plain_csv(self) -> bool:
        plain = all(self.database.columns[name] == "DOUBLE" for name in self._used)
        return (
            self.database.source is not None
            and self.database.dialect is not None
            and plain
            and self.where is None
        )

    def _plain_csv(self, matrices: Matrices, rows: int, start: int) -> Generator[Batch, None, int | None]:
        """The rows of a CSV file as long as they are plain numbers."""
        source, dialect, given = self.database.source, self.database.dialect, 0
        assert source is not None
        assert dialect is not None
        found = number_batches(source, dialect, self.names, self.target, matrices, rows, start)
        while True:
            try:
                X, labels = next(found)
            except StopIteration as end:
                return None if end.value else given
            given += X.shape[0]
            yield X, None if self.target is None else whole(labels)

    def _is_plain_parquet(self) -> bool:
        source = self.database.source
        return (
            source is not None
            and source.kind == "parquet"
            and all(is_number(self.database.columns[name]) for name in self.names)
            and self.where is None
            and self.missing == "error"
        )

    def _pages(self, matrices: Matrices, rows: int, start: int) -> Generator[Batch, None, int | None]:
        """The rows of Parquet files as long as they are plain numbers."""
        source, given = self.database.source, 0
        assert source is not None
        found = parquet.rows_of(source.paths, self._used, matrices, rows, start)
        while True:
            try:
                X, labels, good = next(found)
            except StopIteration as end:
                return None if end.value is None else given
            if not good:
                self._refuse_missing(X, start + given)
                self._refuse_rounded(X, start + given)
            given += X.shape[0]
            yield X, labels

    def _arrow(self, rows: int, start: int) -> Iterator[Any]:
        """The wanted columns: the features, then the target."""
        source = self.database.source
        if source is not None and self._is_plain_parquet():
            return arrow.parquet_batches(source.paths, self._used, rows, start)
        columns = [expression for column in self.encoding.columns for expression in self._expressions(column)]
        wanted = ", ".join([*columns, *([] if self.target is None else [self._label])])
        query = f"SELECT {wanted} FROM {self._from}" + (f" OFFSET {start}" if start else "")
        return self.database.batches(query, rows)

    def classes(self) -> NDArray[Any]:
        """The different labels."""
        plain = self._plain_classes()
        if plain is not None:
            return plain
        query = f"SELECT DISTINCT {self._label} AS label FROM {self._from} ORDER BY label LIMIT 100000"
        found = [row[0] for row in self.database.rows(query)]
        labels = np.array([label for label in found if label is not None])
        return whole(labels) if self.database.dialect is not None and labels.dtype.kind == "f" else labels

    def _plain_classes(self) -> NDArray[Any] | None:
        """The different labels by the readers of plain files, which are faster; None if they give up."""
        source, only = self.database.source, replace(self, names=(), encoding=Encoding())
        if source is None or source.growing is not None:
            return None
        found = only._plain(Matrices(np.empty(0)), batch_rows(1), 0)
        if found is None:
            return None
        parts: list[NDArray[Any]] = [np.empty(0, dtype=np.int64)]
        while True:
            try:
                _, y = next(found)
            except StopIteration as end:
                return np.unique(np.concatenate(parts)) if end.value is None else None
            assert y is not None
            parts.append(np.unique(y))

    def learn_column(self, name: str) -> Column:
        """See what a column holds."""
        kind = self.database.columns[name]
        if is_number(kind):
            return Column(name)
        if kind not in ("VARCHAR", "BOOLEAN") and not kind.startswith("ENUM"):
            raise _foreign(name, kind)
        column = identifier(name)
        query = (
            f"SELECT DISTINCT {column}::VARCHAR AS level FROM {self._from} WHERE level IS NOT NULL "
            f"ORDER BY level LIMIT {MAX_LEVELS + 1}"
        )
        levels = tuple(row[0] for row in self.database.rows(query))
        if len(levels) > MAX_LEVELS:
            raise InputError(
                f"Column {name!r} is text with more than {MAX_LEVELS:,} different values; it looks like an "
                f"identifier or free text. Leave it out with 'exclude', or make it numbers first."
            )
        return Column(name, levels)

    def need_same_columns(self, encoding: Encoding) -> None:
        """Raise where this table cannot be read as the one that the encoding was learnt on."""
        if encoding.width is not None:
            raise InputError(
                f"{self.database.name!r} has named columns; the model was fitted on numbered ones."
            )
        choose_columns(
            tuple(self.database.columns),
            target=self.target,
            features=tuple(column.name for column in encoding.columns),
            exclude=(),
        )
        for column in encoding.columns:
            kind = self.database.columns[column.name]
            if column.levels is None:
                if not is_number(kind):
                    raise InputError(
                        f"Column {column.name!r} held numbers when the model was fitted; in "
                        f"{self.database.name!r} it is {_in_words(kind)}."
                    )
                continue
            known = ", ".join(map(literal, column.levels))
            level = f"{identifier(column.name)}::VARCHAR"
            query = (
                f"SELECT DISTINCT {level} AS level FROM {self._from} WHERE level NOT IN ({known}) LIMIT 13"
            )
            unknown = [row[0] for row in self.database.rows(query)] if known else []
            if unknown:
                raise InputError(
                    f"Column {column.name!r} of {self.database.name!r} has values that the model was not "
                    f"fitted with: {shown(unknown)}. Known are: {shown(column.levels)}."
                )

    @property
    def _used(self) -> list[str]:
        """The columns that are read: the features, then the target."""
        return [*self.names, *([] if self.target is None else [self.target])]

    @property
    def _from(self) -> str:
        wanted = []
        if self.where is not None:
            wanted.append(f"({self.where})")
        if self.missing == "drop":
            used = self._used
            wanted += [f"{identifier(name)} IS NOT NULL" for name in used]
            wanted += [
                f"NOT isnan({identifier(n)})" for n in used if self.database.columns[n] in ("DOUBLE", "FLOAT")
            ]
        rows = self.database.relation
        return f"(FROM {rows} WHERE {' AND '.join(wanted)})" if wanted else rows

    @property
    def _label(self) -> str:
        """The target: a whole number, a number or a text."""
        assert self.target is not None
        kind = self.database.columns[self.target]
        name = identifier(self.target)
        if kind == "BOOLEAN" or kind.startswith("ENUM"):
            return f"{name}::VARCHAR"
        if kind == "VARCHAR" or kind in ("DOUBLE", "BIGINT"):
            return name
        if not is_number(kind):
            raise _foreign(self.target, kind)
        return f"{name}::BIGINT" if "INT" in kind else f"{name}::DOUBLE"

    def _labels(self, column: Any) -> NDArray[Any]:
        """Labels as they are; numbers of a CSV file, which has no types, whole if they all are."""
        found = arrow.labels(column)
        return whole(found) if self.database.dialect is not None and found.dtype.kind == "f" else found

    def _expressions(self, column: Column) -> list[str]:
        name = identifier(column.name)
        kept = self.encoding.kept_levels(column)
        if kept is None:
            return [name if self.database.columns[column.name] == "DOUBLE" else f"{name}::DOUBLE"]
        return [f"({name}::VARCHAR = {literal(level)})::DOUBLE" for level in kept]

    @property
    def _limits(self) -> NDArray[np.float64]:
        """For each feature, the largest number that is certain to be what the file holds."""
        wide = [
            column.levels is None and self.database.columns[column.name] in WIDE_KINDS
            for column in self.encoding.columns
            for _ in self._expressions(column)
        ]
        return np.where(wide, LARGEST_WHOLE, np.inf)

    def _refuse_rounded(self, X: NDArray[np.float64], at: int) -> None:
        """Name a whole number that is too large for a float64; an answer would speak of another number."""
        rows, features = np.nonzero(np.abs(X) > self._limits)
        if rows.size:
            name, row = self.encoding.feature_names[features[0]], at + int(rows[0]) + 1
            raise InputError(
                f"Column {name!r} of {self.database.name!r} has a whole number beyond 2**53 in row {row:,}, "
                "which would be rounded. Leave the column out with 'exclude' if it is an identifier, or make "
                "its numbers smaller."
            )

    def _refuse_missing(self, X: NDArray[np.float64], at: int) -> None:
        """Name the columns that lack values, and how many."""
        used = self._used
        counts = ", ".join(
            f"count(*) FILTER ({identifier(name)} IS NULL"
            + (f" OR isnan({identifier(name)})" if self.database.columns[name] in ("DOUBLE", "FLOAT") else "")
            + ")"
            for name in used
        )
        found = self.database.rows(f"SELECT {counts} FROM {self._from}")[0]
        lacking = [f"{name!r} ({count:,})" for name, count in zip(used, found, strict=True) if count]
        if lacking:
            rows = np.flatnonzero(np.isnan(X).any(axis=1))
            first = f", the first in row {at + int(rows[0]) + 1:,}" if rows.size else ""
            raise InputError(
                f"{self.database.name!r} lacks values in {shown(lacking)}{first}. Fill them in, leave "
                "such rows out with missing='drop' (`--missing drop`), or exclude the columns."
            )


def is_number(kind: str) -> bool:
    """Whether a DuckDB type is a number."""
    return kind in ("DOUBLE", "FLOAT") or kind.startswith("DECIMAL") or kind.endswith(("INT", "INTEGER"))


def _numbered_table(
    source: Source, target: str | None, missing: str, intercept: bool, encoding: Encoding | None, count: bool
) -> Table:
    """A table whose columns have no names."""
    if encoding is not None and encoding.width is None:
        raise InputError(f"{source.name!r} has numbered columns; the model was fitted on named ones.")
    reader: LibsvmFile | ArrayFile
    if source.kind == "libsvm":
        known = (None, None) if encoding is None else (encoding.width, encoding.first)
        reader = LibsvmFile(source, target, missing, *known)
    else:
        reader = ArrayFile(source, target, missing, None if encoding is None else encoding.width)
    learnt = encoding or Encoding(intercept=intercept)
    if encoding is None and (count or source.kind != "libsvm"):
        learnt = replace(learnt, width=reader.n_columns, first=reader.first_column)
    asked: dict[str, str | None] = {"missing": missing}
    return Table(
        source.name, source.kind, reader.target_name, learnt, reader, _lasting(source), asked, source.growing
    )


def _lasting(source: Source | None) -> tuple[str, ...]:
    """The files that will be there next time."""
    return () if source is None or source.spool is not None else source.paths


def _classes(table: Table) -> NDArray[Any]:
    if table.target_name is None:
        raise InputError("Which column is the target? Name it with 'target' (`--target`).")
    if isinstance(table.reader, Query):
        return table.reader.classes()
    found: NDArray[Any] = np.unique(
        np.concatenate([np.unique(y) for _, y in table.batches() if y is not None])
    )
    return found


def _foreign(name: str, kind: str) -> InputError:
    if kind.startswith(("DATE", "TIME", "INTERVAL")):
        return InputError(
            f"Column {name!r} is a date or time, which has no one meaning as a number. Leave it out with "
            "'exclude', "
            f'or compute what you mean in a query: sql="SELECT *, epoch({name}) AS seconds FROM data".'
        )
    return InputError(
        f"Column {name!r} is {_in_words(kind)}, which is no number. Leave it out with 'exclude', or take "
        "it apart in a query with 'sql'."
    )


def _in_words(kind: str) -> str:
    return {"VARCHAR": "text", "BOOLEAN": "true or false"}.get(kind, f"of type {kind}")
