"""What a builder gets, the rows that it returns, and what a model says about itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ...inputs.data import Data
from ..monomials import Ints, Mask
from .combinations import Combinations, Part, Pattern

Column = NDArray[np.float64] | NDArray[np.int64]
NO_ROWS: Ints = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Regression:
    """Which regression a question is about, apart from the data.

    Attributes
    ----------
    model : str
        A name in `MODELS`.
    intercept : bool
    ties : {"", "efron", "breslow", "exact"}
        How a Cox model treats tied deaths; empty for other models.
    penalized : tuple of int
        Columns whose coefficients have a ridge or lasso penalty.
    """

    model: str
    intercept: bool = True
    ties: str = ""
    penalized: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Given:
    """The data of a regression, without the rows of weight zero.

    Attributes
    ----------
    asked : Regression
    data : Data
    rows : ndarray of int64
        The rows with positive weights.
    """

    asked: Regression
    data: Data
    rows: Ints

    @property
    def y(self) -> Column:
        """The response of these rows: numbers, or positions among the classes that occur in them."""
        if "y" in self.data.columns:
            return self.data.columns["y"][self.rows]
        found: Ints = np.unique(self.data.codes[self.rows], return_inverse=True)[1].ravel()
        return found

    @property
    def present(self) -> list[str]:
        """The classes that occur in these rows, in order."""
        return [self.data.classes[code] for code in np.unique(self.data.codes[self.rows])]

    def column(self, name: str, default: float = 1.0) -> Column:
        """Return a further column of these rows; the default if there is no such column."""
        if name not in self.data.columns:
            return np.full(self.rows.size, default)
        return self.data.columns[name][self.rows]

    def made(
        self,
        signed: Sequence[Pattern],
        equal: Sequence[Pattern] = (),
        *,
        per_class: Sequence[str] = (),
        further: Sequence[str] = (),
        hidden: int = 0,
        dropped: str = "",
        blocks: int = 1,
        weak: Ints = NO_ROWS,
    ) -> Rows:
        """Return the rows of the model, with those that penalties add."""
        lift, n_columns, blocks = (
            self.asked.intercept,
            int(self.data.matrix.shape[1]),
            len(per_class) or blocks,
        )
        width = blocks * (n_columns + lift) + len(further) + hidden
        shape = (int(self.data.matrix.shape[0]) * blocks, width)
        none = Pattern.of(shape, NO_ROWS)
        places = np.array(
            [b * (n_columns + lift) + k for b in range(blocks) for k in self.asked.penalized], dtype=np.int64
        )
        penalties = Pattern.of(shape, np.full(places.size, -1), unit=[(places, 1)])
        pattern = Pattern.stacked([none, *signed, *equal, penalties])
        return Rows(
            Combinations(self.data.matrix, lift, blocks, pattern),
            sum(each.about.size for each in signed),
            tuple(per_class),
            tuple(further),
            hidden,
            dropped,
            weak,
        )

    def pattern(
        self,
        about: Ints,
        data: Sequence[Part] = (),
        unit: Sequence[Part] = (),
        *,
        blocks: int = 1,
        further: int = 0,
    ) -> Pattern:
        """Return combinations of rows of the data; units are counted from the first further parameter."""
        n_rows, n_columns = map(int, self.data.matrix.shape)
        start = blocks * (n_columns + self.asked.intercept)
        moved = [(np.where(places >= 0, places + start, -1), factor) for places, factor in unit]
        return Pattern.of((n_rows * blocks, start + further), about, data, moved)


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a question: the signed ones, the weak ones, and those that every direction is zero on.

    Attributes
    ----------
    combinations : Combinations
    n_signed : int
    per_class : tuple of str
        The classes that have a block of coefficients each; empty if there is one block.
    further : tuple of str
        The names of further parameters, such as thresholds.
    hidden : int
        How many auxiliary coordinates follow: they are no parameters of the model.
    dropped : str
        What was left out because it says nothing about the coefficients; empty if nothing was.
    weak : ndarray of int64
        For each weak row, a signed row: if there are multipliers, the weak row may have a positive one or
        none, and along a direction it is positive if that signed row is, and otherwise zero.
    """

    combinations: Combinations
    n_signed: int
    per_class: tuple[str, ...] = ()
    further: tuple[str, ...] = ()
    hidden: int = 0
    dropped: str = ""
    weak: Ints = field(default_factory=lambda: NO_ROWS)


@dataclass(frozen=True)
class Model:
    """What a model says about itself.

    Attributes
    ----------
    title : str
        What it is called in a sentence.
    response : {"classes", "ordered", "numbers", "none"}
        What y holds.
    build : callable
        Makes the rows.
    needs, takes : tuple of str
        Further columns: those that it cannot do without, and others.
    intercept : bool
        Whether it has one by default; if not, it never has one.
    concave : bool
        Whether independent columns make the estimate unique.
    """

    title: str
    response: str
    build: Callable[[Given], Rows]
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    intercept: bool = True
    concave: bool = True


@dataclass
class Hubs:
    """Auxiliary coordinates, each between the scores of some upper rows and some lower rows."""

    uppers: list[Ints] = field(default_factory=list)
    lowers: list[Ints] = field(default_factory=list)
    pairs: list[tuple[Ints, Ints]] = field(default_factory=list)

    def compare(self, uppers: Ints, lowers: Ints) -> None:
        """Ask that no upper row has a lower score than a lower one.

        Few pairs are compared one by one. Otherwise an auxiliary coordinate a is added, with ``x d >= a`` for
        the upper rows and ``a >= x d`` for the lower ones: some pair is strict if and only if some row is.
        """
        if not uppers.size or not lowers.size:
            return
        if uppers.size * lowers.size <= 4 * (uppers.size + lowers.size):
            self.pairs.append((np.repeat(uppers, lowers.size), np.tile(lowers, uppers.size)))
        else:
            self.uppers.append(uppers)
            self.lowers.append(lowers)

    def patterns(self, given: Given) -> list[Pattern]:
        """Return the signed rows of all comparisons."""
        found, count = [], len(self.uppers)
        if self.pairs:
            first, second = (
                np.concatenate(each) if len(each) > 1 else each[0] for each in zip(*self.pairs, strict=True)
            )
            found.append(given.pattern(first, [(first, 1), (second, -1)], further=count))
        for sides, sign in ((self.uppers, 1), (self.lowers, -1)):
            if sides:
                rows = np.concatenate(sides)
                hubs = np.repeat(np.arange(count), [each.size for each in sides])
                found.append(given.pattern(rows, [(rows, sign)], [(hubs, -sign)], further=count))
        return found


def members(codes: Ints) -> list[Ints]:
    """Return the places of each code, in order."""
    order = np.argsort(codes, kind="stable")
    cuts = np.flatnonzero(np.diff(codes[order])) + 1
    return np.split(order, cuts) if order.size else []


def need(valid: Mask | bool, message: str, rows: Ints | None = None) -> None:
    """Raise InputError if something is wrong, with the first row on which it is."""
    wrong = np.flatnonzero(~np.asarray(valid))
    if wrong.size:
        raise InputError(message, row=None if rows is None else int(rows[wrong[0]]))
