"""An experiment: a plan of small measurements, and sentences that are checked against their table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

Record: TypeAlias = dict[str, Any]
Table: TypeAlias = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Finding:
    """One sentence of an answer.

    Attributes
    ----------
    text : str
        What the table shows, in words.
    holds : bool or None
        Whether the table confirms it; None if the sentence only reports.
    """

    text: str
    holds: bool | None = None

    @property
    def sentence(self) -> str:
        """The text, with a loud warning before it if it does not hold."""
        return f"NOT CONFIRMED BY THIS RUN: {self.text}" if self.holds is False else self.text


def claim(text: str, *conditions: Any) -> Finding:
    """Return a sentence that holds if all conditions hold; a condition is a bool or an array of bools."""
    return Finding(text, all(bool(np.all(condition)) for condition in conditions))


@dataclass(frozen=True)
class Bounded:
    """A column of the table that a theorem bounds by another column, row by row.

    Attributes
    ----------
    observed, bound : str
        Columns. If the bound of a row is NaN, the theorem does not apply to that row.
    theorem : str
        The name of the bound, as the subject of a sentence.
    """

    observed: str
    bound: str
    theorem: str

    def tightness(self, table: Table) -> float:
        """Return the largest observed value as a share of its bound."""
        observed, bound = self._pairs(table)
        return float(
            np.max(np.divide(observed, bound, out=np.zeros_like(bound), where=bound > 0), initial=0.0)
        )

    def _pairs(self, table: Table) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        observed, bound = (np.asarray(table[name], dtype=np.float64) for name in (self.observed, self.bound))
        applies = ~np.isnan(bound)
        return observed[applies], bound[applies]

    def check(self, table: Table) -> Finding:
        """Compare every observed value with its bound."""
        observed, bound = self._pairs(table)
        what = self.observed.replace("_", " ")
        if observed.size == 0:
            return Finding(f"{self.theorem} applies to none of the rows.", False)
        above = observed > bound + 1e-9 * np.abs(bound)  # a value may equal its bound, up to rounding
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
class Description:
    """What an experiment is about.

    Attributes
    ----------
    name, title : str
    source : str
        The chapter of the course with the question and the proofs. The texts below do not depend on it.
    question, method, theorem, reference : str
        Sentences; line breaks and indentation count as spaces. The figure is compared with the theorem.
    """

    name: str
    title: str
    source: str
    question: str
    method: str
    theorem: str
    reference: str

    @property
    def exercises(self) -> tuple[int, ...]:
        """The exercises of chapter 4 that it answers, as the source names them."""
        found = re.search(r"exercises? (\d+)(?: (?:to|and) (\d+))?", self.source)
        return () if found is None else tuple(range(int(found[1]), int(found[2] or found[1]) + 1))

    def __post_init__(self) -> None:
        for text in ("question", "method", "theorem", "reference"):
            object.__setattr__(self, text, " ".join(getattr(self, text).split()))


@dataclass(frozen=True)
class Study(Description):
    """A question that can be asked again: what to measure, what theory says, and how to draw it.

    Attributes
    ----------
    plan : callable
        ``plan(quick)`` returns the settings of every measurement, each a record of plain values.
    measure : callable
        ``measure(**settings)`` returns the rows of the table for one of them. It is a pure function: the seed
        is a setting.
    findings : callable
        ``findings(table)`` returns the sentences of the answer.
    draw : callable
        ``draw(table)`` returns the figure.
    bounds : tuple of Bounded
    """

    plan: Callable[[bool], list[Record]]
    measure: Callable[..., list[Record]]
    findings: Callable[[Table], Iterable[Finding]]
    draw: Callable[[Table], Figure]
    bounds: tuple[Bounded, ...] = ()


@dataclass(frozen=True, eq=False)
class Experiment(Description):
    """The result of a study.

    Attributes
    ----------
    quick : bool
        Whether the small plan was used.
    table : dict of str to ndarray
        One row per measurement, one column per quantity.
    findings : tuple of Finding
        The sentences of the answer, each with whether the table confirms it.
    tightness : float or None
        The largest observed value as a share of its bound, if there are bounds.
    figure : matplotlib Figure
    seconds : float
        The time that this run took.
    """

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
        """Whether the table confirms every claim."""
        return all(finding.holds is not False for finding in self.findings)

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return len(next(iter(self.table.values())))


def grid(**choices: Any) -> Callable[[bool], list[Record]]:
    """Plan every combination of choices; a pair holds the choices of the quick plan and of the full one.

    Examples
    --------
    >>> grid(margin=[0.1], seed=(range(1), range(2)))(False)
    [{'margin': 0.1, 'seed': 0}, {'margin': 0.1, 'seed': 1}]
    """

    def plan(quick: bool) -> list[Record]:
        wanted = []
        for choice in choices.values():
            few, many = choice if isinstance(choice, tuple) else (choice, choice)
            wanted.append(few if quick else many)
        return [dict(zip(choices, each, strict=True)) for each in product(*wanted)]

    return plan


def as_table(records: Sequence[Record]) -> Table:
    """Return the columns of records, in the order of the first record."""
    return {name: np.array([record[name] for record in records]) for name in records[0]}


def where(table: Table, **equal: Any) -> Table:
    """Return the rows whose columns have these values."""
    keep = np.ones(len(next(iter(table.values()))), dtype=bool)
    for name, value in equal.items():
        keep &= table[name] == value
    return {name: column[keep] for name, column in table.items()}


def values(column: NDArray[Any]) -> list[Any]:
    """Return the different values of a column, in ascending order."""
    found: list[Any] = np.unique(column).tolist()
    return found


def medians(table: Table, x: str, y: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the different values of x, and the median of y for each of them."""
    places = np.unique(table[x])
    return places.astype(float), np.array([np.median(table[y][table[x] == place]) for place in places])


def slope(x: NDArray[Any], y: NDArray[Any]) -> float:
    """Return the exponent of the power law that fits best: least squares in the logarithms."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def percent(share: float) -> str:
    """Write a share as a percentage with two digits, however small it is."""
    value = 100.0 * float(share)
    if value >= 99.95 or value == 0.0:
        return f"{value:.0f}%"
    return f"{value:.2g}%" if value < 99.0 else f"{value:.1f}%"


def listing(words: Iterable[str]) -> str:
    """Join words as in a sentence: a, b and c."""
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last
