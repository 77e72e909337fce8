"""The few ways in which experiments draw: sweeps with their spread, bounds, panels."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, LogFormatterSciNotation, LogLocator

from ..plot.style import new_figure
from ..views.palettes import DASHES, LIGHT, MARKERS
from .study import Table

__all__ = [
    "ACCENT",
    "COLORS",
    "DASHES",
    "FAINT",
    "INK",
    "MARKERS",
    "MUTED",
    "bound",
    "bound_by",
    "color",
    "legend",
    "log_axes",
    "panels",
    "rgb",
    "sweep",
    "ticks_at",
]

COLORS = LIGHT
INK, MUTED, FAINT, ACCENT = LIGHT.ink, LIGHT.muted, LIGHT.faint, LIGHT.accent


def color(index: int) -> str:
    """The colour of a series."""
    return LIGHT.color(index)


def panels(
    columns: int, *, rows: int = 1, width: float = 9.6, height: float = 3.7, **options: Any
) -> tuple[Figure, Any]:
    """A figure with panels side by side, each with a faint grid; the array of axes is flat."""
    figure, axes = new_figure(
        LIGHT, size=(width, height), rows=rows, columns=columns, squeeze=False, **options
    )
    for ax in axes.flat:
        ax.grid(True, color=FAINT, linewidth=0.6)
    return figure, axes.ravel()


def log_axes(ax: Axes, *, x: bool = True, y: bool = True) -> None:
    """Logarithmic axes with a label a decade, and labels between on axes shorter than that."""
    for wanted, axis, scale in ((x, ax.xaxis, ax.set_xscale), (y, ax.yaxis, ax.set_yscale)):
        if wanted:
            scale("log")
            axis.set_major_locator(LogLocator(10, numticks=9))
            axis.set_minor_formatter(LogFormatterSciNotation(minor_thresholds=(1.0, 0.4)))


def ticks_at(ax: Axes, places: list[Any], labels: list[str] | None = None) -> None:
    """Ticks of the horizontal axis at the values that were measured."""
    ax.xaxis.set_major_locator(FixedLocator([float(place) for place in places]))
    ax.xaxis.set_minor_locator(FixedLocator([]))
    ax.set_xticklabels([f"{place:,g}" for place in places] if labels is None else labels)


def sweep(ax: Axes, table: Table, x: str, y: str, index: int, label: str, *, shift: float = 1.0) -> None:
    """The median of y for each x, with whiskers from the smallest to the largest value.

    ``shift`` moves the series sideways by a factor, so that whiskers of several series stand side by side.
    """
    places = np.unique(table[x])
    groups = [table[y][table[x] == place] for place in places]
    middle = np.array([np.median(group) for group in groups])
    reach = np.array([[np.median(g) - g.min(), g.max() - np.median(g)] for g in groups]).T
    ax.errorbar(
        places * shift,
        middle,
        yerr=reach,
        color=color(index),
        marker=MARKERS[index % len(MARKERS)],
        markersize=5,
        linestyle=DASHES[index % len(DASHES)],
        linewidth=1.5,
        elinewidth=1.1,
        capsize=2.5,
        label=label,
        zorder=3,
    )


def bound(ax: Axes, x: Any, y: Any, label: str, **options: Any) -> None:
    """A theoretical bound: the one line in the accent colour."""
    order = np.argsort(x)
    ax.plot(
        np.asarray(x)[order],
        np.asarray(y)[order],
        **{"color": ACCENT, "linewidth": 2.0, "zorder": 2, "label": label, **options},
    )


def bound_by(ax: Axes, table: Table, x: str, y: str, label: str, **options: Any) -> None:
    """The smallest value of a bound's column for each x: what every observation there has to stay below."""
    places = np.unique(table[x])
    lowest = [np.nanmin(table[y][table[x] == place]) for place in places]
    bound(ax, places, lowest, label, **options)


def legend(ax: Axes, **options: Any) -> None:
    """A legend without a frame."""
    ax.legend(**{"frameon": False, "fontsize": 8.5, "handlelength": 2.4, **options})


def rgb(index: int) -> tuple[float, float, float]:
    """The colour of a series as numbers, to which a transparency can be added."""
    return to_rgb(color(index))
