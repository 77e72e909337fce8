"""The linear systems of the proximal Newton method, by whichever factorisation is smallest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ...deadline import NEVER, Deadline
from ...loops import margins as margin_loops
from ...result import Floats
from ...rows.protocol import Rows
from ...sparse import dense
from ..effort import need_time
from ..linear_algebra import conjugate_gradients, lifted_matrix, signed_matrix

DIRECT = 5000  # unknowns of the largest system that is factorised; beyond, conjugate gradients take over
INEXACT = 1e-3  # the part of a gradient that conjugate gradients leave of it


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
    if width <= min(size, DIRECT):
        need_time(deadline, width**2 * (2.0 * size + width / 3.0))
        square = rows.outer_sum(members)
        square *= sigma
        square[np.diag_indices_from(square)] += ridge
        return _solve(square, -gradient)
    if size <= DIRECT:
        need_time(deadline, size**2 * (2.0 * rows.numbers / rows.n_rows + size / 3.0))
        return _by_rows(signed_matrix(rows, members), sigma, ridge, gradient, unpenalised)
    return _by_iteration(rows, free, sigma, ridge, gradient, deadline)


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
    directions = int(faces.sum()) - members.size
    if directions <= DIRECT:
        need_time(deadline, directions**2 * (2.0 * rows.numbers / rows.n_rows + directions / 3.0))
        return _joint_by_rows(matrix, faces, sigma, ridge, gradient, unpenalised)
    return _joint_by_iteration(matrix, faces, sigma, ridge, gradient, deadline)


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
    """Conjugate gradients, preconditioned by the diagonal."""
    counts = faces.sum(axis=1, keepdims=True)
    transposed = matrix.T.tocsr() if sparse.issparse(matrix) else matrix.T

    def image(step: Floats) -> Floats:
        moves = np.where(faces, matrix @ step.T, 0.0)
        moves -= np.where(faces, moves.sum(axis=1, keepdims=True) / counts, 0.0)
        result: Floats = ridge * step + sigma * (transposed @ moves).T
        return result

    squares = matrix.multiply(matrix).T if sparse.issparse(matrix) else (matrix**2).T
    diagonal = ridge + dense(squares @ np.where(faces, sigma * (1.0 - 1.0 / counts), 0.0)).T
    goal = INEXACT * float(np.linalg.norm(gradient))
    return conjugate_gradients(
        image, lambda residual: residual / diagonal, gradient, goal=goal, deadline=deadline
    )


def _solve(square: Floats, right: Floats) -> Floats:
    """Solve a positive definite system of which the lower triangle is given."""
    _, solution, problem = linalg.lapack.dposv(square.T, right, lower=0)  # LAPACK's order of memory
    if problem:  # rounding made a tiny pivot negative
        whole = np.tril(square) + np.tril(square, -1).T
        solution = linalg.lstsq(whole, right, check_finite=False)[0]
    return np.asarray(solution)


def _by_iteration(
    rows: Rows,
    free: NDArray[np.bool_],
    sigma: float,
    ridge: Floats,
    gradient: Floats,
    deadline: Deadline,
) -> Floats:
    """Conjugate gradients on free rows too many to copy: each product scores all rows and combines them.

    They are preconditioned by the mean of the diagonal, which the norms of the rows give.
    """
    diagonal = ridge + sigma * float(rows.squared_norms[free].sum()) / gradient.size
    return conjugate_gradients(
        lambda step: ridge * step + sigma * rows.combination(np.where(free, rows.scores(step), 0.0)),
        lambda residual: residual / diagonal,
        gradient,
        goal=INEXACT * float(np.linalg.norm(gradient)),
        deadline=deadline,
    )
