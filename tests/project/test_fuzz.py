"""A short form of ``make fuzz``, always with the same cases."""

from __future__ import annotations

import random

import pytest

from tests import fuzz, fuzz_cases

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")
pytest.importorskip("pyreadstat")
pytest.importorskip("python_calamine")

# So many that each takes a second or two.
SHORT = {
    "numbers": 20_000,
    "cells": 10_000,
    "readings": 40,
    "csv": 40,
    "libsvm": 200,
    "arff": 60,
    "parquet": 60,
    "arrays": 200,
    "idx": 100,
    "others": 60,
    "short tables": 60,
    "medium tables": 10,
    "inputs": 150,
}
# The others have a short form in test_proved_margin.py and test_certificates.py.
READERS = [name for name in fuzz.TARGETS if name in SHORT]


@pytest.mark.parametrize("name", READERS)
def test_readers_and_referees_agree(tmp_path, name):
    check = fuzz.TARGETS[name][0]
    check(random.Random(f"{name} in short"), SHORT[name], tmp_path)


def test_a_reader_that_is_one_unit_off_is_found():
    with pytest.raises(AssertionError, match="a reader reads"):
        fuzz_cases.same(["0.1"], [0.1 + 2**-56], [0.1], "a reader")
