"""``separatrix experiment``: run experiments of the course, and show their results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..console import facts, show, write_json

if TYPE_CHECKING:
    from ...experiments import Experiment, Study


def experiment(
    name: str = "list",
    *,
    list: bool = False,  # noqa: A002  (the name of the option)
    output: Path | None = None,
    quick: bool = False,
    json: bool = False,
) -> None:
    """Run experiments of the course: a question, a theorem, a figure, and an answer that was checked.

    All of them together take a minute or two, and about a fifth of that with --quick. A report as PDF needs
    Chromium, Chrome or Edge.

    For example:

        separatrix experiment list

        separatrix experiment learning-rate

        separatrix experiment exercise-3

        separatrix experiment all -o report --quick

        separatrix experiment all -o report.pdf

    Options
    -------
    name NAME: The experiment: 'exercise-1' to 'exercise-11' run those that answer an exercise, 'all' runs
        every one, 'list' prints their names.
    list: Print the names of the experiments, and the exercises that they answer.
    output, -o PATH: The folder for tables, figures and the page, or a PDF file; 'all' needs it.
    quick: Few repetitions: a fifth of the time.
    """
    from ... import experiments
    from ...errors import InputError

    if list or name == "list":
        _list(experiments.matching("all"), json)
        return
    if output is not None and output.suffix.lower() in (".csv", ".htm", ".html", ".png", ".svg"):
        raise InputError(f"--output names a folder, or a PDF file. Got {str(output)!r} instead.")
    every = experiments.matching(name)
    if name == "all" and output is None:
        raise InputError("'all' writes a page with tables and figures. Name a folder with --output DIR.")
    if output is not None and output.suffix.lower() == ".pdf":
        results = experiments.write_pdf(output, [each.name for each in every], quick=quick)
        kept = [f"Report: {output}"]
    elif output is not None and len(every) > 1:
        results = experiments.run_all(output, quick=quick, only=[each.name for each in every])
        kept = [f"Report: {(output / 'index.html').resolve().as_uri()}"]
    else:
        results = [experiments.run(each.name, quick=quick, directory=output) for each in every]
        kept = ["To keep the tables and the figures, add --output DIR."]
        if output is not None:
            figure = experiments.save_figure(results[0], output)
            kept = [f"Figure: {figure}", f"Table:  {figure.with_suffix('.csv')}"]
    if json:
        found = [_facts(each) for each in results]
        write_json(found if name == "all" or len(found) > 1 else found[0])
    elif name == "all":
        show(facts([(each.name, _outcome(each)) for each in results]), "", *kept)
    else:
        show(*(part for each in results for part in (*_words(each), "")), *kept)


def _list(studies: list[Study], json: bool) -> None:
    """Print the names, the exercises and the titles."""
    if json:
        names = ("name", "title", "source", "exercises")
        write_json([{name: getattr(each, name) for name in names} for each in studies])
        return
    told = [(each.name, f"{each.title} ({each.source})") for each in studies]
    answers = {number: [each.name for each in studies if number in each.exercises] for number in range(1, 12)}
    by_number = [(f"exercise-{number}", ", ".join(named)) for number, named in answers.items()]
    show(facts(told), "", "The exercises, and the experiments that answer them:", facts(by_number))


def _facts(one: Experiment) -> dict[str, object]:
    """Return the outcome in plain values."""
    words = ("name", "title", "source", "question", "method", "theorem", "reference", "answer", "holds")
    findings = [{"text": each.text, "holds": each.holds} for each in one.findings]
    return {word: getattr(one, word) for word in words} | {"findings": findings, "rows": one.n_rows}


def _outcome(one: Experiment) -> str:
    checked = [finding.holds for finding in one.findings if finding.holds is not None]
    said = f"{sum(checked)} of {len(checked)} claims hold"
    return said if one.holds else f"{said}: SEE THE REPORT"


def _words(one: Experiment) -> list[Any]:
    """Return what the experiment shows, paragraph by paragraph."""
    parts = (("Question", one.question), ("Method", one.method), ("Theorem", one.theorem))
    told = [line for head, text in parts for line in (f"{head}. {text}", "")]
    marks = {True: "holds", False: "FAILS", None: "-"}
    found = facts([(marks[finding.holds], finding.sentence) for finding in one.findings])
    return [f"{one.title} ({one.source})", "", *told, "What it shows:", found]
