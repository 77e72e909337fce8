"""The rows of an expansion, kept where more can be added."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..result import Ints
from ..sparse import sparse


class SupportRows:
    """Rows that are only ever added: of numbers, dense or sparse, or of indices.

    A copy made by `fork` shares what both have; rows added to one are not seen by the other, as long as
    only one of the two goes on.
    """

    def __init__(self) -> None:
        self._rows: Any = None
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def fork(self) -> SupportRows:
        """A copy that may go on by itself."""
        other = SupportRows()
        other._rows, other._size = self._rows, self._size
        return other

    def append(self, rows: Any) -> None:
        """Add rows; dense ones become sparse beside sparse ones."""
        size = self._size + rows.shape[0]
        if sparse.issparse(rows) or sparse.issparse(self._rows):
            kept = [] if self._rows is None else [sparse.csr_array(self._rows[: self._size])]
            self._rows = sparse.vstack([*kept, sparse.csr_array(rows, dtype=np.float64)], format="csr")
        else:
            kind = np.int64 if rows.ndim == 1 else np.float64
            self._rows = grown(self._rows, self._size, size, rows.shape[1:], kind)
            self._rows[self._size : size] = rows
        self._size = size

    def part(self, start: int, stop: int) -> Any:
        """Some consecutive rows, not copied where they are dense."""
        return self._rows[start : min(stop, self._size)]

    def take(self, indices: Ints) -> Any:
        """A copy of some rows."""
        return self._rows[indices]


def grown(array: Any, used: int, needed: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """An array with room for ``needed`` entries: the same one, or a larger copy of its used part."""
    if array is not None and array.shape[0] >= needed:
        return array
    room = np.zeros((max(needed, 64, 2 * used), *shape), dtype=dtype)
    if used:
        room[:used] = array[:used]
    return room
