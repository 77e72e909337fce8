"""The rows of regressions on counts and amounts, with log link."""

from __future__ import annotations

import numpy as np

from ..monomials import Ints
from .regression import Given, Rows, members, need


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
    else:
        need(not zero.all(), "All counts are zero: the likelihood has no finite maximum.")
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
