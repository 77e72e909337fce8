"""What a margin solver gives back: the weights, the multipliers that prove them, and the gap between."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from .. import notebook
from ..result import Floats, Ints, Solution, margin_text

CAPS = 2.0**-51  # what rounding changes at most in C times the weights of a row and of its class


@dataclass(frozen=True, eq=False)
class BracketedMinimum(Solution):
    """The minimum of ``|w|^2 / 2 + sum_i caps[i] * max(0, 1 - score_i)``, bracketed.

    Attributes
    ----------
    status : Status
    primal, dual : float
        The objective of what was found, rounded up, and a lower bound of every objective, rounded down: the
        exact minimum lies between them.
    steps : int
        Newton steps or passes of coordinate descent.
    """

    primal: float
    dual: float
    steps: int

    @property
    def bracket(self) -> tuple[float, float]:
        """The bound below every objective, and the objective that was found."""
        return self.dual, self.primal

    def with_rounded_caps(self) -> Self:
        """The same bracket where caps are products that were rounded: true of the exact products, too."""
        return replace(self, primal=self.primal * (1.0 + CAPS), dual=self.dual * (1.0 - CAPS))

    def _facts(self) -> list[tuple[str, str]]:
        """What a notebook shows."""
        return [
            ("objective", margin_text(self.dual, self.primal, 9)),
            ("relative gap", f"{self.gap:.2e}"),
            ("steps", f"{self.steps:,}"),
        ]

    def _repr_html_(self) -> str:
        return notebook.card(self.status.value, self._facts())


@dataclass(frozen=True, eq=False)
class SoftOptimum(BracketedMinimum):
    """The soft margin's minimum in the space of the rows.

    Attributes
    ----------
    status, primal, dual, steps
        As in `BracketedMinimum`; the multipliers prove the bound.
    weights : ndarray of shape (width,) or (classes, width)
    multipliers : ndarray of shape (rows,) or (rows, classes)
        Feasible dual variables; with many classes each row sums to zero.
    """

    weights: Floats
    multipliers: Floats


@dataclass(frozen=True, eq=False)
class HardOptimum(Solution):
    """The largest margin, bracketed.

    Attributes
    ----------
    status : Status
    weights : ndarray of shape (width,) or (classes, width)
        Scaled so that the smallest score is one, where it is positive.
    multipliers : ndarray of shape (support,)
        Positive. Where ``margin_lower`` is, ``weights`` is nearly their combination of signed rows (with a
        free intercept, but for that), the nearer the narrower the gap.
    rows, rivals : ndarray of shape (support,)
        The rows that carry the multipliers, and the class each is held against.
    margin_lower, margin_upper : float
        The margin of the weights, and the bound that the multipliers prove: of the rows as they are, lifted
        or not, or with a free intercept the affine margin. Where the exact margin was found in rational
        numbers, the floats next to it: the weights, which are rounded, may then have a smaller one. Infinite
        where nothing is proved yet.
    steps, scans : int
        Newton steps on working sets, and scans of all rows.
    """

    weights: Floats
    multipliers: Floats
    rows: Ints
    rivals: Ints
    margin_lower: float
    margin_upper: float
    steps: int
    scans: int

    @property
    def bracket(self) -> tuple[float, float]:
        """The margin of the weights, and the bound that the multipliers prove."""
        return self.margin_lower, self.margin_upper

    def _repr_html_(self) -> str:
        facts = [
            ("best margin", margin_text(self.margin_lower, self.margin_upper)),
            ("relative gap", f"{self.gap:.2e}"),
            ("support", f"{np.unique(self.rows).size:,} rows"),
            ("steps", f"{self.steps:,}, with {self.scans:,} scans of all rows"),
        ]
        return notebook.card(self.status.value, facts)
