"""Time limits: a moment by which a search or a check has to end, with what it knows by then."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass

# How many operations of a factorization per second we count on. A core does more than this even if six
# processes share it (measured on 4,000 dense rows of 3,000 numbers). At half of it, solvers with a deadline
# give up smaller systems; at twice of it, they ended a second or two late on that machine.
FLOPS_PER_SECOND = 1e9

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
        seconds = seconds * processes_per_core() if seconds else 0.0
        if time.monotonic() + seconds + operations / FLOPS_PER_SECOND >= self.moment:
            raise OutOfTime

    @property
    def passed(self) -> bool:
        """Whether no time is left."""
        return self.left == 0.0


NEVER = Deadline()  # the default of every solver


def processes_per_core() -> float:
    """Return how many processes want each core, by the average of the last minute; at least one."""
    try:
        return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    except (AttributeError, OSError):  # Windows has no load average
        return 1.0
