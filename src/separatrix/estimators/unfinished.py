"""What to say of a run that ended at its limit: whether the rows can be separated at all, and how far."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np

from ..deadline import Deadline
from ..errors import ConvergenceWarning, convergence_warning
from ..proofs.answer import condition, parties, separated_words
from ..result import Result, Status, margin_text
from ..rows.memory import MemoryRows
from ..rows.protocol import Rows
from ..sparse import dense

SHORTEST, LONGEST = 0.5, 5.0  # seconds for the question; in between, as long as the run itself took
LARGE = 1 << 22  # numbers of rows that are not read again for the sake of a warning
SAMPLE = 10_000  # rows that tell whether columns are scaled
ALIKE = 10.0  # factor between the widths of columns that count as scaled


@dataclass(frozen=True)
class Closer:
    """What a closer look found.

    Attributes
    ----------
    separable : bool or None
        None where it was not found out in time.
    claim : str
        What was found out, of which classes and under which condition; see `Verdict.claim`.
    proof : int
        The rows that prove that nothing separates.
    margin : (float, float)
        What is proved of the best margin, where the classes are separable.
    """

    separable: bool | None
    claim: str = ""
    proof: int = 0
    margin: tuple[float, float] = (0.0, math.inf)


def warning_of(result: Result, rows: Rows, seconds: float, reached: str, *, average: bool) -> object:
    """The warning of a run that did not separate: how it ended, how far it came, what is known and helps."""
    limited = result.status in (Status.PASS_LIMIT, Status.UPDATE_LIMIT)
    closer = look_closer(rows, seconds) if limited and is_heard() else _cycled(result, rows)
    scaled = limited and is_scaled(rows)
    limit, parameter = str(result.status.parameter), result.status.parameter
    ending, ways = result.status.problem, [f"raise {limit}"] if limited else []
    if limited and not scaled:
        ways.append("scale the columns")
    fact = ""
    if closer.separable:
        best = margin_text(*closer.margin, 3)
        fact = f"{closer.claim}; the best margin is {best} (R = {rows.radius:.3g})."
        parameter = "margin"
        ways.append("use MaxMargin")
    elif closer.separable is False:
        fact, parameter = f"{closer.claim}: {closer.proof} rows prove it.", "average"
        often = "average=True, which often predicts better than the last weights"
        ways = ["use SoftMargin", "keep the average, which does not need a separator" if average else often]
    advice = _sentence(ways)
    if closer.separable is None and average and limited:
        advice = f"If the classes can be separated, {advice[0].lower()}{advice[1:]}"
    elif closer.separable is None and not average and result.status is not Status.INTERRUPTED:
        advice = f"{advice} If the classes cannot be separated, average=True often predicts better.".strip()
    problem = " ".join(filter(None, (ending, reached, fact)))
    told = convergence_warning(f"{problem} {advice}".strip(), problem=problem, parameter=parameter)
    told.scaled = scaled
    return told


def look_closer(rows: Rows, seconds: float) -> Closer:
    """Ask for a verdict on the rows, and for the margin where they can be separated; bounded in time."""
    if rows.numbers > LARGE or not isinstance(rows, MemoryRows):
        return Closer(None)
    from ..margins.hard.max_margin import solve_max_margin
    from ..proofs.verdict import separability

    deadline = Deadline.after(min(LONGEST, max(SHORTEST, seconds)))
    inside = slice(None) if rows.order.size == rows.n_rows else rows.order
    verdict = separability(
        rows.matrix[inside],
        rows.labels[inside],
        quasi=False,
        fit_intercept=rows.lifted,
        time_limit=max(1e-3, deadline.left),
    )
    claim = f"{verdict.claim[0].upper()}{verdict.claim[1:]}"
    if not verdict.separable:
        return Closer(verdict.separable, claim, verdict.n_witnesses)
    found = solve_max_margin(rows, gap=1e-2, deadline=deadline)
    return Closer(True, claim, margin=(found.margin_lower, found.margin_upper))


def _cycled(result: Result, rows: Rows) -> Closer:
    """What weights that came back to an earlier state prove; nothing where they did not."""
    if result.cycle is None:
        return Closer(None)
    proof = int(np.count_nonzero(result.cycle.multipliers.reshape(rows.n_rows, -1).any(axis=1)))
    who = parties("binary" if rows.n_classes == 2 else "joint", range(rows.n_classes))
    claim = separated_words(who, "cannot", condition(rows.lifted))
    return Closer(False, f"{claim[0].upper()}{claim[1:]}", proof)


def is_heard() -> bool:
    """Whether the warning is not ignored for all: a verdict that nobody reads is not asked for."""
    for action, message, category, module, _ in warnings.filters:
        if message is None and module is None and issubclass(ConvergenceWarning, category):
            return action != "ignore"
    return True


def is_scaled(rows: Rows) -> bool:
    """Whether the columns, of a sample of the rows, are about as wide as each other, and near zero."""
    step = max(1, rows.n_rows // SAMPLE)
    sample = np.arange(0, rows.n_rows, step)
    if sample.size * rows.n_columns > LARGE:
        return False
    values = dense(rows.take(sample).matrix).astype(np.float64)
    widths = values.std(axis=0)
    widths, centres = widths[widths > 0.0], np.abs(values.mean(axis=0))[widths > 0.0]
    if not widths.size:
        return True
    return bool(widths.max() <= ALIKE * widths.min() and np.all(centres <= ALIKE * widths))


def _sentence(ways: list[str]) -> str:
    if not ways:
        return ""
    said = ", ".join(ways[:-1]) + (", or " if len(ways) > 1 else "") + ways[-1]
    return f"{said[0].upper()}{said[1:]}."
