"""Images made from MNIST's that are harder to separate: 784 whole numbers per row."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

Images = NDArray[Any]

SIDE = 28
FILES = {"train": "train", "test": "t10k"}


def read_mnist(directory: Path, where: str) -> tuple[Images, NDArray[np.int64]]:
    """Return the images, one per row, and their digits; ``where`` is "train" or "test"."""
    stem = directory / "mnist" / FILES[where]
    images = gzip.decompress(Path(f"{stem}-images-idx3-ubyte.gz").read_bytes())
    labels = gzip.decompress(Path(f"{stem}-labels-idx1-ubyte.gz").read_bytes())
    X = np.frombuffer(images, np.uint8, offset=16).reshape(-1, SIDE * SIDE)
    return X, np.frombuffer(labels, np.uint8, offset=8).astype(np.int64)


def edges(images: Images) -> Images:
    """How much the gray level changes from one neighbor to the other, in both directions together."""
    gray = images.astype(np.int16)
    across = np.abs(gray[:, :, 2:] - gray[:, :, :-2])
    down = np.abs(gray[:, 2:, :] - gray[:, :-2, :])
    found = np.zeros_like(gray)
    found[:, :, 1:-1] += across
    found[:, 1:-1, :] += down
    return found


def blurred(images: Images) -> Images:
    """Sums of each pixel and its neighbors, with weights 1, 2, 1 in both directions."""
    padded = np.pad(images.astype(np.int16), ((0, 0), (1, 1), (1, 1)))
    down = padded[:, :-2] + 2 * padded[:, 1:-1] + padded[:, 2:]
    return down[:, :, :-2] + 2 * down[:, :, 1:-1] + down[:, :, 2:]


def thresholded(images: Images) -> Images:
    """Return 1 for pixels above 127, and 0 for others."""
    return (images > 127).astype(np.uint8)


def turned(images: Images) -> Images:
    """Turned by 45 degrees about the middle, pixels between pixels interpolated and rounded."""
    found = np.empty_like(images)
    for start in range(0, len(images), 5000):
        part = images[start : start + 5000].astype(np.float32)
        found[start : start + 5000] = np.rint(
            ndimage.rotate(part, 45.0, axes=(2, 1), reshape=False, order=1)
        ).astype(np.uint8)
    return found


def products(images: Images) -> Images:
    """Each pixel times its neighbor to the right."""
    wide = images.astype(np.int32)
    found = np.zeros_like(wide)
    found[:, :, :-1] = wide[:, :, :-1] * wide[:, :, 1:]
    return found


KINDS: dict[str, Callable[[Images], Images]] = {
    "edges": edges,
    "blurred": blurred,
    "thresholded": thresholded,
    "turned": turned,
    "products": products,
}


@cache
def transformed(directory: Path, kind: str) -> tuple[Images, NDArray[np.int64]]:
    """Return the training set of one kind, one image per row, and its digits."""
    X, digits = read_mnist(directory, "train")
    made = KINDS[kind](X.reshape(-1, SIDE, SIDE))
    return np.ascontiguousarray(made.reshape(-1, SIDE * SIDE)), digits
