"""Columns of Parquet files become rows: Arrow's own tables are the referee."""

from __future__ import annotations

import io
import pathlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.errors import InputError
from separatrix.files.arrow import to_rows
from separatrix.files.table import open_table

KINDS = ("f8", "f4", "i8", "i4", "i2", "i1", "u2", "u1")


def read(path, names, *, rows=100, start=0, labelled=True):
    """The rows and the labels of a file, batch by batch."""
    features, target = (names[:-1], names[-1]) if labelled else (names, None)
    X, y = [np.empty((0, len(features)))], []
    for part, labels in open_table(path, target=target, features=features).batches(rows, start):
        assert len(part) <= rows
        X.append(part.copy())
        y.append(np.empty(0) if labels is None else labels)
    return np.concatenate(X), np.concatenate(y) if y else np.empty(0)


def expected(table, names, start=0):
    X = np.column_stack([table[name].to_numpy() for name in names[:-1]]).astype(np.float64)
    return X[start:], table[names[-1]].to_numpy()[start:]


@st.composite
def tables(draw):
    """Columns of all types: of few values or many, in runs or not, with labels at the end."""
    n_rows = draw(st.integers(1, 700))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    columns = {}
    for k in range(draw(st.integers(1, 6))):
        kind = np.dtype(draw(st.sampled_from(KINDS)))
        levels = draw(st.sampled_from([1, 2, 3, 17, 100]))
        values = rng.integers(0, levels, n_rows)
        if draw(st.booleans()):
            values = np.sort(values)
        values = values.astype(kind)
        if kind.kind == "f":
            values = values * kind.type(0.37) - 1
        if kind == np.int64:
            values = values * (2**46 - 3) - 2**50
        columns[f"x{k}"] = values
    columns["y"] = rng.integers(0, 3, n_rows).astype(draw(st.sampled_from(["i8", "i4", "f8"])))
    return pa.table(columns)


@st.composite
def files(draw):
    """A table, and a Parquet file of it."""
    table = draw(tables())
    required = pa.schema([pa.field(f.name, f.type, nullable=draw(st.booleans())) for f in table.schema])
    options = {
        "compression": draw(st.sampled_from(["none", "snappy", "zstd", "gzip"])),
        "use_dictionary": draw(st.booleans()),
        "row_group_size": draw(st.sampled_from([13, 128, 1000])),
        "data_page_size": draw(st.sampled_from([1, 200, 1 << 20])),
        "dictionary_pagesize_limit": draw(st.sampled_from([64, 1 << 20])),
        "write_batch_size": draw(st.sampled_from([1, 10, 1000])),
        "data_page_version": draw(st.sampled_from(["1.0", "2.0"])),
        "write_statistics": draw(st.booleans()),
        "write_page_index": draw(st.booleans()),
    }
    out = io.BytesIO()
    pq.write_table(table.cast(required), out, **options)
    return table, out.getvalue()


def bit_packed_levels(content):
    """The file with a page header that says that whether values are missing is written in another way."""
    header = b"\x15\x06\x15\x06\x1c"  # both kinds of levels in runs, then the statistics of the page
    assert content.count(header)
    return content.replace(header, b"\x15\x08\x15\x06\x1c", 1)


def one_row_too_few(content):
    """The file with a footer that says that it has minus 6 rows, in groups of 5."""
    rows = b"\x16\x0a\x19\x1c"  # five rows, then a list of one group
    assert content.count(rows) == 1
    return content.replace(rows, b"\x16\x0b\x19\x1c")


@pytest.mark.parametrize("damage", [bit_packed_levels, one_row_too_few])
def test_what_readers_may_read_differently_is_refused(tmp_path, damage):
    out = io.BytesIO()
    table = pa.table({"a": [0.0, 0.0, -1.0, -1.0, 1.0], "y": [1, 0, 0, 1, 0]})
    pq.write_table(table, out, compression="none", use_dictionary=False, store_schema=False)
    path = tmp_path / "rows.parquet"
    path.write_bytes(damage(out.getvalue()))
    with pytest.raises(InputError, match=r"damaged|lacks values"):
        read(path, ["a", "y"])


@given(files(), st.integers(1, 300), st.integers(0, 800))
def test_however_a_file_is_written_its_rows_are_those_that_arrow_reads(tmp_path_factory, file, rows, start):
    table, content = file
    path = tmp_path_factory.getbasetemp() / "pages.parquet"
    path.write_bytes(content)
    X, y = read(path, table.column_names, rows=rows, start=start)
    wanted, labels = expected(table, table.column_names, start)
    assert np.array_equal(X, wanted)
    assert np.array_equal(y, labels)
    assert y.size == 0 or y.dtype in (np.int64, np.float64)


