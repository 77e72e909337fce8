"""Online learning and labels that are sometimes wrong."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from ... import datasets
from ...bounds.mistakes import mistake_bounds
from ...estimators.margin import SoftMargin
from ..study import Bounded, Finding, Record, Study, Table, claim, grid, medians, percent, where
from . import charts, theory
from .theory import perceptron

HINGE = (
    "Freund, Y. and Schapire, R. E. (1999). Large margin classification using the perceptron algorithm. "
    "Machine Learning 37, 277-296; Mohri, M. and Rostamizadeh, A. (2013). Perceptron mistake bounds. "
    "arXiv:1305.0208."
)

# ---------------------------------------------------------------- mistakes as label noise grows


def _measure_noise(n_rows: int, margin: float, noise: float, seed: int) -> list[Record]:
    problem = datasets.make_separable(n_rows, 5, margin=margin, random_state=seed)
    flipped = np.random.default_rng([seed, 1]).permutation(n_rows)[: round(noise * n_rows)]
    y = problem.y.copy()
    y[flipped] *= -1
    model = perceptron(problem.X, y, max_iter=1)
    report = mistake_bounds(model, problem.X, y)
    all_rows = SoftMargin(C=1.0 / problem.radius**2, fit_intercept=False).fit(problem.X, y)
    return [
        {
            "mistakes": model.mistakes_,
            "bound": report["hinge"].value,
            "sharp_bound": report["sharp hinge"].value,
            "all_rows_bound": 2.0 * problem.radius**2 * all_rows.objective_,
            "separable_bound": theory.novikoff(problem.radius, margin) if noise == 0.0 else np.nan,
        }
    ]


def _findings_noise(table: Table) -> Iterator[Finding]:
    x, y = medians(table, "noise", "mistakes")
    yield claim(
        f"In one pass over {table['n_rows'][0]:,} points the mistakes grow with every step of the noise, "
        f"from {y[0]:,.0f} without noise to {y[-1]:,.0f} with {percent(x[-1])} of the labels flipped "
        "(medians).",
        np.diff(y) > 0,
    )
    yield claim(
        "In no run does the loss over the mistakes alone give a larger bound than the loss over all "
        "points, nor does solving the quadratic give a larger one than the form R²|w*|² + 2L.",
        table["sharp_bound"] <= table["bound"] * (1 + 1e-9),
        table["bound"] <= table["all_rows_bound"] * (1 + 1e-6),
    )
    ratios = [
        medians(table, "noise", name)[1][-1] / y[-1] for name in ("sharp_bound", "bound", "all_rows_bound")
    ]
    yield Finding(
        f"With the most noise the three bounds are {ratios[0]:.2f}, {ratios[1]:.2f} and {ratios[2]:.2f} "
        "times the mistakes."
    )


def _draw_noise(table: Table) -> Figure:
    title = "Mistakes and bounds as the noise grows"
    figure, (ax,) = charts.panels((title, "labels flipped, percent", "mistakes"))
    shown = {**table, "percent": 100 * table["noise"]}
    for column, label, dashes in (
        ("all_rows_bound", "R²|w*|² + 2L over all points", ":"),
        ("bound", "R²|w*|² + 2L over the mistakes", "-"),
        ("sharp_bound", "sharp form over the mistakes", "--"),
    ):
        charts.bound(ax, *medians(shown, "percent", column), label, linestyle=dashes)
    charts.sweep(ax, shown, "percent", "mistakes", 0, "mistakes in one pass")
    ax.set_ylim(0, None)
    return charts.finish(figure, columns=2)


NOISE = Study(
    name="label-noise",
    title="Mistakes when no hyperplane is perfect",
    source="Chapter 2, inseparable data",
    question="How many mistakes are made online when labels are wrong, and how tight is the bound?",
    method="""Points in five dimensions with margin 0.1; a share of the labels is flipped; one pass in order.
        The w* for the bound is the best one, up to the solver's tolerance: R²|w*|² + 2L is, up to a factor,
        the objective of a soft-margin support vector machine with C = 1/R². Markers and whiskers: medians and
        ranges. Lines: medians of the bounds.""",
    theorem="""From zero weights, the mistakes are at most R²|w*|² + 2L for every w*, where L is the sum of
        the hinge losses max(0, 1 − y⟨w*, x⟩) over the rounds in which a mistake was made; the sum over all
        rounds is at least as large, so it gives a bound too. Solving the quadratic of the proof instead gives
        (A/2 + √(A²/4 + L))² with A = R|w*|.""",
    reference=HINGE,
    plan=grid(
        n_rows=([500], [2000]),
        margin=[0.1],
        noise=([0.0, 0.1, 0.2, 0.4], [0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5]),
        seed=(range(3), range(15)),
    ),
    measure=_measure_noise,
    findings=_findings_noise,
    draw=_draw_noise,
    bounds=(
        Bounded("mistakes", "sharp_bound", "The sharp hinge bound"),
        Bounded("mistakes", "bound", "The bound R²|w*|² + 2L over the mistakes"),
        Bounded("mistakes", "all_rows_bound", "The bound with the loss over all points"),
        Bounded("mistakes", "separable_bound", "Without noise, Novikoff's bound"),
    ),
)

# ---------------------------------------------------------------- online mistake curves

STREAMS = [(0.1, 0.0), (0.03, 0.0), (0.1, 0.05), (0.1, 0.2)]  # margin and share of wrong labels


def _plan_online(quick: bool) -> list[Record]:
    return [
        {"margin": margin, "noise": noise, "n_rows": 3000 if quick else 30_000, "seed": seed}
        for margin, noise in STREAMS
        for seed in range(2 if quick else 10)
    ]


def _measure_online(margin: float, noise: float, n_rows: int, seed: int) -> list[Record]:
    problem = datasets.make_separable(n_rows, 10, margin=margin, random_state=seed)
    rng = np.random.default_rng([seed, 1])
    y = np.where(rng.random(n_rows) < noise, -problem.y, problem.y)
    trace = perceptron(problem.X, y, max_iter=1, trace=True).result_.trace
    assert trace is not None
    when = np.bincount(trace.rows, minlength=n_rows)
    mistakes, scores = np.cumsum(when), y * (problem.X @ problem.weights)
    rounds = np.unique(np.geomspace(10, n_rows, 25).astype(int))
    best = np.full(rounds.size, np.inf)
    for length in np.geomspace(0.02, 1.0, 40) / margin:  # of w*
        losses = np.cumsum(when * np.maximum(0.0, 1.0 - length * scores))
        best = np.minimum(best, (problem.radius * length) ** 2 + 2.0 * losses[rounds - 1])
    return [
        {"round": int(t), "mistakes": int(mistakes[t - 1]), "bound": float(limit)}
        for t, limit in zip(rounds, best, strict=True)
    ]


def _findings_online(table: Table) -> Iterator[Finding]:
    for margin, noise in STREAMS:
        x, y = medians(where(table, margin=margin, noise=noise), "round", "mistakes")
        half = np.searchsorted(x, x[-1] / 2)
        share, rate = 1.0 - y[half] / y[-1], (y[-1] - y[half]) / (x[-1] - x[half])
        if noise == 0.0:
            yield claim(
                f"Without noise at margin {margin:g} the curve flattens: {percent(share)} of its "
                f"{y[-1]:,.0f} mistakes are in the second half of the stream.",
                share < 0.5,
            )
        else:
            yield claim(
                f"With {percent(noise)} of the labels wrong it keeps rising: in the second half one round "
                f"in {1 / rate:.0f} is a mistake, more often than a label is wrong.",
                rate > noise,
            )


def _draw_online(table: Table) -> Figure:
    figure, axes = charts.panels(
        ("Separable streams", "round t", "mistakes so far", "xy"),
        ("Streams with wrong labels", "round t", "", "xy"),
        sharey=True,
    )
    for number, (margin, noise) in enumerate(STREAMS):
        ax, place = axes[number // 2], number % 2
        part = where(table, margin=margin, noise=noise)
        label = f"γ = {margin:g}" if noise == 0.0 else f"{percent(noise)} wrong"
        charts.sweep(ax, part, "round", "mistakes", place, label)
        limits = medians(part, "round", "bound")
        charts.bound(ax, *limits, f"bound, {label}", linestyle=charts.dashes(place))
    return charts.finish(figure)


ONLINE = Study(
    name="online",
    title="Mistakes over time",
    source="Chapter 2, online learning",
    question="When points come one by one, how do the mistakes add up, with and without wrong labels?",
    method="""Streams of points in ten dimensions, each seen once, in order. Mistakes so far against the
        round, both logarithmic: medians and ranges over streams. The bound is computed at each round, as the
        smallest for 40 lengths of the known separator (medians over the streams).""",
    theorem="""From zero weights, at every round t, the mistakes so far are at most R²|w*|² + 2L for every w*,
        where L is the hinge loss of w* over the mistakes so far. If y⟨w*, x⟩ ≥ 1 for all points, L = 0 and
        the bound is a constant: the smallest of these is (R/γ)².""",
    reference=HINGE,
    plan=_plan_online,
    measure=_measure_online,
    findings=_findings_online,
    draw=_draw_online,
    bounds=(Bounded("mistakes", "bound", "The bound R²|w*|² + 2L at every round"),),
)
