"""One look for every picture of matplotlib, in the colors of `views.palettes`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import matplotlib as mpl
import numpy as np
from cycler import cycler
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from ..errors import InputError
from ..printable import printable
from ..views.palettes import DARK, LIGHT, THEMES, Palette

LAYOUT: Final = "compressed"  # constrained, and aware of axes of equal scales


class Display:
    """A picture that can be drawn again; a notebook shows it as one line, without the numbers behind it."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._told()}>"

    def _told(self) -> str:
        """What is shown, in a few words: the sizes of the arrays behind it."""
        sizes = {
            name.rstrip("_"): "x".join(map(str, value.shape))
            for name, value in vars(self).items()
            if isinstance(value, np.ndarray) and not name.startswith("_")
        }
        return ", ".join(f"{name} {size}" for name, size in list(sizes.items())[:4]) or "a picture"


def written(name: str) -> str:
    r"""A name as matplotlib may write it: not as a formula, and without invisible characters.

    Examples
    --------
    >>> print(written("5$ a\tday"))
    5\$ a\tday
    """
    return printable(name).replace("$", r"\$")


def palette(theme: str | Palette | None = None) -> Palette:
    """The palette of a theme; without one, the palette that suits matplotlib's present background.

    Examples
    --------
    >>> palette("dark").paper
    '#16181c'
    """
    if isinstance(theme, Palette):
        return theme
    if theme is None:
        return _suits(mpl.rcParams["axes.facecolor"])
    if theme not in THEMES:
        raise InputError(
            f"The 'theme' of a picture must be one of {', '.join(map(repr, THEMES))} or None. "
            f"Got {theme!r} instead."
        )
    return THEMES[theme]


def palette_of(ax: Axes) -> Palette:
    """The palette that suits existing axes."""
    return _suits(ax.get_facecolor())


def _suits(background: Any) -> Palette:
    if background is None or background == "none":
        return LIGHT
    red, green, blue, alpha = mpl.colors.to_rgba(background)
    gray = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return DARK if alpha > 0.5 and gray < 0.4 else LIGHT


def settings(theme: str | Palette | None = None) -> Any:
    """The rcParams of a theme, for ``matplotlib.rc_context`` or ``rcParams.update``."""
    colors = palette(theme)
    return {
        "axes.axisbelow": True,
        "axes.edgecolor": colors.muted,
        "axes.facecolor": colors.paper,
        "axes.grid": False,
        "axes.labelcolor": colors.ink,
        "axes.labelsize": 10,
        "axes.linewidth": 0.8,
        "axes.prop_cycle": cycler(color=list(colors.classes)),
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlecolor": colors.ink,
        "axes.titlelocation": "left",
        "axes.titlesize": 11,
        "axes.titleweight": "bold",
        "figure.constrained_layout.use": True,
        "figure.dpi": 100,
        "figure.edgecolor": colors.paper,
        "figure.facecolor": colors.paper,
        "figure.titlesize": 12,
        "figure.titleweight": "bold",
        "font.size": 10,
        "grid.color": colors.faint,
        "grid.linewidth": 0.6,
        "hatch.color": colors.muted,
        "legend.edgecolor": colors.faint,
        "legend.facecolor": colors.paper,
        "legend.fontsize": 9,
        "legend.framealpha": 0.9,
        "legend.labelcolor": colors.ink,
        "lines.linewidth": 1.6,
        "mathtext.fontset": "dejavusans",
        "pdf.fonttype": 42,  # text stays text
        "savefig.dpi": 150,
        "savefig.edgecolor": colors.paper,
        "savefig.facecolor": colors.paper,
        "svg.fonttype": "none",
        "text.color": colors.ink,
        "xtick.color": colors.muted,
        "xtick.labelcolor": colors.ink,
        "xtick.labelsize": 9,
        "ytick.color": colors.muted,
        "ytick.labelcolor": colors.ink,
        "ytick.labelsize": 9,
    }


@contextmanager
def style(theme: str | Palette | None = None) -> Iterator[Palette]:
    """Give everything that is made inside the look of a theme.

    Examples
    --------
    >>> with style("dark") as colors:
    ...     mpl.rcParams["axes.facecolor"] == colors.paper
    True
    """
    colors = palette(theme)
    with mpl.rc_context(settings(colors)):
        yield colors


def new_figure(
    theme: str | Palette | None = None,
    *,
    size: tuple[float, float] = (5.5, 4.4),
    rows: int = 1,
    columns: int = 1,
    **options: Any,
) -> tuple[Figure, Any]:
    """A figure and its axes in the look of a theme.

    The figure opens no window, notebooks show it, and nothing has to be closed.

    Parameters
    ----------
    theme : {"light", "dark"}, Palette or None
    size : (float, float)
        Width and height in inches.
    rows, columns : int
        How many axes.
    **options
        For ``Figure.subplots``, for example ``sharex=True`` or ``width_ratios=[2, 1]``.

    Returns
    -------
    figure : Figure
    axes : Axes or array of Axes
    """
    with style(theme):
        figure = Figure(figsize=size, layout=LAYOUT)
        return figure, figure.subplots(rows, columns, **options)


def plain_ticks(axis: Axis) -> None:
    """Write the powers of ten of a logarithmic axis as numbers; if fewer than two fit, other numbers too."""
    low, high = axis.get_view_interval()
    decades = np.log10(high / low) if 0.0 < low < high else np.inf
    if decades < 0.5:
        axis.set_major_locator(MaxNLocator(4))
    elif decades < 2.0:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def axes_for(
    ax: Axes | None, theme: str | Palette | None, size: tuple[float, float]
) -> tuple[Figure | SubFigure, Axes, Palette]:
    """The given axes with the palette that suits them, or new ones that ``plt.show()`` will show."""
    if ax is not None:
        return ax.figure, ax, palette_of(ax) if theme is None else palette(theme)
    from matplotlib import pyplot as plt

    with style(theme) as colors:
        figure, ax = plt.subplots(figsize=size, layout=LAYOUT)
    return figure, ax, colors


def add_legend(ax: Axes, handles: list[Any]) -> None:
    """Put the legend beside the picture if the layout makes room for it, else inside."""
    figure = ax.figure.figure  # the whole figure, even if the axes are in a part of it
    if figure.get_layout_engine() is not None:
        ax.legend(
            handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, frameon=False
        )
    else:
        points = sum(np.shape(drawn.get_offsets())[0] for drawn in ax.collections)
        ax.legend(handles=handles, loc="best" if points < 2000 else "upper right")  # "best" looks at each


def halo(colors: Palette) -> list[Any]:
    """A rim in the color of the paper: lines and text stay legible over points."""
    return [patheffects.withStroke(linewidth=3.2, foreground=colors.paper)]
