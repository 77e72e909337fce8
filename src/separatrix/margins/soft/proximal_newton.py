"""Hinge losses by proximal steps on the multipliers, each solved by Newton's method.

The multipliers ``a`` of the losses ``cap_i * max(0, 1 - <w, z_i>)`` are moved by the proximal point method.
Given a center, the best ``w`` satisfies ``w = sum_i a_i z_i`` with
``a_i = clip(center_i + sigma * (1 - <w, z_i>), 0, cap_i)``. That is a smooth, piecewise quadratic problem in
``w`` alone, so Newton's method solves it with a few systems in the *free* rows (those that are not clipped).
The proximal point method itself ends after finitely many steps in exact arithmetic, because the problem is
polyhedral in ``a``. Infinite caps give the hard margin.

With more than two classes (Crammer and Singer) a row has one multiplier per class. The clipping becomes a
projection onto a simplex, and the free classes of a row replace the free rows.

References
----------
Y. Yan and Q. Li, "An efficient augmented Lagrangian method for support vector machine",
Optimization Methods and Software 35 (2020); R. T. Rockafellar, "Augmented Lagrangians and
applications of the proximal point algorithm in convex programming", Mathematics of Operations
Research 1 (1976).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ...deadline import NEVER, Deadline
from ...loops import margins as margin_loops
from ...result import Floats
from ...rows.memory import as_rows
from ...rows.protocol import Rows
from ...sparse import dense
from ..pairs import all_scores, lifted_matrix

DIRECT = 5000  # larger systems are not factorized but solved by conjugate gradients
ITERATIONS = 60_000  # a system is factorized if its size cubed is at most this times the numbers of its rows


class ProximalNewton:
    """The state of the method: weights, scores, multipliers; ``advance`` makes one proximal step.

    Parameters
    ----------
    rows : Rows
        In memory, if there are more than two classes.
    caps : ndarray of shape (rows,)
        The largest multiplier of each row: infinite for a hard margin of two classes, zero to ignore a row.
    sigma : float
        The first step length of the proximal method.
    unpenalized : sequence of int
        The weights (of each class) that are left out of the norm: free intercepts. Each is only kept near its
        last value.
    weights, multipliers : ndarray, optional
        Where to start.
    scores : ndarray of shape (rows,), optional
        The scores of the first weights, if they are known.
    deadline : Deadline
        When to raise OutOfTime; the state is then that of the last proximal step.
    """

    def __init__(
        self,
        rows: Rows,
        caps: Floats,
        *,
        sigma: float,
        unpenalized: Sequence[int] = (),
        weights: Floats | None = None,
        multipliers: Floats | None = None,
        scores: Floats | None = None,
        deadline: Deadline = NEVER,
    ) -> None:
        shape = (rows.n_rows, *rows.weights_shape[:-1])
        self.rows = rows
        self.caps = caps
        self.sigma = sigma
        self.first_sigma = sigma
        self.unpenalized = list(unpenalized)
        self.deadline = deadline
        self.weights = np.zeros(rows.weights_shape) if weights is None else weights.copy()
        self.multipliers = np.zeros(shape) if multipliers is None else multipliers.copy()
        if scores is None:
            scores = np.zeros(shape) if weights is None else all_scores(rows, weights)
        self.scores = scores
        self.newton_steps = 0
        self.changes: Floats | None = None  # of the scores, by the last step
        self.free = np.zeros(shape, dtype=np.bool_)

    def advance(self, most: int = 60, accuracy: float = 0.3) -> float:
        """Make one proximal step; return how far the multipliers moved, relative to their size.

        The inner problem is solved until its error, ``|gradient|^2 / 2``, is small compared with the gain of
        the step, ``|change|^2 / (2 sigma)``: the ratio of the square roots is at most ``accuracy``. After the
        step sigma grows by two to ten, up to 1e14 times its first value: by ten if it took few Newton steps.
        """
        sigma, before_steps = self.sigma, self.newton_steps
        ridge = np.ones_like(self.weights)
        center = np.zeros_like(self.weights)
        ridge[..., self.unpenalized] = 1e-4 * self.first_sigma / sigma
        center[..., self.unpenalized] = self.weights[..., self.unpenalized]
        rows, at, fixed = self._unsettled()
        start, caps, weights, scores = self.multipliers[at], self.caps[at], self.weights, self.scores[at]
        inside = np.zeros(start.shape, dtype=np.bool_)
        if inside.ndim == 1:
            inside = (start > 0.0) & (start < caps)
        total = np.zeros_like(self.weights)
        box = margin_loops.Box(
            start, caps, np.zeros_like(start), np.zeros_like(inside), np.empty(self.rows.n_classes)
        )
        moved = size = 0.0
        least, stale, before = np.inf, 0, box.free.copy()
        for number in range(most):
            moved, size = _clip(rows, scores, sigma, box, total)
            pull = ridge * (weights - center) - fixed
            gradient = pull - total
            error = float(np.sqrt(np.sum(gradient**2 / ridge)))
            if error <= accuracy * moved / np.sqrt(sigma) or error <= 1e-15 * float(np.linalg.norm(weights)):
                break
            # On the same free rows the problem is quadratic and one step solves it. If the gradient does not
            # fall any more, it is rounding error.
            stale = stale + 1 if error >= 0.1 * least and np.array_equal(box.free, before) else 0
            least, before = min(least, error), box.free.copy()
            if stale >= 2:
                break
            free = box.free
            if number == 0 and inside.any():
                # Long steps clip nearly all rows at first, but those that were free mostly stay so.
                free, moves = inside, np.where(inside, sigma * (1.0 - scores), 0.0)
                gradient = pull - rows.combination(start + moves)
            step = newton_step(rows, free, sigma, ridge, gradient, self.unpenalized, self.deadline)
            moves = all_scores(rows, step)
            length = _line_search(rows.labels, scores, moves, sigma, step, pull, ridge, box)
            self.newton_steps += 1
            if length == 0.0 and free is not inside:
                break
            weights = weights + length * step
            scores = scores + length * moves
        self.weights, self.multipliers[at], self.free[at] = weights, box.current, box.free
        before_scores, self.scores = self.scores, scores
        if rows is not self.rows:
            self.scores = all_scores(self.rows, weights)
        self.changes = np.abs(self.scores - before_scores)
        # After too long a step most rows are on a wrong face, and Newton's method returns slowly.
        growth = min(10.0, max(2.0, 30.0 / max(1, self.newton_steps - before_steps)))
        self.sigma = min(sigma * growth, 1e14 * self.first_sigma)
        return moved / size if size else 0.0

    def _unsettled(self) -> tuple[Rows, Any, Floats]:
        """Return the rows whose multipliers may change in this step, their places, and what the others add.

        The others are at a limit, and stay there if their scores change at most as much as in the last step.
        """
        rows, fixed = self.rows.local, np.zeros_like(self.weights)
        if rows is None or self.weights.ndim == 2 or self.changes is None:
            return self.rows, slice(None), fixed
        limit = np.where(self.scores > 1.0, 0.0, self.caps)
        near = np.abs(1.0 - self.scores) <= self.changes
        at = np.flatnonzero(near | (self.multipliers != limit))
        if 2 * at.size > rows.n_rows:
            return self.rows, slice(None), fixed
        others = self.multipliers.copy()
        others[at] = 0.0
        return rows.take(at), at, rows.combination(others)


def _clip(
    rows: Rows, scores: Floats, sigma: float, box: margin_loops.Box, total: Floats
) -> tuple[float, float]:
    """Update the box and the combination of its multipliers; return how far they moved and their size.

    In memory, only rows whose multipliers changed are read; otherwise the combination is summed again.
    """
    if rows.local is not None:
        moved, size = margin_loops.clip_step(rows.local.storage, scores, sigma, box, total)
        return float(np.sqrt(moved)), float(np.sqrt(size))
    targets = box.center + sigma * (1.0 - scores)
    box.free[:] = (targets > 0.0) & (targets < box.caps)
    box.current[:] = np.clip(targets, 0.0, box.caps)
    total[:] = rows.combination(box.current)
    return float(np.linalg.norm(box.current - box.center)), float(np.linalg.norm(box.current))


def _line_search(
    labels: NDArray[Any],
    scores: Floats,
    moves: Floats,
    sigma: float,
    step: Floats,
    pull: Floats,
    ridge: Floats,
    box: margin_loops.Box,
) -> float:
    """Return the step length at which the slope nearly vanishes: Newton's method inside a bracket."""
    linear = float(np.vdot(pull, step))
    quadratic = float(np.vdot(ridge * step, step))
    start = linear + margin_loops.slope(labels, scores, moves, 0.0, sigma, box)[0]
    if not start < 0.0:
        return 0.0
    low, high, length = 0.0, np.inf, 1.0
    for _ in range(40):
        first, second = margin_loops.slope(labels, scores, moves, length, sigma, box)
        first += linear + length * quadratic
        second += quadratic
        if abs(first) <= 0.1 * abs(start):
            break
        if first < 0.0:
            low = length
        else:
            high = length
        length = length - first / second if second > 0.0 else np.nan
        if not low < length < high:
            length = 0.5 * (low + high) if high < np.inf else 4.0 * low
    return length


