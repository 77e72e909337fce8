"""The questions that solvers may ask about rows in memory, in a mapped file or on a cluster."""

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
Mask = NDArray[np.bool_]
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Scan:
    """The result of a scan of every row: the mistakes, their cost, the lowest scores and their rows."""

    mistakes: int
    cost: float
    rows: Ints
    scores: Floats


class Shards(Protocol):
    """Rows in several parts; each part is visited by one thread or worker."""

    @property
    def starts(self) -> Ints:
        """The first row of each shard."""

    def map(self, task: Callable[..., T], steps: Floats, *shared: Any) -> list[T]:
        """Call ``task(rows, steps, *shared)`` for the rows of each shard; return the results in order.

        ``steps`` has one number per row, of which each task gets its part, or one number for all rows. A task
        must not change its arguments, because it runs again if a worker is lost.
        """


class Rows(Protocol):
    """Labeled rows; sign and lift are applied where the rows are.

    A solver of all the data uses only what is listed here. One number per row (labels, norms, scores) may be
    sent to the solver. The rows themselves are not, except for the few that `take` copies into memory.
    Solvers that learn from every row in turn need `MemoryRows`, because the weights change after each row.
    """

    @property
    def local(self) -> MemoryRows | None:
        """These rows, if they are in memory; None if they are elsewhere."""

    @property
    def n_rows(self) -> int:
        """The number of rows, including those of zero weight."""

    @property
    def n_columns(self) -> int:
        """The number of columns, without the lift."""

    @property
    def n_classes(self) -> int:
        """The number of classes."""

    @property
    def names(self) -> tuple[str, ...] | None:
        """The column names, if the data have names."""

    @property
    def lifted(self) -> bool:
        """Whether a coordinate of ones is appended to each row."""

    @property
    def sparse(self) -> bool:
        """Whether only non-zero numbers are stored."""

    @property
    def numbers(self) -> int:
        """The number of stored numbers that one pass reads: the unit of work."""

    @property
    def weights_shape(self) -> tuple[int, ...]:
        """The shape of weights for these rows: one vector for two classes, else one per class."""

    @property
    def labels(self) -> NDArray[Any]:
        """The class code of every row."""

    @property
    def order(self) -> Ints:
        """The rows that count, in order: all rows except those of zero weight."""

    @property
    def squared_norms(self) -> Floats:
        """|lift(x_i)|^2 for every row; raise if a value is not finite or its square overflows."""

    @property
    def radius(self) -> float:
        """R: the largest norm of a lifted row that counts."""

    @property
    def integral(self) -> bool:
        """Whether every value is an integer, so that small sums are exact."""

    def scan(self, weights: Floats, limit: int = 1, costs: Floats | None = None) -> Scan:
        """Score every row that counts under fixed weights: count the mistakes, keep the lowest scores.

        At most ``limit`` scores are kept; of equal scores, those of the first rows. ``costs`` has the cost of
        a mistake on each row, or one number for all rows.
        """

    def take(self, indices: Ints) -> MemoryRows:
        """Copy a few rows, in the given order, into memory."""

    def outputs(self, weights: Floats) -> Floats:
        """Return <w, lift(x_i)> for every row and every weight vector: shape (rows, vectors)."""

    def scores(self, weights: Floats) -> Floats:
        """Return the signed score of every row: <w, z_i>, or the lead over the best other class."""

    def combination(self, multipliers: Floats) -> Floats:
        """Return the sum of ``multipliers[i] * z_i``; two classes only."""

    def combine(self, counts: Ints, steps: Floats, weights: Floats) -> None:
        """Add ``steps[i] * counts[i, r]`` corrections of each row i against each rival r to the weights.

        For two classes, counts have one column. Rows whose counts are all zero are not read.
        """

    def class_sums(self, factors: Floats) -> Floats:
        """Return the sum of ``factors[i] * lift(x_i)`` over each class: shape (classes, width)."""

    def outer_sum(self, members: Ints) -> Floats:
        """Return the lower triangle of the sum of ``lift(x_i) lift(x_i)^T`` over some rows."""

    def column_reach(self) -> tuple[Floats, Floats]:
        """Return the smallest and the largest number in each column of dense rows that count."""

    def less(self, center: Floats) -> Self:
        """Subtract a center from dense rows, in float64, where the rows are."""

    def shards(self, number: int | None = None) -> Shards:
        """Cut the rows into ``number`` shards; on a cluster each block is a shard."""
