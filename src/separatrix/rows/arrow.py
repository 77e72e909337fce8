"""Arrow batches as rows of float64; plain Parquet files are read by Arrow alone, with little memory."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import loops_files

BUFFER = 1 << 16  # bytes read ahead in each column: whole row groups would take hundreds of megabytes
PADDING = 8  # keeps columns from beginning at the same place of the cache: several times faster
NUMBERS, MOST_ROWS = 5 << 17, 1 << 14  # of a batch: larger ones are decoded faster, in larger pages of memory

_KINDS = {
    **{f"{sign}int{bits}": np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "float": np.dtype(np.float32),
    "double": np.dtype(np.float64),
}


def batch_rows(width: int) -> int:
    """How many rows of so many numbers to read at once."""
    return max(1, min(MOST_ROWS, NUMBERS // max(1, width)))


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
                    yield batch.slice(start).select(list(names))
                start = max(0, start - batch.num_rows)


class Matrices:
    """Turns batches of columns into matrices of rows, by way of one buffer."""

    def __init__(self, width: int) -> None:
        self._width, self._buffer = width, np.empty((width, 0))

    def of(self, batch: Any, rows: int) -> Iterator[tuple[int, NDArray[np.float64], bool]]:
        """Yield up to ``rows`` rows at a time: the number of the first, the rows, whether a value is missing.

        A null becomes NaN.
        """
        if batch.num_rows + PADDING > self._buffer.shape[1]:
            self._buffer = np.empty((self._width, batch.num_rows + PADDING))
        for k in range(self._width):
            self._buffer[k, : batch.num_rows] = _numbers(batch.column(k))
        for start in range(0, batch.num_rows, rows):
            matrix = np.empty((min(rows, batch.num_rows - start), self._width))
            lacking = loops_files.turn(self._buffer[:, start:], matrix)
            yield start, matrix, lacking


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
