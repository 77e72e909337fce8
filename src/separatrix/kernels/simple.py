"""The kernels from which others are built: linear, polynomial, plain monomials, Gaussian, constant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb, expm1
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..features import monomials
from ..float_environment import HALF_UNIT
from ..sparse import dense, sparse
from .base import (
    Floats,
    Graph,
    Kernel,
    as_matrix,
    compound,
    not_negative,
    product_error,
    same_width,
    squared_norms,
    whole_degree,
)

# Public names of `separatrix.kernels`. Estimators and model files know these kernels by their names.
__all__ = ["Constant", "Gaussian", "Linear", "Monomial", "Polynomial"]


@dataclass(frozen=True)
class Linear(Kernel):
    """<x, x'>: the rows themselves are the feature vectors.

    Examples
    --------
    >>> Linear()([1.0, 2.0], [3.0, 4.0])
    11.0
    """

    names: ClassVar[tuple[str, ...]] = ("linear",)
    stored_as: ClassVar[str] = "separatrix/Linear/1"

    def __str__(self) -> str:
        return "<x, x'>"

    @property
    def series(self) -> tuple[float, ...]:
        """K is <x, x'> itself."""
        return (0.0, 1.0)

    def formula(self, values: NDArray[Any], left: NDArray[Any], right: NDArray[Any]) -> None:
        """Leave the inner products unchanged."""

    def rounding(self, width: int, radius: float, unit: float) -> float:
        """Return the bound for an inner product."""
        return product_error(width, unit)

    def onnx(self, graph: Graph, rows: str, anchors: Floats) -> str:
        """Return the products."""
        return graph.products(rows, anchors)


@dataclass(frozen=True)
class Polynomial(Kernel):
    """(c + <x, x'>)^degree: all monomials up to the degree, or of exactly the degree if c = 0.

    Parameters
    ----------
    degree : int
        At least 1.
    c : float
        At least 0; a negative value would make the kernel illegal.

    Examples
    --------
    >>> Polynomial(degree=3, c=1.0)([1.0, 0.0], [2.0, 5.0])
    27.0
    """

    degree: int = 3
    c: float = 1.0
    names: ClassVar[tuple[str, ...]] = ("poly", "polynomial")
    stored_as: ClassVar[str] = "separatrix/Polynomial/1"

    def __post_init__(self) -> None:
        object.__setattr__(self, "degree", whole_degree("'degree' parameter of Polynomial", self.degree))
        object.__setattr__(self, "c", not_negative("'c' parameter of Polynomial", self.c))

    def __str__(self) -> str:
        base = f"({self.c:g} + <x, x'>)" if self.c else "<x, x'>"
        return base if self.degree == 1 else f"{base}^{self.degree}"

    @property
    def series(self) -> tuple[float, ...]:
        """The binomial coefficients times powers of c."""
        return tuple(comb(self.degree, j) * self.c ** (self.degree - j) for j in range(self.degree + 1))

    def formula(self, values: NDArray[Any], left: NDArray[Any], right: NDArray[Any]) -> None:
        """Add c, and raise to the power by repeated squaring, which is many times as fast as ``**``."""
        if self.c:
            values += self.c
        factor, degree = None, self.degree
        while degree > 1:
            if degree & 1:
                factor = values.copy() if factor is None else np.multiply(factor, values, out=factor)
            values *= values
            degree >>= 1
        if factor is not None:
            values *= factor

    def rounding(self, width: int, radius: float, unit: float) -> float:
        """Return the error of the base, compounded: ``(c + |x| |x'|)^k <= sqrt(K(x, x) K(x', x'))``."""
        return compound(product_error(width, unit) + 4.0 * unit, self.degree)

    def onnx(self, graph: Graph, rows: str, anchors: Floats) -> str:
        """Raise the shifted products to the power."""
        shifted = graph.node("Add", graph.products(rows, anchors), graph.number(self.c))
        return graph.node("Pow", shifted, graph.number(float(self.degree)))


