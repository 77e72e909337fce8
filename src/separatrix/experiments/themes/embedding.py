"""Embeddings and kernels: what a higher degree separates and costs, what a kernel saves."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import make_moons

from ... import datasets
from ...estimators.kernel import KernelPerceptron
from ...features import exponent_table, monomials, multinomials
from ...kernels import Polynomial
from ...proofs.verdict import separability
from ..study import Bounded, Finding, Record, Study, Table, claim, grid, listing, medians, values, where
from . import drawing, theory
from .fitting import perceptron

# ---------------------------------------------------------------- degree against separability

POINTS = 24  # with random labels
SHAPES = ["halves", "disc", "exclusive or", "moons", "board", "spirals"]


def _plan_degree(quick: bool) -> list[Record]:
    random = grid(data=["random labels"], degree=range(1, 7), seed=(range(15), range(400)))
    return random(quick) + grid(data=SHAPES, degree=range(1, 9), seed=[0])(quick)


def _shape(name: str) -> tuple[np.ndarray, np.ndarray]:
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
        moved = np.random.default_rng(7).uniform(-0.35, 0.35, cells.shape)
        return cells - 1.0 + moved, 1 - 2 * (cells.sum(axis=1) % 2)
    turn = np.linspace(0.25, 1.0, 40)
    angle, y = 4.0 * math.pi * turn, np.repeat([1, -1], 40)
    arm = turn[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return np.vstack([arm, -arm]), y


def _measure_degree(data: str, degree: int, seed: int) -> list[Record]:
    if data == "random labels":
        rng = np.random.default_rng([seed, degree])
        X, y = rng.uniform(-1.0, 1.0, (POINTS, 2)), rng.choice([-1, 1], POINTS)
    else:
        X, y = _shape(data)
    separable: bool | None = True  # a single class
    if np.unique(y).size == 2:
        images = monomials(X, tuple(range(degree + 1)))
        separable = separability(images, y, quasi=False, fit_intercept=False).separable
    columns = theory.monomial_count(2, degree)
    return [{"columns": columns, "separable": bool(separable), "decided": separable is not None}]


def _shares(table: Table) -> tuple[list[int], list[int], list[int], list[float]]:
    """Return the degrees, the separable labelings, all labelings, and the share by Cover's theorem."""
    random = where(table, data="random labels")
    degrees = values(random["degree"])
    flags = [where(random, degree=degree)["separable"] for degree in degrees]
    expected = [theory.cover(POINTS, theory.monomial_count(2, degree)) for degree in degrees]
    return degrees, [int(flag.sum()) for flag in flags], [len(flag) for flag in flags], expected


def _findings_degree(table: Table) -> Iterator[Finding]:
    yield claim("Every verdict was proved exactly, for the monomials as computed.", table["decided"])
    by_shape = [where(table, data=shape)["separable"] for shape in SHAPES]  # in the order of the degrees
    reached = [
        f"{shape}: {flags.argmax() + 1}" if flags.any() else f"{shape}: none up to 8"
        for shape, flags in zip(SHAPES, by_shape, strict=True)
    ]
    yield Finding(f"The smallest separating degrees are {listing(reached)}.")
    yield claim(
        "A shape that is separable at one degree is separable at all higher ones, as it must be: they have "
        "the same columns and more.",
        *(np.diff(flags.astype(int)) >= 0 for flags in by_shape),
    )
    degrees, hits, runs, expected = _shares(table)
    ends = [theory.share_interval(hit, run, 0.999) for hit, run in zip(hits, runs, strict=True)]
    parts = [
        f"{hit / run:.3g} at degree {degree} (Cover: {share:.3g})"
        for degree, hit, run, share in zip(degrees, hits, runs, expected, strict=True)
    ]
    yield claim(
        f"Of random labelings of {POINTS} points, the share that can be separated is {listing(parts)}: "
        "the theorem's share is always inside the 99.9% interval of Clopper and Pearson.",
        [low <= share <= high for (low, high), share in zip(ends, expected, strict=True)],
    )


