"""What an experiment is: a plan of small measurements, and sentences that are checked against their table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

Record: TypeAlias = dict[str, Any]
Table: TypeAlias = dict[str, NDArray[Any]]

ROUNDING = 1e-9  # relative: what floating point may add to a number that equals its bound


@dataclass(frozen=True)
class Finding:
    """One sentence of an answer.

    Attributes
    ----------
    text : str
        What the table shows, in words.
    holds : bool or None
        Whether the table bears it out; None where nothing is claimed, only reported.
    """

    text: str
    holds: bool | None = None

    @property
    def sentence(self) -> str:
        """The text, or the text with a loud warning before it."""
        return f"NOT BORNE OUT BY THIS RUN: {self.text}" if self.holds is False else self.text


@dataclass(frozen=True)
class Bounded:
    """A column of the table that a theorem bounds by another column, row by row.

    Attributes
    ----------
    observed, bound : str
        Columns; a bound that is not a number does not apply to that row.
    theorem : str
        The bound's name, as a sentence would use it.
    """

    observed: str
    bound: str
    theorem: str

    def tightness(self, table: Table) -> float:
        """The largest observed value as a share of its bound."""
        observed, bound = self._pairs(table)
        return float(
            np.max(np.divide(observed, bound, out=np.zeros_like(bound), where=bound > 0), initial=0.0)
        )

    def _pairs(self, table: Table) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        observed, bound = (np.asarray(table[name], dtype=np.float64) for name in (self.observed, self.bound))
        applies = ~np.isnan(bound)
        return observed[applies], bound[applies]

    def check(self, table: Table) -> Finding:
        """Hold every observed value against its bound."""
        observed, bound = self._pairs(table)
        what = self.observed.replace("_", " ")
        if observed.size == 0:
            return Finding(f"{self.theorem} applies to none of the rows.", False)
        above = observed > bound + ROUNDING * np.abs(bound)
        if above.any():
            text = (
                f"{self.theorem} is exceeded by {above.sum():,} of {observed.size:,} values of {what}, "
                f"at most {np.max(observed[above] - bound[above]):.3g} above it."
            )
            return Finding(text, False)
        text = f"{self.theorem} holds for all {observed.size:,} values of {what}"
        if not (bound > 0.0).any():
            return Finding(f"{text}.", True)
        return Finding(f"{text}; the closest reaches {percent(self.tightness(table))} of it.", True)


@dataclass(frozen=True)
class Study:
    """A question that can be asked again: what to measure, what theory says, how to draw it.

    Attributes
    ----------
    name : str
    title : str
    source : str
        The chapter of the course that has it, and its proofs; the texts below do not rely on it.
    question, method, theorem, reference : str
        In words; the theorem is what the figure is to be held against.
    plan : callable
        ``plan(quick)`` gives the settings of every measurement, each a record of plain values.
    measure : callable
        ``measure(**settings)`` gives the rows of the table for one of them. Pure: the seed is a setting.
    findings : callable
        ``findings(table)`` gives the sentences of the answer.
    draw : callable
        ``draw(table)`` gives the figure.
    bounds : tuple of Bounded
    """

    name: str
    title: str
    source: str
    question: str
    method: str
    theorem: str
    reference: str
    plan: Callable[[bool], list[Record]]
    measure: Callable[..., list[Record]]
    findings: Callable[[Table], list[Finding]]
    draw: Callable[[Table], Figure]
    bounds: tuple[Bounded, ...] = ()


@dataclass(frozen=True, eq=False)
class Experiment:
    """What came out of a study.

    Attributes
    ----------
    name, title, source, question, method, theorem, reference : str
        As in the study.
    quick : bool
        Whether the small plan was used.
    table : dict of str to ndarray
        Tidy: one row a measurement, one column a quantity.
    findings : tuple of Finding
        The sentences of the answer, each with whether the table bears it out.
    tightness : float or None
        The largest observed value as a share of its bound, where there are bounds.
    figure : matplotlib Figure
    seconds : float
        What measuring took this time; what was measured before is not counted.
    """

    name: str
    title: str
    source: str
    question: str
    method: str
    theorem: str
    reference: str
    quick: bool
    table: Table
    findings: tuple[Finding, ...]
    tightness: float | None
    figure: Figure
    seconds: float

    @property
    def answer(self) -> str:
        """The findings as a paragraph."""
        return " ".join(finding.sentence for finding in self.findings)

    @property
    def holds(self) -> bool:
        """Whether every claim was borne out."""
        return all(finding.holds is not False for finding in self.findings)

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return len(next(iter(self.table.values())))


def as_table(records: Sequence[Record]) -> Table:
    """Columns from records, in the order of the first one."""
    return {name: np.array([record[name] for record in records]) for name in records[0]}


def where(table: Table, **equal: Any) -> Table:
    """The rows whose columns have these values."""
    keep = np.ones(len(next(iter(table.values()))), dtype=bool)
    for name, value in equal.items():
        keep &= table[name] == value
    return {name: column[keep] for name, column in table.items()}


def values(column: NDArray[Any]) -> list[Any]:
    """The different values of a column, in ascending order."""
    found: list[Any] = np.unique(column).tolist()
    return found


def medians(table: Table, x: str, y: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The median of one column for each value of another."""
    places = np.unique(table[x])
    return places.astype(float), np.array([np.median(table[y][table[x] == place]) for place in places])


def slope(x: NDArray[Any], y: NDArray[Any]) -> float:
    """The exponent of the power law that fits best: least squares in the logarithms."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def percent(share: float) -> str:
    """A share to two digits, however small."""
    value = 100.0 * float(share)
    if value >= 99.95 or value == 0.0:
        return f"{value:.0f}%"
    return f"{value:.2g}%" if value < 99.0 else f"{value:.1f}%"


def listing(words: Iterable[str]) -> str:
    """The words as a sentence has them: a, b and c."""
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last
