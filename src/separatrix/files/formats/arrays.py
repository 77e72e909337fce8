"""Matrices in npy, npz and IDX files; nothing in them is ever executed."""

from __future__ import annotations

import math
import os
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError, SeparatrixError
from ...sparse import sparse
from ..batches import Batch, is_inexact, whole
from ..encoding import Encoding
from ..number_formats import BLANKS
from ..reader import Reader
from ..source.compression import MAGIC, read_head
from ..source.detect import ChangedFileError, Format, Request, Source, free_memory

STEP = 1 << 22  # numbers of a matrix that are looked at together
_SPARSE = {"data", "indices", "indptr", "shape"}
# The third byte of an IDX file names the type, the fourth counts the dimensions; all numbers are big-endian.
_TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}

Load = Callable[
    [str, str], tuple[Any, Any]
]  # takes a path and the name in messages; returns X, and y or None


def open_array(load: Load, source: Source, request: Request) -> ArrayReader:
    """Open the matrix of a file; the target is its array ``y``, or the number of a column, counted from 1."""
    source.need_numbered(request)
    name, target = source.name, request.target
    try:
        X, y = load(source.paths[0], name)
    except SeparatrixError:
        raise
    except Exception as error:  # NumPy and zipfile may raise anything if a file is damaged
        raise InputError(f"{name!r} cannot be read: {error}") from error
    if X.ndim != 2 or X.dtype.kind not in "biuf" or (X.dtype.kind == "f" and X.dtype.itemsize > 8):
        raise InputError(
            f"{name!r} must hold a matrix of numbers, at most float64; it is {X.dtype} of shape {X.shape}."
        )
    if y is not None and (y.ndim != 1 or y.shape[0] != X.shape[0]):
        raise InputError(f"{name!r} has {X.shape[0]} rows, but y has the shape {y.shape}.")
    if y is not None and target not in (None, "y"):
        raise InputError(f"The target of {name!r} is its array 'y'. Got {target!r} instead.")
    if y is None and target is not None:
        if not target.isdecimal() or not 1 <= int(target) <= X.shape[1]:
            raise InputError(
                f"The target of {name!r} is the number of a column, from 1 to {X.shape[1]}. Got {target!r} "
                "instead."
            )
        X, y = _apart(X, int(target) - 1)
    if y is not None and y.dtype.kind == "U":
        y = np.char.strip(y, BLANKS)
    return _reader(source, request, X, y, None if y is None else target or "y")


def _apart(X: Any, at: int) -> tuple[Any, NDArray[Any]]:
    """Return a matrix without one of its columns, and that column."""
    if isinstance(X, FileMatrix):
        parts = [X[begin : begin + X.step][:, at] for begin in range(0, X.shape[0], X.step)]
        return replace(X, without=at), np.concatenate([np.empty(0, X.dtype), *parts])
    others = [k for k in range(X.shape[1]) if k != at]
    return X[:, others], X[:, [at]].toarray()[:, 0] if sparse.issparse(X) else np.asarray(X[:, at])


def _reader(
    source: Source, request: Request, X: Any, y: Any, target: str | None, notes: tuple[str, ...] = ()
) -> ArrayReader:
    known, width = request.encoding, int(X.shape[1])
    if known is not None and known.width != width:
        raise InputError(f"{source.name!r} has {width} columns; the model was fitted on {known.width}.")
    encoding = known or Encoding(intercept=request.intercept, width=width)
    return ArrayReader(source.name, X, y, encoding, target, request.missing, notes)


