"""Files of spreadsheets, statistics programs and libraries: the same numbers as from any other file."""

from __future__ import annotations

import bz2
import datetime as dt
import gzip
import json
import lzma
import os
import re
import shlex
import subprocess
import sys
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyreadstat
import pytest
import python_calamine as calamine
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from separatrix.cli.app import app
from separatrix.errors import InputError, MissingPackageError
from separatrix.files.formats import arff
from separatrix.files.table import open_table
from tests.files.test_files import HEADER, LABELS, MATRIX, NAMES, ROWS, _frame
from tests.sheets import date, error, formula, write_workbook

LIGHTS = ("dark", "shady", "sunny")
ARFF = (
    "% the plants of a garden\n@relation plants\n\n@attribute light {sunny, shady, dark}\n@ATTRIBUTE x real\n"
    "@attribute wet {false,true}\n@attribute y integer\n@data\n"
    + "".join(f"{a}, {b}, {str(c).lower()}, {d}\n" for a, b, c, d in ROWS)
)


def _write_stat(path, kind):
    """The plants as a statistics program keeps them: categories are numbers with labels."""
    import pandas as pd

    codes = [float(LIGHTS.index(row[0])) for row in ROWS]
    frame = pd.DataFrame(
        {
            "light": [row[0] for row in ROWS] if kind in ("xpt", "por") else codes,
            "x": [row[1] for row in ROWS],
            "wet": [str(row[2]).lower() for row in ROWS],
            "y": [float(row[3]) for row in ROWS],
        }
    )
    labels = {"light": dict(enumerate(LIGHTS))}
    if kind == "sav":
        pyreadstat.write_sav(frame, str(path), variable_value_labels=labels)
    elif kind == "zsav":
        pyreadstat.write_sav(frame, str(path), variable_value_labels=labels, compress=True)
    elif kind == "dta":
        pyreadstat.write_dta(frame, str(path), variable_value_labels=labels)
    elif kind == "old.dta":
        pyreadstat.write_dta(frame, str(path), variable_value_labels=labels, version=8)
    elif kind == "por":
        pyreadstat.write_por(frame, str(path))
    else:
        pyreadstat.write_xport(frame, str(path))


def _write(path, kind):
    if kind == "xlsx":
        write_workbook(path, {"plants": [HEADER, *ROWS], "empty": []}, top=2, left=1)
    elif kind == "arrow":
        with pa.OSFile(str(path), "w") as file, pa.ipc.new_file(file, _frame().schema) as writer:
            writer.write_table(_frame(), max_chunksize=3)
    elif kind == "arrows":
        with pa.OSFile(str(path), "w") as file, pa.ipc.new_stream(file, _frame().schema) as writer:
            writer.write_table(_frame(), max_chunksize=3)
    elif kind == "feather":
        light = pa.array([row[0] for row in ROWS]).dictionary_encode()
        feather.write_feather(_frame().set_column(0, "light", light), str(path), compression="zstd")
    elif kind == "arff":
        path.write_text(ARFF)
    else:
        _write_stat(path, kind)


KINDS = [
    "xlsx", "arrow", "arrows", "feather", "arff", "sav", "zsav", "dta", "old.dta", "por", "xpt",
]  # fmt: skip


def _upper(kind):
    """Portable files of SPSS know capital letters only."""
    return str.upper if kind == "por" else str


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_gives_the_same_numbers(tmp_path, kind):
    path = tmp_path / f"plants.{kind}"
    try:
        _write(path, kind)
    except (NotImplementedError, TypeError, ValueError) as problem:  # this release cannot write it any more
        pytest.skip(str(problem))
    named = _upper(kind)
    table = open_table(path, target=named("y"))
    X, y = table.read()
    assert [name.casefold() for name in table.feature_names] == list(NAMES)
    assert np.array_equal(X, MATRIX)
    assert np.array_equal(y, LABELS)
    assert y.dtype == np.int64
    assert table.n_rows == 4
    assert table.classes.tolist() == [0, 1]
    assert open_table(path, target=named("y"), where=f"{named('x')} > 0").n_rows == 3
    rest = [X for X, _ in table.batches(1, start=2)]
    assert np.array_equal(np.concatenate(rest), MATRIX[2:])
    renamed = tmp_path / "renamed.csv"  # what a file is its content tells
    if kind != "arff":
        os.rename(path, renamed)
        assert np.array_equal(open_table(renamed, target=named("y")).read()[0], MATRIX)


