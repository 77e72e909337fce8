"""Margins against scikit-learn's support vector machines: same rows, same objective, one process.

    python -m benchmarks.margins --data DIR [--repeats 5] [--only maxmargin,softmargin,covtype]

DIR holds the LIBSVM sets as ``adult/a9a``, ``ijcnn1/ijcnn1.trn.bz2`` and ``covtype/covtype.csv.gz``
(https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/ and scikit-learn's fetch_covtype). Sets
that are missing are left out. Contenders take turns, so that a busy machine slows them alike; medians and
their ratio are printed. What each one reached is recomputed from the data outside the clock.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import platform
import time
import warnings
from pathlib import Path

import numba
import numpy as np
import scipy
import sklearn
from sklearn.datasets import load_svmlight_file
from sklearn.svm import SVC, LinearSVC

import separatrix as sx


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="directory of the data sets")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", default="maxmargin,softmargin,covtype")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        f"separatrix {sx.__version__}, scikit-learn {sklearn.__version__}, numpy {np.__version__}, "
        f"scipy {scipy.__version__}, numba {numba.__version__}, {platform.machine()}, "
        f"medians of {options.repeats} interleaved runs; compilation is outside the clock"
    )
    wanted = options.only.split(",")
    if "maxmargin" in wanted:
        max_margin(options.repeats)
    if options.data is None:
        print("no --data: the soft-margin rows are left out")
        return
    if "softmargin" in wanted:
        soft_margin(options.data, options.repeats)
    if "covtype" in wanted:
        covtype(options.data, options.repeats)


def median_times(contenders, repeats):
    """Run each contender once to warm up, then all of them in turn."""
    models = {name: make() for name, make in contenders.items()}
    times = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, make in contenders.items():
            begin = time.perf_counter()
            models[name] = make()
            times[name].append(time.perf_counter() - begin)
    return {name: float(np.median(each)) for name, each in times.items()}, models


def margin_of(model, X, y):
    """Half the gap between the two classes along the weights: the margin with a free intercept."""
    w = model.coef_.ravel()
    along = X @ w
    return (along[y > 0].min() - along[y <= 0].max()) / 2.0 / np.linalg.norm(w)


def max_margin(repeats):
    for n, d, margin in [(20_000, 50, 0.1), (20_000, 50, 0.01)]:
        problem = sx.datasets.make_separable(n_rows=n, n_columns=d, margin=margin, random_state=0)
        X, y = problem.X, (problem.y == np.unique(problem.y)[-1]).astype(int)
        contenders = {
            "MaxMargin(gap=1e-9)": lambda X=X, y=y: sx.MaxMargin().fit(X, y),
            "SVC(linear, C=1e8, tol=1e-8, max_iter=2e6)": lambda X=X, y=y: SVC(
                kernel="linear", C=1e8, tol=1e-8, max_iter=2_000_000, cache_size=1000
            ).fit(X, y),
            "LinearSVC(hinge, C=1e4, max_iter=1e4)": lambda X=X, y=y: LinearSVC(
                loss="hinge", C=1e4, max_iter=10_000
            ).fit(X, y),
        }
        times, models = median_times(contenders, repeats)
        own = times["MaxMargin(gap=1e-9)"]
        print(f"\nlargest margin, {n:,} x {d}, made with margin {margin}")
        for name in contenders:
            reached = margin_of(models[name], X, y)
            print(f"  {name:<46}{times[name]:9.3f} s  x{times[name] / own:7.1f}  margin {reached:.10f}")
    for n, d, margin in [(50_000, 100, 0.01), (200_000, 100, 0.001), (800_000, 100, 0.01)]:
        problem = sx.datasets.make_separable(n_rows=n, n_columns=d, margin=margin, random_state=0)
        times, models = median_times({"own": lambda p=problem: sx.MaxMargin().fit(p.X, p.y)}, repeats)
        model = models["own"]
        print(
            f"  MaxMargin alone, {n:,} x {d}, margin {margin}: {times['own']:.3f} s, bracket "
            f"[{model.margin_lower_:.12f}, {model.margin_upper_:.12f}], {model.support_.size} support rows"
        )


def objective(model, X, y, C=1.0):
    """|w|^2 / 2, intercept included, and the hinge losses."""
    losses = np.maximum(0.0, 1.0 - np.where(y > 0, 1.0, -1.0) * model.decision_function(X)).sum()
    return 0.5 * float((model.coef_**2).sum() + (model.intercept_**2).sum()) + C * float(losses)


def soft_margin(data, repeats):
    for name, path in [("a9a", data / "adult" / "a9a"), ("ijcnn1", data / "ijcnn1" / "ijcnn1.trn.bz2")]:
        if not path.exists():
            print(f"\n{name}: {path} is missing")
            continue
        with bz2.open(path) if path.suffix == ".bz2" else open(path, "rb") as file:
            X, y = load_svmlight_file(file)
        X.indices, X.indptr = (
            X.indices.astype(np.int32),
            X.indptr.astype(np.int32),
        )  # all that LinearSVC reads
        best = sx.SoftMargin(gap=1e-11).fit(X, y).dual_objective_
        contenders = {
            "SoftMargin(gap=1e-3)": lambda X=X, y=y: sx.SoftMargin(gap=1e-3).fit(X, y),
            "SoftMargin(gap=1e-6)": lambda X=X, y=y: sx.SoftMargin(gap=1e-6).fit(X, y),
        }
        for tol in (1e-1, 1e-2, 1e-3, 1e-4, 1e-5):
            contenders[f"LinearSVC(hinge, tol={tol:.0e}, max_iter=1e5)"] = lambda X=X, y=y, tol=tol: (
                LinearSVC(loss="hinge", tol=tol, max_iter=100_000, random_state=0).fit(X, y)
            )
        times, models = median_times(contenders, repeats)
        own = times["SoftMargin(gap=1e-6)"]
        print(f"\nsoft margin, C = 1, {name}, {X.shape[0]:,} x {X.shape[1]}")
        for each in contenders:
            excess = objective(models[each], X, y) / best - 1.0
            print(f"  {each:<46}{times[each]:9.3f} s  x{times[each] / own:7.2f}  excess {excess:.1e}")


def covtype(data, repeats):
    path = data / "covtype" / "covtype.csv.gz"
    if not path.exists():
        print(f"\ncovtype: {path} is missing")
        return
    with gzip.open(path, "rt") as file:
        table = np.loadtxt(file, delimiter=",", skiprows=1)
    X, y = table[:, :-1], (table[:, -1] == 2).astype(int)
    X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    print(f"\nsoft margin, C = 1, covtype (class 2 against the rest, standardised), {X.shape[0]:,} rows")
    sx.SoftMargin().fit(X[:2000], y[:2000])
    for gap in (1e-3, 1e-6):
        times, models = median_times({"own": lambda gap=gap: sx.SoftMargin(gap=gap).fit(X, y)}, repeats)
        taken, model = times["own"], models["own"]
        reached = objective(model, X, y)
        print(f"  SoftMargin(gap={gap:.0e}): {taken:.2f} s, objective {reached:.4f}, gap {model.gap_:.1e}")


if __name__ == "__main__":
    main()
