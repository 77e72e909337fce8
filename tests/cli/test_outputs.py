"""What commands write: never over what they read, and every command that they print works."""

from __future__ import annotations

import shlex

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.run import run, words


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Rows, and a model in a file whose name has a blank."""
    found = tmp_path_factory.mktemp("a b")
    rng = np.random.default_rng(0)
    lines = [f"{a:.3f},{b:.3f},{int(a > b)}" for a, b in rng.normal(size=(40, 2))]
    (found / "rows.csv").write_text("\n".join(["a,b,y", *lines]) + "\n")
    done = run("fit", found / "rows.csv", "--target", "y", "-o", found / "my model.skops")
    assert done.exit_code == 0, done.stderr
    return found


def test_the_printed_command_uses_a_model_whose_name_has_a_blank(place, tmp_path):
    done = run("fit", place / "rows.csv", "--target", "y", "-o", tmp_path / "my model.skops")
    command = shlex.split(done.stderr.partition("Use it with: ")[2])
    assert command[:2] == ["separatrix", "predict"]
    assert run(*command[1:-1], place / "rows.csv").exit_code == 0
    assert command[-1] == "DATA"


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("check", ("--certificate",)),
        ("check", ("--report",)),
        ("fit", ("-o",)),
        ("fit", ("--trace", "--order", "cyclic")),
        ("learn", ("--checkpoint",)),
    ],
)
def test_no_output_overwrites_the_data(place, command, options):
    data = place / "rows.csv"
    before = data.read_bytes()
    option, *more = options
    for name in (data, place / ".." / place.name / "rows.csv"):
        done = run(command, data, "--target", "y", *more, option, name)
        assert done.exit_code == 2
        assert "would overwrite an input file" in words(done)
    assert data.read_bytes() == before


def test_predictions_overwrite_neither_the_data_nor_one_of_a_pattern(place):
    before = (place / "rows.csv").read_bytes()
    for data in (place / "rows.csv", place / "*.csv"):
        done = run("predict", place / "my model.skops", data, "-o", place / "rows.csv")
        assert "--output would overwrite an input file" in words(done)
    assert (place / "rows.csv").read_bytes() == before


def test_a_graph_does_not_overwrite_its_model(place):
    model = place / "my model.skops"
    before = model.read_bytes()
    assert "--onnx would overwrite an input file" in words(run("export", model, "--onnx", model))
    assert model.read_bytes() == before


def test_two_outputs_are_two_files(place, tmp_path):
    out = tmp_path / "out"
    done = run(
        "check", place / "rows.csv", "-t", "y", "--certificate", out, "--report", tmp_path / "." / "out"
    )
    assert done.exit_code == 2
    assert "--report would overwrite the file of --certificate" in words(done)
    assert not out.exists()
    done = run("fit", place / "rows.csv", "-t", "y", "-o", out, "--report", out)
    assert "--report would overwrite the file of --output" in words(done)
    # a device takes anything
    done = run("check", place / "rows.csv", "-t", "y", "--certificate", "/dev/null", "--report", "/dev/null")
    assert done.exit_code == 0, done.stderr


def test_agreement_is_that_of_numbers_however_they_are_typed(place, tmp_path):
    """The labels 0 and 1 of a CSV file are those of a Parquet file that has 0.0 and 1.0."""
    rows = np.loadtxt(place / "rows.csv", delimiter=",", skiprows=1)
    pq.write_table(pa.table({"a": rows[:, 0], "b": rows[:, 1], "y": rows[:, 2]}), tmp_path / "rows.parquet")
    for data in (place / "rows.csv", tmp_path / "rows.parquet"):
        out = tmp_path / "out.csv"
        done = run("predict", place / "my model.skops", data, "--target", "y", "-o", out)
        assert "100.00 % agree with 'y'" in words(done), done.stderr


def test_columns_left_out_of_the_data_are_not_those_of_the_certificate(place, tmp_path):
    proof = tmp_path / "proof.json"
    assert run("check", place / "rows.csv", "-t", "y", "--certificate", proof).exit_code == 0
    assert run("verify", proof, place / "rows.csv").exit_code == 0
    done = run("verify", proof, place / "rows.csv", "--exclude", "a")
    assert done.exit_code == 2
    assert "is about 40 x 2 data; these are 40 x 1" in words(done)


def test_too_little_memory_is_answered_by_options_that_there_are():
    done = run("generate", "separable", "--rows", 10**13)
    assert done.exit_code == 2
    assert "Choose fewer columns, rows or classes." in words(done)
    assert "--memory" not in words(done)


def test_no_output_overwrites_a_file_of_a_folder_that_is_read(tmp_path):
    folder = tmp_path / "rows"
    folder.mkdir()
    pq.write_table(pa.table({"a": [0.0, 1.0, 2.0], "y": [0, 1, 1]}), folder / "part.parquet")
    before = (folder / "part.parquet").read_bytes()
    done = run("fit", folder, "--target", "y", "-o", folder / "part.parquet")
    assert done.exit_code == 2
    assert "--output would overwrite an input file" in words(done)
    assert (folder / "part.parquet").read_bytes() == before


def test_the_fewest_errors_are_shown_and_their_certificate_holds(tmp_path):
    rows = tmp_path / "rows.csv"
    rows.write_text("a,y\n" + "".join(f"{a},{int(a > 4 or a == 2)}\n" for a in range(9)))
    proof, report = tmp_path / "proof.json", tmp_path / "report.html"
    done = run("check", rows, "--target", "y", "--fewest", "--certificate", proof, "--report", report)
    text = " ".join(done.stdout.split())
    assert "is strictly right on more than 88.9 % of these rows (proved), and this one reaches that" in text
    assert "No other set of wrong rows is as small (proved)." in text
    assert "Without these rows, the classes are separable" in text
    assert "Nearly separable: these rows" in report.read_text()
    done = run("verify", proof, rows, "--independent")
    assert done.exit_code == 0
    assert "the fewest errors of any hyperplane with an intercept" in " ".join(done.stdout.split())
    done = run("check", rows, "--target", "y", "--fewest", "--degree", "1")
    assert done.exit_code == 2
    assert "--fewest does not work with a kernel" in words(done)
