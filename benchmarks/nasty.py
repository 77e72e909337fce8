"""Nasty data: nearly dependent columns, the finer question on wide data, and many classes at once.

python -m benchmarks.nasty [--data DIR] [--kinds KIND ...] [--only NAME ...] [--count N] [--seed N]
    [--seconds N]

Each verdict is printed with its CPU seconds, after `sx.verify` has accepted its certificate. The random
families have a referee: rows of integers are asked before and after an exact change of columns, labels that
come from a hyperplane in exact arithmetic are separable, and questions of a few rows are answered again by
enumeration (``tests/naive_separation.py``). Joint questions are compared with a fit of
`Perceptron(max_iter=1000)`. Time limits count processor time, so that other work on the machine changes no
answer. Exits with an error if a verdict is undecided, leaves the finer question open, differs from its
referee, or does not verify.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits, load_iris, load_svmlight_file, load_wine
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer

import separatrix as sx
from separatrix import deadline

from . import data, known_answers, ordinary

Rows = tuple[Any, Any]


@dataclass(frozen=True)
class Question:
    """Rows and labels, and the answer if it is known."""

    name: str
    read: Callable[[], Rows]
    expected: str | None = None
    enumerated: bool = False


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, metavar="DIR", default=Path("data"), help="directory with the real sets"
    )
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--only", nargs="+", metavar="NAME", help="questions whose name contains this")
    parser.add_argument("--count", type=int, default=500, help="random questions")
    parser.add_argument("--seed", type=int, default=30, help="of the random questions")
    parser.add_argument("--seconds", type=float, default=60.0, help="time limit of a question")
    options = parser.parse_args()
    time.monotonic, deadline.slowdown = time.process_time, lambda: 1.0
    warnings.simplefilter("ignore")
    failures, statuses = 0, Counter[str]()
    for kind in options.kinds:
        for question in KINDS[kind](options.data, options.count, options.seed):
            if options.only and not any(each in question.name for each in options.only):
                continue
            try:
                X, y = question.read()
            except OSError:
                print(f"{question.name:<44}left out: its file is not there")
                continue
            status, line = ask(question, X, y, kind == "joint", options.seconds)
            statuses[f"{kind}, {status}"] += 1
            failures += "FAILED" in line
            print(line, flush=True)
    print(", ".join(f"{name}: {count}" for name, count in sorted(statuses.items())))
    if failures:
        sys.exit(f"{failures} failures")


def ask(question: Question, X: Any, y: Any, joint: bool, seconds: float) -> tuple[str, str]:
    """Answer a question; return the status and a line of the table."""
    begin = time.process_time()
    verdict = sx.separability(X, y, time_limit=seconds)
    used = time.process_time() - begin
    status = str(verdict.status)
    verified = verdict.certificate is not None and bool(sx.verify(verdict.certificate.to_json(), X, y))
    expected, remark = question.expected, ""
    if question.enumerated:
        from tests.naive_separation import separation

        expected = separation(np.asarray(X).tolist(), np.asarray(y).tolist())[0]
    failed = status in ("undecided", "inseparable") or not verified or expected not in (None, status)
    if joint:
        begin = time.process_time()
        model = sx.Perceptron(max_iter=1000, n_iter_no_change=None).fit(X, y)
        alone = time.process_time() - begin
        remark = f"  perceptron: {int((model.predict(X) != y).sum())} errors, {alone:.2f} s"
    if failed:
        steps = ", ".join(f"{step.strategy} {step.outcome} {step.seconds:.1f}" for step in verdict.search)
        remark += f"  FAILED: expected {expected}; {steps}"
    shape = f"{X.shape[0]:,} x {X.shape[1]:,}"
    proof = "verified" if verified else "no proof"
    return status, f"{question.name:<44}{shape:<16}{status:<17}{used:>8.2f}  {proof}{remark}"


def named(folder: Path, count: int = 0, seed: int = 0) -> Iterator[Question]:
    """Nearly dependent columns, as statisticians make them."""
    small = folder / "small/Ionosphere.csv"
    yield Question("components of Ionosphere", partial(_components, small, _ionosphere))
    yield Question("components of German credit", partial(_components, folder / "credit/german.csv", _german))
    spambase = partial(_components, folder / "spambase", known_answers._spambase)
    yield Question("components of spambase", spambase, "overlapping")
    for make, seed, rows, sizes in (
        (hilbert, 3, 500, (50, 100)),
        (vandermonde, 4, 600, (50, 60)),
        (rotation, 5, 300, (25,)),
        (rotation, 6, 500, (40,)),
        (rotation, 7, 1000, (60, 100)),
    ):
        for columns in sizes:
            yield Question(f"{make.__name__}, {columns} columns", partial(_made, make, seed, rows, columns))


def finer(folder: Path, count: int = 0, seed: int = 0) -> Iterator[Question]:
    """Wide or ill-conditioned data, of which some rows are strict and others are not."""
    sms = folder / "sms-spam/sms-spam.counts.svm.gz"
    yield Question("sms tf-idf, 300 words, one flipped", partial(_sms, sms), "quasi-separable")
    for name, file in (("news20", "news20/news20.bz2"), ("Reuters", "reuters/reuters.trn.bz2")):
        for words in (500, 700, 1000):
            yield Question(f"{name}, {words} words", partial(_frequent_words, folder / file, words))
    for name, file in (("w1a", "web/w1a"), ("a1a", "adult/a1a")):
        path, read = folder / file, known_answers._svmlight
        yield Question(name, partial(read, path), "quasi-separable")
        yield Question(f"components of {name}", partial(_components, path, read))
    yield Question("spambase, quadratic", partial(_quadratic, folder / "spambase"))
    yield Question("quasi-separable blocks", partial(blocks, 4000, 1000), "quasi-separable")
    for pair in ((4, 9), (3, 5), (7, 9), (2, 8), (5, 8)):
        yield Question("MNIST {}-{}".format(*pair), partial(_pair, folder / data._MNIST, *pair))


def joint(folder: Path, count: int = 0, seed: int = 0) -> Iterator[Question]:
    """Three or more classes at once."""
    yield Question("every pair separable, all three not", pairwise_only, "overlapping")
    for name, load in (("iris", load_iris), ("wine", load_wine), ("digits", load_digits)):
        yield Question(name, partial(load, return_X_y=True))
    for name in ("train", "test"):
        yield Question(f"USPS, {name}", partial(known_answers._arrays, folder / f"usps/usps.{name}.npz"))
    train, test = folder / data._MNIST, folder / "mnist/t10k-images-idx3-ubyte.gz"
    for rows in (1000, 3000, 5000, 10_000, 20_000, 30_000, 60_000):
        yield Question(f"MNIST, first {rows:,}", partial(_images, train, slice(rows)))
    for rows in (5000, 10_000):
        yield Question(f"MNIST, last {rows:,}", partial(_images, train, slice(-rows, None)))
    yield Question("MNIST, test", partial(_images, test, slice(None)))
    yield Question("MNIST, test / 255", partial(_images, test, slice(None), 255.0))
    for name in ("sensors", "covtype"):
        yield Question(name, partial(_ordinary, name, folder))
    for name in ("newsgroups/20news.counts.train.svm.gz", "newsgroups/20news.counts.test.svm.gz"):
        yield Question(
            f"20 newsgroups, {name.split('.')[2]}", partial(known_answers._svmlight, folder / name)
        )
    yield Question("news20", partial(known_answers._svmlight, folder / "news20/news20.bz2"))


def pairwise_only() -> Rows:
    """Three classes in the plane: every pair can be separated, but not all three at once.

    The three lines between two classes are nearly determined: y = 0, x = 0 and x + y = 10. Of three weight
    vectors, the lines on which two outputs are equal meet in one point, or are parallel.
    """
    classes = (
        ((10, 1), (20, 1), (-5, 16), (-15, 26)),
        ((10, -1), (20, -1), (1, -5), (1, -15)),
        ((-1, -5), (-1, -15), (-5, 14), (-15, 24)),
    )
    return np.array(classes, dtype=float).reshape(-1, 2), np.repeat(np.arange(3), 4)


# Random families. Each makes a design, which some labels depend on, and the rows that are asked about.


def families(_: Path, count: int, seed: int = 30) -> Iterator[Question]:
    """Random questions up to 1,000 x 100 of each family, with labels of each kind; some of them tiny."""
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        family = list(FAMILIES)[number % len(FAMILIES)]
        kind = ("random", "hyperplane", "one-sided")[number // len(FAMILIES) % 3]
        tiny = number % 10 == 9
        rows = int(rng.integers(6, 11) if tiny else np.exp(rng.uniform(np.log(20), np.log(1001))))
        columns = int(rng.integers(1, 4) if tiny else np.exp(rng.uniform(np.log(2), np.log(101))))
        design, X = FAMILIES[family](rng, rows, columns)
        if kind == "hyperplane":
            y = labels_of_hyperplane(rng, X)
        else:
            y = rng.integers(0, 2, rows)
            if kind == "one-sided":
                y[design[:, 0] > np.median(design[:, 0])] = 1
            y[:2] = 0, 1
        expected = "separable" if kind == "hyperplane" else None
        if family == "unimodular product":  # an exact change of columns changes no answer
            expected = str(sx.separability(design, y).status)
        name = f"{number}: {family}, {kind} labels"
        yield Question(name, partial(_as_they_are, X, y), expected, enumerated=tiny)


def labels_of_hyperplane(rng: np.random.Generator, X: Any) -> Any:
    """Labels by the sign of a score that is exact: its terms are, and `math.fsum` rounds their sum once."""
    weights = np.append(rng.choice([-1.0, 0.0, 1.0], X.shape[1]), 0.0)
    weights[rng.integers(0, X.shape[1])] = 1.0
    weights[-1] = -np.median(X @ weights[:-1])
    y = np.array([math.fsum([*(row * weights[:-1]), weights[-1]]) > 0.0 for row in X], dtype=int)
    return y if 0 < y.sum() < y.size else (X[:, 0] > X[:, 0].min()).astype(int)


def rotation(rng: np.random.Generator, rows: int, columns: int) -> Rows:
    design = rng.integers(0, 2, (rows, columns)).astype(float)
    return design, design @ np.linalg.qr(rng.normal(size=(columns, columns)))[0]


def components(rng: np.random.Generator, rows: int, columns: int) -> Rows:
    design = rng.integers(0, 2, (rows, columns)).astype(float)
    mixed = design + rng.integers(-3, 4, (rows, 3)) @ rng.normal(size=(3, columns))
    few = min(rows, columns)
    return design, PCA(few, svd_solver="full").fit_transform(mixed / (mixed.std(axis=0) + 1e-9))


def splines(rng: np.random.Generator, rows: int, columns: int) -> Rows:
    points = np.round(rng.uniform(0.0, 1.0, (rows, 1)), int(rng.integers(1, 5)))
    X = SplineTransformer(columns + 1, degree=min(3, columns)).fit_transform(points)
    return X, X


def vandermonde(rng: np.random.Generator, rows: int, columns: int) -> Rows:
    X = np.sort(rng.uniform(-1, 1, rows))[:, None] ** np.arange(1, columns + 1)
    return X, X


def hilbert(rng: np.random.Generator, rows: int, columns: int) -> Rows:
    X = 1.0 / (rng.uniform(0, 1, (rows, 1)) + np.arange(1, columns + 1))
    return X, X


def unimodular(rng: np.random.Generator, rows: int, columns: int) -> Rows:
    """Small integers, and their product with elementary integer matrices."""
    design = rng.integers(-3, 4, (rows, columns))
    X = design.copy()
    for _ in range(8 * columns):
        i, j = rng.integers(0, columns, 2)
        changed = X[:, i] + int(rng.integers(-3, 4)) * X[:, j]
        if i != j and np.abs(changed).max() < 2**52:
            X[:, i] = changed
    return design, X.astype(float)


def nearly_equal(rng: np.random.Generator, rows: int, columns: int) -> Rows:
    """Columns, and copies of them that differ by 1 to 100 units in the last place."""
    half = rng.normal(size=(rows, (columns + 1) // 2))
    most = int(rng.choice([1, 10, 100]))
    copies = half + rng.integers(-most, most + 1, half.shape) * np.spacing(half)
    return half, np.hstack([half, copies])[:, :columns]


FAMILIES: dict[str, Callable[[np.random.Generator, int, int], Rows]] = {
    "rotation": rotation,
    "principal components": components,
    "splines": splines,
    "Vandermonde": vandermonde,
    "Hilbert": hilbert,
    "unimodular product": unimodular,
    "nearly equal columns": nearly_equal,
}


def blocks(rows: int, columns: int) -> Rows:
    """Half of the rows overlap in half of the columns; a hyperplane of the other columns splits the rest."""
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(rows, columns)), rng.integers(0, 2, rows)
    half = columns // 2
    X[: rows // 2, half:] = 0.0
    y[rows // 2 :] = X[rows // 2 :, half:] @ rng.normal(size=columns - half) > 0.0
    return X, y


# Readers.


def _as_they_are(X: Any, y: Any) -> Rows:
    return X, y


def _made(make: Callable[..., Rows], seed: int, rows: int, columns: int) -> Rows:
    rng = np.random.default_rng(seed)
    return make(rng, rows, columns)[1], rng.integers(0, 2, rows)


def _components(path: Path, read: Callable[[Path], Rows]) -> Rows:
    X, y = read(path)
    X = np.asarray(X.todense() if hasattr(X, "todense") else X, dtype=float)
    found = PCA(svd_solver="full").fit(X := X / (X.std(axis=0) + 1e-9))
    kept = found.singular_values_ > 1e-10 * found.singular_values_[0]  # the others are rounding errors
    return found.transform(X)[:, kept], y


def _german(path: Path) -> Rows:
    frame = pd.read_csv(path, header=None)
    return pd.get_dummies(frame.iloc[:, :-1], drop_first=True).to_numpy(dtype=float), frame.iloc[:, -1]


def _ionosphere(path: Path) -> Rows:
    return known_answers._table(path, "Class")


def _sms(path: Path) -> Rows:
    X, y = load_svmlight_file(str(path))
    X = TfidfTransformer().fit_transform(X).tocsr()
    X = X[:, np.argsort(-X.getnnz(axis=0), kind="stable")[:300]]
    y[0] = y.min() + y.max() - y[0]
    return X, y


def _frequent_words(path: Path, words: int) -> Rows:
    X, y = load_svmlight_file(str(path))
    return X[:, np.argsort(-X.getnnz(axis=0), kind="stable")[:words]], y if len(set(y)) == 2 else y <= 10


def _quadratic(folder: Path) -> Rows:
    X, y = known_answers._spambase(folder)
    return PolynomialFeatures(2, include_bias=False).fit_transform(X), y


def _pair(path: Path, first: int, second: int) -> Rows:
    images, digits = data.mnist(path)
    chosen = np.isin(digits, (first, second))
    return images[chosen], digits[chosen]


def _images(path: Path, chosen: slice, divisor: float | None = None) -> Rows:
    images, digits = data.mnist(path)
    X = images[chosen] if divisor is None else images[chosen] / divisor
    return X, digits[chosen]


def _ordinary(name: str, folder: Path) -> Rows:
    split = ordinary.SETS[name](folder)
    return split.X, split.y


KINDS = {"named": named, "families": families, "finer": finer, "joint": joint}

if __name__ == "__main__":
    main()
