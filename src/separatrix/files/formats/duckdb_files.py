"""JSON lines and DuckDB files, which DuckDB reads, and SQLite files, which are copied."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from ...errors import InputError
from ..arrow import pa
from ..encoding import shown, unknown
from ..named_columns import Columns
from ..source.detect import Format, Request, Source
from ..source.streams import OPEN_FILES
from ..sql.database import (
    NO_PARTITIONS,
    ask,
    connect,
    explaining,
    identifier,
    literal,
    literals,
    relation_columns,
)
from .parquet import copied


def open_json(source: Source, request: Request) -> Columns:
    """Open JSON lines, one object per row; numbers are kept as they are written, so that none is rounded."""
    connection, files = connect(), f"{literals(source.paths)}, {NO_PARTITIONS}"
    with explaining(source.name):
        # All rows decide the types: if only the first rows did, 0.5 might be read as 0.
        found = connection.sql(f"DESCRIBE FROM read_json({files}, sample_size = -1)").fetchall()
    kinds = {row[0]: row[1].replace('"NULL"', "DOUBLE") for row in found}
    numbers = frozenset(name for name, kind in kinds.items() if _is_number(kind))
    listed = {
        name: kind if request.sql is not None or name not in numbers else "VARCHAR"
        for name, kind in kinds.items()
    }
    columns = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in listed.items())
    relation = f"read_json({files}, columns = {{{columns}}})"
    untyped = numbers if request.sql is None else frozenset[str]()
    return relation_columns(
        source.name, connection, relation, untyped=untyped, relation=relation, keep=source
    )


def _is_number(kind: str) -> bool:
    return kind in ("DOUBLE", "FLOAT") or kind.startswith("DECIMAL") or kind.endswith(("INT", "INTEGER"))


def open_duckdb(source: Source, request: Request) -> Columns:
    """Open a table of a DuckDB file, or the answer of a query on its tables.

    Its views must not read other files: the author of the file would choose a file of this machine.
    """
    connection = connect()
    with explaining(source.name):
        connection.execute(f"ATTACH {literal(source.paths[0])} AS file (READ_ONLY)")
        connection.execute("USE file")
        connection.execute("SET enable_external_access = false")
        tables = [row[0] for row in connection.sql("SHOW TABLES").fetchall()]
        views = [row[0] for row in connection.sql("SELECT view_name FROM duckdb_views()").fetchall()]
    if request.sql is not None:
        return ask(source.name, connection, request.sql, use="file", queried=True, keep=source)
    table = _one_table(source, request.table, tables)
    known: dict[str, Any] = {"queried": True, "keep": source, "ordered": table not in views}
    return relation_columns(source.name, connection, identifier(table), use="file", **known)


def open_sqlite(source: Source, request: Request) -> Columns:
    """Copy a table of an SQLite file, or the answer of SQLite to a query.

    DuckDB's own reader of SQLite would have to be fetched from the network.
    """
    connect()  # raises an error now if DuckDB is not installed
    with explaining(source.name), closing(_connect_sqlite(source.paths[0])) as connection:
        sql = request.sql
        if sql is None:
            listed = (
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
            )
            tables = [row[0] for row in connection.execute(listed)]
            sql = f"SELECT * FROM {identifier(_one_table(source, request.table, tables))}"
        cursor = connection.execute(sql)
        names = [each[0] for each in cursor.description]
        types = list(zip(names, _sqlite_types(source.name, connection, sql, names), strict=True))
        return copied(source.name, types, _sqlite_batches(cursor, types), keep=source, queried=True)


def _one_table(source: Source, table: str | None, tables: list[str]) -> str:
    if table is not None:
        if table not in tables:
            raise unknown(table, tables, kind="table")
        return table
    if len(tables) == 1:
        return tables[0]
    raise InputError(
        f"{source.name!r} has {len(tables)} tables: {shown(tables)}.",
        remedy="Name one with 'table'.",
        parameter="table",
    )


def _sqlite_batches(cursor: Any, types: list[tuple[str, Any]]) -> Iterator[Any]:
    while rows := cursor.fetchmany(10_000):
        cells = zip(zip(*rows, strict=True), types, strict=True)
        yield pa.record_batch(
            [pa.array(column, kind) for column, (_, kind) in cells], schema=pa.schema(types)
        )


def _connect_sqlite(path: str) -> sqlite3.Connection:
    if path.startswith(OPEN_FILES):  # SQLite cannot open a file without a name
        connection = sqlite3.connect(":memory:")
        with open(path, "rb") as file:
            connection.deserialize(file.read())
        return connection
    uri = f"file:{os.path.abspath(path).replace('?', '%3f').replace('#', '%23')}?mode=ro"
    return sqlite3.connect(uri, uri=True)


def _sqlite_types(name: str, connection: Any, sql: str, names: list[str]) -> list[Any]:
    """Return one type per column; in SQLite, each cell may have another type."""
    asked = ", ".join(f"group_concat(DISTINCT typeof({identifier(each)}))" for each in names)
    found = connection.execute(f"SELECT {asked} FROM ({sql.strip().rstrip(';')}\n)").fetchone()
    known = {(): pa.float64(), ("integer",): pa.int64(), ("real",): pa.float64()}
    known |= {("integer", "real"): pa.float64(), ("text",): pa.string(), ("blob",): pa.binary()}
    kinds = []
    for column, text in zip(names, found, strict=True):
        types = tuple(sorted({*(text or "").split(",")} - {"null", ""}))
        if types not in known:
            raise InputError(
                f"{name!r}: column {column!r} mixes {' and '.join(types)}.",
                remedy="Cast it in a query with 'sql'.",
                parameter="sql",
            )
        kinds.append(known[types])
    return kinds


JSON = Format(
    "json",
    "JSON lines",
    open_json,
    endings=(".jsonl", ".ndjson", ".json"),
    looks=lambda lines: lines[0].lstrip().startswith(("{", "[{", "[ {")),
    several=True,
)
SQLITE = Format("sqlite", "SQLite", open_sqlite, magic=((0, b"SQLite format 3\0"),))
DUCKDB = Format("duckdb", "DuckDB", open_duckdb, magic=((8, b"DUCK"),))
