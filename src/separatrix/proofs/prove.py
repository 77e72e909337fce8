"""Find the proof: the search gives an answer, and the checker decides whether it is proved.

If the plain question is answered by multipliers (Gordan), the rows that they span lie on every hyperplane
that has no row on the wrong side. The same question about the other rows, for hyperplanes through these, adds
rows to that set until the remaining rows are separated, or no rows remain: Tucker's partition.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import lcm
from typing import Protocol

import numpy as np

from ..certificates.check import check_claim
from ..certificates.claims import Approximate, Certificate, Multipliers, Separation
from ..certificates.monomials import PLAIN
from ..certificates.numbers import small_sums
from ..certificates.scores import Signs, first_wrong, rounded
from ..deadline import NEVER, Deadline, OutOfTime
from ..inputs.data import Data
from ..rows.protocol import Ints, Mask
from .approximate import ApproximateProver
from .exact.integer_rows import IntegerRows, Misled, combined, modulo_primes
from .search import (
    Attempt,
    Combination,
    Inseparable,
    Knowledge,
    Problem,
    Rational,
    SearchStep,
    Separated,
    Weights,
    search,
)
from .signed_rows import SignedRows
from .strategies import STRATEGIES
from .strategies.conflicts import conflicts
from .strategies.sparse_elimination import Elimination, settle

FEW = 10_000  # numbers of the rows of a proof that are summed within a fraction of a second

# Seconds to find and to check the multiplier of a tight row, and for each of its numbers; measured on 300,000
# rows of 3 and of 30 columns and on 1,000,000 of 3: 1.9e-6 to 4.4e-6 per row. With half as much, deadlines
# may be missed by as much; with twice as much, the finer question may be left open although time was left.
TIGHT_ROW, TIGHT_NUMBER = 3e-6, 1.5e-7


@dataclass(frozen=True, eq=False)
class Proof:
    """What was proved, ready to be put into a certificate.

    Attributes
    ----------
    status : str
    weights : weight vectors, or None
    multipliers : Multipliers or None
    approximate : Approximate or None
        Instead of ``multipliers``.
    witness : Combination or None
        The few rows that prove that no weights separate.
    upper, lower : float or None
        Bounds of the margin from above, by the multipliers of the search, and from below, by its weights.
    steps : tuple of SearchStep
        What each strategy of the search came to.
    """

    status: Separation
    weights: Weights | None = None
    multipliers: Multipliers | None = None
    approximate: Approximate | None = None
    witness: Combination | None = None
    upper: float | None = None
    lower: float | None = None
    steps: tuple[SearchStep, ...] = ()


# How much a status says. A proof replaces one that says no more.
STRENGTH = {"undecided": 0, "inseparable": 1, "separable": 2, "quasi-separable": 2, "overlapping": 2}


class PartitionJudge(Protocol):
    """What the search for Tucker's partition asks of the checker of a question."""

    def total(self, signed: SignedRows, ids: Ints) -> dict[int, dict[int, int]]:
        """Return the exact sum of some signed rows: for each coordinate, integers by exponent of two."""
        ...

    def separates(self, weights: Weights, signed: SignedRows, tight: Mask) -> bool:
        """Whether exact weights separate all signed rows, except for tight ones on the hyperplane."""
        ...

    def accept(self, proof: Proof) -> bool:
        """Whether an answer is proved."""
        ...

    def due(self, deadline: Deadline) -> PartitionJudge:
        """Return the same judge with another deadline."""
        ...


@dataclass(frozen=True, eq=False)
class SettledJudge:
    """The judge of all rows, asked about those that columns of one sign do not settle."""

    judge: PartitionJudge
    whole: SignedRows
    rest: Elimination

    def total(self, signed: SignedRows, ids: Ints) -> dict[int, dict[int, int]]:
        """Return the exact sum of some signed rows: for each coordinate, integers by exponent of two."""
        return self.judge.total(signed, ids)

    def separates(self, weights: Weights, signed: SignedRows, tight: Mask) -> bool:
        """Whether the weights, extended to the settled rows, separate all rows but the tight ones."""
        extended = self.rest.exactly_extended(weights, self.whole)
        among = np.isin(self.whole.ids, signed.ids[tight])
        return extended is not None and self.judge.separates(extended, self.whole, among)

    def accept(self, proof: Proof) -> bool:
        """Whether a partition of the rows that are left proves one of all rows, in which some are strict."""
        weights = proof.weights or ((0,) * self.whole.block,)
        extended = self.rest.exactly_extended(weights, self.whole)
        return extended is not None and self.judge.accept(
            replace(proof, status=Separation.QUASI_SEPARABLE, weights=extended)
        )

    def due(self, deadline: Deadline) -> SettledJudge:
        """Return the same judge with another deadline."""
        return replace(self, judge=self.judge.due(deadline))


