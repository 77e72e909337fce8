"""Classes that a hyperplane separates by a known margin, or a proof that no hyperplane does."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from .conditions import (
    ROOM,
    SLACK,
    Seed,
    balanced_signs,
    blocks,
    check,
    check_count,
    check_length,
    of_length,
    scoring,
    uniform_in_ball,
    unit_vector,
)
from .problems import Floats, Ints, Problem

__all__ = ["make_multiclass", "make_overlapping", "make_quasi_separable", "make_separable"]


def make_separable(
    n_rows: int = 100,
    n_columns: int = 2,
    *,
    margin: float = 0.1,
    radius: float = 1.0,
    intercept: bool | float = False,
    random_state: Seed = None,
) -> Problem:
    """Fill a ball with two classes on either side of a known hyperplane, at a known distance from it.

    The margin and the longest row bound the number of mistakes of the perceptron. Here both are known and
    attained, so a run can be compared with its bound: from zero weights, with a hyperplane through the
    origin, there are at most ``(radius / margin)**2`` mistakes without intercept, and at most ``(radius**2 +
    1) / margin**2`` with one. Each class fills its side of the ball. The more columns there are, the closer
    most rows are to the hyperplane.

    Parameters
    ----------
    n_rows : int
        At least 3. The classes differ in size by one row at most.
    n_columns : int
    margin : float
        The distance between the hyperplane and the nearest row of each class.
    radius : float
        The length of the longest row.
    intercept : bool or float
        False: the hyperplane passes through the origin. True: it is moved along its normal at random, by at
        most half of what the ball allows. A number: this offset, also if it is 0 or 1.
        ``margin + abs(offset)`` must be below ``radius``.
    random_state : int, numpy Generator or None

    Returns
    -------
    Problem

    Notes
    -----
    *Which margin.* ``margin`` is the largest affine margin: half the distance between the two convex hulls.
    The tight rows prove it: one is on each side, and the segment between them is normal to the hyperplane and
    2 ``margin`` long. With no intercept it is also the largest margin of hyperplanes through the origin and
    in lifted coordinates ``(x, 1)``, because the mean of the two signed tight rows is ``margin * (u, 0)``.
    With an offset b the largest lifted margin is another number, between ``margin / sqrt(1 + b**2)`` and
    ``margin``.

    *How exact.* In exact arithmetic, ``|u|`` is at most 1 and at least 1 - 8 eps; no row is longer than
    ``radius`` and one is not shorter than ``radius * (1 - 8 eps)``; no row scores below ``margin``; the tight
    rows score at most ``margin + eps * radius``; and half the distance between them, the upper bound on any
    margin, is at most ``margin + 4 eps * radius``. A score that is computed in floats has an additional
    rounding error.

    Examples
    --------
    >>> from separatrix.datasets import make_separable
    >>> problem = make_separable(1000, 5, margin=0.01, random_state=0)
    >>> scores = problem.y * (problem.X @ problem.weights)
    >>> round(float(scores.min()), 12), int((scores < 0.0101).sum()) >= 2
    (0.01, True)
    >>> X, y = problem
    >>> X.shape, sorted(set(y.tolist()))
    ((1000, 5), [-1, 1])
    """
    check_count("n_rows", n_rows, 3, "one row of each class at the margin and one at the radius")
    check_count("n_columns", n_columns, 1, "a hyperplane needs at least one dimension")
    check_length("margin", margin)
    check_length("radius", radius)
    offset_given = not isinstance(intercept, (bool, np.bool_))
    reserved = abs(float(intercept)) if offset_given else 0.0
    limit = radius * (1 - ROOM) - reserved
    check("margin", margin, margin < limit, f"below {limit:.12g}, or no row fits between plane and sphere")
    rng = np.random.default_rng(random_state)
    if offset_given:
        offset = float(intercept)
    else:
        offset = float(rng.uniform(-0.5, 0.5) * (radius - margin)) if intercept else 0.0

    u = unit_vector(n_columns, rng)
    y = balanced_signs(n_rows, rng)
    rows = _fill_caps(y, u, offset, margin, radius, rng)
    tight = np.array([rng.choice(np.flatnonzero(y == sign)) for sign in (1, -1)])
    rows[tight] = _tight_pair(u, offset, margin, radius, rng)
    longest = rng.choice(np.setdiff1d(np.arange(n_rows), tight))
    rows[longest] = _stretched(rows[longest], int(y[longest]), u, radius)

    return Problem(rows, y, u, offset, float(margin), float(radius), tight)


def make_overlapping(
    n_rows: int = 100,
    n_columns: int = 2,
    *,
    noise: float = 0.1,
    radius: float = 1.0,
    n_witnesses: int | None = None,
    random_state: Seed = None,
) -> Problem:
    """Fill a ball with two classes that no hyperplane separates, and say which rows prove it.

    A hyperplane through the origin gives the labels, a share of them is flipped, and a few rows are placed so
    that the convex hulls of the classes meet in a point: two crossing segments in two dimensions, two
    crossing triangles in four. With ``noise=0`` only these few rows prevent a separation.

    Parameters
    ----------
    n_rows : int
        At least as many as there are witnesses. The classes are of about equal size.
    n_columns : int
    noise : float
        The share of the rows, except the witnesses, whose label is flipped; between 0 and 1.
    radius : float
        No row is longer than this.
    n_witnesses : int, optional
        The number of rows that prove it: 2 for one point in both classes, at most ``n_columns + 2``. By
        default 6, or the most that is allowed.
    random_state : int, numpy Generator or None

    Returns
    -------
    Problem

    Notes
    -----
    The coordinates of the witnesses are multiples of a power of two, so that the weighted sum of their signed
    rows is computed without rounding, in floats and in any order. It is zero, with and without the lift. So
    by Gordan's theorem no hyperplane separates the rows, with or without an intercept. A few witnesses do not
    tell whether the rows overlap or are quasi-separable (some hyperplane has no row on the wrong side, and
    not all rows on it). ``n_columns + 2`` witnesses are in general position and span the space: then the rows
    overlap in the strict sense (Stiemke).

    Examples
    --------
    >>> from separatrix.datasets import make_overlapping
    >>> problem = make_overlapping(50, 3, random_state=0)
    >>> rows, multipliers = problem.witness_rows, problem.witness_weights
    >>> (multipliers * problem.y[rows]) @ problem.X[rows]
    array([0., 0., 0.])
    >>> int(multipliers @ problem.y[rows]), bool((multipliers > 0).all())
    (0, True)
    """
    check_count("n_columns", n_columns, 1, "a hyperplane needs at least one dimension")
    check_length("radius", radius)
    check("noise", noise, 0 <= noise <= 1, "from 0 to 1, the share of labels to flip")
    most = n_columns + 2
    count = min(6, most) if n_witnesses is None else operator.index(n_witnesses)
    check("n_witnesses", count, 2 <= count <= most, f"from 2 to {most}, the number of columns plus two")
    check_count("n_rows", n_rows, count, f"the proof alone takes {count} rows")
    rng = np.random.default_rng(random_state)

    u = unit_vector(n_columns, rng)
    y = balanced_signs(n_rows, rng)
    rows = _fill_caps(y, u, 0.0, 0.0, radius, rng)
    sides = {1: (count + 1) // 2, -1: count // 2}
    witnesses = np.concatenate(
        [rng.choice(np.flatnonzero(y == sign), size, replace=False) for sign, size in sides.items()]
    )
    rows[witnesses], multipliers = _crossing(list(sides.values()), n_columns, radius, rng)
    others = np.setdiff1d(np.arange(n_rows), witnesses)
    flipped = np.sort(rng.choice(others, round(noise * others.size), replace=False))
    y[flipped] *= -1

    return Problem(
        rows,
        y,
        weights=u,
        radius=float(radius),
        flipped_rows=flipped,
        witness_rows=witnesses,
        witness_weights=multipliers,
    )


def make_quasi_separable(
    n_rows: int = 100,
    n_columns: int = 2,
    *,
    margin: float = 0.1,
    radius: float = 1.0,
    random_state: Seed = None,
) -> Problem:
    """Fill a ball with two classes that touch in a hyperplane, where their convex hulls cross.

    No hyperplane separates the rows, but one has no row on the wrong side, and at least one row strictly on
    the right side. Maximum likelihood has no finite estimate of a logistic regression on such rows.

    Parameters
    ----------
    n_rows : int
        At least ``n_columns + 2``.
    n_columns : int
    margin : float
        The distance of the rows that are not on the hyperplane from it, at least.
    radius : float
        No row is longer than this.
    random_state : int, numpy Generator or None

    Returns
    -------
    Problem
        The normal is a unit vector along one column, the margin is zero, and the witnesses are the rows on
        the hyperplane.

    Notes
    -----
    The hyperplane is ``x_j = 0`` for a random column j, so that rows are on it exactly. Its
    ``n_columns + 1`` rows have positive multipliers with which their signed rows sum to zero (as in
    :func:`make_overlapping`), so no hyperplane does better on these (Tucker 1956).

    Examples
    --------
    >>> import separatrix as sx
    >>> problem = sx.datasets.make_quasi_separable(20, random_state=0)
    >>> sx.separability(problem.X, problem.y).status
    'quasi-separable'
    """
    check_count("n_columns", n_columns, 1, "a hyperplane needs at least one dimension")
    check_count("n_rows", n_rows, n_columns + 2, "the rows on the hyperplane, and one that is not on it")
    check_length("margin", margin)
    check_length("radius", radius)
    check("margin", margin, margin < radius * (1 - ROOM), f"below {radius:.12g}, the radius")
    rng = np.random.default_rng(random_state)
    column, u = int(rng.integers(n_columns)), np.zeros(n_columns)
    u[column] = rng.choice([-1.0, 1.0])
    y = balanced_signs(n_rows, rng)
    sides = {1: (n_columns + 2) // 2, -1: (n_columns + 1) // 2}
    witnesses = np.concatenate(
        [rng.choice(np.flatnonzero(y == sign), size, replace=False) for sign, size in sides.items()]
    )
    rows = _fill_caps(y, u, 0.0, margin, radius, rng)
    if n_columns == 1:
        crossing, multipliers = np.zeros((2, 0)), np.ones(2, dtype=np.int64)
    else:
        crossing, multipliers = _crossing(list(sides.values()), n_columns - 1, radius, rng)
    rows[witnesses] = np.insert(crossing, column, 0.0, axis=1)
    return Problem(rows, y, u, 0.0, 0.0, float(radius), witness_rows=witnesses, witness_weights=multipliers)


def make_multiclass(
    n_rows: int = 100,
    n_columns: int = 2,
    n_classes: int = 3,
    *,
    margin: float = 0.1,
    radius: float = 1.0,
    random_state: Seed = None,
) -> Problem:
    """Fill a ball with several classes that a known matrix of weights separates by a known margin.

    From zero weights and without intercept, the multiclass perceptron makes at most
    ``2 * (radius / margin)**2`` mistakes on these rows. Uniform points are labeled by the weight vector that
    wins, then pulled toward the point of the sphere where that vector wins most clearly, just enough for the
    margin: the cones of the classes move apart and stay filled.

    Parameters
    ----------
    n_rows : int
        At least ``n_classes + 2``. Each class has at least one row; the sizes are random.
    n_columns : int
        At least 2 for more than two classes.
    n_classes : int
        At least 2. The weight vectors of up to ``n_columns + 1`` classes are the corners of a regular
        simplex. Those of more classes are the corners of a regular polygon in a random plane, where neighbors
        are consecutive classes, and the margin has to be small.
    margin : float
        Below ``radius * (1 - c) / sqrt(n_classes)``, where c is the largest cosine between two weight
        vectors: -1 / (k - 1) for the simplex of k classes, cos(2 pi / k) for the polygon.
    radius : float
        The length of the longest row.
    random_state : int, numpy Generator or None

    Returns
    -------
    Problem

    Notes
    -----
    ``margin`` is the margin of the weights returned, of Frobenius norm 1 and without intercept; other
    weights may have a larger one. In exact arithmetic the norm is at most 1 and at least 1 - 8 eps, every row
    scores at least ``margin`` higher for its own class than for any other, the tight rows at most
    ``margin + 2 eps * radius`` higher, and the row lengths are as in :func:`make_separable`.

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
    check_count("n_classes", n_classes, 2, "one class alone cannot be separated")
    check_count(
        "n_columns", n_columns, 1 if n_classes == 2 else 2, f"{n_classes} classes need this many columns"
    )
    check_count("n_rows", n_rows, n_classes + 2, "one row for each class, and two at the margin")
    check_length("margin", margin)
    check_length("radius", radius)
    simplex = n_classes <= n_columns + 1
    cosine = -1 / (n_classes - 1) if simplex else math.cos(2 * math.pi / n_classes)
    reach = radius * (1 - cosine) / math.sqrt(n_classes)
    limit = f"below {reach:g}, for {n_classes} classes in {n_columns} columns within radius {radius:g}"
    check("margin", margin, margin < reach * (1 - ROOM), limit)
    n_dimensions = n_classes - 1 if simplex else 2
    rng = np.random.default_rng(random_state)

    directions = _spread_directions(n_classes, n_dimensions, n_columns, rng)
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

    return Problem(rows, y, weights, margin=float(margin), radius=float(radius), tight_rows=tight)


