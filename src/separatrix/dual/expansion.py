"""The weights of a kernel perceptron: every update in order, and the support with its coefficients."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ..errors import NumericOverflowError
from ..loops import kernels as kernel_loops
from ..result import Floats, Ints, KernelTrace
from ..rows import threads
from ..rows.numpy_loops import signed_scores
from ..sparse import sparse
from .similarity import Side, Similarity, TrainingRows


class Support:
    """Rows with a coefficient for the output of each class; two classes have one column of coefficients."""

    PIECE = 512  # updates, or rows of the support, in one product

    def __init__(self, similarity: Similarity, n_classes: int) -> None:
        self.similarity = similarity
        self.n_classes = n_classes
        self.columns = 1 if n_classes == 2 else n_classes
        self.anchors = SupportRows()
        self.size = self.made = self.visits = 0
        self.rows = np.zeros(0, dtype=np.int64)
        self.coef = np.zeros((0, self.columns))
        self.width, self.radius, self.longest = 0, 0.0, 0.0

    def measure(self, rows: TrainingRows) -> None:
        """Include rows in the bounds of width and length, before they are visited."""
        self.width = max(self.width, rows.width)
        self.radius = max(self.radius, rows.radius)
        self.longest = max(self.longest, float(rows.roots.max(initial=0.0)))

    def need_finite(self, outputs: Floats) -> Floats:
        """Return the outputs, or raise an error if one of them left the range of float64."""
        if not np.isfinite(outputs).all():
            raise NumericOverflowError(
                f"An output left the range of float64 after {self.made} updates.",
                remedy="Scale the columns, for example with sklearn.preprocessing.MaxAbsScaler.",
                parameter="X",
            )
        return outputs

    def outputs(self, left: Side, coef: Floats, dtype: Any = np.float64) -> Floats:
        """Return the outputs of rows for given coefficients of the support."""
        total = np.zeros((left.size, coef.shape[1]))
        for start in range(0, self.size, self.PIECE):
            stop = min(self.size, start + self.PIECE)
            right = self.similarity.side(self.anchors.part(start, stop), dtype)
            total += self.similarity.block(left, right, dtype=dtype) @ coef[start:stop].astype(dtype)
        return total


class Expansion(Support):
    """The weights as a list of updates, and as a support with coefficients.

    ``updates[m]`` is (slot in the support, own class, rival, visit) of the m-th mistake, ``amounts[m]`` its
    step.
    """

    BLOCK = 512  # the largest number of rows in a block
    TILE = 256  # rows of the support in a product that decides: its shape never changes

    def __init__(self, similarity: Similarity, n_classes: int) -> None:
        super().__init__(similarity, n_classes)
        self.updates = np.zeros((0, 4), dtype=np.int64)
        self.amounts = np.zeros(0)
        self.reach = np.zeros(self.columns)
        self.measures = np.array([0.0, np.inf])

    def fork(self) -> Expansion:
        """Return a copy that can be changed while the original stays the same."""
        other = copy.copy(self)
        other.anchors = self.anchors.fork()
        other.coef = self.coef.copy()
        other.reach, other.measures = self.reach.copy(), self.measures.copy()
        return other

    def extend(self, anchors: Any, rows: Ints, slots: Ints, entries: Ints, amounts: Floats) -> None:
        """Add updates: new rows of the support first, then (own, rival, visit) of each update."""
        size, made = self.size + rows.size, self.made + slots.size
        if rows.size:
            self.anchors.append(anchors)
            self.rows = grown(self.rows, self.size, size, (), np.int64)
            self.rows[self.size : size] = rows
            self.coef = grown(self.coef, self.size, size, (self.columns,), np.float64)
            self.coef[self.size : size] = 0.0
        self.updates = grown(self.updates, self.made, made, (4,), np.int64)
        self.updates[self.made : made, 0] = slots
        self.updates[self.made : made, 1:] = entries
        self.amounts = grown(self.amounts, self.made, made, (), np.float64)
        self.amounts[self.made : made] = amounts
        self.size = size
        np.add.at(self.coef, slots, self.corrections(self.made, made))
        self.made = made

    def rebuild(self) -> None:
        """Compute the coefficients again from the updates, after an interrupt between the two."""
        self.size = min(self.size, len(self.anchors))
        self.coef[...] = 0.0
        np.add.at(self.coef, self.updates[: self.made, 0], self.corrections(0, self.made))

    def corrections(self, start: int, stop: int, scales: Floats | None = None) -> Floats:
        """Return what each update added to the output of each class: shape (updates, columns)."""
        part = self.updates[start:stop]
        amounts = self.amounts[start:stop] * (1.0 if scales is None else scales)
        found = np.zeros((part.shape[0], self.columns))
        every = np.arange(part.shape[0])
        if self.columns == 1:
            found[:, 0] = (2.0 * part[:, 1] - 1.0) * amounts
        else:
            found[every, part[:, 1]] += amounts
            found[every, part[:, 2]] -= amounts
        return found

    def averaged(self) -> Floats:
        """Return the coefficients of the mean of the weights over all visits."""
        late = 1.0 - self.updates[: self.made, 3] / max(1, self.visits)
        coef = np.zeros((self.size, self.columns))
        np.add.at(coef, self.updates[: self.made, 0], self.corrections(0, self.made, late))
        return coef

    def survivals(self) -> Ints:
        """Return how many visits each intermediate model lasted; the first model has no updates."""
        times: Any = np.concatenate([[0], self.updates[: self.made, 3], [self.visits]])
        gaps: Ints = np.diff(times).astype(np.int64)
        return gaps

    def mass(self) -> float:
        """Return the sum of all steps."""
        return float(self.amounts[: self.made].sum())

    def error(self) -> float:
        """Return a bound on the difference of an output and the one that decides, per unit of reach and root.

        A kernel without a rounding bound has none; all its outputs are computed in the way that decides.
        """
        sums = (3 * self.made + self.PIECE + 4 * self.BLOCK + 64) * float(np.finfo(np.float64).eps)
        rounding = self.similarity.rounding(self.width, self.radius, np.float64)
        assert rounding is not None, "a kernel without a bound is computed one row at a time"
        return 2.0 * rounding + sums

    def outputs_since(self, left: Side, since: int) -> Floats:
        """Return what the updates from a given one on add to the outputs of rows."""
        total = np.zeros((left.size, self.columns))
        for start in range(since, self.made, self.PIECE):
            stop = min(start + self.PIECE, self.made)
            right = self.similarity.side(self.anchors.take(self.updates[start:stop, 0]))
            total += self.similarity.block(left, right) @ self.corrections(start, stop)
        return total

    def votes(self, left: Side, dtype: Any = np.float64) -> Floats:
        """Return the number of visits during which the weights preferred each class: shape (rows, classes).

        Every intermediate model is the previous one plus one update, so one pass over the kernel values gives
        the votes of all models.
        """
        values = np.empty((left.size, self.size))
        for start in range(0, self.size, self.PIECE):
            stop = min(self.size, start + self.PIECE)
            right = self.similarity.side(self.anchors.part(start, stop), dtype)
            values[:, start:stop] = self.similarity.block(left, right, dtype=dtype)
        script = self.updates[: self.made, :3].copy()
        amounts = self.amounts[: self.made]
        if self.columns == 1:
            script[:, 2] = 1 - script[:, 1]
        survivals, room = self.survivals(), np.zeros((left.size, 2 * self.n_classes))
        ranges = threads.chunks(left.size, left.size * max(1, self.made))
        threads.run_all(
            kernel_loops.vote_block,
            [(values[a:b], script, amounts, survivals, room[a:b]) for a, b in ranges],
        )
        return room[:, : self.n_classes].copy()

    def trace(self, rows: TrainingRows) -> KernelTrace:
        """Return every update, in order, with the score of its row before it, computed again in blocks."""
        updates = self.updates[: self.made]
        corrected, added = self.rows[updates[:, 0]], self.corrections(0, self.made)
        scores: Floats = np.empty(self.made)
        for first in range(0, self.made, self.TILE):
            last = min(first + self.TILE, self.made)
            left = self.similarity.side(rows.X[corrected[first:last]])
            values = self.similarity.block(left, self.similarity.side(self.anchors.take(updates[:last, 0])))
            earlier = np.arange(last) < np.arange(first, last)[:, None]
            outputs = np.where(earlier, values, 0.0) @ added[:last]
            scores[first:last] = signed_scores(outputs, rows.labels[corrected[first:last]])
        rivals = updates[:, 2].copy() if self.columns > 1 else np.zeros(self.made, dtype=np.int64)
        return KernelTrace(corrected, rivals, scores)

    def settled_outputs(self, left: Side) -> Floats:
        """Return the outputs of one row, from products whose shapes and order depend only on the support."""
        total = np.zeros((1, self.columns))
        for start in range(0, self.size, self.TILE):
            stop = start + self.TILE
            coef = self.coef[start : min(stop, self.size)]
            if stop <= self.size:
                anchors = self.anchors.part(start, stop)
            else:
                anchors = self.anchors.take(np.minimum(np.arange(start, stop), self.size - 1))
                coef = np.concatenate([coef, np.zeros((stop - self.size, self.columns))])
            total += self.similarity.block(left, self.similarity.side(anchors)) @ coef
        return total


class SupportRows:
    """Rows that grow at the end: dense or sparse numbers, or indices.

    A copy made by `fork` shares memory with the original, so only one of the two may grow.
    """

    def __init__(self) -> None:
        self._rows: Any = None
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def fork(self) -> SupportRows:
        """Return a copy that may grow instead of the original."""
        other = SupportRows()
        other._rows, other._size = self._rows, self._size
        return other

    def append(self, rows: Any) -> None:
        """Add rows; if some rows are sparse, all become sparse."""
        size = self._size + rows.shape[0]
        if sparse.issparse(rows) or sparse.issparse(self._rows):
            kept = [] if self._rows is None else [sparse.csr_array(self._rows[: self._size])]
            self._rows = sparse.vstack([*kept, sparse.csr_array(rows, dtype=np.float64)], format="csr")
        else:
            kind = np.int64 if rows.ndim == 1 else np.float64
            self._rows = grown(self._rows, self._size, size, rows.shape[1:], kind)
            self._rows[self._size : size] = rows
        self._size = size

    def part(self, start: int, stop: int) -> Any:
        """Return consecutive rows; dense rows are not copied."""
        return self._rows[start : min(stop, self._size)]

    def take(self, indices: Ints) -> Any:
        """Return a copy of the given rows."""
        return self._rows[indices]


def grown(array: Any, used: int, needed: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """Return an array with room for ``needed`` entries: the same one, or a larger copy of its used part."""
    if array is not None and array.shape[0] >= needed:
        return array
    room = np.zeros((max(needed, 64, 2 * used), *shape), dtype=dtype)
    if used:
        room[:used] = array[:used]
    return room
