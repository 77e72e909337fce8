"""The process that computes: requests as JSON on standard input, answers on standard output, one at a time.

A process of its own can be ended when it takes too long, whatever it is doing, and nobody else waits for it.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from typing import Any, BinaryIO

from ..api.wire import BROKEN, DONE, HEAD, QUESTIONS, READY, REFUSED

HALF = re.compile(r"\\u[dD][89a-fA-F]")  # an escape that stands for half of a character


def answer(question: str, body: bytes) -> tuple[int, bytes]:
    """Answer one request; whatever is wrong with it is an answer too."""
    from ...errors import MissingPackageError, SeparatrixError
    from ..api.codec import RequestError, encode

    try:
        found = _ask(question, body)
        return DONE, found if isinstance(found, bytes) else _json(encode(found))
    except RequestError as problem:
        return REFUSED, _error(problem.code, problem.message, problem.values)
    except MissingPackageError as problem:
        return REFUSED, _error("missing_package", str(problem), {"name": problem.name})
    except SeparatrixError as problem:
        return REFUSED, _error("library", str(problem), {})
    except MemoryError:
        return REFUSED, _error(
            "memory", "This needs more memory than is allowed. Take fewer points or steps.", {}
        )
    except RecursionError:
        return REFUSED, _error("not_json", "The request is nested too deeply.", {})
    except Exception as problem:
        import traceback

        traceback.print_exc(file=sys.stderr)
        return BROKEN, _error("bug", f"{type(problem).__name__}: {problem}"[:500], {})


def _ask(question: str, body: bytes) -> Any:
    from ..api.codec import decode
    from ..api.requests import ASKED
    from ..compute import engine, films, lifts, pasted, verdicts
    from ..content import presets

    ways: dict[str, Any] = {
        "run": engine.run,
        "verdict": verdicts.ask,
        "verify": verdicts.check,
        "table": pasted.read_table,
        "preset": presets.preset,
        "film": films.film,
        "lift": lifts.lift,
    }
    return ways[question](decode(ASKED[question], _read(body)))


def _read(body: bytes) -> Any:
    """The JSON in UTF-8, of numbers that have a value and text that can be written again."""
    from ..api.codec import RequestError

    try:
        text = body.decode()
        value = json.loads(text, parse_constant=_refuse)
    except ValueError:
        raise RequestError("not_json", "The request is not JSON.") from None
    if HALF.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise RequestError(
                "not_text", "A text has half of a surrogate pair in it, which is no character."
            ) from None
    return value


def _refuse(name: str) -> None:
    raise ValueError(name)


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=False).encode()


def _error(code: str, message: str, values: dict[str, Any]) -> bytes:
    return _json({"code": code, "message": message, "values": values})


def warm(everything: bool) -> None:
    """Load or compile the loops: those of a first click, or all that any method needs."""
    rows = [[0.0, 1.0], [1.0, 3.0], [3.0, 0.0], [4.0, 1.0], [2.0, -3.0], [3.0, -4.0]]
    two, three = [0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 2, 2]
    plain: list[dict[str, Any]] = [{}]
    if everything:
        plain += [{"order": order} for order in ("shuffled", "worst", "working_set")]
        plain += [{"average": average} for average in ("averaged", "voted")]
        plain += [{"renormalise": True}, {"method": "max_margin"}, {"method": "soft_margin"}]
        plain += [
            {"method": "linear_program"},
            {"method": "kernel"},
            {"method": "kernel", "average": "voted"},
        ]
        plain += [{"method": "kernel", "order": "worst"}, {"method": "kernel", "budget": 3}]
        plain += [{"lift": False}]
    for labels in (two, three) if everything else (two,):
        data = {"columns": ["x", "y"], "classes": ["a", "b", "c"], "rows": rows, "labels": labels}
        for settings in plain:
            body = _json({"data": data, "settings": {"updates": 20, **settings}})
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
    """Be the worker of the process that started this one; ends when that does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends its workers
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no answer
    if memory and sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    warm(everything)
    try:
        target.write(READY)
        target.flush()
        serve(sys.stdin.buffer, target)
    except BrokenPipeError:
        os._exit(0)  # the server has gone: nobody is left to answer, and nothing to tidy up


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2] == "all")
