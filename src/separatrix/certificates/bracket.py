"""Bounds of the best margin from whatever the search found."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .prove import Outcome
from .signed import SignedRows

SLACK = 1e-9  # far above the rounding of a norm or a sum; the bounds are moved outwards by it


def margin_bracket(signed: SignedRows, outcome: Outcome) -> tuple[float, float]:
    """Lower and upper bound of the largest margin of weights of length one.

    Weights prove a lower bound, multipliers an upper one. Where the rows are not separable, the upper
    bound is zero, and it is reached exactly where they are quasi-separable.
    """
    if outcome.status == "quasi-separable":
        return 0.0, 0.0
    with np.errstate(all="ignore"):
        lower = _lower(signed, outcome)
        if outcome.status in ("overlapping", "inseparable") or outcome.witness is not None:
            return min(lower, 0.0), 0.0
        upper = (outcome.upper if outcome.upper is not None else _radius(signed)) * (1 + SLACK)
    if outcome.status == "separable":
        lower = max(lower, 0.0)
    return lower, max(upper, lower)


def _lower(signed: SignedRows, outcome: Outcome) -> float:
    """The margin of the weights that were found; if there are none, what no margin is below."""
    if outcome.weights is None or outcome.status != "separable":
        return -_radius(signed)
    vectors = np.array([[_float(v) for v in each] for each in outcome.weights])
    norm = float(np.linalg.norm(vectors / (largest := np.abs(vectors).max())))
    if not np.isfinite(largest) or not np.isfinite(norm):
        return 0.0
    unit = vectors / largest / norm
    rows = signed.original_rows()
    found = rows.scan(unit if signed.joint else unit[0], 1)
    return float(found.scores[0]) * (1 - SLACK)


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _radius(signed: SignedRows) -> float:
    """A bound of the norm of every row, and so of every margin."""
    matrix = signed.data.matrix
    values = matrix.data if hasattr(matrix, "indptr") else matrix
    largest = float(np.abs(values.astype(np.float64)).max(initial=1.0))
    return largest * math.sqrt(signed.block) * (math.sqrt(2.0) if signed.joint else 1.0)
