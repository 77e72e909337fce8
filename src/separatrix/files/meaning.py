"""What the columns of a table mean, decided from all of their rows, by one set of rules for every format.

A column is a number (text may hold numbers, written in one way), a category, or neither; some only number
or name the rows, or have no values, and are left out. `features` turns them into rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import InputError
from .columns import CellColumns, Columns, Summary
from .encoding import MAX_LEVELS, Column, Encoding, choose_columns, shown, unknown
from .number_formats import ANYTHING, PLAIN_READING, Look, Wanted, evidence_of, look
from .source.detect import Request

FEWEST = 10  # rows from which on a column that counts them, or names nearly all of them, is no accident
NEARLY = 0.9  # a text column with more levels than this share of the rows names them
_ISO = re.compile(r"[09]9999-99-99([T ]99:99(:99([.]9+)?)?)?")


@dataclass(frozen=True)
class Meaning:
    """How the columns of a table are read.

    Attributes
    ----------
    encoding : Encoding
        How columns become features.
    looks : dict of str to Look
        Those columns of text that are read as numbers, or as dates.
    label : {"as it is", "number", "whole", "digits", "text"}
        How the target is read: text may hold numbers, whole numbers of which floats would merge some, or
        whole numbers with too many digits for int64, which stay text.
    marked : bool
        Whether marks such as ``.`` among the labels mean that a label is missing.
    notes : tuple of str
        What a person should know about it: a sentence each.
    """

    encoding: Encoding
    looks: dict[str, Look] = field(default_factory=dict)
    label: str = "as it is"
    marked: bool = False
    notes: tuple[str, ...] = ()

    @property
    def plain(self) -> bool:
        """Whether all cells are numbers as programs write them, features and labels."""
        numbers = all(each == Column(each.name) for each in self.encoding.columns)
        return numbers and self.label in ("number", "as it is") and not self.marked


class OddCellError(InputError):
    """A column of numbers has a cell that fits no one reading, or more than one; ``find`` tells which."""

    def __init__(self, name: str, look_: Look) -> None:
        super().__init__(f"Column {name!r} has a cell that is not a number.")
        self.name, self.look = name, look_


# Takes what is known so far, and gives the summaries of columns over the rows that are chosen.
Recount = Callable[[Meaning, Sequence[str], str], dict[str, Summary]]


def decide(columns: Columns | CellColumns, request: Request, recount: Recount | None = None) -> Meaning:
    """Choose the columns of a table, and say what they mean, as all rows tell, or as a model knows.

    Parameters
    ----------
    columns : Columns or CellColumns
    request : Request
    recount : callable, optional
        Where rows may be left out: the levels of a category are those of the rows that are chosen.

    Raises
    ------
    InputError
        Where a column has no one meaning.
    """
    known, kinds = request.encoding, columns.kinds
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
    beside = [] if request.where is None and request.sql is None else list(kinds)
    labels = [] if request.target is None else [request.target]
    # The target is looked at as text also where its cells are known to be numbers: some may be rounded.
    written = {*labels} & columns.untyped
    summaries = columns.summaries([*names, *labels, *beside], text | written)
    free, notes = known is None and request.features is None, list(columns.notes)
    if free:
        names, found = _without_counters(names, columns.unnamed, summaries, text)
        notes += found
    looks = _looks(columns, request, [n for n in summaries if n in names or n in beside], summaries, text)
    for name in names:
        if name in looks and looks[name].kind in ("odd", "ambiguous"):
            raise OddCellError(name, looks[name])
        if known is not None:
            _need_same_unit(columns.name, name, looks.get(name), known)
    if free:
        empty = [name for name in names if not _has_values(summaries[name], looks.get(name))]
        notes += [f"{name} is left out: it has no values." for name in names if name in empty]
        names = tuple(name for name in names if name not in empty) or names
    numbers = {name: each for name, each in looks.items() if each.kind in ("number", "empty")}
    notes += readings_told({name: numbers[name] for name in names if name in numbers})
    notes += [code_note(n, summaries[n].code) for n in names if n in numbers and numbers[n].coded]
    meaning = Meaning(known or Encoding(intercept=request.intercept, na=request.na), looks)
    if labels:
        meaning, found = _with_label(columns, request, summaries[labels[0]], meaning, text)
        notes += found
    is_number = {name: name in numbers or (kinds[name] == "number" and name not in text) for name in names}
    if known is not None:
        counted = _chosen(recount, meaning, [c.name for c in known.columns if c.levels], request, summaries)
        for column in known.columns:
            _need_same_column(columns, column, is_number[column.name], counted.get(column.name))
        return replace(meaning, notes=tuple(notes))
    names, found = _without_names(columns, request, names, is_number, summaries, meaning, recount, text)
    notes += found
    meaning = replace(meaning, encoding=_encoding(meaning.encoding, [(n, numbers.get(n)) for n in names]))
    words = [name for name in names if not is_number[name]]
    counted = _chosen(recount, meaning, words, request, summaries)
    encoded = []
    for column in meaning.encoding.columns:
        if is_number[column.name]:
            encoded.append(column)
            continue
        levels, found = _levels(column.name, counted[column.name], intercept=request.intercept)
        notes += found
        encoded.append(Column(column.name, levels))
    return replace(meaning, encoding=replace(meaning.encoding, columns=tuple(encoded)), notes=tuple(notes))


def _encoding(encoding: Encoding, columns: Sequence[tuple[str, Look | None]]) -> Encoding:
    read = tuple(
        Column(name, None, PLAIN_READING if each is None else each.reading) for name, each in columns
    )
    return replace(encoding, columns=read)


def _chosen(
    recount: Recount | None,
    meaning: Meaning,
    names: Sequence[str],
    request: Request,
    summaries: dict[str, Summary],
) -> dict[str, Summary]:
    """The summaries of categories over the rows that are used."""
    return summaries if recount is None or not names else recount(meaning, names, request.missing)


def _without_counters(
    names: tuple[str, ...], unnamed: Sequence[str], summaries: dict[str, Summary], text: set[str]
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
    for name in [each for each in kept if summaries[each].counts_up and summaries[each].rows >= FEWEST]:
        if len(kept) > 1 and name not in text:
            kept.remove(name)
            notes.append(f"{name} is left out: it counts up by one, as row numbers do. --features keeps it.")
    return tuple(kept), notes


def _looks(
    columns: Columns | CellColumns,
    request: Request,
    names: Sequence[str],
    summaries: dict[str, Summary],
    text: set[str],
) -> dict[str, Look]:
    """What columns of text hold, with what the caller, a model and other columns tell of their writing."""
    known = {} if request.encoding is None else {c.name: c for c in request.encoding.columns}
    text = {*text, *(n for n, c in known.items() if c.levels is not None)}
    asked = [n for n in names if summaries[n].kind == "text" and n not in text and n != request.target]
    wanted = Wanted(request.decimal, request.thousands)
    evidence = None
    if any(look(summaries[n].shapes, wanted, ".") != look(summaries[n].shapes, wanted, ",") for n in asked):
        others = [n for n, kind in columns.kinds.items() if kind == "text" and n not in asked]
        beside = columns.summaries(others)
        alone = [look(summaries[n].shapes, wanted) for n in asked]
        evidence = evidence_of([*alone, *(look(each.shapes) for each in beside.values())])
    looks = {}
    for name in asked:
        summary = summaries[name]
        if not summary.values:
            looks[name] = Look("empty")
            continue
        reading = known[name].reading if name in known else PLAIN_READING
        before = None if reading == PLAIN_READING else reading.decimal
        found = Look("text") if summary.overflown else look(summary.shapes, wanted, before or evidence)
        # Points alone, where there were commas when the model was fitted: a fraction, or thousands for once?
        doubtful = before == "," and evidence is None and wanted == ANYTHING and reading.thousands != "."
        if doubtful and found.reading.thousands == "." and look(summary.shapes).reading == PLAIN_READING:
            found = replace(found, kind="ambiguous")
        if found.kind == "date" and not all(map(_ISO.fullmatch, found.fitting)):
            found = replace(found, kind="written date")
        if found.kind != "text":
            looks[name] = found
    return looks


def find_looks(columns: Columns | CellColumns, request: Request) -> dict[str, Look]:
    """Find how to read the columns of a table that a query uses; a column without one reading stays text."""
    names = list(columns.kinds)
    asked = replace(request, target=None, encoding=None)
    looks = _looks(columns, asked, names, columns.summaries(names), {*columns.text, *request.text})
    return {name: each for name, each in looks.items() if each.kind in ("number", "empty", "date")}


def readings_told(looks: Mapping[str, Look]) -> list[str]:
    """Say how text was read as numbers, where it is not plain numbers."""
    numbers = {name: each for name, each in looks.items() if each.kind == "number"}
    return Encoding(tuple(Column(name, None, each.reading) for name, each in numbers.items())).told()


def _has_values(summary: Summary, found: Look | None) -> bool:
    return summary.values > 0 and (found is None or found.kind != "empty")


def code_note(name: str, code: str) -> str:
    """Return the note about a column of numbers that may be codes."""
    return (
        f"{name}: some numbers begin with a zero ({code}), as codes do; they are read as numbers. If they "
        f"are names, read the column as text: --text {name}."
    )


def _with_label(
    columns: Columns | CellColumns, request: Request, summary: Summary, meaning: Meaning, text: set[str]
) -> tuple[Meaning, list[str]]:
    """Decide how to read the target, and return notes about it.

    Text is read as plain numbers only where the file has no types. Among numbers, marks say that there is no
    label; beside words, a class may well be called "none" or "missing".
    """
    name = str(request.target)
    if summary.kind not in ("number", "text", "boolean"):
        raise foreign(name, summary.kind, columns.called)
    if summary.kind != "text":
        return meaning, []
    meaning = replace(meaning, label="text")
    found = look(summary.shapes, Wanted(decimal="."))
    if name in text or found.kind != "number" or found.reading != PLAIN_READING or not found.fitting:
        return meaning, []
    meaning = replace(meaning, marked=found.marked)
    if name not in columns.untyped:
        return meaning, []
    notes = [code_note(name, summary.code)] if found.coded else []
    kind = "number"
    if summary.longest > 15 and all(re.fullmatch("[09][+-]?9+", each) for each in found.fitting):
        kind = "whole" if summary.longest < 19 else "digits"
    return replace(meaning, label=kind), notes


def _need_same_unit(table: str, name: str, found: Look | None, known: Encoding) -> None:
    column = next(each for each in known.columns if each.name == name)
    reading = PLAIN_READING if found is None or found.kind != "number" else found.reading
    if column.levels is None and found is not None and reading.unit != column.reading.unit:
        units = (reading.unit, column.reading.unit)
        here, there = (f"in {unit}" if unit else "without a unit" for unit in units)
        raise InputError(
            f"Column {name!r} was {there} in the table that was read first; in {table!r} it is {here}.",
            remedy="Convert it in a query with 'sql'.",
            parameter="sql",
        )


def _need_same_column(
    columns: Columns | CellColumns, column: Column, is_number: bool, summary: Summary | None
) -> None:
    """Raise an error if a column cannot be read as in the table that the encoding was learned from."""
    kind = columns.kinds[column.name]
    if column.levels is None:
        if not is_number:
            raise InputError(
                f"Column {column.name!r} held numbers in the table that was read first; in "
                f"{columns.name!r} it is {in_words(kind)}."
            )
        return
    if summary is None:
        return
    others = sorted({*summary.levels} - {*column.levels})
    if others:
        raise InputError(
            f"Column {column.name!r} of {columns.name!r} has values that the model was not fitted with: "
            f"{shown(others[:13])}. Known are: {shown(column.levels)}."
        )


def _without_names(
    columns: Columns | CellColumns,
    request: Request,
    names: Sequence[str],
    is_number: dict[str, bool],
    summaries: dict[str, Summary],
    meaning: Meaning,
    recount: Recount | None,
    text: set[str],
) -> tuple[tuple[str, ...], list[str]]:
    """The columns without those of text that name the rows; and a sentence for each."""
    asked = {*request.text} if request.features is None else {*names}
    words = [name for name in names if not is_number[name]]
    for name in words:
        kind = meaning.looks[name].kind if name in meaning.looks else columns.kinds[name]
        if kind not in ("text", "boolean") and name not in text:
            raise foreign(name, kind, columns.called)
    # Rows that lack a value in a column that is left out are not dropped for that.
    plain = replace(meaning, encoding=_encoding(meaning.encoding, []))
    counted = summaries
    if request.where is not None and recount is not None and {*words} - asked:
        counted = recount(plain, words, "error")
    kept, notes = [], []
    for name in names:
        if is_number[name] or name in asked:
            kept.append(name)
            continue
        each = counted[name]
        different = each.distinct
        if different is None:
            few = len(each.levels) <= MAX_LEVELS
            different = len(each.levels) if few else columns.distinct(name)
        if not different:
            notes.append(f"{name} is left out: it has no values.")
        elif different == each.rows >= 3 or (each.rows >= FEWEST and different > NEARLY * each.rows):
            notes.append(
                f"{name} is left out: {different:,} different texts in {each.rows:,} rows name the rows. "
                "--features keeps it."
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


def _levels(name: str, summary: Summary, *, intercept: bool) -> tuple[tuple[str, ...], list[str]]:
    """Return the sorted levels of a category, and notes about them."""
    if len(summary.levels) > MAX_LEVELS:
        raise InputError(
            f"Column {name!r} is text with more than {MAX_LEVELS:,} different values; it looks like an "
            "identifier or free text.",
            remedy="Leave it out with 'exclude', or make it numbers first.",
            parameter="exclude",
        )
    levels, notes = sorted(summary.levels), []
    once = [level for level in levels if summary.levels[level] == 1]
    if once:
        notes.append(_seen_once(name, once))
    notes += nearly_alike(name, levels)
    if len(levels) == 1 and intercept:
        notes.append(f"{name}: each value is {levels[0]!r}, which tells no rows apart.")
    return tuple(levels), notes


def nearly_alike(name: str, values: Sequence[Any]) -> list[str]:
    """A sentence about texts that differ in blanks or in capital letters alone, which are kept apart.

    Examples
    --------
    >>> nearly_alike("ill", ["no", "No", "yes"])
    ["ill: 'no' and 'No' differ in blanks or capital letters alone, and are kept apart."]
    """
    first: dict[str, str] = {}
    for value in values:
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
    if kind in ("date", "written date"):
        from .sql.database import plain_identifier

        column = plain_identifier(name)
        value = f"strptime({column}, '%d.%m.%Y')" if kind == "written date" else column
        pattern = ", with the pattern that the cells have" if kind == "written date" else ""
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
    """What a column holds, as people say it."""
    return {"text": "text", "boolean": "true or false", "date": "a date or time"}.get(kind, f"of type {kind}")
