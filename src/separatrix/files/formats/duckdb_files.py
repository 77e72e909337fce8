"""DuckDB: queries and conditions on tables, JSON lines and its own files; and SQLite files."""

from __future__ import annotations

import itertools
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ..arrow import as_numpy, duckdb, pa
from ..encoding import shown, unknown
from ..named_columns import ROWS, Columns
from ..reader import MOST_ROWS
from ..request import NAMED, Request
from ..source.decoding import OPEN_FILES
from ..source.detect import Format, Source
from .parquet import copied

_NO_PARTITIONS = "hive_partitioning = false"  # the names of folders are not columns
_ROW = "separatrix row"  # the name of a column that is added to batches


def connect() -> Any:
    """Return a connection to DuckDB, which never fetches anything from the network."""
    return duckdb.connect(
        config={
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            # The ranges in Parquet files do not count NaN, so DuckDB would conclude that no cell is NaN.
            "disabled_optimizers": "statistics_propagation",
        }
    )


def ask(name: str, connection: Any, sql: str, **known: Any) -> Columns:
    """Copy the answer of a query: if it were asked again, its rows might come in another order."""
    # In parentheses, nothing but a query is accepted; it may end with a comment.
    return copied(name, _stream(connection, f"FROM ({sql.strip().rstrip(';')}\n)", ROWS), **known)


def answer(columns: Columns, sql: str) -> Columns:
    """Return the answer of a query in which Parquet files, whose columns these are, are called ``data``."""
    connection = connect()
    # A column gets a type that holds its values in all files.
    unified = ", union_by_name = true" if len(columns.paths) > 1 else ""
    files = f"read_parquet({_literals(columns.paths)}, {_NO_PARTITIONS}{unified})"
    connection.execute(f"CREATE VIEW data AS FROM {files}")
    return ask(columns.name, connection, sql)


def choose(batches: Iterator[Any], where: str) -> tuple[NDArray[np.int64], int]:
    """Return the rows, counted from zero, for which a condition in SQL is true, and the number of rows."""
    first = next(batches, None)
    if first is None:
        return np.empty(0, np.int64), 0
    total, schema = 0, first.schema.append(pa.field(_ROW, pa.int64()))

    def numbered() -> Iterator[Any]:
        nonlocal total
        for batch in itertools.chain([first], batches):
            numbers = pa.array(np.arange(total, total + batch.num_rows))
            yield pa.RecordBatch.from_arrays([*batch.columns, numbers], schema=schema)
            total += batch.num_rows

    connection, every = connect(), numbered()
    connection.register("data", pa.RecordBatchReader.from_batches(schema, every))
    rows = _stream(connection, f"SELECT {_identifier(_ROW)} FROM data WHERE ({where}\n)", MOST_ROWS)
    found = [as_numpy(batch.column(0)) for batch in rows]
    for _ in every:  # DuckDB does not read rows if no row can be chosen
        pass
    return np.concatenate([np.empty(0, np.int64), *found]), total


def _stream(connection: Any, query: str, rows: int) -> Any:
    """Return Arrow's reader of the answer of a query, which yields batches of ``rows`` rows in order."""
    found = connection.sql(query)
    # The name before DuckDB 1.5 is deprecated after it.
    return (getattr(found, "to_arrow_reader", None) or found.fetch_arrow_reader)(rows)


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _literals(texts: Sequence[str]) -> str:
    return "[" + ", ".join(map(_literal, texts)) + "]"


def open_json(source: Source, request: Request) -> Columns:
    """Copy JSON lines, one object per row; numbers are kept as they are written, so that none is rounded."""
    connection, files = connect(), f"{_literals(source.paths)}, {_NO_PARTITIONS}"
    # All rows decide the types: if only the first rows did, 0.5 might be read as 0.
    found = connection.sql(f"DESCRIBE FROM read_json({files}, sample_size = -1)").fetchall()
    kinds = {row[0]: row[1].replace('"NULL"', "DOUBLE") for row in found}
    numbers = frozenset(name for name, kind in kinds.items() if request.sql is None and _is_number(kind))
    kinds |= dict.fromkeys(numbers, "VARCHAR")
    columns = ", ".join(f"{_literal(name)}: {_literal(kind)}" for name, kind in kinds.items())
    query = f"FROM read_json({files}, columns = {{{columns}}})"
    return ask(source.name, connection, query, numbers=numbers, untyped=numbers)


