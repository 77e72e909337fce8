"""Shards: consecutive rows that are visited apart from all others, by one thread or worker each."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np

from . import threads
from .cluster import ClusterRows
from .memory import MemoryRows
from .protocol import Floats, Ints

T = TypeVar("T")


class Shards(Protocol):
    """Rows that lie in pieces, in one memory or in many."""

    @property
    def starts(self) -> Ints:
        """The first row of each shard."""

    def map(self, task: Callable[..., T], steps: Floats, *shared: Any) -> list[T]:
        """Call ``task(rows, steps, *shared)`` for the rows of each shard; what it returns, in their order.

        ``steps`` has a number for each row, of which a task gets its part, or one for all. A task changes
        none of its arguments, so that it may be run again where a worker was lost.
        """


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
        ends = [*self.starts[1:], self.starts[-1] + self.parts[-1].n_rows]
        own = [
            steps if steps.size == 1 else steps[start:end]
            for start, end in zip(self.starts, ends, strict=True)
        ]
        return threads.run_all(
            task, [(part, each, *shared) for part, each in zip(self.parts, own, strict=True)]
        )


@dataclass(frozen=True, eq=False)
class ClusterShards:
    """Rows on a cluster, each block of which is a shard.

    Attributes
    ----------
    rows : ClusterRows
    starts : ndarray of int64
        The first row of each block.
    """

    rows: ClusterRows

    @property
    def starts(self) -> Ints:
        """The first row of each shard."""
        return self.rows.matrix.offsets[:-1]

    def map(self, task: Callable[..., T], steps: Floats, *shared: Any) -> list[T]:
        """Call ``task(rows, steps, *shared)`` where each block is; what it returns, in their order."""
        return self.rows.visit(task, steps, *shared)


def cut(rows: MemoryRows, number: int) -> LocalShards:
    """Cut rows into so many shards whose counts of rows that count differ by one at most.

    Where there are fewer rows than that, each is a shard.
    """
    firsts = np.unique([part[0] for part in np.array_split(rows.order, number) if part.size])
    firsts[0] = 0
    return cut_at(rows, firsts)


def cut_at(rows: MemoryRows, starts: Ints) -> LocalShards:
    """Cut rows into shards that begin at the given rows, the first of which is row 0."""
    edges = np.append(starts, rows.n_rows)
    return LocalShards(
        tuple(_slice(rows, int(first), int(end)) for first, end in itertools.pairwise(edges)),
        np.asarray(starts, dtype=np.int64),
    )


def _slice(rows: MemoryRows, first: int, end: int) -> MemoryRows:
    """Some consecutive rows, as a view."""
    storage, (low, high) = rows.storage, np.searchsorted(rows.order, [first, end])
    labels = storage.labels[first:end]
    if rows.sparse:
        begin, stop = storage.indptr[first], storage.indptr[end]
        part = storage._replace(
            data=storage.data[begin:stop],
            indices=storage.indices[begin:stop],
            indptr=storage.indptr[first : end + 1] - begin,
            labels=labels,
        )
    else:
        part = storage._replace(values=storage.values[first:end], labels=labels)
    return replace(rows, storage=part, order=rows.order[low:high] - first)
