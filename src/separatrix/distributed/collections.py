"""Dask arrays and data frames as matrices in blocks, which the workers read and this process never copies.

This module imports neither compiled code nor scikit-learn, because the checker of certificates imports it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ClusterError, InputError, LabelError, needs
from ..inputs.data import coded, codes_of, one_label_per_row
from ..inputs.matrix import (
    as_objects,
    columns_of,
    is_collection,
    place_of,
    read_table,
    refuse_columns,
    refuse_not_finite,
    refuse_rounded,
    titles,
)
from ..rows.blocks import BlockMatrix, Handle, Runner, Work
from ..sparse import sparse
from .runners import ClientRunner, ThreadRunner


def read_collection(X: Any, *, check_finite: bool = True) -> tuple[BlockMatrix, tuple[str, ...] | None]:
    """Return a Dask array or data frame as a matrix in blocks, and the names of its columns.

    Partitions without rows are left out, and unknown chunk sizes become known. If partitions have different
    types, they get the type that they would have together in memory, provided that it can hold their numbers.
    """
    frame = is_frame(X)
    if frame:
        refuse_columns([(each.name, each.type) for each in columns_of(X._meta) if each.read is None])
    else:
        need_whole_rows(X)
    names = titles(X) if frame else None
    read = fixed(started(X), "read", _from_frame if frame else _from_array, names)
    facts: list[_Facts] = read.map("look", _look)
    full = [k for k, each in enumerate(facts) if each.rows]
    if not full:
        raise InputError("X has no rows. Pass at least one row for each of two classes.")
    read, facts = among(read, full), [facts[k] for k in full]
    _need_alike(facts, read.places)
    dtype = np.result_type(*{each.dtype for each in facts})
    if any(each.dtype != dtype for each in facts):
        read = _converted(read, Work("read", _cast, _blocks(read), (dtype,)))
    matrix = replace(
        read,
        offsets=np.concatenate([[0], np.cumsum([each.rows for each in facts], dtype=np.int64)]),
        n_columns=facts[0].columns,
        dtype=dtype,
        csr=facts[0].csr,
        stored=np.array([each.stored for each in facts], dtype=np.int64),
    )
    if check_finite:
        matrix.map("look", refuse_not_finite, names)
    return matrix, names


def read_collection_labels(
    y: Any, matrix: BlockMatrix, known: NDArray[Any] | None = None
) -> tuple[NDArray[Any], NDArray[np.int64], list[Handle]]:
    """Return the classes, the code of every row, and handles of the codes of each block, next to its rows.

    The classes are the known ones if there are any, and otherwise those that are found.
    """
    n_rows = matrix.shape[0]
    if not is_collection(y):
        labels = one_label_per_row(y, n_rows)
        classes, codes = coded(labels) if known is None else (known, codes_of(labels, known))
    else:
        read = fixed(started(y, " of y"), "labels", labels_of)
        found: list[tuple[int, NDArray[Any]]] = read.map("classes", _classes)
        need_as_many(n_rows, sum(size for size, _ in found))
        classes = coded(one_label_per_row(joined([each for _, each in found])))[0] if known is None else known
        codes = np.concatenate(read.map("codes", _codes, classes))
    return classes, codes.astype(np.int64), matrix.beside("codes", matrix.pieces(codes), np.int32)


def started(collection: Any, whose: str = "") -> BlockMatrix:
    """Start to compute the partitions of a collection. Their shapes are not known yet."""
    delayed = _delayed_parts(collection)
    named = [f"partition {k}{whose}" for k in range(len(delayed))]
    runner, unknown = find_runner(), np.zeros(len(delayed) + 1, dtype=np.int64)
    handles = tuple(runner.compute(delayed, named))
    kind = np.dtype(np.float64)
    return BlockMatrix(handles, unknown, 0, kind, False, unknown[1:], tuple(named), runner)


def among(parts: BlockMatrix, chosen: list[int]) -> BlockMatrix:
    """Return some of the partitions."""
    handles, places = (tuple(each[k] for k in chosen) for each in (parts.handles, parts.places))
    return replace(parts, handles=handles, places=places, offsets=parts.offsets[: len(chosen) + 1])


def fixed(parts: BlockMatrix, name: str, task: Any, *common: Any) -> BlockMatrix:
    """Replace each partition by what a task makes of it, and refuse it if it ever changes.

    If a worker is lost, Dask computes its partitions again, and they may turn out differently. Therefore each
    worker hashes what it makes, and compares the hash with the first one if it has to make it again.
    """
    if not parts.runner.loses:
        return _converted(parts, Work(name, task, _blocks(parts), common))
    made = _converted(parts, Work(name, _hashed, _blocks(parts), (task, common)))
    known = made.map("look", itemgetter(0))
    return _converted(made, Work(name, _same, _blocks(made), own=[(each,) for each in known]))


def _converted(parts: BlockMatrix, work: Work) -> BlockMatrix:
    return replace(parts, handles=tuple(parts.runner.keep(work, replaces=True)))


def _blocks(parts: BlockMatrix) -> list[tuple[Handle, ...]]:
    return [(each,) for each in parts.handles]


def find_runner() -> Runner:
    """Return what runs tasks: the current Dask client, or the threads of this process without a client."""
    with needs("A Dask collection", extra="dask"):
        import distributed
    try:
        client = distributed.default_client()
    except ValueError:
        return ThreadRunner()
    return ClientRunner(client)


@dataclass(frozen=True, eq=False)
class _Facts:
    """The shape and the type of a partition."""

    rows: int
    columns: int
    stored: int
    dtype: np.dtype[Any]
    csr: bool


def is_frame(collection: Any) -> bool:
    """Return whether a Dask collection has named columns."""
    return hasattr(collection, "npartitions") and hasattr(collection, "columns")


def _delayed_parts(collection: Any) -> list[Any]:
    """Return the partitions as delayed objects.

    Columns that are not needed are not read. Dask's optimizer is not used, because it may join partitions,
    and then their numbers would change.
    """
    if hasattr(collection, "simplify"):
        return list(collection.simplify().to_delayed(optimize_graph=False))
    return list(collection.to_delayed(optimize_graph=False).ravel())


def need_whole_rows(X: Any) -> None:
    """Refuse a Dask array that is split along its columns."""
    if X.ndim != 2:
        raise InputError(
            f"X must have two dimensions, rows and columns. Got a Dask array of {X.ndim} instead.",
            remedy="For one column use X[:, None].",
        )
    if X.numblocks[1] > 1:
        raise InputError(
            f"X is split along its columns, into {X.numblocks[1]} chunks. Each row has to be in one chunk.",
            remedy="Join them: X.rechunk({1: -1}).",
            parameter="X",
        )


def _need_alike(facts: list[_Facts], places: tuple[str, ...]) -> None:
    first = facts[0]
    for each, place in zip(facts, places, strict=True):
        if each.columns != first.columns:
            raise InputError(
                f"In {place}: X has {each.columns} columns, and {first.columns} in {places[0]}. All "
                "partitions need the same columns."
            )
        if each.csr != first.csr:
            kinds = ("sparse", "dense") if each.csr else ("dense", "sparse")
            raise InputError(
                f"In {place}: X is {kinds[0]}, and {kinds[1]} in {places[0]}. All partitions need one kind."
            )


def need_as_many(n_rows: int, n_labels: int) -> None:
    """Refuse labels whose number is not that of the rows."""
    if n_rows != n_labels:
        raise LabelError(f"X has {n_rows} rows and y has {n_labels} labels. One label per row is needed.")


def joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Concatenate labels; as objects if they have two types, because NumPy would convert one of them."""
    full = [part for part in parts if part.size]
    if len({part.dtype.kind for part in full}) > 1:
        return as_objects([label for part in full for label in part.tolist()])
    return np.concatenate(full or parts)


