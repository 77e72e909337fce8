"""The web application: decide which requests are let in, serve files, pass questions to workers."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import ipaddress
import re
from collections.abc import AsyncIterator, Coroutine, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from ... import __version__
from ..api.answers import write
from ..api.limits import LIMITS, Limits
from ..api.requests import REQUESTS
from ..content.lessons import LESSONS
from ..content.presets import PRESETS
from .workers import Reply, Workers, refusal

STATIC = Path(__file__).parent.parent / "static"
COOKIE = "separatrix"
DECISIVE = ("host", "origin", "sec-fetch-site", "cookie", "content-type")  # headers that decide who is let in
HOST = re.compile(r"(?:\[(?P<six>[0-9a-f:.%]+)\]|(?P<name>[^][:@/\s]+))(?::[0-9]{1,5})?", re.IGNORECASE)
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def create_app(
    *, limits: Limits | None = None, token: str | None = None, hosts: Iterable[str] = ()
) -> Starlette:
    """Return the playground as an ASGI application.

    Parameters
    ----------
    limits : Limits, optional
        How much a request may ask for.
    token : str, optional
        A client that has not opened the page with ``?token=...`` is refused. Set it if others can reach the
        server.
    hosts : iterable of str
        Host names, besides ``localhost`` and numeric addresses, that requests may be for. Any other name is
        refused, because another site could make its own name point here (DNS rebinding).

    Returns
    -------
    Starlette

    Examples
    --------
    >>> app = create_app()
    >>> sorted(route.path for route in app.routes)
    ['/', '/about.json', '/api/{question}', '/presets/{name}.json', '/static']
    """
    allowed = limits or Limits()
    workers = Workers(allowed)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await workers.start()
        try:
            yield
        finally:
            await workers.close()

    async def page(_: Request) -> Response:
        return Response((STATIC / "index.html").read_bytes(), media_type="text/html")

    async def known(_: Request) -> Response:
        return JSONResponse(about())

    async def preset(request: Request) -> Response:
        made = PRESETS.get(request.path_params["name"])
        if made is None:
            return _response(refusal(404, "no_preset", "There is no such preset."))
        return Response(write(await asyncio.to_thread(made)), media_type="application/json")

    async def ask(request: Request) -> Response:
        question = request.path_params["question"]
        if question not in REQUESTS:
            return _response(refusal(404, "no_question", "There is no such question."))
        if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return _response(refusal(415, "not_json", "The request must be application/json."))
        body = await _body(request, allowed)
        if isinstance(body, Reply):
            return _response(body)
        reply = await _unless_gone(request, workers.ask(question, body))
        return _response(reply)

    app = Starlette(
        routes=[
            Route("/", page),
            Route("/about.json", known),
            Route("/presets/{name}.json", preset),
            Route("/api/{question}", ask, methods=["POST"]),
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        lifespan=lifespan,
    )
    app.add_middleware(Gate, token=token, hosts=frozenset(hosts))
    return app


def about(*, server: bool = True, address: str | None = None) -> dict[str, Any]:
    """Return what the page has to know before its first question; ``address`` is where shared links open."""
    served = {"server": server, "address": address, "version": __version__}
    return {**served, "presets": list(PRESETS), "lessons": LESSONS, "limits": asdict(LIMITS)}


def _response(reply: Reply) -> Response:
    return Response(reply.body, reply.status, media_type="application/json")


async def _unless_gone(request: Request, work: Coroutine[Any, Any, Reply]) -> Reply:
    """Return the reply; if the client disconnects first, cancel the work, so that others need not wait."""
    answer = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait((answer, gone), return_when=asyncio.FIRST_COMPLETED)
        return answer.result() if answer.done() else refusal(499, "gone", "The client has disconnected.")
    finally:
        answer.cancel()
        gone.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _body(request: Request, limits: Limits) -> bytes | Reply:
    """Return the body, or a refusal if it is too long or arrives too slowly."""
    too_large = refusal(
        413,
        "too_large",
        f"The request has more than {limits.body:,} bytes. Use fewer points.",
        most=limits.body,
    )
    told = request.headers.get("content-length", "0")
    if not told.isdecimal() or int(told) > limits.body:
        return too_large
    parts, size = [], 0
    try:
        async with asyncio.timeout(limits.upload_seconds):
            async for part in request.stream():
                size += len(part)
                if size > limits.body:
                    return too_large
                parts.append(part)
    except TimeoutError:
        return refusal(408, "too_slow_upload", "The request did not arrive in time.")
    return b"".join(parts)


class Gate:
    """Let in requests for this host, from this page, with the token if there is one; add the headers."""

    def __init__(self, app: Any, *, token: str | None, hosts: frozenset[str]) -> None:
        self.app, self.token, self.hosts = app, token, hosts

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        answer = self._refused(Request(scope))
        await (self.app if answer is None else answer)(scope, receive, send_with_headers)

    def _refused(self, request: Request) -> Response | None:
        headers = request.headers
        for name in DECISIVE:
            if len(headers.getlist(name)) > 1:  # two programs that read it might each use another value
                return _response(refusal(400, "repeated", f"The header {name} may be sent only once."))
        if not self._known(headers.get("host", "")):
            return _response(
                refusal(421, "host", "This address is not one of the playground's. Use the one it printed.")
            )
        foreign = headers.get("origin") not in (None, f"{request.scope['scheme']}://{headers['host']}")
        site = headers.get("sec-fetch-site", "none")
        if foreign or (site not in ("same-origin", "none") and request.scope["path"] != "/"):
            return _response(refusal(403, "origin", "Another page may not ask the playground."))
        return self._without_token(request)

    def _without_token(self, request: Request) -> Response | None:
        if self.token is None or _same(request.cookies.get(COOKIE, ""), self.token):
            return None
        query = parse_qs(request.scope["query_string"].decode("latin-1"))
        shown = query.pop("token", [""])[0]
        if request.scope["path"] == "/" and _same(shown, self.token):
            welcome = RedirectResponse(f"/?{urlencode(query, doseq=True)}" if query else "/", 303)
            welcome.set_cookie(COOKIE, self.token, httponly=True, samesite="strict")
            return welcome
        return _response(
            refusal(403, "token", "Open the address that the playground printed: it contains a token.")
        )

    def _known(self, host: str) -> bool:
        """Return whether a request for this host, perhaps with a port, is for the playground."""
        read = HOST.fullmatch(host)
        if read is None:
            return False
        name, six = (read["name"] or "").lower(), read["six"]
        if name == "localhost" or name in self.hosts:
            return True
        try:
            return ipaddress.ip_address(six or name).version == (6 if six else 4)
        except ValueError:
            return False


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode())
