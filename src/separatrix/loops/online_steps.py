"""Online learners beside the perceptron: passive-aggressive steps, and Winnow's multiplicative ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compiling import by_type, loop, part
from .layouts import LOSS, MISTAKEN, SQUARED, Visits
from .rows import column_of, correct, row_score, span, squared_norm


@loop
def passive_aggressive(rows: Any, order: Any, w: Any, cap: float, slack: float, visits: Visits) -> None:
    """Visit the rows of ``order``, and add each row with a score below one.

    The step is ``min(cap, l / (|x|^2 + slack))``, where l is one minus the score. Keeps ``w == start +
    sum_i multipliers[i] * z_i``, as `combine` adds them.
    """
    totals = visits.totals
    for i in order:
        score, rival = row_score(rows, i, w)
        loss = 1.0 - score
        if loss > 0.0:
            totals[LOSS] += loss
            totals[SQUARED] += loss * loss
            if not score > 0.0:
                totals[MISTAKEN] += 1.0
                visits.counts[i, rival] += 1
            size = squared_norm(rows, i) + slack
            if size > 0.0:
                step = min(cap, loss / size)
                correct(rows, i, rival, w, step)
                visits.multipliers[i, rival] += step


@part
def scaled_sinh(exponent: float, shift: float) -> float:
    """Return sinh(exponent) * exp(-shift) without overflow, for an exponent of at most shift + 600."""
    if abs(exponent) < 600.0:
        return float(np.sinh(exponent) * np.exp(-shift))
    return float(np.sign(exponent) * 0.5 * np.exp(abs(exponent) - shift))


@part
def refresh_row(rows: Any, i: int, exponents: Any, w: Any, shift: float) -> float:
    """Compute the weights again in the columns of row i; return the largest exponent there."""
    first, end = span(rows, i)
    largest = 0.0
    for p in range(first, end):
        j = column_of(rows, p)
        w[j] = scaled_sinh(exponents[j], shift)
        largest = max(largest, abs(exponents[j]))
    if rows.lift:
        last = w.shape[0] - 1
        w[last] = scaled_sinh(exponents[last], shift)
        largest = max(largest, abs(exponents[last]))
    return largest


@by_type
def refresh(rows: Any, i: Any, rival: Any, exponents: Any, w: Any, shift: Any) -> Any:
    """Compute the weights again that an update on row i has changed; return their largest exponent."""

    def binary(rows: Any, i: Any, rival: Any, exponents: Any, w: Any, shift: Any) -> Any:
        return refresh_row(rows, i, exponents, w, shift)

    def multiclass(rows: Any, i: Any, rival: Any, exponents: Any, w: Any, shift: Any) -> Any:
        own = rows.labels[i]
        largest = refresh_row(rows, i, exponents[own], w[own], shift)
        return max(largest, refresh_row(rows, i, exponents[rival], w[rival], shift))

    return binary if w.ndim == 1 else multiclass


@loop
def winnow(rows: Any, order: Any, exponents: Any, w: Any, rate: Any, visits: Visits) -> None:
    """Visit the rows of ``order``; a mistake adds the row, times ``rate[0]``, to the exponents.

    Keeps ``w == sinh(exponents) * exp(-rate[1])``. The shift ``rate[1]`` grows before an exponential
    overflows.
    """
    for i in order:
        score, rival = row_score(rows, i, w)
        if not score > 0.0:
            visits.totals[MISTAKEN] += 1.0
            visits.counts[i, rival] += 1
            correct(rows, i, rival, exponents, rate[0])
            largest = refresh(rows, i, rival, exponents, w, rate[1])
            if largest > rate[1] + 300.0:
                rate[1] = largest
                every, fresh = exponents.reshape(-1), w.reshape(-1)
                for j in range(every.shape[0]):
                    fresh[j] = scaled_sinh(every[j], largest)
