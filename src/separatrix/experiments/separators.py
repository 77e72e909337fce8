"""Three separators, how much each can bear, and which distance the margin is (notes 001 and 000)."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.figure import Figure

from .. import datasets
from ..estimators.margin import LinearProgram, MaxMargin
from . import figures, theory
from .dual import points
from .fitting import geometric_margin, perceptron
from .study import Bounded, Finding, Record, Study, Table, percent, values, where

METHODS = {"perceptron": "perceptron", "program": "linear program", "margin": "largest margin"}


def _weights(X: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    return {
        "perceptron": perceptron(X, y).coef_[0],
        "program": LinearProgram(intercept=None).fit(X, y).coef_[0],
        "margin": MaxMargin(intercept=None).fit(X, y).coef_[0],
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
    best = MaxMargin(intercept=None).fit(X, y).margin_upper_
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
    figure, axes = figures.panels(2, height=3.9, width_ratios=[1, 1.25])
    X, y = _problem(SIDE_ROWS, 2, SIDE_DRAWN)
    reach = np.array([-1.6, 1.6])
    for place, (method, label) in enumerate(METHODS.items()):
        one = where(table, method=method, n_columns=2, seed=SIDE_DRAWN)
        a, b = float(one["weight_1"][0]), float(one["weight_2"][0])
        axes[0].plot(
            -b * reach, a * reach, color=figures.color(place), linestyle=figures.DASHES[place], label=label
        )
        part = where(table, method=method)
        figures.sweep(axes[1], part, "n_columns", "share", place, label, shift=1.0 + 0.05 * (place - 1))
    points(axes[0], X, y)
    axes[0].set_xlim(-1.08, 1.08)
    axes[0].set_ylim(-1.08, 1.08)
    axes[0].set_aspect("equal")
    axes[0].grid(False)
    axes[0].set_title("One data set in the plane")
    figures.legend(axes[0], loc="lower right", framealpha=0.9, frameon=True, fontsize=7.5)
    figures.bound(
        axes[1], values(table["n_columns"]), [1.0] * len(values(table["n_columns"])), "largest possible"
    )
    figures.log_axes(axes[1], y=False)
    figures.ticks_at(axes[1], values(table["n_columns"]))
    axes[1].set_xlabel("dimension")
    axes[1].set_ylabel("margin, as a share of the largest")
    axes[1].set_ylim(0, 1.3)
    axes[1].set_title("Their margins")
    figures.legend(axes[1], ncols=2, loc="upper right")
    return figure


SIDE = Study(
    name="separators",
    title="Perceptron, linear program and largest margin, side by side",
    source="Note 001",
    question="Among perfect separators, how do the three methods of the note differ?",
    method=(
        "The same 60 points, on both sides of a plane through the origin, given to the perceptron, to a "
        "linear program (the largest smallest score for weights between −1 and 1), and to the "
        "maximum-margin solver. Left: one data set. Right: medians and ranges of the margin, as a share of "
        "the largest."
    ),
    theorem=(
        "All three end with a separator if there is one. None can have more than the largest margin; the "
        "program and the maximum-margin problem differ only in the norm in which weights are measured."
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
    largest = MaxMargin(intercept=None).fit(X, y).margin_lower_
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
                "The largest margin bears every push shorter than itself without a single error, also in the "
                "worst direction."
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
            "Pushes in random directions do far less: at twice the margin, "
            f"{percent(random['perceptron'])}, {percent(random['program'])} and {percent(random['margin'])} "
            "of the points for perceptron, program and largest margin.",
            all(random[m] <= float(where(table, method=m, push=2.0)["worst_error"].mean()) for m in METHODS),
        ),
    ]


def _draw_robust(table: Table) -> Figure:
    figure, axes = figures.panels(2, height=3.8)
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
                places, np.maximum(0, means - spread), means + spread, color=figures.color(place), alpha=0.15
            )
            ax.plot(
                places,
                means,
                color=figures.color(place),
                marker=figures.MARKERS[place],
                linestyle=figures.DASHES[place],
                markersize=5,
                label=label,
            )
        ax.axvline(1.0, color=figures.ACCENT, linewidth=1.6, label="γ")
        ax.set_xlabel("length of the push, in largest margins γ")
        ax.set_title(title)
        ax.set_ylim(bottom=0)
    axes[0].set_ylabel("points on the wrong side, percent")
    figures.legend(axes[0], loc="upper left")
    return figure


ROBUST = Study(
    name="robustness",
    title="How much perturbation each separator bears",
    source="Note 001",
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

# ---------------------------------------------------------------- hulls, not points

FAR = (math.sqrt(5.0) - 1.0) / 2.0  # an irrational ratio, so that corrections never cancel


def _plan_hulls(quick: bool) -> list[Record]:
    return [{"half_width": 2.0**-power} for power in range(2, 9 if quick else 13)]


def _measure_hulls(half_width: float) -> list[Record]:
    X = np.array([[1.0, half_width], [-FAR, half_width], [0.2, -half_width]])
    y = np.array([1, 1, -1])
    model = perceptron(X, y)
    radius = float(np.linalg.norm(X, axis=1).max())
    pairs = min(float(np.linalg.norm(X[i] - X[2])) for i in (0, 1))
    best = MaxMargin(intercept=None).fit(X, y)
    return [
        {
            "updates": model.mistakes_,
            "pair_distance": pairs,
            "claimed": 4.0 * (radius / pairs) ** 2,
            "margin": best.margin_lower_,
            "bound": theory.novikoff(radius, best.margin_lower_),
        }
    ]


def _findings_hulls(table: Table) -> list[Finding]:
    wrong = table["updates"] > table["claimed"]
    worst = int(np.argmax(table["updates"] / table["claimed"]))
    return [
        Finding(
            "The note's formula 4R²/δ², with δ the smallest distance between a good and a bad point, is "
            f"not a bound: it is exceeded in {int(wrong.sum())} of {len(wrong)} cases, in the worst by "
            f"{table['updates'][worst]:,} updates where it allows {table['claimed'][worst]:.1f}.",
            bool(wrong.any()),
        ),
        Finding(
            "With the distance between the hulls in its place the theorem holds, as the first sentence says."
        ),
    ]


def _draw_hulls(table: Table) -> Figure:
    figure, (left, right) = figures.panels(2, height=3.7, width_ratios=[1, 1.2])
    h = 0.25
    X, y = np.array([[1.0, h], [-FAR, h], [0.2, -h]]), np.array([1, 1, -1])
    left.axhline(0.0, color=figures.ACCENT, linewidth=2.0)
    left.plot(X[:2, 0], X[:2, 1], color=figures.MUTED, linewidth=1.2, linestyle="--")
    points(left, X, y, size=50)
    left.annotate(
        "",
        xy=(0.2, h),
        xytext=(0.2, -h),
        arrowprops={"arrowstyle": "<->", "color": figures.color(0), "linewidth": 1.6},
    )
    left.annotate("hulls: 2h", (0.2, 0.0), xytext=(6, 12), textcoords="offset points", color=figures.color(0))
    left.annotate(
        "",
        xy=X[0],
        xytext=X[2],
        arrowprops={"arrowstyle": "<->", "color": figures.color(2), "linewidth": 1.6},
    )
    left.annotate(
        "points: δ", (0.62, 0.0), xytext=(8, -14), textcoords="offset points", color=figures.color(2)
    )
    left.set_xlim(-1.0, 1.3)
    left.set_ylim(-0.75, 0.75)
    left.set_aspect("equal")
    left.grid(False)
    left.set_title("Three points")
    figures.log_axes(right)
    figures.bound_by(right, table, "half_width", "bound", "bound (R/γ)², from the hulls")
    right.plot(
        table["half_width"],
        table["claimed"],
        color=figures.INK,
        linestyle=":",
        linewidth=1.8,
        label="4R²/δ², from the points: false",
    )
    figures.sweep(right, table, "half_width", "updates", 0, "updates")
    right.set_xlabel("half the distance of the hulls, h")
    right.set_ylabel("updates")
    right.set_title("Which distance is the margin?")
    figures.legend(right)
    return figure


HULLS = Study(
    name="hulls",
    title="The margin is a distance of hulls, not of points",
    source="Note 000, claim in section 1",
    question="The note allows 4R²/δ² updates, δ the least distance of a good and a bad point. Is it so?",
    method=(
        "Two good points (1, h) and (−0.618…, h) and a bad one at (0.2, −h): as h shrinks, the points stay "
        "apart while their hulls approach."
    ),
    theorem=(
        "The proof needs a plane that keeps every point at a distance γ, and the best of those planes is "
        "as far from both hulls: 2γ is at most the distance between the convex hulls, which can be much "
        "smaller than δ."
    ),
    reference=(
        "Bennett, K. P. and Bredensteiner, E. J. (2000). Duality and geometry in SVM classifiers. ICML, "
        "57-64."
    ),
    plan=_plan_hulls,
    measure=_measure_hulls,
    findings=_findings_hulls,
    draw=_draw_hulls,
    bounds=(Bounded("updates", "bound", "Novikoff's bound with the margin of the hulls"),),
)

STUDIES = (SIDE, ROBUST, HULLS)
