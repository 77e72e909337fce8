"""One pool of threads for what runs without the interpreter lock; and BLAS kept to one."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")

# Below this many numbers to read, handing work to a thread costs more than it saves.
WORTH_A_THREAD = 1 << 17
# No piece of work reads more numbers than this: between two of them Python runs, and with it Ctrl-C.
MOST_AT_ONCE = 1 << 22

ONE_THREAD = 500  # columns up to which BLAS is kept to one thread

# Called after each piece of work; see `files.spill`, where matrices larger than memory are mapped.
after_pieces: list[Callable[[], None]] = []

_pool: ThreadPoolExecutor | None = None
_here = threading.local()


@contextmanager
def alone() -> Iterator[None]:
    """Let what is called inside use this thread only: where blocks are worked on at the same time."""
    before = getattr(_here, "alone", False)
    _here.alone = True
    try:
        yield
    finally:
        _here.alone = before


def n_threads() -> int:
    """Count the cores that this process, or this thread if it is `alone`, may use."""
    return 1 if getattr(_here, "alone", False) else _cores()


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def submit(task: Callable[..., T], *arguments: Any) -> Future[T]:
    """Start a task in the pool."""
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(max(2, _cores()), thread_name_prefix="separatrix")
    return _pool.submit(task, *arguments)


def run_all(task: Callable[..., T], arguments: Sequence[tuple[Any, ...]]) -> list[T]:
    """Run a task once for each tuple of arguments, the last one in this thread."""
    if len(arguments) == 1 or getattr(_here, "alone", False):
        return [_run(task, *each) for each in arguments]
    others = [submit(_run, task, *each) for each in arguments[:-1]]
    own = _run(task, *arguments[-1])
    return [*(other.result() for other in others), own]


def _run(task: Callable[..., T], *arguments: Any) -> T:
    found = task(*arguments)
    relax()
    return found


def relax() -> None:
    """Give back what is held of data larger than memory: called after each piece of work on many rows."""
    for each in after_pieces:
        each()


def chunks(length: int, numbers: int) -> list[tuple[int, int]]:
    """Cut ``length`` rows, ``numbers`` numbers in all, into a range for each thread worth using, or more.

    None has more than `MOST_AT_ONCE` numbers, or one row.
    """
    if numbers < 2 * WORTH_A_THREAD:
        return [(0, length)]
    parts = max(n_threads(), -(-numbers // MOST_AT_ONCE))
    parts = max(1, min(parts, numbers // WORTH_A_THREAD, length))
    edges = [length * part // parts for part in range(parts + 1)]
    return list(itertools.pairwise(edges))


def calm_threads(size: int, limit: int = ONE_THREAD) -> AbstractContextManager[Any]:
    """One BLAS thread where systems are small: waking more costs many times what they save."""
    return nullcontext() if size > limit else one_thread()


def one_thread() -> AbstractContextManager[Any]:
    """One BLAS thread, where the work is shared already, or threads would wait for each other."""
    calm: AbstractContextManager[Any] = _libraries().limit(limits=1, user_api="blas")
    return calm


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _forget_pool() -> None:
    """Threads do not survive a fork; the child starts its own."""
    global _pool
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)
