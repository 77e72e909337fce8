"""The page about MNIST, written from the answers that `benchmarks.mnist_separability` left.

python -m benchmarks.mnist_table DIR [DIR ...] > docs/mnist.md

Directories with answers to the plain question come first, those with the finer answers (--quasi) after them.
"""

from __future__ import annotations

import argparse
import textwrap
from importlib import metadata
from pathlib import Path

from .mnist_separability import SETS, Answer, read_answers

FINER = ("quasi-separable", "overlapping")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directories", type=Path, nargs="+", metavar="DIR")
    parser.add_argument("--note", default="", help="a sentence about how the answers were checked")
    options = parser.parse_args()
    plain: dict[str, Answer] = {}
    finer: dict[str, Answer] = {}
    for directory in options.directories:
        for answer in read_answers(directory / "answers.jsonl"):
            (finer if answer.status in FINER else plain).setdefault(answer.question, answer)
    plain = dict(sorted(plain.items(), key=lambda item: (SETS.index(item[0].split()[0]), "rest" in item[0])))
    for question, answer in finer.items():
        if plain[question].status != "inseparable":
            raise SystemExit(
                f"{question}: {plain[question].status} and {answer.status} contradict each other"
            )
    print(page(plain, finer, options.note), end="")


def page(plain: dict[str, Answer], finer: dict[str, Answer], note: str) -> str:
    """The whole page as Markdown."""
    parts = [*_introduction(plain, note), *_overview(plain), *_finer(plain, finer), *_table(plain, finer)]
    return "\n".join(parts)


def _wrapped(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), 120, break_on_hyphens=False)


def _introduction(plain: dict[str, Answer], note: str) -> list[str]:
    seconds = [each.seconds for each in plain.values()]
    undecided = [question for question, each in plain.items() if each.status == "undecided"]
    asked = f"""
        We asked about every pair of digits and every digit against the rest, on the training set (60,000
        images), the test set (10,000 images) and both together. These are {len(plain)} questions, with an
        intercept, about the 784 pixels as they are (integers from 0 to 255). Each answer below has a
        certificate that `sx.verify` accepted after reading it from its file. The proof of *separable*
        consists of weights for which every image lies strictly on its own side, checked exactly. The proof
        of *inseparable* consists of multipliers for some images such that the signed images sum to exactly
        the zero vector (Gordan), or of a proof that such multipliers exist. This means that one point lies
        in both convex hulls, so no hyperplane can separate them."""
    repeated = f"""
        {"Undecided: " + ", ".join(undecided) if undecided else "No question is undecided"}. `make
        bench-mnist BENCH_ARGS="--data DIR --out DIR"` repeats the measurement, and `python -m
        benchmarks.mnist_table` writes this page. All {len(plain)} answers together took
        {sum(seconds) / 60:.0f} minutes to compute, and none took more than {max(seconds):.0f} seconds.
        {note}"""
    return ["# Is MNIST linearly separable?", "", _wrapped(asked), "", _wrapped(repeated), ""]


def _overview(plain: dict[str, Answer]) -> list[str]:
    pairs, rest = [], []
    for where in SETS:
        apart, mixed = _split(plain, where, "pair")
        pairs.append(
            f"{len(apart)} separable; not: {', '.join(mixed)}" if mixed else f"all {len(apart)} separable"
        )
        apart, mixed = _split(plain, where, "rest")
        names = ", ".join(each[0] for each in apart), ", ".join(each[0] for each in mixed)
        rest.append(f"{len(apart)} separable: {names[0]}; not: {names[1]}" if apart else "none separable")
    return [
        "| | training set | test set | both |",
        "|---|---|---|---|",
        f"| pairs | {' | '.join(pairs)} |",
        f"| digit against the rest | {' | '.join(rest)} |",
        "",
        _wrapped(_conclusion(plain)),
        "",
    ]


def _conclusion(plain: dict[str, Answer]) -> str:
    pairs, digits = (_split(plain, "train", kind)[1] for kind in ("pair", "rest"))
    if not pairs and not digits:
        return "So the training set is linearly separable."
    cut = "none of the ten digits can" if len(digits) == 10 else f"{len(digits)} of the ten digits cannot"
    return (
        f"So the training set is not linearly separable: {cut} be separated from the others by a hyperplane, "
        f"and {len(pairs)} of the 45 pairs of digits cannot be separated."
    )


def _split(plain: dict[str, Answer], where: str, kind: str) -> tuple[list[str], list[str]]:
    """The separable and the other questions of one kind on one set, by the digits they are about."""
    apart, mixed = [], []
    for question, answer in plain.items():
        place, digits = question.split()
        if place == where and ("rest" in digits) == (kind == "rest"):
            (apart if answer.status == "separable" else mixed).append(digits)
    return apart, mixed


def _finer(plain: dict[str, Answer], finer: dict[str, Answer]) -> list[str]:
    asked = sum(each.status == "inseparable" for each in plain.values())
    quasi = sum(each.status == "quasi-separable" for each in finer.values())
    seconds = [each.seconds for each in finer.values()] or [0.0]
    cases = f"{'all' if len(finer) == asked else f'{len(finer)} of the'} {asked} inseparable cases"
    meaning = f"""
        We also asked a second question about {cases} (`--quasi`): is there a
        hyperplane with no image on the wrong side and some images strictly on their own side
        (*quasi-separable*), or is there none (*overlapping*)? The answer is quasi-separable in {quasi}
        cases, and overlapping in {len(finer) - quasi}. A single pixel that is nonzero only in images of one
        class is enough for quasi-separability. The column "finer" shows the answers and how many images are
        strictly separated; each has a certificate, too. These answers took {sum(seconds) / 60:.0f} minutes,
        and none took more than {max(seconds):.0f} seconds, on a busy machine."""
    margin = """
        The margin is that of the lifted rows (pixels and a constant 1), in units of gray levels. It is
        the margin of the weights that were found, not the largest possible margin."""
    return [_wrapped(meaning), "", _wrapped(margin), ""]


def _table(plain: dict[str, Answer], finer: dict[str, Answer]) -> list[str]:
    lines = [
        "| question | images | verdict | proof | seconds | verified in | finer |",
        "|---|---|---|---|---|---|---|",
    ]
    for question, each in plain.items():
        apart = each.status == "separable"
        proof = f"weights, margin {each.margin_lower:.3g}" if apart else f"{each.witness_rows} images"
        found = finer.get(question)
        remark = "" if apart else "-" if found is None else f"{found.status}, {found.strict_rows:,} strict"
        lines.append(
            f"| {question} | {each.rows:,} | {each.status} | {proof} | {each.seconds:.1f} | "
            f"{each.verify_seconds:.2f} s | {remark} |"
        )
    used = {"NumPy": "numpy", "HiGHS": "highspy", "python-flint": "python-flint"}
    versions = [f"{name} {metadata.version(package)}" for name, package in used.items()]
    return [
        *lines,
        "",
        f"{', '.join(versions)}; up to two processes at a time on two shared x86-64 cores.",
        "",
    ]


if __name__ == "__main__":
    main()
