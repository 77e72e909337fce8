"""Matrices in npy, npz and IDX files; nothing in them is ever executed."""

from __future__ import annotations

import math
import os
import re
import zipfile
from collections.abc import Iterator
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


def open_npy(source: Source, request: Request) -> ArrayReader:
    """The matrix of a file; the target is the number of a column, counted from 1."""
    return _opened(source, request, lambda: (_load_npy(source.paths[0], source.name), None))


def open_npz(source: Source, request: Request) -> ArrayReader:
    """``X`` and ``y`` of a file, or a CSR matrix that SciPy saved."""
    return _opened(source, request, lambda: _load_npz(source.paths[0], source.name))


def _opened(source: Source, request: Request, load: Any) -> ArrayReader:
    source.need_numbered(request)
    name = source.name
    try:
        X, y = load()
    except SeparatrixError:
        raise
    except Exception as error:  # of a damaged file NumPy and zipfile may raise anything
        raise InputError(f"{name!r} cannot be read: {error}") from error
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise InputError(f"{name!r} must hold a matrix of numbers; it is {X.dtype} of shape {X.shape}.")
    if y is not None and (y.ndim != 1 or y.shape[0] != X.shape[0]):
        raise InputError(f"{name!r} has {X.shape[0]} rows, but y has the shape {y.shape}.")
    target = request.target
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
    """A matrix without one of its columns, and that column."""
    others = [k for k in range(X.shape[1]) if k != at]
    if isinstance(X, FileMatrix):
        one, step = replace(X, columns=(at,)), max(1, STEP // max(1, X.width))
        parts = [one[begin : begin + step][:, 0] for begin in range(0, X.rows, step)]
        return replace(X, columns=tuple(others)), np.concatenate([np.empty(0, X.dtype), *parts])
    label = X[:, [at]].toarray()[:, 0] if sparse.issparse(X) else np.asarray(X[:, at])
    return X[:, others], label


def _reader(
    source: Source, request: Request, X: Any, y: Any, target: str | None, notes: tuple[str, ...] = ()
) -> ArrayReader:
    known, width = request.encoding, int(X.shape[1])
    if known is not None and known.width != width:
        raise InputError(f"{source.name!r} has {width} columns; the model was fitted on {known.width}.")
    encoding = known or Encoding(intercept=request.intercept, width=width)
    return ArrayReader(source, X, y, encoding, target, request.missing, notes)


@dataclass(frozen=True, eq=False)
class ArrayReader(Reader):
    """The rows of a matrix, and labels beside it."""

    source: Source
    X: Any
    y: NDArray[Any] | None
    columns: Encoding
    target: str | None
    missing: str = "error"
    notes: tuple[str, ...] = ()

    @property
    def encoding(self) -> Encoding:
        """That of the model, or as many columns as there are, counted from 1."""
        return self.columns

    @property
    def target_name(self) -> str | None:
        """What the labels are called."""
        return self.target

    def classes(self) -> NDArray[Any]:
        """The different labels."""
        assert self.y is not None
        found: NDArray[Any] = np.unique(self.y[self._kept])
        return found

    def n_rows(self) -> int:
        """Count the rows."""
        return int(self._kept.size)

    @property
    def in_turn(self) -> bool:
        """Whether all rows are there."""
        return self.missing == "error"

    def identities(self) -> Iterator[tuple[NDArray[np.int64], None]]:
        """The numbers of the rows that are left, counted from 1."""
        yield self._kept + 1, None

    def told(self) -> list[str]:
        """Where labels are from, and how many rows were left out."""
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
            self._refuse_rounded(found, first)
            yield found.astype(np.float64), None if self.y is None else np.asarray(self.y[part])

    def _refuse_rounded(self, X: Any, at: int) -> None:
        """Name a number that no float64 is equal to; an answer would speak of another number."""
        values = X.data if sparse.issparse(X) else X
        if values.dtype.kind == "f" and values.dtype.itemsize > 8:
            if not np.array_equal(values.astype(np.float64), values, equal_nan=True):
                raise InputError(
                    f"{self.source.name!r} holds numbers of type {values.dtype}, some of which no float64 "
                    "is equal to; they would be rounded. Save them as float64."
                )
        elif values.dtype.kind in "iu" and values.dtype.itemsize == 8 and is_inexact(values).any():
            rows, columns = np.nonzero(is_inexact(X.toarray() if sparse.issparse(X) else X))
            raise InputError(
                f"Column {columns[0] + 1} of {self.source.name!r} has a whole number beyond 2**53 in row "
                f"{at + int(rows[0]) + 1:,}, which would be rounded. Make its numbers smaller."
            )

    @cached_property
    def _kept(self) -> NDArray[np.int64]:
        """The rows without NaN; with missing="error" they are all there are."""
        X, y = self.X, self.y
        lacking = np.zeros(X.shape[0], dtype=bool)
        counts = np.zeros(X.shape[1], dtype=np.int64)
        step = max(1, STEP // max(1, X.shape[1]))
        if sparse.issparse(X):
            entries = X.tocoo()
            bad = np.isnan(entries.data)
            lacking[entries.row[bad]] = True
            np.add.at(counts, entries.col[bad], 1)
        for begin in range(0, X.shape[0], step) if X.dtype.kind == "f" and not sparse.issparse(X) else ():
            bad = np.isnan(X[begin : begin + step])
            lacking[begin : begin + step] = bad.any(axis=1)
            counts += bad.sum(axis=0)
        if y is not None and y.dtype.kind == "f":
            lacking |= np.isnan(y)
        if lacking.any() and self.missing == "error":
            columns = (
                ", ".join(f"{k + 1} ({counts[k]:,})" for k in np.flatnonzero(counts)[:12]) or "the target"
            )
            raise InputError(
                f"{self.source.name!r} lacks values in column {columns}.",
                remedy="Fill them in, or leave such rows out with missing='drop'.",
                parameter="missing",
            )
        return np.flatnonzero(~lacking)


@dataclass(frozen=True, eq=False)
class FileMatrix:
    """A matrix in a file, of which slices of rows are read when they are asked for.

    It is not mapped: whoever reads a mapped file that somebody cuts short is killed by the system.
    """

    path: str
    name: str
    rows: int
    width: int
    dtype: np.dtype[Any]
    begin: int
    by_columns: bool = False
    columns: tuple[int, ...] | None = None

    ndim = 2

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.rows, self.width if self.columns is None else len(self.columns)

    def __getitem__(self, part: slice) -> NDArray[Any]:
        """Some rows."""
        first, end, _ = part.indices(self.rows)
        with open(self.path, "rb") as file:
            if self.by_columns:
                wanted = range(self.width) if self.columns is None else self.columns
                found = np.empty((end - first, len(wanted)), dtype=self.dtype)
                for k, column in enumerate(wanted):
                    found[:, k] = self._read(file, column * self.rows + first, end - first)
                return found
            found = self._read(file, first * self.width, (end - first) * self.width)
        found = found.reshape(end - first, self.width)
        return found if self.columns is None else found[:, list(self.columns)]

    def _read(self, file: Any, at: int, count: int) -> NDArray[Any]:
        file.seek(self.begin + at * self.dtype.itemsize)
        found = np.fromfile(file, dtype=self.dtype, count=count)
        if found.size < count:
            raise ChangedFileError(
                f"{self.name!r} was cut short while it was read. Wait until nobody writes to it, or make a "
                "copy."
            )
        return found


def _load_npy(path: str, name: str) -> Any:
    """A matrix in a file; a small array of another shape, for the message that says what it is."""
    with open(path, "rb") as file:
        version = np.lib.format.read_magic(file)
        read = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        shape, by_columns, dtype = read(file)
        begin, size = file.tell(), file.seek(0, os.SEEK_END)
    needed = begin + math.prod(shape) * dtype.itemsize
    if size < needed and not dtype.hasobject:
        raise InputError(
            f"{name!r} is cut short: it says that it has {' x '.join(map(str, shape))} numbers, and has "
            f"{size:,} bytes where that takes {needed:,}. Fetch it again."
        )
    if len(shape) != 2 or dtype.kind not in "biuf":
        return np.load(path, mmap_mode="r", allow_pickle=False)
    return FileMatrix(path, name, *shape, dtype, begin, by_columns)


def _load_npz(path: str, name: str) -> tuple[Any, NDArray[Any] | None]:
    with zipfile.ZipFile(path) as archive:
        size = sum(each.file_size for each in archive.infolist())
    if size > free_memory():
        raise InputError(
            f"{name!r} holds {size / 1e9:.1f} GB, more than there is memory. Save X as an npy file."
        )
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
    """Images, as MNIST comes in, with the labels of the file beside them; each pixel is a column."""
    source.need_numbered(request)
    X, dims = _load_idx(source.paths[0], source.name)
    if dims == 1:
        raise InputError(
            f"{source.name!r} holds labels. Name the file of the images; this one is found beside it."
        )
    if request.target not in (None, "label"):
        raise InputError("The target of an IDX file is the number in the file of labels, called 'label'.")
    beside = _labels_beside(source.name)
    y = None if beside is None else _load_labels(beside, X.rows, source.name)
    if y is None and request.target is not None:
        raise InputError(
            f"There is no file of labels beside {source.name!r}. It is looked for under the same name, with "
            "'labels' for 'images' and 'idx1' for 'idx3'."
        )
    notes = () if y is None else (f"The labels are from {beside!r}.",)
    return _reader(source, request, X, y, None if y is None else "label", notes)


def _load_idx(path: str, name: str) -> tuple[FileMatrix, int]:
    """The matrix that the first bytes tell of, as the size of the file confirms; and its dimensions."""
    head = read_head(path, "none", 20)
    dtype, dims = np.dtype(_TYPES[head[2]]), head[3]
    shape = [int.from_bytes(head[at : at + 4], "big") for at in range(4, 4 + 4 * dims, 4)]
    begin, width, size = 4 + 4 * dims, math.prod(shape[1:]), os.path.getsize(path)
    expected = begin + math.prod(shape) * dtype.itemsize
    if len(head) < begin or size != expected:
        raise InputError(
            f"{name!r} is damaged: it says that it has {' x '.join(map(str, shape))} numbers, and has "
            f"{size:,} bytes where that takes {expected:,}. Fetch it again."
        )
    return FileMatrix(path, name, shape[0], width, dtype, begin), dims


def _labels_beside(name: str) -> str | None:
    """Find the file of labels that has the same name, with 'labels' for 'images'."""
    folder, file = os.path.split(name)
    stem = file.removesuffix(".gz")
    called = re.sub(r"idx[234]", "idx1", stem.replace("images", "labels").replace("Images", "Labels"))
    if called == stem:
        return None
    found = (os.path.join(folder, called + ending) for ending in ("", ".gz"))
    return next((path for path in found if os.path.isfile(path)), None)


def _load_labels(path: str, rows: int, name: str) -> NDArray[Any]:
    raw = read_head(path, "none", 4)
    compression = next((kind for mark, kind in MAGIC.items() if raw.startswith(mark)), "none")
    content = read_head(path, compression, 9 + 8 * rows)
    if len(content) < 8 or content[:2] != b"\0\0" or content[2] not in _TYPES or content[3] != 1:
        raise InputError(f"{path!r} is not an IDX file of labels.")
    dtype, count = np.dtype(_TYPES[content[2]]), int.from_bytes(content[4:8], "big")
    size = len(content) - 8
    if not (count == rows and size == rows * dtype.itemsize):
        raise InputError(
            f"{name!r} has {rows:,} images, but {path!r} has {count:,} labels in {size:,} bytes."
        )
    labels = np.frombuffer(content, dtype=dtype, offset=8)
    if labels.dtype.kind != "f":
        return labels.astype(np.int64)
    if np.isnan(labels).any():
        raise InputError(f"{path!r} lacks the label of row {int(np.isnan(labels).argmax()) + 1:,}.")
    return whole(labels.astype(np.float64))


NPY = Format("npy", "npy", open_npy, magic=((0, b"\x93NUMPY"),))
NPZ = Format(
    "npz", "npz", open_npz, members=lambda names: bool(names) and all(each.endswith(".npy") for each in names)
)
IDX = Format(
    "idx",
    "IDX",
    open_idx,
    magic=tuple((0, bytes([0, 0, kind, dims])) for kind in _TYPES for dims in range(1, 5)),
)
