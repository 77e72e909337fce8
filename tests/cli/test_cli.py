"""The command line as a person uses it: answers, files, exit codes, and what it says when things go wrong."""

from __future__ import annotations

import dataclasses
import gzip
import json
import os
import pathlib
import pickle
import re
import subprocess
import sys
import zipfile

import numpy as np
import pyarrow.parquet as pq
import pytest
import skops.io

import separatrix as sx
from separatrix import errors
from separatrix.cli.app import BUG, COMMANDS, load
from separatrix.errors import SeparatrixError
from tests.run import answer as found
from tests.run import fine, refused, run

DOCS = pathlib.Path(__file__).parents[2] / "docs" / "cli.md"
# Case, sex and age of a made-up clinic: every treated patient recovered, so the data are quasi-separated.
CLINIC = """sex,age,treated,recovered
m,31,no,no
f,45,no,yes
m,62,no,no
f,29,no,no
m,38,no,yes
f,51,yes,yes
m,47,yes,yes
f,33,yes,yes
m,58,no,yes
f,60,no,no
m,35,no,no
f,41,no,yes
"""


@pytest.fixture
def clinic(tmp_path):
    path = tmp_path / "clinic.csv"
    path.write_text(CLINIC)
    return path


def program(*arguments):
    """The real program as a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(sx.__file__).parent.parent)}
    return {"args": [sys.executable, "-m", "separatrix.cli", *map(str, arguments)], "env": environment}


def separatrix(*arguments, **options):
    return subprocess.run(capture_output=True, text=True, timeout=300, **program(*arguments), **options)


# The imports of the program take longer than most answers: they are made once, and each command is a process
# that begins from there, with its own streams and exit code.
FORKS = """
import json, os, sys
from separatrix.cli import main
import separatrix.cli.app, separatrix.files.table
for line in sys.stdin:
    command = json.loads(line)
    child = os.fork()
    if not child:
        for number, path in enumerate(command["streams"]):
            os.dup2(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), number)
        sys.argv = ["separatrix", *command["arguments"]]
        sys.exit(main())
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture(scope="module")
def forked(tmp_path_factory):
    """Runs commands of the program one after the other, each in a process of its own."""
    if not hasattr(os, "fork"):
        yield separatrix
        return
    folder = tmp_path_factory.mktemp("streams")
    server = {**program(), "args": [sys.executable, "-c", FORKS]}
    with subprocess.Popen(stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **server) as process:

        def command(*arguments):
            out, err = folder / "out", folder / "err"
            out.write_text("")
            err.write_text("")
            streams = [os.devnull, str(out), str(err)]
            process.stdin.write(json.dumps({"arguments": [*map(str, arguments)], "streams": streams}) + "\n")
            process.stdin.flush()
            code = int(process.stdout.readline())
            return subprocess.CompletedProcess(
                arguments, code, out.read_text("utf-8"), err.read_text("utf-8")
            )

        yield command
        process.stdin.close()


def test_check_says_what_the_library_says(clinic):
    answer = found("check", clinic, "--target", "recovered")
    assert answer["status"] == "quasi-separable"
    assert answer["responsible_features"] == {"treated=yes": "+infinity"}
    assert answer["data"]["rows"] == 12
    words = fine("check", clinic, "--target", "recovered").stdout
    assert "In part: 3 of 12 rows" in words
    assert "treated=yes" in words
    assert "no finite maximum-likelihood estimate" in " ".join(words.split())


def test_a_certificate_is_written_read_shown_and_refused_for_other_data(clinic, tmp_path):
    proof = tmp_path / "proof.json"
    fine("check", clinic, "--target", "recovered", "--certificate", proof)
    assert "The certificate holds" in fine("verify", proof, clinic).stdout
    assert found("verify", proof, clinic)["holds"] is True
    assert "quasi-separable" in fine("inspect", proof).stdout
    assert found("inspect", proof)["certificates"][0]["claim"] == "quasi-separable"
    clinic.write_text(CLINIC.replace("m,31", "m,32"))
    assert "another hash" in refused("verify", proof, clinic)
    result = run("verify", proof, clinic, "--any-data")
    assert result.exit_code == 1
    assert "does not hold" in result.stdout


