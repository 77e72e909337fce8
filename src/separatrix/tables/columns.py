"""Columns of numbers become matrices of rows."""

from __future__ import annotations

import weakref

import numpy as np
from numpy.typing import NDArray

from ..loops import columns as loops

# Of a batch: smaller ones take longer to hand over, and several of these have to fit into the cache.
NUMBERS, MOST_ROWS = 7 << 16, 1 << 14


def batch_rows(width: int) -> int:
    """How many rows of so many numbers to read at once."""
    return max(1, min(MOST_ROWS, NUMBERS // max(1, width)))


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
        block = max(loops.LEAST, min(loops.MOST, loops.BLOCK // max(1, self.width)))
        self._room = np.empty(self.width + 1, dtype=np.int64), np.empty((self.width + 1, block))
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

    def fill(
        self,
        state: NDArray[np.int64],
        matrix: NDArray[np.float64],
        labels: NDArray[np.float64],
        start: int = 0,
    ) -> tuple[int, bool, bool]:
        """Fill rows from ``start`` on, as long as there are values; see `loops_columns.fill`."""
        rows, good, sound = loops.fill(state, self._limits, matrix, labels, start, self._room)
        return int(rows), bool(good), bool(sound)
