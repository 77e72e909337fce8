"""The thread pool for code that releases the interpreter lock, and limits on the threads of BLAS."""

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

# If a thread would read fewer numbers than this, starting it costs more than it saves.
WORTH_A_THREAD = 1 << 17
# No piece of work reads more numbers than this, because Ctrl-C is handled between two pieces.
MOST_AT_ONCE = 1 << 22

# Called after each piece of work; see `spill`, which maps matrices that are larger than memory.
after_pieces: list[Callable[[], None]] = []

_pool: ThreadPoolExecutor | None = None
_here = threading.local()


@contextmanager
def alone() -> Iterator[None]:
    """Use only the current thread inside this context, because other threads work on other blocks."""
    before = getattr(_here, "alone", False)
    _here.alone = True
    try:
        yield
    finally:
        _here.alone = before


def n_threads() -> int:
    """Return the number of cores that this process may use; one inside `alone`."""
    return 1 if getattr(_here, "alone", False) else _cores()


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # some systems lack it
        return os.cpu_count() or 1


def submit(task: Callable[..., T], *arguments: Any) -> Future[T]:
    """Start a task in the pool."""
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(max(2, _cores()), thread_name_prefix="separatrix")
    return _pool.submit(task, *arguments)


def run_all(task: Callable[..., T], arguments: Sequence[tuple[Any, ...]]) -> list[T]:
    """Run a task for each tuple of arguments, the last one in the current thread; return the results."""
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
    """Release the pages of mapped files; called after each piece of work on many rows."""
    for each in after_pieces:
        each()


def chunks(length: int, numbers: int) -> list[tuple[int, int]]:
    """Cut ``length`` rows with ``numbers`` numbers in all into ranges, at least one per thread worth using.

    A range has one row, or at most `MOST_AT_ONCE` numbers.
    """
    if numbers < 2 * WORTH_A_THREAD:
        return [(0, length)]
    parts = max(n_threads(), -(-numbers // MOST_AT_ONCE))
    parts = max(1, min(parts, numbers // WORTH_A_THREAD, length))
    edges = [length * part // parts for part in range(parts + 1)]
    return list(itertools.pairwise(edges))


def calm_threads(size: int, limit: int = 500) -> AbstractContextManager[Any]:
    """Limit BLAS to one thread if systems are small: waking more threads costs more than they save."""
    return nullcontext() if size > limit else one_thread()


def one_thread() -> AbstractContextManager[Any]:
    """Limit BLAS to one thread, for work that is already divided between threads."""
    calm: AbstractContextManager[Any] = _libraries().limit(limits=1, user_api="blas")
    return calm


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _forget_pool() -> None:
    """Drop the pool after a fork, because threads do not survive one."""
    global _pool
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)
