"""Files that were read wrongly without a word: each is now read as it was written, or refused."""

from __future__ import annotations

import bz2
import gzip
import lzma

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from separatrix.errors import InputError
from separatrix.files.table import open_table
from tests.run import run
from tests.sheets import write_workbook

BIG = 2**53


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def arff(rows, **attributes):
    head = "".join(f"@attribute {name} {kind}\n" for name, kind in attributes.items())
    return f"@relation r\n{head}@data\n{rows}"


def test_nominal_values_of_arff_that_look_like_numbers_are_text(tmp_path):
    path = write(tmp_path / "r.arff", arff("1,no\n3,yes\n2,no\n3,yes\n", a="{1,2,3}", y="{no,yes}"))
    table = open_table(path, target="y")
    assert table.feature_names == ("a=2", "a=3")
    assert table.read()[0].tolist() == [[0, 0], [0, 1], [1, 0], [0, 1]]


@pytest.mark.parametrize("large", [BIG + 1, -BIG - 1, 2**63 + 1, 10**30 + 1])
def test_whole_numbers_of_arff_are_not_rounded(tmp_path, large):
    cells = [large, large - 1, 0, 5]
    rows = "".join(f"{'+5' if cell == 5 else cell}, {k % 2}\n" for k, cell in enumerate(cells))
    path = write(tmp_path / "r.arff", arff(rows, a="numeric", y="{0,1}"))
    with pytest.raises(InputError, match=r"Column 'a' .* whole number beyond 2\*\*53.*would be rounded"):
        open_table(path, target="y").read()
    labels = open_table(path, target="a").read()[1]
    assert [int(label) for label in labels.tolist()] == cells


def test_whole_numbers_of_arff_beside_fractions_are_refused(tmp_path):
    path = write(tmp_path / "r.arff", arff(f"{BIG + 1},0\n0.5,1\n", a="numeric", y="{0,1}"))
    with pytest.raises(InputError, match=r"whole number beyond 2\*\*53, 9007199254740993, which would be"):
        open_table(path, target="y").read()


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress], ids=["gz", "bz2", "xz"])
@pytest.mark.parametrize("height", [4, 100_000])
def test_bytes_after_the_end_of_a_compressed_file_are_refused(tmp_path, pack, height):
    text = "a,t,y\n" + "".join(f"{k * k % 997},{'uv'[k % 2]},{k % 2}\n" for k in range(height))
    path = tmp_path / "rows.csv.x"
    path.write_bytes(pack(text.encode()) + b"9,u,1\n")
    with pytest.raises(InputError, match="is damaged"):
        open_table(path, target="y").read()
    # A second stream is part of the file, and zeros may fill up its end.
    path.write_bytes(pack(text.encode()) + pack(b"9,u,1\n"))
    assert open_table(path, target="y").read()[0].shape == (height + 1, 2)


@pytest.mark.parametrize("names", [("a", "a"), ("a", "A")])
def test_columns_of_parquet_files_that_are_called_alike_are_refused(tmp_path, names):
    columns = [pa.array([1.0, 2.0]), pa.array([5.0, 6.0]), pa.array([0, 1])]
    pq.write_table(pa.Table.from_arrays(columns, names=[*names, "y"]), tmp_path / "r.parquet")
    with pytest.raises(InputError, match="Every column needs a name of its own"):
        open_table(tmp_path / "r.parquet", target="y")


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_folders_that_hold_the_value_of_a_column_are_not_passed_over(tmp_path, ending):
    for key in (1, 2):
        folder = tmp_path / f"k={key}"
        folder.mkdir()
        if ending == "parquet":
            pq.write_table(pa.table({"a": [1.0 * key, 2.0], "y": [0, 1]}), folder / "r.parquet")
        else:
            rows = {"csv": f"a,y\n{key},0\n2,1\n", "jsonl": f'{{"a":{key},"y":0}}\n{{"a":2,"y":1}}\n'}
            write(folder / f"r.{ending}", rows[ending])
    with pytest.raises(InputError, match=r"partitioned: the folder 'k=2'") as refused:
        open_table(f"{tmp_path}/*/r.{ending}", target="y")
    query = str(refused.value).partition("A query reads it: ")[2].partition(". Pass")[0]
    assert open_table(None, sql=query, target="y").read()[0].tolist() == [[1, 1], [2, 1], [2, 2], [2, 2]]
    assert open_table(tmp_path / "k=1" / f"r.{ending}", target="y").feature_names == ("a",)


