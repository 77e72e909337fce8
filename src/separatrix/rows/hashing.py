"""A number a row by which equal rows are found."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import loops
from ..loops.layouts import DenseRows, SparseRows
from ..sparse import sparse
from . import threads
from .numpy_loops import FEW

Hashes = NDArray[np.uint64]


def row_hashes(matrix: Any) -> Hashes:
    """Equal rows have equal hashes."""
    if 0 < math.prod(matrix.shape) <= FEW:  # loading compiled loops takes longer
        dense = matrix.toarray() if sparse.issparse(matrix) else matrix
        # the sum makes one zero of the two
        numbers = np.unique(dense + dense.dtype.type(0), axis=0, return_inverse=True)[1]
        return numbers.ravel().astype(np.uint64)
    return keyed_hashes(matrix)


def keyed_hashes(matrix: Any) -> Hashes:
    """The same, and equal also for equal rows of different matrices of one type and width."""
    stored = matrix.data if sparse.issparse(matrix) else matrix
    hashes, keys = np.zeros(matrix.shape[0], dtype=np.uint64), hash_keys(matrix.shape[1])
    rows, magnitude = bit_rows(matrix)
    ranges = threads.chunks(matrix.shape[0], stored.size)
    threads.run_all(loops.rows.hash_rows, [(rows, *each, keys, magnitude, hashes) for each in ranges])
    return hashes


def label_bits(n_classes: int) -> np.uint64:
    """The bits that a label needs."""
    return np.uint64(max(1, (n_classes - 1).bit_length()))


def label_keys(hashes: Hashes, labels: NDArray[Any], bits: np.uint64) -> Hashes:
    """A number below 2^63 for each row: most bits of its hash, then its label."""
    one = np.uint64(1)
    found: Hashes = ((hashes << (bits + one)) >> one) | labels.astype(np.uint64)
    return found


def distinct(keys: Hashes) -> Hashes:
    """Such numbers in ascending order, each once."""
    ascending = np.sort(keys)
    found: Hashes = ascending[np.append(True, ascending[1:] != ascending[:-1])[: keys.size]]
    return found


def suspects(keys: Hashes, bits: np.uint64) -> Hashes:
    """What such numbers are without their labels, where several labels come with it; ascending."""
    hashes = distinct(keys) >> bits
    return distinct(hashes[1:][hashes[1:] == hashes[:-1]])


def hash_keys(width: int) -> Hashes:
    """An odd number for each column."""
    drawn = np.random.default_rng(0).integers(1, 1 << 63, width, dtype=np.uint64)
    return drawn * np.uint64(2) + np.uint64(1)


def bit_rows(matrix: Any) -> tuple[Any, np.uint64]:
    """The rows as bit patterns for the loops, and the bits that are not zero in numbers that are not."""
    stored = matrix.data if sparse.issparse(matrix) else matrix
    bits = stored.view(f"u{stored.dtype.itemsize}")
    everything = (1 << 8 * stored.dtype.itemsize) - 1
    magnitude = np.uint64(everything >> 1 if stored.dtype.kind == "f" else everything)
    labels = np.zeros(0, dtype=np.int32)
    if sparse.issparse(matrix):
        return SparseRows(bits, matrix.indices, matrix.indptr, labels, 0), magnitude
    return DenseRows(bits, labels, 0), magnitude
