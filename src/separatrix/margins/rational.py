"""The largest margin in rational numbers, for small problems whose margin float64 does not resolve.

A float is a whole number times a power of two, so rows are rows of whole numbers. On a working set the
multipliers solve a linear complementarity problem, by Lemke's pivots; a scan of all rows in whole numbers
then shows that no other row is nearer, or names the rows that are missing. Nothing is rounded but the answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np

from ..deadline import NEVER, Deadline
from ..result import Floats, Ints
from ..rows.protocol import Rows
from ..sparse import dense

LARGEST = 1 << 16  # numbers of all rows (times classes); above, the time would not be worth the answer
WIDEST = 20  # weights, and about as many rows in the support: with 10 a second or two, with 20 often ten
Pair = tuple[int, int, int]  # a row, its class, the class it is held against


@dataclass(frozen=True, eq=False)
class ExactMargin:
    """The largest margin, known exactly.

    Attributes
    ----------
    square : Fraction
        The square of the margin.
    weights : ndarray of shape (width,) or (classes, width)
        The floats nearest to the exact weights, under which every row scores one or more.
    members, rivals : ndarray of int64
        The rows of the support, and the class each is held against (0 with two classes).
    multipliers : ndarray
        Theirs, rounded.
    rounds : int
        Working sets that were solved.
    """

    square: Fraction
    weights: Floats
    members: Ints
    rivals: Ints
    multipliers: Floats
    rounds: int

    @property
    def bracket(self) -> tuple[float, float]:
        """The floats next to the margin, below and above; twice the same where it is one."""
        return root_bounds(self.square)


def is_small(rows: Rows) -> bool:
    """Whether the problem is one for rational numbers."""
    blocks = 1 if rows.n_classes == 2 else rows.n_classes
    width = rows.n_columns + rows.lifted
    return width * blocks <= WIDEST and rows.order.size * width * blocks <= LARGEST


def exact_margin(rows: Rows, *, free_intercept: bool, deadline: Deadline = NEVER) -> ExactMargin | None:
    """Find the largest margin exactly; None where the classes cannot be separated.

    Raises OutOfTime when the deadline has come.
    """
    problem = RationalProblem(rows, free_intercept)
    working, rounds, best = problem.first_pairs(), 0, flint.fmpq(0)
    while True:
        found = _most(problem.inner(working), problem.balances(working), deadline)
        rounds += 1
        if found is None:
            return None
        values, prices = found
        used = [(pair, value) for pair, value in zip(working, values, strict=True) if value]
        weights, intercepts = problem.weights(used, prices)
        missing = problem.missing(weights, intercepts)
        if not missing:
            return problem.answer(used, weights, intercepts, rounds)
        longer = sum(values, flint.fmpq(0))
        if longer > best:  # else only intercepts have moved, and sets that shrink might come again
            working, best = [pair for pair, _ in used], longer
        working += [pair for pair in missing if pair not in working]


class RationalProblem:
    """Rows as whole numbers: each is a row of the data over ``2**power``; a free intercept has no column."""

    def __init__(self, rows: Rows, free: bool) -> None:
        self.rows, self.free, self.n_classes = rows, free, rows.n_classes
        matrix = np.asarray(dense(rows.take(rows.order).matrix), dtype=np.float64)
        if rows.lifted and not free:
            matrix = np.column_stack([matrix, np.ones(len(matrix))])
        numbers, self.power = _whole(matrix)
        self.labels = rows.labels[rows.order].tolist()
        self.matrix: Any = flint.fmpz_mat(numbers)

    def first_pairs(self) -> list[Pair]:
        """A row of each class, against every other class."""
        firsts = [self.labels.index(label) for label in sorted(set(self.labels))]
        return [pair for i in firsts for pair in self.pairs(i)]

    def pairs(self, i: int) -> list[Pair]:
        """A row with each of its rivals."""
        own = self.labels[i]
        return [(i, own, rival) for rival in range(self.n_classes) if rival != own]

    def inner(self, pairs: list[Pair]) -> list[list[Any]]:
        """The inner products of signed rows; with more than two classes, of Kesler's."""
        index = {row: at for at, row in enumerate(dict.fromkeys(i for i, _, _ in pairs))}
        some = flint.fmpz_mat([[self.matrix[i, j] for j in range(self.matrix.ncols())] for i in index])
        gram = some * some.transpose()
        if self.n_classes == 2:
            return [
                [gram[index[i], index[j]] * (1 if r == t else -1) for j, t, _ in pairs] for i, r, _ in pairs
            ]
        return [
            [gram[index[i], index[j]] * ((r == t) - (r == u) - (s == t) + (s == u)) for j, t, u in pairs]
            for i, r, s in pairs
        ]

    def balances(self, pairs: list[Pair]) -> list[list[int]]:
        """What each pair takes from a class, for each class but the last: it has to add up to nothing."""
        if not self.free:
            return []
        return [[(r == each) - (s == each) for _, r, s in pairs] for each in range(self.n_classes - 1)]

    def weights(self, used: list[tuple[Pair, Any]], prices: list[Any]) -> tuple[list[list[Any]], list[Any]]:
        """The combination of signed rows, a list for each class (or one), and the intercepts."""
        width, blocks = self.matrix.ncols(), 1 if self.n_classes == 2 else self.n_classes
        total = [[flint.fmpq(0)] * width for _ in range(blocks)]
        for (i, r, s), value in used:
            row = [value * self.matrix[i, j] for j in range(width)]
            signed = [(0, 1 if r == 1 else -1)] if blocks == 1 else [(r, 1), (s, -1)]
            for block, sign in signed:
                total[block] = [t + sign * v for t, v in zip(total[block], row, strict=True)]
        intercepts = [flint.fmpq(0)] * blocks
        if self.free:
            intercepts = [-prices[0]] if blocks == 1 else [*prices, flint.fmpq(0)]
        return total, intercepts

    def missing(self, weights: list[list[Any]], intercepts: list[Any]) -> list[Pair]:
        """Pairs that score below one, the lowest first, one a row and no more than weights."""
        common = math.lcm(*(int(v.q) for v in [*intercepts, *(v for block in weights for v in block)]))
        whole = flint.fmpz_mat([[int(v * common) for v in block] for block in weights]).transpose()
        outputs, added = self.matrix * whole, [int(v * common) for v in intercepts]
        short = []
        for i, own in enumerate(self.labels):
            each = [int(outputs[i, k]) + b for k, b in enumerate(added)]
            if self.n_classes == 2:
                score, rival = (each[0] if own == 1 else -each[0]), 1 - own
            else:
                score, rival = min((each[own] - each[k], k) for k in range(len(each)) if k != own)
            if score < common:
                short.append((score, (i, own, rival)))
        most = max(2, self.matrix.ncols() * len(weights))
        return [pair for _, pair in sorted(short)[:most]]

    def answer(
        self, used: list[tuple[Pair, Any]], weights: list[list[Any]], intercepts: list[Any], rounds: int
    ) -> ExactMargin:
        """In floats, in the units of the data; the weights' squared length is the sum of the multipliers."""
        unit = Fraction(2) ** self.power
        square = unit**2 / sum((_fraction(v) for _, v in used), Fraction(0))
        exact = [[_fraction(v) / unit for v in block] for block in weights]
        if self.free:
            exact = [[*block, _fraction(b)] for block, b in zip(exact, intercepts, strict=True)]
        rounded = _in_range([v for block in exact for v in block])
        shape = self.rows.weights_shape
        order = self.rows.order
        members = np.array([order[i] for (i, _, _), _ in used], dtype=np.int64)
        rivals = np.array([0 if self.n_classes == 2 else s for (_, _, s), _ in used], dtype=np.int64)
        multipliers = _in_range([_fraction(v) / unit**2 for _, v in used])
        return ExactMargin(square, rounded.reshape(shape), members, rivals, multipliers, rounds)


