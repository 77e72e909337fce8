"""Faults: whatever happens while something is written or loaded, nothing is lost, and it is said."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import stat
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import separatrix as sx
from separatrix import atomic
from separatrix.cli.app import app
from separatrix.errors import InputError
from separatrix.files.table import open_table
from separatrix.loops import compiling


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


@pytest.mark.parametrize("mode", [0o444, 0o400])
def test_a_read_only_file_stays(tmp_path, mode):
    path = tmp_path / "out.json"
    path.write_text("old")
    path.chmod(mode)
    with pytest.raises(sx.errors.OutputError, match="is read-only, and stays as it is"):
        atomic.write_text(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_of_somebody_else_and_a_directory_that_may_not_be_written_are_named(ordinary_user):
    inside = ordinary_user / "locked"
    inside.mkdir()
    (inside / "out.json").write_text("old")
    inside.chmod(0o555)
    with pytest.raises(sx.errors.OutputError, match="Permission denied"):
        atomic.write_text(inside / "out.json", "new")
    assert (inside / "out.json").read_text() == "old"
    inside.chmod(0o755)


def test_a_disk_that_is_read_only_is_said_in_words(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), "here")

    monkeypatch.setattr(Path, "mkdir", refuse)
    done = CliRunner().invoke(app, ["demo", "-o", str(tmp_path / "new")])
    assert done.exit_code == 2
    assert done.stderr.strip() == f"Error: 'here' cannot be used: {os.strerror(errno.EROFS)}."


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

    with pytest.raises(sx.errors.OutputError, match="No space left"):
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
    print(sx.Perceptron(order="cyclic").fit(X, [0, 0, 0, 1, 1, 1]).converged_)
"""


@pytest.mark.compiled
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


@pytest.mark.compiled
def test_a_full_disk_under_the_cache_of_compiled_code_stops_nothing(tmp_path):
    limited = """
        import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
        import signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    """
    done = run(textwrap.dedent(limited) + textwrap.dedent(FIT), NUMBA_CACHE_DIR=str(tmp_path))
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


def test_compiled_code_with_a_wrong_bit_is_not_run(tmp_path):
    assert run(FIT, NUMBA_CACHE_DIR=str(tmp_path)).stdout == "True\n"
    for each in tmp_path.rglob("*.nbc"):
        content = bytearray(each.read_bytes())
        for place in range(len(content) // 2, len(content), 97):  # the machine code, for the most part
            content[place] ^= 0xFF
        each.write_bytes(content)
    done = run(FIT, NUMBA_CACHE_DIR=str(tmp_path))
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


def test_code_of_another_signature_or_source_is_not_run(tmp_path):
    def half(x):
        return x / 2

    made = compiling._CheckedFile(str(tmp_path), "half", "stamp")
    made.save("a key", ("code", half.__code__.co_code))
    assert made.load("a key")[0] == "code"
    (data,) = tmp_path.glob("*.nbc")
    other = compiling._CheckedFile(str(tmp_path), "other", "stamp")
    other.save("another key", ("other code",))
    data.write_bytes(next(tmp_path.glob("other*.nbc")).read_bytes())
    assert made.load("a key") is None
    newer = compiling._CheckedFile(str(tmp_path), "half", "newer")
    newer._save_index({"a key": data.name})  # as a process does that ends before it has written the code
    assert newer.load("a key") is None


def rejected(error):
    """A writer that the system refuses with an error."""

    def write(*_, **__):
        raise OSError(error, os.strerror(error))

    return write


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (errno.ENOSPC, "No space left"),
        (errno.EFBIG, "File too large"),
        (errno.EROFS, "Read-only file system"),
        (errno.EACCES, "Permission denied"),
        (errno.EIO, "Input/output error"),
    ],
)
@pytest.mark.parametrize("where", ["open", "fsync", "replace"])
def test_of_several_files_all_are_replaced_or_none(tmp_path, monkeypatch, error, words, where):
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("old"), two.write_text("old")
    with monkeypatch.context() as patched:
        patched.setattr(os, where, rejected(error))
        with pytest.raises(sx.errors.OutputError, match=words):
            atomic.write_all({str(one): b"new", str(two): b"new"})
    assert one.read_text() == two.read_text() == "old"
    assert sorted(tmp_path.iterdir()) == [one, two]
    atomic.write_all({str(one): b"new", str(two): b"new"})
    assert one.read_text() == two.read_text() == "new"


