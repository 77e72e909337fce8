"""The base of all displays, and the style they share: matplotlib with the colors of `views.palettes`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Final, Self

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
    """The base of all pictures: each keeps the numbers behind it, so that `plot` can draw it again."""

    _size: ClassVar = (6.4, 4.6)  # inches, of a new figure
    _widths: ClassVar[tuple[float, ...]] = (1.0,)  # of its axes

    def plot(
        self,
        *,
        ax: Axes | Sequence[Axes] | None = None,
        theme: str | Palette | None = None,
        title: str | None = None,
        legend: bool = True,
    ) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : Axes, or several of them, optional
            Where to draw. By default, a new figure is made.
        theme : {"light", "dark"}, Palette or None
            By default, the theme that suits the background.
        title : str, optional
        legend : bool
            Whether to add a legend, if the picture has one.

        Returns
        -------
        Display
            The display itself, with ``ax_``, ``figure_`` and the artists it drew.
        """
        self.figure_: Figure | SubFigure
        if ax is None:
            from matplotlib import pyplot as plt

            look: Any = {"figsize": self._size, "width_ratios": self._widths, "layout": LAYOUT}
            with style(theme) as colors:
                self.figure_, axes = plt.subplots(1, len(self._widths), squeeze=False, **look)
            self.ax_, *self._more_axes = axes.flat
        else:
            self.ax_, *self._more_axes = [ax] if isinstance(ax, Axes) else ax
            self.figure_ = self.ax_.figure
            colors = palette_of(self.ax_) if theme is None else palette(theme)
        with style(colors):
            self._draw(colors)
            shown = self._title() if title is None else title
            if shown:
                self.ax_.set_title(shown)
            if legend and (handles := self._handles(colors)):
                add_legend(self.ax_, handles)
        return self

    def _draw(self, colors: Palette) -> None:
        raise NotImplementedError

    def _title(self) -> str:
        return ""

    def _handles(self, colors: Palette) -> list[Any]:
        """Return the entries of the legend."""
        return []


def written(name: str) -> str:
    r"""Escape a name for matplotlib: it must not be read as a formula or contain invisible characters.

    Examples
    --------
    >>> print(written("5$ a\tday"))
    5\$ a\tday
    """
    return printable(name).replace("$", r"\$")


def palette(theme: str | Palette | None = None) -> Palette:
    """Return the palette of a theme. The default suits matplotlib's current background.

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
    """Return the palette that suits existing axes."""
    return _suits(ax.get_facecolor())


def _suits(background: Any) -> Palette:
    if background is None or background == "none":
        return LIGHT
    red, green, blue, alpha = mpl.colors.to_rgba(background)
    gray = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return DARK if alpha > 0.5 and gray < 0.4 else LIGHT


def settings(theme: str | Palette | None = None) -> Any:
    """Return the rcParams of a theme, for ``matplotlib.rc_context`` or ``rcParams.update``."""
    colors = palette(theme)
    return {
        "axes.axisbelow": True,
        "axes.edgecolor": colors.muted,
        "axes.facecolor": colors.paper,
        "axes.grid": False,
        "axes.labelcolor": colors.ink,
        "axes.prop_cycle": cycler(color=list(colors.classes)),
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlecolor": colors.ink,
        "axes.titlelocation": "left",
        "axes.titlesize": 11,
        "axes.titleweight": "bold",
        "figure.constrained_layout.use": True,
        "figure.facecolor": colors.paper,
        "font.size": 10,
        "grid.color": colors.faint,
        "grid.linewidth": 0.6,
        "legend.edgecolor": colors.faint,
        "legend.facecolor": colors.paper,
        "legend.fontsize": 9,
        "legend.framealpha": 0.9,
        "legend.labelcolor": colors.ink,
        "lines.linewidth": 1.6,
        "pdf.fonttype": 42,  # text stays text
        "savefig.dpi": 150,
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
    """Draw everything inside the ``with`` block in the style of a theme.

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
    """Return a figure and its axes in the style of a theme.

    The figure opens no window and does not have to be closed. Notebooks show it.

    Parameters
    ----------
    theme : {"light", "dark"}, Palette or None
    size : (float, float)
        Width and height in inches.
    rows, columns : int
        The number of axes.
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
    """Label a logarithmic axis with plain numbers; add ticks if the view spans less than two decades."""
    low, high = axis.get_view_interval()
    decades = np.log10(high / low) if 0.0 < low < high else np.inf
    if decades < 0.5:
        axis.set_major_locator(MaxNLocator(4))
    elif decades < 2.0:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value:,.0f}" if 1e3 <= value < 1e8 else f"{value:g}")
    )
    axis.set_minor_formatter(NullFormatter())


def add_legend(ax: Axes, handles: list[Any]) -> None:
    """Put the legend next to the axes if the layout makes room for it, and inside them if it does not."""
    figure = ax.figure.figure  # the whole figure, even if the axes are in a part of it
    if figure.get_layout_engine() is not None:
        ax.legend(
            handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, frameon=False
        )
    else:
        points = sum(np.shape(drawn.get_offsets())[0] for drawn in ax.collections)
        ax.legend(handles=handles, loc="best" if points < 2000 else "upper right")  # "best" looks at each


def halo(colors: Palette) -> list[Any]:
    """Return an outline in the background color, which keeps lines and text legible over points."""
    return [patheffects.withStroke(linewidth=3.2, foreground=colors.paper)]
