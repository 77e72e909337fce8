"""The search: one strategy after the other, until one has an answer that the checker accepts."""

from __future__ import annotations

import time

from ..deadline import OutOfTime
from .problem import Attempt, Inseparable, Knowledge, Learned, Problem, SearchStep, Separated

OUTCOMES = {Separated: "separated", Inseparable: "inseparable", Learned: "no answer"}


def search(problem: Problem, known: Knowledge) -> Attempt:
    """Try the strategies of a problem in turn; what they came to is added to ``known``.

    Raises OutOfTime when the problem's deadline has come without an answer.
    """
    for strategy in problem.strategies:
        if (problem.rows.small and not strategy.small) or not strategy.applies(problem):
            continue
        begin, outcome = time.monotonic(), "no answer"
        try:
            attempt = strategy.attempt(problem, known)
            outcome = OUTCOMES[type(attempt)]
        except OutOfTime:
            outcome = "out of time"
            raise
        finally:
            name = f"{problem.part}: {strategy.name}" if problem.part else strategy.name
            known.steps.append(SearchStep(name, outcome, time.monotonic() - begin))
        known.learn(attempt)
        if not isinstance(attempt, Learned):
            return attempt
        problem.deadline.need()
    return Learned()
