"""How many updates the perceptron needs, and how close it comes to a known separator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ... import datasets
from ...estimators.margin import MaxMargin
from ...geometry import geometric_margin
from ..study import (
    Bounded,
    Finding,
    Record,
    Study,
    Table,
    claim,
    grid,
    medians,
    percent,
    slope,
    values,
    where,
)
from . import charts, theory
from .theory import perceptron

NOVIKOFF = (
    "Novikoff, A. B. J. (1962). On convergence proofs on perceptrons. Symposium on the Mathematical Theory "
    "of Automata 12, 615-622."
)

# ---------------------------------------------------------------- updates

ORDERS = {"cyclic": "in turn", "working_set": "working set"}
SWEEPS = {
    "n_rows": ("points", "number of points"),
    "n_columns": ("dimension", "dimension"),
    "margin": ("margin", "margin γ"),
    "radius": ("magnitude", "magnitude R"),
}


def _plan_updates(quick: bool) -> list[Record]:
    usual = {"n_rows": 500 if quick else 1000, "n_columns": 10, "margin": 0.03, "radius": 1.0}
    varied: dict[str, list[Any]] = {
        "n_rows": [30, 100, 300, 1000] if quick else [30, 100, 300, 1000, 3000, 10_000],
        "n_columns": [2, 5, 20, 50] if quick else [2, 5, 10, 30, 100, 300],
        "margin": [0.3, 0.1, 0.03, 0.01] if quick else [0.3, 0.1, 0.03, 0.01, 0.003],
        "radius": [0.1, 0.3, 1.0, 3.0] if quick else [0.1, 0.3, 1.0, 3.0, 10.0],
    }
    return [
        {"sweep": sweep, **usual, sweep: value, "seed": seed}
        for sweep, choices in varied.items()
        for value in choices
        for seed in range(5 if quick else 20)
    ]


def _measure_updates(
    sweep: str, n_rows: int, n_columns: int, margin: float, radius: float, seed: int
) -> list[Record]:
    X, y = datasets.make_separable(n_rows, n_columns, margin=margin, radius=radius, random_state=seed)
    models = {order: perceptron(X, y, order=order) for order in ORDERS}
    return [
        {
            "order": order,
            "updates": model.mistakes_,
            "bound": theory.novikoff(radius, margin),
            "converged": model.converged_,
            "updates_scaled": perceptron(64.0 * X, y, order=order).mistakes_,
        }
        for order, model in models.items()
    ]


def _findings_updates(table: Table) -> Iterator[Finding]:
    yield claim("Every run ended with a separator.", table["converged"])
    median = {sweep: medians(where(table, sweep=sweep, order="cyclic"), sweep, "updates") for sweep in SWEEPS}
    narrow, wide = slope(*median["margin"]), slope(*median["radius"])
    yield claim(
        f"As the margin shrinks, the updates grow like margin^{narrow:.2f}, more slowly than the bound's "
        "margin^-2.",
        -2.0 < narrow < 0.0,
    )
    yield claim(
        f"Larger points at the same margin take longer: the updates grow like R^{wide:.2f}, more slowly than "
        "the bound's R^2.",
        0.0 < wide < 2.0,
    )
    yield claim(
        "But margin and magnitude are one factor, not two: multiplying all points by 64 does not change the "
        "updates of any run.",
        table["updates"] == table["updates_scaled"],
    )
    for sweep, noun in (("n_rows", "points"), ("n_columns", "dimensions")):
        x, y = median[sweep]
        yield Finding(
            f"From {x[0]:,.0f} to {x[-1]:,.0f} {noun} the median number of updates went from {y[0]:,.0f} to "
            f"{y[-1]:,.0f}; the bound does not depend on the number of {noun}."
        )


def _draw_updates(table: Table) -> Figure:
    figure, axes = charts.panels(
        *((f"Against the {name}", label, "", "xy") for name, label in SWEEPS.values()),
        height=3.9,
        sharey=True,
    )
    axes[0].set_ylabel("updates")
    for ax, sweep in zip(axes, SWEEPS, strict=True):
        part = where(table, sweep=sweep)
        charts.bound_by(ax, part, sweep, "bound", "bound (R/γ)²")
        charts.sweeps(ax, part, sweep, "updates", "order", ORDERS)
    return charts.finish(figure)


UPDATES = Study(
    name="updates",
    title="How many updates does the perceptron need?",
    source="Chapter 3; chapter 4, exercise 1, parts 2 to 4",
    question="""How does the number of updates depend on the number of points, on the dimension, on the known
        margin between the classes, and on the magnitude of the points, which is the length of the longest?
        How far is it from the theorem's bound?""",
    method="""Points fill a ball of radius R on both sides of a known hyperplane through the origin, at a
        known distance from it. One of points, dimension, margin and radius varies, the others are fixed. The
        rows are visited in turn, and by the library's working set. Every data set is run a second time with
        all points multiplied by 64, a power of two, so that nothing is rounded. Markers are medians over the
        repetitions, whiskers reach from the smallest to the largest count; all axes are logarithmic.""",
    theorem="""If some unit vector u has y⟨u, x⟩ ≥ γ for all points and none is longer than R, the perceptron
        that starts at zero makes at most (R/γ)² updates, in any order of its mistakes. The bound depends
        neither on the number of points nor on the dimension, and on R and γ only through their ratio. If all
        points are multiplied by one number, the run stays the same (in exact arithmetic), because all weights
        are multiplied by it and no sign changes.""",
    reference=NOVIKOFF,
    plan=_plan_updates,
    measure=_measure_updates,
    findings=_findings_updates,
    draw=_draw_updates,
    bounds=(Bounded("updates", "bound", "Novikoff's bound"),),
)

