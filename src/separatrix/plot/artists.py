"""The artists that displays share: regions and points of classes, arrows, and entries of legends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.lines import Line2D
from matplotlib.text import Annotation
from numpy.typing import NDArray

from ..result import Floats, Ints
from ..rows.numpy_loops import signed_scores
from ..views.model import Plane
from ..views.palettes import Palette
from .style import halo, written

Box = tuple[float, float, float, float]

# How strong the color of a class is in its region, and in its half of the margin band.
REGION, BAND = 0.30, 0.12


def view_box(places: Floats) -> Box:
    """Return the rectangle to show: all points and some padding, even if all points lie on one line."""
    low, high = places.min(axis=0), places.max(axis=0)
    spread = high - low
    widest = float(spread.max())
    widest = widest if widest > 1e-300 else 1.0  # a share of a subnormal number may be zero
    pad = 0.12 * np.where(spread > 1e-9 * widest, spread, widest)
    (left, bottom), (right, top) = (low - pad).tolist(), (high + pad).tolist()
    return left, right, bottom, top


def prepare_axes(ax: Axes, plane: Plane, box: Box) -> None:
    """Set limits and labels, and equal scales if the picture keeps a reasonable shape."""
    left, right, bottom, top = box
    across, up = map(written, plane.labels)
    ax.set(xlim=(left, right), ylim=(bottom, top), xlabel=across, ylabel=up)
    ax.locator_params(nbins=6)
    if 1 / 3 <= (right - left) / (top - bottom) <= 3:
        ax.set_aspect("equal", adjustable="box")
    if not plane.labels[1]:
        ax.set_yticks([])
    if not plane.exact:
        look: dict[str, Any] = {"ha": "right", "va": "bottom", "fontsize": 7.5, "zorder": 5}
        look |= {"transform": ax.transAxes, "color": ax.xaxis.label.get_color()}
        ax.text(0.995, 0.01, "regions: slice through the mean", **look)


def draw_regions(
    ax: Axes,
    colors: Palette,
    box: Box,
    scores_at: Callable[[Floats], Floats],
    *,
    level: float = 0.0,
    resolution: int = 80,
) -> tuple[list[Any], list[Any], list[Any]]:
    """Fill the region of each class, and draw where classes tie and where the winner leads by ``level``.

    These are contours of the lead of each class on a grid. Contours are exact for linear functions, so the
    lines between two classes with linear scores are exact.

    Returns
    -------
    regions, boundary, band : lists of contour sets
    """
    left, right, bottom, top = box
    across, up = np.meshgrid(np.linspace(left, right, resolution), np.linspace(bottom, top, resolution))
    scores = scores_at(np.column_stack([across.ravel(), up.ravel()]))
    drawn: tuple[list[Any], list[Any], list[Any]] = [], [], []
    regions, boundary, band = drawn
    for label in range(scores.shape[1]):
        lead = signed_scores(scores, np.full(len(scores), label, dtype=np.int64)).reshape(across.shape)
        if not lead.max() > 0.0:
            continue
        high = max(float(lead.max()), level) + 1.0
        low = -1e-9 * high  # a tie over a whole area is filled, too
        levels, shades = ([low, level, high], [BAND, REGION]) if level > 0.0 else ([low, high], [REGION])
        tints = [colors.tint(label, shade) for shade in shades]
        regions.append(ax.contourf(across, up, lead, levels=levels, colors=tints, zorder=0.5))
        if lead.min() < 0.0 and (label or scores.shape[1] > 2):
            line = ax.contour(across, up, lead, levels=[0.0], colors=[colors.ink], linewidths=1.8, zorder=1.5)
            line.set_linestyle("solid")
            boundary.append(line)
        if level > 0.0 and lead.min() < level < lead.max():
            line = ax.contour(across, up, lead, levels=[level], colors=[colors.muted], zorder=1.5)
            line.set(linewidth=1.0, linestyle=(0, (4, 3)))
            band.append(line)
    return drawn


def point_sizes(mistakes: Ints | None, n_rows: int) -> Floats:
    """Return the areas of the points: smaller if there are many, larger for rows with more mistakes."""
    base = float(np.clip(6000.0 / max(n_rows, 1), 4.0, 34.0))
    if mistakes is None:
        return np.full(n_rows, base)
    largest = max(int(mistakes.max(initial=0)), 1)
    return np.asarray(0.35 * base + (mistakes / largest) * 260.0)


def draw_points(
    ax: Axes, colors: Palette, places: Floats, codes: Ints, n_classes: int, sizes: Floats
) -> list[PathCollection]:
    """Draw one collection per class, with large points behind small ones; many points become an image."""
    drawn, many = [], len(places) > 2_000
    for label in range(n_classes):
        mine = np.flatnonzero(codes == label)
        mine = mine[np.argsort(-sizes[mine], kind="stable")]
        look: dict[str, Any] = {"marker": colors.marker(label), "linewidths": 0.2 if many else 0.5}
        look |= {"color": colors.color(label), "edgecolors": colors.paper}
        x, y = places[mine].T
        drawn.append(ax.scatter(x, y, s=sizes[mine], rasterized=many, zorder=3.0, **look))
    return drawn


def draw_rings(
    ax: Axes, places: Floats, sizes: Floats, color: str, *, width: float = 1.1, wider: float = 1.0
) -> PathCollection:
    """Draw a ring around each point of these sizes."""
    around = wider * np.maximum(1.2 * sizes, np.minimum(6.0 * sizes, sizes + 62.0))
    x, y = places.T
    return ax.scatter(x, y, s=around, facecolors="none", edgecolors=color, linewidths=width, zorder=3.2)


def draw_arrow(
    ax: Axes, foot: Floats, vector: Floats, color: Any, colors: Palette, *, dashed: bool = False
) -> Annotation:
    """Draw an arrow in data coordinates; its tip is the annotation's ``xy``, its foot the ``xyann``."""
    look = {
        "arrowstyle": "-|>,head_width=0.22,head_length=0.5",
        "color": color,
        "linewidth": 1.4 if dashed else 2.0,
        "linestyle": (0, (3, 2)) if dashed else "solid",
        "shrinkA": 0.0,
        "shrinkB": 0.0,
        "path_effects": halo(colors),
    }
    tip: Any = tuple((foot + vector).tolist())
    start: Any = tuple(foot.tolist())
    return ax.annotate("", tip, start, arrowprops=look, annotation_clip=False, zorder=4.0)


