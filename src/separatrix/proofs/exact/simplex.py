"""Gordan's alternative by a simplex method in integers alone, apart from `partition`, which floats guide.

It looks for ``l >= 0`` of sum one with ``Z'l = 0`` by minimizing the sum of artificial variables. The tableau
is kept in integers over one common denominator (Edmonds' fraction-free pivots), so every sign is certain, and
Bland's rule makes it end. Where the numbers of one row are hundreds of powers of two apart, floats may not
find the partition that `partition` asks for: 6 of 1,600 such questions at random.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ...deadline import NEVER, Deadline
from .integer_rows import reduced

LARGEST = 1 << 14  # numbers in the tableau; above, the time would not be worth the answer


def gordan(rows: Any, n_tight: int = 0, deadline: Deadline = NEVER) -> tuple[list[int], list[int]] | None:
    """Weights that separate the rows, or multipliers with which they vanish; the other list is empty.

    Parameters
    ----------
    rows : fmpz_mat of shape (rows, columns)
        The first ``n_tight`` rows are to have the score zero: their negatives are the last rows.
    deadline : Deadline
        When to give up: OutOfTime is raised.

    Returns
    -------
    tuple, or None if there are too many rows or columns.
    """
    n_rows, width = rows.nrows(), rows.ncols()
    if (width + 2) * (n_rows + width + 2) > LARGEST:
        return None
    table: Any = np.zeros((width + 2, n_rows + width + 2), dtype=object)
    for i, row in enumerate(rows.tolist()):
        table[:width, i] = [int(v) for v in row]
    table[width, n_tight : n_rows - n_tight] = table[width, -1] = 1
    for r in range(width + 1):
        table[r, n_rows + r] = 1
    table[-1] = -table[:-1].sum(axis=0)
    table[-1, n_rows:-1] = 0
    basic, scale = list(range(n_rows, n_rows + width + 1)), 1
    while table[-1, -1] and (falling := [j for j in range(n_rows) if table[-1, j] < 0]):
        deadline.need()
        column = falling[0]
        able = [r for r in range(width + 1) if table[r, column] > 0]
        row = min(able, key=lambda r: (Fraction(table[r, -1], table[r, column]), basic[r]))
        line = table[row].copy()
        table = (table * line[column] - np.outer(table[:, column], line)) // scale
        table[row], basic[row], scale = line, column, line[column]
    if table[-1, -1]:
        return reduced([int(v - scale) for v in table[-1, n_rows : n_rows + width]]), []
    values = [0] * n_rows
    for r, column in enumerate(basic):
        if column < n_rows:
            values[column] = int(table[r, -1])
    return [], reduced(values)
