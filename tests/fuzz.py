"""Readers and proofs against referees, on random cases and damaged files: ``make fuzz``.

Every target makes cases from a seed and compares what this library makes of them with Python's ``float``,
with a slow twin, with rational arithmetic, or with Arrow, DuckDB, scikit-learn and NumPy. Each batch of cases
runs in a process of its own, so that a crash is a finding like any other, and names the seed that repeats it.
After ``--seconds`` no batch of a target is begun, and one that hangs is ended.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests import fuzz_brackets, fuzz_certificates, fuzz_inputs, logical_tables, planar
from tests.fuzz_files import check_arrays, check_idx, check_others, check_parquet
from tests.fuzz_numbers import check_cells, check_numbers, check_readings
from tests.fuzz_text import check_arff, check_csv, check_libsvm

LONGEST = 1800  # seconds of a batch; one that takes longer hangs

# Cases a batch, and cases in all.
TARGETS = {
    "numbers": (check_numbers, 50_000, 1_000_000),
    "cells": (check_cells, 50_000, 1_000_000),
    "readings": (check_readings, 500, 10_000),
    "csv": (check_csv, 500, 10_000),
    "libsvm": (check_libsvm, 2_000, 10_000),
    "arff": (check_arff, 1_000, 10_000),
    "parquet": (check_parquet, 1_000, 10_000),
    "arrays": (check_arrays, 2_000, 10_000),
    "idx": (check_idx, 2_000, 10_000),
    "others": (check_others, 1_000, 10_000),
    "short tables": (logical_tables.check_short, 200, 10_000),
    "medium tables": (logical_tables.check_medium, 50, 2_000),
    "long tables": (logical_tables.check_long, 3, 60),
    "margins": (fuzz_brackets.check_hard, 250, 2_000),
    "far margins": (fuzz_brackets.check_far, 50, 400),
    "margins of verdicts": (fuzz_brackets.check_verdicts, 250, 2_000),
    "soft margins": (fuzz_brackets.check_soft, 250, 2_000),
    "kernel margins": (fuzz_brackets.check_kernels, 100, 500),
    "kernel margins of raw columns": (fuzz_brackets.check_raw_polynomials, 100, 500),
    "inputs": (fuzz_inputs.check_inputs, 1_000, 20_000),
    "certificates": (fuzz_certificates.check_certificates, 10_000, 100_000),
    "two engines": (planar.check_engine, 250, 5_000),  # needs Node
    "two checkers": (fuzz_certificates.check_two, 20_000, 200_000),  # 10,000 of each kind
}


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", choices=TARGETS, help="one target instead of all")
    options.add_argument("--seed", type=int, default=None)
    options.add_argument("--seconds", type=float, default=900.0, help="for each target")
    options.add_argument("--batch", type=int, default=None, help="make this one batch, in this process")
    given = options.parse_args()
    seed = random.SystemRandom().randrange(10**9) if given.seed is None else given.seed
    if given.batch is not None:
        run_batch(given.only, seed, given.batch)
        return 0
    print(f"to repeat this run: make fuzz SEED={seed}", flush=True)
    bad = [
        name for name in TARGETS if given.only in (None, name) and not run_target(name, seed, given.seconds)
    ]
    print(f"found in: {', '.join(bad)}" if bad else "nothing was found")
    return 1 if bad else 0


def run_batch(name: str, seed: int, batch: int) -> None:
    """The cases of one batch; AssertionError, or any other error, is a finding."""
    check, size, _ = TARGETS[name]
    with tempfile.TemporaryDirectory() as folder:
        check(random.Random(f"{name} {seed} {batch}"), size, Path(folder))


def run_target(name: str, seed: int, seconds: float) -> bool:
    """All batches of a target, each in a process of its own, until the cases are made or the time is over."""
    _, size, total = TARGETS[name]
    begun, made, bad = time.monotonic(), 0, 0
    for batch in range(-(-total // size)):
        if time.monotonic() - begun > seconds or bad == 3:
            break
        options = ["-m", "tests.fuzz", "--only", name, "--seed", str(seed), "--batch", str(batch)]
        found = run_apart(options)
        made += size
        if found is not None:
            bad += 1
            print(f"{name}: {found[0]}; again: python {' '.join(options)}\n{found[1][-3000:]}")
    print(
        f"{name}: {made:,} cases with seed {seed} in {time.monotonic() - begun:.0f} s, {bad} findings",
        flush=True,
    )
    return not bad


def run_apart(options: list[str]) -> tuple[str, str] | None:
    """Run a batch in a process of its own; how that ended, and what it said, if it did not end well."""
    root = Path(__file__).parent.parent
    try:
        done = subprocess.run(
            [sys.executable, *options], capture_output=True, text=True, cwd=root, timeout=LONGEST
        )
    except subprocess.TimeoutExpired as error:
        return f"did not end within {LONGEST} seconds", str(error)
    return (f"ended with {done.returncode}", done.stderr) if done.returncode else None


if __name__ == "__main__":
    sys.exit(main())
