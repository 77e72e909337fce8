"""The bracket of the best margin: the weights prove a lower bound, and the counts an upper bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..errors import InputError, InputTypeError
from ..estimators.linear import Perceptron
from ..result import Floats, PassRecord, Trace
from ..rows.numpy_loops import signed_scores
from ..views.model import Points, read_model, read_points, traced_weights
from ..views.palettes import Palette
from .artists import BAND
from .film import trace_of
from .regions import need_training_rows
from .run_display import adds_plain_rows
from .style import Display, plain_ticks


@dataclass(eq=False, repr=False)
class BracketDisplay(Display):
    """The bracket of the best margin in the course of a run.

    Any weights prove that the best margin is at least their own. Any counts ``a_i`` prove that it is at most
    ``|sum of a_i z_i| / sum of a_i``. The picture shows the best bounds so far, up to the rounding of sums.

    Attributes
    ----------
    times : ndarray
        The number of readings of all rows, or of mistakes.
    lower, upper : ndarray
        The best lower and upper bound by then. The lower one may be negative or infinite.
    unit : {"readings of all rows", "mistakes"}
    margin : float or None
        The best margin itself, if it is known.
    ax_, figure_ : Axes, Figure
        After `plot`.
    lower_line_, upper_line_ : Line2D
    gap_ : artist
        The area between them.
    margin_line_ : Line2D or None
    """

    times: Floats
    lower: Floats
    upper: Floats
    unit: str
    margin: float | None = None
    _size: ClassVar = (6.0, 4.0)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, y: Any = None, *, margin: float | None = None, **options: Any
    ) -> BracketDisplay:
        """Draw the bracket of a fitted perceptron.

        Parameters
        ----------
        estimator : fitted Perceptron or KernelPerceptron
        X, y : the training data, optional
            With them, the bracket is drawn after every mistake of a `Perceptron` with ``trace=True``.
            Without them, it is drawn after every reading of all rows.
        margin : float, optional
            The best margin of the lifted rows, if it is known. It is drawn as a line.
        **options
            Passed to `plot`.

        Examples
        --------
        >>> import separatrix as sx
        >>> X, y = sx.datasets.make_separable(50, margin=0.1, random_state=0)
        >>> model = sx.Perceptron(order="cyclic", trace=True).fit(X, y)
        >>> display = BracketDisplay.from_estimator(model, X, y, margin=0.1)
        >>> bool((display.lower <= 0.1).all() and (0.1 <= display.upper).all())
        True
        """
        read_model(estimator)
        history = getattr(getattr(estimator, "result_", None), "history", None)
        if not history:
            raise InputTypeError(
                f"{type(estimator).__name__} keeps no history of its run. Use a Perceptron, or read "
                "margin_lower_ and margin_upper_ of a MaxMargin."
            )
        if X is None:
            return cls.of_history(history, margin).plot(**options)
        lower, upper = _after_each_mistake(estimator, read_points(X, y, estimator.classes_))
        best = np.maximum.accumulate(lower), np.minimum.accumulate(upper)
        return cls(np.arange(1.0, len(lower) + 1.0), *best, "mistakes", margin).plot(**options)

    @classmethod
    def of_history(cls, history: Sequence[PassRecord], margin: float | None = None) -> BracketDisplay:
        """Return the bracket after every reading of all rows; it is not drawn yet."""
        lower = np.maximum.accumulate([record.margin_lower for record in history])
        upper = np.minimum.accumulate([record.margin_upper for record in history])
        return cls(np.arange(1.0, len(history) + 1.0), lower, upper, "readings of all rows", margin)

    def _draw(self, colors: Palette) -> None:
        ax = self.ax_
        # Each bound holds until a better one is proved, so the lines are steps, and the last ones continue.
        longer = self.times[-1] + max(0.4, 0.06 * (self.times[-1] - self.times[0]))
        times = np.append(self.times, longer)
        lower, upper = np.append(self.lower, self.lower[-1]), np.append(self.upper, self.upper[-1])
        known, floor = lower > 0.0, self._floor()
        below = np.where(known, lower, floor)
        self.gap_ = ax.fill_between(
            times, below, upper, step="post", color=colors.tint(0, BAND), linewidth=0.0
        )
        counts, weights = "upper bound:\nthe counts", "lower bound:\nthe weights"
        (self.upper_line_,) = ax.step(times, upper, where="post", color=colors.color(0), label=counts)
        shown = np.where(known, lower, np.nan)
        (self.lower_line_,) = ax.step(
            times, shown, where="post", color=colors.color(1), linewidth=2.6, label=weights
        )
        self.margin_line_ = None
        if self.margin is not None:
            look: dict[str, Any] = {"linestyle": (0, (1, 1.5)), "label": "best margin\n(known)"}
            self.margin_line_ = ax.axhline(self.margin, color=colors.accent, **look)
        ax.set(xlabel=self.unit, ylabel="margin: best bounds so far", yscale="log")
        ax.set_ylim(floor, 1.3 * float(np.max(self.upper[np.isfinite(self.upper)], initial=floor * 10.0)))
        if len(self.times) > 30:
            ax.set_xscale("log")
            plain_ticks(ax.xaxis)
        elif len(self.times) < 12:
            ax.set_xticks(self.times)
        plain_ticks(ax.yaxis)
        ax.grid(axis="y")
        if not known.any():
            missing = "no separator was found: no lower bound above zero"
            ax.text(0.02, 0.03, missing, transform=ax.transAxes, color=colors.muted, fontsize=9)

    def _handles(self, colors: Palette) -> list[Any]:
        lines = (self.upper_line_, self.lower_line_, self.margin_line_)
        return [line for line in lines if line is not None]

    def _floor(self) -> float:
        """Return the bottom of the picture; bounds of zero or less are not on a logarithmic axis."""
        positive = [self.upper[np.isfinite(self.upper) & (self.upper > 0.0)], self.lower[self.lower > 0.0]]
        if self.margin is not None and self.margin > 0.0:
            positive.append(np.array([self.margin]))
        values = np.concatenate(positive)
        return 0.5 * float(values.min()) if values.size else 1e-3


def _after_each_mistake(estimator: Perceptron, points: Points) -> tuple[Floats, Floats]:
    """Return both bounds after every update, from its weights and the scores of all rows."""
    trace = trace_of(estimator, Trace)
    need_training_rows(len(estimator.mistake_counts_), points)
    if trace.start.any() or not adds_plain_rows(estimator, points, trace):
        raise InputError(
            "The bracket after every mistake needs weights that are a plain sum of rows: start at zero, "
            "without renormalise, class_weight and sample_weight. Leave X out for the bracket per reading."
        )
    if not len(trace.rows):
        raise InputError("The run made no mistakes, so there is nothing to draw.")
    norms = np.sqrt((trace.weights.reshape(len(trace.rows), -1) ** 2).sum(axis=1))
    # With more than two classes, an update moves two weight vectors by half a row each.
    upper = trace.start.ndim * norms / (estimator.eta0 * np.arange(1.0, len(norms) + 1.0))
    lowest = np.empty(len(norms))
    weights, constants = traced_weights(trace, points.table.shape[1])
    for k in range(len(norms)):
        scores = np.asarray(points.table @ weights[k + 1].T) + constants[k + 1]
        lowest[k] = signed_scores(scores, points.codes).min()
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(norms > 0.0, lowest / norms, -np.inf), upper
