"""What the columns of a table are: numbers, levels, or mere names and numbers of the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .cleaning import WRITTEN_DATE
from .encoding import MAX_LEVELS, Column, shown
from .number_formats import Reading
from .source.detect import Request
from .sql.database import FEWEST, Database, identifier, is_number, plain_identifier

SAMPLED = 1000  # rows that tell which columns may count the rows
# Those of some columns that count up by one.
Suspects = Callable[[Sequence[str]], list[str]]


def left_out(
    names: tuple[str, ...], unnamed: Sequence[str], suspects: Suspects, text: Sequence[str]
) -> tuple[tuple[str, ...], list[str]]:
    """The columns without those that have no name, or count the rows; and a sentence for each of these.

    The last column is never left out, nor is one that shall be read as text.
    """
    notes, kept = [], list(names)
    for name in unnamed:
        if name in kept and len(kept) > 1:
            kept.remove(name)
            notes.append(
                f"{name} is left out: the first column has no name, as the row names of R and pandas."
            )
    for name in suspects(kept):
        if len(kept) > 1 and name not in text:
            kept.remove(name)
            notes.append(f"{name} is left out: it counts up by one, as row numbers do. --features keeps it.")
    return tuple(kept), notes


def without_values(database: Database, names: Sequence[str]) -> list[str]:
    """The columns that have no value in any row; the first rows tell which may have none."""
    columns = zip(names, database.head(names, FEWEST), strict=True)
    likely = [name for name, cells in columns if cells and not any(map(_is_value, cells))]
    if not likely:
        return []
    values = (f"count(nullif({identifier(name)}::VARCHAR, 'nan'))" for name in likely)
    counts = database.rows(f"SELECT {', '.join(values)} FROM {database.relation}")[0]
    return [name for name, count in zip(likely, counts, strict=True) if not count]


def _is_value(cell: Any) -> bool:
    return cell is not None and cell == cell  # NaN is none


def counting(database: Database, names: Sequence[str]) -> list[str]:
    """The columns whose numbers count up by one from row to row, in tables that DuckDB reads."""
    names = [name for name in names if is_number(database.columns[name])]
    if not names:
        return []
    listed = ", ".join(f"{identifier(name)}::DOUBLE" for name in names)
    rows = database.rows(f"SELECT {listed} FROM {database.relation} LIMIT {SAMPLED}")
    if len(rows) < FEWEST:
        return []
    cells = np.array(rows, dtype=np.float64)
    likely = [name for k, name in enumerate(names) if counts_up(cells[:, k])]
    return likely if len(rows) < SAMPLED else [name for name in likely if counts_to_its_end(database, name)]


def counts_up(cells: NDArray[Any]) -> bool:
    """Whether each number is the one before it plus one."""
    return cells.size >= FEWEST and cells[0] == np.floor(cells[0]) and bool(np.all(np.diff(cells) == 1.0))


def counts_to_its_end(database: Database, name: str) -> bool:
    """Whether the numbers of a column count up by one over all rows."""
    column = f"try_cast({identifier(name)} AS DOUBLE)"
    step = f"SELECT {column} - lag({column}) OVER () AS step, {column} AS cell FROM {database.relation}"
    query = f"SELECT count(*) FILTER (step <> 1 OR cell IS NULL), count(*) FROM ({step})"
    other, total = database.rows(query)[0]
    return bool(total > 0 and other == 0)


def without_row_names(
    database: Database, relation: str, names: Sequence[str], request: Request
) -> tuple[tuple[str, ...], list[str]]:
    """The columns without those of text that name the rows of ``relation``; and a sentence for each."""
    kept, notes = [], []
    for name in names:
        if is_number(database.columns[name]) or request.features is not None or name in request.text:
            kept.append(name)
            continue
        _need_levels(database, name)
        levels = database.levels(name, relation)
        if not levels.number:
            notes.append(f"{name} is left out: it has no values.")
        elif levels.name_the_rows:
            notes.append(
                f"{name} is left out: {levels.number:,} different texts in {levels.total:,} rows name "
                "the rows. --features keeps it."
            )
        else:
            kept.append(name)
    if not kept:
        raise InputError(
            f"No feature column is left: each looks like an identifier. {' '.join(notes)}",
            remedy="Name some other than the target with 'features'.",
            parameter="features",
        )
    return tuple(kept), notes


def learn_columns(
    database: Database, relation: str, names: Sequence[str], readings: dict[str, Reading], request: Request
) -> tuple[tuple[Column, ...], list[str]]:
    """See what each column holds: numbers, or text with so many levels; and what is to be said of them.

    ``relation`` has the rows that are used.
    """
    columns, notes = [], []
    for name in names:
        if is_number(database.columns[name]) and name not in request.text:
            columns.append(Column(name, None, readings.get(name, Reading())))
            continue
        if name not in request.text:
            _need_levels(database, name)
        levels = database.levels(name, relation)
        if levels.number > MAX_LEVELS:
            raise InputError(
                f"Column {name!r} is text with more than {MAX_LEVELS:,} different values; it looks like an "
                "identifier or free text.",
                remedy="Leave it out with 'exclude', or make it numbers first.",
                parameter="exclude",
            )
        once = [level for level, times in levels.rows.items() if times == 1]
        if once:
            notes.append(_seen_once(name, once))
        notes += nearly_alike(name, list(levels.rows))
        if len(levels.rows) == 1 and request.intercept:
            notes.append(f"{name}: each value is {next(iter(levels.rows))!r}, which tells no rows apart.")
        columns.append(Column(name, tuple(levels.rows)))
    return tuple(columns), notes


def _need_levels(database: Database, name: str) -> None:
    """Raise where a column that holds no numbers holds neither text nor truth values."""
    kind = database.columns[name]
    if kind not in ("VARCHAR", "BOOLEAN") and not kind.startswith("ENUM"):
        raise foreign(name, kind, database.called)


def nearly_alike(name: str, values: Sequence[Any]) -> list[str]:
    """A sentence about texts that differ in blanks or in capital letters alone, which are kept apart.

    Examples
    --------
    >>> nearly_alike("ill", ["no", "No", "yes"])
    ["ill: 'no' and 'No' differ in blanks or capital letters alone, and are kept apart."]
    """
    first: dict[str, str] = {}
    for value in values:
        if isinstance(value, str):
            before = first.setdefault("".join(value.split()).casefold(), value)
            if before != value:
                pair = f"{before!r} and {value!r}"
                return [f"{name}: {pair} differ in blanks or capital letters alone, and are kept apart."]
    return []


def _seen_once(name: str, once: list[str]) -> str:
    if len(once) == 1:
        return f"{name}: {once[0]!r} is seen once, and separates its row by itself."
    named = f"{len(once):,} levels are seen once ({shown(once, 4)})"
    return f"{name}: {named}, and each separates its row by itself."


def foreign(name: str, kind: str, called: str) -> InputError:
    """The error for a column of a type that is neither a number nor text, in a table that is so called."""
    if kind.startswith(("DATE", "TIME", "INTERVAL")):
        column = plain_identifier(name)
        value = f"strptime({column}, '%d.%m.%Y')" if kind == WRITTEN_DATE else column
        pattern = ", with the pattern that the cells have" if kind == WRITTEN_DATE else ""
        such = f", such as SELECT * EXCLUDE ({column}), epoch({value}) AS seconds FROM {called}{pattern}"
        return InputError(
            f"Column {name!r} is a date or time, which has no one meaning as a number. A query can compute "
            f"one{such if called else ''}.",
            remedy="Pass it as 'sql', or leave the column out with 'exclude'.",
            parameter="sql",
        )
    return InputError(
        f"Column {name!r} is {in_words(kind)}, which is no number.",
        remedy="Leave it out with 'exclude', or take it apart in a query with 'sql'.",
        parameter="sql",
    )


def in_words(kind: str) -> str:
    """A type of DuckDB as people say it."""
    return {"VARCHAR": "text", "BOOLEAN": "true or false"}.get(kind, f"of type {kind}")