def test_several_certificates_go_into_one_file(tmp_path):
    data, proof = tmp_path / "three.csv", tmp_path / "proofs.json"
    data.write_text("x,y\n1,a\n2,a\n4,b\n5,b\n7,c\n4.5,c\n")
    fine("check", data, "--target", "y", "--multiclass", "pairwise", "--certificate", proof)
    assert len(found("verify", proof, data)["certificates"]) == 3


def test_what_takes_longer_than_allowed_is_undecided(tmp_path):
    random = np.random.default_rng(0)
    table = np.column_stack([random.standard_normal((3_000, 30)).round(3), random.integers(0, 9, 3_000)])
    data = tmp_path / "noise.csv"
    np.savetxt(data, table, delimiter=",", header=",".join(f"x{j}" for j in range(31)), comments="")
    answer = found("check", data, "--target", "x30", "--time-limit", "1e-6")
    assert answer["status"] == "undecided"
    assert "positive number of seconds" in run("check", data, "--target", "x30", "--time-limit", "0").stderr


def test_the_strategies_of_the_search_are_listed_if_asked_for(clinic):
    told = run("check", clinic, "--target", "recovered", "--explain").stdout
    assert "conflicts" in told
    assert "linear program" in told
    assert "linear program" not in run("check", clinic, "--target", "recovered").stdout
    steps = found("check", clinic, "--target", "recovered", "--explain")["search"]
    assert steps[-1]["outcome"] == "separated"


def test_fail_if_sets_the_exit_code_and_nothing_else(clinic):
    for wanted, code in (("separable", 0), ("quasi-separable", 1), ("inseparable", 1), ("overlapping", 0)):
        result = run("check", clinic, "--target", "recovered", "--fail-if", wanted)
        assert result.exit_code == code, wanted
        assert "In part" in result.stdout
    assert "--fail-if takes one of" in refused("check", clinic, "--target", "recovered", "--fail-if", "maybe")


@pytest.mark.parametrize(
    "options",
    [
        ["--model", "perceptron", "--holdout", "0.4"],
        ["--model", "averaged", "--max-iter", "20", "--folds", "2"],
        ["--model", "kernel", "--kernel", "poly", "--degree", "3", "--scale"],
        ["--model", "soft-margin", "--C", "10", "--scale"],
        ["--model", "passive-aggressive", "--variant", "PA-II", "--C", "0.5", "--folds", "2"],
        ["--model", "winnow", "--eta0", "0.01", "--holdout", "0.4"],
        ["--model", "network", "--inseparable", "warn", "--max-units", "3"],
    ],
    ids=lambda options: options[1],
)
def test_a_model_is_fitted_saved_shown_and_used(options, clinic, tmp_path):
    model, out = tmp_path / "model.skops", tmp_path / "out.csv"
    fitted = found("fit", clinic, "--target", "recovered", *options, "--output", model)
    assert fitted["data"]["target"] == "recovered"
    assert len(fitted["scores"]) == ("--holdout" in options or "--folds" in options)
    fine("inspect", model)
    shown = found("inspect", model)
    assert shown["classes"] == ["no", "yes"]
    summary = found("predict", model, clinic, "--target", "recovered", "--scores", "--output", out)
    assert summary["rows"] == 12
    assert summary["agreed"] == 12 - fitted["errors"]
    again = sx.load(model)
    last = again[-1] if hasattr(again, "steps") else again
    assert last.feature_names_in_.tolist() == ["sex=m", "age", "treated=yes"]
    assert out.read_text().splitlines()[0] == '"row","label","score"'
    graph = tmp_path / "model.onnx"
    assert found("export", model, "--onnx", graph)["bytes"] == graph.stat().st_size


