"""What every order shares: the weights, the counts of the mistakes behind them, and the bracket of both."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import NumericOverflowError
from ..loops.layouts import LIMIT, LOGGED, MISTAKES, Tally
from ..result import Floats, Ints
from ..rows.protocol import Rows

LOG_ROOM = 1 << 14  # mistakes that a loop logs before Python empties the log
# Mistakes that NumPy corrects on few rows before compiled loops are loaded. NumPy takes 2 to 4 ms for them
# (200 x 5 to 1,000 x 20 rows; 4 to 10 ms with several classes), and compiled loops take a tenth of that, but
# 450 ms to load. With half of this number, 200 x 5 rows load them; with twice this number, fits wait twice as
# long.
LIGHT = 360
# Numbers up to which rows are few in this sense. Larger ones take more than `LIGHT` mistakes, unless they are
# easy, and NumPy would only delay each fit: 576 x 8 rows that overlap take 5 ms instead of 0.7.
LIGHT_NUMBERS = 2500
State = tuple[Floats, Ints, Floats | None]  # the weights, the counts, and the counts of mixed weights


class Learner:
    """The weights of a run, and the counts of the mistakes that changed them.

    ``weights - start`` is the sum of ``steps[i] * multipliers[i] * z_i``, up to rounding, unless the weights
    are renormalized.

    Attributes
    ----------
    rows : Rows
    start, weights : ndarray
        The weights before the first update and now.
    from_zero : bool
        Whether the first weights were zero.
    steps : ndarray
        The step of each row's update; a single number if all rows share it.
    renormalise : bool
        Whether the weights are scaled to length one after each update.
    mixed : ndarray of shape (rows, rivals) or None
        If the weights of shards are mixed, the counts with the share that each update has in the mixture.
    first_visit : int
        The number of visits in an earlier run that this one continues.
    tally : Tally
        The counts and the clock, which the loops update.
    log : list of ndarray of shape (mistakes, 3)
        Row, rival and visit of the mistakes, if they are logged.
    few : bool
        Whether NumPy may replace the loops for the first mistakes.
    """

    def __init__(
        self,
        rows: Rows,
        *,
        start: Floats,
        steps: Floats,
        margin: float = 0.0,
        max_updates: int | None = None,
        renormalise: bool = False,
        visits: int = 0,
        averaging: bool = False,
        logging: bool = False,
        few: bool = False,
    ) -> None:
        self.rows = rows
        self.start = start
        self.from_zero = not (start.flat[0] if not any(start.strides) else start.any())
        # If rows are sparse, the weights of all classes for one column are adjacent: after the first class,
        # the others are in the cache. A fit on news20 takes 0.8 of the time.
        layout: Literal["C", "F"] = "F" if rows.local is not None and rows.local.sparse else "C"
        self.weights = np.array(start, order=layout)
        self.steps = steps
        self.renormalise = renormalise
        self.mixed: Floats | None = None
        self.first_visit = visits
        self.log: list[Ints] = []
        self.few = few
        rivals = 1 if rows.n_classes == 2 else rows.n_classes
        most = int(np.iinfo(np.int64).max)
        limit = most if max_updates is None else min(max_updates, most)
        self.tally = Tally(
            counts=np.zeros((rows.n_rows, rivals), dtype=np.int64),
            average=np.zeros(start.shape if averaging else (0,) * start.ndim, order=layout),
            log=np.zeros((LOG_ROOM if logging else 0, 3), dtype=np.int64),
            norms=np.empty(0),
            floor=np.full(1, np.inf),
            margin=np.full(1, float(margin)),
            clock=np.array([visits, 0, limit, 0], dtype=np.int64),
            outputs=np.empty(rows.n_classes),
        )

    @property
    def mistakes(self) -> int:
        """Updates made so far."""
        return int(self.tally.clock[MISTAKES])

    @property
    def margin(self) -> float:
        """The largest score of a row that is corrected: zero, unless the perceptron has a margin."""
        return float(self.tally.margin[0])

    @property
    def multipliers(self) -> NDArray[Any]:
        """How often each row was added to the weights: its counts, unless weights were mixed."""
        return self.tally.counts if self.mixed is None else self.mixed

    @property
    def out_of_updates(self) -> bool:
        """Whether max_updates has been reached."""
        return bool(self.tally.clock[MISTAKES] >= self.tally.clock[LIMIT])

    @property
    def light(self) -> int:
        """The number of mistakes that NumPy may still correct: only the first ones, and only on few rows."""
        return max(0, LIGHT - self.mistakes) if self.few else 0

    def flush_log(self, members: Ints | None = None) -> None:
        """Empty the loop's buffer of logged mistakes; its rows are indices into ``members``, if given."""
        length = self.tally.clock[LOGGED]
        if length:
            entries = self.tally.log[:length].copy()
            if members is not None:
                entries[:, 0] = members[entries[:, 0]]
            self.log.append(entries)
            self.tally.clock[LOGGED] = 0

    def logged(self) -> Ints:
        """Return row, rival and visit of each logged mistake that led to the weights."""
        self.flush_log()
        return np.concatenate([np.zeros((0, 3), dtype=np.int64), *self.log])[: self.mistakes]

    def state(self) -> State:
        """Return a copy of the weights and of the counts that led to them."""
        return (
            self.weights.copy(),
            self.tally.counts.copy(),
            None if self.mixed is None else self.mixed.copy(),
        )

    def restore(self, state: State) -> None:
        """Return to earlier weights and the counts that led to them."""
        self.weights[...], self.tally.counts[...], self.mixed = state
        self.tally.clock[MISTAKES] = self.tally.counts.sum()

    def rebuild(self) -> None:
        """Compute the weights from the counts: an interrupt may have occurred between their updates."""
        self.weights[...] = self.start
        self.rows.combine(self.multipliers, self.steps, self.weights)
        self.tally.clock[MISTAKES] = self.tally.counts.sum()


