"""What the program writes: results to standard output, everything else to standard error."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

if TYPE_CHECKING:
    from ..report.tables import Listing

WIDTH = 100
INDENT, GAP = 2, 3


def say(words: str, *, error: bool = False) -> None:
    """A message for the person at the terminal."""
    text = Text("Error: ", style="bold red") if error else Text()
    _console(sys.stderr).print(text.append(words, style="default" if error else "dim"), soft_wrap=True)


def show(*parts: Any) -> None:
    """Results for people: text, tables, or anything that rich can print."""
    console = _console(sys.stdout)
    for part in parts:
        if isinstance(part, str):
            console.print(Text(part), width=min(WIDTH, console.width))
        else:
            console.print(part)


def show_table(table: Listing | None) -> None:
    """A table with its title and its note, the last columns left out if it is too wide; nothing for None."""
    if table is None:
        return
    fitting = _fitting(table, _console(sys.stdout).width - INDENT)
    show(heading(f"  {table.title}"), _grid(table, fitting))
    left = len(table.columns) - fitting
    more = f"For want of width, {left} more {'is' if left == 1 else 'are'} left out." if left else ""
    note = " ".join(filter(None, (table.note, more)))
    if note:
        show(Padding(Text(note, style="dim"), (0, 0, 0, INDENT), expand=False))
    show("")


def heading(words: str, style: str = "bold") -> Text:
    """A line that stands out."""
    return Text(words, style=style)


def facts(pairs: list[tuple[str, str]]) -> Padding:
    """Names and values, side by side."""
    grid = RichTable.grid(padding=(0, 3))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in pairs:
        grid.add_row(Text(name), Text(value))
    return Padding(grid, (0, 0, 0, INDENT), expand=False)


def write_json(values: Any) -> None:
    """Results for machines: one JSON document."""
    sys.stdout.write(json.dumps(plain(values), indent=2, ensure_ascii=False) + "\n")


def plain(values: Any) -> Any:
    """Plain values for JSON, which has no infinity."""
    if isinstance(values, dict):
        return {str(key): plain(value) for key, value in values.items()}
    if isinstance(values, list | tuple):
        return [plain(value) for value in values]
    if hasattr(values, "tolist"):  # an array, or a number of NumPy
        return plain(values.tolist())
    if isinstance(values, float) and not math.isfinite(values):
        return str(values)
    return values


@contextmanager
def waiting(words: str) -> Iterator[None]:
    """A spinner on the terminal while something takes its time; nothing where there is no terminal."""
    console = _console(sys.stderr)
    if not console.is_terminal:
        yield
        return
    with console.status(words):
        yield


def _fitting(table: Listing, width: int) -> int:
    """How many columns fit side by side, the first two in any case."""
    lines = zip(table.columns, *table.rows, strict=True)
    sizes = [max(len(cell.removeprefix(">")) for cell in column) for column in lines]
    return max(2, sum(end - GAP <= width for end in accumulate(size + GAP for size in sizes)))


def _grid(table: Listing, fitting: int) -> Padding:
    grid = RichTable(box=None, pad_edge=False, padding=(0, GAP, 0, 0))
    for column in table.columns[:fitting]:
        right = column.startswith(">")
        grid.add_column(Text(column.removeprefix(">"), style="dim"), justify="right" if right else "left")
    for row in table.rows:
        grid.add_row(*map(Text, row[:fitting]))
    return Padding(grid, (0, 0, 0, INDENT), expand=False)


def _console(stream: Any) -> Console:
    return Console(file=stream, highlight=False, emoji=False)
