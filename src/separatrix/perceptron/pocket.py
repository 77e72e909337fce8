"""The pocket: of all weights that a scan saw, those whose errors cost least.

References
----------
Gallant, S. I. (1990). Perceptron-based learning algorithms. IEEE Transactions on Neural Networks 1, 179-191.
"""

from __future__ import annotations

from dataclasses import dataclass

from .learner import Learner, State


@dataclass(frozen=True)
class Standing:
    """How weights stood when every row was scored under them.

    Attributes
    ----------
    mistakes : int
        The updates made by then.
    errors : int or None
        Rows on the wrong side; None where nobody scanned.
    cost : float
        What these errors cost.
    lower : float
        The margin of the weights.
    """

    mistakes: int
    errors: int | None
    cost: float
    lower: float


@dataclass
class Pocket:
    """The best weights so far, with their counts, and how they stood."""

    best: Standing | None = None
    state: State | None = None

    def offer(self, standing: Standing, learner: Learner) -> None:
        """Keep a copy of the learner's state if it is better."""
        if self.best is None or standing.cost < self.best.cost:
            self.best, self.state = standing, learner.state()

    def restore(self, last: Standing, learner: Learner) -> Standing:
        """Bring the learner back to the best weights if the last ones are worse; say how it stands then."""
        if self.best is None or self.state is None or not self.best.cost < last.cost:
            return last
        learner.restore(self.state)
        return self.best