@dataclass
class Bracket:
    """The bracket of the best margin: the weights of a learner prove its lower end, the counts its upper.

    Attributes
    ----------
    learner : Learner
    known : tuple of int and float
        The mistakes made when the length of the weights was computed, and the length.
    marks : list of tuple of float and ndarray
        The sum of the multipliers, and the weights, at earlier times.
    """

    learner: Learner
    known: tuple[int, float] = (-1, 0.0)
    marks: list[tuple[float, Floats]] = field(default_factory=list)

    def length(self) -> float:
        """Return the length of the weights, which is computed once for each state."""
        mistakes = self.learner.mistakes
        if self.known[0] != mistakes:
            self.known = mistakes, norm(self.learner.weights)
            if not math.isfinite(self.known[1] * self.learner.rows.radius):
                raise NumericOverflowError(
                    f"The weights left the range of float64 after {mistakes} updates.",
                    remedy="Lower eta0 or the weights, or scale the columns, for example with "
                    "StandardScaler.",
                    parameter="X",
                )
        return self.known[1]

    def lower(self, lowest_score: float) -> float:
        """Return the margin of the weights; zero if they are zero."""
        length = self.length()
        return lowest_score / length if length > 0.0 else 0.0

    def upper(self) -> float:
        """Return |sum of a_i z_i| / sum of a_i for a = multipliers * steps: no margin is larger."""
        learner, mass = self.learner, self._mass()
        if mass == 0.0:
            return learner.rows.radius * (1.0 if learner.weights.ndim == 1 else math.sqrt(2.0))
        if learner.renormalise:
            total = np.zeros_like(learner.weights)
            learner.rows.combine(learner.multipliers, learner.steps, total)
            return norm(total) / mass
        return (self.length() if learner.from_zero else norm(learner.weights - learner.start)) / mass

    def mark(self) -> None:
        """Keep the current state, so that `later_upper` considers the updates after it."""
        self.marks.append((self._mass(), self.learner.weights.copy()))

    def later_upper(self) -> float:
        """Return the least bound that the updates after a mark prove alone; infinite without marks.

        The first updates add up to a long vector, and the later ones nearly cancel if classes overlap.
        Weights that return to a mark are left to `CycleDetector`, which can prove more.
        """
        learner, mass = self.learner, self._mass()
        if learner.renormalise:
            return math.inf
        later = [(norm(learner.weights - weights), mass - before) for before, weights in self.marks]
        return min((length / mass for length, mass in later if length > 0.0), default=math.inf)

    def _mass(self) -> float:
        """Return the sum of multipliers * steps."""
        learner = self.learner
        if learner.steps.size == 1:
            updates = learner.mistakes if learner.mixed is None else float(learner.mixed.sum())
            mass = float(learner.steps[0]) * updates
        else:
            mass = float(learner.multipliers.sum(axis=1) @ learner.steps)
        # With one weight vector per class, a correction changes two vectors by half a step each.
        return mass if learner.weights.ndim == 1 else 0.5 * mass


def steps_of(rows: Rows, eta0: float, row_weights: Floats | None) -> Floats:
    """Return the step of each row's update; a single number if all rows of the run share it."""
    rate = float(eta0)
    if row_weights is None:
        return np.full(1, rate)
    used = row_weights[rows.order]
    if used.size and np.all(used == used[0]):
        return np.full(1, rate * used[0])
    return rate * row_weights


def norm(weights: Floats) -> float:
    """Return the Euclidean length without underflow and overflow.

    BLAS is not used, because starting its threads costs more than the sum.
    """
    flat = weights.ravel(order="K")
    square = float(np.einsum("i,i->", flat, flat))
    if 1e-200 < square < 1e200:
        return float(np.sqrt(square))
    largest = float(np.abs(flat).max(initial=0.0))
    if largest == 0.0 or not np.isfinite(largest):
        return largest
    return largest * float(np.sqrt(np.square(flat / largest).sum()))


def normalise(weights: Floats) -> None:
    """Scale the weights to length one, in place; zero stays zero."""
    length = norm(weights)
    if length > 0.0:
        weights /= length
