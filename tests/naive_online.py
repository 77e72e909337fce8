"""Slow and obvious versions of the online learners: one signed row and one step at a time."""

import numpy as np

from tests.naive import kesler_rows, score


def passive_aggressive(X, codes, *, variant, C, n_classes=2, lift=True, orders):
    """Visit the rows as each order says; return the weights, the mistakes and the sum of squared losses."""
    faces = kesler_rows(X, codes, n_classes, lift)
    w, mistakes, squares = np.zeros(next(iter(faces[0].values())).shape), 0, 0.0
    for order in orders:
        for i in order:
            s, rival = score(faces[i], w)
            z, loss = faces[i][rival], max(0.0, 1.0 - s)
            mistakes, squares = mistakes + (s <= 0), squares + loss**2
            size = np.sum(z * z)
            if loss == 0.0 or (size == 0.0 and variant != "PA-II"):
                continue
            step = loss / (size + 1.0 / (2.0 * C)) if variant == "PA-II" else loss / size
            w = w + (min(C, step) if variant == "PA-I" else step) * z
    return w, mistakes, squares


def winnow(X, codes, *, eta0, n_classes=2, lift=True, orders):
    """Keep the weights of the columns of z and of -z; return them, normalized, and the mistakes."""
    faces = kesler_rows(X, codes, n_classes, lift)
    shape = next(iter(faces[0].values())).shape
    up, down = np.full(shape, 0.5 / np.prod(shape)), np.full(shape, 0.5 / np.prod(shape))
    mistakes = 0
    for order in orders:
        for i in order:
            s, rival = score(faces[i], up - down)
            if s <= 0:
                z = faces[i][rival]
                up, down = up * np.exp(eta0 * z), down * np.exp(-eta0 * z)
                total = up.sum() + down.sum()
                up, down, mistakes = up / total, down / total, mistakes + 1
    return up - down, mistakes
