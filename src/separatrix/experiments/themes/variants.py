"""Variations: learning rate, lift, own point, renormalised weights."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.figure import Figure

from ... import datasets
from ...estimators.margin import MaxMargin
from ..study import Bounded, Finding, Record, Study, Table, medians, percent, values, where
from . import drawing, theory
from .convergence import NOVIKOFF
from .fitting import geometric_margin, perceptron

# ---------------------------------------------------------------- learning rate

RATES = [2.0**power for power in range(-10, 11, 2)]
ODD_RATES = [0.1, 0.3, 1.0 / 3.0]  # not powers of two: multiplying by them rounds
EVEN_RATES = [0.125, 0.5, 4.0]


def _plan_rate(quick: bool) -> list[Record]:
    balls = [
        {"data": "ball", "start": start, "rate": rate, "seed": seed}
        for start in ("zero", "random")
        for rate in RATES
        for seed in range(5 if quick else 40)
    ]
    integers = [
        {"data": "integers", "start": "zero", "rate": rate, "seed": seed}
        for rate in (*ODD_RATES, *EVEN_RATES)
        for seed in range(40 if quick else 400)
    ]
    return balls + integers


def integer_problem(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points with small integer coordinates, their labels, and the normal of a plane between them.

    Scores of exactly zero are common on the way to a separator.
    """
    rng = np.random.default_rng([seed, 2])
    normal = rng.integers(1, 4, 3)
    X = rng.integers(-3, 4, (60, 3))
    scores = X @ normal
    return X[scores != 0].astype(float), np.sign(scores[scores != 0]), normal


def _measure_rate(data: str, start: str, rate: float, seed: int) -> list[Record]:
    if data == "integers":
        X, y, normal = integer_problem(seed)
        radius = float(np.linalg.norm(X, axis=1).max())
        margin = geometric_margin(normal, y[:, None] * X)
        first, along = np.zeros(3), 0.0
    else:
        problem = datasets.make_separable(300, 5, margin=0.03, random_state=seed)
        X, y, radius, margin = problem.X, problem.y, problem.radius, problem.margin
        first = np.zeros(5)
        if start == "random":
            first = np.random.default_rng([seed, 1]).standard_normal(5)
            first /= np.linalg.norm(first)
        along = float(first @ problem.weights)
    model = perceptron(X, y, eta0=rate, init=first)
    return [
        {
            "updates": model.mistakes_,
            "updates_rate_one": perceptron(X, y, init=first).mistakes_,
            "bound": theory.any_start(radius, margin, float(np.linalg.norm(first)), along, rate),
            "converged": model.converged_,
        }
    ]


def _changed(table: Table, rates: list[float]) -> tuple[int, int]:
    """Runs on integers at these rates: those with other updates than at rate one, and of how many."""
    part = where(table, data="integers")
    part = {name: column[np.isin(part["rate"], rates)] for name, column in part.items()}
    return int((part["updates"] != part["updates_rate_one"]).sum()), len(part["updates"])


def _findings_rate(table: Table) -> list[Finding]:
    balls = where(table, data="ball")
    zero, moved = where(balls, start="zero"), where(balls, start="random")
    _, y = medians(moved, "rate", "updates")
    _, plain = medians(zero, "rate", "updates")
    (odd, odd_runs), (even, even_runs) = _changed(table, ODD_RATES), _changed(table, EVEN_RATES)
    return [
        Finding(
            "From zero weights a rate that is a power of two changes nothing: for each of the "
            f"{len(values(zero['seed']))} data sets all {len(RATES)} rates, from {RATES[0]:.2g} to "
            f"{RATES[-1]:,.0f}, give the same number of updates, and so do the rates "
            f"{', '.join(f'{rate:g}' for rate in EVEN_RATES)} in {even_runs - even:,} of {even_runs:,} runs "
            "on integers.",
            bool((zero["updates"] == zero["updates_rate_one"]).all()) and even == 0,
        ),
        Finding(
            "Other rates round, and where a score is exactly zero its sign is then up to rounding: at the "
            f"rates 0.1, 0.3 and 1/3, {odd:,} of {odd_runs:,} runs on integers made another number of "
            "updates than at rate one.",
            odd > 0,
        ),
        Finding(
            "The rate matters beside weights that are already there: from a start of length one the median "
            f"falls from {y[0]:,.0f} updates at the smallest rate to {y[-1]:,.0f} at the largest, where the "
            f"start is forgotten (from zero it is {plain[0]:,.0f}).",
            y[-1] < y[0],
        ),
    ]