# ---------------------------------------------------------------- closeness to the known separator


def _measure_angle(n_rows: int, n_columns: int, margin: float, seed: int) -> list[Record]:
    problem = datasets.make_separable(n_rows, n_columns, margin=margin, random_state=seed)
    last = perceptron(*problem)
    models: dict[str, Any] = {
        "last": last,
        "averaged": perceptron(*problem, average="averaged"),
        "margin": MaxMargin(fit_intercept=False).fit(*problem),
    }
    records = []
    for method, model in models.items():
        weights = model.coef_[0]
        own = geometric_margin(problem.X, problem.y, weights)
        # Two proofs bound the angle of the last weights, one that of any other separator.
        limit = theory.widest_angle(own, problem.margin) if own > 0.0 else np.nan
        if method == "last":
            progress = np.sqrt(last.mistakes_) * problem.margin**2 / problem.radius
            limit = min(limit, theory.widest_angle(progress, problem.margin))
        records.append(
            {
                "method": method,
                "angle": theory.angle(weights, problem.weights),
                # A bound of zero is met up to the square root of rounding: arccos is steep at one.
                "bound": limit + 1e-5,
                "margin_found": own,
                "updates": 0 if method == "margin" else last.mistakes_,
            }
        )
    return records


def _findings_angle(table: Table) -> Iterator[Finding]:
    x, last = medians(where(table, method="last"), "n_rows", "angle")
    _, mean = medians(where(table, method="averaged"), "n_rows", "angle")
    yield claim(
        f"More points bring the weights closer: from {x[0]:,.0f} to {x[-1]:,.0f} points the median angle of "
        f"the last weights falls from {last[0]:.1f}° to {last[-1]:.1f}°, and that of the averaged weights "
        f"from {mean[0]:.1f}° to {mean[-1]:.1f}°.",
        last[-1] < last[0],
        mean[-1] < mean[0],
    )
    yield claim(
        f"With {x[-1]:,.0f} points the averaged weights are closer than the last ones.", mean[-1] < last[-1]
    )
    largest = where(table, method="margin")["angle"].max()
    yield claim(
        "The separator of largest margin is the known one, because the data were made that way: its angle "
        f"is at most {largest:.1g}°.",
        largest < 0.01,
    )
    missing = int(np.isnan(table["bound"]).sum())
    if missing:
        yield Finding(
            f"In {missing} runs the averaged weights do not separate the points; the bound does not apply "
            "to those."
        )


