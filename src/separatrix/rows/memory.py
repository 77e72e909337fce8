"""Rows in memory or in mapped files, dense or CSR, behind one type."""

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

SHARDS = 8  # of rows in memory, on every machine: the result of learning in shards depends on it


@dataclass(eq=False)
class MemoryRows:
    """Labeled rows of a matrix; sign and lift are applied while the rows are read.

    The fields do not change. Norms, radius and `integral` are computed when they are first asked for.

    Attributes
    ----------
    storage : DenseRows or SparseRows
        The matrix and the class codes, as the compiled loops read them.
    few : bool
        Whether NumPy replaces the compiled loops on these rows and on copies of some of them.

    The other attributes are those of `protocol.Rows`.
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

    def _ranges(self, length: int, vectors: int = 1) -> list[tuple[int, int]]:
        """Cut a number of rows into the ranges that threads work on; few rows are one range."""
        return [(0, length)] if self.few else threads.chunks(length, self.numbers * vectors)

    def _run(self, name: str, arguments: list[tuple[Any, ...]]) -> list[Any]:
        """Run a loop for each tuple of arguments: compiled, in threads; or in NumPy, if the rows are few."""
        if self.few:
            return [getattr(numpy_loops, name)(*each) for each in arguments]
        return threads.run_all(getattr(loops.rows, name), arguments)

    @cached_property
    def squared_norms(self) -> Floats:
        """|lift(x_i)|^2 for every row; raise if a value is not finite or its square overflows."""
        norms = np.empty(self.n_rows)
        parts = [(self.storage, np.arange(*each), norms) for each in self._ranges(self.n_rows)]
        for row in self._run("measure", parts):
            if row >= 0:
                raise self._not_finite(row)
        return norms

    def offer_norms(self, norms: Floats) -> None:
        """Accept the squared norms that a pass measured, if it measured every row and all are finite."""
        largest = float(norms.max(initial=0.0))
        if largest < np.inf and norms.min(initial=0.0) >= 0.0:
            self.squared_norms = norms
            if self.order.size == self.n_rows:
                self.radius = math.sqrt(largest)

    @property
    def matrix(self) -> Any:
        """The matrix itself: an array, or a CSR matrix."""
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
        """Whether every value is an integer, so that small sums are exact."""
        parts = [(self.storage, *each) for each in self._ranges(self.n_rows)]
        return all(threads.run_all(numpy_loops.integral, parts))

    def scan(self, weights: Floats, limit: int = 1, costs: Floats | None = None) -> Scan:
        """Score every row that counts under fixed weights: count the mistakes, keep the lowest scores."""
        return lowest(self.scores(weights), self.order, limit, costs)

    def take(self, indices: Ints) -> MemoryRows:
        """Copy a few rows, in the given order."""
        storage = self.storage
        taken: Any
        if not self.sparse:
            values = np.empty((len(indices), self.n_columns), dtype=storage.values.dtype)
            # Reading a row of a mapped file may load two megabytes around it: a few rows at a time.
            for start in range(0, len(indices), 64):
                values[start : start + 64] = storage.values[indices[start : start + 64]]
                threads.relax()
            taken = DenseRows(values, storage.labels[indices], storage.lift)
        else:
            found = self._csr()[indices]
            taken = SparseRows(found.data, found.indices, found.indptr, storage.labels[indices], storage.lift)
        return replace(self, storage=taken, order=np.arange(len(indices)))

    def outputs(self, weights: Floats) -> Floats:
        """Return <w, lift(x_i)> for every row and every weight vector: shape (rows, vectors)."""
        matrix = np.atleast_2d(weights)
        outputs = np.empty((self.n_rows, matrix.shape[0]))
        ranges = self._ranges(self.n_rows, matrix.shape[0])
        self._run("fill_outputs", [(self.storage, *each, matrix, outputs) for each in ranges])
        return outputs

    def scores(self, weights: Floats) -> Floats:
        """Return the signed score of every row."""
        scores, ranges = np.empty(self.n_rows), self._ranges(self.n_rows)
        if self.few or "squared_norms" in vars(self):
            parts = [(self.storage, *each, weights, np.empty(self.n_classes), scores) for each in ranges]
            self._run("fill_scores", parts)
        else:  # the first scores of many rows: measure the rows while they are read
            norms = np.empty(self.n_rows)
            self._run("fill_norms", [(self.storage, *each, weights, scores, norms) for each in ranges])
            self.offer_norms(norms)
        return scores

    def combination(self, multipliers: Floats) -> Floats:
        """Return the sum of ``multipliers[i] * z_i``; two classes only."""
        ranges = self._ranges(self.n_rows)
        totals = np.zeros((len(ranges), self.n_columns + self.lifted))
        parts = [(self.storage, *each, multipliers, totals[part]) for part, each in enumerate(ranges)]
        self._run("add_rows", parts)
        total: Floats = totals.sum(axis=0)
        return total

    def combine(self, counts: Ints, steps: Floats, weights: Floats) -> None:
        """Add ``steps[i] * counts[i, r]`` corrections of each row i against each rival r to the weights."""
        self._run("combine", [(self.storage, counts, steps, weights)])

    def class_sums(self, factors: Floats) -> Floats:
        """Return the sum of ``factors[i] * lift(x_i)`` over each class: shape (classes, width)."""
        unsigned = replace(self, storage=self.storage._replace(labels=np.ones_like(self.labels)))
        each = [unsigned.combination(np.where(self.labels == c, factors, 0.0)) for c in range(self.n_classes)]
        return np.array(each)

    def outer_sum(self, members: Ints) -> Floats:
        """Return the lower triangle of the sum of ``lift(x_i) lift(x_i)^T`` over some rows."""
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
        """Return the smallest and the largest number in each column of dense rows that count."""
        if not self.order.size:
            return np.full(self.n_columns, np.inf), np.full(self.n_columns, -np.inf)
        values = self.matrix if self.order.size == self.n_rows else self.matrix[self.order]
        return values.min(axis=0).astype(np.float64), values.max(axis=0).astype(np.float64)

    def less(self, center: Floats) -> MemoryRows:
        """Subtract a center from dense rows, in float64."""
        moved = np.zeros(self.matrix.shape)
        moved[self.order] = np.asarray(self.matrix[self.order], dtype=np.float64) - center
        return replace(self, storage=self.storage._replace(values=moved))

    def shards(self, number: int | None = None) -> LocalShards:
        """Cut the rows into ``number`` shards whose numbers of rows that count differ by at most one.

        If there are fewer rows than shards, each row is a shard.
        """
        pieces = np.array_split(self.order, SHARDS if number is None else number)
        return self.cut_at(np.array([0, *(piece[0] for piece in pieces[1:] if piece.size)]))

    def cut_at(self, starts: Ints) -> LocalShards:
        """Cut the rows into shards that start at the given rows, the first of which is row 0."""
        edges = itertools.pairwise([*starts.tolist(), self.n_rows])
        return LocalShards(tuple(self.between(*each) for each in edges), starts)

    def between(self, first: int, end: int) -> MemoryRows:
        """Return consecutive rows as a view."""
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


def lowest(scores: Floats, order: Ints, limit: int, costs: Floats | None = None) -> Scan:
    """Return the result of a scan from the scores of all rows; NaN counts as minus infinity.

    Parameters
    ----------
    scores : ndarray of shape (rows,)
    order : ndarray of int64
        The rows that count.
    limit : int
        The number of scores to keep; of equal scores, those of the first rows.
    costs : ndarray, optional
        The cost of a mistake on each row, or one number for all rows; by default one.
    """
    counted = scores if order.size == scores.size else scores[order]
    right, limit = counted > 0.0, max(1, min(limit, order.size))
    mistakes = order[~right]
    if mistakes.size:
        counted = np.where(np.isnan(counted), -np.inf, counted)
    each = np.ones(1) if costs is None else costs
    cost = float(each[0]) * mistakes.size if each.size == 1 else float(each[mistakes].sum())
    if limit < counted.size:
        border = np.partition(counted, limit - 1)[limit - 1] if limit > 1 else counted.min()
        below = np.flatnonzero(counted < border)
        kept = np.concatenate([below, np.flatnonzero(counted == border)[: limit - below.size]])
    else:
        kept = np.arange(counted.size)
    kept = kept[np.lexsort((kept, counted[kept]))]
    return Scan(mistakes.size, cost, order[kept], counted[kept])


@dataclass(frozen=True, eq=False)
class LocalShards:
    """Rows in memory, cut into views that the threads of this process visit.

    Attributes
    ----------
    parts : tuple of MemoryRows
    starts : ndarray of int64
        The first row of each part.
    """

    parts: tuple[MemoryRows, ...]
    starts: Ints

    def map(self, task: Callable[..., T], steps: Floats, *shared: Any) -> list[T]:
        """Call ``task(rows, steps, *shared)`` for the rows of each shard; return the results in order."""
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
    """Return rows of a 2-D array or CSR matrix and its class codes (0 .. n_classes - 1).

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (rows, columns)
        Any real type. The matrix is not copied, unless the loops cannot read its type (half and extended
        precision, foreign byte order), or its numbers do not lie row by row in memory: loops would take up to
        20 times as long. No place of a CSR matrix has several entries.
    labels : ndarray of shape (rows,)
    n_classes : int
    lift : bool
        Append a coordinate of ones, so that the last weight is the intercept.
    keep : boolean ndarray, or ndarray of int64, optional
        Which rows count, as a mask or as row numbers.
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
        storage = DenseRows(np.ascontiguousarray(_readable(X)), codes, int(lift))
    else:
        storage = SparseRows(_readable(X.data), X.indices, X.indptr, codes, int(lift))
    return MemoryRows(storage, n_classes, int(X.shape[1]), order, names)


