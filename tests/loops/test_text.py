"""Decimal text: what is called certain is what Python's ``float`` has, to the last bit."""

from __future__ import annotations

import contextlib
import random
import time
from decimal import Context, Decimal

import numpy as np
import pytest

from separatrix.errors import InputError
from separatrix.files import text_columns
from separatrix.files.source.detect import find_source
from separatrix.files.table import FORMATS, open_table
from separatrix.loops.text import POWERS, number


def read(cell):
    """The value of a cell, None where it is left to the caller."""
    value, end, hard = number(np.frombuffer(f"{cell}\n\n\n".encode(), dtype=np.uint8), 0, POWERS)
    assert end == len(cell)
    return None if hard else value


@pytest.mark.parametrize("digits", [range(1, 1000, 7), (2047, 2048, 2049, 2**53 - 1, 2**53 + 1, 2**64 - 1)])
def test_few_digits_with_any_exponent_are_read_as_python_reads_them(digits):
    cells = [f"{d}e{e}" for d in digits for e in range(-345, 310)]
    wrong = [cell for cell in cells if read(cell) not in (None, float(cell))]
    assert not wrong


def test_cells_halfway_between_two_floats_are_read_as_python_reads_them():
    rng, context = random.Random(0), Context(prec=19)
    for _ in range(20_000):
        low = rng.uniform(1.0, 10.0) * 10.0 ** rng.randrange(-300, 300)
        middle = (Decimal(low) + Decimal(float(np.nextafter(low, np.inf)))) / 2
        cell = str(context.plus(middle))
        assert read(cell) in (None, float(cell))


def test_only_long_or_extreme_numbers_are_left_to_the_caller():
    rng = random.Random(1)
    cells = [
        f"{rng.randrange(10**6)}.{rng.randrange(10**6)}e{rng.randrange(-250, 250)}" for _ in range(10_000)
    ]
    assert sum(read(cell) is None for cell in cells) == 0


def table_of(tmp_path, name, content, **options):
    path = tmp_path / name
    path.write_bytes(content)
    return open_table(path, **options)


def dense(table):
    X, y = table.read()
    return (X.toarray() if hasattr(X, "toarray") else X).tolist(), None if y is None else y.tolist()


def test_every_number_of_up_to_three_digits_is_read_to_the_last_bit_whatever_its_exponent(tmp_path):
    cells = [f"{d}e{e}" for d in range(1, 1000) for e in (*range(-330, -22, 5), *range(22, 308, 5))]
    expected = np.array([float(cell) for cell in cells])
    text = "".join(f"{cell}\n" for cell in cells)
    X, _ = table_of(tmp_path, "rows.csv", f"a\n{text}".encode()).read()
    assert np.array_equal(X[:, 0], expected)
    rows = "".join(f"1 1:{cell}\n" for cell in cells)
    assert np.array_equal(table_of(tmp_path, "rows.svm", rows.encode()).read()[0].data, expected)


@pytest.mark.parametrize("text", [b"1 1:1\r-1 2:1\n1 1:2\n", b"1 1:1 # a\rb\n", b"\r1 1:1\n"])
def test_a_carriage_return_inside_a_libsvm_line_is_refused(tmp_path, text):
    with pytest.raises(InputError, match="line 1: '\\\\r"):
        table_of(tmp_path, "rows.svm", text).read()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_lines_may_end_with_a_newline_a_carriage_return_or_both(tmp_path, end, last):
    rows = end.join(["1 1:1", "-1 2:1 # b", "", "1 1:2"]) + (end if last else "")
    assert dense(table_of(tmp_path, "rows.svm", rows.encode())) == ([[1, 0], [0, 1], [2, 0]], [1, -1, 1])
    cells = end.join(["a,y", "1,0", "2,1", "3,1"]) + (end if last else "")
    assert dense(table_of(tmp_path, "rows.csv", cells.encode(), target="y")) == ([[1], [2], [3]], [0, 1, 1])
    words = end.join(["a,y", "1,u", "2,v", "3,v"]) + (end if last else "")
    assert dense(table_of(tmp_path, "rows.csv", words.encode(), target="y")) == (
        [[1], [2], [3]],
        ["u", "v", "v"],
    )


