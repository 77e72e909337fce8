"""Files that DuckDB reads by itself: JSON lines and its own; and those of SQLite, through a copy."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import Any

from ...errors import InputError
from ..encoding import shown, unknown
from ..source.detect import Format, Request, Source
from ..source.unnamed_files import OPEN_FILES, Spool
from ..sql.database import AS_IT_STANDS, connect, describe, explaining, identifier, literal, literals
from ..sql.query import Query, ask

SPOOLED_ROWS = 10_000


def open_json(source: Source, request: Request) -> Query:
    """JSON lines: one object a row. All rows tell the types: by those of the first, 0.5 may be read as 0."""
    found = describe(source.name, f"read_json({literals(source.paths)}, {AS_IT_STANDS}, sample_size = -1)")
    nothing = {name: "DOUBLE" for name, kind in found.columns.items() if kind == '"NULL"'}
    found = replace(found, columns=found.columns | nothing)
    relation = _json_relation(source, found.columns)
    if request.sql is not None:
        return ask(describe(source.name, relation, sql=request.sql, keep=source), request)
    texts = _json_relation(source, dict.fromkeys(found.columns, "VARCHAR"))
    return ask(replace(found, relation=relation, texts=texts, keep=source), request)


def _json_relation(source: Source, kinds: dict[str, str]) -> str:
    columns = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in kinds.items())
    return f"read_json({literals(source.paths)}, {AS_IT_STANDS}, columns = {{{columns}}})"


def open_duckdb(source: Source, request: Request) -> Query:
    """A table of a DuckDB file, or the answer of a query on its tables.

    Its views may read no other file: whoever made it would choose which file of this machine that is.
    """
    _refuse_table_and_sql(request)
    connection, relation = connect(), ""
    with explaining(source.name):
        connection.execute(f"ATTACH {literal(source.paths[0])} AS file (READ_ONLY)")
        connection.execute("USE file")
        connection.execute("SET enable_external_access = false")
        tables = [row[0] for row in connection.sql("SHOW TABLES").fetchall()]
    if request.sql is None:
        relation = identifier(_one_table(source, request.table, tables))
    found = describe(
        source.name, relation, sql=request.sql, keep=source, attached=True, connection=connection
    )
    return ask(replace(found, called=relation), replace(request, table=None))


def open_sqlite(source: Source, request: Request) -> Query:
    """A table of an SQLite file, or the answer of a query, which SQLite itself gives."""
    _refuse_table_and_sql(request)
    connect()  # whatever has to be installed is named before the table is copied
    with explaining(source.name):
        path, spool = _copy_sqlite(source, request)
    found = describe(source.name, f"read_parquet({literals([path])})", keep=spool)
    return ask(replace(found, called=""), replace(request, table=None))


def _refuse_table_and_sql(request: Request) -> None:
    if request.table is not None and request.sql is not None:
        raise InputError(
            "'table' and 'sql' cannot be combined: name the table in the query.", parameter="table"
        )


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


def _copy_sqlite(source: Source, request: Request) -> tuple[str, Spool]:
    """Copy what is asked for into a Parquet file: DuckDB's own reader of SQLite would have to be fetched."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with closing(_connect_sqlite(source.paths[0])) as connection:
        sql = request.sql
        if sql is None:
            listed = (
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
            )
            tables = [row[0] for row in connection.execute(listed)]
            sql = f"SELECT * FROM {identifier(_one_table(source, request.table, tables))}"
        cursor = connection.execute(sql)
        names = [each[0] for each in cursor.description]
        kinds = _sqlite_kinds(source.name, connection, sql, names)
        schema = pa.schema(list(zip(names, kinds, strict=True)))
        spool = Spool()
        path = spool.new(".parquet")
        with pq.ParquetWriter(path, schema) as writer:
            while rows := cursor.fetchmany(SPOOLED_ROWS):
                columns = [
                    pa.array(column, kind)
                    for column, kind in zip(zip(*rows, strict=True), kinds, strict=True)
                ]
                writer.write_batch(pa.record_batch(columns, schema=schema))
    return path, spool


def _connect_sqlite(path: str) -> sqlite3.Connection:
    if path.startswith(OPEN_FILES):  # SQLite opens no file that has no name
        connection = sqlite3.connect(":memory:")
        with open(path, "rb") as file:
            connection.deserialize(file.read())
        return connection
    uri = f"file:{os.path.abspath(path).replace('?', '%3f').replace('#', '%23')}?mode=ro"
    return sqlite3.connect(uri, uri=True)


def _sqlite_kinds(name: str, connection: Any, sql: str, names: list[str]) -> list[Any]:
    """One type a column: SQLite lets every cell have its own."""
    import pyarrow as pa

    asked = ", ".join(f"group_concat(DISTINCT typeof({identifier(each)}))" for each in names)
    found = connection.execute(f"SELECT {asked} FROM ({sql.strip().rstrip(';')}\n)").fetchone()
    kinds = []
    for column, text in zip(names, found, strict=True):
        types = set((text or "").split(",")) - {"null", ""}
        if types <= {"integer"}:
            kinds.append(pa.int64() if types else pa.float64())
        elif types <= {"integer", "real"}:
            kinds.append(pa.float64())
        elif types == {"text"}:
            kinds.append(pa.string())
        elif types == {"blob"}:
            kinds.append(pa.binary())
        else:
            raise InputError(
                f"{name!r}: column {column!r} mixes {' and '.join(sorted(types))}.",
                remedy="Cast it in a query with 'sql'.",
                parameter="sql",
            )
    return kinds


JSON = Format(
    "json",
    "JSON lines",
    open_json,
    endings=(".jsonl", ".ndjson", ".json"),
    looks=lambda lines: lines[0].lstrip().startswith(("{", "[{", "[ {")),
    several=True,
    unpacks=("gzip", "zstd"),
)
SQLITE = Format("sqlite", "SQLite", open_sqlite, magic=((0, b"SQLite format 3\0"),))
DUCKDB = Format("duckdb", "DuckDB", open_duckdb, magic=((8, b"DUCK"),))
