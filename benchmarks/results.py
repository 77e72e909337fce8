"""The results of the last full measurement of each section, kept in a file; docs/speed.md shows some of them.

python -m benchmarks.results        # write the table of docs/speed.md again from the file
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from separatrix.atomic import write_text

from .table import Row

RESULTS = Path(__file__).parent / "results" / "bench.json"
PAGE = Path(__file__).parent.parent / "docs" / "speed.md"
# The columns of the table on ordinary data: who is compared, and the names of ours and theirs in the rows.
ORDINARY = {
    "`Perceptron()`, `Perceptron()`": ("Perceptron", "Perceptron"),
    "`Perceptron(average=True)`, `SGDClassifier(average=True)`": ("averaged", "SGDClassifier (hinge)"),
    "`SoftMargin()`, `LinearSVC()`": ("SoftMargin", "LinearSVC"),
    '`SoftMargin(kernel="rbf")`, `SVC()`': ("SoftMargin(kernel='rbf')", "SVC"),
}
# The rows that docs/speed.md shows, by section and by name; whether they were won or lost does not matter.
# A section that was not measured yet is left out.
SHOWN = {
    "pass": ("dense float64", "CSR"),
    "zero": ("",),
    "verdict": ("",),
    "margin": ("",),
    "soft": ("",),
    "files": ("Enron", "covtype"),
    "start": ("import, Perceptron",),
}
NAMES = {
    "pass": "one pass",
    "zero": "until no error is left",
    "verdict": "verdict and proof",
    "margin": "largest margin",
    "soft": "soft margin",
    "files": "from a file",
    "start": "start Python",
}
MOST = 4  # rows of a section
SEVERAL = (
    *("Perceptron as shipped", "Perceptron()", "Perceptron", "SGDClassifier (hinge)"),
    *("SGDClassifier(average=True)", "SGDClassifier", "LinearSVC(C=0.1)", "LinearSVC(C=1)"),
    *("LinearSVC(C=10)", "LinearSVC", "SVC()", "SVC"),
)  # contenders of one program
# The columns of that table, and what the contenders of each are called in the rows.
PROGRAMS = {
    "scikit-learn": (*SEVERAL, "scikit-learn's"),
    "liblinear": ("liblinear",),
    "Vowpal Wabbit": ("Vowpal Wabbit",),
    "HiGHS": ("HiGHS:", "HiGHS"),
}


def keep(rows: Sequence[Row], notes: Sequence[str], path: Path = RESULTS) -> None:
    """Write the rows to the file; they replace older rows of the same sections."""
    sections = {row.section for row in rows}
    known = [each for each in read(path)["rows"] if each["section"] not in sections]
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    merged = [*known, *({**asdict(row), "notes": list(notes), "load": load} for row in rows)]
    path.parent.mkdir(exist_ok=True)
    write_text(path, json.dumps({"rows": merged}, indent=1, ensure_ascii=False) + "\n")


def rendered(path: Path = RESULTS) -> str:
    """The table in Markdown: what was measured, whoever was faster, and how busy the machine was."""
    lines = [f"| | separatrix | {' | '.join(PROGRAMS)} |", "|---" * (len(PROGRAMS) + 2) + "|"]
    shown = []
    for section, parts in SHOWN.items():
        rows = [row for row in read(path)["rows"] if row["section"] == section and any(by_program(row))]
        shown += [row for row in rows if any(part in row["what"] for part in parts)][:MOST]
    for row in shown:
        cells = (f"{NAMES[row['section']]}: {row['what'].split(';')[0]}", row["ours"], *by_program(row))
        lines.append("| " + " | ".join(each.replace("|", "\\|") for each in cells) + " |")
    loads = [float(row["load"]) for row in shown if row.get("load")]
    busy = f"The load average was {min(loads):.1f} to {max(loads):.1f}." if loads else ""
    return "\n".join(lines) + "\n" + (f"\n{busy}\n" if busy else "")


def ordinary(path: Path = RESULTS) -> str:
    """The table on ordinary data: how many times as fast we are, and the accuracies, ours first."""
    lines = [f"| set | {' | '.join(ORDINARY)} |", "|---" * (len(ORDINARY) + 1) + "|"]
    cells: dict[str, dict[tuple[str, str], str]] = {}
    for row in read(path)["rows"]:
        if row["section"] == "ordinary":
            name, _, ours = row["what"].rpartition(": ")
            theirs = re.sub(r" ([\d.]+ (ms|s)|no answer)\b.*", "", row["against"])
            accuracies = re.findall(r"(?<=accuracy )[\d.]+", row["ours"] + row["against"])
            faster = f"{row['ratio'].split()[0]} ({', '.join(accuracies)})" if row["ratio"] else ""
            missing = "ours: " + row["ours"] if row["ours"].startswith("no answer") else row["against"]
            cells.setdefault(name, {})[ours, theirs] = faster or missing
    for name, found in cells.items():
        lines.append(f"| {name} | {' | '.join(found.get(each, '') for each in ORDINARY.values())} |")
    return "\n".join(lines) + "\n"


def by_program(row: dict[str, Any]) -> list[str]:
    """Return the result of each program of the table: the fastest of its contenders that reached the goal.

    The result is empty if the row is about one contender that another row has already.
    """
    told = re.sub(r"^(best .+?|nobody)\. All: ", "", row["against"])
    if row["section"] == "zero" and told == row["against"]:
        return [""] * len(PROGRAMS)
    entries = told.split("; ")
    return [_fastest(entries, names) for names in PROGRAMS.values()]


def _fastest(entries: list[str], names: tuple[str, ...]) -> str:
    found = []
    for entry in entries:
        name = next((name for name in names if entry.startswith(f"{name} ")), None)
        if name is not None:
            words = entry.removeprefix(name).strip()
            found.append((seconds(words), f"{name} {words}" if name in SEVERAL else words))
    return min(found)[1] if found else ""


def seconds(words: str) -> float:
    """Return the time in a cell; infinite if no contender in it reached the goal."""
    found = re.match(r"([\d.]+) (ms|s)\b", words)
    return float(found[1]) * (1e-3 if found[2] == "ms" else 1.0) if found else float("inf")


def is_peer(against: str) -> bool:
    """Return whether it is another program, and not a product of matrices."""
    return bool(against) and not against.startswith(("X @ w", "einsum", "limit", "the faster product"))


def with_tables(text: str) -> str:
    """The page with the tables between their marks."""
    for name, table in (("ordinary", ordinary()), ("measured", rendered())):
        begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
        before, rest = text.split(begin)
        text = before + begin + table + end + rest.split(end)[1]
    return text


def read(path: Path) -> dict[str, list[dict[str, Any]]]:
    if not path.exists():
        return {"rows": []}
    found: dict[str, list[dict[str, Any]]] = json.loads(path.read_text("utf-8"))
    return found


if __name__ == "__main__":
    write_text(PAGE, with_tables(PAGE.read_text("utf-8")))
