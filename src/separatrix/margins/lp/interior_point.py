"""The linear program behind separability, by an interior-point method.

Maximise t subject to ``Zw >= t`` and ``|w| <= 1`` in every coordinate, as `cone_program` does. The path to
the optimum stays in the middle of what is allowed. It ends where Tucker's theorem points: each row has either
a positive score or a positive multiplier, and the multipliers are even enough for proofs by approximate
multipliers. Each step is one product of the rows with themselves and one Cholesky factorisation, of the size
of the columns. Normal rows took 4 to 6 steps, images 20 to 40. Numbers are floats: they guide, and prove
nothing.

References
----------
S. Mehrotra (1992). On the implementation of a primal-dual interior point method. SIAM J. Optimization 2.
J. Gondzio (1996). Multiple centrality corrections in a primal-dual method for linear programming.
Computational Optimization and Applications 6.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # loads linalg when it is used: small questions do without it
from numpy.typing import NDArray

from ...deadline import NEVER, Deadline, OutOfTime
from ...result import Floats, Solution, Status
from ...rows import threads
from ...sparse import sparse

CORRECTIONS = 3  # of a step, each for the price of one more solution with the same factors
SHORT = 0.995  # of the way to the boundary
DEEP = 0.5  # part of the largest margin at which weights are as good as the best
# Mean product of a score and its multiplier, where scores and the sum of multipliers are about 1. Below,
# floats have nothing left to say. On images the partition was settled at 1e-12, and not yet at 1e-10.
VANISHED = 1e-14
EVEN = 1e-3  # part of every multiplier by which it has to change to be exact: then the end is in sight
PATIENCE = 8  # steps in turn that may fail to halve the products


@dataclass(frozen=True, eq=False)
class Centre(Solution):
    """Where the path was left.

    Attributes
    ----------
    status : Status
        REACHED: the weights separate the rows; NOT_SEPARABLE: nothing does, as far as floats tell; else
        STALLED or TIME_LIMIT.
    weights : ndarray of shape (columns,)
    multipliers : ndarray of shape (rows,)
        They sum to about one.
    slacks : ndarray of shape (rows,)
        By how much each score exceeds t.
    even : bool
        Whether a small change of each multiplier makes the combination vanish.
    """

    weights: Floats
    multipliers: Floats
    slacks: Floats
    even: bool = False

    @property
    def tight(self) -> NDArray[np.bool_]:
        """The rows whose multiplier stays positive, while that of the others vanishes."""
        found: NDArray[np.bool_] = self.multipliers * self.multipliers.size > self.slacks
        return found


def solve_interior(rows: Any, deadline: Deadline = NEVER) -> Centre:
    """Separate rows, or find multipliers of a combination that vanishes.

    Parameters
    ----------
    rows : ndarray or CSR matrix of shape (rows, columns)
        Scaled to about 1, every column not zero somewhere.
    deadline : Deadline
        When to end; a step that would take longer is not begun.
    """
    # Products of arrays are cut into a part for each thread; those of sparse rows are quicker than factors.
    size = rows.shape[1] if sparse.issparse(rows) else 0
    with threads.calm_threads(size), np.errstate(all="ignore"):
        path = _Path(rows)
        try:
            status = path.follow(deadline)
        except OutOfTime:
            status = Status.TIME_LIMIT
        return Centre(status, path.x[:-1], path.multipliers, path.slacks, path.even)


class _Path:
    """The central path: x = (w, t); slacks X and multipliers Y of the rows, of w <= 1 and of w >= -1."""

    def __init__(self, rows: Any) -> None:
        self.n, self.p = rows.shape
        self.matrix = _with_ones(rows)
        self.x = np.append(np.zeros(self.p), -1.0)
        self.even = False
        self.multipliers = np.full(self.n, 1.0 / self.n)
        pull = rows.T @ self.multipliers
        upper = np.maximum(pull, 0.0) + 1.0 / self.n
        self.slacks = np.ones(self.n)
        self.X = np.ones(self.n + 2 * self.p)
        self.Y = np.concatenate([self.multipliers, upper, upper - pull])

    def follow(self, deadline: Deadline) -> Status:
        """Steps until the rows are separated, or the products vanish."""
        # products of matrices run at several times the pace of a factorization that is counted on
        deadline.need(operations=0.25 * (self.n * float(self.p) ** 2 + float(self.p) ** 3 / 3.0))
        best, idle, seconds = np.inf, 0, 0.0
        while True:
            deadline.need(seconds)
            begin = time.monotonic()
            mean = float(self.X @ self.Y) / self.X.size
            if not np.isfinite(mean):
                return Status.STALLED
            best, idle = (mean, 0) if mean < 0.5 * best else (best, idle + 1)
            if mean < VANISHED:
                return Status.NOT_SEPARABLE
            if idle > PATIENCE or not self._factorise():
                return Status.STALLED
            if self._corrected():
                return Status.NOT_SEPARABLE
            self._step(mean)
            lowest = float(self.slacks.min() + self.x[-1])
            if lowest > DEEP * float(self.Y[self.n :].sum()):
                return Status.REACHED
            seconds = 1.5 * (time.monotonic() - begin)

    def _factorise(self) -> bool:
        """The Cholesky factors of the normal equations; a ridge where rounding has made them indefinite."""
        n, p = self.n, self.p
        ratio = self.Y / self.X
        square = gram(self.matrix, np.sqrt(ratio[:n]))
        diagonal = np.arange(p + 1)
        square[diagonal[:-1], diagonal[:-1]] += ratio[n : n + p] + ratio[n + p :]
        ridge = 1e-16
        while ridge < 1e-6:
            self.factor, failed = scipy.linalg.lapack.dpotrf(square.T, lower=0)
            if not failed and np.isfinite(self.factor[-1, -1]):
                return True
            square[diagonal, diagonal] *= 1.0 + ridge
            ridge *= 10.0
        return False

    def _solved(self, right: Floats) -> Floats:
        return np.asarray(scipy.linalg.lapack.dpotrs(self.factor, right, lower=0)[0])

    def _corrected(self) -> bool:
        """Whether a small change of each multiplier makes the combination vanish; then it is made."""
        pull = self.matrix.T @ self.multipliers
        pull[-1] = 0.0
        change = (self.matrix @ self._solved(pull)) / self.slacks
        if not float(np.abs(change).max()) < EVEN:
            return False
        self.multipliers = self.multipliers * (1.0 - change)
        self.even = True
        return True

    def _direction(self, products: Floats, missing: Floats | float) -> tuple[Floats, Floats, Floats]:
        """How x, X and Y change such that the products X * Y change by so much, to first order."""
        n, p = self.n, self.p
        part = products / self.X
        right = self.matrix.T @ part[:n] + missing
        right[:-1] += part[n + p :] - part[n : n + p]
        x = self._solved(right)
        X = np.concatenate([self.matrix @ x, -x[:-1], x[:-1]])
        return x, X, part - self.Y / self.X * X

    def _step(self, mean: float) -> None:
        """Mehrotra's step with Gondzio's corrections."""
        n, p, X, Y = self.n, self.p, self.X, self.Y
        missing = self.matrix.T @ self.multipliers
        missing[:-1] += Y[n + p :] - Y[n : n + p]
        missing[-1] += 1.0
        _, dX, dY = self._direction(-X * Y, missing)
        a, b = _room(X, dX), _room(Y, dY)
        ahead = float((X + a * dX) @ (Y + b * dY)) / X.size
        goal = mean * (ahead / mean) ** 3 if min(a, b) > 0.1 else 0.5 * mean
        x, dX, dY = self._direction(goal - dX * dY - X * Y, missing)
        a, b = _room(X, dX), _room(Y, dY)
        for _ in range(CORRECTIONS):
            if min(a, b) > 0.95:
                break
            far = min(1.0, max(a + 0.1, 1.3 * a)), min(1.0, max(b + 0.1, 1.3 * b))
            products = (X + far[0] * dX) * (Y + far[1] * dY)
            wrong = np.maximum(np.clip(products, 0.1 * goal, 10.0 * goal) - products, -10.0 * goal)
            more = self._direction(wrong, 0.0)
            nX, nY = dX + more[1], dY + more[2]
            na, nb = _room(X, nX), _room(Y, nY)
            if min(na - a, nb - b) < 0.0 or na + nb < a + b + 0.1 * (far[0] - a + far[1] - b):
                break
            x, dX, dY, a, b = x + more[0], nX, nY, na, nb
        a, b = min(SHORT * a, 0.9995), min(SHORT * b, 0.9995)
        self.x = self.x + a * x
        self.Y = Y + b * dY
        slacks = self.matrix @ self.x
        self.slacks = slacks if (slacks > 0.0).all() else X[:n] + a * dX[:n]
        self.X = np.concatenate([self.slacks, 1.0 - self.x[:-1], 1.0 + self.x[:-1]])
        self.multipliers = self.Y[:n]


def _room(values: Floats, change: Floats) -> float:
    """How much of a change leaves all values positive, up to the whole."""
    least = float((change / values).min())
    return 1.0 if least >= -1.0 else -1.0 / least


def _with_ones(rows: Any) -> Any:
    """The rows with a column for t."""
    if sparse.issparse(rows):
        return sparse.csr_array(sparse.hstack([rows, -np.ones((rows.shape[0], 1))], format="csr"))
    matrix = np.empty((rows.shape[0], rows.shape[1] + 1))
    matrix[:, :-1], matrix[:, -1] = rows, -1.0
    return matrix


def gram(matrix: Any, factors: Floats) -> Floats:
    """The inner products of the columns of a matrix whose rows are multiplied by factors; on all cores.

    Only the lower triangle is meant.
    """
    if sparse.issparse(matrix):
        return _sparse_gram(sparse.csr_array(sparse.diags_array(factors) @ matrix))
    n, cores = matrix.shape[0], threads.n_threads() if matrix.size > 2 * threads.WORTH_A_THREAD else 1
    edges = [n * part // cores for part in range(cores + 1)]
    parts = threads.run_all(_gram_of, [(matrix, factors, *each) for each in itertools.pairwise(edges)])
    total = parts[0]
    for part in parts[1:]:
        total += part
    return total


def _gram_of(matrix: Floats, factors: Floats, start: int, stop: int) -> Floats:
    part = matrix[start:stop] * factors[start:stop, None]
    return np.asarray(part.T @ part)


def _sparse_gram(by_row: Any) -> Floats:
    from ...loops import margins as margin_loops  # dense rows need no compiled loop

    by_column = by_row.tocsc()
    by_row = by_column.tocsr()  # whose indices ascend
    size = by_column.shape[1]
    square = np.zeros((size, size))
    parts = [margin_loops.Entries(each.data, each.indices, each.indptr) for each in (by_column, by_row)]
    # rows of a triangle grow: edges at the square roots cut it into equal areas
    edges = [int(np.sqrt(size * stop)) for _, stop in threads.chunks(size, size * size)]
    threads.run_all(margin_loops.gram, [(*parts, *each, square) for each in itertools.pairwise([0, *edges])])
    return square
