"""The kernel perceptron against support vector machines, and on an endless stream with a budget.

    python -m benchmarks.kernels --data DIR [--only mnist,stream] [--rows 60000] [--intelex DIR]
        [--stream-rows 1000000] [--budget 500]

DIR holds ``mnist/`` with the four idx.gz files; without it only the stream is measured. Contenders:
scikit-learn's SVC and, where it can be imported, scikit-learn-intelex's (``--intelex`` names a directory to
import it from), both with the kernel (1 + <x, x'>)^4 on the same scaled pixels and C = 10. Each contender has
a process of its own, whose peak memory is told, data included. A fit of minutes is timed once; compiling and
reading files are outside the clock, and so is the test set, on which errors are counted. For the speed of
predictions at equal support, the perceptron also predicts with as many rows of support as each SVC has.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numba
import numpy as np
import sklearn
from sklearn.svm import SVC

import separatrix as sx
from benchmarks.data import mnist
from separatrix.algorithms.kernel_perceptron import Expansion

DEGREE = 4
SCALE = 2.5  # what the held-out images chose in mnist_kernel_perceptron
C = 10.0
SECTIONS = ("mnist", "stream")
NAMES = {
    "one": "KernelPerceptron, 1 pass, averaged",
    "ten": "KernelPerceptron, 10 passes, averaged",
    "intelex": "scikit-learn-intelex SVC(C=10)",
    "sklearn": "scikit-learn SVC(C=10)",
    "padded": "KernelPerceptron with their support",
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="directory with mnist/ inside (idx.gz files)")
    parser.add_argument("--only", default=",".join(SECTIONS))
    parser.add_argument("--rows", type=int, default=60_000, help="training images to learn from")
    parser.add_argument("--intelex", type=Path, help="directory that holds sklearnex, if not installed")
    parser.add_argument("--stream-rows", type=int, default=1_000_000, help="for random; others have a fifth")
    parser.add_argument("--budget", type=int, default=500)
    parser.add_argument("--contender", choices=NAMES, help=argparse.SUPPRESS)
    parser.add_argument("--support", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.contender:
        print(json.dumps(compete(options)))
        return
    print(
        f"separatrix {sx.__version__}, scikit-learn {sklearn.__version__}, numpy {np.__version__}, "
        f"numba {numba.__version__}, {platform.machine()}; compilation is outside the clock",
        flush=True,
    )
    wanted = options.only.split(",")
    if options.data is None:
        print("no --data: MNIST is left out")
    elif "mnist" in wanted:
        against_machines(options)
    if "stream" in wanted:
        warm_up()
        stream(options.stream_rows, options.budget, "random")
        for removal in ("forgetron", "projection"):
            stream(options.stream_rows // 5, options.budget, removal)


def warm_up() -> None:
    """Compile the loops."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 3)), rng.integers(0, 3, 50)
    for average in (False, "voted"):
        sx.KernelPerceptron("poly", average=average, max_passes=2).fit(X, y).predict(X)


