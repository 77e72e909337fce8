"""Iterative parameter mixing: each shard makes a pass by itself, then the weights of all are mixed.

A pass corrects mistakes one after the other, so it cannot be divided among workers as a scan can. Here every
shard begins an epoch with the same weights and visits its own rows. Then the weights that the shards ended
with
are mixed: ``w = sum_s m_s w_s``, with shares ``m_s >= 0`` that sum to one. Only weights and the list of
    corrected rows are sent, once per epoch. Nothing depends on which thread or worker visits a shard, or
    when.

**The ledger.** In its pass a shard adds signed rows to the common weights, each row once at most. After
mixing, such a row has been added ``m_s`` times. So the weights stay ``start + sum_i a_i z_i``, where ``a_i``
sums the shares of the row's shard over the epochs in which the row was corrected. The a are not integers, but
they are not negative, which is all that the upper bound of the margin, ``|sum_i a_i z_i| / sum_i a_i``,
needs.

**Theorem** (McDonald, Hall and Mann 2010). Let a unit vector u have ``<u, z_i> >= g > 0`` for every row, and
``|z_i| <= R``. From zero weights, with one step for all rows, ``A = sum_i a_i`` never exceeds ``(R / g)^2``.
An epoch in which shard s makes k_s mistakes adds ``sum_s m_s k_s`` to A.

*Proof.* Let an epoch begin with w and shard s end with w_s. Each of its k_s updates adds a row, so
``<w_s, u> >= <w, u> + k_s g``. Each is made on a row z without a positive score, so that
``|w + z|^2 = |w|^2 + 2 <w, z> + |z|^2 <= |w|^2 + R^2``, and ``|w_s|^2 <= |w|^2 + k_s R^2``. Mixing is linear
and the square of a length is convex, so the mixed weights w' have ``<w', u> >= <w, u> + g sum_s m_s k_s`` and
``|w'|^2 <= sum_s m_s |w_s|^2 <= |w|^2 + R^2 sum_s m_s k_s``. Over all epochs that gives
``A g <= <w, u> <= |w| <= R sqrt(A)``. With more than two classes a correction has length ``sqrt(2) R`` at
most, and the bound is ``2 (R / g)^2``.

*What it says.* Even shares, ``m_s = 1 / S``: at most ``S (R / g)^2`` mistakes, and so at most that many
epochs that make any. Shares by mistakes, ``m_s = k_s / k`` with ``k = sum_s k_s``: an epoch adds
``sum_s k_s^2 / k``.
That is at least 1, since the k_s are whole numbers: at most ``(R / g)^2`` epochs make mistakes, however many
shards there are. It is also at least ``k / S`` (Cauchy and Schwarz): at most ``S (R / g)^2`` mistakes again.
An epoch without a mistake ends the run, since each shard has scored all its rows under the same weights. So
rows that can be separated are separated.

Training on each shard to the end and mixing once has no such theorem, and can fail:
``docs/guide/estimators.md`` has two rows that show it.

References
----------
McDonald, R., Hall, K. and Mann, G. (2010). Distributed training strategies for the structured perceptron.
Proceedings of NAACL-HLT, 456-464.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..loops.layouts import MISTAKES, VISITS
from ..result import Floats, Ints
from ..rows.memory import MemoryRows
from ..rows.protocol import Shards
from .learner import Learner
from .passes import visit
from .run import Run, Standing

MIXINGS = ("mistakes", "even")


@dataclass(frozen=True, eq=False)
class Passed:
    """What the pass of a shard sends back.

    Attributes
    ----------
    seen : int
        The number of rows visited: those of the shard whose weight is not zero.
    lowest : float
        The lowest score.
    made : ndarray of int64
        The corrections, each as the row of the shard times the number of rivals, plus the rival.
    weights, average : ndarray or None
        The last weights, and the sum that averaging needs; None if there was no mistake.
    """

    seen: int
    lowest: float
    made: Ints
    weights: Floats | None = None
    average: Floats | None = None


def solve_mixed(run: Run, shards: Shards, mixing: str) -> None:
    """Pass over all shards and mix, until an epoch makes no mistake or a limit is met."""
    clean = False
    while not clean and not run.stopped():
        clean = epoch(run, shards, mixing)


def epoch(run: Run, shards: Shards, mixing: str) -> bool:
    """Let every shard make a pass, and mix; return whether there was no mistake.

    Updates that were made earlier, one row at a time, keep their counts in the ledger.
    """
    learner, every = run.learner, run.learner.rows.order.size
    if learner.mixed is None:
        learner.mixed = learner.tally.counts.astype(np.float64)
    run.detector.hopeful, run.detector.kept = False, None  # mixed weights are not whole: their sums may round
    given = learner.weights, learner.tally.average, len(run.history), every
    passed = shards.map(pass_over, learner.steps, *given)
    before = learner.mistakes
    _merge(learner, shards.starts, passed, shares(passed, mixing))
    learner.tally.clock[VISITS] += every
    if learner.mistakes > before:
        run.end_pass(None)
        return False
    lowest = min((each.lowest for each in passed), default=np.inf)
    run.end_pass(Standing(before, 0, 0.0, run.bracket.lower(lowest), clear=True))
    return True


def pass_over(
    rows: MemoryRows, steps: Floats, weights: Floats, average: Floats, epoch: int, every: int
) -> Passed:
    """Visit every row of a shard once, beginning with the weights of all shards.

    ``average`` is the sum that averaging needs (see `Tally`), or empty. It counts visits to ``every`` row of
    the run, and is scaled to the visits of the shard during the pass.
    """
    size = rows.order.size
    learner = Learner(rows, start=weights, steps=steps, visits=epoch * size, averaging=average.size > 0)
    np.multiply(average, size / every, out=learner.tally.average)
    visit(learner, rows, rows.order)
    made, lowest = np.flatnonzero(learner.tally.counts), float(learner.tally.floor[0])
    if not made.size:
        return Passed(size, lowest, made)
    return Passed(size, lowest, made, learner.weights, learner.tally.average * (every / size))


def shares(passed: list[Passed], mixing: str) -> Floats:
    """Return the share of each shard in the mixture; the shares sum to one, up to rounding."""
    sizes = np.array([each.made.size if mixing == "mistakes" else each.seen > 0 for each in passed])
    found: Floats = sizes / max(1, sizes.sum())
    return found


def _merge(learner: Learner, starts: Ints, passed: list[Passed], weighed: Floats) -> None:
    """Mix the weights that the shards ended with, and enter their corrections into the ledger."""
    moved = [(share, each) for share, each in zip(weighed, passed, strict=True) if each.made.size]
    if not moved:
        return
    counts, mixed = learner.tally.counts, learner.mixed
    assert mixed is not None
    still = sum(share for share, each in zip(weighed, passed, strict=True) if not each.made.size)
    weights, average = still * learner.weights, still * learner.tally.average
    for share, each in moved:
        weights += share * each.weights
        average += share * each.average
    for start, share, each in zip(starts, weighed, passed, strict=True):
        made = each.made + int(start) * counts.shape[1]  # each once
        counts.reshape(-1)[made] += 1
        mixed.reshape(-1)[made] += share
    learner.weights[...], learner.tally.average[...] = weights, average
    learner.tally.clock[MISTAKES] += sum(each.made.size for _, each in moved)
