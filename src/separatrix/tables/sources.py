"""What a file is: its kind by content, its compression, its dialect; streams and archives are spooled."""

from __future__ import annotations

import bz2
import csv
import difflib
import glob
import gzip
import io
import itertools
import os
import re
import shutil
import sys
import tempfile
import weakref
import zipfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ..errors import InputError
from .growing import Growing

HEAD = 1 << 16
SAMPLE, SAMPLED = 1 << 18, 1000
PATIENCE = 1.0  # seconds to wait for so many lines of a stream
# Text never shrinks by this much unless it was made to fill a disk. Below the second number nobody minds.
EXPANSION, HARMLESS = 400, 1 << 26
_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
}
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity|nan)", re.IGNORECASE)
_LIBSVM = re.compile(
    rf"({_NUMBER.pattern})(\s+qid:\d+)?(\s+\d+:({_NUMBER.pattern}))*\s*(#.*)?", re.IGNORECASE
)


@dataclass(frozen=True, eq=False)
class Source:
    """Files of one kind.

    Attributes
    ----------
    name : str
        As the user said it.
    kind : {"csv", "parquet", "json", "sqlite", "duckdb", "libsvm", "npy", "npz"}
    paths : tuple of str
    compression : {"none", "gzip", "bz2", "zstd"}
    spool : object
        Keeps a temporary directory for as long as it is needed.
    growing : Growing or None
        Where the one file is still being written.
    """

    name: str
    kind: str
    paths: tuple[str, ...]
    compression: str = "none"
    spool: Any = None
    growing: Growing | None = None

    def wait(self) -> None:
        """Wait until everything is there."""
        if self.growing is not None:
            self.growing.wait()


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written."""

    delimiter: str
    header: bool
    names: tuple[str, ...]


def find_source(name: str | os.PathLike[str], *, live: bool = False) -> Source:
    """Look at a path, a pattern or ``-`` (standard input) and say what is there.

    With ``live``, CSV and LIBSVM from standard input can be read before all of it has come.
    """
    said = os.fspath(name)
    if said == "-":
        return _live() if live else _spooled(said, sys.stdin.buffer, None)
    paths = _paths(said)
    kinds = {path: _kind(path) for path in paths}
    kind, compression = kinds[paths[0]]
    for path, other in kinds.items():
        if other != (kind, compression):
            raise InputError(
                f"{said!r} matches files of different kinds: {paths[0]!r} is {kind}, {path!r} is {other[0]}. "
                "Name files of one kind."
            )
    if kind == "zip":
        return _unzipped(said, paths)
    if len(paths) > 1 and kind not in ("csv", "json", "parquet"):
        raise InputError(f"{said!r} matches {len(paths)} files; {kind} files are read one at a time.")
    if compression == "bz2" and kind != "libsvm":
        with open_binary(paths[0], compression) as stream:
            return _spooled(said, stream, os.path.getsize(paths[0]))
    for path in paths:
        if compression != "none":
            _refuse_bomb(path, compression)
    return Source(said, kind, paths, compression)


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


def find_dialect(path: str, compression: str) -> Dialect:
    """The delimiter, the header and the column names of a CSV file."""
    lines = _lines(path, read_head(path, compression))
    if not lines:
        raise InputError(f"{path!r} is empty. A table needs a line of names and a line for each row.")
    delimiter = max(",\t;| ", key=lambda each: _agreement(lines, each))
    if _agreement(lines, delimiter)[1] < 2:
        delimiter = ","
    first = next(csv.reader(lines[:1], delimiter=delimiter))
    header = not any(is_number_text(cell) for cell in first)
    numbered = [f"column{k}" for k in range(1, len(first) + 1)]
    names = [cell.strip() or numbered[k] for k, cell in enumerate(first)] if header else numbered
    twice = [each for each, times in Counter(names).items() if times > 1]
    if twice:
        raise InputError(
            f"{path!r} has more than one column named {twice[0]!r}. Every column needs a name of its own; "
            "rename them in the first line."
        )
    return Dialect(delimiter, header, tuple(names))


def sample_cells(path: str, compression: str, dialect: Dialect) -> dict[str, list[str]]:
    """The cells of the first rows, by column; a line of another length ends them."""
    lines = _lines(path, read_head(path, compression, SAMPLE), SAMPLED)
    rows = csv.reader(lines[int(dialect.header) :], delimiter=dialect.delimiter)
    whole = list(itertools.takewhile(lambda row: len(row) == len(dialect.names), rows))
    return {name: [row[k] for row in whole] for k, name in enumerate(dialect.names)}


def is_number_text(cell: str) -> bool:
    """Whether a cell reads as a number."""
    return _NUMBER.fullmatch(cell.strip()) is not None


def _agreement(lines: list[str], delimiter: str) -> tuple[float, int]:
    """How many lines have as many cells as the first, and how many cells those are."""
    cells = [len(row) for row in csv.reader(lines, delimiter=delimiter)]
    if not cells or cells[0] < 2:
        return 0.0, 1
    return round(cells.count(cells[0]) / len(cells), 1), cells[0]


def _lines(path: str, head: bytes, most: int = 100) -> list[str]:
    """The first whole lines that are not empty."""
    text = _decoded(path, head).replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if len(head) >= HEAD and len(lines) > 1:
        lines.pop()
    return [line for line in itertools.islice(lines, most) if line.strip()]


def _decoded(path: str, head: bytes) -> str:
    head = head.removeprefix(b"\xef\xbb\xbf")
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise _encoding_error(path)
    for cut in range(4):
        try:
            return head[: len(head) - cut].decode()
        except UnicodeDecodeError as error:
            if error.start < len(head) - 4:
                raise _encoding_error(path) from error
    raise _encoding_error(path)


def _encoding_error(path: str) -> InputError:
    return InputError(
        f"{path!r} is not UTF-8 text. Convert it first, for example with "
        f"`iconv -f latin1 -t utf-8 {os.path.basename(path)}`."
    )


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


def _kind(path: str) -> tuple[str, str]:
    """The kind and the compression of a file, by its first bytes; the name decides between kinds of text."""
    raw = read_head(path, "none", 4096)
    if raw[:4] == b"PAR1":
        return "parquet", "none"
    if raw.startswith(b"SQLite format 3\0"):
        return "sqlite", "none"
    if raw[8:12] == b"DUCK":
        return "duckdb", "none"
    if raw.startswith(b"\x93NUMPY"):
        return "npy", "none"
    if raw.startswith(b"PK\x03\x04"):
        return ("npz" if path.endswith(".npz") else "zip"), "none"
    compression = next((kind for magic, kind in _MAGIC.items() if raw.startswith(magic)), "none")
    head = raw if compression == "none" else read_head(path, compression)
    return _text_kind(path, head), compression


def _text_kind(path: str, head: bytes) -> str:
    endings = [each.lower() for each in Path(path).suffixes[-2:]]
    for ending in reversed(endings):
        if ending in (".csv", ".tsv", ".tab"):
            return "csv"
        if ending in (".jsonl", ".ndjson", ".json"):
            return "json"
        if ending in (".svm", ".libsvm", ".svmlight"):
            return "libsvm"
    if b"\0" in head[:1024]:
        raise InputError(
            f"{path!r} is not of a kind that can be read. Known are CSV, Parquet, JSON lines, SQLite, "
            "DuckDB, LIBSVM, npy and npz."
        )
    text = head.decode(errors="replace")
    lines = [line for line in text.split("\n")[:20] if line.strip()]
    if len(head) >= 4096 and len(lines) > 1:
        lines.pop()
    if lines and lines[0].lstrip().startswith("{"):
        return "json"
    if (
        lines
        and all(_LIBSVM.fullmatch(line.strip()) for line in lines)
        and any(":" in line for line in lines)
    ):
        return "libsvm"
    return "csv"


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


def _spooled(said: str, stream: Any, size: int | None, suffix: str = "") -> Source:
    """Copy a stream to a temporary file, and see what it is."""
    spool = Spool()
    path = os.path.join(spool.path, f"data{suffix}")
    with open(path, "wb") as out:
        _copy_bounded(stream, out, size, "standard input" if said == "-" else said)
    if not os.path.getsize(path):
        raise InputError(f"{'Standard input' if said == '-' else repr(said)} is empty.")
    kind, compression = _kind(path)
    if kind == "zip":
        raise InputError("An archive within a stream cannot be read. Unpack it first.")
    return Source(said, kind, (path,), compression, spool)


def _live() -> Source:
    """Standard input, being copied to a temporary file."""
    spool = Spool()
    path = os.path.join(spool.path, "data")
    stream = _Arriving(sys.stdin.buffer)
    growing = Growing(path, lambda out: _copy_bounded(stream, out, None, "standard input"))
    growing.wait(lines=SAMPLED, seconds=PATIENCE)
    if not os.path.getsize(path):
        raise InputError("Standard input is empty.")
    kind, compression = _kind(path)
    if (kind, compression) not in (("csv", "none"), ("libsvm", "none")):
        growing.wait()
        kind, compression = _kind(path)
    if kind == "zip":
        raise InputError("An archive within a stream cannot be read. Unpack it first.")
    return Source("-", kind, (path,), compression, spool, growing)


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


def _unzipped(said: str, paths: Sequence[str]) -> Source:
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
                return _spooled(said, stream, os.path.getsize(paths[0]), suffix)
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
