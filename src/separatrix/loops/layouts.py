"""What loops read and fill: named tuples of arrays, and codes of types. Nothing here is compiled."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

# Clock entries of a Tally.
VISITS, MISTAKES, LIMIT, LOGGED = range(4)


class DenseRows(NamedTuple):
    """A matrix of any real type and memory order, with the class code of each row."""

    values: Any
    labels: Any
    lift: Any


class SparseRows(NamedTuple):
    """The three arrays of a CSR matrix, with the class code of each row."""

    data: Any
    indices: Any
    indptr: Any
    labels: Any
    lift: Any


class Tally(NamedTuple):
    """What a run records while it learns; an array that is not needed is empty.

    ``counts[i, r]`` counts the updates on row i against rival r (one column for two classes), ``average`` is
    the sum that lazy averaging needs, ``log`` has (row, rival, visit) of each mistake, ``norms`` the squared
    norms of the rows visited (negative if unknown), ``floor`` the smallest score since it was reset,
    ``margin`` the largest score that is corrected (zero, unless the perceptron has a margin), and ``clock``
    the visits, the mistakes, the limit on mistakes and the length of the log. ``outputs`` is scratch memory
    for one number per class.
    """

    counts: Any
    average: Any
    log: Any
    norms: Any
    floor: Any
    margin: Any
    clock: Any
    outputs: Any = np.empty(0)


# Totals of Visits.
LOSS, SQUARED, MISTAKEN = range(3)


class Visits(NamedTuple):
    """What online learners record: ``counts[i, r]`` of the mistakes on row i against rival r.

    ``multipliers`` sums the steps of each row, and ``totals`` has the sums of the hinge losses before each
    update and of their squares, and the number of mistakes.
    """

    counts: Any
    multipliers: Any
    totals: Any


class Gram(NamedTuple):
    """Inner products of a working set, computed row by row when they are needed.

    ``products[slots[i]]`` holds <lift(x_i), lift(x_j)> for all j if ``slots[i] >= 0``, and ``used[0]`` slots
    are filled. The others are scratch memory: ``row`` for one lifted row, ``keys`` and ``spare`` for one
    number per row, ``lanes`` for sixteen numbers.
    """

    products: Any
    slots: Any
    used: Any
    row: Any
    keys: Any
    spare: Any
    lanes: Any
