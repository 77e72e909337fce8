"""Before columns are chosen: codes become missing values, text that holds numbers becomes numbers.

The answer is a table that DuckDB computes from the one in the file, so conditions see what was read.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import InputError
from .database import Database, identifier, is_number, literal
from .encoding import Column, Encoding
from .places import placed
from .readings import BLANKS, MARKS, PLAIN_READING, SIGNS, Look, Reading, Wanted, evidence_of, look, shape
from .sources import Request

SAMPLED = 1000  # rows that tell whether a column of text looks like numbers; all rows tell how they are read
MOST_SHAPES = 100_000
WRITTEN_DATE = "DATE AS TEXT"  # a type that DuckDB does not have


class ReadingError(InputError):
    """A column of numbers has a cell that fits no one reading, or more than one."""


@dataclass(frozen=True, eq=False)
class Cleaned:
    """A table whose numbers are numbers, and how those columns were read that held text."""

    database: Database
    readings: dict[str, Reading]


def clean(database: Database, request: Request, used: Sequence[str]) -> Cleaned:
    """Read the text columns that hold numbers.

    Parameters
    ----------
    database : Database
    request : Request
    used : names
        Columns that have to be read or refused; a column beside them that has no one reading stays text.

    Raises
    ------
    InputError
        Where most cells of a used column are numbers, but not all agree on one reading.
    """
    na = request.na
    database = _without(database, [n for n, kind in database.columns.items() if kind == "VARCHAR"], na)
    known = {} if request.encoding is None else {c.name: c for c in request.encoding.columns}
    text = {*request.text, *(n for n, c in known.items() if c.levels is not None)}
    others = [] if request.where is None and request.sql is None else list(database.columns)
    asked = [
        name
        for name in dict.fromkeys([*used, *others])
        if database.columns[name] == "VARCHAR" and name not in text and name != request.target
    ]
    looks = _looks(database, asked, Wanted(request.decimal, request.thousands), known)
    readings = {name: each.reading for name, each in looks.items() if each.kind == "number"}
    for name, each in looks.items():
        if name in used:
            _refuse(database, name, each)
    for name in used:
        if name in known and known[name].levels is None:
            _need_same_unit(database, name, readings.get(name, PLAIN_READING), known[name].reading)
    kinds = {
        **database.columns,
        **{name: WRITTEN_DATE for name, each in looks.items() if each.kind == "date"},
    }
    expressions = {name: value_sql(name, looks[name]) for name in readings}
    kinds |= dict.fromkeys(readings, "DOUBLE")
    if request.target is not None and _marks_among_numbers(database, request):
        expressions[request.target], kinds[request.target] = _label_sql(database, request.target)
    texts = database.texts or (database.relation if readings else "")
    found = _replaced(replace(database, columns=kinds, texts=texts), expressions)
    numbers = [name for name, kind in kinds.items() if is_number(kind)]
    return Cleaned(_without(found, numbers, na), readings)


def _marks_among_numbers(database: Database, request: Request) -> bool:
    """Whether the target is text that has plain numbers, and marks that say that there is none.

    Beside words, a class may well be called "none" or "missing".
    """
    name = request.target
    if name is None or database.columns.get(name) != "VARCHAR" or name in request.text:
        return False
    wanted = Wanted(decimal=".")
    if database.first is not None and _look_at(database.first(name), wanted).kind == "text":
        return False
    found = _looks(database, [name], wanted, {}).get(name)
    return found is not None and bool(found.fitting) and found.marked and found.reading == PLAIN_READING


def _label_sql(database: Database, name: str) -> tuple[str, str]:
    """The labels of such a target, and their type: numbers only where the file has no types."""
    if not database.typed:
        return value_sql(name, Look("number", marked=True)), "DOUBLE"
    column = identifier(name)
    return f"CASE WHEN {_is_mark(column)} THEN NULL ELSE {column} END", "VARCHAR"


def readings_told(readings: dict[str, Reading]) -> list[str]:
    """How columns were read that are not plain numbers, in words."""
    return Encoding(tuple(Column(name, None, reading) for name, reading in readings.items())).told()


def numeric(na: Sequence[str]) -> list[float]:
    """Those of the codes that are numbers."""
    found = []
    for code in na:
        try:
            found.append(float(code))
        except ValueError:
            continue
    return [code for code in found if math.isfinite(code)]


def shape_sql(cell: str) -> str:
    """The shape of a cell, as `readings.shape` has it, in SQL."""
    text = f"trim({cell}, {literal(BLANKS)})"
    digits = f"regexp_replace(regexp_replace({text}, '[0-9]', '9', 'g'), '9{{4,}}', '9999', 'g')"
    return f"(CASE WHEN regexp_matches({text}, '^[^0-9]*0') THEN '0' ELSE '9' END || {digits})"


def value_sql(name: str, found: Look) -> str:
    """The number of a cell that fits, as `Reading.number` has it, in SQL."""
    column = identifier(name)
    text = plain_sql(column, found.reading)
    if found.marked:
        text = f"CASE WHEN {_is_mark(column)} THEN NULL ELSE {text} END"
    return f"({text})::DOUBLE"


def plain_sql(cell: str, reading: Reading) -> str:
    """The text of a cell as programs write numbers, in SQL."""
    text = f"replace({cell}, {literal(reading.unit)}, '')" if reading.unit else cell
    text = f"replace(translate({text}, {literal(BLANKS + reading.thousands)}, ''), '\u2212', '-')"
    return f"replace({text}, ',', '.')" if reading.decimal == "," else text


def _is_mark(cell: str) -> str:
    marks = ", ".join(map(literal, sorted(MARKS)))
    return f"lower(trim({cell}, {literal(BLANKS)})) IN ({marks})"


def _without(database: Database, names: Sequence[str], na: Sequence[str]) -> Database:
    """The table with missing values where columns of text, or of numbers, hold such codes."""
    expressions = {}
    for name in names:
        text = database.columns[name] == "VARCHAR"
        values = ", ".join(map(literal, na) if text else map(repr, numeric(na)))
        if values:
            column = identifier(name)
            cell = f"trim({column}, {literal(BLANKS)})" if text else column
            expressions[name] = f"CASE WHEN {cell} IN ({values}) THEN NULL ELSE {column} END"
    return _replaced(database, expressions)


def _replaced(database: Database, expressions: dict[str, str]) -> Database:
    if not expressions:
        return database
    listed = ", ".join(f"{sql} AS {identifier(name)}" for name, sql in expressions.items())
    relation = f"(SELECT * REPLACE ({listed}) FROM {database.relation})"
    changed = database.changed | {*expressions}
    return replace(database, relation=relation, opened=database.connection, cells=None, changed=changed)


def _looks(
    database: Database, names: Sequence[str], wanted: Wanted, known: dict[str, Column]
) -> dict[str, Look]:
    """What the columns of text hold: a few rows tell which may be numbers, all rows tell of those."""
    if not names:
        return {}
    columns: Iterable[Sequence[Any]]
    if database.cells is not None:
        columns = [database.cells[name][:SAMPLED] for name in names]
    else:
        listed = ", ".join(map(identifier, names))
        rows = database.rows(f"SELECT {listed} FROM {database.relation} LIMIT {SAMPLED}")
        columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    first = {name: _look_at(cells, wanted) for name, cells in zip(names, columns, strict=True)}
    # A column without a single cell in these rows is left as it is.
    likely = [
        name
        for name, each in first.items()
        if each.kind in ("odd", "ambiguous") or (each.kind == "number" and (each.fitting or each.marked))
    ]
    shapes = _shapes(database, likely)
    evidence = evidence_of(
        [look(shapes[name], wanted) for name in likely] + [Look("number", decimal=database.decimal)]
    )
    looks = {}
    for name in likely:
        reading = known[name].reading if name in known else PLAIN_READING
        before = None if reading == PLAIN_READING else reading.decimal
        found = look(shapes[name], wanted, before or evidence)
        # Points alone, where there were commas when the model was fitted: a fraction, or thousands for once?
        doubtful = before == "," and evidence is None and wanted == Wanted() and reading.thousands != "."
        if doubtful and found.reading.thousands == "." and look(shapes[name]).reading == PLAIN_READING:
            found = replace(found, kind="ambiguous")
        looks[name] = found
    return looks | {name: each for name, each in first.items() if each.kind == "date"}


def _look_at(cells: Iterable[str | None], wanted: Wanted) -> Look:
    return look(Counter(shape(cell) for cell in cells if cell is not None), wanted)


def _shapes(database: Database, names: Sequence[str]) -> dict[str, dict[str, int]]:
    """How many cells have which shape, in each column."""
    if database.cells is not None:
        return {name: dict(Counter(map(shape, database.cells[name]))) for name in names}
    found: dict[str, dict[str, int]] = {name: {} for name in names}
    if names:
        cells = ", ".join(map(identifier, names))
        listed = (
            f"SELECT unnest([{cells}]) AS cell, unnest(range({len(names)})) AS k FROM {database.relation}"
        )
        query = (
            f"SELECT k, {shape_sql('cell')} AS shape, count(*) AS times FROM ({listed}) "
            f"WHERE cell IS NOT NULL GROUP BY ALL ORDER BY times DESC LIMIT {MOST_SHAPES}"
        )
        for k, each, times in database.rows(query):
            found[names[k]][each] = times
    return found


def _refuse(database: Database, name: str, found: Look) -> None:
    """Raise where a column of numbers has a cell that is none, or one that is two."""
    if found.kind not in ("odd", "ambiguous"):
        return
    cell = identifier(name)
    numbered = f"(SELECT row_number() OVER () AS row, {cell} AS cell FROM {database.relation})"
    if found.kind == "ambiguous":
        sign = "." if found.reading.thousands == "." else ","
        condition = f"contains(cell, {literal(sign)})"
    else:
        fitting = ", ".join(map(literal, found.fitting)) or "''"
        condition = f"{shape_sql('cell')} NOT IN ({fitting}) AND NOT {_is_mark('cell')}"
    query = f"SELECT row, cell FROM {numbered} WHERE cell IS NOT NULL AND {condition} ORDER BY row LIMIT 1"
    row, value = database.rows(query)[0]
    (place,) = placed([row], database.lines)
    if found.kind == "ambiguous":
        raise ReadingError(
            f"Column {name!r} of {database.name!r} has {value!r} in {place.words}: that is a number with a "
            f"decimal {SIGNS[sign]}, or one with a {SIGNS[sign]} between thousands, and nothing tells which.",
            remedy="Say it with 'decimal' or 'thousands'.",
            parameter="decimal",
        )
    words = f" ({found.reading.words})" if found.reading.words else ""
    raise ReadingError(
        f"Column {name!r} of {database.name!r} holds numbers{words}, but {place.words} has {value!r}.",
        remedy="Correct the cell, name it as missing with 'na', or read the column as text with 'text'.",
        parameter="na",
    )


def _need_same_unit(database: Database, name: str, found: Reading, known: Reading) -> None:
    if found.unit != known.unit:
        here, there = (f"in {unit}" if unit else "without a unit" for unit in (found.unit, known.unit))
        raise InputError(
            f"Column {name!r} was {there} in the table that was read first; in {database.name!r} it is "
            f"{here}.",
            remedy="Convert it in a query with 'sql'.",
            parameter="sql",
        )
