"""Matrices in npy, npz and IDX files; nothing in them is ever executed."""

from __future__ import annotations

import math
import os
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError, SeparatrixError
from ...inputs.matrix import place_of, rounded_at
from ...sparse import dense, sparse
from ..encoding import Encoding
from ..number_formats import BLANKS
from ..reader import Batch, Table, whole
from ..request import Request
from ..source.detect import ChangedFileError, Format, Source, find_source, free_memory

_SPARSE = {"data", "indices", "indptr", "shape"}
# The third byte of an IDX file names the type, the fourth counts the dimensions; all numbers are big-endian.
_TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


# A matrix, dense or CSR, its labels, and what a person should know about them.
Loaded = tuple[Any, NDArray[Any] | None, tuple[str, ...]]
Load = Callable[[str, str], Loaded]  # takes a path, and the name in messages


def open_array(load: Load, label: str, source: Source, request: Request) -> ArrayTable:
    """Open the matrix of a file; the target is called ``label``, or is a column, counted from 1."""
    name, target, at = source.name, request.target, None
    try:
        X, y, notes = load(source.paths[0], name)
    except SeparatrixError:
        raise
    except Exception as error:  # NumPy and zipfile may raise anything if a file is damaged
        raise InputError(f"{name!r} cannot be read: {error}") from error
    if X.ndim != 2 or X.dtype.kind not in "biuf" or (X.dtype.kind == "f" and X.dtype.itemsize > 8):
        raise InputError(
            f"{name!r} must hold a matrix of numbers, at most float64; it is {X.dtype} of shape {X.shape}."
        )
    if y is not None:
        if y.ndim != 1 or y.shape[0] != X.shape[0]:
            raise InputError(f"{name!r} has {X.shape[0]} rows, but y has the shape {y.shape}.")
        if target not in (None, label):
            raise InputError(f"The target of {name!r} is called {label!r}. Got {target!r} instead.")
        y, target = np.char.strip(y, BLANKS) if y.dtype.kind == "U" else y, label
    elif target is not None:
        if not target.isdecimal() or not 1 <= int(target) <= X.shape[1]:
            raise InputError(
                f"The target of {name!r} is the number of a column, from 1 to {X.shape[1]}. Got {target!r} "
                f"instead. {' '.join(notes)}".rstrip()
            )
        at = int(target) - 1
    known, width = request.encoding, int(X.shape[1]) - (at is not None)
    if known is not None and known.width != width:
        raise InputError(f"{name!r} has {width} columns; the model was fitted on {known.width}.")
    encoding = known or Encoding(intercept=request.intercept, width=width)
    return ArrayTable(name, request, X, y, at, encoding, target, notes)


@dataclass(eq=False)
class ArrayTable(Table):
    """The rows of a matrix. The labels are ``y``, or the column ``at`` of the matrix."""

    name: str
    request: Request
    X: Any
    y: NDArray[Any] | None
    at: int | None
    encoding: Encoding
    target_name: str | None
    told: tuple[str, ...]

    def count_rows(self) -> int:
        """Count the rows."""
        return int(self.X.shape[0])

    def labels(self) -> Iterator[NDArray[Any]]:
        """Yield the labels."""
        return super().labels() if self.y is None else iter([self.y])

    def read_rows(self, rows: int, start: int) -> Iterator[Batch]:
        """Yield rows as float64."""
        for begin in range(start, self.X.shape[0], rows):
            found = self.X[begin : begin + rows]
            y = None if self.y is None else np.asarray(self.y[begin : begin + rows])
            if self.at is not None:
                others = [k for k in range(found.shape[1]) if k != self.at]
                y = dense(found[:, [self.at]])[:, 0]
                found = found[:, others]
            self._refuse(found, y, begin)
            in_array = isinstance(found, np.ndarray)
            yield np.array(found, np.float64, order="C") if in_array else found.astype(np.float64), y

    def _refuse(self, X: Any, y: NDArray[Any] | None, begin: int) -> None:
        """Raise an error that names a number that float64 cannot hold, or the first row with NaN."""
        values = X.data if sparse.issparse(X) else X
        for at in rounded_at(values):
            row, column = place_of(X, at)
            raise InputError(
                f"Column {column + 1} of {self.name!r} has a whole number beyond 2**53 in row "
                f"{begin + row + 1:,}, which would be rounded. Make its numbers smaller."
            )
        lacking = [place_of(X, at)[0] for at in np.flatnonzero(values != values)[:1].tolist()]
        lacking += [] if y is None else np.flatnonzero(y != y)[:1].tolist()
        if lacking:
            raise InputError(
                f"{self.name!r} lacks values, the first in row {begin + min(lacking) + 1:,}. Fill them in, "
                "or save the file without such rows."
            )


@dataclass(frozen=True, eq=False)
class FileMatrix:
    """A matrix in a file, from which slices of rows are read.

    It is not mapped: if somebody cuts a mapped file short, the system kills the process that reads it.
    """

    path: str
    name: str
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    begin: int

    ndim = 2

    def __getitem__(self, part: slice) -> NDArray[Any]:
        """Read some rows."""
        first, end, _ = part.indices(self.shape[0])
        width = self.shape[1]
        with open(self.path, "rb") as file:
            file.seek(self.begin + first * width * self.dtype.itemsize)
            found = np.fromfile(file, dtype=self.dtype, count=(end - first) * width)
        if found.size < (end - first) * width:
            raise ChangedFileError(
                f"{self.name!r} was cut short while it was read. Wait until nobody writes to it, or make a "
                "copy."
            )
        return found.reshape(end - first, width)


