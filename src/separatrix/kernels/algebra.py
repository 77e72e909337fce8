"""What may be built from kernels: sums, products, non-negative multiples, warps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from math import expm1, inf, isfinite, log1p, prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..features import LARGEST
from ..sparse import dense, sparse
from .base import Floats, Graph, Kernel, Rounding, as_matrix, factor, function_name

__all__ = ["Product", "Scaled", "Sum", "Warped"]


def joined(kind: type[Sum] | type[Product], *kernels: Kernel) -> Kernel:
    """One sum (or product) of all; the members of those that are one already are taken over."""
    members: list[Kernel] = []
    for kernel in kernels:
        members += kernel.members if isinstance(kernel, kind) else (kernel,)
    return kind(tuple(members))


class _Combination(Kernel):
    """Kernels combined element by element; equal whatever the order of the members."""

    members: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        for member in self.members:
            member.join()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and Counter(self.members) == Counter(other.members)

    def __hash__(self) -> int:
        return hash((type(self).__name__, frozenset(Counter(self.members).items())))

    @property
    def n_terms(self) -> int:
        """Those of all members."""
        return sum(member.n_terms for member in self.members)

    @property
    def by_products(self) -> bool:
        """Whether all members are."""
        return all(member.by_products for member in self.members)

    def row_terms(self, X: Any) -> Floats:
        """Those of all members, one below the other."""
        return np.vstack([member.row_terms(X) for member in self.members])

    def block(self, X: Any, Y: Any, *, dtype: Any = np.float64, out: Any = None) -> NDArray[Any]:
        """One product for all members, where each follows from it; else one block a member."""
        if self.by_products:
            return super().block(X, Y, dtype=dtype, out=out)
        first, *rest = self.members
        total = first.block(X, Y, dtype=dtype, out=out)
        if out is None:
            total = total.copy()  # a function may hand out a matrix that it keeps
        for member in rest:
            self._join(total, member.block(X, Y, dtype=dtype))
        return total

    def diagonal(self, X: Any) -> Floats:
        """Combine the members' diagonals."""
        first, *rest = self.members
        total = first.diagonal(X)
        for member in rest:
            self._join(total, member.diagonal(X))
        return total

    def formula(self, values: NDArray[Any], left: NDArray[Any], right: NDArray[Any]) -> None:
        """Combine the members' formulas, each with its own row terms."""
        products = values.copy()
        start = self.members[0].n_terms
        self.members[0].formula(values, left[:start], right[:start])
        for place, member in enumerate(self.members[1:], 2):
            stop = start + member.n_terms
            part = products if place == len(self.members) else products.copy()
            member.formula(part, left[start:stop], right[start:stop])
            self._join(values, part)
            start = stop

    def onnx(self, graph: Graph, rows: str, anchors: Floats) -> str:
        """Combine the members' graphs."""
        parts = [member.onnx(graph, rows, anchors) for member in self.members]
        return reduce(lambda total, part: graph.node(self._operation, total, part), parts)

    def _parts(self, width: int, radius: float, unit: float) -> list[float] | None:
        """The bounds of the members; None where one has none."""
        found = [member.rounding(width, radius, unit) for member in self.members]
        known = [each.total for each in found if each is not None]
        return known if len(known) == len(found) else None

    _operation: ClassVar[str]  # of ONNX

    @staticmethod
    def _join(total: NDArray[Any], part: NDArray[Any]) -> None:
        raise NotImplementedError


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

    @property
    def series(self) -> tuple[float, ...] | None:
        """The sum of the members' polynomials."""
        total: Any = np.zeros(1)
        for member in self.members:
            if member.series is None:
                return None
            total = np.polynomial.polynomial.polyadd(total, member.series)
        return tuple(total.tolist())

    @property
    def strict_by(self) -> str:
        """That of a member."""
        return next((member.strict_by for member in self.members if member.strict_by), "")

    @property
    def positive_diagonal(self) -> bool:
        """Whether a member has one."""
        return any(member.positive_diagonal for member in self.members)

    def ceiling(self, radius: float) -> float:
        """The sum of the members'."""
        return sum(member.ceiling(radius) for member in self.members)

    def rounding(self, width: int, radius: float, unit: float) -> Rounding | None:
        """The largest of the members', as ``sum sqrt(K K') <= sqrt(sum K sum K')``, and the additions."""
        parts = self._parts(width, radius, unit)
        if parts is None:
            return None
        added = len(parts) * unit
        return Rounding(0.0, max(parts) * (1.0 + added) + added)

    def feature_map(self, X: Any) -> Any:
        """The members' maps side by side, unless they are monomials, which are merged."""
        if self.series is not None:
            return super().feature_map(X)
        parts = [member.feature_map(X) for member in self.members]
        return sparse.csr_array(sparse.hstack(parts)) if sparse.issparse(parts[0]) else np.hstack(parts)

    @staticmethod
    def _join(total: NDArray[Any], part: NDArray[Any]) -> None:
        total += part


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

    @property
    def series(self) -> tuple[float, ...] | None:
        """The product of the members' polynomials."""
        total: Any = np.ones(1)
        for member in self.members:
            if member.series is None:
                return None
            total = np.polynomial.polynomial.polymul(total, member.series)
        return tuple(total.tolist())

    @property
    def strict_by(self) -> str:
        """That of a member, if all have positive diagonals."""
        proved = (member.strict_by for member in self.members if member.strict_by)
        return next(proved, "") if self.positive_diagonal else ""

    @property
    def positive_diagonal(self) -> bool:
        """Whether all members have one."""
        return all(member.positive_diagonal for member in self.members)

    def ceiling(self, radius: float) -> float:
        """The product of the members'; a zero beside an unknown bound leaves it unknown."""
        found = [member.ceiling(radius) for member in self.members]
        return prod(found) if all(map(isfinite, found)) else inf

    def rounding(self, width: int, radius: float, unit: float) -> Rounding | None:
        """The members' errors, multiplied."""
        parts = self._parts(width, radius, unit)
        if parts is None:
            return None
        exponent = sum(log1p(part + unit) for part in parts)
        return Rounding(0.0, expm1(exponent) if exponent < 700.0 else inf)

    def feature_map(self, X: Any) -> Any:
        """All products of the members' features, unless they are monomials, which are merged."""
        if self.series is not None:
            return super().feature_map(X)
        X = as_matrix(X)
        parts = [member.feature_map(X) for member in self.members]
        width = int(np.prod([part.shape[1] for part in parts], dtype=object))
        if width * X.shape[0] > LARGEST:
            raise InputError(
                f"The map of {self} has {width:,} columns: {width * X.shape[0]:,} numbers for {X.shape[0]:,} "
                f"rows, where {LARGEST:,} are the most. Use the kernel instead, which needs no map."
            )
        mapped = dense(parts[0])
        for part in parts[1:]:
            mapped = (mapped[:, :, None] * dense(part)[:, None, :]).reshape(X.shape[0], -1)
        return mapped

    @staticmethod
    def _join(total: NDArray[Any], part: NDArray[Any]) -> None:
        total *= part


