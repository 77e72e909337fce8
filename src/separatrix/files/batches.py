"""Batches of rows: their size, reading ahead, and rows from Arrow columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .arrow import as_numpy

T = TypeVar("T")
Batch = tuple[Any, NDArray[Any] | None]  # X, dense or CSR, and y; None without a target

# The size of a batch: smaller ones take longer to pass on, and several have to fit into the cache.
NUMBERS, MOST_ROWS = 7 << 16, 1 << 14
LARGEST_WHOLE = 2.0**53 - 1.0  # all whole numbers up to this one are floats


def batch_rows(width: int) -> int:
    """Return how many rows of ``width`` numbers to read at once."""
    return max(1, min(MOST_ROWS, NUMBERS // max(1, width)))


def ahead(source: Iterator[T]) -> Iterator[T]:
    """Yield the same items; another thread makes the next one while the caller works on the last one."""
    end: Any = object()
    pool = ThreadPoolExecutor(1, thread_name_prefix="separatrix-reader")
    try:
        coming = pool.submit(next, source, end)
        while (item := coming.result()) is not end:
            coming = pool.submit(next, source, end)
            yield item
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def to_rows(columns: Sequence[Any], start: int, stop: int) -> NDArray[np.float64]:
    """Return some rows of Arrow columns, or columns of float64, as a matrix; a null becomes NaN."""
    parts = [(c if isinstance(c, np.ndarray) else as_numpy(c))[start:stop] for c in columns]
    rows = np.empty((stop - start, len(parts)))
    return np.stack(parts, axis=1, out=rows, casting="unsafe") if parts else rows


def arrow_labels(column: Any) -> NDArray[Any]:
    """Return an Arrow column of labels without missing ones as int64, float64, or text."""
    found = as_numpy(column)
    if found.dtype == object:
        return found.astype(str)
    if found.dtype.kind == "f":
        return found.astype(np.float64, copy=False)
    small = found.dtype.kind in "iu" and found.dtype != np.uint64
    return found.astype(np.int64, copy=False) if small else found


def whole(labels: NDArray[np.float64]) -> NDArray[Any]:
    """Return labels as integers if all of them are."""
    with np.errstate(invalid="ignore"):  # of labels beyond int64
        rounded = labels.astype(np.int64)
    return rounded if np.array_equal(rounded, labels) else labels


def is_inexact(numbers: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which integers float64 cannot hold."""
    found = np.zeros(numbers.shape, dtype=bool)
    if not numbers.size or max(-int(numbers.min()), int(numbers.max())) <= LARGEST_WHOLE:
        return found
    floats = numbers.astype(np.float64)
    large = np.abs(floats) > LARGEST_WHOLE
    found[large] = numbers[large].astype(object) != floats[large].astype(object)
    return found
