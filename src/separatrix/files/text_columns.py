"""Large text files in pieces that end with a line, read by several threads and given back in order."""

from __future__ import annotations

import itertools
import lzma
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..rows import threads
from .number_formats import is_rounded
from .source.compression import open_binary, refuse_expansion
from .source.detect import Source
from .source.streams import Growing

T = TypeVar("T")
Text = NDArray[np.uint8]

LONGEST_LINE = 1 << 28
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
NEWLINE = 10


def pieces(source: Source, path: str, *, skip: int = 0, size: int = 1 << 20) -> Iterator[Text]:
    """Yield a file as bytes, about ``size`` at a time, each piece ending with a newline.

    A byte-order mark and the first ``skip`` lines are left out. In a file whose lines end with a carriage
    return alone, each becomes a newline. Where the file is still being written, wait for what comes.
    """
    rest: list[bytes] = []  # the beginning of a line: joined once, when its end has come
    expanded, waiting, compression, growing = 0, 0, source.compression, source.growing
    returns = False
    try:
        with open(path, "rb") as raw, open_binary(path, compression) as stream:
            total = raw.seek(0, 2)
            while part := stream.read(size) or (growing and _later(growing, stream, expanded, size)):
                if not expanded:  # the lines may end with a carriage return alone, as the first ones tell
                    returns = b"\n" not in part and b"\r" in part[:-1]
                expanded += len(part)
                if compression != "none":
                    refuse_expansion(path, total, expanded)
                if expanded == len(part):
                    part = part.removeprefix(BYTE_ORDER_MARK)
                if returns:
                    part = part.replace(b"\r", b"\n")
                cut = part.rfind(b"\n") + 1
                if cut:
                    whole = b"".join([*rest, part[:cut]]) if rest else memoryview(part)[:cut]
                    piece = np.frombuffer(whole, dtype=np.uint8)
                    if skip:
                        ends = np.flatnonzero(piece == NEWLINE)[:skip]
                        piece, skip = piece[int(ends[-1]) + 1 :], skip - ends.size
                    if piece.size:
                        yield piece
                    rest, waiting = [], 0
                if cut < len(part):
                    rest.append(part[cut:])
                    waiting += len(part) - cut
                if waiting > LONGEST_LINE:
                    raise InputError(
                        f"{path!r} has a line of more than {LONGEST_LINE:,} bytes. This is no table."
                    )
    except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        raise InputError(f"{path!r} is damaged or cannot be read ({error}).") from error
    last = b"".join(rest)
    if last.strip(b" \t\r\n") and not skip:
        yield np.frombuffer(last + b"\n", dtype=np.uint8)


def _later(growing: Growing, stream: Any, read: int, size: int) -> bytes:
    """What comes after the first bytes of a file that is being written; nothing if that was all."""
    found: bytes = stream.read(size) if growing.wait_beyond(read) else b""
    return found


def read_pieces(task: Callable[[Text], T], source: Source, path: str, *, skip: int = 0) -> Iterator[T]:
    """Apply a task to each piece of a file, after the first ``skip`` lines, and yield the answers in order.

    Other threads work a few pieces ahead, unless there is one piece only, or the file is still being written:
    nobody knows when its next piece will come.
    """
    found = pieces(source, path, skip=skip)
    if source.growing is not None:
        yield from map(task, found)
        return
    first = list(itertools.islice(found, 2))
    if len(first) < 2:
        yield from map(task, first)
        return
    ahead: deque[Future[T]] = deque()
    for piece in itertools.chain(first, found):
        ahead.append(threads.submit(task, piece))
        if len(ahead) > threads.n_threads():
            yield ahead.popleft().result()
    while ahead:
        yield ahead.popleft().result()


def read_hard(piece: Text, hard: NDArray[np.int64], labels: Any, values: Any) -> int | None:
    """Let Python read the numbers that a compiled reader of text was not certain of, into their places.

    Returns where in the piece a whole number stands that no float is equal to, or None.
    """
    rounded = None
    for begin, end, place in hard[1 : hard[0, 0]].tolist():
        cell = piece[begin:end].tobytes().decode()
        number = float(cell)
        if rounded is None and is_rounded(cell, number):
            rounded = begin
        if place < 0:
            labels[-1 - place] = number
        else:
            values[place] = number
    return rounded


def line_of(piece: Text, at: int) -> tuple[int, str]:
    """The number of the line, within the piece, that a place is in, and some of its text from there."""
    number = int(np.count_nonzero(piece[:at] == 10))
    shown: Any = piece[at : at + 40].tobytes().split(b"\n")[0]
    return number, shown.decode(errors="replace")
