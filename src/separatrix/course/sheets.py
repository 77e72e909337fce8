"""Sheets as notebooks and pages, and the key for the lecturer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from .. import atomic
from ..markup import Markup, document, join, table, tag
from ..views.palettes import page_style
from .exercises import Exercise, exercises

TITLE = "Perceptrons: exercises"
HOW = (
    "Write each answer into the cell below its question, as a number or a list. Fractions are text, as in "
    "'3/4'. The checker reads these cells and runs nothing."
)


def write_sheets(directory: Path, seeds: Iterable[int]) -> list[Path]:
    """Write a sheet for each seed, as notebook and page, and the key of all of them; return the files.

    Parameters
    ----------
    directory : Path
        It is made if it does not exist.
    seeds : iterable of int
        One for each student.
    """
    atomic.made(directory)
    files: dict[Path, str] = {}
    keys: dict[int, tuple[Exercise, ...]] = {}
    for seed in seeds:
        keys[seed] = exercises(seed)
        name = directory / f"sheet-{seed}"
        files[name.with_suffix(".ipynb")] = json.dumps(notebook(seed), indent=1, ensure_ascii=False) + "\n"
        title = f"{TITLE} (sheet {seed})"
        files[name.with_suffix(".html")] = page(title, {title: keys[seed]}, key=False)
    known = {str(seed): _answers(key) for seed, key in keys.items()}
    files[directory / "key.json"] = json.dumps(known, indent=1) + "\n"
    every = {f"Sheet {seed}": key for seed, key in keys.items()}
    files[directory / "key.html"] = page(f"{TITLE}: key", every, key=True)
    for path, text in files.items():
        atomic.write_text(path, text)
    return list(files)


def _answers(sheet: tuple[Exercise, ...]) -> dict[str, Any]:
    return {question.name: question.answer for each in sheet for question in each.questions}


def notebook(seed: int) -> dict[str, Any]:
    """Return a sheet as a notebook, without answers."""
    cells = [_cell("markdown", "title", f"# {TITLE} (sheet {seed})\n\n{HOW}")]
    for each in exercises(seed):
        cells.append(
            _cell("markdown", f"text{each.number}", f"## {each.number}. {each.title}\n\n{each.text}")
        )
        given = "\n".join(f"{name} = {value!r}" for name, value in each.data.items())
        cells.append(_cell("code", f"data{each.number}", given))
        for question in each.questions:
            cells.append(_cell("markdown", f"ask{question.name}", f"**{question.name}.** {question.text}"))
            cells.append(_cell("code", f"answer{question.name}", f"answer_{question.name} = None"))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "separatrix": {"seed": seed}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _cell(kind: str, name: str, text: str) -> dict[str, Any]:
    lines = text.splitlines(keepends=True)
    cell: dict[str, Any] = {"cell_type": kind, "id": name, "metadata": {}, "source": lines}
    return cell | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def page(title: str, sheets: Mapping[str, tuple[Exercise, ...]], *, key: bool) -> str:
    """Return sheets, each with its title, as a page that prints well, with or without the answers."""
    parts = [
        part
        for name, sheet in sheets.items()
        for part in (tag("h1", name), *(_section(each, key) for each in sheet))
    ]
    return document(title, page_style(), tag("main", join(parts, "\n")))


def _section(each: Exercise, key: bool) -> Markup:
    parts = [tag("h2", f"{each.number}. {each.title}"), tag("p", each.text), *_tables(each.data)]
    for question in each.questions:
        said = f" {question.answer}" if key else " ______________________"
        parts.append(tag("p", tag("b", f"{question.name}."), f" {question.text}", tag("code", said)))
    return tag("section", *parts)


def _tables(data: dict[str, Any]) -> list[Markup]:
    """Show rows with their numbers side by side in one table, and everything else as text."""
    length = max((len(value) for value in data.values() if isinstance(value, list)), default=0)
    columns = {
        name: value for name, value in data.items() if isinstance(value, list) and len(value) == length
    }
    has_rows = any(isinstance(value[0], list) for value in columns.values())
    shown = columns if has_rows and len(columns) > 1 else {}
    others = [tag("p", f"{name} = {value}") for name, value in data.items() if name not in shown]
    if not shown:
        return others
    head = [tag("th", name) for name in ("row", *shown)]
    rows = [
        [tag("td", str(i)), *(tag("td", str(value[i])) for value in shown.values())] for i in range(length)
    ]
    return [table(head, rows), *others]