@pytest.mark.parametrize("model", ["max-margin", "linear-program"])
def test_margins_are_fitted_where_there_is_one_and_refused_where_there_is_none(model, clinic, tmp_path):
    data = tmp_path / "apart.csv"
    data.write_text("x,y\n1,a\n2,a\n4,b\n5,b\n")
    assert found("fit", data, "--target", "y", "--model", model)["errors"] == 0
    assert "cannot be separated" in refused("fit", clinic, "--target", "recovered", "--model", model)


def test_each_online_learner_is_shown_with_its_own_bound_and_a_network_with_its_units(tmp_path):
    data = tmp_path / "square.csv"
    data.write_text("a,b,y\n0,0,n\n0,1,p\n1,0,p\n1,1,n\n")
    for model, bound in (("passive-aggressive", "PA-I"), ("winnow", "Winnow")):
        shown = found("fit", data, "--target", "y", "--model", model, "--max-iter", "3")
        assert [each["name"] for each in shown["bounds"]["bounds"]] == [bound]
    network = found("fit", data, "--target", "y", "--model", "network")
    assert (network["errors"], network["model"]["units"], network["bounds"]) == (0, 2, None)
    assert "2 half-spaces" in fine("fit", data, "--target", "y", "--model", "network").stdout
    for option in ("--no-intercept", "--bounds"):
        assert option in refused("fit", data, "--target", "y", "--model", "network", option)


def test_every_kind_of_file_gives_the_same_answer(clinic, tmp_path):
    import duckdb

    kinds = "{'sex': 'VARCHAR', 'treated': 'VARCHAR', 'recovered': 'VARCHAR'}"
    parquet = tmp_path / "clinic.parquet"
    duckdb.sql(f"COPY (FROM read_csv('{clinic}', types = {kinds})) TO '{parquet}' (FORMAT parquet)")
    packed = tmp_path / "clinic.csv.gz"
    packed.write_bytes(gzip.compress(CLINIC.encode()))
    model = tmp_path / "model.skops"
    fine("fit", parquet, "--target", "recovered", "--model", "soft-margin", "--output", model)
    answers = []
    for path in (clinic, parquet, packed):
        answers.append(found("check", path, "--target", "recovered")["status"])
        out = tmp_path / "out.parquet"
        fine("predict", model, path, "--output", out)
        answers.append(pq.read_table(out).column("label").to_pylist())
    assert answers[:2] * 3 == answers


def test_libsvm_files_need_no_target(tmp_path):
    data, model = tmp_path / "data.svm", tmp_path / "model.skops"
    data.write_text("+1 1:2 3:1\n-1 2:1\n+1 1:1\n-1 2:3 3:1\n")
    assert found("check", data)["status"] == "separable"
    fine("fit", data, "--output", model)
    assert fine("predict", model, data).stdout.splitlines()[1:] == ["1,1", "2,-1", "3,1", "4,-1"]
    proof = tmp_path / "proof.json"
    fine("check", data, "--certificate", proof)
    assert found("verify", proof, data)["holds"] is True


def test_where_sql_features_and_missing_choose_the_rows_and_columns(clinic, tmp_path):
    target = ["--target", "recovered"]
    assert found("check", clinic, *target, "--where", "treated = 'no'")["data"]["rows"] == 9
    assert found("check", clinic, *target, "--features", "age")["data"]["features"] == 1
    assert found("check", clinic, *target, "--exclude", "age,sex")["data"]["features"] == 1
    query = "SELECT age / 10 AS decade, recovered FROM data WHERE sex = 'f'"
    assert found("check", clinic, *target, "--sql", query)["data"]["rows"] == 6
    clinic.write_text(CLINIC.replace("m,62", "m,"))
    assert "'age' (1)" in refused("check", clinic, *target)
    assert found("check", clinic, *target, "--missing", "drop")["data"]["rows"] == 11