@pytest.mark.parametrize("reading", ["read_csv('{}')", "read_text('{}')", "glob('{}')", "'{}'"])
def test_a_view_of_a_database_reads_no_other_file(tmp_path, reading):
    other = write(tmp_path / "other.csv", "a,y\n1,0\n2,1\n")
    with duckdb.connect(str(tmp_path / "r.duckdb")) as made:
        made.execute("CREATE TABLE t AS FROM (VALUES (1, 0), (2, 1)) v(a, y)")
        made.execute("CREATE VIEW twice AS SELECT 2 * a AS a, y FROM t")
        made.execute(f"CREATE VIEW v AS FROM {reading.format(other)}")
    with pytest.raises(InputError, match="reads other files than the database"):
        open_table(tmp_path / "r.duckdb", table="v", target="y")
    assert open_table(tmp_path / "r.duckdb", table="twice", target="y").read()[0].tolist() == [[2], [4]]


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_bytes_and_dates_are_no_labels(tmp_path, kind):
    moments = pa.array([1, 2], pa.timestamp("s"))
    table = pa.table({"a": [1.0, 2.0], "b": pa.array([b"\xff", b"x"]), "d": moments, "y": [0, 1]})
    path = tmp_path / f"r.{kind}"
    if kind == "parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_file(str(path), table.schema) as out:
            out.write_table(table)
    for target, words in (("b", "is of type binary"), ("d", "is a date or time")):
        with pytest.raises(InputError, match=words):
            open_table(path, target=target, features=["a"]).read()


def test_no_cell_of_a_csv_file_that_is_written_is_a_formula(tmp_path):
    rows = write(tmp_path / "r.csv", "=a,b,y\n1,3,-2+3\n2,1,@x\n4,9,-2+3\n5,2,@x\n")
    model, out, trace = tmp_path / "m.skops", tmp_path / "out.csv", tmp_path / "trace.csv"
    fitted = run("fit", rows, "-t", "y", "-o", model, "--order", "cyclic", "--trace", trace)
    assert fitted.exit_code == 0, fitted.stderr
    assert run("predict", model, rows, "-o", out).exit_code == 0
    text = f"{out.read_text()},{trace.read_text()}".replace("\n", ",")
    cells = [cell.strip('"') for cell in text.split(",")]
    risky = [cell for cell in cells if cell[:1] in ("=", "+", "-", "@")]
    assert all(np.isfinite(float(cell)) for cell in risky)
    assert {"'-2+3", "'@x", "'=a"} <= set(cells)


GAPS = {
    "text of one level": ["x", None, "x", None, "x", "x", None, "x"],
    "text with a value of its own in each row that has one": ["a", None, "b", None, None, "c", None, None],
}


