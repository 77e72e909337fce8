"""Faults: whatever happens while something is written or loaded, nothing is lost, and it is said."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import separatrix as sx
from separatrix import atomic


def run(code, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code), *map(str, arguments)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )


def test_an_overwritten_file_keeps_its_permissions(tmp_path):
    path = tmp_path / "out.json"
    path.write_text("old")
    path.chmod(0o640)
    atomic.write_text(path, "new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_what_a_killed_process_left_is_gone_after_the_next_writing(tmp_path):
    path = tmp_path / "out[1].csv"
    code = """
        import os, signal, sys
        from separatrix import atomic
        with atomic.replacing(sys.argv[1]) as temporary:
            temporary.write_bytes(b"x" * 100_000)
            os.kill(os.getpid(), signal.SIGKILL)
    """
    assert run(code, path).returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 1
    atomic.write_text(path, "whole")
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_what_another_process_is_writing_is_left_alone(tmp_path):
    path = tmp_path / "out.csv"
    with atomic.replacing(path) as temporary:
        temporary.write_text("first")
        atomic.write_text(path, "second")
        assert path.read_text() == "second"
        assert temporary.read_text() == "first"
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failing_clean_up_does_not_hide_what_went_wrong(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(30, "Read-only file system")

    def write_to_a_full_disk():
        with atomic.replacing(tmp_path / "out"):
            monkeypatch.setattr(Path, "unlink", refuse)
            raise OSError(28, "No space left on device")

    with pytest.raises(sx.errors.OutputError, match="full"):
        write_to_a_full_disk()


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.skops"
    data = tmp_path / "data.csv"
    data.write_text("a,y\n1,=no\n2,=no\n3,+yes\n4,+yes\n")
    done = separatrix("fit", data, "--target", "y", "-o", path)
    assert done.returncode == 0, done.stderr
    return path


def separatrix(*arguments):
    command = [sys.executable, "-m", "separatrix.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def test_predicting_an_empty_table_leaves_the_old_file(tmp_path, model):
    empty, out = tmp_path / "empty.csv", tmp_path / "out.csv"
    empty.write_text("a\n")
    out.write_text("precious")
    done = separatrix("predict", model, empty, "-o", out)
    assert done.returncode == 2
    assert out.read_text() == "precious"


def test_the_ending_decides_the_format_whatever_its_case(tmp_path, model):
    out = tmp_path / "out.PARQUET"
    assert separatrix("predict", model, tmp_path / "data.csv", "-o", out).returncode == 0
    assert out.read_bytes()[:4] == b"PAR1"


def test_no_prediction_is_a_formula_of_a_spreadsheet(tmp_path, model):
    done = separatrix("predict", model, tmp_path / "data.csv")
    assert done.returncode == 0, done.stderr
    labels = [line.partition(",")[2].strip('"') for line in done.stdout.splitlines()[1:]]
    assert labels == ["'=no", "'=no", "'+yes", "'+yes"]


FIT = """
    import numpy as np, separatrix as sx
    X = np.arange(12.0).reshape(-1, 2)
    print(sx.Perceptron().fit(X, [0, 0, 0, 1, 1, 1]).converged_)
"""


def test_a_damaged_cache_of_compiled_code_is_made_anew(tmp_path):
    assert run(FIT, NUMBA_CACHE_DIR=str(tmp_path)).stdout == "True\n"
    random = np.random.default_rng(0)
    files = list(tmp_path.rglob("*.nb[ci]"))
    assert files
    for each in files:
        content = bytearray(each.read_bytes())
        kind = random.integers(3)
        if kind == 0:
            content = content[: len(content) // 2]
        elif kind == 1:
            content = bytearray(random.bytes(200))
        else:
            content = bytearray()
        each.write_bytes(content)
    done = run(FIT, NUMBA_CACHE_DIR=str(tmp_path))
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    again = run(FIT, NUMBA_CACHE_DIR=str(tmp_path))
    assert (again.returncode, again.stdout) == (0, "True\n"), again.stderr


def test_a_full_disk_under_the_cache_of_compiled_code_stops_nothing(tmp_path):
    limited = """
        import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
        import signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    """
    done = run(textwrap.dedent(limited) + textwrap.dedent(FIT), NUMBA_CACHE_DIR=str(tmp_path))
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
