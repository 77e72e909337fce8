"""Questions near the edge of separability: the verdict, and the time for it and for its check.

python -m benchmarks.edge --data DIR [--out DIR] [--only KIND ...] [--seconds N] [--questions] [--page]
python -m benchmarks --only edge --data DIR

Each answer is appended to ``edge.jsonl`` in the output directory after `sx.verify` has accepted its
certificate; an interrupted run continues where it stopped. Without --questions, a few questions about each
kind of image are asked; with it, all 300. Times are CPU seconds, which other work on the machine affects
less, and the load average is stored with them. --page writes docs/edge.md from the stored answers. The
second form measures all questions except those 300 again, keeps the answers, and writes the page.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_svmlight_file

import separatrix as sx
from separatrix.atomic import write_text

from .images import KINDS, transformed
from .table import Row, Settings

GAUSSIAN = (200, 500, 1000, 2000, 3000)  # columns
ROWS_A_COLUMN = (1.9, 2.0, 2.1, 3.0)
TALL = ((20_000, 2000), (100_000, 2000))
TEXT = (10_000, 30_000, 100_000)  # columns
LETTERS = (1000, 1500, 3000)  # most frequent words of Enron's letters
FEW_PAIRS = ((0, 1), (2, 7), (3, 5), (4, 9))
FEW_RESTS = (0, 8)
PEELED = (
    ("blurred", (4, 9)),
    ("edges", (3, 5)),
    ("turned", (7, 9)),
    ("products", (3, 8)),
    ("thresholded", (2, 3)),
)
SIDES = ("separable", "one row more", "two rows more", "ten rows more", "half of the rows")
MOST_PEELS = 40
WITHIN = 300.0
RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parent.parent / "docs" / "edge.md"


ABOUT = """\
This page shows what `sx.separability(X, y, quasi=False)` answers for data that are nearly, or only just,
separable, and how long it takes. The column "seconds" is CPU time on two cores, and "verify" is the CPU
time of `sx.verify`, including the hash of the data. `make bench BENCH_ARGS="--only edge --data DIR"`
measures the table and writes this page; `make bench-edge BENCH_ARGS="--data DIR --questions --page"` asks
all 300 questions about images.

- **Gaussian** rows have random labels. They are likely to be separable with fewer than two rows per column,
  and unlikely to be separable with more (Cover 1965).
- **Texts** are word counts that follow Zipf's law. Their labels come from a hyperplane, or are random. In a
  "planted conflict", the labels come from a hyperplane, except that two texts of one label together have
  the same words as two texts of the other label.
- **Letters** are Enron's messages, spam or not, described by their most frequent words, without duplicates.
- **Images** are MNIST's training set: its edges, blurred, thresholded, rotated by 45 degrees ("turned"), or
  as products of neighboring pixels. From *peeled* images, the rows that proved inseparability were removed,
  again and again, until the rest was only just separable, or only just not.

One question stayed undecided after 300 s and is not in the table: 30,000 texts of 80 words in 10,000
columns, whose labels come from a hyperplane, with 5 % of them flipped.

Some questions of `python -m benchmarks.nasty` are still open after 60 s: it is proved that all digits of
60,000 images at once, and all newsgroups of the two text sets at once, cannot be separated, but not whether
they are quasi-separable. They have 7,065 coordinates and more. A pixel that is never lit in the images of
some digit makes rows strict if other digits use it, so a proof has weights and exact multipliers on all
other signed rows. By the estimate of the search, one exact system of 7,065 unknowns takes an hour. A kind
of certificate that joins weights with approximate multipliers is needed.