LIMITED = """
    import resource, signal, sys
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limit = int(sys.argv.pop(1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    from separatrix.cli import main
    main()
"""


def table(tmp_path, height=40):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(height, 3)).round(2)
    lines = [f"{a},{b},{c},{int(a > b)}" for a, b, c in X]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["a,b,c,y", *lines]) + "\n")
    return path


def test_with_a_full_disk_neither_certificate_nor_report_is_written(tmp_path):
    data, proof, page = table(tmp_path), tmp_path / "proof.json", tmp_path / "page.html"
    proof.write_text("old proof"), page.write_text("old page")
    arguments = ("check", data, "--target", "y", "--certificate", proof, "--report", page)
    done = run(LIMITED, 8000, *arguments)  # room for the certificate, not for the report
    assert done.returncode == 2, done.stderr
    assert "could not be written" in done.stderr
    assert (proof.read_text(), page.read_text()) == ("old proof", "old page")
    assert sorted(tmp_path.iterdir()) == [page, proof, data]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_with_a_full_disk_predictions_leave_the_old_file(tmp_path, model, ending):
    data, out = tmp_path / "many.csv", tmp_path / f"out.{ending}"
    data.write_text("a\n" + "".join(f"{k}\n" for k in range(2000)))
    out.write_text("old")
    done = run(LIMITED, 1000, "predict", model, data, "-o", out)
    assert done.returncode == 2, done.stderr
    assert "could not be written" in done.stderr
    assert out.read_text() == "old"
    assert not list(tmp_path.glob(".*"))


