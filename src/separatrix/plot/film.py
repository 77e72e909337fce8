"""Films of runs, as an animated GIF, as an HTML page, or as an MP4 if ffmpeg is installed."""

from __future__ import annotations

import base64
import copy
import io
from collections.abc import Callable, Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from matplotlib.animation import FFMpegWriter
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from ..atomic import replacing
from ..dual.expansion import Expansion
from ..errors import InputError
from ..estimators.kernel import KernelPerceptron
from ..markup import Markup, document, escape
from ..progress import Progress
from ..result import KernelTrace
from ..views.palettes import Palette
from .regions import DecisionRegionDisplay
from .style import new_figure, palette, style

T = TypeVar("T")
HOLD = 2  # seconds for which the last frame stays


class Film:
    """A figure that changes from frame to frame.

    Parameters
    ----------
    pictures : function without arguments
        Returns an iterator that changes a figure and yields it, once per frame.
    count : int
        The number of frames.
    fps : float
        Frames per second.
    dpi : int
    title : str
    """

    def __init__(
        self, pictures: Callable[[], Iterable[Figure]], count: int, *, fps: float, dpi: int, title: str
    ) -> None:
        if not 0.0 < fps <= 60.0:
            raise InputError(f"fps must be above 0 and at most 60 frames per second. Got {fps!r} instead.")
        self.pictures, self.count, self.fps, self.dpi, self.title = pictures, count, fps, dpi, title

    def save(self, path: str | PathLike[str]) -> None:
        """Write the film; the extension .gif, .html or .mp4 selects the format."""
        target = Path(path)
        writers: dict[str, Callable[[Path], None]] = {
            ".gif": self._write_gif,
            ".html": self._write_html,
            ".mp4": self._write_mp4,
        }
        write = writers.get(target.suffix.lower())
        if write is None:
            raise InputError(
                f"The name of a film must end in {', '.join(writers)}. Got {target.name!r} instead."
            )
        with replacing(target) as part:
            write(part)

    def to_html(self) -> str:
        """Return HTML that plays the film without a network."""
        frames = []
        for image in self._images():
            file = io.BytesIO()
            image.save(file, "png", optimize=True)
            frames.append(f'"{base64.b64encode(file.getvalue()).decode()}"')
        pause, last = round(1000.0 / self.fps), self.count - 1
        return PLAYER.format(title=escape(self.title), pause=pause, last=last, frames=",".join(frames))

    def _repr_html_(self) -> str:
        return self.to_html()

    def _write_gif(self, path: Path) -> None:
        images = list(self._images())
        pause = round(1000.0 / self.fps)
        pauses = [pause] * (len(images) - 1) + [max(pause, 1000 * HOLD)]
        options: Any = {"save_all": True, "append_images": images[1:], "duration": pauses, "loop": 0}
        images[0].save(path, **options, optimize=True, format="gif")

    def _write_html(self, path: Path) -> None:
        path.write_text(document(self.title, "", Markup(self.to_html())), encoding="utf-8")

    def _write_mp4(self, path: Path) -> None:
        if not FFMpegWriter.isAvailable():
            raise InputError(
                "An MP4 film needs ffmpeg, which was not found. Install it, or write a .gif or .html file."
            )
        # The temporary name does not end in .mp4, so the format has to be given.
        options: Any = {"fps": self.fps, "extra_args": ["-f", "mp4"]}
        writer = FFMpegWriter(**options)
        figures = iter(self.pictures())
        figure = next(figures)
        with writer.saving(figure, str(path), self.dpi):
            writer.grab_frame()
            for _ in figures:
                writer.grab_frame()
            for _ in range(round(HOLD * self.fps)):
                writer.grab_frame()

    def _images(self, colors: int = 64) -> Iterator[Any]:
        """Draw the frames; flat areas and their edges need few colors."""
        with Progress() as progress:
            for number, figure in enumerate(self.pictures(), 1):
                if progress.due():
                    progress.show(f"drawing frame {number} of {self.count}")
                figure.set_dpi(self.dpi)
                canvas: Any = FigureCanvasAgg(figure)
                canvas.draw()
                yield Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB").quantize(colors)


def trace_of(run: Any, kind: type[T]) -> T:
    """Return the trace of a fitted model or of a result."""
    trace = getattr(getattr(run, "result_", run), "trace", None)
    if isinstance(trace, kind):
        return trace
    raise InputError(
        f"This run of {type(run).__name__} kept no trace of its updates.",
        remedy="Fit all rows in one call (not partial_fit), with trace=True.",
        parameter="trace",
    )


