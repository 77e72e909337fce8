"""Parquet files: Arrow reads columns of numbers, a few rows at a time; DuckDB reads the rest."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ..batches import (
    MOST_ROWS,
    Batch,
    Matrices,
    ahead,
    arrow_labels,
    batch_rows,
    known_labels,
    lacks_all,
    lacks_some,
    release_arrow,
)
from ..cleaning import numeric
from ..encoding import Column, Encoding, choose_columns, need_distinct
from ..source.detect import Format, Request, Source
from ..sql.database import (
    AS_IT_STANDS,
    FEWEST,
    Database,
    describe,
    explained,
    is_number,
    largest_exact,
    literals,
)
from ..sql.query import Query, ask

COLUMN = 3 << 20  # bytes that Arrow holds of a column, measured on pages of 1 MB, as most writers make them
BUFFER = 1 << 16  # bytes read ahead in each column: whole row groups would take hundreds of megabytes
# The types of Arrow in DuckDB's words; a file with any other is described by DuckDB itself.
_NUMBERS = {
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INTEGER",
    "int64": "BIGINT",
    "uint8": "UTINYINT",
    "uint16": "USMALLINT",
    "uint32": "UINTEGER",
    "uint64": "UBIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
}
_UNITS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
_KINDS = {**_NUMBERS, "bool": "BOOLEAN", "string": "VARCHAR"}


def open_parquet(source: Source, request: Request) -> Query | ParquetReader:
    """One Parquet file, or several as one table."""
    kinds = find_columns(source) if request.sql is None else None
    if kinds is None or not request.columns_only or request.encoding is not None or request.na:
        return ask_parquet(source, request, kinds)
    names = choose_columns(
        tuple(kinds), target=request.target, features=request.features, exclude=request.exclude
    )
    used = names if request.target is None else (*names, request.target)
    if not all(kinds[name] in _NUMBERS.values() for name in used):
        return ask_parquet(source, request, kinds)
    if request.features is None and (find_counting(source, kinds, names) or _may_lack_all(source, names)):
        return ask_parquet(source, request, kinds)
    encoding = Encoding(tuple(map(Column, names)), request.intercept)
    return ParquetReader(source, request, kinds, encoding, request.target, used)


def ask_parquet(
    source: Source,
    request: Request,
    kinds: dict[str, str] | None,
    *,
    notes: Sequence[str] = (),
    unnamed: tuple[str, ...] = (),
) -> Query:
    """Let DuckDB read the rows, and Arrow columns of numbers; ``unnamed`` ones had no name before."""
    # With a query, columns that are of other types in other files become of one type that holds all of them.
    unified = ", union_by_name = true" if request.sql is not None and len(source.paths) > 1 else ""
    relation, suspects = f"read_parquet({literals(source.paths)}, {AS_IT_STANDS}{unified})", None
    if kinds is not None and all(kinds.values()):
        found = Database(source.name, relation, kinds, keep=source, first=partial(first_cells, source))
        suspects = partial(find_counting, source, kinds)
    else:
        found = describe(source.name, relation, sql=request.sql, keep=source)
    if kinds is not None and not all(kinds.values()):
        import pyarrow.parquet as pq

        notes = (*notes, *duration_notes(pq.read_schema(source.paths[0])))
    found = replace(found, unnamed=unnamed if request.sql is None else ())
    query = ask(found, request, suspects=suspects, notes=notes)
    if kinds is None or request.where is not None or request.missing != "error" or numeric(request.na):
        return query
    rows = query.selection
    # The columns as the file has them: in the query, text may have become numbers, or a missing value.
    same = query.database.changed.isdisjoint(rows.used)
    kind = "" if rows.target is None else found.columns[rows.target]
    if kind.startswith("DECIMAL"):
        return query  # as floats, two labels may become one
    if same and all(is_number(found.columns[name]) for name in rows.names):
        query = replace(query, columns=partial(read_columns, source, rows.used))
    if rows.target is not None and is_number(kind):
        query = replace(query, labels=partial(find_labels, source, rows.target))
    return query


@dataclass(frozen=True, eq=False)
class ParquetReader:
    """Columns of numbers, which Arrow reads; where there is more to know, DuckDB is asked, and says it.

    Attributes
    ----------
    source : Source
    request : Request
    kinds : dict of str to str
        The DuckDB type of each column.
    encoding : Encoding
    target_name : str or None
    used : tuple of str
        The features, and the target behind them.
    memory : int or None
        Bytes that reading may take.
    """

    source: Source
    request: Request
    kinds: dict[str, str]
    encoding: Encoding
    target_name: str | None
    used: tuple[str, ...]
    memory: int | None = None
    in_turn: bool = True
    line_finder: None = None

    @cached_property
    def query(self) -> Query:
        """The same rows for DuckDB."""
        asked = ask_parquet(self.source, self.request, self.kinds)
        return asked if self.memory is None else asked.within(self.memory)

    def within(self, memory: int) -> ParquetReader:
        """The same rows, read in about so many bytes."""
        return replace(self, memory=memory)

    def n_rows(self) -> int:
        """Count the rows."""
        return self.query.n_rows()

    def classes(self) -> NDArray[Any]:
        """The different labels."""
        assert self.target_name is not None
        return find_labels(self.source, self.target_name)

    def told(self) -> list[str]:
        """Numbers are read as they are."""
        return []

    def frame(self) -> Any:
        """The wanted columns as a data frame of pandas', as they stand in the file."""
        return self.query.frame()

    def identities(self) -> Iterator[tuple[NDArray[np.int64], list[str] | None]]:
        """The numbers of the rows, counted from 1."""
        yield np.arange(1, self.n_rows() + 1), None

    def batches(self, rows: int, start: int) -> Iterator[Batch]:
        """Yield the rows as they stand in the files, up to one that lacks a value or would be rounded."""
        width, at = self.encoding.n_features, start
        matrices = Matrices(np.array([largest_exact(self.kinds[name]) for name in self.used[:width]]))
        most = max(rows, batch_rows(width))
        for batch in ahead(read_columns(self.source, self.used, most, start, self.memory)):
            target = None if self.target_name is None else batch.column(width)
            for begin, X, good in matrices.of_arrow(batch, rows):
                part = None if target is None else target.slice(begin, len(X))
                if not good or (part is not None and lacks_some(part)):
                    yield from self.query.batches(rows, at + begin)
                    return
                yield X, None if part is None else arrow_labels(part)
            at += batch.num_rows


