"""Four separators, how much perturbation each tolerates, and which distance the margin is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ...estimators.linear_program import LinearProgram
from ...estimators.margin import MaxMargin
from ..study import Bounded, Finding, Record, Study, Table, claim, grid, listing, percent, values, where
from . import charts, theory
from .theory import perceptron

METHODS = {
    "perceptron": "perceptron",
    "feasible": "feasibility program",
    "program": "margin program",
    "margin": "largest margin",
}
PUSHES = [0.2, 0.4, 0.6, 0.8, 0.99, 1.2, 1.5, 2.0, 3.0]  # in units of the largest margin

# ---------------------------------------------------------------- side by side


def _problem(n_columns: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two normal clouds around opposite points; a closest pair planted by hand would decide alone."""
    generator = np.random.default_rng(seed)
    y, u = np.repeat([1, -1], 50), generator.standard_normal(n_columns)
    return generator.standard_normal((100, n_columns)) + 4.0 * y[:, None] * u / np.linalg.norm(u), y


def _measure_side(n_columns: int, seed: int) -> list[Record]:
    X, y = _problem(n_columns, seed)
    signed, best = y[:, None] * X, MaxMargin(fit_intercept=False).fit(X, y)
    models: dict[str, Any] = {
        "perceptron": perceptron(X, y),
        "feasible": LinearProgram(objective="feasible", fit_intercept=False).fit(X, y),
        "program": LinearProgram(fit_intercept=False).fit(X, y),
        "margin": best,
    }
    records = []
    for method, model in models.items():
        unit = model.coef_[0] / np.linalg.norm(model.coef_[0])
        distances = signed @ unit
        own = float(distances.min())
        records += [
            {
                "method": method,
                "margin_found": own,
                "bound": best.margin_upper_,
                "share": own / best.margin_upper_,
                "weight_1": float(unit[0]),
                "weight_2": float(unit[1]),
                "push": relative,
                "length": (push := relative * best.margin_lower_),
                "worst_error": float((distances <= push).mean()),
                "error_bound": 0.0 if push < own else math.nan,
            }
            for relative in PUSHES
        ]
    return records


def _medians(table: Table, method: str) -> tuple[list[int], np.ndarray]:
    """Return the dimensions, and the median share of the largest margin that a method reaches in each."""
    part = where(table, method=method, push=1.2)
    dimensions = values(part["n_columns"])
    return dimensions, np.array([np.median(where(part, n_columns=d)["share"]) for d in dimensions])


def _findings_side(table: Table) -> Iterator[Finding]:
    shares = {method: where(table, method=method, push=1.2)["share"] for method in METHODS}
    kept = {
        method: f"{percent(np.median(share))} (median; from {percent(share.min())} to {percent(share.max())})"
        for method, share in shares.items()
    }
    yield claim("All four separate every data set: every margin is positive.", table["margin_found"] > 0.0)
    yield claim(
        "The maximum-margin solver reaches the largest margin, up to one part in a million.",
        shares["margin"] >= 1 - 1e-6,
    )
    yield Finding(f"The perceptron reaches {kept['perceptron']} of it, the margin program {kept['program']}.")
    dimensions, medians = _medians(table, "feasible")
    yield claim(
        f"The feasibility program reaches {listing(map(percent, medians))} of it (medians at d = "
        f"{listing(map(str, dimensions))}), less than the margin program: every separator is optimal for it.",
        medians < _medians(table, "program")[1],
    )
    best = where(table, method="margin")
    yield claim(
        "The separator of largest margin made no error under any push shorter than that margin, also in the "
        "worst direction.",
        (best["worst_error"] == 0.0)[best["push"] < 1.0],
    )
    errors = [where(table, method=method, push=0.99)["worst_error"].mean() for method in METHODS]
    worst = [f"{percent(error)} ({name})" for error, name in zip(errors, METHODS.values(), strict=True)]
    yield claim(
        f"At a push of 0.99 of it in the worst direction, mean errors are {listing(worst)}.",
        np.array(errors[:3]) > 0.0,
    )


def _draw_side(table: Table) -> Figure:
    figure, axes = charts.panels(
        ("One data set in the plane",),
        ("Their margins", "dimension", "margin, as a share of the largest", "x"),
        ("Pushed at the plane", "push, in largest margins γ", "points on the wrong side, percent"),
    )
    charts.plane(axes[0], 7.0)
    charts.points(axes[0], *_problem(2, 0))
    charts.sweeps(axes[1], table, "n_columns", "share", "method", METHODS)
    dimensions = values(table["n_columns"])
    charts.bound(axes[1], dimensions, [1.0] * len(dimensions), "largest margin γ")
    axes[1].set_ylim(0, 1.05)
    for place, method in enumerate(METHODS):
        part = where(table, method=method)
        line: Any = {"color": charts.color(place), "linestyle": charts.dashes(place), "linewidth": 1.5}
        one = where(part, n_columns=2, seed=0)
        charts.separator(axes[0], [one["weight_1"][0], one["weight_2"][0]], **line)
        means = [100 * where(part, push=push)["worst_error"].mean() for push in PUSHES]
        axes[2].plot(PUSHES, means, **charts.series(place))
    axes[2].axvline(1.0, color=charts.ACCENT, linewidth=1.6)
    axes[2].set_ylim(0, None)
    return charts.finish(figure)


