"""Order, start, and the counts of updates as the dual solution."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import spearmanr

from ... import datasets
from ...estimators.kernel import KernelPerceptron
from ...estimators.linear_program import LinearProgram
from ...estimators.margin import MaxMargin
from ...kernels import Linear
from ..study import Bounded, Finding, Record, Study, Table, percent, values, where
from . import drawing, theory
from .convergence import NOVIKOFF
from .fitting import geometric_margin, perceptron

# ---------------------------------------------------------------- order and start

CHANGES = {"order": "order shuffled, start at zero", "start": "order kept, start at random"}


SHOWN = 50


def _spread_problem() -> datasets.Separable:
    return datasets.make_separable(60, 2, margin=0.12, random_state=4)


def _plan_spread(quick: bool) -> list[Record]:
    return [{"changed": changed, "seed": seed} for changed in CHANGES for seed in range(40 if quick else 400)]


def _measure_spread(changed: str, seed: int) -> list[Record]:
    problem = _spread_problem()
    signed = problem.y[:, None] * problem.X
    first = np.zeros(2)
    if changed == "start":
        first = np.random.default_rng([seed, 1]).standard_normal(2)
    order = {"order": "shuffled"} if changed == "order" else {}
    model = perceptron(problem.X, problem.y, init=first, random_state=seed, **order)
    weights = model.coef_[0]
    own = geometric_margin(weights, signed)
    limit = theory.any_start(
        problem.radius, problem.margin, float(np.linalg.norm(first)), float(first @ problem.weights)
    )
    turn = float(np.sign(weights @ np.array([-problem.weights[1], problem.weights[0]])))
    return [
        {
            "updates": model.mistakes_,
            "bound": limit,
            "angle": theory.angle(weights, problem.weights),
            "angle_bound": theory.widest_angle(own, problem.margin),
            "turn": turn,
            "weight_1": float(weights[0] / np.linalg.norm(weights)),
            "weight_2": float(weights[1] / np.linalg.norm(weights)),
            "margin_found": own,
        }
    ]


def _findings_spread(table: Table) -> list[Finding]:
    found = [
        Finding("Every run found a separator of the same points.", bool((table["margin_found"] > 0.0).all()))
    ]
    for changed, label in CHANGES.items():
        part = where(table, changed=changed)
        turned = part["turn"] * part["angle"]
        different = len({round(float(a), 9) for a in turned})
        found.append(
            Finding(
                f"{label[0].upper()}{label[1:]}: {different:,} different separators in {len(turned):,} "
                f"runs, between {turned.min():+.1f}° and {turned.max():+.1f}° of the largest margin's, "
                f"after {part['updates'].min():,} to {part['updates'].max():,} updates.",
                different > 1,
            )
        )
    return found


def _draw_spread(table: Table) -> Figure:
    problem = _spread_problem()
    figure, axes = drawing.panels(3, height=3.9, width_ratios=[1, 1, 1.25])
    for place, (ax, changed) in enumerate(zip(axes[:2], CHANGES, strict=True)):
        part = where(table, changed=changed)
        reach = np.array([-1.5, 1.5])
        every = max(1, len(part["seed"]) // SHOWN)  # of the separators in the order of their direction
        for a, b in np.unique(np.column_stack([part["weight_1"], part["weight_2"]]).round(6), axis=0)[
            ::every
        ]:
            ax.plot(-b * reach, a * reach, color=drawing.color(place), alpha=0.25, linewidth=0.8)
        a, b = problem.weights
        ax.plot(-b * reach, a * reach, color=drawing.ACCENT, linewidth=2.0)
        points(ax, problem.X, problem.y)
        ax.set_xlim(-1.08, 1.08)
        ax.set_ylim(-1.08, 1.08)
        ax.set_aspect("equal")
        ax.set_title(("Another order", "Another start")[place])
        ax.grid(False)
    widest = 1.1 * float(table["angle"].max())
    bins = np.linspace(-widest, widest, 32)
    for place, changed in enumerate(CHANGES):
        part = where(table, changed=changed)
        axes[2].hist(
            part["turn"] * part["angle"],
            bins=bins,
            histtype="stepfilled",
            facecolor=(*drawing.rgb(place), 0.3),
            edgecolor=drawing.color(place),
            linewidth=1.3,
            linestyle=drawing.DASHES[place],
            label=CHANGES[changed],
        )
    axes[2].axvline(0.0, color=drawing.ACCENT, linewidth=2.0, label="largest margin")
    axes[2].set_xlabel("angle to the largest margin's, degrees")
    axes[2].set_ylabel("runs")
    axes[2].set_title("Their spread")
    drawing.shared_legend(figure, axes[2:])
    return figure


def points(ax: Axes, X: np.ndarray, y: np.ndarray, size: float = 16) -> None:
    """Two classes, each with its own marker."""
    for place, label in enumerate((-1, 1)):
        own = y == label
        ax.scatter(
            X[own, 0],
            X[own, 1],
            s=size,
            marker=("s", "o")[place],
            facecolor="none" if place == 0 else drawing.INK,
            edgecolor=drawing.INK,
            linewidth=0.8,
            zorder=3,
        )


SPREAD = Study(
    name="order-start",
    title="The separator depends on order and start",
    source="Chapter 4, any start",
    question="How far apart are the separators that different orders and different starts lead to?",
    method=(
        "One data set of 60 points in the plane with margin 0.12. Many runs that differ only in the order "
        "of the points, and many that differ only in the first weights (standard normal). Some of the "
        "separators found are drawn."
    ),
    theorem=(
        "Any order and any start lead to some separator, if there is one: from zero after at most (R/γ)² "
        "updates, from w₀ after at most the larger root of γ²t² + (2c₁γ − R²)t + c₁² − c₀² = 0, with c₀ "
        "the length of w₀ and c₁ its component along the best separator. Which one is left open: a "
        "separator of margin m lies at most arccos(m/γ) from the best."
    ),
    reference=NOVIKOFF,
    plan=_plan_spread,
    measure=_measure_spread,
    findings=_findings_spread,
    draw=_draw_spread,
    bounds=(
        Bounded("updates", "bound", "The bound on the updates"),
        Bounded("angle", "angle_bound", "The bound on the angle"),
    ),
)

# ---------------------------------------------------------------- counts as difficulty


def _plan_difficulty(quick: bool) -> list[Record]:
    return [
        {"n_columns": columns, "seed": seed, "orders": 30 if quick else 200}
        for columns in (2, 5, 20)
        for seed in range(1 if quick else 5)
    ]


def _difficulty_problem(n_columns: int, seed: int) -> datasets.Separable:
    return datasets.make_separable(200, n_columns, margin=0.03, random_state=seed)


def _measure_difficulty(n_columns: int, seed: int, orders: int) -> list[Record]:
    problem = _difficulty_problem(n_columns, seed)
    best = MaxMargin(fit_intercept=False).fit(problem.X, problem.y)
    signed = problem.y[:, None] * problem.X
    distances = signed @ best.coef_[0] / np.linalg.norm(best.coef_)
    counts = np.zeros(len(problem.y))
    means, limits = [], []
    for order in range(orders):
        model = perceptron(problem.X, problem.y, order="shuffled", random_state=order)
        counts += model.mistake_counts_
        means.append(float(model.mistake_counts_ @ distances) / model.mistakes_)
        limits.append(problem.radius / np.sqrt(model.mistakes_))
    closest = int(np.argmax(np.array(means) / np.array(limits)))
    return [
        {
            "row": row,
            "distance": float(distances[row]),
            "count": float(counts[row] / orders),
            "support": bool(row in best.support_),
            "mean_distance": means[closest],
            "bound": float(limits[closest]),
        }
        for row in range(len(counts))
    ]


def _findings_difficulty(table: Table) -> list[Finding]:
    found = []
    for columns in values(table["n_columns"]):
        part = where(table, n_columns=columns)
        rank = float(spearmanr(part["distance"], part["count"]).statistic)
        nearest = part["distance"] <= np.quantile(part["distance"], 0.1)
        share = float(part["count"][nearest].sum() / part["count"].sum())
        found.append(
            Finding(
                f"In {columns} dimensions the tenth of the points nearest to the plane of largest margin "
                f"takes {percent(share)} of all updates; the rank correlation of count and distance is "
                f"{rank:.2f}.",
                rank < 0.0 and share > 0.1,
            )
        )
    return found


def _draw_difficulty(table: Table) -> Figure:
    figure, (left, right) = drawing.panels(2, height=3.9, width_ratios=[1, 1.3])
    part = where(table, n_columns=2, seed=0)
    problem = _difficulty_problem(2, 0)
    sizes = 6 + 400 * part["count"] / part["count"].max()
    for place, label in enumerate((-1, 1)):
        own = problem.y == label
        left.scatter(
            problem.X[own, 0],
            problem.X[own, 1],
            s=sizes[own],
            marker=("s", "o")[place],
            facecolor=(*drawing.rgb(place), 0.35),
            edgecolor=drawing.color(place),
            linewidth=0.9,
        )
    a, b = problem.weights
    reach = np.array([-1.5, 1.5])
    left.plot(-b * reach, a * reach, color=drawing.ACCENT, linewidth=2.0)
    left.set_xlim(-1.1, 1.1)
    left.set_ylim(-1.1, 1.1)
    left.set_aspect("equal")
    left.grid(False)
    left.set_title("Size: updates on each point")
    for place, columns in enumerate(values(table["n_columns"])):
        part = where(table, n_columns=columns, seed=0)
        keep = part["count"] > 0
        right.plot(
            part["distance"][keep],
            part["count"][keep],
            drawing.MARKERS[place],
            color=drawing.color(place),
            markersize=3.5,
            alpha=0.5,
            linestyle="none",
            label=f"{columns} dimensions",
        )
    drawing.log_axes(right)
    right.set_xlabel("distance to the plane of largest margin")
    right.set_ylabel("updates on the point, mean over orders")
    right.set_title("Near points carry the information")
    drawing.legend(right, columns=3)
    return figure


DIFFICULTY = Study(
    name="difficulty",
    title="Counts measure difficulty",
    source="Chapter 4, exercises 6 and 7",
    question="Are the points that had to be corrected most often those nearest to the boundary?",
    method=(
        "200 points with margin 0.03 in 2, 5 and 20 dimensions, each run in many random orders; the "
        "updates on each point are averaged over the orders and set against its distance to the plane of "
        "largest margin. The figure shows the first data set of each; points that were never corrected are "
        "left out on the right, whose axes are logarithmic."
    ),
    theorem=(
        "From zero weights, with w = Σ aᵢzᵢ and M = Σ aᵢ, the distances dᵢ = ⟨u, zᵢ⟩ obey Σ aᵢdᵢ = ⟨w, u⟩ "
        "≤ |w| ≤ R√M. So the mean distance of the corrected points, each taken as often as it was "
        "corrected, is at most R/√M: long runs are about near points."
    ),
    reference=NOVIKOFF,
    plan=_plan_difficulty,
    measure=_measure_difficulty,
    findings=_findings_difficulty,
    draw=_draw_difficulty,
    bounds=(Bounded("mean_distance", "bound", "The bound R/√M on the mean distance"),),
)

# ---------------------------------------------------------------- the dual form, and a linear program

FORMS = {"perceptron": "perceptron", "program": "linear program", "margin": "largest margin"}


def _plan_dual(quick: bool) -> list[Record]:
    return [
        {"margin": margin, "seed": seed}
        for margin in ([0.1, 0.03] if quick else [0.3, 0.1, 0.03, 0.01])
        for seed in range(3 if quick else 20)
    ]


def _measure_dual(margin: float, seed: int) -> list[Record]:
    problem = datasets.make_separable(200, 5, margin=margin, random_state=seed)
    signed = problem.y[:, None] * problem.X
    primal = perceptron(problem.X, problem.y)
    plain = plain_dual(signed @ signed.T)
    kernel = KernelPerceptron(Linear(), fit_intercept=False, max_iter=100_000).fit(problem.X, problem.y)
    same = bool((primal.mistake_counts_ == plain).all())
    new = np.random.default_rng([seed, 2]).standard_normal((1000, 5))
    from_counts = np.sign((plain * problem.y) @ (problem.X @ new.T))
    agree = float(np.mean(from_counts == primal.predict(new)))
    program = LinearProgram(form="dual", fit_intercept=False).fit(problem.X, problem.y)
    best = MaxMargin(fit_intercept=False).fit(problem.X, problem.y)
    programmed, marginal = np.zeros(200), np.zeros(200)
    programmed[program.support_] = np.abs(program.dual_coef_[0])
    marginal[best.support_] = np.abs(best.dual_coef_[0])
    records = []
    for form, multipliers in (
        ("perceptron", plain.astype(float)),
        ("program", programmed),
        ("margin", marginal),
    ):
        scores = signed @ (multipliers @ signed)
        scaled = multipliers / scores.min()
        total = float(scaled.sum())
        limit = theory.novikoff(1.0, problem.margin)
        records.append(
            {
                "form": form,
                "total": total,
                "bound": limit if form == "program" else np.nan,
                "least": 1.0 / (problem.radius * problem.margin),
                "rows_used": int((scaled > 1e-9 * scaled.max()).sum()),
                "margin_found": geometric_margin(multipliers @ signed, signed),
                "same_counts": same,
                "same_kernel": bool((kernel.mistake_counts_ == plain).all()),
                "agreement": agree,
            }
        )
    return records


def plain_dual(gram: np.ndarray) -> np.ndarray:
    """Count up each point that the counts so far misjudge, from the signed points' inner products alone.

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


