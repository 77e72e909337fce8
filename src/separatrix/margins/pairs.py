"""Signed rows: working sets of pairs of a row and a rival class, their matrices, and scores."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..loops.layouts import DenseRows
from ..result import Floats, Ints
from ..rows.memory import MemoryRows, as_rows
from ..rows.numpy_loops import best_rivals, signed_scores
from ..rows.protocol import Rows
from ..sparse import sparse


class Pairs:
    """Rows picked by scans; with more than two classes, each is paired with a rival class (Kesler).

    Attributes
    ----------
    rows : Rows
    width : int
        The number of columns, including the lift.
    blocks : int
        The number of weight vectors: one for two classes, otherwise one per class.
    members, rivals : ndarray of int64
        The row and the rival class of each pair (rival 0 with two classes).
    """

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.width = rows.n_columns + rows.lifted
        self.blocks = 1 if rows.n_classes == 2 else rows.n_classes
        self.members: Ints = np.zeros(0, dtype=np.int64)
        self.rivals: Ints = np.zeros(0, dtype=np.int64)

    @classmethod
    def of(cls, rows: Rows, members: Ints, rivals: Ints) -> Self:
        """Return the given pairs."""
        pairs = cls(rows)
        pairs.members, pairs.rivals = members, rivals
        return pairs

    @property
    def size(self) -> int:
        """The number of pairs."""
        return int(self.members.size)

    @property
    def own(self) -> Ints:
        """The class of each pair's row."""
        return np.asarray(self.rows.labels[self.members], dtype=np.int64)

    @property
    def intercepts(self) -> list[int]:
        """The positions of the intercepts in the flattened weights."""
        last = range(self.width - 1, self.blocks * self.width, self.width)
        return list(last) if self.rows.lifted else []

    def add(self, candidates: Ints, weights: Floats) -> int:
        """Add rows with their highest-scoring rivals under the weights; return how many pairs are new."""
        if self.size == 0:
            # Add one row of each class, because an intercept needs rows on both sides.
            labels = self.rows.labels[self.rows.order]
            firsts = self.rows.order[np.unique(labels, return_index=True)[1]]
            candidates = np.union1d(candidates, firsts)
        rivals = np.zeros_like(candidates)
        if self.blocks > 1:
            outputs = self.rows.take(candidates).outputs(weights)
            rivals = best_rivals(outputs, self.rows.labels[candidates])
        fresh = ~np.isin(candidates * self.blocks + rivals, self.members * self.blocks + self.rivals)
        self.members = np.concatenate([self.members, candidates[fresh]])
        self.rivals = np.concatenate([self.rivals, rivals[fresh]])
        return int(fresh.sum())

    def matrix(self) -> Any:
        """Copy the signed rows into a matrix, dense or CSR, with one block of columns per class."""
        if self.blocks == 1:
            return lifted_matrix(self.rows, self.members, signed=True)
        matrix = sparse.coo_array(lifted_matrix(self.rows, self.members))
        row, column = matrix.coords
        own = self.rows.labels[self.members][row] * self.width + column
        rival = self.rivals[row] * self.width + column
        values, places = np.concatenate([matrix.data, -matrix.data]), np.concatenate([own, rival])
        shape = (self.size, self.blocks * self.width)
        return sparse.csr_array((values, (np.tile(row, 2), places)), shape=shape)


def rows_of(matrix: Any) -> MemoryRows:
    """Return a matrix of signed rows as rows of the positive class, without lift."""
    return as_rows(matrix, np.ones(matrix.shape[0], dtype=np.int32), lift=False)


def mean_direction(rows: Rows) -> Floats:
    """Return the direction of the class means, which picks the first rows of a working set."""
    labels = rows.labels
    counts = np.bincount(labels[rows.order], minlength=rows.n_classes)
    shares = np.zeros(rows.n_rows)
    shares[rows.order] = 1.0 / counts[labels[rows.order]]
    return rows.combination(shares) if rows.n_classes == 2 else rows.class_sums(shares)


def signed_coefficients(
    labels: NDArray[Any], members: Ints, rivals: Ints, multipliers: Floats, n_classes: int
) -> tuple[Ints, Floats]:
    """Return the rows that carry multipliers, and their coefficients in the weights of each class.

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


def lifted_matrix(rows: Rows, members: Ints, *, signed: bool = False) -> Any:
    """Copy some lifted rows into memory: as an array, or as CSR if the rows are sparse."""
    few = rows.take(members)
    part = few.storage
    factors = 2.0 * few.labels - 1.0 if signed else np.ones(members.size)
    if isinstance(part, DenseRows):
        matrix = np.empty((few.n_rows, few.n_columns + few.lifted))
        np.multiply(part.values, factors[:, None], out=matrix[:, : few.n_columns])
        if few.lifted:
            matrix[:, -1] = factors
        return matrix
    scaled = part.data * np.repeat(factors, np.diff(part.indptr))
    plain = sparse.csr_array((scaled, part.indices, part.indptr), shape=(few.n_rows, few.n_columns))
    return sparse.hstack([plain, factors[:, None]], format="csr") if few.lifted else plain


def all_scores(rows: Rows, weights: Floats) -> Floats:
    """Return <w, z_i> for every row; with more than two classes, the outputs of all classes."""
    if weights.ndim == 1:
        return rows.scores(weights)
    values = getattr(rows.storage, "values", None) if isinstance(rows, MemoryRows) else None
    if values is None or values.dtype != np.float64:
        return rows.outputs(weights)
    outputs: Floats = values @ weights[:, : rows.n_columns].T
    return outputs + weights[:, -1] if rows.lifted else outputs


def row_scores(rows: Rows, weights: Floats) -> Floats:
    """Return the score of every row: signed, or the output of its class minus the best other."""
    scores = all_scores(rows, weights)
    return scores if weights.ndim == 1 else signed_scores(scores, rows.labels)
