"""CSV files by up to three readers: each stops at a cell that it does not know, and the next goes on there.

Compiled code reads plain numbers, Python small files. DuckDB reads all else: columns as the first rows tell
how they are written, and where a cell is otherwise, as all rows tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .batches import Batch
from .cleaning import ReadingError, clean, numeric, readings_told
from .csv_head import MISSING, Dialect, Sampled, find_dialect, sample
from .csv_lines import find_lines
from .csv_numbers import NotPlain, counts_up, find_labels, read_numbers
from .database import WIDE_KINDS, CellError, Database, describe, identifier, literal, literals
from .encoding import Column, Encoding, choose_columns
from .identifiers import counts_to_its_end
from .line_ends import with_one_end
from .places import Lines, placed
from .query import Query, ask
from .small_csv import SmallTable, read_small
from .sources import Format, Request, Source

T = TypeVar("T")


def open_csv(source: Source, request: Request) -> Query | CsvReader:
    """One CSV file, or several as one table."""
    dialect = find_dialect(source.paths[0], source.compression)
    for path in source.paths[1:]:
        if find_dialect(path, source.compression) != dialect:
            raise InputError(f"{path!r} does not have the columns of {source.paths[0]!r}.")
    if not (dialect.header or dialect.commented or request.sql is not None):
        _need_header(source, dialect, request)
    sampled, small = sample(source, dialect, request), None
    if sampled.content is not None:
        small = read_small(sampled.content, dialect.delimiter, dialect.header, sampled.kinds, MISSING)
    file = CsvFile(source, request, dialect, sampled, small)
    if request.columns_only:
        names = choose_columns(
            dialect.names, target=request.target, features=request.features, exclude=request.exclude
        )
        used = names if request.target is None else (*names, request.target)
        doubtful = {*sampled.counting, *sampled.empty, *dialect.unnamed}
        # Plain numbers, of which none may number or name the rows: there is nothing to ask a database yet.
        if all(sampled.kinds[name] == "DOUBLE" for name in used) and (
            request.features is not None or doubtful.isdisjoint(names)
        ):
            encoding = Encoding(tuple(map(Column, names)), request.intercept)
            return CsvReader(file, encoding, request.target, *_quick_readers(file, encoding))
    try:
        query = file.ask()
    except CellError as error:
        file = careful_file(source, dialect, request)
        query = _ask_carefully(file, error)
    if request.sql is not None:
        return query
    changed = request.target in query.database.changed
    plain, labels = (None, None) if changed else _quick_readers(file, query.encoding)
    return CsvReader(file, query.encoding, request.target, plain, labels, query)


def careful_file(source: Source, dialect: Dialect, request: Request) -> CsvFile:
    """The same file, of which columns are text until all rows have told."""
    source = with_one_end(source)
    return CsvFile(source, request, dialect, sample(source, dialect, request, careful=True), None)


@dataclass(frozen=True, eq=False)
class CsvFile:
    """A CSV file, and what its first rows tell of it; ``small`` holds all cells of a small one."""

    source: Source
    request: Request
    dialect: Dialect
    sampled: Sampled
    small: SmallTable | None

    def ask(self) -> Query:
        """Let DuckDB read the rows."""
        notes = (*self.dialect.notes, *self.sampled.notes)
        dialect, sampled, source, kinds = self.dialect, self.sampled, self.source, self.sampled.kinds
        table = Database(
            source.name,
            self._relation(kinds),
            kinds,
            typed=False,
            texts=self._relation(dict.fromkeys(kinds, "VARCHAR")),
            keep=source,
            stream=source.growing,
            lines=partial(find_lines, source, dialect),
            decimal=sampled.decimal,
            unnamed=tuple(name for name in dialect.unnamed if name in (dialect.names[0], *sampled.empty)),
            cells=None if self.small is None else self.small.texts,
            empty=sampled.empty if sampled.whole else (),
        )
        for name in (each for each, kind in kinds.items() if kind in WIDE_KINDS and not sampled.whole):
            _need_whole(table, name)
        if self.request.sql is None:
            return ask(table, self.request, suspects=partial(self._counting, table), notes=notes)
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

    def _relation(self, kinds: dict[str, str]) -> str:
        columns = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in kinds.items())
        return (
            f"read_csv({literals(self.source.paths)}, auto_detect = false, columns = {{{columns}}}, "
            f"delim = {literal(self.dialect.delimiter)}, header = {str(self.dialect.header).lower()}, "
            f"skip = {self.dialect.skip}, quote = '\"', escape = '\"', "
            f"nullstr = {literals([*MISSING, *self.request.na])}, "
            f"compression = {literal(self.source.compression)})"
        )

    def _counting(self, table: Database, names: Sequence[str]) -> list[str]:
        """Those of the columns that count up by one to the end of the file, or so far of a stream."""
        likely = [name for name in names if name in self.sampled.counting]
        if self.sampled.whole or self.source.growing is not None:
            return likely
        return [name for name in likely if self._counts_up(table, name)]

    def _counts_up(self, table: Database, name: str) -> bool:
        try:
            return counts_up(self.source, self.dialect, name)
        except NotPlain:
            return counts_to_its_end(table, name)


@dataclass(eq=False)
class CsvReader:
    """Rows of a CSV file.

    Attributes
    ----------
    file : CsvFile
    encoding : Encoding
    target_name : str or None
    plain : callable, optional
        Yields so many rows at a time, from some row on, up to one that is not plain.
    labels : callable, optional
        Gives the different labels; None where one is not plain.
    query : Query, optional
        The one that the first rows ask for. Columns of plain numbers do without, until it is needed.
    careful : Query, optional
        As all rows tell, where the first ones did not tell all.
    """

    file: CsvFile
    encoding: Encoding
    target_name: str | None
    plain: Callable[[int, int], Iterator[Batch]] | None
    labels: Callable[[], NDArray[Any] | None] | None
    query: Query | None = None
    careful: Query | None = None

    @property
    def in_turn(self) -> bool:
        """Whether the rows have no names, and no other numbers than 1, 2, 3, ..."""
        return self.query is None or self.query.in_turn

    @property
    def line_finder(self) -> Lines:
        """Finds the lines of rows."""
        return partial(find_lines, self.file.source, self.file.dialect)

    def n_rows(self) -> int:
        """Count the rows."""
        small = self.file.small
        return self._answer(Query.n_rows) if small is None else small.n_rows

    def classes(self) -> NDArray[Any]:
        """The different labels."""
        found = None if self.labels is None or self.careful is not None else self.labels()
        return self._answer(Query.classes) if found is None else found

    def told(self) -> list[str]:
        """What a person should know about the reading, a sentence each."""
        if self.query is None:
            return [*self.file.dialect.notes, *self.file.sampled.notes]
        return list(dict.fromkeys([*self.query.notes, *self._answer(Query.told)]))

    def frame(self) -> Any:
        """The wanted columns as a data frame of pandas', as they stand in the file."""
        return self._answer(Query.frame)

    def batches(self, rows: int, start: int) -> Iterator[Batch]:
        """Yield up to ``rows`` rows at a time, in the file's order, from row ``start``."""
        at = start
        if self.plain is not None and self.careful is None:
            try:
                for X, y in self.plain(rows, at):
                    yield X, y
                    at += len(X)
                return
            except NotPlain:
                pass
        if self.careful is None:
            try:
                for X, y in self._asked().batches(rows, at):
                    yield X, y
                    at += len(X)
                return
            except CellError as error:
                self._read_again(error, at)
        assert self.careful is not None
        yield from self.careful.batches(rows, at)

    def settled(self) -> Query:
        """The query by which every cell can be read; all of them are looked at to know."""

        def look(query: Query) -> None:
            rows = query.selection
            wanted = [*rows.features(query.encoding), *([] if rows.target is None else [rows.label])]
            query.database.rows(f"SELECT {', '.join(f'max({each})' for each in wanted)} FROM {rows.rows}")

        self._answer(look)
        return self._asked() if self.careful is None else self.careful

    def identities(self) -> Iterator[tuple[NDArray[np.int64], list[str] | None]]:
        """Yield the numbers of the rows in the file, counted from 1, and their names, some at a time."""
        done = 0
        if self.careful is None:
            try:
                for numbers, names in self._asked().identities():
                    yield numbers, names
                    done += numbers.size
                return
            except CellError as error:
                self._read_again(error)
        assert self.careful is not None
        for numbers, names in self.careful.identities():
            skipped, done = min(done, numbers.size), max(0, done - numbers.size)
            yield numbers[skipped:], None if names is None else names[skipped:]

    def _answer(self, question: Callable[[Query], T]) -> T:
        if self.careful is None:
            try:
                return question(self._asked())
            except CellError as error:
                self._read_again(error)
        assert self.careful is not None
        return question(self.careful)

    def _asked(self) -> Query:
        self.query = self.query or self.file.ask()
        return self.query

    def _read_again(self, error: CellError, at: int = 0) -> None:
        """Make the careful query, to go on with from row ``at``; raise where rows before it differ."""
        if self.careful is None:
            file = self.file
            request = replace(file.request, encoding=self.encoding, features=None, exclude=())
            found = _ask_carefully(careful_file(file.source, file.dialect, request), error)
        else:
            found = self.careful
        # What was a fraction before would be thousands now.
        if at and any(reading.thousands == "." for reading in found.readings.values()):
            raise error
        self.careful = found


