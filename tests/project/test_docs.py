"""Every block of code in the pages runs: Python as doctests, commands here, with the files that they name."""

from __future__ import annotations

import dataclasses
import datetime as dt
import doctest
import gzip
import importlib
import inspect
import json
import os
import pathlib
import pkgutil
import re
import shlex
import subprocess
import sys
import tomllib

import numpy as np
import pytest

import separatrix as sx

pytest.importorskip("typer")
pytest.importorskip("duckdb")

import pandas as pd
from sklearn.datasets import dump_svmlight_file
from typer.testing import CliRunner

from separatrix.cli.app import COMMANDS, app, load

ROOT = pathlib.Path(__file__).parents[2]
MADE = {
    "_build",
    "course",
    "applications",
    "benchmarks",
    "generated",
}  # by the build, from sources that are run there
PAGES = sorted(page for page in (ROOT / "docs").rglob("*.md") if not MADE & set(page.parts))
PAGES += [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHELL = ("", "console")
# What starts a server, takes long, or changes the environment; each command has tests of its own.
ELSEWHERE = (
    "pip install",
    "python3 -m venv",
    "make ",
    *(f"separatrix {name}" for name in ("play", "demo", "experiment")),
)
pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


def blocks(page):
    return BLOCK.findall(page.read_text("utf-8"))


def commands(page):
    """(command, what is shown of its answer) of each command in a block, in order."""
    for kind, body in blocks(page):
        if kind == "console":
            for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                command, _, shown = part.partition("\n")
                yield command, shown
        elif kind == "":
            yield from ((line, "") for line in body.splitlines() if "separatrix " in line)


@pages
def test_every_block_is_of_a_kind_that_is_run(page):
    for kind, body in blocks(page):
        if kind == "python":
            # Doctests are run by pytest, the gallery's code by its own test.
            assert ">>> " in body or page.name == "gallery.md"
        elif kind == "json":
            json.loads(body if body.startswith("{") else f"{{{body}}}")
        else:
            assert kind in SHELL or kind.startswith("{"), kind
    if any(kind == "python" for kind, _ in blocks(page)) and page.name != "gallery.md":
        found = doctest.DocTestParser().get_examples(page.read_text("utf-8"))
        assert len(found) >= sum(body.count(">>> ") for kind, body in blocks(page) if kind == "python")


@pages
def test_every_command_in_a_line_of_text_has_options_that_exist(page):
    told = BLOCK.sub("", page.read_text("utf-8"))
    lines = re.findall(r"`(separatrix (?!certificate 1 )[a-z]+[^`]*)`", told)
    lines += [command for command, _ in commands(page)]
    for line in lines:
        for part in re.split(r"\||&&", line):
            words = shlex.split(part, comments=True)
            if words[:1] == ["separatrix"] and not words[1].startswith("-"):
                known = {name for each in load(words[1]).params for name in each.opts + each.secondary_opts}
                given = {word.partition("=")[0] for word in words[2:] if re.match("--?[a-zA-Z]", word)}
                assert given <= known, (line, given - known)


def test_every_command_in_a_line_of_text_that_needs_a_target_names_it():
    for page in PAGES:
        told = BLOCK.sub("", page.read_text("utf-8"))
        for line in re.findall(r"`(separatrix (?:check|fit|learn|film) [\w-]+\.csv[^`]*)`", told):
            assert re.search(r" (--target|-t|--formula)\b", line), (page.name, line)


def test_the_page_on_json_has_the_words_for_coefficients_that_the_schema_has():
    schema = json.loads((ROOT / "src/separatrix/cli/schema.json").read_text("utf-8"))
    page = (ROOT / "docs/json.md").read_text("utf-8").splitlines()
    for name in ("coefficients", "responsible_features"):
        line = next(line for line in page if line.startswith(f"| `{name}`"))
        words = schema["$defs"]["verdict"]["properties"][name]["additionalProperties"]["enum"]
        assert set(re.findall(r'"([^"]*)"', line)) == set(words) - {None}


@pages
def test_every_command_in_a_block_runs_and_says_what_the_page_shows(page, tmp_path, monkeypatch):
    asked = [each for each in commands(page) if not each[0].startswith(ELSEWHERE)]
    if not asked:
        return
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    _write_files(page)
    for command, shown in asked:
        said = _run(command)
        place, parts = (
            0,
            [" ".join(part.split()) for part in re.split(r"^\.\.\.$", shown, flags=re.MULTILINE)],
        )
        text = " ".join(said.split())
        for part in parts:  # three dots alone in a line stand for what is left out
            assert part in text[place:], (command, part, said)
            place = text.index(part, place) + len(part)
        assert not shown.strip() or (text.startswith(parts[0]) and text.endswith(parts[-1])), said


def _run(command):
    words = shlex.split(command, comments=True)
    if words[0] == "separatrix" and not set(words) & {"|", "&&", ">"}:
        done = CliRunner().invoke(app, words[1:])
        assert done.exit_code == 0, (command, done.output, done.exception)
        return done.stdout
    program = f'separatrix() {{ {shlex.quote(sys.executable)} -m separatrix.cli "$@"; }}'
    aside = "fit-a-logistic-regression() { true; }"
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(sx.__file__).parent.parent)}
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{program}\n{aside}\n{command}"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def _write_files(page):
    """The files that the pages name, small and with the columns that they name."""
    readme = (ROOT / "README.md").read_text("utf-8")
    pathlib.Path("patients.csv").write_text(
        re.search(r"```\n(dose,age,recovered\n.*?)```", readme, re.DOTALL)[1]
    )
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(60, 3)).round(2)
    noisy = numbers @ [1.0, -1.0, 0.5] + rng.normal(size=60) > 0
    frame = pd.DataFrame(numbers, columns=["age", "amount", "months"])
    frame.to_csv("new.csv", index=False)
    frame.assign(**{"class": np.where(noisy, "good", "bad")}).to_csv("german.csv", index=False)
    frame.assign(HG=noisy.astype(int)).to_csv("endometrial.csv", index=False)
    pathlib.Path("claims.csv").write_text("claims,age,region\n2,30,n\n0,41,s\n1,52,n\n3,35,s\n")
    pathlib.Path("trial.csv").write_text(
        "days,died,dose,center\n5,1,1,a\n7,0,2,b\n3,1,0,a\n9,1,2,b\n4,1,3,a\n"
    )
    frame.assign(spam=noisy.astype(int)).to_parquet("spam.parquet")
    clicks = frame.assign(clicked=noisy.astype(int))
    clicks.to_parquet("clicks.parquet")
    clicks.to_csv("clicks.csv.gz", index=False)
    problem = sx.datasets.make_separable(30, margin=0.2, random_state=0)
    pd.DataFrame(problem.X, columns=["x1", "x2"]).assign(y=problem.y).to_csv("data.csv", index=False)
    pathlib.Path("small.csv").write_bytes(pathlib.Path("data.csv").read_bytes())
    dump_svmlight_file(problem.X, problem.y, "mushrooms.svm")
    dump_svmlight_file(numbers, noisy.astype(int), "data.svm")
    with gzip.open("mail.svm.gz", "wb") as stream:
        dump_svmlight_file(numbers, np.where(noisy, 1, -1), stream)
    pathlib.Path("xor.csv").write_text("a,b,y\n0,0,0\n1,1,0\n0,1,1\n1,0,1\n")
    if page.name == "cli.md":
        ill = pd.DataFrame({"id": range(12), "dose": rng.integers(1, 6, 12), "ward": list("abc") * 4})
        ill = ill.assign(ill=rng.permutation(["no", "yes"] * 6))
        ill.to_csv("patients.csv", index=False)
        ill.to_parquet("patients.parquet")