All ten digits at once can be separated in the first 20,000 images, which minimizing the squared hinge loss
finds in 4 s. In the first 30,000 images every pair of digits can be separated, but the digits 3, 5 and 8 at
once cannot, which proves the joint question in 15 s; in all 60,000 one pair proves it in 1.5 s (processor
time on one thread).
"""


@dataclass(frozen=True)
class Question:
    """A question; ``data`` makes the rows and labels."""

    kind: str
    name: str
    data: Callable[[], tuple[Any, Any]]


@dataclass(frozen=True)
class Answer:
    """What was found, and what it took."""

    kind: str
    question: str
    rows: int
    columns: int
    status: str
    proof: str
    margin_lower: float
    wall_seconds: float
    seconds: float
    verify_seconds: float
    load: float
    strategy: str = ""  # that answered


def main() -> None:
    options = _options()
    options.out.mkdir(parents=True, exist_ok=True)
    book = options.out / "edge.jsonl"
    done = {(each.kind, each.question): each for each in read_answers(book)}
    for question in questions(options.data, options.out, everything=options.questions):
        if (options.only and question.kind not in options.only) or (question.kind, question.name) in done:
            continue
        answer = ask(question, options.seconds)
        done[question.kind, question.name] = answer
        with book.open("a") as out:
            out.write(json.dumps(asdict(answer)) + "\n")
        print(f"{answer.kind}, {answer.question}: {_told(answer)}", file=sys.stderr, flush=True)
    if options.page:
        write_text(PAGE, page(list(done.values())))
    print(summary(list(done.values())))


def edge(settings: Settings) -> Iterator[Row]:
    """Measure all questions except those about images again; the answers replace those in the file."""
    book = RESULTS / "edge.jsonl"
    done = {(each.kind, each.question): each for each in read_answers(book)}
    for question in questions(settings.directory, RESULTS, everything=False, quick=settings.quick):
        answer = ask(question, WITHIN)
        done[question.kind, question.name] = answer
        what = f"{answer.kind}, {answer.question} ({answer.rows:,} x {answer.columns:,})"
        decided = answer.status != "undecided"
        yield Row("edge", what, _told(answer), "", "", f"decided in {WITHIN:g} s", decided)
        if not settings.quick:
            write_text(book, "".join(json.dumps(asdict(each)) + "\n" for each in done.values()))
            write_text(PAGE, page(list(done.values())))


def _told(answer: Answer) -> str:
    return (
        f"{answer.status}, {answer.seconds:.1f} + {answer.verify_seconds:.1f} CPU s "
        f"({answer.wall_seconds:.0f} s, load {answer.load:.0f})"
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="directory with mnist/ and enron/ inside")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where answers go (benchmarks/results)")
    parser.add_argument("--only", nargs="+", metavar="KIND", help="kinds of questions")
    parser.add_argument("--seconds", type=float, default=WITHIN, help="time limit of a verdict (300)")
    parser.add_argument("--questions", action="store_true", help="all 300 questions about images")
    parser.add_argument("--page", action="store_true", help="write docs/edge.md from the answers")
    return parser.parse_args()


def questions(
    directory: Path | None, out: Path, *, everything: bool, quick: bool = False
) -> Iterator[Question]:
    """All questions, those that take longest last in each kind."""
    for columns, ratio in itertools.product(GAUSSIAN[:2] if quick else GAUSSIAN, ROWS_A_COLUMN):
        rows = round(columns * ratio)
        yield Question("gaussian", f"{ratio:g} rows per column, {columns} columns", _gaussian(rows, columns))
    for rows, columns in () if quick else TALL:
        name = f"{rows // columns} rows per column, {columns} columns"
        yield Question("gaussian", name, _gaussian(rows, columns))
    for columns, (name, made) in itertools.product(TEXT[:1] if quick else TEXT, TEXTS.items()):
        yield Question("text", f"{columns} words, {name}", partial(made, columns))
    if directory is None or quick:
        return
    for columns in LETTERS:
        yield Question("text", f"letters, {columns} words", partial(_letters, directory, columns))
    pairs = list(itertools.combinations(range(10), 2)) if everything else FEW_PAIRS
    rests = range(10) if everything else FEW_RESTS
    for kind in KINDS:
        for digits in (*pairs, *((digit,) for digit in rests)):
            yield Question(f"images, {kind}", _named(digits), _images(directory, kind, digits))
    # rows to be peeled off are known for the first of them; to find those of another takes minutes
    for kind, digits in PEELED if everything else PEELED[:3]:
        for side in SIDES if everything else SIDES[:2]:
            yield Question(
                "images, peeled",
                f"{kind} {_named(digits)}, {side}",
                _peeled(directory, out, kind, digits, side),
            )


def _named(digits: tuple[int, ...]) -> str:
    return f"{digits[0]}-{digits[1]}" if len(digits) == 2 else f"{digits[0]}-rest"


def _gaussian(rows: int, columns: int) -> Callable[[], tuple[Any, Any]]:
    def made() -> tuple[Any, Any]:
        rng = np.random.default_rng(rows)
        return rng.normal(size=(rows, columns)), rng.integers(0, 2, rows)

    return made


def _separable_text(columns: int) -> tuple[Any, Any]:
    """A fifth as many texts of 80 words as there are words; a hyperplane gives the labels."""
    rng = np.random.default_rng(columns)
    X = _zipf(rng, columns // 5, columns, 80)
    scores = X @ rng.normal(size=columns)
    return X, (scores > np.median(scores)).astype(int)


def _random_text(columns: int) -> tuple[Any, Any]:
    """Three times as many texts of 8 words as there are words, no two equal, with random labels."""
    rng = np.random.default_rng(columns)
    X = _zipf(rng, 3 * columns, columns, 8)
    X = X[_different(X)]
    return X, rng.integers(0, 2, X.shape[0])


def _planted_text(columns: int) -> tuple[Any, Any]:
    """A third as many texts of 40 words as there are words, and a + c and b + d against a + d and b + c."""
    rng = np.random.default_rng(columns)
    X = _zipf(rng, columns // 3, columns, 40)
    scores = X @ rng.normal(size=columns)
    more = X[[0, 1, 0, 1]] + X[[2, 3, 3, 2]]
    y = np.append((scores > np.median(scores)).astype(int), [0, 0, 1, 1])
    return sparse.csr_array(sparse.vstack([X, more], format="csr")), y


TEXTS: dict[str, Callable[[int], tuple[Any, Any]]] = {
    "labels from a hyperplane": _separable_text,
    "random labels": _random_text,
    "a planted conflict": _planted_text,
}


def _zipf(rng: np.random.Generator, rows: int, columns: int, words: int) -> Any:
    """Counts of words as frequent as Zipf's law says."""
    often = 1.0 / np.arange(1, columns + 1)
    picked = rng.choice(columns, (rows, words), p=often / often.sum())
    places = np.repeat(np.arange(rows), words)
    X = sparse.csr_array((np.ones(picked.size), (places, picked.ravel())), shape=(rows, columns))
    X.sum_duplicates()
    return X


