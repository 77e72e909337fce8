"""Rows on a cluster: two workers against one, one worker against memory, and the peers of a cluster.

Covtype (class 2 against the rest), eight times over: 4,648,096 x 54 float32, 1 GB, in 16 blocks that the
workers hold before the clock starts. If covtype is missing, rows are made: 54 columns of integers, with
labels from a hyperplane and noise.
"""

from __future__ import annotations

import gzip
import itertools
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.linear_model import SGDClassifier

import separatrix as sx
from separatrix import inputs
from separatrix.rows import threads
from separatrix.rows.blocks import BlockMatrix

from . import timing
from .table import Row, Settings, faster, measured, shown, within

COPIES, BLOCKS, EPOCHS, ROUNDS, REPEATS = 8, 16, 10, 20, 7
HOLDERS, FILES = 3, 4  # workers that read Parquet files; files a copy of the rows
SLACK = 0.002  # of the held-out error, above the final error of scikit-learn's SGDClassifier
MOST = 30  # epochs of a contender
TESTED = 50_000

NOTES = (
    (
        "cluster: workers are processes with one thread each (one worker against memory: two threads both), "
        "over TCP on this machine, which also runs the scheduler and the coordinator; blocks are in the "
        "workers' memory before the clock starts, and all clusters are up while memory and each of them are "
        f"asked in turn. Held-out error: {TESTED:,} rows, standardized columns, "
        f"goal: that of SGDClassifier() as shipped plus {SLACK:g}; epochs are doubled until the goal is "
        "reached, and that many are timed. dask-ml: Incremental(SGDClassifier(average=True)), epoch by "
        "epoch. Bytes are those of the loopback device. The workers that read Parquet files hold the rows as "
        "float32; their memory is the most that each process ever had, all libraries included"
    ),
)


def cluster(settings: Settings) -> Iterator[Row]:
    """Measure everything about a cluster."""
    if find_spec("distributed") is None:
        yield Row("cluster", "rows on a cluster", "", "", "not installed (pip install separatrix[dask])")
        return
    warnings.simplefilter("ignore")
    yield from speed(settings)
    yield from files(settings)
    yield from errors(settings)


def speed(settings: Settings) -> Iterator[Row]:
    """Two workers against one; one worker against memory; bytes per round."""
    X, y = _rows(settings)
    copies = 1 if settings.quick else COPIES
    tasks = _tasks(settings.quick)
    labels = np.tile(y, copies)
    alone: dict[str, list[float]] = {name: [] for name in tasks}
    single: dict[str, list[float]] = {name: [] for name in tasks}
    found: dict[tuple[int, int], dict[str, list[float]]] = {}
    traffic: dict[tuple[str, int], list[float]] = {}
    shares: dict[tuple[str, int, int], tuple[int, float, float]] = {}
    with ExitStack() as stack:
        memory = {name: _in_memory(task, X, y, copies) for name, task in tasks.items()}
        held: dict[tuple[int, int], tuple[Any, Any]] = {}
        for which in ((1, 1), (2, 1), (1, 2)):
            client = stack.enter_context(_workers(*which))
            held[which] = client, _spread(X, copies)
            found[which] = {name: [] for name in tasks}
            for task in tasks.values():
                task(held[which][1], labels)  # compiles, and opens the connections
        rounds = stack.enter_context(_counted())
        for _, (name, task) in itertools.product(range(REPEATS), tasks.items()):
            alone[name].append(timing.clock(memory[name]))
            with threads.alone():
                single[name].append(timing.clock(memory[name]))
            for which, (client, there) in held.items():
                rounds.clear()
                before, busy = _loopback(), _processor(client)
                with client.as_current():
                    found[which][name].append(timing.clock(partial(task, there, labels)))
                traffic.setdefault((name, which[0]), []).append((_loopback() - before) / max(1, len(rounds)))
                spent = [b - a for a, b in zip(busy, _processor(client), strict=True)]
                shares[name, *which] = len(rounds), spent[0], spent[1]
    size = f"{len(y) * copies:,} x {X.shape[1]}"
    for name in tasks:
        one, two, both = (found[which][name] for which in ((1, 1), (2, 1), (1, 2)))
        what = f"{name}, {size}"
        yield faster("cluster", f"{what}: two workers", two, one, "one worker", 1.6)
        gain = f"{median(single[name]) / median(alone[name]):.2f} times as fast"
        said = measured(alone[name]), f"one thread {measured(single[name])}", gain
        yield Row("cluster", f"{what}: memory, all cores", *said)
        yield within("cluster", f"{what}: one worker, two threads", both, alone[name], "memory", 1.3)
        sent = f"{median(traffic[name, 2]):,.0f}"
        yield Row("cluster", f"{what}: bytes per round, two workers", sent, "", "")
        count, away, here = shares[name, 2, 1]
        parts = f"{away:.2f} s on the workers, {here:.2f} s here and in the scheduler"
        yield Row("cluster", f"{what}: processor time, two workers, {count} rounds", parts, "", "")


