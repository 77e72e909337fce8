"""Show all experiments on one page, like a lab report; it needs no other file and no network."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from .. import __version__, atomic
from ..markup import Markup, document, facts, join, table, tag
from ..plot.page_svg import page_svg, svg_text
from ..views.palettes import DARK, LIGHT, Palette
from .runner import names, run
from .study import Experiment, Finding, percent

NAME = "index.html"
TITLE = "The perceptron, by experiment"

STYLE = """
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 var(--sans); }
main { max-width: 58rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .4rem; }
h2 { font-size: 1.35rem; line-height: 1.25; margin: 0 0 .2rem; }
a { color: var(--link); }
.lead, .source { color: var(--muted); }
.source { margin: 0 0 .9rem; font-size: .92rem; }
section { border-top: 1px solid var(--faint); margin-top: 2.6rem; padding-top: 1.6rem; }
dl { margin: 0; display: grid; grid-template-columns: 7.2rem 1fr; gap: .55rem 1rem; }
dt { font-weight: 600; }
dd { margin: 0; }
figure { margin: 1.4rem 0 1.2rem; }
figure svg { display: block; width: 100%; height: auto; margin: 0 auto; }
figcaption { color: var(--muted); font-size: .92rem; margin-top: .5rem; }
ul.shows { margin: 0; padding: 0; list-style: none; }
ul.shows li { padding-left: 1.5rem; position: relative; margin-bottom: .3rem; }
ul.shows li::before { position: absolute; left: 0; font-weight: 700; }
li.holds::before { content: "\\2713"; color: var(--good); }
li.told::before { content: "\\2013"; color: var(--muted); }
li.fails::before { content: "\\2717"; }
.fails { color: var(--bad); font-weight: 600; }
.reference { color: var(--muted); font-size: .92rem; }
table { border-collapse: collapse; font-size: .86rem; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .28rem .6rem .28rem 0; }
th, td { border-bottom: 1px solid var(--faint); }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
details { margin-top: 1rem; }
summary { cursor: pointer; color: var(--muted); font-size: .92rem; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; gap: .1rem; } dd { margin-bottom: .7rem; } }
@media print {
  body { font-size: 10.5pt; } main { max-width: none; padding: 0; } details { display: none; }
  section { break-before: page; border: 0; margin: 0; } figure, ul.shows li { break-inside: avoid; }
  a { color: inherit; text-decoration: none; }
}
"""


def run_all(directory: str | os.PathLike[str], *, quick: bool = False) -> list[Experiment]:
    """Run every experiment, write tables and figures to a directory, and the page that shows them.

    Parameters
    ----------
    directory : path
        For each experiment NAME: NAME.parquet, NAME.csv and NAME.svg; and index.html.
    quick : bool
        Small plans: about a fifth of the time.

    Returns
    -------
    list of Experiment
    """
    every = names()
    done = []
    for place, name in enumerate(every, 1):
        done.append(run(name, quick=quick, directory=directory, heading=f"{place}/{len(every)} "))
        save_figure(done[-1], directory)
    drawn = {one.name: (Path(directory) / f"{one.name}.svg").read_text(encoding="utf-8") for one in done}
    atomic.write_text(Path(directory) / NAME, page(done, drawn))
    return done


def save_figure(experiment: Experiment, directory: str | os.PathLike[str]) -> Path:
    """Write the figure as SVG beside its table."""
    path = Path(directory) / f"{experiment.name}.svg"
    atomic.write_text(path, svg_text(experiment.figure, experiment.name))
    return path


def page(experiments: Sequence[Experiment], drawn: Mapping[str, str]) -> str:
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
        "Orange, redder than the yellow of a series, marks theory: bounds, and the largest margin. Unless "
        "the text says otherwise, markers are medians and whiskers show the whole range. The "
        "table behind each figure is in the same folder as this page, as CSV and as Parquet."
    )
    head = [tag("th", name) for name in ("experiment", "from", "claims that hold", "closest to its bound")]
    contents = table(head, [_entry(experiment) for experiment in experiments])
    sections = [
        _section(place, experiment, drawn[experiment.name]) for place, experiment in enumerate(experiments, 1)
    ]
    main = (
        tag("h1", TITLE),
        tag("p", lead, outcome, class_="lead"),
        tag("p", legend, class_="lead"),
        tag("div", contents, class_="scroll"),
        *sections,
    )
    return document(TITLE, _style(), tag("main", join(main, "\n")))


def _style() -> str:
    sans = '--sans: "Helvetica Neue", Helvetica, Arial, "DejaVu Sans", sans-serif;'
    light = f"{_variables(LIGHT)} --link: #0b5fa5; --good: #00734f; --bad: #b00020; {sans}"
    dark = f"{_variables(DARK)} --link: #7dbdf0; --good: #3ecf9e; --bad: #ff8080;"
    return (
        f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
        f"@media print {{ :root {{ {_variables(LIGHT)} }} }}\n{STYLE}"
    )


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


def _section(place: int, experiment: Experiment, svg: str) -> Markup:
    theorem = (experiment.theorem, " ", tag("span", experiment.reference, class_="reference"))
    asked = facts(
        [
            ("Question", experiment.question),
            ("Theorem", join(theorem)),
            ("Method", experiment.method),
        ]
    )
    caption = tag("figcaption", f"Figure {place}. {experiment.title}")
    shows = tag("ul", *map(_shown, experiment.findings), class_="shows")
    return tag(
        "section",
        tag("h2", f"{place}. {experiment.title}"),
        tag("p", experiment.source, class_="source"),
        asked,
        tag("figure", page_svg(svg, f"Figure: {experiment.title}"), caption),
        facts([("What it shows", shows)]),
        _table(experiment),
        id=experiment.name,
    )


def _shown(finding: Finding) -> Markup:
    kind = {True: "holds", False: "fails", None: "told"}[finding.holds]
    return tag("li", finding.sentence, class_=kind)


def _table(experiment: Experiment, rows: int = 8) -> Markup:
    """Show the first rows, and link to the rest."""
    columns = {name: column[:rows].tolist() for name, column in experiment.table.items()}
    kinds = {name: "number" if column.dtype.kind in "if" else "" for name, column in experiment.table.items()}
    head = [tag("th", name.replace("_", " "), class_=kinds[name]) for name in columns]
    body = [
        [tag("td", _cell(columns[name][row]), class_=kinds[name]) for name in columns]
        for row in range(min(rows, experiment.n_rows))
    ]
    csv, parquet, svg = (
        tag("a", file, href=file)
        for file in (f"{experiment.name}.{end}" for end in ("csv", "parquet", "svg"))
    )
    return tag(
        "details",
        tag("summary", f"The table: {experiment.n_rows:,} rows"),
        tag("p", "All of it: ", csv, ", ", parquet, "; the figure alone: ", svg, "."),
        tag("div", table(head, body), class_="scroll"),
    )


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _variables(palette: Palette) -> str:
    return " ".join(f"--{name}: {color};" for name, color in palette.variables.items())
