"""The pictures of a report; not part of the page, which needs no matplotlib if it has no pictures."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ..estimators.margin import MaxMargin, SoftMargin
from ..markup import Markup
from ..plot.drawing import BAND, class_handles
from ..plot.margin_bracket import BracketDisplay
from ..plot.page_svg import page_svg, svg_text
from ..plot.regions import DecisionRegionDisplay
from ..plot.style import new_figure, style, written
from ..result import Floats, PassRecord, RunResult, often_corrected
from ..rows.class_leads import leads
from ..sparse import sparse
from ..views.model import Model, Points, plane_for, read_model
from ..views.palettes import LIGHT
from .findings import Findings, updates
from .tables import short


@dataclass(frozen=True)
class Figure:
    """A picture with its title and what it says."""

    title: str
    svg: Markup
    caption: str


class View:
    """A classifier and the data as pictures need them: scores, leads, distances."""

    def __init__(self, findings: Findings) -> None:
        data = findings.data
        table = data.X if sparse.issparse(data.X) else np.asarray(data.X, dtype=np.float64)
        self.classes: NDArray[Any] = np.asarray(findings.model.classes_)
        codes = np.searchsorted(self.classes, data.y).astype(np.int64)
        self.points = Points(data.X, table, codes, self.classes, data.names)
        self.model: Model = read_model(findings.model, self.points)
        self.two = self.classes.size == 2
        self._estimator = findings.model

    @cached_property
    def length(self) -> float:
        """What turns leads into distances; one if the boundary is not a hyperplane."""
        if self.model.weights is None:
            return 1.0
        return float(np.linalg.norm(self.model.weights[-1] if self.two else self.model.weights)) or 1.0

    @cached_property
    def scores(self) -> Floats:
        """One score for each row and class."""
        return self.model.scores(self.points.table if self.model.linear else self.points.X)

    @cached_property
    def leads(self) -> Floats:
        """How far each row is on its own side."""
        return leads(self.scores, self.points.codes) / self.length

    @property
    def unit(self) -> str:
        """What leads are measured in."""
        return "distance" if self.two and self.model.linear else "lead"

    @cached_property
    def band(self) -> float | None:
        """The width within which the hinge loss charges a row, or the margin of weights without one."""
        if isinstance(self._estimator, MaxMargin | SoftMargin) and self.model.linear:
            return 1.0 / self.length
        lowest = float(self.leads.min())
        return lowest if lowest > 0.0 else None


def boundary(view: View, most: int = 1200) -> Figure:
    """The rows and the regions of the classes; of many rows the hardest quarter, and the others evenly."""
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
    words = "Crosses mark rows on the wrong side or on the boundary. " if wrong.any() else ""
    if points.table.shape[1] > 2:
        words += (
            "All features are used: the picture shows the direction of the weights and, at right angles to "
            "it, the direction in which the rows vary most. "
            if plane.exact and view.two
            else "All features are used: the picture shows the two directions in which the weights or the "
            "scores vary most. "
        )
    if chosen.size < n_rows:
        words += f"{chosen.size:,} of {n_rows:,} rows are drawn, with the hardest among them."

    def draw(ax: Axes) -> None:
        shown.plot(ax=ax, legend=False).ax_.set_aspect("auto")

    return _figure("The boundary", words, draw, view, height=4.0)


def margins(view: View) -> Figure:
    """How far the rows are from the wrong side, with the band in which the hinge loss charges them."""
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
        "distance": "distance to the boundary, positive on the row's own side",
        "lead": "lead of the row's own class over the best other class",
    }
    wrong = int(np.count_nonzero(values <= 0.0))
    said = f"{wrong:,} of {values.size:,} rows are on the wrong side or on the boundary, which is at zero."
    if band:
        inside = int(np.count_nonzero((values > 0.0) & (values < band * (1 - 1e-9))))
        said += f" The shaded margin is {short(band)} wide; {inside:,} rows lie strictly inside it."
    return _figure("Margins", said, draw, view)


def weights(view: View, most: int = 15) -> Figure | None:
    """The largest weights, each times the standard deviation of its column; for up to eight classes."""
    if view.model.weights is None or view.classes.size > 8:
        return None
    own = view.model.weights[-1:] if view.two else view.model.weights - view.model.weights.mean(axis=0)
    effects = own * _deviations(view.points.table)
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

    said = "Each bar is a weight times the standard deviation of its column: the effect of a typical change."
    left = int(np.count_nonzero(effects.any(axis=0))) - order.size
    said += f" {left:,} smaller ones are not shown." if left > 0 else ""
    height = 1.2 + 0.22 * max(order.size, 3) * min(len(own), 3)
    return _figure("Weights by feature", said, draw, view, height=height)


def mistakes(result: RunResult, most: int = 200) -> Figure:
    """Updates in each reading of the data, or in a few readings together if there are many."""
    counts = [record.mistakes for record in result.history]
    group = math.ceil(len(counts) / most)
    edges = np.arange(0, len(counts), group)

    def draw(ax: Axes) -> None:
        made = np.add.reduceat(counts, edges)
        ax.stairs(made, np.append(edges, len(counts)) + 0.5, fill=True, color=LIGHT.color(0))
        ax.locator_params(integer=True)
        ax.set(xlabel="reading of the data", ylabel="updates")

    made, kept = updates(result)
    together = f", {group} of which make one bar" if group > 1 else ""
    words = f"{made:,} updates in {len(counts):,} readings{together}{often_corrected(result)}."
    if kept != made:
        words += f" The weights that were kept are those after {kept:,} of them."
    return _figure("Updates in each reading", words, draw)


def bracket(history: tuple[PassRecord, ...], most: int = 200) -> Figure | None:
    """How the best bounds of the best margin so far approached each other; at most so many readings."""
    upper = np.minimum.accumulate([record.margin_upper for record in history])
    lower = np.maximum.accumulate([record.margin_lower for record in history])
    if not 0.0 < upper[-1] < math.inf:
        return None
    times = np.unique(np.geomspace(1, len(history), most).round().astype(np.int64))
    shown = BracketDisplay(
        times.astype(np.float64), lower[times - 1], upper[times - 1], "readings of all rows"
    )
    words = f"The counts prove an upper bound: no weights have a margin beyond {short(upper[-1])}. "
    words += (
        f"The weights prove a lower bound: some have {short(lower[-1])}. "
        if lower[-1] > 0.0
        else "There is no lower bound, because no reading found a separator. "
    )
    return _figure(
        "The best margin, bracketed",
        words + "Both hold up to the rounding of plain sums.",
        lambda ax: shown.plot(ax=ax),
    )


def _figure(
    title: str, caption: str, draw: Callable[[Axes], Any], view: View | None = None, *, height: float = 3.2
) -> Figure:
    """Draw a picture; with a view, the classes are named above it."""
    figure, ax = new_figure(LIGHT, size=(5.4, height))
    with style(LIGHT):
        draw(ax)
        if view is not None:
            handles = class_handles(LIGHT, view.classes[:8])
            figure.legend(handles=handles, loc="outside upper left", ncols=4, frameon=False)
    return Figure(title, page_svg(svg_text(figure, title), title), caption.strip())


def _deviations(table: Any) -> Floats:
    if not sparse.issparse(table):
        return np.asarray(table.std(axis=0))
    mean = np.asarray(table.mean(axis=0)).ravel()
    squares = np.asarray(table.multiply(table).mean(axis=0)).ravel()
    return np.asarray(np.sqrt(np.maximum(0.0, squares - mean**2)))
