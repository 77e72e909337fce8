"""One line on the terminal for anything that takes longer than two seconds, and for compiling."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType

from .printable import printable

PATIENCE = 2.0
REFRESH = 0.2
COMPILING = "Compiling for this processor, once"

# Whoever owns the line, such as a spinner of the command line, takes the text; "" means that it is over.
_owner: Callable[[str], None] | None = None


@contextmanager
def shown_by(owner: Callable[[str], None]) -> Iterator[None]:
    """Let somebody else show the line, so that two do not write into one another."""
    global _owner
    before, _owner = _owner, owner
    try:
        yield
    finally:
        _owner = before


@contextmanager
def compiling() -> Iterator[None]:
    """Say so while a loop is compiled, which may take seconds at first use."""
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
            _show("")

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self._start

    @property
    def watched(self) -> bool:
        """Whether anybody would see a line."""
        return (self._verbose > 0 and sys.stderr is not None) or _can_show()

    def due(self) -> bool:
        """Whether it is time to show something: the caller builds its text only then."""
        waited = self._verbose > 1 or time.monotonic() >= self._next
        return waited and self.watched

    def rest(self) -> None:
        """Clear the line between two pieces of work, unless somebody else shows it."""
        if self._shown and _owner is None:
            self._shown = False
            _show("")

    def show(self, text: str) -> None:
        """Replace the line, or add one where the run is `spoken`."""
        self._next = time.monotonic() + REFRESH
        if self._verbose:
            sys.stderr.write(f"{printable(text)}\n")
            sys.stderr.flush()
            return
        self._shown = True
        _show(text)


def _can_show() -> bool:
    return _owner is not None or (sys.stderr is not None and sys.stderr.isatty())


def _show(text: str) -> None:
    if _owner is not None:
        _owner(text)
    else:
        sys.stderr.write(f"\r\x1b[K{printable(text)}")
        sys.stderr.flush()
