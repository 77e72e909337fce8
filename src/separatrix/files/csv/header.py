"""Find out from its first lines how a CSV file is written, and what the names of its columns are."""

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
from ..number_formats import NUMBER, names_columns

SAMPLE = 1 << 18  # bytes that tell how a file is written, and who may read it


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written.

    Attributes
    ----------
    delimiter : str
    names : tuple of str
        All columns.
    row_names : tuple of str
        The first column if it has no name in the file: the row names of R and pandas.
    above : int
        How many lines come before the rows.
    notes : tuple of str
        What a person should know about lines before the table.
    """

    delimiter: str
    names: tuple[str, ...]
    row_names: tuple[str, ...]
    above: int
    notes: tuple[str, ...] = field(default=(), compare=False)


def find_dialect(path: str, name: str, skip: int = 0) -> tuple[Dialect, list[list[str]], int]:
    """Find the delimiter, the header and the column names of a CSV file, without its first ``skip`` lines.

    Return also the cells of the first rows, up to a line of another length, and how many bytes were read.
    """
    with open(path, "rb") as file:  # whole lines, and three at least
        head = file.read(SAMPLE) + b"".join(file.readline(text_columns.LONGEST_LINE) for _ in range(3))
    text = head.removeprefix(text_columns.BYTE_ORDER_MARK).decode()
    every = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")[skip:]
    before, delimiter = _preamble(every[:100])
    lines = [line for line in every[len(before) : 100] if line.strip()]
    if not lines:
        raise InputError(f"{name!r} is empty. A table needs a line of names and a line for each row.")
    delimiter = delimiter or _find_delimiter(lines)
    found = list(_rows([line + "\n" for line in lines], delimiter))
    if not found:
        raise InputError(
            f"{name!r} has a cell of more than {csv.field_size_limit():,} characters in its first line."
        )
    first, *rows = found
    header = names_columns(first, rows)
    if header and _agreement(lines, delimiter)[1] == len(first) + 1:
        # A delimiter at the end of each row but the first, or row names as R's write.table writes them.
        first = ["", *first] if any(row[-1] for row in rows) else [*first, ""]
    numbered = [f"column{k}" for k in range(1, len(first) + 1)]
    names = [cell.strip() or numbered[k] for k, cell in enumerate(first)] if header else numbered
    need_distinct(name, names)
    row_names = tuple(numbered[:1]) if header and not first[0].strip() else ()
    taken = 0
    if header:
        reader = csv.reader((line + "\n" for line in every[len(before) :]), delimiter=delimiter)
        next((row for row in reader if row), None)
        taken = reader.line_num  # a name may have line ends
    if taken > 1 and b"\n" in head and re.search(rb"\r(?!\n)", head):
        raise InputError(f"{name!r}: the line of names has a carriage return in it. Remove it.")
    comments = sum(line.startswith("#") for line in before)
    notes = (f"Lines of comments before the table are left out: {comments}.",) if comments else ()
    dialect = Dialect(delimiter, tuple(names), row_names, skip + len(before) + taken, notes)
    alike = itertools.takewhile(lambda row: len(row) == len(names), found[int(header) :])
    return dialect, list(alike), len(head)


def _preamble(lines: list[str]) -> tuple[list[str], str | None]:
    """Return the lines before the table, and the delimiter if one of them names it.

    They are empty, comments that begin with ``#``, or the line ``sep=;`` that spreadsheets write.
    """
    before = list(itertools.takewhile(lambda line: not line.strip() or line.startswith("#"), lines))
    rest = lines[len(before) :]
    named = re.fullmatch(r'"?sep=(.)"?', rest[0].strip(" \r\n")) if rest else None
    return (before, None) if named is None else ([*before, rest[0]], named[1])


def _find_delimiter(lines: list[str]) -> str:
    # The names of columns are separated too, although their numbers may have commas.
    delimiter = max(",\t;| ", key=lambda each: (*_agreement(lines, each), each in lines[0]))
    semicolons = delimiter == "," and ";" in lines[0]
    if semicolons and _agreement(lines, ";")[0] >= _agreement(lines, ",")[0] > 0.0:
        return ";"  # in files whose cells are separated by semicolons, fractions have commas
    return delimiter if _agreement(lines, delimiter)[1] > 1 else ","


def _agreement(lines: list[str], delimiter: str) -> tuple[float, int]:
    """Return the share of lines that have as many cells as the first line, and the number of these cells.

    All lines may have one cell more than the first: a row name, or nothing after a last delimiter.
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
    """Return whether the first cells of lines are row names, and not the part before a decimal comma."""
    names = [row[0] for row in rows]
    if len({*names}) < len(names):
        return False
    if delimiter != "," or any(line.startswith('"') for line in lines):
        return True
    numbers = [name for name in names if NUMBER.fullmatch(name)]
    return not numbers or all(float(b) - float(a) == 1.0 for a, b in itertools.pairwise(numbers))


def _rows(lines: list[str], delimiter: str) -> Iterator[list[str]]:
    """Yield the cells of each line, up to one that Python's reader refuses: a cell of 200,000 characters."""
    with contextlib.suppress(csv.Error):
        yield from csv.reader(lines, delimiter=delimiter)