class Judge:
    """The checker, with the question and the best answer so far: a verdict says only what it accepts.

    What it has accepted stays in ``best``, however the search goes on or ends. It raises OutOfTime if rows
    still have to be scored in integers at the deadline.
    """

    def __init__(self, question: Certificate, data: Data, deadline: Deadline) -> None:
        self.question, self.data, self.deadline = question, data, deadline
        self.signs = Signs(question, data)
        self.best = Proof(Separation.UNDECIDED)

    def certificate(self, proof: Proof) -> Certificate:
        """Return the question with an answer."""
        return replace(
            self.question,
            claim=proof.status,
            weights=proof.weights,
            multipliers=proof.multipliers,
            approximate=proof.approximate,
        )

    def accept(self, proof: Proof) -> bool:
        """Whether an answer is proved. Proofs of few rows are checked even after the deadline."""
        rows = () if proof.multipliers is None else proof.multipliers.rows
        few = 0 < len(rows) * self.data.matrix.shape[1] <= FEW and proof.weights is None
        pause = NEVER.need if few else self.deadline.need
        if not check_claim(self.certificate(proof), self.data, pause).holds:
            return False
        if STRENGTH[proof.status] >= STRENGTH[self.best.status]:
            self.best = proof
        return True

    def due(self, deadline: Deadline) -> Judge:
        """Return the same judge with another deadline."""
        twin = copy(self)
        twin.deadline = deadline
        return twin

    def total(self, signed: SignedRows, ids: Ints) -> dict[int, dict[int, int]]:
        """Return the exact sum of some signed rows: for each coordinate, integers by exponent of two."""
        which, rivals = signed.split(ids)
        terms = self.signs.terms(which, rivals, np.ones_like(which))
        total: dict[int, dict[int, int]] = {}
        sums = small_sums(terms, signed.data.matrix, signed.deadline.need)
        for block in range(signed.n_classes - 1):
            for column, parts in sums[block].items():
                total[block * signed.block + column] = parts
            if signed.lift:
                total[block * signed.block + signed.block - 1] = {0: terms.counts()[block]}
        return total

    def separates(self, weights: Weights, signed: SignedRows, tight: Mask) -> bool:
        """Whether exact weights separate all signed rows, except for tight ones on the hyperplane."""
        rows, rivals = signed.split(signed.ids[tight])
        on_plane = self.signs.none()
        on_plane[rows, rivals if signed.joint else 0] = True
        return first_wrong(weights, self.signs, on_plane, self.deadline.need) is None


def prove(signed: SignedRows, judge: Judge, *, quasi: bool, exact: bool = False) -> Proof:
    """Answer the question about some signed rows by the best proof that the judge accepts in time.

    If ``exact``, the multipliers of a witness are exact, not approximate.
    """
    prover = ApproximateProver(
        judge.signs,
        lambda claim, multipliers: judge.accept(_approximate_proof(signed, claim, multipliers)),
        quasi,
        signed.deadline,
    )
    problem = Problem(
        signed,
        STRATEGIES,
        lambda weights: judge.accept(Proof(Separation.SEPARABLE, weights=weights)),
        np.ones(signed.ids.size, dtype=bool),
        # monomials, which floats may be unable to hold, are not proved in this way
        approximate=None if exact or judge.question.degrees != PLAIN else prover.prove,
    )
    known = Knowledge()
    with suppress(OutOfTime):
        match search(problem, known):
            case Inseparable(Combination() as witness) as plain:
                if judge.accept(_plain_proof(signed, witness)) and quasi:
                    rest = settle(signed)
                    if rest is not None:
                        part = signed.part(signed.ids[rest.places])
                        problem = problem.about(part, "rows left")
                    strict = judge if rest is None else SettledJudge(judge, signed, rest)
                    modulo_primes(partial(_partition, problem, known, strict, plain))
    found = replace(judge.best, steps=tuple(known.steps))
    return found if found.witness is not None else replace(found, upper=known.upper, lower=known.lower)


def prove_partition(signed: SignedRows, judge: PartitionJudge) -> tuple[SearchStep, ...]:
    """Find which rows are tight if some rows must have the score zero; the judge keeps what is proved."""
    everything = np.ones(signed.ids.size, dtype=bool)
    strategies = tuple(each for each in STRATEGIES if each.name != "conflicts")  # every row has its own sign
    problem, known = Problem(signed, strategies, lambda _: False, everything), Knowledge()
    with suppress(OutOfTime):
        modulo_primes(partial(_partition, problem, known, judge, None))
    return tuple(known.steps)


