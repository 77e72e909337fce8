"""Pages of Parquet files become rows: Arrow, which reads any file, is the referee."""

from __future__ import annotations

import io
import itertools
import pathlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.errors import InputError
from separatrix.loops import columns as loops
from separatrix.tables import arrow, parquet
from separatrix.tables.columns import Matrices
from separatrix.tables.table import open_table
from tests import naive

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

KINDS = ("f8", "f4", "i8", "i4", "i2", "i1", "u2", "u1")


def read(path, names, *, rows=100, start=0, labelled=True):
    """What the pages give: the rows, the labels, and how the reading ended (None: with the file)."""
    width = len(names) - labelled
    found = parquet.rows_of([str(path)], names, Matrices(np.full(width, np.inf)), rows, start)
    X, y = [np.empty((0, width))], [np.empty(0)]
    while True:
        try:
            part, labels, good = next(found)
        except StopIteration as end:
            return np.concatenate(X), np.concatenate(y), end.value
        assert good
        assert len(part) <= rows
        X.append(part.copy())
        y.append(np.empty(0) if labels is None else labels)


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
            values = values * (2**47 - 3) - 2**50
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


@given(files(), st.integers(1, 300), st.integers(0, 800))
def test_pages_give_the_rows_that_arrow_reads(tmp_path_factory, file, rows, start):
    table, content = file
    path = tmp_path_factory.getbasetemp() / "pages.parquet"
    path.write_bytes(content)
    X, y, end = read(path, table.column_names, rows=rows, start=start)
    wanted, labels = expected(table, table.column_names, start)
    assert end is None
    assert np.array_equal(X, wanted)
    assert np.array_equal(y, labels)


