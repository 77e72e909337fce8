"""The fewest errors on planar data: the wrong rows, the witnesses, and both ends of the bracket over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from matplotlib.collections import PolyCollection

from ..errors import InputError
from ..proofs.exact.integer_rows import relative_floats
from ..proofs.fewest.fewest_errors import FewestErrors, fewest_errors
from ..result import Floats
from ..views.model import Points, flat_plane, hull_rows, read_points
from ..views.palettes import Palette
from .artists import (
    BAND,
    class_handles,
    draw_points,
    draw_regions,
    draw_rings,
    mark,
    point_sizes,
    prepare_axes,
    stroke,
    view_box,
)
from .style import Display


@dataclass(eq=False, repr=False)
class ErrorsDisplay(Display):
    """The fewest errors of any hyperplane on data with one or two columns.

    On the left are the best hyperplane that was found, the rows that it gets wrong, and the witnesses of the
    proof: of each polygon, every hyperplane gets a corner wrong. On the right is the bracket over time.

    Attributes
    ----------
    points : Points
    found : FewestErrors
    ax_, figure_ : Axes, Figure
        After `plot`.
    wrong_points_ : PathCollection
    witnesses_ : PolyCollection
    lower_line_, upper_line_ : Line2D
    """

    points: Points
    found: FewestErrors
    _size: ClassVar = (9.0, 4.2)
    _widths: ClassVar = (3.0, 2.0)

    @classmethod
    def from_data(cls, X: Any, y: Any, *, time_limit: float = 10.0, **options: Any) -> ErrorsDisplay:
        """Find the fewest errors, and draw them.

        Parameters
        ----------
        X, y : rows and labels
        time_limit : float
        **options
            Passed to `plot`.

        Examples
        --------
        >>> import separatrix as sx
        >>> X, y = sx.datasets.make_xor()
        >>> display = ErrorsDisplay.from_data(X, y)
        >>> display.found.lower == display.found.upper == len(display.found.wrong_rows)
        True
        """
        return cls.from_fewest(fewest_errors(X, y, time_limit=time_limit), X, y, **options)

    @classmethod
    def from_fewest(cls, found: FewestErrors, X: Any, y: Any, **options: Any) -> ErrorsDisplay:
        """Draw an answer of `fewest_errors` about these rows and labels."""
        points = read_points(X, y)
        if points.table.shape[1] > 2:
            raise InputError(
                f"A picture of the fewest errors needs one or two columns. X has {points.table.shape[1]}."
            )
        return cls(points, found).plot(**options)

    def _draw(self, colors: Palette) -> None:
        plane, codes = flat_plane(self.points), self.points.codes
        places = plane.place(self.points.table)
        box, n_classes = view_box(places), len(self.points.classes)
        prepare_axes(self.ax_, plane, box)
        draw_regions(self.ax_, colors, box, self._scores)
        shapes = [places[list(dict.fromkeys(each.rows))] for each in self.found.certificate.witnesses]
        corners = [each[hull_rows(each)] if len(each) > 2 else each for each in shapes]
        self.witnesses_ = PolyCollection(corners, closed=True, zorder=2.0)
        ink, faint = colors.mix(colors.ink, 1.0), min(1.0, 10.0 / max(1, len(corners)))
        self.witnesses_.set(facecolor=(*ink, 0.12 * faint), edgecolor=(*ink, faint), linewidth=0.9)
        self.ax_.add_collection(self.witnesses_, autolim=False)
        sizes, wrong = point_sizes(None, len(places)), self.found.wrong_rows
        self.points_ = draw_points(self.ax_, colors, places, codes, n_classes, sizes)
        self.wrong_points_ = draw_rings(self.ax_, places[wrong], sizes[wrong], colors.accent, width=1.8)
        self._draw_bracket(colors)

    def _scores(self, places: Floats) -> Floats:
        exact = [value for each in self.found.weights for value in each]  # may be beyond floats
        weights = relative_floats(exact).reshape(len(self.found.weights), -1)
        inner = self.points.table.shape[1]
        scores = places[:, :inner] @ weights[:, :inner].T
        scores = scores + weights[:, inner] if weights.shape[1] > inner else scores
        return np.hstack([-scores, scores]) if weights.shape[0] == 1 else scores

    def _draw_bracket(self, colors: Palette) -> None:
        seconds, lower, upper = np.array(self.found.history, dtype=float).T
        seconds = np.append(seconds, 1.1 * seconds[-1])
        lower, upper = np.append(lower, lower[-1]), np.append(upper, upper[-1])
        (ax,) = self._more_axes
        ax.fill_between(seconds, lower, upper, step="post", color=colors.tint(0, BAND), linewidth=0.0)
        ends = {"where": "post", "color": colors.ink}
        (self.upper_line_,) = ax.step(seconds, upper, label="found: at most", linestyle="--", **ends)
        (self.lower_line_,) = ax.step(seconds, lower, label="proved: at least", linewidth=2.6, **ends)
        top = min(upper[0], 3.0 * upper[-1] + 1.0)  # the first weights may be poor
        ax.set(xlabel="seconds", ylabel="errors", xlim=(0.0, seconds[-1]), ylim=(0.0, 1.05 * top))
        ax.locator_params(axis="y", integer=True)
        ax.legend(loc="upper right")

    def _title(self) -> str:
        lower, upper = self.found.lower, self.found.upper
        return f"Fewest errors: {upper:g}" if self.found.exact else f"Fewest errors: {lower:g} to {upper:g}"

    def _handles(self, colors: Palette) -> list[Any]:
        wrong, witnesses = len(self.found.wrong_rows), len(self.found.certificate.witnesses)
        return [
            *class_handles(colors, self.points.classes),
            mark("o", "none", colors.accent, 10.0, f"{wrong} wrong"),
            stroke(colors.ink, 0.9, f"{witnesses} witnesses"),
        ]
