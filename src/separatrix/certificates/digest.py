"""The SHA-256 by which a certificate identifies its data, computed by threads during the search."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Callable, Iterator
from concurrent.futures import wait
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..deadline import Pause
from ..inputs.data import Data
from ..rows import threads
from ..rows.blocks import INTERVAL, BlockMatrix, Work
from ..sparse import sparse
from .fields import FORMAT, VERSION

CHUNK = 1 << 23  # bytes of a piece; part of the format of certificates


def start_digest(data: Data) -> Callable[..., str]:
    """Start to hash the data in threads; the function returned waits for the digest.

    That function may be called with a `Pause`, which it calls now and then while it waits.

    The digest is the SHA-256 of a header (storage, type, shape), the SHA-256 digests of consecutive pieces,
    and the class labels; docs/certificates.md specifies every byte. The pieces do not depend on each other,
    so all cores can hash, and the caller can continue meanwhile.
    """
    matrix = data.matrix
    elsewhere = isinstance(matrix, BlockMatrix)
    kind = "csr" if (matrix.csr if elsewhere else sparse.issparse(matrix)) else "dense"
    header = (
        f"{FORMAT} {VERSION} {kind} {matrix.dtype.newbyteorder('<').str} {matrix.shape[0]} {matrix.shape[1]}"
    )
    if elsewhere:
        return _start_elsewhere(header, data)
    pieces = list(_pieces(data))
    if sum(piece.size for piece, _ in pieces) <= threads.WORTH_A_THREAD:
        digests = [_piece_digest(*each) for each in pieces]
        return lambda _=None: _digest_of_digests(header, digests, data)
    started = [threads.submit(_piece_digest, *each) for each in pieces]

    def finish(pause: Pause | None = None) -> str:
        try:
            while pause is not None and wait(started, timeout=INTERVAL).not_done:
                pause()
        except BaseException:
            for each in started:
                each.cancel()
            raise
        return _digest_of_digests(header, [each.result() for each in started], data)

    return finish


def _digest_of_digests(header: str, digests: list[bytes], data: Data) -> str:
    whole = hashlib.sha256(header.encode())
    for digest in digests:
        whole.update(digest)
    whole.update(json.dumps(data.classes).encode())
    if data.columns:
        whole.update(json.dumps(list(data.columns)).encode())
    return whole.hexdigest()


def _start_elsewhere(header: str, data: Data) -> Callable[..., str]:
    """Do the same for a matrix in blocks: pieces are hashed where they are, with low priority."""
    matrix, whole = data.matrix, np.dtype("<i8")
    if not matrix.csr:
        streams = [_Stream(matrix, "values", matrix.dtype.newbyteorder("<"))]
    else:
        values = matrix.dtype.newbyteorder("<") if matrix.dtype.kind == "f" else whole
        streams = [_Stream(matrix, "data", values), _Stream(matrix, "indices", whole)]

    def finish(pause: Pause | None = None) -> str:
        here = [data.codes]
        if matrix.csr:
            lengths = np.concatenate(matrix.map("look", _row_lengths, pause=pause))
            here.insert(0, np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))
        digests = [digest for stream in streams for digest in stream.digests(pause)]
        digests += [_piece_digest(*each) for part in here for each in _cut(part, whole)]
        return _digest_of_digests(header, digests, data)

    return finish


class _Stream:
    """One array of each block, joined to one long array that is cut into pieces.

    A piece inside one block is hashed there. The parts of a piece that is in several blocks go to one worker.
    """

    def __init__(self, matrix: BlockMatrix, name: str, kind: np.dtype[Any]) -> None:
        self.matrix, self.name, self.kind = matrix, name, kind
        width = matrix.n_columns if name == "values" else 1
        ends = matrix.offsets[1:] if name == "values" else np.cumsum(matrix.stored)
        edges, step = [0, *ends.tolist()], piece_length(width, kind.itemsize)
        self.pieces = [_parts(edges, start, start + step) for start in range(0, edges[-1], step)]
        whole = [piece[0] for piece in self.pieces if len(piece) == 1]
        self.started = matrix.runner.start(self._work("hash", _part_digest, whole, later=True))

    def _work(self, name: str, task: Any, parts: list[tuple[int, int, int]], later: bool = False) -> Work:
        handles = [(self.matrix.handles[block],) for block, *_ in parts]
        own = [(low, high) for _, low, high in parts]
        return Work(name, task, handles, (self.name, self.kind), own, later=later)

    def digests(self, pause: Pause | None) -> list[bytes]:
        """Return the digests of all pieces, in order."""
        whole, runner = iter(self.started(pause)), self.matrix.runner
        split = [piece for piece in self.pieces if len(piece) > 1]
        if not split:
            return list(whole)
        kept = iter(
            runner.keep(self._work("piece", _part_bytes, [part for piece in split for part in piece]))
        )
        joined = [([next(kept) for _ in piece],) for piece in split]
        others = iter(runner.start(Work("hash", _digest_of_parts, joined))(pause))
        return [next(whole if len(piece) == 1 else others) for piece in self.pieces]


def _parts(edges: list[int], start: int, stop: int) -> list[tuple[int, int, int]]:
    """Return the parts of a piece: each block, with the first place in it and the place after the last."""
    found, block = [], bisect_right(edges, start) - 1
    while edges[block] < min(stop, edges[-1]):
        low, high = max(start, edges[block]), min(stop, edges[block + 1])
        if low < high:
            found.append((block, low - edges[block], high - edges[block]))
        block += 1
    return found


def _part_bytes(block: Any, name: str, kind: np.dtype[Any], low: int, high: int) -> bytes:
    stream = block if name == "values" else getattr(block, name)
    return np.ascontiguousarray(stream[low:high], dtype=kind).tobytes()


def _part_digest(block: Any, name: str, kind: np.dtype[Any], low: int, high: int) -> bytes:
    stream = block if name == "values" else getattr(block, name)
    return _piece_digest(stream[low:high], kind)


def _digest_of_parts(parts: list[bytes]) -> bytes:
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part)
    return whole.digest()


def _row_lengths(block: Any) -> NDArray[np.int64]:
    return np.asarray(np.diff(block.indptr), dtype=np.int64)


def _pieces(data: Data) -> Iterator[tuple[NDArray[Any], np.dtype[Any]]]:
    """Yield consecutive rows of the matrix, then of the class codes, each with the type that is hashed."""
    matrix, whole = data.matrix, np.dtype("<i8")
    if sparse.issparse(matrix):
        values = matrix.dtype.newbyteorder("<") if matrix.dtype.kind == "f" else whole
        parts = [(matrix.data, values), (matrix.indices, whole), (matrix.indptr, whole), (data.codes, whole)]
    else:
        parts = [(matrix, matrix.dtype.newbyteorder("<")), (data.codes, whole)]
    parts += [(column, column.dtype.newbyteorder("<")) for column in data.columns.values()]
    for part, kind in parts:
        yield from _cut(part, kind)


def piece_length(width: int, itemsize: int) -> int:
    """Return how many rows make a piece, if each row has ``width`` numbers."""
    return max(1, CHUNK // max(1, width * itemsize))


def _cut(part: NDArray[Any], kind: np.dtype[Any]) -> Iterator[tuple[NDArray[Any], np.dtype[Any]]]:
    step = piece_length(part.shape[1] if part.ndim == 2 else 1, kind.itemsize)
    for start in range(0, part.shape[0], step):
        yield part[start : start + step], kind


def _piece_digest(piece: NDArray[Any], kind: np.dtype[Any]) -> bytes:
    plain: Any = np.ascontiguousarray(piece, dtype=kind)
    return hashlib.sha256(plain).digest()
