"""CSV files: the dialect and the columns of one; plain numbers by compiled code in several threads.

Whatever is not plain numbers (quotes, text, missing values, errors) is left to DuckDB, from that row on.
"""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import loops
from ..errors import InputError
from . import text
from .batches import MOST_ROWS, Batch, Matrices, whole
from .careful import CarefulReader, read_carefully
from .cleaning import clean, codes, numeric, readings_told
from .database import CellError, Database, describe, literal, literals
from .encoding import need_distinct
from .identifiers import counts_to_its_end, counts_up
from .query import NotPlain, Query, ask
from .readings import PLAIN_READING, evidence_of, look, shape
from .small_csv import SmallTable, read_small
from .sources import NUMBER, Format, Request, Source
from .unpacking import HEAD, open_binary, read_head

SAMPLE, SAMPLED = 1 << 18, 1000  # bytes and rows that tell what a column holds
# Cells that say that a value is missing.
MISSING = ("", "NA", "NaN", "nan", "N/A", "NULL", "null", "?")
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([T ]\d{1,2}:\d{2}.*)?$")
_WHOLE = re.compile(r"[+-]?\d{1,38}")
_COMMA = re.compile(r"[+-]?\d+,\d+")
_CODE = re.compile(r"0\d+")
_FRACTION = re.compile(r"\d[.,]\d")
_TARGET, _UNUSED = -1, -2  # where cells go that are none of the matrix


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written: ``skip`` lines come before the names, or before the rows without a header.

    ``commented`` is the line, counted from 1, of the comment that the names are from; 0 if it is none.
    """

    delimiter: str
    header: bool
    names: tuple[str, ...]
    unnamed: tuple[str, ...] = ()
    skip: int = 0
    commented: int = 0


@dataclass(frozen=True, eq=False)
class Cells:
    """Some rows: numbers and labels; ``whole`` says whether the piece was read to its end."""

    matrix: NDArray[np.float64]
    labels: NDArray[np.float64]
    whole: bool


@dataclass(frozen=True, eq=False)
class Sampled:
    """What the first rows tell.

    Attributes
    ----------
    kinds : dict of str to str
        The type of each column: of plain numbers, dates or text.
    decimal : str or None
        What separates fractions in the columns of plain numbers, where another column leaves that open.
    counting : tuple of str
        The columns that count up by one, as far as can be seen.
    empty : tuple of str
        The columns without a value.
    whole : bool
        Whether these are all rows.
    notes : tuple of str
        About columns whose numbers may be codes.
    """

    kinds: dict[str, str]
    decimal: str | None
    counting: tuple[str, ...]
    empty: tuple[str, ...]
    whole: bool
    notes: tuple[str, ...] = ()


def open_csv(source: Source, request: Request) -> Query | CarefulReader:
    """One CSV file, or several as one table."""
    try:
        first = _open(source, request, careful=False)
    except CellError as error:
        first = read_carefully(error, partial(_open, source, request, careful=True))
    if request.sql is not None:
        return first
    again = replace(request, encoding=first.encoding, features=None, exclude=())
    return CarefulReader(first, partial(_open, source, again, careful=True))


def _open(source: Source, request: Request, *, careful: bool) -> Query:
    """The rows as the first of them tell, or, with ``careful``, as all of them do."""
    dialect = find_dialect(source.paths[0], source.compression)
    for path in source.paths[1:]:
        if find_dialect(path, source.compression) != dialect:
            raise InputError(f"{path!r} does not have the columns of {source.paths[0]!r}.")
    _need_header(source, dialect, request)
    sampled = _sample(source, dialect, request, careful=careful)
    notes = [*_notes(source, dialect), *sampled.notes]
    kinds, na = sampled.kinds, codes(request)
    first = dialect.names[:1]
    table = Database(
        source.name,
        _relation(source, dialect, kinds, na),
        kinds,
        typed=False,
        texts=_relation(source, dialect, dict.fromkeys(kinds, "VARCHAR"), na),
        keep=source,
        stream=source.growing,
        lines=partial(find_lines, source, dialect),
        decimal=sampled.decimal,
        unnamed=tuple(name for name in dialect.unnamed if name in (*first, *sampled.empty)),
        empty=sampled.empty if sampled.whole else (),
    )
    if request.sql is not None:
        cleaned = clean(table, request, ())
        found = describe(
            source.name,
            cleaned.database.relation,
            sql=request.sql,
            keep=source,
            stream=source.growing,
            connection=cleaned.database.connection,
        )
        return ask(found, request, notes=[*notes, *readings_told(cleaned.readings)])
    small = (
        None
        if na or request.where is not None or request.missing != "error"
        else _small(source, dialect, kinds)
    )
    if small is not None:
        table = replace(table, cells=small.texts)
    query = ask(table, request, suspects=partial(_counting, source, dialect, sampled, table), notes=notes)
    rows = query.selection
    if small is not None and rows.rows == table.relation and small.fits(query.encoding):
        return replace(
            query,
            plain=partial(small.batches, query.encoding, rows.target),
            labels=None if rows.target is None else partial(small.classes, rows.target),
            count=lambda: small.n_rows,
        )
    if (
        request.where is not None
        or numeric(na)
        or (rows.target is not None and kinds[rows.target] != "DOUBLE")
    ):
        return query
    if all(kinds[name] == "DOUBLE" for name in rows.names):
        query = replace(query, plain=partial(read_numbers, source, dialect, rows.names, rows.target))
    if source.growing is None and rows.target is not None:
        query = replace(query, labels=partial(_classes, source, dialect, rows.target))
    return query


def _need_header(source: Source, dialect: Dialect, request: Request) -> None:
    """Say why there is no column of a name, where the first line is read as a row."""
    if dialect.header or dialect.commented or request.sql is not None:
        return
    asked = (request.target, *(request.features or ()), *request.exclude)
    unknown = next((name for name in asked if name is not None and name not in dialect.names), None)
    if unknown is not None:
        raise InputError(
            f"There is no column {unknown!r}: the first line of {source.name!r} has a number in it, or fewer "
            f"cells than the others, so it is no line of names, and the columns are called "
            f"{dialect.names[0]} to {dialect.names[-1]}. Put a line of names first, none of them a number."
        )


def _small(source: Source, dialect: Dialect, kinds: dict[str, str]) -> SmallTable | None:
    """All of a small file, where it is plain."""
    if dialect.skip or dialect.commented:
        return None
    return read_small(source, dialect.delimiter, dialect.header, kinds, MISSING)


def find_dialect(path: str, compression: str) -> Dialect:
    """The delimiter, the header and the column names of a CSV file."""
    every = _lines(path, _head(path, compression))
    before, delimiter = _preamble(every)
    lines = [line for line in every[len(before) :] if line.strip()]
    if not lines:
        raise InputError(f"{path!r} is empty. A table needs a line of names and a line for each row.")
    if delimiter is None:
        delimiter = _find_delimiter(lines)
    found = list(_rows([line + "\n" for line in lines], delimiter))
    if not found:
        raise InputError(
            f"{path!r} has a cell of more than {csv.field_size_limit():,} characters in its first line."
        )
    first, *rows = found
    above = _commented_names(path, before, lines, delimiter)
    header = _is_header(first, [] if above else rows)
    if above and not header:
        first = above
    if header and _agreement(lines, delimiter)[1] == len(first) + 1:
        # A delimiter at the end of each row but the first, or names of rows as R's write.table has them.
        first = ["", *first] if any(row[-1] for row in rows) else [*first, ""]
    numbered = [f"column{k}" for k in range(1, len(first) + 1)]
    named = header or bool(above)
    names = [cell.strip() or numbered[k] for k, cell in enumerate(first)] if named else numbered
    need_distinct(path, names)
    unnamed = [numbered[k] for k, cell in enumerate(first) if header and not cell.strip()]
    commented = max((k for k, line in enumerate(before, start=1) if line.strip()), default=0)
    return Dialect(
        delimiter, header, tuple(names), tuple(unnamed), len(before), 0 if header or not above else commented
    )


def read_numbers(
    source: Source,
    dialect: Dialect,
    names: Sequence[str],
    target: str | None,
    matrices: Matrices,
    rows: int,
    start: int,
) -> Iterator[Batch]:
    """Yield rows from row ``start`` on, up to a line that is not plain numbers.

    Of a piece of the file that holds such a line nothing is used.

    Raises
    ------
    NotPlain
        At such a line.
    """
    places = np.array([_place(name, names, target) for name in dialect.names], dtype=np.int64)
    for path in source.paths:
        pieces = text.pieces(source, path)
        found = text.in_order(
            lambda piece: _read_piece(piece, ord(dialect.delimiter), places, matrices),
            _without_lines(pieces, dialect.skip + dialect.header),
            live=source.growing is not None,
        )
        for cells in found:
            height = cells.labels.size
            for begin in range(start, height, rows):
                part = slice(begin, begin + rows)
                yield cells.matrix[part], None if target is None else whole(cells.labels[part])
            start = max(0, start - height)
            if not cells.whole:
                raise NotPlain


def find_lines(source: Source, dialect: Dialect, rows: Sequence[int]) -> list[tuple[int, str]]:
    """The lines of data rows, counted from 1, and the files they are in, where there are several."""
    wanted, before = sorted(set(rows)), 0
    found: dict[int, tuple[int, str]] = {}
    for path in source.paths:
        name = path if len(source.paths) > 1 else ""
        lines, height = _lines_of(source, dialect, path, [row - before for row in wanted if row > before])
        found |= {before + row: (line, name) for row, line in lines.items()}
        before += height
        if len(found) == len(wanted):
            break
    return [found[row] for row in rows]


def _lines_of(source: Source, dialect: Dialect, path: str, rows: list[int]) -> tuple[dict[int, int], int]:
    """The lines of some rows of one file, as far as it has them; and the rows that were counted."""
    before = dialect.skip + int(dialect.header)
    height = -before
    for piece in text.pieces(source, path):
        ends = np.flatnonzero(piece == 10)
        blank = piece[np.maximum(ends - 1, 0)] == 13
        if np.any(piece == 34) or np.any(np.diff(ends, prepend=-1) == 1 + blank):
            return _lines_by_csv(source, dialect, path, rows)
        height += ends.size
        if rows and height >= rows[-1]:
            break
    return {row: row + before for row in rows if row <= height}, height


def _lines_by_csv(source: Source, dialect: Dialect, path: str, rows: list[int]) -> tuple[dict[int, int], int]:
    """The same where cells may have several lines, or lines no cells."""
    wanted, found, row, last = set(rows), {}, -int(dialect.header), dialect.skip
    with (
        open_binary(path, source.compression) as raw,
        io.TextIOWrapper(raw, "utf-8-sig", newline="") as lines,
    ):
        for _ in range(dialect.skip):
            lines.readline()
        reader = csv.reader(lines, delimiter=dialect.delimiter)
        for cells in reader:
            if cells or len(dialect.names) == 1:
                row += 1
                if row in wanted:
                    found[row] = last + 1
                    if len(found) == len(wanted):
                        break
            last = dialect.skip + reader.line_num
    return found, row


def _is_header(first: list[str], rows: list[list[str]]) -> bool:
    """Whether a line holds names: none is a number, or one that is none stands above numbers alone."""
    words = [k for k, cell in enumerate(first) if not is_number_text(cell)]
    if len(words) == len(first):
        return True
    for k in words:
        cells = {row[k] for row in rows if k < len(row)} - {*MISSING}
        if first[k] not in MISSING and cells and all(map(is_number_text, cells)):
            return True
    return False


def is_number_text(cell: str) -> bool:
    """Whether a cell reads as a number, if need be with a decimal comma."""
    text = cell.strip()
    return NUMBER.fullmatch(text) is not None or _COMMA.fullmatch(text) is not None


def is_rounded(cell: str) -> bool:
    """Whether a cell is a whole number that is no float64."""
    return NUMBER.fullmatch(cell.strip()) is not None and text.is_rounded(cell.strip().encode(), float(cell))


def _classes(source: Source, dialect: Dialect, target: str) -> NDArray[Any] | None:
    """The different labels, which are numbers; None if not all of them are plain."""
    labels = read_numbers(source, dialect, (), target, Matrices(np.empty(0)), MOST_ROWS, 0)
    try:
        parts = [np.unique(y) for _, y in labels if y is not None]
    except NotPlain:
        return None
    return np.unique(np.concatenate([np.empty(0, dtype=np.int64), *parts]))


def _place(name: str, names: Sequence[str], target: str | None) -> int:
    return names.index(name) if name in names else _TARGET if name == target else _UNUSED


def _without_lines(pieces: Iterator[text.Text], count: int) -> Iterator[text.Text]:
    for piece in pieces:
        if count == 0:
            yield piece
            continue
        ends = np.flatnonzero(piece == 10)[:count]
        count -= ends.size
        if count == 0:
            yield piece[int(ends[-1]) + 1 :]


def _read_piece(piece: text.Text, delimiter: int, places: NDArray[np.int64], matrices: Matrices) -> Cells:
    n_lines = int(np.count_nonzero(piece == 10))
    matrix, labels, room = matrices.new(n_lines), np.empty(n_lines), 1024
    while True:
        hard = np.empty((room, 3), dtype=np.int64)
        out = (matrix, labels, hard)
        status, _, rows = loops.text.csv_lines(piece, delimiter, loops.text.POWERS, places, out)
        if status != loops.text.FULL:
            break
        room *= 16
    if status != loops.text.DONE:
        return Cells(matrix[:0], labels[:0], whole=False)
    if text.read_hard(piece, hard, labels, matrix.reshape(-1)) is not None:
        return Cells(matrix[:0], labels[:0], whole=False)
    return Cells(matrix[:rows], labels[:rows], whole=True)


def _sample(source: Source, dialect: Dialect, request: Request, *, careful: bool) -> Sampled:
    """What the first rows tell of the columns of a CSV file."""
    path = source.paths[0]
    head = _head(path, source.compression, SAMPLE)
    every = _lines(path, head, SAMPLED)[dialect.skip :]
    lines = [line + "\n" for line in every if line.strip()]
    rows = _rows(lines, dialect.delimiter)
    if dialect.header:
        next(rows, None)
    # A line of another length ends them.
    alike = list(itertools.takewhile(lambda row: len(row) == len(dialect.names), rows))
    columns = dict(
        zip(dialect.names, zip(*alike, strict=True) if alike else ((),) * len(dialect.names), strict=True)
    )
    nothing = {*MISSING, *codes(request)}
    given = {name: Counter(cell for cell in cells if cell not in nothing) for name, cells in columns.items()}
    plain = {name for name, cells in given.items() if all(NUMBER.fullmatch(cell.strip()) for cell in cells)}
    decimal = _decimal(given) if any(map(_FRACTION.search, _cells(given, plain))) else None
    known = () if request.encoding is None else request.encoding.columns
    text_only = {*request.text, request.row_names}
    text_only |= {c.name for c in known if c.levels is not None or c.reading != PLAIN_READING}
    comma = request.decimal == "," or (decimal == "," and request.decimal is None)
    if careful or comma or request.thousands is not None:
        # Numbers without a fraction may still have commas further down; points may separate thousands.
        text_only |= plain - {request.target}
    kinds = {
        name: "VARCHAR" if name in text_only else _whole_kind(cells) if name in plain else _kind(cells)
        for name, cells in given.items()
    }
    return Sampled(
        kinds,
        decimal,
        tuple(name for name in plain if _counts(columns[name])),
        tuple(name for name, cells in given.items() if not cells),
        whole=len(source.paths) == 1 and len(head) < SAMPLE and len(alike) < SAMPLED - int(dialect.header),
        notes=tuple(
            f"{name}: some numbers begin with a zero ({code}), as codes do; they are read as numbers. If "
            f"they are names, read the column as text: --text {name}."
            for name, cells in given.items()
            if kinds[name] == "DOUBLE"
            and name not in request.exclude
            and (code := next(filter(_CODE.fullmatch, cells), None)) is not None
        ),
    )


def _cells(given: dict[str, Counter[str]], plain: set[str]) -> Iterator[str]:
    return itertools.chain.from_iterable(cells for name, cells in given.items() if name not in plain)


def _kind(cells: Counter[str]) -> str:
    """The type of a column that is not all plain numbers: dates as ISO writes them, or text."""
    return "TIMESTAMP" if all(_DATE.match(cell) for cell in cells) else "VARCHAR"


def _whole_kind(cells: Counter[str]) -> str:
    """The type of a column of plain numbers.

    Where all are whole and some would be rounded, whole numbers: labels stay apart, features are refused.
    """
    if any(is_rounded(cell) for cell in cells) and all(_WHOLE.fullmatch(cell) for cell in cells):
        return "BIGINT" if all(abs(int(cell)) < 1 << 63 for cell in cells) else "HUGEINT"
    return "DOUBLE"


def _decimal(given: dict[str, Counter[str]]) -> str | None:
    """What separates fractions in this file, where its columns agree on that."""
    return evidence_of(look(Counter(map(shape, cells))) for cells in given.values())


def _counts(cells: Sequence[str]) -> bool:
    """Whether the first two cells are a number and the next, and so are all others."""
    try:
        if len(cells) < 2 or float(cells[1]) - float(cells[0]) != 1.0:
            return False
        return counts_up(np.array(cells, dtype=np.float64))
    except ValueError:
        return False


def _counting(
    source: Source, dialect: Dialect, sampled: Sampled, table: Database, names: Sequence[str]
) -> list[str]:
    """Those of the columns that count up by one to the end of the file, or of what has come of a stream."""
    likely = [name for name in names if name in sampled.counting]
    if sampled.whole or source.growing is not None:
        return likely
    return [name for name in likely if _counts_to_its_end(source, dialect, table, name)]


def _counts_to_its_end(source: Source, dialect: Dialect, table: Database, name: str) -> bool:
    last = None
    matrices = Matrices(np.full(1, np.inf))
    try:
        for X, _ in read_numbers(source, dialect, (name,), None, matrices, MOST_ROWS, 0):
            cells = X[:, 0] if last is None else np.concatenate([last, X[:, 0]])
            if np.any(np.diff(cells) != 1.0):
                return False
            last = cells[-1:].copy()
    except NotPlain:
        return counts_to_its_end(table, name)
    return True


def _relation(source: Source, dialect: Dialect, kinds: dict[str, str], na: Sequence[str]) -> str:
    columns = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in kinds.items())
    return (
        f"read_csv({literals(source.paths)}, auto_detect = false, columns = {{{columns}}}, "
        f"delim = {literal(dialect.delimiter)}, header = {str(dialect.header).lower()}, "
        f"skip = {dialect.skip}, quote = '\"', escape = '\"', nullstr = {literals([*MISSING, *na])}, "
        f"compression = {literal(source.compression)})"
    )


def _agreement(lines: list[str], delimiter: str) -> tuple[float, int]:
    """How many lines have as many cells as the first, and how many cells those are.

    Lines may all have one cell more than the first: a name of each row, or nothing behind a last delimiter.
    """
    rows = list(_rows(lines, delimiter))
    cells = [len(row) for row in rows]
    if len(cells) > 2 and set(cells[1:]) == {cells[0] + 1}:
        names, last = {row[0] for row in rows[1:]}, {bool(row[-1]) for row in rows[1:]}
        if last == {False} or (last == {True} and len(names) == len(rows) - 1):
            return 1.0, cells[0] + 1
    if not cells or cells[0] < 2:
        return 0.0, 1
    return round(cells.count(cells[0]) / len(cells), 1), cells[0]


def _find_delimiter(lines: list[str]) -> str:
    delimiter = max(",\t;| ", key=lambda each: _agreement(lines, each))
    if delimiter == "," and _agreement(lines, ";")[0] >= _agreement(lines, ",")[0] > 0.0:
        return ";"  # who separates cells by semicolons writes fractions with commas
    return delimiter if _agreement(lines, delimiter)[1] > 1 else ","


def _preamble(lines: list[str]) -> tuple[list[str], str | None]:
    """The lines before the table, and the delimiter if one of them names it.

    They are empty, or comments that begin with ``#``, or the line ``sep=;`` that spreadsheets write.
    """
    before = list(itertools.takewhile(lambda line: not line.strip() or line.startswith("#"), lines))
    rest = lines[len(before) :]
    named = re.fullmatch(r'"?sep=(.)"?', rest[0].strip(" \r\n")) if rest else None
    return (before, None) if named is None else ([*before, rest[0]], named[1])


def _commented_names(path: str, before: list[str], lines: list[str], delimiter: str) -> list[str]:
    """The names of the columns, if the last comment before the rows can be them, as NumPy writes it.

    Raises
    ------
    InputError
        Where the first line may be names just as well.
    """
    comments = [line for line in before if line.strip()]
    if not comments or not comments[-1].startswith("#"):
        return []
    above = [cell.strip() for cell in next(_rows([comments[-1].lstrip("# ")], delimiter), [])]
    rows = list(_rows(lines[:20], delimiter))
    if len(above) < 2 or len(above) != len(rows[0]) or any(map(is_number_text, above)):
        return []
    if not any(is_number_text(cell) for row in rows for cell in row):
        raise InputError(
            f"{path!r} has as many words in a comment as there are columns: are they the names, or is the "
            "line after it? Remove the comment, or its '#'."
        )
    return above


def _notes(source: Source, dialect: Dialect) -> tuple[str, ...]:
    """What is said about lines before the table."""
    if not dialect.skip:
        return ()
    if dialect.commented:
        return (f"The names of the columns are from the comment in line {dialect.commented}.",)
    lines = _lines(source.paths[0], read_head(source.paths[0], source.compression))[: dialect.skip]
    comments = sum(line.startswith("#") for line in lines)
    if not comments:
        return ()
    lines_are = "1 line of comments is" if comments == 1 else f"{comments} lines of comments are"
    return (f"{lines_are} left out before the table.",)


def _rows(lines: list[str], delimiter: str) -> Iterator[list[str]]:
    """The cells of each line, up to one that Python's reader refuses, such as one of 200,000 characters."""
    with contextlib.suppress(csv.Error):
        yield from csv.reader(lines, delimiter=delimiter)


def _head(path: str, compression: str, size: int = HEAD) -> bytes:
    """The first bytes of a file: so many, or more where the first lines are longer."""
    while True:
        head = read_head(path, compression, size)
        if len(head) < size or size >= text.LONGEST_LINE or head.count(b"\n") + head.count(b"\r") > 2:
            return head
        size *= 16


def _lines(path: str, head: bytes, most: int = 100) -> list[str]:
    """The first whole lines."""
    text = _decoded(path, head).replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if len(head) >= HEAD and len(lines) > 1:
        lines.pop()
    return lines[:most]


def _decoded(path: str, head: bytes) -> str:
    head = head.removeprefix(b"\xef\xbb\xbf")
    for cut in range(4):
        try:
            return head[: len(head) - cut].decode()
        except UnicodeDecodeError as error:
            if error.start < len(head) - 4:
                raise _encoding_error(path) from error
    raise _encoding_error(path)


def _encoding_error(path: str) -> InputError:
    return InputError(
        f"{path!r} is not UTF-8 text.",
        remedy="Name its encoding, such as text_encoding='latin-1' or 'cp1252'.",
        parameter="text_encoding",
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
