"""When a search has to end, whatever it knows by then."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

# Operations of a factorisation that are counted on in a second: less than a core does even when six processes
# share it (tried on 4,000 dense rows of 3,000 numbers). At half of it solvers with a deadline give up smaller
# systems; at twice of it they ended a second or two late on that machine.
FLOPS_A_SECOND = 1e9


class OutOfTime(Exception):
    """The deadline has come, or what is next would end after it; whoever set the deadline catches this."""


@dataclass(frozen=True)
class Deadline:
    """A moment of the monotonic clock; by default it never comes."""

    moment: float = math.inf

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """So many seconds from now."""
        return cls(time.monotonic() + seconds)

    @property
    def left(self) -> float:
        """Seconds until it comes; zero when it has."""
        return max(0.0, self.moment - time.monotonic())

    def need(self, seconds: float = 0.0, *, operations: float = 0.0) -> None:
        """Raise OutOfTime unless it leaves more than so many seconds: for work that cannot be interrupted.

        ``operations`` are those of a factorization, and take their time too.
        """
        if time.monotonic() + seconds + operations / FLOPS_A_SECOND >= self.moment:
            raise OutOfTime

    @property
    def passed(self) -> bool:
        """Whether it has come."""
        return self.left == 0.0


NEVER = Deadline()  # the default of every solver
