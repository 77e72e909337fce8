"""The report on the mistakes of a run: what happened, and what each theorem allows."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .. import notebook
from ..result import margin_text

SAFE = 1.0 + 1e-12  # covers the rounding of a few operations on a number that is already a bound


@dataclass(frozen=True)
class Bound:
    """One bound on the mistakes of a run.

    Attributes
    ----------
    name : str
    value : float
        Infinite if the bound says nothing about this run.
    formula : str
    certified : bool
        Whether the value was computed from the data, at some u, and holds with all rounding errors.
    tightness : float
        What the run made of what the bound allows, as a share; one means tight.
    note : str
        Why the bound says nothing, or where it is evaluated.
    """

    name: str
    value: float
    formula: str
    certified: bool
    tightness: float
    note: str


@dataclass(frozen=True, eq=False)
class LengthBounds:
    """Novikoff's bounds on the length of the weights after t mistakes.

    Attributes
    ----------
    bound : float or None
        The largest number of mistakes that the run could make.
    name : str
        The theorem.
    start : float
        The length of the first weights.
    radius : float or None
        The length is at most ``sqrt(start^2 + radius^2 t)``. None if updates were scaled row by row.
    margin : float or None
        Each mistake adds at least this to the inner product with the best separator of length one: from zero
        weights, the length is at least ``margin * t``. None if no separator is known.
    """

    bound: float | None
    name: str
    start: float
    radius: float | None
    margin: float | None


@dataclass(frozen=True)
class BoundReport:
    """The mistakes of a run, and every bound that theory gives for them.

    Attributes
    ----------
    mistakes : float
        M, the number of updates that led to the weights. If the weights of shards were averaged, an update
        counts as much as its shard did, because the theorems bound this sum.
    radius : float
        R, the largest norm of a lifted row.
    margin_lower, margin_upper : float
        The bracket of the best margin of the lifted rows, with all rounding errors counted; the lower end is
        zero or less if no separator was found.
    n_classes : int
    start_norm : float
        The norm of the initial weights.
    bounds : tuple of Bound
    update_margin : float
        b: the run updates on every row with a score of at most b.
    """

    mistakes: float
    radius: float
    margin_lower: float
    margin_upper: float
    n_classes: int
    start_norm: float
    bounds: tuple[Bound, ...]
    update_margin: float = 0.0

    def __getitem__(self, name: str) -> Bound:
        for bound in self.bounds:
            if bound.name == name:
                return bound
        raise KeyError(f"{name!r}; there are {', '.join(bound.name for bound in self.bounds)}")

    @property
    def best(self) -> Bound:
        """The smallest bound."""
        return min(self.bounds, key=lambda bound: bound.value)

    def lengths(self, rate: float) -> LengthBounds:
        """Return the bounds on the length of the weights at a learning rate."""
        finite = {bound.name: bound for bound in self.bounds if np.isfinite(bound.value)}
        smallest = min(finite.values(), key=lambda bound: bound.value, default=None)
        best = finite.get("Novikoff") or finite.get("any start") or smallest
        # With more than two classes, an update moves two weight vectors by half a row each.
        halves = 2.0 if self.n_classes > 2 else 1.0
        return LengthBounds(
            bound=None if best is None else best.value,
            name="" if best is None else best.name,
            start=self.start_norm,
            radius=float(np.sqrt(((rate * self.radius) ** 2 + 2.0 * self.update_margin * rate) / halves)),
            margin=rate * self.margin_lower / halves if self.margin_lower > 0.0 else None,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain Python values."""
        return asdict(self)

    def summary(self) -> str:
        """Return the report as a table of text."""
        head = ("bound", "mistakes allowed", "tightness", "certified", "", "note")
        lines = (
            f"{name:<22}{value:>18}{share:>12}  {sure:<11}{note}"
            for name, value, share, sure, _, note in (head, *map(_cells, self.bounds))
        )
        return "\n".join([self._headline(), *lines])

    def _headline(self) -> str:
        return (
            f"{self.mistakes:.12g} mistakes, {self.n_classes} classes, R = {self.radius:.6g}, "
            f"best margin {margin_text(self.margin_lower, self.margin_upper)}"
        )

    def _repr_html_(self) -> str:
        return notebook.table(
            self._headline(),
            ("bound", "allowed", "tightness", "certified", "formula", "note"),
            map(_cells, self.bounds),
        )


def _cells(bound: Bound) -> tuple[str, ...]:
    """Return a bound as a row of a table."""
    value, share = "no bound", ""
    if np.isfinite(bound.value):
        value, share = f"{bound.value:,.1f}", f"{bound.tightness:.3g}"
    return bound.name, value, share, "yes" if bound.certified else "no", bound.formula, bound.note