def _fill_caps(
    y: Ints, u: Floats, offset: float, margin: float, radius: float, rng: np.random.Generator
) -> Floats:
    """Fill, for each label, the part of the ball with ``y (<u, x> + offset) >= margin``.

    A uniform point of the half ball at height h above its base goes to the height ``low + h (top - low)``
    of the cap, and across by as much as the slice of the cap there is wider than the slice of the half
    ball.
    """
    rows = np.empty((y.size, u.size))
    top = radius * (1 - SLACK)
    for part in blocks(y.size):
        block, signs = rows[part], y[part]
        along, share = uniform_in_ball(block, u, rng)
        heights = np.abs(along) * share
        low = margin - signs * offset + SLACK * radius
        new_heights = np.minimum(low + heights * (top - low), top)
        widening = (top**2 - new_heights**2) / np.maximum(1 - heights**2, 2.0**-52)
        stretch = share * np.sqrt(widening)
        block *= stretch[:, np.newaxis]
        block += np.outer(signs * new_heights - along * stretch, u)
    return rows


def _tight_pair(
    u: Floats, offset: float, margin: float, radius: float, rng: np.random.Generator
) -> list[Floats]:
    """Make two rows at the margin, opposite each other across a random point of the hyperplane."""
    across = rng.standard_normal(u.size)
    across -= (across @ u) * u
    if u.size == 1:
        across[:] = 0.0
    else:
        room = math.sqrt(radius**2 - (margin + abs(offset)) ** 2) * (1 - 2.0**-10)
        across *= room * rng.random() ** (1 / u.size) / np.linalg.norm(across)
    pair = []
    for sign in (1, -1):
        needed = Fraction(margin) - sign * Fraction(offset)
        pair.append(scoring(across + (sign * margin - offset) * u, [sign * Fraction(v) for v in u], needed))
    return pair


