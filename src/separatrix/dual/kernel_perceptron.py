"""The perceptron in its dual form: the weights are a sum of feature vectors, one per mistake.

Rows are visited in blocks. One matrix product computes the outputs of a block from the updates since its last
visit, and a compiled loop corrects the mistakes inside the block. The last bits of a product depend on the
blocks, so every output has an error bound. If the bound leaves open whether a row is a mistake, or against
which rival, the row is scored again, alone, against the support in tiles of a fixed shape. That sum depends
only on the updates, so the mistakes do not depend on the blocks. If a kernel states no rounding bound, each
row is a block and is scored in this way.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..errors import InputError
from ..loops import kernels as kernel_loops
from ..progress import Progress
from ..result import Floats, Ints, KernelResult, PassRecord, Status
from ..rows.numpy_loops import signed_scores
from ..sparse import sparse
from .expansion import Expansion
from .similarity import Side, TrainingRows

ORDERS = ("cyclic", "shuffled")


class KernelRun:
    """A run over training rows, block by block; it keeps the outputs between passes."""

    def __init__(
        self,
        rows: TrainingRows,
        expansion: Expansion,
        *,
        max_iter: int,
        max_updates: int | None,
        memory_limit: float,
        first_row: int = 0,
        remember: bool = True,
        progress: Progress | None = None,
    ) -> None:
        self.rows, self.expansion = rows, expansion
        self.max_iter, self.progress = max_iter, progress
        self.first_row = first_row
        self.passes, self.settled = 0, 0
        self.history: list[PassRecord] = []
        self.alone = expansion.similarity.fixed  # then each row is a block
        self.block_rows = 1 if self.alone else block_rows(rows, memory_limit)
        shape = (rows.size, expansion.columns)
        self._outputs = np.zeros(shape) if remember else None
        self._seen: list[tuple[Ints, int]] = []
        self._slots = np.full(rows.size, -1, dtype=np.int64)
        self._indices = np.zeros(0, dtype=np.int64)
        self._anchors: Side | None = None
        self.counts = np.zeros((rows.size, expansion.columns), dtype=np.int64)
        most = np.iinfo(np.int64).max
        limit = most if max_updates is None else min(max_updates, most)
        expansion.measure(rows)
        self.tally = kernel_loops.BlockTally(
            reach=expansion.reach,
            log=np.zeros((self.block_rows, 3), dtype=np.int64),
            clock=np.array([expansion.visits, 0, limit, 0, 0], dtype=np.int64),
            measures=expansion.measures,
        )

    @property
    def mistakes(self) -> int:
        """The number of updates of this run."""
        return int(self.tally.clock[kernel_loops.MISTAKES])

    @property
    def out_of_updates(self) -> bool:
        """Whether max_updates has been reached."""
        return bool(self.mistakes >= self.tally.clock[kernel_loops.LIMIT])

    def stopped(self) -> bool:
        """Return whether a limit is met."""
        return self.passes >= self.max_iter or self.out_of_updates

    def one_pass(self, order: Ints) -> bool:
        """Visit the rows of ``order`` once; return whether no row was a mistake."""
        before = self.mistakes
        self.tally.measures[kernel_loops.FLOOR] = np.inf
        finished, seen = True, []
        for number, indices in enumerate(self._blocks(order)):
            since = self._seen[number][1] if number < len(self._seen) else 0
            finished = self._visit(indices, since)
            seen.append((indices, self.expansion.made))
            if not finished:
                break
        self._seen = [] if self.alone else seen
        clean = finished and self.mistakes == before
        self._end_pass(self.mistakes - before, clean)
        return clean

    def catch_up(self) -> None:
        """Add all missing updates to the outputs of all rows."""
        for indices, since in self._seen:
            self._bring_up(indices, since)
        self._seen = [(indices, self.expansion.made) for indices, _ in self._seen]

    def _bring_up(self, indices: Ints, since: int) -> Floats:
        """Return the outputs of a block after all updates."""
        added = self.expansion.outputs_since(self._side(indices), since)
        if self._outputs is not None:
            added += self._outputs[indices]
            self._outputs[indices] = added
        return self.expansion.need_finite(added)

    def _blocks(self, order: Ints) -> Iterator[Ints]:
        for start in range(0, order.size, self.block_rows):
            yield order[start : start + self.block_rows]

    def _side(self, indices: Ints) -> Side:
        return self.expansion.similarity.side(self.rows.X[indices])

    def _visit(self, indices: Ints, since: int) -> bool:
        """Learn from one block; return whether all of it was visited."""
        if self.alone:
            outputs, error = self._settled(indices), 0.0
        else:
            outputs, error = self._bring_up(indices, since), self.expansion.error()
        block = kernel_loops.Block(
            scores=outputs,
            gram=np.empty((indices.size, indices.size)),
            known=np.zeros(indices.size, dtype=np.bool_),
            labels=self.rows.labels[indices],
            steps=self.rows.steps[indices],
            roots=self.rows.roots[indices],
            errors=np.full(indices.size, error),
        )
        self._indices, self._anchors = indices, None
        self._know(block, np.flatnonzero(signed_scores(outputs, block.labels) <= 0.0))
        position = 0
        while True:
            position = kernel_loops.learn_block(block, self.tally, position)
            self._flush()
            reason = self.tally.clock[kernel_loops.REASON]
            if reason == kernel_loops.UNKNOWN:
                wrong = signed_scores(outputs[position:], block.labels[position:]) <= 0.0
                self._know(block, position + np.flatnonzero(wrong & ~block.known[position:]))
            elif reason == kernel_loops.UNSURE:
                block.scores[position] = self._settled(indices[position : position + 1])[0]
                block.errors[position] = 0.0
            else:
                break
        if self._outputs is not None:
            self._outputs[indices] = outputs
        if self.progress is not None and self.progress.due():
            self.progress.show(
                f"kernel perceptron: pass {self.passes + 1} of {self.max_iter}, {self.mistakes} mistakes, "
                f"{self.expansion.size} rows of support"
            )
        return bool(reason == kernel_loops.FINISHED)

    def _know(self, block: kernel_loops.Block, positions: Ints) -> None:
        """Fill the kernel rows of likely mistakes with the rest of the block."""
        similarity, here = self.expansion.similarity, self._indices
        if positions.size:
            if self._anchors is None:
                self._anchors = similarity.side(similarity.kernel.anchors(self.rows.X, here))
            block.gram[positions] = similarity.block(self._side(here[positions]), self._anchors)
            block.known[positions] = True

    def _settled(self, index: Ints) -> Floats:
        """Return the outputs of one row, computed in the way that decides."""
        self.settled += 1
        return self.expansion.need_finite(self.expansion.settled_outputs(self._side(index)))

    def _flush(self) -> None:
        """Move the logged mistakes of the block into the expansion."""
        length = int(self.tally.clock[kernel_loops.LOGGED])
        self.expansion.visits = int(self.tally.clock[kernel_loops.VISITS])
        if not length:
            return
        positions, rivals, visits = self.tally.log[:length].T.copy()
        indices = self._indices[positions]
        fresh = indices[self._slots[indices] < 0]
        self._slots[fresh] = self.expansion.size + np.arange(fresh.size)
        self.expansion.extend(
            self.expansion.similarity.kernel.anchors(self.rows.X, fresh),
            fresh + self.first_row,
            self._slots[indices],
            np.column_stack([self.rows.labels[indices], rivals, visits]),
            self.rows.steps[indices],
        )
        np.add.at(self.counts, (indices, rivals), 1)
        self.tally.clock[kernel_loops.LOGGED] = 0

    def recover(self) -> None:
        """Make the state consistent after an interrupt, which may come between any two statements."""
        self.tally.clock[kernel_loops.LOGGED] = 0
        self.expansion.rebuild()
        self.counts[...] = 0
        if self.expansion.made:
            updates = self.expansion.updates[: self.expansion.made]
            np.add.at(self.counts, (self.expansion.rows[updates[:, 0]] - self.first_row, updates[:, 2]), 1)
        self.tally.clock[kernel_loops.MISTAKES] = self.counts.sum()

    def margin_upper(self) -> float:
        """Return |w| / (sum of steps), an upper bound of the margin."""
        mass = self.expansion.mass()
        if mass == 0.0:
            return self.expansion.longest * (1.0 if self.expansion.columns == 1 else float(np.sqrt(2.0)))
        return self._length() / mass

    def _length(self) -> float:
        return float(np.sqrt(max(0.0, self.tally.measures[kernel_loops.SQUARED_LENGTH])))

    def _end_pass(self, mistakes: int, clean: bool) -> None:
        self.passes += 1
        lower = -np.inf
        if clean:
            length = self._length()
            lower = float(self.tally.measures[kernel_loops.FLOOR]) / length if length > 0.0 else 0.0
        self.history.append(PassRecord(mistakes, 0 if clean else None, lower, self.margin_upper()))

    def result(self, status: Status, order: str) -> KernelResult:
        """Return the result of the run."""
        lower = self.history[-1].margin_lower if self.history else -np.inf
        clean = bool(self.history) and self.history[-1].errors == 0
        return KernelResult(
            status=Status.SEPARATED if clean and status is not Status.ONLINE else status,
            counts=self.counts,
            mistakes=int(self.counts.sum()),
            errors=0 if clean and status is not Status.ONLINE else None,
            passes=self.passes,
            radius=self.expansion.longest,
            margin_lower=lower if status is not Status.ONLINE else -np.inf,
            margin_upper=self.margin_upper(),
            history=tuple(self.history),
            order=order,
            visits=self.expansion.visits,
            settled=self.settled,
        )


def solve_kernel_perceptron(
    rows: TrainingRows,
    expansion: Expansion,
    *,
    order: str = "cyclic",
    max_iter: int = 100,
    max_updates: int | None = None,
    memory_limit: float = 1e9,
    seed: np.random.Generator | None = None,
) -> KernelResult:
    """Separate the rows in the feature space of the kernel, or stop at a limit.

    Novikoff's theorem holds there too: from zero weights, with equal steps and in exact arithmetic, there are
    at most ``(R / margin)**2`` mistakes, or twice that with more than two classes.

    Parameters
    ----------
    rows : TrainingRows
    expansion : Expansion
        The weights to start from. They are changed in place.
    order : {"cyclic", "shuffled"}
    max_iter, max_updates : int
        The largest numbers of passes and updates.
    memory_limit : float
        Bytes that blocks of products may take.
    seed : Generator, optional
        For the shuffles.
    """
    with Progress() as progress:
        run = KernelRun(
            rows,
            expansion,
            max_iter=max_iter,
            max_updates=max_updates,
            memory_limit=memory_limit,
            remember=max_iter > 1,
            progress=progress,
        )
        interrupted = False
        try:
            every = run.rows.members
            clean = False
            while not clean and not run.stopped():
                if order == "shuffled" and seed is not None:
                    run.catch_up()
                    clean = run.one_pass(seed.permutation(every))
                else:
                    clean = run.one_pass(every)
        except KeyboardInterrupt:
            interrupted = True
            run.recover()
        status = Status.UPDATE_LIMIT if run.out_of_updates else Status.PASS_LIMIT
        result = run.result(Status.INTERRUPTED if interrupted else status, order)
        if progress.heard:
            ended = f"{result.passes:,} passes, {result.mistakes:,} mistakes"
            progress.end(f"kernel perceptron: {ended}. {result.status.value}")
    return result


def block_rows(rows: TrainingRows, memory_limit: float) -> int:
    """Return the size of blocks whose rows, products and inner kernel values fit into the limit."""
    width = rows.X.shape[1] if not sparse.issparse(rows.X) else rows.width
    fixed = 8 * Expansion.PIECE * width
    for size in (Expansion.BLOCK, 256, 128, 64, 32, 16, 8, 4, 2, 1):
        if fixed + size * (24 * size + 8 * Expansion.PIECE + 16 * width) <= memory_limit:
            return size
    raise InputError(
        f"memory_limit={memory_limit:g} bytes is too little for one block of rows with {width} columns: "
        f"{fixed + 8 * Expansion.PIECE + 16 * width + 24:g} bytes are needed."
    )
