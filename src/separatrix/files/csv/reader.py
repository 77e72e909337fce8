"""CSV files: compiled code reads plain numbers, Python small files, DuckDB all else.

What a column holds all of its rows decide. The first rows only tell who may read it: a reader that meets a
cell that is not plain gives up, and the general one reads the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ..batches import Batch
from ..cleaning import REMEDY, clean, code_note, first_other, numeric, readings_told
from ..encoding import Column, Encoding, choose_columns
from ..identifiers import counts_to_its_end, left_out
from ..row_places import Lines, placed
from ..source.detect import Format, OtherMeaningError, Request, Source
from ..sql.database import AS_IT_STANDS, Database, LayoutError, describe, is_number, literal, literals
from ..sql.query import Query, ask
from .header import MISSING, Dialect, Sampled, find_dialect, sample
from .line_ends import with_one_end, without_names
from .lines import find_lines
from .plain_numbers import NotPlain, counts_up, find_labels, read_numbers
from .small_files import SmallTable, read_small


def open_csv(source: Source, request: Request) -> Query | CsvReader:
    """One CSV file, or several as one table."""
    dialect = find_dialect(source.paths[0], source.compression)
    for path in source.paths[1:]:
        if find_dialect(path, source.compression) != dialect:
            raise InputError(f"{path!r} does not have the columns of {source.paths[0]!r}.")
    if not (dialect.header or dialect.commented or request.sql is not None):
        _need_header(source, dialect, request)
    lines = partial(find_lines, source, dialect)
    if dialect.lines > 1:
        source = without_names(source, dialect.skip + dialect.lines)
        dialect = replace(dialect, header=False, skip=0, lines=0)
    sampled, small = sample(source, dialect, request), None
    if sampled.content is not None:
        small = read_small(sampled.content, dialect, sampled.plain, MISSING)
    file = CsvFile(source, request, dialect, sampled, small, lines)
    found = file.plain_encoding()
    if found is not None:
        encoding, notes = found
        return CsvReader(file, encoding, request.target, *_quick_readers(file, encoding), notes=notes)
    query = file.ask(by_duckdb=request.sql is not None)
    if request.sql is not None:
        return query
    database, target = query.database, request.target
    if small is not None:
        other = target in database.changed  # numbers among marks that say that there is none
    else:
        other = target is not None and not is_number(database.columns[target])
    plain, labels = (None, None) if other else _quick_readers(file, query.encoding)
    return CsvReader(file, query.encoding, request.target, plain, labels, query, by_duckdb=small is None)


@dataclass(frozen=True, eq=False)
class CsvFile:
    """A CSV file, what its first rows tell of it, all cells of a ``small`` one, and who finds its lines."""

    source: Source
    request: Request
    dialect: Dialect
    sampled: Sampled
    small: SmallTable | None
    lines: Lines

    def plain_encoding(self) -> tuple[Encoding, list[str]] | None:
        """The encoding of plain numbers, and what to say of it; None if there may be more to it.

        Nothing has to be asked of a database then, until a cell turns out to be something else.
        """
        request, sampled, known = self.request, self.sampled, self.request.encoding
        if not request.columns_only or numeric(request.na):
            return None
        if known is not None and any(column != Column(column.name) for column in known.columns):
            return None
        names = choose_columns(
            self.dialect.names,
            target=request.target,
            features=request.features if known is None else tuple(column.name for column in known.columns),
            exclude=request.exclude if known is None else (),
        )
        if not sampled.plain.issuperset(names if request.target is None else (*names, request.target)):
            return None
        notes = list(self.dialect.notes)
        if known is None and request.features is None:
            if not {*sampled.empty}.isdisjoint(names):
                return None
            try:
                names, found = left_out(names, self.unnamed, self._counting, ())
            except NotPlain:
                return None
            notes += found
        coded = {name: code for name, code in sampled.codes.items() if name in (*names, request.target)}
        notes += self._code_notes(coded)
        return known or Encoding(tuple(map(Column, names)), request.intercept, na=request.na), notes

    @property
    def unnamed(self) -> tuple[str, ...]:
        """The first column, if it has no name: the row names of R and pandas."""
        return self.dialect.names[:1] if self.dialect.names[0] in self.dialect.unnamed else ()

    def ask(self, *, by_duckdb: bool = True) -> Query:
        """Let all rows tell what the columns hold; of a small file, DuckDB need not read them for that."""
        try:
            query = self._ask(self.source)
            if by_duckdb and self.small is not None:
                query.n_rows()
            return query
        except LayoutError:
            copy = with_one_end(self.source)
            if copy is self.source:
                raise
            return self._ask(copy)

    def _ask(self, source: Source) -> Query:
        dialect, sampled = self.dialect, self.sampled
        numbers = {} if self.small is None else self.small.numbers
        kinds = {name: "DOUBLE" if name in numbers else "VARCHAR" for name in dialect.names}
        coded = {name: code for name, code in sampled.codes.items() if name in numbers}
        notes = (*dialect.notes, *self._code_notes(coded))
        table = Database(
            source.name,
            self._relation(source, kinds),
            kinds,
            typed=False,
            texts=self._relation(source, dict.fromkeys(kinds, "VARCHAR")),
            keep=source,
            stream=source.growing,
            lines=self.lines,
            decimal="." if sampled.pointed.intersection(numbers) else None,
            unnamed=self.unnamed,
            cells=None if self.small is None else self.small.texts,
        )
        if self.request.sql is None:
            return ask(table, self.request, suspects=partial(self._counting_anyhow, table), notes=notes)
        cleaned = clean(table, self.request, ())
        found = describe(
            source.name,
            cleaned.database.relation,
            sql=self.request.sql,
            keep=source,
            stream=source.growing,
            connection=cleaned.database.connection,
        )
        told = readings_told(cleaned.readings)
        return ask(replace(found, typed=False), self.request, notes=[*notes, *told])

    def _code_notes(self, codes: dict[str, str]) -> list[str]:
        return [code_note(name, codes[name]) for name in self.dialect.names if name in codes]

    def _relation(self, source: Source, kinds: dict[str, str]) -> str:
        columns = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in kinds.items())
        return (
            f"read_csv({literals(source.paths)}, {AS_IT_STANDS}, auto_detect = false, "
            f"columns = {{{columns}}}, "
            f"delim = {literal(self.dialect.delimiter)}, header = {str(self.dialect.header).lower()}, "
            f"skip = {self.dialect.skip}, quote = '\"', escape = '\"', "
            f"nullstr = {literals([*MISSING, *self.request.na])}, "
            f"compression = {literal(source.compression)})"
        )

    def _counting(self, names: Sequence[str]) -> list[str]:
        """Those of the columns that count up by one to the end of the file, or so far of a stream."""
        likely = [name for name in names if name in self.sampled.counting]
        if self.sampled.whole or self.source.growing is not None:
            return likely
        return [name for name in likely if counts_up(self.source, self.dialect, self.sampled, name)]

    def _counting_anyhow(self, table: Database, names: Sequence[str]) -> list[str]:
        """The same where cells are not plain."""
        try:
            return self._counting(names)
        except NotPlain:
            return [n for n in names if n in self.sampled.counting and counts_to_its_end(table, n)]


@dataclass(eq=False)
class CsvReader:
    """Rows of a CSV file.

    Attributes
    ----------
    file : CsvFile
    encoding : Encoding
        As the first rows tell, or all rows, once they were asked.
    target_name : str or None
    plain : callable, optional
        Yields so many rows at a time, from some row on, up to one that is not plain.
    labels : callable, optional
        Gives the different labels; None where one is not plain.
    query : Query, optional
        What all rows tell. Columns of plain numbers do without, until it is needed.
    notes : list of str
        What is said of columns of plain numbers until then.
    by_duckdb : bool
        Whether DuckDB is known to be able to read the rows.
    """

    file: CsvFile
    encoding: Encoding
    target_name: str | None
    plain: Callable[[int, int], Iterator[Batch]] | None
    labels: Callable[[], NDArray[Any] | None] | None
    query: Query | None = None
    notes: list[str] = field(default_factory=list)
    by_duckdb: bool = False

    @property
    def in_turn(self) -> bool:
        """Whether the rows have no names, and no other numbers than 1, 2, 3, ..."""
        return self.query is None or self.query.in_turn

    @property
    def line_finder(self) -> Lines:
        """Finds the lines of rows."""
        return self.file.lines

    def n_rows(self) -> int:
        """Count the rows."""
        small = self.file.small
        return self.settled().n_rows() if small is None else small.n_rows

    def classes(self) -> NDArray[Any]:
        """The different labels."""
        found = None if self.labels is None else self.labels()
        if found is None:
            self.plain = self.labels = None
            return self.settled().classes()
        return found

    def told(self) -> list[str]:
        """What a person should know about the reading, a sentence each."""
        return self.notes if self.query is None else self.query.told()

    def frame(self) -> Any:
        """The wanted columns as a data frame of pandas', as they stand in the file."""
        return self.settled().frame()

    def batches(self, rows: int, start: int) -> Iterator[Batch]:
        """Yield up to ``rows`` rows at a time, in the file's order, from row ``start``.

        Raises
        ------
        OtherMeaningError
            Where a row tells that rows before it, which were given already, mean something else.
        """
        at = start
        if self.plain is not None:
            try:
                for X, y in self.plain(rows, at):
                    yield X, y
                    at += len(X)
                return
            except NotPlain:
                self.plain = self.labels = None
        before = self.encoding
        query = self.settled()
        if at > start or at > 0:
            self._need_same_meaning(before, query)
        yield from query.batches(rows, at)

    def settled(self) -> Query:
        """The query that all rows have told how to read them."""
        if self.query is None or not self.by_duckdb:
            self.query, self.by_duckdb = self.file.ask(), True
            self.encoding = self.query.encoding
        return self.query

    def identities(self) -> Iterator[tuple[NDArray[np.int64], list[str] | None]]:
        """Yield the numbers of the rows in the file, counted from 1, and their names, some at a time."""
        return self.settled().identities()

    def _need_same_meaning(self, before: Encoding, query: Query) -> None:
        """Raise where rows that were read as plain numbers have to be read in another way."""
        numbers = {column.name: column for column in query.encoding.columns if column.levels is None}
        # Numbers without a point are the same in all readings but those with a point between thousands.
        other = [
            column.name
            for column in before.columns
            if column.name not in numbers or numbers[column.name].reading.thousands == "."
        ]
        if self.target_name is not None and not is_number(query.database.columns[self.target_name]):
            other.append(self.target_name)
        if other or len(numbers) < len(query.encoding.columns):
            name = (
                other[0] if other else next(c.name for c in query.encoding.columns if c.name not in numbers)
            )
            row, cell = first_other(query.database, name)
            (place,) = placed([row], query.database.lines)
            raise OtherMeaningError(
                f"Column {name!r} of {query.database.name!r} holds numbers in the rows before {place.words}, "
                f"which has {cell!r}.",
                remedy=REMEDY,
                parameter="na",
            )