def _draw_degree(table: Table) -> Figure:
    figure, (left, right) = drawing.panels(2, height=4.2, width_ratios=[1.15, 1])
    for place, shape in enumerate(SHAPES):
        part = where(table, data=shape)
        for separable, edge in ((True, drawing.color(0)), (False, drawing.MUTED)):
            x = part["degree"][part["separable"] == separable]
            face = edge if separable else "none"
            left.plot(x, [place] * len(x), "o", markersize=10, markerfacecolor=face, markeredgecolor=edge)
    left.set_yticks(range(len(SHAPES)), SHAPES)
    left.invert_yaxis()
    left.set(xticks=range(1, 9), xlabel="degree (full circle: separable)", title="Shapes in the plane")
    left.grid(False)
    degrees, hits, runs, expected = _shares(table)
    ends = [theory.share_interval(hit, run) for hit, run in zip(hits, runs, strict=True)]
    shares, label = np.array(hits) / runs, "observed, with 95% intervals"
    drawing.interval(right, degrees, shares, ends, 0, label, linestyle="none")
    drawing.bound(right, degrees, expected, "Cover's theorem (the exact share, no bound)", linestyle="--")
    right.set_xticks(degrees, [f"{d}\nN = {theory.monomial_count(2, d)}" for d in degrees])
    right.set(xlabel="degree, and number of monomials", ylabel="share of labelings separated")
    right.set(ylim=(-0.05, 1.05), title=f"Random labels on {POINTS} points")
    drawing.legend(right, below=50.0)
    return figure


DEGREE = Study(
    name="degree",
    title="Which degree separates?",
    source="Chapter 0, embeddings",
    question="Which degree must a polynomial have to separate given classes, and from which on anything?",
    method="""Six shapes in the plane, and random labels on random points, are mapped to all monomials up to a
        degree; whether a plane separates the images is decided exactly, with a proof either way. Right: the
        share of separable labelings, with 95% intervals of Clopper and Pearson.""",
    theorem=f"""A polynomial of degree d is a plane in N = C(n + d, d) dimensions. Of all labelings of m
        points in general position, a plane through the origin of N dimensions realizes the share 2^(1−m)
        Σ_{{k<N}} C(m − 1, k): one half at N = m/2, and all from N = m on. Around m/2 it rises over a range of
        about √m dimensions: for m = {POINTS} it is {theory.cover(POINTS, 6):.2g} at N = 6,
        {theory.cover(POINTS, 10):.2g} at 10, {theory.cover(POINTS, 12):.2g} at 12 and {
        theory.cover(POINTS, 15):.2g} at 15.""",
    reference="""Cover, T. M. (1965). Geometrical and statistical properties of systems of linear inequalities
        with applications in pattern recognition. IEEE Transactions on Electronic Computers 14, 326-334.""",
    plan=_plan_degree,
    measure=_measure_degree,
    findings=_findings_degree,
    draw=_draw_degree,
)

# ---------------------------------------------------------------- N(n, d)

COUNTABLE = 100_000  # maps up to this width are made and counted


def _measure_growth(variables: int) -> list[Record]:
    records = []
    for degree in range(1, 11):
        count, counted = theory.monomial_count(variables, degree), math.nan
        if count <= COUNTABLE:
            counted = float(monomials(np.ones((1, variables)), tuple(range(degree + 1))).shape[1])
        # As floats: ten factors of 784 variables are beyond 64 bits.
        records.append(
            {
                "degree": degree,
                "count": float(count),
                "bound": float(variables + 1) ** degree,
                "counted": counted,
                "multiplications_kernel": float(variables + degree),
            }
        )
    return records


