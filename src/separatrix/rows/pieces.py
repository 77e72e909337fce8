"""What is asked of every matrix, found while it is written: it need not be read again for that."""

from __future__ import annotations

import hashlib
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from .. import loops
from .facts import Facts, piece_length
from .hashes import bit_rows, hash_keys

LAG = 3  # batches that may wait to be digested


class Pieces:
    """The facts of a matrix that comes in batches."""

    def __init__(self, width: int) -> None:
        self._length = piece_length(width, 8)
        self._digests: list[bytes] = []
        self._piece, self._filled = hashlib.sha256(), 0
        self._total, self._largest = 0.0, np.zeros(width)
        self._keys, self._hashes = hash_keys(width), [np.zeros(0, dtype=np.uint64)]
        self._digester = ThreadPoolExecutor(1, thread_name_prefix="separatrix-digest")
        self._running: deque[Future[None]] = deque()

    def add(self, rows: NDArray[np.float64]) -> None:
        """Look at some rows; they are digested in another thread, which may lag behind a little."""
        rows = np.ascontiguousarray(rows, dtype=np.float64)
        self._running.append(self._digester.submit(self._digest, rows))
        self._wait(LAG)
        self._hashes.append(np.empty(len(rows), dtype=np.uint64))
        bits, magnitude = bit_rows(rows)
        self._total += loops.hashes.survey(
            (rows, bits), self._keys, magnitude, self._largest, self._hashes[-1]
        )

    def facts(self) -> Facts:
        """What was found in all rows."""
        self._wait(0)
        self._digester.shutdown()
        digests = self._digests + ([self._piece.digest()] if self._filled else [])
        # A finite sum has no infinite or missing term.
        return Facts(digests, bool(np.isfinite(self._total)), self._largest, np.concatenate(self._hashes))

    def _wait(self, most: int) -> None:
        """Wait until so many batches, at most, are not digested yet."""
        while len(self._running) > most:
            self._running.popleft().result()

    def _digest(self, rows: NDArray[np.float64]) -> None:
        start = 0
        while start < len(rows):
            part = np.ascontiguousarray(rows[start : start + self._length - self._filled], dtype="<f8")
            self._piece.update(part.data)
            start, self._filled = start + len(part), self._filled + len(part)
            if self._filled == self._length:
                self._digests.append(self._piece.digest())
                self._piece, self._filled = hashlib.sha256(), 0
