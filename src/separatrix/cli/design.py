"""A formula in the stead of columns: what it makes of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import typer

from . import options
from .console import waiting


@dataclass(frozen=True, eq=False)
class FormulaRows:
    """What a formula makes of a table, with what is said of a table."""

    table: Any
    formula: str
    design: Any

    @property
    def name(self) -> str:
        """What the user called the data."""
        return str(self.table.name)

    @property
    def kind(self) -> str:
        """The kind of file."""
        return str(self.table.kind)

    @property
    def has_lines(self) -> bool:
        """Whether rows stand in lines of the file."""
        return bool(self.table.has_lines)

    @property
    def asked(self) -> Any:
        """Which rows of the file were asked for, as it was said."""
        return self.table.asked

    @property
    def doubts(self) -> tuple[str, ...]:
        """Labels that seem to mean the same."""
        from ..files.label_spelling import doubts

        return tuple(doubts(self.target_name, set(self.design.y.tolist())))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know about how the file was read."""
        return (f"formula: {self.formula}", *self.table.notes)

    @property
    def target_name(self) -> str:
        """The left side of the formula."""
        return self.formula.partition("~")[0].strip()

    @property
    def feature_names(self) -> tuple[str, ...]:
        """One name for each column of the matrix."""
        return tuple(map(str, self.design.X.columns))

    def read(self) -> tuple[Any, Any]:
        """The matrix and the labels."""
        from ..files.batches import whole

        labels = self.design.y
        return self.design.X.to_numpy(dtype=float), whole(labels) if labels.dtype.kind == "f" else labels

    def places(self, rows: Sequence[int]) -> Any:
        """Where rows of the matrix stand in the file."""
        return self.table.places(self.design.rows[list(rows)].tolist())

    def describe(self) -> dict[str, Any]:
        """Plain facts for JSON."""
        return {
            **self.table.describe(),
            "rows": len(self.design.y),
            "target": self.target_name,
            "features": int(self.design.X.shape[1]),
            "columns": None,
            "notes": [*self.doubts, *self.notes],
            "formula": self.formula,
        }


def design(source: options.Reading, formula: str) -> FormulaRows:
    """Read the variables of a formula, and evaluate it on them."""
    from ..errors import InputError
    from ..proofs.statistics.formula import read_formula, variables

    for name in ("target", "features", "exclude"):
        if getattr(source, name):
            raise typer.BadParameter(
                f"--{name} does not go with --formula, which names the columns. Leave it out."
            )
    table = replace(source, features=[options.quoted(each) for each in variables(formula)]).open()
    if not hasattr(table.reader, "frame"):
        raise InputError(f"{table.name!r} has no named columns, which a formula is about.")
    with waiting("Reading the rows"):
        found = read_formula(formula, table.reader.frame())
    lost = found.n_data - len(found.y)
    if lost:
        raise InputError(
            f"{table.name!r} lacks values in {lost:,} of {found.n_data:,} rows that the formula uses.",
            remedy="Fill them in, or leave such rows out with missing='drop'.",
            parameter="missing",
        )
    return FormulaRows(table, formula, found)
