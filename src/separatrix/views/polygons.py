"""Regions of linear scores in a rectangle, exactly: polygons and segments cut out by half-planes."""

from __future__ import annotations

import numpy as np

from ..result import Floats


def box_corners(box: tuple[float, float, float, float]) -> Floats:
    """The corners of ``(left, right, bottom, top)``, counter-clockwise."""
    left, right, bottom, top = box
    return np.array([[left, bottom], [right, bottom], [right, top], [left, top]])


def clip(polygon: Floats, normal: Floats, offset: float) -> Floats:
    """The part of a convex polygon where ``<normal, p> + offset >= 0`` (Sutherland and Hodgman 1974).

    Examples
    --------
    >>> clip(box_corners((0, 2, 0, 1)), np.array([1.0, 0.0]), -1.0).tolist()
    [[1.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0]]
    """
    values = polygon @ normal + offset
    kept: list[Floats] = []
    for i in range(len(polygon)):
        j = (i + 1) % len(polygon)
        if values[i] >= 0.0:
            kept.append(polygon[i])
        if (values[i] > 0.0 > values[j]) or (values[i] < 0.0 < values[j]):
            share = values[i] / (values[i] - values[j])
            kept.append(polygon[i] + share * (polygon[j] - polygon[i]))
    return np.array(kept).reshape(-1, 2)


def class_polygon(
    weights: Floats, offsets: Floats, label: int, box: tuple[float, float, float, float], level: float = 0.0
) -> Floats:
    """Where a class leads every other by ``level`` or more."""
    polygon = box_corners(box)
    for other in range(len(weights)):
        if other != label and len(polygon):
            normal, offset = weights[label] - weights[other], offsets[label] - offsets[other] - level
            polygon = clip(polygon, normal, float(offset))
    return polygon


def border(
    weights: Floats,
    offsets: Floats,
    pair: tuple[int, int],
    box: tuple[float, float, float, float],
    level: float = 0.0,
) -> Floats:
    """The segment where the first of a pair leads the second by ``level`` and all others by at least that.

    Returns
    -------
    ndarray of shape (2, 2) or (0, 2)
    """
    first, second = pair
    normal = weights[first] - weights[second]
    offset = float(offsets[first] - offsets[second]) - level
    size = float(normal @ normal)
    if not size > 0.0:
        return np.empty((0, 2))
    left, right, bottom, top = box
    middle = np.array([(left + right) / 2.0, (bottom + top) / 2.0])
    foot = middle - normal * (float(normal @ middle) + offset) / size
    along = np.array([-normal[1], normal[0]]) / np.sqrt(size)
    sides = [(np.array([1.0, 0.0]), -left), (np.array([-1.0, 0.0]), right)]
    sides += [(np.array([0.0, 1.0]), -bottom), (np.array([0.0, -1.0]), top)]
    sides += [
        (weights[first] - weights[other], float(offsets[first] - offsets[other]) - level)
        for other in range(len(weights))
        if other not in pair
    ]
    start, end = -np.inf, np.inf
    for side, shift in sides:
        slope, value = float(side @ along), float(side @ foot) + shift
        if slope > 0.0:
            start = max(start, -value / slope)
        elif slope < 0.0:
            end = min(end, -value / slope)
        elif value < 0.0:
            return np.empty((0, 2))
    return np.array([foot + start * along, foot + end * along]) if start < end else np.empty((0, 2))
