"""How loops are compiled: by numba, once, for the processor that they run on.

With ``NUMBA_DISABLE_JIT=1`` nothing is compiled: every loop runs as the Python that it is written in. That is
slow, but a debugger can step through it, and `make coverage` can count its lines.
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
from numba.extending import intrinsic, overload

from ..progress import compiling

# No loop allocates, so numba's reference counting is off: on rows of 100 numbers it took half of the time.
EXACT: dict[str, Any] = {"error_model": "numpy", "_nrt": False}
# Sums may be reordered (SIMD); nothing else of IEEE arithmetic is given up.
OPTIONS: dict[str, Any] = {**EXACT, "fastmath": {"reassoc", "contract"}}
DIGEST = 16  # bytes of a checksum
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
    if numba.config.DISABLE_JIT:
        return np.errstate(all="ignore")(function)  # compiled arithmetic does not warn
    options = {**(OPTIONS if reorder else EXACT), "forceinline": forceinline}
    compiled = numba.njit(nogil=True, **options)(function)
    # Without a writable place for a cache, it is compiled afresh in each process.
    with contextlib.suppress(RuntimeError):
        compiled._cache = _Cache(function)
    return compiled


class _CheckedFile(IndexDataCacheFile):
    """Files of compiled code, each with what it is the code of, and with a checksum.

    numba writes the index before the code: a process that ends between the two leaves an index that names
    the code of an older source, and two processes may give one name to different code. And machine code with
    a wrong bit must not be run.
    """

    def save(self, key: Any, data: Any) -> None:
        """Keep the code of a key."""
        super().save(key, (key, data))

    def load(self, key: Any) -> Any:
        """The code of a key, or None."""
        found = super().load(key)
        return None if found is None or found[0] != key else found[1]

    def _load_data(self, name: str) -> Any:
        content = Path(self._data_path(name)).read_bytes()
        if content[:DIGEST] != self._digest(content[DIGEST:]):
            raise OSError(f"{name} is damaged")  # numba takes it for a missing file
        return pickle.loads(content[DIGEST:])

    def _save_data(self, name: str, data: Any) -> None:
        content = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(self._digest(content) + content)

    def _digest(self, content: bytes) -> bytes:
        stamp = repr((self._version, self._source_stamp)).encode()
        return hashlib.blake2b(content, digest_size=DIGEST, key=hashlib.sha256(stamp).digest()).digest()


class _Cache(FunctionCache):
    """numba's cache of compiled code; where it is damaged or cannot be written, code is compiled afresh."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = _CheckedFile(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, *arguments: Any) -> Any:
        """The compiled code of a signature, or None."""
        try:
            with undisturbed():
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


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Hold Ctrl-C back for a moment.

    LLVM asks for the code of a loop through a callback. Python ignores what is raised in one, LLVM then goes
    on without that code, and the first call of the loop would end the process.
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
    """A part of a loop, written apart: it is put in where it is called, and never compiled by itself."""
    return numba.njit(inline="always", **OPTIONS)(function)


def by_type(choose: Callable[..., Any]) -> Any:
    """A part of a loop that has several bodies: ``choose`` returns the one for the types of the arguments.

    Called from Python, it runs that body uncompiled.
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


def by_hand(plain: Callable[..., Any]) -> Any:
    """A part of a loop whose machine code is written by hand; ``plain`` does the same uncompiled."""
    return (lambda _: plain) if numba.config.DISABLE_JIT else intrinsic


class _Announcer(event.Listener):
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
