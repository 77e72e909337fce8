"""``separatrix demo``: run the commands on bundled data."""

from __future__ import annotations

import shlex
from pathlib import Path

import typer

from ...atomic import write_text
from ..console import heading, say, show
from .generate_command import csv_text


def demo(*, output: Path = Path("separatrix-demo")) -> None:
    """Run an example in under a minute: a verdict, its proof, a model, its mistakes, and a report.

    The data are part of scikit-learn: Fisher's irises, and the Wisconsin breast cancer data.

    For example:

        separatrix demo

    Options
    -------
    output, -o DIR: The folder for the data and the results.
    """
    output.mkdir(parents=True, exist_ok=True)
    irises, tumors, changed = (str(output / f"{name}.csv") for name in ("irises", "tumors", "tumors-changed"))
    proof, model, answers, report = (
        str(output / name) for name in ("proof.json", "model.skops", "predictions.csv", "report.html")
    )
    _write_irises(irises)
    _write_tumors(tumors, changed)
    story = [
        ("Which species of iris can be separated by a hyperplane?",
         ["check", irises, "--target", "species", "--multiclass", "pairwise"]),
        ("Two of them cannot be separated. The following flowers prove it:",
         ["check", irises, "--target", "species", "--where", "species <> 'setosa'"]),
        ("Can the tumors be separated? The proof is written to a file.",
         ["check", tumors, "--target", "diagnosis", "--certificate", proof]),
        ("Anyone can check the proof, without trusting the program that found it.",
         ["verify", proof, tumors]),
        ("A proof is refused for other data: here, one number was changed.",
         ["verify", proof, changed]),
        ("Learn a separator, compare its mistakes with theory, cross-validate it, and write a report.",
         ["fit", tumors, "--target", "diagnosis", "--scale", "--max-iter", "10000", "--iter-no-change",
          "10000", "--folds", "5", "--output", model, "--report", report]),
        ("Use the model.",
         ["predict", model, tumors, "--target", "diagnosis", "--scores", "--output", answers]),
    ]  # fmt: skip
    for words, command in story:
        _act(words, command)
    show(heading("Done. Open the report:", "bold"), f"  {Path(report).resolve().as_uri()}")


def _act(words: str, command: list[str]) -> None:
    from ..app import BUG, app

    show(heading(words, "bold cyan"), heading(f"$ separatrix {shlex.join(command)}", "dim"), "")
    if app(command, standalone_mode=False) == BUG:
        raise typer.Exit(BUG)
    show("")


def _write_irises(path: str) -> None:
    from sklearn.datasets import load_iris

    data = load_iris()
    names = [name.removesuffix(" (cm)").replace(" ", "_") for name in data.feature_names]
    write_text(path, csv_text([*names, "species"], data.data, data.target_names[data.target]))


def _write_tumors(path: str, changed: str) -> None:
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    names = [*(name.replace(" ", "_") for name in data.feature_names), "diagnosis"]
    labels = data.target_names[data.target]
    write_text(path, csv_text(names, data.data, labels))
    data.data[100, 0] += 0.01
    write_text(changed, csv_text(names, data.data, labels))
    say(f"The data are in {path}.")
