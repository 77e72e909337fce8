"""DuckDB: one table that it can read, queries on it, and its errors in words that say what to do."""

from __future__ import annotations

import re
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any

from ...errors import InputError, SeparatrixError, needs
from ..encoding import MAX_LEVELS
from ..row_places import Lines
from ..source.streams import Growing

FLOATS = ("DOUBLE", "FLOAT")
# Of files: the names of their folders are no columns.
AS_IT_STANDS = "hive_partitioning = false"
# Whole numbers of these types may be too large for float64, where all up to this one are exact.
WIDE_KINDS, LARGEST_WHOLE = ("BIGINT", "UBIGINT", "HUGEINT", "UHUGEINT"), 2.0**53 - 1.0


FEWEST = 10  # rows from which on a column that counts them, or names nearly all of them, is no accident
NEARLY = 0.9  # a text column with more levels than this share of the rows names them
FEW = 3  # rows from which on a text column without any repetition names them
# What gives other rows when it is asked again, in a query without its literals, quoted names and comments.
_CHANCE = re.compile(
    r"\b(?:random|uuid(?:v\d)?|gen_random_uuid|nextval)\s*\(|\b(?:using\s+sample|tablesample)\b"
    r"(?!.*\brepeatable\b)",
    re.IGNORECASE | re.DOTALL,
)
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)


class CellError(InputError):
    """A cell of a CSV file is no number, though the first ones of its column are."""


class LayoutError(CellError):
    """Where the lines or cells of a CSV file end is not clear to DuckDB."""


@dataclass(frozen=True)
class Levels:
    """The first levels of a column of text with their rows, how many there are, and how many rows."""

    rows: dict[str, int]
    number: int
    total: int

    @property
    def name_the_rows(self) -> bool:
        """Whether each row, or nearly each, has a text of its own: it would be separated by that alone."""
        distinct = self.number == self.total >= FEW
        return distinct or (self.total >= FEWEST and self.number > NEARLY * self.total)


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
    typed : bool
        Whether the file says of what type its columns are; a CSV file does not.
    texts : str
        Where numbers come from text: SQL that stands after FROM and gives the columns as they are written.
    keep : object
        What has to live as long as this, such as the directory of a temporary file.
    stream : Growing or None
        What has to come to its end before a query.
    attached : bool
        Whether the table is in a DuckDB file.
    opened : DuckDBPyConnection or None
        Where files are attached or views made; otherwise a connection is made when it is needed.
    lines : callable or None
        Finds the lines of rows in text files.
    decimal : str or None
        What separates fractions in the columns of plain numbers of a text file, if that is beyond doubt.
    unnamed : tuple of str
        Columns without a name that hold no evidence: row names, and cells behind the last delimiter.
    cells : dict of str to list of str, or None
        The cells of the text columns, where the file is so small that they were read already.
    changed : frozenset of str
        Columns that the relation gives otherwise than they stand in the file.
    first : callable or None
        Gives so many first cells of some columns, where that takes no connection.
    called : str
        What a query calls the table; empty where not DuckDB answers queries.
    counted : dict of str to Levels
        The levels of columns that were counted already.
    """

    name: str
    relation: str
    columns: dict[str, str]
    typed: bool = True
    texts: str = ""
    keep: Any = None
    stream: Growing | None = None
    attached: bool = False
    opened: Any = None
    lines: Lines | None = None
    decimal: str | None = None
    unnamed: tuple[str, ...] = ()
    cells: dict[str, list[str]] | None = None
    changed: frozenset[str] = frozenset()
    first: Callable[[Sequence[str], int], list[list[Any]]] | None = None
    called: str = "data"
    counted: dict[str, Levels] = field(default_factory=dict)

    @cached_property
    def connection(self) -> Any:
        """A connection to DuckDB, which takes as long to make as a million numbers to read."""
        return self.opened or connect()

    def head(self, names: Sequence[str], rows: int) -> list[list[Any]]:
        """The first cells of some columns, as the relation gives them."""
        if not names:
            return []
        if self.first is not None and self.changed.isdisjoint(names):
            return self.first(names, rows)
        found = self.rows(f"SELECT {', '.join(map(identifier, names))} FROM {self.relation} LIMIT {rows}")
        return list(map(list, zip(*found, strict=True))) if found else [[] for _ in names]

    def levels(self, name: str, relation: str = "") -> Levels:
        """The first levels of a column as text, over all rows, or over those of another relation."""
        rows = relation or self.relation
        if rows == self.relation and name in self.counted:
            return self.counted[name]
        if self.cells is not None and rows == self.relation:
            times = Counter(self.cells[name])
            return Levels({level: times[level] for level in sorted(times)}, len(times), times.total())
        level = f"{identifier(name)}::VARCHAR"
        # By numbers: an alias would be taken for a column of that name, if the table has one.
        grouped = f"SELECT {level}, count(*) AS times FROM {rows} GROUP BY 1"
        found = dict(self.rows(f"{grouped} ORDER BY 1 NULLS FIRST LIMIT {MAX_LEVELS + 2}"))
        missing = found.pop(None, 0)
        if len(found) <= MAX_LEVELS:
            levels = Levels(found, len(found), sum(found.values()) + missing)
        else:
            query = f"SELECT count(level), sum(times) FROM ({grouped}) counted(level, times)"
            levels = Levels(found, *map(int, self.rows(query)[0]))
        if rows == self.relation:
            self.counted[name] = levels
        return levels

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """All rows of a small answer."""
        with explaining(self.name):
            cursor = self._cursor()
            found: list[tuple[Any, ...]] = cursor.sql(query).fetchall()
        return found

    def frame(self, query: str) -> Any:
        """The answer as a data frame of pandas'."""
        with explaining(self.name), needs("A data frame", extra="formula"):
            cursor = self._cursor()
            return cursor.sql(query).df()

    def batches(self, query: str, rows: int) -> Iterator[Any]:
        """The answer as a stream of Arrow batches, in order."""
        with explaining(self.name):
            cursor = self._cursor()
            answer = cursor.sql(query)
            # The name before DuckDB 1.5 is deprecated after it.
            reader = getattr(answer, "to_arrow_reader", None) or answer.fetch_arrow_reader
            yield from reader(rows)

    def _cursor(self) -> Any:
        """A connection of its own for each query; it does not inherit which file is in use.

        The caller keeps it until the answer is read: DuckDB before 1.5 closes it with its last reference.
        """
        if self.stream is not None:
            self.stream.wait()
        cursor = self.connection.cursor()
        if self.attached:
            cursor.execute("USE file")
        return cursor


