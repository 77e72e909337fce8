"""Passes over rows in memory: visit every row in turn, and correct every mistake."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import loops
from ..loops.layouts import VISITS
from ..result import Ints, PassRecord, Result, Status
from ..rows import numpy_loops, threads
from ..rows.memory import MemoryRows
from .learner import Bracket, Learner, normalise
from .voting import votes_of


def learn_once(learner: Learner, rows: MemoryRows) -> Result:
    """Visit each row once, and read no row again: online learning."""
    clean = make_pass(learner, rows, rows.order, measure=True)
    bracket = Bracket(learner)
    lower = bracket.lower(float(learner.tally.floor[0])) if clean else -math.inf
    bracket.length()  # raises an error if the weights have left the range of float64
    upper = bracket.upper()
    return result_of(
        learner,
        status=Status.ONLINE,
        mistakes=learner.mistakes,
        errors=None,
        passes=1,
        margin_lower=-math.inf,
        margin_upper=upper,
        history=(PassRecord(learner.mistakes, 0 if clean else None, lower, upper),),
        order="cyclic",
        voted=learner.tally.log.shape[0] > 0,
    )


def result_of(learner: Learner, *, voted: bool, **known: Any) -> Result:
    """Return a result with what the learner holds, and the other fields as given."""
    visits, average = int(learner.tally.clock[VISITS]), learner.tally.average
    return Result(
        weights=learner.weights,
        counts=learner.tally.counts,
        mixed_counts=learner.mixed,
        radius=learner.rows.radius,
        visits=visits,
        average=learner.weights - average / max(1, visits) if average.size else None,
        average_sum=average if average.size else None,
        votes=votes_of(learner, visits) if voted else None,
        **known,
    )


def make_pass(learner: Learner, rows: MemoryRows, order: Ints, *, measure: bool) -> bool:
    """Visit the rows of ``order`` once; return whether all were visited without a mistake.

    The lowest score is then the ``floor`` of the tally. With ``measure``, the pass also computes the norms
    of the rows.
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

    Python regains control between two pieces, so Ctrl-C works. A piece is one row if the weights are
    renormalized.
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
    """Learn from some rows; return how many were visited before a limit was reached."""
    seen = 0
    while True:
        learn = numpy_loops.learn if learner.light else loops.rows.learn
        seen += int(learn(rows.storage, order[seen:], learner.weights, learner.steps, learner.tally))
        if seen == order.size or learner.out_of_updates:
            return seen
        learner.flush_log()
