"""Films: pictures as a GIF, as a page that plays by itself, or as an MP4 if ffmpeg is installed."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Callable, Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from matplotlib.animation import FFMpegWriter
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from ..atomic import replacing
from ..errors import InputError
from ..progress import Progress

COLORS = 64  # per picture: flat areas and their edges need no more


class Film:
    """The pictures of a figure that changes.

    Parameters
    ----------
    pictures : function without arguments
        Returns an iterable that changes a figure and yields it, picture by picture.
    count : int
        How many pictures there are.
    fps : float
        Pictures per second.
    dpi : int
    title : str
    """

    def __init__(
        self, pictures: Callable[[], Iterable[Figure]], count: int, *, fps: float, dpi: int, title: str
    ) -> None:
        if not 0.0 < fps <= 60.0:
            raise InputError(f"fps must be above 0 and at most 60 pictures per second. Got {fps!r}.")
        self.pictures, self.count, self.fps, self.dpi, self.title = pictures, count, fps, dpi, title

    def save(self, path: str | PathLike[str]) -> None:
        """Write the film, in the format of the file's ending: .gif, .html or .mp4; all of it or nothing."""
        target = Path(path)
        writers: dict[str, Callable[[Path], None]] = {
            ".gif": self._write_gif,
            ".html": self._write_html,
            ".mp4": self._write_mp4,
        }
        write = writers.get(target.suffix.lower())
        if write is None:
            raise InputError(
                f"A film is written as {', '.join(writers)}. Got the name {target.name!r} instead."
            )
        with replacing(target) as part:
            write(part)

    def to_html(self) -> str:
        """HTML that plays the film and needs nothing from the network."""
        return PLAYER.format(
            title=html.escape(self.title, quote=True),
            pause=round(1000.0 / self.fps),
            last=self.count - 1,
            frames=",".join(f'"{base64.b64encode(each).decode()}"' for each in self._pngs()),
        )

    def _repr_html_(self) -> str:
        return self.to_html()

    def _write_gif(self, path: Path) -> None:
        images = [image.quantize(COLORS) for image in self._images()]
        pause = round(1000.0 / self.fps)
        images[0].save(
            path,
            save_all=True,
            append_images=images[1:],
            duration=[pause] * (len(images) - 1) + [4 * pause],
            loop=0,
            optimize=True,
            format="gif",
        )

    def _write_html(self, path: Path) -> None:
        page = PAGE.format(title=html.escape(self.title, quote=True), player=self.to_html())
        path.write_text(page, encoding="utf-8")

    def _write_mp4(self, path: Path) -> None:
        if not FFMpegWriter.isAvailable():
            raise InputError(
                "An MP4 film is made by ffmpeg, which was not found. Install it, or write .gif or .html, "
                "which need nothing else."
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

    def _images(self) -> Iterator[Any]:
        with Progress() as progress:
            for number, figure in enumerate(self.pictures(), 1):
                if progress.due():
                    progress.show(f"drawing picture {number} of {self.count}")
                figure.set_dpi(self.dpi)
                canvas: Any = FigureCanvasAgg(figure)
                canvas.draw()
                yield Image.frombuffer(
                    "RGBA", canvas.get_width_height(), bytes(canvas.buffer_rgba()), "raw", "RGBA", 0, 1
                ).convert("RGB")

    def _pngs(self) -> Iterator[bytes]:
        for image in self._images():
            file = io.BytesIO()
            image.quantize(COLORS).save(file, "png", optimize=True)
            yield file.getvalue()


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

PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
</head>
<body>
{player}</body>
</html>
"""