def describe(
    name: str,
    relation: str,
    *,
    sql: str | None = None,
    keep: Any = None,
    stream: Growing | None = None,
    attached: bool = False,
    connection: Any = None,
) -> Database:
    """Ask DuckDB what columns a relation has, or the answer of a query in which it is called ``data``."""
    opened = connection or connect()
    with explaining(name):
        if sql is not None:
            refuse_chance(sql, "sql")
            if relation:
                opened.execute(f"CREATE VIEW data AS FROM {relation}")
            relation = f"({sql.strip().rstrip(';')}\n)"  # the query may end with a comment
        found = opened.sql(f"DESCRIBE FROM {relation}").fetchall()
    columns = {row[0]: row[1] for row in found}
    return Database(name, relation, columns, keep=keep, stream=stream, attached=attached, opened=opened)


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


def connect(threads: int | None = None) -> Any:
    """A connection to DuckDB, which never fetches anything from the network; by so many threads, or all."""
    with needs("Reading tables", extra="cli"):
        duckdb, _ = import_module("duckdb"), import_module("pyarrow")
    return duckdb.connect(
        config={
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            # By the ranges in a Parquet file, which leave NaN out, it would conclude that there is none.
            "disabled_optimizers": "statistics_propagation",
            **({} if threads is None else {"threads": str(threads)}),
        }
    )


def is_number(kind: str) -> bool:
    """Whether a DuckDB type is a number."""
    return kind in FLOATS or kind.startswith("DECIMAL") or kind.endswith(("INT", "INTEGER"))


def largest_exact(kind: str) -> float:
    """The largest number of a DuckDB type that is certain to be a float64."""
    return LARGEST_WHOLE if is_wide(kind) else float("inf")


def is_wide(kind: str) -> bool:
    """Whether whole numbers of a DuckDB type may be too large for a float64."""
    return kind in WIDE_KINDS or re.fullmatch(r"DECIMAL\((1[6-9]|[23]\d),0\)", kind) is not None


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
        return CellError(
            f"{where}: column {value[1]!r} holds numbers, but here is {_clipped(value[2])!r}.",
            remedy="Correct the cell, name it as missing with 'na', or say how it is written with 'decimal'.",
            parameter="decimal" if re.search(r"\d,\d", value[2]) else "na",
        )
    if "unicode" in message or "not utf-8" in message:
        return InputError(
            f"{where}: not UTF-8 text.",
            remedy="Name its encoding, such as text_encoding='latin-1' or 'cp1252'.",
            parameter="text_encoding",
        )
    if "state machine reached an invalid state" in message:
        return LayoutError(
            f"{name!r} cannot be read: its lines end in different ways (carriage return, newline, or both), "
            "or a quotation mark stands alone. End all lines alike, for example with dos2unix."
        )
    if "Maximum line size" in message:
        return InputError(f"{where}: a line of more than two million characters. This is no table.")
    if "quote" in message and line:
        return LayoutError(f"{where}: a quotation mark inside a cell. Double it, or put it right.")
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
