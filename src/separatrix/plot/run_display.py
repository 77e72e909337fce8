"""A run, update by update: the corrected row, the weights before and after, and the mistake bound."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.utils.extmath import row_norms

from ..bounds.bound_report import LengthBounds
from ..bounds.mistakes import mistake_bounds
from ..errors import InputError, InputTypeError
from ..estimators.linear import Perceptron
from ..result import Floats, Trace
from ..views.model import Plane, Points, plane_for, read_model, read_points, traced_weights
from ..views.palettes import Palette
from .artists import (
    class_handles,
    draw_arrow,
    draw_points,
    draw_regions,
    draw_rings,
    point_sizes,
    prepare_axes,
    stroke,
    view_box,
    weight_vectors,
)
from .film import Film, film_steps, trace_of
from .regions import need_training_rows
from .style import Display, halo, new_figure, palette, plain_ticks, style


@dataclass(eq=False, repr=False)
class RunDisplay(Display):
    """A run of the perceptron, one picture per update.

    Make one with `from_estimator`; `save` writes the film.

    Attributes
    ----------
    points : Points
    plane : Plane
    trace : Trace
    weights, offsets : ndarray of shape (mistakes + 1, classes, 2) and (mistakes + 1, classes)
        The scores as functions of the two coordinates, at the start and after each update.
    norms : ndarray of shape (mistakes + 1,)
        The length of the weights, at the start and after each update.
    proof : LengthBounds
    figure_, ax_ : Figure, Axes
        After `plot`: the axes with the rows.
    length_ax_ : Axes or None
        The axes with the length of the weights.
    step_ : int
        The update that is shown.
    """

    points: Points
    plane: Plane
    trace: Trace
    weights: Floats
    offsets: Floats
    norms: Floats
    proof: LengthBounds
    _size: ClassVar = (10.0, 4.4)
    _widths: ClassVar = (1.25, 1.0)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        step: int | None = None,
        ax: Axes | Sequence[Axes] | None = None,
        theme: str | Palette | None = None,
    ) -> RunDisplay:
        """Draw one update of a run that kept its trace.

        Parameters
        ----------
        estimator : Perceptron(trace=True), fitted
        X, y : the training data
        step : int, optional
            The number of the update, counted from 1; 0 is the start. The default is the last update.
        ax : Axes or two of them, optional
            Where to draw the rows (and the length of the weights). By default, a new figure shows both.
        theme : {"light", "dark"}, Palette or None

        Examples
        --------
        >>> import separatrix as sx
        >>> X, y = sx.datasets.make_separable(30, margin=0.1, random_state=0)
        >>> model = sx.Perceptron(order="cyclic", trace=True).fit(X, y)
        >>> run = RunDisplay.from_estimator(model, X, y)
        >>> run.step_ == model.mistakes_
        True
        """
        if not isinstance(estimator, Perceptron):
            raise InputTypeError(
                "RunDisplay shows the weights of a Perceptron that was fitted with trace=True. "
                f"Got {type(estimator).__name__} instead."
            )
        model = read_model(estimator)
        trace = trace_of(estimator, Trace)
        points = read_points(X, y, model.classes)
        points = replace(points, names=tuple(map(str, getattr(estimator, "feature_names_in_", points.names))))
        need_training_rows(len(estimator.mistake_counts_), points)
        weights, constants = traced_weights(trace, points.table.shape[1])
        full = np.concatenate([trace.start[None], trace.weights])
        norms = np.linalg.norm(full.reshape(len(full), -1), axis=1)
        # An averaged model has other weights than the last ones of its run.
        plane = plane_for(replace(model, weights=weights[-1], intercepts=constants[-1]), points, np.empty(0))
        shown = weights @ plane.directions.T, constants + weights @ plane.rest
        run = cls(points, plane, trace, *shown, norms, _proof(estimator, points, trace))
        return run.plot(step, ax=ax, theme=theme)

    @property
    def n_updates(self) -> int:
        """The number of updates."""
        return len(self.trace.rows)

    def _draw(self, colors: Palette) -> None:
        """Draw what all updates share, and the last update."""
        self._colors, codes, classes = colors, self.points.codes, self.points.classes
        self.places_ = self.plane.place(self.points.table)
        self.box_, self.sizes_ = view_box(self.places_), point_sizes(None, len(codes))
        prepare_axes(self.ax_, self.plane, self.box_)
        self.points_ = draw_points(self.ax_, colors, self.places_, codes, len(classes), self.sizes_)
        self.length_ax_: Axes | None = self._more_axes[0] if self._more_axes else None
        if self.length_ax_ is not None:
            self._draw_proof(self.length_ax_)
        self._moving: list[Artist] = []
        self.show(self.n_updates)

    def plot(self, step: int | None = None, **options: Any) -> Self:
        """Draw one update, by default the last; the options are those of `Display.plot`."""
        super().plot(**options)
        return self if step is None else self.show(step)

    def show(self, step: int) -> Self:
        """Show another update on the same axes."""
        if not 0 <= step <= self.n_updates:
            raise InputError(f"step must be from 0 to {self.n_updates}, the updates of the run. Got {step}.")
        for artist in self._moving:
            artist.remove()
        self._moving, self.step_ = [], step
        with style(self._colors):
            self._draw_regions(step)
            self._draw_pick(step)
            self._draw_weights(step)
            self._draw_length(step)
        return self

    def steps(self, max_frames: int = 100) -> list[int]:
        """Return the updates that a film shows: the start, the last one, and others evenly between them."""
        return film_steps(0, self.n_updates, max_frames)

    def film(
        self, *, fps: float = 2.0, max_frames: int = 100, dpi: int = 100, theme: str | Palette | None = None
    ) -> Film:
        """Return the run as a film: ``.save(path)`` writes it, and a notebook plays it.

        Parameters
        ----------
        fps : float
            Frames per second.
        max_frames : int
            A longer run is shown at this many updates, evenly spread.
        dpi : int
        theme : {"light", "dark"}, Palette or None
            The default is the theme of the picture.
        """
        colors = self._colors if theme is None else palette(theme)
        scene = replace(self)

        def pictures() -> Iterator[Figure]:
            figure, axes = new_figure(colors, size=(9.0, 4.2), columns=2, width_ratios=[1.25, 1.0])
            scene.plot(ax=axes, theme=colors)
            figure.draw_without_rendering()  # fixes the layout, with the widest texts
            figure.set_layout_engine("none")
            for step in self.steps(max_frames):
                scene.show(step)
                yield figure

        title = f"A run of the perceptron: {self.n_updates} updates"
        return Film(pictures, len(self.steps(max_frames)), fps=fps, dpi=dpi, title=title)

    def save(self, path: str | PathLike[str], **options: Any) -> None:
        """Write the run as a film; the extension .gif, .html or .mp4 selects the format.

        Parameters
        ----------
        path : str or path
        **options
            Passed to `film`.
        """
        self.film(**options).save(path)

    def _handles(self, colors: Palette) -> list[Any]:
        handles: list[Any] = class_handles(colors, self.points.classes)
        if self.n_updates:
            handles += [
                stroke(colors.muted, 1.4, "$w$ before", dashed=True),
                stroke(colors.ink, 2.0, "$w$ after"),
                stroke(colors.accent, 2.0, "update"),
            ]
        return handles

    def _draw_regions(self, step: int) -> None:
        weights, offsets = self.weights[step], self.offsets[step]
        self.regions_, self.boundary_, _ = draw_regions(
            self.ax_, self._colors, self.box_, lambda grid: grid @ weights.T + offsets
        )
        self._moving += [*self.regions_, *self.boundary_]

    def _draw_pick(self, step: int) -> None:
        self.pick_ = None
        if step == 0:
            self.ax_.set_title("the start\nevery row is a tie" if not self.norms[0] else "the start\n")
            return
        row = int(self.trace.rows[step - 1])
        self.pick_ = draw_rings(
            self.ax_, self.places_[[row]], self.sizes_[[row]], self._colors.accent, width=2.2, wider=1.8
        )
        self._moving.append(self.pick_)
        score = _plain(float(self.trace.scores[step - 1]))
        of = f"row {row + 1:,} of {len(self.points.codes):,}"  # counted from 1
        self.ax_.set_title(f"update {step:,} of {self.n_updates:,}\n{of}, score {score}")

    def _draw_weights(self, step: int) -> None:
        colors, (left, right, bottom, top) = self._colors, self.box_
        vectors = weight_vectors(self.weights)
        two = vectors.shape[1] == 1
        longest = float(np.linalg.norm(vectors, axis=-1).max())
        self.arrows_: list[Any] = []
        if longest <= 0.0:
            return
        scale = 0.4 * min(right - left, top - bottom) / longest
        foot = np.array([left + right, bottom + top]) / 2.0
        before, after = vectors[max(step - 1, 0)] * scale, vectors[step] * scale
        for label in range(len(after)):
            color: Any = colors.ink if two else colors.color(label)
            moved = step > 0 and not np.array_equal(before[label], after[label])
            if moved and before[label].any():
                self._arrow(foot, before[label], colors.muted, dashed=True)
            if after[label].any():
                self._arrow(foot, after[label], color)
            if moved:
                self._arrow(foot + before[label], after[label] - before[label], colors.accent)

    def _arrow(self, foot: Floats, vector: Floats, color: Any, *, dashed: bool = False) -> None:
        arrow = draw_arrow(self.ax_, foot, vector, color, self._colors, dashed=dashed)
        self.arrows_.append(arrow)
        self._moving.append(arrow)

    def _draw_proof(self, ax: Axes) -> None:
        """Draw the two curves between which the length of the weights stays; they meet at the bound."""
        colors, proof = self._colors, self.proof
        last = max(float(self.n_updates), proof.bound or 1.0, 2.0) * 1.35
        ax.set(xscale="log", yscale="log", xlabel="mistakes so far, $t$", ylabel="length of the weights")
        ax.set_xlim(0.9, last)
        plain_ticks(ax.xaxis)
        plain_ticks(ax.yaxis)
        times = np.geomspace(1.0, last, 200)
        curves: list[tuple[str, Floats, Any]] = []
        if proof.radius is not None:
            name = r"$R\sqrt{t}$" if not proof.start else r"$\sqrt{|w_0|^2 + R^2 t}$"
            curves.append((name, np.sqrt(proof.start**2 + proof.radius**2 * times), "solid"))
        if proof.margin is not None:
            curves.append((r"$\gamma\,t$", proof.margin * times, (0, (4, 3))))
        for name, curve, dashes in curves:
            ax.plot(times, curve, color=colors.muted, linewidth=1.2, linestyle=dashes)
            above = dashes == "solid"
            at, beside = (2.0, float(np.interp(2.0, times, curve))), (0.0, 7.0 if above else -7.0)
            look: dict[str, Any] = {"ha": "center", "va": "bottom" if above else "top", "color": colors.muted}
            ax.annotate(name, at, beside, textcoords="offset points", path_effects=halo(colors), **look)
        if len(curves) == 2:  # no run reaches the area where the lower curve is above the upper one
            (_, upper, _), (_, lower, _) = curves
            ax.fill_between(
                times, upper, lower, where=list(lower > upper), facecolor=colors.faint, linewidth=0.0
            )
        if proof.bound is not None:
            self.bound_line_ = ax.axvline(
                proof.bound, color=colors.accent, linewidth=1.4, linestyle=(0, (1, 1.5))
            )
        everything = np.concatenate([self.norms[self.norms > 0.0], *(curve for _, curve, _ in curves)])
        ax.set_ylim(0.7 * float(everything.min()), 1.5 * float(everything.max()))

    def _draw_length(self, step: int) -> None:
        ax = self.length_ax_
        if ax is None:
            return
        first = 0 if self.norms[0] > 0.0 else 1
        times, seen = np.maximum(np.arange(first, step + 1), 0.92), self.norms[first : step + 1]
        (self.path_,) = ax.plot(
            times, seen, color=self._colors.color(0), linewidth=2.0, marker="o", markersize=7, markevery=[-1]
        )
        self._moving.append(self.path_)
        bound = self.proof.bound
        limit = "" if bound is None else f"of at most {_whole(bound)} ({self.proof.name})"
        ax.set_title(f"{step:,} mistake{'s' * (step != 1)}\n{limit}")


def _proof(estimator: Perceptron, points: Points, trace: Trace) -> LengthBounds:
    """Return the bound and its two curves, as far as they hold for this run."""
    if not adds_plain_rows(estimator, points, trace):  # the theorems are about updates that add a row
        return LengthBounds(None, "", float(np.linalg.norm(trace.start)), None, None)
    report = mistake_bounds(estimator, points.X, points.classes[points.codes])
    proof = report.lengths(estimator.eta0)
    return proof if proof.name == "Novikoff" else replace(proof, margin=None)


def adds_plain_rows(estimator: Perceptron, points: Points, trace: Trace) -> bool:
    """Return whether every update added its row times ``eta0``, without other weights or renormalizing."""
    full = np.concatenate([trace.start[None], trace.weights])
    lifted = full.shape[-1] > points.table.shape[1]
    squares = row_norms(points.table[trace.rows], squared=True)
    lengths = estimator.eta0 * np.sqrt((squares + lifted) / trace.start.ndim)
    made = np.linalg.norm(np.diff(full, axis=0).reshape(len(lengths), -1), axis=1)
    return bool(np.allclose(made, lengths, rtol=1e-6)) and not estimator.renormalise


def _plain(value: float) -> str:
    return f"{value:.3g}".replace("-", "\N{MINUS SIGN}")


def _whole(value: float) -> str:
    """Round the bound down: the number of mistakes is an integer."""
    return f"{math.floor(value):,}" if value < 1e9 else f"{value:.2g}"
