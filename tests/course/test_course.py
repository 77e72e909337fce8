"""Sheets: the key is what plain loops find, a sheet states no answer, and the checker runs nothing."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import linprog

from separatrix.course.exercises import exercises
from separatrix.course.grading import grade
from separatrix.course.sheets import notebook, write_sheets
from separatrix.errors import InputError
from tests.run import fine, run

SEEDS = range(12)


def loop(X, y, *, rate=1, bias=0, unit=False, most=10**6):
    """The perceptron as a student writes it; returns the weights after each update, b, and the counts."""
    w, b, counts, history, clean = np.zeros(len(X[0])), 0.0, [0] * len(X), [], False
    while not clean and len(history) < most:
        clean = True
        for i, (x, sign) in enumerate(zip(np.array(X, dtype=float), y, strict=True)):
            if sign * (w @ x + b) <= 0 and len(history) < most:
                w, b, clean = w + rate * sign * x, b + rate * sign * bias, False
                w = w / np.linalg.norm(w) if unit else w
                counts[i] += 1
                history.append(w)
    return history, b, counts


def solve(each):
    """Answer the questions of an exercise from its data alone."""
    data = each.data
    X, y = data.get("X"), data.get("y")
    if each.number == 1:
        history, _, _ = loop(X, y)
        return [len(history), history[-1].tolist(), max(sum(v * v for v in row) for row in X)]
    if each.number == 2:
        history, _, _ = loop(X, y, rate=4)
        return [len(history), history[-1].tolist()]
    if each.number == 3:
        history, b, _ = loop(X, y, bias=4)
        return [len(history), history[-1].tolist(), b]
    if each.number == 4:
        w, x = np.array(data["w"]), np.array(data["x"])
        return [int(y * (w @ x)), int(y * ((w + y * x) @ x))]
    if each.number == 5:
        history, _, _ = loop(X, y, unit=True, most=2)
        return [w.round(2).tolist() for w in history]
    if each.number == 6:
        _, _, counts = loop(X, y)
        return [counts, sum(counts)]
    if each.number == 7:
        score = sum(a * s * np.dot(x, data["new"]) for a, s, x in zip(data["a"], y, X, strict=True))
        return [int(score), 1 if score > 0 else -1]
    if each.number == 8:
        Z = np.array(y)[:, None] * np.array(X)
        found = linprog(np.ones(len(Z)), A_ub=-(Z @ Z.T), b_ub=-np.ones(len(Z)))
        return [round(found.fun, 4)]
    if each.number == 9:
        history, _, _ = loop(X, y)
        return [(history[-1] / 2).tolist(), (-history[-1] / 2).tolist()]
    if each.number == 10:
        W, made, clean = np.zeros((3, 2)), 0, False
        while not clean:
            clean = True
            for x, own in zip(np.array(X), y, strict=True):
                scores = W @ x
                others = [r for r in range(3) if r != own]
                rival = max(others, key=lambda r: (scores[r], -r))
                if scores[rival] >= scores[own]:
                    W[own] += x
                    W[rival] -= x
                    made, clean = made + 1, False
        return [made, W[0].tolist()]
    wrong = sum(
        int(np.argmax(np.array(data["W"]) @ x)) != own
        for x, own in zip(np.array(data["X_new"]), data["y_new"], strict=True)
    )
    return [wrong]


def filled(seed, answers):
    """The notebook of a sheet with answers written into it."""
    content = notebook(seed)
    for cell in content["cells"]:
        name = cell["id"].removeprefix("answer")
        if cell["id"].startswith("answer") and name in answers:
            cell["source"] = [f"answer_{name} = {answers[name]!r}"]
    return content


def written(path, content):
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.mark.parametrize("seed", SEEDS)
def test_answers_of_plain_loops_are_all_right(seed, tmp_path):
    found = {
        question.name: answer
        for each in exercises(seed)
        for question, answer in zip(each.questions, solve(each), strict=True)
    }
    result = grade(written(tmp_path / "sheet.ipynb", filled(seed, found)))
    assert (result.seed, result.wrong, result.missing) == (seed, (), ())
    assert result.questions == len(found) == 22
    off = {
        name: [v + 1 for v in value] if isinstance(value, list) else value + 1
        for name, value in found.items()
    }
    assert grade(written(tmp_path / "off.ipynb", filled(seed, off))).right == ()


def test_sheets_differ_by_seed_and_repeat_with_it():
    assert all(one != two for one, two in pairwise(map(notebook, SEEDS)))
    assert notebook(3) == notebook(3)


def test_a_sheet_states_no_answer_and_the_key_all(tmp_path):
    files = write_sheets(tmp_path / "sheets", [4, 5])
    names = {path.name for path in files}
    sheets = {f"sheet-{seed}.{kind}" for seed in (4, 5) for kind in ("ipynb", "html")}
    assert names == sheets | {"key.json", "key.html"}
    key = json.loads((tmp_path / "sheets" / "key.json").read_text())
    assert set(key) == {"4", "5"}
    for seed in (4, 5):
        content = json.loads((tmp_path / "sheets" / f"sheet-{seed}.ipynb").read_text("utf-8"))
        assert content["nbformat"] == 4
        empty = grade(tmp_path / "sheets" / f"sheet-{seed}.ipynb")
        assert len(empty.missing) == empty.questions == len(key[str(seed)])
        page = (tmp_path / "sheets" / f"sheet-{seed}.html").read_text("utf-8")
        assert page.count("______") >= empty.questions
        assert str(key[str(seed)]["5a"]) not in page
        assert str(key[str(seed)]["5a"]) in (tmp_path / "sheets" / "key.html").read_text("utf-8")


def test_the_checker_reads_plain_values_and_runs_nothing(tmp_path):
    content = filled(1, {})
    code = [
        "import pathlib; pathlib.Path('run').touch()",
        "answer_1a = __import__('os').system('touch run')",
        "answer_2a = open('run', 'w')",
        "answer_3a = (",
    ]
    content["cells"] += [{"cell_type": "code", "id": "x", "source": [line]} for line in code]
    content["cells"].append({"cell_type": "markdown", "source": "answer_4a = 1"})
    result = grade(written(tmp_path / "sheet.ipynb", content))
    assert not result.right
    assert not result.wrong
    assert not (tmp_path / "run").exists()


def test_numbers_may_be_floats_fractions_or_text(tmp_path):
    (four,) = [each for each in exercises(0) if each.number == 4]
    (before, _) = [question.answer for question in four.questions]
    for stated in (before, float(before), str(Fraction(2 * before, 2)), [before]):
        assert "4a" in grade(written(tmp_path / "s.ipynb", filled(0, {"4a": stated}))).right
    for stated in (before + 1, "none", [before, before], {"a": 1}, 1j, b"1", "1e999999999", "1/0"):
        assert "4a" in grade(written(tmp_path / "s.ipynb", filled(0, {"4a": stated}))).wrong


@pytest.mark.parametrize("text", ["", "[]", "{", '{"cells": 3}', '{"cells": [1]}', "[" * 100_000])
def test_what_is_not_a_notebook_is_refused(tmp_path, text):
    (tmp_path / "sheet.ipynb").write_text(text)
    with pytest.raises(InputError, match="not a notebook"):
        grade(tmp_path / "sheet.ipynb")


@pytest.mark.parametrize("metadata", [None, 3, {}, {"separatrix": 1}, {"separatrix": {"seed": "x"}}])
def test_a_notebook_that_names_no_sheet_needs_a_seed(tmp_path, metadata):
    path = written(tmp_path / "sheet.ipynb", notebook(2) | {"metadata": metadata})
    with pytest.raises(InputError, match="which sheet"):
        grade(path)
    assert grade(path, 2).seed == 2


def test_the_command_writes_sheets_and_checks_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fine("course", "sheets", "-o", "sheets", "--students", "2", "--seed", "7")
    assert {path.name for path in (tmp_path / "sheets").iterdir()} >= {"sheet-7.ipynb", "sheet-8.html"}
    both = ("course", "grade", "sheets/sheet-7.ipynb", "sheets/sheet-8.ipynb")
    assert "sheet-8.ipynb: sheet 8, 0 of 22 answers are right." in fine(*both).stdout
    _, answer = json.loads(fine(*both, "--json").stdout)
    assert (answer["seed"], answer["right"], len(answer["missing"])) == (8, [], 22)
    for words in (("grade",), ("sheets",), ("exam",), ("grade", "no.ipynb")):
        assert run("course", *words).exit_code == 2


def test_the_notebooks_of_the_chapters_are_current():
    pytest.importorskip("sphinx_gallery")
    from examples import notebooks

    made = {notebooks.target(chapter): notebooks.notebook(chapter) for chapter in notebooks.chapters()}
    assert len(made) == 5
    assert set(notebooks.FOLDER.iterdir()) == set(made)
    for path, text in made.items():
        assert path.read_text("utf-8") == text, "run: python -m examples.notebooks"
        assert ":math:" not in text
        assert ":ref:" not in text
