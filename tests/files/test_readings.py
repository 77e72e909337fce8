"""Text that holds numbers is read as what was written, or refused; never as something else."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import separatrix as sx
from separatrix.errors import InputError
from separatrix.files.encoding import Encoding
from separatrix.files.number_formats import (
    BLANKS,
    CANDIDATES,
    MARKS,
    UNITS,
    Reading,
    look,
    numbers_of,
    shape,
    shapes_of,
)
from separatrix.files.table import open_table
from tests.run import run


def written(value, decimals, decimal, thousands):
    """A number as people write it."""
    text = f"{value:,.{decimals}f}".replace(",", "T").replace(".", decimal)
    return text.replace("T", thousands)


def as_number(reading, cell):
    """The number in a cell, read in the slow, obvious way."""
    for sign in (reading.unit, *BLANKS, reading.thousands):
        cell = cell.replace(sign, "") if sign else cell
    return float(cell.replace("\u2212", "-").replace(reading.decimal, "."))


def seen(cells, **known):
    return look(Counter(map(shape, cells)), **known)


numbers = st.lists(
    st.tuples(st.floats(-(10**7), 10**7, allow_nan=False), st.integers(0, 4)), min_size=1, max_size=12
)


@given(
    numbers,
    st.sampled_from(CANDIDATES),
    st.sampled_from(["", "%", " kg", "€", " mg/dl", " Stück"]),
    st.sampled_from([",", ".", None]),
)
def test_what_is_read_is_what_was_written_or_it_is_called_ambiguous(values, signs, unit, evidence):
    decimal, thousands = signs
    cells = [written(value, places, decimal, thousands) + unit for value, places in values]
    found = seen(cells, evidence=decimal if evidence else None)
    expected = [float(f"{value:.{places}f}") for value, places in values]
    # The rule that is a guess, and written down: points alone are those of fractions, if nothing else tells.
    assume(evidence or thousands != "." or any(decimal in cell for cell in cells))
    if found.kind == "ambiguous":
        assert not evidence
        assert any("," in cell for cell in cells)
        return
    assert found.kind == "number"
    assert found.reading.unit == unit.strip()
    assert [as_number(found.reading, cell) for cell in cells] == expected


cells = st.text(st.sampled_from(list("019.,-+eE%€ mgTZ'\u00a0\u2212\n\"")), max_size=10)


@settings(max_examples=200, deadline=None)
@given(st.lists(cells, min_size=1, max_size=30))
def test_a_column_has_the_shapes_of_its_cells(texts):
    assert shapes_of(pa.array(texts)).to_pylist() == [shape(each) for each in texts]


@settings(max_examples=200, deadline=None)
@given(numbers, st.sampled_from(CANDIDATES), st.sampled_from(["", "%", " kg", "€"]))
def test_a_column_has_the_numbers_of_its_cells(values, signs, unit):
    texts = [f" {written(value, places, *signs)}{unit}" for value, places in values]
    reading = Reading(*signs, unit.strip())
    found = numbers_of(pa.array([*texts, None]), reading).to_pylist()
    assert found == [*(as_number(reading, each) for each in texts), None]


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (["1,31", "2", "-0,5"], "decimal comma"),
        (["1.234,5", "17"], "decimal comma, thousands point"),
        (["1,234.5", "17"], "thousands comma"),
        (["1,234,567", "8,900"], "thousands comma"),
        (["12,34,567.50", "8,900"], "thousands comma"),
        (["12,34,56"], None),
        (["1.234.567"], "decimal comma, thousands point"),
        (["1 234", "12 345 678", "5"], "thousands blank"),
        (["1\u202f234,5", "3,25"], "decimal comma, thousands blank"),
        (["1'234.50", "7"], "thousands apostrophe"),
        (["12 %", "3%"], "in %"),
        (["$1,200.50", "-$3", "$-4"], "thousands comma, in $"),
        (["1,5 €", "20 €"], "decimal comma, in €"),
        (["12 mg", "3.5 mg"], "in mg"),
        (["120/80 mmHg"], None),
        (["5 Stück", "7 Stück"], "in Stück"),
        (["1,5e3", "2E-4"], "decimal comma"),
        (["\u22125,5", "1,2"], "decimal comma"),
        (["0,125", "0,250"], "decimal comma"),
        (["1.5", "inf", "-Infinity", "3e400"], ""),
        (["3.", ".5", "+7"], ""),
        ([".", "-", "NA", "2,5"], "decimal comma"),
        (["1st", "2nd", "3rd", "3rd"], None),
        (["P01", "P02"], None),
        (["20-29", "30-39"], None),
        (["<5", ">10"], None),
        (["1.2.3", "1.2.4"], None),
        (["a", "b", "12"], None),
        (["5a", "7b"], None),
        (["12:30", "13:45:10"], "date"),
        (["31.12.2020", "1.1.21"], "date"),
        (["12/31/2020"], "date"),
        (["2020/12/31", "2021/1/5 10:30"], "date"),
    ],
)
def test_columns_that_people_write(column, words):
    found = seen(column)
    if words in (None, "date"):
        assert found.kind == ("text" if words is None else "date")
    else:
        assert (found.kind, found.reading.words) == ("number", words)


@pytest.mark.parametrize(
    ("column", "odd"),
    [
        (["1,5", "2,5", "3.5"], "3.5"),
        (["1.5", "2.5", "oops"], "oops"),
        (["12 mg", "13 mg", "2 g"], "2 g"),
        (["12 mg", "13 mg", "5"], "5"),
        (["0.5", "1.5", "<0.1"], "<0.1"),
        (["1.5", "2.5", "(3.5)"], "(3.5)"),
        (["1,234", "5,678.25", "1,23"], "1,23"),
        (["12,001,799", "13,001,799", "+-14,001,799"], "+-14,001,799"),
        (["-$5", "$-7", "-$-6"], "-$-6"),
    ],
)
def test_a_cell_that_does_not_fit_makes_a_column_odd(column, odd):
    found = seen(column)
    assert found.kind == "odd"
    assert [cell for cell in column if shape(cell) not in found.fitting] == [odd]


@pytest.mark.parametrize(
    "column",
    [
        ["(0.04)", "(1.50)", "(3)"],
        ["5,00-", "3,25-"],
        ["1_000", "2_500.5"],
        ["\u0661\u0662", "\u0663.\u0664"],
        ["\u200b1.5", "2.5\ufeff"],
        ["\x1e1.5", "\x1e2.5"],
        ["'1.5'", "'2'"],
        ["0.15D+04", "2.D-3"],
        ["1.5\u00d710^3", "2*10^-4"],
        ["10\u00b12", "20.5 +/- 1"],
    ],
)
def test_numbers_written_as_nobody_reads_them_are_no_categories(column):
    found = seen(column)
    assert found.kind == "odd"
    assert not found.fitting


@pytest.mark.parametrize(
    ("known", "kind", "number"),
    [
        ({}, "ambiguous", None),
        ({"evidence": ","}, "number", 1.234),
        ({"evidence": "."}, "number", 1234.0),
        ({"decimal": ","}, "number", 1.234),
        ({"decimal": "."}, "number", 1234.0),
        ({"thousands": ","}, "number", 1234.0),
        ({"thousands": "."}, "number", 1.234),
    ],
)
def test_a_comma_before_three_digits_is_ambiguous_until_something_tells(known, kind, number):
    found = seen(["1,234", "5", "12345"], **known)
    assert found.kind == kind
    assert number is None or as_number(found.reading, "1,234") == number


def test_points_before_three_digits_are_fractions_unless_the_file_has_decimal_commas():
    assert seen(["1.234", "5.678"]).reading == Reading()
    assert as_number(seen(["1.234", "5.678"], evidence=",").reading, "1.234") == 1234.0


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (["1.234", "2.000", "12", "999"], "ambiguous"),
        (["-1.234 €", "12 €"], "ambiguous"),
        (["1.234", "2.000", "0"], "number"),
        (["1.234", "12", "0.125"], "number"),
        (["1.234", "12", "1.5"], "number"),
        (["1.234", "1234"], "number"),
    ],
)
def test_points_before_three_digits_are_ambiguous_beside_numbers_below_a_thousand_without(column, kind):
    """As a German spreadsheet shows 1234, 2000, 12 and 999; no other writer of 1.234 and 2.000 writes 12."""
    found = seen(column)
    assert found.kind == kind
    assert kind == "ambiguous" or found.reading == Reading()
    for sign in ".,":
        assert seen(column, evidence=sign).reading.decimal in (sign, *("." * (kind == "number")))
    if kind == "ambiguous":
        assert as_number(seen(column, thousands=".").reading, column[0]) in (1234.0, -1234.0)
        assert as_number(seen(column, decimal=".").reading, column[0]) in (1.234, -1.234)


def test_every_unit_is_read_where_it_belongs():
    for unit in UNITS:
        assert seen([f"12 {unit}", f"3.5 {unit}"]).reading.unit == unit, unit
    assert all(mark == mark.casefold().strip(BLANKS) for mark in MARKS)


def test_a_reading_goes_through_json():
    encoding = Encoding.from_dict(
        json.loads(json.dumps(open_table_of({"x": ["1,5 €", "2 €"]}).encoding.as_dict()))
    )
    assert encoding.columns[0].reading == Reading(",", "", "€")
    for broken in ({"decimal": "x", "thousands": "", "unit": ""}, {"decimal": ","}, 5):
        fields = {**encoding.as_dict(), "columns": [{"name": "x", "levels": None, "reading": broken}]}
        with pytest.raises(InputError, match="not one that this library wrote"):
            Encoding.from_dict(fields)


def open_table_of(columns, folder=None, **options):
    """A table of text cells in a Parquet file."""
    import tempfile

    with tempfile.NamedTemporaryFile(suffix=".parquet", dir=folder, delete=folder is None) as file:
        pq.write_table(pa.table(columns), file.name)
        return open_table(file.name, **options)


table_rows = st.lists(
    st.tuples(st.floats(-99, 99).map(lambda x: round(x, 2)), st.integers(-5000, 5000), st.sampled_from("ab")),
    min_size=4,
    max_size=30,
)


@settings(max_examples=25, deadline=None)
@given(table_rows, st.booleans(), st.sampled_from(["\n", "\r\n"]))
def test_semicolons_and_decimal_commas_give_the_verdict_of_points(tmp_path_factory, rows, header, end):
    assume(len({label for _, _, label in rows}) == 2)
    assume(any(x != round(x) for x, _, _ in rows))
    folder = tmp_path_factory.mktemp("rows")
    lines = [f"{x};{n};{label}" for x, n, label in rows]
    head = ["dose;n;y"] if header else []
    (folder / "points.csv").write_text(end.join([*head, *lines, ""]), newline="")
    (folder / "commas.csv").write_text(
        end.join([*head, *(each.replace(".", ",") for each in lines), ""]), newline=""
    )
    target = "y" if header else "column3"
    tables = [open_table(folder / f"{name}.csv", target=target) for name in ("points", "commas")]
    (X, y), (commas, again) = (table.read() for table in tables)
    assert np.array_equal(X, commas)
    assert np.array_equal(y, again)
    assert any("decimal comma" in note for note in tables[1].notes)
    assert sx.separability(X, y).status == sx.separability(commas, again).status


DATES = {
    "ISO": ("%Y-%m-%d", "epoch"),
    "ISO with times": ("%Y-%m-%dT%H:%M:%S", "epoch"),
    "German": ("%d.%m.%Y", "%d.%m.%Y"),
    "German with two digits": ("%d.%m.%y", "%d.%m.%y"),
    "American": ("%m/%d/%Y", "%m/%d/%Y"),
    "American with times": ("%m/%d/%Y %I:%M %p", "%I:%M %p"),
    "British": ("%d/%m/%Y", "%d/%m/%Y"),
    "Japanese": ("%Y/%m/%d", "%Y/%m/%d"),
    "times": ("%H:%M", "%H:%M"),
}


@pytest.mark.parametrize("case", DATES)
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_the_query_that_an_error_names_for_dates_reads_these_dates(tmp_path, case, form):
    way, named = DATES[case]
    first = dt.datetime(1900, 1, 1) if case == "times" else dt.datetime(2024, 3, 5, 7, 30)
    days = [first + dt.timedelta(days=29 * k, minutes=7 * k) for k in range(12)]
    cells = [each.strftime(way) for each in days]
    path = tmp_path / f"rows.{form}"
    if form == "csv":
        path.write_text("\n".join(["day,y", *(f"{cell},{k % 2}" for k, cell in enumerate(cells))]))
    else:
        pq.write_table(pa.table({"day": cells, "y": [k % 2 for k in range(12)]}), path)
    with pytest.raises(InputError, match="'day' is a date or time") as found:
        open_table(path, target="y")
    query = re.search("This query reads it in seconds: (.*?FROM data)[.]", str(found.value))[1]
    assert named in query
    X, _ = open_table(path, target="y", sql=query).read()
    assert X[:, 0].tolist() == [
        dt.datetime.strptime(cell, way).replace(tzinfo=dt.UTC).timestamp() for cell in cells
    ]
    done = run("check", path, "--target", "y", "--sql", query)
    assert done.exit_code == 0, done.stderr


@pytest.mark.parametrize("kind", [pa.date32(), pa.timestamp("ms"), pa.timestamp("us", "UTC")])
def test_the_query_that_an_error_names_for_typed_dates_reads_these_dates(tmp_path, kind):
    days = [dt.datetime(2024, 3, 5 + k) for k in range(12)]
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({'a "day"': pa.array(days, kind), "y": [k % 2 for k in range(12)]}), path)
    with pytest.raises(InputError, match="is a date or time") as found:
        open_table(path, target="y")
    query = re.search("This query reads it in seconds: (.*?FROM data)[.]", str(found.value))[1]
    X, _ = open_table(path, target="y", sql=query).read()
    assert X[:, 0].tolist() == [each.replace(tzinfo=dt.UTC).timestamp() for each in days]


def test_dates_that_could_begin_with_the_month_are_read_in_both_ways(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("d,y\n" + "".join(f"0{k % 3 + 1}/0{k % 5 + 1}/2024,{k % 2}\n" for k in range(12)))
    with pytest.raises(InputError, match=r"'%d/%m/%Y'.* If the month comes first, write '%m/%d/%Y'"):
        open_table(path, target="y")


def test_dates_that_are_written_in_several_ways_get_no_query(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("d,y\n" + "".join(f"{('05.03.2024', '2024-03-05')[k % 2]},{k % 2}\n" for k in range(12)))
    with pytest.raises(
        InputError, match=r"Compute a number from it in a query with 'sql', or leave"
    ) as found:
        open_table(path, target="y")
    assert "SELECT" not in str(found.value)
