"""What may be built from kernels: sums, products, and functions of one kernel's values.

Sums, products and non-negative multiples of kernels are kernels, so every polynomial of one with non-negative
coefficients is; and where such polynomials converge at every pair of rows, so is their limit, as no Gram
matrix of theirs has a negative eigenvalue and limits of such matrices have none. That makes exp(K) legal, and
1 / (1 - K) where K(x, x) < 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from math import expm1, inf, isfinite, log1p
from typing import Any, ClassVar

import numpy as np
from numpy.polynomial.polynomial import polyadd, polymul
from numpy.typing import NDArray

from ..errors import InputError
from .base import (
    Floats,
    Graph,
    Kernel,
    Rounding,
    as_matrix,
    compound,
    function_name,
    not_negative,
    whole_degree,
)
from .simple import Linear, raise_to

__all__ = [
    "AllPowers",
    "Exponential",
    "Geometric",
    "Normalised",
    "PolynomialOf",
    "Power",
    "Product",
    "Scaled",
    "Sum",
    "Warped",
    "all_powers",
    "exp",
    "polynomial",
]

EXP_UNITS = 8.0  # of rounding: what an exponential errs by at most, its argument aside


class _Composite(Kernel):
    """A kernel whose values follow from those of its parts, and from a number that each row may have."""

    def parts(self) -> tuple[Kernel, ...]:
        """The kernels that it is made of."""
        raise NotImplementedError

    def combine(self, values: Any, rest: Iterator[Any], left: Any, right: Any) -> None:
        """Turn the first part's values into the kernel's, in place.

        ``rest`` gives the values of the other parts one by one; ``left`` and ``right`` are the `factors` of
        either side.
        """
        raise NotImplementedError

    def factors(self, X: Any) -> Floats:
        """The kernel's own numbers of each row, besides those of its parts: shape (none or one, n)."""
        return np.zeros((0, X.shape[0]))

    def __post_init__(self) -> None:
        for part in self.parts():
            part.join()

    @property
    def by_products(self) -> bool:
        """Whether all parts are."""
        return all(part.by_products for part in self.parts())

    def row_terms(self, X: Any) -> Floats:
        """The kernel's own numbers, then those of the parts, one below the other."""
        return np.vstack([self.factors(X), *(part.row_terms(X) for part in self.parts())])

    def block(self, X: Any, Y: Any, *, dtype: Any = np.float64, out: Any = None) -> NDArray[Any]:
        """One product for all parts, where each follows from it; else one block for each part."""
        if self.by_products:
            return super().block(X, Y, dtype=dtype, out=out)
        X, Y = as_matrix(X), as_matrix(Y)
        left, right = (self.factors(each).astype(dtype) for each in (X, Y))
        blocks = (part.block(X, Y, dtype=dtype) for part in self.parts())
        values = np.array(next(blocks))  # a function may hand out a matrix that it keeps
        self._combined(values, blocks, left[:, :, None], right[:, None, :])
        if out is None:
            return values
        out[...] = values
        return np.asarray(out)

    def diagonal(self, X: Any) -> Floats:
        """Combine the diagonals of the parts."""
        X = as_matrix(X)
        own, diagonals = self.factors(X), (part.diagonal(X) for part in self.parts())
        values = next(diagonals)
        self._combined(values, diagonals, own, own)
        return values

    def formula(self, values: NDArray[Any], left: NDArray[Any], right: NDArray[Any]) -> None:
        """Combine the formulas of the parts, each with its own row terms."""
        parts, place = self.parts(), self.n_terms - sum(part.n_terms for part in self.parts())
        own = left[:place], right[:place]
        products = values.copy() if len(parts) > 1 else values

        def evaluated() -> Iterator[NDArray[Any]]:
            start = place
            for number, part in enumerate(parts):
                stop = start + part.n_terms
                found = values if not number else products if number == len(parts) - 1 else products.copy()
                part.formula(found, left[start:stop], right[start:stop])
                yield found
                start = stop

        rest = evaluated()
        self.combine(next(rest), rest, *own)

    def _combined(self, values: Any, rest: Iterator[Any], left: Any, right: Any) -> None:
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            self.combine(values, rest, left, right)
        self._finite(values)

    @property
    def n_terms(self) -> int:
        """Those of all parts."""
        return sum(part.n_terms for part in self.parts())

    @property
    def positive_diagonal(self) -> bool:
        """Whether all parts have one."""
        return all(part.positive_diagonal for part in self.parts())

    def ceiling(self, radius: float) -> float:
        """Those of the parts, combined: a kernel grows with its parts."""
        known = [part.ceiling(radius) for part in self.parts()]
        if not all(map(isfinite, known)):
            return inf
        first, *rest = (np.full(1, each) for each in known)
        try:
            with np.errstate(over="ignore"):
                self.combine(first, iter(rest), (), ())
        except InputError:  # there is no such value
            return inf
        return float(first[0])

    def _totals(self, width: int, radius: float, unit: float) -> list[float] | None:
        """The bounds of the parts in terms of ``sqrt(K(x, x) K(x', x'))`` alone; None where one has none."""
        found = [part.rounding(width, radius, unit) for part in self.parts()]
        known = [each.total for each in found if each is not None]
        return known if len(known) == len(found) else None


