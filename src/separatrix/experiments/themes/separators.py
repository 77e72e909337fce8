"""Three separators, how much perturbation each bears, and which distance the margin is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ... import datasets
from ...estimators.linear_program import LinearProgram
from ...estimators.margin import MaxMargin
from ..study import Bounded, Finding, Record, Study, Table, claim, grid, percent, values, where
from . import drawing, theory
from .fitting import geometric_margin, perceptron

METHODS = {"perceptron": "perceptron", "program": "linear program", "margin": "largest margin"}


def _units(X: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """Return the separator of each method, of length one."""
    models: dict[str, Any] = {
        "perceptron": perceptron(X, y),
        "program": LinearProgram(fit_intercept=False).fit(X, y),
        "margin": MaxMargin(fit_intercept=False).fit(X, y),
    }
    return {method: model.coef_[0] / np.linalg.norm(model.coef_[0]) for method, model in models.items()}


def _problem(n_rows: int, n_columns: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points on both sides of a plane, without the pair at the margin, which would decide alone."""
    problem = datasets.make_separable(n_rows + 2, n_columns, margin=0.05, random_state=seed)
    keep = np.setdiff1d(np.arange(n_rows + 2), problem.tight_rows)
    return problem.X[keep], problem.y[keep]


# ---------------------------------------------------------------- side by side


def _measure_side(n_columns: int, seed: int) -> list[Record]:
    X, y = _problem(60, n_columns, seed)
    found = _units(X, y)
    best = MaxMargin(fit_intercept=False).fit(X, y).margin_upper_
    return [
        {
            "method": method,
            "margin_found": (own := geometric_margin(weights, y[:, None] * X)),
            "bound": best,
            "share": own / best,
            "angle": theory.angle(weights, found["margin"]),
            "weight_1": float(weights[0]),
            "weight_2": float(weights[1]),
        }
        for method, weights in found.items()
    ]


def _findings_side(table: Table) -> Iterator[Finding]:
    shares = {method: where(table, method=method)["share"] for method in METHODS}
    kept = {
        method: f"{percent(np.median(share))} (median; from {percent(share.min())} to {percent(share.max())})"
        for method, share in shares.items()
    }
    yield claim("All three separate every data set: every margin is positive.", table["margin_found"] > 0.0)
    yield claim(
        "The maximum-margin solver reaches the largest margin, up to one part in a million.",
        shares["margin"] >= 1 - 1e-6,
    )
    yield Finding(f"The perceptron reaches {kept['perceptron']} of it, the linear program {kept['program']}.")


def _draw_side(table: Table) -> Figure:
    figure, (left, right) = drawing.panels(2, height=3.9, width_ratios=[1, 1.25])
    drawing.plane(left, 1.08)
    for place, (method, label) in enumerate(METHODS.items()):
        one = where(table, method=method, n_columns=2, seed=0)
        style: Any = {"color": drawing.color(place), "linestyle": drawing.dashes(place), "linewidth": 1.5}
        drawing.separator(left, [one["weight_1"][0], one["weight_2"][0]], **style, label=label)
        part, shift = where(table, method=method), 1.0 + 0.05 * (place - 1)
        drawing.sweep(right, part, "n_columns", "share", place, label, shift=shift)
    drawing.points(left, *_problem(60, 2, 0))
    left.set_title("One data set in the plane")
    dimensions = values(table["n_columns"])
    drawing.bound(right, dimensions, [1.0] * len(dimensions), "largest possible")
    drawing.log_axes(right, y=False)
    drawing.ticks_at(right, dimensions)
    right.set(xlabel="dimension", ylabel="margin, as a share of the largest", ylim=(0, 1.05))
    right.set_title("Their margins")
    drawing.shared_legend(figure, (left, right))
    return figure


