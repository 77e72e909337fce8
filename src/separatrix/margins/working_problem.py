"""The hard-margin problem of a working set: its signed rows on one scale, and the multipliers they carry."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..result import Floats, Ints
from ..rows.memory import MemoryRows
from ..rows.protocol import Rows
from .brackets import HardBracket
from .multipliers import balanced
from .pairs import Pairs, rows_of


class Engine(Protocol):
    """What a method that solves a working set knows of it."""

    weights: Floats
    scores: Floats
    multipliers: Floats


class WorkingProblem:
    """Rows that scans picked, with numbers of size one, and their multipliers.

    Attributes
    ----------
    pairs : Pairs
        Which rows, and against which class each is held.
    unpenalised : list of int
        Where free intercepts stand in the flattened weights.
    multipliers : ndarray of shape (pairs,)
        Of the scaled rows.
    scale : float
        The largest number of the first working set, free intercepts left out: what rows are divided by and
        margins compared with. Zero before there is one.
    """

    def __init__(self, rows: Rows, free_intercept: bool) -> None:
        self.rows = rows
        self.pairs = Pairs(rows)
        self.unpenalised = self.pairs.intercepts if free_intercept else []
        self.multipliers: Floats = np.zeros(0)
        self.scale = 0.0

    def add(self, candidates: Ints, weights: Floats) -> bool:
        """Put rows with their worst rivals under the weights into the set; return whether any was new."""
        added = self.pairs.add(candidates, weights)
        self.multipliers = np.concatenate([self.multipliers, np.zeros(added)])
        return added > 0

    def start_from(self, multipliers: Floats) -> None:
        """Begin with the rows that carry multipliers (one of each row, two classes)."""
        members = np.flatnonzero(multipliers)
        self.pairs.members, self.pairs.rivals = members, np.zeros_like(members)
        self.scaled_rows()  # sets the scale
        self.multipliers = multipliers[members] * self.scale**2

    def scaled_rows(self) -> tuple[MemoryRows, Floats]:
        """The signed rows divided by the scale (free intercepts left alone), and how weights scale back."""
        matrix = self.pairs.matrix()
        penalised = np.ones(matrix.shape[1])
        penalised[self.unpenalised] = 0.0
        dense = isinstance(matrix, np.ndarray)
        if self.scale == 0.0:
            numbers = matrix * penalised if dense else matrix.data * penalised[matrix.indices]
            self.scale = float(np.abs(numbers).max(initial=0.0)) or 1.0
        factors = np.where(penalised > 0.0, 1.0 / self.scale, 1.0)
        if dense:
            matrix *= factors
        else:
            matrix.data *= factors[matrix.indices]
        return rows_of(matrix), factors

    def offer(self, rows: MemoryRows, engine: Engine, bracket: HardBracket) -> tuple[float, float]:
        """The margin of the scaled rows, bracketed; the upper end holds for all rows and is offered."""
        shape = self.rows.weights_shape
        norm = bracket.norm(engine.weights.reshape(shape))
        lower = self.scale * float(engine.scores.min()) / norm if norm > 0.0 else 0.0
        multipliers = self._balanced(engine.multipliers) if self.unpenalised else engine.multipliers
        mass = float(multipliers.sum())
        if mass <= 0.0:
            return lower, np.inf
        upper = self.scale * bracket.norm(rows.combination(multipliers / mass).reshape(shape))
        with np.errstate(all="ignore"):
            scaled = multipliers / self.scale**2
        # any multiple proves the same: one within the range of floats
        usable = np.isfinite(scaled).all() and np.array_equal(scaled > 0.0, multipliers > 0.0)
        bracket.offer_bound(upper, self.pairs.members, self.pairs.rivals, scaled if usable else multipliers)
        return lower, upper

    def _balanced(self, multipliers: Floats) -> Floats:
        labels = self.rows.labels[self.pairs.members]
        if self.pairs.blocks == 1:
            return balanced(multipliers, labels)
        places = np.arange(multipliers.size), self.pairs.rivals
        table = np.zeros((multipliers.size, self.pairs.blocks))
        table[places] = -multipliers
        return np.asarray(-balanced(table, labels)[places])
