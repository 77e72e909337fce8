"""Kernels that are built from kernels: sums, products, polynomials, exponentials and rescalings.

Sums, products and non-negative multiples of kernels are kernels. So every polynomial of a kernel with
non-negative coefficients is a kernel, and so is a limit of such polynomials, because limits of positive
semidefinite matrices are positive semidefinite. That makes exp(K) legal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from math import expm1, inf, isfinite, log1p
from operator import iadd, imul
from typing import Any, ClassVar

import numpy as np
from numpy.polynomial.polynomial import polyadd, polymul
from numpy.typing import NDArray

from ..errors import InputError, InputTypeError
from .base import Floats, Graph, Kernel, as_matrix, compound, function_name, not_negative, whole_degree
from .simple import Linear

__all__ = [
    "Exponential",
    "Geometric",
    "Outer",
    "PolynomialOf",
    "Product",
    "Sum",
    "exp",
    "polynomial",
]


class _Composite(Kernel):
    """A kernel whose values are a function of the values of its parts."""

    inner: Kernel

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """The kernels that it is made of: one, unless a subclass says otherwise."""
        return (self.inner,)

    def combine(self, values: list[NDArray[Any]]) -> NDArray[Any]:
        """Return the values of the kernel; ``values`` are those of the parts and may be overwritten."""
        raise NotImplementedError

    def __post_init__(self) -> None:
        if not all(part.combinable for part in self.parts):
            raise InputError(
                "A precomputed Gram matrix cannot be combined with other kernels here. Combine the matrices "
                "themselves, and pass the result as precomputed."
            )

    @property
    def by_products(self) -> bool:
        """Whether this holds for all parts."""
        return all(part.by_products for part in self.parts)

    @property
    def n_terms(self) -> int:
        """The number of row terms of all parts."""
        return sum(part.n_terms for part in self.parts)

    def row_terms(self, X: Any) -> Floats:
        """Stack the row terms of the parts."""
        return np.vstack([part.row_terms(X) for part in self.parts])

    def formula(self, values: NDArray[Any], left: NDArray[Any], right: NDArray[Any]) -> None:
        """Apply the formulas of the parts, each with its own row terms, and combine the results."""
        parts, start = self.parts, 0
        found = [*(values.copy() for _ in parts[1:]), values]
        for part, each in zip(parts, found, strict=True):
            stop = start + part.n_terms
            part.formula(each, left[start:stop], right[start:stop])
            start = stop
        combined = self.combine(found)
        if combined is not values:
            values[...] = combined

    def values(self, X: Any, Y: Any, dtype: Any) -> NDArray[Any]:
        """Combine a block of each part; these are copied, because a function may keep what it returns."""
        return self._combined([np.array(part.block(X, Y, dtype=dtype)) for part in self.parts])

    def diagonal(self, X: Any) -> Floats:
        """Combine the diagonals of the parts."""
        X = as_matrix(X)
        return self._combined([part.diagonal(X) for part in self.parts])

    def _combined(self, values: list[NDArray[Any]]) -> NDArray[Any]:
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            return self._finite(self.combine(values))

    def ceiling(self, radius: float) -> float:
        """Combine the bounds of the parts, because a kernel grows with its parts."""
        known = [part.ceiling(radius) for part in self.parts]
        if not all(map(isfinite, known)):
            return inf
        with np.errstate(over="ignore"):
            return float(self.combine([np.full(1, each) for each in known])[0])

    def rounding(self, width: int, radius: float, unit: float) -> float | None:
        """Combine the bounds of the parts; the bound is unknown if that of a part is."""
        errors = [part.rounding(width, radius, unit) for part in self.parts]
        known = [each for each in errors if each is not None]
        return self._joint_error(known, radius, unit) if len(known) == len(errors) else None

    def _joint_error(self, errors: list[float], radius: float, unit: float) -> float | None:
        """Return the rounding bound, given those of the parts."""
        raise NotImplementedError


class _Combination(_Composite):
    """Kernels that are combined element by element. Two combinations are equal in any order of members."""

    members: tuple[Kernel, ...]
    _operation: ClassVar[str]  # of ONNX
    _join: ClassVar[Any]  # of arrays, in place
    _join_series: ClassVar[Any]  # of polynomials

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """The members."""
        return self.members

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and Counter(self.members) == Counter(other.members)

    def __hash__(self) -> int:
        return hash((type(self).__name__, frozenset(Counter(self.members).items())))

    def onnx(self, graph: Graph, rows: str, anchors: Floats) -> str:
        """Combine the graphs of the members."""
        parts = [member.onnx(graph, rows, anchors) for member in self.members]
        return reduce(lambda total, part: graph.node(self._operation, total, part), parts)

    def combine(self, values: list[NDArray[Any]]) -> NDArray[Any]:
        """Apply the operation to all values."""
        return np.asarray(reduce(self._join, values[:-1], values[-1]))

    @property
    def series(self) -> tuple[float, ...] | None:
        """The sum or product of the members' polynomials."""
        known = [member.series for member in self.members]
        return None if None in known else tuple(np.asarray(reduce(self._join_series, known)).tolist())