def test_labels_beyond_2_to_the_53_stay_apart(tmp_path):
    text = b"a,y\n1,9007199254740992\n2,9007199254740993\n"
    assert table_of(tmp_path, "rows.csv", text, target="y").classes.tolist() == [2**53, 2**53 + 1]
    assert dense(table_of(tmp_path, "rows.csv", text, target="y"))[1] == [2**53, 2**53 + 1]
    digits = b"a,y\n1,100000000000000000000000000000001\n2,100000000000000000000000000000002\n"
    assert len(table_of(tmp_path, "rows.csv", digits, target="y").classes) == 2


FAR = b"1,0\n2,1\n" * 1000  # more rows than are looked at before reading


@pytest.mark.parametrize("before", [b"", FAR], ids=["near", "far"])
@pytest.mark.parametrize("quote", [b"", b'"'], ids=["plain", "quoted"])
@pytest.mark.parametrize("row", [b"9007199254740993,1\n", b"-123456789012345678901234567890,0\n"])
def test_a_feature_that_would_be_rounded_is_refused(tmp_path, before, quote, row):
    text = b"a,y\n" + before + b"1,0\n" + quote + b"2" + quote + b",1\n" + row
    with pytest.raises(InputError, match=r"'a' .* whole number beyond 2\*\*53.*rounded"):
        table_of(tmp_path, "rows.csv", text, target="y").read()


@pytest.mark.parametrize("quote", [b"", b'"'], ids=["plain", "quoted"])
def test_whole_labels_beyond_floats_are_read_exactly_wherever_they_stand(tmp_path, quote):
    text = b"a,y\n" + FAR + quote + b"2" + quote + b",9007199254740992\n3,9007199254740993\n"
    table = table_of(tmp_path, "rows.csv", text, target="y")
    assert table.read()[1][-2:].tolist() == [2**53, 2**53 + 1]
    assert table.classes.tolist()[-2:] == [2**53, 2**53 + 1]


def test_large_numbers_that_are_floats_are_read(tmp_path):
    text = b"a,y\n" + FAR + b"9007199254740994,0\n10000000000000000000,1\n1e300,0\n9007199254740993.0,1\n"
    expected = [float(2**53 + 2), 1e19, 1e300, float(2**53)]
    assert [row[0] for row in dense(table_of(tmp_path, "rows.csv", text, target="y"))[0][-4:]] == expected


@pytest.mark.parametrize("line", ["1 1:9007199254740993", "9007199254740993 1:1", f"1 1:{'9' * 400}"])
def test_whole_numbers_of_libsvm_lines_that_would_be_rounded_are_refused(tmp_path, line):
    with pytest.raises(InputError, match=r"line 2: .* beyond 2\*\*53 .* rounded"):
        table_of(tmp_path, "rows.svm", f"-1 1:1\n{line}\n".encode()).read()


@pytest.mark.parametrize("dtype", ["i8", "u8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_whole_numbers_of_arrays_that_would_be_rounded_are_refused(tmp_path, dtype, order):
    X = np.array([[1, 2], [3, 2**53 + 1]], dtype=dtype, order=order)
    np.save(tmp_path / "rows.npy", X)
    with pytest.raises(InputError, match=r"Column 2 .* beyond 2\*\*53 in row 2"):
        open_table(tmp_path / "rows.npy").read()
    assert open_table(tmp_path / "rows.npy", target="2").classes.tolist() == [2, 2**53 + 1]


@pytest.mark.parametrize("cell", [b"1" * 250_000 + b"x", b"1" * 60_000 + b"x"])
def test_the_time_to_see_what_a_long_cell_is_grows_with_its_length_only(tmp_path, cell):
    begun = time.perf_counter()
    with contextlib.suppress(InputError):
        table_of(tmp_path, "rows.csv", b"a,y\n" + cell + b",0\n1,1\n", target="y").read()
    with contextlib.suppress(InputError):
        table_of(tmp_path, "rows.txt", cell + b" 1:1\n", target="y").read()
    assert time.perf_counter() - begun < 10.0


def test_the_time_to_read_a_long_line_grows_with_its_length_only(tmp_path, monkeypatch):
    monkeypatch.setattr(text_columns, "LONGEST_LINE", 1 << 25)
    path = tmp_path / "line.svm"
    path.write_bytes(b"1 1:1 " + b" " * (3 << 24))
    source = find_source(path, FORMATS)
    begun = time.perf_counter()
    with pytest.raises(InputError, match="a line of more than 33,554,432 bytes"):
        list(text_columns.pieces(source, str(path), size=1 << 12))
    assert time.perf_counter() - begun < 5.0  # in quadratic time it takes a minute