class _Around(Kernel):
    """A kernel with something done to it."""

    inner: Kernel

    @property
    def by_products(self) -> bool:
        """Whether the kernel inside is."""
        return self.inner.by_products

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
        return Scaled(self.inner, factor(c) * self.c)

    @property
    def n_terms(self) -> int:
        """Those of the kernel inside."""
        return self.inner.n_terms

    def row_terms(self, X: Any) -> Floats:
        """Those of the kernel inside."""
        return self.inner.row_terms(X)

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

    def ceiling(self, radius: float) -> float:
        """C times that of the kernel inside."""
        return self.c * self.inner.ceiling(radius) if self.c else 0.0

    def rounding(self, width: int, radius: float, unit: float) -> Rounding | None:
        """That of the kernel inside, and the multiplication."""
        return self._inner_rounding(width, radius, unit)

    def feature_map(self, X: Any) -> Any:
        """The map of the kernel inside, times sqrt(c)."""
        return self.inner.feature_map(X) * np.sqrt(self.c)

    def block(self, X: Any, Y: Any, *, dtype: Any = np.float64, out: Any = None) -> NDArray[Any]:
        """C times the block of the kernel inside."""
        if self.by_products:
            return super().block(X, Y, dtype=dtype, out=out)
        values = self.inner.block(X, Y, dtype=dtype, out=out)
        return self._finite(np.multiply(values, self.c, out=out))

    def diagonal(self, X: Any) -> Floats:
        """C times the diagonal of the kernel inside."""
        return self.inner.diagonal(X) * self.c

    def onnx(self, graph: Graph, rows: str, anchors: Floats) -> str:
        """C times the graph of the kernel inside."""
        return graph.node("Mul", self.inner.onnx(graph, rows, anchors), graph.number(self.c))

    def formula(self, values: NDArray[Any], left: NDArray[Any], right: NDArray[Any]) -> None:
        """C times the formula of the kernel inside."""
        self.inner.formula(values, left, right)
        values *= self.c


class Rescaled(_Around):
    """f(x) f(x') K(x, x'): the image of each row times a number of its own."""

    def factors(self, X: Any) -> Floats:
        """f(x) of each row."""
        raise NotImplementedError

    @property
    def n_terms(self) -> int:
        """f(x), then those of the kernel inside."""
        return 1 + self.inner.n_terms

    def row_terms(self, X: Any) -> Floats:
        """f(x), then the terms of the kernel inside."""
        return np.vstack([self.factors(X)[None, :], self.inner.row_terms(X)])

    def feature_map(self, X: Any) -> Any:
        """The map of the kernel inside, row by row times f(x)."""
        X = as_matrix(X)
        mapped, factors = self.inner.feature_map(X), self.factors(X)
        if sparse.issparse(mapped):
            return sparse.csr_array(sparse.diags_array(factors) @ mapped)
        return mapped * factors[:, None]

    def block(self, X: Any, Y: Any, *, dtype: Any = np.float64, out: Any = None) -> NDArray[Any]:
        """The block of the kernel inside, its rows and columns times f."""
        X, Y = as_matrix(X), as_matrix(Y)
        if self.by_products:
            return super().block(X, Y, dtype=dtype, out=out)
        values = self.inner.block(X, Y, dtype=dtype, out=out)
        values = np.multiply(values, self.factors(X)[:, None].astype(values.dtype), out=out)
        values *= self.factors(Y).astype(values.dtype)
        return self._finite(values)

    def diagonal(self, X: Any) -> Floats:
        """f(x)^2 times the diagonal of the kernel inside."""
        X = as_matrix(X)
        return self.inner.diagonal(X) * self.factors(X) ** 2

    def formula(self, values: NDArray[Any], left: NDArray[Any], right: NDArray[Any]) -> None:
        """The formula of the kernel inside, times f on either side."""
        self.inner.formula(values, left[1:], right[1:])
        values *= left[0]
        values *= right[0]


@dataclass(frozen=True)
class Warped(Rescaled):
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
                f"The function {function_name(self.f)} of a warped kernel returned {values[row]} for row "
                f"{row}; every value must be finite."
            )
        return values

    @property
    def positive_diagonal(self) -> bool:
        """Nothing is known of f."""
        return False

    def rounding(self, width: int, radius: float, unit: float) -> Rounding | None:
        """That of the kernel inside, and the multiplications; the values of f are taken as they come."""
        return self._inner_rounding(width, radius, unit)


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
