"""Multipliers of a combination that nearly vanishes, made to fit: some rows go, the others are corrected.

An interior-point method tells rows with positive multipliers from those without, as far as floats do. A row
too many spoils every proof, as no correction of the others gives it a positive multiplier. Two tests find
such rows: a column of one sign among the rows (`leftover`), and the smallest correction after which the
combination vanishes, if it takes all that a row has. Nothing here is trusted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy  # loads linalg when it is used: small questions do without it
from numpy.typing import NDArray

from ...deadline import Deadline
from ...sparse import sparse
from .sparse_elimination import left_over

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ROUNDS = 20
SPENT = 1.0 - 1e-6  # part of its multiplier that a row loses if it can have none
FITTING = 1e-9  # part by which multipliers change that need no further correction
RANK = 1e-12  # of the largest pivot, below which a column depends on others
SHARE = 0.1  # of the time left that a correction may take
OPERATIONS_A_SECOND = 5e9  # of a QR factorisation with pivoting


def polished(rows: Any, values: Floats, deadline: Deadline) -> tuple[Ints, Floats] | None:
    """The places of rows that may have positive multipliers, and these, corrected.

    Parameters
    ----------
    rows : CSR matrix
        Signed, with their intercept.
    values : ndarray of shape (rows,)
        Positive multipliers of a combination that nearly vanishes.
    deadline : Deadline
        When to give up: OutOfTime is raised.

    Returns
    -------
    tuple, or None where no rows are left, the corrections do not end, or there is no time for one.
    """
    rows = sparse.csr_array(rows)
    places: Ints = np.arange(rows.shape[0])
    for _ in range(ROUNDS):
        places = places[left_over(rows[places], deadline).places]
        if not places.size:
            return None
        change = _relative_change(rows[places], values[places], deadline)
        if change is None:
            return None
        spent = change > SPENT
        if spent.any():
            places = places[~spent]
            continue
        values = values.copy()
        values[places] *= 1.0 - change
        if np.abs(change).max() < FITTING:
            return places, values[places]
    return None


def _relative_change(rows: Any, values: Floats, deadline: Deadline) -> Floats | None:
    """The parts, least in squares, by which multipliers shrink such that the combination vanishes."""
    weighed = sparse.csr_array(sparse.diags_array(values) @ rows)
    weighed.eliminate_zeros()
    live = np.flatnonzero(np.bincount(weighed.indices, minlength=1))
    n, p = rows.shape[0], live.size
    if not p:
        return np.zeros(n)
    if 2.0 * n * p * min(n, p) / OPERATIONS_A_SECOND > SHARE * deadline.left:
        return None
    dense = weighed[:, live].toarray()
    dense /= np.abs(dense).max(axis=0)
    q, r, order = scipy.linalg.qr(dense, mode="economic", pivoting=True, check_finite=False)
    sizes = np.abs(r.diagonal())
    rank = int((sizes > RANK * sizes[0]).sum())
    residual = dense.sum(axis=0)[order[:rank]]  # the multipliers are in the rows
    found = q[:, :rank] @ scipy.linalg.solve_triangular(r[:rank, :rank], residual, trans="T")
    return np.asarray(found) if np.isfinite(found).all() else None
