"""Show what is lost without each path: switch it off, or change its constants, and ask the panel again.

python -m benchmarks.ablation --data DIR [--only NAME ...] [--areas AREA ...] [--constants] [--out FILE]

Each configuration runs in a process of its own. It patches one function or some constants, makes the data,
and answers every question of the panel. A question ends with an outcome (a verdict, the width of a bracket,
the number of errors) and its processor time. Each configuration is compared with the unchanged tree, which
runs before and between the others. The table lists every question whose outcome differs, or whose time
differs by more than a tenth and by more than a twentieth of a second.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from separatrix import deadline

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "separatrix"
TIME_LIMIT = 10.0  # seconds of a verdict
EVERY = 8  # configurations between two runs of the unchanged tree
CHANGED, NOTICED = 0.1, 0.05  # part and seconds of processor time from which on a difference is shown

Question = tuple[str, Callable[[], Callable[[], str]]]

# What each switch replaces: "module:attribute" and the value that functions return instead.
# "second" and "last" return that argument unchanged; "without NAME" leaves a strategy out.
SWITCHES: dict[str, dict[str, Any]] = {
    **{
        name: {"separatrix.proofs.prove:STRATEGIES": f"without {name}"}
        for name in (
            "conflicts",
            "perceptron",
            "class subsets",
            "squared hinge loss",
            "sparse elimination",
            "interior point",
            "linear program",
            "exact partition",
        )
    },
    "frequent columns": {"separatrix.proofs.strategies.sparse_elimination:frequent_parts": []},
    "integer simplex": {"separatrix.proofs.strategies.exact_partition:gordan": None},
    "approximate proofs": {"separatrix.proofs.approximate:ApproximateProver.prove": None},
    "relations of columns": {"separatrix.proofs.approximate:ApproximateProver._related": "second"},
    "moved columns": {
        "separatrix.margins.hard.max_margin:far_columns": None,
        "separatrix.margins.soft.soft_margin:far_columns": None,
    },
    "soft by largest margin": {"separatrix.margins.soft.soft_margin:limit_by_largest_margin": "last"},
    "coordinate descent of the hard margin": {"separatrix.margins.hard.max_margin:WIDE": 1 << 62},
    "coordinate descent of the soft margin": {"separatrix.margins.soft.soft_margin:FEW": 1 << 62},
    "threads": {"separatrix.rows.threads:WORTH_A_THREAD": 1 << 62},
    "loops in NumPy": {"separatrix.rows.numpy_loops:FEW": 0, "separatrix.proofs.signed_rows:SMALL": 0},
    "cycles": {"separatrix.perceptron.run:CycleDetector.check": None},
}


def main() -> None:
    options = _options()
    configurations: dict[str, dict[str, Any]] = {}
    if not options.constants:
        configurations = dict(SWITCHES)
    else:
        for name, values in constants(options.modules):
            configurations[f"{name} / 2"] = {key: halved(value) for key, value in values.items()}
            configurations[f"{name} x 2"] = {key: doubled(value) for key, value in values.items()}
    if options.only:
        configurations = {k: v for k, v in configurations.items() if k.startswith(tuple(options.only))}
    plain: list[dict[str, Any]] = [ask({}, options), ask({}, options)]  # the first compiles
    plain.pop(0)
    results = {}
    for number, (name, patch) in enumerate(configurations.items()):
        if number and number % EVERY == 0:
            plain.append(ask({}, options))
        results[name] = ask(patch, options, _areas_of(patch, options.areas))
        print(f"\n{name}", *differences(results[name], plain), sep="\n  ", flush=True)
    if options.out:
        options.out.write_text(json.dumps({"plain": plain, "results": results}, indent=1) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="directory of real sets")
    parser.add_argument("--areas", nargs="+", default=list(PANEL), choices=list(PANEL))
    parser.add_argument("--only", nargs="+", metavar="NAME", help="configurations whose name begins so")
    parser.add_argument("--constants", action="store_true", help="halve and double instead of switching off")
    parser.add_argument("--modules", nargs="+", metavar="MODULE", default=["proofs", "margins", "perceptron"])
    parser.add_argument("--out", type=Path, help="where all outcomes and times go, as JSON")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work is not None:
        work(json.loads(options.work), options.areas, options.data)
        raise SystemExit
    return options


def _areas_of(patch: dict[str, Any], areas: list[str]) -> list[str]:
    """Return the areas whose questions a patch can change: those that use the patched package."""
    packages = {place.split(".")[1] for place in patch}
    own = {"proofs": {"proofs"}, "margins": {"margins", "soft", "kernels"}, "dual": {"kernels"}}
    reached = set().union(*(own.get(package, set(areas)) for package in packages))
    return [area for area in areas if area in reached]


def ask(patch: dict[str, Any], options: argparse.Namespace, areas: list[str] | None = None) -> dict[str, Any]:
    """Return all answers of a process with a patch: the outcome and the processor seconds of each
    question."""
    command = [sys.executable, "-m", "benchmarks.ablation", "--work", json.dumps(patch), "--areas"]
    command += [
        *(options.areas if areas is None else areas),
        *(["--data", str(options.data)] if options.data else []),
    ]
    paths = {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    threads = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}
    environment = {**os.environ, **paths, **threads}
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)
    found = {name: (outcome, cpu) for name, outcome, cpu in map(json.loads, done.stdout.splitlines())}
    if done.returncode:
        found["the process"] = (done.stderr.strip().splitlines()[-1][:100], 0.0)
    return found


def differences(found: dict[str, Any], plain: list[dict[str, Any]]) -> Iterator[str]:
    """Return a line for each question whose answer or time is different."""
    for name in found:
        before = [each[name] for each in plain if name in each]
        if not before:
            yield f"{name}: {found[name][0]}"
            continue
        outcome, cpu = found[name]
        usual = median(seconds for _, seconds in before)
        if outcome not in {each for each, _ in before}:
            yield f"{name}: {before[-1][0]} ({usual:.2f} s) -> {outcome} ({cpu:.2f} s)"
        elif abs(cpu - usual) > max(CHANGED * usual, NOTICED):
            yield f"{name}: {usual:.2f} -> {cpu:.2f} s"


def work(patch: dict[str, Any], areas: list[str], directory: Path | None) -> None:
    """Patch, then answer every question of some areas; a line of JSON for each.

    Time limits are in processor time, on one thread, so that other work on the machine does not change the
    answers.
    """
    warnings.simplefilter("ignore")
    time.monotonic, deadline.slowdown = time.process_time, lambda: 1.0
    for place, value in patch.items():
        _apply(place, value)
    for area in areas:
        for name, made in PANEL[area](directory):
            try:
                task = made()
                begin = time.process_time()
                outcome = task()
            except Exception as problem:  # a path may be needed: that is an outcome
                outcome = type(problem).__name__
            seconds = time.process_time() - begin
            print(json.dumps([f"{area}: {name}", outcome, round(seconds, 3)]), flush=True)


def _apply(place: str, value: Any) -> None:
    module_name, _, attribute = place.partition(":")
    holder: Any = importlib.import_module(module_name)
    *outer, last = attribute.split(".")
    for name in outer:
        holder = getattr(holder, name)
    before = getattr(holder, last, None)
    replaced: Any = value
    if isinstance(value, str) and value.startswith("without "):
        replaced = tuple(each for each in before if each.name != value.removeprefix("without "))
    elif value in ("second", "last"):
        replaced = lambda *arguments: arguments[1 if value == "second" else -1]  # noqa: E731
    elif callable(before):
        replaced = lambda *arguments, **options: iter(value) if isinstance(value, list) else value  # noqa: E731
    setattr(holder, last, replaced)
    if not callable(before) and not outer:  # a constant may be known to other modules by its name
        for other in list(sys.modules.values()):
            same = getattr(other, last, None)
            if getattr(other, "__name__", "").startswith("separatrix") and same is before:
                setattr(other, last, replaced)


def constants(modules: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The numeric constants of each module below some packages, or single ones."""
    for wanted in modules:
        package, _, single = wanted.partition(":")
        path = PACKAGE / Path(*package.split("."))
        files = sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]
        for file in files:
            name = ".".join(("separatrix", *file.relative_to(PACKAGE).with_suffix("").parts))
            values = {f"{name}:{key}": value for key, value in _numbers(file) if single in ("", key)}
            if values:
                yield (wanted if single else name), values


