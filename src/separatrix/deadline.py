"""Time limits: a moment by which a search or a check has to end, with what it knows by then."""

from __future__ import annotations

import math
import numbers
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .errors import InputError

# How many operations of a factorization per second we count on. A core does more than this even if six
# processes share it (measured on 4,000 dense rows of 3,000 numbers). At half of it, solvers with a deadline
# give up smaller systems; at twice of it, they ended a second or two late on that machine.
FLOPS_PER_SECOND, SHARING = 1e9, 6.0

# A function that long work calls between its pieces, and that may raise: `Deadline.need`. The argument is how
# many seconds the next piece takes, if that piece is long and cannot be interrupted.
Pause = Callable[..., None]


class OutOfTime(Exception):
    """The deadline has passed, or the next piece of work would end after it."""


@dataclass(frozen=True, order=True)
class Deadline:
    """A moment of the monotonic clock. By default it never comes."""

    moment: float = math.inf

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """Return the deadline that is this many seconds from now."""
        return cls(time.monotonic() + seconds)

    @property
    def left(self) -> float:
        """The seconds that are left: zero after the deadline."""
        return max(0.0, self.moment - time.monotonic())

    def need(self, seconds: float = 0.0, *, operations: float = 0.0) -> None:
        """Raise OutOfTime unless more than this many seconds are left.

        Call it before work that cannot be interrupted. ``seconds`` is what it takes on an idle core; if other
        processes share the cores, it takes longer. ``operations`` counts those of a factorization; their
        estimated time is added.
        """
        if self.moment == math.inf:
            return
        if seconds or operations:
            times = slowdown()
            seconds = seconds * times + operations / FLOPS_PER_SECOND * max(1.0, times / SHARING)
        if time.monotonic() + seconds >= self.moment:
            raise OutOfTime

    @property
    def passed(self) -> bool:
        """Whether no time is left."""
        return self.left == 0.0


NEVER = Deadline()  # the default of every solver


def need_time_limit(time_limit: Any, of: str) -> None:
    """Raise InputError unless a time limit is a positive number."""
    if not (isinstance(time_limit, numbers.Real) and float(time_limit) > 0):
        raise InputError(
            f"The 'time_limit' parameter of {of} must be a positive number of seconds. "
            f"Got {time_limit!r} instead.",
            parameter="time_limit",
        )


def slowdown() -> float:
    """Return how many times as long work takes as on an idle core; at least 1.

    Linux says how long this thread ran and how long it waited for a core; the last tenth of a second or more
    counts. Elsewhere, and if that says less, the processes per core of the last minute do.
    """
    return max(1.0, _processes_per_core(), _wait())


def _processes_per_core() -> float:
    try:
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    except (AttributeError, OSError):  # Windows has no load average
        return 1.0


_scheduled = threading.local()


def _wait() -> float:
    """Return the time that this thread needed, running or waiting for a core, relative to the time it ran."""
    try:
        with open("/proc/thread-self/schedstat", encoding="ascii") as file:
            ran, waited = (int(each) for each in file.read().split()[:2])  # in nanoseconds
    except (OSError, ValueError):
        return 1.0
    before_ran, before_waited, times = getattr(_scheduled, "last", (0, 0, 1.0))
    if ran + waited >= before_ran + before_waited + 10**8:
        times = 1.0 + (waited - before_waited) / max(1, ran - before_ran)
        _scheduled.last = ran, waited, times
    return float(times)
