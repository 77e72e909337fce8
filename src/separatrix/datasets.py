"""Problems with a known answer: a separator and its margin, or a proof that there is none.

Every claim below is about the floats returned, read as exact rational numbers; where rounding leaves a
trace, the docstring says how large it may be. ``eps`` is 2**-52.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .errors import InputError, InputTypeError

__all__ = [
    "Checkerboard",
    "Multiclass",
    "Overlapping",
    "Problem",
    "Rings",
    "Separable",
    "Spirals",
    "Xor",
    "make_checkerboard",
    "make_multiclass",
    "make_overlapping",
    "make_rings",
    "make_separable",
    "make_spirals",
    "make_xor",
]

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Seed: TypeAlias = int | np.random.Generator | None

# Ordinary rows keep this share of the radius away from the margin and from the sphere: far above rounding,
# so that only the rows made to attain a bound come near it.
SLACK = 2.0**-40
# A margin closer than this to the largest possible one leaves no room for rows with slack.
ROOM = 1e-9
# Rows made at once: small enough for the cache, large enough for BLAS.
BLOCK = 2048


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """Rows and labels; ``X, y = problem`` unpacks these two, the answer stays in the attributes.

    Attributes
    ----------
    X : ndarray or csr_array of float64, shape (n_rows, n_columns)
    y : ndarray of int64, shape (n_rows,)
        Labels -1 and +1, or 0 to k-1 for k classes.
    """

    X: Any
    y: Ints

    def __iter__(self) -> Iterator[Any]:
        yield self.X
        yield self.y

    def __repr__(self) -> str:
        parts = ((field.name, getattr(self, field.name)) for field in fields(self))
        shown = (
            f"{name}=<{'x'.join(map(str, v.shape))}>" if hasattr(v, "shape") else f"{name}={v!r}"
            for name, v in parts
        )
        return f"{type(self).__name__}({', '.join(shown)})"


@dataclass(frozen=True, eq=False, repr=False)
class Separable(Problem):
    """Two classes with the plane of the largest margin between them.

    Attributes
    ----------
    weights : ndarray, shape (n_columns,)
        The unit normal u of the plane.
    intercept : float
        The offset b; 0 for a plane through the origin.
    margin : float
        ``min_i y_i (<u, x_i> + b)``: the distance from the plane to the nearest row.
    radius : float
        ``max_i |x_i|``.
    tight_rows : ndarray of int64, shape (2,)
        One row of label +1 and one of label -1, both at the margin and opposite each other across the plane:
        the proof that no plane has a larger margin.
    """

    weights: Floats
    intercept: float
    margin: float
    radius: float
    tight_rows: Ints


@dataclass(frozen=True, eq=False, repr=False)
class Overlapping(Problem):
    """Two classes that no plane separates, with the proof.

    Attributes
    ----------
    weights : ndarray, shape (n_columns,)
        The unit normal of the plane, through the origin, that gave the labels before the noise.
    radius : float
        A bound on every ``|x_i|``.
    flipped_rows : ndarray of int64
        The rows with the wrong label for that plane, the witnesses apart.
    witness_rows : ndarray of int64
        The few rows that prove it.
    witness_weights : ndarray of int64
        A positive multiplier for each of them: ``sum_i witness_weights[i] * y_i * (x_i, 1)`` over these
        rows is the zero vector, exactly.
    """

    weights: Floats
    radius: float
    flipped_rows: Ints
    witness_rows: Ints
    witness_weights: Ints


@dataclass(frozen=True, eq=False, repr=False)
class Xor(Problem):
    """The exclusive or: no plane separates it, the product of the two columns does.

    Attributes
    ----------
    weights : ndarray, shape (3,)
        A separator through the origin of the rows ``(x_1, x_2, x_1 * x_2)``.
    margin : float
        The margin of these weights on those rows: the smallest ``|x_1 * x_2|``.
    witness_rows, witness_weights : ndarray of int64
        The four corners, each once: their signed rows ``y_i * (x_i, 1)`` add up to zero.
    """

    weights: Floats
    margin: float
    witness_rows: Ints
    witness_weights: Ints


@dataclass(frozen=True, eq=False, repr=False)
class Rings(Problem):
    """A ball (label -1) and a shell around it (label +1): the radial lift ``(x, |x|^2)`` separates them.

    Attributes
    ----------
    weights : ndarray, shape (n_columns + 1,)
        The unit normal of the plane of largest margin between the lifted rows: ``(0, ..., 0, 1)``.
    intercept : float
        Its offset: the plane is ``|x|^2 = -intercept``.
    margin : float
        Its margin, the distance in the lifted space: ``(outer^2 - inner^2) / 2``.
    inner, outer : float
        The length of the longest row inside and of the shortest row outside; ``outer`` is ``inner + gap``.
    gap : float
    tight_rows : ndarray of int64, shape (3,)
        The row of length ``inner`` and the two of length ``outer`` that prove the margin to be the largest.
    witness_rows, witness_weights : ndarray of int64
        The proof that no plane separates the rows without the lift, as in :class:`Overlapping`.
    """

    weights: Floats
    intercept: float
    margin: float
    inner: float
    outer: float
    gap: float
    tight_rows: Ints
    witness_rows: Ints
    witness_weights: Ints


@dataclass(frozen=True, eq=False, repr=False)
class Spirals(Problem):
    """Two arms of a spiral, each the other one mirrored at the origin.

    Attributes
    ----------
    turns : float
        How often each arm goes around the origin.
    witness_rows, witness_weights : ndarray of int64
        The proof that no plane separates the rows, as in :class:`Overlapping`: a row of one arm is the middle
        of two rows of the other.
    """

    turns: float
    witness_rows: Ints
    witness_weights: Ints


@dataclass(frozen=True, eq=False, repr=False)
class Checkerboard(Problem):
    """Squares of side one whose labels alternate.

    Attributes
    ----------
    squares : int
        Squares along a side.
    gap : float
        The distance between the rows of neighbouring squares is at least this.
    witness_rows, witness_weights : ndarray of int64
        The middles of four squares that prove that no plane separates the rows, as in :class:`Overlapping`.
    """

    squares: int
    gap: float
    witness_rows: Ints
    witness_weights: Ints


@dataclass(frozen=True, eq=False, repr=False)
class Multiclass(Problem):
    """Several classes, each with a weight vector that wins on all of its rows.

    Attributes
    ----------
    weights : ndarray, shape (n_classes, n_columns)
        The known W, of Frobenius norm 1; no intercept.
    margin : float
        ``min_i min_{r != y_i} <W_{y_i} - W_r, x_i>``.
    radius : float
        ``max_i |x_i|``.
    tight_rows : ndarray of int64, shape (2,)
        A row of class 0 that beats class 1 by the margin, and a row of class 1 that beats class 0 by it.
    """

    weights: Floats
    margin: float
    radius: float
    tight_rows: Ints


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
    so the bound can be compared with what happens: with no intercept, at most ``(radius / margin)**2``
    mistakes for planes through the origin, and ``(radius**2 + 1) / margin**2`` in lifted coordinates.
    Each class fills its side of the ball: a point drawn uniformly from half a ball is moved, slice by slice,
    into the part of the ball beyond the margin. With many columns most rows lie near the plane.

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
    _check_count("n_rows", n_rows, 3, "one row of each class at the margin and one at the radius")
    _check_count("n_columns", n_columns, 1, "a plane needs a space to be in")
    _check_length("margin", margin, "For classes that are not apart, use make_overlapping.")
    _check_length("radius", radius, "Scale the rows afterwards if they must be larger or smaller.")
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
            "or no row fits between the plane and the sphere. Lower it, or raise radius."
        )
    width, n_informative = _row_width(n_columns, 3, 2, sparse, density)
    rng = np.random.default_rng(random_state)
    if offset_given:
        offset = float(intercept)
    else:
        offset = float(rng.uniform(-0.5, 0.5) * (radius - margin)) if intercept else 0.0

    u = _unit_vector(width, n_informative, rng)
    y = _balanced_signs(n_rows, rng)
    rows = _fill_caps(y, u, offset, margin, radius, rng)
    tight = np.array([rng.choice(np.flatnonzero(y == sign)) for sign in (1, -1)])
    rows[tight] = _tight_pair(u, offset, margin, radius, rng)
    longest = rng.choice(np.setdiff1d(np.arange(n_rows), tight))
    rows[longest] = _stretched(rows[longest], int(y[longest]), u, radius)

    X, weights = _place(rows, u[np.newaxis], n_informative, n_columns, tight, sparse, rng)
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
    overlapping or quasi-separable (some plane with no row on its wrong side), is left open by few
    witnesses; ``n_columns + 2`` dense ones, being in general position, span the space: then all rows
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
    _check_count("n_columns", n_columns, 1, "a plane needs a space to be in")
    _check_length("radius", radius, "Scale the rows afterwards if they must be larger or smaller.")
    if not 0 <= noise <= 1:
        raise InputError(f"noise is {noise:g}; it is the share of labels to flip. Give a number from 0 to 1.")
    width, n_informative = _row_width(n_columns, 3, 2, sparse, density)
    most = width + 2
    count = min(6, most) if n_witnesses is None else operator.index(n_witnesses)
    if not 2 <= count <= most:
        raise InputError(
            f"n_witnesses is {count}; rows that store {width} columns cross in 2 to {most} rows. "
            "Ask for a number in that range, or leave n_witnesses out."
        )
    _check_count("n_rows", n_rows, count, f"the proof alone takes {count} rows")
    rng = np.random.default_rng(random_state)

    u = _unit_vector(width, n_informative, rng)
    y = _balanced_signs(n_rows, rng)
    rows = _fill_caps(y, u, 0.0, 0.0, radius, rng)
    sides = {1: (count + 1) // 2, -1: count // 2}
    witnesses = np.concatenate(
        [rng.choice(np.flatnonzero(y == sign), size, replace=False) for sign, size in sides.items()]
    )
    rows[witnesses], multipliers = _crossing(list(sides.values()), width, radius, rng)
    others = np.setdiff1d(np.arange(n_rows), witnesses)
    flipped = np.sort(rng.choice(others, round(noise * others.size), replace=False))
    y[flipped] *= -1

    X, weights = _place(rows, u[np.newaxis], n_informative, n_columns, witnesses, sparse, rng)
    return Overlapping(X, y, weights[0], float(radius), flipped, witnesses, multipliers)


def make_xor(n_rows: int = 4, *, noise: float = 0.25, random_state: Seed = None) -> Xor:
    """Put the classes on opposite corners of a square: the smallest problem that no plane solves.

    Parameters
    ----------
    n_rows : int
        At least 4. The first four rows are always the corners (1, 1), (-1, -1) of label -1 and (1, -1),
        (-1, 1) of label +1; further rows lie around the corners, in turn.
    noise : float
        How far, in each coordinate, the further rows may lie from their corner; uniform, at least 0 and
        below 1, so that no row leaves its quadrant.
    random_state : int, numpy Generator or None

    Returns
    -------
    Xor

    Examples
    --------
    >>> from separatrix.datasets import make_xor
    >>> problem = make_xor()
    >>> problem.X.tolist(), problem.y.tolist()
    ([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]], [-1, -1, 1, 1])
    >>> clusters = make_xor(100, noise=0.5, random_state=0)
    >>> bool((clusters.y == -np.sign(clusters.X.prod(axis=1))).all())
    True
    """
    _check_count("n_rows", n_rows, 4, "the square has four corners")
    if not 0 <= noise < 1:
        raise InputError(
            f"noise is {noise:g}; from 1 on, rows leave their quadrant and the product of the columns no "
            "longer tells the classes apart. Give a number of at least 0 and below 1."
        )
    rng = np.random.default_rng(random_state)
    turn = np.arange(n_rows) % 4
    X = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])[turn]
    y = np.array([-1, -1, 1, 1], dtype=np.int64)[turn]
    X[4:] += rng.uniform(-noise, noise, (n_rows - 4, 2))
    margin = float((-y * X.prod(axis=1)).min())
    return Xor(X, y, np.array([0.0, 0.0, -1.0]), margin, np.arange(4), np.ones(4, dtype=np.int64))


def make_rings(
    n_rows: int = 100,
    n_columns: int = 2,
    *,
    inner: float = 1.0,
    gap: float = 0.5,
    random_state: Seed = None,
) -> Rings:
    """Put one class inside a sphere and the other around it: no plane separates them, the radial lift does.

    Parameters
    ----------
    n_rows : int
        At least 4; half of them inside.
    n_columns : int
        2 for a disc in a ring.
    inner : float
        The radius of the ball inside, filled uniformly.
    gap : float
        The distance from that ball to the shell outside, which is as thick as ``inner``; lengths are
        uniform in it.
    random_state : int, numpy Generator or None

    Returns
    -------
    Rings

    Notes
    -----
    Four rows lie on one axis: the origin, ``inner``, ``outer`` and ``-outer``. The origin is the middle of
    the last two, so no plane separates the rows. Lifted to ``(x, |x|^2)``, the segment between the last two
    passes straight above the second, at the distance ``outer^2 - inner^2``: no plane has more than half of
    that as its affine margin, and the plane returned has it. Lengths along an axis are exact; ``intercept``
    and ``margin`` are rounded, so the lifted rows score at least ``margin`` to within ``4 eps * outer^2``.

    Examples
    --------
    >>> from separatrix.datasets import make_rings
    >>> problem = make_rings(200, inner=1.0, gap=1.0, random_state=0)
    >>> lifted = np.column_stack([problem.X, (problem.X**2).sum(axis=1)])
    >>> float((problem.y * (lifted @ problem.weights + problem.intercept)).min()), problem.margin
    (1.5, 1.5)
    """
    _check_count("n_rows", n_rows, 4, "four rows on an axis prove the answer")
    _check_count("n_columns", n_columns, 1, "a sphere needs a space to be in")
    _check_length("inner", inner, "Scale the rows afterwards if they must be larger or smaller.")
    _check_length("gap", gap, "For classes that touch, use make_overlapping.")
    if not gap > inner * ROOM:
        raise InputError(
            f"gap is {gap:g} and inner is {inner:g}; a gap of at most {ROOM:g} of inner is lost in rounding. "
            "Raise gap, or lower inner."
        )
    rng = np.random.default_rng(random_state)
    outer = float(inner + gap)
    y = _balanced_signs(n_rows, rng)
    X = rng.standard_normal((n_rows, n_columns))
    share = rng.random(n_rows)
    lengths = np.where(
        y < 0,
        inner * (1 - SLACK) * share ** (1 / n_columns),
        outer * (1 + SLACK) + inner * share,
    )
    X *= (lengths / np.sqrt(np.einsum("ij,ij->i", X, X)))[:, np.newaxis]
    on_axis = np.concatenate([rng.choice(np.flatnonzero(y == sign), 2, replace=False) for sign in (-1, 1)])
    X[on_axis] = 0.0
    X[on_axis, rng.integers(n_columns)] = [0.0, inner, outer, -outer]

    weights = np.zeros(n_columns + 1)
    weights[-1] = 1.0
    return Rings(
        X,
        y,
        weights,
        intercept=-(inner * inner + outer * outer) / 2,
        margin=(outer - inner) * (outer + inner) / 2,
        inner=float(inner),
        outer=outer,
        gap=float(gap),
        tight_rows=on_axis[1:],
        witness_rows=on_axis[[0, 2, 3]],
        witness_weights=np.array([2, 1, 1], dtype=np.int64),
    )


def make_spirals(n_rows: int = 200, *, turns: float = 2.0, random_state: Seed = None) -> Spirals:
    """Wind two classes around each other: any polynomial that separates them needs a high degree.

    Parameters
    ----------
    n_rows : int
        At least 4; half of them on each arm.
    turns : float
        At least 2 and at most 20: how often each arm goes around the origin. The arms are half a unit apart.
    random_state : int, numpy Generator or None

    Returns
    -------
    Spirals

    Notes
    -----
    The arms are ``r = 1/2 + angle / (2 pi)`` and its mirror image. They cross the positive first axis in
    turn, half a unit apart, so that 3/2, 2 and 5/2 belong to one arm, the other, and the first again: three
    rows put there prove that no plane separates the arms.

    Examples
    --------
    >>> from separatrix.datasets import make_spirals
    >>> problem = make_spirals(100, random_state=0)
    >>> problem.X[problem.witness_rows].tolist(), problem.y[problem.witness_rows].tolist()
    ([[1.5, 0.0], [2.5, 0.0], [2.0, 0.0]], [1, 1, -1])
    """
    _check_count("n_rows", n_rows, 4, "three rows on an axis prove the answer")
    if not 2.0 <= turns <= 20.0:
        raise InputError(
            f"turns is {turns:g}; with fewer than 2 nothing proves that no plane separates the arms, with "
            "more than 20 the rows are too far apart to show a spiral. Give a number from 2 to 20."
        )
    rng = np.random.default_rng(random_state)
    y = _balanced_signs(n_rows, rng)
    share = rng.random(n_rows)
    radius = 0.5 + turns * share
    angle = 2 * np.pi * turns * share
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]) * y[:, np.newaxis]
    positive, negative = np.flatnonzero(y == 1), np.flatnonzero(y == -1)
    witness = np.array([positive[0], positive[1], negative[0]])
    X[witness] = [[1.5, 0.0], [2.5, 0.0], [2.0, 0.0]]
    return Spirals(X, y, float(turns), witness, np.array([1, 1, 2]))


def make_checkerboard(
    n_rows: int = 200, squares: int = 3, *, gap: float = 0.2, random_state: Seed = None
) -> Checkerboard:
    """Put alternating labels on the squares of a board.

    Parameters
    ----------
    n_rows : int
        At least 4. The first four rows are the middles of four squares around a corner.
    squares : int
        Squares along a side, at least 2.
    gap : float
        How far, at least, the rows of neighbouring squares are apart; at least 0 and below 1.
    random_state : int, numpy Generator or None

    Returns
    -------
    Checkerboard

    Examples
    --------
    >>> from separatrix.datasets import make_checkerboard
    >>> problem = make_checkerboard(100, random_state=0)
    >>> bool((problem.y == 1 - 2 * (np.floor(problem.X).sum(axis=1) % 2)).all())
    True
    """
    _check_count("n_rows", n_rows, 4, "four squares prove the answer")
    _check_count("squares", squares, 2, "labels alternate from two squares on")
    if not 0 <= gap < 1:
        raise InputError(
            f"gap is {gap:g}; squares of side one have no room for it. Give a number of at least 0 and "
            "below 1."
        )
    rng = np.random.default_rng(random_state)
    corners = rng.integers(squares, size=(n_rows, 2)).astype(np.float64)
    corners[:4] = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]
    inside = rng.uniform(gap / 2, 1 - gap / 2, (n_rows, 2))
    inside[:4] = 0.5
    y = 1 - 2 * (corners.sum(axis=1).astype(np.int64) % 2)
    ones = np.ones(4, dtype=np.int64)
    return Checkerboard(corners + inside, y, int(squares), float(gap), np.arange(4), ones)


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

    The multiclass perceptron makes at most ``2 * (radius / margin)**2`` mistakes on these rows. Uniform
    points are labelled by the weight vector that wins, then drawn a little towards the point of the sphere
    where that vector wins most clearly, just enough for the margin: the cones of the classes move apart and
    stay filled.

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
    _check_count("n_classes", n_classes, 2, "one class alone needs no telling apart")
    _check_count(
        "n_columns", n_columns, 1 if n_classes == 2 else 2, f"{n_classes} classes need this much space"
    )
    _check_count("n_rows", n_rows, n_classes + 2, "one row for each class, and two at the margin")
    _check_length("margin", margin, "Classes that are not apart are made by make_overlapping, two at a time.")
    _check_length("radius", radius, "Scale the rows afterwards if they must be larger or smaller.")
    simplex = n_classes <= n_columns + 1
    cosine = -1 / (n_classes - 1) if simplex else math.cos(2 * math.pi / n_classes)
    reach = radius * (1 - cosine) / math.sqrt(n_classes)
    if not margin < reach * (1 - ROOM):
        raise InputError(
            f"margin is {margin:g}; {n_classes} classes in {n_columns} columns within radius {radius:g} "
            f"allow less than {reach:g}. Lower margin, raise radius, or give n_columns >= {n_classes - 1}."
        )
    n_dimensions = n_classes - 1 if simplex else 2
    width, n_informative = _row_width(n_columns, n_dimensions, n_dimensions, sparse, density)
    rng = np.random.default_rng(random_state)

    directions = _spread_directions(n_classes, n_dimensions, n_informative, width, rng)
    weights = _of_length(directions, 1.0)
    rows, y = _fill_cones(n_rows, weights, directions, margin / reach, radius, rng)
    planted = rng.permutation(n_rows)[: n_classes + 2]
    corners, tight = planted[:n_classes], planted[n_classes:]
    y[corners] = np.arange(n_classes)
    rows[corners] = [_of_length(direction, radius) for direction in directions]
    y[tight] = [0, 1]
    edge = (1 - margin / reach) * radius / 4 * (directions[0] + directions[1])
    for row, own, other in zip(tight, (0, 1), (1, 0), strict=True):
        difference = [Fraction(a) - Fraction(b) for a, b in zip(weights[own], weights[other], strict=True)]
        rows[row] = _scoring(edge + margin / reach * radius * directions[own], difference, Fraction(margin))

    X, weights = _place(rows, weights, n_informative, n_columns, tight, sparse, rng)
    return Multiclass(X, y, weights, float(margin), float(radius), tight)


def _check_count(name: str, value: int, least: int, reason: str) -> None:
    """Refuse a number of things that is too small, or not whole."""
    try:
        value = operator.index(value)
    except TypeError:
        raise InputTypeError(f"{name} is {value!r}; a whole number is needed.") from None
    if value < least:
        raise InputError(f"{name} is {value}; it must be at least {least}: {reason}. Raise {name}.")


def _check_length(name: str, value: float, advice: str) -> None:
    """Refuse a length that is not positive, or whose square leaves the range of floats."""
    if not 1e-100 <= value <= 1e100:
        raise InputError(f"{name} is {value:g}; a positive number from 1e-100 to 1e100 is needed. {advice}")


def _row_width(n_columns: int, least: int, informative: int, sparse: bool, density: float) -> tuple[int, int]:
    """Count the entries that a row stores, and those among them where the weights are not zero."""
    if not sparse:
        return n_columns, n_columns
    if not 0 < density <= 1:
        raise InputError(
            f"density is {density:g}; it is the share of entries that a sparse row stores. "
            "Give a number above 0, up to 1."
        )
    width = min(n_columns, max(least, round(density * n_columns)))
    return width, min(width, max(informative, (width + 1) // 2))


def _balanced_signs(n_rows: int, rng: np.random.Generator) -> Ints:
    """Shuffle labels +1 and -1, as many of each as there can be."""
    return rng.permutation(1 - 2 * (np.arange(n_rows, dtype=np.int64) % 2))


def _unit_vector(width: int, n_informative: int, rng: np.random.Generator) -> Floats:
    """Draw a direction uniformly among those of the first ``n_informative`` coordinates."""
    vector = np.zeros(width)
    if n_informative == 1:
        vector[0] = rng.choice([-1.0, 1.0])
        return vector
    vector[:n_informative] = rng.standard_normal(n_informative)
    return _of_length(vector, 1.0)


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
        along, share = _uniform_in_ball(block, u, rng)
        heights = np.abs(along) * share
        low = margin - signs * offset + SLACK * radius
        new_heights = np.minimum(low + heights * (top - low), top)
        widening = (top**2 - new_heights**2) / np.maximum(1 - heights**2, 2.0**-52)
        stretch = share * np.sqrt(widening)
        block *= stretch[:, np.newaxis]
        block += np.outer(signs * new_heights - along * stretch, u)
    return rows


def _uniform_in_ball(block: Floats, u: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Write normal rows into ``block``; return <u, row>, and the factors that make them uniform in a ball."""
    rng.standard_normal(out=block)
    lengths = np.sqrt(np.einsum("ij,ij->i", block, block))
    return block @ u, rng.random(len(block)) ** (1 / block.shape[1]) / lengths


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
        _, share = _uniform_in_ball(block, directions[0], rng)
        winners = (block @ weights.T).argmax(axis=1)
        y[start : start + BLOCK] = winners
        block *= (share * (1 - pull) * top)[:, np.newaxis]
        block += (pull * top * directions)[winners]
    return rows, y


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
        pair.append(_scoring(across + (sign * margin - offset) * u, [sign * Fraction(v) for v in u], needed))
    return pair


