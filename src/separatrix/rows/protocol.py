"""What solvers may ask of rows, wherever the rows are: in memory, in a mapped file, on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .memory import MemoryRows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Scan:
    """What one scan of every row found: the mistakes, their cost, the lowest scores and their rows."""

    mistakes: int
    cost: float
    rows: Ints
    scores: Floats


class Shards(Protocol):
    """Rows that lie in pieces, each of which one thread or worker visits, apart from all others."""

    @property
    def starts(self) -> Ints:
        """The first row of each shard."""

    def map(self, task: Callable[..., T], steps: Floats, *shared: Any) -> list[T]:
        """Call ``task(rows, steps, *shared)`` for the rows of each shard; what it returns, in their order.

        ``steps`` has a number for each row, of which a task gets its part, or one for all. A task changes
        none of its arguments, so that it may be run again where a worker was lost.
        """


class Rows(Protocol):
    """Labelled rows; sign and lift are applied where the rows are.

    A solver of all the data uses what is listed here and nothing else. One number a row (labels, norms,
    scores) may travel; the rows themselves do not, but for the few that `take` copies into memory.
    Learning from every row in turn is not among it, since the weights would have to travel from row to row:
    solvers that do so need `MemoryRows`.
    """

    @property
    def local(self) -> MemoryRows | None:
        """These rows, if they are in memory; None if they are elsewhere."""

    @property
    def n_rows(self) -> int:
        """Count the rows, those of zero weight included."""

    @property
    def n_columns(self) -> int:
        """Count the columns, without the lift."""

    @property
    def n_classes(self) -> int:
        """Count the classes."""

    @property
    def names(self) -> tuple[str, ...] | None:
        """Column names, where the data came with them."""

    @property
    def lifted(self) -> bool:
        """Whether a coordinate of ones is appended to each row."""

    @property
    def sparse(self) -> bool:
        """Whether only non-zero numbers are stored."""

    @property
    def numbers(self) -> int:
        """How many stored numbers one pass reads: the unit of work."""

    @property
    def weights_shape(self) -> tuple[int, ...]:
        """The shape of weights for these rows: one vector for two classes, else one a class."""

    @property
    def labels(self) -> NDArray[Any]:
        """The class code of every row."""

    @property
    def order(self) -> Ints:
        """The rows that count, in their order; rows of zero weight are not among them."""

    @property
    def squared_norms(self) -> Floats:
        """|lift(x_i)|^2 for every row; raises where a value is not finite or its square overflows."""

    @property
    def radius(self) -> float:
        """R: the largest norm of a lifted row that counts."""

    @property
    def integral(self) -> bool:
        """Whether every value is a whole number, so that sums do not round while they are small."""

    def scan(self, weights: Floats, limit: int = 1, costs: Floats | None = None) -> Scan:
        """Score every row that counts under fixed weights: count the mistakes, keep the lowest scores.

        So many as ``limit`` are kept, of equal scores those of the first rows. ``costs`` says what a mistake
        on each row costs; an array of one number serves all rows.
        """

    def take(self, indices: Ints) -> MemoryRows:
        """Copy a few rows, in the given order, into memory."""

    def outputs(self, weights: Floats) -> Floats:
        """<w, lift(x_i)> for every row and every weight vector: shape (rows, vectors)."""

    def scores(self, weights: Floats) -> Floats:
        """<w, z_i> for every row, two classes."""

    def combination(self, multipliers: Floats) -> Floats:
        """Sum of ``multipliers[i] * z_i``, two classes."""

    def combine(self, counts: Ints, steps: Floats, weights: Floats) -> None:
        """Add ``steps[i] * counts[i, r]`` corrections of each row i against each rival r to the weights.

        For two classes counts have one column. Only rows whose counts are not all zero are read.
        """

    def class_sums(self, factors: Floats) -> Floats:
        """Sum of ``factors[i] * lift(x_i)`` over the rows of each class: shape (classes, width)."""

    def outer_sum(self, members: Ints) -> Floats:
        """Sum of ``lift(x_i) lift(x_i)^T`` over some rows; only the lower triangle is meant."""

    def column_reach(self) -> tuple[Floats, Floats]:
        """The smallest and the largest number of each column of dense rows that count."""

    def less(self, center: Floats) -> Self:
        """Dense rows less a center, in float64, where the rows are."""

    def shards(self, number: int | None = None) -> Shards:
        """Cut the rows into so many shards; rows on a cluster are cut already."""
