"""The signed rows of one question, for the search: scores in floats, columns scaled by powers of two.

A signed row has a number: ``row`` for a question with signs, ``row * classes + rival`` for the joint
question. The weights of the last class are fixed at zero there, which loses nothing: adding one
vector to the weights of every class changes no comparison.
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from .. import loops
from ..certificates.monomials import MonomialMatrix
from ..deadline import NEVER, Deadline
from ..inputs.data import Data
from ..rows import threads
from ..rows.block_rows import ClusterRows, cluster_rows
from ..rows.blocks import BlockMatrix
from ..rows.memory import MemoryRows, as_rows
from ..rows.protocol import Rows
from ..sparse import dense, sparse
from .exact.integer_rows import CONVERTED, IntegerRows, bits, exact_numbers, integer_rows, seconds_to_solve
from .exact.residues import ELIMINATED, pivot_columns, products

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EXTREME = 400  # exponents of two beyond which scores are computed on a scaled copy
FAR = 8.0  # ranges of a column that it may be away from zero; at twice as many a bit of each score is lost
# Numbers of all signed rows together up to which NumPy scores them and the linear program gets all of them at
# once: compiled loops would take less time, but longer to load than such a question to answer.
SMALL = 20_000
EXTRA = -1  # number of a row that is none of the data
# Time of a term of an inner product of sparse columns, in terms of one of arrays, which BLAS adds up.
SPARSE_PRODUCT = 60.0


@dataclass(frozen=True, eq=False)
class FewRows:
    """Some signed rows for a solver.

    Attributes
    ----------
    rows : ndarray or CSR matrix of shape (rows, live)
    live : ndarray of int64
        The coordinates that they use.
    factors : ndarray of shape (live,)
        By which those were multiplied, after the columns were scaled.
    scales : ndarray of shape (rows,)
        By which the rows were multiplied.
    moves : ndarray of shape (columns,)
        By how much each column was moved.
    """

    rows: Any
    live: Ints
    factors: Floats
    scales: Floats
    moves: Floats


class SignedRows:
    """The signed rows of a question by number, as floats, integers or residues; and when its answer is due.

    What takes long raises OutOfTime when the deadline has come, or would come before it is done.

    Attributes
    ----------
    deadline : Deadline
    as_they_are : bool
        Whether the labels are the classes of the data.
    ids : ndarray of int64
        The numbers of all signed rows, in order.
    width : int
        Coordinates of the (reduced) weights.
    """

    def __init__(
        self,
        data: Data,
        positive: int | None,
        inside: NDArray[np.bool_],
        lift: bool,
        deadline: Deadline = NEVER,
    ) -> None:
        self.data, self.lift, self.inside, self.deadline = data, lift, inside, deadline
        self.joint, self.positive = positive is None, positive
        self.n_classes = len(data.classes) if self.joint else 2
        self.as_they_are = self.joint or (len(data.classes) == 2 and positive == 1)
        self.labels = data.codes if self.as_they_are else (data.codes == positive).astype(np.int64)
        self.order = np.flatnonzero(inside)
        self.block = int(data.matrix.shape[1]) + int(lift)
        self.width = self.block * (self.n_classes - 1)
        if self.joint:
            numbers = self.order[:, None] * self.n_classes + np.arange(self.n_classes)
            self.ids = numbers[np.arange(self.n_classes) != self.labels[self.order, None]].ravel()
        else:
            self.ids = self.order
        mapped = isinstance(data.matrix, MonomialMatrix)
        self.plain = data.matrix.base if mapped else data.matrix
        self._largest = _column_sizes(self.plain)
        exponents = np.where(self._largest > 0, np.frexp(self._largest)[1], 0).astype(np.int64)
        own = data.matrix.exponents(exponents) if mapped else exponents
        self.exponents = np.append(own, np.zeros(int(lift), dtype=np.int64))
        self.copied = mapped or bool(np.abs(own).max(initial=0) > EXTREME)
        self.matrix: Any = data.matrix  # what scores are computed from
        if mapped:
            self.matrix = data.matrix.scaled(exponents)
        elif self.copied:
            self.matrix = _scaled(data.matrix, exponents)
        self.small = self.ids.size * self.width <= SMALL
        self.rows = self._rows_of(self.matrix)
        self.extra: dict[int, tuple[int, int]] = {}

    def due(self, deadline: Deadline) -> SignedRows:
        """The same rows with another deadline."""
        twin = copy(self)
        twin.deadline = deadline
        return twin

    def with_row(self, row: dict[int, tuple[int, int]]) -> SignedRows:
        """The same rows and one more, whose number is ``EXTRA``: by coordinate an integer and a power of two.

        It is none of ``ids``, so that scans leave it out; `floats` and `integers` know it.
        """
        twin = copy(self)
        twin.extra = row
        return twin

    def split(self, ids: Ints) -> tuple[Ints, Ints]:
        """Row and rival of each number; the rival is -1 where there are signs."""
        if self.joint:
            return ids // self.n_classes, ids % self.n_classes
        return ids, np.full(len(ids), -1, dtype=np.int64)

    def full_weights(self, weights: Floats) -> Floats:
        """The weights (one vector, or one a class) for the rows that scans read."""
        vectors = weights.reshape(self.n_classes - 1, self.block)
        if not self.copied:
            vectors = np.ldexp(vectors, -self.exponents)
        if not self.joint:
            return np.ascontiguousarray(vectors[0])
        return np.vstack([vectors, np.zeros((1, self.block))])

    def whole_weights(self, weights: dict[int, int]) -> tuple[tuple[int, ...], ...]:
        """Integer weights by coordinate as one vector, or one a class; the last class has zeros."""
        vectors = [
            tuple(weights.get(block * self.block + j, 0) for j in range(self.block))
            for block in range(self.n_classes - 1)
        ]
        return (*vectors, (0,) * self.block) if self.joint else tuple(vectors)

    def original_rows(self) -> Rows:
        """The rows of the data as they are, not scaled."""
        return self._rows_of(self.data.matrix) if self.copied else self.rows

    def _rows_of(self, matrix: Any) -> MemoryRows | ClusterRows:
        options: dict[str, Any] = {"n_classes": self.n_classes, "lift": self.lift, "keep": self.inside}
        if not isinstance(matrix, BlockMatrix):
            rows = as_rows(matrix, self.labels, **options)
            return replace(rows, few=True) if self.small else rows
        positive = None if self.as_they_are else self.positive
        return cluster_rows(matrix, self.data.beside, self.labels, positive=positive, **options)

    def lowest(self, weights: Floats, limit: int, among: NDArray[np.bool_]) -> tuple[Ints, Floats]:
        """The lowest scores among some signed rows (a mask over ``ids``), with their numbers."""
        full = self.full_weights(weights)
        if not self.joint:
            rows = self.rows if among.all() else replace(self.rows, order=self.ids[among])
            found = rows.scan(full, limit)
            return found.rows, found.scores
        if isinstance(self.rows, ClusterRows):
            return self._lowest_elsewhere(self.rows, full, limit, among)
        scores = _pair_scores(self.rows.outputs(full)[self.order], self.labels[self.order])[among]
        kept = np.argsort(scores, kind="stable")[:limit]
        return self.ids[among][kept], scores[kept]

    def _lowest_elsewhere(
        self, rows: ClusterRows, weights: Floats, limit: int, among: NDArray[np.bool_]
    ) -> tuple[Ints, Floats]:
        """The same for pairs of row and rival on a cluster: each block answers with its lowest."""
        each: list[tuple[Any]] | None = None
        if not among.all():
            edges = np.searchsorted(self.ids, rows.matrix.offsets * self.n_classes)
            each = [(np.packbits(among[start:stop]),) for start, stop in pairwise(edges.tolist())]
        parts = rows.on_each("scan", _lowest_pairs, weights, limit, each=each or [(None,)] * len(rows.codes))
        firsts = (rows.matrix.offsets[:-1] * self.n_classes).tolist()
        ids = np.concatenate([found + first for (found, _), first in zip(parts, firsts, strict=True)])
        scores = np.concatenate([found for _, found in parts])
        kept = np.lexsort((ids, scores))[:limit]
        return ids[kept], scores[kept]

    def lowest_score(self, weights: Floats) -> float:
        """The lowest score of the rows as they are, by weights for those: one vector, or one a class."""
        return float(self.original_rows().scan(weights if self.joint else weights[0], 1).scores[0])

    def floats(self, ids: Ints) -> Any:
        """Some signed rows, every column and then every row scaled to about 1: CSR, or an array if small."""
        values = self.column_scaled(ids)
        return _times(_row_scales(values), values)

    @cached_property
    def n_used(self) -> int:
        """How many coordinates sparse rows in memory use, for a question with signs; else all there are."""
        if self.joint or not self.rows.sparse or self.rows.local is None:
            return self.width
        rows = self.matrix if self.inside.all() else self.matrix[self.order]
        return int(np.count_nonzero(np.bincount(rows.indices, minlength=1))) + self.lift

    def part(self, ids: Ints, deadline: Deadline) -> SignedRows:
        """Some of the rows of a question with signs, as a question of their own."""
        inside = np.zeros_like(self.inside)
        inside[ids] = True
        return SignedRows(self.data, self.positive, inside, self.lift, deadline)

    def few_floats(self, ids: Ints) -> FewRows:
        """Some rows of a question with signs, every row and every column that is used scaled to about 1.

        Columns far from zero are moved there: only an intercept allows that, as planes stay planes then.
        Sparse rows stay sparse where their inner products are quicker to form so.
        """
        inner = self.block - self.lift
        values, moves = self.column_scaled(ids) if self.rows.sparse else None, np.zeros(inner)
        if not sparse.issparse(values) or not _worth_being_sparse(values):
            values = self._lifted(ids)
            moves = _far(values[:, :inner]) if self.lift else moves
            values[:, :inner] -= moves
            values *= (2.0 * self.labels[ids] - 1.0)[:, None]
        scales = _row_scales(values)
        values = _times(scales, values)
        sizes = _largest_sizes(values, 0)
        live = np.flatnonzero(sizes)
        factors = np.ldexp(1.0, -np.frexp(sizes[live])[1])
        values = values[:, live]
        values = values @ sparse.diags_array(factors) if sparse.issparse(values) else values * factors
        return FewRows(values, live, factors, scales, moves)

    def margin_upper(self, ids: Ints, duals: Floats) -> float:
        """|sum of a_i z_i| / sum of a_i in the data's own units; ``duals`` belong to the rows of `floats`."""
        used = duals > 0
        if not used.any():
            return np.inf
        values = self.column_scaled(ids[used])
        multipliers = duals[used] * _row_scales(values)
        with np.errstate(all="ignore"):
            total = (values.T @ multipliers).reshape(-1, self.block) * np.ldexp(1.0, self.exponents)
            norm = float(np.sqrt((total**2).sum() + (total.sum(axis=0) ** 2).sum() * self.joint))
            upper = norm / float(multipliers.sum()) + self.rounding(float(used.sum()))
        return upper if np.isfinite(upper) else np.inf

    @cached_property
    def radius(self) -> float:
        """A bound of the length of every signed row, and so of every margin; infinite for monomials."""
        if isinstance(self.data.matrix, MonomialMatrix):
            return math.inf
        largest = float(self._largest.max(initial=1.0))
        return 1.001 * largest * math.sqrt(self.block) * (math.sqrt(2.0) if self.joint else 1.0)

    def rounding(self, terms: float) -> float:
        """A bound of the error of a score by weights of length one, or of the mean of so many signed rows."""
        return 4.0 * (self.width + 8.0 + terms) * (2.0**-53 * self.radius + 2.0**-1020)

    def _lifted(self, rows: Ints) -> Floats:
        """Some rows as an array, without signs, every column scaled to about 1, with the ones of the lift."""
        values = np.ones((rows.size, self.block))
        inner = self.block - self.lift
        values[:, :inner] = dense(self.matrix[rows])
        if not self.copied:
            np.ldexp(values[:, :inner], -self.exponents[:inner].astype(np.int32), out=values[:, :inner])
        return values

    def column_scaled(self, ids: Ints) -> Any:
        """Some signed rows with every column scaled to about 1: CSR, or an array if the question is small."""
        if (ids == EXTRA).any():
            return self._with_extra(ids)
        rows, rivals = self.split(ids)
        if self.small:
            few, own = self._lifted(rows), self.labels[rows]
            if self.joint:
                return _kesler_blocks(few, own, rivals, self.n_classes)
            return _times(2.0 * own - 1.0, few)
        values = sparse.csr_array(self.matrix[rows]).astype(np.float64)
        if not self.copied:
            values.data = np.ldexp(values.data, -self.exponents[values.indices].astype(np.int32))
        if self.lift:
            values = sparse.hstack([values, np.ones((len(rows), 1))], format="csr")
        if self.joint:
            values = _kesler(values, self.labels[rows], rivals, self.n_classes)
        else:
            values = _times(2.0 * self.labels[rows] - 1.0, values)
        values.sort_indices()
        return values

    def _with_extra(self, ids: Ints) -> Any:
        """The same where the row that is none of the data is among them."""
        own = np.zeros((1, self.width))
        for column, (mantissa, exponent) in self.extra.items():
            own[0, column] = math.ldexp(mantissa, exponent - int(self.exponents[column % self.block]))
        values = self.column_scaled(ids[ids != EXTRA])
        place = int(np.flatnonzero(ids == EXTRA)[0])
        parts = (values[:place], own, values[place:])
        if self.small:
            return np.vstack(parts)
        return sparse.vstack([sparse.csr_array(part) for part in parts], format="csr")

    def integers(self, ids: Ints) -> IntegerRows:
        """Some signed rows as integers."""
        rows, rivals = self.split(ids)
        self.deadline.need()
        extra = rows == EXTRA  # so it is too where rows have rivals: -1 // classes
        places = np.where(extra, self.order[0], rows)
        values, exponents, columns = exact_numbers(self.data.matrix, places, self.deadline)
        if self.lift:
            values = np.column_stack([values, np.ones(ids.size, dtype=object)])
            exponents = np.column_stack([exponents, np.zeros_like(ids)])
            columns = np.append(columns, self.block - 1)
        own = self.labels[rows]
        if self.joint:
            values = _kesler_blocks(values, own, rivals, self.n_classes)
            exponents = np.tile(exponents, self.n_classes - 1)
            columns = (np.arange(self.n_classes - 1)[:, None] * self.block + columns).ravel()
        else:
            values = (2 * own - 1).astype(object)[:, None] * values
        if extra.any():
            both = np.union1d(columns, list(self.extra))
            places, new = np.searchsorted(both, columns), np.searchsorted(both, list(self.extra))
            values, exponents = (_wider(each, places, both.size) for each in (values, exponents))
            values[extra] = 0
            for place, (mantissa, exponent) in zip(new, self.extra.values(), strict=True):
                values[extra, place], exponents[extra, place] = mantissa, exponent
            columns = both
        self.deadline.need(CONVERTED * values.size)
        return integer_rows(values, exponents, columns)

    def seconds_to_solve(self) -> float:
        """About how long exact multipliers would take."""
        some = self.integers(self.ids[:20]).matrix  # rows that tell how many bits the numbers have
        return seconds_to_solve(self.n_used, bits(some))

    def most_corrected(self, counts: Ints, most: int) -> Ints:
        """The signed rows that a perceptron corrected most often, those first; so many at most."""
        if self.joint:
            rows, rivals = np.nonzero(counts)
            ids, hits = rows * self.n_classes + rivals, counts[rows, rivals]
        else:
            ids = np.flatnonzero(counts[:, 0])
            hits = counts[ids, 0]
        return ids[np.argsort(-hits, kind="stable")][:most]

    def span_basis(self, prime: int) -> Ints:
        """Signed rows that are independent and span all of them, modulo a prime."""
        rng = np.random.default_rng(0)
        basis: Ints = np.zeros(0, dtype=np.int64)
        outside = self.ids
        while outside.size:
            tried = np.concatenate([basis, rng.permutation(outside)[: self.width + 20]])
            basis = self.independent(tried, prime)
            if not basis.size:
                basis = self.independent(outside, prime)
                if not basis.size:
                    break
            if basis.size == self.width:
                break  # nothing is outside of what these span
            outside = self.ids[~self.spanned(basis, prime)]
        return basis

    def independent(self, ids: Ints, prime: int) -> Ints:
        """A largest part of some signed rows that is independent modulo a prime, and so in fact."""
        return ids[pivot_columns(self.integers(ids).matrix.transpose(), prime, self.deadline)]

    def _null_vectors(self, basis: Ints, prime: int) -> Ints:
        """Two random vectors orthogonal to all basis rows, modulo a prime."""
        found = self.integers(basis)
        rng = np.random.default_rng(0)
        vectors = rng.integers(1, prime, (2, self.width))
        vectors[:, found.columns] = 0
        if found.columns.size:
            self.deadline.need(ELIMINATED * basis.size * found.columns.size)
            null, nullity = flint.nmod_mat(found.matrix, prime).nullspace()
            if nullity:
                mix = [int(v) for v in rng.integers(1, prime, 2 * null.ncols())]
                mixed = null * flint.nmod_mat(null.ncols(), 2, mix, prime)
                whole = np.array([int(v) for v in mixed.entries()], dtype=np.int64).reshape(-1, 2).T
                # found for the matrix, whose columns were divided by powers of two
                powers = [pow(2, -power, prime) for power in found.powers.tolist()]
                vectors[:, found.columns] = whole * np.array(powers, dtype=np.int64) % prime
        return vectors

    def spanned(self, basis: Ints, prime: int) -> NDArray[np.bool_]:
        """Which signed rows are combinations of the basis rows, modulo a prime: a mask over ``ids``.

        If the basis is independent modulo the prime, no combination is missed. A row is counted as one if it
        is orthogonal to random vectors that all basis rows are orthogonal to; two vectors err with
        probability about 2**-62 a row. Where they err, or the prime misleads, no exact multipliers are found.
        """
        vectors = self._null_vectors(basis, prime)
        if not vectors.any():
            return np.ones(self.ids.size, dtype=bool)
        return self._orthogonal(vectors, prime)

    def _orthogonal(self, vectors: Ints, prime: int) -> NDArray[np.bool_]:
        blocks = vectors.reshape(len(vectors) * (self.n_classes - 1), self.block)
        n_classes = self.n_classes if self.joint else 0
        if isinstance(self.data.matrix, BlockMatrix):
            rows = self.original_rows()
            assert isinstance(rows, ClusterRows)
            parts = rows.on_each(
                "residues", _orthogonal_of_block, blocks, prime, n_classes, pause=self.deadline.need
            )
            return np.concatenate(parts)
        columns = int(self.data.matrix.shape[1])
        outputs = products(self.data.matrix, blocks[:, :columns], prime, deadline=self.deadline)
        return _orthogonal_pairs(outputs, blocks, prime, self.labels, self.order, self.lift, n_classes)


