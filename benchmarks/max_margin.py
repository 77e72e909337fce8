"""The largest margin against scikit-learn's support vector machines, same rows, free intercept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.svm import SVC, LinearSVC

import separatrix as sx

from . import data, timing
from .data import Problem
from .table import Row, Settings, faster, measured

PEER_SECONDS = 60.0  # a peer that needs longer is not waited for
LONG_SECONDS = 5.0  # what takes longer is measured less often
REAL = ("sms-spam", "golub", "mushrooms", "news20", "enron")
NOTES = (
    (
        "margin: MaxMargin(gap=1e-9) against SVC(kernel='linear', C=inf, tol=1e-8, max_iter=2*10**6) and "
        "LinearSVC(loss='hinge', C=1e4, max_iter=10**4), each for 60 s at most; 'short' is how much smaller "
        "their margin is. To LinearSVC's margin: against LinearSVC(loss='hinge', C=1e4), with the gap at "
        "which ours is proved to have at least its margin. A margin is half the distance between the "
        "classes along the weights, recomputed from the data: the intercept is free for everybody"
    ),
)


def margin(settings: Settings) -> Iterator[Row]:
    """Compare with a peer if it finishes; on larger data, only show whether we finish."""
    rows = 2_000 if settings.quick else 20_000
    for size in data.MARGINS[:2]:
        yield from _contest(data.ball(rows, 50, size), settings, 5.0)
    for problem in map(_short_indices, data.real_sets(settings.directory, REAL)):
        yield from _contest(problem, settings, 1.0)
        yield _as_far(problem, settings)
    for size in data.MARGINS:
        yield _alone(data.ball(settings.rows, 100, size), settings)
    for size in data.MARGINS[:2]:
        yield _alone(data.ball(rows, 1_000, size), settings)
        yield _alone(data.normal(rows, 1_000, size), settings)


def _contest(problem: Problem, settings: Settings, goal: float) -> Iterator[Row]:
    contenders: dict[str, Callable[[], Any]] = {
        "ours": partial(sx.MaxMargin),
        "SVC": partial(SVC, kernel="linear", C=np.inf, tol=1e-8, max_iter=2_000_000, cache_size=1000),
        "LinearSVC": partial(LinearSVC, loss="hinge", C=1e4, max_iter=10_000, random_state=0),
    }
    best = _margin(problem, sx.MaxMargin().fit(problem.X, problem.y))  # also compiles
    found = timing.compete(
        {name: partial(_prepare, problem, make) for name, make in contenders.items()},
        lambda answer: -_margin(problem, answer),  # negative if the classes are apart
        min(settings.peer_seconds, PEER_SECONDS),
        settings.repeats,
    )
    ours = found["ours"]
    for name, target in (("SVC", goal), ("LinearSVC", None)):
        peer, what = found[name], f"{problem.name}, {problem.shape}: {name}"
        if peer.errors is None or not (ours.solved and peer.solved):
            own = measured(ours.seconds) if ours.solved else ours.remark or "does not separate"
            yield Row("margin", what, own, peer.remark or "does not separate", "", "")
            continue
        short = 1.0 + peer.errors / best
        ratio = peer.median / ours.median
        yield Row(
            "margin",
            what,
            measured(ours.seconds),
            f"{name} {measured(peer.seconds)}, short by {short:.0e}",
            f"{ratio:.1f} times as fast",
            "" if target is None else f">= {target:g}, short >= 0",
            None if target is None else ratio >= target and short >= -1e-9,
        )


def _as_far(problem: Problem, settings: Settings) -> Row:
    """How long it takes to reach the margin at which LinearSVC stops."""
    peer = LinearSVC(loss="hinge", C=1e4, random_state=0)
    best = sx.MaxMargin().fit(problem.X, problem.y).margin_upper_
    took = timing.clock(lambda: peer.fit(problem.X, problem.y))
    asked = _margin(problem, peer)
    # where LinearSVC does not separate, any separator is farther
    ours = sx.MaxMargin(gap=min(0.999, 1.0 - asked / best))
    tasks = {"ours": lambda: ours.fit(problem.X, problem.y), "peer": lambda: peer.fit(problem.X, problem.y)}
    clocks = {name: partial(timing.clock, task) for name, task in tasks.items()}
    seconds = timing.interleave(clocks, 3 if took > LONG_SECONDS else 2 * settings.repeats + 1)
    what = f"{problem.name}, {problem.shape}: to LinearSVC's margin {asked:.6g} of {best:.6g}"
    row = faster("margin", what, seconds["ours"], seconds["peer"], "LinearSVC", 1.0)
    return row if ours.margin_lower_ >= asked else replace(row, ratio="not reached", met=False, noisy="")


def _alone(problem: Problem, settings: Settings) -> Row:
    sx.MaxMargin().fit(problem.X[:1000], problem.y[:1000])  # compile
    models: list[Any] = []
    seconds: list[float] = []
    while len(seconds) < settings.repeats and sum(seconds) < LONG_SECONDS:
        seconds.append(timing.clock(lambda: models.append(sx.MaxMargin().fit(problem.X, problem.y))))
    model = models[-1]
    gap = 1.0 - model.margin_lower_ / model.margin_upper_
    return Row(
        "margin",
        f"{problem.name}, {problem.shape}: alone",
        measured(seconds),
        f"margin {model.margin_lower_:.12f}, {model.support_.size} support rows",
        f"gap {gap:.0e}",
        "<= 1e-9",
        gap <= 1e-9,
    )


def _short_indices(problem: Problem) -> Problem:
    """The same rows with 32-bit indices, all that scikit-learn's machines read."""
    if sparse.issparse(problem.X):
        for name in ("indices", "indptr"):
            setattr(problem.X, name, getattr(problem.X, name).astype(np.int32))
    return problem


def _prepare(problem: Problem, make: Callable[[], Any]) -> Callable[[], Any]:
    return partial(make().fit, problem.X, problem.y)


def _margin(problem: Problem, model: Any) -> float:
    """Half the gap between the two classes along the weights: the margin with a free intercept."""
    w = np.ravel(model.coef_.toarray() if sparse.issparse(model.coef_) else model.coef_)
    along = problem.X @ w
    gap = along[problem.y > 0].min() - along[problem.y <= 0].max()
    return float(gap / 2.0 / np.linalg.norm(w))


SECTIONS: dict[str, Callable[[Settings], Iterator[Row]]] = {"margin": margin}
