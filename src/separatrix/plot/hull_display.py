"""The convex hulls of two classes: either they share a point, or there is a gap between them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.lines import Line2D

from ..errors import InputError, InputTypeError
from ..geometry import common_point, hull_distance
from ..proofs.verdict import Verdict, separability
from ..result import Floats, Ints
from ..views.model import Plane, Points, cross_plane, flat_plane, hull_rows, need_two, read_points
from ..views.palettes import Palette
from .artists import class_handles, draw_points, draw_rings, mark, point_sizes, prepare_axes, view_box
from .style import Display, halo


@dataclass(eq=False, repr=False)
class HullDisplay(Display):
    """The convex hulls of two classes, with a point that they share or the gap between them.

    Attributes
    ----------
    points : Points
    plane : Plane
    verdict : Verdict
    common : tuple of Fraction or None
        A point that lies in both hulls, exactly.
    witnesses : ndarray of int64
        The rows of which this point is a weighted mean, on each side.
    nearest : ndarray of shape (2, columns) or None
        If the hulls do not meet: their nearest points, up to rounding.
    ax_, figure_ : Axes, Figure
        After `plot`.
    hulls_, witness_hulls_ : list of PolyCollection
        The hulls of the two classes, and those of their witnesses alone.
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
        """Compute the verdict, and draw it.

        Parameters
        ----------
        X, y : rows and labels of two classes
        **options
            Passed to `plot`.

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
    def from_verdict(cls, verdict: Verdict, X: Any, y: Any, **options: Any) -> HullDisplay:
        """Draw a verdict of `separability` on two classes.

        Parameters
        ----------
        verdict : Verdict
            With an intercept. Without one, the question is not about convex hulls.
        X, y : the rows and labels of the verdict
        **options
            Passed to `plot`.
        """
        if not isinstance(verdict, Verdict):
            raise InputTypeError(
                f"A Verdict of sx.separability is needed here. Got {type(verdict).__name__} instead."
            )
        points = read_points(X, y)
        need_two(points.classes, "A picture of two hulls")
        if verdict.certificate is not None and not verdict.certificate.lift:
            raise InputError(
                "This verdict is about hyperplanes through the origin, not about convex hulls. "
                "Ask with separability(X, y, fit_intercept=True)."
            )
        if verdict.certificate is not None and verdict.certificate.approximate is not None:
            raise InputError(
                "This verdict is proved by approximate multipliers, which do not say where the hulls meet. "
                "Use fewer columns: then the multipliers are exact."
            )
        common, nearest, witnesses = None, None, np.zeros(0, dtype=np.int64)
        if verdict.separable is False:
            common = common_point(points.table, points.codes, verdict.witness_rows)
            witnesses = np.array(sorted(verdict.witness_rows), dtype=np.int64)
        elif verdict.separable:
            first, second = (points.table[points.codes == label] for label in (0, 1))
            nearest = np.array(hull_distance(first, second).points)
        return cls(points, _plane(points, nearest), verdict, common, witnesses, nearest).plot(**options)

    def _draw(self, colors: Palette) -> None:
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
            look: dict[str, Any] = {"color": colors.accent, "linewidth": 2.0, "path_effects": halo(colors)}
            look |= {"marker": "o", "markersize": 4.5, "zorder": 4.0}
            (self.gap_line_,) = self.ax_.plot(*self.plane.place(self.nearest).T, **look)

    def _hull(self, colors: Palette, places: Floats, label: int, strength: float) -> PolyCollection:
        area = PolyCollection([places[hull_rows(places)]], closed=True, zorder=0.6 + strength)
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
        star: dict[str, Any] = {"marker": "*", "color": colors.accent, "edgecolors": colors.paper}
        self.common_point_ = self.ax_.scatter(x, y, s=170, linewidths=0.8, zorder=4.0, **star)

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


def _plane(points: Points, nearest: Floats | None) -> Plane:
    """Return the plane of the picture: it contains the gap, or the line between the class means."""
    if points.table.shape[1] <= 2:
        return flat_plane(points)
    if nearest is not None:
        return cross_plane(nearest[1] - nearest[0], points, "along the gap", exact=True)
    means = [np.asarray(points.table[points.codes == label].mean(axis=0)).ravel() for label in (0, 1)]
    return cross_plane(means[1] - means[0], points, "from mean to mean", exact=True)


def _written(point: tuple[Fraction, ...]) -> str:
    """Return the exact coordinates if they are short."""
    exact = ", ".join(map(str, point))
    return f"the point\n({exact})" if len(exact) <= 40 else "a point of both hulls"
