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
from ..files.batches import MOST_ROWS
from ..files.csv.csv_files import CsvRead
from ..files.csv.plain_numbers import PlainReader
from ..files.csv.small_files import SmallReader
from ..files.features import NamedReader
from ..files.formats.parquet import ParquetRead
from ..files.table import Table

# Bytes of the numbers of a part. Half as many are twice the messages; of twice as many, a worker of one
# gigabyte can hold few.
SIZE = 1 << 26


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows of a table, which are read wherever this is sent to.

    Attributes
    ----------
    place : str
        The file, and which rows of it.
    reader : NamedReader
        Reads these rows, with the column meanings that all rows decided.
    size : int or None
        How many rows there are, where that is known.
    """

    place: str
    reader: NamedReader
    size: int | None = None

    def read(self) -> tuple[NDArray[np.float64], NDArray[Any] | None]:
        """The features, encoded as in all other parts, and the labels where there is a target."""
        found = list(self.reader.batches(MOST_ROWS, 0))
        X = np.concatenate([np.empty((0, self.reader.encoding.n_features)), *(X for X, _ in found)])
        if self.size not in (None, len(X)):
            raise InputError(f"{self.place}: there are {len(X):,} rows; the file is another one here.")
        if self.reader.target_name is None:
            return X, None
        labels = [y for _, y in found if y is not None and y.size]
        return X, np.concatenate(labels) if labels else np.empty(0)


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
    if isinstance(reader, SmallReader):
        reader = reader.general()
    elif isinstance(reader, PlainReader):
        reader = reader.settled()
    if table.kind in ("csv", "parquet") and isinstance(reader, NamedReader):
        return [part for path in table.paths for part in _parts(reader, path)]
    what = "the answer of a query" if table.kind == "query" else f"of the kind {table.kind}"
    raise _not_cut(f"{table.name!r} is {what}")


def _not_cut(what: str) -> InputError:
    return InputError(
        f"A cluster reads Parquet and CSV files as they stand; {what}. Write it as Parquet, or leave out "
        "--scheduler and --workers."
    )


def _parts(reader: NamedReader, path: str) -> Iterator[Part]:
    whole, read = os.path.abspath(path), reader.columns.read
    if isinstance(read, CsvRead):
        yield Part(path, _elsewhere(reader, read.of(whole)))
        return
    assert isinstance(read, ParquetRead)
    kept = reader.request.where is None and reader.request.missing == "error"
    for start, stop in _spans(path, reader.encoding.n_features):
        part = _elsewhere(reader, replace(read, paths=(whole,), span=(start, stop), memory=None))
        yield Part(f"{path}, rows {start + 1:,} to {stop:,}", part, stop - start if kept else None)


def _elsewhere(reader: NamedReader, read: Any) -> NamedReader:
    """The reader of some rows, as it can be sent to another process."""
    columns = replace(reader.columns, read=read, keep=None, lines=None, count=None)
    return replace(reader, columns=columns, request=replace(reader.request, row_names=None))


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
