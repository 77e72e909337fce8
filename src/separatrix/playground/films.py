"""The run as an animated GIF, from the trace that the page shows."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

from .codec import RequestError
from .engine import arrays
from .recipe import recipe_of
from .requests import FilmRequest


def film(request: FilmRequest) -> bytes:
    """Draw every update, or some of them evenly spread, and put them together."""
    if request.settings.method != "perceptron":
        raise RequestError("no_film", "A film shows the updates of the perceptron; choose that method.")
    from ..plot.run import RunDisplay
    from ..plot.style import new_figure

    X, y = arrays(request.data)
    estimator = recipe_of(request.settings).estimator()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(X, y)
    if not len(estimator.result_.trace.rows):
        raise RequestError("no_film", "There is nothing to film: the run made no update.")
    _, axes = new_figure(request.theme, size=(9.0, 4.2), columns=2, width_ratios=[1.25, 1.0])
    display = RunDisplay.from_estimator(estimator, X, y, ax=axes, theme=request.theme)
    with tempfile.TemporaryDirectory(prefix="separatrix-") as folder:
        path = Path(folder) / "run.gif"
        display.save(path, fps=request.fps, max_frames=request.frames, dpi=80)
        return path.read_bytes()
