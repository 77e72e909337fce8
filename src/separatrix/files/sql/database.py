"""DuckDB: queries on a table, and explanations of its errors."""

from __future__ import annotations

import itertools
import re
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError, SeparatrixError
from ..arrow import as_numpy, duckdb, pa
from ..batches import MOST_ROWS
from ..encoding import need_distinct
from ..named_columns import Columns

# An option for files: the names of their folders are not columns.
NO_PARTITIONS = "hive_partitioning = false"
_ROW = "separatrix row"  # the name of a column that is added to batches
# Parts of a query that give other rows if it is asked again; texts and comments are removed first.
_CHANCE = re.compile(
    r"\b(?:random|uuid(?:v\d)?|gen_random_uuid|nextval)\s*\(|\b(?:using\s+sample|tablesample)\b"
    r"(?!.*\brepeatable\b)",
    re.IGNORECASE | re.DOTALL,
)
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)


def answer(columns: Columns, sql: str) -> Columns:
    """Return the answer of a query in which a table that DuckDB can read is called ``data``."""
    connection = connect()
    with explaining(columns.name):
        connection.execute(f"CREATE VIEW data AS FROM {columns.relation}")
    return replace(ask(columns.name, connection, sql), keep=columns, lines=None)


def ask(name: str, connection: Any, sql: str, **known: Any) -> Columns:
    """Return the columns of the answer of a query, which is asked again for each reading."""
    refuse_chance(sql, "sql")
    relation = f"({sql.strip().rstrip(';')}\n)"  # the query may end with a comment
    return relation_columns(name, connection, relation, ordered=False, **known)


def relation_columns(name: str, connection: Any, table: str, *, use: str = "", **known: Any) -> Columns:
    """Return the columns of the SQL after FROM; ``use`` is the attached file that is queried."""

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
    return Columns(name, types, read, **known)


def choose(name: str, batches: Iterator[Any], where: str) -> tuple[NDArray[np.int64], int]:
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
    query = f"SELECT {identifier(_ROW)} FROM data WHERE ({where}\n)"
    found = [as_numpy(batch.column(0)) for batch in _stream(name, connection, query, MOST_ROWS)]
    for _ in every:  # DuckDB does not read rows if no row can be chosen
        pass
    return np.concatenate([np.empty(0, np.int64), *found]), total


def _cursor(connection: Any, use: str) -> Any:
    """Return a new connection for a query; it does not inherit which file is in use."""
    cursor = connection.cursor()
    if use:
        cursor.execute(f"USE {use}")
    return cursor


def _stream(name: str, connection: Any, query: str, rows: int) -> Iterator[Any]:
    """Yield the answer of a query as Arrow batches, in order."""
    with explaining(name):
        found = connection.sql(query)
        # The name before DuckDB 1.5 is deprecated after it.
        reader = getattr(found, "to_arrow_reader", None) or found.fetch_arrow_reader
        yield from reader(rows)


def refuse_chance(sql: str, parameter: str) -> None:
    """Raise an error if a condition or a query draws rows at random: no other command could read them again.

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
            f"{parameter!r} has {found[0]!r}, which gives other rows each time, so that nobody can check the "
            "answer. Choose them by their values, such as hash(x) % 10 = 0 for a tenth of them, or write "
            "the sample to a file first."
        )


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


def identifier(name: str) -> str:
    """Return a column's name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def literals(texts: Sequence[str]) -> str:
    """Return a list of texts in SQL."""
    return "[" + ", ".join(literal(text) for text in texts) + "]"


@contextmanager
def explaining(name: str) -> Iterator[None]:
    """Turn errors of DuckDB, SQLite and Arrow into errors that say what is wrong with a file."""
    try:
        yield
    except SeparatrixError:
        raise
    except Exception as error:
        # Errors in a stream of DuckDB come through Arrow, as errors of input and output.
        duckdb: Any = sys.modules.get("duckdb")
        pa: Any = sys.modules.get("pyarrow")
        theirs = (*((duckdb.Error,) if duckdb else ()), *((pa.ArrowException,) if pa else ()))
        # DuckDB before 1.5 raises these for damaged Parquet files.
        thrift = any(word in str(error) for word in ("TProtocolException", "don't know what type"))
        if thrift or isinstance(error, (sqlite3.Error, OSError, UnicodeError, *theirs)):
            raise explained(name, str(error)) from error
        raise


def explained(name: str, message: str) -> InputError:
    """Return the error for a message of DuckDB, SQLite or Arrow about a file."""
    message = re.sub(r"\n  file = .*", "", message, flags=re.DOTALL)  # how the file was to be read
    if any(word in message for word in ("unicode", "not utf-8", "invalid UTF8")):
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
    first = re.sub(r"^\w[\w ]* Error: ", "", message.strip().split("\n")[0])
    done = "queried" if re.match("(Binder|Catalog|Parser) Error", message) else "read"
    return InputError(f"{name!r} cannot be {done}: {first[:300]}")
