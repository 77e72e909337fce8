"""Arrow batches as rows of float64; Parquet files are read by Arrow alone, with little memory."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..loops import columns as loops
from .columns import Matrices

BUFFER = 1 << 16  # bytes read ahead in each column: whole row groups would take hundreds of megabytes

_KINDS = {
    **{f"{sign}int{bits}": np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "float": np.dtype(np.float32),
    "double": np.dtype(np.float64),
}


_PLAIN = {
    "double": loops.DOUBLE,
    "float": loops.FLOAT,
    "int64": loops.LONG,
    "int32": loops.INT,
}


def parquet_batches(paths: Sequence[str], names: Sequence[str], rows: int, start: int) -> Iterator[Any]:
    """Yield batches of some columns of Parquet files, from row ``start`` on."""
    import pyarrow.parquet as pq

    for path in paths:
        with pq.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False) as file:
            if start >= file.metadata.num_rows:
                start -= file.metadata.num_rows
                continue
            groups = list(range(file.num_row_groups))
            while start >= file.metadata.row_group(groups[0]).num_rows:
                start -= file.metadata.row_group(groups.pop(0)).num_rows
            for batch in file.iter_batches(rows, groups, list(names), use_threads=False):
                if start < batch.num_rows:
                    rest = batch.slice(start)
                    yield rest if rest.schema.names == list(names) else rest.select(list(names))
                start = max(0, start - batch.num_rows)


def matrices_of(batch: Any, matrices: Matrices, rows: int) -> Iterator[tuple[int, NDArray[np.float64], bool]]:
    """Yield up to ``rows`` rows of a batch at a time: the number of the first, the rows, if all are good.

    Columns beyond the width of the matrices are left out. A null becomes NaN, which is not good.
    """
    columns = batch.columns[: matrices.width]
    state = np.zeros((len(columns), loops.FIELDS), dtype=np.int64)
    copies = []  # have to stay as long as they are read
    for k, column in enumerate(columns):
        kind = _PLAIN.get(str(column.type)) if not column.null_count else None
        if kind is None:
            copies.append(np.ascontiguousarray(_numbers(column), dtype=np.float64))
            state[k, loops.KIND], state[k, loops.AT] = (
                loops.DOUBLE,
                copies[-1].ctypes.data,
            )
        else:
            state[k, loops.KIND] = kind
            state[k, loops.AT] = column.buffers()[1].address + loops.SIZES[kind] * column.offset
    state[:, loops.LEFT] = batch.num_rows
    for start in range(0, batch.num_rows, rows):
        matrix = matrices.new(min(rows, batch.num_rows - start))
        _, good, _ = matrices.fill(state, matrix, np.empty(0))
        yield start, matrix, good


def _numbers(column: Any) -> NDArray[Any]:
    """A column as NumPy sees it; plain numbers without `to_numpy`, whose first call imports pandas."""
    kind = _KINDS.get(str(column.type))
    if kind is None or column.null_count:
        found: NDArray[Any] = column.to_numpy(zero_copy_only=False)
        return found
    values: NDArray[Any] = np.frombuffer(column.buffers()[1], dtype=kind)
    return values[column.offset : column.offset + len(column)]


def release() -> None:
    """Give back the memory that Arrow keeps for further batches, if it was used."""
    pa: Any = sys.modules.get("pyarrow")
    if pa is not None:
        pa.default_memory_pool().release_unused()


def labels(column: Any) -> NDArray[Any]:
    """A column of labels: whole numbers, numbers or text."""
    import pyarrow as pa

    if pa.types.is_boolean(column.type):
        column = column.cast(pa.string())
    found = _numbers(column)
    return found.astype(str) if found.dtype == object else found
