"""The weights of a kernel perceptron: every update in order, and the support with its coefficients."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ..loops import kernels as kernel_loops
from ..result import Floats, Ints
from ..rows import threads
from ..sparse import sparse
from .similarity import Side, Similarity, TrainingRows


class Expansion:
    """The weights as a list of updates, and as a support with one row of coefficients each.

    ``updates[m]`` is (slot in the support, own class, rival, visit) of the m-th mistake, ``amounts[m]`` its
    step. For two classes the weights are one vector, and there is one column.
    """

    BLOCK = 512  # rows that are visited at a time, at most
    PIECE = 512  # updates, or rows of the support, in one product
    TILE = 256  # rows of the support in a product of the last resort: its shape never changes

    def __init__(self, similarity: Similarity, n_classes: int) -> None:
        self.similarity = similarity
        self.n_classes = n_classes
        self.columns = 1 if n_classes == 2 else n_classes
        self.anchors = SupportRows()
        self.size = self.made = self.visits = self.settled = 0
        self.rows = np.zeros(0, dtype=np.int64)
        self.coef = np.zeros((0, self.columns))
        self.updates = np.zeros((0, 4), dtype=np.int64)
        self.amounts = np.zeros(0)
        self.reach = np.zeros(self.columns)
        self.measures = np.array([0.0, np.inf])
        self.width, self.radius, self.longest = 0, 0.0, 0.0

    def fork(self) -> Expansion:
        """A copy that goes on by itself; the original stays as it is."""
        other = copy.copy(self)
        other.anchors = self.anchors.fork()
        other.coef = self.coef.copy()
        other.reach, other.measures = self.reach.copy(), self.measures.copy()
        return other

    def measure(self, rows: TrainingRows) -> None:
        """Take note of the largest row that is to come."""
        self.width = max(self.width, rows.width)
        self.radius = max(self.radius, rows.radius)
        self.longest = max(self.longest, float(rows.roots.max(initial=0.0)))

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
        """Make the coefficients anew from the updates: an interrupt may have come between the two."""
        self.size = min(self.size, len(self.anchors))
        self.coef[...] = 0.0
        np.add.at(self.coef, self.updates[: self.made, 0], self.corrections(0, self.made))

    def corrections(self, start: int, stop: int, scales: Floats | None = None) -> Floats:
        """What each update added to the outputs of each class: shape (updates, columns)."""
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
        """Coefficients of the mean of the weights over every visit."""
        late = 1.0 - self.updates[: self.made, 3] / max(1, self.visits)
        coef = np.zeros((self.size, self.columns))
        np.add.at(coef, self.updates[: self.made, 0], self.corrections(0, self.made, late))
        return coef

    def survivals(self) -> Ints:
        """How many visits each intermediate model survived: one more than there are updates."""
        times: Any = np.concatenate([[0], self.updates[: self.made, 3], [self.visits]])
        gaps: Ints = np.diff(times).astype(np.int64)
        return gaps

    def mass(self) -> float:
        """The sum of all steps."""
        return float(self.amounts[: self.made].sum())

    def error(self) -> float:
        """What an output in float64 and the last resort may differ by, per unit of reach and root.

        Not for a kernel without a bound, whose outputs are all computed in the last resort.
        """
        sums = (3 * self.made + self.PIECE + 4 * self.BLOCK + 64) * float(np.finfo(np.float64).eps)
        rounding = self.similarity.rounding(self.width, self.radius, np.float64)
        assert rounding is not None, "a kernel without a bound is computed one row at a time"
        return 2.0 * rounding.total + sums

    def outputs_since(self, left: Side, since: int, room: Floats) -> Floats:
        """What the updates from the given one on add to the outputs of some rows."""
        total = np.zeros((left.size, self.columns))
        for start in range(since, self.made, self.PIECE):
            stop = min(start + self.PIECE, self.made)
            right = self.similarity.side(self.anchors.take(self.updates[start:stop, 0]))
            out = room[: left.size * right.size].reshape(left.size, right.size)
            total += self.similarity.block(left, right, out=out) @ self.corrections(start, stop)
        return total

    def outputs(self, left: Side, coef: Floats, dtype: Any = np.float64) -> Floats:
        """The outputs of some rows under coefficients of the support."""
        total = np.zeros((left.size, coef.shape[1]))
        for start in range(0, self.size, self.PIECE):
            stop = min(self.size, start + self.PIECE)
            right = self.similarity.side(self.anchors.part(start, stop), dtype)
            total += self.similarity.block(left, right, dtype=dtype) @ coef[start:stop].astype(dtype)
        return total

    def votes(self, left: Side, dtype: Any = np.float64) -> Floats:
        """The visits during which the weights preferred each class, for some rows: shape (rows, classes).

        Every intermediate model is the one before it and one update, so all of them vote in one reading of
        the rows' kernel values.
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

    def settled_outputs(self, left: Side) -> Floats:
        """The outputs of one row, from products whose shapes and order depend on the support only."""
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
    """Rows that are only ever added: of numbers, dense or sparse, or of indices.

    A copy made by `fork` shares what both have; rows added to one are not seen by the other, as long as
    only one of the two goes on.
    """

    def __init__(self) -> None:
        self._rows: Any = None
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def fork(self) -> SupportRows:
        """A copy that may go on by itself."""
        other = SupportRows()
        other._rows, other._size = self._rows, self._size
        return other

    def append(self, rows: Any) -> None:
        """Add rows; dense ones become sparse beside sparse ones."""
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
        """Some consecutive rows, not copied where they are dense."""
        return self._rows[start : min(stop, self._size)]

    def take(self, indices: Ints) -> Any:
        """A copy of some rows."""
        return self._rows[indices]


def grown(array: Any, used: int, needed: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """An array with room for ``needed`` entries: the same one, or a larger copy of its used part."""
    if array is not None and array.shape[0] >= needed:
        return array
    room = np.zeros((max(needed, 64, 2 * used), *shape), dtype=dtype)
    if used:
        room[:used] = array[:used]
    return room
