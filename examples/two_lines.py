"""Separate XOR with two lines: a committee of perceptrons, and which parts of it are learned.

One line cannot separate the corners of a square if each diagonal is a class. Two lines can: a row is "other"
if it lies between them. This script builds that committee, a network with two layers, and says at each step
what was learned by the perceptron's rule and what was chosen by hand: ``python -m examples.two_lines``.

Each line is learned from labels of its own, and the last unit is learned from the outputs of the lines. Which
rows each line has to separate is not learned. The perceptron's rule cannot find this out, because it only
corrects a unit whose correct answer is known. Backpropagation was invented to fill this gap.
"""

from __future__ import annotations

import numpy as np

import separatrix as sx

CORNERS = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
LABELS = np.array(["same", "same", "other", "other"])
# Chosen by hand: the first line separates (0, 0) from the others, and the second line separates (1, 1).
TASKS = {"not both zero": CORNERS.sum(axis=1) > 0, "not both one": CORNERS.sum(axis=1) < 2}


def one_line() -> sx.Verdict:
    """Prove that one line is not enough: the two diagonals cross."""
    return sx.separability(CORNERS, LABELS)


def lines() -> list[sx.Perceptron]:
    """Train two lines, each with its own labels."""
    return [sx.Perceptron().fit(CORNERS, task) for task in TASKS.values()]


def outputs(hidden: list[sx.Perceptron], X: np.ndarray) -> np.ndarray:
    """Return the answers of the lines, one column each: the input of the second layer."""
    return np.column_stack([line.predict(X) for line in hidden]).astype(float)


def committee(hidden: list[sx.Perceptron]) -> sx.Perceptron:
    """Train the second layer on the outputs of the first, which can be separated."""
    return sx.Perceptron().fit(outputs(hidden, CORNERS), LABELS)


def random_lines(count: int, seed: int) -> list[sx.Perceptron]:
    """Return random lines, like the randomly wired first layer of Rosenblatt's machine."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        line = sx.Perceptron().partial_fit(CORNERS, TASKS["not both zero"], classes=[False, True])
        line.coef_, line.intercept_ = rng.standard_normal((1, 2)), rng.standard_normal(1)
        found.append(line)
    return found


def by_chance(count: int, tries: int = 200) -> float:
    """Return how often this number of random lines makes XOR separable for a second layer."""
    done = sum(
        bool(sx.separability(outputs(random_lines(count, seed), CORNERS), LABELS).separable)
        for seed in range(tries)
    )
    return done / tries


def main() -> None:
    verdict = one_line()
    shares = {row: str(weight) for row, weight in verdict.witness_rows.items()}
    print(f"One line: {verdict.status}. The proof: {shares}")
    hidden = lines()
    for (task, _), line in zip(TASKS.items(), hidden, strict=True):
        print(f"Line {task!r}: learned with {line.mistakes_} mistakes, from labels chosen by hand.")
    seen = outputs(hidden, CORNERS)
    print(f"Input of the second layer: {seen.tolist()}; {sx.separability(seen, LABELS).status}")
    top = committee(hidden)
    print(f"Second layer: learned with {top.mistakes_} mistakes. Answers: {top.predict(seen).tolist()}")
    print("Without labels chosen by hand, random lines make XOR separable for a second layer")
    for count in (2, 5, 20):
        print(f"  with {count:2d} lines in {by_chance(count):.0%} of 200 draws")


if __name__ == "__main__":
    main()
