"""Files of SAS, SPSS and Stata, read by pyreadstat: value labels are categories."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ...errors import InputError
from ..arrow import WhenUsed, kind_of, pa, pc, without
from ..encoding import shown
from ..named_columns import Columns
from ..request import Request
from ..source.detect import Format, Source
from .parquet import copied

pyreadstat: Any = WhenUsed("pyreadstat", "Reading files of SAS, SPSS and Stata", "formats")


def open_stat_file(reader: str, source: Source, request: Request) -> Columns:
    """Copy the rows. A column becomes text if all of its values have labels; missing values stay missing."""
    _refuse_cut(source)
    said = {} if reader == "read_por" else {"encoding": request.text_encoding}
    read = partial(getattr(pyreadstat, reader), source.paths[0], output_format="dict", **said)
    _, meta = read(metadataonly=True)
    names = [str(name) for name in meta.column_names]
    labels = {name: found for name, found in (meta.variable_value_labels or {}).items() if found}
    kinds: dict[str, set[str]] = {name: set() for name in names}
    values: dict[str, set[Any]] = {name: set() for name in labels}
    for cells in _chunks(read, len(names)):
        for name, column in cells.items():
            there = column.drop_null()
            kinds[name] |= {kind_of(there.type)} if len(there) else set()
            if name in labels:
                values[name] |= set(there.unique().to_pylist())
    words, notes = _labeled(values, labels)
    types = {}
    for name in names:
        if len(kinds[name]) > 1:
            raise InputError(f"{source.name!r}: column {name!r} mixes {' and '.join(sorted(kinds[name]))}.")
        kind = "text" if name in words else "".join(kinds[name])
        types[name] = {"text": pa.string(), "date": pa.timestamp("us")}.get(kind, pa.float64())
    batches = (
        pa.record_batch([_array(cells[name], words.get(name), types[name]) for name in names], names=names)
        for cells in _chunks(read, len(names))
    )
    return copied(
        source.name,
        batches,
        notes=notes,
        untyped=frozenset(names),
        text=tuple(words),
    )


def _refuse_cut(source: Source) -> None:
    """Raise an error if the end of a file is missing; pyreadstat would read the rows before it."""
    path = source.paths[0]
    with open(path, "rb") as file:
        begin = file.read(len(_STATA_BEGINS))
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 64))
        end = file.read().rstrip()
    tagged = begin == _STATA_BEGINS and not end.endswith(_STATA_ENDS)
    if tagged or (source.format.kind == "sas transport" and size % 80):  # it has lines of 80 bytes
        raise InputError(f"{source.name!r} is cut short: its end is missing. Fetch it again.")


def _chunks(read: Callable[..., Any], width: int) -> Iterator[dict[str, Any]]:
    """Yield some rows at a time, as Arrow columns; empty text is missing."""
    rows, start, height = max(1000, (1 << 22) // max(1, width)), 0, -1  # some million cells
    while height in (-1, rows):
        found, _ = read(row_offset=start, row_limit=rows)
        height, start = len(next(iter(found.values()))) if found else 0, start + rows
        cells = {str(name): pa.array(column, from_pandas=True) for name, column in found.items()}
        for name, column in cells.items():
            if pa.types.is_string(column.type):
                cells[name] = without(column, pc.equal(pc.utf8_trim_whitespace(column), ""))
        if height:
            yield cells


def _labeled(
    values: dict[str, set[Any]], labels: dict[str, dict[Any, str]]
) -> tuple[dict[str, dict[Any, str]], tuple[str, ...]]:
    """Return the labels of columns all of whose values have one, and notes about other columns."""
    words, notes = {}, []
    for column, known in labels.items():
        found = [value for value in values[column] if value in known]
        if found and len(found) == len(values[column]):
            words[column] = _distinct({value: known[value] for value in found})
        elif found:
            each = (value if isinstance(value, str) else f"{value:g} = {known[value]}" for value in found)
            notes.append(
                f"{column}: only some values have labels ({shown(sorted(each), 4)}); it is read without them."
            )
    return words, tuple(notes)


def _distinct(labels: dict[Any, str]) -> dict[Any, str]:
    """Return labels that differ: two values with the same label keep their values in it."""
    times = Counter(label.strip() for label in labels.values())
    return {
        value: label.strip() if label.strip() and times[label.strip()] == 1 else f"{value} {label}".strip()
        for value, label in labels.items()
    }


def _array(column: Any, labels: dict[Any, str] | None, kind: Any) -> Any:
    if labels is not None:
        return pa.array([None if cell is None else labels[cell] for cell in column.to_pylist()], kind)
    if pa.types.is_time(column.type):
        return column.cast(pa.time64("us")).cast(pa.int64()).cast(kind)
    return column.cast(kind)


_STATA_BEGINS, _STATA_ENDS = b"<stata_dta>", b"</stata_dta>"  # from version 117 on
# From version 105 on, Stata files begin with their version, their byte order and a one.
_STATA = [bytes([version, order, 1]) for version in range(105, 116) for order in (1, 2)]
_SAS = b"\0" * 12 + b"\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\0\x09\xc7\x31\x8c\x18\x1f\x10\x11"
_KINDS = {
    "sas": ("SAS", "read_sas7bdat", (_SAS,)),
    "sas transport": ("SAS", "read_xport", (b"HEADER RECORD*******",)),
    "spss": ("SPSS", "read_sav", (b"$FL2", b"$FL3")),
    "spss portable": ("SPSS", "read_por", (b"ASCII SPSS PORT FILE",)),  # after a line of the same length
    "stata": ("Stata", "read_dta", (_STATA_BEGINS, *_STATA)),
}
FORMATS = tuple(
    Format(
        kind,
        title,
        partial(open_stat_file, reader),
        magic=tuple((place, mark) for mark in marks for place in ((0, 40) if "portable" in kind else (0,))),
        charsets=True,
    )
    for kind, (title, reader, marks) in _KINDS.items()
)
