"""By how much the output of a row's own class leads the best of the others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def leads(outputs: Floats, labels: NDArray[Any]) -> Floats:
    """The output of each row's own class less the largest other one; zero or less is an error.

    Parameters
    ----------
    outputs : ndarray of shape (rows, classes), or (rows, 1) for two classes
        A single output is that of class 1 over class 0: its lead is the signed output.
    labels : ndarray of shape (rows,)
        Class codes.
    """
    if outputs.shape[1] == 1:
        return np.asarray((2.0 * labels - 1.0) * outputs[:, 0])
    return np.asarray(outputs[np.arange(labels.size), labels] - _others(outputs, labels).max(axis=1))


def best_rivals(outputs: Floats, labels: NDArray[Any]) -> Ints:
    """The class with the largest output, the row's own left out; the first of equal ones."""
    return np.asarray(_others(outputs, labels).argmax(axis=1))


def _others(outputs: Floats, labels: NDArray[Any]) -> Floats:
    others = outputs.copy()
    others[np.arange(labels.size), labels] = -np.inf
    return others