def _different(X: Any) -> NDArray[np.int64]:
    """The first of each set of equal rows."""
    parts = [slice(*ends) for ends in itertools.pairwise(X.indptr.tolist())]
    keys = [X.indices[each].tobytes() + X.data[each].tobytes() for each in parts]
    first = {key: row for row, key in reversed(list(enumerate(keys)))}
    return np.sort(np.array(list(first.values()), dtype=np.int64))


def _letters(directory: Path, columns: int) -> tuple[Any, Any]:
    """Return Enron's letters, spam or not, by their most frequent words, without duplicates."""
    counts, y = load_svmlight_file(str(directory / "enron" / "enron1-5.counts.svm.gz"))
    uses = np.bincount(counts.indices, minlength=counts.shape[1])
    X = sparse.csr_array(counts[:, np.sort(np.argsort(-uses, kind="stable")[:columns])])
    kept = _different(X)
    return X[kept], (y[kept] > 0).astype(int)


def _images(directory: Path, kind: str, digits: tuple[int, ...]) -> Callable[[], tuple[Any, Any]]:
    def made() -> tuple[Any, Any]:
        X, labels = transformed(directory, kind)
        if len(digits) == 1:
            return X, (labels == digits[0]).astype(int)
        inside = np.isin(labels, digits)
        return X[inside], (labels[inside] == digits[1]).astype(int)

    return made


