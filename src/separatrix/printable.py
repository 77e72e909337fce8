"""Make text safe to show: characters that control the terminal or the page become escapes."""

from __future__ import annotations

import re

# Control characters (ESC begins the commands of a terminal), marks that change the direction of writing, line
# ends, and surrogates, which represent bytes of file names that are not text.
_ACTS = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    r"""Return one line of text without characters that control the terminal or the page.

    Names, labels and cells may come from anyone, so all code that shows them calls this function.

    Examples
    --------
    >>> print(printable("dose\x1b[2J \u202eevil\n"))
    dose\x1b[2J \u202eevil\n
    """
    return _ACTS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def printable_lines(text: str) -> str:
    r"""Return several lines of text in the same way; line feeds are kept.

    Examples
    --------
    >>> printable_lines("one\ntwo\r")
    'one\ntwo\\r'
    """
    return "\n".join(map(printable, text.split("\n")))


def printable_json(text: str) -> str:
    r"""Return a JSON document with these characters as JSON escapes, so that its meaning is the same.

    Examples
    --------
    >>> printable_json('["a\x9b"]')
    '["a\\u009b"]'
    """
    return "\n".join(_ACTS.sub(lambda found: f"\\u{ord(found[0]):04x}", line) for line in text.split("\n"))
