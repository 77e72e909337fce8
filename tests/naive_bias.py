"""The perceptron that keeps w and b apart, written from the exercise: w <- w + y x, b <- b + y s^2."""

from __future__ import annotations

import numpy as np


def perceptron(X, signs, s, *, passes):
    """Visit the rows in turn; return w, b and how often each row was corrected."""
    w, b, counts = np.zeros(X.shape[1]), 0.0, np.zeros(len(X), dtype=int)
    for _ in range(passes):
        before = counts.sum()
        for i, (x, y) in enumerate(zip(X, signs, strict=True)):
            if y * (w @ x + b) <= 0:
                w, b = w + y * x, b + y * s**2
                counts[i] += 1
        if counts.sum() == before:
            break
    return w, b, counts


def bound(radius, margin, offset, s):
    """The bound that contains s: (R^2 + s^2) (1 + b^2 / s^2) / margin^2."""
    return (radius**2 + s**2) * (1 + offset**2 / s**2) / margin**2
