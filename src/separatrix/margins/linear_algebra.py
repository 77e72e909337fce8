"""Linear algebra that the margin solvers share: rows as matrices, scores, conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..deadline import NEVER, Deadline
from ..loops.layouts import DenseRows
from ..result import Floats, Ints
from ..rows.class_leads import leads
from ..rows.memory import MemoryRows
from ..rows.protocol import Rows
from ..sparse import sparse
from .effort import need_time


def signed_matrix(rows: Rows, members: Ints) -> Any:
    """The signed lifted rows of ``members``, copied into memory: an array, or CSR where X is."""
    part = rows.take(members)
    return _times(part, 2.0 * part.labels - 1.0)


def lifted_matrix(rows: Rows, members: Ints) -> Any:
    """The lifted rows of ``members``, unsigned, copied into memory: an array, or CSR where X is."""
    return _times(rows.take(members), np.ones(members.size))


def _times(rows: MemoryRows, factors: Floats) -> Any:
    part = rows.storage
    if isinstance(part, DenseRows):
        matrix = np.empty((rows.n_rows, rows.n_columns + rows.lifted))
        np.multiply(part.values, factors[:, None], out=matrix[:, : rows.n_columns])
        if rows.lifted:
            matrix[:, -1] = factors
        return matrix
    scaled = part.data * np.repeat(factors, np.diff(part.indptr))
    plain = sparse.csr_array((scaled, part.indices, part.indptr), shape=(rows.n_rows, rows.n_columns))
    return sparse.hstack([plain, factors[:, None]], format="csr") if rows.lifted else plain


def all_scores(rows: Rows, weights: Floats) -> Floats:
    """<w, z_i> for every row; with many classes the outputs of all of them."""
    if weights.ndim == 1:
        return rows.scores(weights)
    values = getattr(rows.storage, "values", None) if isinstance(rows, MemoryRows) else None
    if values is None or values.dtype != np.float64:
        return rows.outputs(weights)
    outputs: Floats = values @ weights[:, : rows.n_columns].T
    return outputs + weights[:, -1] if rows.lifted else outputs


def row_scores(rows: Rows, weights: Floats) -> Floats:
    """The score of every row: signed, or that of its class less the best other."""
    scores = all_scores(rows, weights)
    return scores if weights.ndim == 1 else leads(scores, rows.labels)


def conjugate_gradients(
    image: Callable[[Floats], Floats],
    inverse: Callable[[Floats], Floats],
    gradient: Floats,
    *,
    goal: float,
    most: int = 500,
    deadline: Deadline = NEVER,
) -> Floats:
    """Solve ``image(step) = -gradient`` until the residual's norm is at most the goal.

    ``inverse`` preconditions. A step that took as many as ``most`` products may miss the goal. Raises
    OutOfTime at the deadline.
    """
    step = np.zeros_like(gradient)
    residual = -gradient
    direction = inverse(residual)
    energy = float(np.vdot(residual, direction))
    for _ in range(most):
        if float(np.linalg.norm(residual)) <= goal:
            break
        need_time(deadline)
        along = image(direction)
        length = energy / float(np.vdot(direction, along))
        step += length * direction
        residual = residual - length * along
        scaled = inverse(residual)
        fresh = float(np.vdot(residual, scaled))
        direction = scaled + (fresh / energy) * direction
        energy = fresh
    return step
