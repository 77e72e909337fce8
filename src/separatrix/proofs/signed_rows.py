"""The signed rows of one question as the search needs them: in floats with scaled columns, or in integers.

A signed row has a number: ``row`` if each row has a sign, ``row * classes + rival`` for the joint question.
There the weights of the last class are fixed at zero, because adding one vector to the weights of all classes
changes no comparison.
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from .. import loops
from ..certificates.models.combinations import Combinations
from ..certificates.monomials import MonomialMatrix
from ..deadline import NEVER, Deadline
from ..float_environment import HALF_UNIT
from ..inputs.data import Data
from ..rows import threads
from ..rows.block_rows import ClusterRows, cluster_rows
from ..rows.blocks import BlockMatrix
from ..rows.memory import MemoryRows, as_rows
from ..rows.protocol import Floats, Ints, Mask
from ..sparse import dense, sparse
from .exact.integer_rows import (
    SECONDS_PER_NUMBER,
    IntegerRows,
    bits,
    exact_numbers,
    integer_rows,
    pivot_columns,
    products,
    seconds_to_solve,
)

EXTREME = 400  # exponents of two beyond which scores are computed on a scaled copy
# Up to this many numbers of all signed rows, the linear program gets all rows at once, as an array. Compiled
# loops and sparse matrices are faster, but take longer to load than a small question takes to answer.
SMALL = 20_000
SECONDS_PER_COPY = 7e-8  # of a number of an array as CSR: measured on 6,000 x 3,000
EXTRA = -1  # the number of the row that `with_row` adds
NO_EQUAL_ROWS = 1 << 62


class SignedRows:
    """The signed rows of a question, by number, and when its answer is due.

    Methods that take long raise OutOfTime at the deadline, or before if they would end after it.

    Attributes
    ----------
    deadline : Deadline
    ids : ndarray of int64
        The numbers of all signed rows, in order.
    block : int
        Coordinates of one weight vector.
    width : int
        Coordinates of all weights: one vector, or one for each class but the last.
    exponents : ndarray of shape (block,)
        Divided by these powers of two, the columns have magnitudes of about 1.
    copied : bool
        Whether ``matrix``, from which scores are computed, is a copy that is scaled in this way.
    small : bool
        Whether the linear program gets all rows at once.
    first_equal : int
        From this number on, rows must have the score zero, and their multipliers may have any sign.
    """

    def __init__(
        self,
        data: Data,
        positive: int | None,
        inside: NDArray[np.bool_],
        lift: bool,
        deadline: Deadline = NEVER,
        first_equal: int = NO_EQUAL_ROWS,
    ) -> None:
        self.first_equal = first_equal
        self.data, self.lift, self.inside, self.deadline = data, lift, inside, deadline
        self.joint, self.positive = positive is None, positive
        self.n_classes = len(data.classes) if self.joint else 2
        self.own_labels = self.joint or (len(data.classes) == 2 and positive == 1)
        self.labels = data.codes if self.own_labels else (data.codes == positive).astype(np.int64)
        self.order = np.flatnonzero(inside)
        self.block = int(data.matrix.shape[1]) + int(lift)
        self.width = self.block * (self.n_classes - 1)
        if self.joint:
            numbers = self.order[:, None] * self.n_classes + np.arange(self.n_classes)
            self.ids = numbers[np.arange(self.n_classes) != self.labels[self.order, None]].ravel()
        else:
            self.ids = self.order
        mapped = isinstance(data.matrix, MonomialMatrix | Combinations)
        self.mapped, self.plain = mapped, data.matrix.base if mapped else data.matrix
        self._largest = _column_sizes(self.plain)
        exponents = np.where(self._largest > 0, np.frexp(self._largest)[1], 0).astype(np.int64)
        own = data.matrix.exponents(exponents) if mapped else exponents
        self.exponents = np.append(own, np.zeros(int(lift), dtype=np.int64))
        self.copied = mapped or bool(np.abs(own).max(initial=0) > EXTREME)
        self._base_exponents = exponents
        self.small = self.ids.size * self.width <= SMALL
        self.extra: dict[int, tuple[int, int]] = {}

    @cached_property
    def matrix(self) -> Any:
        """The rows from which scores are computed: the data, or a copy with scaled columns."""
        if self.mapped:
            return self.data.matrix.scaled(self._base_exponents)
        return _scaled(self.data.matrix, self._base_exponents) if self.copied else self.data.matrix

    def forget_copies(self) -> None:
        """Free the scaled copy; it is made again if scores are asked for."""
        if self.copied:
            self.__dict__.pop("matrix", None)
            self.__dict__.pop("rows", None)

    def due(self, deadline: Deadline) -> SignedRows:
        """Return the same rows with another deadline."""
        twin = copy(self)
        twin.deadline = deadline
        return twin

    def with_row(self, row: dict[int, tuple[int, int]]) -> SignedRows:
        """Return the same rows and one more, given as an integer and a power of two per coordinate.

        Its number ``EXTRA`` is not in ``ids``, so that scans ignore it; `floats` and `integers` know it.
        """
        twin = copy(self)
        twin.extra = row
        return twin

    def split(self, ids: Ints) -> tuple[Ints, Ints]:
        """Return the row and the rival of each number; the rival is -1 if the question is not joint."""
        if self.joint:
            return ids // self.n_classes, ids % self.n_classes
        return ids, np.full(len(ids), -1, dtype=np.int64)

    def full_weights(self, weights: Floats) -> Floats:
        """Return the weights (one vector, or one per class) for the rows that scans read."""
        vectors = weights.reshape(self.n_classes - 1, self.block)
        if not self.copied:
            vectors = np.ldexp(vectors, -self.exponents)
        if not self.joint:
            return np.ascontiguousarray(vectors[0])
        return np.vstack([vectors, np.zeros((1, self.block))])

    def whole_weights(self, weights: dict[int, int]) -> tuple[tuple[int, ...], ...]:
        """Return integer weights by coordinate as one vector, or one per class, with zeros for the last."""
        vectors = [
            tuple(weights.get(block * self.block + j, 0) for j in range(self.block))
            for block in range(self.n_classes - 1)
        ]
        return (*vectors, (0,) * self.block) if self.joint else tuple(vectors)

    @cached_property
    def rows(self) -> MemoryRows | ClusterRows:
        """The rows for solvers, with scaled columns if ``copied``."""
        return self._rows_of(self.matrix)

    def original_rows(self) -> MemoryRows | ClusterRows:
        """Return the rows of the data for solvers, with columns as they are."""
        return self._rows_of(self.data.matrix) if self.copied else self.rows

    def _rows_of(self, matrix: Any) -> MemoryRows | ClusterRows:
        options: dict[str, Any] = {"n_classes": self.n_classes, "lift": self.lift, "keep": self.inside}
        if not isinstance(matrix, BlockMatrix):
            return as_rows(matrix, self.labels, **options)
        positive = None if self.own_labels else self.positive
        return cluster_rows(matrix, self.data.beside, self.labels, positive=positive, **options)

    def lowest(self, weights: Floats, limit: int, among: Mask) -> tuple[Ints, Floats]:
        """Return the lowest scores among some signed rows (a mask over ``ids``), with their numbers."""
        full = self.full_weights(weights)
        if not self.joint:
            rows = self.rows if among.all() else replace(self.rows, order=self.ids[among])
            found = rows.scan(full, limit)
            return found.rows, found.scores
        scores = self._scores(self.rows.outputs(full)[self.order])[among]
        kept = np.argsort(scores, kind="stable")[:limit]
        return self.ids[among][kept], scores[kept]

    def lowest_score(self, weights: Floats) -> float:
        """Return the lowest score of the original rows, for one weight vector or one per class."""
        if not self.small:
            return float(self.original_rows().scan(weights if self.joint else weights[0], 1).scores[0])
        values = dense(self.data.matrix[self.order]).astype(np.float64)
        outputs = values @ weights[:, : values.shape[1]].T
        return float(self._scores(outputs + weights[:, -1] if self.lift else outputs).min())

    def _scores(self, outputs: Floats) -> Floats:
        """Return the scores of all signed rows, from the outputs of the rows; NaN counts as the lowest."""
        labels = self.labels[self.order]
        if self.joint:
            differences = outputs[np.arange(labels.size), labels][:, None] - outputs
            scores = differences[np.arange(self.n_classes) != labels[:, None]]
        else:
            scores = (2.0 * labels - 1.0) * outputs[:, 0]
        return np.where(np.isnan(scores), -np.inf, scores)

    def floats(self, ids: Ints) -> Any:
        """Return some signed rows, columns and then rows scaled to about 1: an array if small, else CSR."""
        values = self.column_scaled(ids)
        return _times(row_scales(values), values)

    @cached_property
    def n_used(self) -> int:
        """How many coordinates rows with signs use, if they are sparse or a part, and in memory; else all."""
        if self.joint or self.rows.local is None or (self.inside.all() and not self.rows.sparse):
            return self.width
        rows = self.matrix if self.inside.all() else self.matrix[self.order]
        if self.rows.sparse:
            return int(np.count_nonzero(np.bincount(rows.indices, minlength=1))) + self.lift
        unseen = ~(rows[:1000] != 0).any(axis=0)
        return self.width - int(np.count_nonzero(~(rows[:, unseen] != 0).any(axis=0)))

    def part(self, ids: Ints) -> SignedRows:
        """Return the question about some of the rows alone; it is not joint."""
        inside = np.zeros_like(self.inside)
        inside[ids] = True
        return SignedRows(self.data, self.positive, inside, self.lift, self.deadline)

    def margin_upper(self, ids: Ints, duals: Floats) -> float:
        """Bound the margin by ``|sum a_i z_i| / sum a_i``; the dual values belong to the rows of `floats`."""
        used = duals > 0
        if not used.any():
            return np.inf
        values = self.column_scaled(ids[used])
        multipliers = duals[used] * row_scales(values)
        with np.errstate(all="ignore"):
            total = (values.T @ multipliers).reshape(-1, self.block) * np.ldexp(1.0, self.exponents)
            norm = float(np.sqrt((total**2).sum() + (total.sum(axis=0) ** 2).sum() * self.joint))
            upper = norm / float(multipliers.sum()) + self.rounding(float(used.sum()))
        return upper if np.isfinite(upper) else np.inf

    @cached_property
    def radius(self) -> float:
        """A bound of the norm of every signed row, and so of every margin; infinite if none is stored."""
        if self.mapped:
            return math.inf
        largest = float(self._largest.max(initial=1.0))
        return 1.001 * largest * math.sqrt(self.block) * (math.sqrt(2.0) if self.joint else 1.0)

    def rounding(self, terms: float) -> float:
        """Bound the error of a score with weights of norm one, or of the mean of ``terms`` signed rows."""
        return 4.0 * (self.width + 8.0 + terms) * (HALF_UNIT * self.radius + 2.0**-1020)

    def lifted(self, rows: Ints) -> Floats:
        """Return some rows as an array without signs, with scaled columns and the ones of the intercept."""
        values = np.ones((rows.size, self.block))
        inner = self.block - self.lift
        values[:, :inner] = dense(self.matrix[rows])
        if not self.copied:
            np.ldexp(values[:, :inner], -self.exponents[:inner].astype(np.int32), out=values[:, :inner])
        return values

    def column_scaled(self, ids: Ints) -> Any:
        """Return some signed rows with columns scaled to about 1: an array if small, else CSR."""
        if (ids == EXTRA).any():
            return self._with_extra(ids)
        rows, rivals = self.split(ids)
        if self.small:
            few, own = self.lifted(rows), self.labels[rows]
            if self.joint:
                return _kesler_blocks(few, own, rivals, self.n_classes)
            return _times(2.0 * own - 1.0, few)
        if not sparse.issparse(self.matrix):
            self.deadline.need(SECONDS_PER_COPY * ids.size * self.block)
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
        """Do the same if the extra row is among them."""
        own = np.zeros((1, self.width))
        for column, (mantissa, exponent) in self.extra.items():
            own[0, column] = math.ldexp(mantissa, exponent - int(self.exponents[column % self.block]))
        values, place = self.column_scaled(ids[ids != EXTRA]), int(np.flatnonzero(ids == EXTRA)[0])
        if self.small:
            return np.insert(values, place, own, axis=0)
        return sparse.vstack([values[:place], sparse.csr_array(own), values[place:]], format="csr")

    def integers(self, ids: Ints) -> IntegerRows:
        """Return some signed rows as integers."""
        rows, rivals = self.split(ids)
        self.deadline.need()
        extra = rows == EXTRA  # also if rows have rivals, because -1 // classes is -1
        places = np.where(extra, self.order[0], rows) if extra.any() else rows  # it is overwritten below
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
            places, narrow = np.searchsorted(both, columns), (values, exponents)
            values, exponents = (np.zeros((ids.size, both.size), dtype=each.dtype) for each in narrow)
            values[:, places], exponents[:, places] = narrow
            values[extra] = 0
            for column, (mantissa, exponent) in self.extra.items():
                place = np.searchsorted(both, column)
                values[extra, place], exponents[extra, place] = mantissa, exponent
            columns = both
        self.deadline.need(SECONDS_PER_NUMBER * values.size)
        return integer_rows(values, exponents, columns)

    def seconds_to_solve(self) -> float:
        """Estimate how long exact multipliers would take."""
        some = self.integers(self.ids[:20]).matrix  # rows that tell how many bits the numbers have
        return seconds_to_solve(self.n_used, bits(some))

    def most_corrected(self, counts: Ints, most: int) -> Ints:
        """Return the signed rows that a perceptron corrected most often, in that order."""
        rows, rivals = np.nonzero(counts)
        ids = rows * self.n_classes + rivals if self.joint else rows
        return ids[np.argsort(-counts[rows, rivals], kind="stable")][:most]

    def span_basis(self, prime: int, first: int = 0) -> Ints:
        """Return signed rows, from a number on, that are independent and span these, modulo a prime."""
        rng = np.random.default_rng(0)
        basis: Ints = np.zeros(0, dtype=np.int64)
        outside = self.ids[self.ids >= first]
        while outside.size:
            tried = np.concatenate([basis, rng.permutation(outside)[: self.width + 20]])
            basis = self.independent(tried, prime)
            if not basis.size:
                basis = self.independent(outside, prime)
                if not basis.size:
                    break
            if basis.size == self.width:
                break  # nothing is outside of what these span
            outside = self.ids[~self.spanned(basis, prime) & (self.ids >= first)]
        return basis

    def independent(self, ids: Ints, prime: int) -> Ints:
        """Return as many of some signed rows as are independent modulo a prime, and so in the integers."""
        return ids[pivot_columns(self.integers(ids).matrix.transpose(), prime, self.deadline)]

    def _null_vectors(self, basis: Ints, prime: int) -> Ints:
        """Return two random vectors that are orthogonal to all basis rows, modulo a prime."""
        found = self.integers(basis)
        rng = np.random.default_rng(0)
        vectors = rng.integers(1, prime, (2, self.width))
        vectors[:, found.columns] = 0
        if found.columns.size:
            self.deadline.need(SECONDS_PER_NUMBER * basis.size * found.columns.size)
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
        """Say which signed rows are combinations of the basis rows, modulo a prime: a mask over ``ids``.

        If the basis is independent modulo the prime, no combination is missed. A row counts as one if it is
        orthogonal to two random vectors that all basis rows are orthogonal to, which is wrong with a
        probability of about 2**-62 per row. If it is wrong, or the prime misleads, there are no exact
        multipliers.
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


