"""Kernels that a user hands over: functions of two matrices, and Gram matrices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, InputTypeError
from ..sparse import dense, sparse
from . import algebra, simple
from .base import (
    SPARSE_STRIP,
    Floats,
    Kernel,
    Rounding,
    as_matrix,
    float_type,
    function_name,
    not_negative,
    positive,
    same_width,
)

__all__ = ["KINDS", "NAMES", "Custom", "Precomputed", "as_kernel", "check_gram", "tuned"]


@dataclass(frozen=True)
class Custom(Kernel):
    """A user's own function of two matrices, shapes (n, d) and (m, d), to their Gram matrix, shape (n, m).

    Nothing makes it legal: ask `check_legal`. Nothing is known of its rounding, so solvers that promise the
    same mistakes whatever the blocks call it with one row on the left.

    Parameters
    ----------
    function : callable
    """

    function: Callable[[Any, Any], Any]

    def __str__(self) -> str:
        return f"{function_name(self.function)}(x, x')"

    def block(self, X: Any, Y: Any, *, dtype: Any = np.float64, out: Any = None) -> NDArray[Any]:
        """The function's own values, checked for shape and for numbers that are not finite."""
        X, Y = as_matrix(X), as_matrix(Y)
        same_width(X, Y)
        found = self.function(X, Y)
        values = dense(found)
        shape = (X.shape[0], Y.shape[0])
        if values.shape != shape:
            raise InputError(
                f"The kernel {self} returned shape {values.shape} for matrices of shapes {X.shape} and "
                f"{Y.shape}; {shape} is needed, a number for each pair of rows. For a function f of two "
                "vectors pass lambda X, Y: sklearn.metrics.pairwise.pairwise_kernels(X, Y, metric=f)."
            )
        if values.dtype.kind not in "biuf":
            raise InputTypeError(f"The kernel {self} returned {values.dtype}; real numbers are needed.")
        bad = np.argwhere(~np.isfinite(values))
        if bad.size:
            i, j = bad[0].tolist()
            raise InputError(
                f"The kernel {self} returned {values[i, j]} for rows {i} and {j}, and {len(bad)} values "
                "that are not finite in all. Every value must be finite; look at the function and its input."
            )
        if out is None:
            return values.astype(float_type(dtype), copy=False)
        out[...] = values
        return np.asarray(out)

    def diagonal(self, X: Any) -> Floats:
        """K(x_i, x_i) for every row, from small blocks on the diagonal."""
        X, size = as_matrix(X), 16
        parts = [X[start : start + size] for start in range(0, X.shape[0], size)]
        return np.concatenate([np.zeros(0), *(np.diagonal(self.block(part, part)) for part in parts)])

    @property
    def by_products(self) -> bool:
        """The function is asked for every pair."""
        return False


@dataclass(frozen=True)
class Precomputed(Kernel):
    """The rows of X are rows of a Gram matrix: ``X[i, j]`` is K of row i with training row j.

    In `block` the right side is an array of indices of training rows.
    """

    names: ClassVar[tuple[str, ...]] = ("precomputed",)
    stored_as: ClassVar[str] = "separatrix/Precomputed/1"

    def __str__(self) -> str:
        return "precomputed"

    def __call__(self, X: Any, Y: Any = None) -> Any:
        """The matrix itself."""
        X = as_matrix(X)
        return self.block(X, np.arange(X.shape[1]) if Y is None else Y)

    def block(self, X: Any, Y: Any, *, dtype: Any = np.float64, out: Any = None) -> NDArray[Any]:
        """Pick the columns of the training rows Y."""
        X = as_matrix(X)
        part = dense(X[:, np.asarray(Y, dtype=np.int64)])
        if out is None:
            return np.asarray(part, dtype=float_type(dtype))
        out[...] = part
        return np.asarray(out)

    def diagonal(self, X: Any) -> Floats:
        """The diagonal of the square matrix."""
        return np.array(check_gram(X).diagonal(), dtype=np.float64)

    def anchors(self, X: Any, indices: Any) -> Any:
        """The indices themselves: a row of a Gram matrix is known by its number."""
        return np.asarray(indices, dtype=np.int64)

    @property
    def by_products(self) -> bool:
        """There are no rows to multiply."""
        return False

    def rounding(self, width: int, radius: float, unit: float) -> Rounding:
        """The matrix is the kernel; its values are rounded to the arithmetic."""
        return Rounding(unit, 0.0)

    def join(self) -> NoReturn:
        """Refuse to be part of another kernel."""
        raise InputError(
            "A precomputed Gram matrix cannot be combined with other kernels here. Combine the matrices "
            "themselves, and pass the result as precomputed."
        )


_OFFERED = [getattr(home, name) for home in (simple, algebra) for name in home.__all__]
KINDS: list[type[Kernel]] = [*(kind for kind in _OFFERED if isinstance(kind, type)), Custom, Precomputed]
NAMES: dict[str, type[Kernel]] = {name: kind for kind in KINDS for name in kind.names}


