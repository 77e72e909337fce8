"""What the first lines of a CSV file tell: how it is written, and what its columns are called."""

from __future__ import annotations

import contextlib
import csv
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ...errors import InputError
from .. import text_columns
from ..encoding import need_distinct
from ..number_formats import PADDING
from ..source.compression import HEAD, read_head
from ..source.detect import MISSING, NUMBER, Source

SAMPLE = 1 << 18  # bytes of a small file; of a larger one, those that tell who may read it
# A number, if need be with a decimal comma, between blanks.
_NUMERIC = re.compile(rf"[{PADDING}]*({NUMBER.pattern}|[+-]?[0-9]+,[0-9]+)[{PADDING}]*", NUMBER.flags)


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written: ``skip`` lines come before the names, or before the rows without a header.

    ``commented`` is the line, counted from 1, of the comment that the names are from; 0 if it is none. The
    names take so many ``lines``: a name in quotes may have several.
    ``notes`` say what is done with lines before the table.
    """

    delimiter: str
    header: bool
    names: tuple[str, ...]
    unnamed: tuple[str, ...] = ()
    skip: int = 0
    commented: int = 0
    lines: int = 1
    notes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def above(self) -> int:
        """How many lines come before the rows."""
        return self.skip + self.lines

    @property
    def row_names(self) -> tuple[str, ...]:
        """The first column, if it has no name: the row names of R and pandas."""
        return self.names[:1] if self.names[0] in self.unnamed else ()


def find_dialect(path: str, compression: str) -> Dialect:
    """The delimiter, the header and the column names of a CSV file."""
    _, every = _first_lines(path, compression, HEAD, 100)
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
    above = _commented_names(path, before, lines, delimiter) if before else []
    header = not any(map(_NUMERIC.fullmatch, first)) or _heads_numbers(first, [] if above else rows)
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
    last = max((k for k, line in enumerate(before, start=1) if line.strip()), default=0)
    commented = last if above and not header else 0
    notes = _told(before, commented) if before else ()
    taken = _lines_of_first(every[len(before) :], delimiter) if header else 0
    return Dialect(delimiter, header, tuple(names), tuple(unnamed), len(before), commented, taken, notes)


def first_rows(source: Source, dialect: Dialect) -> tuple[list[list[str]], bytes | None]:
    """The cells of the first rows, up to a line of another length; and all of a small file."""
    head, every = _first_lines(source.paths[0], source.compression, SAMPLE, None)
    small = len(source.paths) == 1 and len(head) < SAMPLE and source.growing is None
    lines = [line + "\n" for line in every[dialect.skip :][:100] if line.strip()]
    rows = list(_rows(lines, dialect.delimiter))[int(dialect.header) :]
    alike = list(itertools.takewhile(lambda row: len(row) == len(dialect.names), rows))
    return alike, head if small else None


def _heads_numbers(first: list[str], rows: list[list[str]]) -> bool:
    """Whether a cell of a line stands above numbers alone, and is none."""
    for k, cell in enumerate(first):
        if cell not in MISSING and not _NUMERIC.fullmatch(cell):
            below = {row[k] for row in rows if k < len(row)} - {*MISSING}
            if below and all(map(_NUMERIC.fullmatch, below)):
                return True
    return False


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
    if len(above) < 2 or len(above) != len(rows[0]) or any(map(_NUMERIC.fullmatch, above)):
        return []
    if not any(_NUMERIC.fullmatch(cell) for row in rows for cell in row):
        raise InputError(
            f"{path!r} has as many words in a comment as there are columns: are they the names, or is the "
            "line after it? Remove the comment, or its '#'."
        )
    return above


def _preamble(lines: list[str]) -> tuple[list[str], str | None]:
    """The lines before the table, and the delimiter if one of them names it.

    They are empty, or comments that begin with ``#``, or the line ``sep=;`` that spreadsheets write.
    """
    before = list(itertools.takewhile(lambda line: not line.strip() or line.startswith("#"), lines))
    rest = lines[len(before) :]
    named = re.fullmatch(r'"?sep=(.)"?', rest[0].strip(" \r\n")) if rest else None
    return (before, None) if named is None else ([*before, rest[0]], named[1])


def _told(before: list[str], commented: int) -> tuple[str, ...]:
    """What is said about lines before the table."""
    comments = sum(line.startswith("#") for line in before)
    if commented:
        return (f"The names of the columns are from the comment in line {commented}.",)
    if not comments:
        return ()
    lines = "1 line of comments is" if comments == 1 else f"{comments} lines of comments are"
    return (f"{lines} left out before the table.",)


def _find_delimiter(lines: list[str]) -> str:
    # The names of columns are separated, too, though their numbers may have commas.
    delimiter = max(",\t;| ", key=lambda each: (*_agreement(lines, each), each in lines[0]))
    semicolons = delimiter == "," and ";" in lines[0]
    if semicolons and _agreement(lines, ";")[0] >= _agreement(lines, ",")[0] > 0.0:
        return ";"  # files whose cells are separated by semicolons have fractions with commas
    return delimiter if _agreement(lines, delimiter)[1] > 1 else ","


def _agreement(lines: list[str], delimiter: str) -> tuple[float, int]:
    """How many lines have as many cells as the first, and how many cells those are.

    Lines may all have one cell more than the first: a name of each row, or nothing behind a last delimiter.
    """
    rows = list(_rows(lines, delimiter))
    cells = [len(row) for row in rows]
    if len(cells) > 2 and set(cells[1:]) == {cells[0] + 1}:
        last = {bool(row[-1]) for row in rows[1:]}
        if last == {False} or (last == {True} and _name_rows(lines[1:], rows[1:], delimiter)):
            return 1.0, cells[0] + 1
    if not cells or cells[0] < 2:
        return 0.0, 1
    return round(cells.count(cells[0]) / len(cells), 1), cells[0]


def _name_rows(lines: list[str], rows: list[list[str]], delimiter: str) -> bool:
    """Whether the first cells of lines name them, and do not merely stand before a decimal comma."""
    names = [row[0] for row in rows]
    if len({*names}) < len(names):
        return False
    if delimiter != "," or any(line.startswith('"') for line in lines):
        return True
    numbers = [name for name in names if NUMBER.fullmatch(name)]
    return not numbers or all(float(b) - float(a) == 1.0 for a, b in itertools.pairwise(numbers))


def _rows(lines: list[str], delimiter: str) -> Iterator[list[str]]:
    """The cells of each line, up to one that Python's reader refuses, such as one of 200,000 characters."""
    with contextlib.suppress(csv.Error):
        yield from csv.reader(lines, delimiter=delimiter)


