"""Two lines for XOR: a committee of perceptrons, and what of it is learnt.

One line cannot separate the corners of a square whose diagonals are the classes. Two can: a row is "other"
if it lies between them. This script builds that committee, a network of two layers, and says at each step
what was learnt by the perceptron's rule and what was put in by hand: ``python -m examples.two_lines``.

What is learnt: each line, from labels of its own, and the last unit, from the outputs of the lines. What is
not: which rows each line has to tell apart. The perceptron's rule has no way to find that out, as it only
says how to correct a unit whose right answer is known; that was the gap that backpropagation filled.
"""

from __future__ import annotations

import numpy as np

import separatrix as sx

CORNERS = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
LABELS = np.array(["same", "same", "other", "other"])
# By hand: the first line is to leave (0, 0) on its own side, the second one (1, 1).
TASKS = {"not both zero": CORNERS.sum(axis=1) > 0, "not both one": CORNERS.sum(axis=1) < 2}


def one_line() -> sx.Verdict:
    """The proof that one line does not do: the two diagonals cross."""
    return sx.separability(CORNERS, LABELS)


def lines() -> list[sx.Perceptron]:
    """Two lines, each learnt from the labels that it was given."""
    return [sx.Perceptron().fit(CORNERS, task) for task in TASKS.values()]


def outputs(hidden: list[sx.Perceptron], X: np.ndarray) -> np.ndarray:
    """The answers of the lines, one column each: the rows as the second layer sees them."""
    return np.column_stack([line.predict(X) for line in hidden]).astype(float)


def committee(hidden: list[sx.Perceptron]) -> sx.Perceptron:
    """The second layer, learnt from the outputs of the first, where the classes can be separated."""
    return sx.Perceptron().fit(outputs(hidden, CORNERS), LABELS)


def random_lines(count: int, seed: int) -> list[sx.Perceptron]:
    """Lines that nobody chose: the first layer of Rosenblatt's own machine, wired by chance."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        line = sx.Perceptron().partial_fit(CORNERS, TASKS["not both zero"], classes=[False, True])
        line.coef_, line.intercept_ = rng.standard_normal((1, 2)), rng.standard_normal(1)
        found.append(line)
    return found


def by_chance(count: int, tries: int = 200) -> float:
    """How often so many random lines make XOR separable for a second layer."""
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
        print(f"Line {task!r}: learnt with {line.mistakes_} mistakes, from labels put in by hand.")
    seen = outputs(hidden, CORNERS)
    print(f"What the second layer sees: {seen.tolist()}; separable: {sx.separability(seen, LABELS).status}")
    top = committee(hidden)
    print(f"Second layer: learnt with {top.mistakes_} mistakes. Answers: {top.predict(seen).tolist()}")
    print("Without hands: random lines make XOR separable for a second layer")
    for count in (2, 5, 20):
        print(f"  with {count:2d} lines in {by_chance(count):.0%} of 200 draws")


if __name__ == "__main__":
    main()
