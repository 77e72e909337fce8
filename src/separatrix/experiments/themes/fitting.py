"""What several experiments fit."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...errors import ConvergenceWarning
from ...estimators.linear import Perceptron

PASSES = 1_000_000  # more than any run here needs: a limit would spoil the count


def perceptron(X: Any, y: Any, **options: Any) -> Perceptron:
    """A perceptron through the origin; it visits the rows in turn until it is done, if not told otherwise."""
    settings = {"order": "cyclic", "fit_intercept": False, "max_iter": PASSES, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the caller reads converged_
        return Perceptron(**settings).fit(X, y)


def geometric_margin(weights: np.ndarray, signed: np.ndarray) -> float:
    """The smallest score of the signed rows, for weights of length one."""
    return float((signed @ weights).min() / np.linalg.norm(weights))
