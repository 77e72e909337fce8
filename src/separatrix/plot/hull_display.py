"""Two convex hulls: either they share a point, which is shown exactly, or there is a gap between them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from scipy.spatial import ConvexHull, QhullError

from ..errors import InputError, InputTypeError
from ..estimators.margin import MaxMargin
from ..geometry.convex import common_point
from ..proofs.verdict import Verdict, separability
from ..result import Floats, Ints
from ..views.model import Plane, Points, cross_plane, flat_plane, need_two, read_points
from ..views.palettes import Palette
from .drawing import class_handles, draw_points, draw_rings, mark, point_sizes, prepare_axes, view_box
from .style import Display, add_legend, axes_for, halo, style


@dataclass(eq=False, repr=False)
class HullDisplay(Display):
    """The convex hulls of two classes, and the proof that they meet or the gap that keeps them apart.

    Attributes
    ----------
    points : Points
    plane : Plane
    verdict : Verdict
    common : tuple of Fraction or None
        The point that lies in both hulls, exactly.
    witnesses : ndarray of int64
        The rows whose weighted means it is.
    nearest : ndarray of shape (2, columns) or None
        If the hulls do not meet: their nearest points, up to rounding.
    ax_, figure_ : Axes, Figure
        After `plot`.
    hulls_, witness_hulls_ : list of PolyCollection
        Of the two classes, and of their witnesses alone.
    common_point_ : PathCollection or None
    gap_line_ : Line2D or None
    """

    points: Points
    plane: Plane
    verdict: Verdict
    common: tuple[Fraction, ...] | None
    witnesses: Ints
    nearest: Floats | None

    @classmethod
    def from_data(cls, X: Any, y: Any, **options: Any) -> HullDisplay:
        """Ask for the verdict, and draw it.

        Parameters
        ----------
        X, y : rows and labels of two classes
        **options
            As for `from_verdict`.

        Examples
        --------
        >>> import separatrix as sx
        >>> X, y = sx.datasets.make_xor()
        >>> display = HullDisplay.from_data(X, y)
        >>> [str(coordinate) for coordinate in display.common]
        ['0', '0']
        """
        need_two(np.unique(np.asarray(y)), "A picture of two hulls")
        return cls.from_verdict(separability(X, y, quasi=False), X, y, **options)

    @classmethod
    def from_verdict(
        cls,
        verdict: Verdict,
        X: Any,
        y: Any,
        *,
        ax: Axes | None = None,
        theme: str | Palette | None = None,
        title: str | None = None,
        legend: bool = True,
    ) -> HullDisplay:
        """Draw a verdict of `separability` on two classes.

        Parameters
        ----------
        verdict : Verdict
            With intercept: without, the question is not one of hulls.
        X, y : the rows and labels of the verdict
        ax : Axes, optional
        theme : {"light", "dark"}, Palette or None
        title : str, optional
        legend : bool

        Returns
        -------
        HullDisplay
        """
        if not isinstance(verdict, Verdict):
            raise InputTypeError(
                f"A Verdict of sx.separability is needed here. Got {type(verdict).__name__} instead."
            )
        points = read_points(X, y)
        need_two(points.classes, "A picture of two hulls")
        if verdict.certificate is not None and not verdict.certificate.lift:
            raise InputError(
                "This verdict is about planes through the origin, which is not a question of hulls. Ask with "
                "separability(X, y, fit_intercept=True)."
            )
        if verdict.certificate is not None and verdict.certificate.approximate is not None:
            raise InputError(
                "This verdict is proved by approximate multipliers, which place no point in both hulls. "
                "Pictures of two hulls need a verdict with exact ones, as data with fewer columns get."
            )
        common, nearest, witnesses = None, None, np.zeros(0, dtype=np.int64)
        if verdict.separable is False:
            common = common_point(points.table, points.codes, verdict.witness_rows)
            witnesses = np.array(sorted(verdict.witness_rows), dtype=np.int64)
        elif verdict.separable:
            nearest = _nearest(points)
        display = cls(points, _plane(points, nearest), verdict, common, witnesses, nearest)
        return display.plot(ax=ax, theme=theme, title=title, legend=legend)

    def plot(
        self,
        *,
        ax: Axes | None = None,
        theme: str | Palette | None = None,
        title: str | None = None,
        legend: bool = True,
    ) -> HullDisplay:
        """Draw, on the given axes or on new ones."""
        self.figure_: Figure | SubFigure
        self.figure_, self.ax_, colors = axes_for(ax, theme, (6.4, 4.6))
        with style(colors):
            places, codes = self.plane.place(self.points.table), self.points.codes
            prepare_axes(self.ax_, self.plane, view_box(places))
            self.hulls_ = [self._hull(colors, places[codes == label], label, 0.16) for label in (0, 1)]
            sizes = point_sizes(None, len(places))
            self.points_ = draw_points(self.ax_, colors, places, codes, 2, sizes)
            self.witness_hulls_: list[PolyCollection] = []
            self.common_point_: PathCollection | None = None
            self.gap_line_: Line2D | None = None
            if self.common is not None:
                self._draw_common(colors, places, sizes)
            if self.nearest is not None:
                self._draw_gap(colors)
            self.ax_.set_title(self._title() if title is None else title)
            if legend:
                add_legend(self.ax_, self._handles(colors))
        return self

    def _hull(self, colors: Palette, places: Floats, label: int, strength: float) -> PolyCollection:
        area = PolyCollection([hull_corners(places)], closed=True, zorder=0.6 + strength)
        red, green, blue = colors.mix(colors.color(label), 1.0)
        area.set_facecolor((red, green, blue, strength))
        area.set_edgecolor((red, green, blue, 1.0))
        area.set_linewidth(1.3)
        area.set_linestyle("solid" if label else (0, (6, 2)))
        self.ax_.add_collection(area, autolim=False)
        return area

    def _draw_common(self, colors: Palette, places: Floats, sizes: Floats) -> None:
        codes = self.points.codes[self.witnesses]
        self.witness_hulls_ = [
            self._hull(colors, places[self.witnesses[codes == label]], label, 0.42) for label in (0, 1)
        ]
        self.witness_points_ = draw_rings(
            self.ax_, places[self.witnesses], sizes[self.witnesses], colors.ink, width=1.2
        )
        x, y = self.plane.place(np.array([[float(value) for value in self.common or ()]])).T
        star: dict[str, Any] = {
            "marker": "*",
            "color": colors.accent,
            "edgecolors": colors.paper,
            "linewidths": 0.8,
        }
        self.common_point_ = self.ax_.scatter(x, y, s=170, zorder=4.0, **star)

    def _draw_gap(self, colors: Palette) -> None:
        ends = self.plane.place(self.nearest)
        look: dict[str, Any] = {
            "color": colors.accent,
            "linewidth": 2.0,
            "marker": "o",
            "markersize": 4.5,
            "zorder": 4.0,
        }
        (self.gap_line_,) = self.ax_.plot(*ends.T, path_effects=halo(colors), **look)

    def _title(self) -> str:
        if self.common is not None:
            return "The hulls share a point"
        return "The hulls are apart" if self.nearest is not None else "Undecided"

    def _handles(self, colors: Palette) -> list[Any]:
        handles: list[Any] = class_handles(colors, self.points.classes)
        if self.common is not None:
            handles += [
                mark("o", "none", colors.ink, 10.0, f"{len(self.witnesses)} rows prove it"),
                mark("*", colors.accent, colors.paper, 12.0, _written(self.common)),
            ]
        if self.nearest is not None:
            apart = float(np.linalg.norm(self.nearest[0] - self.nearest[1]))
            handles.append(
                Line2D([], [], color=colors.accent, marker="o", markersize=4.5, label=f"gap: {apart:.4g}")
            )
        return handles


def hull_corners(places: Floats) -> Floats:
    """The corners of the convex hull in the plane; a segment or a point where that is all."""
    try:
        return np.asarray(places[ConvexHull(places).vertices])
    except (QhullError, ValueError):  # fewer than three points, or all on one line
        middle = places.mean(axis=0)
        along = np.linalg.svd(places - middle)[2][0]
        order = np.argsort((places - middle) @ along)
        return np.asarray(places[order[[0, -1]]])


def _nearest(points: Points) -> Floats:
    """The two points between which the largest margin lies: weighted means of the support rows."""
    model = MaxMargin().fit(points.table, points.codes)
    found = []
    for sign in (-1.0, 1.0):
        mine = sign * model.dual_coef_[0] > 0.0
        shares = np.abs(model.dual_coef_[0][mine])
        found.append(np.asarray(points.table[model.support_[mine]].T @ (shares / shares.sum())).ravel())
    return np.array(found)


def _plane(points: Points, nearest: Floats | None) -> Plane:
    """Two columns as they are; more, along the gap or between the means of the classes, and across."""
    if points.table.shape[1] <= 2:
        return flat_plane(points)
    if nearest is not None:
        return cross_plane(nearest[1] - nearest[0], points, "along the gap", exact=True)
    means = [np.asarray(points.table[points.codes == label].mean(axis=0)).ravel() for label in (0, 1)]
    return cross_plane(means[1] - means[0], points, "from mean to mean", exact=True)


def _written(point: tuple[Fraction, ...]) -> str:
    """The point itself if that is short."""
    exact = ", ".join(map(str, point))
    if len(point) <= 3 and len(exact) <= 40:
        return f"the point\n({exact})"
    if len(point) <= 3:
        return "the point, about\n(" + ", ".join(f"{float(value):.3g}" for value in point) + ")"
    return "a point of both hulls"
