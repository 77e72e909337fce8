"""The linear systems of the proximal Newton method, by whichever factorisation is smallest."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from threadpoolctl import ThreadpoolController

from .. import loops, loops_margin
from ..result import Floats
from ..rows.memory import Rows

DIRECT = 2000  # the most columns for which their products are factorised
DIRECT_ROWS = 5000  # the most free rows; beyond both limits conjugate gradients take over
ONE_THREAD = 500  # columns up to which BLAS is kept to one thread
GATHER = 1 << 22  # numbers gathered at a time for a product


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


def calm_threads(width: int) -> AbstractContextManager[Any]:
    """One BLAS thread where systems are small: waking more costs many times what they save."""
    if width > ONE_THREAD:
        return nullcontext()
    limit: AbstractContextManager[Any] = _libraries().limit(limits=1, user_api="blas")
    return limit


def signed_matrix(rows: Rows, members: NDArray[Any]) -> Any:
    """The signed lifted rows of ``members`` as a matrix of its own: an array, or CSR where X is."""
    part = rows.take(members).storage
    signs = 2.0 * part.labels - 1.0
    if isinstance(part, loops.DenseRows):
        matrix = np.empty((members.size, rows.n_columns + rows.lifted))
        np.multiply(part.values, signs[:, None], out=matrix[:, : rows.n_columns])
        if rows.lifted:
            matrix[:, -1] = signs
        return matrix
    scaled = part.data * np.repeat(signs, np.diff(part.indptr))
    plain = sparse.csr_array((scaled, part.indices, part.indptr), shape=(members.size, rows.n_columns))
    return sparse.hstack([plain, signs[:, None]], format="csr") if rows.lifted else plain


def newton_step(
    rows: Rows,
    free: NDArray[np.bool_],
    sigma: float,
    ridge: Floats,
    gradient: Floats,
    loose: list[int],
) -> Floats:
    """Solve ``(diag(ridge) + sigma * sum over free rows of z z^T) step = -gradient``.

    The ridge is one but for the ``loose`` weights, where it may be tiny.
    """
    members = np.flatnonzero(free)
    width = gradient.size
    if members.size == 0:
        return -gradient / ridge
    if width <= DIRECT and width <= members.size:
        return _by_columns(rows, members, sigma, ridge, gradient)
    if members.size <= DIRECT_ROWS:
        return _by_rows(signed_matrix(rows, members), sigma, ridge, gradient, loose)
    return _by_iteration(signed_matrix(rows, members), sigma, ridge, gradient)


def _by_columns(rows: Rows, members: NDArray[Any], sigma: float, ridge: Floats, gradient: Floats) -> Floats:
    square = np.zeros((gradient.size, gradient.size))
    if isinstance(rows.storage, loops.DenseRows):
        size = max(1, GATHER // gradient.size)
        for start in range(0, members.size, size):
            block = rows.storage.values[members[start : start + size]].astype(np.float64, copy=False)
            square[: rows.n_columns, : rows.n_columns] += block.T @ block
            if rows.lifted:
                square[-1, :-1] += block.sum(axis=0)
        if rows.lifted:
            square[-1, -1] = members.size
    else:
        loops_margin.outer_sum(rows.storage, members, square)
    square *= sigma
    square[np.diag_indices_from(square)] += ridge
    return _solve(square, -gradient)


def _by_rows(matrix: Any, sigma: float, ridge: Floats, gradient: Floats, loose: list[int]) -> Floats:
    """Woodbury: a system with one unknown for each free row, bordered by the loose weights.

    Dividing by the tiny ridge of a loose weight would drown the rest, so its column is eliminated.
    """
    border = matrix[:, loose] if isinstance(matrix, np.ndarray) else matrix[:, loose].toarray()
    square = matrix @ matrix.T
    square = square if isinstance(square, np.ndarray) else square.toarray()
    square -= border @ border.T
    square[np.diag_indices_from(square)] += 1.0 / sigma
    tight = gradient.copy()
    tight[loose] = 0.0
    solved = _solve(square, np.column_stack([-(matrix @ tight), border]))
    pulls, responses = solved[:, 0], solved[:, 1:]
    shift = np.zeros(len(loose))
    if loose:
        small = border.T @ responses + np.diag(ridge[loose])
        pull = -gradient[loose] - border.T @ pulls
        # Equal shifts of all classes' intercepts change nothing: the least-squares step has none.
        shift = pull / small[0] if len(loose) == 1 else linalg.lstsq(small, pull, check_finite=False)[0]
    step: Floats = -tight - matrix.T @ (pulls + responses @ shift)
    step[loose] = shift
    return step


def _solve(square: Floats, right: Floats) -> Floats:
    """Solve a positive definite system of which the lower triangle is given."""
    _, solution, problem = linalg.lapack.dposv(square, right, lower=1)
    if problem:  # rounding made a tiny pivot negative
        whole = np.tril(square) + np.tril(square, -1).T
        solution = linalg.lstsq(whole, right, check_finite=False)[0]
    return np.asarray(solution)


def _by_iteration(matrix: Any, sigma: float, ridge: Floats, gradient: Floats) -> Floats:
    """Conjugate gradients, preconditioned by the diagonal, to a tenth of the gradient's size or better."""
    squares = matrix.multiply(matrix).sum(axis=0) if sparse.issparse(matrix) else (matrix**2).sum(axis=0)
    diagonal = ridge + sigma * np.asarray(squares).ravel()
    transposed = matrix.T.tocsr() if sparse.issparse(matrix) else matrix.T
    step = np.zeros_like(gradient)
    residual = -gradient
    goal = 1e-3 * float(np.linalg.norm(gradient))
    direction = residual / diagonal
    energy = float(residual @ direction)
    for _ in range(500):
        image = ridge * direction + sigma * (transposed @ (matrix @ direction))
        length = energy / float(direction @ image)
        step += length * direction
        residual = residual - length * image
        if float(np.linalg.norm(residual)) <= goal:
            break
        scaled = residual / diagonal
        fresh = float(residual @ scaled)
        direction = scaled + (fresh / energy) * direction
        energy = fresh
    return step
