"""Explicit embeddings: map rows to a space in which a hyperplane separates them.

>>> import separatrix as sx
>>> problem = sx.datasets.make_rings(100, random_state=0)
>>> sx.separability(problem.X, problem.y, quasi=False).status
'inseparable'
>>> sx.separability(RadialLift().fit_transform(problem.X), problem.y).status
'separable'
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement
from math import comb
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from .errors import InputError
from .random_state import random_state_kept
from .sparse import sparse

__all__ = ["Monomials", "RadialLift"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LARGEST = 1 << 28  # numbers in a map: 2 GiB of float64


class _Embedding(TransformerMixin, BaseEstimator):
    """What the embeddings share: validation, and names of columns."""

    n_features_in_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _read(self, X: Any, *, reset: bool) -> Any:
        return validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=reset, ensure_min_features=1
        )

    def _names(self, input_features: Any) -> list[str]:
        check_is_fitted(self, "n_features_in_")
        return [str(name) for name in _check_feature_names_in(self, input_features)]


class Monomials(_Embedding):
    """All products of columns up to a degree: C(n + d, d) columns, including the constant.

    Parameters
    ----------
    degree : int, default=2
        At least 1.
    scaled : bool, default=False
        Multiply each monomial by the square root of how often it occurs in ``(1 + x_1 + ... + x_n)^degree``.
        Inner products are then the kernel ``sx.kernels.Polynomial(degree, c=1)``.

    Attributes
    ----------
    n_features_in_ : int
    feature_names_in_ : ndarray
        The names of the columns of X, if all of them are strings.
    n_output_features_ : int

    Examples
    --------
    >>> Monomials(degree=2).fit_transform([[2.0, 3.0]])
    array([[1., 2., 3., 4., 6., 9.]])
    >>> Monomials(degree=2).fit([[2.0, 3.0]]).get_feature_names_out(["a", "b"])
    array(['1', 'a', 'b', 'a^2', 'a b', 'b^2'], dtype=object)
    """

    def __init__(self, degree: int = 2, *, scaled: bool = False) -> None:
        self.degree = degree
        self.scaled = scaled

    def fit(self, X: Any, y: Any = None) -> Monomials:
        """Count the columns; raise an error if there would be too many monomials."""
        whole_degree("'degree' parameter of Monomials", self.degree)
        X = self._read(X, reset=True)
        require_room(X.shape, self._degrees)
        self.n_output_features_ = count_monomials(X.shape[1], self._degrees)
        return self

    def transform(self, X: Any) -> Any:
        """Return the monomials of each row; a CSR matrix if X is sparse."""
        check_is_fitted(self, "n_output_features_")
        X = self._read(X, reset=False)
        mapped = monomials(X, self._degrees)
        return scale_columns(mapped, self._factors().astype(mapped.dtype)) if self.scaled else mapped

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the monomials as text, such as ``x0^2 x1``."""
        names = self._names(input_features)
        tables = [exponent_table(len(names), degree) for degree in self._degrees]
        return np.array(
            [monomial_name(each, names) for table in tables for each in table.tolist()], dtype=object
        )

    @property
    def _degrees(self) -> tuple[int, ...]:
        return tuple(range(int(self.degree) + 1))

    def _factors(self) -> Floats:
        counts = [
            comb(self.degree, degree) * multinomials(exponent_table(self.n_features_in_, degree))
            for degree in self._degrees
        ]
        return np.sqrt(np.concatenate(counts))


