"""``separatrix experiment``: run an experiment of the course, and report what it shows."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .. import options
from ..console import WIDTH, show, write_json

if TYPE_CHECKING:
    from ...experiments import Experiment


def experiment(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="Which experiment; 'all' for every one, 'list' to see their names."
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="DIR", help="Where tables, figures and the page go; 'all' needs it."
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few repetitions: about a fifth of the time.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Run the experiments of the course: question, theorem, figure, and an answer that was checked.

    All of them take a minute or two, and about a fifth of that with --quick.

    For example:

        separatrix experiment list

        separatrix experiment learning-rate

        separatrix experiment all -o report --quick
    """
    from ... import experiments
    from ...errors import InputError

    if name == "list":
        studies = [experiments.find(each) for each in experiments.names()]
        if json:
            write_json([{"name": each.name, "title": each.title, "source": each.source} for each in studies])
        else:
            show(*(f"{each.name:<18}{each.title} ({each.source})" for each in studies))
    elif name == "all":
        if output is None:
            raise InputError("'all' writes a page with its tables and figures. Say where: --output DIR.")
        every = experiments.run_all(output, quick=quick)
        if json:
            write_json([_facts(each) for each in every])
        else:
            report = (output / "index.html").resolve().as_uri()
            show(*(f"{each.name:<18}{_outcome(each)}" for each in every), "", f"The report: {report}")
    else:
        one = experiments.run(name, quick=quick, directory=output)
        kept = None if output is None else experiments.save_figure(one, output)
        if json:
            write_json(_facts(one))
            return
        show(_words(one), "")
        if kept is None:
            show("To keep the table and the figure, add --output DIR.")
        else:
            show(f"Figure: {kept}", f"Table:  {kept.with_suffix('.csv')}, {kept.with_suffix('.parquet')}")


def _facts(one: Experiment) -> dict[str, object]:
    """The outcome in plain values."""
    words = ("name", "title", "source", "question", "method", "theorem", "reference", "answer", "holds")
    findings = [{"text": each.text, "holds": each.holds} for each in one.findings]
    return {word: getattr(one, word) for word in words} | {"findings": findings, "rows": one.n_rows}


def _outcome(one: Experiment) -> str:
    checked = [finding.holds for finding in one.findings if finding.holds is not None]
    said = f"{sum(checked)} of {len(checked)} claims hold"
    return said if one.holds else f"{said}: SEE THE REPORT"


def _words(one: Experiment) -> str:
    parts = (("Question", one.question), ("Method", one.method), ("Theorem", one.theorem))
    lines = [f"{one.title} ({one.source})", ""]
    lines += [textwrap.fill(f"{head}. {text}", WIDTH) + "\n" for head, text in parts]
    lines.append("What it shows:")
    for finding in one.findings:
        mark = {True: "holds", False: "FAILS", None: "-"}[finding.holds]
        lines.append(
            textwrap.fill(finding.sentence, WIDTH, initial_indent=f"  {mark:<6}", subsequent_indent=" " * 8)
        )
    return "\n".join(lines)
