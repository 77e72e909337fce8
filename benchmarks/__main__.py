"""Measure everything, or one section, and print one table.

python -m benchmarks [--data DIR] [--quick] [--only SECTION ...] [--margins M ...] [--peer-seconds N]

The table of docs/speed.md: `pip install liblinear-official vowpalwabbit` into the environment, then
python -m benchmarks --only pass zero verdict start --margins 0.1 0.01 --peer-seconds 8
python -m benchmarks.results
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from dataclasses import replace
from pathlib import Path

from . import (
    cluster,
    data,
    edge,
    fewest,
    files,
    foundation,
    kernels,
    max_margin,
    ordinary,
    peers,
    proof,
    results,
    soft_margin,
    start,
)
from .table import Row, Settings, table

PARTS = (foundation, start, proof, max_margin, soft_margin, kernels, ordinary, fewest, files, cluster, edge)
SECTIONS = {name: section for part in PARTS for name, section in part.SECTIONS.items()}


def main() -> None:
    settings, options = _read_options()
    warnings.simplefilter("ignore")
    rows: list[Row] = []
    untargeted = {name for part in (proof, ordinary, fewest, files, cluster, edge) for name in part.SECTIONS}
    notes = _notes(settings)
    for name, section in SECTIONS.items():
        if options.only is None or name in options.only:
            print(f"measuring: {name}", file=sys.stderr, flush=True)
            for row in section(settings):
                if settings.quick and name in untargeted:
                    row = replace(row, target="", met=None)
                print("  " + "  ".join(row.cells()), file=sys.stderr, flush=True)
                rows.append(row)
            if not settings.quick and name not in edge.SECTIONS:  # the edge keeps its own answers
                results.keep([row for row in rows if row.section == name], notes)
    print("\n".join(notes), end="\n\n")
    print(table(rows, markdown=options.markdown))
    verdicts = [row.met for row in rows if row.met is not None and not row.noisy]
    unsure = sum(row.met is not None and bool(row.noisy) for row in rows)
    print(f"\n{verdicts.count(True)} targets met, {verdicts.count(False)} missed, {unsure} unsure")


def _read_options() -> tuple[Settings, argparse.Namespace]:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, metavar="DIR", help="directory with the real sets")
    parser.add_argument("--quick", action="store_true", help="small sizes, a few minutes")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, metavar="SECTION", help=", ".join(SECTIONS))
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument(
        "--peer-seconds",
        type=float,
        metavar="N",
        help="time limit of a peer (60, and 20 for a linear program on all rows; quick: 1)",
    )
    parser.add_argument(
        "--margins",
        nargs="+",
        type=float,
        choices=data.MARGINS,
        metavar="M",
        help="of the generated sets of zero and verdict (0.1 0.01 0.001; quick: the first two)",
    )
    options = parser.parse_args()
    wanted = options.peer_seconds
    limit, program = (wanted, wanted) if wanted else (1.0, 1.0) if options.quick else (60.0, 20.0)
    margins = tuple(options.margins or (data.MARGINS[:2] if options.quick else data.MARGINS))
    return Settings(options.data, options.quick, limit, program, margins), options


def _notes(settings: Settings) -> list[str]:
    """Return what a reader needs to judge the table."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    method = (
        f"{cores} cores; medians of interleaved repeats, ± half the range; fit only, conversion excluded; "
        f"compiled before the clock starts; time limit of a peer {settings.peer_seconds:g} s, of a linear "
        f"program on all rows {settings.program_seconds:g} s"
    )
    missing = data.left_out(settings.directory)
    return [peers.versions(), method, *(note for part in PARTS for note in part.NOTES), *missing]


if __name__ == "__main__":
    main()
