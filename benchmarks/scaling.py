"""What a verdict costs on a cluster: rounds and bytes, measured; and a larger cluster, simulated from them.

python -m benchmarks.scaling measure     # about ten minutes; keeps what it finds in results/scaling.json
python -m benchmarks.scaling             # writes the tables of docs/scaling.md from that file

A round is one question to all blocks (or to those that have certain rows) and their answers. Rows lie in the
unit ball, at least a margin away from a hyperplane through its center; they are made block by block.
"""

from __future__ import annotations

import json
import pickle
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import separatrix as sx
from separatrix.atomic import write_text
from separatrix.rows.blocks import BlockMatrix
from separatrix.rows.memory import as_rows

RESULTS = Path(__file__).parent / "results" / "scaling.json"
PAGE = Path(__file__).parent.parent / "docs" / "scaling.md"
SIZES, MARGINS, COLUMNS, BLOCKS = (10**5, 10**6, 10**7), (0.1, 0.01, 0.001), 20, 16
MARKS = {name: (f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n") for name in ("rounds", "simulation")}


def block(number: int, rows: int, margin: float) -> tuple[Any, Any]:
    """One block of rows, float32, with its labels."""
    random = np.random.default_rng([number, rows])
    X = random.standard_normal((rows, COLUMNS), dtype=np.float32)
    X *= (random.random(rows) ** (1.0 / COLUMNS) / np.sqrt(np.einsum("ij,ij->i", X, X)))[:, None]
    scores = X[:, 0]
    y = np.where(scores >= 0.0, 1, 0)
    X[:, 0] = np.where(np.abs(scores) < margin, np.where(y > 0, margin, -margin), scores)
    return X, y


def collection(rows: int, margin: float) -> tuple[Any, Any]:
    """Return a Dask array of such blocks, which no client holds, and its labels."""
    import dask
    import dask.array as da

    size = rows // BLOCKS
    parts = [dask.delayed(block)(number, size, margin) for number in range(BLOCKS)]
    X = [da.from_delayed(part[0], (size, COLUMNS), dtype=np.float32) for part in parts]
    y = [da.from_delayed(part[1], (size,), dtype=np.int64) for part in parts]
    return da.concatenate(X), da.concatenate(y)


@dataclass
class Traffic:
    """Rounds by name, and the bytes that would be sent: arguments to each block, and the answers."""

    rounds: dict[str, int]
    sent: int = 0
    received: int = 0


@contextmanager
def counted() -> Iterator[Traffic]:
    """Count what goes between the coordinator and the blocks."""
    traffic, plain = Traffic({}), BlockMatrix.map

    def watched(self: Any, name: str, task: Any, *common: Any, **options: Any) -> Any:
        answers = plain(self, name, task, *common, **options)
        traffic.rounds[name] = traffic.rounds.get(name, 0) + 1
        traffic.sent += len(answers) * len(pickle.dumps(common)) + len(pickle.dumps(options.get("each")))
        traffic.received += sum(len(pickle.dumps(answer)) for answer in answers)
        return answers

    with patch.object(BlockMatrix, "map", watched):
        yield traffic


def measure() -> None:
    """Ask for verdicts of all sizes at all margins; how fast one core scans."""
    sx.separability(*collection(16_000, 0.1))  # compiles
    found = []
    for rows in SIZES:
        for margin in MARGINS:
            with counted() as traffic:
                begin = time.perf_counter()
                verdict = sx.separability(*collection(rows, margin), quasi=False)
                seconds = time.perf_counter() - begin
            found.append(
                {
                    "rows": rows, "margin": margin, "status": str(verdict.status), "rounds": traffic.rounds,
                    "sent": traffic.sent, "received": traffic.received, "seconds": round(seconds, 2),
                }
            )  # fmt: skip
            print(found[-1], flush=True)
    write_text(RESULTS, json.dumps({"verdicts": found, **_speeds()}, indent=1) + "\n")


def _speeds() -> dict[str, float]:
    """Numbers that one core scans in a second, wide rows; corrected rows that it fetches and passes over."""
    X = np.random.default_rng(0).standard_normal((50_000, 1000), dtype=np.float32)
    rows, weights = as_rows(X, np.zeros(len(X), dtype=int)), np.ones(1001)
    from separatrix.rows import threads

    with threads.alone():
        rows.scan(weights)
        begin, processor = time.perf_counter(), time.process_time()
        for _ in range(10):
            rows.scan(weights, 2000)
    return {
        "scan_numbers_per_core_second": 10 * X.size / (time.process_time() - processor),
        "scan_wall_seconds": time.perf_counter() - begin,
    }


# The assumptions of the simulation; everything else is measured. Bandwidths are common in data centers.
WORKERS, CORES, ROWS, WIDTH, SHARDS = 100, 16, 10**9, 1000, 1600
LINK = 1.25e9  # bytes per second into and out of the coordinator: 10 Gbit/s
OVERHEAD = 1e-3  # seconds of the scheduler for each task of a round


def rounds_table(found: dict[str, Any]) -> str:
    """Rounds and bytes of each verdict, and the law that they follow."""
    lines = [
        "| rows | margin | verdict | rounds | of these epochs | sent, kB | received, MB | bytes per row |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for each in found["verdicts"]:
        rounds = each["rounds"]
        cells = (
            f"{each['rows']:,}", f"{each['margin']:g}", each["status"], sum(rounds.values()),
            rounds.get("pass", 0), f"{each['sent'] / 1e3:.0f}", f"{each['received'] / 1e6:.1f}",
            f"{each['received'] / each['rows']:.1f}",
        )  # fmt: skip
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    slope, level = law(found)
    by_rows = np.polyfit(*np.log([(e["rows"], sum(e["rounds"].values())) for e in found["verdicts"]]).T, 1)[0]
    return "\n".join(lines) + (
        f"\n\nFitted: received = {slope:.1f} bytes per row and {level / 1e3:.0f} kB per epoch (least "
        f"squares, {len(found['verdicts'])} verdicts). The number of rounds grows with the "
        f"number of rows to the power {by_rows:.2f}.\n"
    )


def law(found: dict[str, Any]) -> tuple[float, float]:
    """Return the bytes received per row and per epoch."""
    table = [(e["rows"], e["rounds"].get("pass", 0), e["received"]) for e in found["verdicts"]]
    rows, epochs, received = np.array(table, dtype=float).T
    slope, level = np.linalg.lstsq(np.column_stack([rows, epochs]), received, rcond=None)[0]
    return float(slope), float(level)


def simulation(found: dict[str, Any]) -> str:
    """A verdict on many rows by many workers: seconds of each part."""
    speed = found["scan_numbers_per_core_second"]
    reading = ROWS * WIDTH / speed / (WORKERS * CORES)
    lines = [
        "| epochs | reading | sending weights | one number per row | scheduler | total |",
        "|---|---|---|---|---|---|",
    ]
    once = ROWS * law(found)[0] / LINK
    for epochs in (2, 30, 300):
        rounds = epochs + 10
        parts = (
            rounds * reading, epochs * 2 * SHARDS * 8 * WIDTH / LINK, once, rounds * SHARDS * OVERHEAD,
        )  # fmt: skip
        cells = [epochs, *(f"{each:,.1f} s" for each in (*parts, sum(parts)))]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    most = reading / (2 * 8 * WIDTH / LINK + OVERHEAD)
    return "\n".join(lines) + (
        f"\n\nOne core scans {speed / 1e9:.2f} * 10^9 numbers per second (measured, {WIDTH:,} columns of "
        f"float32). With these numbers, {WORKERS} workers read for {reading:.2f} s per round; in this "
        f"time the coordinator serves {most:,.0f} shards.\n"
    )


def write_page() -> None:
    """Put the tables into the page."""
    found = json.loads(RESULTS.read_text("utf-8"))
    write_text(PAGE, with_tables(PAGE.read_text("utf-8"), found))


def with_tables(text: str, found: dict[str, Any]) -> str:
    """The page with these tables between its marks."""
    for name, table in (("rounds", rounds_table(found)), ("simulation", simulation(found))):
        begin, end = MARKS[name]
        before, rest = text.split(begin)
        text = before + begin + table + end + rest.split(end)[1]
    return text


if __name__ == "__main__":
    if sys.argv[1:] == ["measure"]:
        measure()
    write_page()
