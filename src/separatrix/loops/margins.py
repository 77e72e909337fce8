"""Compiled inner loops of the margin solvers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .compiling import by_type, loop
from .rows import add_row, fill_row_outputs, row_output


class Box(NamedTuple):
    """Multipliers of a proximal step: its targets, projected onto their limits.

    Two classes: ``current[i] = clip(center[i] + sigma * (1 - score), 0, cap)``; ``caps`` may be infinite.
    Many classes: ``current[i]`` is the nearest point to ``center[i] - sigma * (outputs + costs)``, the
    costs being one for every class but the row's own, among those that sum to zero, with at most the
    cap for the row's own class and at most zero for the others. ``free`` says which multipliers are not at a
    limit, and ``scratch`` has one number per class.
    """

    center: Any
    caps: Any
    current: Any
    free: Any
    scratch: Any


@loop
def simplex_level(targets: Any, mass: float) -> float:
    """Return the level for which ``sum_c max(0, targets[c] - level)`` is the mass.

    Michelot (1986): leave out what lies below the mean excess, and repeat.
    """
    highest = targets[0]
    for c in range(targets.shape[0]):
        highest = max(highest, targets[c])
    level, before = highest - mass, targets.shape[0] + 1
    while True:
        total, count = 0.0, 0
        for c in range(targets.shape[0]):
            if targets[c] > level:
                total += targets[c]
                count += 1
        if count >= before or count == 0:  # rounding may bring one back
            return level
        level, before = (total - mass) / count, count


@loop
def proximal_targets(own: int, outputs: Any, sigma: float, center: Any, cap: float, targets: Any) -> float:
    """Fill the share of the row's cap that each class would get without limits; return the level of shares.

    The share of a class is ``max(0, target - level)``: the negative multiplier of a rival, or the rest of the
    cap for the row's own class. Targets are relative to the best class, so that rounding changes none that
    matters if sigma is large.
    """
    top = outputs[own]
    for c in range(outputs.shape[0]):
        if c != own:
            top = max(top, outputs[c] + 1.0)
    for c in range(outputs.shape[0]):
        cost, limit = (0.0, cap) if c == own else (1.0, 0.0)
        targets[c] = limit - center[c] + sigma * (outputs[c] + cost - top)
    return simplex_level(targets, cap)


@by_type
def clip_row(rows: Any, i: Any, scores: Any, sigma: Any, box: Any, total: Any) -> Any:
    """Bring row i of ``box`` up to date; return its squared distance from the center, and from zero."""

    def binary(rows: Any, i: Any, scores: Any, sigma: Any, box: Any, total: Any) -> Any:
        value = box.center[i] + sigma * (1.0 - scores[i])
        clipped = min(max(value, 0.0), box.caps[i])
        box.free[i] = 0.0 < value < box.caps[i]
        if clipped != box.current[i]:
            add_row(rows, i, total, (2.0 * rows.labels[i] - 1.0) * (clipped - box.current[i]))
            box.current[i] = clipped
        return (clipped - box.center[i]) * (clipped - box.center[i]), clipped * clipped

    def multiclass(rows: Any, i: Any, scores: Any, sigma: Any, box: Any, total: Any) -> Any:
        own, targets = rows.labels[i], box.scratch
        level = proximal_targets(own, scores[i], sigma, box.center[i], box.caps[i], targets)
        against = 0.0
        for c in range(targets.shape[0]):
            box.free[i, c] = targets[c] > level
            targets[c] = -max(0.0, targets[c] - level)
            if c != own:
                against -= targets[c]
        shrink = box.caps[i] / against if against > box.caps[i] else 1.0  # rounding
        targets[own] = against
        moved, size = 0.0, 0.0
        for c in range(targets.shape[0]):
            fresh = shrink * targets[c]
            moved += (fresh - box.center[i, c]) * (fresh - box.center[i, c])
            size += fresh * fresh
            if fresh != box.current[i, c]:
                add_row(rows, i, total[c], fresh - box.current[i, c])
                box.current[i, c] = fresh
        return moved, size

    return binary if scores.ndim == 1 else multiclass


@loop
def clip_step(rows: Any, scores: Any, sigma: float, box: Box, total: Any) -> tuple[float, float]:
    """Bring ``box.current`` up to date with the scores (the outputs of all classes, if they are many).

    Keeps ``total`` the combination of the rows; only rows whose multiplier changed are read.
    Returns the squared norms of ``current - center`` and of ``current``.
    """
    moved, size = 0.0, 0.0
    for i in range(scores.shape[0]):
        apart, square = clip_row(rows, i, scores, sigma, box, total)
        moved += apart
        size += square
    return moved, size


@by_type
def row_slope(labels: Any, i: Any, scores: Any, moves: Any, step: Any, sigma: Any, box: Any) -> Any:
    """Return the first and second derivative of row i's smoothed loss."""

    def binary(labels: Any, i: Any, scores: Any, moves: Any, step: Any, sigma: Any, box: Any) -> Any:
        value = box.center[i] + sigma * (1.0 - scores[i] - step * moves[i])
        clipped = min(max(value, 0.0), box.caps[i])
        second = sigma * moves[i] * moves[i] if 0.0 < value < box.caps[i] else 0.0
        return -clipped * moves[i], second

    def multiclass(labels: Any, i: Any, scores: Any, moves: Any, step: Any, sigma: Any, box: Any) -> Any:
        own, targets = labels[i], box.scratch
        for c in range(targets.shape[0]):
            targets[c] = scores[i, c] + step * moves[i, c]
        level = proximal_targets(own, targets, sigma, box.center[i], box.caps[i], targets)
        first, square, mean, count = -box.caps[i] * moves[i, own], 0.0, 0.0, 0
        for c in range(targets.shape[0]):
            if targets[c] > level:
                first += (targets[c] - level) * moves[i, c]
                square += moves[i, c] * moves[i, c]
                mean += moves[i, c]
                count += 1
        return first, (sigma * (square - mean * mean / count) if count else 0.0)

    return binary if scores.ndim == 1 else multiclass


