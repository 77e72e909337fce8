"""Show experiments on one page, like a lab report; it needs no other file and no network. Print it as PDF."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from .. import __version__, atomic
from ..errors import OutputError
from ..markup import Markup, document, facts, join, table, tag
from ..plot.page_svg import page_svg, svg_text
from ..views.palettes import page_style
from .runner import names, run
from .study import Experiment, Finding, percent

NAME = "index.html"
TITLE = "The perceptron, by experiment"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
SECONDS = 120.0  # to print a page


def run_all(
    directory: str | os.PathLike[str],
    *,
    quick: bool = False,
    only: Sequence[str] | None = None,
    tables: bool = True,
) -> list[Experiment]:
    """Run experiments, write tables and figures to a directory, and the page that shows them.

    Parameters
    ----------
    directory : path
        For each experiment NAME: NAME.csv and NAME.svg; and index.html.
    quick : bool
        Small plans: about a fifth of the time.
    only : sequence of str, optional
        The names of the experiments; by default all.
    tables : bool
        Whether the page mentions the tables beside it.

    Returns
    -------
    list of Experiment
    """
    every = names() if only is None else only
    done = []
    for place, name in enumerate(every, 1):
        done.append(run(name, quick=quick, directory=directory, heading=f"{place}/{len(every)} "))
        save_figure(done[-1], directory)
    drawn = {one.name: (Path(directory) / f"{one.name}.svg").read_text(encoding="utf-8") for one in done}
    atomic.write_text(Path(directory) / NAME, page(done, drawn, tables=tables))
    return done


def write_pdf(path: str | os.PathLike[str], names: Sequence[str], *, quick: bool = False) -> list[Experiment]:
    """Run some experiments, and write the page that shows them as PDF.

    Parameters
    ----------
    path : path
        The file.
    names : sequence of str
        The experiments.
    quick : bool
        Small plans.

    Returns
    -------
    list of Experiment
    """
    browser = find_browser()
    with tempfile.TemporaryDirectory() as folder:
        every = run_all(folder, quick=quick, only=names, tables=False)
        printed = Path(folder) / "report.pdf"
        print_page(browser, Path(folder) / "index.html", printed)
        atomic.write_bytes(Path(path), printed.read_bytes())
    return every


def save_figure(experiment: Experiment, directory: str | os.PathLike[str]) -> Path:
    """Write the figure as SVG beside its table."""
    path = Path(directory) / f"{experiment.name}.svg"
    atomic.write_text(path, svg_text(experiment.figure, experiment.name))
    return path


def page(experiments: Sequence[Experiment], drawn: Mapping[str, str], *, tables: bool = True) -> str:
    """Return the report on these experiments as HTML, given the SVG text of each figure by its name."""
    checked = [
        finding for experiment in experiments for finding in experiment.findings if finding.holds is not None
    ]
    failed = sum(finding.holds is False for finding in checked)
    outcome: str | Markup = f"All {len(checked)} claims below were checked against the tables and hold."
    if failed:
        told = (
            f"{failed} of the {len(checked)} claims below are NOT confirmed by the tables; they are marked."
        )
        outcome = tag("span", told, class_="fails")
    quick = any(experiment.quick for experiment in experiments)
    size = "the quick plan, with few repetitions" if quick else "the full plan"
    lead = (
        "The exercises and claims of the course in separatrix's documentation, each asked as a question, "
        f"measured, and compared with its theorem. Made by separatrix {__version__} with {size}; all random "
        "numbers are seeded. "
    )
    legend = (
        "Bounds and the largest margin are drawn in orange. Unless the text says otherwise, markers are "
        "medians, and whiskers reach from the smallest to the largest value."
    )
    if tables:
        legend += " The table behind each figure is in the same folder as this page, as CSV."
    head = [tag("th", name) for name in ("experiment", "from", "claims that hold", "closest to its bound")]
    contents = table(head, [_entry(experiment) for experiment in experiments])
    sections = [
        _section(place, experiment, drawn[experiment.name], tables)
        for place, experiment in enumerate(experiments, 1)
    ]
    main = (
        tag("h1", TITLE),
        tag("p", lead, outcome, class_="lead"),
        tag("p", legend, class_="lead"),
        tag("div", contents, class_="scroll"),
        *sections,
    )
    return document(TITLE, page_style(), tag("main", join(main, "\n")))


def _entry(experiment: Experiment) -> list[Markup]:
    checked = [finding for finding in experiment.findings if finding.holds is not None]
    held = sum(bool(finding.holds) for finding in checked)
    nearest = percent(experiment.tightness) if experiment.tightness else ""
    return [
        tag("td", tag("a", experiment.title, href=f"#{experiment.name}")),
        tag("td", experiment.source),
        tag("td", f"{held} of {len(checked)}", class_="" if held == len(checked) else "fails"),
        tag("td", nearest),
    ]


def _section(place: int, experiment: Experiment, svg: str, tables: bool) -> Markup:
    theorem = (experiment.theorem, " ", tag("span", experiment.reference, class_="reference"))
    asked = facts(
        [
            ("Question", experiment.question),
            ("Theorem", join(theorem)),
            ("Method", experiment.method),
        ]
    )
    file = f"{experiment.name}.csv"
    caption = tag("figcaption", f"Figure {place}. {experiment.title}")
    shows = tag("ul", *map(_shown, experiment.findings), class_="shows")
    return tag(
        "section",
        tag("h2", f"{place}. {experiment.title}"),
        tag("p", experiment.source, class_="source"),
        asked,
        tag("figure", page_svg(svg, f"Figure: {experiment.title}"), caption),
        facts([("What it shows", shows)]),
        *(
            [tag("p", "The table: ", tag("a", file, href=file), f", {experiment.n_rows:,} rows.")]
            if tables
            else []
        ),
        id=experiment.name,
        class_="study",
    )


def _shown(finding: Finding) -> Markup:
    kind = {True: "holds", False: "fails", None: "told"}[finding.holds]
    return tag("li", finding.sentence, class_=kind)


def find_browser() -> str:
    """Return a browser that can print without a window."""
    for name in BROWSERS:
        found = shutil.which(name)
        if found is not None:
            return found
    raise OutputError(
        "No browser that can print a page as PDF was found: Chromium, Chrome or Edge is needed.",
        remedy="Install one of them, or name a folder, open its index.html and print it to PDF.",
        parameter="output",
    )


def print_page(browser: str, page: Path, target: Path) -> None:
    """Print a page in the style for paper."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0  # Chromium has no sandbox for root
    with tempfile.TemporaryDirectory() as profile, suppress(OSError, subprocess.SubprocessError):
        command = [
            *(browser, "--headless", "--disable-gpu", "--no-pdf-header-footer"),
            *(["--no-sandbox"] if root else []),
            *(f"--user-data-dir={profile}", f"--print-to-pdf={target}", page.resolve().as_uri()),
        ]
        subprocess.run(command, check=True, capture_output=True, timeout=SECONDS)
    if not target.exists():
        raise OutputError(
            f"The browser {browser!r} wrote no PDF.",
            remedy="Name a folder instead, open its index.html and print it to PDF.",
            parameter="output",
        )
