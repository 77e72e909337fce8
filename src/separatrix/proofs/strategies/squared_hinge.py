"""Squared hinge loss: minimize ``sum max(0, 1 - <w, z_i>)**2`` over all signed rows, in whitened columns.

The loss reaches zero if and only if the rows are separable. Otherwise its gradient vanishes where Gordan's
multipliers are ``max(0, 1 - <w, z_i>)``: rows with positive ones are hard. A quasi-Newton method takes few
steps if columns are uncorrelated, so they are multiplied by the inverse square root of their second moments,
which changes no answer (as in the second-order perceptron of Cesa-Bianchi, Conconi and Gentile 2005). One
such matrix serves all classes. The first 20,000 images of MNIST, all classes, are separated in 3 seconds of
processor time; 1,000 passes of the perceptron leave 900 errors. Floats of 32 bits guide the search.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import scipy  # loads linalg and optimize when they are used
from numpy.typing import NDArray

from ...deadline import Deadline
from ...rows.protocol import Floats, Ints, Mask
from ...rows.threads import one_thread
from ..search import Attempt, Knowledge, Learned, Problem, Separated
from ..signed_rows import SignedRows

MOST_COLUMNS = 2000  # whose second moments are factorized
MOST_NUMBERS = 1 << 27  # of the rows: half a gigabyte
BLOCK = 4096  # rows between two looks at the clock
RIDGE = 1e-5  # of the largest second moment; the images took 112 evaluations, 117 with 1e-6, 122 with 1e-4
SCORE = 0.1  # is enough, where the loss asks for 1
PATIENCE = 50  # evaluations in which the loss has to fall by 1 %; where it did not, it never reached zero
EVALUATIONS = 500  # at most


class SquaredHinge:
    """The method of limited memory BFGS, for three or more classes."""

    name = "squared hinge loss"
    share = 0.5

    def applies(self, problem: Problem) -> bool:
        """Whether all rows of three or more classes need a positive score, and the columns are few."""
        signed = problem.rows
        if signed.small or not (problem.whole and signed.joint and signed.rows.local is not None):
            return False
        return signed.block <= MOST_COLUMNS and signed.order.size * signed.block <= MOST_NUMBERS

    def attempt(self, problem: Problem, known: Knowledge) -> Attempt:
        """Minimize until all scores are positive or the loss stops falling; learn which rows are hard."""
        signed = problem.rows
        n_rows, width = signed.order.size, signed.block
        # matrix products are several times as fast as the factorizations that a deadline assumes
        problem.deadline.need(operations=0.1 * n_rows * float(width) ** 2 + float(width) ** 3)
        rows = np.empty((n_rows, width), dtype=np.float32)
        moments = np.zeros((width, width))
        blocks = [slice(start, start + BLOCK) for start in range(0, n_rows, BLOCK)]
        for block in blocks:
            problem.deadline.need()
            rows[block] = signed.lifted(signed.order[block])
            moments += rows[block].T @ rows[block]
        with one_thread():  # two take longer if other processes want the cores
            change = _whitening(moments / n_rows)
        for block in blocks:
            problem.deadline.need()
            rows[block] = rows[block] @ change
        loss = _Loss(rows, signed.labels[signed.order], signed.n_classes, problem.deadline)
        if loss.minimize():
            vectors = loss.weights.astype(np.float64) @ change.T.astype(np.float64)
            exact = problem.exact_weights((vectors[:-1] - vectors[-1]).ravel())
            if problem.accept(exact):
                return Separated(exact, upper=signed.margin_upper(*_hardest(signed, loss)))
        return Learned(np.sort(_hardest(signed, loss)[0]))


def _hardest(signed: SignedRows, loss: _Loss) -> tuple[Ints, Floats]:
    """Return the signed rows that score least below 1, and their multipliers."""
    missing = loss.missing[loss.rivals].astype(np.float64)
    order = np.argsort(-missing, kind="stable")[: min(2 * signed.width + 100, np.count_nonzero(missing))]
    return signed.ids[order], missing[order]


def _whitening(moments: Floats) -> NDArray[np.float32]:
    """Return a matrix after whose product with the rows the columns are nearly uncorrelated."""
    values, vectors = scipy.linalg.eigh(moments)
    scaled = vectors / np.sqrt(np.maximum(values, 0.0) + RIDGE * values[-1])
    return np.asarray(scaled, dtype=np.float32)


class _Stop(Exception):
    """The rows are separated, or the loss stopped falling."""


class _Loss:
    """The loss as a function of weights. It keeps the last ones, and what their scores miss of 1."""

    def __init__(self, rows: NDArray[np.float32], labels: Ints, n_classes: int, deadline: Deadline) -> None:
        self.rows, self.own, self.deadline = rows, (np.arange(labels.size), labels), deadline
        self.weights = np.zeros((n_classes, rows.shape[1]), dtype=np.float32)
        self.missing = np.ones((labels.size, n_classes), dtype=np.float32)
        self.rivals: Mask = np.arange(n_classes) != labels[:, None]
        self.values: list[float] = []

    def minimize(self) -> bool:
        """Return whether all scores are positive."""
        with suppress(_Stop), np.errstate(all="ignore"):
            scipy.optimize.minimize(
                self,
                self.weights.ravel().astype(np.float64),
                jac=True,
                method="L-BFGS-B",
                options={"maxfun": EVALUATIONS, "maxcor": 20, "ftol": 0.0, "gtol": 0.0},
            )
        return bool(self.missing.max() < 1.0 - SCORE)

    def __call__(self, weights: Floats) -> tuple[float, Floats]:
        """Return the loss and its gradient."""
        self.deadline.need()
        self.weights = weights.reshape(self.weights.shape).astype(np.float32)
        outputs = self.rows @ self.weights.T
        self.missing = np.maximum(1.0 - outputs[self.own][:, None] + outputs, 0.0) * self.rivals
        loss = float(np.square(self.missing, dtype=np.float64).sum())
        before = self.values[-PATIENCE] if len(self.values) > PATIENCE else np.inf
        self.values.append(loss)
        if self.missing.max() < 1.0 - SCORE or not loss < 0.99 * before:
            raise _Stop
        pull = 2.0 * self.missing
        pull[self.own] = -pull.sum(axis=1)
        return loss, (pull.T @ self.rows).ravel().astype(np.float64)
