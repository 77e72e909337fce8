"""Conflicts: identical rows with different labels. Nothing separates them, and two of them prove it.

Equal rows are found by their hashes, in one pass, and compared number by number. No function of the rows
separates a pair of them, so that the proof holds for every kernel. Without this strategy spambase takes ten
times as long.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...certificates.numbers import row_integers
from ...rows.blocks import BlockMatrix
from ...rows.hashing import Hashes, distinct, keyed_hashes, label_bits, label_keys, row_hashes, suspects
from ...rows.memory import MemoryRows
from ...sparse import sparse
from ..problem import Attempt, Combination, Inseparable, Knowledge, Learned, Problem
from ..signed_rows import SignedRows

Ints = NDArray[np.int64]

FEW = 20_000  # rows whose hashes are sorted: loading compiled loops takes longer


class Conflicts:
    """Pairs of identical rows with different labels; all of them, for the finer question."""

    name = "conflicts"
    small = True

    def applies(self, problem: Problem) -> bool:
        """Parts of a problem have no conflicts that the whole does not have."""
        return problem.whole and not problem.part

    def attempt(self, problem: Problem, known: Knowledge) -> Attempt:
        """One pair proves it; more of them are a start for the finer question."""
        found = conflicts(problem.rows, problem.rows.width + 1)
        if not found:
            return Learned()
        return Inseparable(found[0], tuple(found[1:]))


def conflicts(signed: SignedRows, limit: int) -> list[Combination]:
    """Pairs of signed rows with identical data and different labels, one pair for each such set."""
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
    """Pairs of rows of a matrix with identical numbers and different labels, one for each such set."""
    hashes = row_hashes(matrix)[order]
    if order.size > FEW:
        own = labels[order]
        bits = label_bits(int(own.max()) + 1)
        keys = label_keys(hashes, own, bits)
        chosen = np.flatnonzero(np.isin(keys >> bits, suspects(keys, bits)))
        order, hashes = order[chosen], hashes[chosen]
    yield from _pairs(matrix, labels, order, hashes)


def _conflicts_elsewhere(rows: Any) -> Iterator[tuple[int, int]]:
    """The same on a cluster: of equal rows with equal labels one number travels, of the others all do."""
    bits = label_bits(rows.n_classes)
    found = suspects(np.concatenate(rows.on_each("hash", _keys, bits)), bits)
    if not found.size:
        return
    parts = rows.on_each("hash", _suspected, bits, found)
    starts = rows.matrix.offsets[:-1].tolist()
    order = np.concatenate([places + at for (places, _), at in zip(parts, starts, strict=True)])
    yield from _pairs(rows.matrix, rows.labels, order, np.concatenate([hashes for _, hashes in parts]))


def _keys(rows: MemoryRows, bits: np.uint64) -> Hashes:
    """The numbers of a block's rows, by which those are found that may conflict."""
    return distinct(label_keys(keyed_hashes(rows.matrix)[rows.order], rows.labels[rows.order], bits))


def _suspected(rows: MemoryRows, bits: np.uint64, found: Hashes) -> tuple[Ints, Hashes]:
    """The rows of a block that may conflict with others, and their hashes."""
    hashes = keyed_hashes(rows.matrix)[rows.order]
    keys = label_keys(hashes, rows.labels[rows.order], bits)
    chosen = np.flatnonzero(np.isin(keys >> bits, found))
    return rows.order[chosen], hashes[chosen]


def _pairs(matrix: Any, labels: NDArray[Any], order: Ints, hashes: Hashes) -> Iterator[tuple[int, int]]:
    """The pairs among some rows, by their hashes."""
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
