"""A matrix in blocks of rows that are elsewhere: tasks go to the blocks, their answers come back in order.

No compiled code here: whoever checks a proof imports this.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..deadline import OutOfTime
from ..errors import ClusterError, SeparatrixError
from ..float_environment import need_exact_floats
from ..sparse import sparse
from . import threads

T = TypeVar("T")
Ints = NDArray[np.int64]
INTERVAL = 0.1  # seconds between two looks at the clock while tasks are run
Handle = Any  # of something that a runner keeps where its tasks are run


@dataclass(frozen=True, eq=False)
class Work:
    """A task for each of some blocks.

    Attributes
    ----------
    name : str
        What the task is called where tasks are watched.
    task : callable
        Called as ``task(*blocks, *common, *own)``: a pure function, which may be run twice.
    blocks : list of tuples of handles
        What each call reads, where it lies.
    common : tuple
        Arguments that all calls share.
    own : list of tuples
        Arguments of each call.
    later : bool
        Whether other work goes before.
    """

    name: str
    task: Callable[..., Any]
    blocks: list[tuple[Handle, ...]]
    common: tuple[Any, ...] = ()
    own: list[tuple[Any, ...]] | None = None
    later: bool = False

    def arguments(self, place: int) -> tuple[Any, ...]:
        """The arguments of one call, without its blocks."""
        return (*self.common, *(() if self.own is None else self.own[place]))


Pause = Callable[[], None]
Answers = Callable[[Pause | None], list[Any]]


class Runner(Protocol):
    """Runs tasks where blocks are.

    Attributes
    ----------
    loses : bool
        Whether a block may be lost, and is then computed again.
    """

    loses: bool

    def start(self, work: Work) -> Answers:
        """Start the calls; the function returned waits for their answers, in the order of the calls."""

    def keep(self, work: Work, *, replaces: bool = False) -> list[Handle]:
        """Handles of the answers, which stay where they were found; they may replace their blocks."""

    def compute(self, delayed: list[Any], names: list[str]) -> list[Handle]:
        """Handles of delayed objects of Dask's, each computed once and kept."""


class Failed(Exception):
    """A call ended with an error that nobody foresaw: which one, and the error."""

    def __init__(self, place: int, cause: BaseException | None) -> None:
        super().__init__(place, cause)
        self.place, self.cause = place, cause


@dataclass(frozen=True)
class Failure:
    """The answer of a task that has something to say to the user."""

    error: Exception


def perform(task: Callable[..., Any], blocks: tuple[Any, ...], arguments: tuple[Any, ...]) -> Any:
    """Run one call in one thread that computes as it should; what the user is to be told becomes its answer.

    Where it was the answer of an earlier call that is a block of this one, it is passed on.
    """
    for block in blocks:
        if isinstance(block, Failure):
            return block
    with threads.alone():
        try:
            need_exact_floats()
            return task(*blocks, *arguments)
        except (SeparatrixError, OutOfTime) as error:
            return Failure(error)


