"""Kernels that a user passes: names, functions of two matrices, and Gram matrices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, InputTypeError
from ..sparse import dense, sparse
from . import algebra, simple
from .base import (
    BLOCK_VALUES,
    Floats,
    Kernel,
    as_matrix,
    function_name,
    not_negative,
    same_width,
)

__all__ = ["KINDS", "NAMES", "Custom", "Precomputed", "as_kernel", "check_gram", "is_precomputed", "tuned"]


@dataclass(frozen=True)
class Custom(Kernel):
    """A user's function from two matrices, shapes (n, d) and (m, d), to their Gram matrix, shape (n, m).

    Nothing guarantees that it is legal: see `check_legal`. Its rounding errors are unknown, so solvers whose
    results must not depend on blocks call it with one row at a time.

    Parameters
    ----------
    function : callable
    """

    function: Callable[[Any, Any], Any]
    by_products = False

    def __str__(self) -> str:
        return f"{function_name(self.function)}(x, x')"

    def values(self, X: Any, Y: Any, dtype: Any) -> NDArray[Any]:
        """Return the values of the function, after checking their shape and that they are finite."""
        Y = as_matrix(Y)
        same_width(X, Y)
        values = dense(self.function(X, Y))
        shape = (X.shape[0], Y.shape[0])
        if values.shape != shape:
            raise InputError(
                f"The kernel {self} returned shape {values.shape} for matrices of shapes {X.shape} and "
                f"{Y.shape}; {shape} is needed, one number for each pair of rows. For a function f of two "
                "vectors pass lambda X, Y: sklearn.metrics.pairwise.pairwise_kernels(X, Y, metric=f)."
            )
        if values.dtype.kind not in "biuf":
            raise InputTypeError(f"The kernel {self} returned {values.dtype}; real numbers are needed.")
        bad = np.argwhere(~np.isfinite(values))
        if bad.size:
            i, j = bad[0].tolist()
            raise InputError(
                f"The kernel {self} returned {values[i, j]} for rows {i} and {j}; {len(bad)} values are not "
                "finite. Every value must be finite: check the function and its input."
            )
        return values

    def diagonal(self, X: Any) -> Floats:
        """Return K(x_i, x_i) for every row, from small blocks on the diagonal."""
        X, size = as_matrix(X), 16
        parts = [X[start : start + size] for start in range(0, X.shape[0], size)]
        return np.concatenate([np.zeros(0), *(np.diagonal(self.block(part, part)) for part in parts)])


@dataclass(frozen=True)
class Precomputed(Kernel):
    """The rows of X are rows of a Gram matrix: ``X[i, j]`` is K of row i with training row j.

    In `block`, the second argument is an array of indices of training rows.
    """

    names: ClassVar[tuple[str, ...]] = ("precomputed",)
    stored_as: ClassVar[str] = "separatrix/Precomputed/1"
    by_products = False
    combinable: ClassVar[bool] = False

    def __str__(self) -> str:
        return "precomputed"

    def __call__(self, X: Any, Y: Any = None) -> Any:
        """Return the matrix itself, or its columns Y."""
        X = as_matrix(X)
        return self.block(X, np.arange(X.shape[1]) if Y is None else Y)

    def values(self, X: Any, Y: Any, dtype: Any) -> NDArray[Any]:
        """Return the columns of the training rows Y."""
        return dense(X[:, np.asarray(Y, dtype=np.int64)])

    def diagonal(self, X: Any) -> Floats:
        """Return the diagonal of the square matrix."""
        return np.array(check_gram(X).diagonal(), dtype=np.float64)

    def anchors(self, X: Any, indices: Any) -> Any:
        """Return the indices: a row of a Gram matrix is known by its number."""
        return np.asarray(indices, dtype=np.int64)

    def rounding(self, width: int, radius: float, unit: float) -> float:
        """Return one unit: the matrix is the kernel, and its values are rounded to the arithmetic."""
        return unit


def is_precomputed(kernel: Any) -> bool:
    """Whether a kernel, or the name of one, stands for a Gram matrix instead of rows."""
    return isinstance(kernel, Precomputed) or (isinstance(kernel, str) and kernel == "precomputed")


_OFFERED = [getattr(home, name) for home in (simple, algebra) for name in home.__all__]
KINDS: list[type[Kernel]] = [*(kind for kind in _OFFERED if isinstance(kind, type)), Custom, Precomputed]
NAMES: dict[str, type[Kernel]] = {name: kind for kind in KINDS for name in kind.names}


def as_kernel(kernel: Any) -> Kernel:
    """Return a kernel for a name, for a function of two matrices, or for a kernel itself.

    Parameters
    ----------
    kernel : str, Kernel or callable
        "linear", "poly" (degree 3, c = 1), "rbf" (c = 1), "geometric" or "monomial" (degree 3), or
        "precomputed"; a kernel; or a function that returns a Gram matrix of shape (n, m) for matrices of
        shapes (n, d) and (m, d).

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
                "The sigmoid kernel tanh(gamma <x, x'> + coef0) is not an inner product: its Gram matrices "
                "may have negative eigenvalues, and then there is no feature space.",
                remedy=f"Choose one of {', '.join(NAMES)}.",
                parameter="kernel",
            )
        if kernel not in NAMES:
            raise InputError(
                f"There is no kernel named {kernel!r}.",
                remedy=f"Choose one of {', '.join(NAMES)}.",
                parameter="kernel",
            )
        return NAMES[kernel]()
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise InputTypeError(
            f"The kernel must be an instance. Got the class {kernel.__name__}; pass {kernel.__name__}()."
        )
    if callable(kernel):
        return Custom(kernel)
    raise InputTypeError(
        f"A kernel must be a name ({', '.join(NAMES)}), a kernel of sx.kernels, or a function of two "
        f"matrices. Got {kernel!r} instead."
    )


