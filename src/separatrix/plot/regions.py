"""Decision regions: which class wins where, with the margin band, the support and the weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.text import Annotation

from ..errors import InputError
from ..estimators.margin import SoftMargin
from ..estimators.network import PerceptronNetwork
from ..result import Floats, Ints
from ..rows.numpy_loops import signed_scores
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
from .artists import (
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
    weight_vectors,
)
from .style import Display, halo


@dataclass(eq=False, repr=False)
class DecisionRegionDisplay(Display):
    """The decision regions of a classifier, with its margin band, its support and its weights.

    Make one with `from_estimator`. Data with more than two columns are projected onto the direction of the
    weights and the direction of largest variance perpendicular to it.

    Attributes
    ----------
    model : Model
    points : Points
    plane : Plane
    level : float or None
        The lead over the second-best class at the edge of the margin band.
    support : ndarray of int64
        The rows that the weights are made of.
    errors : ndarray of int64
        The rows on the wrong side. A tie is an error.
    mistakes : ndarray or None
        The updates on each row, if point sizes show them.
    resolution : int
        The scores are evaluated on a grid with this many points per side.
    ax_, figure_ : Axes, Figure
        After `plot`.
    regions_ : list of contour sets
        The filled areas, one set per class that wins anywhere.
    boundary_, band_ : list of contour sets
        Where two classes tie, and where one leads by ``level``.
    points_ : list of PathCollection
        One per class.
    support_points_, error_points_ : PathCollection or None
    weight_arrows_ : list of Annotation
        For two classes, one arrow from a point of the boundary. For more, one per class, from the center.
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
        band: float | str | None = "auto",
        point_sizes: str = "equal",
        resolution: int = 80,
        **options: Any,
    ) -> DecisionRegionDisplay:
        """Draw the regions of a fitted classifier.

        Parameters
        ----------
        estimator : fitted classifier
            A model of this library or of scikit-learn.
        X, y : rows and labels
            The training data, if ``point_sizes="mistakes"``.
        band : "auto", float or None
            The lead at the edge of the margin band. "auto" is one for soft margins (where the hinge loss
            becomes zero). For other models it is the smallest lead of a row, if no row is on the wrong side.
        point_sizes : {"equal", "mistakes"}
            With "mistakes", the size of a point shows how often the run corrected its row.
        resolution : int
            The number of grid points per side on which the regions are computed. The boundary between two
            classes with linear scores is exact at any resolution.
        **options
            Passed to `plot`.

        Examples
        --------
        >>> import separatrix as sx
        >>> X, y = sx.datasets.make_separable(50, margin=0.2, random_state=0)
        >>> display = DecisionRegionDisplay.from_estimator(sx.MaxMargin().fit(X, y), X, y)
        >>> len(display.support_points_.get_offsets()) == len(display.support)
        True
        """
        if point_sizes not in ("equal", "mistakes"):
            raise InputError(f"point_sizes must be 'equal' or 'mistakes'. Got {point_sizes!r} instead.")
        points = read_points(X, y, read_model(estimator).classes)
        model = read_model(estimator, points)
        scores = model.scores(points.table if model.linear else points.X)
        lead = signed_scores(scores, points.codes)
        display = cls(
            model=model,
            points=points,
            plane=plane_for(model, points, scores),
            level=_level(estimator, lead, band),
            support=_support(estimator, len(lead)),
            errors=np.flatnonzero(lead <= 0.0),
            mistakes=_mistakes(estimator, points) if point_sizes == "mistakes" else None,
            resolution=resolution,
        )
        return display.plot(**options)

    def _draw(self, colors: Palette) -> None:
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
        vectors, middle = weight_vectors(weights), places.mean(axis=0)
        two = len(vectors) == 1
        longest = float(np.linalg.norm(vectors, axis=1).max())
        if not longest > 0.0:
            return
        left, right, bottom, top = self.box_
        if two:  # from the point of the boundary that is nearest to the center
            above = float(vectors[0] @ middle + offsets[1] - offsets[0])
            middle = np.clip(middle - vectors[0] * above / longest**2, (left, bottom), (right, top))
        scale = 0.24 * min(right - left, top - bottom) / longest
        for label, vector in enumerate(scale * vectors):
            color = colors.ink if two else colors.color(label)
            self.weight_arrows_.append(draw_arrow(self.ax_, middle, vector, color, colors))
        if two:
            tip: Any = middle + 1.12 * scale * vectors[0]
            self.ax_.annotate("$w$", tip, ha="center", va="center", fontsize=11, path_effects=halo(colors))

    def _handles(self, colors: Palette) -> list[Any]:
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
            raise InputError(f"band must be 'auto', None or a positive number. Got {band!r} instead.")
        return float(band)
    if isinstance(estimator, SoftMargin) or type(estimator).__module__.startswith("sklearn.svm"):
        return 1.0
    # Votes, probabilities and lists of half-spaces have a lead, but no margin.
    scored = hasattr(estimator, "decision_function") and getattr(estimator, "average", False) != "voted"
    scored = scored and not isinstance(estimator, PerceptronNetwork)
    smallest = float(lead.min())
    return smallest if scored and smallest > 0.0 else None


def _support(estimator: Any, n_rows: int) -> Ints:
    """Return the rows that the weights are made of: the support vectors, or the corrected rows."""
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
            f"point_sizes='mistakes' needs a model that counts its mistakes, such as Perceptron. "
            f"{type(estimator).__name__} does not; use point_sizes='equal'."
        )
    need_training_rows(len(counts), points)
    return np.asarray(counts, dtype=np.int64)


def need_training_rows(n_rows: int, points: Points) -> None:
    """Refuse data that are not those of the training, as far as their number tells."""
    if len(points.codes) != n_rows:
        raise InputError(
            f"The model was fitted on {n_rows} rows, and X has {len(points.codes)}. Pass the training data."
        )
