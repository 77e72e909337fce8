"""The run as an animated GIF, from the trace that the page shows."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

from ...result import Floats, Ints
from ..api.codec import RequestError
from ..api.requests import FilmRequest
from .engine import arrays
from .kernel_blocks import need_range
from .recipe import recipe_of

DPI = 80


def film(request: FilmRequest) -> bytes:
    """Draw every update, or some of them evenly spread, and put them together."""
    kernel = request.settings.method == "kernel"
    if not kernel and request.settings.method != "perceptron":
        raise RequestError(
            "no_steps",
            "This method has no steps to film: it solves one problem for all points at once. Save the "
            "picture as PNG or SVG.",
        )
    X, y = arrays(request.data)
    estimator = recipe_of(request.settings).estimator()
    if kernel:
        need_range(estimator.kernel, X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(X, y)
    made = len(estimator.result_.trace.rows)
    if made < (2 if kernel else 1):
        raise RequestError("no_film", f"There is nothing to film: the run made {made} updates.", made=made)
    with tempfile.TemporaryDirectory(prefix="separatrix-") as folder:
        path = Path(folder) / "run.gif"
        (_film_regions if kernel else _film_planes)(estimator, X, y, request, path)
        return path.read_bytes()


def _film_planes(estimator: Any, X: Floats, y: Ints, request: FilmRequest, path: Path) -> None:
    from ...plot.run_display import RunDisplay
    from ...plot.style import new_figure

    _, axes = new_figure(request.theme, size=(9.0, 4.2), columns=2, width_ratios=[1.25, 1.0])
    display = RunDisplay.from_estimator(estimator, X, y, ax=axes, theme=request.theme)
    display.save(path, fps=request.fps, max_frames=request.frames, dpi=DPI)


def _film_regions(estimator: Any, X: Floats, y: Ints, request: FilmRequest, path: Path) -> None:
    from ...plot.kernel_film import kernel_film

    kernel_film(
        estimator, X, y, fps=request.fps, max_frames=request.frames, dpi=DPI, theme=request.theme
    ).save(path)