def test_fractions_stay_fractions_with_a_condition(tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("x,y\n1.2,a\n1.4,b\n1.3,a\n1.6,b\n")
    assert found("check", data, "--target", "y", "--where", "x > 0")["status"] == "separable"


def text(tmp_path, content, name="data.csv", encoding="utf-8"):
    path = tmp_path / name
    path.write_bytes(content.encode(encoding) if isinstance(content, str) else content)
    return path


NUMBERS = "".join(f"{k},{k % 2}\n" for k in range(10_000))
BAD = {
    "no such file": (lambda tmp: text(tmp, CLINIC).with_name("dta.csv"), "There is no file .*data.csv'"),
    "no such column": (
        lambda tmp: text(tmp, CLINIC.replace("recovered", "recoverd")),
        "Did you mean 'recoverd'",
    ),
    "one value": (lambda tmp: text(tmp, "x,recovered\n1,no\n2,no\n"), r"has only one value \('no'\)"),
    "no rows": (lambda tmp: text(tmp, "x,recovered\n"), "no values"),
    "no rows with a condition": (lambda tmp: text(tmp, CLINIC), "no values.*--where", "--where", "age > 99"),
    "a condition that is no SQL": (lambda tmp: text(tmp, CLINIC), "cannot be queried", "--where", "age >"),
    "ragged": (
        lambda tmp: text(tmp, "x,recovered\n" + "1,0\n" * 50 + "1,2,3,4\n" + "2,1\n"),
        r"line 52: \d+ cells",
    ),
    "wrong encoding": (
        lambda tmp: text(tmp, "größe,recovered\n1,0\n2,1\n", encoding="latin1"),
        "not UTF-8.*--encoding cp1252",
    ),
    "text in a number column": (
        lambda tmp: text(tmp, f"x,recovered\n{NUMBERS}many,1\n"),
        r"Column 'x' .* holds numbers, but row 10,001 \(line 10,002\) has 'many'",
    ),
    "the same name twice": (
        lambda tmp: text(tmp, "x,x,recovered\n1,2,0\n2,1,1\n"),
        "more than one column named 'x'",
    ),
    "a column beyond memory": (
        lambda tmp: text(tmp, "1 1:1\n-1 2000000000:1\n", "data.svm"),
        "row 2 has a column 2,000,000,000",
    ),
    "empty": (lambda tmp: text(tmp, ""), "empty"),
    "a directory": (lambda tmp: tmp, "is a directory"),
    "a zip bomb": (lambda tmp: bomb(tmp), "expands to more than 400 times its size"),
}


def bomb(tmp_path):
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"x,recovered\n" + b"1,0\n" * 40_000_000, compresslevel=9))
    return path


def test_nobody_is_advised_to_do_what_was_done(tmp_path):
    model, data = tmp_path / "m.skops", tmp_path / "narrow.csv"
    a, b = np.random.default_rng(0).normal(size=(2, 2000))
    table = np.column_stack([a, 1000 * b, a + b > 0.5])
    np.savetxt(data, table, delimiter=",", header="a,b,y", comments="")
    few = ["fit", data, "--target", "y", "--max-iter", 2, "--model", "averaged", "-o", model]
    assert "or scale the columns with --scale" in " ".join(fine(*few).output.split())
    assert "scale" not in fine(*few, "--scale").output
    shown = " ".join(fine("inspect", model).output.split())
    assert "by the last weights" in shown
    assert "Raise --max-iter." in shown


@pytest.mark.parametrize("kind", BAD)
def test_bad_data_end_with_a_message_and_no_file(kind, tmp_path, forked):
    make, words, *options = BAD[kind]
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    out.mkdir()
    path = make(folder)
    options += [] if path.suffix == ".svm" else ["--target", "recovered"]
    done = forked("check", path, *options, "--certificate", out / "c.json", "--report", out / "r.html")
    assert done.returncode == 2, done
    assert re.search(words, " ".join(done.stderr.split())), done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert list(out.iterdir()) == []


