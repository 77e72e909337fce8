"""Text as people may be shown it: characters that act on the terminal or the page become escapes."""

from __future__ import annotations

import re

# Controls (ESC begins the commands of a terminal), marks that turn the direction of writing, ends of lines,
# and halves of characters, which stand for bytes of file names that are not text.
_ACTS = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    r"""One line of text, in which every character is only seen.

    Names, labels and cells come from strangers: whatever shows them passes them through here.

    Examples
    --------
    >>> print(printable("dose\x1b[2J \u202eevil\n"))
    dose\x1b[2J \u202eevil\n
    """
    return _ACTS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def printable_lines(text: str) -> str:
    r"""The same where the ends of lines are the layout's own.

    Examples
    --------
    >>> printable_lines("one\ntwo\r")
    'one\ntwo\\r'
    """
    return "\n".join(map(printable, text.split("\n")))


def printable_json(text: str) -> str:
    r"""A JSON document with such characters as JSON escapes them, so it means the same.

    Examples
    --------
    >>> printable_json('["a\x9b"]')
    '["a\\u009b"]'
    """
    return "\n".join(_ACTS.sub(lambda found: f"\\u{ord(found[0]):04x}", line) for line in text.split("\n"))
