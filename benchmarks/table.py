"""Rows of the table that `make bench` prints, and how ratios and noise are judged."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from pathlib import Path
from statistics import median

HEADER = ("section", "what", "ours", "against", "ratio", "target", "met")


@dataclass(frozen=True)
class Settings:
    """How much is measured."""

    directory: Path | None
    quick: bool
    peer_seconds: float
    program_seconds: float  # time limit of a linear program on all rows
    margins: tuple[float, ...]  # of the generated sets of "zero" and "verdict"

    @property
    def rows(self) -> int:
        return 5_000 if self.quick else 200_000

    @property
    def repeats(self) -> int:
        return 3 if self.quick else 5

    @property
    def pass_repeats(self) -> int:
        return 3 if self.quick else 9


@dataclass(frozen=True)
class Row:
    """One line of the table; ``met`` is None if there is no target."""

    section: str
    what: str
    ours: str
    against: str
    ratio: str
    target: str = ""
    met: bool | None = None
    noisy: str = ""  # why the measurement decides nothing

    def cells(self) -> tuple[str, ...]:
        verdict = "" if self.met is None else ("yes" if self.met else "NO")
        if self.met is not None and self.noisy:
            verdict = f"unsure: {self.noisy}"
        return (self.section, self.what, self.ours, self.against, self.ratio, self.target, verdict)


def shown(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1.0 else f"{seconds * 1e3:.3g} ms"


def measured(seconds: list[float]) -> str:
    middle = median(seconds)
    spread = f" ±{50 * (max(seconds) - min(seconds)) / middle:.0f}%" if len(seconds) > 1 else " (1 run)"
    return shown(middle) + spread


def faster(section: str, what: str, ours: list[float], peer: list[float], name: str, target: float) -> Row:
    """A row that shows how many times as fast as a peer we are."""
    ratio, noisy = paired(peer, ours, target)
    return Row(
        section,
        what,
        measured(ours),
        f"{name} {measured(peer)}",
        f"{ratio:.2f} times as fast",
        f">= {target:g}",
        ratio >= target,
        noisy,
    )


def within(
    section: str, what: str, ours: list[float], unit: list[float], name: str, target: float | None
) -> Row:
    """A row that shows how many units of work we need."""
    ratio, noisy = paired(ours, unit, target)
    limit = "" if target is None else f"<= {target:g}"
    met = None if target is None else ratio <= target
    shown = f"{ratio:.3g} times its time"
    return Row(section, what, measured(ours), f"{name} {measured(unit)}", shown, limit, met, noisy)


def paired(above: list[float], below: list[float], target: float | None) -> tuple[float, str]:
    """Return the median ratio, and whether noise makes it uncertain on which side of the target it lies.

    Repeats of equal number were interleaved: their ratios are taken pair by pair.
    """
    if len(above) != len(below) or len(above) < 3:
        return median(above) / median(below), ""
    ratios = [one / other for one, other in zip(above, below, strict=True)]
    low, high = median_interval(ratios)
    open_question = target is not None and low < target < high
    return median(ratios), f"median within {low:.2f} to {high:.2f}" if open_question else ""


def median_interval(values: list[float]) -> tuple[float, float]:
    """Return two values that have the median of the distribution between them, with 90% probability or more.

    It is below the k-th smallest of n with the probability that fewer than k of n fair coins show heads.
    Of fewer than five values, the smallest and the largest are the best there is.
    """
    ordered, n = sorted(values), len(values)
    below, skipped = 1.0, 0
    while skipped < (n - 1) // 2 and below + comb(n, skipped + 1) <= 0.05 * 2.0**n:
        skipped += 1
        below += comb(n, skipped)
    return ordered[skipped], ordered[n - 1 - skipped]


def table(rows: list[Row], *, markdown: bool) -> str:
    """The rows with aligned columns, as plain text or Markdown."""
    lines = [HEADER, *(row.cells() for row in rows)]
    if markdown:
        made = ["| " + " | ".join(line) + " |" for line in lines]
        return "\n".join([made[0], "|" + "---|" * len(HEADER), *made[1:]])
    # The longest column comes last, so that the others stay aligned on a narrow terminal.
    order = (0, 1, 2, 4, 5, 6, 3)
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADER))]
    return "\n".join(
        "  ".join(line[column].ljust(widths[column]) for column in order).rstrip() for line in lines
    )
