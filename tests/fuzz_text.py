"""Fuzz targets: readers of text against Python's ``float``, slow twins, DuckDB and scikit-learn."""

from __future__ import annotations

import csv
import io
import random
import re
import warnings
from pathlib import Path

import numpy as np

from separatrix.errors import InputError, SeparatrixError
from separatrix.files.csv import csv_files
from separatrix.files.table import open_table
from tests.fuzz_cases import PLAIN, bits, mutant, number, rounds, same

LINE = re.compile(rb"[ \t]*(?P<label>[^ \t]+)(?P<rest>([ \t]+\d+:[^ \t:]+)*)[ \t]*")


def check_csv(rng: random.Random, cases: int, folder: Path) -> None:
    """Compiled code and Arrow read, or refuse, the same; where Python's csv module sees numbers, these."""
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
        assert alike(fast, slow), f"{content!r}: {fast} by compiled code, {slow} by Arrow"
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


def read_csv(path: Path, *, plain: bool = True, largest: int = csv_files.LARGEST, target: str | None = None):
    """Rows and columns; or what was said. Files of up to ``largest`` bytes are read by Arrow."""
    before, csv_files.LARGEST = csv_files.LARGEST, largest
    try:
        table = open_table(path, target=target)
        if not plain and isinstance(table, csv_files.PlainTable):
            table.settled()
        parts = [part.copy() for part, _ in table.batches()]
        return (np.concatenate(parts), table.encoding) if parts else "no rows"
    except SeparatrixError as error:
        return str(error)
    finally:
        csv_files.LARGEST = before


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
        assert bits(y + 0.0) == [row[0] for row in expected], content
        rows = [list(zip(*row_entries(X, k), strict=True)) for k in range(X.shape[0])]
        assert [sorted(row) for row in rows] == [sorted(row[1]) for row in expected], content


def row_entries(X, k: int):
    part = slice(X.indptr[k], X.indptr[k + 1])
    return X.indices[part].tolist(), bits(X.data[part])


def libsvm_text(rng: random.Random) -> bytes:
    lines, end = [], rng.choice(["\n", "\n", "\n", "\r\n", "\r"])
    for k in range(rng.randint(1, 6)):
        columns = sorted(rng.sample(range(rng.randint(0, 1), 40), rng.randint(0, 5)))
        cells = [str(k % 2), *(f"{column}:{short_number(rng)}" for column in columns)]
        blank = rng.choice([" ", " ", " ", "\t", "  "])
        lines.append(blank.join(cells) + rng.choice(["", "", "", " ", " # a: b", "#"]))
    return (end.join(lines) + (end if rng.random() < 0.8 else "")).encode()


def read_libsvm(path: Path):
    """Label and entries of each row, in bits; None if the file is refused."""
    try:
        lines = list(open_table(path).pieces())
    except InputError:
        return None
    rows = []
    for X, y in lines:
        labels, values = bits(y + 0.0), bits(X.data)
        for k, label in enumerate(labels):
            part = slice(X.indptr[k], X.indptr[k + 1])
            rows.append((label, list(zip(X.indices[part].tolist(), values[part], strict=True))))
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
        rows.append((*bits([float(found["label"]) + 0.0]), entries))
    return rows


# ARFF.

LEVELS = ("no", "yes", "so so", "it's", "a,b", "")


def check_arff(rng: random.Random, cases: int, folder: Path) -> None:
    """Rows of ARFF files are read, or refused, as by a slow twin that goes from character to character."""
    path = folder / "rows.arff"
    for _ in range(cases):
        kinds = [rng.choice(["number", "number", "nominal", "text"]) for _ in range(rng.randint(1, 4))]
        names = [f"a{k}" for k in range(len(kinds))]
        types = {"number": "numeric", "nominal": f"{{{','.join(map(quoted, LEVELS[:5]))}}}", "text": "string"}
        head = "@relation r\n" + "".join(
            f"@attribute {name} {types[kind]}\n" for name, kind in zip(names, kinds, strict=True)
        )
        body = arff_rows(rng, kinds).encode()
        if rng.random() < 0.7:
            body = mutant(rng, body, b"0123456789.,-+eE'\"?%{} \t\\xyn\n")
        path.write_bytes(head.encode() + b"@data\n" + body)
        expected, found = slow_arff(body, kinds), read_arff(path, names, kinds)
        assert found == expected, f"{kinds} {body!r}: {found}, by the slow twin {expected}"


