"""The process that computes: it reads requests from standard input and writes answers to standard output.

A separate process can be stopped when it takes too long, whatever it is doing, and nobody else has to wait.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any, BinaryIO

from ..api.answers import write
from ..api.limits import LIMITS
from ..api.requests import REQUESTS, RequestError, read
from .workers import HEAD, QUESTIONS, READY, error


def answer(question: str, body: bytes) -> tuple[int, bytes]:
    """Answer one request; a problem with it is an answer too."""
    from ...errors import MissingPackageError, SeparatrixError

    try:
        found = _ask(question, body)
        return 200, found if isinstance(found, bytes) else write(found)
    except RequestError as problem:
        return 422, error(problem.code, problem.message, problem.values)
    except MissingPackageError as problem:
        return 422, error("missing_package", str(problem), {"name": problem.name})
    except SeparatrixError as problem:
        return 422, error("library", str(problem))
    except MemoryError:
        return 422, error("memory", "This needs more memory than is allowed. Use fewer points or steps.")
    except RecursionError:
        return 422, error("not_json", "The request is nested too deeply.")
    except Exception as problem:
        import traceback

        traceback.print_exc(file=sys.stderr)
        return 500, error("bug", f"{type(problem).__name__}: {problem}"[: LIMITS.message])


def _ask(question: str, body: bytes) -> Any:
    from ..compute import engine, verdicts

    handlers: dict[str, Any] = {
        "run": engine.run,
        "verdict": verdicts.ask,
        "verify": verdicts.check,
    }
    return handlers[question](read(REQUESTS[question], body))


def warm(everything: bool) -> None:
    """Load or compile the loops: those of a first click, or all that any method needs."""
    rows = [[0.0, 1.0], [1.0, 3.0], [3.0, 0.0], [4.0, 1.0], [2.0, -3.0], [3.0, -4.0]]
    two, three = [0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 2, 2]
    ways: list[dict[str, Any]] = [{}]
    if everything:
        ways += [{"order": order} for order in ("shuffled", "worst", "working_set")]
        ways += [{"average": "averaged"}, {"average": "voted"}, {"renormalise": True}, {"lift": False}]
        ways += [{"method": method} for method in ("max_margin", "soft_margin", "linear_program")]
        ways += [{"method": "kernel", **way} for way in ({}, {"average": "voted"}, {"budget": 3})]
    for labels in (two, three) if everything else (two,):
        data = {"columns": ["x", "y"], "classes": ["a", "b", "c"], "rows": rows, "labels": labels}
        for way in ways:
            body = write({"data": data, "settings": {"updates": 20, **way}})
            for question in ("run", "verdict"):
                answer(question, body)


def serve(source: BinaryIO, target: BinaryIO) -> None:
    """Answer requests until there are no more."""
    while len(head := source.read(HEAD.size)) == HEAD.size:
        number, size = HEAD.unpack(head)
        body = source.read(size)
        if len(body) < size:
            return
        status, found = answer(QUESTIONS[number], body)
        target.write(HEAD.pack(status, len(found)))
        target.write(found)
        target.flush()


def main(memory: int, everything: bool) -> None:
    """Answer the process that started this one, and end when it does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends its workers
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is not an answer
    if memory and sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    warm(everything)
    try:
        target.write(READY)
        target.flush()
        serve(sys.stdin.buffer, target)
    except BrokenPipeError:
        os._exit(0)  # the server has ended


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2] == "all")
