"""CSV files whose lines DuckDB mistakes: copied with one kind of line end, or without their names."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..source.compression import HEAD, open_binary, read_head
from ..source.detect import Source
from ..source.unnamed_files import Spool
from ..text_columns import LONGEST_LINE

PART = 1 << 20
_END = re.compile(rb"\r\n|\r|\n")


def with_one_end(source: Source) -> Source:
    """The same, where a newline ends every line; as it is, where all lines end alike or it is not clear how.

    Carriage returns inside of quoted cells stay.
    """
    if source.growing is not None or not any(_is_mixed(path, source.compression) for path in source.paths):
        return source
    spool, copies = Spool(), []
    for path in source.paths:
        copies.append(spool.new(".csv"))
        with open_binary(path, source.compression) as stream, open(copies[-1], "wb") as out:
            for part, quoted in _parts(stream):
                out.write(part if quoted else part.replace(b"\r\n", b"\n"))
    return replace(source, paths=tuple(copies), compression="none", spool=(spool, source.spool))


def without_names(source: Source, lines: int) -> Source:
    """The same without its first lines, which hold names that go on in the next line.

    From these lines DuckDB concludes how the others end, and loses rows where they end otherwise.
    """
    if source.growing is not None:
        source.growing.wait()
    spool, copies = Spool(), []
    for path in source.paths:
        copies.append(spool.new(".csv"))
        size = HEAD
        while len(ends := list(_END.finditer(read_head(path, source.compression, size)))) <= lines:
            size *= 16
            if size > LONGEST_LINE:
                break
        with open_binary(path, source.compression) as stream, open(copies[-1], "wb") as out:
            stream.read(ends[lines - 1].end() if len(ends) >= lines else -1)
            shutil.copyfileobj(stream, out, PART)
    return replace(source, paths=tuple(copies), compression="none", growing=None, spool=(spool, source.spool))


def _is_mixed(path: str, compression: str) -> bool:
    """Whether some lines end with a newline alone, others with a return before it, and none with a return."""
    newlines = both = returns = 0
    with open_binary(path, compression) as stream:
        for part, quoted in _parts(stream):
            if not quoted:
                newlines += part.count(b"\n")
                both += part.count(b"\r\n")
                returns += part.count(b"\r")
    return 0 < both < newlines and returns == both


def _parts(stream: Any) -> Iterator[tuple[bytes, bool]]:
    """The bytes of a file, quotation marks among them, in parts that stand inside of quotes, or outside."""
    quoted, rest = False, b""
    while part := stream.read(PART):
        part = rest + part
        rest = b"\r" if part.endswith(b"\r") else b""  # what follows may be its newline
        for k, each in enumerate(part.removesuffix(b"\r").split(b'"')):
            if k:
                yield b'"', True
                quoted = not quoted
            yield each, quoted
    yield rest, quoted