def _numbers(file: Path) -> Iterator[tuple[str, Any]]:
    for line in ast.parse(file.read_text()).body:
        if isinstance(line, ast.Assign):
            try:
                value = eval(compile(ast.Expression(line.value), "", "eval"), {"__builtins__": {}})
            except (NameError, TypeError, AttributeError):
                continue
            target = line.targets[0]
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            values = value if isinstance(target, ast.Tuple) else [value]
            for each, number in zip(names, values, strict=False):
                if isinstance(each, ast.Name) and type(number) in (int, float):
                    yield each.id, number


def halved(value: float) -> float:
    return value // 2 if isinstance(value, int) else value / 2


def doubled(value: float) -> float:
    return value * 2


# The panel. A question is a name and a function that makes the data and returns the task to be timed.


def _verdict(X: Any, y: Any, **options: Any) -> Callable[[], str]:
    import separatrix as sx

    def task() -> str:
        verdict = sx.separability(X, y, time_limit=TIME_LIMIT, **options)
        if verdict.certificate is not None and not sx.verify(verdict.certificate, X, y):
            return "REFUSED"
        return str(verdict.status)

    return task


def _proofs(directory: Path | None) -> Iterator[Question]:
    from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

    from . import edge, known_answers

    shipped = {
        "iris": load_iris,
        "wine": load_wine,
        "digits": load_digits,
        "breast cancer": load_breast_cancer,
    }
    for name, load in shipped.items():
        yield f"{name}, joint", lambda load=load: _verdict(*load(return_X_y=True))
    for columns, ratio in ((200, 1.9), (200, 2.1), (500, 2.0), (500, 3.0), (1000, 2.1)):
        made = edge._gaussian(round(columns * ratio), columns)
        yield f"gaussian {columns}, {ratio:g}", lambda made=made: _verdict(*made(), quasi=False)
    yield "gaussian 200, 3, finer", lambda: _verdict(*edge._gaussian(600, 200)())
    for name, text in edge.TEXTS.items():
        yield f"text {name}", lambda text=text: _verdict(*text(10_000), quasi=False)
    for name, nasty in NASTY.items():
        yield name, lambda nasty=nasty: _verdict(*nasty())
    yield "200 lattices", _lattices
    if directory is None:
        return
    for known in known_answers._stored(directory):
        if known.name.startswith(("enron", "MNIST 0-r", "MNIST 1-r")):
            continue
        yield known.name, lambda known=known: _verdict(*known.read(), **known.options)
    yield "letters, 1000 words", lambda: _verdict(*edge._letters(directory, 1000), quasi=False)
    yield "sms, five flipped", lambda: _verdict(*_flipped(directory), quasi=False)
    for name, path, column in PRINCIPAL:
        if (directory / path).exists():
            yield f"components of {name}", lambda p=path, c=column: _verdict(*_components(directory / p, c))
    for kind, digits in (("blurred", (4, 9)), ("edges", (3, 5)), ("thresholded", (4, 9))):
        made = edge._images(directory, kind, digits)
        yield f"{kind} {digits[0]}-{digits[1]}", lambda made=made: _verdict(*made(), quasi=False)
    yield "MNIST, 1,000 images, joint", lambda: _verdict(*_mnist_rows(directory, 1000), quasi=False)


