"""Listen for the browser: take a socket, make the address and the token, serve connections within limits."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import math
import secrets
import socket
import threading
import webbrowser
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

from ...errors import InputError
from ..api.limits import Limits
from ..content.lessons import LESSONS
from .service import create_app

PORT = 8317  # the usual port of the playground


@dataclass(frozen=True)
class Listener:
    """A socket that listens, and how to reach it.

    Attributes
    ----------
    address : str
        The address to open in a browser, with the token if there is one.
    note : str
        A sentence for the person at the terminal; may be empty.
    """

    socket: socket.socket
    host: str
    address: str
    token: str | None
    note: str

    def open_browser(self) -> bool:
        """Open the page as soon as the server answers; return False if there is no browser."""
        try:
            browser = webbrowser.get()
        except webbrowser.Error:
            return False
        # The socket is listening already: a request that comes before the server is ready waits.
        threading.Timer(0.3, browser.open, (self.address,)).start()
        return True

    def serve(self, limits: Limits | None = None) -> None:
        """Serve until Ctrl-C."""
        allowed = limits or Limits()
        app = create_app(
            limits=allowed, token=self.token, hosts={self.host.lower(), socket.gethostname().lower()}
        )
        with contextlib.suppress(KeyboardInterrupt):
            server_of(app, allowed).run(sockets=[self.socket])


def server_of(app: Starlette, limits: Limits) -> uvicorn.Server:
    """Return the server of an application; its connections keep the limits."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=connections(limits),
            ws="none",
            log_level="critical",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=math.ceil(limits.upload_seconds),
            timeout_graceful_shutdown=0,
        )
    )


def connections(limits: Limits) -> type[H11Protocol]:
    """Return the class of a server's connections.

    A connection is closed if no complete head of a request arrives in time after it was made or last
    answered. If there are too many connections, a new one replaces the one that has waited longest, so
    silent clients do not block others.
    """

    class Connection(H11Protocol):
        waits: asyncio.TimerHandle | None = None  # None while a request is being answered
        since = 0.0  # when the waiting or the answering began

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


@contextlib.contextmanager
def listen(host: str, port: int | None, *, lesson: str | None = None) -> Iterator[Listener]:
    """Take a port: the one given, else the usual one, else any that is free. The page opens with the lesson.

    Raises
    ------
    InputError
        If the port is taken, the address is not one of this machine, or there is no such lesson.
    """
    names = [each["name"] for each in LESSONS]
    if lesson is not None and lesson not in names:
        raise InputError(
            f"There is no lesson {lesson!r}.",
            remedy=f"There is one for each chapter of the course: {', '.join(names)}.",
            parameter="lesson",
        )
    note = ""
    try:
        taken = _bind(host, PORT if port is None else port)
    except (OSError, UnicodeError) as problem:  # UnicodeError: the host cannot be the name of a machine
        if getattr(problem, "errno", None) != errno.EADDRINUSE or port is not None:
            raise _refusal(host, PORT if port is None else port, problem) from None
        taken = _bind(host, 0)
        note = f"Port {PORT} is taken, perhaps by another playground, so another port was chosen."
    with taken:
        number = taken.getsockname()[1]
        open_to_others = not _loopback(host)
        token = secrets.token_urlsafe(24) if open_to_others else None
        shown = socket.gethostname() if host in ("0.0.0.0", "::", "") else host
        bracketed = f"[{shown}]" if ":" in shown else shown
        asked = {name: value for name, value in (("lesson", lesson), ("token", token)) if value is not None}
        query = f"?{urlencode(asked)}" if asked else ""
        if open_to_others:
            note = f"{note} Others can reach this address; the token in the link lets them in.".strip()
        yield Listener(taken, shown, f"http://{bracketed}:{number}/{query}", token, note)


def _bind(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    # If the protocol is named, asyncio sends short answers at once; otherwise each waits 40 ms.
    taken = socket.socket(family, kind, protocol)
    try:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(address)
        taken.listen(256)
    except OSError:
        taken.close()
        raise
    return taken


def _refusal(host: str, port: int, problem: Exception) -> InputError:
    reasons = {
        errno.EADDRINUSE: f"Port {port} is taken by another program.",
        errno.EACCES: f"Port {port} may not be used without special rights.",
    }
    reason = reasons.get(getattr(problem, "errno", None) or 0)
    if reason is not None:
        return InputError(
            reason, remedy="Choose another port above 1023, or 0 for any free one.", parameter="port"
        )
    return InputError(
        f"This machine cannot listen at {host!r}: {getattr(problem, 'strerror', None) or problem}.",
        remedy="Use 127.0.0.1, or an address of this machine.",
        parameter="host",
    )


def _loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
