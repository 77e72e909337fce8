"""Two classes that no hyperplane separates, but a product of columns, a lift or a kernel does."""

from __future__ import annotations

import math

import numpy as np

from .conditions import ROOM, SLACK, Seed, balanced_signs, check, check_count, check_length
from .problems import Problem

__all__ = ["make_checkerboard", "make_rings", "make_spirals", "make_stripes", "make_xor"]


def make_xor(n_rows: int = 4, *, noise: float = 0.25, random_state: Seed = None) -> Problem:
    """Put the classes on opposite corners of a square: no line separates them, the product of columns does.

    Three points that are not on one line can be separated for all labels. These four cannot, and no three of
    them are on a line.

    Parameters
    ----------
    n_rows : int
        At least 4. The first four rows are always the corners (1, 1), (-1, -1) of label -1 and (1, -1),
        (-1, 1) of label +1; further rows lie around the corners, in turn.
    noise : float
        The largest distance, in each coordinate, of a further row from its corner; uniform, at least 0 and
        below 1, so that no row leaves its quadrant.
    random_state : int, numpy Generator or None

    Returns
    -------
    Problem

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
    check_count("n_rows", n_rows, 4, "the square has four corners")
    check("noise", noise, 0 <= noise < 1, "at least 0 and below 1, or rows leave their quadrant")
    rng = np.random.default_rng(random_state)
    turn = np.arange(n_rows) % 4
    X = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])[turn]
    y = np.array([-1, -1, 1, 1], dtype=np.int64)[turn]
    X[4:] += rng.uniform(-noise, noise, (n_rows - 4, 2))
    return Problem(
        X,
        y,
        weights=np.array([0.0, 0.0, -1.0]),
        margin=float((-y * X.prod(axis=1)).min()),
        witness_rows=np.arange(4),
        witness_weights=np.ones(4, dtype=np.int64),
    )


def make_rings(
    n_rows: int = 100,
    n_columns: int = 2,
    *,
    inner: float = 1.0,
    gap: float = 0.5,
    random_state: Seed = None,
) -> Problem:
    """Put one class inside a sphere and the other around it: the radial lift separates them.

    Parameters
    ----------
    n_rows : int
        At least 4; half of them inside.
    n_columns : int
        2 for a disc in a ring.
    inner : float
        The radius of the ball inside, filled uniformly.
    gap : float
        The distance from that ball to the shell outside. The shell is as thick as ``inner``, and lengths are
        uniform in it.
    random_state : int, numpy Generator or None

    Returns
    -------
    Problem

    Notes
    -----
    Four rows are on one axis: the origin, ``inner``, ``outer`` and ``-outer``, where ``outer`` is
    ``inner + gap``. The origin is the middle of the last two, so no hyperplane separates the rows. After the
    lift to ``(x, |x|^2)``, the segment between the last two passes above the second at the distance
    ``outer^2 - inner^2``. So no hyperplane has more than half of that as its affine margin, and the one
    returned, ``|x|^2 = -intercept``, has this margin. Lengths along an axis are exact; ``intercept`` and
    ``margin`` are rounded, so the lifted rows score at least ``margin`` up to ``4 eps * outer^2``.

    Examples
    --------
    >>> from separatrix.datasets import make_rings
    >>> problem = make_rings(200, inner=1.0, gap=1.0, random_state=0)
    >>> lifted = np.column_stack([problem.X, (problem.X**2).sum(axis=1)])
    >>> float((problem.y * (lifted @ problem.weights + problem.intercept)).min()), problem.margin
    (1.5, 1.5)
    """
    check_count("n_rows", n_rows, 4, "four rows on an axis prove the answer")
    check_count("n_columns", n_columns, 1, "a sphere needs at least one dimension")
    check_length("inner", inner)
    check_length("gap", gap)
    check("gap", gap, gap > inner * ROOM, f"above {inner * ROOM:g}, or it is lost in rounding")
    rng = np.random.default_rng(random_state)
    outer = float(inner + gap)
    y = balanced_signs(n_rows, rng)
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
    return Problem(
        X,
        y,
        weights,
        intercept=-(inner * inner + outer * outer) / 2,
        margin=(outer - inner) * (outer + inner) / 2,
        tight_rows=on_axis[1:],
        witness_rows=on_axis[[0, 2, 3]],
        witness_weights=np.array([2, 1, 1], dtype=np.int64),
    )


def make_spirals(n_rows: int = 200, *, turns: float = 2.0, random_state: Seed = None) -> Problem:
    """Wind two classes around each other: no line separates them; the whole arms need a high degree.

    Parameters
    ----------
    n_rows : int
        At least 4; half of them on each arm.
    turns : float
        How often each arm goes around the origin, from 2 to 20. The arms are half a unit apart.
    random_state : int, numpy Generator or None

    Returns
    -------
    Problem

    Notes
    -----
    The arms are ``r = 1/2 + angle / (2 pi)`` and its mirror image. They cross the positive first axis
    alternately, half a unit apart: 3/2 and 5/2 belong to one arm, 2 to the other. Three rows at these places
    prove that no line separates the arms.

    *Which degree.* The whole first axis meets the arms alternately at ``2 * floor(2 * turns) + 2`` places,
    and a polynomial of degree d changes its sign at most d times along a line. So a polynomial that separates
    the whole arms has a degree of at least ``2 * floor(2 * turns) + 1``: 9 for two turns. A sample of rows
    may need less: four rows, three of them on the axis, need 2.

    Examples
    --------
    >>> from separatrix.datasets import make_spirals
    >>> problem = make_spirals(100, random_state=0)
    >>> problem.X[problem.witness_rows].tolist(), problem.y[problem.witness_rows].tolist()
    ([[1.5, 0.0], [2.5, 0.0], [2.0, 0.0]], [1, 1, -1])
    """
    check_count("n_rows", n_rows, 4, "three rows on an axis prove the answer")
    few, many = "no proof that no line separates the arms", "rows too far apart to show a spiral"
    check("turns", turns, 2.0 <= turns <= 20.0, f"from 2 to 20: fewer have {few}, and more have {many}")
    rng = np.random.default_rng(random_state)
    y = balanced_signs(n_rows, rng)
    share = rng.random(n_rows)
    radius = 0.5 + turns * share
    angle = 2 * np.pi * turns * share
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]) * y[:, np.newaxis]
    positive, negative = np.flatnonzero(y == 1), np.flatnonzero(y == -1)
    witness = np.array([positive[0], positive[1], negative[0]])
    X[witness] = [[1.5, 0.0], [2.5, 0.0], [2.0, 0.0]]
    return Problem(X, y, witness_rows=witness, witness_weights=np.array([1, 1, 2]))


def make_checkerboard(
    n_rows: int = 200, squares: int = 3, *, gap: float = 0.2, random_state: Seed = None
) -> Problem:
    """Put alternating labels on the squares of a board.

    Parameters
    ----------
    n_rows : int
        At least 4. The first four rows are the centers of four squares around a corner.
    squares : int
        Squares along a side, at least 2.
    gap : float
        The smallest distance between rows of neighboring squares; at least 0 and below 1.
    random_state : int, numpy Generator or None

    Returns
    -------
    Problem

    Examples
    --------
    >>> from separatrix.datasets import make_checkerboard
    >>> problem = make_checkerboard(100, random_state=0)
    >>> bool((problem.y == 1 - 2 * (np.floor(problem.X).sum(axis=1) % 2)).all())
    True
    """
    check_count("n_rows", n_rows, 4, "four squares prove the answer")
    check_count("squares", squares, 2, "labels alternate from two squares on")
    check("gap", gap, 0 <= gap < 1, "at least 0 and below 1, the side of a square")
    rng = np.random.default_rng(random_state)
    corners = rng.integers(squares, size=(n_rows, 2)).astype(np.float64)
    corners[:4] = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]
    inside = rng.uniform(gap / 2, 1 - gap / 2, (n_rows, 2))
    inside[:4] = 0.5
    y = 1 - 2 * (corners.sum(axis=1).astype(np.int64) % 2)
    ones = np.ones(4, dtype=np.int64)
    return Problem(corners + inside, y, witness_rows=np.arange(4), witness_weights=ones)


def make_stripes(
    n_rows: int = 60,
    n_columns: int = 2,
    *,
    degree: int = 3,
    gap: float = 0.2,
    random_state: Seed = None,
) -> Problem:
    """Fill ``degree + 1`` parallel stripes with alternating classes.

    The polynomial ``(x_1 - 1) (x_1 - 2) ... (x_1 - degree)`` separates the classes, and no polynomial of a
    lower degree does. Also, ``degree`` half-spaces ``x_1 <= k`` separate them as a decision list, or as the
    hidden units of a network with one hidden layer of threshold units, and no network with fewer such units
    does.

    Parameters
    ----------
    n_rows : int
        At least ``degree + 1``: one row of each stripe lies on a common line.
    n_columns : int
    degree : int
        The number of borders between stripes, at least 2.
    gap : float
        The gap between neighboring stripes; the distance between borders is 1. From 0 to below 1.
    random_state : int, numpy Generator or None

    Returns
    -------
    Problem
        With ``degree`` and ``units``. The witnesses are the rows ``(k + 1/2, 0, ..., 0)`` with binomial
        coefficients as multipliers.

    Notes
    -----
    *Degree.* Along the line of the witnesses, a polynomial of degree d has at most d changes of sign, and the
    labels change ``degree`` times. The multipliers are a proof: the sum of ``multiplier * y * p(x)`` over the
    witnesses is a difference of order ``degree``, up to its sign, which is zero for every polynomial p of a
    lower degree.

    *Units.* The outputs of k threshold units change at most k times along a line, and so does every function
    of them.

    Examples
    --------
    >>> import separatrix as sx
    >>> problem = sx.datasets.make_stripes(30, degree=4, random_state=0)
    >>> sx.smallest_separating_degree(problem.X, problem.y).degree
    4
    """
    check_count("degree", degree, 2, "one border is a hyperplane; use make_separable")
    check_count("n_columns", n_columns, 1, "stripes need at least one dimension")
    check_count("n_rows", n_rows, degree + 1, "one row of each stripe on a common line")
    check("gap", gap, 0.0 <= gap < 1.0, "at least 0 and below 1, the distance between borders")
    rng = np.random.default_rng(random_state)
    stripe = rng.permutation(np.arange(n_rows) % (degree + 1))
    # The second factor keeps rows off the borders even without a gap.
    inside = gap / 2.0 + (1.0 - gap) * rng.uniform(2.0**-20, 1.0 - 2.0**-20, n_rows)
    X = np.column_stack(
        [stripe + inside, rng.uniform(-1.0, 1.0, (n_rows, n_columns - 1)) * (degree + 1) / 2.0]
    )
    witnesses = np.array([rng.choice(np.flatnonzero(stripe == k)) for k in range(degree + 1)])
    X[witnesses] = 0.0
    X[witnesses, 0] = np.arange(degree + 1) + 0.5
    multipliers = np.array([math.comb(degree, k) for k in range(degree + 1)], dtype=np.int64)
    return Problem(
        X,
        np.where(stripe % 2, -1, 1).astype(np.int64),
        witness_rows=witnesses,
        witness_weights=multipliers,
        degree=int(degree),
        units=int(degree),
    )
