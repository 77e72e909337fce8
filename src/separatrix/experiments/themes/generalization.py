"""How well separators predict: error on fresh points against the dimension and the number of points."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ...estimators.linear_program import LinearProgram
from ...estimators.margin import MaxMargin, SoftMargin
from ..study import Finding, Record, Study, Table, claim, grid, listing, percent, values, where
from . import charts, theory
from .theory import perceptron

METHODS = {
    "perceptron": "perceptron",
    "feasible": "feasibility program",
    "margin": "largest margin",
    "soft": "soft margin, C = 0.01",
}


def clouds(n_rows: int, n_columns: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two normal clouds around opposite points, folded at the hyperplane between them.

    The component of a point along the normal u is ``y |2 + noise|``, so that the hyperplane separates them.
    """
    generator = np.random.default_rng([n_columns, seed])
    y, u = np.where(np.arange(n_rows) % 2, 1, -1), generator.standard_normal(n_columns)
    u /= np.linalg.norm(u)
    noise = generator.standard_normal((n_rows, n_columns))
    across = noise @ u
    return noise + np.outer(y * np.abs(2.0 + across) - across, u), y


def _measure(n_rows: int, n_columns: int, n_fresh: int, seed: int) -> list[Record]:
    X, y = clouds(n_rows + n_fresh, n_columns, seed)
    train, fresh = slice(0, n_rows), slice(n_rows, None)
    models: dict[str, Any] = {
        "perceptron": perceptron(X[train], y[train]),
        "feasible": LinearProgram(objective="feasible", fit_intercept=False).fit(X[train], y[train]),
        "margin": MaxMargin(fit_intercept=False).fit(X[train], y[train]),
        "soft": SoftMargin(C=0.01, fit_intercept=False).fit(X[train], y[train]),
    }
    return [
        {
            "method": method,
            "training_error": float((model.predict(X[train]) != y[train]).mean()),
            "error": float((model.predict(X[fresh]) != y[fresh]).mean()),
        }
        for method, model in models.items()
    ]


def _means(table: Table, method: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    return theory.means(where(table, method=method), "error", "n_rows", "n_columns")


def _findings(table: Table) -> Iterator[Finding]:
    hard = where(table, method="margin")
    yield claim(
        "The first three make no error on the points that they learned from.",
        *(where(table, method=method)["training_error"] == 0.0 for method in list(METHODS)[:3]),
    )
    means = {method: _means(table, method) for method in METHODS}
    rows, columns, best, _ = means["margin"]
    for method in ("perceptron", "feasible"):
        paired = where(table, method=method)["error"] - hard["error"]
        low, high = theory.mean_interval(paired)
        yield claim(
            f"The largest margin has a smaller mean error than the {METHODS[method]} in "
            f"{(best < means[method][2]).sum()} of {len(best)} cases; the mean difference over all data sets "
            f"is {percent(paired.mean())} (95% interval {percent(low)} to {percent(high)}).",
            low > 0.0,
        )
    n = int(max(values(table["n_rows"])))
    for d in (min(columns), max(columns)):
        at = int(np.flatnonzero((rows == n) & (columns == d))[0])
        told = [
            f"{percent(means[method][2][at])} ({name}, {theory.ends_text(means[method][3][at])})"
            for method, name in METHODS.items()
        ]
        yield Finding(f"With {n} points in {d} dimensions, mean errors are {listing(told)}.")
    wide = np.flatnonzero(rows == n)
    yield claim(
        "But the largest margin is not immune to the dimension: with the same number of points, its mean "
        f"error grows from {percent(best[wide[0]])} to {percent(best[wide[-1]])}.",
        best[wide[-1]] > best[wide[0]],
    )


def _draw(table: Table) -> Figure:
    sizes = values(table["n_rows"])
    titles = ((f"{n} points learned from", "dimension", "error on fresh points, percent", "x") for n in sizes)
    figure, axes = charts.panels(*titles, sharey=True)
    for ax, n in zip(axes, sizes, strict=True):
        for place, (method, name) in enumerate(METHODS.items()):
            _, x, mean, ends = _means(where(table, n_rows=n), method)
            shift = 1.0 + 0.05 * (place - 1.5)
            charts.interval(ax, x * shift, 100.0 * mean, 100.0 * ends, place, name)
        charts.ticks_at(ax, values(table["n_columns"]))
        ax.set_ylim(0, None)
    return charts.finish(figure)


OVERFITTING = Study(
    name="overfitting",
    title="Does a large margin prevent overfitting in many dimensions?",
    source="Chapter 1, margins",
    question="""Textbooks say that a large margin is less prone to overfitting, and works well in many
        dimensions. Is this so, if the margin is compared with other separators of the same points?""",
    method="""Two normal clouds with centers at distance 2 from a hyperplane through the origin; a point that
        would lie on the wrong side of it is reflected, so that the classes are separable. Four methods learn
        from the same points, without an intercept, and are tested on 2,000 fresh ones. Means over the data
        sets, with Student's 95% intervals. The soft margin may leave points on the wrong side.""",
    theorem="""For a hyperplane through the origin in d dimensions, error bounds that hold for every
        separator grow with d/n. Bounds for separators of margin γ replace d by (R/γ)²: the expected error
        of the largest margin after n points is at most E[(R/γ)²]/(n + 1), where R and γ belong to n + 1
        points. Both are upper bounds, so they do not say which method predicts better; here R² itself grows
        like d.""",
    reference="""Vapnik, V. N. (1998). Statistical Learning Theory, theorem 10.5; Bartlett, P. and
        Shawe-Taylor, J. (1999). Generalization performance of support vector machines and other pattern
        classifiers. In: Advances in Kernel Methods, 43-54.""",
    plan=grid(
        n_rows=([50, 100], [50, 100, 200]),
        n_columns=([20, 100], [5, 20, 50, 100]),
        n_fresh=[2000],
        seed=(range(5), range(20)),
    ),
    measure=_measure,
    findings=_findings,
    draw=_draw,
)