def read_columns(
    source: Source, names: Sequence[str], rows: int, start: int, memory: int | None = None
) -> Iterator[Any]:
    """Yield batches of some columns of Parquet files, from row ``start`` on.

    Arrow holds a page and a dictionary of every column that it reads. Where that would be more than a quarter
    of ``memory``, only so many columns are read together, and wait in a temporary file for the others.
    """
    together = len(names) if memory is None else max(1, memory // (4 * COLUMN))
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        for path in source.paths:
            with pq.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False) as file:
                sizes = [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)]
                if sum(sizes) != file.metadata.num_rows or min(sizes, default=0) < 0:
                    raise InputError(
                        f"{path!r} cannot be read: it is damaged, and says that it has "
                        f"{file.metadata.num_rows:,} rows in groups of {sum(sizes):,}."
                    )
                if start >= file.metadata.num_rows:
                    start -= file.metadata.num_rows
                    continue
                groups = list(range(len(sizes)))
                while start >= sizes[groups[0]]:
                    start -= sizes[groups.pop(0)]
                for batch in _read(file, groups, list(names), rows, together):
                    if start < batch.num_rows:
                        yield batch.slice(start)
                    start = max(0, start - batch.num_rows)
    except (OSError, pa.ArrowException) as error:
        raise explained(source.name, str(error)) from error


def _read(file: Any, groups: list[int], names: list[str], rows: int, together: int) -> Iterator[Any]:
    if together >= len(names):
        lasting = [each for each in names if str(file.schema_arrow.field(each).type).startswith("duration")]
        for batch in file.iter_batches(rows, groups, names, use_threads=False):
            found = batch if batch.schema.names == names else batch.select(names)
            yield _counted(found, lasting) if lasting else found
        return
    parts = [names[begin : begin + together] for begin in range(0, len(names), together)]
    for group in groups:
        yield from _in_parts(file, group, parts, rows)


def _counted(batch: Any, lasting: list[str]) -> Any:
    """The same with durations as whole numbers of their unit."""
    for name in lasting:
        column = batch.column(name).cast("int64")
        batch = batch.set_column(batch.schema.get_field_index(name), name, column)
    return batch


def duration_notes(schema: Any) -> tuple[str, ...]:
    """What is said of columns whose numbers have a unit."""
    import pyarrow as pa

    lasting = [field for field in schema if pa.types.is_duration(field.type)]
    return tuple(f"{field.name}: a duration, in {_UNITS[field.type.unit]}." for field in lasting)


def _in_parts(file: Any, group: int, parts: list[list[str]], rows: int) -> Iterator[Any]:
    """The batches of a row group, of which some columns are read at a time."""
    import pyarrow as pa

    names = [name for part in parts for name in part]
    with ExitStack() as stack:
        spooled = []
        for part in parts:
            raw = stack.enter_context(tempfile.TemporaryFile(prefix="separatrix-"))
            with ExitStack() as writing:
                writer: Any = None
                for batch in _read(file, [group], part, rows, len(part)):
                    writer = writer or writing.enter_context(pa.ipc.new_stream(raw, batch.schema))
                    writer.write_batch(batch)
            release_arrow()
            raw.seek(0)
            spooled.append(pa.ipc.open_stream(raw))
        for batches in zip(*spooled, strict=True):
            columns = [column for batch in batches for column in batch.columns]
            yield pa.RecordBatch.from_arrays(columns, names=names)


