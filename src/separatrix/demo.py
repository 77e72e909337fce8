"""A short tour on the terminal: one real data set, and what a person wants to know about it."""

from __future__ import annotations

import math
import sys

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from .estimators.linear import Perceptron

BAR = 24


def main() -> None:
    """Fit scikit-learn's breast-cancer data and print what was found."""
    data = load_breast_cancer()
    X = StandardScaler().fit_transform(data.data)
    y = data.target_names[data.target]
    model = Perceptron(max_passes=5000).fit(X, y)
    classes = " or ".join(model.classes_)
    print(f"Breast cancer: {X.shape[0]} tumours, {X.shape[1]} measurements each, {classes}", end="\n\n")
    for part in (_verdict(model), _proof(model), _hardest(model, y), _weights(model, data.feature_names)):
        print(part, end="\n\n")


def _verdict(model: Perceptron) -> str:
    result = model.result_
    answer = "Separated" if model.converged_ else "Not separated"
    return (
        f"{answer}. {result.status.value}\n"
        f"  errors on the training rows   {result.errors}\n"
        f"  mistakes corrected            {model.mistakes_:,}\n"
        f"  times all rows were read      {model.n_passes_:,}"
    )


def _proof(model: Perceptron) -> str:
    result = model.result_
    lines = [
        "The margin, and what the theorem says",
        f"  longest row R                 {result.radius:.4g}",
        f"  best margin is between        {result.margin_lower:.3g} and {result.margin_upper:.3g}",
    ]
    if result.margin_lower > 0.0:
        low, high = ((result.radius / m) ** 2 for m in (result.margin_upper, result.margin_lower))
        lines.append(f"  Novikoff's bound is           (R / best margin)^2, between {low:.3g} and {high:.3g}")
    return "\n".join(lines)


def _hardest(model: Perceptron, y: np.ndarray) -> str:
    counts = model.mistake_counts_
    lines = [f"The hardest rows ({np.count_nonzero(counts)} of {counts.size} were ever corrected)"]
    lines += [
        f"  row {row:<4} {y[row]:<10} {counts[row]:>9,} times {_bar(counts[row] / counts.max())}"
        for row in np.argsort(-counts, kind="stable")[:5]
    ]
    return "\n".join(lines)


def _weights(model: Perceptron, names: np.ndarray) -> str:
    weights = model.coef_[0] / np.linalg.norm(model.coef_)
    lines = [f"The largest weights (towards {model.classes_[1]} if positive)"]
    lines += [
        f"  {names[j]:<26} {weights[j]:>+7.3f} {_bar(abs(weights[j]) / np.abs(weights).max())}"
        for j in np.argsort(-np.abs(weights))[:8]
    ]
    return "\n".join(lines)


def _bar(share: float) -> str:
    block = "█" if (sys.stdout.encoding or "").lower().startswith("utf") else "#"
    return block * max(1, math.ceil(BAR * share))


if __name__ == "__main__":
    main()
