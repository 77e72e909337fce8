"""Arrow files and streams; Feather files of version 2 are Arrow files."""

from __future__ import annotations

from typing import Any

from ...errors import InputError
from ..arrow import pa, plain, plain_type
from ..named_columns import Columns
from ..source.detect import Format, Request, Source
from ..sql.database import explaining
from .parquet import copied

_FILE, _STREAM = b"ARROW1", b"\xff\xff\xff\xff"


def open_arrow(source: Source, request: Request) -> Columns:
    """Copy a table of an Arrow file; a category becomes a column of its values."""
    with explaining(source.name), pa.OSFile(source.paths[0]) as file:
        if file.read(len(_FILE)) == _FILE:
            reader = pa.ipc.open_file(file)
            batches = (reader.get_batch(k) for k in range(reader.num_record_batches))
        else:
            file.seek(0)
            batches = reader = pa.ipc.open_stream(file)
        try:
            types = [(field.name, plain_type(field.type)) for field in reader.schema]
            return copied(source.name, types, map(_plain, batches), keep=source)
        except pa.ArrowNotImplementedError as error:
            raise InputError(f"A column has a type that cannot be read ({error}). Leave it out.") from error


def _plain(batch: Any) -> Any:
    return pa.RecordBatch.from_arrays(list(map(plain, batch.columns)), names=batch.schema.names)


FORMAT = Format("arrow", "Arrow and Feather", open_arrow, magic=((0, _FILE), (0, _STREAM)))
