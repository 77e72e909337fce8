"""The bracket of the largest margin with all rounding errors included: it holds for the exact data.

Weights prove that the best margin is at least their lowest score divided by their norm. Multipliers prove
that it is at most the norm of their combination divided by their sum. Both are sums of products of floats.
Numbers are cut into slices whose products are exact (Ozaki and others 2012). Each sum is rounded once
(Python's ``fsum``), and the remaining rounding errors widen the bracket. Only rows whose score may be the
lowest are summed in this way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...float_environment import HALF_UNIT
from ...result import Floats, Ints
from ...rows.protocol import Rows
from ...rows.threads import WORTH_A_THREAD
from ...sparse import dense, sparse
from ..pairs import Pairs, lifted_matrix, row_scores, signed_coefficients

UP = 1.0 + 8.0 * HALF_UNIT  # exceeds the rounding of the few operations that follow a sum
UNDERFLOW = 2.0**-960  # exceeds what a sum of products of numbers below one may lose by underflow
SHORTEST = 2.0**-500  # exceeds the square root of what a squared norm may lose by underflow
PRECISION = 5e-4  # the part of the requested gap that the rounding of plain sums may add to it
MOST_PRODUCTS = 1 << 23  # more products are not summed exactly; a bound of the rounding of plain sums is used


def proved_bracket(
    rows: Rows,
    weights: Floats,
    proof: tuple[Ints, Ints, Floats],
    found: tuple[float, float],
    free: bool,
    precision: float,
) -> tuple[float, float]:
    """Return the bracket that weights and multipliers prove, given the bracket ``found`` by plain sums.

    Plain sums with a bound of their rounding are used if that bound is below ``precision`` times the sum, if
    there are too many products to sum exactly, and for an upper end that is zero up to rounding. No margin
    exceeds the length of the longest row, and the best margin is not below its negative; these bounds remain
    if numbers overflow.
    """
    lower, upper = found
    longest = _longest(rows) * (1.0 if rows.n_classes == 2 else 1.5)
    with np.errstate(all="ignore"):
        if math.isfinite(lower):
            lower = max(-longest, _finite(lambda: proved_lower(rows, weights, free, precision), -longest))
        if math.isfinite(upper):
            digits = precision if lower > 0.0 else math.inf
            upper = min(longest, _finite(lambda: proved_upper(rows, *proof, free, digits), longest))
    return lower, upper


def _finite(bound: Callable[[], float], otherwise: float) -> float:
    try:
        found = bound()
    except (OverflowError, ValueError):  # raised by fsum if numbers overflow
        return otherwise
    return found if math.isfinite(found) else otherwise


def proved_lower(rows: Rows, weights: Floats, free_intercept: bool, precision: float = 0.0) -> float:
    """Return a lower bound of the best margin, proved by these weights.

    With two classes and a free intercept it is the bound of the best intercept for these weights.
    """
    part = weights[..., :-1] if free_intercept else weights
    if not part.any() or not np.isfinite(weights).all():
        return -math.inf
    scale = power_of(part)
    part, weights = np.ldexp(part, -scale), np.ldexp(weights, -scale)
    best = _lowest(rows, weights, free_intercept and weights.ndim == 1, precision)
    shortest, longest = length_bounds(part)
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
    """Return an upper bound of the best margin, proved by multipliers of signed rows; infinite if none is."""
    values = np.ldexp(multipliers, -power_of(multipliers))
    kept = values > 0.0
    pairs, values = Pairs.of(rows, members[kept], rivals[kept]), values[kept]
    if not values.size:
        return math.inf
    extra = lacking = 0.0  # what exact balance would add to the length and take from the sum
    if free_intercept:
        balance = _balance(pairs, values)
        if balance is None:
            return math.inf
        pairs, values, extra, lacking = balance
    mass = math.fsum(values.tolist()) / UP
    if not 4.0 * lacking < mass:
        return math.inf
    mass = (mass - lacking) / UP
    many = pairs.size * pairs.width > MOST_PRODUCTS
    if many or rows.n_classes == 2 or precision == math.inf:
        total = _plain_combination(pairs, values)
        plain = length_bounds(total[..., :-1] if free_intercept else total)[1]
        error = combination_error(pairs, values) + extra
        if many or error <= precision * plain:
            return (plain + error) * UP / mass * UP
    longest = combination_length(pairs, values, free_intercept) + extra
    return math.nextafter(longest / mass * UP, math.inf)


def _balance(pairs: Pairs, values: Floats) -> tuple[Pairs, Floats, float, float] | None:
    """Correct a few multipliers such that each class gives as much as it receives, nearly exactly.

    Corrections are appended as further multipliers of the same pairs. The second round corrects the rounding
    errors of the first. Returns the pairs and multipliers, and how much exact balance may add to the length
    of their combination and take from their sum; None if a multiplier might become negative.
    """
    rows = pairs.rows
    for _ in range(2):
        moved = imbalance(pairs.own, pairs.rivals, values, rows.n_classes)
        if moved is None or not moved[1]:
            break
        edges = np.array(moved[1])
        givers, receivers = pairs.own[edges], _receivers(pairs.own, pairs.rivals, rows.n_classes)[edges]
        tree = np.zeros((rows.n_classes, edges.size))
        tree[givers, np.arange(edges.size)] = 1.0
        tree[receivers, np.arange(edges.size)] -= 1.0
        excess = _excess(pairs.own, pairs.rivals, values, rows.n_classes)
        moves = np.linalg.lstsq(tree, -excess, rcond=None)[0]
        members, rivals = pairs.members, pairs.rivals
        pairs = Pairs.of(rows, np.append(members, members[edges]), np.append(rivals, rivals[edges]))
        values = np.append(values, moves)
    moved = imbalance(pairs.own, pairs.rivals, values, rows.n_classes)
    if moved is None:
        return None
    change, last = moved
    # Without its intercept, a signed row of several classes is longer than its row by the square root of two.
    ends = dense(lifted_matrix(rows, pairs.members[last]))[:, :-1]
    lengths = math.fsum(length_bounds(end)[1] for end in ends)
    return pairs, values, 2.0 * change * lengths * UP, change * len(last)


def imbalance(own: Ints, rivals: Ints, values: Floats, n_classes: int) -> tuple[float, list[int]] | None:
    """Return how far a few multipliers have to be moved to balance the classes, and which ones.

    A class gives the multipliers of its own rows and receives those of which it is the rival. The classes are
    joined by their largest multipliers; along this tree, excesses can be passed on, because their sum is
    zero. The result is None if one of these multipliers might become negative.
    """
    change = float(np.abs(_excess(own, rivals, values, n_classes)).sum()) * UP
    if n_classes == 2:
        change *= 0.5
    if change == 0.0:
        return 0.0, []
    receivers = _receivers(own, rivals, n_classes)
    order = np.argsort(-values, kind="stable")
    firsts = np.sort(np.unique((own * n_classes + receivers)[order], return_index=True)[1])
    group, edges = list(range(n_classes)), []
    for i in order[firsts].tolist():  # the largest multiplier of each pair of classes
        r, s = int(own[i]), int(receivers[i])
        if group[r] != group[s]:
            edges.append(i)
            group = [group[r] if g == group[s] else g for g in group]
    if not edges or values[edges].min() < 2.0 * change:
        return None
    return change, edges


def _receivers(own: Ints, rivals: Ints, n_classes: int) -> Ints:
    return 1 - own if n_classes == 2 else rivals


def _excess(own: Ints, rivals: Ints, values: Floats, n_classes: int) -> Floats:
    """Return how much more each class gives than it receives; each sum is rounded once."""
    receivers = _receivers(own, rivals, n_classes)
    signed = (
        np.where(own == c, values, 0.0) - np.where(receivers == c, values, 0.0) for c in range(n_classes)
    )
    return np.array([math.fsum(each.tolist()) for each in signed])


def _plain_combination(pairs: Pairs, values: Floats) -> Floats:
    """Return the combination of signed rows in plain sums."""
    rows = pairs.rows
    if pairs.blocks == 1:
        full = np.zeros(rows.n_rows)
        np.add.at(full, pairs.members, values)
        return rows.combination(full)
    support, factors = signed_coefficients(rows.labels, pairs.members, pairs.rivals, values, pairs.blocks)
    return np.asarray((lifted_matrix(rows, support).T @ factors.T).T)


def combination_length(pairs: Pairs, values: Floats, free_intercept: bool) -> float:
    """Return an upper bound of the length of a combination of signed rows, with one rounding per column.

    Raises OverflowError if the length exceeds the range of floats.
    """
    matrix = pairs.matrix()
    if free_intercept:
        matrix = matrix[:, np.setdiff1d(np.arange(matrix.shape[1]), pairs.intercepts)]
    scaled, powers = _scaled_columns(matrix)
    power = power_of(values)
    values = np.ldexp(values, -power)
    total = np.abs(np.fromiter(_sums(scaled.T, values), np.float64, powers.size)) * UP
    total += UP * _lost(values)
    top = int(powers.max()) if powers.size else 0
    return math.ldexp(length_bounds(np.ldexp(total, powers - top))[1] * UP + UNDERFLOW, top + power)


def combination_error(pairs: Pairs, values: Floats) -> float:
    """Return a bound of what rounding adds to the length of a combination of signed rows in plain sums.

    A sum of k products is off by at most ``k 2**-53`` of their magnitudes, in any order. With many classes a
    row is added and subtracted.
    """
    reach = float(np.abs(values) @ row_norms(pairs.rows, pairs.members)) * UP
    twice = 1.0 if pairs.blocks == 1 else 2.0
    return 4.0 * twice * (values.size + 8.0) * HALF_UNIT * reach + UNDERFLOW * (values.size + pairs.width)


def _lowest(rows: Rows, weights: Floats, free: bool, precision: float) -> float:
    """Return a lower bound of the lowest score; with two classes and a free intercept, of the best intercept.

    The best intercept makes the lowest scores of both classes equal, and no intercept changes their mean.
    """
    scores, labels = row_scores(rows, weights)[rows.order], rows.labels[rows.order]
    sides = [labels == label for label in np.unique(labels)] if free else [np.ones(labels.size, np.bool_)]
    error = float(plain_errors(rows, weights, _longest(rows)))
    plain = math.fsum(float(scores[side].min()) for side in sides) / len(sides)
    plain -= error + 2.0 * HALF_UNIT * abs(plain)
    if error <= precision * plain or not math.isfinite(error):
        return plain
    near = [rows.order[side][~(scores[side] > scores[side].min() + 2.0 * error)] for side in sides]
    numbers = rows.numbers / rows.n_rows * (1 if rows.n_classes == 2 else rows.n_classes)
    if sum(each.size for each in near) * numbers > MOST_PRODUCTS:
        return plain
    exact = math.fsum(float(scores_below(rows, each, weights).min()) for each in near) / len(near)
    return math.nextafter(exact, -math.inf)


def scores_below(rows: Rows, members: Ints, weights: Floats) -> Floats:
    """Return lower bounds of the scores of some rows: exact sums, rounded down."""
    others = 1 if rows.n_classes == 2 else rows.n_classes - 1
    each = np.repeat(members, others)
    rivals = np.tile(np.arange(others), members.size)
    if others > 1:
        rivals += rivals >= rows.labels[each]
    matrix, powers = _scaled_columns(Pairs.of(rows, each, rivals).matrix())
    vector = np.ldexp(weights.ravel(), powers)
    power = power_of(vector)
    vector = np.ldexp(vector, -power)
    missed = _lost(vector)
    below = [math.nextafter(score, -math.inf) - missed for score in _sums(matrix, vector)]
    lowest = np.array(below).reshape(members.size, -1).min(axis=1)
    return np.asarray(np.nextafter(np.ldexp(lowest, power), -np.inf))


def row_norms(rows: Rows, members: Ints) -> Floats:
    """Return the lengths of some rows, up to rounding, plus what their squares may lose by underflow."""
    return np.asarray(np.sqrt(rows.squared_norms[members]) + SHORTEST)


def _longest(rows: Rows) -> float:
    return float(rows.radius) * (1.0 + (rows.n_columns + 8.0) * HALF_UNIT) + SHORTEST


def plain_errors(rows: Rows, weights: Floats, norms: Any) -> Any:
    """Return bounds of the rounding of the scores in plain sums, in any order, for rows with these norms.

    A sum of k products is off by at most ``k 2**-53`` of their magnitudes; the factor 4 covers a second
    output and the rounding of norms. An intercept is multiplied by one, not by the length of the row.
    """
    part, intercept = (weights[..., :-1], weights[..., -1:]) if rows.lifted else (weights, np.zeros(1))
    sizes = length_bounds(part)[1] * norms + length_bounds(intercept)[1]
    return 4.0 * (weights.shape[-1] + 8.0) * HALF_UNIT * UP * (sizes + UNDERFLOW)


def length_bounds(values: Floats) -> tuple[float, float]:
    """Return a lower and an upper bound of the length of a vector."""
    scale = power_of(values)
    flat = np.ldexp(values.ravel(), -scale)
    squares = np.zeros((4, -(-flat.size // 4)))  # sums of four lose three roundings, which `UP` exceeds
    squares.ravel()[: flat.size] = flat * flat
    square = math.fsum(squares.sum(axis=0).tolist())
    low, high = math.sqrt(square / UP), math.sqrt((square + flat.size * 2.0**-1000) * UP)
    return math.ldexp(low / UP, scale), math.ldexp(high * UP, scale)


def power_of(values: Floats) -> int:
    """Return the exponent of the power of two that brings the largest of some numbers below one."""
    return int(np.frexp(np.abs(values).max(initial=0.0))[1])


def _scaled_columns(matrix: Any) -> tuple[Any, Any]:
    """Divide columns by powers of two that bring their numbers below one; return the exponents, too."""
    if sparse.issparse(matrix):
        matrix = sparse.csr_array(matrix, copy=True)
        top = np.zeros(matrix.shape[1])
        np.maximum.at(top, matrix.indices, np.abs(matrix.data))
        powers = np.frexp(top)[1]
        matrix.data = np.ldexp(matrix.data, -powers[matrix.indices])
        return matrix, powers
    powers = np.frexp(np.abs(matrix).max(axis=0, initial=0.0))[1]
    return np.ldexp(matrix, -powers), powers


def _sums(matrix: Any, vector: Floats) -> Iterator[float]:
    """Return ``matrix @ vector``, each entry rounded once."""
    return map(math.fsum, _terms(matrix, vector))


def _terms(matrix: Any, vector: Floats) -> Iterator[list[float]]:
    """Yield for each row some floats whose exact sum is its product with the vector.

    Numbers are cut into slices whose matrix products are exact: a few floats per row, whatever its length.
    `_lost` bounds the rest.
    """
    power, bits = power_of(vector), _slice_bits(vector.size)
    v = np.ldexp(vector, -power)
    v1, v2, v3, v4 = _cut(v, bits)
    if sparse.issparse(matrix):
        matrix = sparse.csr_array(matrix)
    step = max(1, WORTH_A_THREAD * matrix.shape[0] // max(1, matrix.size))
    for start in range(0, matrix.shape[0], step):
        a1, a2, a3, a4 = _cut(matrix[start : start + step], bits)
        first = a1 @ np.column_stack([v1, v2, v3, v4])
        second = a2 @ np.column_stack([v1, v2, v3 + v4])
        third = a3 @ np.column_stack([v1, v2 + (v3 + v4)])
        rest = first[:, 3] + second[:, 2] + third[:, 1] + a4 @ v  # everything else is exact
        parts = np.column_stack([first[:, :3], second[:, :2], third[:, :1], rest])
        yield from np.ldexp(parts, power).tolist()


def _slice_bits(count: int) -> int:
    """Return the length of slices for which sums of ``count`` products of two slices are exact in 53 bits."""
    return (51 - math.ceil(math.log2(count + 1))) // 2


def _cut(values: Any, bits: int) -> Iterator[Any]:
    """Yield three slices of numbers below one, multiples of ``2**-bits`` and its powers, and the rest."""
    if sparse.issparse(values):
        for part in _cut(values.data, bits):
            yield sparse.csr_array((part, values.indices, values.indptr), shape=values.shape)
        return
    for each in range(1, 4):
        part = np.ldexp(np.rint(np.ldexp(values, each * bits)), -each * bits)
        yield part
        values = values - part
    yield values


def _lost(vector: Floats) -> float:
    """Return a bound of what the terms of `_terms` miss of a sum: rounding of the last one, and underflow."""
    count, size = vector.size, 2.0 ** max(0, power_of(vector))
    rounding = 8.0 * (count + 16) * 2.0 * HALF_UNIT * count * 2.0 ** (-3 * _slice_bits(count))
    return size * (rounding + UNDERFLOW * count)


def exact_product(a: Floats, b: Floats) -> float:
    """Return the inner product of two vectors, rounded once up to what `_lost` says."""
    first, second = power_of(a), power_of(b)
    (total,) = _sums(np.ldexp(a, -first)[None, :], np.ldexp(b, -second))
    return float(np.ldexp(total, first + second))
