"""What a file is: its format by content, its compression; streams and archives are spooled.

Each format's module describes it by a `Format`; `table.FORMATS` lists them all.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import InputError
from ..encoding import Encoding, shown
from .charsets import copy_as_utf8, find_charset
from .compression import ARCHIVE, MAGIC, Bounded, members, open_binary, read_head, refuse_bomb
from .folders import find_files
from .streams import Growing
from .unnamed_files import Spool

LINES, PATIENCE = 1000, 1.0  # of a stream to wait for before it is opened, and for how many seconds
NUMBER = re.compile(
    r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity|nan)", re.IGNORECASE | re.ASCII
)

# Cells of text that say that a value is missing.
MISSING = ("", "NA", "NaN", "nan", "N/A", "NULL", "null", "?")
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


@dataclass(frozen=True)
class Request:
    """Which rows and columns of a source are wanted; see `open_table`.

    ``na`` has what was asked for now and when a model was fitted.
    """

    target: str | None = None
    features: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    where: str | None = None
    sql: str | None = None
    table: str | None = None
    missing: str = "error"
    intercept: bool = True
    encoding: Encoding | None = None
    count_columns: bool = True
    decimal: str | None = None
    thousands: str | None = None
    na: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    row_names: str | None = None
    sheet: str | None = None
    text_encoding: str | None = None


@dataclass(frozen=True, eq=False)
class Format:
    """A kind of file: how it is recognised, and who reads it.

    Attributes
    ----------
    kind : str
        Its name in messages and reports.
    title : str
        Its name in the list of formats that can be read.
    open : callable
        Takes a `Source` and a `Request`, and gives `Columns`, or a `table.Reader` of its own.
    magic : tuple of (int, bytes)
        Where in a file which bytes may stand; one such place tells the format.
    members : callable, optional
        Whether an archive that holds files of these names is a file of this format.
    endings : tuple of str
        Of names: they tell the format of text, which a format without ``magic`` and ``members`` is.
    looks : callable, optional
        Whether the first lines of a text are of this format.
    several : bool
        Whether a pattern of files is one table.
    live : bool
        Whether a stream can be read before its end has come.
    unpacks : tuple of str
        The compressions that its reader undoes; of others, a decompressed copy is read.
    charsets : bool
        Whether its reader is told in which characters text is written; text is otherwise copied as UTF-8.
    """

    kind: str
    title: str
    open: Callable[[Source, Request], Any]
    magic: tuple[tuple[int, bytes], ...] = ()
    members: Callable[[list[str]], bool] | None = None
    endings: tuple[str, ...] = ()
    looks: Callable[[list[str]], bool] | None = None
    several: bool = False
    live: bool = False
    unpacks: tuple[str, ...] = ()
    charsets: bool = False


@dataclass(frozen=True, eq=False)
class Source:
    """Files of one format.

    Attributes
    ----------
    name : str
        As the user said it.
    format : Format
    paths : tuple of str
    compression : {"none", "gzip", "bz2", "zstd", "xz"}
    spool : object
        Keeps a temporary directory for as long as it is needed.
    growing : Growing or None
        Where the one file is still being written.
    notes : tuple of str
        What the user should know about how it is read.
    stamps : tuple of Stamp
        What the files were like before anything was read of them; of copies there are none.
    """

    name: str
    format: Format
    paths: tuple[str, ...]
    compression: str = "none"
    spool: Any = None
    growing: Growing | None = None
    notes: tuple[str, ...] = ()
    stamps: tuple[Stamp, ...] = ()

    def need_numbered(self, request: Request) -> None:
        """Raise where a request is about named columns, which this source has none of."""
        if request.encoding is not None and request.encoding.width is None:
            raise InputError(f"{self.name!r} has numbered columns; the model was fitted on named ones.")
        asked = {
            "where": request.where,
            "sql": request.sql,
            "table": request.table,
            "features": request.features,
            "exclude": request.exclude or None,
            "decimal": request.decimal,
            "thousands": request.thousands,
            "na": request.na or None,
            "text": request.text or None,
            "row_names": request.row_names,
        }
        for option, value in asked.items():
            if value is not None:
                raise InputError(
                    f"{option!r} is for tables with named columns; {self.name!r} has none.", parameter=option
                )


def stamp_of(path: str) -> Stamp:
    """What a change of a file changes: which file it is, its size, when it was last written to."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


class ChangedFileError(InputError):
    """Somebody wrote to a file while it was read."""


class OtherMeaningError(InputError):
    """A row tells that rows before it, which were given already, mean something else."""


def need_unchanged(paths: Sequence[str], stamps: Sequence[Stamp]) -> None:
    """Raise where a file was changed since it was stamped."""
    for path, stamp in zip(paths, stamps, strict=True):
        if stamp_of(path) != stamp:
            raise ChangedFileError(
                f"{path!r} was changed while it was read, so what was read is of no one state of it. "
                "Wait until nobody writes to it, or make a copy and use that."
            )