class _Combination(_Composite):
    """Kernels combined element by element; equal whatever the order of the members."""

    members: tuple[Kernel, ...]
    _operation: ClassVar[str]  # of ONNX

    def parts(self) -> tuple[Kernel, ...]:
        """The members."""
        return self.members

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and Counter(self.members) == Counter(other.members)

    def __hash__(self) -> int:
        return hash((type(self).__name__, frozenset(Counter(self.members).items())))

    def onnx(self, graph: Graph, rows: str, anchors: Floats) -> str:
        """Combine the members' graphs."""
        parts = [member.onnx(graph, rows, anchors) for member in self.members]
        return reduce(lambda total, part: graph.node(self._operation, total, part), parts)

    def _series(self, join: Callable[[Any, Any], Any]) -> tuple[float, ...] | None:
        """The members' polynomials, joined."""
        known = [member.series for member in self.members]
        return None if None in known else tuple(np.asarray(reduce(join, known)).tolist())


def joined(kind: type[Sum] | type[Product], *kernels: Kernel) -> Kernel:
    """One sum (or product) of all; the members of those that are one already are taken over."""
    members: list[Kernel] = []
    for kernel in kernels:
        members += kernel.members if isinstance(kernel, kind) else (kernel,)
    return kind(tuple(members))


@dataclass(frozen=True, eq=False)
class Sum(_Combination):
    """K1 + K2 + ...: the feature spaces side by side. Made by ``k1 + k2``.

    Parameters
    ----------
    members : tuple of Kernel
    """

    members: tuple[Kernel, ...]
    stored_as: ClassVar[str] = "separatrix/Sum/1"
    _operation: ClassVar[str] = "Add"

    def __str__(self) -> str:
        return " + ".join(map(str, self.members))

    def combine(self, values: Any, rest: Iterator[Any], left: Any, right: Any) -> None:
        """Add."""
        for part in rest:
            values += part

    @property
    def series(self) -> tuple[float, ...] | None:
        """The sum of the members' polynomials."""
        return self._series(polyadd)

    @property
    def strict_by(self) -> str:
        """That of a member."""
        return next((member.strict_by for member in self.members if member.strict_by), "")

    @property
    def positive_diagonal(self) -> bool:
        """Whether a member has one."""
        return any(member.positive_diagonal for member in self.members)

    def rounding(self, width: int, radius: float, unit: float) -> Rounding | None:
        """The largest of the members', as ``sum sqrt(K K') <= sqrt(sum K sum K')``, and the additions."""
        totals = self._totals(width, radius, unit)
        if totals is None:
            return None
        added = len(totals) * unit
        return Rounding(0.0, max(totals) * (1.0 + added) + added)


