"""Class pairs: two of many classes that cannot be separated from each other prove it for all.

A hyperplane between two classes is the difference of their weights, so the multipliers of their rows serve
the joint question as they are. With many classes, such a question is smaller by far: MNIST's ten digits at
once (60,000 rows, 7,065 coordinates) are proved inseparable in 5 seconds by one pair, and not in 40 without.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ...deadline import OutOfTime
from ..problem import (
    ApproximateProof,
    Attempt,
    Combination,
    Floats,
    Inseparable,
    Ints,
    Knowledge,
    Learned,
    Problem,
)
from ..search import search
from ..signed_rows import SignedRows


class ClassPairs:
    """The pairs of classes that were taken for each other, the pair confused most often first."""

    name = "class pairs"
    small = False

    def applies(self, problem: Problem) -> bool:
        """Three or more classes."""
        return problem.rows.joint and problem.rows.n_classes > 2

    def attempt(self, problem: Problem, known: Knowledge) -> Attempt:
        """Ask one pair after the other, until one proves it; for the finer question, ask all of them.

        Two classes that are tied through others are not asked about again.
        """
        total: dict[int, int | Fraction] = {}
        group = np.arange(problem.rows.n_classes)
        while known.class_pairs and not problem.deadline.passed:
            a, b = known.class_pairs.pop(0)
            if group[a] == group[b]:
                continue
            match _between(problem, known, a, b):
                case Inseparable(ApproximateProof()) as found:
                    return found
                case Inseparable(Combination(ids=ids, values=values)):
                    group[group == group[b]] = group[a]
                    rivals = np.where(problem.rows.labels[ids] == a, b, a)
                    for number, value in zip(ids * problem.rows.n_classes + rivals, values, strict=True):
                        total[int(number)] = total.get(int(number), 0) + value
                    if problem.whole:
                        break
        if not total:
            return Learned()
        return Inseparable(Combination(np.array(list(total), dtype=np.int64), list(total.values())))


def _between(problem: Problem, known: Knowledge, a: int, b: int) -> Attempt:
    """The question of two classes, with a share of the time."""
    signed, prove = problem.rows, problem.approximate
    inside = signed.inside & np.isin(signed.labels, (a, b))
    two = SignedRows(signed.data, b, inside, signed.lift, problem.share)

    def approximate(rows: Ints, _: Ints, values: Floats) -> ApproximateProof | None:
        return None if prove is None else prove(rows, np.where(signed.labels[rows] == a, b, a), values)

    name = f"classes {signed.data.classes[a]} and {signed.data.classes[b]}"
    part = problem.about(two, name, approximate=prove and approximate)
    try:
        return search(part, Knowledge(steps=known.steps))
    except OutOfTime:
        return Learned()
