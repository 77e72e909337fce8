"""The SHA-256 by which a certificate names its data, computed by threads while other work goes on."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Callable, Iterator
from concurrent.futures import wait
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..inputs.data import Data
from ..rows import threads
from ..rows.blocks import INTERVAL, BlockMatrix, Work
from ..sparse import sparse
from .claims import FORMAT, VERSION
from .work_limit import Pause

CHUNK = 1 << 23  # bytes of a piece; part of the format of certificates
AT_ONCE = 32  # pieces across blocks whose parts are held at a time


def start_digest(data: Data) -> Callable[..., str]:
    """Start hashing the data in threads; the function returned waits for the digest.

    It may be called with a function that is called now and then meanwhile, and may raise.

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
        return _start_elsewhere(header, data)
    pieces = [threads.submit(_piece_digest, *each) for each in _pieces(data)]

    def finish(pause: Pause | None = None) -> str:
        try:
            while pause is not None and wait(pieces, timeout=INTERVAL).not_done:
                pause()
        except BaseException:
            for piece in pieces:
                piece.cancel()
            raise
        return _digest_of_digests(header, [piece.result() for piece in pieces], data)

    return finish


def _digest_of_digests(header: str, digests: list[bytes], data: Data) -> str:
    whole = hashlib.sha256(header.encode())
    for digest in digests:
        whole.update(digest)
    whole.update(json.dumps(data.classes).encode())
    return whole.hexdigest()


def _start_elsewhere(header: str, data: Data) -> Callable[..., str]:
    """The same for a matrix in blocks: pieces are hashed where they lie, when nothing else is to be done."""
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
    """One array of each block, taken as one long array, which is cut into pieces.

    Pieces inside a block are hashed by the call that reads it. Of those that lie across blocks, the parts go
    to one worker, a few pieces at a time.
    """

    def __init__(self, matrix: BlockMatrix, name: str, kind: np.dtype[Any]) -> None:
        self.matrix, self.name, self.kind = matrix, name, kind
        width = matrix.n_columns if name == "values" else 1
        ends = matrix.offsets[1:] if name == "values" else np.cumsum(matrix.stored)
        self.edges = [0, *ends.tolist()]
        self.step = piece_length(width, kind.itemsize)
        whole = [self._whole(k) for k in range(len(matrix.handles))]
        self.inside = [k for k, (low, high) in enumerate(whole) if low < high]
        own = [tuple(at - self.edges[k] for at in whole[k]) for k in self.inside]
        handles = [(matrix.handles[k],) for k in self.inside]
        work = Work("hash", _digests, handles, (name, kind, self.step), own, later=True)
        self.started = matrix.runner.start(work)

    def _whole(self, block: int) -> tuple[int, int]:
        """From where to where a block has whole pieces; the last piece of all may be short."""
        start, stop = self.edges[block], self.edges[block + 1]
        last = stop if stop == self.edges[-1] else stop // self.step * self.step
        return -(-start // self.step) * self.step, last

    def digests(self, pause: Pause | None) -> list[bytes]:
        """The digests of all pieces, in their order."""
        found: dict[int, bytes] = {}
        for block, digests in zip(self.inside, self.started(pause), strict=True):
            first = self._whole(block)[0]
            found.update({first + k * self.step: digest for k, digest in enumerate(digests)})
        across = [start for start in range(0, self.edges[-1], self.step) if start not in found]
        for place in range(0, len(across), AT_ONCE):
            some = across[place : place + AT_ONCE]
            found.update(zip(some, self._across(some, pause), strict=True))
        return [found[start] for start in sorted(found)]

    def _across(self, starts: list[int], pause: Pause | None) -> list[bytes]:
        runner, edges = self.matrix.runner, self.edges
        parts: list[tuple[int, int, int]] = []  # block, and from where to where
        pieces: list[list[int]] = []
        for start in starts:
            stop, block = min(start + self.step, edges[-1]), bisect_right(edges, start) - 1
            pieces.append([])
            while edges[block] < stop:
                low, high = max(start, edges[block]), min(stop, edges[block + 1])
                if low < high:
                    pieces[-1].append(len(parts))
                    parts.append((block, low - edges[block], high - edges[block]))
                block += 1
        blocks, own = [(self.matrix.handles[k],) for k, *_ in parts], [(low, high) for _, low, high in parts]
        kept = runner.keep(Work("piece", _bytes, blocks, (self.name, self.kind), own))
        joined = [([kept[k] for k in piece],) for piece in pieces]
        return runner.start(Work("hash", _digest_of_parts, joined))(pause)


def _digests(block: Any, name: str, kind: np.dtype[Any], step: int, low: int, high: int) -> list[bytes]:
    stream = block if name == "values" else getattr(block, name)
    return [_piece_digest(stream[at : min(at + step, high)], kind) for at in range(low, high, step)]


def _bytes(block: Any, name: str, kind: np.dtype[Any], low: int, high: int) -> bytes:
    stream = block if name == "values" else getattr(block, name)
    return np.ascontiguousarray(stream[low:high], dtype=kind).tobytes()


def _digest_of_parts(parts: list[bytes]) -> bytes:
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part)
    return whole.digest()


def _row_lengths(block: Any) -> NDArray[np.int64]:
    return np.asarray(np.diff(block.indptr), dtype=np.int64)


def _pieces(data: Data) -> Iterator[tuple[NDArray[Any], np.dtype[Any]]]:
    """Consecutive rows of the matrix, then of the class positions, with the type in which they are hashed."""
    matrix, whole = data.matrix, np.dtype("<i8")
    if sparse.issparse(matrix):
        values = matrix.dtype.newbyteorder("<") if matrix.dtype.kind == "f" else whole
        parts = [(matrix.data, values), (matrix.indices, whole), (matrix.indptr, whole), (data.codes, whole)]
    else:
        parts = [(matrix, matrix.dtype.newbyteorder("<")), (data.codes, whole)]
    for part, kind in parts:
        yield from _cut(part, kind)


def piece_length(width: int, itemsize: int) -> int:
    """How many rows of so many numbers make a piece."""
    return max(1, CHUNK // max(1, width * itemsize))


def _cut(part: NDArray[Any], kind: np.dtype[Any]) -> Iterator[tuple[NDArray[Any], np.dtype[Any]]]:
    step = piece_length(part.shape[1] if part.ndim == 2 else 1, kind.itemsize)
    for start in range(0, part.shape[0], step):
        yield part[start : start + step], kind


def _piece_digest(piece: NDArray[Any], kind: np.dtype[Any]) -> bytes:
    plain: Any = np.ascontiguousarray(piece, dtype=kind)
    return hashlib.sha256(plain).digest()
