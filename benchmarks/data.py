"""The sets that the benchmarks run on: two generators, and real sets from a directory.

The real sets are not part of the project. Each is read from ``DIR/folder/file`` as listed in ``REAL``; if the
directory or a file is missing, the set is left out and the table says where to get it.
"""

from __future__ import annotations

import gzip
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction.text import TfidfTransformer

import separatrix as sx

MARGINS = (0.1, 0.01, 0.001)


@dataclass(frozen=True)
class Problem:
    """Rows with labels -1 and +1.

    ``scale`` multiplies the rows that scale-sensitive peers get: their best honest setting.
    """

    name: str
    X: Any
    y: NDArray[np.int64]
    scale: float = 1.0
    note: str = ""

    @property
    def shape(self) -> str:
        return f"{self.X.shape[0]:,} x {self.X.shape[1]:,}"


@dataclass(frozen=True)
class Source:
    """A real set: its file below the data directory, how to read it, and where others find it."""

    name: str
    file: str
    read: Callable[[Path], Problem]
    origin: str


def ball(rows: int, columns: int, margin: float, seed: int = 0) -> Problem:
    """Both halves of the unit ball, the library's own generator."""
    made = sx.datasets.make_separable(rows, columns, margin=margin, radius=1.0, random_state=seed)
    return Problem(f"unit ball, margin {margin:g}", made.X, made.y)


def normal(rows: int, columns: int, margin: float, seed: int = 0) -> Problem:
    """Standard normal rows, moved along a random unit vector out to the margin.

    The rows are 10 to 13 long, so a margin is some 13 times harder than in the unit ball.
    """
    X, scores, direction = _normal_rows(rows, columns, seed)
    y = np.where(scores >= 0.0, 1, -1)
    X += np.outer(np.where(np.abs(scores) < margin, y * margin - scores, 0.0), direction)
    return Problem(f"normal rows, margin {margin:g}", X, y)


def nearly_solved(
    rows: int, columns: int, flipped: int, seed: int = 0
) -> tuple[Problem, NDArray[np.float64]]:
    """Return rows, a few of them with the wrong label, and weights so long that updates hardly change their
    direction.

    Every pass from these weights makes a mistake on each flipped row and on hardly any other.
    """
    X, scores, direction = _normal_rows(rows, columns, seed)
    y = np.where(scores >= 0.0, 1, -1)
    X += np.outer(0.5 * y, direction)
    y[np.random.default_rng(seed).choice(rows, flipped, replace=False)] *= -1
    start = np.append(1e6 * direction, 0.0)
    return Problem(f"normal rows, {flipped} flipped labels", X, y), start


def real_sets(directory: Path | None, names: tuple[str, ...] | None = None) -> Iterator[Problem]:
    """Read the real sets that are there, one at a time."""
    for source in _wanted(names):
        if directory is not None and (directory / source.file).exists():
            yield source.read(directory / source.file)


def left_out(directory: Path | None, names: tuple[str, ...] | None = None) -> list[str]:
    """Return a line for each real set that is missing, which says where to get it."""
    return [
        f"left out: {source.name} (DIR/{source.file}). Source: {source.origin}"
        for source in _wanted(names)
        if directory is None or not (directory / source.file).exists()
    ]


def real_set(directory: Path | None, name: str) -> Problem | None:
    """Return one real set, or None if it is missing."""
    return next(real_sets(directory, (name,)), None)


def shuffled(problem: Problem, seed: int = 0) -> Problem:
    """The same rows in random order: a file sorted by label gives a cyclic pass hardly any mistakes."""
    order = np.random.default_rng(seed).permutation(problem.X.shape[0])
    return replace(problem, X=problem.X[order], y=problem.y[order])


def _wanted(names: tuple[str, ...] | None) -> list[Source]:
    return [source for source in REAL if names is None or source.name in names]


def _normal_rows(rows: int, columns: int, seed: int) -> tuple[Any, Any, Any]:
    random = np.random.default_rng(seed)
    direction = random.standard_normal(columns)
    direction /= np.linalg.norm(direction)
    X = random.standard_normal((rows, columns))
    return X, X @ direction, direction