@dataclass(frozen=True, eq=False)
class Product(_Combination):
    """K1 K2 ...: all products of a feature of each. Made by ``k1 * k2``.

    Parameters
    ----------
    members : tuple of Kernel
    """

    members: tuple[Kernel, ...]
    stored_as: ClassVar[str] = "separatrix/Product/1"
    _operation: ClassVar[str] = "Mul"

    def __str__(self) -> str:
        return " * ".join(_grouped(member) for member in self.members)

    def combine(self, values: Any, rest: Iterator[Any], left: Any, right: Any) -> None:
        """Multiply."""
        for part in rest:
            values *= part

    @property
    def series(self) -> tuple[float, ...] | None:
        """The product of the members' polynomials."""
        return self._series(polymul)

    @property
    def strict_by(self) -> str:
        """That of a member, if all have positive diagonals."""
        proved = (member.strict_by for member in self.members if member.strict_by)
        return next(proved, "") if self.positive_diagonal else ""

    def rounding(self, width: int, radius: float, unit: float) -> Rounding | None:
        """The members' errors, multiplied."""
        totals = self._totals(width, radius, unit)
        if totals is None:
            return None
        exponent = sum(log1p(total + unit) for total in totals)
        return Rounding(0.0, expm1(exponent) if exponent < 700.0 else inf)


class _Around(_Composite):
    """A kernel with something done to it."""

    inner: Kernel

    def parts(self) -> tuple[Kernel, ...]:
        """The kernel inside."""
        return (self.inner,)

    @property
    def strict_by(self) -> str:
        """That of the kernel inside."""
        return self.inner.strict_by

    def _inner_rounding(self, width: int, radius: float, unit: float) -> Rounding | None:
        """The bound of the kernel inside, with room for two multiplications by rounded numbers."""
        inner = self.inner.rounding(width, radius, unit)
        return None if inner is None else Rounding(inner.relative, inner.absolute + 4.0 * unit)


@dataclass(frozen=True)
class Scaled(_Around):
    """c K. Made by ``2 * k`` or ``k.scaled(2)``.

    Parameters
    ----------
    inner : Kernel
    c : float
        Not negative.
    """

    inner: Kernel
    c: float
    stored_as: ClassVar[str] = "separatrix/Scaled/1"

    def __str__(self) -> str:
        return f"{self.c:g} * {_grouped(self.inner)}"

    def scaled(self, c: float) -> Kernel:
        """One factor for both."""
        return Scaled(self.inner, not_negative("scale of a kernel", c) * self.c)

    def combine(self, values: Any, rest: Iterator[Any], left: Any, right: Any) -> None:
        """Multiply by c."""
        values *= self.c

    @property
    def series(self) -> tuple[float, ...] | None:
        """The coefficients times c."""
        return None if self.inner.series is None else tuple(self.c * a for a in self.inner.series)

    @property
    def strict_by(self) -> str:
        """That of the kernel inside, if c is not zero."""
        return self.inner.strict_by if self.c > 0.0 else ""

    @property
    def positive_diagonal(self) -> bool:
        """Whether the kernel inside has one, and c is not zero."""
        return self.c > 0.0 and self.inner.positive_diagonal

    def rounding(self, width: int, radius: float, unit: float) -> Rounding | None:
        """That of the kernel inside, and the multiplication."""
        return self._inner_rounding(width, radius, unit)

    def onnx(self, graph: Graph, rows: str, anchors: Floats) -> str:
        """C times the graph of the kernel inside."""
        return graph.node("Mul", self.inner.onnx(graph, rows, anchors), graph.number(self.c))