@dataclass(frozen=True)
class Monomial(Kernel):
    """The sum of ``x^m x'^m`` over all monomials m up to the degree: plain monomials are the feature vector.

    The monomials of degree j contribute the complete homogeneous symmetric polynomial of degree j in the
    products ``p_k = x_k x'_k``. A recurrence over the columns gives the sum of all of them in ``columns *
    degree`` steps. For rows of one number it is the kernel `Geometric`. It separates the same rows as
    ``Polynomial(degree, c=1)``, which weights the monomials by multinomial coefficients; margins differ.

    Parameters
    ----------
    degree : int

    Examples
    --------
    >>> Monomial(degree=2)([2.0, 3.0], [1.0, 1.0])  # 1 + 2 + 3 + 4 + 6 + 9
    25.0
    """

    degree: int = 3
    names: ClassVar[tuple[str, ...]] = ("monomial",)
    stored_as: ClassVar[str] = "separatrix/Monomial/1"
    by_products = False
    positive_diagonal = True  # the constant monomial

    def __post_init__(self) -> None:
        object.__setattr__(self, "degree", whole_degree("'degree' parameter of Monomial", self.degree))

    def __str__(self) -> str:
        return f"sum_{{|m|<={self.degree}}} x^m x'^m"

    def values(self, X: Any, Y: Any, dtype: Any) -> NDArray[Any]:
        """Run the recurrence for all pairs of rows."""
        Y = as_matrix(Y)
        same_width(X, Y)
        pairs = zip(_columns(X, dtype), _columns(Y, dtype), strict=True)
        return self._total((x[:, None] * y for x, y in pairs), (X.shape[0], Y.shape[0]), dtype)

    def diagonal(self, X: Any) -> Floats:
        """Run the recurrence for each row with itself."""
        X = as_matrix(X)
        return self._total((x * x for x in _columns(X, np.float64)), (X.shape[0],), np.float64)

    def _total(self, products: Iterator[NDArray[Any]], shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Return h_d(1, p_1, ..., p_n), which is h_0 + ... + h_d of the products alone.

        ``h_j(..., p_k) = h_j(...) + p_k h_(j-1)(..., p_k)``: a monomial without p_k, or p_k times another.
        """
        sums = np.ones((self.degree + 1, *shape), dtype=dtype)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            for p in products:
                for j in range(1, self.degree + 1):
                    sums[j] += p * sums[j - 1]
            return self._finite(sums[-1])

    @property
    def degrees(self) -> tuple[int, ...]:
        """All degrees up to the largest."""
        return tuple(range(self.degree + 1))

    def feature_map(self, X: Any) -> Any:
        """Return the monomials of each row; the map is exact if no product is rounded."""
        return monomials(as_matrix(X).astype(np.float64, copy=False), self.degrees)

    def ceiling(self, radius: float) -> float:
        """Return the sum of ``radius^(2j)``, because ``h_j(p)`` is at most ``(sum of p)^j`` for p >= 0."""
        with np.errstate(over="ignore"):
            return float(np.sum(np.float64(radius) ** (2 * np.arange(self.degree + 1))))

    def rounding(self, width: int, radius: float, unit: float) -> float:
        """Count the roundings of a term: five per factor, one per column that is not zero.

        The sum of the sizes of all terms is at most ``sqrt(K(x, x) K(x', x'))`` (Cauchy and Schwarz).
        """
        return compound(unit, width + 5 * self.degree + 4)

    def onnx(self, graph: Graph, rows: str, anchors: Floats) -> str:
        """Unroll the recurrence."""
        ones = graph.number(np.ones((1, anchors.shape[0])))
        sums = [ones] * (self.degree + 1)
        for unit, column in zip(np.eye(anchors.shape[1]), anchors.T, strict=True):
            p = graph.node("Mul", graph.products(rows, unit[None, :]), graph.number(column[None, :]))
            for j in range(1, self.degree + 1):
                sums[j] = graph.node("Add", sums[j], graph.node("Mul", p, sums[j - 1]))
        return sums[-1]


def _columns(X: Any, dtype: Any) -> Iterator[NDArray[Any]]:
    """Yield the columns of a matrix."""
    X = X.tocsc() if sparse.issparse(X) else X
    for k in range(X.shape[1]):
        yield dense(X[:, [k]]).ravel().astype(dtype, copy=False)


@dataclass(frozen=True)
class Gaussian(Kernel):
    """``exp(-c |x - x'|^2)``, also called the radial basis function.

    Parameters
    ----------
    c : float
        Above 0; scikit-learn calls it gamma.

    Examples
    --------
    >>> Gaussian(c=0.5)([0.0, 0.0], [1.0, 1.0])
    0.367879441171
    """

    c: float = 1.0
    names: ClassVar[tuple[str, ...]] = ("rbf", "gaussian")
    stored_as: ClassVar[str] = "separatrix/Gaussian/1"
    n_terms = 1  # the squared norm
    strict_by = "Micchelli 1986"
    positive_diagonal = True  # K(x, x) is 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", not_negative("'c' parameter of Gaussian", self.c, allow_zero=False))

    def __str__(self) -> str:
        return f"exp(-{self.c:g} |x - x'|^2)"

    def row_terms(self, X: Any) -> Floats:
        """Return ``c |x|^2`` for every row."""
        return self.c * squared_norms(X)[None, :]

    def formula(self, values: NDArray[Any], left: NDArray[Any], right: NDArray[Any]) -> None:
        """Compute the exponent as ``2 c <x, x'> - c |x|^2 - c |x'|^2``."""
        values *= 2.0 * self.c
        values -= left[0]
        values -= right[0]
        np.minimum(values, 0.0, out=values)  # an exponent above zero is rounding error
        np.exp(values, out=values)

    def ceiling(self, radius: float) -> float:
        """Return 1, which is K(x, x)."""
        return 1.0

    def rounding(self, width: int, radius: float, unit: float) -> float:
        """Bound the error of the exponent by a share of ``c |x|^2``, and of the exponential by some units."""
        # The row terms are sums in float64, whatever the arithmetic.
        shares = 2.0 * product_error(width, unit) + 2.0 * product_error(width, HALF_UNIT) + 16.0 * unit
        exponent = self.c * radius**2 * shares
        return expm1(exponent) + 8.0 * unit if exponent < 0.5 else 1.0  # all values are between zero and one

    def onnx(self, graph: Graph, rows: str, anchors: Floats) -> str:
        """Compute the exponential of -c times the squared distances."""
        own = graph.node("ReduceSumSquare", rows, axes=[1], keepdims=1)
        norms = graph.node("Add", own, graph.number((anchors**2).sum(axis=1)))
        twice = graph.node("Mul", graph.products(rows, anchors), graph.number(2.0))
        squares = graph.node("Max", graph.node("Sub", norms, twice), graph.number(0.0))
        return graph.node("Exp", graph.node("Mul", squares, graph.number(-self.c)))


@dataclass(frozen=True)
class Constant(Kernel):
    """The same number for all pairs of rows: a feature vector with one coordinate. Made by ``k + c``.

    Parameters
    ----------
    c : float
        At least 0.
    """

    c: float = 1.0
    stored_as: ClassVar[str] = "separatrix/Constant/1"

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", not_negative("constant of a kernel", self.c))

    def __str__(self) -> str:
        return f"{self.c:g}"

    @property
    def series(self) -> tuple[float, ...]:
        """One coefficient."""
        return (self.c,)

    def formula(self, values: NDArray[Any], left: NDArray[Any], right: NDArray[Any]) -> None:
        """Replace every value by the constant."""
        values[...] = self.c

    def rounding(self, width: int, radius: float, unit: float) -> float:
        """Return the error of rounding one number."""
        return 2.0 * unit

    def onnx(self, graph: Graph, rows: str, anchors: Floats) -> str:
        """Multiply the products by zero, which keeps their shape, and add the constant."""
        return graph.node(
            "Add", graph.node("Mul", graph.products(rows, anchors), graph.number(0.0)), graph.number(self.c)
        )
