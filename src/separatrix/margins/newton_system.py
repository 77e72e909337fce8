"""The linear systems of the proximal Newton method, by whichever factorisation is smallest."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from threadpoolctl import ThreadpoolController

from ..loops import margins as margin_loops
from ..loops import rows as row_loops
from ..result import Floats
from ..rows.memory import MemoryRows

DIRECT = 2000  # the most columns for which their products are factorised
DIRECT_ROWS = 5000  # the most free rows; beyond both limits conjugate gradients take over
DIRECT_JOINT = 1000  # the same for the weights of many classes together
PRECONDITIONED = 1000  # the most columns of a class whose products are factorised for a preconditioner
ONE_THREAD = 500  # columns up to which BLAS is kept to one thread
INEXACT = 1e-3  # the part of a gradient that conjugate gradients leave of it
GATHER = 1 << 22  # numbers gathered at a time for a product
FULL = 1 / 3  # share of numbers that are not zero from which on sparse rows are multiplied as an array


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


def calm_threads(size: int, limit: int = ONE_THREAD) -> AbstractContextManager[Any]:
    """One BLAS thread where systems are small: waking more costs many times what they save."""
    if size > limit:
        return nullcontext()
    calm: AbstractContextManager[Any] = _libraries().limit(limits=1, user_api="blas")
    return calm


def signed_matrix(rows: MemoryRows, members: NDArray[Any]) -> Any:
    """The signed lifted rows of ``members`` as a matrix of its own: an array, or CSR where X is."""
    part = rows.take(members).storage
    signs = 2.0 * part.labels - 1.0
    if isinstance(part, row_loops.DenseRows):
        matrix = np.empty((members.size, rows.n_columns + rows.lifted))
        np.multiply(part.values, signs[:, None], out=matrix[:, : rows.n_columns])
        if rows.lifted:
            matrix[:, -1] = signs
        return matrix
    scaled = part.data * np.repeat(signs, np.diff(part.indptr))
    plain = sparse.csr_array((scaled, part.indices, part.indptr), shape=(members.size, rows.n_columns))
    return sparse.hstack([plain, signs[:, None]], format="csr") if rows.lifted else plain


def newton_step(
    rows: MemoryRows,
    free: NDArray[np.bool_],
    sigma: float,
    ridge: Floats,
    gradient: Floats,
    loose: list[int],
) -> Floats:
    """Solve ``(diag(ridge) + sigma * sum over free rows of z z^T) step = -gradient``.

    With many classes, each row adds ``x x^T`` for every direction in which its free multipliers can move
    without changing their sum. The ridge is one but for the ``loose`` weights, where it may be tiny.
    """
    if gradient.ndim == 2:
        return _joint_step(rows, free, sigma, ridge, gradient, loose)
    members = np.flatnonzero(free)
    width = gradient.size
    if members.size == 0:
        return -gradient / ridge
    if width <= DIRECT and width <= members.size:
        return _by_columns(rows, members, sigma, ridge, gradient)
    if members.size <= DIRECT_ROWS:
        return _by_rows(signed_matrix(rows, members), sigma, ridge, gradient, loose)
    return _by_iteration(signed_matrix(rows, members), sigma, ridge, gradient)


def _by_columns(
    rows: MemoryRows, members: NDArray[Any], sigma: float, ridge: Floats, gradient: Floats
) -> Floats:
    square = np.zeros((gradient.size, gradient.size))
    if isinstance(rows.storage, row_loops.DenseRows):
        size = max(1, GATHER // gradient.size)
        for start in range(0, members.size, size):
            block = rows.storage.values[members[start : start + size]].astype(np.float64, copy=False)
            square[: rows.n_columns, : rows.n_columns] += block.T @ block
            if rows.lifted:
                square[-1, :-1] += block.sum(axis=0)
        if rows.lifted:
            square[-1, -1] = members.size
    else:
        margin_loops.outer_sum(rows.storage, members, square)
    square *= sigma
    square[np.diag_indices_from(square)] += ridge
    return _solve(square, -gradient)


def _by_rows(matrix: Any, sigma: float, ridge: Floats, gradient: Floats, loose: list[int]) -> Floats:
    """Woodbury: a system with one unknown for each free row, bordered by the loose weights.

    Dividing by the tiny ridge of a loose weight would drown the rest, so its column is eliminated.
    """
    border = _dense(matrix[:, loose])
    square = _dense(matrix @ matrix.T)
    square -= border @ border.T
    tight = gradient.copy()
    tight[loose] = 0.0
    pulls, shift = _bordered(square, matrix @ tight, border, sigma, ridge[loose], gradient[loose])
    step: Floats = -tight - matrix.T @ pulls
    step[loose] = shift
    return step


def _bordered(
    square: Floats, tight: Floats, border: Floats, sigma: float, ridge: Floats, loose: Floats
) -> tuple[Floats, Floats]:
    """What each free row pulls, and the shifts of the loose weights; ``square`` is overwritten.

    ``tight`` are the gradient's products with the rows, ``loose`` its entries at the loose weights.
    """
    square[np.diag_indices_from(square)] += 1.0 / sigma
    solved = _solve(square, np.column_stack([-tight, border]))
    pulls, responses = solved[:, 0], solved[:, 1:]
    small = border.T @ responses + np.diag(ridge)
    # Equal shifts of all classes' intercepts change nothing: the least-squares step has none.
    shift: Floats = linalg.lstsq(small, -loose - border.T @ pulls, check_finite=False)[0]
    return pulls + responses @ shift, shift


def _joint_step(
    rows: MemoryRows,
    free: NDArray[np.bool_],
    sigma: float,
    ridge: Floats,
    gradient: Floats,
    loose: list[int],
) -> Floats:
    moving = free.sum(axis=1) >= 2
    members, faces = np.flatnonzero(moving), free[moving]
    if members.size == 0:
        return -gradient / ridge
    matrix = lifted_matrix(rows, members)
    if sparse.issparse(matrix) and matrix.nnz > FULL * matrix.shape[0] * matrix.shape[1]:
        matrix = matrix.toarray()
    directions = int(faces.sum()) - members.size
    if gradient.size <= DIRECT_JOINT and gradient.size <= directions:
        return _joint_by_columns(matrix, faces, sigma, ridge, gradient)
    if directions <= DIRECT_ROWS:
        return _joint_by_rows(matrix, faces, sigma, ridge, gradient, loose)
    return _joint_by_iteration(matrix, faces, sigma, ridge, gradient)


def lifted_matrix(rows: MemoryRows, members: NDArray[Any]) -> Any:
    """The lifted rows of ``members``, unsigned: an array, or CSR where X is."""
    ones = np.ones_like(rows.labels)
    return signed_matrix(replace(rows, storage=rows.storage._replace(labels=ones)), members)


def _joint_by_columns(
    matrix: Any, faces: NDArray[np.bool_], sigma: float, ridge: Floats, gradient: Floats
) -> Floats:
    classes, width = gradient.shape
    square = np.zeros((gradient.size, gradient.size))
    blocks = square.reshape(classes, width, classes, width)
    shares = sigma / faces.sum(axis=1)
    for r in range(classes):
        for s in range(r + 1):
            both = np.flatnonzero(faces[:, r] & faces[:, s])
            if both.size:
                part = matrix[both]
                factors = (sigma if r == s else 0.0) - shares[both]
                blocks[r, :, s, :] = _dense(part.T @ (part * factors[:, None]))
    square[np.diag_indices_from(square)] += ridge.ravel()
    return _solve(square, -gradient.ravel()).reshape(gradient.shape)


def _joint_by_rows(
    matrix: Any, faces: NDArray[np.bool_], sigma: float, ridge: Floats, gradient: Floats, loose: list[int]
) -> Floats:
    """One unknown for each direction; products of two are those of their rows times their own."""
    places, directions = _directions(faces)
    tight = gradient.copy()
    tight[:, loose] = 0.0
    products = _dense(matrix @ matrix.T) - len(loose)  # a loose intercept's products are ones
    square = directions @ directions.T
    margin_loops.multiply_products(products, places, square)
    pulls, shift = _bordered(
        square,
        ((matrix @ tight.T)[places] * directions).sum(axis=1),
        directions if loose else directions[:, :0],
        sigma,
        ridge[:, loose].ravel(),
        gradient[:, loose].ravel(),
    )
    factors = np.zeros(faces.shape)
    np.add.at(factors, places, pulls[:, None] * directions)
    step: Floats = -tight - (matrix.T @ factors).T
    if loose:
        step[:, loose] = shift[:, None]
    return step


def _directions(faces: NDArray[np.bool_]) -> tuple[NDArray[Any], Floats]:
    """Orthonormal directions within each face whose entries sum to zero (Helmert), with their rows."""
    ranks = faces.cumsum(axis=1)
    places, columns = np.nonzero(faces & (ranks >= 2))
    order = ranks[places, columns]
    directions = (faces[places] & (ranks[places] < order[:, None])).astype(np.float64)
    directions[np.arange(places.size), columns] = 1.0 - order
    return places, directions / np.sqrt(order * (order - 1.0))[:, None]


def _joint_by_iteration(
    matrix: Any, faces: NDArray[np.bool_], sigma: float, ridge: Floats, gradient: Floats
) -> Floats:
    """Conjugate gradients, preconditioned by the systems of the single classes."""
    counts = faces.sum(axis=1, keepdims=True)
    transposed = matrix.T.tocsr() if sparse.issparse(matrix) else matrix.T

    def image(step: Floats) -> Floats:
        moves = np.where(faces, matrix @ step.T, 0.0)
        moves -= np.where(faces, moves.sum(axis=1, keepdims=True) / counts, 0.0)
        result: Floats = ridge * step + sigma * (transposed @ moves).T
        return result

    inverse = _single_classes(matrix, faces, sigma * (1.0 - 1.0 / counts), ridge)
    goal = INEXACT * float(np.linalg.norm(gradient))
    return conjugate_gradients(image, inverse, gradient, goal=goal)[0]


def _solve(square: Floats, right: Floats) -> Floats:
    """Solve a positive definite system of which the lower triangle is given."""
    _, solution, problem = linalg.lapack.dposv(square.T, right, lower=0)  # LAPACK's order of memory
    if problem:  # rounding made a tiny pivot negative
        whole = np.tril(square) + np.tril(square, -1).T
        solution = linalg.lstsq(whole, right, check_finite=False)[0]
    return np.asarray(solution)


def _by_iteration(matrix: Any, sigma: float, ridge: Floats, gradient: Floats) -> Floats:
    """Conjugate gradients, preconditioned by the diagonal."""
    diagonal = ridge + sigma * _column_squares(matrix)
    transposed = matrix.T.tocsr() if sparse.issparse(matrix) else matrix.T
    return conjugate_gradients(
        lambda step: ridge * step + sigma * (transposed @ (matrix @ step)),
        lambda residual: residual / diagonal,
        gradient,
        goal=INEXACT * float(np.linalg.norm(gradient)),
    )[0]


def _single_classes(
    matrix: Any, faces: NDArray[np.bool_], factors: Floats, ridge: Floats
) -> Callable[[Floats], Floats]:
    """Solve with each class's part of the system, or with its diagonal where columns are many."""
    parts = [np.flatnonzero(face) for face in faces.T]
    if ridge.shape[1] > PRECONDITIONED:
        squares = [_column_squares(matrix[each], factors[each]) for each in parts]
        diagonal = ridge + np.array(squares)
        return lambda residual: residual / diagonal
    solvers = []
    for each, own in zip(parts, ridge, strict=True):
        part = matrix[each]
        square = _dense(part.T @ (part * factors[each])) if each.size else np.zeros((own.size, own.size))
        square[np.diag_indices_from(square)] += own
        solvers.append(linalg.cho_factor(square, lower=True, overwrite_a=True, check_finite=False))
    return lambda residual: np.array(
        [
            linalg.cho_solve(solver, each, check_finite=False)
            for solver, each in zip(solvers, residual, strict=True)
        ]
    )


def _column_squares(matrix: Any, factors: Floats | float = 1.0) -> Floats:
    squares = matrix.multiply(matrix).multiply(factors) if sparse.issparse(matrix) else matrix**2 * factors
    return np.asarray(squares.sum(axis=0)).ravel()


def _dense(matrix: Any) -> Floats:
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix)


def conjugate_gradients(
    image: Callable[[Floats], Floats],
    inverse: Callable[[Floats], Floats],
    gradient: Floats,
    *,
    goal: float,
    most: int = 500,
) -> tuple[Floats, int]:
    """Solve ``image(step) = -gradient`` until the residual's norm is at most the goal.

    ``inverse`` preconditions. Returns the step, and how many products it took, ``most`` at the utmost.
    """
    step = np.zeros_like(gradient)
    residual = -gradient
    direction = inverse(residual)
    energy = float(np.vdot(residual, direction))
    for taken in range(most):
        if float(np.linalg.norm(residual)) <= goal:
            return step, taken
        along = image(direction)
        length = energy / float(np.vdot(direction, along))
        step += length * direction
        residual = residual - length * along
        scaled = inverse(residual)
        fresh = float(np.vdot(residual, scaled))
        direction = scaled + (fresh / energy) * direction
        energy = fresh
    return step, most
