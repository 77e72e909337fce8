"""Read compressed files and archives, and refuse decompression bombs."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from typing import IO, Any

from ...errors import InputError, needs

HEAD = 1 << 16
# Ordinary text does not shrink by this factor. Files that expand to fewer bytes are not checked.
EXPANSION, HARMLESS = 400, 1 << 26
MAGIC = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\xfd7zXZ\0": "xz",
}
ARCHIVE = b"PK\x03\x04"


def open_binary(path: str, compression: str) -> IO[bytes]:
    """Open a file for reading, decompressed."""
    try:
        if compression == "none":
            return open(path, "rb")
        stream: IO[bytes] = _decompressed(path, compression)
        return stream
    except OSError as error:
        raise InputError(f"{path!r} cannot be read: {error.strerror or error}.") from error


def _decompressed(raw: Any, compression: str) -> Any:
    """Return a stream of the decompressed bytes of a path or an open file."""
    if compression == "gzip":
        return gzip.open(raw, "rb")
    if compression in ("bz2", "xz"):
        new = bz2.BZ2Decompressor if compression == "bz2" else lzma.LZMADecompressor
        return io.BufferedReader(_Streams(open(raw, "rb") if isinstance(raw, str) else raw, new), HEAD)
    with needs("Reading zstd files", extra="cli"):
        import pyarrow as pa

    return pa.CompressedInputStream(raw if isinstance(raw, str) else pa.PythonFile(raw, "r"), "zstd")


class _Streams(io.RawIOBase):
    """The streams of a compressed file, one after another; zeros may follow them, as in gzip files.

    Python's own readers of bz2 and xz ignore any bytes after the last stream; here they are an error.
    """

    def __init__(self, raw: IO[bytes], new: Callable[[], Any]) -> None:
        self._raw, self._new, self._current = raw, new, new()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        out = b""
        while not out:
            stream, part = self._current, b""
            if stream.eof:
                part = stream.unused_data.lstrip(b"\0")
                while not part:
                    if not (found := self._raw.read(HEAD)):
                        return 0
                    part = found.lstrip(b"\0")
                stream = self._current = self._new()
            elif stream.needs_input and not (part := self._raw.read(HEAD)):
                raise EOFError("it ends before its last stream does")
            out = stream.decompress(part, len(buffer))
        buffer[: len(out)] = out
        return len(out)

    def close(self) -> None:
        self._raw.close()
        super().close()


def read_head(path: str, compression: str, size: int = HEAD) -> bytes:
    """Return the first bytes of a file, decompressed."""
    try:
        with open_binary(path, compression) as stream:
            parts, length = [], 0
            while length < size and (part := stream.read(size - length)):
                parts.append(part)
                length += len(part)
            return b"".join(parts)
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
        raise InputError(f"{path!r} is damaged: it does not decompress ({error}).") from error


def refuse_bomb(path: str, compression: str) -> None:
    """Refuse a file whose beginning expands too much; the rest is read in bounded memory."""
    expanded = 0
    with open(path, "rb") as raw, _decompressed(raw, compression) as stream:
        bounded = Bounded(stream, None, path)
        while expanded < 1 << 25 and (part := bounded.read(1 << 20)):
            expanded += len(part)
        refuse_expansion(path, raw.tell(), expanded, harmless=1 << 24)


def refuse_expansion(name: str, consumed: int, expanded: int, *, harmless: int = HARMLESS) -> None:
    """Raise an error if a compressed file expands more than ordinary files do."""
    if expanded > max(harmless, EXPANSION * consumed):
        raise InputError(
            f"{name!r} expands to more than {EXPANSION} times its size, as decompression bombs do. If you "
            "trust it, decompress it yourself first."
        )


class Bounded:
    """A stream that raises an error if it expands like a decompression bomb, or does not fit on the disk."""

    def __init__(self, stream: Any, size: int | None, name: str) -> None:
        self._stream, self._size, self._name, self._read = stream, size, name, 0

    def read(self, size: int = -1, /) -> bytes:
        """Return some bytes; none at the end."""
        try:
            part: bytes = self._stream.read(size)
        except (EOFError, OSError, ValueError, lzma.LZMAError, zipfile.BadZipFile, zlib.error) as error:
            raise InputError(f"{self._name!r} is damaged or cannot be read ({error}).") from error
        self._read += len(part)
        if self._size is not None:
            refuse_expansion(self._name, self._size, self._read)
        where = tempfile.gettempdir()
        if self._read % (1 << 26) < len(part) and shutil.disk_usage(where).free < 1 << 29:
            raise InputError(
                f"{self._name!r} does not fit on the disk of {where!r}: {self._read:,} bytes so far. Set "
                "TMPDIR to a larger disk, or save the data to a file and name that."
            )
        return part


def members(path: str) -> list[zipfile.ZipInfo]:
    """Return the files of an archive, without those that operating systems add."""
    try:
        with zipfile.ZipFile(path) as archive:
            return [
                each
                for each in archive.infolist()
                if each.filename  # a damaged archive may have files without a name
                and not each.filename.endswith("/")
                and not each.filename.startswith(("__MACOSX", ".DS_Store"))
            ]
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError) as error:
        raise InputError(f"{path!r} is not a ZIP archive that can be read ({error}).") from error
