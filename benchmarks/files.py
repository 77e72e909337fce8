"""Reading and learning from files: rows per second and peak memory, beside DuckDB, Vowpal Wabbit and river.

Every contender works in a process of its own: Vowpal Wabbit from its own text format, river from rows in
memory, separatrix from CSV, Parquet and LIBSVM.
"""

from __future__ import annotations

import gzip
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from . import timing
from .table import Row, Settings, paired

MEMORY, QUICK_MEMORY = 256, 64  # MB allowed; the file is four times as large
OFTEN = 3  # times per round, if a ratio is close to its target
BEYOND = 300  # MB that the process may take beyond what is allowed for the data
VW, RIVER, DUCKDB = "Vowpal Wabbit, its own text format", "river, rows in memory", "DuckDB, only reading"
NOTES = (
    (
        "files: rows/s from opening the file on, one process each, imported and compiled before; Vowpal "
        "Wabbit with --loss_function hinge and --oaa 7 -b 10 or --binary -b 18; river on the first 10,000 "
        "rows; DuckDB streams all columns as Arrow; before each run a file as large as the data, or 300 MB, "
        "is written and deleted, because virtual machines charge for memory that they gave back"
    ),
)


@dataclass
class Job:
    """A command, how often a round runs it, and what its runs took: rows, seconds, CPU seconds, peak MB."""

    command: tuple[object, ...]
    times: int = 1
    runs: list[list[float]] = field(default_factory=list)
    remark: str = ""

    @property
    def pace(self) -> list[float]:
        """Seconds per row."""
        return [seconds / rows for rows, seconds, _, _ in self.runs]

    @property
    def peak(self) -> float:
        return max(run[3] for run in self.runs)

    def shown(self) -> str:
        if not self.runs:
            return self.remark
        cpu = statistics.median(rows / cpu for rows, _, cpu, _ in self.runs)
        return f"{1 / statistics.median(self.pace):,.0f} rows/s ({cpu:,.0f} a CPU second)"


def files(settings: Settings) -> Iterator[Row]:
    """Compare online passes with online learners, and data larger than memory with plain reading."""
    with tempfile.TemporaryDirectory(prefix="separatrix-bench-") as directory:
        if settings.directory is not None:
            yield from _online(Path(directory), settings.directory, settings)
        yield from _out_of_core(Path(directory), settings)


def _online(place: Path, data: Path, settings: Settings) -> Iterator[Row]:
    csv, parquet, svm = place / "covtype.csv", place / "covtype.parquet", place / "enron.svm"
    _write_online(place, data, csv, parquet, svm)
    label = "Cover_Type"
    jobs = {
        "vw": Job(("vw", place / "covtype.vw", "--oaa 7 -b 10"), OFTEN),
        "csv": Job(("learn", csv, label), OFTEN),
        "parquet": Job(("learn", parquet, label), OFTEN),
        "river": Job(("river", parquet)),
        "vw enron": Job(("vw", place / "enron.vw", "--binary -b 18")),
        "svm": Job(("learn", svm, "label")),
        "predict csv": Job(("predict", csv, label)),
        "predict parquet": Job(("predict", parquet, label)),
    }
    _run(jobs, 1 if settings.quick else settings.repeats)
    yield _against("learn covtype from Parquet", jobs["parquet"], jobs["vw"], VW, 5.0)
    yield _against("learn covtype from CSV", jobs["csv"], jobs["vw"], VW, 2.0)
    yield _against("learn Enron from LIBSVM", jobs["svm"], jobs["vw enron"], VW, 1.0)
    yield _against("learn covtype from Parquet", jobs["parquet"], jobs["river"], RIVER, 20.0)
    for kind in ("CSV", "Parquet"):
        yield Row("files", f"predict covtype from {kind}", jobs[f"predict {kind.lower()}"].shown(), "", "")


def _out_of_core(place: Path, settings: Settings) -> Iterator[Row]:
    memory = QUICK_MEMORY if settings.quick else MEMORY
    path, n_rows = place / "large.parquet", 4 * memory * 10**6 // 800
    _write_large(path, n_rows)
    jobs = {
        "read": Job(("duckdb", path), OFTEN),
        "pass": Job(("learn", path, "y")),
        "check": Job(("check", path, memory * 10**6), OFTEN),
        "fit": Job(("fit", path, memory * 10**6)),
    }
    _run(jobs, 1 if settings.quick else settings.repeats)
    what = f"{path.stat().st_size / 1e6:,.0f} MB of Parquet, --memory {memory}MB"
    yield _against(f"fit, one pass: {what}", jobs["pass"], jobs["read"], DUCKDB, 0.5)
    yield _against(f"check, to a proof: {what}", jobs["check"], jobs["read"], DUCKDB, 0.5)
    yield _against(f"fit, to separation: {what}", jobs["fit"], jobs["read"], DUCKDB, None)
    for name, job in (("fit, one pass", "pass"), ("check", "check"), ("fit, to separation", "fit")):
        if jobs[job].runs:
            peak = f"{jobs[job].peak:,.0f} MB"
            limit, met = f"<= {memory + BEYOND} MB", jobs[job].peak <= memory + BEYOND
            yield Row("files", f"peak memory of {name}", peak, "", "", limit, met)


