"""Before columns are chosen: codes become missing values, text that holds numbers becomes numbers.

The answer is a table that DuckDB computes from the one in the file, so conditions see what was read.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from ..errors import InputError
from .encoding import Column, Encoding
from .number_formats import (
    ANYTHING,
    BLANKS,
    CODE,
    CODE_PATTERN,
    MARKS,
    PLAIN_CELL,
    PLAIN_PATTERN,
    PLAIN_READING,
    POINTED_PATTERN,
    SIGNS,
    SURE_PATTERN,
    WHOLE_PATTERN,
    Look,
    Reading,
    Wanted,
    evidence_of,
    is_fraction,
    look,
    shape,
)
from .row_places import placed
from .source.detect import Request
from .sql.database import LARGEST_WHOLE, Database, identifier, is_number, literal

SAMPLED = 1000  # rows that tell how columns of text are looked at; all rows tell what they hold
MOST_SHAPES = 100_000
REMEDY = "Correct the cell, name it as missing with 'na', or read the column as text with 'text'."
WRITTEN_DATE = "DATE AS TEXT"  # a type that DuckDB does not have
_ISO = re.compile(r"[09]9999-9{1,2}-9{1,2}([T ]9{1,2}:99.*)?")


class ReadingError(InputError):
    """A column of numbers has a cell that fits no one reading, or more than one."""


def first_other(database: Database, name: str) -> tuple[int, str]:
    """The first row, counted from 1, in which a column has a cell that is no plain number, and the cell."""
    numbered = f"(SELECT row_number() OVER () AS row, {identifier(name)} AS cell FROM {database.texts})"
    other = f"NOT regexp_full_match(cell, {literal(PLAIN_PATTERN)})"
    query = f"SELECT row, cell FROM {numbered} WHERE cell IS NOT NULL AND {other} ORDER BY row LIMIT 1"
    row, cell = next(iter(database.rows(query)), (1, ""))
    return int(row), str(cell)


@dataclass(frozen=True, eq=False)
class Cleaned:
    """A table whose numbers are numbers, how those columns were read that held text, and which are empty."""

    database: Database
    readings: dict[str, Reading]
    notes: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()


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
    wanted = dict.fromkeys(asked, Wanted(request.decimal, request.thousands))
    target = _label_of_text(database, request)
    looks = _looks(database, wanted | dict.fromkeys(target, Wanted(decimal=".")), known)
    labels = {name: looks.pop(name) for name in target}
    readings = {name: each.reading for name, each in looks.items() if each.kind == "number"}
    for name, each in looks.items():
        if name in used:
            _refuse(database, name, each)
    for name in used:
        if name in known and known[name].levels is None:
            _need_same_unit(database, name, readings.get(name, PLAIN_READING), known[name].reading)
    empty = tuple(name for name, each in looks.items() if each.kind == "empty")
    expressions = {name: value_sql(name, looks[name]) for name in readings}
    kinds = {**database.columns, **dict.fromkeys([*readings, *empty], "DOUBLE")}
    expressions |= dict.fromkeys(empty, "NULL::DOUBLE")
    for name, each in looks.items():
        if each.kind == "date" and all(map(_ISO.fullmatch, each.fitting)):
            expressions[name], kinds[name] = f"{identifier(name)}::TIMESTAMP", "TIMESTAMP"
        elif each.kind == "date":
            kinds[name] = WRITTEN_DATE
    coded = [name for name, each in looks.items() if name in used and each.kind == "number" and each.coded]
    for name, each in labels.items():
        if each.kind == "number" and each.reading == PLAIN_READING and each.fitting:
            expressions[name], kinds[name] = _label(database, name, each)
            coded += [name] * (each.coded and not database.typed)
    texts = database.texts or (database.relation if readings else "")
    found = _replaced(replace(database, columns=kinds, texts=texts), expressions)
    numbers = [name for name, kind in kinds.items() if is_number(kind)]
    notes = tuple(code_note(name, _first_code(database, name)) for name in coded)
    return Cleaned(_without(found, numbers, na), readings, notes, empty)


def code_note(name: str, code: str) -> str:
    """What is said of a column of numbers that may be codes."""
    return (
        f"{name}: some numbers begin with a zero ({code}), as codes do; they are read as numbers. If they "
        f"are names, read the column as text: --text {name}."
    )


def _first_code(database: Database, name: str) -> str:
    if database.cells is not None:
        return next(filter(CODE.fullmatch, database.cells[name]))
    cell = identifier(name)
    condition = f"starts_with({cell}, '0') AND regexp_full_match({cell}, {literal(CODE_PATTERN)})"
    found = database.rows(f"SELECT {cell} FROM {database.relation} WHERE {condition} LIMIT 1")
    return str(found[0][0])


def _label_of_text(database: Database, request: Request) -> list[str]:
    """The target, if it is text that may hold numbers, or marks that say that there is none."""
    name = request.target
    if name is None or database.columns.get(name) != "VARCHAR" or name in request.text:
        return []
    if database.typed and database.first is not None:
        (first,) = database.first([name], SAMPLED)
        return [] if _look_at(first, Wanted(decimal=".")).kind == "text" else [name]
    return [name]


def _label(database: Database, name: str, found: Look) -> tuple[str, str]:
    """Labels that are plain numbers, or marks, and their type: numbers only where the file has no types.

    Beside words, a class may well be called "none" or "missing".
    """
    if not database.typed:
        kind = _whole_kind(database, name)
        return value_sql(name, found, kind), kind
    column = identifier(name)
    return f"CASE WHEN {_is_mark(column)} THEN NULL ELSE {column} END" if found.marked else column, "VARCHAR"


def _whole_kind(database: Database, name: str) -> str:
    """The type of labels that are numbers: whole, where all are and floats would make two labels one."""
    cell = f"trim({identifier(name)}, {literal(BLANKS)})"
    number, whole = f"TRY_CAST({cell} AS DOUBLE)", f"regexp_full_match({cell}, '[+-]?[0-9]+')"
    rounded = f"TRY_CAST({cell} AS HUGEINT) IS DISTINCT FROM TRY_CAST({number} AS HUGEINT)"
    query = (
        f"SELECT max(abs({number})), bool_and({whole} OR {number} IS NULL), "
        f"bool_or({whole} AND abs({number}) > {LARGEST_WHOLE} AND {rounded}) FROM {database.relation}"
    )
    largest, all_whole, some_rounded = database.rows(query)[0]
    if not (some_rounded and all_whole) or largest >= 2.0**126:
        return "DOUBLE"
    return "BIGINT" if largest < 2.0**62 else "HUGEINT"


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


def value_sql(name: str, found: Look, kind: str = "DOUBLE") -> str:
    """The number of a cell that fits, as `Reading.number` has it, in SQL."""
    column = identifier(name)
    if found.plain:
        return f"{column}::{kind}"
    text = plain_sql(column, found.reading)
    if found.marked:
        text = f"CASE WHEN {_is_mark(column)} THEN NULL ELSE {text} END"
    return f"({text})::{kind}"


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
    return replace(
        database,
        relation=relation,
        opened=database.connection,
        cells=None,
        changed=database.changed | {*expressions},
        counted={name: each for name, each in database.counted.items() if name not in expressions},
    )


def _looks(database: Database, wanted: dict[str, Wanted], known: dict[str, Column]) -> dict[str, Look]:
    """What columns of text hold, as all rows tell; with what the caller knows of the writing of each."""
    readings = {name: known[name].reading for name in wanted if name in known}
    looks, shapes = _seen(database, wanted, {n for n, each in readings.items() if each != PLAIN_READING})
    evidence = None
    if any(look(each, wanted[n], ".") != look(each, wanted[n], ",") for n, each in shapes.items()):
        others = [n for n, kind in database.columns.items() if kind == "VARCHAR" and n not in wanted]
        beside, more = _seen(database, dict.fromkeys(others, ANYTHING), ())
        alone = [look(each, wanted.get(name, ANYTHING)) for name, each in (shapes | more).items()]
        plain = [name for name, each in (looks | beside).items() if each.plain]
        said = Look("number", decimal="." if _has_fractions(database, plain) else database.decimal)
        evidence = evidence_of([*alone, said])
    for name, each in shapes.items():
        reading = readings.get(name, PLAIN_READING)
        before = None if reading == PLAIN_READING else reading.decimal
        found = look(each, wanted[name], before or evidence)
        # Points alone, where there were commas when the model was fitted: a fraction, or thousands for once?
        doubtful = (
            before == "," and evidence is None and wanted[name] == ANYTHING and reading.thousands != "."
        )
        if doubtful and found.reading.thousands == "." and look(each).reading == PLAIN_READING:
            found = replace(found, kind="ambiguous")
        looks[name] = found
    return {name: looks[name] for name in wanted}


def _seen(
    database: Database, wanted: dict[str, Wanted], otherwise: Collection[str]
) -> tuple[dict[str, Look], dict[str, dict[str, int]]]:
    """What is plain to see of columns of text, and the shapes of the cells of the others.

    A few rows tell which columns may be plain numbers; not those that were written ``otherwise`` before.
    """
    names = list(wanted)
    first = dict(zip(names, _first_cells(database, names), strict=True))
    likely = [n for n in names if n not in otherwise and all(map(PLAIN_CELL.fullmatch, first[n]))]
    looks = _plain_looks(database, {name: _pattern(first[name], wanted[name]) for name in likely})
    shapes = {}
    for name in names:
        if name not in looks:
            found = _shapes(database, name, is_text=_look_at(first[name], wanted[name]).kind == "text")
            if found is None:
                looks[name] = Look("text")
            else:
                shapes[name] = found
    return looks, shapes


def _first_cells(database: Database, names: Sequence[str]) -> list[set[str]]:
    """The different cells in the first rows of columns of text."""
    if database.cells is not None:
        return [{*database.cells[name][:SAMPLED]} for name in names]
    return [{*column} - {None} for column in database.head(names, SAMPLED)]


def _pattern(cells: set[str], wanted: Wanted) -> str:
    """What every cell of a column must match to be a plain number beyond doubt, as its first cells tell."""
    if wanted.thousands is not None or wanted.decimal == ",":
        return WHOLE_PATTERN  # any point is in doubt
    return POINTED_PATTERN if wanted.decimal == "." or any(map(is_fraction, cells)) else SURE_PATTERN


def _plain_looks(database: Database, patterns: dict[str, str]) -> dict[str, Look]:
    """Those of the columns whose cells all match these patterns, or that have none."""
    if not patterns:
        return {}
    if database.cells is not None:
        cells = {name: {*database.cells[name]} for name in patterns}
        answers = [
            all(re.fullmatch(patterns[name], cell) for cell in found) if found else None
            for name, found in cells.items()
        ]
    else:
        asked = (
            f"bool_and(regexp_full_match({identifier(name)}, {literal(pattern)}))"
            for name, pattern in patterns.items()
        )
        answers = list(database.rows(f"SELECT {', '.join(asked)} FROM {database.relation}")[0])
    looks = {}
    for name, answer in zip(patterns, answers, strict=True):
        if answer is None:
            looks[name] = Look("empty")
        elif answer:
            looks[name] = Look("number", fitting=("99",), plain=True)
    return looks


def _has_fractions(database: Database, names: Sequence[str]) -> bool:
    """Whether columns of plain numbers have a point that is surely decimal."""
    if not names:
        return False
    if database.cells is not None:
        return any(is_fraction(cell) for name in names for cell in database.cells[name])
    sure = literal(SURE_PATTERN)
    cells = [identifier(name) for name in names]
    asked = (f"bool_or(contains({cell}, '.') AND regexp_full_match({cell}, {sure}))" for cell in cells)
    return any(database.rows(f"SELECT {', '.join(asked)} FROM {database.relation}")[0])


def _look_at(cells: Iterable[str | None], wanted: Wanted) -> Look:
    return look(Counter(shape(cell) for cell in cells if cell is not None), wanted)


def _shapes(database: Database, name: str, *, is_text: bool) -> dict[str, int] | None:
    """How many cells of a column have which shape; None of text with many levels, as the first rows tell."""
    if database.cells is not None:
        return dict(Counter(map(shape, database.cells[name])))
    levels = database.levels(name)
    if levels.number == len(levels.rows):
        found: Counter[str] = Counter()
        for cell, times in levels.rows.items():
            found[shape(cell)] += times
        return dict(found)
    if is_text:
        return None
    cells = f"SELECT {identifier(name)} AS cell, count(*) AS times FROM {database.relation} GROUP BY 1"
    query = (
        f"SELECT {shape_sql('cell')} AS shape, sum(times)::BIGINT AS times FROM ({cells}) "
        f"WHERE cell IS NOT NULL GROUP BY 1 ORDER BY times DESC LIMIT {MOST_SHAPES}"
    )
    return dict(database.rows(query))


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
        remedy=REMEDY,
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