PRINCIPAL = (
    ("Ionosphere", "small/Ionosphere.csv", "Class"),
    ("Pima", "small/PimaIndiansDiabetes.csv", "diabetes"),
)


def _hilbert() -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    rows = rng.uniform(0, 1, (500, 1))
    return 1.0 / (rows + np.arange(1, 41)), rng.integers(0, 2, 500)


def _vandermonde() -> tuple[Any, Any]:
    rng = np.random.default_rng(4)
    points = np.sort(rng.uniform(-1, 1, 400))
    return points[:, None] ** np.arange(1, 31), rng.integers(0, 2, 400)


def _rotated() -> tuple[Any, Any]:
    rng = np.random.default_rng(5)
    design = rng.integers(0, 2, (300, 25)).astype(float)
    return design @ np.linalg.qr(rng.normal(size=(25, 25)))[0], rng.integers(0, 2, 300)


def _nearly_equal() -> tuple[Any, Any]:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(400, 20))
    return np.hstack([X, X * (1.0 + rng.integers(-9, 10, X.shape) * 2.0**-52)]), rng.integers(0, 2, 400)


NASTY: dict[str, Callable[[], tuple[Any, Any]]] = {
    "hilbert 500 x 40": _hilbert,
    "vandermonde 400 x 30": _vandermonde,
    "rotated design 300 x 25": _rotated,
    "nearly equal columns 400 x 40": _nearly_equal,
}


