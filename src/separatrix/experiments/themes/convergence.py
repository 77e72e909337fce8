"""How many updates the perceptron needs, and how close it comes to a known separator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ... import datasets
from ...estimators.margin import MaxMargin
from ..study import Bounded, Finding, Record, Study, Table, claim, grid, medians, slope, values, where
from . import drawing, theory
from .fitting import geometric_margin, perceptron

NOVIKOFF = (
    "Novikoff, A. B. J. (1962). On convergence proofs on perceptrons. Symposium on the Mathematical Theory "
    "of Automata 12, 615-622."
)

# ---------------------------------------------------------------- updates against points, dimension, margin

ORDERS = {"cyclic": "in turn", "working_set": "working set"}
SWEEPS = {"n_rows": "number of points", "n_columns": "dimension", "margin": "margin γ  (R = 1)"}


def _plan_updates(quick: bool) -> list[Record]:
    usual = {"n_rows": 500 if quick else 1000, "n_columns": 10, "margin": 0.03}
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
    models = {order: perceptron(*problem, order=order) for order in ORDERS}
    limit = theory.novikoff(problem.radius, problem.margin)
    return [
        {"order": order, "updates": model.mistakes_, "bound": limit, "converged": model.converged_}
        for order, model in models.items()
    ]


def _findings_updates(table: Table) -> Iterator[Finding]:
    yield claim("Every run ended with a separator.", table["converged"])
    median = {sweep: medians(where(table, sweep=sweep, order="cyclic"), sweep, "updates") for sweep in SWEEPS}
    exponent = slope(*median["margin"])
    yield claim(
        f"As the margin shrinks, the updates grow like margin^{exponent:.2f}, more slowly than the bound's "
        "margin^-2.",
        -2.0 < exponent < 0.0,
    )
    for sweep, noun in (("n_rows", "points"), ("n_columns", "dimensions")):
        x, y = median[sweep]
        yield Finding(
            f"From {x[0]:,.0f} to {x[-1]:,.0f} {noun} the median number of updates went from {y[0]:,.0f} to "
            f"{y[-1]:,.0f}; the bound does not depend on the number of {noun}."
        )


def _draw_updates(table: Table) -> Figure:
    figure, axes = drawing.panels(3, height=3.9, sharey=True)
    drawing.log_axes(*axes)
    titles = ("Against the points", "Against the dimension", "Against the margin")
    for ax, (sweep, noun), title in zip(axes, SWEEPS.items(), titles, strict=True):
        part = where(table, sweep=sweep)
        drawing.bound_by(ax, part, sweep, "bound", "bound (R/γ)²")
        for place, (order, label) in enumerate(ORDERS.items()):
            shift = (0.95, 1.05)[place]
            drawing.sweep(ax, where(part, order=order), sweep, "updates", place, label, shift=shift)
        ax.set(xlabel=noun, title=title)
        drawing.ticks_at(ax, values(part[sweep]))
    axes[0].set_ylabel("updates")
    drawing.shared_legend(figure, axes[:1])
    return figure


UPDATES = Study(
    name="updates",
    title="How many updates does the perceptron need?",
    source="Chapter 4, exercise 1 (2 to 4)",
    question="""How does the number of updates depend on the number of points, on the dimension, and on the
        known margin between the classes, and how far is it from the theorem's bound?""",
    method="""Points fill the unit ball on both sides of a known plane through the origin, at a known distance
        from it. One of points, dimension and margin varies, the others are fixed. The rows are visited in
        turn, and by the library's working set. Markers are medians over the repetitions, whiskers reach from
        the smallest to the largest count; all axes are logarithmic.""",
    theorem="""If some unit vector u has y⟨u, x⟩ ≥ γ for all points and none is longer than R, the perceptron
        that starts at zero makes at most (R/γ)² updates, in any order of its mistakes. The bound depends
        neither on the number of points nor on the dimension.""",
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
    signed = problem.y[:, None] * problem.X
    last = perceptron(*problem)
    averaged = perceptron(*problem, average="averaged")
    best = MaxMargin(fit_intercept=False).fit(*problem)
    records = []
    for method, model in (("last", last), ("averaged", averaged), ("margin", best)):
        weights = model.coef_[0]
        own = geometric_margin(weights, signed)
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
    yield Finding(
        f"The median angle of the last weights is {last[0]:.1f}° with {x[0]:,.0f} points and "
        f"{last[-1]:.1f}° with {x[-1]:,.0f}; that of the averaged weights is {mean[0]:.1f}° and "
        f"{mean[-1]:.1f}°."
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
    figure, (left, right) = drawing.panels(2)
    drawing.log_axes(left)
    for place, (method, label) in enumerate((("last", "last weights"), ("averaged", "averaged weights"))):
        part = where(table, method=method)
        drawing.sweep(left, part, "n_rows", "angle", place, label, shift=(0.96, 1.04)[place])
        right.plot(part["bound"], part["angle"], **drawing.dots(place, alpha=0.7))
    x, limits = medians(where(table, method="last"), "n_rows", "bound")
    drawing.bound(left, x, limits, "bound for the last weights (median)", linestyle="--")
    drawing.ticks_at(left, x.tolist())
    left.set(xlabel="number of points", ylabel="angle to the known separator, degrees")
    left.set_title("Against the number of points")
    widest = 1.15 * float(table["angle"].max())
    drawing.bound(right, [0, widest], [0, widest], "angle = bound")
    right.set(xlim=(0, 92), ylim=(0, widest), xlabel="bound on the angle, degrees", ylabel="angle, degrees")
    right.set_title("Every run below its bound")
    drawing.shared_legend(figure, (left, right))
    return figure


ANGLE = Study(
    name="angle",
    title="How close is the separator to the known one?",
    source="Chapter 4, exercise 1 (1)",
    question="How close does the perceptron's answer come to the plane that the data were made with?",
    method="""Points in five dimensions around a known plane with margin 0.05, which is the plane of largest
        margin. We measure the angle between its normal and the weights found, for the last weights of a run
        and for their mean over every visit. Left: medians and ranges. Right: every run against the bound for
        that run.""",
    theorem="""A separator with margin m makes an angle of at most arccos(m/γ) with the one of largest margin
        γ, because γu is a convex combination of the signed points. After M updates from zero, the proof of
        Novikoff's theorem also bounds the angle of the weights by arccos(√M·γ/R), because ⟨w, u⟩ ≥ Mγ while
        |w| ≤ R√M. The smaller of the two is the bound shown. Only the first applies to the mean of the
        weights, and only if it separates the points.""",
    reference=NOVIKOFF,
    plan=grid(
        n_rows=([30, 100, 300, 1000], [30, 100, 300, 1000, 3000, 10_000]),
        n_columns=[5],
        margin=[0.05],
        seed=(range(5), range(30)),
    ),
    measure=_measure_angle,
    findings=_findings_angle,
    draw=_draw_angle,
    bounds=(Bounded("angle", "bound", "The bound on the angle"),),
)

# ---------------------------------------------------------------- width and magnitude


def _plan_factors(quick: bool) -> list[Record]:
    every = grid(
        margin=([0.2, 0.05, 0.0125], [0.2, 0.1, 0.05, 0.025, 0.0125]),
        radius=([1.0, 4.0], [1.0, 2.0, 4.0, 8.0]),
        repeat=(range(5), range(15)),
    )(quick)
    # Every data set has its own seed: with one for all, wide and large would be narrow and small, multiplied.
    return [
        {"band": 2 * each["margin"], "radius": each["radius"], "margin": each["margin"], "seed": seed}
        for seed, each in enumerate(every)
    ]


def _measure_factors(band: float, radius: float, margin: float, seed: int) -> list[Record]:
    problem = datasets.make_separable(500, 5, margin=margin, radius=radius, random_state=seed)
    return [
        {
            "ratio": radius / margin,
            "updates": perceptron(*problem).mistakes_,
            "bound": theory.novikoff(radius, margin),
            "updates_scaled": perceptron(64.0 * problem.X, problem.y).mistakes_,
        }
    ]


def _findings_factors(table: Table) -> Iterator[Finding]:
    def powers(fixed: str, varied: str) -> list[float]:
        parts = (where(table, **{fixed: value}) for value in values(table[fixed]))
        return sorted(slope(*medians(part, varied, "updates")) for part in parts)

    narrow, wide = powers("radius", "band"), powers("margin", "radius")
    yield claim(
        "A narrower band takes longer: at each magnitude the updates grow like a power of the width "
        f"between {narrow[-1]:.2f} and {narrow[0]:.2f}.",
        narrow[-1] < 0.0,
    )
    yield claim(
        "Larger magnitudes at the same width take longer: the power of the radius is between "
        f"{wide[0]:.2f} and {wide[-1]:.2f}.",
        wide[0] > 0.0,
    )
    yield claim(
        "But it is one factor, not two: multiplying all points by 64, band and magnitude alike, does not "
        "change the updates of any run.",
        table["updates"] == table["updates_scaled"],
    )
    parts = [where(table, ratio=ratio) for ratio in values(table["ratio"])]
    counts = [medians(part, "radius", "updates")[1] for part in parts]
    yield Finding(
        "Other data sets with the same ratio but another magnitude take about as long: at each ratio the "
        f"medians of the magnitudes are within a factor of {max(y.max() / y.min() for y in counts):.1f}."
    )
    power = slope(*medians(table, "ratio", "updates"))
    yield claim(
        f"Over all runs the updates grow like (R/γ)^{power:.2f}, the bound like (R/γ)^2.", power <= 2.0
    )


def _draw_factors(table: Table) -> Figure:
    figure, (left, right) = drawing.panels(2, sharey=True)
    drawing.log_axes(left, right)
    for place, radius in enumerate(values(table["radius"])):
        part, shift = where(table, radius=radius), 1.0 + 0.03 * (place - 1.5)
        drawing.sweep(left, part, "band", "updates", place, f"magnitude R = {radius:g}", shift=shift)
        right.plot(part["ratio"] * shift, part["updates"], **drawing.dots(place))
    drawing.bound_by(right, table, "ratio", "bound", "bound (R/γ)²")
    drawing.ticks_at(left, values(table["band"]))
    left.set(xlabel="width of the band, 2γ", ylabel="updates", title="Two factors: width and magnitude")
    right.set(xlabel="R/γ", title="One factor: their ratio")
    drawing.shared_legend(figure, (left, right), columns=5)
    return figure


FACTORS = Study(
    name="two-factors",
    title="Width of the band, magnitude of the points",
    source="Chapter 3, two factors",
    question="""Two factors are said to decide how long it takes: the width of the empty band between the
        classes, and the magnitude of the points, the length of the longest. What does each do, and do they
        act separately?""",
    method="""500 points in five dimensions, the band around a plane through the origin, for several widths
        and magnitudes; each data set is drawn independently. Every one is run a second time with all points
        multiplied by 64, a power of two, so that nothing is rounded. Left: medians and ranges against the
        width. Right: every run against the ratio.""",
    theorem="""From zero weights there are at most (R/γ)² updates, where γ is half the width of the band: the
        bound depends only on the ratio. The run itself is the same when all points are multiplied by one
        number (in exact arithmetic), because all weights are multiplied by it and no sign changes.""",
    reference=NOVIKOFF,
    plan=_plan_factors,
    measure=_measure_factors,
    findings=_findings_factors,
    draw=_draw_factors,
    bounds=(Bounded("updates", "bound", "Novikoff's bound"),),
)