def joined(kind: type[Sum] | type[Product], *kernels: Kernel) -> Kernel:
    """Return one sum (or product) of kernels; a kernel that is itself one contributes its members."""
    members: list[Kernel] = []
    for kernel in kernels:
        members += kernel.members if isinstance(kernel, kind) else (kernel,)
    return kind(tuple(members))


@dataclass(frozen=True, eq=False)
class Sum(_Combination):
    """K1 + K2 + ...: the feature vectors are concatenated. Made by ``k1 + k2``.

    Parameters
    ----------
    members : tuple of Kernel
    """

    members: tuple[Kernel, ...]
    stored_as: ClassVar[str] = "separatrix/Sum/1"
    _operation: ClassVar[str] = "Add"
    _join, _join_series = staticmethod(iadd), staticmethod(polyadd)

    def __str__(self) -> str:
        return " + ".join(map(str, self.members))

    @property
    def strict_by(self) -> str:
        """The proof for the first strict member."""
        return next((member.strict_by for member in self.members if member.strict_by), "")

    @property
    def positive_diagonal(self) -> bool:
        """Whether a member has a positive diagonal."""
        return any(member.positive_diagonal for member in self.members)

    def _joint_error(self, errors: list[float], radius: float, unit: float) -> float:
        """Take the largest bound of a member, as ``sum sqrt(K K') <= sqrt(sum K sum K')``, and additions."""
        added = len(errors) * unit
        return max(errors) * (1.0 + added) + added


@dataclass(frozen=True, eq=False)
class Product(_Combination):
    """K1 K2 ...: the features are all products of one feature of each member. Made by ``k1 * k2``.

    Parameters
    ----------
    members : tuple of Kernel
    """

    members: tuple[Kernel, ...]
    stored_as: ClassVar[str] = "separatrix/Product/1"
    _operation: ClassVar[str] = "Mul"
    _join, _join_series = staticmethod(imul), staticmethod(polymul)

    def __str__(self) -> str:
        return " * ".join(_grouped(member) for member in self.members)

    @property
    def strict_by(self) -> str:
        """The proof for the first strict member, if all members have positive diagonals."""
        proved = (member.strict_by for member in self.members if member.strict_by)
        return next(proved, "") if self.positive_diagonal else ""

    @property
    def positive_diagonal(self) -> bool:
        """Whether all members have a positive diagonal."""
        return all(member.positive_diagonal for member in self.members)

    def _joint_error(self, errors: list[float], radius: float, unit: float) -> float:
        """Multiply the errors of the members."""
        exponent = sum(log1p(error + unit) for error in errors)
        return expm1(exponent) if exponent < 700.0 else inf


