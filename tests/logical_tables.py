"""Logical tables: columns of many kinds, written in every format, and what has to be read from each of them.

A table means the same in every format: the same numbers, labels and notes, or a refusal for the same reason.
`expected` says what, cell by cell, from the documented rules alone (docs/cli.md); a format says what it can
hold, and a table is first reduced to that.
"""

from __future__ import annotations

import bz2
import contextlib
import csv
import datetime as dt
import gzip
import io
import itertools
import json
import lzma
import random
import re
import sqlite3
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from separatrix.errors import SeparatrixError
from separatrix.files.table import open_table

NAMES = ["x", "a b", "größe", "x,y", 'q"t', "it's", "select", "p=1", "%", "two\nlines", "B", "Filename"]
LEVELS = ["a", "B b", "ü", "x,y", 'q"t', "it's", "none", "semi;colon", "tab\there", "two\nlines"]
PLAIN_LEVELS = ["a", "Bb", "c d", "none", "e1", "f"]
BIG = 2**53
# How many cells of a kind are missing, if any are.
SHARES = (0.0, 0.0, 0.05, 0.5)


@dataclass(frozen=True)
class Column:
    name: str
    kind: str
    cells: list[Any]


@dataclass(frozen=True)
class Logical:
    """Features, the target behind them, and what is to be done with missing values."""

    columns: tuple[Column, ...]
    target: Column
    missing: str = "error"

    @property
    def height(self) -> int:
        return len(self.target.cells)

    @property
    def all(self) -> tuple[Column, ...]:
        return (*self.columns, self.target)


# What a column holds.


def _floats(rng: random.Random, n: int) -> list[Any]:
    places = rng.choice([1, 2, 5])
    return [round(rng.uniform(-99, 99), places) for _ in range(n)]


def _words(rng: random.Random, n: int) -> list[Any]:
    return rng.choices(rng.sample(LEVELS, rng.randint(2, 4)), k=n)


def _odd(rng: random.Random, n: int) -> list[Any]:
    cells = [repr(each) for each in _floats(rng, n)]
    cells[rng.choice([n - 1, rng.randrange(n)])] = rng.choice(
        ["oops", "1_0", "+-5", "1e1_0", "1\n", "0x1F", "(5)"]
    )
    return cells


def _codes(rng: random.Random, n: int) -> list[Any]:
    return [f"{rng.randrange(1, 40)}" for _ in range(n - 1)] + [f"0{rng.randrange(10, 99)}"]


def _big(rng: random.Random, n: int) -> list[Any]:
    return [rng.randrange(100) for _ in range(n - 1)] + [rng.choice([BIG + 1, -BIG - 3, 2**62 + 1])]


def _exact(rng: random.Random, n: int) -> list[Any]:
    return [rng.randrange(100) for _ in range(n - 1)] + [rng.choice([BIG, BIG + 2, -(2**60)])]


def _days(rng: random.Random, n: int) -> list[Any]:
    return [dt.date(2020, 1, 1) + dt.timedelta(rng.randrange(500)) for _ in range(n)]


def _stray(rng: random.Random, n: int) -> list[Any]:
    return [str(rng.randrange(2)) for _ in range(n - 1)] + ["oops"]