def _draw_rate(table: Table) -> Figure:
    figure, axes = drawing.panels(3, height=4.0, width_ratios=[1, 1, 0.8])
    titles = {"zero": "Start at zero", "random": "Start at a random unit vector"}
    balls = where(table, data="ball")
    for place, (ax, (start, title)) in enumerate(zip(axes[:2], titles.items(), strict=True)):
        part = where(balls, start=start)
        drawing.log_axes(ax)
        drawing.bound_by(ax, part, "rate", "bound", "bound (lowest of the runs)")
        drawing.sweep(
            ax, part, "rate", "updates", place, f"updates, {('from zero', 'from a unit vector')[place]}"
        )
        ax.set_ylim(0.5 * balls["updates"].min(), 20.0 * balls["updates"].max())
        ax.set_xlabel("learning rate η")
        ax.set_title(title)
    axes[0].set_ylabel("updates")
    rates = [*ODD_RATES, *EVEN_RATES]
    counts = [_changed(table, [rate]) for rate in rates]
    ends = 100 * np.array([theory.share_interval(*count) for count in counts])
    shares = np.array([100 * changed / runs for changed, runs in counts])
    label = "runs that changed, with 95% intervals"
    drawing.interval(axes[2], np.arange(len(rates)), shares, ends, 2, label, linestyle="none")
    axes[2].set_xticks(np.arange(len(rates)), ["1/3" if r == 1.0 / 3.0 else f"{r:g}" for r in rates])
    axes[2].set_xlim(-0.5, len(rates) - 0.5)
    axes[2].set_ylim(bottom=-0.04 * ends.max())
    axes[2].set_xlabel("learning rate η")
    axes[2].set_ylabel("runs, percent")
    axes[2].set_title("Integers: other updates")
    drawing.shared_legend(figure, axes)
    return figure


RATE = Study(
    name="learning-rate",
    title="From zero, the learning rate changes nothing but rounding",
    source="Chapter 4, exercise 2",
    question="Does a learning rate η in the update w ← w + ηyx change how soon the perceptron ends?",
    method=(
        "The same data sets (300 points, five dimensions, margin 0.03) are run with rates that are powers "
        "of two, so that scaling by them does not round: once from zero weights, once from a random vector "
        "of length one. Medians and ranges over the data sets. Right: up to 60 points with small integer "
        "coordinates, from zero, at rates that are powers of two and others; how many runs differ from the "
        "run at rate one, with intervals of Clopper and Pearson."
    ),
    theorem=(
        "From zero weights and in exact arithmetic, w after t updates is η times what it is with η = 1, so "
        "no sign changes; in floating point this stays exact if η is a power of two. The bound is (R/γ)² "
        "whatever η is. From weights of length c₀ with component c₁ along u, the number of updates is at "
        "most the larger root of η²γ²t² + (2ηc₁γ − η²R²)t + c₁² − c₀² = 0."
    ),
    reference=NOVIKOFF,
    plan=_plan_rate,
    measure=_measure_rate,
    findings=_findings_rate,
    draw=_draw_rate,
    bounds=(Bounded("updates", "bound", "The bound (for any start)"),),
)

# ---------------------------------------------------------------- lifted against affine


def _plan_lift(quick: bool) -> list[Record]:
    return [
        {"offset": offset, "constant": constant, "margin": 0.05, "seed": seed}
        for offset in (0.0, 0.2, 0.8)
        for constant in ([0.1, 0.5, 1.0, 10.0] if quick else [0.03, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0])
        for seed in range(3 if quick else 12)
    ]