@dataclass(frozen=True)
class _Seen:
    """What a file is, by its first bytes; an archive has no format, and text in UTF-8 no charset."""

    format: Format | None
    compression: str = "none"
    charset: str | None = None


def find_source(
    name: str | os.PathLike[str],
    formats: Sequence[Format],
    *,
    live: bool = False,
    text_encoding: str | None = None,
) -> Source:
    """Look at a path, a pattern, a folder or ``-`` (standard input) and say what is there.

    With ``live``, some formats can be read from standard input before all of it has come. Text that looks
    like no other format is of the first one. Text that is not UTF-8 is copied as such.
    """
    said = os.fspath(name)
    look = _Look(formats, text_encoding)
    if said == "-":
        return _live(look) if live else _spooled(said, sys.stdin.buffer, None, look)
    paths = (said,) if os.path.isfile(said) else find_files(said)
    if not os.path.isfile(paths[0]):  # a pipe, which can be read once only
        with open(paths[0], "rb") as stream:
            return _spooled(said, stream, None, look)
    before = tuple(map(stamp_of, paths))
    seen = {path: look.at(path) for path in paths}
    first = seen[paths[0]]
    for path, other in seen.items():
        if other != first:
            raise InputError(
                f"{said!r} matches files of different kinds: {paths[0]!r} is {_kind(first)}, {path!r} is "
                f"{_kind(other)}. Name files of one kind."
            )
    if first.format is None:
        found = _unzipped(said, paths, look)
        need_unchanged(paths, before)
        return found
    if len(paths) > 1 and not first.format.several:
        raise InputError(
            f"{said!r} matches {len(paths)} files; {first.format.kind} files are read one at a time."
        )
    source = Source(said, first.format, paths, first.compression, stamps=before)
    if first.compression == "none" and first.charset is None:
        return source
    for path in paths:
        if first.compression != "none":
            refuse_bomb(path, first.compression)
    found = _readable(source, first)
    need_unchanged(paths, before)
    return found


def _readable(source: Source, seen: _Seen) -> Source:
    """The same, or a copy that its reader can read: decompressed, and text in UTF-8."""
    unpacked = source.compression in ("none", *source.format.unpacks)
    if unpacked and seen.charset is None:
        return source
    if source.growing is not None:
        source.growing.wait()
    spool, copies = Spool(), []
    for path in source.paths:
        copies.append(spool.new(Path(path).suffix))
        with open_binary(path, source.compression) as stream, open(copies[-1], "wb") as out:
            limited = Bounded(stream, os.path.getsize(path) if source.compression != "none" else None, path)
            if seen.charset is None:
                shutil.copyfileobj(limited, out, 1 << 20)
            else:
                copy_as_utf8(limited, out, seen.charset, source.name)
    notes = () if seen.charset is None else (f"{source.name!r} is read as {seen.charset.upper()} text.",)
    return Source(source.name, source.format, tuple(copies), spool=(spool, source.spool), notes=notes)


@dataclass(frozen=True)
class _Look:
    """How files are recognised."""

    formats: Sequence[Format]
    text_encoding: str | None

    def at(self, path: str, suffix: str | None = None) -> _Seen:
        """What a file is: its content tells, and of text its name, or the suffix of what was copied there."""
        try:
            with open(path, "rb") as file:
                raw = file.read(4096)
        except OSError as error:
            raise InputError(f"{path!r} cannot be read: {error.strerror or error}.") from error
        if raw.startswith(ARCHIVE):
            names = [each.filename for each in members(path)]
            found = (each for each in self.formats if each.members is not None and each.members(names))
            return self._binary(path, next(found, None), "none")
        compression = next((kind for magic, kind in MAGIC.items() if raw.startswith(magic)), "none")
        head = raw if compression == "none" else read_head(path, compression)
        if head.startswith(ARCHIVE):
            raise InputError(f"{path!r} is an archive that was compressed again. Decompress it first.")
        for each in self.formats:
            if any(head.startswith(mark, place) for place, mark in each.magic):
                return self._binary(path, each, compression)
        self._refuse_others(path, head)
        plain = self.text_encoding is None and head.isascii() and b"\0" not in head
        charset = None if plain else find_charset(path, head, self.text_encoding)
        endings = Path(path if suffix is None else f"data{suffix}").suffixes[-2:]
        return _Seen(self._text(path, endings, head, charset), compression, charset)

    def _refuse_others(self, path: str, head: bytes) -> None:
        """Raise where the first bytes are no table's, but what is often there instead.

        A page that says that there is none, a pointer, or no more than a part of the mark of a format.
        """
        begin = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:64].lower()
        found = next((what for mark, what in _DOCUMENTS.items() if begin.startswith(mark)), None)
        if found is not None:
            raise InputError(f"{path!r} is {found}, not a table. Look into it, and fetch the file again.")
        marks = [ARCHIVE, *MAGIC, *(mark for each in self.formats for place, mark in each.magic if not place)]
        if len(head) > 1 and any(mark.startswith(head) for mark in marks):
            raise InputError(f"{path!r} is cut short: it ends after {len(head)} bytes. Fetch it again.")

    def _binary(self, path: str, found: Format | None, compression: str) -> _Seen:
        if self.text_encoding is not None and found is not None and not found.charsets:
            raise InputError(
                f"'text_encoding' is for text; {path!r} is {found.kind}.", parameter="text_encoding"
            )
        return _Seen(found, compression)

    def _text(self, path: str, endings: list[str], head: bytes, charset: str | None) -> Format:
        """The format of a text: its name tells, or the first lines do."""
        texts = [each for each in self.formats if not each.magic and each.members is None]
        named = next(
            (each for ending in reversed(endings) for each in texts if ending.lower() in each.endings),
            None,
        )
        if charset is None and b"\0" in head:
            raise self._not_text(path, named, head.index(b"\0"))
        words = head.decode(charset or "utf-8-sig", errors="replace")
        lines = [line for line in re.split(r"\r\n?|\n", words)[:20] if line.strip()]
        if len(head) >= 4096 and len(lines) > 1:
            lines.pop()
        if named is not None and not (lines and lines[0].startswith(_JSON)):
            return named
        alike = (each for each in texts if lines and each.looks is not None and each.looks(lines))
        return next(alike, self.formats[0])

    def _not_text(self, path: str, named: Format | None, place: int) -> InputError:
        if named is not None:
            return InputError(
                f"{path!r} has a zero byte at position {place:,}: it is not text, or it is damaged. Remove "
                "such bytes, or give the file the ending of what it is."
            )
        known = list(dict.fromkeys(each.title for each in self.formats))
        return InputError(
            f"{path!r} is not of a kind that can be read. Known are {', '.join(known[:-1])} and {known[-1]}."
        )


