"""Decision regions: who wins where, the margin band, the support, the weights and the last update."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.text import Annotation
from numpy.typing import NDArray

from ..errors import InputError
from ..estimators.linear import Perceptron
from ..estimators.margin import SoftMargin
from ..result import Floats, Ints, Trace
from ..rows.class_leads import leads
from ..views.model import (
    Model,
    Plane,
    Points,
    plane_for,
    plane_scores,
    plane_weights,
    read_model,
    read_points,
)
from ..views.palettes import Palette
from ..views.polygons import border, class_polygon
from .style import Display, add_legend, axes_for, halo, style, written

Box = tuple[float, float, float, float]

REGION, BAND = 0.30, 0.12  # how much of a class's colour its region and its half of the band have
MANY = 2_000  # points from which on a vector file holds them as one image
SIZES = ("equal", "mistakes")


@dataclass(frozen=True, eq=False)
class Update:
    """One update, in the coordinates of a picture.

    Attributes
    ----------
    row : int
    before, after : ndarray of shape (2,)
        The weights, and what became of them.
    """

    row: int
    before: Floats
    after: Floats


@dataclass(eq=False, repr=False)
class DecisionRegionDisplay(Display):
    """Decision regions of a classifier, with its margin band, its support and its weights.

    Make one with `from_estimator`. Data with more than two columns are seen in the plane of the weights
    and the widest direction at right angles to them.

    Attributes
    ----------
    model : Model
    points : Points
    plane : Plane
    level : float or None
        The lead over the second class that bounds the margin band.
    support : ndarray of int64
        The rows that carry the weights.
    errors : ndarray of int64
        The rows on the wrong side; a tie is an error.
    mistakes : ndarray or None
        Updates on each row, where point sizes show them.
    update : Update or None
        The last update, where the run kept its trace.
    resolution : int
        Points a side at which a classifier that is not linear is asked for its scores.
    ax_, figure_ : Axes, Figure
        After `plot`.
    regions_ : list
        The filled areas, as drawn.
    boundary_, band_ : LineCollection or list
        Where two classes tie, and where one leads by ``level``.
    points_ : list of PathCollection
        One for each class.
    support_points_, error_points_, update_point_ : PathCollection or None
    weight_arrows_ : list of Annotation
        From the foot on the boundary (binary) or from the middle of the picture (one a class).
    update_arrow_ : Annotation or None
    """

    model: Model
    points: Points
    plane: Plane
    level: float | None
    support: Ints
    errors: Ints
    mistakes: Ints | None = None
    update: Update | None = None
    resolution: int = 80

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        ax: Axes | None = None,
        theme: str | Palette | None = None,
        band: float | str | None = "auto",
        point_sizes: str = "equal",
        resolution: int = 80,
        title: str | None = None,
        legend: bool = True,
    ) -> DecisionRegionDisplay:
        """Draw the regions of a fitted classifier.

        Parameters
        ----------
        estimator : fitted classifier
            Of this library or of scikit-learn.
        X, y : rows and labels
            For ``point_sizes="mistakes"``, those of the training.
        ax : Axes, optional
            Where to draw; a new figure otherwise.
        theme : {"light", "dark"}, Palette or None
            By default the one that suits the background.
        band : "auto", float or None
            The lead that bounds the margin band. "auto" is one for soft margins (the place where the
            hinge loss begins), else the smallest lead of a row, if all rows are on their own side.
        point_sizes : {"equal", "mistakes"}
            "mistakes" draws each row as large as the run had trouble with it.
        resolution : int
            For classifiers that are not linear; linear ones are drawn exactly.
        title : str, optional
        legend : bool

        Returns
        -------
        DecisionRegionDisplay

        Examples
        --------
        >>> import separatrix as sx
        >>> X, y = sx.datasets.make_separable(50, margin=0.2, random_state=0)
        >>> display = DecisionRegionDisplay.from_estimator(sx.MaxMargin().fit(X, y), X, y)
        >>> len(display.support_points_.get_offsets()) == len(display.support)
        True
        """
        if point_sizes not in SIZES:
            raise InputError(
                f"point_sizes must be one of {', '.join(map(repr, SIZES))}. Got {point_sizes!r} instead."
            )
        check = read_model(estimator)
        points = read_points(X, y, check.classes)
        model = read_model(estimator, points)
        scores = model.scores(points.table if model.linear else points.X)
        lead = leads(scores, points.codes)
        plane = plane_for(model, points, scores)
        counts = _mistakes(estimator, points) if point_sizes == "mistakes" else None
        display = cls(
            model=model,
            points=points,
            plane=plane,
            level=_level(estimator, lead, band),
            support=_support(estimator, len(lead)),
            errors=np.flatnonzero(lead <= 0.0),
            mistakes=counts,
            update=last_update(estimator, points, plane),
            resolution=resolution,
        )
        return display.plot(ax=ax, theme=theme, title=title, legend=legend)

    def plot(
        self,
        *,
        ax: Axes | None = None,
        theme: str | Palette | None = None,
        title: str | None = None,
        legend: bool = True,
    ) -> DecisionRegionDisplay:
        """Draw, on the given axes or on new ones.

        Returns
        -------
        DecisionRegionDisplay
            Itself, with ``ax_``, ``figure_`` and the artists.
        """
        self.figure_: Figure | SubFigure
        self.figure_, self.ax_, colors = axes_for(ax, theme, (6.4, 4.6))
        with style(colors):
            places = self.plane.place(self.points.table)
            self.box_ = view_box(places)
            prepare_axes(self.ax_, self.plane, self.box_)
            if self.model.linear:
                self._draw_exact(colors)
            else:
                self._draw_sampled(colors)
            self._draw_points(colors, places)
            self._draw_arrows(colors, places)
            if title is not None:
                self.ax_.set_title(title)
            if legend:
                add_legend(self.ax_, self._legend_handles(colors))
        return self

    def _draw_exact(self, colors: Palette) -> None:
        weights, offsets = plane_weights(self.model, self.plane)
        n_classes = len(self.model.classes)
        level = self.level or 0.0
        self.regions_: list[Any] = []
        for shade, lead in ((BAND, 0.0), (REGION, level)) if level > 0.0 else ((REGION, 0.0),):
            for label in range(n_classes):
                polygon = class_polygon(weights, offsets, label, self.box_, lead)
                area = PolyCollection([polygon], facecolors=[colors.tint(label, shade)], zorder=0.5)
                area.set_edgecolor(area.get_facecolor())
                area.set_linewidth(0.3)
                self.regions_.append(self.ax_.add_collection(area, autolim=False))
        pairs = list(itertools.combinations(range(n_classes), 2))
        self.boundary_: Any = self._lines([border(weights, offsets, p, self.box_) for p in pairs])
        self.boundary_.set(color=colors.ink, linewidth=1.8)
        both = [*pairs, *((b, a) for a, b in pairs)] if self._band_is_wide(weights, level) else []
        self.band_: Any = self._lines([border(weights, offsets, p, self.box_, level) for p in both])
        self.band_.set(color=colors.muted, linewidth=1.0, linestyle=(0, (4, 3)))

    def _band_is_wide(self, weights: Floats, level: float) -> bool:
        """Whether the lines of the band can be told from the boundary."""
        steepest = max(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(weights, 2))
        span = min(self.box_[1] - self.box_[0], self.box_[3] - self.box_[2])
        return level > 0.015 * span * steepest

    def _lines(self, segments: list[Floats]) -> LineCollection:
        lines = LineCollection([each for each in segments if len(each)], zorder=1.5, capstyle="butt")
        self.ax_.add_collection(lines, autolim=False)
        return lines

    def _draw_sampled(self, colors: Palette) -> None:
        left, right, bottom, top = self.box_
        across, up = np.meshgrid(
            np.linspace(left, right, self.resolution), np.linspace(bottom, top, self.resolution)
        )
        grid = np.column_stack([across.ravel(), up.ravel()])
        scores = plane_scores(self.model, self.plane, self.points, grid)
        level = self.level or 0.0
        self.regions_, self.boundary_, self.band_ = [], [], []
        n_classes = len(self.model.classes)
        for label in range(n_classes):
            lead = leads(scores, np.full(len(grid), label, dtype=np.int64)).reshape(across.shape)
            if not lead.max() > 0.0:
                continue
            high = max(float(lead.max()), level) + 1.0
            low = -1e-9 * high  # a tie over a whole area is still drawn
            levels, shades = ([low, level, high], [BAND, REGION]) if level > 0.0 else ([low, high], [REGION])
            tints = [colors.tint(label, shade) for shade in shades]
            self.regions_.append(self.ax_.contourf(across, up, lead, levels=levels, colors=tints, zorder=0.5))
            if lead.min() < 0.0 and (label or n_classes > 2):
                line = self.ax_.contour(
                    across, up, lead, levels=[0.0], colors=[colors.ink], linewidths=1.8, zorder=1.5
                )
                self.boundary_.append(line)
            if level > 0.0 and lead.min() < level < lead.max():
                line = self.ax_.contour(
                    across, up, lead, levels=[level], colors=[colors.muted], linewidths=1.0, zorder=1.5
                )
                line.set_linestyle((0, (4, 3)))
                self.band_.append(line)

    def _draw_points(self, colors: Palette, places: Floats) -> None:
        sizes = point_sizes(self.mistakes, len(places))
        self.points_ = draw_points(self.ax_, colors, places, self.points.codes, self.model.classes, sizes)
        self.support_points_ = self.error_points_ = self.update_point_ = None
        if self.support.size and self.mistakes is None:
            self.support_points_ = self.ax_.scatter(
                places[self.support, 0],
                places[self.support, 1],
                s=ring_size(sizes[self.support]),
                facecolors="none",
                edgecolors=colors.ink,
                linewidths=1.1,
                zorder=3.2,
            )
        if self.update is not None:
            self.update_point_ = self.ax_.scatter(
                places[[self.update.row], 0],
                places[[self.update.row], 1],
                s=1.7 * ring_size(sizes[[self.update.row]]),
                facecolors="none",
                edgecolors=colors.accent,
                linewidths=2.0,
                zorder=3.4,
            )
        if self.errors.size:
            self.error_points_ = self.ax_.scatter(
                places[self.errors, 0],
                places[self.errors, 1],
                s=np.maximum(16.0, 0.6 * sizes[self.errors]),
                marker="x",
                color=colors.ink,
                linewidths=1.1,
                zorder=3.3,
            )

    def _draw_arrows(self, colors: Palette, places: Floats) -> None:
        self.weight_arrows_: list[Annotation] = []
        self.update_arrow_: Annotation | None = None
        if not self.model.linear:
            return
        weights, offsets = plane_weights(self.model, self.plane)
        length = 0.24 * min(self.box_[1] - self.box_[0], self.box_[3] - self.box_[2])
        middle = places.mean(axis=0)
        if len(weights) > 2:
            centred = weights - weights.mean(axis=0)
            scale = length / max(float(np.linalg.norm(centred, axis=1).max()), 1e-300)
            for label, vector in enumerate(centred):
                arrow = draw_arrow(
                    self.ax_, middle, scale * vector, colors.mix(colors.color(label), 1.0), colors
                )
                self.weight_arrows_.append(arrow)
            return
        normal, offset = weights[1] - weights[0], float(offsets[1] - offsets[0])
        size = float(np.linalg.norm(normal))
        if not size > 0.0:
            return
        foot = _inside(middle - normal * (float(normal @ middle) + offset) / size**2, self.box_)
        if self.update is None:
            self.weight_arrows_.append(
                draw_arrow(self.ax_, foot, normal * length / size, colors.ink, colors, "$w$")
            )
            return
        before, after = self.update.before, self.update.after
        longest = max(np.linalg.norm(before), np.linalg.norm(after))
        scale = length / float(longest)
        if before.any():
            old = draw_arrow(self.ax_, foot, scale * before, colors.muted, colors, dashed=True)
            self.weight_arrows_.append(old)
        self.weight_arrows_.append(draw_arrow(self.ax_, foot, scale * after, colors.ink, colors, "$w$"))
        self.update_arrow_ = draw_arrow(
            self.ax_, foot + scale * before, scale * (after - before), colors.accent, colors
        )

    def _legend_handles(self, colors: Palette) -> list[Any]:
        handles: list[Any] = class_handles(colors, self.model.classes)
        if self.support_points_ is not None:
            handles.append(_mark("o", "none", colors.ink, 10.0, "support"))
        if self.mistakes is not None:
            largest = int(self.mistakes.max(initial=0))
            for count in sorted({0, (largest + 1) // 2, largest}):
                area = point_sizes(np.array([count, largest]), 2)[0]
                text = f"{count} mistake{'s' * (count != 1)}"
                handles.append(_mark("o", colors.faint, colors.muted, float(np.sqrt(area)), text))
        if self.error_points_ is not None:
            handles.append(_mark("x", colors.ink, colors.ink, 5.0, "wrong side"))
        if self.band_ if isinstance(self.band_, list) else self.band_.get_segments():
            handles.append(
                Line2D([], [], color=colors.muted, linestyle=(0, (4, 3)), linewidth=1, label="margin")
            )
        if self.update_arrow_ is not None:
            if len(self.weight_arrows_) > 1:
                handles.append(
                    Line2D([], [], color=colors.muted, linestyle="--", linewidth=1.4, label="$w$ before")
                )
            handles.append(
                Line2D([], [], color=colors.accent, linewidth=2.0, label=f"last update: row {self._row}")
            )
        return handles

    @property
    def _row(self) -> int:
        return -1 if self.update is None else self.update.row


def _level(estimator: Any, lead: Floats, band: float | str | None) -> float | None:
    if band is None:
        return None
    if band != "auto":
        if isinstance(band, str) or not float(band) > 0.0:
            raise InputError(f"band must be 'auto', None or a positive lead. Got {band!r} instead.")
        return float(band)
    if isinstance(estimator, SoftMargin) or type(estimator).__module__.startswith("sklearn.svm"):
        return 1.0
    smallest = float(lead.min())
    return smallest if smallest > 0.0 and _has_margin(estimator) else None


def _has_margin(estimator: Any) -> bool:
    """Shares of a vote and probabilities have a lead too, but no margin."""
    return hasattr(estimator, "decision_function") and getattr(estimator, "average", False) != "voted"


def _support(estimator: Any, n_rows: int) -> Ints:
    """The rows that carry the weights: with multipliers, or corrected in the run."""
    rows = getattr(estimator, "support_", None)
    if rows is None:
        counts = getattr(estimator, "mistake_counts_", np.zeros(0))
        rows = np.flatnonzero(counts) if len(counts) == n_rows else np.zeros(0)
    rows = np.asarray(rows, dtype=np.int64)
    return rows if rows.size and rows.max() < n_rows else np.zeros(0, dtype=np.int64)


def _mistakes(estimator: Any, points: Points) -> Ints:
    counts = getattr(estimator, "mistake_counts_", None)
    if counts is None:
        raise InputError(
            f"point_sizes='mistakes' needs a run that counts its mistakes. {type(estimator).__name__} does "
            "not; use a Perceptron, or point_sizes='equal'."
        )
    if len(counts) != len(points.codes):
        raise InputError(
            f"point_sizes='mistakes' needs the rows of the training: {len(counts)} were counted, X has "
            f"{len(points.codes)}."
        )
    return np.asarray(counts, dtype=np.int64)


def last_update(estimator: Any, points: Points, plane: Plane) -> Update | None:
    """The last update of a run of two classes that kept its trace, where its weights are those drawn."""
    trace: Trace | None = getattr(getattr(estimator, "result_", None), "trace", None)
    if not isinstance(estimator, Perceptron) or trace is None or len(trace.rows) == 0:
        return None
    if trace.weights.ndim != 2 or estimator.average or len(points.codes) != len(estimator.mistake_counts_):
        return None
    width = points.table.shape[1]
    before = trace.weights[-2] if len(trace.rows) > 1 else trace.start
    row, before, after = int(trace.rows[-1]), before[:width], trace.weights[-1][:width]
    return Update(row, plane.directions @ before, plane.directions @ after)


def view_box(places: Floats) -> Box:
    """The rectangle to show: all points, and a twelfth of the spread around them."""
    low, high = places.min(axis=0), places.max(axis=0)
    spread = high - low
    widest = float(spread.max()) or 1.0
    # A picture far narrower than high shows no angles; a flat direction gets a tenth of the other.
    pad = np.where(spread > 0.0, 0.12 * spread, 0.0) + np.where(spread < 0.1 * widest, 0.06 * widest, 0.0)
    return (
        float(low[0] - pad[0]),
        float(high[0] + pad[0]),
        float(low[1] - pad[1]),
        float(high[1] + pad[1]),
    )


def prepare_axes(ax: Axes, plane: Plane, box: Box) -> None:
    """Limits, labels, and equal scales where that leaves a picture of a reasonable shape."""
    left, right, bottom, top = box
    across, up = map(written, plane.labels)
    ax.set(xlim=(left, right), ylim=(bottom, top), xlabel=across, ylabel=up)
    ax.locator_params(nbins=6)
    if 1 / 3 <= (right - left) / (top - bottom) <= 3:
        ax.set_aspect("equal", adjustable="box")
    if not plane.labels[1]:
        ax.set_yticks([])
    if not plane.exact:
        ax.text(
            0.995,
            0.01,
            "regions: slice through the mean",
            transform=ax.transAxes,
            ha="right",
            va="bottom",
            fontsize=7.5,
            color=ax.xaxis.label.get_color(),
            zorder=5,
        )


def point_sizes(mistakes: Ints | None, n_rows: int) -> Floats:
    """The areas of the points: smaller where there are many, growing with the mistakes."""
    base = float(np.clip(6000.0 / max(n_rows, 1), 4.0, 34.0))
    if mistakes is None:
        return np.full(n_rows, base)
    largest = max(int(mistakes.max(initial=0)), 1)
    return np.asarray(0.35 * base + (mistakes / largest) * 260.0)


def ring_size(sizes: Floats) -> Floats:
    """The area of a ring around a point of each size."""
    return np.asarray(np.maximum(1.2 * sizes, np.minimum(6.0 * sizes, sizes + 62.0)))


def draw_points(
    ax: Axes, colors: Palette, places: Floats, codes: Ints, classes: NDArray[Any], sizes: Floats
) -> list[PathCollection]:
    """One collection a class; large points behind small ones."""
    drawn = []
    for label in range(len(classes)):
        mine = np.flatnonzero(codes == label)
        mine = mine[np.argsort(-sizes[mine], kind="stable")]
        drawn.append(
            ax.scatter(
                places[mine, 0],
                places[mine, 1],
                s=sizes[mine],
                marker=colors.marker(label),
                color=colors.color(label),
                edgecolors=colors.paper,
                linewidths=0.5 if len(places) < MANY else 0.2,
                rasterized=len(places) > MANY,
                zorder=3.0,
            )
        )
    return drawn


def draw_arrow(
    ax: Axes,
    foot: Floats,
    vector: Floats,
    color: Any,
    colors: Palette,
    text: str = "",
    *,
    dashed: bool = False,
) -> Annotation:
    """An arrow in data coordinates; its tip is the annotation's ``xy``, its foot the ``xyann``."""
    tip = foot + vector
    arrow = ax.annotate(
        "",
        xy=(float(tip[0]), float(tip[1])),
        xytext=(float(foot[0]), float(foot[1])),
        arrowprops={
            "arrowstyle": "-|>,head_width=0.22,head_length=0.5",
            "color": color,
            "linewidth": 1.4 if dashed else 2.0,
            "linestyle": (0, (3, 2)) if dashed else "solid",
            "shrinkA": 0.0,
            "shrinkB": 0.0,
            "path_effects": halo(colors),
        },
        annotation_clip=False,
        zorder=4.0,
    )
    if text:
        size = float(np.linalg.norm(vector)) or 1.0
        middle = foot + 0.55 * vector
        ax.annotate(
            text,
            xy=(float(middle[0]), float(middle[1])),
            xytext=(-10.0 * float(vector[1]) / size, 10.0 * float(vector[0]) / size),
            textcoords="offset points",
            ha="center",
            va="center",
            color=color,
            fontsize=11,
            path_effects=halo(colors),
            annotation_clip=False,
            zorder=4.1,
        )
    return arrow


def class_handles(colors: Palette, classes: NDArray[Any]) -> list[Line2D]:
    """Legend entries of the classes."""
    return [
        _mark(colors.marker(label), colors.color(label), colors.paper, 6.5, _short(name))
        for label, name in enumerate(classes.tolist())
    ]


def _mark(marker: str, face: str, edge: str, size: float, label: str) -> Line2D:
    return Line2D(
        [],
        [],
        linestyle="none",
        marker=marker,
        markerfacecolor=face,
        markeredgecolor=edge,
        markersize=size,
        label=label,
    )


def _short(name: Any) -> str:
    text = str(name)
    return written(text if len(text) <= 24 else text[:23] + "…")


def _inside(point: Floats, box: Box) -> Floats:
    return np.array([np.clip(point[0], box[0], box[1]), np.clip(point[1], box[2], box[3])])