def _measure_lift(offset: float, constant: float, margin: float, seed: int) -> list[Record]:
    problem = datasets.make_separable(200, 3, margin=margin, intercept=float(offset), random_state=seed)
    ones = np.full((len(problem.y), 1), constant)
    model = perceptron(np.hstack([problem.X, ones]), problem.y)
    best = MaxMargin(fit_intercept="lifted").fit(problem.X, problem.y)
    affine = _affine_updates(problem.X, problem.y, constant)
    return [
        {
            "updates": model.mistakes_,
            "updates_affine": affine,
            "bound": theory.lifted(problem.radius, margin, offset, constant),
            "lifted_margin": best.margin_lower_,
            "affine_margin": margin,
            "least_lifted_margin": margin / math.sqrt(1.0 + offset**2),
        }
    ]


def _affine_updates(X: np.ndarray, y: np.ndarray, constant: float) -> int:
    """The perceptron with w and b apart, w ← w + yx, b ← b + ys²: the plain loop, as a student would."""
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


def _findings_lift(table: Table) -> list[Finding]:
    same = int((table["updates"] == table["updates_affine"]).sum())
    total = len(table["updates"])
    factor = theory.lifted(1.0, 1.0, 0.8)
    apart = {name: column[table["offset"] != 0.0] for name, column in table.items()}
    inside = (table["lifted_margin"] >= table["least_lifted_margin"] * (1 - 1e-9)) & (
        table["lifted_margin"] <= table["affine_margin"] * (1 + 1e-9)
    )
    found = [
        Finding(
            f"Written with w and b apart, or lifted to one more coordinate s: the same updates in {same:,} "
            f"of {total:,} runs.",
            same == total,
        ),
        Finding(
            "The extra constant factor is (1 + s²/R²)(1 + b²/s²), where b is the plane's distance from the "
            f"origin: with R = s = 1 it is 2 for a plane through the origin and {factor:.2f} at b = 0.8. It "
            "comes from longer points and a smaller margin in lifted coordinates."
        ),
        Finding(
            (
                "In all runs the best lifted margin (s = 1) is between γ/√(1 + b²) and γ; with b ≠ 0 it is "
                "below γ in each: the two margins are different numbers."
            ),
            bool(inside.all() and (apart["lifted_margin"] < apart["affine_margin"] * (1 - 1e-6)).all()),
        ),
    ]
    for offset in values(table["offset"])[1:]:
        x, y = medians(where(table, offset=offset), "constant", "updates")
        found.append(
            Finding(
                f"At b = {offset:g} the bound is smallest for s = √(R|b|) = {math.sqrt(offset):.2f}; the "
                f"fewest updates (median {y.min():,.0f}) were counted at s = {x[y.argmin()]:g}, the most "
                f"({y.max():,.0f}) at s = {x[y.argmax()]:g}."
            )
        )
    return found


def _draw_lift(table: Table) -> Figure:
    offsets = values(table["offset"])
    figure, axes = drawing.panels(len(offsets), height=3.9, sharey=True)
    for ax, offset in zip(axes, offsets, strict=True):
        part = where(table, offset=offset)
        drawing.log_axes(ax)
        s = np.geomspace(part["constant"].min(), part["constant"].max(), 100)
        limit = [theory.lifted(1.0, float(part["margin"][0]), offset, float(value)) for value in s]
        drawing.bound(ax, s, limit, "bound (R² + s²)(1 + b²/s²)/γ²")
        drawing.sweep(ax, part, "constant", "updates", 0, "updates")
        if offset:
            ax.axvline(
                math.sqrt(offset), color=drawing.MUTED, linestyle=":", linewidth=1.2, label="s = √(R|b|)"
            )
        ax.set_xlabel("lifting coordinate s")
        ax.set_title(f"Plane at b = {offset:g}")
    axes[0].set_ylabel("updates")
    drawing.shared_legend(figure, axes)
    return figure


