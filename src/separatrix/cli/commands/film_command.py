"""``separatrix film``: a run of the perceptron, update by update."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import options
from ..console import say, waiting, write_json

ENDINGS = (".html", ".gif", ".mp4")


@options.reads("row_names", "memory", *options.CLUSTER)
def film(
    source: options.Reading,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE", help="Where the film goes: .html, .gif or .mp4."),
    ] = "run.html",
    intercept: options.Intercept = True,
    order: options.Order = "cyclic",
    max_iter: options.MaxIter = 100,
    eta0: options.Eta0 = 1.0,
    start: options.Start = None,
    renormalise: options.Renormalise = False,
    seed: options.Seed = 0,
    fps: Annotated[float, typer.Option("--fps", help="Pictures per second.")] = 2.0,
    frames: Annotated[
        int, typer.Option("--frames", min=2, help="The most pictures; a longer run is shown at some updates.")
    ] = 100,
    theme: Annotated[str, typer.Option("--theme", metavar="light|dark", help="The colors.")] = "light",
    json: options.Json = False,
) -> None:
    """Watch a perceptron learn: every update with the weights before and after, and the proof of the bound.

    For example:

        separatrix film data.csv --target y -o run.html

        separatrix film data.csv --target y --order worst --start 1,0,0 -o run.gif
    """
    if Path(output).suffix.lower() not in ENDINGS:
        raise typer.BadParameter(
            f"--output is a name that ends in {', '.join(ENDINGS)}. Got {output!r} instead."
        )
    if theme not in ("light", "dark"):
        raise typer.BadParameter(f"--theme is light or dark. Got {theme!r} instead.")
    if not 0.0 < fps <= 60.0:
        raise typer.BadParameter(f"--fps is above 0 and at most 60. Got {fps:g} instead.")
    options.need_apart(source.data, output=output)
    first = "zeros" if start is None else options.first_weights(start)
    rows = source.open(intercept=intercept, labelled=True)
    with waiting("Reading the rows"):
        X, y = rows.read()
    from ...estimators.linear import Perceptron
    from ...plot.run_display import RunDisplay
    from ...proofs.answer import condition

    settings: dict[str, Any] = {"order": order, "max_iter": max_iter, "eta0": eta0, "init": first}
    settings |= {"renormalise": renormalise, "fit_intercept": intercept, "random_state": seed}
    model = Perceptron(**settings, trace=True)
    with waiting("Learning"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    options.name_features(model, rows.encoding)
    with waiting("Drawing the film"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the names of the columns are kept beside the array
        display = RunDisplay.from_estimator(model, X, y, theme=theme)
        display.save(output, fps=fps, max_frames=frames)
    if json:
        write_json(
            {
                "mistakes": int(model.mistakes_),
                "converged": bool(model.converged_),
                "pictures": len(display.steps(frames)),
                "film_file": output,
            }
        )
        return
    ended = "and separates the rows" if model.converged_ else "and has not separated the rows"
    say(f"Film: {output}. The run makes {model.mistakes_:,} updates {ended} {condition(intercept)}.")