def _draw_angle(table: Table) -> Figure:
    figure, (left, right) = charts.panels(
        ("Against the number of points", "number of points", "angle to the known separator, degrees", "xy"),
        (
            "The two weights of each run",
            "angle of the last weights, degrees",
            "angle of the mean, degrees",
            "xy",
        ),
    )
    labels = {"last": "last weights", "averaged": "averaged weights"}
    charts.sweeps(left, table, "n_rows", "angle", "method", labels)
    x, limits = medians(where(table, method="last"), "n_rows", "bound")
    charts.bound(left, x, limits, "bound for the last weights (median)", linestyle="--")
    last, mean = (where(table, method=method)["angle"] for method in labels)
    closer = mean < last
    right.plot(last[closer], mean[closer], **charts.dots(1, f"the mean is closer ({closer.sum()} runs)"))
    right.plot(last[~closer], mean[~closer], **charts.dots(0, f"the last is closer ({(~closer).sum()} runs)"))
    ends = 0.8 * min(last.min(), mean.min()), 1.25 * max(last.max(), mean.max())
    right.plot(ends, ends, color=charts.MUTED, linewidth=1.0)
    right.set(xlim=ends, ylim=ends)
    return charts.finish(figure, columns=3)


ANGLE = Study(
    name="angle",
    title="How close is the separator to the known one?",
    source="Chapter 4, exercise 1, part 1",
    question="How close does the perceptron's answer come to the hyperplane that the data were made with?",
    method="""Points in five dimensions around a known hyperplane with margin 0.05, which is the hyperplane of
        largest margin. We measure the angle between its normal and the weights found, for the last weights of
        a run and for their mean over every visit. Left: medians and ranges. Right: every run; below the
        line, the mean is closer than the last weights.""",
    theorem="""A separator with margin m makes an angle of at most arccos(m/γ) with the one of largest margin
        γ, because γu is a convex combination of the signed points. After M updates from zero, the proof of
        Novikoff's theorem also bounds the angle of the weights by arccos(√M·γ/R), because ⟨w, u⟩ ≥ Mγ while
        |w| ≤ R√M. The smaller of the two is the bound shown. Only the first applies to the mean of the
        weights, and only if it separates the points.""",
    reference=NOVIKOFF,
    plan=grid(
        n_rows=([30, 300, 3000], [30, 100, 300, 1000, 3000, 10_000]),
        n_columns=[5],
        margin=[0.05],
        seed=(range(10), range(30)),
    ),
    measure=_measure_angle,
    findings=_findings_angle,
    draw=_draw_angle,
    bounds=(Bounded("angle", "bound", "The bound on the angle"),),
)

# ---------------------------------------------------------------- points that change sides