def _kesler(values: Any, own: Ints, rivals: Ints, n_classes: int) -> Any:
    """Put each row into the block of its own class and, negated, of its rival, without the last class."""
    n_rows, block = values.shape
    each, shape = np.diff(values.indptr), (n_rows, block * n_classes)
    first, second = (
        sparse.csr_array(
            (values.data, values.indices + np.repeat(classes * block, each), values.indptr), shape
        )
        for classes in (own, rivals)
    )
    return sparse.csr_array((first - second)[:, : block * (n_classes - 1)])


def _kesler_blocks(values: NDArray[Any], own: Ints, rivals: Ints, n_classes: int) -> NDArray[Any]:
    """Do the same with an array of floats or of Python integers."""
    found = np.zeros((len(own), n_classes, values.shape[1]), dtype=values.dtype)
    rows = np.arange(len(own))
    found[rows, own], found[rows, rivals] = values, -values
    return found[:, :-1].reshape(len(own), (n_classes - 1) * values.shape[1])


def _times(factors: NDArray[Any], values: Any) -> Any:
    """Multiply each row by its factor."""
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
    """Say which signed rows are orthogonal to all vectors; ``n_classes`` is 0 if not joint."""
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


def _column_sizes(matrix: Any) -> Floats:
    """Return the largest magnitude in each column."""
    if isinstance(matrix, BlockMatrix):
        return np.asarray(np.maximum.reduce(matrix.map("sizes", _column_sizes)))
    if sparse.issparse(matrix) or matrix.size <= SMALL:
        return largest_sizes(matrix.astype(np.float64), 0)
    ranges = threads.chunks(matrix.shape[0], matrix.size)
    return np.asarray(np.max(threads.run_all(_largest, [(matrix, *each) for each in ranges]), axis=0))