def tuned(kernel: Any, X: Any, gamma: Any = None, degree: Any = None, coef0: Any = None) -> Kernel:
    """Return the kernel for a name and the kernel parameters of `sklearn.svm.SVC`.

    As in `SVC`, a parameter that the named kernel does not have changes nothing. A parameter that is None
    keeps the default of this library.

    Parameters
    ----------
    kernel : str, Kernel or callable
        As in `as_kernel`. The parameters below can be set only for a name.
    X : matrix of shape (rows, columns)
        The rows from which "scale" and "auto" are computed.
    gamma : float, "scale", "auto" or None
        "rbf" is ``exp(-gamma |x - x'|^2)``, and "poly" is (gamma <x, x'> + coef0)^degree. "scale" means
        1 / (number of columns * variance of all values of X), and "auto" means 1 / number of columns.
    degree : int or None
        The degree of "poly", "geometric" and "monomial".
    coef0 : float or None
        The constant of "poly".

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
            f"{' and '.join(asked)} can be set only if the kernel is a name. Got {kernel!r} instead.",
            remedy="Set the parameters of the kernel itself, as in sx.kernels.Gaussian(c=0.1).",
            parameter="kernel",
        )
    kind = type(as_kernel(kernel))
    width = _gamma(gamma, X)
    if kind is simple.Gaussian:
        return simple.Gaussian(c=width)
    if kind in (algebra.Geometric, simple.Monomial):
        return as_kernel(kernel) if degree is None else kind(degree=degree)
    if kind is not simple.Polynomial:
        return as_kernel(kernel)
    shift = 1.0 if coef0 is None else not_negative("'coef0' parameter", coef0)
    plain = simple.Polynomial(degree=3 if degree is None else degree, c=shift / width)
    return plain if width == 1.0 else plain.scaled(width**plain.degree)


def _gamma(gamma: Any, X: Any) -> float:
    """Return the value of gamma on these rows."""
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
    return not_negative("'gamma' parameter", gamma, allow_zero=False)


def check_gram(matrix: Any) -> Any:
    """Return a precomputed Gram matrix; it must be square, finite, and symmetric up to rounding."""
    K = as_matrix(matrix)
    if K.shape[0] != K.shape[1]:
        raise InputError(
            f"A precomputed Gram matrix must be square, with one row and one column per training row. Got "
            f"shape {K.shape} instead."
        )
    K = dense(K)
    scale = max(float(K.max(initial=0.0)), -float(K.min(initial=0.0)))
    if not isfinite(scale):
        raise InputError("The precomputed Gram matrix has values that are not finite.")
    eps = np.finfo(K.dtype).eps if K.dtype.kind == "f" else 0.0
    step = max(1, BLOCK_VALUES // max(1, K.shape[0]))
    for start in range(0, K.shape[0], step):
        differences = np.abs(
            np.subtract(K[start : start + step], K[:, start : start + step].T, dtype=np.float64)
        )
        if differences.max(initial=0.0) > np.sqrt(eps) * scale:
            i, j = np.unravel_index(int(differences.argmax()), differences.shape)
            raise InputError(
                f"A precomputed Gram matrix must be symmetric, but K[{start + i}, {j}] = {K[start + i, j]} "
                f"and K[{j}, {start + i}] = {K[j, start + i]}. If this is rounding error, pass (K + K.T) / 2."
            )
    return K
