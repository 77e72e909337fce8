"""Files of SAS, SPSS and Stata, read by pyreadstat: value labels are categories."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ...errors import InputError, needs
from ..columns import Columns
from ..encoding import shown
from ..source.detect import Format, Request, Source
from .parquet import copied

_KNOWS_NO_CHARSET = "read_por"


def open_stat_file(reader: str, source: Source, request: Request) -> Columns:
    """Copy the rows. A column all of whose values have labels becomes text; what is missing stays so."""
    with needs("Reading files of SAS, SPSS and Stata", extra="formats"):
        import pyarrow as pa
        import pyreadstat

    _refuse_cut(source)
    said = {} if reader == _KNOWS_NO_CHARSET else {"encoding": request.text_encoding}
    read = partial(getattr(pyreadstat, reader), source.paths[0], output_format="dict", **said)
    try:
        _, meta = read(metadataonly=True)
        names = [str(name) for name in meta.column_names]
        labels = {name: found for name, found in (meta.variable_value_labels or {}).items() if found}
        kinds: dict[str, set[str]] = {name: set() for name in names}
        values: dict[str, set[Any]] = {name: set() for name in labels}
        for cells in _chunks(read, len(names)):
            for name, column in cells.items():
                there = column.drop_null()
                kinds[name] |= {_kind(there.type)} if len(there) else set()
                if name in labels:
                    values[name] |= set(there.unique().to_pylist())
        words, notes = _labelled(kinds, values, labels)
        types = [(name, _type(source.name, name, kinds[name], name in words)) for name in names]
        schema = pa.schema(types)
        batches = (
            pa.record_batch(
                [_array(cells[name], words.get(name), kind) for name, kind in types], schema=schema
            )
            for cells in _chunks(read, len(names))
        )
        return copied(
            source.name,
            types,
            batches,
            keep=source,
            notes=notes,
            untyped=frozenset(names),
            text=tuple(words),
        )
    except (pyreadstat.ReadstatError, UnicodeError, ValueError, OverflowError, MemoryError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{source.name!r} cannot be read: {error}") from error


def _refuse_cut(source: Source) -> None:
    """Raise where the end of a file is missing, which its reader does not need to find rows."""
    path = source.paths[0]
    with open(path, "rb") as file:
        begin = file.read(len(_STATA_BEGINS))
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 64))
        end = file.read().rstrip()
    tagged = begin == _STATA_BEGINS and not end.endswith(_STATA_ENDS)
    if tagged or (source.format.kind == "sas transport" and size % _SAS_LINE):
        raise InputError(f"{source.name!r} is cut short: its end is missing. Fetch it again.")


def _chunks(read: Callable[..., Any], width: int) -> Iterator[dict[str, Any]]:
    """Some rows at a time, each column as Arrow has it; empty text is missing."""
    import pyarrow as pa

    rows, start = max(1000, (1 << 22) // max(1, width)), 0  # some million cells
    while True:
        found, _ = read(row_offset=start, row_limit=rows)
        height = len(next(iter(found.values()))) if found else 0
        if height:
            yield {
                str(name): _without_blanks(pa.array(column, from_pandas=True))
                for name, column in found.items()
            }
        if height < rows:
            return
        start += rows


def _without_blanks(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_string(column.type):
        return column
    return pc.if_else(pc.equal(pc.utf8_trim_whitespace(column), ""), pa.scalar(None, pa.string()), column)


def _labelled(
    kinds: dict[str, set[str]], values: dict[str, set[Any]], labels: dict[str, dict[Any, str]]
) -> tuple[dict[str, dict[Any, str]], tuple[str, ...]]:
    """The labels of columns all of whose values have one, and what to say about those that have some."""
    words, notes = {}, []
    for column, known in labels.items():
        found = [value for value in values[column] if value in known]
        if found and len(found) == len(values[column]):
            words[column] = _distinct({value: known[value] for value in found})
        elif found:
            each = (
                f"{value:g} = {known[value]}" if "text" not in kinds[column] else value for value in found
            )
            notes.append(
                f"{column}: only some values have labels ({shown(sorted(each), 4)}); it is read without them."
            )
    return words, tuple(notes)


def _type(table: str, name: str, kinds: set[str], labelled: bool) -> Any:
    """The type of a column, whose cells have to be of one kind."""
    import pyarrow as pa

    if len(kinds) > 1:
        raise InputError(f"{table!r}: column {name!r} mixes {' and '.join(sorted(kinds))}.")
    types = {"text": pa.string(), "date": pa.timestamp("us")}
    return pa.string() if labelled else types.get("".join(kinds), pa.float64())


def _distinct(labels: dict[Any, str]) -> dict[Any, str]:
    """Labels that tell values apart: two values of one label keep their values beside it."""
    times = Counter(label.strip() for label in labels.values())
    return {
        value: label.strip() if label.strip() and times[label.strip()] == 1 else f"{value} {label}".strip()
        for value, label in labels.items()
    }


def _array(column: Any, labels: dict[Any, str] | None, kind: Any) -> Any:
    import pyarrow as pa

    if labels is not None:
        return pa.array([None if cell is None else labels[cell] for cell in column.to_pylist()], kind)
    if pa.types.is_time(column.type):
        return column.cast(pa.time64("us")).cast(pa.int64()).cast(kind)
    return column.cast(kind)


def _kind(kind: Any) -> str:
    import pyarrow as pa

    if pa.types.is_string(kind):
        return "text"
    return "number" if pa.types.is_floating(kind) or pa.types.is_integer(kind) else "date"


_STATA_BEGINS, _STATA_ENDS = b"<stata_dta>", b"</stata_dta>"  # from version 117 on
_SAS_LINE = 80  # bytes of a line of a transport file, which is filled up to the last
# Stata: from version 105 on a file begins with its version, its byte order and a one.
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
