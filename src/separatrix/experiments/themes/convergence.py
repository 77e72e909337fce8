"""How many updates the perceptron needs, and how close it comes to a known separator."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ... import datasets
from ...estimators.margin import MaxMargin
from ..study import Bounded, Finding, Record, Study, Table, medians, slope, values, where
from . import drawing, theory
from .fitting import geometric_margin, perceptron

NOVIKOFF = (
    "Novikoff, A. B. J. (1962). On convergence proofs on perceptrons. Symposium on the Mathematical Theory "
    "of Automata 12, 615-622."
)
ORDERS = {"cyclic": "in turn", "working_set": "working set"}

# ---------------------------------------------------------------- updates against points, dimension, margin

SWEEPS = {"n_rows": "points", "n_columns": "dimension", "margin": "margin"}


def _plan_updates(quick: bool) -> list[Record]:
    usual: Record = {"n_rows": 500 if quick else 1000, "n_columns": 10, "margin": 0.03}
    varied: dict[str, list[Any]] = {
        "n_rows": [30, 100, 300, 1000] if quick else [30, 100, 300, 1000, 3000, 10_000],
        "n_columns": [2, 5, 20, 50] if quick else [2, 5, 10, 30, 100, 300],
        "margin": [0.3, 0.1, 0.03, 0.01] if quick else [0.3, 0.1, 0.03, 0.01, 0.003],
    }
    return [
        {"sweep": sweep, **usual, sweep: value, "seed": seed}
        for sweep, choices in varied.items()
        for value in choices
        for seed in range(5 if quick else 20)
    ]


def _measure_updates(sweep: str, n_rows: int, n_columns: int, margin: float, seed: int) -> list[Record]:
    problem = datasets.make_separable(n_rows, n_columns, margin=margin, random_state=seed)
    records = []
    for order in ORDERS:
        model = perceptron(problem.X, problem.y, order=order)
        limit = theory.novikoff(problem.radius, problem.margin)
        records.append(
            {"order": order, "updates": model.mistakes_, "bound": limit, "converged": model.converged_}
        )
    return records


def _findings_updates(table: Table) -> list[Finding]:
    found = [Finding("Every run ended with a separator.", bool(table["converged"].all()))]
    rising = {}
    for sweep in SWEEPS:
        x, y = medians(where(table, sweep=sweep, order="cyclic"), sweep, "updates")
        rising[sweep] = slope(x, y), x[[0, -1]], y[[0, -1]]
    exponent, _, _ = rising["margin"]
    found.append(
        Finding(
            f"With a shrinking margin the updates grow like margin^{exponent:.2f}, more slowly than the "
            "bound's margin^-2.",
            -2.0 < exponent < 0.0,
        )
    )
    for sweep, noun in (("n_rows", "points"), ("n_columns", "dimensions")):
        _, ends, counts = rising[sweep]
        found.append(
            Finding(
                f"From {ends[0]:,.0f} to {ends[1]:,.0f} {noun} the median of the updates went from "
                f"{counts[0]:,.0f} to {counts[1]:,.0f}; the bound, in which {noun} do not occur, stayed "
                "where it was."
            )
        )
    return found


def _draw_updates(table: Table) -> Figure:
    figure, axes = drawing.panels(3, height=3.9, sharey=True)
    for ax, (sweep, noun) in zip(axes, SWEEPS.items(), strict=True):
        part = where(table, sweep=sweep)
        drawing.log_axes(ax)
        drawing.bound_by(ax, part, sweep, "bound", "bound (R/γ)²")
        for place, (order, label) in enumerate(ORDERS.items()):
            shift = 0.95 if place == 0 else 1.05
            drawing.sweep(ax, where(part, order=order), sweep, "updates", place, label, shift=shift)
        ax.set_xlabel(
            {"n_rows": "number of points", "n_columns": "dimension", "margin": "margin γ  (R = 1)"}[sweep]
        )
        ax.set_title(f"Against the {noun}")
        drawing.ticks_at(ax, values(part[sweep]))
    axes[0].set_ylabel("updates")
    drawing.shared_legend(figure, axes[:1])
    return figure


UPDATES = Study(
    name="updates",
    title="How many updates does the perceptron need?",
    source="Chapter 4, exercise 1 (2 to 4)",
    question=(
        "How does the number of updates depend on the number of points, on the dimension, and on the known "
        "separation of the classes, and how far is it from the theorem's bound?"
    ),
    method=(
        "Points fill the unit ball on both sides of a known plane through the origin, at a known distance "
        "from it. One of points, dimension and margin varies, the others stay. The rows are visited in "
        "turn, and by the library's working set. Markers are medians over the repetitions, "
        "whiskers reach from the smallest to the largest count; all axes are logarithmic."
    ),
    theorem=(
        "If some unit vector u has y⟨u, x⟩ ≥ γ for all points and none is longer than R, the perceptron "
        "that starts at zero makes at most (R/γ)² updates, in whatever order it meets its mistakes. "
        "Neither the number of points nor the dimension occurs in it."
    ),
    reference=NOVIKOFF,
    plan=_plan_updates,
    measure=_measure_updates,
    findings=_findings_updates,
    draw=_draw_updates,
    bounds=(Bounded("updates", "bound", "Novikoff's bound"),),
)

# ---------------------------------------------------------------- closeness to the known separator

METHODS = {"last": "last weights", "averaged": "averaged weights", "margin": "largest margin"}


def _plan_angle(quick: bool) -> list[Record]:
    sizes = [30, 100, 300, 1000] if quick else [30, 100, 300, 1000, 3000, 10_000]
    return [
        {"n_rows": size, "n_columns": 5, "margin": 0.05, "seed": seed}
        for size in sizes
        for seed in range(5 if quick else 30)
    ]


def _measure_angle(n_rows: int, n_columns: int, margin: float, seed: int) -> list[Record]:
    problem = datasets.make_separable(n_rows, n_columns, margin=margin, random_state=seed)
    signed = problem.y[:, None] * problem.X
    last = perceptron(problem.X, problem.y)
    averaged = perceptron(problem.X, problem.y, average="averaged")
    best = MaxMargin(fit_intercept=False).fit(problem.X, problem.y)
    records = []
    for method, model in (("last", last), ("averaged", averaged), ("margin", best)):
        weights = model.coef_[0]
        own = geometric_margin(weights, signed)
        # Two proofs bound the angle of the last weights, one that of any other separator.
        limit = theory.widest_angle(own, problem.margin) if own > 0.0 else np.nan
        if method == "last":
            progress = np.sqrt(last.mistakes_) * problem.margin**2 / problem.radius
            limit = min(limit, theory.widest_angle(progress, problem.margin))
        # A bound of zero is met to the square root of rounding only: arccos is steep at one.
        slack = 1e-5
        records.append(
            {
                "method": method,
                "angle": theory.angle(weights, problem.weights),
                "bound": limit + slack,
                "margin_found": own,
                "updates": 0 if method == "margin" else last.mistakes_,
            }
        )
    return records


def _findings_angle(table: Table) -> list[Finding]:
    x, last = medians(where(table, method="last"), "n_rows", "angle")
    _, mean = medians(where(table, method="averaged"), "n_rows", "angle")
    found = [
        Finding(
            f"The median angle of the last weights is {last[0]:.1f}° with {x[0]:,.0f} points and "
            f"{last[-1]:.1f}° with {x[-1]:,.0f}; of the averaged weights, {mean[0]:.1f}° and "
            f"{mean[-1]:.1f}°."
        ),
        Finding(
            f"With {x[-1]:,.0f} points the averaged weights are closer than the last ones.",
            mean[-1] < last[-1],
        ),
    ]
    largest = where(table, method="margin")["angle"].max()
    found.append(
        Finding(
            "The separator of largest margin is the known one, since the data were made so: its angle is "
            f"at most {largest:.1g}°.",
            largest < 0.01,
        )
    )
    missing = int(np.isnan(table["bound"]).sum())
    if missing:
        found.append(
            Finding(
                f"In {missing} runs the averaged weights do not separate the points; there the bound says "
                "nothing."
            )
        )
    return found


def _draw_angle(table: Table) -> Figure:
    figure, (left, right) = drawing.panels(2, height=4.1)
    drawing.log_axes(left)
    for place, method in enumerate(("last", "averaged")):
        part = where(table, method=method)
        drawing.sweep(left, part, "n_rows", "angle", place, METHODS[method], shift=(0.96, 1.04)[place])
    part = where(table, method="last")
    x, limits = medians(part, "n_rows", "bound")
    drawing.bound(left, x, limits, "bound for the last weights (median)", linestyle="--")
    left.set_xlabel("number of points")
    left.set_ylabel("angle to the known separator, degrees")
    left.set_title("Against the number of points")
    drawing.ticks_at(left, x.tolist())

    for place, method in enumerate(("last", "averaged")):
        part = where(table, method=method)
        keep = ~np.isnan(part["bound"])
        right.plot(
            part["bound"][keep],
            part["angle"][keep],
            drawing.MARKERS[place],
            color=drawing.color(place),
            markersize=4,
            alpha=0.7,
            linestyle="none",
        )
    widest = 1.15 * float(table["angle"].max())
    right.set_xlim(0, 92)
    right.set_ylim(0, widest)
    drawing.bound(right, [0, widest], [0, widest], "angle = bound")
    right.set_xlabel("bound on the angle, degrees")
    right.set_ylabel("angle, degrees")
    right.set_title("Every run below its bound")
    drawing.shared_legend(figure, (left, right))
    return figure


ANGLE = Study(
    name="angle",
    title="How close is the separator to the known one?",
    source="Chapter 4, exercise 1 (1)",
    question="How close does the perceptron's answer come to the plane that the data were made with?",
    method=(
        "Points in five dimensions around a known plane with margin 0.05; it is the plane of largest "
        "margin. The angle between its normal and the weights found is measured, for the last weights of a "
        "run and for their mean over every visit. Left: medians and ranges. Right: every run against the "
        "bound for that run."
    ),
    theorem=(
        "A separator with margin m makes an angle of at most arccos(m/γ) with the one of largest margin γ, "
        "because γu is a convex combination of the signed points. And after M updates from "
        "zero the proof of Novikoff's theorem leaves the weights an angle of at most arccos(√M·γ/R): "
        "⟨w, u⟩ ≥ Mγ while |w| ≤ R√M. The smaller of the two is the bound shown; the mean of the weights "
        "has the first only, and that where it separates the points."
    ),
    reference=NOVIKOFF,
    plan=_plan_angle,
    measure=_measure_angle,
    findings=_findings_angle,
    draw=_draw_angle,
    bounds=(Bounded("angle", "bound", "The bound on the angle"),),
)

# ---------------------------------------------------------------- width and magnitude


def _plan_factors(quick: bool) -> list[Record]:
    widths = [0.2, 0.05, 0.0125] if quick else [0.2, 0.1, 0.05, 0.025, 0.0125]
    magnitudes = [1.0, 4.0] if quick else [1.0, 2.0, 4.0, 8.0]
    repeats = 5 if quick else 15
    # A seed for each data set: with one for all, wide and large would be narrow and small, multiplied.
    seeds = iter(range(len(widths) * len(magnitudes) * repeats))
    return [
        {"band": 2 * margin, "radius": radius, "margin": margin, "seed": next(seeds)}
        for margin in widths
        for radius in magnitudes
        for _ in range(repeats)
    ]


def _measure_factors(band: float, radius: float, margin: float, seed: int) -> list[Record]:
    problem = datasets.make_separable(500, 5, margin=margin, radius=radius, random_state=seed)
    model = perceptron(problem.X, problem.y)
    scaled = perceptron(64.0 * problem.X, problem.y)
    return [
        {
            "ratio": radius / margin,
            "updates": model.mistakes_,
            "bound": theory.novikoff(radius, margin),
            "updates_scaled": scaled.mistakes_,
        }
    ]


def _findings_factors(table: Table) -> list[Finding]:
    grows = []
    for radius in values(table["radius"]):
        x, y = medians(where(table, radius=radius), "band", "updates")
        grows.append(slope(x, y))
    found = [
        Finding(
            "A narrower band takes longer: at each magnitude the updates grow like a power of the width "
            f"between {max(grows):.2f} and {min(grows):.2f}.",
            max(grows) < 0.0,
        )
    ]
    wider = []
    for margin in values(table["margin"]):
        x, y = medians(where(table, margin=margin), "radius", "updates")
        wider.append(slope(x, y))
    found.append(
        Finding(
            "Larger magnitudes at the same width take longer: there the power of the radius is between "
            f"{min(wider):.2f} and {max(wider):.2f}.",
            min(wider) > 0.0,
        )
    )
    found.append(
        Finding(
            "But it is one factor, not two: multiplying all points by 64, band and magnitude alike, "
            "changes the updates of no run.",
            bool((table["updates"] == table["updates_scaled"]).all()),
        )
    )
    spread = max(_spread(where(table, ratio=ratio)) for ratio in values(table["ratio"]))
    found.append(
        Finding(
            "Other data sets of the same ratio but another magnitude take about as long: at each ratio the "
            f"medians of the magnitudes are within a factor of {spread:.1f}."
        )
    )
    x, y = medians(table, "ratio", "updates")
    found.append(
        Finding(
            f"Over all runs the updates grow like (R/γ)^{slope(x, y):.2f}, the bound like (R/γ)^2.",
            slope(x, y) <= 2.0,
        )
    )
    return found


def _spread(part: Table) -> float:
    """The largest median of the updates over the smallest, among the magnitudes."""
    _, y = medians(part, "radius", "updates")
    return float(y.max() / y.min())


def _draw_factors(table: Table) -> Figure:
    figure, (left, right) = drawing.panels(2, height=4.1, sharey=True)
    drawing.log_axes(left)
    drawing.log_axes(right)
    for place, radius in enumerate(values(table["radius"])):
        part = where(table, radius=radius)
        label = f"magnitude R = {radius:g}"
        drawing.sweep(left, part, "band", "updates", place, label, shift=1.0 + 0.03 * (place - 1.5))
        right.plot(
            part["ratio"] * (1.0 + 0.03 * (place - 1.5)),
            part["updates"],
            drawing.MARKERS[place],
            color=drawing.color(place),
            markersize=4,
            alpha=0.6,
            linestyle="none",
        )
    drawing.bound_by(right, table, "ratio", "bound", "bound (R/γ)²")
    left.set_xlabel("width of the band, 2γ")
    left.set_ylabel("updates")
    left.set_title("Two factors: width and magnitude")
    drawing.ticks_at(left, values(table["band"]))
    right.set_xlabel("R/γ")
    right.set_title("One factor: their ratio")
    drawing.shared_legend(figure, (left, right), columns=5)
    return figure


FACTORS = Study(
    name="two-factors",
    title="Width of the band, magnitude of the points",
    source="Chapter 3, two factors",
    question=(
        "Two factors are said to decide how long it takes: the width of the empty band between the classes, "
        "and the magnitude of the points, the length of the longest. What does each do, and do they act "
        "separately?"
    ),
    method=(
        "500 points in five dimensions, the band around a plane through the origin, for several widths and "
        "magnitudes; each data set is drawn anew. Every one is run a second time with all points multiplied "
        "by 64, a power of two, so that nothing is rounded. Left: medians and ranges against the width. "
        "Right: every run against the ratio."
    ),
    theorem=(
        "From zero weights there are at most (R/γ)² updates, γ being half the width of the band: the bound "
        "knows the ratio only. And the run itself is the same when all points are multiplied by one number "
        "(in exact arithmetic), since all weights are multiplied by it and no sign changes."
    ),
    reference=NOVIKOFF,
    plan=_plan_factors,
    measure=_measure_factors,
    findings=_findings_factors,
    draw=_draw_factors,
    bounds=(Bounded("updates", "bound", "Novikoff's bound"),),
)

STUDIES = (UPDATES, ANGLE, FACTORS)
