"""Proofs: what it costs to check one, to find one, and how the cost grows with the rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from statistics import median
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import separatrix as sx
from separatrix.certificates.digest import start_digest
from separatrix.inputs.data import read_data

from . import data, peers, timing
from .data import Problem
from .table import Row, Settings, measured, shown, within

FLIPPED = 3
GROWTH = (50_000, 200_000, 800_000)

NOTES = (
    (
        "verify: the proof is sx.verify(same_data=False); SHA-256, which tells that these are the data "
        "certified, costs more than the proof and than three products, on all cores, whoever computes it"
    ),
    (
        "verdict: sx.separability(quasi=False), hash and certificate included, against one feasibility "
        "program of HiGHS on all rows"
    ),
    "growth: seconds a row, relative to the fewest rows",
)


def verify(settings: Settings) -> Iterator[Row]:
    """Measure the check of a separator's certificate, in units of one product of the data with a vector."""
    problem = data.normal(settings.rows, 100, 0.01)
    X, y = problem.X, problem.y
    certificate = sx.separability(X, y, quasi=False).certificate
    seen, w = read_data(X, y), np.ones(X.shape[1])

    def product(threads: int | None) -> float:
        with threadpool_limits(threads):
            return median(timing.clock(lambda: X @ w) for _ in range(5))

    times = timing.interleave(
        {
            "all": lambda: product(None),
            "proof": lambda: timing.clock(lambda: sx.verify(certificate, X, y, same_data=False)),
            "whole": lambda: timing.clock(lambda: sx.verify(certificate, X, y)),
            "hash": lambda: timing.clock(lambda: start_digest(seen)()),
            "one": lambda: product(1),
        },
        settings.pass_repeats,
    )
    all_cores, shape = "X @ w, all cores", problem.shape
    both = f"{shape}: the proof and SHA-256"
    yield within("verify", f"{shape}: the proof", times["proof"], times["all"], all_cores, 3.0)
    yield within("verify", f"{shape}: the proof", times["proof"], times["one"], "X @ w, 1 core", None)
    yield within("verify", f"{shape}: SHA-256 alone", times["hash"], times["all"], all_cores, None)
    yield within("verify", both, times["whole"], times["all"], all_cores, None)
    yield within("verify", both, times["whole"], times["hash"], "SHA-256 alone", None)


def verdict(settings: Settings) -> Iterator[Row]:
    """A verdict with its certificate, against a linear program on all rows."""
    for margin in settings.margins:
        plain = data.normal(settings.rows, 100, margin)
        yield _against_program(plain, "separable", settings)
        y = plain.y.copy()
        y[np.random.default_rng(1).choice(y.size, FLIPPED, replace=False)] *= -1
        mixed = replace(plain, y=y, name=f"{plain.name}, {FLIPPED} labels flipped")
        yield _against_program(mixed, "inseparable", settings)


def _against_program(problem: Problem, expected: str, settings: Settings) -> Row:
    limit = settings.program_seconds
    few = np.concatenate([np.flatnonzero(problem.y == sign)[:500] for sign in (-1, 1)])
    sx.separability(problem.X[few], problem.y[few], quasi=False)  # compile
    ours: list[float] = []
    for _ in range(settings.repeats):
        begin = time.perf_counter()
        found = sx.separability(problem.X, problem.y, quasi=False)
        ours.append(time.perf_counter() - begin)
        if found.status != expected or not sx.verify(found.certificate, problem.X, problem.y):
            raise RuntimeError(f"{problem.name}: {found.status}, and it is {expected}")
    peer = timing.Outcome()
    timing.one_round(peer, lambda: peers.highs(problem, limit), lambda _: 0, limit)
    # A program that was cut off returns just after the limit.
    taken = peer.median if peer.median < limit else float("inf")
    against = f"HiGHS {shown(taken)} (1 run)" if taken < limit else f"HiGHS: no answer in {limit:g} s"
    ratio = min(taken, limit) / median(ours)
    return Row(
        "verdict",
        f"{problem.name}, {problem.shape}",
        measured(ours),
        against,
        f"{'' if taken < limit else 'more than '}{ratio:.1f} times as fast",
        ">= 10",
        ratio >= 10.0,
    )


def growth(settings: Settings) -> Iterator[Row]:
    """Measure the seconds per row, from few rows to many."""
    sizes = tuple(size // 40 for size in GROWTH) if settings.quick else GROWTH
    problems = [data.normal(size, 100, 0.01) for size in sizes]
    tasks: dict[str, Callable[[Problem], Any]] = {
        "verdict": lambda p: sx.separability(p.X, p.y, quasi=False),
        "MaxMargin()": lambda p: sx.MaxMargin().fit(p.X, p.y),
        "one pass of Perceptron": lambda p: sx.Perceptron(order="cyclic", max_iter=1).fit(p.X, p.y),
    }
    for name, task in tasks.items():
        task(problems[0])  # compile
        times = timing.interleave(
            {p.shape: partial(timing.clock, partial(task, p)) for p in problems}, settings.repeats
        )
        first = problems[0]
        base = [seconds / first.X.shape[0] for seconds in times[first.shape]]
        for p in problems[1:]:
            a_row = median(times[p.shape]) / p.X.shape[0]
            ratio = a_row / median(base)
            yield Row(
                "growth",
                f"{name}, {p.shape}",
                f"{measured(times[p.shape])}, {a_row * 1e6:.2f} µs a row",
                f"{first.shape}: {measured(times[first.shape])}, {median(base) * 1e6:.2f} µs a row",
                f"{ratio:.2f} times as long a row",
                "<= 1.5",
                ratio <= 1.5,
            )


SECTIONS: dict[str, Callable[[Settings], Iterator[Row]]] = {
    "verify": verify,
    "verdict": verdict,
    "growth": growth,
}
