"""The voted perceptron: every weight vector of the run votes, weighted by the visits that it survived."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import loops
from ..result import Floats, Ints, Votes
from ..rows import threads
from ..rows.memory import MemoryRows
from ..rows.protocol import Rows
from ..sparse import dense, sparse
from .learner import Learner


@dataclass(frozen=True, eq=False)
class Voters:
    """A voted perceptron ready to predict (Freund and Schapire 1999).

    The weight vectors are not stored. Each is the previous one plus one correction, so the outputs of all of
    them on a row follow from the row's inner products with the corrected rows.

    Attributes
    ----------
    support : ndarray or CSR array of shape (distinct corrected rows, columns)
    script : ndarray of shape (mistakes, 3)
        Row of the support, own class, rival.
    steps : ndarray of shape (mistakes,)
    survivals : ndarray of shape (mistakes + 1,)
    start : ndarray of shape (classes, width)
    lifted : bool
    """

    support: Any
    script: Ints
    steps: Floats
    survivals: Ints
    start: Floats
    lifted: bool

    def tally(self, X: Any, rows: MemoryRows) -> Floats:
        """Return the votes of each class for each row: shape (rows, classes)."""
        votes = np.zeros((rows.n_rows, self.start.shape[0]))
        outputs = rows.outputs(self.start)
        size = max(1, threads.MOST_AT_ONCE // max(1, self.support.shape[0]))
        for first in range(0, rows.n_rows, size):
            part = slice(first, first + size)
            products = X[part] @ self.support.T
            loops.rows.vote(
                np.ascontiguousarray(dense(products) + float(self.lifted), dtype=np.float64),
                self.script,
                self.steps,
                self.survivals,
                outputs[part],
                votes[part],
            )
        return votes


def gather_voters(rows: Rows, votes: Votes, steps: Floats, start: Floats) -> Voters:
    """Collect the corrected rows of a run, each once, and the sequence of mistakes."""
    distinct, positions = np.unique(votes.rows, return_inverse=True)
    own = rows.labels[votes.rows].astype(np.int64)
    rivals = 1 - own if rows.n_classes == 2 else votes.rivals
    return Voters(
        support=rows.take(distinct).matrix.astype(np.float64),
        script=np.column_stack([positions, own, rivals]).astype(np.int64),
        steps=np.broadcast_to(steps, rows.n_rows)[votes.rows].copy(),
        survivals=votes.survivals,
        start=start if start.ndim == 2 else np.stack([-0.5 * start, 0.5 * start]),
        lifted=rows.lifted,
    )


def join_voters(earlier: Voters, later: Voters) -> Voters:
    """Append the voters of a run that started with the last weights of an earlier one."""
    supports = [earlier.support, later.support]
    if any(map(sparse.issparse, supports)):
        support: Any = sparse.vstack([sparse.csr_array(each) for each in supports], format="csr")
    else:
        support = np.vstack(supports)
    script = later.script.copy()
    script[:, 0] += earlier.support.shape[0]
    survivals = np.concatenate([earlier.survivals, later.survivals[1:]])
    survivals[earlier.survivals.size - 1] += later.survivals[0]
    return Voters(
        support=support,
        script=np.concatenate([earlier.script, script]),
        steps=np.concatenate([earlier.steps, later.steps]),
        survivals=survivals,
        start=earlier.start,
        lifted=earlier.lifted,
    )


def votes_of(learner: Learner, visits: int) -> Votes:
    """Return the survival counts: the m-th weights are used from one mistake's visit to the next."""
    log = learner.logged()
    times: Ints = np.concatenate([[learner.first_visit], log[:, 2], [visits]])
    return Votes(log[:, 0].copy(), log[:, 1].copy(), np.diff(times))
