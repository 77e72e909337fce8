"""Embeddings: which degree separates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import make_moons

from ... import datasets
from ...features import monomials
from ...proofs.verdict import separability
from ..study import Finding, Record, Study, Table, claim, grid, listing, values, where
from . import charts, theory

SHAPES: dict[str, Callable[[], Any]] = {
    "halves": lambda: datasets.make_separable(60, 2, margin=0.1, random_state=1),
    "disc": lambda: datasets.make_rings(60, random_state=1),
    "exclusive or": lambda: datasets.make_xor(60, noise=0.6, random_state=1),
    "moons": lambda: make_moons(80, noise=0.05, random_state=1),
    "board": lambda: datasets.make_checkerboard(72, gap=0.3, random_state=7),
    "spirals": lambda: datasets.make_spirals(80, random_state=1),
}


def _plan_degree(quick: bool) -> list[Record]:
    random = grid(data=["random labels"], degree=range(1, 7), seed=(range(15), range(400)))
    return random(quick) + grid(data=SHAPES, degree=range(1, 9), seed=[0])(quick)


def _measure_degree(data: str, degree: int, seed: int, n_random: int = 24) -> list[Record]:
    if data == "random labels":
        rng = np.random.default_rng([seed, degree])
        X, y = rng.uniform(-1.0, 1.0, (n_random, 2)), rng.choice([-1, 1], n_random)
    else:
        X, y = SHAPES[data]()
    separable: bool | None = True  # a single class
    if np.unique(y).size == 2:
        images = monomials(X, tuple(range(degree + 1)))
        separable = separability(images, y, quasi=False, fit_intercept=False).separable
    return [
        {
            "n_rows": len(y),
            "columns": theory.monomial_count(2, degree),
            "separable": bool(separable),
            "decided": separable is not None,
        }
    ]


def _shares(random: Table) -> tuple[list[int], list[int], list[int], list[float]]:
    """Return the degrees, the separable labelings, all labelings, and the share by Cover's theorem."""
    degrees = values(random["degree"])
    flags = [where(random, degree=degree)["separable"] for degree in degrees]
    expected = [theory.cover(random["n_rows"][0], theory.monomial_count(2, degree)) for degree in degrees]
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
    random = where(table, data="random labels")
    degrees, hits, runs, expected = _shares(random)
    ends = [theory.share_interval(hit, run, 0.999) for hit, run in zip(hits, runs, strict=True)]
    parts = [
        f"{hit / run:.3g} at degree {degree} (Cover: {share:.3g})"
        for degree, hit, run, share in zip(degrees, hits, runs, expected, strict=True)
    ]
    yield claim(
        f"Of random labelings of {random['n_rows'][0]} points, the share that can be separated is "
        f"{listing(parts)}: the theorem's share is always inside the 99.9% interval of Clopper and Pearson.",
        [low <= share <= high for (low, high), share in zip(ends, expected, strict=True)],
    )


def _draw_degree(table: Table) -> Figure:
    random = where(table, data="random labels")
    right_title = f"Random labels on {random['n_rows'][0]} points"
    figure, (left, right) = charts.panels(
        ("Shapes in the plane", "degree (full circle: separable)"),
        (right_title, "degree, and number of monomials", "share of labelings separated"),
        width_ratios=[1.15, 1],
    )
    for place, shape in enumerate(SHAPES):
        part = where(table, data=shape)
        for separable, edge in ((True, charts.color(0)), (False, charts.MUTED)):
            x = part["degree"][part["separable"] == separable]
            face = edge if separable else "none"
            left.plot(x, [place] * len(x), "o", markersize=10, markerfacecolor=face, markeredgecolor=edge)
    left.set_yticks(range(len(SHAPES)), list(SHAPES))
    left.invert_yaxis()
    left.set_xticks(range(1, 9))
    left.grid(False)
    degrees, hits, runs, expected = _shares(random)
    ends = [theory.share_interval(hit, run) for hit, run in zip(hits, runs, strict=True)]
    shares, label = np.array(hits) / runs, "observed, with 95% intervals"
    charts.interval(right, degrees, shares, ends, 0, label, linestyle="none")
    charts.bound(right, degrees, expected, "Cover's theorem (the exact share, no bound)", linestyle="--")
    right.set_xticks(degrees, [f"{d}\nN = {theory.monomial_count(2, d)}" for d in degrees])
    right.set_ylim(-0.05, 1.05)
    return charts.finish(figure)


DEGREE = Study(
    name="degree",
    title="Which degree separates?",
    source="Chapter 0, embeddings",
    question="""Which degree must a polynomial have to separate given classes, and from which degree on can it
        separate any labels?""",
    method="""Six shapes in the plane, and random labels on random points, are mapped to all monomials up to a
        degree; whether a hyperplane separates the images is decided exactly, with a proof in both cases.
        Right: the share of separable labelings, with 95% intervals of Clopper and Pearson.""",
    theorem=f"""A polynomial of degree d in n variables is a linear function of its N = C(n + d, d) monomials.
        Of all labelings of m points in general position in N dimensions, hyperplanes through the origin
        realize the share 2^(1−m) Σ_{{k<N}} C(m − 1, k): one half at N = m/2, and all from N = m on. Around
        m/2 it rises over a range of about √m dimensions: for m = 24 it is {theory.cover(24, 6):.2g} at N = 6,
        {theory.cover(24, 10):.2g} at 10, {theory.cover(24, 12):.2g} at 12 and {theory.cover(24, 15):.2g} at
        15.""",
    reference="""Cover, T. M. (1965). Geometrical and statistical properties of systems of linear inequalities
        with applications in pattern recognition. IEEE Transactions on Electronic Computers 14, 326-334.""",
    plan=_plan_degree,
    measure=_measure_degree,
    findings=_findings_degree,
    draw=_draw_degree,
)
