"""What every generator returns: rows, labels and the known answer."""

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
    """Rows, labels and the answer; ``X, y = problem`` unpacks the first two.

    An attribute is None if it has no meaning for the problem. `make_separable` and `make_multiclass` return a
    separator with its margin, `make_overlapping`, `make_spirals`, `make_checkerboard` and `make_stripes`
    return witnesses, and `make_xor` and `make_rings` return both: no hyperplane separates the rows, but one
    separates their images ``(x_1, x_2, x_1 * x_2)`` or ``(x, |x|^2)``. `make_quasi_separable` returns a
    hyperplane with no row on the wrong side, and the rows on it as witnesses.

    Attributes
    ----------
    X : ndarray of float64, shape (n_rows, n_columns)
    y : ndarray of int64, shape (n_rows,)
        Labels -1 and +1, or 0 to k-1 for k classes.
    weights : ndarray or None
        The unit normal u of the separating hyperplane. For several classes, one row per class, of Frobenius
        norm 1 in all. For overlapping classes, the normal of the hyperplane that gave the labels before the
        noise.
    intercept : float or None
        The offset b of the hyperplane; 0 if it passes through the origin.
    margin : float or None
        The distance from the hyperplane to the nearest row, ``min_i y_i (<u, x_i> + b)``. For several
        classes, ``min_i min_{r != y_i} <W_{y_i} - W_r, x_i>``.
    radius : float or None
        The length of the longest row; for overlapping classes, a bound on it.
    tight_rows : ndarray of int64 or None
        Rows at the margin. With two classes they prove that no hyperplane has a larger margin.
    flipped_rows : ndarray of int64 or None
        The rows whose label was flipped.
    witness_rows, witness_weights : ndarray of int64 or None
        Rows that prove that no hyperplane separates the classes, and a positive multiplier for each of them:
        ``sum_i witness_weights[i] * y_i * (x_i, 1)`` over these rows is the zero vector, exactly.
    degree, units : int or None
        The smallest degree of a polynomial that separates the classes, and the smallest number of threshold
        units of a network with one hidden layer that does.
    margin_squared, exact_margin : Fraction or None
        The square of the margin of rounded rows (`to_decimals`, `to_integers`), and the margin itself if it
        is a fraction.
    """

    X: Floats
    y: Ints
    weights: Any = None
    intercept: Any = None
    margin: Any = None
    radius: Any = None
    tight_rows: Any = None
    flipped_rows: Any = None
    witness_rows: Any = None
    witness_weights: Any = None
    degree: Any = None
    units: Any = None
    margin_squared: Any = None
    exact_margin: Any = None

    @property
    def separation(self) -> str:
        """Whether a hyperplane separates the rows: "separable", "quasi-separable" or "inseparable"."""
        if self.witness_rows is None:
            return "separable"
        return "quasi-separable" if self.margin == 0.0 else "inseparable"

    @property
    def answer(self) -> dict[str, Any]:
        """What is known about the rows, by attribute."""
        known = {field.name: getattr(self, field.name) for field in fields(self)[2:]}
        return {name: value for name, value in known.items() if value is not None}

    def __iter__(self) -> Iterator[Any]:
        yield self.X
        yield self.y

    def __repr__(self) -> str:
        shown = (
            f"{name}=<{'x'.join(map(str, value.shape))}>" if hasattr(value, "shape") else f"{name}={value!r}"
            for name, value in {"X": self.X, "y": self.y, **self.answer}.items()
        )
        return f"Problem({', '.join(shown)})"