def test_a_directory_as_output_is_named_and_a_link_stays_a_link(tmp_path):
    with pytest.raises(sx.errors.OutputError, match="is a directory"):
        atomic.write_text(tmp_path, "new")
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    link.symlink_to(real.name)
    atomic.write_text(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    dangling = tmp_path / "dangling"
    dangling.symlink_to("there")
    atomic.write_text(dangling, "new")
    assert (tmp_path / "there").read_text() == "new"


@pytest.mark.parametrize("name", ["rows.csv", "rows.svm", "rows.parquet", "rows.npy"])
def test_a_file_that_is_changed_while_it_is_read_is_refused(tmp_path, name):
    path = tmp_path / name
    X = np.arange(40_000.0).reshape(-1, 2)
    if name == "rows.csv":
        np.savetxt(path, X, delimiter=",", header="a,b", comments="")
    elif name == "rows.svm":
        path.write_text("".join(f"1 1:{a:g} 2:{b:g}\n" for a, b in X))
    elif name == "rows.parquet":
        import pyarrow as pa
        import pyarrow.parquet as parquet

        parquet.write_table(pa.table({"a": X[:, 0], "b": X[:, 1]}), path)
    else:
        np.save(path, X)
    opened = open_table(path)
    batches = opened.batches(100)
    next(batches)
    os.utime(path, ns=(1, 1))
    with pytest.raises(InputError, match="was changed while it was read"):
        list(batches)


@pytest.mark.parametrize("text", [False, True], ids=["numbers", "with text"])
def test_a_line_that_is_cut_short_while_it_is_read_is_not_to_be_corrected(tmp_path, text):
    path, last = tmp_path / "rows.csv", "u" if text else "1.5"
    path.write_text("a,b,y\n" + f"1.25,{last},0\n2.25,{last},1\n" * 200_000)
    batches = open_table(path, target="y").batches(100)
    next(batches)
    os.truncate(path, path.stat().st_size // 2 - 3)
    with pytest.raises(InputError, match="was changed while it was read"):
        list(batches)


@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_that_is_cut_short_while_it_is_read_is_refused(tmp_path, order):
    path = tmp_path / "rows.npy"
    np.save(path, np.asarray(np.arange(400_000.0).reshape(-1, 2), order=order))
    code = """
        import os, sys
        from separatrix.errors import InputError
        from separatrix.files.table import open_table
        batches = open_table(sys.argv[1]).batches(1000)
        next(batches)
        os.truncate(sys.argv[1], 4096)
        try:
            list(batches)
        except InputError as error:
            print(error)
    """
    done = run(code, path)
    assert done.returncode == 0, done.stderr
    assert "while it was read" in done.stdout


def test_an_array_in_a_file_is_read_as_numpy_reads_it(tmp_path):
    X = np.random.default_rng(0).integers(-9, 9, (50, 3))
    for k, array in enumerate([X, np.asfortranarray(X), X.astype(">f4"), X[:, :1], X[:1], X > 0]):
        path = tmp_path / f"{k}.npy"
        np.save(path, array)
        found = np.concatenate([part for part, _ in open_table(path).batches(7)])
        assert np.array_equal(found, array.astype(float))
        if array.shape[1] > 1:
            parts = list(open_table(path, target="2").batches(7))
            assert np.array_equal(np.concatenate([part for part, _ in parts]), np.delete(array, 1, 1))
            assert np.array_equal(np.concatenate([y for _, y in parts]), array[:, 1])


def test_no_damage_to_the_footer_of_a_parquet_file_ends_the_process(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as parquet

    path = tmp_path / "rows.parquet"
    rows = pa.table({"a": np.arange(5.0), "y": np.arange(5) % 2})
    parquet.write_table(rows, path, compression="snappy", store_schema=False)
    code = """
        import sys
        from pathlib import Path
        from separatrix.errors import InputError
        from separatrix.files.table import open_table
        path = Path(sys.argv[1])
        content = path.read_bytes()
        footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
        for place in range(footer, len(content) - 8):
            if content[place - 1] != 0x15:  # what announces a number, such as that of the codec
                continue
            for value in (12, 16, 100, 255):
                path.write_bytes(content[:place] + bytes([value]) + content[place + 1 :])
                try:
                    table = open_table(path, target="y")
                    table.classes, table.read()
                except InputError:
                    pass
        print("all")
    """
    done = run(code, path)
    assert (done.returncode, done.stdout) == (0, "all\n"), done.stderr


def test_nulls_that_a_parquet_page_denies_are_nulls(tmp_path):
    """A data page of version 2 counts its nulls in its header; the levels say which they are."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    path = tmp_path / "rows.parquet"
    mask = np.arange(64) % 8 == 3
    rows = pa.table({"a": pa.array(np.arange(64.0), mask=mask), "y": np.arange(64) % 2})
    parquet.write_table(
        rows, path, compression="none", use_dictionary=False, data_page_version="2.0", write_statistics=False
    )
    content = path.read_bytes()
    counts = bytes([0x15, 0x80, 0x01, 0x15, 16, 0x15, 0x80, 0x01])  # 64 values, 8 nulls, 64 rows
    assert content.count(counts) == 1
    path.write_bytes(content.replace(counts, counts[:4] + b"\0" + counts[5:]))
    assert parquet.read_table(path)["a"].null_count == 8
    with pytest.raises(InputError, match=r"lacks values in 'a' \(8\)"):
        open_table(path, target="y").read()


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="elsewhere temporary files have names")
@pytest.mark.parametrize("command", [("learn", "-", "--classes=0,1"), ("check", "-")])
def test_a_killed_stream_leaves_nothing_in_the_temporary_directory(tmp_path, command):
    rows, temporary = tmp_path / "rows.svm", tmp_path / "tmp"
    temporary.mkdir()
    rows.write_text("".join(f"{k % 2} 1:{k}\n" for k in range(1000)))
    with subprocess.Popen(
        [sys.executable, "-m", "separatrix.cli", *command],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        process.stdin.write(rows.read_bytes())
        process.stdin.flush()
        until = time.monotonic() + 60.0
        while not spooled(process.pid, temporary) and process.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        assert spooled(process.pid, temporary)
        process.kill()
        process.wait()
    assert not list(temporary.iterdir())


def spooled(pid, temporary):
    """Whether a process has a file open in a directory."""
    for handle in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            if str(handle.readlink()).startswith(str(temporary)):
                return True
    return False


def test_numbers_beyond_float64_are_an_error_of_the_input(tmp_path):
    assert issubclass(sx.errors.NumericOverflowError, ValueError)
    assert issubclass(sx.errors.NumericOverflowError, sx.errors.InputError)
    path = tmp_path / "rows.csv"
    path.write_text("a,y\n1e200,0\n-1e200,1\n3,0\n")
    done = separatrix("fit", path, "--target", "y")
    assert done.returncode == 2
    assert "Scale the columns with --scale" in done.stderr
    assert "bug" not in done.stderr


def test_ctrl_c_that_a_callback_swallows_is_repeated():
    code = """
        import ctypes, os, signal, sys, time
        from separatrix import cli
        from separatrix.cli import app

        @ctypes.CFUNCTYPE(None)
        def callback():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)

        def work(prog_name):
            callback()  # what is raised in it is ignored
            for _ in range(500):
                time.sleep(0.01)
            print("was not stopped")

        app.app = work
        cli.main()
    """
    done = run(code)
    assert (done.returncode, done.stdout) == (130, ""), done.stderr
    assert "Stopped." in done.stderr


@pytest.mark.compiled
def test_ctrl_c_while_compiled_code_is_loaded_comes_when_that_is_done(tmp_path):
    """In LLVM's callback it was ignored, the loop had no code, and calling it ended the process."""
    code = """
        import os, signal
        import numpy as np
        from numba.core.codegen import JITCPUCodegen
        import separatrix as sx

        library, came = JITCPUCodegen._library_class, []
        usual = library._object_getbuffer_hook.__func__

        def asked(cls, module):
            found = usual(cls, module)
            if found is not None and not came:
                came.append(True)
                os.kill(os.getpid(), signal.SIGINT)
            return found

        def stop(*_):
            stopped.append(True)
            raise KeyboardInterrupt

        library._object_getbuffer_hook = classmethod(asked)
        stopped, _ = [], signal.signal(signal.SIGINT, stop)
        X = np.arange(12.0).reshape(6, 2)
        for _ in range(2):
            try:
                model = sx.Perceptron(order="cyclic").fit(X, X[:, 0] > 5)
            except KeyboardInterrupt:
                pass
        print(len(came), len(stopped), model.score(X, X[:, 0] > 5))
    """
    cache = {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert run(code, **cache).stdout == "0 0 1.0\n"  # compiled now
    done = run(code, **cache)
    assert (done.returncode, done.stdout) == (0, "1 1 1.0\n"), done.stderr


@pytest.mark.parametrize("seconds", [0.0, 0.2, 0.5])
def test_ctrl_c_ends_the_program_at_once_while_it_is_loading(seconds):
    begin = """if True:
        import sys
        from separatrix.cli import main

        class Tell:
            def find_spec(name, *_):  # `main` imports the program
                if name == "separatrix.cli.app":
                    print("begun", flush=True)

        sys.meta_path.insert(0, Tell)
        main()
    """
    command = [sys.executable, "-c", begin, "learn", "-"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        process.stdout.readline()
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        try:
            _, said = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert process.returncode == 130, said


def test_a_libsvm_file_with_more_columns_than_memory_has_room_for_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "wide.svm"
    path.write_text("1 1:1\n-1 300000000:1\n")
    monkeypatch.setattr("separatrix.files.source.detect.free_memory", lambda: 20 * 10**9)
    with pytest.raises(InputError, match="row 2 has a column 300,000,000"):
        open_table(path).read()


def test_a_verdict_on_more_columns_than_memory_has_room_for_is_refused_before_the_work(tmp_path):
    path = tmp_path / "wide.svm"
    path.write_text("1 1:1\n-1 30000000:1\n")
    code = """
        import sys
        import separatrix.files.source.detect as sources
        sources.free_memory = lambda: 8 * 10**9
        from separatrix.cli import main
        main()
    """
    done = run(code, "check", path)
    assert done.returncode == 2
    assert "30,000,000 columns" in done.stderr
    assert "12 GB in all, and 8 GB are free" in done.stderr
