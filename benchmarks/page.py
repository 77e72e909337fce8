"""The site's page on benchmarks, written from the results file when the site is built: losses, tables, plots.

python -m benchmarks.page DIR       # write index.md and its pictures into DIR
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from separatrix.atomic import write_text

from .results import NAMES, RESULTS, is_peer, read

Measured = dict[str, Any]
TITLES = {
    "first": "the first fit",
    "memory": "memory",
    "verify": "checking a proof",
    "growth": "how time grows with the rows",
    "kernels": "kernels",
    **NAMES,
}
HEAD = """\
# Benchmarks

This page is generated when the site is built, from {{download}}`the results file <{source}>` of `make bench`.
Losses are listed first.

## How we measure

- **Same question.** Every program gets the same rows and must reach the same goal. The answer is checked on
  the data, outside the timed section. If a run did not reach the goal, the table says so and shows no time.
- **Same machine, same threads, interleaved.** The programs take turns in one process. The table shows the
  median, and half the range after the sign ±. Ratios are medians of pairs.
- **Compilation not included.** The first call compiles, and it runs before the timer starts.
- **Best settings of the other program.** The settings are listed at the end of this page.
- **Unsure** means that a 90 % interval of the median contains the target.

To repeat the measurement, run `make bench`, or a single section with `make bench BENCH_ARGS="--only pass"`.
{load}
"""
LIMITS = """\
Other programs can do things that we cannot do, or only on small data:

- Soft margins with a kernel are limited to 5,000 rows. `SVC` can use more.
- There is no penalized logistic regression, and there are no probabilities. Use scikit-learn.
- We do not train networks with more than one layer. Use a library for networks.
- Nothing runs on a GPU.
"""
COLUMNS = ("what", "separatrix", "the other", "result", "target", "met")


def write(folder: Path, results: Path = RESULTS) -> list[Path]:
    """Write the page and its pictures; return their paths."""
    rows = read(results)["rows"]
    folder.mkdir(parents=True, exist_ok=True)
    pictures = {name: _draw(folder, name, part) for name, part in _sections(rows).items()}
    page = folder / "index.md"
    write_text(page, text(rows, {name: paths for name, paths in pictures.items() if paths}))
    return [page, *(path for paths in pictures.values() for path in paths)]


def text(rows: list[Measured], pictures: dict[str, list[Path]]) -> str:
    """The page in Markdown."""
    loads = [float(row["load"]) for row in rows if row.get("load")]
    load = f"The load average during the run was {min(loads):.0f} to {max(loads):.0f}." if loads else ""
    parts = [HEAD.format(source="../../benchmarks/results/bench.json", load=load)]
    parts.append("## Where we lose\n")
    lost = [row for row in rows if is_lost(row)]
    parts.append(
        "In these rows, another program or the same question in memory was faster, or we had no answer.\n\n"
        + _table(lost)
        if lost
        else "No other program was faster in any row of the file.\n"
    )
    absent = missing_sections(rows)
    if absent:
        parts.append(
            f"These sections of `make bench` were not measured, so this list does not include their losses: "
            f"{', '.join(f'`{name}`' for name in absent)}.\n"
        )
    missed = [row for row in rows if row["met"] is False and row not in lost]
    if missed:
        parts.append(
            "In these rows, we were not slower, but did not reach the target that we had set. If the other "
            "program was stopped without an answer, it may be slower than shown.\n\n" + _table(missed)
        )
    parts.append(LIMITS)
    for name, part in _sections(rows).items():
        title = TITLES.get(name, name)
        parts.append(f"## {title[0].upper()}{title[1:]}\n")
        if name in pictures:
            parts.append(_picture(name, pictures[name]))
        parts.append(_table(part))
    parts.append("## Settings and versions\n")
    notes = dict.fromkeys(note for row in rows for note in row["notes"])
    parts.append("\n".join(f"- {_escaped(note)}" for note in notes) + "\n")
    return "\n".join(parts)


def missing_sections(rows: list[Measured]) -> list[str]:
    """Return the sections of `make bench` without a row in the file; the edge has its own page."""
    from . import edge
    from .__main__ import SECTIONS

    present = {row["section"] for row in rows}
    return [name for name in SECTIONS if name not in present and name not in edge.SECTIONS]


def speed(row: Measured) -> tuple[float, bool] | None:
    """How many times as fast as the other program we were, and whether that is a lower bound only."""
    if not is_peer(row["against"]):
        return None
    found = re.fullmatch(r"(more than |> )?([\d.,]+)( times as fast)?", row["ratio"])
    if found:
        return float(found[2].replace(",", "")), bool(found[1])
    found = re.fullmatch(r"([\d.,]+) times its time", row["ratio"])
    return (1.0 / float(found[1].replace(",", "")), False) if found else None


def is_lost(row: Measured) -> bool:
    """Whether another program was faster, or we had no answer although one was required."""
    if row["ours"].startswith("no answer") or (row["ratio"].startswith("+") and row["met"] is not True):
        return True
    found = speed(row)
    return found is not None and found[0] < 1.0 and not found[1]


def _sections(rows: list[Measured]) -> dict[str, list[Measured]]:
    """The rows by section, those that docs/speed.md shows first."""
    present = {row["section"] for row in rows}
    names = [name for name in NAMES if name in present] + sorted(present - set(NAMES))
    return {name: [row for row in rows if row["section"] == name] for name in names}


def _table(rows: list[Measured]) -> str:
    lines = ["| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    for row in rows:
        met = {True: "yes", False: "no", None: ""}[row["met"]]
        if row["met"] is not None and row["noisy"]:
            met = f"unsure: {row['noisy']}"
        cells = (row["what"], row["ours"], row["against"], row["ratio"], row["target"], met)
        lines.append("| " + " | ".join(map(_escaped, cells)) + " |")
    return "\n".join(lines) + "\n"


def _escaped(words: str) -> str:
    """Return the text with Markdown's special characters escaped."""
    return re.sub(r"([\\`*_<>|\[\]])", r"\\\1", words)


