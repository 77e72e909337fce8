"""Find the proof: search in floats, repair in rationals, and let the checker have the last word.

The plain question is answered by a linear program on a working set of rows. Where the answer is no,
Gordan's multipliers span a set of rows that no plane can improve on; the same question, asked of the
other rows on the planes through those, adds to the set until what is left is separated (or nothing is
left): Tucker's partition.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..certificates.check import check_claim
from ..certificates.claims import Approximate, Certificate, Multipliers
from ..certificates.monomials import PLAIN
from ..certificates.numbers import Terms, small_sums
from ..certificates.scores import Signs, first_wrong
from ..deadline import NEVER, Deadline, OutOfTime
from ..inputs.data import Data
from .exact import PRIMES, IntegerRows, on_basis
from .exact_weights import Weights
from .near import Near, NearProver
from .search import NOTHING, ProveNear, Search, Witness
from .signed import SignedRows

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


class Judge:
    """The checker, holding the question: only what it accepts is ever said.

    Raises OutOfTime where rows are left to be scored in integers when the deadline has come.
    """

    def __init__(self, question: Certificate, data: Data, deadline: Deadline) -> None:
        self.question, self.data, self.deadline = question, data, deadline
        self.signs = Signs(question, data)

    def certificate(
        self,
        claim: str,
        weights: Weights | None,
        multipliers: Multipliers | None,
        approximate: Approximate | None = None,
    ) -> Certificate:
        """The question with an answer."""
        return replace(
            self.question, claim=claim, weights=weights, multipliers=multipliers, approximate=approximate
        )

    def accept(self, claim: str, weights: Weights | None, multipliers: Multipliers | None) -> bool:
        """Whether the answer is proved; a few rows are checked also when the deadline has come."""
        few = multipliers is not None and len(multipliers.rows) * self.data.matrix.shape[1] <= FEW
        pause = NEVER.need if few and weights is None else self.deadline.need
        return check_claim(self.certificate(claim, weights, multipliers), self.data, pause).holds

    def accept_near(self, claim: str, near: Approximate) -> bool:
        """Whether the answer is proved by approximate multipliers."""
        return check_claim(self.certificate(claim, None, None, near), self.data, self.deadline.need).holds

    def separates(self, weights: Weights, signed: SignedRows, tight: Mask) -> bool:
        """Whether exact weights separate all signed rows but some, and those lie on the plane."""
        rows, rivals = signed.split(signed.ids[tight])
        on_plane = self.signs.none()
        on_plane[rows, rivals if signed.joint else 0] = True
        return first_wrong(weights, self.signs, on_plane, self.deadline.need) is None


def prove(signed: SignedRows, judge: Judge, *, quasi: bool) -> Proof:
    """Answer the question about some signed rows; only what the judge accepts is returned.

    When their deadline has come, that is what was proved until then.
    """
    everything = np.ones(signed.ids.size, dtype=bool)
    pairs = signed.conflicts(signed.width + 1 if quasi else 1)
    near: ProveNear | None = None
    if judge.question.degrees == PLAIN:  # monomials, which no float may hold, are not proved so
        near = NearProver(judge.signs, judge.accept_near, quasi, signed.deadline).prove
    search = Search(signed, everything, NOTHING, near)
    if pairs:
        witness = _paired(pairs[:1])
    else:
        try:
            found = search.run(lambda weights: judge.accept("separable", weights, None))
        except OutOfTime:
            found = None
        found = search.near if found is None else found
        if isinstance(found, Near):
            return _near_proof(signed, found)
        if not isinstance(found, Witness):
            upper, status = search.margin_upper(), "undecided" if found is None else "separable"
            return Proof(status, weights=found, upper=upper, lower=search.lower)
        witness = found
    plain = _multipliers(signed, witness.ids, witness.values)
    try:
        accepted = judge.accept("inseparable", None, plain)
    except OutOfTime:
        accepted = False
    if not accepted:
        return Proof("undecided")
    if not quasi:
        return Proof("inseparable", multipliers=plain, witness=witness)
    start = _paired(pairs) if pairs else _with_other_pairs(witness, search)
    try:
        finer = _partition(signed, start, search.members, judge)
    except OutOfTime:
        finer = None
    if finer is None:
        return Proof("inseparable", multipliers=plain, witness=witness)  # proved, whatever the finer answer
    return replace(finer, witness=witness)


def _near_proof(signed: SignedRows, near: Near) -> Proof:
    m = near.multipliers
    ids = np.array(m.rows, dtype=np.int64)
    if signed.joint:
        ids = ids * signed.n_classes + np.array(m.rivals, dtype=np.int64)
    largest = max(m.values)
    whole = [max(1, round(value / largest * 2.0**53)) for value in m.values]
    return Proof(near.claim, approximate=m, witness=Witness(ids, whole))


def prove_conflict(signed: SignedRows, judge: Judge) -> Proof | None:
    """Two identical rows with different labels: no function of the rows separates them."""
    pairs = signed.conflicts(1)
    if not pairs:
        return None
    witness = _paired(pairs)
    multipliers = _multipliers(signed, witness.ids, witness.values)
    if not judge.accept("inseparable", None, multipliers):
        return None
    return Proof("inseparable", multipliers=multipliers, witness=witness)


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


def _multipliers(signed: SignedRows, ids: Ints, fine: list[int]) -> Multipliers:
    rows, rivals = signed.split(ids)
    return Multipliers(
        rows=tuple(rows.tolist()),
        rivals=tuple(rivals.tolist()) if signed.joint else (),
        fine=tuple(fine),
    )


def _partition(signed: SignedRows, witness: Witness, known: Ints, judge: Judge) -> Proof | None:
    """Tucker's partition: grow the tight rows until the others are separated on the planes through them.

    ``known`` are rows that were hard to separate, for the first working set.
    """
    positive = dict(zip(witness.ids.tolist(), witness.values, strict=True))
    while True:
        signed.deadline.need()
        basis = signed.independent(np.array(sorted(positive), dtype=np.int64))
        tight = signed.spanned(basis)
        weights: Weights | None = None
        if not tight.all():
            search = Search(signed, ~tight, basis)
            known = known[np.isin(known, signed.ids[~tight])]
            found = search.run(partial(judge.separates, signed=signed, tight=tight), known)
            known = search.members
            if found is None or isinstance(found, Near):
                return None
            if isinstance(found, Witness):
                _grow(positive, found)
                continue
            weights = found
        multipliers = _positive_everywhere(signed, positive, basis, signed.ids[tight])
        if multipliers is None:
            return None
        status = "overlapping" if weights is None else "quasi-separable"
        if not judge.accept(status, weights, multipliers):
            return None
        return Proof(status, weights=weights, multipliers=multipliers, witness=witness)


def _grow(positive: dict[int, int], found: Witness) -> None:
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
    signed: SignedRows, positive: dict[int, int], basis: Ints, tight: Ints
) -> Multipliers | None:
    """Multiplier 1 on every tight row, corrected on the basis, plus enough of the witness."""
    columns = int(signed.data.matrix.shape[1])
    signed.deadline.need(tight.size * (TIGHT_ROW + TIGHT_NUMBER * columns))
    members = np.array(sorted(positive), dtype=np.int64)
    others = np.setdiff1d(tight, members, assume_unique=True)
    order = np.concatenate([basis, np.setdiff1d(members, basis, assume_unique=True), others])
    rows = signed.integers(basis)
    target = _minus_sum(signed, tight, rows)
    if target is None:
        return None
    found = on_basis(rows, list(range(basis.size)), target[0], PRIMES[0], signed.deadline)
    if found is None:
        return None
    values, denominator = found[0], found[1] * target[1]
    factor = 0
    for number, value in zip(basis.tolist(), values, strict=True):
        # 1 + value / denominator + factor * positive > 0
        factor = max(factor, (-value - denominator) // (denominator * positive[number]) + 1)
    if factor:
        scale = factor * denominator
        fine = [
            value + scale * positive[number] for number, value in zip(basis.tolist(), values, strict=True)
        ]
        fine += [scale * positive[number] for number in order[basis.size : members.size].tolist()]
    else:
        fine = values
    which, rivals = signed.split(order)
    return Multipliers(
        rows=tuple(which.tolist()),
        rivals=tuple(rivals.tolist()) if signed.joint else (),
        coarse=(1,) * order.size,
        fine=tuple(fine),
        denominator=denominator,
    )


def _minus_sum(signed: SignedRows, tight: Ints, rows: IntegerRows) -> tuple[list[int], int] | None:
    """Minus the sum of the tight rows on the grid of some integer rows, times a power of two; and that power.

    None where the sum has a column that those rows do not have.
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
                return None
            target[column] = (-value, low - grid[column])
    room = max([0, *(-shift for _, shift in target.values())])
    scaled = {column: value << (shift + room) for column, (value, shift) in target.items()}
    return [scaled.get(c, 0) for c in rows.columns.tolist()], 1 << room
