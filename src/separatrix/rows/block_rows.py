"""Rows on a cluster: what the protocol asks is answered where the blocks lie, and merged in their order.

Only weights, the lowest scores, sums, one number a row (and weight vector), and the few rows that `take`
copies travel. Merging goes by the order of the blocks, so that the answers depend on the blocks, but neither
on the workers nor on their speed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from . import threads
from .blocks import BlockMatrix, Handle, Work
from .memory import MemoryRows, as_rows
from .protocol import Floats, Ints, Scan, T


@dataclass(eq=False)
class ClusterRows:
    """Labelled rows of a matrix in blocks that are elsewhere.

    Attributes are those of the protocol, and:

    Attributes
    ----------
    matrix : BlockMatrix
    codes : list of handles
        The class codes of each block's rows, where these are.
    labels : ndarray of shape (rows,)
        The same in memory.
    order : ndarray of int64
        The rows that count.
    """

    matrix: BlockMatrix
    codes: list[Handle]
    labels: NDArray[Any]
    n_classes: int
    lifted: bool
    order: Ints
    names: tuple[str, ...] | None = None
    n_rows: int = field(init=False)
    n_columns: int = field(init=False)
    sparse: bool = field(init=False)
    numbers: int = field(init=False)
    weights_shape: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        matrix = self.matrix
        self.n_rows, self.n_columns = matrix.shape
        self.sparse = matrix.csr
        self.numbers = int(matrix.stored.sum()) + self.n_rows
        width = self.n_columns + self.lifted
        self.weights_shape = (width,) if self.n_classes == 2 else (self.n_classes, width)

    @cached_property
    def _kept(self) -> list[Handle] | None:
        """For each block, which of its rows count, beside the block; None where all do."""
        matrix = self.matrix
        if self.order.size == self.n_rows:
            return None
        keep = np.zeros(self.n_rows, dtype=bool)
        keep[self.order] = True
        return matrix.beside("mask", [(np.packbits(part),) for (part,) in matrix.pieces(keep)])

    @property
    def local(self) -> None:
        """None: the rows are elsewhere."""
        return None

    @property
    def starts(self) -> Ints:
        """The first row of each block."""
        return self.matrix.offsets[:-1]

    def shards(self, number: int | None = None) -> ClusterRows:
        """The rows themselves: each block is a shard."""
        if number not in (None, self.starts.size):
            raise InputError(
                f"The rows lie in {self.starts.size} partitions, and these are the shards. Got "
                f"shards={number}.",
                remedy="Leave shards out, or cut the collection anew with rechunk or repartition.",
                parameter="shards",
            )
        return self

    def map(self, task: Callable[..., T], steps: Floats, *shared: Any) -> list[T]:
        """Call ``task(rows, steps, *shared)`` where each block is; what it returns, block by block."""
        if steps.size == 1:
            return self.on_each("pass", _visit, task, shared, steps)
        return self.on_each("pass", _visit, task, shared, each=self._each(steps))

    @cached_property
    def squared_norms(self) -> Floats:
        """|lift(x_i)|^2 for every row; raises where a value is not finite or its square overflows."""
        return np.concatenate([np.empty(0), *self.on_each("norms", _ask, "squared_norms")])

    @cached_property
    def radius(self) -> float:
        """R: the largest norm of a lifted row that counts."""
        return max(self.on_each("radius", _ask, "radius"), default=0.0)

    @cached_property
    def integral(self) -> bool:
        """Whether every value is a whole number, so that sums do not round while they are small."""
        return all(self.on_each("integral", _ask, "integral"))

    def scan(self, weights: Floats, limit: int = 1, costs: Floats | None = None) -> Scan:
        """Score every row that counts under fixed weights: count the mistakes, keep the lowest scores.

        So many as ``limit`` are kept, of equal scores those of the first rows. ``costs`` says what a mistake
        on each row costs; an array of one number serves all rows.
        """
        limit = max(1, min(limit, self.order.size))
        each = self._each(costs) if costs is not None and costs.size > 1 else None
        common = (weights, limit) if each is not None else (weights, limit, costs)
        parts = self.on_each("scan", _ask, "scan", *common, each=each)
        rows = np.concatenate([part.rows + at for part, at in zip(parts, self.starts, strict=True)])
        scores = np.concatenate([part.scores for part in parts])
        kept = np.lexsort((rows, scores))[:limit]
        mistakes, cost = sum(part.mistakes for part in parts), sum(part.cost for part in parts)
        return Scan(mistakes, float(cost), rows[kept], scores[kept])

    def take(self, indices: Ints) -> MemoryRows:
        """Copy a few rows, in the given order, into memory."""
        found = self.matrix[np.asarray(indices, dtype=np.int64)]
        return as_rows(
            found, self.labels[indices], n_classes=self.n_classes, lift=self.lifted, names=self.names
        )

    def outputs(self, weights: Floats) -> Floats:
        """<w, lift(x_i)> for every row and every weight vector: shape (rows, vectors)."""
        return np.concatenate(self.on_each("outputs", _ask, "outputs", weights))

    def scores(self, weights: Floats) -> Floats:
        """<w, z_i> for every row, two classes."""
        return np.concatenate(self.on_each("outputs", _ask, "scores", weights))

    def combination(self, multipliers: Floats) -> Floats:
        """Sum of ``multipliers[i] * z_i``, two classes."""
        return self._sum(self.on_each("sum", _ask, "combination", each=self._each(multipliers)))

    def combine(self, counts: Ints, steps: Floats, weights: Floats) -> None:
        """Add ``steps[i] * counts[i, r]`` corrections of each row i against each rival r to the weights.

        Rows that were corrected are few, and fetched; then the sum is that of rows in memory, bit by bit.
        """
        used = np.flatnonzero(counts.any(axis=1))
        rows = max(1, threads.MOST_AT_ONCE // max(1, self.n_columns))
        for start in range(0, used.size, rows):
            part = used[start : start + rows]
            self.take(part).combine(counts[part], steps if steps.size == 1 else steps[part], weights)

    def class_sums(self, factors: Floats) -> Floats:
        """Sum of ``factors[i] * lift(x_i)`` over the rows of each class: shape (classes, width)."""
        return self._sum(self.on_each("sum", _ask, "class_sums", each=self._each(factors)))

    def outer_sum(self, members: Ints) -> Floats:
        """Sum of ``lift(x_i) lift(x_i)^T`` over some rows; only the lower triangle is meant."""
        chosen = np.zeros(self.n_rows, dtype=bool)
        chosen[members] = True
        each = [(np.flatnonzero(part),) for (part,) in self.matrix.pieces(chosen)]
        return self._sum(self.on_each("sum", _ask, "outer_sum", each=each))

    def on_each(self, name: str, task: Any, *common: Any, each: Any = None, pause: Any = None) -> list[Any]:
        """Call ``task(rows, *common, *each)`` with each block as `MemoryRows`, where it is."""
        kept = self._kept
        return self.matrix.map(
            name,
            _on_every_row if kept is None else _on_rows,
            task,
            self.n_classes,
            self.lifted,
            self.names,
            common,
            beside=(self.codes,) if kept is None else (self.codes, kept),
            each=each,
            pause=pause,
        )

    def column_reach(self) -> tuple[Floats, Floats]:
        """The smallest and the largest number of each column of dense rows that count."""
        lows, highs = zip(*self.on_each("reach", _ask, "column_reach"), strict=True)
        return np.minimum.reduce(lows), np.maximum.reduce(highs)

    def less(self, center: Floats) -> ClusterRows:
        """Dense rows less a center, in float64; kept where the rows are."""
        return replace(self, matrix=self.matrix.copied("move", _less, center, dtype=np.float64))

    def _each(self, values: Floats) -> list[tuple[Any]]:
        return self.matrix.pieces(np.ascontiguousarray(values, dtype=np.float64))

    @staticmethod
    def _sum(parts: list[Floats]) -> Floats:
        return sum(parts[1:], start=parts[0])  # in the order of the blocks, whoever was first


def cluster_rows(
    matrix: BlockMatrix,
    codes: list[Handle],
    labels: NDArray[Any],
    *,
    n_classes: int = 2,
    lift: bool = True,
    keep: NDArray[np.bool_] | None = None,
    names: tuple[str, ...] | None = None,
    positive: int | None = None,
) -> ClusterRows:
    """See a matrix in blocks and its class codes as rows.

    Parameters
    ----------
    matrix : BlockMatrix
    codes : list of handles
        The codes of each block's rows.
    labels : ndarray of shape (rows,)
        The codes of all rows; whether they are ``positive``, where that is given.
    n_classes, lift, keep, names
        As for `as_rows`.
    positive : int, optional
        The class to be set against the rest.
    """
    order = np.arange(matrix.shape[0]) if keep is None else np.flatnonzero(keep)
    if positive is not None:
        codes = matrix.runner.keep(Work("codes", _against_the_rest, [(each,) for each in codes], (positive,)))
    return ClusterRows(matrix, codes, labels, n_classes, bool(lift), order, names)


def _against_the_rest(codes: NDArray[np.int32], positive: int) -> NDArray[np.int32]:
    return np.asarray(codes == positive, dtype=np.int32)


def _on_every_row(block: Any, codes: NDArray[Any], *arguments: Any) -> Any:
    return _on_rows(block, codes, None, *arguments)


def _on_rows(
    block: Any,
    codes: NDArray[Any],
    kept: NDArray[np.uint8] | None,
    task: Any,
    n_classes: int,
    lifted: bool,
    names: tuple[str, ...] | None,
    common: tuple[Any, ...],
    *own: Any,
) -> Any:
    """Call a task with a block as rows in memory, which are not copied."""
    order = None if kept is None else np.flatnonzero(np.unpackbits(kept, count=len(codes)))
    rows = as_rows(block, codes, n_classes=n_classes, lift=lifted, keep=order, names=names)
    return task(rows, *common, *own)


def _visit(rows: MemoryRows, task: Any, shared: tuple[Any, ...], steps: Floats) -> Any:
    return task(rows, _writable(steps), *shared)


def _ask(rows: MemoryRows, name: str, *arguments: Any) -> Any:
    """What the rows of a block answer: a property, or a method called with arguments."""
    found = getattr(rows, name)
    return found(*map(_writable, arguments)) if callable(found) else found


def _less(block: NDArray[Any], center: Floats) -> Floats:
    return np.asarray(block, dtype=np.float64) - center


def _writable(value: Any) -> Any:
    """The same value; an array in memory that may be written, which is what loops are compiled for."""
    return np.require(value, requirements="W") if isinstance(value, np.ndarray) else value
