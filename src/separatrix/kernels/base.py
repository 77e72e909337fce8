"""What every kernel does, and the matrix products that it is evaluated from."""

from __future__ import annotations

from collections.abc import Callable
from math import expm1, inf, isfinite, log1p
from numbers import Real
from typing import Any, ClassVar, NamedTuple, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import notebook
from ..errors import InputError, InputTypeError, NumericOverflowError
from ..features import exponent_table, monomials, multinomials, require_room, scale_columns
from ..features import whole_degree as whole_degree  # kernels have these from here
from ..inputs import as_matrix as as_matrix
from ..sparse import sparse

__all__ = ["EPS", "Kernel", "Rounding", "as_matrix", "inner_products", "squared_norms"]

Floats = NDArray[np.float64]

STRIP = 1 << 15  # numbers mapped at a time: they stay in the cache
SPARSE_STRIP = 1 << 22  # numbers of a sparse product at a time
EPS = 2.0**-52  # twice the unit of rounding


class Rounding(NamedTuple):
    """``|computed - exact| <= relative |K(x, x')| + absolute sqrt(K(x, x) K(x', x'))``."""

    relative: float
    absolute: float

    @property
    def total(self) -> float:
        """The bound in terms of ``sqrt(K(x, x) K(x', x'))`` alone, by Cauchy and Schwarz."""
        return self.relative + self.absolute


class Graph(Protocol):
    """A graph of operations that grows node by node; each method gives the name of what it computes."""

    def node(self, kind: str, *inputs: str, **options: Any) -> str:
        """Apply an operation of ONNX."""

    def number(self, values: Any) -> str:
        """Constants, in the type of the graph."""

    def products(self, rows: str, anchors: Floats) -> str:
        """Inner products of every row with every anchor."""


