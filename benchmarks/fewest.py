"""The fewest errors of any hyperplane: proved brackets, beside two mixed-integer programs.

Each contender gets the same processor time, so that the load of the machine does not matter.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import highspy
import numpy as np
import pandas as pd
from sklearn.datasets import load_iris, load_svmlight_file

import separatrix as sx

from .table import Row, Settings

SECONDS = 60.0  # of processor time, for each contender; a tenth of a second if quick
MARGIN = 1e-5  # the smallest score that counts as right in the program with big constants
Bracket = tuple[float, float]


def fewest(settings: Settings) -> Iterator[Row]:
    """Yield the bracket of each set, and what the other methods reach in the same time."""
    seconds = 0.1 if settings.quick else SECONDS
    for name, read, target in _sets(settings.directory):
        X, y = read()
        found, taken = _timed(partial(_ours, X, y, seconds))
        if not sx.verify(found.certificate, X, y):
            raise RuntimeError(f"{name}: the certificate does not hold")
        others = {}
        if len(X) < 5_000:
            others["big-M"] = _timed(partial(big_constants, _signed(X, y), seconds))
            others["Benders"] = _timed(partial(benders, _signed(X, y), seconds))
        ends = (found.lower, found.upper)
        yield Row(
            "fewest",
            f"{name}, {X.shape[0]:,} x {X.shape[1]}",
            f"[{ends[0]:g}, {ends[1]:g}] in {taken:.1f} s",
            "; ".join(
                f"{each} [{low:g}, {high:g}] in {cpu:.1f} s" for each, ((low, high), cpu) in others.items()
            ),
            f"n / (d + 2) = {found.ceiling:.1f}",
            f"[{target[0]}, {target[1]}]",
            ends[0] >= target[0] and ends[1] <= target[1],
        )


def _timed(task: Callable[[], Any]) -> tuple[Any, float]:
    begin = time.process_time()
    return task(), time.process_time() - begin


def _ours(X: Any, y: Any, seconds: float) -> sx.FewestErrors:
    """Interrupt the search after some seconds of processor time: it returns what is proved by then."""
    before = signal.signal(signal.SIGPROF, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return sx.fewest_errors(X, y, time_limit=100.0 * seconds)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def _signed(X: Any, y: Any) -> Any:
    """The different signed rows, of length one, and how often each occurs in the last column."""
    signs = np.where(np.asarray(y) == np.max(y), 1.0, -1.0)
    rows, counts = np.unique(
        np.column_stack([X, np.ones(len(X))]) * signs[:, None], axis=0, return_counts=True
    )
    return np.column_stack([rows / np.abs(rows).sum(axis=1, keepdims=True), counts])


def _solver(end: float) -> Any:
    """A silent solver on one thread that stops when this process has used so much processor time."""
    solver = highspy.Highs()
    for option, value in {"output_flag": False, "threads": 1}.items():
        solver.setOptionValue(option, value)

    def look(event: Any) -> None:
        if time.process_time() > end:
            event.interrupt()

    solver.cbMipInterrupt += look
    solver.cbSimplexInterrupt += look
    return solver


def big_constants(Z: Any, seconds: float) -> Bracket:
    """``min sum c_i e_i, <w, z_i> + M e_i >= m, |w_j| <= 1``, with e_i in {0, 1}, by HiGHS."""
    rows, costs = Z[:, :-1], Z[:, -1]
    size, width = rows.shape
    solver = _solver(time.process_time() + seconds)
    solver.addVars(width, -np.ones(width), np.ones(width))
    solver.addVars(size, np.zeros(size), np.ones(size))
    places = np.arange(width, width + size, dtype=np.int32)
    solver.changeColsCost(size, places, costs)
    solver.changeColsIntegrality(size, places, np.full(size, highspy.HighsVarType.kInteger))
    for i, row in enumerate(rows):
        columns = np.append(np.arange(width), width + i).astype(np.int32)
        solver.addRow(MARGIN, np.inf, width + 1, columns, np.append(row, 1.0 + MARGIN))
    solver.run()
    found = solver.getInfo()
    return max(0.0, np.ceil(found.mip_dual_bound - 1e-6)), float(found.objective_function_value)


def benders(Z: Any, seconds: float) -> Bracket:
    """Combinatorial Benders: hit all witnesses found, find one that is not hit, and repeat."""
    rows, costs = Z[:, :-1], Z[:, -1]
    size = len(rows)
    every, end = np.arange(size, dtype=np.int32), time.process_time() + seconds
    sets: list[Any] = []
    lower = 0.0
    pricing = _solver(end)
    pricing.addVars(size, np.zeros(size), np.full(size, np.inf))
    for column in rows.T:
        pricing.addRow(0.0, 0.0, size, every, np.ascontiguousarray(column))
    pricing.addRow(1.0, 1.0, size, every, np.ones(size))
    while time.process_time() < end:
        master = _solver(end)
        master.addVars(size, np.zeros(size), np.ones(size))
        master.changeColsCost(size, every, costs)
        master.changeColsIntegrality(size, every, np.full(size, highspy.HighsVarType.kInteger))
        for each in sets:
            master.addRow(1.0, np.inf, len(each), each, np.ones(len(each)))
        master.run()
        lower = max(lower, np.ceil(master.getInfo().mip_dual_bound - 1e-6))
        if master.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            break
        solution = np.round(np.asarray(master.getSolution().col_value))
        hit, known = solution.copy(), len(sets)
        for _ in range(20):  # several witnesses for each solution of the master
            pricing.changeColsCost(size, every, hit)
            pricing.run()
            support = np.flatnonzero(np.asarray(pricing.getSolution().col_value) > 1e-9).astype(np.int32)
            if pricing.getInfo().objective_function_value > 1e-9 or not support.size:
                break
            sets.append(support)
            hit[support] = 1.0
        if len(sets) == known:  # no witness avoids the solution: without its rows, the others are separable
            return lower, float(costs @ solution)
    return lower, np.inf


def _sets(directory: Path | None) -> Iterator[tuple[str, Callable[[], tuple[Any, Any]], tuple[int, int]]]:
    iris = load_iris()
    kept = iris.target > 0
    yield "iris 2-3", lambda: (iris.data[kept], iris.target[kept]), (1, 1)
    yield "planted, 100 of 20,000", partial(_planted, 10), (100, 100)
    yield "planted, 100 of 20,000", partial(_planted, 50), (69, 100)
    if directory is None:
        return
    small = directory / "small"
    yield "BreastCancer", lambda: _table(small / "BreastCancer.csv", slice(1, 10), "Class"), (11, 11)
    yield "Ionosphere", lambda: _table(small / "Ionosphere.csv", slice(0, 34), "Class"), (6, 6)
    yield "Pima", lambda: _table(small / "PimaIndiansDiabetes.csv", slice(0, 8), "diabetes"), (85, 148)
    yield "heart", lambda: _heart(small / "heart_scale"), (17, 24)
    yield "German credit", lambda: _german(directory / "credit" / "german.csv"), (20, 144)
    separation = directory / "separation"
    names = ["NV", "PI", "EH", "HG"]
    yield "endometrial", lambda: _table(separation / "endometrial.csv", slice(0, 3), "HG", names), (8, 8)
    yield "lizards", lambda: _lizards(separation / "lizards.csv"), (133, 133)
    yield "sex2", lambda: _table(separation / "sex2.csv", slice(1, 7), "case"), (82, 82)
    yield "silvapulle", lambda: _table(separation / "silvapulle1981.csv", slice(1, 2), "y"), (1, 1)


def _table(path: Path, columns: slice, target: str, order: list[str] | None = None) -> tuple[Any, Any]:
    frame = pd.read_csv(path).dropna()
    frame = frame if order is None else frame[order]
    return frame.iloc[:, columns].to_numpy(dtype=float), frame[target].to_numpy()


def _heart(path: Path) -> tuple[Any, Any]:
    X, y = load_svmlight_file(str(path))
    return X.toarray(), y


def _german(path: Path) -> tuple[Any, Any]:
    frame = pd.read_csv(path, header=None)
    coded = pd.get_dummies(frame.drop(columns=[20]), drop_first=True)
    return coded.to_numpy(dtype=float), frame[20].to_numpy()


def _lizards(path: Path) -> tuple[Any, Any]:
    frame = pd.read_csv(path)
    X = pd.get_dummies(frame.iloc[:, 2:], drop_first=True).to_numpy(dtype=float)
    counts = frame.iloc[:, :2].to_numpy(dtype=int).T
    return np.vstack([X.repeat(each, axis=0) for each in counts]), np.repeat([1, 0], counts.sum(axis=1))


def _planted(columns: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(20_000, columns)), rng.normal(size=columns)
    y = (X @ w > 0).astype(int)
    y[rng.choice(y.size, 100, replace=False)] ^= 1
    return X, y


NOTES = ("fewest: proved brackets in the same processor time; big-M and Benders are HiGHS on one thread",)
SECTIONS: dict[str, Callable[[Settings], Iterator[Row]]] = {"fewest": fewest}
