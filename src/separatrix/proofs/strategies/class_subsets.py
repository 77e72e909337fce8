"""Class subsets: some of many classes that cannot be separated from each other prove it for all.

A question about a few classes has fewer rows and coordinates, and multipliers of its rows also answer the
joint question. Pairs come first: MNIST's ten digits at once (60,000 rows, 7,065 coordinates) are proved
inseparable in 1.5 seconds by one pair, and not in 40 without. If pairs can be separated, and all classes have
too many coordinates for the interior-point method, larger sets follow, which grow by the class with the most
hard rows between it and them. The first 30,000 images are proved inseparable by the digits 3, 5 and 8.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from ...rows.protocol import Floats, Ints
from ..search import (
    MOST_COLUMNS,
    SHARE,
    Attempt,
    Combination,
    Inseparable,
    Knowledge,
    Learned,
    Problem,
    search_part,
)
from ..signed_rows import SignedRows

Classes = tuple[int, ...]

LARGE_SHARE = 0.5  # of the time left, for three classes or more: little else decides such a question


class ClassSubsets:
    """Ask about the classes with the most hard rows between them.

    Parameters
    ----------
    one_pair : bool
        Whether to ask about a single pair and nothing else.
    """

    name = "class subsets"
    share = 1.0

    def __init__(self, one_pair: bool = False) -> None:
        self.one_pair = one_pair

    def applies(self, problem: Problem) -> bool:
        """Whether there are three or more classes, of which these are not a subset."""
        return problem.rows.joint and not problem.rows.small and not problem.part

    def attempt(self, problem: Problem, known: Knowledge) -> Attempt:
        """Ask one question after the other, until one proves it; for the finer question, ask all of them.

        Classes that are connected by inseparable pairs are not asked about again.
        """
        total: dict[int, int | Fraction] = {}
        group = np.arange(problem.rows.n_classes)
        for chosen in self._subsets(problem, known):
            if chosen in known.asked or np.unique(group[list(chosen)]).size < len(chosen):
                continue
            if problem.deadline.passed:
                break
            known.asked.add(chosen)
            match _among(problem, known, chosen):
                case Inseparable(None) as found:
                    return found
                case Inseparable(Combination(ids=ids, values=values)):
                    group[np.isin(group, group[list(chosen)])] = group[chosen[0]]
                    for number, value in zip(ids.tolist(), values, strict=True):
                        total[number] = total.get(number, 0) + value
                    if problem.whole:
                        break
        if not total:
            return Learned()
        return Inseparable(Combination(np.array(list(total), dtype=np.int64), list(total.values())))

    def _subsets(self, problem: Problem, known: Knowledge) -> Iterator[Classes]:
        """Yield sets of classes in the order in which to ask about them; some may have been asked about."""
        signed = problem.rows
        often = _hard_rows(signed, known.rows)
        order = _growing(often) if often.any() else []
        if order and self.one_pair:
            yield divmod(int(np.triu(often).argmax()), signed.n_classes)
            return
        many = problem.whole and signed.width > MOST_COLUMNS and signed.rows.local is not None
        largest = MOST_COLUMNS // signed.block + 1 if many else 2
        for size in range(2, len(order) + 1):
            *before, new = order[:size]
            confused = [other for other in before if often[other, new]]
            for other in confused:
                yield min(other, new), max(other, new)
            if confused and 3 <= size <= largest:
                yield tuple(sorted(order[:size]))


def _hard_rows(signed: SignedRows, ids: Ints) -> Floats:
    """Return how many of some signed rows are between each pair of classes."""
    rows, rivals = signed.split(ids)
    often = np.zeros((signed.n_classes, signed.n_classes))
    np.add.at(often, (signed.labels[rows], rivals), 1.0)
    return often + often.T


def _growing(often: Floats) -> list[int]:
    """Order the classes: three with the most hard rows between them, then those with the most to these."""
    others = np.where(np.eye(len(often)), -np.inf, often)
    best = -np.inf
    for first, own in enumerate(others):
        sums = own[:, None] + own + others
        if sums.max() > best:
            best, order = sums.max(), [first, *divmod(int(sums.argmax()), len(often))]
    while len(order) < len(often):
        order.append(int(others[order].sum(axis=0).argmax()))
    return order


def _among(problem: Problem, known: Knowledge, classes: Classes) -> Attempt:
    """Ask about some classes, with a share of the time; the numbers of rows are those of the whole."""
    whole, chosen = problem.rows, np.array(classes)
    inside = whole.inside & np.isin(whole.labels, chosen)
    names = tuple(whole.data.classes[each] for each in classes)
    if chosen.size == 2:
        part = SignedRows(whole.data, classes[1], inside, whole.lift, whole.deadline)
    else:
        codes = np.searchsorted(chosen, np.where(inside, whole.labels, chosen[0]))
        data = replace(whole.data, codes=codes, classes=names)
        part = SignedRows(data, None, inside, whole.lift, whole.deadline)

    def rivals_of(rows: Ints, rivals: Ints) -> Ints:
        return chosen[rivals] if part.joint else np.where(whole.labels[rows] == classes[0], *classes[::-1])

    def approximate(rows: Ints, rivals: Ints, values: Floats) -> bool | None:
        return problem.approximate and problem.approximate(rows, rivals_of(rows, rivals), values)

    name = f"classes {', '.join(names[:-1])} and {names[-1]}"
    asked = problem.about(part, name, approximate=problem.approximate and approximate)
    found = search_part(asked, known, SHARE if len(classes) == 2 else LARGE_SHARE)
    if isinstance(found, Inseparable) and found.multipliers is not None:
        ids, values = found.multipliers.ids, found.multipliers.values
        rows, rivals = part.split(ids)
        return Inseparable(Combination(rows * whole.n_classes + rivals_of(rows, rivals), values))
    return found
