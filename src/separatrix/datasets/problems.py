"""The results of the generators: rows, labels and the known answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


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
        The distance between the rows of neighboring squares is at least this.
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
