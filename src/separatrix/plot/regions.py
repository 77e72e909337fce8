"""Decision regions: which class wins where, the margin band, the support and the weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.text import Annotation

from ..errors import InputError
from ..estimators.margin import SoftMargin
from ..result import Floats, Ints
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
from .drawing import (
    class_handles,
    draw_arrow,
    draw_points,
    draw_regions,
    draw_rings,
    mark,
    point_sizes,
    prepare_axes,
    stroke,
    view_box,
)
from .style import Display, add_legend, axes_for, style

SIZES = ("equal", "mistakes")


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
        Updates on each row, if point sizes show them.
    resolution : int
        The number of grid points per side at which the scores are evaluated.
    ax_, figure_ : Axes, Figure
        After `plot`.
    regions_ : list of contour sets
        The filled areas, one set per class that wins anywhere.
    boundary_, band_ : list of contour sets
        Where two classes tie, and where one leads by ``level``.
    points_ : list of PathCollection
        One for each class.
    support_points_, error_points_ : PathCollection or None
    weight_arrows_ : list of Annotation
        From the foot on the boundary (two classes), or from the middle of the picture (one per class).
    """

    model: Model
    points: Points
    plane: Plane
    level: float | None
    support: Ints
    errors: Ints
    mistakes: Ints | None = None
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
            "mistakes" draws each row the larger the more often the run corrected it.
        resolution : int
            Of the grid on which regions are drawn. The boundary between two classes with linear scores is
            exact at any resolution.
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
            self.regions_, self.boundary_, self.band_ = draw_regions(
                self.ax_,
                colors,
                self.box_,
                lambda grid: plane_scores(self.model, self.plane, self.points, grid),
                level=self.level or 0.0,
                resolution=self.resolution,
            )
            self._draw_points(colors, places)
            self._draw_arrows(colors, places)
            if title is not None:
                self.ax_.set_title(title)
            if legend:
                add_legend(self.ax_, self._legend_handles(colors))
        return self

    def _draw_points(self, colors: Palette, places: Floats) -> None:
        sizes = point_sizes(self.mistakes, len(places))
        n_classes = len(self.model.classes)
        self.points_ = draw_points(self.ax_, colors, places, self.points.codes, n_classes, sizes)
        self.support_points_ = self.error_points_ = None
        if self.support.size and self.mistakes is None:
            self.support_points_ = draw_rings(self.ax_, places[self.support], sizes[self.support], colors.ink)
        if self.errors.size:
            crosses = np.maximum(16.0, 0.6 * sizes[self.errors])
            x, y = places[self.errors].T
            self.error_points_ = self.ax_.scatter(
                x, y, s=crosses, marker="x", color=colors.ink, linewidths=1.1, zorder=3.3
            )

    def _draw_arrows(self, colors: Palette, places: Floats) -> None:
        self.weight_arrows_: list[Annotation] = []
        if not self.model.linear:
            return
        weights, offsets = plane_weights(self.model, self.plane)
        two, middle = len(weights) == 2, places.mean(axis=0)
        vectors = weights[1:] - weights[0] if two else weights - weights.mean(axis=0)
        longest = float(np.linalg.norm(vectors, axis=1).max())
        if not longest > 0.0:
            return
        left, right, bottom, top = self.box_
        if two:  # from the point of the boundary that is nearest to the middle
            above = float(vectors[0] @ middle + offsets[1] - offsets[0])
            middle = np.clip(middle - vectors[0] * above / longest**2, (left, bottom), (right, top))
        scale = 0.24 * min(right - left, top - bottom) / longest
        for label, vector in enumerate(vectors):
            color, text = (colors.ink, "$w$") if two else (colors.color(label), "")
            self.weight_arrows_.append(draw_arrow(self.ax_, middle, scale * vector, color, colors, text))

    def _legend_handles(self, colors: Palette) -> list[Any]:
        handles: list[Any] = class_handles(colors, self.model.classes)
        if self.support_points_ is not None:
            handles.append(mark("o", "none", colors.ink, 10.0, "support"))
        if self.mistakes is not None:
            largest = int(self.mistakes.max(initial=0))
            for count in sorted({0, (largest + 1) // 2, largest}):
                area = point_sizes(np.array([count, largest]), 2)[0]
                text = f"{count} mistake{'s' * (count != 1)}"
                handles.append(mark("o", colors.faint, colors.muted, float(np.sqrt(area)), text))
        if self.error_points_ is not None:
            handles.append(mark("x", colors.ink, colors.ink, 5.0, "wrong side"))
        if self.band_:
            handles.append(stroke(colors.muted, 1.0, "margin", dashed=True))
        return handles


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