@loop
def slope(labels: Any, scores: Any, moves: Any, step: float, sigma: float, box: Box) -> tuple[float, float]:
    """Return the first and second derivative of the smoothed losses along ``scores + step * moves``."""
    first, second = 0.0, 0.0
    for i in range(scores.shape[0]):
        one, two = row_slope(labels, i, scores, moves, step, sigma, box)
        first += one
        second += two
    return first, second


@loop
def hinge_sum(scores: Any, caps: Any) -> float:
    """Return ``sum_i caps[i] * max(0, 1 - scores[i])``, with compensation."""
    total, lost = 0.0, 0.0
    for i in range(scores.shape[0]):
        if scores[i] < 1.0:
            term = caps[i] * (1.0 - scores[i]) - lost
            fresh = total + term
            lost = (fresh - total) - term
            total = fresh
    return total


class Descent(NamedTuple):
    """The state of a coordinate descent.

    ``multipliers`` have the shape (rows,) for two classes or (rows, classes), and then each row sums to zero.
    ``caps`` are the largest multipliers, and ``norms`` the squared norms of the lifted rows. ``scratch`` has
    one number per class. ``limits`` are a tenth of the largest violation of the last pass and the duality gap
    to reach: of two classes, a row at zero or at its cap is set aside if its score is right by more than that
    violation (with the whole violation, w8a and a9a took twice as long). No row is set aside while it is
    infinite. ``seed`` is the state of the random
    numbers, not zero.
    """

    multipliers: Any
    caps: Any
    norms: Any
    scratch: Any
    limits: Any
    seed: Any