SIDE = Study(
    name="separators",
    title="Perceptron, linear programs and largest margin, side by side",
    source="Chapter 1, margins",
    question="""If the classes can be separated, how do four methods that find a separator differ, and how
        much perturbation of the points does each separator tolerate?""",
    method="""The same 100 points, two normal clouds with centers at distance 4 on both sides of the origin,
        are given to the perceptron, to two linear programs, and to the maximum-margin solver. The
        feasibility program asks for any w with scores of at least one, with a zero objective; the margin
        program for the largest smallest score with weights between −1 and 1. All hyperplanes pass through
        the origin. Left and middle: one data set, and medians and ranges of the margin, as a share of the
        largest. Right: every point is pushed straight at the hyperplane, by a given multiple of the largest
        margin, and the points that end on the wrong side or on the hyperplane are counted (means).""",
    theorem="""All four find a separator if there is one and they are given enough time. None can exceed the
        largest margin; the margin program and the maximum-margin problem differ only in the norm in which
        weights are measured. A point at distance d from the hyperplane stays on its side under every push
        shorter than d. So a separator of margin m makes no error under pushes shorter than m, and the
        separator of largest margin tolerates the longest.""",
    reference="""Mangasarian, O. L. (1999). Arbitrary-norm separating plane. Operations Research Letters 24,
        15-23; Boser, B., Guyon, I. and Vapnik, V. (1992). A training algorithm for optimal margin
        classifiers. COLT, 144-152.""",
    plan=grid(n_columns=([2, 10], [2, 5, 10]), seed=(range(4), range(25))),
    measure=_measure_side,
    findings=_findings_side,
    draw=_draw_side,
    bounds=(
        Bounded("margin_found", "bound", "The largest margin, as a bound on every separator's,"),
        Bounded(
            "worst_error", "error_bound", "Zero, the bound on the error under pushes shorter than the margin,"
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
    margin = MaxMargin(fit_intercept=False, gap=1e-7).fit(rows, y).margin_lower_
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
            "It is not a bound either if δ is the distance between the hulls. Two points, lines "
            "through the origin:"
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
    figure, axes = charts.panels(*((title, f"h  ({apart})", "", "xy") for title, apart in CASES.values()))
    axes[0].set_ylabel("updates")
    for ax, case in zip(axes, CASES, strict=True):
        part = where(table, case=case)
        charts.bound(ax, part["h"], part["bound"], "bound (R/γ)²")
        for what, dashes in (("points", ":"), ("hulls", "--")):
            style: Any = {"color": charts.INK, "linestyle": dashes, "linewidth": 1.6}
            ax.plot(part["h"], part[f"from_{what}"], **style, label=f"4R²/δ², δ between {what} (no bound)")
        ax.plot(part["h"], part["updates"], **charts.series(0, "updates"))
        ax.set_ylim(1.0, 5.0 * float(part["bound"].max()))
    return charts.finish(figure)


HULLS = Study(
    name="hulls",
    title="Which distance is the margin?",
    source="Chapter 0, the margin",
    question="""Some texts claim that a perceptron makes at most 4R²/δ² updates, where R is the length of the
        longest point and δ the smallest distance between a good and a bad point. Is this true, and is it true
        if δ is the distance between the convex hulls of good and bad points?""",
    method="""Three families, each with a small h; φ = (√5 − 1)/2 = 0.618… Three points: good (1, h) and (−φ,
        h), bad (0.2, −h). Two points: good (1, h), bad (φ, −h). Two numbers: good 1/h, bad φ/h, lifted to (x,
        1). The perceptron visits the rows in turn. The figure shows the updates, against h, beside the two
        formulas and the theorem.""",
    theorem="""From zero weights there are at most (R/γ)² updates, where γ is the largest distance at which a
        hyperplane through the origin keeps all signed points zᵢ = yᵢxᵢ, in the space where the perceptron
        runs (with a lift: zᵢ = yᵢ(xᵢ, 1)). It is the length of the shortest point of the convex hull of the
        zᵢ. The distance between the hulls of the two classes is twice the largest margin of hyperplanes with
        an intercept: it is at least 2γ, and can be much larger; δ is at least as large. In the two families
        of two rows no run from zero ends before φ/h updates: n of one row and m of the other separate only if
        |n − φm| < h²(n + m)/φ, while |n − φm| ≥ φ/(n + m) for all integers n, m ≥ 0, not both 0.""",
    reference="""Bennett, K. P. and Bredensteiner, E. J. (2000). Duality and geometry in SVM classifiers.
        ICML, 57-64 (the distance of hulls as twice the margin of the best hyperplane).""",
    plan=grid(
        case=list(CASES),
        h=([0.1, 0.03, 0.01, 0.003, 0.001], [0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001]),
    ),
    measure=_measure_hulls,
    findings=_findings_hulls,
    draw=_draw_hulls,
    bounds=(Bounded("updates", "bound", "Novikoff's bound, with the margin of the signed points,"),),
)
