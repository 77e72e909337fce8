"""The playground as a folder for any web server: the page, its engine, the presets and their pictures."""

from __future__ import annotations

import shutil
from html import escape
from io import BytesIO
from pathlib import Path

from ..errors import InputError, needs
from ..proofs.verdict import separability
from .api.answers import PresetAnswer, write
from .compute.engine import arrays, fitted
from .compute.methods import STEPWISE
from .content.presets import PRESETS
from .server.service import HEADERS, STATIC, about

TITLE = "separatrix playground"
SENTENCE = "Separate the classes, or prove that it cannot be done. Move a point and watch."
CHARSET = '<meta charset="utf-8">'
# A page may not say who frames it; only the header of a server may.
POLICY = HEADERS["Content-Security-Policy"].replace("; frame-ancestors 'none'", "")
WIDTH, HEIGHT = 1200, 630  # of the pictures that a link shows


def write_site(folder: Path, address: str | None = None) -> int:
    """Write the folder, and return its size in bytes.

    Parameters
    ----------
    folder : Path
        Files of the same names are replaced.
    address : str, optional
        Where the folder will be served: shared links open there, and show a picture. Without it, links open
        the page on which they were made.
    """
    if address is not None and not address.startswith(("https://", "http://")):
        raise InputError(
            f"The address of the playground must begin with https:// or http://. Got {address!r} instead.",
            parameter="address",
        )
    place = None if address is None else f"{address.rstrip('/')}/"
    shutil.copytree(
        STATIC, folder / "static", dirs_exist_ok=True, ignore=shutil.ignore_patterns("index.html")
    )
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    head = _head("separable", "", place)
    (folder / "index.html").write_text(page.replace(CHARSET, CHARSET + head), encoding="utf-8")
    (folder / "about.json").write_bytes(write(about(server=False, address=place)))
    (folder / "presets").mkdir(exist_ok=True)
    for name, make in PRESETS.items():
        made = make()
        (folder / "presets" / f"{name}.json").write_bytes(write(made))
        (folder / "presets" / f"{name}.png").write_bytes(preview(made))
        (folder / f"{name}.html").write_text(_forward(name, place), encoding="utf-8")
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _head(name: str, page: str, place: str | None) -> str:
    """Return what a link shows, in the words of the Open Graph protocol, and the policy of the page."""
    shown = {"title": TITLE, "description": SENTENCE, "type": "website"}
    if place is not None:
        shown |= {"url": f"{place}{page}", "image": f"{place}presets/{name}.png"}
        shown |= {"image:width": str(WIDTH), "image:height": str(HEIGHT)}
    lines = [f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">']
    lines += [f'<meta property="og:{key}" content="{escape(value)}">' for key, value in shown.items()]
    lines += [f'<meta name="description" content="{escape(SENTENCE)}">']
    lines += ['<meta name="twitter:card" content="summary_large_image">']
    return "\n" + "\n".join(lines)


def _forward(name: str, place: str | None) -> str:
    """Return a page with the picture of a preset, which forwards to it: a link with # has no picture."""
    target = f"./#p={name}"
    return (
        f'<!doctype html>\n<html lang="en">\n{CHARSET}{_head(name, f"{name}.html", place)}\n'
        f'<meta http-equiv="refresh" content="0; url={target}">\n<title>{TITLE}</title>\n'
        f'<a href="{target}">{TITLE}</a>\n'
    )


def preview(made: PresetAnswer) -> bytes:
    """Draw a preset with what its settings learn, as PNG in few colors."""
    with needs("The picture of a link", extra="plot"):
        from PIL import Image

        from ..plot.regions import DecisionRegionDisplay
        from ..plot.style import new_figure, palette

    estimator, points = fitted(made.data, made.settings)
    colors = palette("light")
    figure, (left, right) = new_figure(
        "light", size=(WIDTH / 100, HEIGHT / 100), columns=2, width_ratios=[1.5, 1.0]
    )
    y = points.classes[points.codes]
    DecisionRegionDisplay.from_estimator(
        estimator, points.X, y, ax=left, theme="light", title="", legend=False
    )
    right.axis("off")
    lines = [(0.62, 30, "bold", colors.ink, _verdict(made)), (0.08, 16, "normal", colors.muted, TITLE)]
    if made.settings.method in STEPWISE:
        lines.append((0.44, 22, "normal", colors.ink, f"{estimator.mistakes_} mistakes"))
    for height, size, weight, color, text in lines:
        right.text(
            0.0, height, text, fontsize=size, fontweight=weight, color=color, transform=right.transAxes
        )
    target = BytesIO()
    figure.savefig(target, format="png", dpi=100)
    small = BytesIO()
    Image.open(target).convert("RGB").resize((WIDTH, HEIGHT)).quantize(64).save(small, "PNG", optimize=True)
    return small.getvalue()


def _verdict(made: PresetAnswer) -> str:
    """Return the verdict on lines, or on hyperplanes, in words that fit on a picture."""
    X, y = arrays(made.data)
    noun = "line" if X.shape[1] == 2 else "hyperplane"
    separable = separability(X, y, fit_intercept=made.settings.lift).separable
    return f"A {noun} separates\nthem." if separable else f"No {noun} can\nseparate them."
