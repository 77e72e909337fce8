"""CSV files whose lines end in two ways, as editors of two systems leave them: copied with one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from .sources import Source
from .spool import Spool
from .unpacking import open_binary

PART = 1 << 20


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