PACKINGS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda content: pa.compress(content, "zstd", asbytes=True),
}


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("kind", ["feather", "arff", "sav", "svm", "csv", "parquet", "jsonl"])
def test_every_kind_of_table_may_be_compressed(tmp_path, kind, packing):
    plain = tmp_path / f"plants.{kind}"
    if kind in ("csv", "parquet", "jsonl"):
        from tests.files.test_files import _write as write_known

        write_known(plain, kind)
    elif kind == "svm":
        plain.write_text("1 1:0.5\n0 2:1.5\n")
    else:
        _write(plain, kind)
    packed = tmp_path / f"plants.{kind}.{packing}"
    packed.write_bytes(PACKINGS[packing](plain.read_bytes()))
    target = "label" if kind == "svm" else "y"
    X, y = open_table(packed, target=target).read()
    expected, labels = open_table(plain, target=target).read()
    assert abs(X - expected).max() == 0.0
    assert np.array_equal(y, labels)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_durations_are_refused_by_name_and_a_query_sees_their_numbers(tmp_path, unit):
    path = tmp_path / "rows.feather"
    lasting = pa.array([5, None, 7], pa.int64()).cast(pa.duration(unit))
    feather.write_feather(pa.table({"d": lasting, "y": [0, 1, 1]}), str(path))
    with pytest.raises(InputError, match=rf"'d' is of type duration\[{unit}\].*'sql'"):
        open_table(path, target="y")
    table = open_table(path, target="y", missing="drop", sql="SELECT d, y FROM data")
    assert table.read()[0].ravel().tolist() == [5.0, 7.0]


def test_the_commands_read_a_sheet(tmp_path):
    book = tmp_path / "plants.xlsx"
    sheets = {"first": [("a",), (1,)], "plants": [HEADER, *ROWS]}
    write_workbook(book, sheets)
    run = CliRunner()
    several = run.invoke(app, ["check", str(book), "--target", "y"])
    assert several.exit_code == 2
    assert "has 2 sheets with rows: first, plants. Name one with --sheet." in several.output
    proof, model = str(tmp_path / "proof.json"), str(tmp_path / "model.skops")
    given = [str(book), "--sheet", "plants"]
    for command in (
        ["check", *given, "--target", "y", "--certificate", proof],
        ["verify", proof, *given],
        ["fit", *given, "--target", "y", "-o", model],
        ["learn", *given, "--target", "y"],
        ["predict", model, *given, "--target", "y"],
    ):
        done = run.invoke(app, command)
        assert done.exit_code == 0, done.output
        if command[0] == "check":
            printed = re.search("separatrix (verify .*)", done.output)[1]
            assert "--sheet plants" in printed
            assert run.invoke(app, shlex.split(printed)).exit_code == 0


def test_a_sheet_that_is_not_there_names_its_neighbour(tmp_path):
    path = tmp_path / "book.xlsx"
    write_workbook(path, {"plants": [HEADER, *ROWS]})
    with pytest.raises(InputError, match=r"There is no sheet 'plant'. Did you mean 'plants'"):
        open_table(path, target="y", sheet="plant")
    (tmp_path / "rows.csv").write_text("a,y\n1,0\n2,1\n")
    with pytest.raises(InputError, match="'sheet' is for Excel files"):
        open_table(tmp_path / "rows.csv", sheet="plants")


