"""Starting: processor seconds of whole commands in fresh processes, which are robust on a busy machine."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from .table import Row, Settings, measured

PATIENTS = """dose,age,recovered
1,31,no
2,45,no
2,62,no
3,29,no
3,51,yes
4,47,yes
5,33,yes
6,58,yes
"""
FIT = """
import numpy as np
from {home} import Perceptron
rng = np.random.default_rng(0)
X = rng.normal(size=(200, 5))
Perceptron().fit(X, (X[:, 0] + X[:, 1] > 0).astype(int))
"""
PROGRAM = [sys.executable, "-m", "separatrix.cli"]
CHECK = [*PROGRAM, "check", "patients.csv", "--target", "recovered"]
# What is measured, and the most processor seconds that it should take.
COMMANDS = {
    "separatrix --help": ([*PROGRAM, "--help"], 0.2),
    "separatrix check, 8 rows": (CHECK, 0.8),
    "separatrix demo": ([*PROGRAM, "demo"], 6.0),
}
FIRST = 5.0  # of the first check ever, with nothing compiled before
SLACK = 0.3  # that a fit of 200 rows may take beyond scikit-learn's
REPEATS = 5


def start(settings: Settings) -> Iterator[Row]:
    """Processor seconds (user and system, of the process and its own) from nothing to the end."""
    repeats = 3 if settings.quick else REPEATS
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "patients.csv").write_text(PATIENTS)
        for what, (command, most) in COMMANDS.items():
            spent(command, folder)  # compiles what it needs, once
            yield _row(what, [spent(command, folder) for _ in range(repeats)], most)
        first = []
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as cache:
                first.append(spent(CHECK, folder, NUMBA_CACHE_DIR=cache))
        yield _row("first separatrix check ever, 8 rows", first, FIRST)
        ours, theirs = (
            [sys.executable, "-c", FIT.format(home=home)] for home in ("separatrix", "sklearn.linear_model")
        )
        spent(ours, folder)
        pairs = [(spent(ours, folder), spent(theirs, folder)) for _ in range(repeats)]
        own, peer = (list(each) for each in zip(*pairs, strict=True))
        numba = median(spent([sys.executable, "-c", "import numba"], folder) for _ in range(repeats))
        more = median(own) - median(peer)
        yield Row(
            "start",
            f"import, Perceptron().fit(200 rows), warm; import numba alone {numba:.2f} s",
            measured(own),
            f"scikit-learn's {measured(peer)}",
            f"{more:+.2f} s",
            f"<= +{SLACK:g} s",
            more <= SLACK,
        )


def _row(what: str, seconds: list[float], most: float) -> Row:
    middle = median(seconds)
    return Row("start", what, f"{measured(seconds)} CPU", "", "", f"<= {most:g} s", middle <= most)


def spent(command: list[str], folder: str, **environment: str) -> float:
    """Return the processor seconds of a process, which has to succeed; its bytecode is kept, as Python does
    by default."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, env=kept | environment, check=True, capture_output=True, timeout=600)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


SECTIONS = {"start": start}
NOTES = ("start: processor seconds (user and system) of fresh processes, medians",)
