"""Functions of a kernel's values that give kernels again: powers, polynomials, their limits, a rescaling.

Products and non-negative multiples of kernels are kernels, so every polynomial of one with non-negative
coefficients is; and where such polynomials converge at every pair of rows, so is their limit, as no Gram
matrix of theirs has a negative eigenvalue and limits of such matrices have none. That makes exp(K) legal, and
1 / (1 - K) where K(x, x) < 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import expm1, inf, isfinite
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..sparse import dense
from .algebra import Product, Rescaled, _Around, _grouped
from .base import Floats, Graph, Kernel, Rounding, compound, real_number
from .simple import _raise

__all__ = [
    "AllPowers",
    "Constant",
    "Exponential",
    "Normalised",
    "PolynomialOf",
    "Power",
    "all_powers",
    "exp",
    "polynomial",
]

EXP_UNITS = 8.0  # of rounding: what an exponential errs by at most, its argument aside


def exp(kernel: Kernel) -> Kernel:
    """exp(K): the limit of 1 + K + K^2 / 2 + K^3 / 6 + ...

    Parameters
    ----------
    kernel : Kernel

    Examples
    --------
    >>> import separatrix as sx
    >>> k = sx.kernels.exp(2 * sx.kernels.Linear())
    >>> print(k, "is", k([1.0, 0.0], [0.5, 9.0]))
    exp(2 * <x, x'>) is 2.718281828459045
    """
    return Exponential(kernel)


def all_powers(kernel: Kernel) -> Kernel:
    """1 / (1 - K): the limit of 1 + K + K^2 + ..., for rows with K(x, x) below one.

    Parameters
    ----------
    kernel : Kernel

    Examples
    --------
    >>> import separatrix as sx
    >>> sx.kernels.all_powers(sx.kernels.Linear())([0.5], [0.5])
    1.3333333333333333
    """
    return AllPowers(kernel)


def polynomial(kernel: Kernel, coefficients: Any) -> Kernel:
    """a_0 + a_1 K + a_2 K^2 + ... with coefficients that are not negative.

    Parameters
    ----------
    kernel : Kernel
    coefficients : sequence of float
        a_0 first.

    Examples
    --------
    >>> import separatrix as sx
    >>> print(sx.kernels.polynomial(sx.kernels.Gaussian(c=2.0), [1, 0, 3]))
    1 + 3 * (exp(-2 |x - x'|^2))^2
    """
    return PolynomialOf(kernel, tuple(coefficients))


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
        object.__setattr__(self, "c", _not_negative("constant", self.c))

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


class _Mapped(_Around):
    """A function of the values of one kernel, element by element."""

    def __post_init__(self) -> None:
        self.inner.join()

    @property
    def n_terms(self) -> int:
        """Those of the kernel inside."""
        return self.inner.n_terms

    def row_terms(self, X: Any) -> Floats:
        """Those of the kernel inside."""
        return self.inner.row_terms(X)

    def block(self, X: Any, Y: Any, *, dtype: Any = np.float64, out: Any = None) -> NDArray[Any]:
        """The function of the block of the kernel inside."""
        if self.by_products:
            return super().block(X, Y, dtype=dtype, out=out)
        values = self.inner.block(X, Y, dtype=dtype, out=out)
        if out is None:
            values = values.copy()  # a function may hand out a matrix that it keeps
        return self._mapped(values)

    def diagonal(self, X: Any) -> Floats:
        """The function of the diagonal of the kernel inside."""
        return self._mapped(self.inner.diagonal(X))

    def formula(self, values: NDArray[Any], left: NDArray[Any], right: NDArray[Any]) -> None:
        """The function of the formula of the kernel inside."""
        self.inner.formula(values, left, right)
        self._map(values)

    def _mapped(self, values: NDArray[Any]) -> NDArray[Any]:
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            self._map(values)
        return self._finite(values)

    def _map(self, values: NDArray[Any]) -> None:
        raise NotImplementedError

    def _total(self, width: int, radius: float, unit: float) -> float | None:
        """The bound of the kernel inside, in terms of ``sqrt(K(x, x) K(x', x'))`` alone."""
        inner = self.inner.rounding(width, radius, unit)
        return None if inner is None else inner.total


@dataclass(frozen=True)
class Power(_Mapped):
    """K^degree: all products of so many features. Made by ``k**degree``.

    Parameters
    ----------
    inner : Kernel
    degree : int
        At least 1.

    Examples
    --------
    >>> import separatrix as sx
    >>> print((sx.kernels.Linear() + 1) ** 3)
    (<x, x'> + 1)^3
    """

    inner: Kernel
    degree: int
    stored_as: ClassVar[str] = "separatrix/Power/1"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.degree, bool) or not isinstance(self.degree, Integral) or self.degree < 1:
            raise InputError(
                f"A kernel may be raised to a whole number of 1 or more: other powers need not be positive "
                f"semidefinite. Got {self.degree!r} instead."
            )
        object.__setattr__(self, "degree", int(self.degree))

    def __str__(self) -> str:
        return f"({self.inner})^{self.degree}"

    def _map(self, values: NDArray[Any]) -> None:
        _raise(values, self.degree)

    @property
    def series(self) -> tuple[float, ...] | None:
        """The power of the polynomial inside."""
        if self.inner.series is None:
            return None
        return tuple(np.polynomial.polynomial.polypow(self.inner.series, self.degree).tolist())

    def feature_map(self, X: Any) -> Any:
        """All products of so many features of the kernel inside, unless they are monomials."""
        if self.series is not None:
            return super().feature_map(X)
        return Product((self.inner,) * self.degree).feature_map(X)

    @property
    def strict_by(self) -> str:
        """That of the kernel inside: a product of definite matrices is definite (Schur)."""
        return self.inner.strict_by

    @property
    def positive_diagonal(self) -> bool:
        """Whether the kernel inside has one."""
        return self.inner.positive_diagonal

    def ceiling(self, radius: float) -> float:
        """The power of that of the kernel inside."""
        return _power(self.inner.ceiling(radius), self.degree)

    def rounding(self, width: int, radius: float, unit: float) -> Rounding | None:
        """The error of the kernel inside, once for each factor."""
        total = self._total(width, radius, unit)
        return None if total is None else Rounding(0.0, compound(total + 2.0 * unit, self.degree))

    def onnx(self, graph: Graph, rows: str, anchors: Floats) -> str:
        """The power of the graph of the kernel inside."""
        return graph.node("Pow", self.inner.onnx(graph, rows, anchors), graph.number(float(self.degree)))


@dataclass(frozen=True)
class PolynomialOf(_Mapped):
    """a_0 + a_1 K + a_2 K^2 + ... Made by ``sx.kernels.polynomial(k, coefficients)``.

    Parameters
    ----------
    inner : Kernel
    coefficients : tuple of float
        a_0 first; none is negative, and one after a_0 is positive.
    """

    inner: Kernel
    coefficients: tuple[float, ...]
    stored_as: ClassVar[str] = "separatrix/PolynomialOf/1"

    def __post_init__(self) -> None:
        super().__post_init__()
        numbers = [_not_negative("coefficient", a) for a in self.coefficients]
        while numbers and numbers[-1] == 0.0:
            numbers.pop()
        if len(numbers) < 2:
            raise InputError(
                f"A polynomial of a kernel needs a positive coefficient after the first. Got "
                f"{list(self.coefficients)!r} instead; a number alone is sx.kernels.Constant(c)."
            )
        object.__setattr__(self, "coefficients", tuple(numbers))

    def __str__(self) -> str:
        parts = []
        for j, a in enumerate(self.coefficients):
            power = "" if j == 0 else f"({self.inner})" + (f"^{j}" if j > 1 else "")
            if a:
                parts.append(power if a == 1.0 and power else f"{a:g} * {power}" if power else f"{a:g}")
        return " + ".join(parts)

    def _map(self, values: NDArray[Any]) -> None:
        """Horner's rule."""
        K = values.copy()
        values[...] = self.coefficients[-1]
        for a in self.coefficients[-2::-1]:
            values *= K
            if a:
                values += a

    @property
    def series(self) -> tuple[float, ...] | None:
        """The polynomial of the polynomial inside."""
        inner = self.inner.series
        if inner is None:
            return None
        total: Any = np.zeros(1)
        for a in reversed(self.coefficients):
            total = np.polynomial.polynomial.polyadd(np.polynomial.polynomial.polymul(total, inner), [a])
        return tuple(total.tolist())

    def feature_map(self, X: Any) -> Any:
        """The maps of the powers side by side, unless they are monomials, which are merged."""
        if self.series is not None:
            return super().feature_map(X)
        powers = [Constant(1.0), *(Product((self.inner,) * j) for j in range(1, len(self.coefficients)))]
        terms = [(each, a) for each, a in zip(powers, self.coefficients, strict=True) if a]
        return np.hstack([dense(each.feature_map(X)) * np.sqrt(a) for each, a in terms])

    @property
    def strict_by(self) -> str:
        """That of the kernel inside: one of its powers is among the terms."""
        return self.inner.strict_by

    @property
    def positive_diagonal(self) -> bool:
        """Whether there is a constant, or the kernel inside has one."""
        return self.coefficients[0] > 0.0 or self.inner.positive_diagonal

    def ceiling(self, radius: float) -> float:
        """The polynomial of that of the kernel inside."""
        inner = self.inner.ceiling(radius)
        return float(sum(a * _power(inner, j) for j, a in enumerate(self.coefficients) if a))

    def rounding(self, width: int, radius: float, unit: float) -> Rounding | None:
        """The j-th power errs by j shares of ``sqrt(K(x, x) K(x', x'))^j``, and these sum to the diagonal.

        For ``sum a_j (K K')^(j/2) <= sqrt(sum a_j K^j sum a_j K'^j)``, by Cauchy and Schwarz.
        """
        total = self._total(width, radius, unit)
        degree = len(self.coefficients) - 1
        return None if total is None else Rounding(0.0, compound(total + 4.0 * unit, degree) + 4.0 * unit)

    def onnx(self, graph: Graph, rows: str, anchors: Floats) -> str:
        """Horner's rule."""
        K = self.inner.onnx(graph, rows, anchors)
        total = graph.node("Mul", K, graph.number(self.coefficients[-1]))
        for a in self.coefficients[-2:0:-1]:
            total = graph.node("Mul", graph.node("Add", total, graph.number(a)), K)
        return graph.node("Add", total, graph.number(self.coefficients[0]))


class _Limit(_Mapped):
    """A limit of polynomials with non-negative coefficients, of which those of all powers are positive."""

    @property
    def strict_by(self) -> str:
        """Micchelli (1986), where rows that differ have images that differ.

        On finitely many points of any space with an inner product, exp(2 <u, u'>) is a Gaussian kernel times
        exp(|u|^2) on either side, and so definite; any series with positive coefficients alone is as large
        as a small multiple of such a kernel with <u, u'> scaled down, plus what is legal. Images differ
        where the kernel inside is strict, or holds ``<x, x'>`` itself.
        """
        series = self.inner.series
        injective = series is not None and len(series) > 1 and series[1] > 0.0
        return self.inner.strict_by or ("Micchelli 1986" if injective else "")

    @property
    def positive_diagonal(self) -> bool:
        """The constant of the series is one."""
        return True


@dataclass(frozen=True)
class Exponential(_Limit):
    """exp(K). Made by ``sx.kernels.exp(k)``.

    Parameters
    ----------
    inner : Kernel
    """

    inner: Kernel
    stored_as: ClassVar[str] = "separatrix/Exponential/1"

    def __str__(self) -> str:
        return f"exp({self.inner})"

    def _map(self, values: NDArray[Any]) -> None:
        np.exp(values, out=values)

    def ceiling(self, radius: float) -> float:
        """The exponential of that of the kernel inside."""
        inner = self.inner.ceiling(radius)
        return float(np.exp(inner)) if inner < 700.0 else inf

    def rounding(self, width: int, radius: float, unit: float) -> Rounding | None:
        """The exponent errs by a share of the largest K(x, x), and the exponential by a few units."""
        total, size = self._total(width, radius, unit), self.inner.ceiling(radius)
        if total is None or not isfinite(size):
            return None
        exponent = total * size
        return Rounding(expm1(exponent) + 2.0 * EXP_UNITS * unit if exponent < 700.0 else inf, 0.0)

    def onnx(self, graph: Graph, rows: str, anchors: Floats) -> str:
        """The exponential of the graph of the kernel inside."""
        return graph.node("Exp", self.inner.onnx(graph, rows, anchors))


@dataclass(frozen=True)
class AllPowers(_Limit):
    """1 / (1 - K), for rows with K(x, x) below one. Made by ``sx.kernels.all_powers(k)``.

    Parameters
    ----------
    inner : Kernel
    """

    inner: Kernel
    stored_as: ClassVar[str] = "separatrix/AllPowers/1"

    def __str__(self) -> str:
        return f"1 / (1 - {_grouped(self.inner)})"

    def _map(self, values: NDArray[Any]) -> None:
        if values.max(initial=0.0) >= 1.0:
            raise InputError(
                f"1 + K + K^2 + ... converges only where K(x, x) is below one; {self.inner} is "
                f"{float(values.max()):.6g} on these rows.",
                remedy="Scale the kernel or the columns down.",
                parameter="X",
            )
        np.subtract(1.0, values, out=values)
        np.divide(1.0, values, out=values)

    def ceiling(self, radius: float) -> float:
        """That of the kernel inside, mapped; infinite where it may come to one."""
        inner = self.inner.ceiling(radius)
        return 1.0 / (1.0 - inner) if inner < 1.0 else inf

    def rounding(self, width: int, radius: float, unit: float) -> Rounding | None:
        """The denominator is at least one minus the largest K(x, x), and errs by a share of that."""
        total, size = self._total(width, radius, unit), self.inner.ceiling(radius)
        if total is None or not isfinite(size):
            return None
        error, least = total * size + 2.0 * unit, 1.0 - size
        return Rounding(error / (least - error) + 4.0 * unit if error < 0.5 * least else inf, 0.0)

    def onnx(self, graph: Graph, rows: str, anchors: Floats) -> str:
        """One over one minus the graph of the kernel inside."""
        rest = graph.node("Sub", graph.number(1.0), self.inner.onnx(graph, rows, anchors))
        return graph.node("Div", graph.number(1.0), rest)


@dataclass(frozen=True)
class Normalised(Rescaled):
    """K(x, x') / sqrt(K(x, x) K(x', x')): all images scaled to length one. Made by ``k.normalised()``.

    A row whose image is zero keeps it. It is a warped kernel whose f is known.

    Parameters
    ----------
    inner : Kernel

    Examples
    --------
    >>> import separatrix as sx
    >>> print(sx.kernels.Linear().normalised()([3.0, 0.0], [2.0, 2.0]))
    0.7071067811865475
    """

    inner: Kernel
    stored_as: ClassVar[str] = "separatrix/Normalised/1"

    def __post_init__(self) -> None:
        self.inner.join()

    def __str__(self) -> str:
        return f"normalised({self.inner})"

    def factors(self, X: Any) -> Floats:
        """One over the length of each image; zero where that is zero."""
        squares = self.inner.diagonal(X)
        return np.divide(1.0, np.sqrt(squares), out=np.zeros_like(squares), where=squares > 0.0)

    @property
    def strict_by(self) -> str:
        """That of the kernel inside, whose images are none of them zero then."""
        return self.inner.strict_by

    @property
    def positive_diagonal(self) -> bool:
        """Whether the kernel inside has one."""
        return self.inner.positive_diagonal

    def ceiling(self, radius: float) -> float:
        """One, and what rounding adds to it."""
        return 1.0 + 1e-9

    def rounding(self, width: int, radius: float, unit: float) -> Rounding | None:
        """The errors of the kernel inside at the pair, and at half on either side of the diagonal."""
        inner = self.inner.rounding(width, radius, unit)
        own = self.inner.rounding(width, radius, 2.0**-53)  # lengths are computed in float64
        if inner is None or own is None:
            return None
        if not max(inner.total, own.total) < 0.01:
            return Rounding(0.0, inf)
        spare = 1.02
        return Rounding(spare * (inner.relative + own.total) + 12.0 * unit, spare * inner.absolute)


def _not_negative(what: str, value: Any) -> float:
    number = real_number(what, value)
    if number < 0.0:
        raise InputError(
            f"The {what} of a kernel must be 0 or more: otherwise its Gram matrices need not be positive "
            f"semidefinite. Got {value!r} instead."
        )
    return number


def _power(value: float, degree: int) -> float:
    try:
        return float(value**degree)
    except OverflowError:
        return inf