KINDS: dict[str, Callable[[random.Random, int], list[Any]]] = {
    "integer": lambda rng, n: [rng.randrange(-50, 50) for _ in range(n)],
    "float": _floats,
    "big": _big,
    "exact": _exact,
    "number text": lambda rng, n: [repr(each) for each in _floats(rng, n)],
    "decimal text": lambda rng, n: [f"{rng.uniform(-99, 99):.2f}".replace(".", ",") for _ in range(n)],
    "codes": _codes,
    "odd text": _odd,
    "boolean": lambda rng, n: [rng.random() < 0.5 for _ in range(n)],
    "category": _words,
    "one level": lambda rng, n: [rng.choice(LEVELS)] * n,
    "identifier": lambda rng, n: [f"P{k}" for k in rng.sample(range(n), n)],
    "counter": lambda rng, n: list(range(rng.randrange(3), n + 2))[:n],
    "date": _days,
    "empty": lambda rng, n: [None] * n,
}
LABELS: dict[str, Callable[[random.Random, int], list[Any]]] = {
    "integer": lambda rng, n: [rng.randrange(-1, 2) for _ in range(n)],
    "float": lambda rng, n: [rng.choice([0.5, 1.5, 2.0]) for _ in range(n)],
    "category": lambda rng, n: rng.choices(["no", "yes", "so so"], k=n),
    "padded": lambda rng, n: rng.choices(["no", "no ", " yes", "yes"], k=n),
    "boolean": KINDS["boolean"],
    "stray": _stray,
    "exact labels": lambda rng, n: [BIG + rng.randrange(3) for _ in range(n)],
}
OFTEN = (
    "integer",
    "float",
    "number text",
    "decimal text",
    "boolean",
    "category",
    "codes",
    "counter",
    "exact",
)
NUMBERS = ("integer", "float", "number text", "decimal text", "codes", "counter", "exact", "big")
NO_GAPS = ("counter", "empty", "identifier", "odd text", "codes", "big", "exact", "stray")


def logical(rng: random.Random, height: int) -> Logical:
    """A table of so many rows; every third has something that has to be refused."""
    kinds = rng.choices(OFTEN, k=rng.randint(1, 5))
    for _ in range(2):
        if rng.random() < 0.25:
            kinds.append(rng.choice(list(KINDS)))
    names = rng.sample(NAMES, len(kinds))
    gaps = rng.random() < 0.4
    columns = []
    for name, kind in zip(names, kinds, strict=True):
        cells = KINDS[kind](rng, height)
        columns.append(Column(name, kind, _with_gaps(rng, kind, cells) if gaps else cells))
    kind = rng.choice(list(LABELS))
    labels = LABELS[kind](rng, height)
    if gaps and rng.random() < 0.3:
        labels = _with_gaps(rng, kind, labels)
    target = Column(rng.choice(["y", "the label"]), kind, labels)
    return Logical(tuple(columns), target, rng.choice(["error", "drop"]))


