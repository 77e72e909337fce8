"""Two checkouts of this project side by side: does a change cost time?

python -m benchmarks.two_trees --old CHECKOUT [--data DIR] [--only SECTION ...] [--pairs N]

Each tree works in a separate process, which makes the data, compiles, and then runs one case at a time on
request. The two take turns; which of them is first in a pair alternates. The table shows the median of the
ratios, new to old, and an interval that contains the median of their distribution with a probability of 90%.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from . import data
from .files import _write_large
from .table import median_interval

ROOT = Path(__file__).resolve().parent.parent
ROWS = 200_000
LONG = 20.0  # seconds of one case in one tree; a longer case has the fewest pairs
FEWEST = 3
SHORT = 2.0  # seconds of one case in one tree until which pairs are added: short cases need many
MOST = 101
ALLOWED = 1.05

Case = tuple[str, Callable[[], Any]]


def cases(section: str, directory: Path | None) -> Iterator[Case]:
    """The cases of a section, each with the call that is timed; data are made when they are needed."""
    makers = {"pass": _pass, "zero": _zero, "verify": _verify, "verdict": _verdict}
    yield from {**makers, "margin": _margin, "soft": _soft}[section](directory)


def _pass(directory: Path | None) -> Iterator[Case]:
    import separatrix as sx

    def passes(X: Any, y: Any, many: int, **options: Any) -> Callable[[], Any]:
        limit = "max_iter" if "max_iter" in sx.Perceptron().get_params() else "max_passes"  # of older trees
        return lambda: sx.Perceptron(order="cyclic", **{limit: many}, **options).fit(X, y)

    hard = data.normal(ROWS, 100, 0.01)
    yield "dense float64, 9 passes", passes(hard.X, hard.y, 9)
    yield "dense float32, 9 passes", passes(hard.X.astype(np.float32), hard.y, 9)
    problem, start = data.nearly_solved(ROWS, 100, flipped=20)
    yield "dense float64, few mistakes, 9 passes", passes(problem.X, problem.y, 9, init=start)
    mail = data.real_set(directory, "enron")
    if mail is not None:
        mail = data.shuffled(mail)
        yield "Enron, CSR, 3 passes", passes(mail.X, mail.y, 3)


def _zero(directory: Path | None) -> Iterator[Case]:
    import separatrix as sx

    def fit(problem: data.Problem) -> Case:
        return f"{problem.name}, {problem.shape}", lambda: sx.Perceptron().fit(problem.X, problem.y)

    for margin in data.MARGINS:
        yield fit(data.ball(ROWS, 100, margin))
        yield fit(data.normal(ROWS, 100, margin))
    for problem in data.real_sets(directory):
        yield fit(problem)


def _verify(directory: Path | None) -> Iterator[Case]:
    import separatrix as sx

    problem = data.normal(ROWS, 100, 0.01)
    certificate = sx.separability(problem.X, problem.y, quasi=False).certificate
    yield "the proof", lambda: sx.verify(certificate, problem.X, problem.y, same_data=False)
    yield "the proof and SHA-256", lambda: sx.verify(certificate, problem.X, problem.y)


def _verdict(directory: Path | None) -> Iterator[Case]:
    import separatrix as sx

    for margin in data.MARGINS:
        plain = data.normal(ROWS, 100, margin)
        yield plain.name, lambda plain=plain: sx.separability(plain.X, plain.y, quasi=False)
        y = plain.y.copy()
        y[np.random.default_rng(1).choice(y.size, 3, replace=False)] *= -1
        yield f"{plain.name}, flipped", lambda plain=plain, y=y: sx.separability(plain.X, y, quasi=False)
    small = data.normal(200, 4, 0.1)
    yield "200 x 4, all of the verdict", lambda: sx.separability(small.X, small.y)


def _margin(directory: Path | None) -> Iterator[Case]:
    import separatrix as sx

    def fit(problem: data.Problem) -> Case:
        return f"{problem.name}, {problem.shape}", lambda: sx.MaxMargin().fit(problem.X, problem.y)

    for margin in data.MARGINS:
        yield fit(data.ball(20_000, 50, margin))
        yield fit(data.ball(ROWS, 100, margin))
    for margin in data.MARGINS[:2]:
        yield fit(data.normal(20_000, 1_000, margin))
    for problem in data.real_sets(directory, ("sms-spam", "golub", "mushrooms", "enron")):
        yield fit(problem)


def _soft(directory: Path | None) -> Iterator[Case]:
    from sklearn.datasets import load_digits

    import separatrix as sx

    def fit(name: str, X: Any, y: Any, **options: Any) -> Case:
        return name, lambda: sx.SoftMargin(**options).fit(X, y)

    new = "fit_intercept" in sx.SoftMargin().get_params()
    for intercept in ("lifted", "free"):
        option: dict[str, Any] = {"intercept": intercept}  # of older trees
        if new:
            option = {"fit_intercept": True if intercept == "free" else "lifted"}
        problem = data.normal(20_000, 50, 0.01)
        noisy = np.where(np.arange(problem.y.size) % 20 == 0, 1 - problem.y, problem.y)
        yield fit(f"noisy labels, {problem.shape}, {intercept}", problem.X, noisy, **option)
    X, y = load_digits(return_X_y=True)
    yield fit("digits, 10 classes", X, y, C=0.01)
    yield fit("digits, even or odd", X, y % 2, C=0.01)
    yield fit("digits, 100 rows", X[:100], y[:100] % 2)
    for problem in data.real_sets(directory, ("sms-spam", "enron")):
        yield fit(f"{problem.name}, {problem.shape}", problem.X, problem.y)


SECTIONS = ("pass", "zero", "verify", "verdict", "margin", "soft", "files")


def work(section: str, directory: str) -> None:
    """Work for one tree: name each case, run it once, and then as often as the other process asks."""
    warnings.simplefilter("ignore")
    out, sys.stdout = sys.stdout, sys.stderr
    for name, task in cases(section, Path(directory) if directory else None):
        task()  # compiles
        print(json.dumps(name), file=out, flush=True)
        while sys.stdin.readline().strip() == "run":
            begin, worked = time.perf_counter(), time.process_time()
            task()
            seconds = time.perf_counter() - begin, time.process_time() - worked
            print(json.dumps(seconds), file=out, flush=True)
    print(json.dumps(None), file=out, flush=True)


class Tree:
    """A checkout and the processes that run in it."""

    def __init__(self, checkout: Path, cache: str) -> None:
        self.checkout = checkout
        paths = os.pathsep.join([str(checkout / "src"), str(checkout)])
        self.environment = {**os.environ, "PYTHONPATH": paths, "NUMBA_CACHE_DIR": cache}
        self.process: Any = None

    def start(self, section: str, directory: Path | None) -> None:
        code = (
            "import importlib.util, sys; "
            "spec = importlib.util.spec_from_file_location('benchmarks.two_trees', sys.argv[1]); "
            "module = importlib.util.module_from_spec(spec); sys.modules['benchmarks.two_trees'] = module; "
            "spec.loader.exec_module(module); module.work(*sys.argv[2:])"
        )
        command = [sys.executable, "-c", code, __file__, section, str(directory or "")]
        self.process = subprocess.Popen(
            command, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def hear(self) -> Any:
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the worker of {self.checkout} ended")
        return json.loads(line)

    def say(self, word: str) -> None:
        print(word, file=self.process.stdin, flush=True)

    def run(self) -> tuple[float, float]:
        self.say("run")
        seconds, cpu = self.hear()
        return seconds, cpu

    def job(self, *command: object) -> tuple[float, float]:
        """Run one job of the files section in a separate process; return seconds and CPU seconds."""
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "benchmarks.files", *map(str, command)],
            env=self.environment,
            cwd=self.checkout,
            capture_output=True,
            text=True,
            check=True,
        )
        _, seconds, cpu, _ = map(float, done.stdout.split())
        return seconds, cpu


def compare(old: Tree, new: Tree, measure: Callable[[Tree], tuple[float, float]], pairs: int) -> str:
    """Measure in turn; the ratios by seconds and by CPU seconds."""
    found: dict[Tree, list[tuple[float, float]]] = {old: [], new: []}
    spent = 0.0
    for number in range(MOST):
        for tree in (old, new) if number % 2 else (new, old):
            found[tree].append(measure(tree))
        spent += found[old][-1][0]
        if spent > (SHORT if number + 1 >= pairs else LONG) and number + 1 >= FEWEST:
            break
    told = [f"{median(each[0] for each in found[tree]):9.4f} s" for tree in (old, new)]
    for kind in (0, 1):
        ratios = [a[kind] / b[kind] for a, b in zip(found[new], found[old], strict=True)]
        low, high = median_interval(ratios)
        verdict = "" if kind else "  slower" if low > ALLOWED else "  ok" if high <= ALLOWED else "  open"
        told.append(f"{median(ratios):.3f} ({low:.3f} to {high:.3f}){verdict}")
    return "  ".join([*told, f"{len(found[old])} pairs"])


def _files(old: Tree, new: Tree, directory: Path | None, pairs: int) -> None:
    from .files import _write_online

    with tempfile.TemporaryDirectory(prefix="separatrix-bench-") as folder:
        place, jobs = Path(folder), {}
        if directory is not None:
            csv, parquet, svm = place / "covtype.csv", place / "covtype.parquet", place / "enron.svm"
            _write_online(place, directory, csv, parquet, svm)
            jobs["learn covtype from CSV"] = ("learn", csv, "Cover_Type")
            jobs["learn covtype from Parquet"] = ("learn", parquet, "Cover_Type")
            jobs["learn Enron from LIBSVM"] = ("learn", svm, "label")
            jobs["predict covtype from CSV"] = ("predict", csv, "Cover_Type")
        large = place / "large.parquet"
        _write_large(large, 4 * 256 * 10**6 // 800)
        jobs["one pass over 1 GB of Parquet"] = ("learn", large, "y")
        jobs["check of 1 GB, 256 MB allowed"] = ("check", large, 256 * 10**6)
        jobs["fit of 1 GB, 256 MB allowed"] = ("fit", large, 256 * 10**6)
        for name, job in jobs.items():
            for tree in (old, new):
                tree.job(*job)  # compiles
            print(
                f"files    {name:45} {compare(old, new, lambda tree, job=job: tree.job(*job), pairs)}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.two_trees", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "--old", type=Path, required=True, metavar="CHECKOUT", help="the tree to compare with"
    )
    parser.add_argument("--data", type=Path, metavar="DIR", help="directory with the real sets")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS, metavar="SECTION")
    parser.add_argument(
        "--pairs", type=int, default=11, help="pairs a case; long cases get fewer, short ones more"
    )
    options = parser.parse_args()
    print(f"old and new in turn: medians; ratios new to old with an interval; ok: at most {ALLOWED}")
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        old, new = Tree(options.old.resolve(), first), Tree(ROOT, second)
        for section in options.only:
            if section == "files":
                _files(old, new, options.data, options.pairs)
                continue
            for tree in (old, new):
                tree.start(section, options.data)
            while (name := old.hear()) is not None:
                if new.hear() != name:
                    raise RuntimeError(f"the trees disagree on the cases of {section}")
                print(f"{section:8} {name:45} {compare(old, new, Tree.run, options.pairs)}", flush=True)
                for tree in (old, new):
                    tree.say("next")
            new.hear()


if __name__ == "__main__":
    main()
