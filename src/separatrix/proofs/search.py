"""The search: one strategy after the other, until one has an answer that the checker accepts.

A strategy gets a `Problem` and what is known about it, and returns an `Attempt`: weights that separate,
multipliers that prove that no weights do, or what it learned.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import scipy  # loads linalg when it is used: small questions do without it

from ..certificates.fields import Number
from ..deadline import NEVER, Deadline, OutOfTime
from ..progress import log
from ..rows.protocol import Floats, Ints, Mask
from ..sparse import dense
from .exact.integer_rows import FIRST_PRIME, modulo_primes, reduced, vanishing
from .signed_rows import EXTRA, SignedRows

Rational = int | Fraction
Weights = tuple[tuple[Number, ...], ...]

NO_ROWS: Ints = np.zeros(0, dtype=np.int64)
SHARE = 0.2  # of the time left, for a part of a problem that may have no answer
WORKING_SET = 1000  # rows that a working set starts with, or grows by, at most
MOST_COLUMNS = 5000  # for methods that solve systems of that size


@dataclass(frozen=True, eq=False)
class Combination:
    """Gordan's multipliers: the sum of the signed rows times these is exactly zero.

    They are positive on ``ids``, and have any sign on the rows ``tight``.
    """

    ids: Ints
    values: Sequence[Rational]
    tight: Ints = field(default_factory=lambda: NO_ROWS)
    tight_values: Sequence[Rational] = ()


@dataclass(frozen=True, eq=False)
class Separated:
    """Weights that the checker accepted, with bounds of the margin if they are known."""

    weights: Weights
    lower: float | None = None
    upper: float | None = None


@dataclass(frozen=True, eq=False)
class Inseparable:
    """Multipliers that prove that no weights separate. ``more`` of them help to find all tight rows.

    None means that the checker has accepted approximate multipliers. ``weights`` may separate all rows that
    these multipliers do not make tight.
    """

    multipliers: Combination | None
    more: tuple[Combination, ...] = ()
    weights: Weights | None = None


@dataclass(frozen=True, eq=False)
class Learned:
    """No answer, but perhaps something for the next strategy; see `Knowledge`."""

    rows: Ints = field(default_factory=lambda: NO_ROWS)
    upper: float | None = None


Attempt = Separated | Inseparable | Learned
OUTCOMES = {Separated: "separated", Inseparable: "inseparable", Learned: "no answer"}


@dataclass(frozen=True)
class SearchStep:
    """The outcome of one strategy.

    Attributes
    ----------
    strategy : str
        Its name, preceded by the name of the part if it was asked about a part of the problem.
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
    asked : set of tuple of int
        Sets of classes that were asked about.
    steps : list of SearchStep
    """

    rows: Ints = field(default_factory=lambda: NO_ROWS)
    lower: float | None = None
    upper: float | None = None
    asked: set[tuple[int, ...]] = field(default_factory=set)
    steps: list[SearchStep] = field(default_factory=list)

    def learn(self, attempt: Attempt) -> None:
        """Add what an attempt found."""
        match attempt:
            case Separated(lower=lower, upper=upper):
                self.lower, self.upper = lower, self.upper if upper is None else upper
            case Learned(rows=rows, upper=upper):
                self.rows = rows if rows.size else self.rows
                self.upper = self.upper if upper is None else upper


class Strategy(Protocol):
    """A method that may answer a problem. It raises OutOfTime at the problem's deadline.

    Attributes
    ----------
    name : str
    share : float
        The part of the time left that it may use; the strategies after it have the rest.
    """

    name: str
    share: float

    def applies(self, problem: Problem) -> bool:
        """Whether to try it."""
        ...

    def attempt(self, problem: Problem, known: Knowledge) -> Attempt:
        """Return an answer that the problem's checker accepts, or what was learned."""
        ...