@by_type
def improve(rows: Any, i: Any, w: Any, state: Any) -> Any:
    """Set the multipliers of row i to the best values for the other multipliers.

    Keeps ``w == start + sum of multipliers * signed rows``. Returns how much the row violated its
    optimality condition, its part of the duality gap (both before the step), and whether it can be set aside
    for now.
    """

    def binary(rows: Any, i: Any, w: Any, state: Any) -> Any:
        sign = 2.0 * rows.labels[i] - 1.0
        old, cap = state.multipliers[i], state.caps[i]
        slack = sign * row_output(rows, i, w) - 1.0
        if old == 0.0 and slack >= 0.0:
            return 0.0, 0.0, slack > state.limits[0]
        if old == cap and slack <= 0.0:
            return 0.0, 0.0, -slack > state.limits[0]
        norm = state.norms[i]
        fresh = min(max(old - slack / norm, 0.0), cap) if norm > 0.0 else cap
        if fresh != old:
            add_row(rows, i, w, sign * (fresh - old))
            state.multipliers[i] = fresh
        return abs(slack), cap * max(0.0, -slack) + old * slack, False

    def multiclass(rows: Any, i: Any, w: Any, state: Any) -> Any:
        own, cap, norm = rows.labels[i], state.caps[i], state.norms[i]
        kept, targets = state.multipliers[i], state.scratch
        classes = w.shape[0]
        top, bottom = -np.inf, np.inf
        fill_row_outputs(rows, i, w, targets)
        for c in range(classes):
            targets[c] += 1.0 if c != own else 0.0
            if targets[c] > top:
                top = targets[c]
            if kept[c] < (cap if c == own else 0.0) and targets[c] < bottom:
                bottom = targets[c]
        violation = top - bottom
        if not violation > 0.0:
            return 0.0, 0.0, state.limits[0] < np.inf and kept[own] == 0.0
        if norm == 0.0:
            other = 1 if own == 0 else 0
            kept[:] = 0.0
            kept[own], kept[other] = cap, -cap
            return 0.0, 0.0, False
        share = cap * (top - targets[own])
        for c in range(classes):
            share += kept[c] * targets[c]
        # kept = limit - max(0, target - level) / norm, with the level for which they sum to zero
        for c in range(classes):
            targets[c] += norm * ((cap if c == own else 0.0) - kept[c])
        level = simplex_level(targets, norm * cap)
        for c in range(classes):
            fresh = (cap if c == own else 0.0) - max(0.0, targets[c] - level) / norm
            if fresh != kept[c]:
                add_row(rows, i, w[c], fresh - kept[c])
                kept[c] = fresh
        return violation, share, False

    return binary if w.ndim == 1 else multiclass


@loop
def shuffle(order: Any, length: int, seed: Any) -> None:
    """Shuffle the first entries of ``order`` (Fisher and Yates) by random numbers of xorshift (Marsaglia)."""
    state = seed[0]
    for position in range(length - 1, 0, -1):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        other = np.int64(state % np.uint64(position + 1))
        order[position], order[other] = order[other], order[position]
    seed[0] = state


@loop
def descend(rows: Any, order: Any, w: Any, state: Descent, passes: int) -> tuple[int, int, float, float]:
    """Make passes over the rows of ``order``, each in a new order; rows that are set aside go to its end.

    Stops early if a pass finds no violation or reaches the duality gap. Returns the number of rows that are
    still active, the number of passes, and of the last pass the largest violation and an estimate of the
    duality gap: each row's part when the row was visited.
    """
    active, made, worst, gap = order.shape[0], 0, 0.0, 0.0
    while made < passes:
        shuffle(order, active, state.seed)
        position, worst, gap = 0, 0.0, 0.0
        while position < active:
            i = order[position]
            violation, share, aside = improve(rows, i, w, state)
            if aside:
                active -= 1
                order[position], order[active] = order[active], i
                continue
            worst = max(worst, violation)
            gap += share
            position += 1
        state.limits[0] = 0.1 * worst if worst > 0.0 else np.inf
        made += 1
        if worst == 0.0 or gap <= state.limits[1]:
            break
    return active, made, worst, gap


class Face(NamedTuple):
    """Scratch of `ascend_face`: one residual and one direction per row, and one number per weight."""

    residual: Any
    direction: Any
    image: Any


