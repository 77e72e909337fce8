"""Workbooks of Excel, written by hand: a cell each way that a test needs."""

from __future__ import annotations

import zipfile
from xml.sax.saxutils import escape

OPEN = "http://schemas.openxmlformats.org"
DATE = 1  # the second style: a date


def formula(text, value=None):
    """A formula, with its result if the spreadsheet had computed it."""
    return f"<f>{escape(text)}</f>" + ("" if value is None else f"<v>{value}</v>"), ""


def error(name):
    return f"<v>{name}</v>", ' t="e"'


def date(days):
    return f"<v>{days}</v>", f' s="{DATE}"'


def _cell(value):
    if isinstance(value, tuple):
        inner, kind = value
    elif isinstance(value, bool):
        inner, kind = f"<v>{int(value)}</v>", ' t="b"'
    elif isinstance(value, str):
        inner, kind = f"<is><t>{escape(value)}</t></is>", ' t="inlineStr"'
    else:
        inner, kind = f"<v>{value!r}</v>", ""
    return kind, inner


def _row(number, values, left):
    cells = "".join(
        f'<c r="{chr(65 + left + k)}{number}"{kind}>{inner}</c>'
        for k, value in enumerate(values)
        if value is not None
        for kind, inner in [_cell(value)]
    )
    return f'<row r="{number}">{cells}</row>'


def write_workbook(path, sheets, *, top=0, left=0):
    """Write {name: rows}; the first cell is ``top`` rows down and ``left`` columns to the right."""
    names = list(sheets)
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{OPEN}/package/2006/content-types">'
        '<Default Extension="xml" ContentType="application/xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{OPEN}/package/2006/relationships"><Relationship Id="r1" '
        f'Type="{OPEN}/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/>'
        "</Relationships>",
        "xl/workbook.xml": f'<workbook xmlns="{OPEN}/spreadsheetml/2006/main" '
        f'xmlns:r="{OPEN}/officeDocument/2006/relationships"><sheets>'
        + "".join(
            f'<sheet name="{escape(name)}" sheetId="{k}" r:id="s{k}"/>' for k, name in enumerate(names, 1)
        )
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{OPEN}/package/2006/relationships">'
        + "".join(
            f'<Relationship Id="s{k}" Type="{OPEN}/officeDocument/2006/relationships/worksheet" '
            f'Target="worksheets/sheet{k}.xml"/>'
            for k in range(1, len(names) + 1)
        )
        + f'<Relationship Id="st" Type="{OPEN}/officeDocument/2006/relationships/styles" '
        'Target="styles.xml"/></Relationships>',
        "xl/styles.xml": f'<styleSheet xmlns="{OPEN}/spreadsheetml/2006/main"><cellXfs count="2">'
        '<xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
    }
    for k, name in enumerate(names, 1):
        rows = "".join(_row(top + j, values, left) for j, values in enumerate(sheets[name], 1))
        parts[f"xl/worksheets/sheet{k}.xml"] = (
            f'<worksheet xmlns="{OPEN}/spreadsheetml/2006/main"><sheetData>{rows}</sheetData></worksheet>'
        )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, content in parts.items():
            archive.writestr(part, f'<?xml version="1.0" encoding="UTF-8"?>{content}')
