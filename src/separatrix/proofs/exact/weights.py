"""Exact weights near floats: as floats where they can hold them, else as integers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...certificates.claims import Number
from .integer_rows import reduced

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Weights = tuple[tuple[Number, ...], ...]


def exact_vectors(vectors: Floats, powers: Ints) -> Weights:
    """Each vector times ``2**powers``: floats where they can hold it, else all as integers on one scale."""
    with np.errstate(all="ignore"):
        scaled = np.ldexp(vectors, powers.astype(np.int32))
        exact = np.isfinite(scaled) & (np.ldexp(scaled, -powers.astype(np.int32)) == vectors)
    if exact.all():
        return tuple(map(tuple, scaled.tolist()))
    fraction, exponent = np.frexp(vectors)
    mantissas = np.ldexp(fraction, 53).astype(np.int64).ravel().tolist()
    shifts = (exponent - 53 + powers).ravel().tolist()
    low = min(shift for mantissa, shift in zip(mantissas, shifts, strict=True) if mantissa)
    whole = reduced([m << (s - low) if m else 0 for m, s in zip(mantissas, shifts, strict=True)])
    width = vectors.shape[1]
    return tuple(tuple(whole[start : start + width]) for start in range(0, len(whole), width))


def relative_floats(values: Sequence[Number]) -> Floats:
    """Exact numbers as parts of the largest of them."""
    largest = max((abs(Fraction(v)) for v in values if v), default=Fraction(1))
    return np.array([float(Fraction(v) / largest) if v else 0.0 for v in values])


def moved_back(weights: Floats, moves: Floats, exponents: Ints) -> Weights:
    """Weights of columns scaled by ``2**-exponents`` and then moved, intercept last, for the rows as given.

    They are integers: the intercept takes all moves back, exactly.
    """
    own = [Fraction(value) for value in weights[:-1].tolist()]
    shift = sum((w * Fraction(m) for w, m in zip(own, moves.tolist(), strict=True)), Fraction(0))
    exact = [w / Fraction(2) ** int(e) for w, e in zip(own, exponents, strict=False)]
    exact.append(Fraction(float(weights[-1])) - shift)
    scale = max(value.denominator for value in exact)  # powers of two: the largest is a multiple of all
    return (tuple(reduced([int(value * scale) for value in exact])),)
