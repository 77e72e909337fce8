"""Distance from a hyperplane: each point, its projection, and the triangle of the proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import geometry
from ..errors import InputError
from ..result import Floats
from ..views.palettes import Palette
from .artists import draw_arrow, mark, stroke, view_box
from .style import Display, halo


@dataclass(eq=False, repr=False)
class DistanceDisplay(Display):
    """Points in the plane, their projections to a line, and their distances from it.

    The first point has the triangle of the proof: its projection v*, and another point v of the line, which
    is farther away because the sides p and q are orthogonal (Pythagoras).

    Attributes
    ----------
    points : ndarray of shape (points, 2)
    weights : ndarray of shape (2,)
    intercept : float
    projections : ndarray of shape (points, 2)
        The nearest points of the line.
    distances : ndarray of shape (points,)
        Signed: positive on the side that w points to.
    other : ndarray of shape (2,)
        The point v of the proof.
    ax_, figure_ : Axes, Figure
        After `plot`.
    line_ : Line2D
    segments_ : list of Line2D
        From each point to its projection.
    """

    points: Floats
    weights: Floats
    intercept: float
    projections: Floats
    distances: Floats
    other: Floats

    def _draw(self, colors: Palette) -> None:
        ax, unit = self.ax_, self.weights / np.linalg.norm(self.weights)
        along = np.array([-unit[1], unit[0]])
        shown = np.vstack([self.points, self.projections, self.other])
        left, right, bottom, top = view_box(np.vstack([shown, shown + 0.3 * self._reach * unit]))
        ax.set(xlim=(left, right), ylim=(bottom, top), aspect="equal", xlabel="x0", ylabel="x1")
        ends = self.projections[0] + np.outer([-1.0, 1.0], along) * 10.0 * (right - left + top - bottom)
        (self.line_,) = ax.plot(*ends.T, color=colors.ink, linewidth=1.8, zorder=1.5)
        triangle = np.vstack([self.points[0], self.other, self.projections[0]])
        thin: Any = {"color": colors.muted, "linewidth": 1.2, "linestyle": (0, (4, 3)), "zorder": 2.0}
        ax.plot(*triangle.T, **thin)
        self.segments_ = []
        for point, foot, away in zip(self.points, self.projections, self.distances, strict=True):
            look: Any = {
                "color": colors.accent,
                "linewidth": 2.0,
                "path_effects": halo(colors),
                "zorder": 2.5,
            }
            self.segments_ += ax.plot(*np.array([point, foot]).T, **look)
            side = 0.08 * self._reach * np.array([along, along - np.sign(away) * unit, -np.sign(away) * unit])
            ax.plot(*(foot - side).T, color=colors.muted, linewidth=1.0, zorder=2.4)
            self._note(f"{abs(away):.4g}", (point + foot) / 2.0, colors, color=colors.accent)
        kinds = ((self.points, "o", colors.color(0)), (self.projections, "s", colors.color(1)))
        for places, marker, face in (*kinds, (self.other[None, :], "s", colors.paper)):
            ax.scatter(*places.T, marker=marker, color=face, edgecolors=colors.ink, s=42, zorder=3.0)
        start = self.projections[0] - 0.35 * self._reach * along
        draw_arrow(ax, start, 0.3 * self._reach * unit, colors.ink, colors)
        names = (("u", self.points[0]), ("v*", self.projections[0]), ("v", self.other))
        tip, sides = start + 0.3 * self._reach * unit, (triangle[0] + triangle[1]) / 2.0
        middle = (self.other + self.projections[0]) / 2.0
        for name, place in (*names, ("w / |w|", tip), ("r", sides), ("p", middle)):
            self._note(name, place, colors)

    @property
    def _reach(self) -> float:
        return reach(self.points, self.distances)

    def _note(self, text: str, place: Floats, colors: Palette, **look: Any) -> None:
        look = {"color": colors.ink, "fontsize": 9.5, "zorder": 5.0, "path_effects": halo(colors), **look}
        at: Any = tuple(place.tolist())
        self.ax_.annotate(text, at, xytext=(6, 5), textcoords="offset points", **look)

    def _title(self) -> str:
        return "Distance from a hyperplane"

    def _handles(self, colors: Palette) -> list[Any]:
        return [
            mark("o", colors.color(0), colors.ink, 6.5, "point u"),
            mark("s", colors.color(1), colors.ink, 6.5, "projection v*"),
            stroke(colors.accent, 2.0, "|<w, u> + b| / |w|"),
        ]


def distance(X: Any, weights: Any, intercept: float = 0.0, **options: Any) -> DistanceDisplay:
    """Draw points of the plane, their projections to a line ``<w, x> + b = 0``, and their distances.

    Parameters
    ----------
    X : array of shape (points, 2), or one point
    weights : array of shape (2,)
    intercept : float
    **options
        Passed to `DistanceDisplay.plot`.

    Returns
    -------
    DistanceDisplay

    Examples
    --------
    >>> distance([3.0, 4.0], [3.0, 4.0], -5.0).distances
    array([4.])
    """
    points = np.atleast_2d(np.asarray(X, dtype=np.float64))
    w = np.asarray(weights, dtype=np.float64).ravel()
    if points.shape[1:] != (2,) or not len(points) or w.shape != (2,):
        raise InputError(
            f"A picture of distances is of points with two columns. Got points of shape {points.shape} and "
            f"weights of shape {w.shape}.",
            remedy="Use sx.geometry.distance and sx.geometry.project for more columns.",
            parameter="X",
        )
    away, feet = geometry.distance(points, w, intercept), geometry.project(points, w, intercept)
    along = np.array([-w[1], w[0]]) / np.linalg.norm(w)
    other = feet[0] + 0.8 * reach(points, away) * along
    return DistanceDisplay(points, w, float(intercept), feet, away, other).plot(**options)


def reach(points: Floats, distances: Floats) -> float:
    """Return the largest distance; one if all points lie on the line, up to rounding."""
    largest = float(np.abs(distances).max())
    return largest if largest > 1e-9 * float(np.abs(points).max()) else 1.0