def _is_number(kind: str) -> bool:
    return kind in ("DOUBLE", "FLOAT") or kind.startswith("DECIMAL") or kind.endswith(("INT", "INTEGER"))


def open_duckdb(source: Source, request: Request) -> Columns:
    """Copy a table of a DuckDB file, or the answer of a query on its tables.

    Its views must not read other files: the author of the file would choose a file of this machine.
    """
    connection = connect()
    connection.execute(f"ATTACH {_literal(source.paths[0])} AS file (READ_ONLY)")
    connection.execute("USE file")
    connection.execute("SET enable_external_access = false")
    tables = [row[0] for row in connection.sql("SHOW TABLES").fetchall()]
    return ask(source.name, connection, _query(source, request, tables), queried=True)


def open_sqlite(source: Source, request: Request) -> Columns:
    """Copy a table of an SQLite file, or the answer of SQLite to a query.

    DuckDB's own reader of SQLite would have to be fetched from the network.
    """
    with closing(_connect_sqlite(source.paths[0])) as connection:
        listed = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
        sql = _query(source, request, [row[0] for row in connection.execute(listed)])
        cursor = connection.execute(sql)
        names = [each[0] for each in cursor.description]
        schema = pa.schema(_sqlite_types(source.name, connection, sql, names))
        return copied(source.name, _sqlite_batches(cursor, schema), queried=True)


def _query(source: Source, request: Request, tables: list[str]) -> str:
    """Return the query that is asked, or one for the table that is named, or for the only one."""
    if request.sql is not None:
        return request.sql.strip().rstrip(";")
    table = request.table or tables[0] if tables else ""
    if request.table is not None and request.table not in tables:
        raise unknown(request.table, tables, kind="table")
    if request.table is None and len(tables) != 1:
        raise InputError(
            f"{source.name!r} has {len(tables)} tables: {shown(tables)}.",
            remedy="Name one with 'table'.",
            parameter="table",
        )
    return f"SELECT * FROM {_identifier(table)}"


def _sqlite_batches(cursor: Any, schema: Any) -> Iterator[Any]:
    while rows := cursor.fetchmany(10_000):
        cells = zip(zip(*rows, strict=True), schema.types, strict=True)
        yield pa.record_batch([pa.array(column, kind) for column, kind in cells], schema=schema)


def _connect_sqlite(path: str) -> sqlite3.Connection:
    if path.startswith(OPEN_FILES):  # SQLite cannot open a file without a name
        connection = sqlite3.connect(":memory:")
        with open(path, "rb") as file:
            connection.deserialize(file.read())
        return connection
    uri = f"file:{os.path.abspath(path).replace('?', '%3f').replace('#', '%23')}?mode=ro"
    return sqlite3.connect(uri, uri=True)


def _sqlite_types(name: str, connection: Any, sql: str, names: list[str]) -> Iterator[tuple[str, Any]]:
    """Yield the columns with their types; in SQLite, each cell may have another type."""
    asked = ", ".join(f"group_concat(DISTINCT typeof({_identifier(each)}))" for each in names)
    found = connection.execute(f"SELECT {asked} FROM ({sql}\n)").fetchone()
    known = {(): pa.float64(), ("integer",): pa.int64(), ("real",): pa.float64()}
    known |= {("integer", "real"): pa.float64(), ("text",): pa.string(), ("blob",): pa.binary()}
    for column, text in zip(names, found, strict=True):
        types = tuple(sorted({*(text or "").split(",")} - {"null", ""}))
        if types not in known:
            raise InputError(
                f"{name!r}: column {column!r} mixes {' and '.join(types)}.",
                remedy="Cast it in a query with 'sql'.",
                parameter="sql",
            )
        yield column, known[types]


JSON = Format(
    "json",
    "JSON lines",
    open_json,
    endings=(".jsonl", ".ndjson", ".json"),
    looks=lambda lines: lines[0].lstrip().startswith(("{", "[{", "[ {")),
    several=True,
)
SQLITE = Format(
    "sqlite", "SQLite", open_sqlite, magic=((0, b"SQLite format 3\0"),), options=(*NAMED, "table")
)
DUCKDB = Format("duckdb", "DuckDB", open_duckdb, magic=((8, b"DUCK"),), options=(*NAMED, "table"))
