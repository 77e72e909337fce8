"""The rows of regressions on counts and amounts, with log link."""

from __future__ import annotations

import numpy as np

from ...sparse import dense
from ..monomials import Ints
from ..numbers import row_integers
from .regression import Given, Rows, members, need

MOST_WEAK = 5_000_000  # pairs of a different row with y = 0 and a row with y > 0: about 110 bytes each


def poisson(given: Given) -> Rows:
    """Build the rows of Poisson regression, and of negative binomial with given alpha.

    The signed rows are -x for y = 0, the equal rows x for y > 0 (Correia, Guimaraes and Zylkin 2019). With
    groups, each group has an intercept of its own. It is eliminated: rows are taken relative to one with a
    positive count. Groups of zeros say nothing.
    """
    need(given.y >= 0, "A count must not be negative.", given.rows)
    zero, rows, reference, dropped = given.y == 0, given.rows, np.full(given.rows.size, -1), ""
    if "groups" in given.data.columns:
        reference, n_zero, n_groups = _references(given)
        kept = reference >= 0
        zero, rows, reference = zero[kept], rows[kept], reference[kept]
        dropped = f"{n_zero} of {n_groups} groups have only zeros and are left out" if n_zero else ""
    below, above = np.flatnonzero(zero), np.flatnonzero(~zero & (rows != reference))
    return given.made(
        [given.pattern(rows[below], [(rows[below], -1), (reference[below], 1)])],
        [given.pattern(rows[above], [(rows[above], 1), (reference[above], -1)])],
        dropped=dropped,
    )


def _references(given: Given) -> tuple[Ints, int, int]:
    """Return a row with a positive count of each row's group, or -1; then the groups of zeros, and all."""
    reference = np.full(given.rows.size, -1, dtype=np.int64)
    groups, n_zero = members(given.column("groups").astype(np.int64)), 0
    for places in groups:
        positive = places[given.y[places] > 0]
        n_zero += not positive.size
        if positive.size:
            reference[places] = given.rows[positive[0]]
    return reference, n_zero, len(groups)


def gamma(given: Given) -> Rows:
    """Build the rows of gamma regression: x if y > 0, and minus the sum of all rows times their weights.

    This is the one model here whose answer depends on weights other than zero.
    """
    need(given.y >= 0, "A gamma response must not be negative.", given.rows)
    positive, weights = given.y > 0, given.column("weights")
    rows = given.rows[positive]
    total = given.pattern(np.array([-1]), [(given.rows[None, :], -weights[None, :])])
    return given.made([given.pattern(rows, [(rows, 1)]), total])


def inverse_gaussian(given: Given) -> Rows:
    """Build the rows of inverse Gaussian regression with an intercept: -x if y = 0, weak rows x if y > 0.

    With ``h_i = x_i b``, maximize the sum of ``exp(-h_i) - y_i exp(-2 h_i) / 2`` times positive weights.

    - If ``x_j d < 0`` for a row with y = 0, and ``x_i d >= 0`` where y > 0, it grows without bound along d.
    - Otherwise, by Farkas' lemma, each such x_j is a combination of the x_i with multipliers l >= 0; by the
      intercept, they sum to one. So ``exp(-h_j) <= sum l_i exp(-h_i)`` (Jensen), the sum is bounded, and it
      tends to -infinity if some h_i with y > 0 does. On a sequence that tends to the supremum, some of these
      h_i converge, and the others rise forever. If none rises, the supremum is attained. If some do, there is
      d with ``x_i d = 0`` for the former and ``x_i d > 0`` for the latter. Their terms tend to zero, and are
      positive where h is large: far along d, the sum would exceed its supremum.

    Adding a little of the intercept to d makes all ``x_i d`` positive, whatever the x_i span, and ``x_j d``
    stays negative. So there is no estimate if and only if some x_j can be separated from the x_i, that is, if
    it is not in their convex hull. Each different x_j is asked about in a block of coordinates of its own.
    The sum is not concave: an estimate that exists need not be unique, whatever the rank.
    """
    need(given.y >= 0, "An inverse Gaussian response must not be negative.", given.rows)
    zero, positive = given.rows[given.y == 0], given.rows[given.y > 0]
    need(bool(positive.size), "All responses are zero: the likelihood has no upper bound.")
    inner = given.data.matrix[given.rows]
    low, high = (np.asarray(dense(each)) for each in (inner.min(axis=0), inner.max(axis=0)))
    constant = given.asked.intercept or bool(((low == high) & (low != 0)).any())
    need(constant, "Of an inverse Gaussian regression, the answer is known only if there is an intercept.")
    if not zero.size:
        return given.made([], [given.pattern(positive, [(positive, 1)])])
    known: dict[tuple[tuple[int, int, int], ...], int] = {}
    rows = (tuple(row_integers(given.data.matrix, row)) for row in zero.tolist())
    own = np.array([known.setdefault(row, len(known)) for row in rows], dtype=np.int64)
    need(len(known) * positive.size < MOST_WEAK, f"Zeros make more than {MOST_WEAK:,} pairs of rows.")
    n_rows, blocks = int(given.data.matrix.shape[0]), len(known)
    about, block = np.tile(positive, blocks), np.repeat(np.arange(blocks), positive.size)
    return given.made(
        [given.pattern(zero, [(zero + n_rows * own, -1)], blocks=blocks)],
        [given.pattern(about, [(about + n_rows * block, 1)], blocks=blocks)],
        blocks=blocks,
        weak=np.unique(own, return_index=True)[1][block],
    )
