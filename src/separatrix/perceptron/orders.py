"""Rosenblatt's perceptron: add every misclassified row until none is left."""

from __future__ import annotations

import numpy as np

from ..deadline import NEVER, Deadline
from ..errors import InputError
from ..progress import Progress
from ..result import Floats, Ints, Result
from ..rows.protocol import Rows
from .learner import LIGHT_NUMBERS, Learner, normalise, steps_of
from .mixing import MIXINGS, solve_mixed
from .run import Run
from .working_set import ADDED, Part, interleaved, solve_working_set

ORDERS = ("working_set", "cyclic", "shuffled", "worst", "mixed", "interleaved")
AVERAGES = (False, True, "averaged", "voted")  # True, as in scikit-learn, is "averaged"


def solve_perceptron(
    rows: Rows,
    *,
    order: str = "working_set",
    max_iter: int = 100,
    max_updates: int | None = None,
    n_iter_no_change: int | None = None,
    eta0: float = 1.0,
    margin: float = 0.0,
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
    """Separate the rows, or stop at a limit and report how far the run got.

    Every order corrects mistakes only. So Novikoff's theorem holds for rows that can be separated, from zero
    weights, with one step for all rows, without renormalizing and in exact arithmetic: there are at most
    ``(R / margin)**2`` updates (twice that for more than two classes). If the weights of shards are mixed,
    with order "mixed" or with "working_set" on a cluster, the theorem bounds the sum of ``mixed_counts``
    instead (see `mixing`).

    Parameters
    ----------
    rows : Rows
        The orders "cyclic", "shuffled" and "interleaved" need `MemoryRows`. Order "mixed" visits shards where
        they are. The other orders use scans, and copies of a few rows.
    order, max_iter, max_updates, n_iter_no_change, eta0, margin, renormalise, average, trace, shards, mixing
        As in `separatrix.Perceptron`, but ``n_iter_no_change`` is off by default.
    row_weights : ndarray of shape (rows,), optional
        A factor for the updates of each row.
    start : ndarray, optional
        The first weights; zeros if not given.
    seed : int or Generator, optional
        For the orders "shuffled" and "interleaved".
    deadline : Deadline
        The run stops after the first pass or scan that ends later.
    """
    if order not in ORDERS:
        raise InputError(f"The order must be one of {', '.join(ORDERS)}. Got {order!r} instead.")
    if order == "working_set" and (average or renormalise or margin):
        order = "shuffled" if rows.order.size <= ADDED else "interleaved"
    if average and order == "worst":
        raise InputError(
            "Averaging needs an order that visits every row: 'cyclic' or 'shuffled'. Got 'worst' instead.",
            parameter="order",
        )
    if order == "mixed":
        _check_mixed(average=average, renormalise=renormalise, trace=trace, margin=margin, mixing=mixing)
    learner = Learner(
        rows,
        start=np.broadcast_to(0.0, rows.weights_shape) if start is None else start,
        steps=steps_of(rows, eta0, row_weights),
        margin=margin,
        max_updates=max_updates,
        renormalise=renormalise,
        averaging=average == "averaged",
        logging=trace or average == "voted",
        # In cyclic order the bits are those of `partial_fit`, which may see many rows in small pieces.
        few=order != "cyclic" and rows.local is not None and rows.local.few and rows.numbers <= LIGHT_NUMBERS,
    )
    interrupted = False
    with Progress() as progress:
        run = Run(learner, max_iter, deadline, progress, n_iter_no_change, averaging=bool(average))
        try:
            if order == "working_set":
                # Mixed weights have no single sequence of updates, and cannot stop during a pass.
                apart = rows.local is None and not (trace or max_updates is not None)
                solve_working_set(run, rows.shards() if apart else None)
            elif order == "worst":
                _worst(run)
            elif order == "mixed":
                solve_mixed(run, rows.shards(shards), mixing)
            else:
                shuffle = np.random.default_rng(seed) if order != "cyclic" else None
                while not run.stopped() and not run.one_pass(_next_order(rows.order, order, shuffle)):
                    pass
        except KeyboardInterrupt:
            interrupted = True
            if not renormalise and order in ("working_set", "worst", "mixed"):
                learner.rebuild()
        return run.finish(order, interrupted=interrupted, voted=average == "voted", trace=trace)


def _check_mixed(*, average: str | bool, renormalise: bool, trace: bool, margin: float, mixing: str) -> None:
    if mixing not in MIXINGS:
        raise InputError(f"mixing must be one of {', '.join(MIXINGS)}. Got {mixing!r} instead.")
    voted = average == "voted"
    for asked, name in (
        (renormalise, "renormalise"),
        (trace, "trace"),
        (voted, "voting"),
        (margin, "a margin"),
    ):
        if asked:
            raise InputError(
                f"Order 'mixed' cannot be combined with {name}: the shards learn in parallel, so there is "
                "no single sequence of updates. Choose order 'cyclic' or 'shuffled', or leave the other out.",
                parameter="order",
            )


def _next_order(rows: Ints, order: str, shuffle: np.random.Generator | None) -> Ints:
    """Return the rows as the next pass visits them."""
    if shuffle is None:
        return rows
    return shuffle.permutation(rows) if order == "shuffled" else interleaved(rows, shuffle)


def _worst(run: Run) -> None:
    """Correct the row with the lowest score, and scan all rows again."""
    learner = run.learner
    while not run.stopped():
        found = run.scan()
        if found.scores[0] > learner.margin or run.stopped():
            return
        Part(learner, found.rows[:1]).plain_pass()
        if learner.renormalise:
            normalise(learner.weights)
