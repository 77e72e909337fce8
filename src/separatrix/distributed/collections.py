"""Dask arrays and data frames as matrices in blocks: read where they lie, and never copied here.

No compiled code and no scikit-learn here: whoever checks a proof imports this.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ClusterError, InputError, LabelError, needs
from ..inputs.dask_hook import is_collection
from ..inputs.frames import columns_of, refuse_columns, refuse_rounded, titles
from ..inputs.labels import as_objects, coded, codes_of, one_label_a_row, refuse_unusable_labels
from ..inputs.matrix import read_table, refuse_not_finite
from ..rows.blocks import BlockMatrix, Handle, Runner, Work
from ..sparse import sparse
from .runners import ClientRunner, ThreadRunner


def read_collection(X: Any, *, check_finite: bool = True) -> tuple[BlockMatrix, tuple[str, ...] | None]:
    """See a Dask array or data frame as a matrix in blocks; and the names of its columns.

    Partitions without rows are left out. Unknown chunk sizes become known. Partitions of different types get
    the type that they would have together in memory, if it can hold their numbers.
    """
    frame = is_frame(X)
    if frame:
        refuse_columns([(each.name, each.type) for each in columns_of(X._meta) if each.read is None])
    else:
        need_whole_rows(X)
    names = titles(X) if frame else None
    read = Partitions.of(X).fixed("read", _from_frame if frame else _from_array, names)
    facts: list[_Facts] = read.map("look", _look)
    full = [k for k, each in enumerate(facts) if each.rows]
    if not full:
        raise InputError("X has no rows. Pass at least one row for each of two classes.")
    read, facts = read.among(full), [facts[k] for k in full]
    _need_alike(facts, read.places)
    dtype = np.result_type(*{each.dtype for each in facts})
    if any(each.dtype != dtype for each in facts):
        read = read.converted("read", _cast, dtype)
    matrix = BlockMatrix(
        tuple(read.handles),
        np.concatenate([[0], np.cumsum([each.rows for each in facts], dtype=np.int64)]),
        facts[0].columns,
        dtype,
        facts[0].csr,
        np.array([each.stored for each in facts], dtype=np.int64),
        read.places,
        read.runner,
    )
    if check_finite:
        matrix.map("look", refuse_not_finite, names)
    return matrix, names


def read_collection_labels(
    y: Any, matrix: BlockMatrix, known: NDArray[Any] | None = None
) -> tuple[NDArray[Any], NDArray[np.int64], list[Handle]]:
    """The classes, the code of every row, and handles of the codes of each block's rows, beside these.

    The classes are those that are known already, or those that are found.
    """
    n_rows = matrix.shape[0]
    if not is_collection(y):
        labels = one_label_a_row(y, n_rows)
        classes, codes = coded(labels) if known is None else (known, codes_of(labels, known))
        return classes, codes.astype(np.int64), matrix.beside("codes", matrix.pieces(codes), np.int32)
    read = Partitions.of(y, " of y").fixed("labels", _labels)
    found: list[tuple[int, NDArray[Any]]] = read.map("classes", _classes)
    total = sum(size for size, _ in found)
    if total != n_rows:
        raise LabelError(f"X has {n_rows} rows and y has {total} labels; one label a row is needed.")
    classes = _merged([each for size, each in found if size]) if known is None else known
    codes = np.concatenate(read.map("codes", _codes, classes))
    return classes, codes.astype(np.int64), matrix.beside("codes", matrix.pieces(codes), np.int32)


@dataclass(frozen=True, eq=False)
class Partitions:
    """The partitions of a collection, in whatever form they are.

    Attributes
    ----------
    handles : list
    places : tuple of str
        What each is called in messages.
    runner : Runner
    """

    handles: list[Handle]
    places: tuple[str, ...]
    runner: Runner

    @classmethod
    def of(cls, collection: Any, whose: str = "") -> Partitions:
        """Start to compute all of them, where the current client has its workers, or by threads here."""
        delayed = delayed_parts(collection)
        named = [f"partition {k}{whose}" for k in range(len(delayed))]
        runner = find_runner()
        return cls(runner.compute(delayed, named), tuple(named), runner)

    def among(self, chosen: list[int]) -> Partitions:
        """Some of them."""
        return Partitions(
            [self.handles[k] for k in chosen], tuple(self.places[k] for k in chosen), self.runner
        )

    def converted(self, name: str, task: Any, *common: Any) -> Partitions:
        """Each in another form, which replaces it; `map` says where that failed."""
        blocks = [(each,) for each in self.handles]
        kept = self.runner.keep(Work(name, task, blocks, common), replaces=True)
        return Partitions(kept, self.places, self.runner)

    def fixed(self, name: str, task: Any, *common: Any) -> Partitions:
        """Each as an array or CSR matrix, which replaces it, and which is the same from now on.

        If a worker is lost, Dask computes its partitions again, and these need not be what they were. So each
        is hashed where it is made, and compared with the first hash where it is made again.
        """
        if not self.runner.loses:
            return self.converted(name, task, *common)
        made = self.converted(name, _hashed, task, common)
        blocks, known = [(each,) for each in made.handles], made.map("look", _hash)
        kept = self.runner.keep(Work(name, _same, blocks, own=[(each,) for each in known]), replaces=True)
        return Partitions(kept, self.places, self.runner)

    def map(
        self,
        name: str,
        task: Any,
        *common: Any,
        each: list[tuple[Any, ...]] | None = None,
    ) -> list[Any]:
        """Call a task on each of them, as `BlockMatrix.map` does."""
        nothing = np.zeros(len(self.handles) + 1, dtype=np.int64)
        unread = BlockMatrix(
            tuple(self.handles),
            nothing,
            0,
            np.dtype(np.float64),
            False,
            nothing[1:],
            self.places,
            self.runner,
        )
        return unread.map(name, task, *common, each=each)


def find_runner() -> Runner:
    """Who runs tasks: the Dask client that is current, or else threads of this process."""
    with needs("A Dask collection", extra="dask"):
        import distributed
    try:
        client = distributed.default_client()
    except ValueError:
        return ThreadRunner()

    return ClientRunner(client)


@dataclass(frozen=True, eq=False)
class _Facts:
    """What is known of one partition."""

    rows: int
    columns: int
    stored: int
    dtype: np.dtype[Any]
    csr: bool


def is_frame(collection: Any) -> bool:
    """Whether a Dask collection has named columns."""
    return hasattr(collection, "npartitions") and hasattr(collection, "columns")


def delayed_parts(collection: Any) -> list[Any]:
    """The partitions as delayed objects.

    Columns that are not needed are not read; but partitions are not joined, as Dask's optimiser would, so
    that they keep their numbers.
    """
    if hasattr(collection, "simplify"):
        return list(collection.simplify().to_delayed(optimize_graph=False))
    return list(collection.to_delayed(optimize_graph=False).ravel())


def need_whole_rows(X: Any) -> None:
    """Refuse a Dask array that is cut along its columns."""
    if X.ndim != 2:
        raise InputError(
            f"X must have two dimensions, rows and columns. Got a Dask array of {X.ndim} instead.",
            remedy="For one column use X[:, None].",
        )
    if X.numblocks[1] > 1:
        raise InputError(
            f"X is cut along its columns, into {X.numblocks[1]} chunks; each row has to be in one chunk.",
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


def _merged(found: list[NDArray[Any]]) -> NDArray[Any]:
    """The classes of all partitions, in order."""
    if len({each.dtype.kind for each in found}) == 1 and found[0].dtype.kind != "O":
        return coded(np.concatenate(found))[0]
    labels = as_objects([label for each in found for label in each.tolist()])
    refuse_unusable_labels(labels)
    classes = coded(labels)[0]
    # NumPy's type for them, unless it would change one of them
    promoted = np.array(classes.tolist()) if all(each.dtype.kind in "biuf" for each in found) else classes
    return promoted if promoted.tolist() == classes.tolist() else classes


def _hashed(part: Any, task: Any, common: tuple[Any, ...]) -> tuple[bytes, Any]:
    """What a task makes of a partition, with its hash before it."""
    block = task(part, *common)
    return _content_hash(block), block


def _hash(hashed: tuple[bytes, Any]) -> bytes:
    return hashed[0]


def _same(hashed: tuple[bytes, Any], known: bytes) -> Any:
    """A block, if it is what it was when it was first made."""
    if hashed[0] != known:
        raise ClusterError(
            "it was computed twice, because a worker was lost, and its rows are not the same as before.",
            remedy="Give the functions that make the partitions a fixed seed, and do not change their files "
            "meanwhile; or write the data to files first.",
        )
    return hashed[1]


def _content_hash(block: Any) -> bytes:
    """The SHA-256 of an array or CSR matrix."""
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
    """A partition of a data frame as an array of its own, row after row."""
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
    """The same numbers in the type that all partitions share."""
    values = part.data if sparse.issparse(part) else part
    if dtype.kind == "f":
        refuse_rounded(values, partial(_place, part))
    return part.astype(dtype, copy=False)


def _place(part: Any, at: int) -> tuple[int, int]:
    """The row and the column of a number that a partition stores."""
    if sparse.issparse(part):
        return int(np.searchsorted(part.indptr, at, side="right")) - 1, int(part.indices[at])
    return at // part.shape[1], at % part.shape[1]


def _labels(part: Any) -> NDArray[Any]:
    return one_label_a_row(part, len(part))


def _classes(labels: NDArray[Any]) -> tuple[int, NDArray[Any]]:
    return labels.size, coded(labels)[0]


def _codes(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """The codes in the smallest type that holds them: one number a row travels."""
    if not labels.size:
        return np.zeros(0, dtype=np.uint8)
    return codes_of(labels, classes).astype(np.min_scalar_type(classes.size))
