"""Tasks on the workers of a Dask cluster."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from .blocks import INTERVAL, Answers, Handle, Pause, Work, perform


class ClientRunner:
    """Runs tasks where the futures of a client are; a handle is a future.

    Tasks are pure functions of their blocks and arguments: if a worker dies, Dask finds its blocks again and
    repeats its tasks, and the answers are the same.
    """

    def __init__(self, client: Any) -> None:
        self.client = client

    def start(self, work: Work) -> Answers:
        """Start the calls; the function returned waits for their answers, in the order of the calls."""
        futures = self._submit(_answer, work)

        def finish(pause: Pause | None) -> list[Any]:
            try:
                while pause is not None and not _done(futures):
                    pause()
                return list(self.client.gather(futures))
            except BaseException:
                self.client.cancel(futures)
                raise

        return finish

    def keep(self, work: Work) -> list[Handle]:
        """Futures of the answers."""
        return self._submit(_value, work)

    def _submit(self, function: Any, work: Work) -> list[Any]:
        """One future for each call, named for the dashboard."""
        if not work.blocks:
            return []
        own = work.own if work.own is not None else [()] * len(work.blocks)
        return list(
            self.client.map(
                function,
                own,
                *zip(*work.blocks, strict=True),
                task=work.task,
                common=work.common,
                key=f"separatrix-{work.name}",
                pure=False,
            )
        )


def _done(futures: list[Any]) -> bool:
    """Wait a little; whether all futures are done."""
    from distributed import wait

    with suppress(TimeoutError):
        wait(futures, timeout=INTERVAL)
    return all(each.done() for each in futures)


def _answer(own: tuple[Any, ...], *blocks: Any, task: Any, common: tuple[Any, ...]) -> Any:
    return perform(task, blocks, (*common, *own))


def _value(own: tuple[Any, ...], *blocks: Any, task: Any, common: tuple[Any, ...]) -> Any:
    return task(*blocks, *common, *own)
