"""Is MNIST linearly separable? Every pair of digits and every digit against the rest, each with a proof.

python -m benchmarks.mnist_separability --data DIR --out DIR [--quasi] [--only SET] [--kind KIND]

165 questions: 45 pairs and 10 one-against-the-rest questions on the training set, the test set and both
together. Each answer is appended to ``answers.jsonl`` in the output directory with its certificate beside it,
after `sx.verify` has accepted it from the file; an interrupted run continues where it stopped. Several
processes may work on different parts (--only, --kind) with output directories of their own.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import separatrix as sx

from .images import FILES, read_mnist

SETS = ("train", "test", "both")


@dataclass(frozen=True)
class Question:
    """Which digits, on which set."""

    where: str
    digits: tuple[int, ...]

    @property
    def name(self) -> str:
        return f"{self.where} {self.digits[0]}-" + (str(self.digits[1]) if len(self.digits) > 1 else "rest")


@dataclass(frozen=True)
class Answer:
    """What was found, and how long it took."""

    question: str
    status: str
    rows: int
    margin_lower: float
    margin_upper: float
    witness_rows: int
    strict_rows: int
    seconds: float
    verify_seconds: float
    certificate: str


def main() -> None:
    options = _options()
    options.out.mkdir(parents=True, exist_ok=True)
    book = options.out / "answers.jsonl"
    done = {answer.question: answer for answer in read_answers(book)}
    questions = list(_questions(options))
    for number, question in enumerate(questions, start=1):
        if question.name in done:
            continue
        print(f"[{number} of {len(questions)}] {question.name} ...", end=" ", file=sys.stderr, flush=True)
        answer = _answer(question, options)
        with book.open("a") as out:
            out.write(json.dumps(asdict(answer)) + "\n")
        done[question.name] = answer
        print(f"{answer.status}, {answer.seconds:.1f} s", file=sys.stderr)
    _print_table([done[question.name] for question in questions])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, required=True, help="directory with mnist/ inside (idx.gz files)"
    )
    parser.add_argument("--out", type=Path, required=True, help="where answers and certificates go")
    parser.add_argument("--quasi", action="store_true", help="also tell quasi-separable from overlapping")
    parser.add_argument("--only", choices=SETS, help="one of the sets")
    parser.add_argument("--kind", choices=("pairs", "rest"), help="one kind of question")
    return parser.parse_args()


def _questions(options: argparse.Namespace) -> Iterator[Question]:
    for where in (options.only,) if options.only else SETS:
        if options.kind != "rest":
            for pair in itertools.combinations(range(10), 2):
                yield Question(where, pair)
        if options.kind != "pairs":
            for digit in range(10):
                yield Question(where, (digit,))


def _answer(question: Question, options: argparse.Namespace) -> Answer:
    X, y = _rows(question, options.data)
    start = time.perf_counter()
    verdict = sx.separability(X, y, quasi=options.quasi, time_limit=float("inf"))
    seconds = time.perf_counter() - start
    path = options.out / (question.name.replace(" ", "-") + ".json")
    verify_seconds = 0.0
    if verdict.certificate is not None:
        temporary = path.with_suffix(".tmp")
        temporary.write_text(verdict.certificate.to_json())
        os.replace(temporary, path)
        start = time.perf_counter()
        check = sx.verify(path.read_text(), X, y)
        verify_seconds = time.perf_counter() - start
        if not check.holds:
            raise SystemExit(f"{question.name}: the certificate is false: {check.reason}")
    return Answer(
        question=question.name,
        status=verdict.status,
        rows=len(y),
        margin_lower=verdict.margin[0],
        margin_upper=verdict.margin[1],
        witness_rows=len(verdict.witness_rows),
        strict_rows=int(verdict.strict_rows.size),
        seconds=seconds,
        verify_seconds=verify_seconds,
        certificate=path.name if verdict.certificate is not None else "",
    )


def _rows(question: Question, directory: Path) -> tuple[Any, Any]:
    parts = [
        read_mnist(directory, each) for each in (FILES if question.where == "both" else (question.where,))
    ]
    X, y = np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
    if len(question.digits) == 2:
        inside = np.isin(y, question.digits)
        return X[inside], (y[inside] == question.digits[1]).astype(int)
    return X, (y == question.digits[0]).astype(int)


def read_answers(book: Path) -> list[Answer]:
    """Return the answers that were written completely."""
    if not book.exists():
        return []
    lines = book.read_text().split("\n")
    return [Answer(**json.loads(line)) for line in lines[:-1]]  # the last line has no end if it was cut off


def _print_table(answers: list[Answer]) -> None:
    print("| question | rows | verdict | margin or witness rows | seconds | verify |")
    print("|---|---|---|---|---|---|")
    for each in answers:
        proof = (
            f"margin in [{each.margin_lower:.4g}, {each.margin_upper:.4g}]"
            if each.status == "separable"
            else f"{each.witness_rows} rows"
        )
        print(
            f"| {each.question} | {each.rows} | {each.status} | {proof} | {each.seconds:.1f} | "
            f"{each.verify_seconds:.2f} |"
        )
    print(f"\n{len(answers)} questions, {sum(each.seconds for each in answers):.0f} s in all")


if __name__ == "__main__":
    main()