LIFT = Study(
    name="lifted",
    title="Lifted against affine",
    source="Chapter 4, exercise 3",
    question=(
        "What changes in the proof if the perceptron works with w and b in the plain space instead of "
        "homogeneous coordinates, and where does the extra constant factor come from?"
    ),
    method=(
        "200 points in three dimensions, R = 1, margin 0.05, on both sides of a plane at distance b from "
        "the origin. The rows are lifted by a constant coordinate s and run through the origin; the same "
        "rows are run by a plain loop with w ← w + yx and b ← b + ys². Medians and ranges against s."
    ),
    theorem=(
        "Lifted points are at most √(R² + s²) long, and (u, b/s), of length √(1 + b²/s²), gives each a "
        "score of at least γ. So there are at most (R² + s²)(1 + b²/s²)/γ² updates; s² = R|b| makes it "
        "least, ((R + |b|)/γ)², which is at most (2R/γ)² since |b| < R."
    ),
    reference=(
        "Cristianini, N. and Shawe-Taylor, J. (2000). An Introduction to Support Vector Machines, theorem "
        "2.3 (the case of a step of R² for b)."
    ),
    plan=_plan_lift,
    measure=_measure_lift,
    findings=_findings_lift,
    draw=_draw_lift,
    bounds=(
        Bounded("updates", "bound", "The bound in lifted coordinates"),
        Bounded("lifted_margin", "affine_margin", "The affine margin, as a bound on the lifted one,"),
    ),
)

# ---------------------------------------------------------------- the own point


def _plan_own(quick: bool) -> list[Record]:
    return [
        {"n_columns": columns, "margin": 0.03, "seed": seed}
        for columns in (2, 10)
        for seed in range(2 if quick else 8)
    ]


def _measure_own(n_columns: int, margin: float, seed: int) -> list[Record]:
    problem = datasets.make_separable(200, n_columns, margin=margin, random_state=seed)
    signed = problem.y[:, None] * problem.X
    first = np.random.default_rng([seed, 1]).standard_normal(n_columns)
    first *= 3.0 * problem.radius / np.linalg.norm(first)
    trace = perceptron(problem.X, problem.y, init=first, trace=True).result_.trace
    assert trace is not None
    before = np.vstack([first, trace.weights[:-1]]) @ signed.T
    after = trace.weights @ signed.T
    steps = np.arange(len(trace.rows))
    own_before, own_after = before[steps, trace.rows], after[steps, trace.rows]
    lengths = (signed**2).sum(axis=1)[trace.rows]
    return [
        {
            "update": int(step) + 1,
            "row": int(trace.rows[step]),
            "score_before": float(own_before[step]),
            "score_after": float(own_after[step]),
            "squared_length": float(lengths[step]),
            "errors_before": int((before[step] <= 0.0).sum()),
            "errors_after": int((after[step] <= 0.0).sum()),
            "others_worse": int((after[step] < before[step]).sum()),
        }
        for step in steps
    ]


def _findings_own(table: Table) -> list[Finding]:
    gain = table["score_after"] - table["score_before"]
    exact = np.abs(gain - table["squared_length"]) <= 1e-9
    total = len(gain)
    right = int((table["score_after"] > 0.0).sum())
    worse = int((table["errors_after"] > table["errors_before"]).sum())
    return [
        Finding(f"All {total:,} updates raised the score of their own point.", bool((gain > 0.0).all())),
        Finding("Each raised it by |x|², to rounding.", bool(exact.all())),
        Finding(
            f"Better is not yet right: {right:,} of the points ({percent(right / total)}) were on the right "
            "side after their update."
        ),
        Finding(
            f"And others pay: {worse:,} updates ({percent(worse / total)}) left more points wrong than "
            f"before; in the median, {np.median(table['others_worse']):,.0f} of 200 points lost score.",
            worse > 0,
        ),
    ]


def _draw_own(table: Table) -> Figure:
    figure, (left, right) = drawing.panels(2, height=4.2)
    for place, columns in enumerate(values(table["n_columns"])):
        part = where(table, n_columns=columns)
        keep = slice(0, 600)
        left.plot(
            part["score_before"][keep],
            part["score_after"][keep],
            drawing.MARKERS[place],
            color=drawing.color(place),
            markersize=3.5,
            alpha=0.6,
            label=f"{columns} dimensions",
        )
        run = where(part, seed=values(part["seed"])[0])
        right.step(
            np.concatenate([[0], run["update"]]),
            np.concatenate([run["errors_before"][:1], run["errors_after"]]),
            where="post",
            color=drawing.color(place),
            linestyle=drawing.DASHES[place],
            label=f"{columns} dimensions, one run",
        )
    low = float(table["score_before"].min())
    ends = np.array([low, 0.0])
    left.plot(ends, ends, color=drawing.MUTED, linestyle=":", linewidth=1.4, label="no change")
    drawing.bound(left, ends, ends + 1.0, "before + R²")
    left.axhline(0.0, color=drawing.MUTED, linewidth=0.8)
    left.set_xlabel("score of the point before its update")
    left.set_ylabel("score after")
    left.set_title("Its own point: better, by |x|²")
    drawing.legend(left, columns=2)
    right.set_xlabel("updates")
    right.set_ylabel("points on the wrong side, of 200")
    right.set_title("All points: not always")
    right.set_ylim(bottom=0)
    drawing.legend(right)
    return figure