def _far(values: Floats) -> Floats:
    """The mean of each column that lies far from zero for its range; zero for the others."""
    means = values.mean(axis=0)
    ranges = values.max(axis=0) - values.min(axis=0)
    return np.where((np.abs(means) > FAR * ranges) & (ranges > 0.0), means, 0.0)


def _kesler(values: Any, own: Ints, rivals: Ints, n_classes: int) -> Any:
    """Put each row into the block of its own class and, negated, of its rival; the last class has none."""
    n_rows, block = values.shape
    parts = []
    for sign, classes in ((1.0, own), (-1.0, rivals)):
        coo = sparse.coo_array(values)
        kept = classes[coo.row] < n_classes - 1
        columns = classes[coo.row] * block + coo.col
        entries = (sign * coo.data[kept], (coo.row[kept], columns[kept]))
        parts.append(sparse.csr_array(entries, shape=(n_rows, block * (n_classes - 1))))
    return sparse.csr_array(parts[0] + parts[1])


def _kesler_blocks(values: NDArray[Any], own: Ints, rivals: Ints, n_classes: int) -> NDArray[Any]:
    """The same as an array, of floats or of Python integers."""
    found = np.zeros((len(own), n_classes, values.shape[1]), dtype=values.dtype)
    rows = np.arange(len(own))
    found[rows, own], found[rows, rivals] = values, -values
    return found[:, :-1].reshape(len(own), (n_classes - 1) * values.shape[1])


