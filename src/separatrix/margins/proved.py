"""The bracket of the largest margin with all rounding counted: true of the exact numbers of the data.

Weights prove that the best margin is no smaller than their lowest score over their norm, multipliers that it
is no larger than the norm of their combination over their sum. Both are sums of products of floats. Each
product is split into two floats without error (Dekker 1971), or numbers are cut into slices whose products
are exact (Ozaki and others 2012); the sum is rounded once (Python's ``fsum``), and what is left of rounding
goes outwards. Only rows whose score may be the lowest are summed so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from ..result import Floats, Ints
from ..rows.protocol import Rows
from .algebra import row_scores
from .pairs import Pairs

MOST_PRODUCTS = 1 << 23  # that are summed exactly; beyond, a bound of the rounding of plain sums serves
PIECE = 1 << 18  # products split at a time
SPLITTER = 134217729.0  # 2**27 + 1
UNIT = 2.0**-53
UNDERFLOW = 2.0**-960  # above all that underflow may take from a sum of products of numbers below one
UP = 1.0 + 2.0**-50  # above the rounding of the few operations that follow a sum


def proved_bracket(
    rows: Rows,
    weights: Floats,
    proof: tuple[Ints, Ints, Floats],
    found: tuple[float, float],
    free: bool,
    precision: float,
) -> tuple[float, float]:
    """The bracket that weights and multipliers prove, where plain sums found one.

    Where the bound of the rounding of plain sums is below ``precision`` times the sum, it is enough.

    Where an end cannot be summed exactly (too many products, or numbers beyond the range of floats), plain
    sums and a bound of their rounding serve. With many classes and a free intercept these hold to rounding.
    """
    lower, upper = found
    outwards = 8.0 * (proof[0].size + rows.n_columns + 16.0) * UNIT * float(rows.radius)
    with np.errstate(all="ignore"):
        if math.isfinite(lower):
            lower = _settled(lambda: proved_lower(rows, weights, free, precision), lower - outwards)
        if math.isfinite(upper):
            plain = upper + outwards
            upper = plain
            if lower > 0.0:  # else nothing is gained by more digits of an end that is zero but for rounding
                upper = _settled(lambda: proved_upper(rows, *proof, free, precision), plain)
    return lower, upper


def _settled(bound: Callable[[], float], plain: float) -> float:
    try:
        found = bound()
    except (OverflowError, ValueError):  # of fsum: numbers beyond the range
        return plain
    return found if math.isfinite(found) else plain


def proved_lower(rows: Rows, weights: Floats, free_intercept: bool, precision: float = 0.0) -> float:
    """A bound below the best margin by these weights; two classes with a free intercept get the best one."""
    part = weights[..., :-1] if free_intercept else weights
    if not part.any() or not np.isfinite(weights).all():
        return -math.inf
    scale = _power(part)
    part, weights = np.ldexp(part, -scale), np.ldexp(weights, -scale)
    both = free_intercept and weights.ndim == 1
    best = (_lowest_of_both if both else _lowest)(rows, weights, precision)
    shortest, longest = _norm_bounds(part)
    found = best / (longest if best > 0.0 else shortest)
    return math.nextafter(found / UP if found > 0.0 else found * UP, -math.inf)


def proved_upper(
    rows: Rows,
    members: Ints,
    rivals: Ints,
    multipliers: Floats,
    free_intercept: bool,
    precision: float = 0.0,
) -> float:
    """A bound above the best margin by these multipliers of signed rows; infinite where they prove none."""
    pairs = Pairs(rows)
    values = np.ldexp(multipliers, -_power(multipliers))
    kept = values > 0.0
    values, pairs.members, pairs.rivals = values[kept], members[kept], rivals[kept]
    if not 0 < pairs.size * pairs.width <= MOST_PRODUCTS:
        return math.inf
    if rows.n_classes == 2:
        plain, error = _plain_upper(rows, pairs.members, values, free_intercept)
        if error <= precision * plain < math.inf:
            return (plain + error) * UP
    matrix, left_over = pairs.matrix(), 0.0
    mass = sum(map(Fraction, values.tolist()), Fraction(0))
    factors = np.ones(matrix.shape[1])
    if free_intercept:
        moves = _balancing(rows, pairs, values)
        if moves is None:
            return math.inf
        mass += sum(moves.values(), Fraction(0))
        places, changes, left_over = _in_floats(moves)
        matrix = _stacked(matrix, places)
        values = np.concatenate([values, changes])
        factors[pairs.intercepts] = 0.0
    counted = matrix if factors.all() else matrix[:, np.flatnonzero(factors)]
    scale = _power(counted.data if sparse.issparse(counted) else counted)
    # each sum is rounded once; what balancing left is below left_over times a number below one
    sums = np.array([s for s in _sums(counted.T, values, scale) if s] or [0.0])
    longest = _norm_bounds(UP * sums)[1]
    longest += math.sqrt(factors.size) * UP * (_lost(values) + left_over * UP)
    try:
        return math.nextafter(math.ldexp(longest / (float(mass) / UP) * UP, scale), math.inf)
    except OverflowError:
        return math.inf


def _plain_upper(rows: Rows, members: Ints, values: Floats, free: bool) -> tuple[float, float]:
    """The upper bound in plain sums, with two classes, and a bound of their rounding.

    Sums of k products are off by at most ``k 2**-53`` of their magnitudes, and these are at most the mass
    times the longest row. With a free intercept, taking what one class has more from its largest multiplier
    moves the combination by as much times the longest row.
    """
    full = np.zeros(rows.n_rows)
    full[members] = values
    total, mass = rows.combination(full), math.fsum(values.tolist())
    signs = 2.0 * rows.labels[members] - 1.0
    excess = abs(math.fsum((signs * values).tolist())) if free else 0.0
    part = total[:-1] if free else total
    longest = float(rows.radius)
    if not 4.0 * excess < values.max():
        return math.inf, math.inf
    error = 4.0 * (values.size + part.size + 16.0) * UNIT * longest + 4.0 * excess * longest / mass
    return _norm_bounds(part)[1] / mass, error + 2.0**-960 * (1.0 + longest)


def _lowest(rows: Rows, weights: Floats, precision: float) -> float:
    """A bound below the lowest score of all rows."""
    scores = row_scores(rows, weights)[rows.order]
    error = _plain_error(rows, weights)
    if error <= precision * scores.min():
        return float(scores.min()) - error
    near = rows.order[~(scores > scores.min() + 2.0 * error)]
    pairs = Pairs(rows)
    others = 1 if pairs.blocks == 1 else pairs.blocks
    if near.size * pairs.width * others > MOST_PRODUCTS or not math.isfinite(error):
        return float(scores.min()) - error
    if pairs.blocks == 1:
        pairs.members, pairs.rivals = near, np.zeros_like(near)
    else:
        pairs.members = np.repeat(near, others)
        pairs.rivals = np.tile(np.arange(others), near.size)
        kept = pairs.rivals != rows.labels[pairs.members]
        pairs.members, pairs.rivals = pairs.members[kept], pairs.rivals[kept]
    matrix = pairs.matrix()
    scale = _power(matrix.data if sparse.issparse(matrix) else matrix)
    lost = _lost(weights.ravel())
    lowest = min(_sums(matrix, weights.ravel(), scale))
    return _scaled(math.nextafter(lowest, -math.inf) - lost, scale)


def _lowest_of_both(rows: Rows, weights: Floats, precision: float) -> float:
    """A bound below half the sum of the two classes' lowest scores, which no intercept changes.

    Scores are compared with that of one row, so that a common part of all rows, however large, cancels.
    """
    scores = rows.scores(weights)[rows.order]
    error = _plain_error(rows, weights)
    labels = rows.labels[rows.order]
    sides = [labels == label for label in (0, 1)]
    if not all(side.any() for side in sides):
        return _lowest(rows, weights, precision)
    plain = 0.5 * sum(float(scores[side].min()) for side in sides)
    if error <= precision * plain:
        return plain * (1.0 - 4.0 * UNIT) - error
    near = [rows.order[side][~(scores[side] > scores[side].min() + 2.0 * error)] for side in sides]
    if sum(each.size for each in near) * weights.size > MOST_PRODUCTS or not math.isfinite(error):
        return plain - error
    pairs = Pairs(rows)
    pairs.members = np.concatenate([near[0][:1], *near])
    pairs.rivals = np.zeros_like(pairs.members)
    matrix = pairs.matrix()[:, :-1]
    scale = _power(matrix.data if sparse.issparse(matrix) else matrix)
    terms = list(_terms(matrix, weights[:-1], scale))
    against, start = terms[0], 1  # of the negative class: its signed row is minus itself
    lowest = []
    for side, each in enumerate(near):
        own = terms[start : start + each.size]
        start += each.size
        sign = (-1.0, 1.0)[side]
        # the reference is a row of the negative class: there it is subtracted, on the other side added
        lowest.append(min(math.fsum([*z, *(sign * v for v in against)]) for z in own))
    total = math.fsum(lowest)
    slack = sum(abs(v) for v in lowest) * 2.0 * UNIT + 4.0 * _lost(weights[:-1])
    return _scaled(0.5 * (math.nextafter(total, -math.inf) - slack), scale)


def _scaled(value: float, scale: int) -> float:
    try:
        return math.ldexp(value, scale)
    except OverflowError:
        return -math.inf


def _plain_error(rows: Rows, weights: Floats) -> float:
    """A bound of the rounding of every score in plain sums, of any order."""
    width = int(weights.shape[-1])
    norm = _norm_bounds(weights)[1]
    return 4.0 * (width + 8.0) * UNIT * UP * (norm * float(rows.radius) + 2.0**-960)


def _norm_bounds(values: Floats) -> tuple[float, float]:
    """Bounds of the length of a vector below and above."""
    scale = _power(values)
    flat = np.ldexp(values.ravel(), -scale)
    square = math.fsum((flat * flat).tolist())
    low, high = math.sqrt(square / UP), math.sqrt((square + flat.size * 2.0**-1000) * UP)
    return math.ldexp(low / UP, scale), math.ldexp(high * UP, scale)


def _power(values: Floats) -> int:
    """The exponent of two that brings the largest of some numbers below one."""
    return int(np.frexp(np.abs(values).max(initial=0.0))[1])


def _sums(matrix: Any, vector: Floats, scale: int) -> Iterator[float]:
    """``matrix @ vector / 2**scale``, each entry rounded once."""
    return map(math.fsum, _terms(matrix, vector, scale))


def _terms(matrix: Any, vector: Floats, scale: int) -> Iterator[list[float]]:
    """For each row floats whose exact sum is that of its products with the vector, over ``2**scale``.

    Sparse numbers are multiplied one by one, each product as two floats. Dense ones are cut into slices,
    whose matrix products are exact: a few floats a row, whatever its length. `_lost` bounds what is missing.
    """
    if sparse.issparse(matrix):
        matrix = sparse.csr_array(matrix)
        starts = matrix.indptr.tolist()
        high, low = _products(np.ldexp(matrix.data, -scale), vector[matrix.indices])
        for start, stop in pairwise(starts):
            yield high[start:stop].tolist() + low[start:stop].tolist()
        return
    power, bits = _power(vector), _slice_bits(vector.size)
    v = np.ldexp(vector, -power)
    v1, v2, v3, v4 = _cut(v, bits)
    step = max(1, PIECE // max(1, matrix.shape[1]))
    for start in range(0, matrix.shape[0], step):
        a1, a2, a3, a4 = _cut(np.ldexp(matrix[start : start + step], -scale), bits)
        first = a1 @ np.column_stack([v1, v2, v3, v4])
        second = a2 @ np.column_stack([v1, v2, v3 + v4])
        third = a3 @ np.column_stack([v1, v2 + (v3 + v4)])
        rest = first[:, 3] + second[:, 2] + third[:, 1] + a4 @ v  # all but this is exact
        parts = np.column_stack([first[:, :3], second[:, :2], third[:, :1], rest])
        yield from np.ldexp(parts, power).tolist()


def _slice_bits(count: int) -> int:
    """How long slices are so that sums of so many products of two of them are exact in 53 bits."""
    return (51 - math.ceil(math.log2(count + 1))) // 2


def _cut(values: Floats, bits: int) -> Iterator[Floats]:
    """Numbers below one as three slices, multiples of ``2**-bits`` and its powers, and what is left."""
    for each in range(1, 4):
        part = np.ldexp(np.rint(np.ldexp(values, each * bits)), -each * bits)
        yield part
        values = values - part
    yield values


def _lost(vector: Floats) -> float:
    """A bound of what the terms of `_terms` miss of a sum: rounding of the last one, and underflow."""
    count, size = vector.size, 2.0 ** max(0, _power(vector))
    rounding = 8.0 * (count + 16) * 2.0**-52 * count * 2.0 ** (-3 * _slice_bits(count))
    return size * (rounding + UNDERFLOW * count)


def _products(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Products of floats below one, each as the sum of two floats; exact but for underflow."""
    high = a * b
    a_high, b_high = _upper_half(a), _upper_half(b)
    a_low, b_low = a - a_high, b - b_high
    return high, ((a_high * b_high - high) + a_high * b_low + a_low * b_high) + a_low * b_low


