"""Exact weights near floats: as floats where they can hold them, else as integers; on planes if asked."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...certificates.claims import Number
from ...deadline import Deadline
from ...rank import Misled, pivots
from .linear_systems import IntegerRows, on_basis, reduced, transpose

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


def null_weights(
    rows: IntegerRows, weights: Floats, exponents: Ints, prime: int, deadline: Deadline
) -> dict[int, int]:
    """Integer weights close to ``weights / 2**exponents`` (up to scale) that all the rows are orthogonal to.

    The rows are independent modulo the prime, or else Misled is raised. Coordinates that are not pivots are
    rounded to 50 bits; the pivots are solved for.
    """
    grid = dict(zip(rows.columns.tolist(), rows.grid, strict=True))
    used = [j for j in range(weights.size) if weights[j] or j in grid]
    # In units of 2**-low, w_j = round(v_j 2**50) 2**(low - 50 - e_j); on the rows' grid, u_j = w_j 2**grid_j.
    low = max(50 + int(exponents[j]) - min(0, grid.get(j, 0)) for j in used)
    top = max([0, *rows.grid])
    whole = {j: round(float(weights[j]) * 2.0**50) << (low - 50 - int(exponents[j]) + top) for j in used}
    chosen = pivots(rows.entries, prime, deadline)
    if len(chosen) < len(rows.entries):
        raise Misled
    columns = rows.columns.tolist()
    free = sorted(set(range(len(columns))) - set(chosen))
    # u_j = w_j 2**(grid_j - top): exact, as the shift above left room.
    moved = {k: _shifted(whole[columns[k]], grid[columns[k]] - top) for k in free}
    moved = {k: v for k, v in moved.items() if v}
    if not moved:
        return reduced_dict({j: v for j, v in whole.items() if j not in grid})
    target = [-sum(v * row[k] for k, v in moved.items()) for row in rows.entries]
    flipped = IntegerRows(transpose(rows.entries), np.arange(len(rows.entries)), [0] * len(rows.entries))
    values, denominator = on_basis(flipped, chosen, target, prime, deadline)
    result = {j: v * denominator for j, v in whole.items()}
    for k in range(len(columns)):
        result[columns[k]] = 0
    for k, v in moved.items():
        result[columns[k]] = v * denominator << (top - grid[columns[k]])
    for k, v in zip(chosen, values, strict=True):
        result[columns[k]] = v << (top - grid[columns[k]])
    return reduced_dict(result)


def _shifted(value: int, shift: int) -> int:
    return value << shift if shift >= 0 else value >> -shift


def reduced_dict(values: dict[int, int]) -> dict[int, int]:
    """Divide by the greatest common divisor; leave out zeros."""
    kept = {key: value for key, value in values.items() if value}
    return dict(zip(kept, reduced(list(kept.values())), strict=True))