def _quick_readers(file: CsvFile, encoding: Encoding) -> tuple[Any, Any]:
    """Who reads rows, and the different labels, as long as they are plain; None where nobody can."""
    target, kinds, small = file.request.target, file.sampled.kinds, file.small
    if small is not None and all(
        (column.levels is None) == (column.name in small.numbers) for column in encoding.columns
    ):  # each column holds what it held where the encoding was learnt: numbers, or text
        labels = None if target is None else partial(np.unique, small.labels(target))
        return partial(small.batches, encoding, target), labels
    if file.request.where is not None or numeric(file.request.na):
        return None, None
    if target is not None and kinds[target] != "DOUBLE":
        return None, None
    names = [column.name for column in encoding.columns]
    plain = all(kinds[name] == "DOUBLE" for name in names)
    rows = partial(read_numbers, file.source, file.dialect, names, target) if plain else None
    if target is None or file.source.growing is not None:
        return rows, None
    return rows, partial(find_labels, file.source, file.dialect, target)


def _ask_carefully(file: CsvFile, error: CellError) -> Query:
    """The query in which all cells tell; where it cannot be, say what was wrong in the first place."""
    try:
        return file.ask()
    except ReadingError:
        raise  # names the row, too
    except InputError:
        raise error from None


def _need_whole(table: Database, name: str) -> None:
    """Raise where a column of large whole numbers has another one further down, which would be rounded."""
    numbered = f"(SELECT row_number() OVER () AS row, {identifier(name)} AS cell FROM {table.texts})"
    other = "NOT regexp_full_match(trim(cell), '[+-]?[0-9]+')"
    query = f"SELECT row, cell FROM {numbered} WHERE cell IS NOT NULL AND {other} ORDER BY row LIMIT 1"
    for row, cell in table.rows(query):
        (place,) = placed([row], table.lines)
        raise InputError(
            f"Column {name!r} of {table.name!r} holds whole numbers beyond 2**53, but {place.words} has "
            f"{cell!r}.",
            remedy="Correct the cell, name it as missing with 'na', or read the column as text with 'text'.",
            parameter="na",
        )


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