def _against(what: str, ours: Job, peer: Job, name: str, target: float | None) -> Row:
    """Compare our rows per second with a peer's, also by CPU time, which a busy machine affects less."""
    if not (ours.runs and peer.runs):
        return Row("files", what, ours.shown(), f"{name}: {peer.shown()}", "not measured")
    ratio, noisy = paired(peer.pace, ours.pace, target)
    limit, met = ("", None) if target is None else (f">= {target:g}", ratio >= target)
    return Row(
        "files",
        what,
        ours.shown(),
        f"{name}: {peer.shown()}",
        f"{ratio:.2f} times as fast",
        limit,
        met,
        noisy,
    )


def _run(jobs: dict[str, Job], runs: int) -> None:
    """Run all jobs in turn, several times, so that slow moments of the machine affect all of them."""
    paths = [str(timing.ROOT / "src"), str(timing.ROOT), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    turns = [(number, turn) for number in range(runs + 1) for turn in range(OFTEN if number else 1)]
    for number, turn in turns:  # the first round compiles what is not in the cache yet
        for job in jobs.values():
            if job.remark or turn >= job.times:
                continue
            command = [sys.executable, "-W", "ignore", "-m", "benchmarks.files", *map(str, job.command)]
            done = subprocess.run(command, capture_output=True, text=True, env=environment)
            if done.returncode:
                job.remark = f"failed: {done.stderr.strip().splitlines()[-1]}"
            elif number:
                job.runs.append([float(each) for each in done.stdout.split()])


def _write_online(place: Path, data: Path, csv: Path, parquet: Path, svm: Path) -> None:
    import duckdb

    for packed, plain in (
        (data / "covtype" / "covtype.csv.gz", csv),
        (data / "enron" / "enron1-5.counts.svm.gz", svm),
    ):
        with gzip.open(packed) as source, plain.open("wb") as target:
            shutil.copyfileobj(source, target)
    duckdb.sql(f"COPY (FROM read_csv('{csv}')) TO '{parquet}' (FORMAT parquet)")
    _write_vw(csv, svm, place)


def _measured(rows: int, wall: float, cpu: float) -> None:
    # Not ru_maxrss, which a process inherits from its parent.
    facts = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    peak = int(facts["VmHWM"].split()[0]) * 1024 / 1e6
    print(rows, time.perf_counter() - wall, time.process_time() - cpu, peak)


def _live(path: str | Path, **options: Any) -> Any:
    """Open a table for one pass; in older trees, not counting columns was an option of its own."""
    from separatrix.files.table import open_table

    try:
        return open_table(path, count_columns=False, **options)
    except TypeError:
        return open_table(path, live=True, **options)


def _learn(path: str, target: str) -> None:
    from separatrix.estimators.online import learn

    classes = {"Cover_Type": range(1, 8), "label": (-1, 1), "y": (0, 1)}[target]
    with tempfile.TemporaryDirectory() as directory:
        _compile(Path(directory), len(classes))
    _touch_memory(path)
    wall, cpu = time.perf_counter(), time.process_time()
    learned = learn(_live(path, target=target), classes=list(classes))
    _measured(learned.rows, wall, cpu)


def _predict(path: str, target: str) -> None:
    """The command itself, in this process: rows are read, predicted and written as CSV."""
    from separatrix.cli.app import app
    from separatrix.estimators.online import learn
    from separatrix.files.table import open_table
    from separatrix.storage.models import save

    with tempfile.TemporaryDirectory() as directory:
        learned = learn(open_table(path, target=target), classes=list(range(1, 8)))
        model = Path(directory) / "model.skops"
        save(learned.model, model, columns=learned.encoding.as_dict())
        command = ["predict", str(model), path, "-o", f"{directory}/out.csv"]
        app(command, standalone_mode=False)  # everything is compiled and imported by this
        wall, cpu = time.perf_counter(), time.process_time()
        app(command, standalone_mode=False)
        _measured(learned.rows, wall, cpu)


def _compile(place: Path, n_classes: int) -> None:
    """Learn a few rows of each kind, so that everything is imported and compiled."""
    import duckdb

    from separatrix.estimators.online import learn
    from separatrix.files.table import open_table

    (place / "rows.csv").write_text("a,y\n" + "".join(f"{k},{k % n_classes}\n" for k in range(50)))
    (place / "rows.svm").write_text("".join(f"{k % n_classes} 1:{k}\n" for k in range(50)))
    duckdb.sql(f"COPY (FROM read_csv('{place}/rows.csv')) TO '{place}/rows.parquet' (FORMAT parquet)")
    learn(open_table(place / "rows.csv", target="y"))
    learn(open_table(place / "rows.parquet", target="y"))
    learn(_live(place / "rows.svm"))


def _compile_reading(place: Path) -> None:
    """Read a few rows as a file larger than memory is read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from separatrix.files.table import open_table

    pq.write_table(pa.table({"a": np.arange(50.0), "y": np.arange(50) % 2}), place / "rows.parquet")
    open_table(place / "rows.parquet", target="y").read(memory=100)


def _fit(path: str, memory: str) -> None:
    import separatrix as sx
    from separatrix.files.table import open_table

    with tempfile.TemporaryDirectory() as directory:
        _compile_reading(Path(directory))
    sx.Perceptron().fit(np.random.default_rng(0).standard_normal((3000, 3)), np.arange(3000) % 2 == 0, None)
    _touch_memory(path)
    wall, cpu = time.perf_counter(), time.process_time()
    X, y = open_table(path, target="y").read(int(memory))
    model = sx.Perceptron().fit(X, y)
    assert model.converged_
    _measured(len(y), wall, cpu)


def _check(path: str, memory: str) -> None:
    import separatrix as sx
    from separatrix.files.table import open_table

    with tempfile.TemporaryDirectory() as directory:
        _compile_reading(Path(directory))
    sx.separability(np.random.default_rng(0).standard_normal((3000, 3)), np.arange(3000) % 2 == 0)
    _touch_memory(path)
    wall, cpu = time.perf_counter(), time.process_time()
    X, y = open_table(path, target="y").read(int(memory))
    assert sx.separability(X, y).separable
    _measured(len(y), wall, cpu)


def _duckdb(path: str) -> None:
    import duckdb

    _touch_memory(path)
    wall, cpu = time.perf_counter(), time.process_time()
    reader = duckdb.connect().sql(f"FROM '{path}'").to_arrow_reader(4096)
    _measured(sum(batch.num_rows for batch in reader), wall, cpu)


def _vw(path: str, options: str) -> None:
    import vowpalwabbit

    _touch_memory(path)
    wall, cpu = time.perf_counter(), time.process_time()
    model = vowpalwabbit.Workspace(f"-d {path} {options} --loss_function hinge --quiet", enable_logging=False)
    model.run_parser()
    rows = int(model.get_weighted_examples())
    model.finish()
    _measured(rows, wall, cpu)


def _river(path: str) -> None:
    import pyarrow.parquet as pq
    from river import linear_model, multiclass

    rows = pq.read_table(path).slice(0, 10_000).to_pylist()
    labels = [row.pop("Cover_Type") for row in rows]
    model = multiclass.OneVsRestClassifier(linear_model.Perceptron())
    _touch_memory(path)
    wall, cpu = time.perf_counter(), time.process_time()
    for row, label in zip(rows, labels, strict=True):
        model.learn_one(row, label)
    _measured(len(rows), wall, cpu)


def _write_vw(csv: Path, svm: Path, place: Path) -> None:
    table = np.loadtxt(csv, delimiter=",", skiprows=1, dtype=np.int32)
    with (place / "covtype.vw").open("w") as out:
        for row in table:
            used = np.flatnonzero(row[:-1])
            out.write(f"{row[-1]} | " + " ".join(f"{k}:{row[k]}" for k in used) + "\n")
    with svm.open() as lines, (place / "enron.vw").open("w") as out:
        for line in lines:
            label, _, rest = line.partition(" ")
            out.write(f"{int(float(label))} | {rest}")


def _write_large(path: Path, n_rows: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    direction = rng.standard_normal(100)
    direction /= np.linalg.norm(direction)
    schema = pa.schema([(f"x{k}", pa.float64()) for k in range(100)] + [("y", pa.int64())])
    with pq.ParquetWriter(path, schema, use_dictionary=False) as writer:
        for start in range(0, n_rows, 50_000):
            X = rng.standard_normal((min(50_000, n_rows - start), 100))
            X /= np.linalg.norm(X, axis=1)[:, None]
            scores = X @ direction
            X += np.outer(np.where(scores > 0, 0.05, -0.05), direction)
            writer.write_table(pa.table([*X.T, (scores > 0).astype(np.int64)], schema=schema))


def _touch_memory(path: str) -> None:
    """Write and delete as many bytes as the data have, or a process may take, to have memory at hand."""
    part = bytes(1 << 23)
    with tempfile.TemporaryFile() as file:
        for _ in range(max(BEYOND * 10**6, os.path.getsize(path)) // len(part) + 1):
            file.write(part)


SECTIONS = {"files": files}
JOBS = {
    "learn": _learn,
    "predict": _predict,
    "fit": _fit,
    "check": _check,
    "duckdb": _duckdb,
    "vw": _vw,
    "river": _river,
}

if __name__ == "__main__":
    JOBS[sys.argv[1]](*sys.argv[2:])