def _findings_dual(table: Table) -> list[Finding]:
    by_form = {form: where(table, form=form) for form in FORMS}
    runs = len(by_form["program"]["total"])
    program, margin, plain = (by_form[form] for form in ("program", "margin", "perceptron"))
    least = np.minimum(margin["total"], plain["total"])
    used = {form: float(np.median(part["rows_used"])) for form, part in by_form.items()}
    return [
        Finding(
            (
                "The dual algorithm and the primal one are the same: they correct the same points equally "
                f"often in all {runs} runs."
            ),
            bool(program["same_counts"].all()),
        ),
        Finding("So does the kernel perceptron with the linear kernel.", bool(program["same_kernel"].all())),
        Finding(
            (
                "The counts classify: the sign of Σ aᵢyᵢ⟨xᵢ, x⟩ and that of ⟨w, x⟩ agree on all 1,000 new "
                "points in each run."
            ),
            bool((program["agreement"] == 1.0).all()),
        ),
        Finding(
            "The linear program: its multipliers have the smallest sum in every run, below the largest "
            "margin's and the perceptron's counts scaled alike.",
            bool((program["total"] <= least * (1 + 1e-6)).all()),
        ),
        Finding(
            "In no run does it use more points than there are dimensions; the median is "
            f"{used['program']:.0f}. The perceptron corrects {used['perceptron']:.0f}, and the largest "
            f"margin rests on {used['margin']:.0f}, the pair that the data were made with.",
            bool((program["rows_used"] <= 5).all()),
        ),
        Finding(
            "The largest margin's sum is 1/γ², to one part in ten thousand, the solver's rounding.",
            bool(np.allclose(margin["total"] * margin["margin"] ** 2, 1.0, rtol=1e-4)),
        ),
        Finding(
            "No sum is below 1/(Rγ), in any run.",
            bool((table["total"] >= table["least"] * (1 - 1e-6)).all()),
        ),
    ]


