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
from .arrow import explaining
from .number_formats import is_rounded
from .reader import Place
from .source.detect import Source

T = TypeVar("T")
Text = NDArray[np.uint8]

LONGEST_LINE = 1 << 28
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
(NEWLINE,) = b"\n"


def pieces(source: Source, path: str, *, skip: int = 0, size: int = 1 << 20) -> Iterator[Text]:
    """Yield a file as bytes, about ``size`` at a time, each piece ending with a newline.

    A byte-order mark and the first ``skip`` lines are left out. In a file whose lines end with a carriage
    return alone, each becomes a newline.
    """
    begins, returns = True, False
    with explaining(source.name), open(path, "rb") as stream:
        while part := stream.read(size):
            part += stream.readline(LONGEST_LINE)
            if len(part) >= LONGEST_LINE:
                raise InputError(
                    f"{source.name!r} has a line of more than {LONGEST_LINE:,} bytes. It is not a table."
                )
            if begins:  # the first lines show whether lines end with a carriage return alone
                begins, returns = False, b"\n" not in part and b"\r" in part[:-1]
                part = part.removeprefix(BYTE_ORDER_MARK)
            part = part.replace(b"\r", b"\n") if returns else part
            cut = part.rfind(b"\n") + 1
            if part[cut:].strip(b" \t\r"):  # the last line of the file
                part, cut = part + b"\n", len(part) + 1
            piece = np.frombuffer(memoryview(part)[:cut], dtype=np.uint8)
            if skip and piece.size:
                ends = np.flatnonzero(piece == NEWLINE)[:skip]
                piece, skip = piece[int(ends[-1]) + 1 :], skip - ends.size
            if piece.size:
                yield piece


def in_threads(task: Callable[[Text], T], found: Iterator[Text]) -> Iterator[T]:
    """Apply a task to each piece, and yield the results in order.

    Other threads work a few pieces ahead, unless there is only one piece.
    """
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


def read_numbers(
    piece: Text, read: Callable[[NDArray[np.int64]], Any], labels: Any, values: Any
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
    source: Source,
    rows: Sequence[int],
    *,
    begins: Callable[[bytes], bool],
    above: int = 0,
    quotes: bool = False,
) -> list[Place]:
    """Find the lines of rows, both counted from 1, and the file of each if there are several files.

    A row is a line after the first ``above`` ones with which a row ``begins``; with ``quotes``, a row
    continues until each quotation mark is closed. A row that is not found keeps its number.
    """
    wanted, found, row = {*rows}, dict[int, Place](), 0
    for path, called in zip(source.paths, source.names, strict=True):
        name, inside = called if len(source.paths) > 1 else "", False
        every = (line for piece in pieces(source, path, skip=above) for line in lines_of(piece))
        for number, line in enumerate(every, start=above + 1):
            if not inside and begins(line):
                row += 1
                if row in wanted:
                    found[row] = Place(row, number if name or number != row else None, name)
                    if len(found) == len(wanted):
                        return [found[each] for each in rows]
            inside ^= quotes and line.count(b'"') % 2 == 1
    return [found.get(each, Place(each)) for each in rows]


def begins_row(comment: bytes, line: bytes) -> bool:
    """Return whether a line is neither blank nor a comment."""
    return line.strip()[:1] not in (b"", comment)


def lines_of(piece: Text) -> list[bytes]:
    """Split a piece into its lines."""
    return piece.tobytes().split(b"\n")[:-1]


def line_of(piece: Text, at: int) -> tuple[int, str]:
    """Return the number of newlines before a position of a piece, and some of the line's text from there."""
    number = int(np.count_nonzero(piece[:at] == NEWLINE))
    shown: Any = piece[at : at + 40].tobytes().split(b"\n")[0]
    return number, shown.decode(errors="replace")