def _findings_growth(table: Table) -> Iterator[Finding]:
    counted = ~np.isnan(table["counted"])
    yield claim(
        f"In {counted.sum()} cases the map was made and its columns were counted: there are always "
        "C(n + d, d).",
        (table["counted"] == table["count"])[counted],
    )
    n = max(values(table["variables"]))
    at = {degree: float(where(table, variables=n, degree=degree)["count"][0]) for degree in (2, 5, 10)}
    yield Finding(
        f"With {n} variables there are {at[2]:,.0f} monomials up to degree 2, {at[5]:.2g} up to 5 and "
        f"{at[10]:.2g} up to 10. The kernel (1 + ⟨x, y⟩)^d needs {n} multiplications for the inner "
        "product and at most d more, for any N."
    )


def _draw_growth(table: Table) -> Figure:
    figure, (ax,) = drawing.panels(1, width=6.8)
    drawing.log_axes(ax, x=False)
    beside: dict[str, Any] = {
        "textcoords": "offset points",
        "va": "center",
        "fontsize": 9,
        "color": drawing.INK,
    }
    for place, n in enumerate(values(table["variables"])):
        part = where(table, variables=n)
        ax.plot(part["degree"], part["count"], **drawing.series(place))
        end = float(part["degree"][-1]), float(part["count"][-1])
        down = {1: -6, 3: 5, 5: 7}.get(n, 0)  # small numbers are close together
        ax.annotate(f"n = {n}", end, xytext=(7, down), **beside)
    gibibyte = 2.0**30 / 8
    ax.axhline(gibibyte, color=drawing.MUTED, linestyle=":", linewidth=1.3)
    ax.annotate("one row fills 1 GiB", (1.0, gibibyte), xytext=(0, 9), **beside)
    ax.set(xlim=(0.8, 11.3), xticks=range(1, 11), xlabel="degree d")
    ax.set(ylabel="monomials, N(n, d) = C(n + d, d)", title="The width of the embedding")
    return figure


GROWTH = Study(
    name="monomials",
    title="How wide the embedding becomes",
    source="Chapter 0, embeddings",
    question="How many monomials are there, and what does a kernel compute instead?",
    method=f"""N(n, d) for n variables and degrees up to ten; if it is at most {COUNTABLE:,}, the map is made
        and its columns are counted. The dotted line is where a row of 8-byte numbers fills 1 GiB.""",
    theorem="""Monomials of degree at most d in n variables are multisets of d out of n + 1 things (the
        variables and the number one): N(n, d) = C(n + d, d), at most (n + 1)^d.""",
    reference="Stanley, R. P. (2012). Enumerative Combinatorics 1, section 1.2 (multisets).",
    plan=grid(variables=([1, 2, 3, 10, 100], [1, 2, 3, 5, 10, 30, 100, 784])),
    measure=_measure_growth,
    findings=_findings_growth,
    draw=_draw_growth,
    bounds=(Bounded("count", "bound", "The bound (n + 1)^d"),),
)

# ---------------------------------------------------------------- kernel time against explicit time


def scaled_monomials(X: np.ndarray, kernel: Polynomial) -> np.ndarray:
    """Map the rows to monomials times roots of binomials and multinomials: inner products are the kernel."""
    parts = [
        np.sqrt(share * multinomials(exponent_table(X.shape[1], degree))) * monomials(X, (degree,))
        for degree, share in enumerate(kernel.series)
    ]
    return np.hstack(parts)


