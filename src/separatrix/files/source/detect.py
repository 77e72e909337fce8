"""Find out what a file is: its format by its content, and its compression; streams and archives are copied.

Each format's module describes it by a `Format`; `table.FORMATS` lists them all.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from ...errors import InputError
from ..arrow import explaining
from ..request import NAMED, Request
from .decoding import ARCHIVE, HEAD, MAGIC, PART, Spool, as_utf8, bounded, find_charset, members, parts_of
from .folders import find_files

_JSON = ('{"', "[{", "[ {")
_DOCUMENTS = {
    b"<!doctype html": "a web page",
    b"<html": "a web page",
    b"<?xml": "XML",
    b"%pdf-": "a PDF document",
    b"{\\rtf": "a text document (RTF)",
    b"version https://git-lfs": "a pointer of Git LFS to a file that was not fetched",
}
Stamp = tuple[int, int, int, int] | None  # see `stamp_of`


@dataclass(frozen=True, eq=False)
class Format:
    """A kind of file: how it is recognized, and who reads it.

    Attributes
    ----------
    kind, title : str
        Its name in messages and reports, and its name in the list of formats that can be read.
    open : callable
        Takes a `Source` and a `Request`, and returns `Columns`, or a `Table` of its own.
    magic : tuple of (int, bytes)
        Positions in the file, and bytes; a file that has one of them there is of this format.
    members : callable, optional
        Whether an archive that holds files of these names is a file of this format.
    endings : tuple of str
        The endings of names of text files; a format of text has no ``magic`` and no ``members``.
    looks : callable, optional
        Whether the first lines of a text are of this format.
    several : bool
        Whether files that match a pattern are one table.
    charsets : bool
        Whether its reader decodes text; otherwise, text that is not UTF-8 is copied as UTF-8 first.
    options : tuple of str
        The fields of a request that it can answer, apart from those that every file can answer.
    """

    kind: str
    title: str
    open: Callable[[Source, Request], Any]
    magic: tuple[tuple[int, bytes], ...] = ()
    members: Callable[[list[str]], bool] | None = None
    endings: tuple[str, ...] = ()
    looks: Callable[[list[str]], bool] | None = None
    several: bool = False
    charsets: bool = False
    options: tuple[str, ...] = NAMED


@dataclass(frozen=True, eq=False)
class Source:
    """Files of one format.

    Attributes
    ----------
    name : str
        What the user called it.
    format : Format
    paths, names : tuple of str
        The files that are read, and what the user calls each; they differ for temporary copies.
    spool : object
        Keeps temporary files for as long as they are needed.
    notes : tuple of str
        What a person should know about the reading, one sentence each.
    stamps : tuple of Stamp
        The state of the files before they were read; empty for streams.
    """

    name: str
    format: Format
    paths: tuple[str, ...]
    names: tuple[str, ...]
    spool: Any = None
    notes: tuple[str, ...] = ()
    stamps: tuple[Stamp, ...] = ()


def stamp_of(path: str) -> Stamp:
    """Return what changes if a file is written to: which file it is, its size, and when it was written."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


class ChangedFileError(InputError):
    """Somebody wrote to a file while it was read."""


class OtherMeaningError(InputError):
    """A row shows that rows before it, which were yielded already, mean something else."""


def need_unchanged(paths: Sequence[str], stamps: Sequence[Stamp]) -> None:
    """Raise an error if a file has changed since it was stamped."""
    for path, stamp in zip(paths, stamps, strict=True):
        if stamp_of(path) != stamp:
            raise ChangedFileError(
                f"{path!r} was changed while it was read, so the rows that were read may be of two versions. "
                "Wait until nobody writes to it, or make a copy and use that."
            )


@dataclass(frozen=True)
class _Seen:
    """What the first bytes of a file tell; UTF-8 text has no charset."""

    format: Format
    compression: str = ""
    charset: str | None = None

    @property
    def words(self) -> str:
        """The format, compression and charset in words."""
        return " in ".join(filter(None, (self.format.kind, self.compression, self.charset)))


def find_source(
    name: str | os.PathLike[str],
    formats: Sequence[Format],
    *,
    text_encoding: str | None = None,
) -> Source:
    """Find out what a path, a pattern, a folder or ``-`` (standard input) is.

    Text that looks like no other format is of the first one. Streams are copied to a temporary file.
    Compressed files are decompressed to one, and text that is not UTF-8 is copied as UTF-8.
    """
    said = os.fspath(name)
    look = partial(_look, formats, text_encoding)
    if said == "-":
        return _spooled("standard input", sys.stdin.buffer, look)
    paths = (said,) if os.path.isfile(said) else find_files(said)
    if not os.path.isfile(paths[0]):  # a pipe can be read only once
        with open(paths[0], "rb") as stream:
            return _spooled(said, stream, look)
    before = tuple(map(stamp_of, paths))
    seen = {path: look(path, path) for path in paths}
    first = seen[paths[0]]
    for path, other in seen.items():
        if other != first:
            raise InputError(
                f"{said!r} matches files of different kinds: {paths[0]!r} is {first.words}, {path!r} is "
                f"{other.words}. Name files of one kind."
            )
    if len(paths) > 1 and not first.format.several:
        raise InputError(f"{said!r} matches {len(paths)} files; {first.words} files are read one at a time.")
    found = _readable(Source(said, first.format, paths, paths, stamps=before), first)
    need_unchanged(paths, before)
    return found


