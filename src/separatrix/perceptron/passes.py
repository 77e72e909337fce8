"""Passes over rows in memory: every row is visited in turn, and every mistake corrected."""

from __future__ import annotations

import math

import numpy as np

from .. import loops
from ..loops.layouts import VISITS
from ..result import Ints, PassRecord, Result, Status
from ..rows import numpy_loops, threads
from ..rows.memory import MemoryRows
from .learner import Bracket, Learner, normalise
from .voting import votes_of


def learn_once(learner: Learner, rows: MemoryRows) -> Result:
    """Let a learner visit its rows once, and read none again: online learning."""
    clean = make_pass(learner, rows, rows.order, measure=True)
    bracket, visits = Bracket(learner), int(learner.tally.clock[VISITS])
    lower = bracket.lower(float(learner.tally.floor[0])) if clean else -math.inf
    bracket.length()  # refuses weights beyond float64
    upper, averaging = bracket.upper(), learner.tally.average.size > 0
    return Result(
        status=Status.ONLINE,
        weights=learner.weights,
        counts=learner.tally.counts,
        mistakes=learner.mistakes,
        errors=None,
        passes=1,
        radius=rows.radius,
        margin_lower=-math.inf,
        margin_upper=upper,
        history=(PassRecord(learner.mistakes, 0 if clean else None, lower, upper),),
        order="cyclic",
        visits=visits,
        average=learner.weights - learner.tally.average / max(1, visits) if averaging else None,
        average_sum=learner.tally.average if averaging else None,
        votes=votes_of(learner, visits) if learner.tally.log.shape[0] > 0 else None,
    )


def make_pass(learner: Learner, rows: MemoryRows, order: Ints, *, measure: bool) -> bool:
    """Visit the rows of ``order`` once; return whether all were visited, and none was a mistake.

    With ``measure``, the norms of the rows are measured while they are at hand. The lowest score is the
    ``floor`` of the tally then.
    """
    before = learner.mistakes
    norms = np.full(rows.n_rows if measure else 0, -1.0)
    learner.tally = learner.tally._replace(norms=norms)
    learner.tally.floor[0] = np.inf
    clean = visit(learner, rows, order) and learner.mistakes == before
    if measure:
        rows.offer_norms(norms)
    return clean


def visit(learner: Learner, rows: MemoryRows, order: Ints) -> bool:
    """Visit the rows of ``order`` once; return whether all of them were visited.

    Python runs between two pieces, and with it Ctrl-C. Weights that are renormalised are so after each row.
    """
    size = 1 if learner.renormalise else max(1, threads.MOST_AT_ONCE * rows.n_rows // rows.numbers)
    for first in range(0, order.size, size):
        part, before = order[first : first + size], learner.mistakes
        if _learn(learner, rows, part) < part.size:
            return False
        if learner.renormalise and learner.mistakes > before:
            normalise(learner.weights)
        threads.relax()
    return True


def _learn(learner: Learner, rows: MemoryRows, order: Ints) -> int:
    """Learn from some rows; return how many came before a limit."""
    seen = 0
    while True:
        learn = numpy_loops.learn if learner.light else loops.rows.learn
        seen += int(learn(rows.storage, order[seen:], learner.weights, learner.steps, learner.tally))
        if seen == order.size or learner.out_of_updates:
            return seen
        learner.flush_log()
