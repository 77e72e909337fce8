"""Three separators, how much each can bear, and which distance the margin is."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ... import datasets
from ...estimators.linear_program import LinearProgram
from ...estimators.margin import MaxMargin
from ..study import Bounded, Finding, Record, Study, Table, percent, values, where
from . import drawing, theory
from .dual import points
from .fitting import geometric_margin, perceptron

METHODS = {"perceptron": "perceptron", "program": "linear program", "margin": "largest margin"}


def _weights(X: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    return {
        "perceptron": perceptron(X, y).coef_[0],
        "program": LinearProgram(fit_intercept=False).fit(X, y).coef_[0],
        "margin": MaxMargin(fit_intercept=False).fit(X, y).coef_[0],
    }


def _problem(n_rows: int, n_columns: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points on both sides of a plane, without the pair at the margin, which would decide alone."""
    problem = datasets.make_separable(n_rows + 2, n_columns, margin=0.05, random_state=seed)
    keep = np.setdiff1d(np.arange(n_rows + 2), problem.tight_rows)
    return problem.X[keep], problem.y[keep]


# ---------------------------------------------------------------- side by side


SIDE_ROWS, SIDE_DRAWN = 60, 0


def _plan_side(quick: bool) -> list[Record]:
    return [
        {"n_columns": columns, "seed": seed}
        for columns in ([2, 10] if quick else [2, 5, 10, 20, 50])
        for seed in range(4 if quick else 25)
    ]


def _measure_side(n_columns: int, seed: int) -> list[Record]:
    X, y = _problem(SIDE_ROWS, n_columns, seed)
    signed = y[:, None] * X
    found = _weights(X, y)
    best = MaxMargin(fit_intercept=False).fit(X, y).margin_upper_
    return [
        {
            "method": method,
            "margin_found": geometric_margin(weights, signed),
            "bound": best,
            "share": geometric_margin(weights, signed) / best,
            "angle": theory.angle(weights, found["margin"]),
            "weight_1": float(weights[0] / np.linalg.norm(weights)),
            "weight_2": float(weights[1] / np.linalg.norm(weights)),
        }
        for method, weights in found.items()
    ]


def _findings_side(table: Table) -> list[Finding]:
    shares = {method: where(table, method=method)["share"] for method in METHODS}
    return [
        Finding(
            "All three separate every data set: no margin is zero or less.",
            bool((table["margin_found"] > 0.0).all()),
        ),
        Finding(
            "The largest margin is reached by the method made for it, to one part in a million.",
            bool((shares["margin"] >= 1 - 1e-6).all()),
        ),
        Finding(
            f"Of it, the perceptron keeps {percent(np.median(shares['perceptron']))} (median; from "
            f"{percent(shares['perceptron'].min())} to {percent(shares['perceptron'].max())}), the linear "
            f"program {percent(np.median(shares['program']))} ({percent(shares['program'].min())} to "
            f"{percent(shares['program'].max())})."
        ),
    ]


def _draw_side(table: Table) -> Figure:
    figure, axes = drawing.panels(2, height=3.9, width_ratios=[1, 1.25])
    X, y = _problem(SIDE_ROWS, 2, SIDE_DRAWN)
    reach = np.array([-1.6, 1.6])
    for place, (method, label) in enumerate(METHODS.items()):
        one = where(table, method=method, n_columns=2, seed=SIDE_DRAWN)
        a, b = float(one["weight_1"][0]), float(one["weight_2"][0])
        axes[0].plot(
            -b * reach, a * reach, color=drawing.color(place), linestyle=drawing.DASHES[place], label=label
        )
        part = where(table, method=method)
        drawing.sweep(axes[1], part, "n_columns", "share", place, label, shift=1.0 + 0.05 * (place - 1))
    points(axes[0], X, y)
    axes[0].set_xlim(-1.08, 1.08)
    axes[0].set_ylim(-1.08, 1.08)
    axes[0].set_aspect("equal")
    axes[0].grid(False)
    axes[0].set_title("One data set in the plane")
    drawing.bound(
        axes[1], values(table["n_columns"]), [1.0] * len(values(table["n_columns"])), "largest possible"
    )
    drawing.log_axes(axes[1], y=False)
    drawing.ticks_at(axes[1], values(table["n_columns"]))
    axes[1].set_xlabel("dimension")
    axes[1].set_ylabel("margin, as a share of the largest")
    axes[1].set_ylim(0, 1.05)
    axes[1].set_title("Their margins")
    drawing.shared_legend(figure, axes)
    return figure