def _whole(matrix: Floats) -> tuple[list[list[int]], int]:
    """Whole numbers and the power of two that makes the floats of them."""
    mantissas, exponents = np.frexp(matrix)
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    exponents = exponents - 53
    used = exponents[whole != 0]
    power = int(used.min()) if used.size else 0
    return [
        [int(m) << max(0, int(e) - power) for m, e in zip(line, places, strict=True)]
        for line, places in zip(whole, exponents, strict=True)
    ], power


def _most(inner: list[list[Any]], balances: list[list[int]], deadline: Deadline) -> Any:
    """Maximise ``sum a - a' inner a / 2`` with ``a >= 0`` and balances of zero: (a, prices), or None."""
    n, m = len(inner), len(balances)
    matrix = [[*inner[i], *(b[i] for b in balances), *(-b[i] for b in balances)] for i in range(n)]
    matrix += [[*(-v for v in b), *([0] * 2 * m)] for b in balances]
    matrix += [[*b, *([0] * 2 * m)] for b in balances]
    found = _complementary(matrix, [-1] * n + [0] * 2 * m, deadline)
    if found is None:
        return None
    prices = [found[n + k] - found[n + m + k] for k in range(m)]
    return found[:n], prices


def _complementary(matrix: list[list[Any]], constant: list[int], deadline: Deadline) -> list[Any] | None:
    """By Lemke's method ``z >= 0`` with ``w = matrix z + constant >= 0`` and ``w'z = 0``, or None.

    For a convex program, as this is one, None means that there is none. Ties are broken in lexicographic
    order, so that no basis comes twice (Cottle, Pang and Stone 1992, chapter 4).
    """
    size = len(constant)
    zero, one = flint.fmpq(0), flint.fmpq(1)
    table = [
        [one if i == j else zero for j in range(size)]
        + [flint.fmpq(-v) for v in matrix[i]]
        + [-one, flint.fmpq(constant[i])]
        for i in range(size)
    ]
    basis, artificial = list(range(size)), 2 * size
    entering = artificial
    leaving = min(range(size), key=lambda i: [table[i][-1], *table[i][:size]])
    while True:
        deadline.need()
        _pivot(table, leaving, entering)
        basis[leaving], left = entering, basis[leaving]
        if left == artificial:
            values = dict(zip(basis, (line[-1] for line in table), strict=True))
            return [values.get(size + j, zero) for j in range(size)]
        entering = left + size if left < size else left - size
        rows = [i for i in range(size) if table[i][entering] > 0]
        if not rows:
            return None
        leaving = _first_to_vanish(table, rows, entering, size, basis.index(artificial))


