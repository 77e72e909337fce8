"""The loops over rows in NumPy, for small data: loading compiled code would take longer.

A function with the name of a compiled loop (`loops.rows`, `loops.core`) takes the same arguments and fills
the same arrays. It may add numbers in another order, so scores can differ in their last bits, and with them
decisions that depend on rounding. Which of the two is called depends on the data and on the run so far, never
on what the process did before.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..loops.layouts import LIMIT, LOGGED, MISTAKES, VISITS, DenseRows, Gram, Tally
from ..sparse import sparse
from .protocol import Floats, Ints

FEW = 20_000  # NumPy replaces the compiled loops if rows times columns is at most this


def lifted(rows: Any, width: int) -> Floats:
    """Return the rows as float64, with a coordinate of ones if they are lifted."""
    found = np.ones((rows.labels.shape[0], width))
    if isinstance(rows, DenseRows):
        matrix = rows.values
    else:
        shape = (rows.labels.shape[0], width - rows.lift)
        matrix = sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=shape).toarray()
    found[:, : width - rows.lift] = matrix
    return found


def outputs_of(values: Floats, w: Floats) -> Floats:
    """Return <w, x_i> for each weight vector: shape (rows, vectors)."""
    # Not with BLAS: the order in which it adds depends on the other rows and on the number of threads.
    return np.asarray(np.einsum("ij,cj->ic", values, np.atleast_2d(w)))


def signed_scores(outputs: Floats, labels: NDArray[Any]) -> Floats:
    """Return the output of each row's own class minus the largest other one; zero or less is an error.

    Parameters
    ----------
    outputs : ndarray of shape (rows, classes), or (rows, 1) for two classes
        A single output is that of class 1 over class 0, and gets the sign of the label.
    labels : ndarray of shape (rows,)
        Class codes.
    """
    if outputs.shape[1] == 1:
        return np.asarray((2.0 * labels - 1.0) * outputs[:, 0])
    return np.asarray(outputs[np.arange(labels.size), labels] - _others(outputs, labels).max(axis=1))


def best_rivals(outputs: Floats, labels: NDArray[Any]) -> Ints:
    """Return the wrong class with the largest output for each row; of equal outputs, the first class."""
    return np.asarray(_others(outputs, labels).argmax(axis=1))


def _others(outputs: Floats, labels: NDArray[Any]) -> Floats:
    others = outputs.copy()
    others[np.arange(labels.size), labels] = -np.inf
    return others


def correct(x: Floats, own: int, rival: int, w: Floats, step: float) -> None:
    """Apply the perceptron's update for one row to ``w``."""
    if w.ndim == 1:
        w += ((2.0 * own - 1.0) * step) * x
    else:
        w[own] += (0.5 * step) * x
        w[rival] -= (0.5 * step) * x


def learn(rows: Any, order: Ints, w: Floats, steps: Floats, tally: Tally) -> int:
    """Visit the rows of ``order``, correcting ``w`` on every mistake; return how many were visited.

    Ctrl-C may interrupt Python between the changes of two arrays: then all of them are restored.
    """
    changed = w, tally.counts, tally.average, tally.floor, tally.clock
    before = [each.copy() for each in changed]
    try:
        with np.errstate(all="ignore"):
            return _learn(rows, order, w, steps, tally)
    except KeyboardInterrupt:
        for each, kept in zip(changed, before, strict=True):
            each[...] = kept
        raise


