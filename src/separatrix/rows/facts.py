"""What is known of matrices on disk, so that it need not be found by reading them again.

No compiled code here: whoever checks a proof imports this.
"""

from __future__ import annotations

import mmap
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sparse import sparse

CHUNK = 1 << 23  # bytes of a piece; part of the format of certificates


def piece_length(width: int, itemsize: int) -> int:
    """How many rows of so many numbers make a piece."""
    return max(1, CHUNK // max(1, width * itemsize))


@dataclass(frozen=True, eq=False)
class Facts:
    """What is known of a matrix of float64.

    Attributes
    ----------
    digests : list of bytes
        The SHA-256 of consecutive pieces, the last of which may be shorter.
    finite : bool
        Whether it is certain that every number is finite.
    largest : ndarray of shape (columns,)
        The largest magnitude in each column.
    hashes : ndarray of shape (rows,)
        As `row_hashes` has them.
    """

    digests: list[bytes]
    finite: bool
    largest: NDArray[np.float64]
    hashes: NDArray[np.uint64]


_facts: dict[tuple[int, tuple[int, ...]], Facts] = {}  # by address and shape


def known_facts(matrix: Any) -> Facts | None:
    """What is known of a matrix; None if nothing is."""
    if sparse.issparse(matrix) or matrix.dtype != np.float64 or not matrix.flags.c_contiguous:
        return None
    return _facts.get((matrix.ctypes.data, matrix.shape))


def remember(matrix: NDArray[np.float64], facts: Facts) -> None:
    """Keep the facts for as long as the matrix is mapped; it is read-only, so they stay true."""
    mapping: Any = matrix
    while not isinstance(mapping, mmap.mmap):
        mapping = mapping.obj if isinstance(mapping, memoryview) else mapping.base
    key = matrix.ctypes.data, matrix.shape
    _facts[key] = facts
    weakref.finalize(mapping, _facts.pop, key, None)
