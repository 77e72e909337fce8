"""A kernel as the solvers use it: lifted, prepared once a side, and with a bound of its rounding errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .. import kernels
from ..result import Floats, Ints


@dataclass(frozen=True, eq=False)
class Side:
    """Rows as a kernel takes them on one side: numbers, indices of a Gram matrix, and their row terms."""

    rows: Any
    terms: Floats | None

    @property
    def size(self) -> int:
        """How many rows there are."""
        return int(self.rows.shape[0])


@dataclass(frozen=True)
class Similarity:
    """K(x, x') + lift: with a lift, the inner product of ``(phi(x), 1)`` and ``(phi(x'), 1)``.

    So a lifted linear kernel is the perceptron with an intercept.
    """

    kernel: kernels.Kernel
    lift: bool

    def left(self, rows: Any, dtype: Any = np.float64) -> Side:
        """Rows whose kernel with others will be asked for."""
        terms = self.kernel.row_terms(rows) if self.kernel.by_products else None
        return Side(self._typed(rows, dtype), terms)

    def right(self, anchors: Any, dtype: Any = np.float64) -> Side:
        """Rows of an expansion: what `kernels.Kernel.anchors` gave."""
        return self.left(anchors, dtype)

    def _typed(self, rows: Any, dtype: Any) -> Any:
        return rows.astype(dtype, copy=False) if self.kernel.by_products else rows

    def block(self, left: Side, right: Side, *, dtype: Any = np.float64, out: Any = None) -> NDArray[Any]:
        """The similarity of every row on the left with every row on the right."""
        if left.terms is None or right.terms is None:
            values = self.kernel.block(left.rows, right.rows, dtype=dtype, out=out)
        else:
            values = kernels.inner_products(left.rows, right.rows, dtype=dtype, out=out)
            self.kernel.from_products(values, left.terms, right.terms)
        if self.lift:
            values = np.add(values, 1.0, out=values if values.flags.writeable else None, dtype=values.dtype)
        return values

    def diagonal(self, X: Any) -> Floats:
        """The similarity of every row with itself."""
        return self.kernel.diagonal(X) + float(self.lift)

    def rounding(self, width: int, radius: float, dtype: Any) -> Rounding:
        """Bound the rounding errors of `block`, whatever the order of its sums.

        Parameters
        ----------
        width : int
            How many numbers of a row are not zero, at most.
        radius : float
            The largest norm of a row.
        dtype : float32 or float64
            The arithmetic; rows are rounded to it first.
        """
        unit = float(np.finfo(dtype).eps) / 2.0
        found = _rounding(self.kernel, width, radius, unit)
        lifted = found.relative if self.lift else 0.0  # |K| <= |K + 1| + 1
        return Rounding(1.01 * found.relative, 1.01 * (found.absolute + lifted) + 2.0 * unit)


class Rounding(NamedTuple):
    """``|computed - exact| <= relative |K(x, x')| + absolute sqrt(K(x, x) K(x', x'))``."""

    relative: float
    absolute: float

    @property
    def total(self) -> float:
        """The bound in terms of ``sqrt(K(x, x) K(x', x'))`` alone, by Cauchy and Schwarz."""
        return self.relative + self.absolute


def _rounding(kernel: kernels.Kernel, width: int, radius: float, unit: float) -> Rounding:
    """A dot product of n numbers errs by at most n units of ``sum |x_j x'_j| <= |x| |x'|``.

    In any order, with fused operations or without (Higham 2002, section 3.1); two more units are the rounding
    of the rows. For a polynomial of degree k this becomes k errors of ``q p^(k-1)``, with ``p = c + |<x,
    x'>|`` and ``q = c + |x| |x'|``; by the inequality of the means that is at most ``(1 - 1/k) p^k / t``
    and ``t^(k-1) q^k / k``, for every t > 0; t = 1/4 here. And ``q^k <= sqrt(K(x, x) K(x', x'))``.
    """
    dot = (width + 4) * unit
    if isinstance(kernel, kernels.Linear):
        return Rounding(0.0, dot)
    if isinstance(kernel, kernels.Polynomial):
        k, error = kernel.degree, kernel.degree * (dot + 4.0 * unit)
        return Rounding(4.0 * (1.0 - 1.0 / k) * error, 0.25 ** (k - 1) / k * error)
    if isinstance(kernel, kernels.Geometric):
        return Rounding(0.0, kernel.degree * (dot + 4.0 * unit))
    if isinstance(kernel, kernels.Gaussian):
        exponent = kernel.c * radius**2 * (2.0 * dot + 16.0 * unit)
        relative = float(np.expm1(exponent)) if exponent < 0.5 else np.inf
        return Rounding(relative, 8.0 * unit) if relative < 1.0 else Rounding(0.0, 1.0)
    if isinstance(kernel, kernels.Sum):
        parts = [_rounding(member, width, radius, unit).total for member in kernel.members]
        return Rounding(0.0, max(parts) + len(parts) * unit)
    if isinstance(kernel, kernels.Product):
        parts = [_rounding(member, width, radius, unit).total for member in kernel.members]
        return Rounding(0.0, float(np.prod([1.0 + part + unit for part in parts]) - 1.0))
    if isinstance(kernel, kernels.Scaled | kernels.Warped):
        inner = _rounding(kernel.inner, width, radius, unit)
        return Rounding(inner.relative, inner.absolute + 4.0 * unit)
    return Rounding(2.0 * unit, 0.0)  # a function's or a Gram matrix's values are taken as they come


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows to learn from: a matrix, class codes, the step of each update, the kernel's diagonal."""

    X: Any
    labels: NDArray[np.int32]
    steps: Floats
    roots: Floats
    width: int
    radius: float

    @property
    def size(self) -> int:
        """How many rows there are."""
        return int(self.labels.size)


def training_rows(
    similarity: Similarity, X: Any, labels: NDArray[Any], n_classes: int, row_weights: Floats | None
) -> TrainingRows:
    """Measure rows once, before they are learnt from.

    With more than two classes half of a step goes to the row's own class and half away from the rival.
    """
    steps = np.ones(labels.size) if row_weights is None else row_weights
    width, radius = 0, 0.0
    if similarity.kernel.by_products:
        radius = float(np.sqrt(kernels.squared_norms(X).max(initial=0.0)))
        filled = np.diff(X.indptr) if sparse.issparse(X) else np.count_nonzero(X, axis=1)
        width = int(filled.max(initial=0))  # a zero adds no rounding error
    return TrainingRows(
        X,
        np.ascontiguousarray(labels, dtype=np.int32),
        steps if n_classes == 2 else 0.5 * steps,
        np.sqrt(np.abs(similarity.diagonal(X))),
        width,
        radius,
    )


class Store:
    """Rows that are only ever added: of numbers, dense or sparse, or of indices.

    A copy made by `fork` shares what both have; rows added to one are not seen by the other, as long as
    only one of the two goes on.
    """

    def __init__(self) -> None:
        self._rows: Any = None
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def fork(self) -> Store:
        """A copy that may go on by itself."""
        other = Store()
        other._rows, other._size = self._rows, self._size
        return other

    def append(self, rows: Any) -> None:
        """Add rows; dense ones become sparse beside sparse ones."""
        size = self._size + rows.shape[0]
        if sparse.issparse(rows) or sparse.issparse(self._rows):
            kept = [] if self._rows is None else [sparse.csr_array(self._rows[: self._size])]
            self._rows = sparse.vstack([*kept, sparse.csr_array(rows, dtype=np.float64)], format="csr")
        else:
            kind = np.int64 if rows.ndim == 1 else np.float64
            self._rows = grown(self._rows, self._size, size, rows.shape[1:], kind)
            self._rows[self._size : size] = rows
        self._size = size

    def part(self, start: int, stop: int) -> Any:
        """Some consecutive rows, not copied where they are dense."""
        return self._rows[start : min(stop, self._size)]

    def take(self, indices: Ints) -> Any:
        """A copy of some rows."""
        return self._rows[indices]


def grown(array: Any, used: int, needed: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """An array with room for ``needed`` entries: the same one, or a larger copy of its used part."""
    if array is not None and array.shape[0] >= needed:
        return array
    room = np.zeros((max(needed, 64, 2 * used), *shape), dtype=dtype)
    if used:
        room[:used] = array[:used]
    return room
