"""Classes with hyperplanes between them at a known margin, or with a proof that there are none."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ..errors import InputError
from .conditions import (
    BLOCK,
    ROOM,
    SLACK,
    Seed,
    balanced_signs,
    check_count,
    check_length,
    of_length,
    place,
    row_width,
    scoring,
    uniform_in_ball,
    unit_vector,
)
from .problems import Floats, Ints, Multiclass, Overlapping, Separable


def make_separable(
    n_rows: int = 100,
    n_columns: int = 2,
    *,
    margin: float = 0.1,
    radius: float = 1.0,
    intercept: bool | float = False,
    sparse: bool = False,
    density: float = 0.1,
    random_state: Seed = None,
) -> Separable:
    """Fill a ball with two classes on either side of a known plane, at a known distance from it.

    The perceptron's mistakes are bounded by the margin and the longest row. Here both are known and attained,
    so the bound can be compared with what happens: from zero weights and with no intercept in the data, at
    most ``(radius / margin)**2`` mistakes for planes through the origin, and ``(radius**2 + 1) / margin**2``
    in lifted coordinates.
    Each class fills its side of the ball: a point drawn uniformly from half a ball is moved, slice by slice,
    into the part of the ball beyond the margin. The more columns, the nearer most rows are to the plane.

    Parameters
    ----------
    n_rows : int
        At least 3. The classes differ in size by one row at most.
    n_columns : int
    margin : float
        The distance between the plane and the nearest row of each class.
    radius : float
        The length of the longest row.
    intercept : bool or float
        False: the plane passes through the origin. True: it is moved along its normal at random, by at most
        half of what the ball allows. A number: this offset, also when it is 0 or 1.
        ``margin + abs(offset)`` must be below ``radius``.
    sparse : bool
        Return a CSR array.
    density : float
        The share of entries that a sparse row stores: ``round(density * n_columns)`` of them, and at least 3.
        Half of these (at least 2) are in columns that every row stores, the only ones where the weights are
        not zero; the others are in columns drawn row by row. The numbers are those of a dense problem with
        as many columns, so nothing is rounded to zero and every claim below holds unchanged.
    random_state : int, numpy Generator or None

    Returns
    -------
    Separable

    Notes
    -----
    *Which margin.* ``margin`` is the largest affine margin: half the distance between the two convex hulls.
    The tight rows prove it: one on each side, the line between them is normal to the plane and 2 ``margin``
    long. With no intercept it is also the largest margin of planes through the origin and the largest
    margin in lifted coordinates ``(x, 1)``, because the mean of the two signed tight rows is
    ``margin * (u, 0)``. With an offset b the largest lifted margin is another number, between
    ``margin / sqrt(1 + b**2)`` and ``margin``.

    *How exact.* In exact arithmetic, ``|u|`` is at most 1 and at least 1 - 8 eps; no row is longer than
    ``radius`` and one is not shorter than ``radius * (1 - 8 eps)``; no row scores below ``margin``; the
    tight rows score at most ``margin + eps * radius``; and half the distance between them, the upper bound
    on any margin, is at most ``margin + 4 eps * radius``. A score computed in floats has its own rounding
    on top.

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
    check_count("n_columns", n_columns, 1, "a plane needs at least one dimension")
    check_length("margin", margin, "For classes that are not apart, use make_overlapping.")
    check_length("radius", radius, "Scale the rows afterwards if they must be larger or smaller.")
    offset_given = not isinstance(intercept, (bool, np.bool_))
    reserved = abs(float(intercept)) if offset_given else 0.0
    if not margin + reserved < radius * (1 - ROOM):
        found = (
            f"margin + abs(intercept) is {margin + reserved:.12g}"
            if offset_given
            else f"margin is {margin:.12g}"
        )
        raise InputError(
            f"{found} and radius is {radius:.12g}; it must be smaller (by more than {ROOM:g} of radius), "
            "or no row fits between the plane and the sphere.",
            remedy="Lower it, or raise radius.",
            parameter="radius",
        )
    width, n_informative = row_width(n_columns, 3, 2, sparse, density)
    rng = np.random.default_rng(random_state)
    if offset_given:
        offset = float(intercept)
    else:
        offset = float(rng.uniform(-0.5, 0.5) * (radius - margin)) if intercept else 0.0

    u = unit_vector(width, n_informative, rng)
    y = balanced_signs(n_rows, rng)
    rows = _fill_caps(y, u, offset, margin, radius, rng)
    tight = np.array([rng.choice(np.flatnonzero(y == sign)) for sign in (1, -1)])
    rows[tight] = _tight_pair(u, offset, margin, radius, rng)
    longest = rng.choice(np.setdiff1d(np.arange(n_rows), tight))
    rows[longest] = _stretched(rows[longest], int(y[longest]), u, radius)

    X, weights = place(rows, u[np.newaxis], n_informative, n_columns, tight, sparse, rng)
    return Separable(X, y, weights[0], offset, float(margin), float(radius), tight)


