"""Which coefficients of a logistic regression have a finite estimate, and the limits of the others.

Let C be the directions d with ``Zd >= 0``, in which no signed row gets worse. Call a direction of C *full* if
it is positive on every row that some direction of C is positive on (Tucker's strict rows; the others are
tight). The weights w of a certificate are full, and C spans the d with ``Td = 0`` on the tight rows T.

- If ``d_j != 0`` for some d with ``Zd = 0``, columns depend on each other: coefficient j is *not identified*.
- If the unit vector e_j is a combination of tight rows, ``d_j = 0`` on C: the estimate is *finite*.
- If ``e_j = sum l_i z_i`` with ``l >= 0`` on the strict rows (of any sign on tight ones), then ``d_j >= 0``
  on C (Farkas). If also ``w_j > 0``, then ``d_j > 0`` in every full direction, and the coefficient goes to
  *+infinity*: were ``d_j = 0``, all rows with ``l_i != 0`` would be tight, and ``w_j`` would be zero.
- Otherwise some full direction has ``d_j > 0``, another ``d_j < 0``, and a mixture of them ``d_j = 0``. Its
  sign, and whether it diverges at all, are *not determined*.

Whether the sign of ``w_j > 0`` is forced is a question of separability: do weights separate the strict rows
and the row ``-e_j``, on the hyperplanes through the tight ones? Such weights are a full direction, ``d_j <
0``; the proof that no weights do so is Farkas' combination. The search uses floats, the proof integers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from math import lcm

import numpy as np

from ...certificates.claims import Separation
from ...deadline import Deadline, OutOfTime
from ...rows.protocol import Ints
from ..exact.integer_rows import FIRST_PRIME, Misled, modulo_primes, reduced, times, unit_vectors
from ..prove import PartitionJudge, Proof
from ..search import (
    NO_ROWS,
    Attempt,
    Combination,
    Inseparable,
    Knowledge,
    Learned,
    Problem,
    Separated,
    Weights,
)
from ..signed_rows import EXTRA, SignedRows
from ..strategies.exact_partition import ExactPartition
from ..strategies.linear_program import WorkingProgram

FINITE, NOT_DETERMINED, NOT_IDENTIFIED = "finite", "not determined", "not identified"
PLUS, MINUS = "+infinity", "-infinity"
INFINITIES = {PLUS: math.inf, MINUS: -math.inf}

WIDE = 1500  # coefficients beyond which none is decided: each takes a linear program of that many columns


@dataclass(frozen=True)
class Coefficients:
    """What is proved of each coefficient.

    Attributes
    ----------
    answers : dict of str to str or None
        "finite", "+infinity", "-infinity", "not determined", "not identified"; None if it is undecided.
    responsible : dict of str to float
        Those that the direction of the certificate moves, or that are not determined: inf or -inf if that is
        proved, otherwise NaN.
    """

    answers: dict[str, str | None] = field(default_factory=dict)
    responsible: dict[str, float] = field(default_factory=dict)


def coefficient_answers(
    signed: SignedRows, proof: Proof, judge: PartitionJudge, names: Sequence[str]
) -> Coefficients:
    """Return what is proved about each coefficient by the deadline of the signed rows.

    With more than ``WIDE`` coefficients, those that the certificate's direction moves are listed, undecided.
    If there are fewer names than coordinates, the others are no coefficients, and are not asked about.
    """
    weights = _whole(proof.weights, signed) if proof.weights is not None else [0] * signed.width
    if signed.width > WIDE:
        moved = [name for name, weight in zip(names, weights, strict=False) if weight]
        return Coefficients(dict.fromkeys(moved), dict.fromkeys(moved, math.nan))
    asked = _Asked(signed, proof, judge.due(signed.deadline), weights, len(names))
    with suppress(OutOfTime):
        asked.decide()
    answers = dict(zip(names, asked.answers, strict=False))
    moved = [name for name, weight in zip(names, weights, strict=False) if weight]
    responsible = {
        name: INFINITIES.get(answer or "", math.nan)
        for name, answer in answers.items()
        if answer in (PLUS, MINUS, NOT_DETERMINED) or (answer is None and name in moved)
    }
    return Coefficients(answers, responsible)


class _Asked:
    """The coefficients of one question, asked one after the other; what was proved is in ``answers``."""

    def __init__(
        self, signed: SignedRows, proof: Proof, judge: PartitionJudge, weights: list[int], count: int
    ) -> None:
        self.signed, self.proof, self.judge, self.weights = signed, proof, judge, weights
        self.count = count
        self.answers: list[str | None] = [None] * signed.width
        self.everything = np.ones(signed.ids.size, dtype=bool)
        tight = _tight_ids(signed, proof)
        self.tight = np.isin(signed.ids, tight) | (signed.ids >= signed.first_equal)
        self.spanning = tight[: len(proof.multipliers.fine)] if proof.multipliers is not None else tight
        self.basis, self.prime = NO_ROWS, FIRST_PRIME

    def decide(self) -> None:
        """Decide all coefficients. Raises OutOfTime when the deadline comes first."""
        identified = [j for j in modulo_primes(self._identified) if j < self.count]
        if self.proof.status == Separation.OVERLAPPING:
            for j in identified:
                self.answers[j] = FINITE
        elif self.proof.weights is not None:
            modulo_primes(partial(self._still, [j for j in identified if not self.weights[j]]))
            self._moving([j for j in identified if self.weights[j]])

    def _identified(self, prime: int) -> list[int]:
        """Answer for coefficients that are not identified, and return the others. Raises Misled."""
        signed = self.signed
        basis = signed.span_basis(prime)
        if basis.size == signed.width:
            return list(range(signed.width))
        null = self._null_vector(basis, prime)
        if not self.judge.separates(signed.whole_weights(null), signed, self.everything):
            raise Misled
        for j in null:
            self.answers[j] = NOT_IDENTIFIED
        return unit_vectors(signed.integers(basis), prime, signed.deadline)

    def _still(self, columns: list[int], prime: int) -> None:
        """Answer for coefficients that the direction of the certificate does not move. Raises Misled."""
        signed = self.signed
        self.basis, self.prime = signed.independent(self.spanning, prime), prime
        null = self._null_vector(self.basis, prime)
        if any(signed.integers(self.spanning).scores(null)):
            raise Misled
        if not columns:
            return
        finite = set(unit_vectors(signed.integers(self.basis), prime, signed.deadline))
        for j in columns:
            if j in finite:
                self.answers[j] = FINITE
        moved = [j for j in columns if j not in finite and j in null]
        if moved and self._along(null):
            for j in moved:
                self.answers[j] = NOT_DETERMINED

    def _null_vector(self, basis: Ints, prime: int) -> dict[int, int]:
        """Return a random vector that all basis rows are orthogonal to, by coordinate; zeros are left out."""
        mix = np.random.default_rng(0).integers(1, 1 << 20, self.signed.width).astype(np.float64)
        exponents = np.zeros(self.signed.width, dtype=np.int64)
        return self.signed.integers(basis).vanishing_weights(mix, exponents, prime, self.signed.deadline)

    def _along(self, vector: dict[int, int]) -> bool:
        """Whether a large multiple of the certified direction plus a vector is full.

        If so, the vector is orthogonal to all tight rows, and minus the vector does as well.
        """
        size = max(map(abs, vector.values())) // max(map(abs, self.weights)) + 1 << 300
        total = {j: weight * size + vector.get(j, 0) for j, weight in enumerate(self.weights)}
        return self.judge.separates(self.signed.whole_weights(total), self.signed, self.tight)

    def _moving(self, columns: list[int]) -> None:
        """Answer for coefficients that the direction of the certificate moves: forced, or not."""
        problem = Problem(self.signed, (), lambda _: False, ~self.tight, self.basis, self.prime)
        program, open_ones = WorkingProgram(problem), list(columns)
        while open_ones and self._turned(program, open_ones, open_ones, self.signed.deadline):
            pass  # a direction that turns their sum turns some of them
        for j in columns:
            if j in open_ones:
                self.signed.deadline.need()
                share = Deadline.after(self.signed.deadline.left / len(open_ones))
                with suppress(OutOfTime):
                    self._turned(program, [j], open_ones, share)

    def _turned(
        self, program: WorkingProgram, columns: list[int], open_ones: list[int], deadline: Deadline
    ) -> bool:
        """Whether a full direction gives the sum of some coefficients the other sign.

        They are summed in units of their columns. Of the open ones, those that it turns are answered; so is a
        single one that none turns.
        """
        signs = {j: 1 if self.weights[j] > 0 else -1 for j in open_ones}
        exponents = self.signed.exponents[np.array(columns) % self.signed.block].tolist()
        row = {j: (-signs[j], exponent) for j, exponent in zip(columns, exponents, strict=True)}
        signed, judge = self.signed.due(deadline).with_row(row), self.judge.due(deadline)
        low, turned = min(exponents), list[int]()

        def accept(weights: Weights) -> bool:
            whole = _whole(weights, signed)
            if sum(whole[j] * sign << (exponent - low) for j, (sign, exponent) in row.items()) <= 0:
                return False
            turned[:] = [j for j in open_ones if whole[j] * signs[j] < 0]
            return judge.separates(weights, signed, self.tight)

        match _decided(program, replace(program.problem, rows=signed, accept=accept)):
            case Separated():
                for j in turned:
                    self.answers[j] = NOT_DETERMINED
                    open_ones.remove(j)
                return True
            case Inseparable(Combination() as found) if len(columns) == 1 and _proves(found, signed):
                self.answers[columns[0]] = PLUS if signs[columns[0]] > 0 else MINUS
                open_ones.remove(columns[0])
        return False


def _decided(program: WorkingProgram, problem: Problem) -> Attempt:
    """Return the answer of the linear program, or the exact one if rounding hides it."""
    found = program.with_extra(problem)
    return ExactPartition().attempt(problem, Knowledge(found.rows)) if isinstance(found, Learned) else found


def _proves(found: Combination, signed: SignedRows) -> bool:
    """Whether the combination is exactly zero, with a positive multiplier on the extra row."""
    values = dict(zip(found.ids.tolist(), found.values, strict=True))
    if values.get(EXTRA, 0) <= 0 or min(values.values()) < 0:
        return False
    matrix = signed.integers(np.concatenate([found.tight, found.ids])).matrix
    factors = [*found.tight_values, *found.values]
    common = lcm(*(factor.denominator for factor in factors))
    return not any(times(matrix.transpose(), [int(factor * common) for factor in factors]))


def _whole(weights: Weights, signed: SignedRows) -> list[int]:
    """Return exact weights as integers on one scale; of many classes, the last is the reference."""
    ratios = [[value.as_integer_ratio() for value in each] for each in weights]
    scale = max(bottom for each in ratios for _, bottom in each)
    whole = [[top * (scale // bottom) for top, bottom in each] for each in ratios]
    if signed.joint:
        return reduced([v - last for each in whole[:-1] for v, last in zip(each, whole[-1], strict=True)])
    return reduced(whole[0])


def _tight_ids(signed: SignedRows, proof: Proof) -> Ints:
    """Return the signed rows with a multiplier, if there is a direction; those that span them come first."""
    if proof.weights is None or proof.multipliers is None:
        return NO_ROWS
    ids = np.array(proof.multipliers.rows, dtype=np.int64)
    if signed.joint:
        ids = ids * signed.n_classes + np.array(proof.multipliers.rivals, dtype=np.int64)
    return ids
