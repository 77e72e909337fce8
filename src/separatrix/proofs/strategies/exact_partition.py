"""Exact partition: Tucker's theorem in integers, for rows on which rounding hides the answer.

If there are few rows, all are used; otherwise a working set, which grows by rows that exact weights do not
separate. See `exact.partition`. Without this strategy principal components, polynomial terms and nearly equal
columns stay undecided.
"""

from __future__ import annotations

import numpy as np

from ...rows.protocol import Ints
from ...rows.threads import calm_threads
from ..exact.integer_rows import IntegerRows, reduced, with_negatives
from ..exact.partition import Partition, exact_partition, gordan
from ..search import (
    WORKING_SET,
    Attempt,
    Combination,
    Inseparable,
    Knowledge,
    Learned,
    Problem,
    Rational,
    Separated,
)

NUMBERS = 1 << 21  # of the rows that are all taken at once


class ExactPartition:
    """Condition the columns exactly, then ask Tucker's program."""

    name = "exact partition"
    share = 1.0

    def applies(self, problem: Problem) -> bool:
        """Return True: it is the last strategy."""
        return True

    def attempt(self, problem: Problem, known: Knowledge) -> Attempt:
        """Decide the working set exactly; rows join that its weights do not separate."""
        ids = problem.rows.ids[problem.among]
        members = problem.hard_rows(known)
        members = members if members.size else problem.sample(WORKING_SET)
        if ids.size * problem.rows.n_used <= NUMBERS:
            members = np.append(members, np.setdiff1d(ids, members))
        while True:
            problem.deadline.need()
            with calm_threads(problem.rows.width):
                found = _decide(problem, members)
            if found is None:
                return Learned()
            combination, by_column = found
            weights = problem.rows.whole_weights(by_column)
            if combination is not None:
                return Inseparable(combination, weights=weights)
            if problem.accept(weights):
                return Separated(weights)
            fresh = _violated(problem, np.setdiff1d(ids, members), by_column)
            if not fresh.size:
                return Learned()
            members = np.append(members, fresh)


def _decide(problem: Problem, members: Ints) -> tuple[Combination | None, dict[int, int]] | None:
    """Return multipliers, if some row is tight, and weights by coordinate; None if rounding hid the answer.

    The tight rows of the problem are given with both signs.
    """
    n_tight = problem.tight.size
    rows = problem.rows.integers(np.concatenate([problem.tight, members]))
    both = with_negatives(rows.matrix, n_tight)
    values: list[Rational] = [0] * (n_tight + members.size)
    found = exact_partition(both, problem.deadline)
    if found is None:
        alternative = gordan(both, n_tight, problem.deadline)
        if alternative is None:
            return None
        separating, multipliers = alternative
        found = Partition(separating or [0] * both.ncols(), np.arange(len(multipliers)), list(multipliers))
    for i, value in zip(found.tight.tolist(), found.multipliers, strict=True):
        values[i % len(values)] += value if i < len(values) else -value
    own, weights = values[n_tight:], _by_column(rows, found.weights)
    used = [i for i, value in enumerate(own) if value]
    if not used:
        return None, weights
    return Combination(members[used], [own[i] for i in used], problem.tight, values[:n_tight]), weights


def _by_column(rows: IntegerRows, weights: list[int]) -> dict[int, int]:
    """Return weights of the columns of the data, given those of the integer columns."""
    shifts = (rows.powers.max(initial=0) - rows.powers).tolist()
    exact = reduced([value << shift for value, shift in zip(weights, shifts, strict=True)])
    return dict(zip(rows.columns.tolist(), exact, strict=True))


def _violated(problem: Problem, outside: Ints, weights: dict[int, int]) -> Ints:
    """Return some of the rows outside the working set that exact weights do not separate."""
    found: list[int] = []
    for start in range(0, outside.size, WORKING_SET):
        some = outside[start : start + WORKING_SET]
        scores = problem.rows.integers(some).scores(weights)
        found += [number for number, score in zip(some.tolist(), scores, strict=True) if score <= 0]
        if len(found) >= WORKING_SET // 5:
            break
    return np.array(found, dtype=np.int64)