def exact_sum(a: Floats, b: Floats) -> float:
    """The sum of products of two vectors, rounded once; numbers near the ends of the range may fail."""
    high, low = _products(a, b)
    return math.fsum([*high.tolist(), *low.tolist()])


def _upper_half(values: Floats) -> Floats:
    shifted = SPLITTER * values
    return np.asarray(shifted - (shifted - values))


def _balancing(rows: Rows, pairs: Pairs, values: Floats) -> dict[int, Fraction] | None:
    """What to add to a few multipliers so that no class gives more than it gets, exactly; None if that fails.

    The classes are joined by a tree of the largest multipliers; each class hands its excess on along it.
    """
    own = rows.labels[pairs.members].astype(np.int64)
    against = 1 - own if rows.n_classes == 2 else pairs.rivals
    excess = [Fraction(0)] * rows.n_classes
    for r, s, value in zip(own.tolist(), against.tolist(), map(Fraction, values.tolist()), strict=True):
        excess[r] += value
        excess[s] -= value
    group = list(range(rows.n_classes))
    tree: list[tuple[int, int, int]] = []
    for i in np.argsort(-values, kind="stable").tolist():
        r, s = int(own[i]), int(against[i])
        if group[r] != group[s]:
            tree.append((i, r, s))
            group = [group[r] if g == group[s] else g for g in group]
    moves: dict[int, Fraction] = {}
    while tree:
        ends = [c for _, r, s in tree for c in (r, s)]
        i, r, s = next(edge for edge in tree if 1 in (ends.count(edge[1]), ends.count(edge[2])))
        tree.remove((i, r, s))
        # more of the multiplier i moves r's excess up and s's down
        moves[i] = -excess[r] if ends.count(r) == 1 else excess[s]
        excess[r] += moves[i]
        excess[s] -= moves[i]
    if any(excess) or any(Fraction(float(values[i])) + move <= 0 for i, move in moves.items()):
        return None
    return moves


def _in_floats(moves: dict[int, Fraction]) -> tuple[list[int], list[float], float]:
    """Changes of multipliers as sums of two floats each, and a bound of what is left of them."""
    places, changes, left = [], [], Fraction(0)
    for i, move in moves.items():
        first = float(move)
        second = float(move - Fraction(first))
        places += [i, i]
        changes += [first, second]
        left += abs(move - Fraction(first) - Fraction(second))
    return places, changes, float(left) * UP


def _stacked(matrix: Any, places: list[int]) -> Any:
    if sparse.issparse(matrix):
        return sparse.csr_array(sparse.vstack([matrix, matrix[places]]))
    return np.vstack([matrix, matrix[places]])