def find_counting(source: Source, kinds: dict[str, str], names: Sequence[str]) -> list[str]:
    """The columns of whole numbers that count up by one: the first rows of each tell which may.

    What a file says of the ranges of its columns is not asked: damaged, it ends the process inside Arrow.
    """
    whole = [name for name in names if kinds[name] in _NUMBERS.values()]
    first = next(iter(read_columns(source, whole, FEWEST, 0)), None) if whole else None
    if first is None or first.num_rows < FEWEST:
        return []
    likely = [
        name
        for name, column in zip(whole, first.columns, strict=True)
        if not column.null_count and not np.any(np.diff(arrow_labels(column)) != 1)
    ]
    return [name for name in likely if _counts_up(source, name)]


def _may_lack_all(source: Source, names: Sequence[str]) -> bool:
    """Whether a column of numbers has no value in the first rows."""
    first = next(iter(read_columns(source, names, FEWEST, 0)), None)
    return first is not None and any(lacks_all(column) for column in first.columns)


def _counts_up(source: Source, name: str) -> bool:
    last = np.empty(0)
    for batch in read_columns(source, [name], MOST_ROWS, 0):
        if batch.column(0).null_count:
            return False
        cells = np.concatenate([last, arrow_labels(batch.column(0))])
        if np.any(np.diff(cells) != 1):
            return False
        last = cells[-1:]
    return True


def first_cells(source: Source, names: Sequence[str], rows: int) -> list[list[Any]]:
    """The first cells of columns; none, if they are no text after all, which their reader will say."""
    first = next(iter(read_columns(source, names, rows, 0)), None)
    try:
        return [[] for _ in names] if first is None else [column.to_pylist() for column in first.columns]
    except UnicodeDecodeError:
        return [[] for _ in names]


def find_labels(source: Source, target: str) -> NDArray[Any]:
    """The different labels; rows without one have none."""
    batches = read_columns(source, [target], MOST_ROWS, 0)
    parts = [known_labels(arrow_labels(_known(batch.column(0)).unique().drop_null())) for batch in batches]
    return np.unique(np.concatenate(parts)) if parts else np.empty(0, dtype=np.int64)


def _known(column: Any) -> Any:
    """The column in a type whose values old versions of Arrow can count: half floats as floats."""
    import pyarrow as pa

    if not pa.types.is_float16(column.type):
        return column
    return pa.array(column.to_numpy(zero_copy_only=False).astype(np.float32), from_pandas=True)


def find_columns(source: Source) -> dict[str, str] | None:
    """The columns of files, each with its type in DuckDB's words, or "" where only DuckDB knows.

    None where Arrow cannot read them.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        return None  # whoever connects to DuckDB says what to install
    try:
        schemas = [pq.read_schema(path) for path in source.paths]
        names = [each.names for each in schemas]
    except (OSError, pa.ArrowException, UnicodeDecodeError):
        return None  # DuckDB knows better, or what is wrong
    for each in names:
        need_distinct(source.name, each)
    first = schemas[0]
    for path, schema in zip(source.paths[1:], schemas[1:], strict=True):
        _need_same_columns(source.paths[0], first, path, schema)
    return {name: _KINDS.get(str(kind), "") for name, kind in zip(first.names, first.types, strict=True)}


def _need_same_columns(one: str, first: Any, path: str, schema: Any) -> None:
    """Raise where files differ: DuckDB would round what it reads to the types of the first file."""
    for field in first:
        other = schema.field(field.name).type if field.name in schema.names else None
        said = f"Column {field.name!r} is {field.type} in {one!r}, but {path!r}"
        if other is None:
            raise InputError(f"{said} does not have it. Files that are read together need the same columns.")
        if _plain(other) != _plain(field.type):
            raise InputError(
                f"{said} has {other}. Files that are read together need the same columns; the query FROM "
                "data gives them one type that holds both.",
                remedy="Pass it as 'sql'.",
                parameter="answer",
            )


def _plain(kind: Any) -> Any:
    """A type of Arrow as DuckDB sees it: a category is what it is one of, and all text is alike."""
    import pyarrow as pa

    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.string() if pa.types.is_large_string(kind) or str(kind) == "string_view" else kind


FORMAT = Format("parquet", "Parquet", open_parquet, magic=((0, b"PAR1"),), several=True)
