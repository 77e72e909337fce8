"""In which characters a text is written: what its first bytes or the caller say; copied as UTF-8."""

from __future__ import annotations

import codecs
from typing import IO, Any

from ...errors import InputError

UTF8 = ("utf-8", "ascii")
# The longer marks first: that of UTF-32 begins as that of UTF-16 does.
_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def find_charset(name: str, head: bytes, said: str | None) -> str | None:
    """The charset of a text that is not UTF-8; None for one that is, or that has to be.

    Raises
    ------
    InputError
        For a charset that nobody knows, for one that the first bytes contradict, and for text in UTF-16 that
        does not say so.
    """
    marked = next((charset for mark, charset in _MARKS.items() if head.startswith(mark)), None)
    if said is not None:
        asked = _known(said)
        if marked is not None and not asked.startswith(marked):
            raise InputError(
                f"{name!r} begins with the byte order mark of {marked.upper()}, so it is not {said!r}.",
                parameter="text_encoding",
            )
        if marked is None and asked not in UTF8 and asked != "utf-8-sig":
            return asked
    if marked == "utf-8":
        return None  # its readers leave the mark out
    if marked is None and said is None and (order := _unmarked(head)) is not None:
        raise InputError(
            f"{name!r} looks like UTF-16 text without a byte order mark (utf-16-{order}).",
            remedy=f"If it is, pass text_encoding='utf-16-{order}'.",
            parameter="text_encoding",
        )
    return marked


def copy_as_utf8(stream: Any, out: IO[bytes], charset: str, name: str) -> None:
    """Copy text to a file of UTF-8."""
    decoder = codecs.getincrementaldecoder(charset)()
    read = 0
    try:
        while part := stream.read(1 << 20):
            out.write(decoder.decode(part).encode())
            read += len(part)
        out.write(decoder.decode(b"", final=True).encode())
    except UnicodeError as error:
        raise InputError(
            f"{name!r} is not text in {charset}: near byte {read:,}, {getattr(error, 'reason', error)}.",
            remedy="Name its encoding with 'text_encoding'.",
            parameter="text_encoding",
        ) from error


def _known(said: str) -> str:
    try:
        found = codecs.lookup(said)
        "".encode(said)  # some codecs turn bytes into bytes
    except (LookupError, UnicodeError) as error:
        raise InputError(
            f"There is no encoding {said!r}. Usual ones are utf-8, utf-16, latin-1, cp1252 and shift_jis.",
            parameter="text_encoding",
        ) from error
    return found.name


def _unmarked(head: bytes) -> str | None:
    """The byte order of what must be UTF-16, because every second byte of nearly all is zero."""
    first = head[:1024]
    if len(first) < 4:
        return None
    for order, zeros in (("le", first[1::2]), ("be", first[0::2])):
        others = first[0::2] if order == "le" else first[1::2]
        if 10 * zeros.count(0) >= 9 * len(zeros) and not others.count(0):
            return order
    return None