class _Polynomial(_Around):
    """a_0 + a_1 K + a_2 K^2 + ..., none of them negative, and one after a_0 positive."""

    def terms(self) -> tuple[float, ...]:
        """The coefficients, a_0 first."""
        raise NotImplementedError

    def combine(self, values: Any, rest: Iterator[Any], left: Any, right: Any) -> None:
        """Horner's rule."""
        K, terms = np.copy(values), self.terms()
        values[...] = terms[-1]
        for a in terms[-2::-1]:
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
        for a in reversed(self.terms()):
            total = polyadd(polymul(total, inner), [a])
        return tuple(total.tolist())

    @property
    def positive_diagonal(self) -> bool:
        """Whether there is a constant, or the kernel inside has one."""
        return self.terms()[0] > 0.0 or self.inner.positive_diagonal

    def rounding(self, width: int, radius: float, unit: float) -> Rounding | None:
        """The j-th power errs by j shares of ``sqrt(K(x, x) K(x', x'))^j``, and these sum to the diagonal.

        For ``sum a_j (K K')^(j/2) <= sqrt(sum a_j K^j sum a_j K'^j)``, by Cauchy and Schwarz.
        """
        totals = self._totals(width, radius, unit)
        if totals is None:
            return None
        return Rounding(0.0, compound(totals[0] + 4.0 * unit, len(self.terms()) - 1) + 4.0 * unit)

    def onnx(self, graph: Graph, rows: str, anchors: Floats) -> str:
        """Horner's rule."""
        K, terms = self.inner.onnx(graph, rows, anchors), self.terms()
        total = graph.node("Mul", K, graph.number(terms[-1]))
        for a in terms[-2:0:-1]:
            total = graph.node("Mul", graph.node("Add", total, graph.number(a)), K)
        return graph.node("Add", total, graph.number(terms[0]))


@dataclass(frozen=True)
class Geometric(_Polynomial):
    """1 + t + t^2 + ... + t^degree with t = <x, x'>.

    Summed by Horner's rule, so that it is right at t = 1 too, where ``(1 - t^(degree+1)) / (1 - t)``
    has no value.

    Parameters
    ----------
    degree : int

    Examples
    --------
    >>> Geometric(degree=3)([1.0], [1.0]), Geometric(degree=3)([1.0], [2.0])
    (4.0, 15.0)
    """

    degree: int = 3
    inner = Linear()
    names: ClassVar[tuple[str, ...]] = ("geometric",)
    stored_as: ClassVar[str] = "separatrix/Geometric/1"

    def __post_init__(self) -> None:
        object.__setattr__(self, "degree", whole_degree("'degree' parameter of Geometric", self.degree))

    def __str__(self) -> str:
        return f"sum_{{j<={self.degree}}} <x, x'>^j"

    def terms(self) -> tuple[float, ...]:
        """Ones."""
        return (1.0,) * (self.degree + 1)


@dataclass(frozen=True)
class Power(_Polynomial):
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
        object.__setattr__(self, "degree", whole_degree("power of a kernel", self.degree))

    def __str__(self) -> str:
        return f"({self.inner})^{self.degree}"

    def terms(self) -> tuple[float, ...]:
        """One alone, the last."""
        return (0.0,) * self.degree + (1.0,)

    def combine(self, values: Any, rest: Iterator[Any], left: Any, right: Any) -> None:
        """Raise to the power."""
        raise_to(values, self.degree)

    def onnx(self, graph: Graph, rows: str, anchors: Floats) -> str:
        """The power of the graph of the kernel inside."""
        return graph.node("Pow", self.inner.onnx(graph, rows, anchors), graph.number(float(self.degree)))