SIDE = Study(
    name="separators",
    title="Perceptron, linear program and largest margin, side by side",
    source="Chapter 1, margins",
    question="Among perfect separators, how do three methods that find one differ?",
    method="""The same 60 points, on both sides of a plane through the origin, are given to the perceptron, to
        a linear program (the largest smallest score for weights between −1 and 1), and to the maximum-margin
        solver. Left: one data set. Right: medians and ranges of the margin, as a share of the largest.""",
    theorem="""All three find a separator if there is one and they are given the time. None can exceed the
        largest margin; the program and the maximum-margin problem differ only in the norm in which weights
        are measured.""",
    reference=(
        "Mangasarian, O. L. (1999). Arbitrary-norm separating plane. Operations Research Letters 24, 15-23."
    ),
    plan=grid(n_columns=([2, 10], [2, 5, 10, 20, 50]), seed=(range(4), range(25))),
    measure=_measure_side,
    findings=_findings_side,
    draw=_draw_side,
    bounds=(Bounded("margin_found", "bound", "The largest margin, as a bound on every separator's,"),),
)

# ---------------------------------------------------------------- robustness

PUSHES = [0.2, 0.4, 0.6, 0.8, 0.99, 1.2, 1.5, 2.0, 3.0]  # in units of the largest margin


def _measure_robust(n_columns: int, seed: int) -> list[Record]:
    X, y = _problem(200, n_columns, seed)
    signed = y[:, None] * X
    largest = MaxMargin(fit_intercept=False).fit(X, y).margin_lower_
    turns = np.random.default_rng([seed, 1]).standard_normal((20, *signed.shape))
    turns /= np.linalg.norm(turns, axis=2, keepdims=True)
    records = []
    for method, unit in _units(X, y).items():
        distances, sideways = signed @ unit, turns @ unit
        records += [
            {
                "method": method,
                "push": relative,
                "length": (push := relative * largest),
                "margin_found": float(distances.min()),
                "worst_error": float((distances <= push).mean()),
                "random_error": float((distances + push * sideways <= 0.0).mean()),
                "bound": 0.0 if push < distances.min() else math.nan,
            }
            for relative in PUSHES
        ]
    return records


def _findings_robust(table: Table) -> Iterator[Finding]:
    def mean(method: str, push: float, column: str) -> float:
        return float(where(table, method=method, push=push)[column].mean())

    best = where(table, method="margin")
    yield claim(
        "The separator of largest margin made no error under any push shorter than that margin, also in the "
        "worst direction.",
        (best["worst_error"] == 0.0)[best["push"] < 1.0],
    )
    worst = mean("perceptron", 0.99, "worst_error")
    yield claim(
        "At a push of 0.99 of it in the worst direction, the perceptron's separators are wrong on "
        f"{percent(worst)} of the points and the linear program's on "
        f"{percent(mean('program', 0.99, 'worst_error'))} (means).",
        worst > 0.0,
    )
    random = {method: mean(method, 2.0, "random_error") for method in METHODS}
    yield claim(
        "Pushes in random directions do less: at twice the margin, "
        f"{percent(random['perceptron'])}, {percent(random['program'])} and {percent(random['margin'])} "
        "of the points are wrong for perceptron, program and largest margin.",
        *(random[method] <= mean(method, 2.0, "worst_error") for method in METHODS),
    )


def _draw_robust(table: Table) -> Figure:
    figure, axes = drawing.panels(2, height=3.8)
    titles = {"worst_error": "Pushed in the worst direction", "random_error": "Pushed in random directions"}
    for ax, (column, title) in zip(axes, titles.items(), strict=True):
        for place, (method, label) in enumerate(METHODS.items()):
            parts = [100 * where(table, method=method, push=push)[column] for push in PUSHES]
            means, spread = (np.array([measure(part) for part in parts]) for measure in (np.mean, np.std))
            band = np.maximum(0, means - spread), means + spread
            ax.fill_between(PUSHES, *band, color=drawing.color(place), alpha=0.15)
            ax.plot(PUSHES, means, **drawing.series(place, label))
        ax.axvline(1.0, color=drawing.ACCENT, linewidth=1.6, label="largest margin γ")
        ax.set(xlabel="length of the push, in largest margins γ", title=title, ylim=(0, None))
    axes[0].set_ylabel("points on the wrong side, percent")
    drawing.shared_legend(figure, axes[:1])
    return figure


