"""Other learners with mistake bounds: the perceptron with a margin, passive-aggressive steps, and Winnow."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ... import datasets
from ...errors import ConvergenceWarning
from ...estimators.margin import MaxMargin
from ...estimators.passive_aggressive import PassiveAggressive
from ...estimators.winnow import Winnow
from ..study import Bounded, Finding, Record, Study, Table, claim, grid, medians, values, where
from . import charts
from .theory import perceptron

# ---------------------------------------------------------------- bounds side by side

LEARNERS = {
    "perceptron": "perceptron",
    "margin": "perceptron, margin=1",
    "aggressive": "PA-I",
    "winnow": "Winnow",
}


def _plan_bounds(quick: bool) -> list[Record]:
    seeds = range(3) if quick else range(20)
    every = grid(learner=list(LEARNERS), margin=[0.4, 0.2, 0.1, 0.05], b=[1.0], seed=seeds)
    growing = grid(learner=["growing"], margin=[0.05], b=[0.01, 0.1, 1.0, 10.0, 100.0], seed=seeds)
    return every(quick) + growing(quick)


def _measure_bounds(learner: str, margin: float, b: float, seed: int) -> list[Record]:
    problem = datasets.make_separable(200, 5, margin=margin, random_state=seed)
    once: Any = {"fit_intercept": False, "order": "cyclic", "max_iter": 10_000}
    square, widens = problem.radius**2, learner in ("margin", "growing")
    if learner == "aggressive":
        model: Any = PassiveAggressive(tol=0.0, **once).fit(*problem)
        bound = max(square, 1.0) / margin**2
    elif learner == "winnow":
        scaled, largest = margin / float(np.abs(problem.weights).sum()), float(np.abs(problem.X).max())
        model = Winnow(eta0=scaled / largest**2, **once).fit(*problem)
        bound = 2.0 * math.log(2.0 * problem.X.shape[1]) * (largest / scaled) ** 2
    else:
        b = b if widens else 0.0
        model = perceptron(*problem, margin=b)
        bound = (square + 2.0 * b) / margin**2
    w = model.coef_[0]
    reached = float((problem.y * (problem.X @ w)).min() / np.linalg.norm(w))
    return [
        {
            "separated": model.converged_,
            "mistakes": model.mistakes_,
            "bound": bound,
            "share": reached / MaxMargin(fit_intercept=False).fit(*problem).margin_upper_,
            "promised": b / (square + 2.0 * b) * (1.0 - 1e-6) if widens else 0.0,  # MaxMargin has a gap
        }
    ]


def _findings_bounds(table: Table) -> Iterator[Finding]:
    yield claim(f"All {len(table['separated']):,} runs separate their rows.", table["separated"])
    tightest = {
        name: (part["mistakes"] / part["bound"]).max()
        for name in LEARNERS
        for part in [where(table, learner=name)]
    }
    yield Finding(
        "In percent of its own bound, the largest number of mistakes (of updates, with a margin) was "
        + "; ".join(f"{label}: {100 * tightest[name]:.0f}" for name, label in LEARNERS.items())
        + "."
    )
    plain, winnow = (where(table, learner=name)["mistakes"] for name in ("perceptron", "winnow"))
    yield Finding(
        f"In {(plain == winnow).sum():,} of {plain.size:,} data sets, Winnow with this small rate makes as "
        "many mistakes as the perceptron: all products stay close to sums."
    )
    b, share = medians(where(table, learner="growing"), "b", "share")
    _, updates = medians(where(table, learner="growing"), "b", "mistakes")
    yield claim(
        f"With b = {b[-1]:g}, the perceptron reaches {100 * share[-1]:.1f}% of the largest margin in the "
        f"median, after {updates[-1]:,.0f} updates; with b = {b[0]:g} it is {100 * share[0]:.0f}%, after "
        f"{updates[0]:,.0f}. The theorem promises less: at most one half.",
        share[-1] >= 0.49,
    )


def _draw_bounds(table: Table) -> Figure:
    figure, (left, right) = charts.panels(
        ("Mistakes, and each bound (dotted)", "margin γ of the rows", "mistakes or updates", "xy"),
        ("A perceptron with margin b", "b", "share of the largest margin", "x"),
    )
    charts.sweeps(left, table, "margin", "mistakes", "learner", LEARNERS)
    for place, (name, label) in enumerate(LEARNERS.items()):
        if name == "aggressive":  # R = C = 1: its bound is that of the perceptron
            continue
        label = f"{label} and PA-I" if name == "perceptron" else label
        dotted: Any = {"color": charts.color(place), "linestyle": ":", "linewidth": 1.4}
        charts.bound_by(left, where(table, learner=name), "margin", "bound", f"bound, {label}", **dotted)
    growing = where(table, learner="growing")
    charts.sweep(right, growing, "b", "share", 1, "margin reached")
    charts.bound_by(right, growing, "b", "promised", "promised: b/(R² + 2b)")
    right.set_ylim(0.0, 1.05)
    return charts.finish(figure, columns=4)


BOUNDS = Study(
    name="bounds",
    title="Four learners, each beside its own bound",
    source="Chapter 2, three more learners",
    question="""How many mistakes do the perceptron, the perceptron with a margin, a passive-aggressive
        learner and Winnow make on the same rows, and how many does the theorem of each allow?""",
    method="""200 points in five dimensions, R = 1, in turn until the rule of each learner ends the run. C = 1
        for PA-I, and Winnow has the rate that its bound is smallest at. Medians and ranges over the data
        sets. Right: the margin of the perceptron with margin b, as a share of that of MaxMargin.""",
    theorem="""Perceptron: (R/γ)². With margin b: (R² + 2b)/γ² updates, and the margin reached is at least
        γb/(R² + 2b), which tends to γ/2. PA-I: max(R², 1/C)/γ² mistakes. Winnow with
        its best rate, γ₁/R∞²: 2 ln(2d)(R∞/γ₁)², where γ₁ is the margin for |u|₁ = 1 and R∞ the largest
        absolute value.""",
    reference="""Novikoff, A. (1962). On convergence proofs on perceptrons. Crammer, K. et al. (2006). Online
        passive-aggressive algorithms. Littlestone, N. (1988). Learning quickly when irrelevant attributes
        abound. Krauth, W. and Mezard, M. (1987). Learning algorithms with optimal stability in neural
        networks.""",
    plan=_plan_bounds,
    measure=_measure_bounds,
    findings=_findings_bounds,
    draw=_draw_bounds,
    bounds=(
        Bounded("mistakes", "bound", "The bound of each learner"),
        Bounded("promised", "share", "The margin reached, as a bound on the one that is promised,"),
    ),
)

# ---------------------------------------------------------------- Winnow against the perceptron

RELEVANT, FILLED = 3, 9  # columns that matter in dense rows, and values other than zero in sparse rows
RUNS = {"perceptron": "perceptron", "winnow": "Winnow, best rate γ₁", "fast": "Winnow, rate 1/3, 100 passes"}


def _plan_winnow(quick: bool) -> list[Record]:
    common: Any = {"n_columns": [20, 50, 100, 200], "seed": range(3) if quick else range(20)}
    dense = grid(rows=["dense"], learner=["perceptron", "winnow"], **common)
    return dense(quick) + grid(rows=["sparse"], learner=list(RUNS), **common)(quick)


def _rows_winnow(rows: str, n_columns: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of signs, labeled by the majority of three columns, or mostly zeros, labeled by all."""
    random = np.random.default_rng([seed, n_columns])
    X = random.choice([-1.0, 1.0], size=(10 * n_columns, n_columns))
    u = random.choice([-1.0, 1.0], size=n_columns)
    if rows == "dense":
        u[RELEVANT:] = 0.0
    else:
        X[random.random(X.shape).argsort(axis=1) >= FILLED] = 0.0
    return X, np.where(X @ u > 0.0, 1, -1)  # odd numbers of signs: no score is zero


