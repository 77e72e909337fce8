"""Large text files in pieces that end with a line, read by several threads and given back in order."""

from __future__ import annotations

import lzma
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..rows import threads
from .sources import Source
from .unpacking import open_binary, refuse_expansion

T = TypeVar("T")
Text = NDArray[np.uint8]

PIECE = 1 << 20
LONGEST_LINE = 1 << 28


def pieces(source: Source, path: str, size: int = PIECE) -> Iterator[Text]:
    """Yield a file as bytes, about ``size`` at a time, each piece ending with a newline.

    Where the file is still being written, wait for what comes.
    """
    rest, expanded, compression = b"", 0, source.compression
    try:
        with open(path, "rb") as raw, open_binary(path, compression) as stream:
            total = raw.seek(0, 2)
            while part := stream.read(size) or _later(source, stream, expanded, size):
                expanded += len(part)
                if compression != "none":
                    refuse_expansion(path, total, expanded)
                cut = part.rfind(b"\n") + 1
                if cut:
                    yield np.frombuffer(rest + part[:cut] if rest else memoryview(part)[:cut], dtype=np.uint8)
                    rest = part[cut:]
                else:
                    rest += part
                    if len(rest) > LONGEST_LINE:
                        raise InputError(
                            f"{path!r} has a line of more than {LONGEST_LINE:,} bytes. This is no table."
                        )
    except (EOFError, OSError, lzma.LZMAError) as error:
        raise InputError(f"{path!r} is damaged or cannot be read ({error}).") from error
    if rest.strip():
        yield np.frombuffer(rest + b"\n", dtype=np.uint8)


def _later(source: Source, stream: Any, read: int, size: int) -> bytes:
    """What comes after the first bytes of a file that is being written; nothing if that was all."""
    waited = source.growing is not None and source.growing.wait_beyond(read)
    found: bytes = stream.read(size) if waited else b""
    return found


def in_order(task: Callable[[Text], T], source: Iterator[Text], *, live: bool = False) -> Iterator[T]:
    """Apply a task to each piece in other threads, a few pieces ahead, and yield the answers in order.

    With ``live``, one by one: nobody knows when the next piece will come.
    """
    if live:
        yield from map(task, source)
        return
    ahead: deque[Future[T]] = deque()
    for piece in source:
        ahead.append(threads.submit(task, piece))
        if len(ahead) > threads.n_threads():
            yield ahead.popleft().result()
    while ahead:
        yield ahead.popleft().result()


def read_hard(piece: Text, hard: NDArray[np.int64], labels: Any, values: Any) -> None:
    """Let Python read the numbers that a compiled reader of text was not certain of, into their places."""
    for begin, end, place in hard[1 : hard[0, 0]].tolist():
        number = float(piece[begin:end].tobytes())
        if place < 0:
            labels[-1 - place] = number
        else:
            values[place] = number


def line_of(piece: Text, at: int) -> tuple[int, str]:
    """The number of the line, within the piece, that a place is in, and some of its text from there."""
    number = int(np.count_nonzero(piece[:at] == 10))
    shown: Any = piece[at : at + 40].tobytes().split(b"\n")[0]
    return number, shown.decode(errors="replace")
