"""Temporary files; decompress files, refuse decompression bombs, and turn text of any charset into UTF-8."""

from __future__ import annotations

import bz2
import codecs
import gzip
import itertools
import lzma
import os
import re
import shutil
import tempfile
import weakref
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from ...errors import InputError
from ..arrow import explaining, pa
from ..encoding import shown

OPEN_FILES = "/proc/self/fd"  # where Linux opens files that have no name
HEAD, PART = 1 << 16, 1 << 20  # bytes that show what a file is, and bytes that are copied at once
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
# The longer marks come first: that of UTF-32 begins like that of UTF-16.
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


class Spool:
    """Temporary files that live as long as an object refers to this one."""

    def new(self) -> str:
        """Return the path of a new, empty file.

        On Linux it has no name in the temporary directory, so that not even a killed process leaves it
        there. On other systems it has a name, and is removed with this object.
        """
        if os.path.isdir(OPEN_FILES):
            file = tempfile.TemporaryFile(prefix="separatrix-")  # noqa: SIM115
            weakref.finalize(self, file.close)
            return f"{OPEN_FILES}/{file.fileno()}"
        folder = tempfile.mkdtemp(prefix="separatrix-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return os.path.join(folder, "data")


def parts_of(path: str, compression: str, name: str, most: int = PART) -> Iterator[bytes]:
    """Yield a file, decompressed, up to ``most`` bytes at a time; of a ZIP archive, its only file."""
    inside = members(path, name) if compression == "zip" else []
    if compression == "zip" and len(inside) != 1:
        names = f": {shown([each.filename for each in inside])}" if inside else ""
        raise InputError(f"{name!r} holds {len(inside)} files{names}. Unpack it and name one.")
    new = _DECOMPRESSORS.get(compression)
    parts = _streams(path, new, most) if new else _read(_OPENERS[compression], [path, *inside], most)
    return bounded(parts, name, os.path.getsize(path))


def _read(opener: Callable[..., Any], of: Sequence[Any], most: int) -> Iterator[bytes]:
    with opener(*of) as opened:
        yield from iter(partial(opened.read, most), b"")


def _streams(path: str, new: Callable[[], Any], most: int) -> Iterator[bytes]:
    """Yield the streams of a compressed file, one after another; zeros may follow them, as in gzip files.

    Python's own readers of bz2 and xz ignore any bytes after the last stream; here they are an error.
    """
    stream = new()
    with open(path, "rb") as raw:
        while part := raw.read(HEAD):
            while part := part.lstrip(b"\0") if stream.eof else part:
                stream = new() if stream.eof else stream
                while not stream.eof and (out := stream.decompress(part, most)):
                    yield out
                    part = b""
                part = stream.unused_data
    if not stream.eof:
        raise EOFError("it ends before its last stream does")


_DECOMPRESSORS = {"bz2": bz2.BZ2Decompressor, "xz": lzma.LZMADecompressor}
_OPENERS: dict[str, Callable[..., Any]] = {
    "": lambda path: open(path, "rb"),  # noqa: SIM115
    "gzip": gzip.open,
    "zip": lambda path, only: zipfile.ZipFile(path).open(only),  # noqa: SIM115
    "zstd": lambda path: pa.CompressedInputStream(path, "zstd"),
}


def members(path: str, name: str) -> list[zipfile.ZipInfo]:
    """Return the files of an archive, without those that operating systems add."""
    with explaining(name), zipfile.ZipFile(path) as archive:
        return [
            each
            for each in archive.infolist()
            if each.filename  # a damaged archive may have files without a name
            and not each.filename.endswith("/")
            and not each.filename.startswith(("__MACOSX", ".DS_Store"))
        ]


def bounded(parts: Iterator[bytes | None], name: str, size: int | None = None) -> Iterator[bytes]:
    """Yield the parts of a stream, as long as they fit on the disk.

    A file of ``size`` bytes must not expand like a decompression bomb.
    """
    read, where = 0, tempfile.gettempdir()
    while True:
        with explaining(name):
            part = next(parts, b"")
            if part is None:
                raise OSError("it does not wait for bytes that have not arrived yet")
        if not part:
            return
        read += len(part)
        if size is not None and read > max(HARMLESS, EXPANSION * size):
            raise InputError(
                f"{name!r} expands to more than {EXPANSION} times its size, as decompression bombs do. "
                "If you trust it, decompress it yourself first."
            )
        if read % (1 << 26) < len(part) and shutil.disk_usage(where).free < 1 << 29:
            raise InputError(
                f"{name!r} does not fit on the disk of {where!r}: {read:,} bytes so far. Set TMPDIR to a "
                "larger disk, or save the data to a file and name that."
            )
        yield part


def find_charset(name: str, head: bytes, said: str | None) -> str | None:
    """Return the charset of a text that is not UTF-8, or None.

    Raises
    ------
    InputError
        If the user named a charset that does not exist, or that the byte order mark contradicts.
    """
    marked = next((charset for mark, charset in _BYTE_ORDER_MARKS.items() if head.startswith(mark)), None)
    if said is not None:
        try:
            asked = codecs.lookup(said).name
            "".encode(said)  # some codecs turn bytes into bytes
        except (LookupError, UnicodeError) as error:
            raise InputError(
                f"There is no encoding {said!r}. Usual are utf-8, utf-16, latin-1, cp1252 and shift_jis.",
                parameter="text_encoding",
            ) from error
        if marked is not None and not asked.startswith(marked):
            raise InputError(
                f"{name!r} begins with the byte order mark of {marked.upper()}, so it is not {said!r}.",
                parameter="text_encoding",
            )
        if marked is None and asked not in ("utf-8", "ascii", "utf-8-sig"):
            return asked
    return None if marked == "utf-8" else marked


def as_utf8(parts: Iterable[bytes], charset: str, name: str) -> Iterator[bytes]:
    """Yield the parts of a text in UTF-8."""
    decoder, read = codecs.getincrementaldecoder(charset)(), 0
    try:
        for part in itertools.chain(parts, [b""]):
            text = decoder.decode(part, final=not part)
            if charset == "iso8859-1" and re.search("[\x80-\x84\x86-\x9f]", text):
                raise InputError(
                    f"{name!r} has bytes that are control characters in latin-1, and signs such as "
                    "\N{EURO SIGN} in cp1252. Its encoding is probably cp1252.",
                    parameter="text_encoding",
                )
            yield text.encode()
            read += len(part)
    except UnicodeError as error:
        raise InputError(
            f"{name!r} is not text in {charset}: near byte {read:,}, {getattr(error, 'reason', error)}.",
            remedy="Name its encoding with 'text_encoding'.",
            parameter="text_encoding",
        ) from error
