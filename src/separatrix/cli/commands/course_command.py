"""``separatrix course``: sheets with exercises for students, their key, and a checker of answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from ..console import facts, show, write_json


def course(
    task: Literal["sheets", "grade"],
    notebooks: list[Path] | None = None,
    *,
    output: Path | None = None,
    students: Annotated[int, {"min": 1}] = 1,
    seed: Annotated[int | None, {"min": 0}] = None,
    json: bool = False,
) -> None:
    """Write sheets with the exercises of the course, or check the answers that notebooks state.

    A sheet is a notebook and a page to print. Its data depend on its number, so that each student can have
    another sheet; key.json and key.html have the answers of all. Checking runs nothing: it compares the
    numbers that a notebook states.

    For example:

        separatrix course sheets -o sheets --students 30

        separatrix course grade sheets/sheet-7.ipynb sheets/sheet-8.ipynb

    Options
    -------
    task: What to do.
    notebooks NOTEBOOK: The notebooks to check.
    output, -o DIR: The folder for the sheets and the key.
    students N: The number of sheets.
    seed: The number of the first sheet, by default 0; for grade, the sheet that the student was given, by
        default the one that the notebook names.
    """
    from ...course.grading import grade
    from ...course.sheets import write_sheets

    if task == "sheets":
        if output is None:
            raise typer.BadParameter("Sheets need a folder: name it with --output DIR.")
        first = 0 if seed is None else seed
        files = write_sheets(output, range(first, first + students))
        if json:
            write_json([str(path) for path in files])
        else:
            show(f"Sheets: {students}, in {output}. Key: {output / 'key.html'}, {output / 'key.json'}.")
        return
    if not notebooks:
        raise typer.BadParameter("Name the notebooks to check: separatrix course grade sheet-7.ipynb.")
    answers = []
    for notebook in notebooks:
        found = grade(notebook, seed)
        lists = {kind: list(getattr(found, kind)) for kind in ("right", "wrong", "missing")}
        answers.append({"notebook": str(notebook), "seed": found.seed, "questions": found.questions, **lists})
        if not json:
            told = f"sheet {found.seed}, {len(found.right)} of {found.questions} answers are right."
            show(f"{notebook}: {told}")
            show(facts([(kind, ", ".join(names)) for kind, names in lists.items() if names]))
    if json:
        write_json(answers)
