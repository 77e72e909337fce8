"""Is it a kernel? The Gram matrix of some rows, and a vector that proves that it is not one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import Any

import numpy as np
from scipy import linalg

from .. import notebook
from ..errors import InputError
from .base import EPS, Floats, Kernel, as_matrix
from .given import Precomputed, as_kernel, check_gram

__all__ = ["Legality", "check_legal"]

MOST_ROWS = 5000  # whose Gram matrix has its eigenvalues computed
BITS = 40  # of the integers of a proof


@dataclass(frozen=True)
class Legality:
    """What the Gram matrix of some rows says about a kernel.

    Attributes
    ----------
    legal : bool
        False where its values on these rows, if they are right but for their last two bits, prove that the
        kernel is not positive semidefinite. True where nothing on these rows speaks against it; other rows
        may.
    smallest_eigenvalue : float
    rows : tuple of int
        The rows that the vector speaks of.
    vector : tuple of int
        Integers a with ``a' K a < 0`` exactly, for the values of K as they are; empty where there are none.
    value : Fraction
        ``a' K a``, exactly.
    rounding : Fraction
        How much of it could be due to the values of K being rounded in their last two bits. A kernel is
        called illegal where the value is below minus that.
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
        return f"nothing on these rows speaks against it: {found}"

    def _repr_html_(self) -> str:
        facts = [("smallest eigenvalue", f"{self.smallest_eigenvalue:.6g}")]
        if not self.legal:
            proof = ", ".join(f"row {row}: {a}" for row, a in zip(self.rows[:5], self.vector, strict=False))
            more = f" and {len(self.rows) - 5} more" if len(self.rows) > 5 else ""
            facts += [("vector a", proof + more), ("a' K a", f"{float(self.value):.6g}, exactly below zero")]
        return notebook.card("legal on these rows" if self.legal else "not legal", facts)


def check_legal(kernel: Any, X: Any) -> Legality:
    """Test whether a kernel is positive semidefinite on some rows.

    The formulas of `separatrix.kernels`, and what is built from them, are legal by construction, up to
    rounding. A function or a class of one's own, or a precomputed matrix, may not be.

    Parameters
    ----------
    kernel : str, Kernel or callable
    X : array or sparse matrix of shape (rows, columns)
        For a precomputed kernel, the Gram matrix.

    Returns
    -------
    Legality
        With the smallest eigenvalue and, if that is negative, a vector of integers whose quadratic form
        is below zero in exact arithmetic.

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
    if X.shape[0] > MOST_ROWS:
        raise InputError(
            f"The eigenvalues of {X.shape[0]:,} rows' Gram matrix take too long; {MOST_ROWS:,} rows are the "
            "most. Pass a sample of the rows: what proves it for some of them proves it for all."
        )
    if not X.shape[0]:
        raise InputError("There are no rows to test the kernel on.")
    gram = _gram(kernel, X)
    values, vectors = linalg.eigh((gram + gram.T) / 2.0, subset_by_index=[0, 0])
    smallest = float(values[0])
    if smallest >= 0.0:
        return Legality(True, smallest)
    rows, vector = _short_vector(gram, vectors[:, 0], smallest)
    value, size = _exact_form(gram[np.ix_(rows, rows)], vector)
    if value >= 0:
        return Legality(True, smallest)
    rounding = size * Fraction(EPS)
    return Legality(value + rounding >= 0, smallest, tuple(rows), tuple(vector), value, rounding)


def _gram(kernel: Kernel, X: Any) -> Floats:
    if isinstance(kernel, Precomputed):
        return np.asarray(check_gram(X), dtype=np.float64)
    gram = kernel(X)
    lopsided = np.abs(gram - gram.T).max()
    if lopsided > 1e-8 * np.abs(gram).max():
        raise InputError(
            f"The kernel {kernel} is not symmetric: K(x, x') and K(x', x) differ by up to {lopsided:.6g}. An "
            "inner product is."
        )
    return np.asarray(gram)


def _short_vector(gram: Floats, vector: Floats, smallest: float) -> tuple[list[int], list[int]]:
    """Integers near the eigenvector, on as few rows as still give a clearly negative form."""
    order = np.argsort(-np.abs(vector), kind="stable")
    size = 1
    while size < order.size:
        part = vector[order[:size]]
        if part @ gram[np.ix_(order[:size], order[:size])] @ part < smallest / 4.0:
            break
        size *= 2
    rows = np.sort(order[:size])
    scaled = np.rint(vector[rows] / np.abs(vector[rows]).max() * 2.0**BITS)
    whole = [int(each) for each in scaled]
    common = gcd(*whole)
    return rows.tolist(), [each // common for each in whole]


def _exact_form(gram: Floats, vector: list[int]) -> tuple[Fraction, Fraction]:
    """``a' K a``, and the sum of the magnitudes of its terms."""
    value = size = Fraction(0)
    for a, row in zip(vector, gram, strict=True):
        parts: dict[int, list[int]] = {}
        for b, entry in zip(vector, row.tolist(), strict=True):
            top, bottom = entry.as_integer_ratio()
            part = parts.setdefault(bottom.bit_length() - 1, [0, 0])
            part[0] += b * top
            part[1] += abs(b * top)
        for power, (signed, unsigned) in parts.items():
            value += Fraction(a * signed, 1 << power)
            size += Fraction(abs(a) * unsigned, 1 << power)
    return value, size
