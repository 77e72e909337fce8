"""CSV files: plain numbers by compiled code, small files by Python, all else by DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from ..errors import InputError
from .cleaning import clean, numeric, readings_told
from .csv_head import MISSING, Dialect, Sampled, find_dialect, sample
from .csv_lines import find_lines
from .csv_numbers import NotPlain, counts_up, find_labels, read_numbers
from .csv_reader import CsvReader, read_carefully
from .database import CellError, Database, describe, literal, literals
from .encoding import Column, Encoding, choose_columns
from .identifiers import counts_to_its_end
from .query import Query, ask
from .small_csv import SmallTable, read_small
from .sources import Format, Request, Source


def open_csv(source: Source, request: Request) -> Query | CsvReader:
    """One CSV file, or several as one table."""
    dialect = find_dialect(source.paths[0], source.compression)
    for path in source.paths[1:]:
        if find_dialect(path, source.compression) != dialect:
            raise InputError(f"{path!r} does not have the columns of {source.paths[0]!r}.")
    if not (dialect.header or dialect.commented or request.sql is not None):
        _need_header(source, dialect, request)
    file = CsvFile.seen(source, dialect, request)
    if request.columns_only:
        names = choose_columns(
            dialect.names, target=request.target, features=request.features, exclude=request.exclude
        )
        if file.holds_plain(names):
            return file.reader(Encoding(tuple(map(Column, names)), request.intercept), None)
    try:
        query = file.ask()
    except CellError as error:
        file = CsvFile.seen(source, dialect, request, careful=True)
        query = read_carefully(error, file.ask)
    return query if request.sql is not None else file.reader(query.encoding, query)


@dataclass(frozen=True, eq=False)
class CsvFile:
    """A CSV file, and what its first rows tell of it; ``small`` holds all cells of a small one."""

    source: Source
    request: Request
    dialect: Dialect
    sampled: Sampled
    small: SmallTable | None

    @staticmethod
    def seen(source: Source, dialect: Dialect, request: Request, *, careful: bool = False) -> CsvFile:
        """Look at the first rows; with ``careful``, columns are text until all rows have told."""
        sampled, small = sample(source, dialect, request, careful=careful), None
        if sampled.content is not None and not dialect.skip and request.all_rows:
            small = read_small(sampled.content, dialect.delimiter, dialect.header, sampled.kinds, MISSING)
        return CsvFile(source, request, dialect, sampled, small)

    def holds_plain(self, names: Sequence[str]) -> bool:
        """Whether columns, and the target, are plain numbers, and none may number or name the rows."""
        used = names if self.request.target is None else (*names, self.request.target)
        doubtful = {*self.sampled.counting, *self.sampled.empty, *self.dialect.unnamed}
        return all(self.sampled.kinds[name] == "DOUBLE" for name in used) and (
            self.request.features is not None or doubtful.isdisjoint(names)
        )

    def reader(self, encoding: Encoding, query: Query | None) -> CsvReader:
        """Read the rows by the quickest reader that can, and by a query from where that cannot.

        Without a query none is made until then: the columns are plain numbers.
        """
        source, dialect, target, kinds = self.source, self.dialect, self.request.target, self.sampled.kinds
        reader = CsvReader(
            encoding,
            target,
            notes=(*dialect.notes, *self.sampled.notes) if query is None else query.notes,
            line_finder=partial(find_lines, source, dialect),
            ask=self.ask,
            ask_again=partial(self._ask_again, encoding),
            in_turn=query is None or query.in_turn,
            query=query,
        )
        if self.small is not None and self.small.fits(encoding):
            reader.plain, reader.count = partial(self.small.batches, encoding, target), self.small.n_rows
            reader.labels = None if target is None else partial(self.small.classes, target)
        elif (
            self.request.where is None
            and not numeric(self.request.codes)
            and (target is None or kinds[target] == "DOUBLE")
        ):
            names = [column.name for column in encoding.columns]
            if all(kinds[name] == "DOUBLE" for name in names):
                reader.plain = partial(read_numbers, source, dialect, names, target)
            if source.growing is None and target is not None:
                reader.labels = partial(find_labels, source, dialect, target)
        return reader

    def ask(self) -> Query:
        """Let DuckDB read the rows."""
        table, notes = self._table(), (*self.dialect.notes, *self.sampled.notes)
        if self.request.sql is None:
            return ask(table, self.request, suspects=partial(self._counting, table), notes=notes)
        cleaned = clean(table, self.request, ())
        found = describe(
            table.name,
            cleaned.database.relation,
            sql=self.request.sql,
            keep=table.keep,
            stream=table.stream,
            connection=cleaned.database.connection,
        )
        told = readings_told(cleaned.readings)
        return ask(replace(found, typed=False), self.request, notes=[*notes, *told])

    def _ask_again(self, encoding: Encoding) -> Query:
        """The same columns, where all rows tell how numbers are written."""
        request = replace(self.request, encoding=encoding, features=None, exclude=())
        return CsvFile.seen(self.source, self.dialect, request, careful=True).ask()

    def _table(self) -> Database:
        dialect, sampled, source = self.dialect, self.sampled, self.source
        return Database(
            source.name,
            self._relation(sampled.kinds),
            sampled.kinds,
            typed=False,
            texts=self._relation(dict.fromkeys(sampled.kinds, "VARCHAR")),
            keep=source,
            stream=source.growing,
            lines=partial(find_lines, source, dialect),
            decimal=sampled.decimal,
            unnamed=tuple(name for name in dialect.unnamed if name in (dialect.names[0], *sampled.empty)),
            cells=None if self.small is None else self.small.texts,
            empty=sampled.empty if sampled.whole else (),
        )

    def _relation(self, kinds: dict[str, str]) -> str:
        columns = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in kinds.items())
        return (
            f"read_csv({literals(self.source.paths)}, auto_detect = false, columns = {{{columns}}}, "
            f"delim = {literal(self.dialect.delimiter)}, header = {str(self.dialect.header).lower()}, "
            f"skip = {self.dialect.skip}, quote = '\"', escape = '\"', "
            f"nullstr = {literals([*MISSING, *self.request.codes])}, "
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