SHEETS = {
    "an error": ([("a", "y"), (1.5, 0), (error("#DIV/0!"), 1)], r"lacks values in 'a' \(1\)"),
    "not computed": ([("a", "y"), (1.5, 0), (formula("1+1"), 1)], r"lacks values in 'a' \(1\)"),
    "a date": ([("a", "y"), (date(43831), 0), (date(43832), 1)], "'a' is a date"),
    "mixed": (
        [("a", "y"), (1.5, 0), (2, 1), ("oops", 1)],
        r"'a' .* holds numbers, but row 3 \(line 4\) has 'oops'",
    ),
    "a title": ([("Results",), ("a", "b", "y"), (1, 2, 0), (3, 4, 1)], "names only 1 of 3 columns"),
    "twice": ([("a", "a", "y"), (1, 2, 0), (3, 4, 1)], "more than one column named 'a'"),
    "empty": ([], "is empty"),
    "names only": ([("a", "y")], "no rows"),
}


@pytest.mark.parametrize("case", SHEETS)
def test_a_bad_sheet_says_what_to_do(tmp_path, case):
    rows, message = SHEETS[case]
    path = tmp_path / "book.xlsx"
    write_workbook(path, {"one": rows})
    with pytest.raises(InputError, match=message):
        open_table(path, target="y").read()


def test_a_column_of_mixed_cells_can_be_left_out(tmp_path):
    path = tmp_path / "book.xlsx"
    write_workbook(path, {"one": [("a", "b", "y"), (1.5, "x", 0), (2, 7, 1), ("oops", date(1), 1)]})
    X, _ = open_table(path, sql="SELECT y, y * 2 AS b FROM data", target="y").read()
    assert X[:, 0].tolist() == [0.0, 2.0, 2.0]
    with pytest.raises(InputError, match=r"b is left out: 3 different texts in 3 rows"):
        open_table(path, target="y", exclude=["a"])


def test_formulas_count_as_what_was_computed(tmp_path):
    path = tmp_path / "book.xlsx"
    write_workbook(path, {"one": [("a", "y"), (formula("0.1+0.2", repr(0.1 + 0.2)), 0), (3e-25, 1)]})
    table = open_table(path, target="y")
    assert table.read()[0][:, 0].tolist() == [0.1 + 0.2, 3e-25]
    assert table.notes == ()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=64), min_size=1, max_size=30))
def test_numbers_of_sheets_and_arff_are_read_as_python_reads_them(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("book") / "book.xlsx"
    write_workbook(path, {"one": [("a",), *((value,) for value in values)]})
    found = calamine.CalamineWorkbook.from_path(str(path)).get_sheet_by_name("one").to_python()
    assert [row[0] for row in found[1:]] == values
    text = path.with_suffix(".arff")
    text.write_text("@relation r\n@attribute a real\n@data\n" + "".join(f"{value!r}\n" for value in values))
    assert open_table(text, features=["a"]).read()[0][:, 0].tolist() == values


WORDS = st.text(st.sampled_from("ab1.? é"), max_size=4)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=20))
def test_plain_cells_are_split_as_those_beside_quotes(rows):
    for row in rows:
        line = ",".join(row).strip()
        assert arff.split_line(line, "here") == arff.split_line(f"{line},'q'", "here")[:-1]


def test_arff_rows_may_be_quoted_and_incomplete(tmp_path):
    path = tmp_path / "rows.arff"
    path.write_text(
        "@relation 'two words'\n@attribute 'the \\'a\\'' numeric\n@attribute \"c d\" {'x, y', z}\n"
        "@attribute y {0,1}\n@data\n"
        "+1.5,'x, y',1\n% a comment\n2,'x, y',0\n3, z, 1\n?,z,1\n"
    )
    table = open_table(path, target="y", missing="drop")
    X, y = table.read()
    assert table.feature_names == ("the 'a'", "c d=z")
    assert X.tolist() == [[1.5, 0], [2, 0], [3, 1]]
    assert y.tolist() == ["1", "0", "1"]


BAD_ARFF = {
    "unknown level": (
        "@attribute a {x,y}\n@data\nz\n",
        "line 4: attribute 'a' holds nominal values: x, y, but",
    ),
    "ragged": ("@attribute a real\n@attribute b real\n@data\n1,2\n1\n", "line 6: 1 cells for 2 attributes"),
    "no number": (
        "@attribute a real\n@data\n1\noops\n",
        "line 5: attribute 'a' holds numbers, but this line has 'oops'",
    ),
    "no data": ("@attribute a real\n", "no line @data"),
    "sparse": ("@attribute a real\n@data\n{0 1}\n", "line 4: sparse rows cannot be read"),
    "relational": ("@attribute a relational\n@data\n1\n", "of type 'relational'"),
    "quote": ("@attribute a string\n@data\n'x\n", "quotes do not match"),
}


