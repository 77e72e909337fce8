"""The rows of regressions on classes: binary, grouped binomial, multinomial and ordinal."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from .regression import Given, Hubs, Rows, members, need


def binary(given: Given) -> Rows:
    """Build the rows of any link that increases strictly onto (0, 1): x if y = 1, -x if y = 0.

    Silvapulle (1981), Albert and Anderson (1984). With groups, each group has an intercept of its own, and
    groups of one class say nothing.
    """
    if "groups" in given.data.columns:
        return conditional(given, "groups")
    need(given.data.classes != (), "A binary regression needs labels of two classes.")
    need(np.unique(given.y).size == 2, "The rows have fewer or more than two classes.")
    return given.made([given.pattern(given.rows, [(given.rows, 2.0 * given.y - 1.0)])])


def conditional(given: Given, name: str = "strata") -> Rows:
    """Build the rows of a conditional logit: each case minus each control of its stratum.

    Strata without variation say nothing. A regression with a fixed effect for each stratum has the same rows.
    """
    need(np.unique(given.y).size <= 2, "The rows have more than two classes.")
    hubs, constant = Hubs(), 0
    groups = members(given.column(name).astype(np.int64))
    for places in groups:
        case = given.y[places] == 1
        hubs.compare(given.rows[places[case]], given.rows[places[~case]])
        constant += bool(case.all() or not case.any())
    dropped = (
        f"{constant} of {len(groups)} {name} have no variation in y and are left out" if constant else ""
    )
    return given.made(hubs.patterns(given), hidden=len(hubs.uppers), dropped=dropped)


def binomial(given: Given) -> Rows:
    """Build the rows of s successes in m trials: x if s = m, -x if s = 0; equal if there are both."""
    trials = given.column("trials")
    need((given.y >= 0) & (given.y <= trials), "Successes must be between 0 and the trials.", given.rows)
    used = trials > 0
    sign = np.where(given.y == trials, 1.0, -1.0)
    both = used & (given.y > 0) & (given.y < trials)
    one = used & ~both
    return given.made(
        [given.pattern(given.rows[one], [(given.rows[one], sign[one])])],
        [given.pattern(given.rows[both], [(given.rows[both], 1)])],
    )


def multinomial(given: Given) -> Rows:
    """Build the rows of a multinomial logit: the block of the row's class minus that of each other class.

    The first class is the reference, and has no block.
    """
    n_rows, own = int(given.data.matrix.shape[0]), given.y.astype(np.int64)
    last = int(own.max(initial=0))
    need(last > 0, "The rows have fewer than two classes.")
    patterns = []
    for other in range(last + 1):
        rows, mine = given.rows[own != other], own[own != other]
        places = np.where(mine > 0, (mine - 1) * n_rows + rows, -1)
        against = np.where(other > 0, (other - 1) * n_rows + rows, -1)
        patterns.append(given.pattern(rows, [(places, 1), (against, -1)], blocks=last))
    return given.made(patterns, per_class=given.present[1:])


def ordinal(given: Given) -> Rows:
    """Build the rows of a cumulative model, or of adjacent categories: a_k - x b and x b - a_(k-1) for y = k.

    Categories without rows are left out: with them, thresholds would coincide at the boundary.
    """
    y, top, names = given.y.astype(np.int64), int(given.y.max(initial=0)), _thresholds(given)
    below, above = y < top, y > 0
    return given.made(
        [
            given.pattern(given.rows[below], [(given.rows[below], -1)], [(y[below], 1)], further=len(names)),
            given.pattern(
                given.rows[above], [(given.rows[above], 1)], [(y[above] - 1, -1)], further=len(names)
            ),
        ],
        further=names,
        dropped=_empty(given),
    )


def continuation(given: Given) -> Rows:
    """Build the rows of continuation ratios: (x, e_k) if y = k, -(x, e_k) if y > k; not for the last k."""
    y, names = given.y.astype(np.int64), _thresholds(given)
    patterns = []
    for k in range(len(names)):
        rows, stops = given.rows[y >= k], y[y >= k] == k
        sign = np.where(stops, 1.0, -1.0)
        patterns.append(
            given.pattern(rows, [(rows, sign)], [(np.full(rows.size, k), sign)], further=len(names))
        )
    return given.made(patterns, further=names, dropped=_empty(given))


def _thresholds(given: Given) -> list[str]:
    labels = given.present
    need(len(labels) > 1, "The rows have fewer than two categories.")
    return [f"{low}|{high}" for low, high in pairwise(labels)]


def _empty(given: Given) -> str:
    missing = [label for label in given.data.classes if label not in given.present]
    return f"categories without rows are left out: {', '.join(missing)}" if missing else ""


def bradley_terry(given: Given) -> Rows:
    """Build the rows of paired comparisons: the winner minus the loser, and columns such as home advantage.

    The first player is the reference. Without columns, the estimate exists if and only if every component of
    the graph of wins is strongly connected (Ford 1957).
    """
    both = np.concatenate([given.column("winner"), given.column("loser")]).astype(np.int64)
    players, places = np.unique(both, return_inverse=True)
    winner, loser = np.split(places.ravel(), 2)
    need(winner != loser, "A player cannot play against itself", given.rows)
    names = [given.data.classes[player] for player in players[1:]]
    pattern = given.pattern(
        given.rows, [(given.rows, 1)], [(winner - 1, 1), (loser - 1, -1)], further=len(names)
    )
    return given.made([pattern], further=names)
