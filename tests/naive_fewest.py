"""The fewest errors of any hyperplane, by looking at all hyperplanes through as many rows as they can hold.

The hyperplanes orthogonal to the signed rows cut the weights into cells, in which no score changes its sign.
If the rows have full column rank, each cell has an edge: weights that are orthogonal to one row less than
there are columns. Near these weights the other rows keep their signs, and those on the hyperplane are a
smaller question.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

from tests import naive


def fewest(rows, costs):
    """The least cost of the rows without a positive score, over all weights."""
    always = sum(cost for row, cost in zip(rows, costs, strict=True) if not any(row))
    live = [(list(row), cost) for row, cost in zip(rows, costs, strict=True) if any(row)]
    if not live:
        return always
    rows, costs = [row for row, _ in live], [cost for _, cost in live]
    columns = pivots(rows)
    rows = [[row[j] for j in columns] for row in rows]
    best = sum(costs)
    for some in itertools.combinations(rows, len(columns) - 1):
        edge = orthogonal(some, len(columns))
        if not any(edge):
            continue
        scores = [sum(a * b for a, b in zip(row, edge, strict=True)) for row in rows]
        on = [i for i, score in enumerate(scores) if score == 0]
        sides = [sum(costs[i] for i, score in enumerate(scores) if sign * score < 0) for sign in (1, -1)]
        if min(sides) < best:
            best = min(best, min(sides) + fewest([rows[i] for i in on], [costs[i] for i in on]))
    return always + best


def pivots(rows):
    """Columns that are independent and span all columns."""
    table, found = [list(map(Fraction, row)) for row in rows], []
    for j in range(len(table[0])):
        pivot = next((row for row in table if row[j]), None)
        if pivot is None:
            continue
        found.append(j)
        table = [
            [a - row[j] / pivot[j] * b for a, b in zip(row, pivot, strict=True)]
            for row in table
            if row is not pivot
        ]
    return found


def orthogonal(rows, width):
    """A vector that is orthogonal to ``width - 1`` rows: their minors, zero if they are dependent."""
    return [
        (-1) ** j * determinant([[v for k, v in enumerate(row) if k != j] for row in rows])
        for j in range(width)
    ]


def determinant(rows):
    """By expansion."""
    if not rows:
        return 1
    return sum(
        (-1) ** j * value * determinant([[v for k, v in enumerate(row) if k != j] for row in rows[1:]])
        for j, value in enumerate(rows[0])
        if value
    )


def fewest_of_classes(pairs, costs):
    """The same for rows with several signed rows each, by trying all sets of rows from the cheapest on."""
    sets = itertools.chain.from_iterable(
        itertools.combinations(range(len(costs)), size) for size in range(len(costs) + 1)
    )
    for some in sorted(sets, key=lambda each: sum(costs[i] for i in each)):
        rest = [row for i, rows in enumerate(pairs) if i not in some for row in rows]
        if not rest or naive.separation(rest) == "separable":
            return sum(costs[i] for i in some)
    raise AssertionError("no rows are left")
