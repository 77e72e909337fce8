"""What every kernel does, and the matrix products from which kernels are evaluated."""

from __future__ import annotations

from collections.abc import Callable
from math import expm1, inf, isfinite, log1p
from numbers import Real
from typing import Any, ClassVar, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, InputTypeError, NumericOverflowError
from ..features import exponent_table, monomials, multinomials, require_room, scale_columns
from ..features import whole_degree as whole_degree  # the other modules of this package import it from here
from ..float_environment import HALF_UNIT
from ..inputs import as_matrix as as_matrix
from ..sparse import sparse

__all__ = ["Kernel", "as_matrix", "inner_products", "squared_norms"]

Floats = NDArray[np.float64]

EPS = 2.0 * HALF_UNIT  # the distance from one to the next float
STRIP = 1 << 15  # values to which a formula is applied at a time: they stay in the cache
BLOCK_VALUES = 1 << 21  # kernel values that are held at a time, where there may be many
MOST_GRAM_ROWS = 5000  # rows whose whole Gram matrix is made and factorized: 200 MB, and 200 MB for a factor


class Graph(Protocol):
    """An ONNX graph that grows node by node. Each method returns the name of what it computes."""

    def node(self, kind: str, *inputs: str, **options: Any) -> str:
        """Apply an ONNX operation."""

    def number(self, values: Any) -> str:
        """Add constants, in the type of the graph."""

    def products(self, rows: str, anchors: Floats) -> str:
        """Compute the inner product of every row with every anchor."""