def write_column(path, cells):
    """A column of text ``s`` beside a number and labels, in a file of the kind that its ending names."""
    numbers, labels = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0], [k % 2 for k in range(8)]
    rows = pa.table({"a": numbers, "s": pa.array(cells, pa.string()), "y": labels})
    if path.suffix == ".parquet":
        pq.write_table(rows, path)
    elif path.suffix == ".arrow":
        with pa.ipc.new_file(str(path), rows.schema) as out:
            out.write_table(rows)
    elif path.suffix == ".duckdb":
        with duckdb.connect(str(path)) as made:
            made.execute("CREATE TABLE t AS FROM rows")
    elif path.suffix == ".jsonl":
        duckdb.sql(f"COPY rows TO '{path}' (FORMAT json)")
    elif path.suffix == ".xlsx":
        write_workbook(path, {"s": [("a", "s", "y"), *zip(numbers, cells, labels, strict=True)]})
    elif path.suffix == ".arff":
        lines = "".join(f"{a},{s or '?'},{y}\n" for a, s, y in zip(numbers, cells, labels, strict=True))
        write(path, arff(lines, a="numeric", s="string", y="numeric"))
    else:
        lines = (f"{a},{s or ''},{y}\n" for a, s, y in zip(numbers, cells, labels, strict=True))
        write(path, "a,s,y\n" + "".join(lines))
    return path


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "duckdb", "jsonl", "xlsx", "arff"])
@pytest.mark.parametrize("case", GAPS)
@pytest.mark.parametrize("named", [{}, {"features": ["a", "s"]}], ids=["all", "named"])
def test_a_text_column_with_gaps_is_not_lost(tmp_path, kind, case, named):
    path = write_column(tmp_path / f"r.{kind}", GAPS[case])
    lacking = GAPS[case].count(None)
    with pytest.raises(InputError, match=rf"lacks values in 's' \({lacking}\)"):
        open_table(path, target="y", **named).read()
    table = open_table(path, target="y", missing="drop", **named)
    assert table.n_rows == 8 - lacking
    assert any(note.startswith("s") for note in table.notes)