def _measure_winnow(rows: str, learner: str, n_columns: int, seed: int) -> list[Record]:
    X, y = _rows_winnow(rows, n_columns, seed)
    matter, length = (RELEVANT, n_columns) if rows == "dense" else (n_columns, FILLED)
    bound = float(matter * length)  # (R/g)^2: R^2 is the length, and g is 1 / sqrt(matter)
    if learner == "perceptron":
        model: Any = perceptron(X, y)
    else:
        rate, passes = (1.0 / matter, 10_000) if learner == "winnow" else (1.0 / RELEVANT, 100)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the findings count these runs
            model = Winnow(eta0=rate, fit_intercept=False, order="cyclic", max_iter=passes).fit(X, y)
        bound = 2.0 * math.log(2.0 * n_columns) * matter**2 if learner == "winnow" else math.nan
    return [{"separated": model.converged_, "mistakes": model.mistakes_, "bound": bound}]


def _findings_winnow(table: Table) -> Iterator[Finding]:
    d = max(values(table["n_columns"]))
    largest = where(table, n_columns=d)
    middle = {
        (rows, name): float(np.median(where(largest, rows=rows, learner=name)["mistakes"]))
        for rows in ("dense", "sparse")
        for name in RUNS
        if rows == "sparse" or name != "fast"
    }
    fast = where(table, rows="sparse", learner="fast")["separated"]
    yield claim(
        f"If {RELEVANT} of {d} columns matter, Winnow makes {middle['dense', 'winnow']:,.0f} mistakes in the "
        f"median and the perceptron {middle['dense', 'perceptron']:,.0f}.",
        middle["dense", "winnow"] < middle["dense", "perceptron"],
    )
    yield Finding(
        f"If all {d} columns matter and rows are sparse, it is {middle['sparse', 'winnow']:,.0f} against "
        f"{middle['sparse', 'perceptron']:,.0f}: with a small rate, Winnow is nearly a perceptron, although "
        "its bound is much larger."
    )
    yield claim(
        f"With the rate that suited the few columns, Winnow loses clearly: it separates the sparse rows in "
        f"{fast.sum():,} of {fast.size:,} runs of 100 passes, and makes {middle['sparse', 'fast']:,.0f} "
        "mistakes.",
        middle["sparse", "fast"] > 2.0 * middle["sparse", "perceptron"],
    )


