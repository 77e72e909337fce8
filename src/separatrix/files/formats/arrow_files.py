"""Arrow's own files: IPC files and streams, and Feather of both versions."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from ...errors import InputError, needs
from ..columns import ROWS, Columns, duration_notes, plain, plain_type
from ..source.detect import Format, Request, Source
from ..sql.database import explaining
from .parquet import copied

_FILE, _STREAM, _FEATHER = b"ARROW1", b"\xff\xff\xff\xff", b"FEA1"


def open_arrow(source: Source, request: Request) -> Columns:
    """A table in Arrow's layout, copied; categories are what they are one of."""
    with needs("Reading Arrow files", extra="cli"):
        import pyarrow as pa

    with explaining(source.name), pa.OSFile(source.paths[0]) as file:
        schema, batches = _opened(file, source.paths[0])
        try:
            types = [(field.name, plain_type(field.type)) for field in schema]
            notes = duration_notes({field.name: field.type for field in schema})
            return copied(source.name, types, map(_plain, _cut(batches)), keep=source, notes=notes)
        except pa.ArrowNotImplementedError as error:
            raise InputError(f"A column has a type that cannot be read ({error}). Leave it out.") from error


def _opened(file: Any, path: str) -> tuple[Any, Iterator[Any]]:
    import pyarrow as pa

    head = file.read(8)
    file.seek(0)
    if head.startswith(_FEATHER):
        from pyarrow import feather

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Arrow will drop this version one day
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


def _plain(batch: Any) -> Any:
    import pyarrow as pa

    return pa.RecordBatch.from_arrays(list(map(plain, batch.columns)), names=batch.schema.names)


FORMAT = Format("arrow", "Arrow and Feather", open_arrow, magic=((0, _FILE), (0, _STREAM), (0, _FEATHER)))
