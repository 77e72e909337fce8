"""The pool of processes that compute; one that has ended or takes too long is replaced."""

from __future__ import annotations

import asyncio
import contextlib
import struct
import sys
from asyncio.subprocess import PIPE, Process
from dataclasses import dataclass
from typing import Any

from ..api.answers import write
from ..api.limits import Limits
from ..api.requests import REQUESTS

# A message is a head and a body. The head holds the number of the question, or the HTTP status of the answer,
# and the number of bytes in the body.
HEAD = struct.Struct(">HI")
READY = b"ready"
QUESTIONS = tuple(REQUESTS)


@dataclass(frozen=True)
class Reply:
    """An answer: the HTTP status and the bytes of the body."""

    status: int
    body: bytes


def error(code: str, message: str, values: dict[str, Any] | None = None) -> bytes:
    """Return a refusal as the page reads it."""
    return write({"code": code, "message": message, "values": values or {}})


def refusal(status: int, code: str, message: str, **values: Any) -> Reply:
    """Return the reply that refuses a request."""
    return Reply(status, error(code, message, values))


class Computer:
    """A process that computes, asked one question at a time."""

    def __init__(self, process: Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process, self._source, self._target = process, process.stdout, process.stdin

    @classmethod
    async def begin(cls, memory: int, *, everything: bool) -> Computer:
        """Start a process; with ``everything`` it is ready when all loops are compiled."""
        program = ("-m", "separatrix.playground.server.worker", str(memory), "all" if everything else "first")
        return cls(await asyncio.create_subprocess_exec(sys.executable, *program, stdin=PIPE, stdout=PIPE))

    @property
    def alive(self) -> bool:
        """Whether the process is running, as far as is known."""
        return self._process.returncode is None

    async def ready(self) -> bool:
        """Wait until the process can be asked; return False if it ended instead."""
        try:
            return await self._source.readexactly(len(READY)) == READY
        except EOFError:
            return False

    async def exchange(self, question: str, body: bytes) -> Reply:
        """Ask, and wait for the answer; raise EOFError or OSError if the process ended instead."""
        self._target.write(HEAD.pack(QUESTIONS.index(question), len(body)) + body)
        await self._target.drain()
        status, size = HEAD.unpack(await self._source.readexactly(HEAD.size))
        return Reply(status, await self._source.readexactly(size))

    def kill(self) -> None:
        """End the process, whatever it is doing."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    async def ended(self) -> None:
        """Wait until the process has ended."""
        await self._process.wait()


class Workers:
    """Pass each request to a process that is free.

    Each process has a task that waits for its end and starts another one in its place. The first process is
    soon ready for a first click; the second one loads or compiles all loops before it is ready. Until then
    the time limit is longer, because a computation may have to compile loops itself.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._free: asyncio.Queue[Computer] = asyncio.Queue()
        self._places: set[asyncio.Task[None]] = set()
        self._waiting = 0
        self._compiling = 0

    async def start(self) -> None:
        """Start the processes; they become free as they get ready."""
        for number in range(self.limits.workers):
            self.add(everything=0 < number == self.limits.workers - 1)

    async def close(self) -> None:
        """End all processes at once."""
        for place in self._places:
            place.cancel()
        await asyncio.gather(*self._places, return_exceptions=True)

    def add(self, *, everything: bool = False) -> None:
        """Keep one more process; with ``everything`` it is free only when all loops are compiled."""
        self._places.add(asyncio.get_running_loop().create_task(self._keep_one(everything)))

    async def ask(self, question: str, body: bytes) -> Reply:
        """Return the answer of a process, or a refusal.

        A process may be ended by something unrelated to the question, so the question is asked twice.
        """
        if self._waiting >= self.limits.waiting:
            return refusal(503, "busy", "Too many requests are waiting. Try again in a moment.")
        for _ in range(2):
            computer = await self._next()
            if computer is None:
                return refusal(503, "busy", "No process became free. Try again in a moment.")
            seconds = self._seconds()
            try:
                async with asyncio.timeout(seconds):
                    reply = await computer.exchange(question, body)
            except TimeoutError:
                computer.kill()
                return refusal(
                    503,
                    "too_slow",
                    f"This took longer than {seconds:g} seconds and was stopped. Use fewer points or steps.",
                    seconds=seconds,
                )
            except (OSError, EOFError):
                computer.kill()
            except BaseException:
                computer.kill()  # canceled half-way: its answer would be read as that of the next question
                raise
            else:
                self._free.put_nowait(computer)
                return reply
        return refusal(503, "died", "The process that computed this ended. Use fewer points or steps.")

    def _seconds(self) -> float:
        limits = self.limits
        return max(limits.seconds, limits.cold_seconds) if self._compiling else limits.seconds

    async def _next(self) -> Computer | None:
        """Wait for a process that is free; return None after too long."""
        self._waiting += 1
        try:
            async with asyncio.timeout(self.limits.cold_seconds):
                while not (computer := await self._free.get()).alive:
                    pass  # it ended while it was idle
                return computer
        except TimeoutError:
            return None
        finally:
            self._waiting -= 1

    async def _keep_one(self, everything: bool) -> None:
        """Run one process after the other, until this task is canceled."""
        self._compiling += everything
        while True:
            try:
                computer = await Computer.begin(self.limits.memory, everything=everything)
            except OSError:  # the machine cannot start another process now
                await asyncio.sleep(self.limits.pause)
                continue
            try:
                if await computer.ready():
                    self._compiling -= everything
                    everything = False
                    self._free.put_nowait(computer)
                    await computer.ended()
                else:
                    await asyncio.sleep(self.limits.pause)
            finally:
                computer.kill()
                await computer.ended()
