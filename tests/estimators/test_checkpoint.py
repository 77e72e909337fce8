"""Nothing is lost: whatever happens to a run with a checkpoint, the same command ends as if nothing had."""

from __future__ import annotations

import errno
import os
import random
import resource
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from separatrix import atomic
from separatrix.errors import InputError, OutputError
from separatrix.estimators import checkpoint, online
from separatrix.files.table import open_table

ROWS = 6000
WORKER = textwrap.dedent(
    """
    import sys, time
    from separatrix.estimators import online
    from separatrix.files.table import open_table
    online.BATCH = 30
    table = open_table(sys.argv[1], target="y")
    print("ready", flush=True)
    pause = lambda progress: time.sleep(float(sys.argv[3]))
    online.learn(table, classes=[0, 1, 2], average=True, path=sys.argv[2], every_rows=90, report=pause)
    """
)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "rows.csv"
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, 4)).round(3)
    y = np.argmax(X[:, :3] + 0.3 * rng.standard_normal((ROWS, 3)), axis=1)
    lines = [",".join(map(str, [*row, label])) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    path.write_text("a,b,c,d,y\n" + "\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def whole(data, tmp_path_factory):
    """The state of a run that nobody disturbed."""
    path = tmp_path_factory.mktemp("whole") / "whole.npz"
    online.learn(open_table(data, target="y"), classes=[0, 1, 2], average=True, path=path)
    return _state(path)


def _state(path: Path):
    found = checkpoint.load(Path(path))
    assert found is not None
    return found[1]


def _same(first, second):
    assert first.keys() == second.keys()
    for name in first:
        assert first[name].tobytes() == second[name].tobytes(), name


def _start(data, path, pause=0.003, **options):
    command = [sys.executable, "-c", WORKER, str(data), str(path), str(pause)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def _survives_kills(data, whole, path, kills):
    moments = random.Random(kills)
    for _ in range(kills):
        worker = _start(data, path)
        assert worker.stdout.readline() == "ready\n"
        time.sleep(moments.uniform(0.0, 0.15))
        worker.kill()
        worker.communicate()
    worker = _start(data, path, pause=0)
    assert worker.wait(60) == 0, worker.stderr.read()
    worker.communicate()
    _same(_state(path), whole)
    assert not list(path.parent.glob(".*"))  # neither a lock nor half a file is left


def test_a_run_killed_at_random_moments_ends_as_if_it_had_not_been(data, whole, tmp_path):
    _survives_kills(data, whole, tmp_path / "state.npz", 3)


@pytest.mark.slow
def test_a_run_killed_thirty_times_ends_as_if_it_had_not_been(data, whole, tmp_path):
    _survives_kills(data, whole, tmp_path / "state.npz", 30)


def _learn(data, path, **options):
    return online.learn(open_table(data, target="y"), classes=[0, 1, 2], average=True, path=path, **options)


def _stop_after(rows):
    def report(progress):
        if progress.rows >= rows:
            raise KeyboardInterrupt

    return report


def test_ctrl_c_saves_and_the_same_command_goes_on(data, whole, tmp_path, monkeypatch):
    monkeypatch.setattr(online, "BATCH", 100)
    path = tmp_path / "state.npz"
    stopped = _learn(data, path, report=_stop_after(1000))
    assert stopped.interrupted
    assert stopped.rows == 1000
    resumed = _learn(data, path)
    assert resumed.resumed == 1000
    _same(_state(path), whole)


def test_online_learning_is_one_cyclic_pass(data, tmp_path):
    table = open_table(data, target="y")
    learnt = online.learn(table)
    X, y = table.read()
    model = type(learnt.model)().partial_fit(X, y, classes=[0, 1, 2])
    assert learnt.model.coef_.tobytes() == model.coef_.tobytes()
    assert np.array_equal(learnt.model.mistake_counts_, model.mistake_counts_)


@pytest.mark.parametrize("zero_based", [False, True])
def test_columns_of_a_libsvm_file_are_found_on_the_way(tmp_path, zero_based):
    rng = np.random.default_rng(1)
    lines = []
    for row in range(400):
        columns = np.sort(rng.choice(3 + row, 3, replace=False)) + (not zero_based)
        lines.append(f"{rng.choice([-1, 1])} " + " ".join(f"{c}:{rng.integers(1, 9)}" for c in columns))
    path = tmp_path / "rows.svm"
    path.write_text("\n".join(lines))
    learnt = online.learn(open_table(path))
    table = open_table(path)
    X, y = table.read()
    model = type(learnt.model)().partial_fit(X, y, classes=[-1, 1])
    assert learnt.encoding == table.encoding
    assert learnt.model.coef_.tobytes() == model.coef_.tobytes()


def test_rows_that_were_added_are_learnt(data, whole, tmp_path):
    lines = data.read_text().splitlines(keepends=True)
    path, growing = tmp_path / "state.npz", tmp_path / "rows.csv"
    growing.write_text("".join(lines[:2501]))
    assert _learn(growing, path).rows == 2500
    growing.write_text("".join(lines))
    assert _learn(growing, path).rows == ROWS
    _same(_state(path), whole)


@pytest.mark.parametrize("damage", ["truncated", "flipped", "empty", "text"])
def test_a_damaged_checkpoint_is_refused_and_stays_as_it_is(data, tmp_path, monkeypatch, damage):
    monkeypatch.setattr(online, "BATCH", 100)
    path = tmp_path / "state.npz"
    _learn(data, path, every_rows=500, report=_stop_after(2000))
    content = bytearray(path.read_bytes())
    if damage == "flipped":
        content[len(content) // 2] ^= 1
    path.write_bytes(
        {"truncated": content[:-100], "flipped": content, "empty": b"", "text": b"hello"}[damage]
    )
    damaged = path.read_bytes()
    with pytest.raises(InputError, match="damaged"):
        _learn(data, path)
    assert path.read_bytes() == damaged


def test_a_full_disk_leaves_the_old_checkpoint(data, tmp_path):
    path = tmp_path / "state.npz"
    atomic.write_bytes(path, b"old")

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    code = "import sys; from separatrix import atomic; atomic.write_bytes(sys.argv[1], b'x' * 5000)"
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], preexec_fn=limit, capture_output=True, text=True
    )
    assert "OutputError" in done.stderr
    assert "full" in done.stderr
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.glob(".*")] == []


def test_a_second_process_on_one_checkpoint_is_refused(data, tmp_path):
    path = tmp_path / "state.npz"
    with checkpoint.locked(path):
        second = _start(data, path)
        _, error = second.communicate(timeout=60)
        assert second.returncode != 0
        assert "Another process is learning" in error
    assert _learn(data, path).rows == ROWS


def test_a_checkpoint_of_another_command_or_other_data_is_refused(data, tmp_path):
    path, other = tmp_path / "state.npz", tmp_path / "other.csv"
    _learn(data, path)
    with pytest.raises(InputError, match="another run: average"):
        online.learn(open_table(data, target="y"), classes=[0, 1, 2], path=path)
    other.write_text(data.read_text().replace("a,b", "b,a", 1))
    with pytest.raises(InputError, match="another run"):
        _learn(other, path)
    other.write_text(data.read_text()[:5000].rsplit("\n", 1)[0] + "\n")
    with pytest.raises(InputError, match="not the data"):
        _learn(other, path)


def test_a_directory_that_cannot_be_written_is_named(data, tmp_path, monkeypatch):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    if os.geteuid() == 0:  # the superuser may write anywhere: the system's answer is played

        def refuse(path, *arguments):
            raise PermissionError(errno.EACCES, "Permission denied", path)

        monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(OutputError, match="Permission"), checkpoint.locked(closed / "state.npz"):
        pass
    with pytest.raises(OutputError, match="Permission denied"):
        atomic.write_text(closed / "report.html", "text")


def test_a_directory_that_is_not_there_is_named(data, tmp_path):
    with pytest.raises(OutputError, match=r"none.*state\.npz"):
        _learn(data, tmp_path / "none" / "state.npz")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def fail():
        with atomic.replacing(path) as temporary:
            temporary.write_text("new")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