def _picture(name: str, paths: list[Path]) -> str:
    title = f"{TITLES.get(name, name)}: how many times as fast as the other"
    return "\n".join(
        f"```{{image}} {path.name}\n:alt: {title}\n:class: only-{theme}\n```\n"
        for path, theme in zip(paths, ("light", "dark"), strict=True)
    )


def _draw(folder: Path, name: str, rows: list[Measured]) -> list[Path]:
    """Draw one point per row that can be compared, to the right of one if we were faster."""
    points = [(row, *found) for row in rows if (found := speed(row)) is not None]
    if not points:
        return []
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    from separatrix.plot.style import style

    mpl.use("Agg")
    paths = []
    for theme in ("light", "dark"):
        with style(theme) as colors, mpl.rc_context({"svg.fonttype": "path", "svg.hashsalt": "separatrix"}):
            figure, axes = plt.subplots(figsize=(8.0, 0.9 + 0.3 * len(points)), layout="constrained")
            axes.axvline(1.0, color=colors.muted, linewidth=1.0)
            for place, (_, ratio, at_least) in enumerate(reversed(points)):
                color = colors.color(0) if ratio >= 1.0 else colors.accent
                axes.plot([1.0, ratio], [place, place], color=color)
                axes.plot(ratio, place, ">" if at_least else "o", color=color)
                told = f"{'>' if at_least else ''}{ratio:.3g}"
                aside, side = (7, "left") if ratio >= 1.0 else (-7, "right")
                axes.annotate(
                    told,
                    (ratio, place),
                    (aside, 0),
                    textcoords="offset points",
                    ha=side,
                    va="center",
                    fontsize=8,
                )
            axes.set_yticks(range(len(points)), [_label(row) for row, *_ in reversed(points)])
            axes.set_xscale("log")
            low, high = min(1.0, *(each[1] for each in points)), max(1.0, *(each[1] for each in points))
            axes.set_xlim(0.6 * low, 2.5 * high)
            axes.xaxis.set_major_formatter("{x:g}")
            axes.xaxis.set_minor_formatter("")
            axes.set(ylim=(-0.7, len(points) - 0.3), xlabel="times as fast as the other (1: level)")
            paths.append(folder / f"{name}-{theme}.svg")
            figure.savefig(paths[-1], metadata={"Date": None})
            plt.close(figure)
    return paths


def _label(row: Measured) -> str:
    """What was measured and against whom, in few words."""
    other = re.sub(r"^best (\S+)\. All: .*", r"\1", row["against"])
    other = re.split(r":| \d| no answer", other)[0]
    return f"{row['what']} | {other}"


if __name__ == "__main__":
    for each in write(Path(sys.argv[1])):
        print(each)
