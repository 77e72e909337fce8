"""Open a file, database, query or stream as a table, and read it as a matrix, whole or in batches."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, LabelError
from ..sparse import sparse
from .arrow import release_arrow
from .batches import Batch, ahead, batch_rows
from .csv import csv_files
from .encoding import Encoding, shown
from .formats import (
    arff,
    arrays,
    duckdb_files,
    excel,
    libsvm,
    parquet,
    statistics_files,
)
from .label_spelling import doubts
from .named_columns import Columns
from .named_reader import open_columns
from .reader import Place, Reader
from .request import Request
from .source.detect import (
    ChangedFileError,
    OtherMeaningError,
    Source,
    find_source,
    free_memory,
    need_unchanged,
)
from .spill import Spill

# Every format that can be read. Text that no other format recognizes is CSV, the first one.
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
    parquet.ARROW,
    arff.FORMAT,
    *statistics_files.FORMATS,
    arrays.IDX,
)


@dataclass(frozen=True, eq=False)
class Table:
    """Rows in a file, with the columns that are used.

    Attributes
    ----------
    name : str
        What the user called the data.
    kind : str
        The kind of file; "query" for the answer to a query.
    reader : Reader
    request : Request
        Which rows and columns the user asked for.
    source : Source or None
        The files; None if the query names them.
    """

    name: str
    kind: str
    reader: Reader
    request: Request
    source: Source | None = None

    @property
    def target_name(self) -> str | None:
        """The name of the target, or None."""
        return self.reader.target_name

    @property
    def paths(self) -> tuple[str, ...]:
        """The files; empty for a query that names them itself, and for streams."""
        return () if self.source is None or not self.source.stamps else self.source.names

    @property
    def asked(self) -> dict[str, str | None]:
        """Which rows the user asked for."""
        return {name: getattr(self.request, name) for name in ("where", "sql", "table", "missing")}

    @property
    def encoding(self) -> Encoding:
        """How columns become features; give it to `open_table` to read another file in the same way.

        For a CSV file it is decided from the first rows until all rows have been read.
        """
        return self.reader.encoding

    @property
    def feature_names(self) -> tuple[str, ...]:
        """One name per column of the matrix."""
        return self.encoding.feature_names

    @cached_property
    def n_rows(self) -> int:
        """The number of rows, without those that ``where`` or missing values leave out."""
        return self.reader.n_rows()

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The distinct values of the target, sorted. Fewer than two values are an error."""
        if self.target_name is None:
            names = [column.name for column in self.encoding.columns]
            named = f" The columns are {shown(names)}." if names else ""
            raise InputError(
                f"Which column is the target?{named}", remedy="Name it with 'target'.", parameter="target"
            )
        found = self.reader.classes()
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
        if not self.encoding.n_features and self.reader.target_name is None:
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
            yield from self.reader.batches(rows, start)
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
            return self._read()
        except OtherMeaningError:  # now all rows have decided, and it cannot happen again
            return self._read()

    def _read(self) -> Batch:
        room = (free_memory() if self.request.memory is None else self.request.memory) // 2
        parts: list[Any] = []
        labels: list[NDArray[Any] | None] = []
        taken, spill = 0, None
        # Batches are larger than those for online learning: nothing has to stay in the cache.
        for X, y in self.batches(3 * batch_rows(self.encoding.n_features) // 2):
            labels.append(None if y is None else y.copy())  # a view would keep a batch of Arrow's alive
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
        """What a person should know about how the file was read, one sentence each."""
        found = () if self.source is None else self.source.notes
        queried = ("Rows are those of the query's answer, counted from 1, not those of the file.",) * (
            self.request.sql is not None
        )
        return (*found, *queried, *self.reader.told())

    def places(self, rows: Sequence[int]) -> list[Place]:
        """Return the places in the file of rows of the matrix, counted from zero."""
        return self.reader.places(rows)

    @property
    def has_lines(self) -> bool:
        """Whether the file has lines."""
        return self.reader.line_finder is not None

    def identities(self) -> Iterator[tuple[int, str | None]]:
        """Yield the number of each row in the file, counted from 1, and its name if it has one."""
        return self.reader.identities()

    def close(self) -> None:
        """Stop waiting for rows of standard input."""
        if self.source is not None and self.source.growing is not None:
            self.source.growing.stop()

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


def open_table(source: str | os.PathLike[str] | None, *, live: bool = False, **options: Any) -> Table:
    """Open a file, a pattern of files, a database, the answer to a query, or standard input as a table.

    Numbers are used as they are. Text that holds numbers (decimal commas, thousands separators, a unit) is
    read as numbers if all cells of the column can be read in one way. Other text and booleans become one
    column of zeros and ones per level, named like ``light=sunny``. Columns that only count or name the rows
    are left out, unless ``features`` names them. The table's ``notes`` say all of this.

    Parameters
    ----------
    source : path, pattern, folder, "-" or None
        CSV or TSV, Parquet, JSON lines, a pattern of these, a folder of Parquet files, SQLite, DuckDB,
        LIBSVM, npy, npz, Excel, Arrow and Feather, ARFF, SAS, SPSS, Stata, IDX; each also as gzip, bz2, zstd,
        xz, or as the only file of a zip; or standard input. None if ``sql`` names its files itself.
    live : bool
        Whether rows of standard input may be read before all of it has arrived. This is possible for LIBSVM
        and for CSV of plain numbers. Whatever needs all rows (text columns, a condition, unknown classes)
        waits for them.
    **options
        Which rows and columns are wanted, and how they are written; see `Request`.

    Raises
    ------
    InputError
        If something is wrong with the data; the message says where, and what to do.
    """
    request = Request(**options)
    if source is None:
        if request.sql is None:
            raise InputError(
                "There is nothing to read.",
                remedy="Name a file, or give a query with 'sql'.",
                parameter="source",
            )
        answer = open_columns(
            duckdb_files.ask("The query", duckdb_files.connect(), request.sql, queried=True), request
        )
        return Table("The query", "query", answer, request)
    found = find_source(source, FORMATS, live=live, text_encoding=request.text_encoding)
    if request.sheet is not None and found.format is not excel.FORMAT:
        raise InputError(
            f"'sheet' is for Excel files; {found.name!r} is {found.format.kind}.", parameter="sheet"
        )
    opened = found.format.open(found, request)
    reader = open_columns(opened, request) if isinstance(opened, Columns) else opened
    _ = reader.encoding  # raises what is wrong with the columns
    kind = found.format.kind if request.sql is None else "query"
    return Table(found.name, kind, reader, request, found)
