"""Small, plain CSV files by Python alone: neither Arrow nor a compiler has to be loaded for a few rows.

Plain means: UTF-8, no quotation marks but around the names of columns, as many cells in every line as there
are columns, no missing value, no space at either end of a cell, no whole number beyond 2**53. Anything else
is left to the general reader, which also says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..batches import LARGEST_WHOLE, Batch, whole
from ..columns import CellColumns
from ..encoding import Encoding
from ..meaning import Meaning
from ..number_formats import Reading
from ..reader import Lines, Reader
from ..source.detect import MISSING
from ..text_columns import BYTE_ORDER_MARK
from .header import SAMPLE, Dialect

LARGEST = SAMPLE  # bytes of a file; ten times as many take longer than loading a compiled reader


def cells_of(name: str, dialect: Dialect, rows: Sequence[Sequence[str]]) -> CellColumns | None:
    """Rows of cells as columns; None where a cell is missing, or has a blank at either end."""
    if not rows or any(cell in MISSING or cell != cell.strip() for row in rows for cell in row):
        return None
    columns = dict(zip(dialect.names, zip(*rows, strict=True), strict=True))
    return CellColumns(name, columns, dialect.row_names, dialect.notes)


def split(content: bytes, dialect: Dialect) -> list[list[str]] | None:
    """The cells of all rows of a file; None where it is not small, or not plain."""
    if len(content) > LARGEST or dialect.delimiter == " " or dialect.above > 1:
        return None
    first, _, rest = content.partition(b"\n") if dialect.header else (b"", b"", content)
    if b'"' in rest or b"\0" in content or b"\r" in first[:-1] or content.startswith(BYTE_ORDER_MARK):
        return None
    try:
        text = rest.decode().replace("\r\n", "\n").removesuffix("\n")
    except UnicodeDecodeError:
        return None
    lines = text.split("\n")
    if "\r" in text or any(not line.strip() or line.startswith("#") for line in lines):
        return None
    rows = [line.split(dialect.delimiter) for line in lines]
    return rows if all(len(row) == len(dialect.names) for row in rows) else None


@dataclass(eq=False)
class QuickReader(Reader):
    """A reader of CSV files that are plain.

    Attributes
    ----------
    meaning : Meaning
        What the columns mean, as the rows tell that were looked at.
    target : str or None
    lines : callable
        Finds the lines of rows.
    general : callable
        Makes the general reader of the same file.
    """

    meaning: Meaning
    target: str | None
    lines: Lines
    general: Callable[[], Any]

    @property
    def encoding(self) -> Encoding:
        """How columns become features."""
        return self.meaning.encoding

    @property
    def target_name(self) -> str | None:
        """The target, as the file calls it."""
        return self.target

    @property
    def line_finder(self) -> Lines:
        """Finds the lines of rows."""
        return self.lines

    def told(self) -> list[str]:
        """List what a person should know about the reading, one sentence each."""
        return list(self.meaning.notes)

    def frame(self) -> Any:
        """Return the wanted columns as a pandas data frame, before categories are encoded."""
        return self.general().frame()


@dataclass(eq=False)
class SmallReader(QuickReader):
    """The rows of a small file: one array for each column of the matrix, and the labels."""

    features: list[NDArray[np.float64]]
    labels: NDArray[Any] | None
    rows: int

    def n_rows(self) -> int:
        """Count the rows."""
        return self.rows

    def classes(self) -> NDArray[Any]:
        """The different labels."""
        return np.unique(np.empty(0) if self.labels is None else self.labels)

    def batches(self, rows: int, start: int) -> Iterator[Batch]:
        """Yield encoded rows from row ``start`` on, up to ``rows`` at a time."""
        for begin in range(start, self.rows, rows):
            part = slice(begin, min(begin + rows, self.rows))
            matrix = np.empty((part.stop - begin, len(self.features)))
            for k, values in enumerate(self.features):
                matrix[:, k] = values[part]
            yield matrix, None if self.labels is None else self.labels[part]


def small_reader(
    columns: CellColumns, meaning: Meaning, target: str | None, lines: Lines, general: Callable[[], Any]
) -> SmallReader | None:
    """A reader of these cells; None where one of them says that it is missing, or may be rounded."""
    features: list[NDArray[np.float64]] = []
    encoding = meaning.encoding
    for column in encoding.columns:
        cells = columns.cells[column.name]
        if column.levels is None:
            found = meaning.looks[column.name]
            numbers = None if found.marked else _numbers(cells, found.reading)
            if numbers is None:
                return None
            features.append(numbers)
        else:
            texts = np.array(cells, dtype=object)
            features += [(texts == level).astype(np.float64) for level in encoding.kept_levels(column.levels)]
    labels: NDArray[Any] | None = None
    if target is not None:
        cells = columns.cells[target]
        if meaning.marked or meaning.label in ("whole", "digits"):
            return None
        numbers = _numbers(cells, Reading()) if meaning.label == "number" else None
        if numbers is None and meaning.label == "number":
            return None
        labels = np.array(cells) if numbers is None else whole(numbers)
    rows = len(next(iter(columns.cells.values())))
    return SmallReader(meaning, target, lines, general, features, labels, rows)


def _numbers(cells: Sequence[str], reading: Reading) -> NDArray[np.float64] | None:
    """The numbers of cells that fit; None where one may be rounded."""
    try:
        numbers = np.array(list(map(float if reading == Reading() else reading.number, cells)))
    except ValueError:  # another minus
        numbers = np.array(list(map(reading.number, cells)))
    return numbers if (np.abs(numbers) <= LARGEST_WHOLE).all() else None
