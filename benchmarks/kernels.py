"""The kernel perceptron against support vector machines, and on an endless stream with a budget.

MNIST needs ``mnist/`` with its four idx.gz files below the data directory. Every contender has a process of
its own. The table shows the peak memory of that process, including the data.
"""

from __future__ import annotations

import resource
import subprocess
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from sklearn.svm import SVC

import separatrix as sx
from separatrix.dual.expansion import Expansion

from . import timing
from .data import mnist
from .table import Row, Settings, faster

DEGREE = 4
SCALE = 2.5  # of the pixels: what the held-out images chose in mnist_kernel_perceptron
PEER_SCALE, C = 5.0, 10.0  # of 2.5, 5, 10 and 20 the one with the fewest errors of SVC on the test images
IMAGES = tuple(f"mnist/{part}-images-idx3-ubyte.gz" for part in ("train", "t10k"))
PEERS = {"sklearn": ("SVC", 15.0), "intelex": ("scikit-learn-intelex SVC", 5.0)}  # what one pass must beat
OURS = ("one", "ten", "padded")
LONGEST = 3600.0  # seconds for any contender
MOST_GIGABYTES = 2.0
COLUMNS, PIECE = 10, 10_000  # of the stream
NOTES = (
    (
        f"kernels: MNIST, kernel (1 + <x, x'>)^{DEGREE}, 10 classes, pixels / {255 * SCALE:g}, for peers / "
        f"{255 * PEER_SCALE:g}; SVC(kernel='poly', gamma=1, coef0=1, C={C:g}, cache_size=1000); a fit of "
        "minutes is timed once; errors are those on the 10,000 test images. The stream is two noisy rings in "
        "10 dimensions under a Gaussian kernel, learned by partial_fit in pieces of 10,000 rows"
    ),
)


def kernels(settings: Settings) -> Iterator[Row]:
    """A budget on a stream; one and ten passes over MNIST against support vector machines."""
    yield from _stream_rows(settings)
    yield from _mnist_rows(settings)


SECTIONS = {"kernels": kernels}


def _stream_rows(settings: Settings) -> Iterator[Row]:
    rows, budget, first = (40_000, 100, 20_000) if settings.quick else (1_000_000, 500, 50_000)
    found = _alone(f"stream({rows}, {budget}, {first})")
    what = f"stream of {rows:,} x {COLUMNS}, budget {budget}"
    without = f"{found['free']:,} mistakes in {found['free_seconds']:.1f} s, support {found['support']:,}"
    start, end = found["memory"]
    yield Row(
        "kernels",
        what,
        f"{rows / found['seconds']:,.0f} rows/s",
        f"{start:.1f} MB after {first:,} rows, {end:.1f} MB at the end",
        f"{end / start:.3f} times the memory",
        "" if settings.quick else "<= 1.01",
        None if settings.quick else end <= 1.01 * start,
    )
    yield Row(
        "kernels",
        f"{what}: first {first:,} rows",
        f"{found['early']:,} mistakes in {found['early_seconds']:.1f} s",
        f"no budget {without}",
        f"{found['early'] / found['free']:.2f} times the mistakes",
    )


def _mnist_rows(settings: Settings) -> Iterator[Row]:
    directory = settings.directory
    if directory is None or not all((directory / name).exists() for name in IMAGES):
        return
    rows = 3_000 if settings.quick else 60_000
    run = partial(_contender, directory, rows)
    one = [run("one") for _ in range(settings.repeats)]
    ten = run("ten")
    what = f"MNIST {rows:,} x 784, degree {DEGREE}"
    for name, (title, goal) in PEERS.items():
        peer = run(name)
        if isinstance(peer, str):
            yield Row("kernels", f"{what}: {title}", "", peer, "")
            continue
        times = [[each["fit"] for each in contender] for contender in (one, [ten], [peer])]
        yield _asked(faster("kernels", f"{what}: 1 pass", times[0], times[2], title, goal), settings)
        yield _asked(faster("kernels", f"{what}: 10 passes", times[1], times[2], title, 1.0), settings)
        yield _asked(_errors(what, one[0], ten, peer, title), settings)
        padded = run("padded", peer["support"])
        for dtype, seconds in padded["predict"].items():
            shown = f"{what}: predict in {dtype}, support {peer['support']:,}"
            goal = 1.0 if dtype == "float32" else None
            yield _asked(_speed(shown, seconds, peer["predict"]["float64"], title, goal), settings)
    peak = max(each["peak"] for each in (*one, ten))
    memory = Row(
        "kernels",
        f"{what}: peak memory, data included",
        f"{peak:.2f} GB",
        f"support {ten['support']:,}",
        "",
        f"<= {MOST_GIGABYTES:g} GB",
        peak <= MOST_GIGABYTES,
    )
    yield _asked(memory, settings)


def _errors(what: str, one: Any, ten: Any, peer: Any, title: str) -> Row:
    return Row(
        "kernels",
        f"{what}: test error of averaged weights",
        f"{ten['error']:.2f} % (1 pass {one['error']:.2f} %)",
        f"{title} {peer['error']:.2f} %",
        f"{ten['error'] - peer['error']:+.2f} %",
        "< 0",
        ten["error"] < peer["error"],
    )


