"""Perceptron: a short run separates what is easy to separate, and finds the rows that are not.

Rosenblatt's rule adds each misclassified row to the weights. With margin g and rows no longer than R, that
happens at most ``(R / g)**2`` times (Novikoff 1962). If a few passes do not suffice, the rows corrected most
often are the ones near every good hyperplane: a first working set for the strategies that follow.
"""

from __future__ import annotations

import math

import numpy as np

from ...errors import NumericOverflowError
from ..search import Attempt, Knowledge, Learned, Problem, Separated, exact_vectors

# Above this many columns, rows are visited in the order that takes the fewest corrections, because the next
# strategies take longer there. For sparse rows of many classes they have no answer: the run goes on while it
# gets better. The test set of 20 newsgroups is separated after more than 30 passes.
WIDE = 5000


class Perceptron:
    """Rosenblatt's rule for a few passes, or for many if nothing else helps."""

    name = "perceptron"
    share = 0.5

    def applies(self, problem: Problem) -> bool:
        """Whether all rows need a positive score, and compiled loops are worth loading."""
        return problem.whole and not problem.rows.small

    def attempt(self, problem: Problem, known: Knowledge) -> Attempt:
        """Run it, and learn which rows it corrected most often."""
        from ...perceptron.orders import solve_perceptron  # loads compiled loops

        signed, wide = problem.rows, problem.rows.width > WIDE
        order = "working_set" if wide else "cyclic" if signed.rows.local is not None else "mixed"
        passes = 1000 if wide and signed.joint and signed.rows.sparse else 30
        try:
            found = solve_perceptron(
                signed.rows, order=order, max_iter=passes, n_iter_no_change=30, deadline=problem.deadline
            )
        except NumericOverflowError:
            return Learned()
        if found.errors == 0 and np.isfinite(found.weights).all():
            powers = -signed.exponents if signed.copied else np.zeros_like(signed.exponents)
            weights = exact_vectors(np.atleast_2d(found.weights), powers)
            lower = upper = None
            if not signed.copied and found.mixed_counts is None:
                # After t corrections the weights are at most sqrt(t) R long, and each rounds them once.
                upper = found.margin_upper + signed.rounding(2.0 * math.sqrt(found.mistakes))
                lower = found.margin_lower - signed.rounding(0.0)
            if problem.accept(weights):
                return Separated(weights, lower, upper)
        return Learned(np.sort(signed.most_corrected(found.counts, 2 * signed.width + 100)))