def lightly(rows: R) -> R:
    """Return the rows, with NumPy instead of compiled loops if they are in memory and few."""
    if not isinstance(rows, MemoryRows):
        return rows
    return replace(rows, few=True) if rows.n_rows * rows.n_columns <= numpy_loops.FEW else rows


def lifted_by(rows: MemoryRows, constant: float) -> MemoryRows:
    """Return lifted rows whose last coordinate is another constant than one; they are copied."""
    if not rows.lifted or constant == 1.0:
        return rows
    column, storage = np.full((rows.n_rows, 1), constant), rows.storage
    if rows.sparse:
        joined = sparse.csr_array(sparse.hstack([rows.matrix, column], format="csr"))
        storage = SparseRows(joined.data, joined.indices, joined.indptr, storage.labels, 0)
    else:
        storage = storage._replace(values=np.hstack([storage.values, column]), lift=0)
    names = None if rows.names is None else (*rows.names, "intercept")
    return replace(rows, storage=storage, n_columns=rows.n_columns + 1, names=names)


def _readable(values: NDArray[Any]) -> NDArray[Any]:
    """Convert the numbers if compiled code cannot read their type."""
    if values.dtype == np.bool_:
        return values.view(np.uint8)
    if (
        values.dtype.kind in "iuf"
        and values.dtype.isnative
        and values.dtype not in (np.float16, np.longdouble)
    ):
        return values
    return values.astype(np.float64)