@dataclass(frozen=True, eq=False)
class ArrayReader(Reader):
    """Reads the rows of a matrix, with labels."""

    name: str
    X: Any
    y: NDArray[Any] | None
    columns: Encoding
    target: str | None
    missing: str = "error"
    notes: tuple[str, ...] = ()

    @property
    def encoding(self) -> Encoding:
        """The encoding of the model, or as many columns as there are, counted from 1."""
        return self.columns

    @property
    def target_name(self) -> str | None:
        """The name of the labels."""
        return self.target

    def classes(self) -> NDArray[Any]:
        """Return the distinct labels."""
        assert self.y is not None
        found: NDArray[Any] = np.unique(self.y[self._kept])
        return found

    def n_rows(self) -> int:
        """Count the rows."""
        return int(self._kept.size)

    @property
    def in_turn(self) -> bool:
        """Whether no rows are left out."""
        return self.missing == "error"

    def identities(self) -> Iterator[tuple[int, None]]:
        """Yield the numbers of the rows that remain, counted from 1."""
        return ((row + 1, None) for row in self._kept.tolist())

    def told(self) -> list[str]:
        """Say where the labels are from, and how many rows were left out."""
        total = self.X.shape[0]
        dropped = f"{total - self._kept.size:,} of {total:,} rows were left out because they lack a value."
        return [*self.notes, *([] if self.in_turn else [dropped])]

    def batches(self, rows: int, start: int) -> Iterator[Batch]:
        """Yield rows as float64."""
        for begin in range(start, self._kept.size, rows):
            part = self._kept[begin : begin + rows]
            first, end = int(part[0]), int(part[-1]) + 1
            found = self.X[first:end]
            if end - first > part.size:
                found = found[part - first]
            self._refuse_rounded(found, part)
            dense = isinstance(found, np.ndarray)
            X = np.array(found, np.float64, order="C") if dense else found.astype(np.float64)
            yield X, None if self.y is None else np.asarray(self.y[part])

    def _refuse_rounded(self, X: Any, rows: NDArray[np.int64]) -> None:
        """Raise an error that names a number that float64 cannot hold, if there is one."""
        values = X.data if sparse.issparse(X) else X
        if values.dtype.kind in "iu" and values.dtype.itemsize == 8 and is_inexact(values).any():
            at, columns = np.nonzero(is_inexact(X.toarray() if sparse.issparse(X) else X))
            raise InputError(
                f"Column {columns[0] + 1} of {self.name!r} has a whole number beyond 2**53 in row "
                f"{rows[at[0]] + 1:,}, which would be rounded. Make its numbers smaller."
            )

    @cached_property
    def _kept(self) -> NDArray[np.int64]:
        """The rows without NaN; with missing="error" these are all rows."""
        X, y = self.X, self.y
        lacking = np.zeros(X.shape[0], dtype=bool)
        if sparse.issparse(X):
            lacking[X.tocoo().row[np.isnan(X.data)]] = True
        elif X.dtype.kind == "f":
            step = max(1, STEP // max(1, X.shape[1]))
            for begin in range(0, X.shape[0], step):
                lacking[begin : begin + step] = np.isnan(X[begin : begin + step]).any(axis=1)
        if y is not None and y.dtype.kind == "f":
            lacking |= np.isnan(y)
        if lacking.any() and self.missing == "error":
            raise InputError(
                f"{self.name!r} lacks values in {np.count_nonzero(lacking):,} rows, the first in row "
                f"{int(lacking.argmax()) + 1:,}.",
                remedy="Fill them in, or leave such rows out with missing='drop'.",
                parameter="missing",
            )
        return np.flatnonzero(~lacking)


@dataclass(frozen=True, eq=False)
class FileMatrix:
    """A matrix in a file, from which slices of rows are read, without the column ``without``.

    It is not mapped: if somebody cuts a mapped file short, the system kills the process that reads it.
    """

    path: str
    name: str
    rows: int
    width: int
    dtype: np.dtype[Any]
    begin: int
    without: int | None = None

    ndim = 2

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.rows, self.width - (self.without is not None)

    @property
    def step(self) -> int:
        """The number of rows to look at together."""
        return max(1, STEP // max(1, self.width))

    def __getitem__(self, part: slice) -> NDArray[Any]:
        """Read some rows."""
        first, end, _ = part.indices(self.rows)
        count = (end - first) * self.width
        with open(self.path, "rb") as file:
            file.seek(self.begin + first * self.width * self.dtype.itemsize)
            found = np.fromfile(file, dtype=self.dtype, count=count)
        if found.size < count:
            raise ChangedFileError(
                f"{self.name!r} was cut short while it was read. Wait until nobody writes to it, or make a "
                "copy."
            )
        found = found.reshape(end - first, self.width)
        return found if self.without is None else np.delete(found, self.without, axis=1)


def _load_npy(path: str, name: str) -> tuple[Any, None]:
    """Return a matrix in a file; arrays in Fortran order, or of another shape, are loaded into memory."""
    with open(path, "rb") as file:
        version = np.lib.format.read_magic(file)
        read = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        shape, by_columns, dtype = read(file)
        begin, size = file.tell(), file.seek(0, os.SEEK_END)
    if not dtype.hasobject and size < begin + math.prod(shape) * dtype.itemsize:
        raise _wrong_size(name, "cut short", shape, size)
    if len(shape) != 2 or dtype.kind not in "biuf" or by_columns:
        _need_room(name, size)
        return np.load(path, allow_pickle=False), None
    return FileMatrix(path, name, *shape, dtype, begin), None


def _wrong_size(name: str, what: str, shape: Any, size: int) -> InputError:
    return InputError(
        f"{name!r} is {what}: it says that it has {' x '.join(map(str, shape))} numbers, but its size is "
        f"{size:,} bytes. Fetch it again."
    )


def _need_room(name: str, size: int) -> None:
    if size > free_memory():
        raise InputError(
            f"{name!r} holds {size / 1e9:.1f} GB, which does not fit into memory. Save X as an npy file in C "
            "order."
        )


def _load_npz(path: str, name: str) -> tuple[Any, NDArray[Any] | None]:
    """Return ``X`` and ``y``, or a CSR matrix that SciPy saved."""
    with zipfile.ZipFile(path) as archive:
        _need_room(name, sum(each.file_size for each in archive.infolist()))
    with np.load(path, allow_pickle=False) as arrays:
        if set(arrays.files) >= _SPARSE:
            parts = (arrays["data"], arrays["indices"], arrays["indptr"])
            matrix = sparse.csr_array(parts, shape=tuple(arrays["shape"].tolist()))
            matrix.check_format(full_check=True)
            return matrix, None
        if "X" not in arrays.files:
            raise InputError(f"{name!r} needs an array 'X' (and 'y'). It has: {', '.join(arrays.files)}.")
        return arrays["X"], arrays["y"] if "y" in arrays.files else None


def open_idx(source: Source, request: Request) -> ArrayReader:
    """Open images, such as those of MNIST, with the labels in another file; each pixel is a column."""
    source.need_numbered(request)
    path, name = source.paths[0], source.name
    dtype, shape, begin = _idx_header(read_head(path, "none", name, 20), name, os.path.getsize(path))
    if len(shape) == 1:
        raise InputError(f"{name!r} holds labels. Name the file of the images; the labels are found then.")
    if request.target not in (None, "label"):
        raise InputError("The target of an IDX file is the number in the file of labels, called 'label'.")
    folder, file = os.path.split(name)
    stem = file.removesuffix(".gz")
    called = re.sub(r"idx[234]", "idx1", stem.replace("images", "labels").replace("Images", "Labels"))
    paths = [os.path.join(folder, called + ending) for ending in ("", ".gz") if called != stem]
    beside = next(filter(os.path.isfile, paths), None)
    if beside is None and request.target is not None:
        raise InputError(
            f"There is no file of labels for {name!r}. Its name has to be the same, with 'labels' for "
            "'images' and 'idx1' for 'idx3'."
        )
    X = FileMatrix(path, name, shape[0], math.prod(shape[1:]), dtype, begin)
    if beside is None:
        return _reader(source, request, X, None, None)
    notes = (f"The labels are from {beside!r}.",)
    return _reader(source, request, X, _load_labels(beside, X.rows, name), "label", notes)


def _idx_header(head: bytes, name: str, size: int) -> tuple[np.dtype[Any], list[int], int]:
    """Return the type, the shape and where the numbers begin, if the size of the file confirms them."""
    known = len(head) >= 4 and head[:2] == b"\0\0" and head[2] in _TYPES
    if not known or len(head) < 4 + 4 * head[3]:
        raise InputError(f"{name!r} is not an IDX file, or is damaged.")
    dtype, begin = np.dtype(_TYPES[head[2]]), 4 + 4 * head[3]
    shape = [int.from_bytes(head[at : at + 4], "big") for at in range(4, begin, 4)]
    if size != begin + math.prod(shape) * dtype.itemsize:
        raise _wrong_size(name, "damaged", shape, size)
    return dtype, shape, begin


def _load_labels(path: str, rows: int, name: str) -> NDArray[Any]:
    raw = read_head(path, "none", path, 8)
    compression = next((kind for mark, kind in MAGIC.items() if raw.startswith(mark)), "none")
    content = read_head(path, compression, path, 9 + 8 * rows)
    dtype, shape, begin = _idx_header(content, path, len(content))
    if shape != [rows]:
        raise InputError(f"{name!r} has {rows:,} images, but the shape of {path!r} is {shape}.")
    labels = np.frombuffer(content, dtype=dtype, offset=begin)
    if labels.dtype.kind != "f":
        return labels.astype(np.int64)
    if np.isnan(labels).any():
        raise InputError(f"{path!r} lacks the label of row {int(np.isnan(labels).argmax()) + 1:,}.")
    return whole(labels.astype(np.float64))


NPY = Format("npy", "npy", lambda *asked: open_array(_load_npy, *asked), magic=((0, b"\x93NUMPY"),))
NPZ = Format(
    "npz",
    "npz",
    lambda *asked: open_array(_load_npz, *asked),
    members=lambda names: bool(names) and all(each.endswith(".npy") for each in names),
)
IDX = Format(
    "idx",
    "IDX",
    open_idx,
    magic=tuple((0, bytes([0, 0, kind, dims])) for kind in _TYPES for dims in range(1, 5)),
)
