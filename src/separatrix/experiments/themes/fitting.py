"""The models that several experiments fit."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...errors import ConvergenceWarning
from ...estimators.linear import Perceptron


def perceptron(X: Any, y: Any, **options: Any) -> Perceptron:
    """Fit a perceptron through the origin; by default it visits the rows in turn until it is done."""
    settings = {"order": "cyclic", "fit_intercept": False, "max_iter": 10**6, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the caller reads converged_
        return Perceptron(**settings).fit(X, y)


def geometric_margin(weights: np.ndarray, signed: np.ndarray) -> float:
    """Return the smallest score of the signed rows, for weights of length one."""
    return float((signed @ weights).min() / np.linalg.norm(weights))
