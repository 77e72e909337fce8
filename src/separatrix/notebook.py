"""How answers look in a notebook: small, escaped HTML that takes its colours from the page, light or dark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

LEFT = "text-align:left;vertical-align:top"
WIDTH, HEIGHT = 160, 36  # of a line drawing, in pixels
MOST = 400  # points of one


def card(title: str, facts: Iterable[tuple[str, str]], picture: str = "") -> str:
    """A title, named facts below it, and perhaps a small picture made by `line`."""
    rows = "".join(
        f'<tr><th style="{LEFT}">{escape(name)}</th><td style="{LEFT}">{escape(text)}</td></tr>'
        for name, text in facts
    )
    return _scrolled(f'<table style="color:inherit">{_caption(title)}<tbody>{rows}</tbody></table>{picture}')


def table(title: str, head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """A table with a line of column names."""
    names = "".join(f'<th style="{LEFT}">{escape(name)}</th>' for name in head)
    rows = "".join(
        "<tr>" + "".join(f'<td style="{LEFT}">{escape(cell)}</td>' for cell in row) + "</tr>" for row in body
    )
    return _scrolled(
        f'<table style="color:inherit">{_caption(title)}<thead><tr>{names}</tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


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
    text = escape(f"{label}: from {values[0]:.4g} to {values[-1]:.4g}", quote=True)
    return (
        f'<svg role="img" aria-label="{text}" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}"><title>{text}</title>'
        f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="1.5"/></svg>'
        f'<div style="font-size:smaller">{escape(label)}</div>'
    )


def _caption(title: str) -> str:
    return f'<caption style="color:inherit;{LEFT}"><b>{escape(title)}</b></caption>'


def _scrolled(content: str) -> str:
    return f'<div style="max-width:100%;overflow-x:auto">{content}</div>'
