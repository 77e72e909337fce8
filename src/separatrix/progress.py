"""One line on the terminal for anything that takes longer than two seconds."""

from __future__ import annotations

import sys
import time
from types import TracebackType

PATIENCE = 2.0
REFRESH = 0.2


class Progress:
    """Show a line that overwrites itself; silent unless standard error is a terminal."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._next = self._start + PATIENCE
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
        return time.monotonic() >= self._next and sys.stderr is not None and sys.stderr.isatty()

    def show(self, text: str) -> None:
        """Replace the line."""
        self._next = time.monotonic() + REFRESH
        self._shown = True
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()