def test_the_numbers_of_the_working_set_in_the_architecture_are_those_of_the_code():
    from separatrix.perceptron import working_set as code
    from separatrix.rows import numpy_loops

    text = " ".join((ROOT / "ARCHITECTURE.md").read_text("utf-8").split())
    assert (code.MANY, code.WORK, code.CLOSING) == (1 / 20, 4, 6)
    for told in (
        f"Up to {code.ADDED:,} rows with the lowest scores",
        f"Up to {code.SET_PASSES} plain passes visit the working set",
        f"the {code.CORE} lowest rows of the set",
        f"Up to {code.SMALL} rows, all rows are the core",
        f"eight from each of {code.STREAMS // 2} to {2 * code.STREAMS} places in turn",
        "more than one row in twenty is wrong",
        "exceeds four readings of all the data",
        "six passes and scans end the run",
        "no margin is larger than 0.0005 R",
        f"Up to {numpy_loops.FEW:,} numbers",
    ):
        assert told in text, told


def test_every_attribute_that_the_docstring_of_a_dataclass_names_is_there():
    section = re.compile(r"^Attributes\n-+\n(.*?)(?=^\w[^\n]*\n-{3,}|\Z)", re.DOTALL | re.MULTILINE)
    seen = 0
    for found in pkgutil.walk_packages(sx.__path__, "separatrix."):
        if found.name.endswith("__main__"):
            continue
        module = importlib.import_module(found.name)
        for kind in vars(module).values():
            if not (dataclasses.is_dataclass(kind) and getattr(kind, "__module__", "") == found.name):
                continue
            told = section.search(inspect.cleandoc(kind.__doc__ or ""))
            lines = re.findall(r"^([A-Za-z_][\w, ]*?)(?: : .*)?$", told[1], re.MULTILINE) if told else []
            names = {name.strip() for line in lines for name in line.split(",")}
            there = {field.name for field in dataclasses.fields(kind)} | set(dir(kind))
            # what a display keeps of its drawing ends in an underscore, and is there when it has drawn
            assert {name for name in names if not name.endswith("_")} <= there, kind
            seen += len(names)
    assert seen > 500


def test_the_files_agree_on_the_version_and_its_date():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    cited = (ROOT / "CITATION.cff").read_text("utf-8")
    newest = re.search(r"^## \[(.*?)\] - (.*)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert sx.__version__ == version == re.search(r"^version: (.*)$", cited, re.MULTILINE)[1] == newest[1]
    assert re.search(r"^date-released: (.*)$", cited, re.MULTILINE)[1] == newest[2]
    assert dt.date.fromisoformat(newest[2])


@pytest.mark.parametrize("name", sx.__all__)
def test_the_reference_has_every_public_name(name):
    folder = ROOT / "docs" / "reference"
    listed = (folder / "index.md").read_text("utf-8")
    if inspect.ismodule(getattr(sx, name)):
        page = folder / f"{name}.md"
        assert f"automodule:: {getattr(sx, name).__name__}\n" in page.read_text("utf-8")
    assert re.search(rf"^ *{name}$", listed, re.MULTILINE)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_examples_of_the_help_are_those_of_the_page(name):
    section = (
        (ROOT / "docs" / "cli.md").read_text("utf-8").split(f"## separatrix {name}\n")[1].split("\n## ")[0]
    )
    module = __import__(f"separatrix.cli.commands.{name}_command", fromlist=[name])
    text = inspect.getdoc(getattr(module, name))
    told = [line.strip() for line in text.split("For example:")[1].splitlines() if "separatrix " in line]
    shown = [line for kind, body in BLOCK.findall(section) if kind == "" for line in body.splitlines()]
    assert [line for line in told if line not in shown] == []