def _seconds(work: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """Return the least processor time of a few repetitions, and the result of the last."""
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
    kernel_seconds, by_kernel = _seconds(lambda: implicit.fit(*problem))
    map_seconds, images = _seconds(lambda: scaled_monomials(problem.X, kernel))
    fit_seconds, by_map = _seconds(lambda: perceptron(images, problem.y))
    gram = images @ images.T
    return [
        {
            "columns": images.shape[1],
            "kernel_seconds": kernel_seconds,
            "explicit_seconds": map_seconds + fit_seconds,
            "map_seconds": map_seconds,
            "kernel_updates": by_kernel.mistakes_,
            "explicit_updates": by_map.mistakes_,
            "gram_difference": float(np.abs(kernel(problem.X) - gram).max() / np.abs(gram).max()),
            "kernel_numbers": n_rows * n_rows,
            "explicit_numbers": n_rows * images.shape[1],
        }
    ]


def _findings_time(table: Table) -> Iterator[Finding]:
    x, implicit = medians(table, "columns", "kernel_seconds")
    _, explicit = medians(table, "columns", "explicit_seconds")
    same = table["kernel_updates"] == table["explicit_updates"]
    yield claim(
        f"Kernel and map have the same inner products, to {table['gram_difference'].max():.0e} of the "
        f"largest, and make the same number of updates in {same.sum()} of {len(same)} runs.",
        table["gram_difference"] < 1e-10,
        same,
    )
    slower = np.flatnonzero(implicit >= explicit)
    first = slower[-1] + 1 if slower.size else 0
    faster = f"From {x[first]:,.0f} columns on the kernel was faster." if first < len(x) else ""
    yield Finding(
        f"From {x[0]:,.0f} to {x[-1]:,.0f} columns the time of the explicit way changed by a factor of "
        f"{explicit[-1] / explicit[0]:,.1f}, that of the kernel by {implicit[-1] / implicit[0]:,.1f}; "
        f"at the narrowest, the explicit way took {explicit[0] / implicit[0]:,.2f} times as long as the "
        f"kernel, at the widest {explicit[-1] / implicit[-1]:,.1f} times (medians of processor seconds). "
        f"{faster}".strip()
    )
    yield Finding("Times depend on the machine; no other number here changes from run to run.")


def _draw_time(table: Table) -> Figure:
    figure, (left, right) = drawing.panels(2, height=4.2)
    drawing.log_axes(left, right)
    for place, way, label in (
        (1, "explicit", "explicit map, then perceptron: rows × N numbers"),
        (0, "kernel", "kernel perceptron: rows × rows numbers at most"),
    ):
        drawing.sweep(left, table, "columns", f"{way}_seconds", place, label)
        right.plot(*medians(table, "columns", f"{way}_numbers"), **drawing.series(place))
    left.set(xlabel="monomials N", ylabel="processor seconds", title="Time to separate")
    right.set(xlabel="monomials N", ylabel="numbers to store", title="Memory")
    drawing.shared_legend(figure, (left,))
    for ax in (left, right):
        top = ax.secondary_xaxis("top")
        top.set_xticks(values(table["columns"]), [str(degree) for degree in values(table["degree"])])
        top.minorticks_off()
        top.set_xlabel("degree", fontsize=9)
    return figure


TIME = Study(
    name="kernel-time",
    title="The kernel against the explicit embedding",
    source="Chapter 0, kernels",
    question="When does it pay to replace the embedding by a kernel?",
    method="""A ball inside a shell in eight dimensions. First the points are mapped to all monomials up to
        degree d, scaled so that their inner product is (1 + ⟨x, y⟩)^d, and the perceptron runs there; then
        the kernel perceptron runs on the points themselves. Both visit the points in the same order until
        they are done. Processor time, the least of three; medians and ranges.""",
    theorem="""The two are the same algorithm: only inner products occur, and ⟨φ(x), φ(y)⟩ = (1 + ⟨x, y⟩)^d.
        An explicit update costs about N = C(n + d, d) operations. An update with the kernel costs about one
        operation for each point if the inner products are known, and n more for each that is not.""",
    reference="""Aizerman, M., Braverman, E. and Rozonoer, L. (1964). Theoretical foundations of the potential
        function method in pattern recognition learning. Automation and Remote Control 25, 821-837.""",
    plan=grid(
        n_rows=([200], [400]),
        variables=[8],
        degree=([2, 4, 6, 8], range(2, 9)),
        seed=(range(2), range(5)),
    ),
    measure=_measure_time,
    findings=_findings_time,
    draw=_draw_time,
)
