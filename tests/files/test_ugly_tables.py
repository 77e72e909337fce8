"""Tables of typed files, several files and queries: the one that is there, or words that say why not."""

from __future__ import annotations

import os
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from separatrix.errors import InputError
from separatrix.files.reader import Place
from separatrix.files.source import detect
from separatrix.files.table import open_table
from tests.run import run
from tests.sheets import date, error, formula, write_workbook

BIG = 2**53


def write_two(folder, first, second, **more):
    """The column ``x`` of two Parquet files, beside labels."""
    for k, x in enumerate((first, second)):
        columns = {
            "x": x,
            "y": pa.array([0, 1] * (len(x) // 2)),
            **{name: c[: len(x)] for name, c in more.items()},
        }
        pq.write_table(pa.table(columns), folder / f"{k}.parquet")
    return str(folder / "*.parquet")


PAIRS = {
    "whole numbers, fractions": (pa.array([1, 2]), pa.array([2.3, 0.4])),
    "fractions, large whole numbers": (pa.array([2.3, 0.4]), pa.array([BIG + 1, BIG])),
    "short whole numbers, long ones": (pa.array([1, 2], pa.int32()), pa.array([BIG + 1, BIG])),
    "floats, doubles": (pa.array([1.5, 2.5], pa.float32()), pa.array([0.1, 0.2])),
    "decimals of two scales": (
        pa.array([Decimal("1.5"), Decimal("2.5")], pa.decimal128(9, 1)),
        pa.array([Decimal("0.125"), Decimal("0.375")], pa.decimal128(9, 3)),
    ),
    "true or false, numbers": (pa.array([True, False]), pa.array([2.0, 3.0])),
}


@pytest.mark.parametrize("case", PAIRS)
@pytest.mark.parametrize("text", [False, True], ids=["numbers", "beside text"])
def test_files_of_other_types_are_not_rounded_to_those_of_the_first(tmp_path, case, text):
    """DuckDB reads all files by the types of the first: 2.3 became 2, without a word."""
    more = {"t": pa.array(["u", "v"])} if text else {}
    pattern = write_two(tmp_path, *PAIRS[case], **more)
    with pytest.raises(InputError, match=r"Column 'x' is .* need the same columns"):
        open_table(pattern, target="y").read()
    said = run("check", pattern, "--target", "y")
    assert said.exit_code == 2
    assert (
        "the query FROM data gives them one type that holds both. Give it with --sql."
        in said.stderr.replace("\n", " ")
    )


@pytest.mark.parametrize("turned", [False, True])
def test_a_query_gives_files_of_other_types_one_type(tmp_path, turned):
    pair = PAIRS["whole numbers, fractions"]
    pattern = write_two(tmp_path, *(pair[::-1] if turned else pair))
    X, y = open_table(pattern, target="y", sql="FROM data").read()
    assert X[:, 0].tolist() == ([2.3, 0.4, 1, 2] if turned else [1, 2, 2.3, 0.4])
    assert y.tolist() == [0, 1, 0, 1]


def test_categories_in_one_file_may_be_text_in_another(tmp_path):
    words = pa.array(["u", "v", "u", "v"])
    write_two(tmp_path, words.dictionary_encode(), words)
    for pattern in (tmp_path / "*.parquet", write_two(tmp_path, words, words.dictionary_encode())):
        table = open_table(str(pattern), target="y")
        assert table.read()[0][:, 0].tolist() == [0, 1] * 4


def test_decimal_labels_beyond_all_exact_floats_stay_apart(tmp_path):
    labels = pa.array([Decimal(BIG), Decimal(BIG + 1)] * 2, pa.decimal128(38, 0))
    pq.write_table(pa.table({"x": [1.0, 2.0, 3.0, 4.0], "y": labels}), tmp_path / "rows.parquet")
    table = open_table(tmp_path / "rows.parquet", target="y")
    assert table.classes.tolist() == [str(BIG), str(BIG + 1)]
    assert table.read()[1].tolist() == [str(BIG), str(BIG + 1)] * 2


@pytest.mark.parametrize("text", [False, True], ids=["numbers", "beside text"])
def test_a_label_that_is_not_a_number_is_missing(tmp_path, text):
    columns = {"x": [1.0, 2.0, 3.0], "y": [0.0, 1.0, np.nan]} | ({"t": ["u", "v", "u"]} if text else {})
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet")
    table = open_table(tmp_path / "rows.parquet", target="y")
    assert table.classes.tolist() == [0, 1]
    with pytest.raises(InputError, match=r"lacks values in 'y' \(1\)"):
        table.read()
    assert open_table(tmp_path / "rows.parquet", target="y", missing="drop").read()[1].tolist() == [0, 1]


def test_numbers_of_more_digits_than_a_float_are_not_rounded(tmp_path):
    numbers = np.array([[1, 0], [2, 1]], dtype=np.longdouble)
    np.save(tmp_path / "rows.npy", numbers)
    if numbers.dtype == np.float64:  # as on Windows
        assert open_table(tmp_path / "rows.npy").read()[0].tolist() == numbers.tolist()
    else:
        with pytest.raises(InputError, match="at most float64"):
            open_table(tmp_path / "rows.npy")


def test_a_byte_order_mark_contradicts_another_encoding(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"\xef\xbb\xbfa,y\n1,0\n2,1\n")
    said = run("check", path, "--target", "y", "--encoding", "latin-1")
    assert said.exit_code == 2
    assert (
        "byte order mark of UTF-8, so it is not 'latin-1'. Change --encoding, or leave it out." in said.stderr
    )
    assert open_table(path, target="y", text_encoding="utf-8").feature_names == ("a",)


@pytest.mark.parametrize("name", ["undefined", "hex", "nonsense"])
def test_what_is_no_encoding_is_named(tmp_path, name):
    (tmp_path / "rows.csv").write_text("a,y\n1,0\n2,1\n")
    with pytest.raises(InputError, match=f"There is no encoding '{name}'"):
        open_table(tmp_path / "rows.csv", target="y", text_encoding=name)


def test_a_target_of_no_ordinary_digits_is_no_column(tmp_path):
    np.save(tmp_path / "rows.npy", np.eye(3))
    with pytest.raises(InputError, match="is the number of a column, from 1 to 3"):
        open_table(tmp_path / "rows.npy", target="²").read()


ROWS = "a,b,y\n" + "".join(f"{k % 7},{k % 5},{k % 2}\n" for k in range(40))


@pytest.mark.parametrize(
    "asked", [{"where": "a > 2 -- the rest"}, {"sql": "FROM data WHERE a > 2 -- the rest"}]
)
def test_a_query_may_end_with_a_comment(tmp_path, asked):
    (tmp_path / "rows.csv").write_text(ROWS)
    table = open_table(tmp_path / "rows.csv", target="y", **asked)
    assert table.read()[0].shape == (22, 2)
    assert table.notes


def test_a_partitioned_folder_is_read_by_the_query_that_is_offered(tmp_path):
    for key in (1, 2):
        (tmp_path / "it's" / f"k={key}").mkdir(parents=True)
        pq.write_table(
            pa.table({"a": [1.0 * key, 2.0], "y": [0, 1]}), tmp_path / "it's" / f"k={key}" / "0.parquet"
        )
    said = run("check", tmp_path / "it's", "--target", "y").stderr
    assert "Give it with --sql, and leave DATA out." in said.replace("\n", " ")
    query = said.replace("\n", " ").partition("A query reads it: ")[2].partition(". Give")[0]
    done = run("check", "--target", "y", "--sql", query)
    assert done.exit_code == 0, done.stderr


@pytest.mark.parametrize("name", ["rows.csv", "rows.zip"])
def test_a_file_that_is_changed_while_it_is_copied_is_refused(tmp_path, monkeypatch, name):
    """What is compressed, or in other characters, is copied before it is read."""
    path = tmp_path / name
    if name == "rows.csv":
        path.write_bytes(ROWS.encode("utf-16"))
    else:
        import zipfile

        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("rows.csv", ROWS)
    read = detect.parts_of

    def change(*each):
        yield from read(*each)
        os.utime(path, ns=(1, 1))

    monkeypatch.setattr(detect, "parts_of", change)
    with pytest.raises(InputError, match="was changed while it was read"):
        open_table(path, target="y")


def write_sheet(path, column, name="a"):
    write_workbook(path, {"s": [(name, "y"), *((cell, k % 2) for k, cell in enumerate(column))]})


SHEETS = {
    "truth values": ([True, False, False, True], ("a=true",), [[1], [0], [0], [1]], ""),
    "formulas": ([formula("1*2", 2.5), formula("1*3", 1.25)], ("a",), [[2.5], [1.25]], ""),
    "numbers stored as text": (["1.5", "2", "0.5"], ("a",), [[1.5], [2], [0.5]], ""),
    "a number stored as text among others": ([1.5, "2.5", 3], ("a",), [[1.5], [2.5], [3]], ""),
    "such with commas": (["1,5", "2", "0,5"], ("a",), [[1.5], [2], [0.5]], "decimal comma"),
    "whole numbers beyond 2**53": ([BIG + 2, 4], ("a",), [[BIG + 2], [4]], "keeps 15 digits"),
}


@pytest.mark.parametrize("case", SHEETS)
def test_the_cells_of_a_sheet_are_what_they_show(tmp_path, case):
    column, names, rows, said = SHEETS[case]
    write_sheet(tmp_path / "book.xlsx", column)
    table = open_table(tmp_path / "book.xlsx", target="y")
    assert table.feature_names == names
    assert table.read()[0].tolist() == rows
    assert said in " ".join(table.notes)
    assert bool(said) == bool(table.notes)


BAD_SHEETS = {
    "dates": ([date(43831), date(43833)], "'a' is a date or time"),
    "an error": ([1.5, error("#N/A"), 2.5], r"lacks values in 'a' \(1\), the first in row 2"),
    "an error as text": ([1.5, "#DIV/0!", 2.5], r"row 2 \(line 3\) has '#DIV/0!'"),
    "a formula without its result": ([1.5, formula("1+1"), 2.5], r"lacks values in 'a' \(1\)"),
    "merged cells": (["u", None, "v", None], r"lacks values in 'a' \(2\), the first in row 2"),
    "an empty row": ([1.5, None, 2.5], r"lacks values in 'a' \(1\)"),
    "a sum below": ([1.5, 2.5, "Total"], r"row 3 \(line 4\) has 'Total'"),
}


@pytest.mark.parametrize("case", BAD_SHEETS)
def test_a_cell_that_cannot_be_used_is_named(tmp_path, case):
    column, message = BAD_SHEETS[case]
    write_sheet(tmp_path / "book.xlsx", column)
    with pytest.raises(InputError, match=message):
        open_table(tmp_path / "book.xlsx", target="y").read()


def test_a_year_may_be_the_name_of_a_column_of_a_sheet(tmp_path):
    write_sheet(tmp_path / "book.xlsx", [1.5, 2.5], name=2019)
    table = open_table(tmp_path / "book.xlsx", target="y")
    assert table.feature_names == ("2019",)
    assert table.read()[0].tolist() == [[1.5], [2.5]]


def write_arrow(path, column, labels=(0, 1, 0)):
    table = pa.table({"a": column, "y": pa.array(labels)})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    return path


ARROWS = {
    "categories": (pa.array(["u", "v", "u"]).dictionary_encode(), [[0], [1], [0]]),
    "categories that are numbers": (pa.array([5, 9, 5]).dictionary_encode(), [[5], [9], [5]]),
    "large text": (pa.array(["u", "v", "u"], pa.large_string()), [[0], [1], [0]]),
    "decimals": (
        pa.array([Decimal("0.10"), Decimal("1.25"), Decimal("-3")], pa.decimal128(9, 2)),
        [[0.1], [1.25], [-3]],
    ),
    "the nearest of long decimals": (
        pa.array([Decimal("12345678901234567890.123"), Decimal("0.001"), Decimal(1)], pa.decimal128(38, 3)),
        [[12345678901234567890.123], [0.001], [1]],
    ),
    "bytes": (pa.array([-5, 3, 4], pa.int8()), [[-5], [3], [4]]),
    "infinity": (pa.array([1.5, np.inf, -np.inf]), [[1.5], [np.inf], [-np.inf]]),
}  # fmt: skip


@pytest.mark.parametrize("case", ARROWS)
def test_columns_of_arrow_are_what_they_hold(tmp_path, case):
    column, rows = ARROWS[case]
    assert open_table(write_arrow(tmp_path / "rows.arrow", column), target="y").read()[0].tolist() == rows


BAD_ARROWS = {
    "nulls": (pa.array([1.5, None, 2.5]), r"lacks values in 'a' \(1\), the first in row 2"),
    "a missing category": (pa.array(["u", None, "v"]).dictionary_encode(), r"lacks values in 'a' \(1\)"),
    "nothing": (pa.array([None] * 3), r"lacks values in 'a' \(3\)"),
    "NaN": (pa.array([1.5, np.nan, 2.5]), r"lacks values in 'a' \(1\)"),
    "whole numbers beyond 2**53": (pa.array([1, 2, BIG + 1]), "beyond 2\\*\\*53, 9007199254740993"),
    "such decimals": (pa.array([Decimal(BIG + 1), Decimal(2), Decimal(3)], pa.decimal128(38)), "9007199"),
    "timestamps": (pa.array(np.arange(3).astype("datetime64[ns]")), "is a date or time"),
    "lists": (pa.array([[1], [2], [3]]), "'a' is of type list.*not a number"),
    "structures": (pa.array([{"b": 1}] * 3), "'a' is of type struct.*not a number"),
    "raw bytes": (pa.array([b"u", b"v", b"u"]), "'a' is of type binary"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_ARROWS)
def test_columns_of_arrow_that_cannot_be_used_are_named(tmp_path, case):
    column, message = BAD_ARROWS[case]
    with pytest.raises(InputError, match=message):
        open_table(write_arrow(tmp_path / "rows.arrow", column), target="y").read()


@pytest.mark.parametrize("first", [BIG, 2**62])
def test_labels_of_arrow_beyond_2_to_53_stay_apart(tmp_path, first):
    path = write_arrow(tmp_path / "rows.arrow", pa.array([1.5, 2.5, 3.5]), [first, first + 1, first])
    table = open_table(path, target="y")
    assert table.classes.tolist() == [first, first + 1]
    assert table.read()[1].tolist() == [first, first + 1, first]


def survey(path, **options):
    """A file of SPSS, Stata or SAS."""
    pyreadstat = pytest.importorskip("pyreadstat")
    pd = pytest.importorskip("pandas")
    columns = {"a": [1.0, 2.0, 3.0, 1.0], "b": [4.0, -9.0, 6.0, 5.0], "y": [0.0, 1.0, 0.0, 1.0]}
    writers = {".sav": "write_sav", ".dta": "write_dta", ".xpt": "write_xport"}
    getattr(pyreadstat, writers[path.suffix])(pd.DataFrame(columns), str(path), **options)
    return path


@pytest.mark.parametrize("labels", [("same", "same", "same"), ("10", "30", "20"), ("5 mg", "2 mg", "9 mg")])
@pytest.mark.parametrize("ending", [".sav", ".dta"])
def test_labels_of_values_are_text_also_where_they_look_like_numbers(tmp_path, labels, ending):
    named = {"a": dict(zip((1, 2, 3), labels, strict=True))}
    table = open_table(survey(tmp_path / f"rows{ending}", variable_value_labels=named), target="y")
    assert [name.partition("=")[0] for name in table.feature_names] == ["a", "a", "b"]
    assert set(np.unique(table.read()[0][:, :2])) == {0.0, 1.0}


def test_what_a_survey_counts_as_missing_is_missing(tmp_path):
    path = survey(tmp_path / "rows.sav", missing_ranges={"b": [-9]})
    with pytest.raises(InputError, match=r"lacks values in 'b' \(1\), the first in row 2"):
        open_table(path, target="y").read()
    assert open_table(path, target="y", missing="drop").read()[0].tolist() == [[1, 4], [3, 6], [1, 5]]


@pytest.mark.parametrize("ending", [".sav", ".dta", ".xpt"])
def test_a_survey_that_is_cut_short_is_not_read_in_part(tmp_path, ending):
    """Without its end, a file of Stata had no labels, and one of SAS a row less."""
    options = {} if ending == ".xpt" else {"variable_value_labels": {"a": {1: "u", 2: "v", 3: "w"}}}
    path = survey(tmp_path / f"rows{ending}", **options)
    open_table(path, target="y").read()
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match=r"cut short|cannot be read"):
        open_table(path, target="y")


@pytest.mark.parametrize("left", [3, 7, 20, 100, 130, -1])
def test_an_array_that_is_cut_short_is_not_read(tmp_path, left):
    path = tmp_path / "rows.npy"
    np.save(path, np.eye(3))
    path.write_bytes(path.read_bytes()[:left])
    message = "is damaged: it says that it has 3 x 3 numbers" if left in (130, -1) else "cut short|cannot be"
    with pytest.raises(InputError, match=message):
        open_table(path, target="1").read()


def write_json_lines(path, cells, labels=(0, 1)):
    lines = [f'{{"a": {cell}, "y": {labels[k % 2]}}}\n' for k, cell in enumerate(cells)]
    path.write_text("".join(lines))
    return path


@pytest.mark.parametrize("sql", [None, "FROM data"])
def test_all_rows_of_json_lines_tell_the_types(tmp_path, sql):
    """By the types of the first 20,480 rows, a fraction after them was read as a whole number."""
    path = write_json_lines(tmp_path / "rows.jsonl", [*range(30_000, 0, -1), 0.5])
    assert open_table(path, target="y", sql=sql).read()[0][-2:].tolist() == [[1.0], [0.5]]


JSON_CELLS = {
    "beside fractions": [BIG + 1, 0.5],
    "of thirty digits": ["123456789012345678901234567890", 2],
    "alone": [BIG + 1, BIG],
}


@pytest.mark.parametrize("case", JSON_CELLS)
def test_whole_numbers_of_json_that_would_be_rounded_are_refused(tmp_path, case):
    cells = JSON_CELLS[case]
    with pytest.raises(InputError, match=r"'a' .* has a whole number beyond 2\*\*53.*would be rounded"):
        open_table(write_json_lines(tmp_path / "rows.jsonl", cells), target="y").read()
    labels = open_table(write_json_lines(tmp_path / "y.jsonl", [1.5, 2.5], cells), target="y")
    if case == "alone":
        assert labels.classes.tolist() == [BIG, BIG + 1]
    elif case == "of thirty digits":
        assert labels.classes.tolist() == sorted(map(str, cells))
    else:
        with pytest.raises(InputError, match="would be rounded"):
            _ = labels.classes


def test_points_of_json_numbers_never_separate_thousands(tmp_path):
    path = write_json_lines(tmp_path / "rows.jsonl", ["1.234", "5", "70"])
    assert open_table(path, target="y").read()[0][:, 0].tolist() == [1.234, 5.0, 70.0]


def test_numbers_of_json_are_the_nearest_floats(tmp_path):
    cells = ["3e23", "3e-25", "1.67e-27", "5e-324", "1e300", "9007199254740994", "0.1"]
    X = open_table(write_json_lines(tmp_path / "rows.jsonl", cells), target="y").read()[0]
    assert X[:, 0].tolist() == list(map(float, cells))


@pytest.mark.parametrize("cell", ["0.5", "1e3"])
@pytest.mark.parametrize("height", [15, 1500])
def test_a_fraction_among_large_whole_numbers_is_not_rounded(tmp_path, cell, height):
    """DuckDB reads 0.5 in a column of whole numbers as 1."""
    lines = [f"{k % 7},{BIG + 1 - k % 2}\n" for k in range(height)]
    (tmp_path / "rows.csv").write_text("a,y\n" + "".join(lines))
    assert open_table(tmp_path / "rows.csv", target="y").classes.tolist() == [BIG, BIG + 1]
    (tmp_path / "rows.csv").write_text("a,y\n" + "".join(lines) + f"1,{cell}\n")
    with pytest.raises(InputError, match=r"'y' .* whole number beyond 2\*\*53, .* which would be rounded"):
        open_table(tmp_path / "rows.csv", target="y").read()


@pytest.mark.parametrize("head", ["a,b\n", "@attribute a real\n@attribute b real\n@data\n"])
def test_a_row_that_is_not_found_again_is_named_without_a_line(tmp_path, head):
    path = tmp_path / ("rows.arff" if "@" in head else "rows.csv")
    path.write_text(head + "1,2\n3,4\n")
    finder = open_table(path, target="b").line_finder
    assert finder([2, 7]) == [Place(2, head.count("\n") + 2), Place(7)]
