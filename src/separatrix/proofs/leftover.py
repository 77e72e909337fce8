"""Sparse rows without those that a column of one sign settles: what is left of the question.

Where a column has numbers of one sign only among the signed rows, a large weight on it separates the rows
that use it, and no combination with positive multipliers on one of them vanishes. Without those rows other
columns have one sign only, and so on. What is left is separable exactly if all rows are. Texts lose most of
their rows so: a word that only one class uses settles every text that has it.

What is left may still have many columns. A combination that vanishes is likeliest among rows that use
frequent columns alone: they are many, in few coordinates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TINY = 1e-30  # a weight where all are zero
SPARE = 2.0  # times the score that a row needs, which its columns of one sign give it


@dataclass(frozen=True, eq=False)
class Settled:
    """Rows that columns of one sign separate, whatever the weights of the other columns are.

    Attributes
    ----------
    rows : CSR matrix
        Signed.
    signs : ndarray of shape (columns,)
        The sign of each column of one sign; zero for the others.
    """

    rows: Any
    signs: Floats


@dataclass(frozen=True, eq=False)
class Leftover:
    """The rows that no column of one sign settles.

    Attributes
    ----------
    places : ndarray of int64
        Where they stand among the rows that were given.
    settled : tuple of Settled
        What went, in turn.
    """

    places: Ints
    settled: tuple[Settled, ...]

    def extended(self, weights: Floats) -> Floats:
        """Weights that separate what is left, made to separate the other rows as well."""
        found = weights.copy()
        for part in reversed(self.settled):
            need = float((-(part.rows @ found) / (part.rows @ part.signs)).max())
            found += part.signs * max(SPARE * need, float(np.abs(found).max()), TINY)
        return found


def left_over(rows: Any) -> Leftover:
    """Settle rows until each column of the others has numbers of both signs, or none are left.

    Parameters
    ----------
    rows : CSR matrix
        Signed, with their intercept.
    """
    places, settled = np.arange(rows.shape[0]), []
    while places.size:
        signs = _one_sign(rows)
        gone = abs(rows) @ np.abs(signs) > 0.0
        if not gone.any():
            break
        settled.append(Settled(rows[gone], signs))
        rows, places = rows[~gone], places[~gone]
    return Leftover(places, tuple(settled))


def _one_sign(rows: Any) -> Floats:
    """1 for columns that have positive numbers only, -1 for such of negative ones, 0 for the others."""
    width = rows.shape[1]
    positive = np.bincount(rows.indices[rows.data > 0.0], minlength=width) > 0
    negative = np.bincount(rows.indices[rows.data < 0.0], minlength=width) > 0
    return np.where(positive & ~negative, 1.0, np.where(negative & ~positive, -1.0, 0.0))


def frequent_parts(rows: Any, sizes: tuple[int, ...], per_column: float) -> Iterator[Ints]:
    """The rows that use so many of the most frequent columns and no other, where those are enough."""
    width = rows.shape[1]
    uses = np.bincount(rows.indices, minlength=width)
    rank = np.empty(width, dtype=np.int64)
    rank[np.argsort(-uses, kind="stable")] = np.arange(width)
    rarest = np.zeros(rows.shape[0], dtype=np.int64)
    filled = np.flatnonzero(np.diff(rows.indptr))
    rarest[filled] = np.maximum.reduceat(rank[rows.indices], rows.indptr[filled])
    for size in sizes:
        if size >= np.count_nonzero(uses):
            return
        places = np.flatnonzero(rarest < size)
        if places.size > per_column * size:
            yield places
