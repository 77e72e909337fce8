"""Hinge losses by proximal steps on the multipliers, each solved by Newton's method.

The multipliers ``a`` of the losses ``cap_i * max(0, 1 - <w, z_i>)`` are moved by the proximal point
method: given a centre, the best ``w`` makes ``w = sum_i a_i z_i`` with
``a_i = clip(centre_i + sigma * (1 - <w, z_i>), 0, cap_i)``. That is a smooth, piecewise quadratic
problem in ``w`` alone, so Newton's method ends it after a few systems in the *free* rows (those
that the clipping leaves alone), and the proximal point method itself ends after finitely many
steps in exact arithmetic, because the problem is polyhedral in ``a``. Infinite caps give the hard margin.

With many classes (Crammer and Singer) a row has one multiplier a class. The clipping becomes a
projection onto a simplex, and the free classes of a row take the place of the free rows.

References
----------
Y. Yan and Q. Li, "An efficient augmented Lagrangian method for support vector machine",
Optimization Methods and Software 35 (2020); R. T. Rockafellar, "Augmented Lagrangians and
applications of the proximal point algorithm in convex programming", Mathematics of Operations
Research 1 (1976).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...deadline import NEVER, Deadline
from ...loops import margins as margin_loops
from ...result import Floats
from ...rows.memory import MemoryRows
from ...rows.protocol import Rows
from ..linear_algebra import all_scores
from .newton_system import newton_step

MOST_NEWTON_STEPS = 60
GROWTH = 10.0  # of the step length, from one proximal step to the next
ACCURACY = 0.3  # the part of a step's own gain that its inner problem's error may have
STEEPEST = 1e14  # sigma grows up to this many times its first value


class ProximalNewton:
    """The state of the method: weights, scores, multipliers; ``advance`` makes one proximal step.

    Parameters
    ----------
    rows : Rows
        In memory, if there are more than two classes.
    caps : ndarray of shape (rows,)
        The most that each multiplier may be; infinite for a hard margin of two classes, zero to ignore
        a row.
    sigma : float
        The first step length of the proximal method.
    unpenalised : sequence of int
        The weights (of each class) that are left out of the norm (free intercepts); each is only kept
        near its last value.
    weights, multipliers : ndarray, optional
        Where to start.
    scores : ndarray of shape (rows,), optional
        Those of the first weights, where they are known.
    deadline : Deadline
        When to raise OutOfTime; the state is then that of the last proximal step.
    """

    def __init__(
        self,
        rows: Rows,
        caps: Floats,
        *,
        sigma: float,
        unpenalised: Sequence[int] = (),
        weights: Floats | None = None,
        multipliers: Floats | None = None,
        scores: Floats | None = None,
        deadline: Deadline = NEVER,
    ) -> None:
        shape = (rows.n_rows, *rows.weights_shape[:-1])
        self.rows = rows
        self.caps = caps
        self.sigma = sigma
        self.first_sigma = sigma
        self.unpenalised = list(unpenalised)
        self.deadline = deadline
        self.weights = np.zeros(rows.weights_shape) if weights is None else weights.copy()
        self.multipliers = np.zeros(shape) if multipliers is None else multipliers.copy()
        if scores is None:
            scores = np.zeros(shape) if weights is None else all_scores(rows, weights)
        self.scores = scores
        self.newton_steps = 0
        self.free = np.zeros(shape, dtype=np.bool_)

    def advance(self) -> float:
        """Make one proximal step; return how far the multipliers moved, relative to their size.

        The inner problem is solved until its error, ``|gradient|^2 / 2``, is a small part of the
        step's own gain, ``|change|^2 / (2 sigma)``.
        """
        rows, sigma, before_steps = self.rows, self.sigma, self.newton_steps
        ridge = np.ones_like(self.weights)
        centre_weights = np.zeros_like(self.weights)
        ridge[..., self.unpenalised] = 1e-4 * self.first_sigma / sigma
        centre_weights[..., self.unpenalised] = self.weights[..., self.unpenalised]
        current = np.zeros_like(self.multipliers)
        total = np.zeros_like(self.weights)
        box = margin_loops.Box(self.multipliers, self.caps, current, self.free, np.empty(rows.n_classes))
        weights, scores = self.weights, self.scores
        moved = size = 0.0
        least, stale, before = np.inf, 0, self.free.copy()
        for _ in range(MOST_NEWTON_STEPS):
            moved, size = self._clip(scores, box, total)
            gradient = ridge * (weights - centre_weights) - total
            error = float(np.sqrt(np.sum(gradient**2 / ridge)))
            if error <= ACCURACY * moved / np.sqrt(sigma) or error <= 1e-15 * float(np.linalg.norm(weights)):
                break
            # On the same free rows the problem is quadratic and one step solves it: if the gradient
            # does not fall any more, it is rounding error.
            stale = stale + 1 if error >= 0.1 * least and np.array_equal(self.free, before) else 0
            least, before = min(least, error), self.free.copy()
            if stale >= 2:
                break
            step = newton_step(rows, self.free, sigma, ridge, gradient, self.unpenalised, self.deadline)
            moves = all_scores(rows, step)
            length = self._line_search(scores, moves, step, ridge * (weights - centre_weights), ridge, box)
            self.newton_steps += 1
            if length == 0.0:
                break
            weights = weights + length * step
            scores = scores + length * moves
        self.weights, self.scores, self.multipliers = weights, scores, current
        growth = GROWTH
        if weights.ndim == 2:
            # A simplex has many faces: after too long a step most rows stand on the wrong one, and Newton's
            # method creeps back.
            taken = self.newton_steps - before_steps
            growth = GROWTH if taken <= 2 else 4.0 if taken <= 4 else 2.0
        self.sigma = min(sigma * growth, STEEPEST * self.first_sigma)
        return moved / size if size else 0.0

    def _clip(self, scores: Floats, box: margin_loops.Box, total: Floats) -> tuple[float, float]:
        """Bring the box and the combination of its multipliers up to date; how far these moved, and how long.

        In memory only the rows whose multipliers changed are read; elsewhere the combination is summed anew.
        """
        if isinstance(self.rows, MemoryRows):
            moved, size = margin_loops.clip_step(self.rows.storage, scores, self.sigma, box, total)
            return float(np.sqrt(moved)), float(np.sqrt(size))
        targets = box.centre + self.sigma * (1.0 - scores)
        box.free[:] = (targets > 0.0) & (targets < box.caps)
        box.current[:] = np.clip(targets, 0.0, box.caps)
        total[:] = self.rows.combination(box.current)
        return float(np.linalg.norm(box.current - box.centre)), float(np.linalg.norm(box.current))

    def _line_search(
        self,
        scores: Floats,
        moves: Floats,
        step: Floats,
        pull: Floats,
        ridge: Floats,
        box: margin_loops.Box,
    ) -> float:
        """Find where the slope along the step has nearly vanished: Newton, kept inside a bracket."""
        labels = self.rows.labels
        linear = float(np.vdot(pull, step))
        quadratic = float(np.vdot(ridge * step, step))
        start = linear + margin_loops.slope(labels, scores, moves, 0.0, self.sigma, box)[0]
        if not start < 0.0:
            return 0.0
        low, high, length = 0.0, np.inf, 1.0
        for _ in range(40):
            first, second = margin_loops.slope(labels, scores, moves, length, self.sigma, box)
            first += linear + length * quadratic
            second += quadratic
            if abs(first) <= 0.1 * abs(start):
                break
            if first < 0.0:
                low = length
            else:
                high = length
            length = length - first / second if second > 0.0 else np.nan
            if not low < length < high:
                length = 0.5 * (low + high) if high < np.inf else 4.0 * low
        return length
