"""Find the proof: search in floats, repair in rationals, and let the checker have the last word.

The plain question is answered by a linear program on a working set of rows. Where the answer is no,
Gordan's multipliers span a set of rows that no plane can improve on; the same question, asked of the
other rows on the planes through those, adds to the set until what is left is separated (or nothing is
left): Tucker's partition.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import lcm

import numpy as np
from numpy.typing import NDArray

from ..certificates.check import check_claim
from ..certificates.claims import Approximate, Certificate, Multipliers
from ..certificates.monomials import PLAIN
from ..certificates.numbers import Terms, small_sums
from ..certificates.scores import Signs, first_wrong
from ..deadline import NEVER, Deadline, OutOfTime
from ..inputs.data import Data
from ..rank import Misled, undeceived
from .approximate import Near, NearProver
from .exact.linear_systems import IntegerRows, on_basis
from .exact.weights import Weights
from .search import NOTHING, ProveNear, Rational, Search, Witness
from .signed_rows import SignedRows

FEW = 10_000  # numbers of the rows of a proof that are summed within a fraction of a second

# Seconds to find and to check the multiplier of a tight row, and for each of its numbers; measured on 300,000
# rows of 3 and of 30 columns and on 1,000,000 of 3: 1.9e-6 to 4.4e-6 a row. With half as much a deadline may
# be missed by as much; with twice as much, the finer question may be left open where there was time for it.
TIGHT_ROW, TIGHT_NUMBER = 3e-6, 1.5e-7

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Proof:
    """What was proved, ready to be put into a certificate.

    Attributes
    ----------
    status : str
    weights : weight vectors, or None
    multipliers : Multipliers or None
    approximate : Approximate or None
        In their place.
    upper, lower : float or None
        Bounds of the margin from above, by the multipliers of the search, and from below, by its weights.
    """

    status: str
    weights: Weights | None = None
    multipliers: Multipliers | None = None
    approximate: Approximate | None = None
    witness: Witness | None = None
    upper: float | None = None
    lower: float | None = None


# How much is known; a proof of no less takes the place of one.
STRENGTH = {"undecided": 0, "inseparable": 1, "separable": 2, "quasi-separable": 2, "overlapping": 2}


class Judge:
    """The checker, holding the question and the best answer so far: only what it accepts is ever said.

    Whatever it has accepted stays in ``best``, however the search goes on or ends. Raises OutOfTime where
    rows are left to be scored in integers when the deadline has come.
    """

    def __init__(self, question: Certificate, data: Data, deadline: Deadline) -> None:
        self.question, self.data, self.deadline = question, data, deadline
        self.signs = Signs(question, data)
        self.best = Proof("undecided")

    def certificate(self, proof: Proof) -> Certificate:
        """The question with an answer."""
        return replace(
            self.question,
            claim=proof.status,
            weights=proof.weights,
            multipliers=proof.multipliers,
            approximate=proof.approximate,
        )

    def accept(self, proof: Proof) -> bool:
        """Whether an answer is proved; a few rows are checked also when the deadline has come."""
        rows = () if proof.multipliers is None else proof.multipliers.rows
        few = 0 < len(rows) * self.data.matrix.shape[1] <= FEW and proof.weights is None
        pause = NEVER.need if few else self.deadline.need
        if not check_claim(self.certificate(proof), self.data, pause).holds:
            return False
        if STRENGTH[proof.status] >= STRENGTH[self.best.status]:
            self.best = proof
        return True

    def due(self, deadline: Deadline) -> Judge:
        """The same with another deadline."""
        twin = copy(self)
        twin.deadline = deadline
        return twin

    def separates(self, weights: Weights, signed: SignedRows, tight: Mask) -> bool:
        """Whether exact weights separate all signed rows but some, and those lie on the plane."""
        rows, rivals = signed.split(signed.ids[tight])
        on_plane = self.signs.none()
        on_plane[rows, rivals if signed.joint else 0] = True
        return first_wrong(weights, self.signs, on_plane, self.deadline.need) is None


def prove(signed: SignedRows, judge: Judge, *, quasi: bool) -> Proof:
    """Answer the question about some signed rows by the best proof that the judge accepts.

    When their deadline has come, that is the best until then.
    """
    near: ProveNear | None = None
    if judge.question.degrees == PLAIN:  # monomials, which no float may hold, are not proved so
        near = NearProver(
            judge.signs,
            lambda claim, multipliers: judge.accept(_near_proof(signed, claim, multipliers)),
            quasi,
            signed.deadline,
        ).prove
    search = Search(signed, np.ones(signed.ids.size, dtype=bool), NOTHING, near)
    with suppress(OutOfTime):
        _settle(signed, judge, search, quasi)
    if judge.best.witness is not None:
        return judge.best
    return replace(judge.best, upper=search.margin_upper(), lower=search.lower)


def _settle(signed: SignedRows, judge: Judge, search: Search, quasi: bool) -> None:
    """Put one answer after the other before the judge, until nothing is left to ask."""
    pairs = signed.conflicts(signed.width + 1 if quasi else 1)
    if pairs:
        witness = _paired(pairs[:1])
    else:
        found = search.run(lambda weights: judge.accept(Proof("separable", weights=weights)))
        if not isinstance(found, Witness):
            return
        witness = found
    if judge.accept(_plain_proof(signed, witness)) and quasi:
        start = _paired(pairs) if pairs else _with_other_pairs(witness, search)
        undeceived(partial(_partition, signed, start, search.members, witness, judge))


def _plain_proof(signed: SignedRows, witness: Witness) -> Proof:
    multipliers = _multipliers(signed, witness.ids, witness.values)
    return Proof("inseparable", multipliers=multipliers, witness=witness)


def _near_proof(signed: SignedRows, claim: str, near: Approximate) -> Proof:
    ids = np.array(near.rows, dtype=np.int64)
    if signed.joint:
        ids = ids * signed.n_classes + np.array(near.rivals, dtype=np.int64)
    largest = max(near.values)
    whole = [max(1, round(value / largest * 2.0**53)) for value in near.values]
    return Proof(claim, approximate=near, witness=Witness(ids, whole))


def prove_conflict(signed: SignedRows, judge: Judge) -> Proof | None:
    """Two identical rows with different labels: no function of the rows separates them."""
    pairs = signed.conflicts(1)
    if not pairs or not judge.accept(_plain_proof(signed, _paired(pairs))):
        return None
    return judge.best


def _with_other_pairs(witness: Witness, search: Search) -> Witness:
    """A witness together with those of further pairs of classes, which leave less to be asked of all."""
    total = dict(zip(witness.ids.tolist(), witness.values, strict=True))
    while (other := search.between_two()) is not None:
        if isinstance(other, Witness):
            _grow(total, other)
    return Witness(np.array(list(total), dtype=np.int64), list(total.values()))


def _paired(pairs: list[tuple[int, int]]) -> Witness:
    """Identical rows with different labels cancel, one by one."""
    ids = np.unique(np.array(pairs, dtype=np.int64).ravel())
    return Witness(ids, [1] * ids.size)


def _multipliers(signed: SignedRows, ids: Ints, values: Sequence[Rational], n_basis: int = 0) -> Multipliers:
    """Multipliers as a certificate holds them: those that are not whole come first, over one denominator.

    If all are whole, none is called coarse. The first ``n_basis`` rows stay first, whole or not.
    """
    whole = np.array([value.denominator == 1 for value in values], dtype=bool)
    whole[:n_basis] = False
    order = np.argsort(whole, kind="stable").tolist()
    n_fine = whole.size if whole.all() else np.count_nonzero(~whole)
    denominator = lcm(*(values[i].denominator for i in order[:n_fine]))
    coarse = [0] * n_fine + [int(values[i]) for i in order[n_fine:]]
    rows, rivals = signed.split(ids[order])
    return Multipliers(
        rows=tuple(rows.tolist()),
        rivals=tuple(rivals.tolist()) if signed.joint else (),
        coarse=tuple(coarse) if any(coarse) else (),
        fine=tuple(int(values[i] * denominator) for i in order[:n_fine]),
        denominator=denominator,
    )


def _partition(
    signed: SignedRows, start: Witness, known: Ints, witness: Witness, judge: Judge, prime: int
) -> None:
    """Tucker's partition: grow the tight rows until the others are separated on the planes through them.

    ``known`` are rows that were hard to separate, for the first working set; ``witness`` is the one to show.
    Raises Misled where rows are tight modulo the prime that are not tight in fact.
    """
    positive = dict(zip(start.ids.tolist(), start.values, strict=True))
    while True:
        signed.deadline.need()
        basis = signed.independent(np.array(sorted(positive), dtype=np.int64), prime)
        tight = signed.spanned(basis, prime)
        found: Weights | Witness | Near | None = None
        if not tight.all():
            search = Search(signed, ~tight, basis, prime=prime)
            known = known[np.isin(known, signed.ids[~tight])]
            found = search.run(partial(judge.separates, signed=signed, tight=tight), known)
            known = search.members
            if isinstance(found, Witness):
                _grow(positive, found)
                continue
        multipliers = _positive_everywhere(signed, positive, basis, signed.ids[tight], prime)
        if tight.all():
            judge.accept(Proof("overlapping", multipliers=multipliers, witness=witness))
        elif isinstance(found, tuple):
            judge.accept(Proof("quasi-separable", found, multipliers, witness=witness))
        return


def _grow(positive: dict[int, Rational], found: Witness) -> None:
    """Add a witness on the planes through the tight rows, and enough of the old one to keep all positive."""
    added = dict(zip(found.basis.tolist(), found.basis_values, strict=True))
    factor = 1
    for number, value in added.items():
        if value < 0:
            factor = max(factor, -value // positive[number] + 1)
    for number in positive:
        positive[number] = positive[number] * factor + added.get(number, 0)
    for number, value in zip(found.ids.tolist(), found.values, strict=True):
        positive[number] = positive.get(number, 0) + value


def _positive_everywhere(
    signed: SignedRows, positive: dict[int, Rational], basis: Ints, tight: Ints, prime: int
) -> Multipliers:
    """Multiplier 1 on every tight row, corrected on the basis, plus enough of the witness.

    Raises Misled where the tight rows are not spanned by the basis.
    """
    columns = int(signed.data.matrix.shape[1])
    signed.deadline.need(tight.size * (TIGHT_ROW + TIGHT_NUMBER * columns))
    rows = signed.integers(basis)
    target = _minus_sum(signed, tight, rows)
    values, denominator = on_basis(rows, list(range(basis.size)), target[0], prime, signed.deadline)
    denominator *= target[1]
    factor = 0
    for number, value in zip(basis.tolist(), values, strict=True):
        # 1 + value / denominator + factor * positive > 0
        factor = max(factor, (-value - denominator) // (denominator * positive[number]) + 1)
    changes = {number: factor * value for number, value in positive.items()} if factor else {}
    for number, value in zip(basis.tolist(), values, strict=True):
        changes[number] = changes.get(number, 0) + Fraction(value, denominator)
    changed = np.concatenate([basis, np.setdiff1d(list(changes), basis)]).astype(np.int64)
    others = np.setdiff1d(tight, changed, assume_unique=True)
    total = [1 + changes[number] for number in changed.tolist()]
    return _multipliers(signed, np.concatenate([changed, others]), total + [1] * others.size, basis.size)


def _minus_sum(signed: SignedRows, tight: Ints, rows: IntegerRows) -> tuple[list[int], int]:
    """Minus the sum of the tight rows on the grid of some integer rows, times a power of two; and that power.

    Raises Misled where the sum has a column that those rows do not have.
    """
    which, rivals = signed.split(tight)
    labels = signed.labels[which]
    if signed.joint:
        ones = np.ones_like(which)
        terms = Terms(
            np.tile(which, 2),
            np.concatenate([labels, rivals]),
            np.concatenate([ones, -ones]),
            signed.n_classes,
        )
    else:
        terms = Terms(which, np.zeros_like(which), 2 * labels - 1, 1)
    total: dict[int, dict[int, int]] = {}
    sums = small_sums(terms, signed.data.matrix, signed.deadline.need)
    for block in range(signed.n_classes - 1):
        for column, parts in sums[block].items():
            total[block * signed.block + column] = parts
        if signed.lift:
            total[block * signed.block + signed.block - 1] = {0: terms.counts()[block]}
    grid = dict(zip(rows.columns.tolist(), rows.grid, strict=True))
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
