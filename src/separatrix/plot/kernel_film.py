"""A run of the kernel perceptron as a film: the regions after each update."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ..dual.expansion import Expansion
from ..errors import InputError
from ..estimators.kernel import KernelPerceptron
from ..inputs import read_matrix
from ..views.palettes import Palette
from .film import Film
from .regions import DecisionRegionDisplay
from .style import new_figure, palette, style


def kernel_film(
    estimator: KernelPerceptron,
    X: Any,
    y: Any,
    *,
    fps: float = 2.0,
    max_frames: int = 60,
    dpi: int = 100,
    theme: str | Palette | None = None,
    resolution: int = 60,
) -> Film:
    """The run of a kernel perceptron: ``.save("run.gif")`` writes it, a notebook plays it.

    Each picture shows the regions of the weights after an update; the last one shows those that ``fit`` ended
    with, whatever ``average`` predicts with.

    Parameters
    ----------
    estimator : KernelPerceptron
        Fitted with ``trace=True``.
    X, y : rows and labels
        Those of the training.
    fps : float
        Pictures per second.
    max_frames : int
        A longer run is shown at this many updates, evenly spread.
    dpi : int
    theme : {"light", "dark"}, Palette or None
    resolution : int
        Of the grid that the regions are found on.

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]
    >>> model = sx.KernelPerceptron("poly", degree=2, trace=True).fit(X, y)
    >>> sx.plot.kernel_film(model, X, y).count == model.mistakes_
    True
    """
    trace = getattr(getattr(estimator, "result_", None), "trace", None)
    if trace is None:
        raise InputError(
            "A film needs every update of the run.",
            remedy="Fit KernelPerceptron(trace=True).",
            parameter="trace",
        )
    made = len(trace.rows)
    if made < 2 or max_frames < 2:
        raise InputError(
            f"A film needs at least two pictures. The run has {made} updates, and max_frames={max_frames}."
        )
    steps = sorted({round(at) for at in np.linspace(1, made, min(made, max_frames))})
    colors = palette(theme)

    def pictures() -> Iterator[Figure]:
        figure, axes = new_figure(colors)
        for step in steps:
            with style(colors):
                axes.clear()
                for axis in (axes.xaxis, axes.yaxis):
                    axis.get_major_ticks()  # a tick keeps the colors of the moment it is made
            title = f"update {step:,} of {made:,}: row {trace.rows[step - 1]} corrected"
            DecisionRegionDisplay.from_estimator(
                after(estimator, X, step),
                X,
                y,
                ax=axes,
                theme=colors,
                band=None,
                resolution=resolution,
                title=title,
                legend=False,
            )
            yield figure

    name = f"A run of the kernel perceptron: {made} updates"
    return Film(pictures, len(steps), fps=fps, dpi=dpi, title=name)


def after(estimator: KernelPerceptron, X: Any, step: int) -> KernelPerceptron:
    """The model after the first ``step`` updates; X has the rows that a budget has removed since."""
    then, machine = copy.copy(estimator), estimator._machine
    if isinstance(machine, Expansion):
        coef = np.zeros((machine.size, machine.columns))
        np.add.at(coef, machine.updates[:step, 0], machine.corrections(0, step))
        support = machine.rows[: machine.size]
    else:
        trace: Any = estimator.result_.trace
        used = trace.support[step - 1] >= 0
        support, coef = trace.support[step - 1][used], trace.coef[step - 1][used]
        then._machine = Expansion(machine.similarity, machine.n_classes)
        then._machine.anchors.append(read_matrix(estimator, X, reset=False)[support])
        then._machine.size = support.size
    then.dual_coef_ = coef
    then.support_ = support[coef.any(axis=1)]  # what is ringed in the picture
    then._fitted_as = {**estimator._fitted_as, "average": False}
    return then