def _with_gaps(rng: random.Random, kind: str, cells: list[Any]) -> list[Any]:
    """The same with missing cells, perhaps only in the last rows, which no sample sees."""
    share = rng.choice(SHARES)
    if kind in NO_GAPS or not share:
        return cells
    first = rng.choice([0, len(cells) - max(3, len(cells) // 50)])
    found = [None if k >= first and rng.random() < share else cell for k, cell in enumerate(cells)]
    return cells if all(cell is None for cell in found) else found


# What has to be read.


@dataclass(frozen=True)
class Refused:
    """One of these patterns is in the message."""

    why: tuple[str, ...]


@dataclass(frozen=True)
class Read:
    names: tuple[str, ...]
    rows: list[list[float]]
    labels: list[Any]
    notes: tuple[str, ...]  # a pattern each


def expected(table: Logical) -> Read | Refused:
    """What docs/cli.md promises of a table, in any format with named columns."""
    kept, notes = list(table.columns), []
    for column in table.columns:
        if column.kind == "counter" and table.height >= 10 and len(kept) > 1:
            kept.remove(column)
            notes.append(f"{column.name} is left out: it counts up by one")
    refusals = [reason for column in (*kept, table.target) if (reason := _refusal(column))]
    if any(column.kind == "decimal text" for column in kept):
        notes.append("decimal comma")
    notes += [f"{c.name}: some numbers begin with a zero" for c in kept if c.kind == "codes"]
    filled = [column for column in kept if any(cell is not None for cell in column.cells)]
    notes += [
        f"{column.name} is left out: it has no values" for column in kept if column not in filled and filled
    ]
    kept = filled or kept
    named = [column for column in kept if column.kind not in NUMBERS and _names_rows(column)]
    notes += [f"{column.name} is left out: .* name the rows" for column in named]
    kept = [column for column in kept if column not in named]
    if not kept:
        refusals.append("No feature column is left")
    used = (*kept, table.target)
    whole = [k for k in range(table.height) if all(column.cells[k] is not None for column in used)]
    if len(whole) < table.height and table.missing == "error":
        refusals.append("lacks values in")
    if not whole:
        refusals += ["no rows left", "No column is left to read"]
    if refusals:
        return Refused(tuple(refusals))
    if table.missing == "drop":
        notes.append("rows were left out because they lack a value")
    names, blocks = [], []
    for column in kept:
        cells = [column.cells[k] for k in whole]
        if column.kind in NUMBERS:
            names.append(column.name)
            blocks.append([float(str(cell).replace(",", ".")) for cell in cells])
            continue
        times = Counter(map(_text, cells))
        if 1 in times.values():
            notes.append(f"{column.name}: .* only one row")
        if len(times) == 1:
            notes.append(f"{column.name}: each value is")
        for level in sorted(times)[1:]:
            names.append(f"{column.name}={level}")
            blocks.append([float(_text(cell) == level) for cell in cells])
    labels = [_label(table.target.cells[k]) for k in whole]
    if not names:
        return Read((), [[] for _ in whole], labels, tuple(notes))
    return Read(tuple(names), list(map(list, zip(*blocks, strict=True))), labels, tuple(notes))


def _refusal(column: Column) -> str:
    if column.kind == "date":
        return f"Column {column.name!r} is a date or time"
    if column.kind == "odd text":
        return f"Column {column.name!r} .* holds numbers, but"
    return f"Column {column.name!r} .* would be rounded" if column.kind == "big" else ""


def _names_rows(column: Column) -> bool:
    different, height = len({cell for cell in column.cells if cell is not None}), len(column.cells)
    return different == height >= 3 or (height >= 10 and different > 0.9 * height)


def _text(cell: Any) -> str:
    return str(cell).lower() if isinstance(cell, bool) else str(cell)


def _label(cell: Any) -> Any:
    return _text(cell).strip() if isinstance(cell, bool | str) else cell


def check(table: Logical, form: Form, folder: Path) -> None:
    """Write a table in a format, read it, and compare that with what has to be read."""
    fitting = form.reduced(table)
    if fitting is None:
        return
    source = form.write(fitting, folder)
    wanted = form.expected(fitting)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            opened = open_table(source, missing=fitting.missing, target=fitting.target.name)
            X, y = opened.read()
        except SeparatrixError as error:
            said = str(error).replace("\n", " ")
            assert isinstance(wanted, Refused), f"{form.name} refuses {_shown(fitting)}: {said}"
            assert any(_matches(each, said) for each in wanted.why), f"{form.name}: {said!r} for {wanted.why}"
            return
    assert isinstance(wanted, Read), f"{form.name} reads {_shown(fitting)} in spite of {wanted}"
    X = X if isinstance(X, np.ndarray) else X.toarray()
    if form.named:
        assert opened.feature_names == wanted.names, (form.name, opened.feature_names, wanted.names)
    assert X.tolist() == wanted.rows, f"{form.name}: {_first_difference(X.tolist(), wanted.rows)}"
    assert y is not None
    found = y.tolist()
    assert found == wanted.labels, f"{form.name}: {_first_difference(found, wanted.labels)}"
    notes = [note for note in opened.notes if not re.search(form.own_notes, note)]
    assert len(notes) == len(wanted.notes), (form.name, notes, wanted.notes)
    for each in wanted.notes:
        assert any(_matches(each, note) for note in notes), (form.name, each, notes)


def _matches(pattern: str, text: str) -> bool:
    """Whether a text has what stands before and after ``.*`` of a pattern, in this order."""
    parts = _one_line(pattern).split(".*")
    return re.search(".*".join(map(re.escape, parts)), _one_line(text)) is not None


def _one_line(text: str) -> str:
    return text.replace("\\n", " ").replace("\n", " ")


def _first_difference(found: list[Any], wanted: list[Any]) -> str:
    pairs = enumerate(zip(found, wanted, strict=False))
    return next(
        (f"row {k}: {a!r}, not {b!r}" for k, (a, b) in pairs if a != b), f"{len(found)}, {len(wanted)} rows"
    )


def _shown(table: Logical) -> str:
    return ", ".join(f"{column.name!r} ({column.kind}: {column.cells[:3]})" for column in table.all)


# Formats.


@dataclass(frozen=True)
class Form:
    """A format: who writes it, and what it can hold."""

    name: str
    write: Callable[[Logical, Path], str]
    without: tuple[str, ...] = ()  # kinds of columns
    labels: tuple[str, ...] = ()  # kinds of the target; all that are not left out, if empty
    gaps: bool = True
    plain_names: bool = False
    plain_text: bool = False
    strange: str = ""  # characters that cannot be in names or text
    named: bool = True
    own_notes: str = r"cells are missing|keeps 15 digits|is read as UTF-16"
    expected: Callable[[Logical], Read | Refused] = expected
    longest: int = 10**9

    def reduced(self, table: Logical) -> Logical | None:
        """The table without what the format cannot hold; None if too little is left."""
        columns = [column for column in table.columns if column.kind not in self.without]
        missing = any(None in column.cells for column in (*columns, table.target))
        if not self.named and (missing or any(column.kind == "float" for column in columns)):
            columns = [column for column in columns if column.kind != "big"]  # one array has one type
        wrong = table.target.kind not in self.labels if self.labels else table.target.kind in self.without
        if not columns or wrong or table.height > self.longest or (missing and not self.gaps):
            return None
        if (
            not self.named
            and isinstance(next(filter(None, table.target.cells), 0), str)
            and None in table.target.cells
        ):
            return None
        found = [
            Column(self._name(k, column.name), column.kind, list(map(self._cell, column.cells)))
            for k, column in enumerate(columns)
        ]
        target = replace(table.target, name=self.target(len(found)) or table.target.name)
        return replace(table, columns=tuple(found), target=target)

    def target(self, width: int) -> str:
        if self.name == "npy":
            return str(width + 1)
        return {"npz": "y", "libsvm": "label"}.get(self.name, "y" if self.plain_names else "")

    def _name(self, k: int, name: str) -> str:
        return f"v{k}" if self.plain_names or any(each in name for each in self.strange) else name

    def _cell(self, cell: Any) -> Any:
        if not isinstance(cell, str) or cell not in LEVELS:
            return cell
        if self.plain_text or any(each in cell for each in self.strange):
            return f"w{LEVELS.index(cell)}"
        return cell


def csv_text(
    table: Logical, *, delimiter: str = ",", end: str = "\n", quoting: Any = csv.QUOTE_MINIMAL
) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writerow([column.name for column in table.all])
    cells = [["" if cell is None else _text(cell) for cell in column.cells] for column in table.all]
    writer.writerows(zip(*cells, strict=True))
    return out.getvalue()


def _csv(
    pack: Callable[[bytes], bytes] = bytes, ending: str = "csv", encoding: str = "utf-8", **how: Any
) -> Any:
    def write(table: Logical, folder: Path) -> str:
        path = folder / f"rows.{ending}"
        path.write_bytes(pack(csv_text(table, **how).encode(encoding)))
        return str(path)

    return write


def _parts(table: Logical) -> list[Logical]:
    cuts = [0, table.height // 3, table.height // 2, table.height]
    return [
        replace(
            table,
            columns=tuple(replace(column, cells=column.cells[a:b]) for column in table.columns),
            target=replace(table.target, cells=table.target.cells[a:b]),
        )
        for a, b in itertools.pairwise(cuts)
    ]


def _csv_parts(table: Logical, folder: Path) -> str:
    for old in folder.glob("part-*.csv"):
        old.unlink()
    for k, part in enumerate(_parts(table)):
        (folder / f"part-{k}.csv").write_bytes(csv_text(part, end="\r\n" if k == 1 else "\n").encode())
    return str(folder / "part-*.csv")


def arrow(table: Logical) -> Any:
    import pyarrow as pa

    types = {
        "integer": pa.int64(), "big": pa.int64(), "exact": pa.int64(), "exact labels": pa.int64(),
        "counter": pa.int64(), "float": pa.float64(), "boolean": pa.bool_(), "date": pa.date32(),
        "empty": pa.float64(),
    }  # fmt: skip
    arrays = [pa.array(column.cells, types.get(column.kind, pa.string())) for column in table.all]
    return pa.table(arrays, names=[column.name for column in table.all])


def _parquet(table: Logical, folder: Path) -> str:
    import pyarrow.parquet as pq

    pq.write_table(arrow(table), folder / "rows.parquet", row_group_size=max(5, table.height // 3))
    return str(folder / "rows.parquet")


def _parquet_folder(table: Logical, folder: Path) -> str:
    import pyarrow.parquet as pq

    place = folder / "parts"
    place.mkdir(exist_ok=True)
    for k, part in enumerate(_parts(table)):
        pq.write_table(arrow(part), place / f"part-{k:05d}.parquet")
    return str(place)


def _categories(table: Logical, folder: Path) -> str:
    """Parquet with text as categories, as pandas writes it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    found = arrow(table)
    for k, field in enumerate(found.schema):
        if pa.types.is_string(field.type):
            found = found.set_column(k, field.name, found.column(k).dictionary_encode())
    pq.write_table(found, folder / "rows.parquet")
    return str(folder / "rows.parquet")


def _ipc(ending: str) -> Any:
    def write(table: Logical, folder: Path) -> str:
        import pyarrow as pa
        from pyarrow import feather

        path, found = str(folder / f"rows.{ending}"), arrow(table)
        if ending == "feather":
            feather.write_feather(found, path)
            return path
        with (pa.ipc.new_stream if ending == "arrows" else pa.ipc.new_file)(path, found.schema) as writer:
            writer.write_table(found, max_chunksize=max(4, table.height // 3))
        return path

    return write


def _json(pack: Callable[[bytes], bytes] = bytes, ending: str = "jsonl") -> Any:
    def write(table: Logical, folder: Path) -> str:
        names, path = [column.name for column in table.all], folder / f"rows.{ending}"
        rows = zip(*(column.cells for column in table.all), strict=True)
        lines = [
            json.dumps(dict(zip(names, row, strict=True)), default=str, ensure_ascii=False) for row in rows
        ]
        path.write_bytes(pack(("\n".join(lines) + "\n").encode()))
        return str(path)

    return write


def _excel(table: Logical, folder: Path) -> str:
    from tests.sheets import date, write_workbook

    def cell(value: Any) -> Any:
        return date((value - dt.date(1899, 12, 30)).days) if isinstance(value, dt.date) else value

    rows = zip(*(map(cell, column.cells) for column in table.all), strict=True)
    write_workbook(folder / "rows.xlsx", {"rows": [[column.name for column in table.all], *rows]})
    return str(folder / "rows.xlsx")


def _stat(function: str, ending: str) -> Any:
    def write(table: Logical, folder: Path) -> str:
        import pandas as pd
        import pyreadstat

        path = folder / f"rows.{ending}"
        text = {"date", *LABELS, *KINDS} - {"integer", "float", "counter", "empty", "exact"}
        frame = pd.DataFrame(
            {
                column.name: pd.Series(
                    ["" if cell is None else str(cell) for cell in column.cells]
                    if column.kind in text
                    else np.array([np.nan if cell is None else float(cell) for cell in column.cells])
                )
                for column in table.all
            }
        )
        getattr(pyreadstat, function)(frame, str(path))
        return str(path)

    return write


def _sqlite(table: Logical, folder: Path) -> str:
    path = folder / "rows.sqlite"
    path.unlink(missing_ok=True)
    with contextlib.closing(sqlite3.connect(path)) as made:
        names = ", ".join('"' + column.name.replace('"', '""') + '"' for column in table.all)
        made.execute(f"CREATE TABLE t ({names})")
        cells = [[str(c) if isinstance(c, dt.date) else c for c in column.cells] for column in table.all]
        marks = ", ".join("?" * len(table.all))
        made.executemany(f"INSERT INTO t VALUES ({marks})", zip(*cells, strict=True))
        made.commit()
    return str(path)


_made = iter(range(10**9))  # DuckDB keeps a file open that was read, and does not write it again


def _duckdb(table: Logical, folder: Path) -> str:
    import duckdb

    path, rows = folder / f"rows{next(_made)}.duckdb", arrow(table)
    with duckdb.connect(str(path)) as made:
        made.register("rows", rows)
        made.execute("CREATE TABLE t AS FROM rows")
    return str(path)


def _arff(table: Logical, folder: Path) -> str:
    def quoted(text: str) -> str:
        for sign, escape in (("\\", "\\\\"), ("'", "\\'"), ("\n", "\\n"), ("\t", "\\t")):
            text = text.replace(sign, escape)
        return f"'{text}'"

    numbers = ("integer", "float", "counter", "exact", "big", "exact labels", "empty")
    types = {**dict.fromkeys(numbers, "numeric"), "boolean": "{false,true}", "date": "date 'yyyy-MM-dd'"}
    head = "".join(f"@attribute {quoted(c.name)} {types.get(c.kind, 'string')}\n" for c in table.all)
    cells = [
        [
            "?" if cell is None else quoted(_text(cell)) if isinstance(cell, str) else _text(cell)
            for cell in c.cells
        ]
        for c in table.all
    ]
    rows = "".join(",".join(row) + "\n" for row in zip(*cells, strict=True))
    (folder / "rows.arff").write_text(f"@relation r\n{head}@data\n{rows}", encoding="utf-8")
    return str(folder / "rows.arff")


def _zip(content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("rows.csv", content)
    return out.getvalue()


def _zstd(content: bytes) -> bytes:
    import pyarrow as pa

    out = pa.BufferOutputStream()
    with pa.CompressedOutputStream(out, "zstd") as stream:
        stream.write(content)
    return bytes(out.getvalue())


# Numbered columns.


def _matrix(table: Logical) -> np.ndarray:
    whole = all(isinstance(cell, int) for column in table.columns for cell in column.cells)
    cells = [[np.nan if cell is None else cell for cell in column.cells] for column in table.columns]
    return np.array(cells, dtype=np.int64 if whole else np.float64).T


def _npz(table: Logical, folder: Path) -> str:
    np.savez(folder / "rows.npz", X=_matrix(table), y=np.array(table.target.cells))
    return str(folder / "rows.npz")


def _npy(table: Logical, folder: Path) -> str:
    X = _matrix(replace(table, columns=table.all))
    np.save(folder / "rows.npy", np.asfortranarray(X) if table.height % 2 else X)
    return str(folder / "rows.npy")


def _libsvm(table: Logical, folder: Path) -> str:
    lines = []
    for k, label in enumerate(table.target.cells):
        cells = (f"{j}:{column.cells[k]!r}" for j, column in enumerate(table.columns, 1))
        lines.append(" ".join([repr(label), *cells]))
    (folder / "rows.svm").write_text("\n".join(lines) + "\n")
    return str(folder / "rows.svm")


def numbered(table: Logical) -> Read | Refused:
    """What has to be read where columns have no names: every number as it stands."""
    if table.missing == "drop":
        return Refused(("'missing' is for tables with named columns",))
    if any(None in column.cells for column in table.all):
        return Refused(("lacks values",))
    if any(column.kind == "big" for column in table.all):
        return Refused(("would be rounded",))
    rows = [[float(column.cells[k]) for column in table.columns] for k in range(table.height)]
    return Read((), rows, [_label(cell) for cell in table.target.cells], ())


_PLAIN = ("integer", "float")
_WORDS = tuple(kind for kind in KINDS if kind not in (*_PLAIN, "counter", "exact", "big"))
_NUMBERED: dict[str, Any] = {"named": False, "expected": numbered}
_STAT: dict[str, Any] = {
    "without": ("boolean", "big", "exact labels", "date", "padded"),
    "plain_names": True,
    "plain_text": True,
}
_SIGNS = {"strange": ",;\t|"}
FORMS = {
    form.name: form
    for form in (
        Form("csv", _csv()),
        Form("csv, all in quotes", _csv(quoting=csv.QUOTE_ALL)),
        Form("csv, returns", _csv(end="\r\n")),
        Form("csv, byte order mark", _csv(encoding="utf-8-sig")),
        Form("csv, UTF-16", _csv(encoding="utf-16")),
        Form("csv, semicolons", _csv(delimiter=";"), **_SIGNS),
        Form("csv, tabs", _csv(delimiter="\t", ending="tsv"), **_SIGNS),
        Form("csv, bars", _csv(delimiter="|"), **_SIGNS),
        Form("csv, in parts", _csv_parts),
        Form("csv, gzip", _csv(gzip.compress, "csv.gz")),
        Form("csv, bz2", _csv(bz2.compress, "csv.bz2")),
        Form("csv, xz", _csv(lzma.compress, "csv.xz")),
        Form("csv, zstd", _csv(_zstd, "csv.zst")),
        Form("csv, zip", _csv(_zip, "zip")),
        Form("parquet", _parquet),
        Form("parquet, categories", _categories),
        Form("parquet, a folder", _parquet_folder),
        Form("arrow", _ipc("arrow")),
        Form("arrow, a stream", _ipc("arrows")),
        Form("feather", _ipc("feather")),
        Form("json", _json()),
        Form("json, gzip", _json(gzip.compress, "jsonl.gz")),
        Form("excel", _excel, without=("big", "exact labels"), strange="\n\t", longest=20_000),
        Form("spss", _stat("write_sav", "sav"), **_STAT),
        Form("stata", _stat("write_dta", "dta"), **_STAT),
        Form("sqlite", _sqlite, without=("boolean",)),
        Form("duckdb", _duckdb),
        Form("arff", _arff),
        Form("npz", _npz, _WORDS, labels=(*_PLAIN, "category", "padded", "exact labels"), **_NUMBERED),
        Form("npy", _npy, (*_WORDS, "big"), labels=_PLAIN, **_NUMBERED),
        Form("libsvm", _libsvm, _WORDS, labels=_PLAIN, gaps=False, **_NUMBERED),
    )
}  # fmt: skip


def check_short(rng: random.Random, cases: int, folder: Path) -> None:
    """Tables of 15 rows."""
    _check(rng, cases, folder, 15)


def check_medium(rng: random.Random, cases: int, folder: Path) -> None:
    """Tables of 1,500 rows, of which a sample sees some."""
    _check(rng, cases, folder, 1_500)


def check_long(rng: random.Random, cases: int, folder: Path) -> None:
    """Tables of 150,000 rows, which no reader keeps whole."""
    _check(rng, cases, folder, 150_000)


def _check(rng: random.Random, cases: int, folder: Path, height: int) -> None:
    for _ in range(cases):
        check(logical(rng, height), FORMS[rng.choice(list(FORMS))], folder)
