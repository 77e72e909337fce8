"""Excel and OpenDocument sheets, read by calamine: the first row that is not empty has the names."""

from __future__ import annotations

import datetime as dt
import re
import zipfile
from collections.abc import Sequence
from typing import Any

from ...errors import InputError
from ...inputs.matrix import LARGEST_EXACT
from ..arrow import WhenUsed, pa
from ..encoding import shown, unknown
from ..named_columns import Columns
from ..number_formats import MISSING, names_columns
from ..reader import Place
from ..request import NAMED, Request
from ..source.detect import Format, Source
from .parquet import copied

python_calamine: Any = WhenUsed("python_calamine", "Reading Excel files", "formats")

# A cell with a formula, and with no value after it; text may be empty.
_UNSAVED = re.compile(
    rb'<c(?![^>]* t="str")[^>]* r="([A-Z]+[0-9]+)"[^>]*><f\b[^<]*(?:</f>)?(?:<v ?/>|<v></v>)?</c>'
)


def open_excel(source: Source, request: Request) -> Columns:
    """Copy one sheet of a workbook; formulas are the values that the spreadsheet saved.

    A column of one kind of cells has that type. The cells of other columns are text, as in a CSV file.
    """
    book = python_calamine.CalamineWorkbook.from_path(source.paths[0])
    sheet = book.get_sheet_by_name(_choose(source.name, book, request.sheet))
    title, top = f"{source.name!r}, sheet {sheet.name!r}", (sheet.start or (0, 0))[0] + 1
    body = list(sheet.to_python(skip_empty_area=True))[max(0, request.skip + 1 - top) :]
    top = max(top, request.skip + 1)
    while body and set(body[0]) == {""}:
        body, top = body[1:], top + 1
    if not body:
        raise InputError(f"{title} is empty. A table needs a row of names and a row for each case.")
    words = [[cell if isinstance(cell, str) else "0" for cell in row] for row in body[:100]]
    header = names_columns(words[0], words[1:])
    first = [_text(cell).strip() for cell in body.pop(0)] if header else [""] * len(body[0])
    cells = list(zip(*body, strict=True)) if body else [()] * len(first)
    used = [k for k, column in enumerate(cells) if set(column) != {""} or first[k]]
    blank = [k for k in used if header and not first[k]]
    if 2 * len(blank) > len(used):
        raise InputError(
            f"{title}: row {top} names only {len(used) - len(blank)} of {len(used)} columns. The first row "
            "has to be that of the names.",
            remedy="Skip the titles above it with 'skip'.",
            parameter="skip",
        )
    names = [first[k] or f"column{at}" for at, k in enumerate(used, start=1)]
    columns = [_column(cells[k]) for k in used]
    lacking = sum(column.null_count for column in columns)
    why = "they are empty, or errors such as #DIV/0!, or formulas whose results were not saved"
    if lacking and (unsaved := _unsaved(source.paths[0])):
        why = (
            f"{len(unsaved):,} have formulas without saved results, such as {unsaved[0]}; open the file in a "
            "spreadsheet program and save it"
        )
    notes = [f"{title}: {lacking:,} cells are missing: {why}."] * (lacking > 0)
    notes += [
        f"{name}: a spreadsheet keeps 15 digits of a number, and some here have more."
        for name, column in zip(names, columns, strict=True)
        if pa.types.is_floating(column.type) and any(abs(x or 0) >= LARGEST_EXACT for x in column.to_pylist())
    ]
    line = top + int(header) - 1
    return copied(
        source.name,
        [pa.record_batch(columns, names=names)],
        notes=tuple(notes),
        # A first column without a name numbers the rows, as pandas writes it.
        unnamed=tuple(names[:1] if used[0] in blank else ()),
        untyped=frozenset(names),
        lines=lambda rows: [Place(row, line + row if line else None) for row in rows],
    )


def _unsaved(path: str) -> list[str]:
    """Return the cells whose formulas have no saved results, of an .xlsx file with one sheet."""
    if not zipfile.is_zipfile(path):
        return []
    with zipfile.ZipFile(path) as book:
        sheets = [name for name in book.namelist() if re.fullmatch(r"xl/worksheets/[^/]+\.xml", name)]
        return [cell.decode() for cell in _UNSAVED.findall(book.read(sheets[0]))] if len(sheets) == 1 else []


def _choose(name: str, book: Any, wanted: str | None) -> str:
    """Return the sheet that is named, or the only visible one that has rows."""
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


def _text(cell: Any) -> str:
    """Return a cell as a spreadsheet shows it; a duration counts from the day that Excel counts from."""
    if isinstance(cell, dt.timedelta):
        cell += dt.datetime(1899, 12, 30)
    return str(cell).lower() if isinstance(cell, bool) else str(cell).removesuffix(".0")


def _column(cells: Sequence[Any]) -> Any:
    """Return an Arrow column of numbers, or of booleans; if there are other cells, one of text."""
    given = [None if isinstance(cell, str) and cell.strip() in MISSING else cell for cell in cells]
    kinds = {type(cell) for cell in given if cell is not None}
    if kinds <= {int, float}:
        return pa.array(given, pa.float64())
    if kinds == {bool}:
        return pa.array(given, pa.bool_())
    return pa.array([None if cell is None else _text(cell) for cell in given], pa.string())


def _is_workbook(names: list[str]) -> bool:
    """Return whether an archive is a workbook of Excel or of OpenDocument."""
    there = set(names)
    return bool(there & {"xl/workbook.xml", "xl/workbook.bin"}) or {"mimetype", "content.xml"} <= there


FORMAT = Format(
    "excel",
    "Excel",
    open_excel,
    magic=((0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),),
    members=_is_workbook,
    options=(*NAMED, "skip", "sheet"),
)
