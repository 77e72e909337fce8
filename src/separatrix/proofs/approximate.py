"""From floats near multipliers to a proof; apart from `prove`, as it works in floats, and knows no search.

The shortest combination of signed rows, where it vanishes, has multipliers well above zero on the rows of a
witness and tiny ones on rows that are not part of it. Those are dropped, and with them the columns that no
other row uses. Nothing here is trusted: what the checker refuses is corrected or given up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy  # loads linalg when it is used: small questions do without it
from numpy.typing import NDArray

from ..certificates import nearby
from ..certificates.claims import Approximate
from ..certificates.scores import Signs
from ..deadline import Deadline
from .exact.residues import ELIMINATED, FIRST_PRIME, modular_product, reduced_echelon, residues
from .problem import ApproximateProof

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

OPERATIONS_A_SECOND = 1e10  # of matrix products; twice as many on two idle cores
SMALL = 1000  # numerators and denominators of relations between columns that are looked for
# Ratio of pivots below which a column seems to depend on others. Blurred images have 1e-7 and less where
# nothing depends; their proofs took three corrections and the slower inverse, longer than exact multipliers.
STEEP = 1e-6


@dataclass(frozen=True, eq=False)
class ApproximateProver:
    """Makes proofs of approximate multipliers for one question.

    Attributes
    ----------
    signs : Signs
        The signed rows, as the checker sees them.
    accept : callable
        Whether the checker accepts a claim with such multipliers.
    finer : bool
        Whether to claim overlap where the rows span all.
    deadline : Deadline
    """

    signs: Signs
    accept: Callable[[str, Approximate], bool]
    finer: bool
    deadline: Deadline

    def prove(self, rows: Ints, rivals: Ints, values: Floats) -> ApproximateProof | None:
        """A proof by some of these rows, or None. Raises OutOfTime when the deadline comes first.

        If all of them are refused, those with less than a millionth of the largest multiplier are dropped:
        MNIST 4-9 as products of neighboring pixels is proved so.
        """
        for tolerance in (0.0, 1e-6):
            kept = values > tolerance * values.max()
            if tolerance and kept.all():
                break
            start = self._without_dependent(rows[kept], rivals[kept] if rivals.size else rivals, values[kept])
            for near in () if start is None else self._versions(start):
                claim = "overlapping" if self.finer and self._spans(near) else "inseparable"
                if self.accept(claim, near):
                    return ApproximateProof(near, claim == "overlapping" or not self.finer)
        return None

    def _without_dependent(self, rows: Ints, rivals: Ints, values: Floats) -> Approximate | None:
        """The multipliers, without columns that are zero or equal, or, if whole, depend on others.

        None if there is nothing to be proved, or if columns of whole numbers nearly depend on others, but do
        not: exact multipliers are found sooner there than enough digits.
        """
        near = Approximate(tuple(rows.tolist()), tuple(rivals.tolist()), tuple(values.tolist()))
        table = self._table(rows)
        if table is None:
            return None
        near = replace(near, left_out=_plain_relations(table))
        if not self._possible(near):
            return None
        if not self._whole or not self._steep(near):
            return near
        near = self._related(near, table)
        return near if self._possible(near) and not self._steep(near) else None

    @property
    def _whole(self) -> bool:
        """Whether the numbers are whole, so that relations between columns are to be expected."""
        return bool(self.signs.matrix.dtype.kind != "f")

    def _versions(self, near: Approximate) -> Iterator[Approximate]:
        """The multipliers as they are; then corrected, and without all columns that depend on others."""
        yield near
        table = self._table(np.array(near.rows, dtype=np.int64))
        if not self._whole and table is not None:
            near = self._related(near, table)
        corrected = self._corrected(near) if self._possible(near) else None
        if corrected is not None and self._possible(corrected):
            yield corrected

    def _table(self, rows: Ints) -> Floats | None:
        width = int(self.signs.matrix.shape[1]) + self.signs.lift
        return nearby.lifted_rows(self.signs, rows, np.arange(width))

    def _coordinates(self, near: Approximate) -> Ints:
        width = int(self.signs.matrix.shape[1]) + self.signs.lift
        return np.setdiff1d(np.arange(width), [terms[0][0] for terms in near.left_out])

    def _possible(self, near: Approximate) -> bool:
        """Whether there are more rows than coordinates, and there is time for the check."""
        k = len(near.rows)
        p = self._coordinates(near).size * max(1, nearby.used_classes(near, self.signs).size - 1)
        if k <= p or k * p > nearby.MAX_NUMBERS:
            return False
        self.deadline.need((5.0 * k * p**2 + 2.0 * p**3) / OPERATIONS_A_SECOND)
        return True

    def _spans(self, near: Approximate) -> bool:
        """Whether the relations hold on every row, and every class is spoken of."""
        signs = self.signs
        if signs.joint and nearby.used_classes(near, signs).size < signs.n_classes:
            return False
        return nearby.wrong_relation(near, signs, signs.order, self.deadline.need) is None

    def _related(self, near: Approximate, table: Floats) -> Approximate:
        """The same without columns that depend on several others, with small whole numbers."""
        plain = near.left_out
        absent = {terms[0][0] for terms in plain}
        # the intercept first, so that columns which depend on it are left out and not it
        columns = [c for c in range(table.shape[1] - 1, -1, -1) if c not in absent]
        # A prime that misleads costs this proof: the checker refuses relations that do not hold. Twenty rows
        # more than columns leave no relation to luck.
        count, prime = len(columns) + 20, FIRST_PRIME
        self.deadline.need(ELIMINATED * min(count, len(table)) * len(columns))
        values = residues(table[:, columns], prime)
        if len(table) > count:
            # Random sums of the rows have the same relations, but for luck: some rows alone may have more.
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
        scaled = nearby.scale(near, self.signs, self._coordinates(near))
        if isinstance(scaled, str):
            return False
        factor, failed = scipy.linalg.lapack.dpotrf(scaled.rows.T @ scaled.rows)
        sizes = np.abs(factor.diagonal())
        return bool(failed) or float(sizes.min(initial=np.inf)) < STEEP * float(sizes.max(initial=0.0))

    def _corrected(self, near: Approximate) -> Approximate | None:
        """Multipliers nearer to exact ones; rows that would need a negative one are dropped."""
        scaled = nearby.scale(near, self.signs, self._coordinates(near))
        if isinstance(scaled, str):
            return None
        residual, _ = nearby.residual(scaled)
        with np.errstate(all="ignore"):
            part = 1.0 - nearby.normal_inverse(scaled.rows) @ residual / scaled.multipliers
        if not np.isfinite(part).all():
            return None
        kept = np.flatnonzero(part > 0.0)
        values = np.array(near.values)[kept] * part[kept]
        return replace(
            near,
            rows=tuple(np.array(near.rows)[kept].tolist()),
            rivals=tuple(np.array(near.rivals)[kept].tolist()) if near.rivals else (),
            values=tuple(values.tolist()),
        )


def _plain_relations(table: Floats) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Columns of zeros, and columns that are equal to one before them."""
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
    """Plain relations where columns that equal one which other relations leave out are related like that."""
    left_out = {terms[0][0]: terms for terms in others}
    found = []
    for terms in plain:
        same = left_out.get(terms[-1][0])
        found.append(terms if same is None else ((terms[0][0], same[0][1]), *same[1:]))
    return found


def _small_terms(residues_of_one: Ints, prime: int) -> tuple[int, list[int]] | None:
    """Whole numbers n_i and a factor f with ``n_i / f`` equal to residues; None where none are small."""
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
    """The fraction of small numbers with a residue, by the extended Euclidean algorithm (Wang 1981)."""
    r0, r1, t0, t1 = prime, residue, 0, 1
    while abs(r1) > SMALL:
        quotient = r0 // r1
        r0, r1, t0, t1 = r1, r0 - quotient * r1, t1, t0 - quotient * t1
    if not 0 < abs(t1) <= SMALL:
        return None
    return (r1, t1) if t1 > 0 else (-r1, -t1)
