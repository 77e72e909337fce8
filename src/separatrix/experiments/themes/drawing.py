"""The few ways in which experiments draw: sweeps with their spread, bounds, panels."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis, XAxis
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator
from matplotlib.transforms import ScaledTranslation

from ...plot.style import new_figure
from ...views.palettes import DASHES, LIGHT, MARKERS
from ..study import Table

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
    "interval",
    "legend",
    "log_axes",
    "panels",
    "rgb",
    "shared_legend",
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


SHORT_ACROSS, SHORT_UP = 1.6, 2.4  # decades; shorter axes have room for labels at 2 and 5 too


def log_axes(ax: Axes, *, x: bool = True, y: bool = True) -> None:
    """Logarithmic axes with a label a decade, and at 2 and 5 of each decade on short axes."""
    for wanted, axis, scale in ((x, ax.xaxis, ax.set_xscale), (y, ax.yaxis, ax.set_yscale)):
        if wanted:
            scale("log")
            axis.set_major_locator(LogLocator(10, numticks=9))
            axis.set_major_formatter(FuncFormatter(lambda value, _, axis=axis: _decade(value, axis)))
            axis.set_minor_formatter(FuncFormatter(lambda value, _, axis=axis: _between(value, axis)))


def _short(axis: Axis) -> bool:
    low, high = sorted(axis.get_view_interval())
    return math.log10(high / low) < (SHORT_ACROSS if isinstance(axis, XAxis) else SHORT_UP)


def _decade(value: float, axis: Axis) -> str:
    exponent = round(math.log10(value))
    return f"{value:,g}" if _short(axis) else rf"$\mathdefault{{10^{{{exponent}}}}}$"


def _between(value: float, axis: Axis) -> str:
    leading = value / 10.0 ** math.floor(math.log10(value) + 1e-9)
    return f"{value:,g}" if _short(axis) and round(leading, 6) in (2.0, 5.0) else ""


def ticks_at(ax: Axes, places: list[Any], labels: list[str] | None = None) -> None:
    """Ticks of the horizontal axis at the values that were measured."""
    ax.xaxis.set_major_locator(FixedLocator([float(place) for place in places]))
    ax.xaxis.set_minor_locator(FixedLocator([]))
    ax.set_xticklabels([f"{place:,g}" for place in places] if labels is None else labels)


def sweep(ax: Axes, table: Table, x: str, y: str, index: int, label: str, *, shift: float = 1.0) -> None:
    """The median of y for each x, with whiskers from the smallest to the largest value.

    ``shift`` moves the series sideways by a factor, so that whiskers of several series stand side by side.
    Beside a sloping bound that is nearly met, a shift would put a marker on the wrong side of the line.
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


def interval(ax: Axes, x: Any, middle: Any, ends: Any, index: int, label: str, **options: Any) -> None:
    """A value with an interval around it for each x; ``ends`` are pairs of the lower and the upper end."""
    low, high = np.asarray(ends, dtype=float).T
    ax.errorbar(
        x,
        middle,
        yerr=np.maximum(0.0, [middle - low, high - middle]),
        **{
            "color": color(index),
            "marker": MARKERS[index % len(MARKERS)],
            "markersize": 5,
            "elinewidth": 1.1,
            "capsize": 3,
            "label": label,
            "zorder": 3,
            **options,
        },
    )


LEGEND: dict[str, Any] = {"frameon": False, "fontsize": 8.5, "handlelength": 2.4}


def legend(ax: Axes, *, columns: int = 1, below: float = 38.0) -> None:
    """A legend under the axes, where no data can be; ``below`` leaves room for ticks and label, in points."""
    figure = ax.figure
    down = ScaledTranslation(0.0, -below / 72.0, figure.dpi_scale_trans)
    place: dict[str, Any] = {
        "loc": "upper center",
        "bbox_to_anchor": (0.5, 0.0),
        "bbox_transform": ax.transAxes + down,
    }
    ax.legend(**LEGEND, **place, ncols=columns, borderaxespad=0.0)


def shared_legend(figure: Figure, axes: Iterable[Axes], *, columns: int = 4) -> None:
    """One legend under all panels; an entry that several of them have is shown once."""
    entries: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    figure.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=columns, **LEGEND)


def rgb(index: int) -> tuple[float, float, float]:
    """The colour of a series as numbers, to which a transparency can be added."""
    return to_rgb(color(index))
