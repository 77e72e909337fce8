"""Several classes, each with a weight vector that wins on its rows."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ..errors import InputError
from .conditions import (
    BLOCK,
    ROOM,
    SLACK,
    Seed,
    check_count,
    check_length,
    of_length,
    place,
    row_width,
    scoring,
    uniform_in_ball,
)
from .problems import Floats, Ints, Multiclass


def make_multiclass(
    n_rows: int = 100,
    n_columns: int = 2,
    n_classes: int = 3,
    *,
    margin: float = 0.1,
    radius: float = 1.0,
    sparse: bool = False,
    density: float = 0.1,
    random_state: Seed = None,
) -> Multiclass:
    """Fill a ball with several classes that a known matrix of weights tells apart by a known margin.

    From zero weights and without intercept, the multiclass perceptron makes at most
    ``2 * (radius / margin)**2`` mistakes on these rows. Uniform points are labelled by the weight vector that
    wins, then drawn a little towards the point of the sphere where that vector wins most clearly, just enough
    for the margin: the cones of the classes move apart and stay filled.

    Parameters
    ----------
    n_rows : int
        At least ``n_classes + 2``. Each class has a row; their sizes are left to chance.
    n_columns : int
        At least 2 for more than two classes.
    n_classes : int
        At least 2. The weight vectors of up to ``n_columns + 1`` classes are the corners of a regular
        simplex, those of more classes the corners of a regular polygon in a random plane, neighbours being
        consecutive classes; many classes in few columns thus allow small margins only.
    margin : float
        Below ``radius * (1 - c) / sqrt(n_classes)``, c being the largest cosine between two weight vectors:
        -1 / (k - 1) for the simplex of k classes, cos(2 pi / k) for the polygon.
    radius : float
        The length of the longest row.
    sparse, density, random_state
        As in :func:`make_separable`; a sparse row stores at least as many entries as the weights span
        dimensions, and the rows at the margin or at the radius store no others.

    Returns
    -------
    Multiclass

    Notes
    -----
    ``margin`` is the margin of the weights returned, of Frobenius norm 1 and without intercept; other
    weights may have a larger one. In exact arithmetic the norm is at most 1 and at least 1 - 8 eps, no row
    beats a wrong class by less than ``margin``, the tight rows do by at most ``margin + 2 eps * radius``,
    and the row lengths are as in :func:`make_separable`.

    Examples
    --------
    >>> from separatrix.datasets import make_multiclass
    >>> problem = make_multiclass(500, 4, 3, margin=0.05, random_state=0)
    >>> scores = problem.X @ problem.weights.T
    >>> right = scores[np.arange(500), problem.y]
    >>> scores[np.arange(500), problem.y] = -np.inf
    >>> round(float((right - scores.max(axis=1)).min()), 12)
    0.05
    """
    check_count("n_classes", n_classes, 2, "one class alone needs no telling apart")
    check_count(
        "n_columns", n_columns, 1 if n_classes == 2 else 2, f"{n_classes} classes need this much space"
    )
    check_count("n_rows", n_rows, n_classes + 2, "one row for each class, and two at the margin")
    check_length("margin", margin, "Classes that are not apart are made by make_overlapping, two at a time.")
    check_length("radius", radius, "Scale the rows afterwards if they must be larger or smaller.")
    simplex = n_classes <= n_columns + 1
    cosine = -1 / (n_classes - 1) if simplex else math.cos(2 * math.pi / n_classes)
    reach = radius * (1 - cosine) / math.sqrt(n_classes)
    if not margin < reach * (1 - ROOM):
        raise InputError(
            f"margin is {margin:g}; {n_classes} classes in {n_columns} columns within radius {radius:g} "
            f"allow less than {reach:g}.",
            remedy=f"Lower margin, raise radius, or give n_columns >= {n_classes - 1}.",
            parameter="radius",
        )
    n_dimensions = n_classes - 1 if simplex else 2
    width, n_informative = row_width(n_columns, n_dimensions, n_dimensions, sparse, density)
    rng = np.random.default_rng(random_state)

    directions = _spread_directions(n_classes, n_dimensions, n_informative, width, rng)
    weights = of_length(directions, 1.0)
    rows, y = _fill_cones(n_rows, weights, directions, margin / reach, radius, rng)
    planted = rng.permutation(n_rows)[: n_classes + 2]
    corners, tight = planted[:n_classes], planted[n_classes:]
    y[corners] = np.arange(n_classes)
    rows[corners] = [of_length(direction, radius) for direction in directions]
    y[tight] = [0, 1]
    edge = (1 - margin / reach) * radius / 4 * (directions[0] + directions[1])
    for row, own, other in zip(tight, (0, 1), (1, 0), strict=True):
        difference = [Fraction(a) - Fraction(b) for a, b in zip(weights[own], weights[other], strict=True)]
        rows[row] = scoring(edge + margin / reach * radius * directions[own], difference, Fraction(margin))

    X, weights = place(rows, weights, n_informative, n_columns, tight, sparse, rng)
    return Multiclass(X, y, weights, float(margin), float(radius), tight)


def _spread_directions(
    n_classes: int, n_dimensions: int, n_informative: int, width: int, rng: np.random.Generator
) -> Floats:
    """Turn a regular simplex or polygon at random; one unit vector for each class."""
    if n_dimensions == n_classes - 1:
        # Columns: an orthonormal basis of the complement of (1, ..., 1). Rows: a regular simplex.
        basis = rng.standard_normal((n_classes, n_classes))
        basis[:, 0] = 1.0
        corners = np.linalg.qr(basis)[0][:, 1:] / math.sqrt(1 - 1 / n_classes)
    else:
        angles = 2 * math.pi * np.arange(n_classes) / n_classes
        corners = np.column_stack([np.cos(angles), np.sin(angles)])
    frame = np.linalg.qr(rng.standard_normal((n_informative, n_dimensions)))[0]
    directions = np.zeros((n_classes, width))
    directions[:, :n_informative] = corners @ frame.T
    return directions


def _fill_cones(
    n_rows: int, weights: Floats, directions: Floats, pull: float, radius: float, rng: np.random.Generator
) -> tuple[Floats, Ints]:
    """Label uniform points of the ball by the weights that win; pull each towards its class's corner.

    The scores are linear: a point that wins by 0 or more ends up winning by ``pull`` times the corner's own
    lead.
    """
    rows = np.empty((n_rows, weights.shape[1]))
    y = np.empty(n_rows, dtype=np.int64)
    top = radius * (1 - SLACK)
    # In proportion to the lead, as the rounding of a score is; the room left above covers it.
    pull += ROOM / 4
    for start in range(0, n_rows, BLOCK):
        block = rows[start : start + BLOCK]
        _, share = uniform_in_ball(block, directions[0], rng)
        winners = (block @ weights.T).argmax(axis=1)
        y[start : start + BLOCK] = winners
        block *= (share * (1 - pull) * top)[:, np.newaxis]
        block += (pull * top * directions)[winners]
    return rows, y
