"""Networks of perceptrons: accuracy beside a tree, a trained network and a kernel; units until no error.

``python -m benchmarks.networks --data DIR`` prints two tables in Markdown. A set that DIR does not have is
left out. Every model has seed 0 and default settings, except the width of the kernel: c = 1 / columns.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import separatrix as sx

FOLDS, SHUFFLES = 5, 4
MODELS: dict[str, Callable[[int], Any]] = {
    "network": lambda _: sx.PerceptronNetwork(inseparable="warn"),
    "with validation_fraction=0.2": lambda _: sx.PerceptronNetwork(
        inseparable="warn", validation_fraction=0.2
    ),
    "tree": lambda _: DecisionTreeClassifier(random_state=0),
    "MLPClassifier": lambda _: MLPClassifier(random_state=0),
    "KernelPerceptron": lambda width: sx.KernelPerceptron(
        kernel=sx.kernels.Gaussian(c=1.0 / width), random_state=0
    ),
}


def sets(directory: Path) -> Iterator[tuple[str, Any, Any]]:
    """Yield the real sets that the directory has: names, rows without missing values, and labels."""
    for name, target in (
        ("Sonar", "Class"),
        ("Ionosphere", "Class"),
        ("PimaIndiansDiabetes", "diabetes"),
        ("BreastCancer", "Class"),
    ):
        path = directory / "small" / f"{name}.csv"
        if path.exists():
            frame = pd.read_csv(path).dropna()
            yield name, frame.drop(columns=[target, "Id"], errors="ignore").to_numpy(float), frame[target]
    path = directory / "spambase" / "spambase.data"
    if path.exists():
        values = pd.read_csv(path, header=None).to_numpy(float)
        values = values[np.random.default_rng(0).permutation(len(values))[:1000]]
        yield "spambase, 1,000 rows", values[:, :-1], values[:, -1]
    path = directory / "usps" / "usps.train.npz"
    if path.exists():
        with np.load(path) as file:
            kept = np.isin(file["y"], (3, 5))
            yield "USPS 3 and 5", file["X"][kept][:600].astype(float), file["y"][kept][:600]


def accuracies(X: Any, y: Any) -> list[float]:
    """Return the mean accuracy of each model by repeated cross-validation, on standardized columns."""
    splits = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=SHUFFLES, random_state=0)
    return [
        float(
            cross_val_score(
                make_pipeline(StandardScaler(), make(X.shape[1])), X, np.asarray(y), cv=splits
            ).mean()
        )
        for make in MODELS.values()
    ]


def units() -> Iterator[tuple[str, int, int]]:
    """Yield curved problems with their number of rows, and the units of the network without an error."""
    for name, make in (
        ("rings", sx.datasets.make_rings),
        ("checkerboard", sx.datasets.make_checkerboard),
        ("spirals", sx.datasets.make_spirals),
    ):
        for n_rows in (100, 400):
            X, y = make(n_rows, random_state=0)
            model = sx.PerceptronNetwork().fit(X, y)
            assert model.errors_ == 0
            assert sx.verify(model.certificate_, X, y)
            yield name, n_rows, len(model.units_)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.networks", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "--data", type=Path, metavar="DIR", required=True, help="directory with the real sets"
    )
    directory = parser.parse_args().data
    warnings.simplefilter("ignore")
    print(f"| set | {' | '.join(MODELS)} | units |", "|---" * (len(MODELS) + 2) + "|", sep="\n", flush=True)
    for name, X, y in sets(directory):
        found = " | ".join(f"{share:.3f}" for share in accuracies(X, y))
        whole = sx.PerceptronNetwork(inseparable="warn").fit(StandardScaler().fit_transform(X), y)
        print(f"| {name}, {X.shape[0]:,} x {X.shape[1]} | {found} | {len(whole.units_)} |", flush=True)
    print("\n| problem | rows | units |", "|---|---|---|", sep="\n")
    for name, n_rows, size in units():
        print(f"| {name} | {n_rows} | {size} |", flush=True)


if __name__ == "__main__":
    main()
