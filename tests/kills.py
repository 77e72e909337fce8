"""Kill commands at random moments, and see what is left: ``make kills``.

Every command runs in a process of its own, in which putting a file on the disk and renaming it take their
time, so that most kills come while something is being written. After each kill every output is the old one or
a new one, whole, and the temporary directory is empty. After the next run, which is not killed, nothing else
lies beside the output either, and a stream that was resumed has the weights of one that never stopped.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import numpy as np

SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
PATIENCE = 120.0  # seconds that a command may take at most, on a machine that has other work
LAST_WORK = 0.5  # seconds of the processor for what is still to be done when all is written
OLD = b"what was there before\n"


@dataclass(frozen=True)
class Job:
    """A command, what it writes, and how one sees that such a file is whole.

    Attributes
    ----------
    arguments : list of str
        In which the folder is the current one.
    outputs : dict of str to callable
        For each file, what raises if its content is not whole.
    keeps : tuple of str
        What else may lie in the folder when the command is done.
    stdin : str or None
        What it reads from.
    answer : callable, optional
        Something of the folder, after the last run, that is the same however often the command was killed.
    fresh : bool
        Whether the outputs exist before it begins.
    """

    arguments: list[str]
    outputs: dict[str, Callable[[bytes], object]]
    keeps: tuple[str, ...] = ()
    stdin: str | None = None
    answer: Callable[[Path], object] | None = None
    fresh: bool = False
    expected: list[object] = field(default_factory=list)


def jobs() -> dict[str, Job]:
    """The commands that write."""
    learn = [
        "learn",
        "-",
        "--classes=0,1",
        "--checkpoint",
        "state.npz",
        "--every",
        "2000",
        "-o",
        "model.skops",
    ]
    return {
        "predict csv": Job(["predict", "old.skops", "rows.csv", "-o", "out.csv"], {"out.csv": whole_csv}),
        "predict parquet": Job(
            ["predict", "old.skops", "-", "-o", "out.parquet"],
            {"out.parquet": whole_parquet},
            stdin="rows.csv",
        ),
        "fit": Job(
            ["fit", "rows.csv", "--target", "y", "-o", "model.skops", "--report", "report.html"],
            {"model.skops": whole_model, "report.html": whole_page},
        ),
        "check": Job(
            ["check", "-", "--target", "y", "--certificate", "proof.json", "--report", "report.html"],
            {"proof.json": json.loads, "report.html": whole_page},
            stdin="rows.csv",
        ),
        "learn": Job(
            learn,
            {"model.skops": whole_model},
            ("state.npz",),
            stdin="rows.svm",
            answer=weights,
            fresh=True,
        ),
        "export": Job(["export", "old.skops", "--onnx", "model.onnx"], {"model.onnx": whole_graph}),
        "experiment": Job(
            ["experiment", "learning-rate", "--quick", "-o", "out"],
            {},
            ("out",),
            answer=whole_folder,
            fresh=True,
        ),
    }


def whole_csv(content: bytes) -> None:
    assert content.count(b"\n") == ROWS + 1
    assert content.endswith(b"\n")


def whole_parquet(content: bytes) -> None:
    import pyarrow.parquet as pq

    assert pq.read_table(io.BytesIO(content)).num_rows == ROWS


def whole_page(content: bytes) -> None:
    assert content.rstrip().endswith(b"</html>")


def whole_graph(content: bytes) -> None:
    import onnx

    onnx.checker.check_model(onnx.load_from_string(content))


def whole_model(content: bytes) -> None:
    import separatrix as sx

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.skops"
        path.write_bytes(content)
        sx.load(path)


def weights(folder: Path) -> object:
    """The weights and counts of a model that was learnt."""
    import separatrix as sx

    model = sx.load(folder / "model.skops")
    return model.coef_.tobytes(), model.intercept_.tobytes(), model.mistakes_


def whole_folder(folder: Path) -> object:
    """The names and the table of an experiment."""
    names = sorted(path.name for path in (folder / "out").iterdir())
    return names, (folder / "out" / "learning-rate.csv").read_bytes()


ROWS = 20_000


def prepare(folder: Path) -> None:
    """Data for the commands, and a model."""
    folder.mkdir()
    values = np.random.default_rng(0)
    X = values.normal(size=(ROWS, 4)).round(3)
    y = (X @ [1.0, -2.0, 0.5, 0.25] > 0).astype(int)
    table = np.column_stack([X, y])
    np.savetxt(
        folder / "rows.csv", table, fmt=["%.3f"] * 4 + ["%d"], delimiter=",", header="a,b,c,d,y", comments=""
    )
    with (folder / "rows.svm").open("w") as out:
        for row, label in zip(X, y, strict=True):
            out.write(f"{label} " + " ".join(f"{k + 1}:{value:g}" for k, value in enumerate(row)) + "\n")
    code = end(start(["fit", "rows.csv", "--target", "y", "-o", "old.skops"], folder, folder), PATIENCE)
    assert code == 0, "the model could not be made"


class Process:
    """A command in a process that was forked from this one, so that it need not be loaded again."""

    def __init__(
        self, arguments: list[str], folder: Path, temporary: Path, stdin: str | None, slow: float
    ) -> None:
        sys.stdout.flush()
        self.code: int | None = None
        self.used = 0.0  # seconds of processor time, when it has ended
        self.pid = os.fork()
        if self.pid == 0:
            status = 99
            try:
                status = child(arguments, folder, temporary, stdin, slow)
            finally:
                os._exit(status)

    def wait(self, seconds: float) -> int | None:
        """The exit code, negative for a signal; None if it is still running."""
        until = time.monotonic() + seconds
        while self.code is None:
            pid, status, usage = os.wait4(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
                self.used = usage.ru_utime + usage.ru_stime
            elif time.monotonic() > until:
                return None
            else:
                time.sleep(0.002)
        return self.code

    def used_so_far(self) -> float:
        """Seconds of processor time, of a process that is stopped."""
        if self.code is not None:
            return self.used
        times = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")

    def kill(self, number: int) -> None:
        if self.code is None:
            os.kill(self.pid, number)


def child(arguments: list[str], folder: Path, temporary: Path, stdin: str | None, slow: float) -> int:
    """Run a command; writing takes up to ``slow`` seconds at each step."""
    # nohup makes a process ignore the one, a shell in the background the other
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.chdir(folder)
    os.environ["TMPDIR"], tempfile.tempdir = str(temporary), str(temporary)
    log = os.open(folder.parent / "log", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    for number in (1, 2):
        os.dup2(log, number)
    source = os.open(stdin or os.devnull, os.O_RDONLY)
    os.dup2(source, 0)
    sys.argv = ["separatrix", *arguments]
    for name in ("fsync", "replace"):
        setattr(os, name, slowly(getattr(os, name), random.Random(os.getpid()), slow))
    from separatrix.cli import main

    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 1
    return 0


def slowly(act: Callable[..., object], rng: random.Random, seconds: float) -> Callable[..., object]:
    def later(*arguments: object, **named: object) -> object:
        time.sleep(rng.uniform(0, seconds))
        found = act(*arguments, **named)
        time.sleep(rng.uniform(0, seconds))
        return found

    return later


def start(
    arguments: list[str], folder: Path, temporary: Path, stdin: str | None = None, slow: float = 0.0
) -> Process:
    return Process(arguments, folder, temporary, stdin, slow)


def end(process: Process, seconds: float) -> int:
    code = process.wait(seconds)
    if code is None:
        process.kill(signal.SIGKILL)
        process.wait(10)
        raise AssertionError(f"a command was still running after {seconds:.0f} seconds")
    return code


class Trial:
    """A job in a folder of its own, killed again and again."""

    def __init__(self, name: str, job: Job, data: Path, rng: random.Random) -> None:
        self.name, self.job, self.rng = name, job, rng
        self.home = Path(tempfile.mkdtemp(prefix="kills-"))
        self.folder, self.temporary = self.home / "here", self.home / "tmp"
        self.temporary.mkdir()
        shutil.copytree(data, self.folder)
        self.before = {path.name for path in self.folder.iterdir()}
        self.seconds = 1.0
        self.seen: Counter[str] = Counter()

    def run(self, slow: float) -> Process:
        return start(self.job.arguments, self.folder, self.temporary, self.job.stdin, slow)

    def once(self) -> None:
        """Start, kill, look; then let it run to its end, and look again."""
        if not self.job.fresh:
            for name in self.job.outputs:
                (self.folder / name).write_bytes(OLD)
        for _ in range(self.rng.randint(1, 3)):
            self.kill()
        code = end(self.run(0.0), PATIENCE)
        assert code == 0, f"{self.name}: the run after a kill ended with {code}: {self.said()}"
        for name, whole in self.job.outputs.items():
            whole((self.folder / name).read_bytes())
        left = (
            {path.name for path in self.folder.iterdir()}
            - self.before
            - set(self.job.outputs)
            - set(self.job.keeps)
        )
        assert not left, f"{self.name}: left beside the output: {left}"
        self.empty()
        if self.job.answer is not None:
            self.job.expected.append(self.job.answer(self.folder))
            assert self.job.expected[-1] == self.job.expected[0], f"{self.name}: another answer after a kill"
        if self.job.fresh:
            for name in {path.name for path in self.folder.iterdir()} - self.before:
                path = self.folder / name
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def kill(self) -> None:
        """Kill it at some moment, most often when it has begun to write."""
        number = self.rng.choice(SIGNALS)
        begun, process = time.monotonic(), self.run(0.1)
        if self.rng.random() < 0.75:
            while process.wait(0.003) is None and not self.writing() and time.monotonic() - begun < PATIENCE:
                pass
            time.sleep(self.rng.uniform(0, 0.4))
        else:
            time.sleep(self.rng.uniform(0, self.seconds))
        writing = self.writing()
        process.kill(signal.SIGSTOP)  # or else it may do anything between the two
        before, killed = process.used_so_far(), time.monotonic()
        process.kill(number)
        process.kill(signal.SIGCONT)
        code = end(process, PATIENCE)
        took = process.used - before
        if code == 0:
            self.seen["was done before"] += 1
            self.seconds = 0.9 * self.seconds + 0.1 * (killed - begun)
            assert took < LAST_WORK, (
                f"{self.name}: signal {number} was swallowed; it worked for {took:.1f} seconds more"
            )
        else:
            self.seen[f"{signal.Signals(number).name}{' while writing' if writing else ''}"] += 1
            assert code in (-number, 130), f"{self.name}: signal {number} ended it with {code}: {self.said()}"
        for name, whole in self.job.outputs.items():
            path = self.folder / name
            if self.job.fresh and not path.exists():
                continue
            content = path.read_bytes()
            if content != OLD:
                try:
                    whole(content)
                except Exception as error:
                    raise AssertionError(
                        f"{self.name}: {name} is torn: {len(content)} bytes, {error}"
                    ) from error
        self.empty()

    def writing(self) -> bool:
        return any(path.name.endswith(".partial") for path in self.folder.rglob(".*"))

    def empty(self) -> None:
        left = [path.name for path in self.temporary.iterdir()]
        assert not left, f"{self.name}: left in the temporary directory: {left}"

    def said(self) -> str:
        return (self.home / "log").read_text()[-2000:]


LOADED = (
    "matplotlib.figure", "onnx", "pyarrow.csv", "pyarrow.parquet", "sklearn.pipeline", "skops.io",
    "separatrix.cli.app", "separatrix.estimators.online", "separatrix.experiments",
    "separatrix.proofs.verdict", "separatrix.report.figures", "separatrix.report.page",
    "separatrix.storage.models", "separatrix.storage.onnx", "separatrix.files.table",
)  # fmt: skip


def load() -> None:
    """Import what the commands need, once; nothing is run, so that no thread is there when processes fork."""
    for name in LOADED:
        import_module(name)


def kill_many(kills: int, seed: int, only: str | None = None) -> Counter[str]:
    """So many kills over all jobs; AssertionError where one leaves what it must not."""
    load()
    rng, seen = random.Random(seed), Counter[str]()
    home = Path(tempfile.mkdtemp(prefix="kills-"))
    trials: list[Trial] = []
    try:
        prepare(home / "data")
        trials = [
            Trial(name, job, home / "data", rng) for name, job in jobs().items() if only in (None, name)
        ]
        turn = 0
        while sum(seen.values()) < kills:
            trial = trials[turn % len(trials)]
            before = Counter(trial.seen)
            trial.once()
            seen += trial.seen - before
            turn += 1
        for trial in trials:
            print(f"{trial.name}: {dict(trial.seen)}")
    finally:
        for path in (home, *(trial.home for trial in trials)):
            shutil.rmtree(path, ignore_errors=True)
    return seen


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--kills", type=int, default=1000)
    options.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    options.add_argument("--only", choices=jobs())
    given = options.parse_args()
    print(f"seed {given.seed}", flush=True)
    begun = time.monotonic()
    seen = kill_many(given.kills, given.seed, given.only)
    print(f"{sum(seen.values())} kills in {time.monotonic() - begun:.0f} s: {dict(seen)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