def _draw_winnow(table: Table) -> Figure:
    figure, axes = charts.panels(
        (f"Dense rows, {RELEVANT} columns matter", "columns", "mistakes", "xy"),
        ("Sparse rows, all columns matter", "columns", "", "xy"),
    )
    for ax, rows in zip(axes, ("dense", "sparse"), strict=True):
        for place, (name, label) in enumerate(RUNS.items()):
            part = where(table, rows=rows, learner=name)
            if not part["mistakes"].size:
                continue
            charts.sweep(ax, part, "n_columns", "mistakes", place, label)
            if name != "fast":
                dotted: Any = {"color": charts.color(place), "linestyle": ":", "linewidth": 1.4}
                charts.bound_by(ax, part, "n_columns", "bound", f"bound, {label.partition(',')[0]}", **dotted)
        charts.ticks_at(ax, values(table["n_columns"]))
    return charts.finish(figure, columns=3)


WINNOW = Study(
    name="winnow",
    title="Winnow against the perceptron",
    source="Chapter 2, three more learners",
    question="When does a learner that multiplies weights make fewer mistakes than one that adds to them?",
    method=f"""Ten rows per column, in turn until none is wrong. Dense rows are random signs, labeled by the
        majority of {RELEVANT} columns. Sparse rows have {FILLED} random signs, all other values are zero,
        and every column has a weight of -1 or 1 in the label. Medians and ranges over the data sets.""",
    theorem=f"""Perceptron: (R/γ)², which is {RELEVANT}d for the dense rows and {FILLED}d for the sparse ones.
        Winnow with its best rate γ₁: 2 ln(2d)(R∞/γ₁)², which is {2 * RELEVANT**2} ln(2d) for the dense rows
        and 2d² ln(2d) for the sparse ones. A rate of 2γ₁ or more has no bound.""",
    reference="""Kivinen, J., Warmuth, M. and Auer, P. (1997). The perceptron algorithm versus Winnow: linear
        versus logarithmic mistake bounds when few input variables are relevant.""",
    plan=_plan_winnow,
    measure=_measure_winnow,
    findings=_findings_winnow,
    draw=_draw_winnow,
    bounds=(Bounded("mistakes", "bound", "The bound of each learner"),),
)
