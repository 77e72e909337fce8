"""Arrow's own files: IPC files and streams, and Feather of both versions."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from ...errors import InputError, needs
from ..source.detect import Format, Request, Source
from ..sql.database import explaining
from ..sql.query import Query
from .parquet import duration_notes
from .parquet_copies import open_copy

ROWS = 1 << 16  # that are copied together
_FILE, _STREAM, _FEATHER = b"ARROW1", b"\xff\xff\xff\xff", b"FEA1"


def open_arrow(source: Source, request: Request) -> Query:
    """A table in Arrow's layout; categories are text, other columns keep their types."""
    with needs("Reading Arrow files", extra="cli"):
        import pyarrow as pa

    with explaining(source.name), pa.OSFile(source.paths[0]) as file:
        schema, batches = _opened(file, source.paths[0])
        plain = pa.schema([pa.field(field.name, _plain(field.type)) for field in schema])
        rows = (_cast(part, plain) for part in _cut(batches))
        return open_copy(source, request, plain, rows, typed=True, notes=duration_notes(schema))


def _opened(file: Any, path: str) -> tuple[Any, Iterator[Any]]:
    import pyarrow as pa

    head = file.read(8)
    file.seek(0)
    if head.startswith(_FEATHER):
        from pyarrow import feather

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Arrow will not read this version for ever
            table = feather.read_table(path)
        return table.schema, iter(table.to_batches())
    if head.startswith(_FILE):
        reader = pa.ipc.open_file(file)
        return reader.schema, (reader.get_batch(k) for k in range(reader.num_record_batches))
    stream = pa.ipc.open_stream(file)
    return stream.schema, iter(stream)


def _cut(batches: Iterator[Any]) -> Iterator[Any]:
    for batch in batches:
        for start in range(0, batch.num_rows, ROWS):
            yield batch.slice(start, ROWS)


def _plain(kind: Any) -> Any:
    """The type of a column that a Parquet file can hold and DuckDB knows."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return _plain(kind.value_type)
    if pa.types.is_large_string(kind) or "view" in str(kind):
        return pa.string()
    if pa.types.is_float16(kind):
        return pa.float32()
    if pa.types.is_duration(kind):
        return pa.int64()
    return pa.float64() if pa.types.is_null(kind) else kind


def _cast(batch: Any, schema: Any) -> Any:
    import pyarrow as pa

    try:
        columns = [column.cast(field.type) for column, field in zip(batch.columns, schema, strict=True)]
    except pa.ArrowNotImplementedError as error:
        raise InputError(f"A column has a type that cannot be read ({error}). Leave it out.") from error
    return pa.record_batch(columns, schema=schema)


FORMAT = Format("arrow", "Arrow and Feather", open_arrow, magic=((0, _FILE), (0, _STREAM), (0, _FEATHER)))
