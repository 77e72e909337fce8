"""Fuzz targets: numbers in text, plain and as people write them, against Python's ``float``."""

from __future__ import annotations

import csv
import io
import random
import re
from pathlib import Path

import numpy as np

from separatrix.files.number_formats import BLANKS, CANDIDATES, MARKS, Reading
from separatrix.files.table import open_table
from tests.fuzz_cases import PLAIN, bits, mutant, number, rounds, same
from tests.fuzz_text import alike, read_csv

UNITS = ("", "", "", "%", " kg", "\u20ac", " mg/dl", "$")


def check_numbers(rng: random.Random, cases: int, folder: Path) -> None:
    """The readers of CSV and LIBSVM read numbers to the last bit as Python's float does."""
    cells = [cell for cell in (number(rng) for _ in range(cases)) if not rounds(cell.encode())]
    expected = [float(cell) for cell in cells]
    table = folder / "numbers.csv"
    table.write_text("a,b\n" + "".join(f"{cell},1\n" for cell in cells))
    X = np.concatenate([part[:, :1].copy() for part, _ in open_table(table, features=["a"]).batches()])
    same(cells, X[:, 0], expected, "CSV")
    rows = folder / "numbers.svm"
    rows.write_text("".join(f"1 1:{cell}\n" for cell in cells))
    values = np.concatenate([part.data.copy() for part, _ in open_table(rows).batches()])
    same(cells, values, expected, "LIBSVM")


def check_cells(rng: random.Random, cases: int, folder: Path) -> None:
    """What the compiled reader takes for a number is what Python's float takes for the same number."""
    from separatrix.loops.text import POWERS
    from separatrix.loops.text import number as compiled

    for _ in range(cases):
        cell = mutant(rng, number(rng).encode(), b"0123456789+-.eE ,_xnaif\t")
        cell = cell.replace(b"\n", b"")
        value, end, hard = compiled(np.frombuffer(cell + b"\n\n\n", dtype=np.uint8), 0, POWERS)
        whole = PLAIN.match(cell)
        assert end == (whole.end() if whole and power_is_whole(cell, whole.end()) else 0), cell
        if end and not hard:
            assert bits([value]) == bits([float(cell[:end])]), cell
            assert not rounds(cell[:end]), cell


def power_is_whole(cell: bytes, end: int) -> bool:
    """Whether what was matched is not followed by a power of ten that lacks its digits."""
    return cell[end : end + 1] not in (b"e", b"E") or b"e" in cell[:end].lower()


def check_readings(rng: random.Random, cases: int, folder: Path) -> None:
    """Numbers as people write them are read as what was written, or refused; by DuckDB as by Python."""
    path = folder / "rows.csv"
    for _ in range(cases):
        signs, delimiter = rng.choice(CANDIDATES), rng.choice(";;\t,")
        columns = [written_column(rng, *signs, height=8) for _ in range(rng.randint(1, 3))]
        cells = [list(each[1]) for each in columns]
        changed = rng.random() < 0.6
        if changed:
            column, row = rng.choice(cells), rng.randrange(8)
            column[row] = mutant(rng, column[row].encode(), b"0123456789.,'+- ()%$exa").decode(
                "utf-8", "ignore"
            )
        out = io.StringIO()
        rows = [[*"abc"[: len(cells)], "y"]]
        rows += [[*row, "no" if k % 2 else "yes"] for k, row in enumerate(zip(*cells, strict=True))]
        csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(rows)
        path.write_text(out.getvalue())
        small, slow = read_csv(path, target="y"), read_csv(path, largest=0, target="y")
        assert alike(small, slow), f"{out.getvalue()!r}: {small} by Python, {slow} by DuckDB"
        if isinstance(small, str):
            continue
        X, encoding = small
        for k, name in enumerate(encoding.feature_names):
            column = next((each for each in encoding.columns if each.name == name), None)
            if column is None or column.levels is not None:
                continue
            place = "abc".index(name)
            assert bits(X[:, k]) == bits([slow_number(cell, column.reading) for cell in cells[place]]), (
                out.getvalue()
            )
            if not changed and is_clear(cells[place], *signs):
                assert bits(X[:, k]) == bits(columns[place][0]), out.getvalue()


def written_column(
    rng: random.Random, decimal: str, thousands: str, height: int
) -> tuple[list[float], list[str]]:
    """Numbers, and how somebody writes them, with one unit or none."""
    unit, places, size = rng.choice(UNITS), rng.randint(0, 4), rng.choice([1.0, 100.0, 1e5, 1e8])
    texts = [f"{rng.uniform(-size, size):,.{rng.randint(0, places)}f}" for _ in range(height)]
    values = [float(text.replace(",", "")) for text in texts]
    signed = [text.replace(",", "T").replace(".", decimal).replace("T", thousands) for text in texts]
    if unit == "$":
        return values, [f"{'-' * text.startswith('-')}${text.lstrip('-')}" for text in signed]
    return values, [text + unit for text in signed]


def is_clear(cells: list[str], decimal: str, thousands: str) -> bool:
    """Whether a column needs no guess: points alone are taken for those of fractions."""
    return thousands != "." or any(decimal in cell for cell in cells)


def slow_number(cell: str, reading: Reading) -> float:
    """The number of a cell, character by character, by a reading; AssertionError where it has none."""
    text = cell.strip(BLANKS)
    assert text.lower() not in MARKS, cell
    if re.fullmatch(r"[+-]?inf(inity)?", text, re.IGNORECASE):
        return float(text)
    for unit in {reading.unit} - {""}:
        assert text.count(unit) == 1, (cell, reading)
        text = text.replace(unit, "")
    kept = ""
    for each in text:
        if each == reading.decimal:
            kept += "."
        elif each == "\u2212":
            kept += "-"
        elif each in "0123456789+-eE":
            kept += each
        else:
            assert each == reading.thousands or each in BLANKS, (cell, reading)
    assert PLAIN.fullmatch(kept.encode()), (cell, reading)
    return float(kept)
