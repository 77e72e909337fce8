"""``separatrix demo``: a tour of the commands on bundled data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..console import heading, say, show


def demo(
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="DIR", help="Where the data, the proof, the model and the report go."
        ),
    ] = Path("separatrix-demo"),
) -> None:
    """A tour in under a minute: a verdict, its proof, a model, its mistakes, and a report.

    The data are part of scikit-learn: Fisher's irises, and the Wisconsin breast tumors.

    For example:

        separatrix demo
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
        ("Two of them cannot. These flowers prove it:",
         ["check", irises, "--target", "species", "--where", "species <> 'setosa'"]),
        ("Can the tumors be separated? The proof is written to a file.",
         ["check", tumors, "--target", "diagnosis", "--certificate", proof]),
        ("Anybody can check the proof, without trusting the program that found it.",
         ["verify", proof, tumors]),
        ("A proof for other data is refused: here one number was changed.",
         ["verify", proof, changed]),
        ("Learn a separator, compare its mistakes with theory, score it by cross-validation, draw a report.",
         ["fit", tumors, "--target", "diagnosis", "--scale", "--max-iter", "10000", "--folds", "5",
          "--output", model, "--report", report]),
        ("Use it.",
         ["predict", model, tumors, "--target", "diagnosis", "--scores", "--output", answers]),
    ]  # fmt: skip
    for words, command in story:
        _act(words, command)
    show(heading("That is all. Open the report:", "bold"), f"  {Path(report).resolve().as_uri()}")


def _act(words: str, command: list[str]) -> None:
    from ..app import BUG, app

    show(heading(words, "bold cyan"), heading(f"$ separatrix {' '.join(map(_quoted, command))}", "dim"), "")
    if app(command, standalone_mode=False) == BUG:
        raise typer.Exit(BUG)
    show("")


def _quoted(word: str) -> str:
    return f'"{word}"' if " " in word else word


def _write_irises(path: str) -> None:
    from sklearn.datasets import load_iris

    data = load_iris()
    names = [name.removesuffix(" (cm)").replace(" ", "_") for name in data.feature_names]
    _write(path, [*names, "species"], data.data, data.target_names[data.target])


def _write_tumors(path: str, changed: str) -> None:
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    names = [*(name.replace(" ", "_") for name in data.feature_names), "diagnosis"]
    labels = data.target_names[data.target]
    _write(path, names, data.data, labels)
    data.data[100, 0] += 0.01
    _write(changed, names, data.data, labels)
    say(f"The data are in {path}.")


def _write(path: str, names: list[str], X: Any, labels: Any) -> None:
    from ...atomic import write_text

    lines = [",".join([*map(repr, row), str(label)]) for row, label in zip(X.tolist(), labels, strict=True)]
    write_text(path, "\n".join([",".join(names), *lines]) + "\n")
