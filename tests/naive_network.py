"""Slow and obvious versions for networks: exact lists of half-spaces, and the fewest units there can be."""

import itertools
from fractions import Fraction

import numpy as np


def fires(weights, x):
    """Whether <w, (x, 1)> > 0, in fractions."""
    return sum(Fraction(w) * Fraction(v) for w, v in zip(weights, [*x, 1], strict=True)) > 0


def labels(units, default, X):
    """The class of the first unit that fires on each row."""
    return [next((label for w, label in units if fires(w, x)), default) for x in np.asarray(X).tolist()]


def cuts(X):
    """Every set of points of the plane, as a bit mask, that an open half-plane can hold.

    Of the points that a half-plane holds, one can move its border until it passes through two points, or all
    points are level; the points on the border are then cut at a place along it.
    """
    points = [tuple(map(Fraction, x)) for x in np.asarray(X).tolist()]
    n = len(points)
    found = {0, (1 << n) - 1}
    for p, q in itertools.permutations(range(n), 2):
        along = (points[q][0] - points[p][0], points[q][1] - points[p][1])
        if along == (0, 0):
            continue
        side = [along[0] * (y - points[p][1]) - along[1] * (x - points[p][0]) for x, y in points]
        place = [along[0] * x + along[1] * y for x, y in points]
        left = sum(1 << i for i in range(n) if side[i] > 0)
        border = [i for i in range(n) if side[i] == 0]
        found |= {left, left | sum(1 << i for i in border)}
        for cut in {place[i] for i in border}:
            found.add(left | sum(1 << i for i in border if place[i] > cut))
            found.add(left | sum(1 << i for i in border if place[i] >= cut))
            found.add(left | sum(1 << i for i in border if place[i] < cut))
            found.add(left | sum(1 << i for i in border if place[i] <= cut))
    return found


def fewest_units(X, codes):
    """The smallest number of half-planes in a list that gives every point of the plane its class."""
    n, codes = len(codes), np.asarray(codes).tolist()
    classes = [sum(1 << i for i in range(n) if codes[i] == c) for c in sorted(set(codes))]
    half_planes = cuts(X)

    def one_class(left):
        return any(not left & ~own for own in classes)

    def next_left(left):
        """What a unit may leave: it holds points of one class only, of those that are left."""
        taken = {left & each for each in half_planes}
        taken = {each for each in taken if each and one_class(each)}
        largest = {each for each in taken if not any(each != other and not each & ~other for other in taken)}
        return {left & ~each for each in largest}

    level, units = {(1 << n) - 1}, 0
    while not any(one_class(left) for left in level):
        level, units = set().union(*map(next_left, level)), units + 1
    return units
