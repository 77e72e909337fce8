"""Rosenblatt's perceptron: add every misclassified row until none is left."""

from __future__ import annotations

import numpy as np

from ..deadline import NEVER, Deadline
from ..errors import InputError
from ..progress import Progress
from ..result import Floats, Result
from ..rows.protocol import Rows
from .learner import Learner, normalise, steps_of
from .mixing import MIXINGS, solve_mixed
from .passes import visit
from .run import Run, finish
from .working_set import Part, solve_working_set

ORDERS = ("working_set", "cyclic", "shuffled", "worst", "mixed")
AVERAGES = (False, True, "averaged", "voted")  # True, as in scikit-learn, is "averaged"


def solve_perceptron(
    rows: Rows,
    *,
    order: str = "working_set",
    max_iter: int = 100,
    max_updates: int | None = None,
    eta0: float = 1.0,
    row_weights: Floats | None = None,
    start: Floats | None = None,
    renormalise: bool = False,
    average: str | bool = False,
    trace: bool = False,
    shards: int | None = None,
    mixing: str = "mistakes",
    seed: int | np.random.Generator | None = None,
    deadline: Deadline = NEVER,
) -> Result:
    """Separate the rows, or stop and say how far the run got.

    Every order corrects mistakes only, so Novikoff's theorem holds for all of them: of rows that can be
    separated, from zero weights, with one step for all rows, without renormalising and in exact arithmetic,
    at most ``(R / margin)**2`` updates (twice that with more than two classes). Where weights of shards were
    mixed, it bounds the sum of ``mixed_counts`` instead (see `mixing`): with order "mixed", and with
    "working_set" on a cluster while many rows are wrong.

    Parameters
    ----------
    rows : Rows
        "cyclic" and "shuffled" visit the rows in turn and need `MemoryRows`; "mixed" visits shards in turn,
        each where it is; the other orders do with scans and copies of a few rows.
    order : {"working_set", "cyclic", "shuffled", "worst", "mixed"}
        Which mistake is corrected next. Averaging and renormalising need every row visited in
        turn: with them, "working_set" means "shuffled".
    max_iter, max_updates : int
        Where to stop if no separator was found. With order "mixed" updates are counted after each epoch.
    eta0 : float
        Scales every update. From zero weights, in exact arithmetic, it changes nothing but the scale; in
        floats that holds for powers of two, as long as nothing leaves their range.
    row_weights : ndarray of shape (rows,), optional
        Scales the updates of each row.
    start : ndarray, optional
        The first weights; zeros if not given.
    renormalise : bool
        Scale the weights to length one after each update. Novikoff's bound does not hold then; another does
        from zero weights with a small learning rate (`separatrix.mistake_bounds`).
    average : {False, "averaged", "voted"}
    trace : bool
        Keep every update.
    shards : int, optional
        With order "mixed", how many pieces rows in memory are cut into.
    mixing : {"mistakes", "even"}
        With order "mixed", what the weights of a shard count: as much as it made mistakes, or all the same.
    seed : int or Generator, optional
        For the shuffles.
    deadline : Deadline
        When to stop, after the pass or scan that is under way.

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
            "Averaging needs an order that visits every row: 'cyclic' or 'shuffled'. Got 'worst' instead.",
            parameter="order",
        )
    if order == "mixed":
        _check_mixed(average=average, renormalise=renormalise, trace=trace, mixing=mixing)
    learner = Learner(
        rows,
        start=np.broadcast_to(0.0, rows.weights_shape) if start is None else start,
        steps=steps_of(rows, eta0, row_weights),
        max_updates=max_updates,
        renormalise=renormalise,
        averaging=average == "averaged",
        logging=trace or average == "voted",
        # In cyclic order the bits are those of `partial_fit`, which may see many rows in small pieces.
        few=order != "cyclic" and rows.local is not None and rows.local.few,
    )
    interrupted = False
    with Progress() as progress:
        run = Run(learner, max_iter=max_iter, deadline=deadline, progress=progress)
        try:
            if order == "working_set":
                # mixed weights have no one sequence of updates, nor an end in mid-pass
                apart = rows.local is None and not (trace or max_updates is not None)
                solve_working_set(run, rows.shards() if apart else None)
            elif order == "worst":
                _worst(run)
            elif order == "mixed":
                solve_mixed(run, rows.shards(shards), mixing)
            else:
                shuffle = np.random.default_rng(seed) if order == "shuffled" else None
                clean = False
                while not clean and not run.stopped():
                    clean = run.plain_passes(
                        rows.order if shuffle is None else shuffle.permutation(rows.order)
                    )
        except KeyboardInterrupt:
            interrupted = True
            if not renormalise and (order in ("working_set", "mixed") or rows.local is None):
                learner.rebuild()
    return finish(run, order, interrupted=interrupted, voted=average == "voted", trace=trace)


def _check_mixed(*, average: str | bool, renormalise: bool, trace: bool, mixing: str) -> None:
    if mixing not in MIXINGS:
        raise InputError(f"mixing must be one of {', '.join(MIXINGS)}. Got {mixing!r} instead.")
    for asked, name in ((renormalise, "renormalise"), (trace, "trace"), (average == "voted", "voting")):
        if asked:
            raise InputError(
                f"Order 'mixed' cannot be combined with {name}: the shards learn side by side, so there is "
                "no one sequence of updates. Choose order 'cyclic' or 'shuffled', or leave the other out.",
                parameter="order",
            )


def _worst(run: Run) -> None:
    """Correct the most violated row, scan all rows again."""
    learner = run.learner
    while not run.stopped():
        found = run.scan()
        if found.mistakes == 0 or run.stopped():
            return
        if learner.rows.local is not None:
            visit(learner, learner.rows.local, found.rows[:1])
        else:
            Part.of(learner, found.rows[:1]).plain_pass()
            if learner.renormalise:
                normalise(learner.weights)
