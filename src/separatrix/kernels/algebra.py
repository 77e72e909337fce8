"""What may be built from kernels: sums, products, non-negative multiples, warps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..errors import InputError
from ..features import LARGEST
from ..rows.matrices import dense
from .base import EPS, Floats, Kernel, as_matrix, function_name


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
    def n_terms(self) -> int:  # type: ignore[override]
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

    def _map(self, values: NDArray[Any], left: NDArray[Any], right: NDArray[Any]) -> None:
        products = values.copy()
        start = self.members[0].n_terms
        self.members[0]._map(values, left[:start], right[:start])
        for place, member in enumerate(self.members[1:], 2):
            stop = start + member.n_terms
            part = products if place == len(self.members) else products.copy()
            member._map(part, left[start:stop], right[start:stop])
            self._join(values, part)
            start = stop

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
    def strict(self) -> bool:
        """Whether a member is."""
        return any(member.strict for member in self.members)

    @property
    def positive_diagonal(self) -> bool:
        """Whether a member has one."""
        return any(member.positive_diagonal for member in self.members)

    def _spread(self, X: Any, size: float, error: float) -> tuple[float, float]:
        parts = [member._spread(X, size, error) for member in self.members]
        total = sum(size for size, _ in parts)
        return total, sum(error for _, error in parts) + 2 * len(parts) * EPS * total

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

    def __str__(self) -> str:
        return " * ".join(
            f"({member})" if isinstance(member, Sum) else str(member) for member in self.members
        )

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
    def strict(self) -> bool:
        """Whether a member is, and all have positive diagonals."""
        return any(member.strict for member in self.members) and self.positive_diagonal

    @property
    def positive_diagonal(self) -> bool:
        """Whether all members have one."""
        return all(member.positive_diagonal for member in self.members)

    def _spread(self, X: Any, size: float, error: float) -> tuple[float, float]:
        parts = [member._spread(X, size, error) for member in self.members]
        exact = prod(size for size, _ in parts)
        top = prod(size + error for size, error in parts)
        return exact, top - exact + 4 * len(parts) * EPS * top

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

    def __str__(self) -> str:
        return f"{self.c:g} * {_grouped(self.inner)}"

    def scaled(self, c: float) -> Kernel:
        """One factor for both."""
        return Scaled(self.inner, super().scaled(c).c * self.c)  # type: ignore[attr-defined]

    @property
    def n_terms(self) -> int:  # type: ignore[override]
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
    def strict(self) -> bool:
        """Whether the kernel inside is, and c is not zero."""
        return self.c > 0.0 and self.inner.strict

    @property
    def positive_diagonal(self) -> bool:
        """Whether the kernel inside has one, and c is not zero."""
        return self.c > 0.0 and self.inner.positive_diagonal

    def _spread(self, X: Any, size: float, error: float) -> tuple[float, float]:
        size, error = self.inner._spread(X, size, error)
        return self.c * size, self.c * (error + EPS * size)

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

    def _map(self, values: NDArray[Any], left: NDArray[Any], right: NDArray[Any]) -> None:
        self.inner._map(values, left, right)
        values *= self.c


@dataclass(frozen=True)
class Warped(_Around):
    """f(x) f(x') K(x, x'). Made by ``k.warped(f)``.

    Parameters
    ----------
    inner : Kernel
    f : callable
        From a matrix of rows to one number a row.

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

    @property
    def n_terms(self) -> int:  # type: ignore[override]
        """f(x), then those of the kernel inside."""
        return 1 + self.inner.n_terms

    def row_terms(self, X: Any) -> Floats:
        """f(x), then the terms of the kernel inside."""
        return np.vstack([self.factors(X)[None, :], self.inner.row_terms(X)])

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

    def _spread(self, X: Any, size: float, error: float) -> tuple[float, float]:
        size, error = self.inner._spread(X, size, error)
        square = float((self.factors(X) ** 2).max(initial=0.0))
        return square * size, square * (error + 2.0 * EPS * size)

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

    def _map(self, values: NDArray[Any], left: NDArray[Any], right: NDArray[Any]) -> None:
        self.inner._map(values, left[1:], right[1:])
        values *= left[0]
        values *= right[0]


def _grouped(kernel: Kernel) -> str:
    return f"({kernel})" if isinstance(kernel, Sum) else str(kernel)
