"""Tasks on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ..errors import ClusterError
from .blocks import INTERVAL, Answers, Failed, Handle, Pause, Work, perform


class Held:
    """A handle: a future on the cluster; none any more where its successor replaces it."""

    def __init__(self, future: Any) -> None:
        self.future = future


class ClientRunner:
    """Runs tasks where the futures of a client are.

    Tasks are pure functions of their blocks and arguments: if a worker dies, Dask finds its blocks again and
    repeats its tasks, and the answers are the same. If one is not heard of for as long as Dask's setting
    ``distributed.scheduler.worker-ttl`` says (five minutes), Dask takes it for dead.
    """

    def __init__(self, client: Any) -> None:
        self.client = client

    def compute(self, delayed: list[Any], names: list[str]) -> list[Handle]:
        """Handles of delayed objects, each computed once and kept."""
        with _cluster_errors():
            return [Held(future) for future in self.client.compute(delayed)]

    def keep(self, work: Work, *, replaces: bool = False) -> list[Handle]:
        """Handles of the answers, which stay where they were found; they may replace their blocks."""
        found = [Held(future) for future in self._submit(work)]
        if replaces:
            for blocks in work.blocks:
                for each in blocks:
                    each.future = None  # Dask keeps it until it is used
        return found

    def start(self, work: Work) -> Answers:
        """Start the calls; the function returned waits for their answers, in the order of the calls."""
        futures = self._submit(work)

        def finish(pause: Pause | None) -> list[Any]:
            try:
                self._wait(futures, pause)
                return self._answers(futures)
            except BaseException:
                with suppress(Exception):
                    self.client.cancel(futures)
                raise

        return finish

    def _submit(self, work: Work) -> list[Any]:
        """A future for each call, named for the dashboard."""
        if not work.blocks:
            return []
        own = [()] * len(work.blocks) if work.own is None else work.own
        blocks = [[_future(each) for each in some] for some in work.blocks]
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
                    priority=-1 if work.later else 0,
                )
            )

    def _wait(self, futures: list[Any], pause: Pause | None) -> None:
        """Wait until all futures are done; whoever has no time left may raise meanwhile."""
        from distributed import wait

        while left := [each for each in futures if not each.done()]:
            with suppress(TimeoutError), _cluster_errors():
                wait(left, timeout=INTERVAL)
            if pause is not None:
                pause()

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
        if type(error).__name__.endswith(("CancelledError", "ClosedClientError")):
            raise _closed() from error
        raise


def _closed() -> ClusterError:
    return ClusterError(
        "The Dask client was closed, or lost its scheduler or the data, before the tasks were done.",
        remedy="Keep the client open until the call returns, and call again.",
    )