@pytest.mark.parametrize("case", BAD_ARFF)
def test_a_bad_arff_file_says_what_to_do(tmp_path, case):
    content, message = BAD_ARFF[case]
    path = tmp_path / "rows.arff"
    path.write_text("@relation r\n" + content)
    with pytest.raises(InputError, match=message):
        open_table(path)


def test_codes_of_missing_values_are_missing_and_labels_in_part_are_said(tmp_path):
    import pandas as pd

    path = tmp_path / "survey.sav"
    frame = pd.DataFrame(
        {
            "income": [10.0, 99.0, 30.0, 40.0],
            "agree": [1.0, 2.0, 3.0, 7.0],
            "twice": [1.0, 2.0, 1.0, 2.0],
            "day": [dt.date(2020, 1, 2)] * 4,
            "y": [0.0, 1.0, 0.0, 1.0],
        }
    )
    pyreadstat.write_sav(
        frame,
        str(path),
        variable_value_labels={
            "agree": {1: "not at all", 7: "very"}, "income": {99: "refused"}, "twice": {1: "same", 2: "same"}
        },
        missing_ranges={"income": [99]},
    )  # fmt: skip
    with pytest.raises(InputError, match=r"lacks values in 'income' \(1\)"):
        open_table(path, target="y", exclude=["day"]).read()
    with pytest.raises(InputError, match="'day' is a date"):
        open_table(path, target="y").read()
    table = open_table(path, target="y", exclude=["day"], missing="drop")
    X, _ = table.read()
    assert X[:, :2].tolist() == [[10, 1], [30, 3], [40, 7]]
    assert any(
        "agree: only some values have labels (1 = not at all, 7 = very)" in note for note in table.notes
    )
    assert table.describe()["columns"]["twice"] == ["1 same", "2 same"] or X.shape[1] == 3


def _write_idx(path, array):
    kinds = {"u1": 8, "i1": 9, "i2": 11, "i4": 12, "f4": 13, "f8": 14}
    header = bytes([0, 0, kinds[array.dtype.str[1:]], array.ndim])
    sizes = b"".join(size.to_bytes(4, "big") for size in array.shape)
    content = header + sizes + array.astype(array.dtype.newbyteorder(">")).tobytes()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


@pytest.mark.parametrize("kind", ["u1", "i1", "i2", "i4", "f4", "f8"])
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_images_are_read_with_the_labels_beside_them(tmp_path, kind, ending):
    images = np.arange(24).reshape(4, 3, 2).astype(kind)
    path = tmp_path / f"train-images-idx3-ubyte{ending}"
    _write_idx(path, images)
    with pytest.raises(InputError, match="no file of labels"):
        open_table(path, target="label")
    assert open_table(path).target_name is None
    beside = tmp_path / "train-labels-idx1-ubyte.gz"
    _write_idx(beside, np.array([7, 3, 7, 3], dtype="u1"))
    table = open_table(path)
    X, y = table.read()
    assert np.array_equal(X, images.reshape(4, 6))
    assert y.tolist() == [7, 3, 7, 3]
    assert table.notes == (f"The labels are from {str(beside)!r}.",)
    _write_idx(beside, np.array([7, 3, 7], dtype="u1"))
    with pytest.raises(InputError, match=r"4 images, but"):
        open_table(path)
    with pytest.raises(InputError, match="holds labels"):
        open_table(beside)


def test_images_cut_short_are_refused(tmp_path):
    path = tmp_path / "images"
    _write_idx(path, np.zeros((3, 2), dtype="u1"))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(InputError, match=r"is damaged: .* 3 x 2 numbers, .* 17 bytes"):
        open_table(path)


