"""What the command line says, in words and as JSON; and that what it advises can be done."""

from __future__ import annotations

import csv
import json
import pathlib
import shlex
import warnings
from fractions import Fraction
from importlib import resources
from importlib.util import find_spec

import jsonschema
import numpy as np
import pytest

import separatrix as sx
from separatrix.cli.options import Reading, origin
from separatrix.files.table import open_table
from separatrix.report import remedies, tables, words
from tests import run as commands
from tests.run import PATIENTS

SCHEMA = json.loads(resources.files("separatrix.cli").joinpath("schema.json").read_text())
EUROPEAN = """Patient;Age;Weight (kg);Smoker;Out come
P01;34;71,5;yes;relapse
P02;51;80,2;no;cured
P03;47;66,0;no;cured
P04;29;90,1;yes;relapse
P05;62;77,7;no;relapse
P06;44;70,3;yes;relapse
P07;38;68,8;no;cured
P08;55;82,4;no;cured
P09;41;75,0;yes;relapse
P10;60;79,9;no;cured
P11;33;64,2;no;cured
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pathlib.Path("patients.csv").write_text(PATIENTS)
    pathlib.Path("tied.csv").write_text("treated,ill\n0,0\n0,1\n0,0\n1,1\n1,1\n")
    pathlib.Path("my data.csv").write_text(EUROPEAN)
    pathlib.Path("mixed.csv").write_text("x,y\n1,a\n2,b\n3,a\n4,b\n")
    pathlib.Path("xor.csv").write_text("x1,x2,y\n1,1,-1\n-1,-1,-1\n1,-1,1\n-1,1,1\n")
    pathlib.Path("three.csv").write_text("u,v,y\n0,0,p\n0,1,p\n5,0,q\n5,1,q\n0,7,r\n1,7,r\n")
    return tmp_path


def run(*arguments, code=0):
    done = commands.run(*arguments, columns=100)
    assert done.exit_code == code, done.output
    return done


def refused(*arguments):
    """What is said of bad input; and nothing was written."""
    before = sorted(pathlib.Path().iterdir())
    done = run(*arguments, code=2)
    assert sorted(pathlib.Path().iterdir()) == before
    assert "Traceback" not in done.output
    return " ".join(done.output.replace("│", " ").split())


CHECKS = [
    ("patients.csv", "-t", "recovered"),
    ("patients.csv", "-t", "recovered", "--no-intercept"),
    ("patients.csv", "--formula", "recovered ~ dose + C(ward)"),
    ("tied.csv", "-t", "ill"),
    ("mixed.csv", "-t", "y"),
    ("mixed.csv", "-t", "y", "--no-quasi", "--explain"),
    ("xor.csv", "-t", "y", "--degree", "2"),
    ("xor.csv", "-t", "y", "--kernel", "rbf", "--gamma", "0.5"),
    ("three.csv", "-t", "y"),
    ("three.csv", "-t", "y", "--fewest"),
    ("xor.csv", "-t", "y", "--fewest"),
    ("three.csv", "-t", "y", "--multiclass", "pairwise"),
    ("three.csv", "-t", "y", "--time-limit", "1e-9", "--multiclass", "one-vs-rest"),
]
FITS = [
    (),
    ("--scale", "--folds", "2"),
    ("--model", "max-margin"),
    ("--model", "soft-margin"),
    ("--model", "linear-program", "--form", "dual"),
    ("--model", "kernel", "--kernel", "poly", "--degree", "2"),
    ("--model", "averaged", "--max-iter", "1"),
    ("--model", "passive-aggressive", "--variant", "PA"),
    ("--model", "winnow", "--bounds"),
    ("--model", "network", "--inseparable", "warn"),
    ("--order", "cyclic", "--start", "0,0,0,1", "--eta0", "0.5", "--trace", "updates.csv"),
]


@pytest.mark.parametrize("arguments", CHECKS, ids=" ".join)
def test_every_check_as_json_keeps_to_the_schema(folder, arguments):
    answer = json.loads(run("check", *arguments, "--json").stdout)
    jsonschema.validate(answer, SCHEMA)
    lower, upper = (float.fromhex(answer["margin"][f"{end}_exact"]) for end in ("lower", "upper"))
    for end, value in (("lower", lower), ("upper", upper)):
        assert answer["margin"][end] == (value if np.isfinite(value) else None)
    assert all(float(Fraction(each["weight_exact"])) == each["weight"] for each in answer["witness_rows"])


@pytest.mark.parametrize("arguments", FITS, ids=" ".join)
def test_every_fit_as_json_keeps_to_the_schema(folder, arguments):
    answer = json.loads(run("fit", "patients.csv", "-t", "recovered", *arguments, "--json").stdout)
    jsonschema.validate(answer, SCHEMA)


def test_a_name_that_the_schema_does_not_have_is_noticed(folder):
    answer = json.loads(run("check", "patients.csv", "-t", "recovered", "--json").stdout)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**answer, "novelty": 1}, SCHEMA)


@pytest.mark.parametrize(
    ("arguments", "headline"),
    [
        (("patients.csv", "-t", "recovered"), "Complete separation. Yes: "),
        (("tied.csv", "-t", "ill"), "Quasi-complete separation. In part: 2 of 5 rows "),
        (("mixed.csv", "-t", "y"), "Overlap (a finite estimate exists). No: "),
        (("mixed.csv", "-t", "y", "--no-quasi"), "Overlap or quasi-complete separation. No: "),
        (("three.csv", "-t", "y"), "Complete separation. Yes: "),
        (
            ("three.csv", "-t", "y", "--multiclass", "pairwise"),
            "Complete separation, in each of 3 questions. ",
        ),
    ],
)
def test_the_headline_begins_with_the_words_of_statistics(folder, arguments, headline):
    assert run("check", *arguments).stdout.startswith(headline)


def test_which_coefficients_and_which_rows_are_said(folder):
    said = run("check", "tied.csv", "-t", "ill").stdout
    assert any(
        line.split() == ["treated", "to", "+∞", "0", "(2)", "0", "(1),", "1", "(2)"]
        for line in said.splitlines()
    )
    assert "2 strictly (row 4 (line 5), row 5 (line 6)); 3 are on the boundary" in " ".join(said.split())
    assert "1 feature" in said
    assert "1 features" not in said
    assert "features" in run("check", "patients.csv", "-t", "recovered").stdout


def test_three_classes_at_once_have_no_one_plane(folder):
    said = run("check", "three.csv", "-t", "y").stdout
    assert "plane" not in said.split("\n\n")[0] + said.split("\n\n")[2]


def test_a_margin_is_always_said_with_its_kind(folder):
    def margin(*arguments):
        return next(line for line in run(*arguments).stdout.splitlines() if "best margin" in line)

    assert "lifted" in margin("check", "patients.csv", "-t", "recovered")
    run("generate", "separable", "-o", "data.csv")
    assert "origin" in margin("check", "data.csv", "-t", "y", "--no-intercept")
    assert "lifted" in margin("fit", "patients.csv", "-t", "recovered")
    assert "affine" in margin(
        "fit", "patients.csv", "-t", "recovered", "--model", "max-margin", "-o", "m.skops"
    )
    assert "affine" in margin("inspect", "m.skops")
    assert "(lifted)" in str(sx.separability([[0.0], [1.0]], [0, 1]))


def advised(X, y, **options):
    verdict = sx.separability(X, y)
    return remedies.remedies(verdict, tables.read(X, y), **options)


def test_every_line_of_python_and_shell_that_is_advised_runs(folder, capsys):
    """But for packages that are not here, and R. Names of columns and labels are whatever the file has."""
    pathlib.Path("comma.csv").write_text(
        '"a,b",c,y\n' + "".join(f"{k * k},{k % 3},{k // 5}\n" for k in range(10))
    )
    pathlib.Path("units.csv").write_text(pathlib.Path("comma.csv").read_text().replace('"a,b"', "dose [mg]"))
    for path, target in (
        ("patients.csv", "recovered"),
        ("tied.csv", "ill"),
        ("my data.csv", "Out come"),
        ("comma.csv", "y"),
        ("units.csv", "y"),
    ):
        source = Reading(path, target=target)
        table = source.open()
        X, y = table.read()
        data = tables.read(X, y, table.feature_names)
        verdict = sx.separability(X, y, feature_names=table.feature_names)
        found = remedies.remedies(verdict, data, origin(source, table))
        less = ["Leave a variable out"] if X.shape[1] > 1 else []  # of one variable nothing would be left
        assert [each.name for each in found] == ["Firth's penalty", "Ridge", *less, "An exact test"]
        for remedy in found:
            assert remedy.when.endswith(".")
            for language, line in remedy.code:
                assert "\n" not in line
                if language == "shell":
                    assert path in line
                    run(*shlex.split(line)[1:])
                elif language == "Python" and ("firthmodels" not in line or find_spec("firthmodels")):
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        exec(line, {} if "read_csv" in line else {"X": X, "y": y})
                    assert capsys.readouterr().out
                elif language == "R" and path != "my data.csv":
                    assert f'read.csv("{path}"' in line


@pytest.mark.parametrize("formula", ["ill ~ dose + I(age^2)", "ill ~ smoker", "ill ~ smoker + factor(dose)"])
def test_lines_after_a_formula_name_the_file_and_the_formula(folder, capsys, formula):
    text = "dose,age,smoker,ill\n1,3,no,0\n2,1,no,0\n1,2,no,1\n2,3,yes,1\n1,4,yes,1\n2,1,no,1\n"
    pathlib.Path("trial.csv").write_text(text)
    told = run("check", "trial.csv", "--formula", formula).stdout
    shown = map(str.strip, told.splitlines())
    lines = [line.removeprefix("Python:").strip() for line in shown if line.startswith("Python:")]
    assert lines
    for line in lines:
        if "firthmodels" not in line or find_spec("firthmodels"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(line, {})
            assert capsys.readouterr().out


def test_the_line_that_checks_again_reads_the_same_rows(folder):
    pathlib.Path("codes.csv").write_text("dose,age,y\n1,3,0\n2,1,0\n9,2,0\n9,3,1\n5,4,1\n6,1,1\n")
    said = run("check", "codes.csv", "-t", "y", "--na=9", "--missing", "drop", "--where", "age < 5").stdout
    (line,) = [each for each in said.splitlines() if "shell:" in each]
    words = shlex.split(line.partition("shell:")[2])
    again = "check codes.csv --target y --where 'age < 5' --missing drop --na 9"
    assert words[1:-2] == shlex.split(again)
    run(*words[1:])


def test_who_names_no_target_is_told_the_columns(folder):
    assert "The columns are dose, age, ward, recovered" in refused("check", "patients.csv")


def test_lines_for_arrays_run_too():
    X, y = (
        np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 3.0], [4.0, 1.0], [5.0, 0.0]]),
        np.arange(6) // 3,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for remedy in advised(X, y):
            for language, line in remedy.code:
                if language == "Python" and "firthmodels" not in line:
                    exec(line, {"X": X, "y": y})


@pytest.mark.parametrize("classes", [2, 3])
def test_overlap_has_one_action_and_its_line_fits(classes, folder, capsys):
    k = np.arange(30)
    rows = zip(k % 5, k % 7, np.where(k % 2, "a", "b"), k // 4 % classes, strict=True)
    lines = [",".join(map(str, row)) for row in rows]
    pathlib.Path("overlap.csv").write_text("\n".join(["u v,w,light,kind", *lines]))
    source = Reading("overlap.csv", target="kind")
    table = source.open()
    X, y = table.read()
    verdict = sx.separability(X, y)
    data = tables.read(X, y, table.feature_names)
    for where in (origin(source, table), None):
        (found,) = remedies.remedies(verdict, data, where)
        (_, r), (_, python) = found.code
        assert ("`u v` + w + light" in r) == (where is not None)
        exec(python, {} if where else {"X": X, "y": y})
        assert "coef" in capsys.readouterr().out


def test_the_variable_offered_to_be_left_out_is_the_one_that_helps():
    """Each of a and b separates only in part; the last column separates alone, and the others overlap."""
    k = np.arange(40)
    y = k % 2
    X = np.column_stack([(y == 1) & (k % 3 == 0), k % 5, y * 10 + k % 4]).astype(float)
    (line,) = [each.code[0][1] for each in advised(X, y) if each.name == "Leave a variable out"]
    left = {}
    for column in range(3):
        rest = sx.separability(np.delete(X, column, 1), y)
        left[column] = len(rest.responsible_features) + (rest.status != "overlapping")
    assert left[2] == min(left.values()) < max(left.values())
    assert "numpy.delete(X, 2, 1)" in line


def test_a_file_that_pandas_would_read_otherwise_is_not_named(folder):
    pathlib.Path("units.csv").write_text("dose,y\n" + "".join(f"{k} kg,{k // 5}\n" for k in range(10)))
    pathlib.Path("semicolons.csv").write_text("dose;y\n" + "".join(f"{k};{k // 5}\n" for k in range(10)))
    for path in ("units.csv", "semicolons.csv"):
        source = Reading(path, target="y")
        assert origin(source, source.open()).path == ""
        assert "read" not in run("check", path, "--formula", "y ~ dose").stdout.partition("What to do")[2]


def test_a_report_names_the_file_and_the_variables(folder):
    run("check", "patients.csv", "-t", "recovered", "--report", "r.html")
    page = pathlib.Path("r.html").read_text("utf-8")
    assert "dose + age + ward" in page
    assert "patients.csv" in page[page.index("read.csv") :][:60]


def test_overlap_says_that_the_estimate_is_finite():
    assert "finite maximum-likelihood" in words.consequence(
        sx.separability([[0], [1], [0], [1]], [0, 1, 1, 0])
    )


def test_a_formula_is_asked_about_as_the_library_does(folder):
    import pandas as pd

    answer = json.loads(
        run("check", "patients.csv", "--formula", "recovered ~ dose * C(ward)", "--json").stdout
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        verdict = sx.check_separation("recovered ~ dose * C(ward)", data=pd.read_csv("patients.csv"))
    assert answer["status"] == verdict.status
    assert set(answer["responsible_features"]) == set(verdict.responsible_features)


def test_labels_of_a_formula_are_named_as_without_one(folder):
    by_formula, by_target = (
        json.loads(run("check", "xor.csv", *how, "--json").stdout)["question"]
        for how in (("--formula", "y ~ x1 + x2"), ("-t", "y"))
    )
    assert by_formula == by_target


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("check", "patients.csv", "--formula", "recovered ~ dse", "--report", "r.html"),
            "Did you mean 'dose'",
        ),
        (("check", "patients.csv", "--formula", "dose +"), "has no '~'"),
        (("check", "patients.csv", "--formula", "dose"), "write 'label ~ variables'"),
        (("check", "patients.csv", "--formula", "recovered ~ dose", "-t", "recovered"), "Leave it out"),
        (
            ("check", "patients.csv", "--formula", "recovered ~ dose", "--certificate", "c.json"),
            "--certificate",
        ),
        (
            ("check", "xor.csv", "-t", "y", "--kernel", "foo", "--certificate", "c.json"),
            "no kernel named",
        ),
        (
            ("check", "xor.csv", "-t", "y", "--kernel", "rbf", "--degree", "2"),
            "--degree is for --kernel poly or geometric",
        ),
        (("check", "xor.csv", "-t", "y", "--gamma", "1"), "--gamma is for --kernel rbf"),
        (("check", "xor.csv", "-t", "y", "--kernel", "rbf", "--gamma", "-1"), "gamma"),
        (("check", "xor.csv", "-t", "y", "--degree", "0"), "--degree"),
        (("fit", "xor.csv", "-t", "y", "--start", "1,a", "-o", "m.skops"), "--start is zeros, random"),
        (("fit", "xor.csv", "-t", "y", "--start", "1,2", "-o", "m.skops"), "(3,)"),
        (("fit", "xor.csv", "-t", "y", "--start", "1,2", "-o", "m.skops"), "Change --start"),
        (("fit", "xor.csv", "-t", "y", "--learning-rate", "-1", "-o", "m.skops"), "positive finite number"),
        (("generate", "xor", "-o", "x.parquet"), "ends in .csv"),
        (
            ("generate", "separable", "--margin", "2", "-o", "x.csv"),
            "sphere. Change --margin, or leave it out.",
        ),
        (("generate", "multiclass", "--margin", "9", "-o", "x.csv"), "must be below"),
        (("fit", "xor.csv", "-t", "y", "--start", "nan,2,3", "-o", "m.skops"), "finite"),
        (("fit", "xor.csv", "-t", "y", "--eta0", "0", "-o", "m.skops"), "--eta0"),
        (("fit", "xor.csv", "-t", "y", "--model", "max-margin", "--renormalise"), "--renormalise"),
        (("fit", "xor.csv", "-t", "y", "--model", "kernel", "--trace", "t.csv"), "--trace"),
        (("fit", "patients.csv", "-t", "recovered", "--trace", "no/t.csv"), "directory does not exist"),
        (("fit", "patients.csv", "-t", "recovered", "--model", "linear-program", "--form", "x"), "--form"),
        (("film", "patients.csv", "-t", "recovered", "-o", "run.txt"), ".html, .gif, .mp4"),
        (("film", "patients.csv", "-t", "recovered", "--order", "x"), "--order"),
        (("film", "patients.csv", "-t", "recovered", "--fps", "0"), "--fps"),
        (("film", "patients.csv", "-t", "recovered", "--theme", "x"), "--theme"),
        (("film", "patients.csv", "-t", "recovered", "--frames", "1"), "--frames"),
        (("generate", "xor", "--noise", "2", "-o", "x.csv"), "quadrant"),
        (("generate", "xor", "--margin", "1", "-o", "x.csv"), "--margin is not an option of xor"),
        (("generate", "foo", "-o", "x.csv"), "'separable', 'quasi-separable'"),
        (("generate", "xor", "--integers", "--decimals", "1", "-o", "x.csv"), "exclude each other"),
        (("generate", "xor", "-o", "no/x.csv"), "directory does not exist"),
    ],
)
def test_bad_input_for_each_new_option_is_refused_and_nothing_is_written(folder, arguments, said):
    assert said in refused(*arguments)


def test_a_kernel_that_does_not_exist_is_answered_by_those_that_the_command_line_has(folder):
    said = refused("check", "xor.csv", "-t", "y", "--kernel", "sigma")
    assert said.rstrip().endswith("Choose linear, poly, rbf, geometric or monomial with --kernel.")
    assert "precomputed" not in said


def test_an_option_that_does_not_exist_is_answered_only_by_options_that_differ_by_a_letter_or_two(folder):
    assert "--" not in refused("fit", "xor.csv", "-t", "y", "--tolerance", "1").partition("--tolerance")[2]
    assert "--max-iter)" in refused("fit", "xor.csv", "-t", "y", "--max-iters", "1")


def test_fractions_as_labels_are_answered_by_a_query_that_makes_classes(folder):
    pathlib.Path("measured.csv").write_text("a,y\n1,0.5\n2,1.5\n3,2.5\n")
    said = refused("check", "measured.csv", "-t", "y")
    assert "y has fractions: 0.5 in row 1 (line 2)." in said
    assert "--sql" in said


def test_a_certificate_that_does_not_hold_names_the_row_of_the_file(folder):
    pathlib.Path("few.csv").write_text("a,y\n1,0\n2,1\n3,1\n")
    run("check", "few.csv", "-t", "y", "--certificate", "few.json")
    pathlib.Path("few.csv").write_text("a,y\n1,0\n2,1\n3,0\n")
    said = commands.run("verify", "few.json", "few.csv", "--any-data").stdout
    assert "Row 2 is on the wrong side. In the file, counted from 1, it is row 3 (line 4)." in said


def test_a_kernel_is_proved_with_and_its_certificate_holds(folder):
    said = run("check", "xor.csv", "-t", "y", "--degree", "2", "--certificate", "proof.json").stdout
    assert said.startswith("Complete separation.")
    assert "feature space" in said
    run("verify", "proof.json", "xor.csv")
    assert "Overlap" in run("check", "xor.csv", "-t", "y", "--degree", "1").stdout


def test_a_trace_has_a_line_for_every_update_and_ends_at_the_weights(folder):
    arguments = (
        "patients.csv",
        "-t",
        "recovered",
        "--exclude",
        "ward",
        "--order",
        "cyclic",
        "--start",
        "0,0,1",
    )
    answer = json.loads(run("fit", *arguments, "--trace", "t.csv", "--max-iter", "30", "--json").stdout)
    with open("t.csv") as stream:
        head, *lines = csv.reader(stream)
    assert head == ["update", "row", "class", "score before", "dose", "age", "(intercept)"]
    assert len(lines) == answer["model"]["mistakes"]
    weights = np.array([0.0, 0.0, 1.0])
    with open("patients.csv") as stream:
        rows = list(csv.DictReader(stream))
    for line in lines:
        row = rows[int(line[1]) - 1]
        sign = 1.0 if row["recovered"] == "yes" else -1.0
        x = np.array([float(row["dose"]), float(row["age"]), 1.0])
        assert line[2] == row["recovered"]
        assert float(line[3]) == pytest.approx(sign * (weights @ x))
        weights = weights + sign * x
        assert list(map(float, line[4:])) == weights.tolist()


@pytest.mark.parametrize(
    "kind",
    [
        *("separable", "quasi-separable", "overlapping", "multiclass"),
        *("xor", "rings", "spirals", "checkerboard", "stripes"),
    ],
)
def test_generated_data_are_those_of_the_library_and_have_their_answer(folder, kind):
    run("generate", kind, "-o", "data.csv", "--rows", "40", "--seed", "3")
    problem = getattr(sx.datasets, f"make_{kind.replace('-', '_')}")(40, random_state=3)
    X, y = open_table("data.csv", target="y").read()
    assert np.array_equal(X, problem.X)
    assert np.array_equal(y, problem.y)
    answer = json.loads(run("check", "data.csv", "-t", "y", "--json").stdout)
    assert answer["separable"] == (kind in ("separable", "multiclass"))
    known = json.loads(run("generate", kind, "--rows", "40", "--seed", "3", "--json").stdout)["answer"]
    assert set(known).isdisjoint({"X", "y"})
    assert run("generate", kind, "--rows", "40", "--seed", "3").stdout == pathlib.Path("data.csv").read_text()


def test_generated_numbers_for_paper_have_their_exact_answer(folder):
    known = json.loads(
        run(
            "generate", "separable", "--rows", "9", "--margin", "0.3", "--integers", "-o", "d.csv", "--json"
        ).stdout
    )["answer"]
    X, y = open_table("d.csv", target="y").read()
    assert np.array_equal(X, np.rint(X))
    assert known["margin_squared"] == str(sx.geometry.exact_margin(X, y).squared)
    run("generate", "stripes", "--rows", "12", "--decimals", "1", "-o", "d.csv")
    assert all(
        len(cell.partition(".")[2]) <= 1
        for cell in pathlib.Path("d.csv").read_text().replace("\n", ",").split(",")
    )
    said = refused("generate", "separable", "--rows", "300", "--margin", "0.001", "--integers")
    assert "After rounding" in said
    assert "ask for a larger --margin" in said


@pytest.mark.parametrize("command", ["check", "fit", "learn", "film"])
def test_every_command_that_reads_rows_names_them_as_the_file_does(folder, command):
    pathlib.Path("infinite.csv").write_text("x,y\n1,a\ninf,b\n")
    assert "row 2 (line 3), column 'x'" in refused(command, "infinite.csv", "-t", "y")


def test_a_film_is_a_page_that_plays_by_itself(folder):
    run("generate", "separable", "-o", "data.csv", "--rows", "12", "--margin", "0.3")
    answer = json.loads(
        run("film", "data.csv", "-t", "y", "-o", "run.html", "--frames", "3", "--json").stdout
    )
    page = pathlib.Path("run.html").read_text()
    assert answer["converged"]
    assert 2 <= answer["pictures"] <= 3
    assert "<script" in page or "<img" in page
    assert "http" not in page.replace("http://www.w3.org", "")


def test_no_spinner_speaks_of_rows_kept_back_without_scores(folder, monkeypatch):
    from separatrix.cli.commands import fit_command

    seen, waiting = [], fit_command.waiting
    monkeypatch.setattr(fit_command, "waiting", lambda words: seen.append(words) or waiting(words))
    run("fit", "patients.csv", "-t", "recovered")
    assert not any("kept back" in each for each in seen)
    run("fit", "patients.csv", "-t", "recovered", "--holdout", "0.5")
    assert any("kept back" in each for each in seen)


def test_the_learning_rate_has_both_names(folder):
    def traced(*options):
        run("fit", "xor.csv", "-t", "y", "--order", "cyclic", "--max-iter", 2, "--trace", "t.csv", *options)
        return pathlib.Path("t.csv").read_text()

    assert traced("--eta0", 0.5) == traced("--learning-rate", 0.5) != traced()


@pytest.mark.parametrize("kernel", [("--degree", "1"), ("--degree", "2"), ("--kernel", "rbf")])
def test_a_kernels_answer_is_one_about_its_feature_space(kernel, folder):
    said = " ".join(run("check", "xor.csv", "-t", "y", *kernel).stdout.split())
    assert said.count("hyperplane with an intercept in the feature space of ") >= 1
    assert "feature space" not in run("check", "xor.csv", "-t", "y").stdout
