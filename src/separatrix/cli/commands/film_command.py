"""``separatrix film``: show a run of the perceptron, update by update."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Literal

import typer

from .. import options
from ..advice import in_options
from ..console import say, waiting, write_json

ENDINGS = (".html", ".gif", ".mp4")


def film(
    source: Annotated[options.Reading, ("row_names", "memory")],
    *,
    output: str = "run.html",
    intercept: bool = True,
    settings: Annotated[options.Settings, {"perceptron": "Perceptron"}],
    seed: Annotated[int, {"min": 0}] = 0,
    fps: float = 2.0,
    frames: Annotated[int, {"min": 2}] = 100,
    theme: Literal["light", "dark"] = "light",
    json: bool = False,
) -> None:
    """Watch a perceptron learn: every update, with the weights before and after, and the mistake bound.

    For example:

        separatrix film data.csv --target y -o run.html

        separatrix film data.csv --target y --order worst --start 1,0,0 -o run.gif

    Options
    -------
    output, -o FILE: The file to write: .html, .gif or .mp4.
    fps: Frames per second.
    frames: The maximum number of frames. If the run has more updates, only some of them are shown.
    theme: The color theme.
    """
    if Path(output).suffix.lower() not in ENDINGS:
        raise typer.BadParameter(f"--output must end in one of {', '.join(ENDINGS)}. Got {output!r} instead.")
    if not 0.0 < fps <= 60.0:
        raise typer.BadParameter(f"--fps must be above 0 and at most 60. Got {fps:g} instead.")
    options.need_apart(source.data, output=output)
    rows = source.open(intercept=intercept, labelled=True)
    with waiting("Reading the rows"):
        X, y = rows.read()
    from ...estimators.linear import Perceptron
    from ...plot.run_display import RunDisplay
    from ...report.tables import counted

    chosen = {"order": "cyclic", **settings, "fit_intercept": intercept, "random_state": seed}
    model = Perceptron(**chosen, trace=True)
    with waiting("Learning"), warnings.catch_warnings(), options.naming_rows(rows):
        warnings.simplefilter("ignore")
        model.fit(X, y)
    options.name_features(model, rows.encoding)
    with waiting("Drawing the film"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # X is an array, and the model knows the names of its columns
        display = RunDisplay.from_estimator(model, X, y, theme=theme)
        display.save(output, fps=fps, max_frames=frames)
    if json:
        told = {"mistakes": int(model.mistakes_), "converged": bool(model.converged_)}
        write_json({**told, "pictures": len(display.steps(frames)), "film_file": output})
        return
    ended = f"The run made {counted(model.mistakes_, 'update')}."
    further = (
        "" if model.converged_ else " separatrix check says whether any hyperplane separates the classes."
    )
    say(f"Film: {output}. {ended} {in_options(model.result_.status, {'--max-iter': None})}{further}")
