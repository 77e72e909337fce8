"""Fuzz targets: files of numbers and of other programs, damaged, against Arrow, NumPy and slow twins."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import random
import sqlite3
import struct
import warnings
import zipfile
from functools import partial
from pathlib import Path

import numpy as np

from separatrix.errors import SeparatrixError
from separatrix.files.table import open_table
from tests.fuzz_cases import bits


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


# IDX.


def check_idx(rng: random.Random, cases: int, folder: Path) -> None:
    """Damaged images and labels are read as a slow twin reads them, or refused."""
    images, labels = folder / "train-images-idx3-ubyte", folder / "train-labels-idx1-ubyte"
    for _ in range(cases):
        values = np.random.default_rng(rng.randrange(2**32))
        shape = [rng.randint(1, 6) for _ in range(rng.randint(2, 4))]
        pictures = idx_file(values.integers(0, 99, shape).astype(rng.choice(list(IDX_KINDS))))
        numbers = idx_file((values.integers(0, 6, shape[0]) / 2).astype(rng.choice(list(IDX_KINDS))))
        which = rng.random()
        pictures = damaged(rng, pictures, 20) if which < 0.6 else pictures
        numbers = damaged(rng, numbers, 8) if which > 0.4 else numbers
        packed = rng.random() < 0.3
        images.write_bytes(pictures)
        labels.write_bytes(gzip.compress(numbers) if packed else numbers)
        try:
            table = open_table(images, target="label")
            if table.kind != "idx":
                continue
            X, y = table.read()
        except SeparatrixError:
            continue
        wanted, named = slow_idx(pictures), slow_idx(numbers)
        assert wanted is not None, pictures
        assert named is not None, numbers
        assert bits(X.reshape(-1)) == bits(wanted), pictures
        assert bits(y) == bits(named), numbers


IDX_KINDS = {
    "u1": (8, "B"),
    "i1": (9, "b"),
    "i2": (11, "h"),
    "i4": (12, "i"),
    "f4": (13, "f"),
    "f8": (14, "d"),
}


def idx_file(array: np.ndarray) -> bytes:
    kind = IDX_KINDS[array.dtype.str[1:]][0]
    sizes = b"".join(size.to_bytes(4, "big") for size in array.shape)
    return bytes([0, 0, kind, array.ndim]) + sizes + array.astype(array.dtype.newbyteorder(">")).tobytes()


def slow_idx(content: bytes) -> list[float] | None:
    """All numbers of a file, one by one; None if it is none."""
    codes = dict(IDX_KINDS.values())
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] not in codes:
        return None
    begin, code = 4 + 4 * content[3], codes[content[2]]
    size = 1
    for k in range(content[3]):
        size *= int.from_bytes(content[4 + 4 * k : 8 + 4 * k], "big")
    if len(content) != begin + size * struct.calcsize(code):
        return None
    return [float(each[0]) for each in struct.iter_unpack(">" + code, content[begin:])]


def damaged(rng: random.Random, content: bytes, head: int) -> bytes:
    """A few bytes changed, most of them near the beginning; or some left out, put in or cut off."""
    made = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 5])):
        place = rng.randrange(min(head, len(made))) if rng.random() < 0.6 else rng.randrange(len(made))
        made[place] = rng.choice([0, 1, 255, rng.randrange(256), (made[place] + 1) % 256])
    act = rng.randrange(8)
    if act == 0:
        del made[rng.randrange(len(made)) :]
    elif act == 1:
        del made[rng.randrange(len(made))]
    elif act == 2:
        made.insert(rng.randrange(len(made)), rng.randrange(256))
    return bytes(made) or b"\0"


# What other programs write.


def check_others(rng: random.Random, cases: int, folder: Path) -> None:
    """No damage of a file of another program ends the process, or with anything but an error of ours.

    Of compressed text, what is read is what was packed, where the compression would notice a change.
    """
    originals = {kind: make(folder / f"first.{kind}") for kind, make in OTHERS.items()}
    for _ in range(cases):
        kind = rng.choice(list(OTHERS))
        content = originals[kind]
        if rng.random() < 0.95:
            content = damaged(rng, content, rng.choice([32, 256, 1 << 20]))
        path = folder / f"rows.{kind}"
        path.write_bytes(content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                X, y = open_table(path, target="y").read()
            except SeparatrixError:
                continue
            if kind in ("csv.gz", "csv.xz", "csv.bz2", "zip"):
                assert (X.tolist(), y.tolist()) == (ROWS[0], ROWS[1]), (kind, content)
            assert X.shape[0] == y.shape[0], (kind, content)


ROWS = ([[0.5 * (k * k % 17), float(k * 7 % 5)] for k in range(40)], [k % 2 for k in range(40)])
TEXT = "a,b,y\n" + "".join(f"{a},{b},{y}\n" for (a, b), y in zip(*ROWS, strict=True))


def _frame():
    import pandas as pd

    return pd.DataFrame({"a": [a for a, _ in ROWS[0]], "b": [b for _, b in ROWS[0]], "y": ROWS[1]})


def _packed(pack):
    return lambda path: pack(TEXT.encode())


def _zip(path: Path) -> bytes:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("rows.csv", TEXT)
    return path.read_bytes()


def _zstd(path: Path) -> bytes:
    import pyarrow as pa

    with pa.CompressedOutputStream(str(path), "zstd") as out:
        out.write(TEXT.encode())
    return path.read_bytes()


def _sheet(path: Path) -> bytes:
    from tests.sheets import write_workbook

    rows = [["a", "b", "y"], *([*row, label] for row, label in zip(*ROWS, strict=True))]
    write_workbook(path, {"rows": rows})
    return path.read_bytes()


def _arrow(path: Path, *, stream: bool) -> bytes:
    import pyarrow as pa

    table = pa.Table.from_pandas(_frame(), preserve_index=False)
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=15)
    return path.read_bytes()


def _sqlite(path: Path) -> bytes:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (a REAL, b REAL, y INTEGER)")
        cells = [(*row, label) for row, label in zip(*ROWS, strict=True)]
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", cells)
        connection.commit()
    return path.read_bytes()


def _stat(name: str, **options):
    def make(path: Path) -> bytes:
        import pyreadstat

        getattr(pyreadstat, name)(_frame(), str(path), **options)
        return path.read_bytes()

    return make


def _json(path: Path) -> bytes:
    return "".join(f'{{"a": {a}, "b": {b}, "y": {y}}}\n' for (a, b), y in zip(*ROWS, strict=True)).encode()


OTHERS = {
    "csv.gz": _packed(gzip.compress),
    "csv.bz2": _packed(bz2.compress),
    "csv.xz": _packed(lzma.compress),
    "csv.zst": _zstd,
    "zip": _zip,
    "xlsx": _sheet,
    "arrow": partial(_arrow, stream=False),
    "arrows": partial(_arrow, stream=True),
    "sqlite": _sqlite,
    "sav": _stat("write_sav"),
    "zsav": _stat("write_sav", compress=True),
    "dta": _stat("write_dta"),
    "por": _stat("write_por"),
    "xpt": _stat("write_xport"),
    "jsonl": _json,
}
