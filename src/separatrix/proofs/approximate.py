"""Proofs from approximate multipliers; `prove` makes those from exact ones.

The interior-point method gives multipliers well above zero on the rows of a proof, and tiny ones on the other
rows. Those are dropped, and with them the columns that no
other row uses. Nothing here is trusted: the checker decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy  # loads linalg when it is used: small questions do without it

from ..certificates import perturbation
from ..certificates.claims import Approximate, Separation
from ..certificates.scores import Signs
from ..deadline import Deadline
from ..rows.protocol import Floats, Ints
from .exact.integer_rows import FIRST_PRIME, SECONDS_PER_NUMBER, modular_product, reduced_echelon, residues

SMALL = 1000  # numerators and denominators of relations between columns that are looked for
# Ratio of pivots below which a column seems to depend on others. Blurred images have 1e-7 and less, although
# no column does; exact multipliers were found sooner than approximate ones of enough digits.
STEEP = 1e-6


@dataclass(frozen=True, eq=False)
class ApproximateProver:
    """Makes proofs of approximate multipliers for one question.

    Attributes
    ----------
    signs : Signs
        The signed rows, as the checker sees them.
    accept : callable
        Whether the checker accepts a claim with approximate multipliers.
    finer : bool
        Whether to claim overlap if the rows span all rows.
    deadline : Deadline
    """

    signs: Signs
    accept: Callable[[Separation, Approximate], bool]
    finer: bool
    deadline: Deadline

    def prove(self, rows: Ints, rivals: Ints, values: Floats) -> bool | None:
        """Prove it with some of these rows, and return whether that is all that was asked; None if refused.

        Raises OutOfTime. If all of the rows are refused, those with less than a millionth of the largest
        multiplier are dropped, which proves MNIST 4-9 as products of neighboring pixels.
        """
        for tolerance in (0.0, 1e-6):
            kept = values > tolerance * values.max()
            if tolerance and kept.all():
                break
            for near in self._candidates(rows[kept], rivals[kept] if rivals.size else rivals, values[kept]):
                claim = Separation.OVERLAPPING if self.finer and self._spans(near) else Separation.INSEPARABLE
                if self.accept(claim, near):
                    return claim == Separation.OVERLAPPING or not self.finer
        return None

    def _candidates(self, rows: Ints, rivals: Ints, values: Floats) -> Iterator[Approximate]:
        """Yield the multipliers without columns that are zero or equal, then without dependent columns.

        Integer columns often depend on others. If they nearly do, the first candidate is skipped. If that
        remains so without the dependent ones, the second is skipped too: exact multipliers are found sooner.
        """
        near = Approximate(tuple(rows.tolist()), tuple(rivals.tolist()), tuple(values.tolist()))
        table, whole = self._table(rows), self.signs.matrix.dtype.kind != "f"
        if table is None:
            return
        near = replace(near, left_out=_plain_relations(table))
        if not self._possible(near):
            return
        if not whole or not self._steep(near):
            yield near
            if whole:
                return
        related = self._related(near, table)
        fewer = len(related.left_out) > len(near.left_out)
        if fewer and self._possible(related) and not (whole and self._steep(related)):
            yield related

    def _table(self, rows: Ints) -> Floats | None:
        width = int(self.signs.matrix.shape[1]) + self.signs.lift
        return perturbation.lifted_rows(self.signs, rows, np.arange(width))

    def _coordinates(self, near: Approximate) -> Ints:
        width = int(self.signs.matrix.shape[1]) + self.signs.lift
        return np.setdiff1d(np.arange(width), [terms[0][0] for terms in near.left_out])

    def _possible(self, near: Approximate) -> bool:
        """Whether there are more rows than coordinates, and there is time for the check."""
        k = len(near.rows)
        p = self._coordinates(near).size * max(1, perturbation.used_classes(near, self.signs).size - 1)
        if k <= p or k * p > perturbation.MAX_NUMBERS:
            return False
        self.deadline.need((5.0 * k * p**2 + 2.0 * p**3) / perturbation.OPERATIONS_PER_SECOND)
        return True

    def _spans(self, near: Approximate) -> bool:
        """Whether the relations hold on every row, and every class occurs in the listed rows."""
        signs = self.signs
        if signs.joint and perturbation.used_classes(near, signs).size < signs.n_classes:
            return False
        return perturbation.wrong_relation(near, signs, signs.order, self.deadline.need) is None

    def _related(self, near: Approximate, table: Floats) -> Approximate:
        """Leave out columns that depend on several others, with small integer coefficients."""
        plain = near.left_out
        absent = {terms[0][0] for terms in plain}
        # the intercept first, so that columns which depend on it are left out and not it
        columns = [c for c in range(table.shape[1] - 1, -1, -1) if c not in absent]
        # A prime that misleads costs this proof: the checker refuses relations that do not hold. Twenty rows
        # more than columns leave no relation to luck.
        count, prime = len(columns) + 20, FIRST_PRIME
        self.deadline.need(SECONDS_PER_NUMBER * min(count, len(table)) * len(columns))
        values = residues(table[:, columns], prime)
        if len(table) > count:
            # Random sums of the rows almost surely have the same relations; some rows alone may have more.
            mix = np.random.default_rng(0).integers(0, prime, (count, len(table)))
            values = modular_product(mix, values, prime)
        echelon, pivots = reduced_echelon(values, prime)
        found = []
        for place in np.setdiff1d(np.arange(len(columns)), pivots).tolist():
            terms = _small_terms(echelon[: pivots.size, place], prime)
            if terms is not None:
                factor, numbers = terms
                others = [(columns[pivots[i]], -n) for i, n in enumerate(numbers) if n]
                found.append(((columns[place], factor), *others))
        return replace(near, left_out=(*_in_terms_of_kept(plain, found), *found))

    def _steep(self, near: Approximate) -> bool:
        """Whether columns seem to depend on others, or nearly do."""
        scaled = perturbation.scale(near, self.signs, self._coordinates(near))
        if isinstance(scaled, str):
            return False
        factor, failed = scipy.linalg.lapack.dpotrf(scaled.rows.T @ scaled.rows)
        sizes = np.abs(factor.diagonal())
        return bool(failed) or float(sizes.min(initial=np.inf)) < STEEP * float(sizes.max(initial=0.0))


def _plain_relations(table: Floats) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Return relations of columns that are zero, or equal to one before them."""
    first: dict[bytes, int] = {}
    found: list[tuple[tuple[int, int], ...]] = []
    for column, values in enumerate(np.ascontiguousarray(table.T) + 0.0):  # minus zero becomes zero
        if not values.any():
            found.append(((column, 1),))
            continue
        before = first.setdefault(values.tobytes(), column)
        if before != column:
            found.append(((column, 1), (before, -1)))
    return tuple(found)


