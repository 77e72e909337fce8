"""Rows are those of the file, row names are no evidence, and the printed verify command works as printed."""

from __future__ import annotations

import itertools
import json
import random
import re
import shlex
import sqlite3

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.errors import InputError
from separatrix.files.table import open_table
from tests.run import answer, fine, refused
from tests.sheets import formula, write_workbook


def table_of(n=40, seed=0):
    """Rows of a dose, an age and a class that overlap."""
    rng = random.Random(seed)
    return [(round(rng.gauss(0, 2), 2), rng.randrange(20, 80), rng.choice("ab")) for _ in range(n)]


ROWS = table_of()


COMMA = ["x", "n", "y"]


def csv_text(head, cells, delimiter=","):
    return "\n".join(delimiter.join(map(str, row)) for row in [head, *cells]) + "\n"


# ---- row names and numbers -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (
            csv_text(['""', '"x"', '"n"', '"y"'], [(f'"{k}"', *row) for k, row in enumerate(ROWS, 1)]),
            "column1",
        ),
        (csv_text(["", "x", "n", "y"], [(k, *row) for k, row in enumerate(ROWS)]), "column1"),
        (csv_text(['"x"', '"n"', '"y"'], [(f'"r{k}"', *row) for k, row in enumerate(ROWS)], " "), "column1"),
        (csv_text(["x", "n", "y", ""], [(*row, "") for row in ROWS], ";"), "column4"),
        (csv_text(["id", "x", "n", "y"], [(k, *row) for k, row in enumerate(ROWS, 1001)]), "id"),
        (csv_text(["id", "x", "n", "y"], [(f"{k:05}", *row) for k, row in enumerate(ROWS, 1)]), "id"),
        (
            csv_text(
                ["id", *COMMA], [(k, str(x).replace(".", ","), n, y) for k, (x, n, y) in enumerate(ROWS)], ";"
            ),
            "id",
        ),
        (csv_text(["name", "x", "n", "y"], [(f"P{k:03}", *row) for k, row in enumerate(ROWS)]), "name"),
    ],
    ids=[
        "R",
        "pandas",
        "R's write.table",
        "a delimiter at the end",
        "counter",
        "with zeros",
        "among decimal commas",
        "names",
    ],
)
def test_columns_that_name_or_count_the_rows_are_left_out_and_named(tmp_path, text, note):
    path = tmp_path / "rows.csv"
    path.write_text(text)
    table = open_table(path, target="y")
    assert table.feature_names == ("x", "n")
    assert np.array_equal(table.read()[0], np.array([row[:2] for row in ROWS]))
    assert [each for each in table.notes if each.startswith(f"{note} is left out")]
    said = fine("check", path, "--target", "y")
    assert f"{note} is left out" in " ".join(said.stdout.split())


