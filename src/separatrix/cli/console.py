"""What the program writes: results to standard output, everything else to standard error."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from ..printable import printable, printable_json
from ..progress import shown_by

# rich is imported where something is printed with it: a list of commands, or JSON, does without.
if TYPE_CHECKING:
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    from ..report.tables import Listing

WIDTH = 100
INDENT, GAP = 2, 3
SCHEMA = 1  # of the JSON documents, see docs/json.md; raised when a name changes its meaning


def say(words: str, *, error: bool = False) -> None:
    """A message for the person at the terminal."""
    from rich.text import Text

    text = Text("Error: ", style="bold red") if error else Text()
    text.append(printable(words), style="default" if error else "dim")
    _console(sys.stderr).print(text, soft_wrap=True)


def show(*parts: Any) -> None:
    """Results for people: text, tables, or anything that rich can print."""
    from rich.text import Text

    console = _console(sys.stdout)
    for part in parts:
        if isinstance(part, str):
            console.print(Text(printable(part)), width=min(WIDTH, console.width))
        else:
            console.print(part)


def show_table(table: Listing | None) -> None:
    """A table with its title and its note, the last columns left out if it is too wide; nothing for None."""
    if table is None:
        return
    from rich.padding import Padding
    from rich.text import Text

    fitting = _fitting(table, _console(sys.stdout).width - INDENT)
    show(heading(f"  {table.title}"), _grid(table, fitting))
    left = len(table.columns) - fitting
    more = f"{left} column{'s' * (left != 1)} hidden (terminal too narrow)." if left else ""
    note = " ".join(filter(None, (table.note, more)))
    if note:
        show(Padding(Text(printable(note), style="dim"), (0, 0, 0, INDENT), expand=False))
    show("")


def show_remedies(remedies: Any) -> None:
    """What to do next: each way with when it is right, and lines of code that can be copied whole."""
    if not remedies:
        return
    from rich.padding import Padding
    from rich.text import Text

    show(heading("  What to do next"))
    for remedy in remedies:
        text = Text(f"{remedy.name}. ", style="bold")
        text.append(printable(remedy.when), style="default not bold")
        show(Padding(text, (0, 0, 0, INDENT), expand=False))
        console = _console(sys.stdout)
        for language, line in remedy.code:
            # never folded: a line that is copied has to stay one
            console.print(
                Text(f"    {language + ':':<8}", style="dim").append(printable(line), style="cyan"),
                soft_wrap=True,
            )
    show("")


def heading(words: str, style: str = "bold") -> Text:
    """A line that stands out."""
    from rich.text import Text

    return Text(printable(words), style=style)


def facts(pairs: list[tuple[str, str]]) -> Padding:
    """Names and values, side by side."""
    from rich.padding import Padding
    from rich.table import Table as RichTable
    from rich.text import Text

    grid = RichTable.grid(padding=(0, 3))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in pairs:
        grid.add_row(Text(printable(name)), Text(printable(value)))
    return Padding(grid, (0, 0, 0, INDENT), expand=False)


def document(command: str, rows: Any) -> dict[str, Any]:
    """What every answer in JSON begins with."""
    from .. import __version__

    return {"separatrix": __version__, "schema": SCHEMA, "command": command, "data": rows.describe()}


def write_json(values: Any) -> None:
    """Results for machines: one JSON document."""
    rough = not sys.stdout.encoding.lower().startswith("utf")  # lacks characters, which JSON can escape
    sys.stdout.write(printable_json(json.dumps(plain(values), indent=2, ensure_ascii=rough)) + "\n")


def plain(values: Any) -> Any:
    """Plain values for JSON, which has no infinity: it becomes None."""
    if isinstance(values, dict):
        return {str(key): plain(value) for key, value in values.items()}
    if isinstance(values, list | tuple):
        return [plain(value) for value in values]
    if hasattr(values, "tolist"):  # an array, or a number of NumPy
        return plain(values.tolist())
    if isinstance(values, float) and not math.isfinite(values):
        return None
    return values


@contextmanager
def waiting(words: str) -> Iterator[None]:
    """A spinner on the terminal while something takes its time; nothing if there is no terminal.

    What the library has to say meanwhile (how far it is, that it compiles) is shown in the same line.
    """
    if not sys.stderr.isatty():
        yield
        return
    from rich.text import Text

    line = _console(sys.stderr).status(Text(printable(words)), spinner="line")  # which any terminal has
    with line, shown_by(lambda text: line.update(Text(printable(text or words)))):
        yield


def _fitting(table: Listing, width: int) -> int:
    """How many columns fit side by side, the first two in any case."""
    lines = zip(table.columns, *table.rows, strict=True)
    sizes = [max(len(printable(cell.removeprefix(">"))) for cell in column) for column in lines]
    return max(2, sum(end - GAP <= width for end in accumulate(size + GAP for size in sizes)))


def _grid(table: Listing, fitting: int) -> Padding:
    from rich.padding import Padding
    from rich.table import Table as RichTable
    from rich.text import Text

    grid = RichTable(box=None, pad_edge=False, padding=(0, GAP, 0, 0))
    for column in table.columns[:fitting]:
        right = column.startswith(">")
        name = Text(printable(column.removeprefix(">")), style="dim")
        grid.add_column(name, justify="right" if right else "left")
    for row in table.rows:
        grid.add_row(*(Text(printable(cell)) for cell in row[:fitting]))
    return Padding(grid, (0, 0, 0, INDENT), expand=False)


def _console(stream: Any) -> Console:
    from rich.console import Console

    return Console(file=stream, highlight=False, emoji=False)
