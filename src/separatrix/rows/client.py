"""Tasks on the workers of a Dask cluster."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ..errors import ClusterError
from .blocks import INTERVAL, Answers, Failed, Handle, Pause, Work, perform

# A call that is not done after so many seconds, and so many times as long as half of the others took, is
# started again on another worker. Half as much would start healthy calls twice where a worker reads files.
PATIENCE, TIMES = 20.0, 5.0


class Held:
    """A handle: a future on the cluster, and how to make another where the first cannot be had."""

    def __init__(self, future: Any, make: Callable[[list[str]], Any]) -> None:
        self.future, self.make = future, make


class ClientRunner:
    """Runs tasks where the futures of a client are.

    Tasks are pure functions of their blocks and arguments: if a worker dies, Dask finds its blocks again and
    repeats its tasks, and the answers are the same. If one hangs, its calls are made elsewhere, from new
    blocks; the first answer counts.
    """

    def __init__(self, client: Any) -> None:
        self.client = client

    def compute(self, delayed: list[Any], names: list[str]) -> list[Handle]:
        """Handles of delayed objects, each computed once and kept."""

        def made(k: int) -> Callable[[list[str]], Any]:
            from dask.graph_manipulation import clone

            return lambda workers: self.client.compute(clone(delayed[k]), workers=workers)

        return [Held(future, made(k)) for k, future in enumerate(self.client.compute(delayed))]

    def keep(self, work: Work, *, replaces: bool = False) -> list[Handle]:
        """Handles of the answers, which stay where they were found; they may replace their blocks."""
        futures = self._submit(work, range(len(work.blocks)))
        found = [Held(future, self._made(work, k)) for k, future in enumerate(futures)]
        if replaces:
            for blocks in work.blocks:
                for each in blocks:
                    each.future = None  # Dask keeps it until it is used
        return found

    def start(self, work: Work) -> Answers:
        """Start the calls; the function returned waits for their answers, in the order of the calls."""
        futures = self._submit(work, range(len(work.blocks)))
        started = time.monotonic()

        def finish(pause: Pause | None) -> list[Any]:
            try:
                self._wait(work, futures, started, pause)
                return self._answers(futures)
            except BaseException:
                with suppress(Exception):
                    self.client.cancel(futures)
                raise

        return finish

    def _submit(self, work: Work, calls: range | list[int], workers: list[str] | None = None) -> list[Any]:
        """A future for each of some calls, named for the dashboard."""
        if not calls:
            return []
        own = [() if work.own is None else work.own[k] for k in calls]
        blocks = [[_future(each) for each in work.blocks[k]] for k in calls]
        with _cluster_errors():
            return list(
                self.client.map(
                    _call,
                    own,
                    blocks,
                    task=work.task,
                    common=work.common,
                    key=f"separatrix-{work.name}",
                    pure=False,
                    workers=workers,
                    priority=-1 if work.later else 0,
                )
            )

    def _made(self, work: Work, call: int) -> Callable[[list[str]], Any]:
        def make(workers: list[str]) -> Any:
            return self._submit(_renewed(work, call, workers), [call], workers)[0]

        return make

    def _wait(self, work: Work, futures: list[Any], started: float, pause: Pause | None) -> None:
        """Wait until all futures are done; what hangs is replaced by what was started in its place."""
        from distributed import wait

        seconds: list[float] = []
        second: dict[int, Any] = {}
        while True:
            with suppress(TimeoutError), _cluster_errors():
                wait([each for each in futures if not each.done()] or futures[:1], timeout=INTERVAL)
            if pause is not None:
                pause()
            for k, copy in list(second.items()):
                if not futures[k].done() and copy.status == "finished":
                    futures[k].cancel()
                    futures[k] = copy
            left = [k for k, each in enumerate(futures) if not each.done()]
            if not left:
                return
            elapsed = time.monotonic() - started
            seconds += [elapsed] * (len(futures) - len(left) - len(seconds))
            usual = seconds[len(futures) // 2] if len(seconds) > len(futures) // 2 else elapsed
            if not second and elapsed > max(PATIENCE, TIMES * usual):
                second = self._elsewhere(work, futures, left)

    def _elsewhere(self, work: Work, futures: list[Any], left: list[int]) -> dict[int, Any]:
        """Start calls again, on workers that are not busy with them."""
        with _cluster_errors():
            busy = self.client.processing()
            keys = {futures[k].key for k in left}
            others = [worker for worker, tasks in busy.items() if not keys & set(tasks)]
        if not others:
            return {}
        return {k: self._submit(_renewed(work, k, others), [k], others)[0] for k in left}

    def _answers(self, futures: list[Any]) -> list[Any]:
        for k, each in enumerate(futures):
            if each.status == "error":
                raise Failed(k, each.exception())
            if each.status != "finished":
                raise _closed()
        with _cluster_errors():
            return list(self.client.gather(futures))


def _future(handle: Any) -> Any:
    """What the client knows a handle by; lists of handles are joined in one call."""
    return [_future(each) for each in handle] if isinstance(handle, list) else handle.future


def _renewed(work: Work, call: int, workers: list[str]) -> Work:
    """The same work with the blocks of a call made again: those there were may be where nothing answers."""

    def renew(handle: Any) -> Any:
        if isinstance(handle, list):
            return [renew(each) for each in handle]
        handle.future = handle.make(workers)
        return handle

    blocks = list(work.blocks)
    blocks[call] = tuple(renew(each) for each in blocks[call])
    return Work(work.name, work.task, blocks, work.common, work.own, work.later)


def _call(own: tuple[Any, ...], blocks: list[Any], *, task: Any, common: tuple[Any, ...]) -> Any:
    return perform(task, tuple(blocks), (*common, *own))


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
        if type(error).__name__.endswith("CancelledError"):
            raise _closed() from error
        raise


def _closed() -> ClusterError:
    return ClusterError(
        "The Dask client was closed, or lost its scheduler or the data, before the tasks were done.",
        remedy="Keep the client open until the call returns, and call again.",
    )
