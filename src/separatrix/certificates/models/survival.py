"""The rows of Cox models: each death minus those at risk."""

from __future__ import annotations

import numpy as np

from ..monomials import Ints
from .combinations import Pattern
from .regression import Given, Hubs, Rows, need

MOST_PAIRS = 20_000_000  # of deaths and rows at risk, if entry is delayed


def cox(given: Given) -> Rows:
    """Build the rows of a Cox model (Jacobsen 1989): no row at risk may have a higher score than a death.

    With Breslow's or Efron's method, tied deaths are equal. With the exact method, each death is compared
    with each survivor. Risk sets are nested, so that it is enough to compare the deaths at a time with those
    that leave before the next death, and with the next deaths: O(n) rows. Delayed entry needs all pairs.
    """
    event = given.column("event") > 0
    time, stratum = given.column("time"), given.column("strata", 0.0)
    order = np.lexsort((~event, time, stratum))  # the deaths come first at their time
    event, time, stratum, risky = event[order], time[order], stratum[order], given.rows[order]
    begins = event.copy()
    begins[1:] &= (time[1:] != time[:-1]) | (stratum[1:] != stratum[:-1])
    starts = np.flatnonzero(begins)
    if not starts.size:
        return given.made([])
    if "entry" in given.data.columns:
        return _all_pairs(given, order[starts])
    # the last time of a death, by its number, that each row is at risk at; -1 before the first of its stratum
    last = np.searchsorted(starts, np.arange(order.size), side="right") - 1
    last[(last >= 0) & (stratum != stratum[starts[last]])] = -1
    dies = event & (last >= 0) & (time == time[starts[last]])
    follows = np.zeros(starts.size, dtype=bool)  # whether there is a death before, in the same stratum
    follows[1:] = stratum[starts[1:]] == stratum[starts[:-1]]
    first = risky[starts]
    n_deaths, hubs = np.bincount(last[dies], minlength=starts.size), Hubs()
    many = (n_deaths > 1) & (given.asked.ties == "exact")
    lower = np.flatnonzero((last >= 0) & (~dies | follows[last]))
    moment = last[lower] - dies[lower]  # of the deaths that each of these rows is compared with, increasing
    single = ~many[moment]
    hubs.pairs.append((first[moment[single]], risky[lower[single]]))
    for k in np.flatnonzero(many).tolist():
        some = slice(*np.searchsorted(moment, [k, k + 1]))
        hubs.compare(risky[starts[k] : starts[k] + n_deaths[k]], risky[lower[some]])
    tied = np.flatnonzero(dies & ~many[last] & (np.arange(last.size) != starts[last]))
    return _rows(given, hubs, first[last[tied]], risky[tied])


def _all_pairs(given: Given, deaths_at: Ints) -> Rows:
    """Compare deaths with all rows at risk, which may have entered late."""
    event, time, stratum = given.column("event") > 0, given.column("time"), given.column("strata", 0.0)
    entry = given.column("entry")
    need(entry < time, "The entry must be before the time", given.rows)
    found, left, right, n_pairs = list[tuple[Ints, Ints]](), list[Ints](), list[Ints](), 0
    for k in deaths_at.tolist():
        at_risk = np.flatnonzero((entry < time[k]) & (time >= time[k]) & (stratum == stratum[k]))
        dies = event[at_risk] & (time[at_risk] == time[k])
        deaths, others = given.rows[at_risk[dies]], given.rows[at_risk[~dies]]
        if given.asked.ties != "exact":
            left.append(np.full(deaths.size - 1, deaths[0]))
            right.append(deaths[1:])
            deaths = deaths[:1]
        found.append((deaths, others))
        n_pairs += others.size
        need(n_pairs < MOST_PAIRS, f"Delayed entry makes more than {MOST_PAIRS:,} pairs of rows.")
    none, hubs = np.zeros(0, dtype=np.int64), Hubs()
    for deaths, others in sorted(found, key=lambda each: each[0].size > 1):
        hubs.compare(deaths, others)
    return _rows(given, hubs, np.concatenate([none, *left]), np.concatenate([none, *right]))


def _rows(given: Given, hubs: Hubs, left: Ints, right: Ints) -> Rows:
    count = len(hubs.uppers)
    tied: Pattern = given.pattern(left, [(left, 1), (right, -1)], further=count)
    return given.made(hubs.patterns(given), [tied], hidden=count)
