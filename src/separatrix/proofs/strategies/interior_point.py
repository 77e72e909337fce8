"""Interior-point method: follow the central path of the linear program on a working set of dense rows.

Maximize t subject to ``Zw >= t``, ``|w| <= 1``. The path ends where Tucker's theorem points: each row has
either a positive score or a positive multiplier, and the multipliers are even enough for a proof by
approximate ones. The perceptron's hardest rows come first; where those are separated, rows join that the
weights get wrong. Without this strategy, MNIST 4-9 is undecided with a time limit of 10 seconds; with it it
takes 0.8.
"""

from __future__ import annotations

import numpy as np

from ...deadline import OutOfTime
from ...margins.lp.interior_point import solve_interior
from ...result import Status
from ..exact.weights import moved_back
from ..problem import NOTHING, Attempt, Floats, Inseparable, Ints, Knowledge, Learned, Problem, Separated

# Columns. Each step solves a system of that size.
FEWEST, MOST = 200, 5000
# Rows for each column of a first working set. Random labels need a bit more than two; with twice as many rows
# a system takes twice as long, with half as many another round is needed.
ROWS_PER_COLUMN = 3


class InteriorPoint:
    """Mehrotra's predictor and corrector on a working set that grows."""

    name = "interior point"
    small = False

    def applies(self, problem: Problem) -> bool:
        """Two classes, many columns, and more rows than columns: systems have the size of the columns."""
        signed = problem.rows
        if signed.joint or not problem.whole:
            return False
        return FEWEST < signed.n_used <= MOST and signed.ids.size > signed.n_used

    def attempt(self, problem: Problem, known: Knowledge) -> Attempt:
        """Solve, look for rows that the weights get wrong, and let these join, until there are none."""
        signed, width = problem.rows, problem.rows.n_used
        few = np.union1d(known.rows, problem.sample(max(0, ROWS_PER_COLUMN * width - known.rows.size)))
        while True:
            given = signed.few_floats(few)
            found = solve_interior(given.rows, problem.deadline)
            if found.status is Status.NOT_SEPARABLE:
                values = found.multipliers * given.scales
                return _proved(problem, few[found.tight], values[found.tight]) or Learned(known.rows)
            if found.status is Status.TIME_LIMIT:
                raise OutOfTime  # the simplex method would take longer to read these rows than the time left
            if found.status is not Status.REACHED:
                return Learned()
            weights = np.zeros(signed.width)
            weights[given.live] = found.weights * given.factors
            far = bool(given.moves.any())
            exact = moved_back(weights, given.moves, signed.exponents) if far else None
            if far:
                weights[-1] -= float(weights[:-1] @ given.moves)
            ids, scores = signed.lowest(weights, width, problem.among)
            fresh = np.setdiff1d(ids, few)
            if scores[0] > 0.0 or (far and not fresh.size):
                exact = problem.exact_weights(weights) if exact is None else exact
                if problem.accept(exact):
                    upper = None if far else signed.margin_upper(few, found.multipliers)
                    return Separated(exact, upper=upper)
            if not fresh.size:
                return Learned()
            few = np.union1d(few, fresh)


def _proved(problem: Problem, ids: Ints, values: Floats) -> Inseparable | None:
    """A proof by multipliers of a combination that vanishes, as far as floats tell.

    Approximate ones are put before the checker first. If they are refused or prove less than was asked, exact
    ones follow, unless these would take longer than the time left.
    """
    used = np.isfinite(values) & (values > 0.0)
    if not used.any():
        return None
    order = np.argsort(-values[used], kind="stable")
    ids, values = ids[used][order], values[used][order]
    near = None if problem.approximate is None else problem.approximate(ids, NOTHING, values)
    if near is not None and near.complete:
        return Inseparable(near)
    if problem.rows.seconds_to_solve() < problem.deadline.left:
        exact = problem.combination(ids, values)
        return None if exact is None else Inseparable(exact)
    return None if near is None else Inseparable(near)