def _stretched(row: Floats, sign: int, u: Floats, radius: float) -> Floats:
    """Move a row to the sphere, parallel to the plane (in one dimension: away from it)."""
    if u.size == 1:
        return sign * radius * u
    height = float(row @ u)
    across = row - height * u
    across *= math.sqrt(radius**2 - height**2) / np.linalg.norm(across)
    return _of_length(across + height * u, radius)


def _crossing(
    sizes: Sequence[int], width: int, radius: float, rng: np.random.Generator
) -> tuple[Floats, Ints]:
    """Make points of two classes with integer multipliers that give both the same total and the same mean.

    Around a common centre, the points of a class are free but for the last, whose multiplier is as large as
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

    centre = on_grid(1, radius / 4)
    rows, multipliers = [], []
    for size in sizes:
        free = size - 1
        if free == 0:
            rows.append(centre)
            multipliers.append(np.array([2 * half]))
            continue
        parts = 1 + rng.multinomial(half - free, np.full(free, 1 / free))
        around = on_grid(free, radius / 2)
        opposite = -(parts @ around) / half
        rows.append(centre + np.vstack([around, opposite]))
        multipliers.append(np.append(parts, half))
    weights = np.concatenate(multipliers).astype(np.int64)
    return np.vstack(rows), weights // np.gcd.reduce(weights)


def _of_length(vector: Floats, length: float) -> Floats:
    """Scale a vector to a length, to within 8 eps of it and, exactly, not above it.

    The squares and their correctly rounded sum err by less than 2**-52 in all, so the test below is a proof.
    """
    vector = vector * (length / math.sqrt(math.fsum(np.square(vector).ravel())))
    while math.fsum(np.square(vector).ravel()) > length * length * (1 - 2.0**-51):
        vector = vector * (1 - 2.0**-52)
    return vector


def _scoring(row: Floats, direction: Sequence[Fraction], needed: Fraction) -> Floats:
    """Change one coordinate so that ``<direction, row>``, exactly, is at least ``needed`` and hardly more.

    The smallest coordinate is the one with the finest steps; a direction too small there would move it far.
    """
    strength = np.abs([float(v) for v in direction])
    j = int(np.where(strength >= strength.max() / 8, np.abs(row), np.inf).argmin())
    rest = sum(
        (d * Fraction(x) for i, (d, x) in enumerate(zip(direction, row, strict=True)) if i != j and d),
        Fraction(),
    )
    row = row.copy()
    row[j] = float((needed - rest) / direction[j])
    if direction[j] * Fraction(row[j]) + rest < needed:
        row[j] = math.nextafter(row[j], math.copysign(math.inf, direction[j]))
    return row


def _place(
    rows: Floats,
    weights: Floats,
    n_informative: int,
    n_columns: int,
    together: Ints,
    sparse: bool,
    rng: np.random.Generator,
) -> tuple[Any, Floats]:
    """Give each stored number its column: all numbers in place if dense, else scattered row by row.

    The first ``n_informative`` numbers of every row go to the same columns, as their weights do; the
    others, whose weights are zero, go to columns of the row's own. The rows ``together`` share theirs. No
    inner product with the weights, and none between rows that are together, changes.
    """
    if not sparse:
        return rows, weights
    n_rows, width = rows.shape
    shuffled = rng.permutation(n_columns)
    common, others = np.sort(shuffled[:n_informative]), np.sort(shuffled[n_informative:])
    columns = np.empty(rows.shape, dtype=np.int64)
    columns[:, :n_informative] = common
    n_own = width - n_informative
    if n_own:
        # Sorted draws plus 0, 1, 2, ... are distinct; the turn gives every column the same chance.
        drawn = np.sort(rng.integers(others.size - n_own + 1, size=(n_rows, n_own)), axis=1)
        turns = rng.integers(others.size, size=(n_rows, 1))
        columns[:, n_informative:] = others[(drawn + np.arange(n_own) + turns) % others.size]
    columns[together] = columns[together[0]]
    X = csr_array((rows.ravel(), columns.ravel(), np.arange(n_rows + 1) * width), shape=(n_rows, n_columns))
    X.sort_indices()
    X.eliminate_zeros()
    spread = np.zeros((len(weights), n_columns))
    spread[:, common] = weights[:, :n_informative]
    return X, spread
