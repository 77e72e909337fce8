"""The largest margin in rational numbers, from a guess of its support: for rows far from zero.

Where rows lie far from zero and the intercept counts in the norm (or there is none), float64 resolves
neither the margin nor weights that reach it. Seen from one of the rows, with the direction of that row left
out, it does: that problem, with a free intercept, has nearly the same support. Linear systems in whole
numbers then mend the guess: rows with a negative multiplier leave, rows that score below one come in. Nothing
rests on the guess: the answer is returned when its conditions of optimality hold exactly.
"""

from __future__ import annotations

from typing import Any

import flint
import numpy as np

from ..deadline import NEVER, Deadline
from ..rows.memory import MemoryRows, as_rows
from ..rows.protocol import Rows
from .centring import far_columns, moved_rows
from .max_margin import solve_max_margin
from .rational import ExactMargin, Pair, RationalProblem

LARGEST = 1 << 18  # numbers of all rows (times classes)
WIDEST = 150  # weights: a system of so many rows takes about a second
GUESS_GAP = 1e-6  # of the problem whose support is the guess
ROUNDS = 200  # systems that are solved; a few are enough where the guess is good
EAGER = 10  # rounds in which all rows are exchanged that have to be; after them one by one, against cycles
PRIME = (1 << 61) - 1


def is_moderate(rows: Rows) -> bool:
    """Whether systems of its support can be solved in whole numbers."""
    blocks = 1 if rows.n_classes == 2 else rows.n_classes
    width = rows.n_columns + rows.lifted
    return width * blocks <= WIDEST and rows.order.size * width * blocks <= LARGEST


def exact_far_margin(rows: Rows, deadline: Deadline = NEVER) -> ExactMargin | None:
    """The largest margin of rows far from zero, without a free intercept; None where it is not found.

    Raises OutOfTime when the deadline has come.
    """
    guess = _guess(rows, deadline)
    if not guess:
        return None
    problem = RationalProblem(rows, free=False)
    working = guess
    for rounds in range(1, ROUNDS):
        deadline.need()
        working = _independent(problem, working)
        values = _solved(problem, working)
        if values is None:
            return None
        negative = sorted((v, pair) for v, pair in zip(values, working, strict=True) if v <= 0)
        if negative:
            gone = {pair for _, pair in (negative if rounds <= EAGER else negative[:1])}
            working = [pair for pair in working if pair not in gone]
            continue
        used = list(zip(working, values, strict=True))
        weights, intercepts = problem.weights(used, [])
        missing = problem.missing(weights, intercepts)
        if not missing:
            return problem.answer(used, weights, intercepts, rounds)
        # those that come in stand first: of rows that depend on each other the first ones stay
        working = (missing if rounds <= EAGER else missing[:1]) + working
    return None


def _guess(rows: Rows, deadline: Deadline) -> list[Pair]:
    """Rows and rivals that are likely to have multipliers."""
    centre = far_columns(rows) if isinstance(rows, MemoryRows) else None
    if centre is None:
        return []
    moved = moved_rows(rows, centre)
    assert isinstance(moved, MemoryRows)
    with np.errstate(all="ignore"):
        direction = centre / np.linalg.norm(centre)
        matrix = np.asarray(moved.matrix, dtype=np.float64)
        flat = matrix - np.outer(matrix @ direction, direction)
    if not np.isfinite(flat).all():
        return []
    keep = np.zeros(rows.n_rows, dtype=bool)
    keep[rows.order] = True
    seen = as_rows(flat, rows.labels, n_classes=rows.n_classes, lift=True, keep=keep)
    found = solve_max_margin(seen, gap=GUESS_GAP, free_intercept=True, deadline=deadline)
    if not found.margin_lower > 0.0:
        return []
    places = {row: at for at, row in enumerate(rows.order.tolist())}
    order = np.argsort(-found.multipliers, kind="stable")
    members, labels = found.rows[order], rows.labels[found.rows[order]]
    rivals = 1 - labels if rows.n_classes == 2 else found.rivals[order]
    return [
        (places[i], int(own), int(rival))
        for i, own, rival in zip(members.tolist(), labels.tolist(), rivals.tolist(), strict=True)
    ]


def _independent(problem: RationalProblem, pairs: list[Pair]) -> list[Pair]:
    """Those of some signed rows that do not depend on earlier ones (modulo a large prime)."""
    inner, size = problem.inner(pairs), len(pairs)
    reduced, rank = flint.nmod_mat(size, size, [int(v) % PRIME for line in inner for v in line], PRIME).rref()
    kept, column = [], 0
    for row in range(rank):
        while int(reduced[row, column]) == 0:
            column += 1
        kept.append(pairs[column])
    return kept


def _solved(problem: RationalProblem, pairs: list[Pair]) -> list[Any] | None:
    """Multipliers that give each of some signed rows a score of one; None where none do."""
    if not pairs:
        return None
    inner: Any = flint.fmpz_mat(problem.inner(pairs))
    try:
        found = inner.solve(flint.fmpz_mat(len(pairs), 1, [1] * len(pairs)))
    except ZeroDivisionError:
        return None
    return [found[i, 0] for i in range(len(pairs))]
