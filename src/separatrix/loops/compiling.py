"""The decorators of loops: numba compiles them once, for the processor that they run on.

With ``NUMBA_DISABLE_JIT=1`` nothing is compiled, and every loop runs as Python. That is slow, but a debugger
can step through it, and `make coverage` can count its lines.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import pickle
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import event
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.registry import cpu_target
from numba.extending import overload

from ..progress import compiling

# No loop allocates memory, so reference counting is off: on rows of 100 numbers it took half of the time.
EXACT: dict[str, Any] = {"error_model": "numpy", "_nrt": False}
# The compiler may reorder sums (SIMD); otherwise arithmetic is as IEEE 754 says.
OPTIONS: dict[str, Any] = {**EXACT, "fastmath": {"reassoc", "contract"}}
INLINED = {**OPTIONS, "forceinline": True}


def loop(
    function: Callable[..., Any] | None = None, *, reorder: bool = True, forceinline: bool = False
) -> Any:
    """Compile to machine code that runs without the interpreter lock.

    With ``reorder=False`` sums are computed in the order in which they are written, for readers of text whose
    last bit has to be right. With ``forceinline`` the code is copied into the loops that call it.
    """
    if function is None:
        return lambda given: loop(given, reorder=reorder, forceinline=forceinline)
    if numba.config.DISABLE_JIT:
        return np.errstate(all="ignore")(function)  # compiled arithmetic does not warn
    options = {**(OPTIONS if reorder else EXACT), "forceinline": forceinline}
    compiled = numba.njit(nogil=True, **options)(function)
    # Without a writable directory for the cache, each process compiles the loop again.
    with contextlib.suppress(RuntimeError):
        compiled._cache = _Cache(function)
    return compiled


class _CheckedFile(IndexDataCacheFile):
    """Files of compiled code, each with its key and a checksum.

    numba writes the index before the code. If a process ends between the two, the index refers to the code of
    an older source, and two processes may give the same name to different code. Damaged machine code must not
    be run.
    """

    def save(self, key: Any, data: Any) -> None:
        """Save the code of a key."""
        super().save(key, (key, data))

    def load(self, key: Any) -> Any:
        """Return the code of a key, or None."""
        found = super().load(key)
        return None if found is None or found[0] != key else found[1]

    def _load_data(self, name: str) -> Any:
        with Path(self._data_path(name)).open("rb") as file:
            digest, content = file.read(hashlib.sha256().digest_size), file.read()
        if digest != self._digest(content):
            raise OSError(f"{name} is damaged")  # numba treats it as a missing file
        return pickle.loads(content)

    def _save_data(self, name: str, data: Any) -> None:
        content = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(self._digest(content) + content)

    def _digest(self, content: bytes) -> bytes:
        return hashlib.sha256(repr((self._version, self._source_stamp)).encode() + content).digest()


class _Cache(FunctionCache):
    """numba's cache of compiled code; if it is damaged or cannot be written, loops are compiled again."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = _CheckedFile(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, *arguments: Any) -> Any:
        """Return the compiled code of a signature, or None."""
        try:
            with undisturbed():
                return super().load_overload(*arguments)
        except Exception:  # a damaged file may fail in any way when it is unpickled
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def save_overload(self, *arguments: Any) -> None:
        """Save compiled code for later processes."""
        try:
            super().save_overload(*arguments)
        except OSError:
            self.disable()


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Delay Ctrl-C.

    LLVM asks for the code of a loop through a callback, and Python ignores exceptions that are raised in one.
    LLVM would continue without that code, and the first call of the loop would crash the process.
    """
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is None:
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            signal.raise_signal(signal.SIGINT)


def part(function: Callable[..., Any]) -> Any:
    """Mark a part of a loop: it is copied into the loops that call it, and never compiled by itself."""
    return numba.njit(inline="always", **OPTIONS)(function)


def by_type(choose: Callable[..., Any]) -> Any:
    """Mark a part of a loop with several bodies: ``choose`` returns the one for the types of its arguments.

    If Python calls it, that body runs uncompiled.
    """
    bodies: dict[Any, Callable[..., Any]] = {}

    @functools.wraps(choose)
    def chosen(*arguments: Any) -> Any:
        kinds = tuple((type(each), getattr(each, "ndim", None)) for each in arguments)
        if kinds not in bodies:
            bodies[kinds] = choose(*map(numba.typeof, arguments))
        return bodies[kinds](*arguments)

    overload(chosen, jit_options=INLINED)(choose)
    return chosen


class _Announcer(event.Listener):
    """Shows a progress line while numba compiles."""

    def __init__(self) -> None:
        self._running: list[Any] = []

    def on_start(self, event: Any) -> None:
        """Show the line when the first of several nested compilations starts."""
        if not self._running:
            self._shown = contextlib.ExitStack()
            self._shown.enter_context(compiling())
        self._running.append(event)

    def on_end(self, event: Any) -> None:
        """Close the line when the last one ends."""
        self._running.pop()
        if not self._running:
            self._shown.close()


event.register("numba:compile", _Announcer())

# numba fills its registries at the first call of any loop, which takes a quarter of a second. Do it on
# import, so that the first fit of a process does not wait for it.
cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()
