"""``separatrix generate``: make data sets with a known answer."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer

from .. import options
from ..console import plain, say, write_json

Kind = Literal[
    "separable",
    "quasi-separable",
    "overlapping",
    "multiclass",
    "xor",
    "rings",
    "spirals",
    "checkerboard",
    "stripes",
]


def generate(
    kind: Kind,
    *,
    output: str | None = None,
    rows: Annotated[int, {"min": 1}] = 100,
    settings: Annotated[
        options.Settings, {kind: f"datasets.make_{kind.replace('-', '_')}" for kind in get_args(Kind)}
    ],
    decimals: Annotated[int | None, {"min": 0}] = None,
    integers: bool = False,
    seed: Annotated[int, {"min": 0}] = 0,
    json: bool = False,
) -> None:
    """Make data with a known answer: a separator and its margin, or rows that prove that no separator exists.

    The columns are x1, x2, ... and the class y. With --json, the answer goes to standard output, and the rows
    go only to the file. With --decimals or --integers, for paper, rows are rounded, and the answer is
    computed again, exactly: the margin's square is a fraction. Stripes need a polynomial of the given degree,
    and as many units of a network.

    For example:

        separatrix generate separable --rows 1000 --margin 0.05 -o easy.csv

        separatrix generate xor | separatrix check - --target y

        separatrix generate rings --gap 0.2 -o rings.csv --json

        separatrix generate separable --rows 8 --margin 0.3 --integers -o paper.csv

        separatrix generate stripes --degree 4 --decimals 1 -o stripes.csv

    Options
    -------
    kind: The kind of data.
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
    degree: The degree that stripes need, and the number of units.
    decimals: Round the rows to this number of decimals.
    integers: Scale the rows and round them to whole numbers from -10 to 10.
    """
    if integers and decimals is not None:
        raise typer.BadParameter("--integers and --decimals exclude each other. Leave one of them out.")
    if output is not None and Path(output).suffix.lower() not in ("", ".csv", ".txt"):
        raise typer.BadParameter(
            f"--output must be a CSV file, whose name ends in .csv. Got {str(output)!r} instead."
        )
    from ... import datasets

    make = getattr(datasets, f"make_{kind.replace('-', '_')}")
    options.need_known(settings, make, kind)
    problem = make(rows, random_state=seed, **settings)
    if integers:
        problem = datasets.to_integers(problem)
    elif decimals is not None:
        problem = datasets.to_decimals(problem, decimals)
    names = [f"x{j}" for j in range(1, problem.X.shape[1] + 1)]
    text = csv_text([*names, "y"], problem.X, problem.y)
    if output is not None:
        from ...atomic import write_text

        write_text(output, text)
    if json:
        known = {"separation": problem.separation, **problem.answer}
        answer = plain(known)
        write_json({"kind": kind, "rows": rows, "seed": seed, "answer": answer, "data_file": output})
        return
    if output is None:
        sys.stdout.write(text)
        return
    say(f"Data: {output}, {len(problem.y):,} rows. {_words(problem)}")


def csv_text(names: Sequence[str], X: Any, y: Any) -> str:
    """Return rows and labels as CSV, with enough digits to read the numbers back exactly."""
    lines = [
        ",".join([*map(_number, row), str(label)]) for row, label in zip(X.tolist(), y.tolist(), strict=True)
    ]
    return "\n".join([",".join(names), *lines]) + "\n"


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)


def _words(problem: Any) -> str:
    if problem.witness_rows is not None:
        rows = ", ".join(str(row + 1) for row in problem.witness_rows.tolist())
        mapped = "" if problem.margin is None else f" The feature map gives margin {problem.margin:.6g}."
        if problem.degree is not None:
            mapped = f" A polynomial of degree {problem.degree} does, and a network of {problem.units} units."
        elif problem.separation == "quasi-separable":
            return f"Quasi-separable: a hyperplane has no row on the wrong side; rows {rows} are on it."
        return f"No hyperplane separates the classes; rows {rows} prove it.{mapped}"
    if problem.weights is None:
        return "Separable."
    if problem.weights.ndim > 1:
        return f"Separable: one weight vector per class has margin {problem.margin:.6g}."
    through = "" if problem.intercept else " through the origin"
    square = "" if problem.margin_squared is None else f" (its square is {problem.margin_squared})"
    return f"Separable: a hyperplane{through} has margin {problem.margin:.6g}{square}, the largest possible."
