"""Tables in files, databases and streams, read as matrices of float64: whole, or a few rows at a time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, LabelError
from ..sparse import sparse
from .batches import Batch, ahead, batch_rows, release_arrow
from .columns import Columns
from .csv import csv_files
from .encoding import Encoding, shown
from .features import NamedReader, open_columns
from .formats import (
    arff,
    arrays,
    arrow_files,
    duckdb_files,
    excel,
    libsvm,
    parquet,
    statistics_files,
)
from .label_spelling import alike, doubts, merge, merged_words
from .number_formats import SEPARATORS
from .reader import Identities, Place, Reader
from .source.detect import (
    ChangedFileError,
    OtherMeaningError,
    Request,
    Stamp,
    find_source,
    free_memory,
    need_unchanged,
)
from .source.streams import Growing
from .spill import Spill
from .sql.database import ask, connect

# Every format that can be read; text that looks like none of them is of the first.
FORMATS = (
    csv_files.FORMAT,
    parquet.FORMAT,
    duckdb_files.JSON,
    duckdb_files.SQLITE,
    duckdb_files.DUCKDB,
    libsvm.FORMAT,
    arrays.NPY,
    arrays.NPZ,
    excel.FORMAT,
    arrow_files.FORMAT,
    arff.FORMAT,
    *statistics_files.FORMATS,
    arrays.IDX,
)

ANSWER = "Rows are those of the query's answer, counted from 1, not those of the file."


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
    reader : Reader
    paths : tuple of str
        The files; empty for a query's answer and for standard input.
    asked : dict
        Which rows were asked for, as it was said.
    stream : Growing or None
        Standard input that is still coming.
    stamps : tuple
        What tells whether a file was changed since it was opened.
    found : tuple of str
        What a person should know about the file itself, a sentence each.
    merge_labels : bool
        Whether labels that seem to mean the same are one.
    """

    name: str
    kind: str
    target_name: str | None
    reader: Reader
    paths: tuple[str, ...] = ()
    asked: dict[str, str | None] = field(default_factory=dict)
    stream: Growing | None = None
    stamps: tuple[Stamp, ...] = ()
    found: tuple[str, ...] = ()
    merge_labels: bool = False

    @property
    def encoding(self) -> Encoding:
        """How columns become features; give it to `open_table` to read another file alike.

        Of a CSV file the first rows tell, until all rows were read.
        """
        return self.reader.encoding

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
        if self.target_name is None:
            names = [column.name for column in self.encoding.columns]
            named = f" There are {shown(names)}." if names else ""
            raise InputError(
                f"Which column is the target?{named}", remedy="Name it with 'target'.", parameter="target"
            )
        found = np.unique(self._merged(self.reader.classes()))
        if len(found) < 2:
            values = f"one value ({found.tolist()[0]!r})" if len(found) else "no values"
            raise LabelError(
                f"The target {self.target_name!r} has {values} in {self.name!r}; two are needed to separate "
                "anything.",
                remedy="Look at 'where', or choose another target.",
                parameter="y",
            )
        return found

    @cached_property
    def _groups(self) -> dict[str, list[str]]:
        """The labels that are made one."""
        labels = self.reader.classes() if self.merge_labels and self.target_name is not None else np.empty(0)
        return alike(labels.tolist())

    def _merged(self, labels: NDArray[Any]) -> NDArray[Any]:
        return merge(labels, self._groups) if self.merge_labels and self._groups else labels

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """What a person should know before anything else: labels that seem to mean the same."""
        return () if self.target_name is None else tuple(doubts(self.target_name, self.classes.tolist()))

    def batches(self, rows: int | None = None, start: int = 0) -> Iterator[Batch]:
        """Yield ``(X, y)`` of up to ``rows`` rows at a time, in the file's order, in bounded memory.

        Parameters
        ----------
        rows : int, optional
            About 4 MB, if not given.
        start : int
            The first row wanted, counted from zero.

        Raises
        ------
        InputError
            After the last row too, where a file was changed while it was read.
        """
        if not self.encoding.n_features and self.reader.target_name is None:
            raise InputError(
                "No column is left to read: each has one value only, or was left out. Name the columns that "
                "matter.",
                parameter="features",
            )
        most = batch_rows(self.encoding.n_features) if rows is None else rows
        return ahead(self._checked(most, start))

    def within(self, memory: int) -> Table:
        """The same table, read in about so many bytes beside its rows, where its reader can be told."""
        limited = self.reader.within(memory) if isinstance(self.reader, NamedReader) else self.reader
        return self if limited is self.reader else replace(self, reader=limited)

    def need_unchanged(self) -> None:
        """Raise where a file was changed since it was opened."""
        need_unchanged(self.paths, self.stamps)

    def _checked(self, rows: int, start: int) -> Iterator[Batch]:
        try:
            for X, y in self.reader.batches(rows, start):
                yield X, None if y is None else self._merged(y)
        except ChangedFileError:
            raise
        except InputError:
            self.need_unchanged()  # or else a line that somebody is writing would have to be corrected
            raise
        self.need_unchanged()

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
        try:
            return self._read(memory)
        except OtherMeaningError:  # once all rows have told, none can
            return self._read(memory)

    def _read(self, memory: int | None) -> Batch:
        room = (free_memory() if memory is None else memory) // 2
        parts: list[Any] = []
        labels: list[NDArray[Any] | None] = []
        taken, spill = 0, None
        table = self if memory is None else self.within(memory)
        # Larger batches than those that are learnt from: nothing has to stay in the cache.
        for X, y in table.batches(3 * batch_rows(self.encoding.n_features) // 2):
            labels.append(None if y is None else y.copy())  # a view would keep a batch of Arrow's alive
            taken += X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes
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
            release_arrow()
            return spill.matrix(room // 8), y
        dense = isinstance(parts[0], np.ndarray)
        return np.concatenate(parts) if dense else sparse.vstack(parts, format="csr"), y

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a person should know about how the file was read: a sentence each."""
        return (*self.found, *self.reader.told(), *merged_words(str(self.target_name), self._groups))

    def places(self, rows: Sequence[int]) -> list[Place]:
        """Where rows, counted from zero, stand in the file, before any were left out."""
        return self.reader.places(rows)

    @property
    def has_lines(self) -> bool:
        """Whether rows stand in lines of the file."""
        return self.reader.line_finder is not None

    def identities(self) -> Identities:
        """The numbers and names of the rows, for who goes through all of them."""
        return Identities(self.reader)

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
            "notes": [*self.doubts, *self.notes],
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
    decimal: str | None = None,
    thousands: str | None = None,
    na: Iterable[str] = (),
    text: Iterable[str] = (),
    row_names: str | None = None,
    sheet: str | None = None,
    text_encoding: str | None = None,
    merge_labels: bool = False,
) -> Table:
    """See a file, a pattern of files, a database, a query's answer or standard input as a table of numbers.

    Numbers are used as they are. Text that is number-like (decimal commas, thousands separators, a unit) is
    read as numbers where the whole column agrees on one reading. Other text and booleans become one column of
    zeros and ones for each level, named like ``light=sunny``. Columns that only number or name the rows are
    left out, unless ``features`` names them. The table's ``notes`` say all of this.

    Parameters
    ----------
    source : path, pattern, folder, "-" or None
        CSV or TSV, Parquet, JSON lines, a pattern of these, a folder of Parquet files, SQLite, DuckDB,
        LIBSVM, npy, npz, Excel, Arrow and Feather, ARFF, SAS, SPSS, Stata, IDX; each also as gzip, bz2, zstd,
        xz, or as the one file of a zip; or standard input; None where ``sql`` names its files itself.
    target : str, optional
        The column to be learnt. LIBSVM files and npz files with ``y`` have one of their own.
    features : names, optional
        The columns to learn from; all others than the target, if not given.
    exclude : names
        Columns to leave out.
    where : str, optional
        A condition in SQL; other rows are left out.
    sql : str, optional
        A query, in which the source is called ``data``; its answer is the table. Tables of SQLite and DuckDB
        files have their own names in it.
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
    decimal : {".", ","}, optional
        What separates fractions in text that holds numbers; the columns tell, if not given.
    thousands : str, optional
        What separates thousands there, such as ``","`` or a blank.
    na : texts
        Cells that mean a missing value, beside those that are known to, such as ``"-9"``.
    text : names
        Columns to read as text, whatever they hold.
    row_names : str, optional
        The column that names the rows, for people; it is no feature.
    sheet : str, optional
        The sheet of an Excel file.
    text_encoding : str, optional
        How text that is not UTF-8 is written, such as ``"latin-1"``; UTF-16 is known by its first bytes.
    merge_labels : bool
        Whether labels that differ in capital letters or blanks only, or say true and false in several ways,
        are made one.

    Raises
    ------
    InputError
        Whatever is wrong with the data, with the place and what to do.
    """
    if missing not in ("error", "drop"):
        raise InputError(f"The 'missing' parameter must be 'error' or 'drop'. Got {missing!r} instead.")
    if decimal not in (None, ".", ","):
        raise InputError(f"The 'decimal' parameter must be '.' or ','. Got {decimal!r} instead.")
    if thousands is not None and (thousands not in ("", *SEPARATORS) or thousands == decimal):
        raise InputError(
            "The 'thousands' parameter must be a comma, a point, a blank or an apostrophe, and not "
            f"the decimal sign. Got {thousands!r} instead."
        )
    if source is None and sql is None:
        raise InputError(
            "There is nothing to read.",
            remedy="Name a file, or give a query with 'sql'.",
            parameter="source",
        )
    request = Request(
        target,
        None if features is None else tuple(features),
        tuple(exclude),
        where,
        sql,
        table,
        missing,
        intercept,
        encoding,
        count_columns,
        decimal,
        thousands,
        tuple(dict.fromkeys([*na, *(() if encoding is None else encoding.na)])),
        tuple(text),
        row_names,
        sheet,
        text_encoding,
    )
    asked = {"where": where, "sql": sql, "table": table, "missing": missing}
    if source is None:
        named = open_columns(ask("The query", connect(), str(sql), queried=True), request)
        return Table(
            "The query",
            "query",
            named.target_name,
            named,
            asked=asked,
            found=(ANSWER,),
            merge_labels=merge_labels,
        )
    found = find_source(source, FORMATS, live=live, text_encoding=text_encoding)
    if sheet is not None and found.format is not excel.FORMAT:
        raise InputError(
            f"'sheet' is for Excel files; {found.name!r} is {found.format.kind}.", parameter="sheet"
        )
    paths = found.paths if found.spool is None else ()
    opened = found.format.open(found, request)
    reader = open_columns(opened, request) if isinstance(opened, Columns) else opened
    _ = reader.encoding  # what is wrong with the columns is said now
    return Table(
        found.name,
        found.format.kind if sql is None else "query",
        reader.target_name,
        reader,
        paths,
        asked,
        found.growing,
        found.stamps,
        found.notes if sql is None else (*found.notes, ANSWER),
        merge_labels,
    )
