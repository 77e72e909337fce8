"""What is proved so far: the best weights and the best multipliers that a solver has offered."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..loops import margins as margin_loops
from ..result import Floats, Ints, margin_text
from ..rows.class_leads import leads
from ..rows.memory import MemoryRows
from ..rows.protocol import Rows
from .linear_algebra import all_scores
from .multipliers import balanced, feasible


class HardBracket:
    """The largest margin between what weights reach and what multipliers prove.

    Parameters
    ----------
    rows : Rows
    gap : float
        The relative width that is asked for.
    free_intercept : bool
        Whether the last weight (of each class) is left out of norms: the margin is then the affine one, half
        the distance between the hulls. Else it is that of the rows as they are, lifted or not.

    Attributes
    ----------
    lower, upper : float
    weights : ndarray
        Of margin ``lower``; scaled so that the smallest score is one, where it is positive.
    proof : (members, rivals, multipliers)
        The signed rows whose combination proves ``upper``, and their factors.
    """

    def __init__(self, rows: Rows, gap: float, free_intercept: bool) -> None:
        self.gap, self.free_intercept = gap, free_intercept
        self.lower, self.upper = -np.inf, np.inf
        self.weights: Floats = np.zeros(rows.weights_shape)
        nothing = np.zeros(0, dtype=np.int64)
        self.proof: tuple[Ints, Ints, Floats] = (nothing, nothing, np.zeros(0))

    @property
    def width(self) -> float:
        """What is left between the two ends."""
        return self.upper - self.lower

    @property
    def open_part(self) -> float:
        """What is left of the bracket, relative to its upper end; one while no margin is known."""
        return 1.0 - max(0.0, self.lower) / self.upper

    @property
    def reached(self) -> bool:
        """Whether the bracket is as narrow as was asked for."""
        return self.upper < np.inf and self.width <= self.gap * self.upper

    def text(self) -> str:
        """How far it is, in a few words."""
        return f"margin {margin_text(self.lower, self.upper)}"

    def norm(self, weights: Floats) -> float:
        """The norm of weights, without free intercepts; numbers near the ends of float64's range are fine."""
        part = weights[..., :-1] if self.free_intercept else weights
        top = float(np.abs(part).max(initial=0.0))
        return top * float(np.linalg.norm(part / top)) if top > 0.0 else 0.0

    def offer_weights(self, weights: Floats, lowest: float) -> None:
        """Keep the weights if their lowest score is the best yet for their norm."""
        norm = self.norm(weights)
        if norm > 0.0 and lowest / norm > self.lower:
            self.lower = lowest / norm
            self.weights = weights / lowest if lowest > 0.0 else weights.copy()
        if norm == 0.0 and self.lower == -np.inf:
            self.lower = 0.0

    def offer_bound(self, upper: float, members: Ints, rivals: Ints, multipliers: Floats) -> None:
        """Keep the bound with its proof if it is the lowest yet."""
        if upper < self.upper:
            self.upper, self.proof = upper, (members, rivals, multipliers)


class SoftBracket:
    """The soft margin's least objective between that of weights and the bound of multipliers.

    Both are summed over the data when they are offered.

    Parameters
    ----------
    rows : Rows
        In memory, if there are more than two classes.
    caps : ndarray of shape (rows,)
    gap : float
        The relative width that is asked for.
    free_intercept : bool

    Attributes
    ----------
    primal, dual : float
        The lowest objective and the highest bound; at first those of zero weights and zero multipliers.
    weights, multipliers : ndarray
        Which have them.
    combination : ndarray
        Of the signed rows, by these multipliers.
    """

    def __init__(self, rows: Rows, caps: Floats, gap: float, free_intercept: bool) -> None:
        self.rows, self.caps, self.gap, self.free_intercept = rows, caps, gap, free_intercept
        self.weights = np.zeros(rows.weights_shape)
        self.primal = float(caps.sum())
        self.multipliers = np.zeros((rows.n_rows, *rows.weights_shape[:-1]))
        self.combination = np.zeros(rows.weights_shape)
        self.dual = 0.0

    @property
    def width(self) -> float:
        """What is left between the two objectives."""
        return self.primal - self.dual

    @property
    def reached(self) -> bool:
        """Whether the objectives are as near as was asked for."""
        return self.width <= self.gap * self.primal

    def text(self) -> str:
        """How far it is, in a few words."""
        return f"relative gap {self.width / self.primal:.2e} of {self.gap:.0e}"

    def offer_weights(self, weights: Floats, scores: Floats | None = None) -> None:
        """Keep the weights if their objective, summed over the data, is the lowest yet."""
        if scores is None:
            scores = all_scores(self.rows, weights)
        if scores.ndim == 2:
            scores = leads(scores, self.rows.labels)
        if self.free_intercept and weights.ndim == 1:
            shift = best_shift(scores, self.caps, self.rows.labels)
            weights = weights.copy()
            weights[-1] += shift
            scores = scores + shift * (2.0 * self.rows.labels - 1.0)
        objective = 0.5 * self._square(weights) + margin_loops.hinge_sum(scores, self.caps)
        if objective < self.primal:
            self.primal, self.weights = objective, weights.copy()

    def offer_multipliers(self, multipliers: Floats, total: Floats | None = None) -> Floats:
        """Keep the multipliers if they prove the highest bound yet; return their combination.

        Of two classes, without a free intercept, that may be given.
        """
        labels = self.rows.labels
        if multipliers.ndim == 2:
            multipliers = feasible(multipliers, self.caps, labels)
        if self.free_intercept:
            multipliers = balanced(multipliers, labels)
        if multipliers.ndim == 1:
            mass = float(multipliers.sum())
            total = self.rows.combination(multipliers) if total is None else total.copy()
        else:
            assert isinstance(self.rows, MemoryRows)  # `solve_soft_margin` has seen to it
            total = np.zeros_like(self.weights)
            margin_loops.add_multiclass(self.rows.storage, multipliers, total)
            mass = float(multipliers.max(axis=1).sum())
        bound = mass - 0.5 * self._square(total)
        if bound > self.dual:
            self.dual, self.multipliers, self.combination = bound, multipliers.copy(), total
        return total

    def _square(self, weights: Floats) -> float:
        """The squared norm, without a free intercept."""
        part = weights[..., :-1] if self.free_intercept else weights
        return float(np.vdot(part, part))


def best_shift(scores: Floats, caps: Floats, labels: Any) -> float:
    """The change of the intercept that lowers the hinge losses most: a weighted median of breakpoints.

    The losses are convex and piecewise linear in the shift; row i bends at ``y_i (1 - score_i)``.
    Where a whole interval is best, its middle is returned, so that the answer is unique.
    """
    signs = 2.0 * labels - 1.0
    bends = signs * (1.0 - scores)
    order = np.argsort(bends, kind="stable")
    # Left of all bends, every positive row pays and no negative one does.
    slopes = np.cumsum(caps[order]) - float(caps[labels == 1].sum())
    total = float(caps.sum())
    tiny = 1e-12 * total
    left = int(np.searchsorted(slopes, -tiny))
    right = int(np.searchsorted(slopes, tiny, side="right"))
    left, right = min(left, order.size - 1), min(right, order.size - 1)
    return float(0.5 * (bends[order[left]] + bends[order[right]]))