def _wider(values: NDArray[Any], places: Ints, width: int) -> NDArray[Any]:
    """A table with columns of zeros between others, which are put into their places."""
    found = np.zeros((values.shape[0], width), dtype=values.dtype)
    found[:, places] = values
    return found


def _times(factors: NDArray[Any], values: Any) -> Any:
    """Each row times its factor."""
    if isinstance(values, np.ndarray):
        return factors[:, None] * values
    return sparse.csr_array(sparse.diags_array(factors) @ values)


def _orthogonal_of_block(rows: MemoryRows, blocks: Ints, prime: int, n_classes: int) -> NDArray[np.bool_]:
    outputs = products(rows.matrix, blocks[:, : rows.n_columns], prime)
    labels = rows.labels.astype(np.int64)
    return _orthogonal_pairs(outputs, blocks, prime, labels, rows.order, rows.lifted, n_classes)


def _orthogonal_pairs(
    outputs: Ints, blocks: Ints, prime: int, labels: Ints, order: Ints, lift: bool, n_classes: int
) -> NDArray[np.bool_]:
    """Which signed rows are orthogonal to all vectors; ``n_classes`` is zero where rows have signs."""
    if lift:
        outputs = (outputs + blocks[:, -1]) % prime
    if not n_classes:
        return np.asarray((outputs[order] == 0).all(axis=1))
    own = labels[order]
    inside = np.ones((order.size, n_classes), dtype=bool)
    for each in np.split(outputs[order], outputs.shape[1] // (n_classes - 1), axis=1):
        each = np.hstack([each, np.zeros((len(each), 1), dtype=np.int64)])
        inside &= each[np.arange(own.size), own][:, None] == each
    return np.asarray(inside[np.arange(n_classes) != own[:, None]])


def _pair_scores(outputs: Floats, labels: Ints) -> Floats:
    """For each row and each class but its own, by how much its own leads; not a number is the lowest."""
    leads = outputs[np.arange(labels.size), labels][:, None] - outputs
    scores = np.asarray(leads[np.arange(outputs.shape[1]) != labels[:, None]].ravel())
    return np.where(np.isnan(scores), -np.inf, scores)


def _lowest_pairs(
    rows: MemoryRows, weights: Floats, limit: int, among: NDArray[np.uint8] | None
) -> tuple[Ints, Floats]:
    """The lowest scores of the pairs of row and rival of a block, with their numbers in it."""
    own, classes = rows.labels[rows.order], np.arange(rows.n_classes)
    scores = _pair_scores(rows.outputs(weights)[rows.order], own)
    ids = (rows.order[:, None] * rows.n_classes + classes)[classes != own[:, None]].ravel()
    if among is not None:
        chosen = np.unpackbits(among, count=ids.size).astype(bool)
        scores, ids = scores[chosen], ids[chosen]
    kept = np.argsort(scores, kind="stable")[:limit]
    return ids[kept], scores[kept]


def _column_sizes(matrix: Any) -> Floats:
    """The largest magnitude in each column."""
    if isinstance(matrix, BlockMatrix):
        return np.asarray(np.maximum.reduce(matrix.map("sizes", _column_sizes)))
    largest = np.zeros(matrix.shape[1])
    if sparse.issparse(matrix):
        np.maximum.at(largest, matrix.indices, np.abs(matrix.data.astype(np.float64)))
    elif matrix.size <= SMALL:
        largest = np.abs(matrix.astype(np.float64)).max(axis=0, initial=0.0)
    else:
        ranges = threads.chunks(matrix.shape[0], matrix.size)
        for found in threads.run_all(_largest, [(matrix, *each) for each in ranges]):
            np.maximum(largest, found, out=largest)
    return largest


def _largest(matrix: NDArray[Any], start: int, stop: int) -> Floats:
    """The largest magnitude of each column in some rows."""
    largest = np.zeros(matrix.shape[1])
    loops.rows.column_sizes(matrix, start, stop, largest)
    return largest


def _scaled(matrix: Any, exponents: Ints) -> Any:
    """A copy with every column divided by its power of two."""
    if isinstance(matrix, BlockMatrix):
        return matrix.copied("scale", _scaled, exponents, dtype=np.float64)
    if sparse.issparse(matrix):
        data = np.ldexp(matrix.data.astype(np.float64), -exponents[matrix.indices].astype(np.int32))
        return sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
    return np.ldexp(matrix.astype(np.float64), -exponents.astype(np.int32))


def _row_scales(values: Any) -> Floats:
    """For each row, the power of two that brings its largest number to about 1; at most 2**1000."""
    scales: Floats = np.ldexp(1.0, -np.clip(np.frexp(_largest_sizes(values, 1))[1], -1000, 1000))
    return scales


def _largest_sizes(values: Any, axis: int) -> Floats:
    """The largest magnitude in each row (axis 1) or column (axis 0) of a matrix."""
    if isinstance(values, np.ndarray):
        return np.asarray(np.abs(values).max(axis=axis, initial=0.0))
    if not values.nnz:
        return np.zeros(values.shape[1 - axis])
    return np.asarray(abs(values).max(axis=axis).toarray().ravel())


def _worth_being_sparse(values: Any) -> bool:
    """Whether the inner products of the columns are found sooner from a CSR matrix than from an array."""
    used, each = np.count_nonzero(np.bincount(values.indices, minlength=1)), np.diff(values.indptr)
    return bool(SPARSE_PRODUCT * (each.astype(np.float64) ** 2).sum() < len(each) * float(used) ** 2)
