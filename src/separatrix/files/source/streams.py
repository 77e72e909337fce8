"""Temporary files: copies of other files, and streams that another thread still writes."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterable

OPEN_FILES = "/proc/self/fd"  # where Linux opens files that have no name


class Spool:
    """Temporary files that live as long as an object refers to this one."""

    def new(self) -> str:
        """Return the path of a new, empty file.

        On Linux it has no name in the temporary directory, so that not even a killed process leaves it
        there. On other systems it has a name, and is removed with this object.
        """
        if os.path.isdir(OPEN_FILES):
            file = tempfile.TemporaryFile(prefix="separatrix-")  # noqa: SIM115
            weakref.finalize(self, file.close)
            return f"{OPEN_FILES}/{file.fileno()}"
        folder = tempfile.mkdtemp(prefix="separatrix-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return os.path.join(folder, "data")


class Growing:
    """A file of whole lines, to which another thread copies the parts of a stream."""

    def __init__(self, path: str, parts: Iterable[bytes]) -> None:
        self._change = threading.Condition()
        self._lines, self._size = 0, 0
        self._ended = False
        self._file = io.FileIO(path, "wb")
        self._error: BaseException | None = None
        threading.Thread(target=self._work, args=(parts,), name="separatrix-stream", daemon=True).start()

    def wait(self, *, lines: int | None = None, seconds: float | None = None) -> None:
        """Wait for the end, or for a number of lines, but at most ``seconds`` after the first one."""
        with self._change:
            self._change.wait_for(lambda: self._ended or (lines is not None and self._lines > 0))
            if lines is not None:
                self._change.wait_for(lambda: self._ended or self._lines >= lines, seconds)
        self._raise()

    def wait_beyond(self, size: int) -> bool:
        """Wait until the file is larger than ``size``; return False if it ends before that."""
        with self._change:
            self._change.wait_for(lambda: self._ended or self._size > size)
        self._raise()
        return self._size > size

    def stop(self) -> None:
        """End all waiting; the file is what has arrived so far."""
        with self._change:
            self._ended = True
            self._change.notify_all()

    def _append(self, whole: bytes) -> None:
        self._file.write(whole)
        with self._change:
            self._lines += whole.count(b"\n")
            self._size += len(whole)
            self._change.notify_all()

    def _work(self, parts: Iterable[bytes]) -> None:
        rest: list[bytes] = []  # of a line that has not ended
        try:
            with self._file:
                for part in parts:
                    cut = part.rfind(b"\n") + 1
                    if cut:
                        self._append(b"".join([*rest, part[:cut]]))
                        rest = []
                    rest.append(part[cut:])
                self._append(b"".join(rest))
        except BaseException as error:  # raised to those that wait
            self._error = error
        self.stop()

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error
