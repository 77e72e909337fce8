"""The alternatives, each at its best honest setting, and ours, as contenders for one question.

A contender takes a problem, prepares its data outside the clock and returns the call to be timed;
the call returns weights and intercept for the rows of the problem, unscaled, or None.
"""

from __future__ import annotations

import platform
import tempfile
import time
from collections.abc import Callable
from importlib import metadata, util
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog
from sklearn.linear_model import Perceptron as SklearnPerceptron
from sklearn.svm import SVC, LinearSVC

import separatrix as sx

from .data import Problem

Answer: TypeAlias = tuple[NDArray[np.float64], float] | None
Solve: TypeAlias = Callable[[], Answer]

SVC_ROWS = 15_000
INSTALL_LIBLINEAR = "not installed (pip install liblinear-official)"
INSTALL_VW = "not installed (pip install vowpalwabbit)"
CONSTANT = 11650396  # where Vowpal Wabbit keeps the intercept
MANY = 2_000_000  # numbers from which on DuckDB writes the text for Vowpal Wabbit

PARAMETERS = {
    "separatrix": "Perceptron(), rows as they are",
    "Perceptron": "scikit-learn Perceptron, partial_fit with shuffled rows, errors checked after each pass",
    "Perceptron as shipped": "scikit-learn Perceptron(max_iter=1000, tol=1e-3)",
    # Its default tol=1e-4 goes on long after zero errors; 0.1, liblinear's own default, leaves none.
    "LinearSVC": "LinearSVC(loss='hinge', C=1e6, dual=True, max_iter=20000, tol=0.1), intercept_scaling=1",
    "liblinear": "liblinear-official train -s 3 -c 1e6 -B 1 -e 0.1 (its iteration limit is fixed)",
    "Vowpal Wabbit": (
        "vw --loss_function hinge --holdout_off from a cache file made before; the fewest passes of 1, 2, "
        "4, ... that leave no error, found outside the clock"
    ),
    "SVC": f"SVC(kernel='linear', C=1e10, cache_size=1000), sets under {SVC_ROWS:,} rows",
    "HiGHS": "scipy linprog(method='highs'): any w with y (<w, x> + b) >= 1",
}


def versions() -> str:
    """The versions of everything measured, and the machine."""
    names = (
        "separatrix",
        "scikit-learn",
        "scikit-learn-intelex",
        "numpy",
        "scipy",
        "numba",
        "highspy",
        "liblinear-official",
        "vowpalwabbit",
        "snapml",
        "skglm",
    )
    found = [f"{name} {_version(name)}" for name in names]
    return ", ".join([f"Python {platform.python_version()}", *found])


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "missing"


def errors_left(problem: Problem, answer: Answer) -> int:
    """Return how many rows are not strictly on their own side; all rows if there is no answer."""
    if answer is None:
        return len(problem.y)
    weights, intercept = answer
    scores = problem.y * (problem.X @ weights + intercept)
    return int(len(scores) - np.count_nonzero(scores > 0.0))


def contenders(problem: Problem, limit: float) -> dict[str, Callable[[], Solve]]:
    """Return all contenders for a problem, ours first."""
    entered: dict[str, Callable[[], Solve]] = {
        "separatrix": lambda: _ours(problem),
        "Perceptron": lambda: _pass_by_pass(problem, limit),
        "Perceptron as shipped": lambda: _as_shipped(problem),
        "LinearSVC": lambda: _linear_svc(problem),
        "liblinear": lambda: _liblinear(problem),
        "Vowpal Wabbit": _vowpal_wabbit(problem, limit),
    }
    if problem.X.shape[0] < SVC_ROWS:
        entered["SVC"] = lambda: _svc(problem)
    entered["HiGHS"] = lambda: highs(problem, limit)
    return entered


def scaled(problem: Problem) -> Any:
    """The rows as float64, multiplied by the problem's scale."""
    if sparse.issparse(problem.X):
        return problem.X.astype(np.float64) * problem.scale
    return np.multiply(problem.X, problem.scale, dtype=np.float64)


def _weights(model: Any, scale: float) -> Answer:
    return np.ravel(model.coef_.toarray() if sparse.issparse(model.coef_) else model.coef_) * scale, float(
        np.ravel(model.intercept_)[0]
    )


def _ours(problem: Problem) -> Solve:
    return lambda: _weights(sx.Perceptron().fit(problem.X, problem.y), 1.0)


def _pass_by_pass(problem: Problem, limit: float) -> Solve:
    X, y = scaled(problem), problem.y

    def solve() -> Answer:
        end = time.perf_counter() + limit
        model = SklearnPerceptron(random_state=np.random.RandomState(0))
        while True:
            model.partial_fit(X, y, classes=(-1, 1))
            scores = X @ model.coef_[0] + model.intercept_[0]
            if np.all(y * scores > 0.0) or time.perf_counter() > end:
                return _weights(model, problem.scale)

    return solve