def _in_terms_of_kept(
    plain: tuple[tuple[tuple[int, int], ...], ...], others: list[tuple[tuple[int, int], ...]]
) -> list[tuple[tuple[int, int], ...]]:
    """Return plain relations in terms of columns that the other relations do not leave out."""
    left_out = {terms[0][0]: terms for terms in others}
    found = []
    for terms in plain:
        same = left_out.get(terms[-1][0])
        found.append(terms if same is None else ((terms[0][0], same[0][1]), *same[1:]))
    return found


def _small_terms(residues_of_one: Ints, prime: int) -> tuple[int, list[int]] | None:
    """Return integers n_i and a factor f with ``n_i / f`` equal to residues; None if no small ones exist."""
    factor = 1
    fractions = [_small_fraction(int(v), prime) for v in residues_of_one]
    for each in fractions:
        if each is None:
            return None
        factor = int(np.lcm(factor, each[1]))
        if factor > SMALL:
            return None
    return factor, [each[0] * (factor // each[1]) for each in fractions if each is not None]


def _small_fraction(residue: int, prime: int) -> tuple[int, int] | None:
    """Return the fraction of small numbers with a residue, by Euclid's extended algorithm (Wang 1981)."""
    r0, r1, t0, t1 = prime, residue, 0, 1
    while abs(r1) > SMALL:
        quotient = r0 // r1
        r0, r1, t0, t1 = r1, r0 - quotient * r1, t1, t0 - quotient * t1
    if not 0 < abs(t1) <= SMALL:
        return None
    return (r1, t1) if t1 > 0 else (-r1, -t1)
