"""How the columns of a table become the columns of a matrix, and back to names that people read."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..errors import InputError
from .number_formats import PLAIN_READING, Reading

# A text column with more levels than this is an identifier or free text, not a variable.
MAX_LEVELS = 1000
INDEX = re.compile(r"__index_level_\d+__")


@dataclass(frozen=True)
class Column:
    """A column of the table: a number (``levels`` is None), or text with the levels it had in training."""

    name: str
    levels: tuple[str, ...] | None = None
    reading: Reading = PLAIN_READING

    @property
    def kind(self) -> str:
        """How it is read, in words."""
        if self.levels is not None:
            return f"text ({shown(sorted(self.levels))})"
        return "numbers" + (f" with {self.reading.words}" if self.reading.words else "")


@dataclass(frozen=True)
class Encoding:
    """What was learnt about the columns when a model was fitted, so that other files are read alike.

    Attributes
    ----------
    columns : tuple of Column
        The columns that are used, in order; empty for files whose columns have no names.
    intercept : bool
        Whether the first level of each text column is left out: with an intercept it says nothing new.
    width : int or None
        How many columns there are, where they are only numbered (LIBSVM files and arrays).
    first : int
        The number of the first of these.
    na : tuple of str
        Cells that say that a value is missing, beside those that are known to.
    """

    columns: tuple[Column, ...] = ()
    intercept: bool = True
    width: int | None = None
    first: int = 1
    na: tuple[str, ...] = ()

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """One name for each column of the matrix: ``age``, ``light=sunny``, or its number."""
        if self.width is not None:
            return tuple(str(number) for number in range(self.first, self.first + self.width))
        names = []
        for column in self.columns:
            if column.levels is None:
                names.append(column.name)
            else:
                names += [f"{column.name}={level}" for level in self.kept_levels(column.levels)]
        return tuple(names)

    @property
    def n_features(self) -> int:
        """How many columns the matrix has."""
        if self.width is not None:
            return self.width
        return sum(1 if each.levels is None else len(self.kept_levels(each.levels)) for each in self.columns)

    def kept_levels(self, levels: tuple[str, ...]) -> tuple[str, ...]:
        """Those of a column's levels that have a column of their own."""
        return levels[int(self.intercept) :]

    def told(self) -> list[str]:
        """How columns are read that are not plain numbers: a sentence for all that are read alike.

        Examples
        --------
        >>> comma = Reading(",")
        >>> Encoding((Column("dose", None, comma), Column("age"), Column("weight", None, comma))).told()
        ['dose, weight: decimal comma.']
        """
        alike: dict[str, list[str]] = {}
        for column in self.columns:
            alike.setdefault(column.reading.words, []).append(column.name)
        told = [f"{shown(names)}: {words}." for words, names in alike.items() if words]
        return told + ([f"Also missing: {shown(self.na)}."] if self.na else [])

    def unlike(self, plain: Encoding) -> list[str]:
        """What is read otherwise here than in another encoding of the same file, a sentence each.

        The order of columns, and that of levels, does not count.

        Examples
        --------
        >>> plain = Encoding((Column("dose"), Column("age")))
        >>> Encoding((Column("dose", None, Reading(",")),), na=("-9",)).unlike(plain)
        ['Left out: age.', 'dose is read as numbers with decimal comma, not as numbers.', 'Also missing: -9.']
        """
        own, others = ({each.name: each for each in encoding.columns} for encoding in (self, plain))
        told = []
        if left := [name for name in others if name not in own]:
            told.append(f"Left out: {shown(left)}.")
        if added := [name for name in own if name not in others]:
            told.append(f"Used, though plainly read it is no feature: {shown(added)}.")
        for name in (each for each in own if each in others):
            here, there = own[name].kind, others[name].kind
            if here != there:
                told.append(f"{name} is read as {here}, not as {there}.")
        if self.intercept != plain.intercept and any(each.levels for each in self.columns):
            told.append(f"The first level of text columns is {'left out' if self.intercept else 'kept'}.")
        if self.na != plain.na:
            told.append(f"Also missing: {shown(self.na)}." if self.na else "No other cells are missing.")
        if (self.width, self.first) != (plain.width, plain.first):
            told.append(f"The columns are {self._numbered}, not {plain._numbered}.")
        return told

    @property
    def _numbered(self) -> str:
        if self.width is None:
            return "named"
        return f"{self.width:,}, counted from {self.first}"

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        columns = [
            {
                "name": c.name,
                "levels": None if c.levels is None else list(c.levels),
                **({} if c.reading == Reading() else {"reading": c.reading.as_dict()}),
            }
            for c in self.columns
        ]
        found = {"columns": columns, "intercept": self.intercept, "width": self.width, "first": self.first}
        return found | ({"na": list(self.na)} if self.na else {})

    @staticmethod
    def from_dict(values: Any) -> Encoding:
        """Read back what `as_dict` gave."""
        try:
            columns = tuple(
                Column(
                    str(each["name"]),
                    None if each["levels"] is None else tuple(map(str, each["levels"])),
                    Reading.from_dict(each["reading"]) if "reading" in each else Reading(),
                )
                for each in values["columns"]
            )
            width = values["width"]
            counted = None if width is None else int(width)
            na = tuple(map(str, values.get("na", ())))
            return Encoding(columns, bool(values["intercept"]), counted, int(values["first"]), na)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputError("The description of the columns is not one that this library wrote.") from error


