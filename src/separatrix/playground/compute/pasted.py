"""Read a pasted table: its columns, and the numbers in them."""

from __future__ import annotations

import csv
import io
import math

import numpy as np

from ..api.answers import TableAnswer
from ..api.limits import LIMITS
from ..api.requests import RequestError, TableRequest


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
    if len(whole) > LIMITS.points:
        raise RequestError(
            "too_many_points",
            f"The table has {len(whole)} rows; {LIMITS.points} are the most here.",
            got=len(whole),
            most=LIMITS.points,
        )
    columns = list(zip(*whole, strict=True))
    numbers = [[_number(cell) for cell in column] for column in columns]
    numeric = [all(value is not None for value in column) for column in numbers]
    shown = [
        values if is_number else [cell.strip()[: LIMITS.name] for cell in column]
        for values, column, is_number in zip(numbers, columns, numeric, strict=True)
    ]
    return TableAnswer(
        columns=tuple(name[: LIMITS.name] or f"column {at}" for at, name in enumerate(names)),
        numeric=tuple(numeric),
        rows=[list(row) for row in zip(*shown, strict=True)],
        scaled=[_scaled(column) if ok else [] for column, ok in zip(numbers, numeric, strict=True)],
        target=_target(columns, numeric),
        skipped=skipped,
    )


def _lines(text: str) -> list[list[str]]:
    """Return the cells of each line, with any kind of line end."""
    try:
        return list(csv.reader(io.StringIO(text, newline=None), delimiter=_separator(text)))
    except csv.Error:
        raise RequestError(
            "table",
            f"A cell has more than {csv.field_size_limit():,} characters. Is there a quotation mark that is "
            "not closed?",
        ) from None


def _scaled(column: list[float | None]) -> list[float]:
    """Scale to mean 0 and deviation 1, in multiples of 1/64, so that fractions in proofs stay short."""
    values = np.array(column, dtype=np.float64)
    if not np.ptp(values):
        return [0.0] * len(column)
    values /= np.abs(values).max()  # so that no mean underflows
    values -= values.mean()
    values /= np.abs(values).max()  # so that no square underflows
    return [float(value) for value in np.round(64.0 * values / values.std()) / 64.0]


def _separator(text: str) -> str:
    """Return the separator that occurs most often in the first line."""
    first = next(iter(text.splitlines()), "")
    return max((",", "\t", ";"), key=first.count)


def _number(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) and abs(value) <= LIMITS.coordinate else None


def _target(columns: list[tuple[str, ...]], numeric: list[bool]) -> int:
    """Guess the target: the last column of text with few values, else the last column with few values."""
    few = [at for at, column in enumerate(columns) if 2 <= len(set(column)) <= LIMITS.classes]
    text = [at for at in few if not numeric[at]]
    return (text or few or [len(columns) - 1])[-1]
