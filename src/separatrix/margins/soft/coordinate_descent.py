"""The soft margin by dual coordinate descent, of rows in memory: many columns, or many classes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...loops import margins as margin_loops
from ...result import Floats, Ints
from ...rows.memory import MemoryRows
from ..brackets import SoftBracket
from ..effort import Effort
from ..optimum import Outcome

NEWTON_AFTER = 3000  # passes of coordinate descent before Newton steps take over in any case
# When Newton steps begin with many classes. At twice and at half of each, the digits of scikit-learn took up
# to a fifth longer.
NEWTON_READS = 1e5  # what a Newton step costs beside its system and one scan, in numbers that a pass reads
FLOPS_A_READ = 16.0  # operations of a factorisation that cost as much as reading one number
WORTH_PACKING = 20  # passes that repay a copy of their rows
POLISH = 1 << 23  # numbers that may be read beyond the gap, so that small problems end exactly
EXACT_VIOLATION, NO_VIOLATION = 1e-13, 1e-14  # the largest violations of a pass that has nothing left to do


@dataclass(frozen=True, eq=False)
class Descended:
    """Where coordinate descent ended.

    Attributes
    ----------
    outcome : Outcome or None
        None: Newton steps are worth more from here on.
    weights, multipliers : ndarray
        Where Newton steps may begin.
    """

    outcome: Outcome | None
    weights: Floats
    multipliers: Floats


def descend(
    rows: MemoryRows, bracket: SoftBracket, effort: Effort, generator: np.random.Generator
) -> Descended:
    """Dual coordinate descent with shrinking, two classes or many.

    A free intercept is a multiplier method on top: the descent keeps the intercept near a
    centre, and the centre moves to where the descent left it.
    """
    free_intercept = bracket.free_intercept
    state = margin_loops.Descent(
        np.zeros_like(bracket.multipliers),
        bracket.caps,
        rows.squared_norms,
        np.zeros(rows.n_classes),
        np.full(1, np.inf),
    )
    # the weights that one entry of a sparse row meets stand together: half of the time on text
    weights = np.zeros_like(bracket.weights, order="F" if rows.sparse else "C")
    centre = weights[..., -1].copy()
    order = generator.permutation(np.flatnonzero(bracket.caps > 0.0))
    whole = Stretch(rows, order, weights, state)
    stretch = whole
    active, check, last, spare, visited = order.size, 4, 0, POLISH, 0
    for passes in range(1, effort.max_steps + 1):
        visited += active
        active, worst, estimate = stretch.visit(active, generator, passes > 1)
        effort.steps += 1
        effort.report(lambda: f"soft margin: pass {effort.steps}, {bracket.text()}")
        if passes < check and estimate > bracket.gap * bracket.dual:
            if stretch is whole and check - passes >= WORTH_PACKING and whole.packs(active):
                stretch = whole.packed(active)
            continue
        if stretch is not whole:
            whole.take_back(stretch)
            stretch = whole
        total = bracket.offer_multipliers(state.multipliers)
        plain = np.ascontiguousarray(weights)
        bracket.offer_weights(plain)
        if not free_intercept:
            bracket.offer_weights(total)
        if bracket.reached:
            spare -= (passes + 4 - last) * rows.numbers * rows.n_classes
            if spare < 0 or worst <= EXACT_VIOLATION:
                return Descended(Outcome.REACHED, plain, state.multipliers)
        last = passes
        if _newton_due(rows, bracket.caps, passes, visited, state.multipliers):
            return Descended(None, plain, state.multipliers)
        if worst <= NO_VIOLATION and not free_intercept:
            outcome = Outcome.REACHED if bracket.reached else Outcome.STALLED
            return Descended(outcome, plain, state.multipliers)
        if free_intercept:
            pull = weights[..., -1] - centre  # what the multipliers weigh
            centre = weights[..., -1].copy()
            weights[..., -1] += pull
        active, state.limits[0] = order.size, np.inf
        check = passes + max(2, passes // 4 if free_intercept else passes)
    outcome = Outcome.REACHED if bracket.reached else Outcome.STEP_LIMIT
    return Descended(outcome, weights, state.multipliers)


def _newton_due(rows: MemoryRows, caps: Floats, passes: int, visited: int, multipliers: Floats) -> bool:
    """Whether coordinate descent has done its part: with many classes, the cost of a Newton step."""
    if multipliers.ndim == 1 or passes >= NEWTON_AFTER:
        return passes >= NEWTON_AFTER
    # a row whose own class holds the whole cap has one multiplier less that can move
    own = multipliers.max(axis=1)
    carried = int(np.sum(multipliers < 0.0)) - int(np.sum((own >= caps) & (own > 0.0)))
    size = float(min(carried, rows.weights_shape[0] * rows.weights_shape[1]))
    scan = rows.numbers * rows.n_classes
    step = NEWTON_READS + scan + size**3 / 3.0 / FLOPS_A_READ
    return visited / rows.n_rows * scan >= step


@dataclass(frozen=True, eq=False)
class Stretch:
    """What passes of coordinate descent work on between two scans: all rows, or the active ones, packed.

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

    def packed(self, active: int) -> Stretch:
        """The active rows with the columns they use."""
        members = np.sort(self.order[:active])
        rows, columns = self.rows.pack(members)
        multipliers, caps, norms = (each[members] for each in self.state[:3])
        state = self.state._replace(multipliers=multipliers, caps=caps, norms=norms)
        return Stretch(rows, rows.order, self.weights[columns], state, members, columns)

    def take_back(self, part: Stretch) -> None:
        """Bring weights and multipliers up to date with what was done to some of the rows."""
        self.weights[part.columns] = part.weights
        self.state.multipliers[part.members] = part.state.multipliers
