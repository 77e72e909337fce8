"""Matrices larger than memory: temporary files that are mapped as NumPy arrays and CSR matrices."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import tempfile
import threading
import time
import weakref
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import OutputError
from ..sparse import sparse
from . import threads

MOST_ENTRIES = 2**31 - 1
TYPES = (np.float64, np.int32)  # of the numbers of a matrix, and of the columns of a sparse one
INTERVAL = 0.005  # seconds between two checks of the memory in use


class Spill:
    """Batches of one kind, dense or CSR, that are collected in files without names, and then mapped."""

    def __init__(self) -> None:
        self._files: list[IO[bytes]] = []
        self._lengths: list[NDArray[Any]] = []
        self._width, self._rows = 0, 0

    def append(self, X: Any) -> None:
        """Add some rows."""
        parts = [X]
        if sparse.issparse(X):
            parts = [X.data, X.indices]
            self._lengths.append(np.diff(X.indptr))
        self._files = self._files or [tempfile.TemporaryFile(prefix="separatrix-") for _ in parts]  # noqa: SIM115
        self._rows, self._width = self._rows + X.shape[0], X.shape[1]
        for file, part, kind in zip(self._files, parts, TYPES, strict=False):
            try:
                file.write(np.ascontiguousarray(part, dtype=kind).data)
                file.flush()
            except OSError as error:
                raise OutputError(
                    f"The temporary file for data larger than memory could not be written to "
                    f"{tempfile.gettempdir()!r}: {error.strerror}. Set TMPDIR to a disk with more room."
                ) from error

    def matrix(self, memory: int) -> Any:
        """Return all rows as one matrix; about ``memory`` bytes of each of its arrays stay in memory."""
        _return_freed_memory()
        data, *indices = [_mapped(*each, memory) for each in zip(self._files, TYPES, strict=False)]
        if not indices:
            return data.reshape(self._rows, self._width)
        if data.size > MOST_ENTRIES:
            raise OutputError(f"{data.size:,} entries that are not zero are more than can be used.")
        indptr = np.zeros(self._rows + 1, dtype=np.int32)
        np.cumsum(np.concatenate(self._lengths), out=indptr[1:])
        return sparse.csr_array((data, *indices, indptr), shape=(self._rows, self._width))


def _mapped(file: IO[bytes], kind: Any, memory: int) -> NDArray[Any]:
    """Return the numbers of a file as an array in it; about ``memory`` bytes of it stay in memory."""
    if not file.tell():
        return np.empty(0, dtype=kind)
    mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    file.close()
    if hasattr(mapping, "madvise"):
        _watch(mapping, memory)
    return np.frombuffer(mapping, dtype=kind)


def _watch(mapping: mmap.mmap, memory: int) -> None:
    """Return pages of a mapping to the system whenever the process holds too many.

    Pages of a mapped file count as memory of the process. Reading them again costs little, because the system
    keeps what it has room for. A thread checks the memory all the time. The pool of threads also checks it
    after each piece of work, because it may read faster than that thread can react.
    """
    reference, before = weakref.ref(mapping), _held()

    def give_back() -> None:
        held = reference()
        if held is not None and _held() - before > memory:
            held.madvise(mmap.MADV_DONTNEED)

    def look_after() -> None:
        while reference() is not None:
            give_back()
            time.sleep(INTERVAL)
        threads.after_pieces.remove(give_back)

    threads.after_pieces.append(give_back)
    threading.Thread(target=look_after, name="separatrix-memory", daemon=True).start()


def _held() -> int:
    """Return the bytes of files in the memory of this process; a very large number if that is unknown."""
    try:
        with open("/proc/self/statm", "rb", buffering=0) as facts:
            return int(facts.read().split()[2]) * mmap.PAGESIZE
    except OSError:
        return 1 << 62


def _return_freed_memory() -> None:
    """Return freed memory to the system, which the GNU C library does not do by itself."""
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