def _spooled(name: str, stream: Any, look: Callable[[str, str], _Seen]) -> Source:
    """Copy a stream to a temporary file, and find out what it is."""
    spool = Spool()
    path = spool.new()
    with open(path, "wb") as copy:
        copy.writelines(bounded(iter(partial(stream.read, PART), b""), name))
    if not os.path.getsize(path):
        raise InputError(f"{name!r} is empty.")
    seen = look(path, name)
    return _readable(Source(name, seen.format, (path,), (name,), spool), seen)


def _readable(source: Source, seen: _Seen) -> Source:
    """Return the same source, or a copy that its reader can read: decompressed, and text in UTF-8."""
    if not seen.compression and seen.charset is None:
        return source
    spool, copies = Spool(), []
    for path, name in zip(source.paths, source.names, strict=True):
        parts = parts_of(path, seen.compression, name)
        copies.append(spool.new())
        with open(copies[-1], "wb") as copy:
            copy.writelines(parts if seen.charset is None else as_utf8(parts, seen.charset, name))
    notes = () if seen.charset is None else (f"{source.name!r} is read as {seen.charset.upper()} text.",)
    return replace(source, paths=tuple(copies), spool=(spool, source.spool), notes=notes)


def _look(formats: Sequence[Format], text_encoding: str | None, path: str, name: str) -> _Seen:
    """Find out what a file is, by its content, and by its ``name`` if it is text."""
    with explaining(name), open(path, "rb") as file:
        head = file.read(4096)
    inside = [each.filename for each in members(path, name)] if head.startswith(ARCHIVE) else []
    found, compression = next((each for each in formats if each.members and each.members(inside)), None), ""
    if found is None:
        compression = next((kind for magic, kind in MAGIC.items() if head.startswith(magic)), "")
        head = next(parts_of(path, compression, name, HEAD), b"") if compression else head
        if compression and head.startswith(ARCHIVE):
            raise InputError(f"{name!r} is an archive that was compressed again. Decompress it first.")
        marked = (each for each in formats for at, mark in each.magic if head.startswith(mark, at))
        found = next(marked, None)
    if found is not None:
        if text_encoding is not None and not found.charsets:
            raise InputError(
                f"'text_encoding' is for text; {name!r} is {found.kind}.", parameter="text_encoding"
            )
        return _Seen(found, compression)
    begin = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:64].lower()
    document = next((what for mark, what in _DOCUMENTS.items() if begin.startswith(mark)), None)
    if document is not None:
        raise InputError(f"{name!r} is {document}, not a table. Look into it, and fetch the file again.")
    marks = [*MAGIC, *(mark for each in formats for place, mark in each.magic if not place)]
    if len(head) > 1 and any(mark.startswith(head) for mark in marks):
        raise InputError(f"{name!r} is cut short: it ends after {len(head)} bytes. Fetch it again.")
    plain = text_encoding is None and head.isascii() and b"\0" not in head
    charset = None if plain else find_charset(name, head, text_encoding)
    if charset is None and b"\0" in head:
        known = list(dict.fromkeys(each.title for each in formats))
        raise InputError(
            f"{name!r} cannot be read: it has a zero byte at position {head.index(0):,}. It is damaged, "
            f"or not UTF-8 text. Known are {', '.join(known[:-1])} and {known[-1]}.",
            remedy="If it is UTF-16, name its encoding with 'text_encoding'.",
            parameter="text_encoding",
        )
    endings = Path(inside[0] if inside else name).suffixes[-2:]
    return _Seen(_of_text(formats, endings, head, charset or "utf-8-sig"), compression, charset)


def _of_text(formats: Sequence[Format], endings: list[str], head: bytes, charset: str) -> Format:
    """Return the format of a text, by its name or its first lines."""
    words = head.decode(charset, errors="replace")
    lines = [line for line in re.split(r"\r\n?|\n", words)[:20] if line.strip()]
    if len(head) >= 4096 and len(lines) > 1:
        lines.pop()
    texts = [each for each in formats if not each.magic and each.members is None]
    named = (each for ending in reversed(endings) for each in texts if ending.lower() in each.endings)
    alike = (each for each in texts if lines and each.looks is not None and each.looks(lines))
    by_name = None if lines and lines[0].startswith(_JSON) else next(named, None)
    return by_name or next(alike, formats[0])


def free_memory() -> int:
    """Return the bytes that the machine has free; if it does not say, two thirds of its memory."""
    with contextlib.suppress(OSError), open("/proc/meminfo") as facts:
        for line in facts:
            if line.startswith("MemAvailable"):
                return int(line.split()[1]) * 1024
    with contextlib.suppress(AttributeError, ValueError, OSError):
        return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 2 // 3)
    return 1 << 32
