"""What a margin solver has proved so far, and how much work it has done."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..deadline import Deadline
from ..loops import margins as margin_loops
from ..progress import Progress
from ..result import Floats, Ints, Status, relative_gap
from ..rows.numpy_loops import signed_scores
from ..rows.protocol import Rows
from .pairs import all_scores


class Bracket:
    """A lower and an upper bound, which weights and multipliers narrow until the gap is reached.

    Parameters
    ----------
    rows : Rows
    caps : ndarray of shape (rows,)
        The largest multiplier of each row: infinite for the largest margin, zero for rows that do not count.
    gap : float
        The requested relative width.
    free_intercept : bool
        Whether the last weight (of each class) is left out of norms.
    """

    def __init__(self, rows: Rows, caps: Floats, gap: float, free_intercept: bool) -> None:
        self.rows, self.caps, self.free_intercept = rows, caps, free_intercept
        self.gap = 0.5 * gap  # for plain sums; the other half is for their rounding
        self.lower, self.upper = -np.inf, np.inf
        self.weights: Floats = np.zeros(rows.weights_shape)

    @property
    def width(self) -> float:
        """The distance between the two ends."""
        return self.upper - self.lower

    @property
    def allowed(self) -> float:
        """The requested width."""
        return self.gap * self.upper

    @property
    def open_part(self) -> float:
        """The width relative to the upper end; one if nothing is known."""
        return relative_gap(self.upper, max(0.0, self.lower))

    @property
    def reached(self) -> bool:
        """Whether the bracket is as narrow as requested."""
        return self.upper < np.inf and self.width <= self.allowed

    def penalized(self, weights: Floats) -> Floats:
        """Return the weights without free intercepts."""
        return weights[..., :-1] if self.free_intercept else weights


class HardBracket(Bracket):
    """Bounds of the largest margin: the lower end comes from weights, the upper end from multipliers.

    Attributes
    ----------
    lower, upper : float
        With a free intercept they bound the affine margin, half the distance between the hulls. Otherwise
        they bound the margin of the rows as they are, lifted or not.
    weights : ndarray
        The weights with margin ``lower``. If their smallest score is positive, it is scaled to one.
    proof : (members, rivals, multipliers)
        The signed rows whose combination proves ``upper``, and their multipliers.
    """

    def __init__(self, rows: Rows, gap: float, free_intercept: bool) -> None:
        caps = np.zeros(rows.n_rows)
        caps[rows.order] = np.inf
        super().__init__(rows, caps, gap, free_intercept)
        nothing = np.zeros(0, dtype=np.int64)
        self.proof: tuple[Ints, Ints, Floats] = (nothing, nothing, np.zeros(0))

    def norm(self, weights: Floats) -> float:
        """Return the norm of weights without free intercepts, safe from overflow and underflow."""
        part = self.penalized(weights)
        top = float(np.abs(part).max(initial=0.0))
        return top * float(np.linalg.norm(part / top)) if top > 0.0 else 0.0

    def offer_weights(self, weights: Floats, lowest: float | None = None) -> None:
        """Keep the weights if their margin is the largest so far; ``lowest`` is their lowest score, if known.

        If it is not given, there must be two classes, and a free intercept is set to its best value.
        """
        if lowest is None:
            order = self.rows.order
            scores, labels = self.rows.scores(weights)[order], self.rows.labels[order]
            lowest = float(scores.min())
            if self.free_intercept:
                above, below = float(scores[labels == 1].min()), float(scores[labels == 0].min())
                weights, lowest = weights.copy(), 0.5 * (above + below)
                weights[-1] += 0.5 * (below - above)
        norm = self.norm(weights)
        if norm > 0.0 and lowest / norm > self.lower:
            self.lower = lowest / norm
            self.weights = weights / lowest if lowest > 0.0 else weights.copy()
        if norm == 0.0 and self.lower == -np.inf:
            self.lower = 0.0

    def offer_multipliers(self, multipliers: Floats) -> Floats:
        """Keep the bound of multipliers of all rows of two classes if it is the lowest so far.

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
        """Keep the bound with its proof if it is the lowest so far."""
        if upper < self.upper:
            self.upper, self.proof = upper, (members, rivals, multipliers)


