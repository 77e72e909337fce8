"""A table means the same in every format: the same numbers, labels and notes, or a refusal for one reason."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pytest

from tests.logical_tables import (
    FORMS,
    KINDS,
    LABELS,
    Column,
    Logical,
    Read,
    Refused,
    check,
    expected,
    logical,
)

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")
pytest.importorskip("pyreadstat")
pytest.importorskip("python_calamine")

FEW = ("csv", "parquet", "json", "arff")


@pytest.mark.parametrize("form", FORMS)
def test_a_table_means_the_same_in_every_format(tmp_path, form):
    rng = random.Random(f"a table in {form}")
    for _ in range(4):
        check(logical(rng, 15), FORMS[form], tmp_path)


@pytest.mark.parametrize(("form", "kind"), [*itertools.product(FEW, KINDS)])
def test_every_kind_of_column_means_the_same_in_a_short_table_and_a_longer_one(tmp_path, kind, form):
    for height in (15, 1_500):
        rng = random.Random(f"{kind} {height}")
        beside = Column("beside", "float", KINDS["float"](rng, height))
        target = Column("y", "category", LABELS["category"](rng, height))
        table = Logical((Column("x", kind, KINDS[kind](rng, height)), beside), target)
        check(table, FORMS[form], tmp_path)
        check(replace(table, missing="drop"), FORMS[form], tmp_path)


@pytest.mark.parametrize(("form", "kind"), [*itertools.product(FEW, LABELS)])
def test_every_kind_of_label_means_the_same_in_a_short_table_and_a_longer_one(tmp_path, kind, form):
    for height in (15, 1_500):
        rng = random.Random(f"labels {kind} {height}")
        target = Column("y", kind, LABELS[kind](rng, height))
        table = Logical((Column("x", "float", KINDS["float"](rng, height)),), target)
        check(table, FORMS[form], tmp_path)


def test_the_law_notices_a_wrong_number_a_lost_note_and_a_table_that_should_be_refused(tmp_path):
    target = Column("y", "category", ["no", "yes"] * 8)
    table = Logical(
        (Column("x", "one level", ["u"] * 16), Column("z", "integer", [*range(7, 23, 2)] * 2)), target
    )
    read = expected(table)
    assert isinstance(read, Read)
    for wrong in (
        replace(read, rows=[[row[0] + 1.0] for row in read.rows]),
        replace(read, labels=read.labels[::-1]),
        replace(read, notes=()),
        Refused(("lacks values",)),
    ):
        form = replace(FORMS["csv"], expected=lambda _, wrong=wrong: wrong)
        with pytest.raises(AssertionError):
            check(table, form, tmp_path)
    check(table, FORMS["csv"], tmp_path)
