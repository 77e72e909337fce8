"""Tasks on the workers of a Dask cluster.

A task costs the scheduler about a millisecond and a round several, whatever they do: the calls on the blocks
of one worker are made by one task for each of its threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from typing import Any

from ..errors import ClusterError
from ..progress import Progress
from .blocks import INTERVAL, Answers, Failed, Failure, Handle, Pause, Work, perform

UNEVEN = 1.5  # times the mean that a thread may have to do before the scheduler shares the work out
# A task holds its blocks in memory at the same time. If those of a worker take more than the first share of
# what Dask lets it have, some may be on disk; then a task gets no more of them than the second share.
ROOMY, AT_ONCE = 0.5, 0.1


class Held:
    """A handle: a future on the cluster; none any more where its successor replaces it."""

    def __init__(self, future: Any) -> None:
        self.future = future


class ClientRunner:
    """Runs tasks where the futures of a client are.

    Tasks are pure functions of their blocks and arguments: if a worker dies, Dask finds its blocks again and
    repeats its tasks, and the answers are the same (`Partitions.fixed` refuses blocks that are not). If one
    is not heard of for as long as Dask's setting ``distributed.scheduler.worker-ttl`` says (five minutes),
    Dask takes it for dead.
    """

    loses = True

    def __init__(self, client: Any) -> None:
        self.client = client
        self._where: dict[Any, str] = {}  # the worker that has a block, by the key of its future
        self._sizes: dict[Any, int] = {}  # in bytes, by the same
        self._threads: dict[str, int] = {}
        self._room: dict[str, int] = {}  # bytes that each worker may have; zero: no limit
        self._progress, self._rounds = Progress(), 0
        # A client sends nothing for 10 ms after a message. To let go of a round's answers is one: it waits
        # until the next round has been sent.
        self._last: list[Any] = []

    def compute(self, delayed: list[Any], names: list[str]) -> list[Handle]:
        """Handles of delayed objects, each computed once and kept."""
        with _cluster_errors():
            return [Held(future) for future in self.client.compute(delayed)]

    def keep(self, work: Work, *, replaces: bool = False) -> list[Handle]:
        """Handles of the answers, which stay where they were found; they may replace their blocks."""
        found = [Held(future) for future in self._submit(work, None)]
        if replaces:
            for blocks in work.blocks:
                for each in blocks:
                    each.future = None  # Dask keeps it until it is used
        return found

    def start(self, work: Work) -> Answers:
        """Start the calls; the function returned waits for their answers, in the order of the calls."""
        together = self._together(work)
        futures = self._last = self._submit(work, together)
        self._rounds += 1
        round_ = f"round {self._rounds} ({work.name})"

        def finish(pause: Pause | None) -> list[Any]:
            try:
                self._wait(futures, pause, round_)
                return self._answers(work, together, futures, pause)
            except BaseException:
                with suppress(Exception):
                    self.client.cancel(futures)
                raise
            finally:
                self._progress.rest()

        return finish

    def _together(self, work: Work) -> list[list[int]] | None:
        """The calls that each task makes, those of one worker's blocks; None where each is a task by itself.

        So they are where other work goes before, where blocks are not there yet, and where the scheduler had
        better share them out.
        """
        if work.later or len(work.blocks) < 2 or not all(work.blocks):
            return None
        first = [_future(some[0]) for some in work.blocks]
        if any(isinstance(each, list) for each in first) or not all(
            each.status == "finished" for each in first
        ):
            return None
        self._locate(first)
        places = [self._where.get(each.key) for each in first]
        if None in places:
            return None
        by_worker: dict[str, list[int]] = {}
        for k, place in enumerate(places):
            by_worker.setdefault(str(place), []).append(k)
        mean = len(work.blocks) / max(1, sum(self._threads.values()))
        parts: list[list[int]] = []
        for worker, calls in by_worker.items():
            shares = _shared_out(calls, self._threads.get(worker, 1))
            if max(map(len, shares)) > max(1, math.ceil(UNEVEN * mean)):
                self._where.clear()  # the scheduler may move blocks
                return None
            sizes = {k: self._sizes.get(first[k].key, 0) for k in calls}
            room = self._room.get(worker, 0)
            crowded = 0 < ROOMY * room < sum(sizes.values())
            for share in shares:
                parts += _at_once(share, sizes, AT_ONCE * room / len(shares)) if crowded else [share]
        return parts

    def _locate(self, futures: list[Any]) -> None:
        """Ask where blocks are, of which that is not known."""
        unknown = [each for each in futures if each.key not in self._where]
        if not unknown:
            return
        with _cluster_errors():
            workers = self.client.scheduler_info(n_workers=-1)["workers"]
            holders = self.client.who_has(unknown)
            keys = [each.key for each in unknown]
            self._sizes.update(self.client.nbytes(keys, summary=False))
        self._threads = {name: each["nthreads"] for name, each in workers.items()}
        self._room = {name: each["memory_limit"] or 0 for name, each in workers.items()}
        load = dict.fromkeys(self._threads, 0)
        for key, names in holders.items():
            there = [each for each in names if each in load]
            if there:
                chosen = min(there, key=lambda each: (load[each], each))
                load[chosen] += 1
                self._where[key] = chosen

    def _submit(self, work: Work, together: list[list[int]] | None) -> list[Any]:
        """A future for each call, or for those that are made together, named for the dashboard."""
        if not work.blocks:
            return []
        own = [()] * len(work.blocks) if work.own is None else work.own
        blocks = [[_future(each) for each in some] for some in work.blocks]
        options = {
            "task": work.task,
            "common": work.common,
            "key": f"separatrix-{work.name}",
            "pure": False,
            "priority": -1 if work.later else 0,
        }
        with _cluster_errors():
            if together is None:
                alone = [(*each, ()) for each in own] if work.chained else own
                return list(self.client.map(_call, alone, blocks, **options))
            many = ([[each[k] for k in calls] for calls in together] for each in (own, blocks))
            return list(self.client.map(_calls, *many, thin=work.thin, chained=work.chained, **options))

    def _wait(self, futures: list[Any], pause: Pause | None, round_: str) -> None:
        """Wait until all futures are done; whoever has no time left may raise meanwhile.

        Where nobody looks meanwhile, their answers are waited for instead, which are asked for next.
        """
        if pause is None and not self._progress.watched:
            return
        from distributed import wait

        while left := [each for each in futures if not each.done()]:
            if self._progress.due():
                done = len(futures) - len(left)
                self._progress.show(f"{round_}: {done} of {len(futures)} tasks done")
            with suppress(TimeoutError), _cluster_errors():
                wait(left, timeout=INTERVAL)
            if pause is not None:
                pause()

    def _answers(
        self, work: Work, together: list[list[int]] | None, futures: list[Any], pause: Pause | None
    ) -> list[Any]:
        try:
            with _cluster_errors():
                found = list(self.client.gather(futures))
        except Exception:
            broken = [k for k, each in enumerate(futures) if each.status == "error"]
            if not broken:
                raise
            if together is not None:
                return self._one_by_one(work, pause)
            raise Failed(broken[0], futures[broken[0]].exception()) from None
        if together is None:
            return found
        answers: list[Any] = [None] * len(work.blocks)
        for calls, (worker, some) in zip(together, found, strict=True):
            if any(worker != self._where.get(_future(work.blocks[k][0]).key) for k in calls):
                self._where.clear()  # a worker was lost: its blocks are elsewhere now
            for k, answer in zip(calls, some, strict=True):
                answers[k] = answer
        return answers

    def _one_by_one(self, work: Work, pause: Pause | None) -> list[Any]:
        """The answers where calls that were made together failed: which of them does is found so."""
        self._where.clear()
        futures = self._submit(work, None)
        self._wait(futures, pause, f"round {self._rounds} ({work.name}) again")
        return self._answers(work, None, futures, pause)


def _shared_out(calls: list[int], threads: int) -> list[list[int]]:
    """Calls in as many parts as there are threads, as even as can be."""
    edges = [len(calls) * k // threads for k in range(threads + 1)]
    return [calls[a:b] for a, b in pairwise(edges) if a < b]


def _at_once(calls: list[int], sizes: dict[int, int], most: float) -> list[list[int]]:
    """Calls in parts, in their order, of so many bytes at most, or of one call."""
    parts: list[list[int]] = []
    filled = math.inf
    for k in calls:
        filled += sizes[k]
        if filled > most:
            parts.append([])
            filled = sizes[k]
        parts[-1].append(k)
    return parts


def _future(handle: Any) -> Any:
    """What the client knows a handle by; lists of handles are joined in one call."""
    return [_future(each) for each in handle] if isinstance(handle, list) else handle.future


def _call(own: tuple[Any, ...], blocks: list[Any], *, task: Any, common: tuple[Any, ...]) -> Any:
    return perform(task, tuple(blocks), (*common, *own))


def _calls(
    own: list[tuple[Any, ...]],
    blocks: list[list[Any]],
    *,
    task: Any,
    common: tuple[Any, ...],
    thin: Callable[[list[Any]], list[Any]] | None,
    chained: bool,
) -> tuple[str, list[Any]]:
    """Several calls, one after the other, and the worker that made them."""
    from distributed import get_worker

    found: list[Any] = []
    for each, some in zip(own, blocks, strict=True):
        more = (tuple(found),) if chained else ()
        found.append(_call((*each, *more), some, task=task, common=common))
    if thin is not None and not any(isinstance(each, Failure) for each in found):
        found = thin(found)
    return str(get_worker().address), found


@contextmanager
def _cluster_errors() -> Iterator[None]:
    """Say what it means that a client does not answer."""
    try:
        yield
    except (OSError, RuntimeError, AttributeError) as error:
        if isinstance(error, (TimeoutError, ClusterError)):
            raise
        raise _closed() from error
    except Exception as error:
        if type(error).__name__.endswith(("CancelledError", "ClosedClientError")):
            raise _closed() from error
        raise


def _closed() -> ClusterError:
    return ClusterError(
        "The Dask client was closed, or lost its scheduler or the data, before the tasks were done.",
        remedy="Keep the client open until the call returns, and call again.",
    )
