"""Files of SAS, SPSS and Stata, read by pyreadstat: value labels are categories."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ...errors import InputError, needs
from ..columns import Columns
from ..encoding import shown
from ..source.detect import Format, Request, Source
from .parquet import copied

_KNOWS_NO_CHARSET = "read_por"


@dataclass
class Seen:
    """What the cells of a column are, as far as it was read."""

    kinds: set[str] = field(default_factory=set)
    values: set[Any] = field(default_factory=set)

    def look(self, cells: Any, *, labelled: bool) -> None:
        """Look at some cells more."""
        there = cells.drop_null()
        if not len(there):
            return
        self.kinds.add(_kind(there.type))
        self.values |= set(there.unique().to_pylist()) if labelled else set()


@dataclass(frozen=True)
class Variable:
    """A column: "number", "text" or "date"; or text by the labels of its values."""

    name: str
    kind: str
    labels: dict[Any, str] | None = None


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
        seen = {name: Seen() for name in names}
        for cells in _chunks(read, len(names)):
            for name, column in cells.items():
                seen[name].look(column, labelled=name in labels)
        variables, notes = _variables(source.name, seen, labels)
        types = {"number": pa.float64(), "date": pa.timestamp("us")}
        schema = pa.schema([(each.name, types.get(each.kind, pa.string())) for each in variables])
        batches = (_batch(cells, variables, schema) for cells in _chunks(read, len(names)))
        return copied(
            source.name,
            zip(schema.names, schema.types, strict=True),
            batches,
            keep=source,
            notes=notes,
            untyped=frozenset(names),
            text=tuple(each.name for each in variables if each.labels is not None),
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


def _variables(
    name: str, seen: dict[str, Seen], labels: dict[str, dict[Any, str]]
) -> tuple[list[Variable], tuple[str, ...]]:
    """What each column is, and what to say about those whose values have labels in part."""
    found, notes = [], []
    for column, each in seen.items():
        if len(each.kinds) > 1:
            raise InputError(f"{name!r}: column {column!r} mixes {' and '.join(sorted(each.kinds))}.")
        kind = next(iter(each.kinds), "number")
        known = labels.get(column, {})
        labelled = [value for value in each.values if value in known]
        if labelled and len(labelled) == len(each.values):
            found.append(Variable(column, "text", _distinct({value: known[value] for value in labelled})))
            continue
        if labelled:
            words = shown(
                sorted(f"{value:g} = {known[value]}" if kind != "text" else value for value in labelled), 4
            )
            notes.append(f"{column}: only some values have labels ({words}); it is read without them.")
        found.append(Variable(column, kind))
    return found, tuple(notes)


def _distinct(labels: dict[Any, str]) -> dict[Any, str]:
    """Labels that tell values apart: two values of one label keep their values beside it."""
    times = Counter(label.strip() for label in labels.values())
    return {
        value: label.strip() if label.strip() and times[label.strip()] == 1 else f"{value} {label}".strip()
        for value, label in labels.items()
    }


def _batch(cells: dict[str, Any], variables: list[Variable], schema: Any) -> Any:
    import pyarrow as pa

    arrays = [
        _array(cells[each.name], each, kind) for each, kind in zip(variables, schema.types, strict=True)
    ]
    return pa.record_batch(arrays, schema=schema)


def _array(column: Any, variable: Variable, kind: Any) -> Any:
    import pyarrow as pa

    if variable.labels is not None:
        names = [None if cell is None else variable.labels[cell] for cell in column.to_pylist()]
        return pa.array(names, kind)
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
