"""Embeddings and kernels: what a higher degree separates and costs, what a kernel saves."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import make_moons

from ... import datasets
from ...estimators.kernel import KernelPerceptron
from ...features import exponent_table, monomials, multinomials
from ...kernels import Polynomial
from ...proofs.verdict import separability
from ..study import Bounded, Finding, Record, Study, Table, listing, medians, values, where
from . import drawing, theory
from .fitting import perceptron

# ---------------------------------------------------------------- degree against separability

POINTS = 24  # with random labels
SHAPES = ("halves", "disc", "exclusive or", "moons", "board", "spirals")


def _plan_degree(quick: bool) -> list[Record]:
    random = [
        {"data": "random labels", "degree": degree, "seed": seed}
        for degree in range(1, 7)
        for seed in range(15 if quick else 400)
    ]
    shapes = [{"data": shape, "degree": degree, "seed": 0} for shape in SHAPES for degree in range(1, 9)]
    return random + shapes


def _shape(name: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    if name == "halves":
        return tuple(datasets.make_separable(60, 2, margin=0.1, random_state=1))
    if name == "disc":
        return tuple(datasets.make_rings(60, random_state=1))
    if name == "exclusive or":
        return tuple(datasets.make_xor(60, noise=0.6, random_state=1))
    if name == "moons":
        X, y = make_moons(80, noise=0.05, random_state=1)
        return X, 2 * y - 1
    if name == "board":
        cells = np.array([(i, j) for i in range(3) for j in range(3)]).repeat(8, axis=0)
        return cells - 1.0 + rng.uniform(-0.35, 0.35, cells.shape), 1 - 2 * (cells.sum(axis=1) % 2)
    turn = np.linspace(0.25, 1.0, 40)
    angle, y = 4.0 * math.pi * turn, np.repeat([1, -1], 40)
    arm = turn[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return np.vstack([arm, -arm]), y


def _measure_degree(data: str, degree: int, seed: int) -> list[Record]:
    if data == "random labels":
        rng = np.random.default_rng([seed, degree])
        X = rng.uniform(-1.0, 1.0, (POINTS, 2))
        y = rng.choice([-1, 1], POINTS)
        if abs(y.sum()) == POINTS:
            return [{"columns": theory.monomial_count(2, degree), "separable": True, "decided": True}]
    else:
        X, y = _shape(data)
    verdict = separability(monomials(X, tuple(range(degree + 1))), y, quasi=False, fit_intercept=False)
    return [
        {
            "columns": theory.monomial_count(2, degree),
            "separable": bool(verdict.separable),
            "decided": verdict.separable is not None,
        }
    ]


def _first_degrees(table: Table) -> dict[str, int]:
    """The smallest separating degree of each shape; zero where none did."""
    found = {}
    for shape in SHAPES:
        part = where(table, data=shape, separable=True)
        found[shape] = int(part["degree"].min()) if len(part["degree"]) else 0
    return found


def _findings_degree(table: Table) -> list[Finding]:
    first = _first_degrees(table)
    monotone = True
    for shape in SHAPES:
        part = where(table, data=shape)
        flags = part["separable"][np.argsort(part["degree"])]
        monotone &= bool((np.diff(flags.astype(int)) >= 0).all())
    random = where(table, data="random labels")
    parts, near = [], True
    for degree in values(random["degree"]):
        part = where(random, degree=degree)
        hits, runs = int(part["separable"].sum()), len(part["separable"])
        expected = theory.cover(POINTS, theory.monomial_count(2, degree))
        low, high = theory.share_interval(hits, runs, 0.999)
        near &= low <= expected <= high
        parts.append(f"{hits / runs:.3g} at degree {degree} (Cover: {expected:.3g})")
    reached = [
        f"{shape}: {degree}" if degree else f"{shape}: none up to 8" for shape, degree in first.items()
    ]
    return [
        Finding(
            "Every verdict was proved exactly, for the monomials as computed.", bool(table["decided"].all())
        ),
        Finding(f"The smallest separating degrees are {listing(reached)}."),
        Finding(
            "Once separable, separable at all higher degrees, as it must be: they have the same columns and "
            "more.",
            monotone,
        ),
        Finding(
            f"Of random labellings of {POINTS} points, the share that can be separated is {listing(parts)}: "
            "the theorem's share is inside the 99.9% interval of Clopper and Pearson everywhere.",
            near,
        ),
    ]


def _draw_degree(table: Table) -> Figure:
    figure, (left, right) = drawing.panels(2, height=4.2, width_ratios=[1.15, 1])
    for place, shape in enumerate(SHAPES):
        part = where(table, data=shape)
        for degree, separable in zip(part["degree"], part["separable"], strict=True):
            left.plot(
                degree,
                place,
                "o",
                markersize=10,
                markerfacecolor=drawing.color(0) if separable else "none",
                markeredgecolor=drawing.color(0) if separable else drawing.MUTED,
            )
    left.set_yticks(range(len(SHAPES)), SHAPES)
    left.invert_yaxis()
    left.set_xticks(range(1, 9))
    left.set_xlabel("degree (full circle: separable)")
    left.grid(False)
    left.set_title("Shapes in the plane")

    random = where(table, data="random labels")
    degrees = values(random["degree"])
    flags = [where(random, degree=degree)["separable"] for degree in degrees]
    shares = np.array([flag.mean() for flag in flags])
    ends = [theory.share_interval(int(flag.sum()), len(flag)) for flag in flags]
    drawing.interval(right, degrees, shares, ends, 0, "observed, with 95% intervals", linestyle="none")
    expected = [theory.cover(POINTS, theory.monomial_count(2, degree)) for degree in degrees]
    drawing.bound(right, degrees, expected, "Cover's theorem (the exact share, no bound)", linestyle="--")
    right.set_xticks(degrees, [f"{d}\nN = {theory.monomial_count(2, d)}" for d in degrees])
    right.set_xlabel("degree, and number of monomials")
    right.set_ylabel("share of labellings separated")
    right.set_ylim(-0.05, 1.05)
    right.set_title(f"Random labels on {POINTS} points")
    drawing.legend(right, below=50.0)
    return figure


DEGREE = Study(
    name="degree",
    title="Which degree separates?",
    source="Chapter 0, embeddings",
    question="Which degree must a polynomial have to separate given classes, and from which on anything?",
    method=(
        "Six shapes in the plane, and random labels on random points, are mapped to all monomials up to a "
        "degree; whether a plane separates the images is decided exactly, with a proof either way. Right: "
        "the share of separable labellings, with 95% intervals of Clopper and Pearson."
    ),
    theorem=(
        "A polynomial of degree d is a plane in N = C(n + d, d) dimensions. Of all labellings of m points "
        "in general position, a plane through the origin of N dimensions realises the share 2^(1−m) "
        "Σ_{k<N} C(m − 1, k): one half at N = m/2, and all from N = m on. Around m/2 it rises over a range "
        f"of about √m dimensions: for m = {POINTS} it is {theory.cover(POINTS, 6):.2g} at N = 6, "
        f"{theory.cover(POINTS, 10):.2g} at 10, {theory.cover(POINTS, 12):.2g} at 12 and "
        f"{theory.cover(POINTS, 15):.2g} at 15."
    ),
    reference=(
        "Cover, T. M. (1965). Geometrical and statistical properties of systems of linear inequalities "
        "with applications in pattern recognition. IEEE Transactions on Electronic Computers 14, 326-334."
    ),
    plan=_plan_degree,
    measure=_measure_degree,
    findings=_findings_degree,
    draw=_draw_degree,
)

# ---------------------------------------------------------------- N(n, d)

COUNTABLE = 100_000  # maps up to this width are made and counted


def _plan_growth(quick: bool) -> list[Record]:
    return [{"variables": n} for n in ([1, 2, 3, 10, 100] if quick else [1, 2, 3, 5, 10, 30, 100, 784])]


def _measure_growth(variables: int) -> list[Record]:
    records = []
    for degree in range(1, 11):
        count = theory.monomial_count(variables, degree)
        made = -1
        if count <= COUNTABLE:
            made = monomials(np.ones((1, variables)), tuple(range(degree + 1))).shape[1]
        # As floats: ten factors of 784 variables are beyond 64 bits.
        records.append(
            {
                "degree": degree,
                "count": float(count),
                "bound": float(variables + 1) ** degree,
                "counted": float(made) if made >= 0 else math.nan,
                "multiplications_kernel": float(variables + degree),
            }
        )
    return records


def _findings_growth(table: Table) -> list[Finding]:
    counted = ~np.isnan(table["counted"])
    alike = table["counted"][counted] == table["count"][counted]
    n = max(values(table["variables"]))
    at = {degree: float(where(table, variables=n, degree=degree)["count"][0]) for degree in (2, 5, 10)}
    return [
        Finding(
            (
                f"In {int(counted.sum())} cases the map was made and its columns counted: C(n + d, d) every "
                "time."
            ),
            bool(alike.all()),
        ),
        Finding(
            f"With {n} variables there are {at[2]:,.0f} monomials up to degree 2, {at[5]:.2g} up to 5 and "
            f"{at[10]:.2g} up to 10. The kernel (1 + ⟨x, y⟩)^d needs {n} multiplications for the inner "
            "product and at most d more, whatever N is."
        ),
    ]


def _draw_growth(table: Table) -> Figure:
    figure, (ax,) = drawing.panels(1, width=6.8, height=4.1)
    drawing.log_axes(ax, x=False)
    for place, n in enumerate(values(table["variables"])):
        part = where(table, variables=n)
        ax.plot(
            part["degree"],
            part["count"],
            color=drawing.color(place),
            marker=drawing.MARKERS[place],
            markersize=5,
            linestyle=drawing.DASHES[place % len(drawing.DASHES)],
        )
        ax.annotate(
            f"n = {n}",
            (float(part["degree"][-1]), float(part["count"][-1])),
            xytext=(7, {1: -6, 3: 5, 5: 7}.get(n, 0)),  # small numbers lie close together
            textcoords="offset points",
            va="center",
            fontsize=9,
            color=drawing.INK,
        )
    ax.axhline(2.0**30 / 8, color=drawing.MUTED, linestyle=":", linewidth=1.3)
    ax.annotate(
        "one row fills 1 GiB", (1.0, 2.0**30 / 8), xytext=(0, 4), textcoords="offset points", fontsize=8.5
    )
    ax.set_xlim(0.8, 11.3)
    ax.set_xticks(range(1, 11))
    ax.set_xlabel("degree d")
    ax.set_ylabel("monomials, N(n, d) = C(n + d, d)")
    ax.set_title("The width of the embedding")
    return figure


GROWTH = Study(
    name="monomials",
    title="How wide the embedding becomes",
    source="Chapter 0, embeddings",
    question="How many monomials are there, and what does a kernel compute instead?",
    method=(
        f"N(n, d) for n variables and degrees up to ten; wherever it is at most {COUNTABLE:,}, the map is "
        "made and its columns counted. Dotted: where a row of 8-byte numbers fills 1 GiB."
    ),
    theorem=(
        "Monomials of degree at most d in n variables are multisets of d out of n + 1 things (the "
        "variables and the number one): N(n, d) = C(n + d, d), at most (n + 1)^d."
    ),
    reference="Stanley, R. P. (2012). Enumerative Combinatorics 1, section 1.2 (multisets).",
    plan=_plan_growth,
    measure=_measure_growth,
    findings=_findings_growth,
    draw=_draw_growth,
    bounds=(Bounded("count", "bound", "The bound (n + 1)^d"),),
)

# ---------------------------------------------------------------- kernel time against explicit time


def _plan_time(quick: bool) -> list[Record]:
    return [
        {"n_rows": 200 if quick else 400, "variables": 8, "degree": degree, "seed": seed}
        for degree in ((2, 4, 6, 8) if quick else range(2, 9))
        for seed in range(2 if quick else 5)
    ]


def scaled_monomials(X: np.ndarray, kernel: Polynomial) -> np.ndarray:
    """The map whose inner product is the kernel: monomials times roots of binomials and multinomials."""
    parts = [
        np.sqrt(share * multinomials(exponent_table(X.shape[1], degree))) * monomials(X, (degree,))
        for degree, share in enumerate(kernel.series)
    ]
    return np.hstack(parts)


def _seconds(work: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """The least processor time of a few repetitions, and the result of the last."""
    times = []
    for _ in range(repeats):
        begun = time.process_time()
        result = work()
        times.append(time.process_time() - begun)
    return min(times), result


def _measure_time(n_rows: int, variables: int, degree: int, seed: int) -> list[Record]:
    problem = datasets.make_rings(n_rows, variables, inner=0.5, gap=0.1, random_state=seed)
    kernel = Polynomial(degree=degree, c=1.0)
    implicit = KernelPerceptron(kernel, fit_intercept=False, max_iter=20_000)
    kernel_seconds, by_kernel = _seconds(lambda: implicit.fit(problem.X, problem.y))
    map_seconds, images = _seconds(lambda: scaled_monomials(problem.X, kernel))
    fit_seconds, by_map = _seconds(lambda: perceptron(images, problem.y))
    difference = np.abs(kernel(problem.X) - images @ images.T).max() / np.abs(images @ images.T).max()
    return [
        {
            "columns": images.shape[1],
            "kernel_seconds": kernel_seconds,
            "explicit_seconds": map_seconds + fit_seconds,
            "map_seconds": map_seconds,
            "kernel_updates": by_kernel.mistakes_,
            "explicit_updates": by_map.mistakes_,
            "gram_difference": float(difference),
            "kernel_numbers": n_rows * n_rows,
            "explicit_numbers": n_rows * images.shape[1],
        }
    ]


def _findings_time(table: Table) -> list[Finding]:
    x, implicit = medians(table, "columns", "kernel_seconds")
    _, explicit = medians(table, "columns", "explicit_seconds")
    same = int((table["kernel_updates"] == table["explicit_updates"]).sum())
    total = len(table["columns"])
    return [
        Finding(
            f"Kernel and map have the same inner products, to {table['gram_difference'].max():.0e} of the "
            f"largest, and make the same number of updates in {same} of {total} runs.",
            bool(table["gram_difference"].max() < 1e-10) and same == total,
        ),
        Finding(
            f"From {x[0]:,.0f} to {x[-1]:,.0f} columns the time of the explicit way changed by a factor of "
            f"{explicit[-1] / explicit[0]:,.1f}, that of the kernel by {implicit[-1] / implicit[0]:,.1f}; "
            f"at the narrowest, the explicit way took {explicit[0] / implicit[0]:,.2f} times as long as the "
            f"kernel, at the widest {explicit[-1] / implicit[-1]:,.1f} times (medians of processor seconds). "
            f"{_crossing(x, implicit, explicit)}"
        ),
        Finding(
            "Times depend on the machine; they are the one thing here that another run does not repeat "
            "exactly."
        ),
    ]


def _crossing(widths: np.ndarray, implicit: np.ndarray, explicit: np.ndarray) -> str:
    slower = np.flatnonzero(implicit >= explicit)
    if slower.size == 0:
        return "The kernel was faster at every width."
    if slower[-1] == len(widths) - 1:
        return "At the widest the kernel was not yet faster."
    return f"From {widths[slower[-1] + 1]:,.0f} columns on the kernel was faster."


def _draw_time(table: Table) -> Figure:
    figure, (left, right) = drawing.panels(2, height=4.2)
    drawing.log_axes(left)
    drawing.log_axes(right)
    drawing.sweep(
        left, table, "columns", "explicit_seconds", 1, "explicit map, then perceptron: rows × N numbers"
    )
    drawing.sweep(
        left, table, "columns", "kernel_seconds", 0, "kernel perceptron: rows × rows numbers at most"
    )
    left.set_xlabel("monomials N")
    left.set_ylabel("processor seconds")
    left.set_title("Time to separate")
    x, wide = medians(table, "columns", "explicit_numbers")
    _, square = medians(table, "columns", "kernel_numbers")
    right.plot(x, wide, color=drawing.color(1), marker="s", linestyle="--", markersize=5)
    right.plot(x, square, color=drawing.color(0), marker="o", markersize=5)
    right.set_xlabel("monomials N")
    right.set_ylabel("numbers to keep")
    right.set_title("Room")
    drawing.shared_legend(figure, (left,))
    for ax in (left, right):
        top = ax.secondary_xaxis("top")
        degrees = values(table["degree"])
        top.set_xticks(x, [str(d) for d in degrees])
        top.minorticks_off()
        top.set_xlabel("degree", fontsize=9)
    return figure


TIME = Study(
    name="kernel-time",
    title="The kernel against the explicit embedding",
    source="Chapter 0, kernels",
    question="When does it pay to replace the embedding by a kernel?",
    method=(
        "A ball inside a shell in eight dimensions. Once the points are mapped to all monomials up to "
        "degree d, scaled so that their inner product is (1 + ⟨x, y⟩)^d, and the perceptron runs there; "
        "once the kernel perceptron runs on the points themselves. Both visit the points in the same order "
        "until they are done. Processor time, the least of three; medians and ranges."
    ),
    theorem=(
        "The two are the same algorithm: only inner products occur, and ⟨φ(x), φ(y)⟩ = (1 + ⟨x, y⟩)^d. An "
        "explicit update costs about N = C(n + d, d) operations, an update with the kernel about one for "
        "each point once the inner products are there, and n more for each inner product that is not."
    ),
    reference=(
        "Aizerman, M., Braverman, E. and Rozonoer, L. (1964). Theoretical foundations of the potential "
        "function method in pattern recognition learning. Automation and Remote Control 25, 821-837."
    ),
    plan=_plan_time,
    measure=_measure_time,
    findings=_findings_time,
    draw=_draw_time,
)

STUDIES = (DEGREE, GROWTH, TIME)
