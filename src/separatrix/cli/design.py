"""A formula in the stead of columns: what it makes of a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import typer

from . import options
from .console import waiting


@dataclass(frozen=True, eq=False)
class FormulaRows:
    """What a formula makes of a table, with what is said of a table."""

    name: str
    kind: str
    formula: str
    X: Any
    y: Any
    intercept: bool
    feature_names: tuple[str, ...]

    @property
    def target_name(self) -> str:
        """The left side of the formula."""
        return self.formula.partition("~")[0].strip()

    def describe(self) -> dict[str, Any]:
        """Plain facts for JSON."""
        return {
            "source": self.name,
            "kind": self.kind,
            "rows": int(self.X.shape[0]),
            "target": self.target_name,
            "features": int(self.X.shape[1]),
            "columns": None,
            "formula": self.formula,
        }


def design(source: options.DataOptions, formula: str) -> FormulaRows:
    """Read the variables of a formula, and evaluate it on them."""
    from ..errors import InputError
    from ..proofs.formula import read_formula, variables

    for option, value in (
        ("--target", source.target),
        ("--features", source.features),
        ("--exclude", source.exclude),
    ):
        if value is not None:
            raise typer.BadParameter(
                f"{option} does not go with --formula, which names the columns. Leave it out."
            )
    table = replace(source, features=",".join(variables(formula))).open()
    if not hasattr(table.reader, "frame"):
        raise InputError(f"{table.name!r} has no named columns, which a formula is about.")
    with waiting("Reading the rows"):
        found = read_formula(formula, table.reader.frame())
    lost = found.n_data - len(found.y)
    if lost and source.missing == "error":
        raise InputError(
            f"{table.name!r} lacks values in {lost:,} of {found.n_data:,} rows that the formula uses.",
            remedy="Fill them in, or leave such rows out with missing='drop'.",
            parameter="missing",
        )
    names = tuple(map(str, found.X.columns))
    return FormulaRows(
        table.name, table.kind, formula, found.X.to_numpy(dtype=float), found.y, found.intercept, names
    )