ROBUST = Study(
    name="robustness",
    title="How much perturbation each separator bears",
    source="Chapter 1, margins",
    question="Is the separator of largest margin more robust to perturbation of the points?",
    method="""200 points in ten dimensions. Every point is pushed by a given multiple of the largest margin,
        straight at the plane or in a random direction (20 directions per point), and the points that end on
        the wrong side are counted; a point on the plane is wrong. Means over data sets, with a band of one
        standard deviation.""",
    theorem="""A point at distance d from the plane stays on its side under every push shorter than d. So a
        separator of margin m makes no error under pushes shorter than m, and the largest margin bears the
        longest.""",
    reference="""Boser, B., Guyon, I. and Vapnik, V. (1992). A training algorithm for optimal margin
        classifiers. COLT, 144-152.""",
    plan=grid(n_columns=[10], seed=(range(4), range(40))),
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
    "three points": ("Three points", "γ = h, hulls 2h apart"),
    "two points": ("Two points", "γ = h, hulls far apart"),
    "far away": ("Two numbers, lifted", "γ ≈ 0.24, hulls 0.38/h apart"),
}


def hull_case(case: str, h: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the points of a case, the rows of the perceptron (perhaps lifted by 1), and the labels."""
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


def _findings_hulls(table: Table) -> Iterator[Finding]:
    texts = {
        "three points": (
            "4R²/δ², where δ is the smallest distance between a good and a bad point, is not a bound. Three "
            "points:"
        ),
        "two points": (
            "It is not a bound either if δ is the distance between the hulls. Two points, planes through "
            "the origin:"
        ),
        "far away": "A lift does not make it a bound. Two numbers far from the origin, lifted:",
    }
    for case, text in texts.items():
        part = where(table, case=case)
        allowed = part["from_points" if case == "three points" else "from_hulls"]
        excess = part["updates"] / allowed
        worst = int(np.argmax(excess))
        yield claim(
            f"{text} more updates than it allows in {(excess > 1.0).sum()} of {len(excess)} cases, in the "
            f"worst {part['updates'][worst]:,} where it allows {allowed[worst]:.1f} "
            f"(h = {part['h'][worst]:g}).",
            excess.max() > 1.0,
        )
    two_rows = table["case"] != "three points"
    yield claim(
        "With two rows the updates grow without limit as h shrinks: every run took more than φ/h.",
        (table["updates"] * table["h"])[two_rows] > GOLDEN,
    )
    yield claim(
        "In all cases twice the margin γ is at most the distance of the hulls, and that is at most δ: the "
        "two formulas promise more than the theorem.",
        2.0 * table["margin"] <= table["hull_distance"] * (1 + 1e-9),
        table["hull_distance"] <= table["point_distance"] * (1 + 1e-9),
    )


def _draw_hulls(table: Table) -> Figure:
    ratios: Any = {"height_ratios": [1, 1.35], "gridspec_kw": {"hspace": 0.08}}
    figure, axes = drawing.panels(3, rows=2, height=6.4, **ratios)
    for above, ax, (case, (title, apart)) in zip(axes[:3], axes[3:], CASES.items(), strict=True):
        _draw_case(above, case)
        above.set_title(title)
        part = where(table, case=case)
        drawing.log_axes(ax)
        drawing.bound(ax, part["h"], part["bound"], "bound (R/γ)²")
        for what, dashes in (("points", ":"), ("hulls", "--")):
            style: Any = {"color": drawing.INK, "linestyle": dashes, "linewidth": 1.6}
            ax.plot(part["h"], part[f"from_{what}"], **style, label=f"4R²/δ², δ between {what} (no bound)")
        ax.plot(part["h"], part["updates"], **drawing.series(0, "updates"))
        ax.set(xlabel="h" if case != "far away" else "h = 1 / distance from the origin", title=apart)
        ax.set_ylim(1.0, 5.0 * float(part["bound"].max()))
    axes[3].set_ylabel("updates")
    drawing.shared_legend(figure, axes[3:])
    return figure


def _draw_case(ax: Axes, case: str) -> None:
    """Draw the points, the plane that the theorem is about, and the distances that do not give a bound."""
    _, rows, y = hull_case(case, 0.25)
    far, three = case == "far away", case == "three points"
    ax.set(xlim=(-0.4, 4.6) if far else (-0.9, 1.4), ylim=(-1.0, 2.0) if far else (-0.6, 0.8), aspect="equal")
    ax.set_ylabel("lifting coordinate" if far else "")
    ax.grid(False)
    drawing.separator(ax, MaxMargin(fit_intercept=False).fit(rows, y).coef_[0])
    ax.plot(0.0, 0.0, "+", color=drawing.MUTED, markersize=9)
    drawing.points(ax, rows, y, size=50)
    bad, good = rows[y == -1][0], rows[0]
    arrow: Any = {"arrowstyle": "<->", "linewidth": 1.5, "shrinkA": 0, "shrinkB": 0}
    small: Any = {"textcoords": "offset points", "fontsize": 9}
    if three:
        ax.plot(*rows[:2].T, color=drawing.MUTED, linewidth=1.2, linestyle="--")
        ax.annotate("", xy=(0.2, 0.25), xytext=bad, arrowprops={**arrow, "color": drawing.color(0)})
        ax.annotate("hulls", (0.2, 0.06), xytext=(-6, 0), ha="right", **small)
    ax.annotate("", xy=good, xytext=bad, arrowprops={**arrow, "color": drawing.color(2)})
    place: Any = {"xytext": (0, -16), "ha": "center"} if far else {"xytext": (6, -14), "ha": "left"}
    ax.annotate("δ" if three else "δ = hulls", (good + bad) / 2.0, **place, **small)


HULLS = Study(
    name="hulls",
    title="Which distance is the margin?",
    source="Chapter 0, the margin",
    question="""A perceptron is said to make at most 4R²/δ² updates, where R is the length of the longest
        point and δ the smallest distance between a good and a bad point. Is this true, and is it true if δ is
        the distance between the convex hulls of good and bad points?""",
    method="""Three families, each with a small h; φ = (√5 − 1)/2 = 0.618… Three points: good (1, h) and (−φ,
        h), bad (0.2, −h). Two points: good (1, h), bad (φ, −h). Two numbers: good 1/h, bad φ/h, lifted to (x,
        1). The perceptron visits the rows in turn. Above: each family at h = 0.25, with the plane of largest
        margin through the origin (a cross). Below: the updates, against h, beside the two formulas and the
        theorem.""",
    theorem="""From zero weights there are at most (R/γ)² updates, where γ is the largest distance at which a
        plane through the origin keeps all signed points zᵢ = yᵢxᵢ, in the space where the perceptron runs
        (with a lift: zᵢ = yᵢ(xᵢ, 1)). It is the length of the shortest point of the convex hull of the zᵢ.
        The distance between the hulls of the two classes is twice the margin of the best plane anywhere: it
        is at least 2γ, and can be much larger; δ is at least as large. In the two families of two rows no run
        from zero ends before φ/h updates: n of one row and m of the other separate only if |n − φm| < h²(n +
        m)/φ, while |n − φm| ≥ φ/(n + m) for all whole numbers.""",
    reference="""Bennett, K. P. and Bredensteiner, E. J. (2000). Duality and geometry in SVM classifiers.
        ICML, 57-64 (the distance of hulls as twice the margin of the best plane).""",
    plan=grid(
        case=list(CASES),
        h=([0.1, 0.03, 0.01, 0.003, 0.001], [0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001]),
    ),
    measure=_measure_hulls,
    findings=_findings_hulls,
    draw=_draw_hulls,
    bounds=(Bounded("updates", "bound", "Novikoff's bound, with the margin of the signed points,"),),
)
