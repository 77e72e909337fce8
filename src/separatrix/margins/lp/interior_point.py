"""The linear program behind separability, by an interior-point method.

Maximize t subject to ``Zw >= t`` and ``|w| <= 1`` in every coordinate. The central
path stays away from the boundary of the feasible set. At its end each row has either a positive score or a
positive multiplier (Tucker's theorem), and the multipliers are of similar size, as proofs by approximate
multipliers need them. Each step computes the inner products of the columns and one Cholesky factorization.
Normal rows took 4 to 6 steps, images 20 to 40. The results are floats: they guide the search for a proof and
prove nothing.

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

CORRECTIONS = 3  # per step; each is one more solution with the same factors
SHORT = 0.995  # the part of the way to the boundary that a step goes
DEEP = 0.5  # weights with this part of the largest margin are good enough
# The mean product of a slack and its multiplier below which floats decide nothing more. Slacks and the sum of
# multipliers are about 1. On images the partition was known at 1e-12, and not yet at 1e-10.
VANISHED = 1e-14
EVEN = 1e-3  # the path ends if a relative change of this size makes all multipliers exact
PATIENCE = 8  # the number of consecutive steps that may fail to halve the products


def operations(n_rows: int, width: int) -> float:
    """Return how many operations a step takes, of those that a deadline counts.

    Matrix products are several times as fast as the factorizations that a deadline assumes.
    """
    return 0.25 * (n_rows * float(width) ** 2 + float(width) ** 3 / 3.0)


@dataclass(frozen=True, eq=False)
class Centre(Solution):
    """The last point of the path.

    Attributes
    ----------
    status : Status
        REACHED if the weights separate the rows, NOT_SEPARABLE if no weights seem to, otherwise STALLED or
        TIME_LIMIT.
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
        """The rows whose multipliers stay positive; the others tend to zero."""
        found: NDArray[np.bool_] = self.multipliers * self.multipliers.size > self.slacks
        return found


def solve_interior(rows: Any, deadline: Deadline = NEVER) -> Centre:
    """Separate rows, or find multipliers whose combination of the rows is zero.

    Parameters
    ----------
    rows : ndarray or CSR matrix of shape (rows, columns)
        Scaled to about 1; no column is zero.
    deadline : Deadline
        When to stop. A step that would take longer is not started.
    """
    # Products of arrays are divided among threads here; for sparse rows the factorization takes longest.
    size = rows.shape[1] if sparse.issparse(rows) else 0
    with threads.calm_threads(size), np.errstate(all="ignore"):
        path = _Path(rows)
        try:
            status = path.follow(deadline)
        except OutOfTime:
            status = Status.TIME_LIMIT
        return Centre(status, path.x[:-1], path.multipliers, path.slacks, path.even)


class _Path:
    """The central path: x is (w, t); X and Y are slacks and multipliers of the rows, w <= 1 and w >= -1."""

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
        """Make steps until the rows are separated or the products vanish."""
        deadline.need(operations=operations(self.n, self.p))
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
            if idle > PATIENCE or not self._factorize():
                return Status.STALLED
            if self._corrected():
                return Status.NOT_SEPARABLE
            self._step(mean)
            lowest = float(self.slacks.min() + self.x[-1])
            if lowest > DEEP * float(self.Y[self.n :].sum()):
                return Status.REACHED
            seconds = 1.5 * (time.monotonic() - begin)

    def _factorize(self) -> bool:
        """Factorize the normal equations, with a ridge if rounding made them indefinite."""
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
        """Make the combination zero if a small change of each multiplier is enough; return whether it was."""
        pull = self.matrix.T @ self.multipliers
        pull[-1] = 0.0
        change = (self.matrix @ self._solved(pull)) / self.slacks
        if not float(np.abs(change).max()) < EVEN:
            return False
        corrected = self.multipliers * (1.0 - change)
        left = self.matrix.T @ corrected
        left[-1] = 0.0
        if not float(np.abs(left).max()) <= 0.5 * float(np.abs(pull).max()):
            return False  # the bounds of the weights still hide what the rows need
        self.multipliers, self.even = corrected, True
        return True

    def _direction(self, products: Floats, missing: Floats | float) -> tuple[Floats, Floats, Floats]:
        """Return the changes of x, X and Y for which the products X * Y change as given, to first order."""
        n, p = self.n, self.p
        part = products / self.X
        right = self.matrix.T @ part[:n] + missing
        right[:-1] += part[n + p :] - part[n : n + p]
        x = self._solved(right)
        X = np.concatenate([self.matrix @ x, -x[:-1], x[:-1]])
        return x, X, part - self.Y / self.X * X

    def _step(self, mean: float) -> None:
        """Make Mehrotra's step with Gondzio's corrections."""
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
    """Return the largest part of a change, at most all of it, that leaves all values positive."""
    least = float((change / values).min())
    return 1.0 if least >= -1.0 else -1.0 / least


def _with_ones(rows: Any) -> Any:
    """Return the rows with a column for t."""
    if sparse.issparse(rows):
        return sparse.csr_array(sparse.hstack([rows, -np.ones((rows.shape[0], 1))], format="csr"))
    matrix = np.empty((rows.shape[0], rows.shape[1] + 1))
    matrix[:, :-1], matrix[:, -1] = rows, -1.0
    return matrix


def gram(matrix: Any, factors: Floats) -> Floats:
    """Return the inner products of the columns of a matrix whose rows are multiplied by factors.

    Only the lower triangle is defined. All cores are used.
    """
    if sparse.issparse(matrix):
        from ..pairs import rows_of  # dense rows need no compiled loop

        scaled = rows_of(sparse.csr_array(sparse.diags_array(factors) @ matrix))
        return scaled.outer_sum(scaled.order)
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