def test_columns_that_are_asked_for_stay_and_so_does_the_last(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(csv_text(["id", "x", "y"], [(k, row[0], row[2]) for k, row in enumerate(ROWS)]))
    assert open_table(path, target="y", features=["id", "x"]).feature_names == ("id", "x")
    assert open_table(path, target="y", exclude=["x"]).feature_names == ("id",)
    path.write_text(csv_text(["", "y"], [(k, row[2]) for k, row in enumerate(ROWS)]))
    assert open_table(path, target="y").feature_names == ("column1",)


@pytest.mark.parametrize("kind", ["parquet", "csv", "jsonl", "duckdb", "query"])
@pytest.mark.parametrize("broken", [None, 0, 1999, 2999])
def test_a_column_that_counts_the_rows_does_so_to_the_end(tmp_path, kind, broken):
    ids = np.arange(3000)
    if broken is not None:
        ids[broken:] += 5
    frame = pa.table({"id": ids, "x": np.sin(ids), "y": ids % 2})
    path = tmp_path / f"rows.{'csv' if kind == 'query' else kind}"
    if kind == "duckdb":
        with duckdb.connect(str(path)) as connection:
            connection.from_arrow(frame).create("t")
    else:
        form = {"jsonl": "json", "query": "csv"}.get(kind, kind)
        duckdb.from_arrow(frame).query("frame", f"COPY (FROM frame) TO '{path}' (FORMAT {form})")
    options = {"sql": "SELECT * FROM data"} if kind == "query" else {}
    counts = broken in (None, 0)
    assert open_table(path, target="y", **options).feature_names == (("x",) if counts else ("id", "x"))


def test_texts_that_name_the_rows_are_no_evidence_even_alone(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(csv_text(["id", "name", "y"], [(k, f"P{k}", row[2]) for k, row in enumerate(ROWS)]))
    assert "No feature column is left" in refused("check", path, "--target", "y")
    assert open_table(path, target="y", features=["name"]).encoding.n_features == 39


def test_texts_of_which_none_is_repeated_name_even_a_few_rows(tmp_path):
    """Six plants named a1 to a6 were called separable by their names."""
    path = tmp_path / "rows.csv"
    for n in range(3, 10):
        path.write_text(csv_text(["plant", "x", "y"], [(f"a{k}", *ROWS[k][::2]) for k in range(n)]))
        table = open_table(path, target="y")
        assert table.feature_names == ("x",)
        assert table.notes == (
            f"plant is left out: {n} different texts in {n} rows name the rows. --features keeps it.",
        )
        assert len(open_table(path, target="y", features=["plant", "x"]).feature_names) == n
    path.write_text(csv_text(["plant", "x", "y"], [(f"a{k // 2}", *ROWS[k][::2]) for k in range(3)]))
    assert open_table(path, target="y").feature_names == ("plant=a1", "x")


def test_few_rows_are_too_few_to_tell_a_counter_from_a_measurement(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(csv_text(["dose", "x", "y"], [(k, *row[::2]) for k, row in enumerate(ROWS[:9])]))
    assert open_table(path, target="y").feature_names == ("dose", "x")


def test_texts_that_differ_in_blanks_or_capitals_alone_are_named(tmp_path):
    path = tmp_path / "rows.csv"
    cells = [
        (k % 3, "ab"[k % 2].upper() if k > 7 else "ab"[k % 2], "No" if k == 5 else "no") for k in range(12)
    ]
    path.write_text(csv_text(["x", "light", "ill"], cells))
    said = " ".join(fine("check", path, "--target", "ill").stdout.split())
    assert "light: 'A' and 'a' seem to mean the same" in said
    assert "ill: 'No' and 'no' seem to mean the same" in said


def test_a_level_that_is_seen_once_is_named(tmp_path):
    path = tmp_path / "rows.csv"
    cells = [
        (row[0], "dark" if k == 7 else "sunny" if k % 2 else "shady", row[2]) for k, row in enumerate(ROWS)
    ]
    path.write_text(csv_text(["x", "light", "y"], cells))
    said = " ".join(fine("check", path, "--target", "y").stdout.split())
    assert "light: a value that occurs in only one row separates that row: 'dark'." in said
    assert "only one row" not in fine("check", path, "--target", "y", "--where", "light <> 'dark'").stdout


# ---- row numbers -----------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.sampled_from(["1,2,a", "3,4,b", "3,,a", '5,6,"b"', '7,8,"a\nb"', ""]), min_size=2, max_size=30
    ),
    st.booleans(),
    st.sampled_from([None, "x > 2"]),
)
def test_places_are_those_of_the_file(tmp_path_factory, lines, header, where):
    """Quotes, blank lines, cells of several lines, missing values and conditions: a slow reader agrees."""
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    lines = ["1,2,a", "3,4,b", *lines]
    path.write_text(("x,n,y\n" if header else "") + "".join(f"{line}\n" for line in lines))
    condition = where if header or where is None else where.replace("x", "column1")
    table = open_table(path, target="y" if header else "column3", missing="drop", where=condition)
    expected, row, number = [], 0, 1 + header
    for line in lines:
        cells = line.split(",")
        if line:
            row += 1
            if "" not in cells and (where is None or float(cells[0]) > 2):
                expected.append((row, number))
        number += 1 + line.count("\n")
    X, _ = table.read()
    places = table.places(list(range(len(X))))
    assert [(place.row, place.line or place.row) for place in places] == expected
    identities = list(itertools.islice(table.identities(), len(X)))
    assert identities == [(row, None) for row, _ in expected]


def test_places_go_on_over_several_files(tmp_path):
    for name, rows in (("1", "x,y\n1,0\n2,1\n"), ("2", "x,y\n3,0\n\n4,1\n")):
        (tmp_path / f"part{name}.csv").write_text(rows)
    table = open_table(tmp_path / "part*.csv", target="y", where="x <> 2")
    words = [place.words for place in table.places([0, 1, 2])]
    assert words[0] == f"row 1 (line 2 of {tmp_path / 'part1.csv'})"
    assert words[1:] == [
        f"row {row} (line {line} of {tmp_path / 'part2.csv'})" for row, line in ((3, 2), (4, 4))
    ]


def test_lines_of_libsvm_files_skip_blanks_and_comments(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("# rows\n1 1:1\n\n  -1 1:2\n \t\n1 1:3 # three\n")
    assert [place.words for place in open_table(path).places([0, 1, 2])] == [
        "row 1 (line 2)",
        "row 2 (line 4)",
        "row 3 (line 6)",
    ]
    path.write_text("1 1:1\n-1 1:2\n")
    assert [place.words for place in open_table(path).places([1])] == ["row 2"]


def test_lines_of_arff_files_skip_blanks_and_comments(tmp_path):
    path = tmp_path / "rows.arff"
    path.write_text("@relation r\n@attribute a real\n@attribute y {0,1}\n@data\n1,0\n\n% two\n2,1\n3,1\n")
    table = open_table(path, target="y", where="a <> 2")
    assert [place.words for place in table.places([0, 1])] == ["row 1 (line 5)", "row 3 (line 9)"]


@pytest.mark.parametrize(("top", "header"), [(0, True), (3, True), (0, False), (3, False)])
def test_lines_of_sheets_are_those_that_a_spreadsheet_numbers(tmp_path, top, header):
    path, names = tmp_path / "rows.xlsx", [("a", "y")] if header else []
    write_workbook(path, {"one": [*names, (1, 0), (2, 1), (3, 1)]}, top=top)
    table = open_table(path, target="y" if header else "column2")
    lines = [place.line or place.row for place in table.places([0, 2])]
    assert lines == [top + len(names) + 1, top + len(names) + 3]


@pytest.mark.parametrize("kind", ["xlsx", "arff", "csv"])
def test_rows_of_a_query_have_no_lines(tmp_path, kind):
    path = tmp_path / f"rows.{kind}"
    if kind == "xlsx":
        write_workbook(path, {"one": [("a", "y"), (1, 0), (2, 1), (3, 1)]}, top=2)
    else:
        head = "@relation r\n@attribute a real\n@attribute y real\n@data\n" if kind == "arff" else "a,y\n"
        path.write_text(head + "1,0\n2,1\n3,1\n")
    table = open_table(path, target="y", sql="SELECT * FROM data WHERE a > 1")
    assert [place.words for place in table.places([0, 1])] == ["row 1", "row 2"]


def test_every_answer_counts_the_rows_of_the_file(tmp_path):
    """Rows 2 and 5 of the file prove the overlap, whatever is left out before them."""
    path, model, out = tmp_path / "rows.csv", tmp_path / "m.skops", tmp_path / "out.csv"
    path.write_text("patient,x,n,y\nA,,1,a\nB,3,1,a\nC,9,5,b\nD,1,1,\nE,3,1,b\nF,0,0,a\n")
    options = ["--target", "y", "--row-names", "patient", "--missing", "drop", "--where", "x < 9"]
    found = answer("check", path, *options)
    assert found["rows_counted_from"] == 1
    named = {(each["row"], each["line"], each["name"]) for each in found["witness_rows"]}
    assert named == {(2, 3, "B"), (5, 6, "E")}
    assert "2 of 5 rows were left out by the condition" not in found["data"]["notes"]
    page = tmp_path / "report.html"
    said = " ".join(fine("check", path, *options, "--report", page).stdout.split())
    assert "2 3 B a" in said
    assert "5 6 E b" in said
    assert "Rows are counted from 1." in said
    shown = " ".join(re.sub("<[^>]*>", " ", page.read_text("utf-8")).split())
    assert "2 3 B a" in shown
    assert "row 0" not in shown
    fine("fit", path, *options, "--model", "soft-margin", "--output", model)
    fine("predict", model, path, "--missing", "drop", "--row-names", "patient", "--output", out)
    rows = [line.split(",")[:2] for line in out.read_text().splitlines()]
    assert rows == [['"row"', '"name"'], ["2", '"B"'], ["3", '"C"'], ["4", '"D"'], ["5", '"E"'], ["6", '"F"']]


def test_how_many_rows_were_left_out_and_why_is_always_said(tmp_path):
    path = tmp_path / "rows.csv"
    cells = [
        ("NA" if k % 10 == 0 else row[0], row[1], "" if k == 3 else row[2]) for k, row in enumerate(ROWS)
    ]
    path.write_text(csv_text(["x", "n", "y"], cells))
    young = sum(row[1] < 60 for row in ROWS)
    lacking = sum(k % 10 == 0 or k == 3 for k, row in enumerate(ROWS) if row[1] < 60)
    options = ["--target", "y", "--where", "n < 60", "--missing", "drop"]
    for said in (
        fine("check", path, *options).stdout,
        fine("fit", path, *options, "--max-iter", "3").stdout,
        fine("learn", path, *options).stderr,
    ):
        words = " ".join(said.split())
        assert f"{40 - young} of 40 rows were left out by the condition." in words
        assert f"{lacking} of {young} rows were left out because they lack a value: x (" in words
    np.savez(tmp_path / "rows.npz", X=[[1.0], [np.nan], [3.0]], y=[0, 1, 1])
    assert "lacks values, the first in row 2." in refused("check", tmp_path / "rows.npz")
    assert "'missing' is for tables with named columns" in refused(
        "check", tmp_path / "rows.npz", "--missing", "drop"
    )


def test_errors_name_the_row_of_the_file(tmp_path):
    path, model = tmp_path / "rows.csv", tmp_path / "m.skops"
    path.write_text("x,n,y\n,1,a\n1,1,a\n2,1,b\ninf,2,b\n")
    drop = ["--target", "y", "--missing", "drop"]
    for command in (["check"], ["fit"], ["fit", "--scale"], ["fit", "--max-iter", "1"], ["learn"]):
        assert "infinity: row 4 (line 5), column 'x'" in refused(command[0], path, *command[1:], *drop), (
            command
        )
    good = tmp_path / "good.csv"
    good.write_text("x,n\n1,1\n2,2\n")
    fine("fit", path, *drop, "--where", "isfinite(x)", "--output", model)
    assert "infinity: row 4 (line 5)" in refused("predict", model, path, "--missing", "drop")
    path.write_text("x,n,y\n,1,0.5\n1,1,0.5\n2,1,1\n")
    assert "in row 2 (line 3)" in refused("check", path, *drop)
    assert "'x' (1), the first in row 1 (line 2)" in refused("check", path, "--target", "y")


# ---- missing codes, text, overrides ----------------------------------------------------------------------


def test_missing_codes_never_make_categories_of_numbers(tmp_path):
    path = tmp_path / "rows.csv"
    for mark in (".", "-", "NA", "NULL", "?", "n/a", "#N/A", ""):
        cells = [(mark if k % 4 else row[0], row[1], row[2]) for k, row in enumerate(ROWS)]
        path.write_text(csv_text(["x", "n", "y"], cells))
        assert "lacks values in 'x' (30), the first in row 2 (line 3)" in refused(
            "check", path, "--target", "y"
        )
        X, _ = open_table(path, target="y", missing="drop").read()
        assert X.tolist() == [list(row[:2]) for row in ROWS[::4]]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_marks_among_labels_that_are_numbers_are_missing(tmp_path, kind):
    """SAS writes a point for a missing value; among words, "none" is a class like any other."""
    path = tmp_path / f"rows.{kind}"
    for mark, others, missing in ((".", "01", True), ("None", "01", True), ("none", ["mild", "1"], False)):
        labels = [others[0], mark, others[1], others[0]]
        frame = pa.table({"x": [1.5, 2.5, 0.5, 4.0], "y": labels})
        if kind == "parquet":
            pq.write_table(frame, path)
        else:
            path.write_text(csv_text(["x", "y"], zip(*frame.to_pydict().values(), strict=True)))
        if missing:
            with pytest.raises(InputError, match=r"lacks values in 'y' \(1\)"):
                open_table(path, target="y").read()
        table = open_table(path, target="y", missing="drop")
        kept = [label for label in labels if not missing or label != mark]
        assert list(map(str, table.read()[1])) == kept
        assert sorted(map(str, table.classes)) == sorted({*kept})
        assert open_table(path, target="y", text=["y"]).read()[1].tolist() == labels


@pytest.mark.parametrize("names", [None, "n"])
def test_codes_of_missing_labels_count_in_parquet_files(tmp_path, names):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"x": [1.5, 2, 3, 4], "y": [*"abua"], "n": [*"pqqr"]}), path)
    options = {"target": "y", "features": ["x"], "na": ["u"], "row_names": names}
    with pytest.raises(InputError, match=r"lacks values in 'y' \(1\)"):
        open_table(path, **options).read()
    assert open_table(path, **options, missing="drop").read()[1].tolist() == [*"aba"]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_codes_that_are_named_are_missing(tmp_path, kind):
    path = tmp_path / f"rows.{kind}"
    cells = [
        (-9 if k == 2 else row[0], "unknown" if k == 4 else str(row[1]), row[2]) for k, row in enumerate(ROWS)
    ]
    if kind == "csv":
        path.write_text(csv_text(["x", "n", "y"], cells))
    else:
        x, n, y = zip(*cells, strict=True)
        pq.write_table(pa.table({"x": pa.array(x, pa.float64()), "n": n, "y": y}), path)
    assert "row 5" in refused("check", path, "--target", "y")
    assert "--na" in refused("check", path, "--target", "y")
    table = open_table(path, target="y", na=["-9", "unknown"], missing="drop")
    X, _ = table.read()
    assert X.tolist() == [list(row[:2]) for k, row in enumerate(ROWS) if k not in (2, 4)]
    assert table.encoding.na == ("-9", "unknown")
    again = open_table(path, encoding=table.encoding, missing="drop")
    assert np.array_equal(again.read()[0], X)