def test_a_file_that_duckdb_wrote_is_read(tmp_path):
    import duckdb

    path = tmp_path / "rows.parquet"
    query = "SELECT i % 7 AS a, i / 3 AS b, (i // 1000) % 2 AS c, i AS d, i % 2 AS y FROM range(300000) t(i)"
    duckdb.sql(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
    names = ["d", "b", "a", "c", "y"]
    X, y = read(path, names, rows=10_000)
    wanted, labels = expected(pq.read_table(path), names)
    assert np.array_equal(X, wanted)
    assert np.array_equal(y, labels)


def test_several_files_are_one_table(tmp_path):
    for k in range(3):
        pq.write_table(
            pa.table({"a": np.arange(5.0) + 5 * k, "y": np.arange(5) % 2}), tmp_path / f"{k}.parquet"
        )
    found = list(open_table(tmp_path / "*.parquet", target="y").batches(4, 6))
    assert max(len(X) for X, _ in found) <= 4
    assert np.concatenate([X[:, 0] for X, _ in found]).tolist() == list(range(6, 15))
    assert np.concatenate([y for _, y in found]).tolist() == [1, 0, 1, 0, 0, 1, 0, 1, 0]


@settings(max_examples=15)
@given(tables(), st.sampled_from([1, 7, 100]), st.sampled_from(["nothing", "null", "nan", "large"]))
def test_rows_are_the_same_with_a_condition_that_holds_for_all(tmp_path_factory, table, rows, odd):
    """Row by row, and the same words where a value is missing or would be rounded."""
    path, last = tmp_path_factory.mktemp("plain") / "x.parquet", table.num_rows - 1
    if odd != "nothing":
        value = {"null": None, "nan": np.nan, "large": 2**53 + 1}[odd]
        kind = pa.int64() if odd == "large" else pa.float64()
        column = pa.array([1] * last + [value], kind, from_pandas=False)
        table = table.add_column(0, "odd", column)
    pq.write_table(table, path, row_group_size=97)
    features = [name for name in table.column_names if name != "y"]

    def told(**options):
        try:
            opened = open_table(path, target="y", features=features, **options)
            found = [(X.copy(), y) for X, y in opened.batches(rows, 0)]
        except InputError as error:
            return str(error)
        return np.concatenate([X for X, _ in found]).tolist(), np.concatenate([y for _, y in found]).tolist()

    assert told() == told(where="true")
    assert isinstance(told(), str) == (odd != "nothing")


def test_more_files_than_may_be_open_are_one_table(tmp_path):
    resource = pytest.importorskip("resource")
    for k in range(60):
        pq.write_table(pa.table({"a": [2.0 * k, 2.0 * k + 1], "b": [0.5, 1.5]}), tmp_path / f"{k:02}.parquet")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    open_now = len(list(pathlib.Path("/dev/fd").iterdir()))
    resource.setrlimit(resource.RLIMIT_NOFILE, (open_now + 40, before[1]))
    try:
        found = list(open_table(tmp_path / "*.parquet", features=["a", "b"]).batches(50))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert np.concatenate([X[:, 0] for X, _ in found]).tolist() == list(range(120))


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("column", ["a", "y"])
def test_a_missing_value_is_refused_and_the_rows_before_it_are_given(tmp_path, version, column):
    values = {"a": np.arange(1000.0), "y": np.arange(1000) % 2}
    whole = {name: np.array(each) for name, each in values.items()}
    values[column] = pa.array(values[column], mask=np.arange(1000) == 600)
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table(values), path, row_group_size=100, data_page_version=version)
    place = ", the first in row 601" if column == "a" else ""
    given = []
    with pytest.raises(InputError, match=rf"'{column}' \(1\){place}"):
        given += open_table(path, target="y").batches(50)
    assert np.array_equal(np.concatenate([X[:, 0] for X, _ in given]), whole["a"][:600])
    assert np.array_equal(np.concatenate([y for _, y in given]), whole["y"][:600])


