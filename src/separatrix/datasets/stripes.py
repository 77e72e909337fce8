"""Rows that need a given degree, or a given number of units: stripes of alternating classes."""

from __future__ import annotations

import math

import numpy as np

from ..errors import InputError
from .conditions import Seed, check_count
from .problems import Problem

__all__ = ["make_stripes"]


def make_stripes(
    n_rows: int = 60,
    n_columns: int = 2,
    *,
    degree: int = 3,
    gap: float = 0.2,
    random_state: Seed = None,
) -> Problem:
    """Fill ``degree + 1`` parallel stripes with alternating classes.

    The polynomial ``(x_1 - 1) (x_1 - 2) ... (x_1 - degree)`` separates the classes, and no polynomial of a
    lower degree does. Also, ``degree`` half-spaces ``x_1 <= k`` separate them as a decision list, or as the
    hidden units of a network with one hidden layer of threshold units, and no network with fewer such units
    does.

    Parameters
    ----------
    n_rows : int
        At least ``degree + 1``: one row of each stripe lies on a common line.
    n_columns : int
    degree : int
        The number of borders between stripes, at least 2.
    gap : float
        The gap between neighboring stripes; the distance between borders is 1. From 0 to below 1.
    random_state : int, numpy Generator or None

    Returns
    -------
    Problem
        With ``degree`` and ``units``. The witnesses are the rows ``(k + 1/2, 0, ..., 0)`` with binomial
        coefficients as multipliers.

    Notes
    -----
    *Degree.* Along the line of the witnesses, a polynomial of degree d has at most d changes of sign, and the
    labels change ``degree`` times. The multipliers are a proof: the sum of ``multiplier * y * p(x)`` over the
    witnesses is a difference of order ``degree``, up to its sign, which is zero for every polynomial p of a
    lower degree.

    *Units.* The outputs of k threshold units change at most k times along a line, and so does every function
    of them.

    Examples
    --------
    >>> import separatrix as sx
    >>> problem = sx.datasets.make_stripes(30, degree=4, random_state=0)
    >>> sx.smallest_separating_degree(problem.X, problem.y).degree
    4
    """
    check_count("degree", degree, 2, "one border is a hyperplane; use make_separable")
    check_count("n_columns", n_columns, 1, "stripes need at least one dimension")
    check_count("n_rows", n_rows, degree + 1, "one row of each stripe on a common line")
    if not 0.0 <= gap < 1.0:
        raise InputError(f"gap is {gap:g}; it is a share of the distance between borders. Give 0 to below 1.")
    rng = np.random.default_rng(random_state)
    stripe = rng.permutation(np.arange(n_rows) % (degree + 1))
    # The second factor keeps rows off the borders even without a gap.
    inside = gap / 2.0 + (1.0 - gap) * rng.uniform(2.0**-20, 1.0 - 2.0**-20, n_rows)
    X = np.column_stack(
        [stripe + inside, rng.uniform(-1.0, 1.0, (n_rows, n_columns - 1)) * (degree + 1) / 2.0]
    )
    witnesses = np.array([rng.choice(np.flatnonzero(stripe == k)) for k in range(degree + 1)])
    X[witnesses] = 0.0
    X[witnesses, 0] = np.arange(degree + 1) + 0.5
    multipliers = np.array([math.comb(degree, k) for k in range(degree + 1)], dtype=np.int64)
    return Problem(
        X,
        np.where(stripe % 2, -1, 1).astype(np.int64),
        witness_rows=witnesses,
        witness_weights=multipliers,
        degree=int(degree),
        units=int(degree),
    )
