"""How answers look in a notebook: small, escaped HTML that takes its colours from the page, light or dark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from . import markup
from .markup import Markup, tag

LEFT = "text-align:left;vertical-align:top"
WIDTH, HEIGHT = 160, 36  # of a line drawing, in pixels
MOST = 400  # points of one


def card(title: str, facts: Iterable[tuple[str, str]], picture: str = "") -> str:
    """A title, named facts below it, and perhaps a small picture made by `line`."""
    rows = [(tag("th", name, style=LEFT), tag("td", text, style=LEFT)) for name, text in facts]
    return _framed(title, (), rows, picture)


def table(title: str, head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """A table with a line of column names."""
    names = [tag("th", name, style=LEFT) for name in head]
    return _framed(title, names, [[tag("td", cell, style=LEFT) for cell in row] for row in body])


def line(values: Sequence[float], label: str) -> str:
    """A line through the values, as wide as a word or two; nothing where there is no line to draw."""
    if len(values) < 2:
        return ""
    step = max(1, -(-len(values) // MOST))
    shown = [*values[::step], values[-1]]
    low, high = min(shown), max(shown)
    spread = (high - low) or 1.0
    points = " ".join(
        f"{2 + (WIDTH - 4) * i / (len(shown) - 1):.1f},{HEIGHT - 3 - (HEIGHT - 6) * (v - low) / spread:.1f}"
        for i, v in enumerate(shown)
    )
    text = f"{label}: from {values[0]:.4g} to {values[-1]:.4g}"
    drawn = tag("polyline", points=points, fill="none", stroke="currentColor", stroke_width="1.5")
    picture = tag(
        "svg",
        tag("title", text),
        drawn,
        role="img",
        aria_label=text,
        width=WIDTH,
        height=HEIGHT,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
    )
    return picture + tag("div", label, style="font-size:smaller")


def _framed(title: str, head: Iterable[Markup], body: Iterable[Iterable[Markup]], picture: str = "") -> str:
    caption = tag("caption", tag("b", title), style=f"color:inherit;{LEFT}")
    inner = markup.table(head, body, caption, style="color:inherit")
    return tag("div", inner, Markup(picture), style="max-width:100%;overflow-x:auto")
