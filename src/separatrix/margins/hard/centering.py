"""Columns far from zero, moved near it: the margin with a free intercept is the same, rounding is not.

A number that is moved by one at most twice as large or half as large is not rounded (Sterbenz 1974), so the
moved rows have the same differences, and the same margin, exactly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...result import Floats
from ...rows.protocol import Rows
from ..rounding.summing import exact_sum

FAR = 256.0  # times its spread that a column lies away from zero; less costs no digits that are needed
SAMPLE = 100  # rows that tell whether it is worth while to look at all


def far_columns(rows: Rows) -> Floats | None:
    """What to subtract from each column; None where no column lies far from zero."""
    if rows.sparse or rows.order.size == 0:
        return None
    few = rows.take(rows.order[:SAMPLE])
    if not _far(*few.column_reach()).any():
        return None
    far = _far(*rows.column_reach())
    if not far.any():
        return None
    return np.where(far, np.asarray(few.matrix[0], dtype=np.float64), 0.0)


def _far(low: Floats, high: Floats) -> NDArray[np.bool_]:
    with np.errstate(all="ignore"):
        found: NDArray[np.bool_] = np.minimum(np.abs(low), np.abs(high)) > FAR * (high - low)
    return found


def moved_weights(weights: Floats, center: Floats) -> Floats:
    """Weights of moved rows, for the rows as they are: only intercepts change, each rounded once."""
    full = weights.copy()
    for vector in np.atleast_2d(full):
        vector[-1] = exact_sum(np.append(-center, 1.0), vector)
    return full
