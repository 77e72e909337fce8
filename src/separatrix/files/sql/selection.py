"""Which rows and columns of a table are wanted, as SQL."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..encoding import Encoding
from ..identifiers import foreign
from ..number_formats import BLANKS
from .database import FLOATS, Database, identifier, is_number, is_wide, literal

NUMBER, NAME = '"separatrix row"', '"separatrix name"'  # columns that no file has


@dataclass(frozen=True, eq=False)
class Selection:
    """The rows and columns that are wanted, as SQL."""

    database: Database
    names: tuple[str, ...]
    target: str | None = None
    where: str | None = None
    missing: str = "error"
    named: bool = False

    @property
    def kinds(self) -> dict[str, str]:
        """The DuckDB type of each column."""
        return self.database.columns

    @cached_property
    def used(self) -> list[str]:
        """The columns that are read: the features, then the target."""
        return [*self.names, *([] if self.target is None else [self.target])]

    @cached_property
    def rows(self) -> str:
        """What stands after FROM."""
        return self._chosen(self.database.relation)

    @property
    def chosen(self) -> bool:
        """Whether rows of the table may have been left out."""
        return self.where is not None or self.missing == "drop"

    @property
    def condition(self) -> str:
        """The condition on rows, which may end with a comment."""
        return "true" if self.where is None else f"({self.where}\n)"

    @cached_property
    def numbered(self) -> str:
        """The same rows with their numbers in the table, counted from 1, as the column `NUMBER`."""
        return self._chosen(f"(SELECT *, row_number() OVER () AS {NUMBER} FROM {self.database.relation})")

    def _chosen(self, relation: str) -> str:
        wanted = [] if self.where is None else [self.condition]
        if self.missing == "drop":
            wanted += [f"NOT ({self.lacking(name)})" for name in self.used]
        return f"(FROM {relation} WHERE {' AND '.join(wanted)})" if wanted else relation

    def lacking(self, name: str) -> str:
        """The condition that a column has no value."""
        column = identifier(name)
        if name == self.target and self.kinds[name] == "VARCHAR":
            column = self.label
        return f"{column} IS NULL" + (f" OR isnan({column})" if self.kinds[name] in FLOATS else "")

    @property
    def label(self) -> str:
        """The target: a whole number, a number or a text."""
        assert self.target is not None
        kind, name = self.kinds[self.target], identifier(self.target)
        if kind == "BOOLEAN" or kind.startswith("ENUM"):
            return f"{name}::VARCHAR"
        if kind == "VARCHAR":
            return f"nullif(trim({name}, {literal(BLANKS)}), '')"
        if kind in ("DOUBLE", "BIGINT"):
            return name
        if not is_number(kind):
            raise foreign(self.target, kind, self.database.called)
        if is_wide(kind) and kind != "UBIGINT":
            return f"{name}::VARCHAR"  # may be beyond all numbers that are exact
        return f"{name}::BIGINT" if "INT" in kind else f"{name}::DOUBLE"

    def features(self, encoding: Encoding) -> list[str]:
        """One expression for each column of the matrix."""
        found = []
        for column in encoding.columns:
            name = identifier(column.name)
            if column.levels is None:
                found.append(name if self.kinds[column.name] == "DOUBLE" else f"{name}::DOUBLE")
            else:
                kept = encoding.kept_levels(column.levels)
                found += [f"({name}::VARCHAR = {literal(level)})::DOUBLE" for level in kept]
        return found