def _kind(seen: _Seen) -> str:
    name = "zip" if seen.format is None else seen.format.kind
    more = [
        *([] if seen.compression == "none" else [seen.compression]),
        *([seen.charset] if seen.charset else []),
    ]
    return " in ".join([name, *more])


def _spooled(said: str, stream: Any, size: int | None, look: _Look, suffix: str = "") -> Source:
    """Copy a stream to a temporary file, and see what it is."""
    spool = Spool()
    path = spool.new(suffix)
    with open(path, "wb") as out:
        shutil.copyfileobj(Bounded(stream, size, "standard input" if said == "-" else said), out, 1 << 20)
    if not os.path.getsize(path):
        raise InputError(f"{'Standard input' if said == '-' else repr(said)} is empty.")
    seen = look.at(path, suffix)
    return _readable(Source(said, _no_archive(seen), (path,), seen.compression, spool), seen)


def _live(look: _Look) -> Source:
    """Standard input, being copied to a temporary file."""
    spool = Spool()
    path = spool.new()
    stream = Bounded(_Arriving(sys.stdin.buffer), None, "standard input")
    growing = Growing(path, lambda out: shutil.copyfileobj(stream, out, 1 << 20))
    growing.wait(lines=LINES, seconds=PATIENCE)
    if not os.path.getsize(path):
        raise InputError("Standard input is empty.")
    seen = look.at(path)
    if seen.format is None or not seen.format.live or seen.compression != "none" or seen.charset is not None:
        growing.wait()
        seen = look.at(path)
    return _readable(Source("-", _no_archive(seen), (path,), seen.compression, spool, growing), seen)


def _no_archive(seen: _Seen) -> Format:
    if seen.format is None:
        raise InputError("An archive within a stream cannot be read. Unpack it first.")
    return seen.format


class _Arriving:
    """Standard input, read as it comes: what is there, not as much as was asked for."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def read(self, size: int) -> bytes:
        try:
            # Past Python's buffer, whose lock a thread that waits here would hold when the program ends.
            return os.read(self._stream.fileno(), size)
        except (AttributeError, io.UnsupportedOperation):  # not a real file, as in tests
            found: bytes = self._stream.read(size)
            return found


def _unzipped(said: str, paths: Sequence[str], look: _Look) -> Source:
    """The one file of a ZIP archive."""
    if len(paths) > 1:
        raise InputError(f"{said!r} matches {len(paths)} files; ZIP archives are read one at a time.")
    found = members(paths[0])
    if len(found) != 1:
        names = f": {shown([each.filename for each in found])}" if found else ""
        raise InputError(f"{said!r} holds {len(found)} files{names}. Unpack it and name one.")
    try:
        with zipfile.ZipFile(paths[0]) as archive, archive.open(found[0]) as stream:
            suffix = "".join(Path(found[0].filename).suffixes[-2:])
            return _spooled(said, stream, os.path.getsize(paths[0]), look, suffix)
    except InputError:
        raise
    except (zipfile.BadZipFile, NotImplementedError, OSError, RuntimeError, ValueError) as error:
        raise InputError(f"{said!r} is not a ZIP archive that can be read ({error}).") from error


def free_memory() -> int:
    """Bytes that the machine has free, or two thirds of what it has where it does not say."""
    try:
        with open("/proc/meminfo") as facts:
            for line in facts:
                if line.startswith("MemAvailable"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 2 // 3)
    except (AttributeError, ValueError, OSError):
        return 1 << 32
