"""What a caller wants of a table: the columns, the rows, and how its cells are written."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ..errors import InputError
from .encoding import Encoding
from .number_formats import SEPARATORS

EVERY = ("target", "intercept", "encoding", "text_encoding", "memory")  # options of every file


@dataclass
class Request:
    """Which rows and columns of a source are wanted, and how they are written.

    Parameters
    ----------
    target : str, optional
        The column to be learned. LIBSVM files and npz files with ``y`` have one of their own.
    features : names, optional
        The columns to learn from; by default, all except the target.
    exclude : names
        Columns to leave out.
    where : str, optional
        A condition in SQL; rows for which it is not true are left out.
    sql : str, optional
        A query, in which the source is called ``data``; its answer is the table. Tables of SQLite and DuckDB
        files have their own names in it.
    table : str, optional
        The table of an SQLite or DuckDB file.
    missing : {"error", "drop"}
        What to do with rows that lack a value.
    intercept : bool
        Whether the model has an intercept, so that the first level of a text column needs no column.
    encoding : Encoding, optional
        The encoding of the table that a model was fitted on; the same columns are read, in that order.
    decimal : {".", ","}, optional
        The decimal sign of numbers in text; by default, the columns decide.
    thousands : str, optional
        The thousands separator there, such as ``","`` or a blank.
    na : texts
        Cells that mean a missing value, in addition to the usual ones, such as ``"-9"``. Those of
        ``encoding`` are added.
    text : names
        Columns to read as text, whatever they hold.
    row_names : str, optional
        The column that names the rows for people; it is not a feature.
    sheet : str, optional
        The sheet of an Excel file.
    skip : int
        Lines of a CSV file, or rows of a sheet, before the row of names that are not read, such as titles.
    text_encoding : str, optional
        The encoding of text that is not UTF-8, such as ``"latin-1"``; UTF-16 is recognized.
    memory : int, optional
        How many bytes the rows may take in memory; by default, what the machine has free.
    """

    target: str | None = None
    features: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    where: str | None = None
    sql: str | None = None
    table: str | None = None
    missing: str = "error"
    intercept: bool = True
    encoding: Encoding | None = None
    decimal: str | None = None
    thousands: str | None = None
    na: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    row_names: str | None = None
    sheet: str | None = None
    skip: int = 0
    text_encoding: str | None = None
    memory: int | None = None

    def __post_init__(self) -> None:
        self.features = None if self.features is None else tuple(self.features)
        self.exclude, self.text = tuple(self.exclude), tuple(self.text)
        self.na = tuple(dict.fromkeys([*self.na, *(() if self.encoding is None else self.encoding.na)]))
        if self.table is not None and self.sql is not None:
            raise InputError(
                "'table' and 'sql' cannot be combined: name the table in the query.", parameter="table"
            )
        signs = (None, "", *(each for each in SEPARATORS if each != self.decimal))
        known = {"missing": ("error", "drop"), "decimal": (None, ".", ","), "thousands": signs}
        for name, values in known.items():
            if (given := getattr(self, name)) not in values:
                usual = " or ".join(map(repr, filter(None, values)))
                raise InputError(f"The {name!r} parameter must be one of {usual}. Got {given!r} instead.")


# The options of every table with named columns.
NAMED = tuple(each.name for each in fields(Request) if each.name not in (*EVERY, "table", "sheet", "skip"))
