"""A question of separability, what is known of it, and what an attempt to answer it comes to."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..certificates.claims import Approximate
from ..deadline import Deadline
from .exact.integer_rows import reduced, vanishing
from .exact.residues import FIRST_PRIME, undeceived
from .exact.weights import Weights, exact_vectors
from .signed_rows import EXTRA, SignedRows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Rational = int | Fraction

NOTHING: Ints = np.zeros(0, dtype=np.int64)
SHARE = 0.2  # of the time left, for a part of a problem that need not have an answer


@dataclass(frozen=True, eq=False)
class Combination:
    """Gordan's multipliers, exactly: the sum of the signed rows times these is zero.

    They are positive on ``ids``, and of any sign on the rows ``tight``.
    """

    ids: Ints
    values: Sequence[Rational]
    tight: Ints = field(default_factory=lambda: NOTHING)
    tight_values: Sequence[Rational] = ()


@dataclass(frozen=True)
class ApproximateProof:
    """Approximate multipliers that the checker has accepted, and whether they prove all that was asked."""

    multipliers: Approximate
    complete: bool


@dataclass(frozen=True, eq=False)
class Separated:
    """Weights that the checker has accepted, with bounds of the margin if there are any."""

    weights: Weights
    lower: float | None = None
    upper: float | None = None


@dataclass(frozen=True, eq=False)
class Inseparable:
    """Multipliers that no weights survive. More combinations help with the finer question."""

    multipliers: Combination | ApproximateProof
    more: tuple[Combination, ...] = ()


@dataclass(frozen=True, eq=False)
class Learned:
    """No answer, but perhaps something for the next strategy; see `Knowledge`."""

    rows: Ints = field(default_factory=lambda: NOTHING)
    upper: float | None = None
    class_pairs: tuple[tuple[int, int], ...] = ()


Attempt = Separated | Inseparable | Learned


@dataclass(frozen=True)
class SearchStep:
    """What one strategy came to.

    Attributes
    ----------
    strategy : str
        Its name, after that of the part of the problem that it was asked about, if it was a part.
    outcome : {"separated", "inseparable", "no answer", "out of time"}
    seconds : float
    """

    strategy: str
    outcome: str
    seconds: float


@dataclass(eq=False)
class Knowledge:
    """What attempts leave for later ones.

    Attributes
    ----------
    rows : ndarray of int64
        Signed rows that are hard to separate: a first working set.
    lower, upper : float or None
        Bounds of the margin.
    class_pairs : list of (int, int)
        Pairs of classes that were taken for each other, most often first, and have not been asked about.
    steps : list of SearchStep
    """

    rows: Ints = field(default_factory=lambda: NOTHING)
    lower: float | None = None
    upper: float | None = None
    class_pairs: list[tuple[int, int]] = field(default_factory=list)
    steps: list[SearchStep] = field(default_factory=list)

    def learn(self, attempt: Attempt) -> None:
        """Take in what an attempt came to."""
        match attempt:
            case Separated(lower=lower, upper=upper):
                self.lower, self.upper = lower, self.upper if upper is None else upper
            case Learned(rows=rows, upper=upper, class_pairs=pairs):
                self.rows = rows if rows.size else self.rows
                self.upper = self.upper if upper is None else upper
                self.class_pairs += pairs


class Strategy(Protocol):
    """A way to answer a problem. It may leave it open, and raises OutOfTime at the problem's deadline.

    Attributes
    ----------
    name : str
    small : bool
        Whether it is worth its while on problems so small that the linear program takes all rows at once.
    """

    name: str
    small: bool

    def applies(self, problem: Problem) -> bool:
        """Whether it is worth a try."""
        ...

    def attempt(self, problem: Problem, known: Knowledge) -> Attempt:
        """Answer the problem by what its checker accepts, or say what was learned."""
        ...


@dataclass(frozen=True, eq=False)
class Problem:
    """Find weights with a positive score on some signed rows, and zero on others.

    Attributes
    ----------
    rows : SignedRows
        With the deadline.
    strategies : tuple of Strategy
        To be tried in turn.
    accept : callable
        Whether the checker accepts weights.
    among : mask over the numbers of the rows
        Those that need a positive score.
    tight : ndarray of int64
        Those that need zero, independent modulo the prime.
    prime : int
    approximate : callable, optional
        Proves by approximate multipliers of rows (with rivals) that there are no such weights.
    part : str
        What part of another problem this is; empty for a whole one.
    """

    rows: SignedRows
    strategies: tuple[Strategy, ...]
    accept: Callable[[Weights], bool]
    among: Mask
    tight: Ints = field(default_factory=lambda: NOTHING)
    prime: int = FIRST_PRIME
    approximate: Callable[[Ints, Ints, Floats], ApproximateProof | None] | None = None
    part: str = ""

    @property
    def deadline(self) -> Deadline:
        """When the answer is due."""
        return self.rows.deadline

    @property
    def share(self) -> Deadline:
        """When the answer to a part of it is due that may have none."""
        return Deadline.after(SHARE * self.deadline.left)

    @property
    def whole(self) -> bool:
        """Whether all rows need a positive score."""
        return not self.tight.size and bool(self.among.all())

    def about(self, rows: SignedRows, part: str, **changes: Any) -> Problem:
        """The same question about some rows, without tight ones; by default, any weights will do."""
        given = {"accept": lambda _: True, "tight": NOTHING, "approximate": None, **changes}
        return replace(self, rows=rows, among=np.ones(rows.ids.size, dtype=bool), part=part, **given)

    def hard_rows(self, known: Knowledge) -> Ints:
        """The rows known to be hard, of those that need a positive score."""
        ids = np.append(self.rows.ids[self.among], EXTRA)
        return known.rows[np.isin(known.rows, ids)]

    def sample(self, size: int) -> Ints:
        """Some of the rows that need a positive score, at random."""
        ids = self.rows.ids[self.among]
        return np.sort(np.random.default_rng(0).permutation(ids)[:size])

    def exact_weights(self, weights: Floats) -> Weights:
        """Exact weights near floats, which are in units of the scaled columns; zero on the tight rows.

        On those, coordinates below a ten-millionth are taken for rounded zeros.
        """
        rows = self.rows
        if not self.tight.size:
            found = exact_vectors(weights.reshape(-1, rows.block), -rows.exponents)
            return (*found, (0.0,) * rows.block) if rows.joint else found
        guide = np.where(np.abs(weights) > 1e-7 * np.abs(weights).max(), weights, 0.0)
        exponents = np.tile(rows.exponents, rows.n_classes - 1)
        exact = rows.integers(self.tight).vanishing_weights(guide, exponents, self.prime, self.deadline)
        return rows.whole_weights(exact)

    def combination(self, ids: Ints, near: Floats) -> Combination | None:
        """Exact multipliers near positive floats, of rows given from the largest multiplier to the smallest.

        Those of the first independent rows are solved for, the others are rounded. None if not all of them
        stay positive, or none vanish.
        """
        n_tight = self.tight.size
        matrix = self.rows.integers(np.concatenate([self.tight, ids])).matrix.transpose()
        # the smallest keeps ten bits, or else one that rounding made too large would turn others negative
        bits = 30 + max(0, math.ceil(math.log2(near[0] / near.min())) - 20)
        fixed = [max(1, round(Fraction(value / near[0]) * 2**bits)) for value in near.tolist()]
        found = undeceived(lambda prime: vanishing(matrix, [0] * n_tight + fixed, prime, self.deadline))
        if found is None or not min(found[0][n_tight:]) >= 0 < max(found[0][n_tight:]):
            return None
        values = reduced(found[0])
        used = [i for i, value in enumerate(values[n_tight:]) if value]
        return Combination(ids[used], [values[n_tight + i] for i in used], self.tight, values[:n_tight])
