"""The eleven exercises of chapter 4 as questions about small data in whole numbers, made from a seed."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ConvergenceWarning
from ..estimators.linear import Perceptron
from ..estimators.linear_program import LinearProgram
from ..result import Floats, Ints

IN_TURN = "Visit the rows in turn, again and again, until none is a mistake. A score of zero is a mistake."


@dataclass(frozen=True)
class Question:
    """A question with one answer.

    Attributes
    ----------
    name : str
        The number of the exercise and a letter.
    text : str
    answer : int, float or list
    tolerance : float
        How far a stated number may be from the answer.
    """

    name: str
    text: str
    answer: Any
    tolerance: float = 0.0


@dataclass(frozen=True)
class Exercise:
    """An exercise: its text, its data by name, and its questions."""

    number: int
    title: str
    text: str
    data: dict[str, Any]
    questions: tuple[Question, ...]


Draft = tuple[Any, ...]  # the title, the text and the data of an exercise, and each question with its answer


def exercises(seed: int) -> tuple[Exercise, ...]:
    """Return the exercises of a student; the same seed always gives the same data."""
    return tuple(_exercise(number, *make(number, seed)) for number, make in enumerate(MAKERS, 1))


def _exercise(
    number: int, title: str, text: str, data: dict[str, Any], *asked: tuple[str, Any] | tuple[str, Any, float]
) -> Exercise:
    questions = [Question(f"{number}{letter}", *each) for letter, each in zip("abc", asked, strict=False)]
    plain = {name: getattr(value, "tolist", lambda value=value: value)() for name, value in data.items()}
    return Exercise(number, title, " ".join(text.split()), plain, tuple(questions))


def _points(number: int, seed: int, *, offset: int = 0, n_rows: int = 8) -> tuple[Ints, Ints, Perceptron]:
    """Return points that a line separates, labels, and a run that is neither trivial nor long."""
    rng = np.random.default_rng([seed, number])
    while True:
        X, normal = rng.integers(-6, 7, (n_rows, 2)), rng.integers(-3, 4, 2)
        scores = X @ normal + offset
        y = np.where(scores > 0, 1, -1)
        if np.abs(scores).min() > 0 and np.abs(y.sum()) < n_rows - 2:
            model = _run(X, y, fit_intercept=bool(offset), intercept_scaling=2.0)
            if 4 <= model.mistakes_ <= 16:
                return X, y, model


def _run(X: Any, y: Any, **options: Any) -> Perceptron:
    usual: dict[str, Any] = {"order": "cyclic", "fit_intercept": False, "n_iter_no_change": None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # some runs are cut short on purpose
        return Perceptron(**{**usual, "max_iter": 10**6, **options}).fit(X, y)


def _whole(values: Floats) -> list[int]:
    return [round(value) for value in values.tolist()]


def _first(number: int, seed: int) -> Draft:
    X, y, model = _points(number, seed)
    text = f"""Run the perceptron from w = 0 on the rows of X with the labels y, without an intercept: a
        mistake adds y x to w. {IN_TURN}"""
    return (
        "Run the perceptron",
        text,
        {"X": X, "y": y},
        ("How many updates does it make?", model.mistakes_),
        ("What is the final w?", _whole(model.coef_[0])),
        ("What is R², the largest squared length of a row?", int((X**2).sum(axis=1).max())),
    )


def _rate(number: int, seed: int) -> Draft:
    X, y, model = _points(number, seed)
    text = f"""Run the perceptron from w = 0 with the learning rate 4: a mistake adds 4 y x to w. {IN_TURN}"""
    return (
        "A learning rate",
        text,
        {"X": X, "y": y},
        ("How many updates does it make?", model.mistakes_),
        ("What is the final w?", _whole(4.0 * model.coef_[0])),
    )


def _bias(number: int, seed: int) -> Draft:
    X, y, model = _points(number, seed, offset=5)
    text = f"""Keep w and b apart, both zero at the start. A row is a mistake if y (⟨w, x⟩ + b) ≤ 0; it
        adds y x to w, and 4 y to b (s = 2, s² = 4). {IN_TURN}"""
    return (
        "The intercept has its own step",
        text,
        {"X": X, "y": y},
        ("How many updates does it make?", model.mistakes_),
        ("What is the final w?", _whole(model.coef_[0])),
        ("What is the final b?", round(float(model.intercept_[0]))),
    )


def _own_point(number: int, seed: int) -> Draft:
    rng = np.random.default_rng([seed, number])
    w, x = rng.integers(-9, 10, 3), rng.integers(1, 7, 3)
    y = -1 if w @ x >= 0 else 1
    text = "The perceptron has the weights w. The row x with the label y is a mistake, and w is updated once."
    return (
        "An update and its own point",
        text,
        {"w": w, "x": x, "y": y},
        ("What is the signed score y⟨w, x⟩ before the update?", int(y * (w @ x))),
        ("What is it after the update?", int(y * (w @ x) + x @ x)),
    )


def _unit(number: int, seed: int) -> Draft:
    X, y, _ = _points(number, seed)
    model = _run(X, y, renormalise=True, max_updates=3, max_iter=3, trace=True)
    trace: Any = model.result_.trace
    text = """Scale w to length one after every update. Start at zero, and visit the rows in turn: the
        first mistake is row 0, because every score is zero."""
    asked = [
        (
            f"What is w after update {place}? Give two decimals at least.",
            trace.weights[place - 1].tolist(),
            0.006,
        )
        for place in (1, 2)
    ]
    return "Weights of length one", text, {"X": X, "y": y}, *asked


def _dual(number: int, seed: int) -> Draft:
    X, y, model = _points(number, seed)
    text = (
        f"""Run the dual form: start with a = 0, and add one to aᵢ if yᵢ ∑ⱼ aⱼ yⱼ ⟨xⱼ, xᵢ⟩ ≤ 0. {IN_TURN}"""
    )
    return (
        "The dual form",
        text,
        {"X": X, "y": y},
        ("What is the final a, row by row?", model.mistake_counts_.tolist()),
        ("How many steps are made, which is the sum of a?", model.mistakes_),
    )


def _classify(number: int, seed: int) -> Draft:
    X, y, model = _points(number, seed)
    new = np.random.default_rng([seed, number, 1]).integers(-6, 7, 2)
    score = round(float(model.coef_[0] @ new))
    text = "The dual form ended with the counts a. A new point arrives."
    return (
        "Classify with the counts",
        text,
        {"X": X, "y": y, "a": model.mistake_counts_, "new": new},
        ("What is the score of the new point?", score),
        ("What is its class, 1 or -1, if a score of zero means -1?", 1 if score > 0 else -1),
    )


def _program(number: int, seed: int) -> Draft:
    X, y, _ = _points(number, seed, n_rows=5)
    best = LinearProgram(form="dual", fit_intercept=False).fit(X, y)
    text = """Minimize the sum of a ≥ 0 subject to yᵢ ∑ⱼ aⱼ yⱼ ⟨xⱼ, xᵢ⟩ ≥ 1 for all rows i. Use any solver
        of linear programs."""
    asked = ("What is the smallest sum? Give four decimals at least.", float(best.objective_), 6e-5)
    return "The dual as a linear program", text, {"X": X, "y": y}, asked


def _two(number: int, seed: int) -> Draft:
    X, y, model = _points(number, seed)
    minus, plus = model.discriminators()[:, :-1]
    text = f"""Keep two vectors, w₊ and w₋, both zero at the start. A row of class 1 is a mistake if ⟨w₊,
        x⟩ ≤ ⟨w₋, x⟩; it adds x/2 to w₊ and takes x/2 from w₋. For class -1 the roles are exchanged.
        {IN_TURN}"""
    return (
        "Two discriminators",
        text,
        {"X": X, "y": y},
        ("What is the final w₊?", plus.tolist()),
        ("What is the final w₋?", minus.tolist()),
    )


def _three_classes(seed: int) -> tuple[Ints, Ints, Perceptron]:
    rng = np.random.default_rng([seed, 10])
    centers = np.array([[5, 1], [-4, 4], [-1, -6]])
    while True:
        y = rng.permutation(np.arange(9) % 3)
        X = centers[y] + rng.integers(-2, 3, (9, 2))
        model = _run(X, y, max_iter=100)
        if model.converged_ and 3 <= model.mistakes_ <= 16:
            return X, y, model


def _many(number: int, seed: int) -> Draft:
    X, y, model = _three_classes(seed)
    text = f"""Keep one vector per class, zero at the start. A row x of class y is a mistake if another
        class r has ⟨w_r, x⟩ ≥ ⟨w_y, x⟩; take the r with the largest score, the first of several. Add x to
        w_y, and subtract it from w_r. {IN_TURN}"""
    return (
        "Three classes",
        text,
        {"X": X, "y": y},
        ("How many updates are made?", model.mistakes_),
        ("What is the final vector of class 0?", _whole(2.0 * model.coef_[0])),
    )


def _error(number: int, seed: int) -> Draft:
    _, _, model = _three_classes(seed)
    rng = np.random.default_rng([seed, number])
    fresh, labels = rng.integers(-6, 7, (10, 2)), rng.integers(0, 3, 10)
    scores = fresh @ model.coef_.T
    text = """The three vectors of exercise 10, as the rows of W, classify new points: the class with the
        largest score wins, the first of several. The true classes are y_new."""
    return (
        "The error of several classes",
        text,
        {"W": np.rint(2.0 * model.coef_).astype(int), "X_new": fresh, "y_new": labels},
        ("How many of the new points are classified wrongly?", int((scores.argmax(axis=1) != labels).sum())),
    )


MAKERS: tuple[Callable[[int, int], Draft], ...] = (
    _first,
    _rate,
    _bias,
    _own_point,
    _unit,
    _dual,
    _classify,
    _program,
    _two,
    _many,
    _error,
)