def _stretched(row: Floats, sign: int, u: Floats, radius: float) -> Floats:
    """Move a row to the sphere, parallel to the hyperplane (in one dimension: away from it)."""
    if u.size == 1:
        return sign * radius * u
    height = float(row @ u)
    across = row - height * u
    across *= math.sqrt(radius**2 - height**2) / np.linalg.norm(across)
    return of_length(across + height * u, radius)


def _crossing(
    sizes: Sequence[int], width: int, radius: float, rng: np.random.Generator
) -> tuple[Floats, Ints]:
    """Make points of two classes with integer multipliers that give both the same total and the same mean.

    The points of a class are drawn around a common center. The multiplier of the last one is the sum of the
    others, and it lies opposite their mean. All numbers are multiples of one power of two, and no sum needs
    more than 53 bits, so no operation rounds.
    """
    bits = max(4, (max(sizes) - 1).bit_length())
    half = 1 << bits
    grid = 2.0 ** (math.floor(math.log2(radius)) - 20)

    def on_grid(n_points: int, length: float) -> Floats:
        points = rng.standard_normal((n_points, width))
        points *= length / np.linalg.norm(points, axis=1, keepdims=True)
        return np.round(points / grid) * grid

    center = on_grid(1, radius / 4)
    rows, multipliers = [], []
    for size in sizes:
        free = size - 1
        if free == 0:
            rows.append(center)
            multipliers.append(np.array([2 * half]))
            continue
        parts = 1 + rng.multinomial(half - free, np.full(free, 1 / free))
        around = on_grid(free, radius / 2)
        opposite = -(parts @ around) / half
        rows.append(center + np.vstack([around, opposite]))
        multipliers.append(np.append(parts, half))
    weights = np.concatenate(multipliers).astype(np.int64)
    return np.vstack(rows), weights // np.gcd.reduce(weights)