def test_labels_of_images_that_are_fractions_stay_apart(tmp_path):
    path, beside = tmp_path / "t-images-idx3-ubyte", tmp_path / "t-labels-idx1-ubyte"
    _write_idx(path, np.zeros((4, 2, 2), dtype="u1"))
    _write_idx(beside, np.array([0.25, 0.5, 0.25, 1], dtype="f4"))
    assert open_table(path).read()[1].tolist() == [0.25, 0.5, 0.25, 1]
    _write_idx(beside, np.array([0, 1, np.nan, 1], dtype="f8"))
    with pytest.raises(InputError, match="lacks values, the first in row 3"):
        open_table(path).read()
    beside.write_bytes(beside.read_bytes()[:-1])
    with pytest.raises(InputError, match="is damaged"):
        open_table(path)
    _write_idx(tmp_path / "t-labels-idx1-ubyte.gz", np.zeros(4, dtype="u1"))
    beside.unlink()
    packed = tmp_path / "t-labels-idx1-ubyte.gz"
    packed.write_bytes(packed.read_bytes()[:-9])
    with pytest.raises(InputError, match="damaged"):
        open_table(path)


@pytest.mark.parametrize(
    "content",
    [
        b"\0\0\x08\x03\0\0\0\x01\0\0",
        # 2**32 images of 65,536 x 65,536 numbers: as many as none, counted in 64 bits
        b"\0\0\x08\x03\xff\xff\xff\xff" + 2 * b"\0\x01\0\0",
        b"\0\0\x08\x04\0\0\0\x05" + b"\0\x01\0\0" * 2 + b"\0\0\xff\xff"[::-1],
    ],
)
def test_images_that_say_what_cannot_be_are_refused(tmp_path, content):
    (tmp_path / "images").write_bytes(content)
    with pytest.raises(InputError, match="is damaged"):
        open_table(tmp_path / "images")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (b"1,yes\n2,no\n% the end, without a newline", [[1.0, 1.0], [2.0, 0.0]]),
        (b"1,yes\r\n2,no\r\n", [[1.0, 1.0], [2.0, 0.0]]),
        (b"1,yes\n% gr\xfcn\n2,no\n", [[1.0, 1.0], [2.0, 0.0]]),
        (b"1,yes\r2,no\r3,no\n4,yes\n", None),
    ],
    ids=["a comment last", "CR LF", "a comment in Latin-1", "CR within"],
)
def test_every_line_of_arff_is_a_row_or_none(tmp_path, rows, expected):
    path = tmp_path / "rows.arff"
    path.write_bytes(b"@relation r\n@attribute a real\n@attribute b {no,yes}\n@data\n" + rows)
    if expected is None:
        with pytest.raises(InputError, match="line 5"):
            open_table(path)
    else:
        assert open_table(path).read()[0].tolist() == expected


def test_a_damaged_archive_or_spss_file_is_named_as_such(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    pd = pytest.importorskip("pandas")
    path = tmp_path / "rows.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("rows.csv", "a,y\n1,0\n2,1\n")
    content = bytearray(path.read_bytes())
    entry = content.index(b"PK\x01\x02")
    nameless = bytearray(content)
    nameless[entry + 28 : entry + 34] = bytes([0, 0, 3, 0, 5, 0])  # the name is something else
    path.write_bytes(nameless)
    with pytest.raises(InputError):
        open_table(path)
    content[entry + 42 : entry + 46] = b"\xff\xff\xff\xff"  # where the one file begins
    path.write_bytes(content)
    with pytest.raises(InputError, match="cannot be read"):
        open_table(path)
    path = tmp_path / "rows.sav"
    pyreadstat.write_sav(
        pd.DataFrame({"aaa": [1.0, 2.0], "y": [0, 1]}), str(path), column_labels=["abcd", "y"]
    )
    path.write_bytes(path.read_bytes().replace(b"abcd", b"ab\xff\xff"))
    with pytest.raises(InputError, match="cannot be read"):
        open_table(path, target="y")


def test_names_of_columns_that_are_no_text_are_refused(tmp_path):
    path = tmp_path / "rows.arrow"
    table = pa.table({"abcd": [1.0, 2.0], "y": [0, 1]})
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)
    path.write_bytes(path.read_bytes().replace(b"abcd", b"\xaebcd"))
    with pytest.raises(InputError, match="cannot be read"):
        open_table(path, target="y")