def quoted(word: str) -> str:
    plain = re.fullmatch(r"[a-z]+", word) is not None
    return word if plain else "'" + word.replace("'", "\\'") + "'"


def arff_rows(rng: random.Random, kinds: list[str]) -> str:
    lines = []
    for _ in range(rng.randint(1, 6)):
        cells = []
        for kind in kinds:
            if rng.random() < 0.1:
                cells.append("?")
            elif kind == "number":
                cells.append(short_number(rng))
            else:
                cells.append(quoted(rng.choice(LEVELS[:5] if kind == "nominal" else LEVELS)))
        if rng.random() < 0.2 and "text" not in kinds:
            lines.append(
                "{" + ", ".join(f"{k} {cell}" for k, cell in enumerate(cells) if rng.random() < 0.7) + "}"
            )
        else:
            lines.append(rng.choice([",", ", ", "\t,"]).join(cells))
        if rng.random() < 0.1:
            lines.append(rng.choice(["", "% a comment, here", "  "]))
    return "\n".join(lines) + rng.choice(["", "\n"])


def read_arff(path: Path, names: list[str], kinds: list[str]):
    """The cells of each row: numbers in bits, texts, and None where one is missing; None if refused."""
    texts = [name for name, kind in zip(names, kinds, strict=True) if kind != "number"]
    try:
        frame = open_table(path, features=names, text=texts).frame()
    except SeparatrixError:
        return None
    rows = []
    for cells in frame.itertuples(index=False):
        row = []
        for cell, kind in zip(cells, kinds, strict=True):
            missing = cell is None or cell != cell
            row.append(None if missing else bits([cell])[0] if kind == "number" else cell)
        rows.append(row)
    return rows


def slow_arff(body: bytes, kinds: list[str]):
    """The slow twin: line by line, character by character."""
    rows = []
    for whole in body.split(b"\n"):
        if not whole.strip() or whole.lstrip().startswith(b"%"):
            continue
        try:
            line = whole.decode().strip()
        except UnicodeDecodeError:
            return None
        cells = None if line.startswith("{") else dense_cells(line)  # sparse rows are refused
        row = None if cells is None or len(cells) != len(kinds) else typed_cells(cells, kinds)
        if row is None:
            return None
        rows.append(row)
    return rows or None


def dense_cells(line: str):
    """The cells between commas; None for one that is missing, and None in all where quotes do not match."""
    cells, rest = [], line
    while True:
        found = one_cell(rest, stops=",")
        if found is None:
            return None
        cell, rest = found
        cells.append(cell)
        if not rest:
            return cells
        rest = rest[1:]


def one_cell(text: str, stops: str):
    """The first cell of a text and what comes after it, which is nothing or begins with a comma."""
    text = text.lstrip()
    if text[:1] in ("'", '"') and text:
        made, at = "", 1
        while at < len(text) and text[at] != text[0]:
            if text[at] == "\\" and at + 1 < len(text):
                at += 1
                made += {"n": "\n", "t": "\t", "r": "\r"}.get(text[at], text[at])
            elif text[at] == "\\":
                return None
            else:
                made += text[at]
            at += 1
        rest = text[at + 1 :].lstrip()
        return None if at >= len(text) or (rest and rest[0] not in stops) else (made, rest)
    end = next((k for k, each in enumerate(text) if each in stops), len(text))
    bare = text[:end].strip()
    if any(each in bare for each in "'\"{}"):
        return None
    return None if bare == "?" else bare, text[end:]


def typed_cells(cells: list, kinds: list[str]):
    row = []
    for cell, kind in zip(cells, kinds, strict=True):
        if cell is None:
            row.append(None)
        elif kind == "number":
            if not PLAIN.fullmatch(cell.encode()) and not re.fullmatch(
                r"[+-]?(inf|infinity|nan)", cell, re.I
            ):
                return None
            if rounds(cell.encode()):
                return None
            value = float(cell)
            row.append(None if value != value else bits([value])[0])
        elif kind == "nominal" and cell not in LEVELS[:5]:
            return None
        else:
            row.append(cell)
    return row
