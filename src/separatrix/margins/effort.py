"""How much a margin solver may do, and how much it has done."""

from __future__ import annotations

import time
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
    name : str
        What the line of the progress begins with.
    max_steps : int
    deadline : Deadline
    progress : Progress
        Where it says how far it is.
    steps, scans : int
        Newton steps or passes, and scans of all rows.
    history : list of (float, float)
        The brackets that were reported, without repetitions.
    """

    name: str
    max_steps: int
    deadline: Deadline
    progress: Progress = field(default_factory=Progress)
    steps: int = 0
    scans: int = 0
    history: list[tuple[float, float]] = field(default_factory=list)
    _begin: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """How long the solver has been at work."""
        return time.monotonic() - self._begin

    @property
    def spent(self) -> bool:
        """Whether the steps are used up."""
        return self.steps >= self.max_steps

    def report(self, lower: float, upper: float) -> None:
        """Note the bracket, show a line from time to time, and end when the deadline has come."""
        if not self.history or self.history[-1] != (lower, upper):
            self.history.append((lower, upper))
        need_time(self.deadline)
        if self.progress.due():
            self.progress.show(f"{self.name}: step {self.steps}, between {lower:.9g} and {upper:.9g}")
