"""Signed rows seen on the planes through a few others: as many columns eliminated as there are planes.

Weights w with ``<w, b_r> = 0`` for independent rows b_r are given by their coordinates on all columns but
one a row (its *pivot*); the scores of the other rows are scores of reduced rows on those columns. Numbers are
floats: they guide, and prove nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...deadline import Deadline
from ...rows.blocks import BlockMatrix
from ...rows.memory import MemoryRows, as_rows
from ...sparse import sparse
from ..signed_rows import SignedRows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST = 256  # planes beyond which the reduced rows are hardly sparse any more
TERMS_A_SECOND = 5e7  # products of two numbers that a sparse matrix product is counted on to add up
STEADY = 0.1  # of a row's largest number: smaller ones are no pivots


@dataclass(frozen=True, eq=False)
class ReducedRows:
    """Rows without their pivot columns, and the way back to weights of full width."""

    rows: MemoryRows
    pivots: Ints
    eliminated: Any

    def full_weights(self, weights: Floats) -> Floats:
        """Weights on the planes: the pivots follow from the other coordinates."""
        full = weights.copy()
        full[self.pivots] = 0.0
        full[self.pivots] = -(self.eliminated @ full)
        return full


def reduced_rows(signed: SignedRows, basis: Ints, among: NDArray[np.bool_]) -> ReducedRows | None:
    """The signed rows of a mask on the planes through the basis rows; None where that is not worth it.

    Raises OutOfTime when the deadline of the question comes first.
    """
    elsewhere = isinstance(signed.data.matrix, BlockMatrix)
    if signed.joint or signed.copied or elsewhere or basis.size > MOST:
        return None
    matrix = sparse.csr_array(signed.data.matrix, dtype=np.float64)
    if signed.lift:
        matrix = sparse.csr_array(sparse.hstack([matrix, np.ones((matrix.shape[0], 1))], format="csr"))
    uses = np.bincount(matrix.indices, minlength=signed.width)
    found = _eliminate(matrix[basis].toarray(), uses, signed.deadline)
    if found is None:
        return None
    table, pivots = found
    eliminated = sparse.csr_array(table)
    signed.deadline.need(float(uses[pivots] @ np.diff(eliminated.indptr)) / TERMS_A_SECOND)
    reduced = sparse.csr_array(matrix - matrix[:, pivots] @ eliminated)
    reduced.eliminate_zeros()
    inside = np.zeros(matrix.shape[0], dtype=np.bool_)
    inside[signed.ids[among]] = True
    return ReducedRows(as_rows(reduced, signed.labels, lift=False, keep=inside), pivots, eliminated)


def _eliminate(table: Floats, uses: Ints, deadline: Deadline) -> tuple[Floats, Ints] | None:
    """Gauss-Jordan, with the column that the fewest rows use as pivot, so that few rows are filled.

    None where rounding leaves nothing of a row: independent rows may depend on each other in floats.
    """
    pivots = []
    for r in range(table.shape[0]):
        deadline.need()
        sizes = np.abs(table[r])
        if not sizes.any():
            return None
        able = np.flatnonzero(sizes > STEADY * sizes.max())
        column = int(able[np.argmin(uses[able])])
        pivots.append(column)
        table[r] /= table[r, column]
        factors = table[:, column].copy()
        factors[r] = 0.0
        table -= np.outer(factors, table[r])
        table[:, column] = 0.0
        table[r, column] = 1.0
    return table, np.array(pivots, dtype=np.int64)
