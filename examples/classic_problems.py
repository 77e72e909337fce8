"""Solve four problems that no hyperplane solves, each by an embedding and by its kernel.

Run it with ``python -m examples.classic_problems``, or name one of xor, rings, spirals and checkerboard.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import separatrix as sx
from separatrix.features import Monomials
from separatrix.kernels import Polynomial

# How to make each problem, the degree of a polynomial that solves it, and a scale that keeps powers small.
PROBLEMS: dict[str, tuple[Callable[[], Any], int, float]] = {
    "xor": (lambda: sx.datasets.make_xor(40, random_state=0), 2, 1.0),
    "rings": (lambda: sx.datasets.make_rings(100, random_state=0), 2, 1.0),
    "spirals": (lambda: sx.datasets.make_spirals(60, random_state=0), 8, 0.4),
    "checkerboard": (lambda: sx.datasets.make_checkerboard(100, gap=0.4, random_state=0), 6, 1 / 3),
}


@dataclass(frozen=True)
class Answer:
    """A problem, its verdict, and its two solutions."""

    problem: Any
    degree: int
    verdict: sx.Verdict
    embedding: Callable[[Any], Any]
    by_embedding: sx.MaxMargin
    by_kernel: sx.MaxMargin
    agree: bool


def solve(name: str) -> Answer:
    """Prove that the monomials separate the rows, then find the largest margin in both ways."""
    make, degree, scale = PROBLEMS[name]
    problem = make()
    # (1 + s^2 <x, x'>)^d: the kernel of the monomials of s x
    kernel = scale ** (2 * degree) * Polynomial(degree, c=scale**-2)
    embed = Monomials(degree, scaled=True).fit(problem.X)

    def embedding(X: Any) -> Any:
        return embed.transform(X * scale)[:, 1:]  # the free intercept replaces the constant

    verdict = sx.separability(problem.X, problem.y, kernel=kernel)
    by_embedding = sx.MaxMargin(gap=1e-7).fit(embedding(problem.X), problem.y)
    by_kernel = sx.MaxMargin(kernel=kernel, gap=1e-7).fit(problem.X, problem.y)
    grid = np.random.default_rng(1).uniform(problem.X.min(), problem.X.max(), (2000, 2))
    one, two = by_embedding.decision_function(embedding(grid)), by_kernel.decision_function(grid)
    clear = np.abs(one) > 1e-3  # on the boundary, rounding decides
    agree = bool((np.sign(one) == np.sign(two))[clear].all())
    return Answer(problem, degree, verdict, embedding, by_embedding, by_kernel, agree)


def main(names: list[str]) -> None:
    """Solve the named problems, or all of them."""
    for name in names or PROBLEMS:
        answer = solve(name)
        plain = sx.separability(answer.problem.X, answer.problem.y, quasi=False)
        print(f"{name}: {len(answer.problem.y)} rows")
        print(f"  by a line            {plain.status}, proved by {len(plain.witness_rows)} rows")
        print(f"  by degree {answer.degree:<2}         {answer.verdict.status}, certificate checked exactly")
        for way, model in (("embedding", answer.by_embedding), ("kernel", answer.by_kernel)):
            print(
                f"  margin by {way:<10} {model.margin_lower_:.6g} to {model.margin_upper_:.6g}, "
                f"{model.support_.size} rows in the support"
            )
        print(f"  same side on 2,000 new points: {'yes' if answer.agree else 'no'}")


if __name__ == "__main__":
    main(sys.argv[1:])
