"""A pasted table: what its columns are, and the numbers in them."""

from __future__ import annotations

import csv
import io
import math

import numpy as np

from ..api import limits
from ..api.answers import TableAnswer
from ..api.requests import RequestError, TableRequest

SNIFFED = 20_000  # characters by which the separator is found


def read_table(request: TableRequest) -> TableAnswer:
    """Read CSV or TSV; the first line names the columns unless all of it is numbers."""
    lines = [line for line in _lines(request.text.removeprefix("\ufeff")) if any(map(str.strip, line))]
    if len(lines) < 2:
        raise RequestError("table", "The table needs a line of names and at least one row.")
    width = len(lines[0])
    if width < 2 or width > 1_000:
        raise RequestError("table", f"The table needs from 2 to 1000 columns. Got {width}.")
    named = not all(_number(cell) is not None for cell in lines[0])
    names = [cell.strip() for cell in lines[0]] if named else [f"x{at}" for at in range(width)]
    whole = [line for line in lines[named:] if len(line) == width and all(map(str.strip, line))]
    skipped = len(lines) - named - len(whole)
    if not whole:
        raise RequestError("table", "No row of the table is complete.")
    if len(whole) > limits.POINTS:
        raise RequestError(
            "too_many_points",
            f"The table has {len(whole)} rows; {limits.POINTS} are the most here.",
            got=len(whole),
            most=limits.POINTS,
        )
    columns = list(zip(*whole, strict=True))
    numbers = [[_number(cell) for cell in column] for column in columns]
    numeric = [all(value is not None for value in column) for column in numbers]
    rows = [
        [
            value if is_number else cell.strip()[: limits.NAME]
            for value, cell, is_number in zip(*each, strict=True)
        ]
        for each in zip(zip(*numbers, strict=True), whole, [numeric] * len(whole), strict=True)
    ]
    return TableAnswer(
        columns=tuple(name[: limits.NAME] or f"column {at}" for at, name in enumerate(names)),
        numeric=tuple(numeric),
        rows=rows,
        scaled=[_scaled(column) if ok else [] for column, ok in zip(numbers, numeric, strict=True)],
        target=_target(columns, numeric),
        skipped=skipped,
    )


def _lines(text: str) -> list[list[str]]:
    """The cells of each line, whatever ends the lines."""
    try:
        return list(csv.reader(io.StringIO(text, newline=None), delimiter=_separator(text)))
    except csv.Error:
        raise RequestError(
            "table",
            f"A cell has more than {csv.field_size_limit():,} characters. Is there a quotation mark that is "
            "not closed?",
        ) from None


def _scaled(column: list[float | None]) -> list[float]:
    """Mean 0 and deviation 1; whole multiples of 1/64, so that fractions in proofs stay short."""
    values = np.array(column, dtype=np.float64)
    if not np.ptp(values):
        return [0.0] * len(column)
    values /= np.abs(values).max()  # so that no mean underflows
    values -= values.mean()
    values /= np.abs(values).max()  # so that no square underflows
    return [float(value) for value in np.round(64.0 * values / values.std()) / 64.0]


def _separator(text: str) -> str:
    """The separator that cuts the first line most often."""
    first = text[:SNIFFED].splitlines()[0] if text.strip() else ""
    return max((",", "\t", ";"), key=first.count)


def _number(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) and abs(value) <= limits.COORDINATE else None


def _target(columns: list[tuple[str, ...]], numeric: list[bool]) -> int:
    """The column most likely to be explained: the last that is text, else the last with few values."""
    for at in reversed(range(len(columns))):
        if not numeric[at] and 2 <= len(set(columns[at])) <= limits.CLASSES:
            return at
    for at in reversed(range(len(columns))):
        if 2 <= len(set(columns[at])) <= limits.CLASSES:
            return at
    return len(columns) - 1
