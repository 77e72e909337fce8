"""How far from separable are the pairs of MNIST's digits that no hyperplane separates?

python -m benchmarks.mnist_fewest --data DIR --out DIR [--seconds N]

For each inseparable pair of training digits, `sx.fewest_errors` looks for the fewest images whose removal
makes the pair separable. Each answer is appended to ``mnist-fewest.jsonl`` in the output directory after
`sx.verify` has accepted its certificate, and ``mnist-fewest.md`` is written from the answers; an interrupted
run continues where it stopped. Both files are part of the documentation.
"""

from __future__ import annotations

import argparse
import json
import textwrap
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import separatrix as sx
from separatrix.atomic import write_text

from .images import read_mnist

PAIRS = ((2, 3), (2, 8), (3, 5), (3, 8), (4, 9), (5, 8), (7, 9))  # inseparable: docs/mnist.md
DOCS = Path(__file__).parent.parent / "docs"

ABOUT = """\
# Which images keep MNIST's digits from being separable?

[Seven pairs of digits](mnist.md) in MNIST's training set cannot be separated by a hyperplane. How many images
are in the way? `sx.fewest_errors(X, y)` looked for the fewest images whose removal makes each pair separable,
on the 784 pixels as they are, with an intercept. The smallest number is NP-hard to find, so the answer is a
[bracket](fewest.md):

- **At most**: without the images listed below, some hyperplane has all other images of the pair strictly on
  their own sides. Its errors were counted in exact arithmetic.
- **At least**: every hyperplane gets this many images wrong. This bound is weak on images, because the proof
  of a single error already needs hundreds of them.

`sx.verify` accepted the certificate of both numbers for each pair.
"""


REPEATED = """\
Longer searches may find smaller sets, and other runs, or a busy machine, other sets: two runs of 5-8 with a
limit of 60 s proved at most 89 and at least 0, and at most 203 and at least 1.
"""


@dataclass(frozen=True)
class Answer:
    """The bracket of a pair, and the images to remove: their numbers in the training set, from 0."""

    pair: str
    rows: int
    upper: int
    lower: int
    seconds: float
    images: list[int]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, required=True, help="directory with mnist/ inside (idx.gz files)"
    )
    parser.add_argument("--out", type=Path, required=True, help="where the answers and the page go")
    parser.add_argument("--seconds", type=float, default=60.0, help="time limit of each pair")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    book = options.out / "mnist-fewest.jsonl"
    X, digits = read_mnist(options.data, "train")
    done = {each.pair for each in read_answers(book)}
    for pair in PAIRS:
        if name(pair) not in done:
            answer = ask(X, digits, pair, options.seconds)
            with book.open("a") as out:
                out.write(json.dumps(asdict(answer)) + "\n")
    write_text(options.out / "mnist-fewest.md", page(read_answers(book)))


def ask(X: Any, digits: Any, pair: tuple[int, int], seconds: float) -> Answer:
    """Return the bracket of two digits, once its certificate has been verified."""
    numbers = np.flatnonzero(np.isin(digits, pair))
    rows, y = X[numbers], digits[numbers]
    found = sx.fewest_errors(rows, y, time_limit=seconds)
    check = sx.verify(found.certificate.to_json(), rows, y)
    if not check.holds:
        raise SystemExit(f"{pair}: the certificate does not hold: {check.reason}")
    images = numbers[found.wrong_rows].tolist()
    return Answer(name(pair), len(y), int(found.upper), int(found.lower), seconds, images)


def read_answers(book: Path) -> list[Answer]:
    """Return the answers that were written completely."""
    lines = book.read_text().split("\n") if book.exists() else [""]
    return [Answer(**json.loads(line)) for line in lines[:-1]]  # the last line has no end if it was cut off


def page(answers: list[Answer]) -> str:
    """The page of the documentation."""
    lines = [
        ABOUT,
        "| pair | images | at most | share | at least | time limit |",
        "|---|---|---|---|---|---|",
    ]
    for each in answers:
        share = f"{100.0 * each.upper / each.rows:.2f} %"
        ends = f"{each.upper:,} | {share} | {each.lower:,}"
        lines.append(f"| {each.pair} | {each.rows:,} | {ends} | {each.seconds:g} s |")
    missing = [name(pair) for pair in PAIRS if name(pair) not in {each.pair for each in answers}]
    lines += [
        "",
        *REPEATED.splitlines(),
        *([f"Not asked: {', '.join(missing)}."] if missing else []),
        "",
        "## The images",
        "",
        "Numbers are positions in the training set, counted from 0.",
    ]
    for each in answers:
        lines += ["", f"**{each.pair}**", "", textwrap.fill(", ".join(map(str, each.images)), 110)]
    lines += [
        "",
        "`python -m benchmarks.mnist_fewest --data DIR --out DIR` repeats the search and writes this page.",
    ]
    return "\n".join(lines) + "\n"


def name(pair: tuple[int, int]) -> str:
    """Return the name of a pair: "2-3"."""
    return f"{pair[0]}-{pair[1]}"


if __name__ == "__main__":
    main()