def newton_step(
    rows: Rows,
    free: NDArray[np.bool_],
    sigma: float,
    ridge: Floats,
    gradient: Floats,
    unpenalized: list[int],
    deadline: Deadline = NEVER,
) -> Floats:
    """Solve ``(diag(ridge) + sigma * sum over free rows of z z^T) step = -gradient``.

    With many classes, each row adds ``x x^T`` for every direction in which its free multipliers can move
    without changing their sum. The ridge is one, except for the ``unpenalized`` weights, for which it may be
    tiny. Raises OutOfTime if the deadline leaves no time for the system.
    """
    deadline.need()
    if gradient.ndim == 2:
        return _joint_step(rows, free, sigma, ridge, gradient, unpenalized, deadline)
    members = np.flatnonzero(free)
    width, size = gradient.size, members.size
    if size == 0:
        return -gradient / ridge
    if width <= min(max(size, 100), DIRECT):
        deadline.need(operations=width**2 * (2.0 * size + width / 3.0))
        square = rows.outer_sum(members)
        square *= sigma
        square[np.diag_indices_from(square)] += ridge
        return _solve(square, -gradient)
    # Too many free rows to copy are read among all rows in each product.
    few, chosen = (rows, free) if size > DIRECT else (rows.take(members), np.ones(size, dtype=np.bool_))
    if few is not rows and size**3 <= ITERATIONS * few.numbers:
        deadline.need(operations=size**2 * (2.0 * rows.numbers / rows.n_rows + size / 3.0))
        matrix, signs = lifted_matrix(rows, members), 2.0 * rows.labels[members, None] - 1.0
        each = np.arange(size)
        step = _by_rows(matrix, each, signs, sigma, ridge[None], gradient[None], unpenalized)
        return step.reshape(width)
    # The preconditioner is the mean of the diagonal, which the norms of the rows give.
    return _conjugate_gradients(
        lambda step: ridge * step + sigma * few.combination(np.where(chosen, few.scores(step), 0.0)),
        ridge + sigma * float(rows.squared_norms[free].sum()) / gradient.size,
        gradient,
        deadline,
    )