def prove_conflict(signed: SignedRows, judge: Judge) -> Proof | None:
    """Look for two identical rows with different labels, which no function of the rows separates."""
    pairs = conflicts(signed, 1)
    if not pairs or not judge.accept(_plain_proof(signed, pairs[0])):
        return None
    return judge.best


def _plain_proof(signed: SignedRows, witness: Combination) -> Proof:
    multipliers = _multipliers(signed, witness.ids, witness.values)
    return Proof(Separation.INSEPARABLE, multipliers=multipliers, witness=witness)


def _approximate_proof(signed: SignedRows, claim: Separation, near: Approximate) -> Proof:
    ids = np.array(near.rows, dtype=np.int64)
    if signed.joint:
        ids = ids * signed.n_classes + np.array(near.rivals, dtype=np.int64)
    largest = max(near.values)
    whole = [max(1, round(value / largest * 2.0**53)) for value in near.values]
    return Proof(claim, approximate=near, witness=Combination(ids, whole))


def _multipliers(signed: SignedRows, ids: Ints, values: Sequence[Rational], n_basis: int = 0) -> Multipliers:
    """Return multipliers as a certificate holds them: fractions come first, over one denominator.

    If all are integers, no multiplier is coarse. The first ``n_basis`` rows stay first in any case.
    """
    whole = np.array([value.denominator == 1 for value in values], dtype=bool)
    whole[:n_basis] = False
    order = np.argsort(whole, kind="stable")
    n_fine = whole.size if whole.all() else int(np.count_nonzero(~whole))
    fine = order[:n_fine].tolist()
    denominator = lcm(*(values[i].denominator for i in fine))
    coarse = [0] * n_fine + [int(values[i]) for i in order[n_fine:]]
    rows, rivals = signed.split(ids[order])
    return Multipliers(
        rows=tuple(rows.tolist()),
        rivals=tuple(rivals.tolist()) if signed.joint else (),
        coarse=tuple(coarse) if any(coarse) else (),
        fine=tuple(int(values[i] * denominator) for i in fine),
        denominator=denominator,
    )


def _partition(
    problem: Problem,
    known: Knowledge,
    judge: PartitionJudge,
    plain: Inseparable | None,
    prime: int,
) -> None:
    """Find Tucker's partition: add tight rows until the others are separated by hyperplanes through them.

    The search begins with what proved that no weights separate, if that was asked.

    Raises Misled if rows are tight modulo the prime, but not in the integers.
    """
    signed = problem.rows
    equal = signed.span_basis(prime, signed.first_equal)
    positive: dict[int, Rational] = dict.fromkeys(equal.tolist(), 0)
    witness, weights = (None, None) if plain is None else (plain.multipliers, plain.weights)
    for each in () if plain is None or witness is None else (witness, *plain.more):
        _grow(positive, each, signed.first_equal)
    while True:
        signed.deadline.need()
        members = [number for number in sorted(positive) if number < signed.first_equal]
        basis = signed.independent(np.concatenate([equal, np.array(members, dtype=np.int64)]), prime)
        tight = signed.spanned(basis, prime)
        accept = partial(judge.separates, signed=signed, tight=tight)
        found: Attempt | None = None
        if weights is not None and not tight.all() and accept(weights):
            found = Separated(weights)
        elif not tight.all():
            found = search(
                replace(problem, accept=accept, among=~tight, tight=basis, prime=prime, approximate=None),
                known,
            )
        match found:
            case Inseparable(Combination() as further):
                _grow(positive, further, signed.first_equal)
                weights = found.weights
                continue
            case None | Separated():
                multipliers = None
                if tight.any():
                    signed.forget_copies()
                    multipliers = _positive_everywhere(
                        signed, judge, positive, basis, signed.ids[tight], prime
                    )
                status = Separation.OVERLAPPING if found is None else Separation.QUASI_SEPARABLE
                weights = None if found is None else found.weights
                judge.accept(Proof(status, weights, multipliers, witness=witness))
        return


