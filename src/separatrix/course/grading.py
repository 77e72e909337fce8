"""Check the stated answers of a notebook: its text is read, and nothing in it is run."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..errors import InputError
from .exercises import Question, exercises

NUMBER = re.compile(r"[-+]?\d{1,40}(?:/\d{1,40}|\.\d{1,40})?")  # as text; an exponent could be huge
MOST_BYTES = 50_000_000  # of a notebook


@dataclass(frozen=True)
class Grade:
    """The answers of a sheet: which are right, which are wrong, and which are missing.

    Attributes
    ----------
    seed : int
    right, wrong, missing : tuple of str
        Names of questions.
    """

    seed: int
    right: tuple[str, ...]
    wrong: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def questions(self) -> int:
        """The number of questions."""
        return len(self.right) + len(self.wrong) + len(self.missing)


def grade(path: Path, seed: int | None = None) -> Grade:
    """Compare the answers that a notebook states with those of its sheet.

    Parameters
    ----------
    path : Path
        A notebook of `sheets.write_sheets`.
    seed : int, optional
        The sheet that the student was given. By default, the one that the notebook names.
    """
    content = _read(path)
    metadata = content.get("metadata")
    own = metadata.get("separatrix") if isinstance(metadata, dict) else None
    named = own.get("seed") if isinstance(own, dict) else None
    if seed is None and not (isinstance(named, int) and named >= 0):
        raise InputError(
            f"{str(path)!r} does not say which sheet it is.",
            remedy="Pass the number of the sheet with --seed.",
            parameter="seed",
        )
    wanted: int = named if seed is None else seed  # type: ignore[assignment]
    stated = _stated(content)
    questions = [question for each in exercises(wanted) for question in each.questions]
    marks = {question.name: _mark(question, stated.get(question.name)) for question in questions}
    each = [tuple(name for name, mark in marks.items() if mark is kind) for kind in (True, False, None)]
    return Grade(wanted, *each)


def _read(path: Path) -> dict[str, Any]:
    if path.stat().st_size > MOST_BYTES:
        raise InputError(f"{str(path)!r} is larger than {MOST_BYTES:,} bytes, too large for a sheet.")
    try:
        content = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError):
        content = None
    cells = content.get("cells") if isinstance(content, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise InputError(
            f"{str(path)!r} is not a notebook: it has no list of cells in JSON.",
            remedy="Pass the .ipynb file that the student saved.",
        )
    return dict(content)


def _stated(content: dict[str, Any]) -> dict[str, Any]:
    """Return what the code cells assign to names like answer_1a, if it is written as plain values."""
    found: dict[str, Any] = {}
    for cell in content["cells"]:
        text = cell.get("source", "")
        text = "".join(map(str, text)) if isinstance(text, list) else str(text)
        if cell.get("cell_type") != "code" or "answer_" not in text:
            continue
        try:
            lines = ast.parse(text).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for line in lines:
            if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name):
                name = line.targets[0].id
                if name.startswith("answer_"):
                    try:
                        found[name.removeprefix("answer_")] = ast.literal_eval(line.value)
                    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                        found.pop(name.removeprefix("answer_"), None)
    return found


def _mark(question: Question, stated: Any) -> bool | None:
    """Return whether an answer is right; None if it is missing."""
    if stated is None:
        return None
    answer = question.answer if isinstance(question.answer, list) else [question.answer]
    given = list(stated) if isinstance(stated, list | tuple) else [stated]
    if any(isinstance(value, str) and NUMBER.fullmatch(value.strip()) is None for value in given):
        return False
    try:
        numbers = [Fraction(value) for value in given]
    except (ValueError, TypeError, OverflowError, ZeroDivisionError):
        return False
    pairs = zip(numbers, answer, strict=False)
    near = all(abs(number - Fraction(value)) <= Fraction(question.tolerance) for number, value in pairs)
    return len(numbers) == len(answer) and near
