"""How loops are compiled: by numba, once, for the processor that they run on."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numba
from numba.core import event
from numba.core.caching import FunctionCache
from numba.core.registry import cpu_target

from ..progress import compiling

# No loop allocates, so numba's reference counting is off: on rows of 100 numbers it took half of the time.
EXACT: dict[str, Any] = {"error_model": "numpy", "_nrt": False}
# Sums may be reordered (SIMD); nothing else of IEEE arithmetic is given up.
OPTIONS: dict[str, Any] = {**EXACT, "fastmath": {"reassoc", "contract"}}
INLINED = {**OPTIONS, "forceinline": True}


def loop(
    function: Callable[..., Any] | None = None, *, reorder: bool = True, forceinline: bool = False
) -> Any:
    """Compile to machine code that runs without the interpreter lock.

    With ``reorder=False`` sums are added as they are written: for readers of text, where the last bit counts.
    With ``forceinline`` it becomes a piece of whatever calls it, and no call.
    """
    if function is None:
        return lambda given: loop(given, reorder=reorder, forceinline=forceinline)
    options = {**(OPTIONS if reorder else EXACT), "forceinline": forceinline}
    compiled = numba.njit(nogil=True, **options)(function)
    # Without a writable place for a cache, it is compiled afresh in each process.
    with contextlib.suppress(RuntimeError):
        compiled._cache = _Cache(function)
    return compiled


class _Cache(FunctionCache):  # type: ignore[misc]
    """numba's cache of compiled code; where it is damaged or cannot be written, code is compiled afresh."""

    def load_overload(self, *arguments: Any) -> Any:
        """The compiled code of a signature, or None."""
        try:
            return super().load_overload(*arguments)
        except Exception:  # a damaged file may fail in any way when it is unpickled
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def save_overload(self, *arguments: Any) -> None:
        """Keep compiled code for later processes."""
        try:
            super().save_overload(*arguments)
        except OSError:
            self.disable()


def part(function: Callable[..., Any]) -> Any:
    """A part of a loop, written apart: it is put in where it is called, and never compiled by itself."""
    return numba.njit(inline="always", **OPTIONS)(function)


class _Announcer(event.Listener):  # type: ignore[misc]
    """Says that numba compiles, for as long as it does."""

    def __init__(self) -> None:
        self._running: list[Any] = []

    def on_start(self, event: Any) -> None:
        """A loop is about to be compiled, and perhaps others for it."""
        if not self._running:
            self._shown = contextlib.ExitStack()
            self._shown.enter_context(compiling())
        self._running.append(event)

    def on_end(self, event: Any) -> None:
        """It is done."""
        self._running.pop()
        if not self._running:
            self._shown.close()


event.register("numba:compile", _Announcer())

# numba fills its registries at the first call of any loop, which takes a quarter of a second: do it at
# import, so that the first fit of a process does not wait for it.
cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()
