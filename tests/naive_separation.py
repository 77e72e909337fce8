"""Separation by enumeration in fractions: slow, short and exact. The referee of verdicts on a few small rows.

The cone of directions ``Zd >= 0`` is spanned by its extreme rays and by the d with ``Zd = 0``. A ray is the
null vector of some rows of Z whose rank is one less than that of Z: trying all sets of rows finds them all.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations


def signed_rows(X, y, lift=True):
    """Two classes: the row or minus it. More: a row for each wrong class, the last class as reference."""
    classes, found = sorted(set(y)), []
    for x, label in zip(X, y, strict=True):
        row = [Fraction(v) for v in x] + [Fraction(1)] * lift
        if len(classes) == 2:
            found.append([v if label == classes[1] else -v for v in row])
            continue
        for rival in classes:
            if rival != label:
                signs = [(c == label) - (c == rival) for c in classes[:-1]]
                found.append([sign * v for sign in signs for v in row])
    return found


def null_space(rows, width):
    """A basis of the vectors orthogonal to all rows, by Gauss and Jordan."""
    rows, pivots = [list(row) for row in rows], []
    for j in range(width):
        at = len(pivots)
        found = next((i for i in range(at, len(rows)) if rows[i][j]), None)
        if found is None:
            continue
        rows[at], rows[found] = rows[found], rows[at]
        rows[at] = [v / rows[at][j] for v in rows[at]]
        for i in range(len(rows)):
            if i != at and rows[i][j]:
                rows[i] = [a - rows[i][j] * b for a, b in zip(rows[i], rows[at], strict=True)]
        pivots.append(j)
    basis = []
    for free in (j for j in range(width) if j not in pivots):
        vector = [Fraction(0)] * width
        vector[free] = Fraction(1)
        for i, j in enumerate(pivots):
            vector[j] = -rows[i][free]
        basis.append(vector)
    return basis


def product(row, vector):
    return sum(a * b for a, b in zip(row, vector, strict=True))


def extreme_rays(Z, width):
    """Directions with ``Zd >= 0`` that span all of them together with those where it is zero."""
    null = null_space(Z, width)
    rank = width - len(null)
    rays = []
    for some in combinations(Z, max(0, rank - 1)):
        fixed = null_space(
            [*some, *null], width
        )  # orthogonal to the null space: one of each class of directions
        for vector in fixed if len(fixed) == 1 else []:
            for sign in (1, -1):
                ray = [sign * v for v in vector]
                if all(product(row, ray) >= 0 for row in Z):
                    rays.append(ray)
    return rays


def separation(X, y, lift=True):
    """The status, which signed rows are strict, and what becomes of each coefficient."""
    Z = signed_rows(X, y, lift)
    width = len(Z[0])
    null, rays = null_space(Z, width), extreme_rays(Z, width)
    strict = [any(product(row, ray) > 0 for ray in rays) for row in Z]
    status = "separable" if all(strict) else "quasi-separable" if any(strict) else "overlapping"
    answers = []
    for j in range(width):
        down, up = any(ray[j] < 0 for ray in rays), any(ray[j] > 0 for ray in rays)
        if any(vector[j] for vector in null):
            answers.append("not identified")
        elif down and up:
            answers.append("not determined")
        else:
            answers.append("+infinity" if up else "-infinity" if down else "finite")
    return status, strict, answers