def _lattices() -> Callable[[], str]:
    rng = np.random.default_rng(7)
    sets = []
    for _ in range(200):
        n, d = rng.integers(4, 30), rng.integers(1, 5)
        y = rng.integers(0, 2, n)
        y[:2] = 0, 1
        sets.append((rng.integers(-2, 3, (n, d)), y))

    def task() -> str:
        import separatrix as sx

        found = [sx.separability(X, y).status for X, y in sets]
        return ", ".join(f"{found.count(each)} {each}" for each in sorted(set(found)))

    return task


def _flipped(directory: Path) -> tuple[Any, Any]:
    from . import known_answers

    X, y = known_answers._svmlight(directory / "sms-spam/sms-spam.counts.svm.gz")
    some = np.random.default_rng(8).choice(y.size, 5, replace=False)
    y[some] = y.min() + y.max() - y[some]
    return X, y


def _components(path: Path, target: str) -> tuple[Any, Any]:
    from sklearn.decomposition import PCA

    from . import known_answers

    X, y = known_answers._table(path, target)
    X = X.to_numpy(dtype=float)
    return PCA().fit_transform(X / (X.std(axis=0) + 1e-9)), y


def _mnist_rows(directory: Path, rows: int) -> tuple[Any, Any]:
    from . import data

    images, digits = data.mnist(directory / data._MNIST)
    return images[:rows], digits[:rows]


def _margins(directory: Path | None) -> Iterator[Question]:
    from sklearn.datasets import load_breast_cancer, load_digits

    import separatrix as sx

    from . import data

    def fit(X: Any, y: Any, **options: Any) -> Callable[[], str]:
        def task() -> str:
            model = sx.MaxMargin(inseparable="warn", **options).fit(X, y)
            lower, upper = model.margin_lower_, model.margin_upper_
            width = (upper - lower) / upper if upper > 0 else np.inf
            return f"{'converged' if model.converged_ else 'stopped'}, {_order(width)}"

        return task

    for margin in (0.1, 0.001):
        problem = data.ball(20_000, 50, margin)
        yield problem.name, lambda p=problem: fit(p.X, p.y)
    wide = data.normal(2_000, 800, 0.01)
    yield "normal rows, 2,000 x 800", lambda: fit(wide.X, wide.y)
    for intercept, value in (("free", True), ("lifted", "lifted")):
        yield (
            f"digits, joint, {intercept}",
            lambda i=value: fit(*load_digits(return_X_y=True), fit_intercept=i),
        )
        for rows, columns in ((40, 3), (200, 30)):
            X, y = _far(rows, columns)
            yield f"far {rows} x {columns}, {intercept}", lambda X=X, y=y, i=value: fit(X, y, fit_intercept=i)
    yield "breast cancer", lambda: fit(*load_breast_cancer(return_X_y=True))
    scales = 10.0 ** np.random.default_rng(9).integers(-8, 9, 30)
    wild = data.ball(500, 30, 0.01)
    yield "wild columns", lambda: fit(wild.X * scales, wild.y)
    for problem in data.real_sets(directory, ("sms-spam", "golub", "mushrooms")):
        yield problem.name, lambda p=problem: fit(p.X, p.y)


def _far(rows: int, columns: int) -> tuple[Any, Any]:
    from . import data

    problem = data.ball(rows, columns, 0.05)
    return problem.X + 1e9, problem.y


def _order(width: float) -> str:
    return "width 0" if width == 0 else f"width 1e{int(np.ceil(np.log10(width))):+d}" if width < 1 else "open"