@dataclass(frozen=True)
class Outer(Kernel):
    """f(x) f(x'): one feature per row. ``k.warped(f)`` multiplies a kernel by it.

    Parameters
    ----------
    f : callable
        A function from a matrix of rows to one number per row. If f gives a row the same number whatever the
        other rows are (as ``X[:, 0]`` does; ``X @ w`` may differ in the last bit), so does the kernel.

    Examples
    --------
    >>> def length(X):
    ...     return (X**2).sum(axis=1) ** 0.5
    >>> import separatrix as sx
    >>> print(sx.kernels.Linear().warped(length))
    length(x) length(x') * <x, x'>
    """

    f: Callable[[Any], Any]
    n_terms = 1  # f(x)

    def __post_init__(self) -> None:
        if not callable(self.f):
            raise InputTypeError(
                f"f must be a function from rows, shape (n, d), to n numbers. Got {self.f!r} instead."
            )

    def __str__(self) -> str:
        name = function_name(self.f)
        return f"{name}(x) {name}(x')"

    def row_terms(self, X: Any) -> Floats:
        """Return the values of f, checked."""
        values = np.asarray(self.f(X), dtype=np.float64)
        if values.shape != (X.shape[0],):
            raise InputError(
                f"The function {function_name(self.f)} of a warped kernel must return one number per row, "
                f"shape ({X.shape[0]},). It returned shape {values.shape}."
            )
        if not np.isfinite(values).all():
            row = int(np.flatnonzero(~np.isfinite(values))[0])
            raise InputError(
                f"The function {function_name(self.f)} of a warped kernel returned {values[row]}",
                needed="Every value must be finite.",
                row=row,
            )
        return values[None, :]

    def formula(self, values: NDArray[Any], left: NDArray[Any], right: NDArray[Any]) -> None:
        """Multiply f(x) by f(x')."""
        np.multiply(left[0], right[0], out=values)

    def rounding(self, width: int, radius: float, unit: float) -> float:
        """Return the error of one product of rounded numbers; the values of f count as exact."""
        return 4.0 * unit


class _Polynomial(_Composite):
    """a_0 + a_1 K + a_2 K^2 + ... with coefficients that are not negative."""

    @property
    def terms(self) -> tuple[float, ...]:
        """The coefficients, a_0 first; there are at least two."""
        raise NotImplementedError

    def combine(self, values: list[NDArray[Any]]) -> NDArray[Any]:
        """Evaluate the polynomial by Horner's rule."""
        (total,), terms = values, self.terms
        K = total.copy() if len(terms) > 2 else total
        total *= terms[-1]
        for a in terms[-2:0:-1]:
            if a:
                total += a
            total *= K
        total += terms[0]
        return total

    @property
    def series(self) -> tuple[float, ...] | None:
        """The polynomial of the inner kernel's polynomial."""
        inner = self.inner.series
        if inner is None:
            return None
        total: Any = np.zeros(1)
        for a in reversed(self.terms):
            total = polyadd(polymul(total, inner), [a])
        return tuple(total.tolist())

    @property
    def strict_by(self) -> str:
        """The proof for the inner kernel, if one of its powers has a positive coefficient."""
        return self.inner.strict_by if any(self.terms[1:]) else ""

    @property
    def positive_diagonal(self) -> bool:
        """Whether the constant is positive, or the inner kernel has a positive diagonal and counts."""
        return self.terms[0] > 0.0 or (any(self.terms[1:]) and self.inner.positive_diagonal)

    def _joint_error(self, errors: list[float], radius: float, unit: float) -> float:
        """Compound the error of the inner kernel.

        The j-th power errs by j shares of ``sqrt(K(x, x) K(x', x'))^j``, and
        ``sum a_j (K K')^(j/2) <= sqrt(sum a_j K^j sum a_j K'^j)`` by Cauchy and Schwarz.
        """
        return compound(errors[0] + 4.0 * unit, len(self.terms) - 1) + 4.0 * unit

    def onnx(self, graph: Graph, rows: str, anchors: Floats) -> str:
        """Evaluate the polynomial by Horner's rule."""
        K, terms = self.inner.onnx(graph, rows, anchors), self.terms
        total = graph.node("Mul", K, graph.number(terms[-1]))
        for a in terms[-2:0:-1]:
            shifted = graph.node("Add", total, graph.number(a)) if a else total
            total = graph.node("Mul", shifted, K)
        return graph.node("Add", total, graph.number(terms[0])) if terms[0] else total


