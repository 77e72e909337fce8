"""The report as one self-contained HTML file: verdict, proof, pictures, bounds, facts."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from os import PathLike
from typing import Any

import numpy as np

from .. import __version__
from ..atomic import write_text
from ..errors import InputError, needs
from ..markup import Markup, document, facts, join, table, tag
from ..proofs.existence import Estimate
from ..proofs.statistics.formula import read_formula
from ..proofs.verdict import separability
from ..result import margin_text, often_corrected
from ..views.palettes import page_style
from . import tables, words
from .findings import Findings, investigate
from .remedies import Remedy, remedies
from .tables import Listing, NamedData

# Buttons copy the code beside them, and a printed page shows the details.
SCRIPT = """
for (const button of document.querySelectorAll(".code button"))
  button.onclick = async () => {
    await navigator.clipboard.writeText(button.previousElementSibling.textContent);
    button.textContent = "Copied";
  };
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
"""


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
        both are computed); the ``fewest`` errors, as `fewest_errors` returned them, for a section about the
        rows in the way; a ``kernel``, if the report is about its feature space; ``facts`` as pairs of
        text; ``places``, a function that returns where rows are in a file (by default, rows are counted
        from zero); and the ``origin`` of the data, for lines of code that name the file.
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
    """Return the page of some findings: the verdict, what to do, one picture; the rest as details."""
    ways = remedies(findings.verdict, findings.data, findings.origin)
    advised = 0 if findings.given else 1  # remedies are for regressions
    pictures = _pictures(findings)
    details = (
        _proof(findings),
        _fewest(findings),
        _next_steps(ways[advised:]),
        _numbers(findings),
        *pictures[1:],
        _bounds(findings),
        _facts(findings),
    )
    main = tag(
        "main",
        _header(findings),
        _action(ways[:advised], findings.origin.words),
        pictures[0],
        tag("details", tag("summary", "Details"), *details, class_="rest"),
    )
    return _document(f"{findings.title}: {findings.verdict.status}", main)


def _document(title: str, main: Markup) -> str:
    footer = tag("footer", f"Made by separatrix {__version__}. This page needs no network.")
    return document(title, page_style(), main, footer, tag("script", Markup(SCRIPT)))


def estimate_text(
    found: Estimate,
    data: NamedData,
    ways: Sequence[Remedy],
    names: str,
    title: str,
    known: Iterable[tuple[str, str]],
) -> str:
    """Return the page about the estimate of a regression: the answer, what to do, coefficients and rows."""
    tone = words.OPEN if found.exists is None else words.GOOD if found.exists else words.CAUTION
    notes = [("Left out", found.dropped), ("Note", found.note)]
    left = "" if found.divides_strata else "Without these rows, these estimates are finite: "
    certificate = found.certificate
    hashed = () if certificate is None else (("SHA-256 of the data", certificate.sha256),)
    about = [("Data", title), ("Model", found.title), *known, *(note for note in notes if note[1]), *hashed]
    main = tag(
        "main",
        _banner(tone, title, f"{found.headline[0].upper()}{found.headline[1:]}", []),
        _action(ways[:1], names),
        _card("Coefficients", _table(tables.coefficient_table(found), title=False)),
        _card("The rows responsible", _table(tables.responsible_table(found, data)))
        if found.responsible_rows.size
        else Markup(),
        _card("What stays estimable", tag("p", f"{left}{_some(found.estimable) or 'none'}."))
        if found.find_rest is not None
        else Markup(),
        _next_steps(ways[1:]),
        _card("Data and versions", facts([*about, *_versions()])),
    )
    return _document(f"{title}: {found.title}", main)


def _header(findings: Findings) -> Markup:
    verdict = findings.verdict
    more = [_model_words(findings)] if findings.given else tables.infinite_words(verdict)
    tone = words.tone(verdict, regression=not findings.given)
    headline = words.headline(verdict, regression=not findings.given)
    return _banner(tone, findings.title, headline, [words.plain(verdict), *more])


def _banner(tone: tuple[str, str, str], source: str, headline: str, more: Sequence[str]) -> Markup:
    """Show the answer, with a sign that says how good it is."""
    style, sign, told = tone
    after = [tag("p", " ".join(more))] if more else []
    answer = tag("div", tag("p", source, class_="source"), tag("h1", headline), *after)
    mark = tag("span", sign, class_="sign", role="img", aria_label=told, title=told)
    return tag("header", mark, answer, class_=f"verdict {style}")


def _model_words(findings: Findings) -> str:
    """Say how many rows a classifier that was given gets wrong."""
    name, rows, wrong = type(findings.model).__name__, f"{len(findings.data.y):,} rows", findings.errors
    if wrong:
        return f"{name} misclassifies {wrong:,} of {rows}."
    return f"{name} classifies all {rows} correctly."


def _action(ways: Sequence[Remedy], names: str) -> Markup:
    """Show the remedy that is recommended, with a button that copies its line of code."""
    if not ways:
        return Markup()
    return _card("What to do", _way(ways[0]), tag("p", names, class_="note"))


def _way(way: Remedy) -> Markup:
    lines = [
        tag(
            "div",
            tag("span", language, class_="language"),
            tag("pre", tag("code", line), tabindex="0"),
            tag("button", "Copy", type="button"),
            class_="code",
        )
        for language, line in way.code
    ]
    return tag("div", tag("p", tag("b", f"{way.name}. "), way.when), *lines, class_="way")


def _next_steps(ways: Sequence[Remedy]) -> Markup:
    return _card("Other remedies for a regression", *map(_way, ways)) if ways else Markup()


def _numbers(findings: Findings) -> Markup:
    """Show the numbers of the data and of the model, each model with its name."""
    data, run, margin = findings.data, findings.run, findings.verdict.margin
    rows, columns = data.X.shape
    kind = findings.verdict.margin_kind.replace("origin", "through the origin")
    where = ", in feature space" if findings.verdict.kernel else ""
    about_data = [
        (f"{rows:,}", "row" if rows == 1 else "rows"),
        (f"{columns:,}", "feature" if columns == 1 else "features"),
        (f"{np.unique(data.y).size:,}", "classes"),
        (margin_text(*margin, 3), f"best margin ({kind}{where}), proved"),
    ]
    about_model = [(f"{findings.errors:,}", "misclassified rows")]
    if run is not None:
        about_model.append((f"{run.mistakes:,}", "updates" + often_corrected(run)))
        if run.kept_mistakes != run.mistakes:
            about_model.append((f"{run.kept_mistakes:,}", "updates before the best weights, which were kept"))
    return join([_tiles("The data", about_data), _tiles(type(findings.model).__name__, about_model)])


def _tiles(title: str, shown: list[tuple[str, str]]) -> Markup:
    boxes = (tag("div", tag("b", value), tag("span", name)) for value, name in shown)
    return _card(title, tag("div", *boxes, class_="numbers"))


def _proof(findings: Findings) -> Markup:
    verdict, data = findings.verdict, findings.data
    parts = [tag("p", f"Question: {verdict.question}.", class_="question")]
    parts += [tag("p", sentence) for sentence in words.proof(verdict)]
    parts += [_table(tables.parts_table(verdict)), _table(tables.witness_table(verdict, data))]
    if after := words.consequence(verdict):
        parts += [tag("p", after), _table(tables.variable_table(verdict, data))]
    if findings.prepared:
        parts.append(tag("p", f"All values are those after {findings.prepared}.", class_="note"))
    if verdict.certificate is not None:
        program = tag("code", "separatrix verify")
        exact = "The certificate of this verdict contains the proof in exact numbers. The command "
        checks = " checks it with code that is independent of the solver."
        parts.append(tag("p", exact, program, checks, class_="note"))
    return _card("The proof, in words", *parts)


def _fewest(findings: Findings) -> Markup:
    found = findings.fewest
    if found is None:
        return Markup()
    labels = "Rows with wrong labels are often among these: look for label errors here first."
    listing = _table(tables.wrong_table(found, findings.data))
    return _card(
        "Nearly separable: these rows", tag("p", found.summary()), listing, tag("p", labels, class_="note")
    )


def _pictures(findings: Findings) -> list[Markup]:
    """Return the picture of the boundary first, then the others and the hardest rows."""
    with needs("A report with pictures", extra="plot"):
        from . import figures  # late: a page about a verdict alone has no pictures
    view, run = figures.View(findings), findings.run
    drawn = [figures.margins(view), figures.weights(view)]
    if run is not None and run.history:
        drawn.append(figures.bracket(run.history))
    boxes = [each for each in drawn if each is not None]
    counts = None if run is None else findings.model.mistake_counts_
    hard = tables.hardest_table(findings.data, counts, view.leads, view.unit)
    return [
        figures.boundary(view),
        tag("section", tag("div", *boxes, class_="grid")),
        _card(hard.title, _table(hard, title=False)),
    ]


def _bounds(findings: Findings) -> Markup:
    if findings.bounds is None:
        return Markup()
    bounds = tables.bound_table(findings.bounds)
    return _card(bounds.title, _table(bounds, title=False))


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
    return _card("Data and versions", facts([*known, *_versions()]))


def _versions() -> list[tuple[str, str]]:
    return [
        ("separatrix", __version__),
        ("Python", platform.python_version()),
        *((name, version(name)) for name in ("numpy", "scikit-learn")),
    ]


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