def film_steps(first: int, last: int, max_frames: int) -> list[int]:
    """Return the updates that a film shows: the first, the last, and others evenly between them."""
    count = min(max_frames, last - first + 1)
    if count < 2:
        raise InputError(
            f"A film needs at least two frames. The run has {last} updates, and max_frames is {max_frames}."
        )
    return sorted({round(at) for at in np.linspace(first, last, count)})


def kernel_film(
    estimator: KernelPerceptron,
    X: Any,
    y: Any,
    *,
    fps: float = 2.0,
    max_frames: int = 60,
    dpi: int = 100,
    theme: str | Palette | None = None,
    resolution: int = 60,
) -> Film:
    """Return the run of a kernel perceptron as a film: ``.save("run.gif")`` writes it, a notebook plays it.

    Each frame shows the regions of the weights after an update, and the last frame shows those of the final
    weights, even if the model predicts with an average.

    Parameters
    ----------
    estimator : KernelPerceptron
        Fitted with ``trace=True``.
    X, y : the training data
    fps : float
        Frames per second.
    max_frames : int
        A longer run is shown at this many updates, evenly spread.
    dpi : int
    theme : {"light", "dark"}, Palette or None
    resolution : int
        The number of grid points per side on which the regions are computed.

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]
    >>> model = sx.KernelPerceptron("poly", degree=2, trace=True).fit(X, y)
    >>> sx.plot.kernel_film(model, X, y).count == model.mistakes_
    True
    """
    trace = trace_of(estimator, KernelTrace)
    made = len(trace.rows)
    steps = film_steps(1, made, max_frames)
    colors = palette(theme)

    def pictures() -> Iterator[Figure]:
        figure, axes = new_figure(colors)
        for step in steps:
            with style(colors):
                axes.clear()
                for axis in (axes.xaxis, axes.yaxis):
                    axis.get_major_ticks()  # makes the ticks now, with the colors of this style
            title = f"update {step:,} of {made:,}\nrow {trace.rows[step - 1] + 1:,} of {len(y):,} corrected"
            look: Any = {"ax": axes, "theme": colors, "band": None, "title": title, "legend": False}
            then = after(estimator, step)
            DecisionRegionDisplay.from_estimator(then, X, y, resolution=resolution, **look)
            yield figure

    name = f"A run of the kernel perceptron: {made} updates"
    return Film(pictures, len(steps), fps=fps, dpi=dpi, title=name)


def after(estimator: KernelPerceptron, step: int) -> KernelPerceptron:
    """Return the model after ``step`` updates."""
    then, machine = copy.copy(estimator), estimator._machine
    support = machine.rows[: machine.size]
    if isinstance(machine, Expansion):
        coef = np.zeros((machine.size, machine.columns))
        np.add.at(coef, machine.updates[:step, 0], machine.corrections(0, step))
    else:
        trace: Any = estimator.result_.trace
        coef = trace.coef[step - 1][: machine.size]
    then.dual_coef_ = coef
    then.support_ = support[coef.any(axis=1)]  # these rows get a ring
    then._fitted_as = {**estimator._fitted_as, "average": False}
    return then


PLAYER = """\
<figure class="separatrix-film" style="margin:0;display:inline-block;max-width:100%">
<img alt="{title}" style="display:block;max-width:100%">
<div style="display:flex;gap:.5em;align-items:center;font:14px sans-serif;padding:.3em 0">
<button type="button" aria-label="Play or pause" style="width:2.6em">&#9654;</button>
<input type="range" min="0" max="{last}" value="0" aria-label="Picture" style="flex:1">
<output style="min-width:5em;text-align:right"></output>
</div>
<script>
(function () {{
  const film = document.currentScript.parentElement, frames = [{frames}];
  const [image, button, slider, text] = ["img", "button", "input", "output"].map(n => film.querySelector(n));
  let timer = null;
  const show = at => {{
    slider.value = at;
    image.src = "data:image/png;base64," + frames[at];
    text.textContent = (+at + 1) + " / " + frames.length;
  }};
  const stop = () => {{ clearInterval(timer); timer = null; button.textContent = "\\u25b6"; }};
  const next = () => {{ if (+slider.value < frames.length - 1) show(+slider.value + 1); else stop(); }};
  button.onclick = () => {{
    if (timer !== null) return stop();
    if (+slider.value === frames.length - 1) show(0);
    button.textContent = "\\u23f8";
    timer = setInterval(next, {pause});
  }};
  slider.oninput = () => {{ stop(); show(slider.value); }};
  show(0);
}})();
</script>
</figure>
"""