def _in_file(path: str, name: str, shape: Sequence[int], dtype: np.dtype[Any], begin: int) -> FileMatrix:
    """Return the numbers of a file behind its header; an array of more dimensions has one row per image."""
    size = os.path.getsize(path)
    if size != begin + math.prod(shape) * dtype.itemsize:
        raise InputError(
            f"{name!r} is damaged: it says that it has {' x '.join(map(str, shape))} numbers, but its size "
            f"is {size:,} bytes. Fetch it again."
        )
    return FileMatrix(path, name, (shape[0], math.prod(shape[1:])), dtype, begin)


def _load_npy(path: str, name: str) -> Loaded:
    """Return a matrix in a file; arrays in Fortran order, or of another shape, are loaded into memory."""
    with open(path, "rb") as file:
        version = np.lib.format.read_magic(file)
        old = version == (1, 0)
        read = np.lib.format.read_array_header_1_0 if old else np.lib.format.read_array_header_2_0
        shape, by_columns, dtype = read(file)
        begin = file.tell()
    if len(shape) == 2 and dtype.kind in "biuf":
        found = _in_file(path, name, shape, dtype, begin)
        if not by_columns:
            return found, None, ()
    _need_room(name, os.path.getsize(path))
    return np.load(path, allow_pickle=False), None, ()


def _load_npz(path: str, name: str) -> Loaded:
    """Return ``X`` and ``y``, or a CSR matrix that SciPy saved."""
    with zipfile.ZipFile(path) as archive:
        _need_room(name, sum(each.file_size for each in archive.infolist()))
    with np.load(path, allow_pickle=False) as arrays:
        if set(arrays.files) >= _SPARSE:
            parts = (arrays["data"], arrays["indices"], arrays["indptr"])
            matrix = sparse.csr_array(parts, shape=tuple(arrays["shape"].tolist()))
            matrix.check_format(full_check=True)
            return matrix, None, ()
        if "X" not in arrays.files:
            raise InputError(f"{name!r} needs an array 'X' (and 'y'). It has: {', '.join(arrays.files)}.")
        return arrays["X"], arrays["y"] if "y" in arrays.files else None, ()


def _need_room(name: str, size: int) -> None:
    if size > free_memory():
        raise InputError(
            f"{name!r} holds {size / 1e9:.1f} GB, which does not fit into memory. Save X as an npy file in C "
            "order."
        )


def _load_idx(path: str, name: str) -> Loaded:
    """Return images, such as those of MNIST, with the labels in another file; each pixel is a column."""
    X, dimensions = _idx_matrix(path, name)
    if dimensions == 1:
        raise InputError(f"{name!r} holds labels. Name the file of the images; the labels are found then.")
    folder, file = os.path.split(name)
    stem = file.removesuffix(".gz")
    called = re.sub(r"idx[234]", "idx1", stem.replace("images", "labels").replace("Images", "Labels"))
    paths = [os.path.join(folder, called + ending) for ending in ("", ".gz") if called != stem]
    beside = next(filter(os.path.isfile, paths), None)
    if beside is None:
        needed = "its name has to be the same, with 'labels' for 'images' and 'idx1' for 'idx3'"
        return X, None, (f"There is no file of labels for {name!r}: {needed}.",)
    source = find_source(beside, (IDX,))
    labels, dimensions = _idx_matrix(source.paths[0], beside)
    if dimensions != 1 or labels.shape[0] != X.shape[0]:
        raise InputError(f"{name!r} has {X.shape[0]:,} images, but {beside!r} does not have as many labels.")
    y = labels[:].ravel()
    return X, whole(y.astype(np.float64)), (f"The labels are from {beside!r}.",)


def _idx_matrix(path: str, name: str) -> tuple[FileMatrix, int]:
    """Return the numbers of an IDX file, and how many dimensions it says that they have."""
    with open(path, "rb") as file:
        head = file.read(4 + 4 * 4)
    begin = 4 + 4 * head[3] if len(head) >= 4 else 0
    if head[:2] != b"\0\0" or head[2] not in _TYPES or not 4 < begin <= len(head):
        raise InputError(f"{name!r} is not an IDX file, or is damaged.")
    shape = np.frombuffer(head[4:begin], ">u4").tolist()
    return _in_file(path, name, shape, np.dtype(_TYPES[head[2]]), begin), head[3]


NPY = Format("npy", "npy", partial(open_array, _load_npy, "y"), magic=((0, b"\x93NUMPY"),), options=())
NPZ = Format(
    "npz",
    "npz",
    partial(open_array, _load_npz, "y"),
    members=lambda names: bool(names) and all(each.endswith(".npy") for each in names),
    options=(),
)
IDX = Format(
    "idx",
    "IDX",
    partial(open_array, _load_idx, "label"),
    magic=tuple((0, bytes([0, 0, kind, dims])) for kind in _TYPES for dims in range(1, 5)),
    options=(),
)
