"""The bracket of the best margin: the weights prove a lower bound, the counts an upper bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from ..errors import InputError, InputTypeError
from ..estimators.linear import Perceptron
from ..result import Floats, Trace
from ..rows.class_leads import leads
from ..views.model import Points, read_model, read_points
from ..views.palettes import Palette
from .drawing import BAND
from .run_display import adds_plain_rows, trace_of
from .style import Display, add_legend, axes_for, plain_ticks, style


@dataclass(eq=False, repr=False)
class BracketDisplay(Display):
    """The bracket of the best margin over the time of a run.

    Any weights prove that the best margin is at least theirs, any counts that it is at most
    ``|sum of a_i z_i| / sum of a_i``. What is drawn is the best known so far, to the rounding of plain sums.

    Attributes
    ----------
    times : ndarray
        Readings of all rows, or mistakes.
    lower, upper : ndarray
        The largest lower and the smallest upper bound by then; the lower one may be negative or infinite.
    unit : {"readings of all rows", "mistakes"}
    margin : float or None
        The best margin itself, where it is known.
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

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        margin: float | None = None,
        ax: Axes | None = None,
        theme: str | Palette | None = None,
        title: str | None = None,
    ) -> BracketDisplay:
        """Draw the bracket of a fitted perceptron.

        Parameters
        ----------
        estimator : fitted Perceptron or KernelPerceptron
        X, y : the rows and labels of the training, optional
            With them and the trace of a `Perceptron` (``trace=True``), the bracket after every mistake;
            without, after every reading of all rows.
        margin : float, optional
            The best margin of the lifted rows, where it is known, as a line.
        ax : Axes, optional
        theme : {"light", "dark"}, Palette or None
        title : str, optional

        Returns
        -------
        BracketDisplay

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
                f"A bracket over time needs the history of a run. {type(estimator).__name__} has none; use a "
                "Perceptron, or read margin_lower_ and margin_upper_ of a MaxMargin."
            )
        if X is None:
            lower = np.array([record.margin_lower for record in history])
            upper = np.array([record.margin_upper for record in history])
            times, unit = np.arange(1.0, len(history) + 1.0), "readings of all rows"
        else:
            lower, upper = _after_each_mistake(estimator, read_points(X, y, estimator.classes_))
            times, unit = np.arange(1.0, len(lower) + 1.0), "mistakes"
        display = cls(times, np.maximum.accumulate(lower), np.minimum.accumulate(upper), unit, margin)
        return display.plot(ax=ax, theme=theme, title=title)

    def plot(
        self,
        *,
        ax: Axes | None = None,
        theme: str | Palette | None = None,
        title: str | None = None,
    ) -> BracketDisplay:
        """Draw, on the given axes or on new ones."""
        self.figure_: Figure | SubFigure
        self.figure_, self.ax_, colors = axes_for(ax, theme, (6.0, 4.0))
        ax = self.ax_
        with style(colors):
            # A bound holds from the moment it is proved until a better one comes; the last one stays.
            longer = self.times[-1] + max(0.4, 0.06 * (self.times[-1] - self.times[0]))
            times = np.append(self.times, longer)
            lower, upper = np.append(self.lower, self.lower[-1]), np.append(self.upper, self.upper[-1])
            known = lower > 0.0
            floor = self._floor()
            filled = np.where(known, lower, floor)
            self.gap_ = ax.fill_between(
                times, filled, upper, step="post", color=colors.tint(0, BAND), linewidth=0.0
            )
            counts, weights = "upper bound:\nthe counts", "lower bound:\nthe weights"
            (self.upper_line_,) = ax.step(times, upper, where="post", color=colors.color(0), label=counts)
            shown = np.where(known, lower, np.nan)
            (self.lower_line_,) = ax.step(
                times, shown, where="post", color=colors.color(1), linewidth=2.6, label=weights
            )
            self.margin_line_ = None
            if self.margin is not None:
                known_here = "best margin,\nknown here"
                self.margin_line_ = ax.axhline(
                    self.margin, color=colors.accent, linestyle=(0, (1, 1.5)), label=known_here
                )
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
            if title is not None:
                ax.set_title(title)
            handles = [self.upper_line_, self.lower_line_, self.margin_line_]
            add_legend(ax, [line for line in handles if line is not None])
        return self

    def _floor(self) -> float:
        """Where the picture ends below: lower bounds of zero or less are not on a logarithmic axis."""
        positive = [self.upper[np.isfinite(self.upper) & (self.upper > 0.0)], self.lower[self.lower > 0.0]]
        if self.margin is not None and self.margin > 0.0:
            positive.append(np.array([self.margin]))
        values = np.concatenate(positive)
        return 0.5 * float(values.min()) if values.size else 1e-3


def _after_each_mistake(estimator: Perceptron, points: Points) -> tuple[Floats, Floats]:
    """Both bounds from the weights after every update, against all rows."""
    trace = trace_of(estimator)
    if len(points.codes) != len(estimator.mistake_counts_):
        raise InputError(
            f"The run was made on {len(estimator.mistake_counts_)} rows, X has {len(points.codes)}. Pass the "
            "data of the training."
        )
    if trace.start.any() or not adds_plain_rows(estimator, points, trace):
        raise InputError(
            "The bracket after every mistake is read off weights that are a plain sum of rows: no start but "
            "zero, no renormalising, no weights of classes or rows. Leave X out for the bracket of each "
            "reading."
        )
    if not len(trace.rows):
        raise InputError("The run made no mistake, so there is nothing to follow.")
    flat = trace.weights.reshape(len(trace.rows), -1)
    norms = np.sqrt((flat**2).sum(axis=1))
    # An update of one of many classes moves two weight vectors by half a row each.
    halves = 2.0 if trace.weights.ndim == 3 else 1.0
    upper = halves * norms / (estimator.eta0 * np.arange(1.0, len(norms) + 1.0))
    lowest = np.array([leads(scores, points.codes).min() for scores in _scores(trace, points)])
    with np.errstate(divide="ignore", invalid="ignore"):
        lower = np.where(norms > 0.0, lowest / norms, -np.inf)
    return lower, upper


def _scores(trace: Trace, points: Points, at_once: int = 1 << 22) -> Any:
    """The scores of all rows after each update; one product gives about so many of them."""
    columns = points.table.shape[1]
    weights = (
        trace.weights if trace.weights.ndim == 3 else np.stack([0 * trace.weights, trace.weights], axis=1)
    )
    n_classes = weights.shape[1]
    step = max(1, at_once // (len(points.codes) * n_classes))
    for first in range(0, len(weights), step):
        part = weights[first : first + step]
        table = np.asarray(points.table @ part[:, :, :columns].reshape(-1, columns).T)
        table = table.reshape(-1, len(part), n_classes)
        if part.shape[2] > columns:
            table = table + part[:, :, columns]
        yield from np.swapaxes(table, 0, 1)
