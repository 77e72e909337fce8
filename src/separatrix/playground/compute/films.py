"""The run as an animated GIF, drawn from the trace that the page shows."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from ..api.requests import FilmRequest, RequestError
from .engine import fitted
from .methods import STEPWISE


def film(request: FilmRequest) -> bytes:
    """Draw every update, or some of them evenly spaced, as the frames of a film."""
    if request.settings.method not in STEPWISE:
        raise RequestError(
            "no_steps",
            "This method has no steps to film: it solves one problem for all points at once. Save the "
            "picture as PNG or SVG.",
        )
    kernel = request.settings.method == "kernel"
    estimator, points = fitted(request.data, request.settings)
    X, y = points.X, points.classes[points.codes]
    made = len(estimator.result_.trace.rows)
    if made < (2 if kernel else 1):
        raise RequestError("no_film", f"There is nothing to film: the run made {made} updates.", made=made)
    options: Any = {"fps": request.fps, "max_frames": request.frames, "dpi": 80}
    with tempfile.TemporaryDirectory(prefix="separatrix-") as folder:
        path = Path(folder) / "run.gif"
        if kernel:
            from ...plot.film import kernel_film

            kernel_film(estimator, X, y, **options, theme=request.theme).save(path)
        else:
            from ...plot.run_display import RunDisplay
            from ...plot.style import new_figure

            _, axes = new_figure(request.theme, size=(9.0, 4.2), columns=2, width_ratios=[1.25, 1.0])
            display = RunDisplay.from_estimator(estimator, X, y, ax=axes, theme=request.theme)
            display.save(path, **options)
        return path.read_bytes()