def make_overlapping(
    n_rows: int = 100,
    n_columns: int = 2,
    *,
    noise: float = 0.1,
    radius: float = 1.0,
    n_witnesses: int | None = None,
    sparse: bool = False,
    density: float = 0.1,
    random_state: Seed = None,
) -> Overlapping:
    """Fill a ball with two classes that no plane separates, and say which rows prove it.

    Labels come from a plane through the origin, a share of them is flipped, and a few rows are put so that
    the convex hulls of the classes meet in a point: two crossing segments in the plane, two crossing
    triangles in four dimensions. With ``noise=0`` these few rows are the only obstacle.

    Parameters
    ----------
    n_rows : int
        At least as many as there are witnesses. The classes are about equal.
    n_columns : int
    noise : float
        The share of the rows, witnesses apart, whose label is flipped; between 0 and 1.
    radius : float
        No row is longer than this.
    n_witnesses : int, optional
        How many rows the crossing has: 2 for one point in both classes, at most two more than the
        columns (of a sparse row: than its stored entries). By default 6, or the most that is allowed.
    sparse, density, random_state
        As in :func:`make_separable`. All witnesses store the same columns.

    Returns
    -------
    Overlapping

    Notes
    -----
    The witnesses have coordinates on a grid of powers of two, coarse enough for the weighted sum of their
    signed rows to be computed without any rounding, in floats, in any order: it is zero, lifted or not. So
    by Gordan's theorem no plane separates the rows, with or without an intercept. The finer question,
    overlapping or quasi-separable (some plane with no row on its wrong side, and not all rows on it), is
    left open by few witnesses; ``n_columns + 2`` dense ones, being in general position, span the space: then
    all rows overlap in the strict sense (Stiemke).

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
    check_count("n_columns", n_columns, 1, "a plane needs at least one dimension")
    check_length("radius", radius, "Scale the rows afterwards if they must be larger or smaller.")
    if not 0 <= noise <= 1:
        raise InputError(f"noise is {noise:g}; it is the share of labels to flip. Give a number from 0 to 1.")
    width, n_informative = row_width(n_columns, 3, 2, sparse, density)
    most = width + 2
    count = min(6, most) if n_witnesses is None else operator.index(n_witnesses)
    if not 2 <= count <= most:
        raise InputError(
            f"n_witnesses is {count}; rows that store {width} columns cross in 2 to {most} rows. "
            "Ask for a number in that range, or leave n_witnesses out."
        )
    check_count("n_rows", n_rows, count, f"the proof alone takes {count} rows")
    rng = np.random.default_rng(random_state)

    u = unit_vector(width, n_informative, rng)
    y = balanced_signs(n_rows, rng)
    rows = _fill_caps(y, u, 0.0, 0.0, radius, rng)
    sides = {1: (count + 1) // 2, -1: count // 2}
    witnesses = np.concatenate(
        [rng.choice(np.flatnonzero(y == sign), size, replace=False) for sign, size in sides.items()]
    )
    rows[witnesses], multipliers = _crossing(list(sides.values()), width, radius, rng)
    others = np.setdiff1d(np.arange(n_rows), witnesses)
    flipped = np.sort(rng.choice(others, round(noise * others.size), replace=False))
    y[flipped] *= -1

    X, weights = place(rows, u[np.newaxis], n_informative, n_columns, witnesses, sparse, rng)
    return Overlapping(X, y, weights[0], float(radius), flipped, witnesses, multipliers)


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
    """Fill a ball with several classes that a known matrix of weights separates by a known margin.

    From zero weights and without intercept, the multiclass perceptron makes at most
    ``2 * (radius / margin)**2`` mistakes on these rows. Uniform points are labeled by the weight vector that
    wins, then drawn a little towards the point of the sphere where that vector wins most clearly, just enough
    for the margin: the cones of the classes move apart and stay filled.

    Parameters
    ----------
    n_rows : int
        At least ``n_classes + 2``. Each class has at least one row; the sizes are random.
    n_columns : int
        At least 2 for more than two classes.
    n_classes : int
        At least 2. The weight vectors of up to ``n_columns + 1`` classes are the corners of a regular
        simplex, those of more classes the corners of a regular polygon in a random plane, neighbors being
        consecutive classes; so many classes in few columns allow only small margins.
    margin : float
        Below ``radius * (1 - c) / sqrt(n_classes)``, where c is the largest cosine between two weight
        vectors: -1 / (k - 1) for the simplex of k classes, cos(2 pi / k) for the polygon.
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
    check_count("n_classes", n_classes, 2, "one class alone cannot be separated")
    check_count(
        "n_columns", n_columns, 1 if n_classes == 2 else 2, f"{n_classes} classes need this many columns"
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
    for start in range(0, y.size, BLOCK):
        block = rows[start : start + BLOCK]
        signs = y[start : start + BLOCK]
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
    """Make two rows at the margin, opposite each other across a random point of the plane."""
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
    """Move a row to the sphere, parallel to the plane (in one dimension: away from it)."""
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

    Around a common center, the points of a class are free but for the last, whose multiplier is as large as
    all the others together: it lies opposite their mean. Everything is a multiple of one power of two, and
    no sum needs more than 53 bits, so no operation rounds.
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
