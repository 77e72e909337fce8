"""A matrix in blocks of rows on a cluster: tasks are sent to the blocks, and their results return in order.

This module imports no compiled code, because the checker of certificates uses it.
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
INTERVAL = 0.1  # seconds between two checks of the clock while tasks run
Handle = Any  # a handle of an object that a runner keeps where its tasks run


@dataclass(frozen=True, eq=False)
class Work:
    """A task for each of some blocks.

    Attributes
    ----------
    name : str
        The name of the task on the dashboard.
    task : callable
        Called as ``task(*blocks, *common, *own)``. It must be a pure function, because it may run twice.
    blocks : list of tuples of handles
        What each call reads.
    common : tuple
        Arguments that all calls share.
    own : list of tuples
        Arguments of each call.
    later : bool
        Whether other work has priority.
    """

    name: str
    task: Callable[..., Any]
    blocks: list[tuple[Handle, ...]]
    common: tuple[Any, ...] = ()
    own: list[tuple[Any, ...]] | None = None
    later: bool = False

    def arguments(self, place: int) -> tuple[Any, ...]:
        """Return the arguments of one call, without its blocks."""
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
        """Start the calls; return a function that waits for their results, in the order of the calls."""

    def keep(self, work: Work, *, replaces: bool = False) -> list[Handle]:
        """Return handles of the results, which are kept where they were computed, or replace their blocks."""

    def compute(self, delayed: list[Any], names: list[str]) -> list[Handle]:
        """Return handles of Dask's delayed objects, each computed once and kept."""


class Failed(Exception):
    """A call ended with an unexpected error: which call, and the error."""

    def __init__(self, place: int, cause: BaseException | None) -> None:
        super().__init__(place, cause)
        self.place, self.cause = place, cause


@dataclass(frozen=True)
class Failure:
    """The result of a task that raised an error for the user."""

    error: Exception


def perform(task: Callable[..., Any], blocks: tuple[Any, ...], arguments: tuple[Any, ...]) -> Any:
    """Run one call in one thread, after a check of the floating-point environment.

    An error for the user becomes a `Failure`. If a block is the `Failure` of an earlier call, it is returned.
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
    """A matrix whose rows are in blocks on a cluster.

    Attributes
    ----------
    handles : tuple
        One handle for each block that has rows.
    offsets : ndarray of int64
        The first row of each block, and the number of all rows.
    n_columns : int
    dtype : dtype
        The type of all blocks.
    csr : bool
        Whether the blocks are CSR matrices; otherwise they are arrays.
    stored : ndarray of int64
        The number of stored numbers in each block.
    places : tuple of str
        The name of each block in messages.
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
        """Call ``task(block, *beside, *common, *each)`` where each block is; return the results in order.

        ``beside`` are lists of handles, one for each block. ``among`` chooses blocks, and ``each`` has
        arguments for these. ``pause`` is called regularly while the results are awaited, and may raise.
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
        """Return handles of one value per block, kept where the block is, and converted to ``kind``."""
        blocks = [(each,) for each in self.handles]
        return self.runner.keep(Work(name, _beside, blocks, (kind,), list(values)))

    def copied(self, name: str, task: Callable[..., Any], *common: Any, dtype: Any) -> BlockMatrix:
        """Return a matrix of the results of a task on each block, kept where the blocks are."""
        kept = self.runner.keep(Work(name, task, [(each,) for each in self.handles], common))
        return replace(self, handles=tuple(kept), dtype=np.dtype(dtype))

    def pieces(self, values: Sequence[T] | NDArray[Any]) -> list[tuple[Any]]:
        """Cut values, one per row, into those of each block."""
        edges = self.offsets.tolist()
        return [(values[start:stop],) for start, stop in pairwise(edges)]

    def find(self, rows: Ints) -> list[tuple[int, Ints, Ints]]:
        """Return, for each block with some of the rows: its number, which rows, and their places in it."""
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
        """Return the error with the row counted from the first of all rows, and the name of the block."""
        if not isinstance(error, SeparatrixError):
            return error
        where = self.places[block]
        if error.row is not None and self.offsets[-1]:
            where += f" (its row {error.row})"
            error.row += int(self.offsets[block])
        error.context = f"In {where}"
        return error


def not_computed(place: str, error: BaseException | None) -> ClusterError:
    """Return the error for a partition that could not be read, or on which a task failed."""
    kind = type(error).__name__
    if kind == "KilledWorker":
        return ClusterError(
            f"In {place}: every worker that tried died.",
            remedy="Cut the data into smaller partitions, or give the workers more memory.",
        )
    if kind in ("CancelledError", "FutureCancelledError"):
        return ClusterError(
            f"In {place}: it was computed by a Dask client that is closed now.",
            remedy="Open a client, and create the collection again.",
        )
    return ClusterError(f"In {place}: it could not be computed ({kind}: {error}).")


def _beside(_: Any, kind: Any, value: Any) -> Any:
    return value if kind is None else value.astype(kind)


def pick(block: Any, places: Ints) -> Any:
    """Copy some rows of a block."""
    return block[places]