def as_kernel(kernel: Any) -> Kernel:
    """A kernel from its name, from a function of two matrices, or as it is.

    Parameters
    ----------
    kernel : str, Kernel or callable
        "linear", "poly" (degree 3, c = 1), "rbf" (c = 1), "geometric" (degree 3) or "precomputed"; a
        kernel; or a function that returns a Gram matrix of shape (n, m) for matrices of shapes (n, d)
        and (m, d).

    Examples
    --------
    >>> as_kernel("rbf")
    Gaussian(c=1.0)
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str):
        if kernel == "sigmoid":
            raise InputError(
                "The sigmoid kernel tanh(gamma <x, x'> + coef0) is no inner product: its Gram matrices may "
                "have negative eigenvalues, and then no feature space exists to separate rows in.",
                remedy=f"Choose one of {', '.join(NAMES)}.",
                parameter="kernel",
            )
        if kernel not in NAMES:
            raise InputError(
                f"There is no kernel named {kernel!r}. The names are: {', '.join(NAMES)}.", parameter="kernel"
            )
        return NAMES[kernel]()
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise InputTypeError(
            f"{kernel.__name__} is a class of kernels; pass one of them: {kernel.__name__}()."
        )
    if callable(kernel):
        return Custom(kernel)
    raise InputTypeError(
        f"A kernel must be a name ({', '.join(NAMES)}), a kernel of sx.kernels, or a function of two "
        f"matrices. Got {kernel!r} instead."
    )


def tuned(kernel: Any, X: Any, gamma: Any = None, degree: Any = None, coef0: Any = None) -> Kernel:
    """A kernel by its name and the parameters that scikit-learn's `SVC` has for it.

    As there, a parameter that the named kernel does not have changes nothing; but a parameter that is None
    leaves the kernel as this library has it.

    Parameters
    ----------
    kernel : str, Kernel or callable
        As in `as_kernel`; only a name may come with the parameters below.
    X : matrix of shape (rows, columns)
        What "scale" and "auto" are computed from.
    gamma : float, "scale", "auto" or None
        "rbf": ``exp(-gamma |x - x'|^2)``. "poly": (gamma <x, x'> + coef0)^degree. "scale" is one over the
        columns times the variance of all numbers of X, "auto" one over the columns.
    degree : int or None
        Of "poly" and "geometric".
    coef0 : float or None
        Of "poly".

    Examples
    --------
    >>> print(tuned("rbf", np.eye(2), gamma=0.1), "and", tuned("poly", np.eye(2), gamma=2, degree=2, coef0=3))
    exp(-0.1 |x - x'|^2) and 4 * (1.5 + <x, x'>)^2
    """
    given = {"gamma": gamma, "degree": degree, "coef0": coef0}
    asked = [name for name, value in given.items() if value is not None]
    if not asked:
        return as_kernel(kernel)
    if not isinstance(kernel, str):
        raise InputError(
            f"{' and '.join(asked)} can be set only where the kernel is a name. Got {kernel!r} instead.",
            remedy="Give the kernel its own parameters, as in sx.kernels.Gaussian(c=0.1).",
            parameter="kernel",
        )
    kind = type(as_kernel(kernel))
    width = _gamma(gamma, X)
    if kind is simple.Gaussian:
        return simple.Gaussian(c=width)
    if kind is algebra.Geometric:
        return algebra.Geometric() if degree is None else algebra.Geometric(degree=degree)
    if kind is not simple.Polynomial:
        return as_kernel(kernel)
    shift = 1.0 if coef0 is None else not_negative("'coef0' parameter", coef0)
    plain = simple.Polynomial(degree=3 if degree is None else degree, c=shift / width)
    return plain if width == 1.0 else plain.scaled(width**plain.degree)


def _gamma(gamma: Any, X: Any) -> float:
    """The number that gamma stands for on these rows."""
    if gamma is None:
        return 1.0
    if isinstance(gamma, str):
        if gamma not in ("scale", "auto"):
            raise InputError(
                f"The 'gamma' parameter must be 'scale', 'auto' or a positive number. Got {gamma!r} instead.",
                parameter="gamma",
            )
        squares = (X.multiply(X) if sparse.issparse(X) else np.square(X, dtype=np.float64)).mean()
        spread = float(squares - X.mean(dtype=np.float64) ** 2) if gamma == "scale" else 1.0
        return 1.0 / (X.shape[1] * spread) if spread > 0.0 else 1.0
    return positive("'gamma' parameter", gamma)


def check_gram(matrix: Any) -> Any:
    """A precomputed Gram matrix, if it is square, symmetric up to rounding and finite."""
    K = as_matrix(matrix)
    if K.shape[0] != K.shape[1]:
        raise InputError(
            f"A precomputed Gram matrix must be square, one row and one column for each training row. Got "
            f"shape {K.shape} instead."
        )
    K = dense(K)
    scale = max(float(K.max(initial=0.0)), -float(K.min(initial=0.0)))
    if not isfinite(scale):
        raise InputError("The precomputed Gram matrix has values that are not finite.")
    eps = np.finfo(K.dtype).eps if K.dtype.kind == "f" else 0.0
    step = max(1, SPARSE_STRIP // max(1, K.shape[0]))
    for start in range(0, K.shape[0], step):
        differences = np.abs(
            np.subtract(K[start : start + step], K[:, start : start + step].T, dtype=np.float64)
        )
        if differences.max(initial=0.0) > np.sqrt(eps) * scale:
            i, j = np.unravel_index(int(differences.argmax()), differences.shape)
            raise InputError(
                f"A precomputed Gram matrix must be symmetric, but K[{start + i}, {j}] = {K[start + i, j]} "
                f"and K[{j}, {start + i}] = {K[j, start + i]}. If rounding did this, pass (K + K.T) / 2."
            )
    return K
