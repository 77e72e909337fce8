"""Decide what the columns of a table mean, from all of their rows, by the same rules for every format.

A column is a number (text may hold numbers, all written in one way), a category, or neither. Columns that
count or name the rows, or have no values, are left out. `named_reader` turns the columns into rows.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..errors import InputError
from .arrow import arrow_text, pc
from .encoding import MAX_LEVELS, Column, Encoding, choose_columns, clip, shown, unknown
from .label_spelling import alike, listed
from .named_columns import Columns, Summary
from .number_formats import BLANKS, MARKS, PLAIN_READING, SIGNS, Look, look, marks_of, shapes_of
from .reader import rows_only
from .request import Request

FEW_ROWS = 10  # in fewer rows, a column may happen to count them, or to have few equal texts
_ISO = re.compile(r"[09]9999-99-99([T ]99:99(:99([.]9+)?)?)?")
# Ways to write dates and times, in the terms of Python and DuckDB. Where two fit, the day comes first.
_DAYS = [
    order.replace("-", sign)
    for order in ("%d-%m-%Y", "%m-%d-%Y", "%d-%m-%y", "%m-%d-%y", "%Y-%m-%d")
    for sign in "./-"
]
_TIMES = ["%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p"]
_WAYS = [*_DAYS, *_TIMES, *(f"{day}{sign}{time}" for day in _DAYS for sign in " T" for time in _TIMES)]
_ID = re.compile(r"(.*[^A-Za-z])?(id|Id|ID)|.*[a-z]I[dD]")  # names of columns that identify rows


@dataclass(frozen=True)
class Meaning:
    """How the columns of a table are read.

    Attributes
    ----------
    encoding : Encoding
        How columns become features.
    looks : dict of str to Look
        The text columns that are read as numbers, or as dates.
    label : {"as it is", "number", "whole", "text"}
        How the target is read: text may hold numbers, or integers that floats would merge ("whole"). Integers
        that int64 cannot hold stay text.
    marked : bool
        Whether marks such as ``.`` among the labels mean that a label is missing.
    notes : tuple of str
        What a person should know about the columns, one sentence each.
    """

    encoding: Encoding
    looks: dict[str, Look] = field(default_factory=dict)
    label: str = "as it is"
    marked: bool = False
    notes: tuple[str, ...] = ()

    @property
    def plain(self) -> bool:
        """Whether all features and labels are numbers as programs write them."""
        numbers = all(each == Column(each.name) for each in self.encoding.columns)
        return numbers and self.label in ("number", "as it is") and not self.marked


def decide(columns: Columns, request: Request, kept: Columns | None = None) -> Meaning:
    """Choose the columns of a table, and decide what they mean, or check that they mean what a model knows.

    The categories get their levels from `with_levels`.

    Parameters
    ----------
    columns : Columns
    request : Request
    kept : Columns, optional
        The same columns, with the rows that the condition leaves; by default, all rows.

    Raises
    ------
    InputError
        If the meaning of a column is not clear.
    """
    known, kinds, kept = request.encoding, columns.kinds, kept or columns
    names = choose_columns(
        tuple(kinds),
        target=request.target,
        features=request.features if known is None else tuple(column.name for column in known.columns),
        exclude=request.exclude if known is None else (),
        row_names=request.row_names,
    )
    for name in request.text:
        if name not in kinds:
            raise unknown(name, tuple(kinds))
    text = {*columns.text, *request.text}
    labels = [] if request.target is None else [request.target]
    # The target is read as text even if its cells are known to be numbers, because floats may merge some.
    as_text = text | ({*labels} & columns.untyped)
    summaries = columns.summaries([*names, *labels], as_text)
    looks = _looks(columns, request, names, text)
    if kept is not columns:  # cells that are not numbers, such as those of a totals row, may be left out
        odd = [n for n in names if summaries[n].kind == "text" and (n not in looks or looks[n].kind == "odd")]
        summaries |= kept.summaries([*odd, *labels], as_text)
        looks = {n: each for n, each in looks.items() if n not in odd} | _looks(kept, request, odd, text)
    notes = list(columns.notes)
    free = known is None and request.features is None
    if free:
        unnamed = "the first column has no name, like the row names of R and pandas"
        names = _leave_out(names, dict.fromkeys(columns.unnamed, unnamed), notes)
        longer = {name: each for name, each in summaries.items() if each.rows >= FEW_ROWS}
        counters = [name for name, each in longer.items() if each.counts_up and name not in text]
        counts = "it counts up by one, as row numbers do. --features keeps it"
        names = _leave_out(names, dict.fromkeys(counters, counts), notes)
    for name in names:
        if name in looks and looks[name].kind in ("odd", "ambiguous"):
            raise _odd_cell(kept if looks[name].kind == "odd" else columns, name, looks[name])
    numbers = {name: each for name, each in looks.items() if each.kind in ("number", "empty")}
    if free:
        empty = [name for name in names if not summaries[name].values]
        names = _leave_out(names, dict.fromkeys(empty, "it has no values"), notes)
    notes += readings_told({name: numbers[name] for name in names if name in numbers})
    notes += [_code_note(name) for name in names if name in numbers and numbers[name].coded]
    if free:
        notes += [
            f"{n}: its whole numbers are all different. If they identify rows, leave it out with --exclude."
            for n in names
            if n in numbers and _ID.fullmatch(n) and _all_different(summaries[n])
        ]
    label, marked = "as it is", False
    if labels:
        label, marked = _label(columns, labels[0], summaries[labels[0]], text, notes)
    words = [n for n in names if n not in numbers and (kinds[n] != "number" or n in text)]
    if known is not None:
        _need_alike(columns, known, looks, words)
        return Meaning(known, looks, label, marked, tuple(notes))
    for name in words:
        kind = looks[name].kind if name in looks else kinds[name]
        if kind not in ("text", "boolean") and name not in text:
            raise _foreign(kept, name, kind)
    asked = {*request.text} if request.features is None else {*names}
    counted = kept.summaries([name for name in words if name not in asked], text)
    reasons = {name: why for name, each in counted.items() if (why := _names_rows(each))}
    if len(reasons) == len(names):
        left_out = " ".join(f"{name} is left out: {why}." for name, why in reasons.items())
        raise InputError(
            f"No feature column is left: each looks like an identifier. {left_out}",
            remedy="Name columns other than the target with 'features'.",
            parameter="features",
        )
    names = _leave_out(names, reasons, notes)
    encoded = tuple(
        Column(n, () if n in words else None, numbers[n].reading if n in numbers else PLAIN_READING)
        for n in names
    )
    encoding = Encoding(encoded, request.intercept, na=request.na)
    return Meaning(encoding, looks, label, marked, tuple(notes))


def with_levels(meaning: Meaning, columns: Columns, request: Request) -> Meaning:
    """Give each category the levels that it has in the rows, or check that a model knows them."""
    words = [column for column in meaning.encoding.columns if column.levels is not None]
    found = columns.summaries([column.name for column in words], [column.name for column in words])
    notes, levels = [*meaning.notes], dict[str, tuple[str, ...]]()
    for column in words:
        if request.encoding is None:
            levels[column.name] = _levels(column.name, found[column.name], request.intercept, notes)
        elif others := sorted({*found[column.name].levels} - {*(column.levels or ())}):
            raise InputError(
                f"Column {column.name!r} of {columns.name!r} has values that the model was not fitted with: "
                f"{shown(others[:13])}. Known are: {shown(column.levels or ())}."
            )
    encoded = tuple(
        replace(each, levels=levels.get(each.name, each.levels)) for each in meaning.encoding.columns
    )
    return replace(meaning, encoding=replace(meaning.encoding, columns=encoded), notes=tuple(notes))


def _leave_out(names: tuple[str, ...], reasons: Mapping[str, str], notes: list[str]) -> tuple[str, ...]:
    """Leave out the columns for which there is a reason, but never the last one, with a note for each."""
    left_out = [name for name in names if reasons.get(name)]
    left_out = left_out[: len(names) - 1]
    notes += [f"{name} is left out: {reasons[name]}." for name in left_out]
    return tuple(name for name in names if name not in left_out)


def _all_different(summary: Summary) -> bool:
    """Return whether a column of text has a whole number in each row, and each only once."""
    whole = all(re.fullmatch("[09]9*", each) for each in summary.shapes)
    return whole and len(summary.levels) == summary.rows >= FEW_ROWS


def _names_rows(summary: Summary, nearly_all: float = 0.9) -> str:
    """Say why the cells of a text column name the rows; "" if they do not."""
    rows, different = summary.rows, len(summary.levels)
    if different > MAX_LEVELS:
        return f"it has more than {MAX_LEVELS:,} different texts, which name the rows"
    if different == rows >= 3 or (rows >= FEW_ROWS and different > nearly_all * rows):
        return f"{different:,} different texts in {rows:,} rows name the rows. --features keeps it"
    return ""


def _looks(
    columns: Columns,
    request: Request,
    names: Sequence[str],
    text: set[str],
) -> dict[str, Look]:
    """Decide how to read text columns, from their cells, the caller, a model and the other columns."""
    summaries = columns.summaries(names, text)
    known = {} if request.encoding is None else {c.name: c for c in request.encoding.columns}
    text = {*text, *(n for n, c in known.items() if c.levels is not None)}
    asked = [n for n in names if summaries[n].kind == "text" and n not in text and n != request.target]
    said = {"decimal": request.decimal, "thousands": request.thousands}
    evidence = None
    if any(look(summaries[n].shapes, ".", **said) != look(summaries[n].shapes, ",", **said) for n in asked):
        others = [n for n, kind in columns.kinds.items() if kind == "text" and n not in asked]
        beside = columns.summaries(others)
        found_here = [look(summaries[n].shapes, **said) for n in asked]
        signs = {each.decimal for each in [*found_here, *(look(each.shapes) for each in beside.values())]}
        signs.discard(None)
        evidence = signs.pop() if len(signs) == 1 else None
    looks = {}
    for name in asked:
        summary = summaries[name]
        if not summary.values:
            looks[name] = Look("empty")
            continue
        reading = known[name].reading if name in known else PLAIN_READING
        before = None if reading == PLAIN_READING else reading.decimal
        found = Look("text") if summary.overflown else look(summary.shapes, before or evidence, **said)
        # The model was fitted on decimal commas, and here are points only: do they separate thousands?
        doubtful = before == "," and evidence is None and not any(said.values()) and reading.thousands != "."
        if doubtful and found.reading.thousands == "." and look(summary.shapes).reading == PLAIN_READING:
            found = replace(found, kind="ambiguous")
        if found.kind == "date" and not all(map(_ISO.fullmatch, found.fitting)):
            found = replace(found, kind="written date")
        if found.kind != "text":
            looks[name] = found
    return looks


def find_looks(columns: Columns, request: Request) -> dict[str, Look]:
    """Decide how a query sees the text columns of a table; a column without one clear reading stays text."""
    names = list(columns.kinds)
    asked = replace(request, target=None, encoding=None)
    looks = _looks(columns, asked, names, {*columns.text, *request.text})
    return {name: each for name, each in looks.items() if each.kind in ("number", "empty", "date")}


def readings_told(looks: Mapping[str, Look]) -> list[str]:
    """Describe how text was read as numbers, if it is not plain numbers."""
    numbers = {name: each for name, each in looks.items() if each.kind == "number"}
    return Encoding(tuple(Column(name, None, each.reading) for name, each in numbers.items())).told()


def _code_note(name: str) -> str:
    return (
        f"{name}: some numbers begin with a zero, as codes do; they are read as numbers. If they are names, "
        f"read the column as text: --text {name}."
    )


def _label(
    columns: Columns, name: str, summary: Summary, text: set[str], notes: list[str]
) -> tuple[str, bool]:
    """Decide how to read the target; see `Meaning.label` and `Meaning.marked`.

    Text is read as plain numbers only if the file states no types. Among numbers, a mark means that the label
    is missing; among words, a class may be called "none" or "missing".
    """
    if summary.kind not in ("number", "text", "boolean"):
        raise _foreign(columns, name, summary.kind)
    if summary.kind != "text":
        return "as it is", False
    found = look(summary.shapes, decimal=".")
    if name in text or found.kind != "number" or found.reading != PLAIN_READING or not found.fitting:
        return "text", False
    if name not in columns.untyped:
        return "text", found.marked
    notes += [_code_note(name)] if found.coded else []
    if summary.longest > 15 and all(re.fullmatch("[09][+-]?9+", each) for each in found.fitting):
        return "whole" if summary.longest < 19 else "text", found.marked
    return "number", found.marked


def _odd_cell(columns: Columns, name: str, found: Look) -> InputError:
    """Return an error with the first cell that is not a number, or that could be read in two ways."""
    sign = "." if found.reading.thousands == "." else ","
    row, value = 0, ""
    for batch in columns.batches([name]):
        cells = batch.column(0)
        if found.kind == "ambiguous":
            odd = pc.match_substring(cells, sign)
        else:
            fits = pc.is_in(shapes_of(cells.fill_null("")), value_set=arrow_text(found.fitting))
            odd = pc.invert(pc.or_(fits, marks_of(cells)))
        at = pc.index(pc.and_(odd, cells.is_valid()), True).as_py()
        if at >= 0:
            row, value = row + at, cells[at].as_py()
            break
        row += batch.num_rows
    number = 1 + (row if columns.rows is None else int(columns.rows[row]))
    (place,) = (columns.lines or rows_only)([number])
    if found.kind == "ambiguous":
        return InputError(
            f"Column {name!r} of {columns.name!r} has {value!r} in {place.words}: the {SIGNS[sign]} may be a "
            "decimal sign or separate thousands, and no other cell decides.",
            remedy="Specify 'decimal' or 'thousands'.",
            parameter="decimal",
        )
    words = f" ({found.reading.words})" if found.reading.words else ""
    return InputError(
        f"Column {name!r} of {columns.name!r} holds numbers{words}, but {place.words} has {clip(value)!r}.",
        remedy="Correct the cell, name it as missing with 'na', or read the column as text with 'text'.",
        parameter="na",
    )


def _need_alike(columns: Columns, known: Encoding, looks: Mapping[str, Look], words: Sequence[str]) -> None:
    """Refuse text, or another unit, in a column that held numbers in the table that a model was fitted on."""
    for name, reading in [(each.name, each.reading) for each in known.columns if each.levels is None]:
        there, here = f"numbers in {reading.unit}" if reading.unit else "numbers", ""
        if name in words:
            here = in_words(columns.kinds[name])
        elif name in looks and looks[name].kind == "number" and looks[name].reading.unit != reading.unit:
            unit = looks[name].reading.unit
            here = f"in {unit}" if unit else "without a unit"
        if here:
            raise InputError(
                f"Column {name!r} held {there} in the table that was read first; in {columns.name!r} it is "
                f"{here}.",
                remedy="Convert it in a query with 'sql'.",
                parameter="sql",
            )


def _levels(name: str, summary: Summary, intercept: bool, notes: list[str]) -> tuple[str, ...]:
    """Return the sorted levels of a category, and add notes about them."""
    if len(summary.levels) > MAX_LEVELS:
        raise InputError(
            f"Column {name!r} is text with more than {MAX_LEVELS:,} different values; it looks like an "
            "identifier or free text.",
            remedy="Leave it out with 'exclude', or make it numbers first.",
            parameter="exclude",
        )
    levels = sorted(summary.levels)
    once = [repr(level) for level in levels if summary.levels[level] == 1]
    if once:
        notes.append(f"{name}: a value that occurs in only one row separates that row: {shown(once, 4)}.")
    notes += [f"{name}: {listed(each)} seem to mean the same, and are kept apart." for each in alike(levels)]
    if len(levels) == 1 and intercept:
        notes.append(f"{name}: each value is {levels[0]!r}, so the column does not distinguish rows.")
    return tuple(levels)


def _foreign(columns: Columns, name: str, kind: str) -> InputError:
    """Return the error for a column that is neither a number nor text, with a query that makes it one."""
    query = _query_for_dates(columns, name, kind)
    how = "Pass the query as 'sql'" if query else "Compute a number from it in a query with 'sql'"
    return InputError(
        f"Column {name!r} is {in_words(kind)}, which is not a number.{query}",
        remedy=f"{how}, or leave the column out with 'exclude'.",
        parameter="sql",
    )


def _query_for_dates(columns: Columns, name: str, kind: str) -> str:
    """Say which query reads dates as numbers; "" if no query does because each is written in another way."""
    if columns.queried or kind not in ("date", "written date"):
        return ""
    column, more = '"' + name.replace('"', '""') + '"', ""
    date = column if columns.kinds[name] == "date" else f"{column}::TIMESTAMP"
    if kind == "written date":
        cells = {cell.strip(BLANKS) for cell in columns.summaries([name])[name].levels}
        dates = {cell for cell in cells if cell.casefold() not in MARKS}
        ways = [way for way in _WAYS if all(_is_written(cell, way) for cell in dates)]
        if not ways:
            return ""
        date = f"{'' if dates == cells else 'try_'}strptime({column}, '{ways[0]}')"
        more = f" If the month comes first, write '{ways[1]}'." if len(ways) > 1 else ""
    return f" This query reads it in seconds: SELECT * REPLACE (epoch({date}) AS {column}) FROM data.{more}"


def _is_written(cell: str, way: str) -> bool:
    """Return whether a date is written in one way."""
    try:
        return bool(dt.datetime.strptime(cell, way))
    except ValueError:
        return False


def in_words(kind: str) -> str:
    """Describe what a column holds."""
    words = {"text": "text", "boolean": "true or false", "date": "a date or time"}
    return words.get(kind.removeprefix("written "), f"of type {kind}")
