"""The soft margin at C = 1: time until the objective is within 1e-3 and 1e-6 of the optimum.

All contenders minimize |w|^2 / 2 + sum of hinge losses over lifted rows (the intercept is a weight like the
others). What a contender reached is recomputed from the data, outside the clock. Each peer runs through a
series of tolerances; the first that is within the goal is its time.

With a Gaussian kernel, the goal is the relative duality gap that SVC reaches with its default tolerance.
"""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, LinearSVC

import separatrix as sx

from . import data, ordinary, timing
from .data import Problem
from .table import Row, Settings, measured, paired, shown

GOALS = (1e-3, 1e-6)
TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
SLOW = 3.0  # seconds from which one run is enough
PEER_SECONDS = 30.0  # what a peer has on each set for all its tolerances together
OPTIMUM = 1e-9  # gap of the solution that the others are measured by; its dual bound is below every objective

NOTES = (
    (
        "soft: C = 1, lifted and regularized intercept, the same objective for all; LinearSVC(loss='hinge', "
        "max_iter=10**6), liblinear-official -s 3 on lifted rows, snapml SupportVectorMachine(regularizer=1, "
        "fit_intercept=True, max_iter=10**5), skglm LinearSVC on lifted rows (max_iter=1000); tolerances "
        f"{', '.join(f'{each:g}' for each in TOLERANCES)}, the first that is good enough counts; "
        f"a peer has {PEER_SECONDS:g} s on each set for all of them"
    ),
    (
        "soft_kernel: rows at random, SVC() against SoftMargin(kernel='rbf', fit_intercept=True) with the "
        "same gamma, asked for the duality gap of SVC's answer, which is computed from its dual_coef_ and "
        "decision_function; ours includes the proof of its gap; labels of USPS: odd or even"
    ),
)

Fit = Callable[[float], Callable[[], Any]]
Prepare = Callable[[Problem], Fit]


def soft(settings: Settings) -> Iterator[Row]:
    """Every set, every goal: ours against each peer."""
    for problem in _problems(settings):
        yield from _contest(problem, settings)


def _contest(problem: Problem, settings: Settings) -> Iterator[Row]:
    sx.SoftMargin(gap=1e-3).fit(*_few(problem))  # compile
    best = sx.SoftMargin(gap=OPTIMUM).fit(problem.X, problem.y).dual_objective_

    def measure(prepare: Prepare, tolerance: float, limit: float, rounds: int) -> timing.Outcome:
        outcome = timing.Outcome()
        for _ in range(rounds):
            timing.one_round(
                outcome,
                partial(_begin, prepare, problem, tolerance),
                lambda answer: _objective(problem, *answer) / best - 1.0,
                limit,
            )
            if outcome.errors is None or sum(outcome.seconds) > SLOW:
                break
        return outcome

    ours = {goal: measure(_ours, goal, settings.peer_seconds, settings.repeats) for goal in GOALS}
    limit = min(settings.peer_seconds, PEER_SECONDS)
    for name, prepare in PEERS.items():
        tried = _series(partial(measure, prepare, rounds=1), limit)
        again = partial(measure, prepare, limit=limit, rounds=settings.repeats)
        for goal in GOALS:
            what = f"{problem.name}, {problem.shape}: {name} within {goal:g}"
            yield _row(what, goal, ours[goal], tried, again)


def _series(measure: Callable[..., timing.Outcome], limit: float) -> dict[float, timing.Outcome]:
    """One run for each tolerance until one is good enough or the time for all of them is up."""
    tried: dict[float, timing.Outcome] = {}
    left = limit
    for tolerance in TOLERANCES:
        found = tried[tolerance] = measure(tolerance=tolerance, limit=left)
        left -= found.median
        if found.remark.startswith("no answer") or (found.errors is not None and left <= 0.0):
            found.remark = f"not in {limit:g} s"
        if found.errors is None or found.errors <= GOALS[-1] or left <= 0.0:
            break
    return tried


