"""The pictures of a report: boundary, margins, mistakes, bracket, weights, hardest rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..estimators.margin import MaxMargin, SoftMargin
from ..result import Floats, Ints, PassRecord, RunResult, often_corrected
from ..rows.class_leads import leads
from ..sparse import sparse
from ..views.model import Model, Plane, Points, plane_for, plane_scores, plane_weights, read_model
from ..views.polygons import border, class_polygon
from .findings import Findings, updates
from .svg import WIDTH, Picture, Scale, cross, hint, mark, number, span
from .tables import short

POINTS = 1200  # rows drawn
BINS = 36
BARS = 100  # passes drawn one by one; more are taken together
FEATURES = 15
CLASSES = 12  # classes up to which weights are drawn as a grid
GRID = (66, 46)  # cells of a boundary that is not straight


@dataclass(frozen=True)
class Figure:
    """A picture with its title and what it says."""

    title: str
    svg: str
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
        self.names = [str(label) for label in self.classes]
        self.two = self.classes.size == 2
        self.row_words, self.counting = data.row_words, data.counting
        self._estimator = findings.model

    @cached_property
    def length(self) -> float:
        """What turns leads into distances; one where the boundary is not a plane."""
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


def boundary(view: View) -> Figure:
    """The rows in the plane of the weights and of the largest variance across them."""
    points, model = view.points, view.model
    plane = plane_for(model, points, view.scores)
    chosen = _sample(view)
    placed = plane.place(points.table[chosen])
    if points.table.shape[1] == 1:
        placed = np.column_stack([placed[:, 0], _jitter(chosen)])
    picture = Picture(320, "The rows and the boundary in two dimensions", bottom=40)
    x = picture.x_scale(*span(placed[:, 0].tolist()))
    y = picture.y_scale(*span(placed[:, 1].tolist()))
    _regions(picture, view, plane, x, y)
    if points.table.shape[1] > 2 and view.two and plane.exact:
        _, offsets = plane_weights(model, plane)
        shift = float(offsets[1] - offsets[0]) / view.length
        seen = replace(x, low=x.low + shift, high=x.high + shift)
        picture.x_axis(seen, "distance to the boundary, along the weights", grid=True)
    else:
        picture.x_axis(x, plane.labels[0], grid=True)
    picture.y_axis(y, plane.labels[1])
    wrong = view.leads[chosen] <= 0.0
    size = 3.4 if chosen.size <= 300 else 2.4
    called = view.row_words(chosen.tolist())
    marks = zip(chosen.tolist(), placed.tolist(), wrong.tolist(), called, strict=True)
    for row, (a, b), missed, words in marks:
        code = int(points.codes[row])
        tip = f"{words}: {view.names[code]}, {view.unit} {short(float(view.leads[row]))}"
        kind = f"dot c{code % 8}{' wrong' if missed else ''}"
        picture.add("path", hint(tip), d=mark(code, x(a), y(b), size), class_=kind)
        if missed:
            picture.add("path", hint(tip), d=cross(x(a), y(b), size), class_="cross")
    words = "Crosses mark rows on the wrong side or on the boundary. " if wrong.any() else ""
    if points.table.shape[1] > 2:
        words += (
            "All features, seen along the weights and along the direction across them in which the rows "
            "vary most. "
            if plane.exact and view.two
            else "All features, seen in the two directions in which the weights, or the scores, vary most. "
        )
    if chosen.size < len(points.codes):
        words += f"{chosen.size:,} of {len(points.codes):,} rows are drawn, the hardest among them."
    return Figure("The boundary", str(picture), words.strip())


def margins(view: View) -> Figure:
    """How far the rows are from the wrong side, with the band in which the hinge loss charges them."""
    values, codes, band = view.leads, view.points.codes, view.band
    low, high = np.quantile(values, [0.002, 0.998])
    low, high = min(float(low), 0.0), max(float(high), band or 0.0, 1e-12)
    edges = np.linspace(low, high, BINS + 1)
    inside = np.clip(values, low, high)
    counts = np.array([np.histogram(inside[codes == c], edges)[0] for c in range(len(view.names))])
    picture = Picture(260, "Histogram of the margins", top=30)
    x, top = picture.x_scale(*span([low, high], 0.02)), counts.sum(axis=0).max()
    y = picture.y_scale(0.0, float(top) * 1.05)
    base, ceiling = picture.height - picture.bottom, picture.top
    if low < 0.0:
        picture.box(x(x.low), ceiling, x(0.0), base, "zone-wrong", "the wrong side")
    if band:
        picture.box(x(0.0), ceiling, x(band), base, "zone-band", "within the margin")
        picture.line(x(band), ceiling, x(band), base, "rule dashed")
    picture.y_axis(y, "rows")
    stacked = np.zeros(BINS)
    for code, found in enumerate(counts):
        for k in np.flatnonzero(found).tolist():
            bottom, height = stacked[k], found[k]
            tip = f"{view.names[code]}: {height:,} rows from {short(edges[k])} to {short(edges[k + 1])}"
            picture.box(
                x(edges[k]) + 0.4, y(bottom), x(edges[k + 1]) - 0.4, y(bottom + height), f"c{code % 8}", tip
            )
        stacked += found
    picture.line(x(0.0), ceiling - 4, x(0.0), base, "rule")
    picture.text(x(0.0), ceiling - 8, "boundary", "name", "middle" if x(0.0) > 90 else "start")
    picture.x_axis(
        x,
        "distance to the boundary, positive on the row's own side"
        if view.unit == "distance"
        else "lead of the row's own class over the best other",
    )
    wrong = int(np.count_nonzero(values <= 0.0))
    words = f"{wrong:,} of {values.size:,} rows are on the wrong side or on the boundary."
    if band and isinstance(view.band, float):
        near = int(np.count_nonzero((values > 0.0) & (values < band * (1 - 1e-9))))
        words += f" The shaded band is {short(band)} wide; {near:,} rows lie strictly inside it."
    return Figure("Margins", str(picture), words)


def mistakes(result: RunResult) -> Figure:
    """Updates in each reading of the data."""
    number_made = np.array([record.mistakes for record in result.history], dtype=np.float64)
    readings = number_made.size
    group = math.ceil(readings / BARS)
    sums = np.add.reduceat(number_made, np.arange(0, readings, group))
    picture = Picture(220, "Updates in each reading of the data")
    x, y = picture.x_scale(0.5, readings + 0.5), picture.y_scale(0.0, max(1.0, float(sums.max())) * 1.08)
    picture.y_axis(y, "updates")
    for k, total in enumerate(sums.tolist()):
        first, last = k * group + 1, min((k + 1) * group, readings)
        gap = 0.12 * (x(2.0) - x(1.0))
        tip = f"{'reading' if first == last else f'readings {first} to'} {last}: {total:,.0f} updates"
        picture.box(x(first - 0.5) + gap, y(0.0), x(last + 0.5) - gap, y(total), "bar", tip)
    picture.x_axis(x, "reading of the data", count=min(6, max(1, readings)))
    made, kept = updates(result)
    words = f"{made:,} updates in {readings:,} readings"
    words += f", {group} readings a bar" if group > 1 else ""
    words += f"{often_corrected(result)}."
    if kept != made:
        words += f" The weights that were kept are those after {kept:,} of them."
    return Figure("Updates in each reading", str(picture), words)


def bracket(history: tuple[PassRecord, ...]) -> Figure | None:
    """How the best bounds so far of the best margin came together."""
    upper = _known(np.minimum.accumulate([record.margin_upper for record in history]))
    lower = _known(np.maximum.accumulate([record.margin_lower for record in history]))
    if not upper:
        return None
    logs = [math.log10(value) for _, value in [*upper, *lower]]
    picture = Picture(220, "The bracket of the best margin")
    low, high = span(logs, 0.08)
    x, y = picture.x_scale(0.5, len(history) + 0.5), picture.y_scale(min(low, high - 0.5), high)
    for value in _log_ticks(y):
        at = y(math.log10(value))
        picture.line(picture.left, at, WIDTH - picture.right, at, "grid")
        picture.text(picture.left - 6, at + 4, number(value), "tick", "end")
    picture.y_name("margin")
    for line, kind in ((upper, "upper"), (lower, "lower")):
        placed = [(x(k), y(math.log10(value))) for k, value in line]
        if len(placed) > 1:
            picture.path(placed, f"curve {kind}")
        for a, b in placed if len(placed) < 30 else placed[-1:]:
            picture.add("path", d=mark(0 if kind == "upper" else 1, a, b, 3.0), class_=f"knob {kind}")
    picture.x_axis(x, "reading of the data", count=min(6, max(1, len(history))))
    words = "The best bounds known by then. From above, by the counts (circles): no weights have a margin "
    words += f"beyond {short(upper[-1][1])}. From below, by the weights (squares): "
    words += f"some have {short(lower[-1][1])}." if lower else "none, for no reading found a separator."
    words += " Both hold to the rounding of plain sums."
    return Figure("The best margin, bracketed", str(picture), words)


def _known(bounds: NDArray[Any]) -> list[tuple[int, float]]:
    """The bounds that a logarithmic axis can show, with their readings."""
    return [(k + 1, value) for k, value in enumerate(bounds.tolist()) if 0.0 < value < math.inf]


def _log_ticks(scale: Scale) -> list[float]:
    """Round values of a logarithmic scale: powers of ten, or also their double and fivefold where few fit."""
    powers = range(math.floor(scale.low), math.ceil(scale.high) + 1)
    fitting: list[float] = []
    for factors in ((1.0,), (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)):
        values = [factor * 10.0**power for power in powers for factor in factors]
        fitting = [value for value in values if scale.low <= math.log10(value) <= scale.high]
        if len(fitting) > 2:
            break
    return fitting[:: math.ceil(len(fitting) / 7)] if fitting else fitting


def weights(view: View) -> Figure | None:
    """The largest weights, each times the standard deviation of its column."""
    if view.model.weights is None:
        return None
    spread = _deviations(view.points.table)
    if view.two:
        return _weight_bars(view, view.model.weights[-1], spread)
    return _weight_grid(view, view.model.weights - view.model.weights.mean(axis=0), spread)


def _weight_bars(view: View, own: Floats, spread: Floats) -> Figure:
    effects = own * spread
    order = np.argsort(-np.abs(effects), kind="stable")[:FEATURES]
    order = order[effects[order] != 0.0]
    picture = Picture(34 + 21 * max(1, order.size) + 16, "Weights by feature", left=150, bottom=16)
    reach = float(np.abs(effects).max()) or 1.0
    x = picture.x_scale(-reach * 1.02, reach * 1.02)
    picture.text(x(0.0) - 8, 16, f"← {view.names[0]}", "name", "end")
    picture.text(x(0.0) + 8, 16, f"{view.names[1]} →", "name")
    for k, j in enumerate(order.tolist()):
        top = 26 + 21 * k
        code = int(effects[j] > 0.0)
        tip = f"{view.points.names[j]}: weight {short(float(own[j]))}, deviation {short(float(spread[j]))}"
        picture.box(x(0.0), top, x(float(effects[j])), top + 15, f"c{code}", tip)
        picture.text(picture.left - 10, top + 12, _clip(view.points.names[j], 22), "tick", "end")
    picture.line(x(0.0), 22, x(0.0), 26 + 21 * order.size, "rule")
    left = int(np.count_nonzero(effects)) - order.size
    words = (
        "Each bar is a weight times the standard deviation of its column: what a typical change of it does."
    )
    words += f" {left:,} smaller ones are not shown." if left > 0 else ""
    return Figure("Weights by feature", str(picture), words)


def _weight_grid(view: View, own: Floats, spread: Floats) -> Figure | None:
    if len(own) > CLASSES:
        return None
    effects = own * spread
    order = np.argsort(-np.abs(effects).max(axis=0), kind="stable")[:FEATURES]
    picture = Picture(34 + 21 * order.size + 10, "Weights by feature and class", left=150, bottom=10)
    reach = float(np.abs(effects).max()) or 1.0
    width = (WIDTH - picture.left - picture.right) / len(own)
    for code, name in enumerate(view.names):
        middle = picture.left + (code + 0.5) * width
        picture.text(middle, 18, _clip(name, max(2, int(width / 7))), "name", "middle")
    for k, j in enumerate(order.tolist()):
        top = 26 + 21 * k
        picture.text(picture.left - 10, top + 13, _clip(view.points.names[j], 22), "tick", "end")
        for code in range(len(own)):
            value = float(effects[code, j])
            left = picture.left + code * width
            tip = f"{view.points.names[j]}, {view.names[code]}: weight {short(float(own[code, j]))}"
            picture.box(left, top, left + width - 2, top + 19, "cell", tip)
            picture.add(
                "rect",
                hint(tip),
                x=left,
                y=top,
                width=width - 2,
                height=19,
                class_="plus" if value > 0 else "minus",
                opacity=f"{abs(value) / reach:.2f}",
            )
    words = (
        "Each cell is a weight times the standard deviation of its column, the darker the larger: for the "
        "class (blue) or against it (orange)."
    )
    return Figure("Weights by feature", str(picture), words)


def hardest(view: View, counts: Ints, limit: int = 10) -> Figure | None:
    """The rows that were corrected most often."""
    order = np.lexsort((view.leads, -counts))[:limit]
    order = order[counts[order] > 0]
    if not order.size:
        return None
    picture = Picture(
        22 * order.size + 14, "The rows corrected most often", left=110, right=60, top=4, bottom=4
    )
    x = picture.x_scale(0.0, float(counts.max()))
    called = view.row_words(order.tolist())
    for k, row in enumerate(order.tolist()):
        top, code = 6 + 22 * k, int(view.points.codes[row])
        picture.box(x(0.0), top, x(float(counts[row])), top + 16, f"c{code % 8}", view.names[code])
        picture.text(picture.left - 8, top + 13, called[k].partition(" (")[0], "tick", "end")
        picture.text(x(float(counts[row])) + 6, top + 13, f"{counts[row]:,}", "tick")
    ever = int(np.count_nonzero(counts))
    words = (
        f"{ever:,} of {counts.size:,} rows were corrected on the way to the weights; these most often. "
        f"{view.counting}"
    )
    return Figure("Hardest rows", str(picture), words)


def _regions(picture: Picture, view: View, plane: Plane, x: Scale, y: Scale) -> None:
    """The side of each class, exactly where it is a polygon, else cell by cell."""
    box = (x.low, x.high, y.low, y.high)
    model, one = view.model, view.points.table.shape[1] == 1
    if model.linear and plane.exact:
        flat, offsets = plane_weights(model, plane)
        for code in range(len(view.names)):
            polygon = class_polygon(flat, offsets, code, box)
            if len(polygon):
                picture.path([(x(a), y(b)) for a, b in polygon.tolist()], f"region c{code % 8}", closed=True)
        if view.two:
            band = view.band * view.length if view.band is not None else None
            pairs = [((0, 1), 0.0, "rule")]
            pairs += [(pair, band, "rule dashed") for pair in ((0, 1), (1, 0)) if band is not None]
            for pair, level, kind in pairs:
                ends = border(flat, offsets, pair, box, level).tolist()
                if ends:
                    picture.line(x(ends[0][0]), y(ends[0][1]), x(ends[1][0]), y(ends[1][1]), kind)
    elif not model.linear and not one:
        _cells(picture, view, plane, x, y)


def _cells(picture: Picture, view: View, plane: Plane, x: Scale, y: Scale) -> None:
    columns, rows = GRID
    across = np.linspace(x.low, x.high, columns + 1)
    up = np.linspace(y.low, y.high, rows + 1)
    centres = np.array([(a, b) for b in (up[:-1] + up[1:]) / 2 for a in (across[:-1] + across[1:]) / 2])
    codes = plane_scores(view.model, plane, view.points, centres).argmax(axis=1).reshape(rows, columns)
    for j in range(rows):
        starts = np.flatnonzero(np.diff(codes[j], prepend=-1))
        for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), columns], strict=True):
            kind = f"region c{int(codes[j, start]) % 8}"
            picture.box(x(across[start]), y(up[j]), x(across[stop]), y(up[j + 1]), kind)


def _sample(view: View) -> Ints:
    """The rows that are drawn: the hardest quarter by lead, the others evenly."""
    n_rows = len(view.points.codes)
    if n_rows <= POINTS:
        return np.arange(n_rows)
    hard = np.argsort(view.leads, kind="stable")[: POINTS // 4]
    even = np.linspace(0, n_rows - 1, POINTS - hard.size).astype(np.int64)
    return np.union1d(hard, even)


def _jitter(rows: Ints) -> Floats:
    """A height for each row of data with one column, always the same."""
    return np.asarray((rows * 0.618_033_988_749_895) % 1.0, dtype=np.float64)


def _deviations(table: Any) -> Floats:
    if not sparse.issparse(table):
        return np.asarray(table.std(axis=0))
    mean = np.asarray(table.mean(axis=0)).ravel()
    squares = np.asarray(table.multiply(table).mean(axis=0)).ravel()
    return np.asarray(np.sqrt(np.maximum(0.0, squares - mean**2)))


def _clip(words: str, length: int) -> str:
    return words if len(words) <= length else words[: length - 1] + "…"
