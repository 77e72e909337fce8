"""Conflicts: identical rows with different labels. No function separates them, and one such pair is a proof.

Equal rows are found by their hashes, in one pass, and compared number by number. No function of the rows
separates a pair of them, so that the proof holds for every kernel. Without this strategy spambase takes ten
times as long.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...certificates.numbers import row_integers
from ...rows.blocks import BlockMatrix
from ...rows.hashing import Hashes, distinct, label_bits, label_keys, row_hashes, suspects
from ...rows.memory import MemoryRows
from ...rows.protocol import Ints
from ...sparse import dense, sparse
from ..search import Attempt, Combination, Inseparable, Knowledge, Learned, Problem
from ..signed_rows import SMALL, SignedRows


class Conflicts:
    """Pairs of identical rows with different labels; all of them, for the finer question."""

    name = "conflicts"
    share = 1.0

    def applies(self, problem: Problem) -> bool:
        """Whether the problem is not a part, which has no conflicts that the whole does not have."""
        return problem.whole and not problem.part

    def attempt(self, problem: Problem, known: Knowledge) -> Attempt:
        """Return one pair as the proof, and more of them for the finer question."""
        found = conflicts(problem.rows, problem.rows.width + 1)
        if not found:
            return Learned()
        return Inseparable(found[0], tuple(found[1:]))


def conflicts(signed: SignedRows, limit: int) -> list[Combination]:
    """Return pairs of signed rows with identical data and different labels, one per set of equal rows."""
    plain = signed.plain
    if isinstance(plain, BlockMatrix):
        pairs = _conflicts_elsewhere(signed.original_rows())
    else:
        pairs = conflicting_rows(plain, signed.labels, signed.order)
    labels, classes, found = signed.labels, signed.n_classes, []
    for i, j in islice(pairs, limit):
        ids = (i * classes + int(labels[j]), j * classes + int(labels[i])) if signed.joint else (i, j)
        found.append(Combination(np.array(ids, dtype=np.int64), [1, 1]))
    return found


def conflicting_rows(matrix: Any, labels: NDArray[Any], order: Ints) -> Iterator[tuple[int, int]]:
    """Yield pairs of rows with identical numbers and different labels, one for each set of such rows."""
    if 0 < math.prod(matrix.shape) <= SMALL:  # loading the compiled loop of hashes would take longer
        few = dense(matrix)
        # Adding zero turns -0.0 into 0.0.
        numbers = np.unique(few + few.dtype.type(0), axis=0, return_inverse=True)[1]
        yield from _pairs(matrix, labels, order, numbers.ravel()[order])
        return
    hashes, own = row_hashes(matrix)[order], labels[order]
    bits = label_bits(int(own.max()) + 1)
    keys = label_keys(hashes, own, bits)
    chosen = np.flatnonzero(np.isin(keys >> bits, suspects(keys, bits)))
    yield from _pairs(matrix, labels, order[chosen], hashes[chosen])


def _conflicts_elsewhere(rows: Any) -> Iterator[tuple[int, int]]:
    """Do the same on a cluster: one key is sent for all equal rows with equal labels of a block."""
    bits = label_bits(rows.n_classes)
    found = suspects(np.concatenate(rows.on_each("hash", _keys, bits)), bits)
    if not found.size:
        return
    parts = rows.on_each("hash", _suspected, bits, found)
    starts = rows.matrix.offsets[:-1].tolist()
    order = np.concatenate([places + at for (places, _), at in zip(parts, starts, strict=True)])
    yield from _pairs(rows.matrix, rows.labels, order, np.concatenate([hashes for _, hashes in parts]))


def _keys(rows: MemoryRows, bits: np.uint64) -> Hashes:
    """Return the distinct keys of a block's rows: hash and label."""
    return distinct(label_keys(row_hashes(rows.matrix)[rows.order], rows.labels[rows.order], bits))


def _suspected(rows: MemoryRows, bits: np.uint64, found: Hashes) -> tuple[Ints, Hashes]:
    """Return the rows of a block that may conflict with others, and their hashes."""
    hashes = row_hashes(rows.matrix)[rows.order]
    keys = label_keys(hashes, rows.labels[rows.order], bits)
    chosen = np.flatnonzero(np.isin(keys >> bits, found))
    return rows.order[chosen], hashes[chosen]


def _pairs(matrix: Any, labels: NDArray[Any], order: Ints, hashes: NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Yield the pairs among some rows, by their hashes."""
    ascending = np.sort(hashes)
    if (ascending[1:] != ascending[:-1]).all():
        return
    by_hash = np.lexsort((labels[order], hashes))
    rows, sorted_hashes = order[by_hash], hashes[by_hash]
    starts = np.flatnonzero(np.append(True, sorted_hashes[1:] != sorted_hashes[:-1]))
    ends = np.append(starts[1:], rows.size)
    first, last = rows[starts], rows[ends - 1]
    differ = np.flatnonzero(labels[first] != labels[last])
    for i, j in zip(first[differ].tolist(), last[differ].tolist(), strict=True):
        if equal_rows(matrix, i, j):
            yield i, j


def equal_rows(matrix: Any, i: int, j: int) -> bool:
    """Whether two rows have the same numbers."""
    if isinstance(matrix, BlockMatrix):
        return equal_rows(matrix[np.array([i, j])], 0, 1)
    if not sparse.issparse(matrix):
        return bool((matrix[i] == matrix[j]).all())
    return sorted(row_integers(matrix, i)) == sorted(row_integers(matrix, j))


def is_conflict(signed: SignedRows, ids: Ints) -> bool:
    """Whether these are two signed rows of the same numbers."""
    rows, _ = signed.split(ids)
    return len(rows) == 2 and rows[0] != rows[1] and equal_rows(signed.plain, int(rows[0]), int(rows[1]))
