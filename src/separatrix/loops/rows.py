"""Loops over rows: score, correct, learn, scan; each serves dense and sparse rows, two classes and many.

The storage of the rows decides where the entries of a row are (`span`, `entry`, `column_of`). The shape of
the weights decides ``row_score`` and ``correct``: a vector means two classes, and the sign of the label is
applied while the row is read; a matrix means one weight vector per class. The lift is applied while the row
is read, too: if ``rows.lift`` is set, the last weight is the intercept.

The other modules of loops call these functions. numba's cache checks only the file of a loop: if you change a
function here that loops of other files call, clear the cache (NUMBA_CACHE_DIR, or ``__pycache__``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from .compiling import by_type, loop, part
from .layouts import LIMIT, LOGGED, MISTAKES, VISITS, DenseRows, Tally


def is_dense(rows: Any) -> bool:
    """Return whether numba sees the rows as dense (at compile time)."""
    return isinstance(rows, types.NamedTuple) and rows.instance_class is DenseRows


@by_type
def span(rows: Any, i: Any) -> Any:
    """Return the first entry of row i and the entry after its last one.

    They are unsigned, because numba then omits Python's counting from the end, which took half of the time of
    sparse loops.
    """

    def dense(rows: Any, i: Any) -> Any:
        return np.uint64(0), np.uint64(rows.values.shape[1])

    def sparse(rows: Any, i: Any) -> Any:
        return np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])

    return dense if is_dense(rows) else sparse


@by_type
def entry(rows: Any, i: Any, p: Any) -> Any:
    """Return the value of entry p, which belongs to row i."""

    def dense(rows: Any, i: Any, p: Any) -> Any:
        return rows.values[i, p]

    def sparse(rows: Any, i: Any, p: Any) -> Any:
        return rows.data[p]

    return dense if is_dense(rows) else sparse


@by_type
def column_of(rows: Any, p: Any) -> Any:
    """Return the column of entry p."""

    def dense(rows: Any, p: Any) -> Any:
        return p

    def sparse(rows: Any, p: Any) -> Any:
        return np.uint64(rows.indices[p])

    return dense if is_dense(rows) else sparse


@part
def row_output(rows: Any, i: int, w: Any) -> float:
    """Return <w, lift(x_i)>, unsigned."""
    first, end = span(rows, i)
    total = 0.0
    for p in range(first, end):
        total += entry(rows, i, p) * w[column_of(rows, p)]
    if rows.lift:
        total += w[w.shape[0] - 1]
    return total


@by_type
def fill_row_outputs(rows: Any, i: Any, w: Any, outputs: Any) -> Any:
    """Fill ``outputs[c]`` with <w[c], lift(x_i)>; an entry of a sparse row is read once for all classes."""

    def dense(rows: Any, i: Any, w: Any, outputs: Any) -> Any:
        for c in range(w.shape[0]):
            outputs[c] = row_output(rows, i, w[c])

    def sparse(rows: Any, i: Any, w: Any, outputs: Any) -> Any:
        first, end = span(rows, i)
        for c in range(w.shape[0]):
            outputs[c] = w[c, w.shape[1] - 1] if rows.lift else 0.0
        if (end - first) % np.uint64(2) > 0:
            value, column, first = entry(rows, i, first), column_of(rows, first), first + np.uint64(1)
            for c in range(w.shape[0]):
                outputs[c] += value * w[c, column]
        for p in range(first, end, np.uint64(2)):
            q = p + np.uint64(1)
            value, column = entry(rows, i, p), column_of(rows, p)
            other, beside = entry(rows, i, q), column_of(rows, q)
            for c in range(w.shape[0]):
                outputs[c] += value * w[c, column] + other * w[c, beside]

    return dense if is_dense(rows) else sparse


@part
def add_row(rows: Any, i: int, w: Any, step: float) -> None:
    """Add ``step * lift(x_i)`` to ``w`` in place."""
    first, end = span(rows, i)
    for p in range(first, end):
        w[column_of(rows, p)] += step * entry(rows, i, p)
    if rows.lift:
        w[w.shape[0] - 1] += step


@part
def squared_norm(rows: Any, i: int) -> float:
    """Return |lift(x_i)|^2."""
    first, end = span(rows, i)
    total = 0.0
    for p in range(first, end):
        value = np.float64(entry(rows, np.uint64(i), p))
        total += value * value
    return total + rows.lift


@by_type
def row_score(rows: Any, i: Any, w: Any) -> Any:
    """Return the signed score of row i and the rival class it was scored against."""

    def binary(rows: Any, i: Any, w: Any) -> Any:
        return (2.0 * rows.labels[i] - 1.0) * row_output(rows, i, w), 0

    def multiclass(rows: Any, i: Any, w: Any) -> Any:
        own = rows.labels[i]
        best, rival = -np.inf, -1
        for c in range(w.shape[0]):
            if c != own:
                output = row_output(rows, i, w[c])
                if rival < 0 or not output <= best:
                    best, rival = output, c
        return row_output(rows, i, w[own]) - best, rival

    return binary if w.ndim == 1 else multiclass


@by_type
def row_score_by_entries(rows: Any, i: Any, w: Any, outputs: Any) -> Any:
    """Do what `row_score` does; an entry of a sparse row is read once for all classes."""

    def short(rows: Any, i: Any, w: Any, outputs: Any) -> Any:
        return row_score(rows, i, w)

    def sparse(rows: Any, i: Any, w: Any, outputs: Any) -> Any:
        own = rows.labels[i]
        fill_row_outputs(rows, i, w, outputs)
        best, rival = -np.inf, -1
        for c in range(w.shape[0]):
            if c != own and (rival < 0 or not outputs[c] <= best):
                best, rival = outputs[c], c
        return outputs[own] - best, rival

    return short if w.ndim == 1 or is_dense(rows) else sparse


@part
def rows_at_once(rows: Any, i: int, numbers: int = 1 << 15) -> Any:
    """Return how many rows like row i to measure at a time, so that they are still cached when visited."""
    first, end = span(rows, i)
    stored: Any = np.int64(end - first)
    return max(1, numbers // max(1, stored))


@by_type
def correct(rows: Any, i: Any, rival: Any, w: Any, step: Any) -> Any:
    """Apply the perceptron's update for row i to ``w``.

    With one weight vector per class, half of the step is added to the row's own class and half is subtracted
    from the rival, so that for two classes ``w[1] - w[0]`` equals the binary weights.
    """

    def binary(rows: Any, i: Any, rival: Any, w: Any, step: Any) -> Any:
        add_row(rows, i, w, (2.0 * rows.labels[i] - 1.0) * step)

    def multiclass(rows: Any, i: Any, rival: Any, w: Any, step: Any) -> Any:
        add_row(rows, i, w[rows.labels[i]], 0.5 * step)
        add_row(rows, i, w[rival], -0.5 * step)

    return binary if w.ndim == 1 else multiclass


@part
def is_full(tally: Tally) -> bool:
    """Return whether the limit on mistakes is reached, or the log is full."""
    clock, capacity = tally.clock, tally.log.shape[0]
    return clock[MISTAKES] >= clock[LIMIT] or (capacity > 0 and clock[LOGGED] == capacity)


@part
def update(rows: Any, i: int, rival: int, w: Any, steps: Any, tally: Tally, position: int) -> None:
    """Correct ``w`` on row i, at ``position`` of this visit, and record the update in the tally."""
    clock, step = tally.clock, steps[min(i, steps.shape[0] - 1)]
    visit = clock[VISITS] + position
    if tally.log.shape[0] > 0:
        tally.log[clock[LOGGED], 0] = i
        tally.log[clock[LOGGED], 1] = rival
        tally.log[clock[LOGGED], 2] = visit
        clock[LOGGED] += 1
    correct(rows, i, rival, w, step)
    if tally.average.size > 0:
        correct(rows, i, rival, tally.average, step * visit)
    tally.counts[i, rival] += 1
    clock[MISTAKES] += 1


@loop
def measure(rows: Any, order: Any, norms: Any) -> int:
    """Fill the squared norms of the lifted rows of ``order``; return the first that is not finite, or -1."""
    worst = -1
    for i in order:
        square = squared_norm(rows, i)
        if worst < 0 and not square < np.inf:
            worst = i
        norms[i] = square
    return worst


@loop
def learn(rows: Any, order: Any, w: Any, steps: Any, tally: Tally) -> int:
    """Visit the rows of ``order``, correcting ``w`` on every mistake: a score of at most ``tally.margin``.

    Keeps ``w == start + sum_i steps[i] * counts[i] * z_i``: the counts are half of the proof.
    Returns how many rows were visited. These are fewer than all rows if the limit on mistakes is reached or
    the log is full.
    """
    floor, margin, seen, full = tally.floor[0], tally.margin[0], 0, False
    while seen < order.shape[0] and not full:
        here = order[seen : seen + rows_at_once(rows, order[seen])]
        if tally.norms.shape[0] > 0:
            measure(rows, here, tally.norms)
        for i in here:
            score, rival = row_score_by_entries(rows, i, w, tally.outputs)
            if score < floor:
                floor = score
            if not score > margin:
                full = is_full(tally)
                if full:
                    break
                update(rows, i, rival, w, steps, tally, seen)
            seen += 1
    tally.clock[VISITS], tally.floor[0] = tally.clock[VISITS] + seen, floor
    return seen


@loop
def column_sizes(values: Any, start: int, stop: int, largest: Any) -> None:
    """Raise ``largest[j]`` to the largest magnitude in column j of the rows from start to stop."""
    for i in range(start, stop):
        for j in range(values.shape[1]):
            size = abs(np.float64(values[i, j]))
            largest[j] = size if size > largest[j] else largest[j]


@loop
def fill_outputs(rows: Any, start: int, stop: int, w: Any, outputs: Any) -> None:
    """Fill ``outputs[i, c]`` with <w[c], lift(x_i)> for the rows from start to stop."""
    for i in range(start, stop):
        for c in range(w.shape[0]):
            outputs[i, c] = row_output(rows, i, w[c])


@loop
def fill_scores(rows: Any, start: int, stop: int, w: Any, outputs: Any, scores: Any) -> None:
    """Fill ``scores[i]`` with the signed score of row i for the rows from start to stop.

    ``outputs`` is scratch memory for one number per class.
    """
    for i in range(start, stop):
        scores[i], _ = row_score_by_entries(rows, i, w, outputs)


@loop
def fill_norms(rows: Any, start: int, stop: int, w: Any, scores: Any, norms: Any) -> None:
    """Do what `fill_scores` does, and fill ``norms[i]`` with |lift(x_i)|^2 while row i is in the cache."""
    for i in range(start, stop):
        scores[i], _ = row_score(rows, i, w)
        norms[i] = squared_norm(rows, i)


@loop
def add_rows(rows: Any, start: int, stop: int, factors: Any, total: Any) -> None:
    """Add ``sum_i factors[i] * z_i`` over the rows from start to stop to ``total``."""
    for i in range(start, stop):
        if factors[i] != 0.0:
            add_row(rows, i, total, (2.0 * rows.labels[i] - 1.0) * factors[i])


@loop
def combine(rows: Any, counts: Any, steps: Any, w: Any) -> None:
    """Add ``sum_i steps[i] * counts[i] * z_i`` to ``w``."""
    last = steps.shape[0] - 1
    for i in range(counts.shape[0]):
        for rival in range(counts.shape[1]):
            if counts[i, rival] != 0:
                correct(rows, i, rival, w, steps[min(i, last)] * counts[i, rival])


@loop
def outer_sum(rows: Any, members: Any, square: Any) -> None:
    """Add the lower triangle of ``sum_i z_i z_i^T`` over the members to ``square``."""
    end = square.shape[0] - 1
    for i in members:
        first, last = span(rows, i)
        for p in range(first, last):
            left, j = np.float64(entry(rows, i, p)), column_of(rows, p)
            for q in range(first, last):
                k = column_of(rows, q)
                if k <= j:
                    square[j, k] += left * entry(rows, i, q)
            if rows.lift:
                square[end, j] += left
        if rows.lift:
            square[end, end] += 1.0


@part
def row_hash(rows: Any, i: int, keys: Any, magnitude: int) -> Any:
    """Return a hash of row i, read as unsigned bit patterns; zeros of either sign are ignored."""
    first, end = span(rows, i)
    total = np.uint64(0)
    for p in range(first, end):
        bits = np.uint64(entry(rows, i, p))
        if bits & magnitude:
            total += (bits ^ (bits >> np.uint64(32))) * keys[column_of(rows, p)]
    return total


@loop
def hash_rows(rows: Any, start: int, stop: int, keys: Any, magnitude: Any, hashes: Any) -> None:
    """Fill ``hashes`` from ``start`` to ``stop`` so that equal rows have equal hashes."""
    for i in range(start, stop):
        hashes[i] = row_hash(rows, i, keys, magnitude)


@loop
def vote(products: Any, script: Any, steps: Any, survivals: Any, outputs: Any, votes: Any) -> None:
    """Let every intermediate weight vector vote for the class with its largest output.

    ``outputs[b, c]`` starts as the outputs of the first weights; entry m of the script is (column of
    ``products``, own class, rival) of the m-th mistake. Ties go to the lower class.
    """
    for b in range(outputs.shape[0]):
        for m in range(survivals.shape[0]):
            if m > 0:
                amount = 0.5 * steps[m - 1] * products[b, script[m - 1, 0]]
                outputs[b, script[m - 1, 1]] += amount
                outputs[b, script[m - 1, 2]] -= amount
            best = 0
            for c in range(1, outputs.shape[1]):
                if outputs[b, c] > outputs[b, best]:
                    best = c
            votes[b, best] += survivals[m]
