"""The plain question: a working set, a linear program on it, and an answer made exact.

Searches in floats and repairs in rationals. What it returns is a candidate until the checker accepts it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..deadline import Deadline, OutOfTime
from ..errors import NumericOverflowError
from ..margins.lp.cone_program import ConeProgram
from ..margins.lp.interior_point import solve_interior
from ..margins.optimum import HardOptimum, Outcome
from ..rank import FIRST_PRIME, undeceived
from ..result import Result
from ..rows.memory import MemoryRows
from ..rows.protocol import Rows
from .approximate import Near
from .exact import simplex
from .exact.integer_matrix import with_negatives
from .exact.linear_systems import combination, exact_scores, reduced
from .exact.partition import NUMBERS, exact_partition
from .exact.simplex import Answer
from .exact.weights import Weights, exact_vectors, moved_back, null_weights, relative_floats
from .signed_rows import EXTRA, SignedRows, confused_pairs
from .strategies.corrected_multipliers import polished
from .strategies.positive import positive_combination
from .strategies.sparse_elimination import frequent_parts, left_over
from .strategies.tight_planes import ReducedRows, reduced_rows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Rational = int | Fraction
ProveNear = Callable[[Ints, Ints, Floats], Near | None]

POSITIVE = 1e-8  # a margin of the linear program above this is worth a scan
WIDE = 5000  # from here on the perceptron is worth more work, as the linear program costs most
MANY = 700  # sparse columns from which on the shortest combination of rows is sought first
DENSE = 200  # dense ones
NEWTON_STEPS = 60  # that it may take with sparse rows; dense ones have a share of the time instead
SHORTEST_SHARE = 0.7  # of the time left, which the shortest combination of dense rows may take
ANY_MARGIN = 0.5  # relative gap at which a separator is as good as the best
# Rows a column that it is sought among first, where there are twice as many. Random labels need a bit more
# than two; with twice as many rows a system takes twice as long, with half as many another round is needed.
A_COLUMN = 3
PASSES = 30  # of the perceptron that picks the first working set
WIDE_PASSES = 300  # of the perceptron on planes, where the linear program would cost most
NEARLY = 1e-6  # of the margin: scores below are not trusted to be positive
FIRST = 1000  # rows that a working set starts with, or grows by, at most
ROUNDS = 200
FREQUENT = (250, 500, 1000, 2000, 4000)  # columns of parts of sparse rows that are asked first
CROWDED = 1.5  # rows a column that such a part has to have
PART_SHARE = 0.2  # of the time left that it may take
PAIR_SHARE = 0.1  # of the time left that a question about two of many classes may take

NOTHING: Ints = np.zeros(0, dtype=np.int64)


# These load the compiled loops, which small questions do without: they are imported when they are called.
def solve_perceptron(rows: Rows, **options: Any) -> Result:
    """See `perceptron.orders`."""
    from ..perceptron import orders

    return orders.solve_perceptron(rows, **options)


def solve_max_margin(rows: Rows, **options: Any) -> HardOptimum:
    """See `margins.max_margin`."""
    from ..margins.hard import max_margin

    return max_margin.solve_max_margin(rows, **options)


@dataclass(frozen=True, eq=False)
class Witness:
    """Multipliers that no w survives: positive on ``ids``, of any sign on the tight rows ``basis``."""

    ids: Ints
    values: Sequence[Rational]
    basis: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    basis_values: Sequence[Rational] = field(default_factory=list)


class Search:
    """The plain question for the rows of a mask, with weights on the planes through the basis rows.

    These are independent modulo the prime.
    """

    def __init__(
        self,
        signed: SignedRows,
        among: Mask,
        basis: Ints,
        prove_near: ProveNear | None = None,
        prime: int = FIRST_PRIME,
    ) -> None:
        self.signed, self.among, self.basis, self.deadline = signed, among, basis, signed.deadline
        self.prove_near, self.prime = prove_near, prime
        self.near: Near | None = None
        self.members: Ints = np.zeros(0, dtype=np.int64)
        self.upper: float | None = None
        self.lower: float | None = None
        self.duals: Floats | None = None
        self.confused: list[tuple[int, int]] = []
        self.group = np.arange(signed.n_classes)

    @cached_property
    def program(self) -> ConeProgram:
        """The linear program on the working set, made when it is first needed: most verdicts do without."""
        program = ConeProgram(self.signed.width)
        if self.basis.size:
            program.add(self.signed.floats(self.basis), tight=True)
        return program

    def run(
        self, accept: Callable[[Weights], bool], start: Ints = NOTHING
    ) -> Weights | Witness | Near | None:
        """Weights that the checker accepts, or a witness that there are none; None where rounding hid both.

        Raises OutOfTime when the deadline comes first. A proof by approximate multipliers is returned where
        it says all that is asked, or where nothing more is to be expected; else it is kept in ``near``.
        """
        signed = self.signed
        if signed.small:
            self._add(signed.ids[self.among])
        elif self.among.all():
            weights = self._perceptron()
            if weights is not None and accept(weights):
                return weights
            self.lower = None
            found = (
                self.between_two() or self._of_leftover(accept) or self._central(accept) or self._shortest()
            )
            if isinstance(found, Witness | Near) or (found is not None and accept(found)):
                return found
        else:
            for weights in self._perceptron_on_planes():
                if accept(weights):
                    return weights
            self._add(np.setdiff1d(start, self.members))
            if not self.members.size:
                self._add(self._spread(min(signed.width + 100, FIRST)))
        return self._by_linear_program(accept)

    def with_one_more(
        self, signed: SignedRows, accept: Callable[[Weights], bool]
    ) -> Weights | Witness | None:
        """The same question with one row more (`SignedRows.with_row`), and then with another in its place.

        Each starts from what the last has learnt. Raises OutOfTime when the deadline comes first.
        """
        self.signed, self.deadline, extra = signed, signed.deadline, np.array([EXTRA])
        if self.members.size:
            row = signed.floats(extra)
            self.program.change(self.basis.size, (row if signed.small else row.toarray())[0])
        else:
            few = signed.width + 100
            self._add(np.append(extra, signed.ids[self.among] if signed.small else self._spread(few)))
        return self._by_linear_program(accept)

    def _by_linear_program(self, accept: Callable[[Weights], bool]) -> Weights | Witness | None:
        """Weights or a witness from a linear program on the working set, which grows by violated rows."""
        signed = self.signed
        step = min(max(200, signed.width // 2), FIRST)
        for _ in range(ROUNDS):
            self.deadline.need()
            best = self.program.solve(self.deadline)
            if best.outcome is not Outcome.REACHED:
                break
            duals = np.abs(best.duals[self.basis.size :])
            if best.margin > POSITIVE:
                self.duals = duals
                ids, scores = signed.lowest(best.weights, step, self.among)
                if scores[0] > 0:
                    for weights in self._on_planes(best.weights):
                        if accept(weights):
                            return weights
                # A score so small may be a zero that was rounded: such rows belong into the working set.
                low = ids[scores <= NEARLY * best.margin]
                if not np.setdiff1d(low, self.members).size:
                    break
                self._add(np.setdiff1d(ids, self.members))
                continue
            witness = self._witness(duals)
            if witness is not None:
                return witness
            break
        return self._exactly(accept)

    def margin_upper(self) -> float | None:
        """A bound of the margin from above, by the multipliers of the perceptron or of the linear program."""
        if self.upper is not None or self.duals is None:
            return self.upper
        return self.signed.margin_upper(self.members[: self.duals.size], self.duals)

    def _exactly(self, accept: Callable[[Weights], bool]) -> Weights | Witness | None:
        """Rounding hides the answer: ask for an exact one about all rows, or about some if they are many.

        The working set grows as before, by rows that exact weights do not separate.
        """
        signed = self.signed
        if np.count_nonzero(self.among) * signed.width <= NUMBERS:
            self.members = np.append(self.members, np.setdiff1d(signed.ids[self.among], self.members))
        for _ in range(ROUNDS):
            self.deadline.need()
            answer = self._answer(np.concatenate([self.basis, self.members]))
            if answer is None:
                return None
            if answer.multipliers is not None:
                n_tight = self.basis.size
                values = answer.multipliers
                used = [i for i in range(n_tight, len(values)) if values[i]]
                return Witness(
                    self.members[np.array(used) - n_tight],
                    [values[i] for i in used],
                    self.basis,
                    values[:n_tight],
                )
            assert answer.weights is not None
            weights = self.signed.whole_weights(answer.weights)
            if accept(weights):
                return weights
            fresh = self._violated(answer.weights)
            if not fresh.size:
                return None
            self.members = np.append(self.members, fresh)
        return None

    def _answer(self, ids: Ints) -> Answer | None:
        """Tucker's partition of the rows on the planes through the basis rows, which come first.

        Weights vanish on these if they are there twice, with both signs. Where the numbers of one row are
        hundreds of powers of two apart, floats may not find the partition: 12 of 1,200 such questions at
        random. Those are left to the simplex method in integers, if they are small.
        """
        rows, powers, columns = self.signed.integer_matrix(ids)
        found = exact_partition(with_negatives(rows, self.basis.size), self.deadline)
        if found is None:
            return simplex.decide(self.signed.integers(ids), self.basis.size, self.deadline)
        values: list[int | Fraction] = [0] * ids.size
        for i, value in zip(found.tight.tolist(), found.multipliers(), strict=True):
            values[i % ids.size] += value if i < ids.size else -value
        if any(values[self.basis.size :]):
            return Answer(multipliers=values)
        shifts = (powers.max(initial=0) - powers).tolist()
        exact = [value << shift for value, shift in zip(found.weights, shifts, strict=True)]
        return Answer(weights=dict(zip(columns.tolist(), reduced(exact), strict=True)))

    def _violated(self, weights: dict[int, int]) -> Ints:
        """Rows outside the working set that exact weights do not separate."""
        ids = self.signed.ids[self.among]
        outside = np.setdiff1d(ids, self.members)
        found = []
        for start in range(0, outside.size, 1000):
            part = outside[start : start + 1000]
            scores = exact_scores(self.signed.integers(part), weights)
            found += [number for number, score in zip(part.tolist(), scores, strict=True) if score <= 0]
            if len(found) >= 200:
                break
        return np.array(found, dtype=np.int64)

    def _perceptron(self) -> Weights | None:
        """A short run of the perceptron: a separator if that is easy, else the rows that it stumbles over."""
        signed = self.signed
        try:
            in_turn = "cyclic" if isinstance(signed.rows, MemoryRows) else "mixed"
            order = in_turn if signed.width <= WIDE else "working_set"
            result = solve_perceptron(signed.rows, order=order, max_iter=PASSES, deadline=self.deadline)
        except NumericOverflowError:
            self._add(self._spread(signed.width + 100))
            return None
        if result.errors == 0 and np.isfinite(result.weights).all():
            if not signed.copied and result.mixed_counts is None:
                # After t corrections the weights are at most sqrt(t) R long, and each rounds them once.
                self.upper = result.margin_upper + signed.rounding(2.0 * math.sqrt(result.mistakes))
                self.lower = result.margin_lower - signed.rounding(0.0)
            return self._exact_weights(result.weights)
        self._add(np.sort(signed.most_corrected(result.counts, 2 * signed.width + 100)))
        self.confused = confused_pairs(signed.labels, result.counts) if signed.joint else []
        return None

    def between_two(self) -> Witness | Near | None:
        """A witness that two of the classes cannot be separated from each other, so that all cannot.

        The pair confused most often is asked, then the next, until one gives an answer: with many classes
        such questions are smaller by far. A plane between two is the difference of their weights, so the
        multipliers of their rows serve the joint question as they are. Two classes that earlier witnesses
        tie, directly or through other classes, are not asked about again.
        """
        signed = self.signed
        while self.confused and not self.deadline.passed:
            a, b = self.confused.pop(0)
            if self.group[a] == self.group[b]:
                continue
            share = Deadline.after(PAIR_SHARE * self.deadline.left)
            inside = signed.inside & np.isin(signed.labels, (a, b))
            two = SignedRows(signed.data, b, inside, signed.lift, share)
            among = np.ones(two.ids.size, dtype=bool)
            search = Search(two, among, NOTHING, self._near_of_two(a, b))
            try:
                found = search.run(lambda _: True)  # any separator will do
            except OutOfTime:
                found = search.near
            if isinstance(found, Near):
                return found
            if isinstance(found, Witness):
                self.group[self.group == self.group[b]] = self.group[a]
                rivals = np.where(signed.labels[found.ids] == a, b, a)
                return Witness(found.ids * signed.n_classes + rivals, found.values)
        return None

    def _near_of_two(self, a: int, b: int) -> ProveNear | None:
        """What proves the joint question by approximate multipliers of rows of two classes."""
        prove, labels = self.prove_near, self.signed.labels
        if prove is None:
            return None
        return lambda rows, _, values: prove(rows, np.where(labels[rows] == a, b, a), values)

    def _of_leftover(self, accept: Callable[[Weights], bool]) -> Weights | Witness | Near | None:
        """The same question about the rows that no column of one sign settles, where rows are sparse.

        Parts of them in frequent columns come first: their proofs are short.
        """
        signed = self.signed
        if signed.joint or signed.copied or not signed.rows.sparse or signed.width <= MANY:
            return None
        if not isinstance(signed.rows, MemoryRows):
            return None
        rows = signed.column_scaled(signed.ids)
        rest = left_over(rows, self.deadline)

        def extended(weights: Floats) -> Weights | None:
            found = rest.extended(weights, self.deadline)
            return None if found is None else next(self._on_planes(found))

        if not rest.places.size:
            return extended(np.zeros(signed.width))
        ids = signed.ids[rest.places]
        for places in frequent_parts(rows[rest.places], FREQUENT, CROWDED):
            witness = self._witness_among(ids[places])
            if witness is not None:
                return witness
        if ids.size == signed.ids.size:
            return None

        def for_all(weights: Weights) -> Weights | None:
            return extended(np.ldexp(relative_floats(weights[0]), signed.exponents))

        def accept_for_all(weights: Weights) -> bool:
            found = for_all(weights)
            return found is not None and accept(found)

        found = _all_of(signed.part(ids, self.deadline)).run(accept_for_all)
        return for_all(found) if isinstance(found, tuple) else found

    def _witness_among(self, ids: Ints) -> Witness | None:
        """A witness among some rows, if there is one and it is found soon."""
        share = Deadline.after(PART_SHARE * self.deadline.left)
        try:
            found = _all_of(self.signed.part(ids, share)).run(lambda _: True)  # any separator will do
        except OutOfTime:
            return None
        return found if isinstance(found, Witness) else None

    def _shortest(self) -> Weights | Witness | Near | None:
        """Weights or a witness from the shortest combination of rows: with many columns, soonest.

        The multipliers of one that vanishes are positive on more rows than there are columns. They are near
        exact ones, which the checker can prove as it stands. To have them exactly, the rows with the largest
        are solved for; the others keep theirs but for rounding, so that all stay positive.
        """
        signed, dense = self.signed, not self.signed.rows.sparse
        short = not dense and signed.ids.size < signed.width  # then a separator is to be expected
        if signed.joint or not (DENSE if dense else MANY) < signed.width <= (math.inf if short else WIDE):
            return None
        if self.prove_near is None and self.signed.seconds_to_solve() >= self.deadline.left:
            return None
        found = (
            self._shortest_of_few() if dense else self._shortest_of(signed.ids, self.deadline, NEWTON_STEPS)
        )
        if found.margin_lower > 0.0:
            if not signed.copied:
                self.upper = found.margin_upper + signed.rounding(float(found.rows.size))
            return self._exact_weights(found.weights)
        if found.outcome is not Outcome.NOT_SEPARABLE:
            return None
        if signed.width > WIDE:
            return None  # its proof would take a table of all columns
        return self._combination_of(found.rows, found.multipliers)

    def _combination_of(self, ids: Ints, values: Floats, *, even: bool = False) -> Witness | Near | None:
        """A proof by multipliers of a combination that vanishes, as far as floats tell.

        They are corrected first, unless they are ``even``: all of them nearly right.
        """
        used = np.isfinite(values) & (values > 0.0)
        if not used.any():
            return None
        ids, values = ids[used], values[used]
        if not even:
            fitting = polished(self.signed.column_scaled(ids), values, self.deadline)
            ids, values = (ids, values) if fitting is None else (ids[fitting[0]], fitting[1])
        order = np.argsort(-values, kind="stable")
        ids, values = ids[order], values[order]
        affordable = self.signed.seconds_to_solve() < self.deadline.left
        if self.prove_near is not None and self.signed.width <= WIDE:
            self.near = self.prove_near(ids, NOTHING, values)
            if self.near is not None and (not affordable or self.near.complete):
                return self.near
        if not affordable:
            return self.near
        return self._exact_witness(ids, values) or self.near

    def _central(self, accept: Callable[[Weights], bool]) -> Weights | Witness | Near | None:
        """Weights or a witness of dense rows by the interior-point method, on a working set that grows.

        The perceptron's hardest rows come first; where those are separated, rows join that the weights get
        wrong. None where rounding hides both.
        """
        signed, width = self.signed, self.signed.n_used
        if signed.joint or not DENSE < width <= WIDE:
            return None
        if signed.ids.size <= width:
            return None  # its systems have the size of the columns: with fewer rows others are quicker
        size = A_COLUMN * width
        few = np.union1d(self.members, self._spread(max(0, size - self.members.size)))
        for _ in range(ROUNDS):
            given = signed.few_floats(few)
            found = solve_interior(given.rows, self.deadline)
            if found.outcome is Outcome.NOT_SEPARABLE:
                tight = found.tight
                values = (found.multipliers * given.scales)[tight]
                return self._combination_of(few[tight], values, even=found.even)
            if found.outcome is not Outcome.REACHED:
                return None
            weights = np.zeros(signed.width)
            weights[given.live] = found.weights * given.factors
            far = given.moves.any()
            exact = moved_back(weights, given.moves, signed.exponents) if far else None
            if far:
                weights[-1] -= float(weights[:-1] @ given.moves)
            ids, scores = signed.lowest(weights, width, self.among)
            fresh = np.setdiff1d(ids, few)
            if scores[0] > 0.0 or (far and not fresh.size):
                self.upper = None if far else signed.margin_upper(few, found.multipliers)
                for each in [exact] if exact is not None else self._on_planes(weights):
                    if accept(each):
                        return each
            if not fresh.size:
                return None
            few = np.union1d(few, fresh)
        return None

    def _shortest_of_few(self) -> HardOptimum:
        """The shortest combination of a working set, which grows by rows that its weights get wrong.

        If that of a few rows vanishes, so does that of all; and weights that separate all rows are as good.
        """
        signed = self.signed
        deadline = Deadline.after(SHORTEST_SHARE * self.deadline.left)
        size = A_COLUMN * signed.width
        few = np.union1d(self.members[:size], self._spread(size))
        while 2 * few.size < signed.ids.size:
            found = self._shortest_of(few, deadline)
            if not found.margin_lower > 0.0:
                return found
            lowest = signed.rows.scan(found.weights, size)
            if lowest.scores[0] > 0.0:
                return found
            few = np.union1d(few, lowest.rows)
        return self._shortest_of(signed.ids, deadline)

    def _shortest_of(self, ids: Ints, deadline: Deadline, max_iter: int = 10_000) -> HardOptimum:
        rows = self.signed.rows
        if ids.size == self.signed.ids.size:
            return solve_max_margin(rows, gap=ANY_MARGIN, max_iter=max_iter, deadline=deadline)
        found = solve_max_margin(rows.take(ids), gap=ANY_MARGIN, max_iter=max_iter, deadline=deadline)
        return replace(found, rows=ids[found.rows])

    def _exact_weights(self, weights: Floats) -> Weights:
        """Weights that were found on the rows in memory, for the rows as given."""
        signed = self.signed
        powers = -signed.exponents if signed.copied else np.zeros_like(signed.exponents)
        return exact_vectors(np.atleast_2d(weights), powers)

    def _perceptron_on_planes(self) -> Iterator[Weights]:
        """The same on the planes through the basis rows, where there are many columns and few planes."""
        wide = self.signed.width > WIDE
        reduced: ReducedRows | None = reduced_rows(self.signed, self.basis, self.among) if wide else None
        if reduced is None:
            return
        try:
            result = solve_perceptron(
                reduced.rows, order="working_set", max_iter=WIDE_PASSES, deadline=self.deadline
            )
        except NumericOverflowError:
            return
        if result.errors == 0:
            guide = np.ldexp(reduced.full_weights(result.weights), self.signed.exponents)
            if np.isfinite(guide).all() and guide.any():
                yield from self._on_planes(guide / np.abs(guide).max())
        self._add(np.sort(self.signed.most_corrected(result.counts, FIRST)))

    def _spread(self, size: int) -> Ints:
        ids = self.signed.ids[self.among]
        return np.sort(np.random.default_rng(0).permutation(ids)[:size])

    def _add(self, ids: Ints) -> None:
        if ids.size:
            self.program.add(self.signed.floats(ids))
            self.members = np.concatenate([self.members, ids])

    def _witness(self, duals: Floats) -> Witness | None:
        """Gordan's multipliers, exactly, on the support of the dual values."""
        order = np.argsort(-duals, kind="stable")
        largest = duals[order[0]] if order.size else 0.0
        if not largest > 0:
            return None
        tried = 0
        for tolerance in (1e-11, 1e-9, 1e-7, 1e-14):
            support = order[: int((duals[order] > tolerance * largest).sum())]
            if support.size == tried:
                continue
            tried = support.size
            witness = self._exact_witness(self.members[support], duals[support])
            if witness is not None:
                return witness
        return None

    def _exact_witness(self, ids: Ints, duals: Floats) -> Witness | None:
        """Exact multipliers near the dual values of some rows, given from the largest to the smallest."""
        n_tight = self.basis.size
        rows = self.signed.integers(np.concatenate([self.basis, ids]))
        # the smallest keeps ten bits, or else one that rounding made too large would turn others negative
        bits = 30 + max(0, math.ceil(math.log2(duals[0] / duals[duals > 0.0].min())) - 20)
        fixed = {
            n_tight + i: max(1, round(Fraction(value / duals[0]) * 2**bits)) for i, value in enumerate(duals)
        }

        def attempt(prime: int) -> Witness | None:
            values = combination(rows, fixed, prime, self.deadline)
            if values is None:
                return None
            if min(values[n_tight:]) < 0 and not n_tight:
                values = positive_combination(rows, duals, prime, self.deadline) or values
            own = values[n_tight:]
            if not min(own) >= 0 < max(own):
                return None
            used = [i for i, value in enumerate(own) if value]
            return Witness(ids[used], [own[i] for i in used], self.basis, values[:n_tight])

        return undeceived(attempt)

    def _on_planes(self, weights: Floats) -> Iterator[Weights]:
        """Exact weights near these, exactly on the planes through the basis rows."""
        signed = self.signed
        if not self.basis.size:
            found = exact_vectors(weights.reshape(-1, signed.block), -signed.exponents)
            yield (*found, (0.0,) * signed.block) if signed.joint else found
            return
        rows = signed.integers(self.basis)
        for clean in (1e-7, 0.0):
            guide = np.where(np.abs(weights) > clean, weights, 0.0)
            exact = null_weights(rows, guide, self._exponents(), self.prime, self.deadline)
            if any(exact.values()):
                yield signed.whole_weights(exact)

    def _exponents(self) -> Ints:
        return np.tile(self.signed.exponents, self.signed.n_classes - 1)


def _all_of(signed: SignedRows) -> Search:
    """The plain question for all rows, with exact proofs."""
    return Search(signed, np.ones(signed.ids.size, dtype=bool), NOTHING)
