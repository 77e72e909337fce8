"""Starting: what a command imports, what small files and questions do without, what is said meanwhile."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from separatrix import progress
from separatrix.cli import console
from separatrix.cli.app import COMMANDS, load
from separatrix.errors import InputError
from separatrix.files.csv import csv_files
from separatrix.files.table import open_table
from separatrix.inputs.data import read_data
from separatrix.loops import compiling
from separatrix.proofs import signed_rows
from separatrix.proofs.strategies import linear_program
from separatrix.proofs.verdict import separability
from separatrix.rows import numpy_loops
from separatrix.sparse import dense
from tests.run import PATIENTS, fine, refused

HEAVY = (
    "dask",
    "duckdb",
    "matplotlib",
    "numba",
    "pandas",
    "pyarrow",
    "rich.markdown",
    "scipy.linalg",
    "scipy.sparse",
    "sklearn",
    "skops",
)
OTHERS = PATIENTS.removesuffix("6,58,b,yes\n")
OVERLAP = OTHERS + "6,58,b,no\n"  # between rows of the other class
QUASI = OTHERS + "3,51,a,no\n"  # one patient twice, with both outcomes
THREE = OTHERS + "6,58,b,better\n"


def imported(*words, cwd=None):
    """The packages of HEAVY that a command imports."""
    code = (
        "import sys, json\nfrom separatrix.cli import main\nsys.argv = ['separatrix', *sys.argv[1:]]\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        f"print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, cwd=cwd, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def test_help_imports_nothing_heavy_and_a_check_of_a_small_file_only_arrow(tmp_path):
    assert imported("--help") == []
    (tmp_path / "patients.csv").write_text(OTHERS)
    for more in ([], ["--json"], ["--certificate", "proof.json"]):
        assert imported("check", "patients.csv", "--target", "recovered", *more, cwd=tmp_path) == ["pyarrow"]
    assert imported("verify", "proof.json", "patients.csv", cwd=tmp_path) == ["pyarrow"]


@pytest.mark.parametrize("text", [OVERLAP, QUASI, THREE], ids=["overlap", "quasi", "three classes"])
def test_a_small_check_imports_nothing_heavy_whatever_the_answer(text, tmp_path):
    (tmp_path / "rows.csv").write_text(text)
    assert imported("check", "rows.csv", "--target", "recovered", cwd=tmp_path) == ["pyarrow"]


@settings(max_examples=60)
@given(
    data=st.lists(
        st.tuples(
            st.sampled_from([0.0, 1.0, -3.5, 1e300, 1e-300, 7.0]), st.integers(-2, 2), st.integers(0, 2)
        ),
        min_size=3,
        max_size=9,
    ),
    lift=st.booleans(),
    joint=st.booleans(),
    tight=st.booleans(),
)
def test_few_rows_are_the_same_program_as_an_array_and_as_a_sparse_matrix(data, lift, joint, tight):
    *columns, y = np.array(data).T
    y[:3] = 0, 1, 2
    rows = read_data(np.column_stack(columns), y)
    found = []
    for limit in (signed_rows.SMALL, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(signed_rows, "SMALL", limit)
            asked = signed_rows.SignedRows(rows, None if joint else 1, np.ones(len(y), dtype=bool), lift)
        floats = asked.floats(asked.ids)
        assert sparse.issparse(floats) == (limit == 0)
        starts, places, values = linear_program.entries(floats, 0.0 if tight else -1.0)
        assert values.all()
        program = sparse.csr_array((values, places, [*starts, len(values)]), (len(starts), asked.width + 1))
        found.append((dense(floats).tolist(), program.toarray().tolist()))
    assert found[0] == found[1]


def test_the_list_of_commands_says_the_first_sentence_of_each():
    listed = " ".join(fine("--help").stdout.split())
    for command in COMMANDS:
        first = load(command).help.split("\n\n")[0]
        assert " ".join([command, *first.split()]) in listed


def test_a_command_that_is_misspelt_is_guessed():
    assert "'check'" in refused("checks")


@pytest.mark.parametrize("command", ["--help", "check --help", "generate xor --rows 20000"])
def test_a_reader_that_has_gone_ends_a_command_quietly(command):
    program = [sys.executable, "-m", "separatrix.cli", *command.split()]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141


CELLS = st.sampled_from(
    [
        "1",
        "2.5",
        "-3e2",
        "1e400",
        "9007199254740993",
        "0.1",
        "007",
        "NA",
        "",
        "x",
        " 4",
        "5 ",
        "+6",
        ".5",
        "\u0661",
        "u,v",
        '"q"',
    ]
)
TEXTS = st.sampled_from(["a", "b", "B", "ä", "yes", "no ", "", "null", "#c", "1"])


@settings(max_examples=150)
@given(
    rows=st.lists(st.tuples(CELLS, TEXTS, st.sampled_from(["u", "v", "1", "2"])), min_size=2, max_size=8),
    missing=st.sampled_from(["error", "drop"]),
    intercept=st.booleans(),
    ending=st.sampled_from(["\n", "\r\n"]),
    last=st.booleans(),
)
def test_a_small_file_is_read_as_a_large_one(tmp_path_factory, rows, missing, intercept, ending, last):
    path = tmp_path_factory.mktemp("small") / "rows.csv"
    lines = ["a,b,y", *map(",".join, rows)]
    path.write_bytes((ending.join(lines) + ending * last).encode())

    def outcome():
        try:
            table = open_table(path, target="y", missing=missing, intercept=intercept)
            labels = table.classes
            X, y = table.read()
        except InputError as problem:
            return str(problem)
        return table.encoding, labels.tolist(), labels.dtype.kind, X.tolist(), y.tolist(), table.n_rows

    found = outcome()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_files, "LARGEST", 0)
        assert outcome() == found


@settings(max_examples=60)
@given(
    data=st.lists(
        st.tuples(st.integers(-2, 2), st.integers(-2, 2), st.integers(0, 2)), min_size=3, max_size=12
    ),
    fit_intercept=st.booleans(),
    multiclass=st.sampled_from(["joint", "one-vs-rest"]),
)
def test_a_small_question_has_the_answer_of_the_large_way(data, fit_intercept, multiclass):
    *columns, y = np.array(data).T
    if np.unique(y).size < 2:
        y[0] = 3
    X = np.column_stack(columns) / 4.0
    found = []
    for limit in (signed_rows.SMALL, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(signed_rows, "SMALL", limit)
            patch.setattr(numpy_loops, "FEW", limit)
            found.append(separability(X, y, fit_intercept=fit_intercept, multiclass=multiclass))
    one, other = found
    assert one.status == other.status
    assert one.strict_rows.tolist() == other.strict_rows.tolist()
    # Two brackets of one number overlap.
    assert max(one.margin[0], other.margin[0]) <= min(one.margin[1], other.margin[1])


class Line:
    """A spinner that remembers what it showed."""

    def __init__(self, words):
        self.shown = [str(words)]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.shown.append("end")

    def update(self, words):
        self.shown.append(str(words))


def test_compiling_is_said_in_the_spinners_own_line_and_nothing_else_is_written(monkeypatch, capsys):
    lines = []

    class Terminal:
        def status(self, words, **_):
            lines.append(Line(words))
            return lines[-1]

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(console, "_console", lambda stream: Terminal())
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with console.waiting("Reading the rows"):
        with progress.compiling():
            pass
        with progress.Progress() as line:
            line.show("pass 3")
    assert lines[0].shown == [
        "Reading the rows", progress.COMPILING, "Reading the rows", "pass 3", "Reading the rows", "end",
    ]  # fmt: skip
    assert capsys.readouterr() == ("", "")


@pytest.mark.compiled
def test_numba_says_when_it_compiles():
    import numba

    assert compiling.loop is not None
    doubled, seen = numba.njit(lambda x: x + x), []  # one that no cache has
    with progress.shown_by(seen.append):
        assert doubled(2.0) == 4.0
        assert doubled(3.0) == 6.0
    assert seen == [progress.COMPILING, ""]
