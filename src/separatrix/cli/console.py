"""The output of the program: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from ..printable import printable, printable_json
from ..progress import shown_by

# rich is imported only where it prints something; the list of commands and JSON do not need it.
if TYPE_CHECKING:
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    from ..report.tables import Listing

WIDTH = 100  # columns that text and experiments use at most
SCHEMA = 1  # the version of the JSON documents in docs/json.md, raised when a name changes its meaning


def say(words: str, *, error: bool = False) -> None:
    """Print a message to the user."""
    text = heading("Error: ", "bold red") if error else heading("", "")
    text.append(printable(words), style="default" if error else "dim")
    _console(sys.stderr).print(text, soft_wrap=True)


def show(*parts: Any) -> None:
    """Print results: text, tables, or anything that rich can print."""
    console = _console(sys.stdout)
    for part in parts:
        shown = heading(part, "") if isinstance(part, str) else part
        console.print(shown, width=min(WIDTH, console.width))


def show_table(table: Listing | None) -> None:
    """Print a table with its title and note; the last columns are hidden if the terminal is too narrow."""
    if table is None:
        return
    console = _console(sys.stdout)
    fitting = _fitting(table, console.width - 2)
    show(heading(f"  {table.title}"))
    console.print(_grid(table, fitting))
    left = len(table.columns) - fitting
    more = f"{left} column{'s' * (left != 1)} hidden (terminal too narrow)." if left else ""
    note = " ".join(filter(None, (table.note, more)))
    if note:
        show(_indented(heading(note, "dim")))
    show("")


def show_remedies(remedies: Any, names: str) -> None:
    """Print the remedies, with lines of code that can be copied, and what the names in them mean."""
    if not remedies:
        return
    show(heading("  What to do next"))
    for remedy in remedies:
        text = heading(f"{remedy.name}. ")
        show(_indented(text.append(printable(remedy.when), style="default not bold")))
        console = _console(sys.stdout)
        for language, line in remedy.code:
            # not wrapped, so that it can be copied as one line
            code = heading(f"    {language + ':':<8}", "dim").append(printable(line), style="cyan")
            console.print(code, soft_wrap=True)
    show(_indented(heading(names, "")), "")


def heading(words: str, style: str = "bold") -> Text:
    """Return a line in a style of rich, by default in bold."""
    from rich.text import Text

    return Text(printable(words), style=style)


def facts(pairs: list[tuple[str, str]]) -> Padding:
    """Return a table of names and values."""
    from rich.table import Table as RichTable

    grid = RichTable.grid(padding=(0, 3))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in pairs:
        grid.add_row(heading(name, ""), heading(value, ""))
    return _indented(grid)


def _indented(content: Any) -> Padding:
    from rich.padding import Padding

    return Padding(content, (0, 0, 0, 2), expand=False)


def document(command: str, rows: Any) -> dict[str, Any]:
    """Return the fields that begin every answer in JSON."""
    from .. import __version__

    return {"separatrix": __version__, "schema": SCHEMA, "command": command, "data": rows.describe()}


def write_json(values: Any) -> None:
    """Print a result as one JSON document."""
    rough = not sys.stdout.encoding.lower().startswith(
        "utf"
    )  # JSON can escape the characters that are missing
    sys.stdout.write(printable_json(json.dumps(plain(values), indent=2, ensure_ascii=rough)) + "\n")


def plain(values: Any) -> Any:
    """Return plain values for JSON; infinite and NaN become None."""
    if isinstance(values, dict):
        return {str(key): plain(value) for key, value in values.items()}
    if isinstance(values, list | tuple):
        return [plain(value) for value in values]
    if hasattr(values, "tolist"):  # an array, or a number of NumPy
        return plain(values.tolist())
    if isinstance(values, Fraction):
        return str(values)
    if isinstance(values, float) and not math.isfinite(values):
        return None
    return values


@contextmanager
def waiting(words: str) -> Iterator[None]:
    """Show a spinner on the terminal during a long task.

    Progress messages of the library appear in the same line. Without a terminal, nothing is shown.
    """
    if not sys.stderr.isatty():
        yield
        return
    line = _console(sys.stderr).status(heading(words, ""), spinner="line")
    with line, shown_by(lambda text: line.update(heading(text or words, ""))):
        yield


def _fitting(table: Listing, width: int, gap: int = 3) -> int:
    """Return how many columns fit into the width; the first two are always shown."""
    lines = zip(table.columns, *table.rows, strict=True)
    sizes = [max(len(printable(cell.removeprefix(">"))) for cell in column) for column in lines]
    return max(2, sum(end - gap <= width for end in accumulate(size + gap for size in sizes)))


def _grid(table: Listing, fitting: int) -> Padding:
    from rich.table import Table as RichTable

    grid = RichTable(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for column in table.columns[:fitting]:
        right = column.startswith(">")
        grid.add_column(heading(column.removeprefix(">"), "dim"), justify="right" if right else "left")
    for row in table.rows:
        grid.add_row(*(heading(cell, "") for cell in row[:fitting]))
    return _indented(grid)


def _console(stream: Any) -> Console:
    from rich.console import Console

    return Console(file=stream, highlight=False, emoji=False)
