"""The SHA-256 by which a certificate names its data, computed by threads while other work goes on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..inputs.data import Data
from ..rows import threads
from ..rows.blocks import BlockMatrix, Work
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
    elsewhere = isinstance(matrix, BlockMatrix)
    kind = "csr" if (matrix.csr if elsewhere else sparse.issparse(matrix)) else "dense"
    header = (
        f"{FORMAT} {VERSION} {kind} {matrix.dtype.newbyteorder('<').str} {matrix.shape[0]} {matrix.shape[1]}"
    )
    if elsewhere:
        return partial(_digest_elsewhere, header, data)
    known = known_facts(matrix)
    pieces = [threads.submit(_piece_digest, *each) for each in _pieces(data, hashed=known is not None)]

    def finish() -> str:
        digests = () if known is None else known.digests
        return _digest_of_digests(header, [*digests, *(piece.result() for piece in pieces)], data)

    return finish


def _digest_of_digests(header: str, digests: list[bytes], data: Data) -> str:
    whole = hashlib.sha256(header.encode())
    for digest in digests:
        whole.update(digest)
    whole.update(json.dumps(data.classes).encode())
    return whole.hexdigest()


def _digest_elsewhere(header: str, data: Data) -> str:
    """The digest of a matrix in blocks: pieces are hashed where they lie."""
    matrix, whole = data.matrix, np.dtype("<i8")
    if matrix.csr:
        values = matrix.dtype.newbyteorder("<") if matrix.dtype.kind == "f" else whole
        lengths = np.concatenate(matrix.map("lengths", _row_lengths))
        indptr = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        digests = [*_stream(matrix, "data", values), *_stream(matrix, "indices", whole)]
        digests += [_piece_digest(*each) for each in _cut(indptr, whole)]
    else:
        digests = _stream(matrix, "values", matrix.dtype.newbyteorder("<"))
    digests += [_piece_digest(*each) for each in _cut(data.codes, whole)]
    return _digest_of_digests(header, digests, data)


def _stream(matrix: BlockMatrix, name: str, kind: np.dtype[Any]) -> list[bytes]:
    """The digests of the pieces of the blocks' arrays, taken as one long array."""
    width = matrix.n_columns if name == "values" else 1
    edges = matrix.offsets if name == "values" else np.concatenate([[0], np.cumsum(matrix.stored)])
    step = piece_length(width, kind.itemsize)
    fragments: list[tuple[int, int, int]] = []  # block, and from where to where
    pieces: list[list[int]] = []
    for start in range(0, int(edges[-1]), step):
        stop = min(start + step, int(edges[-1]))
        piece = []
        block = int(np.searchsorted(edges, start, side="right")) - 1
        while block < len(matrix.handles) and edges[block] < stop:
            low, high = max(start, int(edges[block])), min(stop, int(edges[block + 1]))
            if low < high:
                piece.append(len(fragments))
                fragments.append((block, low - int(edges[block]), high - int(edges[block])))
            block += 1
        pieces.append(piece)
    runner, handles = matrix.runner, matrix.handles
    blocks = [(handles[block],) for block, _, _ in fragments]
    own = [(low, high) for _, low, high in fragments]
    parts = runner.keep(Work("piece", _fragment, blocks, (name, kind), own))
    whole = [([parts[place] for place in piece],) for piece in pieces]
    return runner.start(Work("hash", _digest_of_parts, whole))(None)


def _fragment(block: Any, name: str, kind: np.dtype[Any], low: int, high: int) -> bytes:
    part = block[low:high] if name == "values" else getattr(block, name)[low:high]
    return np.ascontiguousarray(part, dtype=kind).tobytes()


def _digest_of_parts(parts: list[bytes]) -> bytes:
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part)
    return whole.digest()


def _row_lengths(block: Any) -> NDArray[np.int64]:
    return np.asarray(np.diff(block.indptr), dtype=np.int64)


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
        yield from _cut(part, kind)


def _cut(part: NDArray[Any], kind: np.dtype[Any]) -> Iterator[tuple[NDArray[Any], np.dtype[Any]]]:
    step = piece_length(part.shape[1] if part.ndim == 2 else 1, kind.itemsize)
    for start in range(0, part.shape[0], step):
        yield part[start : start + step], kind


def _piece_digest(piece: NDArray[Any], kind: np.dtype[Any]) -> bytes:
    plain: Any = np.ascontiguousarray(piece, dtype=kind)
    found = hashlib.sha256(plain).digest()
    relax()
    return found
