"""The Gram matrix: every inner product of the rows, in the order of the classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from numpy.typing import NDArray
from scipy.sparse import issparse

from ..errors import InputError
from ..inputs import read_table
from ..kernels import tuned
from ..random_state import random_state_kept
from ..result import Floats, Ints
from ..sparse import dense
from ..views.model import need_two, read_points
from ..views.palettes import Palette
from .style import Display, axes_for, style, written

with random_state_kept():
    from sklearn.metrics.pairwise import pairwise_kernels


@dataclass(eq=False, repr=False)
class GramDisplay(Display):
    """A Gram matrix as a picture.

    Rows are sorted by class, so a kernel that tells the classes apart shows blocks. The eigenvalues are
    those of the matrix shown: a legal kernel has none below zero, up to rounding.

    Attributes
    ----------
    matrix : ndarray of shape (shown, shown)
    rows : ndarray of int64
        The rows that are shown, in this order.
    n_rows : int
        How many there are.
    codes : ndarray of int64
        The class of each row shown.
    classes : ndarray
    eigenvalues : ndarray
        In ascending order.
    name : str
    ax_, figure_ : Axes, Figure
        After `plot`.
    image_ : AxesImage
    borders_ : list of Line2D
        Between the classes.
    """

    matrix: Floats
    rows: Ints
    n_rows: int
    codes: Ints
    classes: NDArray[Any]
    eigenvalues: Floats
    name: str

    @classmethod
    def from_kernel(
        cls,
        kernel: Any,
        X: Any,
        y: Any = None,
        *,
        signed: bool = False,
        max_rows: int = 400,
        ax: Axes | None = None,
        theme: str | Palette | None = None,
        title: str | None = None,
    ) -> GramDisplay:
        """Draw the Gram matrix of a kernel.

        Parameters
        ----------
        kernel : kernel, function of two matrices, or name
            Of ``sx.kernels``, any function that gives K(x, x') for all pairs of rows of two matrices, or a
            name that scikit-learn's ``pairwise_kernels`` knows, such as "rbf".
        X : rows
        y : labels, optional
            To sort the rows by.
        signed : bool
            Show ``y_i y_j K(x_i, x_j)``, the products of the signed rows, for two classes: if all are
            positive, no update on one row lowers the score of another.
        max_rows : int
            Of more rows, this many are shown, evenly spread over the rows sorted by class.
        ax : Axes, optional
        theme : {"light", "dark"}, Palette or None
        title : str, optional
            By default the kernel.

        Returns
        -------
        GramDisplay

        Examples
        --------
        >>> display = GramDisplay.from_kernel("linear", [[1.0], [2.0], [3.0]])
        >>> display.matrix[0].tolist()
        [1.0, 2.0, 3.0]
        """
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        points = read_points(X, np.zeros(n_rows, dtype=int) if y is None else y)
        if max_rows < 2:
            raise InputError(f"max_rows must be at least 2. Got {max_rows}.")
        rows = _spread(points.codes, max_rows)
        codes = points.codes[rows]
        matrix = _gram(kernel, points.table[rows])
        if signed:
            need_two(points.classes, "signed=True")
            signs = 2.0 * codes - 1.0
            matrix = signs[:, None] * matrix * signs
        eigenvalues: Floats = np.asarray(np.linalg.eigvalsh((matrix + matrix.T) / 2.0), dtype=np.float64)
        display = cls(matrix, rows, n_rows, codes, points.classes, eigenvalues, _name(kernel))
        return display.plot(ax=ax, theme=theme, title=title)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any = None, **options: Any) -> GramDisplay:
        """Draw the Gram matrix of a model's kernel, with its parameters, or of plain inner products.

        Parameters
        ----------
        estimator : classifier
            Of this library or of scikit-learn. What it computes from its rows, such as ``gamma="scale"``, is
            computed from these if it is not fitted.
        X, y : rows and labels
        **options
            As for `from_kernel`.
        """
        kernel = getattr(estimator, "kernel_", getattr(estimator, "kernel", None))
        if isinstance(kernel, str):
            kernel = _with_parameters(kernel, estimator, X)
        return cls.from_kernel("linear" if kernel is None else kernel, X, y, **options)

    def plot(
        self,
        *,
        ax: Axes | None = None,
        theme: str | Palette | None = None,
        title: str | None = None,
    ) -> GramDisplay:
        """Draw, on the given axes or on new ones."""
        self.figure_: Figure | SubFigure
        self.figure_, self.ax_, colors = axes_for(ax, theme, (5.6, 4.8))
        ax = self.ax_
        with style(colors):
            largest = float(np.abs(self.matrix).max()) or 1.0
            negative = bool((self.matrix < 0.0).any())
            self.image_ = ax.imshow(
                self.matrix,
                cmap="PuOr_r" if negative else "cividis",
                vmin=-largest if negative else 0.0,
                vmax=largest,
                interpolation="nearest",
            )
            bar = self.figure_.colorbar(self.image_, ax=ax, shrink=0.85)
            bar.outline.set_visible(False)
            self._mark_classes(colors)
            ax.set_title(self.name if title is None else title)
            ax.set_xlabel(self._caption())
            ax.spines[:].set_visible(False)
        return self

    def _mark_classes(self, colors: Palette) -> None:
        ax, ends = self.ax_, np.flatnonzero(np.diff(self.codes)) + 0.5
        self.borders_ = []
        for end in ends:
            for line in (ax.axhline(end), ax.axvline(end)):
                line.set(color=colors.paper, linewidth=1.4)
                self.borders_.append(line)
        ax.set_xticks([])
        if self.classes.size > 1:
            starts = np.concatenate([[-0.5], ends, [len(self.codes) - 0.5]])
            names = [written(str(name)) for name in self.classes[np.unique(self.codes)]]
            ax.set_yticks((starts[1:] + starts[:-1]) / 2.0, names)
            ax.tick_params(length=0)
        else:
            ax.set_yticks([])

    def _caption(self) -> str:
        shown = (
            f"{len(self.rows):,} of {self.n_rows:,} rows"
            if len(self.rows) < self.n_rows
            else f"{self.n_rows} rows"
        )
        low, high = self.eigenvalues[[0, -1]]
        rounding = len(self.rows) * 2.0**-52 * max(abs(low), abs(high), 1e-300)
        smallest = "0 (to rounding)" if abs(low) <= 8.0 * rounding else f"{low:.3g}"
        return f"{shown}; eigenvalues from {smallest} to {high:.3g}"


def _with_parameters(name: str, estimator: Any, X: Any) -> Any:
    """The kernel that a model calls by a name: the parameters are those of the model."""
    known = {each: getattr(estimator, each, None) for each in ("gamma", "degree", "coef0")}
    if not type(estimator).__module__.startswith("sklearn."):
        return tuned(name, read_table(X)[0], **known)
    known["gamma"] = getattr(estimator, "_gamma", known["gamma"])
    if isinstance(known["gamma"], str):
        table = dense(read_table(X)[0])
        known["gamma"] = 1.0 / (table.shape[1] * (table.var() if known["gamma"] == "scale" else 1.0))
    return _Named(name, {each: value for each, value in known.items() if value is not None})


@dataclass(frozen=True)
class _Named:
    """A kernel of scikit-learn by its name; parameters that it does not have are left out."""

    name: str
    parameters: dict[str, Any]

    def __call__(self, one: Any, other: Any) -> Any:
        return pairwise_kernels(one, other, metric=self.name, filter_params=True, **self.parameters)

    def __str__(self) -> str:
        return f"{self.name} kernel"


def _gram(kernel: Any, table: Any) -> Floats:
    if isinstance(kernel, str):
        matrix = pairwise_kernels(table, metric=kernel)
    elif callable(kernel):
        matrix = kernel(table, table)
    else:
        raise InputError(
            "kernel must be a kernel of sx.kernels, a function of two matrices, or a name such as 'rbf'. "
            f"Got {kernel!r} instead."
        )
    matrix = np.asarray(matrix.toarray() if issparse(matrix) else matrix, dtype=np.float64)
    if matrix.shape != (table.shape[0], table.shape[0]) or not np.isfinite(matrix).all():
        raise InputError(
            f"The kernel must give one finite number for each pair of the {table.shape[0]} rows. Got shape "
            f"{matrix.shape}."
        )
    return matrix


def _spread(codes: Ints, most: int) -> Ints:
    """The rows to show, sorted by class; of many rows, evenly spread ones."""
    order = np.argsort(codes, kind="stable")
    if len(order) <= most:
        return order
    return order[np.round(np.linspace(0, len(order) - 1, most)).astype(np.int64)]


def _name(kernel: Any) -> str:
    if isinstance(kernel, str):
        return f"{kernel} kernel"
    return getattr(kernel, "__name__", None) or str(kernel)