def files(settings: Settings) -> Iterator[Row]:
    """Measure a verdict on rows in Parquet files, and the check of its proof, with workers of 1 GB each."""
    import dask.dataframe as dd

    X, y = _rows(settings)
    copies = 1 if settings.quick else COPIES
    what = f"{len(y) * copies:,} x {X.shape[1]} in Parquet files, {HOLDERS} workers of 1 GB"
    with TemporaryDirectory() as folder:
        _write(Path(folder), X, y, copies)
        with _workers(HOLDERS, 1, memory="1GB") as client:
            table = dd.read_parquet(folder)
            data = table.drop(columns="label"), table["label"]
            begin = time.perf_counter()
            verdict = sx.separability(*data, quasi=False)
            middle = time.perf_counter()
            holds = bool(sx.verify(verdict.certificate, *data))
            end = time.perf_counter()
            peaks = [each / 1e6 for each in client.run(_peak).values()]
    said = f"{shown(middle - begin)}: {verdict.status}; verified there in {shown(end - middle)}: {holds}"
    yield Row("cluster", f"{what}: verdict", said, "", "", "verified", holds)
    each = ", ".join(f"{peak:.0f}" for peak in sorted(peaks))
    yield Row(
        "cluster", f"{what}: most memory of a worker", f"{each} MB", "", "", "< 1000", max(peaks) < 1000
    )


def _write(folder: Path, X: Any, y: Any, copies: int) -> None:
    """The rows, many times over, as Parquet files."""
    import pandas as pd

    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])]).assign(label=y)
    for number, part in enumerate(np.array_split(np.arange(len(frame)), FILES)):
        for copy in range(copies):
            frame.iloc[part].to_parquet(folder / f"{copy:02d}-{number}.parquet")


def _peak() -> int:
    """Return the peak memory of this process in bytes, or zero if it is unknown.

    ``getrusage`` is not used, because its value begins with the memory of the process that started this one.
    """
    try:
        lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)


def _processor(client: Any) -> tuple[float, float]:
    """Processor time of all workers, and of this process, in which the scheduler runs."""
    return sum(client.run(time.process_time).values()), time.process_time()


def errors(settings: Settings) -> Iterator[Row]:
    """Seconds to a held-out error."""
    X, y = _rows(settings)
    with _workers(2, 1):
        yield from _contest(X, y, 1 if settings.quick else COPIES, settings)


def _tasks(quick: bool) -> dict[str, Callable[[Any, Any], Any]]:
    weights = np.random.default_rng(0).standard_normal(55)

    def scans(X: Any, y: Any) -> None:
        rows, _, _ = inputs.read_training_anywhere(sx.Perceptron(), X, y, None)
        for _ in range(2 if quick else ROUNDS):
            rows.scan(weights, 2000)

    return {
        f"{ROUNDS} scans": scans,
        f"mixed perceptron, {EPOCHS} epochs": lambda X, y: sx.Perceptron(order="mixed", max_iter=EPOCHS).fit(
            X, y
        ),
        "verdict with certificate": lambda X, y: sx.separability(X, y, quasi=False),
    }