class SoftBracket(Bracket):
    """Bounds of the soft margin's least objective, summed over the data when they are offered.

    Rows of more than two classes have to be in memory.

    Attributes
    ----------
    lower, upper : float
        The highest bound and the lowest objective; at first those of zero multipliers and zero weights.
    weights, multipliers : ndarray
        The weights with the objective ``upper``, and the multipliers that prove ``lower``.
    combination : ndarray
        The combination of the signed rows by these multipliers.
    """

    def __init__(self, rows: Rows, caps: Floats, gap: float, free_intercept: bool) -> None:
        super().__init__(rows, caps, gap, free_intercept)
        self.lower, self.upper = 0.0, float(caps.sum())
        self.multipliers = np.zeros((rows.n_rows, *rows.weights_shape[:-1]))
        self.combination = np.zeros(rows.weights_shape)

    def offer_weights(self, weights: Floats, scores: Floats | None = None) -> None:
        """Keep the weights if their objective is the lowest so far."""
        if scores is None:
            scores = all_scores(self.rows, weights)
        if scores.ndim == 2:
            scores = signed_scores(scores, self.rows.labels)
        if self.free_intercept and weights.ndim == 1:
            shift = best_shift(scores, self.caps, self.rows.labels)
            weights = weights.copy()
            weights[-1] += shift
            scores = scores + shift * (2.0 * self.rows.labels - 1.0)
        part = self.penalized(weights)
        objective = 0.5 * float(np.vdot(part, part)) + margin_loops.hinge_sum(scores, self.caps)
        if objective < self.upper:
            self.upper, self.weights = objective, weights.copy()

    def offer_multipliers(self, multipliers: Floats) -> Floats:
        """Keep the multipliers if they prove the highest bound so far; return their combination."""
        labels = self.rows.labels
        if multipliers.ndim == 2:
            multipliers = feasible(multipliers, self.caps, labels)
        if self.free_intercept:
            multipliers = balanced(multipliers, labels)
        if multipliers.ndim == 1:
            mass = float(multipliers.sum())
            total = self.rows.combination(multipliers)
        else:
            assert self.rows.local is not None  # checked by `solve_soft_margin`
            total = np.zeros_like(self.weights)
            margin_loops.add_multiclass(self.rows.local.storage, multipliers, total)
            mass = float(multipliers.max(axis=1).sum())
        part = self.penalized(total)
        bound = mass - 0.5 * float(np.vdot(part, part))
        if bound > self.lower:
            self.lower, self.multipliers, self.combination = bound, multipliers.copy(), total
        return total


def best_shift(scores: Floats, caps: Floats, labels: Any) -> float:
    """Return the change of the intercept that lowers the hinge losses most: a weighted median.

    The losses are convex and piecewise linear in the shift, and row i bends at ``y_i (1 - score_i)``. If a
    whole interval is optimal, its midpoint is returned, so that the answer is unique.
    """
    signs = 2.0 * labels - 1.0
    bends = signs * (1.0 - scores)
    order = np.argsort(bends, kind="stable")
    # Left of all bends, every positive row has a loss and no negative row has one.
    slopes = np.cumsum(caps[order]) - float(caps[labels == 1].sum())
    tiny = 1e-12 * float(caps.sum())
    left = min(int(np.searchsorted(slopes, -tiny)), order.size - 1)
    right = min(int(np.searchsorted(slopes, tiny, side="right")), order.size - 1)
    return float(0.5 * (bends[order[left]] + bends[order[right]]))


def balanced(multipliers: Floats, labels: NDArray[Any]) -> Floats:
    """Shrink multipliers such that they have no effect on intercepts, as a free intercept requires.

    With two classes the class with the larger sum is scaled down. With more classes, each has to give as much
    to the others as it receives. Factors ``1 - p_r + p_s`` on the flow from r to s achieve that; the
    potentials p solve a Laplacian system of the size of the classes.
    """
    if multipliers.ndim == 1:
        positive = labels == 1
        above, below = float(multipliers[positive].sum()), float(multipliers[~positive].sum())
        least = min(above, below)
        if least == 0.0:
            return np.zeros_like(multipliers)
        return np.where(positive, multipliers * (least / above), multipliers * (least / below))
    classes = multipliers.shape[1]
    against = against_rivals(multipliers, labels)
    flow = np.zeros((classes, classes))  # flow[r, s]: the multipliers of rows of class r against class s
    np.add.at(flow, labels, against)
    return _with_own(against * _circulating(flow)[labels], labels)


def feasible(multipliers: Floats, caps: Floats, labels: NDArray[Any]) -> Floats:
    """Remove rounding errors from multipliers of many classes: correct their signs, caps and sums."""
    against = against_rivals(multipliers, labels)
    carried = against.sum(axis=1)
    over = carried > caps
    against[over] *= (caps[over] / carried[over])[:, None]
    return _with_own(against, labels)


def against_rivals(multipliers: Floats, labels: NDArray[Any]) -> Floats:
    """Return the multiplier of each row against each class, zero for its own class."""
    against = np.maximum(-multipliers, 0.0)
    against[np.arange(labels.size), labels] = 0.0
    return against


def _with_own(against: Floats, labels: NDArray[Any]) -> Floats:
    """Return multipliers whose entry for the own class is the sum of those against the rivals."""
    multipliers: Floats = -against
    multipliers[np.arange(labels.size), labels] = against.sum(axis=1)
    return multipliers


def _circulating(flow: Floats) -> Floats:
    """Return factors in [0, 1] for which each class gives what it receives; zeros if none are found."""
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
    """The work that a solver has done, and its limits.

    Attributes
    ----------
    name : str
        The first words of the progress line.
    max_steps : int
    deadline : Deadline
    progress : Progress
    steps, scans : int
        Newton steps, systems or passes; scans of all rows.
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
        """The seconds since the solver started."""
        return time.monotonic() - self._begin

    @property
    def spent(self) -> bool:
        """Whether all steps are used."""
        return self.steps >= self.max_steps

    def report(self, lower: float, upper: float) -> None:
        """Record the bracket, show a progress line now and then, and raise OutOfTime after the deadline."""
        if not self.history or self.history[-1] != (lower, upper):
            self.history.append((lower, upper))
        self.deadline.need()
        if self.progress.due():
            self.progress.show(f"{self.name}: step {self.steps}, between {lower:.9g} and {upper:.9g}")

    def end(self, status: Status) -> None:
        """Say how the solver ended."""
        if self.progress.heard:
            self.progress.end(f"{self.name}: {self.steps} steps, {self.scans} scans. {status.value}")