def _lines_of_first(lines: list[str], delimiter: str) -> int:
    """How many lines the first row takes."""
    reader = csv.reader((line + "\n" for line in lines), delimiter=delimiter)
    next((row for row in reader if row), None)
    return reader.line_num


def _first_lines(path: str, compression: str, size: int, most: int | None) -> tuple[bytes, list[str]]:
    """The first bytes of a file, so many, or more where the first lines are longer; and their whole lines.

    A longer file may be cut within the last of them, and within a character.
    """
    head = read_head(path, compression, size)
    while (
        len(head) >= size and size < text_columns.LONGEST_LINE and head.count(b"\n") + head.count(b"\r") <= 2
    ):
        size *= 16
        head = read_head(path, compression, size)
    cut, content = len(head) >= size, head.removeprefix(text_columns.BYTE_ORDER_MARK)
    try:
        found = content.decode()
    except UnicodeDecodeError as error:
        if not cut or error.start < len(content) - 3:
            raise InputError(
                f"{path!r} is not UTF-8 text.",
                remedy="Name its encoding, such as text_encoding='latin-1' or 'cp1252'.",
                parameter="text_encoding",
            ) from error
        found = content[: error.start].decode()
    lines = found.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return head, (lines[:-1] if cut and len(lines) > 1 else lines)[:most]
