"""The soft margin: hinge losses against the norm, with a duality gap that is recomputed from the data.

Two methods share the work. Where the Newton systems are small, proximal Newton steps reach any gap
in a few dozen looks at the rows. With many columns, or many classes, dual coordinate descent goes
first; where it stalls, or with many classes has cost what a Newton step will, Newton steps finish from
where it stood.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..loops import margins as margin_loops
from ..progress import Progress
from ..result import Floats, Ints
from ..rows.memory import MemoryRows
from .newton_system import DIRECT, calm_threads
from .optimum import Outcome, SoftOptimum
from .proximal_newton import ProximalNewton, all_scores

INTERCEPTS = ("lifted", "free", None)
NEWTON_AFTER = 3000  # passes of coordinate descent before Newton steps take over in any case
NEWTON_READS = 1e5  # what a Newton step costs beside its system and one look, in numbers that a pass reads
FLOPS_A_READ = 16.0  # operations of a factorisation that cost as much as reading one number
WORTH_PACKING = 20  # passes that repay a copy of their rows
POLISH = 1 << 23  # numbers that may be read beyond the gap, so that small problems end exactly
EXACT = 1e-15
SAMPLE = 1 << 15  # rows of the first, rough solution on large data


def solve_soft_margin(
    rows: MemoryRows,
    caps: Floats,
    *,
    gap: float = 1e-6,
    free_intercept: bool = False,
    max_iter: int = 10_000,
    seed: int | np.random.Generator | None = 0,
) -> SoftOptimum:
    """Minimise ``|w|^2 / 2 + sum_i caps[i] * max(0, 1 - score_i)`` to a certified relative gap.

    With many classes the score of a row is that of its class less that of the best other
    (Crammer and Singer), and ``|w|`` is the norm of the whole matrix.

    Parameters
    ----------
    rows : MemoryRows
    caps : ndarray of shape (rows,)
        C times the weight of each row.
    gap : float
        Stop when (primal - dual) / primal is at most this.
    free_intercept : bool
        Leave the intercept (the last weight of lifted rows) out of the norm.
    max_iter : int
        The most Newton steps or passes.
    seed : int or Generator, optional
        For the order of the coordinate descent; the optimum does not depend on it.

    Returns
    -------
    SoftOptimum
    """
    if free_intercept and not rows.lifted:
        raise InputError("A free intercept needs lifted rows. Pass rows with lift=True.")
    ignored = np.ones(rows.n_rows, dtype=np.bool_)
    ignored[rows.order] = False
    caps = np.where(ignored, 0.0, caps)
    norms = rows.squared_norms  # also: every value is finite
    search = _Search(rows, caps, norms, gap, free_intercept, max_iter, np.random.default_rng(seed))
    try:
        # caps near the ends of float64's range may leave it on the way: what is found is summed anew
        with calm_threads(rows.n_columns), np.errstate(all="ignore"), Progress() as search.progress:
            search.run()
    except KeyboardInterrupt:
        search.outcome = Outcome.INTERRUPTED
    return search.finish()


class _Search:
    """The best bracket so far, and the methods that narrow it."""

    def __init__(
        self,
        rows: MemoryRows,
        caps: Floats,
        norms: Floats,
        gap: float,
        free_intercept: bool,
        max_iter: int,
        generator: np.random.Generator,
    ) -> None:
        self.rows, self.caps, self.norms, self.gap = rows, caps, norms, gap
        self.free_intercept, self.max_iter, self.generator = free_intercept, max_iter, generator
        self.progress = Progress()
        self.outcome = Outcome.STEP_LIMIT
        self.steps = 0
        self.weights = np.zeros(rows.weights_shape)
        self.primal = float(caps.sum())
        self.multipliers = np.zeros((rows.n_rows, *rows.weights_shape[:-1]))
        self.dual = 0.0

    @property
    def loose(self) -> tuple[int, ...]:
        return (-1,) if self.free_intercept else ()

    @property
    def keeps_intercepts(self) -> bool:
        """Whether a combination of rows lacks intercepts that only the method's own weights have."""
        return self.free_intercept and self.weights.ndim == 2

    @property
    def reached(self) -> bool:
        return self.primal - self.dual <= self.gap * self.primal

    def run(self) -> None:
        """Choose the method."""
        if self.rows.n_classes == 2 and self.weights.size <= DIRECT:
            self.newton(self.first_guess())
        else:
            self.descend()

    def finish(self) -> SoftOptimum:
        return SoftOptimum(self.outcome, self.weights, self.multipliers, self.primal, self.dual, self.steps)

    def offer_weights(self, weights: Floats, scores: Floats | None = None) -> None:
        """Keep the weights if their objective, summed over the data, is the lowest yet."""
        if scores is None:
            scores = all_scores(self.rows, weights)
        if scores.ndim == 2:
            scores = leads(scores, self.rows.labels)
        if self.free_intercept and weights.ndim == 1:
            shift = _best_shift(scores, self.caps, self.rows.labels)
            weights = weights.copy()
            weights[-1] += shift
            scores = scores + shift * (2.0 * self.rows.labels - 1.0)
        objective = 0.5 * self.square(weights) + margin_loops.hinge_sum(scores, self.caps)
        if objective < self.primal:
            self.primal, self.weights = objective, weights.copy()

    def offer_multipliers(self, multipliers: Floats) -> Floats:
        """Keep the multipliers if they prove the highest bound yet; return their combination."""
        labels = self.rows.labels
        if multipliers.ndim == 2:
            multipliers = feasible(multipliers, self.caps, labels)
        if self.free_intercept:
            multipliers = balanced(multipliers, labels)
        if multipliers.ndim == 1:
            total, mass = self.rows.combination(multipliers), float(multipliers.sum())
        else:
            total = np.zeros_like(self.weights)
            margin_loops.add_multiclass(self.rows.storage, multipliers, total)
            mass = float(multipliers.max(axis=1).sum())
        bound = mass - 0.5 * self.square(total)
        if bound > self.dual:
            self.dual, self.multipliers = bound, multipliers.copy()
        return total

    def square(self, weights: Floats) -> float:
        """Half of the objective's first term, without a free intercept."""
        part = weights[..., :-1] if self.free_intercept else weights
        return float(np.vdot(part, part))

    def first_guess(self) -> Floats | None:
        """Weights from a sample of the rows, where there are many: most of the way, cheaply."""
        members = np.flatnonzero(self.caps > 0.0)
        if members.size < 4 * SAMPLE:
            return None
        chosen = np.sort(self.generator.choice(members, SAMPLE, replace=False))
        labels = self.rows.labels[chosen]
        if labels.min() == labels.max():
            return None
        scale = float(self.caps.sum() / self.caps[chosen].sum())
        part = ProximalNewton(
            self.rows.take(chosen),
            self.caps[chosen] * scale,
            sigma=_first_sigma(self.caps) * scale,
            loose=self.loose,
        )
        for _ in range(3):
            part.advance()
        return part.weights

    def newton(self, weights: Floats | None, multipliers: Floats | None = None) -> None:
        """Proximal Newton steps until the gap is reached or rounding stops them."""
        sigma = _first_sigma(self.caps)
        if multipliers is not None and multipliers.ndim == 2:
            sigma = _first_sigma(multipliers.max(axis=1))
        elif weights is not None and multipliers is None:
            sigma *= 10.0
            multipliers = np.clip(sigma * (1.0 - self.rows.scores(weights)), 0.0, self.caps)
        engine = ProximalNewton(
            self.rows,
            self.caps,
            sigma=sigma,
            loose=self.loose,
            weights=weights,
            multipliers=multipliers,
        )
        idle, best, spare = 0, np.inf, POLISH
        while self.steps < self.max_iter:
            before = engine.newton_steps
            engine.advance()
            self.steps += engine.newton_steps - before
            self.offer_weights(engine.weights, engine.scores)
            total = self.offer_multipliers(engine.multipliers)
            if not self.keeps_intercepts:
                self.offer_weights(total)
            if self.reached:
                self.outcome = Outcome.REACHED
                spare -= (engine.newton_steps - before + 4) * self.rows.numbers
                if spare < 0 or self.primal - self.dual <= EXACT * self.primal:
                    return
            idle = idle + 1 if self.primal - self.dual > 0.9 * best else 0
            best = min(best, self.primal - self.dual)
            if idle and not self.reached and self.weights.ndim == 1:
                # long steps let multipliers that repeat each other jump between their caps
                engine.sigma = max(engine.first_sigma, 1e-2 * engine.sigma)
            if idle >= (3 if self.reached else 8):
                self.outcome = Outcome.REACHED if self.reached else Outcome.STALLED
                return
            self.report()

    def descend(self) -> None:
        """Dual coordinate descent with shrinking, two classes or many.

        A free intercept is a multiplier method on top: the descent keeps the intercept near a
        centre, and the centre moves to where the descent left it.
        """
        state = margin_loops.Descent(
            np.zeros_like(self.multipliers),
            self.caps,
            self.norms,
            np.zeros(self.rows.n_classes),
            np.full(1, np.inf),
        )
        # the weights that one entry of a sparse row meets stand together: half of the time on text
        weights = np.zeros_like(self.weights, order="F" if self.rows.sparse else "C")
        centre = weights[..., -1].copy()
        order = self.generator.permutation(np.flatnonzero(self.caps > 0.0))
        whole = _Stretch(self.rows, order, weights, state)
        stretch = whole
        active, check, last, spare, visited = order.size, 4, 0, POLISH, 0
        for passes in range(1, self.max_iter + 1):
            visited += active
            active, worst, estimate = stretch.visit(active, self.generator, passes > 1)
            self.steps += 1
            self.report()
            if passes < check and estimate > self.gap * self.dual:
                if stretch is whole and check - passes >= WORTH_PACKING and whole.packs(active):
                    stretch = whole.packed(active)
                continue
            if stretch is not whole:
                whole.take_back(stretch)
                stretch = whole
            total = self.offer_multipliers(state.multipliers)
            plain = np.ascontiguousarray(weights)
            self.offer_weights(plain)
            if not self.free_intercept:
                self.offer_weights(total)
            if self.reached:
                self.outcome = Outcome.REACHED
                spare -= (passes + 4 - last) * self.rows.numbers * self.rows.n_classes
                if spare < 0 or worst <= 1e-13:
                    return
            last = passes
            if self.newton_due(passes, visited, state.multipliers):
                self.newton(plain, state.multipliers)
                return
            if worst <= 1e-14 and not self.free_intercept:
                self.outcome = Outcome.REACHED if self.reached else Outcome.STALLED
                return
            if self.free_intercept:
                pull = weights[..., -1] - centre  # what the multipliers weigh
                centre = weights[..., -1].copy()
                weights[..., -1] += pull
            active, state.limits[0] = order.size, np.inf
            check = passes + max(2, passes // 4 if self.free_intercept else passes)

    def newton_due(self, passes: int, visited: int, multipliers: Floats) -> bool:
        """Whether coordinate descent has had its turn: with many classes, the cost of a Newton step."""
        if multipliers.ndim == 1 or passes >= NEWTON_AFTER:
            return passes >= NEWTON_AFTER
        # a row whose own class holds the whole cap has one multiplier less that can move
        own = multipliers.max(axis=1)
        carried = int(np.sum(multipliers < 0.0)) - int(np.sum((own >= self.caps) & (own > 0.0)))
        size = float(min(carried, self.weights.size))
        look = self.rows.numbers * self.rows.n_classes
        step = NEWTON_READS + look + size**3 / 3.0 / FLOPS_A_READ
        return visited / self.rows.n_rows * look >= step

    def report(self) -> None:
        if self.progress.due():
            relative = (self.primal - self.dual) / self.primal
            self.progress.show(
                f"soft margin: step {self.steps}, relative gap {relative:.2e} of {self.gap:.0e}"
            )


@dataclass(frozen=True, eq=False)
class _Stretch:
    """What passes of coordinate descent work on between two looks: all rows, or the active ones, packed.

    Attributes
    ----------
    members, columns : ndarray
        Where the rows and weights of a packed stretch stand among all.
    """

    rows: MemoryRows
    order: Ints
    weights: Floats
    state: margin_loops.Descent
    members: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    columns: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def visit(self, active: int, generator: np.random.Generator, drop: bool) -> tuple[int, float, float]:
        """Make one pass over the first rows of the order; those set aside come after them."""
        part = self.order[:active]
        generator.shuffle(part)
        found: tuple[int, float, float] = margin_loops.descend(
            self.rows.storage, part, self.weights, self.state, drop
        )
        self.state.limits[0] = found[1] if found[1] > 0.0 else np.inf
        return found

    def packs(self, active: int) -> bool:
        """Whether passes over the active rows gain from a copy of their own."""
        return self.rows.scattered and self.weights.ndim == 1 and 2 * active <= self.rows.n_rows

    def packed(self, active: int) -> _Stretch:
        """The active rows with the columns they use."""
        members = np.sort(self.order[:active])
        rows, columns = self.rows.pack(members)
        multipliers, caps, norms = (each[members] for each in self.state[:3])
        state = self.state._replace(multipliers=multipliers, caps=caps, norms=norms)
        return _Stretch(rows, rows.order, self.weights[columns], state, members, columns)

    def take_back(self, part: _Stretch) -> None:
        """Bring weights and multipliers up to date with what was done to some of the rows."""
        self.weights[part.columns] = part.weights
        self.state.multipliers[part.members] = part.state.multipliers


def _first_sigma(sizes: Floats) -> float:
    """One multiplier's worth for a score one off: the losses are smoothed over one unit."""
    positive = sizes[sizes > 0.0]
    return float(np.median(positive)) if positive.size else 1.0


def row_scores(rows: MemoryRows, weights: Floats) -> Floats:
    """The score of every row: signed, or that of its class less the best other."""
    scores = all_scores(rows, weights)
    return scores if weights.ndim == 1 else leads(scores, rows.labels)


def leads(outputs: Floats, labels: NDArray[Any]) -> Floats:
    """What the output of each row's own class has over the best other."""
    own = labels[:, None].astype(np.int64)
    rivals = outputs.copy()
    np.put_along_axis(rivals, own, -np.inf, axis=1)
    return np.asarray(np.take_along_axis(outputs, own, axis=1).ravel() - rivals.max(axis=1))


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
    against = _against_rivals(multipliers, labels)
    flow = np.zeros((classes, classes))  # flow[r, s]: what rows of class r hold against class s
    np.add.at(flow, labels, against)
    return _with_own(against * _circulating(flow)[labels], labels)


def feasible(multipliers: Floats, caps: Floats, labels: NDArray[Any]) -> Floats:
    """Multipliers of many classes without what rounding added: their signs, caps and sums are right."""
    against = _against_rivals(multipliers, labels)
    carried = against.sum(axis=1)
    over = carried > caps
    against[over] *= (caps[over] / carried[over])[:, None]
    return _with_own(against, labels)


def _against_rivals(multipliers: Floats, labels: NDArray[Any]) -> Floats:
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


def _best_shift(scores: Floats, caps: Floats, labels: Floats) -> float:
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
