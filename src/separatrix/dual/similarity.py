"""A kernel as solvers use it: with a lift, with row terms computed once, and with a rounding bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from ..result import Floats, Ints
from ..sparse import sparse

SPARE = 1.03  # multiplies a bound: its own rounding, and products of errors


@dataclass(frozen=True, eq=False)
class Side:
    """One argument of a kernel: rows of numbers, or indices of a Gram matrix, and their row terms."""

    rows: Any
    terms: Floats | None

    @property
    def size(self) -> int:
        """The number of rows."""
        return int(self.rows.shape[0])


@dataclass(frozen=True)
class Similarity:
    """K(x, x') + lift: with a lift, the inner product of ``(phi(x), 1)`` and ``(phi(x'), 1)``.

    So a lifted linear kernel is the perceptron with an intercept.
    """

    kernel: kernels.Kernel
    lift: bool

    def side(self, rows: Any, dtype: Any = np.float64) -> Side:
        """Prepare rows, or what `kernels.Kernel.anchors` returned for them, for `block`."""
        if not self.kernel.by_products:
            return Side(rows, None)
        return Side(rows.astype(dtype, copy=False), self.kernel.row_terms(rows))

    def block(self, left: Side, right: Side, *, dtype: Any = np.float64) -> NDArray[Any]:
        """Return the similarity of every row on the left with every row on the right."""
        if left.terms is None or right.terms is None:
            values = self.kernel.block(left.rows, right.rows, dtype=dtype)
        else:
            values = kernels.inner_products(left.rows, right.rows, dtype=dtype)
            self.kernel.from_products(values, left.terms, right.terms)
        if self.lift:
            values = np.add(values, 1.0, out=values if values.flags.writeable else None, dtype=values.dtype)
        return values

    def diagonal(self, X: Any) -> Floats:
        """Return the similarity of every row with itself."""
        if self.fixed:
            rows = [self.kernel.diagonal(X[row : row + 1]) for row in range(X.shape[0])]
            return np.concatenate([np.zeros(0), *rows]) + float(self.lift)
        return self.kernel.diagonal(X) + float(self.lift)

    @property
    def fixed(self) -> bool:
        """Whether rows have to be computed one at a time, because the kernel states no rounding bound.

        Products of a fixed shape give the same values however rows are divided into blocks.
        """
        return self.rounding(1, 1.0, np.float64) is None

    def rounding(self, width: int, radius: float, dtype: Any) -> float | None:
        """Bound the rounding errors of `block`, as `kernels.Kernel.rounding` does."""
        unit = float(np.finfo(dtype).eps) / 2.0
        found = self.kernel.rounding(width, radius, unit)
        return None if found is None else SPARE * found + 2.0 * unit


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows to learn from: a matrix, class codes, the step of each update, the kernel's diagonal.

    ``members`` are the rows that count, in the order of the data. The others are never visited.
    """

    X: Any
    labels: NDArray[np.int32]
    steps: Floats
    roots: Floats
    width: int
    radius: float
    members: Ints

    @property
    def size(self) -> int:
        """The number of rows, including those that do not count."""
        return int(self.labels.size)


def training_rows(
    similarity: Similarity,
    X: Any,
    labels: NDArray[Any],
    n_classes: int,
    row_weights: Floats | None,
    members: Ints | None = None,
) -> TrainingRows:
    """Measure rows once, before the first visit.

    With more than two classes half of a step goes to the row's own class and half away from the rival.
    """
    steps = np.ones(labels.size) if row_weights is None else row_weights
    width, radius = (0, 0.0) if isinstance(similarity.kernel, kernels.Precomputed) else extent(X)
    roots = np.sqrt(np.abs(similarity.diagonal(X)))
    if members is None:
        members = np.arange(labels.size)
    elif members.size < labels.size:
        roots[np.setdiff1d(np.arange(labels.size), members)] = 0.0  # rows that are never visited
    return TrainingRows(
        X,
        np.ascontiguousarray(labels, dtype=np.int32),
        steps if n_classes == 2 else 0.5 * steps,
        roots,
        width,
        radius,
        members,
    )


def extent(X: Any) -> tuple[int, float]:
    """Return the largest number of nonzero entries of a row, and the largest norm of a row."""
    filled = np.diff(X.indptr) if sparse.issparse(X) else np.count_nonzero(X, axis=1)
    width = int(filled.max(initial=0))  # a zero adds no rounding error
    return width, float(np.sqrt(kernels.squared_norms(X).max(initial=0.0)))
