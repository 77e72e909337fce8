"""Bounds of the best margin from whatever the search found.

Both ends hold for the exact data: any weights of length one prove that the best margin is no smaller than
their lowest score, any multipliers ``a >= 0`` that it is no larger than ``|sum a_i z_i| / sum a_i``. The
two are computed in floats, and moved outwards by a bound of the rounding error: a sum of n products is off
by at most ``n 2**-53 / (1 - n 2**-53)`` times the sum of their magnitudes (Higham 2002, section 3.1), which
is at most that many times the length of the longest row.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .prove import Proof
from .signed_rows import SignedRows


def margin_bracket(signed: SignedRows, proof: Proof) -> tuple[float, float]:
    """Lower and upper bound of the largest margin of weights of length one.

    Weights prove a lower bound, multipliers an upper one. Where the rows are not separable, the upper
    bound is zero, and it is reached exactly where they are quasi-separable.
    """
    if proof.status == "quasi-separable":
        return 0.0, 0.0
    with np.errstate(all="ignore"):
        lower = _lower(signed, proof)
        if proof.status in ("overlapping", "inseparable") or proof.witness is not None:
            return min(lower, 0.0), 0.0
        upper = signed.radius if proof.upper is None else min(proof.upper, signed.radius)
    if proof.status == "separable":
        lower = max(lower, 0.0)  # the certificate proves that it is positive
    return lower, max(upper, lower)


def _lower(signed: SignedRows, proof: Proof) -> float:
    """What the weights that were found prove; if there are none, what no margin is below."""
    if proof.weights is None or proof.status != "separable":
        return -signed.radius
    if proof.lower is not None and np.isfinite(proof.lower):
        return _shorter(proof.lower, signed)
    vectors = np.array([[_float(v) for v in each] for each in proof.weights])
    norm = float(np.linalg.norm(vectors / (largest := np.abs(vectors).max())))
    if not np.isfinite(largest) or not np.isfinite(norm):
        return 0.0
    # These rounded weights are the ones that the bound speaks of; their length is 1 but for rounding.
    unit = vectors / largest / norm
    return _shorter(signed.lowest_score(unit) - signed.rounding(0.0), signed)


def _shorter(lower: float, signed: SignedRows) -> float:
    """The bound with the rounding of the weights' length counted in."""
    return lower * (1.0 - signed.width * 2.0**-50) if lower > 0.0 else lower


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
