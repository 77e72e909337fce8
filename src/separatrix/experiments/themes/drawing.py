"""The few ways in which experiments draw: sweeps with their spread, bounds, series, points, separators."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis, XAxis
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator
from matplotlib.transforms import ScaledTranslation

from ...plot.style import new_figure
from ...views.palettes import DASHES, LIGHT, MARKERS
from ..study import Table

INK, MUTED, FAINT, ACCENT, PAPER = LIGHT.ink, LIGHT.muted, LIGHT.faint, LIGHT.accent, LIGHT.paper


def color(index: int, alpha: float | None = None) -> Any:
    """Return the color of a series."""
    return LIGHT.color(index) if alpha is None else to_rgba(LIGHT.color(index), alpha)


def series(index: int, label: str | None = None, **options: Any) -> dict[str, Any]:
    """Return the style of a series: its color, marker and dashes."""
    own = {
        "color": color(index),
        "marker": MARKERS[index % len(MARKERS)],
        "markersize": 5,
        "linestyle": dashes(index),
        "label": label,
        "zorder": 3,
    }
    return own | options


def dots(index: int, label: str | None = None, **options: Any) -> dict[str, Any]:
    """Return the style of a series of many single observations."""
    return series(index, label, **{"linestyle": "none", "markersize": 4, "alpha": 0.6, "zorder": 2} | options)


def dashes(index: int) -> Any:
    """Return the dashes of a series."""
    return DASHES[index % len(DASHES)]


def panels(
    columns: int, *, rows: int = 1, width: float = 9.6, height: float = 4.1, **options: Any
) -> tuple[Figure, Any]:
    """Return a figure with panels side by side, each with a faint grid; the array of axes is flat."""
    figure, axes = new_figure(
        LIGHT, size=(width, height), rows=rows, columns=columns, squeeze=False, **options
    )
    for ax in axes.flat:
        ax.grid(True, color=FAINT, linewidth=0.6)
    return figure, axes.ravel()


def log_axes(*every: Axes, x: bool = True, y: bool = True) -> None:
    """Make axes logarithmic, with a label per decade, and at 2 and 5 of each decade on short axes."""
    for ax in every:
        for wanted, axis, scale in ((x, ax.xaxis, ax.set_xscale), (y, ax.yaxis, ax.set_yscale)):
            if wanted:
                scale("log")
                axis.set_major_locator(LogLocator(10, numticks=9))
                axis.set_major_formatter(FuncFormatter(lambda value, _, axis=axis: _decade(value, axis)))
                axis.set_minor_formatter(FuncFormatter(lambda value, _, axis=axis: _between(value, axis)))


def _short(axis: Axis) -> bool:
    """Whether there is room for labels at 2 and 5: below 1.6 decades across, 2.4 upwards."""
    low, high = sorted(axis.get_view_interval())
    return math.log10(high / low) < (1.6 if isinstance(axis, XAxis) else 2.4)


def _decade(value: float, axis: Axis) -> str:
    exponent = round(math.log10(value))
    return f"{value:,g}" if _short(axis) else rf"$\mathdefault{{10^{{{exponent}}}}}$"


def _between(value: float, axis: Axis) -> str:
    leading = value / 10.0 ** math.floor(math.log10(value) + 1e-9)
    return f"{value:,g}" if _short(axis) and round(leading, 6) in (2.0, 5.0) else ""


def ticks_at(ax: Axes, places: list[Any]) -> None:
    """Put the ticks of the horizontal axis at the values that were measured."""
    ax.xaxis.set_major_locator(FixedLocator([float(place) for place in places]))
    ax.xaxis.set_minor_locator(FixedLocator([]))
    ax.set_xticklabels([f"{place:,g}" for place in places])


def sweep(ax: Axes, table: Table, x: str, y: str, index: int, label: str, *, shift: float = 1.0) -> None:
    """Draw the median of y for each x, with whiskers from the smallest to the largest value.

    ``shift`` moves the series sideways by a factor, so that the whiskers of several series are side by side.
    Beside a sloping bound that is nearly met, a shift would put a marker on the wrong side of the line.
    """
    places = np.unique(table[x])
    groups = [table[y][table[x] == place] for place in places]
    ends = [(group.min(), group.max()) for group in groups]
    middle = np.array([np.median(group) for group in groups])
    interval(ax, places * shift, middle, ends, index, label, linewidth=1.5, capsize=2.5)


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
    (a, b), far = normal / np.linalg.norm(normal), np.array([-9.0, 9.0])
    limits = ax.get_xlim(), ax.get_ylim()
    ax.plot(-b * far, a * far, **{"color": ACCENT, "linewidth": 2.0, **options})
    ax.set(xlim=limits[0], ylim=limits[1])


def points(ax: Axes, X: np.ndarray, y: np.ndarray, size: float = 16) -> None:
    """Draw two classes, each with its own marker."""
    for label, marker, face in ((-1, "s", "none"), (1, "o", INK)):
        style: Any = {"s": size, "marker": marker, "facecolor": face, "edgecolor": INK, "linewidth": 0.8}
        ax.scatter(*X[y == label].T, **style, zorder=3)


LEGEND: dict[str, Any] = {"frameon": False, "fontsize": 8.5, "handlelength": 2.4}


def legend(ax: Axes, *, columns: int = 1, below: float = 38.0) -> None:
    """Put a legend under the axes, ``below`` points down, which leaves room for the ticks and the label."""
    down = ScaledTranslation(0.0, -below / 72.0, ax.figure.dpi_scale_trans)
    place: dict[str, Any] = {"bbox_to_anchor": (0.5, 0.0), "bbox_transform": ax.transAxes + down}
    ax.legend(**LEGEND, **place, loc="upper center", ncols=columns, borderaxespad=0.0)


def shared_legend(figure: Figure, axes: Iterable[Axes], *, columns: int = 4) -> None:
    """Put one legend under all panels; an entry that several of them have is shown once."""
    entries: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    figure.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=columns, **LEGEND)
