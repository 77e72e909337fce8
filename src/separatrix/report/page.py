"""The report as one self-contained HTML file: verdict, proof, pictures, bounds, facts."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Iterable
from importlib.metadata import version
from os import PathLike
from typing import Any

import numpy as np

from .. import __version__
from ..atomic import write_text
from ..certificates.claims import Separation
from ..errors import InputError, needs
from ..markup import Markup, document, facts, join, table, tag
from ..proofs.statistics.formula import read_formula
from ..proofs.verdict import Verdict, separability
from ..result import margin_text, often_corrected
from ..views.palettes import page_style
from . import tables, words
from .findings import Findings, investigate
from .remedies import NAMES, remedies
from .tables import Listing, NamedData


def write_report(path: str | PathLike[str], X: Any, y: Any = None, **options: Any) -> None:
    """Write a report on some data as one self-contained HTML file, with verdict, proof and pictures.

    Parameters
    ----------
    path : str or path
    X : rows, or a formula
        A formula such as ``"y ~ a + b"`` needs ``data``, a frame with its variables.
    y : labels
        With rows only.
    **options
        ``title``; ``names`` of the columns; a ``verdict`` and a fitted ``model`` or pipeline (by default,
        both are computed); a ``kernel``, if the report is about its feature space; ``facts`` as pairs of
        text; and ``places``, a function that returns where rows are in a file (by default, rows are counted
        from zero).
        Pictures need the extra ``plot``. A report on a fitted perceptron also shows its mistake bounds.

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
    """Return the text of the file that `write_report` writes."""
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
            "A report on a formula needs a frame with its variables.",
            remedy='Pass write_report(path, "y ~ a + b", data=frame).',
        )
    design = read_formula(formula, frame)
    if "verdict" not in options:
        options["verdict"] = separability(design.X, design.y, fit_intercept=design.intercept)
    left = design.n_data - len(design.y)
    told = (("Formula", formula), *((("Rows left out", f"{left:,} (missing values)"),) if left else ()))
    return design.X, design.y, {**options, "facts": (*told, *options.get("facts", ()))}


def render(findings: Findings) -> str:
    """Return the page of some findings."""
    verdict, data = findings.verdict, findings.data
    wrong = int(np.count_nonzero(findings.model.predict(data.X) != data.y))
    proof = [*_proof(verdict, data), *_next_steps(findings)]
    if findings.prepared:
        proof.append(tag("p", f"All values are those after {findings.prepared}.", class_="note"))
    if verdict.certificate is not None:
        program = tag("code", "separatrix verify")
        exact = "The certificate of this verdict contains the proof in exact numbers. The command "
        checks = " checks it with code that is independent of the solver."
        proof.append(tag("p", exact, program, checks, class_="note"))
    bounds = None if findings.bounds is None else tables.bound_table(findings.bounds)
    parts = (
        _header(findings.title, verdict, _model_words(findings, wrong)),
        _numbers(_counts(findings, wrong)),
        _card("The proof, in words", *proof),
        _pictures(findings),
        Markup() if bounds is None else _card(bounds.title, _table(bounds, title=False)),
        _facts(findings),
    )
    footer = tag("footer", f"Made by separatrix {__version__}. This page needs no network.")
    main = tag("main", join([part for part in parts if part], "\n"))
    return document(f"{findings.title}: {verdict.status}", page_style(), main, footer)


def _model_words(findings: Findings, wrong: int) -> str:
    """Say how many errors a model with a kernel makes; the verdict is about its feature space."""
    if not findings.verdict.kernel:
        return ""
    name, rows = type(findings.model).__name__, f"{len(findings.data.y):,} rows"
    if wrong:
        return f"{name} misclassifies {wrong:,} of {rows}."
    return f"{name} classifies all {rows} correctly."