OWN = Study(
    name="own-point",
    title="Every update improves its own point",
    source="Chapter 4, exercise 4",
    question="Does w after an update do better on the point it was made for, and what about the others?",
    method=(
        "Runs on 200 points with margin 0.03, from a random start of length 3R, keep every update. Left: "
        "the score y⟨w, x⟩ of the corrected point before and after. Right: how many of all points are "
        "wrong, update by update, in one run for each dimension."
    ),
    theorem=(
        "⟨w + z, z⟩ = ⟨w, z⟩ + |z|² for the signed point z = yx: the score rises by exactly |z|² ≤ R². "
        "Nothing of the kind holds for the other points."
    ),
    reference="The identity is its own proof.",
    plan=_plan_own,
    measure=_measure_own,
    findings=_findings_own,
    draw=_draw_own,
    bounds=(Bounded("score_after", "squared_length", "The bound |x|² on the score after an update"),),
)

# ---------------------------------------------------------------- renormalised weights

# Two signed points (WIDE, HIGH) and (WIDE, -HIGH), between which renormalised weights go to and fro.
HIGH, WIDE = 0.8, 0.05
LIMIT = 5_000


def _plan_unit(quick: bool) -> list[Record]:
    steps = (
        [0.5, 1.0, 1.9, 4.0, 12.0] if quick else [0.25, 0.5, 1.0, 1.5, 1.9, 3.0, 4.0, 6.0, 8.0, 12.0, 24.0]
    )
    pairs = [{"data": "two points", "margin": WIDE, "step": step, "seed": 0} for step in steps]
    balls = [
        {"data": "ball", "margin": 0.05, "step": step, "seed": seed}
        for step in steps
        for seed in range(3 if quick else 20)
    ]
    return pairs + balls


def _measure_unit(data: str, margin: float, step: float, seed: int) -> list[Record]:
    if data == "two points":
        X, y = np.array([[WIDE, HIGH], [-WIDE, HIGH]]), np.array([1, -1])
        radius = math.hypot(WIDE, HIGH)
    else:
        problem = datasets.make_separable(200, 3, margin=margin, random_state=seed)
        X, y, radius = problem.X, problem.y, problem.radius
    rate = step * margin / radius**2
    unit = perceptron(X, y, eta0=rate, renormalise=True, max_updates=LIMIT)
    plain = perceptron(X, y, eta0=rate)
    own = theory.renormalised(radius, margin, rate)
    return [
        {
            "rate": rate,
            "updates": unit.mistakes_,
            "ended": unit.converged_,
            "bound": own,
            "updates_plain": plain.mistakes_,
            "bound_plain": theory.novikoff(radius, margin),
        }
    ]


def _findings_unit(table: Table) -> list[Finding]:
    small = table["step"] < 2.0
    pair = where(table, data="two points")
    stuck = pair["step"][~pair["ended"]]
    never = int((~table["ended"] & ~small).sum())
    beyond = int((table["updates"] > table["bound_plain"]).sum())
    return [
        Finding(
            "Novikoff's bound does not apply to renormalised weights: each update starts again from length "
            f"one, so the steps never become small beside w. {beyond:,} of {len(small):,} renormalised runs "
            "made more updates than it allows the plain perceptron.",
            beyond > 0,
        ),
        Finding(
            (
                f"With ηR²/γ below 2 all {int(small.sum()):,} renormalised runs ended, as the argument above "
                "says they must."
            ),
            bool(table["ended"][small].all()),
        ),
        Finding(
            f"Beyond 2 nothing is promised: {never:,} of {int((~small).sum()):,} runs were still making "
            f"mistakes after {LIMIT:,} updates. Two points are enough for that (ηR²/γ = "
            f"{', '.join(f'{step:g}' for step in stuck)}): w is thrown to and fro between them.",
            never > 0 and stuck.size > 0,
        ),
    ]