def test_a_bug_shows_its_traceback_and_where_to_report_it(clinic, monkeypatch):
    """Whatever is not an error of the library or of the system is a bug, a ValueError too."""
    from separatrix.files.table import Table

    for bug in (ValueError("a slip"), TypeError("a slip"), KeyError("a slip"), ImportError("a slip")):

        def slip(*_, bug=bug):
            raise bug

        monkeypatch.setattr(Table, "read", slip)
        result = run("check", clinic, "--target", "recovered")
        assert result.exit_code == BUG == 70
        assert result.stdout == ""
        assert "Traceback" in result.stderr
        assert "a slip" in result.stderr
        assert result.stderr.splitlines()[-1].startswith("Error: This is a bug")
        assert "report it" in result.stderr


@pytest.mark.parametrize(
    "kind",
    [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, SeparatrixError)],
)
def test_each_error_of_the_library_ends_with_a_message(kind, clinic, monkeypatch):
    from separatrix.files.table import Table

    def refuse(*_):
        raise kind("Something is wrong.", remedy="Call f(max_iter=9).", parameter="max_iter")

    monkeypatch.setattr(Table, "read", refuse)
    assert refused("check", clinic, "--target", "recovered").startswith("Error: Something is wrong.")
    said = refused("fit", clinic, "--target", "recovered")
    assert "raise --max-iter or scale the columns with --scale." in said
    assert "max_iter" not in said


