"""Mapped files: their pages count as memory of the process, and are handed back when too many are held.

That costs little when they are read again: the file is still there, and the system keeps of it in memory
what there is room for.
"""

from __future__ import annotations

import mmap
import threading
import time
import weakref
from contextlib import suppress
from dataclasses import dataclass

INTERVAL = 0.005  # seconds between two checks of the memory in use


@dataclass(frozen=True, eq=False)
class _Watched:
    """A mapping, what may be held of it, and what the process held of other files before."""

    mapping: weakref.ref[mmap.mmap]
    memory: int
    before: int


watched: list[_Watched] = []


def relax() -> None:
    """Hand pages back where too many are held. Loops over much data call this between two pieces."""
    for each in watched.copy():
        mapping = each.mapping()
        if mapping is None:
            with suppress(ValueError):  # another thread was quicker
                watched.remove(each)
        elif _held() - each.before > each.memory:
            mapping.madvise(mmap.MADV_DONTNEED)


def watch(mapping: mmap.mmap, memory: int) -> None:
    """Look after a mapping for as long as it lives, also while nobody calls `relax`."""
    watched.append(_Watched(weakref.ref(mapping), memory, _held()))
    if len(watched) == 1:
        threading.Thread(target=_look_after, name="separatrix-memory", daemon=True).start()


def _look_after() -> None:
    while watched:
        time.sleep(INTERVAL)
        relax()


def _held() -> int:
    """Bytes of files that this process holds in memory; beyond any limit where the system does not tell."""
    try:
        with open("/proc/self/statm", "rb", buffering=0) as facts:
            return int(facts.read().split()[2]) * mmap.PAGESIZE
    except OSError:
        return 1 << 62
