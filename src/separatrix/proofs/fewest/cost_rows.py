"""Rows with costs: equal rows once, in floats and by number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...rows.protocol import Floats, Ints, Mask
from ...sparse import dense
from ..search import Problem
from ..signed_rows import SignedRows


@dataclass(frozen=True, eq=False)
class CostRows:
    """Some different rows, each with what it costs to get it wrong.

    With K classes, a row has K - 1 signed rows (one if K is 2), and is wrong if one of them has a score that
    is not positive.

    Attributes
    ----------
    signed : SignedRows
    rows : ndarray of int64
        Row numbers in the data. Of equal rows, which every hyperplane treats alike, the first one is here,
        with the cost of all of them.
    whole : sequence of int
        The costs: positive integers.
    scale : int
        A power of two.
    costs : ndarray of float64
        The costs divided by the scale, rounded; those that are nearly zero beside the others, as a billionth.
    values : ndarray of shape (rows * rivals, width)
        The signed rows, with columns and rows scaled to about 1.
    """

    signed: SignedRows
    rows: Ints
    whole: Sequence[int]
    scale: int
    costs: Floats
    values: Floats

    @classmethod
    def of(cls, signed: SignedRows, rows: Ints, whole: Sequence[int]) -> CostRows:
        """Read the signed rows of some rows."""
        scale = 1 << max(0, max(whole).bit_length() - 20)
        costs = np.array([max(cost / scale, 1e-9) for cost in whole])
        found = cls(signed, rows, whole, scale, costs, np.zeros((0, signed.width)))
        return replace(found, values=dense(signed.floats(found.numbers())))

    @property
    def rivals(self) -> int:
        """How many signed rows each row has."""
        return self.signed.n_classes - 1

    def numbers(self) -> Ints:
        """Return the numbers of the signed rows."""
        if not self.signed.joint:
            return self.rows
        classes = np.arange(self.signed.n_classes)
        pairs = self.rows[:, None] * classes.size + classes
        found: Ints = pairs[classes != self.signed.labels[self.rows, None]]
        return found

    def part(self, places: Ints) -> CostRows:
        """Return some of the rows."""
        each = (places[:, None] * self.rivals + np.arange(self.rivals)).ravel()
        whole = [self.whole[place] for place in places.tolist()]
        return replace(
            self, rows=self.rows[places], whole=whole, costs=self.costs[places], values=self.values[each]
        )

    def scores(self, weights: Floats, values: Floats | None = None) -> Floats:
        """Return the lowest score of each row."""
        outputs = (self.values if values is None else values) @ weights
        found: Floats = outputs.reshape(-1, self.rivals).min(axis=1)
        return found

    def near(self, weights: Floats, most: int) -> Ints:
        """Return the places of at most ``most`` rows: wrong ones, those nearest to the hyperplane, others."""
        if self.rows.size <= most:
            return np.arange(self.rows.size)
        order = np.argsort(np.maximum(self.scores(weights), 0.0), kind="stable")
        rest = np.random.default_rng(0).permutation(order[most // 2 :])
        return np.sort(np.concatenate([order[: most // 2], rest[: most - most // 2]]))

    def cost(self, wrong: Mask) -> int:
        """Return what some rows cost."""
        return sum(self.whole[place] for place in np.flatnonzero(wrong).tolist())

    def problem(self) -> Problem:
        """Return the question whether these rows can be separated: it solves for exact numbers."""
        every = np.ones(self.signed.ids.size, dtype=bool)
        return Problem(self.signed, (), lambda _: True, every)
