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
from ..rows import threads
from ..sparse import sparse

MOST_ENTRIES = 2**31 - 1
INTERVAL = 0.005  # seconds between two checks of the memory in use


class Store:
    """Arrays of one type, which are appended to a file without a name and then mapped."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = np.dtype(dtype)
        self._file: IO[bytes] = tempfile.TemporaryFile(prefix="separatrix-")  # noqa: SIM115
        self.size = 0

    def append(self, values: NDArray[Any]) -> None:
        """Write some numbers."""
        try:
            self._file.write(np.ascontiguousarray(values, dtype=self.dtype).data)
            self._file.flush()
        except OSError as error:
            raise OutputError(
                f"The temporary file for data larger than memory could not be written to "
                f"{tempfile.gettempdir()!r}: {error.strerror}. Set TMPDIR to a disk with more room."
            ) from error
        self.size += values.size

    def map(self, memory: int) -> NDArray[Any]:
        """Return all numbers as an array in the file; about ``memory`` bytes of it stay in memory."""
        if not self.size:
            return np.empty(0, dtype=self.dtype)
        mapping = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        self._file.close()
        if hasattr(mapping, "madvise"):
            _watch(mapping, memory)
        return np.frombuffer(mapping, dtype=self.dtype, count=self.size)


class Spill:
    """Batches of one kind, dense or CSR, that are collected in files."""

    def __init__(self) -> None:
        self._values = Store(np.float64)
        self._indices: Store | None = None
        self._lengths: list[NDArray[Any]] = []
        self._width, self._rows = 0, 0

    def append(self, X: Any) -> None:
        """Add some rows."""
        self._rows += X.shape[0]
        self._width = X.shape[1]
        if sparse.issparse(X):
            self._indices = self._indices or Store(np.int32)
            self._indices.append(X.indices)
            self._lengths.append(np.diff(X.indptr))
        self._values.append(X if self._indices is None else X.data)

    def matrix(self, memory: int) -> Any:
        """Return all rows as one matrix."""
        _return_freed_memory()
        if self._indices is None:
            return self._values.map(memory).reshape(self._rows, self._width)
        if self._values.size > MOST_ENTRIES:
            raise OutputError(f"{self._values.size:,} entries that are not zero are more than can be used.")
        indptr = np.zeros(self._rows + 1, dtype=np.int32)
        np.cumsum(np.concatenate(self._lengths), out=indptr[1:])
        data, indices = self._values.map(memory), self._indices.map(memory)
        return sparse.csr_array((data, indices, indptr), shape=(self._rows, self._width))


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