@dataclass(frozen=True)
class Geometric(_Polynomial):
    """1 + t + t^2 + ... + t^degree with t = <x, x'>.

    Horner's rule computes it, so it is correct at t = 1 too, where ``(1 - t^(degree+1)) / (1 - t)`` is not
    defined.

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

    @property
    def terms(self) -> tuple[float, ...]:
        """Ones."""
        return (1.0,) * (self.degree + 1)


@dataclass(frozen=True)
class PolynomialOf(_Polynomial):
    """a_0 + a_1 K + a_2 K^2 + ... Made by ``2 * k``, ``k**3`` and ``sx.kernels.polynomial(k, coefficients)``.

    Parameters
    ----------
    inner : Kernel
    coefficients : sequence of float
        a_0 first. No coefficient is negative, and at least one after a_0 is positive.

    Examples
    --------
    >>> import separatrix as sx
    >>> print(sx.kernels.polynomial(sx.kernels.Gaussian(c=2.0), [1, 0, 3]))
    1 + 3 * (exp(-2 |x - x'|^2))^2
    >>> print((sx.kernels.Linear() + 1) ** 3)
    (<x, x'> + 1)^3
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
            power = "" if j == 0 else _grouped(self.inner) if j == 1 else f"({self.inner})^{j}"
            if a:
                parts.append(power if a == 1.0 and j > 1 else f"{a:g} * {power}" if power else f"{a:g}")
        return " + ".join(parts)

    def scaled(self, c: float) -> Kernel:
        """Multiply the coefficients."""
        c = not_negative("scale of a kernel", c)
        return PolynomialOf(self.inner, tuple(c * a for a in self.coefficients)) if c else super().scaled(c)

    @property
    def terms(self) -> tuple[float, ...]:
        """The coefficients."""
        return self.coefficients


@dataclass(frozen=True)
class Exponential(_Composite):
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
    positive_diagonal = True  # the constant of the series is one

    def __str__(self) -> str:
        return f"exp({self.inner})"

    def combine(self, values: list[NDArray[Any]]) -> NDArray[Any]:
        """Apply the exponential function."""
        np.exp(values[0], out=values[0])
        return values[0]

    @property
    def strict_by(self) -> str:
        """Micchelli (1986), if distinct rows have distinct feature vectors in the inner kernel.

        On finitely many points of any inner product space, ``exp(2 <u, u'>)`` is a Gaussian kernel times
        ``exp(|u|^2) exp(|u'|^2)``, and so it is definite. Feature vectors of distinct rows are distinct if
        the inner kernel is strict, or contains ``<x, x'>`` itself.
        """
        series = self.inner.series
        injective = series is not None and len(series) > 1 and series[1] > 0.0
        return self.inner.strict_by or ("Micchelli 1986" if injective else "")

    def _joint_error(self, errors: list[float], radius: float, unit: float) -> float | None:
        """Bound the error of the exponent by a share of the largest K(x, x), and add units of rounding."""
        size = self.inner.ceiling(radius)
        if not isfinite(size):
            return None
        exponent = errors[0] * size
        return expm1(exponent) + 16.0 * unit if exponent < 700.0 else inf

    def onnx(self, graph: Graph, rows: str, anchors: Floats) -> str:
        """Apply the exponential to the graph of the inner kernel."""
        return graph.node("Exp", self.inner.onnx(graph, rows, anchors))


exp, polynomial = Exponential, PolynomialOf


def _grouped(kernel: Kernel) -> str:
    """Return the formula of a kernel, in parentheses if it is a sum."""
    formula, depth = str(kernel), 0
    for place, letter in enumerate(formula):
        depth += (letter == "(") - (letter == ")")
        if not depth and formula.startswith(" + ", place):
            return f"({formula})"
    return formula
