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

from ...errors import InputError
from ..arrow import pa
from ..encoding import shown

HEAD = 1 << 16
# Ordinary text does not shrink by this factor. Files that expand to fewer bytes are not checked.
EXPANSION, HARMLESS = 400, 1 << 26
ARCHIVE = b"PK\x03\x04"
MAGIC = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\xfd7zXZ\0": "xz",
    ARCHIVE: "zip",
}
# What the readers of compressed files raise if a file is damaged, or encrypted.
_DAMAGE = (EOFError, OSError, RuntimeError, ValueError, lzma.LZMAError, zipfile.BadZipFile, zlib.error)


def open_binary(path: str, compression: str, name: str) -> IO[bytes]:
    """Open a file for reading, decompressed; in a ZIP archive, its only file."""
    inside = members(path, name) if compression == "zip" else []
    if compression == "zip" and len(inside) != 1:
        names = f": {shown([each.filename for each in inside])}" if inside else ""
        raise InputError(f"{name!r} holds {len(inside)} files{names}. Unpack it and name one.")
    try:
        opened: IO[bytes] = _OPENERS[compression](path, *inside)
        return opened
    except _DAMAGE as error:
        raise InputError(f"{name!r} cannot be read: {getattr(error, 'strerror', None) or error}.") from error


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


_OPENERS: dict[str, Callable[..., Any]] = {
    "": io.FileIO,
    "gzip": gzip.open,
    "bz2": lambda path: io.BufferedReader(_Streams(io.FileIO(path), bz2.BZ2Decompressor), HEAD),
    "xz": lambda path: io.BufferedReader(_Streams(io.FileIO(path), lzma.LZMADecompressor), HEAD),
    "zip": lambda path, only: zipfile.ZipFile(path).open(only),  # noqa: SIM115
    "zstd": lambda path: pa.CompressedInputStream(path, "zstd"),
}


def read_head(path: str, compression: str, name: str) -> bytes:
    """Return the first bytes of a file, decompressed."""
    with open_binary(path, compression, name) as stream:
        parts, length, bounded = [], 0, Bounded(stream, None, name)
        while length < HEAD and (part := bounded.read(HEAD - length)):
            parts.append(part)
            length += len(part)
        return b"".join(parts)


class Bounded:
    """A stream that raises an error if it expands like a decompression bomb, or does not fit on the disk."""

    def __init__(self, stream: Any, size: int | None, name: str) -> None:
        self._stream, self._size, self._name, self._read = stream, size, name, 0

    def read(self, size: int = -1, /) -> bytes:
        """Return some bytes; none at the end."""
        try:
            part: bytes | None = self._stream.read(size)
            if part is None:
                raise OSError("it does not wait for bytes that have not arrived yet")
        except _DAMAGE as error:
            raise InputError(f"{self._name!r} is damaged or cannot be read ({error}).") from error
        self._read += len(part)
        if self._size is not None and self._read > max(HARMLESS, EXPANSION * self._size):
            raise InputError(
                f"{self._name!r} expands to more than {EXPANSION} times its size, as decompression bombs do. "
                "If you trust it, decompress it yourself first."
            )
        where = tempfile.gettempdir()
        if self._read % (1 << 26) < len(part) and shutil.disk_usage(where).free < 1 << 29:
            raise InputError(
                f"{self._name!r} does not fit on the disk of {where!r}: {self._read:,} bytes so far. Set "
                "TMPDIR to a larger disk, or save the data to a file and name that."
            )
        return part


def members(path: str, name: str) -> list[zipfile.ZipInfo]:
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
        raise InputError(f"{name!r} is not a ZIP archive that can be read ({error}).") from error
