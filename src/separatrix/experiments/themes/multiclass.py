"""Several classes: discriminators, the bound, the error against their number."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from ... import datasets
from ..study import Bounded, Finding, Record, Study, Table, medians, percent, values, where
from . import drawing, theory
from .fitting import perceptron

KESLER = (
    "Duda, R. O. and Hart, P. E. (1973). Pattern Classification and Scene Analysis, section 5.12.1 "
    "(Kesler's construction); Crammer, K. and Singer, Y. (2003). Ultraconservative online algorithms for "
    "multiclass problems. Journal of Machine Learning Research 3, 951-991."
)

# ---------------------------------------------------------------- discriminators


TURNS = 2.0 * np.pi * np.arange(3600) / 3600
DIRECTIONS = np.column_stack([np.cos(TURNS), np.sin(TURNS)])


def _plan_drawn(quick: bool) -> list[Record]:
    return [{"classes": classes, "seed": seed} for classes in (2, 3, 5) for seed in range(3 if quick else 20)]


def _drawn_problem(classes: int, seed: int) -> datasets.Multiclass:
    return datasets.make_multiclass(150, 2, classes, margin=0.08, random_state=seed)


def discriminators(X: np.ndarray, y: np.ndarray, classes: int) -> tuple[np.ndarray, int]:
    """A discriminator for each class: half of x to the own, half away from the best wrong one."""
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
    scores = problem.X @ weights.T
    around = DIRECTIONS @ weights.T
    distances = around / np.linalg.norm(weights, axis=1)  # signed, from the plane of each discriminator
    model = perceptron(problem.X, problem.y)
    library = model.coef_[0] if classes == 2 else model.coef_
    own = weights[1] - weights[0] if classes == 2 else weights
    return [
        {
            "class": label,
            "weight_1": float(weights[label, 0]),
            "weight_2": float(weights[label, 1]),
            "length": float(np.linalg.norm(weights[label])),
            "updates": updates,
            "bound": 2.0 * theory.novikoff(problem.radius, problem.margin),
            "errors": int((scores.argmax(axis=1) != problem.y).sum()),
            "directions_by_distance": int((around.argmax(axis=1) != distances.argmax(axis=1)).sum()),
            "sum_of_weights": float(np.abs(weights.sum(axis=0)).max()),
            "as_library": bool(np.allclose(own, library, rtol=1e-9, atol=1e-12)),
        }
        for label in range(classes)
    ]


def _findings_drawn(table: Table) -> list[Finding]:
    two = where(table, classes=2)
    plus, minus = where(two, **{"class": 1}), where(two, **{"class": 0})
    first = where(table, **{"class": 0})  # what belongs to a run stands in the rows of all its classes
    moved = first["directions_by_distance"][first["classes"] > 2] / len(DIRECTIONS)
    opposite = np.abs(plus["weight_1"] + minus["weight_1"]) + np.abs(plus["weight_2"] + minus["weight_2"])
    return [
        Finding(
            "At the end each point's own discriminator has the highest score.",
            bool((table["errors"] == 0).all()),
        ),
        Finding(
            "With two classes w₊ and w₋ are opposite vectors, each half of the separator: w₊ − w₋ is the "
            "weight vector of the two-class perceptron.",
            bool((opposite < 1e-9).all() and two["as_library"].all()),
        ),
        Finding(
            "From zero, the discriminators add up to zero (to rounding), since what one gains another loses: "
            "with k classes they are a star of k arrows, and the border between two classes is "
            "perpendicular to the difference of their arrows.",
            bool((table["sum_of_weights"] < 1e-9).all()),
        ),
        Finding(
            "The score is the length of the discriminator times the signed distance from its plane, and the "
            f"length counts: by the distance alone {percent(moved.mean())} of all directions would go to "
            f"another class with three or five classes, up to {percent(moved.max())} in one run; with two "
            "the lengths are equal and none does.",
            bool(moved.max() > 0.0 and (two["directions_by_distance"] == 0).all()),
        ),
        Finding(
            "The library's weights are the same, to rounding.",
            bool(table["as_library"].all()),
        ),
    ]


def _draw_drawn(table: Table) -> Figure:
    figure, axes = drawing.panels(3, height=3.5)
    for ax, classes in zip(axes, (2, 3, 5), strict=True):
        problem = _drawn_problem(classes, 0)
        part = where(table, classes=classes, seed=0)
        weights = np.column_stack([part["weight_1"], part["weight_2"]])
        grid = np.linspace(-1.15, 1.15, 300)
        across, up = np.meshgrid(grid, grid)
        winner = (np.stack([across, up], axis=-1) @ weights.T).argmax(axis=-1)
        colors = ListedColormap([(*drawing.rgb(place), 0.22) for place in range(classes)])
        ax.pcolormesh(across, up, winner, cmap=colors, vmin=-0.5, vmax=classes - 0.5, rasterized=True)
        longest = part["length"].max()
        for label in range(classes):
            own = problem.y == label
            ax.plot(
                *problem.X[own].T,
                drawing.MARKERS[label],
                color=drawing.color(label),
                markeredgecolor=drawing.INK,
                markeredgewidth=0.4,
                markersize=4,
            )
            tip = weights[label] / longest
            ax.annotate(
                "",
                xy=tip,
                xytext=(0, 0),
                arrowprops={
                    "arrowstyle": "-|>",
                    "color": drawing.INK,
                    "linewidth": 1.8,
                    "shrinkA": 0,
                    "shrinkB": 0,
                },
                zorder=4,
            )
            name = ("w₋", "w₊")[label] if classes == 2 else f"w{'₁₂₃₄₅'[label]}"
            ax.annotate(
                name,
                tip * 1.12 + (0.0, 0.03),
                ha="center",
                va="center",
                fontsize=10,
                fontweight="bold",
                bbox={
                    "boxstyle": "round,pad=0.12",
                    "facecolor": drawing.COLORS.paper,
                    "edgecolor": "none",
                    "alpha": 0.85,
                },
                zorder=5,
            )
        ax.set_xlim(-1.15, 1.15)
        ax.set_ylim(-1.15, 1.15)
        ax.set_aspect("equal")
        ax.grid(False)
        ax.set_title(f"{classes} classes")
    return figure


DRAWN = Study(
    name="discriminators",
    title="Discriminators",
    source="Chapter 4, exercise 9",
    question="How does the perceptron update w₊ and w₋ directly, and what are they geometrically?",
    method=(
        "150 points in the unit disc, two, three and five classes. A plain loop adds half of a wrongly "
        "classified point to the discriminator of its class and takes half from the best wrong one; the "
        "library's perceptron is run beside it. Arrows are the final discriminators (scaled to the "
        "longest), shaded regions where each wins."
    ),
    theorem=(
        "Joining w₊ and w₋ to one vector, an update adds (x, −x)/2: it is the perceptron in twice the "
        "dimension. From zero, w₊ = −w₋ = w/2 at all times. The score ⟨wⱼ, x⟩ is |wⱼ| times the signed "
        "distance of x from the plane of wⱼ, positive on the side that wⱼ points to; a point belongs to the "
        "class with the largest score, not to that with the largest distance."
    ),
    reference=KESLER,
    plan=_plan_drawn,
    measure=_measure_drawn,
    findings=_findings_drawn,
    draw=_draw_drawn,
    bounds=(Bounded("updates", "bound", "The multiclass bound 2(R/γ)²"),),
)

# ---------------------------------------------------------------- the bound


def _plan_bound(quick: bool) -> list[Record]:
    return [
        {"classes": classes, "margin": margin, "seed": seed}
        for classes in (2, 3, 5, 10)
        for margin in ([0.1, 0.03] if quick else [0.2, 0.1, 0.05, 0.02, 0.01])
        for seed in range(3 if quick else 20)
    ]


def _measure_bound(classes: int, margin: float, seed: int) -> list[Record]:
    problem = datasets.make_multiclass(500, 10, classes, margin=margin, random_state=seed)
    model = perceptron(problem.X, problem.y)
    # Two classes share w = W[1] - W[0], of length sqrt(2) here: (R sqrt(2) / margin)^2 is the same number.
    return [
        {
            "updates": model.mistakes_,
            "bound": 2.0 * theory.novikoff(problem.radius, problem.margin),
            "converged": model.converged_,
        }
    ]


def _findings_bound(table: Table) -> list[Finding]:
    found = [Finding("Every run ended.", bool(table["converged"].all()))]
    smallest = min(values(table["margin"]))
    counts = {
        k: medians(where(table, classes=k, margin=smallest), "margin", "updates")[1][0]
        for k in values(table["classes"])
    }
    few, many = min(counts), max(counts)
    found.append(
        Finding(
            f"At the smallest margin, {smallest:g}, the median of the updates is {counts[few]:,.0f} with "
            f"{few} classes and {counts[many]:,.0f} with {many}; the bound is the same for all."
        )
    )
    return found


def _draw_bound(table: Table) -> Figure:
    figure, (ax,) = drawing.panels(1, width=6.6, height=4.3)
    drawing.log_axes(ax)
    drawing.bound_by(ax, table, "margin", "bound", "bound 2(R/γ)²")
    for place, classes in enumerate(values(table["classes"])):
        part = where(table, classes=classes)
        drawing.sweep(
            ax, part, "margin", "updates", place, f"{classes} classes", shift=1.0 + 0.05 * (place - 1.5)
        )
    ax.set_xlabel("margin γ of weights with norm one in all  (R = 1)")
    ax.set_ylabel("updates")
    ax.set_title("Updates with several classes")
    drawing.ticks_at(ax, values(table["margin"]))
    drawing.legend(ax, columns=5)
    return figure


BOUND = Study(
    name="multiclass-bound",
    title="The bound with several classes",
    source="Chapter 4, exercise 10",
    question="Does the perceptron with k discriminators halt, and after how many updates at most?",
    method=(
        "500 points in ten dimensions with 2, 3, 5 and 10 classes and a known matrix of discriminators of "
        "norm one, whose margin is known. Medians and ranges."
    ),
    theorem=(
        "Write the k discriminators as one vector W. A mistake on (x, y) against r adds x at y and takes "
        "it at r: a vector of length √2|x| whose inner product with a W* of norm one is at least γ, the "
        "smallest lead of a right class over a wrong one. From zero, Novikoff's argument gives at most "
        "2(R/γ)² updates, whatever k is."
    ),
    reference=KESLER,
    plan=_plan_bound,
    measure=_measure_bound,
    findings=_findings_bound,
    draw=_draw_bound,
    bounds=(Bounded("updates", "bound", "The multiclass bound"),),
)

# ---------------------------------------------------------------- error against k

TEST_ROWS = 4000


def _plan_error(quick: bool) -> list[Record]:
    return [
        {"classes": classes, "n_rows": size, "seed": seed}
        for classes in ([2, 5, 15] if quick else [2, 3, 5, 8, 12, 20])
        for size in ([200, 800] if quick else [100, 300, 1000, 3000])
        for seed in range(3 if quick else 20)
    ]


def _measure_error(classes: int, n_rows: int, seed: int) -> list[Record]:
    problem = datasets.make_multiclass(n_rows + TEST_ROWS, 20, classes, margin=0.02, random_state=seed)
    # The rows with a planted place are scattered at random, so a cut gives a sample and fresh rows alike.
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


class Mean(NamedTuple):
    """The mean error at a number of classes and rows, the mean of what bounds it, and their intervals."""

    classes: int
    n_rows: int
    error: float
    limit: float
    error_ends: tuple[float, float]
    limit_ends: tuple[float, float]


def _means(table: Table) -> list[Mean]:
    return [
        Mean(
            k,
            n,
            float(part["error"].mean()),
            float(part["corrected_share"].mean()),
            theory.mean_interval(part["error"]),
            theory.mean_interval(part["corrected_share"]),
        )
        for k in values(table["classes"])
        for n in values(table["n_rows"])
        for part in [where(table, classes=k, n_rows=n)]
    ]


def _findings_error(table: Table) -> list[Finding]:
    cells = _means(table)
    below = all(cell.error <= cell.limit for cell in cells)
    apart = sum(cell.error_ends[1] < cell.limit_ends[0] for cell in cells)
    largest = max(values(table["n_rows"]))
    at = {cell.classes: cell for cell in cells if cell.n_rows == largest}
    few, many = at[min(at)], at[max(at)]
    rising = all(at[a].error <= at[b].error for a, b in pairwise(sorted(at)))
    vacuous = table["margin_bound"]
    return [
        Finding(
            f"The mean error stays below the mean share of corrected points in all {len(cells)} cases; the "
            f"closest reaches {percent(max(cell.error / cell.limit for cell in cells))} of it. The 95% "
            f"intervals of the two means are apart in {apart} of them.",
            below,
        ),
        Finding(
            f"The last form of the bound, 2(R/γ)²/(n + 1), is {vacuous.min():.1f} at the least, with "
            f"{largest:,} points: above 1, so at all sizes used here it is vacuous.",
            bool((vacuous > 1.0).all()),
        ),
        Finding(
            f"With {largest:,} points the mean error on fresh points is {percent(few.error)} "
            f"({_ends(few)}) for {few.classes} classes and {percent(many.error)} ({_ends(many)}) for "
            f"{many.classes}, {many.error / few.error:.1f} times as much.",
            many.error > few.error,
        ),
        Finding("It grows with every further step in the number of classes.", rising)
        if rising
        else Finding("It does not grow at every step in the number of classes."),
    ]


def _ends(cell: Mean) -> str:
    low, high = cell.error_ends
    return f"95% interval {percent(max(0.0, low))} to {percent(high)}"


def _draw_error(table: Table) -> Figure:
    figure, (left, right) = drawing.panels(2, height=4.4, sharey=True)
    drawing.log_axes(left)
    drawing.log_axes(right)
    sizes = values(table["n_rows"])
    for place, size in enumerate(sizes):
        part = where(table, n_rows=size)
        drawing.sweep(
            left, part, "classes", "error", place, f"{size:,} points", shift=1.0 + 0.03 * (place - 1.5)
        )
    drawing.ticks_at(left, values(table["classes"]))
    left.set_xlabel("number of classes k")
    left.set_ylabel("error on fresh points")
    left.set_title("Error against the classes")
    drawing.legend(left, columns=2)
    left.set_ylim(0.3 * table["error"][table["error"] > 0].min(), 1.2)
    for place, classes in enumerate(values(table["classes"])):
        cells = [cell for cell in _means(table) if cell.classes == classes]
        x = np.array([cell.n_rows for cell in cells]) * (1.0 + 0.03 * (place - 2))
        error, limit = (np.array([getattr(cell, name) for cell in cells]) for name in ("error", "limit"))
        drawing.interval(right, x, error, [cell.error_ends for cell in cells], place, f"k = {classes}")
        options = {"linestyle": ":", "markerfacecolor": drawing.COLORS.paper, "linewidth": 1.1, "capsize": 0}
        drawing.interval(right, x, limit, [cell.limit_ends for cell in cells], place, "_", **options)
    right.plot([], [], color=drawing.MUTED, linestyle=":", marker="o", markerfacecolor="none", label="bound")
    drawing.ticks_at(right, sizes)
    right.set_xlabel("points learnt from")
    right.set_title("Mean error and its bound")
    drawing.legend(right, columns=4)
    return figure


ERROR = Study(
    name="error-classes",
    title="Error against the number of classes",
    source="Chapter 4, exercise 11",
    question="With a data set of given size, how does the error rate depend on the number of classes?",
    method=(
        "Points in 20 dimensions with up to 20 classes and margin 0.02; the perceptron learns from some "
        f"until it is done and is tested on {TEST_ROWS:,} others. Left: medians and ranges. Right: means "
        "with Student's 95% intervals, and the mean share of corrected points, which bounds them, dotted. A "
        "whisker that leaves the axis ends at zero or below."
    ),
    theorem=(
        "Leave one of n + 1 points out: if the run on all of them never corrected it, the run without it "
        "is the same, and classifies it rightly. So the expected error after learning from n points is at "
        "most the expected number of corrected points among n + 1, divided by n + 1; and that is at most "
        "2(R/γ)²/(n + 1), which says something only if n + 1 is more than 2(R/γ)², here 5,000. It bounds "
        "the mean over data sets, not each single one; the points have to be visited in turn, in an order "
        "that the left-out point has no part in."
    ),
    reference=(
        "Vapnik, V. and Chervonenkis, A. (1974). Theory of Pattern Recognition (in Russian): the "
        "leave-one-out argument; Freund, Y. and Schapire, R. E. (1999). Machine Learning 37, 277-296."
    ),
    plan=_plan_error,
    measure=_measure_error,
    findings=_findings_error,
    draw=_draw_error,
)

STUDIES = (DRAWN, BOUND, ERROR)
