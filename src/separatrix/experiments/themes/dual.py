"""Order, start, and the counts of updates as the dual solution."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import spearmanr

from ... import datasets
from ...estimators.kernel import KernelPerceptron
from ...estimators.linear_program import LinearProgram
from ...estimators.margin import MaxMargin
from ...geometry import geometric_margin
from ...kernels import Linear
from ..study import Bounded, Finding, Record, Study, Table, claim, grid, percent, values, where
from . import charts, theory
from .convergence import NOVIKOFF
from .theory import perceptron

# ---------------------------------------------------------------- order and start

CHANGES = {"order": "order shuffled, start at zero", "start": "order kept, start at random"}


def _spread_problem() -> datasets.Problem:
    return datasets.make_separable(60, 2, margin=0.12, random_state=4)


def _measure_spread(changed: str, seed: int) -> list[Record]:
    problem = _spread_problem()
    first = np.random.default_rng([seed, 1]).standard_normal(2) if changed == "start" else np.zeros(2)
    order = "shuffled" if changed == "order" else "cyclic"
    model = perceptron(*problem, init=first, order=order, random_state=seed)
    weights = model.coef_[0] / np.linalg.norm(model.coef_[0])
    own = geometric_margin(problem.X, problem.y, weights)
    length, along = float(np.linalg.norm(first)), float(first @ problem.weights)
    return [
        {
            "updates": model.mistakes_,
            "bound": theory.any_start(problem.radius, problem.margin, length, along),
            "angle": theory.angle(weights, problem.weights),
            "angle_bound": theory.widest_angle(own, problem.margin),
            "turn": float(np.sign(weights @ np.array([-problem.weights[1], problem.weights[0]]))),
            "weight_1": float(weights[0]),
            "weight_2": float(weights[1]),
            "margin_found": own,
        }
    ]


def _findings_spread(table: Table) -> Iterator[Finding]:
    yield claim("Every run found a separator of the same points.", table["margin_found"] > 0.0)
    for changed, label in CHANGES.items():
        part = where(table, changed=changed)
        turned, updates = part["turn"] * part["angle"], part["updates"]
        different = len(np.unique(turned.round(9)))
        yield claim(
            f"{label[0].upper()}{label[1:]}: {different:,} different separators in {len(turned):,} "
            f"runs, between {turned.min():+.1f}° and {turned.max():+.1f}° of the one of largest margin, "
            f"after {updates.min():,} to {updates.max():,} updates.",
            different > 1,
        )


def _draw_spread(table: Table) -> Figure:
    problem = _spread_problem()
    spread = ("Their spread", "angle to the largest margin's, degrees", "runs")
    figure, axes = charts.panels(
        ("Another order",), ("Another start",), spread, height=3.9, width_ratios=[1, 1, 1.25]
    )
    widest = 1.1 * float(table["angle"].max())
    for place, (changed, label) in enumerate(CHANGES.items()):
        part, ax = where(table, changed=changed), axes[place]
        charts.plane(ax, 1.08)
        normals = np.unique(np.column_stack([part["weight_1"], part["weight_2"]]).round(6), axis=0)
        for normal in normals[:: max(1, len(part["seed"]) // 50)]:
            charts.separator(ax, normal, color=charts.color(place), alpha=0.25, linewidth=0.8)
        charts.separator(ax, problem.weights)
        charts.points(ax, *problem)
        filled: Any = {"histtype": "stepfilled", "facecolor": charts.color(place, 0.3), "linewidth": 1.3}
        line: Any = {"edgecolor": charts.color(place), "linestyle": charts.dashes(place), "label": label}
        axes[2].hist(part["turn"] * part["angle"], bins=np.linspace(-widest, widest, 32), **filled, **line)
    axes[2].axvline(0.0, color=charts.ACCENT, linewidth=2.0, label="largest margin")
    return charts.finish(figure)


SPREAD = Study(
    name="order-start",
    title="The separator depends on order and start",
    source="Chapter 4, any start",
    question="How far apart are the separators that different orders and different starts lead to?",
    method="""One data set of 60 points in the plane with margin 0.12. Many runs differ only in the order of
        the points, and many only in the first weights (standard normal). Some of the separators found are
        drawn.""",
    theorem="""Any order and any start lead to some separator, if there is one: from zero after at most (R/γ)²
        updates, from w₀ after at most the larger root of γ²t² + (2c₁γ − R²)t + c₁² − c₀² = 0, with c₀ the
        length of w₀ and c₁ its component along the best separator. The theorem does not say which one: a
        separator of margin m makes an angle of at most arccos(m/γ) with the best.""",
    reference=NOVIKOFF,
    plan=grid(changed=list(CHANGES), seed=(range(40), range(400))),
    measure=_measure_spread,
    findings=_findings_spread,
    draw=_draw_spread,
    bounds=(
        Bounded("updates", "bound", "The bound on the updates"),
        Bounded("angle", "angle_bound", "The bound on the angle"),
    ),
)

# ---------------------------------------------------------------- counts as difficulty


def _difficulty_problem(n_columns: int, seed: int) -> datasets.Problem:
    return datasets.make_separable(200, n_columns, margin=0.03, random_state=seed)


def _measure_difficulty(n_columns: int, seed: int, orders: int) -> list[Record]:
    problem = _difficulty_problem(n_columns, seed)
    best = MaxMargin(fit_intercept=False).fit(*problem)
    distances = problem.y * (problem.X @ best.coef_[0]) / np.linalg.norm(best.coef_)
    runs = [perceptron(*problem, order="shuffled", random_state=order) for order in range(orders)]
    counts = np.array([model.mistake_counts_ for model in runs])
    made = counts.sum(axis=1)
    means, limits = counts @ distances / made, problem.radius / np.sqrt(made)
    closest = int(np.argmax(means / limits))
    return [
        {
            "row": row,
            "distance": float(distances[row]),
            "count": float(count),
            "support": bool(row in best.support_),
            "mean_distance": float(means[closest]),
            "bound": float(limits[closest]),
        }
        for row, count in enumerate(counts.mean(axis=0))
    ]


def _findings_difficulty(table: Table) -> Iterator[Finding]:
    for columns in values(table["n_columns"]):
        part = where(table, n_columns=columns)
        distance, count = part["distance"], part["count"]
        rank = float(spearmanr(distance, count).statistic)
        share = float(count[distance <= np.quantile(distance, 0.1)].sum() / count.sum())
        yield claim(
            f"In {columns} dimensions the tenth of the points nearest to the hyperplane of largest margin "
            f"takes {percent(share)} of all updates; the rank correlation of count and distance is "
            f"{rank:.2f}.",
            rank < 0.0,
            share > 0.1,
        )


def _draw_difficulty(table: Table) -> Figure:
    x, y = "distance to the largest margin's hyperplane", "updates on the point, mean over orders"
    figure, (left, right) = charts.panels(
        ("Size: updates on each point",),
        ("Near points carry the information", x, y, "xy"),
        width_ratios=[1, 1.3],
    )
    problem = _difficulty_problem(2, 0)
    count = where(table, n_columns=2, seed=0)["count"]
    sizes = 6 + 400 * count / count.max()
    charts.plane(left, 1.1)
    for place, label in enumerate((-1, 1)):
        own = problem.y == label
        style: Any = {"marker": ("s", "o")[place], "edgecolor": charts.color(place), "linewidth": 0.9}
        left.scatter(*problem.X[own].T, s=sizes[own], facecolor=charts.color(place, 0.35), **style)
    charts.separator(left, problem.weights)
    for place, columns in enumerate(values(table["n_columns"])):
        part = where(table, n_columns=columns, seed=0)
        keep = part["count"] > 0
        style = charts.dots(place, f"{columns} dimensions", markersize=3.5, alpha=0.5)
        right.plot(part["distance"][keep], part["count"][keep], **style)
    return charts.finish(figure)


DIFFICULTY = Study(
    name="difficulty",
    title="Do difficult rows cause more mistakes?",
    source="Chapter 4, exercises 6 and 7",
    question="Are the points that had to be corrected most often those nearest to the boundary?",
    method="""200 points with margin 0.03 in 2, 5 and 20 dimensions, each run in many random orders; the
        updates on each point are averaged over the orders and compared with its distance to the hyperplane of
        largest margin. The figure shows the first data set of each; the right panel, whose axes are
        logarithmic, omits points that were never corrected.""",
    theorem="""From zero weights, with w = Σ aᵢzᵢ and M = Σ aᵢ, the distances dᵢ = ⟨u, zᵢ⟩ satisfy Σ aᵢdᵢ =
        ⟨w, u⟩ ≤ |w| ≤ R√M. So the mean distance of the corrected points, each counted as often as it was
        corrected, is at most R/√M: in a long run, the corrected points are on average
        close to the hyperplane.""",
    reference=NOVIKOFF,
    plan=grid(n_columns=[2, 5, 20], seed=(range(1), range(5)), orders=([30], [200])),
    measure=_measure_difficulty,
    findings=_findings_difficulty,
    draw=_draw_difficulty,
    bounds=(Bounded("mean_distance", "bound", "The bound R/√M on the mean distance"),),
)

# ---------------------------------------------------------------- the dual form, and a linear program

FORMS = {"perceptron": "perceptron", "program": "linear program", "margin": "largest margin"}


def _measure_dual(margin: float, seed: int) -> list[Record]:
    problem = datasets.make_separable(200, 5, margin=margin, random_state=seed)
    signed = problem.y[:, None] * problem.X
    plain = plain_dual(signed @ signed.T)
    primal = perceptron(*problem)
    kernel = KernelPerceptron(Linear(), fit_intercept=False, max_iter=100_000).fit(*problem)
    new = np.random.default_rng([seed, 2]).standard_normal((1000, 5))
    from_counts = np.sign((plain * problem.y) @ (problem.X @ new.T))
    multipliers = {"perceptron": plain.astype(float), "program": np.zeros(200), "margin": np.zeros(200)}
    program = LinearProgram(form="dual", fit_intercept=False).fit(*problem)
    best = MaxMargin(fit_intercept=False).fit(*problem)
    for form, model in (("program", program), ("margin", best)):
        multipliers[form][model.support_] = np.abs(model.dual_coef_[0])
    records = []
    for form, found in multipliers.items():
        scaled = found / (signed @ (found @ signed)).min()
        records.append(
            {
                "form": form,
                "total": float(scaled.sum()),
                "bound": theory.novikoff(1.0, problem.margin) if form == "program" else np.nan,
                "least": 1.0 / (problem.radius * problem.margin),
                "rows_used": int((scaled > 1e-9 * scaled.max()).sum()),
                "margin_found": geometric_margin(problem.X, problem.y, found @ signed),
                "same_counts": bool((primal.mistake_counts_ == plain).all()),
                "same_kernel": bool((kernel.mistake_counts_ == plain).all()),
                "agreement": float(np.mean(from_counts == primal.predict(new))),
            }
        )
    return records


def plain_dual(gram: np.ndarray) -> np.ndarray:
    """Count up each point that the counts so far misclassify, using only the signed points' inner products.

    A score of zero is a mistake.
    """
    counts = np.zeros(len(gram), dtype=np.int64)
    scores = np.zeros(len(gram))
    clean = False
    while not clean:
        clean = True
        for row in range(len(gram)):
            if scores[row] <= 0.0:
                counts[row] += 1
                scores += gram[row]
                clean = False
    return counts


def _findings_dual(table: Table) -> Iterator[Finding]:
    plain, program, margin = (where(table, form=form) for form in FORMS)
    used = {form: float(np.median(where(table, form=form)["rows_used"])) for form in FORMS}
    yield claim(
        "The dual algorithm and the primal one are the same: they correct the same points equally often in "
        f"all {len(program['total'])} runs.",
        program["same_counts"],
    )
    yield claim("So does the kernel perceptron with the linear kernel.", program["same_kernel"])
    yield claim(
        "The counts classify: the sign of Σ aᵢyᵢ⟨xᵢ, x⟩ and that of ⟨w, x⟩ agree on all 1,000 new points in "
        "each run.",
        program["agreement"] == 1.0,
    )
    yield claim(
        "The multipliers of the linear program have the smallest sum in every run, below those of the "
        "largest margin and the perceptron's counts, with the same scaling.",
        program["total"] <= np.minimum(margin["total"], plain["total"]) * (1 + 1e-6),
    )
    yield claim(
        "In no run does the program use more points than there are dimensions; the median is "
        f"{used['program']:.0f}. The perceptron corrects {used['perceptron']:.0f}, and the largest "
        f"margin rests on {used['margin']:.0f}, the pair that the data were made with.",
        program["rows_used"] <= 5,
    )
    yield claim(
        "The sum for the largest margin is 1/γ², up to one part in ten thousand, the rounding of the solver.",
        np.isclose(margin["total"] * margin["margin"] ** 2, 1.0, rtol=1e-4),
    )
    yield claim("No sum is below 1/(Rγ), in any run.", table["total"] >= table["least"] * (1 - 1e-6))


def _draw_dual(table: Table) -> Figure:
    figure, (left, right) = charts.panels(
        ("What the linear program minimizes", "margin γ", "γ² times the sum of multipliers", "xy"),
        ("How many points have a multiplier", "margin γ", "points with a multiplier, of 200", "x"),
    )
    # In these units, the sum of the largest margin is one at every margin, and the others lie apart from it.
    square = table["margin"] ** 2
    relative = table | {name: table[name] * square for name in ("total", "least")}
    charts.sweeps(left, relative, "margin", "total", "form", FORMS)
    charts.sweeps(right, table, "margin", "rows_used", "form", FORMS)
    left.axhline(1.0, color=charts.ACCENT, linewidth=2.0, zorder=2, label="program: at most 1")
    charts.bound_by(left, relative, "margin", "least", "all: at least γ/R", linestyle=":", linewidth=1.6)
    right.set_ylim(0, None)
    return charts.finish(figure, columns=5)


DUAL = Study(
    name="dual",
    title="The dual: correct, usable, and a linear program",
    source="Chapter 4, exercises 6 to 8",
    question="""Is the dual form the same algorithm? How do its counts classify new points? And which linear
        program has the best multipliers as its solution?""",
    method="""200 points in five dimensions. The dual algorithm keeps a count aᵢ for each point and adds one
        whenever Σⱼ aⱼ⟨zⱼ, zᵢ⟩ ≤ 0: it only needs inner products. The primal algorithm and the kernel
        perceptron are run on the same points in the same order. 1,000 new points are classified from the
        counts. Then the multipliers of the program (least Σ aᵢ with aᵢ ≥ 0 and every score Σⱼ aⱼ⟨zⱼ, zᵢ⟩ ≥
        1), of the largest margin, and the perceptron's counts are compared, all scaled so that the smallest
        score is one. Medians and ranges.""",
    theorem="""From zero weights w = Σ aᵢzᵢ with aᵢ the updates on point i, so ⟨w, x⟩ = Σ aᵢyᵢ⟨xᵢ, x⟩. The
        largest margin's multipliers are feasible for the program and sum to 1/γ², so its optimum is at most
        that; and 1/γ ≤ |w| ≤ R Σ aᵢ for any multipliers whose smallest score is one, so each of the three
        sums is at least 1/(Rγ). A corner of the program has at most as many multipliers as there are
        dimensions.""",
    reference="""Cristianini, N. and Shawe-Taylor, J. (2000). An Introduction to Support Vector Machines,
        sections 2.1.1 and 6.1; the sum of the multipliers follows from |w|² = Σ aᵢ⟨w, zᵢ⟩.""",
    plan=grid(margin=([0.1, 0.03], [0.3, 0.1, 0.03, 0.01]), seed=(range(3), range(20))),
    measure=_measure_dual,
    findings=_findings_dual,
    draw=_draw_dual,
    bounds=(Bounded("total", "bound", "The bound 1/γ² on the program's sum"),),
)