def choose_columns(
    available: Sequence[str],
    *,
    target: str | None,
    features: Iterable[str] | None,
    exclude: Iterable[str],
    row_names: str | None = None,
) -> tuple[str, ...]:
    """The names of the feature columns, in the table's order; features that are named, in theirs.

    The numbers of rows that pandas writes into Parquet files are none, unless they are named; nor are the
    names of rows.
    """
    named = None if features is None else tuple(features)
    left_out = tuple(exclude)
    for name in (*(each for each in (target, row_names) if each is not None), *(named or ()), *left_out):
        if name not in available:
            raise unknown(name, available)
    if named is not None and target in named:
        raise InputError(f"The target {target!r} is among the features. Leave it out of them.")
    chosen = [
        name
        for name in (named if named is not None else available)
        if name != target
        and name not in left_out
        and (named is not None or not (INDEX.fullmatch(name) or name == row_names))
    ]
    if not chosen:
        raise InputError(
            "No feature column is left.",
            remedy="Name some other than the target with 'features'.",
            parameter="features",
        )
    return tuple(dict.fromkeys(chosen))


def need_distinct(table: str, names: Iterable[str]) -> None:
    """Raise where columns have one name, or names that differ in case only, which SQL does not tell apart."""
    seen: dict[str, str] = {}
    for name in names:
        before = seen.get(name.casefold())
        seen[name.casefold()] = name
        if before is not None:
            what = (
                f"more than one column named {name!r}"
                if before == name
                else f"columns {before!r} and {name!r}"
            )
            raise InputError(
                f"{table!r} has {what}. Every column needs a name of its own, also in small letters."
            )


def unknown(name: str, available: Sequence[str], kind: str = "column") -> InputError:
    """The error for a column that there is not, naming the nearest."""
    folded = {each.casefold(): each for each in available}
    near = difflib.get_close_matches(name.casefold(), list(folded), n=1, cutoff=0.6)
    hint = f"Did you mean {folded[near[0]]!r}?" if near else f"The {kind}s are: {shown(available)}."
    return InputError(f"There is no {kind} {name!r}. {hint}")


def shown(values: Sequence[Any], limit: int = 12) -> str:
    """The first few values, for a message."""
    text = ", ".join(str(value) for value in values[:limit])
    return text if len(values) <= limit else f"{text}, ... ({len(values):,} in all)"
