"""The few ways in which experiments draw: sweeps with their spread, bounds, series, points, separators."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator

from ...plot.style import new_figure, plain_ticks
from ...views.palettes import DASHES, LIGHT, MARKERS
from ..study import Table, values, where

INK, MUTED, FAINT, ACCENT, PAPER = LIGHT.ink, LIGHT.muted, LIGHT.faint, LIGHT.accent, LIGHT.paper


def color(index: int, alpha: float = 1.0) -> Any:
    """Return the color of a series."""
    return to_rgba(LIGHT.color(index), alpha)


def series(index: int, label: str | None = None, **options: Any) -> dict[str, Any]:
    """Return the style of a series: its color, marker and dashes."""
    own = {"color": color(index), "marker": MARKERS[index % len(MARKERS)], "markersize": 5}
    return own | {"linestyle": dashes(index), "label": label, "zorder": 3} | options


def dots(index: int, label: str | None = None, **options: Any) -> dict[str, Any]:
    """Return the style of a series of many single observations."""
    return series(index, label, **{"linestyle": "none", "markersize": 4, "alpha": 0.6, "zorder": 2} | options)


def dashes(index: int) -> Any:
    """Return the dashes of a series."""
    return DASHES[index % len(DASHES)]


def panels(*each: tuple[str, ...], height: float = 4.1, **options: Any) -> tuple[Figure, Any]:
    """Return a figure with panels, and their axes in a flat array.

    Each panel has a title and may have the names of its axes and "x", "y" or "xy", its logarithmic axes.
    """
    size = (9.6 if len(each) > 1 else 6.8, height)
    figure, grid = new_figure(LIGHT, size=size, columns=len(each), squeeze=False, **options)
    for ax, panel in zip(grid.flat, each, strict=True):
        title, x, y, log = (*panel, "", "", "")[:4]
        ax.grid(True, color=FAINT, linewidth=0.6)
        ax.set(title=title, xlabel=x, ylabel=y, **{f"{axis}scale": "log" for axis in log})
    return figure, grid.ravel()


def finish(figure: Figure, *, columns: int = 4) -> Figure:
    """Label the logarithmic axes, and put one legend under all panels; it shows equal entries once."""
    entries: dict[str, Any] = {}
    for ax in figure.axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
        for axis in (ax.xaxis, ax.yaxis):
            if axis.get_scale() == "log" and not isinstance(axis.get_major_locator(), FixedLocator):
                plain_ticks(axis)
    look: dict[str, Any] = {"frameon": False, "fontsize": 8.5, "handlelength": 2.4, "ncols": columns}
    if entries:
        figure.legend(list(entries.values()), list(entries), loc="outside lower center", **look)
    return figure


def ticks_at(ax: Axes, places: Iterable[float]) -> None:
    """Put the ticks of the horizontal axis at the values that were measured."""
    ax.xaxis.set_minor_locator(FixedLocator([]))
    ax.set_xticks([float(place) for place in places], [f"{place:,g}" for place in places])


def sweep(ax: Axes, table: Table, x: str, y: str, index: int, label: str, *, shift: float = 1.0) -> None:
    """Draw the median of y for each x, with whiskers from the smallest to the largest value.

    ``shift`` moves the series sideways by a factor.
    """
    places = np.unique(table[x])
    groups = [table[y][table[x] == place] for place in places]
    ends = [(group.min(), group.max()) for group in groups]
    middle = np.array([np.median(group) for group in groups])
    interval(ax, places * shift, middle, ends, index, label, linewidth=1.5, capsize=2.5)


def sweeps(
    ax: Axes, table: Table, x: str, y: str, by: str, labels: dict[Any, str], *, apart: float = 0.06
) -> None:
    """Draw a sweep for each value of the column ``by``, and put the ticks at the values of x.

    The series are a factor of about 1 + ``apart`` from each other, so that their whiskers are side by side.
    Beside a sloping bound that is nearly met, this would put a marker on the wrong side of the line.
    """
    for place, (value, label) in enumerate(labels.items()):
        shift = 1.0 + apart * (place - (len(labels) - 1) / 2)
        sweep(ax, where(table, **{by: value}), x, y, place, label, shift=shift)
    ticks_at(ax, values(table[x]))


def interval(ax: Axes, x: Any, middle: Any, ends: Any, index: int, label: str, **options: Any) -> None:
    """Draw a value with an interval around it for each x; ``ends`` are pairs of its lower and upper end."""
    low, high = np.asarray(ends, dtype=float).T
    reach = np.maximum(0.0, [middle - low, high - middle])
    ax.errorbar(x, middle, yerr=reach, **series(index, label, **{"elinewidth": 1.1, "capsize": 3} | options))


def bound(ax: Axes, x: Any, y: Any, label: str, **options: Any) -> None:
    """Draw a theoretical bound: the one line in the accent color."""
    order = np.argsort(x)
    style = {"color": ACCENT, "linewidth": 2.0, "zorder": 2, "label": label, **options}
    ax.plot(np.asarray(x)[order], np.asarray(y)[order], **style)


def bound_by(ax: Axes, table: Table, x: str, y: str, label: str, **options: Any) -> None:
    """Draw the smallest value of a bound's column for each x, which every observation has to stay below."""
    places = np.unique(table[x])
    bound(ax, places, [np.nanmin(table[y][table[x] == place]) for place in places], label, **options)


def plane(ax: Axes, reach: float) -> None:
    """Show a square of the plane around the origin, without a grid."""
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    ax.grid(False)


def separator(ax: Axes, normal: Any, **options: Any) -> None:
    """Draw the line through the origin with this normal; by default as a bound is drawn."""
    a, b = normal
    ax.axline((0.0, 0.0), (-b, a), **{"color": ACCENT, "linewidth": 2.0, **options})


def points(ax: Axes, X: np.ndarray, y: np.ndarray) -> None:
    """Draw two classes, each with its own marker."""
    for label, marker, face in ((-1, "s", "none"), (1, "o", INK)):
        style: Any = {"s": 16, "marker": marker, "facecolor": face, "edgecolor": INK, "linewidth": 0.8}
        ax.scatter(*X[y == label].T, **style, zorder=3)
