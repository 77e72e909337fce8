"""A file that another thread writes, line by line, so that a stream can be read while it is still coming."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from typing import Any


class Growing:
    """A file of whole lines; ``copy`` is called in another thread to write everything to this object."""

    def __init__(self, path: str, copy: Callable[[Any], None]) -> None:
        self._change = threading.Condition()
        self._lines, self._size = 0, 0
        self._rest: list[bytes] = []  # a line whose end has not come, in parts: joined once
        self._ended = False
        self._file = io.FileIO(path, "wb")
        self._error: BaseException | None = None
        threading.Thread(target=self._work, args=(copy,), name="separatrix-stream", daemon=True).start()

    def write(self, part: bytes) -> None:
        """Add what has come; a line that is not complete is kept back."""
        cut = part.rfind(b"\n") + 1
        if cut:
            self._append(b"".join([*self._rest, part[:cut]]))
            self._rest = []
        self._rest.append(part[cut:])

    def wait(self, *, lines: int | None = None, seconds: float | None = None) -> None:
        """Wait for the end; or for so many lines, but after the first one no longer than so many seconds."""
        with self._change:
            self._change.wait_for(lambda: self._ended or (lines is not None and self._lines > 0))
            if lines is not None:
                self._change.wait_for(lambda: self._ended or self._lines >= lines, seconds)
        self._raise()

    def wait_beyond(self, size: int) -> bool:
        """Wait until the file is larger than that; False if it ended before."""
        with self._change:
            self._change.wait_for(lambda: self._ended or self._size > size)
        self._raise()
        return self._size > size

    def stop(self) -> None:
        """Let nobody wait any longer; what has come so far is all."""
        with self._change:
            self._ended = True
            self._change.notify_all()

    def _append(self, whole: bytes) -> None:
        self._file.write(whole)
        with self._change:
            self._lines += whole.count(b"\n")
            self._size += len(whole)
            self._change.notify_all()

    def _work(self, copy: Callable[[Any], None]) -> None:
        try:
            with self._file:
                copy(self)
                self._append(b"".join(self._rest))
        except BaseException as error:  # whoever waits gets it
            self._error = error
        self.stop()

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error