class Kernel:
    """A function of two rows that is an inner product of their images.

    Kernels are immutable and can be compared, hashed, printed as their formula, added, multiplied, raised to
    a power, scaled by a number, shifted by one and warped by a function. They are called with one or two
    matrices for the Gram matrix, as scikit-learn's `SVC` does, or with two rows for one value, as its
    ``metric`` callables (`pairwise_kernels`, `KernelPCA`, `KernelRidge`: one call a pair, where ``k(X, Y)``
    is one product).

    A new kernel is a subclass with a `formula`. All else that is asked of it has an answer that claims
    nothing: no bound of rounding errors (`rounding`), no polynomial (`series`), no theorem (`strict_by`), no
    graph (`onnx`), no short name (``names``), no place in model files (``stored_as``). A subclass of another
    kernel inherits the claims of that one, so a new formula needs new claims.

    Attributes
    ----------
    names : tuple of str
        What the kernel is called where a parameter ``kernel`` is text.
    stored_as : str
        The name of its type in model files, with a version: ``separatrix/Name/1``. It changes with the
        fields of the class, never with the module. Empty where no file may hold the kernel.

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

    @property
    def n_terms(self) -> int:
        """How many numbers `row_terms` gives for a row."""
        return 0

    def __call__(self, X: Any, Y: Any = None) -> Any:
        """K of every row of X with every row of Y (of X, if Y is None); a number for two vectors.

        Two sparse matrices of one row each are two vectors: scikit-learn passes sparse rows so. `block` gives
        a matrix for any two.
        """
        x, y = _one_row(X), _one_row(Y)
        if x is not None and y is not None:
            return float(self.block(x, y)[0, 0])
        X = as_matrix(X)
        return self.block(X, X if Y is None else Y)

    def block(self, X: Any, Y: Any, *, dtype: Any = np.float64, out: Any = None) -> NDArray[Any]:
        """K of every row of X with every row of Y, dense or CSR, in float32 or float64.

        Parameters
        ----------
        X, Y : array or CSR matrix of shapes (n, d) and (m, d)
        dtype : float32 or float64
        out : ndarray of shape (n, m), optional
            Where to put the result. Nothing else of this size is made.

        Returns
        -------
        ndarray of shape (n, m)
        """
        X, Y = as_matrix(X), as_matrix(Y)
        out = inner_products(X, Y, dtype=dtype, out=out)
        right = self.row_terms(Y)
        return self.from_products(out, right if Y is X else self.row_terms(X), right)

    def row_terms(self, X: Any) -> Floats:
        """What the kernel needs to know of each row besides inner products: shape (n_terms, n).

        To be computed once for rows that are used again and again, and passed to `from_products`.
        """
        return np.zeros((0, X.shape[0]))

    def from_products(self, products: NDArray[Any], left: Floats, right: Floats) -> NDArray[Any]:
        """Turn inner products <x_i, y_j> into K(x_i, y_j), in place.

        Parameters
        ----------
        products : ndarray of shape (n, m)
            Overwritten.
        left, right : ndarray of shape (n_terms, n) and (n_terms, m)
            The `row_terms` of either side.
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
        """K(x_i, x_i) for every row, without the matrix."""
        X = as_matrix(X)
        terms, values = self.row_terms(X), squared_norms(X)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            self.formula(values, terms, terms)
        return self._finite(values)

    def anchors(self, X: Any, indices: Any) -> Any:
        """Rows of X as `block` takes them on its right side: what a kernel expansion has to keep."""
        return X[indices]

    @property
    def series(self) -> tuple[float, ...] | None:
        """The coefficients a_j >= 0 where K(x, x') = sum_j a_j <x, x'>^j is a polynomial, else None.

        The feature space is then spanned by the monomials of the degrees j with a_j > 0.
        """
        return None

    @property
    def degrees(self) -> tuple[int, ...] | None:
        """The degrees of the monomials that span the feature space, where there are finitely many."""
        return None if self.series is None else tuple(j for j, a in enumerate(self.series) if a > 0.0)

    def feature_map(self, X: Any) -> Any:
        """phi(X), with phi(X) @ phi(Y).T equal to K(X, Y) up to rounding; refused where it is not finite.

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
        """The kernel times c, for c >= 0."""
        from . import algebra  # made of kernels

        return algebra.Scaled(self, not_negative("scale of a kernel", c))

    def warped(self, f: Callable[[Any], Any]) -> Kernel:
        """f(x) f(x') K(x, x'), for a function from rows, shape (n, d), to n numbers."""
        if not callable(f):
            raise InputTypeError(
                f"warped needs a function from rows, shape (n, d), to n numbers. Got {f!r} instead."
            )
        from . import algebra

        return algebra.Warped(self, f)

    def normalised(self) -> Kernel:
        """K(x, x') / sqrt(K(x, x) K(x', x')): every image scaled to length one."""
        from . import algebra

        return algebra.Normalised(self)

    def __add__(self, other: object) -> Kernel:
        from . import algebra, simple

        if isinstance(other, Kernel):
            return algebra.joined(algebra.Sum, self, other)
        if isinstance(other, Real) and not isinstance(other, bool):
            if other == 0:  # so that the builtin sum() works
                return self
            return algebra.joined(algebra.Sum, self, simple.Constant(float(other)))
        return NotImplemented

    def __radd__(self, other: object) -> Kernel:
        return self.__add__(other)

    def __pow__(self, degree: Any) -> Kernel:
        if degree == 1 and isinstance(degree, int):
            return self
        from . import algebra

        return algebra.Power(self, degree)

    def __mul__(self, other: object) -> Kernel:
        from . import algebra

        if isinstance(other, Kernel):
            return algebra.joined(algebra.Product, self, other)
        if isinstance(other, Real):
            return self.scaled(float(other))
        return NotImplemented

    def __rmul__(self, other: object) -> Kernel:
        return self.__mul__(other)

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

    def join(self) -> None:
        """Agree to be a part of another kernel; a kernel that cannot says why."""

    @property
    def by_products(self) -> bool:
        """Whether K(x, x') follows from <x, x'> and the row terms of either side."""
        return True

    @property
    def strict_by(self) -> str:
        """Who proved that the Gram matrix of rows that differ is positive definite; empty where nobody did.

        Such a kernel is called strict, and separates any labels of rows that differ. A sum with a strict
        member is strict; so is a product of one with kernels of positive diagonal (Schur's product theorem).
        """
        return ""

    @property
    def positive_diagonal(self) -> bool:
        """Whether K(x, x) > 0 for every row, that of zeros included."""
        return self.series is not None and self.series[0] > 0.0

    def ceiling(self, radius: float) -> float:
        """An upper bound of K(x, x) for all rows of norm ``radius`` or less; infinite where none is known."""
        if self.series is None:
            return inf
        try:
            return float(sum(a * radius ** (2 * j) for j, a in enumerate(self.series) if a))
        except OverflowError:
            return inf

    def _repr_html_(self) -> str:
        degrees = self.degrees
        span = "no finite map is known"
        if degrees is not None:
            listed = ", ".join(map(str, degrees[:6])) + (f" ... {degrees[-1]}" if len(degrees) > 6 else "")
            span = f"spanned by the monomials of degree {listed}"
        facts = [("kernel", type(self).__name__), ("feature space", span)]
        if self.strict_by:
            facts.append(("separates", "any labels of rows that differ"))
        return notebook.card(f"K(x, x') = {self}", facts)

    def rounding(self, width: int, radius: float, unit: float) -> Rounding | None:
        """Bound the rounding errors of `block` and `diagonal`; None where no bound is known.

        ``|computed - exact| <= relative |K(x, x')| + absolute sqrt(K(x, x) K(x', x'))`` for all rows within
        the arguments, in any order of summation, with fused operations or without, as long as nothing
        overflows or underflows. Exact is the formula on the rows as they were given, before they are rounded
        to the arithmetic. Solvers compute a kernel without a bound one row at a time, always in the same
        way, so that what they do cannot depend on how rows are cut into blocks.

        Parameters
        ----------
        width : int
            How many numbers of a row are not zero, at most.
        radius : float
            The largest norm of a row.
        unit : float
            The unit of rounding of the arithmetic: 2**-53 for float64, 2**-24 for float32.
        """
        return None

    def formula(self, values: NDArray[Any], left: NDArray[Any], right: NDArray[Any]) -> None:
        """Turn inner products into values of the kernel, in place.

        ``left[k]`` and ``right[k]`` are the k-th row terms of either side, made to broadcast.
        """
        raise NotImplementedError(
            f"The kernel {type(self).__name__} has no formula. Override formula (or block and diagonal)."
        )

    def onnx(self, graph: Graph, rows: str, anchors: Floats) -> str:
        """Add the kernel of every row with every anchor to a graph; return the name of the result."""
        raise InputTypeError(
            f"The kernel {type(self).__name__} has no ONNX form: it states no graph of operations. The named "
            "kernels of sx.kernels do, but for 'precomputed', and so do their sums, products and multiples."
        )

    def _finite(self, values: NDArray[Any]) -> NDArray[Any]:
        # one sum settles most cases in one reading; a sum that overflows settles nothing
        if not isfinite(values.sum()) and not np.isfinite(values).all():
            raise NumericOverflowError(
                f"The kernel {self} leaves the range of {values.dtype} on these rows.",
                remedy="Scale the columns first, for example with sklearn.preprocessing.MaxAbsScaler.",
                parameter="X",
            )
        return values


def product_error(width: int, unit: float) -> float:
    """What an inner product of two rows errs by, at most, per unit of ``|x| |x'|``.

    A sum of n products errs by at most ``n unit / (1 - n unit)`` of ``sum |x_j x'_j| <= |x| |x'|``, in any
    order (Higham 2002, section 3.1). Two more units are the rounding of the rows, two are to spare.
    """
    share = (width + 4) * unit
    return share / (1.0 - share) if share < 1.0 else inf


def compound(error: float, times: float) -> float:
    """``(1 + error)**times - 1``: what a relative error becomes in a product of so many factors."""
    exponent = times * log1p(error)
    return expm1(exponent) if exponent < 700.0 else inf


def _one_row(X: Any) -> Any:
    """A vector, or a sparse matrix of one row, as a matrix; None for anything else."""
    if sparse.issparse(X):
        return X.reshape(1, -1) if X.ndim == 1 or X.shape[0] == 1 else None
    return np.atleast_2d(X) if np.ndim(X) == 1 else None


def squared_norms(X: Any) -> Floats:
    """``|x_i|^2`` for every row, in float64."""
    if sparse.issparse(X):
        X = X.astype(np.float64)
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    X = X.astype(np.float64, copy=False)
    return np.asarray(np.einsum("ij,ij->i", X, X))


def inner_products(X: Any, Y: Any, *, dtype: Any = np.float64, out: Any = None) -> NDArray[Any]:
    """<x_i, y_j> for all pairs of rows, dense or CSR, in float32 or float64."""
    same_width(X, Y)
    dtype, shape = float_type(dtype), (X.shape[0], Y.shape[0])
    if out is None:
        out = np.empty(shape, dtype=dtype)
    elif out.shape != shape or out.dtype != dtype:
        raise InputError(
            f"out must have shape {shape} and type {dtype}. Got {out.shape} and {out.dtype} instead."
        )
    left = X.astype(dtype, copy=False)
    right = left if Y is X else Y.astype(dtype, copy=False)
    if not sparse.issparse(left) and not sparse.issparse(right):
        return np.asarray(np.matmul(left, right.T, out=out))
    if sparse.issparse(left) and not sparse.issparse(right):
        out[...] = left @ right.T
        return np.asarray(out)
    step = max(1, SPARSE_STRIP // max(1, shape[1]))
    for start in range(0, shape[0], step):
        part = left[start : start + step]
        out[start : start + step] = (
            (part @ right.T).toarray() if sparse.issparse(part) else (right @ part.T).T
        )
    return np.asarray(out)


def same_width(X: Any, Y: Any) -> None:
    """Refuse rows of two widths."""
    if X.shape[1] != Y.shape[1]:
        raise InputError(
            f"The rows have {X.shape[1]} columns on one side and {Y.shape[1]} on the other; a kernel "
            "compares rows of one width."
        )


def float_type(dtype: Any) -> np.dtype[Any]:
    """The types that kernels are evaluated in."""
    found: np.dtype[Any] = np.dtype(dtype)
    if found not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise InputTypeError(f"Kernels are evaluated in float32 or float64. Got {found} instead.")
    return found


def real_number(what: str, value: Any) -> float:
    """A parameter that must be a finite number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputTypeError(f"The {what} must be a number. Got {value!r} instead.")
    if not isfinite(value):
        raise InputError(f"The {what} must be finite. Got {value!r} instead.")
    return float(value)


def not_negative(what: str, value: Any) -> float:
    """A parameter that makes a kernel illegal below zero."""
    number = real_number(what, value)
    if number < 0.0:
        raise InputError(
            f"The {what} must be 0 or more: otherwise the kernel is not positive semidefinite. Got {value!r} "
            "instead."
        )
    return number


def positive(what: str, value: Any) -> float:
    """A parameter that makes a kernel illegal below zero, and the same for all rows at zero."""
    number = real_number(what, value)
    if number <= 0.0:
        raise InputError(
            f"The {what} must be above 0: with 0 all rows are the same to the kernel, and below it is not "
            f"positive semidefinite. Got {value!r} instead."
        )
    return number


def function_name(function: Any) -> str:
    """What to call a function in a formula."""
    name = getattr(function, "__name__", type(function).__name__)
    return "f" if name == "<lambda>" else name
