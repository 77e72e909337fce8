"""``separatrix experiment``: run experiments of the course, and show their results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..console import facts, show, write_json

if TYPE_CHECKING:
    from ...experiments import Experiment


def experiment(
    name: str = "list",
    *,
    list: bool = False,  # noqa: A002  (the name of the option)
    output: Path | None = None,
    quick: bool = False,
    json: bool = False,
) -> None:
    """Run experiments of the course: a question, a theorem, a figure, and an answer that was checked.

    All of them together take a minute or two, and about a fifth of that with --quick.

    For example:

        separatrix experiment list

        separatrix experiment learning-rate

        separatrix experiment all -o report --quick

    Options
    -------
    name NAME: The experiment: 'all' runs every one, 'list' prints their names.
    list: Print the names of the experiments.
    output, -o DIR: The folder for tables, figures and the page; 'all' needs it.
    quick: Few repetitions: a fifth of the time.
    """
    from ... import experiments
    from ...errors import InputError

    if list or name == "list":
        studies = [experiments.find(each) for each in experiments.names()]
        if json:
            write_json([{"name": each.name, "title": each.title, "source": each.source} for each in studies])
        else:
            show(*(f"{each.name:<18}{each.title} ({each.source})" for each in studies))
    elif name == "all":
        if output is None:
            raise InputError("'all' writes a page with tables and figures. Name a folder with --output DIR.")
        every = experiments.run_all(output, quick=quick)
        if json:
            write_json([_facts(each) for each in every])
        else:
            report = (output / "index.html").resolve().as_uri()
            show(*(f"{each.name:<18}{_outcome(each)}" for each in every), "", f"Report: {report}")
    else:
        one = experiments.run(name, quick=quick, directory=output)
        kept = None if output is None else experiments.save_figure(one, output)
        if json:
            write_json(_facts(one))
            return
        show(*_words(one), "")
        if kept is None:
            show("To keep the table and the figure, add --output DIR.")
        else:
            show(f"Figure: {kept}", f"Table:  {kept.with_suffix('.csv')}")


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
