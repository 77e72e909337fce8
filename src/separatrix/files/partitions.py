"""A table in parts for other processes: what all rows tell is decided before, and goes with each part."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .batches import MOST_ROWS
from .csv.reader import CsvReader
from .encoding import Encoding
from .formats.parquet import ParquetReader
from .sql.database import AS_IT_STANDS, connect, literal, literals
from .sql.query import Query
from .table import Table

# Bytes of the numbers of a part. Half as many are twice the messages; of twice as many, a worker of one
# gigabyte can hold few.
SIZE = 1 << 26
OWN = ("filename", "file_row_number")  # what DuckDB calls the file of a row, and its place there


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows of a table, which are read wherever this is sent to.

    Attributes
    ----------
    place : str
        The file, and which rows of it.
    query : Query
        Reads these rows, as all rows told how.
    size : int or None
        How many rows there are, where that is known.
    """

    place: str
    query: Query
    size: int | None = None

    def read(self) -> tuple[NDArray[np.float64], NDArray[Any] | None]:
        """The features, encoded as in all other parts, and the labels where there is a target."""
        # by one thread: a worker of a cluster has about one core
        query = replace(self.query, database=replace(self.query.database, opened=connect(threads=1)))
        found = list(query.batches(MOST_ROWS, 0))
        X = np.concatenate([np.empty((0, query.encoding.n_features)), *(X for X, _ in found)])
        if self.size not in (None, len(X)):
            raise InputError(f"{self.place}: there are {len(X):,} rows; the file is another one here.")
        if query.target_name is None:
            return X, None
        labels = [y for _, y in found if y is not None and y.size]
        return X, np.concatenate(labels) if labels else np.empty(0)

    def features(self) -> NDArray[np.float64]:
        """The features."""
        return self.read()[0]

    def labels(self) -> NDArray[Any]:
        """The labels; the features are not read."""
        found = replace(self, query=replace(self.query, encoding=Encoding())).read()[1]
        assert found is not None
        return found


def cut(table: Table) -> list[Part]:
    """Cut a table of Parquet or CSV files into parts of about `SIZE` bytes; a CSV file is one part.

    Where they are cut depends on the files only.

    Raises
    ------
    InputError
        For other tables, and those that are no files.
    """
    reader = table.reader
    if not table.paths:
        raise _not_cut(f"{table.name!r} comes from standard input, or had to be unpacked or rewritten first")
    patterns = [path for path in table.paths if glob.has_magic(path)]
    if patterns:
        raise _not_cut(f"{patterns[0]!r} has a sign of patterns in its name")
    if table.kind == "csv" and isinstance(reader, CsvReader):
        query = reader.settled()
        if query.database.keep.paths != table.paths:
            raise _not_cut(f"the lines of {table.name!r} end in different ways, so that a copy is read")
        return [_csv_part(query, path) for path in table.paths]
    if table.kind == "parquet" and isinstance(reader, Query | ParquetReader):
        query = reader if isinstance(reader, Query) else reader.query
        return [part for path in table.paths for part in _parquet_parts(query, table, path)]
    what = "the answer of a query" if table.kind == "query" else f"of the kind {table.kind}"
    raise _not_cut(f"{table.name!r} is {what}")


def _not_cut(what: str) -> InputError:
    return InputError(
        f"A cluster reads Parquet and CSV files as they stand; {what}. Write it as Parquet, or leave out "
        "--scheduler and --workers."
    )


def _csv_part(query: Query, path: str) -> Part:
    return Part(
        path, _elsewhere(query, literals(query.database.keep.paths), literals([os.path.abspath(path)]))
    )


def _parquet_parts(query: Query, table: Table, path: str) -> Iterator[Part]:
    own = [name for name in query.database.columns if name.casefold() in OWN]
    if own:
        raise InputError(
            f"{table.name!r} has a column named {own[0]!r}, as DuckDB calls what parts of files are told "
            "apart by. Rename it."
        )
    whole, paths = os.path.abspath(path), query.database.keep.paths
    # the first file says of what types the columns are
    files = literals(list(dict.fromkeys([os.path.abspath(paths[0]), whole])))
    for start, stop in _spans(path, query.encoding.n_features):
        some = (
            f"(SELECT * EXCLUDE ({', '.join(OWN)}) FROM read_parquet({files}, {AS_IT_STANDS}, filename "
            f"= true, file_row_number = true) WHERE filename = {literal(whole)} AND "
            f"file_row_number >= {start} AND file_row_number < {stop})"
        )
        yield Part(
            f"{path}, rows {start + 1:,} to {stop:,}",
            _elsewhere(query, f"read_parquet({literals(paths)}, {AS_IT_STANDS})", some),
            None if query.selection.chosen else stop - start,
        )


def _elsewhere(query: Query, all_rows: str, some: str) -> Query:
    """The query about some rows, as it can be sent to another process."""
    database = query.database
    if all_rows not in database.relation:
        raise _not_cut(f"{database.name!r} is read in another way")
    found = replace(
        database,
        relation=database.relation.replace(all_rows, some),
        texts=database.texts.replace(all_rows, some),
        keep=None,
        opened=None,
        lines=None,
        cells=None,
    )
    selection = replace(query.selection, database=found)
    return replace(query, database=found, selection=selection, columns=None, labels=None)


def _spans(path: str, width: int) -> list[tuple[int, int]]:
    """Rows of a Parquet file that are read together: whole groups, and parts of groups that are too large."""
    import pyarrow.parquet as pq

    most = max(1, SIZE // (8 * max(1, width)))
    with pq.ParquetFile(path) as file:
        sizes = [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)]
    edges = [0]
    for end in np.cumsum(sizes, dtype=np.int64).tolist():
        if len(edges) > 1 and end - edges[-2] <= most:
            edges[-1] = end  # with the groups before
            continue
        last = edges[-1]
        pieces = max(1, round((end - last) / most)) if end - last > 2 * most else 1
        edges += [last + (end - last) * k // pieces for k in range(1, pieces + 1)]
    return [(start, stop) for start, stop in pairwise(edges) if start < stop]
