"""What the columns of a table are: numbers, levels, or mere names and numbers of the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .cleaning import WRITTEN_DATE
from .database import Database, identifier, is_number, plain_identifier
from .encoding import MAX_LEVELS, Column, shown
from .readings import Reading
from .sources import Request

SAMPLED = 1000  # rows that tell which columns may count the rows
FEWEST = 10  # rows from which on a column that counts them, or names nearly all of them, is no accident
NEARLY = 0.9  # a text column with more levels than this share of the rows names them
FEW = 3  # rows from which on a text column without any repetition names them

# Those of some columns that count up by one.
Suspects = Callable[[Sequence[str]], list[str]]


def left_out(
    database: Database, names: tuple[str, ...], suspects: Suspects | None, text: Sequence[str]
) -> tuple[tuple[str, ...], list[str]]:
    """The columns without those that have no name, or count the rows; and a sentence for each of these.

    The last column is never left out, nor is one that shall be read as text.
    """
    notes, kept = [], list(names)
    for name in (*database.unnamed, *(each for each in database.empty if each not in database.unnamed)):
        if name in kept and len(kept) > 1:
            kept.remove(name)
            first = name == next(iter(database.columns))
            why = (
                "the first column has no name, as the row names of R and pandas"
                if first and name in database.unnamed
                else "it has no values"
            )
            notes.append(f"{name} is left out: {why}.")
    for name in counting(database, kept) if suspects is None else suspects(kept):
        if len(kept) > 1 and name not in text:
            kept.remove(name)
            notes.append(f"{name} is left out: it counts up by one, as row numbers do. --features keeps it.")
    return tuple(kept), notes


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


@dataclass(frozen=True)
class Levels:
    """The first levels of a text column with their rows, how many there are, and rows that have one."""

    rows: dict[str, int]
    number: int
    total: int

    @property
    def name_the_rows(self) -> bool:
        """Whether each row, or nearly each, has a text of its own: it would be separated by that alone."""
        distinct = self.number == self.total >= FEW
        return distinct or (self.total >= FEWEST and self.number > NEARLY * self.total)


def learn_columns(
    database: Database, relation: str, names: Sequence[str], readings: dict[str, Reading], request: Request
) -> tuple[tuple[Column, ...], list[str]]:
    """See what each column holds: numbers, or text with so many levels; and what is to be said of them.

    ``relation`` has the rows that are used. A text column that names them is left out.
    """
    columns, notes, naming = [], [], list[str]()
    for name in names:
        kind = database.columns[name]
        if is_number(kind) and name not in request.text:
            columns.append(Column(name, None, readings.get(name, Reading())))
            continue
        if kind not in ("VARCHAR", "BOOLEAN") and not kind.startswith("ENUM") and name not in request.text:
            raise foreign(name, kind, database.called)
        levels = _levels(database, relation, name)
        asked = request.features is not None or name in request.text
        if not asked and levels.name_the_rows:
            naming.append(
                f"{name} is left out: {levels.number:,} different texts in {levels.total:,} rows name "
                "the rows. --features keeps it."
            )
            continue
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
        columns.append(Column(name, tuple(levels.rows)))
    if not columns:
        raise InputError(
            f"No feature column is left: each looks like an identifier. {' '.join(naming)}",
            remedy="Name some other than the target with 'features'.",
            parameter="features",
        )
    return tuple(columns), [*naming, *notes]


def _levels(database: Database, relation: str, name: str) -> Levels:
    if database.cells is not None and relation == database.relation:
        times = Counter(database.cells[name])
        return Levels({level: times[level] for level in sorted(times)}, len(times), times.total())
    level = f"{identifier(name)}::VARCHAR"
    # By numbers: an alias would be taken for a column of that name, if the table has one.
    grouped = f"SELECT {level}, count(*) AS times FROM {relation} WHERE {level} IS NOT NULL GROUP BY 1"
    found = dict(database.rows(f"{grouped} ORDER BY 1 LIMIT {MAX_LEVELS + 1}"))
    if len(found) <= MAX_LEVELS:
        return Levels(found, len(found), sum(found.values()))
    return Levels(found, *map(int, database.rows(f"SELECT count(*), sum(times) FROM ({grouped})")[0]))


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