class Kernel:
    """A function of two rows that is an inner product of their feature vectors.

    Kernels are immutable. They can be compared, hashed, printed as their formula, added, multiplied, raised
    to a power, scaled by a number, shifted by a number and warped by a function. A kernel that is called with
    one or two matrices returns the Gram matrix, as `sklearn.svm.SVC` expects. A kernel that is called with
    two rows returns one value, as scikit-learn's ``metric`` callables do (`pairwise_kernels`, `KernelPCA` and
    `KernelRidge` make one call per pair of rows; ``k(X, Y)`` is one matrix product).

    A new kernel is a subclass with a `formula`, or, if it is not a function of inner products, with `values`,
    `diagonal` and ``by_products = False``. Everything else has a default that claims nothing: no bound
    on rounding errors (`rounding`), no polynomial (`series`), no theorem (`strict_by`), no graph (`onnx`), no
    short name (``names``), no entry in model files (``stored_as``). A subclass of another kernel inherits the
    claims of that kernel, so a new formula needs new claims.

    Attributes
    ----------
    names : tuple of str
        The names that the ``kernel`` parameter of an estimator accepts for this kernel.
    stored_as : str
        The name of the type in model files, with a version: ``separatrix/Name/1``. It changes with the fields
        of the class, never with its module. It is empty if model files cannot hold the kernel.
    combinable : bool
        Whether the kernel can be a part of another kernel.

    Examples
    --------
    >>> class Cubic(Kernel):
    ...     def __str__(self):
    ...         return "<x, x'>^3"
    ...
    ...     def formula(self, values, left, right):
    ...         values **= 3
    >>> Cubic()([[1.0, 2.0]])
    array([[125.]])
    """

    names: ClassVar[tuple[str, ...]] = ()
    stored_as: ClassVar[str] = ""
    combinable: ClassVar[bool] = True

    @property
    def n_terms(self) -> int:
        """The number of values per row that `row_terms` returns."""
        return 0

    def __call__(self, X: Any, Y: Any = None) -> Any:
        """Return K of every row of X with every row of Y (of X, if Y is None), or one number for two vectors.

        Two sparse matrices of one row each count as two vectors, because scikit-learn passes sparse rows in
        this way. `block` returns a matrix in every case.
        """
        x, y = _one_row(X), _one_row(Y)
        if x is not None and y is not None:
            return float(self.block(x, y)[0, 0])
        X = as_matrix(X)
        return self.block(X, X if Y is None else Y)

    def block(self, X: Any, Y: Any, *, dtype: Any = np.float64) -> NDArray[Any]:
        """Return K of every row of X with every row of Y, dense or CSR, in float32 or float64.

        Parameters
        ----------
        X, Y : array or CSR matrix of shapes (n, d) and (m, d)
        dtype : float32 or float64

        Returns
        -------
        ndarray of shape (n, m)
        """
        X = as_matrix(X)
        if not self.by_products:
            return self.values(X, Y, float_type(dtype)).astype(dtype, copy=False)
        Y = as_matrix(Y)
        right = self.row_terms(Y)
        left = right if Y is X else self.row_terms(X)
        return self.from_products(inner_products(X, Y, dtype=dtype), left, right)

    def values(self, X: Any, Y: Any, dtype: Any) -> NDArray[Any]:
        """Return what `block` returns, for a kernel that is not computed from inner products."""
        raise NotImplementedError

    def row_terms(self, X: Any) -> Floats:
        """Return what the formula needs to know about each row apart from inner products: shape (n_terms, n).

        Solvers compute it once for rows that they use again, and pass it to `from_products`.
        """
        return np.zeros((0, X.shape[0]))

    def from_products(self, products: NDArray[Any], left: Floats, right: Floats) -> NDArray[Any]:
        """Turn the inner products <x_i, y_j> into K(x_i, y_j), in place.

        Parameters
        ----------
        products : ndarray of shape (n, m)
            Overwritten.
        left, right : ndarray of shape (n_terms, n) and (n_terms, m)
            The `row_terms` of both sides.
        """
        dtype = products.dtype
        left = left.astype(dtype, copy=False)[:, :, None]
        right = right.astype(dtype, copy=False)[:, None, :]
        step = max(1, STRIP // max(1, products.shape[1]))
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            for start in range(0, products.shape[0], step):
                strip = products[start : start + step]
                self.formula(strip, left[:, start : start + step], right)
                self._finite(strip)
        return products

    def diagonal(self, X: Any) -> Floats:
        """Return K(x_i, x_i) for every row, without computing the matrix."""
        X = as_matrix(X)
        terms, values = self.row_terms(X), squared_norms(X)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            self.formula(values, terms, terms)
        return self._finite(values)

    def anchors(self, X: Any, indices: Any) -> Any:
        """Return rows of X in the form that `block` takes as Y: what a kernel expansion has to store."""
        return X[indices]

    @property
    def series(self) -> tuple[float, ...] | None:
        """The coefficients a_j >= 0 if K(x, x') = sum_j a_j <x, x'>^j is a polynomial, otherwise None.

        In that case the monomials of the degrees j with a_j > 0 span the feature space.
        """
        return None

    @property
    def degrees(self) -> tuple[int, ...] | None:
        """The degrees of the monomials that span the feature space, or None if no finite set does."""
        return None if self.series is None else tuple(j for j, a in enumerate(self.series) if a > 0.0)

    def feature_map(self, X: Any) -> Any:
        """Return phi(X), with phi(X) @ phi(Y).T equal to K(X, Y) up to rounding.

        A kernel that is not a polynomial in <x, x'> has no finite feature map and raises an error.

        Examples
        --------
        >>> import separatrix as sx
        >>> sx.kernels.Polynomial(degree=2).feature_map([[3.0]])
        array([[1.        , 4.24264069, 9.        ]])
        """
        X, degrees = as_matrix(X), self.degrees
        if degrees is None:
            raise InputError(
                f"The feature space of {self} has no finite map. Use the kernel itself, for example in "
                "sx.KernelPerceptron(kernel=...) or sx.MaxMargin(kernel=...)."
            )
        if not degrees:
            return np.zeros((X.shape[0], 1))
        require_room(X.shape, degrees)
        series = self.series or ()
        weights = [series[j] * multinomials(exponent_table(X.shape[1], j)) for j in degrees]
        mapped = monomials(X.astype(np.float64, copy=False), degrees)
        return scale_columns(mapped, np.sqrt(np.concatenate(weights)))

    def scaled(self, c: float) -> Kernel:
        """Return the kernel times c, for c >= 0."""
        from . import algebra, simple  # which import this module

        c = not_negative("scale of a kernel", c)
        return algebra.PolynomialOf(self, (0.0, c)) if c else simple.Constant(0.0)

    def warped(self, f: Callable[[Any], Any]) -> Kernel:
        """Return f(x) f(x') K(x, x') for a function f that maps rows, shape (n, d), to n numbers."""
        from . import algebra

        return algebra.joined(algebra.Product, algebra.Outer(f), self)

    def __add__(self, other: object) -> Kernel:
        from . import algebra, simple

        if isinstance(other, Real) and not isinstance(other, bool):
            if other == 0:  # so that the built-in sum() works
                return self
            other = simple.Constant(float(other))
        return algebra.joined(algebra.Sum, self, other) if isinstance(other, Kernel) else NotImplemented

    __radd__ = __add__

    def __pow__(self, degree: Any) -> Kernel:
        from . import algebra

        degree = whole_degree("power of a kernel", degree)
        return self if degree == 1 else algebra.PolynomialOf(self, (0.0,) * degree + (1.0,))

    def __mul__(self, other: object) -> Kernel:
        from . import algebra

        if isinstance(other, Real):
            return self.scaled(float(other))
        return algebra.joined(algebra.Product, self, other) if isinstance(other, Kernel) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Kernel:
        if isinstance(other, Real) and other != 0:
            return self.scaled(1.0 / float(other))
        return NotImplemented

    def __sub__(self, other: object) -> NoReturn:
        raise InputError(
            "The difference of two kernels is not a kernel: its Gram matrices need not be positive "
            "semidefinite. Sums, products and non-negative multiples are."
        )

    __rsub__ = __sub__

    def __neg__(self) -> NoReturn:
        raise InputError("A negative kernel is not positive semidefinite: K(x, x) would be negative.")

    @property
    def by_products(self) -> bool:
        """Whether K(x, x') can be computed from <x, x'> and the row terms of both rows."""
        return True

    @property
    def strict_by(self) -> str:
        """The source of a proof that Gram matrices of distinct rows are positive definite; empty if unknown.

        Such a kernel is called strict, and separates any labels of distinct rows. A sum with a strict part is
        strict. So is the product of a strict kernel with kernels of positive diagonal (Schur's product
        theorem).
        """
        return ""

    @property
    def positive_diagonal(self) -> bool:
        """Whether K(x, x) > 0 is known for every row, including a row of zeros."""
        return self.series is not None and self.series[0] > 0.0

    def ceiling(self, radius: float) -> float:
        """Return an upper bound on K(x, x) for all rows of norm ``radius`` or less; infinity if unknown."""
        if self.series is None:
            return inf
        try:
            return float(sum(a * radius ** (2 * j) for j, a in enumerate(self.series) if a))
        except OverflowError:
            return inf

    def rounding(self, width: int, radius: float, unit: float) -> float | None:
        """Return a number e that bounds the rounding errors of `block` and `diagonal`, or None if unknown.

        ``|computed - exact| <= e sqrt(K(x, x) K(x', x'))`` holds for all rows within the arguments, in any
        order of summation, with or without fused operations, as long as nothing overflows or underflows.
        *Exact* is the formula on the rows as they were given, before they are rounded to the arithmetic.
        Solvers compute a kernel without a bound one row at a time, always in the same way, so that their
        results do not depend on how rows are cut into blocks.

        Parameters
        ----------
        width : int
            The largest number of nonzero entries of a row.
        radius : float
            The largest norm of a row.
        unit : float
            The unit roundoff of the arithmetic: 2**-53 for float64, 2**-24 for float32.
        """
        return None

    def formula(self, values: NDArray[Any], left: NDArray[Any], right: NDArray[Any]) -> None:
        """Turn inner products into values of the kernel, in place.

        ``left[k]`` and ``right[k]`` are the k-th row terms of both sides, in shapes that broadcast.
        """
        raise NotImplementedError(
            f"The kernel {type(self).__name__} has no formula. Define formula. A kernel that is no "
            "function of inner products defines values and diagonal, and by_products = False."
        )

    def onnx(self, graph: Graph, rows: str, anchors: Floats) -> str:
        """Add the kernel of every row with every anchor to a graph, and return the name of the result."""
        raise InputTypeError(
            f"The kernel {type(self).__name__} cannot be exported to ONNX: it does not define a graph. The "
            "named kernels except 'precomputed' do, and so do their sums, products and multiples."
        )

    def _finite(self, values: NDArray[Any]) -> NDArray[Any]:
        # A finite sum settles most cases in one pass; a sum that overflows settles nothing.
        if not isfinite(values.sum()) and not np.isfinite(values).all():
            raise NumericOverflowError(
                f"The kernel {self} leaves the range of {values.dtype} on these rows.",
                remedy="Scale the columns first, for example with sklearn.preprocessing.MaxAbsScaler.",
                parameter="X",
            )
        return values


def product_error(width: int, unit: float) -> float:
    """Return a bound on the rounding error of an inner product of two rows, per unit of ``|x| |x'|``.

    A sum of n products errs by at most ``n unit / (1 - n unit)`` of ``sum |x_j x'_j| <= |x| |x'|``, in any
    order (Higham 2002, section 3.1). Two more units cover the rounding of the rows, and two are spare.
    """
    share = (width + 4) * unit
    return share / (1.0 - share) if share < 1.0 else inf


def compound(error: float, times: float) -> float:
    """Return ``(1 + error)**times - 1``: the relative error of a product of this many factors."""
    exponent = times * log1p(error)
    return expm1(exponent) if exponent < 700.0 else inf


def _one_row(X: Any) -> Any:
    """Return a vector, or a sparse matrix of one row, as a matrix; None for anything else."""
    if sparse.issparse(X):
        return X.reshape(1, -1) if X.ndim == 1 or X.shape[0] == 1 else None
    return np.atleast_2d(X) if np.ndim(X) == 1 else None


def squared_norms(X: Any) -> Floats:
    """Return ``|x_i|^2`` for every row, in float64."""
    if sparse.issparse(X):
        X = X.astype(np.float64)
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    X = X.astype(np.float64, copy=False)
    return np.asarray(np.einsum("ij,ij->i", X, X))


def inner_products(X: Any, Y: Any, *, dtype: Any = np.float64) -> NDArray[Any]:
    """Return <x_i, y_j> for all pairs of rows, dense or CSR, in float32 or float64."""
    same_width(X, Y)
    dtype, shape = float_type(dtype), (X.shape[0], Y.shape[0])
    left = X.astype(dtype, copy=False)
    right = left if Y is X else Y.astype(dtype, copy=False)
    if not sparse.issparse(left) and not sparse.issparse(right):
        return np.asarray(left @ right.T)
    out, step = np.empty(shape, dtype=dtype), max(1, BLOCK_VALUES // max(1, shape[1]))
    for start in range(0, shape[0], step):
        part = left[start : start + step]
        if sparse.issparse(part) and sparse.issparse(right) and shape[1] >= X.shape[1]:
            part = part.toarray()  # few columns: the products of two sparse matrices would be dense
        if sparse.issparse(part):
            product = part @ right.T
            out[start : start + step] = product.toarray() if sparse.issparse(product) else product
        else:
            out[start : start + step] = (right @ part.T).T
    return np.asarray(out)


def same_width(X: Any, Y: Any) -> None:
    """Raise an error unless the rows of both matrices have the same number of columns."""
    if X.shape[1] != Y.shape[1]:
        raise InputError(
            f"A kernel compares rows of one width, but X has {X.shape[1]} columns and Y has {Y.shape[1]}."
        )


def float_type(dtype: Any) -> np.dtype[Any]:
    """Return the dtype in which to evaluate a kernel: float32 or float64."""
    found: np.dtype[Any] = np.dtype(dtype)
    if found not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise InputTypeError(f"Kernels are evaluated in float32 or float64. Got {found} instead.")
    return found


def not_negative(what: str, value: Any, *, allow_zero: bool = True) -> float:
    """Return a parameter of a kernel that has to be finite and not negative (or positive)."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputTypeError(f"The {what} must be a number. Got {value!r} instead.")
    if not isfinite(value):
        raise InputError(f"The {what} must be finite. Got {value!r} instead.")
    if value < 0.0 or (value == 0.0 and not allow_zero):
        raise InputError(
            f"The {what} must be {'0 or more' if allow_zero else 'above 0'}; otherwise the kernel is not "
            f"positive semidefinite, or is the same for all rows. Got {value!r} instead."
        )
    return float(value)


def function_name(function: Any) -> str:
    """Return the name of a function in a formula."""
    name = getattr(function, "__name__", type(function).__name__)
    return "f" if name == "<lambda>" else name
