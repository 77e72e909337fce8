"""The results of the last full measurement of each section, kept in a file; the README shows some of them.

python -m benchmarks.results        # write the README's table anew from the file
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from separatrix.atomic import write_text

from .table import Row

RESULTS = Path(__file__).parent / "results" / "bench.json"
README = Path(__file__).parent.parent / "README.md"
BEGIN, END = "<!-- measured: begin -->\n", "<!-- measured: end -->\n"
# The rows that the README shows, by section and by how they begin, with what they are called there; whether
# they were won or lost is not asked.
SHOWN = (
    ("pass", "one pass over 200,000 x 100", "one pass over 200,000 x 100 numbers"),
    ("pass", "one pass over sparse", "one pass over sparse rows"),
    ("margin", "", "the largest margin"),
    ("soft", "", "the soft margin"),
    ("separability", "", "separable or not, with a proof"),
    ("files", "learn Enron from LIBSVM", "learn Enron's mails from a file, one pass"),
    ("start", "import, Perceptron", "start Python and fit 200 rows"),
)


def keep(rows: Sequence[Row], notes: Sequence[str], path: Path = RESULTS) -> None:
    """Put the rows into the file, in the stead of older ones of the same sections."""
    sections = {row.section for row in rows}
    known = [each for each in _read(path)["rows"] if each["section"] not in sections]
    merged = [*known, *({**asdict(row), "notes": list(notes)} for row in rows)]
    path.parent.mkdir(exist_ok=True)
    write_text(path, json.dumps({"rows": merged}, indent=1, ensure_ascii=False) + "\n")


def rendered(path: Path = RESULTS) -> str:
    """The README's table in Markdown: what was measured, whoever was faster."""
    lines = ["| | separatrix | the other | |", "|---|---|---|---|"]
    for section, begin, name in SHOWN:
        for row in _read(path)["rows"]:
            if row["section"] == section and row["what"].startswith(begin):
                what = name if begin else f"{name}: {row['what']}"
                cells = (what, row["ours"], row["against"], row["ratio"])
                lines.append("| " + " | ".join(each.replace("|", "\\|") for each in cells) + " |")
    return "\n".join(lines) + "\n"


def with_table(text: str, table: str) -> str:
    """The README with this table between its marks."""
    before, rest = text.split(BEGIN)
    return before + BEGIN + table + END + rest.split(END)[1]


def _read(path: Path) -> dict[str, list[dict[str, str]]]:
    if not path.exists():
        return {"rows": []}
    found: dict[str, list[dict[str, str]]] = json.loads(path.read_text("utf-8"))
    return found


if __name__ == "__main__":
    write_text(README, with_table(README.read_text("utf-8"), rendered()))
