"""Files as tables of DuckDB: what columns they have, and queries on them in streams of Arrow batches."""

from __future__ import annotations

import os
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..errors import InputError, SeparatrixError
from .encoding import need_column, shown
from .sources import Dialect, Source, Spool, find_dialect, is_number_text, sample_cells

# Cells of a CSV file that say that a value is missing.
MISSING = ("", "NA", "NaN", "nan", "N/A", "NULL", "null", "?")
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([T ]\d{1,2}:\d{2}.*)?$")
SPOOLED_ROWS = 10_000
_ARROW_KINDS = {
    "bool": "BOOLEAN",
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
    "string": "VARCHAR",
}


@dataclass(frozen=True, eq=False)
class Database:
    """One table that DuckDB can read.

    Attributes
    ----------
    name : str
        What the user called the table, for messages.
    relation : str
        SQL that stands after FROM.
    columns : dict of str to str
        The DuckDB type of each column.
    source : Source or None
        The files, where all of them are the table.
    dialect : Dialect or None
        Of a CSV file.
    keep : object
        What has to live as long as this.
    attached : bool
        Whether the table is in a DuckDB file.
    opened : DuckDBPyConnection or None
        Where files are attached or views made; otherwise a connection is made when it is needed.
    """

    name: str
    relation: str
    columns: dict[str, str]
    source: Source | None = None
    dialect: Dialect | None = None
    keep: Any = None
    attached: bool = False
    opened: Any = None

    @cached_property
    def connection(self) -> Any:
        """A connection to DuckDB, which takes as long to make as a million numbers to read."""
        return self.opened or _connect()

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """All rows of a small answer."""
        with explaining(self.name):
            found: list[tuple[Any, ...]] = self._cursor().sql(query).fetchall()
        return found

    def batches(self, query: str, rows: int) -> Iterator[Any]:
        """The answer as a stream of Arrow batches, in order."""
        with explaining(self.name):
            yield from self._cursor().sql(query).to_arrow_reader(rows)

    def _cursor(self) -> Any:
        """A connection of its own for each query; it does not inherit which file is in use."""
        if isinstance(self.keep, Source):
            self.keep.wait()
        cursor = self.connection.cursor()
        if self.attached:
            cursor.execute("USE file")
        return cursor


def open_database(source: Source | None, *, sql: str | None, table: str | None) -> Database:
    """Bring one table in sight: a file, a table of a database file, or the answer of a query.

    In a query the file is called ``data``; those of a database file have their own names.
    """
    if table is not None and (source is None or source.kind not in ("sqlite", "duckdb")):
        raise InputError("'table' is for SQLite and DuckDB files; other files are one table.")
    if table is not None and sql is not None:
        raise InputError("'table' and 'sql' cannot be combined: name the table in the query.")
    name = "The query" if source is None else source.name
    if source is not None and source.kind == "parquet" and sql is None:
        columns = _parquet_columns(source)
        if columns is not None:
            return Database(name, _relation(source), columns, source, keep=source)
    if source is not None and source.kind == "csv" and sql is None:
        dialect = _csv_dialect(source)
        columns = _csv_columns(source, dialect)
        return Database(name, _csv_relation(source, dialect, columns), columns, source, dialect, source)
    connection, keep = _connect(), source
    whole = source if sql is None else None
    attached = source is not None and source.kind == "duckdb"
    with explaining(name):
        if source is None:
            relation = ""
        elif source.kind == "csv":
            dialect = _csv_dialect(source)
            relation = _csv_relation(source, dialect, _csv_columns(source, dialect))
        elif source.kind == "duckdb":
            relation = _duckdb_relation(connection, source, table, queried=sql is not None)
        elif source.kind == "sqlite":
            relation, keep = _sqlite_relation(source, table, sql)
            sql = None
        else:
            relation = _relation(source)
        if sql is not None:
            if relation:
                connection.execute(f"CREATE VIEW data AS FROM {relation}")
            relation = f"({sql.strip().rstrip(';')})"
        found = connection.sql(f"DESCRIBE FROM {relation}").fetchall()
    columns = {row[0]: row[1] for row in found}
    return Database(name, relation, columns, whole, None, keep, attached, connection)


