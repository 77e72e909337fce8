"""Readers and proofs against referees, on random cases and damaged files: ``make fuzz``.

Every target makes cases from a seed and compares what this library makes of them with Python's ``float``,
with a slow twin, with rational arithmetic, or with Arrow, DuckDB, scikit-learn and NumPy. Each batch of cases
runs in a process of its own, so that a crash is a finding like any other, and names the seed that repeats it.
"""

from __future__ import annotations

import argparse
import csv
import io
import math
import random
import re
import struct
import subprocess
import sys
import tempfile
import time
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np

from separatrix.errors import InputError, SeparatrixError
from separatrix.tables import small_csv
from separatrix.tables.table import open_table
from tests import fuzz_brackets, fuzz_certificates

PLAIN = re.compile(rb"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
WHOLE = re.compile(rb"[+-]?\d+")
LINE = re.compile(
    rb"[ \t]*(?P<label>[^ \t]+)([ \t]+qid:\d+(?=[ \t]|$))?(?P<rest>([ \t]+\d+:[^ \t:]+)*)[ \t]*"
)


# Numbers.


def number(rng: random.Random) -> str:
    """A number as a person or a program might write it, and some that are hard to round."""
    kind = rng.randrange(10)
    if kind < 3:
        digits = "".join(rng.choice("0123456789") for _ in range(rng.randint(1, rng.choice([3, 8, 19, 25]))))
        point = rng.randint(0, len(digits)) if rng.random() < 0.7 else len(digits)
        text = digits[:point] + ("." if point < len(digits) or rng.random() < 0.1 else "") + digits[point:]
    elif kind < 5:
        text = repr(abs(any_float(rng)))
    elif kind == 5:
        text = f"{abs(any_float(rng)):.{rng.randint(0, 20)}{rng.choice('eg')}}"
    elif kind == 6:
        text = str(rng.randrange(1000)) + f"e{rng.randint(-345, 310)}"
    elif kind == 7:
        text = between(rng)
    elif kind == 8:
        text = f"{rng.uniform(0, 10 ** rng.randint(-3, 6)):.{rng.randint(0, 9)}f}"
    else:
        text = (
            "0" * rng.randint(0, 25)
            + str(rng.randrange(2 ** rng.randint(1, 66)))
            + rng.choice(["", ".0", ".5"])
        )
    if "e" not in text and rng.random() < 0.2:
        text += f"{rng.choice('eE')}{rng.choice(['', '+', '-'])}{rng.randint(0, rng.choice([5, 30, 330]))}"
    return rng.choice(["", "", "", "-", "+"]) + text


def any_float(rng: random.Random) -> float:
    """A finite float, each bit pattern as likely as any other."""
    while True:
        found: float = struct.unpack("<d", rng.randbytes(8))[0]
        if math.isfinite(found):
            return found


def between(rng: random.Random) -> str:
    """The middle of two neighbouring floats, or a little beside it, in up to 40 digits."""
    low = abs(any_float(rng)) if rng.random() < 0.3 else rng.uniform(1, 10) * 10.0 ** rng.randint(-30, 30)
    high = math.nextafter(low, math.inf)
    if not math.isfinite(high):
        return "1.7976931348623158e308"
    middle = (Fraction(low) + Fraction(high)) / 2
    power = math.floor(math.log10(float(middle))) if float(middle) > 0.0 else -324
    places = rng.randint(15, 40)
    scaled = middle * Fraction(10) ** (places - power)
    return f"{int(scaled) + rng.choice([-1, 0, 0, 1])}e{power - places}"


def mutant(rng: random.Random, content: bytes, alphabet: bytes) -> bytes:
    """The same with a few bytes changed, put in, left out, or repeated."""
    made = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        at = rng.randrange(len(made) + 1)
        act = rng.randrange(4)
        byte = rng.choice(alphabet) if rng.random() < 0.9 else rng.randrange(256)
        if act == 0:
            made.insert(at, byte)
        elif act == 1 and at < len(made):
            made[at] = byte
        elif act == 2:
            del made[at : at + rng.choice([1, 1, 1, 4, 50])]
        else:
            end = at + rng.randint(1, 12)
            made[at:at] = made[at:end]
    return bytes(made)


def rounds(cell: bytes) -> bool:
    """Whether a cell is a whole number that is no float."""
    if not WHOLE.fullmatch(cell):
        return False
    value = float(cell)
    return math.isinf(value) or int(cell) != int(value)


def bits(values) -> list[int]:
    return np.ascontiguousarray(values, dtype=np.float64).view(np.int64).tolist()


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


def same(cells, found, expected, reader: str) -> None:
    wrong = [k for k, (a, b) in enumerate(zip(bits(found), bits(expected), strict=True)) if a != b]
    assert not wrong, (
        f"{reader} reads {cells[wrong[0]]!r} as {found[wrong[0]]!r}, float as {expected[wrong[0]]!r}"
    )


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


# CSV.


def check_csv(rng: random.Random, cases: int, folder: Path) -> None:
    """Compiled code and DuckDB read, or refuse, the same; where Python's csv module sees numbers, these."""
    path = folder / "rows.csv"
    for _ in range(cases):
        content = (
            mutant(rng, csv_text(rng), b'0123456789.,-+eE"; \t\r\n#xNA')
            if rng.random() < 0.8
            else csv_text(rng)
        )
        path.write_bytes(content)
        small, fast, slow = read_csv(path), read_csv(path, largest=0), read_csv(path, plain=False, largest=0)
        assert alike(small, fast), f"{content!r}: {small} by Python, {fast} by compiled code"
        # DuckDB refuses a few files that are right, such as those with two kinds of line ends.
        refused = isinstance(slow, str) and not isinstance(fast, str)
        assert refused or alike(fast, slow), f"{content!r}: {fast} by compiled code, {slow} by DuckDB"
        if not isinstance(fast, str):
            compare_with_python(content, *fast)


def csv_text(rng: random.Random) -> bytes:
    width, height = rng.randint(2, 4), rng.randint(1, 8)
    end, delimiter = rng.choice(["\n", "\n", "\r\n", "\r"]), rng.choice(",,,;\t")
    lines = [delimiter.join("abcd"[:width])] if rng.random() < 0.8 else []
    for k in range(height):
        label = str(k % 2)
        cells = [label] + [short_number(rng) for _ in range(width - 1)]
        lines.append(delimiter.join(f'"{cell}"' if rng.random() < 0.03 else cell for cell in cells))
    return (end.join(lines) + (end if rng.random() < 0.8 else "")).encode()


def short_number(rng: random.Random) -> str:
    return number(rng) if rng.random() < 0.2 else f"{rng.uniform(-9, 9):.{rng.randint(0, 3)}f}"


def read_csv(path: Path, *, plain: bool = True, largest: int = small_csv.LARGEST):
    """Rows and columns; or what was said. Files of up to ``largest`` bytes are read by Python, if plain."""
    before, small_csv.LARGEST = small_csv.LARGEST, largest
    try:
        table = open_table(path)
        if not plain:
            table.reader.plain = table.reader.labels = None
        parts = [part.copy() for part, _ in table.batches()]
        return (np.concatenate(parts), table.encoding) if parts else "no rows"
    except SeparatrixError as error:
        return str(error)
    finally:
        small_csv.LARGEST = before


def alike(one, other) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and isinstance(other, str)
    return one[1] == other[1] and one[0].shape == other[0].shape and bits(one[0]) == bits(other[0])


def compare_with_python(content: bytes, X, encoding) -> None:
    """Python's csv module, where it sees one rectangle of plain numbers, sees the same ones."""
    if any(column.levels is not None for column in encoding.columns) or b'"' in content or b"\0" in content:
        return
    text = content.decode().replace("\r\n", "\n").replace("\r", "\n")
    delimiter = max(",;\t", key=lambda each: text.count(each))
    rows = [
        row
        for row in csv.reader(io.StringIO(text), delimiter=delimiter)
        if row and any(c.strip() for c in row)
    ]
    if len({len(row) for row in rows}) != 1:
        return
    names = [column.name for column in encoding.columns]
    header = [cell.strip() for cell in rows[0]]
    if set(names) <= set(header):
        rows = rows[1:]
    else:
        header = [f"column{k + 1}" for k in range(len(rows[0]))]
    if not set(names) <= set(header) or len(rows) != len(X):
        return
    for k, name in enumerate(names):
        cells = [row[header.index(name)].strip() for row in rows]
        if all(PLAIN.fullmatch(cell.encode()) for cell in cells):
            same(cells, X[:, k], [float(cell) for cell in cells], f"{content!r}: the table")


# LIBSVM.


def check_libsvm(rng: random.Random, cases: int, folder: Path) -> None:
    """The compiled reader reads, or refuses, what a slow twin does; scikit-learn, where it reads, agrees."""
    from sklearn.datasets import load_svmlight_file

    path = folder / "rows.svm"
    for _ in range(cases):
        content = libsvm_text(rng)
        if rng.random() < 0.8:
            content = mutant(rng, content, b"0123456789.:-+eE \t\r\n#qid")
        path.write_bytes(content)
        expected = slow_libsvm(content)
        found = read_libsvm(path)
        assert (found is None) == (expected is None), f"{content!r}: {found}, by the slow twin {expected}"
        if found is None:
            continue
        assert found == expected, f"{content!r}: {found}, by the slow twin {expected}"
        if b"\r" in content.replace(b"\r\n", b"\n"):
            continue  # scikit-learn takes a carriage return for a blank
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                X, y = load_svmlight_file(io.BytesIO(content), zero_based=True)
        except (ValueError, OverflowError):
            continue
        assert bits(y) == [row[0] for row in expected], content
        rows = [list(zip(*row_entries(X, k), strict=True)) for k in range(X.shape[0])]
        assert [sorted(row) for row in rows] == [sorted(row[1]) for row in expected], content


def row_entries(X, k: int):
    part = slice(X.indptr[k], X.indptr[k + 1])
    return X.indices[part].tolist(), bits(X.data[part])


def libsvm_text(rng: random.Random) -> bytes:
    lines, end = [], rng.choice(["\n", "\n", "\n", "\r\n", "\r"])
    for k in range(rng.randint(1, 6)):
        columns = sorted(rng.sample(range(rng.randint(0, 1), 40), rng.randint(0, 5)))
        group = [f"qid:{rng.randrange(9)}"] if rng.random() < 0.1 else []
        cells = [str(k % 2), *group, *(f"{column}:{short_number(rng)}" for column in columns)]
        blank = rng.choice([" ", " ", " ", "\t", "  "])
        lines.append(blank.join(cells) + rng.choice(["", "", "", " ", " # a: b", "#"]))
    return (end.join(lines) + (end if rng.random() < 0.8 else "")).encode()


def read_libsvm(path: Path):
    """Label and entries of each row, in bits; None if the file is refused."""
    try:
        lines = list(open_table(path, count_columns=False).reader.lines())
    except InputError:
        return None
    rows = []
    for each in lines:
        labels, values = bits(each.labels), bits(each.data)
        for k, label in enumerate(labels):
            part = slice(each.indptr[k], each.indptr[k + 1])
            rows.append((label, list(zip(each.indices[part].tolist(), values[part], strict=True))))
    return rows


def slow_libsvm(content: bytes):
    """The slow twin of the reader: line by line, by regular expressions."""
    content = content.removeprefix(b"\xef\xbb\xbf")
    if b"\n" not in content and b"\r" in content[:-1]:
        content = content.replace(b"\r", b"\n")
    rows, lines = [], content.split(b"\n")
    if not lines[-1].strip(b" \t\r"):  # blanks at the end of the file
        lines.pop()
    for whole in lines:
        line = whole.removesuffix(b"\r")
        if b"\r" in line:
            return None
        line = line.partition(b"#")[0]
        if not line.strip(b" \t"):
            continue
        found = LINE.fullmatch(line)
        if found is None or not PLAIN.fullmatch(found["label"]) or rounds(found["label"]):
            return None
        entries = []
        for entry in found["rest"].split():
            column, _, value = entry.partition(b":")
            if not PLAIN.fullmatch(value) or rounds(value) or int(column) > 2**31 - 2:
                return None
            if entries and int(column) <= entries[-1][0]:
                return None
            entries.append((int(column), *bits([float(value)])))
        rows.append((*bits([float(found["label"])]), entries))
    return rows


# Parquet and arrays.


def check_parquet(rng: random.Random, cases: int, folder: Path) -> None:
    """No damage ends the process; what is read of a damaged file is what Arrow reads of it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / "rows.parquet"
    for _ in range(cases):
        table, content = parquet_file(rng)
        content = damaged_parquet(rng, content)
        path.write_bytes(content)
        try:
            opened = open_table(path, target="y")
            parts = [(X.copy(), y.copy()) for X, y in opened.batches(50)]
        except SeparatrixError:
            continue
        height = sum(len(X) for X, _ in parts)
        assert height <= max(table.num_rows, 1), content
        try:
            referee = pq.read_table(path, columns=[*opened.feature_names, "y"])
        except (pa.ArrowException, OSError, ValueError):
            continue
        columns = [referee[name] for name in opened.feature_names]
        assert referee.num_rows == height, content
        assert not any(column.null_count for column in columns), content
        wanted = np.column_stack([column.to_numpy() for column in columns]).astype(np.float64)
        found = np.concatenate([X for X, _ in parts]) if parts else wanted[:0]
        assert bits(found) == bits(wanted), content


def parquet_file(rng: random.Random):
    import pyarrow as pa
    import pyarrow.parquet as pq

    height = rng.randint(1, 300)
    values = np.random.default_rng(rng.randrange(2**32))
    columns = {}
    for k in range(rng.randint(1, 3)):
        column = (
            values.normal(size=height).round(rng.randint(0, 3)).astype(rng.choice(["f8", "f4", "i8", "i4"]))
        )
        mask = values.random(height) < 0.1 if rng.random() < 0.1 else None
        columns[f"x{k}"] = pa.array(column, mask=mask)
    table = pa.table({**columns, "y": values.integers(0, 2, height)})
    out = io.BytesIO()
    pq.write_table(
        table,
        out,
        compression=rng.choice(["none", "snappy", "zstd", "gzip"]),
        use_dictionary=rng.random() < 0.5,
        row_group_size=rng.choice([50, 1000]),
        data_page_version=rng.choice(["1.0", "2.0"]),
    )
    return table, out.getvalue()


def damaged_parquet(rng: random.Random, content: bytes) -> bytes:
    """A few bytes of the pages or of the footer changed; or some of the file left out."""
    made = bytearray(content)
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    kind = rng.randrange(10)
    if kind == 0:
        return bytes(made[: rng.randrange(len(made))])
    if kind == 1:
        del made[rng.randrange(len(made)) :][: rng.randint(1, 20)]
        return bytes(made)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        place = rng.randrange(footer, len(made) - 8) if kind < 7 else rng.randrange(4, footer)
        made[place] = (
            rng.randrange(256) if rng.random() < 0.5 else (made[place] + rng.choice([-2, 2, 1, -1])) % 256
        )
    return bytes(made)


def check_arrays(rng: random.Random, cases: int, folder: Path) -> None:
    """Of a damaged npy or npz file everything is read as NumPy reads it, or it is refused."""
    for _ in range(cases):
        values = np.random.default_rng(rng.randrange(2**32))
        X = values.normal(size=(rng.randint(1, 30), rng.randint(1, 4))).astype(
            rng.choice(["f8", "f4", "i8", "u2"])
        )
        X = np.asfortranarray(X) if rng.random() < 0.3 else X
        out = io.BytesIO()
        packed = rng.random() < 0.3
        (np.savez(out, X=X, y=np.arange(len(X)) % 2) if packed else np.save(out, X))
        content = bytearray(out.getvalue())
        for _ in range(rng.choice([1, 1, 2, 5])):
            place = (
                rng.randrange(len(content)) if rng.random() < 0.3 else rng.randrange(min(128, len(content)))
            )
            content[place] = rng.randrange(256)
        if rng.random() < 0.2:
            del content[rng.randrange(len(content)) :]
        path = folder / ("rows.npz" if packed else "rows.npy")
        path.write_bytes(content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                parts = [part.copy() for part, _ in open_table(path).batches(7)]
            except SeparatrixError:
                continue
            try:
                found = np.load(path, allow_pickle=False)
            except ValueError:
                assert not parts, bytes(content)  # a line of text, of which no row is read
                continue
            wanted = (found["X"] if packed else found).astype(np.float64)
        assert bits(np.concatenate(parts) if parts else wanted[:0]) == bits(wanted), bytes(content)


# Cases a batch, and cases in all.
TARGETS = {
    "numbers": (check_numbers, 50_000, 1_000_000),
    "cells": (check_cells, 50_000, 1_000_000),
    "csv": (check_csv, 500, 10_000),
    "libsvm": (check_libsvm, 2_000, 10_000),
    "parquet": (check_parquet, 1_000, 10_000),
    "arrays": (check_arrays, 2_000, 10_000),
    "margins": (fuzz_brackets.check_hard, 250, 2_000),
    "soft margins": (fuzz_brackets.check_soft, 250, 2_000),
    "certificates": (fuzz_certificates.check_certificates, 10_000, 100_000),
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
        command = [
            sys.executable,
            "-m",
            "tests.fuzz",
            "--only",
            name,
            "--seed",
            str(seed),
            "--batch",
            str(batch),
        ]
        done = subprocess.run(command, capture_output=True, text=True)
        made += size
        if done.returncode:
            bad += 1
            print(
                f"{name}: ended with {done.returncode}; again: {' '.join(command[1:])}\n{done.stderr[-3000:]}"
            )
    print(
        f"{name}: {made:,} cases with seed {seed} in {time.monotonic() - begun:.0f} s, {bad} findings",
        flush=True,
    )
    return not bad


if __name__ == "__main__":
    sys.exit(main())