def _contest(X: Any, y: Any, copies: int, settings: Settings) -> Iterator[Row]:
    """Seconds to a held-out error: ours and dask-ml on two workers, scikit-learn in one process."""
    order = np.random.default_rng(1).permutation(len(y))
    tested, kept = np.sort(order[: min(TESTED, len(y) // 4)]), np.sort(order[min(TESTED, len(y) // 4) :])
    scale = X[kept].std(axis=0)
    ready = ((X - X[kept].mean(axis=0)) / np.where(scale > 0, scale, 1)).astype(np.float32)
    known, labels, unseen, truth = ready[kept], y[kept], ready[tested], y[tested]
    whole, whole_labels = np.tile(known, (copies, 1)), np.tile(labels, copies)
    shuffle = np.random.default_rng(2).permutation(len(whole_labels))
    whole, whole_labels = whole[shuffle], whole_labels[shuffle]
    goal = _error(SGDClassifier(random_state=0).fit(known, labels), unseen, truth) + SLACK
    import dask.array as da

    size = -(-len(whole_labels) // BLOCKS)
    there = da.from_array(whole, chunks=(size, X.shape[1])).persist()
    there_labels = da.from_array(whole_labels, chunks=size).persist()
    from distributed import wait

    wait([there, there_labels])

    def stream(epochs: int) -> Any:
        model = SGDClassifier(average=True, random_state=0)
        for _ in range(epochs):
            model.partial_fit(whole, whole_labels, classes=[0, 1])
        return model

    def incremental(epochs: int) -> Any:
        from dask_ml.wrappers import Incremental

        model = Incremental(SGDClassifier(average=True, random_state=0), shuffle_blocks=False)
        for _ in range(epochs):
            model.partial_fit(there, there_labels, classes=[0, 1])
        return model.estimator_

    cost = 1e4 / len(whole_labels)  # the objective of SGDClassifier, whose alpha is 1e-4
    contenders: dict[str, Callable[[int], Any]] = {
        "Perceptron(order='mixed', average=True)": lambda epochs: sx.Perceptron(
            order="mixed", average=True, max_iter=epochs
        ).fit(there, whole_labels),
        "Perceptron(order='working_set')": lambda epochs: sx.Perceptron(max_iter=epochs).fit(
            there, whole_labels
        ),
        f"SoftMargin(C={cost:.2g}, gap=0.1)": lambda _: sx.SoftMargin(C=cost, gap=0.1).fit(
            there, whole_labels
        ),
        "dask-ml": incremental,
        "scikit-learn": stream,
    }
    outcomes = {}
    for name, fit in contenders.items():
        outcomes[name] = _until(fit, goal, unseen, truth, settings)
    peers = {name: outcomes[name] for name in ("dask-ml", "scikit-learn")}
    against = "; ".join(f"{_called(name)} {text}" for name, (_, text) in peers.items())
    reached = [seconds for seconds, _ in peers.values() if seconds]
    for name in list(contenders)[:3]:
        seconds, text = outcomes[name]
        ratio = (
            f"{min(map(median, reached)) / median(seconds):.2f} times as fast as the best"
            if seconds and reached
            else ""
        )
        yield Row("cluster", f"held-out error {goal:.4f}, two workers: {name}", text, against, ratio)


def _until(
    fit: Callable[[int], Any], goal: float, unseen: Any, truth: Any, settings: Settings
) -> tuple[list[float], str]:
    """Return the seconds of the fewest epochs (1, 2, 4, ...) that reach the goal, and a remark."""
    epochs, error = 1, 1.0
    limit = 2 if settings.quick else MOST
    while epochs <= limit:
        begin = time.perf_counter()
        try:
            model = fit(epochs)
        except ImportError:
            return [], "not installed (pip install dask-ml)"
        spent = time.perf_counter() - begin
        error = _error(model, unseen, truth)
        if error <= goal:
            seconds = [spent, *_seconds(partial(fit, epochs), min(2, settings.repeats - 1))]
            return seconds, f"{measured(seconds)} ({epochs} epochs or rounds, error {error:.4f})"
        if spent > settings.peer_seconds:
            break
        epochs *= 2
    return [], f"not reached: error {error:.4f} after {shown(spent)}"


def _error(model: Any, X: Any, y: Any) -> float:
    return float(np.mean(model.predict(X) != y))


def _called(name: str) -> str:
    if name != "dask-ml":
        return name
    try:
        return f"dask-ml {metadata.version('dask-ml')}"
    except metadata.PackageNotFoundError:
        return name


@cache
def _rows(settings: Settings) -> tuple[Any, Any]:
    """Return covtype, class 2 against the rest, or similar rows."""
    path = None if settings.directory is None else settings.directory / "covtype" / "covtype.csv.gz"
    if path is not None and path.exists():
        table = _read(path)
        X, y = table[:, :-1].astype(np.float32), (table[:, -1] == 2).astype(np.int64)
    else:
        random = np.random.default_rng(0)
        X = random.integers(0, 256, (581_012, 54)).astype(np.float32)
        scores = (X - 127.5) @ random.standard_normal(54).astype(np.float32)
        y = (scores + 0.5 * scores.std() * random.standard_normal(len(X)) > 0).astype(np.int64)
    if settings.quick:
        X, y = X[::40], y[::40]
    return np.ascontiguousarray(X), y


def _read(path: Path) -> Any:
    with gzip.open(path, "rt") as text:
        return np.loadtxt(text, delimiter=",", skiprows=1, dtype=np.float32)


def _in_memory(task: Callable[[Any, Any], Any], X: Any, y: Any, copies: int) -> Callable[[], Any]:
    whole = np.tile(X, (copies, 1)), np.tile(y, copies)
    task(X[:5000], y[:5000])  # compiles
    return partial(task, *whole)


def _seconds(task: Callable[[], Any], repeats: int) -> list[float]:
    return [timing.clock(task) for _ in range(repeats)]


@contextmanager
def _workers(number: int, threads: int, memory: str = "6GB") -> Iterator[Any]:
    from distributed import Client, LocalCluster

    options = {"n_workers": number, "threads_per_worker": threads, "dashboard_address": ":0"}
    with LocalCluster(protocol="tcp", memory_limit=memory, **options) as cluster, Client(cluster) as client:
        yield client


def _spread(X: Any, copies: int) -> Any:
    """The rows, many times over, as blocks in the workers' memory."""
    import dask
    import dask.array as da
    from distributed import default_client, wait

    each = BLOCKS // copies if BLOCKS % copies == 0 else 2
    pieces = []
    for piece in np.array_split(X, each):
        there = default_client().scatter(piece, broadcast=True)
        pieces += [
            da.from_delayed(dask.delayed(np.array, pure=False)(there), piece.shape, dtype=piece.dtype)
            for _ in range(copies)
        ]
    order = [piece * copies + copy for copy in range(copies) for piece in range(each)]
    spread = da.concatenate([pieces[place] for place in order]).persist()
    wait(spread)
    return spread


@contextmanager
def _counted() -> Iterator[list[str]]:
    """Yield a list that collects the names of the rounds."""
    rounds: list[str] = []
    plain = BlockMatrix.map

    def watched(self: Any, name: str, *given: Any, **options: Any) -> Any:
        rounds.append(name)
        return plain(self, name, *given, **options)

    with patch.object(BlockMatrix, "map", watched):
        yield rounds


def _loopback() -> int:
    """Return the number of bytes that the loopback device has carried, or zero if it is unknown."""
    try:
        lines = Path("/proc/net/dev").read_text("utf-8").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.strip().startswith("lo:")), 0)


SECTIONS = {"cluster": cluster}
