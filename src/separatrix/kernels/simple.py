"""The kernels that others are built from: linear, polynomial, Gaussian, geometric."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, expm1, inf
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .base import EPS, Floats, Kernel, real_number, squared_norms


@dataclass(frozen=True)
class Linear(Kernel):
    """<x, x'>: the rows as they are.

    Examples
    --------
    >>> Linear()([1.0, 2.0], [3.0, 4.0])
    11.0
    """

    def __str__(self) -> str:
        return "<x, x'>"

    @property
    def series(self) -> tuple[float, ...]:
        """K is <x, x'> itself."""
        return (0.0, 1.0)

    def _spread(self, X: Any, size: float, error: float) -> tuple[float, float]:
        return size, error

    def _map(self, values: NDArray[Any], left: NDArray[Any], right: NDArray[Any]) -> None:
        pass


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

    def __post_init__(self) -> None:
        object.__setattr__(self, "degree", _degree("Polynomial", self.degree))
        object.__setattr__(self, "c", _positive("Polynomial", self.c, zero=True))

    def __str__(self) -> str:
        base = f"({self.c:g} + <x, x'>)" if self.c else "<x, x'>"
        return base if self.degree == 1 else f"{base}^{self.degree}"

    @property
    def series(self) -> tuple[float, ...]:
        """The binomial coefficients times powers of c."""
        return tuple(comb(self.degree, j) * self.c ** (self.degree - j) for j in range(self.degree + 1))

    def _map(self, values: NDArray[Any], left: NDArray[Any], right: NDArray[Any]) -> None:
        if self.c:
            values += self.c
        _raise(values, self.degree)

    def _spread(self, X: Any, size: float, error: float) -> tuple[float, float]:
        base = self.c + size
        error += EPS * base
        top = _power(base + error, self.degree)
        slope = self.degree * _power(base + error, self.degree - 1)
        return _power(base, self.degree), slope * error + 2 * self.degree * EPS * top


@dataclass(frozen=True)
class Gaussian(Kernel):
    """exp(-c |x - x'|^2), also called the radial basis function.

    Parameters
    ----------
    c : float
        Above 0; scikit-learn calls it gamma.

    Examples
    --------
    >>> Gaussian(c=0.5)([0.0, 0.0], [1.0, 1.0])
    0.36787944117144233
    """

    c: float = 1.0
    n_terms = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", _positive("Gaussian", self.c, zero=False))

    def __str__(self) -> str:
        return f"exp(-{self.c:g} |x - x'|^2)"

    def row_terms(self, X: Any) -> Floats:
        """The numbers c |x|^2."""
        return self.c * squared_norms(X)[None, :]

    def _map(self, values: NDArray[Any], left: NDArray[Any], right: NDArray[Any]) -> None:
        values *= 2.0 * self.c
        values -= left[0]
        values -= right[0]
        np.minimum(values, 0.0, out=values)  # what rounding left above zero is a distance of zero
        np.exp(values, out=values)

    @property
    def strict(self) -> bool:
        """Gram matrices of distinct rows are positive definite (Micchelli 1986)."""
        return True

    @property
    def positive_diagonal(self) -> bool:
        """K(x, x) is 1."""
        return True

    def _spread(self, X: Any, size: float, error: float) -> tuple[float, float]:
        # the exponent is -c |x|^2 - c |x'|^2 + 2 c <x, x'>; the exponential itself is good to 16 units
        exponent = 4.0 * self.c * (error + 4.0 * EPS * size)
        return 1.0, (expm1(exponent) if exponent < 1.0 else 1.0) + 16.0 * EPS


@dataclass(frozen=True)
class Geometric(Kernel):
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "degree", _degree("Geometric", self.degree))

    def __str__(self) -> str:
        return f"sum_{{j<={self.degree}}} <x, x'>^j"

    @property
    def series(self) -> tuple[float, ...]:
        """Ones."""
        return (1.0,) * (self.degree + 1)

    def _map(self, values: NDArray[Any], left: NDArray[Any], right: NDArray[Any]) -> None:
        if self.degree == 1:
            values += 1.0
            return
        t = values.copy()
        values += 1.0
        for _ in range(self.degree - 1):
            values *= t
            values += 1.0

    def _spread(self, X: Any, size: float, error: float) -> tuple[float, float]:
        top = size + error
        powers = [_power(top, j) for j in range(self.degree + 1)]
        slope = sum(j * powers[j - 1] for j in range(1, self.degree + 1))
        return sum(powers), slope * error + 4 * self.degree * EPS * sum(powers)


def _raise(values: NDArray[Any], degree: int) -> None:
    """Raise to a power in place, by squaring: powers of floats are many times slower."""
    factor = None
    while degree > 1:
        if degree & 1:
            factor = values.copy() if factor is None else np.multiply(factor, values, out=factor)
        values *= values
        degree >>= 1
    if factor is not None:
        values *= factor


def _power(base: float, degree: int) -> float:
    try:
        return base**degree
    except OverflowError:
        return inf


def _positive(name: str, c: Any, *, zero: bool) -> float:
    value = real_number(f"'c' parameter of the {name}", c)
    if value < 0.0 or (value == 0.0 and not zero):
        bound = "0 or more" if zero else "above 0"
        raise InputError(
            f"The 'c' parameter of {name} must be {bound}: otherwise the kernel is not positive "
            f"semidefinite, or the same for all rows. Got {c!r} instead."
        )
    return value


def _degree(name: str, degree: Any) -> int:
    if isinstance(degree, bool) or not isinstance(degree, Integral) or degree < 1:
        raise InputError(
            f"The 'degree' parameter of {name} must be a whole number of 1 or more. Got {degree!r} instead."
        )
    return int(degree)
