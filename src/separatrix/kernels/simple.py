"""The kernels that others are built from: linear, polynomial, Gaussian, constant."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, expm1
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .base import (
    Floats,
    Graph,
    Kernel,
    Rounding,
    compound,
    not_negative,
    positive,
    product_error,
    squared_norms,
    whole_degree,
)

# What `separatrix.kernels` offers of this module; a kernel of this list is known by its names, and to files.
__all__ = ["Constant", "Gaussian", "Linear", "Polynomial"]

FIRST_ORDER = 1e-3  # up to here an error's higher powers are covered by what solvers add to a bound


@dataclass(frozen=True)
class Linear(Kernel):
    """<x, x'>: the rows as they are.

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
        """Leave the inner products as they are."""

    def rounding(self, width: int, radius: float, unit: float) -> Rounding:
        """That of an inner product."""
        return Rounding(0.0, product_error(width, unit))

    def onnx(self, graph: Graph, rows: str, anchors: Floats) -> str:
        """The products."""
        return graph.products(rows, anchors)


@dataclass(frozen=True)
class Polynomial(Kernel):
    """(c + <x, x'>)^degree: all monomials up to the degree, or of exactly the degree where c = 0.

    Parameters
    ----------
    degree : int
        At least 1.
    c : float
        At least 0: a negative one would make the kernel illegal.

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
        """Shift and raise."""
        if self.c:
            values += self.c
        raise_to(values, self.degree)

    def rounding(self, width: int, radius: float, unit: float) -> Rounding:
        """In two parts, as most values are far below ``sqrt(K(x, x) K(x', x'))``.

        With ``p = |c + <x, x'>|`` and ``q = c + |x| |x'|`` the base errs by a share of q, so its power k,
        which is ``p^k`` in magnitude, by k times that share of ``q p^(k-1)``, to first order. By the
        inequality of the means this is at most ``(1 - 1/k) p^k / t`` and ``t^(k-1) q^k / k`` for every t > 0;
        t = 1/4 here. And ``q^k <= sqrt(K(x, x) K(x', x'))``.
        """
        k, error = self.degree, product_error(width, unit) + 4.0 * unit
        if k * error > FIRST_ORDER:
            return Rounding(0.0, compound(error, k))
        return Rounding(4.0 * (k - 1) * error, 0.25 ** (k - 1) * error)

    def onnx(self, graph: Graph, rows: str, anchors: Floats) -> str:
        """The power of the shifted products."""
        shifted = graph.node("Add", graph.products(rows, anchors), graph.number(self.c))
        return graph.node("Pow", shifted, graph.number(float(self.degree)))


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
        object.__setattr__(self, "c", positive("'c' parameter of Gaussian", self.c))

    def __str__(self) -> str:
        return f"exp(-{self.c:g} |x - x'|^2)"

    def row_terms(self, X: Any) -> Floats:
        """The numbers ``c |x|^2``."""
        return self.c * squared_norms(X)[None, :]

    def formula(self, values: NDArray[Any], left: NDArray[Any], right: NDArray[Any]) -> None:
        """The exponent is ``2 c <x, x'> - c |x|^2 - c |x'|^2``."""
        values *= 2.0 * self.c
        values -= left[0]
        values -= right[0]
        np.minimum(values, 0.0, out=values)  # what rounding left above zero is a distance of zero
        np.exp(values, out=values)

    def ceiling(self, radius: float) -> float:
        """K(x, x) is 1."""
        return 1.0

    def rounding(self, width: int, radius: float, unit: float) -> Rounding:
        """The exponent errs by a share of ``c |x|^2``, and the exponential by a few units of one."""
        # the row terms are sums in float64, whatever the arithmetic
        shares = 2.0 * product_error(width, unit) + 2.0 * product_error(width, 2.0**-53) + 16.0 * unit
        exponent = self.c * radius**2 * shares
        if not exponent < 0.5:
            return Rounding(0.0, 1.0)  # both values are between zero and one
        return Rounding(expm1(exponent), 8.0 * unit)

    def onnx(self, graph: Graph, rows: str, anchors: Floats) -> str:
        """The exponential of minus c times the squared distances."""
        own = graph.node("ReduceSumSquare", rows, axes=[1], keepdims=1)
        norms = graph.node("Add", own, graph.number((anchors**2).sum(axis=1)))
        twice = graph.node("Mul", graph.products(rows, anchors), graph.number(2.0))
        squares = graph.node("Max", graph.node("Sub", norms, twice), graph.number(0.0))
        return graph.node("Exp", graph.node("Mul", squares, graph.number(-self.c)))


@dataclass(frozen=True)
class Constant(Kernel):
    """The same number for all pairs of rows: an image with one coordinate. Made by ``k + c``.

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
        """Forget the inner products."""
        values[...] = self.c

    def rounding(self, width: int, radius: float, unit: float) -> Rounding:
        """That of one number."""
        return Rounding(2.0 * unit, 0.0)

    def onnx(self, graph: Graph, rows: str, anchors: Floats) -> str:
        """The products times zero, for their shape, and the number."""
        return graph.node(
            "Add", graph.node("Mul", graph.products(rows, anchors), graph.number(0.0)), graph.number(self.c)
        )


def raise_to(values: NDArray[Any], degree: int) -> None:
    """Raise to a power in place, by squaring: powers of floats are many times slower."""
    factor = None
    while degree > 1:
        if degree & 1:
            factor = values.copy() if factor is None else np.multiply(factor, values, out=factor)
        values *= values
        degree >>= 1
    if factor is not None:
        values *= factor
