"""Test whether a kernel is positive semidefinite on some rows; if not, return a vector that proves it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import linalg

from ..errors import InputError
from .base import EPS, MOST_GRAM_ROWS, Floats, Kernel, as_matrix, squared_norms
from .given import Precomputed, as_kernel, check_gram

__all__ = ["Legality", "check_legal"]


@dataclass(frozen=True)
class Legality:
    """What the Gram matrix of some rows says about a kernel.

    Attributes
    ----------
    legal : bool
        False if the kernel values on these rows prove that the kernel is not positive semidefinite, whatever
        their rounding errors are: those that the kernel states, and errors in the last two bits of each
        value. True if these rows prove nothing; other rows may.
    smallest_eigenvalue : float
    rows : tuple of int
        The rows to which the vector refers.
    vector : tuple of int
        Integers a with ``a' K a < 0`` exactly, for the computed values of K. Empty if none was found.
    value : Fraction
        The exact value of ``a' K a``.
    rounding : Fraction
        The part of the value that these rounding errors could explain. The kernel is illegal if the value is
        below minus this number.
    """

    legal: bool
    smallest_eigenvalue: float
    rows: tuple[int, ...] = ()
    vector: tuple[int, ...] = ()
    value: Fraction = Fraction(0)
    rounding: Fraction = Fraction(0)

    def __bool__(self) -> bool:
        return self.legal

    def __str__(self) -> str:
        found = f"the smallest eigenvalue is {self.smallest_eigenvalue:.6g}"
        if not self.legal:
            return (
                f"not legal: {found}; a vector on {len(self.rows)} rows has "
                f"a' K a = {float(self.value):.6g}, exactly below zero"
            )
        return f"legal on these rows: {found}"


def check_legal(kernel: Any, X: Any) -> Legality:
    """Test whether a kernel is positive semidefinite on some rows.

    The kernels of `separatrix.kernels`, and what is built from them, are legal by construction, up to
    rounding. A function or a class of your own, or a precomputed matrix, may not be.

    Parameters
    ----------
    kernel : str, Kernel or callable
    X : array or sparse matrix of shape (rows, columns)
        The rows; for a precomputed kernel, the Gram matrix. At most 5,000 rows.

    Returns
    -------
    Legality
        The smallest eigenvalue and, if it is negative, a vector of integers whose quadratic form is below
        zero in exact arithmetic.

    Examples
    --------
    >>> import numpy as np
    >>> found = check_legal(lambda X, Y: 0.5 - X @ Y.T, np.eye(2))
    >>> print(found)
    not legal: the smallest eigenvalue is -1; a vector on 2 rows has a' K a = -2, exactly below zero
    >>> found.vector
    (1, -1)
    """
    kernel = as_kernel(kernel)
    X = as_matrix(X)
    if not 0 < X.shape[0] <= MOST_GRAM_ROWS:
        raise InputError(
            f"check_legal needs at least one row and at most {MOST_GRAM_ROWS:,}, because it computes "
            f"eigenvalues. Got {X.shape[0]:,}. Pass a sample of the rows: a proof for a sample is a proof."
        )
    gram = _gram(kernel, X)
    values, vectors = linalg.eigh((gram + gram.T) / 2.0, subset_by_index=[0, 0])
    smallest = float(values[0])
    if smallest >= 0.0:
        return Legality(True, smallest)
    rows, vector = _short_vector(gram, vectors[:, 0], smallest)
    value, size = _exact_form(gram[np.ix_(rows, rows)], vector)
    if value >= 0:
        return Legality(True, smallest)
    error = _stated_error(kernel, X)
    if not error < 1.0:
        return Legality(True, smallest)
    lengths = np.sqrt(np.maximum(gram.diagonal()[rows], 0.0) / (1.0 - error))
    spread = math.fsum(abs(a) * length for a, length in zip(vector, lengths.tolist(), strict=True))
    rounding = size * Fraction(EPS) + Fraction(error) * Fraction(spread) ** 2
    return Legality(value + rounding >= 0, smallest, tuple(rows), tuple(vector), value, rounding)


def _gram(kernel: Kernel, X: Any) -> Floats:
    if isinstance(kernel, Precomputed):
        return np.asarray(check_gram(X), dtype=np.float64)
    gram = kernel(X)
    difference = np.abs(gram - gram.T).max()
    if difference > 1e-8 * np.abs(gram).max():
        raise InputError(
            f"The kernel {kernel} is not symmetric, as an inner product is: K(x, x') and K(x', x) differ by "
            f"up to {difference:.6g}."
        )
    return np.asarray(gram)


def _stated_error(kernel: Kernel, X: Any) -> float:
    """Return the bound of the rounding errors of K(x, x'), as a share of ``sqrt(K(x, x) K(x', x'))``."""
    if isinstance(kernel, Precomputed):
        return 0.0
    radius = math.sqrt(float(squared_norms(X).max(initial=0.0)))
    return kernel.rounding(int(X.shape[1]), radius, EPS) or 0.0


def _short_vector(
    gram: Floats, vector: Floats, smallest: float, bits: int = 40
) -> tuple[list[int], list[int]]:
    """Round the eigenvector to integers, on the fewest rows on which the form stays clearly negative."""
    order = np.argsort(-np.abs(vector), kind="stable")
    size = 1
    while size < order.size:
        part = vector[order[:size]]
        if part @ gram[np.ix_(order[:size], order[:size])] @ part < smallest / 4.0:
            break
        size *= 2
    rows = np.sort(order[:size])
    scaled = np.rint(vector[rows] / np.abs(vector[rows]).max() * 2.0**bits)
    integers = [int(each) for each in scaled]
    common = math.gcd(*integers)
    return rows.tolist(), [each // common for each in integers]


def _exact_form(gram: Floats, vector: list[int]) -> tuple[Fraction, Fraction]:
    """Return ``a' K a``, and the sum of the magnitudes of its terms."""
    common = max(entry.as_integer_ratio()[1] for row in gram for entry in row.tolist())  # a power of two
    value = size = 0
    for a, row in zip(vector, gram, strict=True):
        for b, entry in zip(vector, row.tolist(), strict=True):
            top, bottom = entry.as_integer_ratio()
            term = a * b * top * (common // bottom)
            value += term
            size += abs(term)
    return Fraction(value, common), Fraction(size, common)
