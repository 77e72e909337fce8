"""The pictures of a report. They are a module of their own because they need matplotlib."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from ..estimators.margin import MaxMargin, SoftMargin
from ..markup import Markup, tag
from ..plot.artists import BAND, class_handles
from ..plot.margin_bracket import BracketDisplay
from ..plot.page_svg import page_svg, svg_text
from ..plot.regions import DecisionRegionDisplay
from ..plot.style import new_figure, style, written
from ..result import Floats, PassRecord
from ..rows.numpy_loops import signed_scores
from ..sparse import sparse
from ..views.model import Model, Points, plane_for, read_model
from ..views.palettes import LIGHT
from .findings import Findings
from .tables import short


class View:
    """A classifier and its data, with the scores and distances that several pictures show."""

    def __init__(self, findings: Findings) -> None:
        data = findings.data
        table = data.X if sparse.issparse(data.X) else np.asarray(data.X, dtype=np.float64)
        self.classes: NDArray[Any] = np.asarray(findings.model.classes_)
        codes = np.searchsorted(self.classes, data.y).astype(np.int64)
        self.points = Points(data.X, table, codes, self.classes, data.names)
        self.model: Model = read_model(findings.model, self.points)
        self.two = self.classes.size == 2
        self.estimator = findings.model

    @cached_property
    def length(self) -> float:
        """The length of the weights, which turns leads into distances; one if the scores are not linear."""
        if self.model.weights is None:
            return 1.0
        return float(np.linalg.norm(self.model.weights[-1] if self.two else self.model.weights)) or 1.0

    @cached_property
    def scores(self) -> Floats:
        """The score of each row for each class."""
        return self.model.scores(self.points.table if self.model.linear else self.points.X)

    @cached_property
    def leads(self) -> Floats:
        """How far each row is on the correct side; negative on the wrong side."""
        return signed_scores(self.scores, self.points.codes) / self.length

    @property
    def unit(self) -> str:
        """The name of what leads measure."""
        return "distance" if self.two and self.model.linear else "lead"

    @cached_property
    def band(self) -> float | None:
        """The margin of the weights, or the distance below which a soft margin charges a loss."""
        if isinstance(self.estimator, MaxMargin | SoftMargin) and self.model.linear:
            return 1.0 / self.length
        lowest = float(self.leads.min())
        return lowest if lowest > 0.0 else None


def boundary(view: View, most: int = 1200) -> Markup:
    """Draw the rows and the regions of the classes.

    If there are more than ``most`` rows, a quarter of those shown are the hardest, and the others are evenly
    spread.
    """
    points, n_rows = view.points, len(view.points.codes)
    plane, chosen = plane_for(view.model, points, view.scores), np.arange(n_rows)
    if n_rows > most:
        hard = np.argsort(view.leads, kind="stable")[: most // 4]
        chosen = np.union1d(hard, np.linspace(0, n_rows - 1, most - hard.size).astype(np.int64))
    wrong = view.leads[chosen] <= 0.0
    shown = DecisionRegionDisplay(
        model=view.model,
        points=Points(points.X, points.table[chosen], points.codes[chosen], points.classes, points.names),
        plane=plane,
        level=None if view.band is None else view.band * view.length,
        support=np.zeros(0, dtype=np.int64),
        errors=np.flatnonzero(wrong),
    )
    words = f"The classifier is {type(view.estimator).__name__}. "
    words += "Crosses mark rows on the wrong side or on the boundary. " if wrong.any() else ""
    if points.table.shape[1] > 2:
        words += (
            "All features are used. The horizontal axis is the direction of the weights, and the vertical "
            "axis is the direction perpendicular to it in which the rows vary most. "
            if plane.exact and view.two
            else "All features are used. The axes are the two directions in which the weights or the scores "
            "vary most. "
        )
    if chosen.size < n_rows:
        words += f"{chosen.size:,} of {n_rows:,} rows are shown, including the hardest."

    def draw(ax: Axes) -> None:
        shown.plot(ax=ax, legend=False).ax_.set_aspect("auto")

    return _figure("The boundary", words, draw, view, width=7.6, height=4.0)


def margins(view: View) -> Markup:
    """Draw a histogram of the distances of the rows to the boundary, with the margin."""
    values, codes, band = view.leads, view.points.codes, view.band
    low, high = np.quantile(values, [0.002, 0.998])
    low, high = min(float(low), 0.0), max(float(high), band or 0.0, 1e-12)

    def draw(ax: Axes) -> None:
        if low < 0.0:
            ax.axvspan(low, 0.0, color=LIGHT.faint, linewidth=0.0)
        if band:
            ax.axvspan(0.0, band, color=LIGHT.tint(0, BAND), linewidth=0.0)
            ax.axvline(band, color=LIGHT.muted, linewidth=1.0, linestyle=(0, (4, 3)))
        parts = [np.clip(values[codes == k], low, high) for k in range(view.classes.size)]
        colors = [LIGHT.color(k) for k in range(len(parts))]
        ax.hist(parts, bins=36, range=(low, high), stacked=True, color=colors)
        ax.axvline(0.0, color=LIGHT.ink)
        ax.locator_params(axis="y", integer=True)
        ax.set(ylabel="rows", xlabel=words[view.unit])

    words = {
        "distance": "distance to the boundary, positive on the correct side",
        "lead": "score of the row's own class minus the best other score",
    }
    wrong = int(np.count_nonzero(values <= 0.0))
    said = f"{wrong:,} of {values.size:,} rows are on the wrong side or on the boundary (at zero)."
    if band:
        inside = int(np.count_nonzero((values > 0.0) & (values < band * (1 - 1e-9))))
        said += f" The shaded margin is {short(band)} wide, and {inside:,} rows are strictly inside it."
    return _figure("Margins", said, draw, view)


def weights(view: View, most: int = 15) -> Markup | None:
    """Draw the largest weights, each times the standard deviation of its column; for up to eight classes."""
    if view.model.weights is None or view.classes.size > 8:
        return None
    own = view.model.weights[-1:] if view.two else view.model.weights - view.model.weights.mean(axis=0)
    effects = own * np.sqrt(StandardScaler(with_mean=False).fit(view.points.table).var_)
    order = np.argsort(-np.abs(effects).max(axis=0), kind="stable")[:most]
    order = order[effects[:, order].any(axis=0)][::-1]
    thick = 0.8 / len(own)

    def draw(ax: Axes) -> None:
        for k, values in enumerate(effects[:, order]):
            colors = [LIGHT.color(int(value > 0.0) if view.two else k) for value in values]
            ax.barh(np.arange(order.size) + (len(own) / 2 - k - 0.5) * thick, values, thick, color=colors)
        names = [view.points.names[j] for j in order]
        short_names = [written(name if len(name) <= 22 else f"{name[:21]}…") for name in names]
        ax.set_yticks(np.arange(order.size), short_names)
        ax.axvline(0.0, color=LIGHT.ink)
        ax.set_xlabel("weight times standard deviation")

    said = "Each bar is a weight times the standard deviation of its column."
    said += " Its color is that of the class whose score grows with the feature." if view.two else ""
    left = int(np.count_nonzero(effects.any(axis=0))) - order.size
    said += f" {left:,} features with smaller weights are not shown." if left > 0 else ""
    height = 1.2 + 0.22 * max(order.size, 3) * min(len(own), 3)
    return _figure("Weights by feature", said, draw, view, height=height)


def bracket(history: tuple[PassRecord, ...]) -> Markup | None:
    """Draw the best bounds of the best margin so far, after each reading of all rows."""
    shown = BracketDisplay.of_history(history)
    lower, upper = float(shown.lower[-1]), float(shown.upper[-1])
    if not 0.0 < upper < math.inf:
        return None
    words = f"The best margin is at most {short(upper)}, which the counts of updates prove. "
    words += (
        f"It is at least {short(lower)}, which the weights prove. "
        if lower > 0.0
        else "There is no lower bound, because no reading found a separator. "
    )
    words += "Both bounds hold up to rounding."
    return _figure("The best margin, bracketed", words, lambda ax: shown.plot(ax=ax))


def _figure(
    title: str,
    caption: str,
    draw: Callable[[Axes], Any],
    view: View | None = None,
    *,
    width: float = 5.4,
    height: float = 3.2,
) -> Markup:
    """Draw a picture; with a view, a legend above it names the classes."""
    figure, ax = new_figure(LIGHT, size=(width, height))
    with style(LIGHT):
        draw(ax)
        if view is not None:
            handles = class_handles(LIGHT, view.classes[:8])
            figure.legend(handles=handles, loc="outside upper left", ncols=4, frameon=False)
    svg = page_svg(svg_text(figure, title), title)
    return tag("figure", tag("h3", title), svg, tag("figcaption", caption.strip()))
