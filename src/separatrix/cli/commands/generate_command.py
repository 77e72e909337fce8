"""``separatrix generate``: make data sets with a known answer."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import options
from ..console import plain, say, write_json

KINDS = ("separable", "overlapping", "multiclass", "xor", "rings", "spirals", "checkerboard")


def generate(
    kind: str,
    *,
    output: str | None = None,
    rows: Annotated[int, {"min": 1}] = 100,
    settings: Annotated[options.Settings, {kind: f"datasets.make_{kind}" for kind in KINDS}],
    seed: Annotated[int, {"min": 0}] = 0,
    json: bool = False,
) -> None:
    """Make data with a known answer: a separator and its margin, or rows that prove that no separator exists.

    The columns are x1, x2, ... and the class y. With --json, the answer goes to standard output, and the rows
    go only to the file.

    For example:

        separatrix generate separable --rows 1000 --margin 0.05 -o easy.csv

        separatrix generate xor | separatrix check - --target y

        separatrix generate rings --gap 0.2 -o rings.csv --json

    Options
    -------
    kind KIND: The kind of data: separable, overlapping, multiclass, xor, rings, spirals, checkerboard.
    output, -o FILE: Write to this CSV file. Default: standard output.
    rows: The number of rows.
    n_columns: The number of columns.
    n_classes: The number of classes.
    margin: The margin of the known separator; with two classes, it is the largest possible.
    noise: The fraction of wrong labels, or the spread around corners.
    radius: The length of the longest row.
    n_witnesses: The number of rows that prove that the classes overlap.
    inner: The radius of the ball inside the ring.
    gap: The gap between the classes.
    turns: The number of turns of a spiral.
    squares: The number of squares per side of the checkerboard.
    """
    if kind not in KINDS:
        raise typer.BadParameter(f"KIND must be one of {', '.join(KINDS)}. Got {kind!r} instead.")
    if output is not None and Path(output).suffix.lower() not in ("", ".csv", ".txt"):
        raise typer.BadParameter(
            f"--output must be a CSV file, whose name ends in .csv. Got {str(output)!r} instead."
        )
    from ... import datasets

    make = getattr(datasets, f"make_{kind}")
    options.need_known(settings, make, kind)
    problem = make(rows, random_state=seed, **settings)
    names = [f"x{j}" for j in range(1, problem.X.shape[1] + 1)]
    text = csv_text([*names, "y"], problem.X, problem.y)
    if output is not None:
        from ...atomic import write_text

        write_text(output, text)
    if json:
        answer = plain(problem.answer)
        write_json({"kind": kind, "rows": rows, "seed": seed, "answer": answer, "data_file": output})
        return
    if output is None:
        sys.stdout.write(text)
        return
    say(f"Data: {output}, {len(problem.y):,} rows. {_words(problem)}")


def csv_text(names: Sequence[str], X: Any, y: Any) -> str:
    """Return rows and labels as CSV, with enough digits to read the numbers back exactly."""
    lines = [
        ",".join([*map(repr, row), str(label)]) for row, label in zip(X.tolist(), y.tolist(), strict=True)
    ]
    return "\n".join([",".join(names), *lines]) + "\n"


def _words(problem: Any) -> str:
    if problem.witness_rows is not None:
        rows = ", ".join(str(row + 1) for row in problem.witness_rows.tolist())
        mapped = "" if problem.margin is None else f" The feature map gives margin {problem.margin:.6g}."
        return f"No hyperplane separates the classes; rows {rows} prove it.{mapped}"
    if problem.weights.ndim > 1:
        return f"Separable: one weight vector per class has margin {problem.margin:.6g}."
    through = "" if problem.intercept else " through the origin"
    return f"Separable: a hyperplane{through} has margin {problem.margin:.6g}, the largest possible."
