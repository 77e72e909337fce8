"""Data larger than memory: what was promised is measured, and what is read in parts is what is read whole."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from separatrix.cli.app import load
from separatrix.files.formats import parquet
from separatrix.files.table import open_table
from separatrix.report import tables as report_tables

MEMORY, FIXED, BYTES_A_ROW = 256, 350, 100  # megabytes that are allowed, and what the help says comes beside
NUMBERS = 125_000_000  # in a file of 1 GB


@pytest.mark.parametrize("target", ["y", "word"])
@pytest.mark.parametrize("memory", [1, 3 * 4 * parquet.COLUMN])
def test_columns_read_a_few_at_a_time_are_the_same(tmp_path, target, memory):
    rng = np.random.default_rng(0)
    columns = {f"x{k}": rng.normal(size=700).astype([np.float64, np.float32][k % 2]) for k in range(7)}
    columns |= {"n": rng.integers(0, 9, 700), "y": rng.integers(0, 2, 700)}
    columns["word"] = np.where(columns["y"] == 1, "yes", "no")
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=300)
    exclude = [{"y": "word", "word": "y"}[target]]
    table = open_table(path, target=target, exclude=exclude)
    X, y = table.read()
    for start in (0, 299, 300, 650):
        parts = list(table.within(memory).batches(64, start))
        assert np.array_equal(np.concatenate([part for part, _ in parts]), X[start:])
        assert np.array_equal(np.concatenate([labels for _, labels in parts]), y[start:])


def test_a_null_is_noticed_where_columns_are_read_a_few_at_a_time(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": [1.0, 2.0], "b": [None, 3.0], "y": [0, 1]}), path)
    with pytest.raises(ValueError, match=r"lacks values in 'b' \(1\)"):
        open_table(path, target="y").read(memory=1)


def test_a_column_of_a_report_is_read_in_pieces(monkeypatch):
    monkeypatch.setattr(report_tables, "AT_ONCE", 7)
    X = np.arange(60.0).reshape(20, 3)
    assert report_tables.read(X, np.zeros(20)).column(1).tolist() == X[:, 1].tolist()


@pytest.fixture(scope="module", params=[100, 20])
def large(tmp_path_factory, request):
    """A file of 1 GB whose classes are separable: 1,250,000 rows of 100 columns, and 6,250,000 of 20."""
    columns = request.param
    path = tmp_path_factory.mktemp("large") / "rows.parquet"
    rng = np.random.default_rng(0)
    direction = rng.normal(size=columns) / np.sqrt(columns)
    writer = None
    for _ in range(5):
        X = rng.normal(size=(NUMBERS // columns // 5, columns))
        side = np.sign(X @ direction)
        X += np.outer(0.5 * side, direction)
        part = pa.table({**{f"x{k}": X[:, k] for k in range(columns)}, "y": (side > 0).astype(np.int64)})
        writer = writer or pq.ParquetWriter(path, part.schema)
        writer.write_table(part)
    writer.close()
    assert path.stat().st_size > 1e9
    yield path
    path.unlink()


def _peak(*command):
    """Megabytes that a command held at most."""
    code = (
        "import resource, subprocess, sys;"
        "done = subprocess.run(sys.argv[1:], capture_output=True, text=True);"
        "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, done.stderr)"
    )
    program = [sys.executable, "-m", "separatrix.cli", *map(str, command)]
    done = subprocess.run(
        [sys.executable, "-c", code, *program], capture_output=True, text=True, env=os.environ
    )
    status, kilobytes, message = done.stdout.split(" ", 2)
    assert status == "0", message
    return int(kilobytes) * 1024 / 1e6


@pytest.mark.parametrize("command", ["check", "fit", "learn", "predict", "verify"])
def test_the_help_says_what_is_measured(command):
    (option,) = (each for each in load(command).params if "--memory" in each.opts)
    assert f"the program takes up to {FIXED} MB, and about {BYTES_A_ROW} bytes per row." in option.help


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere another unit is counted")
def test_the_program_takes_what_it_was_allowed_and_what_the_help_says(large, tmp_path):
    proof, model = tmp_path / "proof.json", tmp_path / "model.skops"
    given = ["--memory", f"{MEMORY}MB"]
    most = MEMORY + FIXED + pq.ParquetFile(large).metadata.num_rows * BYTES_A_ROW / 1e6
    peaks = {
        "check": _peak("check", large, "--target", "y", "--certificate", proof, *given),
        "verify": _peak("verify", proof, large, *given),
        "fit": _peak("fit", large, "--target", "y", "-o", model, *given),
        "predict": _peak("predict", model, large, "-o", tmp_path / "out.parquet", *given),
    }
    assert max(peaks.values()) < most, peaks
