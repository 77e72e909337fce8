"""Prepared points: each shows one thing, with the settings that show it best."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec.structs import replace

from ... import datasets
from ...result import Floats
from ..api.answers import PresetAnswer
from ..api.requests import (
    GaussianBlock,
    PointData,
    PolynomialBlock,
    PresetRequest,
    RequestError,
    Settings,
)

PLAIN = Settings()
TWO = ("\N{MINUS SIGN}", "+")
COLUMNS = ("x", "y")


def preset(request: PresetRequest) -> PresetAnswer:
    """The points and settings of a name."""
    maker = PRESETS.get(request.name)
    if maker is None:
        raise RequestError("no_preset", f"There is no preset {request.name!r}.", name=request.name)
    data, settings, _ = maker()
    return PresetAnswer(data, settings)


def points(X: Any, y: Any, classes: tuple[str, ...] = TWO, columns: tuple[str, ...] = COLUMNS) -> PointData:
    """Arrays as the data of a request; labels are counted from 0 in their order."""
    table, codes = np.asarray(X, dtype=np.float64), np.unique(np.asarray(y), return_inverse=True)[1]
    return PointData(columns, classes, tuple(map(tuple, table.tolist())), tuple(codes.tolist()))


def rounded(X: Floats, parts: int = 64) -> Floats:
    """Coordinates as multiples of a power of 1/2, so that fractions in proofs stay short."""
    return np.round(X * parts) / parts


Made = tuple[PointData, Settings, dict[str, Any]]


def _separable() -> Made:
    problem = datasets.make_separable(40, margin=0.15, radius=2.0, intercept=True, random_state=3)
    return points(problem.X, problem.y), PLAIN, {"margin": problem.margin}


def _xor() -> Made:
    problem = datasets.make_xor()
    kernel = PolynomialBlock(2, 1.0)
    return points(problem.X, problem.y), replace(PLAIN, updates=60, kernel=kernel), {}


def _rings() -> Made:
    problem = datasets.make_rings(60, random_state=1)
    settings = replace(PLAIN, method="kernel", kernel=PolynomialBlock(2, 1.0))
    return points(rounded(problem.X), problem.y), settings, {}


def _spirals() -> Made:
    problem = datasets.make_spirals(120, turns=2.0, random_state=0)
    settings = replace(PLAIN, method="kernel", kernel=GaussianBlock(4.0))
    return points(rounded(2.0 * problem.X / np.abs(problem.X).max()), problem.y), settings, {}


def _smallest() -> Made:
    return points([[1.0, 0.0], [0.0, 1.0]], [1, 0]), replace(PLAIN, lift=False), {"updates": 2}


def _hull() -> Made:
    """Hulls far apart, and yet many mistakes: what counts is the margin of planes through the origin."""
    golden, height = (5.0**0.5 - 1.0) / 2.0, 0.01
    data = points([[1.0, height], [golden, -height]], [1, 0])
    return data, replace(PLAIN, lift=False), {"updates": 89}


def _orthonormal() -> Made:
    """The bound of Novikoff, met exactly: the signed rows are the five unit vectors."""
    signs = np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    columns = tuple(f"x{at}" for at in range(5))
    data = points(np.diag(signs), signs, columns=columns)
    return data, replace(PLAIN, lift=False), {"updates": 5}


def _iris() -> Made:
    from sklearn.datasets import load_iris

    loaded = load_iris()
    columns = ("petal length", "petal width")
    data = points(loaded.data[:, 2:4], loaded.target, tuple(map(str, loaded.target_names)), columns)
    return data, replace(PLAIN, updates=500), {}


def _tumours() -> Made:
    """The pair of standardized columns, of 435, on which the soft margin with C = 1 errs least: 23 of 569."""
    from sklearn.datasets import load_breast_cancer

    loaded = load_breast_cancer()
    names = [str(name) for name in loaded.feature_names]
    chosen = [names.index(name) for name in BEST_PAIR]
    table: Floats = loaded.data[:, chosen]
    scaled = rounded((table - table.mean(axis=0)) / table.std(axis=0), 4096)
    data = points(scaled, loaded.target, tuple(map(str, loaded.target_names)), BEST_PAIR)
    return data, replace(PLAIN, method="soft_margin", intercept="free"), {}


def _overlapping() -> Made:
    rng = np.random.default_rng(5)
    X = np.concatenate([rng.normal(-0.7, 0.8, (20, 2)), rng.normal(0.7, 0.8, (20, 2))])
    return points(rounded(X), np.repeat([0, 1], 20)), replace(PLAIN, updates=300), {}


def _three() -> Made:
    problem = datasets.make_multiclass(45, n_classes=3, margin=0.15, radius=2.0, random_state=2)
    return points(rounded(problem.X), problem.y, ("A", "B", "C")), PLAIN, {}


BEST_PAIR = ("worst perimeter", "worst smoothness")
PRESETS: dict[str, Callable[[], Made]] = {
    "separable": _separable,
    "overlapping": _overlapping,
    "xor": _xor,
    "rings": _rings,
    "spirals": _spirals,
    "three": _three,
    "smallest": _smallest,
    "hull": _hull,
    "orthonormal": _orthonormal,
    "iris": _iris,
    "tumours": _tumours,
}