def _joint_step(
    rows: Rows,
    free: NDArray[np.bool_],
    sigma: float,
    ridge: Floats,
    gradient: Floats,
    unpenalized: list[int],
    deadline: Deadline,
) -> Floats:
    moving = free.sum(axis=1) >= 2
    members, faces = np.flatnonzero(moving), free[moving]
    if members.size == 0:
        return -gradient / ridge
    matrix = lifted_matrix(rows, members)
    directions = int(faces.sum()) - members.size
    if gradient.size <= min(directions, DIRECT):
        deadline.need(operations=gradient.size**2 * (2.0 * members.size + gradient.size / 3.0))
        return _by_columns(matrix, faces, sigma, ridge, gradient)
    if directions <= DIRECT:
        deadline.need(operations=directions**2 * (2.0 * rows.numbers / rows.n_rows + directions / 3.0))
        return _by_rows(matrix, *_directions(faces), sigma, ridge, gradient, unpenalized)
    return _joint_by_iteration(matrix, faces, sigma, ridge, gradient, deadline)


def _by_rows(
    matrix: Any,
    places: NDArray[Any],
    directions: Floats,
    sigma: float,
    ridge: Floats,
    gradient: Floats,
    unpenalized: list[int],
) -> Floats:
    """Solve a system with one unknown per direction (Woodbury), bordered by the unpenalized weights.

    A direction is what a row of the matrix, at its place, adds to each class. The inner product of two
    directions is that of their rows times that of their class parts. Dividing by the tiny ridge of an
    unpenalized weight would dominate everything else, so its column is eliminated.
    """
    penalized = gradient.copy()
    penalized[:, unpenalized] = 0.0
    free = dense(matrix[:, unpenalized])
    products = _inner_products(matrix)
    products -= free @ free.T
    square = directions @ directions.T
    margin_loops.multiply_products(products, places, square)
    square[np.diag_indices_from(square)] += 1.0 / sigma
    border = (directions[:, :, None] * free[places, None, :]).reshape(len(directions), -1)
    slopes = ((matrix @ penalized.T)[places] * directions).sum(axis=1)
    solved = _solve(square, np.column_stack([-slopes, border]))
    pulls, responses = solved[:, 0], solved[:, 1:]
    small = border.T @ responses + np.diag(ridge[:, unpenalized].ravel())
    wanted = -gradient[:, unpenalized].ravel() - border.T @ pulls
    shift = np.zeros(len(small))
    if np.isfinite(small).all() and np.isfinite(wanted).all():  # otherwise no shift is known to help
        # Equal shifts of the intercepts of all classes change nothing; the least-squares solution has none.
        shift = linalg.lstsq(small, wanted, check_finite=False)[0]
        pulls = pulls + responses @ shift
    factors = np.zeros((matrix.shape[0], directions.shape[1]))
    np.add.at(factors, places, pulls[:, None] * directions)
    step: Floats = -penalized - (matrix.T @ factors).T
    step[:, unpenalized] = shift.reshape(len(gradient), -1)
    return step