def test_a_text_column_of_one_level_is_said_to_tell_nothing(tmp_path):
    path = write_column(tmp_path / "r.csv", ["x"] * 8)
    assert (
        "s: each value is 'x', so the column does not distinguish rows." in open_table(path, target="y").notes
    )
    without = open_table(path, target="y", intercept=False)
    assert without.feature_names == ("a", "s=x")


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("inside", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("text", [False, True])
def test_names_of_two_lines_take_no_rows_with_them(tmp_path, mark, inside, end, text):
    cell = (b"u", b"v") if text else (b"5", b"7")
    rows = end.join(b"%d,%s,%d" % (k * k, cell[k % 2], k % 2) for k in range(6))
    for name in ("1.csv", "2.csv"):
        write(tmp_path / name, mark + b'"a' + inside + b'b",t,y' + end + rows + end)
    if inside == b"\r":
        with pytest.raises(InputError, match="carriage return"):
            open_table(tmp_path / "1.csv", target="y")
        return
    expected = [[k * k, k % 2 if text else 5 + 2 * (k % 2)] for k in range(6)]
    for pattern, times in ((tmp_path / "1.csv", 1), (f"{tmp_path}/?.csv", 2)):
        table = open_table(str(pattern), target="y")
        assert table.feature_names[0] == "a\nb"
        assert table.read()[0].tolist() == expected * times
    assert open_table(tmp_path / "1.csv", target="y").places([2])[0].line == 5


ODD = [
    "1_0",
    "+-5",
    "1e1_0",
    '"1\n"',
    "0x1F",
    "(5)",
    "1d3",
    " 7",
    "+7",
    "7.",
    "inf",
    '"1,5"',
    "5%",
    "oops",
    "",
    "-",
]


@pytest.mark.parametrize("cell", ODD)
@pytest.mark.parametrize("beside", ["", "u"], ids=["numbers", "beside text"])
def test_a_cell_means_the_same_in_a_short_file_and_in_a_long_one(tmp_path, cell, beside):
    def read(height):
        words = f",{beside}" if beside else ""
        lines = [f"{7 * k % 11}.5{words},{k % 2}\n" for k in range(height)]
        named = "a,t,y\n" if beside else "a,y\n"
        path = write(tmp_path / "r.csv", named + "".join(lines) + f"{cell}{words},1\n")
        try:
            table = open_table(path, target="y")
            return table.read()[0][-1].tolist(), table.feature_names, table.notes
        except InputError as error:
            said = str(error).replace(str(tmp_path), "")
            return said.replace(f"{height + 1:,}", "N").replace(f"{height + 2:,}", "N+1")

    assert read(14) == read(1499) == read(40_000)


@pytest.mark.parametrize("label", ["oops", "0.5", "1_0", "07", " 1", ".", "NA"])
def test_a_label_means_the_same_in_a_short_file_and_in_a_long_one(tmp_path, label):
    def read(height):
        lines = [f"{7 * k % 11}.5,{k % 2}\n" for k in range(height)]
        path = write(tmp_path / "r.csv", "a,y\n" + "".join(lines) + f"3,{label}\n")
        try:
            table = open_table(path, target="y")
            y = table.read()[1]
            return table.classes.tolist(), y[:4].tolist(), y[-1], table.notes
        except InputError as error:
            said = str(error).replace(str(tmp_path), "")
            return said.replace(f"{height + 1:,}", "N").replace(f"{height + 2:,}", "N+1")

    assert read(14) == read(1499) == read(40_000)


def test_a_text_column_that_begins_with_a_thousand_numbers_is_text(tmp_path):
    def read(height):
        cells = ["1", "2"] * (height // 4) + ["u", "v"] * height
        lines = [f"{cell},{k % 2}\n" for k, cell in enumerate(cells)]
        table = open_table(write(tmp_path / "r.csv", "a,y\n" + "".join(lines)), target="y")
        X, _ = table.read()
        return table.feature_names, X[0].tolist(), X[-1].tolist()

    assert read(8) == read(5_000) == read(200_000)


def test_a_column_without_values_is_left_out_in_every_kind_of_file(tmp_path):
    for kind in ("csv", "parquet", "arrow", "duckdb", "jsonl", "xlsx"):
        path = write_column(tmp_path / f"r.{kind}", [None] * 8)
        table = open_table(path, target="y")
        assert table.feature_names == ("a",), kind
        assert "s is left out: it has no values." in table.notes, kind
        with pytest.raises(InputError, match=r"lacks values in 's' \(8\)"):
            open_table(path, target="y", features=["a", "s"]).read()


LABELS = {
    "in capital letters and blanks": ["Yes", "yes", "YES", "Yes ", "no", "No"],
    "words for truth": ["TRUE", "T", "FALSE", "F", "TRUE", "F"],
    "letters and digits": ["y", "n", "1", "0", "y", "n"],
}


@pytest.mark.parametrize("case", LABELS)
@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl", "npz"])
def test_labels_that_seem_to_mean_the_same_are_named_above_the_verdict_and_a_query_merges_them(
    tmp_path, case, kind
):
    labels = LABELS[case]
    numbers, path = [1.0, 2.0, 4.0, 3.0, 9.0, 7.0], tmp_path / f"r.{kind}"
    if kind == "csv":
        lines = (f"{a},{y}\n" for a, y in zip(numbers, labels, strict=True))
        write(path, "a,y\n" + "".join(lines))
    elif kind == "npz":
        np.savez(path, X=np.array(numbers)[:, None], y=np.array(labels))
    else:
        form = "parquet" if kind == "parquet" else "json"
        rows = duckdb.from_arrow(pa.table({"a": numbers, "y": labels}))
        rows.query("t", f"COPY t TO '{path}' (FORMAT {form})")
    said = run("check", path, "--target", "y")
    assert said.exit_code == 0, said.stderr
    assert said.stdout.startswith("Warning: y: ")
    assert "seem to mean the same" in said.stdout.split("\n\n")[0].replace("\n", " ")
    assert "Yes " not in open_table(path, target="y").classes.tolist()
    if kind != "npz":
        table = open_table(path, target="y", sql="SELECT * REPLACE (lower(trim(y)) AS y) FROM data")
        assert table.read()[1].tolist() == [each.strip().lower() for each in labels]


def test_a_label_of_blanks_is_missing(tmp_path):
    path = write(tmp_path / "r.csv", 'a,y\n1,u\n2,"  "\n3,v\n')
    with pytest.raises(InputError, match=r"lacks values in 'y' \(1\)"):
        open_table(path, target="y").read()
    assert open_table(path, target="y", missing="drop").read()[1].tolist() == ["u", "v"]


def test_a_semicolon_in_every_row_but_not_in_the_names_is_text(tmp_path):
    rows = "".join(f"{k * k},semi;{'uv'[k % 2]},{k % 2}\n" for k in range(12))
    X, y = open_table(write(tmp_path / "r.csv", "a,t,y\n" + rows), target="y").read()
    assert X.shape == (12, 2)
    assert X[:, 0].tolist() == [k * k for k in range(12)]
    assert y.tolist() == [0, 1] * 6
