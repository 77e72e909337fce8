"""Small, plain CSV files by Python alone: neither DuckDB nor a compiler has to be loaded for a few rows.

Plain means: UTF-8, no quotation marks but around the names of columns, as many cells in every line as there
are columns, no missing value, nothing but digits, point and exponent where the column holds numbers, no space
at either end of a cell. Anything else is left to the readers of larger files, which also say what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..batches import Batch, Matrices, whole
from ..encoding import Encoding
from ..text_columns import BYTE_ORDER_MARK
from .header import Dialect

LARGEST = 1 << 18  # bytes of a file; ten times as many take longer than loading a compiled reader
ROUNDED = 2.0**53  # from here on whole numbers may be rounded, which has to be told
PLAIN_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")


@dataclass(frozen=True, eq=False)
class SmallTable:
    """The columns of a small file: numbers, or text."""

    numbers: dict[str, NDArray[np.float64]]
    texts: dict[str, list[str]]
    n_rows: int

    def labels(self, name: str) -> NDArray[Any]:
        """A column as labels, one a row."""
        return whole(self.numbers[name]) if name in self.numbers else np.array(self.texts[name])

    def batches(self, encoding: Encoding, target: str | None, rows: int, start: int) -> Iterator[Batch]:
        """Yield encoded rows from row ``start`` on, up to ``rows`` at a time."""
        columns: list[NDArray[np.float64]] = []
        for column in encoding.columns:
            if column.levels is None:
                columns.append(self.numbers[column.name])
            else:
                texts = np.array(self.texts[column.name], dtype=object)
                kept = encoding.kept_levels(column.levels)
                columns += [(texts == level).astype(np.float64) for level in kept]
        labels = None if target is None else self.labels(target)
        matrices = Matrices(np.full(len(columns), np.inf))
        for begin in range(start, self.n_rows, rows):
            part = slice(begin, min(begin + rows, self.n_rows))
            matrix = matrices.new(part.stop - begin)
            for k, values in enumerate(columns):
                matrix[:, k] = values[part]
            yield matrix, None if labels is None else labels[part]


def read_small(
    content: bytes, dialect: Dialect, plain: Container[str], missing: Container[str]
) -> SmallTable | None:
    """All cells of a file, whose ``plain`` columns hold numbers; None where it is not small, or not plain."""
    if len(content) > LARGEST or dialect.delimiter == " ":
        return None
    first, _, rest = content.partition(b"\n") if dialect.header else (b"", b"", content)
    if b'"' in rest or b"\0" in content or b"\r" in first[:-1] or content.startswith(BYTE_ORDER_MARK):
        return None
    if first.count(b'"') % 2:  # a name that goes on in the next line
        return None
    try:
        text = rest.decode().replace("\r\n", "\n").removesuffix("\n")
    except UnicodeDecodeError:
        return None
    lines = text.split("\n")
    if "\r" in text or any(not line.strip() or line.startswith("#") for line in lines):
        return None
    rows = [line.split(dialect.delimiter) for line in lines]
    if any(len(row) != len(dialect.names) for row in rows):
        return None
    numbers, texts = {}, {}
    for name, cells in zip(dialect.names, zip(*rows, strict=True), strict=True):
        if name not in plain:
            if any(cell in missing or cell != cell.strip() for cell in cells):
                return None
            texts[name] = list(cells)
            continue
        if not all(map(PLAIN_NUMBER.fullmatch, cells)):
            return None
        numbers[name] = np.array(list(map(float, cells)))
        if not (np.abs(numbers[name]) < ROUNDED).all():
            return None
    return SmallTable(numbers, texts, len(rows))
