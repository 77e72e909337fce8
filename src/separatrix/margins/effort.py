"""How much a margin solver may do, and how much it has done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..deadline import Deadline
from ..progress import Progress

# Operations of a factorisation that are counted on in a second: less than a core does even when six processes
# share it (tried on 4,000 dense rows of 3,000 numbers). At half of it solvers with a deadline give up smaller
# systems; at twice of it they ended a second or two late on that machine.
FLOPS_A_SECOND = 1e9


def need_time(deadline: Deadline, operations: float = 0.0) -> None:
    """Raise OutOfTime unless so many operations end before the deadline.

    Solvers catch it where they catch an interrupt: what was proved by then is kept.
    """
    deadline.need(operations / FLOPS_A_SECOND)


@dataclass(eq=False)
class Effort:
    """The steps and scans that a solver has made, the most it may make, and when it has to end.

    Attributes
    ----------
    max_steps : int
    deadline : Deadline
    progress : Progress
        Where it says how far it is.
    steps, scans : int
        Newton steps or passes, and scans of all rows.
    """

    max_steps: int
    deadline: Deadline
    progress: Progress = field(default_factory=Progress)
    steps: int = 0
    scans: int = 0

    @property
    def spent(self) -> bool:
        """Whether the steps are used up."""
        return self.steps >= self.max_steps

    def report(self, text: Callable[[], str]) -> None:
        """Show a line from time to time, and end when the deadline has come."""
        need_time(self.deadline)
        if self.progress.due():
            self.progress.show(text())