@dataclass(frozen=True)
class PolynomialOf(_Polynomial):
    """a_0 + a_1 K + a_2 K^2 + ... Made by ``sx.kernels.polynomial(k, coefficients)``.

    Parameters
    ----------
    inner : Kernel
    coefficients : sequence of float
        a_0 first; none is negative, and one after a_0 is positive.

    Examples
    --------
    >>> import separatrix as sx
    >>> print(sx.kernels.polynomial(sx.kernels.Gaussian(c=2.0), [1, 0, 3]))
    1 + 3 * (exp(-2 |x - x'|^2))^2
    """

    inner: Kernel
    coefficients: tuple[float, ...]
    stored_as: ClassVar[str] = "separatrix/PolynomialOf/1"

    def __post_init__(self) -> None:
        super().__post_init__()
        numbers = [not_negative("coefficient of a kernel", a) for a in self.coefficients]
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

    def terms(self) -> tuple[float, ...]:
        """The coefficients."""
        return self.coefficients


class _Limit(_Around):
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

    def _error(self, width: int, radius: float, unit: float) -> float | None:
        """What the values of the kernel inside err by, at most; None where no bound is known."""
        totals, size = self._totals(width, radius, unit), self.inner.ceiling(radius)
        return None if totals is None or not isfinite(size) else totals[0] * size


@dataclass(frozen=True)
class Exponential(_Limit):
    """exp(K): the limit of 1 + K + K^2 / 2 + K^3 / 6 + ... Made by ``sx.kernels.exp(k)``.

    Parameters
    ----------
    inner : Kernel

    Examples
    --------
    >>> import separatrix as sx
    >>> k = sx.kernels.exp(2 * sx.kernels.Linear())
    >>> print(k, "is", k([1.0, 0.0], [0.5, 9.0]))
    exp(2 * <x, x'>) is 2.718281828459045
    """

    inner: Kernel
    stored_as: ClassVar[str] = "separatrix/Exponential/1"

    def __str__(self) -> str:
        return f"exp({self.inner})"

    def combine(self, values: Any, rest: Iterator[Any], left: Any, right: Any) -> None:
        """The exponential."""
        np.exp(values, out=values)

    def rounding(self, width: int, radius: float, unit: float) -> Rounding | None:
        """The exponent errs by a share of the largest K(x, x), and the exponential by a few units."""
        error = self._error(width, radius, unit)
        if error is None:
            return None
        return Rounding(expm1(error) + 2.0 * EXP_UNITS * unit if error < 700.0 else inf, 0.0)

    def onnx(self, graph: Graph, rows: str, anchors: Floats) -> str:
        """The exponential of the graph of the kernel inside."""
        return graph.node("Exp", self.inner.onnx(graph, rows, anchors))


@dataclass(frozen=True)
class AllPowers(_Limit):
    """1 / (1 - K): the limit of 1 + K + K^2 + ..., for rows with K(x, x) below one.

    Made by ``sx.kernels.all_powers(k)``.

    Parameters
    ----------
    inner : Kernel

    Examples
    --------
    >>> import separatrix as sx
    >>> sx.kernels.all_powers(sx.kernels.Linear())([0.5], [0.5])
    1.3333333333333333
    """

    inner: Kernel
    stored_as: ClassVar[str] = "separatrix/AllPowers/1"

    def __str__(self) -> str:
        return f"1 / (1 - {_grouped(self.inner)})"

    def combine(self, values: Any, rest: Iterator[Any], left: Any, right: Any) -> None:
        """One over one minus the values."""
        if values.max(initial=0.0) >= 1.0:
            raise InputError(
                f"1 + K + K^2 + ... converges only where K(x, x) is below one; {self.inner} is "
                f"{float(values.max()):.6g} on these rows.",
                remedy="Scale the kernel or the columns down.",
                parameter="X",
            )
        np.subtract(1.0, values, out=values)
        np.divide(1.0, values, out=values)

    def rounding(self, width: int, radius: float, unit: float) -> Rounding | None:
        """The denominator is at least one minus the largest K(x, x), and errs by a share of that."""
        error = self._error(width, radius, unit)
        if error is None:
            return None
        error, least = error + 2.0 * unit, 1.0 - self.inner.ceiling(radius)
        return Rounding(error / (least - error) + 4.0 * unit if error < 0.5 * least else inf, 0.0)

    def onnx(self, graph: Graph, rows: str, anchors: Floats) -> str:
        """One over one minus the graph of the kernel inside."""
        rest = graph.node("Sub", graph.number(1.0), self.inner.onnx(graph, rows, anchors))
        return graph.node("Div", graph.number(1.0), rest)