SIDE = Study(
    name="separators",
    title="Perceptron, linear program and largest margin, side by side",
    source="Chapter 1, margins",
    question="Among perfect separators, how do three methods that find one differ?",
    method=(
        "The same 60 points, on both sides of a plane through the origin, given to the perceptron, to a "
        "linear program (the largest smallest score for weights between −1 and 1), and to the "
        "maximum-margin solver. Left: one data set. Right: medians and ranges of the margin, as a share of "
        "the largest."
    ),
    theorem=(
        "All three end with a separator if there is one and they are given the time. None can have more "
        "than the largest margin; the program and the maximum-margin problem differ only in the norm in "
        "which weights are measured."
    ),
    reference=(
        "Mangasarian, O. L. (1999). Arbitrary-norm separating plane. Operations Research Letters 24, 15-23."
    ),
    plan=_plan_side,
    measure=_measure_side,
    findings=_findings_side,
    draw=_draw_side,
    bounds=(Bounded("margin_found", "bound", "The largest margin, as a bound on every separator's,"),),
)

# ---------------------------------------------------------------- robustness

PUSHES = [0.2, 0.4, 0.6, 0.8, 0.99, 1.2, 1.5, 2.0, 3.0]  # in units of the largest margin


def _plan_robust(quick: bool) -> list[Record]:
    return [{"n_columns": 10, "seed": seed} for seed in range(4 if quick else 40)]


def _measure_robust(n_columns: int, seed: int) -> list[Record]:
    X, y = _problem(200, n_columns, seed)
    signed = y[:, None] * X
    largest = MaxMargin(fit_intercept=False).fit(X, y).margin_lower_
    rng = np.random.default_rng([seed, 1])
    turns = rng.standard_normal((20, *signed.shape))
    turns /= np.linalg.norm(turns, axis=2, keepdims=True)
    records = []
    for method, weights in _weights(X, y).items():
        unit = weights / np.linalg.norm(weights)
        distances = signed @ unit
        for relative in PUSHES:
            push = relative * largest
            worst = float((distances <= push).mean())
            random = float((distances + push * (turns @ unit) <= 0.0).mean())
            records.append(
                {
                    "method": method,
                    "push": relative,
                    "length": push,
                    "margin_found": float(distances.min()),
                    "worst_error": worst,
                    "random_error": random,
                    "bound": 0.0 if push < distances.min() else math.nan,
                }
            )
    return records


def _findings_robust(table: Table) -> list[Finding]:
    best = where(table, method="margin")
    inside = best["push"] < 1.0
    first = {}
    for method in METHODS:
        part = where(table, method=method)
        first[method] = float(part["worst_error"][part["push"] == 0.99].mean())
    random = {
        method: float(where(table, method=method, push=2.0)["random_error"].mean()) for method in METHODS
    }
    return [
        Finding(
            (
                "The largest margin bore every push that is shorter than itself without a single error, also "
                "in the worst direction."
            ),
            bool((best["worst_error"][inside] == 0.0).all()),
        ),
        Finding(
            "At a push of 0.99 of it in the worst direction, the perceptron's separators are wrong on "
            f"{percent(first['perceptron'])} of the points and the linear program's on "
            f"{percent(first['program'])} (means).",
            first["perceptron"] > 0.0,
        ),
        Finding(
            "Pushes in random directions do less: at twice the margin, "
            f"{percent(random['perceptron'])}, {percent(random['program'])} and {percent(random['margin'])} "
            "of the points for perceptron, program and largest margin.",
            all(random[m] <= float(where(table, method=m, push=2.0)["worst_error"].mean()) for m in METHODS),
        ),
    ]


