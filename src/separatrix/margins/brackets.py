"""What a margin solver has proved so far, with which multipliers, and how much it has done for it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..deadline import Deadline
from ..loops import margins as margin_loops
from ..progress import Progress
from ..result import Floats, Ints, relative_gap
from ..rows.class_leads import leads
from ..rows.memory import MemoryRows
from ..rows.protocol import Rows
from .pairs import all_scores


class Bracket:
    """Two ends that are offered weights and multipliers, until they are as near as was asked for."""

    def __init__(self, rows: Rows, caps: Floats, gap: float, free_intercept: bool) -> None:
        self.rows, self.caps, self.free_intercept = rows, caps, free_intercept
        self.gap = 0.5 * gap  # of plain sums; the other half is for their rounding
        self.lower, self.upper = -np.inf, np.inf

    @property
    def width(self) -> float:
        """What is left between the two ends."""
        return self.upper - self.lower

    @property
    def allowed(self) -> float:
        """The width that was asked for."""
        return self.gap * self.upper

    @property
    def open_part(self) -> float:
        """What is left of the bracket, relative to its upper end; one while nothing is known."""
        return relative_gap(self.upper, max(0.0, self.lower))

    @property
    def reached(self) -> bool:
        """Whether the bracket is as narrow as was asked for."""
        return self.upper < np.inf and self.width <= self.allowed

    def penalised(self, weights: Floats) -> Floats:
        """The weights without free intercepts."""
        return weights[..., :-1] if self.free_intercept else weights


class HardBracket(Bracket):
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
    caps : ndarray of shape (rows,)
        The most that multipliers may be: infinity, and zero for rows that do not count.
    lower, upper : float
    weights : ndarray
        Of margin ``lower``; scaled so that the smallest score is one, where it is positive.
    proof : (members, rivals, multipliers)
        The signed rows whose combination proves ``upper``, and their factors.
    """

    def __init__(self, rows: Rows, gap: float, free_intercept: bool) -> None:
        caps = np.zeros(rows.n_rows)
        caps[rows.order] = np.inf
        super().__init__(rows, caps, gap, free_intercept)
        self.weights: Floats = np.zeros(rows.weights_shape)
        nothing = np.zeros(0, dtype=np.int64)
        self.proof: tuple[Ints, Ints, Floats] = (nothing, nothing, np.zeros(0))

    def norm(self, weights: Floats) -> float:
        """The norm of weights, without free intercepts; numbers near the ends of float64's range are fine."""
        part = self.penalised(weights)
        top = float(np.abs(part).max(initial=0.0))
        return top * float(np.linalg.norm(part / top)) if top > 0.0 else 0.0

    def offer_weights(self, weights: Floats, lowest: float | None = None) -> None:
        """Keep the weights if their lowest score is the best yet for their norm.

        Where it is not given, two classes get it with the best intercept, if that is free.
        """
        if lowest is None:
            weights, lowest = self._with_intercept(weights)
        norm = self.norm(weights)
        if norm > 0.0 and lowest / norm > self.lower:
            self.lower = lowest / norm
            self.weights = weights / lowest if lowest > 0.0 else weights.copy()
        if norm == 0.0 and self.lower == -np.inf:
            self.lower = 0.0

    def _with_intercept(self, weights: Floats) -> tuple[Floats, float]:
        scores, labels = self.rows.scores(weights)[self.rows.order], self.rows.labels[self.rows.order]
        if not self.free_intercept:
            return weights, float(scores.min())
        above, below = float(scores[labels == 1].min()), float(scores[labels == 0].min())
        weights = weights.copy()
        weights[-1] += 0.5 * (below - above)
        return weights, 0.5 * (above + below)

    def offer_multipliers(self, multipliers: Floats) -> Floats:
        """Keep the bound of the multipliers of all rows, two classes, if it is the lowest yet.

        Returns their combination.
        """
        if self.free_intercept:
            multipliers = balanced(multipliers, self.rows.labels)
        total, mass = self.rows.combination(multipliers), float(multipliers.sum())
        members = np.flatnonzero(multipliers)
        if mass > 0.0:
            upper = self.norm(total) / mass
            self.offer_bound(upper, members, np.zeros_like(members), multipliers[members])
        return total

    def offer_bound(self, upper: float, members: Ints, rivals: Ints, multipliers: Floats) -> None:
        """Keep the bound with its proof if it is the lowest yet."""
        if upper < self.upper:
            self.upper, self.proof = upper, (members, rivals, multipliers)


