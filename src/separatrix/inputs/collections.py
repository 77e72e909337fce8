"""Dask arrays and data frames as matrices in blocks: read where they lie, and never copied here.

No compiled code and no scikit-learn here: whoever checks a proof imports this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..errors import InputError, InputTypeError, LabelError, needs
from ..rows.blocks import BlockMatrix, Handle, Runner, ThreadRunner, Work
from .labels import coded, codes_of, one_label_a_row
from .matrix import read_table, refuse_not_finite, titles


def is_collection(X: Any) -> bool:
    """Whether X lives on a cluster, or could: a Dask array or data frame. Dask is not imported to know."""
    module = type(X).__module__.partition(".")[0]
    return module == "dask" and hasattr(type(X), "__dask_graph__")


@dataclass(frozen=True, eq=False)
class Part:
    """What is known of one partition.

    Attributes
    ----------
    rows, columns, stored : int
    dtype : dtype
    csr : bool
    usual : bool
        Whether it is stored as matrices are here, so that it need not be converted.
    """

    rows: int
    columns: int
    stored: int
    dtype: np.dtype[Any]
    csr: bool
    usual: bool


def read_collection(X: Any, *, check_finite: bool = True) -> tuple[BlockMatrix, tuple[str, ...] | None]:
    """See a Dask array or data frame as a matrix in blocks; and the names of its columns."""
    runner, client = find_runner()
    frame = hasattr(X, "npartitions") and hasattr(X, "columns")
    if not frame:
        _need_whole_rows(X)
    names = titles(X) if frame else None
    raw = _start(X, client)
    places = tuple(f"partition {k}" for k in range(len(raw)))
    first = _Unread(raw, places, runner)
    parts: list[Part] = first.map("look", _look, names)
    if frame or not all(part.usual for part in parts):
        raw = runner.keep(Work("read", _converted, [(each,) for each in raw], (names,)))
    full = [k for k, part in enumerate(parts) if part.rows]
    if not full:
        raise InputError("X has no rows. Pass at least one row for each of two classes.")
    chosen = [parts[k] for k in full]
    if len({part.columns for part in chosen}) > 1 or len({part.csr for part in chosen}) > 1:
        raise InputError("Partitions of X differ in their columns.")
    dtype = np.result_type(*[part.dtype for part in chosen])
    matrix = BlockMatrix(
        tuple(raw[k] for k in full),
        np.concatenate([[0], np.cumsum([part.rows for part in chosen], dtype=np.int64)]),
        chosen[0].columns,
        dtype,
        chosen[0].csr,
        np.array([part.stored for part in chosen], dtype=np.int64),
        tuple(places[k] for k in full),
        runner,
    )
    if check_finite:
        matrix.map("finite", refuse_not_finite, names)
    return matrix, names


def read_collection_labels(
    y: Any, matrix: BlockMatrix, known: NDArray[Any] | None = None
) -> tuple[NDArray[Any], NDArray[np.int64], list[Handle]]:
    """The classes, the code of every row, and the codes of each block's rows beside them.

    The classes are those that are known already, or those that are found.
    """
    if not is_collection(y):
        labels = one_label_a_row(y, matrix.shape[0])
        classes, codes = coded(labels) if known is None else (known, codes_of(labels, known))
        pieces = matrix.pieces(codes.astype(np.int32))
        kept = matrix.runner.keep(Work("codes", _codes_given, [()] * len(pieces), own=pieces))
        return classes, codes.astype(np.int64), kept
    _, client = find_runner()
    raw = _start(y, client)
    places = tuple(f"partition {k} of y" for k in range(len(raw)))
    unread = _Unread(raw, places, matrix.runner)
    found = unread.map("classes", _classes)
    sizes = [size for size, _ in found if size]
    if sizes != np.diff(matrix.offsets).tolist():
        raise LabelError("X and y are cut into partitions of different lengths.")
    merged = np.concatenate([each for size, each in found if size])
    classes = coded(one_label_a_row(merged, merged.size))[0] if known is None else known
    full = [(raw[k],) for k, (size, _) in enumerate(found) if size]
    kept = matrix.runner.keep(Work("codes", _codes, full, (classes,)))
    codes = np.concatenate(matrix.map("labels", _beside, beside=(kept,)))
    return classes, codes.astype(np.int64), kept


def find_runner() -> tuple[Runner, Any]:
    """Who runs tasks: the Dask client that is current, or threads of this process; and the client."""
    with needs("A Dask collection", extra="dask"):
        try:
            from distributed import default_client
        except ImportError:
            return ThreadRunner(), None
    try:
        client = default_client()
    except ValueError:
        return ThreadRunner(), None
    from ..rows.client import ClientRunner

    return ClientRunner(client), client


def _need_whole_rows(X: Any) -> None:
    if X.ndim != 2:
        raise InputError(f"X must have two dimensions, rows and columns. Got shape {X.shape} instead.")
    if X.numblocks[1] > 1:
        raise InputError(
            f"X is cut along its columns, into {X.numblocks[1]} chunks; every row has to be in one chunk.",
            remedy="Join them: X.rechunk({1: -1}).",
            parameter="X",
        )


def _start(X: Any, client: Any) -> list[Any]:
    """Handles of the partitions of a collection, which are computed and kept."""
    delayed = X.to_delayed()
    delayed = delayed.ravel().tolist() if isinstance(delayed, np.ndarray) else list(delayed)
    if client is not None:
        return list(client.compute(delayed))
    from dask.base import compute

    return list(compute(*delayed, scheduler="threads"))


@dataclass(frozen=True, eq=False)
class _Unread:
    """Partitions of which nothing is known yet."""

    handles: list[Handle]
    places: tuple[str, ...]
    runner: Runner

    def map(self, name: str, task: Any, *common: Any) -> list[Any]:
        count = len(self.handles)
        whole = BlockMatrix(
            tuple(self.handles),
            np.zeros(count + 1, dtype=np.int64),
            0,
            np.dtype(np.float64),
            False,
            np.zeros(count, dtype=np.int64),
            self.places,
            self.runner,
        )
        return whole.map(name, task, *common)


def _look(part: Any, names: tuple[str, ...] | None) -> Part:
    matrix = _converted(part, names)
    stored = matrix.nnz if sparse.issparse(matrix) else matrix.size
    rows, columns = map(int, matrix.shape)
    return Part(rows, columns, int(stored), matrix.dtype, sparse.issparse(matrix), matrix is part)


def _converted(part: Any, names: tuple[str, ...] | None) -> Any:
    if names is not None and titles(part) != names:
        raise InputTypeError(f"the columns are {titles(part)}, and those of the collection {names}.")
    matrix, _ = read_table(part, check_finite=False)
    return np.array(matrix, order="C") if names is not None else matrix


def _classes(part: Any) -> tuple[int, NDArray[Any]]:
    labels = one_label_a_row(part, len(part))
    return labels.size, np.unique(labels)


def _codes(part: Any, classes: NDArray[Any]) -> NDArray[np.int32]:
    return codes_of(np.asarray(part).ravel(), classes).astype(np.int32)


def _codes_given(codes: NDArray[np.int32]) -> NDArray[np.int32]:
    return codes


def _beside(_: Any, codes: NDArray[np.int32]) -> NDArray[np.int32]:
    return codes
