"""What loops read and fill: named tuples of arrays, and numbers that stand for kinds; nothing is compiled."""

from __future__ import annotations

from typing import Any, NamedTuple

# Columns of Arrow's: the types of their values, the bytes of each, and how many go into a block.
DOUBLE, FLOAT, LONG, INT = range(4)
SIZES = {DOUBLE: 8, FLOAT: 4, LONG: 8, INT: 4}
BLOCK = 1 << 15  # numbers of a block: it stays in the cache until its rows are complete
LEAST, MOST = 32, 512  # rows of a block

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
    """What a run keeps as it learns.

    ``counts[i, r]`` updates on row i (against rival r; one column for two classes), ``average``
    the sum that lazy averaging needs (empty when not asked for), ``log`` the (row, rival, visit)
    of each mistake (empty when not asked for), ``norms`` the squared norms of the rows visited
    (empty when not asked for, negative where not known), ``floor`` the smallest score since it was
    reset, ``clock`` the visits, the mistakes, the mistakes allowed and the log's length.
    """

    counts: Any
    average: Any
    log: Any
    norms: Any
    floor: Any
    clock: Any


class Gram(NamedTuple):
    """Inner products of a working set, row by row as they are asked for.

    ``products[slots[i]]`` holds <lift(x_i), lift(x_j)> for all j once ``slots[i] >= 0``;
    ``used[0]`` slots are filled; ``row`` has room for one lifted row, ``keys`` and ``spare`` for one
    number a row, ``lanes`` for sixteen.
    """

    products: Any
    slots: Any
    used: Any
    row: Any
    keys: Any
    spare: Any
    lanes: Any