def _largest(matrix: NDArray[Any], start: int, stop: int) -> Floats:
    """Return the largest magnitude of each column in some rows."""
    largest = np.zeros(matrix.shape[1])
    loops.rows.column_sizes(matrix, start, stop, largest)
    return largest


def _scaled(matrix: Any, exponents: Ints) -> Any:
    """Return a copy with every column divided by its power of two."""
    if isinstance(matrix, BlockMatrix):
        return matrix.copied("scale", _scaled, exponents, dtype=np.float64)
    if sparse.issparse(matrix):
        data = np.ldexp(matrix.data.astype(np.float64), -exponents[matrix.indices].astype(np.int32))
        return sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
    return np.ldexp(matrix.astype(np.float64), -exponents.astype(np.int32))


def row_scales(values: Any) -> Floats:
    """Return the power of two for each row that brings its largest number to about 1; at most 2**1000."""
    scales: Floats = np.ldexp(1.0, -np.clip(np.frexp(largest_sizes(values, 1))[1], -1000, 1000))
    return scales


def largest_sizes(values: Any, axis: int) -> Floats:
    """Return the largest magnitude in each row (axis 1) or column (axis 0) of an array or a CSR matrix."""
    if isinstance(values, np.ndarray):
        return np.asarray(np.abs(values).max(axis=axis, initial=0.0))
    found = np.zeros(values.shape[1 - axis])
    rows = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr)) if axis else values.indices
    np.maximum.at(found, rows, np.abs(values.data))
    return found
