"""Several classes: discriminators, the bound, the error against their number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from ... import datasets
from ..study import Bounded, Finding, Record, Study, Table, claim, grid, medians, percent, values, where
from . import charts, theory
from .theory import perceptron

KESLER = (
    "Duda, R. O. and Hart, P. E. (1973). Pattern Classification and Scene Analysis, section 5.12.1 "
    "(Kesler's construction); Crammer, K. and Singer, Y. (2003). Ultraconservative online algorithms for "
    "multiclass problems. Journal of Machine Learning Research 3, 951-991."
)

# ---------------------------------------------------------------- discriminators

TURNS = 2.0 * np.pi * np.arange(3600) / 3600
DIRECTIONS = np.column_stack([np.cos(TURNS), np.sin(TURNS)])


def _drawn_problem(classes: int, seed: int) -> datasets.Problem:
    return datasets.make_multiclass(150, 2, classes, margin=0.08, random_state=seed)


def discriminators(X: np.ndarray, y: np.ndarray, classes: int) -> tuple[np.ndarray, int]:
    """Learn a discriminator per class: half of x goes to its own, half is taken from the best wrong one."""
    weights, updates, clean = np.zeros((classes, X.shape[1])), 0, False
    while not clean:
        clean = True
        for x, own in zip(X, y, strict=True):
            scores = weights @ x
            lead = scores[own] - scores
            lead[own] = np.inf
            rival = int(np.argmin(lead))
            if lead[rival] <= 0.0:
                weights[own] += x / 2
                weights[rival] -= x / 2
                updates, clean = updates + 1, False
    return weights, updates


def _measure_drawn(classes: int, seed: int) -> list[Record]:
    problem = _drawn_problem(classes, seed)
    weights, updates = discriminators(problem.X, problem.y, classes)
    around = DIRECTIONS @ weights.T
    distances = around / np.linalg.norm(weights, axis=1)  # signed, from the hyperplane of each discriminator
    library = perceptron(*problem).discriminators()[:, :-1]  # the last column is the intercept, zero here
    alike = np.allclose(weights, library, rtol=1e-9, atol=1e-12)
    return [
        {
            "class": label,
            "weight_1": float(weights[label, 0]),
            "weight_2": float(weights[label, 1]),
            "length": float(np.linalg.norm(weights[label])),
            "updates": updates,
            "bound": 2.0 * theory.novikoff(problem.radius, problem.margin),
            "errors": int(((problem.X @ weights.T).argmax(axis=1) != problem.y).sum()),
            "directions_by_distance": int((around.argmax(axis=1) != distances.argmax(axis=1)).sum()),
            "sum_of_weights": float(np.abs(weights.sum(axis=0)).max()),
            "as_library": alike,
        }
        for label in range(classes)
    ]


def _findings_drawn(table: Table) -> Iterator[Finding]:
    two = where(table, classes=2)
    plus, minus = where(two, **{"class": 1}), where(two, **{"class": 0})
    first = where(table, **{"class": 0})  # the rows of all classes repeat what belongs to a run
    moved = first["directions_by_distance"][first["classes"] > 2] / len(DIRECTIONS)
    yield claim("At the end each point's own discriminator has the highest score.", table["errors"] == 0)
    yield claim(
        "With two classes w₊ and w₋ are opposite vectors, each half of the separator: w₊ − w₋ is the "
        "weight vector of the two-class perceptron.",
        np.abs(plus["weight_1"] + minus["weight_1"]) < 1e-9,
        np.abs(plus["weight_2"] + minus["weight_2"]) < 1e-9,
        two["as_library"],
    )
    yield claim(
        "From zero, the discriminators add up to zero (up to rounding), because what one gains another "
        "loses: with k classes they are a star of k arrows, and the border between two classes is "
        "perpendicular to the difference of their arrows.",
        table["sum_of_weights"] < 1e-9,
    )
    yield claim(
        "The score is the length of the discriminator times the signed distance from its plane, and the "
        f"length counts: by the distance alone {percent(moved.mean())} of all directions would go to "
        f"another class with three or five classes, up to {percent(moved.max())} in one run; with two "
        "the lengths are equal and none would.",
        moved.max() > 0.0,
        two["directions_by_distance"] == 0,
    )
    yield claim("The library's weights are the same, up to rounding.", table["as_library"])


def _draw_drawn(table: Table) -> Figure:
    figure, axes = charts.panels(("2 classes",), ("3 classes",), ("5 classes",), height=3.5)
    across, up = np.meshgrid(*[np.linspace(-1.15, 1.15, 300)] * 2)
    arrow: Any = {"arrowstyle": "-|>", "color": charts.INK, "linewidth": 1.8, "shrinkA": 0, "shrinkB": 0}
    paper = {"boxstyle": "round,pad=0.12", "facecolor": charts.PAPER, "edgecolor": "none", "alpha": 0.85}
    bold: Any = {"ha": "center", "va": "center", "fontsize": 10, "fontweight": "bold", "bbox": paper}
    edge: Any = {"markeredgecolor": charts.INK, "markeredgewidth": 0.4, "alpha": 1.0}
    for ax, classes in zip(axes, (2, 3, 5), strict=True):
        problem, part = _drawn_problem(classes, 0), where(table, classes=classes, seed=0)
        weights = np.column_stack([part["weight_1"], part["weight_2"]])
        winner = (np.stack([across, up], axis=-1) @ weights.T).argmax(axis=-1)
        colors = ListedColormap([charts.color(place, 0.22) for place in range(classes)])
        ax.pcolormesh(across, up, winner, cmap=colors, vmin=-0.5, vmax=classes - 0.5, rasterized=True)
        for label, tip in enumerate(weights / part["length"].max()):
            ax.plot(*problem.X[problem.y == label].T, **charts.dots(label, **edge))
            ax.annotate("", xy=tip, xytext=(0, 0), arrowprops=arrow, zorder=4)
            name = ("w₋", "w₊")[label] if classes == 2 else f"w{'₁₂₃₄₅'[label]}"
            ax.annotate(name, tip * 1.12 + (0.0, 0.03), **bold, zorder=5)
        charts.plane(ax, 1.15)
    return charts.finish(figure)


DRAWN = Study(
    name="discriminators",
    title="One weight vector per class",
    source="Chapter 4, exercise 9",
    question="How does the perceptron update w₊ and w₋ directly, and what are they geometrically?",
    method="""150 points in the unit disc, two, three and five classes. A plain loop adds half of a wrongly
        classified point to the discriminator of its class and takes half from the best wrong one; the
        library's perceptron is run beside it. Arrows are the final discriminators (scaled to the longest),
        shaded regions show where each wins.""",
    theorem="""Joining w₊ and w₋ to one vector, an update adds (x, −x)/2: it is the perceptron in twice the
        dimension. From zero, w₊ = −w₋ = w/2 at all times. The score ⟨wⱼ, x⟩ is |wⱼ| times the signed distance
        of x from the plane of wⱼ, positive on the side that wⱼ points to; a point belongs to the class with
        the largest score, not to the one with the largest distance.""",
    reference=KESLER,
    plan=grid(classes=[2, 3, 5], seed=(range(3), range(20))),
    measure=_measure_drawn,
    findings=_findings_drawn,
    draw=_draw_drawn,
    bounds=(Bounded("updates", "bound", "The multiclass bound 2(R/γ)²"),),
)

# ---------------------------------------------------------------- the bound


def _measure_bound(classes: int, margin: float, seed: int) -> list[Record]:
    problem = datasets.make_multiclass(500, 10, classes, margin=margin, random_state=seed)
    model = perceptron(*problem)
    # Two classes share w = W[1] - W[0], of length sqrt(2) here: (R sqrt(2) / margin)^2 is the same number.
    bound = 2.0 * theory.novikoff(problem.radius, problem.margin)
    return [{"updates": model.mistakes_, "bound": bound, "converged": model.converged_}]


def _findings_bound(table: Table) -> Iterator[Finding]:
    yield claim("Every run ended.", table["converged"])
    smallest = min(values(table["margin"]))
    classes, counts = medians(where(table, margin=smallest), "classes", "updates")
    yield Finding(
        f"At the smallest margin, {smallest:g}, the median number of updates is {counts[0]:,.0f} with "
        f"{classes[0]:.0f} classes and {counts[-1]:,.0f} with {classes[-1]:.0f}; the bound is the same for "
        "all."
    )


def _draw_bound(table: Table) -> Figure:
    x = "margin γ of weights with norm one in all  (R = 1)"
    figure, (ax,) = charts.panels(("Updates with several classes", x, "updates", "xy"))
    charts.bound_by(ax, table, "margin", "bound", "bound 2(R/γ)²")
    labels = {classes: f"{classes} classes" for classes in values(table["classes"])}
    charts.sweeps(ax, table, "margin", "updates", "classes", labels)
    return charts.finish(figure, columns=5)


BOUND = Study(
    name="multiclass-bound",
    title="The bound with several classes",
    source="Chapter 4, exercise 10",
    question="Does the perceptron with k discriminators halt, and after how many updates at most?",
    method="""500 points in ten dimensions with 2, 3, 5 and 10 classes and a known matrix of discriminators of
        norm one, whose margin is known. Medians and ranges.""",
    theorem="""Write the k discriminators as one vector W. A mistake on (x, y) against r adds x at y and
        subtracts it at r: a vector of length √2|x| whose inner product with a W* of norm one is at least γ,
        the smallest lead of a right class over a wrong one. From zero, Novikoff's argument gives at most
        2(R/γ)² updates. The number k does not occur, but the largest γ may shrink as k grows.""",
    reference=KESLER,
    plan=grid(
        classes=[2, 3, 5, 10],
        margin=([0.1, 0.03], [0.2, 0.1, 0.05, 0.02, 0.01]),
        seed=(range(3), range(20)),
    ),
    measure=_measure_bound,
    findings=_findings_bound,
    draw=_draw_bound,
    bounds=(Bounded("updates", "bound", "The multiclass bound"),),
)

# ---------------------------------------------------------------- error against k

CELLS = ("classes", "n_rows")


def _measure_error(classes: int, n_rows: int, n_fresh: int, seed: int) -> list[Record]:
    problem = datasets.make_multiclass(n_rows + n_fresh, 20, classes, margin=0.02, random_state=seed)
    # The planted rows are at random places, so a cut gives a sample and fresh rows of the same kind.
    model = perceptron(problem.X[:n_rows], problem.y[:n_rows])
    wrong = model.predict(problem.X[n_rows:]) != problem.y[n_rows:]
    more = perceptron(problem.X[: n_rows + 1], problem.y[: n_rows + 1])
    return [
        {
            "error": float(wrong.mean()),
            "corrected_share": float((more.mistake_counts_ > 0).sum() / (n_rows + 1)),
            "updates": model.mistakes_,
            "margin_bound": 2.0 * theory.novikoff(problem.radius, problem.margin) / (n_rows + 1),
        }
    ]


def _findings_error(table: Table) -> Iterator[Finding]:
    classes, sizes, error, ends = theory.means(table, "error", *CELLS)
    _, _, limit, limit_ends = theory.means(table, "corrected_share", *CELLS)
    yield claim(
        f"The mean error stays below the mean share of corrected points in all {len(error)} cases; the "
        f"closest reaches {percent(max(error / limit))} of it. The 95% intervals of the two means do not "
        f"overlap in {(ends[:, 1] < limit_ends[:, 0]).sum()} of them.",
        error <= limit,
    )
    vacuous, largest = table["margin_bound"], int(max(sizes))
    yield claim(
        f"The last form of the bound, 2(R/γ)²/(n + 1), is {vacuous.min():.1f} at the least, with "
        f"{largest:,} points: above 1, so it is vacuous at all sizes used here.",
        vacuous > 1.0,
    )
    at = np.flatnonzero(sizes == largest)
    few, many = at[0], at[-1]
    yield claim(
        f"With {largest:,} points the mean error on fresh points is {percent(error[few])} "
        f"({theory.ends_text(ends[few])}) for {classes[few]} classes and {percent(error[many])} "
        f"({theory.ends_text(ends[many])}) for {classes[many]}: {error[many] / error[few]:.1f} times that.",
        error[many] > error[few],
    )
    rising = bool((np.diff(error[at]) >= 0.0).all())
    yield Finding(f"It {'grows' if rising else 'does not grow'} at every step in the number of classes.")


def _draw_error(table: Table) -> Figure:
    figure, (left, right) = charts.panels(
        ("Error against the classes", "number of classes k", "error on fresh points", "xy"),
        ("Mean error and its bound", "points learned from", "", "xy"),
        sharey=True,
    )
    sizes = {size: f"{size:,} points" for size in values(table["n_rows"])}
    charts.sweeps(left, table, "classes", "error", "n_rows", sizes, apart=0.03)
    open_dots: Any = {"linestyle": ":", "markerfacecolor": charts.PAPER, "linewidth": 1.1, "capsize": 0}
    for place, classes in enumerate(values(table["classes"])):
        part, shift = where(table, classes=classes), 1.0 + 0.03 * (place - 2)
        for column, label, options in (("error", f"k = {classes}", {}), ("corrected_share", "_", open_dots)):
            _, x, mean, ends = theory.means(part, column, *CELLS)
            charts.interval(right, x * shift, mean, ends, place, label, **options)
    right.plot([], [], color=charts.MUTED, linestyle=":", marker="o", markerfacecolor="none", label="bound")
    charts.ticks_at(right, sizes)
    left.set_ylim(0.3 * table["error"][table["error"] > 0].min(), 1.2)
    return charts.finish(figure, columns=6)


ERROR = Study(
    name="error-classes",
    title="Error against the number of classes",
    source="Chapter 4, exercise 11",
    question="With a data set of given size, how does the error rate depend on the number of classes?",
    method="""Points in 20 dimensions with up to 20 classes and margin 0.02; the perceptron learns from some
        until it is done and is tested on 4,000 others. Left: medians and ranges. Right: means with
        Student's 95% intervals, and, dotted, the mean share of corrected points, which bounds them. A whisker
        that leaves the axis ends at zero or below.""",
    theorem="""Leave one of n + 1 points out: if the run on all of them never corrected it, the run without it
        is the same, and classifies it correctly. So the expected error after learning from n points is at
        most the expected number of corrected points among n + 1, divided by n + 1; and that is at most
        2(R/γ)²/(n + 1), which says something only if n + 1 is more than 2(R/γ)², here 5,000. It bounds the
        mean over data sets, not each single one; the points have to be visited in turn, in an order that does
        not depend on the point that is left out.""",
    reference="""Vapnik, V. and Chervonenkis, A. (1974). Theory of Pattern Recognition (in Russian): the
        leave-one-out argument; Freund, Y. and Schapire, R. E. (1999). Machine Learning 37, 277-296.""",
    plan=grid(
        classes=([2, 5, 15], [2, 3, 5, 8, 12, 20]),
        n_rows=([200, 800], [100, 300, 1000, 3000]),
        n_fresh=[4000],
        seed=(range(3), range(20)),
    ),
    measure=_measure_error,
    findings=_findings_error,
    draw=_draw_error,
)