@dataclass(frozen=True, eq=False)
class BlockMatrix:
    """A matrix whose rows lie elsewhere, block after block.

    Attributes
    ----------
    handles : tuple
        One for each block that has rows.
    offsets : ndarray of int64
        The first row of each block, and the count of all rows.
    n_columns : int
    dtype : dtype
        The same in all blocks.
    csr : bool
        Whether the blocks are CSR matrices; else they are arrays.
    stored : ndarray of int64
        How many numbers each block stores.
    places : tuple of str
        What each block is called in messages.
    runner : Runner
    """

    handles: tuple[Handle, ...]
    offsets: Ints
    n_columns: int
    dtype: np.dtype[Any]
    csr: bool
    stored: Ints
    places: tuple[str, ...]
    runner: Runner

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return int(self.offsets[-1]), self.n_columns

    def map(
        self,
        name: str,
        task: Callable[..., T],
        *common: Any,
        beside: Sequence[Sequence[Handle]] = (),
        each: Sequence[tuple[Any, ...]] | None = None,
        among: Sequence[int] | None = None,
        pause: Callable[[], None] | None = None,
    ) -> list[T]:
        """Call ``task(block, *beside, *common, *each)`` where each block is; the answers, block by block.

        ``beside`` are lists of handles, one for each block. ``among`` chooses blocks; ``each`` has arguments
        for these. ``pause`` is called now and then while they are waited for, and may raise.
        """
        chosen = range(len(self.handles)) if among is None else among
        blocks = [(self.handles[k], *(handles[k] for handles in beside)) for k in chosen]
        work = Work(name, task, blocks, common, None if each is None else list(each))
        try:
            answers = self.runner.start(work)(pause)
        except Failed as failed:
            raise not_computed(self.places[chosen[failed.place]], failed.cause) from failed.cause
        for k, answer in zip(chosen, answers, strict=True):
            if isinstance(answer, Failure):
                raise self._located(answer.error, k)
        return answers

    def beside(self, name: str, values: Sequence[tuple[Any]], kind: Any = None) -> list[Handle]:
        """Handles of one value for each block, which is kept where the block is, if asked for in a type."""
        blocks = [(each,) for each in self.handles]
        return self.runner.keep(Work(name, _beside, blocks, (kind,), list(values)))

    def copied(self, name: str, task: Callable[..., Any], *common: Any, dtype: Any) -> BlockMatrix:
        """A matrix of other numbers in the same places, kept where this one is."""
        kept = self.runner.keep(Work(name, task, [(each,) for each in self.handles], common))
        return replace(self, handles=tuple(kept), dtype=np.dtype(dtype))

    def pieces(self, values: Sequence[T] | NDArray[Any]) -> list[tuple[Any]]:
        """One number a row, cut into those of each block."""
        edges = self.offsets.tolist()
        return [(values[start:stop],) for start, stop in pairwise(edges)]

    def find(self, rows: Ints) -> list[tuple[int, Ints, Ints]]:
        """For each block that has some of the rows: its number, which of them, and their places in it."""
        block = np.searchsorted(self.offsets, rows, side="right") - 1
        order = np.argsort(block, kind="stable")
        starts = np.flatnonzero(np.diff(block[order], prepend=-1))
        found = []
        for which in np.split(order, starts[1:]) if rows.size else []:
            k = int(block[which[0]])
            found.append((k, which, rows[which] - self.offsets[k]))
        return found

    def __getitem__(self, rows: Any) -> Any:
        """Copy some rows into memory: an array, or a CSR matrix."""
        wanted = (
            np.arange(self.shape[0])[rows] if isinstance(rows, slice) else np.asarray(rows, dtype=np.int64)
        )
        found = self.find(wanted.ravel())
        parts = self.map(
            "take", pick, among=[k for k, _, _ in found], each=[(places,) for _, _, places in found]
        )
        if self.csr:
            empty = sparse.csr_array((0, self.n_columns), dtype=self.dtype)
            joined: Any = sparse.csr_array(sparse.vstack([empty, *parts], format="csr"))
        else:
            joined = np.concatenate([np.zeros((0, self.n_columns), dtype=self.dtype), *parts])
        back = np.empty(wanted.size, dtype=np.int64)
        if found:
            back[np.concatenate([which for _, which, _ in found])] = np.arange(wanted.size)
        taken = joined[back]
        return taken if wanted.ndim else taken[0]

    def _located(self, error: Exception, block: int) -> Exception:
        """The error with rows counted from the first of all, and the block named."""
        if not isinstance(error, SeparatrixError):
            return error
        where = self.places[block]
        if error.row is not None and self.offsets[-1]:
            where += f" (its row {error.row})"
            error.row += int(self.offsets[block])
        error.context = f"In {where}"
        return error


def not_computed(place: str, error: BaseException | None) -> ClusterError:
    """The error where a partition could not be read, or a task on it broke."""
    kind = type(error).__name__
    if kind == "KilledWorker":
        return ClusterError(
            f"In {place}: every worker that tried died.",
            remedy="Cut the data into smaller partitions, or give the workers more memory.",
        )
    if kind in ("CancelledError", "FutureCancelledError"):
        return ClusterError(
            f"In {place}: it was computed by a Dask client that is closed.",
            remedy="Open a client, and make the collection again.",
        )
    return ClusterError(f"In {place}: it could not be computed ({kind}: {error}).")


def _beside(_: Any, kind: Any, value: Any) -> Any:
    return value if kind is None else value.astype(kind)


def pick(block: Any, places: Ints) -> Any:
    """Some rows of a block, copied."""
    return block[places]
