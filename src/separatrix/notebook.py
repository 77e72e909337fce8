"""Results in notebooks: small, escaped HTML with the colors of the page, light or dark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from . import markup
from .markup import Markup, tag

LEFT = "text-align:left;vertical-align:top"


def card(title: str, facts: Iterable[tuple[str, str]]) -> str:
    """Return a title, and named facts below it."""
    rows = [(tag("th", name, style=LEFT), tag("td", text, style=LEFT)) for name, text in facts]
    return _framed(title, (), rows)


def table(title: str, head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """Return a table with column names."""
    names = [tag("th", name, style=LEFT) for name in head]
    return _framed(title, names, [[tag("td", cell, style=LEFT) for cell in row] for row in body])


def _framed(title: str, head: Iterable[Markup], body: Iterable[Iterable[Markup]]) -> str:
    caption = tag("caption", tag("b", title), style=f"color:inherit;{LEFT}")
    inner = markup.table(head, body, caption, style="color:inherit")
    return tag("div", inner, style="max-width:100%;overflow-x:auto")
