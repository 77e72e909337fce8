"""Hash rows, so that equal rows are found without comparing every pair."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import loops
from ..loops.layouts import DenseRows, SparseRows
from ..sparse import sparse
from . import threads

Hashes = NDArray[np.uint64]


def row_hashes(matrix: Any) -> Hashes:
    """Hash the rows: equal rows have equal hashes, also in other matrices of the same type and width."""
    is_sparse, width = sparse.issparse(matrix), matrix.shape[1]
    stored = matrix.data if is_sparse else matrix
    bits, size = stored.view(f"u{stored.dtype.itemsize}"), 8 * stored.dtype.itemsize
    # The bits that are not all zero if the number is not zero: those of floats without the sign.
    magnitude = np.uint64((1 << (size - (stored.dtype.kind == "f"))) - 1)
    no_labels = np.zeros(0, dtype=np.int32)
    rows: Any = DenseRows(bits, no_labels, 0)
    if is_sparse:
        rows = SparseRows(bits, matrix.indices, matrix.indptr, no_labels, 0)
    drawn = np.random.default_rng(0).integers(1, 1 << 63, width, dtype=np.uint64)
    keys = drawn * np.uint64(2) + np.uint64(1)  # an odd factor per column
    hashes = np.zeros(matrix.shape[0], dtype=np.uint64)
    ranges = threads.chunks(matrix.shape[0], stored.size)
    threads.run_all(loops.rows.hash_rows, [(rows, *each, keys, magnitude, hashes) for each in ranges])
    return hashes


def label_bits(n_classes: int) -> np.uint64:
    """Return how many bits a label needs."""
    return np.uint64(max(1, (n_classes - 1).bit_length()))


def label_keys(hashes: Hashes, labels: NDArray[Any], bits: np.uint64) -> Hashes:
    """Return a key below 2^63 per row: most bits of its hash, followed by its label."""
    one = np.uint64(1)
    found: Hashes = ((hashes << (bits + one)) >> one) | labels.astype(np.uint64)
    return found


def distinct(keys: Hashes) -> Hashes:
    """Return the different keys in ascending order."""
    ascending = np.sort(keys)
    found: Hashes = ascending[np.append(True, ascending[1:] != ascending[:-1])[: keys.size]]
    return found


def suspects(keys: Hashes, bits: np.uint64) -> Hashes:
    """Return the hashes, without the label, that occur with several labels; in ascending order."""
    hashes = distinct(keys) >> bits
    return distinct(hashes[1:][hashes[1:] == hashes[:-1]])
