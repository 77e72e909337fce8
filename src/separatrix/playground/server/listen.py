"""Where the server listens: a socket that is taken first, the address to open, a token if one is needed."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import math
import secrets
import socket
import threading
import time
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

PORT = 8317  # where the playground is unless told otherwise


@dataclass(frozen=True)
class Listener:
    """A socket that listens, and how to reach it.

    Attributes
    ----------
    address : str
        What to open in a browser, with the token if there is one.
    note : str
        What the person at the terminal should know; may be empty.
    """

    socket: socket.socket
    host: str
    address: str
    token: str | None
    note: str

    def open_browser(self) -> bool:
        """Open the page as soon as the server answers; False where there is no browser."""
        try:
            browser = webbrowser.get()
        except webbrowser.Error:
            return False
        threading.Thread(target=self._open, args=(browser,), daemon=True).start()
        return True

    def _open(self, browser: webbrowser.BaseBrowser) -> None:
        time.sleep(0.3)  # the socket listens already: a request that comes too early waits
        browser.open(self.address)

    def serve(self, limits: Limits | None = None) -> None:
        """Serve until Ctrl-C."""
        allowed = limits or Limits()
        app = create_app(
            limits=allowed, token=self.token, hosts={self.host.lower(), socket.gethostname().lower()}
        )
        with contextlib.suppress(KeyboardInterrupt):
            server_of(app, allowed).run(sockets=[self.socket])


def server_of(app: Starlette, limits: Limits) -> uvicorn.Server:
    """The server of an application, for connections that keep the limits."""
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


@contextlib.contextmanager
def listen(host: str, port: int | None, *, lesson: str | None = None) -> Iterator[Listener]:
    """Take a port; without a wish, the usual one or any that is free. The page opens with the lesson named.

    Raises
    ------
    InputError
        Where the port is taken, the address is not this machine's, or there is no such lesson.
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
    except UnicodeError as problem:  # no name of a machine looks like this
        raise _refusal(host, port, OSError(errno.EADDRNOTAVAIL, str(problem))) from None
    except OSError as problem:
        if problem.errno != errno.EADDRINUSE or port is not None:
            raise _refusal(host, port, problem) from None
        taken = _bind(host, 0)
        note = f"Port {PORT} is taken, perhaps by another playground; this one has a port of its own."
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
    # with the protocol named, asyncio sends short answers at once; else each waits 40 ms for the one before
    taken = socket.socket(family, kind, protocol)
    try:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(address)
        taken.listen(256)
    except OSError:
        taken.close()
        raise
    return taken


def _refusal(host: str, port: int | None, problem: OSError) -> InputError:
    number = PORT if port is None else port
    if problem.errno == errno.EADDRINUSE:
        return InputError(
            f"Port {number} is taken by another program.",
            remedy="Choose another, or port 0, which takes any that is free.",
            parameter="port",
        )
    if problem.errno == errno.EACCES:
        return InputError(
            f"Port {number} may not be used without special rights.",
            remedy="Choose one above 1023, or port 0, which takes any that is free.",
            parameter="port",
        )
    return InputError(
        f"This machine cannot listen at {host!r}: {problem.strerror or problem}.",
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