def test_an_option_for_lists_may_be_given_several_times_and_names_may_have_commas(tmp_path):
    path = tmp_path / "rows.csv"
    cells = [(-9 if k == 2 else -8 if k == 4 else row[0], *row[1:]) for k, row in enumerate(ROWS)]
    path.write_text(csv_text(['"x, z"', "n", "y"], cells))
    codes = ["--na=-9", "--na=-8", "--missing", "drop"]
    assert answer("check", path, "--target", "y", *codes)["data"]["rows"] == 38
    found = answer("check", path, "--target", "y", *codes, "--features", '"x, z"', "--features", "n")
    assert list(found["data"]["columns"]) == ["x, z", "n"]
    assert list(answer("check", path, "--target", "y", *codes, "--exclude", '"x, z"')["data"]["columns"]) == [
        "n"
    ]


def test_a_query_has_rows_of_its_own_and_says_so(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(csv_text(["x", "n", "y"], [(*row[:2], int(row[2] == "a")) for row in ROWS]))
    found = answer("check", path, "--target", "y", "--sql", "FROM data WHERE n < 60 ORDER BY x")
    assert any("Rows are those of the query's answer" in note for note in found["data"]["notes"])
    assert not any("line" in each for each in found["witness_rows"])
    assert {*open_table(path, target="y", sql="FROM data").classes.tolist()} == {0, 1}
    assert open_table(path, target="y", sql="FROM data").classes.dtype == np.int64


def test_text_is_text_where_it_is_asked_for(tmp_path):
    path, model = tmp_path / "rows.csv", tmp_path / "m.skops"
    path.write_text(csv_text(["zip", "x", "y"], [(f"0{k % 3}123", *row[::2]) for k, row in enumerate(ROWS)]))
    names = open_table(path, target="y", text=["zip"]).feature_names
    assert names == ("zip=01123", "zip=02123", "x")
    fine("fit", path, "--target", "y", "--text", "zip", "--output", model)
    assert len(fine("predict", model, path).stdout.splitlines()) == 41
    path.write_text("zip,x\n07123,1\n")
    assert "07123" in refused("predict", model, path)


def test_decimal_and_thousands_override_what_the_columns_say(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text('x,n,y\n"1,234",5,a\n"2,500",6,b\n"7",2020,a\n')
    assert "--decimal ',' or --thousands" in refused("check", path, "--target", "y")
    for options, first in (
        ({"decimal": ","}, 1.234),
        ({"thousands": ","}, 1234.0),
        ({"decimal": "."}, 1234.0),
    ):
        table = open_table(path, target="y", **options)
        assert table.read()[0].tolist()[0] == [first, 5.0]
        assert table.read()[0].tolist()[2] == [7.0, 2020.0]
    path.write_text("x;n;y\n1,5;1.234;a\n2,5;5.678;b\n")
    assert open_table(path, target="y").read()[0].tolist() == [[1.5, 1234.0], [2.5, 5678.0]]
    assert "but row 1 (line 2) has '1,5'" in refused("check", path, "--target", "y", "--decimal", ".")
    with pytest.raises(InputError, match="'decimal' parameter"):
        open_table(path, decimal="x")
    with pytest.raises(InputError, match="'thousands' parameter"):
        open_table(path, thousands=",", decimal=",")


@pytest.mark.parametrize(
    ("cell", "value"),
    [("1,5", 1.5), (".", None), ("NA", None), ("1,234,567", 1234567.0), (" ", None), ("oops", "")],
)
@pytest.mark.parametrize("where", [None, "n >= 0"])
def test_all_cells_tell_how_numbers_are_written_not_only_the_first(tmp_path, cell, value, where):
    path, model = tmp_path / "rows.csv", tmp_path / "m.skops"
    cells = [(k % 50, k % 7, k % 2) for k in range(5000)]
    cells[4000] = (f'"{cell}"', 3, 1)
    path.write_text(csv_text(["x", "n", "y"], cells))
    path.with_name("counter.csv").write_text(
        csv_text(["x", "n", "y"], [(k, *r[1:]) for k, r in enumerate(cells[:4000])] + cells[4000:4001])
    )
    if value != "":  # also where the first cells make it a column that counts the rows
        assert open_table(path.with_name("counter.csv"), target="y").feature_names == ("x", "n")
    options = [] if where is None else ["--where", where]
    if value == "":
        message = refused("check", path, "--target", "y", *options)
        assert "Column 'x'" in message
        assert "but row 4,001 (line 4,002) has 'oops'" in message
        return
    table = open_table(path, target="y", missing="drop", where=where)
    X, y = table.read()
    expected = [row[:2] for row in cells]
    expected[4000:4001] = [] if value is None else [(value, 3)]
    assert np.array_equal(X, np.array(expected, dtype=float))
    assert len(y) == table.n_rows == len(X)
    assert table.places([4000])[0].row == (4002 if value is None else 4001)
    written = {1.5: "x: decimal comma.", 1234567.0: "x: thousands comma."}
    assert (written.get(value) in table.notes) == (value in written)
    fine("fit", path, "--target", "y", "--missing", "drop", "--max-iter", "1", "--output", model, *options)
    assert len(fine("predict", model, path, "--missing", "drop").stdout.splitlines()) == len(X) + 1


def test_what_looks_like_a_fraction_is_thousands_if_a_row_further_down_says_so(tmp_path):
    path = tmp_path / "rows.csv"
    for height in (3_000, 300_000):
        cells = [*[(f"{k % 9 + 1}.250", k % 2) for k in range(height)], ("1.234,5", 1)]
        path.write_text(csv_text(["x", "y"], cells, ";"))
        assert open_table(path, target="y", decimal=",").read()[0][0] == 1250.0
        assert open_table(path, target="y").read()[0][0] == 1250.0


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl", "sqlite", "duckdb"])
def test_every_kind_of_table_reads_decimal_commas(tmp_path, kind):
    path, model = tmp_path / f"rows.{kind}", tmp_path / "m.skops"
    x, n, y = (
        [f"{row[0]}".replace(".", ",") for row in ROWS],
        [row[1] for row in ROWS],
        [row[2] for row in ROWS],
    )
    frame = pa.table({"x": x, "n": n, "y": y})
    if kind == "csv":
        path.write_text(csv_text(["x", "n", "y"], zip(x, n, y, strict=True), ";"))
    elif kind == "sqlite":
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE t (x TEXT, n INTEGER, y TEXT)")
            connection.executemany("INSERT INTO t VALUES (?, ?, ?)", list(zip(x, n, y, strict=True)))
        connection.close()
    elif kind == "duckdb":
        with duckdb.connect(str(path)) as connection:
            connection.from_arrow(frame).create("t")
    else:
        copy = f"COPY (FROM frame) TO '{path}' (FORMAT {kind.removesuffix('l')})"
        duckdb.from_arrow(frame).query("frame", copy)
    table = open_table(path, target="y")
    assert np.array_equal(table.read()[0], np.array([row[:2] for row in ROWS]))
    assert table.notes == ("x: decimal comma.",)
    above = open_table(path, target="y", where="x > 1").read()[0]
    assert np.array_equal(above, np.array([row[:2] for row in ROWS if row[0] > 1]))
    fine("fit", path, "--target", "y", "--output", model)
    plain = tmp_path / "plain.csv"
    plain.write_text(csv_text(["n", "x"], [row[1::-1] for row in ROWS]))
    same = [fine("predict", model, each, "--scores").stdout for each in (path, plain)]
    assert same[0] == same[1]


def test_a_model_refuses_another_unit_and_decides_what_is_ambiguous(tmp_path):
    first, second, model = tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "m.skops"
    first.write_text("x;n;y\n1,5;3 mg;a\n2,25;4 mg;b\n")
    fine("fit", first, "--target", "y", "--output", model)
    second.write_text("x;n\n1.500;3 mg\n")
    assert "the point may be a decimal sign or separate thousands" in refused("predict", model, second)
    fine("predict", model, second, "--decimal", ".")
    second.write_text("x;n\n1,500;3 mg\n")
    assert open_table(second, encoding=open_table(first, target="y").encoding).read()[0].tolist() == [
        [1.5, 3.0]
    ]
    for cell, here in (("3 g", "in g"), ("3", "without a unit")):
        second.write_text(f"x;n\n1,500;{cell}\n")
        assert f"numbers in mg in the table that was read first; in {str(second)!r} it is {here}" in refused(
            "predict", model, second
        )


# ---- the printed command ---------------------------------------------------------------------------------

HEAD, THREE = ["x", "n", "y"], [row[1:] for row in ROWS]


def with_x(cells, head=HEAD, delimiter=","):
    """The rows with other cells in the first column."""
    return csv_text(head, [(cell, *row) for cell, row in zip(cells, THREE, strict=True)], delimiter)


X = [row[0] for row in ROWS]
COMMAS = with_x([str(x).replace(".", ",") for x in X], delimiter=";")
QUERY = "SELECT x * 2 AS z, y FROM data WHERE n < 60"
VERIFY = {
    "plain": (with_x(X), []),
    "condition": (with_x(X), ["--where", "n < 60 AND y <> 'it''s'"]),
    "missing": (with_x(["" if k == 3 else x for k, x in enumerate(X)]), ["--missing", "drop"]),
    "codes": (with_x([-9 if k == 3 else x for k, x in enumerate(X)]), ["--na=-9,.", "--missing", "drop"]),
    "features": (with_x(X), ["--features", "n"]),
    "exclude": (with_x(X), ["--exclude", "n"]),
    "commas": (COMMAS, []),
    "decimal": (with_x([f"{x:.3f}".replace(".", ",") for x in X], delimiter=";"), ["--decimal", ","]),
    "thousands": (with_x([f"1,{k + 100}" for k in range(40)], delimiter=";"), ["--thousands", ","]),
    "points": (with_x([f"1.{k + 100}" for k in range(40)], delimiter=";"), ["--decimal", ","]),
    "codes one by one": (
        with_x([-9 if k == 3 else -8 if k == 5 else x for k, x in enumerate(X)]),
        ["--na=-9", "--na=-8", "--missing", "drop"],
    ),
    "text": (with_x([k % 3 for k in range(40)]), ["--text", "x"]),
    "names": (with_x([f"P{k}" for k in range(40)], ["id", *HEAD[1:]]), ["--row-names", "id"]),
    "query": (COMMAS, ["--sql", QUERY]),
    "query of codes": (with_x(X), ["--sql", "FROM data", "--na", str(X[0]), "--missing", "drop"]),
    "no intercept": (with_x(["abc"[k % 3] for k in range(40)]), ["--no-intercept"]),
    "pairwise": (with_x(X).replace("a\n", "c\n", 9), ["--multiclass", "pairwise"]),
}


def printed(result):
    line = next(line for line in result.stderr.splitlines() if "Check it with: " in line)
    program, *words = shlex.split(line.partition("Check it with: ")[2])
    assert program == "separatrix"
    return words


@pytest.mark.parametrize("case", VERIFY)
@pytest.mark.parametrize("name", ["rows.csv", "-it's my data.csv"])
def test_the_printed_verify_command_works_as_printed(tmp_path, monkeypatch, case, name):
    monkeypatch.chdir(tmp_path)
    text, options = VERIFY[case]
    (tmp_path / name).write_text(text)
    proof = "proof.json" if name == "rows.csv" else "-my proof.json"
    result = fine("check", *options, "--target", "y", f"--certificate={proof}", "--", name)
    assert "The certificate holds." in fine(*printed(result)).stdout
    found = json.loads(
        fine("check", *options, "--target", "y", f"--certificate={proof}", "--json", "--", name).stdout
    )
    assert shlex.split(found["verify"])[1:] == printed(result)


def test_the_printed_verify_command_works_for_other_kinds_of_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    features, y = (
        np.array([row[:2] for row in ROWS], dtype=float),
        np.array([row[2] == "a" for row in ROWS]).astype(int),
    )
    np.savez("rows.npz", X=features, y=y)
    np.save("rows.npy", np.column_stack([features, y]))
    (tmp_path / "rows.svm").write_text(
        "".join(f"{b} 1:{r[0]} 2:{r[1]}\n" for r, b in zip(ROWS, y, strict=True))
    )
    frame = pa.table({"x": features[:, 0], "n": features[:, 1], "y": y})
    with duckdb.connect("rows.duckdb") as connection:
        connection.execute("CREATE TABLE t AS FROM frame; CREATE TABLE u AS FROM frame")
    pq.write_table(frame, "rows.parquet")
    text = csv_text(["x", "n", "y"], ROWS)
    (tmp_path / "part1.csv").write_text(text)
    (tmp_path / "part2.csv").write_text(text)
    for arguments in (
        ["rows.npz"],
        ["rows.npy", "--target", "3"],
        ["rows.svm"],
        ["rows.parquet", "--target", "y", "--where", "n > 30"],
        ["rows.duckdb", "--target", "y", "--table", "u"],
        ["part*.csv", "--target", "y"],
        ["--target", "y", "--sql", "SELECT * FROM 'rows.parquet' WHERE x > 0"],
    ):
        result = fine("check", *arguments, "--certificate", "proof.json")
        assert "The certificate holds." in fine(*printed(result)).stdout, arguments
    result = fine("check", "-", "--target", "y", "--certificate", "proof.json", stdin=text)
    assert "The certificate holds." in fine(*printed(result), stdin=text).stdout


# ---- files that strangers bring --------------------------------------------------------------------------


def de(x, places=2):
    return f"{x:.{places}f}".replace(".", ",")


COLUMNS = ["level", "label", "row", "cell", "shape", "times", "k", "step", "y"]
# The text of a file, options, and the first row of the matrix, a word of the notes, or of the refusal.
BROUGHT = {
    "columns called as those of our queries": (
        csv_text(COLUMNS, [("ab"[k % 2], *[k % 7 + j for j in range(7)], r[2]) for k, r in enumerate(ROWS)]),
        {},
        [0, 0, 1, 2, 3, 4, 5, 6],
    ),
    "years as names": (csv_text(["x", "2020", "y"], ROWS), {}, list(ROWS[0][:2])),
    "no names, a missing value first": ("NA,1,a\n2,3,b\n4,5,a\n", {"missing": "drop"}, [2, 3]),
    "no names, words first": ("u,1,a\nv,3,b\nu,5,a\n", {}, [0, 1]),
    "an empty column": (
        csv_text(["x", "none", "y"], [(r[0], "", r[2]) for r in ROWS]),
        {},
        "none is left out: it has",
    ),
    "powers of ten": (
        with_x([f"{x:.3e}".replace(".", ",") for x in X], delimiter=";"),
        {},
        [float(f"{X[0]:.3e}"), ROWS[0][1]],
    ),
    "blanks for nothing": (
        with_x([" " if k == 5 else de(x) for k, x in enumerate(X)], delimiter=";"),
        {},
        "'x' \\(1\\), the first in row 6 \\(line 7\\)",
    ),
    "blanks around numbers": (with_x([f"  {x} " for x in X]), {}, list(ROWS[0][:2])),
    "brackets for a minus": (
        with_x(["(3.5)" if k == 5 else abs(x) for k, x in enumerate(X)]),
        {},
        "row 6 \\(line 7\\) has '\\(3.5\\)'",
    ),
    "below what can be measured": (
        with_x(["<0.5" if k == 5 else x for k, x in enumerate(X)]),
        {},
        "row 6 \\(line 7\\) has '<0.5'",
    ),
    "per cent and shares": (with_x([0.3 if k == 5 else f"{k % 9}%" for k in range(40)]), {}, "has '0.3'"),
    "several units": (with_x(["3 g" if k == 5 else f"{k % 9} mg" for k in range(40)]), {}, "has '3 g'"),
    "thousands beyond all floats": (
        with_x([f"9.007.199.254.740.99{k % 2 + 2}" for k in range(40)], delimiter=";"),
        {},
        "'x' .* has a whole number beyond 2\\*\\*53, 9007199254740993, which would be rounded",
    ),
    "large numbers that are floats": (
        with_x(["9007199254740994 kg"] * 40),
        {},
        [9007199254740994.0, ROWS[0][1]],
    ),
    "ordinals": (with_x([["1st", "2nd", "3rd"][k % 3] for k in range(40)]), {}, [0, 0, ROWS[0][1]]),
    "spans": (with_x([["20-29", "30-39", "40+"][k % 3] for k in range(40)]), {}, [0, 0, ROWS[0][1]]),
    "truth": (with_x(["TRUE" if k % 2 else "FALSE" for k in range(40)]), {}, [0, ROWS[0][1]]),
    "German days": (
        with_x([f"{k % 28 + 1:02}.03.2021" for k in range(40)], delimiter=";"),
        {},
        "is a date or time",
    ),
    "times": (with_x([f"{k % 24}:30" for k in range(40)]), {}, "is a date or time"),
    "hexadecimal": (with_x([f"{7 * k:04x}" for k in range(40)]), {"text": ["x"]}, "only one row.*40 in all"),
    "Swiss": (
        with_x([f"{1000 * k % 7000:,.2f}".replace(",", "'") for k in range(40)]),
        {},
        "x: thousands apostrophe",
    ),
    "thousands as a German spreadsheet shows them": (
        with_x([f"{37 * k:,}".replace(",", ".") for k in range(20, 60)], delimiter=";"),
        {},
        "has '1.036' in row 9 \\(line 10\\): the point may be a decimal sign",
    ),
    "thousands that are named": (
        with_x([f"{137 * k:,}".replace(",", ".") for k in range(20, 60)], delimiter=";"),
        {"thousands": "."},
        [2740, ROWS[0][1]],
    ),
    "decimal commas between tabs": (
        csv_text(["x", "y"], [(de(r[0]), r[2]) for r in ROWS], "\t"),
        {},
        [ROWS[0][0]],
    ),
    "decimal commas between commas": (
        csv_text(["x", "y"], [(de(r[0]), r[2]) for r in ROWS]),
        {},
        "line 2: 3 cells, but the first line has 2",
    ),
    "a few decimal commas between commas": (
        csv_text(["x", "y"], [("7,5", "a"), ("3,25", "b"), ("12,5", "a")]),
        {},
        "line 2: 3 cells, but the first line has 2",
    ),
    "names with one delimiter more": (
        "x,y,\n1,a\n2,b\n3,a\n",
        {},
        "line 2: 2 cells, but the first line has 3",
    ),
    "an exponent of Fortran": (with_x([f"{x:.3f}D+00" for x in X]), {}, "row 1 \\(line 2\\) has "),
    "a comma further down": (
        csv_text(["x", "y"], [*[(k % 50, k % 2) for k in range(1500)], ("1,5", 1)], ";"),
        {},
        "x: decimal comma",
    ),
    "other labels than numbers": (
        with_x(X).replace("a\n", "1\n").replace("b\n", "2\n", 5),
        {},
        list(ROWS[0][:2]),
    ),
}


@pytest.mark.parametrize("case", BROUGHT)
def test_files_that_strangers_bring_are_read_or_refused(tmp_path, case):
    text, options, expected = BROUGHT[case]
    path = tmp_path / "rows.csv"
    path.write_text(text)
    target = {"target": "column3" if "no names" in case else "y"}
    if isinstance(expected, list):
        assert open_table(path, **target, **options).read()[0][0].tolist() == expected
        return
    try:
        table = open_table(path, **target, **options)
        table.read()
        words = " ".join(table.notes)
    except InputError as error:
        words = str(error)
    assert re.search(expected, words), words


@pytest.mark.parametrize("kind", ["query", "view"])
def test_rows_are_chosen_by_their_values_if_a_query_gives_them_in_another_order_each_time(tmp_path, kind):
    duckdb = pytest.importorskip("duckdb")
    path, query = tmp_path / "rows.duckdb", "SELECT x, count(*) AS n, x % 2 AS y FROM t GROUP BY x"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT hash(i) % 50000 AS x FROM range(400000) AS r(i)")
        connection.execute(f"CREATE VIEW v AS {query}")
    asked = {"sql": query} if kind == "query" else {"table": "v"}
    for where in ("x < 1000", "n > 8"):
        table = open_table(path, target="y", features=["x", "n"], where=where, **asked)
        for _ in range(3):
            X, y = table.read()
            assert np.array_equal(X[:, 0] % 2, y)
            assert np.all(X[:, 0] < 1000) if where == "x < 1000" else np.all(X[:, 1] > 8)
            assert len(X) == table.n_rows


@pytest.mark.parametrize(("where", "left"), [("false", 0), ("true", 3000), ("a < 100", 100)])
def test_the_note_counts_all_rows_of_the_file_also_if_the_condition_needs_none_of_them(tmp_path, where, left):
    path = tmp_path / "rows.csv"
    path.write_text("a,b,y\n" + "".join(f"{k},{k % 7},{k % 2}\n" for k in range(3000)))
    table = open_table(path, target="y", where=where)
    assert f"{3000 - left:,} of 3,000 rows were left out by the condition." in table.notes
    assert table.n_rows == left


def test_a_totals_row_can_be_left_out_before_numbers_are_judged(tmp_path):
    path = tmp_path / "sums.csv"
    rows = [f"{k},{k * k % 7},{k}.5,{k % 2}" for k in range(12)]
    path.write_text("\n".join(["id,a,b,y", *rows, "Total,sum: 34,-?-,mean 0.5"]) + "\n")
    with pytest.raises(InputError):
        open_table(path, target="y").read()
    table, without = open_table(path, target="y", where="id <> 'Total'"), tmp_path / "without.csv"
    without.write_text("\n".join(["id,a,b,y", *rows]) + "\n")
    plain = open_table(without, target="y")
    assert table.feature_names == plain.feature_names == ("a", "b")
    for found, expected in zip(table.read(), plain.read(), strict=True):
        assert found.dtype == expected.dtype
        assert found.tolist() == expected.tolist()
    with pytest.raises(InputError, match="row 13"):  # it is named as in the file
        open_table(path, target="y", where="id <> '3'").read()


@pytest.mark.parametrize("titles", [["Trial 7"], ["Trial 7, ward 3", "", "2026"]])
def test_title_rows_can_be_skipped(tmp_path, titles):
    rows = [(k * k % 7, k / 2, k % 2) for k in range(12)]
    table = ["a,b,y", *(",".join(map(str, row)) for row in rows)]
    paths = tmp_path / "titled.csv", tmp_path / "titled.xlsx"
    paths[0].write_text("\n".join([*titles, *table]) + "\n")
    named = [[title, None, None] for title in titles]
    write_workbook(paths[1], {"s": [*named, ["a", "b", "y"], *rows]})
    for path in paths:
        found = open_table(path, target="y", skip=len(titles))
        X, y = found.read()
        assert [*map(tuple, np.column_stack([X, y]))] == rows
        assert found.places([0])[0].line == len(titles) + 2
        options = ["--target", "y", "--skip", len(titles), "--certificate", tmp_path / "proof.json"]
        fine(*shlex.split(answer("check", path, *options)["verify"])[1:])
    (tmp_path / "d.svm").write_text("1 1:2\n0 1:3\n")
    assert "is for CSV and Excel" in refused("check", tmp_path / "d.svm", "--skip", "1")


def test_the_euro_sign_in_latin_1_is_noticed(tmp_path):
    path = tmp_path / "prices.csv"
    path.write_bytes("price,y\n5€,0\n7€,1\n".encode("cp1252"))
    assert "probably cp1252" in refused("check", path, "--target", "y", "--encoding", "latin-1")
    fine("check", path, "--target", "y", "--encoding", "cp1252")


def test_a_name_with_a_comma_can_be_excluded(tmp_path):
    path = tmp_path / "comma.csv"
    path.write_text('"a,b",c,y\n1,4,0\n2,9,1\n3,1,0\n')
    found = answer("check", path, "--target", "y", "--exclude", '"a,b"')
    assert found["data"]["features"] == 1


def test_a_numeric_id_that_is_different_in_each_row_is_noted(tmp_path):
    path = tmp_path / "ids.csv"
    for name, step, noted in (("Id", 17, True), ("Id", 0, False), ("patient_id", 17, True), ("x", 17, False)):
        rows = [f"{100 + k * step % 101},{k % 3},{k % 2}" for k in range(20)]
        path.write_text("\n".join([f"{name},a,y", *rows]) + "\n")
        notes = open_table(path, target="y").notes
        assert any("identify rows" in note for note in notes) is noted


def test_formulas_without_saved_results_are_named(tmp_path):
    path = tmp_path / "book.xlsx"
    write_workbook(path, {"s": [("a", "y"), (1.5, 0), (formula("1+1", 2), 1), (formula("1+2"), 0)]})
    with pytest.raises(InputError, match="1 have formulas without saved results, such as A4"):
        open_table(path, target="y").read()
    write_workbook(path, {"s": [("a", "y"), (1.5, 0), (formula("1+1", 2), 1), (None, 0)]})
    with pytest.raises(InputError) as told:
        open_table(path, target="y").read()
    assert "saved results" not in str(told.value)