def _spread_directions(n_classes: int, n_dimensions: int, n_columns: int, rng: np.random.Generator) -> Floats:
    """Rotate a regular simplex or polygon at random; return one unit vector per class."""
    if n_dimensions == n_classes - 1:
        # Columns: an orthonormal basis of the complement of (1, ..., 1). Rows: a regular simplex.
        basis = rng.standard_normal((n_classes, n_classes))
        basis[:, 0] = 1.0
        corners = np.linalg.qr(basis)[0][:, 1:] / math.sqrt(1 - 1 / n_classes)
    else:
        angles = 2 * math.pi * np.arange(n_classes) / n_classes
        corners = np.column_stack([np.cos(angles), np.sin(angles)])
    frame = np.linalg.qr(rng.standard_normal((n_columns, n_dimensions)))[0]
    directions: Floats = corners @ frame.T
    return directions


def _fill_cones(
    n_rows: int, weights: Floats, directions: Floats, pull: float, radius: float, rng: np.random.Generator
) -> tuple[Floats, Ints]:
    """Label uniform points of the ball by the largest score; pull each point to the corner of its class.

    Scores are linear: after the pull, the score of the own class exceeds the others by at least ``pull``
    times the difference at the corner.
    """
    rows = np.empty((n_rows, weights.shape[1]))
    y = np.empty(n_rows, dtype=np.int64)
    top = radius * (1 - SLACK)
    # Rounding errors of a score are proportional to it; the margin leaves room for this.
    pull += ROOM / 4
    for part in blocks(n_rows):
        block = rows[part]
        _, share = uniform_in_ball(block, directions[0], rng)
        winners = (block @ weights.T).argmax(axis=1)
        y[part] = winners
        block *= (share * (1 - pull) * top)[:, np.newaxis]
        block += (pull * top * directions)[winners]
    return rows, y
