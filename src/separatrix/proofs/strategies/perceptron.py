"""Perceptron: a short run separates what is easy to separate, and finds the rows that are not.

Rosenblatt's rule adds each misclassified row to the weights. With margin g and rows no longer than R, that
happens at most ``(R / g)**2`` times (Novikoff 1962). If a few passes do not suffice, the rows corrected most
often are the ones near every good hyperplane: a first working set for the strategies that follow. With many
classes, the pairs that were confused with each other are worth a question of their own.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ...errors import NumericOverflowError
from ...rows.protocol import Ints
from ..search import Attempt, Knowledge, Learned, Problem, Separated, exact_vectors

# Above this many columns, rows are visited in the order that takes the fewest corrections, because the next
# strategies take longer there.
WIDE = 5000


class Perceptron:
    """Rosenblatt's rule for a few passes."""

    name = "perceptron"
    small = False  # compiled loops take longer to load
    share = 1.0

    def applies(self, problem: Problem) -> bool:
        """Whether all rows need a positive score."""
        return problem.whole

    def attempt(self, problem: Problem, known: Knowledge) -> Attempt:
        """Run it, and learn which rows it corrected most often."""
        in_turn = "cyclic" if problem.rows.rows.local is not None else "mixed"
        return _run(problem, in_turn if problem.rows.width <= WIDE else "working_set", 30)


class PatientPerceptron:
    """Rosenblatt's rule on a working set, for as many passes as estimators make by default.

    All classes of USPS (7,291 rows) and of the first 10,000 images of MNIST are separated in this way, with
    40 to 140 passes. The linear program, which has thousands of coordinates there, does not end in a minute.
    """

    name = "patient perceptron"
    small = False
    share = 0.5

    def applies(self, problem: Problem) -> bool:
        """Whether all rows of three or more classes need a positive score."""
        return problem.whole and problem.rows.joint

    def attempt(self, problem: Problem, known: Knowledge) -> Attempt:
        """Run it, and learn which rows it corrected most often."""
        found = _run(problem, "working_set", 1000)
        return replace(found, class_pairs=()) if isinstance(found, Learned) else found


def _run(problem: Problem, order: str, passes: int) -> Attempt:
    from ...perceptron.orders import solve_perceptron  # loads compiled loops

    signed, upper = problem.rows, None
    try:
        found = solve_perceptron(signed.rows, order=order, max_iter=passes, deadline=problem.deadline)
    except NumericOverflowError:
        return Learned()
    if found.errors == 0 and np.isfinite(found.weights).all():
        powers = -signed.exponents if signed.copied else np.zeros_like(signed.exponents)
        weights = exact_vectors(np.atleast_2d(found.weights), powers)
        lower = None
        if not signed.copied and found.mixed_counts is None:
            # After t corrections the weights are at most sqrt(t) R long, and each rounds them once.
            upper = found.margin_upper + signed.rounding(2.0 * math.sqrt(found.mistakes))
            lower = found.margin_lower - signed.rounding(0.0)
        if problem.accept(weights):
            return Separated(weights, lower, upper)
    pairs = confused_pairs(signed.labels, found.counts) if signed.joint else ()
    return Learned(np.sort(signed.most_corrected(found.counts, 2 * signed.width + 100)), upper, pairs)


def confused_pairs(labels: Ints, counts: Ints) -> tuple[tuple[int, int], ...]:
    """Return the pairs of classes that were confused with each other, the most often confused first."""
    n_classes = counts.shape[1]
    often = np.zeros((n_classes, n_classes), dtype=np.int64)
    np.add.at(often, labels, counts)
    often += often.T
    a, b = np.nonzero(np.triu(often))
    order = np.argsort(-often[a, b], kind="stable")
    return tuple(zip(a[order].tolist(), b[order].tolist(), strict=True))
