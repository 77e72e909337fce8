"""Labeled rows in the feature space of a kernel, and bounds on lengths and scores that count all rounding."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ..deadline import NEVER, Deadline
from ..errors import IllegalKernelError, NumericOverflowError
from ..kernels import Kernel, Precomputed
from ..kernels.base import BLOCK_VALUES, EPS
from ..result import Floats, Ints
from ..rows.numpy_loops import signed_scores
from ..sparse import sparse
from .similarity import Similarity, extent


@dataclass(frozen=True, eq=False)
class KernelRows:
    """Labeled rows in the feature space of a kernel.

    Attributes
    ----------
    kernel : Kernel
    X : ndarray or CSR matrix
    labels : ndarray of int32
        Class codes.
    n_classes : int
    order : ndarray of int64
        The rows that count.
    lift : bool
        Whether there is an intercept.
    free : bool
        Whether the intercept is left out of the norm.
    """

    kernel: Kernel
    X: Any
    labels: NDArray[np.int32]
    n_classes: int
    order: Ints
    lift: bool
    free: bool

    @property
    def lifted(self) -> bool:
        """Whether the intercept is part of the norm."""
        return self.lift and not self.free

    @cached_property
    def accuracy(self) -> tuple[Floats, float]:
        """Upper bounds on the lengths of all feature vectors, and a bound on the rounding of kernel values.

        In float64, a value ``K(x, x')`` errs by at most the second number times the lengths of x and x'. The
        values of a kernel that states no bound on its rounding errors count as exact.
        """
        X = self.X[self.order] if self.order.size < self.labels.size else self.X
        width, radius = (0, 0.0) if isinstance(self.kernel, Precomputed) else extent(X)
        share = Similarity(self.kernel, lift=False).rounding(width, radius, np.float64) or 0.0
        with np.errstate(all="ignore"):
            lengths = np.sqrt(np.abs(self.kernel.diagonal(self.X)) / max(0.0, 1.0 - share)) * (
                1.0 + 4.0 * EPS
            )
        # Products of very short vectors may underflow, which is no longer a relative error.
        return np.maximum(lengths, EPS * lengths[self.order].max(initial=0.0)), share

    @property
    def largest(self) -> float:
        """An upper bound on ``K(x, x)``."""
        length = float(self.accuracy[0][self.order].max(initial=0.0))
        return length * length * (1.0 + 2.0 * EPS)

    def block(self, among: Ints, support: Ints) -> Floats:
        """Return the kernel of some rows with others."""
        return self.kernel.block(self.X[among], self.kernel.anchors(self.X, support))

    def blocks(
        self, among: Ints, support: Ints, deadline: Deadline = NEVER
    ) -> Iterator[tuple[slice, Floats]]:
        """Yield `block` in pieces of bounded size; raise OutOfTime between two of them."""
        anchors, step = self.kernel.anchors(self.X, support), max(1, BLOCK_VALUES // max(1, support.size))
        for start in range(0, among.size, step):
            if start:
                deadline.need()
            part = slice(start, start + step)
            yield part, self.kernel.block(self.X[among[part]], anchors)

    def gram(self, among: Ints) -> Floats:
        """Return the Gram matrix of some rows, symmetric to the last bit."""
        values = self.block(among, among)
        return np.asarray((values + values.T) / 2.0)

    def only(self, members: Ints) -> KernelRows:
        """Return some of the rows as rows of their own, dense if an eighth of their numbers are stored.

        Dense products are then faster than sparse ones: on ijcnn1, with 13 numbers in 22 columns, four times.
        """
        part = self.X if members.size == self.labels.size else self.X[members]
        if sparse.issparse(part) and 8 * part.nnz >= part.shape[0] * part.shape[1]:
            part = part.toarray()
        inside = replace(
            self,
            X=part[:, members] if isinstance(self.kernel, Precomputed) and part is not self.X else part,
            labels=self.labels[members],
            order=np.arange(members.size, dtype=np.int64),
        )
        lengths, share = self.accuracy
        inside.__dict__["accuracy"] = lengths[members], share
        return inside

    def scores(self, outputs: Floats, among: Ints) -> Floats:
        """Return the score of each row: its lead over the best rival."""
        return signed_scores(outputs, self.labels[among])

    def outputs(
        self, among: Ints, support: Ints, coefficients: Floats, deadline: Deadline = NEVER
    ) -> tuple[Floats, Floats]:
        """Return the outputs of some rows without intercept, and bounds on their rounding errors."""
        return self.sums(self.blocks(among, support, deadline), among, support, coefficients)

    def sums(
        self, blocks: Iterable[tuple[slice, Floats]], among: Ints, support: Ints, coefficients: Floats
    ) -> tuple[Floats, Floats]:
        """Return `outputs`, given the kernel of these rows with the support, in blocks."""
        lengths, share = self.accuracy
        magnitudes = np.abs(coefficients)
        reach = share * (magnitudes @ lengths[support])
        # Sums of parts have smaller errors than one long sum: those of one part, and those of their sum.
        size = max(32, math.isqrt(support.size))
        starts = range(0, support.size, size)
        units = (min(size, support.size) + len(starts) + 2 * len(coefficients) + 8) * EPS
        outputs, doubts = np.zeros((2, among.size, len(coefficients)))
        for part, block in blocks:
            for start in starts:
                several = slice(start, start + size)
                outputs[part] += block[:, several] @ coefficients[:, several].T
            doubts[part] = units * (np.abs(block) @ magnitudes.T) + lengths[among[part], None] * reach
        return outputs, doubts

    def scores_below(self, outputs: Floats, doubts: Floats, among: Ints, intercept: Floats) -> Floats:
        """Return lower bounds on the scores of rows with these outputs."""
        doubt = (doubts + 8.0 * EPS * np.abs(intercept)).max(axis=1)
        # Twice, because a score may be a difference of two outputs.
        return np.asarray(self.scores(outputs + intercept, among) - 2.0 * doubt)

    def safe_scores(
        self,
        among: Ints,
        support: Ints,
        coefficients: Floats,
        intercept: Floats,
        deadline: Deadline = NEVER,
    ) -> Floats:
        """Return lower bounds on the scores of some rows, with all rounding counted."""
        return self.scores_below(*self.outputs(among, support, coefficients, deadline), among, intercept)

    def square_above(self, support: Ints, coefficients: Floats, deadline: Deadline = NEVER) -> float:
        """Return an upper bound on the squared length of a combination of feature vectors.

        It includes the constant coordinate if the intercept is part of the norm.
        """
        return self.square_of(*self.outputs(support, support, coefficients, deadline), coefficients)

    def square_of(self, outputs: Floats, doubts: Floats, coefficients: Floats) -> float:
        """Return `square_above` of a combination whose outputs on its own rows are known."""
        magnitudes, slack = np.abs(coefficients), 4.0 * (coefficients.size + 8) * EPS
        total = math.fsum((outputs.T * coefficients).ravel().tolist())
        total = max(total, 0.0) + float(np.vdot(doubts.T, magnitudes)) * (1.0 + slack)
        if self.lifted:
            constants = np.abs(coefficients.sum(axis=1)) + slack * magnitudes.sum(axis=1)
            total += float(constants @ constants)
        return total * (1.0 + 64.0 * EPS)


def expansion(kernel: Kernel, X: Any, anchors: Any, coefficients: Floats, intercept: Floats) -> Floats:
    """Return ``K(X, anchors) @ coefficients.T + intercept``, computed in blocks of rows."""
    outputs = np.empty((X.shape[0], coefficients.shape[0]))
    step = max(1, BLOCK_VALUES // max(1, coefficients.shape[1]))
    for start in range(0, X.shape[0], step):
        part = slice(start, start + step)
        outputs[part] = kernel.block(X[part], anchors) @ coefficients.T
    return outputs + intercept


def coordinates(gram: Floats, kernel: Kernel) -> Floats:
    """Return rows L with ``L @ L.T`` equal to a Gram matrix up to rounding (Cholesky with pivoting)."""
    size = gram.shape[0]
    factor, pivots, rank, _ = linalg.lapack.dpstrf(np.array(gram, order="F"), lower=1)
    rows = np.zeros((size, max(1, rank)))
    rows[pivots - 1, :rank] = np.tril(factor)[:, :rank]
    scale = float(np.abs(gram.diagonal()).max(initial=0.0))
    lost = gram.diagonal() - np.einsum("ij,ij->i", rows, rows)
    rest = gram[np.ix_(pivots[rank:] - 1, pivots[rank:] - 1)]
    missing = np.abs(rest - rows[pivots[rank:] - 1] @ rows[pivots[rank:] - 1].T).max(initial=0.0)
    if max(missing, -float(lost.min(initial=0.0))) > 1e-8 * max(scale, np.finfo(float).tiny) * size:
        if not isinstance(kernel, Precomputed) and kernel.rounding(1, 1.0, EPS) is not None:  # it is legal
            raise NumericOverflowError(
                f"Rounding errors of the kernel {kernel} are too large: on {size} of these rows, its Gram "
                "matrix in floats is not positive semidefinite.",
                remedy="Scale the columns, for example with StandardScaler.",
                parameter="X",
            )
        raise IllegalKernelError(
            f"The kernel {kernel} is not legal: its Gram matrix on {size} of these rows is not positive "
            "semidefinite. sx.kernels.check_legal(kernel, X) returns a vector that proves it, unless it is "
            "due to rounding."
        )
    return rows


def as_combination(
    weights: Floats, points: Floats, rows: KernelRows, cutoff: float = EPS
) -> tuple[Floats, Floats]:
    """Return coefficients of points whose combination is the weights, by least squares, and the intercept.

    They are as close to the weights as rounding allows; multipliers are only as close as the square root of
    the gap. With a larger cutoff (of the inverse condition number), the coefficients are smaller, and so are
    the rounding errors of their scores.
    """
    weights = np.atleast_2d(weights)
    inside = weights[:, :-1] if rows.lift else weights
    intercept = weights[:, -1] if rows.lift else np.zeros(weights.shape[0])
    if not points.size:
        return np.zeros((weights.shape[0], 0)), intercept
    if rows.lifted:
        points, inside = np.column_stack([points, np.ones(len(points))]), weights
    found = linalg.lstsq(points.T, inside.T, cond=cutoff, lapack_driver="gelsy", check_finite=False)
    coefficients = found[0].T
    return np.ascontiguousarray(coefficients), coefficients.sum(axis=1) if rows.lifted else intercept