def clocked(work):
    """The result, the seconds on the wall and those of the processor."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, time.perf_counter() - wall, time.process_time() - cpu


def against_machines(options) -> None:
    """Run each contender by itself and print what it told."""
    kernel = sx.kernels.Polynomial(DEGREE)
    print(f"\nMNIST, {options.rows:,} training images, 10 classes, {kernel}, pixels / {255.0 * SCALE:g}")
    found = {name: told(options, name) for name in ("one", "ten", "intelex", "sklearn")}
    for support in {found[name]["support"] for name in ("intelex", "sklearn") if found[name]}:
        told(options, "padded", support=support)
    for name in ("intelex", "sklearn"):
        if found[name] and found["one"] and found["ten"]:
            ratios = [found[name]["fit"] / found[passes]["fit"] for passes in ("one", "ten")]
            print(
                f"  the fit of {NAMES[name]} takes {ratios[0]:.1f} times as long as one pass, "
                f"{ratios[1]:.1f} times as long as ten"
            )


def told(options, contender: str, support: int = 0) -> dict[str, Any] | None:
    """Run one contender in a new process and print its line; None where it cannot run."""
    command = [sys.executable, "-m", "benchmarks.kernels", "--contender", contender]
    command += ["--data", str(options.data), "--rows", str(options.rows), "--support", str(support)]
    environment = dict(os.environ)
    if contender == "intelex" and options.intelex:
        paths = [str(options.intelex), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment["PYTHONPATH"] = os.pathsep.join(paths)
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1:] or [f"it ended with code {done.returncode}"]
        print(f"  {NAMES[contender]} is left out: {reason[0]}", flush=True)
        return None
    line: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    fitted = f"{line['fit']:8.1f} s (cpu {line['cpu']:.1f})" if line["fit"] else " " * 10
    print(
        f"  {NAMES[contender]:<40}{fitted} support {line['support']:,}, peak memory {line['peak']:.2f} GB",
        flush=True,
    )
    for dtype, (wall, cpu, error) in line["predictions"].items():
        wrong = f"error {error:.2f} %, " if fitted.strip() else ""
        print(
            f"      predict in {dtype}: {wrong}{line['test_rows'] / wall:,.0f} rows/s (cpu {cpu:.1f} s)",
            flush=True,
        )
    return line


def compete(options) -> dict[str, Any]:
    """Fit and predict as one contender: seconds, support, errors and the largest memory of this process."""
    images, digits = mnist(options.data / "mnist" / "train-images-idx3-ubyte.gz")
    test, test_digits = mnist(options.data / "mnist" / "t10k-images-idx3-ubyte.gz")
    X, digits = images[: options.rows] / (255.0 * SCALE), digits[: options.rows]
    Xt = test / (255.0 * SCALE)
    shape = {"kernel": "poly", "degree": DEGREE, "gamma": 1.0, "coef0": 1.0, "C": C, "cache_size": 1000}
    ours = options.contender in ("one", "ten", "padded")
    if ours:
        warm_up()
        passes = 10 if options.contender == "ten" else 1
        model = sx.KernelPerceptron(
            sx.kernels.Polynomial(DEGREE), fit_intercept=False, average="averaged", max_passes=passes
        )
    elif options.contender == "intelex":
        from sklearnex.svm import SVC as Accelerated

        model = Accelerated(**shape)
    else:
        model = SVC(**shape)
    wall = cpu = 0.0
    if options.contender == "padded":
        pad(model.fit(X[:1000], digits[:1000]), X, digits, options.support)
    else:
        _, wall, cpu = clocked(lambda: model.fit(X, digits))
    predictions = {}
    for dtype in ("float64", "float32") if ours else ("float64",):
        asked = model.set_params(dtype=dtype) if ours else model
        answer, seconds, spent = clocked(lambda asked=asked: asked.predict(Xt))
        predictions[dtype] = seconds, spent, 100.0 * float(np.mean(answer != test_digits))
    return {
        "fit": wall,
        "cpu": cpu,
        "support": int(model.support_.size),
        "predictions": predictions,
        "test_rows": len(Xt),
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }


def pad(model, X, digits, size: int) -> None:
    """Give a model the first rows as support, as if each had been mistaken once: for timing alone."""
    machine, every = Expansion(model._machine.similarity, 10), np.arange(size)
    entries = np.column_stack([digits[:size], (digits[:size] + 1) % 10, every])
    machine.extend(X[:size], every, every, entries, np.ones(size))
    model._machine, model.support_, model.dual_coef_ = machine, every, machine.coef[:size].copy()


def stream(n_rows: int, budget: int, removal: str, n_columns: int = 10, piece: int = 10_000) -> None:
    """Two rings of Gaussian noise that never end: rows a second, memory, and mistakes beside no budget."""
    first = min(50_000, n_rows)
    piece = min(piece, first)

    def pieces():
        rng = np.random.default_rng(0)
        for _ in range(n_rows // piece):
            y = rng.integers(0, 2, piece)
            X = rng.standard_normal((piece, n_columns))
            X *= ((1.0 + 1.0 * y) * (1.0 + 0.15 * rng.standard_normal(piece)) / np.linalg.norm(X, axis=1))[
                :, None
            ]
            yield X, y

    kernel = sx.kernels.Gaussian(0.5)
    model = sx.KernelPerceptron(kernel, budget=budget, removal=removal, random_state=0)
    seconds, memory, early = 0.0, [], 0
    for number, (X, y) in enumerate(pieces(), start=1):
        _, wall, _ = clocked(lambda X=X, y=y: model.partial_fit(X, y, classes=[0, 1]))
        seconds += wall
        if number * piece == first:
            early, at_first = model.mistakes_, seconds
        if number * piece in (first, n_rows):
            memory.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3)
    free, wall = sx.KernelPerceptron(kernel), 0.0
    for number, (X, y) in enumerate(pieces(), start=1):
        _, spent, _ = clocked(lambda X=X, y=y: free.partial_fit(X, y, classes=[0, 1]))
        wall += spent
        if number * piece >= first:
            break
    print(
        f"\nstream of {n_rows:,} x {n_columns}, {kernel}, budget {budget}, {removal}: "
        f"{n_rows / seconds:,.0f} rows/s, {model.mistakes_:,} mistakes\n"
        f"  peak memory {memory[0]:.1f} MB after {first:,} rows and {memory[-1]:.1f} MB at the end\n"
        f"  first {first:,} rows: {early:,} mistakes in {at_first:.1f} s; without a budget "
        f"{free.mistakes_:,} mistakes in {wall:.1f} s, support {free.support_.size:,}",
        flush=True,
    )


if __name__ == "__main__":
    main()
