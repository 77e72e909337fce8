"""The bracket of the largest margin with all rounding counted: true of the exact numbers of the data.

Weights prove that the best margin is no smaller than their lowest score over their norm, multipliers that it
is no larger than the norm of their combination over their sum. Both are sums of products of floats. Each
product is split into two floats without error (Dekker 1971), or numbers are cut into slices whose products
are exact (Ozaki and others 2012); the sum is rounded once (Python's ``fsum``), and what is left of rounding
goes outwards. Only rows whose score may be the lowest are summed so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from ...result import Floats, Ints
from ...rows.protocol import Rows
from ...sparse import sparse
from ..pairs import Pairs, lifted_matrix, row_scores
from .summing import UNIT, UP, length_bounds, lost, power_of, scaled_columns, sums, terms

SHORTEST = 2.0**-500  # above the root of all that underflow may take from the square of a norm
PRECISION = 5e-4  # part of the gap asked for that the rounding of plain sums may add to it
MOST_PRODUCTS = 1 << 23  # that are summed exactly; beyond, a bound of the rounding of plain sums serves


def proved_bracket(
    rows: Rows,
    weights: Floats,
    proof: tuple[Ints, Ints, Floats],
    found: tuple[float, float],
    free: bool,
    precision: float,
) -> tuple[float, float]:
    """The bracket that weights and multipliers prove, where plain sums found one.

    Plain sums and a bound of their rounding serve where that bound is below ``precision`` times the sum,
    where there are too many products to sum exactly, and for an upper end that is zero but for rounding. No
    margin is above the longest row, nor the best one below minus that: what is left where numbers leave the
    range.
    """
    lower, upper = found
    longest = _longest(rows) * (1.0 if rows.n_classes == 2 else 1.5)
    with np.errstate(all="ignore"):
        if math.isfinite(lower):
            lower = max(-longest, _settled(lambda: proved_lower(rows, weights, free, precision), -longest))
        if math.isfinite(upper):
            digits = precision if lower > 0.0 else math.inf
            upper = min(longest, _settled(lambda: proved_upper(rows, *proof, free, digits), longest))
    return lower, upper


def _settled(bound: Callable[[], float], otherwise: float) -> float:
    try:
        found = bound()
    except (OverflowError, ValueError):  # of fsum: numbers beyond the range
        return otherwise
    return found if math.isfinite(found) else otherwise


def proved_lower(rows: Rows, weights: Floats, free_intercept: bool, precision: float = 0.0) -> float:
    """A bound below the best margin by these weights; two classes with a free intercept get the best one."""
    part = weights[..., :-1] if free_intercept else weights
    if not part.any() or not np.isfinite(weights).all():
        return -math.inf
    scale = power_of(part)
    part, weights = np.ldexp(part, -scale), np.ldexp(weights, -scale)
    both = free_intercept and weights.ndim == 1
    best = (_lowest_of_both if both else _lowest)(rows, weights, precision)
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
    """A bound above the best margin by these multipliers of signed rows; infinite where they prove none."""
    pairs = Pairs(rows)
    values = np.ldexp(multipliers, -power_of(multipliers))
    kept = values > 0.0
    values, pairs.members, pairs.rivals = values[kept], members[kept], rivals[kept]
    if not values.size:
        return math.inf
    many = pairs.size * pairs.width > MOST_PRODUCTS
    if many or rows.n_classes == 2 or precision == math.inf:
        plain, error = _plain_upper(pairs, values, free_intercept)
        if many or error <= precision * plain:
            return (plain + error) * UP
    mass = sum(map(Fraction, values.tolist()), Fraction(0))
    moves: dict[int, Fraction] = {}
    if free_intercept:
        found = _balancing(rows, pairs, values)
        if found is None:
            return math.inf
        moves = found
        mass += sum(moves.values(), Fraction(0))
    longest = combination_length(pairs, values, free_intercept, moves)
    return math.nextafter(longest / (float(mass) / UP) * UP, math.inf)


def combination_length(
    pairs: Pairs, values: Floats, free_intercept: bool, moves: dict[int, Fraction] | None = None
) -> float:
    """A bound above the length of a combination of signed rows; each column is summed exactly, rounded once.

    ``moves`` are added to some of the factors. Raises OverflowError for lengths beyond the range of floats.
    """
    matrix, left_over = pairs.matrix(), 0.0
    if moves:
        places, changes, left_over = _in_floats(moves)
        matrix = _stacked(matrix, places)
        values = np.concatenate([values, changes])
    factors = np.ones(matrix.shape[1])
    if free_intercept:
        factors[pairs.intercepts] = 0.0
    counted, powers = scaled_columns(matrix if factors.all() else matrix[:, np.flatnonzero(factors)])
    power = power_of(values)
    values = np.ldexp(values, -power)
    # each sum is rounded once; what balancing left is below left_over times a number below one
    total = np.abs(np.fromiter(sums(counted.T, values, 0), np.float64, powers.size)) * UP
    total += UP * (lost(values) + math.ldexp(left_over, -power) * UP)
    top = int(powers.max()) if powers.size else 0
    return math.ldexp(length_bounds(np.ldexp(total, powers - top))[1] * UP + 2.0**-960, top + power)


def _plain_upper(pairs: Pairs, values: Floats, free: bool) -> tuple[float, float]:
    """The upper bound in plain sums, and a bound of their rounding; both infinite where they prove none."""
    rows = pairs.rows
    if pairs.blocks == 1:
        full = np.zeros(rows.n_rows)
        full[pairs.members] = values
        total = rows.combination(full)
    else:
        support, place = np.unique(pairs.members, return_inverse=True)
        factors = np.zeros((pairs.blocks, support.size))
        np.add.at(factors, (rows.labels[pairs.members], place), values)
        np.add.at(factors, (pairs.rivals, place), -values)
        total = np.asarray((lifted_matrix(rows, support).T @ factors.T).T)
    mass = math.fsum(values.tolist())
    error = combination_error(pairs, values)
    if free:
        moved = imbalance(pairs.own, pairs.rivals, values, rows.n_classes)
        if moved is None or not 4.0 * moved[0] * len(moved[1]) < mass:
            return math.inf, math.inf
        change, edges = moved
        error += 2.0 * change * (len(edges) + 1) * _longest(rows)
        mass -= change * len(edges)
    return length_bounds(total[..., :-1] if free else total)[1] / mass, error / mass * UP


def combination_error(pairs: Pairs, values: Floats) -> float:
    """A bound of what rounding adds to the length of a combination of signed rows in plain sums.

    A sum of k products is off by at most ``k 2**-53`` of their magnitudes, in any order. With many classes a
    row is added and subtracted.
    """
    reach = float(values @ row_norms(pairs.rows, pairs.members)) * UP
    twice = 1.0 if pairs.blocks == 1 else 2.0
    return 4.0 * twice * (values.size + 8.0) * UNIT * reach + 2.0**-960 * (values.size + pairs.width)


def imbalance(own: Ints, against: Ints, values: Floats, n_classes: int) -> tuple[float, list[int]] | None:
    """How far a few multipliers have to be moved so that no class gives more than it gets, and which.

    The classes are joined by their largest multipliers; along this tree excesses, whose sum is zero, can be
    handed on. None where one of them is smaller than that.
    """
    rivals = 1 - own if n_classes == 2 else against
    change = 0.0
    for each in range(n_classes if n_classes > 2 else 1):
        signed = np.where(own == each, values, 0.0) - np.where(rivals == each, values, 0.0)
        change += abs(math.fsum(signed.tolist())) * UP
    if change == 0.0:
        return 0.0, []
    group, edges = list(range(n_classes)), []
    for i in _largest(own * n_classes + rivals, values):
        r, s = int(own[i]), int(rivals[i])
        if group[r] != group[s]:
            edges.append(i)
            group = [group[r] if g == group[s] else g for g in group]
    if not edges or values[edges].min() < change:
        return None
    return change, edges


def _largest(kinds: Ints, values: Floats) -> list[int]:
    """The place of the largest value of each kind, largest first."""
    order = np.argsort(-values, kind="stable")
    _, first = np.unique(kinds[order], return_index=True)
    return [int(order[at]) for at in np.sort(first)]


def _lowest(rows: Rows, weights: Floats, precision: float) -> float:
    """A bound below the lowest score of all rows."""
    scores = row_scores(rows, weights)[rows.order]
    error = _plain_error(rows, weights)
    if error <= precision * scores.min():
        return float(scores.min()) - error
    near = rows.order[~(scores > scores.min() + 2.0 * error)]
    if near.size * weights.size > MOST_PRODUCTS or not math.isfinite(error):
        return float(scores.min()) - error
    return float(scores_below(rows, near, weights).min())


def scores_below(rows: Rows, members: Ints, weights: Floats) -> Floats:
    """Bounds below the scores of some rows: exact sums, rounded down."""
    pairs = Pairs(rows)
    others = pairs.blocks
    pairs.members, pairs.rivals = members, np.zeros_like(members)
    if others > 1:
        pairs.members = np.repeat(members, others - 1)
        pairs.rivals = np.tile(np.arange(others - 1), members.size)
        pairs.rivals += pairs.rivals >= rows.labels[pairs.members]
    matrix, powers = scaled_columns(pairs.matrix())
    vector = np.ldexp(weights.ravel(), powers)
    power = power_of(vector)
    vector = np.ldexp(vector, -power)
    missed = lost(vector)
    below = [math.nextafter(each, -math.inf) - missed for each in sums(matrix, vector, 0)]
    lowest = np.array(below).reshape(members.size, -1).min(axis=1)
    return np.asarray(np.nextafter(np.ldexp(lowest, power), -np.inf))


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
    scale = power_of(matrix.data if sparse.issparse(matrix) else matrix)
    parts = list(terms(matrix, weights[:-1], scale))
    against, start = parts[0], 1  # of the negative class: its signed row is minus itself
    lowest = []
    for side, each in enumerate(near):
        own = parts[start : start + each.size]
        start += each.size
        sign = (-1.0, 1.0)[side]
        # the reference is a row of the negative class: there it is subtracted, on the other side added
        lowest.append(min(math.fsum([*z, *(sign * v for v in against)]) for z in own))
    total = math.fsum(lowest)
    slack = sum(abs(v) for v in lowest) * 2.0 * UNIT + 4.0 * lost(weights[:-1])
    return _scaled(0.5 * (math.nextafter(total, -math.inf) - slack), scale)


def _scaled(value: float, scale: int) -> float:
    try:
        return math.ldexp(value, scale)
    except OverflowError:
        return -math.inf


def _plain_error(rows: Rows, weights: Floats) -> float:
    """A bound of the rounding of every score in plain sums, of any order."""
    return float(plain_errors(rows, weights, _longest(rows)))


def row_norms(rows: Rows, members: Ints) -> Floats:
    """The lengths of some rows, to rounding; with what underflow may have taken from their squares."""
    return np.asarray(np.sqrt(rows.squared_norms[members]) + SHORTEST)


def _longest(rows: Rows) -> float:
    return float(rows.radius) * (1.0 + (rows.n_columns + 8.0) * UNIT) + SHORTEST


def plain_errors(rows: Rows, weights: Floats, norms: Any) -> Any:
    """Bounds of the rounding of the scores of rows of some norms in plain sums, of any order.

    A sum of k products is off by at most ``k 2**-53`` of their magnitudes; the factor 4 covers a second
    output and the rounding of norms. An intercept meets a one, not the whole length of the row.
    """
    part, intercept = (weights[..., :-1], weights[..., -1:]) if rows.lifted else (weights, np.zeros(1))
    sizes = length_bounds(part)[1] * norms + length_bounds(intercept)[1]
    return 4.0 * (weights.shape[-1] + 8.0) * UNIT * UP * (sizes + 2.0**-960)


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
