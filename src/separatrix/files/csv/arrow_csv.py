"""CSV files read by Arrow, which splits them into cells of text: the general reader of CSV files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import InputError
from ..arrow import arrow_csv, explaining, pa
from ..named_columns import Columns
from ..source.detect import MISSING, Source
from ..text_columns import NEWLINE, Text, in_threads, pieces
from .header import Dialect

_LONGEST_ROW = 1 << 26  # bytes
_RETURN, _QUOTE = b'\r"'


def csv_columns(file: CsvRead) -> Columns:
    """Return the columns of CSV files that are one table; all cells are text."""
    names = file.dialect.names
    return Columns(
        file.source.name,
        pa.schema([(name, pa.string()) for name in names]),
        file,
        untyped=frozenset(names),
        unnamed=file.dialect.row_names,
        notes=file.dialect.notes,
        lines=file.find_lines,
    )


@dataclass(frozen=True)
class CsvRead:
    """Yields batches of some columns of CSV files, from a row on."""

    source: Source
    dialect: Dialect

    def find_lines(self, rows: Sequence[int]) -> list[tuple[int, str]]:
        """Find the lines of rows, both counted from 1, and the file of each if there are several files.

        A row that is not found keeps its number.
        """
        wanted, found, row = sorted({*rows}), dict[int, tuple[int, str]](), 0
        for path, called in zip(self.source.paths, self.source.names, strict=True):
            name, line = called if len(self.source.paths) > 1 else "", self.dialect.above
            for block in _blocks(self.source, self.dialect, path):
                newlines = np.flatnonzero(block == NEWLINE)
                ends = newlines[np.searchsorted(np.flatnonzero(block == _QUOTE), newlines) % 2 == 0]
                begins = np.concatenate([[0], ends[:-1] + 1])
                if len(self.dialect.names) > 1:  # blank lines are not rows
                    begins = begins[ends - begins > (block[ends - 1] == _RETURN)]
                here = [each for each in wanted if row < each <= row + begins.size]
                lines = line + 1 + np.searchsorted(newlines, begins[[each - row - 1 for each in here]])
                found |= {each: (int(at), name) for each, at in zip(here, lines, strict=True)}
                row, line = row + begins.size, line + newlines.size
                if len(found) == len(wanted):
                    return [found[each] for each in rows]
        return [found.get(each, (each, "")) for each in rows]

    def __call__(self, names: Sequence[str], rows: int, start: int) -> Iterator[Any]:
        """Yield the rows of one block of the file after another."""
        wanted, before = list(names) or list(self.dialect.names[:1]), 0
        for path in self.source.paths:
            blocks = _blocks(self.source, self.dialect, path)
            live = self.source.growing is not None
            for table, ragged in in_threads(lambda block: self._table(block, wanted), blocks, live=live):
                if ragged is not None:
                    self._refuse_ragged(before + ragged.number, ragged.actual_columns)
                before += table.num_rows
                if start < table.num_rows:
                    yield from table.slice(start).to_batches()
                start = max(0, start - table.num_rows)

    def _table(self, block: Text, names: list[str]) -> tuple[Any, Any]:
        """Return the rows of a block; or no rows, and the first row with too few or too many cells."""
        ragged: list[Any] = []

        def refuse(row: Any) -> str:
            ragged.append(row)
            return "error"

        width = len(self.dialect.names)
        with explaining(self.source.name):
            try:
                return arrow_csv.read_csv(
                    pa.BufferReader(pa.py_buffer(block)),
                    arrow_csv.ReadOptions(
                        column_names=self.dialect.names, use_threads=False, block_size=block.size + 1
                    ),
                    arrow_csv.ParseOptions(
                        delimiter=self.dialect.delimiter,
                        newlines_in_values=True,
                        ignore_empty_lines=width > 1,
                        invalid_row_handler=refuse,
                    ),
                    arrow_csv.ConvertOptions(
                        column_types=dict.fromkeys(self.dialect.names, pa.string()),
                        null_values=MISSING,
                        strings_can_be_null=True,
                        include_columns=names,
                    ),
                ), None
            except pa.ArrowInvalid:
                if not ragged:
                    raise
                return None, ragged[0]

    def _refuse_ragged(self, row: int, cells: int) -> None:
        ((line, path),) = self.find_lines([row])
        raise InputError(
            f"{path or self.source.name!r}, line {line:,}: {cells} cell{'s' * (cells != 1)}, but the first "
            f"line has {len(self.dialect.names)}. Correct the line."
        )


def _blocks(source: Source, dialect: Dialect, path: str) -> Iterator[Text]:
    """Yield the rows of a file as text, some at a time. A row may have several lines, in quotes."""
    parts: list[Text] = []
    lines, size = dialect.above, 0
    for piece in pieces(source, path, skip=dialect.above):
        zeros = np.flatnonzero(piece == 0)
        if zeros.size:
            line = lines + int(np.count_nonzero(piece[: zeros[0]] == NEWLINE)) + 1
            raise InputError(
                f"{source.name!r}, line {line:,}: a zero byte. It is not text, or it is damaged."
            )
        lines += int(np.count_nonzero(piece == NEWLINE))
        parts.append(piece)
        size += piece.size
        if size > _LONGEST_ROW:
            break
        if sum(np.count_nonzero(part == _QUOTE) for part in parts) % 2 == 0:
            block = np.concatenate(parts) if len(parts) > 1 else piece
            _refuse_other_line_ends(source.name, block)
            yield block
            parts, size = [], 0
    if parts:
        raise InputError(
            f"{source.name!r}: a quotation mark is not closed, or is inside a cell. Close it, or double it."
        )


def _refuse_other_line_ends(name: str, block: Text) -> None:
    """Raise an error if lines end with a carriage return alone, and others do not."""
    returns = np.flatnonzero((block[:-1] == _RETURN) & (block[1:] != NEWLINE))
    if returns.size and np.any(np.searchsorted(np.flatnonzero(block == _QUOTE), returns) % 2 == 0):
        raise InputError(
            f"{name!r} cannot be read: its lines end in different ways (carriage return, newline, or both). "
            "Use one kind of line end, for example with dos2unix."
        )
