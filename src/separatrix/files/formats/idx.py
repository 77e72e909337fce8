"""IDX files, as MNIST comes in: images of numbers, and beside them a file of their labels."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ..batches import whole
from ..encoding import Encoding
from ..source.compression import MAGIC, read_head
from ..source.detect import ChangedFileError, Format, Request, Source

LABEL = "label"
# The third byte of a file names the type, the fourth counts the dimensions; all numbers are big-endian.
_TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
_MARKS = tuple((0, bytes([0, 0, kind, dims])) for kind in _TYPES for dims in range(1, 5))
_ENDINGS = ("", ".gz")


@dataclass(frozen=True)
class Numbers:
    """An array in a file that is not compressed."""

    path: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def begin(self) -> int:
        """Where the numbers begin."""
        return 4 + 4 * len(self.shape)

    @property
    def width(self) -> int:
        """Numbers of one row."""
        return math.prod(self.shape[1:])

    def rows(self, start: int, end: int) -> NDArray[Any]:
        """Some rows, each as one line of numbers."""
        count = (end - start) * self.width
        with open(self.path, "rb") as file:
            file.seek(self.begin + start * self.width * self.dtype.itemsize)
            found = np.fromfile(file, dtype=self.dtype, count=count)
        if found.size < count:
            raise ChangedFileError(f"{self.path!r} was cut short while it was read.")
        return found.reshape(end - start, self.width)


def open_idx(source: Source, request: Request) -> IdxFile:
    """Images, with the labels of the file beside them; each pixel is a column."""
    source.need_numbered(request)
    images = _numbers(source.paths[0], source.name)
    if len(images.shape) == 1:
        raise InputError(
            f"{source.name!r} holds labels. Name the file of the images; this one is found beside it."
        )
    if request.target not in (None, LABEL):
        raise InputError(f"The target of an IDX file is the number in the file of labels, called {LABEL!r}.")
    known = request.encoding
    if known is not None and known.width != images.width:
        raise InputError(
            f"{source.name!r} has {images.width} columns; the model was fitted on {known.width}."
        )
    beside = _labels_beside(source.name)
    labels = None if beside is None else _read_labels(beside, images.shape[0], source.name)
    if labels is None and request.target is not None:
        raise InputError(
            f"There is no file of labels beside {source.name!r}. It is looked for under the same name, with "
            "'labels' for 'images' and 'idx1' for 'idx3'."
        )
    return IdxFile(
        source, images, labels, known or Encoding(intercept=request.intercept, width=images.width), beside
    )


@dataclass(frozen=True, eq=False)
class IdxFile:
    """Images as rows of pixels, read a few at a time."""

    source: Source
    images: Numbers
    labels: NDArray[Any] | None
    encoding: Encoding
    beside: str | None = None

    @property
    def target_name(self) -> str | None:
        """What the labels are called, if there are any."""
        return None if self.labels is None else LABEL

    @property
    def in_turn(self) -> bool:
        """All rows are there."""
        return True

    @property
    def line_finder(self) -> None:
        """There are no lines."""

    def identities(self) -> Iterator[tuple[NDArray[np.int64], None]]:
        """The numbers of the rows, counted from 1."""
        yield np.arange(1, self.n_rows() + 1), None

    def told(self) -> list[str]:
        """Where the labels are from."""
        return [] if self.beside is None else [f"The labels are from {self.beside!r}."]

    def n_rows(self) -> int:
        """Count the images."""
        return self.images.shape[0]

    def classes(self) -> NDArray[Any]:
        """The different labels."""
        return self._classes

    @cached_property
    def _classes(self) -> NDArray[Any]:
        return np.unique(np.empty(0, np.int64) if self.labels is None else self.labels)

    def batches(self, rows: int, start: int) -> Iterator[tuple[Any, NDArray[Any] | None]]:
        """Yield rows as float64."""
        for begin in range(start, self.images.shape[0], rows):
            end = min(begin + rows, self.images.shape[0])
            X = self.images.rows(begin, end).astype(np.float64)
            if np.isnan(X).any():
                row = begin + int(np.isnan(X).any(axis=1).argmax()) + 1
                raise InputError(f"{self.source.name!r} lacks a value in row {row:,}. Fill it in.")
            yield X, None if self.labels is None else self.labels[begin:end]


def _numbers(path: str, name: str) -> Numbers:
    """What the first bytes say, which the size of the file has to agree with."""
    head = read_head(path, "none", 4 + 4 * 4)
    dtype, dims = np.dtype(_TYPES[head[2]]), head[3]
    shape = tuple(int.from_bytes(head[at : at + 4], "big") for at in range(4, 4 + 4 * dims, 4))
    found = Numbers(path, dtype, shape)
    expected = found.begin + found.width * dtype.itemsize * shape[0]
    if len(head) < found.begin or os.path.getsize(path) != expected:
        raise InputError(
            f"{name!r} is damaged: it says that it has {' x '.join(map(str, shape))} numbers, and has "
            f"{os.path.getsize(path):,} bytes where that takes {expected:,}. Fetch it again."
        )
    return found


def _labels_beside(name: str) -> str | None:
    """The file of the labels of a file of images, which is called alike."""
    folder, file = os.path.split(name)
    stem = file.removesuffix(".gz")
    called = re.sub(r"idx[234]", "idx1", stem.replace("images", "labels").replace("Images", "Labels"))
    if called == stem:
        return None
    found = (os.path.join(folder, called + ending) for ending in _ENDINGS)
    return next((path for path in found if os.path.isfile(path)), None)


def _read_labels(path: str, rows: int, name: str) -> NDArray[Any]:
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


FORMAT = Format("idx", "IDX", open_idx, magic=_MARKS)
