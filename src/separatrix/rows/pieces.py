"""SHA-256 of consecutive pieces of a matrix, taken while it is written: it need not be read again."""

from __future__ import annotations

import hashlib
from concurrent.futures import Future
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import threads

CHUNK = 1 << 23  # bytes of a piece; part of the format of certificates


def piece_length(width: int, itemsize: int) -> int:
    """How many rows of so many numbers make a piece."""
    return max(1, CHUNK // max(1, width * itemsize))


class Pieces:
    """The digests of a matrix that comes in batches, computed in another thread."""

    def __init__(self, width: int, dtype: Any) -> None:
        self._dtype = np.dtype(dtype).newbyteorder("<")
        self._length = piece_length(width, self._dtype.itemsize)
        self._digests: list[bytes] = []
        self._piece, self._filled = hashlib.sha256(), 0
        self._running: Future[None] | None = None

    def add(self, rows: NDArray[Any]) -> None:
        """Hash some rows, when those before them are done."""
        self._wait()
        self._running = threads.submit(self._hash, rows)

    def digests(self) -> list[bytes]:
        """The digests of all pieces, the last of which may be shorter."""
        self._wait()
        return self._digests + ([self._piece.digest()] if self._filled else [])

    def _wait(self) -> None:
        if self._running is not None:
            self._running.result()

    def _hash(self, rows: NDArray[Any]) -> None:
        start = 0
        while start < len(rows):
            part = rows[start : start + self._length - self._filled]
            plain: Any = np.ascontiguousarray(part, dtype=self._dtype)
            self._piece.update(plain)
            start, self._filled = start + len(part), self._filled + len(part)
            if self._filled == self._length:
                self._digests.append(self._piece.digest())
                self._piece, self._filled = hashlib.sha256(), 0
