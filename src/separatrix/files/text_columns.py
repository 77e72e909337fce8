"""Read large text files in pieces of whole lines, with several threads, in order."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import loops
from ..errors import InputError
from ..rows import threads
from .number_formats import is_rounded
from .source.detect import Source
from .source.streams import Growing

T = TypeVar("T")
Text = NDArray[np.uint8]

LONGEST_LINE = 1 << 28
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
(NEWLINE,) = b"\n"


def pieces(source: Source, path: str, *, skip: int = 0, size: int = 1 << 20) -> Iterator[Text]:
    """Yield a file as bytes, about ``size`` at a time, each piece ending with a newline.

    A byte-order mark and the first ``skip`` lines are left out. In a file whose lines end with a carriage
    return alone, each becomes a newline. If the file is still being written, wait for more bytes.
    """
    rest: list[bytes] = []  # the parts of a line that has not ended
    read, waiting, growing = 0, 0, source.growing
    returns = False
    try:
        with open(path, "rb") as stream:
            while part := stream.read(size) or (growing and _later(growing, stream, read, size)):
                read += len(part)
                if read == len(part):  # the first lines show whether lines end with a carriage return alone
                    returns = b"\n" not in part and b"\r" in part[:-1]
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
                        f"{source.name!r} has a line of more than {LONGEST_LINE:,} bytes. It is not a table."
                    )
    except OSError as error:
        raise InputError(f"{source.name!r} cannot be read ({error}).") from error
    last = b"".join(rest)
    if last.strip(b" \t\r\n") and not skip:
        yield np.frombuffer(last + b"\n", dtype=np.uint8)


def _later(growing: Growing, stream: Any, read: int, size: int) -> bytes:
    """Return what follows the first bytes of a file that is being written; nothing at its end."""
    found: bytes = stream.read(size) if growing.wait_beyond(read) else b""
    return found


def read_pieces(task: Callable[[Text], T], source: Source, path: str, *, skip: int = 0) -> Iterator[T]:
    """Apply a task to each piece of a file, after ``skip`` lines, and yield the results in order."""
    return in_threads(task, pieces(source, path, skip=skip), live=source.growing is not None)


def in_threads(task: Callable[[Text], T], found: Iterator[Text], *, live: bool) -> Iterator[T]:
    """Apply a task to each piece, and yield the results in order.

    Other threads work a few pieces ahead, unless there is only one piece, or the file is ``live`` and nobody
    knows when its next piece will come.
    """
    first = [] if live else list(itertools.islice(found, 2))
    if len(first) < 2:
        yield from map(task, itertools.chain(first, found))
        return
    ahead: deque[Future[T]] = deque()
    for piece in itertools.chain(first, found):
        ahead.append(threads.submit(task, piece))
        if len(ahead) > threads.n_threads():
            yield ahead.popleft().result()
    while ahead:
        yield ahead.popleft().result()


def read_numbers(
    piece: Text, read: Callable[[NDArray[np.int64]], tuple[int, int, int]], labels: Any, values: Any
) -> tuple[int, int, int]:
    """Call a compiled reader, and let Python read the numbers that it was not certain of.

    ``read`` takes the array for these numbers; see `loops.text.libsvm_lines`. Returns how reading ended,
    where, and how many rows were read. It ends at a whole number that no float is equal to.
    """
    room = 1024
    while True:
        hard = np.empty((room, 3), dtype=np.int64)
        status, at, rows = read(hard)
        if status != loops.text.FULL:
            break
        room *= 16
    for begin, end, place in hard[1 : hard[0, 0]].tolist():
        cell = piece[begin:end].tobytes().decode()
        number = float(cell)
        if is_rounded(cell, number):
            return loops.text.ROUNDED, begin, int(np.count_nonzero(piece[:begin] == NEWLINE))
        if place < 0:
            labels[-1 - place] = number
        else:
            values[place] = number
    return status, at, rows


def find_lines(
    source: Source, rows: Sequence[int], *, comment: bytes, above: int = 0
) -> list[tuple[int, str]]:
    """Find the lines of rows, both counted from 1, if blank lines and comments are the only other lines.

    The first row is after the first ``above`` lines. A row that is not found keeps its number.
    """
    wanted, last, found = {*rows}, max(rows, default=0), dict[int, int]()
    line = row = 0
    for piece in pieces(source, source.paths[0]):
        for text in piece.tobytes().split(b"\n")[:-1]:
            line += 1
            if line > above and text.strip() and not text.lstrip().startswith(comment):
                row += 1
                if row in wanted:
                    found[row] = line
        if row >= last:
            break
    return [(found.get(row, row), "") for row in rows]


def line_of(piece: Text, at: int) -> tuple[int, str]:
    """Return the number of newlines before a position of a piece, and some of the line's text from there."""
    number = int(np.count_nonzero(piece[:at] == NEWLINE))
    shown: Any = piece[at : at + 40].tobytes().split(b"\n")[0]
    return number, shown.decode(errors="replace")