def _as_shipped(problem: Problem) -> Solve:
    X = scaled(problem)
    return lambda: _weights(SklearnPerceptron(random_state=0).fit(X, problem.y), problem.scale)


def _linear_svc(problem: Problem) -> Solve:
    X = scaled(problem)
    model = LinearSVC(loss="hinge", C=1e6, dual=True, max_iter=20_000, tol=0.1, random_state=0)
    return lambda: _weights(model.fit(X, problem.y), problem.scale)


def _svc(problem: Problem) -> Solve:
    X = scaled(problem)
    model = SVC(kernel="linear", C=1e10, cache_size=1000)
    return lambda: _weights(model.fit(X, problem.y), problem.scale)


def _liblinear(problem: Problem) -> Solve:
    try:
        from liblinear import liblinearutil
    except ImportError as missing:
        raise ImportError(INSTALL_LIBLINEAR) from missing
    rows = sparse.csr_matrix(scaled(problem))
    # The intercept is a column of our own: the package would append it in a Python loop.
    lifted = sparse.hstack([rows, np.ones((rows.shape[0], 1))], format="csr")
    training = liblinearutil.problem(problem.y.astype(np.float64), lifted)
    options = liblinearutil.parameter("-s 3 -c 1e6 -e 0.1 -q")

    def solve() -> Answer:
        model = liblinearutil.train(training, options)
        found = np.ctypeslib.as_array(model.w, shape=(lifted.shape[1],)) * model.get_labels()[0]
        return found[:-1] * problem.scale, float(found[-1])

    return solve


def _vowpal_wabbit(problem: Problem, limit: float) -> Callable[[], Solve]:
    """It learns from files: the rows are written once, for all rounds."""
    if util.find_spec("vowpalwabbit") is None:

        def missing() -> Solve:
            raise ImportError(INSTALL_VW)

        return missing
    folder = tempfile.TemporaryDirectory()  # it stays for as long as somebody may train
    _write_vw(scaled(problem), problem.y, Path(folder.name, "rows.vw"))
    width = problem.X.shape[1]
    options = f"--loss_function hinge --holdout_off -b {max(18, width.bit_length() + 1)} --quiet"

    def train(passes: int) -> Answer:
        import vowpalwabbit

        text, cache = (Path(folder.name, name) for name in ("rows.vw", "rows.cache"))
        source = f"--cache_file {cache}" if cache.exists() else f"-d {text} --cache_file {cache}"
        model = vowpalwabbit.Workspace(f"{source} --passes {passes} {options}", enable_logging=False)
        try:
            weights = np.array([model.get_weight(column) for column in range(width)])
            return weights * problem.scale, float(model.get_weight(CONSTANT))
        finally:
            model.finish()

    def prepare() -> Solve:
        train(1)  # makes the cache, unless an earlier round has
        passes, end = 1, time.perf_counter() + limit
        while errors_left(problem, train(passes)) and time.perf_counter() < end:
            passes *= 2
        return lambda: train(passes)

    return prepare


def _write_vw(rows: Any, y: NDArray[np.int64], path: Path) -> None:
    """The rows as Vowpal Wabbit's text, in the single precision that it computes in."""
    if not sparse.issparse(rows) and rows.size > MANY:
        import duckdb
        import pyarrow as pa

        names = [f"c{column}" for column in range(rows.shape[1])]
        columns = {name: rows[:, place].astype(np.float32) for place, name in enumerate(names)}
        table = pa.table({"y": y, **columns})
        with duckdb.connect() as database:
            database.register("rows", table)
            line = f"y || ' | :' || concat_ws(' :', {', '.join(names)})"
            database.execute(
                f"COPY (SELECT {line} FROM rows) TO '{path}' (HEADER false, QUOTE '', DELIMITER '\t')"
            )
        return
    matrix = sparse.csr_array(rows).astype(np.float32)
    with path.open("w") as out:
        for i, label in enumerate(y.tolist()):
            part = slice(matrix.indptr[i], matrix.indptr[i + 1])
            cells = zip(matrix.indices[part].tolist(), matrix.data[part].tolist(), strict=True)
            out.write(f"{label} | {' '.join(f'{column}:{value!r}' for column, value in cells)}\n")


def highs(problem: Problem, limit: float) -> Solve:
    rows = scaled(problem)
    signs = -problem.y.astype(np.float64)[:, None]
    if sparse.issparse(rows):
        constraints = sparse.hstack([rows.multiply(signs), signs], format="csc")
    else:
        constraints = np.hstack([rows * signs, signs])
    goal = np.zeros(constraints.shape[1])
    bound = np.full(constraints.shape[0], -1.0)

    def solve() -> Answer:
        found = linprog(
            goal, constraints, bound, bounds=(None, None), method="highs", options={"time_limit": limit}
        )
        return None if found.x is None else (found.x[:-1] * problem.scale, float(found.x[-1]))

    return solve