def _peeled(
    directory: Path, out: Path, kind: str, digits: tuple[int, ...], side: str
) -> Callable[[], tuple[Any, Any]]:
    """Remove rows of a question's witness until the rest is just separable, or just not."""

    def made() -> tuple[Any, Any]:
        X, y = _images(directory, kind, digits)()
        name, book = f"{kind} {_named(digits)}", out / "peeled.json"
        known = json.loads(book.read_text()) if book.exists() else {}
        if name not in known:
            known[name] = peel(X, y)
            write_text(book, json.dumps(known) + "\n")
        gone, last = known[name]
        back = {"separable": 0, "one row more": 1, "two rows more": 2, "ten rows more": 10}
        gone = np.setdiff1d(gone, last[: back.get(side, len(last) // 2)])
        return np.delete(X, gone, axis=0), np.delete(y, gone)

    return made


def peel(X: Any, y: Any) -> tuple[list[int], list[int]]:
    """Rows without which the others are separable, and the last of them: already the first is too many."""
    inside = np.arange(len(y))
    last = np.zeros(0, dtype=np.int64)
    for _ in range(MOST_PEELS):
        verdict = sx.separability(X[inside], y[inside], quasi=False, time_limit=WITHIN)
        if not verdict.witness_rows:
            break
        last = inside[np.array(sorted(verdict.witness_rows), dtype=np.int64)]
        inside = np.setdiff1d(inside, last)
    # how many of the last rows may come back: between these two numbers
    low, high = 0, len(last)
    while high - low > 1:
        middle = (low + high) // 2
        some = np.union1d(inside, last[:middle])
        if sx.separability(X[some], y[some], quasi=False, time_limit=WITHIN).status == "separable":
            low = middle
        else:
            high = middle
    kept = np.union1d(inside, last[:low])
    return np.setdiff1d(np.arange(len(y)), kept).tolist(), last[low:].tolist()


def ask(question: Question, seconds: float) -> Answer:
    """One verdict on the plain question, and the check of its certificate."""
    X, y = question.data()
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    begin, used = time.perf_counter(), time.process_time()
    verdict = sx.separability(X, y, quasi=False, time_limit=seconds)
    wall, own = time.perf_counter() - begin, time.process_time() - used
    used = time.process_time()
    if verdict.certificate is not None and not sx.verify(verdict.certificate.to_json(), X, y):
        raise SystemExit(f"{question.kind}, {question.name}: the certificate is refused")
    checked = time.process_time() - used
    return Answer(
        kind=question.kind,
        question=question.name,
        rows=X.shape[0],
        columns=X.shape[1],
        status=verdict.status,
        proof=_proof(verdict),
        margin_lower=verdict.margin[0],
        wall_seconds=round(wall, 2),
        seconds=round(own, 2),
        verify_seconds=round(checked, 2),
        load=round(load, 1),
        strategy=verdict.search[-1].strategy,
    )


def _proof(verdict: sx.Verdict) -> str:
    found = verdict.certificate
    if found is None:
        return ""
    if found.weights is not None:
        return "weights"
    return "exact multipliers" if found.multipliers is not None else "approximate multipliers"


def read_answers(book: Path) -> list[Answer]:
    """The answers that were written down whole."""
    if not book.exists():
        return []
    return [Answer(**json.loads(line)) for line in book.read_text().split("\n")[:-1]]


def summary(answers: list[Answer]) -> str:
    """How many answers there are, how many came within half a minute, and how many never."""
    undecided = [each for each in answers if each.status == "undecided"]
    soon = sum(each.wall_seconds <= 30.0 for each in answers)
    within = f"{soon} answered within 30 s of wall-clock time"
    return f"{len(answers)} questions, {within}, {len(undecided)} undecided"


def page(answers: list[Answer]) -> str:
    """The page of the documentation."""
    images = [each for each in answers if each.kind.startswith("images")]
    loads = [each.load for each in answers]
    kinds = ("gaussian", "text", *(f"images, {kind}" for kind in (*KINDS, "peeled")))
    absent = [kind for kind in kinds if kind not in {each.kind for each in answers}]
    lines = [
        "# Verdicts near the edge of separability",
        "",
        *ABOUT.splitlines(),
        "",
        f"Measured: {summary(answers)}. Load average during the run: {min(loads):.0f} to {max(loads):.0f}.",
        *([f"Not measured yet: {'; '.join(absent)}."] if absent else []),
        "",
        "| kind | question | rows | columns | verdict | proof | seconds | verify |",
        "|---|---|---|---|---|---|---|---|",
    ]
    plain = [each for each in answers if not each.kind.startswith("images")]
    lines += [_line(each) for each in sorted(plain, key=lambda a: (a.kind, a.columns, a.rows))]
    lines += ["", "Images, one line per kind:", ""]
    lines += [
        "| kind | questions | separable | inseparable | undecided | median s | longest s | verify, longest |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for kind in dict.fromkeys(each.kind for each in images):
        for what in ("pairs", "rest"):
            some = [e for e in images if e.kind == kind and ("rest" in e.question) == (what == "rest")]
            if some:
                lines.append(_kind_line(f"{kind}, {what}", some))
    return "\n".join(lines) + "\n"


def _line(answer: Answer) -> str:
    by = f" ({answer.strategy})" if answer.strategy else ""
    return (
        f"| {answer.kind} | {answer.question} | {answer.rows:,} | {answer.columns:,} | {answer.status} | "
        f"{answer.proof}{by} | {answer.seconds:.1f} | {answer.verify_seconds:.1f} |"
    )


def _kind_line(kind: str, some: list[Answer]) -> str:
    count = {status: sum(each.status == status for each in some) for status in ("separable", "inseparable")}
    times = [each.seconds for each in some]
    return (
        f"| {kind} | {len(some)} | {count['separable']} | {count['inseparable']} | "
        f"{len(some) - sum(count.values())} | {np.median(times):.1f} | {max(times):.1f} | "
        f"{max(each.verify_seconds for each in some):.1f} |"
    )


SECTIONS = {"edge": edge}
NOTES = ("edge: processor seconds of the verdict and of its check",)

if __name__ == "__main__":
    main()