def test_duckdb_writes_pages_that_are_read(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "rows.parquet"
    query = "SELECT i % 7 AS a, i / 3 AS b, (i // 1000) % 2 AS c, i AS d, i % 2 AS y FROM range(300000) t(i)"
    duckdb.sql(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
    names = ["d", "b", "a", "c", "y"]
    X, y, end = read(path, names, rows=10_000)
    wanted, labels = expected(pq.read_table(path), names)
    assert end is None
    assert np.array_equal(X, wanted)
    assert np.array_equal(y, labels)


def test_several_files_are_one_table(tmp_path):
    paths = [str(tmp_path / f"{k}.parquet") for k in range(3)]
    for k, path in enumerate(paths):
        pq.write_table(pa.table({"a": np.arange(5.0) + 5 * k, "y": np.arange(5) % 2}), path)
    found = list(parquet.rows_of(paths, ["a", "y"], Matrices(np.full(1, np.inf)), 4, 6))
    assert [len(X) for X, _, _ in found] == [4, 4, 1]
    assert np.concatenate([X[:, 0] for X, _, _ in found]).tolist() == list(range(6, 15))
    assert np.concatenate([y for _, y, _ in found]).tolist() == [1, 0, 1, 0, 0, 1, 0, 1, 0]


def test_more_files_than_may_be_open_are_one_table(tmp_path):
    resource = pytest.importorskip("resource")
    paths = [str(tmp_path / f"{k}.parquet") for k in range(60)]
    for k, path in enumerate(paths):
        pq.write_table(pa.table({"a": [2.0 * k, 2.0 * k + 1], "b": [0.5, 1.5]}), path)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    open_now = len(list(pathlib.Path("/dev/fd").iterdir()))
    resource.setrlimit(resource.RLIMIT_NOFILE, (open_now + 40, before[1]))
    try:
        found = list(parquet.rows_of(paths, ["a", "b"], Matrices(np.full(2, np.inf)), 50, 0))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert np.concatenate([X[:, 0] for X, _, _ in found]).tolist() == list(range(120))


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_the_page_with_a_missing_value_and_what_follows_is_left_to_arrow(tmp_path, version):
    a = np.arange(1000.0)
    table = pa.table({"a": pa.array(a, mask=a == 600), "y": np.arange(1000) % 2})
    path = tmp_path / "rows.parquet"
    pq.write_table(table, path, row_group_size=100, data_page_version=version)
    X, y, end = read(path, ["a", "y"], rows=50)
    assert end == 600
    assert np.array_equal(X[:, 0], a[:600])
    assert np.array_equal(y, np.arange(600) % 2)
    with pytest.raises(InputError, match=r"'a' \(1\), the first in row 601"):
        list(open_table(path, target="y").batches())


def test_rows_are_the_same_whether_pages_or_arrow_give_them(tmp_path):
    """The second file has an encoding that is Arrow's; a label of the third is too large for a float."""
    rng = np.random.default_rng(0)
    tables = [pa.table({"a": rng.integers(0, 9, 500), "y": rng.integers(0, 2, 500)}) for _ in range(3)]
    tables[2] = tables[2].set_column(1, "y", pa.array([2**53 + 1, 2**53 + 3] * 250))
    encodings = [None, {"a": "DELTA_BINARY_PACKED"}, None]
    for k, (table, encoding) in enumerate(zip(tables, encodings, strict=True)):
        options = {"use_dictionary": False, "column_encoding": encoding} if encoding else {}
        pq.write_table(table, tmp_path / f"{k}.parquet", **options)
        _, _, end = read(tmp_path / f"{k}.parquet", ["a", "y"])
        assert end == (None if k == 0 else 0)
        parts = list(open_table(tmp_path / f"{k}.parquet", target="y").batches())
        assert np.array_equal(np.concatenate([X[:, 0] for X, _ in parts]), table["a"].to_numpy())
        assert np.array_equal(np.concatenate([y for _, y in parts]), table["y"].to_numpy())


@pytest.mark.parametrize(
    ("column", "options"),
    [
        (pa.array(["u", "v"]), {}),
        (pa.array([True, False]), {}),
        (pa.array([1, 2], pa.uint64()), {}),
        (pa.array([1, 2], pa.uint32()), {}),
        (pa.array([1, 2], pa.decimal128(9)), {}),
        (pa.array([1, 2], pa.date32()), {}),
        (pa.array([1, 2], pa.timestamp("us")), {}),
        (pa.array([np.float16(1), np.float16(2)]), {}),
        (pa.array([1.0, None]), {}),
        (pa.array([[1.0], [2.0]]), {}),
        (pa.array([{"x": 1.0}, {"x": 2.0}]), {}),
        (pa.array([1.0, 2.0]), {"compression": "lz4"}),
        (pa.array([1.0, 2.0]), {"use_dictionary": False, "use_byte_stream_split": ["a"]}),
    ],
)
def test_what_is_not_plain_is_left_to_arrow(tmp_path, column, options):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": column, "y": [0, 1]}), path, **options)
    assert read(path, ["a", "y"])[2] == 0


def test_rows_without_labels(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": [1, 2], "b": [0.5, 0.25]}), path)
    X, y, end = read(path, ["b", "a"], labelled=False)
    assert X.tolist() == [[0.5, 1], [0.25, 2]]
    assert (y.size, end) == (0, None)


@settings(max_examples=200)
@given(files(), st.data())
def test_damage_is_never_followed_out_of_the_page(tmp_path_factory, file, data):
    """Whatever bytes are damaged, the process lives, and there are never more rows than the file had."""
    table, content = file
    damaged = bytearray(content)
    footer = 8 + int.from_bytes(content[-8:-4], "little")
    for _ in range(data.draw(st.integers(1, 5))):
        place = data.draw(st.integers(4, max(4, len(content) - footer - 1)))
        damaged[place] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "damaged.parquet"
    path.write_bytes(damaged)
    matrices = Matrices(np.full(table.num_columns - 1, np.inf))
    rows = list(parquet.rows_of([str(path)], table.column_names, matrices, 100, 0))
    assert sum(len(X) for X, _, _ in rows) <= table.num_rows


@pytest.mark.parametrize("cut", [5, 100, 400])
def test_a_file_that_ends_early_is_no_surprise(tmp_path, cut):
    """The end is there, but bytes before it are not."""
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": np.arange(300.0), "y": np.arange(300) % 2}), path, compression="none")
    content = path.read_bytes()
    path.write_bytes(content[:4] + content[4 + cut :])
    X, _, end = read(path, ["a", "y"])
    assert end == len(X) == 0


def columns_of(data, bits, size):
    """A column of codes in some bytes, for the loops, and what has to live as long."""
    content, words = np.frombuffer(bytes(data) or b"\0", dtype=np.uint8), np.arange(float(size)) * 0.5
    state = np.zeros(loops.FIELDS, dtype=np.int64)
    state[loops.KIND], state[loops.AT], state[loops.BITS] = (
        loops.CODES,
        content.ctypes.data,
        bits,
    )
    state[loops.END] = content.ctypes.data + len(data)
    state[loops.WORDS], state[loops.SIZE] = words.ctypes.data, size
    return state, (content, words)


@st.composite
def codes(draw):
    """Bits, and bytes that are runs and packed groups of codes of so many bits, or anything."""
    bits, data = draw(st.integers(0, 32)), b""
    for _ in range(draw(st.integers(0, 4))):
        if draw(st.booleans()):
            code = draw(st.integers(0, min(999, (1 << bits) - 1)))
            data += bytes([draw(st.integers(0, 20)) << 1]) + code.to_bytes((bits + 7) // 8, "little")
        else:
            groups = draw(st.integers(1, 4))
            few = draw(st.lists(st.integers(0, min(999, (1 << bits) - 1)), max_size=8 * groups))
            packed = sum(code << (k * bits) for k, code in enumerate(few))
            data += bytes([groups << 1 | 1]) + packed.to_bytes(groups * bits, "little")
    return bits, data + draw(st.binary(max_size=20))


@settings(max_examples=400)
@given(codes(), st.lists(st.integers(1, 40), min_size=1, max_size=4))
def test_any_bytes_are_codes_as_the_naive_reader_sees_them(coded, counts):
    """Also in several steps: a run may go on after the rows of one are full."""
    bits, data = coded
    size = max(1, min(1 << bits, 1000))
    wanted = naive.codes(data, bits, sum(counts), size)
    state, kept = columns_of(data, bits, size)
    found = []
    for count in counts:
        out = np.empty(count)
        if not loops.look_up(state, out):
            found = None
            break
        found += out.tolist()
    assert found == (None if wanted is None else [0.5 * code for code in wanted])
    del kept


@pytest.mark.parametrize("length", range(4, 11))
@pytest.mark.parametrize("last", [0x01, 0x3F, 0x40, 0x7F])
@pytest.mark.parametrize("bits", [0, 1, 8, 32])
def test_a_run_longer_than_any_page_leads_nowhere(length, last, bits):
    """Its length times the bits may be more than a number can hold."""
    for first in (0xFE, 0xFF):
        data = bytes([first, *[0xFF] * (length - 2), last]) + bytes(40)
        state, kept = columns_of(data, bits, max(1, min(1 << bits, 1000)))
        found = loops.look_up(state, np.empty(10_000))
        assert found == (naive.codes(data, bits, 10_000, max(1, min(1 << bits, 1000))) is not None)
        address = kept[0].ctypes.data
        assert not loops.all_there(address, address + len(data), 10_000)


@given(st.binary(max_size=80))
def test_any_bytes_are_a_header_or_none(data):
    content, facts = np.frombuffer(data or b"\0", dtype=np.uint8), np.full((10, 9), -1, dtype=np.int64)
    end = loops.page_header(content.ctypes.data, content.ctypes.data + len(data), facts)
    assert end == 0 or 0 < end - content.ctypes.data <= len(data)


@given(
    st.lists(st.booleans(), min_size=1, max_size=60), st.lists(st.integers(1, 4), min_size=1), st.booleans()
)
def test_a_missing_value_is_seen_in_packed_levels_and_in_runs(there, sizes, packed):
    data, at = b"", 0
    if packed:
        for size in itertools.cycle(sizes):
            part = there[at : at + 8 * size]
            groups = -(-len(part) // 8)
            bits = sum(1 << k for k, each in enumerate(part) if each)
            data += bytes([groups << 1 | 1]) + bits.to_bytes(groups, "little")
            at += 8 * size
            if at >= len(there):
                break
    else:
        for value, run in itertools.groupby(there):
            data += bytes([len(list(run)) << 1, value])
    content = np.frombuffer(data, dtype=np.uint8)
    address = content.ctypes.data
    assert loops.all_there(address, address + len(data), len(there)) == all(there)
    assert not loops.all_there(address, address + len(data), len(there) + 16)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=30))
def test_every_whole_number_becomes_the_nearest_float(numbers):
    values, out = np.array(numbers, dtype=np.int64), np.empty(len(numbers))
    loops.convert(loops.LONG, values.ctypes.data, out)
    assert out.tolist() == [float(number) for number in numbers]


@pytest.mark.parametrize("place", [(0, 0), (3, 3), (9, 1), (5, 4), (9, 4)])
@pytest.mark.parametrize("value", [np.nan, 11.0, -11.0])
def test_a_number_that_is_not_good_is_noticed_wherever_it_is(place, value):
    columns = np.ones((5, 10))
    columns[place[1], place[0]] = value
    batch = pa.record_batch(list(columns), names=list("abcde"))
    ((_, rows, good),) = arrow.matrices_of(batch, Matrices(np.full(5, 10.0)), 10)
    assert np.array_equal(rows, columns.T, equal_nan=True)
    assert not good
    columns[place[1], place[0]] = -10.0
    batch = pa.record_batch(list(columns), names=list("abcde"))
    ((_, _, good),) = arrow.matrices_of(batch, Matrices(np.full(5, 10.0)), 10)
    assert good
