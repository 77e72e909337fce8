"""Parquet files, read by Arrow a few rows at a time; Arrow files; and temporary copies of other formats."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from ...errors import InputError
from ..arrow import pa, plain, plain_type, pq, release_arrow
from ..encoding import need_distinct
from ..named_columns import Columns
from ..request import Request
from ..source.decoding import Spool
from ..source.detect import Format, Source

COLUMN = 3 << 20  # bytes that Arrow holds of a column, measured on pages of 1 MB, which most writers use
_FILE, _STREAM = b"ARROW1", b"\xff\xff\xff\xff"


def open_parquet(source: Source, request: Request) -> Columns:
    """Open one Parquet file, or several as one table: of the same types, unless a query unifies them."""
    read = ParquetRead(source.name, source.paths, source, request.memory)
    schemas = [pq.read_schema(path) for path in source.paths]
    for path, schema in zip(source.paths, schemas, strict=True):
        need_distinct(source.name, schema.names)
        if request.sql is None:
            _need_same_columns(source.paths[0], schemas[0], path, schema)
    return Columns(source.name, schemas[0], read, paths=source.paths)


def open_arrow(source: Source, request: Request) -> Columns:
    """Copy a table of an Arrow file or stream; Feather files of version 2 are Arrow files."""
    with pa.OSFile(source.paths[0]) as file:
        if file.read(len(_FILE)) == _FILE:
            reader = pa.ipc.open_file(file)
            batches = (reader.get_batch(k) for k in range(reader.num_record_batches))
        else:
            file.seek(0)
            batches = reader = pa.ipc.open_stream(file)
        return copied(source.name, batches)


def copied(name: str, batches: Iterable[Any], **known: Any) -> Columns:
    """Copy batches to a temporary Parquet file, and return its columns; see `plain` for their types."""
    spool, rows = Spool(), 0
    read = ParquetRead(name, (spool.new(),), spool)
    coming = iter(batches)
    first = next(coming, None)
    schema = pa.schema([] if first is None else [(e.name, plain_type(e.type)) for e in first.schema])
    with pq.ParquetWriter(read.paths[0], schema) as writer:
        for batch in itertools.chain([] if first is None else [first], coming):
            writer.write_batch(pa.RecordBatch.from_arrays(list(map(plain, batch.columns)), schema=schema))
            rows += batch.num_rows
    if not rows:
        raise InputError(f"{name!r} has no rows. A table needs at least one for each class.")
    return replace(Columns(name, schema, read, paths=read.paths), **known)


@dataclass(frozen=True)
class ParquetRead:
    """Yields batches of some columns of Parquet files, from a row on; ``keep`` owns the files.

    Arrow holds a page and a dictionary of every column that it reads. If that is more than a quarter of
    ``memory``, a few columns are read at a time, and wait in a temporary file for the others.
    """

    name: str
    paths: tuple[str, ...]
    keep: Any
    memory: int | None = None

    def __call__(self, names: Sequence[str], rows: int, start: int) -> Iterator[Any]:
        """Yield up to ``rows`` rows at a time."""
        together = len(names) if self.memory is None else max(1, self.memory // (4 * COLUMN))
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
    """Yield the batches of some row groups, of which ``together`` columns are read at a time."""
    if together >= len(names):
        for batch in file.iter_batches(rows, groups, names, use_threads=False):
            yield batch if batch.schema.names == names else batch.select(names)
        return
    for group in groups:
        with ExitStack() as stack:
            spooled = []
            for begin in range(0, len(names), together):
                part = names[begin : begin + together]
                raw = stack.enter_context(tempfile.TemporaryFile(prefix="separatrix-"))
                schema = pa.schema([file.schema_arrow.field(name) for name in part])
                with pa.ipc.new_stream(raw, schema) as writer:
                    for batch in _read(file, [group], part, rows, together):
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


FORMAT = Format("parquet", "Parquet", open_parquet, magic=((0, b"PAR1"),), several=True)
ARROW = Format("arrow", "Arrow and Feather", open_arrow, magic=((0, _FILE), (0, _STREAM)))