def _row(
    what: str,
    goal: float,
    ours: timing.Outcome,
    tried: dict[float, timing.Outcome],
    again: Callable[[float], timing.Outcome],
) -> Row:
    mine = f"{measured(ours.seconds)}, CPU {shown(median(ours.cpu))}, excess {ours.errors:.0e}"
    answers = {tolerance: each for tolerance, each in tried.items() if each.errors is not None}
    good = [tolerance for tolerance, each in answers.items() if each.errors <= goal]
    if not good:
        nearest = min(answers.values(), key=lambda each: each.errors, default=None)
        remark = next((each.remark for each in tried.values() if each.remark), "not with these tolerances")
        if nearest is not None:
            remark += f"; {nearest.errors:.0e} in {shown(nearest.median)}"
        return Row("soft", what, mine, remark, "", "")
    tolerance = good[0]
    found = answers[tolerance] if answers[tolerance].median > SLOW else again(tolerance)
    spent = f"{measured(found.seconds)}, CPU {shown(median(found.cpu))}"
    ratio = found.median / ours.median
    return Row(
        "soft",
        what,
        mine,
        f"{spent}, tol {tolerance:g}, excess {found.errors:.0e}",
        f"{ratio:.2f} times as fast",
        ">= 1" if goal == GOALS[-1] else "",
        ratio >= 1.0 if goal == GOALS[-1] else None,
    )


def _begin(prepare: Prepare, problem: Problem, tolerance: float) -> Callable[[], Any]:
    return prepare(problem)(tolerance)


def _objective(problem: Problem, weights: Any, intercept: float) -> float:
    losses = np.maximum(0.0, 1.0 - problem.y * (problem.X @ weights + intercept)).sum()
    return 0.5 * (float(weights @ weights) + intercept**2) + float(losses)


# Contenders: a problem, then a tolerance, then the call to be timed.


def _ours(problem: Problem) -> Fit:
    def fit(gap: float) -> Callable[[], Any]:
        model = sx.SoftMargin(C=1.0, gap=gap)
        return lambda: _weights(model.fit(problem.X, problem.y))

    return fit


def _linear_svc(problem: Problem) -> Fit:
    def fit(tolerance: float) -> Callable[[], Any]:
        model = LinearSVC(loss="hinge", tol=tolerance, max_iter=10**6, random_state=0)
        return lambda: _weights(model.fit(problem.X, problem.y))

    return fit


def _liblinear(problem: Problem) -> Fit:
    try:
        from liblinear import liblinearutil
    except ImportError as missing:
        raise ImportError("not installed (pip install liblinear-official)") from missing
    lifted = _lifted(problem)
    training = liblinearutil.problem(problem.y.astype(np.float64), lifted)

    def fit(tolerance: float) -> Callable[[], Any]:
        options = liblinearutil.parameter(f"-s 3 -c 1 -e {tolerance} -q")

        def solve() -> Any:
            model = liblinearutil.train(training, options)
            found = np.ctypeslib.as_array(model.w, shape=(lifted.shape[1],)) * model.get_labels()[0]
            return found[:-1], float(found[-1])

        return solve

    return fit


def _snapml(threads: int) -> Prepare:
    def prepare(problem: Problem) -> Fit:
        try:
            from snapml import SupportVectorMachine
        except ImportError as missing:
            raise ImportError("not installed (pip install snapml)") from missing

        def fit(tolerance: float) -> Callable[[], Any]:
            model = SupportVectorMachine(
                regularizer=1.0,
                tol=tolerance,
                fit_intercept=True,
                max_iter=10**5,
                n_jobs=threads,
                random_state=0,
            )
            return lambda: _weights(model.fit(problem.X, problem.y))

        return fit

    return prepare


def _skglm(problem: Problem) -> Fit:
    try:
        from skglm import LinearSVC as SkglmSVC
    except ImportError as missing:
        raise ImportError("not installed (pip install skglm)") from missing
    lifted = _lifted(problem)
    if not sparse.issparse(problem.X):
        lifted = lifted.toarray()
    SkglmSVC(C=1.0).fit(lifted[:200], problem.y[:200])  # compile

    def fit(tolerance: float) -> Callable[[], Any]:
        model = SkglmSVC(C=1.0, tol=tolerance, max_iter=1000, fit_intercept=False)

        def solve() -> Any:
            found = np.ravel(model.fit(lifted, problem.y).coef_)
            return found[:-1], float(found[-1])

        return solve

    return fit


PEERS: dict[str, Prepare] = {
    "LinearSVC": _linear_svc,
    "liblinear": _liblinear,
    "snapml": _snapml(1),
    "snapml, 2 threads": _snapml(2),
    "skglm": _skglm,
}


def _weights(model: Any) -> Any:
    return np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])


def _lifted(problem: Problem) -> Any:
    return sparse.hstack([sparse.csr_matrix(problem.X), np.ones((len(problem.y), 1))], format="csr")


def _few(problem: Problem) -> tuple[Any, Any]:
    chosen = np.concatenate([np.flatnonzero(problem.y == sign)[:500] for sign in (-1, 1)])
    return problem.X[chosen], problem.y[chosen]


# Sets


