"""The SHA-256 by which a certificate names its data, computed by threads while other work goes on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..inputs.data import Data
from ..rows import threads
from ..rows.facts import known_facts, piece_length
from ..rows.pages import relax
from .claims import FORMAT, VERSION


def start_digest(data: Data) -> Callable[[], str]:
    """Start hashing the data in threads; the function returned waits for the digest.

    SHA-256 is taken of a header (storage, type, shape), the SHA-256 digests of consecutive pieces,
    and the class labels; docs/certificates.md says it byte by byte. Pieces do not depend on each
    other, so every core hashes, and whoever asked may work meanwhile.
    """
    matrix = data.matrix
    kind = "csr" if sparse.issparse(matrix) else "dense"
    header = (
        f"{FORMAT} {VERSION} {kind} {matrix.dtype.newbyteorder('<').str} {matrix.shape[0]} {matrix.shape[1]}"
    )
    known = known_facts(matrix)
    pieces = [threads.submit(_piece_digest, *each) for each in _pieces(data, hashed=known is not None)]

    def finish() -> str:
        whole = hashlib.sha256(header.encode())
        for digest in () if known is None else known.digests:
            whole.update(digest)
        for piece in pieces:
            whole.update(piece.result())
        whole.update(json.dumps(data.classes).encode())
        return whole.hexdigest()

    return finish


def _pieces(data: Data, *, hashed: bool) -> Iterator[tuple[NDArray[Any], np.dtype[Any]]]:
    """Consecutive rows of the matrix, then of the class positions, with the type in which they are hashed.

    Without the matrix, if it was hashed when it was written.
    """
    matrix, whole = data.matrix, np.dtype("<i8")
    if sparse.issparse(matrix):
        values = matrix.dtype.newbyteorder("<") if matrix.dtype.kind == "f" else whole
        parts = [(matrix.data, values), (matrix.indices, whole), (matrix.indptr, whole), (data.codes, whole)]
    else:
        parts = [] if hashed else [(matrix, matrix.dtype.newbyteorder("<"))]
        parts.append((data.codes, whole))
    for part, kind in parts:
        width = part.shape[1] if part.ndim == 2 else 1
        step = piece_length(width, kind.itemsize)
        for start in range(0, part.shape[0], step):
            yield part[start : start + step], kind


def _piece_digest(piece: NDArray[Any], kind: np.dtype[Any]) -> bytes:
    plain: Any = np.ascontiguousarray(piece, dtype=kind)
    found = hashlib.sha256(plain).digest()
    relax()
    return found