@loop
def ascend_face(rows: Any, face: Any, w: Any, state: Descent, scratch: Face, most: int) -> tuple[int, bool]:
    """Maximize the dual objective over the multipliers of the rows of ``face``; two classes only.

    This is the method of conjugate gradients. It keeps ``w == start + sum of multipliers * signed rows``, and
    ends at the first multiplier that reaches a limit, or if these rows have at most a tenth of the duality
    gap that is allowed. Returns the number of steps, and whether a limit was reached.
    """
    residual, direction, image = scratch
    multipliers, caps = state.multipliers, state.caps
    square, ratio = 0.0, 0.0
    for k in range(face.shape[0]):
        i = face[k]
        residual[k] = 1.0 - (2.0 * rows.labels[i] - 1.0) * row_output(rows, i, w)
        direction[k] = 0.0
        square += residual[k] * residual[k]
    image[:] = 0.0
    made = 0
    while made < most and square > 0.0:
        curvature, length, made = 0.0, np.inf, made + 1
        for j in range(image.shape[0]):
            image[j] *= ratio
        for k in range(face.shape[0]):
            i = face[k]
            direction[k] = residual[k] + ratio * direction[k]
            add_row(rows, i, image, (2.0 * rows.labels[i] - 1.0) * residual[k])
            room = caps[i] - multipliers[i] if direction[k] > 0.0 else multipliers[i]
            if room < length * abs(direction[k]):
                length = room / abs(direction[k])
        for j in range(image.shape[0]):
            curvature += image[j] * image[j]
        if square >= length * curvature:
            longer = square / curvature if curvature > 0.0 else length
            project_step(rows, face, w, state, scratch, longer, length)
            return made, True
        length, before, square, gap = square / curvature, square, 0.0, 0.0
        for j in range(image.shape[0]):
            w[j] += length * image[j]
        for k in range(face.shape[0]):
            i = face[k]
            multipliers[i] += length * direction[k]
            residual[k] -= length * (2.0 * rows.labels[i] - 1.0) * row_output(rows, i, image)
            square += residual[k] * residual[k]
            gap += caps[i] * max(0.0, residual[k]) - multipliers[i] * residual[k]
        if gap <= 0.1 * state.limits[1]:
            break
        ratio = square / before
    return made, False


@loop
def project_step(
    rows: Any, face: Any, w: Any, state: Descent, scratch: Face, length: float, safe: float
) -> None:
    """Move along the direction and project onto the limits; if the objective would fall, move by ``safe``."""
    residual, direction, image = scratch
    multipliers, caps = state.multipliers, state.caps
    for _ in range(2):
        image[:] = 0.0
        gain = 0.0
        for k in range(face.shape[0]):
            i = face[k]
            step = min(max(multipliers[i] + length * direction[k], 0.0), caps[i]) - multipliers[i]
            gain += step * residual[k]
            add_row(rows, i, image, (2.0 * rows.labels[i] - 1.0) * step)
        for j in range(image.shape[0]):
            gain -= 0.5 * image[j] * image[j]
        if gain > 0.0:
            break
        length = safe
    for j in range(image.shape[0]):
        w[j] += image[j]
    for k in range(face.shape[0]):
        i = face[k]
        multipliers[i] = min(max(multipliers[i] + length * direction[k], 0.0), caps[i])


@loop
def add_multiclass(rows: Any, multipliers: Any, w: Any) -> None:
    """Add ``sum_i multipliers[i, c] * lift(x_i)`` to ``w[c]`` for every class."""
    for i in range(multipliers.shape[0]):
        for c in range(w.shape[0]):
            if multipliers[i, c] != 0.0:
                add_row(rows, i, w[c], multipliers[i, c])


@loop
def multiply_products(products: Any, places: Any, square: Any) -> None:
    """Multiply ``square[i, k]`` by ``products[places[i], places[k]]`` in the lower triangle."""
    for i in range(places.shape[0]):
        those = products[places[i]]
        for k in range(i + 1):
            square[i, k] *= those[places[k]]