def _write_shard(path, rows):
    import pyarrow.parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"a": rows, "y": [k % 2 for k in rows]}), path)


def test_a_folder_of_shards_is_one_table(tmp_path):
    for k in range(2):
        _write_shard(tmp_path / "data" / f"train-0000{k}-of-00002.parquet", [2.0 * k, 2.0 * k + 1])
    (tmp_path / "README.md").write_text("a card")
    assert open_table(tmp_path, target="y").read()[0][:, 0].tolist() == [0, 1, 2, 3]
    _write_shard(tmp_path / "data" / "test-00000-of-00001.parquet", [9.0])
    with pytest.raises(InputError, match=r"holds 2 tables. Name one by its pattern") as problem:
        open_table(tmp_path, target="y")
    pattern = re.search(r"'([^']*train-[^']*)'", str(problem.value))[1]
    assert open_table(pattern, target="y").n_rows == 4
    (tmp_path / "data" / "test-00000-of-00001.parquet").unlink()
    (tmp_path / "data" / "train-00001-of-00002.parquet").unlink()
    with pytest.raises(InputError, match="not complete: it has 1 of 2 files"):
        open_table(tmp_path, target="y")


def test_folders_of_other_writers(tmp_path):
    spark, keyed, empty = tmp_path / "spark", tmp_path / "keyed", tmp_path / "empty"
    for k in range(2):
        _write_shard(
            spark / f"part-0000{k}-0c1e2a34-1111-2222-3333-444455556666-c000.snappy.parquet", [float(k)]
        )
    (spark / "_SUCCESS").touch()
    assert open_table(spark, target="y").n_rows == 2
    _write_shard(keyed / "year=2020" / "part-0.parquet", [1.0])
    with pytest.raises(InputError, match="'year=2020' holds a column's value"):
        open_table(keyed, target="y")
    empty.mkdir()
    with pytest.raises(InputError, match="a directory without Parquet files"):
        open_table(empty)


@pytest.mark.parametrize("address", ["https://example.org/rows.csv", "s3://bucket/rows.parquet"])
def test_an_address_is_to_be_downloaded_first(address):
    with pytest.raises(InputError, match=r"is an address; only files are read. Download it first"):
        open_table(address)


