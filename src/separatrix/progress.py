"""One line on the terminal for anything that takes longer than two seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType

PATIENCE = 2.0
REFRESH = 0.2
_verbose: ContextVar[int] = ContextVar("verbose", default=0)


@contextmanager
def spoken(verbose: int) -> Iterator[None]:
    """Let every `Progress` that is made inside write lines of their own, wherever standard error goes.

    With 1 at most five a second, with 2 or more all that there are; with 0 as ever.
    """
    token = _verbose.set(int(verbose))
    try:
        yield
    finally:
        _verbose.reset(token)


class Progress:
    """Show a line that overwrites itself; silent unless standard error is a terminal, or it is `spoken`."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._verbose = _verbose.get()
        self._next = self._start + (0.0 if self._verbose else PATIENCE)
        self._shown = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self._start

    def due(self) -> bool:
        """Whether it is time to show something: the caller builds its text only then."""
        if sys.stderr is None:
            return False
        waited = self._verbose > 1 or time.monotonic() >= self._next
        return waited and (self._verbose > 0 or sys.stderr.isatty())

    def show(self, text: str) -> None:
        """Replace the line, or add one where the run is `spoken`."""
        self._next = time.monotonic() + REFRESH
        self._shown = not self._verbose
        sys.stderr.write(f"{text}\n" if self._verbose else f"\r\x1b[K{text}")
        sys.stderr.flush()
