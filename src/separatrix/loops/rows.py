"""Loops over rows: score, correct, learn, scan; each serves dense and sparse rows, two classes and many.

The storage of the rows decides ``row_output`` and ``add_row``; the shape of the weights decides
``row_score`` and ``correct``: a vector means two classes (the sign of the label is applied on the
fly), a matrix means one weight vector a class. The lift is applied on the fly too: where
``rows.lift`` is set, the last weight is the intercept.

The other modules of loops call what is here. numba's cache looks at the file of a loop only: whoever changes
a function here that loops of other files call must clear the cache (NUMBA_CACHE_DIR, or ``__pycache__``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from .compiling import by_type, loop, part
from .layouts import LIMIT, LOGGED, MISTAKES, VISITS, DenseRows, Tally

MEASURED = 1 << 15  # numbers that stay in the cache from when they are measured to when they are learnt from

# Sparse loops cast indices to unsigned numbers: numba then omits Python's counting from the end,
# which cost half of their time.


def is_dense(rows: Any) -> bool:
    """Tell whether numba sees the rows as dense (compile time)."""
    return isinstance(rows, types.NamedTuple) and rows.instance_class is DenseRows


@by_type
def row_output(rows: Any, i: Any, w: Any) -> Any:
    """Return <w, lift(x_i)>, unsigned."""

    def dense(rows: Any, i: Any, w: Any) -> Any:
        values = rows.values
        columns = values.shape[1]
        total = 0.0
        for j in range(columns):
            total += values[i, j] * w[j]
        if rows.lift:
            total += w[columns]
        return total

    def sparse(rows: Any, i: Any, w: Any) -> Any:
        data, indices = rows.data, rows.indices
        total = 0.0
        for p in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
            total += data[p] * w[np.uint64(indices[p])]
        if rows.lift:
            total += w[w.shape[0] - 1]
        return total

    return dense if is_dense(rows) else sparse


@by_type
def add_row(rows: Any, i: Any, w: Any, step: Any) -> Any:
    """Add ``step * lift(x_i)`` to ``w`` in place."""

    def dense(rows: Any, i: Any, w: Any, step: Any) -> Any:
        x = rows.values[i]
        columns = x.shape[0]
        for j in range(columns):
            w[j] += step * x[j]
        if rows.lift:
            w[columns] += step

    def sparse(rows: Any, i: Any, w: Any, step: Any) -> Any:
        data, indices = rows.data, rows.indices
        for p in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
            w[np.uint64(indices[p])] += step * data[p]
        if rows.lift:
            w[w.shape[0] - 1] += step

    return dense if is_dense(rows) else sparse


@by_type
def squared_norm(rows: Any, i: Any) -> Any:
    """Return |lift(x_i)|^2."""

    def dense(rows: Any, i: Any) -> Any:
        x = rows.values[i]
        total = 0.0
        for j in range(x.shape[0]):
            value = np.float64(x[j])
            total += value * value
        return total + rows.lift

    def sparse(rows: Any, i: Any) -> Any:
        data = rows.data
        total = 0.0
        for p in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
            value = np.float64(data[p])
            total += value * value
        return total + rows.lift

    return dense if is_dense(rows) else sparse


@by_type
def row_ascending(rows: Any, i: Any) -> Any:
    """Whether the columns of row i ascend, so that none comes twice."""

    def dense(rows: Any, i: Any) -> Any:
        return True

    def sparse(rows: Any, i: Any) -> Any:
        indices, good = rows.indices, True
        for p in range(np.uint64(rows.indptr[i] + 1), np.uint64(rows.indptr[i + 1])):
            good &= indices[np.uint64(p) - np.uint64(1)] < indices[p]
        return good

    return dense if is_dense(rows) else sparse


@by_type
def row_integral(rows: Any, i: Any) -> Any:
    """Whether every value of row i is a whole number."""

    def dense(rows: Any, i: Any) -> Any:
        values = rows.values
        for j in range(values.shape[1]):
            if np.floor(values[i, j]) != values[i, j]:
                return False
        return True

    def sparse(rows: Any, i: Any) -> Any:
        data = rows.data
        for p in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
            if np.floor(data[p]) != data[p]:
                return False
        return True

    return dense if is_dense(rows) else sparse


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
def stretch(rows: Any) -> Any:
    """How many rows are measured at a time, so that they are in the cache when they are learnt from."""

    def dense(rows: Any) -> Any:
        return max(1, MEASURED // max(1, rows.values.shape[1]))

    def sparse(rows: Any) -> Any:
        return max(1, MEASURED * rows.labels.shape[0] // max(1, rows.data.shape[0]))

    return dense if is_dense(rows) else sparse


@by_type
def correct(rows: Any, i: Any, rival: Any, w: Any, step: Any) -> Any:
    """Move ``w`` a step towards the label of row i: the perceptron's update.

    With one weight vector a class, half of the step goes to the row's own class and half away
    from the rival, so that two classes give ``w[1] - w[0]`` equal to the binary weights.
    """

    def binary(rows: Any, i: Any, rival: Any, w: Any, step: Any) -> Any:
        add_row(rows, i, w, (2.0 * rows.labels[i] - 1.0) * step)

    def multiclass(rows: Any, i: Any, rival: Any, w: Any, step: Any) -> Any:
        add_row(rows, i, w[rows.labels[i]], 0.5 * step)
        add_row(rows, i, w[rival], -0.5 * step)

    return binary if w.ndim == 1 else multiclass


@part
def is_full(tally: Tally) -> bool:
    """Whether no mistake is allowed any more, or the log has no room for one."""
    clock, room = tally.clock, tally.log.shape[0]
    return clock[MISTAKES] >= clock[LIMIT] or (room > 0 and clock[LOGGED] == room)


@part
def update(rows: Any, i: int, rival: int, w: Any, steps: Any, tally: Tally, position: int) -> None:
    """Correct ``w`` on row i, the one at ``position`` of this visit, and keep what is asked for."""
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
    """Fill the squared norms of the lifted rows of ``order``; return the first that is not finite, or -1.

    The square of a sparse row is the sum of its entries' squares only if no column comes twice: where the
    columns do not ascend, -1 is filled in.
    """
    worst = -1
    for i in order:
        square = squared_norm(rows, i)
        if worst < 0 and not square < np.inf:
            worst = i
        norms[i] = square if row_ascending(rows, i) else -1.0
    return worst


@loop
def learn(rows: Any, order: Any, w: Any, steps: Any, tally: Tally) -> int:
    """Visit the rows of ``order``, correcting ``w`` on every mistake; a tie is a mistake.

    Keeps ``w == start + sum_i steps[i] * counts[i] * z_i``: the counts are half of the proof.
    Returns how many rows were visited: fewer than asked when the allowed mistakes or the log's
    room ran out before a mistake.
    """
    floor, seen, full, size = tally.floor[0], 0, False, stretch(rows)
    while seen < order.shape[0] and not full:
        here = order[seen : seen + size]
        if tally.norms.shape[0] > 0:
            measure(rows, here, tally.norms)
        for i in here:
            score, rival = row_score(rows, i, w)
            if score < floor:
                floor = score
            if not score > 0.0:
                full = is_full(tally)
                if full:
                    break
                update(rows, i, rival, w, steps, tally, seen)
            seen += 1
    tally.clock[VISITS], tally.floor[0] = tally.clock[VISITS] + seen, floor
    return seen


@loop
def comes_after(score: float, row: int, other_score: float, other_row: int) -> bool:
    """Heap order: whether a row has the higher score or, of equal scores, the higher index."""
    return score > other_score or (score == other_score and row > other_row)


@loop
def sift_down(scores: Any, rows: Any) -> None:
    """Restore heap order, in which the last row is on top, after the top was replaced."""
    size = scores.shape[0]
    hole, score, row = 0, scores[0], rows[0]
    while True:
        child = 2 * hole + 1
        if child >= size:
            break
        if child + 1 < size and comes_after(scores[child + 1], rows[child + 1], scores[child], rows[child]):
            child += 1
        if not comes_after(scores[child], rows[child], score, row):
            break
        scores[hole], rows[hole] = scores[child], rows[child]
        hole = child
    scores[hole], rows[hole] = score, row


@loop
def scan(
    rows: Any, order: Any, w: Any, costs: Any, lowest_scores: Any, lowest_rows: Any
) -> tuple[int, float]:
    """Score the rows of ``order`` and keep the lowest; return how many are mistakes, and what they cost.

    ``lowest_scores`` starts as infinities and ``lowest_rows`` as -1; they are a heap whose top is
    the largest score kept (of equal ones, the last row). A score that is not a number is kept as
    minus infinity.
    """
    mistakes, cost, last = 0, 0.0, costs.shape[0] - 1
    for position in range(order.shape[0]):
        i = order[position]
        score, _ = row_score(rows, i, w)
        if score != score:
            score = -np.inf
        if not score > 0.0:
            mistakes += 1
            cost += costs[min(i, last)]
        if score <= lowest_scores[0] and comes_after(lowest_scores[0], lowest_rows[0], score, i):
            lowest_scores[0], lowest_rows[0] = score, i
            sift_down(lowest_scores, lowest_rows)
    return mistakes, cost


@loop
def integral(rows: Any, start: int, stop: int) -> bool:
    """Whether every value of the rows from start to stop is a whole number."""
    for i in range(start, stop):
        if not row_integral(rows, i):
            return False
    return True


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
def fill_scores(rows: Any, start: int, stop: int, w: Any, scores: Any) -> None:
    """Fill ``scores[i]`` with <w, z_i>, signed, for the rows from start to stop (two classes)."""
    for i in range(start, stop):
        scores[i] = (2.0 * rows.labels[i] - 1.0) * row_output(rows, i, w)


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


@by_type
def add_outer(rows: Any, i: Any, square: Any) -> Any:
    """Add the lower triangle of ``lift(x_i) lift(x_i)^T`` to ``square``."""

    def dense(rows: Any, i: Any, square: Any) -> Any:
        x = rows.values[i]
        columns = x.shape[0]
        for j in range(columns):
            left = np.float64(x[j])
            if left != 0.0:
                for k in range(j + 1):
                    square[j, k] += left * x[k]
        if rows.lift:
            for k in range(columns):
                square[columns, k] += x[k]
            square[columns, columns] += 1.0

    def sparse(rows: Any, i: Any, square: Any) -> Any:
        data, indices = rows.data, rows.indices
        first, last = np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])
        end = np.uint64(square.shape[0] - 1)
        for p in range(first, last):
            left, j = np.float64(data[p]), np.uint64(indices[p])
            for q in range(first, last):
                k = np.uint64(indices[q])
                if k <= j:
                    square[j, k] += left * data[q]
            if rows.lift:
                square[end, j] += left
        if rows.lift:
            square[end, end] += 1.0

    return dense if is_dense(rows) else sparse


@loop
def outer_sum(rows: Any, members: Any, square: Any) -> None:
    """Add the lower triangle of ``sum_i z_i z_i^T`` over the members to ``square``."""
    for i in members:
        add_outer(rows, i, square)


@by_type
def row_hash(rows: Any, i: Any, keys: Any, magnitude: Any) -> Any:
    """Return a hash of row i, read as unsigned bit patterns; zeros do not count, whatever their sign."""

    def dense(rows: Any, i: Any, keys: Any, magnitude: Any) -> Any:
        values = rows.values
        total = np.uint64(0)
        for j in range(values.shape[1]):
            bits = np.uint64(values[i, j])
            if bits & magnitude:
                total += (bits ^ (bits >> np.uint64(32))) * keys[j]
        return total

    def sparse(rows: Any, i: Any, keys: Any, magnitude: Any) -> Any:
        total = np.uint64(0)
        for p in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
            bits = np.uint64(rows.data[p])
            if bits & magnitude:
                total += (bits ^ (bits >> np.uint64(32))) * keys[np.uint64(rows.indices[p])]
        return total

    return dense if is_dense(rows) else sparse


@loop
def hash_rows(rows: Any, start: int, stop: int, keys: Any, magnitude: Any, hashes: Any) -> None:
    """Fill ``hashes`` from ``start`` to ``stop`` so that equal rows have equal hashes."""
    for i in range(start, stop):
        hashes[i] = row_hash(rows, i, keys, magnitude)


@loop
def vote(products: Any, script: Any, steps: Any, survivals: Any, outputs: Any, votes: Any) -> None:
    """Let every intermediate weight vector vote for the class it prefers.

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
