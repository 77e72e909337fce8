"""Ugly files: each gives the table that a careful reader expects, or says in words what is wrong.

The worst is a table that nobody wrote, read without a word.
"""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
import threading
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from separatrix.errors import InputError
from separatrix.files.table import open_table
from tests.sheets import write_workbook

MANY = b"1,0\n2,1\n" * 20_000


def _late(last, cell="{k}.5"):
    return ("a,y\n" + "".join(f"{cell.format(k=k)},{k % 2}\n" for k in range(3000)) + last).encode()


# The content of a file; the features, the rows and the labels that are expected, and words of the notes.
READ = {
    "CR LF": (b"a,y\r\n1,0\r\n2,1\r\n", ("a",), [[1], [2]], [0, 1]),
    "CR": (b"a,y\r1,0\r2,1\r", ("a",), [[1], [2]], [0, 1]),
    "line ends of two kinds": (
        b'a,t,y\r\n1,"u\r\nv",0\n2,z,1\r\n',
        ("a", "t=z"), [[1, 0], [2, 1]], [0, 1], "'u\\r\\nv', 'z'",
    ),
    "no newline at the end": (b"a,y\n1,0\n2,1", ("a",), [[1], [2]], [0, 1]),
    "byte order mark": (b"\xef\xbb\xbfa,y\n1,0\n2,1\n", ("a",), [[1], [2]], [0, 1]),
    "UTF-16": ("a,y\n1,0\n2,1\n".encode("utf-16"), ("a",), [[1], [2]], [0, 1], "read as UTF-16"),
    "newline in quotes": (b'a,t,y\n1,"x\ny",0\n2,z,1\n', ("a", "t=z"), [[1, 0], [2, 1]], [0, 1], "one row"),
    "newline in a name": (b'a,"b\nc",y\n1,2,0\n2,5,1\n', ("a", "b\nc"), [[1, 2], [2, 5]], [0, 1]),
    "comma in quotes": (b'a,t,y\n1,"x,y",0\n2,z,1\n', ("a", "t=z"), [[1, 0], [2, 1]], [0, 1], "'x,y', 'z'"),
    "doubled quotes": (
        b'a,t,y\n1,"x""y",0\n2,z,1\n', ("a", "t=z"), [[1, 0], [2, 1]], [0, 1], """'x"y', 'z'""",
    ),
    "quoted numbers": (b'"a","y"\n"1.5","0"\n"2.5","1"\n', ("a",), [[1.5], [2.5]], [0, 1]),
    "blank name": (b"a,,y\n1,2,0\n3,4,1\n", ("a", "column2"), [[1, 2], [3, 4]], [0, 1]),
    "delimiter at the end": (b"a,y,\n1,0,\n2,1,\n", ("a",), [[1], [2]], [0, 1], "column3 is left out"),
    "delimiter at the end of rows": (b"a,y\n1,0,\n2,1,\n", ("a",), [[1], [2]], [0, 1], "has no values"),
    "tabs": (b"a\ty\n1\t0\n2\t1\n", ("a",), [[1], [2]], [0, 1]),
    "bars": (b"a|y\n1|0\n2|1\n", ("a",), [[1], [2]], [0, 1]),
    "spaces": (b"a y\n1 0\n2 1\n", ("a",), [[1], [2]], [0, 1]),
    "decimal commas": (b"a;y\n1,5;0\n2,5;1\n", ("a",), [[1.5], [2.5]], [0, 1], "decimal comma"),
    "spaces after commas": (b"a, y\n1, 0\n2, 1\n", ("a",), [[1], [2]], [0, 1]),
    "a delimiter that is named": (b"sep=;\na;y\n1;0\n2;1\n", ("a",), [[1], [2]], [0, 1]),
    "comments first": (b"# by hand\n#\na,y\n1,0\n2,1\n", ("a",), [[1], [2]], [0, 1], "left out: 2"),
    "empty lines": (b"\n\na,y\n1,0\n\n2,1\n\n", ("a",), [[1], [2]], [0, 1]),
    "infinity": (b"a,y\n1,0\ninf,1\n-Infinity,1\n", ("a",), [[1], [np.inf], [-np.inf]], [0, 1, 1]),
    "plus signs": (b"a,y\n+1,0\n+2.5,1\n", ("a",), [[1], [2.5]], [0, 1]),
    "another minus": ("a,y\n\u22121,0\n2,1\n".encode(), ("a",), [[-1], [2]], [0, 1]),
    "many digits": (b"a,y\n0.1000000000000000055511151231257827,0\n1,1\n", ("a",), [[0.1], [1]], [0, 1]),
    "the smallest numbers": (b"a,y\n5e-324,0\n1e-400,1\n", ("a",), [[5e-324], [0]], [0, 1]),
    "leading zeros": (b"zip,y\n01234,0\n00501,1\n", ("zip",), [[1234], [501]], [0, 1], "read as numbers"),
    "hexadecimal": (b"a,y\n0x1F,0\n0x20,1\n", ("a=0x20",), [[0], [1]], [0, 1], "only one row"),
    "truth": (b"a,y\ntrue,0\nfalse,1\ntrue,0\nfalse,1\n", ("a=true",), [[1], [0], [1], [0]], [0, 1, 0, 1]),
    "true labels": (b"a,y\n1,true\n2,false\n", ("a",), [[1], [2]], ["true", "false"]),
    "dollars": (b"a,y\n$1,0\n$2.5,1\n", ("a",), [[1], [2.5]], [0, 1], "in $"),
    "years as names": (b"b,2019,y\n7,1,0\n9,3,1\n", ("b", "2019"), [[7, 1], [9, 3]], [0, 1]),
    "one row": (b"a,y\n1,0\n", ("a",), [[1]], [0]),
    "byte order mark, then comments": (
        b"\xef\xbb\xbf# by hand\na,y\n1,0\n2,1\n", ("a",), [[1], [2]], [0, 1], "left out: 1",
    ),
    "byte order mark, then a delimiter": (
        b"\xef\xbb\xbfsep=;\na;y\n1,5;0\n2;1\n", ("a",), [[1.5], [2]], [0, 1], "decimal comma",
    ),
    "a delimiter that is named in quotes": (b'"sep=;"\na;y\n1;0\n2;1\n', ("a",), [[1], [2]], [0, 1]),
    "a tab that is named": (b"sep=\t\na\ty\n1\t0\n2\t1\n", ("a",), [[1], [2]], [0, 1]),
    "decimal commas between tabs": (
        b"a\ty\n1,5\t0\n2,25\t1\n3,5\t1\n", ("a",), [[1.5], [2.25], [3.5]], [0, 1, 1], "decimal comma",
    ),
    "decimal commas between bars": (b"a|y\n1,5|0\n2|1\n", ("a",), [[1.5], [2]], [0, 1], "decimal comma"),
    "decimal commas between blanks": (
        b"a y\n1,5 0\n2,5 1\n3,5 1\n", ("a",), [[1.5], [2.5], [3.5]], [0, 1, 1], "decimal comma",
    ),
    "decimal commas in quotes": (b'a,y\n"1,5",0\n"2",1\n', ("a",), [[1.5], [2]], [0, 1], "decimal comma"),
    "decimal commas and powers of ten": (
        b"a;y\n1,5e3;0\n2,5E-2;1\n", ("a",), [[1500], [0.025]], [0, 1], "decimal comma",
    ),
    "French": (
        "a;y\n1\u202f234,5;0\n2\u202f000;1\n".encode(), ("a",), [[1234.5], [2000]], [0, 1], "thousands blank",
    ),
    "Swiss": (
        "a;y\n1\u2019234.5;0\n12;1\n".encode(), ("a",), [[1234.5], [12]], [0, 1], "thousands apostrophe",
    ),
    "Indian": (b'a,y\n"1,23,456",0\n"123",1\n', ("a",), [[123456], [123]], [0, 1], "thousands comma"),
    "currency and minus": (b"a,y\n-$1.50,0\n$-2,1\n", ("a",), [[-1.5], [-2]], [0, 1], "in $"),
    "powers of ten in all ways": (
        b"a,y\n1e5,0\n1E+05,1\n1.0e+5,1\n100000,0\n", ("a",), [[1e5]] * 4, [0, 1, 1, 0],
    ),
    "zeros with signs": (b"a,y\n+0,0\n-0,1\n-0.0,1\n", ("a",), [[0], [-0.0], [-0.0]], [0, 1, 1]),
    "labels with signs": (b"a,y\n1,+1\n2,-1\n3,1\n", ("a",), [[1], [2], [3]], [1, -1, 1]),
    "labels that are equal numbers": (b"a,y\n1,1\n2,1.0\n3,0\n", ("a",), [[1], [2], [3]], [1, 1, 0]),
    "a blank first cell in each line": (
        b",a,y\n,1,0\n,2,1\n", ("a",), [[1], [2]], [0, 1], "column1 is left out",
    ),
    "blanks that do not break": ("a,y\n\u00a01\u00a0,0\n2,1\n".encode(), ("a",), [[1], [2]], [0, 1]),
    "a very long name": (b"a" * 5000 + b",y\n1,0\n2,1\n", ("a" * 5000,), [[1], [2]], [0, 1]),
    "a unit in a name": (b'"a\n[mg]",y\n1,0\n2,1\n', ("a\n[mg]",), [[1], [2]], [0, 1]),
    "commas in text, between semicolons": (
        b"a;t;y\n1;u,v;0\n2;w,x;1\n3;u,v;1\n4;w,x;1\n",
        ("a", "t=w,x"), [[1, 0], [2, 1], [3, 0], [4, 1]], [0, 1, 1, 1],
    ),
    "JSON in brackets": (b'[{"a":1,"y":0},{"a":2,"y":1}]', ("a",), [[1], [2]], [0, 1]),
    "JSON lines": (b'{"a":1,"y":0}\n{"a":2,"y":1}\n', ("a",), [[1], [2]], [0, 1]),
    "ARFF": (
        b"@relation r\n@attribute a real\n@attribute y {0,1}\n@data\n1.5,0\n0,1\n",
        ("a",), [[1.5], [0]], ["0", "1"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", READ)
@pytest.mark.parametrize("name", ["rows.csv", "rows"])
def test_an_ugly_file_gives_the_table_that_is_expected(tmp_path, case, name):
    content, names, rows, labels, *said = READ[case]
    if case == "ARFF" and name.endswith(".csv"):
        name = "rows.arff"
    path = tmp_path / name
    path.write_bytes(content)
    table = open_table(path, target="y")
    X, y = table.read()
    assert table.feature_names == names
    assert X.tolist() == rows
    assert y.tolist() == labels
    assert table.n_rows == len(rows)
    assert bool(table.notes) == bool(said), table.notes
    assert all(words in " ".join(table.notes) for words in said)


@pytest.mark.parametrize("packed", [bytes, gzip.compress], ids=["as it is", "gzip"])
def test_lines_that_end_in_another_way_late_in_a_file_are_read(tmp_path, packed):
    path = tmp_path / ("rows.csv.gz" if packed is gzip.compress else "rows.csv")
    path.write_bytes(packed(b"a,t,y\r\n" + b"1,x,0\n2,z,1\r\n" * 60_000))
    X, y = open_table(path, target="y").read()
    assert X.tolist() == [[1.0, 0.0], [2.0, 1.0]] * 60_000
    assert y.tolist() == [0, 1] * 60_000
    assert open_table(path, target="y").places([3])[0].line == 5


REFUSED = {
    "empty": (b"", "is empty"),
    "newlines only": (b"\n\n\n", "is empty"),
    "names only": (b"a,y\n", "has no rows"),
    "names without a newline": (b"a,y", "has no rows"),
    "a short row": (b"a,b,y\n1,2,0\n3,1\n", "line 3: 2 cells, but the first line has 3"),
    "a long row": (b"a,b,y\n1,2,0\n3,4,5,1\n", "line 3: 4 cells, but the first line has 3"),
    "a quote that stays open": (b'a,t,y\n1,"x,0\n2,z,1\n', "quotation mark"),
    "a carriage return within a line": (b"a,t,y\n1,x,0\r2,z,1\n3,x,1\n", "lines end in different ways"),
    "a delimiter behind some rows": (b"a,y\n1,0,\n2,1\n3,1,\n", "line 2: 3 cells"),
    "two names alike": (b"a,a,y\n1,2,0\n3,4,1\n", "more than one column named 'a'"),
    "two names alike but for case": (b"a,A,y\n1,2,0\n3,4,1\n", "column named 'A'"),
    "aligned by spaces": (b"a   y\n1   0\n22  1\n", "line 3: 3 cells"),
    "zero bytes": (b"a,y\n1,0\n\0,1\n", "zero byte at position 8"),
    "zero bytes late": (b"a,y\n" + MANY + b"\0,1\n", "line 40,002"),
    "one column": (b"y\n1\n2\n", "No feature column is left"),
    "text among numbers, late": (
        _late("oops,1\n"),
        r"Column 'a' .* holds numbers, but row 3,001 \(line 3,002\) has 'oops'",
    ),
    "missing values": (b"a,b,y\n1,NaN,0\n2,nan,1\n3,1,1\n", r"lacks values in 'b' \(2\)"),
    "some hexadecimal": (b"a,y\n1,0\n2,1\n0x21,1\n", "has '0x21'"),
    "thousands as a German spreadsheet shows them": (
        b"a;y\n1.234;0\n2.000;1\n12;1\n999;0\n",
        "the point may be a decimal sign or separate thousands",
    ),
    "thousands or fractions": (b'a,y\n"1,500",0\n"2,250",1\n250,1\n', "decimal sign or separate thousands"),
    "names with one delimiter more": (b"a,y,\n1,0\n2,1\n", "line 2: 2 cells, but the first line has 3"),
    "decimal commas between commas": (b"a,y\n7,5,0\n3,25,1\n12,5,1\n", "line 2: 3 cells"),
    "a line of units": (b"a,b,y\n[mg],[kg],[-]\n1,2,0\n2,3,1\n4,4,1\n", r"row 1 \(line 2\) has '\[mg\]'"),
    "a spreadsheet's error": (b"a,y\n#DIV/0!,0\n1,1\n2,1\n", "has '#DIV/0!'"),
    "a spreadsheet's missing value": (b"a,y\n#N/A,0\n1,1\n2,1\n", r"lacks values in 'a' \(1\)"),
    "a dash for a minus": ("a,y\n\u20131.5,0\n2,1\n3,1\n".encode(), "has '\u20131.5'"),
    "quotation marks of another kind": (b"a,y\n'1.5',0\n'2.5',1\n", """has "'1.5'\""""),
    "Fortran": (b"a,y\n0.15D+04,0\n0.2D+04,1\n", r"has '0\.15D\+04'"),
    "an error behind each number": ("a,y\n10\u00b12,0\n20\u00b11,1\n".encode(), "has '10\u00b12'"),
    "per cent and shares": (b"a,y\n10%,0\n0.2,1\n30%,1\n", r"has '0\.2'"),
    "a point for a missing label": (b"a,y\n1,0\n2,.\n3,1\n", r"lacks values in 'y' \(1\)"),
    "a label that is not known": (b"a,y\n1,u\n2,NA\n3,v\n", r"lacks values in 'y' \(1\)"),
    "a table for people": (b"| a | y |\n| 1 | 0 |\n", "more than one column named"),
    "the end of a file of old": (b"a,y\n1,0\n2,1\n\x1a", "line 4"),
    "text that names all rows": (b"t,y\nu,0\nv,1\nw,1\n", "3 different texts in 3 rows name the rows"),
    "dates": (b"d,y\n2020-01-01,0\n2020-01-02,1\n", "'d' is a date"),
    "dates of another order": (b"d,y\n01/02/2020,0\n01/03/2020,1\n", "'d' is a date"),
    "times": (b"d,y\n10:00,0\n11:30,1\n", "'d' is a date or time"),
    "brackets for a minus": (b"a,y\n(1.5),0\n2.5,1\n", r"has '\(1\.5\)'"),
    "a comment among the rows": (b"a,y\n1,0\n# note\n2,1\n", "line 3"),
    "a comment with a comma": (b"a,y\n1,0\n# note, here\n2,1\n", "line 3"),
    "the names again": (b"a,y\n1,0\na,y\n2,1\n", "line 3"),
    "a title": (b"Results of 2020\na,b,y\n1,2,0\n3,4,1\n", "There is no column 'y'"),
    "no names": (b"1,2,0\n3,4,1\n", "Put a line of names first"),
    "a footer": (b"a,b,y\n1,2,0\n3,4,1\nTotal rows: 2\n", "line 4"),
    "a sum below": (b"a,b,y\n1,2,0\n3,4,1\nTotal,6,\n", "line 4"),
    "a whole number that is rounded": (b"a,y\n9007199254740993,0\n1,1\n", "would be rounded"),
    "decimals of two kinds": (b"a;y\n1,5;0\n2.5;1\n3,5;1\n", r"row 2 \(line 3\) has '2\.5'"),
    "Latin-1": ("gr\u00f6\u00dfe,y\n1,0\n2,1\n".encode("latin-1"), "is not UTF-8 text"),
    "Latin-1, late": (b"t,y\n" + b"ab,0\ncd,1\n" * 20_000 + b"\xfc,1\n", "not UTF-8 text"),
    "UTF-16 without a mark": ("a,y\n1,0\n2,1\n".encode("utf-16-le"), "not UTF-8 text"),
    "a web page": (b"<!DOCTYPE html>\n<html><body>404, Not Found</body></html>\n", "is a web page"),
    "XML": (b'<?xml version="1.0"?>\n<rows><row a="1" y="0"/></rows>\n', "is XML"),
    "PDF": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", "is a PDF document"),
    "Git LFS": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "pointer of Git LFS"),
    "gzip, cut short": (gzip.compress(b"a,y\n" + MANY)[:200], "is damaged"),
    "gzip, damaged": (b"\x1f\x8b\x08\0" + b"\x07" * 60, "is damaged"),
    "ZIP, cut short": (b"PK\x03\x04" + b"\0" * 40, "cannot be read, or is damaged"),
    "control characters": (b"a,y\n\x1e1.5,0\n\x1e2.5,1\n", r"row 1 \(line 2\) has '\\x1e1.5'"),
    "not UTF-8 in its last byte": (b"a,b,y\n1,2,0\n2,2,no\xe9", "is not UTF-8"),
    "ZIP, cut within its mark": (b"PK\x03", "is cut short"),
    "Parquet, cut short": (b"PAR1" + b"\0" * 40, "cannot be read"),
    "Feather, cut short": (b"ARROW1\0\0" + b"\0" * 40, "cannot be read"),
    "SPSS, cut short": (b"$FL2@(#) SPSS DATA FILE", "cannot be read"),
    "Excel, old and damaged": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "cannot be read"),
    "a first cell without end": (b"x" * 200_000, "a cell of more than 131,072 characters in its first line"),
    "noise": (bytes(range(256)) * 4, "not of a kind that can be read|zero byte"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_ugly_file_is_refused_with_the_reason(tmp_path, case):
    content, message = REFUSED[case]
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        open_table(path, target="y").read()


def test_lines_that_end_in_two_ways_are_read_where_all_cells_are_numbers(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a,y\r\n1,0\n2,1\r\n3,1\n")
    assert open_table(path, target="y").read()[0][:, 0].tolist() == [1, 2, 3]


def test_a_level_that_looks_like_a_number_is_said(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(_late("7,1\n", cell="w"))
    table = open_table(path, target="y")
    assert table.feature_names == ("a=w",)
    assert any("only one row separates that row: '7'" in note for note in table.notes)


@pytest.mark.parametrize("where", [None, "NOT isnan(a)"])
def test_rows_with_nan_are_left_out_of_parquet_files(tmp_path, where):
    """The ranges of columns that are kept in the file do not count NaN."""
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": [1.0, np.nan, 3.0], "y": [0, 1, 1]}), path)
    missing = "drop" if where is None else "error"
    assert open_table(path, target="y", where=where, missing=missing).read()[0].tolist() == [[1], [3]]


def test_a_pipe_is_read_once(tmp_path):
    pipe = tmp_path / "rows.csv"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(b"a,y\n1,0\n2,1\n"))
    writer.start()
    table = open_table(pipe, target="y")
    writer.join()
    assert table.read()[0].tolist() == [[1], [2]]
    assert table.classes.tolist() == [0, 1]


def test_links_are_followed(tmp_path):
    (tmp_path / "rows.csv").write_text("a,y\n1,0\n2,1\n")
    (tmp_path / "link").symlink_to("rows.csv")
    (tmp_path / "broken").symlink_to("nowhere.csv")
    assert open_table(tmp_path / "link", target="y").n_rows == 2
    with pytest.raises(InputError, match=r"is a link to 'nowhere\.csv', which does not exist"):
        open_table(tmp_path / "broken")


def test_a_device_is_no_file():
    with pytest.raises(InputError, match="is a device or a socket"):
        open_table("/dev/null")


def test_a_file_that_may_not_be_read_says_so(ordinary_user):
    path = ordinary_user / "rows.csv"
    path.write_text("a,y\n1,0\n")
    path.chmod(0)
    with pytest.raises(InputError, match="Permission denied"):
        open_table(path)


def test_an_archive_may_hold_one_file(tmp_path):
    path = tmp_path / "rows.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("deep/rows.csv", "a,y\n1,0\n2,1\n")
    assert open_table(path, target="y").n_rows == 2
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("other.csv", "a,y\n")
    with pytest.raises(InputError, match=r"holds 2 files: deep/rows\.csv, other\.csv"):
        open_table(path)


def test_a_workbook_with_two_full_sheets_asks_which(tmp_path):
    path = tmp_path / "book.csv"  # by a wrong name, too
    write_workbook(path, {"one": [("a", "y"), (1, 0), (2, 1)], "two": [("a", "y"), (3, 0), (4, 1)]})
    with pytest.raises(InputError, match="has 2 sheets with rows: one, two"):
        open_table(path, target="y")
    assert open_table(path, target="y", sheet="two").read()[0].tolist() == [[3], [4]]


def test_a_very_long_line_is_read_or_refused_in_time(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("t,y\n" + "x" * 3_000_000 + ",0\nz,1\n")
    assert open_table(path, target="y").read()[0].tolist() == [[0.0], [1.0]]
    path.write_text('t,y\n"' + "x\n" * (1 << 25) + ",0\nz,1\n")
    with pytest.raises(InputError, match="a quotation mark is not closed") as problem:
        open_table(path, target="y").read()
    assert len(str(problem.value)) < 1000
    path.write_text(
        ",".join(f"x{k}" for k in range(20_000)) + ",y\n" + 2 * (",".join(["1"] * 20_000) + ",0\n")
    )
    assert open_table(path, target="y").read()[0].shape == (2, 20_000)


def test_process_substitution_is_read(tmp_path):
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(b"a,y\n1,0\n2,1\n"))
    code = (
        "import sys; from separatrix.files.table import open_table; "
        "print(open_table(sys.argv[1], target='y').n_rows)"
    )
    script = f'python=$1; exec "$python" -c "{code}" <(gzip -dc {tmp_path}/rows.csv.gz)'
    done = subprocess.run(["bash", "-c", script, "bash", sys.executable], capture_output=True, text=True)
    assert done.stdout == "2\n", done.stderr


# The content of a LIBSVM file; the rows and labels that are expected, or a part of the message.
SPARSE = {
    "a query": (b"1 qid:4 1:2\n0 1:1\n", "line 1: 'qid:4 1:2' is not 'column:value'"),
    "a carriage return within a line": (b"1 1:2\r0 1:1\n", "line 1: '\\r"),
    "lines that end by carriage returns": (b"1 1:2\r0 1:1\r", [[2], [1]], [1, 0]),
    "CR LF": (b"1 1:2\r\n0 1:1\r\n", [[2], [1]], [1, 0]),
    "comments": (b"+1 1:1 # c\n-1 1:2#d\n\n", [[1], [2]], [1, -1]),
    "a column twice": (b"1 1:1 1:2\n0 1:1\n", "line 1: '1:2' is not"),
    "columns in another order": (b"1 2:1 1:2\n0 1:1\n", "line 1: '1:2' is not"),
    "a column below zero": (b"1 -1:1\n0 1:1\n", "'-1:1' is not 'column:value'"),
    "several labels": (b"1,2 1:1\n0 1:1\n", "line 1: ',2 1:1' is not 'column:value'"),
    "a decimal comma": (b"1 1:1,5\n0 1:1\n", "line 1: ',5' is not 'column:value'"),
    "no number": (b"1 1:nan\n0 1:1\n", "line 1: 'nan' is not 'column:value'"),
    "hexadecimal": (b"1 1:0x10\n0 1:1\n", "line 1: 'x10' is not 'column:value'"),
    "a value that would be rounded": (b"1 1:9007199254740993\n0 1:1\n", "would be rounded"),
    "a label that would be rounded": (b"9007199254740992 1:1\n9007199254740993 1:2\n", "would be rounded"),
}


@pytest.mark.parametrize("case", SPARSE)
def test_an_ugly_libsvm_file_is_read_whole_or_refused(tmp_path, case):
    content, *expected = SPARSE[case]
    path = tmp_path / "rows.svm"
    path.write_bytes(content)
    if isinstance(expected[0], str):
        with pytest.raises(InputError, match=re.escape(expected[0])):
            open_table(path).read()
    else:
        X, y = open_table(path).read()
        assert [X.toarray().tolist(), y.tolist()] == expected


HARD = [
    "3e23",
    "3e-25",
    "1.67e-27",
    "999e100",
    "7e-320",
    "0.3",
    "123456789012345678e-5",
    "2.2250738585072011e-308",
]


@pytest.mark.parametrize("kind", ["csv", "svm", "jsonl", "arff", "csv, many rows"])
def test_numbers_are_those_of_python_to_the_last_bit(tmp_path, kind):
    """Short mantissas with large exponents were read one unit off."""
    texts = HARD * (1000 if "many" in kind else 1)
    content = {
        "csv": "a,y\n" + "".join(f"{text},{k % 2}\n" for k, text in enumerate(texts)),
        "svm": "".join(f"{k % 2} 1:{text}\n" for k, text in enumerate(texts)),
        "jsonl": "".join(f'{{"a": {text}, "y": {k % 2}}}\n' for k, text in enumerate(texts)),
        "arff": "@relation r\n@attribute a real\n@attribute y real\n@data\n"
        + "".join(f"{text},{k % 2}\n" for k, text in enumerate(texts)),
    }[kind.split(",")[0]]
    path = tmp_path / f"rows.{kind.split(',')[0]}"
    path.write_text(content)
    X, _ = open_table(path, target=None if kind == "svm" else "y").read()
    found = X.toarray() if kind == "svm" else X
    assert found[:, 0].tolist() == [float(text) for text in texts]


def test_labels_beyond_all_exact_floats_stay_apart(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,y\n" + "1.5,9007199254740992\n2.5,9007199254740993\n" * 3)
    table = open_table(path, target="y")
    assert table.read()[1].tolist() == [9007199254740992, 9007199254740993] * 3
    assert table.classes.tolist() == [9007199254740992, 9007199254740993]


def test_labels_of_a_parquet_file_that_are_no_text_are_refused(tmp_path):
    path = tmp_path / "rows.parquet"
    labels = pa.array([b"u", b"\xff\xfe", b"u"]).view(pa.string())
    pq.write_table(pa.table({"a": [1.0, 2.0, 3.0], "y": labels}), path)
    with pytest.raises(InputError, match=r"UTF-8"):
        open_table(path, target="y").read()