def test_errors_survive_a_pickle():
    """Worker processes send them, with all they say."""
    for error in (
        errors.InputError("Found.", remedy="Do this.", parameter="where"),
        errors.NotSeparable("Found.", {"a": 1}, remedy="Do this."),
        errors.MissingPackageError("Found."),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert str(again) == str(error)
        assert vars(again) == vars(error)


PYTHON_ONLY = re.compile(
    r"\w=|sklearn|skops\.io|astype|StandardScaler|OneHotEncoder|\bsx\.|raise max_|partial_fit|"
    r"'(exclude|sql|where|features)'"
)
ROWS = "x,z,y\n1,2,a\n2,2,a\n4,1,b\n5,3,b\n6,1,b\n7,2,b\n"
OVERLAPPING = "x,z,y\n1,2,a\n2,2,b\n4,1,b\n5,3,a\n6,1,b\n7,2,a\n"
T = ("--target", "y")
FIT, MARGIN, KERNEL = ("fit", *T), ("fit", *T, "--model", "max-margin"), ("fit", *T, "--model", "kernel")
# A file's name and content, and the commands that refuse it.
PROVOKED = {
    "overlapping.csv": (OVERLAPPING, [MARGIN, ("fit", *T, "--model", "linear-program")]),
    "huge.csv": ("x,y\n1e300,a\n2,a\n4e305,b\n-5e307,b\n", [FIT, MARGIN, KERNEL, ("learn", *T)]),
    "infinite.csv": (
        "x,y\n1,a\ninf,a\n4,b\n5,b\n",
        [("check", *T), ("learn", *T), FIT, (*FIT, "--scale"), MARGIN, KERNEL],
    ),
    "lacking.csv": ("x,y\n1,a\n,a\n4,b\n5,b\n", [("check", *T), ("learn", *T), FIT]),
    "continuous.csv": ("x,y\n1,0.5\n2,1.5\n3,2.25\n4,7.125\n", [FIT, ("learn", *T), KERNEL]),
    "rare.csv": ("x,y\n1,a\n2,b\n3,b\n4,b\n", [(*FIT, "--folds", "3"), (*FIT, "--holdout", "0.5")]),
    "rows.csv": (
        ROWS,
        [
            (*FIT, "--holdout", "0.001"),
            (*FIT, "--holdout", "0.999"),
            (*FIT, "--order", "foo"),
            (*FIT, "--order", "worst", "--model", "averaged"),
            (*FIT, "--max-iter", "99999999999999999999"),
            (*FIT, "--exclude", "x,z"),
            (*FIT, "--where", "x > 100"),
            (*FIT, "--table", "a"),
            (*MARGIN, "--gap", "-1"),
            (*KERNEL, "--kernel", "foo"),
            (*KERNEL, "--kernel", "precomputed"),
            (*KERNEL, "--gamma", "-1"),
            (*KERNEL, "--order", "worst"),
            ("check",),
            ("check", *T, "--multiclass", "foo"),
            ("check", *T, "--time-limit", "-1"),
            ("learn", *T, "--classes", "a"),
            ("learn", *T, "--classes", "a,c"),
        ],
    ),
    "texts.csv": ("x,y\n" + "".join(f"t{k},{k % 2}\n" for k in range(1500)), [("check", *T)]),
    "nested.jsonl": ('{"x":1,"y":"a"}\n{"x":[2],"y":"b"}\n', [("check", *T)]),
    "infinite.svm": ("1 1:1 2:inf\n-1 1:2\n", [("check",), ("learn",)]),
    "label.npz": ({"X": np.ones((4, 2)), "y": np.array([1.0, 2.0, 1.0, np.inf])}, [("learn",), ("fit",)]),
    "complex.npz": ({"X": np.ones((4, 2)), "y": np.array([1j, 1, 1, 1])}, [("learn",), ("fit",)]),
    "empty.npz": ({"X": np.ones((0, 2)), "y": np.ones(0)}, [("check",), ("fit",)]),
    "infinite.npz": (
        {"X": np.array([[1.0, np.inf]] * 4), "y": [0, 1, 0, 1]},
        [("check",), ("fit", "--scale")],
    ),
}


@pytest.mark.parametrize("name", PROVOKED)
def test_no_file_provokes_a_traceback_or_advice_for_python(name, tmp_path):
    content, commands = PROVOKED[name]
    path = tmp_path / name
    if isinstance(content, dict):
        np.savez(path, **content)
    else:
        path.write_text(content)
    for command, *options in commands:
        said = refused(command, path, *options)
        assert not PYTHON_ONLY.search(said), said


def test_no_model_or_certificate_provokes_a_traceback_or_advice_for_python(clinic, tmp_path):
    model, proof, data = tmp_path / "m.skops", tmp_path / "p.json", text(tmp_path, ROWS, "rows.csv")
    other, infinite = text(tmp_path, OVERLAPPING, "other.csv"), tmp_path / "infinite.csv"
    infinite.write_text(ROWS.replace("5,3", "inf,3"))
    fine("fit", data, *T, "--scale", "-o", model)
    fine("check", data, *T, "--certificate", proof)
    sx.save(sx.Perceptron(average="voted").fit([[0.0], [1.0]], [0, 1]), tmp_path / "voted.skops")
    (tmp_path / "foreign.skops").write_bytes(skops.io.dumps({"a": 1}))
    said = [
        refused("verify", proof, other),
        refused("predict", model, infinite),
        refused("predict", tmp_path / "voted.skops", data),
        refused("export", tmp_path / "voted.skops", "--onnx", tmp_path / "v.onnx"),
        refused("export", model, "--onnx", tmp_path / "v.onnx", "--dtype", "int8"),
        refused("inspect", tmp_path / "foreign.skops"),
    ]
    assert "--any-data" in said[0]
    for words in (*said, fine("fit", other, *T, "--max-iter", 3, "-o", model).output):
        assert not PYTHON_ONLY.search(words), words
    assert not PYTHON_ONLY.search(found("inspect", model)["outcome"])


def test_every_ending_of_a_run_has_words_without_python():
    from separatrix.cli.advice import in_options
    from separatrix.result import Status

    for ending in Status:
        for options in ({}, {"--scale": False, "--model": "perceptron", "--gap": None}):
            assert not PYTHON_ONLY.search(in_options(ending, options))


def test_rows_of_a_million_columns_are_honest_data(tmp_path):
    wide = " ".join(f"{k}:1" for k in range(1, 1_000_001))
    path = text(tmp_path, f"1 {wide}\n-1 1:1 1000000:2\n", "data.svm")
    assert found("learn", path, "--classes=-1,1")["features"] == 1_000_000


def test_a_model_with_a_foreign_type_is_refused(clinic, tmp_path, forked):
    out, bad = tmp_path / "out.csv", tmp_path / "model.skops"
    bad.write_bytes(skops.io.dumps({"format": "separatrix model", "model": pathlib.PurePosixPath("x")}))
    done = forked("predict", bad, clinic, "--output", out)
    assert (done.returncode, done.stdout, out.exists()) == (2, "", False)
    assert "not trusted: pathlib" in " ".join(done.stderr.split())


def test_bad_models_and_options_end_with_a_message_and_no_file(clinic, tmp_path):
    out = tmp_path / "out.csv"
    bad = tmp_path / "model.skops"
    bad.write_bytes(b"PK\x03\x04 and then nothing")
    assert "not a model file" in refused("predict", bad, clinic, "--output", out)
    with zipfile.ZipFile(bad, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", bytes(10_000_000))
    assert "would expand" in refused("inspect", bad)
    assert "No such file" in refused("inspect", tmp_path / "none.skops")
    target = ["--target", "recovered"]
    assert "--C is not an option of perceptron" in refused("fit", clinic, *target, "--C", "1")
    assert "--model takes one of" in refused("fit", clinic, *target, "--model", "tree")
    assert "between 0 and 1" in refused("fit", clinic, *target, "--holdout", "3")
    assert "--memory needs a size" in refused("check", clinic, *target, "--memory", "lots")
    assert "Which column is the target" in refused("check", clinic)
    assert "directory does not exist" in refused(
        "fit", clinic, *target, "--output", tmp_path / "no" / "m.skops"
    )
    fine("fit", clinic, *target, "--output", bad)
    assert ".csv or .parquet" in refused("predict", bad, clinic, "--output", "out.xlsx")
    assert "--json writes a summary" in refused("predict", bad, clinic, "--json")
    clinic.write_text(CLINIC.replace("age", "years"))
    assert "'age'" in refused("predict", bad, clinic, "--output", out)
    clinic.write_text(CLINIC.replace("m,31", "x,31"))
    assert "not fitted with: x" in refused("predict", bad, clinic, "--output", out)
    assert not out.exists()


def test_the_program_itself_answers_and_keeps_its_streams_apart(clinic):
    assert separatrix("--version").stdout == f"separatrix {sx.__version__}\n"
    done = separatrix("check", clinic, "--target", "recovered", "--json", "--fail-if", "quasi-separable")
    assert done.returncode == 1
    assert json.loads(done.stdout)["status"] == "quasi-separable"
    wrong = separatrix("check", "-", "--target", "recovery", input=CLINIC)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "Did you mean 'recovered'" in wrong.stderr


CSV_ROWS = "".join(f"{k % 7},{(k * k) % 11},{int((k * 3) % 7 > 3)}\n" for k in range(60))
SVM_ROWS = "".join(f"{int((k * 3) % 7 > 3)} 1:{k % 7} {2 + k % 5}:{(k * k) % 11}\n" for k in range(60))


@pytest.mark.slow
def test_the_demo_tells_its_story_and_leaves_a_report(tmp_path):
    done = separatrix("demo", "--output", tmp_path / "demo")
    assert done.returncode == 0, done.stderr
    assert "The certificate holds." in done.stdout
    assert "another hash" in done.stderr
    page = (pathlib.Path(__file__).parents[2] / "docs" / "cli.md").read_text("utf-8")
    assert all(f"`{file.name}`" in page for file in (tmp_path / "demo").iterdir())
    report = (tmp_path / "demo" / "report.html").read_text("utf-8")
    assert "Yes: the classes can be separated with an intercept." in report


@pytest.mark.parametrize("command", [*COMMANDS])
def test_what_a_command_advises_is_an_option_that_it_has(command):
    from separatrix.cli.advice import SENTENCES, advice, options_in

    given = dict.fromkeys(options_of(command))
    for parameter in (*SENTENCES, "X", "max_iter", "margin", "max_updates", "average"):
        if parameter in ("max_iter", "margin") and "--max-iter" not in given:
            continue  # what ends at that limit is learnt by commands that have it
        advised = options_in(
            advice(parameter, {**given, "--model": "perceptron"} if "--model" in given else given)
        )
        assert advised <= set(given), (parameter, advised)


def options_of(command):
    """Every option of a command, with what its help says."""
    parameters = load(command).params
    return {
        option: parameter.help
        for parameter in parameters
        for option in (*parameter.opts, *parameter.secondary_opts)
        if option.startswith("--") and option != "--help"
    }


@pytest.mark.parametrize("command", COMMANDS)
def test_help_and_docs_cover_every_option(command):
    shown = fine(command, "--help", columns=200).stdout
    page = DOCS.read_text("utf-8")
    section = page.split(f"## separatrix {command}\n")[1].split("\n## ")[0]
    for title in ("Options for reading a table", "separatrix fit"):
        if f"(#{title.lower().replace(' ', '-')})" in section:
            section += page.split(f"## {title}\n")[1].split("\n## ")[0]
    for option, words in options_of(command).items():
        assert words, option
        assert option in shown
        assert f"`{option}`" in section
        assert words.replace("|", "\\|") in section
    assert "For example" in shown


@pytest.mark.parametrize("command", ["check", "fit", "learn"])
def test_every_field_of_the_reading_is_an_option_of_the_commands_that_learn(command):
    from separatrix.cli.options import Reading

    argument, *names = (field.name for field in dataclasses.fields(Reading))
    assert argument == "data"
    assert {f"--{name.replace('_', '-')}" for name in names} <= set(options_of(command))


def test_json_is_on_every_command_that_answers():
    for command in COMMANDS:
        assert "--json" in options_of(command) or command in ("demo", "play")


def test_numbers_are_plain_in_json():
    from separatrix.cli.console import plain

    assert plain({1: np.float64(2.5), "a": (np.int64(3), float("inf")), "b": np.array([1, 2])}) == {
        "1": 2.5,
        "a": [3, None],
        "b": [1, 2],
    }


@pytest.mark.parametrize("end", ["csv", "parquet"])
def test_learning_from_rows_sorted_by_class_says_so(tmp_path, end):
    """Only then: neither from shuffled rows, nor from few."""
    import duckdb

    path = tmp_path / f"rows.{end}"
    for rows, order, told in ((3000, "y, a", True), (3000, "hash(a)", False), (300, "y, a", False)):
        columns = f"SELECT i % 97 + i / {rows} AS a, i // {rows // 3} AS y FROM range({rows}) t(i)"
        duckdb.sql(f"COPY (FROM ({columns}) ORDER BY {order}) TO '{path}'")
        done = run("learn", path, "--target", "y")
        assert done.exit_code == 0
        assert ("sorted by class" in done.stderr) == told
        assert found("learn", path, "--target", "y")["sorted_by_class"] == told


def test_the_list_of_experiments_is_an_option_too():
    assert fine("experiment", "--list").stdout == fine("experiment", "list").stdout


def test_fit_says_the_best_margin_once(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("a,b,y\n1,31,no\n2,45,no\n2,62,no\n3,29,no\n3,51,yes\n4,47,yes\n5,33,yes\n6,58,yes\n")
    said = " ".join(fine("fit", table, "--target", "y").stdout.split())
    first, second = re.findall(r"best margin (?:is )?(between \S+ and \S+|[\d.]*\d)", said)
    assert first == second


def test_the_second_checker_is_told_the_name_of_the_target(tmp_path):
    table, proof = tmp_path / "t.csv", tmp_path / "proof.json"
    table.write_text("a,b,recovered\n1,31,no\n2,45,no\n5,33,yes\n6,58,yes\n")
    fine("check", table, "--target", "recovered", "--certificate", proof)
    assert (
        "4 rows, target recovered, all other columns: 2."
        in fine("verify", proof, table, "--independent").stdout
    )


def test_an_example_in_the_help_is_one_line_that_can_be_copied():
    told = fine("check", "--help", columns=80).stdout
    assert "separatrix check patients.parquet --target ill --exclude id --report report.html\n" in told
