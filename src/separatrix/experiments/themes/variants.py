"""Variations: learning rate, lift, own point, renormalised weights."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ... import datasets
from ...estimators.margin import MaxMargin
from ..study import Bounded, Finding, Record, Study, Table, claim, grid, medians, percent, values, where
from . import charts, theory
from .convergence import NOVIKOFF
from .theory import perceptron

# ---------------------------------------------------------------- learning rate

RATES = [2.0**power for power in range(-10, 11, 2)]


def _measure_rate(start: str, rate: float, seed: int) -> list[Record]:
    problem = datasets.make_separable(300, 5, margin=0.03, random_state=seed)
    first = np.zeros(5)
    if start == "random":
        first = np.random.default_rng([seed, 1]).standard_normal(5)
        first /= np.linalg.norm(first)
    length, along = float(np.linalg.norm(first)), float(first @ problem.weights)
    return [
        {
            "updates": perceptron(*problem, eta0=rate, init=first).mistakes_,
            "updates_rate_one": perceptron(*problem, init=first).mistakes_,
            "bound": theory.any_start(problem.radius, problem.margin, length, along, rate),
        }
    ]


def _findings_rate(table: Table) -> Iterator[Finding]:
    zero, moved = (where(table, start=start) for start in ("zero", "random"))
    _, y = medians(moved, "rate", "updates")
    _, plain = medians(zero, "rate", "updates")
    yield claim(
        "From zero weights a rate that is a power of two changes nothing: for each of the "
        f"{len(values(zero['seed']))} data sets all {len(RATES)} rates, from {RATES[0]:.2g} to "
        f"{RATES[-1]:,.0f}, give the same number of updates.",
        zero["updates"] == zero["updates_rate_one"],
    )
    yield claim(
        "The rate matters relative to weights that are already there: from a start of length one the median "
        f"falls from {y[0]:,.0f} updates at the smallest rate to {y[-1]:,.0f} at the largest, where the "
        f"start is forgotten (from zero it is {plain[0]:,.0f}).",
        y[-1] < y[0],
    )


def _draw_rate(table: Table) -> Figure:
    figure, axes = charts.panels(
        ("Start at zero", "learning rate η", "updates", "xy"),
        ("Start at a random unit vector", "learning rate η", "", "xy"),
    )
    for place, (start, label) in enumerate({"zero": "zero", "random": "a unit vector"}.items()):
        ax, part = axes[place], where(table, start=start)
        charts.bound_by(ax, part, "rate", "bound", "bound (lowest of the runs)")
        charts.sweep(ax, part, "rate", "updates", place, f"updates, from {label}")
        ax.set_ylim(0.5 * table["updates"].min(), 20.0 * table["updates"].max())
    return charts.finish(figure)


RATE = Study(
    name="learning-rate",
    title="From zero, the learning rate changes nothing but rounding",
    source="Chapter 4, exercise 2",
    question="Does a learning rate η in the update w ← w + ηyx change how soon the perceptron ends?",
    method="""The same data sets (300 points, five dimensions, margin 0.03) are run with rates that are powers
        of two, so that scaling by them does not round: once from zero weights, once from a random vector of
        length one. Medians and ranges over the data sets.""",
    theorem="""From zero weights and in exact arithmetic, w after t updates is η times what it is with η = 1,
        so no sign changes; in floating point this stays exact if η is a power of two. Other rates round, and
        if a score is exactly zero, rounding decides its sign. The bound is (R/γ)² for every η. From weights
        of length c₀ with component c₁ along u, the number of updates is at most the larger root of
        η²γ²t² + (2ηc₁γ − η²R²)t + c₁² − c₀² = 0.""",
    reference=NOVIKOFF,
    plan=grid(start=["zero", "random"], rate=RATES, seed=(range(5), range(40))),
    measure=_measure_rate,
    findings=_findings_rate,
    draw=_draw_rate,
    bounds=(Bounded("updates", "bound", "The bound (for any start)"),),
)

# ---------------------------------------------------------------- lifted against affine


def _measure_lift(offset: float, constant: float, margin: float, seed: int) -> list[Record]:
    problem = datasets.make_separable(200, 3, margin=margin, intercept=float(offset), random_state=seed)
    model = perceptron(*problem, fit_intercept=True, intercept_scaling=constant)
    return [
        {
            "updates": model.mistakes_,
            "updates_affine": _affine_updates(problem.X, problem.y, constant),
            "bound": theory.lifted(problem.radius, margin, offset, constant),
            "lifted_margin": MaxMargin(fit_intercept="lifted").fit(*problem).margin_lower_,
            "affine_margin": margin,
            "least_lifted_margin": margin / math.sqrt(1.0 + offset**2),
        }
    ]


def _affine_updates(X: np.ndarray, y: np.ndarray, constant: float) -> int:
    """Run the plain loop that keeps w and b apart, w ← w + yx, b ← b + ys², as a student would write it."""
    signs, points = y.tolist(), X.tolist()
    w, b, updates, clean = [0.0] * len(points[0]), 0.0, 0, False
    while not clean:
        clean = True
        for sign, x in zip(signs, points, strict=True):
            if sign * (sum(p * q for p, q in zip(w, x, strict=True)) + b) <= 0.0:
                w = [p + sign * q for p, q in zip(w, x, strict=True)]
                b += sign * constant**2
                updates, clean = updates + 1, False
    return updates


def _findings_lift(table: Table) -> Iterator[Finding]:
    same, lifted, affine = (
        table["updates"] == table["updates_affine"],
        table["lifted_margin"],
        table["affine_margin"],
    )
    yield claim(
        "Keeping w and b apart and lifting the points by one more coordinate s give the same updates in "
        f"{same.sum():,} of {len(same):,} runs.",
        same,
    )
    yield Finding(
        "The extra constant factor is (1 + s²/R²)(1 + b²/s²), where b is the plane's distance from the "
        "origin: with R = s = 1 it is 2 for a plane through the origin and "
        f"{theory.lifted(1.0, 1.0, 0.8):.2f} at b = 0.8. It comes from longer points and a smaller margin "
        "in lifted coordinates."
    )
    yield claim(
        "In all runs the best lifted margin (s = 1) is between γ/√(1 + b²) and γ, and if b ≠ 0 it is below "
        "γ: the two margins are different numbers.",
        lifted >= table["least_lifted_margin"] * (1 - 1e-9),
        lifted <= affine * (1 + 1e-9),
        (lifted < affine * (1 - 1e-6))[table["offset"] != 0.0],
    )
    for offset in values(table["offset"])[1:]:
        x, y = medians(where(table, offset=offset), "constant", "updates")
        yield Finding(
            f"At b = {offset:g} the bound is smallest for s = √(R|b|) = {math.sqrt(offset):.2f}; the "
            f"fewest updates (median {y.min():,.0f}) were counted at s = {x[y.argmin()]:g}, the most "
            f"({y.max():,.0f}) at s = {x[y.argmax()]:g}."
        )


def _draw_lift(table: Table) -> Figure:
    offsets = values(table["offset"])
    panels = [(f"Plane at b = {offset:g}", "lifting coordinate s", "", "xy") for offset in offsets]
    figure, axes = charts.panels(*panels, height=3.9, sharey=True)
    axes[0].set_ylabel("updates")
    for ax, offset in zip(axes, offsets, strict=True):
        part = where(table, offset=offset)
        s = np.geomspace(part["constant"].min(), part["constant"].max(), 100)
        limit = [theory.lifted(1.0, float(part["margin"][0]), offset, float(value)) for value in s]
        charts.bound(ax, s, limit, "bound (R² + s²)(1 + b²/s²)/γ²")
        charts.sweep(ax, part, "constant", "updates", 0, "updates")
        if offset:
            dotted: Any = {"color": charts.MUTED, "linestyle": ":", "linewidth": 1.2}
            ax.axvline(math.sqrt(offset), **dotted, label="s = √(R|b|)")
    return charts.finish(figure)


LIFT = Study(
    name="lifted",
    title="Does the margin change if the intercept counts in the norm?",
    source="Chapter 4, exercise 3",
    question="""What changes in the proof if the perceptron works with w and b in the plain space instead of
        homogeneous coordinates, and where does the extra constant factor come from?""",
    method="""200 points in three dimensions, R = 1, margin 0.05, on both sides of a plane at distance b from
        the origin. The perceptron has intercept_scaling=s: the rows are lifted by a constant coordinate s. A
        plain loop runs on the same rows with w ← w + yx and b ← b + ys². Medians and ranges against s.""",
    theorem="""Lifted points are at most √(R² + s²) long, and (u, b/s), of length √(1 + b²/s²), gives each a
        score of at least γ. So there are at most (R² + s²)(1 + b²/s²)/γ² updates. If b ≠ 0, s² = R|b| gives
        the smallest bound, ((R + |b|)/γ)², which is at most (2R/γ)² because |b| < R.""",
    reference="""Cristianini, N. and Shawe-Taylor, J. (2000). An Introduction to Support Vector Machines,
        theorem 2.3 (the case of a step of R² for b).""",
    plan=grid(
        offset=[0.0, 0.2, 0.8],
        constant=([0.1, 0.5, 1.0, 10.0], [0.03, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0]),
        margin=[0.05],
        seed=(range(3), range(12)),
    ),
    measure=_measure_lift,
    findings=_findings_lift,
    draw=_draw_lift,
    bounds=(
        Bounded("updates", "bound", "The bound in lifted coordinates"),
        Bounded("lifted_margin", "affine_margin", "The affine margin, as a bound on the lifted one,"),
    ),
)

# ---------------------------------------------------------------- the own point


def _measure_own(n_columns: int, margin: float, seed: int) -> list[Record]:
    problem = datasets.make_separable(200, n_columns, margin=margin, random_state=seed)
    signed = problem.y[:, None] * problem.X
    first = np.random.default_rng([seed, 1]).standard_normal(n_columns)
    first *= 3.0 * problem.radius / np.linalg.norm(first)
    trace = perceptron(*problem, init=first, trace=True).result_.trace
    assert trace is not None
    scores = np.vstack([first, trace.weights]) @ signed.T
    return [
        {
            "update": step + 1,
            "row": row,
            "score_before": float(scores[step, row]),
            "score_after": float(scores[step + 1, row]),
            "squared_length": float(signed[row] @ signed[row]),
            "errors_before": int((scores[step] <= 0.0).sum()),
            "errors_after": int((scores[step + 1] <= 0.0).sum()),
            "others_worse": int((scores[step + 1] < scores[step]).sum()),
        }
        for step, row in enumerate(trace.rows.tolist())
    ]


def _findings_own(table: Table) -> Iterator[Finding]:
    gain = table["score_after"] - table["score_before"]
    right, worse = table["score_after"] > 0.0, table["errors_after"] > table["errors_before"]
    yield claim(f"All {len(gain):,} updates raised the score of their own point.", gain > 0.0)
    yield claim("Each raised it by |x|², up to rounding.", np.abs(gain - table["squared_length"]) <= 1e-9)
    yield Finding(
        f"A better score is not always positive: {right.sum():,} of the points ({percent(right.mean())}) "
        "were on the correct side after their update."
    )
    yield claim(
        f"Other points may lose: {worse.sum():,} updates ({percent(worse.mean())}) left more points wrong "
        f"than before; in the median, {np.median(table['others_worse']):,.0f} of 200 points lost score.",
        worse.any(),
    )


def _draw_own(table: Table) -> Figure:
    figure, (left, right) = charts.panels(
        ("Its own point: better, by |x|²", "score of the point before its update", "score after"),
        ("All points: not always", "updates", "points on the wrong side, of 200"),
    )
    for place, columns in enumerate(values(table["n_columns"])):
        part = where(table, n_columns=columns)
        style = charts.dots(place, f"{columns} dimensions", markersize=3.5)
        left.plot(part["score_before"][:600], part["score_after"][:600], **style)
        run = where(part, seed=values(part["seed"])[0])
        times, errors = np.append(0, run["update"]), np.append(run["errors_before"][0], run["errors_after"])
        line: Any = {"color": charts.color(place), "linestyle": charts.dashes(place)}
        right.step(times, errors, where="post", **line, label=f"{columns} dimensions, one run")
    ends = np.array([float(table["score_before"].min()), 0.0])
    left.plot(ends, ends, color=charts.MUTED, linestyle=":", linewidth=1.4, label="no change")
    charts.bound(left, ends, ends + 1.0, "before + R²")
    left.axhline(0.0, color=charts.MUTED, linewidth=0.8)
    right.set_ylim(0, None)
    return charts.finish(figure, columns=3)


OWN = Study(
    name="own-point",
    title="Does every update improve the score of its own row?",
    source="Chapter 4, exercise 4",
    question="Does w after an update do better on the point it was made for, and what about the others?",
    method="""Runs on 200 points with margin 0.03, from a random start of length 3R, record every update.
        Left: the score y⟨w, x⟩ of the corrected point before and after. Right: how many of all points are
        wrong, update by update, in one run for each dimension.""",
    theorem="""⟨w + z, z⟩ = ⟨w, z⟩ + |z|² for the signed point z = yx: the score rises by exactly |z|² ≤ R².
        There is no such guarantee for the other points.""",
    reference="The identity proves itself.",
    plan=grid(n_columns=[2, 10], margin=[0.03], seed=(range(2), range(8))),
    measure=_measure_own,
    findings=_findings_own,
    draw=_draw_own,
    bounds=(Bounded("score_after", "squared_length", "The bound |x|² on the score after an update"),),
)

# ---------------------------------------------------------------- renormalised weights


def _plan_unit(quick: bool) -> list[Record]:
    steps = ([0.5, 1.0, 1.9, 4.0, 12.0], [0.25, 0.5, 1.0, 1.5, 1.9, 3.0, 4.0, 6.0, 8.0, 12.0, 24.0])
    common: Any = {"margin": [0.05], "step": steps, "max_updates": [5_000]}
    pairs = grid(data=["two points"], **common, seed=[0])
    balls = grid(data=["ball"], **common, seed=(range(3), range(20)))
    return pairs(quick) + balls(quick)


def _measure_unit(
    data: str, margin: float, step: float, max_updates: int, seed: int, height: float = 0.8
) -> list[Record]:
    if data == "two points":  # renormalised weights go back and forth between the signed points
        X, y = np.array([[margin, height], [-margin, height]]), np.array([1, -1])
        radius = math.hypot(margin, height)
    else:
        problem = datasets.make_separable(200, 3, margin=margin, random_state=seed)
        (X, y), radius = problem, problem.radius
    rate = step * margin / radius**2
    unit = perceptron(X, y, eta0=rate, renormalise=True, max_updates=max_updates)
    return [
        {
            "rate": rate,
            "updates": unit.mistakes_,
            "ended": unit.converged_,
            "bound": theory.renormalised(radius, margin, rate),
            "updates_plain": perceptron(X, y, eta0=rate).mistakes_,
            "bound_plain": theory.novikoff(radius, margin),
        }
    ]


def _findings_unit(table: Table) -> Iterator[Finding]:
    small, ended = table["step"] < 2.0, table["ended"]
    stuck = where(table, data="two points", ended=False)["step"]
    never, beyond = int((~ended & ~small).sum()), int((table["updates"] > table["bound_plain"]).sum())
    yield claim(
        "Novikoff's bound does not apply to renormalised weights: each update starts again from length "
        f"one, so the steps never become small relative to w. {beyond:,} of {len(small):,} renormalised runs "
        "made more updates than it allows the plain perceptron.",
        beyond > 0,
    )
    yield claim(
        f"With ηR²/γ below 2 all {small.sum():,} renormalised runs ended, as the argument above proves.",
        ended[small],
    )
    yield claim(
        f"Above 2 there is no guarantee: {never:,} of {(~small).sum():,} runs were still making mistakes "
        f"after {table['max_updates'][0]:,} updates. Two points are enough for that (ηR²/γ = "
        f"{', '.join(f'{step:g}' for step in stuck)}): w goes back and forth between them.",
        never > 0,
        stuck.size > 0,
    )


def _draw_unit(table: Table) -> Figure:
    figure, axes = charts.panels(
        ("Two points", "ηR²/γ", "updates", "xy"), ("200 points in a ball", "ηR²/γ", "", "xy"), sharey=True
    )
    most = int(table["max_updates"][0])
    for ax, data in zip(axes, ("two points", "ball"), strict=True):
        part = where(table, data=data)
        ended, stuck = where(part, ended=True), where(part, ended=False)
        charts.sweep(ax, part, "step", "updates_plain", 0, "plain")
        charts.sweep(ax, ended, "step", "updates", 1, "renormalised, ended")
        cross: Any = {"color": charts.INK, "markersize": 7, "markeredgewidth": 1.8, "zorder": 4}
        label = f"renormalised, no end after {most:,}"
        ax.plot(stuck["step"], stuck["updates"], "x", **cross, label=label)
        s, margin = np.linspace(part["step"].min(), 1.999, 300), float(part["margin"][0])
        radius = math.sqrt(float(part["step"][0] * margin / part["rate"][0]))
        limit = np.array([theory.renormalised(radius, margin, float(v) * margin / radius**2) for v in s])
        shown = limit < 2 * most
        charts.bound(ax, s[shown], limit[shown], "bound for renormalised, ηR²/γ < 2")
        dashed: Any = {"color": charts.ACCENT, "linestyle": "--", "linewidth": 1.4}
        ax.axhline(float(part["bound_plain"][0]), **dashed, label="Novikoff, for plain only")
        ax.axvline(2.0, color=charts.MUTED, linestyle=":", linewidth=1.2)
    axes[0].set_ylim(0.8, 3 * most)
    return charts.finish(figure, columns=3)


UNIT = Study(
    name="renormalised",
    title="What changes if the weights are renormalized?",
    source="Chapter 4, exercise 5",
    question="How does the analysis change if w is scaled to length one after every update?",
    method="""Two data sets: the two signed points (0.05, ±0.8), and 200 points in a ball with margin
        0.05. Each is run plainly and with renormalised weights, from zero, for several learning rates η; a
        run is stopped after 5,000 updates (crosses). Medians and ranges.""",
    theorem="""Novikoff's argument fails: it needs ⟨w, u⟩ to grow by γ with each update, and renormalising
        takes part of that back. What can be proved, from zero weights: let c be the cosine between w and u
        and q = √(1 + η²R²). The first update makes c at least γ/R. From a c of at least −ηγ, the only case
        after that, an update makes it at least (c + ηγ)/q, and this is more than c for every c ≤ 1 if and
        only if η < 2γ/(R² − γ²); then there are at most 1 + (1 − γ/R)·q/(1 + ηγ − q) updates. From other
        weights, with c below −ηγ, this step is not proved, and for larger η nothing is.""",
    reference="The complete argument is given above.",
    plan=_plan_unit,
    measure=_measure_unit,
    findings=_findings_unit,
    draw=_draw_unit,
    bounds=(
        Bounded("updates", "bound", "The bound for renormalised weights with ηR²/γ below 2"),
        Bounded("updates_plain", "bound_plain", "Novikoff's bound, for the plain perceptron,"),
    ),
)