def _hashed(part: Any, task: Any, common: tuple[Any, ...]) -> tuple[bytes, Any]:
    """Return the hash of what a task makes of a partition, and the result itself."""
    block = task(part, *common)
    return _content_hash(block), block


def _same(hashed: tuple[bytes, Any], known: bytes) -> Any:
    """Return a block if it is the same as when it was first made."""
    if hashed[0] != known:
        raise ClusterError(
            "it was computed twice, because a worker was lost, and its rows have changed.",
            remedy="Give the functions that make the partitions a fixed seed, and do not change their files "
            "during the run; or write the data to files first.",
        )
    return hashed[1]


def _content_hash(block: Any) -> bytes:
    """Return the SHA-256 of an array or CSR matrix."""
    arrays = [block.data, block.indices, block.indptr] if sparse.issparse(block) else [block]
    found = hashlib.sha256(str(block.shape).encode())
    for each in arrays:
        found.update(each.dtype.str.encode())
        numbers: Any = each.ravel(order="K")  # not copied
        if numbers.dtype.kind == "O":
            found.update("\n".join(map(ascii, numbers.tolist())).encode())
        else:
            found.update(numbers.view(np.uint8))
    return found.digest()


def _look(part: Any) -> _Facts:
    csr = sparse.issparse(part)
    stored = part.nnz if csr else part.size
    return _Facts(int(part.shape[0]), int(part.shape[1]), int(stored), part.dtype, csr)


def _from_frame(part: Any, names: tuple[str, ...]) -> Any:
    """Return a partition of a data frame as an array of its own, stored row by row."""
    if titles(part) != names:
        own = titles(part) or ()
        odd = [name for name in (*own, *names) if (name in own) != (name in names)]
        raise InputError(
            f"its columns are not those of the data frame: {', '.join(odd[:5]) or 'their order'} differs."
        )
    return np.array(read_table(part, check_finite=False)[0], order="C")


def _from_array(part: Any, _: None) -> Any:
    return read_table(part, check_finite=False)[0]


def _cast(part: Any, dtype: np.dtype[Any]) -> Any:
    """Return the same numbers in the type that all partitions share."""
    values = part.data if sparse.issparse(part) else part
    if dtype.kind == "f":
        refuse_rounded(values, partial(place_of, part))
    return part.astype(dtype, copy=False)


def labels_of(part: Any) -> NDArray[Any]:
    """Return the labels of a partition."""
    return one_label_per_row(part, len(part))


def _classes(labels: NDArray[Any]) -> tuple[int, NDArray[Any]]:
    return labels.size, coded(labels)[0]


def _codes(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Return the codes in the smallest type that can hold them, because they are sent over the network."""
    if not labels.size:
        return np.zeros(0, dtype=np.uint8)
    return codes_of(labels, classes).astype(np.min_scalar_type(classes.size))
