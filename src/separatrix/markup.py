"""Write HTML as escaped text, for notebooks, reports and experiments."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape as _escape

from .printable import printable_lines


class Markup(str):
    """Text that is HTML already. All other text in an element is escaped."""

    __slots__ = ()


def tag(name: str, /, *content: str, **attributes: str | None) -> Markup:
    """Return an element; text in it is escaped, markup is not.

    In the names of attributes, a trailing underscore is dropped and the others become hyphens. Attributes
    that are None or empty are left out.

    Examples
    --------
    >>> tag("p", "a < b, ", tag("b", "c"), class_="note")
    '<p class="note">a &lt; b, <b>c</b></p>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(text)}"' for key, text in attributes.items() if text
    )
    return Markup(f"<{name}{written}>{join(content)}</{name}>")


def join(parts: Iterable[str], between: str = "") -> Markup:
    """Join markup and text, which is escaped.

    Examples
    --------
    >>> join(["a & b", tag("b", "c")], " ")
    'a &amp; b <b>c</b>'
    """
    return Markup(between.join(part if isinstance(part, Markup) else escape(part) for part in parts))


def escape(text: str) -> str:
    """Return text without tags and without control characters."""
    return _escape(printable_lines(text))


def table(
    head: Iterable[Markup], body: Iterable[Iterable[Markup]], caption: str = "", **attributes: str
) -> Markup:
    """Return a table of cells that are elements; it has no head if there are no names.

    ``caption`` is text, or the element itself.
    """
    names = join(head)
    rows = [tag("tr", *cells) for cells in body]
    top = tag("thead", tag("tr", names)) if names else Markup("")
    titled = caption if isinstance(caption, Markup) or not caption else tag("caption", caption)
    return tag("table", titled, top, tag("tbody", *rows), **attributes)


def facts(pairs: Iterable[tuple[str, str]]) -> Markup:
    """Return a list of names and their descriptions."""
    return tag("dl", *(part for name, text in pairs for part in (tag("dt", name), tag("dd", text))))


def document(title: str, style: str, *body: str) -> str:
    """Return a page that needs no other file; ``style`` is a style sheet."""
    parts = [
        Markup('<!doctype html>\n<html lang="en">\n<head>'),
        Markup('<meta charset="utf-8">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="color-scheme" content="light dark">'),
        tag("title", title),
        tag("style", Markup(style)),
        Markup("</head>\n<body>"),
        *body,
        Markup("</body>\n</html>\n"),
    ]
    return str(join(parts, "\n"))