def _draw_robust(table: Table) -> Figure:
    figure, axes = drawing.panels(2, height=3.8)
    columns = (
        ("worst_error", "Pushed in the worst direction"),
        ("random_error", "Pushed in random directions"),
    )
    for ax, (column, title) in zip(axes, columns, strict=True):
        for place, (method, label) in enumerate(METHODS.items()):
            part = where(table, method=method)
            shown = {**part, "percent": 100 * part[column]}
            places = np.unique(part["push"])
            means = np.array([shown["percent"][part["push"] == push].mean() for push in places])
            spread = np.array([shown["percent"][part["push"] == push].std() for push in places])
            ax.fill_between(
                places, np.maximum(0, means - spread), means + spread, color=drawing.color(place), alpha=0.15
            )
            ax.plot(
                places,
                means,
                color=drawing.color(place),
                marker=drawing.MARKERS[place],
                linestyle=drawing.DASHES[place],
                markersize=5,
                label=label,
            )
        ax.axvline(1.0, color=drawing.ACCENT, linewidth=1.6, label="largest margin γ")
        ax.set_xlabel("length of the push, in largest margins γ")
        ax.set_title(title)
        ax.set_ylim(bottom=0)
    axes[0].set_ylabel("points on the wrong side, percent")
    drawing.shared_legend(figure, axes[:1])
    return figure


ROBUST = Study(
    name="robustness",
    title="How much perturbation each separator bears",
    source="Chapter 1, margins",
    question="Is the separator of largest margin more robust to perturbation of the points?",
    method=(
        "200 points in ten dimensions. Every point is pushed by a given multiple of the largest margin, "
        "straight at the plane or in a random direction (20 directions a point), and the points that end "
        "on the wrong side are counted; a point on the plane is wrong. Means over data sets, with a band "
        "of one standard deviation."
    ),
    theorem=(
        "A point at distance d from the plane stays on its side under every push shorter than d. So a "
        "separator of margin m makes no error under pushes shorter than m, and the largest margin bears "
        "the longest."
    ),
    reference=(
        "Boser, B., Guyon, I. and Vapnik, V. (1992). A training algorithm for optimal margin classifiers. "
        "COLT, 144-152."
    ),
    plan=_plan_robust,
    measure=_measure_robust,
    findings=_findings_robust,
    draw=_draw_robust,
    bounds=(
        Bounded(
            "worst_error", "bound", "Zero, the bound on the error under pushes shorter than the own margin,"
        ),
    ),
)

# ---------------------------------------------------------------- which distance is the margin?

GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0  # the ratio worst approximated by fractions: corrections hardly cancel
CASES = {
    "three points": "Three points",
    "two points": "Two points",
    "far away": "Two numbers, lifted",
}


def _plan_hulls(quick: bool) -> list[Record]:
    widths = [0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001]
    return [{"case": case, "h": h} for case in CASES for h in widths[: 5 if quick else None]]


