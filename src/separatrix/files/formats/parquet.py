"""Parquet files, read by Arrow a few rows at a time, and temporary copies of other formats."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ...errors import InputError
from ..arrow import pa, plain_type, pq, release_arrow
from ..encoding import need_distinct
from ..named_columns import Columns
from ..source.detect import Format, Request, Source
from ..source.streams import Spool
from ..sql.database import NO_PARTITIONS, explaining, literals

COLUMN = 3 << 20  # bytes that Arrow holds of a column, measured on pages of 1 MB, which most writers use


def open_parquet(source: Source, request: Request) -> Columns:
    """Open one Parquet file, or several as one table."""
    columns = parquet_columns(source.name, source.paths, source, alike=request.sql is None)
    return replace(columns, read=ParquetRead(source.name, source.paths, request.memory))


def parquet_columns(name: str, paths: Sequence[str], keep: Any = None, *, alike: bool = True) -> Columns:
    """Return the columns of Parquet files, whose types have to be ``alike`` unless a query unifies them."""
    with explaining(name):
        schemas = [pq.read_schema(path) for path in paths]
        names = [each.names for each in schemas]
    first = schemas[0]
    for path, schema in zip(paths, schemas, strict=True):
        need_distinct(name, schema.names)
        if alike:
            _need_same_columns(paths[0], first, path, schema)
    types = dict(zip(names[0], first.types, strict=True))
    # In a query, a column gets a type that holds its values in all files.
    unified = ", union_by_name = true" if len(paths) > 1 else ""
    return Columns(
        name,
        types,
        ParquetRead(name, tuple(paths)),
        relation=f"read_parquet({literals(paths)}, {NO_PARTITIONS}{unified})",
        keep=keep,
        count=partial(_count, name, paths),
    )


def _count(name: str, paths: Sequence[str]) -> int:
    with explaining(name):
        return sum(pq.read_metadata(path).num_rows for path in paths)


@dataclass(frozen=True)
class ParquetRead:
    """Yields batches of some columns of Parquet files, from a row on.

    Arrow holds a page and a dictionary of every column that it reads. If that is more than a quarter of
    ``memory``, a few columns are read at a time, and wait in a temporary file for the others.
    """

    name: str
    paths: tuple[str, ...]
    memory: int | None = None

    def __call__(self, names: Sequence[str], rows: int, start: int) -> Iterator[Any]:
        """Yield up to ``rows`` rows at a time."""
        together = len(names) if self.memory is None else max(1, self.memory // (4 * COLUMN))
        with explaining(self.name):
            for path in self.paths:
                # Reading ahead in whole row groups would take hundreds of megabytes.
                with pq.ParquetFile(path, buffer_size=1 << 16, pre_buffer=False) as file:
                    sizes = [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)]
                    if sum(sizes) != file.metadata.num_rows or min(sizes, default=0) < 0:
                        raise InputError(
                            f"{path!r} cannot be read: it is damaged, and says that it has "
                            f"{file.metadata.num_rows:,} rows in groups of {sum(sizes):,}."
                        )
                    groups = list(range(len(sizes)))
                    while groups and start >= sizes[groups[0]]:
                        start -= sizes[groups.pop(0)]
                    if not groups:
                        continue
                    for batch in _read(file, groups, list(names), rows, together):
                        if start < batch.num_rows:
                            yield batch.slice(start)
                        start = max(0, start - batch.num_rows)


def _read(file: Any, groups: list[int], names: list[str], rows: int, together: int) -> Iterator[Any]:
    if together >= len(names):
        for batch in file.iter_batches(rows, groups, names, use_threads=False):
            yield batch if batch.schema.names == names else batch.select(names)
        return
    parts = [names[begin : begin + together] for begin in range(0, len(names), together)]
    for group in groups:
        yield from _in_parts(file, group, parts, rows)


def _in_parts(file: Any, group: int, parts: list[list[str]], rows: int) -> Iterator[Any]:
    """Yield the batches of a row group, of which some columns are read at a time."""
    names = [name for part in parts for name in part]
    with ExitStack() as stack:
        spooled = []
        for part in parts:
            raw = stack.enter_context(tempfile.TemporaryFile(prefix="separatrix-"))
            with ExitStack() as writing:
                writer: Any = None
                for batch in _read(file, [group], part, rows, len(part)):
                    writer = writer or writing.enter_context(pa.ipc.new_stream(raw, batch.schema))
                    writer.write_batch(batch)
            release_arrow()
            raw.seek(0)
            spooled.append(pa.ipc.open_stream(raw))
        for batches in zip(*spooled, strict=True):
            columns = [column for batch in batches for column in batch.columns]
            yield pa.RecordBatch.from_arrays(columns, names=names)


def _need_same_columns(one: str, first: Any, path: str, schema: Any) -> None:
    """Raise an error if types differ: numbers might be rounded to the types of the first file."""
    for field in first:
        other = schema.field(field.name).type if field.name in schema.names else None
        said = f"Column {field.name!r} is {field.type} in {one!r}, but {path!r}"
        if other is None:
            raise InputError(f"{said} does not have it. Files that are read together need the same columns.")
        if plain_type(other) != plain_type(field.type):
            raise InputError(
                f"{said} has {other}. Files that are read together need the same columns; the query FROM "
                "data gives them one type that holds both.",
                remedy="Pass it as 'sql'.",
                parameter="answer",
            )


def copied(
    name: str, types: Iterable[tuple[str, Any]], batches: Iterable[Any], *, keep: Any, **known: Any
) -> Columns:
    """Copy batches to a temporary Parquet file, and return its columns."""
    spool, schema, rows = Spool(), pa.schema(list(types)), 0
    need_distinct(name, schema.names)
    path = spool.new()
    with pq.ParquetWriter(path, schema) as writer:
        for batch in batches:
            writer.write_batch(pa.RecordBatch.from_arrays(batch.columns, schema=schema))
            rows += batch.num_rows
    if not rows:
        raise InputError(f"{name!r} has no rows. A table needs at least one for each class.")
    return replace(parquet_columns(name, (path,), (spool, keep)), **known)


FORMAT = Format("parquet", "Parquet", open_parquet, magic=((0, b"PAR1"),), several=True)