def _draw_dual(table: Table) -> Figure:
    figure, (left, right) = drawing.panels(2, height=4.1)
    drawing.log_axes(left)
    for place, (form, label) in enumerate(FORMS.items()):
        part = where(table, form=form)
        # Not side by side: the largest margin's sum lies on the sloping line, and beside it would be above.
        drawing.sweep(left, part, "margin", "total", place, label)
        drawing.sweep(right, part, "margin", "rows_used", place, label, shift=1.0 + 0.06 * (place - 1))
    part = where(table, form="program")
    drawing.bound_by(left, part, "margin", "bound", "program: at most 1/γ²")
    x = np.unique(part["margin"])
    left.plot(x, 1.0 / x, color=drawing.ACCENT, linestyle=":", linewidth=1.6, label="all: at least 1/(Rγ)")
    left.set_xlabel("margin γ")
    left.set_ylabel("sum of multipliers, smallest score = 1")
    left.set_title("What the linear program minimises")
    drawing.log_axes(right, y=False)
    right.set_xlabel("margin γ")
    right.set_ylabel("points with a multiplier, of 200")
    right.set_title("How many points carry it")
    right.set_ylim(bottom=0)
    for ax in (left, right):
        drawing.ticks_at(ax, x.tolist())
    drawing.shared_legend(figure, (left, right), columns=5)
    return figure


