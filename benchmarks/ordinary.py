"""Ordinary data, on which classes overlap: time and accuracy of default settings, and of the best of a few.

Twelve real sets are read from ``--data DIR``: two or more classes, dense and sparse. Each has one fixed
split: the files' own test part, or a quarter of the rows. Sets of up to 5,000 rows, whose test part is too
small to compare accuracies, are split again at random in each of 20 rounds. Dense columns are standardized,
and word counts are turned into tf-idf. Every fit runs in a process that can be stopped, after the loops were
compiled. Set OPENBLAS_NUM_THREADS=1: threads of BLAS are started again in each process, and wait by spinning.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import vstack
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.svm import SVC, LinearSVC

import separatrix as sx

from . import timing
from .table import Row, Settings, measured, paired

NOTES = (
    (
        "ordinary: processor time of fit with one thread of BLAS, and accuracy on the test part (medians; "
        "scikit-learn has a new seed in each round; up to 5,000 rows are split in 20 ways); ours is as "
        "accurate as a peer if it loses at most 0.005. best: the setting of "
        "each program that is the most accurate on a quarter of the training rows, of Perceptron(), "
        "Perceptron(average=True) and SoftMargin(C=0.1, 1, 10) against Perceptron(), LinearSVC(C=0.1, 1, 10) "
        "and SGDClassifier(average=True), and on up to 1,000 rows SoftMargin(kernel='rbf') against SVC(). A "
        "set that --data does not have is left out"
    ),
)
SMALL = 1000  # up to this number of rows, kernels take part
SPLITS, RESPLIT = 20, 5000  # splits of each set of up to 5,000 rows
LOSS = 0.005  # of accuracy, which counts as equal

Made = Callable[[int], Any]  # an estimator, from a seed


@dataclass(frozen=True)
class Split:
    """The rows to learn from, and those that measure the accuracy."""

    X: Any
    y: Any
    X_test: Any
    y_test: Any

    @property
    def shape(self) -> str:
        kind = "dense" if isinstance(self.X, np.ndarray) else "sparse"
        rows, columns = self.X.shape
        return f"{rows:,} x {columns:,} {kind}, {len(np.unique(self.y))} classes"


@dataclass
class Score:
    """The results of the fits of a contender."""

    name: str
    cpu: list[float]
    accuracy: list[float]
    remark: str = ""

    @property
    def told(self) -> str:
        if not self.cpu:
            return f"{self.name} {self.remark}".strip()
        return f"{self.name} {measured(self.cpu)}, accuracy {median(self.accuracy):.3f}".strip()


def ordinary(settings: Settings) -> Iterator[Row]:
    """Each set: the defaults of each kind of model, and the best setting of each program."""
    for name, read in SETS.items():
        try:
            split = read(settings.directory)
        except (OSError, TypeError):  # no such file, or no --data
            continue
        if settings.quick:
            split = Split(split.X[:2000], split.y[:2000], split.X_test[:2000], split.y_test[:2000])
        _compile(split)
        for title, ours, peers, target in _contests(split):
            scores = _measure(split, {"": ours, **peers}, settings)
            for peer in scores[1:]:
                yield _row(f"{name}, {split.shape}: {title}", scores[0], peer, target)
        yield _best(name, split, settings)


def _contests(split: Split) -> Iterator[tuple[str, Made, dict[str, Made], float | None]]:
    """Defaults against defaults: what, ours, the peers, and how many times as fast ours should be."""
    yield "Perceptron", lambda _: sx.Perceptron(), {"Perceptron": _perceptron}, 1.0
    averaged = {"SGDClassifier": partial(_sgd, "perceptron"), "SGDClassifier (hinge)": partial(_sgd, "hinge")}
    yield "averaged", lambda seed: sx.Perceptron(average=True, random_state=seed), averaged, 2.0
    yield (
        "SoftMargin",
        lambda _: sx.SoftMargin(),
        {"LinearSVC": lambda seed: LinearSVC(random_state=seed)},
        None,
    )
    if split.X.shape[0] <= SMALL:
        yield "SoftMargin(kernel='rbf')", lambda _: sx.SoftMargin(kernel="rbf"), {"SVC": lambda _: SVC()}, 0.5


def _best(name: str, split: Split, settings: Settings) -> Row:
    """The setting of each program that is best on rows held out from the training part."""
    ours: dict[str, Made] = {
        "Perceptron()": lambda _: sx.Perceptron(),
        "Perceptron(average=True)": lambda seed: sx.Perceptron(average=True, random_state=seed),
        **{f"SoftMargin(C={C:g})": partial(lambda C, _: sx.SoftMargin(C=C), C) for C in (0.1, 1.0, 10.0)},
    }
    peers: dict[str, Made] = {
        "Perceptron()": _perceptron,
        "SGDClassifier(average=True)": partial(_sgd, "hinge"),
        **{f"LinearSVC(C={C:g})": partial(lambda C, _: LinearSVC(C=C), C) for C in (0.1, 1.0, 10.0)},
    }
    if split.X.shape[0] <= SMALL:
        ours["SoftMargin(kernel='rbf')"] = lambda _: sx.SoftMargin(kernel="rbf")
        peers["SVC()"] = lambda _: SVC()
    held = _split(split.X, split.y, seed=1)
    chosen = [_most_accurate(_measure(held, each, settings, rounds=1)) for each in (ours, peers)]
    both = {"": ours[chosen[0]], chosen[1]: peers[chosen[1]]}
    found = _measure(split, both, settings)
    return _row(f"{name}, {split.shape}: best, {chosen[0]}", found[0], found[1], None)


def _perceptron(seed: int) -> Any:
    return Perceptron(random_state=seed)


def _sgd(loss: str, seed: int) -> Any:
    return SGDClassifier(loss=loss, average=True, random_state=seed)


def _most_accurate(scores: list[Score]) -> str:
    return max(scores, key=lambda score: median(score.accuracy) if score.accuracy else -1.0).name


def _measure(
    split: Split, contenders: dict[str, Made], settings: Settings, rounds: int | None = None
) -> list[Score]:
    """Fit each contender in turn, and again with other seeds."""
    scores = {name: Score(name, [], []) for name in contenders}
    if rounds is None:
        rounds = settings.repeats if settings.quick or split.X.shape[0] > RESPLIT else SPLITS
    for seed in range(rounds):
        split = _resplit(split, seed) if rounds == SPLITS and seed > 0 else split
        for name, make in contenders.items():
            score, outcome = scores[name], timing.Outcome()
            if score.remark:
                continue
            timing.one_round(
                outcome, partial(_prepared, make, seed, split), split_errors(split), settings.peer_seconds
            )
            score.remark = outcome.remark
            if outcome.errors is not None:
                score.cpu.append(median(outcome.cpu))
                score.accuracy.append(1.0 - outcome.errors)
    return list(scores.values())


def _prepared(make: Made, seed: int, split: Split) -> Callable[[], Any]:
    return lambda: make(seed).fit(split.X, split.y)


def split_errors(split: Split) -> Callable[[Any], float]:
    """Return the function that says which share of the test rows a model gets wrong."""
    return lambda model: float(np.mean(model.predict(split.X_test) != split.y_test))


def _compile(split: Split) -> None:
    few = slice(0, min(500, split.X.shape[0]))
    for model in (
        sx.Perceptron(),
        sx.Perceptron(order="cyclic"),
        sx.Perceptron(average=True),
        sx.SoftMargin(),
    ):
        model.fit(split.X[few], split.y[few])


def _row(what: str, ours: Score, peer: Score, target: float | None) -> Row:
    if not (ours.cpu and peer.cpu):
        return Row("ordinary", what, ours.told, peer.told, "")
    ratio, noisy = paired(peer.cpu, ours.cpu, target)
    as_accurate = median(ours.accuracy) >= median(peer.accuracy) - LOSS
    limit = "" if target is None else f">= {target:g}, as accurate"
    met = None if target is None else ratio >= target and as_accurate
    said = f"{ratio:.2f} times as fast{'' if as_accurate else ', less accurate'}"
    return Row("ordinary", what, ours.told, peer.told, said, limit, met, noisy if as_accurate else "")


def _split(X: Any, y: Any, seed: int = 0) -> Split:
    """Hold a quarter of the rows out, at random."""
    order = np.random.default_rng(seed).permutation(X.shape[0])
    train, test = order[: 3 * order.size // 4], order[3 * order.size // 4 :]
    return Split(X[train], y[train], X[test], y[test])


def _resplit(split: Split, seed: int) -> Split:
    """Join both parts, and hold out another quarter."""
    y = np.concatenate([split.y, split.y_test])
    if isinstance(split.X, np.ndarray):
        return _standardized(_split(np.vstack([split.X, split.X_test]), y, seed))
    return _split(vstack([split.X, split.X_test]).tocsr(), y, seed)


def _standardized(split: Split) -> Split:
    """Divide the columns by their standard deviation in the training part, after subtracting the mean."""
    center, scale = split.X.mean(axis=0), split.X.std(axis=0)
    scale[scale == 0.0] = 1.0
    return Split((split.X - center) / scale, split.y, (split.X_test - center) / scale, split.y_test)


def _table(frame: pd.DataFrame) -> Split:
    """Numbers of a table whose last column is the label."""
    values = frame.iloc[:, :-1].to_numpy(dtype=np.float64)
    return _standardized(_split(values, np.unique(frame.iloc[:, -1], return_inverse=True)[1]))


def _svmlight(path: Path, columns: int | None = None) -> tuple[Any, Any]:
    X, y = load_svmlight_file(str(path), n_features=columns)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # scikit-learn needs these
    return X, y.astype(np.int64)


def _two_files(train: str, test: str, columns: int, folder: Path) -> Split:
    return Split(*_svmlight(folder / train, columns), *_svmlight(folder / test, columns))


def _one_file(name: str, folder: Path) -> Split:
    return _split(*_svmlight(folder / name))


def _sms(folder: Path) -> Split:
    counts, y = _svmlight(folder / "sms-spam/sms-spam.counts.svm.gz")
    return _split(TfidfTransformer().fit_transform(counts).tocsr(), y)


def read_csv(name: str, folder: Path, **options: Any) -> Split:
    return _table(pd.read_csv(folder / name, **options))


def _zipped(name: str, member: str, folder: Path, **options: Any) -> Split:
    with zipfile.ZipFile(folder / name) as archive:
        return _table(pd.read_csv(io.BytesIO(archive.read(member)), **options))


def _usps(folder: Path) -> Split:
    train, test = (np.load(folder / f"usps/usps.{part}.npz") for part in ("train", "test"))
    return Split(train["X"].astype(np.float64), train["y"], test["X"].astype(np.float64), test["y"])


def _covtype(folder: Path) -> Split:
    return _table(pd.read_csv(folder / "covtype/covtype.csv.gz").sample(100_000, random_state=0))


SETS: dict[str, Callable[[Any], Split]] = {
    "a9a": partial(_two_files, "adult/a9a", "adult/a9a.t", 123),
    "ijcnn1": partial(_two_files, "ijcnn1/ijcnn1.trn.bz2", "ijcnn1/ijcnn1.tst.bz2", 22),
    "w8a": partial(_one_file, "web/w8a"),
    "SMS spam": _sms,
    "spambase": partial(read_csv, "spambase/spambase.data", header=None),
    "credit default": partial(_zipped, "credit/default_cb.csv.zip", "default_cb.csv", index_col="ID"),
    "Pima": partial(read_csv, "small/PimaIndiansDiabetes.csv"),
    "Ionosphere": partial(read_csv, "small/Ionosphere.csv"),
    "USPS": _usps,
    "sensors": partial(_zipped, "sensors/sensorless.csv.zip", "sensorless.csv", sep=" ", header=None),
    "covtype": _covtype,
    "news20": partial(_one_file, "news20/news20.bz2"),
}

SECTIONS = {"ordinary": ordinary}