def identifier(name: str) -> str:
    """A column's name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


class explaining:
    """Turn DuckDB's errors into ones that say what to do."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        import duckdb

        # Errors in a stream come through Arrow, as errors of input and output.
        if isinstance(error, duckdb.Error | sqlite3.Error | OSError) and not isinstance(
            error, SeparatrixError
        ):
            raise _explained(self.name, str(error)) from error


def _explained(name: str, message: str) -> InputError:
    line = re.search(r"CSV Error on Line: (\d+)", message)
    where = f"{name!r}, line {int(line[1]):,}" if line else f"{name!r}"
    cells = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
    if cells:
        # DuckDB stops counting at the first cell that is too many.
        found = "more" if int(cells[2]) > int(cells[1]) else f"only {cells[2]}"
        return InputError(f"{where}: {found} cells where the first line has {cells[1]}. Correct the line.")
    value = re.search(
        r'Error when converting column "(.*?)". Could not convert string "(.*?)" to', message, re.S
    )
    if value:
        return InputError(
            f"{where}: column {value[1]!r} holds numbers, but here is {value[2]!r}. Correct the cell, or "
            "leave the column out with 'exclude'."
        )
    if "unicode" in message or "not utf-8" in message:
        return InputError(f"{where}: not UTF-8 text. Convert the file first, for example with iconv.")
    if "quote" in message and line:
        return InputError(f"{where}: a quotation mark inside a cell. Double it, or put it right.")
    if "Maximum line size" in message:
        return InputError(f"{where}: a line of more than two million characters. This is no table.")
    first = re.sub(r"^\w[\w ]* Error: ", "", message.strip().split("\n")[0])
    return InputError(f"{name!r} cannot be read: {first}")


def _connect() -> Any:
    try:
        import duckdb
        import pyarrow as pa  # noqa: F401
    except ImportError as error:
        raise InputError("Reading tables needs DuckDB and PyArrow: pip install 'separatrix[cli]'.") from error
    # Nothing is ever fetched from the network.
    return duckdb.connect(
        config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    )


