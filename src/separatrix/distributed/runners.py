"""Run tasks on blocks: on the workers of a Dask cluster, or in the threads of this process."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import wait
from contextlib import contextmanager, suppress
from typing import Any

from ..errors import ClusterError
from ..progress import Progress
from ..rows import threads
from ..rows.blocks import INTERVAL, Answers, Failed, Handle, Pause, Work, not_computed, perform


class Held:
    """A handle: a future on the cluster, or None after another future has replaced it."""

    def __init__(self, future: Any) -> None:
        self.future = future


class ClientRunner:
    """Runs tasks on the workers of a client, where their blocks are.

    Tasks are pure functions of their blocks and arguments: if a worker dies, Dask computes its blocks again
    and repeats its tasks, and the answers are the same (`collections.fixed` refuses blocks that changed).
    If a worker does not answer for the time of Dask's setting ``distributed.scheduler.worker-ttl`` (five
    minutes), Dask treats it as dead.
    """

    loses = True

    def __init__(self, client: Any) -> None:
        self.client = client
        self._progress, self._rounds = Progress(), 0
        # A client sends nothing for 10 ms after each message, and releasing the answers of a round is a
        # message. They are kept here until the next round has been sent.
        self._last: list[Any] = []

    def compute(self, delayed: list[Any], names: list[str]) -> list[Handle]:
        """Return handles of delayed objects, each computed once and kept."""
        with _cluster_errors():
            return [Held(future) for future in self.client.compute(delayed)]

    def keep(self, work: Work, *, replaces: bool = False) -> list[Handle]:
        """Return handles of the answers, which stay on their workers; they may replace their blocks."""
        found = [Held(future) for future in self._submit(work)]
        if replaces:
            for blocks in work.blocks:
                for each in blocks:
                    each.future = None  # Dask keeps it until the new task has used it
        return found

    def start(self, work: Work) -> Answers:
        """Start the calls; return a function that waits for their answers, in the order of the calls."""
        futures = self._last = self._submit(work)
        self._rounds += 1
        round_ = f"round {self._rounds} ({work.name})"

        def finish(pause: Pause | None) -> list[Any]:
            try:
                self._wait(futures, pause, round_)
                with _cluster_errors():
                    return list(self.client.gather(futures))
            except BaseException:
                broken = [k for k, each in enumerate(futures) if each.status == "error"]
                with suppress(Exception):
                    self.client.cancel(futures)
                if broken:
                    raise Failed(broken[0], futures[broken[0]].exception()) from None
                raise
            finally:
                self._progress.rest()

        return finish

    def _submit(self, work: Work) -> list[Any]:
        """Return a future for each call, named for the dashboard."""
        if not work.blocks:
            return []
        from dask import config

        own = [()] * len(work.blocks) if work.own is None else work.own
        blocks = [[_future(each) for each in some] for some in work.blocks]
        # One number per row is sent with each task, so that it can be repeated elsewhere if a worker is lost.
        quiet = config.set({"distributed.admin.large-graph-warning-threshold": "1 PB"})
        with _cluster_errors(), quiet:
            return list(
                self.client.map(
                    _call,
                    own,
                    blocks,
                    task=work.task,
                    common=work.common,
                    key=f"separatrix-{work.name}",
                    pure=False,
                    priority=-1 if work.later else 0,
                )
            )

    def _wait(self, futures: list[Any], pause: Pause | None, round_: str) -> None:
        """Wait until all futures are done. ``pause`` is called meanwhile, and may raise if time is up.

        Without a ``pause`` and without progress to show, nothing is done here: the caller waits for the
        answers.
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


class ThreadRunner:
    """Runs tasks in threads of this process; a handle is the block itself."""

    loses = False

    def start(self, work: Work) -> Answers:
        """Start the calls; return a function that waits for their answers, in the order of the calls."""
        started = [
            threads.submit(perform, work.task, blocks, work.arguments(k))
            for k, blocks in enumerate(work.blocks)
        ]

        def finish(pause: Pause | None) -> list[Any]:
            if pause is not None:
                while wait(started, timeout=INTERVAL).not_done:
                    pause()
            return [each.result() for each in started]

        return finish

    def keep(self, work: Work, *, replaces: bool = False) -> list[Handle]:
        """Return the answers themselves."""
        return self.start(work)(None)

    def compute(self, delayed: list[Any], names: list[str]) -> list[Handle]:
        """Return the objects themselves, computed by Dask's threads."""
        from dask.base import compute

        try:
            return list(compute(*delayed, scheduler="threads"))
        except Exception:
            for name, each in zip(names, delayed, strict=True):
                try:
                    each.compute(scheduler="synchronous")
                except Exception as error:
                    failed = not_computed(name, error)
                    failed.remedy = (
                        "If a Dask client computed it, open a client and make the collection again."
                    )
                    raise failed from error
            raise


def _future(handle: Any) -> Any:
    """Return the future of a handle, or the futures of a list of handles."""
    return [_future(each) for each in handle] if isinstance(handle, list) else handle.future


def _call(own: tuple[Any, ...], blocks: list[Any], *, task: Any, common: tuple[Any, ...]) -> Any:
    return perform(task, tuple(blocks), (*common, *own))


@contextmanager
def _cluster_errors() -> Iterator[None]:
    """Explain what it means if a client does not answer."""
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