def _draw_unit(table: Table) -> Figure:
    figure, axes = drawing.panels(2, height=4.2, sharey=True)
    for ax, (data, title) in zip(
        axes, (("two points", "Two points"), ("ball", "200 points in a ball")), strict=True
    ):
        part = where(table, data=data)
        drawing.log_axes(ax)
        ended, stuck = where(part, ended=True), where(part, ended=False)
        drawing.sweep(ax, part, "step", "updates_plain", 0, "plain")
        drawing.sweep(ax, ended, "step", "updates", 1, "renormalised, ended")
        if len(stuck["step"]):
            ax.plot(
                stuck["step"],
                stuck["updates"],
                "x",
                color=drawing.INK,
                markersize=7,
                markeredgewidth=1.8,
                label=f"renormalised, no end after {LIMIT:,}",
                zorder=4,
            )
        s = np.linspace(part["step"].min(), 1.999, 300)
        radius = math.sqrt(float(part["step"][0] * part["margin"][0] / part["rate"][0]))
        margin = float(part["margin"][0])
        limit = np.array([theory.renormalised(radius, margin, float(v) * margin / radius**2) for v in s])
        shown = limit < 2 * LIMIT
        drawing.bound(ax, s[shown], limit[shown], "bound for renormalised, ηR²/γ < 2")
        ax.axhline(
            float(part["bound_plain"][0]),
            color=drawing.ACCENT,
            linestyle="--",
            linewidth=1.4,
            label="Novikoff, for plain only",
        )
        ax.axvline(2.0, color=drawing.MUTED, linestyle=":", linewidth=1.2)
        drawing.ticks_at(ax, [0.5, 1, 2, 4, 12] if part["step"].max() < 20 else [0.25, 0.5, 1, 2, 4, 8, 24])
        ax.set_xlabel("ηR²/γ")
        ax.set_title(title)
    axes[0].set_ylabel("updates")
    axes[0].set_ylim(0.8, 3 * LIMIT)
    drawing.shared_legend(figure, axes, columns=3)
    return figure


UNIT = Study(
    name="renormalised",
    title="Renormalised weights",
    source="Chapter 4, exercise 5",
    question="What becomes of the analysis if w is scaled to length one after every update?",
    method=(
        f"Two data sets: the two signed points ({WIDE}, ±{HIGH}), and 200 points in a ball with margin "
        "0.05. Each is run plainly and with renormalised weights, from zero, for several learning rates η; a "
        "run is "
        f"given up after {LIMIT:,} updates (crosses). Medians and ranges."
    ),
    theorem=(
        "Novikoff's argument fails: it needs ⟨w, u⟩ to grow by γ with each update, and renormalising takes "
        "part of that back. What can be said, from zero weights: let c be the cosine between w and u and "
        "q = √(1 + η²R²). The first update makes c at least γ/R. From a c of at least −ηγ, which is all that "
        "can be met after that, an update makes it at least (c + ηγ)/q, and this is more than c for every "
        "c ≤ 1 if and only if η < 2γ/(R² − γ²); then there are at most 1 + (1 − γ/R)·q/(1 + ηγ − q) updates. "
        "From other weights, with c below −ηγ, the step is not proved, and for larger η nothing is."
    ),
    reference="The argument is given in full above.",
    plan=_plan_unit,
    measure=_measure_unit,
    findings=_findings_unit,
    draw=_draw_unit,
    bounds=(
        Bounded("updates", "bound", "The bound for renormalised weights with ηR²/γ below 2"),
        Bounded("updates_plain", "bound_plain", "Novikoff's bound, for the plain perceptron,"),
    ),
)

STUDIES = (RATE, LIFT, OWN, UNIT)