def _labels(positive: Any) -> NDArray[np.int64]:
    signs: NDArray[np.int64] = np.where(positive, 1, -1)
    return signs


def _enron(path: Path) -> Problem:
    counts, y = load_svmlight_file(str(path))
    return Problem("Enron spam, tf-idf", TfidfTransformer().fit_transform(counts).tocsr(), _labels(y > 0))


def _news20(path: Path) -> Problem:
    X, labels = load_svmlight_file(str(path))
    y = _labels(labels <= 10)
    keep = without_conflicts(X, y)
    note = f"{int((~keep).sum())} rows dropped for everybody: equal rows, different labels"
    return Problem("news20, classes 1-10 against 11-20", X[keep], y[keep], note=note)


def without_conflicts(X: Any, y: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which rows have no equal row with the other label, because nothing separates such a pair."""
    groups: dict[bytes, list[int]] = defaultdict(list)
    for i in range(X.shape[0]):
        part = slice(X.indptr[i], X.indptr[i + 1])
        groups[X.indices[part].tobytes() + b"|" + X.data[part].tobytes()].append(i)
    keep = np.ones(X.shape[0], dtype=np.bool_)
    for members in groups.values():
        if len(set(y[members].tolist())) > 1:
            keep[members] = False
    return keep


def _mushrooms(path: Path) -> Problem:
    X, labels = load_svmlight_file(str(path))
    return Problem("mushrooms", X, _labels(labels == 2))


def _sms(path: Path) -> Problem:
    X, labels = load_svmlight_file(str(path))
    return Problem("sms-spam, counts", X, _labels(labels == labels.max()))


def _golub(path: Path) -> Problem:
    stored = np.load(path)
    X = np.ascontiguousarray(stored["X"], dtype=np.float64)
    return Problem(
        "golub", X, _labels(stored["y"] == np.unique(stored["y"])[-1]), scale=1.0 / np.abs(X).max()
    )


def mnist(path: Path) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Images and digits of the training part."""
    images = np.frombuffer(gzip.decompress(path.read_bytes()), dtype=np.uint8, offset=16)
    labels = path.with_name(path.name.replace("images-idx3", "labels-idx1"))
    digits = np.frombuffer(gzip.decompress(labels.read_bytes()), dtype=np.uint8, offset=8)
    return images.reshape(len(digits), -1).copy(), digits


def _mnist_1_7(path: Path) -> Problem:
    images, digits = mnist(path)
    chosen = np.isin(digits, (1, 7))
    return Problem(
        "MNIST 1 against 7, uint8 (float64 / 255 for peers)",
        np.ascontiguousarray(images[chosen]),
        _labels(digits[chosen] == 7),
        scale=1.0 / 255.0,
    )


def _mnist_parity(path: Path) -> Problem:
    images, digits = mnist(path)
    return Problem("MNIST even against odd, uint8", images, _labels(digits % 2 == 1), scale=1.0 / 255.0)


_MNIST = "mnist/train-images-idx3-ubyte.gz"
REAL = (
    Source(
        "enron",
        "enron/enron1-5.counts.svm.gz",
        _enron,
        "word counts of Enron-Spam enron1-5, www2.aueb.gr/users/ion/data/enron-spam (not on OpenML)",
    ),
    Source(
        "news20",
        "news20/news20.bz2",
        _news20,
        "news20.bz2 (multiclass, train), www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets",
    ),
    Source(
        "mushrooms",
        "mushrooms/mushrooms",
        _mushrooms,
        "the same mushrooms, one-hot: fetch_openml('mushroom', version=1)",
    ),
    Source(
        "sms-spam",
        "sms-spam/sms-spam.counts.svm.gz",
        _sms,
        "archive.ics.uci.edu/dataset/228 (SMS Spam Collection), through CountVectorizer",
    ),
    Source("golub", "microarray/golub.npz", _golub, "fetch_openml('leukemia', version=1), as npz (X, y)"),
    Source("mnist-1-7", _MNIST, _mnist_1_7, "fetch_openml('mnist_784', version=1), first 60,000 rows"),
)
PARITY = Source("mnist-parity", _MNIST, _mnist_parity, "fetch_openml('mnist_784', version=1)")