def _first_to_vanish(
    table: list[list[Any]], rows: list[int], entering: int, size: int, artificial: int
) -> int:
    """The row whose basic variable falls to zero first; of equal ones the artificial one, then in order."""
    ratios = {i: table[i][-1] / table[i][entering] for i in rows}
    best = min(ratios.values())
    tied = [i for i in rows if ratios[i] == best]
    if artificial in tied:
        return artificial
    return min(tied, key=lambda i: [v / table[i][entering] for v in table[i][:size]]) if tied[1:] else tied[0]


def _pivot(table: list[list[Any]], row: int, column: int) -> None:
    head = table[row][column]
    line = table[row] = [v / head if v else v for v in table[row]]
    for i, other in enumerate(table):
        factor = other[column]
        if i != row and factor:
            table[i] = [v - factor * u if u else v for v, u in zip(other, line, strict=True)]


def root_bounds(square: Fraction) -> tuple[float, float]:
    """The floats next to a square root, below and above."""
    if not square:
        return 0.0, 0.0
    size = square.numerator.bit_length() - square.denominator.bit_length()
    power = (140 - size) // 2  # so that the whole part of the root has about 70 bits
    scaled = square * Fraction(4) ** power
    whole = math.isqrt(int(scaled))
    rest = int(whole * whole != scaled)
    unit = Fraction(2) ** -power
    return _float_below(whole * unit), -_float_below(-(whole + rest) * unit)


def _float_below(value: Fraction) -> float:
    try:
        nearest = float(value)
    except OverflowError:
        return math.nextafter(math.inf, 0.0) if value > 0 else -math.inf
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, -math.inf)


def _fraction(value: Any) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def _in_range(values: list[Fraction]) -> Floats:
    """The nearest floats; divided by a power of two where the largest is none."""
    top = max(map(abs, values), default=Fraction(0))
    spare = 0
    if top:
        spare = max(0, top.numerator.bit_length() - top.denominator.bit_length() - 1000)
    return np.array([float(v / 2**spare) for v in values])
