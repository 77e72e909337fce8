"""Every update of a kernel perceptron again, with the score that called for it."""

from __future__ import annotations

import numpy as np

from ..errors import InputError
from ..result import Floats, KernelTrace
from ..rows.class_leads import leads
from .budget import Budget
from .expansion import Expansion
from .similarity import TrainingRows

ROOM = 1 << 31  # bytes of the coefficients after each update
BLOCK = 256  # updates whose scores are computed together


def trace_of(machine: Expansion | Budget, rows: TrainingRows) -> KernelTrace:
    """The updates that a fit made, in order."""
    return _kept(machine) if isinstance(machine, Budget) else _replayed(machine, rows)


def check_room(budget: int | None, columns: int, updates: int | None, rows: int, passes: int) -> None:
    """Refuse, before the run, a trace on a budget that might not fit into memory."""
    if budget is None:
        return
    most = rows * passes if updates is None else min(updates, rows * passes)
    size = 8 * most * budget * (columns + 1)
    if size > ROOM:
        raise InputError(
            f"A trace of up to {most:,} updates on a budget of {budget} may take {size / 1e9:.1f} GB.",
            remedy="Set max_updates to a smaller number, or fit without a trace.",
            parameter="max_updates",
        )


def _kept(budget: Budget) -> KernelTrace:
    log = budget.log or []
    return KernelTrace(
        rows=np.array([each.row for each in log], dtype=np.int64),
        rivals=np.array([each.rival for each in log], dtype=np.int64),
        scores=np.array([each.score for each in log]),
        support=np.array([each.support for each in log], dtype=np.int64).reshape(len(log), budget.capacity),
        coef=np.array([each.coef for each in log]).reshape(len(log), budget.capacity, budget.columns),
    )


def _replayed(expansion: Expansion, rows: TrainingRows) -> KernelTrace:
    updates = expansion.updates[: expansion.made]
    corrected = expansion.rows[updates[:, 0]]
    scores: Floats = np.empty(expansion.made)
    similarity = expansion.similarity
    added = expansion.corrections(0, expansion.made)
    for first in range(0, expansion.made, BLOCK):
        last = min(first + BLOCK, expansion.made)
        left = similarity.side(rows.X[corrected[first:last]])
        values = similarity.block(left, similarity.side(expansion.anchors.take(updates[:last, 0])))
        earlier = np.arange(last) < np.arange(first, last)[:, None]
        outputs = np.where(earlier, values, 0.0) @ added[:last]
        scores[first:last] = leads(outputs, rows.labels[corrected[first:last]])
    rivals = updates[:, 2].copy() if expansion.columns > 1 else np.zeros(expansion.made, dtype=np.int64)
    return KernelTrace(corrected.copy(), rivals, scores)