def hull_case(case: str, h: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The points of a case, the rows that the perceptron runs on (the points, or lifted by 1), the labels."""
    if case == "three points":
        X = np.array([[1.0, h], [-GOLDEN, h], [0.2, -h]])
        return X, X, np.array([1, 1, -1])
    if case == "two points":
        X = np.array([[1.0, h], [GOLDEN, -h]])
        return X, X, np.array([1, -1])
    X = np.array([[1.0], [GOLDEN]]) / h
    return X, np.hstack([X, np.ones((2, 1))]), np.array([1, -1])


def _measure_hulls(case: str, h: float) -> list[Record]:
    X, rows, y = hull_case(case, h)
    radius = float(np.linalg.norm(rows, axis=1).max())
    pairs = min(float(np.linalg.norm(good - bad)) for good in X[y == 1] for bad in X[y == -1])
    hulls = 2.0 * MaxMargin().fit(X, y).margin_lower_
    margin = MaxMargin(fit_intercept=False).fit(rows, y).margin_lower_
    return [
        {
            "updates": perceptron(rows, y).mistakes_,
            "radius": radius,
            "point_distance": pairs,
            "hull_distance": hulls,
            "margin": margin,
            "from_points": 4.0 * (radius / pairs) ** 2,
            "from_hulls": 4.0 * (radius / hulls) ** 2,
            "bound": theory.novikoff(radius, margin),
        }
    ]


def _findings_hulls(table: Table) -> list[Finding]:
    three, two, far = (where(table, case=case) for case in CASES)
    ordered = (2.0 * table["margin"] <= table["hull_distance"] * (1 + 1e-9)) & (
        table["hull_distance"] <= table["point_distance"] * (1 + 1e-9)
    )
    return [
        Finding(
            "4R²/δ², with δ the smallest distance between a good and a bad point, is not a bound. Three "
            f"points: {_exceeded(three, 'from_points')}",
            bool((three["updates"] > three["from_points"]).any()),
        ),
        Finding(
            "Nor is it one with the distance between the hulls in place of δ. Two points, planes through "
            f"the origin: {_exceeded(two, 'from_hulls')}",
            bool((two["updates"] > two["from_hulls"]).any()),
        ),
        Finding(
            "A lift does not mend that. Two numbers far from the origin, lifted: "
            f"{_exceeded(far, 'from_hulls')}",
            bool((far["updates"] > far["from_hulls"]).any()),
        ),
        Finding(
            "With two rows the updates grow without end as h shrinks: every run took more than φ/h.",
            bool((np.concatenate([part["updates"] * part["h"] for part in (two, far)]) > GOLDEN).all()),
        ),
        Finding(
            "In all cases twice the margin γ is at most the distance of the hulls, and that at most δ: the "
            "two formulas promise more than the theorem.",
            bool(ordered.all()),
        ),
    ]


def _exceeded(part: Table, claimed: str) -> str:
    """How often, and how far at most, the updates are above what a formula allows."""
    over = part["updates"] > part[claimed]
    worst = int(np.argmax(part["updates"] / part[claimed]))
    return (
        f"more updates than it allows in {int(over.sum())} of {len(over)} cases, in the worst "
        f"{part['updates'][worst]:,} where it allows {part[claimed][worst]:.1f} (h = {part['h'][worst]:g})."
    )


def _draw_hulls(table: Table) -> Figure:
    figure, axes = drawing.panels(
        3, rows=2, height=6.4, height_ratios=[1, 1.35], gridspec_kw={"hspace": 0.08}
    )
    for ax, (case, title) in zip(axes[:3], CASES.items(), strict=True):
        _draw_case(ax, case)
        ax.set_title(title)
    titles = ("γ = h, hulls 2h apart", "γ = h, hulls far apart", "γ ≈ 0.24, hulls 0.38/h apart")
    for ax, case, title in zip(axes[3:], CASES, titles, strict=True):
        part = where(table, case=case)
        drawing.log_axes(ax)
        drawing.bound(ax, part["h"], part["bound"], "bound (R/γ)²")
        for column, label, dashes in (
            ("from_points", "4R²/δ², δ between points (no bound)", ":"),
            ("from_hulls", "4R²/δ², δ between hulls (no bound)", "--"),
        ):
            ax.plot(part["h"], part[column], color=drawing.INK, linestyle=dashes, linewidth=1.6, label=label)
        ax.plot(part["h"], part["updates"], "o-", color=drawing.color(0), markersize=5, label="updates")
        ax.set_xlabel("h" if case != "far away" else "h = 1 / distance from the origin")
        ax.set_title(title)
        ax.set_ylim(1.0, 5.0 * float(part["bound"].max()))
    axes[3].set_ylabel("updates")
    drawing.shared_legend(figure, axes[3:])
    return figure


def _draw_case(ax: Axes, case: str) -> None:
    """The points, the plane that the theorem speaks of, and the distances that do not bound."""
    _, rows, y = hull_case(case, 0.25)
    a, b = MaxMargin(fit_intercept=False).fit(rows, y).coef_[0]
    reach = np.array([-9.0, 9.0]) / math.hypot(a, b)
    ax.plot(-b * reach, a * reach, color=drawing.ACCENT, linewidth=2.0)
    ax.plot(0.0, 0.0, "+", color=drawing.MUTED, markersize=9)
    bad, good = rows[y == -1][0], rows[0]
    points(ax, rows, y, size=50)
    arrow = {"arrowstyle": "<->", "linewidth": 1.5, "shrinkA": 0, "shrinkB": 0}
    if case == "three points":
        ax.plot(rows[:2, 0], rows[:2, 1], color=drawing.MUTED, linewidth=1.2, linestyle="--")
        ax.annotate("", xy=(0.2, 0.25), xytext=bad, arrowprops={**arrow, "color": drawing.color(0)})
        ax.annotate("hulls", (0.2, 0.06), xytext=(-6, 0), textcoords="offset points", ha="right", fontsize=9)
    ax.annotate("", xy=good, xytext=bad, arrowprops={**arrow, "color": drawing.color(2)})
    middle = (good + bad) / 2.0
    ax.annotate(
        "δ" if case == "three points" else "δ = hulls",
        middle,
        xytext=(6, -14) if case != "far away" else (0, -16),
        textcoords="offset points",
        ha="left" if case != "far away" else "center",
        fontsize=9,
    )
    if case == "far away":
        ax.set_xlim(-0.4, 4.6)
        ax.set_ylim(-1.0, 2.0)
        ax.set_ylabel("lifting coordinate")
    else:
        ax.set_xlim(-0.9, 1.4)
        ax.set_ylim(-0.6, 0.8)
    ax.set_aspect("equal")
    ax.grid(False)


HULLS = Study(
    name="hulls",
    title="Which distance is the margin?",
    source="Chapter 0, the margin",
    question=(
        "A perceptron is said to make at most 4R²/δ² updates, R the length of the longest point and δ the "
        "smallest distance between a good and a bad point. Is it so, and is it so with the distance between "
        "the convex hulls of good and bad points for δ?"
    ),
    method=(
        "Three families, each with a small h; φ = (√5 − 1)/2 = 0.618… Three points: good (1, h) and "
        "(−φ, h), bad (0.2, −h). Two points: good (1, h), bad (φ, −h). Two numbers: good 1/h, bad φ/h, "
        "lifted to (x, 1). The perceptron visits the rows in turn. Above: each family at h = 0.25, with the "
        "plane of largest margin through the origin (a cross). Below: the updates, against h, beside the "
        "two formulas and the theorem."
    ),
    theorem=(
        "From zero weights there are at most (R/γ)² updates, γ being the largest distance at which a plane "
        "through the origin keeps all signed points zᵢ = yᵢxᵢ, in the space where the perceptron runs (with "
        "a lift: zᵢ = yᵢ(xᵢ, 1)). It is the length of the shortest point of the convex hull of the zᵢ. The "
        "distance between the hulls of the two classes is twice the margin of the best plane anywhere: it "
        "is at least 2γ, and can be much larger; δ is larger still or the same. In the two families of two "
        "rows no run from zero ends before φ/h updates: n of one row and m of the other separate only if "
        "|n − φm| < h²(n + m)/φ, while |n − φm| ≥ φ/(n + m) for all whole numbers."
    ),
    reference=(
        "Bennett, K. P. and Bredensteiner, E. J. (2000). Duality and geometry in SVM classifiers. ICML, "
        "57-64 (the distance of hulls as twice the margin of the best plane)."
    ),
    plan=_plan_hulls,
    measure=_measure_hulls,
    findings=_findings_hulls,
    draw=_draw_hulls,
    bounds=(Bounded("updates", "bound", "Novikoff's bound, with the margin of the signed points,"),),
)

STUDIES = (SIDE, ROBUST, HULLS)
