"""Clocks: interleaved repeats with medians, contests in processes that can be stopped, memory, imports."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
GRACE = 1.0  # seconds beyond the limit for a contender to stop by itself
SETTLE = 0.15  # seconds; threads of OpenBLAS keep a core busy for a tenth of a second after their work


def clock(task: Callable[[], Any]) -> float:
    """Seconds that a call takes."""
    begin = time.perf_counter()
    task()
    return time.perf_counter() - begin


def interleave(tasks: Mapping[str, Callable[[], float]], repeats: int) -> dict[str, list[float]]:
    """Measure every task in turn, and again, so that slow moments of the machine affect all tasks.

    Each finds the cores idle: the one before it may leave threads that wait for more work by spinning.
    """
    found: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(repeats):
        for name, task in tasks.items():
            time.sleep(SETTLE)
            found[name].append(task())
    return found


@dataclass
class Outcome:
    """The result of a contender: its times, and the errors left (None: no answer in time).

    ``cpu`` is the time of all its threads, which a busy machine spoils less.
    """

    seconds: list[float] = field(default_factory=list)
    errors: float | None = None
    cpu: list[float] = field(default_factory=list)
    remark: str = ""

    @property
    def solved(self) -> bool:
        return self.errors is not None and self.errors <= 0

    @property
    def median(self) -> float:
        return median(self.seconds) if self.seconds else float("inf")


def compete(
    contenders: Mapping[str, Callable[[], Callable[[], Any]]],
    check: Callable[[Any], float],
    limit: float,
    rounds: int = 3,
    patience: float = 3.0,
) -> dict[str, Outcome]:
    """Let contenders solve one problem in turn, each in a separate process with a time limit.

    A contender is a function that prepares its data, outside the clock, and returns the call to be
    timed. One that fails, or takes longer than ``patience`` seconds, has one round only; the first
    contender, whose time is in every ratio, has all of them.
    """
    first = next(iter(contenders))
    outcomes: dict[str, Outcome] = {name: Outcome() for name in contenders}
    for number in range(rounds):
        for name, prepare in contenders.items():
            outcome = outcomes[name]
            if number == 0 or (outcome.solved and (name == first or outcome.median < patience)):
                one_round(outcome, prepare, check, limit)
    return outcomes


def one_round(
    outcome: Outcome, prepare: Callable[[], Callable[[], Any]], check: Callable[[Any], float], limit: float
) -> None:
    """Let one contender solve the problem in a separate process, and record its time."""
    here, there = multiprocessing.Pipe(duplex=False)
    # A fork sees the data without a copy and the loops compiled; only what it writes is its own.
    process = multiprocessing.get_context("fork").Process(target=_child, args=(there, prepare, check))
    process.start()
    there.close()
    try:
        here.poll(None)
        remark = here.recv()
        if remark:
            outcome.remark = remark
            return
        while here.poll(limit + GRACE):
            message = here.recv()
            if message is None:
                return
            seconds, cpu, outcome.errors = message
            outcome.seconds.append(seconds)
            outcome.cpu.append(cpu)
        outcome.remark = f"no answer in {limit:g} s"
    except EOFError:
        outcome.remark = outcome.remark or "process died"
    finally:
        process.kill()
        process.join()


def _child(pipe: Any, prepare: Callable[[], Callable[[], Any]], check: Callable[[Any], float]) -> None:
    """Solve once; if that took almost no time, solve once more to warm up, and then several times to
    measure."""
    warnings.simplefilter("ignore")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        solve = prepare()
    except ImportError as missing:
        pipe.send(str(missing))
        return
    pipe.send("")
    spent, runs = 0.0, 0
    answer = None
    while runs < 1 or (runs < 6 and spent + spent / runs < 0.5):
        begin, worked = time.perf_counter(), time.process_time()
        answer = solve()
        seconds, cpu = time.perf_counter() - begin, time.process_time() - worked
        spent, runs = spent + seconds, runs + 1
        if runs > 1 or seconds > 0.1:
            pipe.send((seconds, cpu, check(answer)))
    pipe.send(None)


def python(code: str, *, cache: str | None = None, timeout: float = 300.0) -> Any:
    """Run code in a new interpreter; return what it printed last, read as JSON."""
    paths = [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = cache
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


MEMORY_CODE = """
import json, numpy as np, separatrix as sx
def status(name):
    for line in open("/proc/self/status"):
        if line.startswith(name):
            return int(line.split()[1]) * 1024
random = np.random.default_rng(0)
def fill(rows):
    X = np.empty((rows, {columns}), dtype="{dtype}")
    y = np.empty(rows, dtype=np.int64)
    for start in range(0, rows, 4096):
        part = X[start:start + 4096]
        if part.dtype == np.uint8:
            part[...] = random.integers(0, 256, part.shape, dtype=np.uint8)
        else:
            part[...] = random.standard_normal(part.shape)
        centered = part[:, :4].astype(float).sum(axis=1) - (510.0 if part.dtype == np.uint8 else 0.0)
        y[start:start + 4096] = np.where((centered > 0) ^ (random.random(len(part)) < 0.05), 1, -1)
    return X, y
sx.Perceptron({options}).fit(*fill(5000))
X, y = fill({rows})
before = status("VmRSS")
open("/proc/self/clear_refs", "w").write("5")
model = sx.Perceptron({options}).fit(X, y)
print(json.dumps([status("VmHWM") - before, X.nbytes, X.size, model.n_iter_]))
"""


def added_memory(rows: int, columns: int, dtype: str, options: str) -> list[int]:
    """Fit in a separate process: bytes added at the peak, bytes and values of the array, passes made."""
    code = MEMORY_CODE.format(rows=rows, columns=columns, dtype=dtype, options=options)
    found: list[int] = python(code)
    return found