def _speed(what: str, seconds: list[float], peer: list[float], title: str, goal: float | None) -> Row:
    ours, theirs = (10_000 / median(each) for each in (seconds, peer))
    return Row(
        "kernels",
        what,
        f"{ours:,.0f} rows/s",
        f"{title} {theirs:,.0f} rows/s",
        f"{ours / theirs:.2f} times as fast",
        "" if goal is None else f">= {goal:g}",
        None if goal is None else ours / theirs >= goal,
    )


def _asked(row: Row, settings: Settings) -> Row:
    """Return the row, without its target if the sizes are not those that the target is for."""
    return Row(row.section, row.what, row.ours, row.against, row.ratio) if settings.quick else row


def _contender(directory: Path, rows: int, name: str, support: int = 0) -> Any:
    """Return what a contender measured in a separate process, or why it could not."""
    try:
        return _alone(f"compete({str(directory)!r}, {rows}, {name!r}, {support})")
    except subprocess.CalledProcessError as failed:
        if name in OURS:
            raise
        return (failed.stderr.strip().splitlines() or ["no answer"])[-1]


def _alone(call: str) -> Any:
    return timing.python(
        f"import json; from benchmarks import kernels; print(json.dumps(kernels.{call}))", timeout=LONGEST
    )


# The rest runs in separate processes.


def compete(directory: str, rows: int, name: str, support: int) -> dict[str, Any]:
    """Fit and predict as one contender: seconds, support, errors and the largest memory of this process."""
    (images, digits), (test, test_digits) = (mnist(Path(directory) / file) for file in IMAGES)
    whole = 255.0 * (SCALE if name in OURS else PEER_SCALE)
    X, digits, Xt = images[:rows] / whole, digits[:rows], test / whole
    shape = {"kernel": "poly", "degree": DEGREE, "gamma": 1.0, "coef0": 1.0, "C": C, "cache_size": 1000}
    if name in OURS:
        _compile()
        model: Any = sx.KernelPerceptron(
            sx.kernels.Polynomial(DEGREE),
            fit_intercept=False,
            average="averaged",
            max_iter=10 if name == "ten" else 1,
        )
    elif name == "intelex":
        from sklearnex.svm import SVC as Accelerated

        model = Accelerated(**shape)
    else:
        model = SVC(**shape)
    if name == "padded":
        _pad(model.fit(X[:1000], digits[:1000]), X, digits, support)
    fit = 0.0 if name == "padded" else timing.clock(lambda: model.fit(X, digits))
    predict: dict[str, list[float]] = {}
    answers: list[Any] = []
    for dtype in ("float64", "float32") if name in OURS else ("float64",):
        asked = model.set_params(dtype=dtype) if name in OURS else model
        predict[dtype] = [timing.clock(lambda asked=asked: answers.append(asked.predict(Xt)))]
        while sum(predict[dtype]) < 10.0 and len(predict[dtype]) < 3:
            predict[dtype].append(timing.clock(lambda asked=asked: asked.predict(Xt)))
    return {
        "fit": fit,
        "support": int(model.support_.size),
        "predict": predict,
        "error": 100.0 * float(np.mean(answers[0] != test_digits)),
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }


def _compile() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 3)), rng.integers(0, 3, 50)
    sx.KernelPerceptron("poly", average="averaged", max_iter=2).fit(X, y).predict(X)


def _pad(model: Any, X: Any, digits: Any, size: int) -> None:
    """Give a model the first rows as support, as if there had been one mistake on each of them; this is for
    timing only."""
    machine, every = Expansion(model._machine.similarity, 10), np.arange(size)
    entries = np.column_stack([digits[:size], (digits[:size] + 1) % 10, every])
    machine.extend(X[:size], every, every, entries, np.ones(size))
    model._machine, model.support_, model.dual_coef_ = machine, every, machine.coef[:size].copy()


def stream(rows: int, budget: int, first: int) -> dict[str, Any]:
    """Learn a stream with a budget, and its first rows without: seconds, peak memory, mistakes."""
    kernel = sx.kernels.Gaussian(0.5)
    _compile()
    model = sx.KernelPerceptron(kernel, budget=budget)
    seconds, found = 0.0, {"memory": []}
    for learned, X, y in _pieces(rows):
        seconds += timing.clock(lambda X=X, y=y: model.partial_fit(X, y, classes=[0, 1]))
        if learned == first:
            found |= {"early": model.mistakes_, "early_seconds": seconds}
        if learned in (first, rows):
            found["memory"].append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3)
    found |= {"seconds": seconds, "mistakes": model.mistakes_}
    free = sx.KernelPerceptron(kernel)
    begin = time.perf_counter()
    for _, X, y in _pieces(first):
        free.partial_fit(X, y, classes=[0, 1])
    spent = time.perf_counter() - begin
    return found | {"free": free.mistakes_, "support": free.support_.size, "free_seconds": spent}


def _pieces(rows: int) -> Iterator[tuple[int, Any, Any]]:
    """Two noisy rings, the outer twice as wide: rows so far, and the next of them with their labels."""
    rng = np.random.default_rng(0)
    for learned in range(PIECE, rows + 1, PIECE):
        y = rng.integers(0, 2, PIECE)
        X = rng.standard_normal((PIECE, COLUMNS))
        lengths = (1.0 + y) * (1.0 + 0.15 * rng.standard_normal(PIECE))
        yield learned, X * (lengths / np.linalg.norm(X, axis=1))[:, None], y