@dataclass(frozen=True, eq=False)
class Problem:
    """Find weights with a positive score on some signed rows, and zero on others.

    Attributes
    ----------
    rows : SignedRows
        With a deadline.
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
        Proves by approximate multipliers of rows (with rivals) that there are no such weights. It returns
        None if the checker refuses them, and otherwise whether they prove everything that was asked.
    part : str
        The part of another problem that this is; empty if it is not a part.
    limit : Deadline
        An earlier deadline.
    """

    rows: SignedRows
    strategies: tuple[Strategy, ...]
    accept: Callable[[Weights], bool]
    among: Mask
    tight: Ints = field(default_factory=lambda: NO_ROWS)
    prime: int = FIRST_PRIME
    approximate: Callable[[Ints, Ints, Floats], bool | None] | None = None
    part: str = ""
    limit: Deadline = NEVER

    @property
    def deadline(self) -> Deadline:
        """When the answer is due."""
        return min(self.rows.deadline, self.limit)

    @property
    def ids(self) -> Ints:
        """The numbers of the signed rows that need a positive score."""
        found: Ints = self.rows.ids[self.among]
        return found

    @property
    def whole(self) -> bool:
        """Whether all rows need a positive score."""
        return not self.tight.size and bool(self.among.all())

    def about(self, rows: SignedRows, part: str, **changes: Any) -> Problem:
        """Ask the same about some rows, without tight ones. By default any weights are accepted."""
        given = {"accept": lambda _: True, "tight": NO_ROWS, "approximate": None, **changes}
        return replace(self, rows=rows, among=np.ones(rows.ids.size, dtype=bool), part=part, **given)

    def within(self, share: float) -> Problem:
        """Ask the same within a share of the time that is left."""
        return self if share == 1.0 else replace(self, limit=Deadline.after(share * self.deadline.left))

    def hard_rows(self, known: Knowledge) -> Ints:
        """Return the rows that are known to be hard, if they need a positive score."""
        return known.rows[np.isin(known.rows, np.append(self.ids, EXTRA))]

    def sample(self, size: int) -> Ints:
        """Draw some of the rows that need a positive score."""
        return np.sort(np.random.default_rng(0).permutation(self.ids)[:size])

    def exact_weights(self, weights: Floats) -> Weights:
        """Return exact weights near floats in units of the scaled columns, with zero on the tight rows.

        If there are tight rows, coordinates below a ten-millionth count as rounded zeros. Unless the
        question is small, a QR decomposition with pivoting chooses which coordinates change, so that they
        change little.
        """
        rows = self.rows
        if not self.tight.size:
            found = exact_vectors(weights.reshape(-1, rows.block), -rows.exponents)
            return (*found, (0.0,) * rows.block) if rows.joint else found
        guide = np.where(np.abs(weights) > 1e-7 * np.abs(weights).max(), weights, 0.0)
        exponents = np.tile(rows.exponents, rows.n_classes - 1)
        order = None
        if not rows.small:
            values = dense(rows.floats(self.tight))
            self.deadline.need(operations=2.0 * values.size * min(values.shape))
            order = scipy.linalg.qr(values, mode="r", pivoting=True)[-1]
        integers = rows.integers(self.tight)
        exact = integers.vanishing_weights(guide, exponents, self.prime, self.deadline, order)
        return rows.whole_weights(exact)

    def combination(self, ids: Ints, near: Floats) -> Combination | None:
        """Return exact multipliers near positive floats, which are given in descending order.

        Those of the first independent rows are solved for, the others are rounded. None if some exact
        multiplier is negative, or all of them are zero.
        """
        n_tight = self.tight.size
        matrix = self.rows.integers(np.concatenate([self.tight, ids])).matrix.transpose()
        # The smallest keeps ten bits: rounded too far, it could make the others negative.
        bits = 30 + max(0, math.ceil(math.log2(near[0] / near.min())) - 20)
        fixed = [max(1, round(Fraction(value / near[0]) * 2**bits)) for value in near.tolist()]
        found = modulo_primes(lambda prime: vanishing(matrix, [0] * n_tight + fixed, prime, self.deadline))
        if found is None or not min(found[0][n_tight:]) >= 0 < max(found[0][n_tight:]):
            return None
        values = reduced(found[0])
        used = [i for i, value in enumerate(values[n_tight:]) if value]
        return Combination(ids[used], [values[n_tight + i] for i in used], self.tight, values[:n_tight])


def search(problem: Problem, known: Knowledge) -> Attempt:
    """Try the strategies of a problem in turn, and add what they find to ``known``.

    Raises OutOfTime if the problem's deadline passes without an answer.
    """
    for strategy in problem.strategies:
        if not strategy.applies(problem):
            continue
        begin, outcome = time.monotonic(), "out of time"
        attempt: Attempt = Learned()
        try:
            attempt = strategy.attempt(problem.within(strategy.share), known)
            outcome = OUTCOMES[type(attempt)]
        except OutOfTime:
            problem.deadline.need()  # after a strategy that used up its share, the others have the rest
        finally:
            name = f"{problem.part}: {strategy.name}" if problem.part else strategy.name
            known.steps.append(SearchStep(name, outcome, time.monotonic() - begin))
            log.info("search: %s: %s after %.3f s", name, outcome, known.steps[-1].seconds)
        known.learn(attempt)
        if not isinstance(attempt, Learned):
            return attempt
        problem.deadline.need()
    return Learned()


def search_part(problem: Problem, known: Knowledge, share: float = SHARE) -> Attempt:
    """Search for an answer to a part of a problem in a share of the time left; there may be none."""
    rows = problem.rows.due(Deadline.after(share * problem.deadline.left))
    try:
        return search(replace(problem, rows=rows), Knowledge(steps=known.steps))
    except OutOfTime:
        return Learned()


def exact_vectors(vectors: Floats, powers: Ints) -> Weights:
    """Multiply each vector by ``2**powers``: as floats if those hold the result, else as integers."""
    with np.errstate(all="ignore"):
        scaled = np.ldexp(vectors, powers.astype(np.int32))
        exact = np.isfinite(scaled) & (np.ldexp(scaled, -powers.astype(np.int32)) == vectors)
    if exact.all():
        return tuple(map(tuple, scaled.tolist()))
    ratios = [float(value).as_integer_ratio() for value in vectors.ravel()]
    shifts = np.broadcast_to(powers, vectors.shape).ravel().tolist()
    exponents = [shift - bottom.bit_length() + 1 for (_, bottom), shift in zip(ratios, shifts, strict=True)]
    low = min(exponents)
    whole = reduced([top << (e - low) for (top, _), e in zip(ratios, exponents, strict=True)])
    width = vectors.shape[1]
    return tuple(tuple(whole[start : start + width]) for start in range(0, len(whole), width))