def test_rows_are_the_same_in_rare_encodings_and_with_labels_beyond_a_float(tmp_path):
    rng = np.random.default_rng(0)
    tables = [pa.table({"a": rng.integers(0, 9, 500), "y": rng.integers(0, 2, 500)}) for _ in range(3)]
    tables[2] = tables[2].set_column(1, "y", pa.array([2**53 + 1, 2**53 + 3] * 250))
    encodings = [None, {"a": "DELTA_BINARY_PACKED"}, None]
    for k, (table, encoding) in enumerate(zip(tables, encodings, strict=True)):
        options = {"use_dictionary": False, "column_encoding": encoding} if encoding else {}
        pq.write_table(table, tmp_path / f"{k}.parquet", **options)
        X, y = read(tmp_path / f"{k}.parquet", ["a", "y"])
        assert np.array_equal(X[:, 0], table["a"].to_numpy())
        assert np.array_equal(y, table["y"].to_numpy())
        classes = open_table(tmp_path / f"{k}.parquet", target="y").classes
        assert classes.tolist() == sorted(set(table["y"].to_pylist()))


@pytest.mark.parametrize(
    ("column", "options"),
    [
        (pa.array([1, 2], pa.uint64()), {}),
        (pa.array([1, 2], pa.uint32()), {}),
        (pa.array([1, 2], pa.decimal128(9)), {}),
        (pa.array([np.float16(1), np.float16(2)]), {}),
        (pa.array([1.0, 2.0]), {"compression": "lz4"}),
        (pa.array([1.0, 2.0]), {"use_dictionary": False, "use_byte_stream_split": ["a"]}),
    ],
)
def test_numbers_of_rare_types_are_numbers_as_features_and_as_labels(tmp_path, column, options):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": column, "y": [0, 1]}), path, **options)
    X, y = read(path, ["a", "y"])
    assert X.tolist() == [[1.0], [2.0]]
    assert y.tolist() == [0, 1]
    table = open_table(path, target="a")
    assert table.classes.tolist() == table.read()[1].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("column", "names"),
    [(pa.array(["u", "v"]), ("a=v",)), (pa.array([True, False]), ("a=true",))],
)
def test_text_and_booleans_are_levels(tmp_path, column, names):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": column, "y": [0, 1]}), path)
    assert open_table(path, target="y").feature_names == names


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pa.array([1, 2], pa.date32()), "is a date or time"),
        (pa.array([1, 2], pa.timestamp("us")), "is a date or time"),
        (pa.array([[1.0], [2.0]]), "which is not a number"),
        (pa.array([{"x": 1.0}, {"x": 2.0}]), "which is not a number"),
    ],
)
def test_what_is_no_number_is_refused_with_its_name(tmp_path, column, words):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": column, "y": [0, 1]}), path)
    with pytest.raises(InputError, match=f"'a' .*{words}"):
        open_table(path, target="y")


def test_rows_without_labels(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": [1, 2], "b": [0.5, 0.25]}), path)
    X, y = read(path, ["b", "a"], labelled=False)
    assert X.tolist() == [[0.5, 1], [0.25, 2]]
    assert y.size == 0


@settings(max_examples=200)
@given(files(), st.data())
def test_a_damaged_file_gives_no_more_rows_than_it_had_or_is_named(tmp_path_factory, file, data):
    table, content = file
    damaged = bytearray(content)
    footer = 8 + int.from_bytes(content[-8:-4], "little")
    for _ in range(data.draw(st.integers(1, 5))):
        place = data.draw(st.integers(4, max(4, len(content) - footer - 1)))
        damaged[place] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "damaged.parquet"
    path.write_bytes(damaged)
    try:
        given, said = len(read(path, table.column_names)[0]), "damaged.parquet"
    except InputError as error:
        given, said = 0, str(error)
    assert given <= table.num_rows
    assert "damaged.parquet" in said


@pytest.mark.parametrize("cut", [5, 100, 400])
def test_a_file_that_ends_early_is_an_error_that_names_it(tmp_path, cut):
    """The end is there, but bytes before it are not."""
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": np.arange(300.0), "y": np.arange(300) % 2}), path, compression="none")
    content = path.read_bytes()
    path.write_bytes(content[:4] + content[4 + cut :])
    with pytest.raises(InputError, match=r"rows\.parquet' cannot be read"):
        read(path, ["a", "y"])


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=30))
def test_every_whole_number_becomes_the_nearest_float(numbers):
    rows = to_rows([pa.array(numbers, "int64")], 0, len(numbers))
    assert rows[:, 0].tolist() == [float(number) for number in numbers]
