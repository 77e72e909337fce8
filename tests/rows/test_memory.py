"""Data larger than memory: what was promised is measured, and what is read in parts is what is read whole."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
import threading
import time
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from separatrix.cli.app import load
from separatrix.files.formats import parquet
from separatrix.files.table import open_table
from separatrix.perceptron.orders import solve_perceptron
from separatrix.report import tables as report_tables
from separatrix.rows import threads
from separatrix.rows.memory import as_rows
from separatrix.rows.spill import Spill

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
    X, y = open_table(path, target=target, exclude=exclude).read()
    limited = open_table(path, target=target, exclude=exclude, memory=memory)
    for start in (0, 299, 300, 650):
        parts = list(limited.batches(64, start))
        assert np.array_equal(np.concatenate([part for part, _ in parts]), X[start:])
        assert np.array_equal(np.concatenate([labels for _, labels in parts]), y[start:])


def test_a_null_is_noticed_where_columns_are_read_a_few_at_a_time(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": [1.0, 2.0], "b": [None, 3.0], "y": [0, 1]}), path)
    with pytest.raises(ValueError, match=r"lacks values in 'b' \(1\)"):
        open_table(path, target="y", memory=1).read()


def test_a_column_of_a_report_is_read_in_pieces():
    X = np.arange(3.0 * (1 << 20)).reshape(-1, 3)  # three pieces, the last one shorter
    data = report_tables.NamedData(X, np.zeros(len(X)), ("a", "b", "c"))
    assert np.array_equal(data.column(1), X[:, 1])


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


class Watch:
    """The bytes of files and of arrays that a process holds, beyond those at the start."""

    def __enter__(self):
        self._before, self._stop, self.held = self._now(), threading.Event(), 0
        tracemalloc.start()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()
        self.allocated = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()

    def _look(self):
        while not self._stop.is_set():
            self.held = max(self.held, self._now() - self._before)
            time.sleep(0.001)

    @staticmethod
    def _now():
        return int(Path("/proc/self/statm").read_text().split()[2]) * mmap.PAGESIZE


QUESTIONS = {
    "take": lambda rows: rows.take(np.arange(0, rows.n_rows, 250)),
    "scan": lambda rows: rows.scan(np.ones(rows.n_columns), limit=100),
    "pass": lambda rows: solve_perceptron(rows, order="cyclic", max_iter=1),
    "norms": lambda rows: rows.squared_norms,
}


@pytest.fixture(scope="module")
def mapped():
    """Rows of a mapped file of 320 MB, of which 16 MB may stay in memory."""
    rng, spill = np.random.default_rng(0), Spill()
    block = rng.normal(size=(50_000, 100))
    for _ in range(8):
        spill.append(block)
    return as_rows(spill.matrix(16 * 10**6), rng.integers(0, 2, 400_000), lift=False)


@pytest.mark.skipif(sys.platform != "linux", reason="pages are counted by /proc")
@pytest.mark.parametrize("question", QUESTIONS)
def test_no_question_about_a_mapped_file_copies_or_holds_the_whole_matrix(question, mapped):
    rows, ask = replace(mapped), QUESTIONS[question]
    ask(as_rows(np.ones((1000, 100)), np.arange(1000) % 2, lift=False))  # compile the loops
    with Watch() as watch:
        ask(rows)
    assert watch.allocated < 40e6  # twice what the counts of a pass and the rows taken need
    assert watch.held < 16e6 + 8.0 * threads.MOST_AT_ONCE * (1 + threads.n_threads())


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
    assert f"the program uses up to {FIXED} MB, and about {BYTES_A_ROW} bytes per row." in option.help


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
