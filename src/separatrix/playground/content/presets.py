"""Prepared points: each shows one thing, with the settings that show it best."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec.structs import replace

from ... import datasets
from ...result import Floats
from ..api import requests as asked
from ..api.answers import PresetAnswer
from ..api.requests import PointData, Settings

PLAIN = Settings()
TWO = ("\N{MINUS SIGN}", "+")
COLUMNS = ("x", "y")


def points(X: Any, y: Any, classes: tuple[str, ...] = TWO, columns: tuple[str, ...] = COLUMNS) -> PointData:
    """Return arrays as the data of a request; labels are counted from 0 in their order."""
    table, codes = np.asarray(X, dtype=np.float64), np.unique(np.asarray(y), return_inverse=True)[1]
    return PointData(columns, classes, tuple(map(tuple, table.tolist())), tuple(codes.tolist()))


def rounded(X: Floats, parts: int = 64) -> Floats:
    """Round coordinates to multiples of a power of 1/2, so that fractions in proofs stay short."""
    return np.round(X * parts) / parts


def _separable() -> PresetAnswer:
    problem = datasets.make_separable(40, margin=0.15, radius=2.0, intercept=True, random_state=3)
    return PresetAnswer(points(rounded(problem.X), problem.y), PLAIN)


def _xor() -> PresetAnswer:
    problem = datasets.make_xor()
    kernel = asked.PolynomialBlock(2, 1.0)
    return PresetAnswer(points(problem.X, problem.y), replace(PLAIN, updates=60, kernel=kernel))


def _rings() -> PresetAnswer:
    problem = datasets.make_rings(60, random_state=1)
    settings = replace(PLAIN, method="kernel", kernel=asked.PolynomialBlock(2, 1.0))
    return PresetAnswer(points(rounded(problem.X), problem.y), settings)


def _spirals() -> PresetAnswer:
    problem = datasets.make_spirals(120, turns=2.0, random_state=0)
    settings = replace(PLAIN, method="kernel", kernel=asked.GaussianBlock(4.0))
    return PresetAnswer(points(rounded(2.0 * problem.X / np.abs(problem.X).max()), problem.y), settings)


def _smallest() -> PresetAnswer:
    return PresetAnswer(points([[1.0, 0.0], [0.0, 1.0]], [1, 0]), replace(PLAIN, lift=False))


def _hull() -> PresetAnswer:
    """Return distant hulls with many mistakes: the margin of lines through the origin decides."""
    golden, height = (5.0**0.5 - 1.0) / 2.0, 0.01
    data = points([[1.0, height], [golden, -height]], [1, 0])
    return PresetAnswer(data, replace(PLAIN, lift=False))


def _orthonormal() -> PresetAnswer:
    """Return rows that reach Novikoff's bound exactly: the signed rows are the five unit vectors."""
    signs = np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    columns = tuple(f"x{at}" for at in range(5))
    data = points(np.diag(signs), signs, columns=columns)
    return PresetAnswer(data, replace(PLAIN, lift=False))


def _iris() -> PresetAnswer:
    from sklearn.datasets import load_iris

    loaded = load_iris()
    columns = ("petal length (mm)", "petal width (mm)")
    data = points(
        np.round(10.0 * loaded.data[:, 2:4]), loaded.target, tuple(map(str, loaded.target_names)), columns
    )
    return PresetAnswer(data, replace(PLAIN, updates=500))


def _tumours() -> PresetAnswer:
    """Return the two columns on which the soft margin with C = 1 has the fewest errors: 23 of 569 rows."""
    from sklearn.datasets import load_breast_cancer

    loaded = load_breast_cancer()
    names = [str(name) for name in loaded.feature_names]
    chosen = [names.index(name) for name in BEST_PAIR]
    table: Floats = loaded.data[:, chosen]
    scaled = rounded((table - table.mean(axis=0)) / table.std(axis=0), 4096)
    data = points(scaled, loaded.target, tuple(map(str, loaded.target_names)), BEST_PAIR)
    return PresetAnswer(data, replace(PLAIN, method="soft_margin", intercept="free"))


def _overlapping() -> PresetAnswer:
    rng = np.random.default_rng(5)
    X = np.concatenate([rng.normal(-0.7, 0.8, (20, 2)), rng.normal(0.7, 0.8, (20, 2))])
    return PresetAnswer(points(rounded(X), np.repeat([0, 1], 20)), replace(PLAIN, updates=300))


def _three() -> PresetAnswer:
    problem = datasets.make_multiclass(45, n_classes=3, margin=0.15, radius=2.0, random_state=2)
    return PresetAnswer(points(rounded(problem.X), problem.y, ("A", "B", "C")), PLAIN)


BEST_PAIR = ("worst perimeter", "worst smoothness")
_MAKERS = (
    *(_separable, _overlapping, _xor, _rings, _spirals, _three),
    *(_smallest, _hull, _orthonormal),
    *(_iris, _tumours),
)
PRESETS: dict[str, Callable[[], PresetAnswer]] = {
    maker.__name__.removeprefix("_"): maker for maker in _MAKERS
}
