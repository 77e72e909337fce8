"""Arrow batches as rows of float64; plain Parquet files are read by Arrow alone, with little memory."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

BUFFER = 1 << 16  # bytes read ahead in each column: whole row groups would take hundreds of megabytes
TILE = 1024  # rows turned at a time
NUMBERS, MOST_ROWS = 5 << 17, 1 << 14  # of a batch: larger ones are decoded faster, in larger pages of memory


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
    """Turns batches of columns into matrices of rows, by way of one small buffer.

    Memory that is taken anew for every batch costs more than the copying: the system clears each page.
    """

    def __init__(self, width: int) -> None:
        # The padding keeps columns from beginning at the same place of the cache: several times faster.
        self._buffer = np.empty((width, TILE + 8))

    def of(self, batch: Any, rows: int) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Yield up to ``rows`` rows at a time with the number of the first; a null becomes NaN."""
        columns = [batch.column(k).to_numpy(zero_copy_only=False) for k in range(len(self._buffer))]
        for start in range(0, batch.num_rows, rows):
            matrix = np.empty((min(rows, batch.num_rows - start), len(columns)))
            for first in range(0, len(matrix), TILE):
                last = min(first + TILE, len(matrix))
                tile = self._buffer[:, : last - first]
                for k, column in enumerate(columns):
                    tile[k] = column[start + first : start + last]
                matrix[first:last] = tile.T
            yield start, matrix


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
    found: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return found.astype(str) if found.dtype == object else found
