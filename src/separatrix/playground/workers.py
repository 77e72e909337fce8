"""The processes that compute for the server: a few, each ended and replaced when it takes too long."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from .limits import Limits
from .wire import BROKEN, HEAD, QUESTIONS, READY, REFUSED

T = TypeVar("T")


@dataclass(frozen=True)
class Reply:
    """An answer: the HTTP status and the bytes."""

    status: int
    body: bytes


def refusal(status: int, code: str, message: str, **values: Any) -> Reply:
    """A refusal as the page reads it."""
    return Reply(status, json.dumps({"code": code, "message": message, "values": values}).encode())


class Computer:
    """A process that computes, asked one question at a time; its methods wait, and belong into a thread."""

    def __init__(self, memory: int, *, everything: bool) -> None:
        program = [sys.executable, "-m", "separatrix.playground.worker", str(memory)]
        self._process = subprocess.Popen(
            [*program, "all" if everything else "first"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def ready(self) -> bool:
        """Wait until it can be asked; False if it ended instead."""
        assert self._process.stdout is not None
        return self._process.stdout.read(len(READY)) == READY

    def exchange(self, question: str, body: bytes) -> Reply:
        """Ask, and wait for the answer; EOFError where it ended instead."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(HEAD.pack(QUESTIONS.index(question), len(body)) + body)
        self._process.stdin.flush()
        head = self._process.stdout.read(HEAD.size)
        if len(head) < HEAD.size:
            raise EOFError
        status, size = HEAD.unpack(head)
        found = self._process.stdout.read(size)
        if len(found) < size:
            raise EOFError
        return Reply(422 if status == REFUSED else 500 if status == BROKEN else 200, found)

    def kill(self) -> None:
        """End it, whatever it is doing: whoever waits for it gets to know."""
        self._process.kill()

    def bury(self) -> None:
        """End it, and let go of all that belonged to it."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


class Workers:
    """Hands each request to a process that is free.

    The first process is ready for a first click soon; the second loads or compiles everything before it says
    so. Until then computations may take longer, since loops may be compiled in them.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._threads = ThreadPoolExecutor(2 * limits.workers + 4, "separatrix-playground")
        self._free: asyncio.Queue[Computer] = asyncio.Queue()
        self._all: set[Computer] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting = 0
        self._cold = False
        self._closed = False

    async def start(self) -> None:
        """Start the processes; they become free as they get ready."""
        for number in range(self.limits.workers):
            everything = 0 < number == self.limits.workers - 1
            self._cold = self._cold or everything
            self.add(everything=everything)

    async def close(self) -> None:
        """End all processes at once."""
        self._closed = True
        for computer in self._all:
            computer.kill()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for computer in self._all:
            computer.bury()
        self._threads.shutdown(wait=False)

    def add(self, *, everything: bool = False) -> None:
        """Start one more process; with ``everything`` it is free when all loops are compiled."""
        self._keep(self._begin(everything))

    async def ask(self, question: str, body: bytes) -> Reply:
        """The answer of a process, or why there is none."""
        limits = self.limits
        if self._waiting >= limits.waiting:
            return refusal(503, "busy", "Too many requests are waiting. Try again in a moment.")
        self._waiting += 1
        try:
            async with asyncio.timeout(limits.cold_seconds):
                computer = await self._free.get()
        except TimeoutError:
            return refusal(503, "busy", "No process became free. Try again in a moment.")
        finally:
            self._waiting -= 1
        seconds = limits.film_seconds if question == "film" else limits.seconds
        seconds = max(seconds, limits.cold_seconds) if self._cold else seconds
        try:
            async with asyncio.timeout(seconds):
                reply = await self._in_thread(computer.exchange, question, body)
        except TimeoutError:
            self._replace(computer)
            return refusal(
                503,
                "too_slow",
                f"This took longer than {seconds:g} seconds and was stopped. Take fewer points or steps.",
                seconds=seconds,
            )
        except (OSError, EOFError):
            self._replace(computer)
            return refusal(503, "died", "The process that computed this ended. Take fewer points or steps.")
        except BaseException:
            self._replace(computer)  # cancelled half-way: its answer would be taken for that of the next
            raise
        self._free.put_nowait(computer)
        return reply

    def _replace(self, computer: Computer) -> None:
        computer.kill()
        self._all.discard(computer)
        self._keep(self._in_thread(computer.bury))
        if not self._closed:
            self.add()

    async def _begin(self, everything: bool) -> None:
        computer = Computer(self.limits.memory, everything=everything)
        self._all.add(computer)
        ready = await self._in_thread(computer.ready)
        if everything:
            self._cold = False
        if ready and not self._closed:
            self._free.put_nowait(computer)

    async def _in_thread(self, work: Callable[..., T], *values: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *values)

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