def _sides(n_rows: int, margin: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of every point after every update (rows by updates), and the points corrected."""
    X, y = datasets.make_separable(n_rows, 3, margin=margin, random_state=seed)
    trace: Any = perceptron(X, y, trace=True).result_.trace
    return (y[:, None] * X) @ trace.weights.T, trace.rows


def _measure_toggles(n_rows: int, margin: float, seed: int) -> list[Record]:
    scores, corrected = _sides(n_rows, margin, seed)
    right = scores > 0.0
    changes = (right[:, 1:] != right[:, :-1]).sum(axis=1)
    fell = (~right[:, 1:] & right[:, :-1]).any(axis=1)
    never = np.setdiff1d(np.arange(n_rows), corrected)
    return [
        {
            "updates": scores.shape[1],
            "bound": theory.novikoff(1.0, margin),
            "most_changes": int(changes.max()),
            "share_changing": float((changes > 0).mean()),
            "share_falling": float(fell.mean()),
            "repeatedly_corrected": int((np.bincount(corrected, minlength=n_rows) > 1).sum()),
            "changes_without_correction": int(changes[never].max(initial=0)),
        }
    ]


def _findings_toggles(table: Table) -> Iterator[Finding]:
    narrow = where(table, margin=table["margin"].min())
    again, fell = table["repeatedly_corrected"] > 0, table["share_falling"] > 0.0
    yield claim(
        f"Some point was corrected more than once in {again.sum()} of {len(again)} runs, and some point fell "
        f"back from the right side to the wrong one in {fell.sum()}.",
        again.any(),
        fell.any(),
    )
    yield Finding(
        f"At the smallest margin, {narrow['margin'][0]:g}, the point that changes sides most often does so "
        f"{np.median(narrow['most_changes']):,.0f} times in {np.median(narrow['updates']):,.0f} updates "
        f"(medians); {percent(np.median(narrow['share_changing']))} of the points change sides at least once."
    )
    yield claim(
        "Points that are never corrected change sides, too: other points' updates move them, "
        f"up to {table['changes_without_correction'].max():,} times in a run.",
        table["changes_without_correction"].max() > 0,
    )


def _draw_toggles(table: Table) -> Figure:
    figure, axes = charts.panels(
        ("Wrong points after each update", "update", "point"),
        ("Score of one point", "update", "signed score"),
        ("Changes of the busiest point", "margin γ", "changes of side", "xy"),
    )
    scores, corrected = _sides(60, 0.02, 37)
    right = scores > 0.0
    order = np.argsort((right[:, 1:] != right[:, :-1]).sum(axis=1))
    rows, updates = np.nonzero(~right[order])
    axes[0].plot(updates + 1, rows, **charts.dots(0, "wrong", markersize=2.5))
    busiest = order[-1]
    own = np.flatnonzero(corrected == busiest)
    axes[1].axhline(0.0, color=charts.INK, linewidth=1.0)
    axes[1].plot(np.arange(1, scores.shape[1] + 1), scores[busiest], color=charts.color(0), linewidth=1.2)
    axes[1].plot(own + 1, scores[busiest, own], **charts.dots(1, "after its own correction", alpha=1.0))
    charts.bound_by(axes[2], table, "margin", "bound", "bound (R/γ)²")
    charts.sweep(axes[2], table, "margin", "most_changes", 0, "changes of side")
    charts.ticks_at(axes[2], values(table["margin"]))
    return charts.finish(figure)


TOGGLES = Study(
    name="toggling",
    title="Points that change sides during a run",
    source="Chapter 4, any order",
    question="""Can the same point be corrected several times, and can a point change several times between
        the right and the wrong side?""",
    method="""Points in three dimensions on both sides of a plane through the origin, R = 1, visited in
        turn. The score of every point is computed after every update. Left: when each point of one data set
        is wrong. Middle: the score of the point that changes sides most often, and its own corrections.
        Right: how often that point changes sides, against the margin; medians and ranges.""",
    theorem="""An update on z adds ⟨z, zᵢ⟩ to the score of point i: |z|² > 0 to its own, any number to
        another. So nothing keeps a point on the right side until the run ends. But a side can change only
        in an update: no point changes sides more than (R/γ)² times.""",
    reference=NOVIKOFF,
    plan=grid(n_rows=[100], margin=([0.1, 0.03], [0.2, 0.1, 0.05, 0.02, 0.01]), seed=(range(5), range(20))),
    measure=_measure_toggles,
    findings=_findings_toggles,
    draw=_draw_toggles,
    bounds=(Bounded("most_changes", "bound", "Novikoff's bound, on the changes of one point,"),),
)