def _problems(settings: Settings) -> Iterator[Problem]:
    directory = settings.directory
    if directory is None or settings.quick:
        yield data.normal(20_000, 50, 0.0)
    if directory is None:
        return
    sets = {
        "a9a": ("adult/a9a", _svmlight),
        "ijcnn1": ("ijcnn1/ijcnn1.trn.bz2", _svmlight),
        "enron": ("enron/enron1-5.counts.svm.gz", lambda _, __: data.real_set(directory, "enron")),
        "covtype": ("covtype/covtype.csv.gz", _covtype),
    }
    for name, (file, read) in sets.items():
        if (directory / file).exists() and not (settings.quick and name in ("enron", "covtype")):
            problem = read(directory / file, name)
            if problem is not None:
                yield problem


def _svmlight(path: Path, name: str) -> Problem:
    with bz2.open(path) if path.suffix == ".bz2" else path.open("rb") as file:
        X, y = load_svmlight_file(file)
    # The narrow indices are all that LinearSVC reads.
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return Problem(name, X, np.where(y > 0, 1, -1))


def _covtype(path: Path, name: str) -> Problem:
    import pandas as pd

    with gzip.open(path) as file:
        table = pd.read_csv(file).to_numpy(dtype=np.float64)
    X, y = table[:, :-1], np.where(table[:, -1] == 2, 1, -1)
    spread = X.std(axis=0)
    X = np.ascontiguousarray((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0))
    return Problem(f"{name}, class 2 against the rest, standardized", X, y)


# Kernels

KERNEL_SETS = {
    "Pima": (576,),
    "Ionosphere": (263,),
    "Sonar": (156,),
    "spambase": (1000, 3450),
    "a9a": (200, 1000, 5000),
    "ijcnn1": (200, 1000, 5000),
    "USPS": (200, 1000, 5000),
}


def soft_kernel(settings: Settings) -> Iterator[Row]:
    """Every set, at some sizes: ours and SVC to the gap that SVC reaches."""
    reads = {**ordinary.SETS, "Sonar": partial(ordinary.read_csv, "small/Sonar.csv")}
    for name, sizes in KERNEL_SETS.items():
        try:
            split = reads[name](settings.directory)
        except (OSError, TypeError):  # no such file, or no --data
            continue
        order = np.random.default_rng(0).permutation(split.X.shape[0])
        for size in sizes[:1] if settings.quick else sizes:
            yield _kernel_row(name, split.X[order[:size]], _two(split.y)[order[:size]], settings)


def _kernel_row(name: str, X: Any, y: Any, settings: Settings) -> Row:
    svc = SVC().fit(X, y)
    gap = svc_gap(svc, X, y)
    soft = sx.SoftMargin(kernel="rbf", gamma=svc._gamma, fit_intercept=True, gap=gap)
    soft.fit(X, y)  # compile
    ours, theirs = timing.Outcome(), timing.Outcome()
    for _ in range(settings.repeats):
        for outcome, model in ((ours, soft), (theirs, svc)):
            one = timing.Outcome()
            prepare = partial(partial, model.fit, X, y)
            timing.one_round(one, prepare, lambda _: 0.0, settings.peer_seconds)
            outcome.cpu.append(median(one.cpu))
    ratio, noisy = paired(theirs.cpu, ours.cpu, 1.0)
    what = f"{name}, {X.shape[0]:,} x {X.shape[1]:,}: SVC"
    mine = f"CPU {measured(ours.cpu)}, gap {soft.gap_:.1e}"
    peer = f"CPU {measured(theirs.cpu)}, gap {gap:.1e}"
    said = f"{ratio:.2f} times as fast"
    return Row("soft_kernel", what, mine, peer, said, ">= 1", ratio >= 1.0, noisy)


def svc_gap(svc: SVC, X: Any, y: Any) -> float:
    """Return the relative duality gap of an SVC with C = 1 and labels 0 and 1."""
    products = rbf_kernel(svc.support_vectors_, gamma=svc._gamma)
    coefficients = svc.dual_coef_.toarray()[0] if sparse.issparse(svc.dual_coef_) else svc.dual_coef_[0]
    square = float(coefficients @ products @ coefficients)
    losses = np.maximum(0.0, 1.0 - (2.0 * y - 1.0) * svc.decision_function(X))
    primal, dual = 0.5 * square + float(losses.sum()), float(np.abs(coefficients).sum()) - 0.5 * square
    return (primal - dual) / primal


def _two(y: Any) -> Any:
    """Return labels 0 and 1; of more than two classes, whether the class is odd."""
    codes = np.unique(y, return_inverse=True)[1]
    return codes % 2


SECTIONS: dict[str, Callable[[Settings], Iterator[Row]]] = {"soft": soft, "soft_kernel": soft_kernel}
