"""Class pairs: two of many classes that cannot be separated from each other prove it for all.

A hyperplane between two classes is the difference of their weights, so the multipliers of their rows also
answer the joint question. With many classes, a question about two of them is much smaller: MNIST's ten digits
at once (60,000 rows, 7,065 coordinates) are proved inseparable in 5 seconds by one pair, and not in 40
without.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ...deadline import Deadline
from ...rows.protocol import Floats, Ints
from ..search import SHARE, Attempt, Combination, Inseparable, Knowledge, Learned, Problem, search_part
from ..signed_rows import SignedRows


class ClassPairs:
    """Ask about the pairs of classes that were confused with each other, the most often confused pair first.

    Parameters
    ----------
    most : int, optional
        How many pairs to ask about, at most.
    """

    name = "class pairs"
    small = False
    share = 1.0

    def __init__(self, most: int | None = None) -> None:
        self.most = most

    def applies(self, problem: Problem) -> bool:
        """Whether there are three or more classes."""
        return problem.rows.joint and problem.rows.n_classes > 2

    def attempt(self, problem: Problem, known: Knowledge) -> Attempt:
        """Ask one pair after the other, until one proves it; for the finer question, ask all of them.

        Two classes that are connected by inseparable pairs are not asked about again.
        """
        total: dict[int, int | Fraction] = {}
        group = np.arange(problem.rows.n_classes)
        for a, b in known.class_pairs[: self.most]:
            known.class_pairs.remove((a, b))
            if group[a] == group[b]:
                continue
            if problem.deadline.passed:
                break
            match _between(problem, known, a, b):
                case Inseparable(None) as found:
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
    """Ask about two classes, with a share of the time."""
    signed, prove = problem.rows, problem.approximate
    inside = signed.inside & np.isin(signed.labels, (a, b))
    two = SignedRows(signed.data, b, inside, signed.lift, Deadline.after(SHARE * problem.deadline.left))

    def approximate(rows: Ints, _: Ints, values: Floats) -> bool | None:
        return None if prove is None else prove(rows, np.where(signed.labels[rows] == a, b, a), values)

    name = f"classes {signed.data.classes[a]} and {signed.data.classes[b]}"
    part = problem.about(two, name, approximate=prove and approximate)
    return search_part(part, known)
