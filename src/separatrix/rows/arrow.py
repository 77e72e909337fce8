"""Arrow batches as rows of float64; plain Parquet files are read by Arrow alone, with little memory."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import loops_files

BUFFER = 1 << 16  # bytes read ahead in each column: whole row groups would take hundreds of megabytes
NUMBERS, MOST_ROWS = 5 << 17, 1 << 14  # of a batch: larger ones are decoded and learnt faster

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
                    rest = batch.slice(start)
                    yield rest if rest.schema.names == list(names) else rest.select(list(names))
                start = max(0, start - batch.num_rows)


class Matrices:
    """Turns batches of columns into matrices of rows.

    The memory of a matrix is used again when nobody refers to it any more: fresh memory takes as long as
    turning, or longer.

    Parameters
    ----------
    limits : ndarray of shape (columns,)
        The largest magnitude that is good in each column.
    """

    def __init__(self, limits: NDArray[np.float64]) -> None:
        self._limits, self._width = limits, limits.size
        self._free: list[memoryview] = []

    def of(self, batch: Any, rows: int) -> Iterator[tuple[int, NDArray[np.float64], bool]]:
        """Yield up to ``rows`` rows at a time: the number of the first, the rows, whether all are good.

        A null becomes NaN, which is not good.
        """
        columns = batch.columns[: self._width]
        kind = _same_kind(columns)
        if kind is None:
            kind = np.float64
            copies = [np.ascontiguousarray(_numbers(each), dtype=kind) for each in columns]
            at = np.array([each.ctypes.data for each in copies], dtype=np.uintp)
        else:
            at = np.array([each.buffers()[1].address + 8 * each.offset for each in columns], dtype=np.uintp)
        for start in range(0, batch.num_rows, rows):
            matrix = self._matrix(min(rows, batch.num_rows - start))
            good = loops_files.turn(at + np.uintp(8 * start), kind(0), self._limits, matrix)
            yield start, matrix, good

    def _matrix(self, height: int) -> NDArray[np.float64]:
        size = 8 * height * self._width
        memory = self._free.pop() if self._free else np.empty(size, dtype=np.uint8).data
        if memory.nbytes < size:
            memory = np.empty(size, dtype=np.uint8).data
        # All views refer to this array, because what it was made from is none.
        owner: NDArray[np.float64] = np.frombuffer(memory, dtype=np.float64, count=height * self._width)
        weakref.finalize(owner, self._free.append, memory)
        return owner.reshape(height, self._width)


def _same_kind(columns: Sequence[Any]) -> type[np.float64] | type[np.int64] | None:
    """The type that columns have in common, if they can be turned as they are."""
    import pyarrow as pa

    kinds = {each.type.id for each in columns}
    if len(kinds) > 1 or any(each.null_count for each in columns):
        return None
    return {pa.lib.Type_DOUBLE: np.float64, pa.lib.Type_INT64: np.int64}.get(*kinds) if kinds else None


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