def _grow(positive: dict[int, Rational], found: Combination, first_equal: int) -> None:
    """Add a combination on the hyperplanes through the tight rows, with a factor that keeps all positive."""
    added = dict(zip(found.tight.tolist(), found.tight_values, strict=True))
    factor = 1
    for number, value in added.items():
        if value < 0 and number < first_equal:
            factor = max(factor, -value // positive[number] + 1)
    for number in positive:
        positive[number] = positive[number] * factor + added.get(number, 0)
    for number, value in zip(found.ids.tolist(), found.values, strict=True):
        positive[number] = positive.get(number, 0) + value


def _positive_everywhere(
    signed: SignedRows,
    judge: PartitionJudge,
    positive: dict[int, Rational],
    basis: Ints,
    tight: Ints,
    prime: int,
) -> Multipliers:
    """Return multiplier 1 on every tight row, corrected on the basis, plus enough of the witness.

    Equal rows have a multiplier only if they are in the basis. Raises Misled if the basis does not span the
    tight rows.
    """
    tight = tight[tight < signed.first_equal]
    matrix = signed.data.matrix  # of a regression, auxiliary coordinates and thresholds are few units per row
    numbers = int(getattr(matrix, "block", matrix.shape[1]))
    signed.deadline.need(tight.size * (TIGHT_ROW + TIGHT_NUMBER * numbers))
    rows = signed.integers(basis)
    target = _minus_sum(judge.total(signed, tight), rows)
    values, denominator = combined(rows.matrix.transpose(), target[0], prime, signed.deadline)
    denominator *= target[1]
    factor = 0
    for number, value in zip(basis.tolist(), values, strict=True):
        if number >= signed.first_equal:
            continue
        # 1 + value / denominator + factor * positive > 0
        factor = max(factor, (-value - denominator) // (denominator * positive[number]) + 1)
    changes = {number: factor * value for number, value in positive.items()} if factor else {}
    for number, value in zip(basis.tolist(), values, strict=True):
        changes[number] = changes.get(number, 0) + Fraction(value, denominator)
    changed = np.concatenate([basis, np.setdiff1d(list(changes), basis)]).astype(np.int64)
    others = np.setdiff1d(tight, changed, assume_unique=True)
    total = [(number < signed.first_equal) + changes[number] for number in changed.tolist()]
    return _multipliers(signed, np.concatenate([changed, others]), total + [1] * others.size, basis.size)


def _minus_sum(total: dict[int, dict[int, int]], rows: IntegerRows) -> tuple[list[int], int]:
    """Return minus a sum of rows on the grid of some integer rows, and a power of two.

    The sum is multiplied by that power. Raises Misled if it has a column that those rows do not have.
    """
    grid = dict(zip(rows.columns.tolist(), rows.powers.tolist(), strict=True))
    target: dict[int, tuple[int, int]] = {}
    for column, parts in total.items():
        low = min(parts)
        value = sum(v << (e - low) for e, v in parts.items())
        if value:
            if column not in grid:
                raise Misled
            target[column] = (-value, low - grid[column])
    room = max([0, *(-shift for _, shift in target.values())])
    scaled = {column: value << (shift + room) for column, (value, shift) in target.items()}
    return [scaled.get(c, 0) for c in rows.columns.tolist()], 1 << room


def margin_bracket(signed: SignedRows, proof: Proof) -> tuple[float, float]:
    """Return lower and upper bounds of the largest margin of weights of norm one, for the exact data.

    Any weights of norm one prove that it is no smaller than their lowest score, any multipliers ``a >= 0``
    that it is no larger than ``|sum a_i z_i| / sum a_i``. Both are computed in floats, and moved outwards by
    a bound of the rounding error: a sum of n products is off by at most ``n 2**-53 / (1 - n 2**-53)`` times
    the sum of their magnitudes (Higham 2002, section 3.1), which is at most the largest norm of a row. If the
    rows are not separable, the upper bound is zero, and it is reached exactly if they are quasi-separable.
    """
    if proof.status == Separation.QUASI_SEPARABLE:
        return 0.0, 0.0
    with np.errstate(all="ignore"):
        lower = _lower(signed, proof)
        if proof.status in (Separation.OVERLAPPING, Separation.INSEPARABLE) or proof.witness is not None:
            return min(lower, 0.0), 0.0
        upper = signed.radius if proof.upper is None else min(proof.upper, signed.radius)
    if proof.status == Separation.SEPARABLE:
        lower = max(lower, 0.0)  # the certificate proves that it is positive
    return lower, max(upper, lower)


def _lower(signed: SignedRows, proof: Proof) -> float:
    """Return the lower bound that the weights prove; without weights, minus the radius."""
    if proof.weights is None or proof.status != Separation.SEPARABLE:
        return -signed.radius
    if proof.lower is not None and np.isfinite(proof.lower):
        return _shorter(proof.lower, signed)
    vectors, _ = rounded(proof.weights)
    vectors /= np.abs(vectors).max()
    # The bound holds for these rounded weights; their norm is 1, except for rounding.
    unit = vectors / np.linalg.norm(vectors)
    return _shorter(signed.lowest_score(unit) - signed.rounding(0.0), signed)


def _shorter(lower: float, signed: SignedRows) -> float:
    """Return the bound minus what rounding of the norm of the weights may add."""
    return lower * (1.0 - signed.width * 2.0**-50) if lower > 0.0 else lower