DUAL = Study(
    name="dual",
    title="The dual: correct, usable, and a linear program",
    source="Chapter 4, exercises 6 to 8",
    question=(
        "Is the dual form the same algorithm? How does its answer classify new points? And which linear "
        "program has the best multipliers as its solution?"
    ),
    method=(
        "200 points in five dimensions. The dual algorithm keeps a count aᵢ for each point and adds one "
        "whenever Σⱼ aⱼ⟨zⱼ, zᵢ⟩ ≤ 0: inner products are all it needs. It is run beside the primal one and "
        "the kernel perceptron, all in the same order. 1,000 new points are classified from the counts. "
        "Then the multipliers of the program (least Σ aᵢ with aᵢ ≥ 0 and every score Σⱼ aⱼ⟨zⱼ, zᵢ⟩ ≥ 1), "
        "of the largest margin, and the perceptron's counts are compared, all scaled so that the smallest "
        "score is one. Medians and ranges."
    ),
    theorem=(
        "From zero weights w = Σ aᵢzᵢ with aᵢ the updates on point i, so ⟨w, x⟩ = Σ aᵢyᵢ⟨xᵢ, x⟩. The "
        "largest margin's multipliers are feasible for the program and sum to 1/γ², so its optimum is at "
        "most that; and 1/γ ≤ |w| ≤ R Σ aᵢ for any multipliers whose smallest score is one, so each of the "
        "three sums is at least 1/(Rγ). A corner of the program has at most as many multipliers as there "
        "are dimensions."
    ),
    reference=(
        "Cristianini, N. and Shawe-Taylor, J. (2000). An Introduction to Support Vector Machines, sections "
        "2.1.1 and 6.1; the sum of the multipliers follows from |w|² = Σ aᵢ⟨w, zᵢ⟩."
    ),
    plan=_plan_dual,
    measure=_measure_dual,
    findings=_findings_dual,
    draw=_draw_dual,
    bounds=(Bounded("total", "bound", "The bound 1/γ² on the program's sum"),),
)

STUDIES = (SPREAD, DIFFICULTY, DUAL)