@pytest.mark.parametrize("package", ["python_calamine", "pyreadstat"])
def test_a_reader_that_is_missing_is_named(tmp_path, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    path = tmp_path / "plants"
    _write(path, "xlsx" if package == "python_calamine" else "sav")
    with pytest.raises(MissingPackageError, match=r"needs .* pip install 'separatrix\[formats\]'"):
        open_table(path, target="y")


def test_an_archive_of_several_files_names_them(tmp_path):
    path = tmp_path / "rows.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("train.csv", "a,y\n1,0\n")
        archive.writestr("test.csv", "a,y\n1,0\n")
        archive.writestr("__MACOSX/junk", "")
    with pytest.raises(InputError, match=r"holds 2 files: train.csv, test.csv. Unpack it and name one"):
        open_table(path)


@pytest.mark.parametrize(
    "charset", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp1252", "utf-8-sig"]
)
def test_text_in_other_characters_is_read_and_said(tmp_path, charset):
    path = tmp_path / "rows.csv"
    path.write_bytes("größe,y\n1.5,0\n2.5,1\n".encode(charset))
    marked = charset in ("utf-16", "utf-32", "utf-8-sig")
    if not marked:
        with pytest.raises(InputError, match=r"not UTF-8 text"):
            open_table(path, target="y").read()
    table = open_table(path, target="y", text_encoding=None if marked else charset)
    assert table.feature_names == ("größe",)
    assert table.read()[0][:, 0].tolist() == [1.5, 2.5]
    assert bool(table.notes) == (charset != "utf-8-sig")
    assert not table.notes or "is read as" in table.notes[0]


def test_a_charset_that_cannot_be_is_refused(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes("a,y\n1,0\n2,1\n".encode("utf-16"))
    with pytest.raises(InputError, match="byte order mark of UTF-16, so it is not 'latin-1'"):
        open_table(path, text_encoding="latin-1")
    with pytest.raises(InputError, match="There is no encoding 'martian'"):
        open_table(path, text_encoding="martian")
    _write(tmp_path / "rows.feather", "feather")
    with pytest.raises(InputError, match="'text_encoding' is for text"):
        open_table(tmp_path / "rows.feather", text_encoding="latin-1")
    path.write_bytes(b"a,y\n\x81,0\n")
    with pytest.raises(InputError, match="is not text in cp1252"):
        open_table(path, text_encoding="cp1252")


def test_a_stream_of_utf_16_is_read():
    code = (
        "from separatrix.files.table import open_table; print(open_table('-', target='y').read()[0].tolist())"
    )
    for content in ("a,y\n1,0\n2,1\n".encode("utf-16"), gzip.compress(b"a,y\n1,0\n2,1\n")):
        done = subprocess.run([sys.executable, "-c", code], input=content, capture_output=True)
        assert done.stdout == b"[[1.0], [2.0]]\n", done.stderr


COMMENTS = {
    "one line": ("# made by hand\na,y\n1,0\n2,1\n", ("a",), "left out: 1"),
    "several": ("# made\n#\n\n# by hand\na,y\n1,0\n2,1\n", ("a",), "left out: 3"),
    "with quotes": ("# it's \"odd\na,y\n1,0\n2,1\n", ("a",), "left out: 1"),
    "words": ("# x, 2\na,y\n1,0\n2,1\n", ("a",), "left out: 1"),
    "delimiter": ("sep=;\na;y\n1;0\n2;1\n", ("a",), None),
    "blank": ("\n\na,y\n1,0\n2,1\n", ("a",), None),
}


@pytest.mark.parametrize("case", COMMENTS)
@pytest.mark.parametrize("text", ["", "t"])
def test_comments_before_the_names_are_left_out(tmp_path, case, text):
    """By the compiled reader and, where a column is text, by DuckDB."""
    content, names, note = COMMENTS[case]
    path = tmp_path / "rows.csv"
    if text:
        content = re.sub(r"([,;])0\n", r"\1no\n", re.sub(r"([,;])1\n", r"\1yes\n", content))
    path.write_text(content)
    table = open_table(path, target="y")
    X, y = table.read()
    assert table.feature_names == names
    assert X[:, 0].tolist() == [1.0, 2.0]
    assert y.tolist() == (["no", "yes"] if text else [0, 1])
    assert table.n_rows == 2
    assert table.classes.tolist() == y.tolist()
    assert table.notes == () if note is None else note in table.notes[0]


def test_a_comment_is_not_a_line_of_names(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("# a,b,y\n1,3,0\n2,4,1\n")
    assert open_table(path).feature_names == ("column1", "column2", "column3")


def test_describe_has_the_notes(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("# one\na,y\n1,0\n2,1\n")
    assert json.loads(json.dumps(open_table(path, target="y").describe()))["notes"]


def test_dates_of_arff_are_refused_by_name_and_never_read_as_numbers(tmp_path):
    path = tmp_path / "rows.arff"
    rows = "2021-03-01,1,0\n2021-03-02,2,1\n"
    head = "@relation r\n@attribute d date{}\n@attribute a real\n@attribute y {{0,1}}\n@data\n"
    for pattern in ("", " yyyy-MM-dd", " 'yyyy-MM-dd'"):
        path.write_text(head.format(pattern) + rows)
        with pytest.raises(InputError, match="'d' is a date or time"):
            open_table(path, target="y")
        assert open_table(path, target="y", exclude=["d"]).read()[0].tolist() == [[1], [2]]
    path.write_text(head.format(" yyyyMMdd") + rows.replace("-", ""))
    with pytest.raises(InputError, match="line 2: the date pattern 'yyyyMMdd' cannot be read"):
        open_table(path, target="y")
    path.write_text(head.format("") + rows.replace("-", ""))
    with pytest.raises(InputError, match="line 6: attribute 'd' holds dates, but this line has '20210301'"):
        open_table(path, target="y")
