"""A few rows at a time: how many, in what memory, made ahead of their reader; Arrow's columns as rows."""

from __future__ import annotations

import contextlib
import queue
import sys
import threading
import weakref
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import loops
from ..loops import layouts

T = TypeVar("T")
Batch = tuple[Any, NDArray[Any] | None]  # X, dense or CSR, and y; None without a target

# Of a batch: smaller ones take longer to hand over, and several of these have to fit into the cache.
NUMBERS, MOST_ROWS = 7 << 16, 1 << 14
LARGEST_WHOLE = 2.0**53 - 1.0  # all whole numbers up to this one are floats

# Arrow's types by name: those that the loops convert, and those that NumPy sees in place.
_CONVERTED = {"double": layouts.DOUBLE, "float": layouts.FLOAT, "int64": layouts.LONG, "int32": layouts.INT}
_PLAIN = {
    **{f"{sign}int{bits}": np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "float": np.dtype(np.float32),
    "double": np.dtype(np.float64),
}


def batch_rows(width: int) -> int:
    """How many rows of so many numbers to read at once."""
    return max(1, min(MOST_ROWS, NUMBERS // max(1, width)))


def ahead(source: Iterator[T]) -> Iterator[T]:
    """The same items, made in another thread while the caller works on the last ones."""
    items: queue.Queue[Any] = queue.Queue(maxsize=2)
    stopped = threading.Event()

    def put(item: Any) -> bool:
        while not stopped.is_set():
            with contextlib.suppress(queue.Full):
                items.put(item, timeout=0.1)
                return True
        return False

    def work() -> None:
        try:
            for item in source:
                if not put((item, None)):
                    return
            put((None, None))
        except BaseException as error:  # whatever it is, the caller gets it
            put((None, error))

    reader = threading.Thread(target=work, name="separatrix-reader", daemon=True)
    reader.start()
    try:
        while True:
            item, error = items.get()
            if error is not None:
                raise error
            if item is None:
                reader.join()
                return
            yield item
    finally:
        stopped.set()
        # a thread that outlives the program would keep what it holds from being cleared away
        reader.join(1.0)


class Matrices:
    """Matrices of one width, and what is needed to fill them.

    The memory of a matrix is used again when nobody refers to it any more: fresh memory takes as long as
    filling it, or longer.

    Parameters
    ----------
    limits : ndarray of shape (columns,)
        The largest magnitude that is good in each column.
    """

    def __init__(self, limits: NDArray[np.float64]) -> None:
        self.width = limits.size
        self._limits = limits
        block = max(layouts.LEAST, min(layouts.MOST, layouts.BLOCK // max(1, self.width)))
        self._room = np.empty(self.width, dtype=np.int64), np.empty((self.width, block))
        self._free: list[memoryview] = []

    def new(self, height: int) -> NDArray[np.float64]:
        """A matrix whose numbers are anything yet."""
        size = 8 * height * self.width
        try:
            memory = self._free.pop()  # other threads take from it, too
        except IndexError:
            memory = np.empty(size, dtype=np.uint8).data
        if memory.nbytes < size:
            memory = np.empty(size + size // 8, dtype=np.uint8).data
        # All views refer to this array, because what it was made from is none.
        owner: NDArray[np.float64] = np.frombuffer(memory, dtype=np.float64, count=height * self.width)
        weakref.finalize(owner, self._free.append, memory)
        return owner.reshape(height, self.width)

    def of_columns(
        self, columns: Sequence[Any], height: int, rows: int
    ) -> Iterator[tuple[int, NDArray[np.float64], bool]]:
        """Yield up to ``rows`` rows at a time: the number of the first, the rows, if all numbers are good.

        The columns are Arrow's, or of float64. A null becomes NaN, which is not good.
        """
        places = np.empty((self.width, 2), dtype=np.int64)
        copies = []  # keep the buffers alive that are not the columns' own, until the last row is filled
        for k, column in enumerate(columns):
            kind = (
                None
                if isinstance(column, np.ndarray) or column.null_count
                else _CONVERTED.get(str(column.type))
            )
            if kind is None:
                numbers = column if isinstance(column, np.ndarray) else _numbers(column)
                copies.append(np.ascontiguousarray(numbers, dtype=np.float64))
                places[k] = layouts.DOUBLE, copies[-1].ctypes.data
            else:
                # ``columns`` keeps this buffer alive: it is a local of this generator.
                places[k] = kind, column.buffers()[1].address + layouts.SIZES[kind] * column.offset
        for start in range(0, height, rows):
            matrix = self.new(min(rows, height - start))
            good = loops.columns.fill(places, self._limits, matrix, self._room)
            yield start, matrix, bool(good)


def arrow_labels(column: Any) -> NDArray[Any]:
    """A column of labels of Arrow's, none of them missing: int64, float64, or text."""
    found = _numbers(column)
    if found.dtype == object:
        return found.astype(str)
    if found.dtype.kind == "f":
        return found.astype(np.float64, copy=False)
    small = found.dtype.kind in "iu" and found.dtype != np.uint64
    return found.astype(np.int64, copy=False) if small else found


def whole(labels: NDArray[np.float64]) -> NDArray[Any]:
    """Labels as whole numbers, where they all are."""
    with np.errstate(invalid="ignore"):  # of labels beyond int64
        rounded = labels.astype(np.int64)
    return rounded if np.array_equal(rounded, labels) else labels


def is_inexact(numbers: NDArray[Any]) -> NDArray[np.bool_]:
    """Which whole numbers no float64 is equal to."""
    floats = numbers.astype(np.float64)
    large = np.abs(floats) > LARGEST_WHOLE
    found = np.zeros(numbers.shape, dtype=bool)
    found[large] = numbers[large].astype(object) != floats[large].astype(object)
    return found


def release_arrow() -> None:
    """Give back the memory that Arrow keeps for further batches, if it was used."""
    pa: Any = sys.modules.get("pyarrow")
    if pa is not None:
        pa.default_memory_pool().release_unused()


def _numbers(column: Any) -> NDArray[Any]:
    """A column as NumPy sees it; plain numbers without `to_numpy`, whose first call imports pandas."""
    kind = _PLAIN.get(str(column.type))
    if kind is None or column.null_count:
        found: NDArray[Any] = column.to_numpy(zero_copy_only=False)
        return found
    values: NDArray[Any] = np.frombuffer(column.buffers()[1], dtype=kind)
    return values[column.offset : column.offset + len(column)]
