"""Rows in memory, dense or CSR, behind one type."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import loops
from ..errors import NumericOverflowError, not_finite
from ..loops.layouts import DenseRows, SparseRows
from ..sparse import sparse
from . import numpy_loops, threads
from .protocol import Floats, Ints, Rows, Scan, T

R = TypeVar("R", bound=Rows)

SHARDS = 8  # of rows in memory, whatever the machine: the outcome depends on their number


@dataclass(eq=False)
class MemoryRows:
    """Labelled rows of a matrix that is never copied; sign and lift are applied as they are read.

    Its fields do not change once it is made. Norms, radius and `integral` are found when they are first asked
    for, and kept; a pass that measures the rows on its way may offer their norms.

    Attributes
    ----------
    storage : DenseRows or SparseRows
        The matrix and the class codes, as the compiled loops see them.
    n_classes : int
    n_columns : int
        Columns of the matrix, without the lift.
    order : ndarray of int64
        The rows that count, in their order; rows of zero weight are not among them.
    names : tuple of str or None
        Column names, where the data came with them.
    few : bool
        Whether NumPy does what loops do on these rows and on copies of some of them.
    labels : ndarray of shape (rows,)
        The class code of every row.
    n_rows : int
        Those of zero weight included.
    lifted : bool
        Whether a coordinate of ones is appended to each row.
    sparse : bool
        Whether the matrix is stored as CSR.
    weights_shape : tuple of int
        The shape of weights for these rows: one vector for two classes, else one a class.
    numbers : int
        How many stored numbers one pass reads: the unit of work.
    """

    storage: Any
    n_classes: int
    n_columns: int
    order: Ints
    names: tuple[str, ...] | None = None
    few: bool = False
    labels: NDArray[Any] = field(init=False, repr=False)
    n_rows: int = field(init=False)
    lifted: bool = field(init=False)
    sparse: bool = field(init=False)
    weights_shape: tuple[int, ...] = field(init=False)
    numbers: int = field(init=False)

    def __post_init__(self) -> None:
        storage = self.storage
        self.labels, self.n_rows, self.lifted = storage.labels, len(storage.labels), bool(storage.lift)
        self.sparse = isinstance(storage, SparseRows)
        width = self.n_columns + self.lifted
        self.weights_shape = (width,) if self.n_classes == 2 else (self.n_classes, width)
        self.numbers = int((storage.data if self.sparse else storage.values).size) + self.n_rows

    @property
    def _loops(self) -> Any:
        return numpy_loops if self.few else loops.rows

    @cached_property
    def squared_norms(self) -> Floats:
        """|lift(x_i)|^2 for every row; raises where a value is not finite or its square overflows."""
        norms, ranges = np.empty(self.n_rows), threads.chunks(self.n_rows, self.numbers)
        found = threads.run_all(
            self._loops.measure, [(self.storage, np.arange(*each), norms) for each in ranges]
        )
        for row in found:
            if row >= 0:
                raise self._not_finite(row)
        if norms.min(initial=0.0) >= 0.0:
            return norms
        merged = self._csr().copy()
        merged.sum_duplicates()
        squares: Floats = merged.multiply(merged).sum(axis=1) + self.storage.lift
        return squares

    def offer_norms(self, norms: Floats) -> None:
        """Take squared norms that a pass measured on its way, if it measured every row and all are finite."""
        largest = float(norms.max(initial=0.0))
        if largest < np.inf and norms.min(initial=0.0) >= 0.0:
            self.squared_norms = norms
            if self.order.size == self.n_rows:
                self.radius = math.sqrt(largest)

    @property
    def matrix(self) -> Any:
        """The matrix itself: an array, or CSR."""
        return self._csr() if self.sparse else self.storage.values

    def _csr(self) -> Any:
        storage = self.storage
        shape = (self.n_rows, self.n_columns)
        return sparse.csr_array((storage.data, storage.indices, storage.indptr), shape=shape)

    @cached_property
    def radius(self) -> float:
        """R: the largest norm of a lifted row that counts."""
        norms = self.squared_norms if self.order.size == self.n_rows else self.squared_norms[self.order]
        return float(np.sqrt(norms.max(initial=0.0)))

    @cached_property
    def integral(self) -> bool:
        """Whether every value is a whole number, so that sums do not round while they are small."""
        ranges = threads.chunks(self.n_rows, self.numbers)
        return all(threads.run_all(self._loops.integral, [(self.storage, *each) for each in ranges]))

    def scan(self, weights: Floats, limit: int = 1, costs: Floats | None = None) -> Scan:
        """Score every row that counts under fixed weights: count the mistakes, keep the lowest scores.

        So many as ``limit`` are kept, of equal scores those of the first rows. ``costs`` says what a mistake
        on each row costs; an array of one number serves all rows.
        """
        costs = np.ones(1) if costs is None else costs
        limit = max(1, min(limit, self.order.size))
        ranges = threads.chunks(self.order.size, self.numbers)
        scores = np.full((len(ranges), limit), np.inf)
        rows = np.full((len(ranges), limit), -1, dtype=np.int64)
        parts = threads.run_all(
            self._loops.scan,
            [
                (self.storage, self.order[start:stop], weights, costs, scores[part], rows[part])
                for part, (start, stop) in enumerate(ranges)
            ],
        )
        found = rows.ravel() >= 0
        all_scores, all_rows = scores.ravel()[found], rows.ravel()[found]
        kept = np.lexsort((all_rows, all_scores))[:limit]
        mistakes, cost = (sum(each) for each in zip(*parts, strict=True))
        return Scan(int(mistakes), float(cost), all_rows[kept], all_scores[kept])

    def take(self, indices: Ints) -> MemoryRows:
        """Copy a few rows, in the given order, into rows of their own."""
        storage = self.storage
        if not self.sparse:
            values = np.empty((len(indices), self.n_columns), dtype=storage.values.dtype)
            # A row of a mapped file may bring two million bytes around it into memory: a few at a time.
            for start in range(0, len(indices), 64):
                values[start : start + 64] = storage.values[indices[start : start + 64]]
                threads.relax()
            taken: Any = DenseRows(values, storage.labels[indices], storage.lift)
        else:
            found = self._csr()[indices]
            taken = SparseRows(found.data, found.indices, found.indptr, storage.labels[indices], storage.lift)
        return replace(self, storage=taken, order=np.arange(len(indices)))

    def outputs(self, weights: Floats) -> Floats:
        """<w, lift(x_i)> for every row and every weight vector: shape (rows, vectors)."""
        matrix = np.atleast_2d(weights)
        outputs = np.empty((self.n_rows, matrix.shape[0]))
        ranges = threads.chunks(self.n_rows, self.numbers * matrix.shape[0])
        threads.run_all(self._loops.fill_outputs, [(self.storage, *each, matrix, outputs) for each in ranges])
        return outputs

    def scores(self, weights: Floats) -> Floats:
        """<w, z_i> for every row, two classes."""
        scores, ranges = np.empty(self.n_rows), threads.chunks(self.n_rows, self.numbers)
        parts = [(self.storage, *each, weights, scores) for each in ranges]
        threads.run_all(self._loops.fill_scores, parts)
        return scores

    def combination(self, multipliers: Floats) -> Floats:
        """Sum of ``multipliers[i] * z_i``, two classes."""
        ranges = threads.chunks(self.n_rows, self.numbers)
        totals = np.zeros((len(ranges), self.n_columns + self.lifted))
        parts = [(self.storage, *each, multipliers, totals[part]) for part, each in enumerate(ranges)]
        threads.run_all(self._loops.add_rows, parts)
        total: Floats = totals.sum(axis=0)
        return total

    def combine(self, counts: Ints, steps: Floats, weights: Floats) -> None:
        """Add ``steps[i] * counts[i, r]`` corrections of each row i against each rival r to the weights."""
        self._loops.combine(self.storage, counts, steps, weights)

    def class_sums(self, factors: Floats) -> Floats:
        """Sum of ``factors[i] * lift(x_i)`` over the rows of each class: shape (classes, width)."""
        unsigned = replace(self, storage=self.storage._replace(labels=np.ones_like(self.labels)))
        each = [unsigned.combination(np.where(self.labels == c, factors, 0.0)) for c in range(self.n_classes)]
        return np.array(each)

    def outer_sum(self, members: Ints) -> Floats:
        """Sum of ``lift(x_i) lift(x_i)^T`` over some rows; only the lower triangle is meant."""
        width = self.n_columns + self.lifted
        square = np.zeros((width, width))
        if self.sparse:
            loops.rows.outer_sum(self.storage, members, square)
            return square
        size = max(1, threads.MOST_AT_ONCE // width)
        for start in range(0, members.size, size):
            block = self.storage.values[members[start : start + size]].astype(np.float64, copy=False)
            square[: self.n_columns, : self.n_columns] += block.T @ block
            if self.lifted:
                square[-1, :-1] += block.sum(axis=0)
        if self.lifted:
            square[-1, -1] = members.size
        return square

    @property
    def local(self) -> MemoryRows:
        """These rows: they are in memory."""
        return self

    def column_reach(self) -> tuple[Floats, Floats]:
        """The smallest and the largest number of each column of dense rows that count."""
        if not self.order.size:
            return np.full(self.n_columns, np.inf), np.full(self.n_columns, -np.inf)
        values = self.matrix if self.order.size == self.n_rows else self.matrix[self.order]
        return values.min(axis=0).astype(np.float64), values.max(axis=0).astype(np.float64)

    def less(self, center: Floats) -> MemoryRows:
        """Dense rows less a center, in float64."""
        moved = np.zeros(self.matrix.shape)
        moved[self.order] = np.asarray(self.matrix[self.order], dtype=np.float64) - center
        return replace(self, storage=self.storage._replace(values=moved))

    def shards(self, number: int | None = None) -> LocalShards:
        """Cut the rows into so many shards whose counts of rows that count differ by one at most.

        Where there are fewer rows than that, each is a shard. The number does not depend on the machine,
        because the outcome of learning in shards depends on it.
        """
        pieces = np.array_split(self.order, SHARDS if number is None else number)
        return self.cut_at(np.array([0, *(piece[0] for piece in pieces[1:] if piece.size)]))

    def cut_at(self, starts: Ints) -> LocalShards:
        """Cut the rows into shards that begin at the given rows, the first of which is row 0."""
        edges = itertools.pairwise([*starts.tolist(), self.n_rows])
        return LocalShards(tuple(self._slice(*each) for each in edges), starts)

    def _slice(self, first: int, end: int) -> MemoryRows:
        """Some consecutive rows, as a view."""
        storage, (low, high) = self.storage, np.searchsorted(self.order, [first, end])
        labels = storage.labels[first:end]
        if self.sparse:
            begin, stop = storage.indptr[first], storage.indptr[end]
            part = storage._replace(
                data=storage.data[begin:stop],
                indices=storage.indices[begin:stop],
                indptr=storage.indptr[first : end + 1] - begin,
                labels=labels,
            )
        else:
            part = storage._replace(values=storage.values[first:end], labels=labels)
        return replace(self, storage=part, order=self.order[low:high] - first)

    def _not_finite(self, row: int) -> Exception:
        storage = self.storage
        if not self.sparse:
            values, columns = storage.values[row], np.arange(self.n_columns)
        else:
            part = slice(storage.indptr[row], storage.indptr[row + 1])
            values, columns = storage.data[part], storage.indices[part]
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            return not_finite(values[bad[0]], row, int(columns[bad[0]]), self.names)
        return NumericOverflowError(
            f"Row {row} of X is too large: the square of its norm is beyond float64.",
            remedy="Scale the columns first, for example with sklearn.preprocessing.StandardScaler.",
            parameter="X",
        )


@dataclass(frozen=True, eq=False)
class LocalShards:
    """Rows in memory in pieces, which the threads of this process visit.

    Attributes
    ----------
    parts : tuple of MemoryRows
        Views: no number is copied.
    starts : ndarray of int64
        The first row of each.
    """

    parts: tuple[MemoryRows, ...]
    starts: Ints

    def map(self, task: Callable[..., T], steps: Floats, *shared: Any) -> list[T]:
        """Call ``task(rows, steps, *shared)`` for the rows of each shard; what it returns, in their order."""
        own = [steps] * len(self.parts) if steps.size == 1 else np.split(steps, self.starts[1:])
        return threads.run_all(
            task, [(part, each, *shared) for part, each in zip(self.parts, own, strict=True)]
        )


def as_rows(
    X: Any,
    labels: NDArray[Any],
    *,
    n_classes: int = 2,
    lift: bool = True,
    keep: NDArray[np.bool_] | Ints | None = None,
    names: tuple[str, ...] | None = None,
) -> MemoryRows:
    """See a 2-D array or CSR matrix and its class codes (0 .. n_classes - 1) as rows, without copying.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (rows, columns)
        Any real type; only types that the loops cannot read (half and extended precision,
        foreign byte order) are converted.
    labels : ndarray of shape (rows,)
    n_classes : int
    lift : bool
        Append a coordinate of ones, so that the last weight is the intercept.
    keep : boolean ndarray, or ndarray of int64, optional
        Which rows count, or their numbers in turn.
    names : tuple of str, optional
        Column names for messages.
    """
    codes = np.ascontiguousarray(labels, dtype=np.int32)
    if keep is None:
        order: Ints = np.arange(codes.size)
    else:
        order = np.flatnonzero(keep) if keep.dtype == np.bool_ else np.asarray(keep, dtype=np.int64)
    storage: Any
    if isinstance(X, np.ndarray):
        storage = DenseRows(_readable(X), codes, int(lift))
    else:
        storage = SparseRows(_readable(X.data), X.indices, X.indptr, codes, int(lift))
    return MemoryRows(storage, n_classes, int(X.shape[1]), order, names)


def lightly(rows: R) -> R:
    """The same rows; NumPy does the loops if they are in memory, and few."""
    if isinstance(rows, MemoryRows) and rows.n_rows * rows.n_columns <= numpy_loops.FEW:
        return replace(rows, few=True)
    return rows


def _readable(values: NDArray[Any]) -> NDArray[Any]:
    """The same numbers in a type that compiled code reads."""
    if values.dtype == np.bool_:
        return values.view(np.uint8)
    if (
        values.dtype.kind in "iuf"
        and values.dtype.isnative
        and values.dtype not in (np.float16, np.longdouble)
    ):
        return values
    return values.astype(np.float64)
