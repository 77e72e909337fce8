"""The linear systems of the proximal Newton method, by whichever factorisation is smallest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ...deadline import NEVER, Deadline
from ...loops import margins as margin_loops
from ...result import Floats
from ...rows.memory import MemoryRows
from ...rows.protocol import Rows
from ...sparse import dense
from ..effort import need_time
from ..linear_algebra import conjugate_gradients, lifted_matrix, signed_matrix

DIRECT = 2000  # the most columns for which their products are factorised, of sparse rows
DIRECT_DENSE = 5000  # the same of dense rows, whose products cost no more than some conjugate gradients
DIRECT_ROWS = 5000  # the most free rows; beyond both limits conjugate gradients take over
DIRECT_JOINT = 1000  # the same for the weights of many classes together
PRECONDITIONED = 1000  # the most columns of a class whose products are factorised for a preconditioner
INEXACT = 1e-3  # the part of a gradient that conjugate gradients leave of it
FULL = 1 / 3  # share of numbers that are not zero from which on sparse rows are multiplied as an array


def newton_step(
    rows: Rows,
    free: NDArray[np.bool_],
    sigma: float,
    ridge: Floats,
    gradient: Floats,
    unpenalised: list[int],
    deadline: Deadline = NEVER,
) -> Floats:
    """Solve ``(diag(ridge) + sigma * sum over free rows of z z^T) step = -gradient``.

    With many classes, each row adds ``x x^T`` for every direction in which its free multipliers can move
    without changing their sum. The ridge is one but for the ``unpenalised`` weights, where it may be tiny.
    Raises OutOfTime where the deadline leaves no time for the system.
    """
    need_time(deadline)
    if gradient.ndim == 2:
        return _joint_step(rows, free, sigma, ridge, gradient, unpenalised, deadline)
    members = np.flatnonzero(free)
    width, size = gradient.size, members.size
    if size == 0:
        return -gradient / ridge
    if width <= min(size, DIRECT if rows.sparse else DIRECT_DENSE):
        need_time(deadline, width**2 * (2.0 * size + width / 3.0))
        square = rows.outer_sum(members)
        square *= sigma
        square[np.diag_indices_from(square)] += ridge
        return _solve(square, -gradient)
    if size <= DIRECT_ROWS:
        need_time(deadline, size**2 * (2.0 * rows.numbers / rows.n_rows + size / 3.0))
        return _by_rows(signed_matrix(rows, members), sigma, ridge, gradient, unpenalised)
    if isinstance(rows, MemoryRows):
        return _by_iteration(signed_matrix(rows, members), sigma, ridge, gradient, deadline)
    return _by_scans(rows, free, sigma, ridge, gradient, deadline)


def _by_rows(matrix: Any, sigma: float, ridge: Floats, gradient: Floats, unpenalised: list[int]) -> Floats:
    """Woodbury: a system with one unknown for each free row, bordered by the unpenalised weights.

    Dividing by the tiny ridge of an unpenalised weight would drown the rest, so its column is eliminated.
    """
    border = dense(matrix[:, unpenalised])
    square = dense(matrix @ matrix.T)
    square -= border @ border.T
    penalised = gradient.copy()
    penalised[unpenalised] = 0.0
    pulls, shift = _bordered(
        square, matrix @ penalised, border, sigma, ridge[unpenalised], gradient[unpenalised]
    )
    step: Floats = -penalised - matrix.T @ pulls
    step[unpenalised] = shift
    return step


def _bordered(
    square: Floats, products: Floats, border: Floats, sigma: float, ridge: Floats, gradient: Floats
) -> tuple[Floats, Floats]:
    """What each free row pulls, and the shifts of the unpenalised weights; ``square`` is overwritten.

    ``products`` are those of the rows with the gradient at the penalised weights; ``gradient`` has its
    entries at the unpenalised ones.
    """
    square[np.diag_indices_from(square)] += 1.0 / sigma
    solved = _solve(square, np.column_stack([-products, border]))
    pulls, responses = solved[:, 0], solved[:, 1:]
    small = border.T @ responses + np.diag(ridge)
    wanted = -gradient - border.T @ pulls
    if not (np.isfinite(small).all() and np.isfinite(wanted).all()):
        return pulls, np.zeros(len(small))  # numbers left the range of floats: no shift is known to help
    # Equal shifts of all classes' intercepts change nothing: the least-squares step has none.
    shift: Floats = linalg.lstsq(small, wanted, check_finite=False)[0]
    return pulls + responses @ shift, shift


def _joint_step(
    rows: Rows,
    free: NDArray[np.bool_],
    sigma: float,
    ridge: Floats,
    gradient: Floats,
    unpenalised: list[int],
    deadline: Deadline,
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
        need_time(deadline, gradient.size**2 * (len(faces) + gradient.size / 3.0))
        return _joint_by_columns(matrix, faces, sigma, ridge, gradient)
    if directions <= DIRECT_ROWS:
        need_time(deadline, directions**2 * (2.0 * rows.numbers / rows.n_rows + directions / 3.0))
        return _joint_by_rows(matrix, faces, sigma, ridge, gradient, unpenalised)
    return _joint_by_iteration(matrix, faces, sigma, ridge, gradient, deadline)


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
                blocks[r, :, s, :] = dense(part.T @ (part * factors[:, None]))
    square[np.diag_indices_from(square)] += ridge.ravel()
    return _solve(square, -gradient.ravel()).reshape(gradient.shape)


def _joint_by_rows(
    matrix: Any,
    faces: NDArray[np.bool_],
    sigma: float,
    ridge: Floats,
    gradient: Floats,
    unpenalised: list[int],
) -> Floats:
    """One unknown for each direction; products of two are those of their rows times their own."""
    places, directions = _directions(faces)
    penalised = gradient.copy()
    penalised[:, unpenalised] = 0.0
    products = dense(matrix @ matrix.T) - len(unpenalised)  # an intercept's part of every product is one
    square = directions @ directions.T
    margin_loops.multiply_products(products, places, square)
    pulls, shift = _bordered(
        square,
        ((matrix @ penalised.T)[places] * directions).sum(axis=1),
        directions if unpenalised else directions[:, :0],
        sigma,
        ridge[:, unpenalised].ravel(),
        gradient[:, unpenalised].ravel(),
    )
    factors = np.zeros(faces.shape)
    np.add.at(factors, places, pulls[:, None] * directions)
    step: Floats = -penalised - (matrix.T @ factors).T
    if unpenalised:
        step[:, unpenalised] = shift[:, None]
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
    matrix: Any,
    faces: NDArray[np.bool_],
    sigma: float,
    ridge: Floats,
    gradient: Floats,
    deadline: Deadline,
) -> Floats:
    """Conjugate gradients, preconditioned by the systems of the single classes."""
    classes, width = gradient.shape
    need_time(deadline, classes * min(width, PRECONDITIONED) ** 2 * (2.0 * len(faces) + width / 3.0))
    counts = faces.sum(axis=1, keepdims=True)
    transposed = matrix.T.tocsr() if sparse.issparse(matrix) else matrix.T

    def image(step: Floats) -> Floats:
        moves = np.where(faces, matrix @ step.T, 0.0)
        moves -= np.where(faces, moves.sum(axis=1, keepdims=True) / counts, 0.0)
        result: Floats = ridge * step + sigma * (transposed @ moves).T
        return result

    inverse = _single_classes(matrix, faces, sigma * (1.0 - 1.0 / counts), ridge)
    goal = INEXACT * float(np.linalg.norm(gradient))
    return conjugate_gradients(image, inverse, gradient, goal=goal, deadline=deadline)[0]


def _solve(square: Floats, right: Floats) -> Floats:
    """Solve a positive definite system of which the lower triangle is given."""
    _, solution, problem = linalg.lapack.dposv(square.T, right, lower=0)  # LAPACK's order of memory
    if problem:  # rounding made a tiny pivot negative
        whole = np.tril(square) + np.tril(square, -1).T
        solution = linalg.lstsq(whole, right, check_finite=False)[0]
    return np.asarray(solution)


def _by_iteration(matrix: Any, sigma: float, ridge: Floats, gradient: Floats, deadline: Deadline) -> Floats:
    """Conjugate gradients, preconditioned by the diagonal."""
    diagonal = ridge + sigma * _column_squares(matrix)
    transposed = matrix.T.tocsr() if sparse.issparse(matrix) else matrix.T
    return conjugate_gradients(
        lambda step: ridge * step + sigma * (transposed @ (matrix @ step)),
        lambda residual: residual / diagonal,
        gradient,
        goal=INEXACT * float(np.linalg.norm(gradient)),
        deadline=deadline,
    )[0]


def _by_scans(
    rows: Rows,
    free: NDArray[np.bool_],
    sigma: float,
    ridge: Floats,
    gradient: Floats,
    deadline: Deadline,
) -> Floats:
    """Conjugate gradients on free rows too many to copy: each product scores all rows and combines them.

    The diagonal is not known there; its mean, from the rows' norms, stands in for it.
    """
    diagonal = ridge + sigma * float(rows.squared_norms[free].sum()) / gradient.size
    return conjugate_gradients(
        lambda step: ridge * step + sigma * rows.combination(np.where(free, rows.scores(step), 0.0)),
        lambda residual: residual / diagonal,
        gradient,
        goal=INEXACT * float(np.linalg.norm(gradient)),
        deadline=deadline,
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
        square = dense(part.T @ (part * factors[each])) if each.size else np.zeros((own.size, own.size))
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
