"""One line on the terminal for anything that takes longer than two seconds, and for compiling."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType

from .printable import printable

log = logging.getLogger("separatrix")  # INFO: how a solver ended; DEBUG: each of its lines

PATIENCE = 2.0
REFRESH = 0.2
COMPILING = "Compiling for this processor, once"

# The owner of the line, such as a spinner of the command line, gets the text; "" ends the line.
_owner: Callable[[str], None] | None = None


@contextmanager
def shown_by(owner: Callable[[str], None]) -> Iterator[None]:
    """Let another function show the line, so that two writers do not interfere."""
    global _owner
    before, _owner = _owner, owner
    try:
        yield
    finally:
        _owner = before


@contextmanager
def compiling() -> Iterator[None]:
    """Show a line while a loop is compiled, which may take seconds."""
    seen = _can_show()
    if seen:
        _show(COMPILING)
    try:
        yield
    finally:
        if seen:
            _show("")


_verbose: ContextVar[int] = ContextVar("verbose", default=0)


@contextmanager
def spoken(verbose: int) -> Iterator[None]:
    """Let every `Progress` that is made inside write lines, even if standard error is not a terminal.

    1 allows at most five lines per second, 2 or more allows all lines, and 0 changes nothing.
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
            _show("")

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self._start

    @property
    def watched(self) -> bool:
        """Whether a line would be seen."""
        return (self._verbose > 0 and sys.stderr is not None) or _can_show()

    @property
    def heard(self) -> bool:
        """Whether anybody wants to know how the work ended."""
        return self._verbose > 0 or log.isEnabledFor(logging.INFO)

    def due(self) -> bool:
        """Whether it is time to show or log something: the caller builds its text only then."""
        return log.isEnabledFor(logging.DEBUG) or self._line_due()

    def _line_due(self) -> bool:
        waited = self._verbose > 1 or time.monotonic() >= self._next
        return waited and self.watched

    def rest(self) -> None:
        """Clear the line between two pieces of work, unless it has an owner."""
        if self._shown and _owner is None:
            self._shown = False
            _show("")

    def show(self, text: str) -> None:
        """Log the text, and replace the line if that is due; add a line if the run is `spoken`."""
        log.debug("%s", text)
        if not self._line_due():
            return
        self._next = time.monotonic() + REFRESH
        if self._verbose:
            _add(text)
            return
        self._shown = True
        _show(text)

    def end(self, text: str) -> None:
        """Log how the work ended, and write it if the run is `spoken`, however short it was."""
        log.info("%s", text)
        if self._verbose and sys.stderr is not None:
            _add(text)


def _add(text: str) -> None:
    sys.stderr.write(f"{printable(text)}\n")
    sys.stderr.flush()


def _can_show() -> bool:
    return _owner is not None or (sys.stderr is not None and sys.stderr.isatty())


def _show(text: str) -> None:
    if _owner is not None:
        _owner(text)
    else:
        sys.stderr.write(f"\r\x1b[K{printable(text)}")
        sys.stderr.flush()
