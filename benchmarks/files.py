"""Reading and learning from files: rows a second and peak memory, beside DuckDB, Vowpal Wabbit and river.

Every contender makes one online pass in its own process: Vowpal Wabbit from its own text format, river from
rows in memory, separatrix from CSV, Parquet and LIBSVM. Compilation is done before the clock starts.
"""

from __future__ import annotations

import argparse
import gzip
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument(
        "--data", type=Path, help="directory with covtype/covtype.csv.gz and enron/enron1-5.counts.svm.gz"
    )
    options.add_argument("--memory", type=int, default=256, help="MB for the out-of-core rows")
    options.add_argument("--runs", type=int, default=3)
    options.add_argument(
        "--quick", action="store_true", help="one run of each, 64 MB for the out-of-core rows"
    )
    options.add_argument("--job", nargs="+", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.job:
        JOBS[chosen.job[0]](*chosen.job[1:])
        return
    if chosen.quick:
        chosen.runs, chosen.memory = 1, 64
    with tempfile.TemporaryDirectory(prefix="separatrix-bench-") as directory:
        place = Path(directory)
        print(f"{'question':34} {'contender':24} {'rows/s':>12} {'seconds':>9} {'CPU s':>7} {'peak MB':>8}")
        if chosen.data is not None:
            _online(place, chosen.data, chosen.runs)
        _out_of_core(place, chosen.memory, chosen.runs)


def _online(place: Path, data: Path, runs: int) -> None:
    import duckdb

    csv, parquet, svm = place / "covtype.csv", place / "covtype.parquet", place / "enron.svm"
    for packed, plain in (
        (data / "covtype" / "covtype.csv.gz", csv),
        (data / "enron" / "enron1-5.counts.svm.gz", svm),
    ):
        with gzip.open(packed) as source, plain.open("wb") as target:
            shutil.copyfileobj(source, target)
    duckdb.sql(f"COPY (FROM read_csv('{csv}')) TO '{parquet}' (FORMAT parquet)")
    _write_vw(csv, svm, place)
    covtype, enron, labels = "online pass over covtype", "online pass over Enron", "Cover_Type"
    _table(
        runs,
        (covtype, "Vowpal Wabbit, its text", "vw", place / "covtype.vw", "--oaa 7 -b 10"),
        (covtype, "separatrix, CSV", "learn", csv, labels),
        (covtype, "separatrix, Parquet", "learn", parquet, labels),
        (covtype, "river, in memory", "river", parquet),
        (enron, "Vowpal Wabbit, its text", "vw", place / "enron.vw", "--binary -b 18"),
        (enron, "separatrix, LIBSVM", "learn", svm, "label"),
        ("predict covtype", "separatrix, CSV", "predict", csv, labels),
        ("predict covtype", "separatrix, Parquet", "predict", parquet, labels),
    )


def _out_of_core(place: Path, memory: int, runs: int) -> None:
    path, n_rows = place / "large.parquet", 4 * memory * 10**6 // 800
    _write_large(path, n_rows)
    print(
        f"{path.stat().st_size / 1e6:,.0f} MB of Parquet, {n_rows:,} rows of 100 numbers, --memory {memory}MB"
    )
    _table(
        runs,
        ("large: only reading", "DuckDB", "duckdb", path),
        ("large: fit, one pass", "separatrix", "learn", path, "y"),
        ("large: check, to a proof", "separatrix", "check", path, memory * 10**6),
        ("large: fit, to separation", "separatrix", "fit", path, memory * 10**6),
    )


def _table(runs: int, *jobs: tuple[object, ...]) -> None:
    """Run all jobs in turn, several times, so that the machine treats them alike; print the medians."""
    found: dict[int, list[list[float]]] = {k: [] for k in range(len(jobs))}
    failed: dict[int, str] = {}
    for _ in range(runs):
        for k, (_, _, *job) in enumerate(jobs):
            if k in failed:
                continue
            command = [sys.executable, "-m", "benchmarks.files", "--job", *map(str, job)]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                failed[k] = done.stderr.strip().splitlines()[-1]
            else:
                found[k].append([float(each) for each in done.stdout.split()])
    for k, (question, contender, *_) in enumerate(jobs):
        if k in failed:
            print(f"{question:34} {contender:24} failed: {failed[k]}", flush=True)
            continue
        rows, seconds, cpu, peak = (statistics.median(column) for column in zip(*found[k], strict=True))
        print(
            f"{question:34} {contender:24} {rows / seconds:12,.0f} {seconds:9.2f} {cpu:7.2f} {peak:8.0f}",
            flush=True,
        )


def _measured(rows: int, wall: float, cpu: float) -> None:
    # Not ru_maxrss, which a process inherits from the one that started it.
    facts = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    peak = int(facts["VmHWM"].split()[0]) * 1024 / 1e6
    print(rows, time.perf_counter() - wall, time.process_time() - cpu, peak)


def _learn(path: str, target: str) -> None:
    from separatrix.online import learn
    from separatrix.rows.files import open_table

    classes = {"Cover_Type": range(1, 8), "label": (-1, 1), "y": (0, 1)}[target]
    with tempfile.TemporaryDirectory() as directory:
        _compile(Path(directory), len(classes))
    wall, cpu = time.perf_counter(), time.process_time()
    learnt = learn(open_table(path, target=target, count_columns=False), classes=list(classes))
    _measured(learnt.rows, wall, cpu)


def _predict(path: str, target: str) -> None:
    """The command itself, in this process: rows are read, predicted and written as CSV."""
    from separatrix.cli.app import app
    from separatrix.online import learn
    from separatrix.persist import save
    from separatrix.rows.files import open_table

    with tempfile.TemporaryDirectory() as directory:
        learnt = learn(open_table(path, target=target), classes=list(range(1, 8)))
        model = Path(directory) / "model.skops"
        save(learnt.model, model, columns=learnt.encoding.as_dict())
        command = ["predict", str(model), path, "-o", f"{directory}/out.csv"]
        app(command, standalone_mode=False)  # everything is compiled and imported by this
        wall, cpu = time.perf_counter(), time.process_time()
        app(command, standalone_mode=False)
        _measured(learnt.rows, wall, cpu)


def _compile(place: Path, n_classes: int) -> None:
    """Learn a few rows of each kind, so that everything is compiled."""
    from separatrix.online import learn
    from separatrix.rows.files import open_table

    (place / "rows.csv").write_text("a,y\n" + "".join(f"{k},{k % n_classes}\n" for k in range(50)))
    (place / "rows.svm").write_text("".join(f"{k % n_classes} 1:{k}\n" for k in range(50)))
    learn(open_table(place / "rows.csv", target="y"))
    learn(open_table(place / "rows.svm", count_columns=False))


def _fit(path: str, memory: str) -> None:
    import separatrix as sx
    from separatrix.rows.files import open_table

    sx.Perceptron().fit(np.random.default_rng(0).standard_normal((3000, 3)), np.arange(3000) % 2 == 0, None)
    wall, cpu = time.perf_counter(), time.process_time()
    X, y = open_table(path, target="y").read(int(memory))
    model = sx.Perceptron().fit(X, y)
    assert model.converged_
    _measured(len(y), wall, cpu)


def _check(path: str, memory: str) -> None:
    import separatrix as sx
    from separatrix.rows.files import open_table

    sx.separability(np.random.default_rng(0).standard_normal((3000, 3)), np.arange(3000) % 2 == 0)
    wall, cpu = time.perf_counter(), time.process_time()
    X, y = open_table(path, target="y").read(int(memory))
    assert sx.separability(X, y).separable
    _measured(len(y), wall, cpu)


def _duckdb(path: str) -> None:
    import duckdb

    wall, cpu = time.perf_counter(), time.process_time()
    reader = duckdb.connect().sql(f"FROM '{path}'").to_arrow_reader(4096)
    _measured(sum(batch.num_rows for batch in reader), wall, cpu)


def _vw(path: str, options: str) -> None:
    import vowpalwabbit

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
    main()
