"""One HTML file that needs nothing else: verdict, proof, pictures, bounds, facts."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Iterable
from importlib import resources
from importlib.metadata import version
from os import PathLike
from typing import Any

import numpy as np

from .. import __version__
from ..atomic import write_text
from ..errors import InputError, needs
from ..estimators.kernel import KernelPerceptron
from ..markup import Markup, document, facts, join, table, tag
from ..proofs.statistics.formula import read_formula
from ..proofs.verdict import Verdict, separability
from ..result import margin_text
from ..views.palettes import DARK, LIGHT
from . import tables, words
from .findings import Findings, investigate, updates
from .remedies import remedies
from .tables import Listing, NamedData


def write_report(path: str | PathLike[str], X: Any, y: Any = None, **options: Any) -> None:
    """Write a report on some data as one self-contained HTML file: verdict, proof, pictures, bounds.

    Parameters
    ----------
    path : str or path
    X : rows, a formula, or a Verdict
        A formula such as ``"y ~ a + b"`` needs ``data``, a frame with its variables. For a verdict alone, the
        page has no pictures, because they need the rows: ``write_report(path, X, y, verdict=verdict)``.
    y : labels
        With rows only.
    **options
        ``title``, ``names`` of the columns, a ``verdict`` and a fitted ``model`` or pipeline if there are any
        (they are computed if not), a ``kernel`` in whose feature space to ask, ``facts`` as pairs of text,
        and ``places``, which says where rows are in a file: without it they are counted from zero. Pictures
        need the extra ``plot``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import separatrix as sx
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sx.write_report(pathlib.Path(folder) / "report.html", [[0.0], [1.0], [3.0]], ["a", "a", "b"])
    ...     "Yes: the classes can be separated" in (pathlib.Path(folder) / "report.html").read_text("utf-8")
    True
    """
    write_text(path, report_text(X, y, **options))


def report_text(X: Any, y: Any = None, **options: Any) -> str:
    """The text of the file that `write_report` writes."""
    if isinstance(X, Verdict):
        if y is not None or set(options) - {"title"}:
            raise InputError(
                "A report on a verdict alone has no rows.",
                remedy="Pass write_report(path, X, y, verdict=verdict), or the verdict alone.",
            )
        return render_verdict(X, **options)
    if isinstance(X, str):
        X, y, options = _by_formula(X, y, options)
    if y is None:
        raise InputError("A report needs labels.", remedy="Pass write_report(path, X, y).")
    with warnings.catch_warnings():
        # A model that was fitted on a frame is asked about its numbers here.
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        return render(investigate(X, y, **options))


def _by_formula(formula: str, y: Any, options: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    frame = options.pop("data", None)
    if y is not None or frame is None:
        raise InputError(
            "With a formula, labels and columns come from a frame.",
            remedy='Pass write_report(path, "y ~ a + b", data=frame).',
        )
    design = read_formula(formula, frame)
    if "verdict" not in options:
        options["verdict"] = separability(design.X, design.y, fit_intercept=design.intercept)
    left = design.n_data - len(design.y)
    told = (("Formula", formula), *((("Rows left out", f"{left:,}, which lack a value"),) if left else ()))
    return design.X, design.y, {**options, "facts": (*told, *options.get("facts", ()))}


def render_verdict(verdict: Verdict, title: str = "Data") -> str:
    """The page of a verdict without its data: what it says, and the rows and weights that prove it."""
    sha256 = [] if verdict.certificate is None else [("SHA-256 of the data", verdict.certificate.sha256)]
    known = [("Data", title), *sha256, ("separatrix", __version__)]
    numbers = [(f"{verdict.n_rows:,}", "rows"), _margin(verdict)]
    parts = (
        _header(title, verdict),
        _numbers(numbers),
        _card("The proof, in words", *_proof(verdict, None)),
        _card("Data and versions", facts(known)),
    )
    return _document(title, verdict, parts)


def render(findings: Findings) -> str:
    """The page as text."""
    verdict, data = findings.verdict, findings.data
    wrong = int(np.count_nonzero(findings.model.predict(data.X) != data.y))
    proof = [*_proof(verdict, data), *_next_steps(findings)]
    if findings.prepared:
        proof.append(tag("p", f"All values are those after {findings.prepared}.", class_="note"))
    if verdict.certificate is not None:
        program = tag("code", "separatrix verify")
        exact = "The certificate contains all of this as exact numbers. The command "
        checks = " checks it with code that is independent of the solver."
        proof.append(tag("p", exact, program, checks, class_="note"))
    bounds = None if findings.bounds is None else tables.bound_table(findings.bounds)
    parts = (
        _header(findings.title, verdict, findings.planes, _model_words(findings, wrong)),
        _numbers(_counts(findings, wrong)),
        _card("The proof, in words", *proof),
        _pictures(findings),
        Markup() if bounds is None else _card(bounds.title, _table(bounds, title=False)),
        _facts(findings),
    )
    return _document(findings.title, verdict, parts)


def _document(title: str, verdict: Verdict, parts: Iterable[Markup]) -> str:
    footer = tag("footer", f"Made by separatrix {__version__}. This page needs no network.")
    main = tag("main", join([part for part in parts if part], "\n"))
    return document(f"{title}: {verdict.status}", _style(), main, footer)


def _model_words(findings: Findings, wrong: int) -> str:
    """How the model itself does if it has a kernel: the answer is about its feature space."""
    if not findings.verdict.kernel:
        return ""
    name, rows = type(findings.model).__name__, f"{len(findings.data.y):,} rows"
    if wrong:
        return f"{name} gives {wrong:,} of {rows} a wrong class."
    return f"{name} gives all {rows} their own class."


def _header(title: str, verdict: Verdict, planes: Verdict | None = None, model: str = "") -> Markup:
    other = [] if planes is None else [tag("p", f"Without a kernel: {words.answer(planes)}")]
    answer = tag(
        "div",
        tag("p", title, class_="source"),
        tag("h1", words.answer(verdict)),
        tag("p", " ".join(filter(None, (verdict.meaning, model)))),
        *other,
    )
    # Separation is good for a classifier and bad for a regression: the sign says whether it is proved.
    proved = verdict.status != "undecided"
    told = "proved" if proved else "not proved"
    sign = tag("span", "✓" if proved else "?", class_="sign", role="img", aria_label=told, title=told)
    return tag("header", sign, answer, class_=f"verdict {'proved' if proved else 'open'}")


def _numbers(shown: list[tuple[str, str]]) -> Markup:
    boxes = (tag("div", tag("b", value), tag("span", name)) for value, name in shown)
    return tag("section", *boxes, class_="numbers")


def _counts(findings: Findings, wrong: int) -> list[tuple[str, str]]:
    data, run = findings.data, findings.run
    rows, columns = data.X.shape
    shown = [
        (f"{rows:,}", "row" if rows == 1 else "rows"),
        (f"{columns:,}", "feature" if columns == 1 else "features"),
        (f"{np.unique(data.y).size:,}", "classes"),
        _margin(findings.verdict),
    ]
    if run is not None:
        made, kept = updates(run.result_)
        whose = "kernel perceptron" if isinstance(run, KernelPerceptron) else "perceptron"
        shown.append((f"{made:,}", f"updates of the {whose}"))
        if kept != made:
            shown.append((f"{kept:,}", "updates behind the weights it kept"))
    return [*shown, (f"{wrong:,}", f"rows that {type(findings.model).__name__} gets wrong")]


def _margin(verdict: Verdict) -> tuple[str, str]:
    kind = "through the origin" if verdict.margin_kind == "origin" else verdict.margin_kind
    where = ", in feature space" if verdict.kernel else ""
    return margin_text(*verdict.margin, 3), f"best margin ({kind}{where}), proved"


def _proof(verdict: Verdict, data: NamedData | None) -> list[Markup]:
    parts = [tag("p", f"{verdict.question}.", class_="question")]
    parts += [tag("p", sentence) for sentence in words.proof(verdict)]
    parts += [_table(tables.parts_table(verdict)), _table(tables.witness_table(verdict, data))]
    if after := words.consequence(verdict):
        parts += [tag("p", after), _table(tables.variable_table(verdict, data))]
    return parts


def _next_steps(findings: Findings) -> list[Markup]:
    """What to do about separation, as on the terminal."""
    ways = remedies(findings.verdict, findings.data)
    if not ways:
        return []
    listed = []
    for way in ways:
        lines = [tag("pre", tag("code", line), class_="scroll", tabindex="0") for _, line in way.code]
        listed.append(tag("li", tag("b", f"{way.name}. "), way.when, *lines))
    return [tag("h3", "What to do next"), tag("ul", *listed, class_="ways")]


def _pictures(findings: Findings) -> Markup:
    with needs("A report with pictures", extra="plot"):
        from . import figures  # late: a page about a verdict alone has no pictures
    view, run = figures.View(findings), findings.run
    drawn = [figures.boundary(view), figures.margins(view), figures.weights(view)]
    if run is not None and run.result_.history:
        drawn += [figures.mistakes(run.result_), figures.bracket(run.result_.history)]
    boxes = [
        tag("figure", tag("h3", each.title), each.svg, tag("figcaption", each.caption))
        for each in drawn
        if each is not None
    ]
    model = tag("code", type(findings.model).__name__)
    whose = (
        "; updates are those of a perceptron in the data's own space." if run is not findings.model else "."
    )
    intro = tag("p", "The boundary, margins and weights are those of ", model, whose, class_="note")
    hard = tables.hardest_table(
        findings.data, None if run is None else run.mistake_counts_, view.leads, view.unit
    )
    pictures = tag("section", tag("h2", "Pictures"), intro, tag("div", *boxes, class_="grid"))
    return join([pictures, _card(hard.title, _table(hard, title=False))])


def _facts(findings: Findings) -> Markup:
    data, certificate = findings.data, findings.verdict.certificate
    labels, counts = np.unique(data.y, return_counts=True)
    listed = ", ".join(f"{label} ({count:,})" for label, count in zip(labels[:12], counts[:12], strict=True))
    known = [
        ("Data", findings.title),
        *findings.facts,
        ("Classes", listed + (f" and {labels.size - 12} more" if labels.size > 12 else "")),
        ("Features", _some(data.names)),
    ]
    if certificate is not None:
        known.append(("SHA-256 of the data", certificate.sha256))
    known += [
        ("separatrix", __version__),
        ("Python", platform.python_version()),
        *((name, version(name)) for name in ("numpy", "scikit-learn")),
    ]
    return _card("Data and versions", facts(known))


def _card(title: str, *content: str) -> Markup:
    return tag("section", tag("h2", title), *content, class_="card")


def _some(names: Iterable[str], limit: int = 20) -> str:
    listed = list(names)
    more = f" and {len(listed) - limit:,} more" if len(listed) > limit else ""
    return ", ".join(listed[:limit]) + more


def _table(listing: Listing | None, *, title: bool = True) -> Markup:
    if listing is None:
        return Markup()
    head = [_cell("th", column.removeprefix(">"), column) for column in listing.columns]
    body = [
        [_cell("td", text, column) for text, column in zip(row, listing.columns, strict=True)]
        for row in listing.rows
    ]
    filled = tag("div", table(head, body, listing.title if title else ""), class_="scroll", tabindex="0")
    note = tag("p", listing.note, class_="note") if listing.note else Markup()
    return join([filled, note])


def _cell(kind: str, text: str, column: str) -> Markup:
    """A cell of a table; short text stays on one line."""
    style = "number" if column.startswith(">") else "short" if len(text) <= 32 else ""
    return tag(kind, text, class_=style)


def _style() -> str:
    sheet = resources.files(__package__).joinpath("style.css").read_text("utf-8")
    for name, palette in (("light", LIGHT), ("dark", DARK)):
        colors = "".join(f"--{variable}:{color};" for variable, color in palette.variables.items())
        sheet = sheet.replace(f"/*{name}*/", colors)
    return sheet
