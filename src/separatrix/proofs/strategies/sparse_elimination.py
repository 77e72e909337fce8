"""Sparse rows without those that a column of one sign settles: what is left of the question.

Where a column has numbers of one sign only among the signed rows, a large weight on it separates the rows
that use it, and no combination with positive multipliers on one of them vanishes. Without those rows other
columns have one sign only, and so on. What is left is separable exactly if all rows are. Texts lose most of
their rows so: a word that only one class uses settles every text that has it.

What is left may still have many columns. A combination that vanishes is likeliest among rows that use
frequent columns alone: they are many, in few coordinates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...deadline import NEVER, Deadline

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TINY = 1e-30  # a weight where all are zero
# Times the score that a row needs, which its columns of one sign give it. Of rows that settle one after the
# other, each may need a larger weight than the next: with twice the need, a thousand leave the floats.
SPARE = 1.001
TOGETHER = 20  # times that all rows are looked through, which is quickest where many settle each time
ROUNDED = 1e-12  # part of the sum of magnitudes by which a score may be off


@dataclass(frozen=True, eq=False)
class Settled:
    """Rows that columns of one sign separate, whatever the weights of the other columns are.

    Attributes
    ----------
    rows : CSR matrix
        Signed.
    columns : ndarray of int64
        Columns that have numbers of one sign only, in these rows and in those that settle later.
    signs : ndarray of shape (columns of one sign,)
        The sign of each.
    gains : ndarray of shape (rows,)
        By how much each score grows with a weight of 1, times its sign, on each of those columns: positive.
    """

    rows: Any
    columns: Ints
    signs: Floats
    gains: Floats


@dataclass(frozen=True, eq=False)
class Leftover:
    """The rows that no column of one sign settles.

    Attributes
    ----------
    places : ndarray of int64
        Where they stand among the rows that were given.
    settled : tuple of Settled
        What went, in turn.
    """

    places: Ints
    settled: tuple[Settled, ...]

    def extended(self, weights: Floats, deadline: Deadline = NEVER) -> Floats | None:
        """Weights that separate what is left, made to separate the other rows as well, as far as floats tell.

        None where no floats are large enough. Raises OutOfTime when the deadline has come.
        """
        found = weights.copy()
        largest = float(np.abs(found).max(initial=0.0))
        with np.errstate(over="ignore", invalid="ignore"):
            for part in reversed(self.settled):
                deadline.need()
                lost = ROUNDED * (abs(part.rows) @ np.abs(found)) - part.rows @ found
                found[part.columns] += part.signs * max(
                    SPARE * float((lost / part.gains).max()), largest, TINY
                )
                largest = max(largest, float(np.abs(found[part.columns]).max()))
        return found if np.isfinite(found).all() else None


def left_over(rows: Any, deadline: Deadline = NEVER) -> Leftover:
    """Settle rows until each column of the others has numbers of both signs, or none are left.

    Parameters
    ----------
    rows : CSR matrix
        Signed, with their intercept.
    deadline : Deadline
        When to give up: OutOfTime is raised.
    """
    places: Ints = np.arange(rows.shape[0])
    settled: list[Settled] = []
    for _ in range(TOGETHER):
        deadline.need()
        signs = _one_sign(rows)
        gone = abs(rows) @ np.abs(signs) > 0.0
        if not gone.any():
            return Leftover(places, tuple(settled))
        part, columns = rows[gone], np.flatnonzero(signs)
        settled.append(Settled(part, columns, signs[columns], part @ signs))
        rows, places = rows[~gone], places[~gone]
    rest = _few_at_a_time(rows, deadline)
    return Leftover(places[rest.places], (*settled, *rest.settled))


def _one_sign(rows: Any) -> Floats:
    """1 for columns that have positive numbers only, -1 for such of negative ones, 0 for the others."""
    positive, negative = (counts > 0 for counts in _sign_counts(rows))
    return np.where(positive & ~negative, 1.0, np.where(negative & ~positive, -1.0, 0.0))


def _sign_counts(rows: Any) -> tuple[Ints, Ints]:
    """How many positive and how many negative numbers each column has."""
    width = rows.shape[1]
    positive, negative = rows.indices[rows.data > 0.0], rows.indices[rows.data < 0.0]
    return np.bincount(positive, minlength=width), np.bincount(negative, minlength=width)


def _few_at_a_time(rows: Any, deadline: Deadline) -> Leftover:
    """As `left_over`, in time of the numbers that settle, and not of all rows each time."""
    by_column, is_open = rows.tocsc(), np.ones(rows.shape[0], dtype=bool)
    positive, negative = _sign_counts(rows)
    signs, changed = np.zeros(rows.shape[1]), np.arange(rows.shape[1])
    settled: list[Settled] = []
    while True:
        deadline.need()
        columns = changed[(positive[changed] > 0) != (negative[changed] > 0)]
        if not columns.size:
            return Leftover(np.flatnonzero(is_open), tuple(settled))
        signs[columns] = np.where(positive[columns] > 0, 1.0, -1.0)
        used = by_column[:, columns]
        users = np.unique(used.indices[used.data != 0.0])
        gone = users[is_open[users]]
        part = rows[gone]
        settled.append(Settled(part, columns, signs[columns], part @ signs))
        signs[columns], is_open[gone] = 0.0, False
        np.subtract.at(positive, part.indices[part.data > 0.0], 1)
        np.subtract.at(negative, part.indices[part.data < 0.0], 1)
        changed = np.unique(part.indices)


def frequent_parts(rows: Any, sizes: tuple[int, ...], per_column: float) -> Iterator[Ints]:
    """For each size, the rows that use none but that many of the most frequent columns.

    Only where there are more than ``per_column`` such rows for each of those columns.
    """
    width = rows.shape[1]
    uses = np.bincount(rows.indices, minlength=width)
    rank = np.empty(width, dtype=np.int64)
    rank[np.argsort(-uses, kind="stable")] = np.arange(width)
    rarest = np.zeros(rows.shape[0], dtype=np.int64)
    filled = np.flatnonzero(np.diff(rows.indptr))
    rarest[filled] = np.maximum.reduceat(rank[rows.indices], rows.indptr[filled])
    for size in sizes:
        if size >= np.count_nonzero(uses):
            return
        places = np.flatnonzero(rarest < size)
        if places.size > per_column * size:
            yield places
