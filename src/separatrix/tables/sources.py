"""What a file is: its format by content, its compression; streams and archives are spooled.

Each format's module describes it by a `Format`; `table.FORMATS` lists them all.
"""

from __future__ import annotations

import bz2
import difflib
import glob
import gzip
import io
import os
import re
import shutil
import sys
import tempfile
import weakref
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ..errors import InputError
from .encoding import Encoding
from .growing import Growing

HEAD = 1 << 16
LINES, PATIENCE = 1000, 1.0  # of a stream to wait for before it is opened, and for how many seconds
# Text never shrinks by this much unless it was made to fill a disk. Below the second number nobody minds.
EXPANSION, HARMLESS = 400, 1 << 26
_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
}
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity|nan)", re.IGNORECASE)
_ARCHIVE = b"PK\x03\x04"


@dataclass(frozen=True)
class Request:
    """Which rows and columns of a source are wanted; see `open_table`."""

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
        Takes a `Source` and a `Request`, and gives a `table.Reader`.
    magic : tuple of (int, bytes), optional
        Where in a file which bytes stand; a format without it is text.
    endings : tuple of str
        Of names: of text they tell the format; with ``magic`` they have to be there, too.
    looks : callable, optional
        Whether the first lines of a text are of this format.
    several : bool
        Whether a pattern of files is one table.
    live : bool
        Whether a stream can be read before its end has come.
    unpacks : tuple of str
        The compressions that its reader undoes; of others, a decompressed copy is read.
    """

    kind: str
    title: str
    open: Callable[[Source, Request], Any]
    magic: tuple[int, bytes] | None = None
    endings: tuple[str, ...] = ()
    looks: Callable[[list[str]], bool] | None = None
    several: bool = False
    live: bool = False
    unpacks: tuple[str, ...] = ("gzip", "bz2", "zstd")


@dataclass(frozen=True, eq=False)
class Source:
    """Files of one format.

    Attributes
    ----------
    name : str
        As the user said it.
    format : Format
    paths : tuple of str
    compression : {"none", "gzip", "bz2", "zstd"}
    spool : object
        Keeps a temporary directory for as long as it is needed.
    growing : Growing or None
        Where the one file is still being written.
    """

    name: str
    format: Format
    paths: tuple[str, ...]
    compression: str = "none"
    spool: Any = None
    growing: Growing | None = None

    def need_numbered(self, request: Request) -> None:
        """Raise where a request is about named columns, which this source has none of."""
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
        if request.encoding is not None and request.encoding.width is None:
            raise InputError(f"{self.name!r} has numbered columns; the model was fitted on named ones.")


def find_source(name: str | os.PathLike[str], formats: Sequence[Format], *, live: bool = False) -> Source:
    """Look at a path, a pattern or ``-`` (standard input) and say what is there.

    With ``live``, some formats can be read from standard input before all of it has come. Text that looks
    like no other format is of the first one.
    """
    said = os.fspath(name)
    if said == "-":
        return _live(formats) if live else _spooled(said, sys.stdin.buffer, None, formats)
    paths = _paths(said)
    found = {path: _recognise(path, formats) for path in paths}
    first, compression = found[paths[0]]
    for path, other in found.items():
        if other != (first, compression):
            raise InputError(
                f"{said!r} matches files of different kinds: {paths[0]!r} is {_kind(first)}, {path!r} is "
                f"{_kind(other[0])}. Name files of one kind."
            )
    if first is None:
        return _unzipped(said, paths, formats)
    if len(paths) > 1 and not first.several:
        raise InputError(f"{said!r} matches {len(paths)} files; {first.kind} files are read one at a time.")
    if compression not in ("none", *first.unpacks):
        with open_binary(paths[0], compression) as stream:
            return _spooled(said, stream, os.path.getsize(paths[0]), formats)
    for path in paths:
        if compression != "none":
            _refuse_bomb(path, compression)
    return Source(said, first, paths, compression)


def open_binary(path: str, compression: str) -> IO[bytes]:
    """Open a file for reading, decompressed."""
    try:
        stream: IO[bytes] = _decompressed(path, compression)
        return stream
    except OSError as error:
        raise InputError(f"{path!r} cannot be read: {error.strerror or error}.") from error


def _decompressed(raw: Any, compression: str) -> Any:
    """A stream of what a path, or an open file, unfolds to."""
    if compression == "gzip":
        return gzip.open(raw, "rb")
    if compression == "bz2":
        return bz2.open(raw, "rb")
    if compression == "zstd":
        import pyarrow as pa

        return pa.CompressedInputStream(raw if isinstance(raw, str) else pa.PythonFile(raw, "r"), "zstd")
    return open(raw, "rb") if isinstance(raw, str) else raw


def read_head(path: str, compression: str, size: int = HEAD) -> bytes:
    """The first bytes of a file, decompressed."""
    try:
        with open_binary(path, compression) as stream:
            parts, length = [], 0
            while length < size and (part := stream.read(size - length)):
                parts.append(part)
                length += len(part)
            return b"".join(parts)
    except (OSError, EOFError, ValueError) as error:
        raise InputError(f"{path!r} is damaged: it does not decompress ({error}).") from error


def _paths(said: str) -> tuple[str, ...]:
    if os.path.isdir(said):
        raise InputError(f"{said!r} is a directory. Name a file, or a pattern such as '{said}/*.parquet'.")
    if os.path.exists(said):
        return (said,)
    if glob.has_magic(said):
        found = sorted(path for path in glob.glob(said, recursive=True) if os.path.isfile(path))
        if found:
            return tuple(found)
        raise InputError(f"No file matches {said!r}.")
    raise InputError(f"There is no file {said!r}.{_nearest_file(said)}")


def _nearest_file(said: str) -> str:
    parent = os.path.dirname(said) or "."
    if not os.path.isdir(parent):
        return f" Nor is there a directory {parent!r}."
    near = difflib.get_close_matches(os.path.basename(said), os.listdir(parent), n=1, cutoff=0.6)
    return f" Did you mean {os.path.join(os.path.dirname(said), near[0])!r}?" if near else ""


def _recognise(path: str, formats: Sequence[Format]) -> tuple[Format | None, str]:
    """The format and the compression of a file, by its first bytes; an archive has no format."""
    raw = read_head(path, "none", 4096)
    for each in formats:
        if each.magic is None or not raw.startswith(each.magic[1], each.magic[0]):
            continue
        if not each.endings or path.endswith(each.endings):
            return each, "none"
    if raw.startswith(_ARCHIVE):
        return None, "none"
    compression = next((kind for magic, kind in _MAGIC.items() if raw.startswith(magic)), "none")
    head = raw if compression == "none" else read_head(path, compression)
    return _text_format(path, head, formats), compression


def _text_format(path: str, head: bytes, formats: Sequence[Format]) -> Format:
    """The format of a text: its name tells, or the first lines do."""
    texts = [each for each in formats if each.magic is None]
    for ending in reversed(Path(path).suffixes[-2:]):
        for each in texts:
            if ending.lower() in each.endings:
                return each
    if b"\0" in head[:1024]:
        known = [each.title for each in formats]
        raise InputError(
            f"{path!r} is not of a kind that can be read. Known are {', '.join(known[:-1])} and {known[-1]}."
        )
    lines = [line for line in head.decode(errors="replace").split("\n")[:20] if line.strip()]
    if len(head) >= 4096 and len(lines) > 1:
        lines.pop()
    alike = (each for each in texts if lines and each.looks is not None and each.looks(lines))
    return next(alike, formats[0])


def _kind(found: Format | None) -> str:
    return "zip" if found is None else found.kind


def _refuse_bomb(path: str, compression: str) -> None:
    """Refuse a file whose beginning expands beyond reason; what comes later is read in bounded memory."""
    expanded = 0
    with open(path, "rb") as raw, _decompressed(raw, compression) as stream:
        while expanded < 1 << 25 and (part := stream.read(1 << 20)):
            expanded += len(part)
        refuse_expansion(path, raw.tell(), expanded, harmless=1 << 24)


def refuse_expansion(name: str, consumed: int, expanded: int, *, harmless: int = HARMLESS) -> None:
    """Raise where a compressed file grows as no honest one does."""
    if expanded > max(harmless, EXPANSION * consumed):
        raise InputError(
            f"{name!r} expands to more than {EXPANSION} times its size; such a file is made to fill memory. "
            "If it is honest, decompress it yourself first."
        )


def _copy_bounded(stream: Any, out: IO[bytes] | None, size: int | None, name: str) -> None:
    """Copy a stream; stop where it is larger than an honest file of its compressed size, or than the disk."""
    written = 0
    try:
        while part := stream.read(1 << 20):
            written += len(part)
            if size is not None:
                refuse_expansion(name, size, written)
            if out is None:
                continue
            if written % (1 << 26) < len(part) and shutil.disk_usage(tempfile.gettempdir()).free < 1 << 29:
                raise InputError(
                    f"{name!r} does not fit on the disk of {tempfile.gettempdir()!r}: {written:,} bytes "
                    "so far. Set TMPDIR to a larger disk, or save the data to a file and name that."
                )
            out.write(part)
    except (EOFError, OSError, zipfile.BadZipFile) as error:
        raise InputError(f"{name!r} is damaged or cannot be read ({error}).") from error


def _spooled(said: str, stream: Any, size: int | None, formats: Sequence[Format], suffix: str = "") -> Source:
    """Copy a stream to a temporary file, and see what it is."""
    spool = Spool()
    path = os.path.join(spool.path, f"data{suffix}")
    with open(path, "wb") as out:
        _copy_bounded(stream, out, size, "standard input" if said == "-" else said)
    if not os.path.getsize(path):
        raise InputError(f"{'Standard input' if said == '-' else repr(said)} is empty.")
    found, compression = _recognise(path, formats)
    return Source(said, _no_archive(found), (path,), compression, spool)


def _live(formats: Sequence[Format]) -> Source:
    """Standard input, being copied to a temporary file."""
    spool = Spool()
    path = os.path.join(spool.path, "data")
    stream = _Arriving(sys.stdin.buffer)
    growing = Growing(path, lambda out: _copy_bounded(stream, out, None, "standard input"))
    growing.wait(lines=LINES, seconds=PATIENCE)
    if not os.path.getsize(path):
        raise InputError("Standard input is empty.")
    found, compression = _recognise(path, formats)
    if found is None or not found.live or compression != "none":
        growing.wait()
        found, compression = _recognise(path, formats)
    return Source("-", _no_archive(found), (path,), compression, spool, growing)


def _no_archive(found: Format | None) -> Format:
    if found is None:
        raise InputError("An archive within a stream cannot be read. Unpack it first.")
    return found


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


class Spool:
    """A temporary directory that goes with the last object that knows it."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix="separatrix-")
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def _unzipped(said: str, paths: Sequence[str], formats: Sequence[Format]) -> Source:
    """The one file of a ZIP archive."""
    try:
        with zipfile.ZipFile(paths[0]) as archive:
            members = [
                each
                for each in archive.infolist()
                if not each.is_dir() and not each.filename.startswith("__MACOSX")
            ]
            if len(paths) > 1 or len(members) != 1:
                raise InputError(
                    f"{said!r} holds {len(members)} files; one is needed. Unpack it and name one."
                )
            with archive.open(members[0]) as stream:
                suffix = Path(members[0].filename).suffix
                return _spooled(said, stream, os.path.getsize(paths[0]), formats, suffix)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
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