exp, all_powers, polynomial = Exponential, AllPowers, PolynomialOf


class _Rescaled(_Around):
    """f(x) f(x') K(x, x'): the image of each row times a number of its own."""

    @property
    def n_terms(self) -> int:
        """f(x), then those of the kernel inside."""
        return 1 + self.inner.n_terms

    def combine(self, values: Any, rest: Iterator[Any], left: Any, right: Any) -> None:
        """Multiply by f on either side."""
        values *= left[0]
        values *= right[0]


@dataclass(frozen=True)
class Warped(_Rescaled):
    """f(x) f(x') K(x, x'). Made by ``k.warped(f)``.

    Parameters
    ----------
    inner : Kernel
    f : callable
        From a matrix of rows to one number a row. Where it gives a row the same number whatever rows stand
        beside it, as ``X[:, 0]`` does and ``X @ w`` need not, to the last bit, so does the kernel.

    Examples
    --------
    >>> def length(X):
    ...     return (X**2).sum(axis=1) ** 0.5
    >>> import separatrix as sx
    >>> print(sx.kernels.Linear().warped(length))
    length(x) length(x') * <x, x'>
    """

    inner: Kernel
    f: Callable[[Any], Any]

    def __str__(self) -> str:
        name = function_name(self.f)
        return f"{name}(x) {name}(x') * {_grouped(self.inner)}"

    def factors(self, X: Any) -> Floats:
        """The values of f, checked."""
        values = np.asarray(self.f(X), dtype=np.float64)
        if values.shape != (X.shape[0],):
            raise InputError(
                f"The function {function_name(self.f)} of a warped kernel returned shape {values.shape} for "
                f"{X.shape[0]} rows; ({X.shape[0]},) is needed, one number a row."
            )
        if not np.isfinite(values).all():
            row = int(np.flatnonzero(~np.isfinite(values))[0])
            raise InputError(
                f"The function {function_name(self.f)} of a warped kernel returned {values[row]}",
                needed="Every value must be finite.",
                row=row,
            )
        return values[None, :]

    @property
    def strict_by(self) -> str:
        """Nothing is known of f."""
        return ""

    @property
    def positive_diagonal(self) -> bool:
        """Nothing is known of f."""
        return False

    def ceiling(self, radius: float) -> float:
        """Nothing is known of f."""
        return inf

    def rounding(self, width: int, radius: float, unit: float) -> Rounding | None:
        """That of the kernel inside, and the multiplications; the values of f are taken as they come."""
        return self._inner_rounding(width, radius, unit)


@dataclass(frozen=True)
class Normalised(_Rescaled):
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

    def __str__(self) -> str:
        return f"normalised({self.inner})"

    def factors(self, X: Any) -> Floats:
        """One over the length of each image; zero where that is zero."""
        squares = self.inner.diagonal(X)
        return np.divide(1.0, np.sqrt(squares), out=np.zeros_like(squares), where=squares > 0.0)[None, :]

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


def _grouped(kernel: Kernel) -> str:
    """The formula of a kernel inside another; in parentheses where it would fall apart."""
    return f"({kernel})" if " + " in _outside(str(kernel)) else str(kernel)


def _outside(formula: str) -> str:
    """What of a formula stands outside all parentheses."""
    depth, found = 0, []
    for letter in formula:
        depth -= letter == ")"
        if not depth:
            found.append(letter)
        depth += letter == "("
    return "".join(found)