class RadialLift(_Embedding):
    """``(x, |x|^2)``: a hyperplane there is a sphere here, so it can separate a disc from a ring around it.

    Attributes
    ----------
    n_features_in_ : int
    feature_names_in_ : ndarray
        The names of the columns of X, if all of them are strings.

    Examples
    --------
    >>> RadialLift().fit_transform([[3.0, 4.0]])
    array([[ 3.,  4., 25.]])
    """

    def fit(self, X: Any, y: Any = None) -> RadialLift:
        """Count the columns."""
        self._read(X, reset=True)
        return self

    def transform(self, X: Any) -> Any:
        """Return the rows with their squared norms; a CSR matrix if X is sparse."""
        check_is_fitted(self, "n_features_in_")
        X = self._read(X, reset=False)
        if sparse.issparse(X):
            squares = X.multiply(X).sum(axis=1)
            return sparse.csr_array(sparse.hstack([X, np.asarray(squares).reshape(-1, 1)]), dtype=X.dtype)
        return np.column_stack([X, np.einsum("ij,ij->i", X, X)])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns, and ``|x|^2``."""
        return np.array([*self._names(input_features), "|x|^2"], dtype=object)


def whole_degree(what: str, degree: Any) -> int:
    """Return the degree, if it is a positive integer."""
    if isinstance(degree, bool) or not isinstance(degree, Integral) or degree < 1:
        raise InputError(f"The {what} must be a whole number of 1 or more. Got {degree!r} instead.")
    return int(degree)


def monomial_name(columns: Sequence[int], names: Sequence[str]) -> str:
    """Return the product of some columns as text."""
    counted = [(names[c], columns.count(c)) for c in dict.fromkeys(columns)]
    return " ".join(name if power == 1 else f"{name}^{power}" for name, power in counted) or "1"


def scale_columns(matrix: Any, factors: NDArray[Any]) -> Any:
    """Multiply each column by its factor, in place."""
    if sparse.issparse(matrix):
        matrix.data *= factors[matrix.indices]
    else:
        matrix *= factors
    return matrix


def count_monomials(n_columns: int, degrees: tuple[int, ...]) -> int:
    """Count the monomials of n variables with one of the given degrees."""
    return sum(comb(n_columns + degree - 1, degree) if degree else 1 for degree in degrees)


def exponent_table(n_columns: int, degree: int) -> Ints:
    """Return the columns of each monomial of one degree, as rows of indices in lexicographic order."""
    chosen = list(combinations_with_replacement(range(n_columns), degree))
    return np.array(chosen, dtype=np.int64).reshape(len(chosen), degree)


def multinomials(table: Ints) -> Floats:
    """Return how often each monomial occurs in ``(x_1 + ... + x_n)^degree``: degree! / prod e_j!."""
    counts, run = np.ones(table.shape[0]), np.ones(table.shape[0])
    for place in range(1, table.shape[1]):
        run = np.where(table[:, place] == table[:, place - 1], run + 1.0, 1.0)
        counts *= (place + 1) / run
    return np.rint(counts)


def monomials(X: Any, degrees: tuple[int, ...]) -> Any:
    """Return all monomials of the given degrees, degree by degree; a CSR matrix if X is sparse."""
    require_room(X.shape, degrees)
    parts = [_of_one_degree(X, degree) for degree in degrees]
    if sparse.issparse(X):
        return sparse.csr_array(sparse.hstack(parts, format="csr"))
    return np.hstack(parts)


def require_room(shape: tuple[int, int], degrees: tuple[int, ...]) -> None:
    """Refuse a map that would have too many numbers."""
    n_rows, n_columns = shape
    count = count_monomials(n_columns, degrees)
    if count * max(1, n_rows) > LARGEST:
        raise InputError(
            f"The map to the monomials of degree {degrees[-1]} has {count:,} columns for {n_columns:,} "
            f"variables: {count * n_rows:,} numbers for {n_rows:,} rows, more than the limit of "
            f"{LARGEST:,}. Use the kernel instead, which needs no map, or a lower degree."
        )


def _of_one_degree(X: Any, degree: int) -> Any:
    if degree == 0:
        ones = np.ones((X.shape[0], 1), dtype=X.dtype)
        return sparse.csr_array(ones) if sparse.issparse(X) else ones
    with random_state_kept():
        from sklearn.preprocessing import PolynomialFeatures
    return PolynomialFeatures((degree, degree), include_bias=False).fit_transform(X)
