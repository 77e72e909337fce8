"""``separatrix generate``: data sets whose answer is known."""

from __future__ import annotations

import sys
from dataclasses import fields
from inspect import signature
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import options
from ..console import plain, say, write_json

KINDS = ("separable", "overlapping", "multiclass", "xor", "rings", "spirals", "checkerboard")


def generate(
    kind: Annotated[str, typer.Argument(metavar="KIND", help=f"What to make: {', '.join(KINDS)}.")],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="A CSV file. Default: standard output."),
    ] = None,
    rows: Annotated[int, typer.Option("--rows", min=1, help="How many rows.")] = 100,
    columns: Annotated[int | None, typer.Option("--columns", min=1, help="How many columns.")] = None,
    classes: Annotated[int | None, typer.Option("--classes", min=2, help="How many classes.")] = None,
    margin: Annotated[
        float | None,
        typer.Option("--margin", help="Of the known separator; with two classes, the largest margin."),
    ] = None,
    noise: Annotated[
        float | None,
        typer.Option("--noise", help="The share of wrong labels, or how far rows lie from their corner."),
    ] = None,
    gap: Annotated[float | None, typer.Option("--gap", help="The room between the classes.")] = None,
    turns: Annotated[float | None, typer.Option("--turns", help="How often a spiral goes around.")] = None,
    squares: Annotated[
        int | None, typer.Option("--squares", min=1, help="Squares along a side of the checkerboard.")
    ] = None,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Make data whose answer is known: a separator and its margin, or rows that prove there is none.

    The columns are x1, x2, ... and the class y. With --json the answer is written to standard output, and the
    rows only to the file.

    For example:

        separatrix generate separable --rows 1000 --margin 0.05 -o easy.csv

        separatrix generate xor | separatrix check - --target y

        separatrix generate rings --gap 0.2 -o rings.csv --json
    """
    if kind not in KINDS:
        raise typer.BadParameter(f"KIND is one of {', '.join(KINDS)}. Got {kind!r} instead.")
    if output is not None and Path(output).suffix.lower() not in ("", ".csv", ".txt"):
        raise typer.BadParameter(
            f"--output is a CSV file, a name that ends in .csv. Got {str(output)!r} instead."
        )
    from ... import datasets

    given = {
        "n_columns": columns, "n_classes": classes, "margin": margin, "noise": noise, "gap": gap,
        "turns": turns, "squares": squares,
    }  # fmt: skip
    chosen = {name: value for name, value in given.items() if value is not None}
    make = getattr(datasets, f"make_{kind}")
    for name in chosen.keys() - signature(make).parameters.keys():
        raise typer.BadParameter(f"--{name.removeprefix('n_')} is not an option of {kind}. Leave it out.")
    problem = make(rows, random_state=seed, **chosen)
    if output is not None:
        from ...atomic import write_text

        write_text(output, _csv(problem))
    if json:
        write_json({"kind": kind, "rows": rows, "seed": seed, **_answer(problem), "data_file": output})
        return
    if output is None:
        sys.stdout.write(_csv(problem))
        return
    say(f"Data: {output}, {len(problem.y):,} rows. {_words(problem)}")


def _csv(problem: Any) -> str:
    names = [f"x{j}" for j in range(1, problem.X.shape[1] + 1)]
    lines = [
        ",".join([*map(repr, row), str(label)])
        for row, label in zip(problem.X.tolist(), problem.y.tolist(), strict=True)
    ]
    return "\n".join([",".join([*names, "y"]), *lines]) + "\n"


def _answer(problem: Any) -> dict[str, Any]:
    """What is known of the data, their rows left out."""
    known = {field.name: getattr(problem, field.name) for field in fields(problem)}
    return {"answer": plain({name: value for name, value in known.items() if name not in ("X", "y")})}


def _words(problem: Any) -> str:
    if hasattr(problem, "witness_rows"):
        rows = ", ".join(str(row + 1) for row in problem.witness_rows.tolist())
        curved = f" Mapped, they have a margin of {problem.margin:.6g}." if hasattr(problem, "margin") else ""
        return f"No hyperplane separates them: rows {rows} prove it.{curved}"
    many = problem.weights.ndim > 1
    through = "" if many or problem.intercept else " through the origin"
    kind = "a choice of weights, one vector per class," if many else f"a hyperplane{through}"
    largest = "" if many else ", the largest possible"
    return f"Separable: {kind} has margin {problem.margin:.6g}{largest}."
