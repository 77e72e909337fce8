"""Every kind of file gives the same numbers, and every bad file an error that says what to do."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import sqlite3
import subprocess
import sys
import tracemalloc
import zipfile

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

import separatrix as sx
from separatrix.errors import InputError, LabelError, MissingPackageError
from separatrix.estimators.online import learn
from separatrix.files.arrow import to_rows
from separatrix.files.csv import csv_files
from separatrix.files.encoding import Encoding
from separatrix.files.formats import libsvm
from separatrix.files.source import detect
from separatrix.files.table import open_table
from separatrix.loops import text as text_loops

HEADER = ("light", "x", "wet", "y")
ROWS = [("sunny", 1.5, True, 1), ("shady", -2.0, False, 0), ("sunny", 0.25, False, 0), ("dark", 3.0, True, 1)]
NAMES = ("light=shady", "light=sunny", "x", "wet=true")
MATRIX = np.array([[0, 1, 1.5, 1], [1, 0, -2, 0], [0, 1, 0.25, 0], [0, 0, 3, 1.0]])
LABELS = np.array([1, 0, 0, 1])


def _csv(delimiter=","):
    cells = [HEADER, *((a, b, str(c).lower(), d) for a, b, c, d in ROWS)]
    return "\n".join(delimiter.join(map(str, row)) for row in cells) + "\n"


def _frame():
    return pa.table({name: [row[k] for row in ROWS] for k, name in enumerate(HEADER)})


def _write(path, kind):
    if kind in ("csv", "tsv"):
        path.write_text(_csv("\t" if kind == "tsv" else ","))
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(_csv().encode()))
    elif kind == "csv.bz2":
        path.write_bytes(bz2.compress(_csv().encode()))
    elif kind == "csv.zst":
        path.write_bytes(pa.compress(_csv().encode(), "zstd", asbytes=True))
    elif kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("rows.csv", _csv())
    elif kind == "parquet":
        import pyarrow.parquet as pq

        pq.write_table(_frame(), path)
    elif kind == "jsonl":
        path.write_text("".join(json.dumps(dict(zip(HEADER, row, strict=True))) + "\n" for row in ROWS))
    elif kind == "sqlite":
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE plants (light TEXT, x REAL, wet TEXT, y INTEGER)")
            rows = [(a, b, str(c).lower(), d) for a, b, c, d in ROWS]
            connection.executemany("INSERT INTO plants VALUES (?, ?, ?, ?)", rows)
        connection.close()
    else:
        with duckdb.connect(str(path)) as connection:
            connection.from_arrow(_frame()).create("plants")


KINDS = ["csv", "tsv", "csv.gz", "csv.bz2", "csv.zst", "zip", "parquet", "jsonl", "sqlite", "duckdb"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_gives_the_same_numbers(tmp_path, kind):
    path = tmp_path / f"plants.{kind}"
    _write(path, kind)
    table = open_table(path, target="y")
    X, y = table.read()
    assert table.feature_names == NAMES
    assert np.array_equal(X, MATRIX)
    assert np.array_equal(y, LABELS)
    assert y.dtype == np.int64
    assert table.n_rows == 4
    assert table.classes.tolist() == [0, 1]
    assert table.describe()["columns"]["light"] == ["dark", "shady", "sunny"]
    rest = [X for X, _ in table.batches(1, start=2)]
    assert np.array_equal(np.concatenate(rest), MATRIX[2:])


def test_rows_and_columns_can_be_chosen(tmp_path):
    path = tmp_path / "plants.csv"
    _write(path, "csv")
    assert open_table(path, target="y", where="x > 0").n_rows == 3
    assert open_table(path, target="y", exclude=["light", "wet"]).feature_names == ("x",)
    assert open_table(path, target="y", features=["x", "light"]).feature_names[0] == "x"
    assert len(open_table(path, target="y", intercept=False).feature_names) == 6
    X, _ = open_table(path, sql="SELECT x * 2 AS twice, y FROM data ORDER BY x", target="y").read()
    assert X[:, 0].tolist() == [-4.0, 0.5, 3.0, 6.0]
    X, y = open_table(None, sql=f"SELECT x FROM '{path}'").read()
    assert y is None
    assert X.shape == (4, 1)
    _write(tmp_path / "plants.duckdb", "duckdb")
    _write(tmp_path / "plants.sqlite", "sqlite")
    for kind in ("duckdb", "sqlite"):
        assert open_table(tmp_path / f"plants.{kind}", sql="SELECT x FROM plants WHERE y = 1").n_rows == 2
        with pytest.raises(InputError, match="Did you mean 'plants'"):
            open_table(tmp_path / f"plants.{kind}", table="plant")


def test_a_pattern_reads_the_files_in_order(tmp_path):
    for k in (2, 1):
        (tmp_path / f"part{k}.csv").write_text(f"a,y\n{k},0\n{k}.5,1\n")
    X, _ = open_table(tmp_path / "part*.csv", target="y").read()
    assert X[:, 0].tolist() == [1.0, 1.5, 2.0, 2.5]


def test_standard_input_is_read(tmp_path):
    code = (
        "from separatrix.files.table import open_table; print(open_table('-', target='y').read()[0].tolist())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input="a,y\n1,0\n2,1\n", capture_output=True, text=True
    )
    assert done.stdout == "[[1.0], [2.0]]\n"


def test_another_file_is_read_with_the_same_columns(tmp_path):
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    first.write_text("a,light,y\n1,sunny,0\n2,dark,1\n")
    second.write_text("light,a\nsunny,5\nsunny,6\n")
    learnt = Encoding.from_dict(json.loads(json.dumps(open_table(first, target="y").encoding.as_dict())))
    X, y = open_table(second, encoding=learnt).read()
    assert X.tolist() == [[5.0, 1.0], [6.0, 1.0]]
    assert y is None
    second.write_text("light,a\npurple,5\n")
    with pytest.raises(InputError, match="purple"):
        open_table(second, encoding=learnt)


def test_every_row_that_is_read_is_looked_at_for_levels_that_the_model_does_not_know(tmp_path):
    """Also one that lacks a value in a column that the model does not use."""
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    first.write_text("a,light\n1,sunny\n2,dark\n")
    second.write_text("a,light,b\n5,sunny,1\n6,purple,\n")
    with pytest.raises(InputError, match="purple"):
        open_table(second, encoding=open_table(first).encoding, missing="drop")


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**22), 10**22), min_size=1)
)
def test_numbers_in_text_are_read_as_python_reads_them(values):
    exact = [v for v in values if v == float(v)]  # whole numbers that are no floats are refused
    text = [format(v, "") for v in exact] + [f"{float(v):.20e}" for v in values]
    piece = np.frombuffer("".join(f"1 1:{cell}\n" for cell in text).encode(), dtype=np.uint8)
    _, lines, *_ = libsvm._read_piece(piece)
    assert lines.data.tolist() == [float(cell) for cell in text]
    piece = np.frombuffer("".join(f"{cell},1\n" for cell in text).encode(), dtype=np.uint8)
    matrix, _, odd = csv_files.read_piece(piece, ord(","), np.array([[0, 0], [-1, 0]]), 1)
    assert odd is None
    assert matrix[:, 0].tolist() == [float(cell) for cell in text]


@pytest.mark.parametrize("zero_based", [False, True])
@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress])
def test_libsvm_files_are_read_as_scikit_learn_reads_them(tmp_path, zero_based, compress):
    matrix = sparse.random_array((300, 40), density=0.2, rng=np.random.default_rng(0), format="lil")
    matrix[0, 0] = 1.0
    matrix = matrix.tocsr()
    labels = np.random.default_rng(1).integers(0, 3, 300)
    buffer = io.BytesIO()
    dump_svmlight_file(matrix, labels, buffer, zero_based=zero_based, comment="rows")
    path = tmp_path / "rows.svm"
    path.write_bytes(compress(buffer.getvalue()))
    X, y = open_table(path).read()
    referee, _ = load_svmlight_file(io.BytesIO(buffer.getvalue()), n_features=40, zero_based=zero_based)
    assert abs(X - referee).max() == 0.0
    assert np.array_equal(y, labels)
    wide, _ = open_table(path, encoding=Encoding(width=50, first=0 if zero_based else 1)).read()
    assert wide.shape == (300, 50)


def test_arrays_are_read(tmp_path):
    X, y = np.arange(12.0).reshape(4, 3), np.array([0, 1, 0, 1])
    np.savez(tmp_path / "rows.npz", X=X, y=y)
    np.save(tmp_path / "rows.npy", np.column_stack([X, y]))
    sparse.save_npz(tmp_path / "sparse.npz", sparse.csr_matrix(X))
    for name, target in (("rows.npz", None), ("rows.npy", "4")):
        found, labels = open_table(tmp_path / name, target=target).read()
        assert np.array_equal(found, X)
        assert np.array_equal(labels, y)
    assert np.array_equal(open_table(tmp_path / "sparse.npz").read()[0].toarray(), X)


@pytest.mark.parametrize("kind", ["csv", "parquet", "svm"])
def test_data_larger_than_memory_are_mapped_and_decided_alike(tmp_path, kind):
    problem = sx.datasets.make_separable(n_rows=3000, n_columns=8, margin=0.02, random_state=0)
    path = tmp_path / f"rows.{kind}"
    names = [f"x{k}" for k in range(8)]
    if kind == "svm":
        dump_svmlight_file(problem.X, problem.y, str(path))
    else:
        frame = pa.table({**{n: problem.X[:, k] for k, n in enumerate(names)}, "y": problem.y})
        duckdb.from_arrow(frame).query("frame", f"COPY (FROM frame) TO '{path}' (FORMAT {kind})")
    target = "label" if kind == "svm" else "y"
    table = open_table(path, target=target)
    X, y = table.read()
    mapped, again = open_table(path, target=target, memory=50_000).read()
    values = mapped.data if kind == "svm" else mapped
    assert not values.flags.writeable
    assert np.array_equal(y, again)
    assert (abs(mapped - X).max() if kind == "svm" else np.abs(mapped - X).max()) == 0.0
    first, second = sx.Perceptron().fit(X, y), sx.Perceptron().fit(mapped, y)
    assert first.coef_.tobytes() == second.coef_.tobytes()
    assert sx.separability(mapped, y).status == "separable"
    assert sx.verify(sx.separability(mapped, y).certificate, X, y).holds


BAD = {
    "nothing": ("", "empty"),
    "ragged": ("a,b,y\n1,2,0\n3,4,1\n5,6\n", "line 4: 2 cells, but the first line has 3"),
    "text late": (
        "a,y\n" + "".join(f"{k},{k % 2}\n" for k in range(10_000)) + "oops,1\n",
        r"Column 'a' .* holds numbers, but row 10,001 \(line 10,002\) has 'oops'",
    ),
    "twice": ("a,a,y\n1,2,0\n3,4,1\n", "more than one column named 'a'"),
    "missing": ("a,b,y\n1,,0\n3,4,1\n,NA,1\n", r"'a' \(1\), 'b' \(2\), the first in row 1"),
    "date": ("a,day,y\n1,2020-01-31,0\n2,2020-02-01,1\n", "'day' is a date"),
    "identifier": ("name,y\n" + "".join(f"n{k},{k % 2}\n" for k in range(1500)), "looks like an identifier"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_table_says_what_to_do(tmp_path, case):
    content, message = BAD[case]
    path = tmp_path / "rows.csv"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        open_table(path, target="y").read()


def test_missing_values_can_be_dropped(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(BAD["missing"][0])
    X, y = open_table(path, target="y", missing="drop").read()
    assert X.tolist() == [[3.0, 4.0]]
    assert y.tolist() == [1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "Y"}, "Did you mean 'y'"),
        ({"target": "y", "exclude": ["lihgt"]}, "Did you mean 'light'"),
        ({"target": "y", "where": "x > 100"}, "no rows left"),
        ({"target": "y", "where": "x >"}, "cannot be queried"),
        ({"target": "y", "features": ["y"]}, "among the features"),
        ({"target": "y", "table": "plants"}, "SQLite and DuckDB"),
        ({"target": "y", "missing": "guess"}, "'error' or 'drop'"),
    ],
)
def test_a_bad_question_says_what_to_do(tmp_path, options, message):
    path = tmp_path / "plants.csv"
    _write(path, "csv")
    with pytest.raises(InputError, match=message):
        open_table(path, **options).read()


def test_a_target_with_one_value_is_refused(tmp_path):
    path = tmp_path / "plants.csv"
    _write(path, "csv")
    with pytest.raises(LabelError, match=r"one value \("):
        _ = open_table(path, target="y", where="x > 1").classes


def test_a_file_that_is_not_there_names_its_neighbour(tmp_path):
    _write(tmp_path / "plants.csv", "csv")
    with pytest.raises(InputError, match=r"Did you mean .*plants\.csv"):
        open_table(tmp_path / "plant.csv")
    with pytest.raises(InputError, match="No file matches"):
        open_table(tmp_path / "*.parquet")


def test_another_encoding_is_named(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes("a,y\ncafé,1\nthé,0\n".encode("latin-1"))
    with pytest.raises(InputError, match="not UTF-8"):
        open_table(path, target="y")


@pytest.mark.parametrize("name", ["bomb.csv.gz", "bomb.csv.bz2", "bomb.zip", "bomb.svm.gz"])
def test_a_bomb_is_refused(tmp_path, name):
    content = b"0" * 70_000_000
    path = tmp_path / name
    if name.endswith("zip"):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("bomb.csv", content)
    else:
        path.write_bytes(bz2.compress(content) if name.endswith("bz2") else gzip.compress(content, 9))
    with pytest.raises(InputError, match="expands to more than"):
        open_table(path).read()


def test_a_million_columns_are_only_columns(tmp_path):
    path = tmp_path / "wide.svm"
    wide = " ".join(f"{k}:1" for k in range(1, 1_000_001))
    path.write_text(f"1 {wide}\n-1 1000000:-1\n")
    tracemalloc.start()
    X, y = open_table(path).read()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100e6  # the file has 9 MB, the matrix 12 MB
    assert X.shape == (2, 1_000_000)
    assert X.nnz == 1_000_001
    assert y.tolist() == [1, -1]


def test_columns_that_no_memory_holds_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(detect, "free_memory", lambda: 10**9)
    path = tmp_path / "rows.svm"
    path.write_text("1 1:1\n-1 2:1 2000000000:1\n")
    with pytest.raises(InputError, match=r"row 2 has a column 2,000,000,000.* about 10,000,000"):
        open_table(path).read()
    with pytest.raises(InputError, match="row 2 has a column"):
        learn(open_table(path), classes=[-1, 1])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 3:1 2:1", "ascending order"),
        ("1 2:1 2:1", "ascending order"),
        ("1 99999999999:1", f"at most {text_loops.MOST_COLUMNS:,}"),
        ("1 a:1", "not 'column:value'"),
        ("1 1:x", "not 'column:value'"),
        ("spam 1:1", "not 'column:value'"),
    ],
)
def test_a_bad_libsvm_line_is_named(tmp_path, line, message):
    path = tmp_path / "rows.svm"
    path.write_text(f"1 1:1\n-1 1:2\n{line}\n")
    with pytest.raises(InputError, match=f"line 3.*{message}"):
        open_table(path).read()


def test_pickles_are_refused(tmp_path):
    path = tmp_path / "rows.npy"
    np.save(path, np.array([{"a": 1}]), allow_pickle=True)
    with pytest.raises(InputError, match="cannot be read"):
        open_table(path).read()


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    import pyarrow.parquet as pq

    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": [1.0, 2.0], "y": [0, 1]}), path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingPackageError, match=r"separatrix\[cli\]"):
        open_table(str(path), target="y")


@pytest.mark.parametrize(
    ("other", "words"),
    [({"a": [1.0]}, r"Column 'b' is double .* does not have it"), ({"a": [1.0], "b": ["x"]}, "has string")],
)
def test_parquet_files_of_different_columns_are_refused(tmp_path, other, words):
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": [1.0, 2.0], "b": [0.5, 1.0], "y": [0, 1]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({**other, "y": [1]}), tmp_path / "2.parquet")
    with pytest.raises(InputError, match=words):
        open_table(str(tmp_path / "*.parquet"), target="y")


@pytest.mark.parametrize("width", [1, 3, 4, 9])
@pytest.mark.parametrize("kinds", [["f8"], ["i8"], ["f8", "i4", "u2", "f4", "i8", "i1"]])
def test_columns_become_rows_as_numpy_transposes_them(width, kinds):
    rng = np.random.default_rng(width)
    columns = [rng.integers(0, 100, 1300).astype(kinds[k % len(kinds)]) for k in range(width)]
    batch = pa.record_batch(columns, names=[f"x{k}" for k in range(width)]).slice(7)
    assert np.array_equal(to_rows(batch.columns, 600, 1200), np.column_stack(columns)[607:1207])


def test_a_missing_number_becomes_nan():
    columns = [pa.array([1.5, 2.5]), pa.array([1, None]), pa.array([None, 1.0], "float32")]
    assert np.argwhere(np.isnan(to_rows(columns, 0, 2))).tolist() == [[0, 2], [1, 1]]


@pytest.mark.parametrize("other", [[0.5, 1.5, 2.5], [1, 2, 3]])
@pytest.mark.parametrize("where", [None, "y >= 0"])
def test_whole_numbers_that_would_be_rounded_are_refused(tmp_path, other, where):
    import pyarrow.parquet as pq

    path = tmp_path / "rows.parquet"
    # as floats, the first two would be one row with two labels
    values = {"a": other, "b": [2**53, 2**53 + 1, 0], "y": [0, 1, 1]}
    pq.write_table(pa.table(values), path)
    with pytest.raises(InputError, match=r"'b'.*beyond 2\*\*53, 9007199254740993"):
        open_table(path, target="y", where=where).read()
    pq.write_table(pa.table({**values, "b": [2**53 - 1, 1 - 2**53, 0]}), path)
    X, _ = open_table(path, target="y", where=where).read()
    assert X[:, 1].tolist() == [2**53 - 1, 1 - 2**53, 0]


def test_the_row_numbers_of_pandas_are_no_feature_unless_named(tmp_path):
    import pandas as pd

    path = tmp_path / "rows.parquet"
    pd.DataFrame({"a": [1.0, 2.0, 4.0], "y": [0, 1, 1]}, index=[7, 3, 5]).to_parquet(path)
    assert open_table(path, target="y").feature_names == ("a",)
    named = open_table(path, target="y", features=["a", "__index_level_0__"])
    assert named.read()[0].tolist() == [[1.0, 7.0], [2.0, 3.0], [4.0, 5.0]]


@pytest.mark.parametrize("end", ["csv", "parquet"])
@pytest.mark.parametrize("labels", [[3, 1, 2, 1] * 10, [0.5, 1.0, 2.0, 1.0] * 10, ["u", "v", "v", "u"] * 10])
def test_the_classes_are_the_different_labels_in_their_type(tmp_path, monkeypatch, end, labels):
    monkeypatch.setattr(csv_files, "LARGEST", 0)
    path = tmp_path / f"rows.{end}"
    duckdb.from_arrow(pa.table({"a": np.arange(40.0), "y": labels})).query("t", f"COPY t TO '{path}'")
    found = open_table(path, target="y").classes
    assert found.tolist() == sorted(set(labels))
    assert found.dtype == np.unique(labels).dtype


@pytest.mark.parametrize("largest", [0, csv_files.LARGEST])
def test_a_table_of_one_value_and_no_target_has_nothing_to_read(tmp_path, monkeypatch, largest):
    monkeypatch.setattr(csv_files, "LARGEST", largest)
    (tmp_path / "one.csv").write_text(".\nAN\n")
    with pytest.raises(InputError, match="No column is left to read"):
        list(open_table(tmp_path / "one.csv").batches())