def _header(title: str, verdict: Verdict, model: str = "") -> Markup:
    answer = tag(
        "div",
        tag("p", title, class_="source"),
        tag("h1", words.answer(verdict)),
        tag("p", " ".join(filter(None, (verdict.meaning, model)))),
    )
    # Separation is good for a classifier and bad for a regression, so the sign only says what is proved.
    proved = verdict.status != Separation.UNDECIDED
    told = "proved" if proved else "not proved"
    sign = tag("span", "✓" if proved else "?", class_="sign", role="img", aria_label=told, title=told)
    return tag("header", sign, answer, class_=f"verdict {'proved' if proved else 'open'}")


def _numbers(shown: list[tuple[str, str]]) -> Markup:
    boxes = (tag("div", tag("b", value), tag("span", name)) for value, name in shown)
    return tag("section", *boxes, class_="numbers")


def _counts(findings: Findings, wrong: int) -> list[tuple[str, str]]:
    data, run = findings.data, findings.run
    rows, columns = data.X.shape
    kind = findings.verdict.margin_kind.replace("origin", "through the origin")
    where = ", in feature space" if findings.verdict.kernel else ""
    shown = [
        (f"{rows:,}", "row" if rows == 1 else "rows"),
        (f"{columns:,}", "feature" if columns == 1 else "features"),
        (f"{np.unique(data.y).size:,}", "classes"),
        (margin_text(*findings.verdict.margin, 3), f"best margin ({kind}{where}), proved"),
    ]
    if run is not None:
        made, kept = run.mistakes, run.kept_mistakes
        shown.append((f"{made:,}", "updates" + often_corrected(run)))
        if kept != made:
            shown.append((f"{kept:,}", "updates before the best weights, which were kept"))
    return [*shown, (f"{wrong:,}", f"rows that {type(findings.model).__name__} misclassifies")]


def _proof(verdict: Verdict, data: NamedData) -> list[Markup]:
    parts = [tag("p", f"Question: {verdict.question}.", class_="question")]
    parts += [tag("p", sentence) for sentence in words.proof(verdict)]
    parts += [_table(tables.parts_table(verdict)), _table(tables.witness_table(verdict, data))]
    if after := words.consequence(verdict):
        parts += [tag("p", after), _table(tables.variable_table(verdict, data))]
    return parts


def _next_steps(findings: Findings) -> list[Markup]:
    """Return the remedies, as the terminal shows them."""
    ways = remedies(findings.verdict, findings.data)
    if not ways:
        return []
    listed = []
    for way in ways:
        lines = [
            tag(
                "pre",
                tag("span", f"{language}: ", class_="note"),
                tag("code", line),
                class_="scroll",
                tabindex="0",
            )
            for language, line in way.code
        ]
        listed.append(tag("li", tag("b", f"{way.name}. "), way.when, *lines))
    return [tag("h3", "What to do next"), tag("ul", *listed, class_="ways"), tag("p", NAMES, class_="note")]


def _pictures(findings: Findings) -> Markup:
    with needs("A report with pictures", extra="plot"):
        from . import figures  # late: a page about a verdict alone has no pictures
    view, run = figures.View(findings), findings.run
    drawn = [figures.boundary(view), figures.margins(view), figures.weights(view)]
    if run is not None and run.history:
        drawn.append(figures.bracket(run.history))
    boxes = [each for each in drawn if each is not None]
    model = tag("code", type(findings.model).__name__)
    intro = tag("p", "The pictures show the classifier ", model, ".", class_="note")
    counts = None if run is None else findings.model.mistake_counts_
    hard = tables.hardest_table(findings.data, counts, view.leads, view.unit)
    pictures = tag("section", tag("h2", "Pictures"), intro, tag("div", *boxes, class_="grid"))
    return join([pictures, _card(hard.title, _table(hard, title=False))])


def _facts(findings: Findings) -> Markup:
    data, certificate = findings.data, findings.verdict.certificate
    known = [
        ("Data", findings.title),
        *findings.facts,
        ("Classes", tables.class_counts(data.y)),
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
    """Return a cell of a table; short text is not wrapped."""
    style = "number" if column.startswith(">") else "short" if len(text) <= 32 else ""
    return tag(kind, text, class_=style)
