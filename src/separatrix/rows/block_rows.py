"""Rows on a cluster: each worker computes on its own blocks, and the results are merged in block order.

Only weights, the lowest scores, sums, one number per row (and weight vector), and the few rows that `take`
copies are sent. Because the merge follows the order of the blocks, the answers depend on the blocks, but
neither on the workers nor on their speed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
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
    """Labeled rows of a matrix whose blocks are on a cluster.

    Attributes are those of the protocol, and:

    Attributes
    ----------
    matrix : BlockMatrix
    codes : list of handles
        The class codes of the rows of each block, stored with the block.
    labels : ndarray of shape (rows,)
        The same codes in memory.
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
        """A mask of the rows that count, stored with each block; None if all rows count."""
        matrix = self.matrix
        if self.order.size == self.n_rows:
            return None
        keep = np.zeros(self.n_rows, dtype=bool)
        keep[self.order] = True
        return matrix.beside("mask", [(np.packbits(part),) for (part,) in matrix.pieces(keep)])

    @property
    def local(self) -> None:
        """None, because the rows are not in memory."""
        return None

    @property
    def starts(self) -> Ints:
        """The first row of each block."""
        return self.matrix.offsets[:-1]

    def shards(self, number: int | None = None) -> ClusterRows:
        """Return these rows: each block is a shard."""
        if number not in (None, self.starts.size):
            raise InputError(
                f"The rows lie in {self.starts.size} partitions, and these are the shards. Got "
                f"shards={number}.",
                remedy="Leave shards out, or divide the collection again with rechunk or repartition.",
                parameter="shards",
            )
        return self

    def map(self, task: Callable[..., T], steps: Floats, *shared: Any) -> list[T]:
        """Call ``task(rows, steps, *shared)`` for each block, where it is; return the results in order."""
        if steps.size == 1:
            return self.on_each("pass", _visit, task, shared, steps)
        return self.on_each("pass", _visit, task, shared, each=self._each(steps))

    @cached_property
    def squared_norms(self) -> Floats:
        """|lift(x_i)|^2 for every row; raise if a value is not finite or its square overflows."""
        return np.concatenate([np.empty(0), *self.on_each("norms", _ask, "squared_norms")])

    @cached_property
    def radius(self) -> float:
        """R: the largest norm of a lifted row that counts."""
        return max(self.on_each("radius", _ask, "radius"), default=0.0)

    @cached_property
    def integral(self) -> bool:
        """Whether every value is an integer, so that small sums are exact."""
        return all(self.on_each("integral", _ask, "integral"))

    def scan(self, weights: Floats, limit: int = 1, costs: Floats | None = None) -> Scan:
        """Score every row that counts under fixed weights: count the mistakes, keep the lowest scores."""
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
        """Return <w, lift(x_i)> for every row and every weight vector: shape (rows, vectors)."""
        return np.concatenate(self.on_each("outputs", _ask, "outputs", weights))

    def scores(self, weights: Floats) -> Floats:
        """Return the signed score of every row."""
        return np.concatenate(self.on_each("outputs", _ask, "scores", weights))

    def combination(self, multipliers: Floats) -> Floats:
        """Return the sum of ``multipliers[i] * z_i``; two classes only."""
        return self._sum(self.on_each("sum", _ask, "combination", each=self._each(multipliers)))

    def combine(self, counts: Ints, steps: Floats, weights: Floats) -> None:
        """Add ``steps[i] * counts[i, r]`` corrections of each row i against each rival r to the weights.

        Few rows were corrected, so they are fetched; the sum is then that of rows in memory, bit for bit.
        """
        used = np.flatnonzero(counts.any(axis=1))
        rows = max(1, threads.MOST_AT_ONCE // max(1, self.n_columns))
        for start in range(0, used.size, rows):
            part = used[start : start + rows]
            self.take(part).combine(counts[part], steps if steps.size == 1 else steps[part], weights)

    def class_sums(self, factors: Floats) -> Floats:
        """Return the sum of ``factors[i] * lift(x_i)`` over each class: shape (classes, width)."""
        return self._sum(self.on_each("sum", _ask, "class_sums", each=self._each(factors)))

    def outer_sum(self, members: Ints) -> Floats:
        """Return the lower triangle of the sum of ``lift(x_i) lift(x_i)^T`` over some rows."""
        chosen = np.zeros(self.n_rows, dtype=bool)
        chosen[members] = True
        each = [(np.flatnonzero(part),) for (part,) in self.matrix.pieces(chosen)]
        return self._sum(self.on_each("sum", _ask, "outer_sum", each=each))

    def on_each(self, name: str, task: Any, *common: Any, each: Any = None, pause: Any = None) -> list[Any]:
        """Call ``task(rows, *common, *each)`` with each block as `MemoryRows`, where it is."""
        beside = (self.codes,) if self._kept is None else (self.codes, self._kept)
        options = {"n_classes": self.n_classes, "lift": self.lifted, "names": self.names}
        call = partial(_on_rows, self._kept is not None)
        return self.matrix.map(name, call, task, options, common, beside=beside, each=each, pause=pause)

    def column_reach(self) -> tuple[Floats, Floats]:
        """Return the smallest and the largest number in each column of dense rows that count."""
        lows, highs = zip(*self.on_each("reach", _ask, "column_reach"), strict=True)
        return np.minimum.reduce(lows), np.maximum.reduce(highs)

    def less(self, center: Floats) -> ClusterRows:
        """Subtract a center from dense rows, in float64, where the rows are."""
        return replace(self, matrix=self.matrix.copied("move", _less, center, dtype=np.float64))

    def _each(self, values: Floats) -> list[tuple[Any]]:
        return self.matrix.pieces(np.ascontiguousarray(values, dtype=np.float64))

    @staticmethod
    def _sum(parts: list[Floats]) -> Floats:
        return sum(parts[1:], start=parts[0])  # in the order of the blocks, whichever was first


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
    """Return rows of a matrix in blocks and its class codes.

    Parameters
    ----------
    matrix : BlockMatrix
    codes : list of handles
        The codes of the rows of each block.
    labels : ndarray of shape (rows,)
        The codes of all rows, or whether each is ``positive`` if that is given.
    n_classes, lift, keep, names
        As for `as_rows`.
    positive : int, optional
        The class that is compared with all others.
    """
    order = np.arange(matrix.shape[0]) if keep is None else np.flatnonzero(keep)
    if positive is not None:
        codes = matrix.runner.keep(Work("codes", _against_the_rest, [(each,) for each in codes], (positive,)))
    return ClusterRows(matrix, codes, labels, n_classes, bool(lift), order, names)


def _against_the_rest(codes: NDArray[np.int32], positive: int) -> NDArray[np.int32]:
    return np.asarray(codes == positive, dtype=np.int32)


def _on_rows(masked: bool, block: Any, codes: NDArray[Any], *rest: Any) -> Any:
    """Call a task with a block as rows in memory, which are not copied; its mask follows the codes."""
    order = np.flatnonzero(np.unpackbits(rest[0], count=len(codes))) if masked else None
    task, options, common, *own = rest[1:] if masked else rest
    return task(as_rows(block, codes, keep=order, **options), *common, *own)


def _visit(rows: MemoryRows, task: Any, shared: tuple[Any, ...], steps: Floats) -> Any:
    return task(rows, _writable(steps), *shared)


def _ask(rows: MemoryRows, name: str, *arguments: Any) -> Any:
    """Return a property of the rows of a block, or the result of a method."""
    found = getattr(rows, name)
    return found(*map(_writable, arguments)) if callable(found) else found


def _less(block: NDArray[Any], center: Floats) -> Floats:
    return np.asarray(block, dtype=np.float64) - center


def _writable(value: Any) -> Any:
    """Return the same value; arrays become writable, because loops are compiled for writable ones."""
    return np.require(value, requirements="W") if isinstance(value, np.ndarray) else value
