"""Excel and OpenDocument sheets, read by calamine: the first row that is not empty has the names."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from ...errors import InputError, needs
from ..batches import LARGEST_WHOLE
from ..columns import ROWS, Columns
from ..encoding import shown, unknown
from ..source.detect import MISSING, NUMBER, Format, Request, Source
from .parquet import copied

_ZERO = dt.date(1899, 12, 30)  # the day that Excel counts from


def open_excel(source: Source, request: Request) -> Columns:
    """One sheet of a workbook; formulas count as what the spreadsheet had computed when it was saved.

    A column of one kind of cell is of that type. Of other columns all cells are text, as in a CSV file.
    """
    with needs("Reading Excel files", extra="formats"):
        import pyarrow as pa
        import python_calamine

    try:
        book = python_calamine.CalamineWorkbook.from_path(source.paths[0])
        sheet = book.get_sheet_by_name(_choose(source.name, book, request.sheet))
    except (python_calamine.CalamineError, OSError) as error:
        raise InputError(f"{source.name!r} is not a workbook that can be read ({error}).") from error
    title, top = f"{source.name!r}, sheet {sheet.name!r}", (sheet.start or (0, 0))[0] + 1
    body = list(sheet.to_python(skip_empty_area=True))
    if not body:
        raise InputError(f"{title} is empty. A table needs a row of names and a row for each case.")
    header = _is_header(body[0], body[1:])
    first = [_name(cell) for cell in body.pop(0)] if header else [""] * len(body[0])
    cells = list(zip(*body, strict=True)) if body else [()] * len(first)
    used = [k for k, column in enumerate(cells) if set(column) != {""} or first[k]]
    blank = [k for k in used if header and not first[k].strip()]
    if 2 * len(blank) > len(used):
        raise InputError(
            f"{title}: row {top} names only {len(used) - len(blank)} of {len(used)} columns. The first row "
            "has to be that of the names; delete titles above it."
        )
    names = [first[k].strip() or f"column{at}" for at, k in enumerate(used, start=1)]
    kinds = [_kind(cells[k]) for k in used]
    types = {"number": pa.float64(), "boolean": pa.bool_(), "date": pa.timestamp("us")}
    schema = pa.schema(
        [(name, types.get(kind, pa.string())) for name, kind in zip(names, kinds, strict=True)]
    )
    return copied(
        source.name,
        zip(schema.names, schema.types, strict=True),
        _batches([cells[k] for k in used], kinds, schema),
        keep=source,
        notes=_notes(title, names, kinds, [cells[k] for k in used]),
        # The first column without a name numbers the rows, as pandas writes it; another has to have values.
        unnamed=tuple(name for name, k in zip(names, used, strict=True) if k in blank and k == used[0]),
        untyped=frozenset(names),
        lines=partial(_lines, top + int(header)),
    )


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


def _is_header(first: Sequence[Any], others: list[list[Any]]) -> bool:
    """Whether a row holds names: all of it is text, or a text has none below it; a year can be a name."""
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


def _lines(first: int, rows: Sequence[int]) -> list[tuple[int, str]]:
    """Return the lines of data rows in the sheet, counted from 1."""
    return [(first + row - 1, "") for row in rows]


def _notes(title: str, names: list[str], kinds: list[str], cells: list[Sequence[Any]]) -> tuple[str, ...]:
    """Return notes about empty cells, because calamine does not tell why, and about very large numbers."""
    lacking = sum(cell == "" for column in cells for cell in column)
    why = "they are empty, or errors such as #DIV/0!, or formulas whose results were not saved"
    return (
        *((f"{title}: {lacking:,} cells are missing: {why}.",) if lacking else ()),
        *(
            f"{name}: a spreadsheet keeps 15 digits of a number, and some here have more."
            for name, kind, column in zip(names, kinds, cells, strict=True)
            if kind == "number"
            and any(cell != "" and abs(_value(cell, kind) or 0) > LARGEST_WHOLE for cell in column)
        ),
    )


def _batches(cells: list[Sequence[Any]], kinds: list[str], schema: Any) -> Iterator[Any]:
    import pyarrow as pa

    for start in range(0, len(cells[0]), ROWS):
        parts = zip(cells, kinds, schema.types, strict=True)
        yield pa.record_batch(
            [
                pa.array([_value(cell, kind) for cell in column[start : start + ROWS]], each)
                for column, kind, each in parts
            ],
            schema=schema,
        )


def _kind(column: Sequence[Any]) -> str:
    """The one kind of cell that a column holds, or "text"."""
    found = set()
    for cell in column:
        if isinstance(cell, str):
            found |= set() if cell.strip() in MISSING else {"text"}
        elif isinstance(cell, bool):
            found.add("boolean")
        else:
            found.add("number" if isinstance(cell, int | float) else "date")
    return found.pop() if len(found) == 1 else "text" if found else "number"


def _value(cell: Any, kind: str) -> Any:
    """A cell as Arrow takes it; times of day and durations count from the day that Excel counts from."""
    if isinstance(cell, str):
        return None if cell.strip() in MISSING else cell
    if kind == "text":
        return str(cell).lower() if isinstance(cell, bool) else str(cell).removesuffix(".0")
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