def weight_vectors(weights: Floats) -> Floats:
    """Return the vectors that arrows show: the difference of two classes, or each class minus the mean."""
    if weights.shape[-2] == 2:
        return np.asarray(weights[..., 1:, :] - weights[..., :1, :])
    return np.asarray(weights - weights.mean(axis=-2, keepdims=True))


def class_handles(colors: Palette, classes: NDArray[Any]) -> list[Line2D]:
    """Return the legend entries of the classes."""
    names = [str(name) for name in classes.tolist()]
    short = [written(name if len(name) <= 24 else f"{name[:23]}…") for name in names]
    return [mark(colors.marker(k), colors.color(k), colors.paper, 6.5, name) for k, name in enumerate(short)]


def mark(marker: str, face: str, edge: str, size: float, label: str) -> Line2D:
    """Return a legend entry that shows a marker."""
    look: dict[str, Any] = {"markerfacecolor": face, "markeredgecolor": edge, "markersize": size}
    return Line2D([], [], marker=marker, linestyle="none", label=label, **look)


def stroke(color: str, width: float, label: str, *, dashed: bool = False) -> Line2D:
    """Return a legend entry that shows a line; ``label`` may contain a formula."""
    return Line2D([], [], color=color, linewidth=width, linestyle="--" if dashed else "-", label=label)