def _quick_readers(file: CsvFile, encoding: Encoding) -> tuple[Any, Any]:
    """Who reads rows, and the different labels, as long as they are plain; None where nobody can."""
    target, sampled, small = file.request.target, file.sampled, file.small
    if small is not None and all(
        (column.levels is None) == (column.name in small.numbers) for column in encoding.columns
    ):  # each column holds what it held where the encoding was learnt: numbers, or text
        labels = None if target is None else partial(np.unique, small.labels(target))
        return partial(small.batches, encoding, target), labels
    if file.request.where is not None or numeric(file.request.na):
        return None, None
    if target is not None and target not in sampled.plain:
        return None, None
    names = [column.name for column in encoding.columns]
    plain = sampled.plain.issuperset(names) and all(
        column == Column(column.name) for column in encoding.columns
    )
    rows = partial(read_numbers, file.source, file.dialect, sampled, names, target) if plain else None
    if target is None or file.source.growing is not None:
        return rows, None
    return rows, partial(find_labels, file.source, file.dialect, sampled, target)


def _need_header(source: Source, dialect: Dialect, request: Request) -> None:
    """Say why there is no column of a name, where the first line is read as a row."""
    asked = (request.target, *(request.features or ()), *request.exclude)
    unknown = next((name for name in asked if name is not None and name not in dialect.names), None)
    if unknown is not None:
        raise InputError(
            f"There is no column {unknown!r}: the first line of {source.name!r} has a number in it, or fewer "
            f"cells than the others, so it is no line of names, and the columns are called "
            f"{dialect.names[0]} to {dialect.names[-1]}. Put a line of names first, none of them a number."
        )


FORMAT = Format(
    "csv",
    "CSV",
    open_csv,
    endings=(".csv", ".tsv", ".tab"),
    several=True,
    live=True,
    unpacks=("gzip", "zstd"),
)
