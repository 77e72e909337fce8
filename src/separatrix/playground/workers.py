"""The processes that compute for the server: a few, each ended and replaced when it takes too long."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from dataclasses import dataclass
from typing import Any

from .limits import Limits
from .wire import BROKEN, HEAD, QUESTIONS, READY, REFUSED

LARGEST = 1 << 28  # bytes of an answer


@dataclass(frozen=True)
class Reply:
    """An answer: the HTTP status and the bytes."""

    status: int
    body: bytes


def refusal(status: int, code: str, message: str, **values: Any) -> Reply:
    """A refusal as the page reads it."""
    return Reply(status, json.dumps({"code": code, "message": message, "values": values}).encode())


class Workers:
    """Hands each request to a process that is free.

    The first process is ready for a first click soon; the second loads or compiles everything before it says
    so. Until then computations may take longer, since loops may be compiled in them.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._free: asyncio.Queue[asyncio.subprocess.Process] = asyncio.Queue()
        self._all: set[asyncio.subprocess.Process] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting = 0
        self._cold = True
        self._closed = False

    async def start(self) -> None:
        """Start the processes; they become free as they get ready."""
        for number in range(self.limits.workers):
            last = number == self.limits.workers - 1
            self._spawn(everything=last and number > 0)
        self._cold = self.limits.workers > 1

    async def close(self) -> None:
        """End all processes at once."""
        self._closed = True
        for task in self._tasks:
            task.cancel()
        for process in self._all:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        await asyncio.gather(*(process.wait() for process in self._all), return_exceptions=True)

    async def ask(self, question: str, body: bytes) -> Reply:
        """The answer of a process, or why there is none."""
        limits = self.limits
        if self._waiting >= limits.waiting:
            return refusal(503, "busy", "Too many requests are waiting. Try again in a moment.")
        self._waiting += 1
        try:
            async with asyncio.timeout(limits.cold_seconds):
                process = await self._free.get()
        except TimeoutError:
            return refusal(503, "busy", "No process became free. Try again in a moment.")
        finally:
            self._waiting -= 1
        seconds = limits.film_seconds if question == "film" else limits.seconds
        seconds = max(seconds, limits.cold_seconds) if self._cold else seconds
        try:
            async with asyncio.timeout(seconds):
                status, found = await _exchange(process, QUESTIONS.index(question), body)
        except TimeoutError:
            self._replace(process)
            return refusal(
                503,
                "too_slow",
                f"This took longer than {seconds:g} seconds and was stopped. Take fewer points or steps.",
                seconds=seconds,
            )
        except (OSError, EOFError, asyncio.IncompleteReadError):
            self._replace(process)
            return refusal(503, "died", "The process that computed this ended. Take fewer points or steps.")
        except BaseException:
            self._replace(process)  # cancelled half-way: what it says next would be taken for another answer
            raise
        self._free.put_nowait(process)
        return Reply(422 if status == REFUSED else 500 if status == BROKEN else 200, found)

    def _replace(self, process: asyncio.subprocess.Process) -> None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        self._all.discard(process)
        self._keep(process.wait())
        if not self._closed:
            self._spawn(everything=False)

    def _spawn(self, *, everything: bool) -> None:
        self._keep(self._begin(everything))

    def _keep(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _begin(self, everything: bool) -> None:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "separatrix.playground.worker",
            str(self.limits.memory),
            "all" if everything else "first",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=1 << 20,
        )
        self._all.add(process)
        assert process.stdout is not None
        try:
            await process.stdout.readexactly(len(READY))
        except asyncio.IncompleteReadError:
            self._all.discard(process)
            return
        if everything:
            self._cold = False
        self._free.put_nowait(process)


async def _exchange(process: asyncio.subprocess.Process, number: int, body: bytes) -> tuple[int, bytes]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(HEAD.pack(number, len(body)))
    process.stdin.write(body)
    await process.stdin.drain()
    status, size = HEAD.unpack(await process.stdout.readexactly(HEAD.size))
    if size > LARGEST:
        raise EOFError
    return status, await process.stdout.readexactly(size)