def _parquet_columns(source: Source) -> dict[str, str] | None:
    """The columns of a plain file in DuckDB's words, without asking DuckDB; None for any other file."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        return None  # whoever connects says what to install
    try:
        schemas = [pq.read_schema(path) for path in source.paths]
    except (OSError, pa.ArrowException):
        return None  # DuckDB knows better, or what is wrong
    first = schemas[0]
    for path, schema in zip(source.paths, schemas, strict=True):
        for field in first:
            other = schema.field(field.name).type if field.name in schema.names else None
            if other is None or pa.types.is_string(other) != pa.types.is_string(field.type):
                found = "does not have it" if other is None else f"has {other}"
                raise InputError(
                    f"Column {field.name!r} is {field.type} in {source.paths[0]!r}, but {path!r} {found}. "
                    "Files that are read together need the same columns."
                )
    kinds = {
        name: _ARROW_KINDS.get(str(kind), "") for name, kind in zip(first.names, first.types, strict=True)
    }
    return kinds if all(kinds.values()) and len(kinds) == len(first.names) else None


def _relation(source: Source) -> str:
    return f"read_{source.kind}({_literals(source.paths)})"


def _literals(paths: Sequence[str]) -> str:
    return "[" + ", ".join(literal(path) for path in paths) + "]"


def _csv_dialect(source: Source) -> Dialect:
    dialect = find_dialect(source.paths[0], source.compression)
    for path in source.paths[1:]:
        if find_dialect(path, source.compression) != dialect:
            raise InputError(f"{path!r} does not have the columns of {source.paths[0]!r}.")
    return dialect


def _csv_columns(source: Source, dialect: Dialect) -> dict[str, str]:
    """The columns of a CSV file, which are of numbers, dates or text: the first rows tell."""
    cells = sample_cells(source.paths[0], source.compression, dialect)
    return {name: _csv_kind(Counter(column)) for name, column in cells.items()}


def _csv_kind(cells: Counter[str]) -> str:
    """The type of a column; where most cells are numbers, one that is not is an error of the file."""
    given = {cell: times for cell, times in cells.items() if cell not in MISSING}
    if 2 * sum(times for cell, times in given.items() if is_number_text(cell)) >= sum(given.values()):
        return "DOUBLE"
    return "TIMESTAMP" if all(_DATE.match(cell) for cell in given) else "VARCHAR"


def _csv_relation(source: Source, dialect: Dialect, kinds: dict[str, str]) -> str:
    columns = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in kinds.items())
    return (
        f"read_csv({_literals(source.paths)}, auto_detect = false, columns = {{{columns}}}, "
        f"delim = {literal(dialect.delimiter)}, header = {str(dialect.header).lower()}, quote = '\"', "
        f"escape = '\"', nullstr = {_literals(MISSING)}, compression = {literal(source.compression)})"
    )


def _duckdb_relation(connection: Any, source: Source, table: str | None, *, queried: bool) -> str:
    connection.execute(f"ATTACH {literal(source.paths[0])} AS file (READ_ONLY)")
    connection.execute("USE file")
    tables = [row[0] for row in connection.sql("SHOW TABLES").fetchall()]
    return "" if queried else identifier(_one_table(source, table, tables))


def _one_table(source: Source, table: str | None, tables: list[str]) -> str:
    if table is not None:
        need_column(table, tables, kind="table")
        return table
    if len(tables) == 1:
        return tables[0]
    raise InputError(f"{source.name!r} has {len(tables)} tables; name one with 'table': {shown(tables)}.")


def _sqlite_relation(source: Source, table: str | None, sql: str | None) -> tuple[str, Any]:
    """Copy what is asked for into a Parquet file: DuckDB's own reader of SQLite would have to be fetched."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    uri = f"file:{os.path.abspath(source.paths[0]).replace('?', '%3f').replace('#', '%23')}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        if sql is None:
            listed = (
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
            )
            tables = [row[0] for row in connection.execute(listed)]
            sql = f"SELECT * FROM {identifier(_one_table(source, table, tables))}"
        cursor = connection.execute(sql)
        names = [each[0] for each in cursor.description]
        kinds = _sqlite_kinds(source.name, connection, sql, names)
        schema = pa.schema(list(zip(names, kinds, strict=True)))
        spool = Spool()
        path = os.path.join(spool.path, "table.parquet")
        with pq.ParquetWriter(path, schema) as writer:
            while rows := cursor.fetchmany(SPOOLED_ROWS):
                columns = [
                    pa.array(column, kind)
                    for column, kind in zip(zip(*rows, strict=True), kinds, strict=True)
                ]
                writer.write_batch(pa.record_batch(columns, schema=schema))
    return f"read_parquet({_literals([path])})", spool


def _sqlite_kinds(name: str, connection: Any, sql: str, names: list[str]) -> list[Any]:
    """One type a column: SQLite lets every cell have its own."""
    import pyarrow as pa

    asked = ", ".join(f"group_concat(DISTINCT typeof({identifier(each)}))" for each in names)
    found = connection.execute(f"SELECT {asked} FROM ({sql.strip().rstrip(';')})").fetchone()
    kinds = []
    for column, text in zip(names, found, strict=True):
        types = set((text or "").split(",")) - {"null", ""}
        if types <= {"integer"}:
            kinds.append(pa.int64() if types else pa.float64())
        elif types <= {"integer", "real"}:
            kinds.append(pa.float64())
        elif types == {"text"}:
            kinds.append(pa.string())
        else:
            raise InputError(
                f"{name!r}: column {column!r} mixes {' and '.join(sorted(types))}. Cast it in a query "
                "with 'sql'."
            )
    return kinds
