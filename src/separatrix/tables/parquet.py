"""Parquet files: Arrow reads columns of numbers, a few rows at a time; DuckDB reads the rest."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .batches import MOST_ROWS, arrow_labels, release_arrow
from .cleaning import is_number, numeric
from .database import Database, describe, explaining, literals
from .identifiers import FEWEST
from .query import Query, ask
from .sources import Format, Request, Source

COLUMN = 3 << 20  # bytes that Arrow holds of a column, measured on pages of 1 MB, as most writers make them
BUFFER = 1 << 16  # bytes read ahead in each column: whole row groups would take hundreds of megabytes
# The types of Arrow in DuckDB's words; a file with any other is described by DuckDB itself.
_KINDS = {
    "bool": "BOOLEAN",
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INTEGER",
    "int64": "BIGINT",
    "uint8": "UTINYINT",
    "uint16": "USMALLINT",
    "uint32": "UINTEGER",
    "uint64": "UBIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "string": "VARCHAR",
}


def open_parquet(
    source: Source, request: Request, *, notes: Sequence[str] = (), unnamed: tuple[str, ...] = ()
) -> Query:
    """One Parquet file, or several as one table; ``unnamed`` columns had no name where it was copied from."""
    relation = f"read_parquet({literals(source.paths)})"
    schemas = _schemas(source) if request.sql is None else None
    kinds = None if schemas is None else _columns(source, schemas)
    if kinds is None:
        found = describe(source.name, relation, sql=request.sql, keep=source)
    else:
        found = Database(source.name, relation, kinds, keep=source)
    found = replace(found, unnamed=unnamed if request.sql is None else ())
    query = ask(
        found, request, suspects=None if kinds is None else partial(_counting, source, found), notes=notes
    )
    if schemas is None or request.where is not None or request.missing != "error" or numeric(request.codes):
        return query
    rows = query.selection
    # The columns as the file has them: in the query, text may have become numbers.
    if all(is_number(found.columns[name]) for name in rows.names):
        query = replace(query, columns=partial(read_columns, source, rows.used))
    if rows.target is not None and is_number(found.columns[rows.target]):
        query = replace(query, labels=partial(_classes, source, rows.target))
    return query


def read_columns(
    source: Source, names: Sequence[str], rows: int, start: int, memory: int | None = None
) -> Iterator[Any]:
    """Yield batches of some columns of Parquet files, from row ``start`` on.

    Arrow holds a page and a dictionary of every column that it reads. Where that would be more than a quarter
    of ``memory``, only so many columns are read together, and wait in a temporary file for the others.
    """
    together = len(names) if memory is None else max(1, memory // (4 * COLUMN))
    import pyarrow.parquet as pq

    with explaining(source.name):
        for path in source.paths:
            with pq.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False) as file:
                sizes = [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)]
                if sum(sizes) != file.metadata.num_rows or min(sizes, default=0) < 0:
                    raise InputError(
                        f"{path!r} cannot be read: it is damaged, and says that it has "
                        f"{file.metadata.num_rows:,} rows in groups of {sum(sizes):,}."
                    )
                if start >= file.metadata.num_rows:
                    start -= file.metadata.num_rows
                    continue
                groups = list(range(len(sizes)))
                while start >= sizes[groups[0]]:
                    start -= sizes[groups.pop(0)]
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
    """The batches of a row group, of which some columns are read at a time."""
    import pyarrow as pa

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


def _counting(source: Source, found: Database, names: Sequence[str]) -> list[str]:
    """The columns of whole numbers that count up by one: the first rows of each tell which may.

    What a file says of the ranges of its columns is not asked: damaged, it ends the process inside Arrow.
    """
    whole = [name for name in names if is_number(found.columns[name])]
    first = next(iter(read_columns(source, whole, FEWEST, 0)), None) if whole else None
    if first is None or first.num_rows < FEWEST:
        return []
    likely = [
        name
        for name, column in zip(whole, first.columns, strict=True)
        if not column.null_count and not np.any(np.diff(arrow_labels(column)) != 1)
    ]
    return [name for name in likely if _counts_up(source, name)]


def _counts_up(source: Source, name: str) -> bool:
    last = np.empty(0)
    for batch in read_columns(source, [name], MOST_ROWS, 0):
        if batch.column(0).null_count:
            return False
        cells = np.concatenate([last, arrow_labels(batch.column(0))])
        if np.any(np.diff(cells) != 1):
            return False
        last = cells[-1:]
    return True


def _classes(source: Source, target: str) -> NDArray[Any]:
    """The different labels; rows without one have none."""
    batches = read_columns(source, [target], MOST_ROWS, 0)
    parts = [arrow_labels(_known(batch.column(0)).unique().drop_null()) for batch in batches]
    return np.unique(np.concatenate(parts)) if parts else np.empty(0, dtype=np.int64)


def _schemas(source: Source) -> list[Any] | None:
    """Arrow's schema of each file; None where Arrow cannot tell columns apart that DuckDB can."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        return None  # whoever connects to DuckDB says what to install
    try:
        found = [pq.read_schema(path) for path in source.paths]
        alone = all(len(set(each.names)) == len(each.names) for each in found)
    except (OSError, pa.ArrowException, UnicodeDecodeError):
        return None  # DuckDB knows better, or what is wrong
    return found if alone else None


def _columns(source: Source, schemas: list[Any]) -> dict[str, str] | None:
    """The columns of files in DuckDB's words, without asking DuckDB; None where only DuckDB can tell."""
    first = schemas[0]
    for path, schema in zip(source.paths, schemas, strict=True):
        _need_same_columns(source.paths[0], first, path, schema)
    kinds = {name: _KINDS.get(str(kind), "") for name, kind in zip(first.names, first.types, strict=True)}
    return kinds if all(kinds.values()) else None


def _need_same_columns(one: str, first: Any, path: str, schema: Any) -> None:
    import pyarrow as pa

    for field in first:
        other = schema.field(field.name).type if field.name in schema.names else None
        if other is None or pa.types.is_string(other) != pa.types.is_string(field.type):
            found = "does not have it" if other is None else f"has {other}"
            raise InputError(
                f"Column {field.name!r} is {field.type} in {one!r}, but {path!r} {found}. "
                "Files that are read together need the same columns."
            )


FORMAT = Format("parquet", "Parquet", open_parquet, magic=((0, b"PAR1"),), several=True)


def _known(column: Any) -> Any:
    """The column in a type whose values old versions of Arrow can count: half floats as floats."""
    import pyarrow as pa

    if not pa.types.is_float16(column.type):
        return column
    return pa.array(column.to_numpy(zero_copy_only=False).astype(np.float32), from_pandas=True)
