"""One HTML file that needs nothing else: verdict, proof, pictures, bounds, facts."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Iterable
from html import escape
from importlib import resources
from importlib.metadata import version
from os import PathLike
from typing import Any

import numpy as np

from .. import __version__
from ..atomic import write_text
from ..views.palettes import DARK, LIGHT, Palette
from . import figures, tables, words
from .figures import Figure, View
from .findings import Findings, investigate
from .svg import mark
from .tables import Table

SHORT = 32  # characters that stay on one line of a table
SIGNS = {"separable": "✓", "quasi-separable": "≈", "overlapping": "✕", "inseparable": "✕", "undecided": "?"}
KINDS = {
    "separable": "yes",
    "quasi-separable": "almost",
    "overlapping": "no",
    "inseparable": "no",
    "undecided": "open",
}


def write_report(path: str | PathLike[str], X: Any, y: Any, **options: Any) -> None:
    """Write what there is to know about some data as one self-contained HTML file.

    Parameters
    ----------
    path : str or path
    X, y : rows and labels
    **options
        ``title``, ``names`` of the columns, a ``verdict`` and a fitted ``model`` if there are any (they
        are found out if not), and ``facts`` as pairs of text.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import separatrix as sx
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sx.write_report(pathlib.Path(folder) / "report.html", [[0.0], [1.0], [3.0]], ["a", "a", "b"])
    ...     "Yes: the classes can be separated." in (pathlib.Path(folder) / "report.html").read_text("utf-8")
    True
    """
    with warnings.catch_warnings():
        # A model that was fitted on a frame is asked about its numbers here.
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        write_text(path, render(investigate(X, y, **options)))


def render(findings: Findings) -> str:
    """The page as text."""
    verdict = findings.verdict
    view = View(findings)
    kind = KINDS[verdict.status]
    header = (
        f'<header class="verdict {kind}"><span class="sign" aria-hidden="true">{SIGNS[verdict.status]}</span>'
        f"<div><p class='source'>{escape(findings.title)}</p><h1>{escape(words.answer(verdict))}</h1>"
        f"<p>{escape(words.meaning(verdict))}</p></div></header>"
    )
    body = [
        header,
        _numbers(findings),
        _proof(findings),
        _pictures(findings, view),
        _bounds(findings),
        _facts(findings),
    ]
    return PAGE.format(
        title=escape(f"{findings.title}: {verdict.status}"),
        style=_style(),
        body="\n".join(part for part in body if part),
        release=escape(__version__),
    )


def _numbers(findings: Findings) -> str:
    data, verdict, run = findings.data, findings.verdict, findings.run
    shown = [
        (f"{data.X.shape[0]:,}", "rows"),
        (f"{data.X.shape[1]:,}", "features"),
        (f"{np.unique(data.y).size:,}", "classes"),
        (_margin(verdict.margin), "best margin, proved"),
    ]
    if run is not None:
        shown.append((f"{run.mistakes_:,}", "mistakes of the perceptron"))
        if run.result_.errors is not None:
            shown.append((f"{run.result_.errors:,}", "errors it left"))
    cells = "".join(f"<div><b>{escape(value)}</b><span>{escape(name)}</span></div>" for value, name in shown)
    return f'<section class="numbers">{cells}</section>'


def _margin(margin: tuple[float, float]) -> str:
    lower, upper = max(0.0, margin[0]), margin[1]
    if upper <= 0.0:
        return "none"
    return f"{upper:.3g}" if f"{lower:.3g}" == f"{upper:.3g}" else f"{lower:.3g} to {upper:.3g}"


def _proof(findings: Findings) -> str:
    verdict, data = findings.verdict, findings.data
    parts = ["<h2>The proof, in words</h2>", f"<p class='question'>{escape(verdict.question)}.</p>"]
    parts += [f"<p>{escape(sentence)}</p>" for sentence in words.proof(verdict)]
    parts.append(_table(tables.parts_table(verdict)))
    parts.append(_table(tables.witness_table(verdict, data)))
    after = words.consequence(verdict)
    if after:
        parts.append(f"<p>{escape(after)}</p>")
        parts.append(_table(tables.variable_table(verdict, data)))
    if verdict.certificate is not None:
        parts.append(
            "<p class='note'>The certificate holds all of this as exact numbers; <code>separatrix "
            "verify</code> checks it with code that solved nothing.</p>"
        )
    return f'<section class="card">{"".join(parts)}</section>'


def _pictures(findings: Findings, view: View) -> str:
    run = findings.run
    drawn: list[Figure | None] = [figures.boundary(view), figures.margins(view), figures.weights(view)]
    if run is not None:
        history = run.result_.history
        drawn.append(figures.hardest(view, run.mistake_counts_))
        if history:
            drawn += [figures.mistakes(history), figures.bracket(history)]
    legend = _legend(view.names)
    boxes = [_figure(each, legend if k < 2 else "") for k, each in enumerate(drawn) if each is not None]
    model = type(findings.model).__name__
    intro = f"The boundary, margins and weights are those of <code>{escape(model)}</code>"
    intro += "; mistakes are those of the perceptron." if run is not findings.model else "."
    hard = tables.hardest_table(
        findings.data, None if run is None else run.mistake_counts_, view.leads, view.unit
    )
    return (
        f'<section><h2>Pictures</h2><p class="note">{intro}</p>'
        f'<div class="grid">{"".join(boxes)}</div></section>'
        f'<section class="card"><h2>{escape(hard.title)}</h2>{_table(hard, title=False)}</section>'
    )


def _figure(figure: Figure, legend: str) -> str:
    return (
        f"<figure><h3>{escape(figure.title)}</h3>{legend}{figure.svg}"
        f"<figcaption>{escape(figure.caption)}</figcaption></figure>"
    )


def _legend(names: list[str]) -> str:
    shown = names[:8]
    keys = "".join(
        f'<span><svg viewBox="-6 -6 12 12" class="key" aria-hidden="true"><path d="{mark(k, 0.0, 0.0, 4.5)}" '
        f'class="c{k % 8}"/></svg>{escape(name)}</span>'
        for k, name in enumerate(shown)
    )
    more = f"<span>and {len(names) - 8} more</span>" if len(names) > 8 else ""
    return f'<p class="legend">{keys}{more}</p>'


def _bounds(findings: Findings) -> str:
    if findings.bounds is None:
        return ""
    table = tables.bound_table(findings.bounds)
    return f'<section class="card"><h2>{escape(table.title)}</h2>{_table(table, title=False)}</section>'


def _facts(findings: Findings) -> str:
    data, certificate = findings.data, findings.verdict.certificate
    labels, counts = np.unique(data.y, return_counts=True)
    listed = ", ".join(f"{label} ({count:,})" for label, count in zip(labels[:12], counts[:12], strict=True))
    facts = [
        ("Data", findings.title),
        *findings.facts,
        ("Classes", listed + (f" and {labels.size - 12} more" if labels.size > 12 else "")),
        ("Features", _some(data.names)),
    ]
    if certificate is not None:
        facts.append(("SHA-256 of the data", certificate.sha256))
    facts += [
        ("separatrix", __version__),
        ("Python", platform.python_version()),
        *((name, version(name)) for name in ("numpy", "scikit-learn")),
    ]
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts)
    return f'<section class="card"><h2>Data and versions</h2><dl>{rows}</dl></section>'


def _some(names: Iterable[str], limit: int = 20) -> str:
    listed = list(names)
    more = f" and {len(listed) - limit:,} more" if len(listed) > limit else ""
    return ", ".join(listed[:limit]) + more


def _table(table: Table | None, *, title: bool = True) -> str:
    if table is None:
        return ""
    head = "".join(_cell("th", column.removeprefix(">"), column) for column in table.columns)
    body = "".join(
        "<tr>"
        + "".join(_cell("td", text, column) for text, column in zip(row, table.columns, strict=True))
        + "</tr>"
        for row in table.rows
    )
    caption = f"<caption>{escape(table.title)}</caption>" if title else ""
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    filled = f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="scroll">{filled}</div>{note}'


def _cell(kind: str, text: str, column: str) -> str:
    style = "number" if column.startswith(">") else "short" if len(text) <= SHORT else ""
    return f'<{kind} class="{style}">{escape(text)}</{kind}>'


def _style() -> str:
    sheet = resources.files(__package__).joinpath("style.css").read_text("utf-8")
    return sheet.replace("/*light*/", _colours(LIGHT)).replace("/*dark*/", _colours(DARK))


def _colours(palette: Palette) -> str:
    classes = "".join(f"--c{k}:{palette.color(k)};" for k in range(8))
    return (
        f"--paper:{palette.paper};--ink:{palette.ink};--muted:{palette.muted};--faint:{palette.faint};"
        f"--accent:{palette.accent};{classes}"
    )


PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
{body}
</main>
<footer>Made by separatrix {release}. This page needs no network.</footer>
</body>
</html>
"""
