"""Connections that end if no request comes in time, and make room for others if there are too many."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from ..api.limits import Limits


def connections(limits: Limits) -> type[H11Protocol]:
    """The class of a server's connections.

    Time runs from the moment a connection is made or has been answered until the head of a request is
    complete; half of a head does not stop it. If there are too many connections, a new one takes the place of
    the one that has waited longest, so clients that say nothing keep nobody out.
    """

    class Connection(H11Protocol):
        waits: asyncio.TimerHandle | None = None  # None while a request is answered
        since = 0.0  # when it began to wait, or to be answered

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._wait()
            if len(self.connections) > limits.connections:
                everyone: Any = self.connections
                min(everyone, key=lambda each: (each.waits is None, each.since)).transport.abort()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._answer()

        def on_response_complete(self) -> None:
            self._wait()
            super().on_response_complete()
            self._answer()  # a request that was sent before the answer to the last

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

        def _wait(self) -> None:
            self._stop_waiting()
            self.since = self.loop.time()
            self.waits = self.loop.call_later(limits.upload_seconds, self.transport.close)

        def _answer(self) -> None:
            if self.waits is not None and not getattr(self.cycle, "response_complete", True):
                self._stop_waiting()
                self.since = self.loop.time()

        def _stop_waiting(self) -> None:
            if self.waits is not None:
                self.waits.cancel()
                self.waits = None

    return Connection
