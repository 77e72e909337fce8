"""Compiled inner loops of the soft margin with a kernel: steps on the multipliers of a working set."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .compiling import loop
from .margins import simplex_level

# Entries of ``totals``: the sum of the coefficients, the square of the constant coordinate (infinite if the
# intercept is free), the value of the dual objective, and the part of the duality gap that these rows have.
BALANCE, CONSTANT, DUAL, GAP = range(4)


class Signed(NamedTuple):
    """Signed multipliers of two classes: each lies between ``low`` and ``high``, one of which is zero.

    ``errors[i]`` is the output of row i without intercept minus its label (-1 or 1), and ``norms[i]`` is
    ``K(x_i, x_i)``.
    """

    values: Any
    low: Any
    high: Any
    errors: Any
    norms: Any


@loop
def pair_steps(gram: Any, rows: Signed, totals: Any, share: float, most: int) -> int:
    """Move weight between two rows at a time until the gap is the given share of the objective.

    This is sequential minimal optimization with second-order working sets (Fan, Chen and Lin 2005). The
    intercept takes part as a coefficient without limits whose feature vector is the constant coordinate: it
    is minus the sum of the others. If it is free, that sum does not change.

    Keeps ``errors == gram @ values - labels``. Returns the number of steps.
    """
    values, low, high, errors, norms = rows
    constant, free, steps = totals[CONSTANT], totals[CONSTANT] == np.inf, 0
    while True:
        intercept = 0.0 if free else constant * totals[BALANCE]
        # The row that should grow most, and the largest error among the rows that can shrink.
        least, most_error, up = np.inf, -np.inf, -1
        for k in range(values.shape[0]):
            if errors[k] < least and values[k] < high[k]:
                least, up = errors[k], k
            if errors[k] > most_error and values[k] > low[k]:
                most_error = errors[k]
        if not free:
            if -intercept < least:
                least, up = -intercept, -1
            most_error = max(most_error, -intercept)
        done = steps >= most or not least < most_error
        if done or steps % 16 == 0:
            level = -0.5 * (least + most_error) if free else intercept
            gap = 0.0
            for k in range(values.shape[0]):
                excess = -level - errors[k]
                gap += max(high[k] * excess, low[k] * excess) - values[k] * excess
            totals[GAP] = gap
            if done or gap <= share * (totals[DUAL] + gap):
                return steps
        # The row that should shrink: the largest gain of a step without limits.
        best, down, bend = 0.0, -1, 1.0
        own = norms[up] if up >= 0 else constant
        if not free and up >= 0:
            bend = own + constant
            best = (intercept + least) * (intercept + least) / bend
        products = gram[max(up, 0)]
        factor = 2.0 if up >= 0 else 0.0
        for k in range(values.shape[0]):
            apart = errors[k] - least
            if apart > 0.0 and values[k] > low[k]:
                sizes = own + norms[k]
                curvature = max(sizes - factor * products[k], 1e-15 * sizes)
                if apart * apart > best * curvature:
                    best, down, bend = apart * apart / curvature, k, curvature
        apart = (errors[down] if down >= 0 else -intercept) - least
        step = apart / bend
        if up >= 0:
            step = min(step, high[up] - values[up])
        if down >= 0:
            step = min(step, values[down] - low[down])
        totals[DUAL] += step * (apart - 0.5 * bend * step)
        if up >= 0:
            values[up] = high[up] if step == high[up] - values[up] else values[up] + step
        else:
            totals[BALANCE] -= step
        if down >= 0:
            values[down] = low[down] if step == values[down] - low[down] else values[down] - step
        else:
            totals[BALANCE] += step
        grown, shrunk = gram[max(up, 0)], gram[max(down, 0)]
        first, second = (step if up >= 0 else 0.0), (step if down >= 0 else 0.0)
        for k in range(values.shape[0]):
            errors[k] += first * grown[k] - second * shrunk[k]
        steps += 1


class Shares(NamedTuple):
    """Multipliers of many classes: those of a row sum to zero, and each is at most ``high``.

    ``high[i, c]`` is the cap of row i if c is its own class, and otherwise zero. ``errors[i, c]`` is the
    output of row i for class c, plus one unless c is its own class. ``norms[i]`` is ``K(x_i, x_i)`` plus the
    square of the constant coordinate, and ``scratch`` has one number per class.
    """

    values: Any
    high: Any
    errors: Any
    norms: Any
    scratch: Any


@loop
def row_steps(gram: Any, rows: Shares, totals: Any, share: float, most: int) -> int:
    """Set the multipliers of one row at a time to their best values, as `pair_steps` does for two classes.

    The row is the one with the largest violation of its optimality condition, relative to its norm. A row
    without norm must not violate it.
    """
    values, high, errors, norms, fresh = rows
    constant, classes, steps = totals[CONSTANT], values.shape[1], 0
    while True:
        best, i, gap = 0.0, -1, 0.0
        for k in range(values.shape[0]):
            top, bottom = -np.inf, np.inf
            for c in range(classes):
                top = max(top, errors[k, c])
                if values[k, c] < high[k, c]:
                    bottom = min(bottom, errors[k, c])
            for c in range(classes):
                gap += high[k, c] * (top - errors[k, c]) + values[k, c] * errors[k, c]
            if top > bottom and (top - bottom) * (top - bottom) > best * norms[k]:
                best, i = (top - bottom) * (top - bottom) / norms[k], k
        totals[GAP] = gap
        if i < 0 or steps >= most or gap <= share * (totals[DUAL] + gap):
            return steps
        # The best value is high - max(0, target - level) / norm, with the level for which they sum to zero.
        norm, cap = norms[i], 0.0
        for c in range(classes):
            fresh[c] = errors[i, c] + norm * (high[i, c] - values[i, c])
            cap += high[i, c]
        level = simplex_level(fresh, norm * cap)
        for c in range(classes):
            step = high[i, c] - max(0.0, fresh[c] - level) / norm - values[i, c]
            totals[DUAL] -= step * (errors[i, c] + 0.5 * norm * step)
            values[i, c] += step
            fresh[c] = step
        for k in range(values.shape[0]):
            product = gram[i, k] + constant
            for c in range(classes):
                errors[k, c] += product * fresh[c]
        steps += 1
