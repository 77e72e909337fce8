"""Matrices in npy and npz files; nothing in them is ever executed."""

from __future__ import annotations

import math
import os
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError, SeparatrixError
from ...sparse import sparse
from ..encoding import Encoding
from ..number_formats import BLANKS
from ..source.detect import ChangedFileError, Format, Request, Source, free_memory

LARGEST_WHOLE = 2**53 - 1  # all whole numbers up to this one are exact as float64
STEP = 1 << 22  # numbers of a matrix that are looked at together
_SPARSE = {"data", "indices", "indptr", "shape"}


def open_arrays(source: Source, request: Request) -> ArrayFile:
    """The arrays of a file, which must have the columns that a model knows."""
    source.need_numbered(request)
    found = ArrayFile(source, request.target, request.missing, request.encoding, request.intercept)
    if request.encoding is not None and request.encoding.width != found.n_columns:
        raise InputError(
            f"{source.name!r} has {found.n_columns} columns; the model was fitted on "
            f"{request.encoding.width}."
        )
    return found


@dataclass(frozen=True, eq=False)
class ArrayFile:
    """``X`` and ``y`` of an npz file, the matrix of an npy file, or a CSR matrix that SciPy saved.

    The target of a file without ``y`` is the number of a column, counted from 1; the others are the features.
    """

    source: Source
    target: str | None = None
    missing: str = "error"
    known: Encoding | None = None
    intercept: bool = True

    @property
    def target_name(self) -> str | None:
        """``y``, or the number of the column that is it."""
        return None if self._arrays[1] is None else self.target or "y"

    @property
    def encoding(self) -> Encoding:
        """That of the model, or as many columns as there are, counted from 1."""
        return self.known or Encoding(intercept=self.intercept, width=self.n_columns)

    @property
    def n_columns(self) -> int:
        """How many features there are."""
        return int(self._arrays[0].shape[1])

    def classes(self) -> NDArray[Any]:
        """The different labels."""
        y = self._arrays[1]
        assert y is not None
        found: NDArray[Any] = np.unique(y[self._kept])
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
        """How many rows were left out."""
        total = self._arrays[0].shape[0]
        dropped = f"{total - self._kept.size:,} of {total:,} rows were left out because they lack a value."
        return [] if self.in_turn else [dropped]

    @property
    def line_finder(self) -> None:
        """There are none."""

    def batches(self, rows: int, start: int) -> Iterator[tuple[Any, NDArray[Any] | None]]:
        """Yield rows as float64."""
        X, y = self._arrays
        for begin in range(start, self._kept.size, rows):
            part = self._kept[begin : begin + rows]
            first, end = int(part[0]), int(part[-1]) + 1
            found = X[first:end]
            if end - first > part.size:
                found = found[part - first]
            self._refuse_rounded(found, first)
            yield found.astype(np.float64), None if y is None else np.asarray(y[part])

    def _refuse_rounded(self, X: Any, at: int) -> None:
        """Name a number that no float64 is equal to; an answer would speak of another number."""
        values = X.data if sparse.issparse(X) else X
        if values.dtype.kind == "f" and values.dtype.itemsize > 8:
            narrow = values.astype(np.float64)
            if not np.array_equal(narrow, values, equal_nan=True):
                raise InputError(
                    f"{self.source.name!r} holds numbers of type {values.dtype}, some of which no float64 "
                    "is equal to; they would be rounded. Save them as float64."
                )
        if values.dtype.kind not in "iu" or values.dtype.itemsize < 8:
            return
        most = int(values.max(initial=0)), int(values.min(initial=0))
        if most[0] <= LARGEST_WHOLE and most[1] >= -LARGEST_WHOLE:
            return
        table = X.toarray() if sparse.issparse(X) else X
        rows, columns = np.nonzero((table == most[0]) if most[0] > LARGEST_WHOLE else (table == most[1]))
        raise InputError(
            f"Column {columns[0] + 1} of {self.source.name!r} has a whole number beyond 2**53 in row "
            f"{at + int(rows[0]) + 1:,}, which would be rounded. Make its numbers smaller."
        )

    @cached_property
    def _kept(self) -> NDArray[np.int64]:
        """The rows without NaN; with missing="error" they are all there are."""
        X, y = self._arrays
        lacking = np.zeros(X.shape[0], dtype=bool)
        counts = np.zeros(X.shape[1], dtype=np.int64)
        step = max(1, STEP // max(1, X.shape[1]))
        for begin in range(0, X.shape[0], step):
            part = X[begin : begin + step]
            if sparse.issparse(part):
                part = part.tocoo()
                bad = np.isnan(part.data)
                lacking[begin + part.row[bad]] = True
                np.add.at(counts, part.col[bad], 1)
            elif part.dtype.kind == "f":
                bad = np.isnan(part)
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

    @cached_property
    def _arrays(self) -> tuple[Any, NDArray[Any] | None]:
        path, name = self.source.paths[0], self.source.name
        try:
            X, y = _load_npy(path, name) if self.source.format is NPY else _load_npz(path, name)
        except SeparatrixError:
            raise
        except Exception as error:  # of a damaged file NumPy and zipfile may raise anything
            raise InputError(f"{name!r} cannot be read: {error}") from error
        if X.ndim != 2 or X.dtype.kind not in "biuf":
            raise InputError(f"{name!r} must hold a matrix of numbers; it is {X.dtype} of shape {X.shape}.")
        if y is not None and (y.ndim != 1 or y.shape[0] != X.shape[0]):
            raise InputError(f"{name!r} has {X.shape[0]} rows, but y has the shape {y.shape}.")
        if y is not None:
            if self.target not in (None, "y"):
                raise InputError(f"The target of {name!r} is its array 'y'. Got {self.target!r} instead.")
            return X, np.char.strip(y, BLANKS) if y.dtype.kind == "U" else y
        if self.target is None:
            return X, None
        if not self.target.isdecimal() or not 1 <= int(self.target) <= X.shape[1]:
            raise InputError(
                f"The target of {name!r} is the number of a column, from 1 to {X.shape[1]}. Got "
                f"{self.target!r} instead."
            )
        at = int(self.target) - 1
        others = [k for k in range(X.shape[1]) if k != at]
        if isinstance(X, FileMatrix):
            return replace(X, columns=tuple(others)), X.column(at)
        label = X[:, [at]].toarray()[:, 0] if sparse.issparse(X) else np.asarray(X[:, at])
        return X[:, others], label


@dataclass(frozen=True, eq=False)
class FileMatrix:
    """The matrix of an npy file, of which slices of rows are read when they are asked for.

    It is not mapped: whoever reads a mapped file that somebody cuts short is killed by the system.
    """

    path: str
    name: str
    rows: int
    width: int
    dtype: np.dtype[Any]
    begin: int
    by_columns: bool
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

    def column(self, number: int) -> NDArray[Any]:
        """One column of the file, whole."""
        one = replace(self, columns=(number,))
        step = max(1, STEP // max(1, self.width))
        return np.concatenate(
            [np.empty(0, self.dtype)] + [one[at : at + step][:, 0] for at in range(0, self.rows, step)]
        )

    def _read(self, file: Any, at: int, count: int) -> NDArray[Any]:
        file.seek(self.begin + at * self.dtype.itemsize)
        found = np.fromfile(file, dtype=self.dtype, count=count)
        if found.size < count:
            raise ChangedFileError(
                f"{self.name!r} was cut short while it was read. Wait until nobody writes to it, or make a "
                "copy."
            )
        return found


def _load_npy(path: str, name: str) -> tuple[Any, None]:
    """A matrix in a file; a small array of another shape, for the message that says what it is."""
    _need_all_of_it(path, name)
    found = np.load(path, mmap_mode="r", allow_pickle=False)
    if found.ndim != 2 or found.dtype.kind not in "biuf":
        return found, None
    by_columns = bool(found.flags.f_contiguous and not found.flags.c_contiguous)
    rows, width = found.shape
    return FileMatrix(path, name, rows, width, found.dtype, int(found.offset), by_columns), None


def _need_all_of_it(path: str, name: str) -> None:
    """Raise where a file has fewer bytes than its first ones say that it needs."""
    with open(path, "rb") as file:
        version = np.lib.format.read_magic(file)
        read = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        shape, _, dtype = read(file)
        needed = file.tell() + math.prod(shape) * dtype.itemsize
        size = file.seek(0, os.SEEK_END)
    if size < needed and not dtype.hasobject:
        raise InputError(
            f"{name!r} is cut short: it says that it has {' x '.join(map(str, shape))} numbers, and has "
            f"{size:,} bytes where that takes {needed:,}. Fetch it again."
        )


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


def _arrays_only(names: list[str]) -> bool:
    return bool(names) and all(name.endswith(".npy") for name in names)


NPY = Format("npy", "npy", open_arrays, magic=((0, b"\x93NUMPY"),))
NPZ = Format("npz", "npz", open_arrays, members=_arrays_only)
