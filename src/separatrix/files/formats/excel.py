"""Excel and OpenDocument sheets, read by calamine: the first row that is not empty has the names."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ...errors import InputError, needs
from ..batches import LARGEST_WHOLE
from ..columns import ROWS, Columns
from ..encoding import shown, unknown
from ..source.detect import MISSING, NUMBER, Format, Request, Source
from .parquet import copied

_ERRORS = (
    "#DIV/0!",
    "#N/A",
    "#NAME?",
    "#NULL!",
    "#NUM!",
    "#REF!",
    "#VALUE!",
    "#GETTING_DATA",
    "#SPILL!",
    "#CALC!",
)
_WORDS = {"number": "numbers", "text": "text", "bool": "true and false", "date": "dates"}
_ZERO = dt.date(1899, 12, 30)


@dataclass(frozen=True)
class Cells:
    """A column of a sheet: its name, its place, and the one kind of cell that it holds."""

    name: str
    place: int
    kind: str


def open_excel(source: Source, request: Request) -> Columns:
    """One sheet of a workbook; formulas count as what the spreadsheet had computed when it was saved."""
    with needs("Reading Excel files", extra="formats"):
        import python_calamine

    try:
        book = python_calamine.CalamineWorkbook.from_path(source.paths[0])
        sheet = book.get_sheet_by_name(_choose(source.name, book, request.sheet))
    except (python_calamine.CalamineError, OSError) as error:
        raise InputError(f"{source.name!r} is not a workbook that can be read ({error}).") from error
    return _open_sheet(source, request, Sheet(source.name, sheet))


class Sheet:
    """The rows of a sheet, from the first that is not empty on."""

    def __init__(self, source: str, sheet: Any) -> None:
        self.title = f"{source!r}, sheet {sheet.name!r}"
        self._sheet = sheet
        begin = sheet.start or (0, 0)
        self.row, self.column = begin[0] + 1, begin[1]

    def rows(self) -> Iterator[list[Any]]:
        """Each row as a list of cells, empty ones as empty text."""
        return iter(self._sheet.to_python(skip_empty_area=True))

    def cell(self, row: int, place: int) -> str:
        """What a spreadsheet calls a cell: row counted from the first one here."""
        letters, number = "", self.column + place + 1
        while number:
            number, digit = divmod(number - 1, 26)
            letters = chr(65 + digit) + letters
        return f"{letters}{self.row + row}"

    def lines(self, above: int, rows: Sequence[int]) -> list[tuple[int, str]]:
        """The lines of the sheet where data rows stand, counted from 1, with so many above the first."""
        return [(self.row + above + row - 1, "") for row in rows]


def _choose(name: str, book: Any, wanted: str | None) -> str:
    """The sheet that is read: the one that is named, or the only visible one that has rows."""
    import python_calamine

    if wanted is not None:
        if wanted not in book.sheet_names:
            raise unknown(wanted, book.sheet_names, kind="sheet")
        return wanted
    table, visible = python_calamine.SheetTypeEnum.WorkSheet, python_calamine.SheetVisibleEnum.Visible
    there = [each.name for each in book.sheets_metadata if each.typ == table and each.visible == visible]
    full = there if len(there) == 1 else [each for each in there if book.get_sheet_by_name(each).height]
    if len(full) == 1:
        return str(full[0])
    raise InputError(
        f"{name!r} has {len(full)} sheets with rows{': ' if full else ''}{shown(full)}.",
        remedy="Name one with 'sheet'.",
        parameter="sheet",
    )


def _open_sheet(source: Source, request: Request, sheet: Sheet) -> Columns:
    import pyarrow as pa

    rows = sheet.rows()
    first = next(rows, None)
    if not first:
        raise InputError(f"{sheet.title} is empty. A table needs a row of names and a row for each case.")
    others = list(rows)
    header = _is_header(first, others)
    body = others if header else [first, *others]
    first = [_name(cell) for cell in first] if header else first
    used = [k for k, column in enumerate(zip(*body, strict=True)) if set(column) != {""} or first[k] != ""]
    blank = [k for k in used if header and not first[k].strip()]
    if 2 * len(blank) > len(used):
        raise InputError(
            f"{sheet.title}: row {sheet.row} names only {len(used) - len(blank)} of {len(used)} columns. The "
            "first row has to be that of the names; delete titles above it."
        )
    given = [first[k] if header else "" for k in used]
    names = [name.strip() or f"column{k}" for k, name in enumerate(given, start=1)]
    # The first column without a name numbers the rows, as pandas writes it; another has to have values.
    unnamed = tuple(name for name, k in zip(names, used, strict=True) if k in blank and k == used[0])
    columns = []
    for name, k in zip(names, used, strict=True):
        found = _learn(name, k, [row[k] for row in body])
        if isinstance(found, Cells):
            columns.append(found)
        elif _is_needed(name, request):
            raise _odd(sheet, name, k, body, found, int(header))
        else:
            columns.append(Cells(name, k, "text"))
    types = {"number": pa.float64(), "text": pa.string(), "bool": pa.bool_()}
    schema = pa.schema([(each.name, types.get(each.kind, pa.timestamp("us"))) for each in columns])
    notes = (*_notes(sheet, body, [each.place for each in columns]), *_rounded(body, columns))
    return copied(
        source.name,
        zip(schema.names, schema.types, strict=True),
        _batches(body, columns, schema),
        keep=source,
        notes=notes,
        unnamed=unnamed,
        untyped=frozenset(names),
        lines=partial(sheet.lines, int(header)),
    )


def _is_header(first: list[Any], others: list[list[Any]]) -> bool:
    """Whether a row holds names: all of it is text, or a text stands above none; a year may be a name."""
    words = [
        k for k, cell in enumerate(first) if isinstance(cell, str) and not NUMBER.fullmatch(cell.strip())
    ]
    if len(words) == len(first):
        return True
    for k in words:
        cells = [row[k] for row in others if row[k] != ""]
        if first[k] and cells and not any(isinstance(cell, str) for cell in cells):
            return True
    return False


def _name(cell: Any) -> str:
    """What a column is called whose name is a number, such as a year."""
    return f"{cell:g}" if isinstance(cell, float) else str(cell)


def _rounded(body: list[list[Any]], columns: Sequence[Cells]) -> list[str]:
    """A sentence for each column of numbers so large that a spreadsheet keeps fifteen digits of them."""
    return [
        f"{each.name}: a spreadsheet keeps 15 digits of a number, and some here have more."
        for each in columns
        if each.kind == "number"
        and any(isinstance(row[each.place], float) and abs(row[each.place]) > LARGEST_WHOLE for row in body)
    ]


def _notes(sheet: Sheet, body: list[list[Any]], places: list[int]) -> tuple[str, ...]:
    """What is said where cells are empty: calamine does not tell why."""
    lacking = sum(row[place] == "" for row in body for place in places)
    if not lacking:
        return ()
    why = "they are empty, or errors such as #DIV/0!, or formulas whose results were not saved"
    return (f"{sheet.title}: {lacking:,} cells are missing: {why}.",)


def _batches(body: list[list[Any]], columns: Sequence[Cells], schema: Any) -> Iterator[Any]:
    import pyarrow as pa

    for start in range(0, len(body), ROWS):
        cells = list(zip(*body[start : start + ROWS], strict=True))
        values = [[_value(cell, each.kind) for cell in cells[each.place]] for each in columns]
        arrays = [pa.array(column, field.type) for column, field in zip(values, schema, strict=True)]
        yield pa.record_batch(arrays, schema=schema)


def _is_needed(name: str, request: Request) -> bool:
    """Whether a column has to be of one kind; a query says itself what it does with each."""
    if request.sql is not None:
        return False
    used = request.features is None or name in request.features
    return name == request.target or (used and name not in request.exclude)


def _learn(name: str, place: int, column: list[Any]) -> Cells | tuple[str, int]:
    """See what a column holds; or what most cells are, and where the first is that is something else."""
    kinds = list(map(_kind, column))
    counts = Counter(kind for kind in kinds if kind not in ("missing", "error"))
    most = counts.most_common(1)[0][0] if counts else "number"
    odd = next((k for k, kind in enumerate(kinds) if kind not in (most, "missing")), None)
    if odd is not None:
        return most, odd
    return Cells(name, place, most)


def _odd(
    sheet: Sheet, name: str, place: int, body: list[list[Any]], found: tuple[str, int], above: int
) -> InputError:
    most, row = found
    value, cell = body[row][place], sheet.cell(row + above, place)
    if _kind(value) == "error":
        return InputError(
            f"{sheet.title}: cell {cell} is {value}, an error of a formula. Correct the formula."
        )
    return InputError(
        f"{sheet.title}: column {name!r} holds {_WORDS[most]}, but cell {cell} is {value!r}. Correct it.",
        remedy="Or leave the column out with 'exclude'.",
        parameter="exclude",
    )


def _kind(cell: Any) -> str:
    if isinstance(cell, str):
        if cell in _ERRORS:
            return "error"
        return "missing" if cell.strip() in MISSING else "text"
    if isinstance(cell, bool):
        return "bool"
    return "number" if isinstance(cell, (int, float)) else "date"


def _value(cell: Any, kind: str) -> Any:
    """A cell as Arrow takes it; times of day and durations count from the day that Excel counts from."""
    if isinstance(cell, str) and cell.strip() in MISSING:
        return None
    if kind == "text":
        return str(cell)
    if kind != "date":
        return cell
    if isinstance(cell, dt.timedelta):
        return dt.datetime.combine(_ZERO, dt.time()) + cell
    if isinstance(cell, dt.time):
        return dt.datetime.combine(_ZERO, cell)
    return cell if isinstance(cell, dt.datetime) else dt.datetime.combine(cell, dt.time())


def _is_workbook(names: list[str]) -> bool:
    """Whether an archive is a workbook of Excel or of OpenDocument."""
    there = set(names)
    return bool(there & {"xl/workbook.xml", "xl/workbook.bin"}) or {"mimetype", "content.xml"} <= there


FORMAT = Format(
    "excel",
    "Excel",
    open_excel,
    magic=((0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),),
    members=_is_workbook,
)
