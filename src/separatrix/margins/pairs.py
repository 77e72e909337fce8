"""Signed rows: working sets of pairs of a row and the class it is held against, matrices, and scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..loops.layouts import DenseRows
from ..result import Floats, Ints
from ..rows.class_leads import best_rivals, leads
from ..rows.memory import MemoryRows, as_rows
from ..rows.protocol import Rows
from ..sparse import sparse


class Pairs:
    """Rows picked by scans; with many classes each stands for itself and one rival (Kesler).

    Attributes
    ----------
    members, rivals : ndarray of int64
        The row and the rival class of each pair (rival 0 with two classes).
    """

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.width = rows.n_columns + rows.lifted
        self.blocks = 1 if rows.n_classes == 2 else rows.n_classes
        self.members: Ints = np.zeros(0, dtype=np.int64)
        self.rivals: Ints = np.zeros(0, dtype=np.int64)

    @property
    def size(self) -> int:
        """Count the pairs."""
        return int(self.members.size)

    @property
    def own(self) -> Ints:
        """The class of each pair's row."""
        return np.asarray(self.rows.labels[self.members], dtype=np.int64)

    @property
    def intercepts(self) -> list[int]:
        """Where the intercepts stand in the flattened weights."""
        return (
            [block * self.width + self.width - 1 for block in range(self.blocks)] if self.rows.lifted else []
        )

    def add(self, candidates: Ints, weights: Floats) -> int:
        """Put rows with their worst rivals under the weights into the set; return how many were new."""
        if self.size == 0:
            # one row of each class, so that an intercept has something to stand between
            labels = self.rows.labels[self.rows.order]
            firsts = self.rows.order[np.unique(labels, return_index=True)[1]]
            candidates = np.union1d(candidates, firsts)
        rivals = self._worst_rivals(candidates, weights)
        fresh = ~np.isin(candidates * self.blocks + rivals, self.members * self.blocks + self.rivals)
        self.members = np.concatenate([self.members, candidates[fresh]])
        self.rivals = np.concatenate([self.rivals, rivals[fresh]])
        return int(fresh.sum())

    def _worst_rivals(self, candidates: Ints, weights: Floats) -> Ints:
        if self.blocks == 1:
            return np.zeros(candidates.size, dtype=np.int64)
        return best_rivals(self.rows.take(candidates).outputs(weights), self.rows.labels[candidates])

    def matrix(self) -> Any:
        """The signed rows as a matrix of their own, dense or CSR; one block of columns a class."""
        if self.blocks == 1:
            return signed_matrix(self.rows, self.members)
        matrix = sparse.coo_array(lifted_matrix(self.rows, self.members))
        row, column = matrix.coords
        own = self.rows.labels[self.members][row] * self.width + column
        rival = self.rivals[row] * self.width + column
        values, places = np.concatenate([matrix.data, -matrix.data]), np.concatenate([own, rival])
        shape = (self.size, self.blocks * self.width)
        return sparse.csr_array((values, (np.tile(row, 2), places)), shape=shape)


def rows_of(matrix: Any) -> MemoryRows:
    """A matrix of signed rows, seen as rows that are all positive and already lifted."""
    return as_rows(matrix, np.ones(matrix.shape[0], dtype=np.int32), lift=False)


def mean_direction(rows: Rows) -> Floats:
    """Where the means of the classes point: good enough to pick the first rows of a working set."""
    labels = rows.labels
    counts = np.bincount(labels[rows.order], minlength=rows.n_classes)
    shares = np.zeros(rows.n_rows)
    shares[rows.order] = 1.0 / counts[labels[rows.order]]
    return rows.combination(shares) if rows.n_classes == 2 else rows.class_sums(shares)


def signed_coefficients(
    labels: NDArray[Any], members: Ints, rivals: Ints, multipliers: Floats, n_classes: int
) -> tuple[Ints, Floats]:
    """The rows that carry multipliers, and the factor with which each enters the weights of each class.

    Returns
    -------
    support : ndarray of shape (support,)
    coefficients : ndarray of shape (1, support) or (classes, support)
    """
    support, place = np.unique(members, return_inverse=True)
    own = labels[members]
    if n_classes == 2:
        coefficients = np.zeros((1, support.size))
        np.add.at(coefficients[0], place, (2.0 * own - 1.0) * multipliers)
    else:
        coefficients = np.zeros((n_classes, support.size))
        np.add.at(coefficients, (own, place), multipliers)
        np.add.at(coefficients, (rivals, place), -multipliers)
    return support, coefficients


def signed_matrix(rows: Rows, members: Ints) -> Any:
    """The signed lifted rows of ``members``, copied into memory: an array, or CSR where X is."""
    part = rows.take(members)
    return _times(part, 2.0 * part.labels - 1.0)


def lifted_matrix(rows: Rows, members: Ints) -> Any:
    """The lifted rows of ``members``, unsigned, copied into memory: an array, or CSR where X is."""
    return _times(rows.take(members), np.ones(members.size))


def _times(rows: MemoryRows, factors: Floats) -> Any:
    part = rows.storage
    if isinstance(part, DenseRows):
        matrix = np.empty((rows.n_rows, rows.n_columns + rows.lifted))
        np.multiply(part.values, factors[:, None], out=matrix[:, : rows.n_columns])
        if rows.lifted:
            matrix[:, -1] = factors
        return matrix
    scaled = part.data * np.repeat(factors, np.diff(part.indptr))
    plain = sparse.csr_array((scaled, part.indices, part.indptr), shape=(rows.n_rows, rows.n_columns))
    return sparse.hstack([plain, factors[:, None]], format="csr") if rows.lifted else plain


def all_scores(rows: Rows, weights: Floats) -> Floats:
    """<w, z_i> for every row; with many classes the outputs of all of them."""
    if weights.ndim == 1:
        return rows.scores(weights)
    values = getattr(rows.storage, "values", None) if isinstance(rows, MemoryRows) else None
    if values is None or values.dtype != np.float64:
        return rows.outputs(weights)
    outputs: Floats = values @ weights[:, : rows.n_columns].T
    return outputs + weights[:, -1] if rows.lifted else outputs


def row_scores(rows: Rows, weights: Floats) -> Floats:
    """The score of every row: signed, or that of its class less the best other."""
    scores = all_scores(rows, weights)
    return scores if weights.ndim == 1 else leads(scores, rows.labels)