def _inner_products(matrix: Any) -> Floats:
    """Return the inner products of all rows: of sparse rows only the lower triangle, in half of the time."""
    if not sparse.issparse(matrix):
        return np.asarray(matrix @ matrix.T)
    columns = as_rows(matrix.T.tocsr(), np.zeros(matrix.shape[1], dtype=np.int32), lift=False)
    return columns.outer_sum(columns.order)


def _by_columns(
    matrix: Any, faces: NDArray[np.bool_], sigma: float, ridge: Floats, gradient: Floats
) -> Floats:
    """Solve the system of many classes with one unknown per weight.

    A row adds ``x x^T`` to the block of classes c and e, times the entry of the projection onto its face.
    """
    classes, width = gradient.shape
    counts = faces.sum(axis=1)
    square = np.zeros((gradient.size, gradient.size))
    for c in range(classes):
        for e in range(c + 1):
            shares = faces[:, c] * ((c == e) - faces[:, e] / counts)
            used = np.flatnonzero(shares)
            part = matrix[used]
            block = dense(part.T @ sparse.diags_array(shares[used]) @ part)
            square[c * width : (c + 1) * width, e * width : (e + 1) * width] = sigma * block
    square[np.diag_indices_from(square)] += ridge.ravel()
    return _solve(square, -gradient.ravel()).reshape(gradient.shape)


def _directions(faces: NDArray[np.bool_]) -> tuple[NDArray[Any], Floats]:
    """Return orthonormal directions within each face whose entries sum to zero (Helmert), and their rows."""
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
    """Solve the system of many classes by conjugate gradients, preconditioned by the diagonal."""
    counts = faces.sum(axis=1, keepdims=True)
    transposed = matrix.T.tocsr() if sparse.issparse(matrix) else matrix.T

    def image(step: Floats) -> Floats:
        moves = np.where(faces, matrix @ step.T, 0.0)
        moves -= np.where(faces, moves.sum(axis=1, keepdims=True) / counts, 0.0)
        result: Floats = ridge * step + sigma * (transposed @ moves).T
        return result

    squares = matrix.multiply(matrix).T if sparse.issparse(matrix) else (matrix**2).T
    diagonal = ridge + dense(squares @ np.where(faces, sigma * (1.0 - 1.0 / counts), 0.0)).T
    return _conjugate_gradients(image, diagonal, gradient, deadline)


def _conjugate_gradients(
    image: Callable[[Floats], Floats], diagonal: Floats, gradient: Floats, deadline: Deadline
) -> Floats:
    """Solve ``image(step) = -gradient`` to a relative residual of 1e-3; raise OutOfTime at the deadline."""
    from scipy.sparse.linalg import LinearOperator, cg  # slow to import, and only needed for large systems

    def checked(step: Floats) -> Floats:
        deadline.need()
        return image(step.reshape(gradient.shape)).ravel()

    size, flat = gradient.size, diagonal.ravel()
    system = LinearOperator((size, size), matvec=checked, dtype=np.float64)
    inverse = LinearOperator((size, size), matvec=lambda residual: residual / flat, dtype=np.float64)
    step = cg(system, -gradient.ravel(), rtol=1e-3, atol=0.0, maxiter=500, M=inverse)[0]
    return np.asarray(step).reshape(gradient.shape)


def _solve(square: Floats, right: Floats) -> Floats:
    """Solve a positive definite system, given its lower triangle."""
    _, solution, problem = linalg.lapack.dposv(square.T, right, lower=0)  # LAPACK's memory order
    if problem:  # rounding made a tiny pivot negative
        whole = np.tril(square) + np.tril(square, -1).T
        solution = linalg.lstsq(whole, right, check_finite=False)[0]
    return np.asarray(solution)
