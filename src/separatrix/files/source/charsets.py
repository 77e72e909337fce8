"""Find out how the characters of a text are encoded, and copy text as UTF-8."""

from __future__ import annotations

import codecs
import re
from typing import IO, Any

from ...errors import InputError

# The longer marks come first: that of UTF-32 begins like that of UTF-16.
_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def find_charset(name: str, head: bytes, said: str | None) -> str | None:
    """Return the charset of a text that is not UTF-8, or None.

    Raises
    ------
    InputError
        If the user named a charset that does not exist, or that the byte order mark contradicts.
    """
    marked = next((charset for mark, charset in _MARKS.items() if head.startswith(mark)), None)
    if said is not None:
        asked = _known(said)
        if marked is not None and not asked.startswith(marked):
            raise InputError(
                f"{name!r} begins with the byte order mark of {marked.upper()}, so it is not {said!r}.",
                parameter="text_encoding",
            )
        if marked is None and asked not in ("utf-8", "ascii", "utf-8-sig"):
            return asked
    return None if marked == "utf-8" else marked


def copy_as_utf8(stream: Any, out: IO[bytes], charset: str, name: str) -> None:
    """Copy text to a file of UTF-8."""
    decoder = codecs.getincrementaldecoder(charset)()
    read = 0
    try:
        while part := stream.read(1 << 20):
            text = decoder.decode(part)
            if charset == "iso8859-1" and re.search("[\x80-\x84\x86-\x9f]", text):
                raise InputError(
                    f"{name!r} has bytes that are control characters in latin-1, and signs such as "
                    "\N{EURO SIGN} in cp1252. Its encoding is probably cp1252.",
                    parameter="text_encoding",
                )
            out.write(text.encode())
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