class SoftBracket(Bracket):
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
    lower, upper : float
        The highest bound and the lowest objective; at first those of zero multipliers and zero weights.
    weights, multipliers : ndarray
        Which have them.
    combination : ndarray
        Of the signed rows, by these multipliers.
    """

    def __init__(self, rows: Rows, caps: Floats, gap: float, free_intercept: bool) -> None:
        super().__init__(rows, caps, gap, free_intercept)
        self.lower, self.upper = 0.0, float(caps.sum())
        self.weights = np.zeros(rows.weights_shape)
        self.multipliers = np.zeros((rows.n_rows, *rows.weights_shape[:-1]))
        self.combination = np.zeros(rows.weights_shape)

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
        part = self.penalised(weights)
        objective = 0.5 * float(np.vdot(part, part)) + margin_loops.hinge_sum(scores, self.caps)
        if objective < self.upper:
            self.upper, self.weights = objective, weights.copy()

    def offer_multipliers(self, multipliers: Floats) -> Floats:
        """Keep the multipliers if they prove the highest bound yet; return their combination."""
        labels = self.rows.labels
        if multipliers.ndim == 2:
            multipliers = feasible(multipliers, self.caps, labels)
        if self.free_intercept:
            multipliers = balanced(multipliers, labels)
        if multipliers.ndim == 1:
            mass = float(multipliers.sum())
            total = self.rows.combination(multipliers)
        else:
            assert isinstance(self.rows, MemoryRows)  # `solve_soft_margin` has seen to it
            total = np.zeros_like(self.weights)
            margin_loops.add_multiclass(self.rows.storage, multipliers, total)
            mass = float(multipliers.max(axis=1).sum())
        part = self.penalised(total)
        bound = mass - 0.5 * float(np.vdot(part, part))
        if bound > self.lower:
            self.lower, self.multipliers, self.combination = bound, multipliers.copy(), total
        return total


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


def balanced(multipliers: Floats, labels: NDArray[Any]) -> Floats:
    """Shrink multipliers until they pull no intercept: what a free intercept asks for.

    With two classes the heavier one is scaled down. With many, what each class gives to the others
    must equal what it gets: factors ``1 - p_r + p_s`` on the flow from r to s do it, where the
    potentials p solve a Laplacian system of the size of the classes.
    """
    if multipliers.ndim == 1:
        positive = labels == 1
        above, below = float(multipliers[positive].sum()), float(multipliers[~positive].sum())
        if min(above, below) == 0.0:
            return np.zeros_like(multipliers)
        return np.where(
            positive, multipliers * min(1.0, below / above), multipliers * min(1.0, above / below)
        )
    classes = multipliers.shape[1]
    against = against_rivals(multipliers, labels)
    flow = np.zeros((classes, classes))  # flow[r, s]: what rows of class r hold against class s
    np.add.at(flow, labels, against)
    return _with_own(against * _circulating(flow)[labels], labels)


def feasible(multipliers: Floats, caps: Floats, labels: NDArray[Any]) -> Floats:
    """Multipliers of many classes without what rounding added: their signs, caps and sums are right."""
    against = against_rivals(multipliers, labels)
    carried = against.sum(axis=1)
    over = carried > caps
    against[over] *= (caps[over] / carried[over])[:, None]
    return _with_own(against, labels)


def against_rivals(multipliers: Floats, labels: NDArray[Any]) -> Floats:
    """What each row holds against each class, zero for its own."""
    against = np.maximum(-multipliers, 0.0)
    against[np.arange(labels.size), labels] = 0.0
    return against


def _with_own(against: Floats, labels: NDArray[Any]) -> Floats:
    """The multipliers: each row's own class carries what the row holds against the others."""
    multipliers: Floats = -against
    multipliers[np.arange(labels.size), labels] = against.sum(axis=1)
    return multipliers


def _circulating(flow: Floats) -> Floats:
    """Factors in [0, 1] that make what each class gives equal to what it gets; zeros where none are near."""
    both = flow + flow.T
    laplacian = np.diag(both.sum(axis=1)) - both
    excess = flow.sum(axis=1) - flow.sum(axis=0)
    potentials = np.linalg.lstsq(laplacian, excess, rcond=None)[0]
    factors: Floats = 1.0 - potentials[:, None] + potentials[None, :]
    used = flow > 0.0
    if not used.any() or factors[used].min() < 0.0:
        return np.zeros_like(flow)
    return np.where(used, factors / max(1.0, float(factors[used].max())), 0.0)


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
        self.deadline.need()
        if self.progress.due():
            self.progress.show(f"{self.name}: step {self.steps}, between {lower:.9g} and {upper:.9g}")
