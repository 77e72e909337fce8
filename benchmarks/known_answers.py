"""Verdicts on real sets whose answer is known, each with a certificate that is verified from its text.

python -m benchmarks.known_answers [--data DIR] [--only NAME ...]

Without a directory, only the sets of scikit-learn are used. The other answers come from linear programs in
floats; the infinite coefficients from R's detectseparation (endometrial, silvapulle1981) and from what is
known of logistf's example (sex2). Exits with an error if a verdict differs or a certificate does not hold.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_iris, load_svmlight_file, load_wine
from sklearn.feature_extraction.text import TfidfTransformer

import separatrix as sx


@dataclass(frozen=True)
class Known:
    """A question and its answer; ``infinite`` has the coefficients without a finite estimate, if they are
    known."""

    name: str
    expected: str
    read: Callable[[], tuple[Any, Any]]
    infinite: dict[str, float] | None = None
    options: dict[str, Any] = field(default_factory=dict)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, metavar="DIR", help="directory with the real sets")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="sets whose name begins so")
    options = parser.parse_args()
    failures = 0
    print(f"{'set':<44}{'shape':<18}{'verdict':<17}{'known':<17}{'seconds':>9}{'verify':>9}  proof")
    for known in [*_shipped(), *(_stored(options.data) if options.data else ())]:
        if options.only and not known.name.startswith(tuple(options.only)):
            continue
        try:
            failures += not _agrees(known)
        except FileNotFoundError as missing:
            print(f"{known.name:<44}left out: {missing.filename} is not there")
    if failures:
        sys.exit(f"{failures} answers differ")


def _agrees(known: Known) -> bool:
    X, y = known.read()
    begin = time.perf_counter()
    verdict = sx.separability(X, y, **known.options)
    seconds = time.perf_counter() - begin
    begin = time.perf_counter()
    check = verdict.certificate is not None and sx.verify(verdict.certificate.to_json(), X, y)
    checked = time.perf_counter() - begin
    right = verdict.status == known.expected and bool(check)
    if known.infinite is not None:
        right &= verdict.responsible_features == known.infinite
    lower, upper = verdict.margin
    if verdict.status == "separable":
        proof = f"margin in [{lower:.3g}, {upper:.3g}]"
    else:
        proof = f"{len(verdict.witness_rows)} witness rows"
    if verdict.status == "quasi-separable":
        proof += f", {verdict.strict_rows.size} strict rows"
    if known.infinite is not None:
        proof += f", infinite: {verdict.responsible_features}"
    shape = f"{X.shape[0]:,} x {X.shape[1]:,}"
    print(
        f"{known.name:<44}{shape:<18}{verdict.status:<17}{known.expected:<17}{seconds:>9.2f}{checked:>9.2f}  "
        f"{proof}{'' if right else '  DIFFERS'}",
        flush=True,
    )
    return right


def _shipped() -> Iterator[Known]:
    cancer, iris, wine = load_breast_cancer(), load_iris(), load_wine()
    later = iris.target > 0
    yield Known("scikit-learn breast_cancer", "separable", lambda: (cancer.data, cancer.target))
    yield Known("scikit-learn iris, setosa - rest", "separable", lambda: (iris.data, iris.target == 0))
    yield Known(
        "scikit-learn iris, versicolor - virginica",
        "overlapping",
        lambda: (iris.data[later], iris.target[later]),
    )
    yield Known("scikit-learn wine, class 0 - rest", "separable", lambda: (wine.data, wine.target == 0))


def _stored(root: Path) -> Iterator[Known]:
    yield Known(
        "endometrial",
        "quasi-separable",
        lambda: _table(root / "separation/endometrial.csv", "HG"),
        {"NV": inf},
    )
    yield Known("sex2", "quasi-separable", lambda: _table(root / "separation/sex2.csv", "case"), {"dia": inf})
    yield Known(
        "silvapulle1981",
        "quasi-separable",
        lambda: _table(root / "separation/silvapulle1981.csv", "y"),
        {"ghqs": inf, "(intercept)": -inf},
    )
    small = root / "small"
    yield Known("Sonar", "separable", lambda: _table(small / "Sonar.csv", "Class"))
    yield Known("Ionosphere", "quasi-separable", lambda: _table(small / "Ionosphere.csv", "Class"))
    yield Known(
        "PimaIndiansDiabetes", "overlapping", lambda: _table(small / "PimaIndiansDiabetes.csv", "diabetes")
    )
    yield Known("BreastCancer", "overlapping", lambda: _table(small / "BreastCancer.csv", "Class", ("Id",)))
    yield Known("heart_scale", "overlapping", lambda: _svmlight(small / "heart_scale"))
    yield Known("spambase", "overlapping", lambda: _spambase(root / "spambase"))
    yield Known("a1a", "quasi-separable", lambda: _svmlight(root / "adult/a1a"))
    yield Known("w1a", "quasi-separable", lambda: _svmlight(root / "web/w1a"))
    yield Known("mushrooms", "separable", lambda: _svmlight(root / "mushrooms/mushrooms"))
    yield Known("sms-spam, counts", "separable", lambda: _svmlight(root / "sms-spam/sms-spam.counts.svm.gz"))
    yield Known("enron, tf-idf", "separable", lambda: _enron(root / "enron/enron1-5.counts.svm.gz"))
    for name in ("golub", "alon", "west"):
        yield Known(name, "separable", partial(_arrays, root / f"microarray/{name}.npz"))
    plain = {"quasi": False}
    for first, second in ((0, 1), (1, 7)):
        yield Known(
            f"MNIST {first}-{second}, train",
            "separable",
            lambda a=first, b=second: _mnist(root / "mnist", a, b),
        )
    for first, rival in ((4, 9), (3, 5), (0, None), (1, None)):
        yield Known(
            f"MNIST {first}-{'rest' if rival is None else rival}, train",
            "inseparable",
            lambda a=first, b=rival: _mnist(root / "mnist", a, b),
            options=plain,
        )


def _table(path: Path, label: str, dropped: tuple[str, ...] = ()) -> tuple[Any, Any]:
    frame = pd.read_csv(path).drop(columns=list(dropped)).dropna()
    return frame.drop(columns=label), frame[label].to_numpy()


def _svmlight(path: Path) -> tuple[Any, Any]:
    X, y = load_svmlight_file(str(path))
    return X, y


def _enron(path: Path) -> tuple[Any, Any]:
    counts, y = load_svmlight_file(str(path))
    return TfidfTransformer().fit_transform(counts).tocsr(), y


def _spambase(folder: Path) -> tuple[Any, Any]:
    path = next(iter(sorted(folder.glob("*"))), folder / "spambase.data")
    table = np.loadtxt(path, delimiter=",")
    return table[:, :-1], table[:, -1].astype(int)


def _arrays(path: Path) -> tuple[Any, Any]:
    stored = np.load(path)
    return stored["X"], stored["y"]


def _mnist(folder: Path, digit: int, rival: int | None) -> tuple[Any, Any]:
    images = gzip.decompress((folder / "train-images-idx3-ubyte.gz").read_bytes())
    labels = gzip.decompress((folder / "train-labels-idx1-ubyte.gz").read_bytes())
    X, y = (
        np.frombuffer(images, np.uint8, offset=16).reshape(-1, 784),
        np.frombuffer(labels, np.uint8, offset=8),
    )
    inside = np.ones(y.size, dtype=bool) if rival is None else np.isin(y, (digit, rival))
    return X[inside], (y[inside] == digit).astype(int)


if __name__ == "__main__":
    main()
