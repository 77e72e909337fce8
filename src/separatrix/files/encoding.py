"""How the columns of a table become the columns of a matrix: `Encoding`, which models keep in their files."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from ..errors import InputError
from .number_formats import PLAIN_READING, Reading

MAX_LEVELS = 1000  # a text column with more levels is an identifier or free text, not a category
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")


@dataclass(frozen=True)
class Column:
    """A column of the table: a number (``levels`` is None), or text with the levels it had in training."""

    name: str
    levels: tuple[str, ...] | None = None
    reading: Reading = PLAIN_READING

    @property
    def kind(self) -> str:
        """How the column is read, in words."""
        if self.levels is not None:
            return f"text ({shown(sorted(self.levels))})"
        return "numbers" + (f" with {self.reading.words}" if self.reading.words else "")


@dataclass(frozen=True)
class Encoding:
    """What was learned about the columns in training, so that other files are read in the same way.

    Attributes
    ----------
    columns : tuple of Column
        The columns that are used, in order; empty for files whose columns have no names.
    intercept : bool
        Whether the first level of each text column is left out, because an intercept makes it redundant.
    width : int or None
        How many columns there are, if they have numbers instead of names (LIBSVM files and arrays).
    first : int
        The number of the first of these.
    na : tuple of str
        Cells that mean a missing value, in addition to those that every file may have.
    """

    columns: tuple[Column, ...] = ()
    intercept: bool = True
    width: int | None = None
    first: int = 1
    na: tuple[str, ...] = ()

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """One name per column of the matrix: ``age``, ``light=sunny``, or a number."""
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
        """Return the levels of a text column that have a column of their own in the matrix."""
        return levels[int(self.intercept) :]

    def told(self) -> list[str]:
        """Describe the columns that are not plain numbers, one sentence per way of reading.

        Examples
        --------
        >>> comma = Reading(",")
        >>> Encoding((Column("dose", None, comma), Column("age"), Column("weight", None, comma))).told()
        ['dose, weight: decimal comma.']
        """
        groups: dict[str, list[str]] = {}
        for column in self.columns:
            groups.setdefault(column.reading.words, []).append(column.name)
        told = [f"{shown(names)}: {words}." for words, names in groups.items() if words]
        return told + ([f"Also missing: {shown(self.na)}."] if self.na else [])

    def unlike(self, plain: Encoding) -> list[str]:
        """Describe what this encoding reads differently from another one of the same file.

        The order of columns, and that of levels, does not count.

        Examples
        --------
        >>> plain = Encoding((Column("dose"), Column("age")))
        >>> Encoding((Column("dose", None, Reading(",")),), na=("-9",)).unlike(plain)
        ['Left out: age.', 'dose is read as numbers with decimal comma, not as numbers.', 'Also missing: -9.']
        """
        own, others = ({each.name: each.kind for each in encoding.columns} for encoding in (self, plain))
        left, added = [n for n in others if n not in own], [n for n in own if n not in others]
        told = [f"Left out: {shown(left)}."] if left else []
        told += [f"Added: {shown(added)}."] if added else []
        told += [
            f"{name} is read as {kind}, not as {others[name]}."
            for name, kind in own.items()
            if others.get(name, kind) != kind
        ]
        if self.na != plain.na:
            told.append(f"Also missing: {shown(self.na) or 'nothing'}.")
        if (self.width, self.first) != (plain.width, plain.first):
            counts = [f"{each.width} columns, counted from {each.first}" for each in (self, plain)]
            told.append(f"It has {counts[0]}, not {counts[1]}.")
        return told

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        columns = [
            {
                "name": c.name,
                "levels": None if c.levels is None else list(c.levels),
                **({} if c.reading == PLAIN_READING else {"reading": asdict(c.reading)}),
            }
            for c in self.columns
        ]
        found = {"columns": columns, "intercept": self.intercept, "width": self.width, "first": self.first}
        return found | ({"na": list(self.na)} if self.na else {})

    @staticmethod
    def from_dict(values: Any) -> Encoding:
        """Return the encoding that `as_dict` described."""
        try:
            columns = tuple(
                Column(
                    str(each["name"]),
                    None if each["levels"] is None else tuple(map(str, each["levels"])),
                    Reading.from_dict(each["reading"]) if "reading" in each else PLAIN_READING,
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
    features: tuple[str, ...] | None,
    exclude: tuple[str, ...],
    row_names: str | None = None,
) -> tuple[str, ...]:
    """Return the names of the feature columns: those that are named, or all others than the target.

    The column of row names and the index that pandas writes into Parquet files are features only if they are
    named.
    """
    asked = [name for name in (target, row_names) if name is not None]
    for name in (*asked, *(features or ()), *exclude):
        if name not in available:
            raise unknown(name, available)
    if features is not None and target in features:
        raise InputError(f"The target {target!r} is among the features. Leave it out of them.")
    if features is None:
        features = tuple(n for n in available if not (_PANDAS_INDEX.fullmatch(n) or n == row_names))
    chosen = tuple(dict.fromkeys(n for n in features if n != target and n not in exclude))
    if not chosen:
        raise InputError(
            "No feature column is left.",
            remedy="Name columns other than the target with 'features'.",
            parameter="features",
        )
    return chosen


def need_distinct(table: str, names: Iterable[str]) -> None:
    """Refuse columns with equal names, or names that differ only in case, which SQL does not distinguish."""
    seen = set[str]()
    for name in names:
        if name.casefold() in seen:
            raise InputError(
                f"{table!r} has more than one column named {name!r}, in upper or lower case. Every column "
                "needs a name of its own."
            )
        seen.add(name.casefold())


def unknown(name: str, available: Sequence[str], kind: str = "column") -> InputError:
    """Return the error for a column that does not exist, with the most similar name."""
    folded = {each.casefold(): each for each in available}
    near = difflib.get_close_matches(name.casefold(), list(folded), n=1, cutoff=0.6)
    hint = f"Did you mean {folded[near[0]]!r}?" if near else f"The {kind}s are: {shown(available)}."
    if "column1" in available:  # the file does not name its columns
        hint += " Put a line of names first, none of them a number."
    return InputError(f"There is no {kind} {name!r}. {hint}")


def shown(values: Sequence[Any], limit: int = 12) -> str:
    """Join the first few values for a message."""
    text = ", ".join(str(value) for value in values[:limit])
    return text if len(values) <= limit else f"{text}, ... ({len(values):,} in all)"


def clip(cell: str, most: int = 40) -> str:
    """Shorten a cell for a message."""
    return cell if len(cell) <= most else f"{cell[: most - 4]} ..."
