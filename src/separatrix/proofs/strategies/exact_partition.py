"""Exact partition: Tucker's theorem in integers, for rows on which rounding hides the answer.

All rows are taken if they are few; else a working set, which grows by rows that exact weights do not
separate. See `exact.partition`. Without this strategy principal components, polynomial terms and nearly equal
columns stay undecided.
"""

from __future__ import annotations

import numpy as np

from ..exact.integer_rows import IntegerRows, reduced, with_negatives
from ..exact.partition import Partition, exact_partition
from ..exact.simplex import gordan
from ..problem import (
    Attempt,
    Combination,
    Inseparable,
    Ints,
    Knowledge,
    Learned,
    Problem,
    Rational,
    Separated,
)

NUMBERS = 1 << 21  # of the rows that are all taken at once
CHUNK = 1000  # rows that are scored exactly at a time


class ExactPartition:
    """Condition the columns exactly, then ask Tucker's program."""

    name = "exact partition"
    small = True

    def applies(self, problem: Problem) -> bool:
        """Always: it is the last."""
        return True

    def attempt(self, problem: Problem, known: Knowledge) -> Attempt:
        """Decide the working set exactly; rows join that its weights do not separate."""
        ids = problem.rows.ids[problem.among]
        members = problem.hard_rows(known)
        members = members if members.size else problem.sample(CHUNK)
        if ids.size * problem.rows.width <= NUMBERS:
            members = np.append(members, np.setdiff1d(ids, members))
        while True:
            problem.deadline.need()
            found = _decide(problem, members)
            if found is None or isinstance(found, Combination):
                return Learned() if found is None else Inseparable(found)
            weights = problem.rows.whole_weights(found)
            if problem.accept(weights):
                return Separated(weights)
            fresh = _violated(problem, np.setdiff1d(ids, members), found)
            if not fresh.size:
                return Learned()
            members = np.append(members, fresh)


def _decide(problem: Problem, members: Ints) -> Combination | dict[int, int] | None:
    """Multipliers, or weights by coordinate; tight rows are there twice, with both signs."""
    n_tight = problem.tight.size
    rows = problem.rows.integers(np.concatenate([problem.tight, members]))
    both = with_negatives(rows.matrix, n_tight)
    values: list[Rational] = [0] * (n_tight + members.size)
    found = exact_partition(both, problem.deadline)
    if found is None:
        alternative = gordan(both, n_tight, problem.deadline)
        if alternative is None:
            return None
        found = Partition(alternative[0], np.arange(len(alternative[1])), list(alternative[1]))
    for i, value in zip(found.tight.tolist(), found.multipliers, strict=True):
        values[i % len(values)] += value if i < len(values) else -value
    own = values[n_tight:]
    if not any(own):
        return _by_column(rows, found.weights)
    used = [i for i, value in enumerate(own) if value]
    return Combination(members[used], [own[i] for i in used], problem.tight, values[:n_tight])


def _by_column(rows: IntegerRows, weights: list[int]) -> dict[int, int]:
    """Weights of the columns of an integer matrix, for the numbers that these columns stand for."""
    shifts = (rows.powers.max(initial=0) - rows.powers).tolist()
    exact = reduced([value << shift for value, shift in zip(weights, shifts, strict=True)])
    return dict(zip(rows.columns.tolist(), exact, strict=True))


def _violated(problem: Problem, outside: Ints, weights: dict[int, int]) -> Ints:
    """Some of the rows outside the working set that exact weights do not separate."""
    found: list[int] = []
    for start in range(0, outside.size, CHUNK):
        some = outside[start : start + CHUNK]
        scores = problem.rows.integers(some).scores(weights)
        found += [number for number, score in zip(some.tolist(), scores, strict=True) if score <= 0]
        if len(found) >= CHUNK // 5:
            break
    return np.array(found, dtype=np.int64)