def _learn(rows: Any, order: Ints, w: Floats, steps: Floats, tally: Tally, block: int = 128) -> int:
    """Score a block of rows at a time; after a mistake the rest of the block is scored again."""
    values, labels = lifted(rows, w.shape[-1])[order], rows.labels[order]
    seen, begun, left = 0, int(tally.clock[VISITS]), updates_left(tally)
    made: list[tuple[int, int, int]] = []
    if tally.norms.size:
        tally.norms[order] = np.einsum("ij,ij->i", values, values)
    while seen < order.size:
        part = slice(seen, min(order.size, (seen // block + 1) * block))
        outputs = outputs_of(values[part], w)
        scores = signed_scores(outputs, labels[part])
        right = scores > tally.margin[0]
        first = int(right.argmin())  # the first mistake, if there is one
        clean = bool(right[first])
        tally.floor[0] = min(tally.floor[0], scores[: None if clean else first + 1].min())
        seen = part.stop if clean else seen + first
        if clean:
            continue
        if len(made) == left:
            break
        i, own, step = int(order[seen]), int(labels[seen]), float(steps[min(order[seen], steps.size - 1)])
        rival = rival_of(outputs[first], own)
        correct(values[seen], own, rival, w, step)
        if tally.average.size:
            correct(values[seen], own, rival, tally.average, step * (begun + seen))
        made.append((i, rival, begun + seen))
        seen += 1
    _note(made, tally)
    tally.clock[VISITS] += seen
    return seen


def rival_of(outputs: Floats, own: int) -> int:
    """Return the wrong class with the largest output; zero if there are two classes."""
    return int(best_rivals(outputs[None], np.array([own]))[0]) if outputs.size > 1 else 0


def updates_left(tally: Tally) -> int:
    """Return how many more mistakes are allowed and fit into the log."""
    clock, logged = tally.clock, tally.log.shape[0]
    allowed = int(clock[LIMIT] - clock[MISTAKES])
    return min(allowed, logged - int(clock[LOGGED])) if logged else allowed


def _note(made: list[tuple[int, int, int]], tally: Tally) -> None:
    """Count the corrected rows and rivals, and log them with their visits if there is a log."""
    corrected, clock = np.array(made, dtype=np.int64).reshape(-1, 3), tally.clock
    np.add.at(tally.counts, (corrected[:, 0], corrected[:, 1]), 1)
    clock[MISTAKES] += len(made)
    if tally.log.size:
        tally.log[clock[LOGGED] : clock[LOGGED] + len(made)] = corrected
        clock[LOGGED] += len(made)


@np.errstate(all="ignore")
def worst_first(rows: Any, outputs: Floats, steps: Floats, gram: Gram, tally: Tally) -> None:
    """Correct the most violated row of a working set until none is violated or a limit is reached."""
    values, labels, left = lifted(rows, gram.row.size), rows.labels, updates_left(tally)
    by_row = np.atleast_2d(outputs).T.copy()
    made: list[tuple[int, int, int]] = []
    while True:
        scores = signed_scores(by_row, labels)
        keys = scores * steps if steps.size > 1 else scores
        i = int(keys.argmin())
        if keys[i] > 0.0 or len(made) == left or not keys[i] > -np.inf:
            break
        if gram.slots[i] < 0:
            slot = gram.used[0]
            np.einsum("ij,j->i", values, values[i], out=gram.products[slot])
            gram.slots[i], gram.used[0] = slot, slot + 1
        own, rival = int(labels[i]), rival_of(by_row[i], int(labels[i]))
        products, step = gram.products[gram.slots[i]], float(steps[min(i, steps.size - 1)])
        correct(products, own, rival, by_row[:, 0] if outputs.ndim == 1 else by_row.T, step)
        made.append((i, rival, 0))
    _note(made, tally)


@np.errstate(all="ignore")
def replay(rows: Any, log: Ints, w: Floats, steps: Floats, weights_after: Floats, scores: Floats) -> None:
    """Repeat logged mistakes from ``w``, recording the score before and the weights after each."""
    values, labels = lifted(rows, w.shape[-1]), rows.labels
    for m, (i, rival) in enumerate(log.tolist()):
        scores[m] = signed_scores(outputs_of(values[i : i + 1], w), labels[i : i + 1])[0]
        correct(values[i], int(labels[i]), rival, w, float(steps[min(i, steps.size - 1)]))
        weights_after[m] = w


def measure(rows: Any, order: Ints, norms: Floats) -> int:
    """Fill the squared norms of the lifted rows of ``order``; return the first that is not finite, or -1."""
    dense = isinstance(rows, DenseRows)
    columns = rows.values.shape[1] if dense else int(rows.indices.max(initial=0)) + 1
    with np.errstate(all="ignore"):
        values = lifted(rows, columns + rows.lift)
        norms[order] = np.einsum("ij,ij->i", values, values)[order]
    bad = order[~(norms[order] < np.inf)]
    return int(bad[0]) if bad.size else -1


def integral(rows: Any, start: int, stop: int) -> bool:
    """Return whether every value of the rows from start to stop is an integer."""
    dense = isinstance(rows, DenseRows)
    values = rows.values[start:stop] if dense else rows.data[rows.indptr[start] : rows.indptr[stop]]
    return values.dtype.kind != "f" or bool((np.floor(values) == values).all())


def fill_outputs(rows: Any, start: int, stop: int, w: Floats, outputs: Floats) -> None:
    """Fill ``outputs[i, c]`` with <w[c], lift(x_i)> for the rows from start to stop."""
    with np.errstate(all="ignore"):
        outputs[start:stop] = outputs_of(lifted(rows, w.shape[-1])[start:stop], w)


def fill_scores(rows: Any, start: int, stop: int, w: Floats, outputs: Floats, scores: Floats) -> None:
    """Fill ``scores[i]`` with the signed score of row i for the rows from start to stop."""
    part = slice(start, stop)
    with np.errstate(all="ignore"):
        scores[part] = signed_scores(outputs_of(lifted(rows, w.shape[-1])[part], w), rows.labels[part])


@np.errstate(all="ignore")
def add_rows(rows: Any, start: int, stop: int, factors: Floats, total: Floats) -> None:
    """Add ``sum_i factors[i] * z_i`` over the rows from start to stop to ``total``."""
    part = slice(start, stop)
    signed = (2.0 * rows.labels[part] - 1.0) * factors[part]
    total += np.einsum("i,ij->j", signed, lifted(rows, total.size)[part])


@np.errstate(all="ignore")
def combine(rows: Any, counts: Ints, steps: Floats, w: Floats) -> None:
    """Add ``sum_i steps[i] * counts[i] * z_i`` to ``w``."""
    values, labels = lifted(rows, w.shape[-1]), rows.labels
    if w.ndim == 1:
        w += np.einsum("i,ij->j", (2.0 * labels - 1.0) * steps * counts[:, 0], values)
        return
    amounts = -0.5 * counts * steps[:, None]
    amounts[np.arange(labels.size), labels] += 0.5 * steps * counts.sum(axis=1)
    w += np.einsum("ic,ij->cj", amounts, values)