def _soft(directory: Path | None) -> Iterator[Question]:
    from sklearn.datasets import load_breast_cancer, load_digits

    import separatrix as sx

    from . import data

    def fit(X: Any, y: Any, **options: Any) -> Callable[[], str]:
        def task() -> str:
            model = sx.SoftMargin(**options).fit(X, y)
            return f"{'converged' if model.converged_ else 'stopped'}, {_order(model.gap_)}"

        return task

    problem = data.normal(20_000, 50, 0.01)
    noisy = np.where(np.arange(problem.y.size) % 20 == 0, -problem.y, problem.y)
    for intercept, value in (("lifted", "lifted"), ("free", True)):
        yield f"noisy 20,000 x 50, {intercept}", lambda i=value: fit(problem.X, noisy, fit_intercept=i)
        X, y = _far(200, 30)
        yield f"far 200 x 30, {intercept}", lambda X=X, y=y, i=value: fit(X, y, fit_intercept=i, C=1e6)
    yield "digits, joint", lambda: fit(*load_digits(return_X_y=True), C=0.01)
    X, y = load_digits(return_X_y=True)
    yield "digits, even or odd", lambda: fit(X, y % 2, C=0.01)
    yield "breast cancer, C = 1e4", lambda: fit(*load_breast_cancer(return_X_y=True), C=1e4)
    for problem in data.real_sets(directory, ("sms-spam",)):
        yield problem.name, lambda p=problem: fit(p.X, p.y)


def _kernels(directory: Path | None) -> Iterator[Question]:
    from sklearn.datasets import load_breast_cancer, load_digits

    import separatrix as sx

    def fit(model: Any, X: Any, y: Any) -> Callable[[], str]:
        def task() -> str:
            model.fit(X, y)
            wrong = np.mean(model.predict(X) != y)
            return f"{'converged' if model.converged_ else 'stopped'}, {wrong:.3f} wrong"

        return task

    X, y = load_digits(return_X_y=True)
    cancer = load_breast_cancer(return_X_y=True)
    scaled = (cancer[0] - cancer[0].mean(axis=0)) / cancer[0].std(axis=0)
    yield "largest margin, digits, poly", lambda: fit(sx.MaxMargin(kernel="poly", gamma=0.01), X, y % 2)
    yield "largest margin, rbf", lambda: fit(sx.MaxMargin(kernel="rbf", gamma=0.1), scaled, cancer[1])
    yield "soft margin, rbf", lambda: fit(sx.SoftMargin(kernel="rbf", gamma=0.03), scaled, cancer[1])
    yield "perceptron, digits, rbf", lambda: fit(sx.KernelPerceptron(kernel="rbf", gamma=0.001), X, y)
    yield "budget, digits", lambda: fit(sx.KernelPerceptron(kernel="rbf", gamma=0.001, budget=200), X, y)


def _perceptron(directory: Path | None) -> Iterator[Question]:
    from sklearn.datasets import load_digits

    import separatrix as sx

    from . import data

    def fit(X: Any, y: Any, **options: Any) -> Callable[[], str]:
        def task() -> str:
            model = sx.Perceptron(**options).fit(X, y)
            wrong = int((model.predict(X) != y).sum())
            return "separated" if wrong == 0 else f"errors {wrong / len(y):.2f}"

        return task

    for margin in data.MARGINS:
        for made in (data.ball, data.normal):
            problem = made(50_000, 50, margin)
            yield problem.name, lambda p=problem: fit(p.X, p.y)
    noisy = np.where(np.arange(problem.y.size) % 20 == 0, -problem.y, problem.y)
    yield "noisy labels", lambda: fit(problem.X, noisy)
    yield "noisy labels, averaged", lambda: fit(problem.X, noisy, average=True, order="cyclic")
    yield "digits", lambda: fit(*load_digits(return_X_y=True))
    yield "few rows", lambda: fit(*_few())
    for real in data.real_sets(directory, ("sms-spam", "golub", "mushrooms", "mnist-1-7")):
        yield real.name, lambda p=real: fit(p.X, p.y)


def _few() -> tuple[Any, Any]:
    from . import data

    problem = data.normal(300, 10, 0.01)
    return problem.X, problem.y


PANEL: dict[str, Callable[[Path | None], Iterator[Question]]] = {
    "proofs": _proofs,
    "margins": _margins,
    "soft": _soft,
    "kernels": _kernels,
    "perceptron": _perceptron,
}


if __name__ == "__main__":
    main()
