"""DuckDB: one table that it can read, queries on it, and its errors in words that say what to do."""

from __future__ import annotations

import itertools
import re
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import Any

from ...errors import InputError, SeparatrixError, needs
from ..columns import Columns, duration_notes
from ..encoding import need_distinct

# Of files: the names of their folders are no columns.
AS_IT_STANDS = "hive_partitioning = false"
# What gives other rows when it is asked again, in a query without its literals, quoted names and comments.
_CHANCE = re.compile(
    r"\b(?:random|uuid(?:v\d)?|gen_random_uuid|nextval)\s*\(|\b(?:using\s+sample|tablesample)\b"
    r"(?!.*\brepeatable\b)",
    re.IGNORECASE | re.DOTALL,
)
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)


def answer(columns: Columns, sql: str) -> Columns:
    """The answer of a query in which a table that DuckDB can read is called ``data``."""
    connection = connect()
    with explaining(columns.name):
        connection.execute(f"CREATE VIEW data AS FROM {columns.relation}")
    return replace(ask(columns.name, connection, sql), keep=columns, lines=None)


def ask(name: str, connection: Any, sql: str, **known: Any) -> Columns:
    """The columns of the answer of a query, which is asked again for each reading."""
    refuse_chance(sql, "sql")
    relation = f"({sql.strip().rstrip(';')}\n)"  # the query may end with a comment
    return relation_columns(name, connection, relation, **known)


def relation_columns(name: str, connection: Any, table: str, *, use: str = "", **known: Any) -> Columns:
    """The columns of what stands after FROM; ``use`` is the attached file whose tables have plain names."""

    def read(names: Sequence[str], rows: int, start: int) -> Iterator[Any]:
        listed = ", ".join(map(identifier, names)) or "NULL"
        query = f"SELECT {listed} FROM {table}" + (f" OFFSET {start}" if start else "")
        return _stream(name, _cursor(connection, use), query, rows)

    with explaining(name):
        cursor = _cursor(connection, use)
        schema = cursor.sql(f"FROM {table} LIMIT 0").to_arrow_table().schema
    types = dict(zip(schema.names, schema.types, strict=True))
    if len(types) < len(schema.names):
        need_distinct(name, schema.names)
    return Columns(name, types, read, notes=duration_notes(types), **known)


def choose(name: str, batches: Iterator[Any], where: str, names: Sequence[str], rows: int) -> Iterator[Any]:
    """Those rows of batches that a condition in SQL holds for."""
    import pyarrow as pa

    first = next(batches, None)
    if first is None:
        return
    connection, chained = connect(), itertools.chain([first], batches)
    connection.register("data", pa.RecordBatchReader.from_batches(first.schema, chained))
    listed = ", ".join(map(identifier, names))
    yield from _stream(name, connection, f"SELECT {listed} FROM data WHERE ({where}\n)", rows)


def _cursor(connection: Any, use: str) -> Any:
    """A connection of its own for each query; it does not inherit which file is in use."""
    cursor = connection.cursor()
    if use:
        cursor.execute(f"USE {use}")
    return cursor


def _stream(name: str, connection: Any, query: str, rows: int) -> Iterator[Any]:
    """The answer of a query as Arrow batches, in order."""
    with explaining(name):
        found = connection.sql(query)
        # The name before DuckDB 1.5 is deprecated after it.
        reader = getattr(found, "to_arrow_reader", None) or found.fetch_arrow_reader
        yield from reader(rows)


def refuse_chance(sql: str, parameter: str) -> None:
    """Raise where a condition or a query draws rows by chance: those read first would not be those read next.

    Examples
    --------
    >>> refuse_chance("name = 'random()'", "where")
    >>> refuse_chance("random() < 0.1", "where")
    Traceback (most recent call last):
    separatrix.errors.InputError: 'where' has 'random(', which gives other rows each time...
    """
    found = _CHANCE.search(_QUOTED.sub(" ", sql))
    if found is not None:
        raise InputError(
            f"{parameter!r} has {found[0]!r}, which gives other rows each time, and rows are read more than "
            "once. Choose them by what they hold, such as hash(x) % 10 = 0 for a tenth of them, or write "
            "the sample to a file first."
        )


def connect() -> Any:
    """A connection to DuckDB, which never fetches anything from the network."""
    with needs("Reading tables", extra="cli"):
        duckdb, _ = import_module("duckdb"), import_module("pyarrow")
    return duckdb.connect(
        config={
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            # By the ranges in a Parquet file, which leave NaN out, it would conclude that there is none.
            "disabled_optimizers": "statistics_propagation",
        }
    )


def identifier(name: str) -> str:
    """A column's name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def plain_identifier(name: str) -> str:
    """A column's name in SQL that a person is to write: quoted only if it has to be.

    Examples
    --------
    >>> plain_identifier("born"), plain_identifier("when"), plain_identifier("day of birth")
    ('born', '"when"', '"day of birth"')
    """
    if re.fullmatch(r"[a-z_][a-z0-9_]*", name, re.IGNORECASE) is None:
        return identifier(name)
    asked = f"SELECT count(*) FROM duckdb_keywords() WHERE keyword_name = {literal(name.lower())}"
    with connect() as asking:  # a relation needs it open
        taken = asking.sql(f"{asked} AND keyword_category = 'reserved'").fetchall()[0][0]
    return identifier(name) if taken else name


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def literals(texts: Sequence[str]) -> str:
    """A list of texts in SQL."""
    return "[" + ", ".join(literal(text) for text in texts) + "]"


@contextmanager
def explaining(name: str) -> Iterator[None]:
    """Say what is wrong with a file in words of our own, where DuckDB, SQLite or Arrow cannot read it."""
    try:
        yield
    except SeparatrixError:
        raise
    except Exception as error:
        # Errors in a stream of DuckDB's come through Arrow, as errors of input and output.
        duckdb: Any = sys.modules.get("duckdb")
        pa: Any = sys.modules.get("pyarrow")
        theirs = (*((duckdb.Error,) if duckdb else ()), *((pa.ArrowException,) if pa else ()))
        # Of damaged Parquet files, DuckDB before 1.5.
        thrift = any(word in str(error) for word in ("TProtocolException", "don't know what type"))
        if thrift or isinstance(error, (sqlite3.Error, OSError, UnicodeError, *theirs)):
            raise explained(name, str(error)) from error
        raise


def explained(name: str, message: str) -> InputError:
    """What a message of DuckDB, SQLite or Arrow about a file means."""
    message = re.sub(r"\n  file = .*", "", message, flags=re.DOTALL)  # how the file was to be read
    if "unicode" in message or "not utf-8" in message:
        return InputError(
            f"{name!r}: not UTF-8 text.",
            remedy="Name its encoding, such as text_encoding='latin-1' or 'cp1252'.",
            parameter="text_encoding",
        )
    if "disabled by configuration" in message:
        return InputError(
            f"{name!r} cannot be read: the view or query reads other files than the database, which is not "
            "allowed. Name a table that holds its rows."
        )
    first = _clipped(re.sub(r"^\w[\w ]* Error: ", "", message.strip().split("\n")[0]), 300)
    return InputError(f"{name!r} cannot be read: {first}")


def _clipped(text: str, most: int = 40) -> str:
    """The beginning of a text, for a message: a cell may have millions of characters."""
    return text if len(text) <= most else f"{text[: most - 4]} ..."
