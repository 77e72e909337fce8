"""Rosenblatt's perceptron: add every misclassified row until none is left."""

from __future__ import annotations

import numpy as np

from ..errors import InputError
from ..progress import Progress
from ..result import Floats, Result, Status
from ..rows.memory import MemoryRows
from .run import Run, steps_of
from .working_set import solve_working_set

ORDERS = ("working_set", "cyclic", "shuffled", "worst")
AVERAGES = (False, "averaged", "voted")


def solve_perceptron(
    rows: MemoryRows,
    *,
    order: str = "working_set",
    max_passes: int = 100,
    max_updates: int | None = None,
    learning_rate: float = 1.0,
    row_weights: Floats | None = None,
    start: Floats | None = None,
    renormalise: bool = False,
    average: str | bool = False,
    trace: bool = False,
    seed: int | np.random.Generator | None = None,
) -> Result:
    """Separate the rows, or stop and say how far the run got.

    Every order corrects mistakes only, so Novikoff's theorem holds for all of them: from zero
    weights, at most ``(R / margin)**2`` updates (twice that with more than two classes).

    Parameters
    ----------
    rows : MemoryRows
    order : {"working_set", "cyclic", "shuffled", "worst"}
        Which mistake is corrected next. Averaging and renormalising need every row visited in
        turn: with them, "working_set" means "shuffled".
    max_passes, max_updates : int
        Where to stop if no separator was found.
    learning_rate : float
        Scales every update; from zero weights it changes nothing but the scale.
    row_weights : ndarray of shape (rows,), optional
        Scales the updates of each row.
    start : ndarray, optional
        The first weights; zeros if not given.
    renormalise : bool
        Scale the weights to length one after each update. Novikoff's bound does not hold then.
    average : {False, "averaged", "voted"}
    trace : bool
        Keep every update.
    seed : int or Generator, optional
        For the shuffles.

    Returns
    -------
    Result
    """
    if order not in ORDERS:
        raise InputError(f"The order must be one of {', '.join(ORDERS)}. Got {order!r} instead.")
    if order == "working_set" and (average or renormalise):
        order = "shuffled"
    if average and order == "worst":
        raise InputError(
            "Averaging needs an order that visits every row: 'cyclic' or 'shuffled'. Got 'worst' instead."
        )
    with Progress() as progress:
        run = Run(
            rows,
            start=np.broadcast_to(0.0, rows.weights_shape) if start is None else start,
            steps=steps_of(rows, learning_rate, row_weights),
            max_passes=max_passes,
            max_updates=max_updates,
            averaging=average == "averaged",
            logging=trace or average == "voted",
            renormalise=renormalise,
            progress=progress,
        )
        interrupted = False
        try:
            if order == "working_set":
                solve_working_set(run)
            elif order == "worst":
                _worst(run)
            else:
                _passes(run, np.random.default_rng(seed) if order == "shuffled" else None)
        except KeyboardInterrupt:
            interrupted = True
            if order == "working_set":
                run.rebuild()
    status = Status.INTERRUPTED if interrupted else _status(run)
    return run.finish(status, order, voted=average == "voted", trace=trace)


def _status(run: Run) -> Status:
    if run.cycle is not None:
        return Status.INSEPARABLE
    return Status.UPDATE_LIMIT if run.out_of_updates else Status.PASS_LIMIT


def _passes(run: Run, shuffle: np.random.Generator | None) -> None:
    """Pass after pass over every row, in order or shuffled."""
    while not run.stopped():
        order = run.rows.order if shuffle is None else shuffle.permutation(run.rows.order)
        if run.plain_passes(order, 1):
            return


def _worst(run: Run) -> None:
    """Correct the most violated row, look at all rows again."""
    while not run.stopped():
        found = run.scan()
        if found.mistakes == 0 or run.stopped():
            return
        run.visit(found.rows[:1])
